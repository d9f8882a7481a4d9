/* First in, first out: by age of the heads, ties to the higher priority number. */
#include "sched_testing.h"

extern const struct xoff_sched_ops xoff_sched_fifo;

static void oldest_head_wins(void **unused)
{
    (void)unused;
    struct port port;
    port_setup(&port, &xoff_sched_fifo, 1500);
    port_start(&port);
    port.backlogged = 1 << 1 | 1 << 4 | 1 << 6;
    port.head_since[1] = 99;
    port.head_since[4] = 100;
    port.head_since[6] = 101;
    assert_int_equal(port_pick(&port), 1);
    port.head_since[1] = 100; /* a tie with 4 now */
    assert_int_equal(port_pick(&port), 4);
    port.head_since[1] = 101;
    port.head_since[4] = 102; /* 1 and 6 tie */
    assert_int_equal(port_pick(&port), 6);
    port.backlogged = 1 << 1;
    assert_int_equal(port_pick(&port), 1);
}

static void all_alike_falls_to_seven(void **unused)
{
    (void)unused;
    struct port port;
    port_setup(&port, &xoff_sched_fifo, 1500);
    port_start(&port);
    port.backlogged = 0xff;
    assert_int_equal(port_pick(&port), 7);
    port.head_since[0] = -1;
    assert_int_equal(port_pick(&port), 0);
}

/* Passed over while paused, first again after it: it has waited longest. */
static void paused_queue_keeps_its_age(void **unused)
{
    (void)unused;
    struct port port;
    port_setup(&port, &xoff_sched_fifo, 1500);
    port_start(&port);
    port.backlogged = 3;
    port.head_since[0] = 5;
    port.head_since[1] = 6;
    port.paused = 1;
    assert_int_equal(port_pick(&port), 1);
    port.head_since[1] = 7;
    port.paused = 0;
    assert_int_equal(port_pick(&port), 0);
}

/* Frames of random priorities, queued one per picosecond, leave in the order they came. */
static void order_of_arrival_is_kept(void **unused)
{
    (void)unused;
    enum { N_FRAMES = 500 };
    struct port port;
    struct xoff_rng rng;
    uint32_t priority[N_FRAMES];
    xoff_rng_init(&rng, 7, 0, 0);
    port_setup(&port, &xoff_sched_fifo, 1500);
    port_start(&port);
    for (uint32_t i = 0; i < N_FRAMES; i++)
        priority[i] = draw_between(&rng, 0, N - 1);
    for (uint32_t i = 0; i < N_FRAMES; i++) {
        port.backlogged = 0;
        for (uint32_t j = N_FRAMES; j-- > i;) { /* the head of each queue: its first from i on */
            port.head_since[priority[j]] = j;
            port.backlogged |= (uint8_t)(1u << priority[j]);
        }
        const uint32_t q = port_pick(&port);
        assert_int_equal(q, priority[i]);
        port_charge(&port, q, false); /* has no op: the wrapper must cope */
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(oldest_head_wins),
        cmocka_unit_test(all_alike_falls_to_seven),
        cmocka_unit_test(paused_queue_keeps_its_age),
        cmocka_unit_test(order_of_arrival_is_kept),
    };
    return cmocka_run_group_tests_name("fifo", tests, NULL, NULL);
}
