/* ECM's reaction point (Ethernet congestion management by backward congestion notification, BCN): a
 * rate limiter per flow, moved by the messages of one congestion point.
 *
 * Source: public descriptions of the proposal to IEEE 802.1 (Bergamasco et al., 2005 to 2007) and
 * their defaults; the drafts were not at hand. With R the rate, C that of the link, and a message
 * (offset, delta) of congestion point P,
 *
 *   Fb = -(offset + w delta) / unit                           negative means congestion
 *   Fb < 0               R = R (1 + Gd Fb), at least the least rate; P limits the flow from now on
 *   Fb > 0 from the P    R = R + Gi Fb Ru; the limiter is deleted when R reaches C
 *   that limits the flow
 *   (0, 0)               severe congestion: the flow stops; after a random time of up to `stop_for`
 *                        it goes on with `restart` times C. P limits it
 *   every `drift_every`  R = R + drift, if drift is above 0
 *
 * A flow has no limiter until its first message with Fb < 0, which finds R = C; positive feedback
 * without a limiter, or of another point, is ignored. While a flow is limited its data carries a
 * rate-regulation tag that names P. Messages that arrive while the flow is stopped are about frames
 * sent before, and are ignored.
 *
 * Differs: every flow has its own limiter. Differs: a stopped flow may send the frame that was
 * already waiting for the wire. The drift is off unless the scenario asks for it: without it a
 * limiter whose point hears no more of the flow stays for ever.
 */
#include <xoff/rng.h>

#include "mech/rp/bcn.h"

struct ecm_rp_params {
    struct bcn_params bcn;
    int64_t drift, drift_every;
};

_Static_assert(offsetof(struct ecm_rp_params, bcn) == 0, "the table counts on it");

struct ecm_rp_cfg {
    xoff_rate line_bps, min_bps, restart_bps, drift_bps;
    struct bcn_gains gains;
    xoff_time stop_for, drift_for;
};

struct ecm_rp {
    xoff_rate rate_bps;
    uint64_t cp_id;     /* the point that limits the flow */
    xoff_time timer_at; /* end of a stop, or next step of the drift */
    struct xoff_rng rng;
    bool is_limited, is_stopped;
};

_Static_assert(sizeof(struct ecm_rp) <= 128, "per flow");

static const struct xoff_param ecm_rp_table[] = {
    BCN_PARAMS,
    {.name = "drift",
     .type = XOFF_P_RATE,
     .offset = offsetof(struct ecm_rp_params, drift),
     .preset = "0bps",
     .help = "Rate that a limited flow gains by itself every drift_every."},
    {.name = "drift_every",
     .type = XOFF_P_TIME,
     .offset = offsetof(struct ecm_rp_params, drift_every),
     .preset = "1ms",
     .min = "1us",
     .max = "10s",
     .help = "Time from one step of the drift to the next."},
    {0},
};

static int ecm_rp_configure(const void *params, const struct xoff_rp_env *env, void *cfg,
                            struct xoff_rp_shape *shape, struct xoff_err *err)
{
    const struct ecm_rp_params *p = params;
    struct ecm_rp_cfg *c = cfg;
    shape->state_size = sizeof(struct ecm_rp);
    const int code = bcn_check(&p->bcn, env->rate_bps, err);
    if (code)
        return code;
    if (p->drift_every <= 0)
        return xoff_err_set(err, XOFF_E_RANGE, "drift_every", NULL, "a timer needs a time > 0");
    *c = (struct ecm_rp_cfg){
        .line_bps = env->rate_bps,
        .min_bps = (xoff_rate)p->bcn.min_rate,
        .restart_bps = bcn_restart(&p->bcn, env->rate_bps),
        .drift_bps = (xoff_rate)p->drift,
        .gains = bcn_gains(&p->bcn),
        .stop_for = p->bcn.stop_for,
        .drift_for = p->drift_every,
    };
    return 0;
}

static void ecm_rp_answer(const struct ecm_rp *s, struct xoff_rp_answer *answer)
{
    answer->rate_bps = !s->is_limited  ? XOFF_RP_LINE_RATE
                       : s->is_stopped ? XOFF_RP_STOPPED
                                       : s->rate_bps;
    answer->deadline = s->is_limited ? s->timer_at : XOFF_NEVER;
    answer->limiter = s->is_limited ? (uint32_t)s->cp_id : XOFF_RP_NO_LIMITER;
}

