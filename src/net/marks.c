/* Counters as they stood at an instant of the run.
 *
 * Throughput, utilisation and pause fractions are over the measured time (output_measured of
 * stats/): while traffic was offered, or between measure.from and measure.to. Nodes count from the
 * start of the run to its end, so what lies outside that time is found by copies of their counters
 * at its ends. Two more, before its last half and its last tenth, show which flows received nothing
 * in them: frames of a stream arrive one after the other, but a flow of finite size may wait in
 * queues.
 * Copies are made while all cells are at rest. The packet path does not know of them.
 */
#include <stdlib.h>
#include <string.h>

#include "net/fold.h"
#include "net/harvest.h"

static void *make(uint64_t n, size_t size)
{
    void *array = calloc(n ? n : 1, size);
    XOFF_ASSERT(array);
    return array;
}

void marks_init(struct net *net)
{
    const struct net_spec *spec = &net->spec;
    const xoff_time to =
        xoff_time_min(spec->stop, spec->measure_to ? spec->measure_to : XOFF_NEVER);
    xoff_time from = XOFF_NEVER;
    for (uint32_t i = 0; spec->apps && i < spec->apps->n; i++) {
        const struct app *app = &spec->apps->apps[i];
        from = xoff_time_min(from, app->ops->deadline(app->cfg, app->state));
    }
    from = from == XOFF_NEVER ? 0 : from; /* without traffic it is the whole run */
    from = spec->measure_from > from ? spec->measure_from : from;
    net->next_mark = from >= to ? N_MARKS : spec->measure_from ? MARK_FROM : MARK_HALF;
    net->marks[MARK_FROM].at = spec->measure_from;
    net->marks[MARK_HALF].at = to - (to - from) / 2;
    net->marks[MARK_TENTH].at = to - (to - from) / 10;
    net->marks[MARK_TO].at = to;
}

xoff_time marks_next(const struct net *net)
{
    return net->next_mark < N_MARKS ? net->marks[net->next_mark].at : XOFF_NEVER;
}

/* Copies how much of their current messages has arrived of the flows that are open. */
static void copy_received(const struct net *net, struct mark *mark)
{
    uint64_t n = 0;
    for (uint32_t h = 0; h < net->n_hosts; h++)
        n += net->hosts[h].n_rx;
    mark->received = make(n, sizeof *mark->received);
    for (uint32_t h = 0; h < net->n_hosts; h++) {
        const struct host *host = &net->hosts[h];
        for (uint32_t i = 0; host->rx && i <= host->rx_mask; i++) {
            struct rx_flow *rx = &host->rx[i];
            if (rx->key)
                mark->received[mark->n_received++] =
                    (struct mark_flow){.from = (uint32_t)((rx->key - 1) >> 32),
                                       .number = rx->message,
                                       .bytes = rx_rel(host, rx)->delivered - rx->message_from};
        }
    }
}

/* Whether what the flow is offered grows while it is open. */
static bool is_growing(const struct flow_note *note)
{
    return note->is_connection && note->offered && note->open;
}

static void copy_offered(const struct net *net, struct mark *mark)
{
    uint64_t n = 0;
    for (uint32_t h = 0; h < net->n_hosts; h++)
        for (uint32_t i = 0; i < net->hosts[h].n_flow_notes; i++)
            n += is_growing(&net->hosts[h].flow_notes[i]);
    mark->offered = make(n, sizeof *mark->offered);
    for (uint32_t h = 0; h < net->n_hosts; h++)
        for (uint32_t i = 0; i < net->hosts[h].n_flow_notes; i++)
            if (is_growing(&net->hosts[h].flow_notes[i]))
                mark->offered[mark->n_offered++] =
                    (struct mark_flow){h, i, net->hosts[h].flow_notes[i].offered};
}

/* The wire is booked for a frame when it begins: what lies behind `now` does not count yet. */
static xoff_time busy_by(const struct port *port, xoff_time now)
{
    return port->busy_for - (port->free_at > now ? port->free_at - now : 0);
}

