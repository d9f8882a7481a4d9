/* PowerTCP and theta-PowerTCP: window from the "power" of the bottleneck, its current (rate of
 * arrivals) times its voltage (bytes in the pipe and in the queue).
 *
 * Source: Addanki, Michel, Schmid: PowerTCP: Pushing the Performance Limits of Datacenter Networks,
 * NSDI 2022, 3 and algorithms 1 and 2. tau is the base RTT. With telemetry, for each hop of
 * bandwidth b, between the records of two ACKs dt apart:
 *
 *   lambda = dq/dt + txRate                   nu    = q + b tau
 *   Gamma  = lambda nu                        norm  = Gamma / (b^2 tau)
 *
 * and of all hops the largest norm counts. theta-PowerTCP knows only RTTs, and takes
 *
 *   norm   = (dRTT/dt + 1) RTT / tau
 *
 * Either is smoothed, dt being at most tau, and sets the window and the rate:
 *
 *   Gs = (Gs (tau - dt) + norm dt) / tau
 *   w  = gamma (w_old / Gs + beta) + (1 - gamma) w       beta = line rate * tau / N
 *   R  = w / tau
 *
 * PowerTCP does so at every ACK, theta-PowerTCP measures at every ACK and changes the window at
 * the first ACK for a byte sent after the last change. w_old is the window when the acknowledged
 * frame was sent; for theta-PowerTCP this is w itself. PowerTCP notes (next byte to send, w) about
 * every quarter of the bytes outstanding, and an ACK takes the last note from before its frame.
 *
 * A flow starts with w = line rate * tau and Gs = 1, the power of a full link without a queue. Its
 * first ACK only leaves a record. With telemetry the same holds for an ACK over another path, and
 * for one after a silence so long that counters may have wrapped. An ACK without telemetry (for
 * theta: without an RTT) changes nothing; neither do losses.
 *
 * At rest n flows through one bottleneck b of the host's rate keep a queue of n beta = b tau n/N.
 *
 * Differs: w is kept between min_rate * tau and line rate * tau; the paper gives no bounds, and an
 * almost idle path (Gs near 0) would lift w without end. Differs: w_old comes from notes a quarter
 * of a round trip apart, not from one per frame (state would grow with the window) and not from one
 * per round trip (flows then answer to windows they no longer have, and the queue swings between
 * nothing and more than a bandwidth-delay product). Differs: where w is below one frame the
 * window answered is one payload; the rate keeps the flow at w / tau. Differs: norm is never below
 * 0 (the queue is known in whole units only), and dRTT/dt + 1 never below 0.5, as in the published
 * code: an RTT that falls as fast as time passes means that a queue drains, not that the link is
 * idle. Differs from the published simulation code: that works on rates, takes arrivals as half the
 * line rate at least, divides Gs by a target of 0.95, adds 150 Mb/s whatever the link, and for
 * theta-PowerTCP uses gamma 0.7 and 1.05 tau.
 */
#include "mech/rp/rates.h"

struct power_params {
    double gamma;
    int64_t flows;
    int64_t min_rate;
    int64_t rtt;
};

struct power_cfg {
    double gamma;
    double line_rate, beta_rate, min_rate; /* bytes per nanosecond; beta_rate: beta / tau */
    xoff_rate line_bps;
    xoff_time rtt; /* XOFF_PARAM_AUTO: the flow's own */
    uint32_t payload_bytes;
};

/* The window and what sets it; both variants have this. */
struct power {
    double tau_ns;
    double window_bytes; /* w */
    double smoothed;     /* Gs */
};

#define POWER_NOTES_PER_WINDOW 4
#define POWER_NOTES 6 /* notes waiting for their ACK; while all are in use, no note is made */

/* Bytes from `seq` (modulo 2^32) were sent under this window or a later one. */
struct power_note {
    uint32_t seq;
    float window_bytes;
};

