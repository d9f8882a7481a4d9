/* The network on the engine: dispatch of events, changes that concern several nodes at once, and
 * the estimate of memory. */
#include <stdlib.h>

#include "net/calm.h"
#include "net/fold.h"
#include "net/net_dcbx.h"

static void on_arrive_at_switch(void *self, struct worker *w, uint32_t port,
                                const struct frame *frame)
{
    struct sw *sw = self;
    sw->fabric->arrive(sw, w, port, frame);
}

static void on_arrive_at_host(void *self, struct worker *w, uint32_t port,
                              const struct frame *frame)
{
    (void)port;
    host_arrive(self, w, frame);
}

/* The next two are in place of those where hops are limited: a switch gets a copy of the frame,
 * which counts. */
static void on_arrive_counted(void *self, struct worker *w, uint32_t port,
                              const struct frame *frame)
{
    struct sw *sw = self;
    struct long_frame copy;
    if (frame_is_control(frame)) {
        sw->fabric->arrive(sw, w, port, frame);
        return;
    }
    frame_copy(&copy.frame, frame, net_frame_lines(sw->net));
    if (frame_count_hop(&copy.frame) <= sw->net->spec.max_hops)
        sw->fabric->arrive(sw, w, port, &copy.frame);
    else if (port_rx(&sw->head, &sw->ports[port], w, frame))
        sw_drop(sw, frame, port, UINT32_MAX, RESULT_DROP_HOPS, sim_now(w));
}

static void on_arrive_uncounted(void *self, struct worker *w, uint32_t port,
                                const struct frame *frame)
{
    struct host *host = self;
    struct long_frame copy;
    (void)port;
    if (frame_is_control(frame)) {
        host_arrive(host, w, frame);
        return;
    }
    frame_copy(&copy.frame, frame, net_frame_lines(host->net));
    copy.frame.sent_at = frame_sent_at(frame);
    host_arrive(host, w, &copy.frame);
}

static void on_transmit_of_switch(void *self, struct worker *w, uint32_t port)
{
    struct sw *sw = self;
    sw->fabric->transmit(sw, w, port);
}

static void on_transmit_of_host(void *self, struct worker *w, uint32_t port)
{
    (void)port;
    host_transmit(self, w);
}

static void on_timer_of_switch(void *self, struct worker *w)
{
    sw_timer(self, w);
}

static void on_timer_of_host(void *self, struct worker *w)
{
    host_timer(self, w);
}

static struct sim_node handlers_of(const struct net *net, uint32_t node)
{
    const bool counts = net->spec.max_hops > 0;
    if (node < net->n_hosts)
        return (struct sim_node){.self = &net->hosts[node],
                                 .arrive = counts ? on_arrive_uncounted : on_arrive_at_host,
                                 .transmit = on_transmit_of_host,
                                 .timer = on_timer_of_host,
                                 .run = counts ? NULL : host_run};
    struct sw *sw = net_sw(net, node); /* NULL: another rank runs it */
    return (struct sim_node){.self = sw,
                             .arrive = counts ? on_arrive_counted : on_arrive_at_switch,
                             .transmit = on_transmit_of_switch,
                             .timer = on_timer_of_switch,
                             .run = sw && !counts ? sw->fabric->run : NULL};
}

static void on_warm(void *context, uint32_t node)
{
    const struct net *net = context;
    if (node < net->n_hosts) {
        host_warm(&net->hosts[node]);
        return;
    }
    sw_warm(net_sw(net, node));
}

static void on_begin(void *context, uint32_t node)
{
    const struct net *net = context;
    if (node < net->n_hosts)
        host_begin(&net->hosts[node]);
    else
        sw_begin(net_sw(net, node));
}

/* A frame that was on the wire when the link failed is lost, and counted at the receiving end. */
struct lost_at {
    struct net *net;
    uint32_t node, port;
    xoff_time now;
};

static void on_lost(void *context, const struct frame *frame)
{
    const struct lost_at *at = context;
    if (frame_is_control(frame))
        return;
    struct port *port = net_port(at->net, at->node, at->port);
    port->rx[frame->priority].frames++;
    port->rx[frame->priority].bytes += frame->bytes;
    note_drop(net_notes(at->net, at->node), at->port, UINT32_MAX, frame, RESULT_DROP_LINK_DOWN,
              at->now);
}

/* A failed link loses what is on it. A cut link has its frames where they arrive, and at its sender
 * the time of the last one, which holds no more. */
