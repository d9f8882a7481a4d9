/* The scoreboard as JSON, by jansson: keys always in this order, nothing that depends on the time a
 * run took, on the cache or on the number of workers. The page (web/src/reproduce.js) draws it.
 *
 *   {"page": "reproduce", "title", "xoff_version", "quick", "settings": {KEY: VALUE},
 *    "totals": {"reproduced": {"held", "all"}, "left_out",
 *               KIND: {STRENGTH: {"held", "all"}}},
 *    "papers": [{"paper", "title", "source",
 *      "readings": [{"id", "title", "text", "after_the_fact", "held", "all", "plain_held"}],
 *      "results": {"xoff_version", "digest"}, "totals",
 *      "claims": [{"id", "kind", "strength", "strength_why", "chapter", "quote", "place",
 *                  "statement", "scenario", "measure", "unit",
 *                  "published": {"value", "text"}, "tolerance", "tolerance_value",
 *                  "tolerance_relative", "direction", "direction_holds", "average",
 *                  "measured": {"mean", "min", "max", "n", "values": [by seed], "text"},
 *                  "verdict", "recorded", "changed", "why", "notes", "error",
 *                  "shipped": {"verdict", "measured"},
 *                  "readings": [{"reading", "scenario", "measure", "direction" to "shipped"}]}],
 *      "figures": [{"id", "title", "place", "kind", "scenario",
 *                   "x": {"label", "unit", "categories"}, "y": {"label", "unit"}, "seeds",
 *                   "series": [{"name", "points": [[x, mean, min, max]]}],
 *                   "marks": [{"name", "points": [[x, y]]}], "notes", "state", "error"}]}],
 *    "summary": {"claims", "holds", "direction", "fails", "untestable", "left-out", "error",
 *                "worse", "better"}}
 *
 * Series over time (kind "time") have points [x, y], those of a distribution ("cdf") too, with "n"
 * of "of" seeds that have a value before them: a point is a value and the share of seeds up to it.
 *
 * "reproduced" counts independent claims that the paper states; of a reading, "plain_held" is how
 * many of the same claims hold under the plain one.
 *
 * "results" are the shipped ones. A claim that was not run has its own under "shipped"; a figure
 * has state "shipped" and their points.
 *
 * What is not known or was not run is null. "changed" is "worse" or "better" than recorded. The x
 * of a figure with categories is an index into them. "tolerance" is for people, "text" of what is
 * measured says why there are no numbers.
 */
#include <string.h>

#include "many/json_parts.h"
#include "reproduce/scoreboard.h"

static json_t *error_json(const struct xoff_err *err)
{
    char place[512];
    json_t *error = json_object();
    snprintf(place, sizeof place, err->line ? "%s:%d:%d" : "%s", err->file, err->line, err->column);
    put(error, "place", text_json(place));
    put(error, "subject", text_json(err->subject));
    put(error, "message", text_json(err->message));
    return error;
}

/* "within 5 %: read off a curve" */
static json_t *tolerance_json(const struct claim *c)
{
    char text[1024];
    if (!c->has_published)
        return json_null();
    const double shown = c->is_tolerance_relative ? 100 * c->tolerance : c->tolerance;
    snprintf(text, sizeof text, "within %.6g%s%s", shown, *c->unit ? " " : "", c->unit);
    if (c->is_tolerance_relative)
        snprintf(text, sizeof text, "within %.6g %% of what is published", shown);
    json_t *json = json_sprintf("%s: %s", text, c->tolerance_why);
    XOFF_ASSERT(json);
    return json;
}

