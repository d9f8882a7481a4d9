/* Paths through an idle network: the base RTT that reaction points compare with. */
#include "net/model.h"

/* Time of a frame over a link, until its last bit is at the far end. */
static xoff_time link_time(const struct net *net, const struct topo_link *link, uint32_t bytes)
{
    xoff_time last_bit, free_at;
    if (net->spec.wire->rtt_counts_payload)
        return (xoff_time)(bytes * UINT64_C(8000000000) / link->rate_bps) * XOFF_NS + link->delay;
    net->spec.wire->times(link->rate_bps, bytes, &last_bit, &free_at);
    return last_bit + link->delay;
}

xoff_time path_transit(const struct net *net, uint32_t node, uint32_t bytes, xoff_time *carries_for)
{
    const struct net_switch *kind = net_switch_of(&net->spec, node);
    const struct fabric_ops *fabric = kind->fabric ? kind->fabric : fabrics[0];
    *carries_for = 0;
    if (!fabric->transit)
        return kind->processing_for;
    return kind->processing_for +
           fabric->transit(kind, net->fastest_bps[node - net->n_hosts], bytes, carries_for);
}

/* Walks from host to host along the path of a flow with that hash. Returns the number of switches
 * passed, or UINT32_MAX where there is no path. */
static uint32_t walk(const struct net *net, uint32_t from, uint32_t to, uint32_t hash,
                     uint32_t frame_bytes, uint32_t ack_bytes, xoff_time *rtt)
{
    const struct topo *topo = net->topo;
    uint32_t node = from, port = 0, n_switches = 0;
    *rtt = 0;
    for (;;) {
        const struct topo_port *p = &topo->ports[topo->nodes[node].first_port + port];
        const struct topo_link *link = &topo->links[p->link];
        *rtt += link_time(net, link, frame_bytes) + link_time(net, link, ack_bytes);
        node = link->node[!p->end];
        if (node == to)
            return n_switches;
        if (node < net->n_hosts || n_switches == topo->n_nodes)
            return UINT32_MAX;
        xoff_time unused;
        *rtt += path_transit(net, node, frame_bytes, &unused) +
                path_transit(net, node, ack_bytes, &unused);
        n_switches++;
        const uint16_t out = routes_lookup(net->routes, node, to, hash);
        if (out == ROUTE_NONE)
            return UINT32_MAX;
        port = out;
    }
}

xoff_time path_rtt(const struct net *net, uint32_t from, uint32_t to, uint32_t hash,
                   uint32_t frame_bytes, uint32_t ack_bytes)
{
    xoff_time rtt; /* only of the part before the break, where a failure cuts the path */
    walk(net, from, to, hash, frame_bytes, ack_bytes, &rtt);
    return rtt > 0 ? rtt : 1;
}

/* Finds the host of an edge whose own link takes longest, leaving out `but`; TOPO_NONE: none. */
static uint32_t slowest_of(const struct net *net, uint32_t edge, uint32_t but, uint32_t bytes)
{
    uint32_t slowest = TOPO_NONE;
    xoff_time longest = -1;
    for (uint32_t h = 0; h < net->n_hosts; h++) {
        if (net->routes->edge_of_host[h] != edge || h == but)
            continue;
        const struct topo_port *p = &net->topo->ports[net->topo->nodes[h].first_port];
        const xoff_time t = link_time(net, &net->topo->links[p->link], bytes);
        if (t > longest) {
            longest = t;
            slowest = h;
        }
    }
    return slowest;
}

xoff_time path_max_rtt(const struct net *net, uint32_t frame_bytes, uint32_t ack_bytes,
                       uint32_t *max_switches)
{
    /* Paths between the same two edges differ only by the hosts' own links, so the slowest host
     * stands for its edge. Of more than 512 edges, only every step-th is looked at. */
    const uint32_t n_edges = net->routes->n_edges, step = n_edges / 512 + 1;
    uint32_t hosts[513];
    uint32_t n = 0;
    xoff_time longest = 0;
    *max_switches = 0;
    for (uint32_t e = 0; e < n_edges; e += step) {
        hosts[n++] = slowest_of(net, e, TOPO_NONE, frame_bytes);
        const uint32_t second = slowest_of(net, e, hosts[n - 1], frame_bytes);
        xoff_time rtt;
        if (second != TOPO_NONE &&
            walk(net, hosts[n - 1], second, 0, frame_bytes, ack_bytes, &rtt) != UINT32_MAX)
            longest = rtt > longest ? rtt : longest;
    }
    for (uint32_t a = 0; a < n; a++)
        for (uint32_t b = 0; b < n; b++) {
            xoff_time rtt;
            if (a == b)
                continue;
            const uint32_t hops = walk(net, hosts[a], hosts[b], 0, frame_bytes, ack_bytes, &rtt);
            if (hops == UINT32_MAX)
                continue;
            longest = rtt > longest ? rtt : longest;
            *max_switches = hops > *max_switches ? hops : *max_switches;
        }
    if (n == 1)
        *max_switches = 1;
    return longest;
}
