/* FECN's congestion point: computes one rate for all flows of its queue and lowers tags to it.
 *
 * Source: Jiang, Jain and So-In, "An explicit rate control framework for lossless Ethernet
 * operation", section IV; the order of updates is that of pseudo-code published by its authors.
 * At the end of each interval T, with A the rate at which bytes joined the queue and q its length:
 *
 *   C     capacity: bytes sent over the time in which there was something to send
 *   C'    gamma C if q > Qeq, else C
 *   rho   A / (f(q) C')                          r = r_old / rho                          (6)
 *   or    r = r_old (1 + (alpha (C' - A) - beta 8 (q - Qeq) / T) / C')      function: additive (5)
 *   r     = min(C, r)
 *   r     = w r + (1 - w) r_old, at least the least rate
 *
 *   f(q)  hyperbolic   q <= Qeq: a Qeq / ((a - 1) q + Qeq)
 *                      else:     max(c, b Qeq / ((b - 1) q + Qeq))                          (1)
 *         linear       1 - k (q - Qeq) / Qeq, with k_below up to Qeq; at least c            (2)
 *         multistage   the same with slope n k from n Qeq to (n + 1) Qeq; the last stage goes on
 *
 * Before the first tag, and after an interval in which nothing joined, r = C0 / N0 with C0 the
 * link's rate. A tag whose rate is above r gets r. No state belongs to a flow. Frames without a tag
 * are counted by the caller (shape.sees_load), and no call is made for them.
 *
 * E-FECN, if `severe` is given: while the queue is longer than that, sources of data frames are
 * told C0 / N0 at once, one in every `severe_every` bytes that join.
 *
 * Differs: intervals begin with the first tag that comes, and none run while nothing joins.
 * Differs: the bodies of "limit rate increase" and of the averaging over two older rates are not
 * public, so there is no limit, and the average is over the last rate. What E-FECN's message says
 * is our choice.
 */
#include "mech/cp/set_point.h"

enum { FECN_HYPERBOLIC, FECN_LINEAR, FECN_MULTISTAGE, FECN_ADDITIVE };
static const char *const fecn_functions[] = {"hyperbolic", "linear", "multistage", "additive",
                                             NULL};
enum { FECN_MEASURED, FECN_NOMINAL };
static const char *const fecn_capacities[] = {"measured", "nominal", NULL};
enum { FECN_ABOVE, FECN_ALWAYS };
static const char *const fecn_gammas[] = {"above", "always", NULL};

#define FECN_LINEAR_K 0.06 /* the paper's line through its hyperbola */
#define FECN_STAGE_K 0.002
#define FECN_FRAME_BYTES 1518

struct fecn_cp_params {
    int64_t interval, qeq, n0, function, stages, capacity, gamma_at, min_rate, severe, severe_every;
    double a, b, c, k, k_below, alpha, beta, gamma, w;
};

struct fecn_cp_cfg {
    uint64_t port_id;
    xoff_time interval;
    int64_t severe_bytes, severe_every_bytes;
    double line_bps, start_bps, min_bps, seconds; /* seconds: of the interval */
    double qeq, a, b, c, k, k_below, alpha, beta, gamma, w;
    int32_t function, n_stages;
    bool is_measured, is_always;
};

struct fecn_cp {
    double rate_bps;
    uint64_t joined_bytes, sent_bytes; /* when the interval began */
    xoff_time backlogged_for;
    xoff_time deadline;   /* end of the interval; XOFF_NEVER: none runs */
    uint64_t told_bytes;  /* joined when a source was last told of severe congestion */
    double load, control; /* rho and f(q) of the last interval; 0: there is none */
};

