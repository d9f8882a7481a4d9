/* The switch buffer of the ns-3 RDMA family, rule for rule.
 *
 * Source: the HPCC simulator (switch-mmu.cc and switch-node.cc; scratch/third.cc for how it is set
 * up), whose descendants share it. For ingress queue i of port p with q bytes outside headroom and
 * h bytes in headroom:
 *
 *   headroom(p) = headroom_factor * floor(rate * delay / 8)        delay one way, rounded per port
 *   shift(p)    = shift, one less for each halving that brings the port's rate down to the hosts'
 *   shared(i)   = max(0, q - reserved)
 *   T(p)        = (buffer - sum of headroom - ports * reserved - sum of shared) >> shift(p)
 *
 *   arrival of L: lost when h + L > headroom(p) and shared(i) + L > T; else to the reserve when
 *                 q + L <= reserved, to headroom when q + L - reserved > T, else shared
 *   XOFF:         at an arrival that was not lost, when h > 0 or shared(i) >= T
 *   XON:          at a departure, when h = 0 and (shared(i) = 0 or shared(i) + resume_offset <= T)
 *   departure:    takes from headroom first, then shared, then the reserve
 *
 * So a frame that its reserve would hold is still lost when T and headroom are too small for it. T
 * cannot fall below 0: what joins the shared pool is at most T, and T at most the free space.
 *
 * These rules leave out priority 0: it is never lost, never paused, and in no sum. The other seven
 * share what is set aside once per port, but each may use all of it: with more than one of them in
 * use the buffer can hold more than its size. The view shows this: it counts reserve and headroom
 * once for each priority that was used, and priority 0 as reserve that grows with it.
 *
 * The pool that admit() answers tells where the frame was put. A departure is taken from the
 * counters in the order above, whatever the pool.
 *
 * Differs: sums have 64 bits; the family's have 32. A buffer too small for headroom and reserves is
 * refused; in the family T becomes huge. Delays finer than a nanosecond count.
 * Differs: a pause policy that decides late (pause.h) gets the headroom it asks for with headroom:
 * auto; the family has no such policy. Headroom below the worst case is warned about.
 * Differs: lossy priorities, which the family does not have, are held to the same rules but cross
 * no threshold.
 */
#include <string.h>

#include <xoff/units.h>

#include "mech/mechanisms.h"

#define NS3_MAX_BUFFER_BYTES (INT64_C(1) << 40)

struct ns3_params {
    int64_t reserved, headroom, headroom_factor, shift, resume_offset;
};

struct ns3_port_cfg {
    int64_t headroom_bytes; /* limit of each of its queues, set aside once */
    uint32_t shift;
};

struct ns3_cfg {
    uint32_t n_ports;
    uint8_t lossless;
    int64_t reserved_bytes; /* of each queue, set aside once per port */
    int64_t resume_offset_bytes;
    int64_t buffer_bytes, reserved_capacity_bytes, shared_capacity_bytes, headroom_capacity_bytes;
    struct ns3_port_cfg ports[];
};

struct ns3_queue {
    int64_t bytes; /* in reserve and shared pool */
    int64_t headroom_bytes, headroom_peak_bytes;
    uint64_t is_above; /* XOFF decided, XON not yet */
};

struct ns3_state {
    int64_t used_total_bytes, peak_total_bytes;
    int64_t used_bytes[XOFF_N_POOLS]; /* priority 0 is in the reserve */
    int64_t peak_bytes[XOFF_N_POOLS];
    int64_t outside_bytes, outside_peak_bytes; /* of priority 0 */
    uint8_t seen;                              /* bit n: priority n had a frame, n > 0 */
    struct ns3_queue queues[];                 /* [port][priority] */
};

