/* The static deadlock check: does any cycle of buffers wait for itself under these routes?
 *
 * Cyclic buffer dependency (Dally and Seitz 1987): a frame that holds buffer behind channel A->B
 * waits for buffer behind B->C. The dependencies that can arise are found by following the traffic
 * to each destination from all other hosts. The result is kept small: for every ingress port of a
 * switch, the set of the switch's groups that frames from there use.
 *
 * A switch whose pipeline stops for a full egress queue is coupled: whatever comes in waits for
 * every group that the switch uses.
 *
 * Channels for which no other channel waits are peeled off until none is left, which proves that
 * there is no cycle, or until every channel left is waited for by another one left. Then walking
 * backwards must close a cycle; searches from each channel in order look for a shorter one, within
 * a bound of steps. The shortest cycle is named; of equally short ones, the first by node and port.
 */
#include <stdlib.h>
#include <string.h>

#include "net/route.h"

#define SHORTEST 2 /* A->B waits for B->A */
/* Dependencies that are looked at before the search ends with the shortest cycle so far; this takes
 * about a tenth of a second. */
#define MAX_STEPS UINT64_C(20000000)

/* Channels are numbered by their egress port's place in topo.ports; only those between two switches
 * can lie on a cycle. */
struct dependencies {
    const struct topo *topo;
    const struct routes *routes;
    const bool *coupled; /* by switch; NULL: none is */
    uint32_t *far;       /* by port: the port at the other end of its link */
    size_t *row_first;   /* by switch: index into `used`, a row of bits per ingress port */
    uint64_t *used;
    uint32_t *n_hosts_at; /* by edge: hosts that can send */
    uint32_t *stamps;     /* by port or, while following traffic, by switch */
    uint32_t stamp;
    uint32_t *queue;      /* by port */
    uint32_t *successors; /* of one channel */
    uint32_t *stated;     /* switches with statements by hand */
    uint32_t n_stated;
};

/* A cycle being looked for; all arrays are by channel. */
struct search {
    uint32_t *n_waiting; /* channels that depend on it and are not peeled off */
    uint32_t *from;      /* the channel it was reached from */
    uint32_t *hops;
    uint32_t *seen_by; /* start of the last search that reached it, plus one */
    uint32_t *cycle;   /* the shortest so far, in order */
    uint32_t n_cycle;
    uint32_t limit;   /* only cycles shorter than this are taken */
    uint64_t n_steps; /* dependencies looked at */
};

static void dependencies_init(struct dependencies *d, const struct topo *topo,
                              const struct routes *r, const bool *coupled);
static void dependencies_fini(struct dependencies *d);
static void follow_all(struct dependencies *d);
static bool peel(struct dependencies *d, struct search *search);
static void find_any_cycle(struct dependencies *d, struct search *search);
static void find_shorter_cycle(struct dependencies *d, struct search *search, uint32_t start);

static void *array(size_t n, size_t size)
{
    void *memory = calloc(n ? n : 1, size);
    XOFF_ASSERT(memory != NULL); /* the return value cannot express "not known" */
    return memory;
}

uint32_t routes_find_cycle(const struct topo *topo, const struct routes *routes,
                           const bool *coupled, struct route_channel *cycle, uint32_t capacity)
{
    struct dependencies d;
    struct search search = {
        .n_waiting = array(topo->n_ports, sizeof *search.n_waiting),
        .from = array(topo->n_ports, sizeof *search.from),
        .hops = array(topo->n_ports, sizeof *search.hops),
        .seen_by = array(topo->n_ports, sizeof *search.seen_by),
        .cycle = array(topo->n_ports, sizeof *search.cycle),
    };
    dependencies_init(&d, topo, routes, coupled);
    follow_all(&d);
    if (peel(&d, &search)) {
        find_any_cycle(&d, &search);
        search.limit = search.n_cycle + 1; /* may name an earlier one of equal length */
        for (uint32_t start = 0; start < topo->n_ports; start++) {
            if (search.limit == SHORTEST || search.n_steps > MAX_STEPS)
                break;
            if (search.n_waiting[start])
                find_shorter_cycle(&d, &search, start);
        }
    }
    uint32_t first = 0;
    for (uint32_t i = 1; i < search.n_cycle; i++) {
        if (search.cycle[i] < search.cycle[first])
            first = i;
    }
    for (uint32_t i = 0; i < search.n_cycle && i < capacity; i++) {
        const uint32_t channel = search.cycle[(first + i) % search.n_cycle];
        const uint32_t node = topo->ports[channel].node;
        cycle[i] = (struct route_channel){node, channel - topo->nodes[node].first_port};
    }
    dependencies_fini(&d);
    free(search.n_waiting);
    free(search.from);
    free(search.hops);
    free(search.seen_by);
    free(search.cycle);
    return search.n_cycle;
}

