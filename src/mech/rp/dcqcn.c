/* DCQCN as its paper has it: rate cut by CNPs, recovery by a timer and a byte counter.
 *
 * Source: Zhu et al., "Congestion control for large-scale RDMA deployments", 2015, 3.1.
 * RC is the current rate, RT the target it climbs back to, alpha the estimate of congestion:
 *
 *   CNP              RT = RC; RC = RC (1 - alpha / 2); alpha = (1 - g) alpha + g
 *                    T = BC = 0, the byte counter and both timers start anew
 *   no CNP for K     alpha = (1 - g) alpha, and again after each further K
 *   timer            T = T + 1, increase
 *   B bytes sent     BC = BC + 1, increase
 *   increase         max(T, BC) < F   fast recovery       RT stays
 *                    min(T, BC) > F   hyper increase      RT = RT + (min(T, BC) - F) RHAI
 *                    else             additive increase   RT = RT + RAI
 *                    then RC = (RT + RC) / 2; neither passes the link's rate
 *
 * A flow starts at the link's rate without any timer; the first CNP finds alpha = 1.
 *
 * Only the increase timer causes events. Only CNPs read alpha, so its expiries are counted and
 * applied when a CNP comes: each is one multiplication, which gives the same bits as a timer would.
 * RC is never above RT, so increases do not lower it. Once RC rounds to the link's rate, increases
 * cannot change the answer, and their expiries also wait for the next CNP.
 *
 * Expiries that are due at the instant of a call are applied before the call.
 *
 * Differs: the paper gives RAI and B for 40 Gb/s only; RAI follows the link's rate here. RHAI,
 * which the paper does not give, is ten times RAI. Differs: RC has a floor, which the paper lacks.
 * Differs: bytes beyond B count for the next B.
 */
#include "mech/rp/rates.h"

struct dcqcn_params {
    double gain;
    int64_t alpha_interval, timer, byte_counter, fast_recovery, ai, hai, min_rate;
};

struct dcqcn_cfg {
    double line, floor, ai, hai; /* bits per second */
    double gain, keep;           /* g and 1 - g */
    double alpha_nil;            /* an alpha below it has no effect, see dcqcn_alpha() */
    xoff_time alpha_for, timer_for;
    uint64_t counter_bytes;
    uint32_t fast; /* F */
};

struct dcqcn {
    double rate; /* RC, bits per second; first in the state, where a test reads all its bits */
    double target;
    double alpha;
    xoff_time alpha_at; /* next expiry of either timer; XOFF_NEVER: no CNP has come yet */
    xoff_time timer_at;
    uint64_t sent_bytes; /* since the byte counter last expired */
    uint32_t n_timer;    /* T */
    uint32_t n_counter;  /* BC */
};

_Static_assert(sizeof(struct dcqcn) <= 128, "per flow");

static const struct xoff_param dcqcn_table[] = {
    {.name = "gain",
     .type = XOFF_P_REAL,
     .offset = offsetof(struct dcqcn_params, gain),
     .preset = "1/256",
     .min = "1e-6",
     .max = "1",
     .help = "Weight of the newest sign in the estimate of congestion, g."},
    {.name = "alpha_interval",
     .type = XOFF_P_TIME,
     .offset = offsetof(struct dcqcn_params, alpha_interval),
     .preset = "55us",
     .min = "1ns",
     .max = "1s",
     .help = "Time without a CNP after which the estimate of congestion decays by one step, K."},
    {.name = "timer",
     .type = XOFF_P_TIME,
     .offset = offsetof(struct dcqcn_params, timer),
     .preset = "55us",
     .min = "1ns",
     .max = "1s",
     .help = "Time from one rate increase by the timer to the next."},
    {.name = "byte_counter",
     .type = XOFF_P_BYTES,
     .offset = offsetof(struct dcqcn_params, byte_counter),
     .preset = "10MB",
     .min = "1KB",
     .help = "Bytes of frames sent from one rate increase by the byte counter to the next, B."},
    {.name = "fast_recovery",
     .type = XOFF_P_INT,
     .offset = offsetof(struct dcqcn_params, fast_recovery),
     .preset = "5",
     .min = "0",
     .max = "1000",
     .help = "Stage of timer or byte counter at which fast recovery ends, F."},
    {.name = "ai",
     .type = XOFF_P_RATE,
     .offset = offsetof(struct dcqcn_params, ai),
     .preset = "auto",
     .allows_auto = true,
     .help = "Step of the target rate in additive increase; auto: 1/1000 of the link's rate."},
    {.name = "hai",
     .type = XOFF_P_RATE,
     .offset = offsetof(struct dcqcn_params, hai),
     .preset = "auto",
     .allows_auto = true,
     .help = "Step of the target rate in hyper increase; auto: 1/100 of the link's rate."},
    {.name = "min_rate",
     .type = XOFF_P_RATE,
     .offset = offsetof(struct dcqcn_params, min_rate),
     .preset = "auto",
     .min = "1bps",
     .allows_auto = true,
     .help = "Rate that no CNP cuts below; auto: 1/1000 of the link's rate."},
    {0},
};

