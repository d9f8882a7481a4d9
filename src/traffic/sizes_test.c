/* Flow sizes: exact means, draws against their distribution, text forms on both sides of each
 * limit.
 *
 * Statistical tests use fixed seeds, so they pass always or never.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "traffic/sizes.h"

_Noreturn void xoff_assert_fail(const char *expression, const char *file, int line)
{
    mock_assert(0, expression, file, line);
    abort();
}

static struct sizes parse(const char *text)
{
    struct sizes sizes;
    struct xoff_err err = {0};
    if (sizes_parse(text, &sizes, &err))
        fail_msg("%s: %s", text, err.message);
    return sizes;
}

static void refuse(const char *text, enum xoff_err_code code)
{
    struct sizes sizes;
    struct xoff_err err = {0};
    const int rc = sizes_parse(text, &sizes, &err);
    if (rc != -(int)code || !err.message[0])
        fail_msg("\"%s\": %d %s", text, rc, err.message);
    assert_int_equal(sizes_parse(text, &sizes, NULL), rc);
}

static void near(double value, double expected, double part)
{
    if (!(value >= expected * (1 - part) && value <= expected * (1 + part)))
        fail_msg("%.17g is not within %g of %.17g", value, part, expected);
}

/* Half a byte for each flow that lies on a segment, not on a step. */
static double half_bytes(const struct sizes_named *named)
{
    double weight = 0;
    for (uint32_t k = 1; k < named->n_points; k++)
        if (named->points[k].bytes > named->points[k - 1].bytes)
            weight += named->points[k].below - named->points[k - 1].below;
    return weight / 2;
}

static double drawn_mean(const struct sizes *sizes, uint64_t seed, int n)
{
    struct xoff_rng rng;
    double sum = 0;
    xoff_rng_init(&rng, seed, 0, 0);
    for (int i = 0; i < n; i++) {
        const int64_t bytes = sizes_draw(sizes, &rng);
        assert_true(bytes >= 1 && bytes >= sizes->min_bytes && bytes <= sizes->max_bytes);
        sum += (double)bytes;
    }
    return sum / n;
}

/* Part of n draws that are at most `limit`. */
static double drawn_below(const struct sizes *sizes, double limit, int n)
{
    struct xoff_rng rng;
    int below = 0;
    xoff_rng_init(&rng, 7, 0, 0);
    for (int i = 0; i < n; i++)
        below += (double)sizes_draw(sizes, &rng) <= limit;
    return (double)below / n;
}

/* The published figures, computed from the same points by linear interpolation, without the half
 * byte of rounding up; googlerpc and fb_hadoop_fine are thinned and must keep their 2892 B within
 * 1 % and 121849 B within 0.1 %. */
static void named_means(void **unused)
{
    (void)unused;
    static const struct {
        const char *name;
        uint32_t n_points;
        double mean, part;
    } rows[] = {
        {"websearch", 12, 1711250, 1e-12},         {"fb_hadoop", 20, 120420.75, 1e-12},
        {"alistorage", 9, 40869.8, 1e-12},         {"solar", 8, 39423.50452, 1e-12},
        {"mining", 7, 7487883.716043, 1e-12},      {"webserver", 13, 66121, 1e-12},
        {"cachefollower", 23, 712573.5, 1e-12},    {"vl2", 13, 12658198.6, 1e-12},
        {"googlerpc", 64, 2891.62, 0.01},          {"websearch_powertcp", 16, 1711222.5, 1e-12},
        {"fb_hadoop_fine", 64, 121848.942, 0.001},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assert_string_equal(sizes_named[i].name, rows[i].name);
        assert_non_null(sizes_named[i].source);
        const struct sizes sizes = parse(rows[i].name);
        assert_int_equal(sizes.kind, SIZES_POINTS);
        assert_int_equal(sizes.n_points, rows[i].n_points);
        near(sizes.mean_bytes - half_bytes(&sizes_named[i]), rows[i].mean, rows[i].part);
    }
    assert_null(sizes_named[sizeof rows / sizeof rows[0]].name);
}

/* Draws of each named distribution: the parts within 0.006 (four deviations of 10^5 draws at
 * most), and the mean where it converges. */
static void named_draws(void **unused)
{
    (void)unused;
    for (const struct sizes_named *named = sizes_named; named->name; named++) {
        const struct sizes sizes = parse(named->name);
        for (uint32_t k = 1; k < named->n_points; k += 1 + named->n_points / 6) {
            const struct sizes_point p = named->points[k];
            if (k + 1 < named->n_points && named->points[k + 1].bytes == p.bytes)
                continue; /* foot of a step */
            const double part = drawn_below(&sizes, (double)p.bytes, 100000);
            if (part < p.below - 0.006 || part > p.below + 0.006)
                fail_msg("%s: %.5f of draws up to %lld B, not %.5f", named->name, part,
                         (long long)p.bytes, p.below);
        }
    }
    const struct sizes websearch = parse("websearch"), storage = parse("alistorage");
    near(drawn_mean(&websearch, 1, 1000000), 1711250, 0.01);
    near(drawn_mean(&storage, 1, 1000000), 40869.8, 0.015);
}

