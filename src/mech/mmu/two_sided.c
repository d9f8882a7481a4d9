/* Dedicated parts and a limited shared pool, for ingress and egress queues alike.
 *
 * Source: the shared-memory switches of "Congestion aware priority flow control in data center
 * networks" (Avci, Li and Liu, 2016), II-F and IV-C-7.
 *
 * Every queue (port, priority) of either side has `dedicated` bytes; what it holds beyond lies in
 * the pool. A frame of L bytes is admitted to a queue that would then hold b bytes, of which
 * s = max(0, b - dedicated) in the pool, when
 *
 *   s                                            <= queue_limit
 *   pool bytes of the port's queues of this side <= port_limit
 *   pool bytes of all queues of this side        <= ingress_limit, egress_limit
 *   pool bytes of all                            <= pool
 *
 * A payload is stored once: a frame that goes from its ingress to its egress queue gives back what
 * it took there first. Lossless ingress queues have headroom of their own besides, for what finds
 * no room otherwise:
 *
 *   XOFF on arrival: b >= xoff, or the frame lies in headroom
 *   XON on departure: b <= xon, and nothing lies in headroom
 *
 * Differs: the paper has no headroom but what the pool leaves, which others may have taken;
 * `headroom: 0B` with `allow_loss: true` is its switch. A frame is not admitted when a limit would
 * be passed; II-F says "equal to". Limits of ports are for each side of a port.
 */
#include <string.h>

#include <xoff/units.h>

#include "mech/mechanisms.h"
#include "mech/mmu/shared.h"

struct two_sided_params {
    int64_t dedicated, pool, queue_limit, port_limit, ingress_limit, egress_limit;
    int64_t xoff, xon, headroom, allow_loss;
};

enum side { INGRESS, EGRESS, N_SIDES };

struct two_sided_cfg {
    uint32_t n_ports;
    uint8_t lossless;
    int64_t dedicated_bytes, pool_bytes, queue_limit_bytes, port_limit_bytes;
    int64_t side_limit_bytes[N_SIDES];
    int64_t xoff_bytes, xon_bytes;
    int64_t buffer_bytes, headroom_capacity_bytes;
    int64_t headroom_bytes[]; /* of each lossless ingress queue of port p */
};

struct two_sided_queue {
    int64_t bytes, headroom_bytes, headroom_peak_bytes; /* bytes without those in headroom */
    uint64_t is_above;                                  /* XOFF decided, XON not yet */
};

struct two_sided_port {
    int64_t shared_bytes;
    struct two_sided_queue queues[XOFF_N_PRIORITIES];
};

struct two_sided_state {
    int64_t used_total_bytes, peak_total_bytes;
    int64_t used_bytes[XOFF_N_POOLS], peak_bytes[XOFF_N_POOLS];
    int64_t side_bytes[N_SIDES];   /* in the pool */
    struct two_sided_port ports[]; /* [side * n_ports + port] */
};

#define LIMIT(field, what)                                                                        \
    {                                                                                             \
        .name = #field, .type = XOFF_P_BYTES, .offset = offsetof(struct two_sided_params, field), \
        .preset = "auto", .min = "0B", .max = "4GB", .allows_auto = true,                         \
        .help = "Most bytes of the pool that " what                                               \
    }

