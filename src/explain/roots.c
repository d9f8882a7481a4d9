/* Finds where pauses and losses began, and orders pauses by what they go back to.
 *
 * A pause names its parent when the egress that its bytes wanted was itself paused at that moment.
 * When that egress had just been released, the queue behind it is still the one that grew while it
 * stood: a pause without a parent is laid to the last pause of its egress, if that ended no longer
 * ago than the queue takes to be sent, occupied bytes / rate of the egress.
 *
 * Roots are one per place: an egress port, a host that accepts no more, a cycle of ports that
 * deadlocked, a link with errors, a switch without enough headroom. Pauses of a switch whose bytes
 * want to go to a host that pauses or loses frames itself belong to that host. Pauses that their
 * peer does not obey hold nobody.
 */
#include <stdlib.h>
#include <string.h>

#include "explain/parts.h"

#define N_LINES (XOFF_N_PRIORITIES + 1) /* per port: each priority, and all at once */

enum place {
    AT_PORT,
    AT_HOST,
    AT_DEADLOCK,
    AT_HEADROOM,
    AT_DOWN,
    AT_ERRORS,
    AT_NO_ROUTE,
    AT_LOOP,
    AT_UNKNOWN
};

struct finding_roots {
    struct explanation *e;
    struct key_table keys;
    bool *is_slow;         /* per node: a host that pauses or loses frames */
    uint32_t *deadlock_of; /* per port; NONE */
};

static struct root *root_at(struct finding_roots *f, enum place place, uint32_t index,
                            uint32_t node, uint32_t port)
{
    struct explanation *e = f->e;
    const uint32_t number = key_put(&f->keys, place, index);
    if (number == e->n_roots) {
        static const enum root_kind kinds[] = {
            [AT_PORT] = ROOT_OVERSUBSCRIPTION, [AT_HOST] = ROOT_SLOW_RECEIVER,
            [AT_DEADLOCK] = ROOT_DEADLOCK,     [AT_HEADROOM] = ROOT_HEADROOM,
            [AT_DOWN] = ROOT_LINK_FAILURE,     [AT_ERRORS] = ROOT_LINK_ERRORS,
            [AT_NO_ROUTE] = ROOT_NO_ROUTE,     [AT_LOOP] = ROOT_CYCLIC_ROUTES,
            [AT_UNKNOWN] = ROOT_UNKNOWN};
        e->roots = run_grown(e->roots, e->n_roots, sizeof *e->roots);
        e->roots[e->n_roots++] = (struct root){.id = number,
                                               .kind = kinds[place],
                                               .node = node,
                                               .port = port,
                                               .from_ps = INT64_MAX,
                                               .lost_from_ps = INT64_MAX,
                                               .worst_strand = NONE,
                                               .target = NONE,
                                               .deadlock = place == AT_DEADLOCK ? index : NONE};
    }
    return &e->roots[number];
}

/* The root of congestion at an egress port. */
static struct root *root_at_egress(struct finding_roots *f, uint32_t port)
{
    const struct run_data *run = &f->e->run;
    const uint32_t peer = run->ports[port].peer_node;
    if (f->deadlock_of[port] != NONE)
        return root_at(f, AT_DEADLOCK, f->deadlock_of[port], run->ports[port].node, port);
    if (peer != NONE && f->is_slow[peer])
        return root_at(f, AT_HOST, peer, peer, NONE);
    return root_at(f, AT_PORT, port, run->ports[port].node, port);
}

/* ---- pauses ---- */

static void find_lines(struct explanation *e)
{
    const size_t n = (size_t)e->run.n_ports * N_LINES;
    e->line_of = malloc((n + 1) * sizeof *e->line_of);
    XOFF_ASSERT(e->line_of);
    memset(e->line_of, 0xff, n * sizeof *e->line_of);
    for (uint32_t i = 0; i < e->run.n_lines; i++) {
        const struct run_line *line = &e->run.lines[i];
        const uint32_t peer = e->run.ports[line->port].peer;
        if (peer != NONE)
            e->line_of[peer * N_LINES + line->priority] = i;
    }
}

