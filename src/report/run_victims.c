/* Victims: flows that waited because of congestion that was not on their path.
 *
 * A flow is a victim when its source was stopped at its priority during the flow's life, by pauses
 * none of whose roots lies on the flow's path: the egress where the chain of pauses began does not
 * lead to the flow's destination (the port is on no shortest path to it), and a host that started
 * the chain is not the destination. Where the root is not known, or there are too many to examine,
 * the flow does not count as a victim. Its waiting time is the time that its source was stopped
 * within its life; a flow that took no longer than alone in the network did not wait.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/run_parts.h"

/* Limits on the causes whose reach is computed, and on the comparisons of flows with causes. */
#define MOST_REACHES 128
#define MOST_LOOKS 8000000

/* Stops of one host's port and priority by one cause: disjoint and in order of time. */
struct strand {
    uint32_t host, priority, port, cause;
    uint32_t first, n; /* spans of this strand */
};

struct span {
    uint32_t host, priority, port, cause;
    int64_t from_ps, to_ps;
    int64_t before_ps; /* total length of the spans before it in its strand */
};

struct run_victims {
    const struct run_data *run;
    struct span *spans;
    struct strand *strands; /* by host and priority */
    uint32_t n_spans, n_strands;
    uint32_t *first_strand; /* per node, and one more */
    bool **reach;           /* per cause: nodes behind it; NULL: not computed yet */
    uint32_t n_reaches;
    uint64_t n_looks;
    uint64_t n;               /* victims found */
    struct run_victim *worst; /* longest waiting first */
    uint32_t n_worst;
};

static int compare_spans(const void *a, const void *b)
{
    const struct span *x = a, *y = b;
    if (x->host != y->host)
        return x->host < y->host ? -1 : 1;
    if (x->priority != y->priority)
        return x->priority < y->priority ? -1 : 1;
    if (x->port != y->port)
        return x->port < y->port ? -1 : 1;
    if (x->cause != y->cause)
        return x->cause < y->cause ? -1 : 1;
    return (x->from_ps > y->from_ps) - (x->from_ps < y->from_ps);
}

static bool same_strand(const struct span *x, const struct span *y)
{
    return x->host == y->host && x->priority == y->priority && x->port == y->port &&
           x->cause == y->cause;
}

static void make_strands(struct run_victims *v)
{
    for (uint32_t i = 0; i < v->n_spans; i++) {
        struct span *s = &v->spans[i];
        if (i && same_strand(s, s - 1)) {
            s->before_ps = s[-1].before_ps + s[-1].to_ps - s[-1].from_ps;
            v->strands[v->n_strands - 1].n++;
        } else {
            v->strands[v->n_strands++] = (struct strand){.host = s->host,
                                                         .priority = s->priority,
                                                         .port = s->port,
                                                         .cause = s->cause,
                                                         .first = i,
                                                         .n = 1};
        }
    }
    for (uint32_t node = 0, i = 0; node <= v->run->n_nodes; node++) {
        while (i < v->n_strands && v->strands[i].host < node)
            i++;
        v->first_strand[node] = i;
    }
}

struct run_victims *run_victims_create(const struct run_data *run)
{
    struct run_victims *v = calloc(1, sizeof *v);
    XOFF_ASSERT(v);
    *v = (struct run_victims){
        .run = run,
        .spans = calloc(run->n_stops + 1, sizeof *v->spans),
        .strands = calloc(run->n_stops + 1, sizeof *v->strands),
        .first_strand = calloc(run->n_nodes + 2, sizeof *v->first_strand),
        .reach = calloc(run->n_causes + 1, sizeof *v->reach),
        .worst = calloc(run->limits->victims + 1, sizeof *v->worst),
    };
    XOFF_ASSERT(v->spans && v->strands && v->first_strand && v->reach && v->worst);
    for (uint32_t i = 0; i < run->n_stops; i++) {
        const struct run_stop *stop = &run->stops[i];
        const struct run_line *line = &run->lines[stop->line];
        const uint32_t host = run->ports[line->port].peer_node;
        if (host == NONE || !run->nodes[host].is_host || stop->to_ps <= stop->from_ps)
            continue;
        v->spans[v->n_spans++] = (struct span){.host = host,
                                               .priority = line->priority,
                                               .port = line->port,
                                               .cause = run->pauses[stop->pause].cause,
                                               .from_ps = stop->from_ps,
                                               .to_ps = stop->to_ps};
    }
    qsort(v->spans, v->n_spans, sizeof *v->spans, compare_spans);
    make_strands(v);
    return v;
}

void run_victims_destroy(struct run_victims *v)
{
    if (!v)
        return;
    for (uint32_t i = 0; i < v->run->n_causes; i++)
        free(v->reach[i]);
    free(v->worst);
    free(v->reach);
    free(v->first_strand);
    free(v->strands);
    free(v->spans);
    free(v);
}

static bool stops(const struct strand *strand, uint32_t priority)
{
    return strand->priority == priority || strand->priority == ALL_PRIORITIES;
}

