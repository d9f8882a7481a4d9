/* Deficit round robin: the worked example of the source, each rule by hand, then properties over
 * random streams against the definition taken by the letter and against a fluid model. */
#include <xoff/drr_quick.h>

#include "sched_testing.h"

/* Figure 2-5: quantum 2; queue 1 holds frames of 1, queue 2 of 2, queue 3 of 4 units.
 *   round 1: 2 >= 1, 1 >= 1 -> two frames; 2 >= 2 -> one; 2 < 4 -> none, 2 left
 *   round 2: the same, and 2 + 2 >= 4 -> one frame of 4 units; then all repeats. */
static void figure_2_5(void **unused)
{
    (void)unused;
    static const uint32_t unit_bytes[] = {1, 64};
    static const char *const quanta[] = {"2B", "128B"};
    for (size_t i = 0; i < 2; i++) {
        struct port port;
        port_setup(&port, &xoff_sched_drr, 4 * unit_bytes[i]);
        port_set(&port, "quantum", quanta[i]);
        port_start(&port);
        port_fill(&port, 1, 1 * unit_bytes[i]);
        port_fill(&port, 2, 2 * unit_bytes[i]);
        port_fill(&port, 3, 4 * unit_bytes[i]);
        port_expect(&port, "112"
                           "1123"
                           "112"
                           "1123");
    }
}

/* The last head that a deficit of 1000 covers, and the first it does not. */
static void head_equal_to_deficit_goes(void **unused)
{
    (void)unused;
    struct port port;
    port_setup(&port, &xoff_sched_drr, 1500);
    port_set(&port, "quantum", "1000B");
    port_start(&port);
    port_fill(&port, 0, 1000);
    port_fill(&port, 1, 1000);
    port_expect(&port, "0101");

    port_start(&port);
    port_fill(&port, 0, 1001); /* 1000 < 1001, then 2000 - 1001 = 999, 1999 - 1001 = 998, ... */
    port_expect(&port, "1010101");
}

/* Default quantum: the largest frame, so nobody is skipped; weight 3 sends three of them. */
static void weight_multiplies_quantum(void **unused)
{
    (void)unused;
    struct port port;
    port_setup(&port, &xoff_sched_drr, 1500);
    port.env.weight[4] = 3;
    port_start(&port);
    port_fill(&port, 2, 1500);
    port_fill(&port, 4, 1500);
    port_fill(&port, 7, 1500);
    port_expect(&port, "2444724447");
}

/* 64 + 20 = 84 bytes are charged: a quantum of 168 buys two frames, one of 167 only one, and the 83
 * left make the next visit 250: two frames. */
static void overhead_is_charged(void **unused)
{
    (void)unused;
    struct port port;
    port_setup(&port, &xoff_sched_drr, 64);
    port_set(&port, "count_overhead", "true");
    port_set(&port, "quantum", "168B");
    port_start(&port);
    port_fill(&port, 0, 64);
    port_fill(&port, 1, 64);
    port_expect(&port, "00110011");

    port_set(&port, "quantum", "167B");
    port_start(&port);
    port_expect(&port, "010011");

    port_set(&port, "quantum", "auto"); /* 84, the frame with its overhead */
    port.env.weight[1] = 3;
    port_start(&port);
    port_expect(&port, "01110111");
}

/* 60 + 20 = 80 bytes are two units of 40, 61 + 20 three: a quantum of 240 buys three frames of 60
 * or two of 61. Without what is added, 81 bytes are three units and 80 two. */
static void charge_is_rounded_up_to_units(void **unused)
{
    (void)unused;
    struct port port;
    port_setup(&port, &xoff_sched_drr, 220);
    port_set(&port, "unit", "40B");
    port_set(&port, "added_bytes", "20B");
    port_start(&port); /* auto: 220 + 20 = 240 */
    port_fill(&port, 0, 60);
    port_fill(&port, 1, 61);
    port_expect(&port, "0001100011");

    port_set(&port, "added_bytes", "0B"); /* auto: 220 is six units, 240 */
    port_start(&port);
    port_fill(&port, 0, 80);
    port_fill(&port, 1, 81);
    port_expect(&port, "0001100011");

    port_set(&port, "count_overhead", "true"); /* 20 of preamble and gap and 20 added */
    port_set(&port, "added_bytes", "20B");
    port_start(&port); /* 220 + 40 is 280: 7 units */
    port_fill(&port, 0, 40);
    port_fill(&port, 1, 41);
    port_expect(&port, "0001100001100011"); /* 280: 80 and 120; 40, 40 are left, then 0, 80 */
}