static void copy_ports(struct net *net, struct mark *mark)
{
    const uint32_t n = net->topo->n_ports;
    mark->busy_for = make(n, sizeof *mark->busy_for);
    mark->paused_for = make((uint64_t)n * XOFF_N_PRIORITIES, sizeof *mark->paused_for);
    for (uint32_t i = 0; i < n; i++) {
        const struct topo_port *at = &net->topo->ports[i];
        if (!net_owns(net, at->node))
            continue;
        const struct port *port =
            net_port(net, at->node, i - net->topo->nodes[at->node].first_port);
        mark->busy_for[i] = busy_by(port, mark->at);
        for (uint32_t p = 0; p < XOFF_N_PRIORITIES; p++)
            mark->paused_for[i * XOFF_N_PRIORITIES + p] = port_paused_for(port, p, mark->at);
    }
}

static int compare_flows(const void *a, const void *b)
{
    const struct mark_flow *x = a, *y = b;
    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

uint64_t marks_received(const struct mark *mark, const struct result_flow *flow)
{
    if (flow->finish_at < mark->at)
        return flow->delivered_bytes;
    if (!mark->is_taken)
        return 0;
    const struct mark_flow key = {.from = flow->from, .number = flow->number};
    const struct mark_flow *found =
        bsearch(&key, mark->received, mark->n_received, sizeof key, compare_flows);
    return !found ? 0 : found->bytes > flow->delivered_bytes ? flow->delivered_bytes : found->bytes;
}

void marks_take(struct net *net, xoff_time now)
{
    for (; net->next_mark < N_MARKS && net->marks[net->next_mark].at <= now; net->next_mark++) {
        struct mark *mark = &net->marks[net->next_mark];
        mark->is_taken = true;
        copy_received(net, mark);
        if (net->fold)
            qsort(mark->received, mark->n_received, sizeof *mark->received, compare_flows);
        if (net->next_mark == MARK_TENTH)
            copy_offered(net, mark);
        else if (net->next_mark != MARK_HALF)
            copy_ports(net, mark);
    }
}

void marks_free(struct net *net)
{
    for (uint32_t i = 0; i < N_MARKS; i++) {
        struct mark *mark = &net->marks[i];
        free(mark->received), free(mark->offered), free(mark->busy_for), free(mark->paused_for);
    }
}

/* Puts bytes of flows in their places. */
static void spread_flows(const struct mark_flow *flows, uint64_t n, const struct harvests *all,
                         const uint64_t *first, uint64_t *bytes)
{
    for (uint64_t k = 0; k < n; k++) {
        const uint64_t place = harvest_place(all, first, flows[k].from, flows[k].number);
        if (place != HARVEST_NO_FLOW)
            bytes[place] = flows[k].bytes;
    }
}

/* Returns what each flow had received by the mark. */
static uint64_t *received_by(const struct mark *mark, const struct harvests *all,
                             const uint64_t *first, const struct results *r)
{
    uint64_t *bytes = make(r->n_flows, sizeof *bytes);
    spread_flows(mark->received, mark->n_received, all, first, bytes);
    for (uint64_t i = 0; i < r->n_flows; i++)
        if (r->flows[i].finish_at < mark->at || bytes[i] > r->flows[i].delivered_bytes)
            bytes[i] = r->flows[i].delivered_bytes;
    return bytes;
}

/* A paced flow whose frames are further apart than this starves by its own will. */
static bool is_seldom(const struct flow_note *note, xoff_time part)
{
    return note->rate_bps &&
           xoff_time_of_bits((uint64_t)note->frame_bytes * 8, note->rate_bps) > part / 2;
}

static bool has_drops(const struct net *net, const struct harvests *all)
{
    for (uint32_t n = 0; n < net->topo->n_nodes; n++)
        if (all->nodes[n].arrays[HARVEST_DROPS].n)
            return true;
    return false;
}

/* Lost datagrams are not sent again: a flow of them that has sent all waits for nothing. */
static bool is_over(const struct flow_note *note, bool is_lossy)
{
    return is_lossy && !note->reliable && note->offered && note->sent >= note->offered;
}

/* Finds the streams and connections, or the flows of finite size, that starve: that have not
 * finished, had something to deliver at the mark, and of which nothing has arrived since, until the
 * end of the run. A flow of finite size that has not begun to arrive waits for its turn: it starves
 * if nothing of its sender in its priority has arrived, either. */
static void find_starving(const struct net *net, const struct harvests *all,
                          const struct mark *mark, bool is_of_streams, const uint64_t *first,
                          struct results *r)
{
    const xoff_time part = net->marks[MARK_TO].at - mark->at;
    uint64_t *received = received_by(mark, all, first, r),
             *offered = make(r->n_flows, sizeof *offered);
    const bool is_lossy = has_drops(net, all);
    uint8_t *is_served = make(net->n_hosts, sizeof *is_served); /* mask of priorities */
    spread_flows(mark->offered, mark->n_offered, all, first, offered);
    r->is_standing = !is_of_streams && !(net->fold && net->fold->has_moved);
    for (uint32_t h = 0; net->fold && h < net->n_hosts; h++)
        is_served[h] = net->fold->hosts[h].served;
    for (uint64_t i = 0; i < r->n_flows; i++)
        if (r->flows[i].delivered_bytes > received[i]) {
            is_served[r->flows[i].from] |= (uint8_t)(1u << r->flows[i].priority);
            r->is_standing = false;
        }
    for (uint32_t h = 0; h < net->n_hosts; h++) {
        uint64_t n_notes;
        const struct flow_note *notes = harvest_flows(&all->nodes[h], &n_notes);
        for (uint64_t i = 0; i < n_notes; i++) {
            const struct flow_note *note = &notes[i];
            struct result_flow *f = &r->flows[first[h] + i];
            const uint64_t got = received[first[h] + i];
            const uint64_t wanted = is_growing(note) ? offered[first[h] + i]
                                    : note->offered  ? note->offered
                                                     : UINT64_MAX;
            const bool waits = !is_of_streams && !got && is_served[h] >> note->priority & 1;
            f->is_starving |= note->is_connection == is_of_streams && f->finish_at == XOFF_NEVER &&
                              f->start_at <= mark->at && wanted > got &&
                              f->delivered_bytes == got && !waits && !is_seldom(note, part) &&
                              !is_over(note, is_lossy);
        }
    }
    free(received), free(offered), free(is_served);
}

void marks_collect_flows(const struct net *net, const struct harvests *all, const uint64_t *first,
                         struct results *r)
{
    const struct mark *marks = net->marks;
    if (marks[MARK_FROM].is_taken) {
        uint64_t *early = received_by(&marks[MARK_FROM], all, first, r);
        for (uint64_t i = 0; i < r->n_flows; i++)
            r->flows[i].early_bytes = early[i];
        free(early);
    }
    if (marks[MARK_TO].is_taken) {
        uint64_t *in_time = received_by(&marks[MARK_TO], all, first, r);
        for (uint64_t i = 0; i < r->n_flows; i++)
            r->flows[i].late_bytes = r->flows[i].delivered_bytes - in_time[i];
        free(in_time);
    }
    if (marks[MARK_TENTH].is_taken)
        find_starving(net, all, &marks[MARK_TENTH], true, first, r);
    if (marks[MARK_HALF].is_taken)
        find_starving(net, all, &marks[MARK_HALF], false, first, r);
}

void marks_collect_port(const struct net *net, uint32_t index, struct result_port *port)
{
    for (uint32_t m = MARK_FROM; m < N_MARKS; m++) {
        const struct mark *mark = &net->marks[m];
        if (!mark->busy_for)
            continue;
        const xoff_time *paused = mark->paused_for + index * XOFF_N_PRIORITIES;
        const bool is_start = m == MARK_FROM;
        port->unmeasured_busy_for +=
            is_start ? mark->busy_for[index] : port->busy_for - mark->busy_for[index];
        for (uint32_t p = 0; p < XOFF_N_PRIORITIES; p++)
            port->queue[p].unmeasured_paused_for +=
                is_start ? paused[p] : port->queue[p].paused_for - paused[p];
    }
}
