/* Building a switch, continued: the congestion points of its ports, its choice of paths, and the
 * check that transports find the telemetry they read; ports at the edge of a congestion
 * notification domain. */
#include <stdlib.h>

#include "net/build.h"
#include "net/domain.h"

int build_check_arrivals(const struct xoff_cp *cp, const char *where, struct xoff_err *err)
{
    const struct xoff_cp_shape *shape = &cp->shape;
    if (xoff_cp_skips_dequeue(cp) && !shape->sees_port && !shape->sees_load && !shape->is_timed &&
        !shape->writes)
        return 0;
    xoff_err_set(err, XOFF_E_CONFLICT, "kind", cp->ops->name,
                 shape->sees_load ? "compares what joins a queue with what its link can send; "
                                  : "looks at frames that leave an egress queue; ");
    xoff_err_add(err, where);
    xoff_err_add(err, " a marking looks at arrivals alone (qcn, ecm, or step and ecn with at: "
                      "enqueue)");
    return -XOFF_E_CONFLICT;
}

static int build_point(struct net *net, struct sw *sw, uint32_t p, struct xoff_err *err)
{
    const uint32_t first_port = net->topo->nodes[sw->node].first_port;
    const struct xoff_cp_ops *ops = sw->spec->marking;
    struct point *point = &sw->points[p];
    const struct topo_link *link = &net->topo->links[net->topo->ports[first_port + p].link];
    const struct xoff_cp_env env = {.rate_bps = link->rate_bps,
                                    .buffer_bytes = sw->spec->buffer_bytes,
                                    .port_id = first_port + p};
    int code = net_configured(net, NET_PART_MARKING, sw->node,
                              xoff_cp_configure(&point->cp, ops, sw->spec->marking_params, &env,
                                                build_block(1, ops->cfg_size), err),
                              err);
    if (!code && sw->at_inputs)
        code = build_check_arrivals(&point->cp, "with switch.congestion_points: input", err);
    if (code)
        return code;
    const struct xoff_cp_shape *shape = &point->cp.shape;
    XOFF_ASSERT(!shape->stamps || !shape->writes); /* both use the second line */
    point->states = build_block(XOFF_N_PRIORITIES, shape->state_size);
    for (uint32_t q = 0; q < XOFF_N_PRIORITIES; q++)
        xoff_cp_init(&point->cp, point_state(point, q));
    sw->ports[p].quiet_below = sw->at_inputs ? 0 : xoff_cp_quiet_below(&point->cp);
    point->marks_in = !sw->at_inputs && !xoff_cp_skips_enqueue(&point->cp);
    point->marks_out = !xoff_cp_skips_dequeue(&point->cp);
    point->samples = shape->samples;
    point->meters = shape->sees_load || shape->heeds_tags;
    point->heeds = shape->heeds_tags ? FRAME_ASKS_RATE : 0;
    if (point->meters)
        sw->ports[p].quiet_below = 0;
    sw->is_timed |= shape->is_timed;
    net->has_stamps |= shape->stamps;
    net->has_extra |= shape->stamps || shape->writes || shape->notifies;
    return 0;
}

struct occupancy *build_occupancy(const struct net *net, uint32_t node, uint32_t n_queues,
                                  uint32_t unit_bytes)
{
    struct occupancy *occupancy = build_block(1, sizeof *occupancy);
    occupancy->unit_bytes = unit_bytes;
    occupancy->per_frame = (net->spec.max_frame_bytes + unit_bytes - 1) / unit_bytes;
    occupancy->n_queues = n_queues;
    occupancy->queues = build_block(n_queues, sizeof *occupancy->queues);
    xoff_rng_init(&occupancy->rng, net->spec.seed, node, STREAM_CULPRITS);
    return occupancy;
}

void build_free_occupancy(struct occupancy *occupancy)
{
    for (uint32_t q = 0; occupancy && q < occupancy->n_queues; q++)
        free(occupancy->queues[q].at);
    if (occupancy)
        free(occupancy->queues), free(occupancy->index);
    free(occupancy);
}

