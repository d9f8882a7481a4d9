/* Reads a document tree into a plan: section by section through the tables, then the checks that
 * concern several sections. */
#define _POSIX_C_SOURCE 200809L /* strdup */
#include "scenario/plan_read.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <xoff/units.h>

const char *const plan_sections[] = {
    "topology",   "switch",  "switches", "port",     "host",      "transport", "transports",
    "priorities", "traffic", "links",    "routes",   "receivers", "cn_ports",  "lldp",
    "dcbx",       "measure", "curves",   "deadlock", "variants",  "expect",    NULL};

static const struct yaml_node absent = {.kind = YAML_MAPPING};

static int read_top(struct fields_reader *r, const struct yaml_node *root, struct plan *plan);
static int read_section(struct fields_reader *r, const struct yaml_node *root, const char *key,
                        const struct xoff_param *table, void *params, const char *const *others);
static int read_port(struct fields_reader *r, const struct yaml_node *root, struct net_spec *net);
static int read_host(struct fields_reader *r, const struct yaml_node *root, struct plan *plan);
static int read_transports(struct fields_reader *r, const struct yaml_node *root,
                           struct plan *plan);
static int read_priorities(struct fields_reader *r, const struct yaml_node *node,
                           struct plan *plan);
static int read_measure(struct fields_reader *r, const struct yaml_node *root, struct plan *plan);
static int read_changes(struct fields_reader *r, const struct yaml_node *node, struct plan *plan);
static int read_routes(struct fields_reader *r, const struct yaml_node *node, struct plan *plan);
static int read_defences(struct fields_reader *r, const struct yaml_node *node, struct plan *plan);

int plan_create(struct fields_reader *r, const struct yaml_node *root, struct plan **out)
{
    *out = NULL;
    struct plan *plan = calloc(1, sizeof *plan);
    if (!plan)
        return fields_no_memory(r);
    int rc = read_top(r, root, plan);
    if (!rc)
        rc = plan_read_topology(r, root, &plan->topology);
    if (!rc)
        rc = plan_read_switch(r, root, plan);
    if (!rc)
        rc = read_port(r, root, &plan->net);
    if (!rc)
        rc = read_host(r, root, plan);
    if (!rc)
        rc = read_transports(r, root, plan);
    if (!rc)
        rc = read_priorities(r, yaml_find(root, "priorities"), plan);
    if (!rc)
        rc = plan_read_traffic(r, yaml_find(root, "traffic"), plan);
    if (!rc)
        rc = plan_choose_marking(r, root, plan);
    if (!rc)
        rc = plan_read_switches(r, yaml_find(root, "switches"), plan);
    if (!rc)
        rc = plan_check_unused(r, root, plan);
    if (!rc)
        rc = read_changes(r, yaml_find(root, "links"), plan);
    if (!rc)
        rc = read_routes(r, yaml_find(root, "routes"), plan);
    if (!rc)
        rc = plan_read_receivers(r, yaml_find(root, "receivers"), plan);
    if (!rc)
        rc = read_defences(r, yaml_find(root, "cn_ports"), plan);
    if (!rc)
        rc = plan_read_dcbx(r, root, plan);
    if (!rc)
        rc = read_measure(r, root, plan);
    if (!rc)
        rc = plan_read_curves(r, root, plan);
    if (!rc)
        rc = read_section(r, root, "deadlock", section_deadlock, &plan->net, NULL);
    if (!rc)
        rc = plan_check_headroom(r, root, plan);
    if (rc) {
        plan_destroy(plan);
        return rc;
    }
    *out = plan;
    return 0;
}

void plan_destroy(struct plan *plan)
{
    if (!plan)
        return;
    free(plan->title);
    free(plan->variant);
    free(plan->topology.params);
    free(plan->topology.nodes);
    free(plan->topology.links);
    for (uint32_t i = 0; i < plan->net.n_kinds; i++)
        for (const struct switch_role *role = switch_roles; role->key; role++)
            free((void *)switch_params(&plan->kinds[i], role));
    free(plan->kinds);
    free(plan->switches);
    for (uint32_t i = 0; i < plan->n_traffic; i++) {
        free(plan->traffic[i].params);
        free(plan->traffic[i].items);
    }
    free(plan->traffic);
    for (uint32_t i = 0; i < plan->n_transports; i++) {
        free((void *)plan->transports[i].net.rp_params);
        free((void *)plan->transports[i].net.np_params);
        for (uint32_t k = 0; k < XOFF_MAX_RELS; k++)
            free(plan->transports[i].rel_params[k]);
    }
    free(plan->transports);
    free(plan->changes);
    free(plan->routes);
    plan_free_receivers(plan);
    free(plan->defences);
    free(plan->dcbx);
    free(plan->curves);
    free(plan);
}

