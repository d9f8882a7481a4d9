/* The buffers sih and dsh for callers to whom every instruction counts: their books, and the inline
 * half of admission and release for frames that cross no threshold. These functions take such a
 * frame or decline; where they decline nothing has changed, and xoff_mmu_admit() or
 * xoff_mmu_release() is to be called. Either way the outcome is that of the call.
 * src/mech/mmu/sih.c and dsh.c have the rules.
 */
#ifndef XOFF_MMU_QUICK_H
#define XOFF_MMU_QUICK_H

#include <xoff/mmu.h>

#ifdef __cplusplus
extern "C" {
#endif

extern const struct xoff_mmu_ops xoff_mmu_sih, xoff_mmu_dsh;

/* A positive rational: x * num/den is (x * mul) >> shift. */
struct xoff_ratio {
    uint64_t mul;
    uint32_t shift;
};

struct xoff_shared_cfg {
    uint32_t n_ports, n_lossless;
    uint8_t lossless;
    struct xoff_ratio alpha, alpha_lossy;
    int64_t capacity_bytes;       /* of the shared pool */
    int64_t reserved_bytes;       /* of each lossless queue */
    int64_t reserved_lossy_bytes; /* of the lossy priorities of a port together */
    int64_t buffer_bytes, reserved_capacity_bytes, headroom_capacity_bytes;
};

struct xoff_shared_state {
    int64_t used_total_bytes, peak_total_bytes;
    int64_t used_bytes[XOFF_N_POOLS];
    int64_t peak_bytes[XOFF_N_POOLS];
};

static inline int64_t xoff_ratio_times(const struct xoff_ratio *ratio, int64_t bytes)
{
    if (__builtin_expect(ratio->mul == 1, 1))
        return bytes >> ratio->shift;
    __extension__ typedef unsigned __int128 wide;
    return (int64_t)(((wide)ratio->mul * (uint64_t)bytes) >> ratio->shift);
}

/* The part of `bytes` that its reserve does not cover. */
static inline int64_t xoff_shared_beyond(int64_t bytes, int64_t reserved_bytes)
{
    return bytes > reserved_bytes ? bytes - reserved_bytes : 0;
}

/* The part of the last `bytes` of a unit that its reserve does not cover; it covers all but
 * `beyond` bytes of the unit. */
static inline int64_t xoff_shared_part(int64_t bytes, int64_t beyond)
{
    return bytes < beyond ? bytes : beyond;
}

static inline void xoff_shared_raise(struct xoff_shared_state *s, enum xoff_pool pool,
                                     int64_t bytes)
{
    s->used_bytes[pool] += bytes;
    if (s->used_bytes[pool] > s->peak_bytes[pool])
        s->peak_bytes[pool] = s->used_bytes[pool];
}

static inline void xoff_shared_raise_total(struct xoff_shared_state *s, int64_t bytes)
{
    s->used_total_bytes += bytes;
    if (s->used_total_bytes > s->peak_total_bytes)
        s->peak_total_bytes = s->used_total_bytes;
}

/* Free bytes of a shared pool that holds no headroom. */
static inline int64_t xoff_shared_free(const struct xoff_shared_cfg *c,
                                       const struct xoff_shared_state *s)
{
    return c->capacity_bytes - s->used_bytes[XOFF_POOL_SHARED];
}

/* A frame of `bytes` joins, `shared` bytes of it in the shared pool and the rest in the reserve. */
static inline enum xoff_pool xoff_shared_join(struct xoff_shared_state *s, int64_t bytes,
                                              int64_t shared)
{
    xoff_shared_raise(s, XOFF_POOL_RESERVED, bytes - shared);
    xoff_shared_raise(s, XOFF_POOL_SHARED, shared);
    return shared > 0 ? XOFF_POOL_SHARED : XOFF_POOL_RESERVED;
}

/* `bytes` leave a unit that had `before` bytes in its reserve and the shared pool. */
static inline void xoff_shared_leave(struct xoff_shared_state *s, int64_t before, int64_t bytes,
                                     int64_t reserved_bytes)
{
    const int64_t shared = xoff_shared_part(bytes, xoff_shared_beyond(before, reserved_bytes));
    s->used_bytes[XOFF_POOL_SHARED] -= shared;
    s->used_bytes[XOFF_POOL_RESERVED] -= bytes - shared;
}

/* Admits a lossy frame, or drops it, to a queue of a port whose lossy priorities hold *lossy_bytes;
 * the shared pool has `free_bytes` left. */
static inline enum xoff_pool xoff_shared_admit_lossy(const struct xoff_shared_cfg *c,
                                                     struct xoff_shared_state *s, int64_t bytes,
                                                     int64_t egress_bytes, int64_t free_bytes,
                                                     int64_t *lossy_bytes, int64_t *queue_bytes)
{
    const int64_t shared =
        xoff_shared_part(bytes, xoff_shared_beyond(*lossy_bytes + bytes, c->reserved_lossy_bytes));
    if (shared > 0 && (egress_bytes + bytes > xoff_ratio_times(&c->alpha_lossy, free_bytes) ||
                       shared > free_bytes))
        return XOFF_POOL_DROP;
    *lossy_bytes += bytes;
    *queue_bytes += bytes;
    xoff_shared_raise_total(s, bytes);
    return xoff_shared_join(s, bytes, shared);
}

static inline void xoff_shared_release_lossy(const struct xoff_shared_cfg *c,
                                             struct xoff_shared_state *s, int64_t bytes,
                                             int64_t *lossy_bytes, int64_t *queue_bytes)
{
    xoff_shared_leave(s, *lossy_bytes, bytes, c->reserved_lossy_bytes);
    *lossy_bytes -= bytes;
    *queue_bytes -= bytes;
}

/* sih */

struct xoff_sih_cfg {
    struct xoff_shared_cfg base;
    int64_t resume_offset_bytes;
};

struct xoff_sih_queue {
    int64_t bytes; /* in reserve and shared pool */
    int64_t headroom_bytes, headroom_peak_bytes;
    uint64_t is_above; /* XOFF decided, XON not yet */
};

struct xoff_sih_port {
    struct xoff_sih_queue queues[XOFF_N_PRIORITIES];
    int64_t lossy_bytes; /* of all its lossy priorities, in reserve and shared pool */
};

struct xoff_sih_state {
    struct xoff_shared_state base;
};

/* Arrays behind the two, by port: headroom of each lossless queue, and the books. */
static inline int64_t *xoff_sih_headroom(const struct xoff_sih_cfg *c)
{
    return (int64_t *)(c + 1);
}
static inline struct xoff_sih_port *xoff_sih_ports(const struct xoff_sih_state *s)
{
    return (struct xoff_sih_port *)(s + 1);
}

/* Puts a frame into the headroom of its queue; XOFF_POOL_DROP: there is no room. */
static inline enum xoff_pool xoff_sih_join_headroom(const struct xoff_sih_cfg *c,
                                                    struct xoff_sih_state *s,
                                                    struct xoff_sih_queue *queue, uint32_t port,
                                                    int64_t bytes)
{
    if (queue->headroom_bytes + bytes > xoff_sih_headroom(c)[port])
        return XOFF_POOL_DROP;
    queue->headroom_bytes += bytes;
    if (queue->headroom_bytes > queue->headroom_peak_bytes)
        queue->headroom_peak_bytes = queue->headroom_bytes;
    xoff_shared_raise(&s->base, XOFF_POOL_HEADROOM, bytes);
    xoff_shared_raise_total(&s->base, bytes);
    return XOFF_POOL_HEADROOM;
}

/* Takes a frame for an egress queue of `egress_bytes`; XOFF_POOL_DROP: declines. The caller says
 * whether the priority is lossless (cfg->base.lossless), which it mostly knows. */
static inline enum xoff_pool xoff_sih_quick_admit(const void *cfg, void *state, uint32_t port,
                                                  uint32_t priority, bool is_lossless,
                                                  int64_t bytes, int64_t egress_bytes)
{
    const struct xoff_sih_cfg *c = (const struct xoff_sih_cfg *)cfg;
    struct xoff_sih_state *s = (struct xoff_sih_state *)state;
    struct xoff_sih_queue *queue = &xoff_sih_ports(s)[port].queues[priority];
    if (!is_lossless)
        return xoff_shared_admit_lossy(&c->base, &s->base, bytes, egress_bytes,
                                       xoff_shared_free(&c->base, &s->base),
                                       &xoff_sih_ports(s)[port].lossy_bytes, &queue->bytes);
    const int64_t free_bytes = xoff_shared_free(&c->base, &s->base);
    const int64_t after = xoff_shared_beyond(queue->bytes + bytes, c->base.reserved_bytes);
    const int64_t shared = xoff_shared_part(bytes, after);
    if (__builtin_expect(queue->is_above != 0, 0)) {
        if (shared > 0 &&
            (after > xoff_ratio_times(&c->base.alpha, free_bytes) || shared > free_bytes))
            return xoff_sih_join_headroom(c, s, queue, port, bytes);
    } else if (__builtin_expect(shared > free_bytes ||
                                    after >= xoff_ratio_times(&c->base.alpha, free_bytes - shared),
                                0)) {
        /* A queue that is below the threshold which the frame leaves was below that which it found.
         */
        return XOFF_POOL_DROP;
    }
    queue->bytes += bytes;
    xoff_shared_raise_total(&s->base, bytes);
    return xoff_shared_join(&s->base, bytes, shared);
}

/* Releases a frame; false: declines. */
static inline bool xoff_sih_quick_release(const void *cfg, void *state, uint32_t port,
                                          uint32_t priority, bool is_lossless, int64_t bytes)
{
    const struct xoff_sih_cfg *c = (const struct xoff_sih_cfg *)cfg;
    struct xoff_sih_state *s = (struct xoff_sih_state *)state;
    struct xoff_sih_queue *queue = &xoff_sih_ports(s)[port].queues[priority];
    if (__builtin_expect(queue->is_above != 0, 0)) { /* XON waits for the headroom to be empty */
        if (bytes >= queue->headroom_bytes)
            return false;
        queue->headroom_bytes -= bytes;
        s->base.used_bytes[XOFF_POOL_HEADROOM] -= bytes;
        s->base.used_total_bytes -= bytes;
        return true;
    }
    s->base.used_total_bytes -= bytes;
    if (!is_lossless) {
        xoff_shared_release_lossy(&c->base, &s->base, bytes, &xoff_sih_ports(s)[port].lossy_bytes,
                                  &queue->bytes);
        return true;
    }
    xoff_shared_leave(&s->base, queue->bytes, bytes, c->base.reserved_bytes);
    queue->bytes -= bytes;
    return true;
}

/* dsh */

struct xoff_dsh_cfg {
    struct xoff_shared_cfg base;
    int64_t resume_offset_bytes, port_resume_offset_bytes;
};

struct xoff_dsh_queue {
    int64_t bytes;          /* in all pools */
    int64_t headroom_bytes; /* of these, what came into the pool while above */
    uint64_t is_above;      /* XOFF decided, XON not yet */
};

struct xoff_dsh_port {
    int64_t shared_bytes; /* of its lossless queues in the pool */
    int64_t insurance_bytes, insurance_peak_bytes;
    int64_t lossy_bytes; /* of all its lossy priorities, in reserve and pool */
    uint64_t is_above;
    struct xoff_dsh_queue queues[XOFF_N_PRIORITIES];
};

struct xoff_dsh_state {
    struct xoff_shared_state base;
};

/* Arrays behind the two, by port: insurance, and the books. */
static inline int64_t *xoff_dsh_eta(const struct xoff_dsh_cfg *c)
{
    return (int64_t *)(c + 1);
}
static inline struct xoff_dsh_port *xoff_dsh_ports(const struct xoff_dsh_state *s)
{
    return (struct xoff_dsh_port *)(s + 1);
}

/* Free bytes of the pool, which footroom and headroom share. */
static inline int64_t xoff_dsh_free(const struct xoff_dsh_cfg *c, const struct xoff_dsh_state *s)
{
    return c->base.capacity_bytes - s->base.used_bytes[XOFF_POOL_SHARED] -
           s->base.used_bytes[XOFF_POOL_HEADROOM];
}

/* As for sih. */
static inline enum xoff_pool xoff_dsh_quick_admit(const void *cfg, void *state, uint32_t in_port,
                                                  uint32_t priority, bool is_lossless,
                                                  int64_t bytes, int64_t egress_bytes)
{
    const struct xoff_dsh_cfg *c = (const struct xoff_dsh_cfg *)cfg;
    struct xoff_dsh_state *s = (struct xoff_dsh_state *)state;
    struct xoff_dsh_port *port = &xoff_dsh_ports(s)[in_port];
    struct xoff_dsh_queue *queue = &port->queues[priority];
    const int64_t free_bytes = xoff_dsh_free(c, s);
    if (!is_lossless)
        return xoff_shared_admit_lossy(&c->base, &s->base, bytes, egress_bytes, free_bytes,
                                       &port->lossy_bytes, &queue->bytes);
    const int64_t after = xoff_shared_beyond(queue->bytes + bytes, c->base.reserved_bytes);
    const int64_t beyond = xoff_shared_part(bytes, after);
    if (queue->is_above | port->is_above || beyond > free_bytes)
        return XOFF_POOL_DROP;
    /* Queue and port that are below the thresholds which the frame leaves were below those which it
     * found. */
    const int64_t threshold = xoff_ratio_times(&c->base.alpha, free_bytes - beyond); /* T */
    if (after > xoff_shared_beyond(threshold, xoff_dsh_eta(c)[in_port]) ||
        port->shared_bytes + beyond > c->base.n_lossless * threshold)
        return XOFF_POOL_DROP;
    queue->bytes += bytes;
    port->shared_bytes += beyond;
    xoff_shared_raise_total(&s->base, bytes);
    return xoff_shared_join(&s->base, bytes, beyond);
}

/* Releases a frame; false: declines. */
static inline bool xoff_dsh_quick_release(const void *cfg, void *state, uint32_t in_port,
                                          uint32_t priority, bool is_lossless, int64_t bytes)
{
    const struct xoff_dsh_cfg *c = (const struct xoff_dsh_cfg *)cfg;
    struct xoff_dsh_state *s = (struct xoff_dsh_state *)state;
    struct xoff_dsh_port *port = &xoff_dsh_ports(s)[in_port];
    struct xoff_dsh_queue *queue = &port->queues[priority];
    if (!is_lossless) {
        s->base.used_total_bytes -= bytes;
        xoff_shared_release_lossy(&c->base, &s->base, bytes, &port->lossy_bytes, &queue->bytes);
        return true;
    }
    if (queue->is_above | port->is_above) /* else: no headroom, no insurance, no XON */
        return false;
    const int64_t beyond =
        xoff_shared_part(bytes, xoff_shared_beyond(queue->bytes, c->base.reserved_bytes));
    s->base.used_total_bytes -= bytes;
    queue->bytes -= bytes;
    s->base.used_bytes[XOFF_POOL_RESERVED] -= bytes - beyond;
    port->shared_bytes -= beyond;
    s->base.used_bytes[XOFF_POOL_SHARED] -= beyond;
    return true;
}

#ifdef __cplusplus
}
#endif

#endif