struct powertcp_state {
    struct power power;
    struct xoff_int record;               /* the record of the last ACK; no hops: none yet */
    xoff_time record_at;                  /* when that ACK came */
    struct power_note notes[POWER_NOTES]; /* a ring of n_notes from first_note */
    uint8_t first_note, n_notes;
    float old_bytes; /* w_old, from the last note before the acknowledged byte */
};
_Static_assert(sizeof(struct powertcp_state) <= 160, "a host may have many flows");

struct theta_state {
    struct power power;
    xoff_time rtt;            /* that of the last ACK; 0: none yet */
    xoff_time rtt_at;         /* when that ACK came */
    uint64_t last_update_seq; /* an ACK beyond it changes the window */
};

static const struct xoff_param power_table[] = {
    {.name = "gamma",
     .type = XOFF_P_REAL,
     .offset = offsetof(struct power_params, gamma),
     .preset = "0.9",
     .min = "0.001",
     .max = "1",
     .help = "Weight of the new window against the present one."},
    {.name = "flows",
     .type = XOFF_P_INT,
     .offset = offsetof(struct power_params, flows),
     .preset = "100",
     .min = "1",
     .max = "1000000",
     .help = "N, flows expected to share a link: the additive increase is line rate * rtt / N, and "
             "n flows keep n/N of a bandwidth-delay product queued."},
    {.name = "min_rate",
     .type = XOFF_P_RATE,
     .offset = offsetof(struct power_params, min_rate),
     .preset = "auto",
     .min = "1kbps",
     .allows_auto = true,
     .help = "Least rate of a flow; auto: a thousandth of the host's link."},
    {.name = "rtt",
     .type = XOFF_P_TIME,
     .offset = offsetof(struct power_params, rtt),
     .preset = "auto",
     .min = "1ns",
     .max = "1s",
     .allows_auto = true,
     .help = "tau, the RTT without queues; auto: of each flow's own path."},
    {0},
};

#define POWER_MIN_PART 1000
#define THETA_LEAST 0.5 /* lower bound of dRTT/dt + 1 */
#define BPS_PER_BYTE_NS 8e9

static int power_configure(const void *params, const struct xoff_rp_env *env, void *cfg,
                           struct xoff_rp_shape *shape, struct xoff_err *err)
{
    const struct power_params *p = params;
    struct power_cfg *c = cfg;
    shape->state_size = sizeof(struct powertcp_state);
    const double line_bps = (double)env->rate_bps;
    const xoff_rate min_bps = rate_or_part(p->min_rate, env->rate_bps, POWER_MIN_PART);
    if (!(p->gamma > 0 && p->gamma <= 1)) /* a NaN is refused, too */
        return xoff_err_set(err, XOFF_E_RANGE, "gamma", NULL, "a weight above 0, up to 1");
    if (p->flows < 1)
        return xoff_err_set(err, XOFF_E_RANGE, "flows", NULL, "at least 1");
    const int code = rate_check_floor(min_bps, env->rate_bps, err);
    if (code)
        return code;
    *c = (struct power_cfg){
        .gamma = p->gamma,
        .line_rate = line_bps / BPS_PER_BYTE_NS,
        .beta_rate = line_bps / BPS_PER_BYTE_NS / (double)p->flows,
        .min_rate = (double)min_bps / BPS_PER_BYTE_NS,
        .line_bps = env->rate_bps,
        .rtt = p->rtt,
        .payload_bytes = env->payload_bytes,
    };
    return 0;
}

static void power_answer(const struct power_cfg *c, const struct power *power,
                         struct xoff_rp_answer *answer)
{
    const uint64_t window = (uint64_t)power->window_bytes;
    const double rate = power->window_bytes / power->tau_ns; /* R = w / tau */
    answer->window_bytes = window > c->payload_bytes ? window : c->payload_bytes;
    answer->rate_bps =
        rate < c->line_rate ? (xoff_rate)(rate * BPS_PER_BYTE_NS + 0.5) : c->line_bps;
}

