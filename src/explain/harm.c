/* Counts what roots did to flows: bytes times the time that they held them.
 *
 *   harm(flow, root) = bytes * held
 *
 * `held` is the time of the flow's life in which pauses that go back to the root stopped a port on
 * its way. Pauses of one root at several hops of a way overlap, so the hop that was stopped longest
 * counts, not the sum. Where several equally short ways lead on, a hop counts with the mean of its
 * ports. `bytes` is what the flow had to carry; of a stream, which has no end of its own, what it
 * would have carried at the pace that it had while it was not held.
 *
 * Lost frames: of a reliable flow that had to send again, the time beyond the ideal one and beyond
 * what pauses held is laid to the places on its way that lost frames, in proportion to these. Bytes
 * that nobody sent again count with half of the time from the first loss to the end of the traffic.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "explain/harm.h"

#define MOST_LOOKS UINT64_C(100000000) /* ports that are looked at for all flows together */
#define TRAFFIC_COLUMN 3               /* of the query of flows */
#define FEW_SPANS 32
#define MOST_DISTANCES (UINT64_C(1) << 24)

/* A port may be congested, lie on a link with errors, on one that fails, and lead to a switch that
 * loses frames. */
enum { LAYER_CONGESTION, LAYER_ERRORS, LAYER_FAILURE, LAYER_NEXT, N_LAYERS };

struct flow_row {
    struct victim v;
    int64_t start_ps, end_ps, ideal_ps;
    bool sent_again;
};

struct harm {
    struct explanation *e;
    struct key_table names;
    uint32_t **distances; /* per destination; NULL: not needed yet */
    uint64_t n_distances, n_looks;
    uint32_t *port_root; /* per port: root there; NONE */
    uint32_t *host_root; /* per node: root that is this host; NONE */
    bool **senders;      /* per root and node; NULL: none yet */
    double *held, *hop;  /* per root: of the flow, of the hop */
    bool *is_on_way;     /* per root */
    uint32_t *touched;   /* roots of which one of these is set */
    uint32_t n_touched;
    bool *is_touched;
    uint32_t *nodes, *next_nodes; /* of the hop */
    bool *is_next;
    struct jobs *jobs;
};

int64_t harm_held(const struct span *spans, uint32_t n, int64_t from_ps, int64_t to_ps)
{
    int64_t held[2];
    const int64_t at[2] = {from_ps, to_ps};
    for (int k = 0; k < 2; k++) {
        uint32_t low = 0, high = n;
        while (low < high) { /* finds the first that begins at or after it */
            const uint32_t middle = low + (high - low) / 2;
            if (spans[middle].from_ps < at[k])
                low = middle + 1;
            else
                high = middle;
        }
        held[k] = 0;
        if (low) {
            const struct span *s = &spans[low - 1];
            held[k] = s->before_ps + (at[k] < s->to_ps ? at[k] : s->to_ps) - s->from_ps;
        }
    }
    return held[1] > held[0] ? held[1] - held[0] : 0;
}

uint32_t harm_entry(struct explanation *e, struct key_table *names, const char *name)
{
    const uint32_t number = key_put_text(names, name, strlen(name));
    if (number == e->n_entries) {
        e->entries = run_grown(e->entries, number, sizeof *e->entries);
        e->entries[e->n_entries] = (struct entry){0};
        snprintf(e->entries[e->n_entries++].name, sizeof e->entries->name, "%s", name);
    }
    return number;
}

static void touch(struct harm *h, uint32_t root)
{
    if (h->is_touched[root])
        return;
    h->is_touched[root] = true;
    h->touched[h->n_touched++] = root;
}

static void forget(struct harm *h)
{
    for (uint32_t i = 0; i < h->n_touched; i++) {
        const uint32_t root = h->touched[i];
        h->held[root] = h->hop[root] = 0;
        h->is_on_way[root] = h->is_touched[root] = false;
    }
    h->n_touched = 0;
}

