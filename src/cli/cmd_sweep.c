/* xoff sweep: runs a scenario over values of its keys, and shows what depends on them. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <xoff/units.h>

#include "cli/sweep_text.h"
#include "many/seed_list.h"
#include "report/report.h"
#include "stats/folder.h"
#include "stats/text_stream.h"

struct sweep_arguments {
    struct sweep_options options;
    struct plan_setting settings[CLI_MAX_SETTINGS];
    const char *file, *output, *cache, *until, *seeds;
    char cache_folder[4096];
    bool json;
};

enum {
    OPTION_JOBS = 512,
    OPTION_SEEDS,
    OPTION_SET,
    OPTION_UNTIL,
    OPTION_MAX_SEEDS,
    OPTION_SHARE,
    OPTION_COLLECT,
    OPTION_FRESH,
    OPTION_CACHE
};

static const struct argp_option options[] = {
    {"jobs", OPTION_JOBS, "N", 0,
     "Run N simulations at a time (default: one per core, under mpirun one per rank); the results "
     "are the same",
     0},
    {"seeds", OPTION_SEEDS, "LIST", 0, "Seeds in place of those of the file, such as 1..5", 0},
    {"until", OPTION_UNTIL, "GOAL", 0,
     "Add seeds to each point until the confidence interval of a metric is tight, such as "
     "'fct.p99 +- 2%'",
     0},
    {"max-seeds", OPTION_MAX_SEEDS, "N", 0,
     "With --until: give up at a point after N seeds (default: 100)", 0},
    {"set", OPTION_SET, "KEY=VALUE", 0, "Change one key of the scenario at all points", 0},
    {"output", 'o', "DIR", 0, "Folder for the results (default: sweep-NAME)", 0},
    {"share", OPTION_SHARE, "K/N", 0,
     "Run the K-th of N shares of the points, and keep what was found in the cache alone", 0},
    {"collect", OPTION_COLLECT, NULL, 0, "Run nothing: make the results of what shares left", 0},
    {"fresh", OPTION_FRESH, NULL, 0, "Run everything again, whatever earlier runs found", 0},
    {"cache", OPTION_CACHE, "DIR", 0,
     "Folder that keeps what runs found (default: $XDG_CACHE_HOME/xoff or ~/.cache/xoff)", 0},
    {"json", 'j', NULL, 0, "Print JSON instead of text", 0},
    {0},
};

static uint32_t parse_count(struct argp_state *state, const char *option, const char *arg,
                            int64_t least, int64_t most)
{
    int64_t n;
    if (xoff_parse_int(arg, &n) || n < least || n > most)
        argp_error(state, "%s %s: give a number from %lld to %lld", option, arg, (long long)least,
                   (long long)most);
    return (uint32_t)n;
}

static void parse_share(struct sweep_options *o, struct argp_state *state, const char *arg)
{
    int end = 0;
    if (sscanf(arg, "%7u/%7u%n", &o->share, &o->n_shares, &end) != 2 || arg[end] || !o->share ||
        o->share > o->n_shares)
        argp_error(state, "--share %s: give K/N, such as 1/4, with K from 1 to N", arg);
}

static void add_setting(struct sweep_arguments *a, struct argp_state *state, char *arg)
{
    char *equals = strchr(arg, '=');
    if (!equals || equals == arg)
        argp_error(state, "--set %s: give KEY=VALUE, such as switch.buffer=16MB", arg);
    if (a->options.n_settings == CLI_MAX_SETTINGS)
        argp_error(state, "more than %d settings", CLI_MAX_SETTINGS);
    *equals = '\0';
    a->settings[a->options.n_settings++] = (struct plan_setting){arg, equals + 1};
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct sweep_arguments *a = state->input;
    switch (key) {
    case OPTION_JOBS:
        a->options.n_workers = parse_count(state, "--jobs", arg, 1, 1024);
        return 0;
    case OPTION_SEEDS:
        a->seeds = arg;
        return 0;
    case OPTION_UNTIL:
        a->until = arg;
        return 0;
    case OPTION_MAX_SEEDS:
        a->options.max_seeds = parse_count(state, "--max-seeds", arg, 2, SEEDS_MAX);
        return 0;
    case OPTION_SET:
        add_setting(a, state, arg);
        return 0;
    case 'o':
        a->output = arg;
        return 0;
    case OPTION_SHARE:
        parse_share(&a->options, state, arg);
        return 0;
    case OPTION_COLLECT:
        a->options.is_collecting = true;
        return 0;
    case OPTION_FRESH:
        a->options.is_fresh = true;
        return 0;
    case OPTION_CACHE:
        a->cache = arg;
        return 0;
    case 'j':
        a->json = true;
        return 0;
    case ARGP_KEY_ARG:
        if (a->file)
            argp_error(state, "one sweep at a time");
        a->file = arg;
        return 0;
    case ARGP_KEY_END:
        if (!a->file)
            argp_error(state, "no sweep file given");
        if (a->until && !*a->until)
            argp_error(state, "--until: give a metric and a tolerance, such as 'fct.p99 +- 2%%'");
        if ((a->output && !*a->output) || (a->cache && !*a->cache))
            argp_error(state, "--output and --cache need the name of a folder");
        if (a->options.is_collecting && (a->options.n_shares || a->options.is_fresh))
            argp_error(state, "--collect runs nothing; leave out --share and --fresh");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* Returns "sweep-" and the file's name without folder, ending, and "sweep-" of its own. The caller
 * frees it. */
