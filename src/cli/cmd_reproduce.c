/* xoff reproduce: runs the experiments of papers and says which of their claims hold. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <xoff/units.h>

#include "cli/cli.h"
#include "report/report.h"
#include "reproduce/readme.h"
#include "stats/folder.h"

#ifndef XOFF_PAPERS
#define XOFF_PAPERS "/usr/local/share/xoff/papers"
#endif

struct reproduce_arguments {
    struct run_options options;
    struct plan_setting settings[CLI_MAX_SETTINGS];
    const char *output, *papers, *cache;
    char cache_folder[4096];
    bool json, is_writing;
    char **chosen; /* PAPER or PAPER/ID */
    uint32_t n_chosen;
};

enum {
    OPTION_QUICK = 512,
    OPTION_JOBS,
    OPTION_SEEDS,
    OPTION_FRESH,
    OPTION_CACHE,
    OPTION_PAPERS,
    OPTION_SET,
    OPTION_WRITE,
    OPTION_README
};

static const struct argp_option options[] = {
    {"quick", OPTION_QUICK, NULL, 0, "A reduced set: shorter runs, at most two seeds", 0},
    {"jobs", OPTION_JOBS, "N", 0, "Run N simulations at a time (default: one per core)", 0},
    {"seeds", OPTION_SEEDS, "N", 0, "Run everything with N seeds, whatever the claims say", 0},
    {"set", OPTION_SET, "KEY=VALUE", 0, "Change one key of every scenario: what depends on it?", 0},
    {"output", 'o', "DIR", 0, "Folder for reproduce.html and reproduce.json (default: reproduce)",
     0},
    {"fresh", OPTION_FRESH, NULL, 0, "Run everything again, whatever earlier runs found", 0},
    {"cache", OPTION_CACHE, "DIR", 0,
     "Folder that keeps what runs found (default: $XDG_CACHE_HOME/xoff or ~/.cache/xoff)", 0},
    {"papers", OPTION_PAPERS, "DIR", 0,
     "Folder of the papers (default: papers, then " XOFF_PAPERS ")", 0},
    {"write", OPTION_WRITE, NULL, 0,
     "After a full run, write " SHIPPED_FILE " and " README_FILE " to the folder of each paper", 0},
    {"readme", OPTION_README, NULL, 0,
     "Run nothing: print " README_FILE " as made of " CLAIMS_FILE " and " SHIPPED_FILE, 0},
    {"json", 'j', NULL, 0, "Print JSON instead of text", 0},
    {0},
};

static uint32_t parse_count(struct argp_state *state, const char *option, const char *arg,
                            int64_t most)
{
    int64_t n;
    if (xoff_parse_int(arg, &n) || n < 1 || n > most)
        argp_error(state, "%s %s: give a number from 1 to %lld", option, arg, (long long)most);
    return (uint32_t)n;
}

static void add_setting(struct reproduce_arguments *a, struct argp_state *state, char *arg)
{
    char *equals = strchr(arg, '=');
    if (!equals || equals == arg)
        argp_error(state, "--set %s: give KEY=VALUE, such as switch.pause=none", arg);
    if (a->options.n_settings == CLI_MAX_SETTINGS)
        argp_error(state, "more than %d settings", CLI_MAX_SETTINGS);
    *equals = '\0';
    if (!strcmp(arg, "seed"))
        argp_error(state, "--set seed: seeds are chosen by --seeds");
    a->settings[a->options.n_settings++] = (struct plan_setting){arg, equals + 1};
}

