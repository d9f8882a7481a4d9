/* Making and freeing a network: everything that allocates before a run. */
#include <errno.h>
#include <limits.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "net/build.h"
#include "net/calm.h"
#include "net/fold.h"

void *build_block(size_t n, size_t size)
{
    void *block = calloc(n ? n : 1, size ? size : 1);
    XOFF_ASSERT(block);
    return block;
}

void *build_aligned(size_t n, size_t size)
{
    const size_t bytes = (n * size + 64) / 64 * 64;
    void *block = aligned_alloc(64, bytes);
    XOFF_ASSERT(block);
    memset(block, 0, bytes);
    return block;
}

void build_free(void *block)
{
    free(block);
}

int build_pause(struct net *net, enum net_part part, uint32_t node,
                const struct xoff_mmu_env *served, struct xoff_pause *pause,
                struct xoff_edges *edges, struct xoff_err *err)
{
    const struct net_switch *kind = net_switch_of(&net->spec, node);
    const struct xoff_pause_ops *ops = kind->pause;
    struct xoff_pause_env env = {.n_ports = served->n_ports,
                                 .lossless = served->lossless,
                                 .min_frame_bytes = net->spec.wire->min_bytes,
                                 .max_frame_bytes = served->max_frame_bytes,
                                 .buffer_bytes = served->buffer_bytes,
                                 .egress_bytes = served->egress_bytes ? served->egress_bytes
                                                                      : served->buffer_bytes,
                                 .ports = served->ports};
    xoff_rng_init(&env.rng, net->spec.seed, node, STREAM_PAUSE);
    void *cfg = build_block(1, xoff_pause_cfg_size(ops, env.n_ports));
    int code = xoff_pause_configure(pause, ops, kind->pause_params, &env, cfg, err);
    if ((code = net_configured(net, part, node, code, err)))
        return code;
    xoff_pause_init(pause, build_block(1, pause->shape.state_size));
    edges->at = build_block(pause->shape.max_edges, sizeof *edges->at);
    return 0;
}

void build_add_late(const struct xoff_pause *pause, struct xoff_mmu_port *port)
{
    const struct xoff_pause_shape *shape = &pause->shape;
    XOFF_ASSERT(shape->late_for >= 0 && shape->late_bytes >= 0);
    port->late_bytes = xoff_bytes_in(shape->late_for, port->rate_bps) + shape->late_bytes;
    port->headroom_bytes += port->late_bytes;
}

struct xoff_mmu_port *build_late_ports(const struct xoff_pause *pause,
                                       const struct xoff_mmu_env *env)
{
    struct xoff_mmu_port *ports = build_block(env->n_ports, sizeof *ports);
    for (uint32_t p = 0; p < env->n_ports; p++) {
        ports[p] = env->ports[p];
        build_add_late(pause, &ports[p]);
    }
    return ports;
}

int build_mmu(struct net *net, enum net_part part, uint32_t node, const struct xoff_mmu_ops *ops,
              const void *params, const struct xoff_mmu_env *env, struct xoff_mmu *mmu,
              struct xoff_err *err)
{
    void *cfg = build_block(1, xoff_mmu_cfg_size(ops, env->n_ports));
    int code = xoff_mmu_configure(mmu, ops, params, env, cfg, err);
    if ((code = net_configured(net, part, node, code, err)))
        return code;
    xoff_mmu_init(mmu, build_aligned(1, mmu->shape.state_size));
    return 0;
}

static struct xoff_sched_env sched_env(const struct net *net)
{
    struct xoff_sched_env env = {.max_frame_bytes = net->spec.max_frame_bytes,
                                 .strict = net->spec.strict};
    memcpy(env.weight, net->spec.weight, sizeof env.weight);
    return env;
}

