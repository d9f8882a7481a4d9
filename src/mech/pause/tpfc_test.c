/* Targeted PFC: watermarks to the byte, draws against what they should be, and random traffic
 * against a slow model that keeps the frames themselves.
 */
#include "tpfc_testing.h"

#define N_PRIORITIES 2 /* lossless ones: 3 and 4 */

static const struct xoff_crossings no_crossings;

/* Every frame is looked at; edges come in the order of ports, each of one priority and with a queue
 * for its cause. */
static void tpfc_follow(struct bench *b, uint16_t out_port, uint8_t priority)
{
    assert_true(b->policy.shape.every_frame);
    assert_int_equal(b->policy.shape.max_edges, N_PORTS);
    bench_follow(b);
    for (uint32_t i = 0; i < b->edges.n; i++) {
        const struct xoff_edge *e = &b->edges.at[i];
        assert_true(i == 0 || e->port > b->edges.at[i - 1].port);
        assert_int_equal(e->priorities, 1u << priority);
        assert_int_equal(e->cause.unit, XOFF_UNIT_EGRESS);
        assert_int_equal(e->cause.port, out_port);
        assert_int_equal(e->cause.priority, priority);
    }
}

static void in(struct bench *b, uint16_t in_port, uint16_t out_port, uint8_t priority,
               uint32_t bytes)
{
    struct fifo *q = &b->queues[out_port][priority];
    const struct xoff_arrival a = {.in_port = in_port,
                                   .out_port = out_port,
                                   .priority = priority,
                                   .bytes = bytes,
                                   .egress_bytes = q->bytes};
    assert_true(q->n < QUEUE_FRAMES);
    const uint32_t last = (q->first + q->n++) % QUEUE_FRAMES;
    q->frames[last].in_port = in_port;
    q->frames[last].bytes = bytes;
    q->bytes += bytes;
    xoff_pause_on_arrival(&b->policy, &a, &no_crossings, 0, &b->edges);
    tpfc_follow(b, out_port, priority);
}

static void out(struct bench *b, uint16_t out_port, uint8_t priority)
{
    struct fifo *q = &b->queues[out_port][priority];
    assert_true(q->n > 0);
    struct xoff_departure d = {.in_port = q->frames[q->first].in_port,
                               .out_port = out_port,
                               .priority = priority,
                               .pool = XOFF_POOL_SHARED,
                               .bytes = q->frames[q->first].bytes};
    q->first = (q->first + 1) % QUEUE_FRAMES;
    q->n--;
    q->bytes -= d.bytes;
    d.egress_bytes = q->bytes;
    xoff_pause_on_departure(&b->policy, &d, &no_crossings, 0, &b->edges);
    tpfc_follow(b, out_port, priority);
}

static void expect_edges(const struct bench *b, int pause, const char *ports)
{
    assert_int_equal(b->edges.n, strlen(ports));
    for (uint32_t i = 0; i < b->edges.n; i++) {
        assert_int_equal(b->edges.at[i].port, ports[i] - '0');
        assert_int_equal(b->edges.at[i].pause, pause);
    }
}

static void expect_cause(const struct bench *b, int64_t occupied_bytes, int64_t threshold_bytes)
{
    assert_true(b->edges.n > 0);
    for (uint32_t i = 0; i < b->edges.n; i++) {
        assert_int_equal(b->edges.at[i].cause.occupied_bytes, occupied_bytes);
        assert_int_equal(b->edges.at[i].cause.threshold_bytes, threshold_bytes);
    }
}

static void start_fair(struct bench *b)
{
    tpfc_setup(b);
    bench_set_watermarks(b, "1000B", "3000B", "6000B");
    bench_start(b);
}

/* Watermarks */

/* The length before the frame counts: 2999 chooses nobody, 3000 does. */
static void test_tw_to_the_byte(void **unused)
{
    (void)unused;
    for (uint32_t missing = 0; missing < 2; missing++) {
        struct bench b;
        start_fair(&b);
        in(&b, 0, 3, 3, 1000);
        in(&b, 0, 3, 3, 1000);
        in(&b, 1, 3, 3, 1000 - missing);
        expect_edges(&b, 1, "");
        in(&b, 2, 3, 3, 64); /* finds two frames of 0 and one of 1: above 3 / 2 is 0 */
        if (missing) {
            expect_edges(&b, 1, "");
        } else {
            expect_edges(&b, 1, "0");
            expect_cause(&b, 3000, 3000);
        }
        bench_end(&b);
    }
}

