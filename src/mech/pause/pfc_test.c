/* PFC and PAUSE policies: traces by hand for both triggers, and random events against a slow model
 * that compares sets before and after.
 */
#include <xoff/rng.h>

#include "pause_testing.h"

static void bench_arrive(struct bench *b, const struct xoff_arrival *a,
                         const struct xoff_crossings *c)
{
    xoff_pause_on_arrival(&b->policy, a, c, 0, &b->edges);
    bench_follow(b);
}

static void bench_depart(struct bench *b, const struct xoff_departure *d,
                         const struct xoff_crossings *c)
{
    xoff_pause_on_departure(&b->policy, d, c, 0, &b->edges);
    bench_follow(b);
}

/* A single crossing, reported with an arrival when above and a departure when below. */
static void cross(struct bench *b, enum xoff_unit unit, uint16_t port, uint8_t priority, int above)
{
    const struct xoff_crossings c = {.n = 1,
                                     .at = {{.unit = (uint8_t)unit,
                                             .above = (uint8_t)above,
                                             .priority = priority,
                                             .port = port,
                                             .occupied_bytes = 100 * port + priority,
                                             .threshold_bytes = 70}}};
    const struct xoff_arrival a = {.in_port = port, .priority = priority, .bytes = 64};
    const struct xoff_departure d = {.in_port = port, .priority = priority, .bytes = 64};
    if (above)
        bench_arrive(b, &a, &c);
    else
        bench_depart(b, &d, &c);
}

static void expect_edge(const struct bench *b, uint32_t i, uint16_t port, uint8_t priorities,
                        int pause)
{
    assert_true(i < b->edges.n);
    assert_int_equal(b->edges.at[i].port, port);
    assert_int_equal(b->edges.at[i].priorities, priorities);
    assert_int_equal(b->edges.at[i].pause, pause);
}

static void expect_one_edge(const struct bench *b, uint16_t port, uint8_t priorities, int pause)
{
    assert_int_equal(b->edges.n, 1);
    expect_edge(b, 0, port, priorities, pause);
}

static void expect_no_edge(const struct bench *b)
{
    assert_int_equal(b->edges.n, 0);
}

static void expect_cause(const struct bench *b, uint32_t i, enum xoff_unit unit, uint16_t port,
                         uint8_t priority, int64_t occupied_bytes, int64_t threshold_bytes)
{
    const struct xoff_crossing *x = &b->edges.at[i].cause;
    assert_int_equal(x->unit, unit);
    assert_int_equal(x->port, port);
    assert_int_equal(x->priority, priority);
    assert_int_equal(x->occupied_bytes, occupied_bytes);
    assert_int_equal(x->threshold_bytes, threshold_bytes);
}

/* Trigger ingress */

static void test_pfc_pauses_the_priority(void **unused)
{
    (void)unused;
    struct bench b;
    bench_setup(&b, &xoff_pause_pfc);
    bench_start(&b);
    assert_false(b.policy.shape.every_frame);
    cross(&b, XOFF_UNIT_INGRESS, 2, 3, 1);
    expect_one_edge(&b, 2, 0x08, 1);
    expect_cause(&b, 0, XOFF_UNIT_INGRESS, 2, 3, 203, 70);
    cross(&b, XOFF_UNIT_INGRESS, 2, 4, 1);
    expect_one_edge(&b, 2, 0x10, 1);
    cross(&b, XOFF_UNIT_INGRESS, 1, 3, 1);
    expect_one_edge(&b, 1, 0x08, 1);
    /* Said twice, told once. */
    cross(&b, XOFF_UNIT_INGRESS, 2, 3, 1);
    expect_no_edge(&b);
    cross(&b, XOFF_UNIT_INGRESS, 2, 3, 0);
    expect_one_edge(&b, 2, 0x08, 0);
    cross(&b, XOFF_UNIT_INGRESS, 2, 3, 0);
    expect_no_edge(&b);
    cross(&b, XOFF_UNIT_INGRESS, 2, 4, 0);
    expect_one_edge(&b, 2, 0x10, 0);
    cross(&b, XOFF_UNIT_INGRESS, 1, 3, 0);
    expect_one_edge(&b, 1, 0x08, 0);
    /* Lossy queues and egress queues pause nobody. */
    cross(&b, XOFF_UNIT_INGRESS, 0, 0, 1);
    expect_no_edge(&b);
    cross(&b, XOFF_UNIT_EGRESS, 0, 3, 1);
    expect_no_edge(&b);
    bench_end(&b);
}

