/* Networks from a plan: the kinds, their parameters, and their nodes and links.
 *
 * Names and order of nodes (hosts first, those of one switch together):
 *   star        h0.., s0
 *   dumbbell    h0.. (left ones, then right ones), left, right; fabric_link is left-right
 *   chain       h0.., s0..; link s0-s1, s1-s2, ...
 *   ring        the same and a link from the last switch to s0
 *   leaf-spine  h0.., leaf0.., spine0..; parallel links of a pair are leaf0-spine0#0, #1, ...
 *   fat-tree    h0.., edge0.., agg0.., core0.., pod after pod: k pods of k/2 edge and e aggregation
 *               switches, e*a cores; aggregation switch j of every pod has cores j*a .. j*a + a - 1
 *               (Al-Fares, Loukissas, Vahdat 2008, section 3, where e = a = k/2)
 *   custom      as listed, hosts moved to the front
 * Links of hosts come first, then those of the fabric from the edge up and from the first switch to
 * the last, so that low ports of a switch lead down and high ports up.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <xoff/units.h>

#include "scenario/topology_parts.h"

struct star_params {
    int64_t hosts;
};
struct dumbbell_params {
    int64_t left, right;
};
struct line_params { /* chain and ring */
    int64_t switches, hosts_per_switch;
};
struct leaf_spine_params {
    int64_t leaves, spines, hosts_per_leaf, fabric_links;
};
struct fat_tree_params {
    int64_t k, hosts_per_edge, edge_uplinks, agg_uplinks, core_rate;
};

static const struct xoff_param star_table[] = {
    {"hosts", XOFF_P_INT, offsetof(struct star_params, hosts), "8", "1", "4096", NULL, false,
     "Hosts at the one switch."},
    {0},
};
static const struct xoff_param dumbbell_table[] = {
    {"left", XOFF_P_INT, offsetof(struct dumbbell_params, left), "4", "1", "4095", NULL, false,
     "Hosts at the switch left of the bottleneck; they are h0 and up."},
    {"right", XOFF_P_INT, offsetof(struct dumbbell_params, right), "4", "1", "4095", NULL, false,
     "Hosts at the switch right of the bottleneck, numbered after the left ones."},
    {0},
};
static const struct xoff_param chain_table[] = {
    {"switches", XOFF_P_INT, offsetof(struct line_params, switches), "3", "1", "10000", NULL, false,
     "Switches in a row."},
    {"hosts_per_switch", XOFF_P_INT, offsetof(struct line_params, hosts_per_switch), "2", "1",
     "4094", NULL, false, "Hosts at each switch."},
    {0},
};
static const struct xoff_param ring_table[] = {
    {"switches", XOFF_P_INT, offsetof(struct line_params, switches), "4", "3", "10000", NULL, false,
     "Switches in the ring."},
    {"hosts_per_switch", XOFF_P_INT, offsetof(struct line_params, hosts_per_switch), "2", "1",
     "4094", NULL, false, "Hosts at each switch."},
    {0},
};
static const struct xoff_param leaf_spine_table[] = {
    {"leaves", XOFF_P_INT, offsetof(struct leaf_spine_params, leaves), "4", "1", "4096", NULL,
     false, "Leaf switches, each linked to every spine."},
    {"spines", XOFF_P_INT, offsetof(struct leaf_spine_params, spines), "4", "1", "4095", NULL,
     false, "Spine switches."},
    {"hosts_per_leaf", XOFF_P_INT, offsetof(struct leaf_spine_params, hosts_per_leaf), "16", "1",
     "4095", NULL, false, "Hosts at each leaf."},
    {"fabric_links", XOFF_P_INT, offsetof(struct leaf_spine_params, fabric_links), "1", "1", "4095",
     NULL, false, "Parallel links between each leaf and each spine."},
    {0},
};
static const struct xoff_param fat_tree_table[] = {
    {"k", XOFF_P_INT, offsetof(struct fat_tree_params, k), "4", "2", "512", NULL, false,
     "Ports of each switch and number of pods; even."},
    {"hosts_per_edge", XOFF_P_INT, offsetof(struct fat_tree_params, hosts_per_edge), "auto", "1",
     "4096", NULL, true, "Hosts at each edge switch; auto: k/2, more is oversubscription."},
    {"edge_uplinks", XOFF_P_INT, offsetof(struct fat_tree_params, edge_uplinks), "auto", "1", "256",
     NULL, true,
     "Links up of each edge switch, and aggregation switches of a pod; auto: k/2, fewer is "
     "oversubscription."},
    {"agg_uplinks", XOFF_P_INT, offsetof(struct fat_tree_params, agg_uplinks), "auto", "1", "256",
     NULL, true,
     "Links up of each aggregation switch, each to a core of its own; auto: k/2, fewer is "
     "oversubscription."},
    {"core_rate", XOFF_P_RATE, offsetof(struct fat_tree_params, core_rate), "auto", "1kbps",
     "10Tbps", NULL, true, "Rate of the links to cores; auto: as in fabric_link."},
    {0},
};
static const struct xoff_param custom_table[] = {{0}};

