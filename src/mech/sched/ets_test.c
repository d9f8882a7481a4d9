/* Enhanced transmission selection: strict first, the rest by weight, nothing wasted. */
#include "sched_testing.h"

extern const struct xoff_sched_ops xoff_sched_ets;

/* Strict 7 and 5 before the weighted 6 and 0; a paused strict priority gives way. */
static void strict_goes_first_highest_first(void **unused)
{
    (void)unused;
    struct port port;
    port_setup(&port, &xoff_sched_ets, 1500);
    port.env.strict = 1 << 7 | 1 << 5;
    port_start(&port);
    port_fill(&port, 0, 1500);
    port_fill(&port, 5, 64);
    port_fill(&port, 6, 1500);
    port_fill(&port, 7, 64);
    port_expect(&port, "777");
    port.paused = 1 << 7;
    port_expect(&port, "555");
    port.paused = 1 << 7 | 1 << 5;
    port_expect(&port, "0606");
    port.paused = 0;
    port_expect(&port, "7");
}

/* Weights 20 and 80, frames of the largest size: the smaller is granted one, the larger
 * 80 / 20 = 4. Strict frames in between do not disturb the round. */
static void smallest_weight_gets_one_quantum(void **unused)
{
    (void)unused;
    struct port port;
    port_setup(&port, &xoff_sched_ets, 1500);
    port.env.strict = (uint8_t) ~(1 << 1 | 1 << 3);
    port.env.weight[1] = 20;
    port.env.weight[3] = 80;
    port_start(&port);
    port_fill(&port, 1, 1500);
    port_fill(&port, 3, 1500);
    port_expect(&port, "1333313333133");
    port_fill(&port, 7, 64);
    port_expect(&port, "7");
    assert_int_equal(port_pick(&port), 7);
    port_charge(&port, 7, true);
    port.backlogged = 1 << 1 | 1 << 3;
    port_expect(&port, "331");
}

/* Weights 2 and 3: 1500 and 2250 bytes per round. Queue 1 sends one frame (750 left), then two.
 * A quantum of 1 byte is 1 and 1.5 bytes per round, and gives the same shares: after its frame in
 * round 1000 queue 1 has nothing left, queue 0 has 1000; queue 0 sends in round 1500. */
static void weights_need_not_divide(void **unused)
{
    (void)unused;
    struct port port;
    port_setup(&port, &xoff_sched_ets, 1500);
    port.env.strict = (uint8_t)~3;
    port.env.weight[0] = 2;
    port.env.weight[1] = 3;
    port_start(&port);
    port_fill(&port, 0, 1500);
    port_fill(&port, 1, 1500);
    port_expect(&port, "0101101011");

    port_set(&port, "quantum", "1B");
    port_start(&port);
    /* rounds 1000, 1500, 2000, 3000 (both, 0 first), and from the start again */
    port_expect(&port, "10101"
                       "10101");
}

/* A weighted queue alone gets everything, also what its weight does not give it. */
static void unused_share_is_taken_by_others(void **unused)
{
    (void)unused;
    struct port port;
    port_setup(&port, &xoff_sched_ets, 1500);
    port.env.weight[0] = 1;
    port.env.weight[3] = 99;
    port_start(&port);
    port_fill(&port, 0, 1500);
    port_expect(&port, "00000000");
    port_fill(&port, 3, 1500);
    port.paused = 1 << 3;
    port_expect(&port, "00000000");
}

/* 64 + 20 bytes: the default quantum covers one frame with its overhead. */
static void overhead_is_charged(void **unused)
{
    (void)unused;
    struct port port;
    port_setup(&port, &xoff_sched_ets, 64);
    port_set(&port, "count_overhead", "true");
    port.env.weight[1] = 3;
    port_start(&port);
    port_fill(&port, 0, 64);
    port_fill(&port, 1, 64);
    port_expect(&port, "01110111");

    port_set(&port, "quantum", "83B"); /* 249 of 252: two in the first visit, then three */
    port_start(&port);
    port_expect(&port, "11"
                       "0111");
}

/* The smallest weight is granted the quantum: the first boundary is there, strict priorities have
 * none. */
static void short_quantum_is_warned_about(void **unused)
{
    (void)unused;
    struct port port;
    struct xoff_err err;
    port_setup(&port, &xoff_sched_ets, 1500);
    port.env.strict = 1 << 0;
    port.env.weight[1] = port.env.weight[2] = 3;
    port_set(&port, "quantum", "1500B");
    assert_int_equal(port_check(&port, &err), 0);
    assert_string_equal(err.message, "");
    port_set(&port, "quantum", "1499B");
    assert_int_equal(port_check(&port, &err), 0);
    assert_int_equal(err.code, XOFF_E_OK);
    assert_string_equal(err.value, "1499B");
    assert_non_null(strstr(err.message, "priority 3 "));
}

