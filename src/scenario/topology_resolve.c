/* Resolves names in a plan to indices in its network: changes of links, stated routes, host sets.
 *
 * A neighbour named in `via` stands for all parallel links to it, "spine1#1" for the second only.
 * When several statements are wrong, the earliest by time is reported, not the first in the file.
 */
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scenario/topology_parts.h"

static int resolve_changes(const struct plan *plan, struct topo *topo, struct xoff_err *err);
static int resolve_routes(const struct plan *plan, struct topo *topo, struct xoff_err *err);

int topology_resolve(const struct plan *plan, struct topo *topo, struct xoff_err *err)
{
    const int rc = resolve_changes(plan, topo, err);
    return rc ? rc : resolve_routes(plan, topo, err);
}

int topology_located(const struct plan *plan, const struct plan_place *place, struct xoff_err *err,
                     int rc)
{
    if (rc && err) {
        err->line = place->line;
        err->column = place->column;
        snprintf(err->file, sizeof err->file, "%s", plan->file ? plan->file : "");
    }
    return rc;
}

int topology_refuse(const struct plan *plan, const struct plan_place *place, struct xoff_err *err,
                    enum xoff_err_code code, const char *subject, const char *value,
                    const char *message)
{
    return topology_located(plan, place, err, xoff_err_set(err, code, subject, value, message));
}

static int refuse_memory(const struct plan *plan, struct xoff_err *err)
{
    return topology_refuse(plan, &plan->topology.place, err, XOFF_E_NO_MEMORY, "topology", NULL,
                           "not enough memory for this network");
}

/* Copies the next item of a comma-separated list, without the blanks around it, to `item`
 * (XOFF_PARAM_TEXT). Returns false at the end; an empty item is returned as such. */
static bool next_item(const char **list, char *item)
{
    if (!*list)
        return false;
    const char *p = *list + strspn(*list, " \t");
    size_t length = strcspn(p, ",");
    *list = p[length] ? p + length + 1 : NULL;
    while (length && (p[length - 1] == ' ' || p[length - 1] == '\t'))
        length--;
    snprintf(item, XOFF_PARAM_TEXT, "%.*s", (int)length, p);
    return true;
}

/* Marks the hosts of nodes from..to; returns how many they are. */
static uint32_t mark_hosts(const struct topo *topo, uint32_t from, uint32_t to, uint32_t *marks)
{
    uint32_t n = 0;
    for (uint32_t node = from; node <= to; node++) {
        if (node < topo->n_hosts) {
            marks[node] = 1;
            n++;
            continue;
        }
        for (uint32_t port = 0; port < topo->nodes[node].n_ports; port++) {
            const uint32_t peer = topo_peer(topo, node, port);
            if (peer < topo->n_hosts) {
                marks[peer] = 1;
                n++;
            }
        }
    }
    return n;
}

/* Marks one item of a host set. `item` is cut at a range's dots and put together again. */
static int mark_item(const struct topo *topo, char *item, uint32_t *marks, struct xoff_err *err)
{
    if (*item == '\0')
        return xoff_err_set(err, XOFF_E_SYNTAX, NULL, item,
                            "a host is missing here; accepted are all, h3, h0..h15, leaf0 (its "
                            "hosts) and lists of these with commas");
    if (strcmp(item, "all") == 0) {
        mark_hosts(topo, 0, topo->n_hosts - 1, marks);
        return 0;
    }
    char *dots = strstr(item, "..");
    if (dots)
        *dots = '\0';
    const uint32_t from = topo_find(topo, item);
    const uint32_t to = dots ? topo_find(topo, dots + 2) : from;
    const char *unknown = from == TOPO_NONE ? item : dots ? dots + 2 : item;
    if (from == TOPO_NONE || to == TOPO_NONE)
        return xoff_err_set(err, XOFF_E_UNKNOWN, NULL, unknown,
                            "no such host or switch; accepted are all, h3, h0..h15, leaf0 (its "
                            "hosts) and lists of these with commas");
    if (dots)
        *dots = '.';
    if (topo->nodes[from].kind != topo->nodes[to].kind || from > to)
        return xoff_err_set(err, XOFF_E_RANGE, NULL, item,
                            "a range goes upwards, from a host to a host or a switch to a switch");
    if (mark_hosts(topo, from, to, marks) == 0)
        return xoff_err_set(err, XOFF_E_RANGE, NULL, item, "no hosts are linked to it");
    return 0;
}

int topology_hosts(const struct topo *topo, const char *set, uint32_t *hosts, uint32_t *n_hosts,
                   struct xoff_err *err)
{
    char item[XOFF_PARAM_TEXT];
    *n_hosts = 0;
    /* The caller's array holds marks first. Indices then replace them from the front and never
     * overtake the marks still to be read. */
    memset(hosts, 0, topo->n_hosts * sizeof *hosts);
    while (next_item(&set, item)) {
        const int rc = mark_item(topo, item, hosts, err);
        if (rc)
            return rc;
    }
    for (uint32_t host = 0; host < topo->n_hosts; host++) {
        if (hosts[host])
            hosts[(*n_hosts)++] = host;
    }
    return 0;
}

