/* Fixed thresholds: every queue has space of its own, nothing is shared.
 *
 * Source: per-port, per-priority XOFF, XON and MAX thresholds as in the CaPFC paper (II-C, III-A:
 * XOFF = MAX - headroom) and in switches configured without dynamic thresholds.
 *
 * Lossless ingress queue (port, priority) with q bytes:
 *
 *   arrival of L bytes: admitted when q + L <= xoff + headroom, else lost
 *   XOFF on arrival:    q >= xoff           XON on departure: q <= xon
 *
 * The bytes of q up to xoff are accounted as reserved, those beyond as headroom. A lossless frame
 * that is lost decides XOFF too, if its queue holds bytes. Lossy frames are limited at their egress
 * queue, queue + L <= egress_limit, and accounted as shared: ingress ports compete for that space.
 *
 * The limits of all queues together fit the buffer, so a frame under its limit always has room.
 *
 * Differs: the CaPFC paper does not say whether a threshold is passed when it is reached; here
 * XOFF is decided at xoff and XON at xon themselves.
 */
#include <string.h>

#include <xoff/units.h>

#include "mech/mechanisms.h"
#include "mech/mmu/shared.h"

struct static_params {
    int64_t xoff, xon, headroom, egress_limit;
    int64_t allow_loss;
};

struct static_cfg {
    int64_t buffer_bytes, reserved_capacity_bytes, shared_capacity_bytes, headroom_capacity_bytes;
    int64_t egress_limit_bytes;
    uint32_t n_ports;
    uint8_t lossless;
    int64_t xoff_bytes, xon_bytes;
    int64_t limit_bytes[]; /* xoff + headroom of each lossless queue of port p */
};

struct static_queue {
    int64_t bytes;
    int64_t headroom_peak_bytes;
    uint64_t is_above; /* XOFF decided, XON not yet */
};

struct static_state {
    int64_t used_total_bytes, peak_total_bytes;
    struct static_pool {
        int64_t used_bytes, peak_bytes;
    } pools[XOFF_N_POOLS];
    struct static_queue queues[]; /* [port * XOFF_N_PRIORITIES + priority] */
};

static const struct xoff_param static_table[] = {
    {.name = "xoff",
     .type = XOFF_P_BYTES,
     .offset = offsetof(struct static_params, xoff),
     .preset = "auto",
     .min = "1B",
     .max = "1GiB",
     .allows_auto = true,
     .help = "XOFF threshold of each lossless ingress queue; auto: half of what headroom leaves of "
             "the buffer (all of it without lossy priorities), in equal parts."},
    {.name = "xon",
     .type = XOFF_P_BYTES,
     .offset = offsetof(struct static_params, xon),
     .preset = "auto",
     .min = "0B",
     .max = "1GiB",
     .allows_auto = true,
     .help = "XON threshold of each lossless ingress queue, below xoff; auto: two of the largest "
             "frames below xoff, but not below half of it."},
    {.name = "headroom",
     .type = XOFF_P_BYTES,
     .offset = offsetof(struct static_params, headroom),
     .preset = "auto",
     .min = "0B",
     .max = "1GiB",
     .allows_auto = true,
     .help = "Space of each lossless ingress queue beyond xoff; auto: the worst case computed for "
             "the port."},
    {.name = "egress_limit",
     .type = XOFF_P_BYTES,
     .offset = offsetof(struct static_params, egress_limit),
     .preset = "auto",
     .min = "1B",
     .max = "1GiB",
     .allows_auto = true,
     .help = "Limit of each lossy egress queue; auto: what headroom and the lossless queues leave, "
             "in equal parts."},
    {.name = "allow_loss",
     .type = XOFF_P_BOOL,
     .offset = offsetof(struct static_params, allow_loss),
     .preset = "false",
     .help = "Accept headroom that does not cover the worst case."},
    {0},
};

static int static_refuse_buffer(const struct static_cfg *c, struct xoff_err *err)
{
    char text[XOFF_PARAM_TEXT];
    const int code = xoff_err_set(err, XOFF_E_CONFLICT, "buffer",
                                  xoff_format_bytes(text, sizeof text, c->buffer_bytes),
                                  "too small: lossless queues take ");
    xoff_err_add_int(err, c->reserved_capacity_bytes);
    xoff_err_add(err, "B up to xoff and ");
    xoff_err_add_int(err, c->headroom_capacity_bytes);
    xoff_err_add(err, "B of headroom, lossy queues ");
    xoff_err_add_int(err, c->shared_capacity_bytes);
    xoff_err_add(err, "B; needed are ");
    xoff_err_add_int(err, c->reserved_capacity_bytes + c->headroom_capacity_bytes +
                              c->shared_capacity_bytes);
    xoff_err_add(err, "B");
    return code;
}

