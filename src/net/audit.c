/* The audit of a run. Bytes in must equal bytes out plus bytes held plus drops, per node, pool and
 * link; pauses must pair; a network at rest must have nothing left to send. Every finding fails the
 * run. Nodes are checked where they ran, links and what is left over at the first rank. */
#include "net/harvest.h"

static const char *name_of(const struct net *net, uint32_t node)
{
    return net->topo->nodes[node].name;
}

static int64_t dropped_bytes(const struct notes *notes)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < notes->n_drops; i++)
        bytes += notes->drops[i].bytes;
    return (int64_t)bytes;
}

static void audit_pools(const struct net *net, uint32_t node, const struct xoff_mmu *mmu,
                        int64_t queued_bytes, struct results *results)
{
    struct xoff_mmu_view view;
    xoff_mmu_view(mmu, &view);
    int64_t sum = 0;
    for (uint32_t p = XOFF_POOL_DROP + 1; p < XOFF_N_POOLS; p++)
        sum += view.used_bytes[p];
    if (sum != queued_bytes || view.used_total_bytes != queued_bytes)
        results_add_finding(results,
                            "%s: pools account for %lld B (total %lld B), queues hold %lld B",
                            name_of(net, node), (long long)sum, (long long)view.used_total_bytes,
                            (long long)queued_bytes);
    for (uint32_t p = XOFF_POOL_DROP + 1; p < XOFF_N_POOLS; p++)
        if (view.peak_bytes[p] > view.capacity_bytes[p])
            results_add_finding(results, "%s: pool %u held %lld B of %lld B", name_of(net, node), p,
                                (long long)view.peak_bytes[p], (long long)view.capacity_bytes[p]);
    /* Footroom and headroom may share one space (DSH). Each then has the capacity of both, so the
     * capacities add up to more than the buffer. The view has no peak of the sum, so this checks
     * only the bytes that are held now. */
    int64_t capacity = 0;
    for (uint32_t p = XOFF_POOL_DROP + 1; p < XOFF_N_POOLS; p++)
        capacity += view.capacity_bytes[p];
    const int64_t shared = view.capacity_bytes[XOFF_POOL_SHARED];
    const int64_t used = view.used_bytes[XOFF_POOL_SHARED] + view.used_bytes[XOFF_POOL_HEADROOM];
    if (capacity > view.capacity_total_bytes && shared == view.capacity_bytes[XOFF_POOL_HEADROOM] &&
        used > shared)
        results_add_finding(results, "%s: footroom and headroom hold %lld B of %lld B",
                            name_of(net, node), (long long)used, (long long)shared);
}

/* Checks sw_held(): the causes of pauses and the deadlock detector read lossless bytes from it, by
 * priority, in port and out port. */
static void audit_held(const struct net *net, const struct sw *sw, const int64_t *held_bytes,
                       struct results *results)
{
    for (uint32_t p = 0; p < XOFF_N_PRIORITIES; p++) {
        if (!sw_is_lossless(sw, p))
            continue;
        int64_t noted = 0;
        for (uint32_t in = 0; in < sw->n_ports; in++)
            for (uint32_t out = 0; out < sw->n_ports; out++)
                noted += *sw_held(sw, p, in, out);
        if (noted != held_bytes[p])
            results_add_finding(results, "%s priority %u: %lld B noted by port, %lld B held",
                                name_of(net, sw->node), p, (long long)noted,
                                (long long)held_bytes[p]);
    }
}

static void check_input(const struct net *net, const struct sw *sw, uint32_t in, uint32_t priority,
                        int64_t held_bytes, struct results *results)
{
    const int64_t counted = sw->points[in].queues[priority].bytes;
    if (held_bytes != counted)
        results_add_finding(results,
                            "%s port %u priority %u: congestion point counts %lld B, %lld B are "
                            "held",
                            name_of(net, sw->node), in, priority, (long long)counted,
                            (long long)held_bytes);
}

/* Checks what congestion points at inputs count against sw_held(), where frames lie in the buffer
 * of their input until they are sent. */
static void audit_inputs(const struct net *net, const struct sw *sw, struct results *results)
{
    for (uint32_t in = 0; in < sw->n_ports; in++)
        for (uint32_t p = 0; p < XOFF_N_PRIORITIES; p++) {
            int64_t held = 0;
            for (uint32_t out = 0; sw_is_lossless(sw, p) && out < sw->n_ports; out++)
                held += *sw_held(sw, p, in, out);
            if (sw_is_lossless(sw, p))
                check_input(net, sw, in, p, held, results);
        }
}

/* The same for fabrics where frames leave the buffer of their input earlier. */
static void audit_input_buffers(const struct net *net, const struct sw *sw, struct results *results)
{
    struct fabric_buffer buffer;
    for (uint32_t i = 0; sw_buffer(sw, i, &buffer); i++)
        for (uint32_t account = 0; account < buffer.n_ports; account++)
            for (uint32_t p = 0; p < XOFF_N_PRIORITIES; p++)
                check_input(net, sw, buffer.first_port + account, p,
                            xoff_mmu_ingress_bytes(buffer.mmu, account, p), results);
}

