/* The numbers of both profiles, worked out by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "net/net.h"

static void assert_times(const struct net_wire *wire, xoff_rate rate_bps, uint32_t bytes,
                         xoff_time last_bit, xoff_time free_at)
{
    xoff_time last = -1, free = -1;
    wire->times(rate_bps, bytes, &last, &free);
    assert_int_equal(last, last_bit);
    assert_int_equal(free, free_at);
}

static void times(void **state)
{
    (void)state;
    /* 80 ps a byte: 8 bytes of preamble before the frame, 12 of gap behind it. */
    assert_times(&net_wire_ethernet, 100 * XOFF_GBPS, 1500, 1508 * 80, 1520 * 80);
    /* 8000/3 ps a byte: 73 bytes take 194666.7, 85 take 226666.7. */
    assert_times(&net_wire_ethernet, 3 * XOFF_GBPS, 65, 194666, 226666);
    /* Nothing but the frame, and only whole nanoseconds of it: 80 exactly, which the
     * double is not, 83.84, 173.3. */
    assert_times(&net_wire_ns3, 100 * XOFF_GBPS, 1000, 79 * XOFF_NS, 79 * XOFF_NS);
    assert_times(&net_wire_ns3, 100 * XOFF_GBPS, 1048, 83 * XOFF_NS, 83 * XOFF_NS);
    assert_times(&net_wire_ns3, 3 * XOFF_GBPS, 65, 173 * XOFF_NS, 173 * XOFF_NS);
}

static void shortest(void **state)
{
    (void)state;
    assert_int_equal(net_wire_ethernet.shortest(100 * XOFF_GBPS), (64 + 8) * 80);
    /* 43 bytes take 3.44 ns, cut to 3, from the last picosecond of the nanosecond it is sent in. */
    assert_int_equal(net_wire_ns3.shortest(100 * XOFF_GBPS), 3000 - 999);
    assert_int_equal(net_wire_ns3.shortest(10 * XOFF_GBPS), 34000 - 999);
}

static void headroom(void **state)
{
    (void)state;
    struct xoff_headroom_params p = {
        .rate_bps = 100 * XOFF_GBPS, .delay = XOFF_US, .max_frame_bytes = 1048};
    assert_int_equal(net_wire_ethernet.headroom(&p), xoff_headroom_bytes(&p));
    /* A frame takes 83 ns; in 2000 + 83 + 2 of them 25 arrive, and 3 more. */
    assert_int_equal(net_wire_ns3.headroom(&p), 28 * 1048);
    /* 72 ns are needed for one more: 26 frames take 2158. */
    p.response_for = 72 * XOFF_NS;
    assert_int_equal(net_wire_ns3.headroom(&p), 28 * 1048);
    p.response_for = 73 * XOFF_NS;
    assert_int_equal(net_wire_ns3.headroom(&p), 29 * 1048);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(times),
        cmocka_unit_test(shortest),
        cmocka_unit_test(headroom),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
