/* `switch` and `switches` of a scenario: each switch's settings and mechanisms, the keys that
 * entries inherit, the marking that transports need, and headroom where a priority is lossless. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scenario/plan_read.h"

static const struct yaml_node absent = {.kind = YAML_MAPPING};

/* Refuses a key that only other kinds have, and names them. The kind may come from a variant or the
 * transport, or be the default: the place of the key does not show it. */
static int refuse_foreign(struct fields_reader *r, const struct yaml_node *node,
                          enum kinds_role role, const struct kind *kind, bool is_given)
{
    if (!node || node->kind != YAML_MAPPING)
        return 0;
    for (const struct yaml_node *entry = node->first; entry; entry = entry->next) {
        struct xoff_err text = {0};
        struct kind other;
        uint32_t n = 0;
        if (xoff_param_find(kind->params, entry->key))
            continue;
        xoff_err_set(&text, XOFF_E_UNKNOWN, NULL, NULL, "unknown key for kind ");
        xoff_err_add(&text, kind->name);
        for (uint32_t i = 0; kinds_at(role, i, &other); i++)
            if (xoff_param_find(other.params, entry->key)) {
                xoff_err_add(&text, n++ ? ", " : ", but one of ");
                xoff_err_add(&text, other.name);
            }
        if (!n) /* no kind has it */
            continue;
        xoff_err_add(&text, is_given ? "" : "; give kind, too");
        const size_t length = fields_enter(r, entry->key);
        const int rc = fields_fail_key(r, entry, XOFF_E_UNKNOWN, text.message);
        fields_leave(r, length);
        return rc;
    }
    return 0;
}

/* Reads a mechanism of a switch: its kind, parameters and place. Without a kind, the kind is that
 * of `base`; parameters are inherited from `base` while the kind is the same. */
static int read_mechanism(struct fields_reader *r, const struct yaml_node *section,
                          const struct switch_role *role, const struct net_switch *base,
                          struct net_switch *sw, struct plan_place *place)
{
    static const char *const others[] = {"kind", NULL};
    const struct yaml_node *node = yaml_find(section, role->key);
    const bool has_kind = node && (node->kind != YAML_MAPPING || yaml_find(node, "kind"));
    const struct kind inherited = base ? switch_kind(base, role) : (struct kind){0};
    const size_t length = fields_enter(r, role->key);
    struct kind kind = inherited;
    void *params = NULL;
    int rc = base && !has_kind ? 0 : fields_kind(r, node, role->role, &kind);
    if (!rc)
        rc = refuse_foreign(r, node, role->role, &kind, has_kind);
    if (!rc)
        rc = plan_read_kind(r, node, &kind,
                            kind.ops == inherited.ops ? switch_params(base, role) : NULL, others,
                            &params);
    switch_take(sw, role, kind.ops, params);
    if (node)
        *place = (struct plan_place){node->line, node->column};
    fields_leave(r, length);
    return rc;
}

/* Refuses the key `paths` of earlier versions. */
static int refuse_paths(struct fields_reader *r, const struct yaml_node *node)
{
    if (!node)
        return 0;
    const size_t length = fields_enter(r, "paths");
    const int rc = fields_fail_key(r, node, XOFF_E_UNKNOWN, "is now path, a mechanism");
    fields_leave(r, length);
    return rc;
}

static int read_mechanisms(struct fields_reader *r, const struct yaml_node *section,
                           const struct net_switch *base, struct net_switch *sw,
                           struct plan_place *place)
{
    int rc = 0;
    for (const struct switch_role *role = switch_roles; role->key && !rc; role++)
        rc = read_mechanism(r, section, role, base, sw, &place[role->part]);
    place[NET_PART_NET] = (struct plan_place){section->line, section->column};
    return rc;
}

#define MAX_KEYS 32

/* Lists the keys of `switch` that are not in section_switch: `first` (NULL: none) and the
 * mechanisms. */
static void switch_others(const char *first, const char *others[MAX_KEYS])
{
    uint32_t n = 0;
    if (first)
        others[n++] = first;
    for (const struct switch_role *role = switch_roles; role->key; role++)
        others[n++] = role->key;
    others[n] = NULL;
}

int plan_read_switch(struct fields_reader *r, const struct yaml_node *root, struct plan *plan)
{
    const struct yaml_node *node = yaml_find(root, "switch"), *list = yaml_find(root, "switches");
    const size_t n = list ? list->n : 0;
    if (!node)
        node = &absent;
    plan->net.kinds = plan->kinds = calloc(1 + n, sizeof *plan->kinds);
    plan->switches = calloc(1 + n, sizeof *plan->switches);
    if (!plan->kinds || !plan->switches)
        return fields_no_memory(r);
    plan->net.n_kinds = 1;
    const size_t length = fields_enter(r, "switch");
    const char *others[MAX_KEYS];
    switch_others(NULL, others);
    int rc = refuse_paths(r, yaml_find(node, "paths"));
    if (!rc)
        rc = fields_read(r, node, section_switch, plan->kinds, others);
    if (!rc)
        rc = read_mechanisms(r, node, NULL, plan->kinds, plan->switches[0].place);
    fields_leave(r, length);
    return rc;
}

