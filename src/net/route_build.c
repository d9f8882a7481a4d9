/* Route tables from the graph. The check for cyclic buffer dependencies is in route_cycle.c.
 *
 * Shortest paths by number of hops: one breadth-first search per edge switch over the links that
 * are up. A search that takes switch u from its queue knows the distances of all switches nearer
 * than u, so the equal-cost ports of u (those whose peer is one hop nearer) are read in the same
 * visit. Hosts have one port and never forward, so only switches are searched. Equal sets of a
 * switch are stored once.
 *
 * Edges with the same neighbours are twins: the leaves of a leaf-spine network, or the edge
 * switches of a pod. A path to one of them is a path to the other, but for its last hop. So one
 * search serves all twins of an edge: other switches send to all of them alike, except their
 * neighbours, which have a port to each, and the twin that was searched from, which sends to
 * another by every neighbour. A fat-tree takes a search per pod.
 *
 * A host whose own link is down belongs to an edge without a node, which nothing reaches. A stated
 * port whose link is down is left out. A statement whose links are all down yields to shortest
 * paths, as a static route does whose interfaces are down.
 */
#include <stdlib.h>
#include <string.h>

#include <xoff/rng.h>

#include "net/route.h"

/* A next-hop set while tables are being made; ports lie in builder.pool. */
struct made_group {
    uint64_t hash;
    uint32_t sw;
    uint32_t first, n;
    uint16_t number; /* within its switch */
};

struct builder {
    const struct topo *topo;
    struct routes *routes;
    bool *is_down; /* by link */
    /* Switch-to-switch ports that are up, by switch: its neighbours in order of ports. */
    uint32_t *adj_first, *adj_switch;
    uint16_t *adj_port;
    uint32_t *distance, *queue; /* by switch */
    uint16_t candidates[TOPO_MAX_PORTS];
    struct made_group *made;
    size_t n_made, made_capacity;
    uint16_t *ports;
    size_t n_ports, ports_capacity;
    uint32_t *slots; /* open addressing into made; TOPO_NONE: free */
    size_t n_slots;  /* a power of two, at least twice n_made */
};

static int builder_init(struct builder *b, xoff_time at);
static void builder_fini(struct builder *b);
static int check_reach(const struct builder *b, struct xoff_err *err);
static int make_tables(struct builder *b, xoff_time at, struct xoff_err *err);

int routes_create(const struct topo *topo, xoff_time at, bool must_reach, struct routes **out,
                  struct xoff_err *err)
{
    *out = NULL;
    struct builder *b = calloc(1, sizeof *b);
    int rc = -XOFF_E_NO_MEMORY;
    if (b) {
        b->topo = topo;
        rc = builder_init(b, at);
        if (rc == 0 && must_reach)
            rc = check_reach(b, err);
        if (rc == 0)
            rc = make_tables(b, at, err);
        if (rc == 0)
            *out = b->routes;
        else
            routes_destroy(b->routes);
        builder_fini(b);
    }
    if (rc == -XOFF_E_NO_MEMORY)
        xoff_err_set(err, XOFF_E_NO_MEMORY, "routes", NULL, "not enough memory for route tables");
    return rc;
}

void routes_destroy(struct routes *routes)
{
    if (!routes)
        return;
    if (routes->switches) {
        for (uint32_t i = 0; i < routes->n_switches; i++)
            free(routes->switches[i].group_of_host);
        /* The first switch points to the start of what all switches share (pack_groups). */
        if (routes->n_switches) {
            free(routes->switches[0].group_of_edge);
            free(routes->switches[0].groups);
            free(routes->switches[0].ports);
        }
    }
    free(routes->hops);
    free(routes->hop_ports);
    free(routes->edge_of_host);
    free(routes->node_of_edge);
    free(routes->port_at_edge);
    free(routes->switches);
    free(routes);
}

static void *array(size_t n, size_t size)
{
    return calloc(n ? n : 1, size);
}

/* Makes room for `needed` entries by doubling. */
static bool reserve(void *array_at, size_t *capacity, size_t needed, size_t size)
{
    if (needed <= *capacity)
        return true;
    size_t grown = *capacity ? *capacity : 64;
    while (grown < needed)
        grown *= 2;
    void *old, *moved;
    memcpy(&old, array_at, sizeof old);
    moved = realloc(old, grown * size);
    if (!moved)
        return false;
    memcpy(array_at, &moved, sizeof moved);
    *capacity = grown;
    return true;
}

