/* The load of a metered queue: it is idle from the last bit and the gap of the frame that leaves it
 * empty to the next frame that joins it, and at no other time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "net/egress.h"

static const struct egress none = {0}, one = {.n = 1, .bytes = 1518}, two = {.n = 2, .bytes = 3036};
static const struct frame frame = {.bytes = 1518, .kind = FRAME_DATA, .priority = 3};

/* At 10 Gb/s a byte takes 800 ps, and 1518 bytes with gap and preamble 1538 * 800 = 1 230 400. */
static void idle_time_begins_behind_the_last_frame(void **state)
{
    (void)state;
    const struct port port = {.ps_per_byte = 800};
    struct point point = {0};
    meter_left(&point, &none, &frame, &port, 1000);
    assert_int_equal(point.sent_at[3], 1231400);
    meter_joined(&point, &one, &frame, 1231400);
    assert_int_equal(point.idle_for[3], 0);
    meter_joined(&point, &one, &frame, 1231407);
    assert_int_equal(point.idle_for[3], 7);
    assert_int_equal(point.idle_for[2], 0);

    /* A queue that goes on is not idle, whatever joins or leaves. */
    meter_joined(&point, &two, &frame, 9000000);
    meter_left(&point, &one, &frame, &port, 9000000);
    assert_int_equal(point.idle_for[3], 7);
    assert_int_equal(point.sent_at[3], 1231400);
}

/* At 3 Gb/s a byte is no whole number of picoseconds: 1538 bytes take 4101333.3, rounded up. */
static void odd_rates_round_up(void **state)
{
    (void)state;
    const struct port port = {.clock = {.rate_bps = 3 * XOFF_GBPS}};
    struct point point = {0};
    meter_left(&point, &none, &frame, &port, 0);
    assert_int_equal(point.sent_at[3], 4101334);
}

/* A point looks at frames beyond its quiet length, and at tags if it heeds them. */
static void who_is_looked_at(void **state)
{
    (void)state;
    struct frame tagged = frame, ack = frame;
    tagged.flags = ack.flags = FRAME_ASKS_RATE;
    ack.kind = FRAME_ACK; /* the flag means something else there */
    struct point point = {.heeds = FRAME_ASKS_RATE};
    point.cp.shape.quiet_below = 1518;
    assert_false(meter_joined(&point, &one, &frame, 0));
    assert_true(meter_joined(&point, &one, &tagged, 0));
    assert_false(meter_joined(&point, &one, &ack, 0));
    point.cp.shape.quiet_below = 1517;
    assert_true(meter_joined(&point, &one, &frame, 0));
    point.cp.shape.quiet_below = 1518;
    point.heeds = 0;
    assert_false(meter_joined(&point, &one, &tagged, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(idle_time_begins_behind_the_last_frame),
        cmocka_unit_test(odd_rates_round_up),
        cmocka_unit_test(who_is_looked_at),
    };
    return cmocka_run_group_tests_name("egress", tests, NULL, NULL);
}
