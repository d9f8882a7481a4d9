/* Verdicts: each of them, both sides of each tolerance, and what was recorded against what is
 * found.
 *
 * Runs are made by hand here: two seeds of two variants with a few metrics.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "reproduce/judge.h"

static void tolerance_absolute(void **state)
{
    (void)state;
    const struct claim c = {.has_published = true, .published = 40, .tolerance = 5};
    assert_int_equal(judge_values(&c, 40, false), VERDICT_HOLDS);
    assert_int_equal(judge_values(&c, 45, false), VERDICT_HOLDS);
    assert_int_equal(judge_values(&c, 45.001, false), VERDICT_FAILS);
    assert_int_equal(judge_values(&c, 35, false), VERDICT_HOLDS);
    assert_int_equal(judge_values(&c, 34.999, false), VERDICT_FAILS);
    const struct claim exact = {.has_published = true, .published = 0};
    assert_int_equal(judge_values(&exact, 0, false), VERDICT_HOLDS);
    assert_int_equal(judge_values(&exact, 1e-300, false), VERDICT_FAILS);
    /* 0.4 - 0.3 is above 0.1 in doubles; that is no deviation. */
    const struct claim tenth = {.has_published = true, .published = 0.3, .tolerance = 0.1};
    assert_true(0.4 - 0.3 > 0.1);
    assert_int_equal(judge_values(&tenth, 0.4, false), VERDICT_HOLDS);
    assert_int_equal(judge_values(&tenth, 0.4000001, false), VERDICT_FAILS);
}

static void tolerance_relative(void **state)
{
    (void)state;
    const struct claim c = {
        .has_published = true, .published = -200, .tolerance = 0.1, .is_tolerance_relative = true};
    assert_int_equal(judge_values(&c, -220, false), VERDICT_HOLDS);
    assert_int_equal(judge_values(&c, -220.01, false), VERDICT_FAILS);
    assert_int_equal(judge_values(&c, -180, false), VERDICT_HOLDS);
    assert_int_equal(judge_values(&c, -179.99, false), VERDICT_FAILS);
    assert_int_equal(judge_values(&c, 200, false), VERDICT_FAILS);
}

static void directions(void **state)
{
    (void)state;
    const struct claim c = {.has_published = true,
                            .published = 40,
                            .tolerance = 5,
                            .direction = {.text = "a.drops > b.drops"}};
    assert_int_equal(judge_values(&c, 40, true), VERDICT_HOLDS);
    assert_int_equal(judge_values(&c, 40, false), VERDICT_FAILS);
    assert_int_equal(judge_values(&c, 60, true), VERDICT_DIRECTION);
    assert_int_equal(judge_values(&c, 60, false), VERDICT_FAILS);
    const struct claim only = {.direction = {.text = "a.drops > b.drops"}};
    assert_int_equal(judge_values(&only, 0, true), VERDICT_HOLDS);
    assert_int_equal(judge_values(&only, 0, false), VERDICT_FAILS);
    const struct claim none = {.has_published = true, .published = 40};
    assert_int_equal(judge_values(&none, 60, true), VERDICT_FAILS);
}

static void recorded(void **state)
{
    (void)state;
    for (int was = VERDICT_HOLDS; was <= VERDICT_FAILS; was++)
        for (int is = VERDICT_HOLDS; is < N_VERDICTS; is++) {
            const struct claim c = {.recorded = (enum verdict)was};
            struct judgement j = {.found = (enum verdict)is};
            judge_recorded(&c, &j);
            assert_int_equal(j.is_worse, is <= VERDICT_FAILS && is > was);
            assert_int_equal(j.is_better, is <= VERDICT_FAILS && is < was);
        }
}

/* Two variants, two seeds: drops of "off" are 30 and 50 of 100 sent, those of "on" 0. */
static struct metric off_1[] = {{"drops", "frames", 30, ""}, {"sent", "B", 100, ""}};
static struct metric off_2[] = {{"drops", "frames", 50, ""}, {"sent", "B", 100, ""}};
static struct metric on_all[] = {{"drops", "frames", 0, ""}, {"sent", "B", 100, ""}};
static struct summary off_first = {.metrics = off_1, .n_metrics = 2},
                      off_second = {.metrics = off_2, .n_metrics = 2},
                      on_any = {.metrics = on_all, .n_metrics = 2};