static const struct xoff_param ns3_table[] = {
    {.name = "reserved",
     .type = XOFF_P_BYTES,
     .offset = offsetof(struct ns3_params, reserved),
     .preset = "4KiB",
     .min = "0B",
     .max = "1GiB",
     .help = "Space each ingress queue has outside the shared pool; set aside once per port."},
    {.name = "headroom",
     .type = XOFF_P_BYTES,
     .offset = offsetof(struct ns3_params, headroom),
     .preset = "auto",
     .min = "0B",
     .max = "1GiB",
     .allows_auto = true,
     .help =
         "Space for what arrives after XOFF, of each ingress queue and set aside once per port; "
         "auto: headroom_factor times what the port's link holds one way."},
    {.name = "headroom_factor",
     .type = XOFF_P_INT,
     .offset = offsetof(struct ns3_params, headroom_factor),
     .preset = "3",
     .min = "0",
     .max = "1000",
     .help = "Headroom of a port in multiples of rate times one-way delay; not looked at when "
             "headroom is given."},
    {.name = "shift",
     .type = XOFF_P_INT,
     .offset = offsetof(struct ns3_params, shift),
     .preset = "3",
     .min = "0",
     .max = "30",
     .help = "An ingress queue may use the free shared space divided by 2^shift, one less for each "
             "doubling of the port's rate over the hosts'."},
    {.name = "resume_offset",
     .type = XOFF_P_BYTES,
     .offset = offsetof(struct ns3_params, resume_offset),
     .preset = "3KiB",
     .min = "0B",
     .max = "1GiB",
     .help = "XON is decided when the queue is this far below its threshold."},
    {0},
};

/* Configuration */

/* Rounds the bytes on the wire one way down to whole bytes before it multiplies by the factor. */
static unsigned __int128 ns3_headroom(const struct ns3_params *p, const struct xoff_mmu_port *port)
{
    XOFF_ASSERT(port->delay >= 0);
    if (p->headroom != XOFF_PARAM_AUTO)
        return (uint64_t)p->headroom;
    const unsigned __int128 bit_ps = (unsigned __int128)port->rate_bps * (uint64_t)port->delay;
    return bit_ps / (8 * (uint64_t)XOFF_S) * (uint64_t)p->headroom_factor +
           (uint64_t)port->late_bytes;
}

/* Halvings round down, and the last one may undershoot: 150 Gb/s over 100 counts as a doubling. */
static uint32_t ns3_shift(int64_t shift, xoff_rate rate_bps, xoff_rate nic_rate_bps)
{
    XOFF_ASSERT(nic_rate_bps > 0);
    for (; rate_bps > nic_rate_bps && shift > 0; rate_bps /= 2)
        shift--;
    return (uint32_t)shift;
}

static int ns3_refuse_buffer(const struct xoff_mmu_env *env, const struct ns3_cfg *c,
                             struct xoff_err *err)
{
    char text[XOFF_PARAM_TEXT];
    const int code = xoff_err_set(err, XOFF_E_CONFLICT, "buffer",
                                  xoff_format_bytes(text, sizeof text, env->buffer_bytes),
                                  "too small: headroom takes ");
    xoff_err_add_int(err, c->headroom_capacity_bytes);
    xoff_err_add(err, "B and reserves take ");
    xoff_err_add_int(err, c->reserved_capacity_bytes);
    xoff_err_add(err, "B; needed are at least ");
    xoff_err_add_int(err, c->headroom_capacity_bytes + c->reserved_capacity_bytes);
    xoff_err_add(err, "B and what is to be shared");
    return code;
}

static int ns3_refuse_headroom(const struct xoff_mmu_env *env, uint32_t port, struct xoff_err *err)
{
    char text[XOFF_PARAM_TEXT];
    const int code = xoff_err_set(err, XOFF_E_CONFLICT, "buffer",
                                  xoff_format_bytes(text, sizeof text, env->buffer_bytes),
                                  "too small: the headroom of port ");
    xoff_err_add_int(err, port);
    xoff_err_add(err, " alone takes more (its link: ");
    xoff_err_add(err, xoff_format_rate(text, sizeof text, env->ports[port].rate_bps));
    xoff_err_add(err, ", ");
    xoff_err_add(err, xoff_format_time(text, sizeof text, env->ports[port].delay));
    xoff_err_add(err, " one way)");
    return code;
}

/* The family holds headroom to nothing, and its rule forgets frames and response times: on short
 * links it is a part of what arrives after XOFF. */
