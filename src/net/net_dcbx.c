/* DCBX in a network: see net_dcbx.h. */
#include "net/net_dcbx.h"

#include <string.h>

#include "net/model.h"

static uint32_t timer_of(const struct node *node)
{
    return node->node < node->net->n_hosts ? (uint32_t)HOST_DCBX : node_timer(node, SW_DCBX);
}

static struct port *port_of(const struct node *node, uint32_t number)
{
    return net_port(node->net, node->node, number);
}

/* ------------------------------------------------------------------------------ the scheduler */

static const void *sched_cfg(const void *cfg, const void *state)
{
    const struct dcbx_sched *sched = cfg;
    uint32_t port;
    memcpy(&port, state, sizeof port);
    return sched->cfgs[port];
}

static uint32_t sched_select(const void *cfg, void *state, const struct xoff_sched_view *view)
{
    const struct dcbx_sched *sched = cfg;
    return sched->inner.ops->select(sched_cfg(cfg, state), (char *)state + DCBX_SCHED_HEAD, view);
}

static void sched_charge(const void *cfg, void *state, uint32_t queue, uint32_t bytes, bool emptied)
{
    const struct dcbx_sched *sched = cfg;
    if (sched->inner.ops->charge)
        sched->inner.ops->charge(sched_cfg(cfg, state), (char *)state + DCBX_SCHED_HEAD, queue,
                                 bytes, emptied);
}

static uint8_t sched_ahead(const void *cfg, uint32_t queue)
{
    const struct dcbx_sched *sched = cfg;
    return sched->inner.ops->ahead ? sched->inner.ops->ahead(sched->inner.cfg, queue) : 0;
}

const struct xoff_sched_ops dcbx_sched_ops = {
    .name = "per port",
    .select = sched_select,
    .charge = sched_charge,
    .ahead = sched_ahead,
};

/* The weights of a port by the tables of ETS: that of its class for every priority. */
static struct xoff_sched_env sched_env(const struct net *net, const struct xoff_dcbx_ets *ets)
{
    struct xoff_sched_env env = {.max_frame_bytes = net->spec.max_frame_bytes};
    for (uint32_t p = 0; p < XOFF_N_PRIORITIES; p++) {
        const uint8_t class = ets->class_of[p];
        const bool is_ets = ets->tsa[class] == XOFF_TSA_ETS;
        if (!is_ets)
            env.strict |= (uint8_t)(1u << p);
        env.weight[p] = is_ets && ets->percent[class] > 0 ? ets->percent[class] : 1;
    }
    return env;
}

/* Another cfg for the scheduler of the port; what it knew of turns and credits is void. */
static void adopt_ets(struct node *node, struct port *port, const struct xoff_dcbx_ets *ets)
{
    struct net *net = node->net;
    const bool is_host = node->node < net->n_hosts;
    const struct xoff_sched *sched =
        is_host ? &net->hosts[node->node].sched : &net_sw(net, node->node)->sched;
    unsigned char *states =
        is_host ? net->hosts[node->node].sched_state : net_sw(net, node->node)->sched_states;
    const struct dcbx_sched *cfg = sched->cfg;
    const struct xoff_sched_env env = sched_env(net, ets);
    const void *params = net_switch_of(&net->spec, node->node)->sched_params;
    struct xoff_sched next;
    struct xoff_err err = {0};
    void *spare = cfg->spares[port->number];
    XOFF_ASSERT(xoff_sched_configure(&next, cfg->inner.ops, params, &env, spare, &err) == 0);
    cfg->spares[port->number] = (void *)cfg->cfgs[port->number];
    cfg->cfgs[port->number] = spare;
    xoff_sched_init(&next, states + port->number * sched->shape.state_size + DCBX_SCHED_HEAD);
    port->dcbx->has_adopted = true;
    port->dcbx->adopted = *ets;
}

void dcbx_resume(struct node *node, struct port *port)
{
    const struct xoff_dcbx_ets ets = port->dcbx->adopted;
    if (port->dcbx->has_adopted)
        adopt_ets(node, port, &ets);
}

/* ---------------------------------------------------------------------------- what is in force */

