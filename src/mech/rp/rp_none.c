/* No reaction point: the flow sends at the rate of its link, whatever it is told.
 *
 * Two of them, which differ only in the reliability they come with: "datagram" forgets what it has
 * sent, "none" repeats it by go-back-N. A pace that the traffic sets itself is the caller's to keep
 * (xoff_rp_flow.pace_bps): it bounds the flow whatever a reaction point allows.
 */
#include <xoff/rp.h>

struct rp_none_cfg {
    xoff_rate rate_bps;
};

static const struct xoff_param rp_none_table[] = {{0}};

static int rp_none_configure(const void *params, const struct xoff_rp_env *env, void *cfg,
                             struct xoff_err *err)
{
    (void)params, (void)err;
    *(struct rp_none_cfg *)cfg = (struct rp_none_cfg){.rate_bps = env->rate_bps};
    return 0;
}

static void rp_none_init(const void *cfg, void *state, const struct xoff_rp_flow *flow,
                         xoff_time now, struct xoff_rp_answer *answer)
{
    const struct rp_none_cfg *c = cfg;
    (void)state, (void)flow, (void)now;
    *answer = (struct xoff_rp_answer){
        .rate_bps = c->rate_bps,
        .window_bytes = XOFF_RP_NO_WINDOW,
        .deadline = XOFF_NEVER,
    };
}

const struct xoff_rp_ops xoff_rp_datagram = {
    .name = "datagram",
    .summary = "frames sent at the traffic's own pace and forgotten",
    .params = rp_none_table,
    .cfg_size = sizeof(struct rp_none_cfg),
    .marking = "none",
    .reliability = XOFF_REL_DATAGRAM,
    .configure = rp_none_configure,
    .init = rp_none_init,
};

const struct xoff_rp_ops xoff_rp_none = {
    .name = "none",
    .summary = "go-back-N without congestion control: line rate, or the traffic's own pace",
    .params = rp_none_table,
    .cfg_size = sizeof(struct rp_none_cfg),
    .marking = "none",
    .reliability = XOFF_REL_GO_BACK_N,
    .configure = rp_none_configure,
    .init = rp_none_init,
};