static const struct xoff_param two_sided_table[] = {
    {.name = "dedicated",
     .type = XOFF_P_BYTES,
     .offset = offsetof(struct two_sided_params, dedicated),
     .preset = "2KB",
     .min = "0B",
     .max = "1GB",
     .help = "Space of its own of each ingress and each egress queue (port, priority)."},
    {.name = "pool",
     .type = XOFF_P_BYTES,
     .offset = offsetof(struct two_sided_params, pool),
     .preset = "auto",
     .min = "1B",
     .max = "4GB",
     .allows_auto = true,
     .help = "Space that all queues share; auto: what dedicated space and headroom leave of the "
             "buffer."},
    LIMIT(queue_limit, "a queue may hold; auto: as port_limit."),
    LIMIT(port_limit, "the queues of a side of a port may hold; auto: as pool."),
    LIMIT(ingress_limit, "all ingress queues may hold; auto: as pool."),
    LIMIT(egress_limit, "all egress queues may hold; auto: as pool."),
    {.name = "xoff",
     .type = XOFF_P_BYTES,
     .offset = offsetof(struct two_sided_params, xoff),
     .preset = "auto",
     .min = "1B",
     .max = "1GB",
     .allows_auto = true,
     .help =
         "XOFF threshold of each lossless ingress queue; auto: half of what it may hold, but at "
         "most an equal part of the pool beyond its own space."},
    {.name = "xon",
     .type = XOFF_P_BYTES,
     .offset = offsetof(struct two_sided_params, xon),
     .preset = "auto",
     .min = "0B",
     .max = "1GB",
     .allows_auto = true,
     .help = "XON threshold of each lossless ingress queue, below xoff; auto: two of the largest "
             "frames below xoff, but not below half of it."},
    {.name = "headroom",
     .type = XOFF_P_BYTES,
     .offset = offsetof(struct two_sided_params, headroom),
     .preset = "auto",
     .min = "0B",
     .max = "1GB",
     .allows_auto = true,
     .help = "Space of each lossless ingress queue for what the pool has no room for; auto: the "
             "worst case computed for the port."},
    {.name = "allow_loss",
     .type = XOFF_P_BOOL,
     .offset = offsetof(struct two_sided_params, allow_loss),
     .preset = "false",
     .help = "Accept headroom that does not cover the worst case."},
    {0},
};

/* Configuration */

static int refuse_sizes(const struct two_sided_cfg *c, int64_t dedicated, struct xoff_err *err)
{
    char text[XOFF_PARAM_TEXT];
    const int code = xoff_err_set(err, XOFF_E_CONFLICT, "buffer",
                                  xoff_format_bytes(text, sizeof text, c->buffer_bytes),
                                  "too small: queues have ");
    xoff_err_add_int(err, dedicated);
    xoff_err_add(err, "B of their own and ");
    xoff_err_add_int(err, c->headroom_capacity_bytes);
    xoff_err_add(err, "B of headroom, the pool has ");
    xoff_err_add_int(err, c->pool_bytes > 0 ? c->pool_bytes : 1);
    xoff_err_add(err, "B; needed are ");
    xoff_err_add_int(err, dedicated + c->headroom_capacity_bytes +
                              (c->pool_bytes > 0 ? c->pool_bytes : 1));
    xoff_err_add(err, "B");
    return code;
}

static int refuse_limit(const char *key, int64_t bytes, const char *message, int64_t bound_bytes,
                        struct xoff_err *err)
{
    char text[XOFF_PARAM_TEXT];
    const int code = xoff_err_set(err, XOFF_E_CONFLICT, key,
                                  xoff_format_bytes(text, sizeof text, bytes), message);
    xoff_err_add_int(err, bound_bytes);
    xoff_err_add(err, "B");
    return code;
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Returns the bytes that queues have for themselves, without headroom. */
static int64_t dedicated_total(const struct two_sided_params *p, const struct xoff_mmu_env *env)
{
    return (int64_t)N_SIDES * env->n_ports * XOFF_N_PRIORITIES * p->dedicated;
}

static int64_t headroom_of(const struct two_sided_params *p, const struct xoff_mmu_env *env,
                           uint32_t port)
{
    return p->headroom == XOFF_PARAM_AUTO ? env->ports[port].headroom_bytes : p->headroom;
}

/* Computes the limits given as auto, and refuses those that the pool can never reach. */
static int set_limits(const struct two_sided_params *p, const struct xoff_mmu_env *env,
                      struct two_sided_cfg *c, struct xoff_err *err)
{
    const int64_t pool = c->pool_bytes;
    c->port_limit_bytes = p->port_limit == XOFF_PARAM_AUTO ? pool : p->port_limit;
    c->queue_limit_bytes = p->queue_limit == XOFF_PARAM_AUTO ? c->port_limit_bytes : p->queue_limit;
    c->side_limit_bytes[INGRESS] = p->ingress_limit == XOFF_PARAM_AUTO ? pool : p->ingress_limit;
    c->side_limit_bytes[EGRESS] = p->egress_limit == XOFF_PARAM_AUTO ? pool : p->egress_limit;
    const struct {
        const char *key;
        int64_t bytes;
    } limits[] = {{"port_limit", c->port_limit_bytes}, /* before queue_limit, which may be as it */
                  {"queue_limit", c->queue_limit_bytes},
                  {"ingress_limit", c->side_limit_bytes[INGRESS]},
                  {"egress_limit", c->side_limit_bytes[EGRESS]}};
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        if (limits[i].bytes > pool)
            return refuse_limit(limits[i].key, limits[i].bytes, "a part of the pool, which has ",
                                pool, err);
        if (c->dedicated_bytes + limits[i].bytes < env->max_frame_bytes)
            return refuse_limit(
                limits[i].key, limits[i].bytes,
                "too small: a largest frame must fit into a queue beside dedicated, "
                "and has ",
                env->max_frame_bytes, err);
    }
    return 0;
}

