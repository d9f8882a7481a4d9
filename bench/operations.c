/* Costs of single operations: buffer admission and release, pause policies, queue selection by each
 * scheduler, congestion point, route lookup, event queue, random draw; and the sizes of the most
 * frequent objects. Buffers get the same frames each and take turns, so that other load on the
 * machine affects all of them alike; so do pause policies. */
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "net/egress.h"
#include "net/model.h"
#include "sim/queue.h"

enum { ROUNDS = 7, REPEATS = 200000, PORTS = 32, STANDING = 1600, QUEUED = 320 };

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static const char *const mmu_names[] = {"sih", "dsh"};
static const char *const mmu_rows[] = {"admit and release, sih", "admit and release, dsh"};
enum { N_MMUS = sizeof mmu_names / sizeof *mmu_names };

/* Pause policies by egress queue, on a queue of QUEUED frames: below every watermark, and above. */
static const struct {
    const char *row, *kind, *keys[5], *values[5];
} pause_rows[] = {
    {"enqueue and dequeue, pfc by egress",
     "pfc",
     {"trigger", "xoff", "xon"},
     {"egress", "1MB", "900KB"}},
    {"  tpfc below tw", "tpfc", {"lw", "tw", "hw"}, {"1B", "900KB", "1MB"}},
    {"  tpfc above tw, fair", "tpfc", {"lw", "tw", "hw"}, {"1B", "2B", "1MB"}},
    {"  tpfc above tw, random",
     "tpfc",
     {"lw", "tw", "hw", "targeting"},
     {"1B", "2B", "1MB", "random"}},
    {"  tpfc above tw, fair by scan",
     "tpfc",
     {"lw", "tw", "hw", "statistics"},
     {"1B", "2B", "1MB", "scan"}},
    {"  capfc below warn", "capfc", {"xon", "xoff"}, {"900KB", "1MB"}},
    {"  capfc above xoff, max", "capfc", {"xon", "xoff", "select"}, {"1B", "2B", "max"}},
    {"  capfc above xoff, calibrate",
     "capfc",
     {"xon", "xoff", "select", "cut"},
     {"1B", "2B", "calibrate", "50%"}},
};
enum { N_PAUSES = sizeof pause_rows / sizeof *pause_rows };

/* Keeps the compiler from removing the work. */
static volatile uint64_t sink;

struct rig {
    struct xoff_mmu mmus[N_MMUS];
    const struct xoff_mmu *mmu; /* the one in use */
    struct xoff_pause pauses[N_PAUSES];
    const struct xoff_pause *pause; /* the one in use */
    uint64_t n_queued;              /* frames queued, over all policies */
    struct xoff_sched sched;        /* the scheduler being measured */
    unsigned char sched_state[4096];
    struct routes *routes;
    struct topo topo;
    struct queue *queue;
    struct xoff_rng rng;
    struct xoff_cp cp;
    _Alignas(16) unsigned char cp_state[64];
    struct point metered; /* a port with FECN's congestion point */
    struct port port;
    _Alignas(16) unsigned char metered_state[64];
};

static enum xoff_pool mmu_in(const struct xoff_mmu *mmu, uint32_t i, struct xoff_crossings *out)
{
    const struct xoff_arrival a = {.in_port = (uint16_t)(i * 7 % PORTS),
                                   .out_port = (uint16_t)(i * 13 % PORTS),
                                   .priority = 3,
                                   .bytes = 1518};
    return xoff_mmu_admit(mmu, &a, 0, out);
}

static void mmu_out(const struct xoff_mmu *mmu, uint32_t i, uint8_t pool,
                    struct xoff_crossings *out)
{
    const struct xoff_departure d = {.in_port = (uint16_t)(i * 7 % PORTS),
                                     .out_port = (uint16_t)(i * 13 % PORTS),
                                     .priority = 3,
                                     .pool = pool,
                                     .bytes = 1518};
    xoff_mmu_release(mmu, &d, 0, out);
}

/* The buffer fills up to STANDING frames and empties again: reserves, shared pool, past the
 * thresholds into headroom, and back. */
static void bench_mmu(struct rig *rig)
{
    struct xoff_crossings crossings;
    uint8_t pools[STANDING];
    uint64_t sum = 0;
    for (uint32_t done = 0; done < REPEATS; done += STANDING) {
        for (uint32_t i = 0; i < STANDING; i++) {
            pools[i] = (uint8_t)mmu_in(rig->mmu, i, &crossings);
            XOFF_ASSERT(pools[i] != XOFF_POOL_DROP);
            sum += pools[i] + crossings.n;
        }
        for (uint32_t i = 0; i < STANDING; i++) {
            mmu_out(rig->mmu, i, pools[i], &crossings);
            sum += crossings.n;
        }
    }
    sink = sum;
}

