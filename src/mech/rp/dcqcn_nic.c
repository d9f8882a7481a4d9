/* DCQCN as network adapters run it and as the ns-3 RDMA family models it: alpha, rate cut and rate
 * increase each on a clock of its own.
 *
 * Source: the ns-3 model published with HPCC (Li et al., 2019), its congestion control mode 1.
 * Receivers echo the mark of each frame on its ACK; there are no CNPs. A marked ACK sets two bits,
 * one for alpha, one for the cut. The first one, at t0, also starts two clocks, sets alpha = 1,
 * leaves the bit for alpha clear and scales the rate: RT = RC = first_rate RC. Then
 *
 *   t0 + k alpha_interval             alpha = (1 - g) alpha, plus g if its bit is set; clear it
 *   t0 + 1 ns + k decrease_interval   a check; if the bit for the cut is set, clear it:
 *                                     RT = RC, unless S = 0 and the target is not clamped;
 *                                     RC = RC (1 - alpha / 2), not below min_rate;
 *                                     S = 0, and the increase timer starts anew
 *   increase timer                    S < F   fast recovery     RT stays
 *                                     S = F   active increase   RT = RT + RAI
 *                                     S > F   hyper increase    RT = RT + RHAI
 *                                     RT at most the link's rate; RC = (RT + RC) / 2; S = S + 1
 *
 * S = 0 at a check means a second cut before any increase: the target is still the rate from before
 * the first of them. The extra nanosecond puts a check behind the step of alpha in the same
 * microsecond.
 *
 * Increase and check usually fall together (300 us are 75 times 4 us, counted from a check). Then
 * the one that the source has scheduled first goes first: the increase if its period is longer,
 * otherwise the check, and a cut by the check then cancels the increase.
 *
 * Most expiries change nothing visible and cause no event. Only cuts read alpha: its steps are
 * applied when its bit or its value is needed; each is one multiplication, which gives the same
 * bits as a timer would. A check is waited for only while its bit is set. RC is never above RT, so
 * increases do not lower it. Once RC rounds to the link's rate, increases cannot change the answer,
 * and those due wait for the next mark.
 *
 * Expiries that are due at the instant of a call are applied before the call.
 *
 * Differs: rates are real numbers; the source has whole bits per second, rounded down at each step.
 * Differs: the first mark does not take the rate below min_rate either. Differs: the source handles
 * events of one instant in the order in which they were scheduled, so a marked ACK may also come
 * before a check there.
 */
#include <string.h>

#include "mech/rp/rates.h"

struct nic_params {
    int64_t alpha_interval, decrease_interval, timer;
    double gain;
    int64_t fast_recovery, ai, hai, min_rate, clamp_target;
    double first_rate;
};

struct nic_cfg {
    double line, floor, ai, hai; /* bits per second */
    double gain, keep;           /* g and 1 - g */
    double alpha_nil;            /* an alpha below it has no effect, see nic_alpha() */
    double first;
    xoff_time alpha_for, check_for, timer_for;
    uint32_t fast; /* F */
    bool clamps_target;
};

struct nic {
    double rate; /* RC, bits per second; first in the state, where a test reads all its bits */
    double target;
    double alpha;
    xoff_time alpha_at; /* next step of alpha; XOFF_NEVER: no mark has come yet */
    xoff_time check_at; /* next check while its bit is set; otherwise it may be in the past */
    xoff_time timer_at; /* next increase; XOFF_NEVER before the first cut */
    uint32_t stage;     /* S */
    bool is_marked_for_alpha;
    bool is_marked_for_cut;
};

_Static_assert(sizeof(struct nic) <= 128, "per flow");

static const struct xoff_param nic_table[] = {
    {.name = "alpha_interval",
     .type = XOFF_P_TIME,
     .offset = offsetof(struct nic_params, alpha_interval),
     .preset = "1us",
     .min = "1ns",
     .max = "1s",
     .help = "Time from one update of the estimate of congestion to the next."},
    {.name = "decrease_interval",
     .type = XOFF_P_TIME,
     .offset = offsetof(struct nic_params, decrease_interval),
     .preset = "4us",
     .min = "1ns",
     .max = "1s",
     .help = "Time from one check for marks, which may cut the rate, to the next."},
    {.name = "timer",
     .type = XOFF_P_TIME,
     .offset = offsetof(struct nic_params, timer),
     .preset = "300us",
     .min = "1ns",
     .max = "1s",
     .help = "Time from a rate cut or increase to the next increase."},
    {.name = "gain",
     .type = XOFF_P_REAL,
     .offset = offsetof(struct nic_params, gain),
     .preset = "1/256",
     .min = "1e-6",
     .max = "1",
     .help = "Weight of the newest sign in the estimate of congestion, g."},
    {.name = "fast_recovery",
     .type = XOFF_P_INT,
     .offset = offsetof(struct nic_params, fast_recovery),
     .preset = "1",
     .min = "0",
     .max = "1000",
     .help = "Increases after a cut that leave the target rate as it is, F."},
    {.name = "ai",
     .type = XOFF_P_RATE,
     .offset = offsetof(struct nic_params, ai),
     .preset = "auto",
     .allows_auto = true,
     .help = "Step of the target rate in active increase; auto: 5Mbps per 25Gbps of the link."},
    {.name = "hai",
     .type = XOFF_P_RATE,
     .offset = offsetof(struct nic_params, hai),
     .preset = "auto",
     .allows_auto = true,
     .help = "Step of the target rate in hyper increase; auto: 50Mbps per 25Gbps of the link."},
    {.name = "min_rate",
     .type = XOFF_P_RATE,
     .offset = offsetof(struct nic_params, min_rate),
     .preset = "auto",
     .min = "1bps",
     .allows_auto = true,
     .help = "Rate that nothing cuts below; auto: 1/100 of the link's rate."},
    {.name = "clamp_target",
     .type = XOFF_P_BOOL,
     .offset = offsetof(struct nic_params, clamp_target),
     .preset = "false",
     .help = "Whether a cut that follows another without an increase lowers the target rate too."},
    {.name = "first_rate",
     .type = XOFF_P_REAL,
     .offset = offsetof(struct nic_params, first_rate),
     .preset = "1",
     .min = "0",
     .max = "1",
     .help = "Part of the rate that is left at once by the first mark of a flow."},
    {0},
};

