/* Curves: samples put into their instants, what is left out between them, what several priorities
 * make together, where a curve begins and ends, and its figures by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <xoff/rng.h>

#include "stats/curves.h"

#define NODE 3
#define PORT 1

static struct result_sample sample(xoff_time at_us, uint8_t priority, uint8_t metric, double value)
{
    return (struct result_sample){.at = at_us * XOFF_US,
                                  .node = NODE,
                                  .port = metric < RESULT_BUFFER_BYTES ? PORT : UINT32_MAX,
                                  .priority = priority,
                                  .metric = metric,
                                  .value = value};
}

/* Every 10 us from 0 to 60 us. */
static struct result_curve_spec spec(uint8_t metric, uint8_t priority)
{
    return (struct result_curve_spec){.name = "c",
                                      .node = NODE,
                                      .port = metric < RESULT_BUFFER_BYTES ? PORT : UINT32_MAX,
                                      .priority = priority,
                                      .metric = metric,
                                      .every = 10 * XOFF_US,
                                      .over = 10 * XOFF_US,
                                      .to = 60 * XOFF_US};
}

static void check(const struct result_curve_spec *wanted, struct result_sample *samples,
                  uint64_t n_samples, xoff_time end_at, xoff_time first_us, uint32_t n,
                  const double *values)
{
    const struct results r = {.samples = samples,
                              .n_samples = n_samples,
                              .end_at = end_at,
                              .curves = wanted,
                              .n_curves = 1};
    struct curve *c = curves_create(&r);
    assert_non_null(c);
    assert_string_equal(c->name, "c");
    assert_true(c->every == wanted->over && c->first_at == first_us * XOFF_US);
    assert_int_equal(c->n, n);
    for (uint32_t i = 0; i < n; i++)
        if (c->values[i] != values[i])
            fail_msg("value %u is %g, expected %g", i, c->values[i], values[i]);
    curves_destroy(c, 1);
}

/* 0 before the first sample, then each value until the next. */
static void sparse(void **state)
{
    (void)state;
    struct result_sample s[] = {sample(20, 3, RESULT_QUEUE_BYTES, 5),
                                sample(50, 3, RESULT_QUEUE_BYTES, 7)};
    const struct result_curve_spec c = spec(RESULT_QUEUE_BYTES, 3);
    const double values[] = {0, 5, 5, 5, 7, 7};
    check(&c, s, 2, XOFF_MS, 10, 6, values);
    const double none[6] = {0};
    check(&c, NULL, 0, XOFF_MS, 10, 6, none);
}

/* Of 4, 2, 5, 1, 3 every 10 us, the value at the level is not below it. */
static void time_below_a_level(void **state)
{
    (void)state;
    double values[] = {4, 2, 5, 1, 3};
    const struct curve c = {.every = 10 * XOFF_US, .n = 5, .values = values};
    static const struct {
        double level;
        int below_us, until_us;
    } rows[] = {{1, 0, 0}, {1.5, 10, 40}, {2, 10, 40}, {3, 20, 40}, {3.5, 30, 50}, {6, 50, 50}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct curve_lows lows;
        curve_lows(&c, rows[i].level, &lows);
        assert_int_equal((int)(lows.below_s * 1e6 + 0.5), rows[i].below_us);
        assert_int_equal((int)(lows.until_s * 1e6 + 0.5), rows[i].until_us);
    }
}

/* Samples of other nodes, ports, metrics and priorities are not of the curve. */
static void others(void **state)
{
    (void)state;
    struct result_sample s[] = {
        sample(10, 3, RESULT_QUEUE_BYTES, 5),  sample(10, 4, RESULT_QUEUE_BYTES, 90),
        sample(10, 3, RESULT_TX_BPS, 91),      sample(20, 3, RESULT_QUEUE_BYTES, 92),
        sample(30, 3, RESULT_QUEUE_BYTES, 93), sample(40, 0xff, RESULT_BUFFER_BYTES, 94)};
    s[3].port = PORT + 1;
    s[4].node = NODE + 1;
    const double values[] = {5, 5, 5, 5, 5, 5}, held[] = {0, 0, 0, 94, 94, 94};
    const struct result_curve_spec queue = spec(RESULT_QUEUE_BYTES, 3),
                                   buffer = spec(RESULT_BUFFER_BYTES, 0xff);
    check(&queue, s, 6, XOFF_MS, 10, 6, values);
    check(&buffer, s, 6, XOFF_MS, 10, 6, held);
}

