/* Runs a scenario with many seeds (run_seeds.h).
 *
 * The first seed is run by this process as xoff run does, and its results are kept whole: charts,
 * flows and pauses are those of the first seed. Of the other seeds the figures are kept. They are
 * run by a batch of workers; each does what xoff run --seed N would do, so its figures and its
 * digest are the same. Under mpirun the first seed is run by all ranks together; then they share
 * the others, each run at one rank, and the first rank makes the results. What ended before an
 * interruption is taken from the cache when the command is repeated.
 */
#include "cli/run_seeds.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "many/batch.h"

static void *take(void *memory)
{
    XOFF_ASSERT(memory);
    return memory;
}

/* In a worker: what xoff run --seed N does, up to the verdict. */
static struct summary *simulate(void *context, const struct run *other, struct xoff_err *err)
{
    const struct seeds_run *run = context;
    struct cli_options shared = *run->shared;
    struct cli_input input;
    struct cli_run done;
    char seed[24];
    /* Warnings were printed with the first seed, and the parent shows the progress. */
    if (!freopen("/dev/null", "w", stderr))
        _exit(EXIT_FAILED);
    cli_leave_ranks();
    snprintf(seed, sizeof seed, "%llu", (unsigned long long)other->seed);
    shared.settings[shared.n_settings - 1].value = seed;
    if (cli_read(&shared, run->file, &input, err) ||
        (run->n_variants && scenario_keep(input.scenario, run->variants, run->n_variants, err)))
        return NULL;
    const struct build_options options = {.n_threads = 1,
                                          .memory_bytes =
                                              shared.memory_bytes / run->options->n_jobs,
                                          .cell_bound = shared.cell_bound};
    if (cli_run_plan(input.scenario->plans[other->number], &options, &input, &done, err))
        return NULL;
    if (done.is_short) {
        xoff_err_set(err, XOFF_E_NO_MEMORY, "--memory", NULL,
                     "a run with another seed would take more memory than there is for each of "
                     "--jobs");
        return NULL;
    }
    if (done.results->interrupted) /* by a signal to the worker alone */
        _exit(EXIT_FAILED);
    const struct results *const results[] = {done.results};
    const struct summary *const summaries[] = {done.summary};
    cli_note_verdict(input.scenario, done.results, results, summaries, 1);
    done.summary->digest = done.results->digest;
    done.summary->findings = done.results->findings;
    done.summary->n_findings = done.results->n_findings;
    return done.summary;
}

static bool on_progress(void *context, uint32_t n_done, uint32_t n_runs)
{
    const double *began_s = context;
    if (cli_is_terminal(stderr)) {
        fprintf(stderr, "\rother seeds: %u of %u runs, %.0f s", n_done, n_runs,
                cli_clock() - *began_s);
        fprintf(stderr, n_done == n_runs ? "\r\033[K" : "\033[K");
    }
    return !cli_is_interrupted();
}

/* Names each run of the batch by all that its figures depend on. */
static void name_runs(const struct seeds_run *run, uint64_t binary, struct run *runs, uint32_t n)
{
    const struct scenario *s = run->scenario;
    const struct cli_options *o = run->shared;
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t plan = i % s->n_plans;
        runs[i] = (struct run){.file = s->file,
                               .variant = s->plans[plan]->variant,
                               .number = plan,
                               .seed = run->options->list[1 + i / s->n_plans]};
        const struct cache_subject subject = {.binary = binary,
                                              .file = s->file,
                                              .text = s->text,
                                              .size = strlen(s->text),
                                              .settings = o->settings,
                                              .n_settings = o->n_settings - 1,
                                              .seed = runs[i].seed,
                                              .variant = runs[i].variant,
                                              .by = o->is_ns3 ? "run ns3" : "run"};
        cache_key(&subject, runs[i].key);
    }
}

/* Prints the first error. Returns an exit status. */
static int settle(struct seeds_run *run, struct run *runs, uint32_t n)
{
    int status = EXIT_FINE;
    for (uint32_t i = 0; i < n; i++) {
        run->summaries[run->scenario->n_plans + i] = runs[i].summary;
        if (runs[i].state == RUN_DONE || status)
            continue;
        cli_print_error(&runs[i].err);
        status = runs[i].state == RUN_BAD_INPUT ? cli_status(&runs[i].err) : EXIT_FAILED;
    }
    return status;
}

static void attach(struct seeds_run *run, struct cli_run *firsts)
{
    const uint32_t n_plans = run->scenario->n_plans, n_seeds = run->options->n;
    const struct summary **own = take(calloc(n_seeds, sizeof *own));
    run->seeds = take(calloc(n_plans, sizeof *run->seeds));
    for (uint32_t p = 0; p < n_plans; p++) {
        for (uint32_t i = 0; i < n_seeds; i++)
            own[i] = run->summaries[i * n_plans + p];
        run->seeds[p] = seeds_create(run->options->list, own, n_seeds);
        firsts[p].results->seeds = run->seeds[p];
    }
    free(own);
}

