/* Shared buffer with headroom for each port, shared by its queues: the DSH slides' first idea
 * alone.
 *
 * Source: the DSH slides (ICDCS 2023). They reserve headroom for each port instead of each queue,
 * because the queues of a port share one uplink, ask "Only insurance headroom?" and answer
 * "Performance isolation is violated". How such a switch pauses is not said; it follows from what
 * the headroom is for (docs/mechanisms/dsh.md).
 *
 * The buffer is that of sih, except that headroom is eta bytes for each port. For ingress queue i
 * of port p, with q bytes outside headroom and h bytes in it:
 *
 *   shared(i) = max(0, q - reserved)               T = alpha * (shared capacity - shared used)
 *   arrival of L bytes: reserved or shared when q + L <= reserved, or shared(i) after it <= T and
 *                       it fits the free space; else headroom when sum of h over p + L <= eta; else
 *                       lost
 *   departure:          takes from headroom first, then shared, then the reserve
 *   i becomes full:     at an arrival of its own, h > 0 or shared(i) > T
 *   i is full no more:  at a departure of its own, h = 0 and
 *                       (shared(i) = 0 or shared(i) + resume_offset <= T)
 *   port XOFF:          with the first queue of p that becomes full
 *   port XON:           when no queue of p is full any more
 *
 * A full queue has to stop its whole port. What it may still receive can take all of eta, so
 * another queue of the port that went on would find nothing left. Nothing is lost as long as eta is
 * what may arrive after a decision, the deciding frame included: headroom is empty while no queue
 * is full.
 *
 * A frame that is lost makes its queue full too, if the queue holds bytes.
 */
#include <string.h>

#include "mech/mechanisms.h"
#include "mech/mmu/shared.h"

struct insurance_params {
    struct shared_params base;
    int64_t resume_offset;
};

struct insurance_cfg {
    struct xoff_shared_cfg base;
    int64_t resume_offset_bytes;
    int64_t eta_bytes[]; /* headroom of port p */
};

struct insurance_queue {
    int64_t bytes; /* in reserve and shared pool */
    int64_t headroom_bytes;
    uint64_t is_full;
};

struct insurance_port {
    int64_t headroom_bytes, headroom_peak_bytes; /* of all its queues */
    int64_t lossy_bytes; /* of all its lossy priorities, in reserve and shared pool */
    uint64_t n_full;     /* queues; XOFF is decided while it is not 0 */
    struct insurance_queue queues[XOFF_N_PRIORITIES];
};

struct insurance_state {
    struct xoff_shared_state base;
    struct insurance_port ports[];
};

static const struct xoff_param insurance_table[] = {
    SHARED_PARAMS(struct insurance_params, "1/16"),
    SHARED_HEADROOM(struct insurance_params,
                    "eta: space of each port for what arrives after XOFF is decided; auto: by "
                    "headroom_rule."),
    SHARED_RESUME(struct insurance_params, resume_offset,
                  "A queue is no longer full when it is this far below its threshold."),
    {0},
};

static int insurance_configure(const void *params, const struct xoff_mmu_env *env, void *cfg,
                               struct xoff_mmu_shape *shape, struct xoff_err *err)
{
    const struct insurance_params *p = params;
    struct insurance_cfg *c = cfg;
    c->resume_offset_bytes = p->resume_offset;
    shape->state_size =
        sizeof(struct insurance_state) + env->n_ports * sizeof(struct insurance_port);
    return xoff_shared_configure(&p->base, insurance_table, p, env, env->lossless ? 1 : 0, &c->base,
                                 c->eta_bytes, err);
}

/* Decides after an arrival whether the queue is full. `lost_bytes` is the size of a frame that
 * found no room, else 0. */
static void insurance_consider_full(const struct insurance_cfg *c, const struct insurance_state *s,
                                    struct insurance_port *port, const struct xoff_arrival *arrival,
                                    int64_t lost_bytes, struct xoff_crossings *out)
{
    struct insurance_queue *queue = &port->queues[arrival->priority];
    /* An empty queue has no departure that could bring XON. */
    if (queue->is_full || queue->bytes + queue->headroom_bytes == 0)
        return;
    const int64_t free_bytes = xoff_shared_free(&c->base, &s->base);
    const int64_t threshold = xoff_ratio_times(&c->base.alpha, free_bytes);
    const int64_t shared = xoff_shared_beyond(queue->bytes, c->base.reserved_bytes);
    if (queue->headroom_bytes == 0 && shared <= threshold && lost_bytes == 0)
        return;
    queue->is_full = 1;
    if (port->n_full++)
        return;
    /* With alpha > 1 the free space ends before T does. */
    shared_cross(XOFF_UNIT_INGRESS_PORT, true, arrival->in_port, arrival->priority,
                 shared + queue->headroom_bytes + lost_bytes,
                 threshold < shared + free_bytes ? threshold : shared + free_bytes, out);
}

