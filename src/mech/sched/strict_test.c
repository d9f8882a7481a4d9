/* Strict priority: the highest number that may send, whatever else there is. */
#include "sched_testing.h"

extern const struct xoff_sched_ops xoff_sched_strict;

/* All 255 sets of eligible queues, by search from the top. */
static void highest_number_wins(void **unused)
{
    (void)unused;
    struct port port;
    port_setup(&port, &xoff_sched_strict, 1500);
    port_start(&port);
    for (uint32_t set = 1; set < 256; set++) {
        uint32_t highest = N - 1;
        while (!(set >> highest & 1))
            highest--;
        port.backlogged = (uint8_t)set;
        assert_int_equal(port_send(&port), highest);
        port.backlogged = 0xff;
        port.paused = (uint8_t)~set;
        assert_int_equal(port_send(&port), highest);
        port.paused = 0;
    }
}

/* Neither age nor weight counts. */
static void age_and_weight_do_not_count(void **unused)
{
    (void)unused;
    struct port port;
    port_setup(&port, &xoff_sched_strict, 1500);
    port.env.weight[2] = 100;
    port_start(&port);
    port.backlogged = 1 << 2 | 1 << 3;
    port.head_since[2] = 1;
    port.head_since[3] = 1000;
    assert_int_equal(port_send(&port), 3);
    assert_int_equal(port_send(&port), 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(highest_number_wins),
        cmocka_unit_test(age_and_weight_do_not_count),
    };
    return cmocka_run_group_tests_name("strict", tests, NULL, NULL);
}
