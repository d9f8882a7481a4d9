/* What the configuration of a run says of its receivers, link changes, routes and traffic.
 *
 * The text is what plan_print() wrote: one section per top-level key, an entry per "-", one key per
 * line or all of them in braces. Only this form is read. What is missing here makes sentences less
 * precise, never wrong: the facts come from the tables.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <xoff/units.h>

#include "explain/parts.h"

/* Copies the value of a key on this line. Returns whether the key is there. */
static bool value_of(const char *line, size_t length, const char *key, char *value, size_t size)
{
    const size_t n = strlen(key);
    for (size_t i = 0; i + n + 1 < length; i++) {
        if (strncmp(line + i, key, n) || line[i + n] != ':' || (i && !strchr(" {", line[i - 1])))
            continue;
        const bool is_in_braces = memchr(line, '{', i) != NULL;
        const char *from = line + i + n + 1, *end = line + length;
        while (from < end && *from == ' ')
            from++;
        const bool is_quoted = from < end && *from == '"';
        const char *to = from += is_quoted;
        while (to < end && (is_quoted ? *to != '"' : !(is_in_braces && strchr(",}", *to))))
            to++;
        snprintf(value, size, "%.*s", (int)(to - from), from);
        return true;
    }
    return false;
}

static void read_receiver(struct explanation *e, const char *line, size_t length, bool is_first)
{
    if (is_first) {
        e->receivers = run_grown(e->receivers, e->n_receivers, sizeof *e->receivers);
        e->receivers[e->n_receivers++] = (struct receiver){0};
    }
    if (!e->n_receivers)
        return;
    struct receiver *r = &e->receivers[e->n_receivers - 1];
    if (!*r->hosts)
        value_of(line, length, "host", r->hosts, sizeof r->hosts);
    if (!*r->rate) /* machines behind it have rates, too */
        value_of(line, length, "rate", r->rate, sizeof r->rate);
}

static uint32_t node_of(const struct explanation *e, const char *name)
{
    for (uint32_t i = 0; i < e->run.n_nodes; i++)
        if (!strcmp(e->run.nodes[i].name, name))
            return i;
    return NONE;
}

/* "leaf0-spine1#2": names may have dashes of their own. */
static bool split_link(const struct explanation *e, char *link, struct link_change *change)
{
    link[strcspn(link, "#")] = '\0';
    for (char *dash = strchr(link, '-'); dash; dash = strchr(dash + 1, '-')) {
        snprintf(change->a, sizeof change->a, "%.*s", (int)(dash - link), link);
        snprintf(change->b, sizeof change->b, "%s", dash + 1);
        if (node_of(e, change->a) != NONE && node_of(e, change->b) != NONE)
            return true;
    }
    return false;
}

static void read_change(struct explanation *e, const char *line, size_t length)
{
    char link[256], text[64];
    struct link_change change = {0};
    xoff_rate rate;
    if (!value_of(line, length, "link", link, sizeof link) || !split_link(e, link, &change))
        return;
    if (value_of(line, length, "at", text, sizeof text))
        xoff_parse_time(text, &change.at_ps);
    if (value_of(line, length, "rate", text, sizeof text) && !xoff_parse_rate(text, &rate))
        change.rate_bps = (double)rate;
    change.fails = value_of(line, length, "fail", text, sizeof text) && !strcmp(text, "true");
    change.is_repaired =
        value_of(line, length, "repair", text, sizeof text) && !strcmp(text, "true");
    e->changes = run_grown(e->changes, e->n_changes, sizeof *e->changes);
    e->changes[e->n_changes++] = change;
}

static void read_route(struct explanation *e, const char *line, size_t length)
{
    char on[256], to[256], via[256], at[64] = "";
    int64_t at_ps = 0;
    const bool is_whole = value_of(line, length, "on", on, sizeof on) &&
                          value_of(line, length, "to", to, sizeof to) &&
                          value_of(line, length, "via", via, sizeof via);
    const uint32_t node = is_whole ? node_of(e, on) : NONE;
    if (value_of(line, length, "at", at, sizeof at))
        xoff_parse_time(at, &at_ps);
    e->is_rerouted |= at_ps > 0 || node == NONE;
    if (at_ps > 0 || node == NONE)
        return;
    struct stated_route route = {.is_to = calloc(e->run.n_nodes + 1, sizeof *route.is_to),
                                 .before = e->last_route[node]};
    XOFF_ASSERT(route.is_to);
    for (uint32_t i = 0; i < e->run.n_nodes; i++)
        route.is_to[i] = e->run.nodes[i].is_host && evidence_is_host(to, e->run.nodes[i].name);
    for (char *rest = via, *part; (part = strsep(&rest, ", "));)
        if (node_of(e, part) != NONE && route.n_via < sizeof route.via / sizeof *route.via)
            route.via[route.n_via++] = node_of(e, part);
    e->last_route[node] = e->n_routes;
    e->routes = run_grown(e->routes, e->n_routes, sizeof *e->routes);
    e->routes[e->n_routes++] = route;
}