/* A short flow meets few pauses of a line; of a long one each root's sum is looked up. */
static void look_at_line(struct harm *h, const struct flow_row *flow, uint32_t line)
{
    const struct explanation *e = h->e;
    const uint32_t end = e->first_span[line + 1];
    uint32_t low = e->first_span[line], high = end;
    while (low < high) { /* finds the first that ends after the flow's start */
        const uint32_t middle = low + (high - low) / 2;
        if (e->line_spans[middle].to_ps <= flow->start_ps)
            low = middle + 1;
        else
            high = middle;
    }
    if (low < end && low + FEW_SPANS < end &&
        e->line_spans[low + FEW_SPANS].from_ps < flow->end_ps) {
        for (uint32_t i = e->first_strand[line]; i < e->first_strand[line + 1]; i++) {
            const struct strand *strand = &e->strands[i];
            const int64_t held_ps =
                harm_held(e->spans + strand->first, strand->n, flow->start_ps, flow->end_ps);
            if (held_ps)
                touch(h, strand->root);
            h->hop[strand->root] += (double)held_ps;
        }
        return;
    }
    for (; low < end && e->line_spans[low].from_ps < flow->end_ps; low++) {
        const struct line_span *s = &e->line_spans[low];
        const int64_t from_ps = s->from_ps > flow->start_ps ? s->from_ps : flow->start_ps;
        const int64_t to_ps = s->to_ps < flow->end_ps ? s->to_ps : flow->end_ps;
        if (to_ps <= from_ps)
            continue;
        touch(h, s->root);
        h->hop[s->root] += (double)(to_ps - from_ps);
    }
}

/* Adds what holds this port to the hop's sums. */
static void look(struct harm *h, const struct flow_row *flow, uint32_t port)
{
    const struct explanation *e = h->e;
    for (uint32_t layer = 0; layer < N_LAYERS; layer++) {
        const uint32_t root = h->port_root[port * N_LAYERS + layer];
        if (root == NONE)
            continue;
        touch(h, root);
        h->is_on_way[root] = true;
    }
    const uint32_t priorities[2] = {flow->v.priority, ALL_PRIORITIES};
    for (int k = 0; k < 2; k++) {
        const uint32_t line = harm_line(e, port, priorities[k]);
        if (line != NONE)
            look_at_line(h, flow, line);
    }
}

static void end_hop(struct harm *h, uint32_t n_ports)
{
    for (uint32_t i = 0; i < h->n_touched; i++) {
        const uint32_t root = h->touched[i];
        const double mean_ps = n_ports ? h->hop[root] / n_ports : 0;
        h->held[root] = mean_ps > h->held[root] ? mean_ps : h->held[root];
        h->hop[root] = 0;
    }
}

static const uint32_t *distances_to(struct harm *h, uint32_t node)
{
    const uint32_t n = h->e->run.n_nodes;
    if (!h->distances[node] && h->n_distances + n <= MOST_DISTANCES) {
        h->distances[node] = malloc((n + 1) * sizeof **h->distances);
        XOFF_ASSERT(h->distances[node]);
        run_distances(&h->e->run, node, h->distances[node]);
        h->n_distances += n;
    }
    return h->distances[node];
}

/* The route by hand that holds on this node for frames to `to`; NULL: shortest ways. */
static const struct stated_route *route_of(const struct explanation *e, uint32_t node, uint32_t to)
{
    for (uint32_t i = e->last_route[node]; i != NONE; i = e->routes[i].before)
        if (e->routes[i].is_to[to])
            return e->routes[i].n_via ? &e->routes[i] : NULL;
    return NULL;
}

static bool leads_to(const struct stated_route *route, uint32_t peer)
{
    for (uint32_t i = 0; i < route->n_via; i++)
        if (route->via[i] == peer)
            return true;
    return false;
}

