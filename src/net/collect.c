/* Collects the results of a run from its nodes: flows with their ideal times, counters, pauses with
 * the pause each is under, and the digest over all of it. */
#include <stdlib.h>
#include <string.h>

#include "net/model.h"

static void *make(uint64_t n, size_t size)
{
    void *array = calloc(n ? n : 1, size);
    XOFF_ASSERT(array);
    return array;
}

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

static int compare_flows(const void *a, const void *b)
{
    const struct result_flow *x = a, *y = b;
    if (x->start_at != y->start_at)
        return x->start_at < y->start_at ? -1 : 1;
    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

static void collect_flows(struct net *net, struct results *r)
{
    uint64_t *first = make(net->n_hosts + 1, sizeof *first);
    for (uint32_t h = 0; h < net->n_hosts; h++)
        first[h + 1] = first[h] + net->hosts[h].n_flow_notes;
    r->n_flows = first[net->n_hosts];
    r->flows = make(r->n_flows, sizeof *r->flows);
    /* Ideal times are by the routes at the start, which may have changed since. */
    struct routes *routes = net->routes, *made = NULL;
    struct xoff_err err;
    if (routes_next_change(net->topo, 0) != XOFF_NEVER) {
        XOFF_ASSERT(routes_create(net->topo, 0, false, &made, &err) == 0);
        routes = made;
    }
    struct hop *hops = make(2 * (uint64_t)net->topo->n_nodes, sizeof *hops);
    for (uint32_t h = 0; h < net->n_hosts; h++)
        for (uint32_t i = 0; i < net->hosts[h].n_flow_notes; i++) {
            const struct flow_note *n = &net->hosts[h].flow_notes[i];
            r->flows[first[h] + i] = (struct result_flow){
                .from = h,
                .to = n->to,
                .number = i,
                .tag = n->tag,
                .priority = n->priority,
                .reliable = n->reliable,
                .offered_bytes = n->offered ? n->offered /* an endless flow never closes */
                                            : flow_at(&net->hosts[h], n->open)->rel.sent_to,
                .sent_bytes = n->sent,
                .start_at = n->start_at,
                .finish_at = XOFF_NEVER,
                .acked_at = n->acked_at,
                .ideal_for = n->is_connection ? 0 : ideal_of(net, routes, h, n, hops),
                .retransmitted_frames = n->again_frames,
                .notices = n->n_notices,
                .tags_sent = n->n_tags_sent,
                .tags_back = n->n_tags_back,
            };
        }
    routes_destroy(made);
    free(hops);
    for (uint32_t h = 0; h < net->n_hosts; h++) {
        const struct host *host = &net->hosts[h];
        for (uint32_t i = 0; host->rx && i <= host->rx_mask; i++)
            if (host->rx[i].key) {
                struct rx_flow *rx = &host->rx[i];
                struct result_flow *f = &r->flows[first[(rx->key - 1) >> 32] + rx->message];
                f->delivered_bytes = rx_rel(host, rx)->delivered - rx->message_from;
                f->marked_frames = rx->marked;
            }
        for (uint32_t i = 0; i < host->n_rx_notes; i++) {
            const struct rx_note *n = &host->rx_notes[i];
            struct result_flow *f = &r->flows[first[n->from] + n->number];
            f->delivered_bytes = n->received;
            f->marked_frames = n->marked;
            f->finish_at = n->finish_at;
        }
    }
    marks_collect_flows(net, first, r);
    free(first);
    qsort(r->flows, r->n_flows, sizeof *r->flows, compare_flows);
}

/* Reports the buffer in which the port used the largest share of its own headroom. */
static void collect_headroom(const struct sw *sw, uint32_t port, uint32_t priority,
                             struct result_queue *q)
{
    struct fabric_buffer buffer;
    bool is_first = true;
    for (uint32_t i = 0; sw_buffer(sw, i, &buffer); i++) {
        const uint32_t account = port - buffer.first_port;
        if (account >= buffer.n_ports)
            continue;
        const int64_t peak = xoff_mmu_headroom_peak(buffer.mmu, account, priority);
        if (!is_first && peak <= q->headroom_peak_bytes)
            continue;
        is_first = false;
        q->headroom_peak_bytes = peak;
        q->headroom_bytes = xoff_mmu_headroom_limit(buffer.mmu, account, priority);
    }
}

static void collect_receiver(const struct receiver *r, uint32_t priority, struct result_queue *q)
{
    if (!r || !r->point)
        return;
    q->marked_frames = r->n_marked[priority];
    q->samples = r->point->queues[priority].n_samples;
    q->notices = r->point->queues[priority].n_notices;
}

static void collect_port(struct net *net, struct results *r, uint32_t index)
{
    const struct topo_port *tp = &net->topo->ports[index];
    const struct topo_node *node = &net->topo->nodes[tp->node];
    const uint32_t number = index - node->first_port;
    const struct sw *sw = node->kind == TOPO_SWITCH ? net_sw(net, tp->node) : NULL;
    struct port *port = net_port(net, tp->node, number);
    struct result_port *out = &r->ports[index];
    port_gate_expire(port, net->end_at);
    *out = (struct result_port){
        .node = tp->node,
        .port = number,
        .peer_node = topo_peer(net->topo, tp->node, number),
        .peer_port = topo_peer_port(net->topo, tp->node, number),
        .link = tp->link,
        .rate_bps = net->topo->links[tp->link].rate_bps,
        .busy_for = port->busy_for,
        .control_tx_frames = port->control_tx,
        .control_rx_frames = port->control_rx,
    };
    for (uint32_t p = 0; p < XOFF_N_PRIORITIES; p++) {
        const struct tally *tx = sw ? &sw_queue(sw, number, p)->tx : &net->hosts[tp->node].tx[p];
        struct result_queue *q = &out->queue[p];
        *q = (struct result_queue){
            .tx_frames = tx->frames,
            .tx_bytes = tx->bytes,
            .rx_frames = port->rx[p].frames,
            .rx_bytes = port->rx[p].bytes,
            .pause_tx = port->pause_tx[p],
            .resume_tx = port->resume_tx[p],
            .pause_rx = port->pause_rx[p],
            .resume_rx = port->resume_rx[p],
            .paused_for = port->paused_for[p],
        };
        if (!(port->gate.open >> p & 1))
            q->paused_for += net->end_at - port->closed_at[p];
        r->packet_hops += q->tx_frames;
        if (!sw) {
            collect_receiver(net->hosts[tp->node].receiver, p, q);
            continue;
        }
        q->marked_frames = sw_queue(sw, number, p)->marked;
        q->samples = sw->points[number].queues[p].n_samples;
        q->notices = sw->points[number].queues[p].n_notices;
        q->queue_peak_bytes = sw_queue(sw, number, p)->peak_bytes;
        if (sw_is_lossless(sw, p))
            collect_headroom(sw, number, p, q);
    }
    r->control_hops += port->control_tx;
    marks_collect_port(net, index, out);
}

static void collect_node(struct net *net, struct results *r, uint32_t n)
{
    struct result_node *out = &r->nodes[n];
    const struct topo_node *node = &net->topo->nodes[n];
    memcpy(out->name, node->name, sizeof out->name);
    out->is_switch = node->kind == TOPO_SWITCH;
    out->number = node->number;
    if (!out->is_switch)
        return;
    const struct sw *sw = net_sw(net, n);
    out->stops = sw->n_stops;
    out->stopped_for =
        sw->stopped_for + (sw->stopped_at == XOFF_NEVER ? 0 : net->end_at - sw->stopped_at);
}

static void collect_buffer(struct results *r, uint32_t node, const char *name,
                           const struct xoff_mmu *mmu)
{
    struct result_buffer *out = &r->buffers[r->n_buffers++];
    out->node = node;
    XOFF_ASSERT(strlen(name) < sizeof out->name);
    memcpy(out->name, name, strlen(name) + 1);
    xoff_mmu_view(mmu, &out->view);
}

static void collect_buffers(struct net *net, struct results *r)
{
    uint32_t n = 0;
    struct fabric_buffer buffer;
    for (uint32_t s = 0; s < net->n_switches; s++)
        for (uint32_t i = 0; sw_buffer(net->switches[s], i, &buffer); i++)
            n++;
    r->buffers = make(net->n_hosts + n, sizeof *r->buffers);
    for (uint32_t h = 0; h < net->n_hosts; h++)
        if (net->hosts[h].receiver)
            collect_buffer(r, h, "receive", &net->hosts[h].receiver->mmu);
    for (uint32_t s = 0; s < net->n_switches; s++)
        for (uint32_t i = 0; sw_buffer(net->switches[s], i, &buffer); i++)
            collect_buffer(r, net->n_hosts + s, buffer.name, buffer.mmu);
}

/* A pause by its node and order, for sorting. */
struct pause_key {
    xoff_time at;
    uint32_t node;
    uint64_t order;
};

static int compare_pauses(const void *a, const void *b)
{
    const struct pause_key *x = a, *y = b;
    if (x->at != y->at)
        return x->at < y->at ? -1 : 1;
    if (x->node != y->node)
        return x->node < y->node ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

/* Finds the XOFF that closed the egress queue named in `note`: the last one that the peer decided
 * early enough to have arrived and taken effect when the gate closed. */
static uint64_t parent_of(const struct net *net, uint32_t node, const struct pause_note *note)
{
    if (!note->egress_paused || note->egress_port == UINT32_MAX)
        return UINT64_MAX;
    const uint32_t peer = topo_peer(net->topo, node, note->egress_port);
    const uint32_t peer_port = topo_peer_port(net->topo, node, note->egress_port);
    const struct port *port = net_port(net, node, note->egress_port);
    const xoff_time by = note->egress_closed_at - port->gate_cfg.response_for - port->delay;
    const struct notes *notes = net_notes(net, peer);
    uint64_t low = 0, high = notes->n_pauses;
    while (low < high) {
        const uint64_t mid = (low + high) / 2;
        if (notes->pauses[mid].at <= by)
            low = mid + 1;
        else
            high = mid;
    }
    while (low-- > 0) {
        const struct pause_note *n = &notes->pauses[low];
        if (n->port == peer_port && n->pause && (n->priorities >> note->egress_priority & 1))
            return low;
    }
    return UINT64_MAX;
}

static void collect_pauses(struct net *net, struct results *r)
{
    const uint32_t n_nodes = net->topo->n_nodes;
    uint64_t n = 0;
    for (uint32_t node = 0; node < n_nodes; node++) {
        n += net_notes(net, node)->n_pauses;
        r->pauses_left_out += net_notes(net, node)->pauses_left_out;
    }
    struct pause_key *keys = make(n, sizeof *keys);
    uint32_t *index = make(n, sizeof *index); /* indices of (node, order), sorted by time */
    uint64_t *first = make(n_nodes + 1, sizeof *first);
    for (uint32_t node = 0; node < n_nodes; node++) {
        const struct notes *notes = net_notes(net, node);
        for (uint64_t i = 0; i < notes->n_pauses; i++)
            keys[first[node] + i] = (struct pause_key){notes->pauses[i].at, node, i};
        first[node + 1] = first[node] + notes->n_pauses;
    }
    qsort(keys, n, sizeof *keys, compare_pauses);
    for (uint64_t k = 0; k < n; k++)
        index[first[keys[k].node] + keys[k].order] = (uint32_t)k;
    r->n_pauses = n;
    r->pauses = make(n, sizeof *r->pauses);
    for (uint64_t k = 0; k < n; k++) {
        const struct pause_note *note = &net_notes(net, keys[k].node)->pauses[keys[k].order];
        const uint64_t parent = parent_of(net, keys[k].node, note);
        const uint32_t peer = note->egress_port == UINT32_MAX
                                  ? 0
                                  : topo_peer(net->topo, keys[k].node, note->egress_port);
        r->pauses[k] = (struct result_pause){
            .at = note->at,
            .node = keys[k].node,
            .port = note->port,
            .priorities = note->priorities,
            .pause = note->pause,
            .unit = note->unit,
            .occupied_bytes = note->occupied_bytes,
            .threshold_bytes = note->threshold_bytes,
            .egress_port = note->egress_port,
            .egress_priority = note->egress_priority,
            .egress_paused = note->egress_paused,
            .parent = parent == UINT64_MAX ? UINT32_MAX : index[first[peer] + parent],
        };
    }
    free(keys), free(index), free(first);
}

static void collect_notes(struct net *net, struct results *r)
{
    for (uint32_t node = 0; node < net->topo->n_nodes; node++) {
        r->n_drops += net_notes(net, node)->n_drops;
        r->n_samples += net_notes(net, node)->n_samples;
    }
    r->drops = make(r->n_drops, sizeof *r->drops);
    r->samples = make(r->n_samples, sizeof *r->samples);
    uint64_t d = 0, s = 0;
    for (uint32_t node = 0; node < net->topo->n_nodes; node++) {
        const struct notes *notes = net_notes(net, node);
        for (uint32_t i = 0; i < notes->n_drops; i++) {
            const struct drop_note *n = &notes->drops[i];
            r->drops[d++] = (struct result_drop){.node = node,
                                                 .port = n->port,
                                                 .out_port = n->out_port,
                                                 .priority = n->priority,
                                                 .cause = n->cause,
                                                 .lossless = n->is_agreed &&
                                                             net->spec.lossless >> n->priority & 1,
                                                 .frames = n->frames,
                                                 .bytes = n->bytes,
                                                 .first_at = n->first_at};
        }
        if (notes->n_samples)
            memcpy(r->samples + s, notes->samples, sizeof *r->samples * notes->n_samples);
        s += notes->n_samples;
    }
}

static int compare_operations(const void *a, const void *b)
{
    const struct result_operation *x = a, *y = b;
    if (x->finish_at != y->finish_at)
        return x->finish_at < y->finish_at ? -1 : 1;
    if (x->host != y->host)
        return x->host < y->host ? -1 : 1;
    if (x->tag != y->tag)
        return x->tag < y->tag ? -1 : 1;
    return x->start_at < y->start_at ? -1 : x->start_at > y->start_at;
}

static int compare_heard(const void *a, const void *b)
{
    const struct result_heard *x = a, *y = b;
    if (x->at != y->at)
        return x->at < y->at ? -1 : 1;
    if (x->node != y->node)
        return x->node < y->node ? -1 : 1;
    if (x->port != y->port)
        return x->port < y->port ? -1 : 1;
    return x->pause < y->pause ? -1 : x->pause > y->pause;
}

static void collect_operations(struct net *net, struct results *r)
{
    for (uint32_t h = 0; h < net->n_hosts; h++)
        r->n_operations += net->hosts[h].n_operations;
    r->operations = make(r->n_operations, sizeof *r->operations);
    uint64_t k = 0;
    for (uint32_t h = 0; h < net->n_hosts; h++)
        for (uint32_t i = 0; i < net->hosts[h].n_operations; i++)
            r->operations[k++] = net->hosts[h].operations[i];
    qsort(r->operations, r->n_operations, sizeof *r->operations, compare_operations);
    const uint32_t n_apps = net->spec.apps ? net->spec.apps->n : 0;
    r->running = make(n_apps, sizeof *r->running);
    for (uint32_t a = 0; a < n_apps; a++) {
        const struct app *app = &net->apps[a];
        const uint64_t n = app->ops->n_under_way ? app->ops->n_under_way(app->cfg, app->state) : 0;
        if (n)
            r->running[r->n_running++] = (struct result_running){app->host, app->tag, n};
    }
}

static void collect_heard(struct net *net, struct results *r)
{
    for (uint32_t n = 0; n < net->topo->n_nodes; n++)
        r->n_heard += net_notes(net, n)->n_heard;
    r->heard = make(r->n_heard, sizeof *r->heard);
    uint64_t k = 0;
    for (uint32_t n = 0; n < net->topo->n_nodes; n++)
        for (uint64_t i = 0; i < net_notes(net, n)->n_heard; i++)
            r->heard[k++] = net_notes(net, n)->heard[i];
    qsort(r->heard, r->n_heard, sizeof *r->heard, compare_heard);
}

/* Sums the maxima of all switches. */
static void collect_maxima(const struct net *net, struct results *r)
{
    struct fabric_buffer buffer;
    for (uint32_t s = 0; s < net->n_switches; s++)
        for (uint32_t i = 0; sw_buffer(net->switches[s], i, &buffer); i++) {
            if (!buffer.maxima)
                continue;
            if (!r->headroom_maxima)
                r->headroom_maxima = make(RESULT_MAXIMA, sizeof *r->headroom_maxima);
            for (uint32_t k = 0; k < RESULT_MAXIMA; k++)
                r->headroom_maxima[k] += buffer.maxima[k];
        }
}

/* A fabric with a policy for each output uses of each what belongs to that output: together they
 * need as many counters as one of them has. */
static void collect_counters(const struct net *net, struct results *r)
{
    for (uint32_t s = 0; s < net->n_switches; s++) {
        const struct sw *sw = net->switches[s];
        const uint64_t n = sw->fabric->policy(sw, 0, 0)->shape.n_counters;
        r->n_pause_counters = n > r->n_pause_counters ? n : r->n_pause_counters;
    }
}

static int compare_samples(const void *a, const void *b)
{
    const struct result_sample *x = a, *y = b;
    if (x->at != y->at)
        return x->at < y->at ? -1 : 1;
    if (x->node != y->node)
        return x->node < y->node ? -1 : 1;
    if (x->port != y->port)
        return x->port < y->port ? -1 : 1;
    if (x->priority != y->priority)
        return x->priority < y->priority ? -1 : 1;
    return x->metric < y->metric ? -1 : x->metric > y->metric;
}

struct results *net_collect(struct net *net)
{
    struct results *r = make(1, sizeof *r);
    const struct sim_figures figures = sim_figures(net->sim);
    r->seed = net->spec.seed;
    r->end_at = net->end_at;
    r->stop_at = net->spec.stop;
    r->measure_from = net->spec.measure_from;
    r->measure_to = net->spec.measure_to;
    r->is_at_rest = net->is_at_rest;
    r->curves = net->spec.curves;
    r->n_curves = net->spec.n_curves;
    r->threads = net->spec.n_threads;
    r->events = figures.events;
    r->windows = figures.windows;
    r->interrupted = net->stopped;
    r->lossless = net->spec.lossless;
    r->n_nodes = net->topo->n_nodes;
    r->n_hosts = net->n_hosts;
    r->nodes = make(r->n_nodes, sizeof *r->nodes);
    r->n_ports = net->topo->n_ports;
    r->ports = make(r->n_ports, sizeof *r->ports);
    for (uint32_t n = 0; n < r->n_nodes; n++)
        collect_node(net, r, n);
    collect_buffers(net, r);
    for (uint32_t p = 0; p < r->n_ports; p++)
        collect_port(net, r, p);
    collect_flows(net, r);
    collect_operations(net, r);
    collect_heard(net, r);
    histogram_collect(net, r);
    collect_maxima(net, r);
    collect_counters(net, r);
    dcbx_collect(net, r);
    capture_collect(net, r);
    trace_collect(net, r);
    collect_pauses(net, r);
    collect_notes(net, r);
    qsort(r->samples, r->n_samples, sizeof *r->samples, compare_samples);
    r->n_deadlocks = net->n_deadlocks;
    r->deadlocks = net->deadlocks;
    r->deadlock_ports = net->deadlock_ports;
    net->deadlocks = NULL;
    net->deadlock_ports = NULL;
    audit(net, r);
    r->digest = results_digest(r);
    return r;
}

void net_free_results(struct results *r)
{
    if (!r)
        return;
    free(r->nodes), free(r->buffers), free(r->ports), free(r->flows), free(r->drops),
        free(r->pauses);
    for (uint32_t i = 0; i < r->n_histograms; i++)
        free(r->histograms[i].counts);
    free(r->histograms), free(r->headroom_maxima);
    for (uint32_t i = 0; i < r->n_captures; i++)
        free(r->captures[i].frames), free(r->captures[i].extras);
    for (uint32_t i = 0; i < r->n_lldp; i++)
        free(r->lldp[i].octets);
    free(r->captures), free(r->trace), free(r->lldp);
    free(r->operations), free(r->running), free(r->heard), free(r->samples), free(r->deadlocks),
        free(r->deadlock_ports), free(r->findings), free(r->expectations), free(r);
}