static char *default_output(const char *file)
{
    const char *slash = strrchr(file, '/'), *name = slash ? slash + 1 : file;
    const char *dot = strrchr(name, '.');
    char *output;
    if (!strncmp(name, "sweep-", 6))
        name += 6;
    XOFF_ASSERT(asprintf(&output, "sweep-%.*s", (int)(dot > name ? dot - name : (long)strlen(name)),
                         name) >= 0);
    return output;
}

struct progress {
    double began_s;
    uint32_t n_before, n_runs; /* done when the round began; runs of the round */
};

static bool on_progress(void *context, uint32_t n_done, uint32_t n_runs)
{
    struct progress *p = context;
    if (n_runs != p->n_runs || n_done < p->n_before)
        *p = (struct progress){cli_clock(), n_done, n_runs};
    if (!cli_is_terminal(stderr))
        return !cli_is_interrupted();
    const double spent_s = cli_clock() - p->began_s;
    fprintf(stderr, "\r%u of %u runs, %.0f s", n_done, n_runs, spent_s);
    if (n_done > p->n_before && n_done < n_runs)
        fprintf(stderr, ", %.0f s left", spent_s / (n_done - p->n_before) * (n_runs - n_done));
    fprintf(stderr, n_done == n_runs ? "\r\033[K" : "\033[K");
    return !cli_is_interrupted();
}

static const char *const file_names[] = {"sweep.html", "sweep.json", "sweep.csv", "sweep.sqlite",
                                         NULL};

/* Writes all files, or none. Returns an exit status. */
static int write_files(const struct sweep *sweep, struct folder *folder, const char *json)
{
    char *paths[sizeof file_names / sizeof *file_names - 1], *csv = NULL;
    const size_t n = sizeof paths / sizeof *paths;
    size_t size;
    struct xoff_err err = {0};
    for (size_t i = 0; i < n; i++)
        XOFF_ASSERT(asprintf(&paths[i], "%s/%s", folder_aside(folder), file_names[i]) >= 0);
    FILE *out = open_memstream(&csv, &size);
    XOFF_ASSERT(out);
    sweep_write_csv(sweep, out);
    text_stream_close(out, &csv);
    int code = report_write_page(paths[0], REPORT_SWEEP, sweep->file->params.title, json, &err);
    for (size_t i = 1; i < 3 && !code; i++) {
        const int reason = cli_write_text(paths[i], "w", i == 1 ? json : csv);
        code = reason ? cli_cannot_write(paths[i], reason, &err) : 0;
    }
    if (!code)
        code = sweep_write_sqlite(sweep, paths[3], &err);
    if (!code)
        code = folder_publish(folder, &err);
    if (code) {
        folder_explain(folder, &err);
        cli_print_error(&err);
    }
    for (size_t i = 0; i < n; i++)
        free(paths[i]);
    free(csv);
    return code ? EXIT_FAILED : EXIT_FINE;
}

/* A reason why runs failed, and the first of them. */
struct failure {
    const struct sweep_cell *cell;
    const struct run *run;
    uint32_t n_runs;
};

static void print_failure(const struct sweep *s, const struct failure *f)
{
    cli_print_error(&f->run->err);
    fprintf(stderr, "  at point %u, seed %llu", f->cell->point, (unsigned long long)f->run->seed);
    for (uint32_t a = 0; a < s->file->n_axes; a++)
        fprintf(stderr, "%s%s=%s", a ? " " : ": ", s->file->axes[a].key,
                s->values[f->cell->point * s->file->n_axes + a].text);
    if (*f->run->variant)
        fprintf(stderr, " %s", f->run->variant);
    if (f->n_runs > 1)
        fprintf(stderr, ", and %u more run%s", f->n_runs - 1, f->n_runs == 2 ? "" : "s");
    fputc('\n', stderr);
}

