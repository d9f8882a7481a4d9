/* Deadlock at run time: a cycle of paused queues from which no frame left for a while.
 *
 * An egress queue waits for its peer to resume it; the peer's ingress waits for the egress queues
 * that hold its bytes. The peer's pause policy says which priorities those are: the same one, or
 * several where a port is paused as a whole (PAUSE, a buffer that has thresholds for ports). So a
 * cycle may go through several priorities. The search follows only queues that are paused and from
 * which nothing has left. The onset is the instant at which the last gate of the cycle closed.
 *
 * A switch may also wait for itself: its pipeline is stopped by what lies at its own inputs. That
 * is a cycle of one, the queue that the frame is for; its onset is the stop.
 *
 * Ranks first tell each other which queues are stuck, seldom any, then who waits for whom, and all
 * search the same graph.
 */
#include <stdlib.h>
#include <string.h>

#include "net/model.h"

/* A queue that is stuck: paused, and nothing has left it for long enough, or in a switch that waits
 * for itself. */
struct stuck {
    uint32_t sw, port;
    uint16_t priority;
    uint8_t is_frozen, is_locked;
    uint32_t unused; /* ranks send it: no byte of it may be undefined */
    xoff_time since; /* its gate closed, or its switch stopped */
};

/* One frozen queue waits for another, by their indices. */
struct wait {
    uint32_t from, to;
};

/* The queues that are stuck and how they wait: those of all ranks, in the same order everywhere. */
struct waiting {
    struct stuck *queues; /* by switch, port and priority */
    uint32_t n_queues;
    struct wait *waits; /* by from and to */
    uint32_t n_waits;
    uint32_t *path, *next; /* of the walk: queues on it; by queue: its next wait to follow */
};

enum { UNSEEN, ON_PATH, DONE, REPORTED };

static bool is_frozen(struct net *net, uint32_t sw, uint32_t port, uint32_t priority, xoff_time now)
{
    const struct egress *queue = sw_queue(net->switches[sw], port, priority);
    struct port *out = &net->switches[sw]->ports[port];
    const xoff_time since = now - net->spec.deadlock_after;
    return queue->n && !(port_open(out, now) >> priority & 1) &&
           out->closed_at[priority] <= since && queue->left_at <= since;
}

static uint8_t *mark_of(struct net *net, const struct stuck *q)
{
    const uint32_t port = net->topo->nodes[net->n_hosts + q->sw].first_port + q->port;
    return &net->deadlock_marks[port * XOFF_N_PRIORITIES + q->priority];
}

static void report(struct net *net, const struct waiting *w, const uint32_t *path, uint32_t n,
                   xoff_time now)
{
    net->deadlocks = realloc(net->deadlocks, sizeof *net->deadlocks * (net->n_deadlocks + 1));
    net->deadlock_ports =
        realloc(net->deadlock_ports, sizeof *net->deadlock_ports * (net->n_deadlock_ports + n));
    XOFF_ASSERT(net->deadlocks && net->deadlock_ports);
    struct result_deadlock *d = &net->deadlocks[net->n_deadlocks++];
    *d = (struct result_deadlock){.found_at = now, .first = net->n_deadlock_ports, .n = n};
    for (uint32_t i = 0; i < n; i++) {
        const struct stuck *q = &w->queues[path[i]];
        d->onset_at = q->since > d->onset_at ? q->since : d->onset_at;
        net->deadlock_ports[net->n_deadlock_ports++] = (struct result_deadlock_port){
            .node = net->n_hosts + q->sw, .port = q->port, .priority = (uint8_t)q->priority};
        *mark_of(net, q) = REPORTED;
    }
}

/* Whether the peer of port `in` may send `priority` only when frames leave egress queue (out, p).
 * Frames that wait at inputs for a stopped pipeline wait for the queue that stopped it, whatever
 * their own output and priority are. Whether the ingress queue holds the peer is asked for the
 * port's own egress queue: a policy by ingress and egress queues never holds a port by that one, so
 * that its answer is about the ingress alone. A queue that holds the peer itself may have its
 * frames at inputs, behind some for another output. */
