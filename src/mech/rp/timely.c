/* TIMELY: the rate of a flow follows the gradient of its round-trip time.
 *
 * Source: Mittal et al., "TIMELY: RTT-based congestion control for the datacenter", SIGCOMM 2015,
 * algorithm 1, in the form of the ns-3 RDMA family. Once per round trip, with the RTT of the frame
 * that was acknowledged:
 *
 *   d = (1 - alpha) d + alpha (rtt - rtt_before)     smoothed difference
 *   g = d / min_rtt                                  gradient
 *   rtt < t_low:    R += step
 *   rtt > t_high:   R *= 1 - beta (1 - t_high / rtt)
 *   else g <= 0:    R += step
 *   else            R *= 1 - beta g
 *
 * The step is `delta` for the first five rises in a row and `hai` from the sixth (hyperactive
 * increase); a cut starts the count again. A round trip has passed when a byte is acknowledged that
 * was sent after the last update: acked_to > update_to, and update_to becomes what was sent by now.
 * The first RTT only gives rtt_before. R starts at the link's rate and stays within min_rate and
 * the link's rate; there is no window. Losses do not count: the queue that made them was in the
 * RTT.
 *
 * Differs: the paper updates at each completion of a segment of 16 to 64 KB; here, as in the ns-3
 * family, once per round trip, which needs no notion of segments. Differs: the paper counts only
 * rises by the gradient towards hyperactive increase and always adds delta below t_low; here all
 * rises count and take the same step. Differs: the paper starts at a share of the link that depends
 * on the flows of the host. Differs: the factor 1 - beta g is held at 0 from below (g may pass
 * 1 / beta when a queue fills within a round trip), so R falls to min_rate at worst.
 */
#include "mech/rp/rates.h"

#define TIMELY_RISES_BEFORE_HAI 5

struct timely_params {
    int64_t t_low, t_high, min_rtt;
    double alpha, beta;
    int64_t delta, hai, min_rate;
};

struct timely_cfg {
    xoff_time t_low, t_high;
    xoff_time min_rtt; /* 0: the flow's own base RTT */
    double alpha, beta;
    xoff_rate delta_bps, hai_bps, min_rate_bps, max_rate_bps;
};

struct timely_state {
    uint64_t update_to; /* bytes sent when the rate was last updated */
    xoff_time rtt;      /* at the last update; 0: none yet */
    double rtt_diff;    /* d, ps */
    double min_rtt;     /* ps */
    xoff_rate rate_bps;
    uint64_t n_rises; /* rises in a row */
};

static const struct xoff_param timely_table[] = {
    {.name = "t_low",
     .type = XOFF_P_TIME,
     .offset = offsetof(struct timely_params, t_low),
     .preset = "50us",
     .help = "RTT below which the rate rises whatever the gradient."},
    {.name = "t_high",
     .type = XOFF_P_TIME,
     .offset = offsetof(struct timely_params, t_high),
     .preset = "500us",
     .min = "1ps",
     .help = "RTT above which the rate is cut whatever the gradient."},
    {.name = "min_rtt",
     .type = XOFF_P_TIME,
     .offset = offsetof(struct timely_params, min_rtt),
     .preset = "20us",
     .min = "1ps",
     .allows_auto = true,
     .help = "RTT difference that makes a gradient of 1; auto: the RTT of the flow's path when "
             "nothing queues."},
    {.name = "alpha",
     .type = XOFF_P_REAL,
     .offset = offsetof(struct timely_params, alpha),
     .preset = "0.875",
     .min = "0",
     .max = "1",
     .help = "Weight of the newest RTT difference in the smoothed one."},
    {.name = "beta",
     .type = XOFF_P_REAL,
     .offset = offsetof(struct timely_params, beta),
     .preset = "0.8",
     .min = "0",
     .max = "1",
     .help = "Strength of a cut."},
    {.name = "delta",
     .type = XOFF_P_RATE,
     .offset = offsetof(struct timely_params, delta),
     .preset = "auto",
     .allows_auto = true,
     .help = "What a rise adds to the rate; auto: 10Mbps per 10Gbps of the link."},
    {.name = "hai",
     .type = XOFF_P_RATE,
     .offset = offsetof(struct timely_params, hai),
     .preset = "auto",
     .allows_auto = true,
     .help = "What a rise adds after five rises in a row; auto: 5 times delta."},
    {.name = "min_rate",
     .type = XOFF_P_RATE,
     .offset = offsetof(struct timely_params, min_rate),
     .preset = "auto",
     .min = "1bps",
     .allows_auto = true,
     .help = "Rate below which no cut goes; auto: 10Mbps per 10Gbps of the link."},
    {0},
};

/* 10 Mb/s per 10 Gb/s, at least 1 bit/s. */
static xoff_rate timely_part(xoff_rate rate_bps)
{
    return rate_bps >= 1000 ? rate_bps / 1000 : 1;
}