/* Port 0 sends every other frame, the others take turns; the last, where the queue is, none. */
static uint16_t sender_of(uint64_t i)
{
    return (uint16_t)(i % 2 ? 1 + i / 2 % (PORTS - 2) : 0);
}

static uint32_t pause_in(const struct xoff_pause *pause, uint64_t i)
{
    static const struct xoff_crossings none;
    struct xoff_edge at[PORTS];
    struct xoff_edges edges = {.at = at};
    const struct xoff_arrival a = {.in_port = sender_of(i),
                                   .out_port = PORTS - 1,
                                   .priority = 3,
                                   .bytes = 1518,
                                   .egress_bytes = QUEUED * 1518};
    xoff_pause_on_arrival(pause, &a, &none, 0, &edges);
    return edges.n;
}

static void bench_pause(struct rig *rig)
{
    static const struct xoff_crossings none;
    struct xoff_edge at[PORTS];
    struct xoff_edges edges = {.at = at};
    uint64_t sum = 0;
    for (uint64_t i = rig->n_queued; i < rig->n_queued + REPEATS; i++) {
        const struct xoff_departure d = {.in_port = sender_of(i - QUEUED),
                                         .out_port = PORTS - 1,
                                         .priority = 3,
                                         .pool = XOFF_POOL_SHARED,
                                         .bytes = 1518,
                                         .egress_bytes = (QUEUED - 1) * 1518};
        sum += pause_in(rig->pause, i);
        xoff_pause_on_departure(rig->pause, &d, &none, 0, &edges);
        sum += edges.n;
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
        const struct xoff_sched_view view = {mask, mask, bytes, since, (xoff_time)i * XOFF_NS};
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

/* A window of 1000000 ps with an event for each port. */
static void open_window(struct queue *q)
{
    queue_open(q, 1000000, 9, 2 * PORTS);
    for (uint32_t i = 0; i < PORTS; i++)
        queue_insert(q, queue_key(q, (xoff_time)(i * 29791 % 500000), SIM_ARRIVAL, i));
}

static void bench_event(struct rig *rig)
{
    struct queue *q = rig->queue;
    uint64_t sum = 0;
    open_window(q);
    for (uint32_t i = 0; i < REPEATS; i++) {
        if (q->first_key == QUEUE_NONE) /* the window is over: start again */
            open_window(q);
        const uint64_t key = queue_take(q);
        sum += key;
        const xoff_time at = queue_key_at(q, key) + 123456;
        if (at < 1000000)
            queue_insert(q, queue_key(q, at, SIM_ARRIVAL, queue_key_slot(key)));
    }
    while (q->first_key != QUEUE_NONE)
        queue_take(q);
    sink = sum;
}

/* A frame joins a queue at the set point of its congestion point, as the switch asks it: most
 * frames are counted, one in a hundred is sampled, with its draw. */
static void bench_point(struct rig *rig)
{
    struct xoff_cp_answer answer;
    uint64_t sum = 0;
    for (uint32_t i = 0; i < REPEATS; i++) {
        if (xoff_cp_is_due(rig->cp_state, 1518, true)) {
            const struct xoff_cp_frame frame = {.queue_bytes = 26000,
                                                .bytes = 1518,
                                                .draw = xoff_rng_u32(&rig->rng),
                                                .is_data = true};
            xoff_cp_on_enqueue(&rig->cp, rig->cp_state, &frame, 0, &answer);
            sum += answer.notify;
        }
        __asm__ volatile("" : : "r"(rig->cp_state) : "memory"); /* the count is in memory */
    }
    sink = sum;
}

/* The same for a point that measures its load. The queue is empty before and after each frame, so
 * that a backlog begins and ends; one frame in 100 carries a tag. */
static void bench_metered(struct rig *rig)
{
    struct xoff_cp_answer answer;
    const struct egress one = {.n = 1, .bytes = 1518}, none = {0};
    const struct xoff_notice tag = {.rate_bps = XOFF_NOTICE_NO_RATE, .kind = XOFF_NOTICE_FECN};
    struct frame frames[100];
    for (uint32_t i = 0; i < 100; i++)
        frames[i] = (struct frame){.bytes = 1518, .kind = FRAME_DATA};
    frames[0].flags = FRAME_ASKS_RATE;
    uint64_t sum = 0;
    xoff_time now = 0;
    for (uint32_t i = 0; i < REPEATS / 100; i++)
        for (const struct frame *f = frames; f < frames + 100; f++, now += 1300 * XOFF_NS) {
            if (meter_joined(&rig->metered, &one, f, now)) {
                const struct xoff_cp_load load = {.queue_bytes = 1518};
                const struct xoff_cp_frame view = {.queue_bytes = 1518,
                                                   .bytes = 1518,
                                                   .is_data = true,
                                                   .tag = &tag,
                                                   .load = &load};
                xoff_cp_on_enqueue(&rig->metered.cp, rig->metered_state, &view, now, &answer);
                sum += answer.write;
            }
            meter_left(&rig->metered, &none, f, &rig->port, now);
            __asm__ volatile("" : : "r"(rig), "r"(f) : "memory"); /* all of it is in memory */
        }
    sink = sum;
}

static void bench_draw(struct rig *rig)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < REPEATS; i++)
        sum += xoff_rng_u32(&rig->rng);
    sink = sum;
}

