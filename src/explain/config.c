/* What the configuration of a run says of its receivers, link changes and traffic.
 *
 * The text is what plan_print() wrote: one section per top-level key, an entry per "-", one key per
 * line or all of them in braces. Only this form is read. What is missing here makes sentences less
 * precise, never wrong: the facts come from the tables.
 */
#include <stdio.h>
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
        while (from < end && (*from == ' ' || *from == '"'))
            from++;
        const char *to = from;
        while (to < end && *to != '"' && !(is_in_braces && (*to == ',' || *to == '}')))
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

static bool is_node(const struct explanation *e, const char *name)
{
    for (uint32_t i = 0; i < e->run.n_nodes; i++)
        if (!strcmp(e->run.nodes[i].name, name))
            return true;
    return false;
}

/* "leaf0-spine1#2": names may have dashes of their own. */
static bool split_link(const struct explanation *e, char *link, struct link_change *change)
{
    link[strcspn(link, "#")] = '\0';
    for (char *dash = strchr(link, '-'); dash; dash = strchr(dash + 1, '-')) {
        snprintf(change->a, sizeof change->a, "%.*s", (int)(dash - link), link);
        snprintf(change->b, sizeof change->b, "%s", dash + 1);
        if (is_node(e, change->a) && is_node(e, change->b))
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
        e->has_hand_routes = true;
    else if (!strcmp(section, "traffic") && indent <= 4)
        read_entry(e, line, length);
}

void config_read(struct explanation *e, const char *text)
{
    char section[64] = "";
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