static int64_t static_least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Computes the thresholds given as auto from what headroom leaves. A computed xoff or egress_limit
 * is at least one byte, so that a buffer eaten up by headroom is refused with the figure needed. */
static void static_fill_autos(const struct static_params *p, const struct xoff_mmu_env *env,
                              struct static_cfg *c)
{
    const int64_t n_ingress = env->n_ports * xoff_shared_n_lossless(env);
    const int64_t n_lossy = XOFF_N_PRIORITIES - xoff_shared_n_lossless(env);
    const int64_t n_egress = env->n_ports * (env->has_one_lossy && n_lossy ? 1 : n_lossy);
    const int64_t left = c->buffer_bytes - c->headroom_capacity_bytes;
    c->xoff_bytes = p->xoff;
    c->egress_limit_bytes = p->egress_limit;
    if (p->xoff == XOFF_PARAM_AUTO && n_ingress > 0) {
        int64_t part = n_egress == 0 ? left : left / 2;
        if (n_egress > 0 && p->egress_limit != XOFF_PARAM_AUTO)
            part = left - n_egress * p->egress_limit;
        c->xoff_bytes = part > n_ingress ? part / n_ingress : 1;
    }
    if (p->egress_limit == XOFF_PARAM_AUTO && n_egress > 0) {
        const int64_t part = left - n_ingress * c->xoff_bytes;
        c->egress_limit_bytes = part > n_egress ? part / n_egress : 1;
    }
    c->xon_bytes = p->xon;
    if (p->xon == XOFF_PARAM_AUTO) {
        const int64_t half = (c->xoff_bytes + 1) / 2; /* so that xoff 1 has xon 0 */
        c->xon_bytes = c->xoff_bytes - static_least(half, 2 * (int64_t)env->max_frame_bytes);
    }
    c->reserved_capacity_bytes = n_ingress * c->xoff_bytes;
    c->shared_capacity_bytes = n_egress * c->egress_limit_bytes;
}

static int static_configure(const void *params, const struct xoff_mmu_env *env, void *cfg,
                            struct xoff_mmu_shape *shape, struct xoff_err *err)
{
    const struct static_params *p = params;
    struct static_cfg *c = cfg;
    const int64_t n_lossless = xoff_shared_n_lossless(env);
    shape->state_size = sizeof(struct static_state) +
                        (size_t)env->n_ports * XOFF_N_PRIORITIES * sizeof(struct static_queue);
    *c = (struct static_cfg){
        .n_ports = env->n_ports,
        .lossless = env->lossless,
        .buffer_bytes = env->buffer_bytes,
    };
    for (uint32_t port = 0; port < env->n_ports; port++) {
        const int64_t headroom =
            p->headroom == XOFF_PARAM_AUTO ? env->ports[port].headroom_bytes : p->headroom;
        XOFF_ASSERT(headroom >= 0);
        c->limit_bytes[port] = headroom;
        c->headroom_capacity_bytes += n_lossless * headroom;
    }
    const int code =
        n_lossless ? xoff_shared_check_headroom(env, c->limit_bytes, "headroom", p->allow_loss, err)
                   : 0;
    if (code)
        return code;
    static_fill_autos(p, env, c);
    for (uint32_t port = 0; port < env->n_ports; port++)
        c->limit_bytes[port] += c->xoff_bytes;
    if (n_lossless > 0 && c->xon_bytes >= c->xoff_bytes) {
        char text[XOFF_PARAM_TEXT];
        xoff_err_set(err, XOFF_E_CONFLICT, "xon",
                     xoff_format_bytes(text, sizeof text, c->xon_bytes),
                     "must be below xoff, which is ");
        xoff_err_add_int(err, c->xoff_bytes);
        xoff_err_add(err, "B");
        return -(int)XOFF_E_CONFLICT;
    }
    if (c->reserved_capacity_bytes + c->headroom_capacity_bytes + c->shared_capacity_bytes >
        c->buffer_bytes)
        return static_refuse_buffer(c, err);
    return 0;
}