/* Quantum x charge: what the frame bytes of 1522 over those of x bytes are, and so the weight that
 * makes them equal, in units of 40 with 20 added. By hand, the charge per byte: 1522 B 1560 / 1522
 * = 1.02497, 68 B 120 / 68, 128 B 160 / 128, 256 B 280 / 256, 512 B 560 / 512, 1024 B 1080 / 1024.
 */
static void weights_in_units_of_40(void **unused)
{
    (void)unused;
    static const struct {
        uint32_t bytes;
        double weight;
    } rows[] = {{68, 1.722}, {128, 1.220}, {256, 1.067}, {512, 1.067}, {1024, 1.029}, {1522, 1}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct port port;
        double sent[N] = {0};
        port_setup(&port, &xoff_sched_drr, 1522);
        port_set(&port, "count_overhead", "true");
        port_set(&port, "unit", "40B");
        port_start(&port);
        port_fill(&port, 1, 1522);
        port_fill(&port, 2, rows[i].bytes);
        port_run(&port, 100000, sent);
        assert_close(sent[1] / sent[2], rows[i].weight, 0.001);
    }
}

/* Half of the bytes in frames of 68, half in frames of 256: 64 frames of 68 and 17 of 256 are 4352
 * bytes each and cost 64 * 120 + 17 * 280 = 12440, 1.4292 per byte, 1.394 times the large frames'
 * 1.02497. In turn, half of the frames each, it is (120 + 280) / 324 = 1.2346: 1.204 times. */
static void weight_of_a_mixture_in_units(void **unused)
{
    (void)unused;
    static const struct {
        uint32_t n_small, n_large;
        double weight;
    } rows[] = {{64, 17, 1.394}, {1, 1, 1.204}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct port port;
        double sent[N] = {0};
        uint32_t n = 0;
        port_setup(&port, &xoff_sched_drr, 1522);
        port_set(&port, "added_bytes", "20B");
        port_set(&port, "unit", "40B");
        port_start(&port);
        port_fill(&port, 1, 1522);
        port_fill(&port, 2, 68);
        for (uint32_t frame = 0; frame < 200000; frame++) {
            const uint32_t q = port_send(&port);
            sent[q] += port.head_bytes[q];
            if (q != 2)
                continue;
            n = (n + 1) % (rows[i].n_small + rows[i].n_large);
            port.head_bytes[2] = n < rows[i].n_small ? 68 : 256;
        }
        assert_close(sent[1] / sent[2], rows[i].weight, 0.002);
    }
}

/* Queue 0 keeps 1000 - 600 = 400 over a pause however long: 400 + 1000 = 1400 buy two frames (200
 * left), then 1200 two more (0 left), then 1000 one. Had it lost the 400, it would begin with one
 * frame; had it gained meanwhile, with three or more. */
static void paused_queue_keeps_deficit_and_gains_nothing(void **unused)
{
    (void)unused;
    struct port port;
    port_setup(&port, &xoff_sched_drr, 1500);
    port_set(&port, "quantum", "1000B");
    port_start(&port);
    port_fill(&port, 0, 600);
    port_fill(&port, 1, 1000);
    port_fill(&port, 2, 1000);
    port_expect(&port, "0");
    port.paused = 1;
    port_expect(&port, "12121212");
    port.paused = 0;
    port_expect(&port, "0012"
                       "0012"
                       "012");
}

/* A pause cuts the visit of queue 0 short: 3000 - 2 * 600 = 1800 are left. The visit goes on with
 * three frames and no new grant; the one after has five. */
static void interrupted_visit_is_continued(void **unused)
{
    (void)unused;
    struct port port;
    port_setup(&port, &xoff_sched_drr, 1500);
    port_set(&port, "quantum", "3000B");
    port_start(&port);
    port_fill(&port, 0, 600);
    port_fill(&port, 1, 1500);
    port_expect(&port, "00");
    port.paused = 1;
    port_expect(&port, "1111");
    port.paused = 0;
    port_expect(&port, "00011"
                       "00000"
                       "11");
}