static const struct topology_kind star = {"star", "one switch with hosts", star_table,
                                          sizeof(struct star_params), false};
static const struct topology_kind dumbbell = {"dumbbell",
                                              "two switches with hosts and one link between them",
                                              dumbbell_table, sizeof(struct dumbbell_params), true};
static const struct topology_kind chain = {"chain", "switches in a row, each with hosts",
                                           chain_table, sizeof(struct line_params), true};
static const struct topology_kind ring = {"ring", "switches in a ring, each with hosts", ring_table,
                                          sizeof(struct line_params), true};
static const struct topology_kind leaf_spine = {
    "leaf-spine", "two layers: every leaf linked to every spine", leaf_spine_table,
    sizeof(struct leaf_spine_params), true};
static const struct topology_kind fat_tree = {"fat-tree",
                                              "three layers of switches with k ports, in k pods",
                                              fat_tree_table, sizeof(struct fat_tree_params), true};
static const struct topology_kind custom = {"custom", "nodes and links as listed", custom_table, 0,
                                            false};

const struct topology_kind *const topology_kinds[] = {&star,       &dumbbell, &chain,  &ring,
                                                      &leaf_spine, &fat_tree, &custom, NULL};

const struct topology_kind *topology_find(const char *name)
{
    for (uint32_t i = 0; topology_kinds[i]; i++) {
        if (strcmp(topology_kinds[i]->name, name) == 0)
            return topology_kinds[i];
    }
    return NULL;
}

/* A network being made. */
struct sketch {
    const struct plan *plan;
    struct topo *topo;
    struct topo_link host_link, fabric_link; /* without nodes and ports */
    struct xoff_err *err;
};

static int build_nodes(struct sketch *s);

int topology_build(const struct plan *plan, struct topo *topo, struct xoff_err *err)
{
    struct sketch s = {.plan = plan, .topo = topo, .err = err};
    *topo = (struct topo){.reroute_after = plan->reroute_after};
    int rc = build_nodes(&s);
    if (rc == 0)
        rc = topology_resolve(plan, topo, err);
    if (rc)
        topo_fini(topo);
    return rc;
}

static int refuse(const struct sketch *s, const struct plan_place *place, enum xoff_err_code code,
                  const char *subject, const char *value, const char *message)
{
    return topology_refuse(s->plan, place, s->err, code, subject, value, message);
}

static int refuse_memory(const struct sketch *s)
{
    return refuse(s, &s->plan->topology.place, XOFF_E_NO_MEMORY, "topology", NULL,
                  "not enough memory for this network");
}

