/* Scenarios drawn at random from the tables of the parser. */
#include "support/random_scenario.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <xoff/registry.h>

#include "scenario/build.h"
#include "scenario/sections.h"
#include "scenario/topology.h"
#include "support/outline.h"
#include "support/random_value.h"

#define MAX_MENDS 60
#define MAX_HOSTS 12

void (*random_scenario_refused)(const struct xoff_err *err);

/* Writes keys of a table, each with a probability, those that are required always. */
static void draw_table(struct draw *d, struct outline *o, uint32_t indent, const char *path,
                       const struct xoff_param *table, uint32_t percent)
{
    char text[DRAW_TEXT];
    for (const struct xoff_param *p = table; p && p->name; p++)
        if ((!p->preset || draw_chance(d, percent)) && draw_value(d, path, p, text))
            outline_insert(o, OUTLINE_NONE, "%*s%s: %s", (int)indent, "", p->name, text);
}

/* Draws one of the kinds of a role, and writes it with some of its keys. */
static struct kind draw_kind(struct draw *d, struct outline *o, uint32_t indent,
                             enum kinds_role role, const char *wanted)
{
    struct kind kind;
    uint32_t n = 0;
    while (kinds_at(role, n, &kind))
        n++;
    kinds_at(role, draw_below(d, n), &kind);
    if (wanted)
        kinds_find(role, wanted, &kind);
    outline_insert(o, OUTLINE_NONE, "%*skind: %s", (int)indent, "", kind.name);
    draw_table(d, o, indent, kinds_path(role), kind.params, 25);
    draw_table(d, o, indent, kinds_path(role), kind.np_params, 25);
    return kind;
}

/* ------------------------------------------------------------------------------ topology */

static void draw_link(struct draw *d, struct outline *o, uint32_t indent, const char *path)
{
    static const char *const rates[] = {"100Gbps", "25Gbps", "10Gbps",  "40Gbps",
                                        "400Gbps", "3Gbps",  "7.3Gbps", "99.9Gbps"};
    static const char *const delays[] = {"1us", "500ns", "15ns", "123ps", "777ns", "0s", "3us"};
    const uint32_t rate = draw_chance(d, 60) ? draw_below(d, 2) : draw_below(d, 8);
    outline_insert(o, OUTLINE_NONE, "%*srate: %s", (int)indent, "", rates[rate]);
    outline_insert(o, OUTLINE_NONE, "%*sdelay: %s", (int)indent, "", delays[draw_below(d, 7)]);
    const struct xoff_param *error = xoff_param_find(section_link, "error");
    char text[DRAW_TEXT];
    if (draw_chance(d, 12) && draw_value(d, path, error, text))
        outline_insert(o, OUTLINE_NONE, "%*serror: %s", (int)indent, "", text);
}

/* Writes switches in a random tree, often with some more links. */
static void draw_custom(struct draw *d, struct outline *o)
{
    const uint32_t n_switches = 1 + draw_below(d, 5), n_hosts = 2 + draw_below(d, 6);
    const uint32_t n_more = n_switches > 1 && draw_chance(d, 60) ? draw_below(d, n_switches) : 0;
    outline_insert(o, OUTLINE_NONE, "  nodes:");
    for (uint32_t h = 0; h < n_hosts; h++)
        outline_insert(o, OUTLINE_NONE, "    h%u: host", h);
    for (uint32_t s = 0; s < n_switches; s++)
        outline_insert(o, OUTLINE_NONE, "    s%u: switch", s);
    outline_insert(o, OUTLINE_NONE, "  links:");
    for (uint32_t i = 0; i < n_hosts + n_switches - 1 + n_more; i++) {
        const uint32_t s = i - n_hosts + 1; /* the switch that the tree grows by */
        const uint32_t a = i < n_hosts ? 0 : s < n_switches ? s : draw_below(d, n_switches);
        uint32_t b = draw_below(d, i >= n_hosts && s < n_switches ? s : n_switches);
        if (i < n_hosts)
            outline_insert(o, OUTLINE_NONE, "    - endpoints: [h%u, s%u]", i, b);
        else {
            b = a == b ? (b + 1) % n_switches : b;
            outline_insert(o, OUTLINE_NONE, "    - endpoints: [s%u, s%u]", a, b);
        }
        draw_link(d, o, 6, "topology.host_link");
    }
}