static void find_neighbours(struct builder *b)
{
    const struct topo *topo = b->topo;
    uint32_t n = 0;
    for (uint32_t node = topo->n_hosts; node < topo->n_nodes; node++) {
        b->adj_first[node - topo->n_hosts] = n;
        for (uint32_t port = 0; port < topo->nodes[node].n_ports; port++) {
            const uint32_t peer = topo_peer(topo, node, port);
            if (peer < topo->n_hosts ||
                b->is_down[topo->ports[topo->nodes[node].first_port + port].link])
                continue;
            b->adj_switch[n] = peer - topo->n_hosts;
            b->adj_port[n++] = (uint16_t)port;
        }
    }
    b->adj_first[topo->n_nodes - topo->n_hosts] = n;
}

static int builder_init(struct builder *b, xoff_time at)
{
    const struct topo *topo = b->topo;
    const uint32_t n_switches = topo->n_nodes - topo->n_hosts;
    b->is_down = array(topo->n_links, sizeof *b->is_down);
    b->adj_first = array((size_t)n_switches + 1, sizeof *b->adj_first);
    b->adj_switch = array(topo->n_ports, sizeof *b->adj_switch);
    b->adj_port = array(topo->n_ports, sizeof *b->adj_port);
    b->distance = array(n_switches, sizeof *b->distance);
    b->queue = array(n_switches, sizeof *b->queue);
    if (!b->is_down || !b->adj_first || !b->adj_switch || !b->adj_port || !b->distance || !b->queue)
        return -XOFF_E_NO_MEMORY;
    /* Routing learns of a failure only after reroute_after, but of one at the start at once. */
    const xoff_time known = topo->reroute_after == XOFF_NEVER || at < topo->reroute_after
                                ? 0
                                : at - topo->reroute_after;
    for (uint32_t i = 0; i < topo->n_changes && topo->changes[i].at <= known; i++) {
        const struct topo_change *change = &topo->changes[i];
        if (change->kind == TOPO_CHANGE_FAIL)
            b->is_down[change->link] = true;
        else if (change->kind == TOPO_CHANGE_REPAIR)
            b->is_down[change->link] = false;
    }
    find_neighbours(b);
    return 0;
}

static void builder_fini(struct builder *b)
{
    free(b->is_down);
    free(b->adj_first);
    free(b->adj_switch);
    free(b->adj_port);
    free(b->distance);
    free(b->queue);
    free(b->made);
    free(b->ports);
    free(b->slots);
    free(b);
}

static uint32_t find_root(uint32_t *parent, uint32_t node)
{
    while (parent[node] != node) {
        parent[node] = parent[parent[node]];
        node = parent[node];
    }
    return node;
}

/* Finds the connected parts as a forest over nodes; `is_down` NULL: all links are up. */
static void find_parts(const struct topo *topo, const bool *is_down, uint32_t *parent)
{
    for (uint32_t i = 0; i < topo->n_nodes; i++)
        parent[i] = i;
    for (uint32_t i = 0; i < topo->n_links; i++) {
        if (is_down && is_down[i])
            continue;
        const uint32_t a = find_root(parent, topo->links[i].node[0]);
        const uint32_t c = find_root(parent, topo->links[i].node[1]);
        if (a < c)
            parent[c] = a;
        else
            parent[a] = c;
    }
}

/* Two hosts in one part of the intact graph must be in one part of the graph that is left. */
static int check_reach(const struct builder *b, struct xoff_err *err)
{
    const struct topo *topo = b->topo;
    uint32_t *parts = array(topo->n_nodes, sizeof *parts);
    int rc = parts ? 0 : -XOFF_E_NO_MEMORY;
    if (parts)
        find_parts(topo, b->is_down, parts);
    for (uint32_t host = 1; host < topo->n_hosts && rc == 0; host++) {
        if (find_root(parts, host) == find_root(parts, 0))
            continue;
        rc = xoff_err_set(err, XOFF_E_CONFLICT, "links", topo->nodes[host].name,
                          "no path between hosts ");
        xoff_err_add(err, topo->nodes[0].name);
        xoff_err_add(err, " and ");
        xoff_err_add(err, topo->nodes[host].name);
        xoff_err_add(err, "; every host must be able to reach every other");
    }
    free(parts);
    return rc;
}

