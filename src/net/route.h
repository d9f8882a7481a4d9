/* Routes: shortest paths with equal-cost choices, statements by hand, and the static deadlock
 * check.
 *
 * Tables are by destination edge (the switch that a host is attached to), not by host, so that they
 * stay small: a switch has one 16-bit group number per edge, and groups of equal next-hop sets are
 * stored once. The last hop is the host's own port at its edge. Statements by hand are by host and
 * take precedence.
 */
#ifndef NET_ROUTE_H
#define NET_ROUTE_H

#include <xoff/path.h>

#include "net/topo.h"

#define ROUTE_NONE UINT16_MAX

struct route_group {
    uint32_t first; /* index into route_switch.ports */
    uint32_t n;
};

struct route_switch {
    uint16_t *group_of_edge; /* n_edges; ROUTE_NONE: unreachable */
    uint16_t *group_of_host; /* n_hosts, by statements by hand; NULL: the switch has none */
    struct route_group *groups;
    uint16_t *ports;
    uint32_t n_groups, n_ports;
};

struct routes {
    uint32_t n_hosts, n_edges, n_switches;
    uint32_t *edge_of_host;        /* 0..n_edges-1 */
    uint32_t *node_of_edge;        /* the switch, or the host where two hosts are linked directly */
    uint16_t *port_at_edge;        /* per host: port of the edge switch that leads to it */
    struct route_switch *switches; /* by node - n_hosts */
    /* A second table by (switch, host), with one word per entry: the index of the candidates in
     * hop_ports from bit 8 on, their number below. hop_ports begins with 0, 1, 2 and so on: the
     * index of a single candidate is its port. NULL where it would not be small. */
    uint32_t *hops;
    uint16_t *hop_ports;
};

/* Computes tables for the network as routing knows it at `at`: links failed reroute_after before
 * then (or at the start) are avoided, statements made by then hold. With `must_reach` two hosts
 * without a path between them are an error that names them. */
int routes_create(const struct topo *topo, xoff_time at, bool must_reach, struct routes **out,
                  struct xoff_err *err);
void routes_destroy(struct routes *routes);

/* Returns the candidates of a switch for a host: ports and their number (0: unreachable). */
static inline uint32_t route_candidates(const struct routes *r, const struct route_switch *s,
                                        uint32_t node, uint32_t host, const uint16_t **ports)
{
    uint16_t g = ROUTE_NONE;
    if (__builtin_expect(s->group_of_host != NULL, 0))
        g = s->group_of_host[host];
    if (g == ROUTE_NONE) {
        const uint32_t edge = r->edge_of_host[host];
        g = s->group_of_edge[edge];
        if (g == ROUTE_NONE) { /* an edge has no group for itself: only then its node is read */
            *ports = &r->port_at_edge[host];
            return r->node_of_edge[edge] == node;
        }
    }
    *ports = s->ports + s->groups[g].first;
    return s->groups[g].n;
}

static inline uint32_t routes_candidates(const struct routes *r, uint32_t node, uint32_t host,
                                         const uint16_t **ports)
{
    return route_candidates(r, &r->switches[node - r->n_hosts], node, host, ports);
}

/* Returns the same candidates, read from `hops` where it exists. */
static inline uint32_t routes_hops(const struct routes *r, uint32_t node, uint32_t host,
                                   const uint16_t **ports)
{
    if (__builtin_expect(r->hops == NULL, 0))
        return routes_candidates(r, node, host, ports);
    const uint32_t hop = r->hops[(node - r->n_hosts) * r->n_hosts + host];
    *ports = r->hop_ports + (hop >> 8);
    return hop & 0xff;
}

/* A flow's hash, mixed with the node so that successive switches choose independently. */
static inline uint32_t routes_salt(uint32_t node)
{
    return node * UINT32_C(0x9e3779b1);
}
static inline uint32_t routes_mix_salt(uint32_t salt, uint32_t flow_hash)
{
    uint32_t x = flow_hash ^ salt;
    x ^= x >> 16;
    x *= UINT32_C(0x7feb352d);
    x ^= x >> 15;
    x *= UINT32_C(0x846ca68b);
    return x ^ x >> 16;
}
static inline uint32_t routes_mix(uint32_t node, uint32_t flow_hash)
{
    return routes_mix_salt(routes_salt(node), flow_hash);
}

/* The tables of one switch, for many lookups. */
struct route_row {
    const uint32_t *hops; /* by host; NULL: there is no such table */
    const uint16_t *hop_ports;
    const struct routes *routes;
    const struct route_switch *by_edge;
    uint32_t node, salt; /* the switch, and what it mixes into hashes */
};

static inline struct route_row routes_row(const struct routes *r, uint32_t node)
{
    return (struct route_row){.hops = r->hops ? r->hops + (node - r->n_hosts) * r->n_hosts : NULL,
                              .hop_ports = r->hop_ports,
                              .routes = r,
                              .by_edge = &r->switches[node - r->n_hosts],
                              .node = node,
                              .salt = routes_salt(node)};
}

/* Chooses one of so many candidates. */
static inline uint16_t route_choose(const uint16_t *ports, uint32_t n, uint32_t salt,
                                    uint32_t flow_hash)
{
    return ports[xoff_path_by_value(routes_mix_salt(salt, flow_hash), n)];
}

/* As routes_lookup(); false: unreachable. The caller says whether the row has `hops`, and compiles
 * one path for each case. */
static inline bool route_row_lookup(const struct route_row *row, uint32_t host, uint32_t flow_hash,
                                    bool has_hops, uint32_t *port)
{
    const uint16_t *ports;
    uint32_t n;
    if (has_hops) {
        const uint32_t hop = row->hops[host];
        n = hop & 0xff;
        *port = hop >> 8;
        if (n == 1)
            return true;
        ports = row->hop_ports + (hop >> 8);
    } else {
        n = route_candidates(row->routes, row->by_edge, row->node, host, &ports);
    }
    if (!n)
        return false;
    *port = route_choose(ports, n, row->salt, flow_hash);
    return true;
}

/* Chooses among equal-cost ports by flow hash. ROUTE_NONE: unreachable. */
static inline uint16_t routes_lookup(const struct routes *r, uint32_t node, uint32_t host,
                                     uint32_t flow_hash)
{
    const uint16_t *ports;
    const uint32_t n = routes_hops(r, node, host, &ports);
    return n ? route_choose(ports, n, routes_salt(node), flow_hash) : ROUTE_NONE;
}

/* Cyclic buffer dependency: the channels (node, port) of a cycle of the lossless buffer dependency
 * graph that these routes allow between any two hosts, in order. Returns the number of channels
 * (0: none), at most `capacity` of them written. `coupled` tells, by switch, whether a full egress
 * queue holds up all its inputs; NULL: nowhere. */
struct route_channel {
    uint32_t node, port; /* egress port whose link is the channel */
};
uint32_t routes_find_cycle(const struct topo *topo, const struct routes *routes,
                           const bool *coupled, struct route_channel *cycle, uint32_t capacity);

/* A loop: the channels on which frames to *host go in a circle, in order. Returns their number (0:
 * there is no loop), at most `capacity` of them written. */
uint32_t routes_find_loop(const struct topo *topo, const struct routes *routes,
                          struct route_channel *loop, uint32_t capacity, uint32_t *host);

/* Returns when routes next change after `at`: at stated times, and after failures and repairs when
 * the time to reroute is over. */
xoff_time routes_next_change(const struct topo *topo, xoff_time at);

#endif
