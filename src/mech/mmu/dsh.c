/* Shared buffer with dynamic and shared headroom (DSH).
 *
 * Source: the DSH slides (ICDCS 2023) for the parts of the buffer and the two levels of flow
 * control; thresholds from public notes on the paper (docs/mechanisms/dsh.md).
 *
 * The buffer is cut in three: reserves as in sih, insurance headroom of eta bytes for each port,
 * shared by its queues, and all the rest, one pool that serves footroom and headroom alike. For
 * lossless queue i of port p, with w(i) bytes beyond its reserve, of which all queues of the port
 * have I(p) in insurance and S(p) = sum w(i) - I(p) in the pool, and N lossless queues per port:
 *
 *   T = alpha * (pool - sum of S - lossy)     X_qoff = max(0, T - eta(p))      X_poff = N * T
 *   arrival:            reserved as far as that has room; for the L bytes beyond: while p is not
 *                       above, the pool when S(p) + L <= X_poff and they fit the free space; else
 *                       insurance when I(p) + L <= eta(p); else lost
 *   departure:          takes from the port's insurance first, then the pool, then the reserve
 *   queue XOFF:         at an arrival of its own, w(i) > X_qoff
 *   queue XON:          at a departure of its own, w(i) = 0 or w(i) + resume_offset <= X_qoff
 *   port XOFF:          at an arrival at p, I(p) > 0 or S(p) > X_poff
 *   port XON:           at a departure from p, I(p) = 0 and
 *                       (S(p) = 0 or S(p) + port_resume_offset <= X_poff)
 *
 * A frame that is lost decides port XOFF too, if the port has bytes beyond reserves.
 *
 * Nothing is lost as long as eta is what may arrive after a decision, the deciding frame included:
 * the first frame that goes to insurance finds it empty and pauses the port, and the port is not
 * resumed before it is empty again. Headroom in the pool keeps a congested queue from pausing its
 * whole port; it is never needed against loss.
 *
 * Insurance is a count per port, as a counter in hardware would be: which frames lie in it is not
 * known, and any departure from the port empties it. So the insurance that a queue filled before it
 * stopped holds the other queues of its port no longer than they need to drain eta bytes.
 *
 * Bytes that a queue puts into the pool while it is above are counted as headroom until it is not
 * above any more, and leave first. The difference between footroom and headroom matters for
 * statistics alone.
 *
 * Differs: the notes set all eight timers in a port's pause; here lossy priorities go on, the
 * pause policy holds the lossless ones.
 */
#include <string.h>

#include "mech/mechanisms.h"
#include "mech/mmu/shared.h"

struct dsh_params {
    struct shared_params base;
    int64_t resume_offset, port_resume_offset;
};

static const struct xoff_param dsh_table[] = {
    SHARED_PARAMS(struct dsh_params, "1/16"),
    SHARED_HEADROOM(struct dsh_params,
                    "eta: insurance of each port, and how far below T a queue is paused; auto: by "
                    "headroom_rule."),
    SHARED_RESUME(struct dsh_params, resume_offset,
                  "A queue goes on when it is this far below its threshold (delta_q)."),
    SHARED_RESUME(struct dsh_params, port_resume_offset,
                  "A port goes on when it is this far below its threshold (delta_p)."),
    {0},
};

static int dsh_configure(const void *params, const struct xoff_mmu_env *env, void *cfg,
                         struct xoff_mmu_shape *shape, struct xoff_err *err)
{
    const struct dsh_params *p = params;
    struct xoff_dsh_cfg *c = cfg;
    c->resume_offset_bytes = p->resume_offset;
    c->port_resume_offset_bytes = p->port_resume_offset;
    shape->state_size = sizeof(struct xoff_dsh_state) + env->n_ports * sizeof(struct xoff_dsh_port);
    return xoff_shared_configure(&p->base, dsh_table, p, env, env->lossless ? 1 : 0, &c->base,
                                 xoff_dsh_eta(c), err);
}

/* Decides XOFF of the queue and of the port after an arrival that leaves `beyond` bytes of the
 * queue beyond its reserve. `lost_bytes` beyond the reserve found no room; 0: nothing was lost. */