static void flush_link(struct net *net, const struct topo_link *link, uint32_t index, uint32_t end,
                       xoff_time now)
{
    struct lost_at at = {net, link->node[!end], link->port[!end], now};
    if (net_owns(net, link->node[end]) || net_owns(net, link->node[!end]))
        sim_flush_link(net->sim, 2 * index + end, &at, on_lost);
}

static void change_link(struct net *net, const struct topo_change *change, xoff_time now)
{
    const struct topo_link *link = &net->topo->links[change->link];
    struct worker *w = sim_exclusive(net->sim);
    net->n_link_changes++;
    for (uint32_t end = 0; end < 2; end++) {
        if (change->kind == TOPO_CHANGE_FAIL)
            flush_link(net, link, change->link, end, now);
        if (!net_owns(net, link->node[end]))
            continue;
        struct node *node = net_node(net, link->node[end]);
        struct port *port = net_port(net, link->node[end], link->port[end]);
        switch (change->kind) {
        case TOPO_CHANGE_RATE:
            port_set_rate(port, change->rate_bps);
            break;
        case TOPO_CHANGE_DELAY:
            /* The engine ensures that a frame sent later never arrives before one already on the
             * wire. */
            port->delay = change->delay;
            break;
        case TOPO_CHANGE_FAIL:
            port_set_up(node, port, w, false, now);
            if (link->node[end] >= net->n_hosts) {
                struct sw *sw = net_sw(net, link->node[end]);
                sw->fabric->link_down(sw, w, link->port[end]);
            }
            break;
        case TOPO_CHANGE_REPAIR:
            if (port->is_up)
                break;
            port_set_up(node, port, w, true, now);
            port->is_armed = false; /* an event set before the failure is moved */
            port_arm(node, port, w);
            break;
        }
    }
}

void net_reroute(struct net *net, xoff_time now)
{
    struct routes *routes;
    struct xoff_err err;
    /* Hosts that a failure has cut off have no route until it is repaired. */
    XOFF_ASSERT(routes_create(net->topo, now, false, &routes, &err) == 0);
    routes_destroy(net->routes);
    net->routes = routes;
    net->routed_at = now;
}

/* Returns when routing next learns of a failure or repair, after `now`. */
static xoff_time next_reroute(const struct topo *topo, xoff_time now)
{
    xoff_time next = XOFF_NEVER;
    for (uint32_t i = 0; i < topo->n_changes; i++) {
        const struct topo_change *c = &topo->changes[i];
        const xoff_time at = xoff_time_after(c->at, topo->reroute_after);
        if ((c->kind == TOPO_CHANGE_FAIL || c->kind == TOPO_CHANGE_REPAIR) && at > now)
            next = xoff_time_min(next, at);
    }
    return next;
}

static xoff_time next_instant(const struct net *net)
{
    xoff_time next = xoff_time_min(net->sample_at, net->deadlock_at);
    next = xoff_time_min(next, xoff_time_min(net->reroute_at, net->hold_at));
    next = xoff_time_min(next, marks_next(net));
    next = xoff_time_min(next, fold_next(net));
    if (net->next_change < net->topo->n_changes)
        next = xoff_time_min(next, net->topo->changes[net->next_change].at);
    if (net->next_route < net->topo->n_routes)
        next = xoff_time_min(next, net->topo->routes[net->next_route].at);
    return next;
}

static xoff_time on_instant(void *context, xoff_time now)
{
    struct net *net = context;
    const struct topo *topo = net->topo;
    bool stated = false;
    if (net->hold_at <= now)
        net->hold_at = XOFF_NEVER;
    marks_take(net, now);
    if (fold_next(net) <= now)
        fold_take(net, now);
    while (net->next_change < topo->n_changes && topo->changes[net->next_change].at <= now)
        change_link(net, &topo->changes[net->next_change++], now);
    while (net->next_route < topo->n_routes && topo->routes[net->next_route].at <= now) {
        net->next_route++;
        stated = true;
    }
    if (stated || net->reroute_at <= now) {
        net_reroute(net, now);
        net->reroute_at = next_reroute(topo, now);
    }
    if (net->deadlock_at <= now) {
        deadlock_check(net, now);
        net->deadlock_at = now + (net->spec.deadlock_after + 3) / 4;
        if (net->n_deadlocks && net->spec.deadlock_stops)
            return 0;
    }
    if (net->sample_at <= now)
        net->sample_at = now + net->spec.measure_every;
    return next_instant(net);
}

static bool wants_sample(void *context, xoff_time now)
{
    const struct net *net = context;
    return net->sample_at == now;
}