/* A port above holds both lossless priorities; each is let go when its last holder is below. */
static void test_pfc_port_unit(void **unused)
{
    (void)unused;
    struct bench b;
    bench_setup(&b, &xoff_pause_pfc);
    bench_start(&b);
    cross(&b, XOFF_UNIT_INGRESS, 1, 3, 1);
    expect_one_edge(&b, 1, 0x08, 1);
    cross(&b, XOFF_UNIT_INGRESS_PORT, 1, 0, 1);
    expect_one_edge(&b, 1, 0x10, 1);
    expect_cause(&b, 0, XOFF_UNIT_INGRESS_PORT, 1, 0, 100, 70);
    cross(&b, XOFF_UNIT_INGRESS, 1, 4, 1);
    expect_no_edge(&b);
    cross(&b, XOFF_UNIT_INGRESS, 1, 3, 0);
    expect_no_edge(&b); /* the port still holds it */
    cross(&b, XOFF_UNIT_INGRESS_PORT, 1, 0, 0);
    expect_one_edge(&b, 1, 0x08, 0); /* 4 is held by its queue */
    cross(&b, XOFF_UNIT_INGRESS, 1, 4, 0);
    expect_one_edge(&b, 1, 0x10, 0);
    /* Without holders before: both at once. */
    cross(&b, XOFF_UNIT_INGRESS_PORT, 3, 0, 1);
    expect_one_edge(&b, 3, LOSSLESS, 1);
    cross(&b, XOFF_UNIT_INGRESS_PORT, 3, 0, 0);
    expect_one_edge(&b, 3, LOSSLESS, 0);
    bench_end(&b);
}

static void test_pause_stops_the_port(void **unused)
{
    (void)unused;
    struct bench b;
    bench_setup(&b, &xoff_pause_8023x);
    bench_start(&b);
    cross(&b, XOFF_UNIT_INGRESS, 2, 3, 1);
    expect_one_edge(&b, 2, XOFF_ALL_PRIORITIES, 1);
    cross(&b, XOFF_UNIT_INGRESS, 2, 4, 1);
    expect_no_edge(&b);
    cross(&b, XOFF_UNIT_INGRESS_PORT, 2, 0, 1);
    expect_no_edge(&b);
    cross(&b, XOFF_UNIT_INGRESS, 2, 3, 0);
    expect_no_edge(&b);
    cross(&b, XOFF_UNIT_INGRESS, 2, 4, 0);
    expect_no_edge(&b);
    cross(&b, XOFF_UNIT_INGRESS_PORT, 2, 0, 0);
    expect_one_edge(&b, 2, XOFF_ALL_PRIORITIES, 0);
    expect_cause(&b, 0, XOFF_UNIT_INGRESS_PORT, 2, 0, 200, 70);
    bench_end(&b);
}

static uint8_t waits_for(const struct bench *b, uint32_t port, uint32_t priority)
{
    return xoff_pause_waits_for(&b->policy, port, priority);
}