/* Prints what failed, each reason once with the number of its runs. */
static void print_failures(const struct sweep *s)
{
    enum { MOST = 20 };
    struct failure list[MOST];
    const struct sweep_cell *end = s->cells + s->n_cells;
    uint32_t n = 0, n_left_out = 0;
    for (const struct sweep_cell *cell = s->cells; cell < end; cell++)
        for (uint32_t k = 0; k < cell->n_runs; k++) {
            const struct run *run = &cell->runs[k];
            uint32_t i = 0;
            if (run->state != RUN_BAD_INPUT && run->state != RUN_BROKEN)
                continue;
            while (i < n && strcmp(list[i].run->err.message, run->err.message))
                i++;
            if (i == n && n < MOST)
                list[n++] = (struct failure){cell, run, 0};
            if (i < n)
                list[i].n_runs++;
            else
                n_left_out++;
        }
    for (uint32_t i = 0; i < n; i++)
        print_failure(s, &list[i]);
    if (n_left_out)
        fprintf(stderr, "%u more runs failed for other reasons; sweep.csv has them\n", n_left_out);
}

/* Metrics that are asked for and that no run has. */
static int check_names(const struct sweep *s, const struct sweep_names *names, const char *subject)
{
    int status = EXIT_FINE;
    for (uint32_t i = 0; i < names->n; i++) {
        uint32_t k = 0;
        while (k < s->n_columns && strcmp(s->columns[k].name, names->list[i].text))
            k++;
        if (k < s->n_columns || sweep_file_axis(s->file, names->list[i].text))
            continue;
        struct xoff_err err = {.line = names->list[i].place.line,
                               .column = names->list[i].place.column};
        xoff_err_set(&err, XOFF_E_UNKNOWN, subject, names->list[i].text,
                     "no run has this metric; docs/results.md says when it is absent");
        snprintf(err.file, sizeof err.file, "%s", s->file->file);
        cli_print_error(&err);
        status = EXIT_FAILED;
    }
    return status;
}

/* A share makes no results, wherever they were to go: scripts give all shares and the collection
 * the same options. */
static void print_share(const struct sweep_arguments *a, const struct sweep *s)
{
    const struct sweep_options *o = &a->options;
    if (a->json)
        printf("{\"share\": %u, \"shares\": %u, \"runs\": %u, \"cached\": %u, \"failed\": %u}\n",
               o->share, o->n_shares, s->n_runs, s->n_cached, s->n_failed);
    else
        printf("share %u of %u: %u runs, %u from the cache, %u failed\n", o->share, o->n_shares,
               s->n_runs, s->n_cached, s->n_failed);
    fflush(stdout);
    if (a->output)
        fprintf(stderr, "%s is left as it is: --collect makes the results of all shares\n",
                a->output);
}

/* After the runs: prints and writes. */
static int finish(const struct sweep_arguments *a, const struct sweep *sweep, const char *output,
                  struct folder *folder)
{
    int status = sweep->n_failed ? EXIT_FAILED : EXIT_FINE;
    if (sweep->store_reason) {
        fprintf(stderr, "warning: what was found could not be kept in %s: %s\n",
                a->options.cache_folder, strerror(sweep->store_reason));
        status = a->options.n_shares ? EXIT_FAILED : status;
    }
    print_failures(sweep);
    if (a->options.n_shares) {
        print_share(a, sweep);
        return status;
    }
    if (sweep->n_missing) {
        fprintf(stderr,
                "%u of %u runs are not in %s: nothing is written; run their share, or the "
                "sweep without --collect\n",
                sweep->n_missing, sweep->n_runs, a->options.cache_folder);
        return EXIT_FAILED;
    }
    const int wrong = check_names(sweep, &sweep->file->metrics, "metrics") |
                      check_names(sweep, &sweep->file->least, "page.pareto.min") |
                      check_names(sweep, &sweep->file->most, "page.pareto.max");
    char *json = sweep_json(sweep);
    if (a->json)
        puts(json);
    else
        sweep_print(sweep, stdout);
    fflush(stdout);
    fprintf(stderr, "%u runs, %u from the cache\n", sweep->n_runs, sweep->n_cached);
    if (cli_is_first() && write_files(sweep, folder, json))
        status = EXIT_FAILED;
    else if (!a->json)
        printf("results: %s/sweep.sqlite, %s/sweep.csv, %s/sweep.json\npage: %s/sweep.html\n",
               output, output, output, output);
    free(json);
    return status ? status : wrong;
}