/* A line whose peer was closed for less than a tenth of what it was told. */
static void find_deaf(struct explanation *e)
{
    e->is_deaf = calloc(e->run.n_lines + 1, sizeof *e->is_deaf);
    XOFF_ASSERT(e->is_deaf);
    for (uint32_t i = 0; i < e->run.n_lines; i++) {
        const struct run_line *line = &e->run.lines[i];
        const uint32_t peer = e->run.ports[line->port].peer;
        const uint32_t priority = line->priority < ALL_PRIORITIES ? line->priority : 0;
        e->is_deaf[i] =
            peer != NONE &&
            line->paused_ps / 10 > e->queues[peer * XOFF_N_PRIORITIES + priority].paused_ps;
    }
}

/* The latest pause of this egress that can have made the queue behind it; NONE: there is none. */
static uint32_t parent_of(const struct explanation *e, const struct run_pause *pause,
                          const uint32_t *last_stop)
{
    if (pause->egress == NONE)
        return NONE;
    const double rate_bps = e->slowest_bps[pause->egress];
    const double behind_ps =
        rate_bps > 0 ? (double)pause->occupied_bytes * 8 / rate_bps * (double)XOFF_S : 0;
    uint32_t found = NONE;
    for (uint32_t p = 0; p < N_LINES; p++) {
        if (p < ALL_PRIORITIES && !(pause->priorities >> p & 1))
            continue;
        const uint32_t line = e->line_of[pause->egress * N_LINES + p];
        if (line == NONE || last_stop[line] == NONE)
            continue;
        const struct run_stop *stop = &e->run.stops[last_stop[line]];
        if ((double)stop->to_ps + behind_ps < (double)pause->from_ps)
            continue;
        if (found == NONE || stop->pause > found)
            found = stop->pause;
    }
    return found;
}

static void lay_pauses(struct finding_roots *f)
{
    struct explanation *e = f->e;
    struct run_data *run = &e->run;
    uint32_t *last_stop = malloc((run->n_lines + 1) * sizeof *last_stop);
    XOFF_ASSERT(last_stop);
    memset(last_stop, 0xff, run->n_lines * sizeof *last_stop);
    e->root_of = malloc((run->n_causes + 1) * sizeof *e->root_of);
    XOFF_ASSERT(e->root_of);
    memset(e->root_of, 0xff, run->n_causes * sizeof *e->root_of);
    uint32_t next = 0;
    for (uint32_t i = 0; i < run->n_pauses; i++) {
        struct run_pause *pause = &run->pauses[i];
        bool is_adopted = false;
        for (; next < run->n_stops && run->stops[next].pause < i; next++)
            last_stop[run->stops[next].line] = next;
        if (pause->parent == NONE) {
            pause->parent = parent_of(e, pause, last_stop);
            is_adopted = pause->parent != NONE;
        }
        if (pause->parent != NONE)
            pause->cause = run->pauses[pause->parent].cause;
        const uint32_t node = run->ports[pause->port].node;
        if (e->root_of[pause->cause] == NONE) {
            const struct run_cause *cause = &run->causes[pause->cause];
            const struct root *root = cause->host != NONE
                                          ? root_at(f, AT_HOST, cause->host, cause->host, NONE)
                                      : cause->port != NONE ? root_at_egress(f, cause->port)
                                                            : root_at(f, AT_UNKNOWN, 0, node, NONE);
            e->root_of[pause->cause] = (uint32_t)(root - e->roots);
        }
        struct root *root = &e->roots[e->root_of[pause->cause]];
        root->n_pauses++;
        root->n_adopted += is_adopted;
        root->priorities |= pause->priorities;
        root->from_ps = pause->from_ps < root->from_ps ? pause->from_ps : root->from_ps;
        root->to_ps = pause->to_ps > root->to_ps ? pause->to_ps : root->to_ps;
        if (pause->parent != NONE)
            continue;
        const int64_t lasted_ps = pause->to_ps - pause->from_ps;
        root->longest_ps = lasted_ps > root->longest_ps ? lasted_ps : root->longest_ps;
        root->is_unlifted |= pause->to_ps >= run->end_ps && !run->pauses_left_out;
    }
    free(last_stop);
}