static struct results variants[] = {{.variant = "off"}, {.variant = "on"}};
static const struct results *results[] = {&variants[0], &variants[1]};
static struct summary *summaries[] = {&off_first, &on_any, &off_second, &on_any};
static const struct run_options options = {0};
static char file[] = "d/claims.yaml", text[] = "0123456789";
static const struct paper paper = {.file = file, .text = text};

static struct run_set good_set(struct run *runs)
{
    for (uint32_t i = 0; i < 4; i++)
        runs[i] = (struct run){.state = RUN_DONE};
    return (struct run_set){.n_seeds = 2,
                            .n_variants = 2,
                            .variants = variants,
                            .results = results,
                            .runs = runs,
                            .summaries = summaries};
}

static void whole_claims(void **state)
{
    (void)state;
    struct run runs[4];
    struct run_set set = good_set(runs);
    struct judgement j;
    struct claim c = {.id = "a",
                      .experiment = {.scenario = "s", .n_seeds = 2},
                      .measure = {"off.drops", {1, 1}},
                      .has_published = true,
                      .published = 40};
    judge_claim(&paper, &c, &options, &set, &j);
    assert_int_equal(j.found, VERDICT_HOLDS);
    assert_true(j.measured.mean == 40 && j.measured.min == 30 && j.measured.max == 50);
    assert_true(j.n_seeds == 2 && j.values[0] == 30 && j.values[1] == 50);
    judge_fini(&j);

    c.experiment.n_seeds = 1; /* the first only */
    judge_claim(&paper, &c, &options, &set, &j);
    assert_int_equal(j.found, VERDICT_FAILS);
    assert_true(j.is_worse && j.measured.mean == 30);
    judge_fini(&j);

    /* The direction must hold in every seed. */
    c.direction = (struct expression){"off.drops > on.drops + 20", {1, 1}};
    c.experiment.n_seeds = 2;
    c.published = 4000;
    judge_claim(&paper, &c, &options, &set, &j);
    assert_int_equal(j.found, VERDICT_DIRECTION);
    judge_fini(&j);
    c.direction.text = "off.drops > on.drops + 40";
    judge_claim(&paper, &c, &options, &set, &j);
    assert_int_equal(j.found, VERDICT_FAILS);
    assert_non_null(strstr(j.direction_detail, "off.drops = 30"));
    judge_fini(&j);

    c.recorded = VERDICT_FAILS;
    c.published = 40;
    c.direction.text = "off.drops > on.drops";
    judge_claim(&paper, &c, &options, &set, &j);
    assert_true(j.is_better && !j.is_worse);
    judge_fini(&j);
}

static void not_run(void **state)
{
    (void)state;
    struct judgement j;
    struct claim c = {.id = "a", .recorded = VERDICT_UNTESTABLE};
    judge_claim(&paper, &c, &options, NULL, &j);
    assert_int_equal(j.found, VERDICT_UNTESTABLE);
    c.recorded = VERDICT_HOLDS;
    judge_claim(&paper, &c, &options, NULL, &j);
    assert_int_equal(j.found, VERDICT_LEFT_OUT);
    assert_false(j.is_worse);
}

