/* Verdicts (judge.h): expressions over the results of every seed, then a few comparisons.
 *
 * A claim holds when the mean over seeds is within the tolerance of the published number and its
 * comparison, if it has one, holds in every seed. If only the comparison does, it holds in
 * direction only. A claim without a published number is its comparison: it holds or it does not.
 */
#include <stdlib.h>
#include <string.h>

#include "reproduce/judge.h"

/* What rounding may add to a difference of two figures, as a part of the larger. */
#define ROUNDING 1e-12

static double magnitude(double x)
{
    return x < 0 ? -x : x;
}

struct spread spread_of(const double *values, uint32_t n)
{
    struct spread s = {values[0], values[0], values[0]};
    double sum = 0;
    for (uint32_t i = 0; i < n; i++) {
        sum += values[i];
        s.min = values[i] < s.min ? values[i] : s.min;
        s.max = values[i] > s.max ? values[i] : s.max;
    }
    /* Equal values have themselves as their mean, whatever rounding does to their sum. */
    if (s.min < s.max)
        s.mean = sum / n;
    return s;
}

enum verdict judge_values(const struct claim *claim, double mean, bool direction_holds)
{
    if (!claim->has_published)
        return direction_holds ? VERDICT_HOLDS : VERDICT_FAILS;
    const double published = magnitude(claim->published), measured = magnitude(mean);
    const double rounding = ROUNDING * (published > measured ? published : measured);
    const double tolerance =
        claim->is_tolerance_relative ? claim->tolerance * published : claim->tolerance;
    const bool is_near = magnitude(mean - claim->published) <= tolerance + rounding;
    if (!claim->direction.text)
        return is_near ? VERDICT_HOLDS : VERDICT_FAILS;
    /* A number that comes out for the wrong reason does not hold. */
    if (!direction_holds)
        return VERDICT_FAILS;
    return is_near ? VERDICT_HOLDS : VERDICT_DIRECTION;
}

void judge_recorded(const struct claim *claim, struct judgement *j)
{
    const bool is_judged = j->found <= VERDICT_FAILS && claim->recorded <= VERDICT_FAILS;
    j->is_worse = is_judged && j->found > claim->recorded;
    j->is_better = is_judged && j->found < claim->recorded;
}

/* Gives an error of an expression its place in claims.yaml. */
static void locate(const struct paper *paper, const char *id, const char *key,
                   const struct expression *expression, struct xoff_err *err)
{
    claims_locate(paper, expression, err);
    snprintf(err->subject, sizeof err->subject, "%.64s: %s", id, key);
}

/* The value of an expression with each of the first n seeds. */
static int compute(const struct run_set *set, const char *text, uint32_t n_seeds, double *values,
                   struct xoff_err *err)
{
    int rc = 0;
    for (uint32_t i = 0; i < n_seeds && !rc; i++)
        rc = expect_compute(text, set->results,
                            (const struct summary *const *)set->summaries + i * set->n_variants,
                            set->n_variants, &values[i], err);
    return rc;
}

static int compare(const struct run_set *set, const char *text, struct judgement *j)
{
    int rc = 0;
    j->has_direction = j->direction_holds = true;
    for (uint32_t i = 0; i < j->n_seeds && !rc && j->direction_holds; i++)
        rc = expect_evaluate(text, set->results,
                             (const struct summary *const *)set->summaries + i * set->n_variants,
                             set->n_variants, &j->direction_holds, j->direction_detail,
                             sizeof j->direction_detail, &j->err);
    return rc;
}

/* Measures and compares; on an error err has its place. */
static int test(const struct paper *paper, const struct claim *claim, const struct run_set *set,
                struct judgement *j)
{
    const struct expression *at = &claim->measure;
    const char *key = "measure";
    int rc = 0;
    if (claim->measure.text) {
        j->values = calloc(j->n_seeds, sizeof *j->values);
        XOFF_ASSERT(j->values);
        rc = compute(set, claim->measure.text, j->n_seeds, j->values, &j->err);
    }
    if (!rc && claim->direction.text) {
        at = &claim->direction;
        key = "direction";
        rc = compare(set, claim->direction.text, j);
    }
    if (rc)
        locate(paper, claim->id, key, at, &j->err);
    return rc;
}

void judge_claim(const struct paper *paper, const struct claim *claim,
                 const struct run_options *options, const struct run_set *set,
                 struct judgement *out)
{
    *out = (struct judgement){0};
    if (claim->recorded == VERDICT_UNTESTABLE || !set) {
        out->found = claim->recorded == VERDICT_UNTESTABLE ? VERDICT_UNTESTABLE : VERDICT_LEFT_OUT;
        return;
    }
    out->n_seeds = runs_n_seeds(options, &claim->experiment);
    const struct xoff_err *err = runs_error(set, out->n_seeds, &out->is_bad_input);
    if (err) {
        out->err = *err;
        out->found = VERDICT_ERROR;
        return;
    }
    if (test(paper, claim, set, out)) {
        judge_fini(out);
        out->is_bad_input = true;
        out->found = VERDICT_ERROR;
        return;
    }
    if (out->values)
        out->measured = spread_of(out->values, out->n_seeds);
    out->found = judge_values(claim, out->measured.mean, out->direction_holds);
    judge_recorded(claim, out);
}

void judge_fini(struct judgement *judgement)
{
    free(judgement->values);
    judgement->values = NULL;
}

/* All points of the figure; on an error err has its place. */
static int draw(const struct paper *paper, const struct figure *figure, const struct run_set *set,
                struct drawing *out)
{
    double *values = calloc(out->n_seeds, sizeof *values);
    uint32_t n_points = 0;
    int rc = 0;
    for (uint32_t s = 0; s < figure->n_series; s++)
        n_points += figure->series[s].n_points;
    out->points = calloc(n_points + 1, sizeof *out->points);
    XOFF_ASSERT(values && out->points);
    struct spread *point = out->points;
    for (uint32_t s = 0; s < figure->n_series && !rc; s++)
        for (uint32_t i = 0; i < figure->series[s].n_points && !rc; i++) {
            const struct expression *value = &figure->series[s].points[i].value;
            rc = compute(set, value->text, out->n_seeds, values, &out->err);
            if (rc)
                locate(paper, figure->id, "value", value, &out->err);
            else
                *point++ = spread_of(values, out->n_seeds);
        }
    free(values);
    return rc;
}

void judge_figure(const struct paper *paper, const struct figure *figure,
                  const struct run_options *options, const struct run_set *set, struct drawing *out)
{
    *out = (struct drawing){.state = VERDICT_LEFT_OUT};
    if (!set)
        return;
    out->n_seeds = runs_n_seeds(options, &figure->experiment);
    const struct xoff_err *err = runs_error(set, out->n_seeds, &out->is_bad_input);
    out->state = VERDICT_HOLDS;
    if (err) {
        out->err = *err;
        out->state = VERDICT_ERROR;
    } else if (draw(paper, figure, set, out)) {
        drawing_fini(out);
        out->is_bad_input = true;
        out->state = VERDICT_ERROR;
    }
}

void drawing_fini(struct drawing *drawing)
{
    free(drawing->points);
    drawing->points = NULL;
}
