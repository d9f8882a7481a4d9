/* E2CM's reaction point (extended Ethernet congestion management): a rate limiter per flow, cut by
 * the messages of ECM's congestion points, and moved either way by probes from end to end.
 *
 * Source: public descriptions of the proposal of IBM's Zurich laboratory to IEEE 802.1 (2007),
 * which joins ideas of ECM and FECN: backward messages of congested switches, and probes of limited
 * flows from which a source learns its throughput and its share of the queues on the path; it takes
 * what is more restrictive. The draft was not at hand: the formulas below are chosen, with ECM's
 * rules and gains for both loops. With R the rate and C that of the link,
 *
 *   message (offset, delta)    Fb = -(offset + w delta) / unit, as in ECM
 *     Fb < 0                   R = R (1 + Gd Fb), at least the least rate
 *     Fb > 0                   ignored: switches never raise a rate
 *     (0, 0)                   the flow stops, for a random time of up to `stop_for`; then it has
 *                              `restart` times C
 *
 *   A limited flow sends a probe every `probe_every`, one at a time. When it comes back,
 *
 *     T     = bytes sent between this probe and the one before / time between their returns
 *     Q     = T (round trip - shortest round trip so far)      the flow's own bytes in queues
 *     Fb    = -(offset + w delta) / unit,
 *             offset = Q - Qeq, at most Qeq either way         delta = Q - Q_old, at most 2 Qeq
 *     Fb < 0                   R = R (1 + Gd Fb), at least the least rate
 *     Fb > 0                   R = R + Gi Fb Ru, unless a message came since the probe was sent;
 *                              the limiter is deleted when R reaches C
 *
 * Qeq is that of a flow: flows that share a queue come to have equal parts of it, so equal rates.
 * The first probe of a limiter only shows where to count from. A flow has no limiter, and sends no
 * probes, until its first message with Fb < 0, which finds R = C. A stopped flow sends no probes.
 *
 * Differs: a probe carries no number, so one that is away for longer than `probe_timeout`, after
 * which another is sent, is taken for the other if it still comes back. Differs: throughput is
 * computed by the source, where the receiver may count; that is the same as long as nothing is
 * lost.
 */
#include <xoff/rng.h>

#include "mech/rp/bcn.h"

struct e2cm_rp_params {
    struct bcn_params bcn;
    int64_t qeq, probe_every, probe_timeout;
};

_Static_assert(offsetof(struct e2cm_rp_params, bcn) == 0, "the table counts on it");

struct e2cm_rp_cfg {
    xoff_rate line_bps, min_bps, restart_bps;
    struct bcn_gains gains;
    int64_t qeq_bytes;
    xoff_time stop_for, probe_every, probe_timeout;
};

struct e2cm_rp {
    xoff_rate rate_bps;
    xoff_time timer_at;   /* end of a stop, or when the next probe is due */
    xoff_time probe_at;   /* when the probe that is away was sent */
    xoff_time back_at;    /* when the one before came back */
    xoff_time rtt_least;  /* of all probes */
    uint64_t sent_bytes;  /* by the flow, in all */
    uint64_t probe_bytes; /* sent_bytes when the probe that is away was sent */
    uint64_t back_bytes;  /* the same of the one before */
    int64_t queue_bytes;  /* Q_old */
    struct xoff_rng rng;
    bool is_limited, is_stopped;
    bool is_away;  /* a probe is */
    bool has_back; /* a probe of this limiter has come back */
    bool was_cut;  /* since the probe that is away was sent */
};

_Static_assert(sizeof(struct e2cm_rp) <= 128, "per flow");

static const struct xoff_param e2cm_rp_table[] = {
    BCN_PARAMS,
    {.name = "qeq",
     .type = XOFF_P_BYTES,
     .offset = offsetof(struct e2cm_rp_params, qeq),
     .preset = "3000B",
     .min = "1B",
     .max = "1GB",
     .help = "Bytes that a flow is to have in the queues of its path."},
    {.name = "probe_every",
     .type = XOFF_P_TIME,
     .offset = offsetof(struct e2cm_rp_params, probe_every),
     .preset = "500us",
     .min = "1us",
     .max = "1s",
     .help = "Time from one probe of a limited flow to the next."},
    {.name = "probe_timeout",
     .type = XOFF_P_TIME,
     .offset = offsetof(struct e2cm_rp_params, probe_timeout),
     .preset = "10ms",
     .min = "1us",
     .max = "10s",
     .help = "Time after which a probe that has not come back is given up for lost."},
    {0},
};