static void draw_topology(struct draw *d, struct outline *o)
{
    outline_insert(o, OUTLINE_NONE, "topology:");
    struct kind kind;
    uint32_t n = 0;
    while (kinds_at(KINDS_TOPOLOGY, n, &kind))
        n++;
    kinds_at(KINDS_TOPOLOGY, draw_below(d, n), &kind);
    outline_insert(o, OUTLINE_NONE, "  kind: %s", kind.name);
    const struct topology_kind *topology = kind.ops;
    if (!kind.params || !kind.params->name) {
        draw_custom(d, o);
        return;
    }
    for (const struct xoff_param *p = kind.params; p->name; p++) {
        char text[DRAW_TEXT];
        if (p->type == XOFF_P_INT && p->allows_auto)
            snprintf(text, sizeof text, "%s", draw_chance(d, 60) ? "auto" : "2");
        else if (p->type == XOFF_P_INT) /* counts of what there is in the network */
            snprintf(text, sizeof text, "%u", 1 + draw_below(d, 4));
        else if (!draw_chance(d, 20) || !draw_value(d, "topology", p, text))
            continue;
        outline_insert(o, OUTLINE_NONE, "  %s: %s", p->name, text);
    }
    outline_insert(o, OUTLINE_NONE, "  host_link:");
    draw_link(d, o, 4, "topology.host_link");
    if (topology->has_fabric_link) {
        outline_insert(o, OUTLINE_NONE, "  fabric_link:");
        draw_link(d, o, 4, "topology.fabric_link");
    }
}

/* ------------------------------------------------------------------------------ sections */

/* Writes the keys of a switch, or of an entry of `switches`. */
static void draw_switch(struct draw *d, struct outline *o, uint32_t indent, uint32_t percent,
                        const char *fabric)
{
    bool arbitrates = false;
    for (const struct xoff_param *p = section_switch; p->name; p++) {
        char text[DRAW_TEXT];
        const bool is_buffer = !strcmp(p->name, "buffer");
        if (is_buffer && percent == 100) /* grows as far as it must */
            snprintf(text, sizeof text, "%uB", 8000 + draw_below(d, 40000));
        else if (is_buffer || !draw_chance(d, 20) || !draw_value(d, "switch", p, text))
            continue;
        outline_insert(o, OUTLINE_NONE, "%*s%s: %s", (int)indent, "", p->name, text);
    }
    for (const struct switch_role *role = switch_roles; role->key; role++) {
        const bool is_fabric = role->role == KINDS_FABRIC;
        if (role->role == KINDS_ARBITER && !arbitrates)
            continue;
        if (!(is_fabric && fabric) && !draw_chance(d, is_fabric ? percent : percent * 6 / 10))
            continue;
        outline_insert(o, OUTLINE_NONE, "%*s%s:", (int)indent, "", role->key);
        const struct kind kind = draw_kind(d, o, indent + 2, role->role, is_fabric ? fabric : NULL);
        if (is_fabric)
            arbitrates = ((const struct fabric_ops *)kind.ops)->arbitrates;
    }
}

