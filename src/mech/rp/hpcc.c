/* HPCC: window and rate from the bytes in flight that in-band telemetry shows.
 *
 * Source: Li et al., HPCC: High Precision Congestion Control, SIGCOMM 2019, 3.2 - 3.4 and
 * algorithm 1. T is the base RTT. Each ACK brings a record of every hop i; against the record of
 * the ACK before it
 *
 *   u_i = min(q_i, q_i') / (B_i T) + txRate_i / B_i     bytes in flight on the link, in units of
 *                                                       its bandwidth-delay product
 *   U   = (1 - tau/T) U + tau/T max_i u_i               tau: time between the records of the hop
 *                                                       with the largest u, at most T
 *   W   = Wc / (U/eta) + W_AI                           if U >= eta or incStage >= maxStage
 *   W   = Wc + W_AI                                     otherwise
 *   R   = W / T
 *
 * Every ACK sets W from the reference window Wc, so that ACKs of one round trip do not compound;
 * the first ACK for a byte sent after the last change of Wc copies W to Wc and increments (or
 * clears) incStage. A flow starts with W = Wc = line rate * T, U = 1 and no record: its first ACK
 * only leaves one. The same holds for an ACK over another path (number or rates of the hops
 * differ), and for one after a silence so long that the counters may have wrapped. An ACK without
 * telemetry changes nothing; neither do losses.
 *
 * Differs: W is kept between min_rate * T and line rate * T, as the published implementation does;
 * the paper has no bounds. Differs: where W is below one frame the window answered is one payload,
 * or nothing could be sent; the rate keeps the flow at W / T. Differs: T is the base RTT of the
 * flow's own path unless `rtt` is given; the paper takes one T, a little above the largest of the
 * network. Differs: a record that is not newer than the last is ignored; the published
 * implementation divides by its time of 0. Its variant with a rate per hop (off by default there)
 * is not implemented.
 */
#include "mech/rp/rates.h"

struct hpcc_params {
    double eta;
    int64_t max_stage;
    int64_t ai, min_rate;
    int64_t rtt;
    int64_t queue_unit;
};

struct hpcc_cfg {
    double eta;
    double line_rate, ai_rate, min_rate; /* bytes per nanosecond */
    xoff_rate line_bps;
    xoff_time rtt; /* XOFF_PARAM_AUTO: the flow's own */
    uint32_t max_stage;
    uint32_t payload_bytes;
    double queue_scale; /* of what records say */
};

struct hpcc_state {
    struct xoff_int record;   /* L, the record of the last ACK; no hops: none yet */
    xoff_time record_at;      /* when that ACK came */
    double rtt_ns;            /* T */
    double reference_bytes;   /* Wc */
    double inflight;          /* U, in bandwidth-delay products */
    uint64_t last_update_seq; /* an ACK beyond it changes Wc */
    uint32_t stage;           /* incStage */
};
_Static_assert(sizeof(struct hpcc_state) <= 160, "a host may have many flows");

static const struct xoff_param hpcc_table[] = {
    {.name = "eta",
     .type = XOFF_P_REAL,
     .offset = offsetof(struct hpcc_params, eta),
     .preset = "0.95",
     .min = "0.01",
     .max = "1",
     .help = "Target: bytes in flight on the busiest link as a share of its bandwidth-delay "
             "product."},
    {.name = "max_stage",
     .type = XOFF_P_INT,
     .offset = offsetof(struct hpcc_params, max_stage),
     .preset = "5",
     .min = "0",
     .max = "1000000",
     .help = "Round trips of additive increase before a multiplicative one; 0: none."},
    {.name = "ai",
     .type = XOFF_P_RATE,
     .offset = offsetof(struct hpcc_params, ai),
     .preset = "auto",
     .allows_auto = true,
     .help = "Additive increase (W_AI / T); auto: 10Mbps per 25Gbps of the host's link."},
    {.name = "min_rate",
     .type = XOFF_P_RATE,
     .offset = offsetof(struct hpcc_params, min_rate),
     .preset = "auto",
     .min = "1kbps",
     .allows_auto = true,
     .help = "Least rate of a flow; auto: a thousandth of the host's link."},
    {.name = "rtt",
     .type = XOFF_P_TIME,
     .offset = offsetof(struct hpcc_params, rtt),
     .preset = "auto",
     .min = "1ns",
     .max = "1s",
     .allows_auto = true,
     .help = "T, the RTT without queues; auto: of each flow's own path."},
    {.name = "queue_unit",
     .type = XOFF_P_BYTES,
     .offset = offsetof(struct hpcc_params, queue_unit),
     .preset = "64B",
     .min = "1B",
     .max = "1KiB",
     .help = "Unit of queue lengths that switches write (switch.marking)."},
    {0},
};