static const struct xoff_param fecn_cp_table[] = {
    {.name = "interval",
     .type = XOFF_P_TIME,
     .offset = offsetof(struct fecn_cp_params, interval),
     .preset = "1ms",
     .min = "1us",
     .max = "10s",
     .help = "Time of a measurement, T; several frames of every flow should fit."},
    {.name = "qeq",
     .type = XOFF_P_BYTES,
     .offset = offsetof(struct fecn_cp_params, qeq),
     .preset = "24000B",
     .min = "64B",
     .help = "Queue length that the control aims at, Qeq."},
    {.name = "n0",
     .type = XOFF_P_INT,
     .offset = offsetof(struct fecn_cp_params, n0),
     .preset = "200",
     .min = "1",
     .max = "1000000",
     .help = "The first rate is the link's rate divided by this, and so is that of an idle port."},
    {.name = "function",
     .type = XOFF_P_CHOICE,
     .offset = offsetof(struct fecn_cp_params, function),
     .preset = "hyperbolic",
     .choices = fecn_functions,
     .help = "How the queue changes the rate: equation 1, equation 2, equation 2 in stages, or "
             "equation 5."},
    {.name = "a",
     .type = XOFF_P_REAL,
     .offset = offsetof(struct fecn_cp_params, a),
     .preset = "1.002",
     .min = "1",
     .max = "10",
     .help = "Hyperbolic: f(0), up to Qeq."},
    {.name = "b",
     .type = XOFF_P_REAL,
     .offset = offsetof(struct fecn_cp_params, b),
     .preset = "1.1",
     .min = "1",
     .max = "100",
     .help = "Hyperbolic: how fast f falls above Qeq."},
    {.name = "c",
     .type = XOFF_P_REAL,
     .offset = offsetof(struct fecn_cp_params, c),
     .preset = "0.1",
     .min = "0.001",
     .max = "1",
     .help = "Least value of f."},
    {.name = "k",
     .type = XOFF_P_REAL,
     .offset = offsetof(struct fecn_cp_params, k),
     .preset = "auto",
     .min = "0",
     .max = "100",
     .allows_auto = true,
     .help = "Linear and multistage: slope of f above Qeq, per Qeq; auto: 0.06 and 0.002."},
    {.name = "k_below",
     .type = XOFF_P_REAL,
     .offset = offsetof(struct fecn_cp_params, k_below),
     .preset = "0.002",
     .min = "0",
     .max = "100",
     .help = "Linear and multistage: the same up to Qeq."},
    {.name = "stages",
     .type = XOFF_P_INT,
     .offset = offsetof(struct fecn_cp_params, stages),
     .preset = "2",
     .min = "1",
     .max = "64",
     .help = "Multistage: number of stages; stage n begins at n Qeq and has slope n k."},
    {.name = "alpha",
     .type = XOFF_P_REAL,
     .offset = offsetof(struct fecn_cp_params, alpha),
     .preset = "1",
     .min = "0",
     .max = "10",
     .help = "Additive: weight of the spare capacity."},
    {.name = "beta",
     .type = XOFF_P_REAL,
     .offset = offsetof(struct fecn_cp_params, beta),
     .preset = "auto",
     .min = "0",
     .max = "1000",
     .allows_auto = true,
     .help = "Additive: weight of the queue; auto: as at Qeq of the hyperbola with this b."},
    {.name = "gamma",
     .type = XOFF_P_REAL,
     .offset = offsetof(struct fecn_cp_params, gamma),
     .preset = "0.99",
     .min = "0.95",
     .max = "1",
     .help = "Part of the capacity that is given away while the queue is longer than Qeq; above "
             "0.95."},
    {.name = "gamma_at",
     .type = XOFF_P_CHOICE,
     .offset = offsetof(struct fecn_cp_params, gamma_at),
     .preset = "above",
     .choices = fecn_gammas,
     .help = "Whether gamma holds above Qeq only or always."},
    {.name = "w",
     .type = XOFF_P_REAL,
     .offset = offsetof(struct fecn_cp_params, w),
     .preset = "0.5",
     .min = "0.001",
     .max = "1",
     .help = "Weight of the new rate in the average with the last one; 1: no average."},
    {.name = "capacity",
     .type = XOFF_P_CHOICE,
     .offset = offsetof(struct fecn_cp_params, capacity),
     .preset = "measured",
     .choices = fecn_capacities,
     .help = "Capacity of the queue: what it sent while it had something to send, or the link's "
             "rate."},
    {.name = "min_rate",
     .type = XOFF_P_RATE,
     .offset = offsetof(struct fecn_cp_params, min_rate),
     .preset = "1Mbps",
     .min = "1bps",
     .help = "Least rate that is ever given."},
    {.name = "severe",
     .type = XOFF_P_BYTES,
     .offset = offsetof(struct fecn_cp_params, severe),
     .preset = "auto",
     .min = "64B",
     .allows_auto = true,
     .help = "Queue length above which sources are told at once, Qsc (E-FECN); auto: never."},
    {.name = "severe_every",
     .type = XOFF_P_BYTES,
     .offset = offsetof(struct fecn_cp_params, severe_every),
     .preset = "15000B",
     .min = "64B",
     .max = "1GB",
     .help = "Least bytes from one such message to the next."},
    {0},
};

