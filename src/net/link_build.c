/* Builds the ports at the ends of links. */
#include <stdlib.h>
#include <string.h>

#include "net/build.h"

int build_port(struct net *net, uint32_t node, uint32_t number,
               const struct xoff_pause_signalling *how, struct port *port, struct xoff_err *err)
{
    const struct topo_port *tp = &net->topo->ports[net->topo->nodes[node].first_port + number];
    const struct topo_link *link = &net->topo->links[tp->link];
    port->wire = net->spec.wire;
    port->sequence = net->sequence;
    port->keeps_heard = net->spec.keeps_heard;
    port_init(port, link->rate_bps, net->spec.response_quanta);
    port->number = (uint16_t)number;
    port->link_out = 2 * tp->link + tp->end;
    port->delay = link->delay;
    port->error_ppb = link->error_ppb;
    xoff_rng_init(&port->error_rng, net->spec.seed, net->topo->nodes[node].first_port + number,
                  STREAM_ERRORS);
    return xoff_signal_configure(how, net_life_of(net->topo, tp->link).max_rate_bps,
                                 net->spec.max_frame_bytes, &port->signal_cfg, err);
}

/* A gate understands the kind of pause frame that its peer sends; where the peer sends none, the
 * kind that its own node would send. */
void build_gates(struct net *net)
{
    for (uint32_t l = 0; l < net->topo->n_links; l++)
        for (uint32_t end = 0; end < 2; end++) {
            const struct topo_link *link = &net->topo->links[l];
            if (!net_owns(net, link->node[end]))
                continue;
            struct port *port = net_port(net, link->node[end], link->port[end]);
            /* Hosts signal as the switch they are attached to; see signalling_of(). */
            enum xoff_pause_wire wire =
                link->node[!end] >= net->n_hosts
                    ? net->facts[link->node[!end] - net->n_hosts].signalling.wire
                    : port->signal_cfg.how.wire;
            if (wire == XOFF_WIRE_NONE)
                wire = port->signal_cfg.how.wire;
            port->gate_cfg.wire = wire;
            port->gate_cfg.obeys = wire == XOFF_WIRE_PFC ? net->spec.lossless : 0xff;
        }
}

void build_free_frames(struct capture *c)
{
    for (uint64_t i = 0; i * CAPTURE_CHUNK < c->n; i++)
        free(c->chunks[i]);
    free(c->chunks);
    *c = (struct capture){0};
}

void build_free_port(struct port *port)
{
    if (port->capture)
        build_free_frames(port->capture);
    free(port->capture);
    build_free_dcbx(port);
}