bool plan_next_entry(const char **at, char *buf, size_t size)
{
    if (!*at)
        return false;
    const char *start = *at + strspn(*at, " ");
    const char *comma = strchr(start, ',');
    size_t n = comma ? (size_t)(comma - start) : strlen(start);
    *at = comma ? comma + 1 : NULL;
    while (n && start[n - 1] == ' ')
        n--;
    if (n >= size)
        n = size - 1;
    memcpy(buf, start, n);
    buf[n] = '\0';
    return true;
}

int plan_begin_list(struct fields_reader *r, const struct yaml_node *node, size_t entry_size,
                    void **entries)
{
    *entries = NULL;
    if (!node)
        return 0;
    const int rc = fields_want(r, node, YAML_SEQUENCE, "a list, each entry a mapping");
    if (rc || !node->n)
        return rc;
    *entries = calloc(node->n, entry_size);
    return *entries ? 0 : fields_no_memory(r);
}

static int read_top(struct fields_reader *r, const struct yaml_node *root, struct plan *plan)
{
    struct top_fields top;
    int rc = fields_read(r, root, section_top, &top, plan_sections);
    if (rc)
        return rc;
    plan->net.seed = (uint64_t)top.seed;
    plan->net.stop = top.stop;
    plan->net.drain = top.drain;
    plan->net.max_hops = top.hops;
    plan->net.summarises = top.results;
    plan->net.wire = top.compat ? &net_wire_ns3 : &net_wire_ethernet;
    plan->title = strdup(top.title);
    if (!plan->title)
        return fields_no_memory(r);
    if (top.results && top.compat) {
        const size_t length = fields_enter(r, "results");
        rc = fields_fail(r, yaml_find(root, "results"), XOFF_E_CONFLICT,
                         "fct.txt of compat: ns3 has every flow; give full");
        fields_leave(r, length);
        return rc;
    }
    plan->reroute_after = XOFF_NEVER;
    if (strcmp(top.reroute_after, "never") != 0 &&
        (xoff_parse_time(top.reroute_after, &plan->reroute_after) ||
         plan->reroute_after > 1000 * XOFF_S)) {
        const size_t length = fields_enter(r, "reroute_after");
        rc = fields_fail(r, yaml_find(root, "reroute_after"), XOFF_E_TYPE,
                         "not a time; give a time such as 1ms, from 0s to 1000s, or never");
        fields_leave(r, length);
    }
    return rc;
}

static int read_section(struct fields_reader *r, const struct yaml_node *root, const char *key,
                        const struct xoff_param *table, void *params, const char *const *others)
{
    const struct yaml_node *node = yaml_find(root, key);
    const size_t length = fields_enter(r, key);
    const int rc = fields_read(r, node ? node : &absent, table, params, others);
    fields_leave(r, length);
    return rc;
}

int plan_read_kind(struct fields_reader *r, const struct yaml_node *node, const struct kind *kind,
                   const void *base, const char *const *others, void **params)
{
    *params = calloc(1, kind->params_size ? kind->params_size : 1);
    if (!*params)
        return fields_no_memory(r);
    if (base)
        memcpy(*params, base, kind->params_size);
    else
        xoff_param_defaults(kind->params, *params);
    if (!node || node->kind != YAML_MAPPING)
        node = &absent;
    return fields_overlay(r, node, kind->params, *params, others);
}

static int read_host(struct fields_reader *r, const struct yaml_node *root, struct plan *plan)
{
    const struct yaml_node *node = yaml_find(root, "host");
    if (node)
        plan->host_place = (struct plan_place){node->line, node->column};
    return read_section(r, root, "host", section_host, &plan->net, NULL);
}

static int read_port(struct fields_reader *r, const struct yaml_node *root, struct net_spec *net)
{
    struct port_fields fields;
    const int rc = read_section(r, root, "port", section_port, &fields, NULL);
    net->response_quanta = fields.response_quanta;
    net->headroom_bytes = fields.headroom_bytes;
    net->max_frame_bytes = (uint32_t)fields.max_frame_bytes;
    return rc;
}