/* Finds the switches of one item by name, from *from to *to; TOPO_NONE: there are none. */
static void find_switches(const struct topo *topo, char *item, uint32_t *from, uint32_t *to)
{
    *from = topo->n_hosts;
    *to = topo->n_nodes - 1;
    if (strcmp(item, "all") == 0 || strpbrk(item, "*?"))
        return;
    char *dots = strstr(item, "..");
    if (dots)
        *dots = '\0';
    *from = topo_find(topo, item);
    *to = dots ? topo_find(topo, dots + 2) : *from;
    if (dots)
        *dots = '.';
}

int topology_switches(const struct topo *topo, const char *set, uint8_t kind, uint8_t *kind_of,
                      struct xoff_err *err)
{
    char item[XOFF_PARAM_TEXT];
    while (next_item(&set, item)) {
        uint32_t from, to, n = 0;
        find_switches(topo, item, &from, &to);
        const bool is_pattern = strpbrk(item, "*?") != NULL;
        for (uint32_t node = from; node <= to && to != TOPO_NONE && from >= topo->n_hosts; node++) {
            if (is_pattern && fnmatch(item, topo->nodes[node].name, FNM_NOESCAPE))
                continue;
            kind_of[node - topo->n_hosts] = kind;
            n++;
        }
        if (!n)
            return xoff_err_set(
                err, XOFF_E_UNKNOWN, "match", item,
                "no switch is called so; accepted are leaf0, leaf0..leaf3, patterns "
                "with * and ? such as spine*, all, and lists of these with commas");
    }
    return 0;
}

/* Orders statements by time, those of equal times as they are written. */
struct ordered {
    int64_t at;
    uint32_t index;
};

