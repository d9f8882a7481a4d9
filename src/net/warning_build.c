/* Keeps the warnings of mechanisms that configure themselves while a network is built; role.h says
 * how a mechanism gives one. */
#include <stdlib.h>
#include <string.h>

#include <xoff/units.h>

#include "net/build.h"

static bool is_same(const struct net_warning *a, const struct net_warning *b)
{
    return a->blame.part == b->blame.part && a->blame.index == b->blame.index &&
           !strcmp(a->err.subject, b->err.subject) && !strcmp(a->err.value, b->err.value) &&
           !strcmp(a->err.message, b->err.message);
}

void build_keep_warning(struct net *net, const struct net_warning *w)
{
    uint32_t i = net->step.first_warning;
    while (i < net->n_warnings && !is_same(&net->warnings[i], w))
        i++;
    if (i == net->n_warnings) {
        net->warnings = realloc(net->warnings, sizeof *net->warnings * (i + 1));
        XOFF_ASSERT(net->warnings);
        net->warnings[net->n_warnings++] = *w;
        return;
    }
    struct net_warning *same = &net->warnings[i];
    same->n_nodes += w->n_nodes - (same->last_node == w->first_node); /* once for all its ports */
    same->last_node = w->last_node;
}

static void keep(struct net *net, struct net_blame blame, uint32_t node, const struct xoff_err *err)
{
    build_keep_warning(net, &(struct net_warning){.blame = blame,
                                                  .first_node = node,
                                                  .last_node = node,
                                                  .n_nodes = 1,
                                                  .first_item = net->step.item,
                                                  .err = *err});
}

/* The index that goes with a part of a node. */
static uint32_t index_of(const struct net *net, enum net_part part, uint32_t node)
{
    if (part == NET_PART_RECEIVERS || part == NET_PART_RECEIVE_POINT)
        return net->hosts[node].receiver->spec->entry;
    return net_kind_of(&net->spec, node);
}

int net_configured(struct net *net, enum net_part part, uint32_t node, int code,
                   struct xoff_err *err)
{
    if (code || !err->message[0])
        return code;
    keep(net, (struct net_blame){part, index_of(net, part, node)}, node, err);
    *err = (struct xoff_err){0};
    return 0;
}

int net_configured_transport(struct net *net, uint32_t transport, xoff_rate rate_bps, int code,
                             struct xoff_err *err)
{
    if (code || !err->message[0])
        return code;
    for (uint32_t host = 0; host < net->n_hosts; host++)
        if (build_nic_rate(net, host) == rate_bps)
            keep(net, (struct net_blame){NET_PART_TRANSPORT, transport}, host, err);
    *err = (struct xoff_err){0};
    return 0;
}

/* Whether a neighbour may pause the switch, so that nothing leaves by their link for any time. */
static bool may_be_paused(const struct net *net, uint32_t node, uint32_t n_ports)
{
    for (uint32_t p = 0; p < n_ports; p++) {
        const uint32_t peer = topo_peer(net->topo, node, p);
        if (peer >= net->n_hosts && net->facts[peer - net->n_hosts].signalling.quanta)
            return true;
        for (uint32_t i = 0; i < net->spec.n_receivers; i++)
            if (net->spec.receivers[i].host == peer)
                return true;
    }
    return false;
}

/* Without refreshes a pause ends although its cause lasts. That is harmless only if whatever is in
 * the buffer can leave meanwhile by the slowest link, and nobody pauses that. */
static void warn_of_expiry(struct net *net, uint32_t node, struct xoff_err *err)
{
    const struct sw_facts *facts = &net->facts[node - net->n_hosts];
    const uint32_t n_ports = net->topo->nodes[node].n_ports;
    xoff_time pause_for = XOFF_NEVER;
    xoff_rate slowest_bps = UINT64_MAX;
    for (uint32_t p = 0; p < n_ports; p++) {
        const struct topo_port *at = &net->topo->ports[net->topo->nodes[node].first_port + p];
        const struct net_life life = net_life_of(net->topo, at->link);
        pause_for =
            xoff_time_min(pause_for, xoff_quanta_time(facts->signalling.quanta, life.max_rate_bps));
        slowest_bps = life.min_rate_bps < slowest_bps ? life.min_rate_bps : slowest_bps;
    }
    const xoff_time longest_for =
        xoff_time_of_bits(8 * (uint64_t)facts->largest_bytes, slowest_bps);
    if (pause_for >= longest_for && !may_be_paused(net, node, n_ports))
        return;
    char text[32];
    xoff_err_set(err, XOFF_E_OK, "refresh", "false",
                 "may lose frames of lossless priorities: a pause runs out after ");
    xoff_err_add(err, xoff_format_time(text, sizeof text, pause_for));
    if (pause_for < longest_for) {
        xoff_err_add(err, ", and what is in the buffer can take ");
        xoff_err_add(err, xoff_format_time(text, sizeof text, longest_for));
        xoff_err_add(err, " to leave by the slowest link");
    } else {
        xoff_err_add(err, ", and a neighbour can pause the switch for longer");
    }
    net_configured(net, NET_PART_PAUSE, node, 0, err);
}

void net_warn_of_pauses(struct net *net, struct xoff_err *err)
{
    for (uint32_t node = net->n_hosts; node < net->n_hosts + net->n_switches; node++) {
        const struct xoff_pause_signalling *how = &net->facts[node - net->n_hosts].signalling;
        if (!net->spec.lossless)
            return;
        if (!how->quanta) {
            xoff_err_set(err, XOFF_E_OK, "kind", "none",
                         "may lose frames of lossless priorities: no sender is paused when the "
                         "buffer is full");
            net_configured(net, NET_PART_PAUSE, node, 0, err);
        } else if (!how->refreshes) {
            warn_of_expiry(net, node, err);
        }
    }
}

const struct net_warning *net_warnings(const struct net *net, uint32_t *n)
{
    *n = net->n_warnings;
    return net->warnings;
}

int64_t net_headroom_limit(const struct net *net, uint32_t node, uint32_t port)
{
    if (node < net->n_hosts || !net->spec.lossless)
        return 0;
    const uint32_t priority = (uint32_t)__builtin_ctz(net->spec.lossless);
    struct fabric_buffer buffer;
    for (uint32_t i = 0; sw_buffer(net_sw(net, node), i, &buffer); i++)
        if (port - buffer.first_port < buffer.n_ports)
            return xoff_mmu_headroom_limit(buffer.mmu, port - buffer.first_port, priority);
    return 0;
}