/* Shipped results are those of whole papers as they are. */
static void check_full(const struct reproduce_arguments *a, struct argp_state *state)
{
    const char *const option = a->is_writing ? "--write" : "--readme";
    if (!a->is_writing && !a->options.runs_nothing)
        return;
    if (a->is_writing && a->options.runs_nothing)
        argp_error(state, "--write runs everything and --readme nothing; give one of them");
    if (a->options.is_quick || a->options.n_seeds || a->options.n_settings)
        argp_error(state, "%s goes without --quick, --seeds and --set", option);
    for (uint32_t i = 0; i < a->n_chosen; i++)
        if (strchr(a->chosen[i], '/') && strchr(a->chosen[i], '/')[1])
            argp_error(state, "%s is about whole papers; leave out the part after the slash in %s",
                       option, a->chosen[i]);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct reproduce_arguments *a = state->input;
    switch (key) {
    case OPTION_QUICK:
        a->options.is_quick = true;
        return 0;
    case OPTION_JOBS:
        a->options.n_workers = parse_count(state, "--jobs", arg, 1024);
        return 0;
    case OPTION_SEEDS:
        a->options.n_seeds = parse_count(state, "--seeds", arg, CLAIMS_MAX_SEEDS);
        return 0;
    case OPTION_SET:
        add_setting(a, state, arg);
        return 0;
    case 'o':
        a->output = arg;
        return 0;
    case OPTION_FRESH:
        a->options.is_fresh = true;
        return 0;
    case OPTION_CACHE:
        a->cache = arg;
        return 0;
    case OPTION_PAPERS:
        a->papers = arg;
        return 0;
    case 'j':
        a->json = true;
        return 0;
    case OPTION_WRITE:
        a->is_writing = true;
        return 0;
    case OPTION_README:
        a->options.runs_nothing = true;
        return 0;
    case ARGP_KEY_ARG:
        a->chosen = realloc(a->chosen, sizeof *a->chosen * (a->n_chosen + 1));
        XOFF_ASSERT(a->chosen);
        if (!strncmp(arg, "papers/", 7)) /* a path, from completion */
            arg += 7;
        a->chosen[a->n_chosen++] = arg;
        return 0;
    case ARGP_KEY_END:
        if (!*a->output || (a->cache && !*a->cache) || (a->papers && !*a->papers))
            argp_error(state, "--output, --cache and --papers need the name of a folder");
        check_full(a, state);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static bool is_folder(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

static void print_mistake(const char *subject, const char *message)
{
    struct xoff_err err = {0};
    xoff_err_set(&err, XOFF_E_UNKNOWN, subject, NULL, message);
    cli_print_error(&err);
}

static void print_unknown(const char *chosen, const char *dir, char **names, uint32_t n)
{
    char message[300];
    snprintf(message, sizeof message, "no such paper in %.200s; there %s", dir,
             n ? n == 1 ? "is" : "are" : "are none");
    print_mistake(chosen, message);
    for (uint32_t i = 0; i < n; i++)
        fprintf(stderr, "  %s\n", names[i]);
    if (!n)
        fprintf(stderr, "papers lie in the source tree, or where you say: --papers=DIR\n");
    if (strspn(chosen, "0123456789") == strlen(chosen))
        fprintf(stderr, "to run so many at a time: --jobs %s\n", chosen);
}

static void print_unknown_id(const char *chosen, const struct paper *paper)
{
    print_mistake(chosen, "no such figure or claim; there are");
    for (uint32_t i = 0; i < paper->n_figures; i++)
        fprintf(stderr, "  figure %s: %s\n", paper->figures[i].id, paper->figures[i].title);
    for (uint32_t i = 0; i < paper->n_claims; i++)
        fprintf(stderr, "  claim %s (%s)\n", paper->claims[i].id, paper->claims[i].place);
}

/* Adds PAPER or PAPER/ID to the board. */
static int add_chosen(const struct reproduce_arguments *a, struct scoreboard *board,
                      const char *dir, const char *chosen, char **names, uint32_t n_names)
{
    char name[256];
    const char *slash = strchr(chosen, '/');
    const char *id = slash && slash[1] ? slash + 1 : NULL;
    snprintf(name, sizeof name, "%.*s", slash ? (int)(slash - chosen) : (int)strlen(chosen),
             chosen);
    uint32_t i = 0;
    while (i < n_names && strcmp(names[i], name))
        i++;
    if (i == n_names) {
        print_unknown(chosen, dir, names, n_names);
        return EXIT_BAD_INPUT;
    }
    struct paper *paper;
    struct xoff_err err;
    if (claims_read(dir, name, &paper, &err)) {
        cli_print_error(&err);
        return EXIT_BAD_INPUT;
    }
    struct shipped *shipped = NULL;
    if (!a->is_writing && shipped_read(paper, &shipped, &err)) {
        cli_print_error(&err);
        claims_destroy(paper);
        return EXIT_BAD_INPUT;
    }
    if (scoreboard_add(board, paper, shipped, id))
        return EXIT_FINE;
    print_unknown_id(chosen, paper);
    claims_destroy(paper);
    shipped_destroy(shipped);
    return EXIT_BAD_INPUT;
}

/* Whether the same choice came before, or its whole paper is chosen. */
static bool is_chosen_before(const struct reproduce_arguments *a, uint32_t i)
{
    for (uint32_t k = 0; k < a->n_chosen; k++) {
        const size_t length = strlen(a->chosen[k]);
        const bool is_same = !strcmp(a->chosen[k], a->chosen[i]);
        const bool is_whole = !strncmp(a->chosen[k], a->chosen[i], length) &&
                              a->chosen[i][length] == '/' && a->chosen[i][length + 1];
        if ((is_same && k < i) || is_whole)
            return true;
    }
    return false;
}

/* Adds everything chosen, or all papers. Reports every error, not only the first. */
static int add_papers(const struct reproduce_arguments *a, struct scoreboard *board)
{
    const char *dir = a->papers ? a->papers : is_folder("papers") ? "papers" : XOFF_PAPERS;
    uint32_t n_names;
    errno = 0;
    char **names = claims_list(dir, &n_names);
    const bool is_unreadable = errno && errno != ENOENT && errno != ENOTDIR;
    if (is_unreadable) {
        print_mistake(dir, strerror(errno));
        return EXIT_FAILED;
    }
    if (!n_names && !a->papers && strcmp(dir, XOFF_PAPERS)) { /* a folder of that name by chance */
        free(names);
        dir = XOFF_PAPERS;
        names = claims_list(dir, &n_names);
    }
    int status = EXIT_FINE;
    if (!n_names && !a->n_chosen) {
        char message[300];
        snprintf(message, sizeof message, "there are no papers in %.200s; name their folder", dir);
        print_mistake("--papers", message);
        status = EXIT_BAD_INPUT;
    }
    for (uint32_t i = 0; i < (a->n_chosen ? a->n_chosen : n_names); i++)
        if (!is_chosen_before(a, i) &&
            add_chosen(a, board, dir, a->n_chosen ? a->chosen[i] : names[i], names, n_names))
            status = EXIT_BAD_INPUT;
    for (uint32_t i = 0; i < n_names; i++)
        free(names[i]);
    free(names);
    return status;
}

static bool on_progress(void *context, uint32_t n_done, uint32_t n_runs)
{
    const double *began_s = context;
    if (!cli_is_terminal(stderr))
        return !cli_is_interrupted();
    fprintf(stderr, "\r%u of %u runs, %.0f s", n_done, n_runs, cli_clock() - *began_s);
    fprintf(stderr, n_done == n_runs ? "\r\033[K" : "\033[K");
    return !cli_is_interrupted();
}

static const char *const file_names[] = {"reproduce.html", "reproduce.json", NULL};

/* Writes both files, or none; returns an exit status. */
static int write_files(struct folder *folder, const char *json)
{
    char *page, *data;
    struct xoff_err err = {0};
    XOFF_ASSERT(asprintf(&page, "%s/%s", folder_aside(folder), file_names[0]) >= 0);
    XOFF_ASSERT(asprintf(&data, "%s/%s", folder_aside(folder), file_names[1]) >= 0);
    int code = report_write_page(page, REPORT_REPRODUCE, SCOREBOARD_TITLE, json, &err);
    const int reason = code ? 0 : cli_write_text(data, "w", json);
    if (reason)
        code = cli_cannot_write(data, reason, &err);
    if (!code)
        code = folder_publish(folder, &err);
    if (code) {
        folder_explain(folder, &err);
        cli_print_error(&err);
    }
    free(page);
    free(data);
    return code ? EXIT_FAILED : EXIT_FINE;
}

static void print_board(const struct reproduce_arguments *a, const struct scoreboard *board,
                        const char *json)
{
    const struct cli_style *s = cli_style(stdout);
    const bool is_fixed = cli_is_terminal(stdout) || getenv("COLUMNS");
    const struct scoreboard_style style = {s->bold,
                                           s->dim,
                                           s->red,
                                           s->green,
                                           s->yellow,
                                           s->off,
                                           is_fixed ? (int)cli_columns(stdout) : 0};
    if (a->json)
        puts(json);
    else
        scoreboard_print(board, &style, stdout);
    fflush(stdout);
    fprintf(stderr, "%u run%s, %u from the cache\n", board->runs.n_runs,
            board->runs.n_runs == 1 ? "" : "s", board->runs.n_cached);
    if (board->runs.store_reason)
        fprintf(stderr, "warning: what was found could not be kept in %s: %s\n",
                board->options->cache_folder, strerror(board->runs.store_reason));
    scoreboard_errors(board, cli_print_error);
}

static bool is_stale; /* set by say_stale() where the results do not know a claim */

static void say_stale(const struct paper *paper, const struct claim *claim, const char *reading,
                      bool is_known)
{
    struct xoff_err err = {0};
    xoff_err_set(&err, XOFF_E_MISSING, claim->id, *reading ? reading : NULL,
                 is_known ? "changed since " SHIPPED_FILE " was written"
                          : "not in " SHIPPED_FILE "; write it with xoff reproduce --write");
    snprintf(err.file, sizeof err.file, "%s", paper->file);
    err.line = claim->at.line;
    err.column = claim->at.column;
    if (is_known)
        cli_print_warning(&err);
    else
        cli_print_error(&err);
    is_stale |= !is_known;
}

static void say_changed(const char *scenario)
{
    fprintf(stderr, "warning: %s was changed since " SHIPPED_FILE " was written\n", scenario);
}

/* Prints README.md of each paper. Without running anything, what is out of date is named. */
static int print_readmes(struct scoreboard *board)
{
    int status = EXIT_FINE;
    scoreboard_judge(board);
    is_stale = false;
    scoreboard_stale(board, say_stale);
    for (uint32_t i = 0; i < board->n_papers; i++) {
        const struct scored_paper *p = &board->papers[i];
        if (!p->shipped) {
            status = EXIT_BAD_INPUT;
            continue;
        }
        shipped_changed_scenarios(p->shipped, p->paper, say_changed);
        char *text = readme_text(p);
        fputs(text, stdout);
        free(text);
    }
    return status ? status : is_stale ? EXIT_FAILED : EXIT_FINE;
}

/* Writes results.json and README.md of a paper that was run. The page is made of the results as
 * they are written, so that --readme makes the same again. */
static int write_shipped(const struct scoreboard *board, const struct scored_paper *p)
{
    const struct run_options nothing = {.runs_nothing = true};
    struct scoreboard again = {.options = &nothing};
    struct paper *paper;
    struct shipped *shipped;
    struct xoff_err err;
    char *text = shipped_text(board, p), *results, *readme;
    int status = EXIT_FAILED;
    XOFF_ASSERT(asprintf(&results, "%s" SHIPPED_FILE, p->paper->folder) >= 0);
    XOFF_ASSERT(asprintf(&readme, "%s" README_FILE, p->paper->folder) >= 0);
    if (claims_read_text(p->paper->file, NULL, p->paper->text, strlen(p->paper->text), &paper,
                         &err) ||
        shipped_parse(results, text, strlen(text), &shipped, &err)) {
        cli_print_error(&err);
    } else {
        scoreboard_add(&again, paper, shipped, NULL);
        scoreboard_judge(&again);
        char *page = readme_text(&again.papers[0]);
        status = cli_write_file(results, text);
        if (!status)
            status = cli_write_file(readme, page);
        if (!status)
            fprintf(stderr, "written: %s, %s\n", results, readme);
        free(page);
        scoreboard_fini(&again);
    }
    free(results);
    free(readme);
    free(text);
    return status;
}

/* Judges, prints and writes after the runs. */
static int finish(const struct reproduce_arguments *a, struct scoreboard *board,
                  struct folder *folder)
{
    scoreboard_judge(board);
    const struct scoreboard_counts c = scoreboard_count(board);
    char *json = scoreboard_json(board);
    int status = c.n_worse || c.n_broken ? EXIT_FAILED : EXIT_FINE;
    print_board(a, board, json);
    if (c.n_bad_input) {
        fprintf(stderr, "nothing is written to %s: see the errors above\n", a->output);
        status = EXIT_BAD_INPUT;
    } else if (write_files(folder, json)) {
        status = EXIT_FAILED;
    } else if (!a->json) {
        printf("figures and claims: %s/reproduce.html\n", a->output);
    }
    if (a->is_writing && (status || c.n_better)) {
        fprintf(stderr,
                "nothing is written to the papers: their verdicts must first be as recorded "
                "in " CLAIMS_FILE "\n");
        status = status ? status : EXIT_FAILED;
    }
    for (uint32_t i = 0; i < board->n_papers && a->is_writing && !status; i++)
        status = write_shipped(board, &board->papers[i]);
    free(json);
    return status;
}

static int reproduce(struct reproduce_arguments *a)
{
    struct scoreboard board = {.options = &a->options};
    double began_s = cli_clock();
    cli_catch_interrupts();
    a->options.progress = on_progress;
    a->options.progress_context = &began_s;
    a->options.binary = cache_binary("/proc/self/exe");
    int status = EXIT_FINE;
    struct folder *folder = NULL;
    if (a->options.runs_nothing) {
        status = add_papers(a, &board);
        status = status ? status : print_readmes(&board);
        scoreboard_fini(&board);
        return status;
    }
    status = cli_open_folder(a->output, file_names, &folder); /* before the work */
    if (!status)
        status = add_papers(a, &board);
    if (!status && !runs_go(&board.runs)) {
        fprintf(stderr, "%sinterrupted: nothing is written; runs that had ended are kept\n",
                cli_is_terminal(stderr) ? "\r\033[K" : "");
        status = EXIT_FAILED;
    }
    if (!status)
        status = finish(a, &board, folder);
    folder_close(folder);
    scoreboard_fini(&board);
    return status;
}

int cmd_reproduce(int argc, char **argv)
{
    static const struct argp argp = {
        .options = options,
        .parser = parse,
        .args_doc = "[PAPER[/FIGURE]...]",
        .doc = "Runs the experiments of papers, says which of their claims hold, and draws their "
               "figures anew beside the paper's numbers. A claim's id in the place of FIGURE "
               "chooses that claim. What was run before with the same program, scenario and "
               "settings is not run again.\v"
               "Exit status: 0 all claims are as recorded or better, 1 one is worse, 2 bad input.\n"
               "Example: xoff reproduce --quick\n"
               "         xoff reproduce fairness-in-a-data-center/6-1 --seeds 5\n"
               "         xoff reproduce dsh --write"};
    struct reproduce_arguments a = {.output = "reproduce"};
    a.options.n_workers = batch_cores();
    a.options.settings = a.settings;
    cli_parse(&argp, argc, argv, 0, &a);
    if (a.cache)
        a.options.cache_folder = a.cache;
    else if (cache_default_folder(a.cache_folder, sizeof a.cache_folder))
        a.options.cache_folder = a.cache_folder;
    const int status = reproduce(&a);
    free(a.chosen);
    return status;
}
