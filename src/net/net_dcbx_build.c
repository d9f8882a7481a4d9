/* Builds what ports need that speak DCBX: their machines, and schedulers with a cfg for each port.
 */
#include <stdlib.h>
#include <string.h>

#include "net/build.h"
#include "net/net_dcbx.h"
#include "wire/packet.h"

bool build_has_dcbx(const struct net *net, uint32_t node)
{
    for (uint32_t i = 0; i < net->spec.n_dcbx; i++)
        if (net->spec.dcbx[i].node == node)
            return true;
    return false;
}

void build_split_sched(struct net *net, uint32_t node, struct xoff_sched *sched)
{
    const uint32_t n_ports = net->topo->nodes[node].n_ports;
    const size_t size = xoff_sched_cfg_size(sched->ops, n_ports);
    struct dcbx_sched *cfg = build_block(1, sizeof *cfg);
    cfg->inner = *sched;
    cfg->cfgs = build_block(n_ports, sizeof *cfg->cfgs);
    cfg->spares = build_block(n_ports, sizeof *cfg->spares);
    for (uint32_t p = 0; p < n_ports; p++) {
        void *own = build_block(1, size);
        memcpy(own, sched->cfg, size);
        cfg->cfgs[p] = own;
        cfg->spares[p] = build_block(1, size);
    }
    sched->ops = &dcbx_sched_ops;
    sched->cfg = cfg;
    sched->shape.state_size += DCBX_SCHED_HEAD;
}

unsigned char *build_split_states(const struct xoff_sched *sched, uint32_t n_ports)
{
    const struct dcbx_sched *cfg = sched->cfg;
    unsigned char *states = build_block(n_ports, sched->shape.state_size);
    for (uint32_t p = 0; p < n_ports; p++) {
        unsigned char *state = states + p * sched->shape.state_size;
        memcpy(state, &p, sizeof p);
        xoff_sched_init(&cfg->inner, state + DCBX_SCHED_HEAD);
    }
    return states;
}

void build_free_sched(struct xoff_sched *sched, uint32_t n_ports)
{
    if (sched->ops == &dcbx_sched_ops) {
        const struct dcbx_sched *cfg = sched->cfg;
        for (uint32_t p = 0; p < n_ports; p++)
            free((void *)cfg->cfgs[p]), free(cfg->spares[p]);
        free((void *)cfg->inner.cfg), free(cfg->cfgs), free(cfg->spares);
    }
    free((void *)sched->cfg);
}

static void free_editions(struct edition *e)
{
    for (struct edition *next; e; e = next) {
        next = e->next;
        free(e);
    }
}

void build_free_dcbx(struct port *port)
{
    struct dcbx_port *dcbx = port->dcbx;
    if (!dcbx)
        return;
    free_editions(dcbx->editions);
    free((void *)dcbx->entries), free(dcbx);
}

void build_free_far_editions(struct net *net)
{
    for (uint32_t p = 0; net->far_editions && p < net->topo->n_ports; p++)
        free_editions(net->far_editions[p]);
    free(net->far_editions);
}

static int check(const struct net *net, const struct net_dcbx *entry, struct xoff_err *err)
{
    const struct port *port = net_port(net, entry->node, entry->port);
    const struct xoff_dcbx_cfg cfg = {.lldp = net->spec.lldp};
    const uint8_t pfc = entry->admin.pfc.enabled;
    if (net->spec.wire->is_one_sequence)
        return xoff_err_set(err, XOFF_E_CONFLICT, "", NULL, "not with compat: ns3");
    if (pfc & ~net->spec.lossless)
        return xoff_err_set(err, XOFF_E_CONFLICT, "pfc", NULL,
                            "names a priority that is not lossless under priorities; buffers have "
                            "headroom for those alone");
    if (pfc && port->gate_cfg.wire != XOFF_WIRE_PFC)
        return xoff_err_set(err, XOFF_E_CONFLICT, "pfc", NULL,
                            "the pause policy of the switch does not signal by PFC");
    return xoff_dcbx_check(&cfg, &entry->admin, err);
}

/* Gives the port its entries, which are in order of time. */
static int collect_entries(const struct net *net, uint32_t node, uint32_t port,
                           struct dcbx_port *dcbx, uint32_t *entry, struct xoff_err *err)
{
    const struct net_dcbx **entries = build_block(net->spec.n_dcbx, sizeof *entries);
    dcbx->entries = entries;
    for (uint32_t i = 0; i < net->spec.n_dcbx; i++) {
        const struct net_dcbx *e = &net->spec.dcbx[i];
        if (e->node != node || e->port != port)
            continue;
        *entry = e->entry;
        const int code = check(net, e, err);
        if (code)
            return code;
        if (!dcbx->n_entries && e->from > 0)
            return xoff_err_set(err, XOFF_E_CONFLICT, "from", NULL,
                                "the first entry of a port must hold from 0s");
        entries[dcbx->n_entries++] = e;
    }
    return 0;
}

static void start(struct net *net, struct node *node, struct port *port)
{
    struct dcbx_port *dcbx = port->dcbx;
    const struct net_dcbx *first = dcbx->entries[0];
    dcbx->entry = first;
    dcbx->next_entry = 1;
    dcbx->cfg = (struct xoff_dcbx_cfg){.tie = first->tie,
                                       .version = first->version,
                                       .follows_last = first->follows_last,
                                       .lldp = net->spec.lldp};
    if (node->node < net->n_hosts)
        xoff_packet_host_mac(node->node, dcbx->cfg.mac);
    else
        xoff_packet_switch_mac(node->node - net->n_hosts, port->number, dcbx->cfg.mac);
    xoff_dcbx_init(&dcbx->cfg, &dcbx->state, &first->admin);
    if (!first->is_enabled)
        xoff_dcbx_on_enable(&dcbx->cfg, &dcbx->state, false, 0);
    xoff_dcbx_on_link(&dcbx->cfg, &dcbx->state, true, 0);
    dcbx_begin(node, port);
}

static int build_node(struct net *net, uint32_t n, uint32_t *entry, struct xoff_err *err)
{
    const bool passes = net->spec.passes_lldp && net->spec.passes_lldp[n];
    if (!passes && !build_has_dcbx(net, n))
        return 0;
    struct node *node = net_node(net, n);
    node->passes_lldp = passes;
    node->notes.dcbx_ports = net_port(net, n, 0);
    for (uint32_t p = 0; p < node->n_ports; p++) {
        struct port *port = net_port(net, n, p);
        struct dcbx_port *dcbx = build_block(1, sizeof *dcbx);
        port->dcbx = dcbx;
        xoff_lldp_tx_init(&dcbx->state.tx);
        const int code = collect_entries(net, n, p, dcbx, entry, err);
        if (code)
            return code;
        if (dcbx->n_entries)
            start(net, node, port);
    }
    dcbx_settle(node);
    node_rearm(node, sim_exclusive(net->sim));
    return 0;
}

int build_dcbx(struct net *net, struct net_blame *blame, struct xoff_err *err)
{
    int code = 0;
    if (!net->spec.n_dcbx && !net->spec.passes_lldp)
        return 0;
    if (net->part_of)
        net->far_editions = build_block(net->topo->n_ports, sizeof *net->far_editions);
    build_begin_step(net);
    blame->part = NET_PART_DCBX;
    for (uint32_t n = 0; n < net->topo->n_nodes && !code; n++) {
        if (!net_owns(net, n))
            continue;
        net->step.item = n;
        code = build_node(net, n, &blame->index, err);
    }
    return build_end_step(net, code, blame, err);
}
