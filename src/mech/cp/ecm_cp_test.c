/* ECM's congestion point: who is told what in each region and at each boundary, intervals and
 * their draws, and random queues against a model that works in frames of the text. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <xoff/cp.h>
#include <xoff/rng.h>

extern const struct xoff_cp_ops xoff_cp_ecm;

#define MIDDLE (UINT32_C(1) << 31) /* the draw without deviation */
#define HERE (5 * 8 + 3)           /* port 5, priority 3 */

struct point {
    struct xoff_cp_env env;
    _Alignas(16) unsigned char params[256], cfg[256], state[64];
    struct xoff_cp cp;
    struct xoff_cp_answer answer;
};

static void point_setup(struct point *point)
{
    *point =
        (struct point){.env = {.rate_bps = 10 * XOFF_GBPS, .buffer_bytes = 1000000, .port_id = 5}};
    assert_true(xoff_cp_ecm.params_size <= sizeof point->params);
    assert_true(xoff_cp_ecm.cfg_size <= sizeof point->cfg);
    xoff_param_defaults(xoff_cp_ecm.params, point->params);
}

static void point_set(struct point *point, const char *name, const char *text)
{
    struct xoff_err err;
    const struct xoff_param *p = xoff_param_find(xoff_cp_ecm.params, name);
    assert_non_null(p);
    assert_int_equal(xoff_param_set(p, point->params, text, &err), 0);
}

static int point_configure(struct point *point, struct xoff_err *err)
{
    return xoff_cp_configure(&point->cp, &xoff_cp_ecm, point->params, &point->env, point->cfg, err);
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

enum sender { PLAIN, LIMITED_HERE, LIMITED_ELSEWHERE, OTHER_TAG };

/* A sample of the queue; returns whether the source is told. */
static bool sample(struct point *point, int64_t queue_bytes, enum sender sender, uint32_t draw)
{
    const struct xoff_notice tag = {.kind =
                                        sender == OTHER_TAG ? XOFF_NOTICE_ECM : XOFF_NOTICE_LIMITED,
                                    .cp_id = sender == LIMITED_ELSEWHERE ? HERE + 8 : HERE};
    const struct xoff_cp_frame frame = {.queue_bytes = queue_bytes,
                                        .bytes = 1000,
                                        .draw = draw,
                                        .priority = 3,
                                        .is_data = true,
                                        .tag = sender == PLAIN ? NULL : &tag};
    xoff_cp_on_enqueue(&point->cp, point->state, &frame, 0, &point->answer);
    assert_false(point->answer.mark || point->answer.stamp || point->answer.write);
    if (point->answer.notify) {
        assert_int_equal(point->answer.notice.kind, XOFF_NOTICE_ECM);
        assert_int_equal(point->answer.notice.cp_id, HERE);
        assert_false(point->answer.from_buffer);
    }
    return point->answer.notify;
}

static void expect_told(struct point *point, int32_t offset, int32_t delta)
{
    assert_int_equal(point->answer.notice.queue_offset_bytes, offset);
    assert_int_equal(point->answer.notice.queue_delta_bytes, delta);
}

/* Up to Qeq = 24000 only flows that this point limits are told; beyond it all are, up to Qsc =
 * 120000, and from there on all are told to stop. A point that is limited elsewhere, or another
 * tag, is as none. */
static void regions(void **unused)
{
    (void)unused;
    static const struct {
        int64_t q;
        bool all, here;
        int32_t offset;
    } cases[] = {
        {1, false, true, -23999},   {23999, false, true, -1},    {24000, false, false, 0},
        {24001, true, true, 1},     {47999, true, true, 23999},  {48000, true, true, 24000},
        {48001, true, true, 24000}, {120000, true, true, 24000}, {120001, true, true, 0},
        {900000, true, true, 0},
    };
    struct point point;
    point_setup(&point);
    point_start(&point);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sample(&point, cases[i].q, PLAIN, MIDDLE); /* steady from here on: delta 0 */
        assert_int_equal(sample(&point, cases[i].q, PLAIN, MIDDLE), cases[i].all);
        assert_int_equal(sample(&point, cases[i].q, LIMITED_ELSEWHERE, MIDDLE), cases[i].all);
        assert_int_equal(sample(&point, cases[i].q, OTHER_TAG, MIDDLE), cases[i].all);
        assert_int_equal(sample(&point, cases[i].q, LIMITED_HERE, MIDDLE), cases[i].here);
        if (cases[i].here)
            expect_told(&point, cases[i].offset, 0);
    }
}

