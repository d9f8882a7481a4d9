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

static void spreads(void **state)
{
    (void)state;
    const double values[] = {3, 1, 5};
    const struct spread s = spread_of(values, 3);
    assert_true(s.mean == 3 && s.min == 1 && s.max == 5);
    const double equal[] = {0.1, 0.1, 0.1};
    assert_true(spread_of(equal, 3).mean == 0.1);
}

/* Two variants, two seeds: drops of "off" are 30 and 50 of 100 sent, those of "on" 0. */
static struct metric off_1[] = {{"drops", "frames", 30, ""}, {"sent", "B", 100, ""}};
static struct metric off_2[] = {{"drops", "frames", 50, ""}, {"sent", "B", 100, ""}};
static struct metric on_all[] = {{"drops", "frames", 0, ""}, {"sent", "B", 100, ""}};
static struct summary off_first = {off_1, 2}, off_second = {off_2, 2}, on_any = {on_all, 2};
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
    struct figure_series series[] = {{"off", off_points, 2}, {"on", on_points, 1}};
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tolerance_absolute),
        cmocka_unit_test(tolerance_relative),
        cmocka_unit_test(directions),
        cmocka_unit_test(recorded),
        cmocka_unit_test(spreads),
        cmocka_unit_test(whole_claims),
        cmocka_unit_test(not_run),
        cmocka_unit_test(errors),
        cmocka_unit_test(figures),
    };
    return cmocka_run_group_tests_name("judge", tests, NULL, NULL);
}