static int fecn_cp_check(const struct fecn_cp_params *p, const struct xoff_cp_env *env,
                         struct xoff_err *err)
{
    static const char *const names[] = {"interval", "n0", "stages", "min_rate", "severe_every"};
    const int64_t values[] = {p->interval, p->n0, p->stages, p->min_rate, p->severe_every};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        if (values[i] <= 0)
            return xoff_err_set(err, XOFF_E_RANGE, names[i], NULL, "must be above 0");
    if (!(p->a >= 1) || !(p->b >= 1)) /* a NaN is refused, too */
        return xoff_err_set(err, XOFF_E_RANGE, p->a >= 1 ? "b" : "a", NULL, "must be at least 1");
    if (!(p->w > 0 && p->w <= 1))
        return xoff_err_set(err, XOFF_E_RANGE, "w", NULL, "a weight is above 0 and at most 1");
    if (!(p->gamma > 0.95 && p->gamma <= 1)) /* section IV B */
        return xoff_err_set(err, XOFF_E_RANGE, "gamma", NULL, "must be above 0.95 and at most 1");
    if (!(p->c > 0 && p->c <= 1))
        return xoff_err_set(err, XOFF_E_RANGE, "c", NULL, "is above 0 and at most 1");
    int code = set_point_check(p->qeq, env, err);
    if (!code)
        code = set_point_check_reach("severe", p->severe, env, err);
    if (code)
        return code;
    if (p->severe != XOFF_PARAM_AUTO && p->severe <= p->qeq)
        return xoff_err_set(err, XOFF_E_CONFLICT, "severe", NULL,
                            "lies at or below qeq, where the queue is meant to be");
    if ((xoff_rate)p->min_rate > env->rate_bps)
        return xoff_err_set(err, XOFF_E_CONFLICT, "min_rate", NULL, "is above the link's rate");
    return 0;
}

/* The steepest slope of f above Qeq, per Qeq. */
static double fecn_slope(const struct fecn_cp_cfg *c)
{
    switch (c->function) {
    case FECN_LINEAR:
        return c->k;
    case FECN_MULTISTAGE:
        return c->k * c->n_stages;
    default:
        return (c->b - 1) / c->b;
    }
}

/* To hundredths, for messages. */
static double fecn_round(double x)
{
    return x < 1e15 ? (double)(int64_t)(x * 100 + 0.5) / 100 : x;
}

/* Warns of parameters that the fluid model finds unstable: q follows (3), so that its distance from
 * Qeq is multiplied by 1 - g each interval, with g = alpha k / Qeq and alpha = C T in bytes. That
 * converges for 0 < g < 2; with the average for g < 2 (2 - w) / w. */
static void fecn_warn(const struct fecn_cp_cfg *c, struct xoff_err *err)
{
    const double bytes = c->line_bps * c->seconds / 8;
    const double bound = 2 * (2 - c->w) / c->w;
    const bool is_additive = c->function == FECN_ADDITIVE;
    const double gain = is_additive ? c->beta / c->gamma : bytes * fecn_slope(c) / c->qeq;
    if (!(gain > 0)) {
        xoff_err_set(err, XOFF_E_OK,
                     is_additive   ? "beta"
                     : c->function ? "k"
                                   : "b",
                     NULL, "the queue has no weight, so that nothing brings it back to qeq");
    } else if (gain >= bound) {
        char text[32];
        xoff_err_set(err, XOFF_E_OK, is_additive ? "beta" : "qeq", NULL, "the queue will swing: ");
        xoff_err_add(err, is_additive ? "beta / gamma is " : "C T k / qeq is ");
        xoff_err_add(err, xoff_format_real(text, sizeof text, fecn_round(gain)));
        xoff_err_add(err, ", and the fluid model is stable below 2 (2 - w) / w = ");
        xoff_err_add(err, xoff_format_real(text, sizeof text, fecn_round(bound)));
        if (!is_additive) {
            xoff_err_add(err, "; qeq above ");
            xoff_err_add_int(err, (long long)(bytes * fecn_slope(c) / bound));
            xoff_err_add(err, "B, a shorter interval or a flatter function would do");
        }
    } else if (bytes * c->start_bps < FECN_FRAME_BYTES * c->line_bps) {
        xoff_err_set(err, XOFF_E_OK, "n0", NULL,
                     "at the first rate a flow sends less than a frame in an interval, so that the "
                     "port may look idle and never raise its rate; n0 of at most ");
        xoff_err_add_int(err, (long long)(bytes / FECN_FRAME_BYTES));
        xoff_err_add(err, " avoids that");
    }
}

