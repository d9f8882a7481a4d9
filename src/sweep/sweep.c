/* Points, rounds of runs, and what they came to (sweep.h). */
#include "sweep/sweep.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "many/simulate.h"
#include "scenario/sections.h"

static void *take(void *memory)
{
    XOFF_ASSERT(memory);
    return memory;
}

/* The settings of a point: those of the file, of the command, then its own. The caller frees
 * them. */
static struct plan_setting *settings_of(const struct sweep *s, uint32_t point, uint32_t *n)
{
    const struct sweep_file *f = s->file;
    const struct sweep_options *o = s->options;
    struct plan_setting *list =
        take(calloc(f->n_set + o->n_settings + f->n_axes + 1, sizeof *list));
    *n = 0;
    for (uint32_t i = 0; i < f->n_set; i++)
        list[(*n)++] = f->set[i];
    for (uint32_t i = 0; i < o->n_settings; i++)
        list[(*n)++] = o->settings[i];
    for (uint32_t i = 0; i < f->n_axes; i++)
        list[(*n)++] = (struct plan_setting){f->axes[i].key, s->values[point * f->n_axes + i].text};
    return list;
}

static int read_point(const struct sweep *s, uint32_t point, struct scenario **out,
                      struct xoff_err *err)
{
    const struct sweep_file *f = s->file;
    uint32_t n;
    struct plan_setting *settings = settings_of(s, point, &n);
    const int rc = scenario_read_text(f->scenario_file, f->scenario_text, f->scenario_size,
                                      settings, n, out, err);
    if (rc)
        sweep_file_locate(f, s->values + point * f->n_axes, err);
    free(settings);
    return rc;
}

struct name_walk {
    const struct scenario *scenario;
    uint32_t next;
};

static const char *next_variant(void *state)
{
    struct name_walk *walk = state;
    return walk->next < walk->scenario->n_plans ? walk->scenario->plans[walk->next++]->variant
                                                : NULL;
}

static int find_variant(const struct sweep *s, const struct scenario *scenario,
                        const struct sweep_name *name, uint32_t *out, struct xoff_err *err)
{
    for (*out = 0; *out < scenario->n_plans; ++*out)
        if (!strcmp(scenario->plans[*out]->variant, name->text))
            return 0;
    struct name_walk walk = {scenario, 0};
    const char *near = nearest_word(name->text, next_variant, &walk);
    xoff_err_set(err, XOFF_E_UNKNOWN, "variants", name->text, "the scenario has no such variant");
    if (near && *near) {
        xoff_err_add(err, "; did you mean ");
        xoff_err_add(err, near);
        xoff_err_add(err, "?");
    }
    snprintf(err->file, sizeof err->file, "%s", s->file->file);
    err->line = name->place.line;
    err->column = name->place.column;
    return -XOFF_E_UNKNOWN;
}

static int choose_variants(struct sweep *s, const struct scenario *scenario, struct xoff_err *err)
{
    const struct sweep_names *chosen = &s->file->variants;
    const uint32_t n = chosen->n ? chosen->n : scenario->n_plans;
    s->variants = take(calloc(n, sizeof *s->variants));
    s->variant_numbers = take(calloc(n, sizeof *s->variant_numbers));
    for (uint32_t i = 0; i < n; i++) {
        uint32_t number = i;
        const int rc = chosen->n ? find_variant(s, scenario, &chosen->list[i], &number, err) : 0;
        if (rc)
            return rc;
        s->variant_numbers[i] = number;
        s->variants[s->n_variants++] = take(strdup(scenario->plans[number]->variant));
    }
    sweep_keep_expects(s, scenario);
    return 0;
}

/* Whether a point of a grid has the first value of every parameter but one: with these points each
 * value is seen once. */
static bool shows_a_value(const struct sweep *s, uint32_t point)
{
    uint32_t n_later = 0;
    for (uint32_t a = s->file->n_axes; a-- > 0; point /= s->file->axes[a].n_values)
        n_later += point % s->file->axes[a].n_values != 0;
    return n_later < 2;
}

/* Reads the scenario with every value, so that what is wrong is said before anything is run. What
 * is wrong with a combination is said of its runs. */
static int check_points(struct sweep *s, struct xoff_err *err)
{
    int rc = 0;
    for (uint32_t p = 0; p < s->n_points && !rc; p++) {
        struct scenario *scenario;
        if (!s->file->params.latin && !shows_a_value(s, p))
            continue;
        rc = read_point(s, p, &scenario, err);
        if (rc)
            return rc;
        if (!p)
            rc = choose_variants(s, scenario, err);
        for (uint32_t v = 0; v < s->n_variants && !rc; v++)
            sweep_add_words(s, scenario->plans[s->variant_numbers[v]]);
        scenario_destroy(scenario);
    }
    return rc;
}