/* By hand: 0.5 * (0 + 10000)/2 + 0.5 * (10000 + 1000000)/2 = 2500 + 252500 = 255000, and 1/2 for
 * rounding up. */
static void given_points(void **unused)
{
    (void)unused;
    const struct sizes sizes = parse("0B 0, 10KB 0.5, 1MB 1");
    assert_int_equal(sizes.n_points, 3);
    assert_true(sizes.mean_bytes == 255000.5);
    assert_int_equal(sizes.min_bytes, 1);
    assert_int_equal(sizes.max_bytes, 1000000);
    near(drawn_mean(&sizes, 3, 400000), 255000, 0.01);
    near(drawn_below(&sizes, 5000, 200000), 0.25, 0.02);
    near(drawn_below(&sizes, 505000, 200000), 0.75, 0.01);
    /* Blanks and per cent. */
    const struct sizes same = parse("  0B  0 ,10KB 50% ,  1MB 100 %  ");
    assert_memory_equal(&same, &sizes, sizeof sizes);
}

/* A first part above 0 is the weight of that size, as is a step: 1 KB with 1/4, 2 KB with 1/2, the
 * rest evenly from 2 to 4 KB: 250 + 1000 + 1/4 * 3000.5 = 2000.125. */
static void steps(void **unused)
{
    (void)unused;
    const struct sizes sizes = parse("1KB 1/4, 2KB 1/4, 2KB 3/4, 4KB 1");
    assert_true(sizes.mean_bytes == 2000.125);
    near(drawn_below(&sizes, 1000, 100000), 0.25, 0.02);
    near(drawn_below(&sizes, 1999, 100000), 0.25, 0.02);
    near(drawn_below(&sizes, 2000, 100000), 0.75, 0.01);
    assert_int_equal(sizes.min_bytes, 1000);
    const struct sizes one = parse("64KB 1, 64KB 1");
    near(drawn_mean(&one, 1, 100), 64000, 0);
}

/* Whole bytes from 0 to 4: 1, 2, 3 and 4 alike, mean 2.5; the parts at the points are exact. */
static void small_points(void **unused)
{
    (void)unused;
    const struct sizes sizes = parse("0B 0, 4B 1");
    assert_true(sizes.mean_bytes == 2.5);
    near(drawn_mean(&sizes, 5, 200000), 2.5, 0.005);
    for (int i = 1; i <= 4; i++)
        near(drawn_below(&sizes, i, 200000), i / 4.0, 0.02);
}

static void fixed_and_uniform(void **unused)
{
    (void)unused;
    const struct sizes fixed = parse("64KB");
    assert_int_equal(fixed.kind, SIZES_FIXED);
    assert_true(fixed.mean_bytes == 64000 && drawn_mean(&fixed, 1, 10) == 64000);
    const struct sizes uniform = parse("uniform 1B 4B");
    assert_true(uniform.mean_bytes == 2.5);
    near(drawn_mean(&uniform, 1, 200000), 2.5, 0.005);
    for (int i = 1; i <= 4; i++) /* both ends are drawn, all alike */
        near(drawn_below(&uniform, i, 200000), i / 4.0, 0.02);
    const struct sizes point = parse("uniform 7B 7B");
    assert_true(drawn_mean(&point, 1, 10) == 7);
}

/* Geometric in bytes: P(X = 1) = 1/mean, and for a large mean P(X <= mean) = 1 - 1/e = 0.632. */
static void exponential(void **unused)
{
    (void)unused;
    const struct sizes sizes = parse("exponential 100KB");
    assert_true(sizes.mean_bytes == 100000);
    near(drawn_mean(&sizes, 1, 400000), 100000, 0.01);
    near(drawn_below(&sizes, 100000, 200000), 0.63212, 0.01);
    const struct sizes small = parse("exponential 4B");
    near(drawn_mean(&small, 1, 400000), 4, 0.01);
    near(drawn_below(&small, 1, 400000), 0.25, 0.01);
    const struct sizes one = parse("exponential 1B");
    assert_true(drawn_mean(&one, 1, 100) == 1);
    const struct sizes huge = parse("exponential 1000GB");
    near(drawn_mean(&huge, 1, 200000), 1e12, 0.01);
}

/* Shape 3 from 10 KB: mean 10 * 3/2 = 15 KB; P(X > 20 KB) = 1/8.
 * Shape 1 from 1 KB to e KB: mean L log(H/L) / (1 - L/H) = 1000 * 1 / (1 - 1/e) = 1581.98.
 * Shape 2 from 1 KB to 2 KB: 2 L (1 - 1/2) / (1 - 1/4) = 1333.33. */