/* Reads none, bdp, scaled or a number of bytes; false: the text is none of them. */
static bool read_window(const char *text, struct net_transport *transport)
{
    static const char *const words[] = {
        [NET_WINDOW_NONE] = "none", [NET_WINDOW_BDP] = "bdp", [NET_WINDOW_SCALED] = "scaled"};
    for (uint32_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strcmp(text, words[i]) == 0) {
            transport->window = (enum net_window)i;
            return true;
        }
    transport->window = NET_WINDOW_BYTES;
    return xoff_parse_bytes(text, &transport->window_bytes) == 0 && transport->window_bytes > 0;
}

#define MAX_KEYS 64 /* keys of a transport with all its parts */

static uint32_t add_keys(const char **keys, uint32_t n, const struct xoff_param *table)
{
    for (const struct xoff_param *p = table; p->name; p++) {
        XOFF_ASSERT(n < MAX_KEYS - 1);
        keys[n++] = p->name;
    }
    return n;
}

/* Lists the keys of the kind, of its notification point and of all transports, which are written
 * side by side. `keys` must be all zero. */
static void list_keys(const struct net_transport *net, const char **keys)
{
    uint32_t n = 0;
    keys[n++] = "kind";
    for (uint32_t k = 0; xoff_rels[k]; k++)
        if (xoff_rels[k]->params->name)
            keys[n++] = xoff_rels[k]->name;
    n = add_keys(keys, n, section_transport);
    n = add_keys(keys, n, net->np->params);
    add_keys(keys, n, net->rp->params);
}

/* Reads `tcp:` and the like: the keys of each reliability are in a mapping of its name. */
static int read_rels(struct fields_reader *r, const struct yaml_node *node,
                     struct plan_transport *transport)
{
    int rc = 0;
    for (uint32_t k = 0; xoff_rels[k] && !rc; k++) {
        const struct xoff_rel_ops *ops = xoff_rels[k];
        const struct yaml_node *keys = node ? yaml_find(node, ops->name) : NULL;
        const struct kind kind = {.params = ops->params, .params_size = ops->params_size};
        const size_t length = fields_enter(r, ops->name);
        rc = keys ? fields_want(r, keys, YAML_MAPPING, "a mapping of keys and values") : 0;
        if (!rc)
            rc = plan_read_kind(r, keys, &kind, NULL, NULL, &transport->rel_params[k]);
        fields_leave(r, length);
    }
    return rc;
}

/* Chooses the reliability that the transport names, or the one that its reaction point names. */
static void choose_rel(struct plan_transport *transport)
{
    struct net_transport *net = &transport->net;
    net->rel = transport->reliability ? xoff_rels[transport->reliability - 1]
                                      : xoff_rel_find(net->rp->rel);
    for (uint32_t k = 0; xoff_rels[k]; k++)
        if (xoff_rels[k] == net->rel)
            net->rel_params = transport->rel_params[k];
}

static int read_transport(struct fields_reader *r, const struct yaml_node *node,
                          struct plan_transport *transport)
{
    struct net_transport *net = &transport->net;
    struct kind kind;
    int rc = fields_kind(r, node, KINDS_TRANSPORT, &kind);
    if (rc)
        return rc;
    if (node)
        transport->place = (struct plan_place){node->line, node->column};
    if (node && node->kind != YAML_MAPPING)
        node = NULL; /* the value is only the name of a kind */
    net->rp = kind.ops;
    net->np = xoff_np_find(net->rp->np);
    xoff_param_defaults(section_transport, transport);
    const struct kind np_kind = {.params = net->np->params, .params_size = net->np->params_size};
    const char *keys[MAX_KEYS] = {0};
    list_keys(net, keys);
    void *params = NULL;
    rc = plan_read_kind(r, node, &kind, NULL, keys, &params);
    net->rp_params = params;
    if (!rc) {
        rc = plan_read_kind(r, node, &np_kind, NULL, keys, &params);
        net->np_params = params;
    }
    if (!rc)
        rc = read_rels(r, node, transport);
    if (!rc && node)
        rc = fields_overlay(r, node, section_transport, transport, keys);
    if (!rc && !read_window(transport->window, net)) {
        const size_t length = fields_enter(r, "window");
        rc = fields_fail(r, yaml_find(node, "window"), XOFF_E_RANGE,
                         "not a window; accepted: none, bdp, scaled, or a size such as 100KB");
        fields_leave(r, length);
    }
    choose_rel(transport);
    return rc;
}

