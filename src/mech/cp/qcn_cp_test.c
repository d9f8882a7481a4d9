/* QCN's congestion point: feedback at each boundary, intervals and their jitter, what is counted,
 * and random queues against the formula in doubles. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <xoff/cp.h>
#include <xoff/rng.h>

extern const struct xoff_cp_ops xoff_cp_qcn;

#define MIDDLE (UINT32_C(1) << 31) /* the draw without deviation */
#define NOTHING 0

struct point {
    struct xoff_cp_env env;
    _Alignas(16) unsigned char params[256];
    _Alignas(16) unsigned char cfg[256];
    _Alignas(16) unsigned char state[64];
    struct xoff_cp cp;
    struct xoff_cp_answer answer;
};

static void point_setup(struct point *point)
{
    *point =
        (struct point){.env = {.rate_bps = 10 * XOFF_GBPS, .buffer_bytes = 1000000, .port_id = 5}};
    assert_true(xoff_cp_qcn.params_size <= sizeof point->params);
    assert_true(xoff_cp_qcn.cfg_size <= sizeof point->cfg);
    xoff_param_defaults(xoff_cp_qcn.params, point->params);
}

static void point_set(struct point *point, const char *name, const char *text)
{
    struct xoff_err err;
    const struct xoff_param *p = xoff_param_find(xoff_cp_qcn.params, name);
    assert_non_null(p);
    assert_int_equal(xoff_param_set(p, point->params, text, &err), 0);
}

static int point_configure(struct point *point, struct xoff_err *err)
{
    return xoff_cp_configure(&point->cp, &xoff_cp_qcn, point->params, &point->env, point->cfg, err);
}

static void point_start(struct point *point)
{
    struct xoff_err err;
    assert_int_equal(point_configure(point, &err), 0);
    assert_true(point->cp.shape.state_size <= sizeof point->state);
    xoff_cp_init(&point->cp, point->state);
}

static int64_t left(const struct point *point)
{
    return ((const struct xoff_cp_sampling *)(const void *)point->state)->left_bytes;
}

/* A sample of the queue; returns the feedback, NOTHING without a notification. */
static int32_t sample(struct point *point, int64_t queue_bytes, uint32_t draw)
{
    const struct xoff_cp_frame frame = {
        .queue_bytes = queue_bytes, .bytes = 1000, .draw = draw, .priority = 3, .is_data = true};
    xoff_cp_on_enqueue(&point->cp, point->state, &frame, 0, &point->answer);
    assert_false(point->answer.mark || point->answer.stamp || point->answer.write);
    return point->answer.notify ? point->answer.notice.feedback : NOTHING;
}

/* The feedback of a queue that has not changed since the last sample. */
static int32_t steady(struct point *point, int64_t queue_bytes)
{
    sample(point, queue_bytes, MIDDLE);
    return sample(point, queue_bytes, MIDDLE);
}

/* Qeq 26000, w 2: F = 26000 * 5 = 130000, and a unit of feedback is 2063.49 bytes. A steady queue
 * of 26000 + psi:
 *   2063 * 63 = 129969 < 130000 -> 0,    2064 * 63 = 130032 -> 1
 *   16507 * 63 = 1039941 < 8 * 130000 -> 7,    16508 * 63 = 1040004 -> 8
 *   129999 * 63 / 130000 = 62.9995 -> 62,    130000 -> 63, and so is all beyond. */
static void feedback_at_each_boundary(void **unused)
{
    (void)unused;
    static const struct {
        int64_t psi;
        int32_t feedback;
    } cases[] = {
        {-26000, NOTHING}, {-1, NOTHING}, {0, NOTHING},  {1, NOTHING},
        {2063, NOTHING},   {2064, -1},    {16507, -7},   {16508, -8},
        {129999, -62},     {130000, -63}, {130001, -63}, {900000, -63},
    };
    struct point point;
    point_setup(&point);
    point_start(&point);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(steady(&point, 26000 + cases[i].psi), cases[i].feedback);
}

