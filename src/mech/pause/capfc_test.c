/* Congestion-aware PFC: the algorithms of the paper line by line on a switch of five ports, chosen
 * sets against all subsets, and random traffic against a slow model that recounts everything.
 */
#define N_PORTS 12 /* room for the largest switch here; most tests use five */
#include "pause_testing.h"

#include <xoff/rng.h>

static const struct xoff_crossings no_crossings;

static void capfc_setup(struct bench *b, const char *select, const char *xon, const char *warn,
                        const char *xoff)
{
    bench_setup(b, &xoff_pause_capfc);
    b->env.n_ports = 5;
    b->env.buffer_bytes = 200000;
    b->env.egress_bytes = 100000;
    bench_set(b, "select", select);
    bench_set(b, "xon", xon);
    bench_set(b, "warn", warn);
    bench_set(b, "xoff", xoff);
}

static void capfc_start(struct bench *b, const char *select, const char *xon, const char *warn,
                        const char *xoff)
{
    capfc_setup(b, select, xon, warn, xoff);
    bench_start(b);
    assert_true(b->policy.shape.every_frame);
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
    bench_follow(b);
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
    bench_follow(b);
}

/* The ingress state I changes. The frame is of a lossy priority, so no egress queue is concerned.
 */
static void cross(struct bench *b, enum xoff_unit unit, uint16_t port, uint8_t priority, int above)
{
    const struct xoff_crossings c = {.n = 1,
                                     .at = {{.unit = (uint8_t)unit,
                                             .above = (uint8_t)above,
                                             .priority = priority,
                                             .port = port,
                                             .occupied_bytes = 500,
                                             .threshold_bytes = 400}}};
    xoff_pause_on_crossings(&b->policy, &c, 0, &b->edges);
    bench_follow(b);
}

/* The ports of the last call's edges, in order. */
static void expect_edges(const struct bench *b, int pause, const char *ports)
{
    assert_int_equal(b->edges.n, strlen(ports));
    for (uint32_t i = 0; i < b->edges.n; i++) {
        assert_int_equal(b->edges.at[i].port, ports[i] - '0');
        assert_int_equal(b->edges.at[i].pause, pause);
    }
}

static void in_row(struct bench *b, const char *ports)
{
    for (; *ports; ports++) {
        in(b, (uint16_t)(*ports - '0'), 4, 3, 1000);
        expect_edges(b, 1, "");
    }
}

/* Algorithm 1, on egress port 4 and priority 3, frames of 1000 B, XON 2000, WARN 3000, XOFF 6000.
 */
static void test_stop_max(void **unused)
{
    (void)unused;
    struct bench b;
    capfc_start(&b, "max", "2000B", "3000B", "6000B");
    in_row(&b, "002"); /* B = 3000 >= WARN with the third, which is the first to count: C2 = 1 */
    in_row(&b, "11");  /* B = 5000, C1 = 2 */
    in(&b, 1, 4, 3, 1000); /* B = 6000 >= XOFF, C1 = 3: the maximum, though 0 has two frames here */
    expect_edges(&b, 1, "1");
    assert_int_equal(b.edges.at[0].priorities, 0x08);
    assert_int_equal(b.edges.at[0].cause.unit, XOFF_UNIT_EGRESS);
    assert_int_equal(b.edges.at[0].cause.port, 4);
    assert_int_equal(b.edges.at[0].cause.priority, 3);
    assert_int_equal(b.edges.at[0].cause.occupied_bytes, 6000);
    assert_int_equal(b.edges.at[0].cause.threshold_bytes, 6000);
    in_row(&b, "22");      /* C2 = 3, as many as port 1 has, which is the lower number */
    in(&b, 2, 4, 3, 1000); /* C2 = 4: the maximum has changed */
    expect_edges(&b, 1, "2");
    in_row(&b, "3"); /* B = 10000 */
    assert_int_equal(b.paused[1] | b.paused[2], 0x08);
    for (uint32_t i = 0; i < 7; i++) { /* B = 3000 <= WARN: C = 0, E stays */
        out(&b, 4, 3);
        expect_edges(&b, 0, "");
    }
    in_row(&b, "33");      /* B = 5000, C3 = 2 */
    in(&b, 1, 4, 3, 1000); /* C1 = 1, not 4: counted anew since WARN */
    expect_edges(&b, 1, "3");
    for (uint32_t i = 0; i < 3; i++) {
        out(&b, 4, 3);
        expect_edges(&b, 0, "");
    }
    out(&b, 4, 3); /* B = 2000 <= XON: E = 0 for all */
    expect_edges(&b, 0, "123");
    assert_int_equal(b.edges.at[2].cause.occupied_bytes, 2000);
    assert_int_equal(b.edges.at[2].cause.threshold_bytes, 2000);
    bench_end(&b);
}