static void weight_bounds(void **unused)
{
    (void)unused;
    static const struct {
        uint32_t weight;
        uint8_t strict;
        int code;
    } cases[] = {
        {0, 0, -XOFF_E_RANGE},       {1, 0, 0},      {1000000, 0, 0},
        {1000001, 0, -XOFF_E_RANGE}, {0, 1 << 2, 0}, /* a strict priority has no share */
        {0, 1 << 3, -XOFF_E_RANGE},  {0, 0xff, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct port port;
        struct xoff_err err;
        port_setup(&port, &xoff_sched_ets, 1500);
        port.env.weight[2] = cases[i].weight;
        port.env.strict = cases[i].strict;
        assert_int_equal(port_check(&port, &err), cases[i].code);
        if (cases[i].code)
            assert_string_equal(err.subject, "priorities.2.weight");
    }
}

/* Random arrivals, pauses and flushes. Strict queues as defined; the others as the definition of
 * deficit rounds has it (weights here are multiples of the smallest, so credits are whole bytes);
 * and none of them waits longer for the other weighted queues than the rounds it needs. */
static void random_stream(uint64_t seed, bool moves, unsigned char final_state[PORT_STATE])
{
    struct port port;
    struct stream stream = {.low_bytes = 64};
    struct literal literal = {.cursor = N - 1};
    int64_t others_bytes[N] = {0}, bound_bytes[N] = {0};
    char text[32];
    xoff_rng_init(&stream.rng, seed, 0, 0);
    stream.high_bytes = draw_between(&stream.rng, 64, 9216);
    port_setup(&port, &xoff_sched_ets, stream.high_bytes);
    const uint32_t quantum = draw_between(&stream.rng, 1, seed % 2 ? 100 : 10000);
    snprintf(text, sizeof text, "%uB", quantum);
    port_set(&port, "quantum", text);
    const uint8_t strict = (uint8_t)(draw_between(&stream.rng, 0, 15) << 4);
    const uint32_t smallest = draw_between(&stream.rng, 1, 20);
    port.env.strict = strict;
    for (uint32_t q = 0; q < N; q++) {
        const uint32_t factor = q == 2 ? 1 : draw_between(&stream.rng, 1, 9);
        port.env.weight[q] = smallest * factor;
        literal.credit_bytes[q] = (int64_t)quantum * factor;
    }
    port_start(&port);
    for (uint32_t q = 0; q < N; q++) {
        for (uint32_t other = 0; other < N; other++)
            if (other != q && !(strict >> other & 1))
                bound_bytes[q] += literal.credit_bytes[other] + stream.high_bytes;
        bound_bytes[q] *= stream.high_bytes / literal.credit_bytes[q] + 1;
    }

    for (uint32_t step = 0; step < 20000; step++) {
        stream_events(&stream, &port);
        const uint8_t eligible = port_eligible(&port);
        if (moves)
            port_move_state(&port);
        if (!eligible)
            continue;
        const uint32_t q = port_pick(&port);
        uint32_t expected = N - 1;
        while (expected && !((eligible & strict) >> expected & 1))
            expected--;
        const bool is_strict = (eligible & strict) != 0;
        if (!is_strict)
            expected = literal_select(&literal, &port);
        if (q != expected)
            fail_msg("seed %llu step %u: queue %u, by definition %u", (unsigned long long)seed,
                     step, q, expected);
        if (!is_strict)
            literal.deficit[q] =
                stream.waiting[q] == 1 ? 0 : literal.deficit[q] - port.head_bytes[q];
        for (uint32_t other = 0; other < N; other++) {
            const bool waits = other != q && (eligible >> other & 1) && !(strict >> other & 1);
            others_bytes[other] =
                waits ? others_bytes[other] + (is_strict ? 0 : port.head_bytes[q]) : 0;
            if (others_bytes[other] > bound_bytes[other])
                fail_msg("seed %llu step %u: queue %u starves", (unsigned long long)seed, step,
                         other);
        }
        stream_sent(&stream, &port, q);
    }
    memcpy(final_state, port_state(&port), PORT_STATE);
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

/* Strict queues 6 and 7 take what they want (12 % each); the other six divide the rest by random
 * percentages, max-min fair where some want less. */
static void shares_are_max_min_fair(void **unused)
{
    (void)unused;
    for (uint64_t seed = 1; seed <= 16; seed++) {
        struct port port;
        struct xoff_rng rng;
        double demand[N], fluid[N] = {0}, share[N];
        uint32_t low[N], high[N];
        xoff_rng_init(&rng, seed, 0, 1);
        port_setup(&port, &xoff_sched_ets, 1518);
        port_set(&port, "count_overhead", seed % 2 ? "true" : "false");
        if (seed % 4 == 0)
            port_set(&port, "quantum", "100B");
        port.env.strict = 0xc0;
        for (uint32_t q = 0; q < N; q++) {
            port.env.weight[q] = draw_between(&rng, 2, 40);
            low[q] = draw_between(&rng, 64, 1518);
            high[q] = draw_between(&rng, low[q], 1518);
            demand[q] = seed % 3 ? 2.0 : 0.02 + 0.4 * xoff_rng_unit(&rng);
        }
        demand[6] = demand[7] = fluid[6] = fluid[7] = 0.12;
        port_start(&port);
        run_shares(&port, &rng, demand, low, high, seed % 2 ? 20 : 0, 300000, share);
        fluid_shares(port.env.weight, demand, 1.0 - 2 * 0.12, 0x3f, fluid);
        check_shares(seed, share, fluid);
    }
    print_message("seeds 1 to 16\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(strict_goes_first_highest_first),
        cmocka_unit_test(smallest_weight_gets_one_quantum),
        cmocka_unit_test(weights_need_not_divide),
        cmocka_unit_test(unused_share_is_taken_by_others),
        cmocka_unit_test(overhead_is_charged),
        cmocka_unit_test(short_quantum_is_warned_about),
        cmocka_unit_test(weight_bounds),
        cmocka_unit_test(random_streams_follow_definition),
        cmocka_unit_test(shares_are_max_min_fair),
    };
    return cmocka_run_group_tests_name("ets", tests, NULL, NULL);
}
