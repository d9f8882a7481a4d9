/* Links and ports: what a link is in its life, the headroom it needs, and the ports at its ends. */
#include <stdlib.h>
#include <string.h>

#include "net/build.h"

struct life build_life(const struct topo *topo, uint32_t link)
{
    const struct topo_link *l = &topo->links[link];
    struct life life = {l->rate_bps, l->rate_bps, l->delay, l->delay};
    for (uint32_t i = 0; i < topo->n_changes; i++) {
        const struct topo_change *c = &topo->changes[i];
        if (c->link != link)
            continue;
        if (c->kind == TOPO_CHANGE_RATE && c->rate_bps > life.max_rate_bps)
            life.max_rate_bps = c->rate_bps;
        if (c->kind == TOPO_CHANGE_RATE && c->rate_bps < life.min_rate_bps)
            life.min_rate_bps = c->rate_bps;
        if (c->kind == TOPO_CHANGE_DELAY) {
            life.min_delay = xoff_time_min(life.min_delay, c->delay);
            life.max_delay = c->delay > life.max_delay ? c->delay : life.max_delay;
        }
    }
    return life;
}

static uint32_t response_quanta(const struct net_spec *spec, xoff_rate rate_bps)
{
    return spec->response_quanta == XOFF_PARAM_AUTO ? xoff_response_quanta(rate_bps)
                                                    : (uint32_t)spec->response_quanta;
}

/* Of a link that never changes. */
static int64_t steady_headroom(const struct net_spec *spec, xoff_rate rate_bps, xoff_time delay)
{
    if (spec->headroom_bytes != XOFF_PARAM_AUTO)
        return spec->headroom_bytes;
    if (spec->wire && spec->wire->is_ns3) {
        /* Frames follow each other without a gap, at a rate that whole nanoseconds make higher:
         * what arrives in two delays, the pause frame's time and the response, and a frame at each
         * end. */
        const xoff_time frame_ns =
            (xoff_time)(spec->max_frame_bytes * UINT64_C(8000000000) / rate_bps);
        const xoff_time for_ns =
            (2 * delay + xoff_quanta_time(response_quanta(spec, rate_bps), rate_bps)) / XOFF_NS +
            frame_ns + 2;
        return ((int64_t)for_ns / (frame_ns ? frame_ns : 1) + 3) * spec->max_frame_bytes;
    }
    const struct xoff_headroom_params params = {
        .rate_bps = rate_bps,
        .delay = delay,
        .max_frame_bytes = spec->max_frame_bytes,
        .response_for = xoff_quanta_time(response_quanta(spec, rate_bps), rate_bps),
    };
    return xoff_headroom_bytes(&params);
}

/* Longest response time that the link has in its life. */
static xoff_time response_of(const struct net_spec *spec, uint32_t link)
{
    const struct topo *topo = spec->topo;
    xoff_rate rate_bps = topo->links[link].rate_bps;
    xoff_time longest = xoff_quanta_time(response_quanta(spec, rate_bps), rate_bps);
    for (uint32_t i = 0; i < topo->n_changes; i++) {
        if (topo->changes[i].link != link || topo->changes[i].kind != TOPO_CHANGE_RATE)
            continue;
        rate_bps = topo->changes[i].rate_bps;
        const xoff_time t = xoff_quanta_time(response_quanta(spec, rate_bps), rate_bps);
        longest = t > longest ? t : longest;
    }
    return longest;
}

int64_t net_headroom(const struct net_spec *spec, uint32_t link)
{
    const struct life life = build_life(spec->topo, link);
    const int64_t bytes = steady_headroom(spec, life.max_rate_bps, life.max_delay);
    if (life.min_rate_bps == life.max_rate_bps || spec->headroom_bytes != XOFF_PARAM_AUTO)
        return bytes;
    /* Around a change the frame in the way, the pause frame and the response may still be of the
     * lowest rate while data comes at the highest. */
    const uint64_t wire_bytes =
        spec->max_frame_bytes + XOFF_OVERHEAD_BYTES + XOFF_PAUSE_FRAME_BYTES + XOFF_PREAMBLE_BYTES;
    return bytes + xoff_bytes_in(xoff_time_of_bits(8 * wire_bytes, life.min_rate_bps) +
                                     response_of(spec, link),
                                 life.max_rate_bps);
}

struct xoff_mmu_port build_mmu_port(const struct net_spec *spec, uint32_t link)
{
    const struct life life = build_life(spec->topo, link);
    return (struct xoff_mmu_port){life.max_rate_bps, net_headroom(spec, link), life.max_delay,
                                  response_of(spec, link)};
}

int build_port(struct net *net, uint32_t node, uint32_t number,
               const struct xoff_pause_signalling *how, struct port *port, struct xoff_err *err)
{
    const struct topo_port *tp = &net->topo->ports[net->topo->nodes[node].first_port + number];
    const struct topo_link *link = &net->topo->links[tp->link];
    port->clock.is_ns3 = net->spec.wire->is_ns3;
    port->pause_bytes = net->spec.wire->pause_bytes;
    port->keeps_heard = net->spec.keeps_heard;
    port_init(port, link->rate_bps, net->spec.response_quanta);
    port->number = (uint16_t)number;
    port->link_out = 2 * tp->link + tp->end;
    port->delay = link->delay;
    port->error_ppb = link->error_ppb;
    xoff_rng_init(&port->error_rng, net->spec.seed, net->topo->nodes[node].first_port + number,
                  STREAM_ERRORS);
    return xoff_signal_configure(how, build_life(net->topo, tp->link).max_rate_bps,
                                 net->spec.max_frame_bytes, &port->signal_cfg, err);
}

/* A gate understands what the peer signals; where the peer never does, what its own node would. */
void build_gates(struct net *net)
{
    for (uint32_t l = 0; l < net->topo->n_links; l++)
        for (uint32_t end = 0; end < 2; end++) {
            const struct topo_link *link = &net->topo->links[l];
            struct port *port = net_port(net, link->node[end], link->port[end]);
            const struct port *peer = net_port(net, link->node[!end], link->port[!end]);
            enum xoff_pause_wire wire = peer->signal_cfg.how.wire;
            if (wire == XOFF_WIRE_NONE)
                wire = port->signal_cfg.how.wire;
            port->gate_cfg.wire = wire;
            port->gate_cfg.obeys = wire == XOFF_WIRE_PFC ? net->spec.lossless : 0xff;
        }
}

void build_free_port(struct port *port)
{
    struct capture *c = port->capture;
    if (!c)
        return;
    for (uint64_t i = 0; i * CAPTURE_CHUNK < c->n; i++)
        free(c->chunks[i]);
    free(c->chunks), free(c);
}