/* Numbers the edges in order of their first host, and allocates the tables by edge and by switch.
 */
static int find_edges(struct builder *b)
{
    const struct topo *topo = b->topo;
    struct routes *r = b->routes;
    r->n_hosts = topo->n_hosts;
    r->n_switches = topo->n_nodes - topo->n_hosts;
    r->edge_of_host = array(r->n_hosts, sizeof *r->edge_of_host);
    r->node_of_edge = array(r->n_hosts, sizeof *r->node_of_edge);
    r->port_at_edge = array(r->n_hosts, sizeof *r->port_at_edge);
    r->switches = array(r->n_switches, sizeof *r->switches);
    if (!r->edge_of_host || !r->node_of_edge || !r->port_at_edge || !r->switches)
        return -XOFF_E_NO_MEMORY;

    uint32_t *edge_of_switch = b->queue; /* unused until the searches begin */
    memset(edge_of_switch, 0xff, r->n_switches * sizeof *edge_of_switch);
    uint32_t nowhere = TOPO_NONE;
    for (uint32_t host = 0; host < r->n_hosts; host++) {
        const uint32_t peer = topo_peer(topo, host, 0);
        const bool is_down = b->is_down[topo->ports[topo->nodes[host].first_port].link];
        uint32_t own = TOPO_NONE;
        uint32_t *edge = is_down             ? &nowhere
                         : peer < r->n_hosts ? &own
                                             : &edge_of_switch[peer - r->n_hosts];
        if (*edge == TOPO_NONE) {
            *edge = r->n_edges++;
            r->node_of_edge[*edge] = is_down ? TOPO_NONE : peer < r->n_hosts ? host : peer;
        }
        r->edge_of_host[host] = *edge;
        r->port_at_edge[host] = (uint16_t)topo_peer_port(topo, host, 0);
    }

    const size_t n_entries = (size_t)r->n_switches * r->n_edges;
    uint16_t *tables = array(n_entries, sizeof *tables);
    if (!tables)
        return -XOFF_E_NO_MEMORY;
    memset(tables, 0xff, n_entries * sizeof *tables);
    for (uint32_t sw = 0; sw < r->n_switches; sw++)
        r->switches[sw].group_of_edge = tables + (size_t)sw * r->n_edges;
    if (r->n_switches == 0)
        free(tables);
    return 0;
}

static bool grow_slots(struct builder *b)
{
    const size_t n_slots = b->n_slots ? 2 * b->n_slots : 256;
    uint32_t *slots = malloc(n_slots * sizeof *slots);
    if (!slots)
        return false;
    memset(slots, 0xff, n_slots * sizeof *slots);
    for (size_t i = 0; i < b->n_made; i++) {
        size_t slot = b->made[i].hash & (n_slots - 1);
        while (slots[slot] != TOPO_NONE)
            slot = (slot + 1) & (n_slots - 1);
        slots[slot] = (uint32_t)i;
    }
    free(b->slots);
    b->slots = slots;
    b->n_slots = n_slots;
    return true;
}

/* Returns the number, within switch `sw`, of the group with the first n of b->candidates. */
static int find_group(struct builder *b, uint32_t sw, uint32_t n, uint16_t *number,
                      struct xoff_err *err)
{
    if (2 * (b->n_made + 1) > b->n_slots && !grow_slots(b))
        return -XOFF_E_NO_MEMORY;
    uint64_t hash = sw;
    for (uint32_t i = 0; i < n; i++)
        hash = (hash + b->candidates[i] + 1) * UINT64_C(0x9e3779b97f4a7c15);
    hash = xoff_mix64(hash);
    size_t slot = hash & (b->n_slots - 1);
    for (; b->slots[slot] != TOPO_NONE; slot = (slot + 1) & (b->n_slots - 1)) {
        const struct made_group *made = &b->made[b->slots[slot]];
        if (made->hash == hash && made->sw == sw && made->n == n &&
            memcmp(b->ports + made->first, b->candidates, n * sizeof *b->ports) == 0) {
            *number = made->number;
            return 0;
        }
    }