bool run_victims_concern(const struct run_victims *v, uint32_t from, uint32_t priority)
{
    if (from >= v->run->n_nodes)
        return false;
    for (uint32_t i = v->first_strand[from]; i < v->first_strand[from + 1]; i++)
        if (stops(&v->strands[i], priority))
            return true;
    return false;
}

/* Returns the time within the strand's stops before `at`. */
static int64_t stopped_before(const struct run_victims *v, const struct strand *strand, int64_t at)
{
    uint32_t low = strand->first, high = strand->first + strand->n;
    while (low < high) { /* finds the first that begins at or after it */
        const uint32_t middle = low + (high - low) / 2;
        if (v->spans[middle].from_ps < at)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == strand->first)
        return 0;
    const struct span *s = &v->spans[low - 1];
    return s->before_ps + (at < s->to_ps ? at : s->to_ps) - s->from_ps;
}

/* Returns the nodes whose path leads through the cause; all nodes when that is not known. */
static const bool *reach_of(struct run_victims *v, uint32_t cause)
{
    const struct run_data *run = v->run;
    const struct run_cause *c = &run->causes[cause];
    if (v->reach[cause])
        return v->reach[cause];
    bool *reach = v->reach[cause] = calloc(run->n_nodes + 1, sizeof *reach);
    XOFF_ASSERT(reach);
    const uint32_t peer = c->port == NONE ? NONE : run->ports[c->port].peer_node;
    if (c->host != NONE) {
        reach[c->host] = true;
    } else if (peer != NONE && run->nodes[peer].is_host) {
        reach[peer] = true;
    } else if (peer == NONE || v->n_reaches++ >= MOST_REACHES) {
        memset(reach, true, run->n_nodes);
    } else {
        uint32_t *here = calloc(run->n_nodes + 1, sizeof *here);
        uint32_t *there = calloc(run->n_nodes + 1, sizeof *there);
        XOFF_ASSERT(here && there);
        run_distances(run, run->ports[c->port].node, here);
        run_distances(run, peer, there);
        for (uint32_t i = 0; i < run->n_nodes; i++)
            reach[i] = there[i] < here[i];
        free(there);
        free(here);
    }
    return reach;
}

/* Inserts into the worst, which stay sorted; of two with equal waits the earlier flow comes
 * first. */
static void note(struct run_victims *v, const struct run_victim *victim)
{
    uint32_t at = v->n_worst;
    while (at && v->worst[at - 1].waited_ps < victim->waited_ps)
        at--;
    if (at >= v->run->limits->victims)
        return;
    const uint32_t n_after = v->n_worst - at;
    memmove(&v->worst[at + 1], &v->worst[at], n_after * sizeof *v->worst);
    v->worst[at] = *victim;
    if (v->n_worst < v->run->limits->victims)
        v->n_worst++;
}

void run_victims_consider(struct run_victims *v, const struct run_victim *flow)
{
    if (flow->from >= v->run->n_nodes || flow->to >= v->run->n_nodes || flow->slowdown <= 1)
        return;
    int64_t waited_ps = 0;
    for (uint32_t i = v->first_strand[flow->from]; i < v->first_strand[flow->from + 1]; i++) {
        const struct strand *strand = &v->strands[i];
        if (!stops(strand, flow->priority) || ++v->n_looks > MOST_LOOKS)
            continue;
        const int64_t stopped_ps =
            stopped_before(v, strand, flow->end_ps) - stopped_before(v, strand, flow->start_ps);
        if (stopped_ps <= 0)
            continue;
        if (reach_of(v, strand->cause)[flow->to])
            return;
        waited_ps += stopped_ps;
    }
    if (!waited_ps || v->n_looks > MOST_LOOKS)
        return;
    v->n++;
    const int64_t life_ps = flow->end_ps - flow->start_ps;
    struct run_victim victim = *flow;
    victim.waited_ps = waited_ps < life_ps ? waited_ps : life_ps; /* of several ports at once */
    note(v, &victim);
}

void run_victims_json(const struct run_victims *v, json_t *pauses)
{
    json_t *list = json_array();
    XOFF_ASSERT(list);
    for (uint32_t i = 0; i < v->n_worst; i++) {
        const struct run_victim *w = &v->worst[i];
        json_array_append_new(
            list, json_pack("{sI so so so sI so so so}", "flow", (json_int_t)w->id, "traffic",
                            json_words(w->traffic, 0), "from",
                            json_words(run_node_name(v->run, w->from), 0), "to",
                            json_words(run_node_name(v->run, w->to), 0), "priority",
                            (json_int_t)w->priority, "bytes",
                            w->bytes < 0 ? json_null() : json_integer(w->bytes), "slowdown",
                            json_rounded(w->slowdown, 9), "waited_s", json_seconds(w->waited_ps)));
    }
    json_object_set_new(pauses, "victims", list);
    json_object_set_new(pauses, "n_victims",
                        v->n_looks > MOST_LOOKS ? json_null() : json_integer((json_int_t)v->n));
}