static int link_of(const struct sketch *s, const struct plan_link *link,
                   const struct plan_place *place, const char *subject, struct topo_link *out)
{
    char value[32];
    if (link->rate_bps <= 0) {
        snprintf(value, sizeof value, "%lld", (long long)link->rate_bps);
        return refuse(s, place, XOFF_E_RANGE, subject, value, "a link's rate is above 0");
    }
    if (link->delay == XOFF_PARAM_AUTO && link->length_mm == XOFF_PARAM_AUTO)
        return refuse(s, place, XOFF_E_MISSING, subject, NULL,
                      "a link needs delay (1us) or length (40m)");
    /* A delay above one second is no cable; the bound keeps sums of delays far from overflow. */
    const int64_t delay = link->delay != XOFF_PARAM_AUTO ? link->delay
                          : link->length_mm > XOFF_S / XOFF_PS_PER_MM
                              ? XOFF_S + 1
                              : link->length_mm * XOFF_PS_PER_MM;
    if (delay < 0 || delay > XOFF_S)
        return refuse(s, place, XOFF_E_RANGE, subject, NULL,
                      "a link's delay is from 0s to 1s (200000km at 5ns per metre)");
    /* The condition is written so that a NaN is refused, too. */
    if (!(link->error >= 0 && link->error <= 1) || (link->error > 0 && link->error < 1e-9)) {
        snprintf(value, sizeof value, "%g", link->error);
        return refuse(s, place, XOFF_E_RANGE, subject, value,
                      "a link's error probability is 0, or from 1e-9 to 1");
    }
    *out = (struct topo_link){.rate_bps = (xoff_rate)link->rate_bps,
                              .delay = delay,
                              .error_ppb = (uint32_t)(link->error * 1e9 + 0.5)};
    return 0;
}

/* The size of a network, its largest switch, and the keys to lower when it is too large. */
struct extent {
    int64_t hosts, switches, links, max_ports;
    const char *hosts_key, *ports_key;
};

/* Checks the limits before anything is allocated. The tables bound each parameter by 10^4, so the
 * product of four of them fits. */
static int begin(struct sketch *s, const struct extent *e)
{
    const struct plan_place *place = &s->plan->topology.place;
    char value[48];
    if (e->max_ports > TOPO_MAX_PORTS) {
        snprintf(value, sizeof value, "%lld ports", (long long)e->max_ports);
        return refuse(s, place, XOFF_E_RANGE, e->ports_key, value,
                      "a switch has at most 4096 ports");
    }
    if (e->hosts > TOPO_MAX_HOSTS) {
        snprintf(value, sizeof value, "%lld hosts", (long long)e->hosts);
        return refuse(s, place, XOFF_E_RANGE, e->hosts_key, value,
                      "a network has at most 1000000 hosts");
    }
    s->topo->nodes = calloc((size_t)(e->hosts + e->switches), sizeof *s->topo->nodes);
    s->topo->links = calloc((size_t)e->links, sizeof *s->topo->links);
    return s->topo->nodes && s->topo->links ? 0 : refuse_memory(s);
}

static struct topo_node *add_node(struct sketch *s, enum topo_kind kind, const char *name)
{
    struct topo_node *node = &s->topo->nodes[s->topo->n_nodes++];
    node->kind = kind;
    snprintf(node->name, sizeof node->name, "%s", name);
    s->topo->n_hosts += kind == TOPO_HOST;
    return node;
}

/* Adds prefix0, prefix1, ...; returns the index of the first. */
static uint32_t add_nodes(struct sketch *s, enum topo_kind kind, const char *prefix, int64_t n)
{
    const uint32_t first = s->topo->n_nodes;
    char name[TOPO_NAME];
    for (int64_t i = 0; i < n; i++) {
        snprintf(name, sizeof name, "%s%lld", prefix, (long long)i);
        add_node(s, kind, name);
    }
    return first;
}

static void add_link(struct sketch *s, const struct topo_link *like, int64_t a, int64_t b)
{
    struct topo_link *link = &s->topo->links[s->topo->n_links++];
    *link = *like;
    link->node[0] = (uint32_t)a;
    link->node[1] = (uint32_t)b;
}

/* Links all hosts to the switches from `first` on, `per_switch` to each. */
static void add_host_links(struct sketch *s, uint32_t first, int64_t per_switch)
{
    for (uint32_t host = 0; host < s->topo->n_hosts; host++)
        add_link(s, &s->host_link, host, first + host / per_switch);
}