int build_sched(struct net *net, uint32_t node, struct xoff_sched *sched, unsigned char **states,
                struct xoff_err *err)
{
    const struct xoff_sched_env env = sched_env(net);
    const struct net_switch *kind = net_switch_of(&net->spec, node);
    const uint32_t n_ports = net->topo->nodes[node].n_ports;
    void *cfg = build_block(1, xoff_sched_cfg_size(kind->sched, n_ports));
    int code = xoff_sched_configure(sched, kind->sched, kind->sched_params, &env, cfg, err);
    if ((code = net_configured(net, NET_PART_SCHED, node, code, err)))
        return code;
    if (build_has_dcbx(net, node)) {
        build_split_sched(net, node, sched);
        *states = build_split_states(sched, n_ports);
        return 0;
    }
    *states = build_block(n_ports, sched->shape.state_size);
    for (uint32_t p = 0; p < n_ports; p++)
        xoff_sched_init(sched, *states + p * sched->shape.state_size);
    return 0;
}

xoff_rate build_nic_rate(const struct net *net, uint32_t host)
{
    return net->topo->links[net->topo->ports[net->topo->nodes[host].first_port].link].rate_bps;
}

struct xoff_mmu_env build_host_env(const struct net *net, uint32_t host, int64_t buffer_bytes,
                                   struct xoff_mmu_port *port)
{
    const struct topo_port *tp = &net->topo->ports[net->topo->nodes[host].first_port];
    *port = net_served_port(net, tp->link);
    return (struct xoff_mmu_env){.n_ports = 1,
                                 .lossless = net->spec.lossless,
                                 .max_frame_bytes = net->spec.max_frame_bytes,
                                 .buffer_bytes = buffer_bytes,
                                 .nic_rate_bps = build_nic_rate(net, host),
                                 .has_one_lossy = true,
                                 .ports = port};
}

/* Finds how the switch that a host is attached to signals pauses. Without such a switch, a policy
 * is built only to be asked. */
static int signalling_of(struct net *net, uint32_t host, struct xoff_pause_signalling *how,
                         struct xoff_err *err)
{
    const uint32_t peer = topo_peer(net->topo, host, 0);
    if (peer >= net->n_hosts) {
        *how = net->facts[peer - net->n_hosts].signalling;
        return 0;
    }
    struct xoff_pause probe = {0};
    struct xoff_edges unused = {0};
    struct xoff_mmu_port port;
    const struct xoff_mmu_env env =
        build_host_env(net, host, net->spec.kinds[0].buffer_bytes, &port);
    const int code = build_pause(net, NET_PART_PAUSE, host, &env, &probe, &unused, err);
    *how = probe.shape.signalling;
    free((void *)probe.cfg), free(probe.state), free(unused.at);
    return code;
}

static int check_bus(const struct net *net, uint32_t host, struct xoff_err *err)
{
    const struct topo_port *tp = &net->topo->ports[net->topo->nodes[host].first_port];
    const xoff_rate link_bps = net_life_of(net->topo, tp->link).max_rate_bps;
    const xoff_rate rate_bps = (xoff_rate)net->spec.shared_bps;
    char text[32], least[32];
    xoff_format_rate(text, sizeof text, rate_bps);
    if (net->spec.wire->send)
        return xoff_err_set(err, XOFF_E_CONFLICT, "shared_limit", text, "not with compat: ns3");
    if (net->topo->n_changes)
        return xoff_err_set(err, XOFF_E_CONFLICT, "shared_limit", text,
                            "not with links that change (links)");
    if (rate_bps >= link_bps)
        return 0;
    const int code = xoff_err_set(err, XOFF_E_RANGE, "shared_limit", text,
                                  "receiving goes first and must fit: at least the rate of the "
                                  "link, ");
    xoff_err_add(err, xoff_format_rate(least, sizeof least, link_bps));
    xoff_err_add(err, " at ");
    xoff_err_add(err, net->topo->nodes[host].name);
    xoff_err_add(err, "; receivers can be slower");
    return code;
}