int seeds_go(struct seeds_run *run, struct cli_run *firsts)
{
    const uint32_t n_plans = run->scenario->n_plans, n = (run->options->n - 1) * n_plans;
    char folder[4096];
    double began_s = cli_clock();
    const uint64_t binary = cache_binary("/proc/self/exe");
    struct run *runs = take(calloc(n + 1, sizeof *runs)),
               **list = take(calloc(n + 1, sizeof *list));
    struct batch_peers peers;
    struct batch batch = {.runs = list,
                          .n_runs = n,
                          .peers = cli_peers(&peers),
                          .n_workers = run->options->n_jobs,
                          .simulate = simulate,
                          .context = run,
                          .progress = on_progress,
                          .progress_context = &began_s};
    run->summaries = take(calloc((size_t)run->options->n * n_plans, sizeof *run->summaries));
    for (uint32_t p = 0; p < n_plans && cli_is_first(); p++) { /* the first rank has these */
        run->summaries[p] = firsts[p].summary;
        run->summaries[p]->digest = firsts[p].results->digest;
    }
    name_runs(run, binary, runs, n);
    for (uint32_t i = 0; i < n; i++)
        list[i] = &runs[i];
    if (binary && cache_default_folder(folder, sizeof folder))
        batch.cache_folder = folder;
    int status = EXIT_FAILED;
    if (batch_go(&batch)) {
        status = settle(run, runs, n);
    } else {
        fprintf(stderr, "%sinterrupted: nothing is written; repeat the command to go on\n",
                cli_is_terminal(stderr) ? "\r\033[K" : "");
        for (uint32_t i = 0; i < n; i++)
            summary_destroy(runs[i].summary);
    }
    if (!status && cli_is_first())
        attach(run, firsts);
    free(runs);
    free(list);
    return status;
}

/* Tests an expectation with every seed; `why` gets the values of the first that fails. */
static void test(const struct seeds_run *run, const struct results *const *results,
                 struct seed_expect *expect, char *why, size_t size)
{
    const uint32_t n_plans = run->scenario->n_plans;
    *why = '\0';
    for (uint32_t i = 0; i < run->options->n; i++) {
        char detail[256];
        struct xoff_err err = {0};
        const bool is_wrong = expect_evaluate(
            expect->text, results, (const struct summary *const *)run->summaries + i * n_plans,
            n_plans, &expect->holds[i], detail, sizeof detail, &err);
        expect->holds[i] &= !is_wrong;
        expect->n_holding += expect->holds[i];
        if (!expect->holds[i] && !*why)
            snprintf(why, size, "%s", is_wrong ? err.message : detail);
    }
}

int seeds_expect(struct seeds_run *run, struct cli_run *firsts, FILE *out)
{
    const struct cli_style *s = cli_style(out);
    const struct scenario *scenario = run->scenario;
    const uint32_t n_plans = scenario->n_plans, n_seeds = run->options->n;
    const struct results **results = take(calloc(n_plans, sizeof *results));
    int status = EXIT_FINE;
    run->expects = take(calloc(scenario->n_expects + 1, sizeof *run->expects));
    for (uint32_t p = 0; p < n_plans; p++)
        results[p] = firsts[p].results;
    for (uint32_t e = 0; e < scenario->n_expects; e++) {
        struct seed_expect *expect = &run->expects[e];
        char why[384], failed[128], outcome[640];
        *expect = (struct seed_expect){scenario->expects[e].text,
                                       take(calloc(n_seeds, sizeof *expect->holds)), 0};
        test(run, results, expect, why, sizeof why);
        const bool holds = expect->n_holding == n_seeds;
        if (holds)
            snprintf(outcome, sizeof outcome, "with all %u seeds", n_seeds);
        else
            snprintf(outcome, sizeof outcome, "it holds with %u of %u seeds, not with %s: %s",
                     expect->n_holding, n_seeds,
                     seeds_failed(run->seeds[0], expect, failed, sizeof failed), why);
        if (holds)
            fprintf(out, "%sholds%s %s: %s\n", s->green, s->off, outcome, expect->text);
        else
            fprintf(out, "%s%sfailed%s: expected %s, but %s\n", s->bold, s->red, s->off,
                    expect->text, outcome);
        for (uint32_t p = 0; p < n_plans; p++) {
            results_add_expectation(firsts[p].results, expect->text, holds, outcome);
            if (!holds)
                results_add_finding(firsts[p].results, "expected %s, but %s", expect->text,
                                    outcome);
        }
        status = holds ? status : EXIT_FAILED;
    }
    for (uint32_t p = 0; p < n_plans; p++) {
        run->seeds[p]->expects = run->expects;
        run->seeds[p]->n_expects = scenario->n_expects;
    }
    free(results);
    return status;
}

int seeds_audit(struct seeds_run *run, struct cli_run *firsts, FILE *out)
{
    const struct cli_style *s = cli_style(out);
    const uint32_t n_plans = run->scenario->n_plans;
    int status = EXIT_FINE;
    for (uint32_t i = n_plans; i < run->options->n * n_plans; i++)
        for (uint32_t k = 0; k < run->summaries[i]->n_findings; k++) {
            struct results *r = firsts[i % n_plans].results;
            const char *text = run->summaries[i]->findings[k].text;
            const unsigned long long seed = run->options->list[i / n_plans];
            fprintf(out, "%s%sfailed%s: %s%sseed %llu: %s\n", s->bold, s->red, s->off, r->variant,
                    *r->variant ? ", " : "", seed, text);
            results_add_finding(r, "seed %llu: %s", seed, text);
            status = EXIT_FAILED;
        }
    return status;
}

void seeds_fini(struct seeds_run *run)
{
    const uint32_t n_plans = run->scenario ? run->scenario->n_plans : 0;
    for (uint32_t i = n_plans; run->summaries && i < run->options->n * n_plans; i++)
        summary_destroy(run->summaries[i]);
    for (uint32_t i = 0; i < n_plans; i++)
        seeds_destroy(run->seeds ? run->seeds[i] : NULL);
    for (uint32_t i = 0; run->expects && i < run->scenario->n_expects; i++)
        free(run->expects[i].holds);
    free(run->summaries);
    free(run->seeds);
    free(run->expects);
}
