/* Reads claims.yaml into structs: the keys of claims and figures. Each error has its place.
 *
 * Keys that belong together are checked here once, so that judging need not check again: a
 * published number comes with a tolerance and its reason, a claim without one with a comparison, a
 * verdict other than "holds" with its why.
 */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <xoff/units.h>

#include "reproduce/claims_parts.h"
#include "stats/results.h"
#include "traffic/words.h"

const char *const verdict_words[N_VERDICTS] = {"holds",      "direction", "fails",
                                               "untestable", "left-out",  "error"};
const char *const verdict_texts[N_VERDICTS] = {"holds",          "holds in direction only",
                                               "does not hold",  "cannot be tested",
                                               "not in --quick", "error"};

static int read_paper(struct claims_reader *r);

int claims_read_text(const char *file, const char *name, const char *text, size_t size,
                     struct paper **out, struct xoff_err *err)
{
    *out = NULL;
    *err = (struct xoff_err){0};
    struct paper *paper = calloc(1, sizeof *paper);
    const char *slash = strrchr(file, '/');
    struct claims_reader r = {.fields = {.file = file, .err = err}, .paper = paper};
    if (!paper)
        return fields_no_memory(&r.fields);
    paper->file = strdup(file);
    paper->folder = strndup(file, slash ? (size_t)(slash - file) + 1 : 0);
    paper->text = strndup(text, size);
    int rc = paper->file && paper->folder && paper->text ? 0 : fields_no_memory(&r.fields);
    if (!rc) {
        rc = yaml_parse(&paper->doc, text, size, err);
        snprintf(err->file, sizeof err->file, "%s", rc ? file : "");
        if (rc == -XOFF_E_MISSING)
            xoff_err_set(err, XOFF_E_MISSING, "claims", NULL,
                         "the file is empty; it has at least paper:, title:, source: and claims:");
    }
    if (!rc)
        rc = read_paper(&r);
    if (!rc && name && strcmp(name, paper->name)) {
        const size_t length = fields_enter(&r.fields, "paper");
        rc = fields_fail(&r.fields, yaml_find(paper->doc.root, "paper"), XOFF_E_CONFLICT,
                         "not the name of the folder that the file is in");
        fields_leave(&r.fields, length);
    }
    if (rc) {
        claims_destroy(paper);
        return rc;
    }
    *out = paper;
    return 0;
}

int claims_read(const char *dir, const char *name, struct paper **out, struct xoff_err *err)
{
    char path[4096], *text;
    size_t size;
    *out = NULL;
    snprintf(path, sizeof path, "%s/%s/" CLAIMS_FILE, dir, name);
    int rc = words_load(path, "claims", &text, &size, err);
    if (rc)
        return rc;
    rc = claims_read_text(path, name, text, size, out, err);
    free(text);
    return rc;
}

void claims_destroy(struct paper *paper)
{
    if (!paper)
        return;
    for (uint32_t i = 0; i < paper->n_claims; i++) {
        claims_free_readings(&paper->claims[i]);
        free(paper->claims[i].experiment.quick);
    }
    for (uint32_t i = 0; i < paper->n_figures; i++) {
        struct figure *f = &paper->figures[i];
        for (uint32_t k = 0; k < f->n_series; k++)
            free(f->series[k].points);
        for (uint32_t k = 0; k < f->n_marks; k++)
            free(f->marks[k].points);
        free(f->series);
        free(f->marks);
        free(f->experiment.quick);
    }
    free(paper->claims);
    free(paper->figures);
    free(paper->readings);
    free(paper->remarks);
    free(paper->contradictions);
    yaml_fini(&paper->doc);
    free(paper->file);
    free(paper->folder);
    free(paper->text);
    free(paper);
}

/* YAML turns a line end with the spaces around it into one space, so an expression may go over
 * several lines. This maps a column of the expression back to the line and column in the file. */