#define DCQCN_AI_PART 1000 /* 40 Mb/s at 40 Gb/s */
#define DCQCN_HAI_PART 100
#define DCQCN_MIN_PART 1000

static int dcqcn_check(const struct dcqcn_params *p, struct xoff_err *err)
{
    if (!(p->gain > 0 && p->gain <= 1)) /* a NaN is refused, too */
        return xoff_err_set(err, XOFF_E_RANGE, "gain", NULL, "a gain is above 0 and at most 1");
    if (p->alpha_interval <= 0)
        return xoff_err_set(err, XOFF_E_RANGE, "alpha_interval", NULL, "a timer needs a time > 0");
    if (p->timer <= 0)
        return xoff_err_set(err, XOFF_E_RANGE, "timer", NULL, "a timer needs a time > 0");
    if (p->byte_counter <= 0)
        return xoff_err_set(err, XOFF_E_RANGE, "byte_counter", NULL, "a counter needs bytes > 0");
    return 0;
}

static int dcqcn_configure(const void *params, const struct xoff_rp_env *env, void *cfg,
                           struct xoff_rp_shape *shape, struct xoff_err *err)
{
    const struct dcqcn_params *p = params;
    struct dcqcn_cfg *c = cfg;
    shape->state_size = sizeof(struct dcqcn);
    int code = dcqcn_check(p, err);
    if (code)
        return code;
    const xoff_rate min_bps = rate_or_part(p->min_rate, env->rate_bps, DCQCN_MIN_PART);
    code = rate_check_floor(min_bps, env->rate_bps, err);
    if (code)
        return code;
    *c = (struct dcqcn_cfg){
        .line = (double)env->rate_bps,
        .floor = (double)min_bps,
        .ai = (double)rate_or_part(p->ai, env->rate_bps, DCQCN_AI_PART),
        .hai = (double)rate_or_part(p->hai, env->rate_bps, DCQCN_HAI_PART),
        .gain = p->gain,
        .keep = 1 - p->gain,
        .alpha_nil = p->gain * 0x1p-60,
        .alpha_for = p->alpha_interval,
        .timer_for = p->timer,
        .counter_bytes = (uint64_t)p->byte_counter,
        .fast = (uint32_t)p->fast_recovery,
    };
    return 0;
}

static void dcqcn_answer(const struct dcqcn_cfg *c, const struct dcqcn *s,
                         struct xoff_rp_answer *answer)
{
    answer->rate_bps = (xoff_rate)(s->rate + 0.5);
    answer->deadline = answer->rate_bps == (xoff_rate)c->line ? XOFF_NEVER : s->timer_at;
}

static void dcqcn_init(const void *cfg, void *state, const struct xoff_rp_flow *flow, xoff_time now,
                       struct xoff_rp_answer *answer)
{
    const struct dcqcn_cfg *c = cfg;
    struct dcqcn *s = state;
    (void)flow, (void)now;
    *s = (struct dcqcn){
        .rate = c->line,
        .target = c->line,
        .alpha = 1,
        .alpha_at = XOFF_NEVER,
        .timer_at = XOFF_NEVER,
    };
    answer->window_bytes = XOFF_RP_NO_WINDOW;
    dcqcn_answer(c, s, answer);
}