static uint8_t held_back(const struct dcbx_port *dcbx, uint8_t pfc)
{
    return dcbx->entry->needs_lossless & (uint8_t)~pfc;
}

static void take_over(struct node *node, struct port *port, struct worker *w)
{
    struct dcbx_port *dcbx = port->dcbx;
    const struct xoff_dcbx_operational *now = &dcbx->state.operational;
    dcbx->n_changes++;
    dcbx->permitted = now->pfc.enabled;
    port_permit(node, port, w, now->pfc.enabled, (uint8_t)~held_back(dcbx, now->pfc.enabled));
    if (dcbx->state.admin.sends & 1u << XOFF_DCBX_ETS_CONFIGURATION)
        adopt_ets(node, port, &now->ets);
}

void dcbx_begin(struct node *node, struct port *port)
{
    struct dcbx_port *dcbx = port->dcbx;
    const struct xoff_dcbx_operational *now = &dcbx->state.operational;
    dcbx->permitted = port->gate_cfg.obeys = now->pfc.enabled;
    port->lets = (uint8_t)~held_back(dcbx, now->pfc.enabled);
    port->open &= port->lets;
    if (dcbx->state.admin.sends & 1u << XOFF_DCBX_ETS_CONFIGURATION)
        adopt_ets(node, port, &now->ets);
}

/* What a port has agreed on is administered to the other ports of its node. */
static void push_down(struct node *node, const struct port *from, struct worker *w)
{
    const struct xoff_dcbx_operational *now = &from->dcbx->state.operational;
    for (uint32_t p = 0; p < node->n_ports; p++) {
        struct port *port = port_of(node, p);
        if (port == from || !port->dcbx || !port->dcbx->n_entries)
            continue;
        struct dcbx_port *dcbx = port->dcbx;
        struct xoff_dcbx_admin admin = dcbx->state.admin;
        memcpy(admin.ets.class_of, now->ets.class_of, sizeof admin.ets.class_of);
        memcpy(admin.ets.percent, now->ets.percent, sizeof admin.ets.percent);
        memcpy(admin.ets.tsa, now->ets.tsa, sizeof admin.ets.tsa);
        memcpy(&admin.recommendation, &now->ets, sizeof admin.recommendation);
        admin.pfc.enabled = now->pfc.enabled;
        memcpy(&admin.apps, &now->apps, sizeof admin.apps);
        if (xoff_dcbx_on_admin(&dcbx->cfg, &dcbx->state, &admin, sim_now(w)) & XOFF_DCBX_CHANGED)
            take_over(node, port, w);
    }
}

/* A call of the mechanism has answered `events`. */
static void act(struct node *node, struct port *port, struct worker *w, unsigned events)
{
    if (!(events & XOFF_DCBX_CHANGED))
        return;
    take_over(node, port, w);
    if (port->dcbx->entry->pushes)
        push_down(node, port, w);
}

/* ------------------------------------------------------------------------------ time and frames */

/* When the port has something to do; a frame that waits for the wire needs no timer. */
static xoff_time next_at(const struct port *port)
{
    const struct dcbx_port *dcbx = port->dcbx;
    xoff_time at = xoff_dcbx_lapse_at(&dcbx->state);
    if (!port->is_lldp_due)
        at = xoff_time_min(at, dcbx->state.tx.due_at);
    if (dcbx->next_entry < dcbx->n_entries)
        at = xoff_time_min(at, dcbx->entries[dcbx->next_entry]->from);
    return at;
}

void dcbx_settle(struct node *node)
{
    xoff_time at = XOFF_NEVER;
    for (uint32_t p = 0; p < node->n_ports; p++) {
        const struct port *port = port_of(node, p);
        if (port->dcbx && port->dcbx->n_entries)
            at = xoff_time_min(at, next_at(port));
    }
    /* From stop on what was agreed holds, so that the network comes to rest. */
    heap_set(&node->timers, timer_of(node), at < node->net->spec.stop ? at : XOFF_NEVER);
}

static void find_work(struct node *node, struct port *port, struct worker *w)
{
    const struct dcbx_port *dcbx = port->dcbx;
    port->is_lldp_due =
        port->is_up && (dcbx->n_forwards > 0 || xoff_dcbx_is_due(&dcbx->state, sim_now(w)));
    port_refresh(node, port, w);
}