/* Follows all ways of the flow at once, hop by hop: routes by hand, else the shortest ones. */
static void follow(struct harm *h, const struct flow_row *flow)
{
    const struct run_data *run = &h->e->run;
    const uint32_t *distance = distances_to(h, flow->v.to);
    const bool is_whole = distance && h->n_looks < MOST_LOOKS;
    uint32_t n = 1;
    h->e->is_coarse |= !is_whole;
    h->nodes[0] = flow->v.from;
    if (h->host_root[flow->v.to] != NONE) {
        touch(h, h->host_root[flow->v.to]);
        h->is_on_way[h->host_root[flow->v.to]] = true;
    }
    if (distance && distance[flow->v.from] == NONE)
        return;
    /* Routes by hand may lead in a circle. */
    for (uint32_t n_hops = 0; n && n_hops < run->n_nodes; n_hops++) {
        uint32_t n_ports = 0, n_next = 0;
        for (uint32_t i = 0; i < n; i++) {
            if (h->nodes[i] == flow->v.to)
                continue;
            const struct run_node *node = &run->nodes[h->nodes[i]];
            const struct stated_route *route = route_of(h->e, h->nodes[i], flow->v.to);
            h->n_looks += node->n_ports;
            for (uint32_t p = node->first_port; p < node->first_port + node->n_ports; p++) {
                const uint32_t peer = run->ports[p].peer_node;
                if (peer == NONE)
                    continue;
                if (route ? !leads_to(route, peer)
                          : distance && distance[peer] + 1 != distance[h->nodes[i]])
                    continue;
                look(h, flow, p);
                n_ports++;
                if (!h->is_next[peer])
                    h->next_nodes[n_next++] = peer;
                h->is_next[peer] = true;
            }
        }
        end_hop(h, n_ports);
        for (uint32_t i = 0; i < n_next; i++)
            h->is_next[h->next_nodes[i]] = false;
        if (!is_whole || h->n_looks >= MOST_LOOKS)
            return; /* the source's own link is the most certain part */
        uint32_t *done = h->nodes;
        h->nodes = h->next_nodes;
        h->next_nodes = done;
        n = n_next;
    }
}

static void note_victim(struct root *root, const struct victim *v)
{
    uint32_t at = root->n_victims;
    while (at && (root->victims[at - 1].is_bystander != v->is_bystander
                      ? v->is_bystander
                      : root->victims[at - 1].harm_byte_s < v->harm_byte_s))
        at--;
    if (at >= MOST_VICTIMS)
        return;
    const uint32_t last = root->n_victims < MOST_VICTIMS ? root->n_victims++ : MOST_VICTIMS - 1;
    memmove(&root->victims[at + 1], &root->victims[at], (last - at) * sizeof *root->victims);
    root->victims[at] = *v;
}

static void note_sender(struct harm *h, uint32_t index, const struct flow_row *flow)
{
    struct root *root = &h->e->roots[index];
    if (flow->start_ps > root->to_ps || flow->end_ps < root->from_ps)
        return;
    if (!h->senders[index]) {
        h->senders[index] = calloc(h->e->run.n_nodes + 1, sizeof **h->senders);
        XOFF_ASSERT(h->senders[index]);
    }
    if (!h->senders[index][flow->v.from]) {
        h->senders[index][flow->v.from] = true;
        root->n_senders++;
    }
    root->has_targets |= root->target != NONE && root->target != flow->v.to;
    root->target = flow->v.to;
    const struct run_node *node = &h->e->run.nodes[flow->v.from];
    for (uint32_t p = node->first_port; p < node->first_port + node->n_ports; p++)
        if (h->e->run.ports[p].rate_bps > root->sender_bps)
            root->sender_bps = h->e->run.ports[p].rate_bps;
}

/* What a flow had to carry. Of a stream: what it would have carried in its life at the pace that it
 * had while it was not held, at most what its link carries. */
static double bytes_of(const struct harm *h, const struct flow_row *flow, double held_ps)
{
    const struct run_node *node = &h->e->run.nodes[flow->v.from];
    const double bytes = (double)flow->v.bytes, life_ps = (double)flow->v.life_ps;
    if (flow->ideal_ps > 0 || !node->n_ports)
        return bytes;
    const double rate_bps = h->e->run.ports[node->first_port].rate_bps;
    const double most = rate_bps / 8 * life_ps / (double)XOFF_S;
    const double paced = held_ps < life_ps ? bytes * life_ps / (life_ps - held_ps) : most;
    return paced < most ? paced : most;
}