    struct route_switch *s = &b->routes->switches[sw];
    if (s->n_groups == ROUTE_NONE)
        return xoff_err_set(err, XOFF_E_RANGE, "routes", b->topo->nodes[b->topo->n_hosts + sw].name,
                            "a switch has at most 65535 different sets of next hops");
    if (!reserve(&b->made, &b->made_capacity, b->n_made + 1, sizeof *b->made) ||
        !reserve(&b->ports, &b->ports_capacity, b->n_ports + n, sizeof *b->ports))
        return -XOFF_E_NO_MEMORY;
    *number = (uint16_t)s->n_groups++;
    s->n_ports += n;
    b->made[b->n_made] = (struct made_group){
        .hash = hash, .sw = sw, .first = (uint32_t)b->n_ports, .n = n, .number = *number};
    b->slots[slot] = (uint32_t)b->n_made++;
    memcpy(b->ports + b->n_ports, b->candidates, n * sizeof *b->ports);
    b->n_ports += n;
    return 0;
}

/* Whether the edge is a switch, which can be searched from. */
static bool is_searched(const struct builder *b, uint32_t edge)
{
    const uint32_t node = b->routes->node_of_edge[edge];
    return node != TOPO_NONE && node >= b->topo->n_hosts;
}

static int search_from(struct builder *b, uint32_t edge, struct xoff_err *err)
{
    struct routes *r = b->routes;
    memset(b->distance, 0xff, r->n_switches * sizeof *b->distance);
    uint32_t n_queued = 0;
    b->queue[n_queued] = r->node_of_edge[edge] - r->n_hosts;
    b->distance[b->queue[n_queued++]] = 0;
    for (uint32_t head = 0; head < n_queued; head++) {
        const uint32_t sw = b->queue[head];
        const uint32_t hops = b->distance[sw];
        uint32_t n = 0;
        for (uint32_t i = b->adj_first[sw]; i < b->adj_first[sw + 1]; i++) {
            const uint32_t peer = b->adj_switch[i];
            if (b->distance[peer] == TOPO_NONE) {
                b->distance[peer] = hops + 1;
                b->queue[n_queued++] = peer;
            } else if (b->distance[peer] + 1 == hops) {
                b->candidates[n++] = b->adj_port[i];
            }
        }
        if (n == 0)
            continue;
        const int rc = find_group(b, sw, n, &r->switches[sw].group_of_edge[edge], err);
        if (rc)
            return rc;
    }
    return 0;
}

/* Finds for each edge the first one with the same neighbours in the same order: itself, if it has
 * no twin before it or is no switch. */
static int find_twins(const struct builder *b, uint32_t *first_of)
{
    const struct routes *r = b->routes;
    size_t n_slots = 16;
    while (n_slots < 2 * (size_t)r->n_edges)
        n_slots *= 2;
    uint32_t *slots = malloc(n_slots * sizeof *slots);
    if (!slots)
        return -XOFF_E_NO_MEMORY;
    memset(slots, 0xff, n_slots * sizeof *slots);
    for (uint32_t edge = 0; edge < r->n_edges; edge++) {
        first_of[edge] = edge;
        if (!is_searched(b, edge))
            continue;
        const uint32_t sw = r->node_of_edge[edge] - r->n_hosts;
        const uint32_t from = b->adj_first[sw], n = b->adj_first[sw + 1] - from;
        uint64_t hash = n;
        for (uint32_t i = 0; i < n; i++)
            hash = (hash + b->adj_switch[from + i] + 1) * UINT64_C(0x9e3779b97f4a7c15);
        size_t slot = xoff_mix64(hash) & (n_slots - 1);
        for (; slots[slot] != TOPO_NONE; slot = (slot + 1) & (n_slots - 1)) {
            const uint32_t other = r->node_of_edge[slots[slot]] - r->n_hosts;
            const uint32_t at = b->adj_first[other];
            if (b->adj_first[other + 1] - at == n &&
                !memcmp(b->adj_switch + at, b->adj_switch + from, n * sizeof *b->adj_switch))
                break;
        }
        if (slots[slot] == TOPO_NONE)
            slots[slot] = edge;
        first_of[edge] = slots[slot];
    }
    free(slots);
    return 0;
}

/* Sets the routes to an edge that its twin does not share: those of its neighbours, of the twin,
 * and its own. */
