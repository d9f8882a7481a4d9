/* Topology and traffic of a scenario: the two sections whose kinds have tables of their own.
 *
 * Links inherit: fabric_link from host_link, links of a custom topology from host_link. Each key is
 * inherited on its own, except that a given length replaces an inherited delay and vice versa.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <xoff/units.h>

#include "scenario/plan_read.h"
#include "scenario/topology.h"

#define LONGEST_MM (XOFF_S / XOFF_PS_PER_MM) /* a delay of 1s, the most that `delay` takes */

static int read_link(struct fields_reader *r, const struct yaml_node *node,
                     const char *const *others, const struct plan_link *base,
                     struct plan_link *link);
static int read_nodes(struct fields_reader *r, const struct yaml_node *node,
                      struct plan_topology *topology);
static int read_links(struct fields_reader *r, const struct yaml_node *node,
                      struct plan_topology *topology);
static int read_items(struct fields_reader *r, const struct yaml_node *node,
                      struct plan_traffic *traffic);

/* The caller has checked that the text is a name that fits. */
static void put_name(char name[TOPO_NAME], const char *text)
{
    memcpy(name, text, strlen(text) + 1);
}

static int read_optional_link(struct fields_reader *r, const struct yaml_node *parent,
                              const char *key, const struct plan_link *base, struct plan_link *link)
{
    *link = *base;
    const struct yaml_node *node = yaml_find(parent, key);
    if (!node)
        return 0;
    const size_t length = fields_enter(r, key);
    const int rc = read_link(r, node, NULL, base, link);
    fields_leave(r, length);
    return rc;
}

static int read_topology(struct fields_reader *r, const struct yaml_node *node,
                         struct plan_topology *topology)
{
    struct kind kind;
    int rc = fields_kind(r, node, KINDS_TOPOLOGY, &kind);
    if (rc)
        return rc;
    topology->kind = kind.ops;
    topology->place = (struct plan_place){node->line, node->column};
    /* Only a custom topology lists its nodes and links in the file. */
    const bool lists = strcmp(kind.name, "custom") == 0;
    const char *others[6] = {"kind", "host_link"};
    uint32_t n = 2;
    if (topology->kind->has_fabric_link)
        others[n++] = "fabric_link";
    if (lists) {
        others[n++] = "nodes";
        others[n++] = "links";
    }
    rc = plan_read_kind(r, node, &kind, NULL, others, &topology->params);
    if (rc)
        return rc;
    struct link_fields fields;
    xoff_param_defaults(section_link, &fields);
    const struct plan_link preset = {.rate_bps = fields.rate_bps,
                                     .delay = fields.delay,
                                     .length_mm = XOFF_PARAM_AUTO,
                                     .error = fields.error};
    rc = read_optional_link(r, node, "host_link", &preset, &topology->host_link);
    if (!rc)
        rc = read_optional_link(r, node, "fabric_link", &topology->host_link,
                                &topology->fabric_link);
    if (!rc && lists)
        rc = read_nodes(r, yaml_find(node, "nodes"), topology);
    if (!rc && lists)
        rc = read_links(r, yaml_find(node, "links"), topology);
    return rc;
}

int plan_read_topology(struct fields_reader *r, const struct yaml_node *root,
                       struct plan_topology *topology)
{
    const struct yaml_node *node = yaml_find(root, "topology");
    const size_t length = fields_enter(r, "topology");
    int rc;
    if (!node)
        rc = fields_fail(r, root, XOFF_E_MISSING,
                         "missing; give a mapping such as {kind: star, hosts: 4}");
    else
        rc = read_topology(r, node, topology);
    fields_leave(r, length);
    return rc;
}

static int read_length(struct fields_reader *r, const struct yaml_node *node, const char *text,
                       int64_t *length_mm)
{
    const size_t length = fields_enter(r, "length");
    int rc = xoff_parse_length(text, length_mm);
    if (rc || *length_mm > LONGEST_MM)
        rc = fields_fail(r, node, rc ? (enum xoff_err_code) - rc : XOFF_E_RANGE,
                         "not a cable length; give a length such as 40m or 2km, up to 200000km");
    fields_leave(r, length);
    return rc;
}