static int build_bus(struct net *net, struct host *host, struct xoff_err *err)
{
    const int code = check_bus(net, host->node, err);
    if (code)
        return code;
    host->bus = build_block(1, sizeof *host->bus);
    *host->bus = (struct bus){.wire = *net->spec.wire, .rate_bps = (xoff_rate)net->spec.shared_bps};
    host->bus->wire.send = bus_send;
    host->bus->ahead_for =
        xoff_time_of_bits((uint64_t)net->spec.max_frame_bytes * 8 * BUS_AHEAD, host->bus->rate_bps);
    host->port.wire = &host->bus->wire;
    port_set_rate(&host->port, build_nic_rate(net, host->node));
    return 0;
}

static int build_host(struct net *net, struct host *host, uint32_t index, enum net_part *part,
                      struct xoff_err *err)
{
    host->net = net;
    host->node = index;
    host->n_ports = 1;
    host->store.free = NET_NONE;
    host->store.step = net_frame_lines(net);
    host->free_flow = NET_NONE;
    host->free_rx_state = NET_NONE;
    host->messages.free = NET_NONE;
    xoff_range_store_init(&host->ranges, NULL, 0);
    build_use_transports(net, host);
    host->clock_at = host->timer_at = XOFF_NEVER;
    host->grain = net->spec.wire->grain;
    host->ack_class = host->ack_queue =
        (int8_t)(net->spec.ack_priority < 0 ? -1 : net->spec.ack_priority);
    if (net->spec.wire->acks_keep_class)
        host->ack_class = -1;
    else
        host->ack_queue = -1;
    host->scan.is_on = net->spec.wire->scans;
    host->scan.next_at = XOFF_NEVER;
    if (net->spec.wire->hop)
        host->n_flows_to = build_block(net->n_hosts, sizeof *host->n_flows_to);
    for (uint32_t p = 0; p < XOFF_N_PRIORITIES; p++)
        host->ready[p].head = NET_NONE;
    *part = NET_PART_RECEIVERS;
    int code = host->receiver ? build_receiver(net, host, err) : 0;
    if (code)
        return code;
    *part = NET_PART_PAUSE;
    struct xoff_pause_signalling how;
    code = signalling_of(net, index, &how, err);
    if (code || (code = build_port(net, index, 0, &how, &host->port, err)))
        return code;
    *part = NET_PART_HOST;
    if (net->spec.shared_bps > 0 && (code = build_bus(net, host, err)))
        return code;
    *part = NET_PART_SCHED;
    return build_sched(net, index, &host->sched, &host->sched_state, err);
}

