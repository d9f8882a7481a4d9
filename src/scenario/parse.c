/* Scenario files: reads the text, makes one plan for each variant, checks the expectations.
 *
 * The file is parsed once into a tree. For every variant the tree is copied, the variant's settings
 * and then those of the command line are put into the copy, and the copy is read by the tables. So
 * settings are checked exactly as values in the file are.
 */
#define _POSIX_C_SOURCE 200809L /* fileno, strdup */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "scenario/plan_read.h"
#include "scenario/settings.h"
#include "stats/results.h"

#define MAX_VARIANTS 256

static int read_plans(struct fields_reader *r, const struct yaml_doc *doc,
                      const struct plan_setting *settings, uint32_t n_settings,
                      struct scenario *scenario);
static int read_expects(struct fields_reader *r, const struct yaml_node *node,
                        struct scenario *scenario);
static int load(const char *file, char **text, size_t *size, struct xoff_err *err);

int scenario_read(const char *file, const struct plan_setting *settings, uint32_t n_settings,
                  struct scenario **out, struct xoff_err *err)
{
    *out = NULL;
    *err = (struct xoff_err){0};
    char *text = NULL;
    size_t size = 0;
    int rc = load(file, &text, &size, err);
    if (!rc)
        rc = scenario_read_text(file, text, size, settings, n_settings, out, err);
    free(text);
    return rc;
}

int scenario_read_text(const char *name, const char *text, size_t size,
                       const struct plan_setting *settings, uint32_t n_settings,
                       struct scenario **out, struct xoff_err *err)
{
    *out = NULL;
    *err = (struct xoff_err){0};
    struct fields_reader r = {.file = name, .err = err};
    struct yaml_doc doc;
    int rc = yaml_parse(&doc, text, size, err);
    if (rc) {
        snprintf(err->file, sizeof err->file, "%s", name);
        return rc;
    }
    struct scenario *scenario = calloc(1, sizeof *scenario);
    if (scenario) {
        scenario->file = strdup(name);
        scenario->text = strndup(text, size);
    }
    if (!scenario || !scenario->file || !scenario->text)
        rc = fields_no_memory(&r);
    if (!rc)
        rc = fields_want(&r, doc.root, YAML_MAPPING,
                         "a mapping with keys such as topology: and traffic:");
    if (!rc)
        rc = read_plans(&r, &doc, settings, n_settings, scenario);
    if (!rc)
        rc = read_expects(&r, yaml_find(doc.root, "expect"), scenario);
    yaml_fini(&doc);
    if (rc) {
        scenario_destroy(scenario);
        return rc;
    }
    *out = scenario;
    return 0;
}

static void drop_expectations(struct scenario *scenario, const char *variant)
{
    uint32_t n_kept = 0;
    for (uint32_t i = 0; i < scenario->n_expects; i++) {
        if (expect_names_variant(scenario->expects[i].text, variant))
            free(scenario->expects[i].text);
        else
            scenario->expects[n_kept++] = scenario->expects[i];
    }
    scenario->n_expects = n_kept;
}

static bool is_among(const char *name, const char *const *names, uint32_t n_names)
{
    uint32_t i = 0;
    while (i < n_names && strcmp(name, names[i]))
        i++;
    return i < n_names;
}

int scenario_keep(struct scenario *scenario, const char *const *names, uint32_t n_names,
                  struct xoff_err *err)
{
    const bool has_variants = *scenario->plans[0]->variant;
    for (uint32_t i = 0; i < n_names; i++) {
        uint32_t k = has_variants ? 0 : scenario->n_plans;
        while (k < scenario->n_plans && strcmp(scenario->plans[k]->variant, names[i]))
            k++;
        if (k < scenario->n_plans)
            continue;
        const int code = xoff_err_set(err, XOFF_E_UNKNOWN, "--variant", names[i],
                                      has_variants ? "no variant of that name; there are "
                                                   : "the file has no variants");
        for (k = 0; has_variants && k < scenario->n_plans; k++) {
            xoff_err_add(err, k ? ", " : "");
            xoff_err_add(err, scenario->plans[k]->variant);
        }
        return code;
    }
    uint32_t n_kept = 0;
    for (uint32_t i = 0; i < scenario->n_plans; i++) {
        if (is_among(scenario->plans[i]->variant, names, n_names)) {
            scenario->plans[n_kept++] = scenario->plans[i];
            continue;
        }
        drop_expectations(scenario, scenario->plans[i]->variant);
        plan_destroy(scenario->plans[i]);
    }
    scenario->n_plans = n_kept;
    return 0;
}

