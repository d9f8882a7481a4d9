/* Step marking: both sides of the threshold, at its moment, whatever is drawn. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <xoff/cp.h>

extern const struct xoff_cp_ops xoff_cp_step;

struct point {
    struct xoff_cp_env env;
    _Alignas(16) unsigned char params[256];
    _Alignas(16) unsigned char cfg[256];
    struct xoff_cp cp;
};

static void point_setup(struct point *point, xoff_rate rate_bps)
{
    *point = (struct point){.env = {.rate_bps = rate_bps, .buffer_bytes = 16000000}};
    assert_true(xoff_cp_step.params_size <= sizeof point->params);
    assert_true(xoff_cp_step.cfg_size <= sizeof point->cfg);
    xoff_param_defaults(xoff_cp_step.params, point->params);
}

static void point_set(struct point *point, const char *name, const char *text)
{
    struct xoff_err err;
    const struct xoff_param *p = xoff_param_find(xoff_cp_step.params, name);
    assert_non_null(p);
    assert_int_equal(xoff_param_set(p, point->params, text, &err), 0);
}

static void point_start(struct point *point)
{
    struct xoff_err err;
    assert_int_equal(
        xoff_cp_configure(&point->cp, &xoff_cp_step, point->params, &point->env, point->cfg, &err),
        0);
    assert_int_equal(point->cp.shape.state_size, 0);
    assert_false(point->cp.shape.draws);
    xoff_cp_init(&point->cp, NULL);
}

/* Expects the same answer for the smallest draw and the largest, for a short frame and a long one.
 * A point looks either at frames that join or at those that leave. */
static void expect_marks(const struct point *point, int64_t queue_bytes, bool at_enqueue, bool mark)
{
    static const struct xoff_cp_frame frames[] = {{.bytes = 64, .draw = 0},
                                                  {.bytes = 9000, .draw = UINT32_MAX}};
    assert_true(point->cp.shape.skips_enqueue != at_enqueue);
    assert_true(point->cp.shape.skips_dequeue == at_enqueue);
    for (size_t i = 0; i < 2; i++) {
        struct xoff_cp_frame frame = frames[i];
        struct xoff_cp_answer answer;
        frame.queue_bytes = queue_bytes;
        frame.port_bytes = 1000000; /* other queues do not count */
        if (at_enqueue)
            xoff_cp_on_enqueue(&point->cp, NULL, &frame, 0, &answer);
        else
            xoff_cp_on_dequeue(&point->cp, NULL, &frame, 0, &answer);
        assert_true(answer.mark == mark);
        assert_true(xoff_cp_step.marks(point->cfg, queue_bytes, frame.bytes, frame.draw) == mark);
        assert_false(answer.stamp || answer.notify || answer.write);
    }
}

static void both_sides_of_k(void **unused)
{
    (void)unused;
    struct point point;
    point_setup(&point, 10 * XOFF_GBPS);
    point_set(&point, "k", "65KB");
    point_start(&point);
    expect_marks(&point, 0, true, false);
    expect_marks(&point, 65000, true, false);
    expect_marks(&point, 65001, true, true);
    expect_marks(&point, INT64_MAX, true, true);
    assert_true(point.cp.shape.quiet_below == 65000);

    point_set(&point, "at", "dequeue");
    point_start(&point);
    expect_marks(&point, 65000, false, false);
    expect_marks(&point, 65001, false, true);

    /* Every frame. */
    point_set(&point, "k", "0");
    point_set(&point, "at", "enqueue");
    point_start(&point);
    assert_true(point.cp.shape.quiet_below == 0);
    expect_marks(&point, 1, true, true);
}

/* 30 KB per 10 Gb/s: 3, 30, 75, 300 and 1200 KB at 1, 10, 25, 100 and 400 Gb/s. */
static void auto_follows_the_rate(void **unused)
{
    (void)unused;
    static const struct {
        xoff_rate rate_bps;
        int64_t k;
    } cases[] = {
        {XOFF_GBPS, 3000},         {10 * XOFF_GBPS, 30000},    {25 * XOFF_GBPS, 75000},
        {100 * XOFF_GBPS, 300000}, {400 * XOFF_GBPS, 1200000},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct point point;
        point_setup(&point, cases[i].rate_bps);
        point_start(&point);
        assert_true(point.cp.shape.quiet_below == cases[i].k);
        expect_marks(&point, cases[i].k, true, false);
        expect_marks(&point, cases[i].k + 1, true, true);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_sides_of_k),
        cmocka_unit_test(auto_follows_the_rate),
    };
    return cmocka_run_group_tests_name("step", tests, NULL, NULL);
}