static int e2cm_rp_check(const struct e2cm_rp_params *p, struct xoff_err *err)
{
    if (p->qeq <= 0)
        return xoff_err_set(err, XOFF_E_RANGE, "qeq", NULL, "a set point is above 0");
    if (p->probe_every <= 0)
        return xoff_err_set(err, XOFF_E_RANGE, "probe_every", NULL, "a timer needs a time > 0");
    if (p->probe_timeout < p->probe_every)
        return xoff_err_set(err, XOFF_E_CONFLICT, "probe_timeout", NULL,
                            "a probe is given up no earlier than the next is due, probe_every");
    return 0;
}

static int e2cm_rp_configure(const void *params, const struct xoff_rp_env *env, void *cfg,
                             struct xoff_rp_shape *shape, struct xoff_err *err)
{
    const struct e2cm_rp_params *p = params;
    int code = bcn_check(&p->bcn, env->rate_bps, err);
    if (!code)
        code = e2cm_rp_check(p, err);
    if (code)
        return code;
    shape->state_size = sizeof(struct e2cm_rp);
    shape->tag_kind = XOFF_NOTICE_E2CM;
    *(struct e2cm_rp_cfg *)cfg = (struct e2cm_rp_cfg){
        .line_bps = env->rate_bps,
        .min_bps = (xoff_rate)p->bcn.min_rate,
        .restart_bps = bcn_restart(&p->bcn, env->rate_bps),
        .gains = bcn_gains(&p->bcn),
        .qeq_bytes = p->qeq,
        .stop_for = p->bcn.stop_for,
        .probe_every = p->probe_every,
        .probe_timeout = p->probe_timeout,
    };
    return 0;
}

static void e2cm_rp_answer(const struct e2cm_rp *s, struct xoff_rp_answer *answer)
{
    answer->rate_bps = !s->is_limited  ? XOFF_RP_LINE_RATE
                       : s->is_stopped ? XOFF_RP_STOPPED
                                       : s->rate_bps;
    answer->deadline = s->is_limited ? s->timer_at : XOFF_NEVER;
}

static void e2cm_rp_init(const void *cfg, void *state, const struct xoff_rp_flow *flow,
                         xoff_time now, struct xoff_rp_answer *answer)
{
    struct e2cm_rp *s = state;
    (void)cfg, (void)now;
    *s = (struct e2cm_rp){.timer_at = XOFF_NEVER, .rtt_least = XOFF_NEVER};
    xoff_rng_init(&s->rng, flow->seed, 0, 0);
    answer->window_bytes = XOFF_RP_NO_WINDOW;
    answer->limiter = XOFF_RP_NO_LIMITER;
    e2cm_rp_answer(s, answer);
}

/* When the next probe is due: after the one that is away is back or given up, and not now. */
static void e2cm_plan_probe(const struct e2cm_rp_cfg *c, struct e2cm_rp *s, xoff_time now)
{
    const xoff_time at =
        xoff_time_after(s->probe_at, s->is_away ? c->probe_timeout : c->probe_every);
    s->timer_at = at > now ? at : xoff_time_after(now, 1);
}

static void e2cm_on_message(const struct e2cm_rp_cfg *c, struct e2cm_rp *s,
                            const struct xoff_notice *notice, xoff_time now)
{
    const bool is_severe = !notice->queue_offset_bytes && !notice->queue_delta_bytes;
    const int64_t congestion =
        bcn_congestion(&c->gains, notice->queue_offset_bytes, notice->queue_delta_bytes);
    if (s->is_stopped || (congestion <= 0 && !is_severe))
        return;
    if (!s->is_limited) {
        s->is_limited = true;
        s->has_back = false;
        s->rate_bps = c->line_bps;
        if (!s->is_away)
            s->probe_at = now;
        e2cm_plan_probe(c, s, now);
    }
    s->was_cut = true;
    if (is_severe) {
        s->is_stopped = true;
        s->rate_bps = c->restart_bps;
        s->timer_at = xoff_time_after(now, bcn_stop_for(c->stop_for, xoff_rng_u32(&s->rng)));
    } else {
        s->rate_bps = bcn_cut(&c->gains, s->rate_bps, c->min_bps, congestion);
    }
}

