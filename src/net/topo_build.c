/* Building blocks of the graph: names to indices, and port numbers from links.
 *
 * Port numbers follow the order of links: the n-th link that touches a node is its port n-1. The
 * ports of all nodes lie in one array, node after node.
 */
#include <stdlib.h>
#include <string.h>

#include "net/topo.h"

/* "leaf0-spine1#2": two names, the separators and up to ten digits. */
#define LINK_NAME (2 * TOPO_NAME + 12)

/* Returns the decimal number that `name` ends in; TOPO_NONE: none, or out of range. */
static uint32_t trailing_number(const char *name)
{
    const char *p = name + strlen(name);
    while (p > name && p[-1] >= '0' && p[-1] <= '9')
        p--;
    if (*p == '\0')
        return TOPO_NONE;
    uint64_t n = 0;
    for (; *p; p++) {
        n = n * 10 + (uint64_t)(*p - '0');
        if (n >= TOPO_NONE)
            return TOPO_NONE;
    }
    return (uint32_t)n;
}

uint32_t topo_find(const struct topo *topo, const char *name)
{
    /* Host hN of every generated network is node N, so the most used names need no search. */
    const uint32_t guess = trailing_number(name);
    if (guess < topo->n_nodes && strcmp(topo->nodes[guess].name, name) == 0)
        return guess;
    for (uint32_t i = topo->n_hosts; i < topo->n_nodes; i++) {
        if (strcmp(topo->nodes[i].name, name) == 0)
            return i;
    }
    for (uint32_t i = 0; i < topo->n_hosts; i++) {
        if (strcmp(topo->nodes[i].name, name) == 0)
            return i;
    }
    return TOPO_NONE;
}

/* Returns link number `which` (from 0) between two nodes, in order of links. */
static uint32_t link_between(const struct topo *topo, uint32_t a, uint32_t b, uint32_t which)
{
    for (uint32_t port = 0; port < topo->nodes[a].n_ports; port++) {
        if (topo_peer(topo, a, port) == b && which-- == 0)
            return topo->ports[topo->nodes[a].first_port + port].link;
    }
    return TOPO_NONE;
}

uint32_t topo_find_link(const struct topo *topo, const char *name)
{
    char text[LINK_NAME];
    const size_t length = strlen(name);
    if (length >= sizeof text)
        return TOPO_NONE;
    memcpy(text, name, length + 1);

    uint32_t which = 0;
    char *number = strrchr(text, '#');
    if (number) {
        which = trailing_number(number);
        if (which == TOPO_NONE || strspn(number + 1, "0123456789") != strlen(number + 1))
            return TOPO_NONE;
        *number = '\0';
    }
    /* Node names may contain a '-' themselves: the leftmost cut that names a link is taken. */
    for (char *cut = strchr(text, '-'); cut; cut = strchr(cut + 1, '-')) {
        *cut = '\0';
        const uint32_t a = topo_find(topo, text);
        const uint32_t b = topo_find(topo, cut + 1);
        *cut = '-';
        if (a == TOPO_NONE || b == TOPO_NONE)
            continue;
        const uint32_t link = link_between(topo, a, b, which);
        if (link != TOPO_NONE)
            return link;
    }
    return TOPO_NONE;
}

static int check_node(const struct topo *topo, uint32_t node, struct xoff_err *err)
{
    const struct topo_node *n = &topo->nodes[node];
    if (node < topo->n_hosts && n->n_ports != 1) {
        xoff_err_set(err, XOFF_E_CONFLICT, "topology", n->name,
                     "a host has exactly one link, not ");
        xoff_err_add_int(err, n->n_ports);
        return -XOFF_E_CONFLICT;
    }
    if (n->n_ports > TOPO_MAX_PORTS) {
        xoff_err_set(err, XOFF_E_RANGE, "topology", n->name, "a node has at most ");
        xoff_err_add_int(err, TOPO_MAX_PORTS);
        xoff_err_add(err, " ports, not ");
        xoff_err_add_int(err, n->n_ports);
        return -XOFF_E_RANGE;
    }
    return 0;
}

