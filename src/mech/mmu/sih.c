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
 * only while it holds bytes, so it always has a departure to come that can let it go.
 *
 * Lossy frames have no headroom. Beyond the reserve of their port they are limited at their egress
 * queue: queue + L <= alpha_lossy * (shared capacity - shared used).
 *
 * alpha is num/den in whole numbers, the product with the free space is exact to the byte, rounded
 * down; no division per frame (struct ratio).
 *
 * Differs: the ns-3 family does not check that a frame under T fits the free space (it matters for
 * alpha > 1), keeps no reserve for lossy traffic, and drops no lossy frame at the egress.
 * Differs: it raises alpha for ports faster than the hosts; here alpha is one for the switch.
 * Differs: a frame lost for want of headroom decides XOFF too, if its queue holds bytes.
 */
#include <string.h>

#include <xoff/units.h>

#include "mech/mechanisms.h"

/* Keeps ratio_times() exact: see ratio_of(). */
#define SIH_MAX_BUFFER_BYTES (INT64_C(1) << 40)
#define SIH_MAX_ALPHA 1024

struct sih_params {
    double alpha, alpha_lossy;
    int64_t reserved, reserved_lossy, headroom, resume_offset;
    int64_t allow_loss;
};

/* A positive rational: x * num/den is (x * mul) >> shift. */
struct ratio {
    uint64_t mul;
    uint32_t shift;
};

struct sih_cfg {
    uint32_t n_ports;
    uint8_t lossless;
    struct ratio alpha, alpha_lossy;
    int64_t shared_capacity_bytes;
    int64_t reserved_bytes;       /* of each lossless queue */
    int64_t reserved_lossy_bytes; /* of the lossy priorities of a port together */
    int64_t resume_offset_bytes;
    int64_t buffer_bytes, reserved_capacity_bytes, headroom_capacity_bytes;
    int64_t headroom_limit_bytes[]; /* of each lossless queue of port p */
};

struct sih_queue {
    int64_t bytes; /* in reserve and shared pool */
    int64_t headroom_bytes, headroom_peak_bytes;
    uint64_t is_above; /* XOFF decided, XON not yet */
};
_Static_assert(sizeof(struct sih_queue) == 32, "two queue records share a cache line");

struct sih_port {
    struct sih_queue queues[XOFF_N_PRIORITIES];
    int64_t lossy_bytes; /* of all its lossy priorities, in reserve and shared pool */
};

struct sih_state {
    int64_t used_bytes[XOFF_N_POOLS]; /* XOFF_POOL_DROP: total */
    int64_t peak_bytes[XOFF_N_POOLS];
    struct sih_port ports[];
};

static const struct xoff_param sih_table[] = {
    {.name = "alpha",
     .type = XOFF_P_REAL,
     .offset = offsetof(struct sih_params, alpha),
     .preset = "1/8",
     .min = "1/1024",
     .max = "1024",
     .help = "A lossless ingress queue may use up to alpha times the free shared space."},
    {.name = "alpha_lossy",
     .type = XOFF_P_REAL,
     .offset = offsetof(struct sih_params, alpha_lossy),
     .preset = "1",
     .min = "1/1024",
     .max = "1024",
     .help = "A lossy egress queue may hold up to alpha_lossy times the free shared space."},
    {.name = "reserved",
     .type = XOFF_P_BYTES,
     .offset = offsetof(struct sih_params, reserved),
     .preset = "4KiB",
     .min = "0B",
     .max = "1GiB",
     .help = "Space kept for each lossless ingress queue (port, priority)."},
    {.name = "reserved_lossy",
     .type = XOFF_P_BYTES,
     .offset = offsetof(struct sih_params, reserved_lossy),
     .preset = "auto",
     .min = "0B",
     .max = "1GiB",
     .allows_auto = true,
     .help = "Space kept for all lossy priorities of an ingress port together; auto: as reserved."},
    {.name = "headroom",
     .type = XOFF_P_BYTES,
     .offset = offsetof(struct sih_params, headroom),
     .preset = "auto",
     .min = "0B",
     .max = "1GiB",
     .allows_auto = true,
     .help = "Space of each lossless ingress queue for what arrives after XOFF is decided; auto: "
             "the worst case computed for the port."},
    {.name = "resume_offset",
     .type = XOFF_P_BYTES,
     .offset = offsetof(struct sih_params, resume_offset),
     .preset = "3KiB",
     .min = "0B",
     .max = "1GiB",
     .help = "XON is decided when the queue is this far below its threshold."},
    {.name = "allow_loss",
     .type = XOFF_P_BOOL,
     .offset = offsetof(struct sih_params, allow_loss),
     .preset = "false",
     .help = "Accept lossless priorities without headroom."},
    {0},
};