static inline void dsh_consider_xoff(const struct xoff_dsh_cfg *c, struct xoff_dsh_port *port,
                                     const struct xoff_arrival *arrival, int64_t free_bytes,
                                     int64_t beyond, int64_t lost_bytes, struct xoff_crossings *out)
{
    struct xoff_dsh_queue *queue = &port->queues[arrival->priority];
    const int64_t threshold = xoff_ratio_times(&c->base.alpha, free_bytes); /* T */
    const int64_t queue_off = xoff_shared_beyond(threshold, xoff_dsh_eta(c)[arrival->in_port]);
    const int64_t port_off = c->base.n_lossless * threshold;
    if (!queue->is_above && beyond > queue_off) {
        queue->is_above = 1;
        shared_cross(XOFF_UNIT_INGRESS, true, arrival->in_port, arrival->priority,
                     beyond + lost_bytes, queue_off, out);
    }
    if (port->is_above ||
        (port->insurance_bytes == 0 && port->shared_bytes <= port_off && lost_bytes == 0))
        return;
    /* An empty port has no departure that could bring XON. */
    const int64_t occupied = port->shared_bytes + port->insurance_bytes;
    if (occupied == 0)
        return;
    port->is_above = 1;
    /* With N * alpha > 1 the free space ends before X_poff does. */
    const int64_t room = port->shared_bytes + free_bytes;
    shared_cross(XOFF_UNIT_INGRESS_PORT, true, arrival->in_port, arrival->priority,
                 occupied + lost_bytes, port_off < room ? port_off : room, out);
}

/* Places the `beyond` bytes of a frame that its reserve does not cover, and updates *free_bytes,
 * the free space of the pool. */
static inline enum xoff_pool dsh_place(const struct xoff_dsh_cfg *c, struct xoff_dsh_state *s,
                                       struct xoff_dsh_port *port,
                                       const struct xoff_arrival *arrival, int64_t beyond,
                                       int64_t *free_bytes)
{
    struct xoff_dsh_queue *queue = &port->queues[arrival->priority];
    if (!port->is_above && beyond <= *free_bytes &&
        port->shared_bytes + beyond <=
            c->base.n_lossless * xoff_ratio_times(&c->base.alpha, *free_bytes)) {
        port->shared_bytes += beyond;
        *free_bytes -= beyond;
        if (!queue->is_above) {
            xoff_shared_raise(&s->base, XOFF_POOL_SHARED, beyond);
            return XOFF_POOL_SHARED;
        }
        queue->headroom_bytes += beyond;
        xoff_shared_raise(&s->base, XOFF_POOL_HEADROOM, beyond);
        return XOFF_POOL_HEADROOM;
    }
    if (port->insurance_bytes + beyond > xoff_dsh_eta(c)[arrival->in_port])
        return XOFF_POOL_DROP;
    port->insurance_bytes += beyond;
    if (port->insurance_bytes > port->insurance_peak_bytes)
        port->insurance_peak_bytes = port->insurance_bytes;
    xoff_shared_raise(&s->base, XOFF_POOL_INSURANCE, beyond);
    return XOFF_POOL_INSURANCE;
}

/* Admits a frame to a lossless queue that is above a threshold of its own or of its port, or may
 * come to be with it. */
static enum xoff_pool dsh_admit_above(const struct xoff_dsh_cfg *c, struct xoff_dsh_state *s,
                                      const struct xoff_arrival *arrival,
                                      struct xoff_crossings *out)
{
    struct xoff_dsh_port *port = &xoff_dsh_ports(s)[arrival->in_port];
    struct xoff_dsh_queue *queue = &port->queues[arrival->priority];
    const int64_t bytes = arrival->bytes;
    const int64_t before = xoff_shared_beyond(queue->bytes, c->base.reserved_bytes);
    const int64_t after = xoff_shared_beyond(queue->bytes + bytes, c->base.reserved_bytes);
    const int64_t beyond = after - before;
    int64_t free_bytes = xoff_dsh_free(c, s);
    enum xoff_pool pool = XOFF_POOL_RESERVED;
    if (beyond > 0)
        pool = dsh_place(c, s, port, arrival, beyond, &free_bytes);
    if (pool == XOFF_POOL_DROP) {
        dsh_consider_xoff(c, port, arrival, free_bytes, before, beyond, out);
        return pool;
    }
    queue->bytes += bytes;
    if (beyond < bytes)
        xoff_shared_raise(&s->base, XOFF_POOL_RESERVED, bytes - beyond);
    xoff_shared_raise_total(&s->base, bytes);
    dsh_consider_xoff(c, port, arrival, free_bytes, after, 0, out);
    return pool;
}