static json_t *measured_json(const struct judgement *j)
{
    json_t *measured = json_object(), *values = json_array();
    const bool has_values = j->values;
    put(measured, "mean", has_values ? number_json(j->measured.mean) : json_null());
    put(measured, "min", has_values ? number_json(j->measured.min) : json_null());
    put(measured, "max", has_values ? number_json(j->measured.max) : json_null());
    put(measured, "n", has_values ? json_integer(j->n_seeds) : json_null());
    for (uint32_t i = 0; i < j->n_values && has_values; i++)
        append(values, number_json(j->values[i]));
    put(measured, "values", values);
    const char *text = NULL;
    if (j->found == VERDICT_ERROR)
        text = j->err.message;
    else if (j->found == VERDICT_UNTESTABLE || j->found == VERDICT_LEFT_OUT)
        text = verdict_texts[j->found];
    else if (!has_values)
        text = j->direction_detail;
    put(measured, "text", text_json(text));
    return measured;
}

static json_t *published_json(const struct claim *c)
{
    json_t *published = json_object();
    put(published, "value", c->has_published ? number_json(c->published) : json_null());
    put(published, "text", text_json(c->published_text));
    return published;
}

static json_t *shipped_json(const struct scored_claim *s)
{
    if (!s->has_shipped)
        return json_null();
    json_t *json = json_object();
    put(json, "verdict", json_string(verdict_words[s->shipped.found]));
    put(json, "measured", measured_json(&s->shipped));
    return json;
}

/* Puts what was found, for a claim as it is and under another reading. */
static void put_judgement(json_t *json, const struct scored_claim *s)
{
    const struct claim *c = s->claim;
    const struct judgement *j = &s->judgement;
    put(json, "direction", text_json(c->direction.text));
    put(json, "direction_holds",
        j->has_direction && j->found != VERDICT_ERROR ? json_boolean(j->direction_holds)
                                                      : json_null());
    put(json, "average", json_string(average_words[c->average]));
    put(json, "measured", measured_json(j));
    put(json, "verdict", json_string(verdict_words[j->found]));
    put(json, "recorded", json_string(verdict_words[c->recorded]));
    put(json, "changed", text_json(j->is_worse ? "worse" : j->is_better ? "better" : NULL));
    put(json, "why", text_json(c->why));
    put(json, "notes", text_json(c->notes));
    put(json, "error", j->found == VERDICT_ERROR ? error_json(&j->err) : json_null());
    put(json, "shipped", shipped_json(s));
}

static json_t *claim_readings_json(const struct paper *paper, const struct scored_claim *s)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < s->claim->n_readings; i++) {
        const struct scored_claim *own = &s->readings[i];
        json_t *json = json_object();
        put(json, "reading", json_string(paper->readings[s->claim->readings[i].reading].id));
        put(json, "scenario", text_json(own->claim->experiment.scenario));
        put(json, "measure", text_json(own->claim->measure.text));
        put_judgement(json, own);
        append(list, json);
    }
    return list;
}

static json_t *claim_json(const struct paper *paper, const struct scored_claim *s)
{
    const struct claim *c = s->claim;
    json_t *claim = json_object();
    put(claim, "id", text_json(c->id));
    put(claim, "kind", json_string(kind_words[c->kind]));
    put(claim, "strength", json_string(strength_words[c->strength]));
    put(claim, "strength_why", text_json(c->strength_why));
    put(claim, "chapter", text_json(c->chapter));
    put(claim, "quote", text_json(c->quote));
    put(claim, "place", text_json(c->place));
    put(claim, "statement", text_json(c->statement));
    put(claim, "scenario", text_json(c->experiment.scenario));
    put(claim, "measure", text_json(c->measure.text));
    put(claim, "unit", json_string(c->unit));
    put(claim, "published", published_json(c));
    put(claim, "tolerance", tolerance_json(c));
    put(claim, "tolerance_value", c->has_published ? number_json(c->tolerance) : json_null());
    put(claim, "tolerance_relative", json_boolean(c->is_tolerance_relative));
    put_judgement(claim, s);
    put(claim, "readings", claim_readings_json(paper, s));
    return claim;
}

/* Returns the index of a text in a list; a new text is appended. */
static json_int_t index_in(json_t *list, const char *text)
{
    size_t i = 0;
    while (i < json_array_size(list) && strcmp(json_string_value(json_array_get(list, i)), text))
        i++;
    if (i == json_array_size(list))
        append(list, json_string(text));
    return (json_int_t)i;
}