static int read_link(struct fields_reader *r, const struct yaml_node *node,
                     const char *const *others, const struct plan_link *base,
                     struct plan_link *link)
{
    struct link_fields fields = {
        .rate_bps = base->rate_bps, .delay = base->delay, .error = base->error};
    int rc = fields_overlay(r, node, section_link, &fields, others);
    if (rc)
        return rc;
    *link = (struct plan_link){.rate_bps = fields.rate_bps,
                               .delay = fields.delay,
                               .length_mm = base->length_mm,
                               .error = fields.error};
    const struct yaml_node *delay = yaml_find(node, "delay");
    const struct yaml_node *length = yaml_find(node, "length");
    if (length) {
        if (delay && fields.delay != XOFF_PARAM_AUTO)
            return fields_fail_key(r, length, XOFF_E_CONFLICT,
                                   "delay and length are both given; give one of them");
        link->delay = XOFF_PARAM_AUTO;
        return read_length(r, length, fields.length, &link->length_mm);
    }
    if (delay && fields.delay != XOFF_PARAM_AUTO)
        link->length_mm = XOFF_PARAM_AUTO;
    else if (fields.delay == XOFF_PARAM_AUTO && link->length_mm == XOFF_PARAM_AUTO)
        return fields_fail(r, delay ? delay : node, XOFF_E_MISSING,
                           "delay is auto without a length; give a length such as 40m, or a delay "
                           "such as 1us");
    return 0;
}

/* Reads an entry of `nodes`: host, {kind: host}, or in a list {name: h0, kind: host}. */
static int read_node(struct fields_reader *r, const struct yaml_node *node,
                     struct plan_custom_node *out)
{
    struct node_fields fields;
    const struct xoff_param *kind = xoff_param_find(section_node, "kind");
    xoff_param_defaults(section_node, &fields);
    const char *name = node->key;
    const struct yaml_node *name_node = node;
    int rc;
    if (name && node->kind == YAML_SCALAR) {
        rc = xoff_param_set(kind, &fields, node->text, r->err);
        rc = rc ? fields_locate(r, node, rc) : 0;
    } else if (name) {
        static const char *const others[] = {NULL};
        rc = fields_overlay(r, node, kind, &fields, others);
    } else {
        rc = fields_overlay(r, node, section_node, &fields, NULL);
        name = fields.name;
        if (!rc && yaml_find(node, "name"))
            name_node = yaml_find(node, "name");
    }
    if (!rc)
        rc = fields_check_name(r, name_node, name, "-.", sizeof out->name);
    if (rc)
        return rc;
    out->kind = (enum topo_kind)fields.kind;
    put_name(out->name, name);
    return 0;
}

/* Names are `stride` bytes apart, starting at `first`, one for each entry of the list. */
static int check_unique(struct fields_reader *r, const struct yaml_node *list, const char *first,
                        size_t stride, const char *message)
{
    const char **names = malloc((list->n + 1) * sizeof *names);
    if (!names)
        return fields_no_memory(r);
    for (uint32_t i = 0; i < list->n; i++)
        names[i] = first + i * stride;
    const uint32_t repeat = fields_find_repeat(names, list->n);
    free(names);
    if (repeat == UINT32_MAX)
        return fields_no_memory(r);
    if (repeat == list->n)
        return 0;
    const size_t length = fields_enter_index(r, repeat);
    const int rc = fields_fail(r, yaml_at(list, repeat), XOFF_E_CONFLICT, message);
    fields_leave(r, length);
    return rc;
}

static int read_nodes(struct fields_reader *r, const struct yaml_node *list,
                      struct plan_topology *topology)
{
    if (!list)
        return 0;
    const size_t length = fields_enter(r, "nodes");
    int rc = 0;
    if (list->kind != YAML_SEQUENCE)
        rc =
            fields_want(r, list, YAML_MAPPING, "a mapping of nodes such as {h0: host, s0: switch}");
    if (!rc && list->n && !(topology->nodes = calloc(list->n, sizeof *topology->nodes)))
        rc = fields_no_memory(r);
    for (const struct yaml_node *node = list->first; node && !rc; node = node->next) {
        const size_t inner =
            node->key ? fields_enter(r, node->key) : fields_enter_index(r, topology->n_nodes);
        rc = read_node(r, node, &topology->nodes[topology->n_nodes++]);
        fields_leave(r, inner);
    }
    if (!rc && list->n)
        rc = check_unique(r, list, topology->nodes[0].name, sizeof topology->nodes[0],
                          "two nodes have this name; give each its own");
    fields_leave(r, length);
    return rc;
}

static int read_endpoints(struct fields_reader *r, const struct yaml_node *node,
                          struct plan_custom_link *link)
{
    const struct yaml_node *ends = yaml_find(node, "endpoints");
    const size_t length = fields_enter(r, "endpoints");
    static const char wanted[] = "two node names such as [h0, s0]";
    int rc = 0;
    if (!ends)
        rc = fields_fail(r, node, XOFF_E_MISSING, "missing; give two node names such as [h0, s0]");
    else
        rc = fields_want(r, ends, YAML_SEQUENCE, wanted);
    if (!rc &&
        (ends->n != 2 || ends->first->kind != YAML_SCALAR || ends->last->kind != YAML_SCALAR))
        rc = fields_fail(r, ends, XOFF_E_RANGE,
                         "a link has two ends; give two node names such as [h0, s0]");
    if (!rc)
        rc = fields_check_name(r, ends->first, ends->first->text, "-.", sizeof link->a);
    if (!rc)
        rc = fields_check_name(r, ends->last, ends->last->text, "-.", sizeof link->b);
    if (!rc) {
        put_name(link->a, ends->first->text);
        put_name(link->b, ends->last->text);
    }
    fields_leave(r, length);
    return rc;
}

