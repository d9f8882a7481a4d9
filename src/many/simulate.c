/* Reads, builds, runs and sums up (simulate.h). */
#include "many/simulate.h"

#include <stdlib.h>
#include <string.h>

#include "scenario/build.h"

static void *take(void *memory)
{
    XOFF_ASSERT(memory);
    return memory;
}

/* Adds troubles that no expectation covers to the findings, and hands these over. */
static void judge(const struct simulation *s, const struct scenario *scenario,
                  struct results *results, struct summary *summary)
{
    const struct results *const runs[] = {results};
    const struct summary *const summaries[] = {summary};
    const char **all = take(calloc(scenario->n_expects + 1, sizeof *all));
    for (uint32_t i = 0; i < scenario->n_expects; i++)
        all[i] = scenario->expects[i].text;
    verdict_note(results, runs, summaries, 1, s->expects ? s->expects : all,
                 s->expects ? s->n_expects : scenario->n_expects);
    free(all);
    summary->findings = results->findings;
    summary->n_findings = results->n_findings;
    results->findings = NULL;
    results->n_findings = 0;
}

static struct summary *run_plan(const struct simulation *s, const struct scenario *scenario,
                                struct xoff_err *err)
{
    const struct plan *plan = scenario->plans[s->variant];
    const struct build_options options = {.n_threads = 1, .cell_bound = XOFF_PARAM_AUTO};
    struct built *built;
    if (build_create(plan, &options, &built, err))
        return NULL;
    net_run(built->net);
    struct results *results = net_collect(built->net);
    const char **names = take(calloc(plan->n_traffic + 1, sizeof *names));
    for (uint32_t i = 0; i < plan->n_traffic; i++)
        names[i] = plan->traffic[i].name;
    results->tag_names = names;
    results->n_tags = plan->n_traffic;
    results->variant = plan->variant;
    struct summary *summary = take(summary_create(results));
    summary->digest = results->digest;
    judge(s, scenario, results, summary);
    net_free_results(results);
    build_destroy(built);
    free(names);
    return summary;
}

/* Reads the scenario with the settings and the seed. */
static int read_scenario(const struct simulation *s, struct scenario **scenario,
                         struct xoff_err *err)
{
    char seed[24];
    struct plan_setting *settings = take(calloc(s->n_settings + 1, sizeof *settings));
    if (s->n_settings)
        memcpy(settings, s->settings, s->n_settings * sizeof *settings);
    snprintf(seed, sizeof seed, "%llu", (unsigned long long)s->seed);
    settings[s->n_settings] = (struct plan_setting){"seed", seed};
    const int rc =
        scenario_read_text(s->file, s->text, s->size, settings, s->n_settings + 1, scenario, err);
    free(settings);
    return rc;
}

struct summary *simulate_run(const struct simulation *s, struct xoff_err *err)
{
    struct scenario *scenario;
    if (read_scenario(s, &scenario, err))
        return NULL;
    struct summary *summary = run_plan(s, scenario, err);
    scenario_destroy(scenario);
    return summary;
}

int simulate_check(const struct simulation *s, struct xoff_err *err)
{
    const struct build_options options = {.n_threads = 1, .cell_bound = XOFF_PARAM_AUTO};
    struct scenario *scenario;
    struct built *built;
    int rc = read_scenario(s, &scenario, err);
    if (rc)
        return rc;
    rc = build_create(scenario->plans[s->variant], &options, &built, err);
    if (!rc)
        build_destroy(built);
    scenario_destroy(scenario);
    return rc;
}