/* At HW all ports are paused, those without a frame too, whatever the shares are. */
static void test_hw_to_the_byte(void **unused)
{
    (void)unused;
    for (uint32_t missing = 0; missing < 2; missing++)
        for (uint32_t random = 0; random < 2; random++) {
            struct bench b;
            tpfc_setup(&b);
            bench_set(&b, "targeting", random ? "random" : "fair");
            bench_set_watermarks(&b, "1000B", "5000B", "6000B");
            bench_start(&b);
            for (uint32_t i = 0; i < 5; i++)
                in(&b, 2, 3, 4, 1000 - (i < missing));
            in(&b, 2, 3, 4, 1000); /* found 5000, or 4999 */
            /* A port alone in the queue has all of it, which is the fair share of one. */
            expect_edges(&b, 1, random && !missing ? "2" : "");
            in(&b, 2, 3, 4, 64); /* found 6000, or 5999 */
            if (missing) {
                expect_edges(&b, 1, random ? "2" : "");
            } else {
                expect_edges(&b, 1, random ? "013" : "0123");
                expect_cause(&b, 6000, 6000);
            }
            in(&b, 0, 3, 4, 64); /* all are held, once */
            expect_edges(&b, 1, missing ? random ? "013" : "0123" : "");
            bench_end(&b);
        }
}

/* Resume at LW exactly, of all that the queue holds and has not told yet. */
static void test_lw_to_the_byte(void **unused)
{
    (void)unused;
    for (uint32_t more = 0; more < 2; more++) {
        struct bench b;
        start_fair(&b);
        in(&b, 0, 3, 3, 1000);
        in(&b, 0, 3, 3, 1000);
        in(&b, 1, 3, 3, 1000);
        in(&b, 1, 3, 3, 936 + more);
        expect_edges(&b, 1, "0");
        in(&b, 2, 3, 3, 64);
        expect_edges(&b, 1, ""); /* 2 and 2 of 4: nobody is above the half, and 0 is held */
        out(&b, 3, 3);
        out(&b, 3, 3);
        expect_edges(&b, 0, ""); /* 2000 */
        out(&b, 3, 3);           /* 1000, or 1001 */
        if (!more) {
            expect_edges(&b, 0, "0");
            expect_cause(&b, 1000, 1000);
            out(&b, 3, 3);
            expect_edges(&b, 0, "");
        } else {
            expect_edges(&b, 0, "");
            out(&b, 3, 3);
            expect_edges(&b, 0, "0");
            expect_cause(&b, 64, 1000);
        }
        assert_int_equal(b.paused[0], 0);
        bench_end(&b);
    }
}

/* Every enqueue at TW or above chooses anew; or the first of each crossing alone. */
static void test_every_enqueue_or_once(void **unused)
{
    (void)unused;
    for (uint32_t once = 0; once < 2; once++) {
        struct bench b;
        tpfc_setup(&b);
        bench_set_watermarks(&b, "500B", "3000B", "9000B");
        bench_set(&b, "when", once ? "crossing" : "enqueue");
        bench_start(&b);
        in(&b, 0, 3, 3, 1000);
        in(&b, 0, 3, 3, 1000);
        in(&b, 1, 3, 3, 1000);
        in(&b, 1, 3, 3, 100); /* found 2, 1 */
        expect_edges(&b, 1, "0");
        in(&b, 1, 3, 3, 100); /* found 2, 2 */
        expect_edges(&b, 1, "");
        in(&b, 1, 3, 3, 100); /* found 2, 3 */
        expect_edges(&b, 1, once ? "" : "1");
        /* 2300: below TW, above LW; then it is crossed again. */
        out(&b, 3, 3);
        expect_edges(&b, 0, "");
        in(&b, 2, 3, 3, 700);
        expect_edges(&b, 1, "");
        in(&b, 2, 3, 3, 700); /* found 3000: 1, 4, 1 */
        expect_edges(&b, 1, once ? "1" : "");
        in(&b, 2, 3, 3, 700); /* found 1, 4, 2 of 7 */
        in(&b, 2, 3, 3, 700); /* found 1, 4, 3 of 8 */
        expect_edges(&b, 1, once ? "" : "2");
        /* HW beats `once`. */
        for (uint32_t i = 0; i < 6; i++)
            in(&b, 0, 3, 3, 1000);
        in(&b, 0, 3, 3, 1000);
        assert_int_equal(b.paused[2] & b.paused[3], 0x08);
        bench_end(&b);
    }
}