static size_t row_words(const struct routes *r, uint32_t sw)
{
    return (r->switches[sw].n_groups + 63) / 64;
}

static void dependencies_init(struct dependencies *d, const struct topo *topo,
                              const struct routes *r, const bool *coupled)
{
    const size_t n_marks = topo->n_ports > topo->n_nodes ? topo->n_ports : topo->n_nodes;
    *d = (struct dependencies){.topo = topo, .routes = r, .coupled = coupled};
    d->far = array(topo->n_ports, sizeof *d->far);
    d->row_first = array(r->n_switches, sizeof *d->row_first);
    d->n_hosts_at = array(r->n_edges, sizeof *d->n_hosts_at);
    d->stamps = array(n_marks, sizeof *d->stamps);
    d->queue = array(n_marks, sizeof *d->queue);
    d->successors = array(TOPO_MAX_PORTS, sizeof *d->successors);
    d->stated = array(r->n_switches, sizeof *d->stated);
    for (uint32_t i = 0; i < topo->n_links; i++) {
        const struct topo_link *link = &topo->links[i];
        const uint32_t a = topo->nodes[link->node[0]].first_port + link->port[0];
        const uint32_t b = topo->nodes[link->node[1]].first_port + link->port[1];
        d->far[a] = b;
        d->far[b] = a;
    }
    size_t n_words = 0;
    for (uint32_t sw = 0; sw < r->n_switches; sw++) {
        d->row_first[sw] = n_words;
        n_words += row_words(r, sw) * topo->nodes[topo->n_hosts + sw].n_ports;
        if (r->switches[sw].group_of_host)
            d->stated[d->n_stated++] = sw;
    }
    d->used = array(n_words, sizeof *d->used);
    for (uint32_t host = 0; host < r->n_hosts; host++)
        d->n_hosts_at[r->edge_of_host[host]]++;
}

static void dependencies_fini(struct dependencies *d)
{
    free(d->far);
    free(d->row_first);
    free(d->used);
    free(d->n_hosts_at);
    free(d->stamps);
    free(d->queue);
    free(d->successors);
    free(d->stated);
}

static bool is_switch(const struct topo *topo, uint32_t node)
{
    return node != TOPO_NONE && node >= topo->n_hosts;
}

static uint64_t *used_row(const struct dependencies *d, uint32_t ingress)
{
    const uint32_t node = d->topo->ports[ingress].node;
    const uint32_t sw = node - d->topo->n_hosts;
    const uint32_t port = ingress - d->topo->nodes[node].first_port;
    return d->used + d->row_first[sw] + row_words(d->routes, sw) * port;
}

/* Returns the group that a switch uses for a host; ROUTE_NONE: the last hop, or unreachable. */
static uint16_t group_for(const struct routes *r, uint32_t node, uint32_t host)
{
    const struct route_switch *s = &r->switches[node - r->n_hosts];
    if (s->group_of_host && s->group_of_host[host] != ROUTE_NONE)
        return s->group_of_host[host];
    return s->group_of_edge[r->edge_of_host[host]]; /* an edge has no group for itself */
}

