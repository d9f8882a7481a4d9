/* Verdicts of the runs of a sweep, as `xoff run` comes to them (sweep.h).
 *
 * A run fails for a trouble that no expectation covers, which the process that simulated it has
 * noted among its findings (stats/verdict.c), and for expectations that do not hold. One that names
 * variants is about all of them with one seed: it is tested where all have a run that is done, and
 * fails those that it names. One about a variant that the sweep leaves out is not tested.
 */
#include <stdlib.h>
#include <string.h>

#include "sweep/sweep.h"

static void *take(void *memory)
{
    XOFF_ASSERT(memory);
    return memory;
}

static bool is_chosen(const struct sweep *s, const char *variant)
{
    uint32_t i = 0;
    while (i < s->n_variants && strcmp(s->variants[i], variant))
        i++;
    return i < s->n_variants;
}

void sweep_keep_expects(struct sweep *s, const struct scenario *scenario)
{
    s->expects = take(calloc(scenario->n_expects + 1, sizeof *s->expects));
    for (uint32_t i = 0; i < scenario->n_expects; i++) {
        const char *text = scenario->expects[i].text;
        bool is_left_out = false;
        for (uint32_t p = 0; p < scenario->n_plans; p++)
            is_left_out |= !is_chosen(s, scenario->plans[p]->variant) &&
                           expect_names_variant(text, scenario->plans[p]->variant);
        if (!is_left_out)
            s->expects[s->n_expects++] = take(strdup(text));
    }
    s->cached_as = take(strdup("sweep"));
    for (uint32_t i = 0; i < s->n_variants && s->n_expects < scenario->n_expects; i++) {
        char *old = s->cached_as;
        XOFF_ASSERT(asprintf(&s->cached_as, "%s %s", old, s->variants[i]) >= 0);
        free(old);
    }
}

/* Notes why a run failed. `what` is the reason without the run's figures, `length` bytes of it. */
static void note(struct sweep *s, struct sweep_cell *cell, uint32_t seed, const char *what,
                 size_t length, const char *why)
{
    char **text = &cell->whys[seed], *old = *text;
    uint32_t i = 0;
    cell->n_unexpected += !old;
    s->n_unexpected += !old;
    XOFF_ASSERT(asprintf(text, "%s%s%s", old ? old : "", old ? "; " : "", why) >= 0);
    free(old);
    while (i < s->n_reasons &&
           (strncmp(s->reasons[i].what, what, length) || s->reasons[i].what[length]))
        i++;
    if (i == s->n_reasons) {
        s->reasons = take(realloc(s->reasons, (i + 1) * sizeof *s->reasons));
        s->reasons[s->n_reasons++] = (struct sweep_reason){.what = take(strndup(what, length)),
                                                           .why = take(strdup(why)),
                                                           .cell = cell,
                                                           .seed = seed};
    }
    s->reasons[i].n_runs++;
}

/* A finding is "what: figures, and no expectation speaks of them". */
static size_t length_of_reason(const char *finding)
{
    const char *end = strstr(finding, ", and no expectation");
    const size_t colon = strcspn(finding, ":");
    return end && (size_t)(end - finding) < colon ? (size_t)(end - finding) : colon;
}

static bool is_done(const struct sweep_cell *cell, uint32_t seed)
{
    return seed < cell->n_runs && cell->runs[seed].state == RUN_DONE;
}

/* Tests an expectation with n runs of one point and seed, and notes it with those that it is
 * about. */
static void test(struct sweep *s, const char *expect, struct sweep_cell *cells, uint32_t n,
                 uint32_t seed)
{
    const struct results **results = take(calloc(n, sizeof *results));
    struct results *names = take(calloc(n, sizeof *names));
    const struct summary **summaries = take(calloc(n, sizeof *summaries));
    char detail[512], *why;
    struct xoff_err err = {0};
    bool holds = false;
    for (uint32_t i = 0; i < n; i++) {
        names[i].variant = s->variants[cells[i].variant];
        results[i] = &names[i];
        summaries[i] = cells[i].runs[seed].summary;
    }
    const bool is_wrong =
        expect_evaluate(expect, results, summaries, n, &holds, detail, sizeof detail, &err);
    if (is_wrong || !holds) {
        XOFF_ASSERT(
            asprintf(&why, "expected %s, but %s", expect, is_wrong ? err.message : detail) >= 0);
        for (uint32_t i = 0; i < n; i++)
            if (n == 1 || expect_names_variant(expect, names[i].variant))
                note(s, &cells[i], seed, expect, strlen(expect), why);
        free(why);
    }
    free(summaries);
    free(names);
    free(results);
}

static void judge_alone(struct sweep *s, struct sweep_cell *cell, uint32_t seed)
{
    const struct summary *summary = cell->runs[seed].summary;
    for (uint32_t i = 0; i < summary->n_findings; i++) {
        const char *text = summary->findings[i].text;
        note(s, cell, seed, text, length_of_reason(text), text);
    }
    for (uint32_t e = 0; e < s->n_expects; e++) {
        bool is_of_variants = false;
        for (uint32_t v = 0; v < s->n_variants && s->n_variants > 1; v++)
            is_of_variants |= expect_names_variant(s->expects[e], s->variants[v]);
        if (!is_of_variants)
            test(s, s->expects[e], cell, 1, seed);
    }
}

/* Tests what compares the variants of a point. */
static void judge_point(struct sweep *s, struct sweep_cell *cells, uint32_t seed)
{
    for (uint32_t v = 0; v < s->n_variants; v++)
        if (!is_done(&cells[v], seed))
            return;
    for (uint32_t e = 0; e < s->n_expects; e++)
        for (uint32_t v = 0; v < s->n_variants; v++)
            if (expect_names_variant(s->expects[e], s->variants[v])) {
                test(s, s->expects[e], cells, s->n_variants, seed);
                break;
            }
}

void sweep_judge(struct sweep *s)
{
    for (uint32_t i = 0; i < s->n_cells; i++) {
        struct sweep_cell *cell = &s->cells[i];
        cell->whys = take(calloc(cell->n_runs + 1, sizeof *cell->whys));
        for (uint32_t k = 0; k < cell->n_runs; k++)
            if (is_done(cell, k))
                judge_alone(s, cell, k);
    }
    for (uint32_t i = 0; i < s->n_cells && s->n_variants > 1; i += s->n_variants)
        for (uint32_t k = 0; k < s->cells[i].n_runs; k++)
            judge_point(s, &s->cells[i], k);
}

const char *sweep_verdict(const struct sweep_cell *cell, uint32_t seed, const char **why)
{
    const struct run *run = &cell->runs[seed];
    *why = run->state != RUN_DONE ? run->err.message : cell->whys[seed] ? cell->whys[seed] : "";
    return run->state != RUN_DONE || cell->whys[seed] ? "failed" : "passed";
}

void sweep_forget_verdicts(struct sweep *s)
{
    for (uint32_t i = 0; i < s->n_cells; i++) {
        for (uint32_t k = 0; k < s->cells[i].n_runs && s->cells[i].whys; k++)
            free(s->cells[i].whys[k]);
        free(s->cells[i].whys);
    }
    for (uint32_t i = 0; i < s->n_reasons; i++) {
        free(s->reasons[i].what);
        free(s->reasons[i].why);
    }
    for (uint32_t i = 0; i < s->n_expects; i++)
        free(s->expects[i]);
    free(s->reasons);
    free(s->expects);
    free(s->cached_as);
}
