/* Divides a network among ranks.
 *
 * Nodes that short links join stay together (sim_group): cutting such a link would make every
 * window as short as it is. Groups are the vertices of a graph, weighted by their ports, and its
 * edges count links. Rank 0 has it divided, and all ranks take its answer, since another rank's
 * library might answer differently. Results do not depend on the parts.
 *
 * A network whose events are all in one sequence is not divided: rank 0 runs all of it.
 */
#include <stdlib.h>
#include <string.h>

#include "net/build.h"

/* What several ranks cannot run yet. Everything refused here would come out wrong. */
static int check(const struct net *net, struct xoff_err *err)
{
    const struct net_spec *spec = &net->spec;
    const char *what = spec->n_captures    ? "--capture reads the flows of other hosts"
                       : spec->trace_until ? "--trace merges what all nodes noted down"
                       : spec->wire_check  ? "--wire-check"
                                           : NULL;
    if (what) {
        xoff_err_set(err, XOFF_E_CONFLICT, "mpirun", NULL, "not over several ranks yet: ");
        xoff_err_add(err, what);
        xoff_err_add(err, "; run it as one process, with --threads");
        return -XOFF_E_CONFLICT;
    }
    if (spec->ranks->n <= net->topo->n_nodes)
        return 0;
    char n[32];
    xoff_format_int(n, sizeof n, spec->ranks->n);
    xoff_err_set(err, XOFF_E_RANGE, "ranks", n, "more ranks than nodes; this network has ");
    xoff_err_add_int(err, net->topo->n_nodes);
    xoff_err_add(err, " hosts and switches: give mpirun -n that many or fewer");
    return -XOFF_E_RANGE;
}

/* Parts are given for tests and trials. */
static int check_parts(const struct net *net, struct xoff_err *err)
{
    const uint32_t n = net->topo->n_nodes;
    if (net->spec.wire->is_one_sequence)
        return xoff_err_set(err, XOFF_E_CONFLICT, "--parts", NULL,
                            "not with compat: ns3, which has all events of the network in one "
                            "sequence: the first rank runs all nodes");
    bool is_wrong = net->spec.n_parts != n;
    for (uint32_t i = 0; i < n && !is_wrong; i++)
        is_wrong = net->spec.parts[i] >= net->spec.ranks->n;
    if (!is_wrong)
        return 0;
    xoff_err_set(err, XOFF_E_RANGE, "--parts", NULL, "give the rank of each node, hosts first: ");
    xoff_err_add_int(err, n);
    xoff_err_add(err, " numbers from 0 to ");
    xoff_err_add_int(err, net->spec.ranks->n - 1);
    return -XOFF_E_RANGE;
}

/* A link that takes no time cannot lie between ranks: no window would fit in it. */
static int check_cuts(const struct net *net, const struct sim_spec *spec, struct xoff_err *err)
{
    for (uint32_t i = 0; i < spec->n_links; i++) {
        const struct sim_link_spec *l = &spec->links[i];
        if (l->lookahead > 0 || net->part_of[l->from_node] == net->part_of[l->to_node])
            continue;
        xoff_err_set(err, XOFF_E_CONFLICT, "--parts", NULL, "a link without delay cannot be cut: ");
        xoff_err_add(err, net->topo->nodes[l->from_node].name);
        xoff_err_add(err, " to ");
        xoff_err_add(err, net->topo->nodes[l->to_node].name);
        return -XOFF_E_CONFLICT;
    }
    return 0;
}

/* Fills in the neighbours of all groups, with the number of links to each. */
static void join_groups(const struct sim_spec *spec, const uint32_t *group_of, uint32_t n,
                        uint32_t *first, uint32_t *to, uint32_t *strength)
{
    uint32_t *next = build_block(n + 1, sizeof *next);
    for (uint32_t i = 0; i < spec->n_links; i++)
        if (group_of[spec->links[i].from_node] != group_of[spec->links[i].to_node])
            first[group_of[spec->links[i].from_node] + 1]++;
    for (uint32_t g = 0; g < n; g++)
        next[g + 1] = first[g + 1] += first[g];
    for (uint32_t i = 0; i < spec->n_links; i++) {
        const uint32_t a = group_of[spec->links[i].from_node];
        if (a != group_of[spec->links[i].to_node])
            to[next[a]++] = group_of[spec->links[i].to_node];
    }
    /* Several links to the same neighbour become one edge. */
    uint32_t *place = build_block(n, sizeof *place); /* of a neighbour, plus 1 */
    uint32_t n_edges = 0;
    for (uint32_t g = 0, from = 0; g < n; g++) {
        const uint32_t begin = n_edges, end = first[g + 1];
        for (; from < end; from++) {
            uint32_t *at = &place[to[from]];
            if (*at <= begin || *at > n_edges || to[*at - 1] != to[from]) {
                *at = n_edges + 1;
                to[n_edges] = to[from];
                strength[n_edges++] = 0;
            }
            strength[*at - 1]++;
        }
        first[g] = begin;
    }
    first[n] = n_edges;
    free(next), free(place);
}

static void divide(struct net *net, const struct sim_spec *spec)
{
    uint32_t *group_of = build_block(spec->n_nodes, sizeof *group_of);
    const uint32_t n = sim_group(spec, group_of);
    uint32_t *weight = build_block(n, sizeof *weight), *part = build_block(n, sizeof *part);
    uint32_t *first = build_block(n + 1, sizeof *first);
    uint32_t *to = build_block(spec->n_links, sizeof *to);
    uint32_t *strength = build_block(spec->n_links, sizeof *strength);
    for (uint32_t i = 0; i < spec->n_nodes; i++)
        weight[group_of[i]] += spec->n_ports[i] + 1;
    join_groups(spec, group_of, n, first, to, strength);
    const struct sim_graph graph = {
        .n = n, .weight = weight, .first = first, .to = to, .strength = strength};
    net->spec.ranks->divide(net->spec.ranks->context, &graph, part);
    for (uint32_t i = 0; i < spec->n_nodes; i++)
        net->part_of[i] = part[group_of[i]];
    free(group_of), free(weight), free(part), free(first), free(to), free(strength);
}

int parts_build(struct net *net, const struct sim_spec *spec, struct xoff_err *err)
{
    const struct sim_ranks *ranks = net->spec.ranks;
    const uint32_t n = net->topo->n_nodes;
    int code = check(net, err);
    if (code)
        return code;
    if (net->spec.parts && (code = check_parts(net, err)))
        return code;
    net->part_of = build_block(n, sizeof *net->part_of);
    if (net->spec.wire->is_one_sequence)
        return 0;
    if (net->spec.parts)
        memcpy(net->part_of, net->spec.parts, sizeof *net->part_of * n);
    else if (ranks->rank == 0)
        divide(net, spec);
    void *all;
    size_t *sizes = build_block(ranks->n, sizeof *sizes);
    ranks->gather(ranks->context, net->part_of, ranks->rank ? 0 : sizeof *net->part_of * n, true,
                  &all, sizes);
    XOFF_ASSERT(sizes[0] == sizeof *net->part_of * n); /* else ranks have read different files */
    memcpy(net->part_of, all, sizes[0]);
    free(all), free(sizes);
    return check_cuts(net, spec, err);
}