/* Ratios */

/* Whole numbers for a double in (0, SIH_MAX_ALPHA]. When it is the double nearest to a fraction
 * with a denominator up to 1024 that fraction is meant (1/3, 0.7), else it is rounded to a multiple
 * of 2^-40.
 *
 * A denominator 2^k is a shift by k, exact. For another, mul = ceil(num * 2^50 / den) exceeds the
 * true value by e / den with e < den, so x * mul / 2^50 exceeds x * num / den by
 * x * e / (den * 2^50) < 1 / den for x < 2^40: not enough to reach the next whole number. */
static struct ratio ratio_of(double value)
{
    uint64_t num, den = 1;
    do {
        num = (uint64_t)(value * (double)den + 0.5);
    } while ((double)num / (double)den != value && ++den <= 1024);
    if (den > 1024) {
        num = (uint64_t)(value * 0x1p40 + 0.5);
        den = UINT64_C(1) << 40;
    }
    if ((den & (den - 1)) == 0) {
        uint32_t shift = 0;
        while (den >> shift > 1)
            shift++;
        while (shift > 0 && num % 2 == 0)
            num /= 2, shift--;
        return (struct ratio){.mul = num, .shift = shift};
    }
    const uint64_t whole = num / den, rest = num % den;
    return (struct ratio){.mul = (whole << 50) + ((rest << 50) + den - 1) / den, .shift = 50};
}

static inline int64_t ratio_times(const struct ratio *ratio, int64_t bytes)
{
    if (ratio->mul == 1)
        return bytes >> ratio->shift;
    return (int64_t)(((unsigned __int128)ratio->mul * (uint64_t)bytes) >> ratio->shift);
}

/* Configuration */

static size_t sih_cfg_size(const struct xoff_mmu_env *env)
{
    return sizeof(struct sih_cfg) + env->n_ports * sizeof(int64_t);
}

static int64_t sih_n_lossless(const struct xoff_mmu_env *env)
{
    int64_t n = 0;
    for (uint32_t priority = 0; priority < XOFF_N_PRIORITIES; priority++)
        n += env->lossless >> priority & 1;
    return n;
}

static int sih_refuse(const struct sih_params *params, const char *name, enum xoff_err_code code,
                      const char *message, struct xoff_err *err)
{
    char text[XOFF_PARAM_TEXT];
    xoff_param_format(xoff_param_find(sih_table, name), params, text, sizeof text);
    return xoff_err_set(err, code, name, text, message);
}

static int sih_refuse_no_headroom(const struct sih_params *params, const struct xoff_mmu_env *env,
                                  uint32_t port, struct xoff_err *err)
{
    const int64_t computed = env->ports[port].headroom_bytes;
    const int code = sih_refuse(params, "headroom", XOFF_E_RANGE,
                                "a lossless priority without headroom loses what arrives after "
                                "XOFF; port ",
                                err);
    xoff_err_add_int(err, port);
    xoff_err_add(err, " needs ");
    xoff_err_add_int(err, computed > 0 ? computed : env->max_frame_bytes);
    xoff_err_add(err, computed > 0 ? "B" : "B at the least, one frame");
    xoff_err_add(err, ": give that, or allow_loss: true");
    return code;
}