/* A queue's pause waits for the queue, a port's for all lossless ones, PAUSE for all that hold. */
static void test_what_a_pause_waits_for(void **unused)
{
    (void)unused;
    struct bench b;
    bench_setup(&b, &xoff_pause_pfc);
    bench_start(&b);
    assert_int_equal(waits_for(&b, 1, 3), 0);
    cross(&b, XOFF_UNIT_INGRESS, 1, 3, 1);
    assert_int_equal(waits_for(&b, 1, 3), 0x08);
    assert_int_equal(waits_for(&b, 1, 4), 0);
    cross(&b, XOFF_UNIT_INGRESS_PORT, 1, 0, 1);
    assert_int_equal(waits_for(&b, 1, 3), LOSSLESS);
    assert_int_equal(waits_for(&b, 1, 4), LOSSLESS);
    assert_int_equal(waits_for(&b, 1, 0), 0); /* lossy: goes on */
    assert_int_equal(waits_for(&b, 2, 3), 0);
    cross(&b, XOFF_UNIT_INGRESS_PORT, 1, 0, 0);
    assert_int_equal(waits_for(&b, 1, 3), 0x08);
    assert_int_equal(waits_for(&b, 1, 4), 0);
    bench_end(&b);

    bench_setup(&b, &xoff_pause_8023x);
    bench_start(&b);
    cross(&b, XOFF_UNIT_INGRESS, 2, 3, 1);
    for (uint32_t p = 0; p < XOFF_N_PRIORITIES; p++)
        assert_int_equal(waits_for(&b, 2, p), 0x08);
    cross(&b, XOFF_UNIT_INGRESS, 2, 4, 1);
    assert_int_equal(waits_for(&b, 2, 0), 0x18);
    cross(&b, XOFF_UNIT_INGRESS_PORT, 2, 0, 1);
    assert_int_equal(waits_for(&b, 2, 4), XOFF_ALL_PRIORITIES);
    assert_int_equal(waits_for(&b, 1, 4), 0);
    bench_end(&b);
}

/* Several crossings of one call each get their edge. */
static void test_crossings_of_one_call(void **unused)
{
    (void)unused;
    struct bench b;
    bench_setup(&b, &xoff_pause_pfc);
    bench_start(&b);
    struct xoff_crossings c = {.n = XOFF_MAX_CROSSINGS};
    for (uint8_t i = 0; i < XOFF_MAX_CROSSINGS; i++)
        c.at[i] =
            (struct xoff_crossing){.unit = XOFF_UNIT_INGRESS, .above = 1, .priority = 3, .port = i};
    const struct xoff_arrival a = {.priority = 3};
    bench_arrive(&b, &a, &c);
    assert_int_equal(b.edges.n, XOFF_MAX_CROSSINGS);
    for (uint16_t i = 0; i < XOFF_MAX_CROSSINGS; i++)
        expect_edge(&b, i, i, 0x08, 1);
    bench_end(&b);
}

/* Random crossings, repeated ones too, any order: the port is told exactly what its holders want.
 */
static void test_random_crossings(void **unused)
{
    (void)unused;
    const struct xoff_pause_ops *const policies[] = {&xoff_pause_pfc, &xoff_pause_8023x};
    for (uint32_t lossless = 0; lossless < 256; lossless++)
        for (uint32_t kind = 0; kind < 2; kind++) {
            struct bench b;
            struct xoff_rng rng;
            bool queue_above[N_PORTS][XOFF_N_PRIORITIES] = {0}, port_above[N_PORTS] = {0};
            bench_setup(&b, policies[kind]);
            b.env.lossless = (uint8_t)lossless;
            bench_start(&b);
            xoff_rng_init(&rng, 11, lossless, kind);
            for (uint32_t step = 0; step < 1000; step++) {
                const uint16_t port = (uint16_t)xoff_rng_below(&rng, N_PORTS);
                const uint8_t priority = (uint8_t)xoff_rng_below(&rng, XOFF_N_PRIORITIES);
                /* Mostly below, so that a port with nine units is let go now and then. */
                const bool above = xoff_rng_below(&rng, 4) == 0;
                const bool whole = xoff_rng_below(&rng, 6) == 0;
                if (whole)
                    port_above[port] = above;
                else
                    queue_above[port][priority] = above;
                cross(&b, whole ? XOFF_UNIT_INGRESS_PORT : XOFF_UNIT_INGRESS, port, priority,
                      above);
                uint8_t wanted = 0;
                bool any = port_above[port];
                for (uint32_t n = 0; n < XOFF_N_PRIORITIES; n++) {
                    any |= queue_above[port][n];
                    if ((lossless >> n & 1) && (queue_above[port][n] || port_above[port]))
                        wanted |= (uint8_t)(1u << n);
                }
                assert_int_equal(b.paused[port], kind == 0 ? wanted : any ? 0xff : 0);
            }
            assert_true(lossless == 0 || b.n_pauses > 10);
            bench_end(&b);
        }
}