static void ecm_rp_init(const void *cfg, void *state, const struct xoff_rp_flow *flow,
                        xoff_time now, struct xoff_rp_answer *answer)
{
    struct ecm_rp *s = state;
    (void)cfg, (void)now;
    *s = (struct ecm_rp){.timer_at = XOFF_NEVER};
    xoff_rng_init(&s->rng, flow->seed, 0, 0);
    answer->window_bytes = XOFF_RP_NO_WINDOW;
    ecm_rp_answer(s, answer);
}

static void ecm_raise(const struct ecm_rp_cfg *c, struct ecm_rp *s, uint64_t step_bps)
{
    if (step_bps >= c->line_bps - s->rate_bps)
        s->is_limited = false;
    else
        s->rate_bps += step_bps;
}

static xoff_time ecm_drift_after(const struct ecm_rp_cfg *c, xoff_time from)
{
    return c->drift_bps ? xoff_time_after(from, c->drift_for) : XOFF_NEVER;
}

/* Applies what is due by now; the flow may have been idle for long. */
static void ecm_run_timer(const struct ecm_rp_cfg *c, struct ecm_rp *s, xoff_time now)
{
    while (s->is_limited && s->timer_at <= now) {
        if (s->is_stopped)
            s->is_stopped = false;
        else
            ecm_raise(c, s, c->drift_bps);
        s->timer_at = ecm_drift_after(c, s->timer_at);
    }
}

static void ecm_stop(const struct ecm_rp_cfg *c, struct ecm_rp *s, xoff_time now)
{
    s->is_stopped = true;
    s->rate_bps = c->restart_bps;
    s->timer_at = xoff_time_after(now, bcn_stop_for(c->stop_for, xoff_rng_u32(&s->rng)));
}

static void ecm_rp_on_notice(const void *cfg, void *state, const struct xoff_notice *notice,
                             xoff_time now, struct xoff_rp_answer *answer)
{
    const struct ecm_rp_cfg *c = cfg;
    struct ecm_rp *s = state;
    if (notice->kind != XOFF_NOTICE_ECM)
        return;
    ecm_run_timer(c, s, now);
    const int64_t congestion =
        bcn_congestion(&c->gains, notice->queue_offset_bytes, notice->queue_delta_bytes);
    const bool is_severe = !notice->queue_offset_bytes && !notice->queue_delta_bytes;
    if (congestion > 0 || is_severe) {
        if (!s->is_limited) {
            *s = (struct ecm_rp){.rate_bps = c->line_bps,
                                 .timer_at = ecm_drift_after(c, now),
                                 .rng = s->rng,
                                 .is_limited = true};
        }
        if (!s->is_stopped) {
            XOFF_ASSERT(notice->cp_id < XOFF_RP_NO_LIMITER);
            s->cp_id = notice->cp_id;
            if (is_severe)
                ecm_stop(c, s, now);
            else
                s->rate_bps = bcn_cut(&c->gains, s->rate_bps, c->min_bps, congestion);
        }
    } else if (s->is_limited && !s->is_stopped && notice->cp_id == s->cp_id) {
        ecm_raise(c, s, bcn_step(&c->gains, congestion, c->line_bps));
    }
    ecm_rp_answer(s, answer);
}

static void ecm_rp_expire(const void *cfg, void *state, xoff_time now,
                          struct xoff_rp_answer *answer)
{
    ecm_run_timer(cfg, state, now);
    ecm_rp_answer(state, answer);
}

const struct xoff_rp_ops xoff_rp_ecm = {
    .name = "ecm",
    .summary = "a rate limiter per flow, moved by one point's messages (ECM, BCN)",
    .params = ecm_rp_table,
    .params_size = sizeof(struct ecm_rp_params),
    .cfg_size = sizeof(struct ecm_rp_cfg),
    .marking = "ecm",
    .np = "echo",
    .rel = "datagram",
    .tag_bytes = XOFF_RRT_BYTES,
    .configure = ecm_rp_configure,
    .init = ecm_rp_init,
    .on_notice = ecm_rp_on_notice,
    .expire = ecm_rp_expire,
};
