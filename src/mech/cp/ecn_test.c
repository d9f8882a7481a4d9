/* ECN marking: both sides of each threshold, and the probability by counting draws. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <xoff/cp.h>
#include <xoff/rng.h>

extern const struct xoff_cp_ops xoff_cp_ecn;

struct point {
    struct xoff_cp_env env;
    _Alignas(16) unsigned char params[256];
    _Alignas(16) unsigned char cfg[256];
};

static void point_setup(struct point *point, xoff_rate rate_bps)
{
    *point = (struct point){.env = {.rate_bps = rate_bps, .buffer_bytes = 16000000}};
    assert_true(xoff_cp_ecn.params_size <= sizeof point->params);
    assert_true(xoff_cp_ecn.cfg_size <= sizeof point->cfg);
    assert_int_equal(xoff_cp_ecn.state_size, 0);
    xoff_param_defaults(xoff_cp_ecn.params, point->params);
}

static void point_set(struct point *point, const char *name, const char *text)
{
    struct xoff_err err;
    const struct xoff_param *p = xoff_param_find(xoff_cp_ecn.params, name);
    assert_non_null(p);
    assert_int_equal(xoff_param_set(p, point->params, text, &err), 0);
}

static int point_configure(struct point *point, struct xoff_err *err)
{
    return xoff_cp_ecn.configure(point->params, &point->env, point->cfg, err);
}

static void point_start(struct point *point)
{
    struct xoff_err err;
    assert_int_equal(point_configure(point, &err), 0);
    xoff_cp_ecn.init(point->cfg, NULL);
}

static bool marks(const struct point *point, int64_t queue_bytes, uint32_t draw)
{
    const struct xoff_cp_frame frame = {.queue_bytes = queue_bytes, .bytes = 1000, .draw = draw};
    return xoff_cp_ecn.on_dequeue(point->cfg, NULL, &frame, 0).mark;
}

/* How many of the 2^32 draws mark: they are the smallest ones, so by bisection. */
static uint64_t count_marks(const struct point *point, int64_t queue_bytes)
{
    uint64_t low = 0, high = UINT64_C(1) << 32; /* draws < low mark, draws >= high do not */
    while (low < high) {
        const uint64_t middle = (low + high) / 2;
        if (marks(point, queue_bytes, (uint32_t)middle))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* kmin 100 KB, kmax 400 KB, pmax 1/2: P = 2^31 draws at kmax.
 *   kmin + 1: 2^31 / 300000 = 7158.3, draws 0 .. 7158 are below it: 7159
 *   halfway:  2^31 * 150000 / 300000 = 2^30
 *   kmax - 1: 2^31 - 7158.3: draws below 2147476489.7: 2147476490 */
static void both_sides_of_each_threshold(void **unused)
{
    (void)unused;
    struct point point;
    point_setup(&point, 100 * XOFF_GBPS);
    point_set(&point, "kmin", "100KB");
    point_set(&point, "kmax", "400KB");
    point_set(&point, "pmax", "0.5");
    point_start(&point);
    assert_int_equal(count_marks(&point, 0), 0);
    assert_int_equal(count_marks(&point, 100000), 0);
    assert_int_equal(count_marks(&point, 100001), 7159);
    assert_int_equal(count_marks(&point, 250000), UINT64_C(1) << 30);
    assert_int_equal(count_marks(&point, 399999), UINT64_C(2147476490));
    assert_int_equal(count_marks(&point, 400000), UINT64_C(1) << 31);
    assert_int_equal(count_marks(&point, 400001), UINT64_C(1) << 32);
    assert_true(xoff_cp_ecn.quiet_below(point.cfg) == 100000);
}

/* The default pmax: 0.2 * 2^32 = 858993459.2. */
static void default_pmax(void **unused)
{
    (void)unused;
    struct point point;
    point_setup(&point, 25 * XOFF_GBPS);
    point_start(&point);
    assert_int_equal(count_marks(&point, 400000), 858993459);
}

static void pmax_ends(void **unused)
{
    (void)unused;
    struct point point;
    point_setup(&point, 25 * XOFF_GBPS);
    point_set(&point, "pmax", "1");
    point_start(&point);
    assert_true(marks(&point, 400000, UINT32_MAX));
    assert_false(marks(&point, 399999, UINT32_MAX));
    assert_false(marks(&point, 100000, 0));

    point_set(&point, "pmax", "0");
    point_start(&point);
    assert_false(marks(&point, 400000, 0));
    assert_true(marks(&point, 400001, UINT32_MAX));
}

/* A million draws of a fixed stream at three queue lengths; the standard deviation is at most
 * sqrt(0.25 / 10^6) = 0.0005, the tolerance four of them. */
static void probability_by_counting(void **unused)
{
    (void)unused;
    static const struct {
        int64_t queue_bytes;
        double p;
    } cases[] = {{130000, 0.08}, {250000, 0.4}, {400000, 0.8}};
    struct point point;
    point_setup(&point, 25 * XOFF_GBPS);
    point_set(&point, "pmax", "0.8");
    point_start(&point);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct xoff_rng rng;
        xoff_rng_init(&rng, 1, i, 0);
        double n_marked = 0;
        for (uint32_t n = 0; n < 1000000; n++)
            n_marked += marks(&point, cases[i].queue_bytes, xoff_rng_u32(&rng));
        assert_true(n_marked / 1e6 > cases[i].p - 0.002);
        assert_true(n_marked / 1e6 < cases[i].p + 0.002);
    }
}

/* 100 and 400 KB per 25 Gb/s: 40 and 160 KB at 10, 400 and 1600 KB at 100 Gb/s. */
static void auto_follows_the_rate(void **unused)
{
    (void)unused;
    static const struct {
        xoff_rate rate_bps;
        int64_t kmin, kmax;
    } cases[] = {
        {10 * XOFF_GBPS, 40000, 160000},
        {25 * XOFF_GBPS, 100000, 400000},
        {100 * XOFF_GBPS, 400000, 1600000},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct point point;
        point_setup(&point, cases[i].rate_bps);
        point_start(&point);
        assert_true(xoff_cp_ecn.quiet_below(point.cfg) == cases[i].kmin);
        assert_false(marks(&point, cases[i].kmin, 0));
        assert_true(marks(&point, cases[i].kmin + 1, 0));
        assert_false(marks(&point, cases[i].kmax, UINT32_MAX));
        assert_true(marks(&point, cases[i].kmax + 1, UINT32_MAX));
    }
}

/* Equal thresholds are a step; one byte more for kmin is refused, and the rule is named. */
static void kmin_above_kmax_is_refused(void **unused)
{
    (void)unused;
    struct point point;
    struct xoff_err err;
    point_setup(&point, 100 * XOFF_GBPS);
    point_set(&point, "kmax", "30000B");
    point_set(&point, "kmin", "30000B");
    point_start(&point);
    assert_int_equal(count_marks(&point, 30000), 0);
    assert_int_equal(count_marks(&point, 30001), UINT64_C(1) << 32);

    point_set(&point, "kmin", "30001B");
    assert_int_equal(point_configure(&point, &err), -XOFF_E_CONFLICT);
    assert_string_equal(err.subject, "kmin");
    assert_non_null(strstr(err.message, "kmin <= kmax"));
    assert_non_null(strstr(err.message, "30KB"));
    assert_null(strstr(err.message, "auto"));

    /* One given, the other by the rate: at 10 Gb/s kmax is 160 KB. */
    point_setup(&point, 10 * XOFF_GBPS);
    point_set(&point, "kmin", "160KB");
    point_start(&point);
    point_set(&point, "kmin", "160001B");
    assert_int_equal(point_configure(&point, &err), -XOFF_E_CONFLICT);
    assert_non_null(strstr(err.message, "kmax: auto"));
}

static void only_at_its_moment(void **unused)
{
    (void)unused;
    const struct xoff_cp_frame frame = {.queue_bytes = 10000000, .bytes = 1000, .draw = 0};
    struct point point;
    point_setup(&point, 25 * XOFF_GBPS);
    point_start(&point);
    assert_true(xoff_cp_ecn.on_dequeue(point.cfg, NULL, &frame, 0).mark);
    assert_false(xoff_cp_ecn.on_enqueue(point.cfg, NULL, &frame, 0).mark);
    point_set(&point, "at", "enqueue");
    point_start(&point);
    assert_false(xoff_cp_ecn.on_dequeue(point.cfg, NULL, &frame, 0).mark);
    assert_true(xoff_cp_ecn.on_enqueue(point.cfg, NULL, &frame, 0).mark);
}

/* Thresholds beyond 2^32 bytes do not overflow: a quarter of the way from 0 to 10^12. */
static void wide_thresholds(void **unused)
{
    (void)unused;
    struct point point;
    point_setup(&point, 25 * XOFF_GBPS);
    point_set(&point, "kmin", "0B");
    point_set(&point, "kmax", "1000GB");
    point_set(&point, "pmax", "1");
    point_start(&point);
    assert_int_equal(count_marks(&point, INT64_C(250000000000)), UINT64_C(1) << 30);
    assert_int_equal(count_marks(&point, INT64_C(1000000000000)), UINT64_C(1) << 32);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_sides_of_each_threshold),
        cmocka_unit_test(default_pmax),
        cmocka_unit_test(pmax_ends),
        cmocka_unit_test(probability_by_counting),
        cmocka_unit_test(auto_follows_the_rate),
        cmocka_unit_test(kmin_above_kmax_is_refused),
        cmocka_unit_test(only_at_its_moment),
        cmocka_unit_test(wide_thresholds),
    };
    return cmocka_run_group_tests_name("ecn", tests, NULL, NULL);
}