/* Counts the spans of each (line, root) and numbers them by line, then fills them in by time. */
static void make_strands(struct explanation *e)
{
    const struct run_data *run = &e->run;
    struct key_table keys = {0};
    uint32_t *strand_of = malloc((run->n_stops + 1) * sizeof *strand_of);
    e->first_strand = calloc(run->n_lines + 2, sizeof *e->first_strand);
    e->spans = malloc((run->n_stops + 1) * sizeof *e->spans);
    XOFF_ASSERT(strand_of && e->first_strand && e->spans);
    struct strand *made = NULL;
    for (uint32_t i = 0; i < run->n_stops; i++) {
        const uint32_t line = run->stops[i].line;
        strand_of[i] = NONE;
        if (e->is_deaf[line])
            continue;
        const uint32_t root = e->root_of[run->pauses[run->stops[i].pause].cause];
        strand_of[i] = key_put(&keys, line, root);
        if (strand_of[i] == e->n_strands) {
            made = run_grown(made, e->n_strands, sizeof *made);
            made[e->n_strands++] = (struct strand){.line = line, .root = root};
            e->first_strand[line + 1]++;
        }
        made[strand_of[i]].n++;
    }
    for (uint32_t i = 0; i < run->n_lines; i++)
        e->first_strand[i + 1] += e->first_strand[i];

    uint32_t *place = malloc((e->n_strands + 1) * sizeof *place);
    uint32_t *next = malloc((run->n_lines + 1) * sizeof *next);
    e->strands = malloc((e->n_strands + 1) * sizeof *e->strands);
    XOFF_ASSERT(place && next && e->strands);
    memcpy(next, e->first_strand, run->n_lines * sizeof *next);
    for (uint32_t i = 0; i < e->n_strands; i++) {
        place[i] = next[made[i].line]++;
        e->strands[place[i]] = made[i];
    }
    uint32_t first = 0;
    for (uint32_t i = 0; i < e->n_strands; i++) {
        e->strands[i].first = first;
        first += e->strands[i].n;
        e->strands[i].n = 0;
    }
    for (uint32_t i = 0; i < run->n_stops; i++) {
        const struct run_stop *stop = &run->stops[i];
        if (strand_of[i] == NONE)
            continue;
        struct strand *strand = &e->strands[place[strand_of[i]]];
        e->spans[strand->first + strand->n++] = (struct span){.from_ps = stop->from_ps,
                                                              .to_ps = stop->to_ps,
                                                              .before_ps = strand->held_ps,
                                                              .pause = stop->pause};
        strand->held_ps += stop->to_ps - stop->from_ps;
        const int64_t from_ps =
            stop->from_ps > e->measured_from_ps ? stop->from_ps : e->measured_from_ps;
        const int64_t to_ps = stop->to_ps < e->measured_to_ps ? stop->to_ps : e->measured_to_ps;
        strand->measured_ps += to_ps > from_ps ? to_ps - from_ps : 0;
    }
    for (uint32_t i = 0; i < e->n_strands; i++) {
        struct root *root = &e->roots[e->strands[i].root];
        root->held_ps += e->strands[i].held_ps;
        if (root->worst_strand == NONE ||
            e->strands[i].measured_ps > e->strands[root->worst_strand].measured_ps)
            root->worst_strand = i;
    }
    free(next);
    free(place);
    free(made);
    free(strand_of);
    key_table_fini(&keys);
}

/* Sorts stops by line; they are in order of time. */
static void make_line_spans(struct explanation *e)
{
    const struct run_data *run = &e->run;
    uint32_t *next = calloc(run->n_lines + 1, sizeof *next);
    e->first_span = calloc(run->n_lines + 2, sizeof *e->first_span);
    e->line_spans = malloc((run->n_stops + 1) * sizeof *e->line_spans);
    XOFF_ASSERT(next && e->first_span && e->line_spans);
    for (uint32_t i = 0; i < run->n_stops; i++)
        e->first_span[run->stops[i].line + 1] += !e->is_deaf[run->stops[i].line];
    for (uint32_t i = 0; i < run->n_lines; i++)
        e->first_span[i + 1] += e->first_span[i];
    memcpy(next, e->first_span, run->n_lines * sizeof *next);
    for (uint32_t i = 0; i < run->n_stops; i++) {
        const struct run_stop *stop = &run->stops[i];
        if (!e->is_deaf[stop->line])
            e->line_spans[next[stop->line]++] = (struct line_span){
                stop->from_ps, stop->to_ps, e->root_of[run->pauses[stop->pause].cause]};
    }
    free(next);
}

/* ---- losses ---- */

/* A lossless frame that found no room although its sender had been told to stop: the room for what
 * was under way was too small. Without any pause the loss is plain congestion. */