/* Sums, but of pauses the largest; a host has one sample for all. */
static void all_priorities(void **state)
{
    (void)state;
    struct result_sample s[] = {
        sample(10, 0, RESULT_TX_BPS, 1),   sample(10, 0, RESULT_PAUSED_FRACTION, 0.25),
        sample(20, 3, RESULT_TX_BPS, 10),  sample(20, 3, RESULT_PAUSED_FRACTION, 0.75),
        sample(30, 0, RESULT_TX_BPS, 100), sample(30, 3, RESULT_PAUSED_FRACTION, 0)};
    const struct result_curve_spec rate = spec(RESULT_TX_BPS, 0xff),
                                   pause = spec(RESULT_PAUSED_FRACTION, 0xff);
    const double sums[] = {1, 11, 110, 110, 110, 110},
                 largest[] = {0.25, 0.75, 0.25, 0.25, 0.25, 0.25};
    check(&rate, s, 6, XOFF_MS, 10, 6, sums);
    check(&pause, s, 6, XOFF_MS, 10, 6, largest);
    /* Rates and loads of congestion points do not add up either. */
    for (uint32_t metric = RESULT_ADVERTISED_BPS; metric <= RESULT_CONTROL_RATIO; metric++) {
        struct result_sample point[] = {sample(10, 0, (uint8_t)metric, 2),
                                        sample(20, 3, (uint8_t)metric, 5),
                                        sample(40, 3, (uint8_t)metric, 1)};
        const struct result_curve_spec all = spec((uint8_t)metric, 0xff);
        const double most[] = {2, 5, 5, 2, 2, 2};
        check(&all, point, 3, XOFF_MS, 10, 6, most);
    }
    struct result_sample host[] = {sample(10, 0xff, RESULT_TX_BPS, 4),
                                   sample(40, 0xff, RESULT_TX_BPS, 2)};
    const double of_host[] = {4, 4, 4, 2, 2, 2};
    check(&rate, host, 2, XOFF_MS, 10, 6, of_host);
}

/* From is left out, to is in; what was before from still holds; the run may end earlier. */
static void limits(void **state)
{
    (void)state;
    struct result_sample s[] = {sample(10, 3, RESULT_QUEUE_BYTES, 1),
                                sample(20, 3, RESULT_QUEUE_BYTES, 2),
                                sample(40, 3, RESULT_QUEUE_BYTES, 4)};
    struct result_curve_spec c = spec(RESULT_QUEUE_BYTES, 3);
    const double from_20[] = {2, 4, 4, 4}, from_15[] = {2, 2, 4, 4, 4};
    c.from = 20 * XOFF_US;
    check(&c, s, 3, XOFF_MS, 30, 4, from_20);
    c.from = 20 * XOFF_US - 1;
    check(&c, s, 3, XOFF_MS, 20, 5, from_15);
    c.to = 60 * XOFF_US - 1;
    check(&c, s, 3, XOFF_MS, 20, 4, from_15);
    c.from = 0;
    c.to = 60 * XOFF_US;
    const double short_run[] = {1, 2, 2, 4, 4};
    check(&c, s, 3, 59 * XOFF_US, 10, 5, short_run);
    /* At its very end a run has samples or not: when a deadlock ended it, there are some. */
    check(&c, s, 3, 40 * XOFF_US, 10, 4, short_run);
    check(&c, s, 3, 50 * XOFF_US, 10, 4, short_run);
    check(&c, s, 3, 5 * XOFF_US, 10, 0, NULL);
    c.from = 55 * XOFF_US;
    check(&c, s, 3, 40 * XOFF_US, 60, 0, NULL);
}

/* Means of 20 us from 10 us on; what is left over at the end has no value. */
static void means(void **state)
{
    (void)state;
    struct result_sample s[] = {sample(20, 3, RESULT_QUEUE_BYTES, 2),
                                sample(30, 3, RESULT_QUEUE_BYTES, 5),
                                sample(40, 3, RESULT_QUEUE_BYTES, 7)};
    struct result_curve_spec c = spec(RESULT_QUEUE_BYTES, 3);
    c.over = 20 * XOFF_US;
    const double from_0[] = {1, 6, 7}, from_10[] = {3.5, 7};
    check(&c, s, 3, XOFF_MS, 20, 3, from_0);
    c.from = 10 * XOFF_US;
    check(&c, s, 3, XOFF_MS, 30, 2, from_10);
    c.to = 40 * XOFF_US;
    check(&c, s, 3, XOFF_MS, 30, 1, from_10);
    c.to = 20 * XOFF_US;
    check(&c, s, 3, XOFF_MS, 30, 0, NULL);
}