static void errors(void **state)
{
    (void)state;
    struct run runs[4];
    struct run_set set = good_set(runs);
    struct judgement j;
    struct claim c = {.id = "a",
                      .experiment = {.scenario = "s", .n_seeds = 2},
                      .measure = {"1 + off.drop", {1, 4}},
                      .has_published = true,
                      .published = 40};
    judge_claim(&paper, &c, &options, &set, &j);
    assert_int_equal(j.found, VERDICT_ERROR);
    assert_true(j.is_bad_input && !j.is_worse && !j.values);
    assert_string_equal(j.err.file, "d/claims.yaml");
    assert_string_equal(j.err.subject, "a: measure");
    assert_int_equal(j.err.line, 1);
    assert_int_equal(j.err.column, 8);

    c.measure.text = "drops"; /* of which variant? */
    judge_claim(&paper, &c, &options, &set, &j);
    assert_int_equal(j.found, VERDICT_ERROR);
    assert_non_null(strstr(j.err.message, "name one"));

    c.measure.text = "off.drops";
    runs[3].state = RUN_BROKEN;
    snprintf(runs[3].err.message, sizeof runs[3].err.message, "crashed");
    judge_claim(&paper, &c, &options, &set, &j);
    assert_int_equal(j.found, VERDICT_ERROR);
    assert_false(j.is_bad_input);
    assert_string_equal(j.err.message, "crashed");
    c.experiment.n_seeds = 1; /* which the broken run is no part of */
    judge_claim(&paper, &c, &options, &set, &j);
    assert_int_equal(j.found, VERDICT_FAILS);
    judge_fini(&j);
    set.state = RUN_BAD_INPUT;
    judge_claim(&paper, &c, &options, &set, &j);
    assert_true(j.found == VERDICT_ERROR && j.is_bad_input);
}

static void figures(void **state)
{
    (void)state;
    struct run runs[4];
    struct run_set set = good_set(runs);
    struct drawing d;
    struct figure_point off_points[] = {{.value = {"off.drops", {1, 1}}},
                                        {.value = {"off.drops / 10", {1, 1}}}},
                        on_points[] = {{.value = {"on.drops + 1", {1, 1}}}};
    struct figure_series series[] = {{.name = "off", .points = off_points, .n_points = 2},
                                     {.name = "on", .points = on_points, .n_points = 1}};
    const struct figure f = {
        .id = "f", .experiment = {.n_seeds = 2}, .series = series, .n_series = 2};
    judge_figure(&paper, &f, &options, &set, &d);
    assert_int_equal(d.state, VERDICT_HOLDS);
    assert_true(d.points[0].mean == 40 && d.points[0].max == 50);
    assert_true(d.points[1].mean == 4 && d.points[2].mean == 1);
    drawing_fini(&d);
    judge_figure(&paper, &f, &options, NULL, &d);
    assert_int_equal(d.state, VERDICT_LEFT_OUT);
    on_points[0].value.text = "on.jain";
    judge_figure(&paper, &f, &options, &set, &d);
    assert_true(d.state == VERDICT_ERROR && d.is_bad_input && !d.points);
    assert_string_equal(d.err.subject, "f: value");
}

/* Three seeds of one variant that deadlocks in the first and the last, and of one that never does.
 */
static struct metric bad_1[] = {{"deadlocked", "", 1, ""}, {"deadlock.onset", "s", 5, ""}};
static struct metric bad_2[] = {{"deadlocked", "", 0, ""}};
static struct metric bad_3[] = {{"deadlock.onset", "s", 2, ""}, {"deadlocked", "", 1, ""}};
static struct metric good_any[] = {{"deadlocked", "", 0, ""}};
static double bad_values[] = {1, 9, 4}, good_values[5000];
static struct curve bad_curves[] = {{.name = "F0",
                                     .unit = "bps",
                                     .first_at = 20 * XOFF_US,
                                     .every = 10 * XOFF_US,
                                     .n = 3,
                                     .values = bad_values},
                                    {.name = "F1"}};
static struct curve good_curve = {
    .name = "F0", .first_at = XOFF_US, .every = XOFF_US, .n = 5000, .values = good_values};
static uint64_t bad_counts[] = {1, 0, 2}, more_counts[] = {0, 4, 0, 1};
static struct distribution bad_distribution = {"maxima", 0.25, 3, bad_counts},
                           more_distribution = {"maxima", 0.25, 4, more_counts};