#define HPCC_AI_PART 2500 /* 10 Mb/s of 25 Gb/s */
#define HPCC_MIN_PART 1000
#define BPS_PER_BYTE_NS 8e9

static int hpcc_configure(const void *params, const struct xoff_rp_env *env, void *cfg,
                          struct xoff_rp_shape *shape, struct xoff_err *err)
{
    const struct hpcc_params *p = params;
    struct hpcc_cfg *c = cfg;
    shape->state_size = sizeof(struct hpcc_state);
    shape->queue_unit = p->queue_unit;
    const double line_bps = (double)env->rate_bps;
    const double ai_bps = p->ai == XOFF_PARAM_AUTO ? line_bps / HPCC_AI_PART : (double)p->ai;
    const xoff_rate min_bps = rate_or_part(p->min_rate, env->rate_bps, HPCC_MIN_PART);
    if (!(p->eta > 0 && p->eta <= 1)) /* a NaN is refused, too */
        return xoff_err_set(err, XOFF_E_RANGE, "eta", NULL, "a share above 0, up to 1");
    if (p->max_stage < 0 || p->max_stage >= UINT32_MAX)
        return xoff_err_set(err, XOFF_E_RANGE, "max_stage", NULL, "a number of round trips");
    const int code = rate_check_floor(min_bps, env->rate_bps, err);
    if (code)
        return code;
    *c = (struct hpcc_cfg){
        .eta = p->eta,
        .line_rate = line_bps / BPS_PER_BYTE_NS,
        .ai_rate = ai_bps / BPS_PER_BYTE_NS,
        .min_rate = (double)min_bps / BPS_PER_BYTE_NS,
        .line_bps = env->rate_bps,
        .rtt = p->rtt,
        .max_stage = (uint32_t)p->max_stage,
        .payload_bytes = env->payload_bytes,
        .queue_scale = (double)p->queue_unit / XOFF_INT_QUEUE_UNIT,
    };
    return 0;
}

static void hpcc_answer(const struct hpcc_cfg *c, const struct hpcc_state *s, double window_bytes,
                        struct xoff_rp_answer *answer)
{
    const uint64_t window = (uint64_t)window_bytes;
    const double rate = window_bytes / s->rtt_ns; /* R = W / T */
    answer->window_bytes = window > c->payload_bytes ? window : c->payload_bytes;
    answer->rate_bps =
        rate < c->line_rate ? (xoff_rate)(rate * BPS_PER_BYTE_NS + 0.5) : c->line_bps;
}

static void hpcc_init(const void *cfg, void *state, const struct xoff_rp_flow *flow, xoff_time now,
                      struct xoff_rp_answer *answer)
{
    const struct hpcc_cfg *c = cfg;
    struct hpcc_state *s = state;
    const xoff_time rtt = c->rtt == XOFF_PARAM_AUTO ? flow->base_rtt : c->rtt;
    (void)now;
    XOFF_ASSERT(rtt > 0);
    *s = (struct hpcc_state){.rtt_ns = (double)rtt / (double)XOFF_NS, .inflight = 1};
    s->reference_bytes = c->line_rate * s->rtt_ns;
    answer->deadline = XOFF_NEVER;
    hpcc_answer(c, s, s->reference_bytes, answer);
}