static int build_star(struct sketch *s)
{
    const struct star_params *p = s->plan->topology.params;
    const int rc = begin(
        s, &(struct extent){p->hosts, 1, p->hosts, p->hosts, "topology.hosts", "topology.hosts"});
    if (rc)
        return rc;
    add_nodes(s, TOPO_HOST, "h", p->hosts);
    add_host_links(s, add_nodes(s, TOPO_SWITCH, "s", 1), p->hosts);
    return 0;
}

static int build_dumbbell(struct sketch *s)
{
    const struct dumbbell_params *p = s->plan->topology.params;
    const bool left_is_larger = p->left >= p->right;
    const char *key = left_is_larger ? "topology.left" : "topology.right";
    const int64_t n_hosts = p->left + p->right;
    const int rc = begin(s, &(struct extent){n_hosts, 2, n_hosts + 1,
                                             (left_is_larger ? p->left : p->right) + 1, key, key});
    if (rc)
        return rc;
    add_nodes(s, TOPO_HOST, "h", n_hosts);
    add_node(s, TOPO_SWITCH, "left");
    add_node(s, TOPO_SWITCH, "right");
    for (int64_t host = 0; host < n_hosts; host++)
        add_link(s, &s->host_link, host, n_hosts + (host >= p->left));
    add_link(s, &s->fabric_link, n_hosts, n_hosts + 1);
    return 0;
}

/* A chain or, with a link from the last switch to the first, a ring. */
static int build_line(struct sketch *s)
{
    const struct line_params *p = s->plan->topology.params;
    const bool is_ring = s->plan->topology.kind == &ring;
    const int64_t n_hosts = p->switches * p->hosts_per_switch;
    const int64_t n_neighbours = is_ring || p->switches > 2 ? 2 : p->switches - 1;
    const int rc = begin(s, &(struct extent){n_hosts, p->switches, n_hosts + p->switches,
                                             p->hosts_per_switch + n_neighbours,
                                             "topology.switches", "topology.hosts_per_switch"});
    if (rc)
        return rc;
    add_nodes(s, TOPO_HOST, "h", n_hosts);
    const uint32_t first = add_nodes(s, TOPO_SWITCH, "s", p->switches);
    add_host_links(s, first, p->hosts_per_switch);
    for (int64_t i = 1; i < p->switches; i++)
        add_link(s, &s->fabric_link, first + i - 1, first + i);
    if (is_ring)
        add_link(s, &s->fabric_link, first + p->switches - 1, first);
    return 0;
}

static int build_leaf_spine(struct sketch *s)
{
    const struct leaf_spine_params *p = s->plan->topology.params;
    const int64_t n_hosts = p->leaves * p->hosts_per_leaf;
    const int64_t leaf_ports = p->hosts_per_leaf + p->spines * p->fabric_links;
    const int64_t spine_ports = p->leaves * p->fabric_links;
    const bool leaf_is_larger = leaf_ports >= spine_ports;
    const int rc =
        begin(s, &(struct extent){n_hosts, p->leaves + p->spines,
                                  n_hosts + p->leaves * p->spines * p->fabric_links,
                                  leaf_is_larger ? leaf_ports : spine_ports, "topology.leaves",
                                  leaf_is_larger ? "topology.hosts_per_leaf" : "topology.leaves"});
    if (rc)
        return rc;
    add_nodes(s, TOPO_HOST, "h", n_hosts);
    const uint32_t leaf = add_nodes(s, TOPO_SWITCH, "leaf", p->leaves);
    const uint32_t spine = add_nodes(s, TOPO_SWITCH, "spine", p->spines);
    add_host_links(s, leaf, p->hosts_per_leaf);
    for (int64_t i = 0; i < p->leaves * p->spines * p->fabric_links; i++) {
        const int64_t pair = i / p->fabric_links;
        add_link(s, &s->fabric_link, leaf + pair / p->spines, spine + pair % p->spines);
    }
    return 0;
}