static int set_thresholds(const struct two_sided_params *p, const struct xoff_mmu_env *env,
                          struct two_sided_cfg *c, struct xoff_err *err)
{
    const int64_t n_queues = (int64_t)env->n_ports * xoff_shared_n_lossless(env);
    const int64_t most =
        c->dedicated_bytes +
        least(least(c->queue_limit_bytes, c->port_limit_bytes), c->side_limit_bytes[INGRESS]);
    if (!n_queues)
        return 0;
    c->xoff_bytes = p->xoff;
    if (p->xoff == XOFF_PARAM_AUTO) {
        c->xoff_bytes = least((most + 1) / 2, c->dedicated_bytes + c->pool_bytes / n_queues);
        c->xoff_bytes += c->xoff_bytes == 0;
    }
    if (c->xoff_bytes >= most && p->xoff != XOFF_PARAM_AUTO)
        return refuse_limit("xoff", c->xoff_bytes,
                            "must be below what a queue may hold (dedicated and the limits of the "
                            "pool), which is ",
                            most, err);
    c->xon_bytes = p->xon;
    if (p->xon == XOFF_PARAM_AUTO)
        c->xon_bytes =
            c->xoff_bytes - least((c->xoff_bytes + 1) / 2, 2 * (int64_t)env->max_frame_bytes);
    if (c->xon_bytes >= c->xoff_bytes)
        return refuse_limit("xon", c->xon_bytes, "must be below xoff, which is ", c->xoff_bytes,
                            err);
    return 0;
}

static int two_sided_configure(const void *params, const struct xoff_mmu_env *env, void *cfg,
                               struct xoff_mmu_shape *shape, struct xoff_err *err)
{
    const struct two_sided_params *p = params;
    struct two_sided_cfg *c = cfg;
    const int64_t n_lossless = xoff_shared_n_lossless(env);
    const int64_t dedicated = dedicated_total(p, env);
    shape->state_size = sizeof(struct two_sided_state) +
                        (size_t)N_SIDES * env->n_ports * sizeof(struct two_sided_port);
    *c = (struct two_sided_cfg){.n_ports = env->n_ports,
                                .lossless = env->lossless,
                                .dedicated_bytes = p->dedicated,
                                .buffer_bytes = env->buffer_bytes};
    for (uint32_t port = 0; port < env->n_ports; port++) {
        c->headroom_bytes[port] = headroom_of(p, env, port);
        c->headroom_capacity_bytes += n_lossless * c->headroom_bytes[port];
    }
    const int64_t left = c->buffer_bytes - dedicated - c->headroom_capacity_bytes;
    c->pool_bytes = p->pool == XOFF_PARAM_AUTO ? left : p->pool;
    if (left < 1 || c->pool_bytes > left)
        return refuse_sizes(c, dedicated, err);
    int code = set_limits(p, env, c, err);
    if (!code)
        code = set_thresholds(p, env, c, err);
    if (!code && n_lossless)
        code = xoff_shared_check_headroom(env, c->headroom_bytes, "headroom", p->allow_loss, err);
    return code;
}