/* With `every: 3` the first frame from TW on chooses, and then each third. A queue that has been
 * below TW begins anew, or only one that has been at LW: then the count goes on. */
static void test_every_third(void **unused)
{
    (void)unused;
    for (uint32_t low = 0; low < 2; low++) {
        struct bench b;
        tpfc_setup(&b);
        bench_set_watermarks(&b, "500B", "3000B", "9000B");
        bench_set(&b, "every", "3");
        bench_set(&b, "rearm", low ? "lw" : "tw");
        bench_start(&b);
        in(&b, 0, 3, 3, 1000);
        in(&b, 0, 3, 3, 1000);
        in(&b, 1, 3, 3, 1000);
        in(&b, 1, 3, 3, 100); /* found 2, 1 */
        expect_edges(&b, 1, "0");
        in(&b, 1, 3, 3, 100);
        in(&b, 1, 3, 3, 100); /* found 2, 3: 1 would be a target */
        expect_edges(&b, 1, "");
        in(&b, 1, 3, 3, 100); /* the fourth: found 2, 4 */
        expect_edges(&b, 1, "1");
        out(&b, 3, 3); /* 2400 */
        in(&b, 2, 3, 3, 700);
        in(&b, 2, 3, 3, 700); /* found 3100: the first anew, or the second after a choice */
        in(&b, 2, 3, 3, 700);
        in(&b, 2, 3, 3, 700); /* found 1, 5, 3 of 9: 2 has its share, and no more */
        expect_edges(&b, 1, "");
        in(&b, 2, 3, 3, 700); /* found 1, 5, 4 of 10 */
        expect_edges(&b, 1, low ? "" : "2");
        in(&b, 2, 3, 3, 700);
        expect_edges(&b, 1, "");
        in(&b, 2, 3, 3, 700);
        expect_edges(&b, 1, low ? "2" : "");
        bench_end(&b);
    }
}

/* Re-armed at 500, not at 501: the next crossing of TW chooses, or not. */
static void test_rearm_at_lw_to_the_byte(void **unused)
{
    (void)unused;
    for (uint32_t more = 0; more < 2; more++) {
        struct bench b;
        tpfc_setup(&b);
        bench_set_watermarks(&b, "500B", "3000B", "9000B");
        bench_set(&b, "when", "crossing");
        bench_set(&b, "rearm", "lw");
        bench_start(&b);
        in(&b, 0, 3, 3, 1000);
        in(&b, 0, 3, 3, 1000);
        in(&b, 1, 3, 3, 1000);
        in(&b, 1, 3, 3, 500 + more);
        expect_edges(&b, 1, "0");
        out(&b, 3, 3);
        out(&b, 3, 3);
        out(&b, 3, 3);
        expect_edges(&b, 0, more ? "" : "0");
        in(&b, 1, 3, 3, 1000);
        in(&b, 1, 3, 3, 1000);
        in(&b, 2, 3, 3, 1000);
        in(&b, 2, 3, 3, 64); /* found 3500 or 3501: 3 frames of port 1, 1 of port 2 */
        expect_edges(&b, 1, more ? "" : "1");
        bench_end(&b);
    }
}

/* TW = HW - N * F with HW 9000 and F 1000, and N counted in the queue. Frames are sent by the ports
 * of `order`, the last is short by a byte in every second run. Then another one arrives. */
