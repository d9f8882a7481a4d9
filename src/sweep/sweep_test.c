/* Sweep files, their points, tolerances and the Pareto front. Runs are in tests/scenario. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <xoff/rng.h>

#include "sweep/sweep.h"

#define HEAD "sweep: S\nscenario: quickstart.yaml\n"

static struct sweep_file *read_good(const char *text)
{
    struct sweep_file *f;
    struct xoff_err err;
    const int rc = sweep_file_read_text("scenarios/x.yaml", text, strlen(text), &f, &err);
    if (rc)
        print_error("%d:%d: %s: %s\n", err.line, err.column, err.subject, err.message);
    assert_int_equal(rc, 0);
    return f;
}

static void expect_values(const char *range, const char *const *texts, uint32_t n)
{
    char text[512];
    snprintf(text, sizeof text, HEAD "vary: {stop: %s}\n", range);
    struct sweep_file *f = read_good(text);
    assert_int_equal(f->axes[0].n_values, n);
    for (uint32_t i = 0; i < n; i++)
        assert_string_equal(f->axes[0].values[i].text, texts[i]);
    sweep_file_destroy(f);
}
#define VALUES(range, ...)                                         \
    do {                                                           \
        static const char *const texts[] = {__VA_ARGS__};          \
        expect_values(range, texts, sizeof texts / sizeof *texts); \
    } while (0)

static void ranges(void **state)
{
    (void)state;
    VALUES("[1ms, 5us, auto]", "1ms", "5us", "auto");
    VALUES("{from: 1us, to: 2us, steps: 3}", "1us", "1.5us", "2us");
    VALUES("{from: 0.1, to: 0.5, step: 0.1}", "0.1", "0.2", "0.3", "0.4", "0.5");
    VALUES("{from: 0, to: 20KB, steps: 3}", "0", "10KB", "20KB"); /* a bare 0 has any unit */
    VALUES("{from: 0B, to: 60KB, step: 20KB}", "0B", "20KB", "40KB", "60KB");
    VALUES("{from: 1, to: 64, steps: 4, scale: log}", "1", "4", "16", "64");
    VALUES("{from: 1MB, to: 8MB, steps: 4, scale: log}", "1MB", "2MB", "4MB", "8MB");
    VALUES("{from: 1KiB, to: 2KiB, steps: 2}", "1KiB", "2KiB"); /* the ends are as given */
    VALUES("{from: 1Gbps, to: 100Gbps, steps: 3, scale: log}", "1Gbps", "10Gbps", "100Gbps");
    VALUES("{from: 1, to: 10, steps: 4, whole: true}", "1", "4", "7", "10");
    VALUES("{from: 2, to: 9, steps: 3, whole: true}", "2", "6", "9"); /* 5.5 */
    struct sweep_file *f =
        read_good(HEAD "vary: {switch.buffer: {from: 1B, to: 10000B, step: 1B}}\n");
    assert_int_equal(f->axes[0].n_values, SWEEP_MAX_VALUES);
    sweep_file_destroy(f);
    VALUES("[0s, 1ms, 1001us]", "0s", "1ms", "1001us");
    VALUES("[1s, 1B, 1]", "1s", "1B", "1"); /* equal numbers of other units */
    VALUES("{from: 1, to: 2, steps: 4}", "1", "1.33333", "1.66667", "2");
}

static void expect_error(const char *text, int line, int column, const char *subject,
                         const char *words)
{
    struct sweep_file *f;
    struct xoff_err err;
    assert_int_not_equal(sweep_file_read_text("scenarios/x.yaml", text, strlen(text), &f, &err), 0);
    assert_null(f);
    if (!strstr(err.message, words) || err.line != line || err.column != column ||
        strcmp(err.subject, subject))
        fail_msg("%s\nsays %d:%d: %s: %s", text, err.line, err.column, err.subject, err.message);
    assert_string_equal(err.file, "scenarios/x.yaml");
}

