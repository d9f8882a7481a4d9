/* QCN's reaction point (IEEE 802.1Qau): a rate limiter per flow, cut by notifications, raised by a
 * byte counter and a timer.
 *
 * Source: IEEE 802.1Q clauses 30 to 32 and the MIB's defaults, as far as public descriptions and a
 * public state machine with the standard's names go. CR is the current rate, TR the target rate, B
 * and T the stages of byte counter and timer, N the threshold.
 *
 *   notification -Q  if B > 0: TR = CR and the byte counter is reloaded
 *                    B = T = 0, the timer is restarted, fast recovery
 *                    CR = CR max(1 - Gd Q, least factor), at least the least rate
 *   expiry           one more for B or T, which is reloaded
 *     fast recovery     that stage < N: adjust(0); else select
 *     active increase   timer: select; byte counter: adjust(R_AI)
 *     hyper increase    select; the reload is half of the usual one
 *   select           B < N or T < N: active increase, adjust(R_AI)
 *                    else hyper increase, adjust(R_HAI (min(B, T) - N + 1))
 *   adjust(R)        if B = 1 or T = 1, and TR > 10 CR: TR = TR / 8; else TR = TR + R
 *                    CR = (CR + TR) / 2; neither passes the link's rate
 *
 * In active increase only the timer looks whether hyper increase is due: the machine is asymmetric.
 * The expiry that brings a stage to N already increases, so fast recovery has N - 1 plain halvings
 * (recovery: standard); common prose counts N of them (recovery: prose, as if N were one more).
 *
 * A flow has no limiter until its first notification, which makes one with TR = CR = the link's
 * rate. The limiter is deleted when CR is back there. All rates are whole bits per second. Expiries
 * that are due at the instant of a call are applied before the call; a flow that was idle catches
 * up on its timer when it sends again.
 *
 * Differs: TR never passes the link's rate, so CR would come ever closer to it without reaching it;
 * it counts as there when less than 1 Mb/s is missing, the unit in which the standard states rates.
 * Differs: the standard also waits for the limiter's queue to be empty, but there is none here,
 * since a flow waits where it is made. Differs: every flow has a limiter of its own, where
 * rppMaxRps is 1. Differs: bytes beyond the byte counter's limit are not counted for the next one.
 */
#include <xoff/rng.h>

#include "mech/rp/rates.h"

enum qcn_recovery { QCN_STANDARD, QCN_PROSE };
static const char *const qcn_recoveries[] = {"standard", "prose", NULL};

struct qcn_rp_params {
    int64_t timer, byte_counter, threshold, recovery, ai, hai, min_rate;
    double gd, min_factor, jitter;
};

struct qcn_rp_cfg {
    xoff_rate line_bps, min_bps, ai_bps, hai_bps;
    uint64_t gd, min_factor; /* in units of 2^-32 */
    uint64_t jitter;         /* the same */
    xoff_time timer_for;
    int64_t counter_bytes;
    uint32_t threshold; /* N */
};

enum qcn_phase { QCN_FAST, QCN_ACTIVE, QCN_HYPER };

struct qcn_rp {
    xoff_rate current_bps, target_bps;
    int64_t left_bytes; /* until the byte counter expires */
    xoff_time timer_at;
    struct xoff_rng rng;
    uint32_t byte_stage, time_stage;
    enum qcn_phase phase;
    bool is_limited; /* there is a limiter */
};

_Static_assert(sizeof(struct qcn_rp) <= 128, "per flow");

#define QCN_ONE_BITS 32
#define QCN_ONE (UINT64_C(1) << QCN_ONE_BITS)
#define QCN_RATE_UNIT XOFF_MBPS