static int build_fat_tree(struct sketch *s)
{
    const struct fat_tree_params *p = s->plan->topology.params;
    const int64_t half = p->k / 2, n_edges = p->k * half;
    if (p->k % 2) {
        char value[32];
        snprintf(value, sizeof value, "%lld", (long long)p->k);
        return refuse(s, &s->plan->topology.place, XOFF_E_RANGE, "topology.k", value,
                      "k is even: half of a switch's ports lead down, half up");
    }
    const int64_t per_edge = p->hosts_per_edge == XOFF_PARAM_AUTO ? half : p->hosts_per_edge;
    const int64_t per_pod = p->edge_uplinks == XOFF_PARAM_AUTO ? half : p->edge_uplinks;
    const int64_t per_agg = p->agg_uplinks == XOFF_PARAM_AUTO ? half : p->agg_uplinks;
    const int64_t n_hosts = n_edges * per_edge, n_aggs = p->k * per_pod;
    /* Only an edge switch can have too many ports; the tables bound the others by 512. */
    const int64_t edge_ports = per_edge + per_pod;
    const int rc = begin(s, &(struct extent){n_hosts, n_edges + n_aggs + per_pod * per_agg,
                                             n_hosts + n_edges * per_pod + n_aggs * per_agg,
                                             edge_ports, "topology.k", "topology.hosts_per_edge"});
    if (rc)
        return rc;
    add_nodes(s, TOPO_HOST, "h", n_hosts);
    const uint32_t edge = add_nodes(s, TOPO_SWITCH, "edge", n_edges);
    const uint32_t agg = add_nodes(s, TOPO_SWITCH, "agg", n_aggs);
    const uint32_t core = add_nodes(s, TOPO_SWITCH, "core", per_pod * per_agg);
    add_host_links(s, edge, per_edge);
    for (int64_t i = 0; i < n_edges * per_pod; i++) {
        const int64_t from = i / per_pod, pod = from / half;
        add_link(s, &s->fabric_link, edge + from, agg + pod * per_pod + i % per_pod);
    }
    struct topo_link core_link = s->fabric_link;
    if (p->core_rate != XOFF_PARAM_AUTO)
        core_link.rate_bps = (xoff_rate)p->core_rate;
    for (int64_t i = 0; i < n_aggs * per_agg; i++) {
        const int64_t from = i / per_agg, place_in_pod = from % per_pod;
        add_link(s, &core_link, agg + from, core + place_in_pod * per_agg + i % per_agg);
    }
    return 0;
}

/* Custom networks: node names are sorted to find duplicates and the ends of links. */
struct named_node {
    const char *name;
    uint32_t node;
};

static int compare_named(const void *a, const void *b)
{
    const struct named_node *x = a, *y = b;
    const int order = strcmp(x->name, y->name);
    return order ? order : (x->node > y->node) - (x->node < y->node);
}

static int compare_to_name(const void *name, const void *entry)
{
    return strcmp(name, ((const struct named_node *)entry)->name);
}

/* Accepts names that can stand in link names ("a-b#1") and host sets ("a..b, c"). */
static bool is_good_name(const char *name)
{
    const char *accepted = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.";
    return *name && name[strspn(name, accepted)] == '\0' && !strstr(name, "..") &&
           strcmp(name, "all") != 0;
}

/* Adds the listed nodes, hosts first, and sorts their names. */
static int add_custom_nodes(struct sketch *s, struct named_node *sorted)
{
    const struct plan_topology *t = &s->plan->topology;
    for (uint32_t pass = 0; pass < 2; pass++) {
        const enum topo_kind kind = pass ? TOPO_SWITCH : TOPO_HOST;
        for (uint32_t i = 0; i < t->n_nodes; i++) {
            if (t->nodes[i].kind != kind)
                continue;
            if (!is_good_name(t->nodes[i].name))
                return refuse(
                    s, &t->place, XOFF_E_SYNTAX, "topology.nodes", t->nodes[i].name,
                    "a name has letters, digits, '_', '-' and single '.', and is not all");
            sorted[s->topo->n_nodes] = (struct named_node){t->nodes[i].name, s->topo->n_nodes};
            add_node(s, kind, t->nodes[i].name);
        }
    }
    qsort(sorted, t->n_nodes, sizeof *sorted, compare_named);
    for (uint32_t i = 1; i < t->n_nodes; i++) {
        if (strcmp(sorted[i - 1].name, sorted[i].name) == 0)
            return refuse(s, &t->place, XOFF_E_CONFLICT, "topology.nodes", sorted[i].name,
                          "two nodes have this name");
    }
    return 0;
}