static enum xoff_pool dsh_admit(const void *cfg, void *state, const struct xoff_arrival *arrival,
                                xoff_time now, struct xoff_crossings *out)
{
    const struct xoff_dsh_cfg *c = cfg;
    struct xoff_dsh_state *s = state;
    (void)now;
    XOFF_ASSERT(arrival->in_port < c->base.n_ports);
    XOFF_ASSERT(arrival->priority < XOFF_N_PRIORITIES);
    const bool is_lossless = c->base.lossless >> arrival->priority & 1;
    const enum xoff_pool pool =
        xoff_dsh_quick_admit(c, s, arrival->in_port, arrival->priority, is_lossless, arrival->bytes,
                             arrival->egress_bytes);
    if (pool != XOFF_POOL_DROP || !is_lossless)
        return pool;
    return dsh_admit_above(c, s, arrival, out);
}

/* `beyond` bytes of a queue, which now has `left` beyond its reserve, leave insurance and pool. */
static inline void dsh_take(struct xoff_dsh_state *s, struct xoff_dsh_port *port,
                            struct xoff_dsh_queue *queue, int64_t beyond, int64_t left)
{
    const int64_t insured = beyond < port->insurance_bytes ? beyond : port->insurance_bytes;
    const int64_t pooled = beyond - insured;
    port->insurance_bytes -= insured;
    s->base.used_bytes[XOFF_POOL_INSURANCE] -= insured;
    port->shared_bytes -= pooled;
    /* Headroom leaves first, and a queue has no more of it than it has bytes. */
    int64_t headroom = pooled < queue->headroom_bytes ? pooled : queue->headroom_bytes;
    if (queue->headroom_bytes - headroom > left)
        headroom = queue->headroom_bytes - left;
    queue->headroom_bytes -= headroom;
    s->base.used_bytes[XOFF_POOL_HEADROOM] -= headroom;
    xoff_shared_raise(&s->base, XOFF_POOL_SHARED, headroom - pooled);
}

/* Decides XON of the queue and of the port after a departure. */
static inline void dsh_consider_xon(const struct xoff_dsh_cfg *c, struct xoff_dsh_state *s,
                                    struct xoff_dsh_port *port,
                                    const struct xoff_departure *departure,
                                    struct xoff_crossings *out)
{
    struct xoff_dsh_queue *queue = &port->queues[departure->priority];
    const int64_t threshold = xoff_ratio_times(&c->base.alpha, xoff_dsh_free(c, s)); /* T */
    const int64_t beyond = xoff_shared_beyond(queue->bytes, c->base.reserved_bytes);
    const int64_t queue_off = xoff_shared_beyond(threshold, xoff_dsh_eta(c)[departure->in_port]);
    const int64_t port_off = c->base.n_lossless * threshold;
    if (queue->is_above && (beyond == 0 || beyond + c->resume_offset_bytes <= queue_off)) {
        queue->is_above = 0;
        s->base.used_bytes[XOFF_POOL_HEADROOM] -= queue->headroom_bytes;
        xoff_shared_raise(&s->base, XOFF_POOL_SHARED, queue->headroom_bytes);
        queue->headroom_bytes = 0;
        shared_cross(XOFF_UNIT_INGRESS, false, departure->in_port, departure->priority, beyond,
                     xoff_shared_beyond(queue_off, c->resume_offset_bytes), out);
    }
    if (!port->is_above || port->insurance_bytes > 0)
        return;
    if (port->shared_bytes > 0 && port->shared_bytes + c->port_resume_offset_bytes > port_off)
        return;
    port->is_above = 0;
    shared_cross(XOFF_UNIT_INGRESS_PORT, false, departure->in_port, departure->priority,
                 port->shared_bytes, xoff_shared_beyond(port_off, c->port_resume_offset_bytes),
                 out);
}