/* Hosts 3, 5 and 6 by hand; host 4 sends, too, and is not among them.
 *
 *   us      10      20      30       40
 *   host 3  0       4       4        4
 *   host 5  0       0       4        5
 *   host 6  0       0       4        3
 *   jain    0       1/3     1        144 / 150
 *   evenness by the mean, 4 at the end    0   0 (4/3)   1   0.75
 *   by a share of 5                       0   0         0.8 0.6
 */
static void shares(void **state)
{
    (void)state;
    static const struct {
        int at_us, node, value;
    } rows[] = {{10, 4, 9}, {20, 3, 4}, {30, 5, 4}, {30, 6, 4}, {40, 5, 5}, {40, 6, 3}};
    struct result_sample s[6];
    for (uint32_t i = 0; i < 6; i++) {
        s[i] = sample(rows[i].at_us, 0xff, RESULT_TX_BPS, rows[i].value);
        s[i].node = (uint32_t)rows[i].node;
        s[i].port = 0;
    }
    uint32_t hosts[] = {3, 5, 6};
    struct result_curve_spec c = spec(RESULT_TX_BPS, 0xff);
    c.metric = RESULT_JAIN;
    c.hosts = hosts;
    c.n_hosts = 3;
    c.to = 40 * XOFF_US;
    const double jain[] = {0, 16.0 / 48, 1, 144.0 / 150};
    check(&c, s, 6, XOFF_MS, 10, 4, jain);
    c.metric = RESULT_EVENNESS;
    const double even[] = {0, 0, 1, 0.75};
    check(&c, s, 6, XOFF_MS, 10, 4, even);
    c.share_bps = 5;
    const double of_5[] = {0, 0, 1 - 1.0 / 5, 1 - 2.0 / 5};
    check(&c, s, 6, XOFF_MS, 10, 4, of_5);
    /* Over 20 us: 2, 0, 0, and 4, 4.5, 3.5, of which 3.5 is 1.5 / 5 away. */
    c.over = 20 * XOFF_US;
    const double over[] = {0, 1 - 1.5 / 5};
    check(&c, s, 6, XOFF_MS, 20, 2, over);
    c.n_hosts = 1;
    c.share_bps = 0;
    const double alone[] = {1, 1};
    check(&c, s, 6, XOFF_MS, 20, 2, alone);
}

/* The value of host `node` at an instant: that of its last sample. */
static double slow_value(const struct result_sample *s, uint32_t n, uint32_t node, xoff_time at)
{
    double value = 0;
    for (uint32_t i = 0; i < n; i++)
        if (s[i].node == node && s[i].at <= at)
            value = s[i].value;
    return value;
}

/* Random samples of five hosts, of which three are in the curve, against a model that looks up
 * every instant of every host. */
static void random_shares(void **state)
{
    (void)state;
    enum { SAMPLES = 400, INSTANTS = 120 };
    struct xoff_rng rng;
    xoff_rng_init(&rng, 20070313, 0, 0);
    print_message("seed 20070313\n");
    for (uint32_t round = 0; round < 50; round++) {
        static struct result_sample s[SAMPLES];
        xoff_time at = 1;
        for (uint32_t i = 0; i < SAMPLES; i++) {
            at += (xoff_time)xoff_rng_below(&rng, 2);
            s[i] = sample(10 * at, 0xff, RESULT_TX_BPS, (double)xoff_rng_below(&rng, 9));
            s[i].node = (uint32_t)xoff_rng_below(&rng, 5);
            s[i].port = 0;
        }
        uint32_t hosts[] = {1, 2, 4};
        const uint32_t over = 1 + (uint32_t)xoff_rng_below(&rng, 4);
        struct result_curve_spec c = spec(RESULT_TX_BPS, 0xff);
        c.metric = round % 2 ? RESULT_JAIN : RESULT_EVENNESS;
        c.hosts = hosts;
        c.n_hosts = 3;
        c.from = (xoff_time)xoff_rng_below(&rng, 20) * 10 * XOFF_US;
        c.to = INSTANTS * 10 * XOFF_US;
        c.over = over * c.every;
        c.share_bps = round % 4 ? 0 : 5;
        double want[INSTANTS];
        uint32_t n = 0;
        for (xoff_time t = c.from; t + c.over <= c.to; t += c.over) {
            double x[3] = {0}, sum = 0, squares = 0, away = 0;
            for (uint32_t h = 0; h < 3; h++) {
                for (uint32_t k = 1; k <= over; k++)
                    x[h] += slow_value(s, SAMPLES, hosts[h], t + k * c.every) / over;
                sum += x[h];
                squares += x[h] * x[h];
            }
            const double share = c.share_bps > 0 ? c.share_bps : sum / 3;
            for (uint32_t h = 0; h < 3; h++) {
                const double distance = x[h] > share ? x[h] - share : share - x[h];
                away = distance > away ? distance : away;
            }
            want[n++] = c.metric == RESULT_JAIN ? (squares > 0 ? sum * sum / 3 / squares : 0)
                        : away < share          ? 1 - away / share
                                                : 0;
        }
        const struct results r = {
            .samples = s, .n_samples = SAMPLES, .end_at = XOFF_S, .curves = &c, .n_curves = 1};
        struct curve *got = curves_create(&r);
        assert_non_null(got);
        assert_int_equal(got->n, n);
        for (uint32_t i = 0; i < n; i++)
            if (got->values[i] - want[i] > 1e-12 || want[i] - got->values[i] > 1e-12)
                fail_msg("round %u, value %u is %g, expected %g", round, i, got->values[i],
                         want[i]);
        curves_destroy(got, 1);
    }
}

