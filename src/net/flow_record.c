/* The record of a flow among the results, made of its note: with the time that the same transfer
 * would take alone in the network. */
#include <stdlib.h>

#include "net/flow_record.h"

/* A hop of an empty network: over a link, or through the fabric of a switch. */
struct hop {
    xoff_time full_for, full_last_bit; /* full frame: wire held, last bit sent */
    xoff_time tail_last_bit;           /* the same for the last bit of the last frame */
    xoff_time after;                   /* propagation and processing */
};

static struct hop hop_of(const struct net *net, const struct topo_link *link, uint32_t full,
                         uint32_t tail, xoff_rate pace_bps)
{
    struct hop hop = {.after = link->delay};
    xoff_time unused;
    net->spec.wire->times(link->rate_bps, full, &hop.full_last_bit, &hop.full_for);
    net->spec.wire->times(link->rate_bps, tail, &hop.tail_last_bit, &unused);
    if (pace_bps) {
        const xoff_time gap = xoff_time_of_bits((uint64_t)full * 8, pace_bps);
        hop.full_for = gap > hop.full_for ? gap : hop.full_for;
    }
    return hop;
}

static struct hop hop_through(const struct net *net, uint32_t node, uint32_t full, uint32_t tail)
{
    struct hop hop;
    const xoff_time transit = path_transit(net, node, full, &hop.full_for);
    path_transit(net, node, tail, &hop.tail_last_bit);
    hop.full_last_bit = hop.full_for;
    hop.after = transit - hop.full_for;
    return hop;
}

/* Returns the time from the first byte to the last at the receiver in an otherwise empty network:
 * the longest way through the grid of frames and hops. All frames but the last are full. The last
 * one follows them hop by hop, so only the hop where it falls behind them has to be tried. */
static xoff_time ideal_of(const struct net *net, const struct routes *routes, uint32_t from,
                          const struct flow_note *note, struct hop *hops)
{
    const uint64_t payload_max = (uint64_t)(note->frame_bytes - note->header_bytes);
    const uint64_t n = (note->offered + payload_max - 1) / payload_max;
    uint32_t tail = (uint32_t)(note->offered - (n - 1) * payload_max) + note->header_bytes;
    if (tail < net->spec.wire->min_bytes)
        tail = net->spec.wire->min_bytes;
    xoff_time after = 0, before = 0, behind = 0, worst_gap = 0, longest = 0;
    uint32_t n_hops = 0, node = from, port = 0;
    while (node != note->to) {
        if (n_hops + 2 > 2 * net->topo->n_nodes) /* stated routes may form a loop */
            return 0;
        const struct topo_port *p = &net->topo->ports[net->topo->nodes[node].first_port + port];
        const bool is_first = n_hops == 0;
        if (!is_first)
            hops[n_hops++] = hop_through(net, node, note->frame_bytes, tail);
        hops[n_hops++] = hop_of(net, &net->topo->links[p->link], note->frame_bytes, tail,
                                is_first ? note->rate_bps : 0);
        node = topo_peer(net->topo, node, port);
        if (node == note->to)
            break;
        if (node < net->n_hosts)
            return 0;
        const uint16_t out = routes_lookup(routes, node, note->to, note->hash);
        if (out == ROUTE_NONE)
            return 0;
        port = out;
    }
    for (uint32_t h = 0; h < n_hops; h++) {
        behind += hops[h].tail_last_bit;
        after += hops[h].after;
    }
    if (n == 1)
        return behind + after;
    for (uint32_t h = 0; h < n_hops; h++) {
        if (hops[h].full_for > worst_gap)
            worst_gap = hops[h].full_for;
        const xoff_time way = before + (xoff_time)(n - 2) * worst_gap + hops[h].full_for + behind;
        longest = way > longest ? way : longest;
        before += hops[h].full_last_bit;
        behind -= hops[h].tail_last_bit;
    }
    return longest + after;
}

void flow_records_init(struct flow_records *records, const struct net *net)
{
    struct xoff_err err;
    *records = (struct flow_records){.net = net};
    records->hops = calloc(2 * (size_t)net->topo->n_nodes, sizeof *records->hops);
    XOFF_ASSERT(records->hops);
    if (routes_next_change(net->topo, 0) != XOFF_NEVER)
        XOFF_ASSERT(routes_create(net->topo, 0, false, &records->made, &err) == 0);
}

void flow_records_fini(struct flow_records *records)
{
    routes_destroy(records->made);
    free(records->hops);
}

struct result_flow flow_record(const struct flow_records *records, uint32_t from,
                               const struct flow_note *note)
{
    const struct net *net = records->net;
    const struct routes *routes = records->made ? records->made : net->routes;
    return (struct result_flow){
        .from = from,
        .to = note->to,
        .number = note->number,
        .tag = note->tag,
        .priority = note->priority,
        .reliable = note->reliable,
        .offered_bytes = note->offered,
        .sent_bytes = note->sent,
        .start_at = note->start_at,
        .finish_at = XOFF_NEVER,
        .acked_at = note->acked_at,
        .ideal_for = note->is_connection ? 0 : ideal_of(net, routes, from, note, records->hops),
        .retransmitted_frames = note->again_frames,
        .notices = note->n_notices,
        .tags_sent = note->n_tags_sent,
        .tags_back = note->n_tags_back,
    };
}
