/* The reflection point returns every tag and says nothing else. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "mech/mechanisms.h"

static void tags_go_back(void **unused)
{
    (void)unused;
    const struct xoff_np np = {.ops = &xoff_np_reflect};
    uint64_t state = 5;
    xoff_np_init(&np, &state);
    assert_true(xoff_np_hears(&np, true));
    assert_false(xoff_np_hears(&np, false)); /* a frame with neither mark nor tag */
    for (unsigned i = 0; i < 4; i++) {
        const struct xoff_np_data data = {.has_tag = i & 1, .is_marked = i & 2};
        for (xoff_time now = 0; now < 2; now++) /* at any time, however often */
            assert_int_equal(xoff_np_on_data(&np, &state, &data, now),
                             i & 1 ? XOFF_NP_RETURN_TAG : 0);
    }
    assert_false(xoff_np_reflect.has_telemetry);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(tags_go_back)};
    return cmocka_run_group_tests_name("reflect", tests, NULL, NULL);
}
