/* Sets of runs and the workers that do them (runs.h).
 *
 * A worker is a fork of this process that simulates one variant with one seed and writes its
 * figures, or its error, to an unnamed file that it inherited; the parent reads the file when the
 * worker has ended. A crash of a worker affects nothing else.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "reproduce/runs.h"
#include "scenario/build.h"
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
    if (set->n_settings != n + 1)
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
                                      set->n_settings - 1, &scenario, &set->err);
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
        set->runs[i] = (struct run){.seed = set->first_seed + i / set->n_variants};
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
                                .n_settings = n_quick + o->n_settings + 1};
        if (open_set(set, paper, e))
            set->state = RUN_BAD_INPUT;
    }
    add_seeds(runs, &runs->sets[i], n_seeds);
    return i;
}

/* Runs one variant with one seed, from building to figures. */
static struct summary *simulate(struct run_set *set, const struct run *run, uint32_t variant,
                                struct xoff_err *err)
{
    const struct build_options options = {.n_threads = 1, .cell_bound = XOFF_PARAM_AUTO};
    struct scenario *scenario;
    struct built *built;
    char seed[24];
    snprintf(seed, sizeof seed, "%llu", (unsigned long long)run->seed);
    set->settings[set->n_settings - 1] = (struct plan_setting){"seed", seed};
    if (scenario_read_text(set->file, set->text, set->size, set->settings, set->n_settings,
                           &scenario, err))
        return NULL;
    const struct plan *plan = scenario->plans[variant];
    struct summary *summary = NULL;
    if (!build_create(plan, &options, &built, err)) {
        net_run(built->net);
        struct results *results = net_collect(built->net);
        const char **names = take(calloc(plan->n_traffic + 1, sizeof *names));
        for (uint32_t i = 0; i < plan->n_traffic; i++)
            names[i] = plan->traffic[i].name;
        results->tag_names = names;
        results->n_tags = plan->n_traffic;
        summary = take(summary_create(results));
        net_free_results(results);
        build_destroy(built);
        free(names);
    }
    scenario_destroy(scenario);
    return summary;
}

/* Runs in the worker: writes 'S' and the figures, or 'E' and the error as it is in memory. */
static _Noreturn void work(struct run_set *set, const struct run *run, uint32_t variant)
{
    struct xoff_err err = {0};
    size_t size = 0;
    signal(SIGINT, SIG_DFL);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    struct summary *summary = simulate(set, run, variant, &err);
    char *text = summary ? take(cache_encode(summary, run->key, &size)) : NULL;
    fputc(summary ? 'S' : 'E', run->answer);
    if (summary)
        fwrite(text, 1, size, run->answer);
    else
        fwrite(&err, sizeof err, 1, run->answer);
    const bool is_good = fflush(run->answer) == 0;
    free(text);
    summary_destroy(summary);
    _exit(is_good ? 0 : 1);
}

static void break_run(const struct run_set *set, struct run *run, uint32_t variant,
                      const char *reason)
{
    char message[sizeof run->err.message];
    const char *name = set->variants[variant].variant;
    snprintf(message, sizeof message, "the run with seed %llu%s%s %s",
             (unsigned long long)run->seed, *name ? " of variant " : "", name, reason);
    run->state = RUN_BROKEN;
    xoff_err_set(&run->err, XOFF_E_CONFLICT, NULL, NULL, message);
    snprintf(run->err.file, sizeof run->err.file, "%s", set->file);
}

/* A run with figures is done, unless the audit found an error. */
static void settle(struct run_set *set, uint32_t index, struct summary *summary)
{
    struct run *run = &set->runs[index];
    const struct metric *findings = summary_find(summary, "findings");
    set->summaries[index] = summary;
    run->state = RUN_DONE;
    if (findings && findings->value > 0)
        break_run(set, run, index % set->n_variants, "has audit findings; see them with xoff run");
}

static void read_answer(struct runs *runs, struct run_set *set, uint32_t index)
{
    struct run *run = &set->runs[index];
    const uint32_t variant = index % set->n_variants;
    char *text = NULL;
    size_t size = 0;
    struct summary *summary = NULL;
    rewind(run->answer);
    const int kind = fgetc(run->answer);
    if (kind == 'E' && fread(&run->err, sizeof run->err, 1, run->answer) == 1) {
        run->state = RUN_BAD_INPUT;
        return;
    }
    if (kind == 'S' && getdelim(&text, &size, '\0', run->answer) > 0)
        summary = cache_decode(text, strlen(text), run->key);
    free(text);
    if (!summary) {
        break_run(set, run, variant, "left no figures");
        return;
    }
    settle(set, index, summary);
    const struct run_options *o = runs->options;
    if (o->cache_folder && o->binary) {
        const int reason = cache_store(o->cache_folder, run->key, summary);
        runs->store_reason = runs->store_reason ? runs->store_reason : reason;
    }
}

