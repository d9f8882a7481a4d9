/* Spreads: published values of Student's t, hand-worked intervals, and metrics that only some seeds
 * have. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "stats/spread.h"

static bool is_near(double a, double b, double tolerance)
{
    return fabs(a - b) <= tolerance;
}

/* The usual table of t for 95 %, two-sided; beside the last row of the program's table, too. */
static void student(void **state)
{
    (void)state;
    static const struct {
        uint32_t degrees;
        double t;
    } known[] = {{1, 12.7062}, {2, 4.3027},  {3, 3.1824},   {4, 2.7764},   {9, 2.2622},
                 {10, 2.2281}, {11, 2.2010}, {12, 2.1788},  {19, 2.0930},  {29, 2.0452},
                 {30, 2.0423}, {60, 2.0003}, {120, 1.9799}, {1000, 1.9623}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        assert_true(is_near(spread_t95(known[i].degrees), known[i].t, 0.5e-4));
}

static void figures(void **state)
{
    (void)state;
    const double values[] = {2, 4, 4, 4, 5, 5, 7, 9};
    const struct spread s = spread_of(values, 8);
    assert_true(s.mean == 5 && s.min == 2 && s.max == 9 && s.n == 8);
    assert_true(is_near(s.stddev, sqrt(32.0 / 7), 1e-12));
    assert_true(is_near(s.ci95, 2.364624 * sqrt(32.0 / 7 / 8), 1e-6));
    const struct spread one = spread_of(values, 1);
    assert_true(one.mean == 2 && one.min == 2 && one.max == 2);
    assert_true(isnan(one.stddev) && isnan(one.ci95)); /* one value says nothing of either */
    const double equal[] = {0.1, 0.1, 0.1};
    const struct spread same = spread_of(equal, 3);
    assert_true(same.mean == 0.1 && same.stddev == 0 && same.ci95 == 0);
}

static void metrics_of_some(void **state)
{
    (void)state;
    struct metric first[] = {{"flows", "", 3, ""}, {"fct.max", "s", 1, ""}},
                  second[] = {{"flows", "", 5, ""}, {"pauses.max", "s", 7, ""}};
    const struct summary a = {.metrics = first, .n_metrics = 2, .digest = 11},
                         b = {.metrics = second, .n_metrics = 2, .digest = 12};
    const struct summary *const both[] = {&a, &b};
    const uint64_t list[] = {4, 9};
    struct result_seeds *seeds = seeds_create(list, both, 2);
    assert_int_equal(seeds->n_metrics, 3);
    assert_true(seeds->list[1] == 9 && seeds->digests[0] == 11 && seeds->digests[1] == 12);
    const struct seed_metric *flows = seeds_find(seeds, "flows"),
                             *longest = seeds_find(seeds, "fct.max"),
                             *pause = seeds_find(seeds, "pauses.max");
    assert_true(flows->over.n == 2 && flows->over.mean == 4);
    assert_true(longest->over.n == 1 && longest->values[0] == 1 && isnan(longest->values[1]));
    assert_true(pause->over.n == 1 && isnan(pause->values[0]) && pause->values[1] == 7);
    assert_string_equal(pause->unit, "s");
    assert_null(seeds_find(seeds, "drops"));
    seeds_destroy(seeds);
}

static void failed_seeds(void **state)
{
    (void)state;
    uint64_t list[12];
    bool holds[12] = {true, false, true};
    for (uint32_t i = 0; i < 12; i++)
        list[i] = i + 1;
    const struct result_seeds seeds = {.list = list, .n = 3};
    const struct seed_expect expect = {.holds = holds};
    char buf[64];
    assert_string_equal(seeds_failed(&seeds, &expect, buf, sizeof buf), "2");
    const struct result_seeds more = {.list = list, .n = 12}, eight = {.list = list, .n = 10};
    holds[2] = true;
    assert_string_equal(seeds_failed(&more, &expect, buf, sizeof buf),
                        "2, 4, 5, 6, 7, 8, 9, 10, ...");
    assert_string_equal(seeds_failed(&eight, &expect, buf, sizeof buf), "2, 4, 5, 6, 7, 8, 9, 10");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(student),
        cmocka_unit_test(figures),
        cmocka_unit_test(metrics_of_some),
        cmocka_unit_test(failed_seeds),
    };
    return cmocka_run_group_tests_name("spread", tests, NULL, NULL);
}
