/* Code shared by the buffers with one shared pool (sih, dsh, insurance-only): parameters, the cut
 * into reserve, shared pool and headroom, the dynamic threshold, and lossy frames.
 *
 * Source: dynamic threshold T = alpha * (shared capacity - shared used) of Choudhury and Hahne
 * (1998). alpha is num/den in whole numbers; its product with the free space is exact, rounded down
 * to the byte, and needs no division per frame (struct xoff_ratio).
 *
 * Lossy frames have no headroom. Beyond the reserve of their port they are limited at their egress
 * queue: queue + L <= alpha_lossy * (shared capacity - shared used).
 */
#ifndef MMU_SHARED_H
#define MMU_SHARED_H

#include <xoff/mmu_quick.h>

/* Keeps xoff_ratio_times() exact: see xoff_ratio_of(). */
#define SHARED_MAX_BUFFER_BYTES (INT64_C(1) << 40)
#define SHARED_MAX_ALPHA 1024

enum shared_rule { SHARED_RULE_WORST, SHARED_RULE_ETA };
extern const char *const xoff_shared_rules[];

struct shared_params {
    double alpha, alpha_lossy;
    int64_t reserved, reserved_lossy, headroom, rule, allow_loss;
};

/* Checks the parameters, takes headroom for `n_shares` queues of each port (dsh: 1, for the port as
 * a whole) from the buffer and leaves the size of one share by port in limit_bytes. `table` and
 * `params` are those of the mechanism, for messages. Headroom below the worst case is refused, or
 * accepted with a warning if allow_loss is set (role.h). */
int xoff_shared_configure(const struct shared_params *p, const struct xoff_param *table,
                          const void *params, const struct xoff_mmu_env *env, uint32_t n_shares,
                          struct xoff_shared_cfg *c, int64_t *limit_bytes, struct xoff_err *err);

/* Refuses headroom limit_bytes[port] that is below the worst case of its port, or warns of it if
 * allow_loss is set; `key` names the parameter that it comes from. */
int xoff_shared_check_headroom(const struct xoff_mmu_env *env, const int64_t *limit_bytes,
                               const char *key, bool allow_loss, struct xoff_err *err);

uint32_t xoff_shared_n_lossless(const struct xoff_mmu_env *env);
struct xoff_ratio xoff_ratio_of(double value);

/* Admits a frame to a lossless queue if it then has at most T = alpha * free bytes beyond its
 * reserve, and they fit; else XOFF_POOL_DROP says that it may go to headroom alone. */
static inline enum xoff_pool shared_admit_below(const struct xoff_shared_cfg *c,
                                                struct xoff_shared_state *s, int64_t bytes,
                                                int64_t free_bytes, int64_t *queue_bytes)
{
    const int64_t after = xoff_shared_beyond(*queue_bytes + bytes, c->reserved_bytes);
    const int64_t shared = after - xoff_shared_beyond(*queue_bytes, c->reserved_bytes);
    if (shared > 0 && (after > xoff_ratio_times(&c->alpha, free_bytes) || shared > free_bytes))
        return XOFF_POOL_DROP;
    *queue_bytes += bytes;
    return xoff_shared_join(s, bytes, shared);
}

/* Releases a frame of a lossless queue, bytes in headroom first: `pool` is what that counts to. The
 * pool given at admission only says where there was room then; the space is the same, and a queue
 * whose last frames lie in headroom need not run empty before XON. Returns what left headroom. */
static inline int64_t shared_release(const struct xoff_shared_cfg *c, struct xoff_shared_state *s,
                                     enum xoff_pool pool, int64_t bytes, int64_t *queue_bytes,
                                     int64_t *headroom_bytes)
{
    const int64_t from_headroom = bytes < *headroom_bytes ? bytes : *headroom_bytes;
    *headroom_bytes -= from_headroom;
    s->used_bytes[pool] -= from_headroom;
    xoff_shared_leave(s, *queue_bytes, bytes - from_headroom, c->reserved_bytes);
    *queue_bytes -= bytes - from_headroom;
    return from_headroom;
}

static inline void shared_cross(uint8_t unit, bool is_above, uint16_t port, uint8_t priority,
                                int64_t occupied, int64_t threshold, struct xoff_crossings *out)
{
    out->at[out->n++] = (struct xoff_crossing){
        .unit = unit,
        .above = is_above,
        .priority = priority,
        .port = port,
        .occupied_bytes = occupied,
        .threshold_bytes = threshold,
    };
}

/* Fills in capacities, use and peaks; dsh then sets the capacities that differ. */
void xoff_shared_view(const struct xoff_shared_cfg *c, const struct xoff_shared_state *s,
                      struct xoff_mmu_view *view);

/* Rows of the parameter table of a mechanism whose params have struct shared_params `base`. */
#define SHARED_PARAMS(params, alpha_preset)                                                        \
    {.name = "alpha",                                                                              \
     .type = XOFF_P_REAL,                                                                          \
     .offset = offsetof(params, base.alpha),                                                       \
     .preset = alpha_preset,                                                                       \
     .min = "1/1024",                                                                              \
     .max = "1024",                                                                                \
     .help = "A lossless ingress queue may use up to alpha times the free shared space."},         \
        {.name = "alpha_lossy",                                                                    \
         .type = XOFF_P_REAL,                                                                      \
         .offset = offsetof(params, base.alpha_lossy),                                             \
         .preset = "1",                                                                            \
         .min = "1/1024",                                                                          \
         .max = "1024",                                                                            \
         .help = "A lossy egress queue may hold up to alpha_lossy times the free shared space."},  \
        {.name = "reserved",                                                                       \
         .type = XOFF_P_BYTES,                                                                     \
         .offset = offsetof(params, base.reserved),                                                \
         .preset = "4KiB",                                                                         \
         .min = "0B",                                                                              \
         .max = "1GiB",                                                                            \
         .help = "Space kept for each lossless ingress queue (port, priority)."},                  \
        {.name = "reserved_lossy",                                                                 \
         .type = XOFF_P_BYTES,                                                                     \
         .offset = offsetof(params, base.reserved_lossy),                                          \
         .preset = "auto",                                                                         \
         .min = "0B",                                                                              \
         .max = "1GiB",                                                                            \
         .allows_auto = true,                                                                      \
         .help = "Space kept for all lossy priorities of an ingress port together; auto: as "      \
                 "reserved."},                                                                     \
        {.name = "headroom_rule",                                                                  \
         .type = XOFF_P_CHOICE,                                                                    \
         .offset = offsetof(params, base.rule),                                                    \
         .preset = "worst",                                                                        \
         .choices = xoff_shared_rules,                                                             \
         .help = "How headroom: auto is computed: the worst case of the link, or eta = 2 (rate * " \
                 "delay + max_frame) + response."},                                                \
    {                                                                                              \
        .name = "allow_loss", .type = XOFF_P_BOOL, .offset = offsetof(params, base.allow_loss),    \
        .preset = "false", .help = "Accept headroom that does not cover the worst case."           \
    }

#define SHARED_HEADROOM(params, text)                                                        \
    {                                                                                        \
        .name = "headroom", .type = XOFF_P_BYTES, .offset = offsetof(params, base.headroom), \
        .preset = "auto", .min = "0B", .max = "1GiB", .allows_auto = true, .help = text      \
    }

/* How far below its threshold something must be for XON. */
#define SHARED_RESUME(params, field, text)                                                         \
    {                                                                                              \
        .name = #field, .type = XOFF_P_BYTES, .offset = offsetof(params, field), .preset = "3KiB", \
        .min = "0B", .max = "1GiB", .help = text                                                   \
    }

#endif