/* Distributes apps to their hosts; their deadlines become the hosts' first timers. */
static void build_apps(struct net *net)
{
    const struct app_set *set = net->spec.apps;
    uint32_t *next = build_block(net->n_hosts + 1, sizeof *next);
    for (uint32_t i = 0; i < set->n; i++)
        if (net_owns(net, set->apps[i].host))
            next[set->apps[i].host + 1]++;
    for (uint32_t h = 0; h < net->n_hosts; h++)
        next[h + 1] += next[h];
    net->apps = build_block(next[net->n_hosts], sizeof *net->apps);
    for (uint32_t h = 0; h < net->n_hosts; h++)
        if (net_owns(net, h)) {
            net->hosts[h].apps = net->apps + next[h];
            net->hosts[h].n_apps = next[h + 1] - next[h];
        }
    for (uint32_t i = 0; i < set->n; i++)
        if (net_owns(net, set->apps[i].host))
            net->apps[next[set->apps[i].host]++] = set->apps[i];
    free(next);
    for (uint32_t h = 0; h < net->n_hosts; h++) {
        if (!net_owns(net, h))
            continue;
        struct host *host = &net->hosts[h];
        const uint32_t n_timers = HOST_APPS + host->n_apps;
        host->timer_entries = build_block(n_timers, sizeof *host->timer_entries);
        host->timer_pos = build_block(n_timers, sizeof *host->timer_pos);
        heap_init(&host->timers, host->timer_entries, host->timer_pos, n_timers);
        host->app_rngs = build_block(host->n_apps, sizeof *host->app_rngs);
        host->app_first_connection = build_block(host->n_apps, sizeof *host->app_first_connection);
        uint32_t n_connections = 0;
        xoff_rng_init(&host->priority_rng, net->spec.seed, h, STREAM_PRIORITIES);
        if (host->receiver)
            heap_set(&host->timers, HOST_PAUSE, xoff_pause_deadline(&host->receiver->pause));
        for (uint32_t a = 0; a < host->n_apps; a++) {
            host->app_first_connection[a] = n_connections;
            n_connections += host->apps[a].n_connections ? host->apps[a].n_connections : 1;
            host->n_listening += host->apps[a].ops->on_event != NULL;
        }
        host->app_connections = build_block(n_connections, sizeof *host->app_connections);
        memset(host->app_connections, 0xff, sizeof *host->app_connections * n_connections);
        for (uint32_t a = 0; a < host->n_apps; a++) {
            const struct app *app = &host->apps[a];
            xoff_rng_init(&host->app_rngs[a], net->spec.seed, h, STREAM_APPS + app->stream_purpose);
            heap_set(&host->timers, HOST_APPS + a, host_app_at(host, app));
        }
        node_rearm(&host->head, sim_exclusive(net->sim));
    }
}

/* Describes the network to the engine; the caller frees n_ports and links. */
static struct sim_spec sim_spec_of(const struct net *net)
{
    const struct topo *topo = net->topo;
    uint32_t *n_ports = build_block(topo->n_nodes, sizeof *n_ports);
    struct sim_link_spec *links = build_block(2 * (size_t)topo->n_links, sizeof *links);
    for (uint32_t n = 0; n < topo->n_nodes; n++)
        n_ports[n] = topo->nodes[n].n_ports;
    xoff_rate fastest_bps = 1;
    for (uint32_t l = 0; l < topo->n_links; l++) {
        const struct net_life life = net_life_of(topo, l);
        const xoff_time first = net->spec.wire->shortest(life.max_rate_bps);
        fastest_bps = life.max_rate_bps > fastest_bps ? life.max_rate_bps : fastest_bps;
        for (uint32_t end = 0; end < 2; end++)
            links[2 * l + end] = (struct sim_link_spec){.from_node = topo->links[l].node[end],
                                                        .from_port = topo->links[l].port[end],
                                                        .to_node = topo->links[l].node[!end],
                                                        .to_port = topo->links[l].port[!end],
                                                        .lookahead = first + life.min_delay};
    }
    struct sim_spec spec = {
        .n_nodes = topo->n_nodes,
        .n_ports = n_ports,
        .links = links,
        .n_links = 2 * topo->n_links,
        .n_threads = net->spec.n_threads,
        .cell_bound = net->spec.cell_bound,
        .frame_for = xoff_time_of_bits(8ull * (net->spec.max_frame_bytes + XOFF_OVERHEAD_BYTES),
                                       fastest_bps),
        .has_extra = net_frame_lines(net) > 1,
        .ties_by_port = net->spec.wire->is_one_sequence,
        .ranks = net->spec.ranks,
        .part_of = net->part_of};
    if (net->spec.wire->is_one_sequence) {
        spec.n_threads = 1;
        spec.cell_bound = XOFF_NEVER;
    }
    return spec;
}

static void build_sim(struct net *net)
{
    struct sim_spec spec = sim_spec_of(net);
    net->handlers = build_block(net->topo->n_nodes, sizeof *net->handlers);
    net->calm_handlers = build_block(net->topo->n_nodes, sizeof *net->calm_handlers);
    net_start(net, &spec.model);
    XOFF_ASSERT(sim_create(&spec, &net->sim) == 0);
    free((void *)spec.n_ports), free((void *)spec.links);
}