static int read_switch_entry(struct fields_reader *r, const struct yaml_node *node,
                             const struct net_switch *base, struct net_switch *sw,
                             struct plan_switch *entry)
{
    const char *others[MAX_KEYS], *known[MAX_KEYS];
    uint32_t n = 0;
    switch_others("match", others);
    *sw = *base;
    for (const struct switch_role *role = switch_roles; role->key; role++) {
        switch_forget(sw, role);
        known[n++] = role->key;
    }
    for (const struct xoff_param *p = section_switch; p->name; p++)
        known[n++] = p->name;
    known[n] = NULL;
    int rc = fields_overlay(r, node, section_switch, sw, others);
    if (!rc)
        rc = fields_read(r, node, section_match, entry, known);
    if (rc)
        return rc;
    const struct yaml_node *match = yaml_find(node, "match");
    if (!match->line) /* an option set it */
        match = node;
    entry->match_place = (struct plan_place){match->line, match->column};
    return read_mechanisms(r, node, base, sw, entry->place);
}

/* An entry inherits from `switch` every key that it leaves out. */
int plan_read_switches(struct fields_reader *r, const struct yaml_node *node, struct plan *plan)
{
    const size_t length = fields_enter(r, "switches");
    int rc = node ? fields_want(r, node, YAML_SEQUENCE, "a list, each entry a mapping") : 0;
    if (!rc && node && node->n > UINT8_MAX)
        rc = fields_fail(r, node, XOFF_E_RANGE, "too many; accepted: up to 255 entries");
    for (node = node ? node->first : NULL; node && !rc; node = node->next) {
        const uint32_t i = plan->net.n_kinds++;
        const size_t inner = fields_enter_index(r, i - 1);
        rc = read_switch_entry(r, node, plan->kinds, &plan->kinds[i], &plan->switches[i]);
        fields_leave(r, inner);
    }
    fields_leave(r, length);
    return rc;
}

/* Returns the node at a dotted path, or the last existing one on the way to it. */
static const struct yaml_node *deepest(const struct yaml_node *node, const char *path)
{
    for (const struct yaml_node *next = node; next; path += path[0] == '.') {
        char key[32];
        const size_t n = strcspn(path, ".");
        snprintf(key, sizeof key, "%.*s", (int)n, path);
        path += n;
        node = next;
        next = node->kind == YAML_MAPPING    ? yaml_find(node, key)
               : node->kind == YAML_SEQUENCE ? yaml_at(node, (uint32_t)atoi(key))
                                             : NULL;
    }
    return node;
}

/* Returns the reaction point behind a name that traffic gives; NULL: unknown, which is reported
 * when the network is built. */
static const struct xoff_rp_ops *named_rp(const struct plan *plan, const char *name)
{
    for (uint32_t i = 0; i < plan->n_transports; i++)
        if (strcmp(plan->transports[i].name, name) == 0)
            return plan->transports[i].net.rp;
    return xoff_rp_find(name);
}

/* What the transports that traffic uses need from switches, where the file does not say. */
struct wanted {
    const char *marking; /* "none" until a transport needs one */
    const struct xoff_rp_ops *rp;
};

static int want_marking(struct fields_reader *r, const struct yaml_node *root,
                        const struct plan *plan, const struct xoff_param *table, const void *params,
                        struct wanted *wanted)
{
    const struct xoff_param *p = xoff_param_find(table, "transport");
    const struct xoff_rp_ops *rp = p ? named_rp(plan, (const char *)params + p->offset) : NULL;
    if (!rp || strcmp(rp->marking, "none") == 0 || strcmp(rp->marking, wanted->marking) == 0)
        return 0;
    if (strcmp(wanted->marking, "none") != 0) {
        char message[160];
        snprintf(message, sizeof message,
                 "%s reads %s and %s reads %s; give the one that switches are to do",
                 wanted->rp->name, wanted->marking, rp->name, rp->marking);
        const size_t length = fields_enter(r, "switch.marking");
        const int rc = fields_fail(r, deepest(root, "switch.marking"), XOFF_E_CONFLICT, message);
        fields_leave(r, length);
        return rc;
    }
    *wanted = (struct wanted){rp->marking, rp};
    return 0;
}

