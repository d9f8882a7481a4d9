/* Properties of every scheduler, over the same random arrivals, frame sizes, weights, pauses and
 * flushes: it always sends when a queue may (port_pick() checks each choice), it goes on alike when
 * its state is moved, and the fair ones starve nobody.
 *
 * Starvation, in the words of the fairness dissertation 2.2: a scheduler is weakly fair when a
 * queue that may send all the time is served, strongly fair when one that may send again and again
 * is. The bound here is on bytes of others at choices where the queue could have been taken. Weak:
 * counted anew after a pause. Strong: counted over pauses.
 */
#include "sched_testing.h"

#include <xoff/registry.h>

enum fairness { UNFAIR, WEAK, STRONG };

static enum fairness fairness_of(const struct xoff_sched_ops *ops)
{
    static const struct {
        const char *name;
        enum fairness fairness;
    } rows[] = {{"strict", UNFAIR}, {"fifo", STRONG}, {"drr", WEAK},
                {"drr-awc", WEAK},  {"ets", WEAK},    {"wfq", STRONG}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (!strcmp(ops->name, rows[i].name))
            return rows[i].fairness;
    fail_msg("%s: say how fair it is", ops->name);
    return UNFAIR;
}

/* Heads keep the time at which they came up, which is not when they were queued: for fifo a frame
 * behind another is as old as that one's departure. Good enough for a bound. */
static void random_stream(const struct xoff_sched_ops *ops, uint64_t seed, bool moves,
                          unsigned char final_state[PORT_STATE])
{
    struct port port;
    struct stream stream = {.low_bytes = 64};
    int64_t others_bytes[N] = {0}, bound_bytes = 0;
    const enum fairness fairness = fairness_of(ops);
    xoff_rng_init(&stream.rng, seed, 0, 4);
    stream.high_bytes = draw_between(&stream.rng, 64, 9216);
    port_setup(&port, ops, stream.high_bytes);
    for (uint32_t q = 0; q < N; q++) {
        port.env.weight[q] = draw_between(&stream.rng, 1, 20);
        /* Round robins: a queue is visited once while each other sends its grant, at most 2.3 times
         * weight * largest frame and one frame, and needs two visits at most. By finish time: while
         * it waits for weight 1 of two largest frames the others send two for each of their
         * weights, and two more. */
        bound_bytes += INT64_C(5) * (port.env.weight[q] + 1) * (stream.high_bytes + 20);
    }
    port_start(&port);

    for (uint32_t step = 0; step < 20000; step++) {
        const uint8_t before = port.backlogged;
        port.now = step * (500 * XOFF_NS);
        stream_events(&stream, &port);
        for (uint32_t q = 0; q < N; q++)
            if ((port.backlogged & ~before) >> q & 1)
                port.head_since[q] = port.now;
        const uint8_t eligible = port_eligible(&port);
        if (moves)
            port_move_state(&port);
        if (!eligible)
            continue;
        const uint32_t q = port_pick(&port);
        for (uint32_t other = 0; other < N; other++) {
            const bool could = eligible >> other & 1, has = port.backlogged >> other & 1;
            if (other == q || !has || (!could && fairness != STRONG))
                others_bytes[other] = 0;
            else if (could)
                others_bytes[other] += port.head_bytes[q];
            if (fairness != UNFAIR && others_bytes[other] > bound_bytes)
                fail_msg("%s, seed %llu step %u: queue %u starves", ops->name,
                         (unsigned long long)seed, step, other);
        }
        stream_sent(&stream, &port, q);
        port.head_since[q] = port.now;
    }
    memcpy(final_state, port_state(&port), PORT_STATE);
}

static void work_is_conserved_and_nobody_starves(void **unused)
{
    (void)unused;
    uint32_t n = 0;
    for (; xoff_scheds[n]; n++)
        for (uint64_t seed = 1; seed <= 16; seed++) {
            unsigned char first[PORT_STATE], again[PORT_STATE];
            random_stream(xoff_scheds[n], seed, false, first);
            random_stream(xoff_scheds[n], seed, true, again);
            assert_memory_equal(first, again, PORT_STATE);
        }
    assert_int_equal(n, 6);
    print_message("seeds 1 to 16\n");
}

/* Queue 2 may send at every second choice only, each time in the middle of another queue's visit of
 * two frames: deficit rounds pass it over for ever, finish times do not. */
static void rounds_are_only_weakly_fair(void **unused)
{
    (void)unused;
    for (uint32_t i = 0; xoff_scheds[i]; i++) {
        struct port port;
        double sent[N] = {0};
        if (fairness_of(xoff_scheds[i]) == UNFAIR)
            continue;
        port_setup(&port, xoff_scheds[i], 1500);
        port.env.weight[0] = port.env.weight[1] = 2;
        if (xoff_param_find(port.ops->params, "count_overhead"))
            port_set(&port, "count_overhead", "false");
        port_start(&port);
        port_fill(&port, 0, 1500);
        port_fill(&port, 1, 1500);
        port_fill(&port, 2, 1500);
        for (uint32_t k = 0; k < 1000; k++) {
            port.paused = k % 2 ? 0 : 1 << 2;
            port.head_since[0] = port.head_since[1] = k;
            port_run(&port, 1, sent);
        }
        if (fairness_of(xoff_scheds[i]) == STRONG)
            assert_true(sent[2] > 0);
        else
            assert_true(sent[2] == 0);
    }
}

/* Nobody but those who say so wants to be asked about a queue that is alone. */
static void who_wants_every_frame(void **unused)
{
    (void)unused;
    for (uint32_t i = 0; xoff_scheds[i]; i++) {
        const char *name = xoff_scheds[i]->name;
        struct port port;
        port_setup(&port, xoff_scheds[i], 1500);
        port_start(&port);
        assert_int_equal(port.sched.shape.every_frame,
                         !strcmp(name, "drr-awc") || !strcmp(name, "wfq"));
    }
}

/* Sends frames while queue `first` is backlogged with frames that came before those of `later`;
 * returns whether none of `later` was sent. */
static bool goes_ahead(const struct xoff_sched_ops *ops, uint32_t first, uint32_t later,
                       uint8_t *ahead)
{
    struct port port;
    double sent[N] = {0};
    port_setup(&port, ops, 1500);
    port.env.strict = 1 << 2 | 1 << 5; /* of ets */
    port_start(&port);
    port_fill(&port, first, 1500);
    port_fill(&port, later, 1500);
    port.head_since[later] = 1;
    port_run(&port, 100, sent);
    *ahead = xoff_sched_ahead(&port.sched, later);
    return sent[later] == 0;
}

/* What ahead() says about each pair of queues is what select() does. */
static void who_goes_ahead(void **unused)
{
    (void)unused;
    for (uint32_t i = 0; xoff_scheds[i]; i++)
        for (uint32_t pair = 0; pair < N * N; pair++) {
            const uint32_t first = pair / N, later = pair % N;
            uint8_t ahead;
            const bool goes = first == later || goes_ahead(xoff_scheds[i], first, later, &ahead);
            if (first != later && goes != (ahead >> first & 1))
                fail_msg("%s: queue %u before %u", xoff_scheds[i]->name, first, later);
            if (first != later)
                assert_true(ahead >> later & 1);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(work_is_conserved_and_nobody_starves),
        cmocka_unit_test(rounds_are_only_weakly_fair),
        cmocka_unit_test(who_wants_every_frame),
        cmocka_unit_test(who_goes_ahead),
    };
    return cmocka_run_group_tests_name("sched", tests, NULL, NULL);
}