static void pareto(void **unused)
{
    (void)unused;
    const struct sizes sizes = parse("pareto 10KB 3");
    near(sizes.mean_bytes, 15000, 1e-12);
    assert_int_equal(sizes.min_bytes, 10000);
    near(drawn_mean(&sizes, 1, 400000), 15000, 0.01);
    near(1 - drawn_below(&sizes, 20000, 400000), 0.125, 0.02);
    const struct sizes cut = parse("pareto 1KB 2 2KB");
    near(cut.mean_bytes, 4000.0 / 3, 1e-12);
    near(drawn_mean(&cut, 1, 100000), 4000.0 / 3, 0.005);
    assert_int_equal(cut.max_bytes, 2000);
    const struct sizes log_mean = parse("pareto 1000000B 1 2718282B");
    near(log_mean.mean_bytes, 1581976.7, 1e-6);
    near(drawn_mean(&log_mean, 1, 200000), 1581976.7, 0.01);
    /* Heavy, but with an end: mean L a/(a-1) (1 - r^(a-1)) / (1 - r^a), r = 1e-3, a = 1.2:
     * 6 KB * (1 - 0.251189) / (1 - 0.000251189) = 4494.0 */
    const struct sizes heavy = parse("pareto 1KB 1.2 1MB");
    near(heavy.mean_bytes, 4494.0, 1e-4);
    near(drawn_mean(&heavy, 1, 2000000), 4494.0, 0.01);
}

static void bad_text(void **unused)
{
    (void)unused;
    refuse("", XOFF_E_MISSING);
    refuse("   ", XOFF_E_MISSING);
    refuse("webserch", XOFF_E_UNKNOWN);
    refuse("64", XOFF_E_UNIT);
    refuse("64KB extra", XOFF_E_SYNTAX);
    refuse("-1KB", XOFF_E_RANGE);
    refuse("0B", XOFF_E_RANGE);
    assert_true(parse("1B").mean_bytes == 1);
    assert_true(parse("1000000GB").mean_bytes == 1e15);
    refuse("1000001GB", XOFF_E_RANGE);
    refuse("uniform 1KB", XOFF_E_SYNTAX);
    refuse("uniform 2KB 1KB", XOFF_E_RANGE);
    refuse("uniform 0B 1KB", XOFF_E_RANGE);
    refuse("exponential 0B", XOFF_E_RANGE);
    refuse("exponential 10", XOFF_E_UNIT);
    refuse("pareto 10KB", XOFF_E_SYNTAX);
    refuse("pareto 10KB 1", XOFF_E_RANGE);
    assert_true(parse("pareto 10KB 1.01").mean_bytes > 1e6);
    refuse("pareto 10KB x", XOFF_E_TYPE);
    refuse("pareto 10KB 2 10KB", XOFF_E_RANGE);
    refuse("pareto 10KB 0.001 1MB", XOFF_E_RANGE);
    refuse("pareto 10KB 2 1MB 1", XOFF_E_SYNTAX);
    refuse("0B 0, 10KB 0.5", XOFF_E_RANGE);           /* does not reach 1 */
    refuse("0B 0, 10KB 1.5", XOFF_E_RANGE);           /* beyond it */
    refuse("0B 0, 10KB 0.5, 5KB 1", XOFF_E_RANGE);    /* size falls */
    refuse("0B 0.5, 10KB 0.2, 20KB 1", XOFF_E_RANGE); /* part falls */
    refuse("0B 0, 0B 1", XOFF_E_RANGE);               /* nothing but empty flows */
    refuse("0B 0.1, 10KB 1", XOFF_E_RANGE);
    assert_int_equal(parse("1B 0.1, 10KB 1").min_bytes, 1);
    refuse("0B 0, 10KB", XOFF_E_SYNTAX);
    refuse("0B 0,, 10KB 1", XOFF_E_SYNTAX);
    refuse("0B 0, 10KB 1,", XOFF_E_SYNTAX);
    refuse("0B 0, 10 1", XOFF_E_UNIT);
    refuse("0B 0, 10KB one", XOFF_E_TYPE);
    refuse("0B 0, 10KB 1 1", XOFF_E_TYPE);
    refuse("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
           XOFF_E_SYNTAX);
    refuse("0B 0, "
           "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa 1",
           XOFF_E_SYNTAX);
}

/* 64 points are accepted, 65 are not; a message names the forms and the names. */
static void limits_and_message(void **unused)
{
    (void)unused;
    char text[2048] = "1B 0";
    for (int i = 0; i < 62; i++)
        strcat(text, ", 2B 0.5");
    char more[2048];
    strcpy(more, text);
    strcat(text, ", 3B 1");
    strcat(more, ", 2B 0.5, 3B 1");
    assert_int_equal(parse(text).n_points, 64);
    refuse(more, XOFF_E_RANGE);
    struct sizes sizes;
    struct xoff_err err = {0};
    sizes_parse("nothing", &sizes, &err);
    assert_non_null(strstr(err.message, "pareto 10KB 1.5"));
    assert_non_null(strstr(err.message, "googlerpc"));
    assert_string_equal(err.value, "nothing");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(named_means),
        cmocka_unit_test(named_draws),
        cmocka_unit_test(given_points),
        cmocka_unit_test(steps),
        cmocka_unit_test(fixed_and_uniform),
        cmocka_unit_test(exponential),
        cmocka_unit_test(pareto),
        cmocka_unit_test(bad_text),
        cmocka_unit_test(limits_and_message),
        cmocka_unit_test(small_points),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