static void bad_files(void **state)
{
    (void)state;
    expect_error("scenario: x\nvary: {a: [1]}\n", 1, 1, "sweep", "missing");
    expect_error(HEAD, 1, 1, "vary", "missing");
    expect_error(HEAD "vray: {}\n", 3, 1, "vray", "did you mean vary?");
    expect_error(HEAD "vary: {}\n", 3, 7, "vary", "empty");
    expect_error(HEAD "vary: {stop: []}\n", 3, 14, "vary.stop", "empty; give at least one");
    expect_error(HEAD "vary: {stop: 1ms}\n", 3, 14, "vary.stop", "give a list such as");
    expect_error(HEAD "vary: {stop: [1ms, 1ms]}\n", 3, 20, "vary.stop.1", "given twice");
    expect_error(HEAD "vary: {stop: [1ms, 1000us]}\n", 3, 20, "vary.stop.1",
                 "given twice: the same as 1ms");
    expect_error(HEAD "vary: {stop: [0, 0s]}\n", 3, 18, "vary.stop.1", "the same as 0");
    expect_error(HEAD "vary: {load: [0.5, 0.50]}\n", 3, 20, "vary.load.1", "the same as 0.5");
    expect_error("title: T\ntopology: {kind: star, hosts: 2}\n", 1, 1, "sweep",
                 "this is a scenario, not a sweep; run it with xoff run");
    expect_error(HEAD "vary: {stop: {from: 1ms, to: 2ms, steps: auto}}\n", 3, 42, "vary.stop.steps",
                 "give a whole number such as 2, from 2 to 10000");
    expect_error(HEAD "vary: {switch.buffer: {from: 0B, to: 10KB, step: 1B}}\n", 3, 50,
                 "vary.switch.buffer.step",
                 "too small: it makes 10001 values of this range; accepted: up to 10000");
    expect_error(HEAD "vary: {switch.buffer: {from: 0B, to: 10KB, step: 0B}}\n", 3, 50,
                 "vary.switch.buffer.step", "accepted: above 0");
    expect_error(HEAD "vary: {stop: [1ms]}\npage: {pareto: {min: [drops, pauses], max: drops}}\n",
                 4, 44, "page.pareto.max", "under min: as well");
    expect_error(HEAD "vary: {stop: {from: 2ms, to: 1ms, steps: 2}}\n", 3, 30, "vary.stop.to",
                 "empty range");
    expect_error(HEAD "vary: {stop: {from: 1ms, to: 1ms, steps: 2}}\n", 3, 30, "vary.stop.to",
                 "empty range");
    expect_error(HEAD "vary: {stop: {from: 1ms, to: 1MB, steps: 2}}\n", 3, 30, "vary.stop.to",
                 "not the unit of from");
    expect_error(HEAD "vary: {stop: {from: soon, to: 1ms, steps: 2}}\n", 3, 21, "vary.stop.from",
                 "not a number");
    expect_error(HEAD "vary: {stop: {from: 1ms, to: 2ms}}\n", 3, 14, "vary.stop.steps", "missing");
    expect_error(HEAD "vary: {stop: {from: 1ms, to: 2ms, steps: 1}}\n", 3, 42, "vary.stop.steps",
                 "from 2");
    expect_error(HEAD "vary: {stop: {from: 0ms, to: 2ms, steps: 2, scale: log}}\n", 3, 21,
                 "vary.stop.from", "above 0");
    expect_error(HEAD "vary: {stop: {from: 0ms, to: 1ms, step: 300us}}\n", 3, 41, "vary.stop.step",
                 "does not divide");
    expect_error(HEAD "vary: {stop: {from: 0ms, to: 1ms, step: 1ms, steps: 2}}\n", 3, 41,
                 "vary.stop.step", "give one of them");
    expect_error(HEAD "vary: {hosts: {from: 1, to: 3, steps: 9, whole: true}}\n", 3, 39,
                 "vary.hosts.steps", "more steps than values");
    expect_error(HEAD "vary: {seed: [1, 2]}\n", 3, 8, "vary.seed", "chosen by seeds:");
    expect_error(HEAD "set: {stop: 1ms}\nvary: {stop: [1ms]}\n", 4, 8, "vary.stop", "under set:");
    expect_error(HEAD "set: {seed: 1}\nvary: {stop: [1ms]}\n", 3, 7, "set.seed", "by seeds:");
    expect_error(HEAD "seeds: 5..1\nvary: {stop: [1ms]}\n", 3, 8, "seeds", "smaller seed");
    expect_error(HEAD "latin: 3\ngrid: true\nvary: {stop: [1ms]}\n", 3, 8, "latin",
                 "give one of them");
    expect_error(HEAD "grid: false\nvary: {stop: [1ms]}\n", 3, 7, "grid", "give latin:");
    expect_error(HEAD "latin: -3\nvary: {stop: [1ms]}\n", 3, 8, "latin", "");
    expect_error(HEAD "metrics: [colour]\nvary: {stop: [1ms]}\n", 3, 11, "metrics", "not a metric");
    expect_error(HEAD "metrics: []\nvary: {stop: [1ms]}\n", 3, 10, "metrics", "empty");
    expect_error(HEAD "vary: {stop: [1ms]}\npage: {x: drain}\n", 4, 11, "page.x",
                 "not among the keys");
    expect_error(HEAD "vary: {stop: [1ms]}\npage: {heat: [stop]}\n", 4, 15, "page.heat",
                 "give two");
    expect_error(HEAD "vary: {stop: [1ms]}\npage: {pareto: {min: drops}}\n", 4, 16, "page.pareto",
                 "at least two");
    expect_error("sweep: S\nscenario: gone.yaml\nvary: {stop: [1ms]}\n", 2, 11, "scenario",
                 "scenarios/gone.yaml");
    expect_error(HEAD "seeds: 1..1000\nvary: {stop: {from: 1ms, to: 2ms, steps: 1001}}\n", 4, 7,
                 "vary", "more than 1000000 runs");
}

