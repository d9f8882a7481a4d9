/* The bytes that may still arrive at a port after XOFF, over all rates and delays of its link. */
#include "net/build.h"

struct net_life net_life_of(const struct topo *topo, uint32_t link)
{
    const struct topo_link *l = &topo->links[link];
    struct net_life life = {l->rate_bps, l->rate_bps, l->delay, l->delay};
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

xoff_rate net_fastest(const struct topo *topo, uint32_t node)
{
    xoff_rate fastest = 1;
    for (uint32_t p = 0; p < topo->nodes[node].n_ports; p++) {
        const struct topo_port *port = &topo->ports[topo->nodes[node].first_port + p];
        const xoff_rate rate = net_life_of(topo, port->link).max_rate_bps;
        fastest = rate > fastest ? rate : fastest;
    }
    return fastest;
}

static uint32_t response_quanta(const struct net_spec *spec, xoff_rate rate_bps)
{
    return spec->response_quanta == XOFF_PARAM_AUTO ? xoff_response_quanta(rate_bps)
                                                    : (uint32_t)spec->response_quanta;
}

/* Headroom of a link that never changes. */
static int64_t steady_headroom(const struct net_spec *spec, xoff_rate rate_bps, xoff_time delay)
{
    if (spec->headroom_bytes != XOFF_PARAM_AUTO)
        return spec->headroom_bytes;
    const struct xoff_headroom_params params = {
        .rate_bps = rate_bps,
        .delay = delay,
        .max_frame_bytes = spec->max_frame_bytes,
        .response_for = xoff_quanta_time(response_quanta(spec, rate_bps), rate_bps),
    };
    return spec->wire->headroom(&params);
}

/* Longest response time that the link has during the run. */
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
    const struct net_life life = net_life_of(spec->topo, link);
    const int64_t bytes = steady_headroom(spec, life.max_rate_bps, life.max_delay);
    if (life.min_rate_bps == life.max_rate_bps || spec->headroom_bytes != XOFF_PARAM_AUTO)
        return bytes;
    /* Around a change of rate, the frame that delays the pause frame, the pause frame itself and
     * the response may still take as long as at the lowest rate, while data comes at the highest.
     */
    const uint64_t wire_bytes =
        spec->max_frame_bytes + XOFF_OVERHEAD_BYTES + XOFF_PAUSE_FRAME_BYTES + XOFF_PREAMBLE_BYTES;
    return bytes + xoff_bytes_in(xoff_time_of_bits(8 * wire_bytes, life.min_rate_bps) +
                                     response_of(spec, link),
                                 life.max_rate_bps);
}

struct xoff_mmu_port net_served_port(const struct net *net, uint32_t link)
{
    const struct net_life life = net_life_of(net->topo, link);
    return (struct xoff_mmu_port){.rate_bps = life.max_rate_bps,
                                  .headroom_bytes = net_headroom(&net->spec, link),
                                  .delay = life.max_delay,
                                  .response_for = response_of(&net->spec, link)};
}
