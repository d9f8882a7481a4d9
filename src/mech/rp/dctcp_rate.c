/* DCTCP as a rate, as the ns-3 RDMA family has it (its CC_MODE 8).
 *
 * Source: the HPCC simulator (rdma-hw.cc, HandleAckDctcp). Once per round trip, that is, with the
 * first ACK beyond what had been sent at the last update:
 *
 *   alpha = (1 - g) alpha + g min(1, marked ACKs / batch)
 *   batch = frames outstanding at the last update + 1
 *
 * The first round trip leaves alpha as it is, and keeps its marks for the second. A marked ACK
 * outside the reduced state:
 *
 *   R = max(min_rate, R (1 - alpha / 2))
 *
 * and the flow is reduced until an ACK passes what had been sent then. A new round trip outside the
 * reduced state adds `ai`. A window comes from the transport.
 */
#include <xoff/rp.h>

#include "mech/rp/rates.h"

struct dctcp_rate_params {
    double gain;
    int64_t ai, min_rate;
};

struct dctcp_rate_cfg {
    double gain;
    xoff_rate ai_bps, min_rate_bps, max_rate_bps;
    uint32_t payload_bytes;
};

struct dctcp_rate_state {
    double alpha;
    xoff_rate rate_bps;
    uint64_t update_to; /* sent at the last update; 0: there was none */
    uint64_t reduced_to;
    uint64_t n_marked, batch;
    bool is_reduced;
};

static const struct xoff_param dctcp_rate_table[] = {
    {.name = "gain",
     .type = XOFF_P_REAL,
     .offset = offsetof(struct dctcp_rate_params, gain),
     .preset = "1/16",
     .min = "0",
     .max = "1",
     .help = "Weight g of the newest round trip's share of marks in alpha."},
    {.name = "ai",
     .type = XOFF_P_RATE,
     .offset = offsetof(struct dctcp_rate_params, ai),
     .preset = "1Gbps",
     .help = "What a round trip without a cut adds."},
    {.name = "min_rate",
     .type = XOFF_P_RATE,
     .offset = offsetof(struct dctcp_rate_params, min_rate),
     .preset = "100Mbps",
     .min = "1bps",
     .help = "Rate below which no cut goes."},
    {0},
};

static int dctcp_rate_configure(const void *params, const struct xoff_rp_env *env, void *cfg,
                                struct xoff_rp_shape *shape, struct xoff_err *err)
{
    const struct dctcp_rate_params *p = params;
    struct dctcp_rate_cfg *c = cfg;
    shape->state_size = sizeof(struct dctcp_rate_state);
    if (!(p->gain >= 0 && p->gain <= 1)) /* also refuses what is no number */
        return xoff_err_set(err, XOFF_E_RANGE, "gain", NULL, "a weight is from 0 to 1");
    *c = (struct dctcp_rate_cfg){.gain = p->gain,
                                 .ai_bps = (xoff_rate)p->ai,
                                 .min_rate_bps = (xoff_rate)p->min_rate,
                                 .max_rate_bps = env->rate_bps,
                                 .payload_bytes = env->payload_bytes};
    return rate_check_floor(c->min_rate_bps, env->rate_bps, err);
}

static void dctcp_rate_init(const void *cfg, void *state, const struct xoff_rp_flow *flow,
                            xoff_time now, struct xoff_rp_answer *answer)
{
    const struct dctcp_rate_cfg *c = cfg;
    struct dctcp_rate_state *s = state;
    (void)flow, (void)now;
    *s = (struct dctcp_rate_state){.alpha = 1, .rate_bps = c->max_rate_bps};
    *answer = (struct xoff_rp_answer){
        .rate_bps = s->rate_bps, .window_bytes = XOFF_RP_NO_WINDOW, .deadline = XOFF_NEVER};
}

/* Returns whether the ACK begins a round trip. */
static bool observe(const struct dctcp_rate_cfg *c, struct dctcp_rate_state *s,
                    const struct xoff_rp_ack *ack)
{
    s->n_marked += ack->is_marked;
    if (ack->acked_to <= s->update_to)
        return false;
    if (s->update_to == 0) {
        s->batch = ack->sent_to / c->payload_bytes + 1;
    } else {
        const double share = (double)s->n_marked / (double)s->batch;
        s->alpha = (1 - c->gain) * s->alpha + c->gain * (share < 1 ? share : 1);
        s->n_marked = 0;
        s->batch = (ack->sent_to - ack->acked_to) / c->payload_bytes + 1;
    }
    s->update_to = ack->sent_to;
    return true;
}

static void dctcp_rate_on_ack(const void *cfg, void *state, const struct xoff_rp_ack *ack,
                              xoff_time now, struct xoff_rp_answer *answer)
{
    const struct dctcp_rate_cfg *c = cfg;
    struct dctcp_rate_state *s = state;
    (void)now;
    const bool is_new = observe(c, s, ack);
    if (ack->acked_to > s->reduced_to)
        s->is_reduced = false;
    if (ack->is_marked && !s->is_reduced) {
        const xoff_rate cut = (xoff_rate)((double)s->rate_bps * (1 - s->alpha / 2));
        s->rate_bps = cut > c->min_rate_bps ? cut : c->min_rate_bps;
        s->is_reduced = true;
        s->reduced_to = ack->sent_to;
    }
    if (is_new && !s->is_reduced) {
        const xoff_rate room_bps = c->max_rate_bps - s->rate_bps;
        s->rate_bps += c->ai_bps < room_bps ? c->ai_bps : room_bps;
    }
    answer->rate_bps = s->rate_bps;
}

const struct xoff_rp_ops xoff_rp_dctcp_rate = {
    .name = "dctcp-rate",
    .summary = "DCTCP as a rate that is cut by the share of marked ACKs (the ns-3 RDMA family's)",
    .params = dctcp_rate_table,
    .params_size = sizeof(struct dctcp_rate_params),
    .cfg_size = sizeof(struct dctcp_rate_cfg),
    .marking = "step",
    .np = "echo",
    .rel = "go-back-n",
    .needs_acks = true,
    .configure = dctcp_rate_configure,
    .init = dctcp_rate_init,
    .on_ack = dctcp_rate_on_ack,
};