/* Each threshold on both sides: 1 B less does nothing, the threshold itself acts. */
static void test_thresholds_to_the_byte(void **unused)
{
    (void)unused;
    struct bench b;
    for (uint32_t less = 0; less < 2; less++) {
        /* WARN at enqueue: with 3000 the first frame of port 1 counts, with 2999 it does not. Port
         * 2 follows with one, and 1 wins the tie only if it has one too. */
        capfc_start(&b, "max", "1000B", "3000B", "3200B");
        in(&b, 0, 4, 3, 2000);
        in(&b, 1, 4, 3, 1000 - less);
        expect_edges(&b, 1, "");
        in(&b, 2, 4, 3, 300);
        expect_edges(&b, 1, less ? "2" : "1");
        bench_end(&b);
        /* XOFF at enqueue */
        capfc_start(&b, "max", "1000B", "1000B", "3000B");
        in(&b, 1, 4, 3, 3000 - less);
        expect_edges(&b, 1, less ? "" : "1");
        bench_end(&b);
        /* WARN at dequeue: C1 = 3 is lost at 3000, kept at 3001. */
        capfc_start(&b, "max", "1000B", "3000B", "6000B");
        in(&b, 0, 4, 3, 1000);
        in(&b, 0, 4, 3, 2000 + less);
        in(&b, 1, 4, 3, 400);
        in(&b, 1, 4, 3, 300);
        in(&b, 1, 4, 3, 300); /* B = 4000 + less */
        out(&b, 4, 3);        /* 3000 + less */
        in(&b, 2, 4, 3, 1000);
        in(&b, 2, 4, 3, 2000); /* C2 = 2 */
        expect_edges(&b, 1, less ? "1" : "2");
        bench_end(&b);
        /* XON at dequeue */
        capfc_start(&b, "max", "1000B", "1000B", "3000B");
        in(&b, 1, 4, 3, 2000);
        in(&b, 1, 4, 3, 1000 + less);
        out(&b, 4, 3);
        expect_edges(&b, 0, less ? "" : "1");
        bench_end(&b);
    }
}

/* D of port 0 and priority 3 = I or E from egress port 1, 2, 3 or 4: paused with the first that
 * is raised, resumed with the last that is cleared, whichever that is. 0 stands for I. */
static void test_combined_decision(void **unused)
{
    (void)unused;
    for (uint16_t first = 0; first < 5; first++)
        for (uint16_t last = 0; last < 5; last++) {
            struct bench b;
            capfc_start(&b, "max", "0B", "auto", "1000B");
            for (uint16_t k = 0; k < 5; k++) {
                const uint16_t o = (uint16_t)((first + k) % 5);
                if (o)
                    in(&b, 0, o, 3, 1000);
                else
                    cross(&b, XOFF_UNIT_INGRESS, 0, 3, 1);
                expect_edges(&b, 1, k == 0 ? "0" : "");
            }
            for (uint16_t k = 1; k <= 5; k++) {
                const uint16_t o = (uint16_t)((last + k) % 5);
                assert_int_equal(b.paused[0], 0x08);
                assert_int_equal(xoff_pause_waits_for(&b.policy, 0, 3), 0x08);
                if (o)
                    out(&b, o, 3);
                else
                    cross(&b, XOFF_UNIT_INGRESS, 0, 3, 0);
                expect_edges(&b, 0, k == 5 ? "0" : "");
            }
            assert_int_equal(xoff_pause_waits_for(&b.policy, 0, 3), 0);
            bench_end(&b);
        }
}