/* MeasureInflight: updates U, and keeps the record for the next ACK. False: no hop had news. */
static bool hpcc_measure(const struct hpcc_cfg *c, struct hpcc_state *s,
                         const struct xoff_int *record)
{
    double u = 0, tau_ns = 0;
    for (uint32_t i = 0; i < record->n; i++) {
        struct xoff_int_change hop;
        if (!xoff_int_measure(&s->record.hop[i], &record->hop[i], &hop))
            continue;
        s->record.hop[i] = record->hop[i];
        const int64_t queue_bytes =
            hop.queue_bytes < hop.earlier_queue_bytes ? hop.queue_bytes : hop.earlier_queue_bytes;
        const double bandwidth = (double)hop.rate_bps / BPS_PER_BYTE_NS;
        /* u_i = min(q, q') / (B T) + txRate / B */
        const double u_hop = c->queue_scale * (double)queue_bytes / (bandwidth * s->rtt_ns) +
                             (double)hop.tx_bytes / hop.span_ns / bandwidth;
        if (tau_ns == 0 || u_hop > u) {
            u = u_hop;
            tau_ns = hop.span_ns;
        }
    }
    if (tau_ns == 0)
        return false;
    const double share = tau_ns < s->rtt_ns ? tau_ns / s->rtt_ns : 1;
    s->inflight = (1 - share) * s->inflight + share * u;
    return true;
}

static double hpcc_bound(const struct hpcc_cfg *c, const struct hpcc_state *s, double window_bytes)
{
    const double least = c->min_rate * s->rtt_ns, most = c->line_rate * s->rtt_ns;
    return window_bytes < least ? least : window_bytes < most ? window_bytes : most;
}

static void hpcc_on_ack(const void *cfg, void *state, const struct xoff_rp_ack *ack, xoff_time now,
                        struct xoff_rp_answer *answer)
{
    const struct hpcc_cfg *c = cfg;
    struct hpcc_state *s = state;
    const struct xoff_int *record = ack->telemetry;
    if (!record || record->n == 0)
        return;
    const bool is_comparable = xoff_int_is_comparable(&s->record, record, now - s->record_at);
    s->record_at = now;
    if (!is_comparable) {
        s->record = *record;
        s->inflight = 1;
        s->last_update_seq = ack->sent_to;
        return;
    }
    if (!hpcc_measure(c, s, record))
        return;
    const double ai_bytes = c->ai_rate * s->rtt_ns;
    const bool is_multiplicative = s->inflight >= c->eta || s->stage >= c->max_stage;
    double window_bytes;
    if (!is_multiplicative)
        window_bytes = s->reference_bytes + ai_bytes;
    else if (s->inflight > 0)
        window_bytes = s->reference_bytes / (s->inflight / c->eta) + ai_bytes;
    else
        window_bytes = c->line_rate * s->rtt_ns; /* nothing is in flight: the whole line rate */
    window_bytes = hpcc_bound(c, s, window_bytes);
    if (ack->acked_to > s->last_update_seq) {
        s->reference_bytes = window_bytes;
        s->stage = is_multiplicative ? 0 : s->stage + 1;
        s->last_update_seq = ack->sent_to;
    }
    hpcc_answer(c, s, window_bytes, answer);
}

const struct xoff_rp_ops xoff_rp_hpcc = {
    .name = "hpcc",
    .summary = "bytes in flight by in-band telemetry, kept a little below the bandwidth-delay "
               "product",
    .params = hpcc_table,
    .params_size = sizeof(struct hpcc_params),
    .cfg_size = sizeof(struct hpcc_cfg),
    .marking = "int",
    .np = "int",
    .rel = "go-back-n",
    .needs_acks = true,
    .configure = hpcc_configure,
    .init = hpcc_init,
    .on_ack = hpcc_on_ack,
};