static void test_counted_tw(void **unused)
{
    (void)unused;
    static const struct {
        const char *count, *lw, *order;
        int64_t tw;
        const char *targets;
    } rows[] = {
        {"partners", "500B", "000012", 6000, "0"},     /* three ports have frames */
        {"aggressors", "500B", "00000012", 8000, "0"}, /* 6 of 8 is above a third, 1 is not */
        {"aggressors", "500B", "0101012", 7000, "01"}, /* 3 of 7 are, twice */
        {"partners", "5999B", "001233", 6000, "03"},   /* 9000 - 4 * 1000, but above LW */
        {"aggressors", "500B", "01010101", 8000, ""},  /* nobody: as one */
    };
    for (uint32_t i = 0; i < 2 * sizeof rows / sizeof rows[0]; i++) {
        struct bench b;
        const uint32_t missing = i % 2;
        tpfc_setup(&b);
        bench_set_watermarks(&b, rows[i / 2].lw, "auto", "9000B");
        bench_set(&b, "count", rows[i / 2].count);
        bench_start(&b);
        for (const char *port = rows[i / 2].order; *port; port++) {
            in(&b, (uint16_t)(*port - '0'), 3, 3, 1000 - (port[1] ? 0 : missing));
            expect_edges(&b, 1, "");
        }
        in(&b, 2, 3, 3, 64);
        expect_edges(&b, 1, missing ? "" : rows[i / 2].targets);
        if (b.edges.n)
            expect_cause(&b, rows[i / 2].tw, rows[i / 2].tw);
        bench_end(&b);
    }
}

/* Several queues hold one port, two of one priority and one of the other. */
static void test_several_queues(void **unused)
{
    (void)unused;
    static const struct {
        uint16_t port;
        uint8_t priority;
    } queues[] = {{2, 3}, {3, 3}, {3, 4}};
    struct bench b;
    start_fair(&b);
    for (uint32_t i = 0; i < 3; i++) {
        in(&b, 0, queues[i].port, queues[i].priority, 1000);
        in(&b, 0, queues[i].port, queues[i].priority, 1000);
        in(&b, 1, queues[i].port, queues[i].priority, 1000);
        in(&b, 1, queues[i].port, queues[i].priority, 64);
        expect_edges(&b, 1, i == 1 ? "" : "0"); /* priority 3 of port 0 is held already */
    }
    assert_int_equal(b.paused[0], LOSSLESS);
    assert_int_equal(xoff_pause_waits_for(&b.policy, 0, 3), 0x08);
    assert_int_equal(xoff_pause_waits_for(&b.policy, 0, 4), 0x10);
    assert_int_equal(xoff_pause_waits_for(&b.policy, 0, 2), 0);
    assert_int_equal(xoff_pause_waits_for(&b.policy, 1, 3), 0);
    for (uint32_t i = 0; i < 3; i++) {
        out(&b, queues[i].port, queues[i].priority);
        out(&b, queues[i].port, queues[i].priority);
        expect_edges(&b, 0, "");
        out(&b, queues[i].port, queues[i].priority); /* 64 left */
        expect_edges(&b, 0, i == 0 ? "" : "0");
    }
    assert_int_equal(xoff_pause_waits_for(&b.policy, 0, 3), 0);
    bench_end(&b);
}

/* Lossy priorities are not watched; a frame that is lost is not in the queue and decides nothing;
 * thresholds of the buffer pause nobody. */
static void test_what_is_ignored(void **unused)
{
    (void)unused;
    struct bench b;
    start_fair(&b);
    for (uint32_t i = 0; i < 20; i++) {
        in(&b, 0, 3, 0, 1000);
        expect_edges(&b, 1, "");
    }
    for (uint32_t i = 0; i < 20; i++)
        out(&b, 3, 0);
    for (uint32_t i = 0; i < 3; i++)
        in(&b, (uint16_t)(i / 2), 3, 3, 1000); /* two of 0, one of 1: 3000 */
    const struct xoff_arrival lost = {
        .in_port = 1, .out_port = 3, .priority = 3, .dropped = true, .bytes = 1000};
    const struct xoff_crossings above = {
        .n = 1, .at = {{.unit = XOFF_UNIT_INGRESS, .above = 1, .priority = 3, .port = 1}}};
    for (uint32_t i = 0; i < 9; i++) {
        xoff_pause_on_arrival(&b.policy, &lost, &above, 0, &b.edges);
        expect_edges(&b, 1, "");
    }
    assert_false(xoff_pause_on_crossings(&b.policy, &above, 0, &b.edges));
    expect_edges(&b, 1, "");
    in(&b, 1, 3, 3, 64); /* still two against one */
    expect_edges(&b, 1, "0");
    bench_end(&b);
}

