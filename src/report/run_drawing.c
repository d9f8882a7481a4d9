/* The drawing of a run's network. */
#include <stdlib.h>

#include "report/run_parts.h"

/* The hosts of larger networks are drawn as part of their switch. */
#define MOST_NODES_WITH_HOSTS 300

/* The nodes to draw: all, or switches with their hosts folded in, the busiest first when even these
 * are too many. */
struct drawing {
    bool folds;
    bool *is_drawn;  /* per node */
    double *weight;  /* per node: largest utilisation or pause of its links */
    uint32_t *order; /* drawn nodes */
    uint32_t n, n_left_out;
};

/* Orders nodes by weight; equal ones by number. */
static int compare_nodes(const void *a, const void *b, void *context)
{
    const double *weight = context;
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    if (weight[x] != weight[y])
        return weight[x] > weight[y] ? -1 : 1;
    return (x > y) - (x < y);
}

static void choose_nodes(const struct run_data *run, struct drawing *d)
{
    uint32_t n_hosts = 0;
    for (uint32_t i = 0; i < run->n_nodes; i++)
        n_hosts += run->nodes[i].is_host;
    /* Without a switch there is nothing to fold hosts into. */
    d->folds = run->n_nodes > MOST_NODES_WITH_HOSTS && n_hosts < run->n_nodes;
    for (uint32_t i = 0; i < run->n_ports; i++) {
        const struct run_port *port = &run->ports[i];
        const double most = port->busy > port->paused ? port->busy : port->paused;
        if (most > d->weight[port->node])
            d->weight[port->node] = most;
    }
    for (uint32_t i = 0; i < run->n_nodes; i++)
        if (!d->folds || !run->nodes[i].is_host)
            d->order[d->n++] = i;
    if (d->n > run->limits->nodes) {
        qsort_r(d->order, d->n, sizeof *d->order, compare_nodes, d->weight);
        d->n_left_out = d->n - run->limits->nodes;
        d->n = run->limits->nodes;
    }
    for (uint32_t i = 0; i < d->n; i++)
        d->is_drawn[d->order[i]] = true;
}

static json_t *draw_node(const struct run_data *run, const struct drawing *d, uint32_t index)
{
    const struct run_node *node = &run->nodes[index];
    json_t *o = json_object();
    json_object_set_new(o, "name", json_words(node->name, 0));
    json_object_set_new(o, "kind", json_string(node->is_host ? "host" : "switch"));
    json_object_set_new(o, "buffer",
                        node->fullest_bytes > 0
                            ? json_pack("{so sI sI}", "name", json_words(node->fullest_name, 0),
                                        "peak", (json_int_t)node->fullest_peak_bytes, "size",
                                        (json_int_t)node->fullest_bytes)
                            : json_null());
    json_object_set_new(o, "level", node->level == NONE ? json_null() : json_integer(node->level));
    if (!d->folds)
        return o;
    double busy = 0, paused = 0;
    uint32_t n_hosts = 0;
    for (uint32_t p = node->first_port; p < node->first_port + node->n_ports; p++) {
        const struct run_port *port = &run->ports[p];
        if (port->peer == NONE || !run->nodes[port->peer_node].is_host)
            continue;
        const struct run_port *peer = &run->ports[port->peer];
        n_hosts++;
        busy = port->busy > busy ? port->busy : busy;
        busy = peer->busy > busy ? peer->busy : busy;
        paused = port->paused > paused ? port->paused : paused;
        paused = peer->paused > paused ? peer->paused : paused;
    }
    json_object_set_new(o, "hosts", json_integer(n_hosts));
    json_object_set_new(o, "hosts_utilisation", json_rounded(busy, 6));
    json_object_set_new(o, "hosts_paused", json_rounded(paused, 6));
    return o;
}

static json_t *draw_link(const struct run_data *run, const struct run_port *a)
{
    const struct run_port *b = &run->ports[a->peer];
    return json_pack(
        "{so si so si so so so so so}", "a", json_words(run_node_name(run, a->node), 0), "a_port",
        (int)a->number, "b", json_words(run_node_name(run, b->node), 0), "b_port", (int)b->number,
        "rate_bps", json_number(a->rate_bps), "utilisation_ab", json_rounded(a->busy, 6),
        "utilisation_ba", json_rounded(b->busy, 6), "paused_ab", json_rounded(a->paused, 6),
        "paused_ba", json_rounded(b->paused, 6));
}

json_t *run_topology(struct run_data *run)
{
    struct drawing d = {.is_drawn = calloc(run->n_nodes + 1, sizeof *d.is_drawn),
                        .weight = calloc(run->n_nodes + 1, sizeof *d.weight),
                        .order = calloc(run->n_nodes + 1, sizeof *d.order)};
    XOFF_ASSERT(d.is_drawn && d.weight && d.order);
    choose_nodes(run, &d);
    json_t *nodes = json_array(), *links = json_array();
    uint32_t n_folded = 0, n_links_left_out = 0;
    for (uint32_t i = 0; i < run->n_nodes; i++) {
        n_folded += d.folds && run->nodes[i].is_host;
        if (d.is_drawn[i])
            json_array_append_new(nodes, draw_node(run, &d, i));
    }
    for (uint32_t i = 0; i < run->n_ports; i++) {
        const struct run_port *a = &run->ports[i];
        if (a->peer == NONE || a->peer < i || !d.is_drawn[a->node] || !d.is_drawn[a->peer_node])
            continue;
        if (json_array_size(links) < run->limits->links)
            json_array_append_new(links, draw_link(run, a));
        else
            n_links_left_out++;
    }
    free(d.order);
    free(d.weight);
    free(d.is_drawn);
    return json_pack("{so so sI sI sI}", "nodes", nodes, "links", links, "hosts_folded",
                     (json_int_t)n_folded, "nodes_left_out", (json_int_t)d.n_left_out,
                     "links_left_out", (json_int_t)n_links_left_out);
}