/* Queues */

static inline struct two_sided_port *port_of(const struct two_sided_cfg *c,
                                             const struct two_sided_state *s, enum side side,
                                             uint32_t port)
{
    XOFF_ASSERT(port < c->n_ports);
    return (struct two_sided_port *)&s->ports[(uint32_t)side * c->n_ports + port];
}

/* Returns what the queue takes from the pool when its length changes by `bytes`. */
static inline int64_t pool_change(const struct two_sided_cfg *c,
                                  const struct two_sided_queue *queue, int64_t bytes)
{
    return xoff_shared_beyond(queue->bytes + bytes, c->dedicated_bytes) -
           xoff_shared_beyond(queue->bytes, c->dedicated_bytes);
}

/* Returns the limit that keeps a frame out of a queue; `freed_bytes` of the pool are free by then.
 */
static inline enum xoff_limit limit_of(const struct two_sided_cfg *c,
                                       const struct two_sided_state *s, enum side side,
                                       const struct two_sided_port *port, uint32_t priority,
                                       int64_t bytes, int64_t freed_bytes)
{
    const struct two_sided_queue *queue = &port->queues[priority];
    const int64_t more = pool_change(c, queue, bytes);
    if (more == 0)
        return XOFF_LIMIT_NONE;
    if (xoff_shared_beyond(queue->bytes + bytes, c->dedicated_bytes) > c->queue_limit_bytes)
        return XOFF_LIMIT_QUEUE;
    if (port->shared_bytes + more > c->port_limit_bytes)
        return XOFF_LIMIT_PORT;
    if (s->side_bytes[side] + more > c->side_limit_bytes[side] ||
        s->used_bytes[XOFF_POOL_SHARED] - freed_bytes + more > c->pool_bytes)
        return XOFF_LIMIT_ALL;
    return XOFF_LIMIT_NONE;
}

static inline void add_to(struct two_sided_state *s, enum xoff_pool pool, int64_t bytes)
{
    s->used_bytes[pool] += bytes;
    if (s->used_bytes[pool] > s->peak_bytes[pool])
        s->peak_bytes[pool] = s->used_bytes[pool];
}

static inline void add_total(struct two_sided_state *s, int64_t bytes)
{
    s->used_total_bytes += bytes;
    if (s->used_total_bytes > s->peak_total_bytes)
        s->peak_total_bytes = s->used_total_bytes;
}

/* A frame joins a queue, or with bytes < 0 leaves it. */
static inline void change(const struct two_sided_cfg *c, struct two_sided_state *s, enum side side,
                          struct two_sided_port *port, uint32_t priority, int64_t bytes)
{
    struct two_sided_queue *queue = &port->queues[priority];
    const int64_t pool = pool_change(c, queue, bytes);
    queue->bytes += bytes;
    XOFF_ASSERT(queue->bytes >= 0);
    port->shared_bytes += pool;
    s->side_bytes[side] += pool;
    add_to(s, XOFF_POOL_SHARED, pool);
    add_to(s, XOFF_POOL_RESERVED, bytes - pool);
    add_total(s, bytes);
}