/* Bytes and frames give other targets: port 0 has most frames, port 1 most bytes. */
static void test_shares_in_frames_and_bytes(void **unused)
{
    (void)unused;
    for (uint32_t bytes = 0; bytes < 2; bytes++)
        for (uint32_t scan = 0; scan < 2; scan++) {
            struct bench b;
            tpfc_setup(&b);
            bench_set_watermarks(&b, "100B", "2000B", "6000B");
            bench_set(&b, "sample", bytes ? "bytes" : "frames");
            bench_set(&b, "statistics", scan ? "scan" : "kept");
            bench_start(&b);
            for (uint32_t i = 0; i < 5; i++)
                in(&b, 0, 3, 3, 100);
            in(&b, 1, 3, 3, 900);
            in(&b, 1, 3, 3, 600);
            in(&b, 2, 3, 3, 64);
            expect_edges(&b, 1, bytes ? "1" : "0");
            bench_end(&b);
        }
}

/* A port that was let go with frames left behind, and sends no more, can be above the fair share at
 * the next crossing. */
static void test_let_go_with_frames_left(void **unused)
{
    (void)unused;
    struct bench b;
    start_fair(&b);
    in(&b, 1, 3, 3, 1000);
    in(&b, 1, 3, 3, 1000);
    for (uint32_t i = 0; i < 10; i++)
        in(&b, 0, 3, 3, 64);
    in(&b, 2, 3, 3, 400);
    in(&b, 2, 3, 3, 64); /* found 3040: 10, 2 and 1 frames */
    expect_edges(&b, 1, "0");
    for (uint32_t i = 0; i < 3; i++)
        out(&b, 3, 3);
    expect_edges(&b, 0, "");
    out(&b, 3, 3); /* 976 */
    expect_edges(&b, 0, "0");
    in(&b, 1, 3, 3, 1000);
    in(&b, 1, 3, 3, 1000);
    in(&b, 2, 3, 3, 64);
    in(&b, 2, 3, 3, 64); /* found 3040: 8, 2 and 3 frames */
    expect_edges(&b, 1, "0");
    bench_end(&b);
}

/* Draws */

/* Queue (3, 3): five frames of 100 B of port 0, three of 1000 B of port 1, two of 250 B of port 2,
 * two of them at a time apart. */
static void fill(struct bench *b)
{
    static const uint16_t ports[] = {0, 1, 2, 0, 0, 1, 2, 0, 1, 0};
    static const uint32_t bytes[] = {100, 1000, 250};
    for (uint32_t i = 0; i < 10; i++)
        in(b, ports[i], 3, 3, bytes[ports[i]]);
}

static double chi_square(const uint64_t *seen, const double *expected, uint32_t n)
{
    double sum = 0;
    for (uint32_t i = 0; i < n; i++) {
        const double d = (double)seen[i] - expected[i];
        sum += d * d / expected[i];
    }
    return sum;
}

/* First draws are as the shares; second draws, behind a held port 0 and the frame of 500 B of port
 * 2 that came in between, hit nobody as often as they hit port 0. Two degrees of freedom: 13.8 is
 * exceeded once in a thousand. */