/* Reads the file, and what options replace in it. */
static int open_file(struct sweep_arguments *a, struct sweep_file **file, struct xoff_err *err)
{
    int code = sweep_file_read(a->file, file, err);
    if (code)
        return code;
    struct sweep_file *f = *file;
    if (a->seeds) {
        free(f->seeds);
        code = seed_list_parse(a->seeds, &f->seeds, &f->n_seeds, err);
        if (code)
            snprintf(err->subject, sizeof err->subject, "--seeds");
    }
    const char *until = a->until ? a->until : f->params.until;
    if (!code && *until) {
        code = until_parse(until, &a->options.until, err);
        if (code && a->until) {
            snprintf(err->subject, sizeof err->subject, "--until");
        } else if (code) {
            snprintf(err->subject, sizeof err->subject, "until");
            snprintf(err->file, sizeof err->file, "%s", f->file);
            err->line = f->until_place.line;
            err->column = f->until_place.column;
        }
        if (!a->until)
            a->options.until.place = f->until_place;
    }
    if (!code && a->options.max_seeds && !*until)
        code = xoff_err_set(err, XOFF_E_CONFLICT, "--max-seeds", NULL,
                            "seeds are added with --until alone, or until: in the file");
    if (!a->options.max_seeds)
        a->options.max_seeds = (uint32_t)f->params.max_seeds;
    if (code)
        sweep_file_destroy(f);
    return code;
}

static int sweep_all(struct sweep_arguments *a, const char *output)
{
    struct sweep sweep = {0};
    struct sweep_file *file;
    struct folder *folder = NULL;
    struct xoff_err err = {0};
    struct progress progress = {0};
    int status = EXIT_FINE;
    if (open_file(a, &file, &err)) {
        cli_print_error(&err);
        return cli_status(&err);
    }
    cli_catch_interrupts();
    a->options.progress = on_progress;
    a->options.progress_context = &progress;
    if (sweep_open(&sweep, file, &a->options, &err)) {
        cli_print_error(&err);
        status = cli_status(&err);
    }
    if (!status && !a->options.n_shares && cli_is_first())
        status = cli_open_folder(output, file_names, &folder); /* before the work */
    if (cli_any(status != EXIT_FINE)) { /* all ranks end then; the one that failed has said why */
        status = status ? status : EXIT_FAILED;
    } else if (!sweep_go(&sweep)) {
        fprintf(stderr, "%sinterrupted: nothing is written; repeat the command to go on\n",
                cli_is_terminal(stderr) ? "\r\033[K" : "");
        status = EXIT_FAILED;
    } else {
        status = finish(a, &sweep, output, folder);
    }
    folder_close(folder);
    sweep_fini(&sweep);
    return status;
}

int cmd_sweep(int argc, char **argv)
{
    static const struct argp argp = {
        .options = options,
        .parser = parse,
        .args_doc = "FILE",
        .doc = "Runs a scenario with all combinations of values of its keys, or with points of a "
               "Latin hypercube, and says what depends on them: the best and worst point of each "
               "metric, a page with figures, one database and one CSV of all runs. What was run "
               "before is not run again, so a sweep that was ended goes on.\v"
               "Exit status: 0 all is done, 1 a run failed, 2 bad input. Expectations that do not "
               "hold are told and change nothing.\n"
               "Example: xoff sweep scenarios/sweep-headroom.yaml\n"
               "         xoff sweep scenarios/sweep-headroom.yaml --until 'fct.p99 +- 2%'\n"
               "         xoff sweep scenarios/sweep-headroom.yaml --share 1/4 --cache shared"};
    struct sweep_arguments a = {0};
    a.options.settings = a.settings;
    cli_parse(&argp, argc, argv, 0, &a);
    a.options.binary = cache_binary("/proc/self/exe");
    if (a.cache)
        a.options.cache_folder = a.cache;
    else if (cache_default_folder(a.cache_folder, sizeof a.cache_folder))
        a.options.cache_folder = a.cache_folder;
    if ((a.options.n_shares || a.options.is_collecting) &&
        (!a.options.cache_folder || !a.options.binary)) {
        fprintf(stderr, "xoff sweep: shares are kept in the cache; name its folder with --cache\n");
        return EXIT_BAD_INPUT;
    }
    struct xoff_err err = {0};
    if (cli_start_ranks(&err)) {
        cli_print_error(&err);
        return cli_status(&err);
    }
    if (a.options.cache_folder && a.options.binary)
        cli_note_kept_runs();
    struct batch_peers peers;
    a.options.peers = cli_peers(&peers);
    if (!a.options.n_workers)
        a.options.n_workers = a.options.peers ? 1 : batch_cores();
    char *output = a.output ? NULL : default_output(a.file);
    const int status = sweep_all(&a, a.output ? a.output : output);
    free(output);
    return status;
}