static void grid(void **state)
{
    (void)state;
    struct sweep_file *f = read_good(HEAD "vary: {a: [1, 2], b: [x, y, z]}\n");
    static const char *const want[] = {"1", "x", "1", "y", "1", "z", "2", "x", "2", "y", "2", "z"};
    uint32_t n;
    struct sweep_value *values = sweep_points(f, &n);
    assert_int_equal(n, 6);
    for (uint32_t i = 0; i < 12; i++)
        assert_string_equal(values[i].text, want[i]);
    assert_true(isnan(values[1].number));
    free(values);
    sweep_file_destroy(f);
}

/* Along every parameter each of the N strata has exactly one point. */
static void latin(void **state)
{
    (void)state;
    struct sweep_file *f = read_good(
        HEAD "latin: 40\nlatin_seed: 7\nvary: {a: {from: 0s, to: 40us}, b: {from: 1, to: 16, "
             "scale: log}, c: [u, v], d: {from: 10, to: 50, whole: true}}\n");
    uint32_t n, counts[2] = {0}, n_seen[3][40] = {0};
    struct sweep_value *values = sweep_points(f, &n), *again = sweep_points(f, &n);
    assert_int_equal(n, 40);
    for (uint32_t p = 0; p < n; p++) {
        const struct sweep_value *v = values + 4 * p;
        n_seen[0][(uint32_t)(v[0].number * 1e6)]++;
        n_seen[1][(uint32_t)(log2(v[1].number) * 10)]++;
        counts[v[2].text[0] == 'v']++;
        assert_true(v[3].number == floor(v[3].number));
        assert_true(v[3].number >= 10 && v[3].number <= 50);
        for (uint32_t a = 0; a < 4; a++)
            assert_string_equal(v[a].text, again[4 * p + a].text);
    }
    for (uint32_t i = 0; i < 40; i++) {
        assert_int_equal(n_seen[0][i], 1);
        assert_int_equal(n_seen[1][i], 1);
    }
    assert_int_equal(counts[0], 20);
    assert_int_equal(counts[1], 20);
    f->params.latin_seed = 8;
    struct sweep_value *other = sweep_points(f, &n);
    uint32_t n_same = 0;
    for (uint32_t p = 0; p < n; p++)
        n_same += !strcmp(values[4 * p].text, other[4 * p].text);
    assert_true(n_same < n / 2);
    free(values);
    free(again);
    free(other);
    sweep_file_destroy(f);
}

