/* Costs of single operations: buffer admission and release, queue selection, route lookup, event
 * queue, random draw; and the sizes of what there are many of. */
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "net/model.h"
#include "sim/queue.h"

enum { ROUNDS = 7, REPEATS = 200000, PORTS = 32 };

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* Keeps the compiler from throwing the work away. */
static volatile uint64_t sink;

struct rig {
    struct xoff_mmu mmu;
    struct xoff_sched sched;
    unsigned char sched_state[512];
    struct routes *routes;
    struct topo topo;
    struct queue *queue;
    struct xoff_rng rng;
};

static void bench_mmu(struct rig *rig)
{
    struct xoff_crossings crossings;
    uint64_t sum = 0;
    for (uint32_t i = 0; i < REPEATS; i++) {
        const struct xoff_arrival a = {.in_port = (uint16_t)(i * 7 % PORTS),
                                       .out_port = (uint16_t)(i * 13 % PORTS),
                                       .priority = 3,
                                       .bytes = 1518};
        const enum xoff_pool pool = xoff_mmu_admit(&rig->mmu, &a, 0, &crossings);
        const struct xoff_departure d = {.in_port = a.in_port,
                                         .out_port = a.out_port,
                                         .priority = 3,
                                         .pool = (uint8_t)pool,
                                         .bytes = 1518};
        xoff_mmu_release(&rig->mmu, &d, 0, &crossings);
        sum += pool + crossings.n;
    }
    sink = sum;
}

static void bench_select(struct rig *rig)
{
    const uint32_t bytes[8] = {1518, 64, 1518, 1518, 600, 1518, 64, 1518};
    const xoff_time since[8] = {0};
    uint64_t sum = 0;
    for (uint32_t i = 0; i < REPEATS; i++) {
        const uint8_t mask = (uint8_t)(i * 37 | 1);
        const struct xoff_sched_view view = {mask, mask, bytes, since};
        const uint32_t q = xoff_sched_select(&rig->sched, rig->sched_state, &view);
        xoff_sched_charge(&rig->sched, rig->sched_state, q, bytes[q], false);
        sum += q;
    }
    sink = sum;
}

static void bench_route(struct rig *rig)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < REPEATS; i++)
        sum += routes_lookup(rig->routes, rig->topo.n_hosts + i % 2,
                             (i * 2654435761u >> 8) % rig->topo.n_hosts, i * 40503u);
    sink = sum;
}

static void bench_event(struct rig *rig)
{
    struct queue *q = rig->queue;
    uint64_t sum = 0;
    for (uint32_t i = 0; i < PORTS; i++)
        queue_insert(q, i, queue_key(q, (xoff_time)(i * 29791 % 500000), SIM_ARRIVAL, i, i));
    xoff_time at = 500000;
    for (uint32_t i = 0; i < REPEATS; i++) {
        const uint32_t slot = queue_take(q, 8);
        sum += slot;
        if (slot == QUEUE_END || at >= 1000000) { /* the window is over: start again */
            while (queue_take(q, 8) != QUEUE_END)
                ;
            q->word = 0;
            at = 0;
            for (uint32_t k = 0; k < PORTS; k++)
                queue_insert(q, k, queue_key(q, (xoff_time)(k * 29791 % 500000), 0, k, k));
            continue;
        }
        at = (xoff_time)(q->key[slot] >> 28) + 123456;
        if (at < 1000000)
            queue_insert(q, slot, queue_key(q, at, SIM_ARRIVAL, slot, slot));
    }
    while (queue_take(q, 8) != QUEUE_END)
        ;
    q->word = 0;
    sink = sum;
}

static void bench_draw(struct rig *rig)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < REPEATS; i++)
        sum += xoff_rng_u32(&rig->rng);
    sink = sum;
}

static double median_ns(double (*clock)(void), struct rig *rig, void (*run)(struct rig *))
{
    double ns[ROUNDS];
    for (uint32_t r = 0; r < ROUNDS; r++) {
        const double began = clock();
        run(rig);
        ns[r] = (clock() - began) * 1e9 / REPEATS;
    }
    qsort(ns, ROUNDS, sizeof *ns, compare);
    return ns[ROUNDS / 2];
}

/* Two switches, each with half of the hosts, joined by four links. */
static void make_routes(struct rig *rig)
{
    const uint32_t n_hosts = 64, n_links = n_hosts + 4;
    struct topo *t = &rig->topo;
    *t = (struct topo){.n_nodes = n_hosts + 2,
                       .n_hosts = n_hosts,
                       .n_links = n_links,
                       .reroute_after = XOFF_NEVER};
    t->nodes = calloc(t->n_nodes, sizeof *t->nodes);
    t->links = calloc(n_links, sizeof *t->links);
    XOFF_ASSERT(t->nodes && t->links);
    for (uint32_t n = 0; n < t->n_nodes; n++)
        t->nodes[n].kind = n < n_hosts ? TOPO_HOST : TOPO_SWITCH;
    for (uint32_t l = 0; l < n_links; l++) {
        t->links[l].node[0] = l < n_hosts ? l : n_hosts;
        t->links[l].node[1] = l < n_hosts ? n_hosts + (l >= n_hosts / 2) : n_hosts + 1;
        t->links[l].rate_bps = XOFF_GBPS;
    }
    struct xoff_err err;
    XOFF_ASSERT(topo_finish(t, &err) == 0);
    XOFF_ASSERT(routes_create(t, 0, true, &rig->routes, &err) == 0);
}