static int check_options(const struct sweep *s, struct xoff_err *err)
{
    for (uint32_t i = 0; i < s->options->n_settings; i++) {
        const char *key = s->options->settings[i].key;
        if (sweep_file_axis(s->file, key))
            return xoff_err_set(err, XOFF_E_CONFLICT, "--set", key,
                                "the sweep varies this key; change its values in the file");
        if (!strcmp(key, "seed"))
            return xoff_err_set(err, XOFF_E_CONFLICT, "--set", key, "seeds are chosen by seeds:");
    }
    return 0;
}

int sweep_open(struct sweep *s, struct sweep_file *file, const struct sweep_options *options,
               struct xoff_err *err)
{
    *s = (struct sweep){.file = file, .options = options};
    *err = (struct xoff_err){0};
    s->values = sweep_points(file, &s->n_points);
    int rc = check_options(s, err);
    if (!rc)
        rc = check_points(s, err);
    if (!rc)
        rc = sweep_check_metrics(s, err);
    s->n_cells = rc ? 0 : s->n_points * s->n_variants;
    s->cells = take(calloc(s->n_cells + 1, sizeof *s->cells));
    for (uint32_t i = 0; i < s->n_cells; i++) {
        s->cells[i].point = i / s->n_variants;
        s->cells[i].variant = i % s->n_variants;
    }
    return rc;
}

/* What to simulate for a run, with settings that the caller frees. */
static struct simulation simulation_of(const struct sweep *s, const struct run *run,
                                       struct plan_setting **settings)
{
    const struct sweep_file *f = s->file;
    const struct sweep_cell *cell = &s->cells[run->number];
    uint32_t n;
    *settings = settings_of(s, cell->point, &n);
    return (struct simulation){.file = f->scenario_file,
                               .text = f->scenario_text,
                               .size = f->scenario_size,
                               .settings = *settings,
                               .n_settings = n,
                               .seed = run->seed,
                               .variant = s->variant_numbers[cell->variant],
                               .expects = (const char *const *)s->expects,
                               .n_expects = s->n_expects};
}

/* Gives an error of a run its place in the sweep, if it is about a setting. */
static void locate_error(const struct sweep *s, const struct run *run, struct xoff_err *err)
{
    sweep_file_locate(s->file, s->values + s->cells[run->number].point * s->file->n_axes, err);
}

static struct summary *simulate(void *context, const struct run *run, struct xoff_err *err)
{
    const struct sweep *s = context;
    struct plan_setting *settings;
    const struct simulation simulation = simulation_of(s, run, &settings);
    struct summary *summary = simulate_run(&simulation, err);
    if (!summary)
        locate_error(s, run, err);
    free(settings);
    return summary;
}

/* The cache has no runs whose network cannot be built. When results are collected they are told
 * from those that nobody has run yet; one of the latter is enough to refuse. */
static void settle_missing(struct sweep *s)
{
    for (uint32_t i = 0; i < s->n_cells; i++)
        for (uint32_t k = 0; k < s->cells[i].n_runs; k++) {
            struct run *run = &s->cells[i].runs[k];
            struct plan_setting *settings;
            if (run->state != RUN_WAITING)
                continue;
            const struct simulation simulation = simulation_of(s, run, &settings);
            const bool can_be = !simulate_check(&simulation, &run->err);
            free(settings);
            if (can_be)
                return;
            locate_error(s, run, &run->err);
            run->state = RUN_BAD_INPUT;
        }
}

/* The i-th seed of every cell: those of the file, then the next higher ones. */
static uint64_t seed_at(const struct sweep_file *f, uint32_t i)
{
    uint64_t last = 0;
    if (i < f->n_seeds)
        return f->seeds[i];
    for (uint32_t k = 0; k < f->n_seeds; k++)
        last = f->seeds[k] > last ? f->seeds[k] : last;
    return last + 1 + i - f->n_seeds;
}