/* I works as in PFC: single queues, the port as a whole, lossless priorities alone. */
static void test_ingress_state(void **unused)
{
    (void)unused;
    struct bench b;
    capfc_start(&b, "calibrate", "0B", "auto", "1000B");
    cross(&b, XOFF_UNIT_INGRESS, 2, 0, 1);
    expect_edges(&b, 1, "");
    cross(&b, XOFF_UNIT_EGRESS, 2, 3, 1);
    expect_edges(&b, 1, "");
    cross(&b, XOFF_UNIT_INGRESS, 2, 3, 1);
    expect_edges(&b, 1, "2");
    assert_int_equal(b.edges.at[0].cause.unit, XOFF_UNIT_INGRESS);
    cross(&b, XOFF_UNIT_INGRESS_PORT, 2, 0, 1);
    expect_edges(&b, 1, "2");
    assert_int_equal(b.edges.at[0].priorities, 0x10);
    assert_int_equal(xoff_pause_waits_for(&b.policy, 2, 4), LOSSLESS);
    in(&b, 2, 1, 4, 1000); /* E for priority 4 */
    expect_edges(&b, 1, "");
    cross(&b, XOFF_UNIT_INGRESS, 2, 3, 0);
    expect_edges(&b, 0, "");
    cross(&b, XOFF_UNIT_INGRESS_PORT, 2, 0, 0);
    expect_edges(&b, 0, "2");
    assert_int_equal(b.edges.at[0].priorities, 0x08);
    out(&b, 1, 4);
    expect_edges(&b, 0, "2");
    assert_int_equal(b.edges.at[0].priorities, 0x10);
    bench_end(&b);
}

/* Where ingress and egress are one memory, crossings come with the frame: one call tells both, and
 * the port is paused once. */
static void test_crossing_with_a_frame(void **unused)
{
    (void)unused;
    struct bench b;
    capfc_start(&b, "max", "0B", "auto", "1000B");
    struct xoff_crossings c = {.n = 1,
                               .at = {{.unit = XOFF_UNIT_INGRESS, .above = 1, .priority = 3}}};
    const struct xoff_arrival a = {.in_port = 0, .out_port = 4, .priority = 3, .bytes = 1000};
    const struct xoff_departure d = {
        .in_port = 0, .out_port = 4, .priority = 3, .pool = XOFF_POOL_SHARED, .bytes = 1000};
    xoff_pause_on_arrival(&b.policy, &a, &c, 0, &b.edges);
    bench_follow(&b);
    expect_edges(&b, 1, "0");
    assert_int_equal(b.edges.at[0].cause.unit, XOFF_UNIT_INGRESS);
    c.at[0].above = 0;
    xoff_pause_on_departure(&b.policy, &d, &c, 0, &b.edges);
    bench_follow(&b);
    expect_edges(&b, 0, "0");
    assert_int_equal(b.edges.at[0].cause.unit, XOFF_UNIT_EGRESS);
    bench_end(&b);
}

/* Lossy and lost frames and frames that turn round neither count nor pause; priorities have queues
 * of their own. */
static void test_what_does_not_count(void **unused)
{
    (void)unused;
    struct bench b;
    capfc_start(&b, "max", "0B", "auto", "3000B");
    for (uint32_t i = 0; i < 9; i++) {
        const struct xoff_arrival lost = {
            .in_port = 1, .out_port = 4, .priority = 3, .dropped = true, .bytes = 1000};
        xoff_pause_on_arrival(&b.policy, &lost, &no_crossings, 0, &b.edges);
        expect_edges(&b, 1, "");
        in(&b, 1, 4, 0, 1000);
        expect_edges(&b, 1, "");
        in(&b, 1, 1, 3, 1000);
        expect_edges(&b, 1, "");
    }
    in(&b, 1, 4, 3, 1500);
    in(&b, 1, 4, 4, 1500);
    in(&b, 2, 4, 4, 1499);
    expect_edges(&b, 1, "");
    in(&b, 2, 4, 3, 1500);
    expect_edges(&b, 1, "1"); /* one frame each */
    in(&b, 2, 1, 3, 64);      /* the queue that 1 filled with its own is long, but E names 2 */
    expect_edges(&b, 1, "2");
    bench_end(&b);
}