static bool waits(const struct sw *sw, uint32_t in, uint32_t priority, uint32_t out, uint32_t p)
{
    const struct xoff_pause *policy = sw->fabric->policy(sw, in, out);
    const uint8_t waits_for = xoff_pause_waits_for(policy, in, priority);
    const enum xoff_hold hold = xoff_pause_held_by(policy, in, out, p);
    if (waits_for && sw->fabric->holds_up && sw->fabric->holds_up(sw, out, p) &&
        xoff_pause_held_by(policy, in, in, priority) == XOFF_HOLD_BY_FRAMES)
        return true;
    if (!(waits_for >> p & 1))
        return false;
    for (uint32_t o = 0; sw->fabric->waits_behind && o < sw->n_ports; o++)
        if (o != out && xoff_pause_held_by(policy, in, o, p) == XOFF_HOLD_YES &&
            sw->fabric->waits_behind(sw, o, out, p))
            return true;
    if (hold != XOFF_HOLD_BY_FRAMES)
        return hold == XOFF_HOLD_YES;
    return !sw->fabric->holds_up && *sw_held(sw, p, in, out) > 0;
}

static int compare_queues(const void *a, const void *b)
{
    const struct stuck *x = a, *y = b;
    if (x->sw != y->sw)
        return x->sw < y->sw ? -1 : 1;
    if (x->port != y->port)
        return x->port < y->port ? -1 : 1;
    return x->priority < y->priority ? -1 : x->priority > y->priority;
}

static int compare_waits(const void *a, const void *b)
{
    const struct wait *x = a, *y = b;
    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    return x->to < y->to ? -1 : x->to > y->to;
}

/* Replaces the records of this rank by those of all ranks, in order. */
static void *share(const struct net *net, void *own, uint32_t *n, size_t size,
                   int (*compare)(const void *, const void *))
{
    const struct sim_ranks *ranks = net->spec.ranks;
    if (!ranks)
        return own;
    void *all;
    size_t *sizes = calloc(ranks->n, sizeof *sizes), sum = 0;
    XOFF_ASSERT(sizes);
    ranks->share(ranks->context, own, *n * size, &all, sizes);
    for (uint32_t r = 0; r < ranks->n; r++)
        sum += sizes[r];
    free(sizes), free(own);
    *n = (uint32_t)(sum / size);
    if (*n)
        qsort(all, *n, size, compare);
    return all;
}

static void *grow(void *array, uint32_t n, size_t size)
{
    if (n & (n - 1)) /* room for the next power of two */
        return array;
    void *grown = realloc(array, (n ? 2 * (size_t)n : 1) * size);
    XOFF_ASSERT(grown);
    return grown;
}

static void find_stuck(struct net *net, struct waiting *w, xoff_time now)
{
    for (uint32_t s = 0; s < net->n_switches; s++) {
        const struct sw *sw = net->switches[s];
        if (!sw)
            continue;
        const bool may_lock =
            sw->fabric->waits_for_itself && sw->stopped_at <= now - net->spec.deadlock_after;
        for (uint32_t port = 0; port < sw->n_ports; port++) {
            const struct port *out = &sw->ports[port];
            if (out->open == 0xff && !may_lock) /* almost all ports, at each check */
                continue;
            for (uint32_t p = 0; p < XOFF_N_PRIORITIES; p++) {
                const bool frozen =
                    out->open != 0xff && sw_is_lossless(sw, p) && is_frozen(net, s, port, p, now);
                const bool locked = may_lock && sw->fabric->waits_for_itself(sw, port, p);
                if (!frozen && !locked)
                    continue;
                w->queues = grow(w->queues, w->n_queues, sizeof *w->queues);
                w->queues[w->n_queues++] =
                    (struct stuck){.sw = s,
                                   .port = port,
                                   .priority = (uint16_t)p,
                                   .is_frozen = frozen,
                                   .is_locked = locked,
                                   .since = locked ? sw->stopped_at : out->closed_at[p]};
            }
        }
    }
    w->queues = share(net, w->queues, &w->n_queues, sizeof *w->queues, compare_queues);
}

