/* Reads sweep files (sweep_file.h). */
#include "sweep/sweep_file.h"

#include <stdlib.h>
#include <string.h>

#include "many/seed_list.h"
#include "stats/results.h"
#include "sweep/axes.h"
#include "traffic/words.h"

#define AT(field) offsetof(struct sweep_params, field)
const struct xoff_param sweep_params[] = {
    {"sweep", XOFF_P_TEXT, AT(title), NULL, NULL, NULL, NULL, false, "What the sweep is about."},
    {"scenario", XOFF_P_TEXT, AT(scenario), NULL, NULL, NULL, NULL, false,
     "The scenario that is run, beside the sweep's file."},
    {"grid", XOFF_P_BOOL, AT(grid), "true", NULL, NULL, NULL, false,
     "Every combination of the values."},
    {"latin", XOFF_P_INT, AT(latin), "0", "0", "100000", NULL, false,
     "So many points of a Latin hypercube in place of the grid."},
    {"latin_seed", XOFF_P_INT, AT(latin_seed), "1", "0", NULL, NULL, false,
     "Seed of the Latin hypercube."},
    {"seeds", XOFF_P_TEXT, AT(seeds), "1", NULL, NULL, NULL, false,
     "Seeds that each point is run with, as 1..5 or [1, 5, 9]."},
    {"until", XOFF_P_TEXT, AT(until), "", NULL, NULL, NULL, false,
     "Add seeds to each point until the confidence interval of a metric is tight, as fct.p99 +- "
     "2%."},
    {"max_seeds", XOFF_P_INT, AT(max_seeds), "100", "2", "10000", NULL, false,
     "Seeds of a point at which `until` gives up."},
    {0}};
#undef AT
static const char *const others[] = {"set", "vary", "variants", "metrics", "page", NULL};

static int fail_key(struct fields_reader *r, const struct yaml_node *at, const char *key,
                    enum xoff_err_code code, const char *message)
{
    const size_t length = fields_enter(r, key);
    const int rc = fields_fail(r, at, code, message);
    fields_leave(r, length);
    return rc;
}

/* Reads a list of names; one name may stand alone. */
static int read_names(struct fields_reader *r, const struct yaml_node *mapping, const char *key,
                      const char *what, struct sweep_names *out)
{
    const struct yaml_node *node = yaml_find(mapping, key);
    if (!node)
        return 0;
    const size_t length = fields_enter(r, key);
    int rc = 0;
    if (node->kind != YAML_SCALAR)
        rc = fields_want(r, node, YAML_SEQUENCE, what);
    if (!rc && node->kind == YAML_SEQUENCE && !node->n)
        rc = fields_fail(r, node, XOFF_E_MISSING, "empty; leave it out, or give at least one");
    if (!rc && !(out->list = calloc(node->n + 1, sizeof *out->list)))
        rc = fields_no_memory(r);
    for (const struct yaml_node *entry = node->kind == YAML_SCALAR ? node : node->first;
         entry && !rc; entry = entry == node ? NULL : entry->next) {
        rc = fields_want(r, entry, YAML_SCALAR, what);
        for (uint32_t i = 0; i < out->n && !rc; i++)
            if (!strcmp(out->list[i].text, entry->text))
                rc = fields_fail(r, entry, XOFF_E_CONFLICT, "given twice");
        if (!rc)
            out->list[out->n++] = (struct sweep_name){entry->text, {entry->line, entry->column}};
    }
    fields_leave(r, length);
    return rc;
}

static int fail_name(struct fields_reader *r, const char *path, const struct sweep_name *name,
                     const char *message)
{
    xoff_err_set(r->err, XOFF_E_UNKNOWN, path, name->text, message);
    snprintf(r->err->file, sizeof r->err->file, "%s", r->file);
    r->err->line = name->place.line;
    r->err->column = name->place.column;
    return -XOFF_E_UNKNOWN;
}

static int check_metrics(struct fields_reader *r, const struct sweep_file *f, const char *path,
                         const struct sweep_names *names)
{
    for (uint32_t i = 0; i < names->n; i++)
        if (!summary_has_family(names->list[i].text) && !sweep_file_axis(f, names->list[i].text))
            return fail_name(r, path, &names->list[i],
                             "not a metric; give one such as fct.p99, drops or pauses "
                             "(docs/results.md)");
    return 0;
}

