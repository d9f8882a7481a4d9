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
    _Alignas(16) unsigned char params[512];
    _Alignas(16) unsigned char cfg[256];
    struct xoff_cp cp;
};

static void point_setup(struct point *point, xoff_rate rate_bps)
{
    *point = (struct point){.env = {.rate_bps = rate_bps, .buffer_bytes = 16000000}};
    assert_true(xoff_cp_ecn.params_size <= sizeof point->params);
    assert_true(xoff_cp_ecn.cfg_size <= sizeof point->cfg);
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
    return xoff_cp_configure(&point->cp, &xoff_cp_ecn, point->params, &point->env, point->cfg, err);
}

static void point_start(struct point *point)
{
    struct xoff_err err;
    assert_int_equal(point_configure(point, &err), 0);
    assert_int_equal(point->cp.shape.state_size, 0);
    assert_true(point->cp.shape.draws);
    xoff_cp_init(&point->cp, NULL);
}

static bool marks(const struct point *point, int64_t queue_bytes, uint32_t draw)
{
    const struct xoff_cp_frame frame = {.queue_bytes = queue_bytes, .bytes = 1000, .draw = draw};
    struct xoff_cp_answer answer;
    if (point->cp.shape.skips_dequeue)
        xoff_cp_on_enqueue(&point->cp, NULL, &frame, 0, &answer);
    else
        xoff_cp_on_dequeue(&point->cp, NULL, &frame, 0, &answer);
    assert_false(answer.stamp || answer.notify || answer.write);
    assert_int_equal(xoff_cp_ecn.marks(point->cfg, queue_bytes, frame.bytes, draw), answer.mark);
    return answer.mark;
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
    assert_true(point.cp.shape.quiet_below == 100000);
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
        assert_true(point.cp.shape.quiet_below == cases[i].kmin);
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
    struct point point;
    point_setup(&point, 25 * XOFF_GBPS);
    point_start(&point);
    assert_true(point.cp.shape.skips_enqueue && !point.cp.shape.skips_dequeue);
    assert_true(marks(&point, 10000000, 0));
    point_set(&point, "at", "enqueue");
    point_start(&point);
    assert_true(!point.cp.shape.skips_enqueue && point.cp.shape.skips_dequeue);
    assert_true(marks(&point, 10000000, 0));
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

/* Where spans begin that need a product of 128 bits: with pmax 1 a queue of q marks draws below
 * 2^32 * q / kmax. The first that is needed does not overflow, nor does the last that is not. */
static void span_at_which_products_widen(void **unused)
{
    (void)unused;
    static const struct {
        const char *kmax;
        int64_t kmax_bytes, draws_below; /* for a queue of a byte less */
    } cases[] = {
        {"4294967294B", INT64_C(4294967294), INT64_C(4294967295)}, /* 2^32 - 1.0000000005 */
        {"4294967295B", INT64_C(4294967295), INT64_C(4294967295)}, /* 2^32 - 1.0000000002 */
        {"4294967296B", INT64_C(4294967296), INT64_C(4294967295)},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct point point;
        point_setup(&point, 25 * XOFF_GBPS);
        point_set(&point, "kmin", "0B");
        point_set(&point, "kmax", cases[i].kmax);
        point_set(&point, "pmax", "1");
        point_start(&point);
        assert_int_equal(count_marks(&point, cases[i].kmax_bytes - 1), cases[i].draws_below);
        assert_int_equal(count_marks(&point, cases[i].kmax_bytes), INT64_C(1) << 32);
    }
}

/* kmin, kmax and the draws that mark at kmax. */
static void expect_thresholds(const struct point *point, int64_t kmin, int64_t kmax, uint64_t draws)
{
    assert_true(point->cp.shape.quiet_below == kmin);
    assert_false(marks(point, kmin, 0));
    assert_int_equal(count_marks(point, kmax), draws);
    assert_true(marks(point, kmax + 1, UINT32_MAX));
}

/* The entry of the port's own rate wins over all three plain parameters, wherever it stands; any
 * other rate, one bit per second off included, has the plain ones. pmax 1/4 is 2^30 draws, 1/2
 * 2^31, 1/8 2^29. */
static void thresholds_by_rate(void **unused)
{
    (void)unused;
    static const struct {
        xoff_rate rate_bps;
        int64_t kmin, kmax;
        uint64_t draws;
    } cases[] = {
        {25 * XOFF_GBPS, 100000, 400000, UINT64_C(1) << 30},
        {100 * XOFF_GBPS, 50000, 50001, UINT64_C(1) << 31},
        {400 * XOFF_GBPS, 0, 1 << 20, UINT64_C(1) << 32},
        {100 * XOFF_GBPS + 1, 7000, 8000, UINT64_C(1) << 29},
        {100 * XOFF_GBPS - 1, 7000, 8000, UINT64_C(1) << 29},
        {10 * XOFF_GBPS, 7000, 8000, UINT64_C(1) << 29},
    };
    static const char *const lists[] = {
        "25Gbps 100KB 400KB 0.25, 100Gbps 50KB 50001B 50%, 0.4Tbps 0B 1MiB 1",
        "25000Mbps 100KB 400KB 1/4,400Gbps 0 1MiB 1,100Gbps 50KB 50001B 0.5",
        "  100Gbps   50KB 50001B 0.5  ,  400Gbps 0B 1MiB 1,25Gbps 100KB 400KB 0.25 ",
    };
    for (size_t list = 0; list < sizeof lists / sizeof *lists; list++)
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            struct point point;
            point_setup(&point, cases[i].rate_bps);
            point_set(&point, "kmin", "7KB");
            point_set(&point, "kmax", "8KB");
            point_set(&point, "pmax", "1/8");
            point_set(&point, "by_rate", lists[list]);
            point_start(&point);
            expect_thresholds(&point, cases[i].kmin, cases[i].kmax, cases[i].draws);
        }

    /* Without an entry for it, auto; plain values that do not fit this rate do not matter when an
     * entry holds (at 10 Gb/s kmax: auto is 160 KB). */
    struct point point;
    struct xoff_err err;
    point_setup(&point, 10 * XOFF_GBPS);
    point_set(&point, "by_rate", "25Gbps 1KB 2KB 1");
    point_start(&point);
    expect_thresholds(&point, 40000, 160000, 858993459);
    point_set(&point, "kmin", "161KB");
    assert_int_equal(point_configure(&point, &err), -XOFF_E_CONFLICT);
    point_set(&point, "by_rate", "25Gbps 1KB 2KB 1, 10Gbps 3KB 4KB 1");
    point_start(&point);
    expect_thresholds(&point, 3000, 4000, UINT64_C(1) << 32);
}