static int compare_ordered(const void *a, const void *b)
{
    const struct ordered *x = a, *y = b;
    if (x->at != y->at)
        return x->at < y->at ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

static int add_change(const struct plan *plan, const struct plan_change *change, struct topo *topo,
                      struct xoff_err *err)
{
    const bool has_rate = change->rate_bps != XOFF_PARAM_AUTO;
    const bool has_delay = change->delay != XOFF_PARAM_AUTO;
    struct topo_change made = {.at = change->at, .link = topo_find_link(topo, change->link)};
    if (made.link == TOPO_NONE)
        return topology_refuse(
            plan, &change->place, err, XOFF_E_UNKNOWN, "links.link", change->link,
            "no such link; a link is named by its nodes, as leaf0-spine1, and the "
            "second of parallel ones leaf0-spine1#1");
    if (change->fail && change->repair)
        return topology_refuse(plan, &change->place, err, XOFF_E_CONFLICT, "links.fail",
                               change->link, "fail and repair exclude each other");
    if (!has_rate && !has_delay && !change->fail && !change->repair)
        return topology_refuse(plan, &change->place, err, XOFF_E_MISSING, "links", change->link,
                               "nothing changes; give rate, delay, fail: true or repair: true");
    if (has_rate && change->rate_bps <= 0)
        return topology_refuse(plan, &change->place, err, XOFF_E_RANGE, "links.rate", change->link,
                               "a link's rate is above 0; a link that carries nothing has failed");
    if (has_delay && (change->delay < 0 || change->delay > XOFF_S))
        return topology_refuse(plan, &change->place, err, XOFF_E_RANGE, "links.delay", change->link,
                               "a link's delay is from 0s to 1s");
    if (has_rate) {
        made.kind = TOPO_CHANGE_RATE;
        made.rate_bps = (xoff_rate)change->rate_bps;
        topo->changes[topo->n_changes++] = made;
        made.rate_bps = 0;
    }
    if (has_delay) {
        made.kind = TOPO_CHANGE_DELAY;
        made.delay = change->delay;
        topo->changes[topo->n_changes++] = made;
        made.delay = 0;
    }
    if (change->fail || change->repair) {
        made.kind = change->fail ? TOPO_CHANGE_FAIL : TOPO_CHANGE_REPAIR;
        topo->changes[topo->n_changes++] = made;
    }
    return 0;
}

static int resolve_changes(const struct plan *plan, struct topo *topo, struct xoff_err *err)
{
    if (plan->n_changes == 0)
        return 0;
    struct ordered *order = calloc(plan->n_changes, sizeof *order);
    topo->changes = calloc((size_t)plan->n_changes * 3, sizeof *topo->changes);
    int rc = order && topo->changes ? 0 : refuse_memory(plan, err);
    for (uint32_t i = 0; rc == 0 && i < plan->n_changes; i++)
        order[i] = (struct ordered){plan->changes[i].at, i};
    if (rc == 0)
        qsort(order, plan->n_changes, sizeof *order, compare_ordered);
    for (uint32_t i = 0; rc == 0 && i < plan->n_changes; i++)
        rc = add_change(plan, &plan->changes[order[i].index], topo, err);
    free(order);
    return rc;
}

static int refuse_via(const struct plan *plan, const struct plan_route *route, const char *name,
                      struct xoff_err *err)
{
    topology_refuse(plan, &route->place, err, XOFF_E_UNKNOWN, "routes.via", name, "not linked to ");
    xoff_err_add(err, route->on);
    xoff_err_add(err, "; via takes neighbours of it, as spine1 or, of parallel links, spine1#1");
    return -XOFF_E_UNKNOWN;
}

/* Marks the ports of `node` that lead to the neighbour `item` ("spine1", "spine1#1"). */
static bool mark_ports(const struct topo *topo, uint32_t node, char *item, bool *marks)
{
    uint32_t n_found = 0, n_marked = 0;
    char *number = strrchr(item, '#');
    if (number)
        *number = '\0';
    const uint32_t peer = topo_find(topo, item);
    if (number)
        *number = '#';
    for (uint32_t port = 0; port < topo->nodes[node].n_ports; port++) {
        if (topo_peer(topo, node, port) != peer)
            continue;
        char text[16];
        snprintf(text, sizeof text, "#%u", n_found++);
        if (!number || strcmp(number, text) == 0) {
            marks[port] = true;
            n_marked++;
        }
    }
    return n_marked > 0;
}

/* Resolves the switch and the ports of a statement; the caller fills in `to`. */
static int resolve_ports(const struct plan *plan, const struct plan_route *route,
                         const struct topo *topo, struct topo_route *made, struct xoff_err *err)
{
    bool marks[TOPO_MAX_PORTS] = {false};
    char item[XOFF_PARAM_TEXT];
    made->node = topo_find(topo, route->on);
    if (made->node == TOPO_NONE || made->node < topo->n_hosts)
        return topology_refuse(plan, &route->place, err, XOFF_E_UNKNOWN, "routes.on", route->on,
                               made->node == TOPO_NONE ? "no such switch"
                                                       : "a host does not forward; name a switch");
    const char *list = route->via[strspn(route->via, " \t")] ? route->via : NULL;
    while (next_item(&list, item)) {
        if (!mark_ports(topo, made->node, item, marks))
            return refuse_via(plan, route, item, err);
    }
    for (uint32_t port = 0; port < topo->nodes[made->node].n_ports; port++) {
        if (!marks[port])
            continue;
        if (made->n_next == TOPO_MAX_NEXT)
            return topology_refuse(plan, &route->place, err, XOFF_E_RANGE, "routes.via", route->via,
                                   "a stated route has at most 8 links");
        made->next[made->n_next++] = port;
    }
    return 0;
}

/* Makes room for `n` more by doubling: a statement for all hosts makes an entry for each. */
static bool reserve_routes(struct topo *topo, uint32_t n, size_t *capacity)
{
    const size_t needed = (size_t)topo->n_routes + n;
    if (needed <= *capacity)
        return true;
    const size_t grown = needed > 2 * *capacity ? needed : 2 * *capacity;
    struct topo_route *routes =
        needed < UINT32_MAX ? realloc(topo->routes, grown * sizeof *routes) : NULL;
    if (!routes)
        return false;
    topo->routes = routes;
    *capacity = grown;
    return true;
}

static int add_route(const struct plan *plan, const struct plan_route *route, struct topo *topo,
                     uint32_t *hosts, size_t *capacity, struct xoff_err *err)
{
    struct topo_route made = {.at = route->at};
    uint32_t n_hosts;
    int rc = resolve_ports(plan, route, topo, &made, err);
    if (rc)
        return rc;
    rc = topology_hosts(topo, route->to, hosts, &n_hosts, err);
    if (rc) {
        if (err)
            snprintf(err->subject, sizeof err->subject, "routes.to");
        return topology_located(plan, &route->place, err, rc);
    }
    if (!reserve_routes(topo, n_hosts, capacity))
        return refuse_memory(plan, err);
    for (uint32_t i = 0; i < n_hosts; i++) {
        made.to = hosts[i];
        for (uint32_t j = 0; j < made.n_next; j++) {
            const uint32_t peer = topo_peer(topo, made.node, made.next[j]);
            if (peer < topo->n_hosts && peer != made.to)
                return topology_refuse(plan, &route->place, err, XOFF_E_CONFLICT, "routes.via",
                                       topo->nodes[peer].name,
                                       "a host does not forward frames for another host");
        }
        topo->routes[topo->n_routes++] = made;
    }
    return 0;
}

static int resolve_routes(const struct plan *plan, struct topo *topo, struct xoff_err *err)
{
    if (plan->n_routes == 0)
        return 0;
    size_t capacity = 0;
    struct ordered *order = calloc(plan->n_routes, sizeof *order);
    uint32_t *hosts = calloc(topo->n_hosts, sizeof *hosts);
    int rc = order && hosts ? 0 : refuse_memory(plan, err);
    for (uint32_t i = 0; rc == 0 && i < plan->n_routes; i++)
        order[i] = (struct ordered){plan->routes[i].at, i};
    if (rc == 0)
        qsort(order, plan->n_routes, sizeof *order, compare_ordered);
    for (uint32_t i = 0; rc == 0 && i < plan->n_routes; i++)
        rc = add_route(plan, &plan->routes[order[i].index], topo, hosts, &capacity, err);
    free(order);
    free(hosts);
    return rc;
}