/* Crossings of ingress queues alone: they decide with trigger ingress, and nothing else. */
static void test_crossings_alone(void **unused)
{
    (void)unused;
    struct bench b;
    struct xoff_crossings x = {
        .n = 1, .at = {{.unit = XOFF_UNIT_INGRESS, .above = 1, .priority = 3, .port = 2}}};
    const struct xoff_crossings none = {.n = 0};
    bench_setup(&b, &xoff_pause_pfc);
    bench_start(&b);
    assert_false(xoff_pause_on_crossings(&b.policy, &none, 0, &b.edges));
    expect_no_edge(&b);
    assert_true(xoff_pause_on_crossings(&b.policy, &x, 0, &b.edges));
    expect_one_edge(&b, 2, 0x08, 1);
    x.at[0].above = 0;
    assert_true(xoff_pause_on_crossings(&b.policy, &x, 0, &b.edges));
    expect_one_edge(&b, 2, 0x08, 0);
    bench_end(&b);
    bench_setup(&b, &xoff_pause_8023x);
    bench_start(&b);
    x.at[0].above = 1;
    assert_true(xoff_pause_on_crossings(&b.policy, &x, 0, &b.edges));
    expect_one_edge(&b, 2, XOFF_ALL_PRIORITIES, 1);
    bench_end(&b);
    bench_setup(&b, &xoff_pause_pfc);
    bench_set(&b, "trigger", "egress");
    bench_set(&b, "xoff", "3000B");
    bench_set(&b, "xon", "1000B");
    bench_start(&b);
    assert_true(xoff_pause_on_crossings(&b.policy, &x, 0, &b.edges));
    expect_no_edge(&b);
    bench_end(&b);
}

/* Trigger egress: frames of 1000 bytes */

static const struct xoff_crossings no_crossings;

static void setup_egress(struct bench *b, const struct xoff_pause_ops *ops)
{
    bench_setup(b, ops);
    bench_set(b, "trigger", "egress");
    bench_set(b, "xoff", "3000B");
    bench_set(b, "xon", "1000B");
    bench_start(b);
    assert_true(b->policy.shape.every_frame);
    assert_int_equal(b->policy.shape.max_edges, N_PORTS);
}

static void in(struct bench *b, uint16_t in_port, uint16_t out_port, uint8_t priority,
               int64_t egress_bytes_before)
{
    const struct xoff_arrival a = {.in_port = in_port,
                                   .out_port = out_port,
                                   .priority = priority,
                                   .bytes = 1000,
                                   .egress_bytes = egress_bytes_before};
    bench_arrive(b, &a, &no_crossings);
}

static void out(struct bench *b, uint16_t in_port, uint16_t out_port, uint8_t priority,
                int64_t egress_bytes_after)
{
    const struct xoff_departure d = {.in_port = in_port,
                                     .out_port = out_port,
                                     .priority = priority,
                                     .pool = XOFF_POOL_SHARED,
                                     .bytes = 1000,
                                     .egress_bytes = egress_bytes_after};
    bench_depart(b, &d, &no_crossings);
}