/* From 20000 to 24000 the queue is 2000 below its set point, but it grows: -2000 + 2 * 4000 = 6000,
 * 6000 * 63 / 130000 = 2.9 -> 2. Back to 20000 it is -6000 - 8000: nothing. */
static void growth_counts(void **unused)
{
    (void)unused;
    struct point point;
    point_setup(&point);
    point_start(&point);
    steady(&point, 20000);
    assert_int_equal(sample(&point, 24000, MIDDLE), -2);
    const struct xoff_notice *notice = &point.answer.notice;
    assert_int_equal(notice->kind, XOFF_NOTICE_QCN);
    assert_int_equal(notice->queue_offset_bytes, -2000);
    assert_int_equal(notice->queue_delta_bytes, 4000);
    assert_int_equal(notice->cp_id, 5 * 8 + 3);
    assert_int_equal(sample(&point, 20000, MIDDLE), NOTHING);
    /* A long queue that shrinks fast: 104000 over, 52000 less than before: 104000 - 104000 = 0. */
    steady(&point, 182000);
    assert_int_equal(sample(&point, 130000, MIDDLE), NOTHING);
    steady(&point, 181000); /* 104000 - 102000 = 2000: below the first step */
    assert_int_equal(sample(&point, 130000, MIDDLE), NOTHING);
    steady(&point, 180967); /* 104000 - 101934 = 2066 */
    assert_int_equal(sample(&point, 130000, MIDDLE), -1);
}

/* The first sample is compared with an empty queue: 3 q - 26000. */
static void first_sample(void **unused)
{
    (void)unused;
    struct point point;
    point_setup(&point);
    point_start(&point);
    assert_int_equal(sample(&point, 9354, MIDDLE), NOTHING); /* 2062 */
    point_start(&point);
    assert_int_equal(sample(&point, 9355, MIDDLE), -1); /* 2065 */
}

/* w 1/4 is kept exactly: F = 26000 * 1.5 = 39000, and psi = 4 + 0.25 * 8 at q = 26004 after 25996
 * would be 6. With w 1/1024 the growth of 1023 bytes does not make a whole byte. */
static void fractions_of_w(void **unused)
{
    (void)unused;
    struct point point;
    point_setup(&point);
    point_set(&point, "w", "1/4");
    point_set(&point, "quantiser", "shift");
    point_set(&point, "shift", "0");
    point_start(&point);
    steady(&point, 25996);
    assert_int_equal(sample(&point, 26004, MIDDLE), -6);
    point_set(&point, "w", "1/1024");
    point_start(&point);
    steady(&point, 24977);
    assert_int_equal(sample(&point, 26000, MIDDLE), NOTHING);
    steady(&point, 24976);
    assert_int_equal(sample(&point, 26000, MIDDLE), -1);
}

/* 130000 >> 10 = 126, >> 11 = 63: auto drops eleven bits. 2047 >> 11 = 0, 2048 >> 11 = 1;
 * 129023 >> 11 = 62, 129024 >> 11 = 63. With F one unit short of 64 * 2048 the same shift does, at
 * 131072 = 64 * 2048 it takes twelve bits: Qeq 26214 has F = 131070, Qeq 26215 has 131075. */
static void quantiser_by_shift(void **unused)
{
    (void)unused;
    static const struct {
        int64_t psi;
        int32_t feedback;
    } cases[] = {{0, NOTHING},  {2047, NOTHING}, {2048, -1},
                 {129023, -62}, {129024, -63},   {800000, -63}};
    struct point point;
    point_setup(&point);
    point_set(&point, "quantiser", "shift");
    point_start(&point);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(steady(&point, 26000 + cases[i].psi), cases[i].feedback);
    point_set(&point, "qeq", "26214B");
    point_start(&point);
    assert_int_equal(steady(&point, 26214 + 2048), -1);
    point_set(&point, "qeq", "26215B");
    point_start(&point);
    assert_int_equal(steady(&point, 26215 + 4095), NOTHING);
    assert_int_equal(steady(&point, 26215 + 4096), -1);
}