static void on_sample(void *context, uint32_t node, xoff_time now)
{
    struct net *net = context;
    if (net->spec.measured && !net->spec.measured[node])
        return;
    if (node >= net->n_hosts)
        sw_sample(net_sw(net, node), now);
    else
        host_sample(&net->hosts[node], now);
}

static bool has_changes(void *context)
{
    const struct net *net = context;
    return net->next_change < net->topo->n_changes;
}

static bool on_progress(void *context, xoff_time now, uint64_t arrivals)
{
    struct net *net = context;
    const bool is_fine = !__atomic_load_n(&net->wire_has_failed, __ATOMIC_RELAXED);
    if (is_fine &&
        (!net->spec.progress || net->spec.progress(net->spec.progress_context, now, arrivals)))
        return true;
    net->stopped = true;
    return false;
}

void net_start(struct net *net, struct sim_model *model)
{
    for (uint32_t n = 0; n < net->topo->n_nodes; n++)
        net->handlers[n] = handlers_of(net, n);
    *model = (struct sim_model){
        .net = net,
        .nodes = net->handlers,
        .warm = on_warm,
        .begin = on_begin,
        .calm_for = calm_for,
        .calm_nodes = net->calm_handlers,
        .settle = calm_settle,
        .instant = on_instant,
        .sample = on_sample,
        .wants_sample = wants_sample,
        .has_changes = has_changes,
        .progress = on_progress,
    };
    if (net->spec.n_dcbx && net->part_of) {
        model->attachment = dcbx_attachment;
        model->take_attachment = dcbx_take_attachment;
    }
    net->sample_at = net->spec.measure_every ? net->spec.measure_every : XOFF_NEVER;
    net->deadlock_at =
        net->spec.lossless && net->spec.deadlock_after ? net->spec.deadlock_after : XOFF_NEVER;
    net->reroute_at = next_reroute(net->topo, 0);
    net->hold_at = net->spec.hold_at ? net->spec.hold_at : XOFF_NEVER;
    marks_init(net);
    /* Route statements that hold from the start are in the first tables already. */
    while (net->next_route < net->topo->n_routes && net->topo->routes[net->next_route].at <= 0)
        net->next_route++;
}

bool net_run(struct net *net)
{
    net->end_at = sim_run(net->sim, next_instant(net), net_end(&net->spec));
    net->is_at_rest = sim_figures(net->sim).is_at_rest;
    net->stopped |= sim_figures(net->sim).is_stopped;
    return !net->stopped;
}

#define LINK_SLOT_BYTES 48 /* an event of the engine, with its time */

uint64_t net_estimate(const struct net_spec *spec)
{
    const struct topo *topo = spec->topo;
    uint64_t bytes = 0;
    for (uint32_t n = topo->n_hosts; n < topo->n_nodes; n++) {
        const struct net_switch *sw = net_switch_of(spec, n);
        const uint64_t ports = topo->nodes[n].n_ports;
        bytes +=
            ports * (sizeof(struct port) + 8 * sizeof(struct egress) + 600) + sizeof(struct sw);
        bytes += ports * ports * 8 * (uint64_t)__builtin_popcount(spec->lossless);
        bytes += (uint64_t)topo->n_hosts / 16 * 2; /* route tables, by edge */
        /* Frames in buffers: a tenth of the worst case, a full buffer of full frames. */
        bytes += (uint64_t)(sw->buffer_bytes / spec->max_frame_bytes) * 64 / 10;
        if (sw->fabric && sw->fabric->estimate)
            bytes += sw->fabric->estimate(sw, (uint32_t)ports);
    }
    bytes += topo->n_hosts * (uint64_t)(sizeof(struct host) + 2048);
    /* A direction of a link has its two slots, the frames that fit onto it, and a chunk more. */
    for (uint32_t l = 0; l < topo->n_links; l++) {
        const uint64_t held =
            (uint64_t)xoff_bytes_in(topo->links[l].delay, topo->links[l].rate_bps);
        const uint64_t frames = held / spec->max_frame_bytes;
        bytes += 2 * (sizeof(struct link) + 2 * LINK_SLOT_BYTES +
                      (8 + (frames < 64 ? frames : 64)) * sizeof(struct frame));
    }
    return bytes + topo->n_ports * sizeof(struct result_port);
}

uint64_t net_flow_bytes(void)
{
    return sizeof(struct flow_note) + sizeof(struct rx_note) + sizeof(struct result_flow);
}
