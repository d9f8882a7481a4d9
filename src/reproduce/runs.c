/* Sets of runs (runs.h). */
#include "reproduce/runs.h"

#include <stdlib.h>
#include <string.h>

#include "many/simulate.h"
#include "traffic/words.h"

#define QUICK_SEEDS 2

uint32_t runs_n_seeds(const struct run_options *o, const struct experiment *e)
{
    if (o->n_seeds)
        return o->n_seeds;
    return o->is_quick && e->n_seeds > QUICK_SEEDS ? QUICK_SEEDS : e->n_seeds;
}

static void *take(void *memory)
{
    XOFF_ASSERT(memory);
    return memory;
}

static bool has_settings(const struct run_set *set, const struct plan_setting *settings, uint32_t n)
{
    if (set->n_settings != n)
        return false;
    for (uint32_t i = 0; i < n; i++)
        if (strcmp(set->settings[i].key, settings[i].key) ||
            strcmp(set->settings[i].value, settings[i].value))
            return false;
    return true;
}

/* Gives an error in a setting of `quick:` its place there. */
static void locate_quick(struct run_set *set, const struct paper *paper, const struct experiment *e)
{
    struct xoff_err *err = &set->err;
    for (uint32_t i = 0; i < e->n_quick && !err->file[0]; i++) {
        char subject[sizeof err->subject];
        snprintf(subject, sizeof subject, "--set %s", e->quick[i].key);
        if (strcmp(err->subject, subject))
            continue;
        snprintf(err->subject, sizeof err->subject, "quick.%s", e->quick[i].key);
        snprintf(err->file, sizeof err->file, "%s", paper->file);
        err->line = e->quick_place.line;
        err->column = e->quick_place.column;
    }
}

/* Reads the scenario for the names of its variants and its seed. */
static int open_set(struct run_set *set, const struct paper *paper, const struct experiment *e)
{
    struct scenario *scenario;
    if (words_load(set->file, "scenario", &set->text, &set->size, &set->err)) {
        char message[sizeof set->err.message];
        snprintf(message, sizeof message, "%.128s %.200s", set->file, set->err.message);
        set->err.line = e->place.line;
        set->err.column = e->place.column;
        snprintf(set->err.file, sizeof set->err.file, "%s", paper->file);
        return xoff_err_set(&set->err, set->err.code, "scenario", NULL, message);
    }
    const int rc = scenario_read_text(set->file, set->text, set->size, set->settings,
                                      set->n_settings, &scenario, &set->err);
    if (rc) {
        locate_quick(set, paper, e);
        return rc;
    }
    set->first_seed = scenario->plans[0]->net.seed;
    set->n_variants = scenario->n_plans;
    set->variants = take(calloc(set->n_variants, sizeof *set->variants));
    set->results = take(calloc(set->n_variants, sizeof *set->results));
    for (uint32_t i = 0; i < set->n_variants; i++) {
        set->variants[i].variant = take(strdup(scenario->plans[i]->variant));
        set->results[i] = &set->variants[i];
    }
    scenario_destroy(scenario);
    return 0;
}

static void add_seeds(struct runs *runs, struct run_set *set, uint32_t n_seeds)
{
    if (set->state == RUN_BAD_INPUT || n_seeds <= set->n_seeds)
        return;
    const uint32_t old = set->n_seeds * set->n_variants, n = n_seeds * set->n_variants;
    set->runs = take(realloc(set->runs, n * sizeof *set->runs));
    set->summaries = take(realloc(set->summaries, n * sizeof *set->summaries));
    for (uint32_t i = old; i < n; i++) {
        set->runs[i] = (struct run){.file = set->file,
                                    .variant = set->variants[i % set->n_variants].variant,
                                    .seed = set->first_seed + i / set->n_variants};
        set->summaries[i] = NULL;
    }
    set->n_seeds = n_seeds;
    runs->n_runs += n - old;
}

uint32_t runs_add(struct runs *runs, const struct paper *paper, const struct experiment *e)
{
    const struct run_options *o = runs->options;
    const uint32_t n_quick = o->is_quick ? e->n_quick : 0, n_seeds = runs_n_seeds(o, e);
    char file[4096];
    struct plan_setting *settings = take(calloc(n_quick + o->n_settings + 1, sizeof *settings));
    for (uint32_t i = 0; i < n_quick; i++)
        settings[i] = e->quick[i];
    for (uint32_t i = 0; i < o->n_settings; i++)
        settings[n_quick + i] = o->settings[i];
    snprintf(file, sizeof file, "%s%s", paper->folder, e->scenario);
    uint32_t i = 0;
    while (i < runs->n_sets && (strcmp(runs->sets[i].file, file) ||
                                !has_settings(&runs->sets[i], settings, n_quick + o->n_settings)))
        i++;
    if (i < runs->n_sets) {
        free(settings);
    } else {
        runs->sets = take(realloc(runs->sets, (i + 1) * sizeof *runs->sets));
        struct run_set *set = &runs->sets[runs->n_sets++];
        *set = (struct run_set){.file = take(strdup(file)),
                                .settings = settings,
                                .n_settings = n_quick + o->n_settings};
        if (open_set(set, paper, e))
            set->state = RUN_BAD_INPUT;
    }
    add_seeds(runs, &runs->sets[i], n_seeds);
    return i;
}

