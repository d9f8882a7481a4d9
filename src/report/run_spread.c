/* How pauses spread: the tree of their causes.
 *
 * A pause whose egress was itself paused names that earlier pause as its parent. The tree joins
 * pauses with the same deciding port, priorities and egress below the same parent. The nodes with
 * the longest pauses at and below them are shown: a node's sum never exceeds its parent's, so every
 * prefix of this order is a tree.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/run_parts.h"

struct group {
    uint32_t parent, depth; /* for roots: NONE, 1 */
    uint32_t pause;         /* one of its pauses, for the names */
    int64_t count, first_ps;
    double paused_ps;
    double below_ps; /* paused_ps of this group and all below it */
    json_t *json;    /* when shown */
};

struct tree {
    struct group *groups; /* parents before children */
    uint32_t n;
};

static struct tree make_tree(struct run_data *run)
{
    struct tree t = {0};
    struct key_table keys = {0};
    for (uint32_t i = 0; i < run->n_pauses; i++) {
        struct run_pause *p = &run->pauses[i];
        const uint32_t parent = p->parent == NONE ? NONE : run->pauses[p->parent].group;
        p->group = key_put(&keys, (uint64_t)parent << 32 | p->port,
                           (uint64_t)p->priorities << 32 | p->egress);
        if (p->group == t.n) {
            t.groups = run_grown(t.groups, t.n, sizeof *t.groups);
            t.groups[t.n++] =
                (struct group){.parent = parent,
                               .depth = parent == NONE ? 1 : t.groups[parent].depth + 1,
                               .pause = i,
                               .first_ps = p->from_ps};
        }
        t.groups[p->group].count++;
        t.groups[p->group].paused_ps += (double)(p->to_ps - p->from_ps);
    }
    key_table_fini(&keys);
    for (uint32_t i = t.n; i-- > 0;) {
        struct group *g = &t.groups[i];
        g->below_ps += g->paused_ps;
        if (g->parent != NONE)
            t.groups[g->parent].below_ps += g->below_ps;
    }
    return t;
}

static int compare_groups(const void *a, const void *b, void *context)
{
    const struct group *groups = context;
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    if (groups[x].below_ps != groups[y].below_ps)
        return groups[x].below_ps > groups[y].below_ps ? -1 : 1;
    return (x > y) - (x < y);
}

static json_t *group_json(const struct run_data *run, const struct group *g)
{
    const struct run_pause *pause = &run->pauses[g->pause];
    const struct run_port *port = &run->ports[pause->port];
    char name[RUN_LABEL];
    int n = snprintf(name, sizeof name, "%s port %u", run_node_name(run, port->node), port->number);
    for (uint32_t p = 0, first = 1; p < XOFF_N_PRIORITIES && pause->priorities != 0xff; p++)
        if (pause->priorities >> p & 1) {
            n += snprintf(name + n, sizeof name - (size_t)n, first ? " p%u" : ",%u", p);
            first = 0;
        }
    json_t *egress = json_null();
    if (pause->egress != NONE)
        egress = json_words(run_node_name(run, run->ports[pause->egress].peer_node), 0);
    else if (run->nodes[port->node].is_host)
        egress = json_words(run_node_name(run, port->node), 0);
    return json_pack("{so so so so sI so so s[]}", "name", json_words(name, 0), "node",
                     json_words(run_node_name(run, port->node), 0), "paused",
                     json_words(run_node_name(run, port->peer_node), 0), "egress", egress, "count",
                     (json_int_t)g->count, "paused_s", json_number(g->paused_ps / (double)XOFF_S),
                     "first_s", json_seconds(g->first_ps), "children");
}

/* Counts the nodes that were paused by any other. */
static uint32_t spread(const struct run_data *run)
{
    bool *is_paused = calloc(run->n_nodes + 1, sizeof *is_paused);
    uint32_t n = 0;
    XOFF_ASSERT(is_paused);
    for (uint32_t i = 0; i < run->n_lines; i++) {
        const uint32_t peer = run->ports[run->lines[i].port].peer_node;
        if (peer == NONE || is_paused[peer])
            continue;
        is_paused[peer] = true;
        n++;
    }
    free(is_paused);
    return n;
}

json_t *run_pause_tree(struct run_data *run)
{
    struct tree t = make_tree(run);
    uint32_t *order = calloc(t.n + 1, sizeof *order);
    uint32_t depth = 0;
    json_t *roots = json_array();
    XOFF_ASSERT(order && roots);
    for (uint32_t i = 0; i < t.n; i++) {
        order[i] = i;
        depth = t.groups[i].depth > depth ? t.groups[i].depth : depth;
    }
    qsort_r(order, t.n, sizeof *order, compare_groups, t.groups);
    const uint32_t n_shown = t.n < run->limits->tree ? t.n : run->limits->tree;
    for (uint32_t i = 0; i < n_shown; i++) {
        struct group *g = &t.groups[order[i]];
        g->json = group_json(run, g);
        json_array_append_new(
            g->parent == NONE ? roots : json_object_get(t.groups[g->parent].json, "children"),
            g->json);
    }
    json_t *object = json_pack("{sI sI so sI sI sI}", "n", (json_int_t)run->n_pauses, "left_out",
                               (json_int_t)run->pauses_left_out, "roots", roots, "depth",
                               (json_int_t)depth, "spread", (json_int_t)spread(run),
                               "groups_left_out", (json_int_t)(t.n - n_shown));
    free(order);
    free(t.groups);
    return object;
}