/* Growth is told as it is up to 2 Qeq = 48000 either way. At Qeq itself growth alone is worth a
 * message to a flow that is limited here; a first sample is compared with an empty queue. */
static void growth(void **unused)
{
    (void)unused;
    struct point point;
    point_setup(&point);
    point_start(&point);
    assert_true(sample(&point, 24000, LIMITED_HERE, MIDDLE));
    expect_told(&point, 0, 24000);
    assert_false(sample(&point, 20000, PLAIN, MIDDLE));
    assert_true(sample(&point, 30000, PLAIN, MIDDLE));
    expect_told(&point, 6000, 10000);
    assert_true(sample(&point, 78000, PLAIN, MIDDLE));
    expect_told(&point, 24000, 48000);
    assert_true(sample(&point, 30000, PLAIN, MIDDLE)); /* long, and falling: the source weighs */
    expect_told(&point, 6000, -48000);
    assert_true(sample(&point, 78001, PLAIN, MIDDLE));
    expect_told(&point, 24000, 48000);
    assert_true(sample(&point, 30000, PLAIN, MIDDLE));
    expect_told(&point, 6000, -48000);
    assert_true(sample(&point, 77999, PLAIN, MIDDLE));
    expect_told(&point, 24000, 47999);
}

/* In severe congestion: stop, the largest feedback, or as below Qsc. */
static void severe(void **unused)
{
    (void)unused;
    struct point point;
    point_setup(&point);
    point_set(&point, "severe", "max");
    point_start(&point);
    sample(&point, 120000, PLAIN, MIDDLE);
    assert_true(sample(&point, 120000, PLAIN, MIDDLE));
    expect_told(&point, 24000, 0);
    assert_true(sample(&point, 120001, PLAIN, MIDDLE));
    expect_told(&point, 24000, 48000);
    point_set(&point, "severe", "none");
    point_set(&point, "qsc", "1000B"); /* of no use then, so it may lie below Qeq */
    point_start(&point);
    sample(&point, 900000, PLAIN, MIDDLE);
    assert_true(sample(&point, 900001, PLAIN, MIDDLE));
    expect_told(&point, 24000, 1);
    assert_false(sample(&point, 24000, PLAIN, MIDDLE));
}

/* 150000 bytes, less 15 % with the least draw; with the largest just below 15 % more. */
static void periodic_intervals(void **unused)
{
    (void)unused;
    struct point point;
    point_setup(&point);
    point_start(&point);
    assert_int_equal(left(&point), 150000);
    assert_false(xoff_cp_is_due(point.state, 149999, true));
    assert_false(xoff_cp_is_due(point.state, 1, false)); /* due, but not data */
    assert_true(xoff_cp_is_due(point.state, 1, true));
    sample(&point, 1000, PLAIN, 0);
    assert_int_equal(left(&point), 127500);
    sample(&point, 1000, PLAIN, MIDDLE);
    assert_int_equal(left(&point), 150000);
    sample(&point, 1000, PLAIN, UINT32_MAX);
    assert_int_equal(left(&point), 172499);
    point_set(&point, "jitter", "0");
    point_set(&point, "sample", "1B");
    point_start(&point);
    sample(&point, 1000, PLAIN, 7);
    assert_int_equal(left(&point), 1);
}

/* Against -ln in doubles, with every draw of a power of two and its neighbours; the mean of many
 * draws is `sample`. */
