/* No congestion point: always quiet, so never asked. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <xoff/cp.h>

extern const struct xoff_cp_ops xoff_cp_none;

static void is_never_asked(void **unused)
{
    (void)unused;
    const struct xoff_cp_env env = {.rate_bps = 100 * XOFF_GBPS, .buffer_bytes = 1000000};
    struct xoff_err err;
    struct xoff_cp cp;
    assert_int_equal(xoff_cp_configure(&cp, &xoff_cp_none, NULL, &env, NULL, &err), 0);
    xoff_cp_init(&cp, NULL);
    assert_true(xoff_cp_quiet_below(&cp) == INT64_MAX);
    assert_true(xoff_cp_skips_enqueue(&cp) && xoff_cp_skips_dequeue(&cp));
    assert_true(xoff_cp_deadline(&cp, NULL) == XOFF_NEVER);
    assert_null(xoff_cp_none.params->name);
    assert_int_equal(xoff_cp_none.params_size + xoff_cp_none.cfg_size + cp.shape.state_size, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(is_never_asked)};
    return cmocka_run_group_tests_name("cp_none", tests, NULL, NULL);
}