static double round_ns(double (*clock)(void), struct rig *rig, void (*run)(struct rig *))
{
    const double began = clock();
    run(rig);
    return (clock() - began) * 1e9 / REPEATS;
}

static double median_ns(double (*clock)(void), struct rig *rig, void (*run)(struct rig *))
{
    double ns[ROUNDS];
    for (uint32_t r = 0; r < ROUNDS; r++)
        ns[r] = round_ns(clock, rig, run);
    qsort(ns, ROUNDS, sizeof *ns, compare);
    return ns[ROUNDS / 2];
}

static unsigned bench_mmus(double (*clock)(void), struct rig *rig, struct bench_operation *rows)
{
    double ns[N_MMUS][ROUNDS];
    for (uint32_t r = 0; r < ROUNDS; r++)
        for (uint32_t i = 0; i < N_MMUS; i++) {
            rig->mmu = &rig->mmus[i];
            ns[i][r] = round_ns(clock, rig, bench_mmu);
        }
    for (uint32_t i = 0; i < N_MMUS; i++) {
        qsort(ns[i], ROUNDS, sizeof *ns[i], compare);
        rows[i] = (struct bench_operation){mmu_rows[i], ns[i][ROUNDS / 2]};
    }
    return N_MMUS;
}

static unsigned bench_pauses(double (*clock)(void), struct rig *rig, struct bench_operation *rows)
{
    double ns[N_PAUSES][ROUNDS];
    for (uint32_t r = 0; r < ROUNDS; r++) {
        for (uint32_t i = 0; i < N_PAUSES; i++) {
            rig->pause = &rig->pauses[i];
            ns[i][r] = round_ns(clock, rig, bench_pause);
        }
        rig->n_queued += REPEATS;
    }
    for (uint32_t i = 0; i < N_PAUSES; i++) {
        qsort(ns[i], ROUNDS, sizeof *ns[i], compare);
        rows[i] = (struct bench_operation){pause_rows[i].row, ns[i][ROUNDS / 2]};
    }
    return N_PAUSES;
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

/* A scheduler with its default parameters, and a weight of its own for each priority. */
static void make_sched(struct rig *rig, const struct xoff_sched_ops *ops)
{
    struct xoff_sched_env env = {.max_frame_bytes = 1518};
    for (uint32_t p = 0; p < XOFF_N_PRIORITIES; p++)
        env.weight[p] = 1 + p;
    struct xoff_err err;
    void *params = calloc(1, ops->params_size + 1), *cfg = calloc(1, ops->cfg_size + 1);
    XOFF_ASSERT(params && cfg);
    xoff_param_defaults(ops->params, params);
    free((void *)rig->sched.cfg);
    XOFF_ASSERT(xoff_sched_configure(&rig->sched, ops, params, &env, cfg, &err) == 0);
    XOFF_ASSERT(rig->sched.shape.state_size <= sizeof rig->sched_state);
    xoff_sched_init(&rig->sched, rig->sched_state);
    free(params);
}

/* All have a shared pool of 2.75 MB and one alpha; the fullest port is past every threshold with
 * STANDING frames in the buffer, and not out of headroom. */
static void make_mmu(const struct xoff_mmu_ops *ops, struct xoff_mmu *mmu)
{
    struct xoff_mmu_port ports[PORTS];
    for (uint32_t p = 0; p < PORTS; p++)
        ports[p] = (struct xoff_mmu_port){.rate_bps = 100 * XOFF_GBPS, .headroom_bytes = 20000};
    const struct xoff_mmu_env env = {.n_ports = PORTS,
                                     .lossless = 8,
                                     .max_frame_bytes = 1518,
                                     .buffer_bytes = 3650000,
                                     .nic_rate_bps = 100 * XOFF_GBPS,
                                     .ports = ports};
    void *params = calloc(1, ops->params_size), *cfg = calloc(1, xoff_mmu_cfg_size(ops, PORTS));
    struct xoff_err err;
    XOFF_ASSERT(params && cfg);
    xoff_param_defaults(ops->params, params);
    XOFF_ASSERT(xoff_param_set(xoff_param_find(ops->params, "alpha"), params, "1/8", &err) == 0);
    XOFF_ASSERT(xoff_mmu_configure(mmu, ops, params, &env, cfg, &err) == 0);
    void *state = calloc(1, mmu->shape.state_size);
    XOFF_ASSERT(state);
    xoff_mmu_init(mmu, state);
    free(params);
}

static void make_pause(uint32_t row, struct xoff_pause *pause)
{
    const struct xoff_pause_ops *ops = xoff_pause_find(pause_rows[row].kind);
    struct xoff_mmu_port ports[PORTS] = {0};
    struct xoff_pause_env env = {.n_ports = PORTS,
                                 .lossless = 8,
                                 .min_frame_bytes = XOFF_MIN_FRAME_BYTES,
                                 .max_frame_bytes = 1518,
                                 .buffer_bytes = 3650000,
                                 .egress_bytes = 3650000,
                                 .ports = ports};
    xoff_rng_init(&env.rng, 1, 2, 4);
    void *params = calloc(1, ops->params_size), *cfg = calloc(1, xoff_pause_cfg_size(ops, PORTS));
    struct xoff_err err;
    XOFF_ASSERT(params && cfg);
    xoff_param_defaults(ops->params, params);
    for (uint32_t k = 0; pause_rows[row].keys[k]; k++)
        XOFF_ASSERT(xoff_param_set(xoff_param_find(ops->params, pause_rows[row].keys[k]), params,
                                   pause_rows[row].values[k], &err) == 0);
    XOFF_ASSERT(xoff_pause_configure(pause, ops, params, &env, cfg, &err) == 0);
    void *state = calloc(1, pause->shape.state_size);
    XOFF_ASSERT(state);
    xoff_pause_init(pause, state);
    free(params);
    for (uint64_t i = 0; i < QUEUED; i++)
        pause_in(pause, i);
}

static void make_point(const char *kind, struct xoff_cp *cp, void *state, size_t state_size)
{
    const struct xoff_cp_ops *ops = xoff_cp_find(kind);
    const struct xoff_cp_env env = {.rate_bps = 10 * XOFF_GBPS, .buffer_bytes = 1000000};
    void *params = calloc(1, ops->params_size), *cfg = calloc(1, ops->cfg_size);
    struct xoff_err err;
    XOFF_ASSERT(params && cfg);
    xoff_param_defaults(ops->params, params);
    XOFF_ASSERT(xoff_cp_configure(cp, ops, params, &env, cfg, &err) == 0);
    XOFF_ASSERT(cp->shape.state_size <= state_size);
    xoff_cp_init(cp, state);
    free(params);
}

static void make_rig(struct rig *rig)
{
    rig->port.ps_per_byte = 800; /* 10 Gb/s */
    make_point("qcn", &rig->cp, rig->cp_state, sizeof rig->cp_state);
    make_point("fecn", &rig->metered.cp, rig->metered_state, sizeof rig->metered_state);
    rig->metered.heeds = FRAME_ASKS_RATE;
    for (uint32_t i = 0; i < N_PAUSES; i++)
        make_pause(i, &rig->pauses[i]);
    rig->n_queued = QUEUED;
    for (uint32_t i = 0; i < N_MMUS; i++)
        make_mmu(xoff_mmu_find(mmu_names[i]), &rig->mmus[i]);

    make_routes(rig);
    rig->queue = calloc(1, sizeof *rig->queue);
    XOFF_ASSERT(rig->queue);
    static const uint16_t ports[PORTS];
    rig->queue->ports = ports;
    queue_init(rig->queue);
    xoff_rng_init(&rig->rng, 1, 2, 3);
}

static void free_rig(struct rig *rig)
{
    for (uint32_t i = 0; i < N_MMUS; i++)
        free((void *)rig->mmus[i].cfg), free(rig->mmus[i].state);
    for (uint32_t i = 0; i < N_PAUSES; i++)
        free((void *)rig->pauses[i].cfg), free(rig->pauses[i].state);
    free((void *)rig->sched.cfg), free((void *)rig->cp.cfg);
    free((void *)rig->metered.cp.cfg);
    queue_free(rig->queue), free(rig->queue);
    routes_destroy(rig->routes);
    topo_fini(&rig->topo);
}

unsigned bench_operations(double (*clock)(void), struct bench_operation rows[BENCH_MAX])
{
    struct rig rig = {0};
    make_rig(&rig);
    unsigned n = bench_mmus(clock, &rig, rows);
    n += bench_pauses(clock, &rig, rows + n);
    static const char *const names[] = {"drr", "drr-awc", "wfq"};
    static const char *const titles[] = {"select and charge, drr", "select and charge, drr-awc",
                                         "select and charge, wfq"};
    make_sched(&rig, xoff_scheds[0]);
    rows[n++] = (struct bench_operation){"select and charge", median_ns(clock, &rig, bench_select)};
    for (uint32_t i = 0; i < 3; i++) {
        make_sched(&rig, xoff_sched_find(names[i]));
        rows[n++] = (struct bench_operation){titles[i], median_ns(clock, &rig, bench_select)};
    }
    rows[n++] = (struct bench_operation){"enqueue, qcn", median_ns(clock, &rig, bench_point)};
    rows[n++] = (struct bench_operation){"enqueue and dequeue, fecn",
                                         median_ns(clock, &rig, bench_metered)};
    rows[n++] = (struct bench_operation){"route", median_ns(clock, &rig, bench_route)};
    rows[n++] = (struct bench_operation){"event in and out", median_ns(clock, &rig, bench_event)};
    rows[n++] = (struct bench_operation){"random draw", median_ns(clock, &rig, bench_draw)};
    free_rig(&rig);
    return n;
}

static size_t rp_state_size(const struct xoff_rp_ops *ops)
{
    _Alignas(16) unsigned char params[1024], cfg[1024];
    const struct xoff_rp_env env = {
        .rate_bps = 100 * XOFF_GBPS, .frame_bytes = 1518, .payload_bytes = 1456};
    struct xoff_rp_shape shape = {0};
    struct xoff_err err;
    XOFF_ASSERT(ops->params_size <= sizeof params && ops->cfg_size <= sizeof cfg);
    xoff_param_defaults(ops->params, params);
    if (ops->configure)
        XOFF_ASSERT(ops->configure(params, &env, cfg, &shape, &err) == 0);
    return shape.state_size;
}

static struct xoff_rel_shape rel_shape(const struct xoff_rel_ops *ops)
{
    _Alignas(16) unsigned char params[1024], cfg[1024];
    const struct xoff_rel_env env = {
        .payload_bytes = 1456, .timeout_for = XOFF_MS, .ack_delay = XOFF_US, .ack_every = 1};
    struct xoff_rel_shape shape = {0};
    struct xoff_err err;
    XOFF_ASSERT(ops->params_size <= sizeof params && ops->cfg_size <= sizeof cfg);
    xoff_param_defaults(ops->params, params);
    XOFF_ASSERT(ops->configure(params, &env, cfg, &shape, &err) == 0);
    return shape;
}

unsigned bench_sizes(struct bench_size rows[BENCH_MAX])
{
    unsigned n = 0;
    rows[n++] = (struct bench_size){"frame", sizeof(struct frame)};
    rows[n++] = (struct bench_size){"egress queue", sizeof(struct egress)};
    rows[n++] = (struct bench_size){"switch port", sizeof(struct port) +
                                                       XOFF_N_PRIORITIES * sizeof(struct egress)};
    rows[n++] = (struct bench_size){"host", sizeof(struct host)};
    rows[n++] = (struct bench_size){"link, one way", sizeof(struct link)};
    const struct xoff_rel_shape tcp = rel_shape(xoff_rel_find("tcp"));
    const size_t tcp_bytes = sizeof(struct flow) - sizeof(struct xoff_rel_tx) + tcp.tx_size;
    size_t rp_bytes = 0;
    for (uint32_t i = 0; xoff_rps[i]; i++) {
        const size_t bytes = rp_state_size(xoff_rps[i]);
        rp_bytes = bytes > rp_bytes ? bytes : rp_bytes;
    }
    rows[n++] = (struct bench_size){"flow, sending", sizeof(struct flow)};
    rows[n++] = (struct bench_size){"  with DCQCN",
                                    sizeof(struct flow) + rp_state_size(xoff_rp_find("dcqcn"))};
    rows[n++] =
        (struct bench_size){"  with TCP and the largest reaction point", tcp_bytes + rp_bytes};
    rows[n++] = (struct bench_size){"flow, receiving", sizeof(struct rx_flow)};
    rows[n++] = (struct bench_size){"  with TCP", sizeof(struct rx_flow) + tcp.rx_size};
    rows[n++] = (struct bench_size){"flow, finished: records at both ends",
                                    sizeof(struct flow_note) + sizeof(struct rx_note)};
    return n;
}