static void power_start(const struct power_cfg *c, struct power *power,
                        const struct xoff_rp_flow *flow, struct xoff_rp_answer *answer)
{
    const xoff_time tau = c->rtt == XOFF_PARAM_AUTO ? flow->base_rtt : c->rtt;
    XOFF_ASSERT(tau > 0);
    const double tau_ns = (double)tau / (double)XOFF_NS;
    *power = (struct power){
        .tau_ns = tau_ns,
        .window_bytes = c->line_rate * tau_ns,
        .smoothed = 1,
    };
    answer->deadline = XOFF_NEVER;
    power_answer(c, power, answer);
}

/* Gs = (Gs (tau - dt) + norm dt) / tau */
static void power_smooth(struct power *power, double norm, double dt_ns)
{
    const double share = dt_ns < power->tau_ns ? dt_ns / power->tau_ns : 1;
    power->smoothed = (1 - share) * power->smoothed + share * (norm > 0 ? norm : 0);
}

/* w = gamma (w_old / Gs + beta) + (1 - gamma) w, bounded */
static void power_update(const struct power_cfg *c, struct power *power, double old_bytes)
{
    const double least = c->min_rate * power->tau_ns, most = c->line_rate * power->tau_ns;
    const double beta = c->beta_rate * power->tau_ns;
    double w = most; /* with no power at all, the path is idle */
    if (power->smoothed > 0)
        w = c->gamma * (old_bytes / power->smoothed + beta) + (1 - c->gamma) * power->window_bytes;
    power->window_bytes = w < least ? least : w < most ? w : most;
}

static void powertcp_init(const void *cfg, void *state, const struct xoff_rp_flow *flow,
                          xoff_time now, struct xoff_rp_answer *answer)
{
    struct powertcp_state *s = state;
    (void)now;
    *s = (struct powertcp_state){0};
    power_start(cfg, &s->power, flow, answer);
    s->old_bytes = (float)s->power.window_bytes;
}

/* Takes the notes that an ACK up to `acked_to` reaches. Differences are signed: the ring spans far
 * less than 2^31 bytes, and after the sender has gone back, some notes are ahead of what is sent.
 */
static void powertcp_recall(struct powertcp_state *s, uint64_t acked_to)
{
    while (s->n_notes > 0 && (int32_t)((uint32_t)acked_to - s->notes[s->first_note].seq) > 0) {
        s->old_bytes = s->notes[s->first_note].window_bytes;
        s->first_note = (uint8_t)((s->first_note + 1) % POWER_NOTES);
        s->n_notes--;
    }
}

static void powertcp_note(struct powertcp_state *s, uint64_t sent_to, uint64_t outstanding_bytes)
{
    if (s->n_notes == POWER_NOTES)
        return;
    if (s->n_notes > 0) {
        const uint32_t last = (s->first_note + s->n_notes - 1u) % POWER_NOTES;
        const int32_t since_bytes = (int32_t)((uint32_t)sent_to - s->notes[last].seq);
        if (since_bytes <= 0 || (uint64_t)since_bytes < outstanding_bytes / POWER_NOTES_PER_WINDOW)
            return;
    }
    s->notes[(s->first_note + s->n_notes) % POWER_NOTES] = (struct power_note){
        .seq = (uint32_t)sent_to,
        .window_bytes = (float)s->power.window_bytes,
    };
    s->n_notes++;
}

/* Smooths the largest normalised power of any hop. False: no hop had news. */
static bool powertcp_measure(struct powertcp_state *s, const struct xoff_int *record)
{
    double norm = 0, dt_ns = 0;
    for (uint32_t i = 0; i < record->n; i++) {
        struct xoff_int_change hop;
        if (!xoff_int_measure(&s->record.hop[i], &record->hop[i], &hop))
            continue;
        s->record.hop[i] = record->hop[i];
        const double b = (double)hop.rate_bps / BPS_PER_BYTE_NS;
        const double pipe = b * s->power.tau_ns;
        /* lambda = dq/dt + txRate, nu = q + b tau, norm = lambda nu / (b^2 tau) */
        const int64_t arrived_bytes = hop.queue_bytes - hop.earlier_queue_bytes + hop.tx_bytes;
        const double lambda = (double)arrived_bytes / hop.span_ns;
        const double norm_hop = lambda * ((double)hop.queue_bytes + pipe) / (b * pipe);
        if (dt_ns == 0 || norm_hop > norm) {
            norm = norm_hop;
            dt_ns = hop.span_ns;
        }
    }
    if (dt_ns == 0)
        return false;
    power_smooth(&s->power, norm, dt_ns);
    return true;
}