static void test_draws_are_uniform(void **unused)
{
    (void)unused;
    enum { TRIALS = 30000 };
    static const double weights[2][3] = {{5, 3, 2}, {500, 3000, 500}};
    static const double second[2][3] = {{5, 3, 3}, {500, 3000, 1000}}; /* [0]: nobody */
    for (uint32_t bytes = 0; bytes < 2; bytes++)
        for (uint32_t scan = 0; scan < 2; scan++) {
            uint64_t seen[3] = {0}, then[3] = {0};
            double expected[3], total = 0, total_then = 0;
            struct bench b;
            tpfc_setup(&b);
            bench_set(&b, "targeting", "random");
            bench_set_watermarks(&b, "100B", "4000B", "9000B");
            bench_set(&b, "sample", bytes ? "bytes" : "frames");
            bench_set(&b, "statistics", scan ? "scan" : "kept");
            b.env.buffer_bytes = 20000;
            for (uint32_t t = 0; t < TRIALS; t++) {
                xoff_rng_init(&b.env.rng, 17, t, bytes);
                memset(b.queues, 0, sizeof b.queues);
                memset(b.paused, 0, sizeof b.paused);
                bench_start(&b);
                fill(&b);
                in(&b, 2, 3, 3, 500);
                assert_int_equal(b.edges.n, 1);
                const uint16_t first = b.edges.at[0].port;
                seen[first]++;
                if (first == 0) {
                    in(&b, 3, 3, 3, 64);
                    assert_true(b.edges.n <= 1);
                    then[b.edges.n ? b.edges.at[0].port : 0]++;
                }
                bench_end(&b);
            }
            for (uint32_t i = 0; i < 3; i++)
                total += weights[bytes][i], total_then += second[bytes][i];
            for (uint32_t i = 0; i < 3; i++)
                expected[i] = TRIALS * weights[bytes][i] / total;
            assert_true(chi_square(seen, expected, 3) < 13.8);
            for (uint32_t i = 0; i < 3; i++)
                expected[i] = (double)seen[0] * second[bytes][i] / total_then;
            assert_true(chi_square(then, expected, 3) < 13.8);
        }
}

/* Random traffic */

/* What the queues of the bench should hold, by the rules alone. */
struct model {
    bool holds[N_PORTS][XOFF_N_PRIORITIES][N_PORTS]; /* [out_port][priority][in_port] */
    bool is_chosen[N_PORTS][XOFF_N_PRIORITIES];
    bool is_bytes, once;
    uint64_t n_targeted, n_high;
};

/* Before the frame is put into the queue. */
static void model_choose(struct model *m, const struct fifo *q, uint16_t out_port, uint8_t priority)
{
    uint64_t amounts[N_PORTS] = {0}, total = 0, n_sources = 0;
    bool *holds = m->holds[out_port][priority];
    if (q->bytes < 3000)
        return;
    for (uint32_t i = 0; i < q->n; i++) {
        const uint32_t at = (q->first + i) % QUEUE_FRAMES;
        const uint64_t amount = m->is_bytes ? q->frames[at].bytes : 1;
        n_sources += amounts[q->frames[at].in_port] == 0;
        amounts[q->frames[at].in_port] += amount;
        total += amount;
    }
    for (uint32_t port = 0; port < N_PORTS; port++) {
        const bool is_target = amounts[port] * n_sources > total;
        const bool is_asked = !m->once || !m->is_chosen[out_port][priority];
        if (q->bytes >= 6000 || (is_target && is_asked)) {
            m->n_high += q->bytes >= 6000 && !holds[port];
            m->n_targeted += q->bytes < 6000 && !holds[port];
            holds[port] = true;
        }
    }
    m->is_chosen[out_port][priority] = true;
}

static void model_left(struct model *m, const struct fifo *q, uint16_t out_port, uint8_t priority)
{
    if (q->bytes < 3000)
        m->is_chosen[out_port][priority] = false;
    if (q->bytes <= 1000)
        memset(m->holds[out_port][priority], 0, sizeof m->holds[out_port][priority]);
}

static void expect_as_model(const struct bench *b, const struct model *m)
{
    for (uint32_t port = 0; port < N_PORTS; port++) {
        uint8_t paused = 0;
        for (uint32_t o = 0; o < N_PORTS; o++)
            for (uint32_t n = 0; n < XOFF_N_PRIORITIES; n++)
                paused |= (uint8_t)(m->holds[o][n][port] << n);
        assert_int_equal(b->paused[port], paused);
        for (uint32_t n = 0; n < XOFF_N_PRIORITIES; n++)
            assert_int_equal(xoff_pause_waits_for(&b->policy, port, n), paused & 1u << n);
    }
}

