/* Results of DCBX: how the ports of a node stand at the end, and the frames that captures refer to.
 */
#include <stdlib.h>
#include <string.h>

#include "net/harvest.h"
#include "net/net_dcbx.h"

static void add_port(const struct dcbx_port *dcbx, struct result_dcbx *sum)
{
    const struct xoff_dcbx *state = &dcbx->state;
    const struct xoff_dcbx_operational *now = &state->operational;
    sum->ports++;
    sum->sent += state->n_sent;
    sum->received += state->n_heard;
    sum->changes += dcbx->n_changes;
    sum->peers += xoff_dcbx_peer(&dcbx->cfg, state) != NULL;
    sum->taken += now->from_peer != 0;
    sum->differing += now->differs != 0;
    sum->unusable += now->unusable != 0;
    sum->multiple += state->has_multiple;
    sum->foreign += state->is_foreign;
    sum->lossless += (uint32_t)__builtin_popcount(now->pfc.enabled);
}

static void add_editions(struct results *r, uint32_t node, uint32_t port,
                         const struct dcbx_port *dcbx)
{
    for (const struct edition *e = dcbx->editions; e; e = e->next) {
        r->lldp = realloc(r->lldp, sizeof *r->lldp * (r->n_lldp + 1));
        uint8_t *octets = malloc(e->length);
        XOFF_ASSERT(r->lldp && octets);
        memcpy(octets, e->octets, e->length);
        r->lldp[r->n_lldp++] = (struct result_lldp){
            .node = node, .port = port, .number = e->number, .length = e->length, .octets = octets};
    }
}

void dcbx_harvest(const struct net *net, uint32_t node, struct result_dcbx *sum)
{
    for (uint32_t p = 0; p < net->topo->nodes[node].n_ports; p++) {
        const struct dcbx_port *dcbx = net_port(net, node, p)->dcbx;
        if (dcbx && dcbx->n_entries)
            add_port(dcbx, sum);
    }
}

void dcbx_collect(const struct net *net, struct results *r)
{
    for (uint32_t n = 0; n < net->topo->n_nodes; n++)
        for (uint32_t p = 0; p < net->topo->nodes[n].n_ports; p++) {
            const struct dcbx_port *dcbx = net_port(net, n, p)->dcbx;
            if (dcbx && dcbx->n_entries)
                add_editions(r, n, p, dcbx);
        }
}
