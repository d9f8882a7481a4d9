/* xoff explain: says why runs went as they did. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/explain_try.h"

#define MOST_ROOTS 8

struct explain_arguments {
    const char **results;
    uint32_t n_results;
    bool json, is_brief, tries;
};

enum { OPTION_TRY = 256 };

static const struct argp_option options[] = {
    {"brief", 'b', NULL, 0, "Print what happened without the evidence", 0},
    {"json", 'j', NULL, 0, "Print JSON instead of text", 0},
    {"try", OPTION_TRY, NULL, 0,
     "Run the scenario again with each change that may help, and say what it gains", 0},
    {0},
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct explain_arguments *a = state->input;
    switch (key) {
    case 'b':
        a->is_brief = true;
        return 0;
    case 'j':
        a->json = true;
        return 0;
    case OPTION_TRY:
        a->tries = true;
        return 0;
    case ARGP_KEY_ARG:
        a->results = realloc(a->results, (a->n_results + 1) * sizeof *a->results);
        XOFF_ASSERT(a->results);
        a->results[a->n_results++] = arg;
        return 0;
    case ARGP_KEY_END:
        if (!a->n_results)
            argp_error(state, "no results given, such as run-quickstart");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* Prints a run's explanation, or with --json only returns it. */
static json_t *say(const struct explanation *made, const struct explain_arguments *a, bool is_first)
{
    if (!a->json) {
        char *text = explain_text(made, a->is_brief);
        printf("%s%s", is_first ? "" : "\n", text);
        free(text);
    }
    json_t *tried =
        a->tries ? cli_try(made, 1, cli_free_memory(), a->json ? NULL : stdout) : json_array();
    return json_pack("{ss so so}", "variant", explain_variant(made), "explain",
                     explain_json(made, MOST_ROOTS), "tried", tried);
}

/* Explains all runs of a file, the later ones also against the first. */
static int explain_file(const char *results, const struct explain_arguments *a, json_t *files)
{
    struct run_file file;
    struct xoff_err err = {0};
    int64_t *ids = NULL;
    uint32_t n = 0, n_made = 0;
    int code = run_file_open(results, &file, &err);
    if (!code && (code = run_file_list(&file, &ids, &n, &err)))
        n = 0;
    struct explanation **made = calloc(n + 1, sizeof *made);
    XOFF_ASSERT(made);
    for (; n_made < n && !(code = explain_run(&file, ids[n_made], &made[n_made], &err)); n_made++)
        if (n_made)
            explain_against(made[n_made], made[0]);
    if (code)
        cli_print_error(&err);
    json_t *runs = json_array();
    for (uint32_t i = 0; i < n_made && !code; i++)
        json_array_append_new(runs, say(made[i], a, !i));
    if (!code && a->json)
        json_array_append_new(files, json_pack("{ss so}", "results", results, "runs", runs));
    else
        json_decref(runs);
    for (uint32_t i = 0; i < n_made; i++)
        explain_destroy(made[i]);
    free(made);
    if (ids && n)
        free(ids);
    if (file.path)
        run_file_close(&file);
    return code ? EXIT_BAD_INPUT : EXIT_FINE;
}

int cmd_explain(int argc, char **argv)
{
    static const struct argp argp = {
        .options = options,
        .parser = parse,
        .args_doc = "RESULTS...",
        .doc = "Says in plain words what happened in a run: where congestion began, whom it hurt "
               "and how much, and what may help.\v"
               "RESULTS is a folder that xoff run left, or its run.sqlite.\n"
               "Exit status: 0 explained, 2 bad input.\n"
               "Example: xoff explain run-quickstart"};
    struct explain_arguments a = {0};
    cli_parse(&argp, argc, argv, 0, &a);
    int status = EXIT_FINE;
    json_t *files = json_array();
    for (uint32_t i = 0; i < a.n_results; i++) {
        if (!a.json && a.n_results > 1)
            printf("%s%s:\n", i ? "\n" : "", a.results[i]);
        const int one = explain_file(a.results[i], &a, files);
        status = one > status ? one : status;
    }
    if (a.json && status == EXIT_FINE) {
        json_t *answer = json_pack("{ss so}", "xoff", XOFF_VERSION, "files", files);
        json_dumpf(answer, stdout, JSON_INDENT(1));
        putchar('\n');
        json_decref(answer);
    } else {
        json_decref(files);
    }
    free(a.results);
    return status;
}