static void dsh_release(const void *cfg, void *state, const struct xoff_departure *departure,
                        xoff_time now, struct xoff_crossings *out)
{
    const struct xoff_dsh_cfg *c = cfg;
    struct xoff_dsh_state *s = state;
    (void)now;
    XOFF_ASSERT(departure->in_port < c->base.n_ports);
    XOFF_ASSERT(departure->priority < XOFF_N_PRIORITIES);
    XOFF_ASSERT(departure->pool != XOFF_POOL_DROP);
    struct xoff_dsh_port *port = &xoff_dsh_ports(s)[departure->in_port];
    struct xoff_dsh_queue *queue = &port->queues[departure->priority];
    const int64_t bytes = departure->bytes;
    XOFF_ASSERT(bytes <= queue->bytes);
    const bool is_lossless = c->base.lossless >> departure->priority & 1;
    if (xoff_dsh_quick_release(c, s, departure->in_port, departure->priority, is_lossless, bytes))
        return;
    const int64_t left = xoff_shared_beyond(queue->bytes - bytes, c->base.reserved_bytes);
    const int64_t beyond = xoff_shared_beyond(queue->bytes, c->base.reserved_bytes) - left;
    s->base.used_total_bytes -= bytes;
    queue->bytes -= bytes;
    s->base.used_bytes[XOFF_POOL_RESERVED] -= bytes - beyond;
    dsh_take(s, port, queue, beyond, left);
    dsh_consider_xon(c, s, port, departure, out);
}

/* Inspection */

static void dsh_view(const void *cfg, const void *state, struct xoff_mmu_view *view)
{
    const struct xoff_dsh_cfg *c = cfg;
    const struct xoff_dsh_state *s = state;
    xoff_shared_view(&c->base, &s->base, view);
    view->capacity_bytes[XOFF_POOL_HEADROOM] = c->base.capacity_bytes;
    view->capacity_bytes[XOFF_POOL_INSURANCE] = c->base.headroom_capacity_bytes;
}

static int64_t dsh_used_bytes(const void *state, enum xoff_pool pool)
{
    return ((const struct xoff_dsh_state *)state)->base.used_bytes[pool];
}

static int64_t dsh_ingress_bytes(const void *cfg, const void *state, uint32_t port,
                                 uint32_t priority)
{
    const struct xoff_dsh_cfg *c = cfg;
    const struct xoff_dsh_state *s = state;
    XOFF_ASSERT(port < c->base.n_ports);
    XOFF_ASSERT(priority < XOFF_N_PRIORITIES);
    return xoff_dsh_ports(s)[port].queues[priority].bytes;
}

static int64_t dsh_headroom_peak(const void *cfg, const void *state, uint32_t port,
                                 uint32_t priority)
{
    const struct xoff_dsh_cfg *c = cfg;
    const struct xoff_dsh_state *s = state;
    (void)priority;
    XOFF_ASSERT(port < c->base.n_ports);
    return xoff_dsh_ports(s)[port].insurance_peak_bytes;
}

static int64_t dsh_headroom_limit(const void *cfg, uint32_t port, uint32_t priority)
{
    const struct xoff_dsh_cfg *c = cfg;
    XOFF_ASSERT(port < c->base.n_ports);
    return c->base.lossless >> priority & 1 ? xoff_dsh_eta(c)[port] : 0;
}

const struct xoff_mmu_ops xoff_mmu_dsh = {
    .name = "dsh",
    .summary = "one pool for footroom and headroom, insurance headroom for each port",
    .params = dsh_table,
    .params_size = sizeof(struct dsh_params),
    .cfg_size = sizeof(struct xoff_dsh_cfg),
    .cfg_port_size = sizeof(int64_t),
    .configure = dsh_configure,
    .admit = dsh_admit,
    .release = dsh_release,
    .view = dsh_view,
    .used_bytes = dsh_used_bytes,
    .ingress_bytes = dsh_ingress_bytes,
    .headroom_peak = dsh_headroom_peak,
    .headroom_limit = dsh_headroom_limit,
};