void claims_locate(const struct paper *paper, const struct expression *expression,
                   struct xoff_err *err)
{
    const int n_before = err->column > 0 ? err->column - 1 : 0;
    struct plan_place at = expression->place;
    const char *c = paper->text;
    for (int line = 1; line < at.line && c; line++)
        c = strchr(c, '\n') ? strchr(c, '\n') + 1 : NULL;
    for (int column = 1; column < at.column && c && *c; column++)
        do
            c++;
        while (((unsigned char)*c & 0xc0) == 0x80);
    for (int i = 0; i < n_before && c && *c; i++) {
        const size_t n_spaces = strspn(c, " \t\r\n");
        if (!memchr(c, '\n', n_spaces)) {
            c++;
            at.column += ((unsigned char)*c & 0xc0) != 0x80;
            continue;
        }
        for (size_t k = 0; k < n_spaces; k++, c++) {
            at.column = *c == '\n' ? 1 : at.column + 1;
            at.line += *c == '\n';
        }
    }
    snprintf(err->file, sizeof err->file, "%s", paper->file);
    err->line = at.line;
    err->column = at.column;
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

char **claims_list(const char *dir, uint32_t *n)
{
    char **names = NULL;
    *n = 0;
    DIR *folder = opendir(dir);
    const int reason = folder ? 0 : errno;
    XOFF_ASSERT(reason != ENOMEM);
    for (struct dirent *entry; folder && (entry = readdir(folder));) {
        char path[4096];
        snprintf(path, sizeof path, "%s/%s/" CLAIMS_FILE, dir, entry->d_name);
        if (entry->d_name[0] == '.' || access(path, F_OK))
            continue;
        char **more = realloc(names, (*n + 1) * sizeof *names);
        char *name = strdup(entry->d_name);
        XOFF_ASSERT(more && name);
        names = more;
        names[(*n)++] = name;
    }
    if (folder)
        closedir(folder);
    if (*n)
        qsort(names, *n, sizeof *names, compare_names);
    errno = reason;
    return names;
}

int claims_check_keys(struct claims_reader *r, const struct yaml_node *node,
                      const char *const *keys)
{
    static const struct xoff_param none[] = {{0}};
    return fields_read(&r->fields, node, none, NULL, keys);
}

int claims_fail_missing(struct claims_reader *r, const struct yaml_node *mapping, const char *key,
                        const char *message)
{
    const size_t length = fields_enter(&r->fields, key);
    const int rc = fields_fail(&r->fields, mapping, XOFF_E_MISSING, message);
    fields_leave(&r->fields, length);
    return rc;
}

int claims_take_text(struct claims_reader *r, const struct yaml_node *mapping, const char *key,
                     const char *what, const char **out)
{
    const struct yaml_node *node = yaml_find(mapping, key);
    char message[160];
    *out = NULL;
    if (!node) {
        snprintf(message, sizeof message, "missing; give %s", what ? what : "");
        return what ? claims_fail_missing(r, mapping, key, message) : 0;
    }
    const size_t length = fields_enter(&r->fields, key);
    int rc = fields_want(&r->fields, node, YAML_SCALAR, what ? what : "text");
    if (!rc && !*node->text) {
        snprintf(message, sizeof message, "empty; give %s", what ? what : "text");
        rc = fields_fail(&r->fields, node, XOFF_E_MISSING, message);
    }
    fields_leave(&r->fields, length);
    *out = rc ? NULL : node->text;
    return rc;
}

int claims_take_word(struct claims_reader *r, const struct yaml_node *mapping, const char *key,
                     const char *const *words, uint32_t n, uint32_t *out)
{
    const struct yaml_node *node = yaml_find(mapping, key);
    if (!node)
        return 0;
    char message[160] = "accepted:";
    const size_t length = fields_enter(&r->fields, key);
    int rc = fields_want(&r->fields, node, YAML_SCALAR, "a word");
    uint32_t i = 0;
    for (; i < n && !rc && strcmp(node->text, words[i]); i++) {
        const size_t used = strlen(message);
        snprintf(message + used, sizeof message - used, "%s %s", i ? "," : "", words[i]);
    }
    if (!rc && i == n)
        rc = fields_fail(&r->fields, node, XOFF_E_UNKNOWN, message);
    else if (!rc)
        *out = i;
    fields_leave(&r->fields, length);
    return rc;
}

bool claims_is_number(const char *text, double *out)
{
    char *end;
    if (!*text || strspn(text, "+-.0123456789eE") != strlen(text))
        return false;
    *out = strtod(text, &end);
    return !*end && *out - *out == 0;
}

int claims_take_number(struct claims_reader *r, const struct yaml_node *node, double *out)
{
    int rc = fields_want(&r->fields, node, YAML_SCALAR, "a number");
    if (!rc && !claims_is_number(node->text, out))
        rc = fields_fail(&r->fields, node, XOFF_E_TYPE, "not a number; its unit goes to unit:");
    return rc;
}

int claims_check_id(struct claims_reader *r, const struct yaml_node *mapping, const char *id)
{
    if (id[strspn(id, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.")] == '\0')
        return 0;
    const size_t length = fields_enter(&r->fields, "id");
    const int rc = fields_fail(&r->fields, yaml_find(mapping, "id"), XOFF_E_SYNTAX,
                               "not an id; give letters, digits, '-', '_' and '.'");
    fields_leave(&r->fields, length);
    return rc;
}

static int check_expression(struct claims_reader *r, const struct yaml_node *node,
                            bool is_comparison)
{
    struct xoff_err *err = r->fields.err;
    char detail[64];
    bool holds;
    double value;
    const int rc = is_comparison ? expect_evaluate(node->text, NULL, NULL, 0, &holds, detail,
                                                   sizeof detail, err)
                                 : expect_compute(node->text, NULL, NULL, 0, &value, err);
    if (!rc)
        return 0;
    const struct expression at = {node->text, {node->line, node->column}};
    const int column = err->column;
    fields_locate(&r->fields, node, rc);
    err->column = column;
    claims_locate(r->paper, &at, err);
    return rc;
}

int claims_take_expression(struct claims_reader *r, const struct yaml_node *mapping,
                           const char *key, const char *what, bool is_comparison,
                           struct expression *out)
{
    int rc = claims_take_text(r, mapping, key, what, &out->text);
    if (rc || !out->text)
        return rc;
    const struct yaml_node *node = yaml_find(mapping, key);
    out->place = (struct plan_place){node->line, node->column};
    const size_t length = fields_enter(&r->fields, key);
    rc = check_expression(r, node, is_comparison);
    fields_leave(&r->fields, length);
    return rc;
}

static int read_quick(struct claims_reader *r, const struct yaml_node *node, struct experiment *e)
{
    static const char what[] = "settings such as {stop: 2ms}, or false to leave it out of --quick";
    e->quick_place = (struct plan_place){node->line, node->column};
    if (node->kind == YAML_SCALAR && !strcmp(node->text, "false")) {
        e->is_left_out_of_quick = true;
        return 0;
    }
    int rc = fields_want(&r->fields, node, YAML_MAPPING, what);
    if (!rc && node->n && !(e->quick = calloc(node->n, sizeof *e->quick)))
        rc = fields_no_memory(&r->fields);
    for (const struct yaml_node *entry = node->first; entry && !rc; entry = entry->next) {
        const size_t length = fields_enter(&r->fields, entry->key);
        rc = fields_want(&r->fields, entry, YAML_SCALAR,
                         "a plain value; a list goes in quotes, as \"[a, b]\"");
        fields_leave(&r->fields, length);
        if (!rc && !strcmp(entry->key, "seed"))
            rc = fields_fail_key(&r->fields, entry, XOFF_E_CONFLICT,
                                 "seeds are chosen by seeds:, not set");
        e->quick[e->n_quick++] = (struct plan_setting){entry->key, entry->text};
    }
    return rc;
}

int claims_read_experiment(struct claims_reader *r, const struct yaml_node *mapping,
                           bool is_required, struct experiment *e)
{
    const struct yaml_node *quick = yaml_find(mapping, "quick"),
                           *seeds = yaml_find(mapping, "seeds"),
                           *scenario = yaml_find(mapping, "scenario");
    int64_t n = 1;
    int rc = claims_take_text(r, mapping, "scenario",
                              is_required ? "the name of a scenario file beside this file" : NULL,
                              &e->scenario);
    if (!rc && scenario)
        e->place = (struct plan_place){scenario->line, scenario->column};
    if (!rc && quick) {
        const size_t length = fields_enter(&r->fields, "quick");
        rc = read_quick(r, quick, e);
        fields_leave(&r->fields, length);
    }
    if (!rc && seeds) {
        const size_t length = fields_enter(&r->fields, "seeds");
        rc = fields_want(&r->fields, seeds, YAML_SCALAR, "a number from 1 to 1000");
        if (!rc && (xoff_parse_int(seeds->text, &n) || n < 1 || n > CLAIMS_MAX_SEEDS))
            rc = fields_fail(&r->fields, seeds, XOFF_E_RANGE, "accepted: 1 to 1000");
        fields_leave(&r->fields, length);
    }
    e->n_seeds = (uint32_t)n;
    return rc;
}

static int read_tolerance(struct claims_reader *r, const struct yaml_node *node,
                          struct claim *claim)
{
    int rc = fields_want(&r->fields, node, YAML_SCALAR, "a number, or one with %");
    if (rc)
        return rc;
    claim->is_tolerance_relative = node->text[strlen(node->text) - 1] == '%';
    const bool is_good = claim->is_tolerance_relative
                             ? !xoff_parse_real(node->text, &claim->tolerance)
                             : claims_is_number(node->text, &claim->tolerance);
    if (!is_good)
        return fields_fail(&r->fields, node, XOFF_E_TYPE,
                           "not a tolerance; give a number in unit:, or \"10 %\" of the published");
    if (claim->tolerance < 0)
        return fields_fail(&r->fields, node, XOFF_E_RANGE, "a tolerance is not negative");
    return 0;
}

static int read_published(struct claims_reader *r, const struct yaml_node *mapping,
                          struct claim *claim)
{
    const struct yaml_node *published = yaml_find(mapping, "published"),
                           *tolerance = yaml_find(mapping, "tolerance");
    int rc = 0;
    if (published && published->kind != YAML_EMPTY) {
        const size_t length = fields_enter(&r->fields, "published");
        rc = claims_take_number(r, published, &claim->published);
        fields_leave(&r->fields, length);
        claim->has_published = true;
    }
    if (!rc && tolerance) {
        const size_t length = fields_enter(&r->fields, "tolerance");
        rc = read_tolerance(r, tolerance, claim);
        if (!rc && !claim->has_published)
            rc = fields_fail_key(&r->fields, tolerance, XOFF_E_CONFLICT,
                                 "there is no published number that it could be about");
        fields_leave(&r->fields, length);
    }
    if (!rc)
        rc = claims_take_text(r, mapping, "published_text", NULL, &claim->published_text);
    if (!rc)
        rc = claims_take_text(r, mapping, "tolerance_why",
                              tolerance ? "the reason for the tolerance" : NULL,
                              &claim->tolerance_why);
    return rc;
}

int claims_read_verdict(struct claims_reader *r, const struct yaml_node *mapping,
                        struct claim *claim)
{
    uint32_t i = N_VERDICTS;
    int rc = claims_take_word(r, mapping, "verdict", verdict_words, VERDICT_UNTESTABLE + 1, &i);
    if (!rc && i == N_VERDICTS)
        rc = claims_fail_missing(r, mapping, "verdict",
                                 "missing; give holds, direction, fails or untestable");
    if (rc)
        return rc;
    const char *const before = claim->recorded == i ? claim->why : NULL;
    claim->recorded = (enum verdict)i;
    rc = claims_take_text(r, mapping, "why",
                          i == VERDICT_HOLDS || before ? NULL : "the reason for the verdict",
                          &claim->why);
    if (!claim->why)
        claim->why = before;
    return rc;
}

int claims_read_average(struct claims_reader *r, const struct yaml_node *mapping,
                        struct claim *claim)
{
    uint32_t i = claim->average;
    const int rc = claims_take_word(r, mapping, "average", average_words, N_AVERAGES, &i);
    claim->average = (enum claim_average)i;
    return rc;
}

int claims_check_testable(struct claims_reader *r, const struct yaml_node *mapping,
                          const struct yaml_node *at, const struct claim *claim)
{
    if (claim->recorded == VERDICT_UNTESTABLE)
        return 0;
    if (!yaml_find(mapping, "published"))
        return claims_fail_missing(
            r, at, "published",
            "missing; give a number, or null when only a direction is published");
    if (claim->has_published && !claim->measure.text)
        return claims_fail_missing(
            r, at, "measure", "missing; give an expression such as 100 * off.drops / off.sent");
    if (claim->has_published && !yaml_find(mapping, "tolerance"))
        return claims_fail_missing(r, at, "tolerance",
                                   "missing; give a number in unit:, or \"10 %\" of the published");
    if (!claim->has_published && !claim->direction.text)
        return claims_fail_missing(r, at, "direction",
                                   "missing; without a published number give a comparison such as "
                                   "off.drops > on.drops");
    if (claim->recorded == VERDICT_DIRECTION && !claim->direction.text)
        return claims_fail_missing(r, at, "direction",
                                   "missing; the verdict says that a comparison holds, give it");
    return 0;
}

static int read_claim(struct claims_reader *r, const struct yaml_node *node, struct claim *claim)
{
    static const char *const keys[] = {"id",        "kind",          "strength",  "returned",
                                       "tuned",     "chapter",       "quote",     "place",
                                       "statement", "scenario",      "quick",     "seeds",
                                       "measure",   "unit",          "published", "published_text",
                                       "tolerance", "tolerance_why", "direction", "average",
                                       "verdict",   "why",           "notes",     "readings",
                                       NULL};
    claim->at = (struct plan_place){node->line, node->column};
    int rc = claims_check_keys(r, node, keys);
    if (!rc)
        rc = claims_take_text(r, node, "id", "a short name such as pfc-off-loses", &claim->id);
    if (!rc)
        rc = claims_check_id(r, node, claim->id);
    if (!rc)
        rc = claims_take_text(r, node, "place", "the place in the paper, such as \"5.3\"",
                              &claim->place);
    if (!rc)
        rc = claims_take_text(r, node, "statement", "what is claimed, in your own words",
                              &claim->statement);
    if (!rc)
        rc = claims_read_verdict(r, node, claim);
    if (!rc)
        rc = claims_read_experiment(r, node, claim->recorded != VERDICT_UNTESTABLE,
                                    &claim->experiment);
    if (!rc)
        rc = claims_take_expression(r, node, "measure", NULL, false, &claim->measure);
    if (!rc)
        rc = claims_take_text(r, node, "unit", NULL, &claim->unit);
    if (!rc)
        rc = read_published(r, node, claim);
    if (!rc)
        rc = claims_read_worth(r, node, claim);
    if (!rc)
        rc = claims_take_expression(r, node, "direction", NULL, true, &claim->direction);
    if (!rc)
        rc = claims_read_average(r, node, claim);
    if (!rc)
        rc = claims_take_text(r, node, "notes", NULL, &claim->notes);
    if (!claim->unit)
        claim->unit = "";
    if (!rc)
        rc = claims_check_testable(r, node, node, claim);
    return rc ? rc : claims_read_readings(r, node, claim);
}

int claims_open_list(struct claims_reader *r, const struct yaml_node *mapping, const char *key,
                     bool is_required, const struct yaml_node **list)
{
    *list = yaml_find(mapping, key);
    if (!*list)
        return is_required ? claims_fail_missing(r, mapping, key, "missing; give a list") : 0;
    const size_t length = fields_enter(&r->fields, key);
    int rc = fields_want(&r->fields, *list, YAML_SEQUENCE, "a list");
    fields_leave(&r->fields, length);
    return rc;
}

/* An id must be unique within the paper: it selects one claim or figure. */
static int check_unique(struct claims_reader *r, const struct yaml_node *entry, const char *id)
{
    const struct paper *p = r->paper;
    uint32_t n = 0;
    for (uint32_t i = 0; i < p->n_claims; i++)
        n += p->claims[i].id && !strcmp(p->claims[i].id, id);
    for (uint32_t i = 0; i < p->n_figures; i++)
        n += p->figures[i].id && !strcmp(p->figures[i].id, id);
    if (n < 2)
        return 0;
    const size_t length = fields_enter(&r->fields, "id");
    const int rc = fields_fail(&r->fields, yaml_find(entry, "id"), XOFF_E_CONFLICT, "given twice");
    fields_leave(&r->fields, length);
    return rc;
}

static int read_lists(struct claims_reader *r, const struct yaml_node *claims,
                      const struct yaml_node *figures)
{
    struct paper *p = r->paper;
    int rc = 0;
    p->claims = calloc(claims->n + 1, sizeof *p->claims);
    p->figures = calloc(figures ? figures->n + 1 : 1, sizeof *p->figures);
    if (!p->claims || !p->figures)
        return fields_no_memory(&r->fields);
    for (const struct yaml_node *entry = claims->first; entry && !rc; entry = entry->next) {
        fields_enter(&r->fields, "claims");
        fields_enter_index(&r->fields, p->n_claims);
        struct claim *claim = &p->claims[p->n_claims++];
        rc = read_claim(r, entry, claim);
        if (!rc)
            rc = check_unique(r, entry, claim->id);
        fields_leave(&r->fields, 0);
    }
    for (const struct yaml_node *entry = figures ? figures->first : NULL; entry && !rc;
         entry = entry->next) {
        fields_enter(&r->fields, "figures");
        fields_enter_index(&r->fields, p->n_figures);
        struct figure *figure = &p->figures[p->n_figures++];
        rc = claims_read_figure(r, entry, figure);
        if (!rc)
            rc = check_unique(r, entry, figure->id);
        fields_leave(&r->fields, 0);
    }
    return rc;
}

static int read_paper(struct claims_reader *r)
{
    static const char *const keys[] = {"paper",          "title",    "source", "about",   "remarks",
                                       "contradictions", "readings", "claims", "figures", NULL};
    const struct yaml_node *root = r->paper->doc.root, *claims, *figures;
    int rc = claims_check_keys(r, root, keys);
    if (!rc)
        rc = claims_read_paper(r, root);
    if (!rc)
        rc = claims_declare_readings(r, root);
    if (!rc)
        rc = claims_open_list(r, root, "claims", true, &claims);
    if (!rc)
        rc = claims_open_list(r, root, "figures", false, &figures);
    return rc ? rc : read_lists(r, claims, figures);
}