static void push_once(struct dependencies *d, uint32_t item, uint32_t *n_queued)
{
    if (d->stamps[item] != d->stamp) {
        d->stamps[item] = d->stamp;
        d->queue[(*n_queued)++] = item;
    }
}

/* Frames use a group of a coupled switch: all its ingress ports wait for it. */
static void couple(struct dependencies *d, uint32_t node, uint32_t group)
{
    const struct topo_node *n = &d->topo->nodes[node];
    for (uint32_t port = 0; port < n->n_ports; port++)
        used_row(d, n->first_port + port)[group / 64] |= UINT64_C(1) << (group % 64);
}

/* Marks the groups that frames of all other hosts to `host` use. */
static void follow_traffic(struct dependencies *d, uint32_t host)
{
    const struct topo *topo = d->topo;
    const struct routes *r = d->routes;
    uint32_t n_queued = 0;
    d->stamp++;
    for (uint32_t edge = 0; edge < r->n_edges; edge++) {
        const uint32_t n_senders = d->n_hosts_at[edge] - (edge == r->edge_of_host[host]);
        if (n_senders && is_switch(topo, r->node_of_edge[edge]))
            push_once(d, r->node_of_edge[edge], &n_queued);
    }
    for (uint32_t head = 0; head < n_queued; head++) {
        const uint32_t node = d->queue[head];
        const uint16_t group = group_for(r, node, host);
        if (group == ROUTE_NONE)
            continue;
        if (d->coupled && d->coupled[node - r->n_hosts])
            couple(d, node, group);
        const struct route_switch *s = &r->switches[node - r->n_hosts];
        for (uint32_t i = 0; i < s->groups[group].n; i++) {
            const uint32_t egress =
                topo->nodes[node].first_port + s->ports[s->groups[group].first + i];
            const uint32_t ingress = d->far[egress];
            const uint32_t peer = topo->ports[ingress].node;
            if (!is_switch(topo, peer))
                continue;
            push_once(d, peer, &n_queued);
            const uint16_t next = group_for(r, peer, host);
            if (next != ROUTE_NONE)
                used_row(d, ingress)[next / 64] |= UINT64_C(1) << (next % 64);
        }
    }
}

/* Hosts of one edge that no statement tells apart have the same routes: one of them is followed. */
static bool same_routes(const struct dependencies *d, uint32_t a, uint32_t b)
{
    for (uint32_t i = 0; i < d->n_stated; i++) {
        const uint16_t *group_of_host = d->routes->switches[d->stated[i]].group_of_host;
        if (group_of_host[a] != group_of_host[b])
            return false;
    }
    return true;
}

static void follow_all(struct dependencies *d)
{
    const struct routes *r = d->routes;
    uint32_t *last_of_edge = array(r->n_edges, sizeof *last_of_edge);
    memset(last_of_edge, 0xff, r->n_edges * sizeof *last_of_edge);
    for (uint32_t host = 0; host < r->n_hosts; host++) {
        uint32_t *last = &last_of_edge[r->edge_of_host[host]];
        if (*last != TOPO_NONE && same_routes(d, *last, host))
            continue;
        follow_traffic(d, host);
        *last = host;
    }
    free(last_of_edge);
}

/* Writes the channels that `channel` depends on to d->successors, each once. */
static uint32_t find_successors(struct dependencies *d, uint32_t channel)
{
    const uint32_t ingress = d->far[channel];
    const uint32_t node = d->topo->ports[ingress].node;
    const struct route_switch *s = &d->routes->switches[node - d->topo->n_hosts];
    const uint64_t *row = used_row(d, ingress);
    const size_t n_words = row_words(d->routes, node - d->topo->n_hosts);
    uint32_t n = 0;
    d->stamp++;
    for (size_t word = 0; word < n_words; word++) {
        for (uint64_t bits = row[word]; bits; bits &= bits - 1) {
            const struct route_group *group = &s->groups[word * 64 + (size_t)__builtin_ctzll(bits)];
            for (uint32_t i = 0; i < group->n; i++) {
                const uint32_t egress =
                    d->topo->nodes[node].first_port + s->ports[group->first + i];
                if (d->stamps[egress] == d->stamp ||
                    !is_switch(d->topo, d->topo->ports[d->far[egress]].node))
                    continue;
                d->stamps[egress] = d->stamp;
                d->successors[n++] = egress;
            }
        }
    }
    return n;
}