static void draw_transport(struct draw *d, struct outline *o, uint32_t indent)
{
    draw_kind(d, o, indent, KINDS_TRANSPORT, NULL);
    draw_table(d, o, indent, "transport", section_transport, 10);
    for (uint32_t i = 0; xoff_rels[i]; i++) {
        if (!xoff_rels[i]->params || !xoff_rels[i]->params->name || !draw_chance(d, 20))
            continue;
        const uint32_t at = o->n;
        draw_table(d, o, indent + 2, xoff_rels[i]->name, xoff_rels[i]->params, 30);
        if (o->n > at)
            outline_insert(o, at, "%*s%s:", (int)indent, "", xoff_rels[i]->name);
    }
}

static void draw_priorities(struct draw *d, struct outline *o)
{
    outline_insert(o, OUTLINE_NONE, "priorities:");
    for (uint32_t p = 0; p < 8; p++) {
        outline_insert(o, OUTLINE_NONE, "  %u:", p);
        outline_insert(o, OUTLINE_NONE, "    lossless: %s",
                       d->lossless >> p & 1 ? "true" : "false");
        for (const struct xoff_param *key = section_priority; key->name; key++) {
            char text[DRAW_TEXT];
            if (strcmp(key->name, "lossless") && draw_chance(d, 25) &&
                draw_value(d, "priorities.N", key, text))
                outline_insert(o, OUTLINE_NONE, "    %s: %s", key->name, text);
        }
    }
}

/* Writes an entry of a list: the first line of what `draw` has written since becomes its start. */
static void begin_entry(struct outline *o, uint32_t at, uint32_t indent)
{
    if (o->n > at)
        o->lines[at][indent] = '-';
}

static void draw_traffic(struct draw *d, struct outline *o)
{
    const uint32_t n = 1 + draw_below(d, 3);
    outline_insert(o, OUTLINE_NONE, "traffic:");
    for (uint32_t i = 0; i < n; i++) {
        uint32_t at = o->n;
        const struct kind kind = draw_kind(d, o, 4, KINDS_TRAFFIC, NULL);
        const struct traffic_kind *traffic = kind.ops;
        begin_entry(o, at, 2);
        outline_insert(o, OUTLINE_NONE, "    name: t%u", d->n_traffic++);
        /* Most of it is lossless, which the default priority seldom is. */
        if (outline_find(o, at, "priority") == OUTLINE_NONE &&
            outline_find(o, at, "priorities") == OUTLINE_NONE) {
            char text[DRAW_TEXT];
            draw_value(d, "traffic[]", xoff_param_find(kind.params, "priority"), text);
            outline_insert(o, OUTLINE_NONE, "    priority: %s", text);
        }
        if (!traffic->items_key)
            continue;
        outline_insert(o, OUTLINE_NONE, "    %s:", traffic->items_key);
        const uint32_t n_items = 1 + draw_below(d, 5);
        for (uint32_t k = 0; k < n_items; k++) {
            at = o->n;
            draw_table(d, o, 8, "traffic[].list[]", traffic->item_params, 25);
            begin_entry(o, at, 6);
        }
    }
}

static void draw_entries(struct draw *d, struct outline *o, const struct section *s,
                         const char *fabric)
{
    const uint32_t n = 1 + draw_below(d, 2);
    outline_insert(o, OUTLINE_NONE, "%.*s:", (int)strcspn(s->path, "["), s->path);
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t at = o->n;
        draw_table(d, o, 4, s->path, s->table, 30);
        begin_entry(o, at, 2);
        if (s->table == section_match)
            draw_switch(d, o, 4, 30, fabric);
        if (s->table == section_receiver && draw_chance(d, 25)) {
            outline_insert(o, OUTLINE_NONE, "    vms:");
            const uint32_t from = o->n;
            draw_table(d, o, 8, "receivers[].vms[]", section_vm, 0);
            begin_entry(o, from, 6);
        }
        if (s->table == section_receiver && draw_chance(d, 15)) {
            outline_insert(o, OUTLINE_NONE, "    marking:");
            draw_kind(d, o, 6, KINDS_MARKING, NULL);
        }
    }
}

/* Writes what stands under the path of a section. Those that are drawn elsewhere are left out, and
 * so are curves, which are computed of results. */
