/* The network as a graph: nodes with numbered ports, links between them, and how links change.
 *
 * Built once from the scenario (scenario/topology.c), read by everyone. Nodes are numbered hosts
 * first, then switches; a host has exactly one port.
 */
#ifndef NET_TOPO_H
#define NET_TOPO_H

#include <stdbool.h>

#include <xoff/err.h>
#include <xoff/time.h>

#define TOPO_NAME 32
#define TOPO_NONE UINT32_MAX
#define TOPO_MAX_PORTS 4096 /* limit for one node */
#define TOPO_MAX_HOSTS 1000000

enum topo_kind { TOPO_HOST, TOPO_SWITCH };

struct topo_node {
    char name[TOPO_NAME];
    uint32_t number; /* the ns-3 RDMA family's id: of n7 it is 7, see topo_build.c */
    enum topo_kind kind;
    uint32_t first_port; /* index into topo.ports, where a node's ports lie in order of links */
    uint32_t n_ports;
};

/* A port of a node: the link at it and which end it is (0 or 1). */
struct topo_port {
    uint32_t node;
    uint32_t link;
    uint32_t end;
};

struct topo_link {
    uint32_t node[2];
    uint32_t port[2]; /* port number within node[i] */
    xoff_rate rate_bps;
    xoff_time delay;
    uint32_t error_ppb; /* frames lost to corruption per 10^9 */
};

/* A change of a link at an instant: a new rate, a new delay, failure or repair. */
enum topo_change_kind { TOPO_CHANGE_RATE, TOPO_CHANGE_DELAY, TOPO_CHANGE_FAIL, TOPO_CHANGE_REPAIR };

struct topo_change {
    xoff_time at;
    uint32_t link;
    enum topo_change_kind kind;
    xoff_rate rate_bps;
    xoff_time delay;
};

/* From `at` on, switch `node` sends frames for host `to` to these neighbours only. n_next 0 revokes
 * the statement, so shortest paths hold again. */
#define TOPO_MAX_NEXT 8
struct topo_route {
    xoff_time at;
    uint32_t node;
    uint32_t to;                  /* host */
    uint32_t next[TOPO_MAX_NEXT]; /* port numbers of `node` */
    uint32_t n_next;
};

struct topo {
    uint32_t n_nodes, n_hosts, n_links, n_ports;
    struct topo_node *nodes; /* hosts 0..n_hosts-1, then switches */
    struct topo_link *links;
    struct topo_port *ports;
    struct topo_change *changes; /* sorted by at, then order of statement */
    uint32_t n_changes;
    struct topo_route *routes; /* sorted by at, then order of statement */
    uint32_t n_routes;
    xoff_time reroute_after; /* from a failure or repair to new shortest paths; XOFF_NEVER: never */
};

/* Returns the node of that name, or TOPO_NONE. */
uint32_t topo_find(const struct topo *topo, const char *name);
/* Finds a link by name: "leaf0-spine1" (first link between them), "leaf0-spine1#2" (third), in
 * either order; TOPO_NONE: there is none. */
uint32_t topo_find_link(const struct topo *topo, const char *name);
/* Numbers the ports. Called when nodes and links are filled in; completes their index tables. */
int topo_finish(struct topo *topo, struct xoff_err *err);
void topo_fini(struct topo *topo);

static inline uint32_t topo_peer(const struct topo *topo, uint32_t node, uint32_t port)
{
    const struct topo_port *p = &topo->ports[topo->nodes[node].first_port + port];
    return topo->links[p->link].node[!p->end];
}

static inline uint32_t topo_peer_port(const struct topo *topo, uint32_t node, uint32_t port)
{
    const struct topo_port *p = &topo->ports[topo->nodes[node].first_port + port];
    return topo->links[p->link].port[!p->end];
}

/* Returns when the only link of a host failed that is still down at `end_at`; XOFF_NEVER: it is up.
 * Frames to and from such a host do not arrive. */
xoff_time topo_cut_off_at(const struct topo *topo, uint32_t host, xoff_time end_at);

#endif