/* The x of a bar is an index into categories, whatever its label. `categories` is NULL for
 * lines. */
static json_t *x_json(json_t *categories, const struct figure_x *x)
{
    return categories ? json_integer(index_in(categories, x->text)) : number_json(x->value);
}

static json_t *axis_json(const struct figure_axis *axis)
{
    json_t *json = json_object();
    put(json, "label", text_json(axis->label));
    put(json, "unit", json_string(axis->unit));
    return json;
}

/* Returns no points where the figure was not drawn; the paper's marks are kept. */
static json_t *series_json(const struct figure *f, const struct drawing *d, json_t *categories)
{
    json_t *list = json_array();
    const struct spread *at = d->points;
    for (uint32_t s = 0; s < f->n_series && at; s++) {
        json_t *series = json_object(), *points = json_array();
        for (uint32_t i = 0; i < f->series[s].n_points; i++, at++) {
            json_t *point = json_array();
            append(point, x_json(categories, &f->series[s].points[i].x));
            append(point, number_json(at->mean));
            append(point, number_json(at->min));
            append(point, number_json(at->max));
            append(points, point);
        }
        put(series, "name", text_json(f->series[s].name));
        put(series, "points", points);
        append(list, series);
    }
    return list;
}

/* Makes points [x, y]; for a distribution over seeds also how many have a value, of how many. */
static json_t *drawn_json(const struct figure *f, const struct drawing *d)
{
    json_t *list = json_array();
    for (uint32_t s = 0; s < d->n_series; s++) {
        json_t *series = json_object(), *points = json_array();
        for (uint32_t i = 0; i < d->series[s].n_points; i++) {
            json_t *point = json_array();
            append(point, number_json(d->series[s].points[i].x));
            append(point, number_json(d->series[s].points[i].y));
            append(points, point);
        }
        put(series, "name", text_json(f->series[s].name));
        if (f->series[s].value.text) {
            put(series, "n", json_integer(d->series[s].n_values));
            put(series, "of", json_integer(d->n_seeds));
        }
        put(series, "points", points);
        append(list, series);
    }
    return list;
}

static json_t *marks_json(const struct figure *f, json_t *categories)
{
    json_t *list = json_array();
    for (uint32_t m = 0; m < f->n_marks; m++) {
        json_t *marks = json_object(), *points = json_array();
        for (uint32_t i = 0; i < f->marks[m].n_points; i++) {
            json_t *point = json_array();
            append(point, x_json(categories, &f->marks[m].points[i].x));
            append(point, number_json(f->marks[m].points[i].y));
            append(points, point);
        }
        put(marks, "name", text_json(f->marks[m].name));
        put(marks, "points", points);
        append(list, marks);
    }
    return list;
}

static json_t *figure_json(const struct scored_figure *s)
{
    const struct figure *f = s->figure;
    const struct drawing *d = &s->drawing;
    json_t *figure = json_object(), *categories = f->kind == FIGURE_BAR ? json_array() : NULL;
    json_t *series = d->series ? drawn_json(f, d) : series_json(f, d, categories),
           *marks = marks_json(f, categories);
    json_t *x = axis_json(&f->x);
    put(x, "categories", categories ? categories : json_null());
    put(figure, "id", text_json(f->id));
    put(figure, "title", text_json(f->title));
    put(figure, "place", text_json(f->place));
    put(figure, "kind", json_string(figure_words[f->kind]));
    put(figure, "scenario", text_json(f->experiment.scenario));
    put(figure, "x", x);
    put(figure, "y", axis_json(&f->y));
    put(figure, "seeds", json_integer(d->n_seeds));
    put(figure, "series", series);
    put(figure, "marks", marks);
    put(figure, "notes", text_json(f->notes));
    put(figure, "state",
        json_string(s->is_shipped               ? "shipped"
                    : d->state == VERDICT_HOLDS ? "drawn"
                                                : verdict_words[d->state]));
    put(figure, "error", d->state == VERDICT_ERROR ? error_json(&d->err) : json_null());
    return figure;
}