static void finish(struct runs *runs, struct run_set *set, uint32_t index, int status)
{
    struct run *run = &set->runs[index];
    const uint32_t variant = index % set->n_variants;
    char reason[128];
    if (WIFSIGNALED(status)) {
        snprintf(reason, sizeof reason, "crashed: %s", strsignal(WTERMSIG(status)));
        break_run(set, run, variant, reason);
    } else if (WEXITSTATUS(status)) {
        snprintf(reason, sizeof reason, "failed with status %d", WEXITSTATUS(status));
        break_run(set, run, variant, reason);
    } else {
        read_answer(runs, set, index);
    }
    fclose(run->answer);
    run->answer = NULL;
    run->worker = 0;
}

/* Looks a run up in the cache; false: it must be run. */
static bool look_up(struct runs *runs, struct run_set *set, uint32_t index)
{
    const struct run_options *o = runs->options;
    struct run *run = &set->runs[index];
    const struct cache_subject subject = {.binary = o->binary,
                                          .file = set->file,
                                          .text = set->text,
                                          .size = set->size,
                                          .settings = set->settings,
                                          .n_settings = set->n_settings - 1,
                                          .seed = run->seed,
                                          .variant =
                                              set->variants[index % set->n_variants].variant};
    cache_key(&subject, run->key);
    if (!o->cache_folder || o->is_fresh || !o->binary)
        return false;
    struct summary *summary = cache_load(o->cache_folder, run->key);
    if (!summary)
        return false;
    settle(set, index, summary);
    runs->n_cached++;
    return true;
}

static void start(struct run_set *set, uint32_t index)
{
    struct run *run = &set->runs[index];
    const uint32_t variant = index % set->n_variants;
    run->answer = tmpfile();
    if (run->answer)
        run->worker = fork();
    if (!run->answer || run->worker < 0) {
        break_run(set, run, variant, strerror(errno));
        if (run->answer)
            fclose(run->answer);
        run->answer = NULL;
        run->worker = 0;
    } else if (!run->worker) {
        work(set, run, variant);
    }
}

/* Position in the search for the next run to start. */
struct cursor {
    uint32_t set, index;
};

static bool next(const struct runs *runs, struct cursor *at)
{
    for (; at->set < runs->n_sets; at->set++, at->index = 0) {
        const struct run_set *set = &runs->sets[at->set];
        for (; at->index < set->n_seeds * set->n_variants; at->index++)
            if (set->runs[at->index].state == RUN_WAITING && !set->runs[at->index].worker)
                return true;
    }
    return false;
}

static struct run_set *find_worker(const struct runs *runs, pid_t worker, uint32_t *index)
{
    for (uint32_t s = 0; s < runs->n_sets; s++) {
        struct run_set *set = &runs->sets[s];
        for (*index = 0; *index < set->n_seeds * set->n_variants; ++*index)
            if (set->runs[*index].worker == worker)
                return set;
    }
    return NULL;
}

static void stop_workers(struct runs *runs)
{
    for (uint32_t s = 0; s < runs->n_sets; s++) {
        const struct run_set *set = &runs->sets[s];
        for (uint32_t i = 0; i < set->n_seeds * set->n_variants; i++) {
            struct run *run = &set->runs[i];
            if (!run->worker)
                continue;
            kill(run->worker, SIGKILL);
            waitpid(run->worker, NULL, 0);
            fclose(run->answer);
            run->answer = NULL;
            run->worker = 0;
        }
    }
}

static bool goes_on(const struct runs *runs, uint32_t n_done)
{
    const struct run_options *o = runs->options;
    return !o->progress || o->progress(o->progress_context, n_done, runs->n_runs);
}

bool runs_go(struct runs *runs)
{
    uint32_t n_done = 0, n_working = 0;
    struct cursor at = {0};
    fflush(NULL);             /* else a worker would write the buffered text again */
    signal(SIGCHLD, SIG_DFL); /* if it is ignored, no child can be waited for */
    for (uint32_t s = 0; s < runs->n_sets; s++)
        for (uint32_t i = 0; i < runs->sets[s].n_seeds * runs->sets[s].n_variants; i++)
            n_done += look_up(runs, &runs->sets[s], i);
    while (goes_on(runs, n_done)) {
        while (n_working < runs->options->n_workers && next(runs, &at)) {
            struct run_set *set = &runs->sets[at.set];
            start(set, at.index);
            n_working += set->runs[at.index].worker > 0;
            n_done += set->runs[at.index].state == RUN_BROKEN;
            at.index++;
        }
        if (!n_working)
            return true;
        int status;
        uint32_t index;
        const pid_t ended = waitpid(-1, &status, 0);
        struct run_set *set = ended > 0 ? find_worker(runs, ended, &index) : NULL;
        if (!set)
            continue; /* a signal came */
        finish(runs, set, index, status);
        n_working--;
        n_done++;
    }
    stop_workers(runs);
    return false;
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
