/* xoff run: runs scenarios, prints summaries, writes results, checks expectations. */
#include <errno.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <xoff/units.h>

#include "base/digest.h"
#include "cli/checkpoint.h"
#include "cli/fork.h"
#include "cli/run_seeds.h"
#include "many/batch.h"
#include "many/seed_list.h"
#include "report/report.h"
#include "stats/folder.h"
#include "stats/text_stream.h"
#include "wire/packet_check.h"

struct run_arguments {
    struct cli_options shared;
    const char *output;
    bool csv, print_config, estimate, no_report, no_expect, wire_check, wire_check_all;
    const char *write;   /* --write; NULL: default for the kind of input */
    const char *compare; /* folder or file; NULL: nothing to compare with */
    const char **captures, **variants;
    uint32_t n_captures, n_variants;
    struct seeds_options seeds;
    struct checkpoint checkpoint;
    xoff_time fork_at; /* 0: variants begin at 0 */
    uint64_t capture_limit;
    uint32_t capture_bytes; /* 0: whole frames */
    const char *trace;      /* file; NULL: none */
    xoff_time trace_until;
    const char *parts; /* file with the rank of each node; NULL: chosen */
};

/* What --compare names. */
struct theirs {
    char *path; /* NULL: nothing */
    struct hpcc_fct fct;
};

static void theirs_fini(struct theirs *theirs)
{
    free(theirs->path);
    free(theirs->fct.lines);
}

enum {
    OPTION_CSV = 512,
    OPTION_VARIANT,
    OPTION_NO_REPORT,
    OPTION_PRINT_CONFIG,
    OPTION_ESTIMATE,
    OPTION_WRITE,
    OPTION_COMPARE,
    OPTION_CAPTURE,
    OPTION_CAPTURE_LIMIT,
    OPTION_CAPTURE_BYTES,
    OPTION_TRACE,
    OPTION_TRACE_UNTIL,
    OPTION_WIRE_CHECK,
    OPTION_NO_EXPECT,
    OPTION_SEEDS,
    OPTION_FORK_AT,
    OPTION_JOBS,
    OPTION_PARTS
};

static const struct argp_option options[] = {
    {"output", 'o', "DIR", 0,
     "Folder for the results (default: run-NAME, with --seed run-NAME-seedN, with --seeds "
     "run-NAME-seeds)",
     0},
    {"seeds", OPTION_SEEDS, "LIST", 0,
     "Run every variant with each of these seeds, such as 1..20 or 1,5,9; print mean, confidence "
     "interval and spread",
     0},
    {"jobs", OPTION_JOBS, "N", 0,
     "With --seeds: run N simulations at a time (default: one per core); the results are the same",
     0},
    {"variant", OPTION_VARIANT, "NAME", 0,
     "Run this variant alone, and what is expected of it; may be given several times", 0},
    {"fork-at", OPTION_FORK_AT, "TIME", 0,
     "Run the first variant up to this simulated time, such as 10ms, and all from its state on; "
     "they may differ in numbers of mechanisms",
     0},
    {"csv", OPTION_CSV, NULL, 0, "Write the tables as CSV files too", 0},
    {"no-report", OPTION_NO_REPORT, NULL, 0, "Do not write report.html", 0},
    {"print-config", OPTION_PRINT_CONFIG, NULL, 0,
     "Print the scenario with all defaults and computed headroom, and do not run it", 0},
    {"estimate", OPTION_ESTIMATE, NULL, 0,
     "Build the network, run it for two seconds, and say what memory and time the whole run would "
     "take; write nothing",
     0},
    {"write", OPTION_WRITE, "FORMAT", 0,
     "Write fct.txt and pfc.txt too: hpcc (default when the input is a config.txt of that family), "
     "conweave (node ids instead of addresses), or none",
     0},
    {"compare", OPTION_COMPARE, "DIR", 0,
     "Compare every run with DIR/fct.txt, or with that file itself, as the ns-3 RDMA family writes "
     "it: completion times side by side, and the flows that differ most",
     0},
    {"capture", OPTION_CAPTURE, "NODE:PORT", 0,
     "Write every frame that crosses this port to capture-NODE-PORT.pcapng, such as leaf0:3; NODE "
     "alone for a host",
     0},
    {"capture-limit", OPTION_CAPTURE_LIMIT, "N", 0,
     "Keep the first N frames of each captured port (default: 1000000)", 0},
    {"capture-bytes", OPTION_CAPTURE_BYTES, "N", 0,
     "Keep the first N bytes of each captured frame (default: all)", 0},
    {"trace", OPTION_TRACE, "FILE", 0,
     "Write every receive, enqueue, dequeue and drop of all nodes to FILE, in the text form of the "
     "ns-3 RDMA family; of one run at a time",
     0},
    {"trace-until", OPTION_TRACE_UNTIL, "TIME", 0,
     "End the trace at this simulated time, such as 500us (default: with the run)", 0},
    {"no-expect", OPTION_NO_EXPECT, NULL, 0,
     "Do not test the scenario's expectations, such as after a --set that they do not know of", 0},
    {"wire-check", OPTION_WIRE_CHECK, "all", OPTION_ARG_OPTIONAL,
     "Write every control frame, with =all ACKs and tags of data, too, as octets at every hop, "
     "read "
     "it again, and end the run if it does not come back as it was sent",
     0},
    {"parts", OPTION_PARTS, "FILE", OPTION_HIDDEN,
     "Under mpirun: the rank of each node, hosts first, as numbers in FILE", 0},
    {0},
};

