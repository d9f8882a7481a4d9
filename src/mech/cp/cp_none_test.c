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
    assert_int_equal(xoff_cp_none.configure(NULL, &env, NULL, &err), 0);
    xoff_cp_none.init(NULL, NULL);
    assert_true(xoff_cp_none.quiet_below(NULL) == INT64_MAX);
    assert_null(xoff_cp_none.on_enqueue);
    assert_null(xoff_cp_none.on_dequeue);
    assert_null(xoff_cp_none.params->name);
    assert_int_equal(xoff_cp_none.params_size + xoff_cp_none.cfg_size + xoff_cp_none.state_size, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(is_never_asked)};
    return cmocka_run_group_tests_name("cp_none", tests, NULL, NULL);
}