static void add_harm(struct harm *h, struct flow_row *flow, uint32_t index, double held_ps)
{
    struct root *root = &h->e->roots[index];
    struct victim v = flow->v;
    const double most_ps = (double)v.life_ps;
    held_ps = held_ps < most_ps ? held_ps : most_ps;
    v.held_ps = (int64_t)held_ps;
    v.is_bystander = !h->is_on_way[index] && root->kind != ROOT_UNKNOWN;
    v.harm_byte_s = bytes_of(h, flow, held_ps) * held_ps / (double)XOFF_S;
    root->harm_byte_s += v.harm_byte_s;
    root->n_flows++;
    if (v.is_bystander) {
        root->n_bystanders++;
        root->bystanders_byte_s += v.harm_byte_s;
    }
    note_victim(root, &v);
    /* A job whose flow is held when the run ends stands. */
    if (!v.is_finished && flow->ideal_ps > 0 && root->to_ps >= h->e->run.end_ps) {
        const uint32_t entry =
            harm_entry(h->e, &h->names, rows_text(&h->e->run.rows, TRAFFIC_COLUMN));
        if (entry < h->e->n_jobs)
            root->jobs[entry].stands = true;
    }
}

/* What a flow that sent again lost by it, laid to the places on its way that lose frames. */
static void add_repeats(struct harm *h, struct flow_row *flow, double held_ps)
{
    const double lost_ps = (double)(flow->v.life_ps - flow->ideal_ps) - held_ps;
    double frames = 0;
    if (!flow->sent_again || flow->ideal_ps <= 0 || lost_ps <= 0)
        return;
    for (uint32_t i = 0; i < h->n_touched; i++)
        if (h->is_on_way[h->touched[i]])
            frames += (double)h->e->roots[h->touched[i]].lost_frames;
    for (uint32_t i = 0; i < h->n_touched && frames > 0; i++) {
        const uint32_t root = h->touched[i];
        const double part = (double)h->e->roots[root].lost_frames / frames;
        if (h->is_on_way[root] && part > 0)
            add_harm(h, flow, root, lost_ps * part);
    }
}

static void add_flow(struct harm *h, struct flow_row *flow)
{
    struct explanation *e = h->e;
    follow(h, flow);
    double all_ps = 0;
    for (uint32_t i = 0; i < h->n_touched; i++) {
        const uint32_t root = h->touched[i];
        if (h->is_on_way[root])
            note_sender(h, root, flow);
        if (h->held[root] > 0)
            add_harm(h, flow, root, h->held[root]);
        if (h->held[root] > 0 && !flow->v.bytes)
            e->roots[root].n_starved++;
        all_ps += h->held[root];
    }
    add_repeats(h, flow, all_ps);
    forget(h);
}

static void read_flow(struct harm *h)
{
    struct explanation *e = h->e;
    struct rows *rows = &e->run.rows;
    const bool is_finished = !rows_is_null(rows, 8), is_endless = rows_is_null(rows, 5);
    const int64_t offered = rows_int(rows, 5);
    const int64_t delivered = rows_int(rows, 7);
    struct flow_row flow = {.v = {.id = rows_int(rows, 0),
                                  .from = rows_index(rows, 1),
                                  .to = rows_index(rows, 2),
                                  .priority = rows_index(rows, 4) & 7,
                                  .is_finished = is_finished,
                                  .bytes = is_endless ? rows_int(rows, 6) : offered,
                                  .slowdown = NAN},
                            .start_ps = rows_int(rows, 9),
                            .end_ps = is_finished ? rows_int(rows, 8) : e->run.end_ps,
                            .ideal_ps = rows_int(rows, 10),
                            .sent_again = rows_int(rows, 11) > 0};
    if (flow.v.from >= e->run.n_nodes || flow.v.to >= e->run.n_nodes) {
        rows_fail(rows, "the file is damaged (a flow of no host)");
        return;
    }
    flow.v.life_ps = flow.end_ps > flow.start_ps ? flow.end_ps - flow.start_ps : 0;
    if (!is_finished && !is_endless && offered > 0 && delivered < offered)
        flow.v.lost = 1 - (double)delivered / (double)offered;
    e->n_flows++;
    e->n_unfinished += !is_finished && flow.ideal_ps > 0;
    e->delivered_bytes += (uint64_t)(delivered > 0 ? delivered : 0);
    if (jobs_are_there(h->jobs))
        jobs_add_flow(h->jobs, harm_entry(e, &h->names, rows_text(rows, TRAFFIC_COLUMN)),
                      flow.v.from, flow.v.to, flow.v.priority);
    if (e->n_roots && flow.v.from != flow.v.to)
        add_flow(h, &flow);
}