/* Stop-Calibrate with counters 5, 3, 1, 1 of 10: CUT = 0 asks for one port, 0.8 is reached by two
 * to the frame, 0.81 needs a third, the lower number of two equal ones, and 1 needs all. */
static void test_stop_calibrate(void **unused)
{
    (void)unused;
    static const struct {
        const char *cut, *ports;
    } rows[] = {{"0", "1"},      {"0.5", "1"},   {"0.51", "13"},   {"0.8", "13"}, {"auto", "13"},
                {"0.81", "130"}, {"0.9", "130"}, {"0.91", "1302"}, {"1", "1302"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct bench b;
        capfc_setup(&b, "calibrate", "0B", "auto", "10000B");
        bench_set(&b, "cut", rows[i].cut);
        bench_start(&b);
        in_row(&b, "111233031"); /* C0..C3 = 1, 4, 1, 3 */
        in(&b, 1, 4, 3, 1000);
        expect_edges(&b, 1, rows[i].ports);
        bench_end(&b);
    }
    /* Thirds: 2 of 3 reach 2/3. A port without a frame since WARN is never asked. */
    struct bench b;
    capfc_setup(&b, "calibrate", "0B", "auto", "3000B");
    bench_set(&b, "cut", "2/3");
    bench_start(&b);
    in_row(&b, "12");
    in(&b, 3, 4, 3, 1000);
    expect_edges(&b, 1, "12");
    bench_end(&b);
    capfc_setup(&b, "calibrate", "1000B", "2000B", "4000B");
    bench_set(&b, "cut", "1");
    bench_start(&b);
    in_row(&b, "012"); /* 0 came below WARN */
    in(&b, 2, 4, 3, 1000);
    expect_edges(&b, 1, "21");
    in(&b, 0, 4, 3, 1000);
    expect_edges(&b, 1, "0");
    bench_end(&b);
}

/* `departures`: what has left no longer counts, and a counter does not fall below 0. */
static void test_departures(void **unused)
{
    (void)unused;
    for (uint32_t variant = 0; variant < 2; variant++) {
        struct bench b;
        capfc_setup(&b, "max", "0B", "auto", "5000B");
        bench_set(&b, "departures", variant ? "true" : "false");
        bench_start(&b);
        in_row(&b, "1112"); /* C1 = 3, C2 = 1 */
        out(&b, 4, 3);
        out(&b, 4, 3);         /* C1 = 1 */
        in_row(&b, "22");      /* C2 = 3; B = 4000 */
        in(&b, 3, 4, 3, 1000); /* C1 = 3 by arrivals: the lower number of two with 3 */
        expect_edges(&b, 1, variant ? "2" : "1");
        bench_end(&b);
        /* Three frames of port 0 from below WARN leave after one of its frames has counted. */
        capfc_setup(&b, "max", "0B", "3000B", "5000B");
        bench_set(&b, "departures", variant ? "true" : "false");
        bench_start(&b);
        in_row(&b, "0010"); /* C1 = 1 at 3000, C0 = 1 */
        in(&b, 1, 4, 3, 999);
        expect_edges(&b, 1, "");
        out(&b, 4, 3); /* B = 3999: C0 = 0 */
        in(&b, 0, 4, 3, 1000);
        in(&b, 0, 4, 3, 1); /* B = 5000: C0 = 3 by arrivals and 2 else, C1 = 2 */
        expect_edges(&b, 1, "0");
        bench_end(&b);
    }
}

/* A counter of 2 bytes stops at 65535. Port 2 sends 65535 frames, port 1 then 65534 and two more:
 * with the first of these both are equal and 1 is the lower number. */
static void test_counters_stop(void **unused)
{
    (void)unused;
    struct bench b;
    capfc_start(&b, "max", "0B", "auto", "4000B");
    in_row(&b, "22");
    for (uint32_t i = 0; i < 65535 + 10; i++) {
        in(&b, 2, 4, 3, 1000);
        out(&b, 4, 3);
    }
    for (uint32_t i = 0; i < 65534; i++) {
        in(&b, 1, 4, 3, 1000);
        out(&b, 4, 3);
    }
    assert_int_equal(b.n_pauses, 0);
    in(&b, 3, 4, 3, 1000);
    in(&b, 3, 4, 3, 1000); /* B = 4000 */
    expect_edges(&b, 1, "2");
    in(&b, 1, 4, 3, 1000);
    expect_edges(&b, 1, "1");
    in(&b, 1, 4, 3, 1000);
    expect_edges(&b, 1, "");
    bench_end(&b);
}

/* The set that Stop-Calibrate asks for, against all subsets of the ports: nobody outside has a
 * larger counter, it reaches CUT, no smaller set does, it is not empty, and all have counters. */
static void test_smallest_set(void **unused)
{
    (void)unused;
    static const uint32_t cuts[] = {0, 1, 25, 50, 80, 99, 100}; /* per cent */
    uint64_t n_sizes[N_PORTS] = {0};
    for (uint32_t round = 0; round < 400; round++) {
        struct xoff_rng rng;
        struct bench b;
        char text[32];
        const uint32_t cut = cuts[round % 7], n = 2 + round % (N_PORTS - 1), to = n - 1;
        uint32_t counters[N_PORTS] = {0}, total = 0;
        xoff_rng_init(&rng, 17, round, 0);
        for (uint32_t port = 0; port < to; port++)
            total += counters[port] = (uint32_t)xoff_rng_below(&rng, 2 + round % 20);
        total += counters[0] == 0;
        counters[0] += counters[0] == 0;
        capfc_setup(&b, "calibrate", "0B", "auto", "1B");
        b.env.n_ports = n;
        snprintf(text, sizeof text, "%uB", total * 100);
        bench_set(&b, "xoff", text);
        snprintf(text, sizeof text, "%u%%", cut);
        bench_set(&b, "cut", text);
        bench_start(&b);
        for (uint32_t port = 0; port < to; port++)
            for (uint32_t k = 0; k < counters[port]; k++)
                in(&b, (uint16_t)port, (uint16_t)to, 3, 100);
        uint32_t chosen = 0, size = 0, sum = 0, least = UINT32_MAX;
        for (uint32_t port = 0; port < n; port++)
            if (b.paused[port]) {
                chosen |= 1u << port;
                size++;
                sum += counters[port];
                least = counters[port] < least ? counters[port] : least;
            }
        uint32_t smallest = UINT32_MAX;
        for (uint32_t set = 1; set < 1u << to; set++) {
            uint32_t its_sum = 0, its_size = 0;
            for (uint32_t port = 0; port < to; port++)
                if (set >> port & 1)
                    its_sum += counters[port], its_size++;
            if (100 * its_sum >= cut * total && its_size < smallest)
                smallest = its_size;
        }
        if (size != smallest || 100 * sum < cut * total || least == 0)
            fail_msg("round %u: %u ports with %u of %u, %u would do", round, size, sum, total,
                     smallest);
        for (uint32_t port = 0; port < to; port++)
            for (uint32_t other = 0; other < to && !(chosen >> port & 1); other++)
                if (chosen >> other & 1)
                    assert_true(counters[other] > counters[port] ||
                                (counters[other] == counters[port] && other < port));
        n_sizes[size]++;
        bench_end(&b);
    }
    assert_true(n_sizes[1] > 40 && n_sizes[2] > 20 && n_sizes[3] > 20 && n_sizes[5] > 5);
}

/* A slow model. It keeps what happened to each egress queue since its counters were last reset, and
 * works out counters, signals and decisions from that at every step. */

enum { MODEL_PORTS = 5, MODEL_LOG = 20000 };

struct model {
    bool is_max, departures;
    uint32_t cut; /* per cent */
    int64_t xon, warn, xoff;
    bool i[XOFF_N_PRIORITIES][MODEL_PORTS];
    bool e[XOFF_N_PRIORITIES][MODEL_PORTS][MODEL_PORTS]; /* [priority][in][out] */
    int64_t b[XOFF_N_PRIORITIES][MODEL_PORTS];
    struct {
        int8_t events[MODEL_LOG]; /* port + 1 for an arrival, -(port + 1) for a departure */
        uint32_t n;
    } log[XOFF_N_PRIORITIES][MODEL_PORTS];
};

static void model_note(struct model *m, uint32_t p, uint32_t o, int event)
{
    assert_true(m->log[p][o].n < MODEL_LOG);
    m->log[p][o].events[m->log[p][o].n++] = (int8_t)event;
}

static void model_recount(const struct model *m, uint32_t p, uint32_t o, uint32_t c[MODEL_PORTS])
{
    memset(c, 0, MODEL_PORTS * sizeof *c);
    for (uint32_t k = 0; k < m->log[p][o].n; k++) {
        const int event = m->log[p][o].events[k];
        if (event > 0)
            c[event - 1]++;
        else if (m->departures && c[-event - 1] > 0)
            c[-event - 1]--;
    }
}

static void model_in(struct model *m, uint32_t in_port, uint32_t o, uint32_t p, uint32_t bytes)
{
    m->b[p][o] += bytes;
    if (m->b[p][o] < m->warn || in_port == o)
        return;
    model_note(m, p, o, (int)in_port + 1);
    if (m->b[p][o] < m->xoff)
        return;
    uint32_t c[MODEL_PORTS], total = 0, sum = 0;
    model_recount(m, p, o, c);
    for (uint32_t i = 0; i < MODEL_PORTS; i++)
        total += c[i];
    do {
        uint32_t best = 0;
        for (uint32_t i = 1; i < MODEL_PORTS; i++)
            if (c[i] > c[best])
                best = i;
        m->e[p][best][o] = true;
        sum += c[best];
        c[best] = 0;
    } while (!m->is_max && sum < total && 100 * sum < m->cut * total);
}

static void model_out(struct model *m, uint32_t in_port, uint32_t o, uint32_t p, uint32_t bytes)
{
    m->b[p][o] -= bytes;
    if (m->b[p][o] <= m->warn)
        m->log[p][o].n = 0;
    else if (in_port != o)
        model_note(m, p, o, -(int)in_port - 1);
    for (uint32_t i = 0; i < MODEL_PORTS && m->b[p][o] <= m->xon; i++)
        m->e[p][i][o] = false;
}

static bool model_decides(const struct model *m, uint32_t p, uint32_t i)
{
    bool d = m->i[p][i];
    for (uint32_t o = 0; o < MODEL_PORTS; o++)
        d = d || (o != i && m->e[p][i][o]);
    return d;
}

static void compare(const struct bench *b, const struct model *m, uint32_t seed, uint32_t step)
{
    for (uint32_t p = 3; p < 5; p++)
        for (uint32_t i = 0; i < MODEL_PORTS; i++) {
            const bool paused = b->paused[i] >> p & 1;
            if (paused != model_decides(m, p, i))
                fail_msg("seed %u, step %u: port %u, priority %u is %spaused", seed, step, i, p,
                         paused ? "" : "not ");
            assert_int_equal(xoff_pause_waits_for(&b->policy, i, p), paused ? 1u << p : 0);
            for (uint32_t o = 0; o < MODEL_PORTS; o++)
                assert_int_equal(xoff_pause_held_by(&b->policy, i, o, p),
                                 m->e[p][i][o] ? XOFF_HOLD_YES
                                 : m->i[p][i]  ? XOFF_HOLD_BY_FRAMES
                                               : XOFF_HOLD_NO);
        }
}

static void test_against_the_model(void **unused)
{
    (void)unused;
    static struct model m;
    static struct bench b;
    uint64_t n_asked = 0;
    for (uint32_t seed = 0; seed < 48; seed++) {
        struct xoff_rng rng;
        char text[8];
        static const char *const warns[] = {"4000B", "4001B", "9000B"};
        memset(&m, 0, sizeof m);
        m = (struct model){.is_max = seed % 2,
                           .departures = seed / 2 % 2,
                           .cut = 10 * (seed % 11),
                           .xon = 4000,
                           .warn = (int64_t[]){4000, 4001, 9000}[seed % 3],
                           .xoff = 12000};
        capfc_setup(&b, m.is_max ? "max" : "calibrate", "4000B", warns[seed % 3], "12000B");
        bench_set(&b, "departures", m.departures ? "true" : "false");
        snprintf(text, sizeof text, "%u%%", m.cut);
        if (!m.is_max)
            bench_set(&b, "cut", text);
        bench_start(&b);
        xoff_rng_init(&rng, 23, seed, 0);
        for (uint32_t step = 0; step < 6000; step++) {
            /* Queues fill for a while, then drain; port 1 sends more than the others. */
            const uint32_t p = 3 + (uint32_t)xoff_rng_below(&rng, 2);
            const uint32_t o = (uint32_t)xoff_rng_below(&rng, 3);
            const uint32_t i =
                (uint32_t)xoff_rng_below(&rng, MODEL_PORTS + 2) % (MODEL_PORTS + 1) % MODEL_PORTS;
            const uint32_t bytes = 64 + (uint32_t)xoff_rng_below(&rng, 1400);
            const struct fifo *q = &b.queues[o][p];
            const uint32_t bias = step / 300 % 2 ? 30 : 70; /* per cent of arrivals */
            if (xoff_rng_below(&rng, m.i[p][i] ? 10 : 100) == 0) {
                m.i[p][i] = !m.i[p][i];
                cross(&b, XOFF_UNIT_INGRESS, (uint16_t)i, (uint8_t)p, m.i[p][i]);
            } else if (q->n < 100 && xoff_rng_below(&rng, 100) < bias) {
                model_in(&m, i, o, p, bytes);
                in(&b, (uint16_t)i, (uint16_t)o, (uint8_t)p, bytes);
            } else if (q->n) {
                model_out(&m, q->frames[q->first].in_port, o, p, q->frames[q->first].bytes);
                out(&b, (uint16_t)o, (uint8_t)p);
            }
            compare(&b, &m, seed, step);
            for (uint32_t k = 0; k < b.edges.n; k++)
                n_asked += b.edges.at[k].pause && b.edges.at[k].cause.unit == XOFF_UNIT_EGRESS;
        }
        bench_end(&b);
    }
    assert_true(n_asked > 1000);
}

/* State is plain bytes: a copy goes on like the original. */
static void test_copied_state_goes_on(void **unused)
{
    (void)unused;
    static struct bench b, copy;
    capfc_start(&b, "calibrate", "2000B", "3000B", "6000B");
    in_row(&b, "01123");
    copy = b;
    copy.policy.state = malloc(b.policy.shape.state_size);
    copy.edges.at = malloc(b.policy.shape.max_edges * sizeof copy.edges.at[0]);
    assert_true(copy.policy.state && copy.edges.at);
    memcpy(copy.policy.state, b.policy.state, b.policy.shape.state_size);
    in(&b, 2, 4, 3, 1000); /* C1, C2, C3 = 1, 2, 1 */
    expect_edges(&b, 1, "213");
    in(&copy, 2, 4, 3, 1000);
    expect_edges(&copy, 1, "213");
    free(copy.policy.state);
    free(copy.edges.at);
    bench_end(&b);
}

/* Configuration */

/* Section III: XON < XOFF < MAX (here 100000 B), XON <= WARN < XOFF; II-D: CUT from 0 to 1. */
static void test_refusals(void **unused)
{
    (void)unused;
    static const struct {
        const char *xon, *warn, *xoff;
        enum xoff_err_code code;
        const char *subject, *says;
    } rows[] = {
        {"20KB", "20KB", "25KB", XOFF_E_OK, "", ""},
        {"20KB", "auto", "25KB", XOFF_E_OK, "", ""},
        {"0B", "auto", "1B", XOFF_E_OK, "", ""},
        {"20KB", "24999B", "25KB", XOFF_E_OK, "", ""},
        {"20KB", "25KB", "25KB", XOFF_E_CONFLICT, "warn", "must be below xoff"},
        {"20KB", "26KB", "25KB", XOFF_E_CONFLICT, "warn", "xoff is 25KB"},
        {"20KB", "19999B", "25KB", XOFF_E_CONFLICT, "warn", "must not be below xon"},
        {"24999B", "auto", "25KB", XOFF_E_OK, "", ""},
        {"25KB", "auto", "25KB", XOFF_E_CONFLICT, "xon", "must be below xoff, which is 25KB"},
        {"20KB", "auto", "99999B", XOFF_E_OK, "", ""},
        {"20KB", "auto", "100KB", XOFF_E_CONFLICT, "xoff", "(MAX), which is 100KB"},
        {"auto", "auto", "25KB", XOFF_E_MISSING, "xon", "capfc needs"},
        {"20KB", "auto", "auto", XOFF_E_MISSING, "xoff", "capfc needs"},
    };
    struct bench b;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        capfc_setup(&b, "max", rows[i].xon, rows[i].warn, rows[i].xoff);
        assert_int_equal(bench_configure(&b), -(int)rows[i].code);
        if (rows[i].code == XOFF_E_OK) {
            bench_end(&b);
            continue;
        }
        assert_string_equal(b.err.subject, rows[i].subject);
        assert_non_null(strstr(b.err.message, rows[i].says));
    }
    static const char *const cuts[] = {"-0.1", "1.1"};
    for (size_t i = 0; i < 2; i++) {
        capfc_setup(&b, "calibrate", "0B", "auto", "1B");
        const struct xoff_param *cut = xoff_param_find(b.policy.ops->params, "cut");
        assert_int_not_equal(xoff_param_set(cut, b.params, cuts[i], &b.err), 0);
        const double value = i ? 1.1 : -0.1;
        memcpy(b.params + cut->offset, &value, sizeof value);
        assert_int_equal(bench_configure(&b), -XOFF_E_RANGE);
        assert_string_equal(b.err.subject, "cut");
    }
    capfc_setup(&b, "max", "0B", "auto", "1B");
    bench_set(&b, "cut", "0.8");
    assert_int_equal(bench_configure(&b), -XOFF_E_CONFLICT);
    assert_string_equal(b.err.subject, "cut");
    bench_set(&b, "cut", "auto");
    bench_set(&b, "quanta", "7");
    bench_start(&b);
    assert_int_equal(b.policy.shape.signalling.wire, XOFF_WIRE_PFC);
    assert_int_equal(b.policy.shape.signalling.quanta, 7);
    bench_end(&b);
    /* A slow receiver has no egress queue that xoff could exceed. */
    capfc_setup(&b, "max", "0B", "auto", "200KB");
    b.env.n_ports = 1;
    bench_start(&b);
    bench_end(&b);
}