#define NIC_AI_PART 5000 /* 5 Mb/s per 25 Gb/s */
#define NIC_HAI_PART 500 /* 50 Mb/s per 25 Gb/s */
#define NIC_MIN_PART 100 /* 1 Gb/s at 100 Gb/s */

static int nic_check_params(const struct nic_params *p, struct xoff_err *err)
{
    if (!(p->gain > 0 && p->gain <= 1)) /* a NaN is refused, too */
        return xoff_err_set(err, XOFF_E_RANGE, "gain", NULL, "a gain is above 0 and at most 1");
    if (!(p->first_rate > 0 && p->first_rate <= 1))
        return xoff_err_set(err, XOFF_E_RANGE, "first_rate", NULL,
                            "the part left is above 0 and at most 1");
    if (p->alpha_interval <= 0)
        return xoff_err_set(err, XOFF_E_RANGE, "alpha_interval", NULL, "a timer needs a time > 0");
    if (p->decrease_interval <= 0)
        return xoff_err_set(err, XOFF_E_RANGE, "decrease_interval", NULL,
                            "a timer needs a time > 0");
    if (p->timer <= 0)
        return xoff_err_set(err, XOFF_E_RANGE, "timer", NULL, "a timer needs a time > 0");
    return 0;
}

static int nic_configure(const void *params, const struct xoff_rp_env *env, void *cfg,
                         struct xoff_rp_shape *shape, struct xoff_err *err)
{
    const struct nic_params *p = params;
    struct nic_cfg *c = cfg;
    shape->state_size = sizeof(struct nic);
    int code = nic_check_params(p, err);
    if (code)
        return code;
    const xoff_rate min_bps = rate_or_part(p->min_rate, env->rate_bps, NIC_MIN_PART);
    code = rate_check_floor(min_bps, env->rate_bps, err);
    if (code)
        return code;
    *c = (struct nic_cfg){
        .line = (double)env->rate_bps,
        .floor = (double)min_bps,
        .ai = (double)rate_or_part(p->ai, env->rate_bps, NIC_AI_PART),
        .hai = (double)rate_or_part(p->hai, env->rate_bps, NIC_HAI_PART),
        .gain = p->gain,
        .keep = 1 - p->gain,
        .alpha_nil = p->gain * 0x1p-60,
        .first = p->first_rate,
        .alpha_for = p->alpha_interval,
        .check_for = p->decrease_interval,
        .timer_for = p->timer,
        .fast = (uint32_t)p->fast_recovery,
        .clamps_target = p->clamp_target != 0,
    };
    return 0;
}

static void nic_answer(const struct nic_cfg *c, const struct nic *s, struct xoff_rp_answer *answer)
{
    answer->rate_bps = (xoff_rate)(s->rate + 0.5);
    answer->deadline = answer->rate_bps == (xoff_rate)c->line ? XOFF_NEVER : s->timer_at;
    if (s->is_marked_for_cut)
        answer->deadline = xoff_time_min(answer->deadline, s->check_at);
}

static void nic_init(const void *cfg, void *state, const struct xoff_rp_flow *flow, xoff_time now,
                     struct xoff_rp_answer *answer)
{
    const struct nic_cfg *c = cfg;
    struct nic *s = state;
    (void)flow, (void)now;
    memset(s, 0, sizeof *s); /* padding, too: states are compared by their bytes */
    s->rate = s->target = c->line;
    s->alpha = 1;
    s->alpha_at = s->check_at = s->timer_at = XOFF_NEVER;
    answer->window_bytes = XOFF_RP_NO_WINDOW;
    nic_answer(c, s, answer);
}