void config_forget(struct explanation *e)
{
    for (uint32_t i = 0; i < e->n_routes; i++)
        free(e->routes[i].is_to);
    free(e->routes);
    free(e->last_route);
}

static void read_entry(struct explanation *e, const char *line, size_t length)
{
    static const char *const collectives[] = {"allreduce", "all-to-all", "mpi-exchange"};
    char kind[64];
    if (value_of(line, length, "kind", kind, sizeof kind) && memchr(line, '-', length)) {
        e->entries = run_grown(e->entries, e->n_entries, sizeof *e->entries);
        struct entry *entry = &e->entries[e->n_entries++];
        *entry = (struct entry){0};
        for (uint32_t i = 0; i < sizeof collectives / sizeof *collectives; i++)
            entry->is_collective |= !strcmp(kind, collectives[i]);
    }
    if (e->n_entries && !*e->entries[e->n_entries - 1].name)
        value_of(line, length, "name", e->entries[e->n_entries - 1].name, sizeof e->entries->name);
}

static void read_line(struct explanation *e, const char *section, const char *line, size_t length)
{
    const size_t indent = strspn(line, " ");
    if (!strcmp(section, "receivers"))
        read_receiver(e, line, length, indent == 2 && line[2] == '-');
    else if (!strcmp(section, "links"))
        read_change(e, line, length);
    else if (!strcmp(section, "routes"))
        read_route(e, line, length);
    else if (!strcmp(section, "traffic") && indent <= 4)
        read_entry(e, line, length);
}

void config_read(struct explanation *e, const char *text)
{
    char section[64] = "";
    e->last_route = malloc((e->run.n_nodes + 1) * sizeof *e->last_route);
    XOFF_ASSERT(e->last_route);
    memset(e->last_route, 0xff, (e->run.n_nodes + 1) * sizeof *e->last_route);
    while (*text) {
        const size_t length = strcspn(text, "\n");
        if (length && *text != ' ')
            snprintf(section, sizeof section, "%.*s", (int)strcspn(text, ":\n"), text);
        else if (length)
            read_line(e, section, text, length);
        text += length + (text[length] != '\0');
    }
    /* A link counts with the lowest rate that it had. */
    for (uint32_t i = 0; i < e->run.n_ports; i++) {
        const struct run_port *port = &e->run.ports[i];
        const char *here = run_node_name(&e->run, port->node);
        const char *there = run_node_name(&e->run, port->peer_node);
        e->slowest_bps[i] = port->rate_bps;
        for (uint32_t k = 0; k < e->n_changes; k++) {
            const struct link_change *c = &e->changes[k];
            const bool is_it = (!strcmp(c->a, here) && !strcmp(c->b, there)) ||
                               (!strcmp(c->b, here) && !strcmp(c->a, there));
            if (is_it && c->rate_bps > 0 && c->rate_bps < e->slowest_bps[i])
                e->slowest_bps[i] = c->rate_bps;
        }
    }
}

/* A key that has keys of its own is compared by its kind: "switch.mmu=dsh" looks for
 * "switch:", "  mmu:", "    kind: dsh". */
bool config_is(const char *text, const char *change)
{
    const char *key = change, *equals = strchr(change, '=');
    const char *value = equals + 1 + (strncmp(equals + 1, "{kind: ", 7) ? 0 : 7);
    const size_t n_value = value == equals + 1 ? strlen(value) : strcspn(value, ",}");
    size_t n_key = strcspn(key, ".="), depth = 0;
    bool is_kind = false;
    for (; *text; text += strcspn(text, "\n"), text += *text != '\0') {
        const char *line = text + strspn(text, " ");
        if ((size_t)(line - text) < 2 * depth)
            return false;
        if ((size_t)(line - text) > 2 * depth || strncmp(line, key, n_key) || line[n_key] != ':')
            continue;
        const char *found = line + n_key + 1 + strspn(line + n_key + 1, " ");
        const size_t n_found = strcspn(found, "\n");
        if (key[n_key] != '.' && (n_found || is_kind))
            return n_found == n_value && !strncmp(found, value, n_value);
        is_kind = key[n_key] != '.';
        key = is_kind ? "kind" : key + n_key + 1;
        n_key = strcspn(key, ".=");
        depth++;
    }
    return false;
}