/* II-G: 48 ports with 8 lossless priorities have 18432 counters, 36 KB at 2 B each; two priorities
 * of 128 ports have some ten thousands. The counters of the state are these. */
static void test_counter_memory(void **unused)
{
    (void)unused;
    struct bench b;
    capfc_setup(&b, "max", "20KB", "auto", "25KB");
    b.env.n_ports = 48;
    b.env.lossless = 0xff;
    bench_start(&b);
    assert_int_equal(b.policy.shape.n_counters, 18432);
    assert_int_equal(b.policy.shape.n_counters * b.policy.shape.counter_bytes, 36864);
    assert_true(b.policy.shape.state_size > 36864);
    bench_end(&b);
    b.env.n_ports = 128;
    b.env.lossless = 0x18;
    bench_start(&b);
    assert_int_equal(b.policy.shape.n_counters, 32768);
    bench_end(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stop_max),
        cmocka_unit_test(test_thresholds_to_the_byte),
        cmocka_unit_test(test_combined_decision),
        cmocka_unit_test(test_ingress_state),
        cmocka_unit_test(test_crossing_with_a_frame),
        cmocka_unit_test(test_what_does_not_count),
        cmocka_unit_test(test_stop_calibrate),
        cmocka_unit_test(test_departures),
        cmocka_unit_test(test_counters_stop),
        cmocka_unit_test(test_smallest_set),
        cmocka_unit_test(test_against_the_model),
        cmocka_unit_test(test_copied_state_goes_on),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_counter_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
