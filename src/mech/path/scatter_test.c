/* Scatter: the draw alone decides, whatever the flow. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <xoff/path.h>

extern const struct xoff_path_ops xoff_path_scatter;

static void the_draw_decides(void **unused)
{
    (void)unused;
    const struct xoff_path_env env = {.n_ports = 8, .buffer_bytes = 1000000};
    struct xoff_path path;
    struct xoff_err err;
    assert_int_equal(xoff_path_configure(&path, &xoff_path_scatter, NULL, &env, NULL, &err), 0);
    xoff_path_init(&path, NULL);
    assert_true(path.shape.by_hash && path.shape.draws && !path.shape.sees_egress);
    assert_false(xoff_path_keeps_flows(&path));
    assert_int_equal(path.shape.state_size, 0);
    /* Of three candidates number i has the draws from ceil(i * 2^32 / 3) on. */
    static const struct {
        uint32_t draw, index;
    } cases[] = {{0, 0},          {1431655765, 0}, {1431655766, 1},
                 {2863311530, 1}, {2863311531, 2}, {UINT32_MAX, 2}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (uint32_t k = 0; k < 4; k++) {
            const struct xoff_path_frame frame = {
                .hash = k * UINT32_C(0x55555555), .draw = cases[i].draw, .flow = k, .n = 3};
            assert_int_equal(xoff_path_choose(&path, &frame, 0), cases[i].index);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_draw_decides)};
    return cmocka_run_group_tests_name("scatter", tests, NULL, NULL);
}
