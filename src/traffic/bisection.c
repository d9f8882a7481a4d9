/* Senders' shares of the links between edge switches and the rest of the fabric (bisection.h). */
#include "traffic/bisection.h"

#include <stdlib.h>

#include <xoff/units.h>

/* Senders and receivers of a node that has hosts. */
struct edge {
    uint32_t n_senders, n_receivers;
};

/* Returns the node at the other end of a host's link. */
static uint32_t edge_of(const struct topo *topo, uint32_t host)
{
    return topo_peer(topo, host, 0);
}

/* Returns U_e; 0 for a host that is linked to a host. */
static double uplink_bps(const struct topo *topo, uint32_t node)
{
    double sum = 0;
    if (topo->nodes[node].kind != TOPO_SWITCH)
        return 0;
    for (uint32_t i = 0; i < topo->nodes[node].n_ports; i++) {
        const struct topo_port *port = &topo->ports[topo->nodes[node].first_port + i];
        if (topo->nodes[topo_peer(topo, node, i)].kind == TOPO_SWITCH)
            sum += (double)topo->links[port->link].rate_bps;
    }
    return sum;
}

static int rate_of(const struct traffic_env *env, const struct targets *targets,
                   const struct edge *edges, uint32_t sender, double *rate_bps,
                   struct xoff_err *err)
{
    const struct topo *topo = env->topo;
    const uint32_t host = targets->senders.hosts[sender], edge = edge_of(topo, host);
    const bool is_receiver = bind_position(&targets->pool, host) < targets->pool.n;
    const uint32_t n_others = targets->pool.n - is_receiver;
    const uint32_t n_across = targets->pool.n - edges[edge].n_receivers;
    const double uplink = uplink_bps(topo, edge);
    if (uplink == 0) {
        xoff_err_set(err, XOFF_E_CONFLICT, "load_of", "bisection",
                     "there are no links between switches at ");
        xoff_err_add(err, topo->nodes[edge].name);
        xoff_err_add(err, ", so there is no bisection to load; accepted is hosts");
        return -XOFF_E_CONFLICT;
    }
    if (n_across == 0) {
        xoff_err_set(err, XOFF_E_CONFLICT, "load_of", "bisection", "all receivers of ");
        xoff_err_add(err, topo->nodes[host].name);
        xoff_err_add(err, " are on its own switch; accepted are receivers behind others, or hosts");
        return -XOFF_E_CONFLICT;
    }
    *rate_bps = uplink / edges[edge].n_senders * n_others / n_across;
    return 0;
}

int bisection_rates(const struct traffic_env *env, const struct targets *targets, double load,
                    double *rates_bps, struct xoff_err *err)
{
    char text[32];
    struct edge *edges = calloc(env->topo->n_nodes, sizeof *edges);
    if (!edges)
        return bind_no_memory(err);
    for (uint32_t i = 0; i < targets->senders.n; i++)
        edges[edge_of(env->topo, targets->senders.hosts[i])].n_senders++;
    for (uint32_t i = 0; i < targets->pool.n; i++)
        edges[edge_of(env->topo, targets->pool.hosts[i])].n_receivers++;
    int rc = 0;
    for (uint32_t i = 0; rc == 0 && i < targets->senders.n; i++) {
        rc = rate_of(env, targets, edges, i, &rates_bps[i], err);
        const uint32_t host = targets->senders.hosts[i];
        const double line_bps = (double)bind_line_rate(env, host);
        if (rc || load * rates_bps[i] <= line_bps)
            continue;
        rc = xoff_err_set(err, XOFF_E_RANGE, "load", xoff_format_real(text, sizeof text, load),
                          "the link of ");
        xoff_err_add(err, env->topo->nodes[host].name);
        xoff_err_add(err, " cannot carry its part of this; accepted is at most ");
        xoff_err_add(err, xoff_format_real(text, sizeof text, line_bps / rates_bps[i]));
    }
    free(edges);
    return rc;
}