/* Feedback 8 n .. 8 n + 7 has interval n; the table is that of 150 KiB, scaled by the base. */
static void intervals(void **unused)
{
    (void)unused;
    static const int64_t kib[8] = {153600, 76800, 51200, 38400, 30720, 25600, 22016, 18944};
    static const int64_t kb[8] = {150000, 75000, 50000, 37500, 30000, 25000, 21500, 18500};
    for (uint32_t k = 0; k < 2; k++) {
        struct point point;
        point_setup(&point);
        point_set(&point, "base", k ? "150KiB" : "150000B");
        point_start(&point);
        for (int32_t q = 0; q < 64; q++) {
            /* The least psi that gives q is 130000 q / 63, rounded up. */
            assert_int_equal(steady(&point, 26000 + (130000 * q + 62) / 63), -q);
            assert_int_equal(left(&point), (k ? kib : kb)[q / 8]);
        }
    }
}

/* 0.15 * 2^32 = 644245094.4 is kept as 644245094, so draw 0 gives a little more than 0.85 and the
 * largest draw a little less than 1.15. */
static void jitter(void **unused)
{
    (void)unused;
    struct point point;
    point_setup(&point);
    point_start(&point);
    sample(&point, 0, 0);
    assert_int_equal(left(&point), 127500);
    sample(&point, 0, MIDDLE);
    assert_int_equal(left(&point), 150000);
    sample(&point, 0, UINT32_MAX);
    assert_int_equal(left(&point), 172499);
    point_set(&point, "jitter", "0");
    point_start(&point);
    for (uint32_t draw = 0; draw < 3; draw++) {
        sample(&point, 0, draw * MIDDLE - 1);
        assert_int_equal(left(&point), 150000);
    }
}

/* 100 frames of 1500 B are the first 150000 bytes: the 100th is due, not the 99th. A frame that is
 * not data is counted; the sample then waits for data. */
static void bytes_are_counted(void **unused)
{
    (void)unused;
    struct point point;
    point_setup(&point);
    point_start(&point);
    assert_true(point.cp.shape.samples && point.cp.shape.draws && point.cp.shape.notifies);
    assert_true(xoff_cp_skips_dequeue(&point.cp) && !xoff_cp_skips_enqueue(&point.cp));
    assert_true(xoff_cp_quiet_below(&point.cp) == 0);
    for (uint32_t i = 1; i < 100; i++)
        assert_false(xoff_cp_is_due(point.state, 1500, true));
    assert_true(xoff_cp_is_due(point.state, 1500, true));
    xoff_cp_init(&point.cp, point.state);
    assert_false(xoff_cp_is_due(point.state, 149999, true));
    assert_false(xoff_cp_is_due(point.state, 64, false));
    assert_false(xoff_cp_is_due(point.state, 64, false));
    assert_true(xoff_cp_is_due(point.state, 64, true));
    sample(&point, 0, MIDDLE); /* the overshoot is forgotten */
    assert_int_equal(left(&point), 150000);
}

static void whose_source_is_told(void **unused)
{
    (void)unused;
    struct point point;
    point_setup(&point);
    point_set(&point, "unit", "128B");
    point_start(&point);
    assert_int_equal(point.cp.shape.unit_bytes, 0);
    assert_int_equal(steady(&point, 156000), -63);
    assert_false(point.answer.from_buffer);
    point_set(&point, "sampling", "occupancy");
    point_start(&point);
    assert_int_equal(point.cp.shape.unit_bytes, 128);
    assert_int_equal(steady(&point, 156000), -63);
    assert_true(point.answer.from_buffer);
}

static void expect_refused(struct point *point, const char *subject, const char *words)
{
    struct xoff_err err = {0};
    assert_true(point_configure(point, &err) < 0);
    assert_string_equal(err.subject, subject);
    assert_non_null(strstr(err.message, words));
}

