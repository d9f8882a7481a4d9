/* Makes the results of a run of what its nodes had to say (harvest.h): flows with their ideal
 * times, counters, pauses with the pause each is under, and the digest over all of it. */
#include <stdlib.h>
#include <string.h>

#include "net/flow_record.h"
#include "net/fold.h"
#include "net/harvest.h"

static void *make(uint64_t n, size_t size)
{
    void *array = calloc(n ? n : 1, size);
    XOFF_ASSERT(array);
    return array;
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

/* Concatenates an array of all nodes, by node; *n is their number. */
static void *join(const struct net *net, const struct harvests *all, uint32_t array, size_t size,
                  uint64_t *n)
{
    *n = 0;
    for (uint32_t i = 0; i < net->topo->n_nodes; i++)
        *n += all->nodes[i].arrays[array].n;
    unsigned char *joined = make(*n, size), *at = joined;
    for (uint32_t i = 0; i < net->topo->n_nodes; i++) {
        const struct harvest *h = &all->nodes[i];
        if (h->arrays[array].n)
            memcpy(at, h->arrays[array].at, size * h->arrays[array].n);
        at += size * h->arrays[array].n;
    }
    return joined;
}

static void collect_sent(const struct net *net, const struct harvests *all, const uint64_t *first,
                         struct results *r)
{
    struct flow_records records;
    flow_records_init(&records, net);
    for (uint32_t h = 0; h < net->n_hosts; h++) {
        uint64_t n_notes;
        const struct flow_note *notes = harvest_flows(&all->nodes[h], &n_notes);
        for (uint64_t i = 0; i < n_notes; i++)
            r->flows[first[h] + i] = flow_record(&records, h, &notes[i]);
        const struct mark_flow *endless = all->nodes[h].arrays[HARVEST_ENDLESS].at;
        for (uint64_t i = 0; i < all->nodes[h].arrays[HARVEST_ENDLESS].n; i++)
            r->flows[harvest_place(all, first, h, endless[i].number)].offered_bytes =
                endless[i].bytes;
    }
    flow_records_fini(&records);
}

static void collect_received(const struct net *net, const struct harvests *all,
                             const uint64_t *first, struct results *r)
{
    for (uint32_t h = 0; h < net->n_hosts; h++) {
        const struct harvest *host = &all->nodes[h];
        const struct harvest_rx *open = host->arrays[HARVEST_RX_OPEN].at;
        for (uint64_t i = 0; i < host->arrays[HARVEST_RX_OPEN].n; i++) {
            const uint64_t place = harvest_place(all, first, open[i].from, open[i].number);
            if (place == HARVEST_NO_FLOW) /* the last message of a connection that is open */
                continue;
            r->flows[place].delivered_bytes = open[i].delivered;
            r->flows[place].marked_frames = open[i].marked;
        }
        const struct rx_note *notes = host->arrays[HARVEST_RX_NOTES].at;
        for (uint64_t i = 0; i < host->arrays[HARVEST_RX_NOTES].n; i++) {
            struct result_flow *f =
                &r->flows[harvest_place(all, first, notes[i].from, notes[i].number)];
            f->delivered_bytes = notes[i].received;
            f->marked_frames = notes[i].marked;
            f->finish_at = notes[i].finish_at;
        }
    }
}

static void collect_flows(const struct net *net, const struct harvests *all, struct results *r)
{
    uint64_t *first = make(net->n_hosts + 1, sizeof *first);
    for (uint32_t h = 0; h < net->n_hosts; h++)
        first[h + 1] = first[h] + all->nodes[h].arrays[HARVEST_FLOWS].n;
    r->n_flows = first[net->n_hosts];
    r->flows = make(r->n_flows, sizeof *r->flows);
    collect_sent(net, all, first, r);
    collect_received(net, all, first, r);
    marks_collect_flows(net, all, first, r);
    free(first);
    if (net->fold)
        r->sums = fold_take_sums(net, r);
    qsort(r->flows, r->n_flows, sizeof *r->flows, compare_flows);
}

/* Ports of this process are in their places already. */
static void collect_ports(const struct net *net, const struct harvests *all, struct results *r)
{
    for (uint32_t n = 0; n < r->n_nodes; n++) {
        struct result_port *ports = &r->ports[net->topo->nodes[n].first_port];
        if (all->nodes[n].arrays[HARVEST_PORTS].at != ports)
            memcpy(ports, all->nodes[n].arrays[HARVEST_PORTS].at,
                   sizeof *ports * all->nodes[n].arrays[HARVEST_PORTS].n);
    }
    for (uint32_t i = 0; i < r->n_ports; i++) {
        for (uint32_t p = 0; p < XOFF_N_PRIORITIES; p++)
            r->packet_hops += r->ports[i].queue[p].tx_frames;
        r->control_hops += r->ports[i].control_tx_frames;
    }
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
static uint64_t parent_of(const struct net *net, const struct harvests *all, uint32_t node,
                          const struct pause_note *note)
{
    if (!note->egress_paused || note->egress_port == UINT32_MAX)
        return UINT64_MAX;
    const uint32_t peer = topo_peer(net->topo, node, note->egress_port);
    const uint32_t peer_port = topo_peer_port(net->topo, node, note->egress_port);
    const struct harvest_port *books = all->nodes[node].arrays[HARVEST_BOOKS].at;
    const xoff_time by = note->egress_closed_at - books[note->egress_port].heard_for;
    const struct pause_note *pauses = all->nodes[peer].arrays[HARVEST_PAUSES].at;
    uint64_t low = 0, high = all->nodes[peer].arrays[HARVEST_PAUSES].n;
    while (low < high) {
        const uint64_t mid = (low + high) / 2;
        if (pauses[mid].at <= by)
            low = mid + 1;
        else
            high = mid;
    }
    while (low-- > 0) {
        const struct pause_note *n = &pauses[low];
        if (n->port == peer_port && n->pause && (n->priorities >> note->egress_priority & 1))
            return low;
    }
    return UINT64_MAX;
}

static void collect_pauses(const struct net *net, const struct harvests *all, struct results *r)
{
    const uint32_t n_nodes = net->topo->n_nodes;
    uint64_t *first = make(n_nodes + 1, sizeof *first);
    for (uint32_t node = 0; node < n_nodes; node++) {
        first[node + 1] = first[node] + all->nodes[node].arrays[HARVEST_PAUSES].n;
        r->pauses_left_out += all->nodes[node].pauses_left_out;
    }
    const uint64_t n = first[n_nodes];
    struct pause_key *keys = make(n, sizeof *keys);
    uint32_t *index = make(n, sizeof *index); /* indices of (node, order), sorted by time */
    for (uint32_t node = 0; node < n_nodes; node++) {
        const struct pause_note *pauses = all->nodes[node].arrays[HARVEST_PAUSES].at;
        for (uint64_t i = 0; i < all->nodes[node].arrays[HARVEST_PAUSES].n; i++)
            keys[first[node] + i] = (struct pause_key){pauses[i].at, node, i};
    }
    qsort(keys, n, sizeof *keys, compare_pauses);
    for (uint64_t k = 0; k < n; k++)
        index[first[keys[k].node] + keys[k].order] = (uint32_t)k;
    r->n_pauses = n;
    r->pauses = make(n, sizeof *r->pauses);
    for (uint64_t k = 0; k < n; k++) {
        const struct pause_note *pauses = all->nodes[keys[k].node].arrays[HARVEST_PAUSES].at;
        const struct pause_note *note = &pauses[keys[k].order];
        const uint64_t parent = parent_of(net, all, keys[k].node, note);
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

static void collect_drops(const struct net *net, const struct harvests *all, struct results *r)
{
    for (uint32_t node = 0; node < net->topo->n_nodes; node++)
        r->n_drops += (uint32_t)all->nodes[node].arrays[HARVEST_DROPS].n;
    r->drops = make(r->n_drops, sizeof *r->drops);
    uint64_t d = 0;
    for (uint32_t node = 0; node < net->topo->n_nodes; node++) {
        const struct drop_note *drops = all->nodes[node].arrays[HARVEST_DROPS].at;
        for (uint64_t i = 0; i < all->nodes[node].arrays[HARVEST_DROPS].n; i++) {
            const struct drop_note *n = &drops[i];
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

static void collect_histograms(const struct net *net, const struct harvests *all, struct results *r)
{
    if (!net->spec.histogram_every)
        return;
    for (uint32_t n = net->n_hosts; n < net->topo->n_nodes; n++)
        r->n_histograms += net->topo->nodes[n].n_ports;
    r->histograms = make(r->n_histograms, sizeof *r->histograms);
    uint32_t k = 0;
    for (uint32_t n = net->n_hosts; n < net->topo->n_nodes; n++) {
        const uint64_t *n_bins = all->nodes[n].arrays[HARVEST_BINS].at;
        const uint64_t *counts = n_bins + net->topo->nodes[n].n_ports;
        for (uint32_t p = 0; p < net->topo->nodes[n].n_ports; p++) {
            struct result_histogram *h = &r->histograms[k++];
            *h = (struct result_histogram){.node = n, .port = p, .n = (uint32_t)n_bins[p]};
            h->counts = make(h->n, sizeof *h->counts);
            memcpy(h->counts, counts, sizeof *h->counts * h->n);
            counts += h->n;
        }
    }
}

static void add_dcbx(const struct result_dcbx *from, struct result_dcbx *to)
{
    to->sent += from->sent;
    to->received += from->received;
    to->changes += from->changes;
    to->ports += from->ports;
    to->peers += from->peers;
    to->taken += from->taken;
    to->differing += from->differing;
    to->unusable += from->unusable;
    to->multiple += from->multiple;
    to->foreign += from->foreign;
    to->lossless += from->lossless;
}

/* Figures of each node, and sums over all of them. */
static void collect_nodes(const struct net *net, const struct harvests *all, struct results *r)
{
    for (uint32_t n = 0; n < net->topo->n_nodes; n++) {
        const struct harvest *h = &all->nodes[n];
        r->nodes[n] = h->node;
        add_dcbx(&h->dcbx, &r->dcbx);
        if (h->n_pause_counters > r->n_pause_counters)
            r->n_pause_counters = h->n_pause_counters;
        const uint64_t *maxima = h->arrays[HARVEST_MAXIMA].at;
        if (h->arrays[HARVEST_MAXIMA].n && !r->headroom_maxima)
            r->headroom_maxima = make(RESULT_MAXIMA, sizeof *r->headroom_maxima);
        for (uint64_t k = 0; k < h->arrays[HARVEST_MAXIMA].n; k++)
            r->headroom_maxima[k] += maxima[k];
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

static struct results *create_results(const struct net *net)
{
    struct results *r = make(1, sizeof *r);
    r->seed = net->spec.seed;
    r->end_at = net->end_at;
    r->stop_at = net->spec.stop;
    r->measure_from = net->spec.measure_from;
    r->measure_to = net->spec.measure_to;
    r->is_at_rest = net->is_at_rest;
    r->curves = net->spec.curves;
    r->n_curves = net->spec.n_curves;
    r->threads = net->spec.n_threads;
    r->ranks = net->spec.ranks ? net->spec.ranks->n : 1;
    r->windows = sim_figures(net->sim).windows;
    r->interrupted = net->stopped;
    r->lossless = net->spec.lossless;
    r->n_nodes = net->topo->n_nodes;
    r->n_hosts = net->n_hosts;
    r->nodes = make(r->n_nodes, sizeof *r->nodes);
    r->n_ports = net->topo->n_ports;
    r->ports = make(r->n_ports, sizeof *r->ports);
    return r;
}

/* Tables that are the same entries in one array. */
static void collect_joined(const struct net *net, const struct harvests *all, struct results *r)
{
    uint64_t n;
    r->buffers = join(net, all, HARVEST_BUFFERS, sizeof *r->buffers, &n);
    r->n_buffers = (uint32_t)n;
    r->operations = join(net, all, HARVEST_OPERATIONS, sizeof *r->operations, &r->n_operations);
    qsort(r->operations, r->n_operations, sizeof *r->operations, compare_operations);
    r->running = join(net, all, HARVEST_RUNNING, sizeof *r->running, &n);
    r->n_running = (uint32_t)n;
    r->heard = join(net, all, HARVEST_HEARD, sizeof *r->heard, &r->n_heard);
    qsort(r->heard, r->n_heard, sizeof *r->heard, compare_heard);
    r->samples = join(net, all, HARVEST_SAMPLES, sizeof *r->samples, &r->n_samples);
    qsort(r->samples, r->n_samples, sizeof *r->samples, compare_samples);
}

struct results *net_collect(struct net *net)
{
    const bool is_first = !net->spec.ranks || net->spec.ranks->rank == 0;
    struct results *r = is_first ? create_results(net) : NULL;
    struct harvests all;
    if (net->fold)
        fold_flows(net);
    harvest_create(net, r ? r->ports : NULL, &all);
    if (net->spec.ranks)
        harvest_gather(net, &all);
    if (net->spec.ranks && net->fold)
        fold_gather(net);
    if (!r) {
        harvest_fini(&all);
        return NULL;
    }
    r->events = all.n_events;
    collect_nodes(net, &all, r);
    collect_ports(net, &all, r);
    collect_flows(net, &all, r);
    collect_joined(net, &all, r);
    collect_histograms(net, &all, r);
    if (net->spec.n_captures)
        dcbx_collect(net, r);
    capture_collect(net, r);
    trace_collect(net, r);
    collect_pauses(net, &all, r);
    collect_drops(net, &all, r);
    r->n_deadlocks = net->n_deadlocks;
    r->deadlocks = net->deadlocks;
    r->deadlock_ports = net->deadlock_ports;
    net->deadlocks = NULL;
    net->deadlock_ports = NULL;
    audit(net, &all, r);
    r->digest = results_digest(r);
    harvest_fini(&all);
    return r;
}

void net_free_results(struct results *r)
{
    if (!r)
        return;
    free(r->nodes), free(r->buffers), free(r->ports), free(r->flows), free(r->drops),
        free(r->pauses);
    flow_sums_destroy(r->sums);
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