static const struct xoff_param qcn_rp_table[] = {
    {.name = "timer",
     .type = XOFF_P_TIME,
     .offset = offsetof(struct qcn_rp_params, timer),
     .preset = "15ms",
     .min = "1ns",
     .max = "1s",
     .help = "Time from one rate increase by the timer to the next (rpgTimeReset)."},
    {.name = "byte_counter",
     .type = XOFF_P_BYTES,
     .offset = offsetof(struct qcn_rp_params, byte_counter),
     .preset = "150000B",
     .min = "64B",
     .max = "1GB",
     .help = "Bytes of frames sent from one rate increase by the byte counter to the next "
             "(rpgByteReset)."},
    {.name = "threshold",
     .type = XOFF_P_INT,
     .offset = offsetof(struct qcn_rp_params, threshold),
     .preset = "5",
     .min = "1",
     .max = "1000",
     .help = "Stage of timer or byte counter at which fast recovery ends (rpgThreshold)."},
    {.name = "recovery",
     .type = XOFF_P_CHOICE,
     .offset = offsetof(struct qcn_rp_params, recovery),
     .preset = "standard",
     .choices = qcn_recoveries,
     .help =
         "Plain halvings in fast recovery: one less than the threshold, as the standard's state "
         "machine has it, or as many, as common prose has it."},
    {.name = "ai",
     .type = XOFF_P_RATE,
     .offset = offsetof(struct qcn_rp_params, ai),
     .preset = "5Mbps",
     .help = "Step of the target rate in active increase (rpgAiRate)."},
    {.name = "hai",
     .type = XOFF_P_RATE,
     .offset = offsetof(struct qcn_rp_params, hai),
     .preset = "50Mbps",
     .help = "Step of the target rate in hyper-active increase (rpgHaiRate)."},
    {.name = "gd",
     .type = XOFF_P_REAL,
     .offset = offsetof(struct qcn_rp_params, gd),
     .preset = "1/128",
     .min = "1e-6",
     .max = "1",
     .help = "Part of the rate that one unit of feedback cuts off (rpgGd)."},
    {.name = "min_factor",
     .type = XOFF_P_REAL,
     .offset = offsetof(struct qcn_rp_params, min_factor),
     .preset = "0.5",
     .min = "0.01",
     .max = "1",
     .help = "Least factor by which a notification multiplies the rate (rpgMinDecFac)."},
    {.name = "min_rate",
     .type = XOFF_P_RATE,
     .offset = offsetof(struct qcn_rp_params, min_rate),
     .preset = "5Mbps",
     .min = "1bps",
     .help = "Rate that no notification cuts below (rpgMinRate)."},
    {.name = "jitter",
     .type = XOFF_P_REAL,
     .offset = offsetof(struct qcn_rp_params, jitter),
     .preset = "0",
     .min = "0",
     .max = "0.99",
     .help =
         "Largest deviation of a reload of timer or byte counter from its value, as a fraction; "
         "0.15 is in use."},
    {0},
};

static int qcn_rp_check(const struct qcn_rp_params *p, struct xoff_err *err)
{
    if (p->timer <= 0)
        return xoff_err_set(err, XOFF_E_RANGE, "timer", NULL, "a timer needs a time > 0");
    if (p->byte_counter <= 0)
        return xoff_err_set(err, XOFF_E_RANGE, "byte_counter", NULL, "a counter needs bytes > 0");
    if (p->threshold <= 0)
        return xoff_err_set(err, XOFF_E_RANGE, "threshold", NULL, "the least threshold is 1");
    if (!(p->gd > 0 && p->gd <= 1)) /* a NaN is refused, too */
        return xoff_err_set(err, XOFF_E_RANGE, "gd", NULL, "a gain is above 0 and at most 1");
    if (!(p->min_factor > 0 && p->min_factor <= 1))
        return xoff_err_set(err, XOFF_E_RANGE, "min_factor", NULL,
                            "a factor is above 0 and at most 1");
    if (!(p->jitter >= 0 && p->jitter < 1))
        return xoff_err_set(err, XOFF_E_RANGE, "jitter", NULL, "a fraction is from 0 to below 1");
    return 0;
}