static enum xoff_pool insurance_admit(const void *cfg, void *state,
                                      const struct xoff_arrival *arrival, xoff_time now,
                                      struct xoff_crossings *out)
{
    const struct insurance_cfg *c = cfg;
    struct insurance_state *s = state;
    (void)now;
    XOFF_ASSERT(arrival->in_port < c->base.n_ports);
    XOFF_ASSERT(arrival->priority < XOFF_N_PRIORITIES);
    struct insurance_port *port = &s->ports[arrival->in_port];
    struct insurance_queue *queue = &port->queues[arrival->priority];
    const int64_t bytes = arrival->bytes;
    const int64_t free_bytes = xoff_shared_free(&c->base, &s->base);
    if (!(c->base.lossless >> arrival->priority & 1))
        return xoff_shared_admit_lossy(&c->base, &s->base, bytes, arrival->egress_bytes, free_bytes,
                                       &port->lossy_bytes, &queue->bytes);
    enum xoff_pool pool = shared_admit_below(&c->base, &s->base, bytes, free_bytes, &queue->bytes);
    if (pool == XOFF_POOL_DROP && port->headroom_bytes + bytes <= c->eta_bytes[arrival->in_port]) {
        queue->headroom_bytes += bytes;
        port->headroom_bytes += bytes;
        if (port->headroom_bytes > port->headroom_peak_bytes)
            port->headroom_peak_bytes = port->headroom_bytes;
        xoff_shared_raise(&s->base, XOFF_POOL_INSURANCE, bytes);
        pool = XOFF_POOL_INSURANCE;
    }
    if (pool != XOFF_POOL_DROP)
        xoff_shared_raise_total(&s->base, bytes);
    insurance_consider_full(c, s, port, arrival, pool == XOFF_POOL_DROP ? bytes : 0, out);
    return pool;
}

static void insurance_release(const void *cfg, void *state, const struct xoff_departure *departure,
                              xoff_time now, struct xoff_crossings *out)
{
    const struct insurance_cfg *c = cfg;
    struct insurance_state *s = state;
    (void)now;
    XOFF_ASSERT(departure->in_port < c->base.n_ports);
    XOFF_ASSERT(departure->priority < XOFF_N_PRIORITIES);
    XOFF_ASSERT(departure->pool != XOFF_POOL_DROP);
    struct insurance_port *port = &s->ports[departure->in_port];
    struct insurance_queue *queue = &port->queues[departure->priority];
    const int64_t bytes = departure->bytes;
    XOFF_ASSERT(bytes <= queue->bytes + queue->headroom_bytes);
    s->base.used_total_bytes -= bytes;
    if (!(c->base.lossless >> departure->priority & 1)) {
        xoff_shared_release_lossy(&c->base, &s->base, bytes, &port->lossy_bytes, &queue->bytes);
        return;
    }
    port->headroom_bytes -= shared_release(&c->base, &s->base, XOFF_POOL_INSURANCE, bytes,
                                           &queue->bytes, &queue->headroom_bytes);
    if (!queue->is_full || queue->headroom_bytes > 0)
        return;
    const int64_t shared = xoff_shared_beyond(queue->bytes, c->base.reserved_bytes);
    const int64_t threshold =
        xoff_ratio_times(&c->base.alpha, xoff_shared_free(&c->base, &s->base));
    if (shared > 0 && shared + c->resume_offset_bytes > threshold)
        return;
    queue->is_full = 0;
    if (--port->n_full)
        return;
    shared_cross(XOFF_UNIT_INGRESS_PORT, false, departure->in_port, departure->priority, shared,
                 xoff_shared_beyond(threshold, c->resume_offset_bytes), out);
}

/* Inspection */

static void insurance_view(const void *cfg, const void *state, struct xoff_mmu_view *view)
{
    const struct insurance_cfg *c = cfg;
    const struct insurance_state *s = state;
    xoff_shared_view(&c->base, &s->base, view);
    view->capacity_bytes[XOFF_POOL_HEADROOM] = 0;
    view->capacity_bytes[XOFF_POOL_INSURANCE] = c->base.headroom_capacity_bytes;
}

static int64_t insurance_used_bytes(const void *state, enum xoff_pool pool)
{
    return ((const struct insurance_state *)state)->base.used_bytes[pool];
}

static int64_t insurance_ingress_bytes(const void *cfg, const void *state, uint32_t port,
                                       uint32_t priority)
{
    const struct insurance_cfg *c = cfg;
    const struct insurance_state *s = state;
    XOFF_ASSERT(port < c->base.n_ports);
    XOFF_ASSERT(priority < XOFF_N_PRIORITIES);
    const struct insurance_queue *queue = &s->ports[port].queues[priority];
    return queue->bytes + queue->headroom_bytes;
}

static int64_t insurance_headroom_peak(const void *cfg, const void *state, uint32_t port,
                                       uint32_t priority)
{
    const struct insurance_cfg *c = cfg;
    const struct insurance_state *s = state;
    (void)priority;
    XOFF_ASSERT(port < c->base.n_ports);
    return s->ports[port].headroom_peak_bytes;
}

static int64_t insurance_headroom_limit(const void *cfg, uint32_t port, uint32_t priority)
{
    const struct insurance_cfg *c = cfg;
    XOFF_ASSERT(port < c->base.n_ports);
    return c->base.lossless >> priority & 1 ? c->eta_bytes[port] : 0;
}

const struct xoff_mmu_ops xoff_mmu_insurance_only = {
    .name = "insurance-only",
    .summary = "shared pool under a dynamic threshold, headroom for each port, which pauses whole",
    .params = insurance_table,
    .params_size = sizeof(struct insurance_params),
    .cfg_size = sizeof(struct insurance_cfg),
    .cfg_port_size = sizeof(int64_t),
    .configure = insurance_configure,
    .admit = insurance_admit,
    .release = insurance_release,
    .view = insurance_view,
    .used_bytes = insurance_used_bytes,
    .ingress_bytes = insurance_ingress_bytes,
    .headroom_peak = insurance_headroom_peak,
    .headroom_limit = insurance_headroom_limit,
};