static void draw_section(struct draw *d, struct outline *o, const struct section *s,
                         const char *fabric)
{
    const bool is_list = strstr(s->path, "[]") != NULL;
    if (s->table == section_switch) {
        outline_insert(o, OUTLINE_NONE, "switch:");
        draw_switch(d, o, 2, 100, fabric);
    } else if (s->table == section_transport) {
        outline_insert(o, OUTLINE_NONE, "transport:");
        draw_transport(d, o, 2);
        if (!draw_chance(d, 30))
            return;
        outline_insert(o, OUTLINE_NONE, "transports:");
        outline_insert(o, OUTLINE_NONE, "  bulk:");
        draw_transport(d, o, 4);
    } else if (s->table == section_priority)
        draw_priorities(d, o);
    else if (s->table == section_host || s->table == section_port) {
        outline_insert(o, OUTLINE_NONE, "%s:", s->path);
        const uint32_t at = o->n;
        draw_table(d, o, 2, s->path, s->table, 12);
        if (s->table == section_host && outline_find(o, at - 1, "timeout") == OUTLINE_NONE)
            outline_insert(o, OUTLINE_NONE, "  timeout: %lldps", (long long)d->stop * 30);
        if (o->n == at)
            outline_remove(o, at - 1);
    } else if (s->table == section_deadlock) {
        outline_insert(o, OUTLINE_NONE, "deadlock:");
        outline_insert(o, OUTLINE_NONE, "  after: %lldps", (long long)d->stop * 10);
        outline_insert(o, OUTLINE_NONE, "  stop: true");
    } else if (s->table == section_measure) {
        if (!draw_chance(d, 15))
            return;
        outline_insert(o, OUTLINE_NONE, "measure:");
        outline_insert(o, OUTLINE_NONE, "  every: %lldps",
                       (long long)d->stop / (1 + draw_below(d, 12)) + 1);
        draw_table(d, o, 2, s->path, s->table + 1, 50);
    } else if (!*s->path)
        draw_table(d, o, 0, "", s->table + 4, 6); /* behind title, seed, stop and drain */
    else if (s->table == section_lldp) {
        if (outline_find(o, OUTLINE_NONE, "dcbx") == OUTLINE_NONE)
            return;
        outline_insert(o, OUTLINE_NONE, "lldp:");
        draw_table(d, o, 2, s->path, s->table, 20);
        if (outline_find(o, o->n - 1, "second") == OUTLINE_NONE)
            outline_insert(o, OUTLINE_NONE, "  second: 1us");
    } else if (is_list && strncmp(s->path, "topology", 8) && s->table != section_vm &&
               draw_chance(d, s->table == section_match || s->table == section_receiver ? 20 : 8))
        draw_entries(d, o, s, fabric);
}

/* ------------------------------------------------------------------------------ mending */

/* Finds the key that an error is about near the line that it points to: on it, below it, or beside
 * it. Sets *block to the line of the block that has the key, or should have it. */
static uint32_t find_blamed(const struct outline *o, uint32_t line, const char *key,
                            uint32_t *block)
{
    *block = line;
    if (outline_has_key(o, line, key))
        return line;
    uint32_t at = outline_find(o, line, key);
    for (uint32_t i = 0; i < 2 && at == OUTLINE_NONE && *block != OUTLINE_NONE; i++) {
        *block = outline_parent(o, *block);
        at = outline_find(o, *block, key);
    }
    return at;
}

/* Reads the value that a message names as the nearest one: "at least 84171B". */
static bool nearest_value(const char *message, char text[DRAW_TEXT])
{
    const char *at = strstr(message, "at least ");
    at = at ? at + 9 : strstr(message, "at most ");
    if (!at)
        return false;
    at += !strncmp(at, "at most ", 8) ? 8 : 0;
    const size_t n = strspn(at, "0123456789.");
    snprintf(text, DRAW_TEXT, "%.*s", (int)(n + strspn(at + n, "kKMGTiBbpsnum")), at);
    return n > 0;
}