static int add_custom_link(struct sketch *s, const struct plan_custom_link *link,
                           const struct named_node *sorted)
{
    const char *names[2] = {link->a, link->b};
    uint32_t nodes[2];
    for (uint32_t end = 0; end < 2; end++) {
        const struct named_node *found =
            bsearch(names[end], sorted, s->topo->n_nodes, sizeof *sorted, compare_to_name);
        if (!found)
            return refuse(s, &link->place, XOFF_E_UNKNOWN, "topology.links", names[end],
                          "no node of this name is listed under nodes");
        nodes[end] = found->node;
        if (found->node < s->topo->n_hosts && s->topo->nodes[found->node].n_ports > 0)
            return refuse(s, &link->place, XOFF_E_CONFLICT, "topology.links", names[end],
                          "a host has exactly one link, and this one has another already");
        s->topo->nodes[found->node].n_ports++;
    }
    if (nodes[0] == nodes[1])
        return refuse(s, &link->place, XOFF_E_CONFLICT, "topology.links", link->a,
                      "a link joins two different nodes");
    struct topo_link like;
    const int rc = link_of(s, &link->link, &link->place, "topology.links", &like);
    if (rc == 0)
        add_link(s, &like, nodes[0], nodes[1]);
    return rc;
}

static int build_custom(struct sketch *s)
{
    const struct plan_topology *t = &s->plan->topology;
    int64_t n_hosts = 0;
    for (uint32_t i = 0; i < t->n_nodes; i++)
        n_hosts += t->nodes[i].kind == TOPO_HOST;
    if (n_hosts == 0)
        return refuse(s, &t->place, XOFF_E_MISSING, "topology.nodes", NULL,
                      "a network needs at least one host");
    int rc = begin(s, &(struct extent){n_hosts, t->n_nodes - n_hosts, (int64_t)t->n_links + 1, 0,
                                       "topology.nodes", NULL});
    if (rc)
        return rc;
    struct named_node *sorted = calloc(t->n_nodes, sizeof *sorted);
    if (!sorted)
        return refuse_memory(s);
    rc = add_custom_nodes(s, sorted);
    for (uint32_t i = 0; rc == 0 && i < t->n_links; i++)
        rc = add_custom_link(s, &t->links[i], sorted);
    free(sorted);
    return rc;
}

static int build_nodes(struct sketch *s)
{
    static const struct {
        const struct topology_kind *kind;
        int (*build)(struct sketch *s);
    } builds[] = {
        {&star, build_star},     {&dumbbell, build_dumbbell},     {&chain, build_line},
        {&ring, build_line},     {&leaf_spine, build_leaf_spine}, {&fat_tree, build_fat_tree},
        {&custom, build_custom},
    };
    const struct plan_topology *t = &s->plan->topology;
    int rc = 0;
    if (t->kind != &custom)
        rc = link_of(s, &t->host_link, &t->place, "topology.host_link", &s->host_link);
    if (rc == 0 && t->kind->has_fabric_link)
        rc = link_of(s, &t->fabric_link, &t->place, "topology.fabric_link", &s->fabric_link);
    for (size_t i = 0; rc == 0 && i < sizeof builds / sizeof builds[0]; i++) {
        if (builds[i].kind == t->kind)
            rc = builds[i].build(s);
    }
    return rc ? rc : topology_located(s->plan, &t->place, s->err, topo_finish(s->topo, s->err));
}