static int qcn_rp_configure(const void *params, const struct xoff_rp_env *env, void *cfg,
                            struct xoff_rp_shape *shape, struct xoff_err *err)
{
    const struct qcn_rp_params *p = params;
    struct qcn_rp_cfg *c = cfg;
    shape->state_size = sizeof(struct qcn_rp);
    int code = qcn_rp_check(p, err);
    if (!code)
        code = rate_check_floor((xoff_rate)p->min_rate, env->rate_bps, err);
    if (code)
        return code;
    *c = (struct qcn_rp_cfg){
        .line_bps = env->rate_bps,
        .min_bps = (xoff_rate)p->min_rate,
        .ai_bps = (xoff_rate)p->ai,
        .hai_bps = (xoff_rate)p->hai,
        .gd = (uint64_t)(p->gd * 0x1p32 + 0.5),
        .min_factor = (uint64_t)(p->min_factor * 0x1p32 + 0.5),
        .jitter = (uint64_t)(p->jitter * 0x1p32),
        .timer_for = p->timer,
        .counter_bytes = p->byte_counter,
        .threshold = (uint32_t)p->threshold + (p->recovery == QCN_PROSE),
    };
    return 0;
}

static void qcn_rp_answer(const struct qcn_rp *s, struct xoff_rp_answer *answer)
{
    answer->rate_bps = s->is_limited ? s->current_bps : XOFF_RP_LINE_RATE;
    answer->deadline = s->is_limited ? s->timer_at : XOFF_NEVER;
}

static void qcn_rp_init(const void *cfg, void *state, const struct xoff_rp_flow *flow,
                        xoff_time now, struct xoff_rp_answer *answer)
{
    struct qcn_rp *s = state;
    (void)cfg, (void)now;
    *s = (struct qcn_rp){.timer_at = XOFF_NEVER};
    xoff_rng_init(&s->rng, flow->seed, 0, 0);
    answer->window_bytes = XOFF_RP_NO_WINDOW;
    qcn_rp_answer(s, answer);
}

/* The reload times 1 - j + 2 j u, with u uniform; nothing is drawn without jitter. */
static int64_t qcn_reload(const struct qcn_rp_cfg *c, struct qcn_rp *s, int64_t usual)
{
    if (!c->jitter)
        return usual;
    const uint64_t factor =
        QCN_ONE - c->jitter + (2 * c->jitter * xoff_rng_u32(&s->rng) >> QCN_ONE_BITS);
    const int64_t reload = (int64_t)((unsigned __int128)(uint64_t)usual * factor >> QCN_ONE_BITS);
    return reload ? reload : 1;
}

static void qcn_reload_counter(const struct qcn_rp_cfg *c, struct qcn_rp *s)
{
    s->left_bytes = qcn_reload(c, s, c->counter_bytes / (s->phase == QCN_HYPER ? 2 : 1));
}

/* `from` is the expiry, which may lie before now for a flow that was idle. */
static void qcn_restart_timer(const struct qcn_rp_cfg *c, struct qcn_rp *s, xoff_time from)
{
    const xoff_time usual = c->timer_for / (s->phase == QCN_HYPER ? 2 : 1);
    s->timer_at = xoff_time_after(from, qcn_reload(c, s, usual ? usual : 1));
}

static void qcn_adjust(const struct qcn_rp_cfg *c, struct qcn_rp *s, xoff_rate step_bps)
{
    if ((s->byte_stage == 1 || s->time_stage == 1) && s->target_bps > 10 * s->current_bps)
        s->target_bps /= 8;
    else if (step_bps < c->line_bps - s->target_bps)
        s->target_bps += step_bps;
    else
        s->target_bps = c->line_bps;
    s->current_bps = (s->current_bps + s->target_bps) / 2;
    if (s->current_bps + QCN_RATE_UNIT > c->line_bps)
        s->is_limited = false;
}

static void qcn_active(const struct qcn_rp_cfg *c, struct qcn_rp *s)
{
    s->phase = QCN_ACTIVE;
    qcn_adjust(c, s, c->ai_bps);
}

static void qcn_select(const struct qcn_rp_cfg *c, struct qcn_rp *s)
{
    if (s->byte_stage < c->threshold || s->time_stage < c->threshold) {
        qcn_active(c, s);
        return;
    }
    const uint32_t least = s->byte_stage < s->time_stage ? s->byte_stage : s->time_stage;
    const uint64_t n = least - c->threshold + 1;
    s->phase = QCN_HYPER;
    qcn_adjust(c, s, c->hai_bps <= c->line_bps / n ? n * c->hai_bps : c->line_bps);
}