static int read_set(struct fields_reader *r, const struct yaml_node *node, struct sweep_file *f)
{
    int rc = fields_want(r, node, YAML_MAPPING, "settings such as {stop: 2ms}");
    if (rc)
        return rc;
    f->set = calloc(node->n + 1, sizeof *f->set);
    f->set_places = calloc(node->n + 1, sizeof *f->set_places);
    if (!f->set || !f->set_places)
        return fields_no_memory(r);
    for (const struct yaml_node *entry = node->first; entry && !rc; entry = entry->next) {
        const size_t length = fields_enter(r, entry->key);
        rc = fields_want(r, entry, YAML_SCALAR,
                         "a plain value; a list goes in quotes, as \"[a, b]\"");
        if (!rc && !strcmp(entry->key, "seed"))
            rc = fields_fail_key(r, entry, XOFF_E_CONFLICT, "seeds are chosen by seeds:");
        fields_leave(r, length);
        f->set_places[f->n_set] = (struct plan_place){entry->key_line, entry->key_column};
        f->set[f->n_set++] = (struct plan_setting){entry->key, entry->text};
    }
    return rc;
}

/* Refuses keys that cannot be varied, or are set for all points as well. */
static int check_axis_key(struct fields_reader *r, const struct yaml_node *entry,
                          const struct sweep_file *f)
{
    if (!strcmp(entry->key, "seed"))
        return fields_fail_key(r, entry, XOFF_E_CONFLICT, "seeds are chosen by seeds:");
    for (uint32_t i = 0; i < f->n_set; i++)
        if (!strcmp(f->set[i].key, entry->key))
            return fields_fail_key(r, entry, XOFF_E_CONFLICT, "is under set: as well");
    return 0;
}

static int read_vary(struct fields_reader *r, const struct yaml_node *node, struct sweep_file *f)
{
    double n = 1;
    int rc = fields_want(r, node, YAML_MAPPING,
                         "keys with their values, such as {switch.buffer: [1MB, 2MB]}");
    if (!rc && !node->n)
        rc = fields_fail(r, node, XOFF_E_MISSING, "empty; give at least one key with its values");
    if (!rc && !(f->axes = calloc(node->n, sizeof *f->axes)))
        rc = fields_no_memory(r);
    for (const struct yaml_node *entry = node->first; entry && !rc; entry = entry->next) {
        const size_t length = fields_enter(r, entry->key);
        rc = check_axis_key(r, entry, f);
        if (!rc)
            rc = axes_read(r, f, entry, &f->axes[f->n_axes++]);
        fields_leave(r, length);
        n *= rc ? 1 : f->axes[f->n_axes - 1].n_values;
    }
    n = (f->params.latin ? (double)f->params.latin : n) * f->n_seeds;
    if (!rc && n > SWEEP_MAX_RUNS)
        rc = fields_fail(r, node, XOFF_E_RANGE, "more than 1000000 runs; try latin:");
    return rc;
}

/* Reads a key of `page` that names a parameter. */
static int check_axis_name(struct fields_reader *r, const struct sweep_file *f, const char *path,
                           const struct sweep_names *names, uint32_t n, const char **out)
{
    if (names->n && names->n != n)
        return fail_name(r, path, &names->list[0], n == 1 ? "give one key" : "give two keys");
    for (uint32_t i = 0; i < names->n; i++) {
        if (!sweep_file_axis(f, names->list[i].text))
            return fail_name(r, path, &names->list[i], "not among the keys of vary:");
        out[i] = names->list[i].text;
    }
    return 0;
}