static int fecn_cp_configure(const void *params, const struct xoff_cp_env *env, void *cfg,
                             struct xoff_cp_shape *shape, struct xoff_err *err)
{
    const struct fecn_cp_params *p = params;
    struct fecn_cp_cfg *c = cfg;
    const int code = fecn_cp_check(p, env, err);
    if (code)
        return code;
    const double line_bps = (double)env->rate_bps, seconds = (double)p->interval / (double)XOFF_S;
    *c = (struct fecn_cp_cfg){
        .port_id = env->port_id,
        .interval = p->interval,
        .severe_bytes = p->severe == XOFF_PARAM_AUTO ? INT64_MAX : p->severe,
        .severe_every_bytes = p->severe_every,
        .line_bps = line_bps,
        .start_bps = line_bps / (double)p->n0,
        .min_bps = (double)p->min_rate,
        .seconds = seconds,
        .qeq = (double)p->qeq,
        .a = p->a,
        .b = p->b,
        .c = p->c,
        .k = p->k >= 0                        ? p->k
             : p->function == FECN_MULTISTAGE ? FECN_STAGE_K
                                              : FECN_LINEAR_K,
        .k_below = p->k_below,
        .alpha = p->alpha,
        .beta =
            p->beta >= 0 ? p->beta : (p->b - 1) / p->b * line_bps * seconds / 8 / (double)p->qeq,
        .gamma = p->gamma,
        .w = p->w,
        .function = (int32_t)p->function,
        .n_stages = (int32_t)p->stages,
        .is_measured = p->capacity == FECN_MEASURED,
        .is_always = p->gamma_at == FECN_ALWAYS,
    };
    if (c->start_bps < c->min_bps)
        c->start_bps = c->min_bps;
    *shape = (struct xoff_cp_shape){
        .state_size = sizeof(struct fecn_cp),
        .quiet_below = c->severe_bytes,
        .heeds_tags = true,
        .skips_dequeue = true,
        .sees_load = true,
        .is_timed = true,
        .writes = true,
        .notifies = p->severe != XOFF_PARAM_AUTO,
    };
    fecn_warn(c, err);
    return 0;
}

static void fecn_cp_init(const void *cfg, void *state)
{
    const struct fecn_cp_cfg *c = cfg;
    *(struct fecn_cp *)state = (struct fecn_cp){.rate_bps = c->start_bps, .deadline = XOFF_NEVER};
}

/* f, of a queue in units of Qeq. */
static double fecn_f(const struct fecn_cp_cfg *c, double q)
{
    double f;
    if (c->function == FECN_HYPERBOLIC) {
        if (q <= 1)
            return c->a / ((c->a - 1) * q + 1);
        f = c->b / ((c->b - 1) * q + 1);
    } else if (q <= 1) {
        f = 1 - c->k_below * (q - 1);
    } else {
        const int32_t last = c->function == FECN_MULTISTAGE ? c->n_stages : 1;
        f = 1;
        for (int32_t n = 1; n <= last && q > n; n++)
            f -= n * c->k * ((n < last && q > n + 1 ? n + 1 : q) - n);
    }
    return f > c->c ? f : c->c;
}

static void fecn_begin(const struct fecn_cp_cfg *c, struct fecn_cp *s,
                       const struct xoff_cp_load *load, xoff_time now)
{
    s->joined_bytes = load->joined_bytes;
    s->sent_bytes = load->sent_bytes;
    s->backlogged_for = load->backlogged_for;
    s->deadline = xoff_time_after(now, c->interval);
}

/* A link that others share or that is paused serves the queue more slowly than the wire goes. */
static double fecn_capacity(const struct fecn_cp_cfg *c, const struct fecn_cp *s,
                            const struct xoff_cp_load *load)
{
    const xoff_time backlogged_for = load->backlogged_for - s->backlogged_for;
    if (!c->is_measured || backlogged_for <= 0)
        return c->line_bps;
    const double bits = 8 * (double)(load->sent_bytes - s->sent_bytes);
    const double bps = bits * (double)XOFF_S / (double)backlogged_for;
    return bps < c->line_bps ? bps : c->line_bps;
}