static inline size_t static_index(const struct static_cfg *c, uint32_t port, uint32_t priority)
{
    XOFF_ASSERT(port < c->n_ports);
    XOFF_ASSERT(priority < XOFF_N_PRIORITIES);
    return (size_t)port * XOFF_N_PRIORITIES + priority;
}

static inline void static_raise(struct static_state *s, enum xoff_pool pool, int64_t bytes)
{
    struct static_pool *p = &s->pools[pool];
    p->used_bytes += bytes;
    if (p->used_bytes > p->peak_bytes)
        p->peak_bytes = p->used_bytes;
}

static inline void static_raise_total(struct static_state *s, int64_t bytes)
{
    s->used_total_bytes += bytes;
    if (s->used_total_bytes > s->peak_total_bytes)
        s->peak_total_bytes = s->used_total_bytes;
}

static enum xoff_pool static_admit_lossy(const struct static_cfg *c, struct static_state *s,
                                         struct static_queue *queue,
                                         const struct xoff_arrival *arrival)
{
    const int64_t bytes = arrival->bytes;
    if (arrival->egress_bytes + bytes > c->egress_limit_bytes)
        return XOFF_POOL_DROP;
    /* Frames that were admitted and are still being processed are in no egress queue, but fill the
     * pool. */
    if (s->pools[XOFF_POOL_SHARED].used_bytes + bytes > c->shared_capacity_bytes)
        return XOFF_POOL_DROP;
    queue->bytes += bytes;
    static_raise(s, XOFF_POOL_SHARED, bytes);
    static_raise_total(s, bytes);
    return XOFF_POOL_SHARED;
}

static enum xoff_pool static_admit(const void *cfg, void *state, const struct xoff_arrival *arrival,
                                   xoff_time now, struct xoff_crossings *out)
{
    const struct static_cfg *c = cfg;
    struct static_state *s = state;
    struct static_queue *queue = &s->queues[static_index(c, arrival->in_port, arrival->priority)];
    (void)now;
    if (!(c->lossless >> arrival->priority & 1))
        return static_admit_lossy(c, s, queue, arrival);

    const int64_t before = queue->bytes, after = before + arrival->bytes;
    if (__builtin_expect(after < c->xoff_bytes, 1)) { /* it crosses nothing, and fits */
        queue->bytes = after;
        static_raise(s, XOFF_POOL_RESERVED, arrival->bytes);
        static_raise_total(s, arrival->bytes);
        return XOFF_POOL_RESERVED;
    }
    const bool fits = after <= c->limit_bytes[arrival->in_port];
    const int64_t in_headroom = xoff_shared_beyond(after, c->xoff_bytes);
    if (fits) {
        const int64_t headroom = in_headroom - xoff_shared_beyond(before, c->xoff_bytes);
        queue->bytes = after;
        if (in_headroom > queue->headroom_peak_bytes)
            queue->headroom_peak_bytes = in_headroom;
        if (headroom)
            static_raise(s, XOFF_POOL_HEADROOM, headroom);
        static_raise(s, XOFF_POOL_RESERVED, after - before - headroom);
        static_raise_total(s, after - before);
    }
    /* An empty queue has no departure that could bring XON. */
    if (!queue->is_above && after >= c->xoff_bytes && queue->bytes > 0) {
        queue->is_above = 1;
        out->at[out->n++] = (struct xoff_crossing){
            .unit = XOFF_UNIT_INGRESS,
            .above = 1,
            .priority = arrival->priority,
            .port = arrival->in_port,
            .occupied_bytes = after,
            .threshold_bytes = c->xoff_bytes,
        };
    }
    if (!fits)
        return XOFF_POOL_DROP;
    return in_headroom > 0 ? XOFF_POOL_HEADROOM : XOFF_POOL_RESERVED;
}

