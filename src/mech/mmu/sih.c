/* Shared buffer with a dynamic threshold and static, independent headroom (SIH).
 *
 * Source: dynamic threshold of Choudhury and Hahne (1998); buffer organisation as on the DSH slides
 * ("existing": private, shared, headroom per ingress queue); the rules below are those of the ns-3
 * RDMA family, so that runs can be compared.
 *
 * The buffer is cut in three: a reserve for each lossless ingress queue and one for all lossy
 * priorities of a port together, headroom for each lossless ingress queue, and the rest, which is
 * shared. For ingress queue i with q bytes outside headroom and h bytes in headroom:
 *
 *   shared(i) = max(0, q - reserved)               T = alpha * (shared capacity - shared used)
 *   arrival of L bytes: reserved or shared when q + L <= reserved, or shared(i) after it <= T and
 *                       it fits the free space; else headroom when h + L <= limit; else lost
 *   departure:          takes from headroom first, then shared, then the reserve
 *   XOFF on arrival:    h > 0 or shared(i) >= T
 *   XON on departure:   h = 0 and (shared(i) = 0 or shared(i) + resume_offset <= T)
 *
 * So the first frame put in headroom always decides XOFF, if nothing did earlier. A queue is above
 * only while it holds bytes, so a departure that can bring XON is always to come.
 *
 * Lossy frames, the reserve and alpha are as in shared.h.
 *
 * Differs: the ns-3 family does not check that a frame under T fits the free space (it matters for
 * alpha > 1), keeps no reserve for lossy traffic, and drops no lossy frame at the egress.
 * Differs: the ns-3 family raises alpha for ports faster than the hosts; here the switch has one
 * alpha.
 * Differs: a frame lost for want of headroom decides XOFF too, if its queue holds bytes.
 */
#include <string.h>

#include "mech/mechanisms.h"
#include "mech/mmu/shared.h"

struct sih_params {
    struct shared_params base;
    int64_t resume_offset;
};

_Static_assert(sizeof(struct xoff_sih_queue) == 32, "two queue records share a cache line");

static const struct xoff_param sih_table[] = {
    SHARED_PARAMS(struct sih_params, "1/8"),
    SHARED_HEADROOM(
        struct sih_params,
        "Space of each lossless ingress queue for what arrives after XOFF is decided; auto: by "
        "headroom_rule."),
    SHARED_RESUME(struct sih_params, resume_offset,
                  "XON is decided when the queue is this far below its threshold."),
    {0},
};

static int sih_configure(const void *params, const struct xoff_mmu_env *env, void *cfg,
                         struct xoff_mmu_shape *shape, struct xoff_err *err)
{
    const struct sih_params *p = params;
    struct xoff_sih_cfg *c = cfg;
    c->resume_offset_bytes = p->resume_offset;
    shape->state_size = sizeof(struct xoff_sih_state) + env->n_ports * sizeof(struct xoff_sih_port);
    return xoff_shared_configure(&p->base, sih_table, p, env, xoff_shared_n_lossless(env), &c->base,
                                 xoff_sih_headroom(c), err);
}

/* Admission */

/* Decides XOFF after an arrival. `lost_bytes` is the size of a frame that found no room, else 0. */
static void sih_consider_xoff(const struct xoff_sih_cfg *c, const struct xoff_sih_state *s,
                              struct xoff_sih_queue *queue, const struct xoff_arrival *arrival,
                              int64_t lost_bytes, struct xoff_crossings *out)
{
    if (queue->is_above)
        return;
    const int64_t free_bytes = xoff_shared_free(&c->base, &s->base);
    const int64_t threshold = xoff_ratio_times(&c->base.alpha, free_bytes);
    const int64_t shared = xoff_shared_beyond(queue->bytes, c->base.reserved_bytes);
    /* An empty queue has no departure that could bring XON. */
    if (queue->bytes + queue->headroom_bytes == 0)
        return;
    if (queue->headroom_bytes == 0 && shared < threshold && lost_bytes == 0)
        return;
    queue->is_above = 1;
    /* With alpha > 1 the free space ends before T does. */
    shared_cross(XOFF_UNIT_INGRESS, true, arrival->in_port, arrival->priority,
                 shared + queue->headroom_bytes + lost_bytes,
                 threshold < shared + free_bytes ? threshold : shared + free_bytes, out);
}

/* Admits a frame of a lossless queue that is above its threshold, or may come to be with it. */
static enum xoff_pool sih_admit_above(const struct xoff_sih_cfg *c, struct xoff_sih_state *s,
                                      const struct xoff_arrival *arrival,
                                      struct xoff_crossings *out)
{
    struct xoff_sih_queue *queue = &xoff_sih_ports(s)[arrival->in_port].queues[arrival->priority];
    const int64_t bytes = arrival->bytes;
    enum xoff_pool pool = shared_admit_below(&c->base, &s->base, bytes,
                                             xoff_shared_free(&c->base, &s->base), &queue->bytes);
    if (pool == XOFF_POOL_DROP)
        pool = xoff_sih_join_headroom(c, s, queue, arrival->in_port, bytes);
    else
        xoff_shared_raise_total(&s->base, bytes);
    sih_consider_xoff(c, s, queue, arrival, pool == XOFF_POOL_DROP ? bytes : 0, out);
    return pool;
}