static void tolerances(void **state)
{
    (void)state;
    struct sweep_until u;
    struct xoff_err err = {0};
    assert_int_equal(until_parse("fct.web.p99 +- 2%", &u, &err), 0);
    assert_string_equal(u.metric, "fct.web.p99");
    assert_true(u.is_relative && fabs(u.tolerance - 0.02) < 1e-12);
    assert_int_equal(until_parse("pauses+-5", &u, &err), 0);
    assert_true(!u.is_relative && u.tolerance == 5 && u.unit == AMOUNT_NUMBER);
    assert_true(until_fits(&u, "") && until_fits(&u, "frames") && !until_fits(&u, "s"));
    assert_int_equal(until_parse("fct.p99 \u00b1 3us", &u, &err), 0);
    assert_true(u.unit == AMOUNT_TIME && until_fits(&u, "s") && !until_fits(&u, "B"));
    static const char *const bad[] = {"",           "fct.p99",      "fct.p99 +-", "+- 2%",
                                      "fct.p99 2%", "colour +- 2%", "drops +- 0", "drops +- -1",
                                      "drops +- x", "drops +- 0%"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_not_equal(until_parse(bad[i], &u, &err), 0);
}

static void next_seeds(void **state)
{
    (void)state;
    const struct sweep_until u = {.metric = "fct.p99", .tolerance = 0.1, .is_relative = true};
    struct seed_metric m = {.unit = "s", .over = {.mean = 10, .ci95 = 1, .n = 5}};
    assert_true(until_is_reached(&u, &m)); /* the tolerance itself is tight */
    assert_int_equal(until_next(&u, &m, 5, 100), 5);
    m.over.ci95 = 1.2; /* 5 * 1.44 = 7.2 */
    assert_false(until_is_reached(&u, &m));
    assert_int_equal(until_next(&u, &m, 5, 100), 8);
    assert_int_equal(until_next(&u, &m, 5, 7), 7);
    assert_int_equal(until_next(&u, &m, 5, 5), 5);
    m.over.ci95 = 50; /* at most twice as many */
    assert_int_equal(until_next(&u, &m, 5, 100), 10);
    m.over = (struct spread){.mean = 0, .ci95 = 1, .n = 5}; /* no share of nothing is tight */
    assert_int_equal(until_next(&u, &m, 5, 100), 10);
    m.over = (struct spread){.mean = 0, .ci95 = 0, .n = 5};
    assert_true(until_is_reached(&u, &m));
    m.over = (struct spread){.mean = 3, .ci95 = NAN, .n = 1};
    assert_int_equal(until_next(&u, &m, 1, 100), 3);
    m.over = (struct spread){.mean = 3, .ci95 = 0, .n = 2}; /* two that agree mean little */
    assert_int_equal(until_next(&u, &m, 2, 100), 3);
    assert_int_equal(until_next(&u, NULL, 3, 100), 3);
}

/* A point is on the front unless another is at least as good in all and better in one. */
static void front(void **state)
{
    (void)state;
    enum { CELLS = 60, GOALS = 3 };
    struct xoff_rng rng;
    double rows[CELLS * GOALS];
    bool is_on_front[CELLS];
    for (uint64_t seed = 1; seed <= 20; seed++) {
        xoff_rng_init(&rng, seed, 0, 0);
        for (uint32_t i = 0; i < CELLS * GOALS; i++) /* few values, so that there are ties */
            rows[i] = xoff_rng_below(&rng, 12) ? (double)xoff_rng_below(&rng, 8) : NAN;
        front_mark(rows, CELLS, GOALS, is_on_front);
        for (uint32_t i = 0; i < CELLS; i++) {
            const double *a = rows + i * GOALS;
            bool is_beaten = isnan(a[0]) || isnan(a[1]) || isnan(a[2]);
            for (uint32_t k = 0; k < CELLS; k++) {
                const double *b = rows + k * GOALS;
                const int n_not_worse = (b[0] <= a[0]) + (b[1] <= a[1]) + (b[2] <= a[2]);
                is_beaten |= n_not_worse == 3 && b[0] + b[1] + b[2] < a[0] + a[1] + a[2];
            }
            assert_int_equal(is_on_front[i], !is_beaten);
        }
    }
    front_mark(rows, CELLS, 0, is_on_front);
    assert_false(is_on_front[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranges), cmocka_unit_test(bad_files),  cmocka_unit_test(grid),
        cmocka_unit_test(latin),  cmocka_unit_test(tolerances), cmocka_unit_test(next_seeds),
        cmocka_unit_test(front),
    };
    return cmocka_run_group_tests_name("sweep", tests, NULL, NULL);
}
