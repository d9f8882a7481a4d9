/* No flow control: whatever is crossed, no edge and nothing on the wire. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

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
    struct xoff_pause policy = {.ops = &xoff_pause_none};
    struct xoff_err err;
    assert_null(policy.ops->params[0].name);
    assert_int_equal(policy.ops->cfg_size(&env), 0);
    assert_int_equal(policy.ops->configure(NULL, &env, NULL, &err), 0);
    assert_int_equal(policy.ops->state_size(NULL), 0);
    assert_int_equal(policy.ops->max_edges(NULL), 0);
    assert_int_equal(policy.ops->signalling(NULL).wire, XOFF_WIRE_NONE);
    policy.ops->init(NULL, NULL);
    policy.every_frame = policy.ops->wants_every_frame(NULL);
    assert_false(policy.every_frame);
    xoff_pause_on_arrival(&policy, &arrival, &crossings, 0, &edges);
    assert_int_equal(edges.n, 0);
    edges.n = 77;
    xoff_pause_on_departure(&policy, &departure, &crossings, 0, &edges);
    assert_int_equal(edges.n, 0);
    assert_int_equal(xoff_pause_waits_for(&policy, 1, 3), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_never_an_edge)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
