/* The page of runs: all runs of all results given, with distinct names, in as much detail as a page
 * has room for.
 *
 * Limits are set so that the first attempt nearly always fits. When it does not (thousands of
 * traffic entries, long names), the page is made again with half of everything.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "explain/explain.h"
#include "report/page.h"
#include "report/run_parts.h"

#define MOST_LEVEL 4096

struct report_run {
    uint32_t file;
    int64_t id;
    json_t *explain;
};

struct report {
    struct run_file *files;
    uint32_t n_files;
    struct report_run *runs;
    uint32_t n_runs;
};

static uint32_t share(uint32_t whole, double part, uint32_t least)
{
    const uint32_t n = (uint32_t)(whole * part);
    return n < least ? least : n;
}

struct report_limits report_limits(uint32_t n_runs, uint32_t level)
{
    /* Parts with an area (series of points, rows of cells) shrink in both dimensions. */
    const double part = 1.0 / ((double)n_runs * level), side = sqrt(part);
    return (struct report_limits){
        .points = share(57600, part, 16),
        .series = share(24, side, 1),
        .buckets = share(600, level > 1 ? side : 1, 8),
        .cdf = share(400, side, 10),
        .entries = share(8, level > 1 ? side : 1, 1),
        .stop_rows = share(400, side, 2),
        .stops = share(24000, part, 20),
        .replay = share(120000, part, 20),
        .tree = share(200, side, 4),
        .victims = share(20, side, 2),
        .nodes = share(600, side, 10),
        .links = share(4000, part, 20),
        .drops = share(200, side, 5),
        .findings = share(100, side, 2),
        .deadlocks = share(20, side, 1),
        .watermarks = share(40, side, 2),
        .metrics = share(4000, part, 10),
        .text = share(200000, part, 200),
    };
}

static int open_all(struct report *r, const char *const *results, uint32_t n, struct xoff_err *err)
{
    r->files = calloc(n + 1, sizeof *r->files);
    XOFF_ASSERT(r->files);
    for (uint32_t i = 0; i < n; i++) {
        int64_t *ids;
        uint32_t n_ids;
        int code = run_file_open(results[i], &r->files[i], err);
        if (code)
            return code;
        r->n_files++;
        code = run_file_list(&r->files[i], &ids, &n_ids, err);
        if (code)
            return code;
        r->runs = realloc(r->runs, (r->n_runs + n_ids) * sizeof *r->runs);
        XOFF_ASSERT(r->runs);
        for (uint32_t k = 0; k < n_ids; k++)
            r->runs[r->n_runs++] = (struct report_run){.file = i, .id = ids[k]};
        free(ids);
    }
    return 0;
}

/* Explains every run, against the first of its file. */
static int explain_all(struct report *r, struct xoff_err *err)
{
    const uint32_t n_roots = share(8, 1 / sqrt(r->n_runs), 1);
    struct explanation *first = NULL;
    int code = 0;
    for (uint32_t i = 0; i < r->n_runs && !code; i++) {
        struct report_run *run = &r->runs[i];
        struct explanation *explanation;
        code = explain_run(&r->files[run->file], run->id, &explanation, err);
        if (code)
            break;
        const bool is_first = !i || run->file != r->runs[i - 1].file;
        if (!is_first)
            explain_against(explanation, first);
        run->explain = explain_json(explanation, n_roots);
        if (!is_first) {
            explain_destroy(explanation);
            continue;
        }
        explain_destroy(first);
        first = explanation;
    }
    explain_destroy(first);
    return code;
}

static void close_all(struct report *r)
{
    for (uint32_t i = 0; i < r->n_runs; i++)
        json_decref(r->runs[i].explain);
    for (uint32_t i = 0; i < r->n_files; i++)
        run_file_close(&r->files[i]);
    free(r->files);
    free(r->runs);
}

/* Names each run: its variant, with the folder where there are several files, and a number where
 * these do not tell two runs apart. */
