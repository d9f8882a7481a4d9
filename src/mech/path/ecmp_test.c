/* ECMP: the hash alone decides, and spreads over the candidates evenly. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <xoff/path.h>

extern const struct xoff_path_ops xoff_path_ecmp;

static struct xoff_path start(void)
{
    const struct xoff_path_env env = {.n_ports = 8, .buffer_bytes = 1000000};
    struct xoff_path path;
    struct xoff_err err;
    assert_int_equal(xoff_path_cfg_size(&xoff_path_ecmp, env.n_ports), 0);
    assert_int_equal(xoff_path_configure(&path, &xoff_path_ecmp, NULL, &env, NULL, &err), 0);
    assert_int_equal(path.shape.state_size, 0);
    xoff_path_init(&path, NULL);
    return path;
}

static void needs_the_hash_alone(void **unused)
{
    (void)unused;
    const struct xoff_path path = start();
    assert_true(xoff_path_is_by_hash(&path) && xoff_path_keeps_flows(&path));
    assert_false(path.shape.draws || path.shape.sees_egress);
    assert_null(xoff_path_ecmp.params->name);
}

/* Of n candidates number i has the hashes from ceil(i * 2^32 / n) on. For n = 3 these are 0,
 * 1431655766 and 2863311531; for n = 2, 0 and 2^31. Nothing else counts. */
static void both_sides_of_each_share(void **unused)
{
    (void)unused;
    static const struct {
        uint32_t n, hash, index;
    } cases[] = {
        {3, 0, 0},          {3, 1431655765, 0},           {3, 1431655766, 1},
        {3, 2863311530, 1}, {3, 2863311531, 2},           {3, UINT32_MAX, 2},
        {2, 0x7fffffff, 0}, {2, UINT32_C(0x80000000), 1}, {255, UINT32_MAX, 254},
    };
    const struct xoff_path path = start();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (uint32_t k = 0; k < 4; k++) {
            const struct xoff_path_frame frame = {.hash = cases[i].hash,
                                                  .draw = k * UINT32_C(0x55555555),
                                                  .flow = k,
                                                  .bytes = 64 + k,
                                                  .priority = (uint8_t)k,
                                                  .n = cases[i].n};
            assert_int_equal(xoff_path_choose(&path, &frame, (xoff_time)k), cases[i].index);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(needs_the_hash_alone),
        cmocka_unit_test(both_sides_of_each_share),
    };
    return cmocka_run_group_tests_name("ecmp", tests, NULL, NULL);
}