static void make_rig(struct rig *rig)
{
    struct xoff_mmu_port ports[PORTS];
    for (uint32_t p = 0; p < PORTS; p++)
        ports[p] = (struct xoff_mmu_port){.rate_bps = 100 * XOFF_GBPS, .headroom_bytes = 55000};
    const struct xoff_mmu_env env = {.n_ports = PORTS,
                                     .lossless = 8,
                                     .max_frame_bytes = 1518,
                                     .buffer_bytes = 16000000,
                                     .nic_rate_bps = 100 * XOFF_GBPS,
                                     .ports = ports};
    const struct xoff_mmu_ops *mmu = xoff_mmus[0];
    void *params = calloc(1, mmu->params_size), *cfg = calloc(1, mmu->cfg_size(&env));
    struct xoff_err err;
    XOFF_ASSERT(params && cfg);
    xoff_param_defaults(mmu->params, params);
    XOFF_ASSERT(mmu->configure(params, &env, cfg, &err) == 0);
    void *state = calloc(1, mmu->state_size(cfg));
    mmu->init(cfg, state);
    rig->mmu = (struct xoff_mmu){mmu, cfg, state};
    free(params);

    const struct xoff_sched_ops *sched = xoff_scheds[0];
    struct xoff_sched_env senv = {.max_frame_bytes = 1518};
    for (uint32_t p = 0; p < XOFF_N_PRIORITIES; p++)
        senv.weight[p] = 1 + p;
    void *sparams = calloc(1, sched->params_size + 1), *scfg = calloc(1, sched->cfg_size + 1);
    XOFF_ASSERT(sparams && scfg && sched->state_size <= sizeof rig->sched_state);
    xoff_param_defaults(sched->params, sparams);
    XOFF_ASSERT(sched->configure(sparams, &senv, scfg, &err) == 0);
    sched->init(scfg, rig->sched_state);
    rig->sched = (struct xoff_sched){sched, scfg};
    free(sparams);

    make_routes(rig);
    rig->queue = calloc(1, sizeof *rig->queue);
    XOFF_ASSERT(rig->queue);
    rig->queue->key = calloc(PORTS, sizeof(uint64_t));
    rig->queue->next = calloc(PORTS, sizeof(uint16_t));
    rig->queue->shift = 11;
    xoff_rng_init(&rig->rng, 1, 2, 3);
}

static void free_rig(struct rig *rig)
{
    free((void *)rig->mmu.cfg), free(rig->mmu.state), free((void *)rig->sched.cfg);
    free(rig->queue->key), free(rig->queue->next), free(rig->queue);
    routes_destroy(rig->routes);
    topo_fini(&rig->topo);
}

unsigned bench_operations(double (*clock)(void), struct bench_operation rows[BENCH_MAX])
{
    struct rig rig = {0};
    make_rig(&rig);
    unsigned n = 0;
    rows[n++] = (struct bench_operation){"admit and release", median_ns(clock, &rig, bench_mmu)};
    rows[n++] = (struct bench_operation){"select and charge", median_ns(clock, &rig, bench_select)};
    rows[n++] = (struct bench_operation){"route", median_ns(clock, &rig, bench_route)};
    rows[n++] = (struct bench_operation){"event in and out", median_ns(clock, &rig, bench_event)};
    rows[n++] = (struct bench_operation){"random draw", median_ns(clock, &rig, bench_draw)};
    free_rig(&rig);
    return n;
}

unsigned bench_sizes(struct bench_size rows[BENCH_MAX])
{
    unsigned n = 0;
    rows[n++] = (struct bench_size){"frame", sizeof(struct frame)};
    rows[n++] = (struct bench_size){"egress queue", sizeof(struct egress)};
    rows[n++] = (struct bench_size){"switch port", sizeof(struct sw_port)};
    rows[n++] = (struct bench_size){"host", sizeof(struct host)};
    rows[n++] = (struct bench_size){"link, one way", sizeof(struct link)};
    size_t rp_bytes = 0;
    for (uint32_t i = 0; xoff_rps[i]; i++)
        rp_bytes = xoff_rps[i]->state_size > rp_bytes ? xoff_rps[i]->state_size : rp_bytes;
    rows[n++] = (struct bench_size){"flow, sending", sizeof(struct flow)};
    rows[n++] = (struct bench_size){"  with DCQCN",
                                    sizeof(struct flow) + xoff_rp_find("dcqcn")->state_size};
    rows[n++] = (struct bench_size){"  with TCP and the largest reaction point",
                                    sizeof(struct flow) + sizeof(struct xoff_tcp_tx) + rp_bytes};
    rows[n++] = (struct bench_size){"flow, receiving", sizeof(struct rx_flow)};
    rows[n++] = (struct bench_size){"  with TCP", sizeof(struct rx_flow) + sizeof(struct tcp_flow)};
    rows[n++] = (struct bench_size){"flow, finished: records at both ends",
                                    sizeof(struct flow_note) + sizeof(struct rx_note)};
    return n;
}