/* The rank of a switch knows for which of its queues its peers wait. */
static void find_waits(struct net *net, struct waiting *w)
{
    uint32_t *first = calloc(net->n_switches + 1, sizeof *first); /* queues by switch */
    XOFF_ASSERT(first);
    for (uint32_t i = 0; i < w->n_queues; i++)
        first[w->queues[i].sw + 1]++;
    for (uint32_t s = 0; s < net->n_switches; s++)
        first[s + 1] += first[s];
    for (uint32_t i = 0; i < w->n_queues; i++) {
        const struct stuck *q = &w->queues[i];
        const uint32_t peer = topo_peer(net->topo, net->n_hosts + q->sw, q->port);
        if (!q->is_frozen || peer < net->n_hosts || !net_owns(net, peer))
            continue;
        const uint32_t in = topo_peer_port(net->topo, net->n_hosts + q->sw, q->port);
        const uint32_t s = peer - net->n_hosts;
        for (uint32_t k = first[s]; k < first[s + 1]; k++)
            if (w->queues[k].is_frozen && waits(net->switches[s], in, q->priority,
                                                w->queues[k].port, w->queues[k].priority)) {
                w->waits = grow(w->waits, w->n_waits, sizeof *w->waits);
                w->waits[w->n_waits++] = (struct wait){i, k};
            }
    }
    free(first);
    w->waits = share(net, w->waits, &w->n_waits, sizeof *w->waits, compare_waits);
}

/* Searches depth first from one queue; a queue met again on the path closes a cycle. */
static void walk(struct net *net, struct waiting *w, uint32_t root, xoff_time now)
{
    uint32_t n = 1;
    w->path[0] = root;
    *mark_of(net, &w->queues[root]) = ON_PATH;
    while (n) {
        const uint32_t from = w->path[n - 1];
        if (w->next[from] == w->n_waits || w->waits[w->next[from]].from != from) {
            uint8_t *mark = mark_of(net, &w->queues[from]);
            *mark = *mark == REPORTED ? REPORTED : DONE;
            n--;
            continue;
        }
        const uint32_t to = w->waits[w->next[from]++].to;
        uint8_t *mark = mark_of(net, &w->queues[to]);
        if (*mark == UNSEEN) {
            *mark = ON_PATH;
            w->path[n++] = to;
        } else if (*mark == ON_PATH) {
            uint32_t first = n - 1;
            while (w->path[first] != to)
                first--;
            report(net, w, w->path + first, n - first, now);
        }
    }
}

/* Clears the marks of the last check. A queue that moves again may deadlock again. */
static void clear_marks(struct net *net, const struct waiting *w)
{
    const uint32_t n = net->topo->n_ports * XOFF_N_PRIORITIES;
    if (!net->deadlock_marks) {
        net->deadlock_marks = calloc(n, 1);
        XOFF_ASSERT(net->deadlock_marks);
        return;
    }
    if (!net->n_deadlocks) {
        memset(net->deadlock_marks, UNSEEN, n);
        return;
    }
    for (uint32_t i = 0; i < w->n_queues; i++) {
        uint8_t *mark = mark_of(net, &w->queues[i]);
        *mark = *mark == REPORTED ? ON_PATH : UNSEEN; /* for the time of the next loop */
    }
    for (uint32_t i = 0; i < n; i++)
        net->deadlock_marks[i] = net->deadlock_marks[i] == ON_PATH ? REPORTED : UNSEEN;
}

void deadlock_check(struct net *net, xoff_time now)
{
    struct waiting w = {0};
    find_stuck(net, &w, now);
    clear_marks(net, &w);
    for (uint32_t i = 0; i < w.n_queues; i++)
        if (w.queues[i].is_locked && *mark_of(net, &w.queues[i]) == UNSEEN)
            report(net, &w, &i, 1, now);
    if (w.n_queues) {
        find_waits(net, &w);
        w.path = malloc(sizeof *w.path * w.n_queues);
        w.next = malloc(sizeof *w.next * w.n_queues);
        XOFF_ASSERT(w.path && w.next);
        for (uint32_t i = 0, k = 0; i < w.n_queues; i++) {
            while (k < w.n_waits && w.waits[k].from < i)
                k++;
            w.next[i] = k;
        }
        for (uint32_t i = 0; i < w.n_queues; i++)
            if (w.queues[i].is_frozen && *mark_of(net, &w.queues[i]) == UNSEEN)
                walk(net, &w, i, now);
    }
    free(w.queues), free(w.waits), free(w.path), free(w.next);
}