static int set_last_hops(struct builder *b, uint32_t edge, uint32_t twin, struct xoff_err *err)
{
    struct routes *r = b->routes;
    const uint32_t sw = r->node_of_edge[edge] - r->n_hosts;
    const uint32_t from = r->node_of_edge[twin] - r->n_hosts;
    r->switches[sw].group_of_edge[edge] = ROUTE_NONE;
    const uint32_t n_ways = b->adj_first[from + 1] - b->adj_first[from];
    memcpy(b->candidates, b->adj_port + b->adj_first[from], n_ways * sizeof *b->candidates);
    int rc = n_ways ? find_group(b, from, n_ways, &r->switches[from].group_of_edge[edge], err) : 0;
    const uint32_t first = b->adj_first[sw], end = b->adj_first[sw + 1];
    for (uint32_t i = first; i < end && !rc; i++) {
        const uint32_t next = b->adj_switch[i];
        if (i > first && b->adj_switch[i - 1] == next)
            continue; /* parallel links are usually neighbours, and were taken with the first */
        uint32_t n = 0;
        for (uint32_t k = first; k < end; k++)
            if (b->adj_switch[k] == next)
                b->candidates[n++] =
                    (uint16_t)topo_peer_port(b->topo, r->node_of_edge[edge], b->adj_port[k]);
        rc = find_group(b, next, n, &r->switches[next].group_of_edge[edge], err);
    }
    return rc;
}

static int search_all(struct builder *b, struct xoff_err *err)
{
    struct routes *r = b->routes;
    uint32_t *first_of = array(r->n_edges, sizeof *first_of);
    int rc = first_of ? find_twins(b, first_of) : -XOFF_E_NO_MEMORY;
    for (uint32_t edge = 0; rc == 0 && edge < r->n_edges; edge++)
        if (first_of[edge] == edge && is_searched(b, edge))
            rc = search_from(b, edge, err);
    for (uint32_t sw = 0; rc == 0 && sw < r->n_switches; sw++) {
        uint16_t *groups = r->switches[sw].group_of_edge;
        for (uint32_t edge = 0; edge < r->n_edges; edge++)
            groups[edge] = groups[first_of[edge]];
    }
    for (uint32_t edge = 0; rc == 0 && edge < r->n_edges; edge++)
        if (first_of[edge] != edge)
            rc = set_last_hops(b, edge, first_of[edge], err);
    free(first_of);
    return rc;
}

/* Writes the ports of a statement whose links are up to b->candidates, ascending. */
static uint32_t usable_ports(struct builder *b, const struct topo_route *statement)
{
    const struct topo_node *node = &b->topo->nodes[statement->node];
    uint32_t n = 0;
    for (uint32_t i = 0; i < statement->n_next; i++) {
        const uint16_t port = (uint16_t)statement->next[i];
        XOFF_ASSERT(port < node->n_ports);
        if (b->is_down[b->topo->ports[node->first_port + port].link])
            continue;
        uint32_t at = n++;
        for (; at > 0 && b->candidates[at - 1] > port; at--)
            b->candidates[at] = b->candidates[at - 1];
        b->candidates[at] = port;
    }
    return n;
}

static int apply_statements(struct builder *b, xoff_time at, struct xoff_err *err)
{
    const struct topo *topo = b->topo;
    for (uint32_t i = 0; i < topo->n_routes && topo->routes[i].at <= at; i++) {
        const struct topo_route *statement = &topo->routes[i];
        XOFF_ASSERT(statement->node >= topo->n_hosts && statement->to < topo->n_hosts);
        const uint32_t sw = statement->node - topo->n_hosts;
        struct route_switch *s = &b->routes->switches[sw];
        const uint32_t n = usable_ports(b, statement);
        if (n == 0) {
            if (s->group_of_host)
                s->group_of_host[statement->to] = ROUTE_NONE;
            continue;
        }
        if (!s->group_of_host) {
            const size_t size = topo->n_hosts * sizeof *s->group_of_host;
            s->group_of_host = malloc(size);
            if (!s->group_of_host)
                return -XOFF_E_NO_MEMORY;
            memset(s->group_of_host, 0xff, size);
        }
        const int rc = find_group(b, sw, n, &s->group_of_host[statement->to], err);
        if (rc)
            return rc;
    }
    return 0;
}