static bool is_beyond_headroom(const struct explanation *e, const struct drop *drop)
{
    if (!drop->is_lossless || drop->is_egress || drop->in_port == NONE)
        return false;
    return e->queues[drop->in_port * XOFF_N_PRIORITIES + drop->priority].xoff_tx > 0;
}

static struct root *root_of_drop(struct finding_roots *f, const struct drop *drop)
{
    const struct run_data *run = &f->e->run;
    const uint32_t sender = drop->in_port == NONE ? NONE : run->ports[drop->in_port].peer;
    /* A frame for a link that is down is lost before it, others at its end. */
    const bool is_before = drop->cause == DROP_LINK_DOWN && drop->out_port != NONE;
    const uint32_t from = is_before ? drop->out_port : sender;
    const uint32_t to = is_before ? run->ports[drop->out_port].peer : drop->in_port;
    const uint32_t link = from < to ? from : to;
    switch (drop->cause) {
    case DROP_RECEIVER:
        return root_at(f, AT_HOST, drop->node, drop->node, NONE);
    case DROP_CORRUPT:
        return root_at(f, AT_ERRORS, link, drop->node, link);
    case DROP_LINK_DOWN:
        return root_at(f, AT_DOWN, link, drop->node, link);
    case DROP_NO_ROUTE:
        return root_at(f, AT_NO_ROUTE, drop->node, drop->node, sender);
    case DROP_HOPS:
        return root_at(f, AT_LOOP, 0, drop->node, sender);
    default:
        if (is_beyond_headroom(f->e, drop))
            return root_at(f, AT_HEADROOM, drop->node, drop->node, sender);
        if (drop->out_port != NONE)
            return root_at_egress(f, drop->out_port);
        return root_at(f, AT_UNKNOWN, 0, drop->node, NONE);
    }
}

static void lay_drops(struct finding_roots *f)
{
    struct explanation *e = f->e;
    for (uint32_t i = 0; i < e->n_drops; i++) {
        const struct drop *drop = &e->drops[i];
        struct root *root = root_of_drop(f, drop);
        root->lost_frames += drop->frames;
        root->lost_lossless += drop->is_lossless ? drop->frames : 0;
        root->lost_bytes += drop->bytes;
        root->priorities |= (uint8_t)(1u << drop->priority);
        if (drop->first_ps < root->lost_from_ps)
            root->lost_from_ps = drop->first_ps;
        if (drop->first_ps < root->from_ps)
            root->from_ps = drop->first_ps;
        if (root->to_ps < drop->first_ps)
            root->to_ps = drop->first_ps;
    }
}

void roots_find(struct explanation *e)
{
    struct run_data *run = &e->run;
    struct finding_roots f = {.e = e,
                              .is_slow = calloc(run->n_nodes + 1, sizeof *f.is_slow),
                              .deadlock_of = malloc((run->n_ports + 1) * sizeof *f.deadlock_of)};
    XOFF_ASSERT(f.is_slow && f.deadlock_of);
    memset(f.deadlock_of, 0xff, run->n_ports * sizeof *f.deadlock_of);
    for (uint32_t i = 0; i < run->n_causes; i++)
        if (run->causes[i].host != NONE)
            f.is_slow[run->causes[i].host] = true;
    for (uint32_t i = 0; i < e->n_drops; i++)
        if (e->drops[i].cause == DROP_RECEIVER)
            f.is_slow[e->drops[i].node] = true;
    for (uint32_t d = 0; d < e->n_deadlocks; d++) {
        const struct deadlock *deadlock = &e->deadlocks[d];
        for (uint32_t i = deadlock->first; i < deadlock->first + deadlock->n; i++)
            f.deadlock_of[e->deadlock_ports[i]] = d;
        if (deadlock->n) {
            const uint32_t port = e->deadlock_ports[deadlock->first];
            struct root *root = root_at(&f, AT_DEADLOCK, d, run->ports[port].node, port);
            root->from_ps = deadlock->onset_ps;
            root->to_ps = run->end_ps;
        }
    }
    find_lines(e);
    find_deaf(e);
    lay_pauses(&f);
    make_strands(e);
    make_line_spans(e);
    lay_drops(&f);
    key_table_fini(&f.keys);
    free(f.deadlock_of);
    free(f.is_slow);
}
