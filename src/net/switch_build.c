/* Building and freeing a switch: its head is built here, the rest by the fabric. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "net/build.h"

static size_t store_bytes(const struct frame_store *store)
{
    return sizeof *store->frames * store->capacity;
}

/* Allocates as many frames as fit into all buffers, on pages that are allocated when touched. */
void build_store(struct sw *sw)
{
    struct frame_store *store = &sw->store;
    store->free = NET_NONE;
    store->step = net_frame_lines(sw->net);
    if (sw->occupancy)
        sw->occupancy->step = store->step;
    if (sw->net->spec.wire->has_free_priority) /* the number has no bound */
        return;
    int64_t buffer_bytes = 0;
    struct fabric_buffer buffer;
    for (uint32_t i = 0; sw_buffer(sw, i, &buffer); i++) {
        struct xoff_mmu_view view;
        xoff_mmu_view(buffer.mmu, &view);
        buffer_bytes += view.capacity_total_bytes;
    }
    store->capacity = ((uint32_t)(buffer_bytes / XOFF_MIN_FRAME_BYTES) + 1) * store->step;
    store->frames = mmap(NULL, store_bytes(store), PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    store->is_mapped = store->frames != MAP_FAILED;
    if (!store->is_mapped) { /* the address space is limited, so the store grows with use */
        store->frames = NULL;
        store->capacity = 0;
        errno = 0; /* a later assertion is not about memory */
    }
}

/* Describes a buffer over all ports of the switch; `ports` has room for them. */
static struct xoff_mmu_env env_of(const struct sw *sw, struct xoff_mmu_port *ports)
{
    const struct net *net = sw->net;
    const struct topo_node *node = &net->topo->nodes[sw->node];
    for (uint32_t p = 0; p < sw->n_ports; p++)
        ports[p] = net_served_port(net, net->topo->ports[node->first_port + p].link);
    return (struct xoff_mmu_env){.n_ports = sw->n_ports,
                                 .lossless = net->spec.lossless,
                                 .max_frame_bytes = net->spec.max_frame_bytes,
                                 .buffer_bytes = sw->spec->buffer_bytes,
                                 .nic_rate_bps = build_nic_rate(net, 0),
                                 .ports = ports};
}

int ledger_build(struct sw *sw, const struct xoff_mmu_env *env, uint32_t own, struct ledger *ledger,
                 enum net_part *part, struct xoff_err *err)
{
    *part = NET_PART_PAUSE;
    int code = build_pause(sw->net, *part, sw->node, env, &ledger->pause, &ledger->edges, err);
    if (code)
        return code;
    ledger->timer = node_timer(&sw->head, SW_TIMERS + own);
    heap_set(&sw->timers, ledger->timer, xoff_pause_deadline(&ledger->pause));
    struct xoff_mmu_port *ports = build_late_ports(&ledger->pause, env);
    struct xoff_mmu_env late = *env;
    late.ports = ports;
    *part = NET_PART_MMU;
    code = build_mmu(sw->net, *part, sw->node, sw->spec->mmu, sw->spec->mmu_params, &late,
                     &ledger->mmu, err);
    if (!code && !sw->fabric->leaves_inputs) /* else it is not the buffer of the egress queues */
        net_try_buffer(sw->net, sw->node, &ledger->mmu, TRIAL_ONE_BUFFER, &ledger->pause,
                       &ledger->edges, &late, err);
    free(ports);
    if (code)
        return code;
    maxima_build(&ledger->maxima, &ledger->mmu);
    return 0;
}

void maxima_build(struct maxima *maxima, const struct xoff_mmu *mmu)
{
    struct xoff_mmu_view view;
    xoff_mmu_view(mmu, &view);
    maxima->capacity_bytes = view.capacity_bytes[XOFF_POOL_HEADROOM];
    if (maxima->capacity_bytes > 0)
        maxima->counts = build_block(RESULT_MAXIMA, sizeof *maxima->counts);
}

void ledger_free(struct ledger *ledger)
{
    free((void *)ledger->mmu.cfg), free(ledger->mmu.state);
    free((void *)ledger->pause.cfg), free(ledger->pause.state), free(ledger->edges.at);
    free(ledger->maxima.counts);
}

void sw_name_buffer(const struct sw *sw, const char *side, uint32_t port,
                    char name[FABRIC_BUFFER_NAME])
{
    const struct topo *topo = sw->net->topo;
    const uint32_t peer = topo_peer(topo, sw->node, port);
    uint32_t nth = 0;
    for (uint32_t p = 0; p < port; p++)
        nth += topo_peer(topo, sw->node, p) == peer;
    char suffix[12] = "";
    if (nth)
        snprintf(suffix, sizeof suffix, "#%u", nth);
    const int room = (int)(FABRIC_BUFFER_NAME - 1 - strlen(side) - strlen(suffix));
    snprintf(name, FABRIC_BUFFER_NAME, "%s%.*s%s", side, room, topo->nodes[peer].name, suffix);
}

/* Builds the tables whose size depends on the ports and priorities of the switch. */
static void build_tables(struct sw *sw)
{
    const struct net_spec *spec = &sw->net->spec;
    const uint32_t n = sw->n_ports;
    sw->ports = build_aligned(n, sizeof *sw->ports);
    sw->port_at = build_block(n, sizeof *sw->port_at);
    for (uint32_t p = 0; p < n; p++)
        sw->port_at[p] = &sw->ports[p];
    sw->queues = build_aligned((size_t)n * XOFF_N_PRIORITIES, sizeof *sw->queues);
    if (spec->histogram_every)
        sw->histograms = build_block(n, sizeof *sw->histograms);
    if (spec->measure_every)
        sw->sampled = build_block((size_t)n * XOFF_N_PRIORITIES, sizeof *sw->sampled);
    uint32_t n_ranks = 0;
    for (uint32_t p = 0; p < XOFF_N_PRIORITIES; p++)
        sw->rank[p] = spec->lossless >> p & 1 ? (int8_t)n_ranks++ : -1;
    sw->held_bytes = build_block((size_t)n_ranks * n * n, sizeof *sw->held_bytes);
}

/* Called when every mechanism with deadlines has been configured. */
static void build_timers(struct sw *sw)
{
    const uint32_t n = sw_point_timer(sw, sw->is_timed ? sw->n_ports : 0, 0);
    sw->clock_at = sw->timer_at = XOFF_NEVER;
    heap_init(&sw->timers, build_block(n, sizeof(struct heap_entry)),
              build_block(n, sizeof(uint32_t)), n);
    build_point_timers(sw);
}

static int build_fabric(struct sw *sw, enum net_part *part, struct xoff_err *err)
{
    struct xoff_mmu_port *ports = build_block(sw->n_ports, sizeof *ports);
    const struct xoff_mmu_env env = env_of(sw, ports);
    *part = NET_PART_FABRIC;
    const int code = sw->fabric->build(sw, &env, part, err);
    free(ports);
    if (!code && sw->spec->mmu->egress_join && !sw->fabric->asks_egress) {
        xoff_err_set(err, XOFF_E_OK, "kind", sw->spec->mmu->name,
                     "its egress side is not in use: only fabric: pipeline has ingress queues and "
                     "egress queues; limits of egress queues have no effect");
        net_configured(sw->net, NET_PART_MMU, sw->node, 0, err);
    }
    return code;
}

int sw_build(struct net *net, uint32_t node, struct sw **out, enum net_part *part,
             struct xoff_err *err)
{
    const struct net_switch *spec = net_switch_of(&net->spec, node);
    const struct fabric_ops *fabric = spec->fabric ? spec->fabric : fabrics[0];
    struct sw *sw = *out = build_aligned(1, fabric->size);
    sw->net = net;
    sw->node = node;
    sw->spec = spec;
    sw->fabric = fabric;
    sw->processing_for = spec->processing_for;
    sw->stopped_at = XOFF_NEVER;
    sw->n_ports = net->topo->nodes[node].n_ports;
    build_tables(sw);
    *part = NET_PART_SCHED;
    int code = build_sched(net, node, &sw->sched, &sw->sched_states, err);
    if (code)
        return code;
    *part = NET_PART_MARKING;
    if ((code = build_points(net, sw, err)))
        return code;
    *part = NET_PART_PATH;
    if ((code = build_path(net, sw, err)))
        return code;
    build_timers(sw);
    if ((code = build_fabric(sw, part, err)))
        return code;
    *part = NET_PART_PAUSE;
    for (uint32_t p = 0; p < sw->n_ports && !code; p++)
        code = build_port(net, node, p, &sw->signalling, &sw->ports[p], err);
    return code;
}

void sw_destroy(struct sw *sw)
{
    if (!sw)
        return;
    sw->fabric->destroy(sw);
    for (uint32_t p = 0; p < sw->n_ports; p++) {
        build_free_port(&sw->ports[p]);
        if (sw->points)
            free((void *)sw->points[p].cp.cfg), free(sw->points[p].states);
    }
    for (uint32_t p = 0; sw->histograms && p < sw->n_ports; p++)
        free(sw->histograms[p].counts);
    if (sw->store.is_mapped)
        munmap(sw->store.frames, store_bytes(&sw->store));
    else
        free(sw->store.frames);
    build_free_occupancy(sw->occupancy);
    build_free_domain(sw->domain);
    build_free_sched(&sw->sched, sw->n_ports), free(sw->sched_states);
    free((void *)sw->path.cfg), free(sw->path.state), free(sw->path_ports), free(sw->points);
    free(sw->held_bytes), free(sw->timers.entries), free(sw->timers.pos);
    free(sw->histograms), free(sw->sampled), free(sw->queues), free(sw->port_at), free(sw->ports);
    build_free_notes(&sw->notes);
    free(sw);
}
