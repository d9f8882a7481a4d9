/* No flow control: whatever is crossed, no edge and nothing on the wire. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "mech/mechanisms.h"

static void test_never_an_edge(void **unused)
{
    (void)unused;
    const struct xoff_pause_env env = {.n_ports = 4, .lossless = 0xff};
    const struct xoff_crossings crossings = {
        .n = 1, .at = {{.unit = XOFF_UNIT_INGRESS, .above = 1, .priority = 3, .port = 1}}};
    const struct xoff_arrival arrival = {.in_port = 1, .priority = 3, .bytes = 64};
    const struct xoff_departure departure = {.in_port = 1, .priority = 3, .bytes = 64};
    struct xoff_edges edges = {.n = 77, .at = NULL};
    struct xoff_pause policy;
    struct xoff_err err;
    unsigned char state = 0xa5;
    assert_null(xoff_pause_none.params[0].name);
    assert_int_equal(xoff_pause_cfg_size(&xoff_pause_none, 4), 0);
    memset(&policy, 0xa5, sizeof policy); /* the shape is emptied */
    assert_int_equal(xoff_pause_configure(&policy, &xoff_pause_none, NULL, &env, NULL, &err), 0);
    assert_int_equal(policy.shape.state_size, 0);
    assert_int_equal(policy.shape.max_edges, 0);
    assert_int_equal(policy.shape.signalling.wire, XOFF_WIRE_NONE);
    assert_false(policy.shape.every_frame);
    assert_false(policy.shape.has_deadline);
    assert_int_equal(policy.shape.late_for, 0);
    assert_int_equal(policy.shape.late_bytes, 0);
    xoff_pause_init(&policy, &state);
    assert_int_equal(state, 0xa5);
    assert_false(xoff_pause_on_arrival(&policy, &arrival, &crossings, 0, &edges));
    assert_int_equal(edges.n, 0);
    edges.n = 77;
    assert_false(xoff_pause_on_departure(&policy, &departure, &crossings, 0, &edges));
    assert_int_equal(edges.n, 0);
    policy.shape.every_frame = true; /* a caller that skips nothing hears nothing either */
    xoff_pause_on_arrival(&policy, &arrival, &crossings, 0, &edges);
    xoff_pause_on_departure(&policy, &departure, &crossings, 0, &edges);
    assert_int_equal(edges.n, 0);
    assert_int_equal(xoff_pause_waits_for(&policy, 1, 3), 0);
    assert_int_equal(xoff_pause_held_by(&policy, 1, 2, 3), XOFF_HOLD_BY_FRAMES);
    assert_int_equal(xoff_pause_deadline(&policy), XOFF_NEVER);
    policy.shape.has_deadline = true; /* and no function that would tell it */
    assert_int_equal(xoff_pause_deadline(&policy), XOFF_NEVER);
    edges.n = 77;
    xoff_pause_expire(&policy, 5, &edges);
    assert_int_equal(edges.n, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_never_an_edge)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