/* Finds the parameter of a mechanism whose block begins above line `at`; NULL: there is none. */
static const struct xoff_param *parameter_of(const struct outline *o, uint32_t block,
                                             const char *key, enum kinds_role *role)
{
    struct kind kind;
    const uint32_t at = outline_find(o, block, "kind");
    if (at == OUTLINE_NONE)
        return NULL;
    for (*role = 0; *role < N_KINDS_ROLES; ++*role)
        if (kinds_find(*role, outline_value(o, at), &kind)) {
            const struct xoff_param *p = xoff_param_find(kind.params, key);
            if (p)
                return p;
        }
    return NULL;
}

/* How often each key was refused. */
struct refusals {
    struct {
        char subject[sizeof((struct xoff_err *)0)->subject];
        uint32_t n;
    } of[MAX_MENDS];
};

static uint32_t count_refusal(struct refusals *refusals, const char *subject)
{
    uint32_t i = 0;
    while (i + 1 < MAX_MENDS && refusals->of[i].n && strcmp(refusals->of[i].subject, subject))
        i++;
    snprintf(refusals->of[i].subject, sizeof refusals->of[i].subject, "%s", subject);
    return ++refusals->of[i].n;
}

/* Finds the block of a mechanism, or entry of a list, that a line is in; else the line itself. */
static uint32_t whole_block(const struct outline *o, uint32_t line)
{
    for (uint32_t at = line; at != OUTLINE_NONE; at = outline_parent(o, at))
        if (o->lines[at][outline_indent(o, at)] == '-' ||
            (outline_find(o, at, "kind") != OUTLINE_NONE && outline_indent(o, at)))
            return at;
    return line;
}

/* Removes a block, but not of the topology, which everything else names. An error that only points
 * there, or to the top of the file, is about a combination: some key behind it has to go, first of
 * all a transport that asks for another marking than the rest. */
static void take_out(struct draw *d, struct outline *o, uint32_t at)
{
    const uint32_t first = outline_end(o, outline_find(o, OUTLINE_NONE, "topology"));
    if (at < first) {
        at = first + draw_below(d, o->n - first);
        for (uint32_t i = first; i < o->n; i++)
            if (outline_has_key(o, i, "transport") && outline_indent(o, i))
                at = i;
    }
    outline_remove(o, at);
}

/* Changes the scenario so that what was refused is not there. */
static void mend(struct draw *d, struct outline *o, const struct xoff_err *err,
                 struct refusals *refusals)
{
    const uint32_t line =
        err->line > 0 && (uint32_t)err->line <= o->n ? (uint32_t)err->line - 1 : o->n - 1;
    const char *dot = strrchr(err->subject, '.'), *key = dot ? dot + 1 : err->subject;
    const uint32_t n = count_refusal(refusals, err->subject);
    uint32_t block;
    const uint32_t at = find_blamed(o, line, key, &block);
    char text[DRAW_TEXT];
    enum kinds_role role;
    if (at != OUTLINE_NONE && !strcmp(key, "buffer") && n < 12) {
        if (!nearest_value(err->message, text))
            snprintf(text, sizeof text, "%lldB",
                     2 * strtoll(outline_value(o, at), NULL, 10) + 1000);
        outline_set(o, at, text);
    } else if (n > 4)
        take_out(d, o, whole_block(o, line));
    else if (at != OUTLINE_NONE && nearest_value(err->message, text) &&
             strcmp(text, outline_value(o, at)))
        outline_set(o, at, text);
    else if (at != OUTLINE_NONE)
        take_out(d, o, at);
    else {
        block = whole_block(o, line);
        const struct xoff_param *p = parameter_of(o, block, key, &role);
        const uint32_t kind = p ? outline_find(o, block, "kind") : OUTLINE_NONE;
        if (p && (nearest_value(err->message, text) || draw_value(d, kinds_path(role), p, text)))
            outline_insert(o, kind + 1, "%*s%s: %s", (int)outline_indent(o, block) + 2, "", key,
                           text);
        else
            take_out(d, o, block);
    }
}