static void powertcp_on_ack(const void *cfg, void *state, const struct xoff_rp_ack *ack,
                            xoff_time now, struct xoff_rp_answer *answer)
{
    struct powertcp_state *s = state;
    struct power *power = &s->power;
    const struct xoff_int *record = ack->telemetry;
    if (!record || record->n == 0)
        return;
    const bool is_comparable = xoff_int_is_comparable(&s->record, record, now - s->record_at);
    s->record_at = now;
    if (!is_comparable) {
        s->record = *record;
        power->smoothed = 1;
        return;
    }
    if (!powertcp_measure(s, record))
        return;
    powertcp_recall(s, ack->acked_to);
    power_update(cfg, power, s->old_bytes);
    powertcp_note(s, ack->sent_to, ack->outstanding_bytes);
    power_answer(cfg, power, answer);
}

static void theta_init(const void *cfg, void *state, const struct xoff_rp_flow *flow, xoff_time now,
                       struct xoff_rp_answer *answer)
{
    struct theta_state *s = state;
    (void)now;
    *s = (struct theta_state){0};
    power_start(cfg, &s->power, flow, answer);
}

static void theta_on_ack(const void *cfg, void *state, const struct xoff_rp_ack *ack, xoff_time now,
                         struct xoff_rp_answer *answer)
{
    struct theta_state *s = state;
    struct power *power = &s->power;
    if (ack->rtt == 0)
        return;
    if (s->rtt == 0) {
        s->rtt = ack->rtt;
        s->rtt_at = now;
        s->last_update_seq = ack->sent_to;
        return;
    }
    if (now == s->rtt_at) /* no time has passed to measure over */
        return;
    /* norm = (dRTT/dt + 1) RTT / tau */
    const double dt_ns = (double)(now - s->rtt_at) / (double)XOFF_NS;
    const double rtt_ns = (double)ack->rtt / (double)XOFF_NS;
    const double current = (double)(ack->rtt - s->rtt) / (double)XOFF_NS / dt_ns + 1;
    power_smooth(power, (current > THETA_LEAST ? current : THETA_LEAST) * rtt_ns / power->tau_ns,
                 dt_ns);
    s->rtt = ack->rtt;
    s->rtt_at = now;
    if (ack->acked_to <= s->last_update_seq)
        return;
    power_update(cfg, power, power->window_bytes);
    s->last_update_seq = ack->sent_to;
    power_answer(cfg, power, answer);
}

static int theta_configure(const void *params, const struct xoff_rp_env *env, void *cfg,
                           struct xoff_rp_shape *shape, struct xoff_err *err)
{
    const int code = power_configure(params, env, cfg, shape, err);
    shape->state_size = sizeof(struct theta_state);
    return code;
}

const struct xoff_rp_ops xoff_rp_powertcp = {
    .name = "powertcp",
    .summary = "window by the power of the bottleneck, from in-band telemetry",
    .params = power_table,
    .params_size = sizeof(struct power_params),
    .cfg_size = sizeof(struct power_cfg),
    .marking = "int",
    .np = "int",
    .rel = "go-back-n",
    .needs_acks = true,
    .configure = power_configure,
    .init = powertcp_init,
    .on_ack = powertcp_on_ack,
};

const struct xoff_rp_ops xoff_rp_theta_powertcp = {
    .name = "theta-powertcp",
    .summary = "window by the power of the bottleneck, estimated from RTTs alone",
    .params = power_table,
    .params_size = sizeof(struct power_params),
    .cfg_size = sizeof(struct power_cfg),
    .marking = "none",
    .np = "echo",
    .rel = "go-back-n",
    .needs_acks = true,
    .configure = theta_configure,
    .init = theta_init,
    .on_ack = theta_on_ack,
};