static unsigned administer(struct dcbx_port *dcbx, xoff_time now)
{
    unsigned events = 0;
    while (dcbx->next_entry < dcbx->n_entries && dcbx->entries[dcbx->next_entry]->from <= now) {
        const struct net_dcbx *entry = dcbx->entries[dcbx->next_entry++];
        dcbx->entry = entry;
        dcbx->cfg.tie = entry->tie;
        dcbx->cfg.version = entry->version;
        dcbx->cfg.follows_last = entry->follows_last;
        events |= xoff_dcbx_on_admin(&dcbx->cfg, &dcbx->state, &entry->admin, now);
        if (entry->is_enabled != dcbx->state.is_enabled)
            events |= xoff_dcbx_on_enable(&dcbx->cfg, &dcbx->state, entry->is_enabled, now);
    }
    return events;
}

void dcbx_timer(struct node *node, struct worker *w)
{
    const xoff_time now = sim_now(w);
    for (uint32_t p = 0; p < node->n_ports; p++) {
        struct port *port = port_of(node, p);
        if (!port->dcbx || !port->dcbx->n_entries || next_at(port) > now)
            continue;
        unsigned events = administer(port->dcbx, now);
        events |= xoff_dcbx_expire(&port->dcbx->cfg, &port->dcbx->state, now);
        act(node, port, w, events);
    }
    for (uint32_t p = 0; p < node->n_ports; p++) /* what was pushed down is news elsewhere */
        if (port_of(node, p)->dcbx)
            find_work(node, port_of(node, p), w);
    dcbx_settle(node);
}

/* The octets of the frame that is due, as an edition. */
static const struct edition *take(struct dcbx_port *dcbx, xoff_time now)
{
    struct xoff_lldp lldp;
    struct xoff_dcbx_pdu pdu;
    uint8_t tlvs[XOFF_LLDP_MAX_FRAME], octets[XOFF_LLDP_MAX_FRAME];
    xoff_dcbx_take(&dcbx->cfg, &dcbx->state, now, &lldp, &pdu);
    const size_t n = xoff_dcbx_pdu_encode(&pdu, tlvs, sizeof tlvs);
    const size_t length = xoff_lldp_encode(&lldp, tlvs, n, octets, sizeof octets);
    XOFF_ASSERT(length > 0);
    for (const struct edition *e = dcbx->editions; e; e = e->next)
        if (e->length == length && memcmp(e->octets, octets, length) == 0)
            return e;
    dcbx_add_edition(dcbx, octets, length);
    return dcbx->last;
}

void dcbx_send(struct node *node, struct port *port, struct worker *w)
{
    struct dcbx_port *dcbx = port->dcbx;
    struct long_frame out = {.frame = {.kind = FRAME_LLDP}};
    if (dcbx->n_forwards > 0) {
        out.frame = dcbx->forwards[dcbx->first_forward];
        dcbx->first_forward = (dcbx->first_forward + 1) % DCBX_FORWARDS;
        dcbx->n_forwards--;
    } else {
        const struct edition *edition = take(dcbx, sim_now(w));
        out.frame.bytes = (uint16_t)(edition->length + 4); /* with FCS */
        out.frame.src = node->node;
        out.frame.dst = port->number;
        out.frame.flow = edition->number;
    }
    port_tx_begin(port, w, &out.frame);
    find_work(node, port, w);
    dcbx_settle(node);
    node_rearm(node, w);
}

/* The place of the editions that came from the sender of a frame, whose node another rank runs. */
static struct edition **far_editions_of(const struct net *net, const struct frame *frame)
{
    return &net->far_editions[net->topo->nodes[frame->src].first_port + frame->dst];
}

static const struct edition *find(const struct edition *e, uint32_t number)
{
    while (e && e->number != number)
        e = e->next;
    return e;
}

const struct edition *dcbx_edition(const struct net *net, const struct frame *frame)
{
    const bool is_own = net_owns(net, frame->src);
    const struct edition *e = find(is_own ? net_port(net, frame->src, frame->dst)->dcbx->editions
                                          : *far_editions_of(net, frame),
                                   frame->flow);
    XOFF_ASSERT(e);
    return e;
}