void scenario_destroy(struct scenario *scenario)
{
    if (!scenario)
        return;
    for (uint32_t i = 0; i < scenario->n_plans; i++)
        plan_destroy(scenario->plans[i]);
    for (uint32_t i = 0; i < scenario->n_expects; i++)
        free(scenario->expects[i].text);
    free(scenario->plans);
    free(scenario->expects);
    free(scenario->file);
    free(scenario->text);
    free(scenario);
}

static int io_error(struct xoff_err *err, const char *file, const char *message)
{
    snprintf(err->file, sizeof err->file, "%s", file);
    return xoff_err_set(err, XOFF_E_IO, "scenario", NULL, message);
}

static int load(const char *file, char **text, size_t *size, struct xoff_err *err)
{
    const bool is_stdin = strcmp(file, "-") == 0;
    FILE *in = is_stdin ? stdin : fopen(file, "rb");
    char message[256];
    if (!in) {
        snprintf(message, sizeof message, "cannot be opened: %s; give the path of a scenario file",
                 strerror(errno));
        return io_error(err, file, message);
    }
    int rc = 0;
    struct stat status;
    if (!is_stdin && fstat(fileno(in), &status) == 0 && S_ISDIR(status.st_mode))
        rc = io_error(err, file, "is a directory; give the path of a scenario file");
    /* Reading one byte more than is accepted detects a document that is too large. */
    char *buf = rc ? NULL : malloc(YAML_MAX_BYTES + 1);
    if (!rc && !buf)
        rc = xoff_err_set(err, XOFF_E_NO_MEMORY, "scenario", NULL,
                          "not enough memory to read the scenario");
    if (!rc) {
        *size = fread(buf, 1, YAML_MAX_BYTES + 1, in);
        if (ferror(in)) {
            snprintf(message, sizeof message, "cannot be read: %s", strerror(errno));
            rc = io_error(err, file, message);
        }
    }
    if (!is_stdin)
        fclose(in);
    if (rc) {
        free(buf);
        return rc;
    }
    *text = buf;
    return 0;
}

/* Applies the entries of a variant's `set` (NULL: none) to a copy of the file. */
static int apply_set(struct fields_reader *r, struct yaml_doc *doc, const struct yaml_node *set)
{
    const uint32_t n = set ? set->n : 0;
    const char **keys = calloc((size_t)n + 1, sizeof *keys);
    const struct yaml_node **entries = calloc((size_t)n + 1, sizeof *entries);
    uint32_t i = 0;
    for (const struct yaml_node *entry = n && keys && entries ? set->first : NULL; entry;
         entry = entry->next) {
        entries[i] = entry;
        keys[i++] = entry->key;
    }
    uint32_t *order = keys && entries ? settings_order(keys, n) : NULL;
    int rc = order ? 0 : fields_no_memory(r);
    for (i = 0; i < n && !rc; i++) {
        rc = settings_apply_node(doc, entries[order[i]], r->err);
        if (rc)
            snprintf(r->err->file, sizeof r->err->file, "%s", r->file);
    }
    free(order);
    free(entries);
    free(keys);
    return rc;
}

static int apply_options(struct fields_reader *r, struct yaml_doc *doc,
                         const struct plan_setting *settings, uint32_t n)
{
    const char **keys = calloc((size_t)n + 1, sizeof *keys);
    for (uint32_t i = 0; i < n && keys; i++)
        keys[i] = settings[i].key;
    uint32_t *order = keys ? settings_order(keys, n) : NULL;
    int rc = order ? 0 : fields_no_memory(r);
    for (uint32_t i = 0; i < n && !rc; i++)
        rc = settings_apply_option(doc, &settings[order[i]], r->err);
    free(order);
    free(keys);
    return rc;
}

/* Reads the plan of the file with the entries of `set` (NULL: none) and the options applied. */
static int read_plan(struct fields_reader *r, const struct yaml_doc *doc,
                     const struct yaml_node *set, const struct plan_setting *settings,
                     uint32_t n_settings, struct plan **out)
{
    struct yaml_doc copy = {0};
    copy.root = yaml_copy(&copy, doc->root);
    int rc = copy.root ? apply_set(r, &copy, set) : fields_no_memory(r);
    if (!rc)
        rc = apply_options(r, &copy, settings, n_settings);
    if (!rc)
        rc = plan_create(r, copy.root, out);
    yaml_fini(&copy);
    return rc;
}

static int add_plan(struct fields_reader *r, struct scenario *scenario, struct plan *plan,
                    const char *variant)
{
    plan->file = scenario->file;
    plan->text = scenario->text;
    plan->variant = strdup(variant);
    scenario->plans[scenario->n_plans++] = plan;
    return plan->variant ? 0 : fields_no_memory(r);
}