static uint32_t layer_of(enum root_kind kind)
{
    switch (kind) {
    case ROOT_LINK_ERRORS:
        return LAYER_ERRORS;
    case ROOT_LINK_FAILURE:
        return LAYER_FAILURE;
    case ROOT_HEADROOM:
    case ROOT_NO_ROUTE:
    case ROOT_CYCLIC_ROUTES:
        return LAYER_NEXT;
    default:
        return LAYER_CONGESTION;
    }
}

static void place_roots(struct harm *h)
{
    const struct explanation *e = h->e;
    memset(h->port_root, 0xff, (size_t)e->run.n_ports * N_LAYERS * sizeof *h->port_root);
    memset(h->host_root, 0xff, e->run.n_nodes * sizeof *h->host_root);
    for (uint32_t i = 0; i < e->n_roots; i++) {
        const struct root *root = &e->roots[i];
        const uint32_t layer = layer_of(root->kind);
        if (root->deadlock != NONE) {
            const struct deadlock *d = &e->deadlocks[root->deadlock];
            for (uint32_t k = d->first; k < d->first + d->n; k++)
                h->port_root[e->deadlock_ports[k] * N_LAYERS + layer] = i;
        } else if (root->port != NONE) {
            h->port_root[root->port * N_LAYERS + layer] = i;
            /* A link that loses frames does so in both directions. */
            const uint32_t peer = e->run.ports[root->port].peer;
            if ((layer == LAYER_ERRORS || layer == LAYER_FAILURE) && peer != NONE)
                h->port_root[peer * N_LAYERS + layer] = i;
        } else if (e->run.nodes[root->node].is_host)
            h->host_root[root->node] = i;
    }
}

/* The strand of a pause: its line, and the root it is laid to. */
static uint32_t strand_of(const struct explanation *e, const struct run_pause *pause)
{
    const uint32_t peer = e->run.ports[pause->port].peer;
    for (uint32_t p = 0; p <= ALL_PRIORITIES && peer != NONE; p++) {
        const uint32_t line = harm_line(e, peer, p);
        const bool is_its =
            p == ALL_PRIORITIES ? pause->priorities == 0xff : pause->priorities >> p & 1;
        if (line == NONE || !is_its)
            continue;
        for (uint32_t i = e->first_strand[line]; i < e->first_strand[line + 1]; i++)
            if (e->strands[i].root == e->root_of[pause->cause])
                return i;
    }
    return NONE;
}

/* The chain ends at the link of the worst victim's source, or at the port that was held longest,
 * with its longest pause; its pauses' parents lead to the root. */
static void find_chain(struct explanation *e, uint32_t index)
{
    struct root *root = &e->roots[index];
    uint32_t strand = root->worst_strand, chain[MOST_CHAIN];
    if (strand == NONE)
        return;
    for (uint32_t p = 0; root->n_victims && p <= ALL_PRIORITIES; p++) {
        const struct run_node *node = &e->run.nodes[root->victims[0].from];
        const uint32_t line = node->n_ports ? harm_line(e, node->first_port, p) : NONE;
        if (line == NONE || (p < ALL_PRIORITIES && p != root->victims[0].priority))
            continue;
        for (uint32_t i = e->first_strand[line]; i < e->first_strand[line + 1]; i++)
            if (e->strands[i].root == index)
                strand = i;
    }
    const struct span *longest = &e->spans[e->strands[strand].first];
    for (uint32_t i = 1; i < e->strands[strand].n; i++) {
        const struct span *s = &e->spans[e->strands[strand].first + i];
        if (s->to_ps - s->from_ps > longest->to_ps - longest->from_ps)
            longest = s;
    }
    uint32_t n = 0;
    for (uint32_t p = longest->pause; p != NONE && n < MOST_CHAIN; p = e->run.pauses[p].parent) {
        const uint32_t found = strand_of(e, &e->run.pauses[p]);
        bool is_new = found != NONE;
        for (uint32_t i = 0; i < n; i++)
            is_new &= chain[i] != found;
        if (is_new)
            chain[n++] = found;
    }
    for (uint32_t i = 0; i < n; i++)
        root->chain[i] = chain[n - 1 - i];
    root->n_chain = n;
}

static void add_losses(struct explanation *e)
{
    for (uint32_t i = 0; i < e->n_roots; i++) {
        struct root *root = &e->roots[i];
        const int64_t left_ps = e->run.traffic_to_ps - root->lost_from_ps;
        if (root->lost_bytes && left_ps > 0 && root->harm_byte_s <= 0)
            root->harm_byte_s = (double)root->lost_bytes * (double)left_ps / 2 / (double)XOFF_S;
    }
}