static enum xoff_pool sih_admit(const void *cfg, void *state, const struct xoff_arrival *arrival,
                                xoff_time now, struct xoff_crossings *out)
{
    const struct xoff_sih_cfg *c = cfg;
    struct xoff_sih_state *s = state;
    (void)now;
    XOFF_ASSERT(arrival->in_port < c->base.n_ports);
    XOFF_ASSERT(arrival->priority < XOFF_N_PRIORITIES);
    const bool is_lossless = c->base.lossless >> arrival->priority & 1;
    const enum xoff_pool pool =
        xoff_sih_quick_admit(c, s, arrival->in_port, arrival->priority, is_lossless, arrival->bytes,
                             arrival->egress_bytes);
    if (pool != XOFF_POOL_DROP || !is_lossless)
        return pool;
    return sih_admit_above(c, s, arrival, out);
}

/* Release */

static void sih_release(const void *cfg, void *state, const struct xoff_departure *departure,
                        xoff_time now, struct xoff_crossings *out)
{
    const struct xoff_sih_cfg *c = cfg;
    struct xoff_sih_state *s = state;
    (void)now;
    XOFF_ASSERT(departure->in_port < c->base.n_ports);
    XOFF_ASSERT(departure->priority < XOFF_N_PRIORITIES);
    XOFF_ASSERT(departure->pool != XOFF_POOL_DROP);
    struct xoff_sih_queue *queue =
        &xoff_sih_ports(s)[departure->in_port].queues[departure->priority];
    const int64_t bytes = departure->bytes;
    XOFF_ASSERT(bytes <= queue->bytes + queue->headroom_bytes);
    const bool is_lossless = c->base.lossless >> departure->priority & 1;
    if (xoff_sih_quick_release(c, s, departure->in_port, departure->priority, is_lossless, bytes))
        return;
    s->base.used_total_bytes -= bytes;
    shared_release(&c->base, &s->base, XOFF_POOL_HEADROOM, bytes, &queue->bytes,
                   &queue->headroom_bytes);
    if (queue->headroom_bytes > 0)
        return;
    const int64_t shared = xoff_shared_beyond(queue->bytes, c->base.reserved_bytes);
    const int64_t threshold =
        xoff_ratio_times(&c->base.alpha, xoff_shared_free(&c->base, &s->base));
    if (shared > 0 && shared + c->resume_offset_bytes > threshold)
        return;
    queue->is_above = 0;
    shared_cross(XOFF_UNIT_INGRESS, false, departure->in_port, departure->priority, shared,
                 xoff_shared_beyond(threshold, c->resume_offset_bytes), out);
}

/* Inspection */

static void sih_view(const void *cfg, const void *state, struct xoff_mmu_view *view)
{
    const struct xoff_sih_cfg *c = cfg;
    const struct xoff_sih_state *s = state;
    xoff_shared_view(&c->base, &s->base, view);
}

static const struct xoff_sih_queue *sih_queue_of(const void *cfg, const void *state, uint32_t port,
                                                 uint32_t priority)
{
    const struct xoff_sih_cfg *c = cfg;
    const struct xoff_sih_state *s = state;
    XOFF_ASSERT(port < c->base.n_ports);
    XOFF_ASSERT(priority < XOFF_N_PRIORITIES);
    return &xoff_sih_ports(s)[port].queues[priority];
}

static int64_t sih_used_bytes(const void *state, enum xoff_pool pool)
{
    return ((const struct xoff_sih_state *)state)->base.used_bytes[pool];
}

static int64_t sih_ingress_bytes(const void *cfg, const void *state, uint32_t port,
                                 uint32_t priority)
{
    const struct xoff_sih_queue *queue = sih_queue_of(cfg, state, port, priority);
    return queue->bytes + queue->headroom_bytes;
}

static int64_t sih_headroom_peak(const void *cfg, const void *state, uint32_t port,
                                 uint32_t priority)
{
    return sih_queue_of(cfg, state, port, priority)->headroom_peak_bytes;
}

static int64_t sih_headroom_limit(const void *cfg, uint32_t port, uint32_t priority)
{
    const struct xoff_sih_cfg *c = cfg;
    XOFF_ASSERT(port < c->base.n_ports);
    return c->base.lossless >> priority & 1 ? xoff_sih_headroom(c)[port] : 0;
}

const struct xoff_mmu_ops xoff_mmu_sih = {
    .name = "sih",
    .summary = "shared pool under a dynamic threshold, static headroom for each lossless queue",
    .params = sih_table,
    .params_size = sizeof(struct sih_params),
    .cfg_size = sizeof(struct xoff_sih_cfg),
    .cfg_port_size = sizeof(int64_t),
    .configure = sih_configure,
    .admit = sih_admit,
    .release = sih_release,
    .view = sih_view,
    .used_bytes = sih_used_bytes,
    .ingress_bytes = sih_ingress_bytes,
    .headroom_peak = sih_headroom_peak,
    .headroom_limit = sih_headroom_limit,
};