size_t dcbx_attachment(void *context, const struct frame *frame, const void **octets)
{
    if (frame->kind != FRAME_LLDP)
        return 0;
    const struct edition *e = dcbx_edition(context, frame);
    *octets = e->octets;
    return e->length;
}

void dcbx_take_attachment(void *context, const struct frame *frame, const void *octets, size_t n)
{
    const struct net *net = context;
    if (net_owns(net, frame->src)) /* it comes back, over a switch that passes frames on */
        return;
    struct edition **editions = far_editions_of(net, frame);
    if (!find(*editions, frame->flow))
        dcbx_add_far_edition(editions, frame->flow, octets, n);
}

/* The peer says that it obeys pauses of more priorities than before. It has ignored those that it
 * was told of until now, and a refresh may be far. */
static void repeat_pauses(struct node *node, struct port *port, struct worker *w)
{
    struct dcbx_port *dcbx = port->dcbx;
    const struct xoff_dcbx_remote *peer = xoff_dcbx_peer(&dcbx->cfg, &dcbx->state);
    const uint8_t pfc = peer && peer->has & 1u << XOFF_DCBX_PFC ? peer->pfc.enabled : 0;
    port_repeat(node, port, w, pfc & (uint8_t)~dcbx->peer_pfc);
    dcbx->peer_pfc = pfc;
}

/* A faulty switch passes LLDP frames on to all other ports, as if the address were any group. */
static void pass_on(struct node *node, uint32_t in, struct worker *w, const struct frame *frame)
{
    for (uint32_t p = 0; p < node->n_ports; p++) {
        struct port *port = port_of(node, p);
        if (p == in || !port->is_up)
            continue;
        struct dcbx_port *dcbx = port->dcbx;
        if (dcbx->n_forwards == DCBX_FORWARDS) {
            dcbx->n_lost++;
            continue;
        }
        dcbx->forwards[(dcbx->first_forward + dcbx->n_forwards++) % DCBX_FORWARDS] = *frame;
        find_work(node, port, w);
    }
}

void dcbx_receive(struct node *node, struct port *port, struct worker *w, const struct frame *frame)
{
    struct dcbx_port *dcbx = port->dcbx;
    if (!dcbx)
        return;
    if (dcbx->n_entries > 0) {
        const struct edition *edition = dcbx_edition(node->net, frame);
        struct xoff_lldp lldp;
        struct xoff_dcbx_pdu pdu;
        struct xoff_err err;
        if (xoff_dcbx_pdu_decode(edition->octets, edition->length, &lldp, &pdu, &err) == 0)
            act(node, port, w,
                xoff_dcbx_on_frame(&dcbx->cfg, &dcbx->state, &lldp, &pdu, sim_now(w)));
        else
            xoff_dcbx_on_void(&dcbx->state);
        repeat_pauses(node, port, w);
    }
    if (node->passes_lldp)
        pass_on(node, port->number, w, frame);
    for (uint32_t p = 0; p < node->n_ports; p++)
        if (port_of(node, p)->dcbx)
            find_work(node, port_of(node, p), w);
    dcbx_settle(node);
    node_rearm(node, w);
}

void dcbx_set_up(struct node *node, struct port *port, struct worker *w, bool up, xoff_time now)
{
    struct dcbx_port *dcbx = port->dcbx;
    dcbx->n_forwards = 0;
    dcbx->peer_pfc = 0;
    if (dcbx->n_entries > 0)
        act(node, port, w, xoff_dcbx_on_link(&dcbx->cfg, &dcbx->state, up, now));
    find_work(node, port, w);
    dcbx_settle(node);
}

uint8_t dcbx_mask(struct dcbx_port *dcbx, const struct xoff_edge *edge)
{
    if (edge->pause)
        dcbx->asked |= edge->priorities;
    else
        dcbx->asked &= (uint8_t)~edge->priorities;
    return dcbx->n_entries > 0 ? edge->priorities & dcbx->permitted : edge->priorities;
}