/* Queue (3, 4) fills from ports 0, 2, 0: at 3000 both are paused; port 1 joins at 4000. */
static void test_egress_trace(void **unused)
{
    (void)unused;
    struct bench b;
    setup_egress(&b, &xoff_pause_pfc);
    in(&b, 0, 3, 4, 0);
    expect_no_edge(&b);
    in(&b, 2, 3, 4, 1000);
    expect_no_edge(&b);
    in(&b, 0, 3, 4, 2000);
    assert_int_equal(b.edges.n, 2);
    expect_edge(&b, 0, 0, 0x10, 1);
    expect_edge(&b, 1, 2, 0x10, 1);
    expect_cause(&b, 0, XOFF_UNIT_EGRESS, 3, 4, 3000, 3000);
    expect_cause(&b, 1, XOFF_UNIT_EGRESS, 3, 4, 3000, 3000);
    in(&b, 1, 3, 4, 3000);
    expect_one_edge(&b, 1, 0x10, 1);
    expect_cause(&b, 0, XOFF_UNIT_EGRESS, 3, 4, 4000, 3000);
    /* More of a port that is held already says nothing. */
    in(&b, 1, 3, 4, 4000);
    expect_no_edge(&b);
    /* 4000, 3000, 2000: below xoff, above xon. */
    out(&b, 0, 3, 4, 4000);
    expect_no_edge(&b);
    out(&b, 2, 3, 4, 3000);
    expect_no_edge(&b);
    out(&b, 0, 3, 4, 2000);
    expect_no_edge(&b);
    /* 1000: all are let go, also those without a frame left. */
    out(&b, 1, 3, 4, 1000);
    assert_int_equal(b.edges.n, 3);
    for (uint16_t port = 0; port < 3; port++)
        expect_edge(&b, port, port, 0x10, 0);
    expect_cause(&b, 2, XOFF_UNIT_EGRESS, 3, 4, 1000, 1000);
    /* The next time only those with frames count: 1 (one frame left), and 3. */
    in(&b, 3, 3, 4, 1000);
    expect_no_edge(&b);
    in(&b, 3, 3, 4, 2000);
    assert_int_equal(b.edges.n, 2);
    expect_edge(&b, 0, 1, 0x10, 1);
    expect_edge(&b, 1, 3, 0x10, 1);
    bench_end(&b);
}

static void test_egress_boundaries(void **unused)
{
    (void)unused;
    struct bench b;
    setup_egress(&b, &xoff_pause_pfc);
    in(&b, 0, 3, 4, 1999); /* 2999 */
    expect_no_edge(&b);
    in(&b, 0, 3, 4, 2000); /* 3000 */
    expect_one_edge(&b, 0, 0x10, 1);
    out(&b, 0, 3, 4, 1001);
    expect_no_edge(&b);
    out(&b, 0, 3, 4, 1000);
    expect_one_edge(&b, 0, 0x10, 0);
    /* Lossy priorities are not watched. */
    in(&b, 0, 3, 0, 90000);
    expect_no_edge(&b);
    out(&b, 0, 3, 0, 0);
    expect_no_edge(&b);
    /* Crossings of the buffer pause nobody. */
    cross(&b, XOFF_UNIT_INGRESS, 0, 0, 1);
    expect_no_edge(&b);
    bench_end(&b);
}

/* A frame that was lost is not in the queue, but its port is sending into it. */
static void test_egress_lost_frame(void **unused)
{
    (void)unused;
    struct bench b;
    struct xoff_arrival lost = {.in_port = 1,
                                .out_port = 3,
                                .priority = 4,
                                .dropped = true,
                                .bytes = 1000,
                                .egress_bytes = 2000};
    setup_egress(&b, &xoff_pause_pfc);
    bench_arrive(&b, &lost, &no_crossings);
    expect_no_edge(&b); /* the queue stays at 2000 */
    in(&b, 0, 3, 4, 2000);
    expect_one_edge(&b, 0, 0x10, 1);
    lost.egress_bytes = 3000;
    bench_arrive(&b, &lost, &no_crossings);
    expect_one_edge(&b, 1, 0x10, 1);
    out(&b, 0, 3, 4, 1000);
    assert_int_equal(b.edges.n, 2);
    bench_end(&b);
}

/* Port 0 is held by queues (2, 3), (3, 3) and (3, 4). PFC: priority 3 goes on when both queues of
 * it have let go. PAUSE: the port goes on when all three have. */
