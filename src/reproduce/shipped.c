/* Reads shipped results (shipped.h). A part that is damaged counts as absent: the file is made by
 * xoff, and what is missing is named where it is used. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/digest.h"
#include "many/json_parts.h"
#include "reproduce/shipped_parts.h"
#include "traffic/words.h"

struct shipped {
    json_t *root;
};

int shipped_parse(const char *file, const char *text, size_t size, struct shipped **out,
                  struct xoff_err *err)
{
    json_error_t found;
    *out = NULL;
    *err = (struct xoff_err){0};
    json_t *root = json_loadb(text, size, JSON_REJECT_DUPLICATES, &found);
    if (!json_is_object(root)) {
        snprintf(err->file, sizeof err->file, "%s", file);
        err->line = root ? 1 : found.line;
        err->column = root ? 1 : found.column;
        const int rc = xoff_err_set(
            err, XOFF_E_SYNTAX, "results", NULL,
            root ? "not an object; write it anew with xoff reproduce --write" : found.text);
        json_decref(root);
        return rc;
    }
    *out = malloc(sizeof **out);
    XOFF_ASSERT(*out);
    (*out)->root = root;
    return 0;
}

int shipped_read(const struct paper *paper, struct shipped **out, struct xoff_err *err)
{
    char path[4096], *text;
    size_t size;
    *out = NULL;
    snprintf(path, sizeof path, "%s" SHIPPED_FILE, paper->folder);
    if (access(path, F_OK))
        return 0;
    int rc = words_load(path, "results", &text, &size, err);
    if (rc)
        return rc;
    rc = shipped_parse(path, text, size, out, err);
    free(text);
    return rc;
}

void shipped_destroy(struct shipped *shipped)
{
    if (shipped)
        json_decref(shipped->root);
    free(shipped);
}

static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

const char *shipped_version(const struct shipped *shipped)
{
    return text_of(shipped->root, "xoff_version");
}

const char *shipped_digest(const struct shipped *shipped)
{
    return text_of(shipped->root, "digest");
}

/* Finds the entry of a list whose `key` is `id`; NULL: none. */
static const json_t *find(const json_t *list, const char *key, const char *id)
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *entry = json_array_get(list, i);
        if (!strcmp(text_of(entry, key), id))
            return entry;
    }
    return NULL;
}

static const json_t *find_claim(const struct shipped *shipped, const struct claim *claim,
                                const char *reading)
{
    const json_t *entry = find(json_object_get(shipped->root, "claims"), "id", claim->id);
    return reading ? find(json_object_get(entry, "readings"), "reading", reading) : entry;
}

static uint32_t count_of(const json_t *object, const char *key)
{
    const json_int_t n = json_integer_value(json_object_get(object, key));
    return n > 0 && n <= CLAIMS_MAX_SEEDS ? (uint32_t)n : 0;
}

bool shipped_claim(const struct shipped *shipped, const struct claim *claim, const char *reading,
                   struct judgement *out)
{
    const json_t *entry = find_claim(shipped, claim, reading);
    const json_t *values = json_object_get(entry, "values");
    const size_t n = json_array_size(values);
    uint32_t verdict = 0;
    *out = (struct judgement){0};
    while (verdict <= VERDICT_UNTESTABLE &&
           strcmp(text_of(entry, "verdict"), verdict_words[verdict]))
        verdict++;
    if (verdict > VERDICT_UNTESTABLE || n > CLAIMS_MAX_SEEDS)
        return false;
    out->found = (enum verdict)verdict;
    out->n_seeds = count_of(entry, "seeds");
    out->n_values = (uint32_t)n;
    out->has_direction = json_is_boolean(json_object_get(entry, "direction_holds"));
    out->direction_holds = json_is_true(json_object_get(entry, "direction_holds"));
    snprintf(out->direction_detail, sizeof out->direction_detail, "%s", text_of(entry, "detail"));
    if (n) {
        out->values = calloc(n, sizeof *out->values);
        XOFF_ASSERT(out->values);
        for (size_t i = 0; i < n; i++)
            out->values[i] = json_number_value(json_array_get(values, i));
        out->measured = judge_spread(claim, out->values, out->n_values);
    }
    judge_recorded(claim, out);
    return true;
}