/* A congestion point that samples has no sample due for ever. */
static void disable(const struct point *point, uint32_t priority)
{
    if (point->samples)
        ((struct xoff_cp_sampling *)point_state(point, priority))->left_bytes = INT64_MAX;
}

/* Every frame goes through the egress queue, where its tag can be removed. */
static struct domain *build_domain(struct sw *sw)
{
    struct domain *domain = build_aligned(1, sizeof *domain);
    domain->fabric = sw->fabric;
    domain->guarded = *sw->fabric;
    domain->guarded.arrive = domain_arrive;
    domain->guarded.run = NULL; /* which would pass it by */
    sw->fabric = &domain->guarded;
    domain->ports = build_block(sw->n_ports, sizeof *domain->ports);
    for (uint32_t port = 0; port < sw->n_ports; port++) {
        sw->ports[port].quiet_below = 0;
        for (uint8_t p = 0; p < XOFF_N_PRIORITIES; p++)
            domain->ports[port].priority[p] = p;
    }
    return domain;
}

static void set_bit(uint8_t *mask, uint32_t bit, bool value)
{
    *mask = (uint8_t)((*mask & ~(1u << bit)) | (uint32_t)value << bit);
}

/* The last entry for a port and priority holds. */
static void build_defences(const struct net *net, struct sw *sw)
{
    for (uint32_t i = 0; i < net->spec.n_defences; i++) {
        const struct net_defence *d = &net->spec.defences[i];
        if (d->node != sw->node)
            continue;
        if (!sw->domain)
            sw->domain = build_domain(sw);
        struct domain_port *port = &sw->domain->ports[d->port];
        const bool is_edge = d->mode == NET_DEFENCE_EDGE;
        port->priority[d->priority] = is_edge ? d->alternate : d->priority;
        set_bit(&port->strips, d->priority, is_edge || d->mode == NET_DEFENCE_INTERIOR);
        set_bit(&port->disabled, d->priority, d->mode == NET_DEFENCE_DISABLED);
    }
    for (uint32_t port = 0; sw->domain && port < sw->n_ports; port++)
        for (uint32_t p = 0; p < XOFF_N_PRIORITIES; p++)
            if (sw->domain->ports[port].disabled >> p & 1)
                disable(&sw->points[port], p);
}

void build_free_domain(struct domain *domain)
{
    if (domain)
        free(domain->ports);
    build_free(domain);
}

int build_points(struct net *net, struct sw *sw, struct xoff_err *err)
{
    xoff_rng_init(&sw->marking_rng, net->spec.seed, sw->node, STREAM_MARKING);
    sw->points = build_block(sw->n_ports, sizeof *sw->points);
    const struct xoff_cp_ops *ops = sw->spec->marking;
    sw->at_inputs = sw->spec->points_at == NET_POINTS_INPUT && (ops->on_enqueue || ops->on_dequeue);
    for (uint32_t p = 0; p < sw->n_ports; p++) {
        const int code = build_point(net, sw, p, err);
        if (code)
            return code;
    }
    const uint32_t unit_bytes = sw->points[0].cp.shape.unit_bytes;
    if (unit_bytes)
        sw->occupancy = build_occupancy(net, sw->node, sw->n_ports * XOFF_N_PRIORITIES, unit_bytes);
    sw->is_watched = sw->histograms || sw->occupancy || sw->at_inputs || net->spec.trace_until > 0;
    sw->detains = sw->at_inputs || sw->processing_for;
    build_defences(net, sw);
    return 0;
}

void build_point_timers(struct sw *sw)
{
    for (uint32_t port = 0; sw->is_timed && port < sw->n_ports; port++)
        for (uint32_t p = 0; p < XOFF_N_PRIORITIES; p++) {
            const struct point *point = &sw->points[port];
            heap_set(&sw->timers, sw_point_timer(sw, port, p),
                     xoff_cp_deadline(&point->cp, point_state(point, p)));
        }
}

