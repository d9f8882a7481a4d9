/* xoff report: writes the page of one or more results, at any time after their runs. */
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/cli.h"
#include "report/report.h"
#include "stats/folder.h"

struct report_arguments {
    const char *output;
    const char **results;
    uint32_t n_results;
};

static const struct argp_option options[] = {
    {"output", 'o', "FILE", 0,
     "Write the page there (default: report.html beside the results, or compared.html here)", 0},
    {0},
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct report_arguments *a = state->input;
    switch (key) {
    case 'o':
        if (!*arg)
            argp_error(state, "--output needs the name of a file");
        a->output = arg;
        return 0;
    case ARGP_KEY_ARG:
        a->results = realloc(a->results, (a->n_results + 1) * sizeof *a->results);
        XOFF_ASSERT(a->results);
        a->results[a->n_results++] = arg;
        return 0;
    case ARGP_KEY_END:
        if (a->output && (!*a->output || !strcmp(a->output, "-")))
            argp_error(state, "--output needs the name of a file");
        if (!a->n_results)
            argp_error(state, "no results given, such as run-quickstart");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* The default is beside the run.sqlite that `results` names or holds. */
static char *default_path(const char *results)
{
    struct stat status;
    const char *slash = strrchr(results, '/');
    int length = (int)strlen(results);
    if (stat(results, &status) || !S_ISDIR(status.st_mode))
        length = slash ? (int)(slash - results) : 0;
    while (length > 1 && results[length - 1] == '/')
        length--;
    char *path;
    XOFF_ASSERT(asprintf(&path, "%.*s%sreport.html", length, results, length || slash ? "/" : "") >=
                0);
    return path;
}

/* A page must not overwrite the results it is made of, or others. */
static bool is_results_file(const char *path)
{
    char head[16] = "";
    FILE *in = fopen(path, "rb");
    const size_t n = in ? fread(head, 1, sizeof head, in) : 0;
    if (in)
        fclose(in);
    return n == sizeof head && !memcmp(head, "SQLite format 3", sizeof head);
}

/* Writes the page of the results beside them. A run into the same folder would replace the results
 * while they are read, and the page would be that of the old ones: the folder is locked. */
static int write_beside(const char *results, const char *path, struct xoff_err *err)
{
    struct stat status;
    struct folder *folder = NULL;
    char *copy = strdup(path);
    XOFF_ASSERT(copy);
    int code = 0;
    if (!stat(results, &status)) /* else there is nothing to lock, and nothing to read */
        code = folder_open(dirname(copy), results_names, &folder, err);
    if (!code)
        code = report_create(&results, 1, path, err);
    folder_close(folder);
    free(copy);
    return code;
}

int cmd_report(int argc, char **argv)
{
    static const struct argp argp = {
        .options = options,
        .parser = parse,
        .args_doc = "RUN...",
        .doc = "Writes a page to open in a browser: one file, which needs no network. RUN is a "
               "folder that xoff run wrote, or a run.sqlite; several are shown side by side.\v"
               "Exit status: 0 fine, 1 the page could not be written, 2 bad input, or another "
               "process is writing to the folder.\n"
               "Example: xoff report run-quickstart\n"
               "         xoff report run-before run-after -o compared.html"};
    struct report_arguments a = {0};
    cli_parse(&argp, argc, argv, 0, &a);
    struct xoff_err err = {0};
    const bool is_beside = !a.output && a.n_results == 1;
    char *path =
        is_beside ? default_path(a.results[0]) : strdup(a.output ? a.output : "compared.html");
    XOFF_ASSERT(path);
    int status = EXIT_FINE;
    if (is_results_file(path)) {
        xoff_err_set(&err, XOFF_E_CONFLICT, "--output", path,
                     "is a file of results; give the name of a page, such as x.html");
        cli_print_error(&err);
        status = EXIT_BAD_INPUT;
    } else if (is_beside ? write_beside(a.results[0], path, &err)
                         : report_create(a.results, a.n_results, path, &err)) {
        cli_print_error(&err);
        status = err.code == XOFF_E_IO ? EXIT_FAILED : EXIT_BAD_INPUT;
    } else {
        printf("report: %s\n", path);
    }
    free(path);
    free(a.results);
    return status;
}