/* A queue that empties forgets 1000 - 600 = 400: one frame at the next visit, not two. */
static void emptied_queue_loses_deficit(void **unused)
{
    (void)unused;
    struct port port;
    port_setup(&port, &xoff_sched_drr, 1500);
    port_set(&port, "quantum", "1000B");
    port_start(&port);
    port_fill(&port, 0, 600);
    port_fill(&port, 1, 1000);
    assert_int_equal(port_pick(&port), 0);
    port_charge(&port, 0, true);
    port_expect(&port, "1"
                       "01");

    /* A flush has the same effect, which is seen at the next select. */
    port_start(&port);
    port_expect(&port, "0");
    port.backlogged = 2;
    port_expect(&port, "1");
    port.backlogged = 3;
    port_expect(&port, "01");
}

/* Quantum 1 and frames of nearly 2^32 bytes: thousands of millions of rounds per frame.
 *   turn 3999999999: queue 0 is at 3999999999 and lacks 1; queue 3 is covered and sends
 *   the turn goes on: queue 5 is at 3999999999 and lacks 1; the next covers queue 0, which sends,
 *   then grants 1 to queue 3 and covers queue 5, which sends. Now 0, 3, 5 stand at 0, 1, 0.
 *   Turn 3999999998 from here covers queue 3 again, two turns later 0 and 5: the same order. */
static void select_is_bounded_for_tiny_quantum(void **unused)
{
    (void)unused;
    struct port port;
    port_setup(&port, &xoff_sched_drr, UINT32_C(4000000000));
    port_set(&port, "quantum", "1B");
    port_start(&port);
    port_fill(&port, 0, UINT32_C(4000000000));
    port_fill(&port, 3, UINT32_C(3999999999));
    port_fill(&port, 5, UINT32_C(4000000000));
    port_expect(&port, "305305");

    port_start(&port); /* alone */
    port.backlogged = 1 << 5;
    port_expect(&port, "555");

    /* 3000 grants of 1 against 1500 of 1: two frames for one, starting with the shorter. */
    port_start(&port);
    port_fill(&port, 0, 3000);
    port_fill(&port, 1, 1500);
    port.backlogged = 3;
    port_expect(&port, "101101101");
}

/* The rest of a round is served in ring order also when the rounds were skipped: queue 6 (weight 2)
 * and queue 1 both need 750 grants; 1 comes first. */
static void skipped_rounds_keep_ring_order(void **unused)
{
    (void)unused;
    struct port port;
    port_setup(&port, &xoff_sched_drr, 1500);
    port_set(&port, "quantum", "1B");
    port.env.weight[6] = 2;
    port_start(&port);
    port_fill(&port, 6, 1500);
    port_fill(&port, 1, 750);
    port_expect(&port, "161616");
}

/* Queues 1 and 4 have a quantum of their own, which their weight multiplies: 0 sends one frame a
 * visit, 1 two, 4 (500 * 6 = 3000) two, 5 (weight 3) three. */
static void quantum_per_queue(void **unused)
{
    (void)unused;
    struct port port;
    port_setup(&port, &xoff_sched_drr, 1500);
    port_set(&port, "quanta", "1 3000B,4  500B ");
    port.env.weight[4] = 6;
    port.env.weight[5] = 3;
    port_start(&port);
    port_fill(&port, 0, 1500);
    port_fill(&port, 1, 1500);
    port_fill(&port, 4, 1500);
    port_fill(&port, 5, 1500);
    port_expect(&port, "0114455501144555");
}

