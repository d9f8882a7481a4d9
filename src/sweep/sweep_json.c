/* sweep.json: what the terminal and the page show, as one document (schemas/sweep.schema.json).
 *
 * Of each cell it has the metrics that are shown; all metrics of all runs are in the database.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "many/json_parts.h"
#include "sweep/sweep.h"

static json_t *real_json(double value)
{
    return isnan(value) ? json_null() : number_json(value);
}

static json_t *parameters_json(const struct sweep *s)
{
    json_t *list = json_array();
    for (uint32_t a = 0; a < s->file->n_axes; a++) {
        const struct sweep_axis *axis = &s->file->axes[a];
        json_t *json = json_object();
        put(json, "name", json_string(axis->key));
        put(json, "unit", json_string(amount_units[axis->unit]));
        put(json, "scale", json_string(axis->is_log ? "log" : "lin"));
        const enum sweep_effect effect = sweep_effect(s, a);
        put(json, "matters",
            effect == EFFECT_UNKNOWN ? json_null() : json_boolean(effect == EFFECT_SOME));
        append(list, json);
    }
    return list;
}

static json_t *points_json(const struct sweep *s)
{
    json_t *list = json_array();
    for (uint32_t p = 0; p < s->n_points; p++) {
        json_t *texts = json_array(), *numbers = json_array();
        for (uint32_t a = 0; a < s->file->n_axes; a++) {
            const struct sweep_value *value = &s->values[p * s->file->n_axes + a];
            append(texts, json_string(value->text));
            append(numbers, real_json(value->number));
        }
        json_t *json = json_object();
        put(json, "values", texts);
        put(json, "numbers", numbers);
        append(list, json);
    }
    return list;
}

static json_t *spread_json(const struct seed_metric *m)
{
    json_t *json = json_object();
    put(json, "n", json_integer(m->over.n));
    put(json, "mean", real_json(m->over.mean));
    put(json, "ci95", real_json(m->over.ci95));
    put(json, "stddev", real_json(m->over.stddev));
    put(json, "min", real_json(m->over.min));
    put(json, "max", real_json(m->over.max));
    return json;
}

static json_t *cell_json(const struct sweep *s, const struct sweep_cell *cell,
                         const struct sweep_column *shown, uint32_t n_shown)
{
    json_t *json = json_object(), *metrics = json_object();
    for (uint32_t i = 0; i < n_shown; i++) {
        const struct seed_metric *m = cell->spread ? seeds_find(cell->spread, shown[i].name) : NULL;
        if (m)
            put(metrics, m->name, spread_json(m));
    }
    put(json, "point", json_integer(cell->point));
    put(json, "variant", json_string(s->variants[cell->variant]));
    put(json, "runs", json_integer(cell->n_runs));
    put(json, "failed", json_integer(cell->n_runs - cell->n_done));
    put(json, "verdict_failed", json_integer(cell->n_unexpected));
    put(json, "pareto", json_boolean(cell->is_on_front));
    if (*s->options->until.metric)
        put(json, "tight", json_boolean(cell->is_tight));
    put(json, "metrics", metrics);
    return json;
}

static json_t *extreme_json(const struct sweep *s, const char *metric, bool is_worst)
{
    const struct sweep_cell *cell = sweep_best(s, metric, is_worst);
    if (!cell)
        return json_null();
    return json_integer(cell - s->cells);
}

static json_t *metrics_json(const struct sweep *s, const struct sweep_column *shown,
                            uint32_t n_shown)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < n_shown; i++) {
        json_t *json = json_object();
        put(json, "name", json_string(shown[i].name));
        put(json, "unit", json_string(shown[i].unit));
        put(json, "more_is_better", json_boolean(sweep_is_more_better(shown[i].name)));
        put(json, "best", extreme_json(s, shown[i].name, false));
        put(json, "worst", extreme_json(s, shown[i].name, true));
        append(list, json);
    }
    return list;
}

static json_t *names_json(const struct sweep_names *names)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < names->n; i++)
        append(list, json_string(names->list[i].text));
    return list;
}

static json_t *failures_json(const struct sweep *s)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < s->n_cells; i++)
        for (uint32_t k = 0; k < s->cells[i].n_runs; k++) {
            const struct run *run = &s->cells[i].runs[k];
            if (run->state == RUN_DONE)
                continue;
            json_t *json = json_object();
            put(json, "point", json_integer(s->cells[i].point));
            put(json, "variant", json_string(run->variant));
            put(json, "seed", json_integer((json_int_t)run->seed));
            put(json, "error", json_string(run->err.message));
            append(list, json);
        }
    return list;
}

static json_t *verdicts_json(const struct sweep *s)
{
    json_t *json = json_object(), *reasons = json_array();
    uint32_t n_done = 0;
    for (uint32_t i = 0; i < s->n_cells; i++)
        n_done += s->cells[i].n_done;
    for (uint32_t i = 0; i < s->n_reasons; i++) {
        const struct sweep_reason *reason = &s->reasons[i];
        const struct run *run = &reason->cell->runs[reason->seed];
        json_t *one = json_object();
        put(one, "reason", json_string(reason->what));
        put(one, "runs", json_integer(reason->n_runs));
        put(one, "point", json_integer(reason->cell->point));
        put(one, "variant", json_string(run->variant));
        put(one, "seed", json_integer((json_int_t)run->seed));
        put(one, "why", json_string(reason->why));
        append(reasons, one);
    }
    put(json, "runs", json_integer(n_done));
    put(json, "failed", json_integer(s->n_unexpected));
    put(json, "reasons", reasons);
    return json;
}

static json_t *page_json(const struct sweep_file *f)
{
    json_t *json = json_object(), *heat = json_array(), *pareto = json_object();
    for (uint32_t i = 0; i < 2 && f->heat[i]; i++)
        append(heat, json_string(f->heat[i]));
    put(pareto, "min", names_json(&f->least));
    put(pareto, "max", names_json(&f->most));
    put(json, "x", text_json(f->x));
    put(json, "series", text_json(f->series));
    put(json, "heat", heat);
    put(json, "pareto", pareto);
    return json;
}

static json_t *until_json(const struct sweep_options *o)
{
    if (!*o->until.metric)
        return json_null();
    json_t *json = json_object();
    put(json, "metric", json_string(o->until.metric));
    put(json, "tolerance", json_real(o->until.tolerance));
    put(json, "relative", json_boolean(o->until.is_relative));
    put(json, "max_seeds", json_integer(o->max_seeds));
    return json;
}

char *sweep_json(const struct sweep *s)
{
    const struct sweep_file *f = s->file;
    uint32_t n_shown;
    struct sweep_column *shown = sweep_shown(s, &n_shown);
    json_t *root = json_object(), *variants = json_array(), *cells = json_array(),
           *settings = json_object(), *seeds = json_array();
    for (uint32_t i = 0; i < f->n_seeds; i++)
        append(seeds, json_integer((json_int_t)f->seeds[i]));
    for (uint32_t i = 0; i < s->n_variants; i++)
        append(variants, json_string(s->variants[i]));
    for (uint32_t i = 0; i < s->n_cells; i++)
        append(cells, cell_json(s, &s->cells[i], shown, n_shown));
    for (uint32_t i = 0; i < f->n_set; i++)
        put(settings, f->set[i].key, json_string(f->set[i].value));
    for (uint32_t i = 0; i < s->options->n_settings; i++)
        put(settings, s->options->settings[i].key, json_string(s->options->settings[i].value));
    put(root, "page", json_string("sweep"));
    put(root, "title", json_string(f->params.title));
    put(root, "xoff_version", json_string(XOFF_VERSION));
    put(root, "file", json_string(f->file));
    put(root, "scenario", json_string(f->scenario_file));
    put(root, "design", json_string(f->params.latin ? "latin" : "grid"));
    put(root, "settings", settings);
    put(root, "seeds", seeds);
    put(root, "parameters", parameters_json(s));
    put(root, "variants", variants);
    put(root, "points", points_json(s));
    put(root, "metrics", metrics_json(s, shown, n_shown));
    put(root, "cells", cells);
    put(root, "runs", json_integer(s->n_runs));
    put(root, "failures", failures_json(s));
    put(root, "verdicts", verdicts_json(s));
    put(root, "until", until_json(s->options));
    put(root, "show", page_json(f));
    free(shown);
    char *text = json_dumps(root, JSON_INDENT(1) | JSON_REAL_PRECISION(17));
    XOFF_ASSERT(text);
    json_decref(root);
    return text;
}