static int timely_configure(const void *params, const struct xoff_rp_env *env, void *cfg,
                            struct xoff_rp_shape *shape, struct xoff_err *err)
{
    const struct timely_params *p = params;
    struct timely_cfg *c = cfg;
    shape->state_size = sizeof(struct timely_state);
    const xoff_rate part_bps = timely_part(env->rate_bps);
    const xoff_rate delta_bps = p->delta == XOFF_PARAM_AUTO ? part_bps : (xoff_rate)p->delta;
    const xoff_rate min_rate_bps =
        p->min_rate == XOFF_PARAM_AUTO ? part_bps : (xoff_rate)p->min_rate;
    char text[32];
    if (p->t_low > p->t_high) {
        const int conflict = xoff_err_set(err, XOFF_E_CONFLICT, "t_low",
                                          xoff_format_time(text, sizeof text, p->t_low),
                                          "TIMELY needs t_low <= t_high, and t_high is ");
        xoff_err_add(err, xoff_format_time(text, sizeof text, p->t_high));
        return conflict;
    }
    const int code = rate_check_floor(min_rate_bps, env->rate_bps, err);
    if (code)
        return code;
    if (!(p->alpha >= 0 && p->alpha <= 1)) /* a NaN is refused, too */
        return xoff_err_set(err, XOFF_E_RANGE, "alpha", NULL, "a weight is from 0 to 1");
    if (!(p->beta >= 0 && p->beta <= 1))
        return xoff_err_set(err, XOFF_E_RANGE, "beta", NULL, "the cut's strength is from 0 to 1");
    *c = (struct timely_cfg){
        .t_low = p->t_low,
        .t_high = p->t_high,
        .min_rtt = p->min_rtt == XOFF_PARAM_AUTO ? 0 : p->min_rtt,
        .alpha = p->alpha,
        .beta = p->beta,
        .delta_bps = delta_bps,
        .hai_bps = p->hai == XOFF_PARAM_AUTO ? 5 * delta_bps : (xoff_rate)p->hai,
        .min_rate_bps = min_rate_bps,
        .max_rate_bps = env->rate_bps,
    };
    return 0;
}

static void timely_init(const void *cfg, void *state, const struct xoff_rp_flow *flow,
                        xoff_time now, struct xoff_rp_answer *answer)
{
    const struct timely_cfg *c = cfg;
    struct timely_state *s = state;
    const xoff_time min_rtt = c->min_rtt ? c->min_rtt : flow->base_rtt;
    (void)now;
    XOFF_ASSERT(min_rtt > 0);
    *s = (struct timely_state){.min_rtt = (double)min_rtt, .rate_bps = c->max_rate_bps};
    *answer = (struct xoff_rp_answer){
        .rate_bps = s->rate_bps,
        .window_bytes = XOFF_RP_NO_WINDOW,
        .deadline = XOFF_NEVER,
    };
}

static void timely_rise(const struct timely_cfg *c, struct timely_state *s)
{
    const xoff_rate step_bps = s->n_rises < TIMELY_RISES_BEFORE_HAI ? c->delta_bps : c->hai_bps;
    const xoff_rate room_bps = c->max_rate_bps - s->rate_bps;
    s->rate_bps += step_bps < room_bps ? step_bps : room_bps;
    s->n_rises++;
}

static void timely_cut(const struct timely_cfg *c, struct timely_state *s, double factor)
{
    const xoff_rate rate_bps = factor > 0 ? (xoff_rate)((double)s->rate_bps * factor) : 0;
    s->rate_bps = rate_bps > c->min_rate_bps ? rate_bps : c->min_rate_bps;
    s->n_rises = 0;
}

static void timely_update(const struct timely_cfg *c, struct timely_state *s, xoff_time rtt)
{
    /* d = (1 - alpha) d + alpha (rtt - rtt_before) */
    s->rtt_diff = (1 - c->alpha) * s->rtt_diff + c->alpha * (double)(rtt - s->rtt);
    const double gradient = s->rtt_diff / s->min_rtt;
    if (rtt < c->t_low)
        timely_rise(c, s);
    else if (rtt > c->t_high) /* R (1 - beta (1 - t_high / rtt)) */
        timely_cut(c, s, 1 - c->beta * (1 - (double)c->t_high / (double)rtt));
    else if (gradient <= 0)
        timely_rise(c, s);
    else /* R (1 - beta g) */
        timely_cut(c, s, 1 - c->beta * gradient);
}

static void timely_on_ack(const void *cfg, void *state, const struct xoff_rp_ack *ack,
                          xoff_time now, struct xoff_rp_answer *answer)
{
    struct timely_state *s = state;
    (void)now;
    /* An ACK without an RTT does not end the round trip; the next one with an RTT does. */
    if (ack->acked_to <= s->update_to || ack->rtt <= 0)
        return;
    if (s->rtt)
        timely_update(cfg, s, ack->rtt);
    s->rtt = ack->rtt;
    s->update_to = ack->sent_to;
    answer->rate_bps = s->rate_bps;
}

const struct xoff_rp_ops xoff_rp_timely = {
    .name = "timely",
    .summary = "TIMELY: the rate follows the gradient of the round-trip time",
    .params = timely_table,
    .params_size = sizeof(struct timely_params),
    .cfg_size = sizeof(struct timely_cfg),
    .marking = "none",
    .np = "echo",
    .rel = "go-back-n",
    .needs_acks = true,
    .reads_rtt = true,
    .configure = timely_configure,
    .init = timely_init,
    .on_ack = timely_on_ack,
};