static void ns3_warn_short(const struct ns3_cfg *c, const struct xoff_mmu_env *env,
                           struct xoff_err *err)
{
    char text[XOFF_PARAM_TEXT];
    uint32_t worst = env->n_ports;
    int64_t most_bytes = 0;
    for (uint32_t port = 0; port < env->n_ports && env->lossless & ~1u; port++) {
        const int64_t short_bytes = env->ports[port].headroom_bytes - c->ports[port].headroom_bytes;
        if (short_bytes > most_bytes) {
            most_bytes = short_bytes;
            worst = port;
        }
    }
    if (worst == env->n_ports)
        return;
    xoff_err_set(err, XOFF_E_OK, "headroom",
                 xoff_format_bytes(text, sizeof text, c->ports[worst].headroom_bytes),
                 "may lose frames of lossless priorities: after XOFF is decided up to ");
    xoff_err_add_int(err, env->ports[worst].headroom_bytes);
    xoff_err_add(err, "B can arrive");
}

static int ns3_configure(const void *params, const struct xoff_mmu_env *env, void *cfg,
                         struct xoff_mmu_shape *shape, struct xoff_err *err)
{
    const struct ns3_params *p = params;
    struct ns3_cfg *c = cfg;
    shape->state_size = sizeof(struct ns3_state) +
                        (size_t)env->n_ports * XOFF_N_PRIORITIES * sizeof(struct ns3_queue);
    if (env->buffer_bytes <= 0 || env->buffer_bytes > NS3_MAX_BUFFER_BYTES) {
        char text[XOFF_PARAM_TEXT];
        return xoff_err_set(err, XOFF_E_RANGE, "buffer",
                            xoff_format_bytes(text, sizeof text, env->buffer_bytes),
                            "must be from 1B to 1024GiB");
    }
    *c = (struct ns3_cfg){
        .n_ports = env->n_ports,
        .lossless = env->lossless,
        .reserved_bytes = p->reserved,
        .resume_offset_bytes = p->resume_offset,
        .buffer_bytes = env->buffer_bytes,
        .reserved_capacity_bytes = env->n_ports * p->reserved,
    };
    for (uint32_t port = 0; port < env->n_ports; port++) {
        const unsigned __int128 headroom = ns3_headroom(p, &env->ports[port]);
        if (headroom > (uint64_t)env->buffer_bytes)
            return ns3_refuse_headroom(env, port, err);
        c->ports[port] = (struct ns3_port_cfg){
            .headroom_bytes = (int64_t)headroom,
            .shift = ns3_shift(p->shift, env->ports[port].rate_bps, env->nic_rate_bps),
        };
        c->headroom_capacity_bytes += (int64_t)headroom;
    }
    c->shared_capacity_bytes =
        c->buffer_bytes - c->reserved_capacity_bytes - c->headroom_capacity_bytes;
    if (c->shared_capacity_bytes < 0)
        return ns3_refuse_buffer(env, c, err);
    ns3_warn_short(c, env, err);
    return 0;
}

/* Shared by admission and release */

static inline size_t ns3_index(const struct ns3_cfg *c, uint32_t port, uint32_t priority)
{
    XOFF_ASSERT(port < c->n_ports);
    XOFF_ASSERT(priority < XOFF_N_PRIORITIES);
    return (size_t)port * XOFF_N_PRIORITIES + priority;
}

static inline int64_t ns3_shared(const struct ns3_cfg *c, int64_t bytes)
{
    return bytes > c->reserved_bytes ? bytes - c->reserved_bytes : 0;
}

static inline int64_t ns3_threshold(const struct ns3_cfg *c, const struct ns3_state *s,
                                    uint32_t port)
{
    const int64_t free_bytes = c->shared_capacity_bytes - s->used_bytes[XOFF_POOL_SHARED];
    XOFF_ASSERT(free_bytes >= 0);
    return free_bytes >> c->ports[port].shift;
}

static inline void ns3_cross(const struct ns3_queue *queue, uint16_t port, uint8_t priority,
                             int64_t occupied, int64_t threshold, struct xoff_crossings *out)
{
    out->at[out->n++] = (struct xoff_crossing){
        .unit = XOFF_UNIT_INGRESS,
        .above = queue->is_above != 0,
        .priority = priority,
        .port = port,
        .occupied_bytes = occupied,
        .threshold_bytes = threshold,
    };
}