/* Checks what congestion points know of their queues: no more than what is held. */
static void audit_points(const struct net *net, const struct sw *sw, int64_t held_bytes,
                         struct results *results)
{
    int64_t bytes = 0;
    uint64_t n_units = 0;
    for (uint32_t port = 0; port < sw->n_ports; port++)
        for (uint32_t p = 0; p < XOFF_N_PRIORITIES; p++)
            bytes += sw->points[port].queues[p].bytes;
    for (uint32_t q = 0; sw->occupancy && q < sw->occupancy->n_queues; q++)
        n_units += sw->occupancy->queues[q].n;
    if (bytes < 0 || bytes > held_bytes || (n_units && !held_bytes))
        results_add_finding(results,
                            "%s: congestion points see %lld B from inputs and %llu units, but %lld "
                            "B are held",
                            name_of(net, sw->node), (long long)bytes, (unsigned long long)n_units,
                            (long long)held_bytes);
}

static int64_t audit_switch(const struct net *net, const struct sw *sw, struct results *results)
{
    int64_t held = 0, by_priority[XOFF_N_PRIORITIES] = {0};
    struct fabric_buffer buffer;
    for (uint32_t i = 0; sw_buffer(sw, i, &buffer); i++) {
        int64_t bytes = 0;
        for (uint32_t p = 0; p < XOFF_N_PRIORITIES; p++) {
            by_priority[p] += buffer.held_bytes[p] - buffer.undecided_bytes[p];
            bytes += buffer.held_bytes[p];
        }
        audit_pools(net, sw->node, buffer.mmu, bytes, results);
        held += bytes;
    }
    int64_t in = sw->made_bytes, out = 0;
    for (uint32_t port = 0; port < sw->n_ports; port++)
        for (uint32_t p = 0; p < XOFF_N_PRIORITIES; p++) {
            in += (int64_t)sw->ports[port].rx[p].bytes;
            out += (int64_t)sw_queue(sw, port, p)->tx.bytes;
        }
    const int64_t dropped = dropped_bytes(&sw->notes);
    if (in != out + dropped + held)
        results_add_finding(results,
                            "%s: %lld B in or made, but %lld B out, %lld B dropped and %lld B held",
                            name_of(net, sw->node), (long long)in, (long long)out,
                            (long long)dropped, (long long)held);
    audit_held(net, sw, by_priority, results);
    audit_points(net, sw, held, results);
    if (sw->at_inputs && sw->fabric->leaves_inputs)
        audit_input_buffers(net, sw, results);
    else if (sw->at_inputs)
        audit_inputs(net, sw, results);
    return held;
}

/* Checks what the congestion point of a receive queue knows of it: the units of what is held. */
static void audit_receiver(const struct net *net, const struct host *host, struct results *results)
{
    const struct receiver *r = host->receiver;
    for (uint32_t p = 0; r->occupancy && p < XOFF_N_PRIORITIES; p++) {
        uint64_t n_units = 0;
        for (uint32_t i = 0; i < r->spec->n_servers; i++) {
            uint32_t place = r->servers[i].queue.head;
            for (uint32_t k = 0; k < r->servers[i].queue.n; k++) {
                const struct frame *f = store_at(&host->store, place);
                if (f->priority == p && f->kind == FRAME_DATA)
                    n_units += occupancy_of(r->occupancy, f->bytes);
                place = f->next;
            }
        }
        if (n_units != r->occupancy->queues[p].n)
            results_add_finding(results, "%s priority %u: congestion point sees %u units of %llu",
                                name_of(net, host->node), p, r->occupancy->queues[p].n,
                                (unsigned long long)n_units);
    }
}

static int64_t audit_host(struct net *net, struct host *host, struct results *results)
{
    int64_t acks = 0, waiting = 0;
    for (uint32_t i = 0; host->receiver && i < host->receiver->spec->n_servers; i++)
        waiting += host->receiver->servers[i].queue.bytes;
    for (uint32_t p = 0; p < XOFF_N_PRIORITIES; p++)
        acks += host->acks[p].bytes;
    int64_t in = 0, out = 0;
    for (uint32_t p = 0; p < XOFF_N_PRIORITIES; p++) {
        in += (int64_t)host->port.rx[p].bytes;
        out += (int64_t)host->tx[p].bytes;
    }
    const int64_t dropped = dropped_bytes(&host->notes);
    if (in != host->consumed_bytes + dropped + waiting)
        results_add_finding(
            results, "%s: %lld B in, but %lld B consumed, %lld B dropped and %lld B waiting",
            name_of(net, host->node), (long long)in, (long long)host->consumed_bytes,
            (long long)dropped, (long long)waiting);
    if (host->offered_bytes != out + acks)
        results_add_finding(results, "%s: %lld B to send, but %lld B sent and %lld B queued",
                            name_of(net, host->node), (long long)host->offered_bytes,
                            (long long)out, (long long)acks);
    if (host->receiver) {
        audit_pools(net, host->node, &host->receiver->mmu, waiting, results);
        audit_receiver(net, host, results);
    }
    return acks + waiting;
}