static int read_links(struct fields_reader *r, const struct yaml_node *list,
                      struct plan_topology *topology)
{
    static const char *const others[] = {"endpoints", NULL};
    if (!list)
        return 0;
    const size_t length = fields_enter(r, "links");
    int rc = fields_want(r, list, YAML_SEQUENCE, "a list of links such as {endpoints: [h0, s0]}");
    if (!rc && list->n && !(topology->links = calloc(list->n, sizeof *topology->links)))
        rc = fields_no_memory(r);
    for (const struct yaml_node *node = list->first; node && !rc; node = node->next) {
        const size_t inner = fields_enter_index(r, topology->n_links);
        struct plan_custom_link *link = &topology->links[topology->n_links++];
        link->place = (struct plan_place){node->line, node->column};
        rc = read_link(r, node, others, &topology->host_link, &link->link);
        if (!rc)
            rc = read_endpoints(r, node, link);
        fields_leave(r, inner);
    }
    fields_leave(r, length);
    return rc;
}

static int read_entry(struct fields_reader *r, const struct yaml_node *node, uint32_t index,
                      struct plan_traffic *traffic)
{
    struct kind kind;
    int rc = fields_want(r, node, YAML_MAPPING, "a mapping with kind: and its parameters");
    if (!rc)
        rc = fields_kind(r, node, KINDS_TRAFFIC, &kind);
    if (rc)
        return rc;
    traffic->kind = kind.ops;
    traffic->place = (struct plan_place){node->line, node->column};
    const char *const others[] = {"kind", "name", traffic->kind->items_key, NULL};
    rc = plan_read_kind(r, node, &kind, NULL, others, &traffic->params);
    if (rc)
        return rc;
    snprintf(traffic->name, sizeof traffic->name, "%.20s#%u", kind.name, (unsigned)index);
    const struct yaml_node *name = yaml_find(node, "name");
    if (name) {
        const size_t length = fields_enter(r, "name");
        char text[256];
        rc = fields_text(r, name, NULL, text, sizeof text);
        if (!rc)
            rc = fields_check_name(r, name, text, "#-", sizeof traffic->name);
        if (!rc)
            put_name(traffic->name, text);
        fields_leave(r, length);
    }
    return rc ? rc : read_items(r, node, traffic);
}

static int read_items(struct fields_reader *r, const struct yaml_node *node,
                      struct plan_traffic *traffic)
{
    const struct traffic_kind *kind = traffic->kind;
    const struct yaml_node *list = kind->items_key ? yaml_find(node, kind->items_key) : NULL;
    if (!list)
        return 0;
    const size_t length = fields_enter(r, kind->items_key);
    int rc = fields_want(r, list, YAML_SEQUENCE, "a list, each entry a mapping");
    if (!rc && list->n && !(traffic->items = calloc(list->n, kind->item_size)))
        rc = fields_no_memory(r);
    for (const struct yaml_node *item = list->first; item && !rc; item = item->next) {
        const size_t inner = fields_enter_index(r, traffic->n_items);
        void *params = (char *)traffic->items + traffic->n_items++ * kind->item_size;
        rc = fields_read(r, item, kind->item_params, params, NULL);
        fields_leave(r, inner);
    }
    fields_leave(r, length);
    return rc;
}

int plan_read_traffic(struct fields_reader *r, const struct yaml_node *list, struct plan *plan)
{
    if (!list)
        return 0;
    const size_t length = fields_enter(r, "traffic");
    int rc = fields_want(r, list, YAML_SEQUENCE,
                         "a list, each entry a mapping with kind: and its parameters");
    if (!rc && list->n && !(plan->traffic = calloc(list->n, sizeof *plan->traffic)))
        rc = fields_no_memory(r);
    for (const struct yaml_node *node = list->first; node && !rc; node = node->next) {
        const uint32_t index = plan->n_traffic++;
        const size_t inner = fields_enter_index(r, index);
        rc = read_entry(r, node, index, &plan->traffic[index]);
        fields_leave(r, inner);
    }
    if (!rc && list->n)
        rc = check_unique(r, list, plan->traffic[0].name, sizeof plan->traffic[0],
                          "two traffic entries have this name; give each its own");
    fields_leave(r, length);
    return rc;
}