static int read_transports(struct fields_reader *r, const struct yaml_node *root, struct plan *plan)
{
    const struct yaml_node *named = yaml_find(root, "transports");
    plan->transports = calloc(1 + (named ? named->n : 0), sizeof *plan->transports);
    if (!plan->transports)
        return fields_no_memory(r);
    size_t length = fields_enter(r, "transport");
    int rc =
        read_transport(r, yaml_find(root, "transport"), &plan->transports[plan->n_transports++]);
    fields_leave(r, length);
    if (rc || !named)
        return rc;
    length = fields_enter(r, "transports");
    rc = fields_want(r, named, YAML_MAPPING,
                     "a mapping from names to transports, such as {rdma: dcqcn, bulk: tcp}");
    if (!rc && named->n > PLAN_MAX_NAMED_TRANSPORTS)
        rc = fields_fail(r, named, XOFF_E_RANGE, "too many; accepted: up to 8 transports");
    for (const struct yaml_node *node = named->first; node && !rc; node = node->next) {
        const size_t inner = fields_enter(r, node->key);
        struct plan_transport *transport = &plan->transports[plan->n_transports++];
        rc = fields_check_name(r, node, node->key, "-", sizeof transport->name);
        if (!rc && xoff_rp_find(node->key))
            rc = fields_fail_key(r, node, XOFF_E_CONFLICT,
                                 "is the name of a kind; give the transport one of its own");
        if (!rc) {
            memcpy(transport->name, node->key, strlen(node->key) + 1);
            rc = read_transport(r, node, transport);
        }
        fields_leave(r, inner);
    }
    fields_leave(r, length);
    return rc;
}

static int read_priorities(struct fields_reader *r, const struct yaml_node *node, struct plan *plan)
{
    struct priority_fields fields;
    xoff_param_defaults(section_priority, &fields);
    for (int i = 0; i < XOFF_N_PRIORITIES; i++)
        plan->net.weight[i] = (uint32_t)fields.weight;
    if (!node)
        return 0;
    const size_t length = fields_enter(r, "priorities");
    int rc = fields_want(r, node, YAML_MAPPING,
                         "a mapping from priority to its settings, such as 3: {lossless: true}");
    for (const struct yaml_node *entry = node->first; entry && !rc; entry = entry->next) {
        const size_t inner = fields_enter(r, entry->key);
        const uint32_t number = (uint32_t)(unsigned char)entry->key[0] - '0';
        if (number >= XOFF_N_PRIORITIES || entry->key[1])
            rc = fields_fail_key(r, entry, XOFF_E_RANGE,
                                 "no such priority; accepted: a whole number from 0 to 7");
        else
            rc = fields_read(r, entry, section_priority, &fields, NULL);
        if (!rc) {
            plan->net.weight[number] = (uint32_t)fields.weight;
            plan->net.lossless |= (uint8_t)((fields.lossless ? 1u : 0u) << number);
            plan->net.strict |= (uint8_t)((fields.strict ? 1u : 0u) << number);
        }
        fields_leave(r, inner);
    }
    fields_leave(r, length);
    return rc;
}

static int read_measure(struct fields_reader *r, const struct yaml_node *root, struct plan *plan)
{
    struct measure_fields fields;
    int rc = read_section(r, root, "measure", section_measure, &fields, NULL);
    if (rc)
        return rc;
    plan->net.measure_every = fields.every;
    plan->net.measure_from = fields.from;
    plan->net.measure_to = fields.to == XOFF_PARAM_AUTO ? 0 : fields.to;
    if (plan->net.measure_to && plan->net.measure_to <= fields.from) {
        const size_t length = fields_enter(r, "measure.to");
        rc = fields_fail(r, yaml_find(yaml_find(root, "measure"), "to"), XOFF_E_RANGE,
                         "the measured time ends before it begins; give a time after measure.from");
        fields_leave(r, length);
        return rc;
    }
    if (fields.from >= plan->net.stop) {
        const size_t length = fields_enter(r, "measure.from");
        rc = fields_fail(r, yaml_find(yaml_find(root, "measure"), "from"), XOFF_E_RANGE,
                         "nothing is offered from stop on; give a time before it");
        fields_leave(r, length);
        return rc;
    }
    memcpy(plan->measured_at, fields.at, sizeof plan->measured_at);
    char word[XOFF_PARAM_TEXT];
    const char *at = fields.series[0] ? fields.series : NULL;
    while (plan_next_entry(&at, word, sizeof word)) {
        uint32_t i = 0;
        while (section_series[i] && strcmp(section_series[i], word) != 0)
            i++;
        if (!section_series[i]) {
            const size_t length = fields_enter(r, "measure.series");
            rc = fields_fail(r, yaml_find(yaml_find(root, "measure"), "series"), XOFF_E_RANGE, "");
            xoff_err_set(r->err, XOFF_E_RANGE, r->err->subject, word, word);
            xoff_err_add(
                r->err,
                " is not a series; accepted: queue, throughput, pause, buffer, pools, input");
            fields_leave(r, length);
            return rc;
        }
        plan->net.measure |= UINT32_C(1) << i;
    }
    return 0;
}