static struct summary bad_first = {.metrics = bad_1,
                                   .n_metrics = 2,
                                   .curves = bad_curves,
                                   .n_curves = 2,
                                   .distributions = &bad_distribution,
                                   .n_distributions = 1},
                      bad_second = {.metrics = bad_2, .n_metrics = 1},
                      bad_third = {.metrics = bad_3,
                                   .n_metrics = 2,
                                   .curves = NULL,
                                   .n_curves = 0,
                                   .distributions = &more_distribution,
                                   .n_distributions = 1},
                      good_seed = {.metrics = good_any,
                                   .n_metrics = 1,
                                   .curves = &good_curve,
                                   .n_curves = 1,
                                   .distributions = NULL,
                                   .n_distributions = 0};
static struct summary *three_seeds[] = {&bad_first, &good_seed, &bad_second,
                                        &good_seed, &bad_third, &good_seed};

static struct run_set deadlock_set(struct run *runs)
{
    for (uint32_t i = 0; i < 6; i++)
        runs[i] = (struct run){.state = RUN_DONE};
    return (struct run_set){.n_seeds = 3,
                            .n_variants = 2,
                            .variants = variants,
                            .results = results,
                            .runs = runs,
                            .summaries = three_seeds};
}

/* The median of three is the second, of two their mean; the ends are those of all. */
static void medians(void **state)
{
    (void)state;
    const double values[] = {9, 1, 4};
    struct claim c = {.average = AVERAGE_MEDIAN};
    struct spread s = judge_spread(&c, values, 3);
    assert_true(s.mean == 4 && s.min == 1 && s.max == 9);
    assert_true(judge_spread(&c, values, 2).mean == 5);
    assert_true(judge_spread(&c, values, 1).mean == 9);
    c.average = AVERAGE_SEEDS;
    assert_true(judge_spread(&c, values, 2).mean == 5);
    s = judge_spread(&c, (const double[]){9, 0, 0}, 3);
    assert_true(s.mean == 3);
    c.average = AVERAGE_MEDIAN;
    assert_true(judge_spread(&c, (const double[]){9, 0, 0}, 3).mean == 0);
}

static void averages(void **state)
{
    (void)state;
    struct run runs[6];
    struct run_set set = deadlock_set(runs);
    struct judgement j;
    struct claim c = {.id = "a",
                      .experiment = {.scenario = "s", .n_seeds = 3},
                      .measure = {"300 * (1 - on.deadlocked / off.deadlocked)", {1, 1}},
                      .direction = {"on.deadlocked < off.deadlocked", {1, 1}},
                      .has_published = true,
                      .published = 300};
    judge_claim(&paper, &c, &options, &set, &j); /* in the second seed nothing is divided by 0 */
    assert_int_equal(j.found, VERDICT_ERROR);
    assert_non_null(strstr(j.err.message, "division by zero"));
    c.average = AVERAGE_METRICS;
    judge_claim(&paper, &c, &options, &set, &j);
    assert_int_equal(j.found, VERDICT_HOLDS);
    assert_true(j.n_seeds == 3 && j.n_values == 1 && j.values[0] == 300);
    assert_true(j.direction_holds && j.measured.min == 300 && j.measured.max == 300);
    judge_fini(&j);

    /* 2/3 of the seeds; of the onsets, those that there are. */
    c.measure.text = "3 * off.deadlocked + off.deadlock.onset / 1s * 100";
    c.published = 352;
    judge_claim(&paper, &c, &options, &set, &j);
    assert_int_equal(j.found, VERDICT_HOLDS);
    judge_fini(&j);
    c.direction.text = "on.deadlocked > off.deadlocked";
    judge_claim(&paper, &c, &options, &set, &j);
    assert_int_equal(j.found, VERDICT_FAILS);
    judge_fini(&j);
    c.experiment.n_seeds = 1;
    c.measure.text = "off.deadlock.onset / 1s";
    judge_claim(&paper, &c, &options, &set, &j);
    assert_true(j.measured.mean == 5);
    judge_fini(&j);
    c.measure.text = "on.deadlock.onset"; /* in no run */
    judge_claim(&paper, &c, &options, &set, &j);
    assert_int_equal(j.found, VERDICT_ERROR);
    assert_non_null(strstr(j.err.message, "there was no deadlock"));
}