static int read_page(struct fields_reader *r, const struct yaml_node *page, struct sweep_file *f)
{
    static const struct xoff_param none[] = {{0}};
    static const char *const keys[] = {"x", "series", "heat", "pareto", NULL}, *const goals[] = {
                                                                                   "min", "max",
                                                                                   NULL};
    struct sweep_names x = {0}, series = {0}, heat = {0};
    static const char what[] = "a key of vary:, or a list of them";
    int rc = fields_read(r, page, none, NULL, keys);
    if (!rc)
        rc = read_names(r, page, "x", what, &x);
    if (!rc)
        rc = read_names(r, page, "series", what, &series);
    if (!rc)
        rc = read_names(r, page, "heat", what, &heat);
    if (!rc)
        rc = check_axis_name(r, f, "page.x", &x, 1, &f->x);
    if (!rc)
        rc = check_axis_name(r, f, "page.series", &series, 1, &f->series);
    if (!rc)
        rc = check_axis_name(r, f, "page.heat", &heat, 2, f->heat);
    free(x.list);
    free(series.list);
    free(heat.list);
    const struct yaml_node *pareto = yaml_find(page, "pareto");
    if (rc || !pareto)
        return rc;
    const size_t length = fields_enter(r, "pareto");
    rc = fields_read(r, pareto, none, NULL, goals);
    if (!rc)
        rc = read_names(r, pareto, "min", "metrics of which less is better", &f->least);
    if (!rc)
        rc = read_names(r, pareto, "max", "metrics of which more is better", &f->most);
    if (!rc && f->least.n + f->most.n < 2)
        rc =
            fields_fail(r, pareto, XOFF_E_MISSING, "give at least two metrics under min: and max:");
    fields_leave(r, length);
    for (uint32_t i = 0; i < f->most.n && !rc; i++)
        for (uint32_t k = 0; k < f->least.n && !rc; k++)
            if (!strcmp(f->most.list[i].text, f->least.list[k].text))
                rc = fail_name(r, "page.pareto.max", &f->most.list[i],
                               "under min: as well; less or more of it is better");
    if (!rc)
        rc = check_metrics(r, f, "page.pareto.min", &f->least);
    return rc ? rc : check_metrics(r, f, "page.pareto.max", &f->most);
}

static int load_scenario(struct fields_reader *r, struct sweep_file *f)
{
    const char *slash = strrchr(f->file, '/');
    const int folder = slash && f->params.scenario[0] != '/' ? (int)(slash - f->file) + 1 : 0;
    struct xoff_err err = {0};
    if (asprintf(&f->scenario_file, "%.*s%s", folder, f->file, f->params.scenario) < 0)
        return fields_no_memory(r);
    if (!words_load(f->scenario_file, "scenario", &f->scenario_text, &f->scenario_size, &err))
        return 0;
    char message[sizeof err.message];
    snprintf(message, sizeof message, "%.128s %.200s", f->scenario_file, err.message);
    return fail_key(r, yaml_find(f->doc.root, "scenario"), "scenario", err.code, message);
}

static int read_seeds(struct fields_reader *r, struct sweep_file *f)
{
    const struct yaml_node *node = yaml_find(f->doc.root, "seeds");
    const size_t length = fields_enter(r, "seeds");
    int rc = seed_list_parse(f->params.seeds, &f->seeds, &f->n_seeds, r->err);
    if (rc)
        fields_locate(r, node ? node : f->doc.root, rc);
    fields_leave(r, length);
    return rc;
}

/* Reads an entry of the file by a function of its own. */
static int read_part(struct fields_reader *r, struct sweep_file *f, const char *key,
                     int (*read)(struct fields_reader *, const struct yaml_node *,
                                 struct sweep_file *))
{
    const struct yaml_node *node = yaml_find(f->doc.root, key);
    if (!node)
        return 0;
    const size_t length = fields_enter(r, key);
    const int rc = read(r, node, f);
    fields_leave(r, length);
    return rc;
}

/* Whether the document is a scenario: it has keys that no sweep has. */
static bool is_scenario(const struct yaml_node *root)
{
    return !yaml_find(root, "sweep") && !yaml_find(root, "vary") &&
           (yaml_find(root, "topology") || yaml_find(root, "traffic"));
}