/* Admission */

static inline void ns3_raise(struct ns3_state *s, enum xoff_pool pool, int64_t bytes)
{
    s->used_bytes[pool] += bytes;
    if (s->used_bytes[pool] > s->peak_bytes[pool])
        s->peak_bytes[pool] = s->used_bytes[pool];
}

static inline void ns3_raise_total(struct ns3_state *s, int64_t bytes)
{
    s->used_total_bytes += bytes;
    if (s->used_total_bytes > s->peak_total_bytes)
        s->peak_total_bytes = s->used_total_bytes;
}

static enum xoff_pool ns3_admit_outside(struct ns3_state *s, struct ns3_queue *queue, int64_t bytes)
{
    queue->bytes += bytes;
    s->outside_bytes += bytes;
    if (s->outside_bytes > s->outside_peak_bytes)
        s->outside_peak_bytes = s->outside_bytes;
    ns3_raise(s, XOFF_POOL_RESERVED, bytes);
    ns3_raise_total(s, bytes);
    return XOFF_POOL_RESERVED;
}

static enum xoff_pool ns3_admit(const void *cfg, void *state, const struct xoff_arrival *arrival,
                                xoff_time now, struct xoff_crossings *out)
{
    const struct ns3_cfg *c = cfg;
    struct ns3_state *s = state;
    struct ns3_queue *queue = &s->queues[ns3_index(c, arrival->in_port, arrival->priority)];
    const int64_t bytes = arrival->bytes;
    (void)now;
    if (arrival->priority == 0)
        return ns3_admit_outside(s, queue, bytes);

    const int64_t before = ns3_shared(c, queue->bytes);
    const int64_t after = ns3_shared(c, queue->bytes + bytes);
    int64_t threshold = ns3_threshold(c, s, arrival->in_port);
    if (bytes + queue->headroom_bytes > c->ports[arrival->in_port].headroom_bytes &&
        bytes + before > threshold)
        return XOFF_POOL_DROP;

    enum xoff_pool pool = after > 0 ? XOFF_POOL_SHARED : XOFF_POOL_RESERVED;
    s->seen |= (uint8_t)(1u << arrival->priority);
    ns3_raise_total(s, bytes);
    if (after > threshold) {
        pool = XOFF_POOL_HEADROOM;
        queue->headroom_bytes += bytes;
        if (queue->headroom_bytes > queue->headroom_peak_bytes)
            queue->headroom_peak_bytes = queue->headroom_bytes;
        ns3_raise(s, XOFF_POOL_HEADROOM, bytes);
    } else {
        queue->bytes += bytes;
        ns3_raise(s, XOFF_POOL_RESERVED, bytes - (after - before));
        ns3_raise(s, XOFF_POOL_SHARED, after - before);
    }

    if (queue->is_above || !(c->lossless >> arrival->priority & 1))
        return pool;
    threshold = ns3_threshold(c, s, arrival->in_port);
    const int64_t shared = ns3_shared(c, queue->bytes);
    if (queue->headroom_bytes > 0 || shared >= threshold) {
        queue->is_above = 1;
        ns3_cross(queue, arrival->in_port, arrival->priority, shared + queue->headroom_bytes,
                  threshold, out);
    }
    return pool;
}

/* Release */

