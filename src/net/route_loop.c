/* Do these routes send frames in a circle?
 *
 * Shortest paths never do: each hop is nearer to the destination. Only routes stated by hand can,
 * so only hosts that a statement is about are followed, from every switch with another host, depth
 * first over all equal-cost ports. A switch that is met again while the way to it is still open
 * closes a loop.
 */
#include <stdlib.h>
#include <string.h>

#include "net/route.h"

enum { UNSEEN, OPEN, DONE };

/* The way from a sender to where the search is. */
struct way {
    const struct topo *topo;
    const struct routes *routes;
    uint8_t *seen;                 /* by switch */
    struct route_channel *channel; /* switches of the way, and the port that each leaves by */
    uint32_t *n_tried;             /* candidates of each that have been followed */
    uint32_t length;
};

static bool is_stated(const struct routes *r, uint32_t host)
{
    for (uint32_t sw = 0; sw < r->n_switches; sw++)
        if (r->switches[sw].group_of_host && r->switches[sw].group_of_host[host] != ROUTE_NONE)
            return true;
    return false;
}

static void enter(struct way *way, uint32_t node)
{
    way->seen[node - way->routes->n_hosts] = OPEN;
    way->channel[way->length].node = node;
    way->n_tried[way->length++] = 0;
}

/* Takes the next step. Returns the length of the loop at the end of the way that it closes, or 0.
 */
static uint32_t step(struct way *way, uint32_t host)
{
    const uint16_t *ports = NULL;
    struct route_channel *last = &way->channel[way->length - 1];
    const uint32_t n = routes_candidates(way->routes, last->node, host, &ports);
    if (way->n_tried[way->length - 1] == n) {
        way->seen[last->node - way->routes->n_hosts] = DONE;
        way->length--;
        return 0;
    }
    last->port = ports[way->n_tried[way->length - 1]++];
    const uint32_t next = topo_peer(way->topo, last->node, last->port);
    if (next < way->routes->n_hosts || way->seen[next - way->routes->n_hosts] == DONE)
        return 0;
    if (way->seen[next - way->routes->n_hosts] == UNSEEN) {
        enter(way, next);
        return 0;
    }
    uint32_t first = way->length - 1;
    while (way->channel[first].node != next)
        first--;
    return way->length - first;
}

/* Follows frames to `host` from all other hosts. */
static uint32_t follow(struct way *way, uint32_t host)
{
    const struct routes *r = way->routes;
    memset(way->seen, UNSEEN, r->n_switches);
    for (uint32_t from = 0; from < r->n_hosts; from++) {
        const uint32_t edge = topo_peer(way->topo, from, 0);
        if (from == host || edge < r->n_hosts || way->seen[edge - r->n_hosts] != UNSEEN)
            continue;
        enter(way, edge);
        while (way->length) {
            const uint32_t n = step(way, host);
            if (n)
                return n;
        }
    }
    return 0;
}

uint32_t routes_find_loop(const struct topo *topo, const struct routes *routes,
                          struct route_channel *loop, uint32_t capacity, uint32_t *host)
{
    const size_t n_switches = routes->n_switches + 1;
    struct way way = {.topo = topo,
                      .routes = routes,
                      .seen = calloc(n_switches, sizeof *way.seen),
                      .channel = calloc(n_switches, sizeof *way.channel),
                      .n_tried = calloc(n_switches, sizeof *way.n_tried)};
    XOFF_ASSERT(way.seen && way.channel && way.n_tried);
    uint32_t n = 0;
    for (*host = 0; *host < routes->n_hosts; ++*host)
        if (is_stated(routes, *host) && (n = follow(&way, *host)))
            break;
    for (uint32_t i = 0; i < n && i < capacity; i++)
        loop[i] = way.channel[way.length - n + i];
    free(way.seen);
    free(way.channel);
    free(way.n_tried);
    return n;
}

xoff_time routes_next_change(const struct topo *topo, xoff_time at)
{
    xoff_time next = XOFF_NEVER;
    for (uint32_t i = 0; i < topo->n_routes; i++)
        if (topo->routes[i].at > at)
            next = xoff_time_min(next, topo->routes[i].at);
    for (uint32_t i = 0; i < topo->n_changes; i++) {
        const xoff_time known = xoff_time_after(topo->changes[i].at, topo->reroute_after);
        if (known > at)
            next = xoff_time_min(next, known);
    }
    return next;
}