static int try_to_build(const struct outline *o, struct xoff_err *err)
{
    char *text = outline_text(o);
    struct scenario *scenario = NULL;
    struct built *built = NULL;
    const struct build_options options = {.n_threads = 1, .cell_bound = XOFF_PARAM_AUTO};
    int rc = scenario_read_text("random", text, strlen(text), NULL, 0, &scenario, err);
    if (!rc) {
        rc = build_create(scenario->plans[0], &options, &built, err);
        if (!rc)
            build_destroy(built);
        scenario_destroy(scenario);
    }
    free(text);
    return rc;
}

/* Reads the topology alone, since all that follows names its nodes. */
static int read_topology(const struct outline *o, struct topo *topo, struct xoff_err *err)
{
    char *text = outline_text(o);
    struct scenario *scenario = NULL;
    int rc = scenario_read_text("random", text, strlen(text), NULL, 0, &scenario, err);
    if (!rc) {
        rc = topology_build(scenario->plans[0], topo, err);
        scenario_destroy(scenario);
    }
    free(text);
    return rc;
}

char *random_scenario(uint64_t seed, const char *fabric, struct xoff_err *err)
{
    struct draw d = {.max_rate = 100 * XOFF_GBPS, .stop = 5 * XOFF_US};
    struct outline o = {0};
    struct topo topo = {0};
    xoff_rng_init(&d.rng, seed, 0, 77);
    for (bool is_good = false; !is_good;) {
        outline_fini(&o);
        topo_fini(&topo);
        o = (struct outline){0};
        topo = (struct topo){0};
        draw_topology(&d, &o);
        is_good = !read_topology(&o, &topo, err) && topo.n_hosts >= 2 && topo.n_hosts <= MAX_HOSTS;
    }
    d.topo = &topo;
    d.max_rate = 0;
    for (uint32_t i = 0; i < topo.n_links; i++)
        if (topo.links[i].rate_bps > d.max_rate)
            d.max_rate = topo.links[i].rate_bps;
    do
        d.lossless |= (uint8_t)(1u << draw_below(&d, 8));
    while (draw_chance(&d, 30));
    if (draw_chance(&d, 3))
        d.lossless = 0xff;
    /* About 150 KB from each host at the highest rate. */
    d.stop = (xoff_time)(150000 * 8 * 1e12 / (double)d.max_rate);
    outline_insert(&o, 0, "seed: %llu", (unsigned long long)seed);
    outline_insert(&o, 1, "stop: %lldps", (long long)d.stop);
    outline_insert(&o, 2, "drain: %lldps", (long long)d.stop * 200);
    draw_traffic(&d, &o);
    for (const struct section *s = sections; s->path; s++)
        draw_section(&d, &o, s, fabric);
    struct refusals refusals = {0};
    *err = (struct xoff_err){0};
    for (uint32_t round = 0; try_to_build(&o, err) && round < MAX_MENDS; round++) {
        if (random_scenario_refused)
            random_scenario_refused(err);
        mend(&d, &o, err, &refusals);
        if (outline_find(&o, OUTLINE_NONE, "traffic") == OUTLINE_NONE) { /* all had to go */
            outline_insert(&o, OUTLINE_NONE, "traffic:");
            outline_insert(&o, OUTLINE_NONE, "  - kind: all-to-all");
            outline_insert(&o, OUTLINE_NONE, "    size: 5000B");
        }
        *err = (struct xoff_err){0};
    }
    topo_fini(&topo);
    char *text = outline_text(&o);
    outline_fini(&o);
    return text;
}