static void test_egress_several_holders(void **unused)
{
    (void)unused;
    struct bench b;
    setup_egress(&b, &xoff_pause_pfc);
    in(&b, 0, 2, 3, 2000);
    expect_one_edge(&b, 0, 0x08, 1);
    in(&b, 0, 3, 3, 2000);
    expect_no_edge(&b);
    in(&b, 0, 3, 4, 2000);
    expect_one_edge(&b, 0, 0x10, 1);
    out(&b, 0, 2, 3, 0);
    expect_no_edge(&b);
    out(&b, 0, 3, 3, 0);
    expect_one_edge(&b, 0, 0x08, 0);
    expect_cause(&b, 0, XOFF_UNIT_EGRESS, 3, 3, 0, 1000);
    out(&b, 0, 3, 4, 0);
    expect_one_edge(&b, 0, 0x10, 0);
    bench_end(&b);

    setup_egress(&b, &xoff_pause_8023x);
    in(&b, 0, 2, 3, 2000);
    expect_one_edge(&b, 0, XOFF_ALL_PRIORITIES, 1);
    in(&b, 0, 3, 3, 2000);
    expect_no_edge(&b);
    in(&b, 0, 3, 4, 2000);
    expect_no_edge(&b);
    out(&b, 0, 3, 3, 0);
    expect_no_edge(&b);
    out(&b, 0, 2, 3, 0);
    expect_no_edge(&b);
    out(&b, 0, 3, 4, 0);
    expect_one_edge(&b, 0, XOFF_ALL_PRIORITIES, 0);
    bench_end(&b);
}

/* partners: all: at xoff every port is held, with frames in the queue or not, and nobody joins. */
static void test_egress_all_partners(void **unused)
{
    (void)unused;
    struct bench b;
    bench_setup(&b, &xoff_pause_pfc);
    bench_set(&b, "trigger", "egress");
    bench_set(&b, "xoff", "3000B");
    bench_set(&b, "xon", "1000B");
    bench_set(&b, "partners", "all");
    bench_start(&b);
    in(&b, 1, 3, 4, 1999);
    expect_no_edge(&b);
    in(&b, 1, 3, 4, 2000);
    assert_int_equal(b.edges.n, N_PORTS);
    for (uint16_t port = 0; port < N_PORTS; port++)
        expect_edge(&b, port, port, 0x10, 1);
    in(&b, 0, 3, 4, 3000);
    expect_no_edge(&b);
    out(&b, 1, 3, 4, 1001);
    expect_no_edge(&b);
    out(&b, 1, 3, 4, 1000);
    assert_int_equal(b.edges.n, N_PORTS);
    for (uint16_t port = 0; port < N_PORTS; port++)
        expect_edge(&b, port, port, 0x10, 0);
    bench_end(&b);
    /* Only egress queues have partners to choose from. */
    bench_setup(&b, &xoff_pause_pfc);
    bench_set(&b, "partners", "all");
    assert_int_equal(bench_configure(&b), -XOFF_E_CONFLICT);
    assert_string_equal(b.err.subject, "partners");
}

/* The slow model: the frames themselves, and for each egress queue the set of ports it holds. */
#define MAX_FRAMES 64

struct model {
    struct {
        uint16_t in_port, out_port;
        uint8_t priority;
    } frames[MAX_FRAMES];
    uint32_t n;
    bool above[N_PORTS][XOFF_N_PRIORITIES];
    bool holds[N_PORTS][XOFF_N_PRIORITIES][N_PORTS]; /* [out_port][priority][in_port] */
};

static int64_t model_queue_bytes(const struct model *m, uint16_t out_port, uint8_t priority)
{
    int64_t bytes = 0;
    for (uint32_t i = 0; i < m->n; i++)
        if (m->frames[i].out_port == out_port && m->frames[i].priority == priority)
            bytes += 1000;
    return bytes;
}