int plan_choose_marking(struct fields_reader *r, const struct yaml_node *root, struct plan *plan)
{
    const struct yaml_node *sw = yaml_find(root, "switch");
    if (sw && yaml_find(sw, "marking"))
        return 0;
    struct wanted wanted = {"none", NULL};
    if (!plan->n_traffic)
        wanted.marking = plan->transports[0].net.rp->marking;
    int rc = 0;
    for (uint32_t i = 0; i < plan->n_traffic && !rc; i++) {
        const struct plan_traffic *t = &plan->traffic[i];
        rc = want_marking(r, root, plan, t->kind->params, t->params, &wanted);
        for (uint32_t k = 0; k < t->n_items && !rc; k++)
            rc = want_marking(r, root, plan, t->kind->item_params,
                              (const char *)t->items + k * t->kind->item_size, &wanted);
    }
    if (rc)
        return rc;
    struct kind kind;
    void *params;
    XOFF_ASSERT(kinds_find(KINDS_MARKING, wanted.marking, &kind));
    rc = plan_read_kind(r, NULL, &kind, NULL, NULL, &params);
    free((void *)plan->kinds->marking_params);
    plan->kinds->marking = kind.ops;
    plan->kinds->marking_params = params;
    return rc;
}

static bool is_arbitrated(const struct net_switch *sw)
{
    return sw->fabric->arbitrates;
}

/* Points at outputs are the default, and may be given in any case. */
static bool has_points(const struct net_switch *sw)
{
    return sw->points_at == NET_POINTS_OUTPUT || sw->marking->on_enqueue || sw->marking->on_dequeue;
}

/* Refuses `key` where it is given and no switch that it is for has a use for it. What `switch` says
 * is also for the entries of `switches`. */
static int refuse_unused(struct fields_reader *r, const struct yaml_node *root,
                         const struct plan *plan, const char *key,
                         bool (*has_use)(const struct net_switch *sw), const char *message)
{
    const struct yaml_node *sw = yaml_find(root, "switch"), *list = yaml_find(root, "switches");
    for (uint32_t i = 0; i < plan->net.n_kinds; i++) {
        const struct yaml_node *section = i ? yaml_at(list, i - 1) : sw;
        const struct yaml_node *node = section ? yaml_find(section, key) : NULL;
        bool is_used = has_use(&plan->kinds[i]);
        for (uint32_t k = 1; k < plan->net.n_kinds && !i; k++)
            is_used |= has_use(&plan->kinds[k]);
        if (!node || is_used)
            continue;
        char path[64];
        if (i)
            snprintf(path, sizeof path, "switches.%u.%s", i - 1, key);
        else
            snprintf(path, sizeof path, "switch.%s", key);
        const size_t length = fields_enter(r, path);
        const int rc = fields_fail_key(r, node, XOFF_E_CONFLICT, message);
        fields_leave(r, length);
        return rc;
    }
    return 0;
}

int plan_check_unused(struct fields_reader *r, const struct yaml_node *root,
                      const struct plan *plan)
{
    const int rc = refuse_unused(r, root, plan, "arbiter", is_arbitrated,
                                 "has no effect: only fabric: cioq has a crossbar to arbitrate");
    return rc ? rc
              : refuse_unused(r, root, plan, "congestion_points", has_points,
                              "has no effect: no marking looks at the queues; give one such as "
                              "marking: qcn, or leave this out");
}

static int64_t whole_of(const struct xoff_param *table, const void *params, const char *name,
                        int64_t otherwise)
{
    const struct xoff_param *p = xoff_param_find(table, name);
    if (!p || p->type == XOFF_P_REAL || p->type == XOFF_P_TEXT)
        return otherwise;
    int64_t value;
    memcpy(&value, (const char *)params + p->offset, sizeof value);
    return value;
}

/* A lossless priority needs room for what arrives after XOFF. To study too little room, a buffer
 * can be told to accept loss (`allow_loss`). */
int plan_check_headroom(struct fields_reader *r, const struct yaml_node *root,
                        const struct plan *plan)
{
    int rc = 0;
    for (uint32_t i = 0; i < plan->net.n_kinds && plan->net.lossless && !rc; i++) {
        const struct net_switch *sw = &plan->kinds[i];
        const struct xoff_param *table = sw->mmu->params;
        const int64_t own = whole_of(table, sw->mmu_params, "headroom", XOFF_PARAM_AUTO);
        if (whole_of(table, sw->mmu_params, "allow_loss", 0) ||
            (own != 0 && (plan->net.headroom_bytes != 0 || own != XOFF_PARAM_AUTO)))
            continue;
        char path[64] = "port.headroom";
        if (own == 0)
            snprintf(path, sizeof path, i ? "switches.%u.mmu.headroom" : "switch.mmu.headroom",
                     i - 1);
        const size_t length = fields_enter(r, path);
        rc = fields_fail(r, deepest(root, path), XOFF_E_CONFLICT,
                         "a lossless priority has no headroom; give auto or a size above 0B, or "
                         "make every priority lossy");
        fields_leave(r, length);
    }
    return rc;
}