/* Each mistake names its entry and, where one is to blame, its word, at a port of any rate. */
static void mistakes_in_by_rate(void **unused)
{
    (void)unused;
    static const struct {
        const char *list, *entry, *word;
        int code;
    } cases[] = {
        {"25Gbps 1KB 2KB", "25Gbps 1KB 2KB", "four words", XOFF_E_SYNTAX},
        {"25Gbps 1KB 2KB 0.1 5", "25Gbps 1KB 2KB 0.1 5", "four words", XOFF_E_SYNTAX},
        {"25Gbps 1KB 2KB  , 40Gbps 1KB 2KB 1", "25Gbps 1KB 2KB", "four words", XOFF_E_SYNTAX},
        {"25Gbps 1KB 2KB 0.1,", "", "four words", XOFF_E_SYNTAX},
        {",25Gbps 1KB 2KB 0.1", "", "four words", XOFF_E_SYNTAX},
        {"25Gbps 1KB 2KB 0.1, ,40Gbps 1KB 2KB 0.1", "", "four words", XOFF_E_SYNTAX},
        {" ", "", "four words", XOFF_E_SYNTAX},
        {"25Gbps 1KB 2KB 0.1, 25 1KB 2KB 0.1", "25 1KB 2KB 0.1", "25 is not a rate", XOFF_E_UNIT},
        {"fast 1KB 2KB 0.1", "fast 1KB 2KB 0.1", "fast is not a rate", XOFF_E_TYPE},
        {"0 1KB 2KB 0.1", "0 1KB 2KB 0.1", "0 is not a rate", XOFF_E_RANGE},
        {"25Gbps 1 2KB 0.1", "25Gbps 1 2KB 0.1", "1 is not a size", XOFF_E_UNIT},
        {"25Gbps auto 2KB 0.1", "25Gbps auto 2KB 0.1", "auto is not a size", XOFF_E_TYPE},
        {"25Gbps 1KB 2kB 0.1", "25Gbps 1KB 2kB 0.1", "2kB is not a size", XOFF_E_UNIT},
        {"25Gbps 1KB 2KB x", "25Gbps 1KB 2KB x", "x is not a prob", XOFF_E_TYPE},
        {"25Gbps 1KB 2KB 1.001", "25Gbps 1KB 2KB 1.001", "1.001 is not a prob", XOFF_E_RANGE},
        {"25Gbps 1KB 2KB -1", "25Gbps 1KB 2KB -1", "-1 is not a prob", XOFF_E_RANGE},
        {"25Gbps 2001B 2KB 0.1", "25Gbps 2001B 2KB 0.1", "kmin <= kmax", XOFF_E_CONFLICT},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (xoff_rate rate_bps = 25 * XOFF_GBPS; rate_bps <= 100 * XOFF_GBPS; rate_bps *= 4) {
            struct point point;
            struct xoff_err err;
            point_setup(&point, rate_bps);
            point_set(&point, "by_rate", cases[i].list);
            assert_int_equal(point_configure(&point, &err), -cases[i].code);
            assert_string_equal(err.subject, "by_rate");
            assert_string_equal(err.value, cases[i].entry);
            assert_non_null(strstr(err.message, cases[i].word));
        }

    /* Which of two entries should hold for the port? For another port it does not matter. */
    struct point point;
    struct xoff_err err;
    point_setup(&point, 25 * XOFF_GBPS);
    point_set(&point, "by_rate", "25Gbps 1KB 2KB 1, 25000Mbps 1KB 3KB 1");
    assert_int_equal(point_configure(&point, &err), -XOFF_E_CONFLICT);
    assert_string_equal(err.value, "25000Mbps 1KB 3KB 1");
    point.env.rate_bps = 100 * XOFF_GBPS;
    point_start(&point);
    /* The longest text there is. */
    char list[XOFF_PARAM_TEXT];
    memset(list, ' ', sizeof list);
    memcpy(list + sizeof list - sizeof "25Gbps 5KB 5KB 1", "25Gbps 5KB 5KB 1",
           sizeof "25Gbps 5KB 5KB 1");
    point.env.rate_bps = 25 * XOFF_GBPS;
    point_set(&point, "by_rate", list);
    point_start(&point);
    assert_true(point.cp.shape.quiet_below == 5000);
}

/* With counts: others the frame's own 1000 bytes are left out: every threshold is reached 1000
 * bytes later, and the quiet length stays a bound for both. */
static void others_without_the_frame(void **unused)
{
    (void)unused;
    struct point point;
    point_setup(&point, 100 * XOFF_GBPS);
    point_set(&point, "kmin", "100KB");
    point_set(&point, "kmax", "400KB");
    point_set(&point, "pmax", "0.5");
    point_set(&point, "counts", "others");
    point_start(&point);
    assert_int_equal(count_marks(&point, 1000), 0);
    assert_int_equal(count_marks(&point, 101000), 0);
    assert_int_equal(count_marks(&point, 101001), 7159);
    assert_int_equal(count_marks(&point, 251000), UINT64_C(1) << 30);
    assert_int_equal(count_marks(&point, 401000), UINT64_C(1) << 31);
    assert_int_equal(count_marks(&point, 401001), UINT64_C(1) << 32);
    assert_true(point.cp.shape.quiet_below <= 101000);
    /* The default, by name. */
    point_set(&point, "counts", "all");
    point_start(&point);
    assert_int_equal(count_marks(&point, 100001), 7159);
    assert_int_equal(count_marks(&point, 400001), UINT64_C(1) << 32);
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
        cmocka_unit_test(span_at_which_products_widen),
        cmocka_unit_test(thresholds_by_rate),
        cmocka_unit_test(mistakes_in_by_rate),
        cmocka_unit_test(others_without_the_frame),
    };
    return cmocka_run_group_tests_name("ecn", tests, NULL, NULL);
}
