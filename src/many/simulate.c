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

static struct summary *run_plan(const struct plan *plan, struct xoff_err *err)
{
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
    struct summary *summary = take(summary_create(results));
    summary->digest = results->digest;
    net_free_results(results);
    build_destroy(built);
    free(names);
    return summary;
}

struct summary *simulate_run(const struct simulation *s, struct xoff_err *err)
{
    struct scenario *scenario;
    char seed[24];
    struct plan_setting *settings = take(calloc(s->n_settings + 1, sizeof *settings));
    if (s->n_settings)
        memcpy(settings, s->settings, s->n_settings * sizeof *settings);
    snprintf(seed, sizeof seed, "%llu", (unsigned long long)s->seed);
    settings[s->n_settings] = (struct plan_setting){"seed", seed};
    struct summary *summary = NULL;
    if (!scenario_read_text(s->file, s->text, s->size, settings, s->n_settings + 1, &scenario,
                            err)) {
        summary = run_plan(scenario->plans[s->variant], err);
        scenario_destroy(scenario);
    }
    free(settings);
    return summary;
}