static void bad_quanta_are_refused(void **unused)
{
    (void)unused;
    static const struct {
        const char *text;
        int code;
        const char *value, *message;
    } cases[] = {
        {"0 1B", 0, "", ""},
        {"0 0B", -XOFF_E_RANGE, "0 0B", "from 1B to 1GB"},
        {"7 1GB", 0, "", ""},
        {"7 1000000001B", -XOFF_E_RANGE, "7 1000000001B", "from 1B to 1GB"},
        {"8 500B", -XOFF_E_RANGE, "8 500B", "from 0 to 7"},
        {"-1 500B", -XOFF_E_RANGE, "-1 500B", "from 0 to 7"},
        {"1 500B, x 500B", -XOFF_E_RANGE, "x 500B", "from 0 to 7"},
        {"1 500B, 2 500", -XOFF_E_UNIT, "2 500", "from 1B to 1GB"},
        {"1 500B, 2 many", -XOFF_E_TYPE, "2 many", "from 1B to 1GB"},
        {"1 500B 2 500B", -XOFF_E_SYNTAX, "1 500B 2 500B", "two words"},
        {"500B", -XOFF_E_SYNTAX, "500B", "two words"},
        {"1 500B,", -XOFF_E_SYNTAX, "", "two words"},
        {",1 500B", -XOFF_E_SYNTAX, "", "two words"},
        {"1 500B, 1 500B", -XOFF_E_CONFLICT, "1 500B", "already"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct port port;
        struct xoff_err err;
        port_setup(&port, &xoff_sched_drr, 1500);
        port_set(&port, "quanta", cases[i].text);
        if (port_check(&port, &err) != cases[i].code)
            fail_msg("\"%s\": code %d, %s", cases[i].text, err.code, err.message);
        if (!cases[i].code)
            continue;
        assert_string_equal(err.subject, "quanta");
        assert_string_equal(err.value, cases[i].value);
        assert_non_null(strstr(err.message, cases[i].message));
    }
}

/* A grant below the largest frame is accepted with a warning, which names the first such queue. */
static void short_quantum_is_warned_about(void **unused)
{
    (void)unused;
    struct port port;
    struct xoff_err err;
    port_setup(&port, &xoff_sched_drr, 1500);
    assert_int_equal(port_check(&port, &err), 0);
    assert_string_equal(err.message, "");
    port_set(&port, "quantum", "1500B");
    assert_int_equal(port_check(&port, &err), 0);
    assert_string_equal(err.message, "");
    port_set(&port, "quantum", "1499B");
    assert_int_equal(port_check(&port, &err), 0);
    assert_int_equal(err.code, XOFF_E_OK);
    assert_string_equal(err.subject, "quantum");
    assert_string_equal(err.value, "1499B");
    assert_non_null(strstr(err.message, "priority 0 "));
    assert_non_null(strstr(err.message, "1500B"));

    for (uint32_t q = 0; q < N; q++)
        port.env.weight[q] = 2; /* 2998 are enough */
    assert_int_equal(port_check(&port, &err), 0);
    assert_string_equal(err.message, "");
    port_set(&port, "quanta", "6 700B, 5 749B");
    assert_int_equal(port_check(&port, &err), 0);
    assert_string_equal(err.subject, "quanta");
    assert_string_equal(err.value, "1498B");
    assert_non_null(strstr(err.message, "priority 5 "));

    port_setup(&port, &xoff_sched_drr, 1500);
    port_set(&port, "quantum", "1519B"); /* with its overhead a frame is 1520 */
    assert_int_equal(port_check(&port, &err), 0);
    assert_string_equal(err.message, "");
    port_set(&port, "count_overhead", "true");
    assert_int_equal(port_check(&port, &err), 0);
    assert_non_null(strstr(err.message, "1520B"));
}

/* Figure 6-1: with preamble and gap counted, small frames against 1522 bytes get
 * x / (x + 20) * 1542 / 1522 of the throughput: "almost 25 % less" at 68 bytes. */
static void small_frames_lose_by_counted_overhead(void **unused)
{
    (void)unused;
    static const struct {
        uint32_t bytes;
        double ratio;
    } rows[] = {{68, 0.7829}, {128, 0.8762}, {256, 0.9397}, {512, 0.9751}, {1024, 0.9937}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct port port;
        double sent[N] = {0};
        port_setup(&port, &xoff_sched_drr, 1522);
        port_set(&port, "count_overhead", "true");
        port_start(&port);
        port_fill(&port, 0, rows[i].bytes);
        port_fill(&port, 1, 1522);
        port_run(&port, 100000, sent);
        assert_close(sent[0] / sent[1], rows[i].ratio, 0.0005);

        port_set(&port, "count_overhead", "false");
        port_start(&port);
        memset(sent, 0, sizeof sent);
        port_run(&port, 100000, sent);
        assert_close(sent[0] / sent[1], 1, 0.0005);
    }
}

static void weight_bounds(void **unused)
{
    (void)unused;
    static const struct {
        uint32_t weight;
        int code;
    } cases[] = {{0, -XOFF_E_RANGE}, {1, 0}, {1000000, 0}, {1000001, -XOFF_E_RANGE}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct port port;
        struct xoff_err err;
        port_setup(&port, &xoff_sched_drr, 1500);
        port.env.weight[5] = cases[i].weight;
        assert_int_equal(port_check(&port, &err), cases[i].code);
        if (cases[i].code) {
            assert_string_equal(err.subject, "priorities.5.weight");
            assert_non_null(strstr(err.message, "1 to 1000000"));
        }
    }
}

/* The largest of everything stays inside the counters: quantum 1 GB, weight 1000000. */
static void largest_credit(void **unused)
{
    (void)unused;
    struct port port;
    port_setup(&port, &xoff_sched_drr, UINT32_MAX);
    port_set(&port, "quantum", "1GB");
    port.env.weight[0] = 1000000;
    port_start(&port);
    port_fill(&port, 0, UINT32_MAX);
    port_fill(&port, 1, UINT32_MAX);
    /* 10^15 / (2^32 - 1) = 232830.6: frames of queue 0 per visit; queue 1 needs five visits. */
    uint32_t n = 0;
    while (port_send(&port) == 0)
        n++;
    assert_int_equal(n, 232830 * 5 + 3); /* 5 * 10^15 / (2^32 - 1) = 1164153.2 */
}

static uint32_t head_of(const void *port, uint32_t queue)
{
    return ((const struct port *)port)->head_bytes[queue];
}

/* The inline half decides as the call did, which found `before` and chose q, or leaves the state
 * alone. Returns whether it decided. */
static bool check_quick_select(struct port *port, const struct xoff_rounds *before, uint32_t q)
{
    struct xoff_rounds state = *before;
    const uint32_t answer = xoff_drr_quick_select(port->sched.cfg, &state, head_of, port,
                                                  port->backlogged, port_eligible(port));
    const bool declines = answer == XOFF_DRR_DECLINES;
    assert_int_equal(answer, declines ? XOFF_DRR_DECLINES : q);
    assert_memory_equal(&state, declines ? before : port_state(port), sizeof state);
    return !declines;
}

static void check_quick_charge(struct port *port, uint32_t q, bool emptied)
{
    struct xoff_rounds quick, called;
    memcpy(&quick, port_state(port), sizeof quick);
    memcpy(&called, port_state(port), sizeof called);
    xoff_drr_quick_charge(port->sched.cfg, &quick, q, port->head_bytes[q], emptied);
    xoff_sched_charge(&port->sched, &called, q, port->head_bytes[q], emptied);
    assert_memory_equal(&quick, &called, sizeof quick);
}

/* Random arrivals, pauses and flushes: the choice is that of the definition, and a queue that may
 * send all the time waits no longer than the rounds it needs. */
static void random_stream(uint64_t seed, bool moves, unsigned char final_state[PORT_STATE])
{
    struct port port;
    struct stream stream = {.low_bytes = 64};
    struct literal literal = {.cursor = N - 1};
    int64_t others_bytes[N] = {0}, bound_bytes[N] = {0};
    uint32_t n_quick = 0, n_called = 0;
    char text[32];
    xoff_rng_init(&stream.rng, seed, 0, 0);
    stream.high_bytes = draw_between(&stream.rng, 64, 9216);
    port_setup(&port, &xoff_sched_drr, stream.high_bytes);
    const uint32_t quantum = draw_between(&stream.rng, 1, seed % 2 ? 100 : 10000);
    snprintf(text, sizeof text, "%uB", quantum);
    port_set(&port, "quantum", text);
    port_set(&port, "count_overhead", seed % 3 ? "false" : "true");
    literal.overhead_bytes = seed % 3 ? 0 : 20;
    for (uint32_t q = 0; q < N; q++) {
        port.env.weight[q] = draw_between(&stream.rng, 1, 20);
        literal.credit_bytes[q] = (int64_t)quantum * port.env.weight[q];
    }
    port_start(&port);

    /* Between two visits each other queue sends at most its credit and what one frame left. */
    const int64_t largest = stream.high_bytes + literal.overhead_bytes;
    for (uint32_t q = 0; q < N; q++) {
        for (uint32_t other = 0; other < N; other++)
            bound_bytes[q] += other == q ? 0 : literal.credit_bytes[other] + largest;
        bound_bytes[q] *= (largest + literal.credit_bytes[q] - 1) / literal.credit_bytes[q];
    }

    for (uint32_t step = 0; step < 20000; step++) {
        stream_events(&stream, &port);
        const uint8_t eligible = port_eligible(&port);
        if (moves)
            port_move_state(&port);
        if (!eligible)
            continue;
        struct xoff_rounds before;
        memcpy(&before, port_state(&port), sizeof before);
        const uint32_t q = port_pick(&port);
        if (check_quick_select(&port, &before, q))
            n_quick++;
        else
            n_called++;
        check_quick_charge(&port, q, stream.waiting[q] == 1);
        const uint32_t expected = literal_select(&literal, &port);
        if (q != expected)
            fail_msg("seed %llu step %u: queue %u, by definition %u", (unsigned long long)seed,
                     step, q, expected);
        const int64_t cost = port.head_bytes[q] + literal.overhead_bytes;
        literal.deficit[q] = stream.waiting[q] == 1 ? 0 : literal.deficit[q] - cost;
        for (uint32_t other = 0; other < N; other++) {
            const bool waits = other != q && (eligible >> other & 1);
            others_bytes[other] = waits ? others_bytes[other] + cost : 0;
            if (others_bytes[other] > bound_bytes[other])
                fail_msg("seed %llu step %u: queue %u starves", (unsigned long long)seed, step,
                         other);
        }
        stream_sent(&stream, &port, q);
    }
    memcpy(final_state, port_state(&port), PORT_STATE);
    assert_true(xoff_drr_is_quick(&port.sched) && n_quick > 0 && n_called > 0);
}

static void random_streams_follow_definition(void **unused)
{
    (void)unused;
    for (uint64_t seed = 1; seed <= 24; seed++) {
        unsigned char first[PORT_STATE], again[PORT_STATE];
        random_stream(seed, false, first);
        random_stream(seed, true, again);
        assert_memory_equal(first, again, PORT_STATE);
    }
    print_message("seeds 1 to 24\n");
}

/* Mixed frame sizes, random weights, some queues that want less than their part: shares are those
 * of max-min fairness. */
static void shares_are_max_min_fair(void **unused)
{
    (void)unused;
    for (uint64_t seed = 1; seed <= 16; seed++) {
        struct port port;
        struct xoff_rng rng;
        double demand[N], fluid[N] = {0}, share[N];
        uint32_t low[N], high[N];
        xoff_rng_init(&rng, seed, 0, 1);
        port_setup(&port, &xoff_sched_drr, 1518);
        port_set(&port, "count_overhead", seed % 2 ? "true" : "false");
        if (seed % 4 == 0)
            port_set(&port, "quantum", "100B");
        for (uint32_t q = 0; q < N; q++) {
            port.env.weight[q] = draw_between(&rng, 1, 20);
            low[q] = draw_between(&rng, 64, 1518);
            high[q] = draw_between(&rng, low[q], 1518);
            demand[q] = seed % 3 ? 2.0 : 0.02 + 0.4 * xoff_rng_unit(&rng);
        }
        port_start(&port);
        run_shares(&port, &rng, demand, low, high, seed % 2 ? 20 : 0, 300000, share);
        fluid_shares(port.env.weight, demand, 1.0, 0xff, fluid);
        check_shares(seed, share, fluid);
    }
    print_message("seeds 1 to 16\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(figure_2_5),
        cmocka_unit_test(head_equal_to_deficit_goes),
        cmocka_unit_test(weight_multiplies_quantum),
        cmocka_unit_test(overhead_is_charged),
        cmocka_unit_test(charge_is_rounded_up_to_units),
        cmocka_unit_test(weights_in_units_of_40),
        cmocka_unit_test(weight_of_a_mixture_in_units),
        cmocka_unit_test(paused_queue_keeps_deficit_and_gains_nothing),
        cmocka_unit_test(interrupted_visit_is_continued),
        cmocka_unit_test(emptied_queue_loses_deficit),
        cmocka_unit_test(select_is_bounded_for_tiny_quantum),
        cmocka_unit_test(skipped_rounds_keep_ring_order),
        cmocka_unit_test(quantum_per_queue),
        cmocka_unit_test(bad_quanta_are_refused),
        cmocka_unit_test(short_quantum_is_warned_about),
        cmocka_unit_test(small_frames_lose_by_counted_overhead),
        cmocka_unit_test(weight_bounds),
        cmocka_unit_test(largest_credit),
        cmocka_unit_test(random_streams_follow_definition),
        cmocka_unit_test(shares_are_max_min_fair),
    };
    return cmocka_run_group_tests_name("drr", tests, NULL, NULL);
}
