/* Notification points that leave all to ACKs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "mech/mechanisms.h"

static void they_say_nothing_themselves(void **unused)
{
    (void)unused;
    struct xoff_np np = {.ops = &xoff_np_echo};
    uint64_t state = 5;
    xoff_np_init(&np, &state);
    assert_int_equal(state, 0);
    assert_false(xoff_np_hears(&np, true));
    assert_null(xoff_np_echo.configure);
    assert_false(xoff_np_echo.has_telemetry);
    struct xoff_err err;
    assert_int_equal(xoff_np_int.configure(NULL, NULL, NULL, &np.shape, &err), 0);
    assert_true(np.shape.returns_written && xoff_np_int.has_telemetry);
    np.ops = &xoff_np_int;
    assert_false(xoff_np_hears(&np, true));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(they_say_nothing_themselves),
    };
    return cmocka_run_group_tests_name("echo", tests, NULL, NULL);
}