static int read_root(struct fields_reader *r, struct sweep_file *f)
{
    const struct yaml_node *root = f->doc.root, *until = yaml_find(root, "until");
    if (is_scenario(root))
        return fail_key(r, root, "sweep", XOFF_E_UNKNOWN,
                        "this is a scenario, not a sweep; run it with xoff run, or name it in a "
                        "sweep file (docs/sweep.md)");
    int rc = fields_read(r, root, sweep_params, &f->params, others);
    if (!rc && yaml_find(root, "grid") && f->params.grid && f->params.latin)
        rc = fail_key(r, yaml_find(root, "latin"), "latin", XOFF_E_CONFLICT,
                      "grid is given, too; give one of them");
    if (!rc && !f->params.grid && !f->params.latin)
        rc = fail_key(r, yaml_find(root, "grid"), "grid", XOFF_E_MISSING,
                      "without a grid give latin: and a number of points");
    if (!rc && until && !*f->params.until)
        rc = fail_key(r, until, "until", XOFF_E_MISSING,
                      "empty; give a metric and a tolerance, such as fct.p99 +- 2%");
    if (!rc && until)
        f->until_place = (struct plan_place){until->line, until->column};
    if (!rc)
        rc = read_seeds(r, f);
    if (!rc)
        rc = read_part(r, f, "set", read_set);
    if (!rc && !yaml_find(root, "vary"))
        rc = fail_key(r, root, "vary", XOFF_E_MISSING,
                      "missing; give keys with their values, such as {switch.buffer: [1MB, "
                      "2MB]}");
    if (!rc)
        rc = read_part(r, f, "vary", read_vary);
    if (!rc)
        rc = read_names(r, root, "variants", "names of variants", &f->variants);
    if (!rc)
        rc = read_names(r, root, "metrics", "names of metrics", &f->metrics);
    if (!rc)
        rc = check_metrics(r, f, "metrics", &f->metrics);
    if (!rc)
        rc = read_part(r, f, "page", read_page);
    return rc ? rc : load_scenario(r, f);
}

int sweep_file_read_text(const char *file, const char *text, size_t size, struct sweep_file **out,
                         struct xoff_err *err)
{
    *out = NULL;
    *err = (struct xoff_err){0};
    struct fields_reader r = {.file = file, .err = err};
    struct sweep_file *f = calloc(1, sizeof *f);
    if (!f)
        return fields_no_memory(&r);
    f->file = strdup(file);
    f->text = strndup(text, size);
    int rc = f->file && f->text ? yaml_parse(&f->doc, text, size, err) : fields_no_memory(&r);
    if (rc)
        snprintf(err->file, sizeof err->file, "%s", file);
    if (!rc)
        rc = fields_want(&r, f->doc.root, YAML_MAPPING,
                         "a mapping with sweep:, scenario: and vary:");
    if (!rc)
        rc = read_root(&r, f);
    if (rc) {
        sweep_file_destroy(f);
        return rc;
    }
    *out = f;
    return 0;
}

int sweep_file_read(const char *file, struct sweep_file **out, struct xoff_err *err)
{
    char *text;
    size_t size;
    *out = NULL;
    int rc = words_load(file, "sweep", &text, &size, err);
    if (rc)
        return rc;
    rc = sweep_file_read_text(file, text, size, out, err);
    free(text);
    return rc;
}

void sweep_file_destroy(struct sweep_file *f)
{
    if (!f)
        return;
    for (uint32_t i = 0; i < f->n_axes; i++)
        free(f->axes[i].values);
    free(f->axes);
    free(f->set);
    free(f->set_places);
    free(f->seeds);
    free(f->variants.list);
    free(f->metrics.list);
    free(f->least.list);
    free(f->most.list);
    free(f->scenario_file);
    free(f->scenario_text);
    free(f->file);
    free(f->text);
    yaml_fini(&f->doc);
    free(f);
}

const struct sweep_axis *sweep_file_axis(const struct sweep_file *f, const char *key)
{
    for (uint32_t i = 0; i < f->n_axes; i++)
        if (!strcmp(f->axes[i].key, key))
            return &f->axes[i];
    return NULL;
}

void sweep_file_locate(const struct sweep_file *f, const struct sweep_value *point,
                       struct xoff_err *err)
{
    static const char option[] = "--set ";
    struct plan_place place = {0};
    const char *key = err->subject + strlen(option), *section = "vary";
    if (err->file[0] || strncmp(err->subject, option, strlen(option)))
        return;
    for (uint32_t i = 0; i < f->n_set; i++)
        if (!strcmp(f->set[i].key, key)) {
            place = f->set_places[i];
            section = "set";
        }
    for (uint32_t i = 0; i < f->n_axes; i++)
        if (!strcmp(f->axes[i].key, key)) /* an unknown key is wrong itself, not its value */
            place = err->code == XOFF_E_UNKNOWN && strstr(err->message, "unknown key")
                        ? f->axes[i].place
                        : point[i].place;
    if (!place.line)
        return; /* an option of the command */
    char subject[sizeof err->subject];
    snprintf(subject, sizeof subject, "%s.%s", section, key);
    snprintf(err->subject, sizeof err->subject, "%s", subject);
    snprintf(err->file, sizeof err->file, "%s", f->file);
    err->line = place.line;
    err->column = place.column;
}