static enum xoff_pool two_sided_admit(const void *cfg, void *state,
                                      const struct xoff_arrival *arrival, xoff_time now,
                                      struct xoff_crossings *out)
{
    const struct two_sided_cfg *c = cfg;
    struct two_sided_state *s = state;
    struct two_sided_port *port = port_of(c, s, INGRESS, arrival->in_port);
    struct two_sided_queue *queue = &port->queues[arrival->priority];
    const int64_t bytes = arrival->bytes;
    enum xoff_pool pool = XOFF_POOL_DROP;
    (void)now;
    if (limit_of(c, s, INGRESS, port, arrival->priority, bytes, 0) == XOFF_LIMIT_NONE) {
        change(c, s, INGRESS, port, arrival->priority, bytes);
        pool = queue->bytes > c->dedicated_bytes ? XOFF_POOL_SHARED : XOFF_POOL_RESERVED;
    }
    if (!(c->lossless >> arrival->priority & 1))
        return pool;
    const int64_t before = queue->bytes + queue->headroom_bytes;
    if (pool == XOFF_POOL_DROP &&
        queue->headroom_bytes + bytes <= c->headroom_bytes[arrival->in_port]) {
        pool = XOFF_POOL_HEADROOM;
        queue->headroom_bytes += bytes;
        if (queue->headroom_bytes > queue->headroom_peak_bytes)
            queue->headroom_peak_bytes = queue->headroom_bytes;
        add_to(s, XOFF_POOL_HEADROOM, bytes);
        add_total(s, bytes);
    }
    const int64_t held = queue->bytes + queue->headroom_bytes;
    const bool is_short = pool == XOFF_POOL_HEADROOM || pool == XOFF_POOL_DROP;
    /* An empty queue has no departure that could bring XON. */
    if (!queue->is_above && held > 0 && (held >= c->xoff_bytes || is_short)) {
        queue->is_above = 1;
        out->at[out->n++] = (struct xoff_crossing){
            .unit = XOFF_UNIT_INGRESS,
            .above = 1,
            .priority = arrival->priority,
            .port = arrival->in_port,
            .occupied_bytes = held,
            .threshold_bytes = held >= c->xoff_bytes ? c->xoff_bytes : before,
        };
    }
    return pool;
}

static void two_sided_release(const void *cfg, void *state, const struct xoff_departure *departure,
                              xoff_time now, struct xoff_crossings *out)
{
    const struct two_sided_cfg *c = cfg;
    struct two_sided_state *s = state;
    struct two_sided_port *port = port_of(c, s, INGRESS, departure->in_port);
    struct two_sided_queue *queue = &port->queues[departure->priority];
    (void)now;
    XOFF_ASSERT(departure->pool != XOFF_POOL_DROP);
    if (departure->pool == XOFF_POOL_HEADROOM) {
        queue->headroom_bytes -= departure->bytes;
        XOFF_ASSERT(queue->headroom_bytes >= 0);
        add_to(s, XOFF_POOL_HEADROOM, -(int64_t)departure->bytes);
        add_total(s, -(int64_t)departure->bytes);
    } else {
        change(c, s, INGRESS, port, departure->priority, -(int64_t)departure->bytes);
    }
    if (queue->is_above && queue->bytes <= c->xon_bytes && !queue->headroom_bytes) {
        queue->is_above = 0;
        out->at[out->n++] = (struct xoff_crossing){
            .unit = XOFF_UNIT_INGRESS,
            .above = 0,
            .priority = departure->priority,
            .port = departure->in_port,
            .occupied_bytes = queue->bytes,
            .threshold_bytes = c->xon_bytes,
        };
    }
}

/* Egress queues */

static enum xoff_limit two_sided_egress_limit(const void *cfg, const void *state,
                                              const struct xoff_departure *frame)
{
    const struct two_sided_cfg *c = cfg;
    const struct two_sided_state *s = state;
    const struct two_sided_queue *from =
        &port_of(c, s, INGRESS, frame->in_port)->queues[frame->priority];
    const int64_t freed =
        frame->pool == XOFF_POOL_HEADROOM ? 0 : -pool_change(c, from, -(int64_t)frame->bytes);
    return limit_of(c, s, EGRESS, port_of(c, s, EGRESS, frame->out_port), frame->priority,
                    frame->bytes, freed);
}

static void two_sided_egress_join(const void *cfg, void *state, const struct xoff_departure *frame)
{
    struct two_sided_port *port = port_of(cfg, state, EGRESS, frame->out_port);
    change(cfg, state, EGRESS, port, frame->priority, frame->bytes);
}

