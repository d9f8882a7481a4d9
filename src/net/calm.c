/* Calm windows: those in which what arrives at switches shows nowhere else before they end, so that
 * the engine may run node after node for longer than the shortest link takes (run_calm in
 * sim/run.c).
 *
 * A switch whose fabric keeps frames for some time before it decides about them does not need to
 * know of an arrival until that time is over, except that the frame may be dropped or that pauses
 * may follow from it, or from a pause frame that arrives. So a window is calm if no pause is in
 * force or on its way, and if the fabric of each switch vouches for what can arrive at most
 * (fabric_calm.begins). Where one does not, events are run in the order of time as ever. Either way
 * the results are the same.
 */
#include "net/calm.h"

#include <stdlib.h>

#include "net/build.h"

/* Nothing else about pauses has to be asked for:
 *   a queue that holds its sender back is above XON, where the buffer is not quiet, and so a pause
 *   that the sender was told of and that is not wanted any more has its end due;
 *   a pause that is to be repeated, or a gate that is closed or is going to change, is a timer of
 *   its switch, which none has when a calm window begins;
 *   the gate of a host concerns that host alone, and hosts send no pauses (longest);
 *   the pauses of a neighbour are asked of the neighbour. */
bool sw_is_heard(const struct sw *sw)
{
    const struct net *net = sw->net;
    for (uint32_t i = 0; i < sw->n_ports; i++) {
        const struct port *port = &sw->ports[i];
        const uint32_t peer_node = topo_peer(net->topo, sw->node, i);
        const struct port *peer = net_port(net, peer_node, topo_peer_port(net->topo, sw->node, i));
        if (port->is_control_due || port->control_tx != peer->control_rx)
            return false;
    }
    return true;
}

/* Whether frames of a switch end, are marked or are noted down only where the fabric says so. */
static bool is_simple(const struct sw *sw)
{
    if (!sw->fabric->calm || sw->n_ports < 2 || sw->at_inputs || sw->is_watched || sw->domain ||
        sw->is_timed || sw->processing_for)
        return false;
    for (uint32_t i = 0; i < sw->n_ports; i++)
        if (sw->ports[i].is_watched || sw->ports[i].error_ppb || sw->points[i].cp.shape.notifies)
            return false;
    return true;
}

/* Returns how long calm windows may last; 0: there are none. */
static xoff_time longest(struct net *net)
{
    const struct net_spec *spec = &net->spec;
    if (net->topo->n_changes || spec->n_receivers || spec->n_dcbx || spec->passes_lldp ||
        spec->max_hops > 0 || spec->wire->is_one_sequence || spec->ranks)
        return 0;
    xoff_time length = XOFF_NEVER;
    for (uint32_t h = 0; h < net->n_hosts; h++)
        if (net->topo->nodes[h].n_ports != 1 || topo_peer(net->topo, h, 0) < net->n_hosts ||
            net->hosts[h].port.is_watched)
            return 0;
    for (uint32_t s = 0; s < net->n_switches && length; s++) {
        struct sw *sw = net->switches[s];
        length = is_simple(sw) ? xoff_time_min(length, sw->fabric->calm->longest(sw)) : 0;
    }
    return length;
}

void calm_build(struct net *net)
{
    net->calm_for = longest(net);
    for (uint32_t s = 0; s < net->n_switches && net->calm_for; s++) {
        const struct fabric_calm *calm = net->switches[s]->fabric->calm;
        net->calm_handlers[net->n_hosts + s] = (struct sim_node){.self = net->switches[s],
                                                                 .arrive = calm->arrive,
                                                                 .transmit = calm->transmit,
                                                                 .timer = calm->timer};
    }
}

xoff_time calm_for(void *context, xoff_time now, xoff_time end)
{
    const struct net *net = context;
    for (uint32_t s = 0; s < net->n_switches && net->calm_for; s++)
        if (!net->switches[s]->fabric->calm->begins(net->switches[s], now, end))
            return 0;
    return net->calm_for;
}

void calm_settle(void *context, struct worker *w, uint32_t node, xoff_time end)
{
    struct sw *sw = net_sw(context, node);
    sw->fabric->calm->settle(sw, w, end);
}