static void distributions(void **state)
{
    (void)state;
    struct run runs[6];
    struct run_set set = deadlock_set(runs);
    struct drawing d;
    struct figure_series series[] = {{.name = "a", .value = {"off.deadlock.onset", {1, 1}}},
                                     {.name = "b", .value = {"on.deadlock.onset", {1, 1}}},
                                     {.name = "c", .value = {"off.deadlocked", {1, 1}}}};
    struct figure f = {.id = "f",
                       .kind = FIGURE_CDF,
                       .scale = 1,
                       .experiment = {.n_seeds = 3},
                       .series = series,
                       .n_series = 3};
    judge_figure(&paper, &f, &options, &set, &d);
    assert_int_equal(d.state, VERDICT_HOLDS);
    assert_true(d.n_seeds == 3 && d.n_series == 3);
    const struct drawn_series *s = d.series;
    assert_true(s[0].n_values == 2 && s[0].n_points == 2);
    assert_true(s[0].points[0].x == 2 && s[0].points[0].y == 1.0 / 3);
    assert_true(s[0].points[1].x == 5 && s[0].points[1].y == 2.0 / 3);
    assert_true(s[1].n_values == 0 && s[1].n_points == 0);
    /* Equal values are one step. */
    assert_true(s[2].n_values == 3 && s[2].n_points == 2);
    assert_true(s[2].points[0].x == 0 && s[2].points[0].y == 1.0 / 3);
    assert_true(s[2].points[1].x == 1 && s[2].points[1].y == 1);
    drawing_fini(&d);

    /* What is wrong is not taken for absent. */
    static const char *const wrong[] = {"off.deadlock.onzet", "of.deadlock.onset",
                                        "1 / off.deadlocked", "deadlocked"};
    for (size_t i = 0; i < 4; i++) {
        series[1].value.text = wrong[i];
        judge_figure(&paper, &f, &options, &set, &d);
        assert_true(d.state == VERDICT_ERROR && d.is_bad_input && !d.series);
        assert_string_equal(d.err.subject, "f: value");
        assert_int_equal(d.err.line, 1);
    }
}

static void check_refused(struct figure *f, const struct run_set *set, const char *subject,
                          int column, const char *part)
{
    struct drawing d;
    judge_figure(&paper, f, &options, set, &d);
    assert_true(d.state == VERDICT_ERROR && d.is_bad_input && !d.series);
    assert_string_equal(d.err.subject, subject);
    assert_string_equal(d.err.file, "d/claims.yaml");
    assert_true(d.err.line == 1 && d.err.column == column);
    if (!strstr(d.err.message, part))
        fail_msg("%s", d.err.message);
}

/* Distributions that runs have: those of the seeds are added, and one seed has none. Of 8 values, 1
 * is up to 0.25, 4 up to 0.5, 2 up to 0.75 and 1 up to 1. */
static void distributions_of_runs(void **state)
{
    (void)state;
    struct run runs[6];
    struct run_set set = deadlock_set(runs);
    struct drawing d;
    struct figure_series series = {
        .name = "a", .variant = {"off", {1, 2}}, .distribution = {"maxima", {1, 6}}};
    struct figure f = {.id = "f",
                       .kind = FIGURE_CDF,
                       .scale = 100,
                       .experiment = {.n_seeds = 3},
                       .series = &series,
                       .n_series = 1};
    judge_figure(&paper, &f, &options, &set, &d);
    assert_int_equal(d.state, VERDICT_HOLDS);
    assert_int_equal(d.series[0].n_points, 4);
    static const double shares[] = {1 / 8., 5 / 8., 7 / 8., 1};
    for (uint32_t i = 0; i < 4; i++)
        assert_true(d.series[0].points[i].x == 25 * (i + 1) &&
                    d.series[0].points[i].y == shares[i]);
    drawing_fini(&d);
    f.experiment.n_seeds = 1;
    judge_figure(&paper, &f, &options, &set, &d);
    assert_true(d.series[0].n_points == 3 && d.series[0].points[0].y == 1 / 3.);
    drawing_fini(&d);

    series.distribution.text = "maximum";
    check_refused(&f, &set, "f: distribution", 6, "no run has it; the first has maxima");
    series.variant.text = "on";
    check_refused(&f, &set, "f: distribution", 6, "no run has it; the first has none");
    series.variant.text = "of";
    check_refused(&f, &set, "f: variant", 2, "no variant is called so; the scenario has off, on");
}