/* Decides which rank runs which node. */
static int build_parts(struct net *net, struct xoff_err *err)
{
    if (!net->spec.ranks)
        return 0;
    struct sim_spec spec = sim_spec_of(net);
    const int code = parts_build(net, &spec, err);
    free((void *)spec.n_ports), free((void *)spec.links);
    return code;
}

static int check_delays(const struct net *net, struct xoff_err *err)
{
    for (uint32_t l = 0; l < net->topo->n_links; l++)
        if (net_life_of(net->topo, l).min_delay < net->spec.wire->min_delay)
            return xoff_err_set(err, XOFF_E_CONFLICT, "links", NULL,
                                "compat: ns3 works in whole nanoseconds; give every link a delay "
                                "of 1ns or more");
    return 0;
}

/* Builds a switch and notes what others want to know of it. */
static int build_switch(struct net *net, uint32_t s, enum net_part *part, struct xoff_err *err)
{
    const int code = sw_build(net, net->n_hosts + s, &net->switches[s], part, err);
    if (code)
        return code;
    const struct sw *sw = net->switches[s];
    struct fabric_buffer buffer;
    net->facts[s].signalling = sw->signalling;
    for (uint32_t i = 0; sw_buffer(sw, i, &buffer); i++) {
        struct xoff_mmu_view view;
        xoff_mmu_view(buffer.mmu, &view);
        if (view.capacity_total_bytes > net->facts[s].largest_bytes)
            net->facts[s].largest_bytes = view.capacity_total_bytes;
    }
    build_check_stamps(net, sw);
    return 0;
}

static int build_switches(struct net *net, struct net_blame *blame, struct xoff_err *err)
{
    int code = 0;
    build_begin_step(net);
    for (uint32_t s = 0; s < net->n_switches && !code; s++) {
        if (!net_owns(net, net->n_hosts + s))
            continue;
        net->step.item = s;
        blame->index = net_kind_of(&net->spec, net->n_hosts + s);
        code = build_switch(net, s, &blame->part, err);
    }
    code = build_end_step(net, code, blame, err);
    if (!code)
        build_share_facts(net);
    return code;
}

static int build_receive_points(struct net *net, struct net_blame *blame, struct xoff_err *err)
{
    const struct net_receiver *receivers = net->spec.receivers;
    int code = 0;
    build_begin_step(net);
    for (uint32_t i = 0; i < net->spec.n_receivers && !code; i++) {
        if (!net_owns(net, receivers[i].host))
            continue;
        net->step.item = i;
        *blame = (struct net_blame){NET_PART_RECEIVE_POINT, receivers[i].entry};
        code = build_receive_point(net, &receivers[i], err);
    }
    return build_end_step(net, code, blame, err);
}

static int build_hosts(struct net *net, struct net_blame *blame, struct xoff_err *err)
{
    int code = 0;
    build_begin_step(net);
    for (uint32_t h = 0; h < net->n_hosts && !code; h++) {
        if (!net_owns(net, h))
            continue;
        net->step.item = h;
        blame->index = net_kind_of(&net->spec, h);
        code = build_host(net, &net->hosts[h], h, &blame->part, err);
        if (code && blame->part == NET_PART_RECEIVERS)
            blame->index = net->hosts[h].receiver->spec->entry;
    }
    return build_end_step(net, code, blame, err);
}

static void build_captures(struct net *net)
{
    for (uint32_t i = 0; i < net->spec.n_captures; i++) {
        struct port *port = net_port(net, net->spec.captures[i].node, net->spec.captures[i].port);
        if (port->capture)
            continue;
        port->is_watched = true;
        port->capture = build_block(1, sizeof *port->capture);
        port->capture->limit =
            net->spec.capture_limit ? net->spec.capture_limit : NET_CAPTURE_LIMIT;
        port->capture->step = net_frame_lines(net);
    }
}