static int64_t e2cm_clip(int64_t bytes, int64_t most)
{
    return bytes > most ? most : bytes < -most ? -most : bytes;
}

/* Q by what two probes in turn have shown; more than 4 Qeq is as good as 4 Qeq. */
static int64_t e2cm_queue(const struct e2cm_rp_cfg *c, const struct e2cm_rp *s, xoff_time rtt,
                          xoff_time now)
{
    const uint64_t bytes = s->probe_bytes - s->back_bytes;
    const unsigned __int128 queue =
        (unsigned __int128)bytes * (uint64_t)(rtt - s->rtt_least) / (uint64_t)(now - s->back_at);
    const int64_t most = 4 * c->qeq_bytes;
    return queue < (uint64_t)most ? (int64_t)queue : most;
}

static void e2cm_on_probe(const struct e2cm_rp_cfg *c, struct e2cm_rp *s, xoff_time now)
{
    if (!s->is_away)
        return;
    const xoff_time rtt = now - s->probe_at;
    s->is_away = false;
    if (rtt < s->rtt_least)
        s->rtt_least = rtt;
    if (s->has_back && now > s->back_at) {
        const int64_t queue = e2cm_queue(c, s, rtt, now);
        const int64_t congestion =
            bcn_congestion(&c->gains, e2cm_clip(queue - c->qeq_bytes, c->qeq_bytes),
                           e2cm_clip(queue - s->queue_bytes, 2 * c->qeq_bytes));
        s->queue_bytes = queue;
        if (s->is_limited && !s->is_stopped) {
            const xoff_rate step_bps =
                congestion <= 0 ? bcn_step(&c->gains, congestion, c->line_bps) : 0;
            if (congestion > 0)
                s->rate_bps = bcn_cut(&c->gains, s->rate_bps, c->min_bps, congestion);
            else if (!s->was_cut && step_bps >= c->line_bps - s->rate_bps)
                s->is_limited = false;
            else if (!s->was_cut)
                s->rate_bps += step_bps;
        }
    } else {
        s->queue_bytes = 0;
    }
    s->has_back = true;
    s->back_at = now;
    s->back_bytes = s->probe_bytes;
    if (!s->is_stopped)
        e2cm_plan_probe(c, s, now);
}

static void e2cm_rp_on_notice(const void *cfg, void *state, const struct xoff_notice *notice,
                              xoff_time now, struct xoff_rp_answer *answer)
{
    if (notice->kind == XOFF_NOTICE_ECM)
        e2cm_on_message(cfg, state, notice, now);
    else if (notice->kind == XOFF_NOTICE_E2CM)
        e2cm_on_probe(cfg, state, now);
    e2cm_rp_answer(state, answer);
}

static void e2cm_rp_on_sent(const void *cfg, void *state, uint32_t frame_bytes, xoff_time now,
                            struct xoff_rp_answer *answer)
{
    (void)cfg, (void)now, (void)answer;
    ((struct e2cm_rp *)state)->sent_bytes += frame_bytes;
}

static void e2cm_rp_expire(const void *cfg, void *state, xoff_time now,
                           struct xoff_rp_answer *answer)
{
    const struct e2cm_rp_cfg *c = cfg;
    struct e2cm_rp *s = state;
    if (s->is_limited && s->timer_at <= now) {
        if (s->is_stopped) {
            s->is_stopped = false;
            e2cm_plan_probe(c, s, now);
        } else {
            s->is_away = true;
            s->was_cut = false;
            s->probe_at = now;
            s->probe_bytes = s->sent_bytes;
            e2cm_plan_probe(c, s, now);
            answer->probe = XOFF_RP_PROBE_ALONE;
        }
    }
    e2cm_rp_answer(s, answer);
}

const struct xoff_rp_ops xoff_rp_e2cm = {
    .name = "e2cm",
    .summary = "a rate limiter per flow, cut by ECM's messages and moved by probes (E2CM)",
    .params = e2cm_rp_table,
    .params_size = sizeof(struct e2cm_rp_params),
    .cfg_size = sizeof(struct e2cm_rp_cfg),
    .marking = "ecm",
    .np = "reflect",
    .rel = "datagram",
    .configure = e2cm_rp_configure,
    .init = e2cm_rp_init,
    .on_notice = e2cm_rp_on_notice,
    .on_sent = e2cm_rp_on_sent,
    .expire = e2cm_rp_expire,
};