static void qcn_on_counter(const struct qcn_rp_cfg *c, struct qcn_rp *s)
{
    s->byte_stage++;
    qcn_reload_counter(c, s);
    if (s->phase == QCN_FAST && s->byte_stage < c->threshold)
        qcn_adjust(c, s, 0);
    else if (s->phase == QCN_ACTIVE)
        qcn_active(c, s);
    else
        qcn_select(c, s);
}

static void qcn_on_timer(const struct qcn_rp_cfg *c, struct qcn_rp *s)
{
    s->time_stage++;
    qcn_restart_timer(c, s, s->timer_at);
    if (s->phase == QCN_FAST && s->time_stage < c->threshold)
        qcn_adjust(c, s, 0);
    else
        qcn_select(c, s);
}

static void qcn_run_timer(const struct qcn_rp_cfg *c, struct qcn_rp *s, xoff_time now)
{
    while (s->is_limited && s->timer_at <= now)
        qcn_on_timer(c, s);
}

static void qcn_rp_on_notice(const void *cfg, void *state, const struct xoff_notice *notice,
                             xoff_time now, struct xoff_rp_answer *answer)
{
    const struct qcn_rp_cfg *c = cfg;
    struct qcn_rp *s = state;
    if (notice->kind != XOFF_NOTICE_QCN || notice->feedback >= 0)
        return;
    qcn_run_timer(c, s, now);
    const bool is_new = !s->is_limited;
    if (is_new) {
        s->is_limited = true;
        s->current_bps = s->target_bps = c->line_bps;
        s->byte_stage = 0;
    }
    s->phase = QCN_FAST;
    if (s->byte_stage)
        s->target_bps = s->current_bps;
    if (s->byte_stage || is_new)
        qcn_reload_counter(c, s);
    s->byte_stage = s->time_stage = 0;
    const uint64_t cut = c->gd * (uint64_t) - (int64_t)notice->feedback;
    const uint64_t factor = cut < QCN_ONE - c->min_factor ? QCN_ONE - cut : c->min_factor;
    s->current_bps = (xoff_rate)((unsigned __int128)s->current_bps * factor >> QCN_ONE_BITS);
    if (s->current_bps < c->min_bps)
        s->current_bps = c->min_bps;
    qcn_restart_timer(c, s, now);
    qcn_rp_answer(s, answer);
}

static void qcn_rp_on_sent(const void *cfg, void *state, uint32_t frame_bytes, xoff_time now,
                           struct xoff_rp_answer *answer)
{
    const struct qcn_rp_cfg *c = cfg;
    struct qcn_rp *s = state;
    if (!s->is_limited)
        return;
    s->left_bytes -= frame_bytes;
    if (s->left_bytes > 0)
        return;
    qcn_run_timer(c, s, now);
    if (s->is_limited)
        qcn_on_counter(c, s);
    qcn_rp_answer(s, answer);
}

static void qcn_rp_expire(const void *cfg, void *state, xoff_time now,
                          struct xoff_rp_answer *answer)
{
    qcn_run_timer(cfg, state, now);
    qcn_rp_answer(state, answer);
}

const struct xoff_rp_ops xoff_rp_qcn = {
    .name = "qcn",
    .summary = "a rate limiter per flow, cut by the notifications of QCN (802.1Qau)",
    .params = qcn_rp_table,
    .params_size = sizeof(struct qcn_rp_params),
    .cfg_size = sizeof(struct qcn_rp_cfg),
    .marking = "qcn",
    .np = "echo",
    .rel = "datagram",
    .tag_bytes = XOFF_CN_TAG_BYTES,
    .configure = qcn_rp_configure,
    .init = qcn_rp_init,
    .on_notice = qcn_rp_on_notice,
    .on_sent = qcn_rp_on_sent,
    .expire = qcn_rp_expire,
};