/* Reads what only victims need; until then their id is that of the row. */
static void name_victims(struct explanation *e)
{
    struct rows *rows = &e->run.rows;
    for (uint32_t i = 0; i < e->n_roots; i++)
        for (uint32_t k = 0; k < e->roots[i].n_victims; k++) {
            struct victim *v = &e->roots[i].victims[k];
            char sql[128];
            snprintf(sql, sizeof sql, "SELECT traffic, slowdown, id FROM flow WHERE rowid = %lld",
                     (long long)v->id);
            rows_begin(rows, sql, e->run.run_id);
            while (rows_next(rows)) {
                snprintf(v->traffic, sizeof v->traffic, "%s", rows_text(rows, 0));
                v->slowdown = rows_is_null(rows, 1) ? NAN : rows_real(rows, 1);
                v->id = rows_int(rows, 2);
            }
        }
}

void harm_count(struct explanation *e)
{
    const size_t n_nodes = e->run.n_nodes + 1, n_roots = e->n_roots + 1;
    struct harm h = {.e = e,
                     .distances = calloc(n_nodes, sizeof *h.distances),
                     .port_root =
                         calloc((size_t)e->run.n_ports * N_LAYERS + 1, sizeof *h.port_root),
                     .host_root = calloc(n_nodes, sizeof *h.host_root),
                     .senders = calloc(n_roots, sizeof *h.senders),
                     .held = calloc(n_roots, sizeof *h.held),
                     .hop = calloc(n_roots, sizeof *h.hop),
                     .is_on_way = calloc(n_roots, sizeof *h.is_on_way),
                     .touched = calloc(n_roots, sizeof *h.touched),
                     .is_touched = calloc(n_roots, sizeof *h.is_touched),
                     .nodes = calloc(n_nodes, sizeof *h.nodes),
                     .next_nodes = calloc(n_nodes, sizeof *h.next_nodes),
                     .is_next = calloc(n_nodes, sizeof *h.is_next)};
    struct rows *rows = &e->run.rows;
    XOFF_ASSERT(h.distances && h.port_root && h.host_root && h.senders && h.held && h.hop);
    XOFF_ASSERT(h.is_on_way && h.touched && h.is_touched && h.nodes && h.next_nodes && h.is_next);
    place_roots(&h);
    h.jobs = jobs_create(e, &h.names);
    /* What most rows do not need is left out: a million rows take half a second less. */
#define FLOW_COLUMNS(is_needed)                                                             \
    "SELECT rowid, from_node_id, to_node_id, CASE WHEN " is_needed " THEN traffic END, "    \
    "priority, offered_bytes, CASE WHEN offered_bytes IS NULL THEN sent_bytes END, "        \
    "delivered_bytes, finish_at_ps, start_at_ps, ideal_ps, retransmitted_frames FROM flow " \
    "WHERE +run_id = ?"
    rows_begin(rows,
               jobs_are_there(h.jobs) ? FLOW_COLUMNS("1") : FLOW_COLUMNS("finish_at_ps IS NULL"),
               e->run.run_id);
    while (rows_next(rows))
        read_flow(&h);
    rows_begin(rows, "SELECT value FROM metric WHERE run_id = ? AND name = 'flows.summarised'",
               e->run.run_id);
    while (rows_next(rows))
        e->n_summarised = (uint64_t)rows_real(rows, 0);
    if (!rows->status)
        jobs_count(h.jobs);
    add_losses(e);
    name_victims(e);
    for (uint32_t i = 0; i < e->n_roots; i++)
        find_chain(e, i);
    jobs_destroy(h.jobs);
    for (size_t i = 0; i < n_nodes; i++)
        free(h.distances[i]);
    for (size_t i = 0; i < n_roots; i++)
        free(h.senders[i]);
    free(h.is_next);
    free(h.next_nodes);
    free(h.nodes);
    free(h.is_touched);
    free(h.touched);
    free(h.is_on_way);
    free(h.hop);
    free(h.held);
    free(h.senders);
    free(h.host_root);
    free(h.port_root);
    free(h.distances);
    key_table_fini(&h.names);
}