static void add_runs(struct sweep *s, uint32_t number, uint32_t n)
{
    struct sweep_cell *cell = &s->cells[number];
    uint32_t n_settings;
    struct plan_setting *settings = settings_of(s, cell->point, &n_settings);
    cell->runs = take(realloc(cell->runs, n * sizeof *cell->runs));
    for (; cell->n_runs < n; cell->n_runs++, s->n_runs++) {
        struct run *run = &cell->runs[cell->n_runs];
        *run = (struct run){.file = s->file->file,
                            .variant = s->variants[cell->variant],
                            .seed = seed_at(s->file, cell->n_runs),
                            .number = number};
        const struct cache_subject subject = {.binary = s->options->binary,
                                              .file = s->file->scenario_file,
                                              .text = s->file->scenario_text,
                                              .size = s->file->scenario_size,
                                              .settings = settings,
                                              .n_settings = n_settings,
                                              .seed = run->seed,
                                              .variant = run->variant,
                                              .by = s->cached_as};
        cache_key(&subject, run->key);
    }
    free(settings);
}

/* Collects the figures of a cell over its runs. */
static void sum_up(struct sweep_cell *cell)
{
    const struct summary **summaries = take(calloc(cell->n_runs + 1, sizeof *summaries));
    uint64_t *seeds = take(calloc(cell->n_runs + 1, sizeof *seeds));
    cell->n_done = 0;
    for (uint32_t i = 0; i < cell->n_runs; i++) {
        struct run *run = &cell->runs[i];
        const struct metric *findings =
            run->summary ? summary_find(run->summary, "findings") : NULL;
        if (run->state == RUN_DONE && findings && findings->value > 0)
            run_break(run, "has audit findings; see them with xoff run");
        if (run->state != RUN_DONE)
            continue;
        seeds[cell->n_done] = run->seed;
        summaries[cell->n_done++] = run->summary;
    }
    seeds_destroy(cell->spread);
    cell->spread = cell->n_done ? seeds_create(seeds, summaries, cell->n_done) : NULL;
    free(summaries);
    free(seeds);
}

/* Adds the runs of the next round to a cell; false: it has all. */
static bool extend(struct sweep *s, uint32_t number)
{
    const struct sweep_options *o = s->options;
    struct sweep_cell *cell = &s->cells[number];
    const bool is_whole = cell->n_done == cell->n_runs;
    uint32_t n = cell->n_runs ? cell->n_runs : s->file->n_seeds;
    if (cell->n_runs && *o->until.metric && is_whole) {
        const struct seed_metric *m = seeds_find(cell->spread, o->until.metric);
        n = until_next(&o->until, m, cell->n_runs, o->max_seeds);
        cell->is_tight = until_is_reached(&o->until, m);
    }
    if (n <= cell->n_runs)
        return false;
    add_runs(s, number, n);
    return true;
}

static bool go_round(struct sweep *s, const uint32_t *numbers, uint32_t n)
{
    const struct sweep_options *o = s->options;
    uint32_t n_runs = 0;
    for (uint32_t i = 0; i < n; i++)
        n_runs += s->cells[numbers[i]].n_runs;
    struct batch batch = {.runs = take(calloc(n_runs + 1, sizeof *batch.runs)),
                          .n_workers = o->n_workers,
                          .peers = o->peers,
                          .cache_folder = o->binary ? o->cache_folder : NULL,
                          .is_fresh = o->is_fresh,
                          .is_cached_only = o->is_collecting,
                          .simulate = simulate,
                          .context = s,
                          .progress = o->progress,
                          .progress_context = o->progress_context};
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = 0; k < s->cells[numbers[i]].n_runs; k++)
            if (s->cells[numbers[i]].runs[k].state == RUN_WAITING)
                batch.runs[batch.n_runs++] = &s->cells[numbers[i]].runs[k];
    const bool is_whole = batch_go(&batch);
    for (uint32_t i = 0; i < n; i++)
        sum_up(&s->cells[numbers[i]]);
    s->n_cached += batch.n_cached;
    s->store_reason = s->store_reason ? s->store_reason : batch.store_reason;
    free(batch.runs);
    return is_whole;
}

static bool is_column(const struct sweep *s, const char *name, uint32_t near)
{
    if (near < s->n_columns && !strcmp(s->columns[near].name, name))
        return true;
    for (uint32_t i = 0; i < s->n_columns; i++)
        if (!strcmp(s->columns[i].name, name))
            return true;
    return false;
}

static void find_columns(struct sweep *s)
{
    for (uint32_t i = 0; i < s->n_cells; i++) {
        const struct result_seeds *spread = s->cells[i].spread;
        for (uint32_t k = 0; spread && k < spread->n_metrics; k++) {
            if (is_column(s, spread->metrics[k].name, k))
                continue;
            s->columns = take(realloc(s->columns, (s->n_columns + 1) * sizeof *s->columns));
            s->columns[s->n_columns++] =
                (struct sweep_column){spread->metrics[k].name, spread->metrics[k].unit};
        }
    }
}