/* Packs groups and ports of all switches into one block each, switch after switch. */
static int pack_groups(struct builder *b)
{
    struct routes *r = b->routes;
    if (r->n_switches == 0)
        return 0;
    struct route_group *groups = array(b->n_made, sizeof *groups);
    uint16_t *ports = array(b->n_ports, sizeof *ports);
    r->switches[0].groups = groups;
    r->switches[0].ports = ports;
    if (!groups || !ports)
        return -XOFF_E_NO_MEMORY;
    for (uint32_t sw = 0; sw < r->n_switches; sw++) {
        struct route_switch *s = &r->switches[sw];
        s->groups = groups;
        s->ports = ports;
        groups += s->n_groups;
        ports += s->n_ports;
        s->n_ports = 0;
    }
    for (size_t i = 0; i < b->n_made; i++) {
        const struct made_group *made = &b->made[i];
        struct route_switch *s = &r->switches[made->sw];
        s->groups[made->number] = (struct route_group){.first = s->n_ports, .n = made->n};
        memcpy(s->ports + s->n_ports, b->ports + made->first, made->n * sizeof *s->ports);
        s->n_ports += made->n;
    }
    return 0;
}

/* The table by (switch, host) is made only while it is small enough to stay in the cache; beyond
 * that the smaller tables by edge are faster. */
#define MAX_HOPS (32u << 10)

static uint16_t highest_port(const struct routes *r)
{
    uint16_t highest = 0;
    for (uint32_t i = 0; i < r->n_switches; i++)
        for (uint32_t k = 0; k < r->switches[i].n_ports; k++)
            if (r->switches[i].ports[k] > highest)
                highest = r->switches[i].ports[k];
    for (uint32_t host = 0; host < r->n_hosts; host++)
        if (r->port_at_edge[host] > highest)
            highest = r->port_at_edge[host];
    return highest;
}

static int make_hops(struct routes *r)
{
    const uint64_t n_hops = (uint64_t)r->n_switches * r->n_hosts;
    const uint32_t n_alone = highest_port(r) + 1;
    uint64_t n_ports = n_alone;
    for (uint32_t i = 0; i < r->n_switches; i++)
        n_ports += r->switches[i].n_ports;
    if (!n_hops || n_hops > MAX_HOPS || n_ports >= 1u << 24)
        return 0;
    uint32_t *hops = array(n_hops, sizeof *hops);
    uint16_t *ports = array(n_ports, sizeof *ports);
    uint32_t *first = array(r->n_switches, sizeof *first);
    if (!hops || !ports || !first) {
        free(hops), free(ports), free(first);
        return -XOFF_E_NO_MEMORY;
    }
    for (uint32_t port = 0; port < n_alone; port++)
        ports[port] = (uint16_t)port;
    uint32_t n = n_alone;
    for (uint32_t i = 0; i < r->n_switches; i++) {
        first[i] = n;
        memcpy(ports + n, r->switches[i].ports, r->switches[i].n_ports * sizeof *ports);
        n += r->switches[i].n_ports;
    }
    bool fits = true;
    for (uint64_t k = 0; k < n_hops && fits; k++) {
        const uint32_t sw = (uint32_t)(k / r->n_hosts), host = (uint32_t)(k % r->n_hosts);
        const uint16_t *candidates = NULL;
        const uint32_t count = routes_candidates(r, sw + r->n_hosts, host, &candidates);
        fits = count <= 0xff;
        if (count == 0)
            continue;
        const uint32_t at =
            count == 1 ? *candidates : first[sw] + (uint32_t)(candidates - r->switches[sw].ports);
        hops[k] = at << 8 | (count & 0xff);
    }
    free(first);
    if (!fits) {
        free(hops), free(ports);
        return 0;
    }
    r->hops = hops;
    r->hop_ports = ports;
    return 0;
}

static int make_tables(struct builder *b, xoff_time at, struct xoff_err *err)
{
    b->routes = calloc(1, sizeof *b->routes);
    if (!b->routes)
        return -XOFF_E_NO_MEMORY;
    int rc = find_edges(b);
    if (rc == 0)
        rc = search_all(b, err);
    if (rc == 0)
        rc = apply_statements(b, at, err);
    if (rc == 0)
        rc = pack_groups(b);
    if (rc == 0)
        rc = make_hops(b->routes);
    return rc;
}