static bool is_channel(const struct dependencies *d, uint32_t port)
{
    return is_switch(d->topo, d->topo->ports[port].node) &&
           is_switch(d->topo, d->topo->ports[d->far[port]].node);
}

/* Leaves n_waiting above 0 only at channels on a cycle or behind one; false: there are none. */
static bool peel(struct dependencies *d, struct search *search)
{
    const uint32_t n_ports = d->topo->n_ports;
    uint32_t n_left = 0, n_queued = 0;
    for (uint32_t channel = 0; channel < n_ports; channel++) {
        if (!is_channel(d, channel))
            continue;
        n_left++;
        const uint32_t n = find_successors(d, channel);
        for (uint32_t i = 0; i < n; i++)
            search->n_waiting[d->successors[i]]++;
    }
    for (uint32_t channel = 0; channel < n_ports; channel++) {
        if (is_channel(d, channel) && search->n_waiting[channel] == 0)
            d->queue[n_queued++] = channel;
    }
    for (uint32_t head = 0; head < n_queued; head++) {
        n_left--;
        const uint32_t n = find_successors(d, d->queue[head]);
        for (uint32_t i = 0; i < n; i++) {
            if (--search->n_waiting[d->successors[i]] == 0)
                d->queue[n_queued++] = d->successors[i];
        }
    }
    return n_left > 0;
}

static void find_any_cycle(struct dependencies *d, struct search *search)
{
    const uint32_t n_ports = d->topo->n_ports;
    uint32_t channel = TOPO_NONE;
    memset(search->from, 0xff, n_ports * sizeof *search->from);
    for (uint32_t waiting = n_ports; waiting-- > 0;) {
        if (search->n_waiting[waiting] == 0)
            continue;
        channel = waiting;
        const uint32_t n = find_successors(d, waiting);
        for (uint32_t i = 0; i < n; i++)
            search->from[d->successors[i]] = waiting;
    }
    d->stamp++;
    for (; d->stamps[channel] != d->stamp; channel = search->from[channel])
        d->stamps[channel] = d->stamp;
    const uint32_t last = channel;
    do {
        search->cycle[search->n_cycle++] = channel;
        channel = search->from[channel];
    } while (channel != last);
    for (uint32_t i = 0, j = search->n_cycle - 1; i < j; i++, j--) {
        const uint32_t swapped = search->cycle[i];
        search->cycle[i] = search->cycle[j];
        search->cycle[j] = swapped;
    }
}

/* Searches breadth first from `start` until the search returns to it with a shorter cycle. */
static void find_shorter_cycle(struct dependencies *d, struct search *search, uint32_t start)
{
    uint32_t n_queued = 0;
    d->queue[n_queued++] = start;
    search->hops[start] = 0;
    search->seen_by[start] = start + 1;
    for (uint32_t head = 0; head < n_queued; head++) {
        const uint32_t channel = d->queue[head];
        if (search->hops[channel] + 1 >= search->limit)
            return;
        const uint32_t n = find_successors(d, channel);
        search->n_steps += n + 1;
        for (uint32_t i = 0; i < n; i++) {
            const uint32_t next = d->successors[i];
            if (next == start) {
                search->n_cycle = search->limit = search->hops[channel] + 1;
                uint32_t at = channel;
                for (uint32_t place = search->n_cycle; place-- > 0; at = search->from[at])
                    search->cycle[place] = at;
                return;
            }
            if (search->n_waiting[next] == 0 || search->seen_by[next] == start + 1)
                continue;
            search->seen_by[next] = start + 1;
            search->from[next] = channel;
            search->hops[next] = search->hops[channel] + 1;
            d->queue[n_queued++] = next;
        }
    }
}