static void two_sided_egress_leave(const void *cfg, void *state, const struct xoff_departure *frame)
{
    struct two_sided_port *port = port_of(cfg, state, EGRESS, frame->out_port);
    change(cfg, state, EGRESS, port, frame->priority, -(int64_t)frame->bytes);
}

static int64_t two_sided_egress_most(const void *params, const struct xoff_mmu_env *env)
{
    const struct two_sided_params *p = params;
    int64_t most = env->buffer_bytes - dedicated_total(p, env);
    for (uint32_t port = 0; port < env->n_ports; port++)
        most -= xoff_shared_n_lossless(env) * headroom_of(p, env, port);
    const int64_t limits[] = {p->pool, p->port_limit, p->queue_limit, p->egress_limit};
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
        if (limits[i] != XOFF_PARAM_AUTO)
            most = least(most, limits[i]);
    return most < 1 ? 0 : p->dedicated + most;
}

/* Inspection */

static void two_sided_view(const void *cfg, const void *state, struct xoff_mmu_view *view)
{
    const struct two_sided_cfg *c = cfg;
    const struct two_sided_state *s = state;
    view->used_total_bytes = s->used_total_bytes;
    view->peak_total_bytes = s->peak_total_bytes;
    view->capacity_total_bytes = c->buffer_bytes;
    memcpy(view->used_bytes, s->used_bytes, sizeof view->used_bytes);
    memcpy(view->peak_bytes, s->peak_bytes, sizeof view->peak_bytes);
    view->capacity_bytes[XOFF_POOL_RESERVED] =
        (int64_t)N_SIDES * c->n_ports * XOFF_N_PRIORITIES * c->dedicated_bytes;
    view->capacity_bytes[XOFF_POOL_SHARED] = c->pool_bytes;
    view->capacity_bytes[XOFF_POOL_HEADROOM] = c->headroom_capacity_bytes;
}

static int64_t two_sided_used_bytes(const void *state, enum xoff_pool pool)
{
    return ((const struct two_sided_state *)state)->used_bytes[pool];
}

static const struct two_sided_queue *ingress_queue(const void *cfg, const void *state,
                                                   uint32_t port, uint32_t priority)
{
    XOFF_ASSERT(priority < XOFF_N_PRIORITIES);
    return &port_of(cfg, state, INGRESS, port)->queues[priority];
}

static int64_t two_sided_ingress_bytes(const void *cfg, const void *state, uint32_t port,
                                       uint32_t priority)
{
    const struct two_sided_queue *queue = ingress_queue(cfg, state, port, priority);
    return queue->bytes + queue->headroom_bytes;
}

static int64_t two_sided_headroom_peak(const void *cfg, const void *state, uint32_t port,
                                       uint32_t priority)
{
    return ingress_queue(cfg, state, port, priority)->headroom_peak_bytes;
}

static int64_t two_sided_headroom_limit(const void *cfg, uint32_t port, uint32_t priority)
{
    const struct two_sided_cfg *c = cfg;
    XOFF_ASSERT(port < c->n_ports);
    return c->lossless >> priority & 1 ? c->headroom_bytes[port] : 0;
}

const struct xoff_mmu_ops xoff_mmu_two_sided = {
    .name = "two-sided",
    .summary = "dedicated space of every ingress and egress queue, and a pool with limits",
    .params = two_sided_table,
    .params_size = sizeof(struct two_sided_params),
    .cfg_size = sizeof(struct two_sided_cfg),
    .cfg_port_size = sizeof(int64_t),
    .configure = two_sided_configure,
    .admit = two_sided_admit,
    .release = two_sided_release,
    .view = two_sided_view,
    .used_bytes = two_sided_used_bytes,
    .ingress_bytes = two_sided_ingress_bytes,
    .headroom_peak = two_sided_headroom_peak,
    .headroom_limit = two_sided_headroom_limit,
    .egress_limit = two_sided_egress_limit,
    .egress_join = two_sided_egress_join,
    .egress_leave = two_sided_egress_leave,
    .egress_most = two_sided_egress_most,
};