static int sih_refuse_buffer(const struct xoff_mmu_env *env, const struct sih_cfg *c,
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

static bool sih_alpha_is_good(double alpha)
{
    return alpha > 0 && alpha <= SIH_MAX_ALPHA; /* false for what is no number */
}

static int sih_configure(const void *params, const struct xoff_mmu_env *env, void *cfg,
                         struct xoff_err *err)
{
    const struct sih_params *p = params;
    struct sih_cfg *c = cfg;
    const int64_t n_lossless = sih_n_lossless(env);
    const bool has_lossy = env->lossless != 0xff;
    if (!sih_alpha_is_good(p->alpha))
        return sih_refuse(p, "alpha", XOFF_E_RANGE, "must be above 0, at most 1024", err);
    if (!sih_alpha_is_good(p->alpha_lossy))
        return sih_refuse(p, "alpha_lossy", XOFF_E_RANGE, "must be above 0, at most 1024", err);
    if (env->buffer_bytes <= 0 || env->buffer_bytes > SIH_MAX_BUFFER_BYTES) {
        char text[XOFF_PARAM_TEXT];
        return xoff_err_set(err, XOFF_E_RANGE, "buffer",
                            xoff_format_bytes(text, sizeof text, env->buffer_bytes),
                            "must be from 1B to 1024GiB");
    }
    *c = (struct sih_cfg){
        .n_ports = env->n_ports,
        .lossless = env->lossless,
        .alpha = ratio_of(p->alpha),
        .alpha_lossy = ratio_of(p->alpha_lossy),
        .reserved_bytes = p->reserved,
        .reserved_lossy_bytes =
            p->reserved_lossy == XOFF_PARAM_AUTO ? p->reserved : p->reserved_lossy,
        .resume_offset_bytes = p->resume_offset,
        .buffer_bytes = env->buffer_bytes,
    };
    c->reserved_capacity_bytes =
        env->n_ports * (n_lossless * c->reserved_bytes + (has_lossy ? c->reserved_lossy_bytes : 0));
    for (uint32_t port = 0; port < env->n_ports; port++) {
        const int64_t limit =
            p->headroom == XOFF_PARAM_AUTO ? env->ports[port].headroom_bytes : p->headroom;
        XOFF_ASSERT(limit >= 0);
        if (n_lossless > 0 && limit > env->buffer_bytes) {
            char text[XOFF_PARAM_TEXT];
            xoff_err_set(err, XOFF_E_CONFLICT, "buffer",
                         xoff_format_bytes(text, sizeof text, env->buffer_bytes),
                         "too small: the headroom of a single queue takes ");
            xoff_err_add_int(err, limit);
            xoff_err_add(err, "B");
            return -(int)XOFF_E_CONFLICT;
        }
        if (limit == 0 && n_lossless > 0 && !p->allow_loss)
            return sih_refuse_no_headroom(p, env, port, err);
        c->headroom_limit_bytes[port] = limit;
        c->headroom_capacity_bytes += n_lossless * limit;
    }
    c->shared_capacity_bytes =
        c->buffer_bytes - c->reserved_capacity_bytes - c->headroom_capacity_bytes;
    if (c->shared_capacity_bytes < 0)
        return sih_refuse_buffer(env, c, err);
    return 0;
}

static size_t sih_state_size(const void *cfg)
{
    const struct sih_cfg *c = cfg;
    return sizeof(struct sih_state) + c->n_ports * sizeof(struct sih_port);
}

static void sih_init(const void *cfg, void *state)
{
    memset(state, 0, sih_state_size(cfg));
}

/* Admission */

/* The part of `bytes` that its reserve does not cover: what lies in the shared pool. */
static inline int64_t sih_beyond(int64_t bytes, int64_t reserved_bytes)
{
    return bytes > reserved_bytes ? bytes - reserved_bytes : 0;
}

static inline void sih_raise(struct sih_state *s, enum xoff_pool pool, int64_t bytes)
{
    s->used_bytes[pool] += bytes;
    if (s->used_bytes[pool] > s->peak_bytes[pool])
        s->peak_bytes[pool] = s->used_bytes[pool];
}

/* A frame of `bytes` joins, `shared` bytes of it in the shared pool and the rest in the reserve. */
static inline enum xoff_pool sih_join(struct sih_state *s, int64_t bytes, int64_t shared)
{
    sih_raise(s, XOFF_POOL_RESERVED, bytes - shared);
    sih_raise(s, XOFF_POOL_SHARED, shared);
    return shared > 0 ? XOFF_POOL_SHARED : XOFF_POOL_RESERVED;
}

static enum xoff_pool sih_admit_lossy(const struct sih_cfg *c, struct sih_state *s,
                                      const struct xoff_arrival *arrival)
{
    struct sih_port *port = &s->ports[arrival->in_port];
    const int64_t bytes = arrival->bytes;
    const int64_t free_bytes = c->shared_capacity_bytes - s->used_bytes[XOFF_POOL_SHARED];
    const int64_t shared = sih_beyond(port->lossy_bytes + bytes, c->reserved_lossy_bytes) -
                           sih_beyond(port->lossy_bytes, c->reserved_lossy_bytes);
    if (shared > 0 && (arrival->egress_bytes + bytes > ratio_times(&c->alpha_lossy, free_bytes) ||
                       shared > free_bytes))
        return XOFF_POOL_DROP;
    port->lossy_bytes += bytes;
    port->queues[arrival->priority].bytes += bytes;
    sih_raise(s, XOFF_POOL_DROP, bytes);
    return sih_join(s, bytes, shared);
}

static inline void sih_cross(const struct sih_queue *queue, uint16_t port, uint8_t priority,
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

/* After an arrival: XOFF? `lost_bytes` of the frame that found no room, else 0. */
static void sih_consider_xoff(const struct sih_cfg *c, const struct sih_state *s,
                              struct sih_queue *queue, const struct xoff_arrival *arrival,
                              int64_t lost_bytes, struct xoff_crossings *out)
{
    if (queue->is_above)
        return;
    const int64_t free_bytes = c->shared_capacity_bytes - s->used_bytes[XOFF_POOL_SHARED];
    const int64_t threshold = ratio_times(&c->alpha, free_bytes);
    const int64_t shared = sih_beyond(queue->bytes, c->reserved_bytes);
    /* An empty queue has no departure that could bring XON. */
    if (queue->bytes + queue->headroom_bytes == 0)
        return;
    if (queue->headroom_bytes == 0 && shared < threshold && lost_bytes == 0)
        return;
    queue->is_above = 1;
    /* With alpha > 1 the free space ends before T does. */
    sih_cross(queue, arrival->in_port, arrival->priority,
              shared + queue->headroom_bytes + lost_bytes,
              threshold < shared + free_bytes ? threshold : shared + free_bytes, out);
}

static enum xoff_pool sih_admit(const void *cfg, void *state, const struct xoff_arrival *arrival,
                                xoff_time now, struct xoff_crossings *out)
{
    const struct sih_cfg *c = cfg;
    struct sih_state *s = state;
    (void)now;
    XOFF_ASSERT(arrival->in_port < c->n_ports);
    XOFF_ASSERT(arrival->priority < XOFF_N_PRIORITIES);
    if (!(c->lossless >> arrival->priority & 1))
        return sih_admit_lossy(c, s, arrival);

    struct sih_queue *queue = &s->ports[arrival->in_port].queues[arrival->priority];
    const int64_t bytes = arrival->bytes;
    const int64_t free_bytes = c->shared_capacity_bytes - s->used_bytes[XOFF_POOL_SHARED];
    const int64_t after = sih_beyond(queue->bytes + bytes, c->reserved_bytes);
    const int64_t shared = after - sih_beyond(queue->bytes, c->reserved_bytes);
    enum xoff_pool pool = XOFF_POOL_DROP;
    /* T(t) = alpha * (shared capacity - shared used) */
    if (shared == 0 || (after <= ratio_times(&c->alpha, free_bytes) && shared <= free_bytes)) {
        queue->bytes += bytes;
        pool = sih_join(s, bytes, shared);
    } else if (queue->headroom_bytes + bytes <= c->headroom_limit_bytes[arrival->in_port]) {
        queue->headroom_bytes += bytes;
        if (queue->headroom_bytes > queue->headroom_peak_bytes)
            queue->headroom_peak_bytes = queue->headroom_bytes;
        sih_raise(s, XOFF_POOL_HEADROOM, bytes);
        pool = XOFF_POOL_HEADROOM;
    }
    if (pool != XOFF_POOL_DROP)
        sih_raise(s, XOFF_POOL_DROP, bytes);
    sih_consider_xoff(c, s, queue, arrival, pool == XOFF_POOL_DROP ? bytes : 0, out);
    return pool;
}

/* Release */

/* `rest` bytes leave a unit that had `before` bytes in its reserve and the shared pool. */
static inline void sih_leave(struct sih_state *s, int64_t before, int64_t rest,
                             int64_t reserved_bytes)
{
    const int64_t shared =
        sih_beyond(before, reserved_bytes) - sih_beyond(before - rest, reserved_bytes);
    s->used_bytes[XOFF_POOL_SHARED] -= shared;
    s->used_bytes[XOFF_POOL_RESERVED] -= rest - shared;
}

/* The pool given at admission only said where there was room then. Bytes are taken back from
 * headroom first: space is the same, and a queue whose last frames lie in headroom need not run
 * empty before XON. */
static void sih_release(const void *cfg, void *state, const struct xoff_departure *departure,
                        xoff_time now, struct xoff_crossings *out)
{
    const struct sih_cfg *c = cfg;
    struct sih_state *s = state;
    (void)now;
    XOFF_ASSERT(departure->in_port < c->n_ports);
    XOFF_ASSERT(departure->priority < XOFF_N_PRIORITIES);
    XOFF_ASSERT(departure->pool != XOFF_POOL_DROP);
    struct sih_port *port = &s->ports[departure->in_port];
    struct sih_queue *queue = &port->queues[departure->priority];
    const int64_t bytes = departure->bytes;
    XOFF_ASSERT(bytes <= queue->bytes + queue->headroom_bytes);
    s->used_bytes[XOFF_POOL_DROP] -= bytes;

    if (!(c->lossless >> departure->priority & 1)) {
        sih_leave(s, port->lossy_bytes, bytes, c->reserved_lossy_bytes);
        port->lossy_bytes -= bytes;
        queue->bytes -= bytes;
        return;
    }
    const int64_t from_headroom = bytes < queue->headroom_bytes ? bytes : queue->headroom_bytes;
    queue->headroom_bytes -= from_headroom;
    s->used_bytes[XOFF_POOL_HEADROOM] -= from_headroom;
    sih_leave(s, queue->bytes, bytes - from_headroom, c->reserved_bytes);
    queue->bytes -= bytes - from_headroom;

    if (!queue->is_above || queue->headroom_bytes > 0)
        return;
    const int64_t shared = sih_beyond(queue->bytes, c->reserved_bytes);
    const int64_t threshold =
        ratio_times(&c->alpha, c->shared_capacity_bytes - s->used_bytes[XOFF_POOL_SHARED]);
    if (shared > 0 && shared + c->resume_offset_bytes > threshold)
        return;
    queue->is_above = 0;
    sih_cross(queue, departure->in_port, departure->priority, shared,
              sih_beyond(threshold, c->resume_offset_bytes), out);
}

/* Inspection */

static void sih_view(const void *cfg, const void *state, struct xoff_mmu_view *view)
{
    const struct sih_cfg *c = cfg;
    const struct sih_state *s = state;
    memcpy(view->used_bytes, s->used_bytes, sizeof view->used_bytes);
    memcpy(view->peak_bytes, s->peak_bytes, sizeof view->peak_bytes);
    view->capacity_bytes[XOFF_POOL_DROP] = c->buffer_bytes;
    view->capacity_bytes[XOFF_POOL_RESERVED] = c->reserved_capacity_bytes;
    view->capacity_bytes[XOFF_POOL_SHARED] = c->shared_capacity_bytes;
    view->capacity_bytes[XOFF_POOL_HEADROOM] = c->headroom_capacity_bytes;
}

static const struct sih_queue *sih_queue_of(const void *cfg, const void *state, uint32_t port,
                                            uint32_t priority)
{
    const struct sih_cfg *c = cfg;
    const struct sih_state *s = state;
    XOFF_ASSERT(port < c->n_ports);
    XOFF_ASSERT(priority < XOFF_N_PRIORITIES);
    return &s->ports[port].queues[priority];
}

static int64_t sih_ingress_bytes(const void *cfg, const void *state, uint32_t port,
                                 uint32_t priority)
{
    const struct sih_queue *queue = sih_queue_of(cfg, state, port, priority);
    return queue->bytes + queue->headroom_bytes;
}

static int64_t sih_headroom_peak(const void *cfg, const void *state, uint32_t port,
                                 uint32_t priority)
{
    return sih_queue_of(cfg, state, port, priority)->headroom_peak_bytes;
}

const struct xoff_mmu_ops xoff_mmu_sih = {
    .name = "sih",
    .summary = "shared pool under a dynamic threshold, static headroom for each lossless queue",
    .params = sih_table,
    .params_size = sizeof(struct sih_params),
    .cfg_size = sih_cfg_size,
    .configure = sih_configure,
    .state_size = sih_state_size,
    .init = sih_init,
    .admit = sih_admit,
    .release = sih_release,
    .view = sih_view,
    .ingress_bytes = sih_ingress_bytes,
    .headroom_peak = sih_headroom_peak,
};
