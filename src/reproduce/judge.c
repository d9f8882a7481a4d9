/* Verdicts (judge.h): expressions over the results of every seed, then a few comparisons.
 *
 * A claim holds when the mean (or median) over seeds is within the tolerance of the published
 * number and its comparison, if it has one, holds in every seed. If only the comparison holds, the
 * claim holds in direction only. A claim without a published number is judged by its comparison
 * alone. A claim may have the metrics averaged over seeds instead: expression and comparison are
 * then computed once, as if for one run.
 */
#include <stdlib.h>
#include <string.h>

#include "reproduce/judge.h"

/* Largest relative rounding error in a difference of two figures. */
#define ROUNDING 1e-12

static double magnitude(double x)
{
    return x < 0 ? -x : x;
}

static int compare_values(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Of an even number the mean of the two in the middle. */
static double median_of(const double *values, uint32_t n)
{
    double *sorted = malloc(n * sizeof *sorted);
    XOFF_ASSERT(sorted);
    memcpy(sorted, values, n * sizeof *sorted);
    qsort(sorted, n, sizeof *sorted, compare_values);
    const double low = sorted[(n - 1) / 2], high = sorted[n / 2];
    free(sorted);
    return low < high ? (low + high) / 2 : low;
}

struct spread judge_spread(const struct claim *claim, const double *values, uint32_t n)
{
    struct spread s = spread_of(values, n);
    if (claim->average == AVERAGE_MEDIAN)
        s.mean = median_of(values, n);
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
    /* A number that is right for the wrong reason does not hold. */
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

void judge_locate(const struct paper *paper, const char *id, const char *key,
                  const struct expression *expression, struct xoff_err *err)
{
    claims_locate(paper, expression, err);
    snprintf(err->subject, sizeof err->subject, "%.64s: %s", id, key);
}

static const struct summary *const *summaries_of(const struct run_set *set, uint32_t seed)
{
    return (const struct summary *const *)set->summaries + seed * set->n_variants;
}

int judge_compute(const struct run_set *set, const char *text, uint32_t seed, double *value,
                  struct xoff_err *err)
{
    return expect_compute(text, set->results, summaries_of(set, seed), set->n_variants, value, err);
}

/* Adds the mean of a metric over the seeds that have it, from the first that does. */
static void add_mean(const struct run_set *set, uint32_t variant, uint32_t n_seeds, uint32_t first,
                     const struct metric *metric, double *values, struct summary *mean)
{
    uint32_t n = 0;
    for (uint32_t i = first; i < n_seeds; i++) {
        const struct metric *m = summary_find(summaries_of(set, i)[variant], metric->name);
        if (m)
            values[n++] = m->value;
    }
    mean->metrics[mean->n_metrics] = *metric;
    mean->metrics[mean->n_metrics++].value = spread_of(values, n).mean;
}

/* Makes a run whose metrics are the means over the first n seeds. A seed without a metric is left
 * out of that metric's mean. */
static struct summary *mean_of(const struct run_set *set, uint32_t variant, uint32_t n_seeds)
{
    uint32_t most = 0;
    for (uint32_t i = 0; i < n_seeds; i++)
        most += summaries_of(set, i)[variant]->n_metrics;
    struct summary *mean = calloc(1, sizeof *mean);
    double *values = calloc(n_seeds, sizeof *values);
    XOFF_ASSERT(mean && values);
    mean->metrics = calloc(most + 1, sizeof *mean->metrics);
    XOFF_ASSERT(mean->metrics);
    for (uint32_t i = 0; i < n_seeds; i++) {
        const struct summary *s = summaries_of(set, i)[variant];
        for (uint32_t k = 0; k < s->n_metrics; k++)
            if (!summary_find(mean, s->metrics[k].name))
                add_mean(set, variant, n_seeds, i, &s->metrics[k], values, mean);
    }
    free(values);
    return mean;
}

static int compute(const struct run_set *set, const char *text, struct judgement *j)
{
    int rc = 0;
    for (uint32_t i = 0; i < j->n_values && !rc; i++)
        rc = judge_compute(set, text, i, &j->values[i], &j->err);
    return rc;
}

static int compare(const struct run_set *set, const char *text, struct judgement *j)
{
    int rc = 0;
    j->has_direction = j->direction_holds = true;
    for (uint32_t i = 0; i < j->n_values && !rc && j->direction_holds; i++)
        rc = expect_evaluate(text, set->results, summaries_of(set, i), set->n_variants,
                             &j->direction_holds, j->direction_detail, sizeof j->direction_detail,
                             &j->err);
    return rc;
}

/* Measures and compares for every seed; on an error err has its place. */
static int test(const struct paper *paper, const struct claim *claim, const struct run_set *set,
                struct judgement *j)
{
    const struct expression *at = &claim->measure;
    const char *key = "measure";
    int rc = 0;
    if (claim->measure.text) {
        j->values = calloc(j->n_values, sizeof *j->values);
        XOFF_ASSERT(j->values);
        rc = compute(set, claim->measure.text, j);
    }
    if (!rc && claim->direction.text) {
        at = &claim->direction;
        key = "direction";
        rc = compare(set, claim->direction.text, j);
    }
    if (rc)
        judge_locate(paper, claim->id, key, at, &j->err);
    return rc;
}

/* Measures and compares once, on the means of the metrics as if they were a run. */
static int test_means(const struct paper *paper, const struct claim *claim,
                      const struct run_set *set, struct judgement *j)
{
    struct run_set one = *set;
    one.summaries = calloc(set->n_variants, sizeof *one.summaries);
    XOFF_ASSERT(one.summaries);
    for (uint32_t i = 0; i < set->n_variants; i++)
        one.summaries[i] = mean_of(set, i, j->n_seeds);
    j->n_values = 1;
    const int rc = test(paper, claim, &one, j);
    for (uint32_t i = 0; i < set->n_variants; i++)
        summary_destroy(one.summaries[i]);
    free(one.summaries);
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
    out->n_values = out->n_seeds;
    if (claim->average == AVERAGE_METRICS ? test_means(paper, claim, set, out)
                                          : test(paper, claim, set, out)) {
        judge_fini(out);
        out->is_bad_input = true;
        out->found = VERDICT_ERROR;
        return;
    }
    if (out->values)
        out->measured = judge_spread(claim, out->values, out->n_values);
    out->found = judge_values(claim, out->measured.mean, out->direction_holds);
    judge_recorded(claim, out);
}

void judge_fini(struct judgement *judgement)
{
    free(judgement->values);
    judgement->values = NULL;
}
