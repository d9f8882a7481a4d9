/* CNPs: the first mark at once, then none for an interval, both sides of its end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "mech/mechanisms.h"

_Noreturn void xoff_assert_fail(const char *expression, const char *file, int line)
{
    mock_assert(0, expression, file, line);
    abort();
}

struct rig {
    struct xoff_np np;
    int64_t params[2], cfg[2];
    uint64_t state;
};

static void setup(struct rig *r, const char *interval)
{
    const struct xoff_np_env env = {.rate_bps = 100 * XOFF_GBPS, .frame_bytes = 1518};
    struct xoff_err err;
    *r = (struct rig){.np = {.ops = &xoff_np_cnp, .cfg = r->cfg}, .state = UINT64_MAX};
    assert_true(xoff_np_cnp.params_size <= sizeof r->params);
    assert_true(xoff_np_cnp.cfg_size <= sizeof r->cfg);
    xoff_param_defaults(xoff_np_cnp.params, r->params);
    if (interval)
        assert_int_equal(xoff_param_set(xoff_param_find(xoff_np_cnp.params, "cnp_interval"),
                                        r->params, interval, &err),
                         0);
    assert_int_equal(xoff_np_cnp.configure(r->params, &env, r->cfg, &r->np.shape, &err), 0);
    assert_true(r->np.shape.state_size <= XOFF_NP_MAX_STATE);
    xoff_np_init(&r->np, &r->state);
}

static unsigned arrives(struct rig *r, bool is_marked, xoff_time now)
{
    const struct xoff_np_data data = {.bytes = 1000, .is_marked = is_marked};
    return xoff_np_on_data(&r->np, &r->state, &data, now);
}

static void one_per_interval(void **unused)
{
    (void)unused;
    struct rig r;
    setup(&r, NULL); /* 50 us */
    assert_int_equal(arrives(&r, false, 0), 0);
    assert_int_equal(arrives(&r, true, 10 * XOFF_US), XOFF_NP_CNP);
    assert_int_equal(arrives(&r, true, 10 * XOFF_US), 0);
    assert_int_equal(arrives(&r, true, 60 * XOFF_US - 1), 0);
    assert_int_equal(arrives(&r, false, 60 * XOFF_US), 0);
    assert_int_equal(arrives(&r, true, 60 * XOFF_US), XOFF_NP_CNP);
    /* The interval starts with the CNP, not at the end of the last interval. */
    assert_int_equal(arrives(&r, true, 200 * XOFF_US), XOFF_NP_CNP);
    assert_int_equal(arrives(&r, true, 250 * XOFF_US - 1), 0);
    assert_int_equal(arrives(&r, true, 250 * XOFF_US), XOFF_NP_CNP);
}

static void an_interval_of_nothing(void **unused)
{
    (void)unused;
    struct rig r;
    setup(&r, "0s");
    assert_int_equal(arrives(&r, true, 5), XOFF_NP_CNP);
    assert_int_equal(arrives(&r, true, 5), XOFF_NP_CNP);
    assert_int_equal(arrives(&r, false, 5), 0);
}

static void who_hears(void **unused)
{
    (void)unused;
    struct rig r;
    setup(&r, NULL);
    assert_true(xoff_np_hears(&r.np, true));
    assert_false(xoff_np_hears(&r.np, false));
    r.np.shape.hears_unmarked = true;
    assert_true(xoff_np_hears(&r.np, false));
    assert_false(r.np.shape.returns_written);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_per_interval),
        cmocka_unit_test(an_interval_of_nothing),
        cmocka_unit_test(who_hears),
    };
    return cmocka_run_group_tests_name("cnp", tests, NULL, NULL);
}