void shipped_ask(const struct claim *c, char hex[17])
{
    struct digest d;
    char numbers[128];
    const char *const texts[] = {c->experiment.scenario, c->measure.text, c->direction.text,
                                 numbers};
    snprintf(numbers, sizeof numbers, "%u %d %d %.17g %d %.17g", c->experiment.n_seeds,
             (int)c->average, c->has_published, c->published, c->is_tolerance_relative,
             c->tolerance);
    digest_init(&d);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        digest_bytes(&d, texts[i] ? texts[i] : "", texts[i] ? strlen(texts[i]) : 0);
    digest_hex(&d, hex);
}

bool shipped_knows(const struct shipped *shipped, const struct claim *claim, const char *reading)
{
    return find_claim(shipped, claim, reading);
}

bool shipped_is_changed(const struct shipped *shipped, const struct claim *claim,
                        const char *reading)
{
    char hex[17];
    shipped_ask(claim, hex);
    return strcmp(text_of(find_claim(shipped, claim, reading), "asks"), hex) != 0;
}

void shipped_changed_scenarios(const struct shipped *shipped, const struct paper *paper,
                               void (*say)(const char *file))
{
    json_t *scenarios = json_object_get(shipped->root, "scenarios"), *value;
    const char *name;
    json_object_foreach(scenarios, name, value)
    {
        char path[4096], hex[17] = "", *text;
        size_t size;
        struct xoff_err err;
        snprintf(path, sizeof path, "%s%s", paper->folder, name);
        if (!words_load(path, "scenario", &text, &size, &err)) {
            struct digest d;
            digest_init(&d);
            digest_bytes(&d, text, size);
            digest_hex(&d, hex);
            free(text);
        }
        if (!json_string_value(value) || strcmp(json_string_value(value), hex))
            say(name);
    }
}

static double at(const json_t *list, size_t i)
{
    return json_number_value(json_array_get(list, i));
}

/* Reads points of lines and bars, which stand in the order of the figure's own. */
static bool read_points(const json_t *list, const struct figure_series *series, struct spread *out)
{
    if (json_array_size(list) != series->n_points)
        return false;
    for (uint32_t i = 0; i < series->n_points; i++) {
        const json_t *point = json_array_get(list, i);
        const char *x = json_string_value(json_array_get(point, 0));
        if (json_array_size(point) != 4 || !x || strcmp(x, series->points[i].x.text))
            return false;
        out[i] = (struct spread){.mean = at(point, 1), .min = at(point, 2), .max = at(point, 3)};
    }
    return true;
}

static bool read_curve(const json_t *entry, const struct figure *figure, struct drawn_series *out)
{
    const json_t *list = json_object_get(entry, "points");
    const size_t n = json_array_size(list);
    if (!json_is_array(list) || n > DRAWING_MAX_POINTS)
        return false;
    out->points = calloc(n + 1, sizeof *out->points);
    XOFF_ASSERT(out->points);
    for (size_t i = 0; i < n; i++)
        out->points[i] =
            (struct drawn_point){at(json_array_get(list, i), 0), at(json_array_get(list, i), 1)};
    out->n_points = (uint32_t)n;
    out->n_values = figure->kind == FIGURE_CDF ? count_of(entry, "n") : 0;
    return true;
}

bool shipped_figure(const struct shipped *shipped, const struct figure *figure, struct drawing *out)
{
    const json_t *entry = find(json_object_get(shipped->root, "figures"), "id", figure->id);
    const json_t *list = json_object_get(entry, "series");
    const bool is_points = figure->kind == FIGURE_LINE || figure->kind == FIGURE_BAR;
    uint32_t n_points = 0;
    *out = (struct drawing){.state = VERDICT_HOLDS, .n_seeds = count_of(entry, "seeds")};
    if (!entry || json_array_size(list) != figure->n_series)
        return false;
    for (uint32_t s = 0; s < figure->n_series; s++)
        n_points += figure->series[s].n_points;
    if (is_points)
        out->points = calloc(n_points + 1, sizeof *out->points);
    else
        out->series = calloc(figure->n_series + 1, sizeof *out->series);
    XOFF_ASSERT(out->points || out->series);
    struct spread *point = out->points;
    bool is_good = true;
    for (uint32_t s = 0; s < figure->n_series && is_good; s++) {
        const json_t *series = json_array_get(list, s);
        is_good = !strcmp(text_of(series, "name"), figure->series[s].name);
        if (is_good && is_points)
            is_good = read_points(json_object_get(series, "points"), &figure->series[s], point);
        else if (is_good)
            is_good = read_curve(series, figure, &out->series[out->n_series++]);
        point = is_points ? point + figure->series[s].n_points : NULL;
    }
    if (!is_good)
        drawing_fini(out);
    return is_good;
}