/* The new rate before the average, for a load of `bits` in the interval. The load and the f of the
 * additive function are those with which (6) would give the same rate. */
static double fecn_allocate(const struct fecn_cp_cfg *c, struct fecn_cp *s, double bits,
                            double capacity_bps, int64_t queue_bytes)
{
    const double q = (double)queue_bytes / c->qeq;
    const double given_bps = capacity_bps * (c->is_always || q > 1 ? c->gamma : 1);
    double bps = 0;
    if (c->function != FECN_ADDITIVE) {
        s->control = fecn_f(c, q);
        bps = s->rate_bps * s->control * given_bps * c->seconds / bits;
    } else if (given_bps > 0) {
        const double spare_bps = given_bps - bits / c->seconds;
        const double excess_bps = 8 * (q - 1) * c->qeq / c->seconds;
        bps = s->rate_bps * (1 + (c->alpha * spare_bps - c->beta * excess_bps) / given_bps);
        s->control = bps / s->rate_bps * bits / (given_bps * c->seconds);
    }
    s->load = bps > 0 ? s->rate_bps / bps : 0;
    return bps;
}

static void fecn_cp_expire(const void *cfg, void *state, const struct xoff_cp_load *load,
                           xoff_time now)
{
    const struct fecn_cp_cfg *c = cfg;
    struct fecn_cp *s = state;
    /* What was in the queue of a link that failed never joined. */
    if (load->joined_bytes <= s->joined_bytes) {
        fecn_cp_init(cfg, s);
        return;
    }
    const double capacity_bps = fecn_capacity(c, s, load);
    double bps = fecn_allocate(c, s, 8 * (double)(load->joined_bytes - s->joined_bytes),
                               capacity_bps, load->queue_bytes);
    bps = bps < capacity_bps ? bps : capacity_bps;
    bps = c->w * bps + (1 - c->w) * s->rate_bps;
    s->rate_bps = bps > c->min_bps ? bps : c->min_bps;
    fecn_begin(c, s, load, now);
}

static xoff_time fecn_cp_deadline(const void *cfg, const void *state)
{
    (void)cfg;
    return ((const struct fecn_cp *)state)->deadline;
}

/* The frame has a tag, or the queue is longer than in severe congestion. */
static void fecn_cp_on_enqueue(const void *cfg, void *state, const struct xoff_cp_frame *frame,
                               xoff_time now, struct xoff_cp_answer *answer)
{
    const struct fecn_cp_cfg *c = cfg;
    struct fecn_cp *s = state;
    const uint64_t cp_id = xoff_cp_id(c->port_id, frame->priority);
    if (frame->tag && frame->tag->kind == XOFF_NOTICE_FECN) {
        if (s->deadline == XOFF_NEVER)
            fecn_begin(c, s, frame->load, now);
        const xoff_rate bps = (xoff_rate)s->rate_bps;
        if (frame->tag->rate_bps > bps) {
            answer->write = true;
            answer->notice =
                (struct xoff_notice){.cp_id = cp_id, .rate_bps = bps, .kind = XOFF_NOTICE_FECN};
            return;
        }
    }
    if (!frame->is_data || frame->queue_bytes <= c->severe_bytes ||
        frame->load->joined_bytes < s->told_bytes + (uint64_t)c->severe_every_bytes)
        return;
    s->told_bytes = frame->load->joined_bytes;
    answer->notify = true;
    answer->notice = (struct xoff_notice){.cp_id = cp_id,
                                          .feedback = -1,
                                          .rate_bps = (xoff_rate)c->start_bps,
                                          .kind = XOFF_NOTICE_FECN};
}

static void fecn_cp_view(const void *cfg, const void *state, struct xoff_cp_view *view)
{
    (void)cfg;
    const struct fecn_cp *s = state;
    *view = (struct xoff_cp_view){.rate_bps = s->rate_bps, .load = s->load, .control = s->control};
}

const struct xoff_cp_ops xoff_cp_fecn = {
    .name = "fecn",
    .summary = "lowers the tags of passing frames to one rate for all flows of the queue (FECN)",
    .params = fecn_cp_table,
    .params_size = sizeof(struct fecn_cp_params),
    .cfg_size = sizeof(struct fecn_cp_cfg),
    .configure = fecn_cp_configure,
    .init = fecn_cp_init,
    .on_enqueue = fecn_cp_on_enqueue,
    .deadline = fecn_cp_deadline,
    .expire = fecn_cp_expire,
    .view = fecn_cp_view,
};