static json_t *share_json(const struct scoreboard_share *share)
{
    json_t *json = json_object();
    put(json, "held", json_integer(share->n_held));
    put(json, "all", json_integer(share->n_all));
    return json;
}

static json_t *totals_json(const struct scored_paper *papers, uint32_t n)
{
    struct scoreboard_totals t;
    scoreboard_total(papers, n, &t);
    json_t *totals = json_object();
    put(totals, "reproduced", share_json(&t.reproduced));
    put(totals, "left_out", json_integer(t.n_left_out));
    for (uint32_t kind = 0; kind < N_KINDS; kind++) {
        json_t *row = json_object();
        for (uint32_t strength = 0; strength < N_STRENGTHS; strength++)
            put(row, strength_words[strength], share_json(&t.cells[kind][strength]));
        put(totals, kind_words[kind], row);
    }
    return totals;
}

static json_t *readings_json(const struct scored_paper *p)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < p->paper->n_readings; i++) {
        const struct reading *r = &p->paper->readings[i];
        const struct scoreboard_reading found = scoreboard_read(p, i);
        json_t *json = json_object();
        put(json, "id", json_string(r->id));
        put(json, "title", json_string(r->title));
        put(json, "text", text_json(r->text));
        put(json, "after_the_fact", json_boolean(r->is_after_the_fact));
        put(json, "held", json_integer(found.own.n_held));
        put(json, "all", json_integer(found.own.n_all));
        put(json, "plain_held", json_integer(found.plain.n_held));
        append(list, json);
    }
    return list;
}

static json_t *results_json(const struct scored_paper *p)
{
    if (!p->shipped)
        return json_null();
    json_t *json = json_object();
    put(json, "xoff_version", text_json(shipped_version(p->shipped)));
    put(json, "digest", text_json(shipped_digest(p->shipped)));
    return json;
}

static json_t *paper_json(const struct scored_paper *p)
{
    json_t *paper = json_object(), *claims = json_array(), *figures = json_array();
    for (uint32_t i = 0; i < p->n_claims; i++)
        append(claims, claim_json(p->paper, &p->claims[i]));
    for (uint32_t i = 0; i < p->n_figures; i++)
        append(figures, figure_json(&p->figures[i]));
    put(paper, "paper", text_json(p->paper->name));
    put(paper, "title", text_json(p->paper->title));
    put(paper, "source", text_json(p->paper->source));
    put(paper, "results", results_json(p));
    put(paper, "readings", readings_json(p));
    put(paper, "totals", totals_json(p, 1));
    put(paper, "claims", claims);
    put(paper, "figures", figures);
    return paper;
}

char *scoreboard_json(const struct scoreboard *board)
{
    const struct run_options *o = board->options;
    const struct scoreboard_counts c = scoreboard_count(board);
    json_t *root = json_object(), *settings = json_object(), *papers = json_array(),
           *summary = json_object();
    for (uint32_t i = 0; i < o->n_settings; i++)
        put(settings, o->settings[i].key, json_string(o->settings[i].value));
    for (uint32_t k = 0; k < board->n_papers; k++)
        append(papers, paper_json(&board->papers[k]));
    put(summary, "claims", json_integer(c.n_claims));
    for (uint32_t v = 0; v < N_VERDICTS; v++)
        put(summary, verdict_words[v], json_integer(c.verdicts[v]));
    put(summary, "worse", json_integer(c.n_worse));
    put(summary, "better", json_integer(c.n_better));
    put(root, "page", json_string("reproduce"));
    put(root, "title", json_string(SCOREBOARD_TITLE));
    put(root, "xoff_version", json_string(XOFF_VERSION));
    put(root, "quick", json_boolean(o->is_quick));
    put(root, "settings", settings);
    put(root, "totals", totals_json(board->papers, board->n_papers));
    put(root, "papers", papers);
    put(root, "summary", summary);
    char *text = json_dumps(root, JSON_INDENT(2) | JSON_REAL_PRECISION(17));
    XOFF_ASSERT(text);
    json_decref(root);
    return text;
}