/* Applies the expiries up to `now` to alpha. Once alpha is below g 2^-60 further steps can be left
 * out: alpha is then lost in rounding both in 1 - alpha / 2 and in (1 - g) alpha + g, and shrinking
 * does not change that. */
static void dcqcn_alpha(const struct dcqcn_cfg *c, struct dcqcn *s, xoff_time now)
{
    for (; s->alpha_at <= now && s->alpha >= c->alpha_nil;
         s->alpha_at = xoff_time_after(s->alpha_at, c->alpha_for))
        s->alpha = c->keep * s->alpha;
}

static void dcqcn_increase(const struct dcqcn_cfg *c, struct dcqcn *s)
{
    const uint32_t most = s->n_timer > s->n_counter ? s->n_timer : s->n_counter;
    const uint32_t least = s->n_timer > s->n_counter ? s->n_counter : s->n_timer;
    if (least > c->fast)
        s->target += (double)(least - c->fast) * c->hai;
    else if (most >= c->fast)
        s->target += c->ai;
    if (s->target > c->line)
        s->target = c->line;
    s->rate = (s->target + s->rate) / 2; /* an average of two rates, so at most the link's */
}

/* Applies the increases by the timer that are due by `now`. With RT at the link's rate each
 * increase is the same average, whatever T and BC are; as soon as one leaves RC unchanged, the rest
 * can be skipped. */
static void dcqcn_run_timer(const struct dcqcn_cfg *c, struct dcqcn *s, xoff_time now)
{
    while (s->timer_at <= now) {
        const double before = s->rate;
        s->timer_at = xoff_time_after(s->timer_at, c->timer_for);
        s->n_timer++;
        dcqcn_increase(c, s);
        if (s->target == c->line && s->rate == before && s->timer_at <= now)
            s->timer_at = xoff_time_after(now, c->timer_for - (now - s->timer_at) % c->timer_for);
    }
}

static void dcqcn_on_cnp(const void *cfg, void *state, xoff_time now, struct xoff_rp_answer *answer)
{
    const struct dcqcn_cfg *c = cfg;
    struct dcqcn *s = state;
    dcqcn_run_timer(c, s, now);
    dcqcn_alpha(c, s, now);
    s->target = s->rate;
    s->rate = s->rate * (1 - s->alpha / 2);
    if (s->rate < c->floor)
        s->rate = c->floor;
    s->alpha = c->keep * s->alpha + c->gain;
    s->n_timer = s->n_counter = 0;
    s->sent_bytes = 0;
    s->timer_at = xoff_time_after(now, c->timer_for);
    s->alpha_at = xoff_time_after(now, c->alpha_for);
    dcqcn_answer(c, s, answer);
}

/* Before the first CNP the count has no effect, because RT and RC are at the link's rate. */
static void dcqcn_on_sent(const void *cfg, void *state, uint32_t frame_bytes, xoff_time now,
                          struct xoff_rp_answer *answer)
{
    const struct dcqcn_cfg *c = cfg;
    struct dcqcn *s = state;
    s->sent_bytes += frame_bytes;
    if (s->sent_bytes < c->counter_bytes)
        return;
    dcqcn_run_timer(c, s, now);
    while (s->sent_bytes >= c->counter_bytes) {
        s->sent_bytes -= c->counter_bytes;
        s->n_counter++;
        dcqcn_increase(c, s);
    }
    dcqcn_answer(c, s, answer);
}

static void dcqcn_expire(const void *cfg, void *state, xoff_time now, struct xoff_rp_answer *answer)
{
    const struct dcqcn_cfg *c = cfg;
    struct dcqcn *s = state;
    dcqcn_run_timer(c, s, now);
    dcqcn_answer(c, s, answer);
}

const struct xoff_rp_ops xoff_rp_dcqcn = {
    .name = "dcqcn",
    .summary = "rate cut by CNPs, recovery by timer and byte counter (paper form)",
    .params = dcqcn_table,
    .params_size = sizeof(struct dcqcn_params),
    .cfg_size = sizeof(struct dcqcn_cfg),
    .marking = "ecn",
    .np = "cnp",
    .rel = "go-back-n",
    .configure = dcqcn_configure,
    .init = dcqcn_init,
    .on_cnp = dcqcn_on_cnp,
    .on_sent = dcqcn_on_sent,
    .expire = dcqcn_expire,
};
