/* Building and freeing a slow receiver: its congestion point before all else, since frames have
 * room for notifications only if somebody sends them; then its servers, buffer and pause policy. */
#include <stdlib.h>

#include "net/build.h"

int build_receive_point(struct net *net, const struct net_receiver *spec, struct xoff_err *err)
{
    struct host *host = &net->hosts[spec->host];
    struct receiver *r = host->receiver = build_block(1, sizeof *r);
    const struct xoff_cp_ops *ops = spec->marking;
    r->spec = spec;
    if (!ops || !(ops->on_enqueue || ops->on_dequeue))
        return 0;
    struct point *point = r->point = build_block(1, sizeof *point);
    const struct xoff_cp_env env = {.rate_bps = build_nic_rate(net, spec->host),
                                    .buffer_bytes = spec->buffer_bytes,
                                    .port_id = net->topo->nodes[spec->host].first_port};
    int code = net_configured(net, NET_PART_RECEIVE_POINT, spec->host,
                              xoff_cp_configure(&point->cp, ops, spec->marking_params, &env,
                                                build_block(1, ops->cfg_size), err),
                              err);
    if (code || (code = build_check_arrivals(&point->cp, "at a receive queue", err)))
        return code;
    const struct xoff_cp_shape *shape = &point->cp.shape;
    point->samples = shape->samples;
    point->states = build_block(XOFF_N_PRIORITIES, shape->state_size);
    for (uint32_t p = 0; p < XOFF_N_PRIORITIES; p++)
        xoff_cp_init(&point->cp, point_state(point, p));
    xoff_rng_init(&r->marking_rng, net->spec.seed, spec->host, STREAM_MARKING);
    if (shape->unit_bytes)
        r->occupancy = build_occupancy(net, spec->host, XOFF_N_PRIORITIES, shape->unit_bytes);
    net->has_extra |= shape->notifies;
    return 0;
}

int build_receiver(struct net *net, struct host *host, struct xoff_err *err)
{
    struct receiver *r = host->receiver;
    const struct net_receiver *spec = r->spec;
    struct xoff_mmu_port port;
    const struct xoff_mmu_env env = build_host_env(net, host->node, spec->buffer_bytes, &port);
    const struct xoff_mmu_ops *ops = xoff_mmu_find("static");
    if (r->occupancy)
        r->occupancy->step = host->store.step;
    r->servers = build_block(spec->n_servers, sizeof *r->servers);
    for (uint32_t i = 0; i < spec->n_servers; i++)
        r->servers[i] = (struct server){.spec = &spec->servers[i], .done_at = XOFF_NEVER};
    heap_init(&r->due, build_block(spec->n_servers, sizeof(struct heap_entry)),
              build_block(spec->n_servers, sizeof(uint32_t)), spec->n_servers);
    void *params = build_block(1, ops->params_size);
    xoff_param_defaults(ops->params, params);
    const struct {
        const char *name;
        int64_t bytes;
    } given[] = {{"xoff", spec->xoff_bytes}, {"xon", spec->xon_bytes}};
    int code = 0;
    for (uint32_t i = 0; i < 2 && !code; i++)
        if (given[i].bytes != XOFF_PARAM_AUTO) {
            char text[32];
            code = xoff_param_set(xoff_param_find(ops->params, given[i].name), params,
                                  xoff_format_bytes(text, sizeof text, given[i].bytes), err);
        }
    if (!code)
        code = build_pause(net, NET_PART_RECEIVERS, host->node, &env, &r->pause, &r->edges, err);
    if (!code) {
        build_add_late(&r->pause, &port);
        code = build_mmu(net, NET_PART_RECEIVERS, host->node, ops, params, &env, &r->mmu, err);
    }
    if (!code)
        net_try_buffer(net, host->node, &r->mmu, TRIAL_RECEIVER, &r->pause, &r->edges, &env, err);
    free(params);
    return code;
}

void build_free_receiver(struct receiver *r)
{
    if (!r)
        return;
    free((void *)r->mmu.cfg), free(r->mmu.state);
    free((void *)r->pause.cfg), free(r->pause.state), free(r->edges.at);
    free(r->servers), free(r->due.entries), free(r->due.pos);
    if (r->point)
        free((void *)r->point->cp.cfg), free(r->point->states), free(r->point);
    build_free_occupancy(r->occupancy);
    free(r);
}