static void ns3_release(const void *cfg, void *state, const struct xoff_departure *departure,
                        xoff_time now, struct xoff_crossings *out)
{
    const struct ns3_cfg *c = cfg;
    struct ns3_state *s = state;
    struct ns3_queue *queue = &s->queues[ns3_index(c, departure->in_port, departure->priority)];
    const int64_t bytes = departure->bytes;
    (void)now;
    XOFF_ASSERT(departure->pool != XOFF_POOL_DROP);
    XOFF_ASSERT(bytes <= queue->bytes + queue->headroom_bytes);
    s->used_total_bytes -= bytes;
    if (departure->priority == 0) {
        queue->bytes -= bytes;
        s->outside_bytes -= bytes;
        s->used_bytes[XOFF_POOL_RESERVED] -= bytes;
        return;
    }

    const int64_t from_headroom = bytes < queue->headroom_bytes ? bytes : queue->headroom_bytes;
    const int64_t rest = bytes - from_headroom;
    const int64_t shared = ns3_shared(c, queue->bytes - rest);
    const int64_t from_shared = ns3_shared(c, queue->bytes) - shared;
    queue->headroom_bytes -= from_headroom;
    queue->bytes -= rest;
    s->used_bytes[XOFF_POOL_HEADROOM] -= from_headroom;
    s->used_bytes[XOFF_POOL_SHARED] -= from_shared;
    s->used_bytes[XOFF_POOL_RESERVED] -= rest - from_shared;

    if (!queue->is_above || queue->headroom_bytes > 0)
        return;
    const int64_t threshold = ns3_threshold(c, s, departure->in_port);
    if (shared > 0 && shared + c->resume_offset_bytes > threshold)
        return;
    queue->is_above = 0;
    ns3_cross(queue, departure->in_port, departure->priority, shared,
              threshold > c->resume_offset_bytes ? threshold - c->resume_offset_bytes : 0, out);
}

/* Inspection */

/* Counts reserve and headroom once for each priority that was used, and at least once. The rules
 * allow that much, so the audit can check the peaks against it. */
static void ns3_view(const void *cfg, const void *state, struct xoff_mmu_view *view)
{
    const struct ns3_cfg *c = cfg;
    const struct ns3_state *s = state;
    int64_t n_seen = 0;
    for (uint32_t priority = 1; priority < XOFF_N_PRIORITIES; priority++)
        n_seen += s->seen >> priority & 1;
    n_seen += n_seen == 0;
    view->used_total_bytes = s->used_total_bytes;
    view->peak_total_bytes = s->peak_total_bytes;
    view->capacity_total_bytes = c->buffer_bytes;
    memcpy(view->used_bytes, s->used_bytes, sizeof view->used_bytes);
    memcpy(view->peak_bytes, s->peak_bytes, sizeof view->peak_bytes);
    view->capacity_bytes[XOFF_POOL_RESERVED] =
        n_seen * c->reserved_capacity_bytes + s->outside_peak_bytes;
    view->capacity_bytes[XOFF_POOL_SHARED] = c->shared_capacity_bytes;
    view->capacity_bytes[XOFF_POOL_HEADROOM] = n_seen * c->headroom_capacity_bytes;
}

static int64_t ns3_used_bytes(const void *state, enum xoff_pool pool)
{
    return ((const struct ns3_state *)state)->used_bytes[pool];
}

static int64_t ns3_ingress_bytes(const void *cfg, const void *state, uint32_t port,
                                 uint32_t priority)
{
    const struct ns3_state *s = state;
    const struct ns3_queue *queue = &s->queues[ns3_index(cfg, port, priority)];
    return queue->bytes + queue->headroom_bytes;
}

static int64_t ns3_headroom_peak(const void *cfg, const void *state, uint32_t port,
                                 uint32_t priority)
{
    const struct ns3_state *s = state;
    return s->queues[ns3_index(cfg, port, priority)].headroom_peak_bytes;
}

static int64_t ns3_headroom_limit(const void *cfg, uint32_t port, uint32_t priority)
{
    const struct ns3_cfg *c = cfg;
    (void)priority;
    XOFF_ASSERT(port < c->n_ports);
    return c->ports[port].headroom_bytes;
}

const struct xoff_mmu_ops xoff_mmu_ns3 = {
    .name = "ns3",
    .summary = "the buffer of the ns-3 RDMA family, to compare runs with it",
    .params = ns3_table,
    .params_size = sizeof(struct ns3_params),
    .cfg_size = sizeof(struct ns3_cfg),
    .cfg_port_size = sizeof(struct ns3_port_cfg),
    .configure = ns3_configure,
    .admit = ns3_admit,
    .release = ns3_release,
    .view = ns3_view,
    .used_bytes = ns3_used_bytes,
    .ingress_bytes = ns3_ingress_bytes,
    .headroom_peak = ns3_headroom_peak,
    .headroom_limit = ns3_headroom_limit,
};