/* Returns the first of at, at + period, ... that is beyond `now`, which is not before `at`. */
static xoff_time nic_next(xoff_time at, xoff_time period, xoff_time now)
{
    return xoff_time_after(now, period - (now - at) % period);
}

/* Applies the steps up to `now` to alpha: the first step takes the bit, the others find it clear.
 * Once alpha is below g 2^-60 further steps can be left out: alpha is then lost in rounding both in
 * 1 - alpha / 2 and in (1 - g) alpha + g, and shrinking does not change that. */
static void nic_alpha(const struct nic_cfg *c, struct nic *s, xoff_time now)
{
    if (now < s->alpha_at)
        return;
    xoff_time n = (now - s->alpha_at) / c->alpha_for; /* steps after the first */
    s->alpha_at = nic_next(s->alpha_at, c->alpha_for, now);
    s->alpha = c->keep * s->alpha;
    if (s->is_marked_for_alpha)
        s->alpha += c->gain;
    s->is_marked_for_alpha = false;
    for (; n > 0 && s->alpha >= c->alpha_nil; n--)
        s->alpha = c->keep * s->alpha;
}

static void nic_cut(const struct nic_cfg *c, struct nic *s)
{
    const xoff_time at = s->check_at;
    nic_alpha(c, s, at);
    s->is_marked_for_cut = false;
    if (c->clamps_target || s->stage > 0)
        s->target = s->rate;
    s->rate = s->rate * (1 - s->alpha / 2);
    if (s->rate < c->floor)
        s->rate = c->floor;
    s->stage = 0;
    s->timer_at = xoff_time_after(at, c->timer_for);
    s->check_at = xoff_time_after(at, c->check_for);
}

/* With RT at the link's rate each increase is the same average, whatever S is; as soon as one
 * leaves RC unchanged, the others due by `now` can be skipped. */
static void nic_increase(const struct nic_cfg *c, struct nic *s, xoff_time now)
{
    const double before = s->rate;
    if (s->stage == c->fast)
        s->target += c->ai;
    else if (s->stage > c->fast)
        s->target += c->hai;
    if (s->target > c->line)
        s->target = c->line;
    s->rate = (s->target + s->rate) / 2;
    s->stage++;
    s->timer_at = xoff_time_after(s->timer_at, c->timer_for);
    if (s->target == c->line && s->rate == before && s->timer_at <= now)
        s->timer_at = nic_next(s->timer_at, c->timer_for, now);
}

/* Applies the cuts and increases that are due by `now`, in their order. */
static void nic_run(const struct nic_cfg *c, struct nic *s, xoff_time now)
{
    for (;;) {
        const xoff_time check_at = s->is_marked_for_cut ? s->check_at : XOFF_NEVER;
        if (xoff_time_min(check_at, s->timer_at) > now)
            return;
        if (check_at < s->timer_at || (check_at == s->timer_at && c->timer_for <= c->check_for))
            nic_cut(c, s);
        else
            nic_increase(c, s, now);
    }
}

static void nic_first_mark(const struct nic_cfg *c, struct nic *s, xoff_time now)
{
    s->rate = c->first * s->rate;
    if (s->rate < c->floor)
        s->rate = c->floor;
    s->target = s->rate;
    s->is_marked_for_cut = true;
    s->alpha_at = xoff_time_after(now, c->alpha_for);
    s->check_at = xoff_time_after(now, c->check_for + XOFF_NS);
}

static void nic_on_ack(const void *cfg, void *state, const struct xoff_rp_ack *ack, xoff_time now,
                       struct xoff_rp_answer *answer)
{
    const struct nic_cfg *c = cfg;
    struct nic *s = state;
    if (!ack->is_marked)
        return;
    if (s->alpha_at == XOFF_NEVER) {
        nic_first_mark(c, s, now);
        nic_answer(c, s, answer);
        return;
    }
    nic_run(c, s, now);
    nic_alpha(c, s, now);
    s->is_marked_for_alpha = true;
    if (!s->is_marked_for_cut) {
        s->is_marked_for_cut = true;
        if (s->check_at <= now)
            s->check_at = nic_next(s->check_at, c->check_for, now);
    }
    nic_answer(c, s, answer);
}

static void nic_expire(const void *cfg, void *state, xoff_time now, struct xoff_rp_answer *answer)
{
    const struct nic_cfg *c = cfg;
    struct nic *s = state;
    nic_run(c, s, now);
    nic_answer(c, s, answer);
}

const struct xoff_rp_ops xoff_rp_dcqcn_nic = {
    .name = "dcqcn-nic",
    .summary = "rate cut by marks echoed on ACKs, three clocks (adapter and ns-3 form)",
    .params = nic_table,
    .params_size = sizeof(struct nic_params),
    .cfg_size = sizeof(struct nic_cfg),
    .marking = "ecn",
    .np = "echo",
    .rel = "go-back-n",
    .needs_acks = true,
    .configure = nic_configure,
    .init = nic_init,
    .on_ack = nic_on_ack,
    .expire = nic_expire,
};