static void name_runs(const struct report *r, json_t *runs)
{
    struct key_table names = {0};
    for (uint32_t i = 0; i < r->n_runs; i++) {
        json_t *run = json_array_get(runs, i);
        const char *variant = json_string_value(json_object_get(run, "variant"));
        const char *folder = r->files[r->runs[i].file].folder;
        const bool has_variant = variant && *variant;
        char name[600];
        if (r->n_files > 1 || !has_variant)
            snprintf(name, sizeof name, "%.280s%s%.280s", folder, has_variant ? " " : "",
                     has_variant ? variant : "");
        else
            snprintf(name, sizeof name, "%.280s", variant);
        const size_t length = strlen(name);
        for (uint32_t k = 2, n = names.n; key_put_text(&names, name, strlen(name)) < n; k++)
            snprintf(name + length, sizeof name - length, " #%u", k);
        json_object_set_new(run, "name", json_words(name, 0));
    }
    key_table_fini(&names);
}

/* Returns the title of the runs if all have the same. */
static char *title_of(const struct report *r, const json_t *runs)
{
    const char *title = json_string_value(json_object_get(json_array_get(runs, 0), "title"));
    char *copy;
    for (uint32_t i = 1; i < r->n_runs && title; i++) {
        const char *other = json_string_value(json_object_get(json_array_get(runs, i), "title"));
        if (!other || strcmp(other, title))
            title = NULL;
    }
    if (title && *title)
        copy = strdup(title);
    else if (r->n_files == 1)
        copy = strdup(r->files[0].folder);
    else if (asprintf(&copy, "%u runs", r->n_runs) < 0)
        copy = NULL;
    XOFF_ASSERT(copy);
    return copy;
}

/* Makes the document at a level of detail. Returns NULL with err on failure. The caller frees
 * both. */
static char *make(const struct report *r, uint32_t level, char **title, struct xoff_err *err)
{
    const struct report_limits limits = report_limits(r->n_runs, level);
    json_t *runs = json_array();
    XOFF_ASSERT(runs);
    for (uint32_t i = 0; i < r->n_runs; i++) {
        json_t *run = run_data_create(&r->files[r->runs[i].file], r->runs[i].id, &limits, err);
        if (!run) {
            json_decref(runs);
            return NULL;
        }
        json_object_set(run, "explain", r->runs[i].explain);
        json_array_append_new(runs, run);
    }
    name_runs(r, runs);
    *title = title_of(r, runs);
    json_t *page = json_pack("{ss so ss so}", "page", "run", "title", json_words(*title, 0),
                             "xoff_version", XOFF_VERSION, "runs", runs);
    char *json = page ? json_dumps(page, JSON_COMPACT | JSON_REAL_PRECISION(10)) : NULL;
    XOFF_ASSERT(json);
    json_decref(page);
    return json;
}

int report_create(const char *const *results, uint32_t n_results, const char *path,
                  struct xoff_err *err)
{
    struct report r = {0};
    bool is_done = false;
    int code = n_results ? open_all(&r, results, n_results, err)
                         : xoff_err_set(err, XOFF_E_MISSING, NULL, NULL, "no results given");
    if (!code)
        code = explain_all(&r, err);
    for (uint32_t level = 1; !code && !is_done && level <= MOST_LEVEL; level *= 2) {
        char *title, *json = make(&r, level, &title, err);
        if (!json) {
            code = -(int)err->code;
            break;
        }
        if (page_size(title) + page_data_size(json) <= PAGE_MOST_BYTES) {
            code = report_write_page(path, REPORT_RUN, title, json, err);
            is_done = true;
        }
        free(json);
        free(title);
    }
    if (!code && !is_done)
        code = xoff_err_set(err, XOFF_E_RANGE, NULL, NULL,
                            "too many runs for one page; give fewer results");
    close_all(&r);
    return code;
}
