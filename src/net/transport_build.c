/* Builds transports, each of a reaction point, a reliability and a notification point, once for
 * every rate that hosts have. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "net/build.h"

/* In a scenario, the parameters of a reliability are in a mapping named after it. */
static void name_rel_param(const struct xoff_rel_ops *ops, struct xoff_err *err)
{
    if (!xoff_param_find(ops->params, err->subject))
        return;
    char subject[sizeof err->subject];
    const int length = snprintf(subject, sizeof subject, "%s.", ops->name);
    snprintf(subject + length, sizeof subject - (size_t)length, "%.*s",
             (int)sizeof subject - length - 1, err->subject);
    memcpy(err->subject, subject, sizeof subject);
}

static int build_rel(const struct net *net, const struct net_transport *spec,
                     uint32_t payload_bytes, struct xoff_rel *rel, struct xoff_err *err)
{
    const struct xoff_rel_env env = {.payload_bytes = payload_bytes,
                                     .timeout_for = net->spec.timeout_for,
                                     .ack_delay = net->spec.ack_delay,
                                     .ack_every = (uint32_t)net->spec.ack_every,
                                     .needs_acks = spec->rp->needs_acks,
                                     .has_window = spec->window != NET_WINDOW_NONE,
                                     .has_telemetry = spec->np->has_telemetry,
                                     .reads_each_mark = spec->rp->reads_each_mark};
    void *cfg = build_block(1, xoff_rel_cfg_size(spec->rel, 1));
    const int code = xoff_rel_configure(rel, spec->rel, spec->rel_params, &env, cfg, err);
    name_rel_param(spec->rel, err); /* an error or a warning may name one */
    return code;
}

static int build_rp(const struct net *net, const struct net_transport *spec, xoff_rate rate_bps,
                    uint32_t payload_bytes, struct xoff_rp *rp, struct xoff_err *err)
{
    const struct xoff_rp_env env = {.rate_bps = rate_bps,
                                    .frame_bytes = net->spec.max_frame_bytes,
                                    .payload_bytes = payload_bytes};
    void *cfg = build_block(1, xoff_rp_cfg_size(spec->rp, 1));
    return xoff_rp_configure(rp, spec->rp, spec->rp_params, &env, cfg, err);
}

static int build_np(const struct net *net, const struct net_transport *spec, xoff_rate rate_bps,
                    struct xoff_np *np, struct xoff_err *err)
{
    const struct xoff_np_env env = {.rate_bps = rate_bps, .frame_bytes = net->spec.max_frame_bytes};
    void *cfg = build_block(1, xoff_np_cfg_size(spec->np, 1));
    const int code = xoff_np_configure(np, spec->np, spec->np_params, &env, cfg, err);
    XOFF_ASSERT(np->shape.state_size <= XOFF_NP_MAX_STATE);
    return code;
}

/* Builds a transport for hosts with links of one rate. */
static int build_transport(struct net *net, uint32_t index, xoff_rate rate_bps, struct transport *t,
                           struct xoff_err *err)
{
    const struct net_transport *spec = &net->spec.transports[index];
    const struct net_wire *wire = net->spec.wire;
    t->spec = spec;
    t->header_bytes = net_header_bytes(wire, spec);
    t->ack_bytes =
        (spec->rel->format == XOFF_REL_AS_TCP ? wire->tcp_header_bytes : wire->ack_bytes) +
        (spec->np->has_telemetry ? wire->ack_telemetry_bytes : 0);
    if (net->spec.max_frame_bytes <= t->header_bytes) {
        char text[32];
        return xoff_err_set(err, XOFF_E_RANGE, "kind",
                            xoff_format_bytes(text, sizeof text, net->spec.max_frame_bytes),
                            "port.max_frame leaves no room for payload behind its headers");
    }
    const uint32_t payload_bytes = net->spec.max_frame_bytes - t->header_bytes;
    int code = net_configured_transport(net, index, rate_bps,
                                        build_rel(net, spec, payload_bytes, &t->rel, err), err);
    if (!code)
        code = net_configured_transport(
            net, index, rate_bps, build_rp(net, spec, rate_bps, payload_bytes, &t->rp, err), err);
    if (!code)
        code = net_configured_transport(net, index, rate_bps,
                                        build_np(net, spec, rate_bps, &t->np, err), err);
    return code;
}

int build_transports(struct net *net, uint32_t *index, struct xoff_err *err)
{
    const uint32_t n = net->spec.n_transports;
    net->rates = build_block(net->n_hosts, sizeof *net->rates);
    for (uint32_t h = 0; h < net->n_hosts; h++) {
        const xoff_rate rate_bps = build_nic_rate(net, h);
        uint32_t i = 0;
        while (i < net->n_rates && net->rates[i] != rate_bps)
            i++;
        if (i == net->n_rates)
            net->rates[net->n_rates++] = rate_bps;
    }
    net->transports = build_block((size_t)net->n_rates * n, sizeof *net->transports);
    int code = 0;
    for (uint32_t i = 0; i < net->n_rates * n && !code; i++) {
        const struct net_transport *spec = &net->spec.transports[i % n];
        struct transport *t = &net->transports[i];
        code = build_transport(net, i % n, net->rates[i / n], t, err);
        net->has_extra |= spec->np->has_telemetry || t->rp.shape.tag_kind != XOFF_NOTICE_NONE;
        net->has_sacks |= t->rel.shape.names_blocks;
        if (!code && i < n && (spec->has_common_rtt || spec->np->has_telemetry))
            net->max_rtt[i] = path_max_rtt(net, path_bytes(net, t, net->spec.max_frame_bytes),
                                           path_ack_bytes(net, t), &net->max_switches);
        *index = i % n;
    }
    return code;
}

/* The flows of a host have room for the largest state of any of its transports. */
void build_use_transports(struct net *net, struct host *host)
{
    const uint32_t n = net->spec.n_transports;
    uint32_t row = 0;
    while (net->rates[row] != build_nic_rate(net, host->node))
        row++;
    host->transports = net->transports + (size_t)row * n;
    size_t rp_bytes = 0, tx_bytes = sizeof(struct xoff_rel_tx), rx_bytes = 0;
    for (uint32_t i = 0; i < n; i++) {
        const struct transport *t = &host->transports[i];
        const struct xoff_rel_shape *shape = &t->rel.shape;
        rp_bytes = t->rp.shape.state_size > rp_bytes ? t->rp.shape.state_size : rp_bytes;
        tx_bytes = shape->tx_size > tx_bytes ? shape->tx_size : tx_bytes;
        rx_bytes = shape->rx_size > rx_bytes ? shape->rx_size : rx_bytes;
    }
    host->rp_at = (uint32_t)((offsetof(struct flow, rel) + tx_bytes + 15) / 16 * 16);
    host->flow_bytes = (uint32_t)((host->rp_at + rp_bytes + 63) / 64 * 64);
    XOFF_ASSERT(host->flow_bytes <= NET_MAX_FLOW_BYTES);
    host->rx_state_bytes = (uint32_t)((rx_bytes + 7) / 8 * 8);
}

void build_free_transports(struct net *net)
{
    for (uint32_t i = 0; i < net->n_rates * net->spec.n_transports; i++) {
        const struct transport *t = &net->transports[i];
        free((void *)t->rp.cfg), free((void *)t->rel.cfg), free((void *)t->np.cfg);
    }
    free(net->transports), free(net->rates);
}
