/* Keeps the warnings of mechanisms that configure themselves while a network is built; role.h says
 * how a mechanism gives one. */
#include <stdlib.h>
#include <string.h>

#include "net/build.h"

static bool is_same(const struct net_warning *w, struct net_blame blame, const struct xoff_err *err)
{
    return w->blame.part == blame.part && w->blame.index == blame.index &&
           !strcmp(w->err.subject, err->subject) && !strcmp(w->err.value, err->value) &&
           !strcmp(w->err.message, err->message);
}

static void keep(struct net *net, struct net_blame blame, uint32_t node, const struct xoff_err *err)
{
    uint32_t i = 0;
    while (i < net->n_warnings && !is_same(&net->warnings[i], blame, err))
        i++;
    if (i == net->n_warnings) {
        net->warnings = realloc(net->warnings, sizeof *net->warnings * (i + 1));
        XOFF_ASSERT(net->warnings);
        net->warnings[net->n_warnings++] = (struct net_warning){
            .blame = blame, .first_node = node, .last_node = node, .n_nodes = 1, .err = *err};
    } else if (net->warnings[i].last_node != node) { /* a node may repeat it for each port */
        net->warnings[i].last_node = node;
        net->warnings[i].n_nodes++;
    }
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