static void find_front(struct sweep *s)
{
    const struct sweep_names *least = &s->file->least, *most = &s->file->most;
    const uint32_t n = least->n + most->n;
    double *rows = take(calloc((size_t)s->n_cells * n + 1, sizeof *rows));
    bool *is_on_front = take(calloc(s->n_cells + 1, sizeof *is_on_front));
    for (uint32_t i = 0; i < s->n_cells; i++)
        for (uint32_t k = 0; k < n; k++)
            rows[(size_t)i * n + k] =
                k < least->n ? sweep_mean(s, &s->cells[i], least->list[k].text)
                             : -sweep_mean(s, &s->cells[i], most->list[k - least->n].text);
    front_mark(rows, s->n_cells, n, is_on_front);
    for (uint32_t i = 0; i < s->n_cells; i++)
        s->cells[i].is_on_front = is_on_front[i];
    free(is_on_front);
    free(rows);
}

bool sweep_go(struct sweep *s)
{
    const struct sweep_options *o = s->options;
    uint32_t *numbers = take(calloc(s->n_cells + 1, sizeof *numbers)), n;
    bool is_whole = true;
    do {
        n = 0;
        for (uint32_t i = 0; i < s->n_cells; i++)
            if ((!o->n_shares || i % o->n_shares == o->share - 1) && extend(s, i))
                numbers[n++] = i;
        is_whole = !n || go_round(s, numbers, n);
    } while (n && is_whole);
    free(numbers);
    if (is_whole && o->is_collecting)
        settle_missing(s);
    for (uint32_t i = 0; i < s->n_cells; i++)
        for (uint32_t k = 0; k < s->cells[i].n_runs; k++) {
            const enum run_state state = s->cells[i].runs[k].state;
            s->n_missing += state == RUN_WAITING;
            s->n_failed += state == RUN_BAD_INPUT || state == RUN_BROKEN;
        }
    find_columns(s);
    find_front(s);
    sweep_judge(s);
    return is_whole;
}

void sweep_fini(struct sweep *s)
{
    sweep_forget_verdicts(s);
    for (uint32_t i = 0; i < s->n_cells; i++) {
        for (uint32_t k = 0; k < s->cells[i].n_runs; k++)
            summary_destroy(s->cells[i].runs[k].summary);
        seeds_destroy(s->cells[i].spread);
        free(s->cells[i].runs);
    }
    for (uint32_t i = 0; i < s->n_variants; i++)
        free(s->variants[i]);
    free(s->variants);
    free(s->words.entries);
    free(s->words.curves);
    free(s->variant_numbers);
    free(s->cells);
    free(s->columns);
    free(s->values);
    sweep_file_destroy(s->file);
}

double sweep_mean(const struct sweep *s, const struct sweep_cell *cell, const char *name)
{
    for (uint32_t a = 0; a < s->file->n_axes; a++)
        if (!strcmp(s->file->axes[a].key, name))
            return s->values[cell->point * s->file->n_axes + a].number;
    const struct seed_metric *m = cell->spread ? seeds_find(cell->spread, name) : NULL;
    return m ? m->over.mean : NAN;
}

uint32_t sweep_count_without(const struct sweep *s, const char *name)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->n_cells; i++)
        n += isnan(sweep_mean(s, &s->cells[i], name)) != 0;
    return n;
}

static void show(const struct sweep *s, struct sweep_column *list, uint32_t *n, const char *name)
{
    for (uint32_t i = 0; i < *n; i++)
        if (!strcmp(list[i].name, name))
            return;
    for (uint32_t i = 0; i < s->n_columns; i++)
        if (!strcmp(s->columns[i].name, name))
            list[(*n)++] = s->columns[i];
}

struct sweep_column *sweep_shown(const struct sweep *s, uint32_t *n)
{
    static const char *const usual[] = {"fct.mean", "fct.p99", "throughput", "pauses", "drops"};
    struct sweep_column *list = take(calloc(s->n_columns + 1, sizeof *list));
    const struct sweep_file *f = s->file;
    *n = 0;
    for (uint32_t i = 0; i < f->metrics.n; i++)
        show(s, list, n, f->metrics.list[i].text);
    for (size_t i = 0; i < sizeof usual / sizeof *usual && !f->metrics.n; i++)
        show(s, list, n, usual[i]);
    for (uint32_t i = 0; i < f->least.n; i++)
        show(s, list, n, f->least.list[i].text);
    for (uint32_t i = 0; i < f->most.n; i++)
        show(s, list, n, f->most.list[i].text);
    if (*s->options->until.metric)
        show(s, list, n, s->options->until.metric);
    return list;
}