static void build_tracers(struct net *net)
{
    for (uint32_t n = 0; n < net->topo->n_nodes && net->spec.trace_until; n++) {
        struct node *node = net_node(net, n);
        struct tracer *t = node->notes.tracer = build_block(1, sizeof *t);
        t->notes.limit = UINT64_MAX;
        t->notes.step = 1;
        t->queues = n < net->n_hosts ? NULL : net_sw(net, n)->queues;
        t->n_ports = net_node(net, n)->n_ports;
        t->ports = net_port(net, n, 0);
        t->until = net->spec.trace_until;
        for (uint32_t p = 0; p < node->n_ports; p++) {
            net_port(net, n, p)->is_watched = true;
            net_port(net, n, p)->tracer = t;
        }
    }
}

static void build_checks(struct net *net)
{
    if (!net->spec.wire_check)
        return;
    net->checks = build_block(net->topo->n_nodes, sizeof *net->checks);
    for (uint32_t n = 0; n < net->topo->n_nodes; n++) {
        net->checks[n].net = net;
        for (uint32_t p = 0; p < net_node(net, n)->n_ports; p++) {
            net_port(net, n, p)->is_watched = true;
            net_port(net, n, p)->check = &net->checks[n];
        }
    }
}

#define LARGEST_BLOCK (1 << 20)

/* Asks for large pages for the heap that the network is about to be built in, `bytes` or so. The
 * parts of a network lie scattered over hundreds of small pages, and looking those up is a tenth of
 * a run. Systems that give none, or have another heap, run as before. */
static void prefer_large_pages(uint64_t bytes)
{
#ifdef __GLIBC__
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    const uintptr_t from = ((uintptr_t)sbrk(0) + page - 1) / page * page;
    const uint64_t most = INT_MAX / 2;
    mallopt(M_MMAP_THRESHOLD, 2 * LARGEST_BLOCK);
    mallopt(M_TRIM_THRESHOLD, INT_MAX);
    mallopt(M_TOP_PAD, (int)(bytes < most ? bytes : most));
    void *volatile block = malloc(LARGEST_BLOCK); /* volatile: else compilers leave the pair out */
    free(block); /* the heap has grown by that and the pad, and keeps it */
    mallopt(M_TOP_PAD, LARGEST_BLOCK);
    if ((uintptr_t)sbrk(0) > from)
        madvise((void *)from, (uintptr_t)sbrk(0) - from, MADV_HUGEPAGE);
    errno = 0; /* a later assertion is not about memory */
#else
    (void)bytes;
#endif
}

void build_free_notes(struct notes *notes)
{
    free(notes->pauses), free(notes->drops), free(notes->samples), free(notes->heard);
    if (notes->tracer)
        build_free_frames(&notes->tracer->notes);
    free(notes->tracer);
}

static void free_host(struct host *host)
{
    build_free_port(&host->port);
    build_free_receiver(host->receiver);
    free(host->bus);
    build_free_sched(&host->sched, 1), free(host->sched_state);
    free(host->store.frames), free(host->flows), free(host->timer_entries), free(host->timer_pos);
    free(host->app_rngs), free(host->app_connections), free(host->rx);
    if (host->net && host->net->fold)
        fold_free_notes(host);
    else
        free(host->flow_notes);
    free(host->rx_notes), free(host->operations), free(host->app_first_connection);
    free(host->messages.at), free(host->ranges.blocks), free(host->rx_states), free(host->delayed);
    free(host->finished), free(host->pending), free(host->n_flows_to);
    free(host->scan.flows);
    build_free_notes(&host->notes);
}

static void mark_slow_hosts(struct net *net)
{
    for (uint32_t h = 0; h < net->n_hosts; h++) {
        struct host *host = &net->hosts[h];
        if (net_owns(net, h))
            host->is_slow =
                host->receiver || host->bus || host->port.is_watched || host->port.error_ppb;
    }
}