static int read_change(struct fields_reader *r, const struct yaml_node *node,
                       struct plan_change *change)
{
    struct change_fields fields;
    const int rc = fields_read(r, node, section_change, &fields, NULL);
    if (rc)
        return rc;
    if (strlen(fields.link) >= sizeof change->link)
        return fields_fail(r, yaml_find(node, "link"), XOFF_E_RANGE,
                           "too long for the name of a link, such as leaf0-spine1");
    const bool alters = fields.rate_bps != XOFF_PARAM_AUTO || fields.delay != XOFF_PARAM_AUTO;
    if (alters + (fields.fail != 0) + (fields.repair != 0) != 1)
        return fields_fail(r, node, XOFF_E_CONFLICT,
                           "an entry changes one thing; give rate and/or delay, or fail: true, or "
                           "repair: true");
    *change = (struct plan_change){.at = fields.at,
                                   .rate_bps = fields.rate_bps,
                                   .delay = fields.delay,
                                   .fail = fields.fail,
                                   .repair = fields.repair,
                                   .place = {node->line, node->column}};
    memcpy(change->link, fields.link, sizeof change->link);
    return 0;
}

static int read_changes(struct fields_reader *r, const struct yaml_node *node, struct plan *plan)
{
    const size_t length = fields_enter(r, "links");
    void *entries;
    int rc = plan_begin_list(r, node, sizeof *plan->changes, &entries);
    plan->changes = entries;
    for (node = node ? node->first : NULL; node && !rc; node = node->next) {
        const size_t inner = fields_enter_index(r, plan->n_changes);
        rc = read_change(r, node, &plan->changes[plan->n_changes++]);
        fields_leave(r, inner);
    }
    fields_leave(r, length);
    return rc;
}

static int read_route(struct fields_reader *r, const struct yaml_node *node,
                      struct plan_route *route)
{
    struct route_fields fields;
    int rc = fields_read(r, node, section_route, &fields, NULL);
    if (rc)
        return rc;
    const size_t length = fields_enter(r, "on");
    rc = fields_check_name(r, yaml_find(node, "on"), fields.on, "-.", sizeof route->on);
    fields_leave(r, length);
    if (rc)
        return rc;
    *route = (struct plan_route){.at = fields.at, .place = {node->line, node->column}};
    memcpy(route->on, fields.on, sizeof route->on);
    memcpy(route->to, fields.to, sizeof route->to);
    memcpy(route->via, fields.via, sizeof route->via);
    return 0;
}

static int read_routes(struct fields_reader *r, const struct yaml_node *node, struct plan *plan)
{
    const size_t length = fields_enter(r, "routes");
    void *entries;
    int rc = plan_begin_list(r, node, sizeof *plan->routes, &entries);
    plan->routes = entries;
    for (node = node ? node->first : NULL; node && !rc; node = node->next) {
        const size_t inner = fields_enter_index(r, plan->n_routes);
        rc = read_route(r, node, &plan->routes[plan->n_routes++]);
        fields_leave(r, inner);
    }
    fields_leave(r, length);
    return rc;
}

static int read_defence(struct fields_reader *r, const struct yaml_node *node,
                        struct plan_defence *defence)
{
    const int rc = fields_read(r, node, section_defence, defence, NULL);
    if (rc)
        return rc;
    defence->place = (struct plan_place){node->line, node->column};
    if (defence->mode != NET_DEFENCE_EDGE || defence->alternate != defence->priority)
        return 0;
    const size_t length = fields_enter(r, "alternate");
    const struct yaml_node *given = yaml_find(node, "alternate");
    const int code = fields_fail(r, given ? given : node, XOFF_E_CONFLICT,
                                 "an edge gives frames another priority than the one they have");
    fields_leave(r, length);
    return code;
}

static int read_defences(struct fields_reader *r, const struct yaml_node *node, struct plan *plan)
{
    const size_t length = fields_enter(r, "cn_ports");
    void *entries;
    int rc = plan_begin_list(r, node, sizeof *plan->defences, &entries);
    plan->defences = entries;
    for (node = node ? node->first : NULL; node && !rc; node = node->next) {
        const size_t inner = fields_enter_index(r, plan->n_defences);
        rc = read_defence(r, node, &plan->defences[plan->n_defences++]);
        fields_leave(r, inner);
    }
    fields_leave(r, length);
    return rc;
}
