/* Writes shipped results (shipped.h): one line for each claim and figure, always in the order of
 * claims.yaml, so that a change of one shows as a change of one line. */
#include <stdlib.h>
#include <string.h>

#include "base/digest.h"
#include "many/json_parts.h"
#include "reproduce/scoreboard.h"
#include "reproduce/shipped_parts.h"
#include "stats/text_stream.h"

#define FORM (JSON_COMPACT | JSON_REAL_PRECISION(7))

static const char *name_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static void digest_text(struct digest *d, const char *text)
{
    digest_bytes(d, text, strlen(text));
}

static void digest_set(struct digest *d, const struct run_set *set)
{
    digest_text(d, name_of(set->file));
    for (uint32_t i = 0; i < set->n_seeds * set->n_variants; i++) {
        const struct summary *summary = set->summaries[i];
        digest_u64(d, set->runs[i].seed);
        digest_text(d, set->variants[i % set->n_variants].variant);
        for (uint32_t k = 0; summary && k < summary->n_metrics; k++) {
            uint64_t bits;
            memcpy(&bits, &summary->metrics[k].value, sizeof bits);
            digest_text(d, summary->metrics[k].name);
            digest_u64(d, bits);
        }
    }
}

/* The sets of a paper are those in its folder. */
static bool is_of(const struct paper *paper, const struct run_set *set)
{
    const size_t n = strlen(paper->folder);
    return !strncmp(set->file, paper->folder, n) && !strchr(set->file + n, '/');
}

static json_t *hex_json(const struct digest *d)
{
    char hex[17];
    digest_hex(d, hex);
    return json_string(hex);
}

static void put_judgement(json_t *json, const struct scored_claim *s)
{
    const struct judgement *j = &s->judgement;
    char asks[17];
    shipped_ask(s->claim, asks);
    put(json, "asks", json_string(asks));
    put(json, "verdict", json_string(verdict_words[j->found]));
    if (j->found == VERDICT_UNTESTABLE)
        return;
    put(json, "seeds", json_integer(j->n_seeds));
    json_t *values = json_array();
    for (uint32_t i = 0; i < j->n_values && j->values; i++)
        append(values, number_json(j->values[i]));
    put(json, "values", values);
    if (j->has_direction) {
        put(json, "direction_holds", json_boolean(j->direction_holds));
        put(json, "detail", json_string(j->direction_detail));
    }
}

static json_t *claim_json(const struct paper *paper, const struct scored_claim *s)
{
    json_t *json = json_object(), *readings = json_array();
    put(json, "id", json_string(s->claim->id));
    put_judgement(json, s);
    for (uint32_t i = 0; i < s->claim->n_readings; i++) {
        json_t *own = json_object();
        put(own, "reading", json_string(paper->readings[s->claim->readings[i].reading].id));
        put_judgement(own, &s->readings[i]);
        append(readings, own);
    }
    put(json, "readings", readings);
    return json;
}

/* Keeps the smallest and the largest point of each stretch. */
static json_t *curve_json(const struct drawn_point *p, uint32_t n)
{
    const uint32_t n_stretches = n <= SHIPPED_MAX_POINTS ? n : SHIPPED_MAX_POINTS / 2;
    json_t *list = json_array();
    for (uint32_t s = 0; s < n_stretches; s++) {
        const uint32_t from = (uint32_t)((uint64_t)n * s / n_stretches),
                       to = (uint32_t)((uint64_t)n * (s + 1) / n_stretches);
        uint32_t least = from, most = from;
        for (uint32_t i = from; i < to; i++) {
            least = p[i].y < p[least].y ? i : least;
            most = p[i].y > p[most].y ? i : most;
        }
        const uint32_t first = least < most ? least : most, last = least < most ? most : least;
        for (uint32_t i = first; i <= last; i += last > first ? last - first : 1) {
            json_t *point = json_array();
            append(point, number_json(p[i].x));
            append(point, number_json(p[i].y));
            append(list, point);
        }
    }
    return list;
}

static json_t *points_json(const struct figure_series *series, const struct spread *spread)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < series->n_points; i++) {
        json_t *point = json_array();
        append(point, json_string(series->points[i].x.text));
        append(point, number_json(spread[i].mean));
        append(point, number_json(spread[i].min));
        append(point, number_json(spread[i].max));
        append(list, point);
    }
    return list;
}

static json_t *figure_json(const struct scored_figure *s)
{
    const struct figure *f = s->figure;
    const struct drawing *d = &s->drawing;
    const struct spread *spread = d->points;
    json_t *json = json_object(), *list = json_array();
    put(json, "id", json_string(f->id));
    put(json, "seeds", json_integer(d->n_seeds));
    for (uint32_t i = 0; i < f->n_series; i++) {
        json_t *series = json_object();
        put(series, "name", json_string(f->series[i].name));
        if (f->series[i].value.text) /* a distribution over seeds */
            put(series, "n", json_integer(d->series[i].n_values));
        put(series, "points",
            d->series ? curve_json(d->series[i].points, d->series[i].n_points)
                      : points_json(&f->series[i], spread));
        spread = spread ? spread + f->series[i].n_points : NULL;
        append(list, series);
    }
    put(json, "series", list);
    return json;
}

/* Writes `"key": value` and what follows. */
static void write_pair(FILE *out, const char *key, json_t *value, const char *end)
{
    char *text = json_dumps(value, FORM | JSON_ENCODE_ANY);
    XOFF_ASSERT(text);
    fprintf(out, "\"%s\": %s%s", key, text, end);
    free(text);
    json_decref(value);
}

static void write_list(FILE *out, const char *key, json_t *list, const char *end)
{
    fprintf(out, "\"%s\": [", key);
    for (size_t i = 0; i < json_array_size(list); i++) {
        char *text = json_dumps(json_array_get(list, i), FORM);
        XOFF_ASSERT(text);
        fprintf(out, "%s\n%s", i ? "," : "", text);
        free(text);
    }
    fprintf(out, "\n]%s", end);
    json_decref(list);
}

char *shipped_text(const struct scoreboard *board, const struct scored_paper *p)
{
    struct digest all;
    json_t *scenarios = json_object(), *claims = json_array(), *figures = json_array();
    char *text = NULL;
    size_t size = 0;
    digest_init(&all);
    for (uint32_t i = 0; i < board->runs.n_sets; i++) {
        const struct run_set *set = &board->runs.sets[i];
        if (!is_of(p->paper, set))
            continue;
        struct digest one;
        digest_init(&one);
        digest_bytes(&one, set->text, set->size);
        put(scenarios, name_of(set->file), hex_json(&one));
        digest_set(&all, set);
    }
    for (uint32_t i = 0; i < p->n_claims; i++)
        append(claims, claim_json(p->paper, &p->claims[i]));
    for (uint32_t i = 0; i < p->n_figures; i++)
        append(figures, figure_json(&p->figures[i]));
    FILE *out = open_memstream(&text, &size);
    XOFF_ASSERT(out);
    fputs("{", out);
    write_pair(out, "paper", json_string(p->paper->name), ",\n");
    write_pair(out, "xoff_version", json_string(XOFF_VERSION), ",\n");
    write_pair(out, "digest", hex_json(&all), ",\n");
    write_pair(out, "scenarios", scenarios, ",\n");
    write_list(out, "claims", claims, ",\n");
    write_list(out, "figures", figures, "}\n");
    text_stream_close(out, &text);
    return text;
}
