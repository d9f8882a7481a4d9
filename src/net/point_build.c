/* Building a switch, continued: the congestion points of its ports, its choice of paths, and the
 * check that transports find the telemetry they read. */
#include "net/build.h"

int build_points(struct net *net, struct sw *sw, struct xoff_err *err)
{
    const uint32_t first_port = net->topo->nodes[sw->node].first_port;
    const struct xoff_cp_ops *ops = sw->spec->marking;
    xoff_rng_init(&sw->marking_rng, net->spec.seed, sw->node, STREAM_MARKING);
    sw->points = build_block(sw->n_ports, sizeof *sw->points);
    for (uint32_t p = 0; p < sw->n_ports; p++) {
        struct point *point = &sw->points[p];
        const struct topo_link *link = &net->topo->links[net->topo->ports[first_port + p].link];
        const struct xoff_cp_env env = {.rate_bps = link->rate_bps,
                                        .buffer_bytes = sw->spec->buffer_bytes,
                                        .port_id = first_port + p};
        const int code = net_configured(net, NET_PART_MARKING, sw->node,
                                        xoff_cp_configure(&point->cp, ops, sw->spec->marking_params,
                                                          &env, build_block(1, ops->cfg_size), err),
                                        err);
        if (code)
            return code;
        const struct xoff_cp_shape *shape = &point->cp.shape;
        XOFF_ASSERT(!shape->stamps || !shape->writes); /* both use the second line */
        point->states = build_block(XOFF_N_PRIORITIES, shape->state_size);
        for (uint32_t q = 0; q < XOFF_N_PRIORITIES; q++)
            xoff_cp_init(&point->cp, point->states + q * shape->state_size);
        sw->ports[p].quiet_below = xoff_cp_quiet_below(&point->cp);
        point->marks_in = !xoff_cp_skips_enqueue(&point->cp);
        point->marks_out = !xoff_cp_skips_dequeue(&point->cp);
        sw->is_timed |= shape->is_timed;
        net->has_stamps |= shape->stamps;
        net->has_extra |= shape->stamps || shape->writes || shape->notifies;
    }
    return 0;
}

void build_point_timers(struct sw *sw)
{
    for (uint32_t port = 0; sw->is_timed && port < sw->n_ports; port++)
        for (uint32_t p = 0; p < XOFF_N_PRIORITIES; p++) {
            const struct point *point = &sw->points[port];
            heap_set(&sw->timers, sw_point_timer(sw, port, p),
                     xoff_cp_deadline(&point->cp, point->states + p * point->cp.shape.state_size));
        }
}

int build_path(struct net *net, struct sw *sw, struct xoff_err *err)
{
    const struct xoff_path_ops *ops = sw->spec->path ? sw->spec->path : xoff_paths[0];
    const struct xoff_path_env env = {.n_ports = sw->n_ports,
                                      .buffer_bytes = sw->spec->buffer_bytes};
    void *cfg = build_block(1, xoff_path_cfg_size(ops, env.n_ports));
    const int code = net_configured(
        net, NET_PART_PATH, sw->node,
        xoff_path_configure(&sw->path, ops, sw->spec->path_params, &env, cfg, err), err);
    if (code)
        return code;
    xoff_path_init(&sw->path, build_block(1, sw->path.shape.state_size));
    if (sw->path.shape.sees_queues)
        sw->path_ports = build_block(sw->n_ports, sizeof *sw->path_ports);
    sw->keeps_flows = xoff_path_keeps_flows(&sw->path);
    sw->by_hash = sw->keeps_flows && !net->spec.wire->hop;
    xoff_rng_init(&sw->path_rng, net->spec.seed, sw->node, STREAM_PATHS);
    return 0;
}

static int check_switch_stamps(const struct sw *sw, struct xoff_err *err)
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
    return 0;
}

int build_check_telemetry(const struct net *net, uint32_t *index, struct xoff_err *err)
{
    int code = 0;
    for (uint32_t i = 0; i < net->spec.n_transports && !code; i++) {
        if (!net->spec.transports[i].np->has_telemetry)
            continue;
        for (uint32_t s = 0; s < net->n_switches && !code; s++)
            code = check_switch_stamps(net->switches[s], err);
        if (!code && net->max_switches > XOFF_INT_HOPS)
            code = xoff_err_set(err, XOFF_E_CONFLICT, "kind", NULL,
                                "telemetry has room for 5 switches, and paths of this network "
                                "have more");
        *index = i;
    }
    return code;
}