/* Returns "run-", the file's name without folder and ending, and the seed if one is given: runs of
 * a file with one seed each go to as many folders. The caller frees it. */
static char *default_output(const struct run_arguments *a, const char *file)
{
    const struct cli_options *shared = &a->shared;
    const char *slash = strrchr(file, '/'), *seed = NULL;
    const char *name = slash ? slash + 1 : file;
    const char *dot = strrchr(name, '.');
    char *output;
    if (!strcmp(file, "-"))
        name = "stdin";
    for (uint32_t i = 0; i < shared->n_settings; i++)
        if (!strcmp(shared->settings[i].key, "seed"))
            seed = shared->settings[i].value;
    const int length = dot && dot > name ? (int)(dot - name) : (int)strlen(name);
    if (a->seeds.n)
        seed = "s";
    XOFF_ASSERT(asprintf(&output, "run-%.*s%s%s", length, name, seed ? "-seed" : "",
                         seed ? seed : "") >= 0);
    return output;
}

static bool has_same_output(const struct run_arguments *a, const char *file, const char *other)
{
    char *one = default_output(a, file), *two = default_output(a, other);
    const bool is_same = !strcmp(one, two);
    free(one);
    free(two);
    return is_same;
}

/* The first seed becomes a setting, as by --seed. */
static void set_first_seed(struct run_arguments *a, struct argp_state *state)
{
    struct cli_options *o = &a->shared;
    for (uint32_t i = 0; i < o->n_settings; i++)
        if (!strcmp(o->settings[i].key, "seed"))
            argp_error(state, "--seeds and --seed: give one of them");
    for (uint32_t i = 0; i < o->n_files; i++)
        if (!strcmp(o->files[i], "-"))
            argp_error(state, "--seeds reads the scenario again for every seed: give a file");
    if (o->n_settings == CLI_MAX_SETTINGS)
        argp_error(state, "more than %d settings", CLI_MAX_SETTINGS);
    o->settings[o->n_settings++] = (struct plan_setting){"seed", a->seeds.first};
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct run_arguments *a = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &a->shared;
        state->child_inputs[1] = &a->checkpoint;
        return 0;
    case 'o':
        a->output = arg;
        return 0;
    case OPTION_VARIANT:
        a->variants = realloc(a->variants, sizeof *a->variants * (a->n_variants + 1));
        XOFF_ASSERT(a->variants);
        a->variants[a->n_variants++] = arg;
        return 0;
    case OPTION_CSV:
        a->csv = true;
        return 0;
    case OPTION_NO_REPORT:
        a->no_report = true;
        return 0;
    case OPTION_PRINT_CONFIG:
        a->print_config = true;
        return 0;
    case OPTION_ESTIMATE:
        a->estimate = true;
        return 0;
    case OPTION_WRITE:
        if (strcmp(arg, "hpcc") && strcmp(arg, "conweave") && strcmp(arg, "none"))
            argp_error(state, "--write %s: give hpcc, conweave or none", arg);
        a->write = arg;
        return 0;
    case OPTION_COMPARE:
        a->compare = arg;
        return 0;
    case OPTION_CAPTURE:
        a->captures = realloc(a->captures, sizeof *a->captures * (a->n_captures + 1));
        XOFF_ASSERT(a->captures);
        a->captures[a->n_captures++] = arg;
        return 0;
    case OPTION_CAPTURE_LIMIT: {
        int64_t n;
        if (xoff_parse_int(arg, &n) || n < 1)
            argp_error(state, "--capture-limit %s: give a number of frames, 1 or more", arg);
        a->capture_limit = (uint64_t)n;
        return 0;
    }
    case OPTION_CAPTURE_BYTES: {
        int64_t n;
        if (xoff_parse_int(arg, &n) || n < 64 || n > UINT16_MAX)
            argp_error(state, "--capture-bytes %s: give a number from 64 to 65535", arg);
        a->capture_bytes = (uint32_t)n;
        return 0;
    }
    case OPTION_SEEDS: {
        struct xoff_err err = {0};
        free(a->seeds.list);
        if (seed_list_parse(arg, &a->seeds.list, &a->seeds.n, &err))
            argp_error(state, "--seeds %s: %s", arg, err.message);
        snprintf(a->seeds.first, sizeof a->seeds.first, "%llu",
                 (unsigned long long)a->seeds.list[0]);
        return 0;
    }
    case OPTION_JOBS: {
        int64_t n;
        if (xoff_parse_int(arg, &n) || n < 1 || n > 1024)
            argp_error(state, "--jobs %s: give a number from 1 to 1024", arg);
        a->seeds.n_jobs = (uint32_t)n;
        return 0;
    }
    case OPTION_FORK_AT:
        if (xoff_parse_time(arg, &a->fork_at) || a->fork_at <= 0)
            argp_error(state, "--fork-at %s: give a simulated time above 0, such as 10ms", arg);
        return 0;
    case OPTION_PARTS:
        a->parts = arg;
        return 0;
    case OPTION_NO_EXPECT:
        a->no_expect = true;
        return 0;
    case OPTION_WIRE_CHECK:
        if (arg && strcmp(arg, "all"))
            argp_error(state, "--wire-check=%s: can only be =all, or alone", arg);
        a->wire_check = true;
        a->wire_check_all = arg != NULL;
        return 0;
    case OPTION_TRACE:
        if (!*arg)
            argp_error(state, "--trace needs the name of a file");
        a->trace = arg;
        return 0;
    case OPTION_TRACE_UNTIL:
        if (xoff_parse_time(arg, &a->trace_until) || a->trace_until <= 0)
            argp_error(state, "--trace-until %s: give a time above 0, such as 500us", arg);
        return 0;
    case ARGP_KEY_END:
        if (!a->shared.n_files)
            argp_error(state, "no scenario file given");
        if (a->seeds.n)
            set_first_seed(a, state);
        if (a->output && !*a->output)
            argp_error(state, "--output needs the name of a folder");
        for (uint32_t i = 1; i < a->shared.n_files; i++)
            for (uint32_t k = 0; k < i; k++)
                if (has_same_output(a, a->shared.files[i], a->shared.files[k]))
                    argp_error(state,
                               "%s and %s would write to the same folder; run them one by one "
                               "with --output",
                               a->shared.files[k], a->shared.files[i]);
        if (checkpoint_is_wanted(&a->checkpoint) && (a->seeds.n || a->shared.n_files > 1))
            argp_error(state, "--checkpoint is of one scenario with one seed: run them one by one");
        if (a->fork_at && (a->seeds.n || checkpoint_is_wanted(&a->checkpoint)))
            argp_error(state, "--fork-at goes neither with --seeds nor with --checkpoint");
        if (a->compare && a->shared.n_files > 1)
            argp_error(state, "--compare names the results of one run, but there are %u files",
                       a->shared.n_files);
        if (a->trace && a->shared.n_files > 1)
            argp_error(state, "--trace names one file, but there are %u scenarios",
                       a->shared.n_files);
        if (a->trace_until && !a->trace)
            argp_error(state, "--trace-until ends a trace: give --trace, too");
        if (a->output && a->shared.n_files > 1)
            argp_error(state, "--output names one folder, but there are %u files",
                       a->shared.n_files);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const char *plural(uint32_t n)
{
    return n == 1 ? "" : "s";
}

static void print_head(const struct cli_run *runs)
{
    const struct cli_style *s = cli_style(stdout);
    const struct results *r = runs[0].results;
    const uint32_t n_switches = r->n_nodes - r->n_hosts, n_links = r->n_ports / 2;
    printf("%s%s%s\n", s->bold, *r->title ? r->title : r->scenario_file, s->off);
    printf("%u host%s, %u switch%s, %u link%s; ", r->n_hosts, plural(r->n_hosts), n_switches,
           n_switches == 1 ? "" : "es", n_links, plural(n_links));
    if (r->seeds)
        printf("%u seed%s from %llu on\n", r->seeds->n, plural(r->seeds->n),
               (unsigned long long)r->seed);
    else
        printf("seed %llu\n", (unsigned long long)r->seed);
}

static bool writes_hpcc(const struct run_arguments *a, const struct hpcc_config *import)
{
    return import && (!a->write || strcmp(a->write, "none"));
}

static bool has_node_ids(const struct run_arguments *a, const struct hpcc_config *import)
{
    return a->write ? !strcmp(a->write, "conweave") : hpcc_is_conweave(import);
}

static void print_tail(const struct cli_run *runs, uint32_t n_runs, const char *files)
{
    const struct cli_style *s = cli_style(stdout);
    putchar('\n');
    for (uint32_t i = 0; i < n_runs; i++) {
        const struct results *r = runs[i].results;
        char hex[17], text[32];
        const struct digest d = {r->digest};
        digest_hex(&d, hex);
        if (r->seeds)
            printf("seed %llu: ", (unsigned long long)r->seed);
        printf("%s%s%sdigest %s%s%s  %s%s in %.2f s, %.1f M packet-hops/s", r->variant,
               *r->variant ? ": " : "", r->interrupted ? "INTERRUPTED, " : "", s->bold, hex, s->off,
               s->dim, cli_figure(text, sizeof text, (double)r->end_at / (double)XOFF_S, "s"),
               r->wall_s, r->wall_s > 0 ? (double)r->packet_hops / r->wall_s / 1e6 : 0);
        if (r->threads > 1)
            printf(", %u threads", r->threads);
        if (r->ranks > 1)
            printf(", %u ranks", r->ranks);
        printf("%s\n", s->off);
    }
    fputs(files, stdout);
}

/* Writes report.html beside run.sqlite. A page that cannot be made of good results is reported and
 * left out: *has_page is then false. Returns 0, or -XOFF_E_IO: it could not be written. */
static int write_report(const struct folder *folder, bool *has_page, struct xoff_err *err)
{
    const char *aside = folder_aside(folder);
    char *path;
    XOFF_ASSERT(asprintf(&path, "%s/report.html", aside) >= 0);
    const int code = report_create(&aside, 1, path, err);
    *has_page = !code;
    free(path);
    if (code && code != -XOFF_E_IO) {
        folder_explain(folder, err);
        cli_print_error(err);
    }
    return code == -XOFF_E_IO ? code : 0;
}

/* Writes all files and puts them in their places in `dir`, or none, and lists them in `told`.
 * Returns an exit status. */
static int write_files(const struct run_arguments *a, const struct hpcc_config *import,
                       const struct results *const *results, const struct summary *const *summaries,
                       uint32_t n, struct folder *folder, const char *dir, FILE *told)
{
    struct xoff_err err = {0};
    const char *aside = folder_aside(folder);
    bool has_page = false;
    int code = results_write(aside, results, summaries, n, a->csv, &err);
    fprintf(told, "results: %s/run.sqlite, %s/summary.json, %s/metrics.csv", dir, dir, dir);
    if (!code && writes_hpcc(a, import))
        code = cli_write_hpcc(aside, import, results[0], has_node_ids(a, import), dir, told, &err);
    fputc('\n', told);
    if (!code)
        code = cli_write_captures(aside, results, n, a->capture_bytes, dir, told, &err);
    if (!code && !a->no_report)
        code = write_report(folder, &has_page, &err);
    if (has_page)
        fprintf(told, "report: %s/report.html\n", dir);
    if (!code)
        code = folder_publish(folder, &err);
    if (code)
        folder_explain(folder, &err);
    else if (a->trace) /* beside the folder, which stays if this fails */
        code = cli_write_trace(a->trace, results[0], told, &err);
    if (code)
        cli_print_error(&err);
    return code || (!has_page && !a->no_report) ? EXIT_FAILED : EXIT_FINE;
}

/* Returns the file to compare with: in a folder the name that the config gives, or fct.txt. The
 * caller frees it. */
static char *compare_path(const char *given, const struct hpcc_config *import)
{
    struct stat status;
    char *path;
    if (stat(given, &status) || !S_ISDIR(status.st_mode)) {
        path = strdup(given);
        XOFF_ASSERT(path);
        return path;
    }
    XOFF_ASSERT(asprintf(&path, "%s/%s", given, cli_fct_name(import)) >= 0);
    if (stat(path, &status) == 0)
        return path;
    free(path);
    XOFF_ASSERT(asprintf(&path, "%s/%s", given, cli_fct_name(NULL)) >= 0);
    return path;
}

/* A trace is written after the run, which may be long: its folder is looked at before. */
static int check_trace(const char *path, const struct scenario *scenario, struct xoff_err *err)
{
    if (scenario->n_plans > 1)
        return xoff_err_set(err, XOFF_E_CONFLICT, "--trace", path,
                            "the scenario has several variants; choose one with --variant");
    char *copy = strdup(path);
    XOFF_ASSERT(copy);
    const int reason = access(dirname(copy), W_OK | X_OK) ? errno : 0;
    free(copy);
    return reason ? cli_cannot_write(path, reason, err) : 0;
}

/* Compares the runs, and prints what came out unless JSON is asked for. */
static void compare_runs(const struct run_arguments *a, const struct hpcc_config *import,
                         const struct theirs *theirs, struct cli_run *runs, uint32_t n)
{
    for (uint32_t i = 0; i < n && theirs->path; i++) {
        runs[i].compare = hpcc_compare(&theirs->fct, theirs->path, import, runs[i].results);
        XOFF_ASSERT(runs[i].compare);
        runs[i].results->compare = runs[i].compare;
        if (!a->shared.json)
            cli_print_compare(stdout, runs[i].results->variant, runs[i].compare);
    }
}

/* Finishes `n` runs of the scenario's plans, at least one; an interruption leaves fewer than there
 * are plans. */
static int finish(const struct run_arguments *a, const struct scenario *scenario,
                  const struct hpcc_config *import, const struct theirs *theirs,
                  struct seeds_run *seeds, struct cli_run *runs, uint32_t n, struct folder *folder,
                  const char *dir)
{
    const struct results **results = calloc(n, sizeof *results);
    const struct summary **summaries = calloc(n, sizeof *summaries);
    XOFF_ASSERT(results && summaries);
    for (uint32_t i = 0; i < n; i++) {
        results[i] = runs[i].results;
        summaries[i] = runs[i].summary;
    }
    FILE *words = a->shared.json ? stderr : stdout;
    if (!a->shared.json) {
        print_head(runs);
        if (seeds->seeds)
            seeds_print(stdout, runs, n);
        else
            cli_print_summary(stdout, runs, n);
        putchar('\n');
    }
    compare_runs(a, import, theirs, runs, n);
    int status = EXIT_FINE;
    for (uint32_t i = 0; i < n; i++) {
        cli_print_troubles(words, &runs[i]);
        if (!cli_passes_audit(scenario, runs[i].results, results, summaries, n, words))
            status = EXIT_FAILED;
    }
    if (seeds->seeds && seeds_audit(seeds, runs, words))
        status = EXIT_FAILED;
    /* Expectations are about the whole run: they are not checked for a part of it. */
    const bool is_short = runs[n - 1].is_short;
    if (cli_is_interrupted() || is_short) {
        fprintf(words, "%s: the results up to here are written, expectations not tested\n",
                is_short ? "out of memory (--memory)" : "interrupted");
        status = EXIT_FAILED;
    } else if (a->no_expect) {
        fprintf(words, "expectations are not tested\n");
    } else if (seeds->seeds ? seeds_expect(seeds, runs, words)
                            : cli_check_expectations(scenario, runs, results, summaries, words)) {
        if (a->shared.n_settings > (a->seeds.n > 0)) /* the first seed is a setting, too */
            fprintf(words, "the file's expectations do not know of --set; --no-expect leaves them "
                           "out\n");
        status = EXIT_FAILED;
    }
    char *text = NULL;
    size_t size;
    FILE *told = open_memstream(&text, &size);
    XOFF_ASSERT(told);
    struct write_progress *writing = cli_begin_writing(folder_aside(folder));
    const int written = write_files(a, import, results, summaries, n, folder, dir, told);
    fprintf(told, "written in %.2f s\n", cli_end_writing(writing));
    text_stream_close(told, &text);
    if (written)
        status = EXIT_FAILED;
    if (!a->shared.json)
        print_tail(runs, n, folder_is_published(folder) ? text : "");
    free(text);
    if (a->shared.json && results_write_json(stdout, results, summaries, n))
        status = EXIT_FAILED;
    free(results), free(summaries);
    return status;
}

static int run_file(const struct run_arguments *a, const char *file)
{
    struct cli_input input;
    struct xoff_err err = {0};
    int code = cli_read(&a->shared, file, &input, &err);
    if (!code && a->n_variants)
        code = scenario_keep(input.scenario, a->variants, a->n_variants, &err);
    if (!code && !input.import && a->write && strcmp(a->write, "none"))
        code = xoff_err_set(&err, XOFF_E_CONFLICT, "--write", a->write,
                            "node ids and ports of these files come from a config.txt; give one");
    struct theirs theirs = {0};
    if (!code && a->compare) {
        theirs.path = compare_path(a->compare, input.import);
        code = hpcc_fct_read(theirs.path, &theirs.fct, &err);
    }
    if (!code && a->fork_at && !a->print_config)
        code = fork_check(input.scenario, &err);
    if (!code && a->trace)
        code = check_trace(a->trace, input.scenario, &err);
    uint32_t *parts = NULL, n_parts = 0;
    if (!code && a->parts)
        code = cli_read_parts(a->parts, &parts, &n_parts, &err);
    int status = code ? cli_status(&err) : EXIT_FINE;
    if (cli_agree(&status, code))
        cli_print_error(&err);
    if (status) {
        theirs_fini(&theirs);
        free(parts);
        cli_input_fini(&input);
        return status;
    }
    const struct scenario *scenario = input.scenario;
    const struct hpcc_config *import = input.import;
    if (a->print_config || a->estimate) {
        status = a->estimate ? cli_estimate(&a->shared, &input) : cli_print_configs(&input);
        theirs_fini(&theirs);
        free(parts);
        cli_input_fini(&input);
        return status;
    }
    struct cli_run *runs = calloc(scenario->n_plans, sizeof *runs);
    XOFF_ASSERT(runs);
    char *usual = default_output(a, file);
    const char *dir = a->output ? a->output : usual;
    struct folder *folder = NULL;
    if (cli_is_first()) /* it is locked before the work, not after */
        code = folder_open(dir, results_names, &folder, &err);
    if (code)
        status = code == -XOFF_E_CONFLICT ? EXIT_BAD_INPUT : EXIT_FAILED;
    if (cli_agree(&status, code))
        cli_print_error(&err);
    struct build_options options_of_build = {.n_threads = a->shared.n_threads,
                                             .memory_bytes = a->shared.memory_bytes,
                                             .cell_bound = a->shared.cell_bound,
                                             .parts = parts,
                                             .n_parts = n_parts,
                                             .captures = a->captures,
                                             .n_captures = a->n_captures,
                                             .capture_limit = a->capture_limit,
                                             .trace_until = !a->trace        ? 0
                                                            : a->trace_until ? a->trace_until
                                                                             : XOFF_NEVER,
                                             .keeps_heard = writes_hpcc(a, import),
                                             .wire_check = a->wire_check ? xoff_packet_check : NULL,
                                             .wire_checks_all = a->wire_check_all};
    if (writes_hpcc(a, import) &&
        hpcc_qlen_window(import, &options_of_build.histogram_from, &options_of_build.histogram_to))
        options_of_build.histogram_every = HPCC_QLEN_EVERY;
    struct checkpoint checkpoint = a->checkpoint;
    checkpoint.dir = dir;
    checkpoint.options = &a->shared;
    checkpoint.scenario = scenario;
    if (checkpoint_is_wanted(&checkpoint))
        input.checkpoint = &checkpoint;
    struct fork fork = {.at = a->fork_at};
    if (fork.at)
        input.fork = &fork;
    if (!status && !checkpoint.resumes && checkpoint_is_in(dir))
        fprintf(stderr, "%s has a checkpoint of an earlier run, which this one replaces\n", dir);
    uint32_t n = 0;
    bool is_short = false, is_kept = false;
    for (uint32_t i = 0; i < scenario->n_plans && !status && !cli_any(cli_is_interrupted()) &&
                         !is_short && !is_kept;
         i++, n++) {
        code = cli_run_plan(scenario->plans[i], &options_of_build, &input, &runs[i], &err);
        status = code ? cli_status(&err) : EXIT_FINE;
        if (cli_agree(&status, code)) {
            cli_print_build_error(&input, &err);
        } else if (status) {
            break;
        } else if (!runs[i].is_kept && a->wire_check &&
                   !cli_passes_wire_check(&runs[i], a->shared.json ? stderr : stdout)) {
            status = EXIT_FAILED;
        }
        is_short = runs[i].is_short;
        is_kept = runs[i].is_kept;
    }
    if (!status && input.checkpoint && cli_is_interrupted() && n < scenario->n_plans && !is_kept &&
        checkpoint_is_in(dir)) { /* between two variants */
        fprintf(stderr, "interrupted: xoff resume %s goes on\n", dir);
        is_kept = true;
    }
    if (is_kept && cli_is_interrupted())
        status = EXIT_FAILED;
    if (!status && !n) { /* a Ctrl-C arrived while the file was read */
        fprintf(stderr, "interrupted: %s has not been run\n", file);
        status = EXIT_FAILED;
    }
    struct seeds_run seeds = {.options = &a->seeds,
                              .shared = &a->shared,
                              .file = file,
                              .variants = a->variants,
                              .n_variants = a->n_variants,
                              .scenario = scenario};
    if (!status && a->seeds.n && (cli_is_interrupted() || is_short)) {
        fprintf(stderr, "%s: nothing is written\n",
                is_short ? "out of memory (--memory)" : "interrupted");
        status = EXIT_FAILED;
    }
    if (!status && a->seeds.n)
        status = seeds_go(&seeds, runs);
    if (!status && !is_kept && cli_is_first()) {
        cli_find_keys(runs, n, &a->shared);
        status = finish(a, scenario, import, &theirs, &seeds, runs, n, folder, dir);
    }
    seeds_fini(&seeds);
    image_fini(&fork.image);
    folder_close(folder);
    free(usual);
    for (uint32_t i = 0; i < scenario->n_plans; i++)
        cli_run_fini(&runs[i]);
    free(runs);
    free(parts);
    theirs_fini(&theirs);
    cli_input_fini(&input);
    return status;
}

/* Refuses what cannot be done over several ranks, whatever the file says. */
static int check_ranks(const struct run_arguments *a, struct xoff_err *err)
{
    if (!cli_ranks())
        return a->parts ? xoff_err_set(err, XOFF_E_CONFLICT, "--parts", a->parts,
                                       "is for several ranks: give mpirun -n 2 or more")
                        : 0;
    if (a->seeds.n)
        return xoff_err_set(err, XOFF_E_CONFLICT, "--seeds", NULL,
                            "not over several ranks: run it as one process, with --jobs");
    const char *what = checkpoint_is_wanted(&a->checkpoint) ? "--checkpoint"
                       : a->fork_at                         ? "--fork-at"
                       : a->estimate                        ? "--estimate"
                                                            : NULL;
    if (what)
        return xoff_err_set(err, XOFF_E_CONFLICT, what, NULL,
                            "not over several ranks yet: run it as one process, with --threads");
    for (uint32_t i = 0; i < a->shared.n_files; i++)
        if (!strcmp(a->shared.files[i], "-"))
            return xoff_err_set(err, XOFF_E_CONFLICT, "-", NULL,
                                "every rank reads the scenario: give a file");
    return 0;
}

/* `again` NULL: the command is a new one. */
static int run_command(int argc, char **argv, const char *dir, const char *text,
                       const struct checkpoint *again)
{
    static const struct argp_child children[] = {
        {&cli_options_argp, 0, NULL, 0}, {&checkpoint_argp, 0, NULL, 0}, {0}};
    static const struct argp argp = {
        .options = options,
        .parser = parse,
        .args_doc = "FILE...",
        .doc = "Runs each scenario with its variants, prints a summary and writes the results. A "
               "config.txt of the ns-3 RDMA family is run as it is.\v"
               "Exit status: 0 all fine, 1 an expectation or the audit failed, 2 bad input, or "
               "another process is writing to the folder.\n"
               "Example: xoff run scenarios/incast-pfc.yaml --set switch.pause=none\n"
               "         xoff run scenarios/quickstart.yaml --seeds 1..20\n"
               "         xoff run scenarios/quickstart.yaml --checkpoint 5m\n"
               "         xoff run scenarios/incast-pfc.yaml --estimate --memory 4GB\n"
               "         xoff run variants.yaml --fork-at 10ms\n"
               "         mpirun -n 4 xoff run scenarios/quickstart.yaml\n"
               "         xoff run mix/config.txt --compat ns3\n"
               "         xoff run mix/config.txt --compat ns3 --compare mix",
        .children = children};
    struct run_arguments a = {.seeds.n_jobs = batch_cores()};
    cli_options_init(&a.shared);
    /* Parsing changes the order of the words, and cuts settings at their '='. */
    char **words = calloc((size_t)argc, sizeof *words);
    XOFF_ASSERT(words);
    for (int i = 1; i < argc; i++)
        XOFF_ASSERT((words[i - 1] = strdup(argv[i])));
    cli_parse(&argp, argc, argv, 0, &a);
    if (again) {
        a.checkpoint.resumes = true;
        a.checkpoint.at = again->at;
        if (again->every_s > 0)
            a.checkpoint.every_s = again->every_s;
        a.shared.text = text;
        a.output = dir;
    }
    a.checkpoint.words = words;
    struct xoff_err err = {0};
    int status = EXIT_FINE;
    const int code = cli_start_ranks(&err) || check_ranks(&a, &err);
    if (code) {
        cli_print_error(&err);
        status = EXIT_BAD_INPUT;
    }
    for (uint32_t i = 0; i < a.shared.n_files && !code && !cli_any(cli_is_interrupted()); i++) {
        const int one = run_file(&a, a.shared.files[i]);
        status = one > status ? one : status;
    }
    cli_options_fini(&a.shared);
    free(a.captures);
    free(a.variants);
    free(a.seeds.list);
    for (int i = 1; i < argc; i++)
        free(words[i - 1]);
    free(words);
    return status;
}

int cmd_run(int argc, char **argv)
{
    return run_command(argc, argv, NULL, NULL, NULL);
}

int cli_run_again(int argc, char **argv, const char *dir, const char *text,
                  const struct checkpoint *how)
{
    return run_command(argc, argv, dir, text, how);
}