static void over_time(void **state)
{
    (void)state;
    struct run runs[6];
    struct run_set set = deadlock_set(runs);
    struct drawing d;
    for (uint32_t i = 0; i < 5000; i++)
        good_values[i] = i % 100;
    good_values[1234] = -3, good_values[3210] = 1000;
    struct figure_series series[] = {
        {.name = "a", .variant = {"off", {1, 2}}, .curve = {"F0", {1, 6}}},
        {.name = "b", .variant = {"on", {1, 2}}, .curve = {"F0", {1, 6}}}};
    struct figure f = {.id = "f",
                       .kind = FIGURE_TIME,
                       .x_unit = XOFF_US,
                       .scale = 0.5,
                       .experiment = {.n_seeds = 1},
                       .series = series,
                       .n_series = 2};
    const struct run_options many = {.n_seeds = 3};
    runs[2].state = RUN_BROKEN; /* of a seed that is not drawn */
    judge_figure(&paper, &f, &many, &set, &d);
    assert_int_equal(d.state, VERDICT_HOLDS);
    assert_true(d.n_seeds == 1 && d.n_series == 2 && d.series[0].n_points == 3);
    for (uint32_t i = 0; i < 3; i++)
        assert_true(d.series[0].points[i].x == 20 + 10 * i &&
                    d.series[0].points[i].y == bad_values[i] / 2);
    /* Reduced: in order, within the limit, with every extreme in its place. */
    const struct drawn_series *s = &d.series[1];
    bool has_least = false, has_most = false;
    assert_in_range(s->n_points, DRAWING_MAX_POINTS / 2, DRAWING_MAX_POINTS);
    for (uint32_t i = 0; i < s->n_points; i++) {
        assert_true(!i || s->points[i].x > s->points[i - 1].x);
        has_least |= s->points[i].x == 1235 && s->points[i].y == -1.5;
        has_most |= s->points[i].x == 3211 && s->points[i].y == 500;
    }
    assert_true(has_least && has_most);
    drawing_fini(&d);

    series[0].curve.text = "F2";
    check_refused(&f, &set, "f: curve", 6, "no curve is called so; the scenario has F0, F1");
    series[0].variant.text = "of";
    check_refused(&f, &set, "f: variant", 2, "no variant is called so; the scenario has off, on");
    series[0].variant = (struct expression){0};
    check_refused(&f, &set, "f: variant", 6, "missing; the scenario has off, on");
    set.n_variants = 1; /* one that has a name need not be named */
    series[0].curve.text = "F0";
    f.n_series = 1;
    judge_figure(&paper, &f, &options, &set, &d);
    assert_true(d.state == VERDICT_HOLDS && d.series[0].n_points == 3);
    drawing_fini(&d);
    struct results alone = {.variant = ""};
    set.variants = &alone;
    series[0].variant = (struct expression){"off", {1, 2}};
    check_refused(&f, &set, "f: variant", 2, "the scenario has no variants");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tolerance_absolute),
        cmocka_unit_test(tolerance_relative),
        cmocka_unit_test(directions),
        cmocka_unit_test(recorded),
        cmocka_unit_test(whole_claims),
        cmocka_unit_test(not_run),
        cmocka_unit_test(errors),
        cmocka_unit_test(figures),
        cmocka_unit_test(medians),
        cmocka_unit_test(averages),
        cmocka_unit_test(distributions),
        cmocka_unit_test(distributions_of_runs),
        cmocka_unit_test(over_time),
    };
    return cmocka_run_group_tests_name("judge", tests, NULL, NULL);
}