static uint8_t model_paused(const struct model *m, uint32_t in_port, bool is_pfc)
{
    uint8_t paused = 0;
    for (uint32_t port = 0; port < N_PORTS; port++)
        for (uint32_t n = 0; n < XOFF_N_PRIORITIES; n++)
            if (m->holds[port][n][in_port])
                paused |= (uint8_t)(is_pfc ? 1u << n : XOFF_ALL_PRIORITIES);
    return paused;
}

static void model_arrive(struct model *m, uint16_t in_port, uint16_t out_port, uint8_t priority)
{
    m->frames[m->n].in_port = in_port;
    m->frames[m->n].out_port = out_port;
    m->frames[m->n++].priority = priority;
    if (!m->above[out_port][priority] && model_queue_bytes(m, out_port, priority) < 3000)
        return;
    m->above[out_port][priority] = true;
    /* Ports that left no frame behind stay held; those that have one are held from now on. */
    for (uint32_t i = 0; i < m->n; i++)
        if (m->frames[i].out_port == out_port && m->frames[i].priority == priority)
            m->holds[out_port][priority][m->frames[i].in_port] = true;
}

static void test_egress_random_frames(void **unused)
{
    (void)unused;
    const struct xoff_pause_ops *const policies[] = {&xoff_pause_pfc, &xoff_pause_8023x};
    for (uint32_t kind = 0; kind < 2; kind++) {
        struct bench b;
        struct xoff_rng rng;
        static struct model m;
        memset(&m, 0, sizeof m);
        xoff_rng_init(&rng, 5, 0, kind);
        setup_egress(&b, policies[kind]);
        for (uint32_t step = 0; step < 20000 || m.n > 0; step++) {
            const uint32_t arrivals_in_8 = step >= 20000 ? 0 : step / 60 % 2 ? 1 : 6;
            if (m.n < MAX_FRAMES && xoff_rng_below(&rng, 8) < arrivals_in_8) {
                const uint16_t in_port = (uint16_t)xoff_rng_below(&rng, N_PORTS);
                const uint16_t out_port = (uint16_t)xoff_rng_below(&rng, N_PORTS);
                const uint8_t priority = (uint8_t)(3 + xoff_rng_below(&rng, 2));
                const int64_t before = model_queue_bytes(&m, out_port, priority);
                model_arrive(&m, in_port, out_port, priority);
                in(&b, in_port, out_port, priority, before);
            } else if (m.n > 0) {
                const uint32_t i = (uint32_t)xoff_rng_below(&rng, m.n);
                const uint16_t in_port = m.frames[i].in_port, out_port = m.frames[i].out_port;
                const uint8_t priority = m.frames[i].priority;
                m.frames[i] = m.frames[--m.n];
                const int64_t after = model_queue_bytes(&m, out_port, priority);
                if (after <= 1000) {
                    m.above[out_port][priority] = false;
                    memset(m.holds[out_port][priority], 0, sizeof m.holds[0][0]);
                }
                out(&b, in_port, out_port, priority, after);
            }
            for (uint32_t port = 0; port < N_PORTS; port++)
                assert_int_equal(b.paused[port], model_paused(&m, port, kind == 0));
            const uint8_t awaited = waits_for(&b, step % N_PORTS, 3);
            assert_int_equal(awaited, !(b.paused[step % N_PORTS] & 0x08) ? 0
                                      : kind == 0                        ? 0x08
                                                                         : XOFF_ALL_PRIORITIES);
        }
        assert_true(b.n_pauses > 500);
        for (uint32_t port = 0; port < N_PORTS; port++)
            assert_int_equal(b.paused[port], 0);
        bench_end(&b);
    }
}

/* Configuration */

static void test_signalling(void **unused)
{
    (void)unused;
    struct bench b;
    struct xoff_pause_signalling how;
    bench_setup(&b, &xoff_pause_pfc);
    bench_start(&b);
    how = b.policy.shape.signalling;
    assert_int_equal(how.wire, XOFF_WIRE_PFC);
    assert_int_equal(how.quanta, 65535);
    assert_true(how.refreshes);
    assert_true(how.resumes);
    bench_end(&b);

    bench_setup(&b, &xoff_pause_8023x);
    bench_set(&b, "quanta", "1");
    bench_set(&b, "refresh", "false");
    bench_set(&b, "resume", "false");
    bench_start(&b);
    how = b.policy.shape.signalling;
    assert_int_equal(how.wire, XOFF_WIRE_PAUSE);
    assert_int_equal(how.quanta, 1);
    assert_false(how.refreshes);
    assert_false(how.resumes);
    bench_end(&b);
}