/* The place of a run of the batch in its set. */
struct place {
    struct run_set *set;
    uint32_t index;
};

static struct summary *simulate_place(void *context, const struct run *run, struct xoff_err *err)
{
    const struct place *at = (const struct place *)context + run->number;
    const struct run_set *set = at->set;
    const struct simulation simulation = {.file = set->file,
                                          .text = set->text,
                                          .size = set->size,
                                          .settings = set->settings,
                                          .n_settings = set->n_settings,
                                          .seed = run->seed,
                                          .variant = at->index % set->n_variants};
    return simulate_run(&simulation, err);
}

static void name_run(const struct runs *runs, const struct run_set *set, struct run *run)
{
    const struct cache_subject subject = {.binary = runs->options->binary,
                                          .file = set->file,
                                          .text = set->text,
                                          .size = set->size,
                                          .settings = set->settings,
                                          .n_settings = set->n_settings,
                                          .seed = run->seed,
                                          .variant = run->variant,
                                          .by = "reproduce"};
    cache_key(&subject, run->key);
}

/* Takes over the figures. A run with figures is done, unless the audit found an error. */
static void settle(struct run_set *set, uint32_t index)
{
    struct run *run = &set->runs[index];
    const struct metric *findings = run->summary ? summary_find(run->summary, "findings") : NULL;
    set->summaries[index] = run->summary;
    if (findings && findings->value > 0)
        run_break(run, "has audit findings; see them with xoff run");
}

bool runs_go(struct runs *runs)
{
    const struct run_options *o = runs->options;
    struct place *places = take(calloc(runs->n_runs + 1, sizeof *places));
    struct batch batch = {.runs = take(calloc(runs->n_runs + 1, sizeof *batch.runs)),
                          .n_workers = o->n_workers,
                          .cache_folder = o->binary ? o->cache_folder : NULL,
                          .is_fresh = o->is_fresh,
                          .simulate = simulate_place,
                          .context = places,
                          .progress = o->progress,
                          .progress_context = o->progress_context};
    for (uint32_t s = 0; s < runs->n_sets; s++)
        for (uint32_t i = 0; i < runs->sets[s].n_seeds * runs->sets[s].n_variants; i++) {
            places[batch.n_runs] = (struct place){&runs->sets[s], i};
            runs->sets[s].runs[i].number = batch.n_runs;
            batch.runs[batch.n_runs++] = &runs->sets[s].runs[i];
            name_run(runs, &runs->sets[s], &runs->sets[s].runs[i]);
        }
    const bool is_whole = batch_go(&batch);
    for (uint32_t i = 0; i < batch.n_runs; i++)
        settle(places[i].set, places[i].index);
    runs->n_cached = batch.n_cached;
    runs->store_reason = batch.store_reason;
    free(batch.runs);
    free(places);
    return is_whole;
}

void runs_fini(struct runs *runs)
{
    for (uint32_t s = 0; s < runs->n_sets; s++) {
        struct run_set *set = &runs->sets[s];
        for (uint32_t i = 0; i < set->n_seeds * set->n_variants; i++)
            summary_destroy(set->summaries[i]);
        for (uint32_t i = 0; i < set->n_variants; i++)
            free((char *)set->variants[i].variant);
        free(set->variants);
        free(set->results);
        free(set->runs);
        free(set->summaries);
        free(set->settings);
        free(set->file);
        free(set->text);
    }
    free(runs->sets);
}

const struct xoff_err *runs_error(const struct run_set *set, uint32_t n_seeds, bool *is_bad_input)
{
    *is_bad_input = true;
    if (set->state == RUN_BAD_INPUT)
        return &set->err;
    for (uint32_t i = 0; i < n_seeds * set->n_variants; i++)
        if (set->runs[i].state != RUN_DONE) {
            *is_bad_input = set->runs[i].state == RUN_BAD_INPUT;
            return &set->runs[i].err;
        }
    return NULL;
}