static void static_release(const void *cfg, void *state, const struct xoff_departure *departure,
                           xoff_time now, struct xoff_crossings *out)
{
    const struct static_cfg *c = cfg;
    struct static_state *s = state;
    struct static_queue *queue =
        &s->queues[static_index(c, departure->in_port, departure->priority)];
    const int64_t before = queue->bytes, after = before - departure->bytes;
    (void)now;
    XOFF_ASSERT(departure->pool != XOFF_POOL_DROP);
    XOFF_ASSERT(after >= 0);
    queue->bytes = after;
    s->used_total_bytes -= departure->bytes;
    if (!(c->lossless >> departure->priority & 1)) {
        s->pools[XOFF_POOL_SHARED].used_bytes -= departure->bytes;
        return;
    }
    const int64_t headroom =
        xoff_shared_beyond(before, c->xoff_bytes) - xoff_shared_beyond(after, c->xoff_bytes);
    if (headroom)
        s->pools[XOFF_POOL_HEADROOM].used_bytes -= headroom;
    s->pools[XOFF_POOL_RESERVED].used_bytes -= departure->bytes - headroom;
    if (queue->is_above && after <= c->xon_bytes) {
        queue->is_above = 0;
        out->at[out->n++] = (struct xoff_crossing){
            .unit = XOFF_UNIT_INGRESS,
            .above = 0,
            .priority = departure->priority,
            .port = departure->in_port,
            .occupied_bytes = after,
            .threshold_bytes = c->xon_bytes,
        };
    }
}

/* No queue has more than all of them together, so that one comparison usually does. A queue below
 * xon is not above. */
static bool static_is_quiet(const void *cfg, const void *state, int64_t bytes)
{
    const struct static_cfg *c = cfg;
    const struct static_state *s = state;
    const int64_t shared_bytes = s->pools[XOFF_POOL_SHARED].used_bytes;
    if (shared_bytes + c->n_ports * bytes > c->shared_capacity_bytes && c->lossless != 0xff)
        return false;
    int64_t longest = s->used_total_bytes;
    const int64_t least =
        static_least(c->xon_bytes, static_least(c->xoff_bytes - 1, c->egress_limit_bytes) - bytes);
    if (longest <= least)
        return true;
    longest = 0;
    for (uint32_t i = 0; i < c->n_ports * XOFF_N_PRIORITIES; i++)
        longest = s->queues[i].bytes > longest ? s->queues[i].bytes : longest;
    return longest <= least;
}

static void static_view(const void *cfg, const void *state, struct xoff_mmu_view *view)
{
    const struct static_cfg *c = cfg;
    const struct static_state *s = state;
    view->used_total_bytes = s->used_total_bytes;
    view->peak_total_bytes = s->peak_total_bytes;
    view->capacity_total_bytes = c->buffer_bytes;
    for (uint32_t pool = 0; pool < XOFF_N_POOLS; pool++) {
        view->used_bytes[pool] = s->pools[pool].used_bytes;
        view->peak_bytes[pool] = s->pools[pool].peak_bytes;
    }
    view->capacity_bytes[XOFF_POOL_RESERVED] = c->reserved_capacity_bytes;
    view->capacity_bytes[XOFF_POOL_SHARED] = c->shared_capacity_bytes;
    view->capacity_bytes[XOFF_POOL_HEADROOM] = c->headroom_capacity_bytes;
}

static int64_t static_used_bytes(const void *state, enum xoff_pool pool)
{
    return ((const struct static_state *)state)->pools[pool].used_bytes;
}

static int64_t static_ingress_bytes(const void *cfg, const void *state, uint32_t port,
                                    uint32_t priority)
{
    const struct static_state *s = state;
    return s->queues[static_index(cfg, port, priority)].bytes;
}

static int64_t static_headroom_peak(const void *cfg, const void *state, uint32_t port,
                                    uint32_t priority)
{
    const struct static_state *s = state;
    return s->queues[static_index(cfg, port, priority)].headroom_peak_bytes;
}

static int64_t static_headroom_limit(const void *cfg, uint32_t port, uint32_t priority)
{
    const struct static_cfg *c = cfg;
    XOFF_ASSERT(port < c->n_ports);
    return c->lossless >> priority & 1 ? c->limit_bytes[port] - c->xoff_bytes : 0;
}

const struct xoff_mmu_ops xoff_mmu_static = {
    .name = "static",
    .summary = "fixed XOFF and XON thresholds, space of its own for every queue",
    .params = static_table,
    .params_size = sizeof(struct static_params),
    .cfg_size = sizeof(struct static_cfg),
    .cfg_port_size = sizeof(int64_t),
    .configure = static_configure,
    .admit = static_admit,
    .release = static_release,
    .is_quiet = static_is_quiet,
    .view = static_view,
    .used_bytes = static_used_bytes,
    .ingress_bytes = static_ingress_bytes,
    .headroom_peak = static_headroom_peak,
    .headroom_limit = static_headroom_limit,
};
