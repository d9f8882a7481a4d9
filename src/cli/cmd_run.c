/* xoff run: runs scenarios, prints summaries, writes results, checks expectations. */
#include <errno.h>
#include <jansson.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <xoff/units.h>

#include "base/digest.h"
#include "cli/fork.h"
#include "cli/run_options.h"
#include "many/batch.h"
#include "report/report.h"
#include "stats/folder.h"
#include "stats/text_stream.h"
#include "wire/packet_check.h"

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

static bool has_summaries(const struct scenario *scenario)
{
    for (uint32_t i = 0; i < scenario->n_plans; i++)
        if (scenario->plans[i]->net.summarises)
            return true;
    return false;
}

/* In place of results, with --json. A folder's name need not be UTF-8, which JSON has to be. */
static void print_kept(const char *dir)
{
    json_t *folder = json_string(dir);
    if (!folder)
        folder = json_null();
    json_t *kept =
        json_pack("{s:s, s:{s:o, s:s++}}", "xoff", XOFF_VERSION, "checkpoint", "folder", folder,
                  "resume", cli_mpirun(), "xoff resume ", json_is_null(folder) ? "DIR" : dir);
    XOFF_ASSERT(kept);
    json_dumpf(kept, stdout, JSON_INDENT(2));
    putchar('\n');
    json_decref(kept);
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
    if (!code && a->compare && has_summaries(input.scenario))
        code = xoff_err_set(&err, XOFF_E_CONFLICT, "--compare", a->compare,
                            "flows are compared one by one, and results: summary does not keep "
                            "them; give results: full");
    if (!code && a->compare) {
        theirs.path = compare_path(a->compare, input.import);
        code = hpcc_fct_read(theirs.path, &theirs.fct, &err);
    }
    if (!code && a->fork_at && !a->print_config)
        code = fork_check(input.scenario, a->fork_at, &err);
    if (!code && a->trace)
        code = check_trace(a->trace, input.scenario, &err);
    uint32_t *parts = NULL, n_parts = 0;
    if (!code && a->parts && !a->checkpoint.resumes) /* else the checkpoint knows them */
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
    char *usual = run_default_output(a, file);
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
        fprintf(stderr,
                "%s has a checkpoint of an earlier run, which this one replaces (xoff resume %s "
                "would go on from it)\n",
                dir, dir);
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
    const bool is_cut = cli_any(cli_is_interrupted());
    if (!status && input.checkpoint && is_cut && n < scenario->n_plans && !is_kept &&
        checkpoint_is_in(dir)) { /* between two variants */
        fprintf(stderr, "interrupted: %sxoff resume %s goes on\n", cli_mpirun(), dir);
        is_kept = true;
    }
    if (is_kept && a->shared.json && cli_is_first())
        print_kept(dir);
    if (is_kept && (is_cut || is_short))
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
    if (!status && a->seeds.n && (cli_any(cli_is_interrupted()) || is_short)) {
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
    cli_note_checkpoint(NULL);
    free(usual);
    for (uint32_t i = 0; i < scenario->n_plans; i++)
        cli_run_fini(&runs[i]);
    free(runs);
    free(parts);
    theirs_fini(&theirs);
    cli_input_fini(&input);
    return status;
}

/* `again` NULL: the command is a new one. */
static int run_command(int argc, char **argv, const char *dir, const char *text,
                       const struct checkpoint *again)
{
    struct run_arguments a = {0};
    cli_options_init(&a.shared);
    /* Parsing changes the order of the words, and cuts settings at their '='. */
    char **words = calloc((size_t)argc, sizeof *words);
    XOFF_ASSERT(words);
    for (int i = 1; i < argc; i++)
        XOFF_ASSERT((words[i - 1] = strdup(argv[i])));
    cli_parse(&run_argp, argc, argv, 0, &a);
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
    const int code = cli_start_ranks(&err) || run_check_ranks(&a, &err);
    if (!a.seeds.n_jobs)
        a.seeds.n_jobs = cli_ranks() ? 1 : batch_cores();
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