static void random_intervals(void **unused)
{
    (void)unused;
    struct point point;
    point_setup(&point);
    point_set(&point, "interval", "random");
    point_set(&point, "sample", "1GB");
    point_start(&point);
    for (uint32_t i = 0; i < 32; i++)
        for (int32_t d = -1; d <= 1; d++) {
            const uint32_t draw = (UINT32_C(1) << i) + (uint32_t)d;
            sample(&point, 1000, PLAIN, draw);
            const double want = -1e9 * log(((double)draw + 1) / 0x1p32);
            assert_true(fabs((double)left(&point) - want) <= 25 + want * 1e-8);
        }
    sample(&point, 1000, PLAIN, UINT32_MAX); /* -ln 1 = 0: at least a byte */
    assert_int_equal(left(&point), 1);
    point_set(&point, "sample", "150000B");
    point_start(&point);
    struct xoff_rng rng;
    xoff_rng_init(&rng, 17, 0, 0);
    double sum = 0;
    for (uint32_t i = 0; i < 100000; i++) {
        sample(&point, 1000, PLAIN, xoff_rng_u32(&rng));
        sum += (double)left(&point);
    }
    assert_true(fabs(sum / 100000 - 150000) < 2000); /* four standard errors */
}

/* Random queues against the rules in frames: numbers as the text has them. */
static void random_queues(void **unused)
{
    (void)unused;
    for (uint32_t severe_kind = 0; severe_kind < 3; severe_kind++) {
        static const char *const kinds[] = {"stop", "max", "none"};
        struct point point;
        point_setup(&point);
        point_set(&point, "severe", kinds[severe_kind]);
        point_start(&point);
        struct xoff_rng rng;
        xoff_rng_init(&rng, 3, severe_kind, 0);
        double old = 0;
        uint32_t told = 0;
        for (uint32_t i = 0; i < 20000; i++) {
            const uint32_t range = i % 3 ? 60000 : 200000;
            const double q = (double)xoff_rng_below(&rng, range);
            const enum sender sender = (enum sender)xoff_rng_below(&rng, 4);
            double offset = fmax(-16, fmin(16, q / 1500 - 16));
            double delta = fmax(-32, fmin(32, (q - old) / 1500));
            bool tells = q / 1500 > 16 || sender == LIMITED_HERE;
            if (q / 1500 > 80 && severe_kind < 2) {
                offset = severe_kind ? 16 : 0;
                delta = severe_kind ? 32 : 0;
                tells = true;
            } else if (offset == 0 && delta == 0) {
                tells = false;
            }
            old = q;
            assert_int_equal(sample(&point, (int64_t)q, sender, xoff_rng_u32(&rng)), tells);
            told += tells;
            if (tells)
                expect_told(&point, (int32_t)lround(offset * 1500), (int32_t)lround(delta * 1500));
        }
        assert_true(told > 5000 && told < 19000);
    }
}

static void refused(void **unused)
{
    (void)unused;
    static const struct {
        const char *name, *last_good, *first_bad, *key;
    } cases[] = {
        {"qeq", "119999B", "120000B", "qsc"},
        {"qsc", "24001B", "24000B", "qsc"},
    };
    struct xoff_err err;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct point point;
        point_setup(&point);
        point_set(&point, cases[i].name, cases[i].last_good);
        assert_int_equal(point_configure(&point, &err), 0);
        point_set(&point, cases[i].name, cases[i].first_bad);
        assert_int_equal(point_configure(&point, &err), -XOFF_E_CONFLICT);
        assert_string_equal(err.subject, cases[i].key);
    }
    struct point point;
    point_setup(&point);
    point_set(&point, "severe", "none");
    point_set(&point, "qeq", "1000000B"); /* the whole buffer */
    assert_int_equal(point_configure(&point, &err), 0);
    point_set(&point, "qeq", "1000001B");
    assert_int_equal(point_configure(&point, &err), -XOFF_E_CONFLICT);
    assert_string_equal(err.subject, "qeq");
    const struct xoff_param *p = xoff_param_find(xoff_cp_ecm.params, "jitter");
    assert_int_equal(xoff_param_set(p, point.params, "0.99", &err), 0);
    assert_int_not_equal(xoff_param_set(p, point.params, "1", &err), 0);
    p = xoff_param_find(xoff_cp_ecm.params, "sample");
    assert_int_not_equal(xoff_param_set(p, point.params, "0B", &err), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(regions),          cmocka_unit_test(growth),
        cmocka_unit_test(severe),           cmocka_unit_test(periodic_intervals),
        cmocka_unit_test(random_intervals), cmocka_unit_test(random_queues),
        cmocka_unit_test(refused),
    };
    return cmocka_run_group_tests_name("ecm_cp", tests, NULL, NULL);
}