/* Ups and downs of load, ports that send more than others by turns, frames of any size. A frame in
 * or out of `b`; returns false for one out. */
struct step {
    bool is_in;
    uint16_t in_port, out_port;
    uint8_t priority;
    uint32_t bytes;
};

static struct step draw_step(const struct bench *b, struct xoff_rng *rng, uint32_t step)
{
    struct step s = {.out_port = (uint16_t)(2 + xoff_rng_below(rng, 2)),
                     .priority = (uint8_t)(3 + xoff_rng_below(rng, N_PRIORITIES))};
    const struct fifo *q = &b->queues[s.out_port][s.priority];
    const uint32_t in_8 = step / 150 % 3 == 0 ? 6 : step / 150 % 3 == 1 ? 4 : 2;
    s.is_in = !q->n || (q->bytes < 12000 && xoff_rng_below(rng, 8) < in_8);
    const uint16_t heavy = (uint16_t)(step / 400 % N_PORTS);
    s.in_port = (uint16_t)xoff_rng_below(rng, N_PORTS);
    if (xoff_rng_below(rng, 3) == 0)
        s.in_port = heavy;
    s.bytes = (uint32_t)(64 + xoff_rng_below(rng, 937));
    return s;
}

static void take_step(struct bench *b, const struct step *s)
{
    if (s->is_in)
        in(b, s->in_port, s->out_port, s->priority, s->bytes);
    else
        out(b, s->out_port, s->priority);
}

static void test_fair_set_is_exact(void **unused)
{
    (void)unused;
    for (uint32_t variant = 0; variant < 8; variant++) {
        struct bench b;
        struct model m = {.is_bytes = variant & 1, .once = variant & 2};
        struct xoff_rng rng;
        tpfc_setup(&b);
        bench_set_watermarks(&b, "1000B", "3000B", "6000B");
        bench_set(&b, "sample", m.is_bytes ? "bytes" : "frames");
        bench_set(&b, "when", m.once ? "crossing" : "enqueue");
        bench_set(&b, "statistics", variant & 4 ? "scan" : "kept");
        bench_start(&b);
        xoff_rng_init(&rng, 23, variant & 3, 0);
        for (uint32_t step = 0; step < 60000; step++) {
            const struct step s = draw_step(&b, &rng, step);
            struct fifo *q = &b.queues[s.out_port][s.priority];
            if (s.is_in)
                model_choose(&m, q, s.out_port, s.priority);
            take_step(&b, &s);
            if (!s.is_in)
                model_left(&m, q, s.out_port, s.priority);
            expect_as_model(&b, &m);
        }
        assert_true(m.n_targeted > 300);
        assert_true(m.n_high > 100);
        assert_true(b.n_resumes > 300);
        bench_end(&b);
    }
}

static void expect_equal_edges(const struct xoff_edge *x, const struct xoff_edge *y)
{
    assert_int_equal(x->port, y->port);
    assert_int_equal(x->priorities, y->priorities);
    assert_int_equal(x->pause, y->pause);
    assert_int_equal(x->cause.port, y->cause.port);
    assert_int_equal(x->cause.priority, y->cause.priority);
    assert_int_equal(x->cause.occupied_bytes, y->cause.occupied_bytes);
    assert_int_equal(x->cause.threshold_bytes, y->cause.threshold_bytes);
}