static void figures(void **state)
{
    (void)state;
    double values[] = {2, 4, 4, 4, 5, 5, 7, 9}; /* mean 5; squares 9 1 1 1 0 0 4 16: 32 / 8 */
    struct curve c = {.n = 8, .values = values};
    struct curve_figures f;
    assert_true(curve_figures(&c, &f));
    assert_true(f.mean == 5 && f.stddev == 2 && f.min == 2 && f.max == 9);
    assert_true(f.p50 == 4 && f.p99 == 9); /* ranks 4 and 8 */
    assert_true(values[0] == 2 && values[7] == 9);
    double equal[] = {0.1, 0.1, 0.1};
    c = (struct curve){.n = 3, .values = equal};
    assert_true(curve_figures(&c, &f));
    assert_true(f.mean == 0.1 && f.stddev == 0 && f.p50 == 0.1);
    double many[200];
    for (uint32_t i = 0; i < 200; i++)
        many[i] = 200 - i;
    c = (struct curve){.n = 200, .values = many};
    assert_true(curve_figures(&c, &f));
    assert_true(f.p50 == 100 && f.p99 == 198 && f.mean == 100.5);
}

static void check_metric(const struct summary *s, const char *name, double value, const char *unit)
{
    const struct metric *m = summary_find(s, name);
    if (!m)
        fail_msg("%s is absent", name);
    assert_true(m->value == value);
    assert_string_equal(m->unit, unit);
}

/* As part of the summary: names, units, and a curve without samples that has no figures. */
static void in_summary(void **state)
{
    (void)state;
    struct result_sample s[] = {
        sample(10, 3, RESULT_QUEUE_BYTES, 2), sample(10, 3, RESULT_TX_BPS, 8),
        sample(10, 3, RESULT_PAUSED_FRACTION, 1), sample(20, 3, RESULT_QUEUE_BYTES, 6)};
    struct result_curve_spec wanted[] = {spec(RESULT_QUEUE_BYTES, 3), spec(RESULT_TX_BPS, 3),
                                         spec(RESULT_PAUSED_FRACTION, 3),
                                         spec(RESULT_QUEUE_BYTES, 3)};
    static const char *const names[] = {"q", "t", "p-1", "late"};
    for (uint32_t i = 0; i < 4; i++)
        strcpy(wanted[i].name, names[i]);
    wanted[3].from = 50 * XOFF_US;
    const struct results r = {
        .samples = s, .n_samples = 4, .end_at = 25 * XOFF_US, .curves = wanted, .n_curves = 4};
    struct summary *summary = summary_create(&r);
    assert_non_null(summary);
    assert_int_equal(summary->n_curves, 4);
    check_metric(summary, "curve.q.mean", 4, "B");
    check_metric(summary, "curve.q.min", 2, "B");
    check_metric(summary, "curve.q.max", 6, "B");
    check_metric(summary, "curve.q.stddev", 2, "B");
    check_metric(summary, "curve.q.p50", 2, "B");
    check_metric(summary, "curve.q.p99", 6, "B");
    check_metric(summary, "curve.t.mean", 8, "bps");
    check_metric(summary, "curve.p-1.max", 1, "ratio");
    assert_null(summary_find(summary, "curve.late.mean"));
    assert_int_equal(summary->curves[3].n, 0);
    summary_destroy(summary);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sparse),         cmocka_unit_test(others),
        cmocka_unit_test(all_priorities), cmocka_unit_test(limits),
        cmocka_unit_test(means),          cmocka_unit_test(shares),
        cmocka_unit_test(random_shares),  cmocka_unit_test(figures),
        cmocka_unit_test(in_summary),     cmocka_unit_test(time_below_a_level),
    };
    return cmocka_run_group_tests_name("curves", tests, NULL, NULL);
}