static void what_is_refused(void **unused)
{
    (void)unused;
    struct point point;
    struct xoff_err err;
    point_setup(&point);
    point.env.buffer_bytes = 26000;
    point_start(&point);
    point.env.buffer_bytes = 25999;
    expect_refused(&point, "qeq", "the buffer has 25999B");
    point_setup(&point);
    point_set(&point, "shift", "3");
    expect_refused(&point, "shift", "quantiser: shift");
    point_set(&point, "quantiser", "shift");
    point_start(&point);
    static const struct {
        const char *name, *good, *bad;
    } ranges[] = {{"base", "1B", "0B"},    {"qeq", "100B", "99B"},        {"w", "1/1024", "0.0009"},
                  {"w", "1024", "1024.1"}, {"jitter", "0.99", "1"},       {"shift", "31", "32"},
                  {"unit", "16B", "15B"},  {"base", "1GB", "1000000001B"}};
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
        const struct xoff_param *p = xoff_param_find(xoff_cp_qcn.params, ranges[i].name);
        assert_int_equal(xoff_param_set(p, point.params, ranges[i].good, &err), 0);
        assert_true(xoff_param_set(p, point.params, ranges[i].bad, &err) < 0);
    }
    /* The smallest base still moves on. */
    point_setup(&point);
    point_set(&point, "base", "1B");
    point_start(&point);
    assert_int_equal(steady(&point, 156000), -63);
    assert_int_equal(left(&point), 1);
}

/* Random queues, weights and set points against the formula in doubles; values within rounding of
 * a step are left out. */
static void random_queues(void **unused)
{
    (void)unused;
    static const char *const ws[] = {"2", "1/1024", "0.5", "1024", "8"};
    static const double w_of[] = {2, 1.0 / 1024, 0.5, 1024, 8};
    static const char *const qeqs[] = {"26000B", "60KiB", "100B"};
    static const double qeq_of[] = {26000, 61440, 100};
    struct xoff_rng rng;
    xoff_rng_init(&rng, 7, 0, 0);
    uint32_t n_compared = 0;
    for (uint32_t k = 0; k < 15; k++) {
        struct point point;
        point_setup(&point);
        point_set(&point, "w", ws[k % 5]);
        point_set(&point, "qeq", qeqs[k / 5]);
        point_start(&point);
        double old = 0;
        for (uint32_t i = 0; i < 20000; i++) {
            const int64_t q = (int64_t)xoff_rng_below(&rng, 4 * (uint64_t)qeq_of[k / 5] + 1);
            const double psi = (double)q - qeq_of[k / 5] + w_of[k % 5] * ((double)q - old);
            const double exact = psi * 63 / (qeq_of[k / 5] * (2 * w_of[k % 5] + 1));
            const int32_t got = -sample(&point, q, xoff_rng_u32(&rng));
            old = (double)q;
            const double rest = exact - (double)(int64_t)exact;
            if (exact > 0 && exact < 63 && (rest < 1e-6 || rest > 1 - 1e-6))
                continue;
            assert_int_equal(got, exact <= 0 ? 0 : exact >= 63 ? 63 : (int32_t)exact);
            n_compared++;
        }
    }
    assert_true(n_compared > 290000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(feedback_at_each_boundary),
        cmocka_unit_test(growth_counts),
        cmocka_unit_test(first_sample),
        cmocka_unit_test(fractions_of_w),
        cmocka_unit_test(quantiser_by_shift),
        cmocka_unit_test(intervals),
        cmocka_unit_test(jitter),
        cmocka_unit_test(bytes_are_counted),
        cmocka_unit_test(whose_source_is_told),
        cmocka_unit_test(what_is_refused),
        cmocka_unit_test(random_queues),
    };
    return cmocka_run_group_tests_name("qcn_cp", tests, NULL, NULL);
}