/* Kept statistics and the scan of the queue give the same edges, drawn ones too. */
static void test_kept_and_scan_are_equal(void **unused)
{
    (void)unused;
    for (uint32_t variant = 0; variant < 16; variant++) {
        static struct bench b[2];
        struct xoff_rng rng;
        uint64_t n_drawn = 0;
        for (uint32_t i = 0; i < 2; i++) {
            tpfc_setup(&b[i]);
            bench_set_watermarks(&b[i], "1000B", "3000B", "6000B");
            bench_set(&b[i], "targeting", variant & 4 ? "random" : "fair");
            bench_set(&b[i], "sample", variant & 1 ? "bytes" : "frames");
            bench_set(&b[i], "when", variant & 2 ? "crossing" : "enqueue");
            bench_set(&b[i], "statistics", i ? "scan" : "kept");
            if (variant & 8) { /* from 3000 on with three ports or more */
                bench_set(&b[i], "tw", "auto");
                bench_set(&b[i], "count", variant & 1 ? "partners" : "aggressors");
                bench_set(&b[i], "every", "2");
            }
            bench_start(&b[i]);
        }
        xoff_rng_init(&rng, 29, variant, 0);
        for (uint32_t step = 0; step < 40000; step++) {
            const struct step s = draw_step(&b[0], &rng, step);
            const int64_t before = b[0].queues[s.out_port][s.priority].bytes;
            take_step(&b[0], &s);
            take_step(&b[1], &s);
            assert_int_equal(b[0].edges.n, b[1].edges.n);
            for (uint32_t e = 0; e < b[0].edges.n; e++)
                expect_equal_edges(&b[0].edges.at[e], &b[1].edges.at[e]);
            if ((variant & 4) && s.is_in && before < 6000)
                assert_true(b[0].edges.n <= (before >= (variant & 8 ? 2000 : 3000)));
            n_drawn += s.is_in && before >= 3000 && before < 6000 && b[0].edges.n;
        }
        assert_true(n_drawn > 100);
        bench_end(&b[0]);
        bench_end(&b[1]);
    }
}

/* State is plain bytes: a copy goes on like the original. */
static void test_copied_state_goes_on(void **unused)
{
    (void)unused;
    static struct bench b, copy;
    struct xoff_rng rng;
    tpfc_setup(&b);
    bench_set_watermarks(&b, "1000B", "3000B", "6000B");
    bench_set(&b, "targeting", "random");
    bench_start(&b);
    xoff_rng_init(&rng, 31, 0, 0);
    for (uint32_t step = 0; step < 20000; step++) {
        if (step == 10000) {
            copy = b;
            const size_t size = b.policy.shape.state_size;
            copy.policy.state = malloc(size);
            copy.edges.at = malloc(N_PORTS * sizeof copy.edges.at[0]);
            assert_true(copy.policy.state && copy.edges.at);
            memcpy(copy.policy.state, b.policy.state, size);
        }
        const struct step s = draw_step(&b, &rng, step);
        take_step(&b, &s);
        if (step >= 10000)
            take_step(&copy, &s);
        if (step >= 10000)
            assert_memory_equal(b.paused, copy.paused, sizeof b.paused);
    }
    assert_true(b.n_pauses > 100);
    free(copy.policy.state);
    free(copy.edges.at);
    bench_end(&b);
}

/* tw: auto is hw less the headroom of the targets, that of the largest link: 9000 - 2 * 2000. */
static void test_tw_auto(void **unused)
{
    (void)unused;
    for (uint32_t missing = 0; missing < 2; missing++) {
        struct bench b;
        tpfc_setup(&b);
        b.ports[1].headroom_bytes = 2000;
        bench_set_watermarks(&b, "100B", "auto", "9000B");
        bench_set(&b, "targets", "2");
        bench_set(&b, "targeting", "random");
        bench_start(&b);
        for (uint32_t i = 0; i < 5; i++)
            in(&b, 0, 3, 3, 1000 - (i < missing));
        expect_edges(&b, 1, "");
        in(&b, 0, 3, 3, 64);
        expect_edges(&b, 1, missing ? "" : "0");
        bench_end(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tw_to_the_byte),
        cmocka_unit_test(test_hw_to_the_byte),
        cmocka_unit_test(test_lw_to_the_byte),
        cmocka_unit_test(test_every_enqueue_or_once),
        cmocka_unit_test(test_every_third),
        cmocka_unit_test(test_rearm_at_lw_to_the_byte),
        cmocka_unit_test(test_counted_tw),
        cmocka_unit_test(test_several_queues),
        cmocka_unit_test(test_what_is_ignored),
        cmocka_unit_test(test_shares_in_frames_and_bytes),
        cmocka_unit_test(test_let_go_with_frames_left),
        cmocka_unit_test(test_draws_are_uniform),
        cmocka_unit_test(test_fair_set_is_exact),
        cmocka_unit_test(test_kept_and_scan_are_equal),
        cmocka_unit_test(test_copied_state_goes_on),
        cmocka_unit_test(test_tw_auto),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