void audit_node(struct net *net, uint32_t node, struct harvest *h, struct results *scratch)
{
    h->node.held_bytes = node < net->n_hosts ? audit_host(net, &net->hosts[node], scratch)
                                             : audit_switch(net, net_sw(net, node), scratch);
}

static void audit_link(const struct net *net, const struct harvests *all,
                       const struct result_port *from, const struct result_port *to,
                       struct results *results)
{
    const struct harvest_port *books = all->nodes[from->node].arrays[HARVEST_BOOKS].at;
    const struct harvest_port *theirs = all->nodes[to->node].arrays[HARVEST_BOOKS].at;
    const struct harvest_port *port = &books[from->port];
    const uint64_t in_flight_bytes = theirs[to->port].in_flight_bytes;
    uint64_t tx = 0, rx = 0;
    for (uint32_t p = 0; p < XOFF_N_PRIORITIES; p++) {
        const struct result_queue *a = &from->queue[p], *b = &to->queue[p];
        tx += a->tx_bytes;
        rx += b->rx_bytes;
        const uint64_t ended = a->resume_tx + port->lapsed_tx[p];
        /* Under a policy without resumes, pauses run out and need no resume to pair with. */
        if (a->pause_tx < ended || (port->resumes && a->pause_tx > ended + 1))
            results_add_finding(
                results, "%s port %u priority %u: %llu pauses and %llu resumes sent do not pair",
                name_of(net, from->node), from->port, p, (unsigned long long)a->pause_tx,
                (unsigned long long)a->resume_tx);
        if (b->pause_rx > a->pause_tx || b->resume_rx > a->resume_tx)
            results_add_finding(results,
                                "%s port %u priority %u: more pauses received than %s sent",
                                name_of(net, to->node), to->port, p, name_of(net, from->node));
    }
    if (tx != rx + in_flight_bytes)
        results_add_finding(
            results, "link %s port %u to %s: %llu B sent, %llu B received, %llu B on the wire",
            name_of(net, from->node), from->port, name_of(net, to->node), (unsigned long long)tx,
            (unsigned long long)rx, (unsigned long long)in_flight_bytes);
}

/* In a network at rest every reliable flow must be acknowledged to its end. */
void audit_flows(struct net *net, const struct host *host, struct results *results)
{
    for (uint32_t i = 0; i < host->n_flow_notes; i++) {
        const struct flow_note *note = &host->flow_notes[i];
        if (!note->open || !note->reliable)
            continue;
        const struct flow *flow = flow_at(host, note->open - 1);
        const uint64_t acked = flow->rel.una, sent = flow->rel.sent_to;
        if (acked < sent || sent < flow_end(host, flow, net->end_at))
            results_add_finding(
                results, "%s: flow %u to %s stands still, %llu of %llu B acknowledged",
                name_of(net, host->node), i, name_of(net, note->to), (unsigned long long)acked,
                (unsigned long long)flow_end(host, flow, net->end_at));
    }
}

static void add_findings(const struct harvest *h, uint32_t array, struct results *results)
{
    const struct result_finding *findings = h->arrays[array].at;
    for (uint64_t i = 0; i < h->arrays[array].n; i++)
        results_add_finding(results, "%s", findings[i].text);
}

/* Nothing leaves a host whose only link has failed for good: its flows are unfinished, and reported
 * as such, but nothing is wrong with the books. */
void audit(const struct net *net, const struct harvests *all, struct results *results)
{
    for (uint32_t n = net->n_hosts; n < results->n_nodes; n++)
        add_findings(&all->nodes[n], HARVEST_FINDINGS, results);
    for (uint32_t n = 0; n < net->n_hosts; n++)
        add_findings(&all->nodes[n], HARVEST_FINDINGS, results);
    for (uint32_t i = 0; i < results->n_ports; i++) {
        const struct result_port *from = &results->ports[i];
        const struct topo_node *peer = &net->topo->nodes[from->peer_node];
        audit_link(net, all, from, &results->ports[peer->first_port + from->peer_port], results);
    }
    if (!net->is_at_rest || net->n_deadlocks)
        return;
    for (uint32_t h = 0; h < net->n_hosts; h++)
        if (!all->nodes[h].is_cut_off)
            add_findings(&all->nodes[h], HARVEST_STUCK, results);
    for (uint32_t n = 0; n < results->n_nodes; n++)
        if (all->nodes[n].node.held_bytes && !all->nodes[n].is_cut_off)
            results_add_finding(results, "%s: %lld B stuck after the network came to rest",
                                name_of(net, n), (long long)all->nodes[n].node.held_bytes);
}