/* The number of a name such as n7, as node 7 of the ns-3 RDMA family's files is called; TOPO_NONE:
 * another name. */
static uint32_t id_of(const char *name)
{
    const bool is_id = name[0] == 'n' && strspn(name + 1, "0123456789") == strlen(name + 1) &&
                       (name[1] != '0' || !name[2]);
    return is_id ? trailing_number(name) : TOPO_NONE;
}

/* Names are taken for ids only where all of them are, so that no two nodes have the same number. */
static void number_nodes(struct topo *topo)
{
    bool are_ids = true;
    for (uint32_t i = 0; i < topo->n_nodes; i++)
        are_ids = are_ids && id_of(topo->nodes[i].name) != TOPO_NONE;
    for (uint32_t i = 0; i < topo->n_nodes; i++)
        topo->nodes[i].number = are_ids ? id_of(topo->nodes[i].name) : i;
}

int topo_finish(struct topo *topo, struct xoff_err *err)
{
    XOFF_ASSERT(topo->n_hosts <= topo->n_nodes);
    XOFF_ASSERT(topo->n_links <= UINT32_MAX / 2);
    for (uint32_t i = 0; i < topo->n_nodes; i++) {
        XOFF_ASSERT((topo->nodes[i].kind == TOPO_HOST) == (i < topo->n_hosts));
        topo->nodes[i].n_ports = 0;
    }
    for (uint32_t i = 0; i < topo->n_links; i++) {
        struct topo_link *link = &topo->links[i];
        XOFF_ASSERT(link->node[0] < topo->n_nodes);
        XOFF_ASSERT(link->node[1] < topo->n_nodes);
        XOFF_ASSERT(link->node[0] != link->node[1]);
        for (uint32_t end = 0; end < 2; end++)
            link->port[end] = topo->nodes[link->node[end]].n_ports++;
    }

    number_nodes(topo);
    uint32_t n_ports = 0;
    for (uint32_t i = 0; i < topo->n_nodes; i++) {
        const int rc = check_node(topo, i, err);
        if (rc)
            return rc;
        topo->nodes[i].first_port = n_ports;
        n_ports += topo->nodes[i].n_ports;
    }
    free(topo->ports);
    topo->n_ports = n_ports;
    topo->ports = calloc(n_ports ? n_ports : 1, sizeof *topo->ports);
    if (!topo->ports)
        return xoff_err_set(err, XOFF_E_NO_MEMORY, "topology", NULL, "not enough memory for ports");
    for (uint32_t i = 0; i < topo->n_links; i++) {
        const struct topo_link *link = &topo->links[i];
        for (uint32_t end = 0; end < 2; end++)
            topo->ports[topo->nodes[link->node[end]].first_port + link->port[end]] =
                (struct topo_port){.node = link->node[end], .link = i, .end = end};
    }
    return 0;
}

void topo_fini(struct topo *topo)
{
    free(topo->nodes);
    free(topo->links);
    free(topo->ports);
    free(topo->changes);
    free(topo->routes);
    *topo = (struct topo){0};
}

xoff_time topo_cut_off_at(const struct topo *topo, uint32_t host, xoff_time end_at)
{
    const uint32_t link = topo->ports[topo->nodes[host].first_port].link;
    xoff_time at = XOFF_NEVER;
    for (uint32_t i = 0; i < topo->n_changes && topo->changes[i].at < end_at; i++) {
        const struct topo_change *c = &topo->changes[i];
        if (c->link == link && c->kind == TOPO_CHANGE_FAIL)
            at = xoff_time_min(at, c->at);
        else if (c->link == link && c->kind == TOPO_CHANGE_REPAIR)
            at = XOFF_NEVER;
    }
    return at;
}