int build_path(struct net *net, struct sw *sw, struct xoff_err *err)
{
    const struct xoff_path_ops *ops = sw->spec->path ? sw->spec->path : xoff_paths[0];
    struct xoff_path_env env = {.n_ports = sw->n_ports, .buffer_bytes = sw->spec->buffer_bytes};
    for (uint32_t p = 0; p < XOFF_N_PRIORITIES; p++)
        env.ahead[p] = xoff_sched_ahead(&sw->sched, p);
    void *cfg = build_block(1, xoff_path_cfg_size(ops, env.n_ports));
    const int code = net_configured(
        net, NET_PART_PATH, sw->node,
        xoff_path_configure(&sw->path, ops, sw->spec->path_params, &env, cfg, err), err);
    if (code)
        return code;
    xoff_path_init(&sw->path, build_block(1, sw->path.shape.state_size));
    if (sw->path.shape.sees_egress)
        sw->path_ports = build_block(sw->n_ports, sizeof *sw->path_ports);
    sw->keeps_flows = xoff_path_keeps_flows(&sw->path);
    sw->by_hash = sw->keeps_flows && !net->spec.wire->hop;
    sw->by_draw = !sw->keeps_flows && xoff_path_is_by_hash(&sw->path);
    xoff_rng_init(&sw->path_rng, net->spec.seed, sw->node, STREAM_PATHS);
    return 0;
}

/* A wrong unit would scale every queue: nothing fails, and all rates are wrong. */
static int check_units(const struct sw *sw, const struct xoff_rp *rp, struct xoff_err *err)
{
    const int64_t read = rp->shape.queue_unit ? rp->shape.queue_unit : XOFF_INT_QUEUE_UNIT;
    const int64_t written = sw->points[0].cp.shape.queue_unit;
    if (read == written)
        return 0;
    xoff_err_set(err, XOFF_E_CONFLICT, rp->shape.queue_unit ? "queue_unit" : "kind", NULL,
                 "reads queue lengths in units of ");
    xoff_err_add_int(err, read);
    xoff_err_add(err, " bytes, but switches write units of ");
    xoff_err_add_int(err, written);
    xoff_err_add(err, " (switch.marking.queue_unit); give both the same");
    return -XOFF_E_CONFLICT;
}

static int check_switch_stamps(const struct sw *sw, const struct xoff_rp *rp, struct xoff_err *err)
{
    if (!sw->keeps_flows) {
        xoff_err_set(err, XOFF_E_CONFLICT, "kind", NULL,
                     "compares telemetry from frame to frame, which take different paths with "
                     "switch.path: ");
        xoff_err_add(err, sw->path.ops->name);
        xoff_err_add(err, "; give ecmp");
        return -XOFF_E_CONFLICT;
    }
    for (uint32_t p = 0; p < sw->n_ports; p++)
        if (!sw->points[p].cp.shape.stamps)
            return xoff_err_set(err, XOFF_E_CONFLICT, "kind", NULL,
                                "reads in-band telemetry, which switches write with marking: int");
    return check_units(sw, rp, err);
}

void build_check_stamps(struct net *net, const struct sw *sw)
{
    const uint32_t n = net->unstamped ? net->unstamped->transport : net->spec.n_transports;
    for (uint32_t i = 0; i < n; i++) {
        struct xoff_err err = {0};
        if (!net->spec.transports[i].np->has_telemetry ||
            !check_switch_stamps(sw, &net->transports[i].rp, &err))
            continue;
        if (!net->unstamped)
            net->unstamped = build_block(1, sizeof *net->unstamped);
        *net->unstamped = (struct unstamped){i, sw->node, err};
        return;
    }
}

int build_check_telemetry(const struct net *net, uint32_t *index, struct xoff_err *err)
{
    int code = 0;
    for (uint32_t i = 0; i < net->spec.n_transports && !code; i++) {
        if (!net->spec.transports[i].np->has_telemetry)
            continue;
        if (net->unstamped && net->unstamped->transport == i) {
            *err = net->unstamped->err;
            code = -(int)err->code;
        } else if (net->max_switches > XOFF_INT_HOPS) {
            code = xoff_err_set(err, XOFF_E_CONFLICT, "kind", NULL,
                                "telemetry has room for 5 switches, and paths of this network "
                                "have more");
        }
        *index = i;
    }
    return code;
}
