/* Harvests the nodes of a run: what each counted and noted down, as arrays that can be sent. */
#include <stdlib.h>
#include <string.h>

#include "net/harvest.h"

static const size_t entry_size[N_HARVEST] = {
#define X(id, type) sizeof(type),
    HARVEST_MAP(X)
#undef X
};

/* Arrays in a message begin at multiples of this. */
#define ALIGNMENT 8

static void *make(uint64_t n, size_t size)
{
    void *array = calloc(n ? n : 1, size);
    XOFF_ASSERT(array);
    return array;
}

/* Keeps memory that arrays lie in until harvest_fini(). */
static void *keep(struct harvests *all, void *block)
{
    if (!(all->n_blocks & (all->n_blocks - 1))) {
        all->blocks =
            realloc(all->blocks, sizeof *all->blocks * (all->n_blocks ? 2 * all->n_blocks : 1));
        XOFF_ASSERT(all->blocks);
    }
    return all->blocks[all->n_blocks++] = block;
}

static void set(struct harvest *h, uint32_t array, const void *at, uint64_t n)
{
    h->arrays[array].at = (void *)at; /* of the node itself: read only */
    h->arrays[array].n = n;
}

/* An array of at most `n` entries that are about to be added. */
static void *begin(struct harvests *all, struct harvest *h, uint32_t array, uint64_t n)
{
    set(h, array, n ? keep(all, make(n, entry_size[array])) : NULL, 0);
    return h->arrays[array].at;
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

static void harvest_port(struct net *net, uint32_t index, struct result_port *out,
                         struct harvest_port *books)
{
    const struct topo_port *tp = &net->topo->ports[index];
    const struct topo_node *node = &net->topo->nodes[tp->node];
    const uint32_t number = index - node->first_port;
    const struct sw *sw = node->kind == TOPO_SWITCH ? net_sw(net, tp->node) : NULL;
    struct port *port = net_port(net, tp->node, number);
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
    marks_collect_port(net, index, out);
    memcpy(books->lapsed_tx, port->lapsed_tx, sizeof books->lapsed_tx);
    books->resumes = port->signal_cfg.how.resumes;
    books->heard_for = port->gate_cfg.response_for + port->delay;
    sim_in_flight(net->sim, 2 * tp->link + !tp->end, &books->in_flight_bytes);
}

static void harvest_ports(struct net *net, uint32_t n, struct result_port *ports,
                          struct harvests *all)
{
    struct harvest *h = &all->nodes[n];
    const struct topo_node *node = &net->topo->nodes[n];
    if (!ports)
        ports = begin(all, h, HARVEST_PORTS, node->n_ports);
    struct harvest_port *books = begin(all, h, HARVEST_BOOKS, node->n_ports);
    for (uint32_t p = 0; p < node->n_ports; p++)
        harvest_port(net, node->first_port + p, &ports[p], &books[p]);
    set(h, HARVEST_PORTS, ports, node->n_ports);
    set(h, HARVEST_BOOKS, books, node->n_ports);
}

static void add_buffer(struct harvest *h, uint32_t node, const char *name,
                       const struct xoff_mmu *mmu)
{
    struct result_buffer *buffers = h->arrays[HARVEST_BUFFERS].at;
    struct result_buffer *out = &buffers[h->arrays[HARVEST_BUFFERS].n++];
    out->node = node;
    XOFF_ASSERT(strlen(name) < sizeof out->name);
    memcpy(out->name, name, strlen(name) + 1);
    xoff_mmu_view(mmu, &out->view);
}

/* Sums the maxima of all buffers of a switch. */
static void add_maxima(struct harvests *all, struct harvest *h, const uint64_t *maxima)
{
    if (!maxima)
        return;
    if (!h->arrays[HARVEST_MAXIMA].n)
        begin(all, h, HARVEST_MAXIMA, RESULT_MAXIMA);
    h->arrays[HARVEST_MAXIMA].n = RESULT_MAXIMA;
    uint64_t *sums = h->arrays[HARVEST_MAXIMA].at;
    for (uint32_t k = 0; k < RESULT_MAXIMA; k++)
        sums[k] += maxima[k];
}

static void harvest_switch(struct net *net, struct sw *sw, struct harvests *all)
{
    struct harvest *h = &all->nodes[sw->node];
    struct fabric_buffer buffer;
    uint32_t n = 0;
    h->node.stops = sw->n_stops;
    h->node.stopped_for =
        sw->stopped_for + (sw->stopped_at == XOFF_NEVER ? 0 : net->end_at - sw->stopped_at);
    while (sw_buffer(sw, n, &buffer))
        n++;
    begin(all, h, HARVEST_BUFFERS, n);
    for (uint32_t i = 0; sw_buffer(sw, i, &buffer); i++) {
        add_buffer(h, sw->node, buffer.name, buffer.mmu);
        add_maxima(all, h, buffer.maxima);
    }
    /* A fabric with a policy for each output uses of each what belongs to that output: together
     * they need as many counters as one of them has. */
    h->n_pause_counters = sw->fabric->policy(sw, 0, 0)->shape.n_counters;
    if (net->spec.histogram_every) {
        uint64_t *bins, n_bins;
        histogram_harvest(sw, &bins, &n_bins);
        set(h, HARVEST_BINS, keep(all, bins), n_bins);
    }
}

/* Whether it never closes. */
static bool is_endless(const struct flow_note *note)
{
    return note_is_left(note) && !note->offered;
}

static void harvest_flows_of(const struct host *host, struct harvests *all)
{
    struct harvest *h = &all->nodes[host->node];
    uint32_t n = 0, n_left = 0;
    for (uint32_t i = 0; i < host->n_flow_notes; i++) {
        n += is_endless(&host->flow_notes[i]);
        n_left += note_is_left(&host->flow_notes[i]);
    }
    struct mark_flow *endless = begin(all, h, HARVEST_ENDLESS, n);
    for (uint32_t i = 0; i < host->n_flow_notes; i++)
        if (is_endless(&host->flow_notes[i]))
            endless[h->arrays[HARVEST_ENDLESS].n++] = (struct mark_flow){
                host->node, i, flow_at(host, host->flow_notes[i].open - 1)->rel.sent_to};
    struct harvest_rx *open = begin(all, h, HARVEST_RX_OPEN, host->n_rx);
    for (uint32_t i = 0; host->rx && i <= host->rx_mask; i++) {
        struct rx_flow *rx = &host->rx[i];
        if (rx->key)
            open[h->arrays[HARVEST_RX_OPEN].n++] =
                (struct harvest_rx){.from = (uint32_t)((rx->key - 1) >> 32),
                                    .number = rx->message,
                                    .delivered = rx_rel(host, rx)->delivered - rx->message_from,
                                    .marked = rx->marked};
    }
    set(h, HARVEST_FLOWS, host->flow_notes, host->n_flow_notes);
    if (n_left < host->n_flow_notes) {
        struct flow_note *left = begin(all, h, HARVEST_FLOWS, n_left);
        for (uint32_t i = 0; i < host->n_flow_notes; i++)
            if (note_is_left(&host->flow_notes[i]))
                left[h->arrays[HARVEST_FLOWS].n++] = host->flow_notes[i];
    }
    set(h, HARVEST_RX_NOTES, host->rx_notes, host->n_rx_notes);
}

static void harvest_host(const struct host *host, struct harvests *all)
{
    struct harvest *h = &all->nodes[host->node];
    h->is_cut_off = !host->port.is_up;
    if (host->receiver) {
        begin(all, h, HARVEST_BUFFERS, 1);
        add_buffer(h, host->node, "receive", &host->receiver->mmu);
    }
    harvest_flows_of(host, all);
    set(h, HARVEST_OPERATIONS, host->operations, host->n_operations);
    struct result_running *running = begin(all, h, HARVEST_RUNNING, host->n_apps);
    for (uint32_t a = 0; a < host->n_apps; a++) {
        const struct app *app = &host->apps[a];
        const uint64_t n = app->ops->n_under_way ? app->ops->n_under_way(app->cfg, app->state) : 0;
        if (n)
            running[h->arrays[HARVEST_RUNNING].n++] =
                (struct result_running){app->host, app->tag, n};
    }
}

static void harvest_notes(const struct net *net, uint32_t n, struct harvest *h)
{
    const struct notes *notes = net_notes(net, n);
    h->pauses_left_out = notes->pauses_left_out;
    set(h, HARVEST_HEARD, notes->heard, notes->n_heard);
    set(h, HARVEST_PAUSES, notes->pauses, notes->n_pauses);
    set(h, HARVEST_DROPS, notes->drops, notes->n_drops);
    set(h, HARVEST_SAMPLES, notes->samples, notes->n_samples);
}

/* Takes over what was found and added to scratch results. */
static void take_findings(struct harvests *all, struct harvest *h, uint32_t array,
                          struct results *scratch)
{
    if (scratch->n_findings)
        set(h, array, keep(all, scratch->findings), scratch->n_findings);
    *scratch = (struct results){0};
}

static void audit_one(struct net *net, uint32_t n, struct harvests *all)
{
    struct results scratch = {0};
    audit_node(net, n, &all->nodes[n], &scratch);
    take_findings(all, &all->nodes[n], HARVEST_FINDINGS, &scratch);
    if (n >= net->n_hosts || !net->is_at_rest || net->n_deadlocks)
        return;
    audit_flows(net, &net->hosts[n], &scratch);
    take_findings(all, &all->nodes[n], HARVEST_STUCK, &scratch);
}

void harvest_create(struct net *net, struct result_port *ports, struct harvests *all)
{
    *all = (struct harvests){.nodes = make(net->topo->n_nodes, sizeof *all->nodes)};
    all->n_events = sim_figures(net->sim).events;
    for (uint32_t n = 0; n < net->topo->n_nodes; n++) {
        const struct topo_node *node = &net->topo->nodes[n];
        struct harvest *h = &all->nodes[n];
        if (!net_owns(net, n))
            continue;
        memcpy(h->node.name, node->name, sizeof h->node.name);
        h->node.is_switch = node->kind == TOPO_SWITCH;
        h->node.number = node->number;
        if (n < net->n_hosts)
            harvest_host(&net->hosts[n], all);
        else
            harvest_switch(net, net_sw(net, n), all);
        harvest_ports(net, n, ports ? ports + node->first_port : NULL, all);
        harvest_notes(net, n, h);
        dcbx_harvest(net, n, &h->dcbx);
        audit_one(net, n, all);
    }
}

uint64_t harvest_place(const struct harvests *all, const uint64_t *first, uint32_t from,
                       uint32_t number)
{
    uint64_t n, low = 0;
    const struct flow_note *notes = harvest_flows(&all->nodes[from], &n);
    if (number < n && notes[number].number == number)
        return first[from] + number;
    while (low < n) {
        const uint64_t middle = (low + n) / 2;
        if (notes[middle].number == number)
            return first[from] + middle;
        if (notes[middle].number < number)
            low = middle + 1;
        else
            n = middle;
    }
    return HARVEST_NO_FLOW;
}

void harvest_fini(struct harvests *all)
{
    for (uint32_t i = 0; i < all->n_blocks; i++)
        free(all->blocks[i]);
    free(all->blocks), free(all->nodes);
    *all = (struct harvests){0};
}

/* A message: it grows as things are added, and is read in the same order. */
struct message_out {
    unsigned char *bytes;
    size_t size, capacity;
};

static void put(struct message_out *m, const void *bytes, size_t size)
{
    const size_t padded = (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    while (m->size + padded > m->capacity) {
        m->capacity = m->capacity ? 2 * m->capacity : 1 << 16;
        m->bytes = realloc(m->bytes, m->capacity);
        XOFF_ASSERT(m->bytes);
    }
    memset(m->bytes + m->size, 0, padded);
    if (size)
        memcpy(m->bytes + m->size, bytes, size);
    m->size += padded;
}

/* Returns what was put next, and moves on. */
static void *take(unsigned char **at, size_t size)
{
    void *bytes = *at;
    *at += (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    return bytes;
}

static void put_flows(struct message_out *m, const struct mark_flow *flows, uint64_t n)
{
    put(m, &n, sizeof n);
    put(m, flows, sizeof *flows * n);
}

static void pack(const struct net *net, const struct harvests *all, struct message_out *m)
{
    put(m, &all->n_events, sizeof all->n_events);
    for (uint32_t i = 0; i < N_MARKS; i++) {
        put_flows(m, net->marks[i].received, net->marks[i].n_received);
        put_flows(m, net->marks[i].offered, net->marks[i].n_offered);
    }
    for (uint32_t n = 0; n < net->topo->n_nodes; n++) {
        const struct harvest *h = &all->nodes[n];
        if (!net_owns(net, n))
            continue;
        put(m, h, sizeof *h);
        for (uint32_t a = 0; a < N_HARVEST; a++)
            put(m, h->arrays[a].at, entry_size[a] * h->arrays[a].n);
    }
}

static void add_flows(unsigned char **at, struct mark_flow **flows, uint64_t *n)
{
    const uint64_t more = *(uint64_t *)take(at, sizeof more);
    *flows = realloc(*flows, sizeof **flows * (*n + more + 1));
    XOFF_ASSERT(*flows);
    if (more)
        memcpy(*flows + *n, *at, sizeof **flows * more);
    take(at, sizeof **flows * more);
    *n += more;
}

static void unpack(struct net *net, uint32_t rank, unsigned char *at, struct harvests *all)
{
    all->n_events += *(uint64_t *)take(&at, sizeof all->n_events);
    for (uint32_t i = 0; i < N_MARKS; i++) {
        add_flows(&at, &net->marks[i].received, &net->marks[i].n_received);
        add_flows(&at, &net->marks[i].offered, &net->marks[i].n_offered);
    }
    for (uint32_t n = 0; n < net->topo->n_nodes; n++) {
        struct harvest *h = &all->nodes[n];
        if (net->part_of[n] != rank)
            continue;
        memcpy(h, take(&at, sizeof *h), sizeof *h);
        for (uint32_t a = 0; a < N_HARVEST; a++)
            h->arrays[a].at = take(&at, entry_size[a] * h->arrays[a].n);
    }
}

void harvest_gather(struct net *net, struct harvests *all)
{
    const struct sim_ranks *ranks = net->spec.ranks;
    struct message_out m = {0};
    if (ranks->rank)
        pack(net, all, &m);
    void *bytes;
    size_t *sizes = make(ranks->n, sizeof *sizes);
    ranks->gather(ranks->context, m.bytes, m.size, false, &bytes, sizes);
    free(m.bytes);
    if (ranks->rank == 0) {
        unsigned char *at = keep(all, bytes);
        for (uint32_t r = 1; r < ranks->n; r++) {
            at += sizes[r - 1];
            unpack(net, r, at, all);
        }
    }
    free(sizes);
}