static int check_variant_name(struct fields_reader *r, const struct yaml_node *entry,
                              const struct scenario *scenario)
{
    const struct yaml_node *name = yaml_find(entry, "name");
    const size_t length = fields_enter(r, "name");
    int rc = 0;
    if (!name)
        rc = fields_fail(r, entry, XOFF_E_MISSING, "missing; give a name such as DSH-2");
    if (!rc)
        rc = fields_want(r, name, YAML_SCALAR, "a name such as DSH-2");
    if (!rc)
        rc = fields_check_name(r, name, name->text, "-", TOPO_NAME);
    for (uint32_t i = 0; i < scenario->n_plans && !rc; i++)
        if (strcmp(scenario->plans[i]->variant, name->text) == 0)
            rc = fields_fail(r, name, XOFF_E_CONFLICT,
                             "two variants have this name; give each its own");
    fields_leave(r, length);
    return rc;
}

static int read_variant(struct fields_reader *r, const struct yaml_doc *doc,
                        const struct yaml_node *entry, const struct plan_setting *settings,
                        uint32_t n_settings, struct scenario *scenario)
{
    static const char *const others[] = {"name", "set", NULL};
    int rc = fields_overlay(r, entry, NULL, NULL, others);
    if (!rc)
        rc = check_variant_name(r, entry, scenario);
    const struct yaml_node *set = yaml_find(entry, "set");
    if (!rc && set) {
        const size_t length = fields_enter(r, "set");
        rc = fields_want(r, set, YAML_MAPPING,
                         "a mapping of dotted keys, such as {switch.mmu.alpha: 1/4}");
        fields_leave(r, length);
    }
    if (rc)
        return rc;
    /* Paths in errors start anew inside the variant's document. */
    struct fields_reader inner = {.file = r->file, .err = r->err};
    struct plan *plan;
    rc = read_plan(&inner, doc, set, settings, n_settings, &plan);
    return rc ? rc : add_plan(r, scenario, plan, yaml_find(entry, "name")->text);
}

static int read_plans(struct fields_reader *r, const struct yaml_doc *doc,
                      const struct plan_setting *settings, uint32_t n_settings,
                      struct scenario *scenario)
{
    const struct yaml_node *list = yaml_find(doc->root, "variants");
    const uint32_t n = list && list->kind == YAML_SEQUENCE ? list->n : 0;
    scenario->plans = calloc(n ? n : 1, sizeof(struct plan *));
    if (!scenario->plans)
        return fields_no_memory(r);
    const size_t length = fields_enter(r, "variants");
    int rc = 0;
    if (list)
        rc = fields_want(r, list, YAML_SEQUENCE, "a list such as [{name: A, set: {seed: 2}}]");
    if (!rc && n > MAX_VARIANTS)
        rc = fields_fail(r, list, XOFF_E_RANGE, "too many; accepted: up to 256");
    for (const struct yaml_node *entry = n ? list->first : NULL; entry && !rc;
         entry = entry->next) {
        const size_t inner = fields_enter_index(r, scenario->n_plans);
        rc = read_variant(r, doc, entry, settings, n_settings, scenario);
        fields_leave(r, inner);
    }
    fields_leave(r, length);
    if (rc || n)
        return rc;
    struct plan *plan;
    rc = read_plan(r, doc, NULL, settings, n_settings, &plan);
    return rc ? rc : add_plan(r, scenario, plan, "");
}

static int read_expect(struct fields_reader *r, const struct yaml_node *node,
                       struct plan_expect *expect)
{
    int rc = fields_want(r, node, YAML_SCALAR, "a comparison such as \"drops == 0\"");
    if (rc)
        return rc;
    bool holds;
    char detail[256];
    rc = expect_evaluate(node->text, NULL, NULL, 0, &holds, detail, sizeof detail, r->err);
    if (rc) {
        const int column = r->err->column;
        fields_locate(r, node, rc);
        if (column > 0)
            r->err->column += column - 1;
        return rc;
    }
    expect->place = (struct plan_place){node->line, node->column};
    expect->text = strdup(node->text);
    return expect->text ? 0 : fields_no_memory(r);
}

static int read_expects(struct fields_reader *r, const struct yaml_node *node,
                        struct scenario *scenario)
{
    if (!node)
        return 0;
    const size_t length = fields_enter(r, "expect");
    int rc = fields_want(r, node, YAML_SEQUENCE, "a list of comparisons such as [\"drops == 0\"]");
    if (!rc && node->n && !(scenario->expects = calloc(node->n, sizeof *scenario->expects)))
        rc = fields_no_memory(r);
    for (const struct yaml_node *entry = node->first; entry && !rc; entry = entry->next) {
        const size_t inner = fields_enter_index(r, scenario->n_expects);
        rc = read_expect(r, entry, &scenario->expects[scenario->n_expects++]);
        fields_leave(r, inner);
    }
    fields_leave(r, length);
    return rc;
}