int net_create(const struct net_spec *spec, struct net **out, struct net_blame *blame,
               struct xoff_err *err)
{
    prefer_large_pages(net_estimate(spec) / (spec->ranks ? spec->ranks->n : 1));
    struct net *net = build_block(1, sizeof *net);
    net->spec = *spec;
    net->topo = spec->topo;
    net->n_hosts = spec->topo->n_hosts;
    net->n_switches = spec->topo->n_nodes - spec->topo->n_hosts;
    /* Hosts of other ranks are never touched: they take addresses and no memory. */
    net->hosts_block = build_block(net->n_hosts + 1, sizeof *net->hosts);
    net->hosts = (struct host *)(((uintptr_t)net->hosts_block + 63) / 64 * 64);
    net->switches = build_block(net->n_switches, sizeof(struct sw *));
    net->facts = build_block(net->n_switches, sizeof *net->facts);
    if (!net->spec.notice_bytes)
        net->spec.notice_bytes = XOFF_MIN_FRAME_BYTES;
    XOFF_ASSERT(net->spec.notice_bytes <= net->spec.max_frame_bytes);
    *blame = (struct net_blame){0};
    *err = (struct xoff_err){0}; /* configure() must find it empty, see net_configured() */
    int code = check_delays(net, err);
    if (!code && (code = build_parts(net, err)))
        blame->part = NET_PART_COMMAND;
    if (!code)
        code = routes_create(net->topo, 0, true, &net->routes, err);
    net->fastest_bps = build_block(net->n_switches, sizeof *net->fastest_bps);
    for (uint32_t s = 0; s < net->n_switches; s++)
        net->fastest_bps[s] = net_fastest(net->topo, net->n_hosts + s);
    if (!code) {
        blame->part = NET_PART_TRANSPORT;
        code = build_transports(net, &blame->index, err);
    }
    if (spec->wire->is_one_sequence)
        net->sequence = build_block(1, sizeof *net->sequence);
    if (!code)
        code = build_switches(net, blame, err);
    if (!code) {
        net_warn_of_pauses(net, err);
        blame->part = NET_PART_TRANSPORT;
        code = build_check_telemetry(net, &blame->index, err);
    }
    if (!code)
        code = build_receive_points(net, blame, err);
    for (uint32_t s = 0; s < net->n_switches && !code; s++)
        if (net->switches[s])
            build_store(net->switches[s]); /* by now every mechanism has said what frames carry */
    if (!code)
        code = build_hosts(net, blame, err);
    if (code) {
        net_destroy(net);
        return code;
    }
    build_gates(net);
    build_sim(net);
    build_apps(net);
    if ((code = build_dcbx(net, blame, err))) {
        net_destroy(net);
        return code;
    }
    for (uint32_t s = 0; s < net->n_switches; s++)
        if (net->switches[s])
            node_rearm(&net->switches[s]->head, sim_exclusive(net->sim));
    build_captures(net);
    build_tracers(net);
    build_checks(net);
    mark_slow_hosts(net);
    if (spec->summarises)
        fold_create(net);
    calm_build(net);
    *out = net;
    return 0;
}

void net_destroy(struct net *net)
{
    if (!net)
        return;
    for (uint32_t s = 0; s < net->n_switches; s++)
        sw_destroy(net->switches[s]);
    for (uint32_t h = 0; h < net->n_hosts; h++)
        free_host(&net->hosts[h]);
    fold_destroy(net);
    sim_destroy(net->sim);
    routes_destroy(net->routes);
    free(net->hosts_block), free(net->switches), free(net->apps), free(net->facts);
    free(net->part_of), free(net->unstamped), free(net->handlers), free(net->calm_handlers);
    build_free_transports(net);
    free(net->deadlocks), free(net->deadlock_ports), free(net->deadlock_marks);
    free(net->warnings);
    free(net->sequence), free(net->fastest_bps), free(net->checks);
    marks_free(net);
    build_free_far_editions(net);
    free(net);
}