static void test_refusals(void **unused)
{
    (void)unused;
    static const struct {
        const char *trigger, *xoff, *xon;
        enum xoff_err_code code;
        const char *subject;
    } rows[] = {
        {"egress", "2B", "1B", XOFF_E_OK, ""},
        {"egress", "1B", "0B", XOFF_E_OK, ""},
        {"egress", "999999B", "1B", XOFF_E_OK, ""},
        {"egress", "1000000B", "1B", XOFF_E_CONFLICT, "xoff"}, /* the queue holds no more */
        {"egress", "2B", "2B", XOFF_E_CONFLICT, "xon"},
        {"egress", "2B", "3B", XOFF_E_CONFLICT, "xon"},
        {"egress", "auto", "1B", XOFF_E_MISSING, "xoff"},
        {"egress", "2B", "auto", XOFF_E_MISSING, "xon"},
        {"ingress", "auto", "auto", XOFF_E_OK, ""},
        {"ingress", "2B", "auto", XOFF_E_CONFLICT, "xoff"},
        {"ingress", "auto", "1B", XOFF_E_CONFLICT, "xon"},
    };
    static const int64_t quanta[] = {0, 1, 65535, 65536};
    struct bench b;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        bench_setup(&b, &xoff_pause_pfc);
        bench_set(&b, "trigger", rows[i].trigger);
        bench_set(&b, "xoff", rows[i].xoff);
        bench_set(&b, "xon", rows[i].xon);
        assert_int_equal(bench_configure(&b), -(int)rows[i].code);
        assert_string_equal(b.err.subject, rows[i].subject);
        if (rows[i].code == XOFF_E_OK)
            bench_end(&b);
    }
    /* A slow receiver has one port and nothing behind it: what its buffer can hold is tried out
     * when the network is built, not here. */
    for (uint32_t n_ports = 1; n_ports <= 2; n_ports++) {
        bench_setup(&b, &xoff_pause_pfc);
        bench_set(&b, "trigger", "egress");
        bench_set(&b, "xoff", "3000B");
        bench_set(&b, "xon", "1000B");
        b.env.n_ports = n_ports;
        b.env.egress_bytes = 3000;
        assert_int_equal(bench_configure(&b), n_ports == 1 ? 0 : -XOFF_E_CONFLICT);
        if (n_ports == 1)
            bench_end(&b);
    }
    for (size_t i = 0; i < 4; i++) {
        bench_setup(&b, &xoff_pause_8023x);
        memcpy(b.params + xoff_param_find(b.policy.ops->params, "quanta")->offset, &quanta[i],
               sizeof quanta[i]);
        assert_int_equal(bench_configure(&b), i % 3 == 0 ? -XOFF_E_RANGE : 0);
        if (i % 3 != 0)
            bench_end(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pfc_pauses_the_priority),
        cmocka_unit_test(test_pfc_port_unit),
        cmocka_unit_test(test_pause_stops_the_port),
        cmocka_unit_test(test_what_a_pause_waits_for),
        cmocka_unit_test(test_crossings_of_one_call),
        cmocka_unit_test(test_random_crossings),
        cmocka_unit_test(test_crossings_alone),
        cmocka_unit_test(test_egress_trace),
        cmocka_unit_test(test_egress_boundaries),
        cmocka_unit_test(test_egress_lost_frame),
        cmocka_unit_test(test_egress_several_holders),
        cmocka_unit_test(test_egress_all_partners),
        cmocka_unit_test(test_egress_random_frames),
        cmocka_unit_test(test_signalling),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
