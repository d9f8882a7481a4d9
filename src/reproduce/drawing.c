/* The points of figures (judge.h): expressions over seeds, curves over time, distributions.
 *
 * A distribution is a step curve: at each value, the share of seeds with a value up to it. A seed
 * whose run has no such metric (the onset of a deadlock where there was none) counts among the
 * seeds and has no step, so the curve may end below 1. A distribution that the runs themselves have
 * is drawn of all its values in all seeds together.
 *
 * A curve of more than DRAWING_MAX_POINTS samples is cut into stretches of equal length. Each keeps
 * its smallest and its largest sample, at their own instants, so no peak is lost.
 */
#include <stdlib.h>
#include <string.h>

#include "reproduce/judge.h"

/* Computes all points of lines and bars; on an error err has its place. */
static int draw_points(const struct paper *paper, const struct figure *figure,
                       const struct run_set *set, struct drawing *out)
{
    double *values = calloc(out->n_seeds, sizeof *values);
    uint32_t n_points = 0;
    int rc = 0;
    for (uint32_t s = 0; s < figure->n_series; s++)
        n_points += figure->series[s].n_points;
    out->points = calloc(n_points + 1, sizeof *out->points);
    XOFF_ASSERT(values && out->points);
    struct spread *point = out->points;
    for (uint32_t s = 0; s < figure->n_series && !rc; s++)
        for (uint32_t i = 0; i < figure->series[s].n_points && !rc; i++) {
            const struct expression *value = &figure->series[s].points[i].value;
            for (uint32_t k = 0; k < out->n_seeds && !rc; k++)
                rc = judge_compute(set, value->text, k, &values[k], &out->err);
            if (rc)
                judge_locate(paper, figure->id, "value", value, &out->err);
            else
                *point++ = spread_of(values, out->n_seeds);
        }
    free(values);
    return rc;
}

static int compare_points(const void *a, const void *b)
{
    const struct drawn_point *p = a, *q = b;
    return (p->x > q->x) - (p->x < q->x);
}

static int draw_cdf(const struct paper *paper, const struct figure *figure,
                    const struct run_set *set, const struct expression *value,
                    struct drawn_series *out, struct drawing *drawing)
{
    uint32_t n = 0;
    out->points = calloc(drawing->n_seeds, sizeof *out->points);
    XOFF_ASSERT(out->points);
    for (uint32_t i = 0; i < drawing->n_seeds; i++) {
        struct xoff_err err = {0};
        const int rc = judge_compute(set, value->text, i, &out->points[n].x, &err);
        if (rc && rc != -XOFF_E_MISSING) {
            drawing->err = err;
            judge_locate(paper, figure->id, "value", value, &drawing->err);
            return rc;
        }
        n += !rc;
    }
    qsort(out->points, n, sizeof *out->points, compare_points);
    for (uint32_t i = 0; i < n; i++) {
        const double share = (double)(i + 1) / drawing->n_seeds;
        out->points[i].x *= figure->scale;
        if (!i || out->points[i].x > out->points[out->n_points - 1].x)
            out->points[out->n_points++].x = out->points[i].x;
        out->points[out->n_points - 1].y = share;
    }
    out->n_values = n;
    return 0;
}

/* Fails with "no NAME is called so; the scenario has a, b", at the place of the name. */
static int refuse(const struct paper *paper, const struct figure *figure,
                  const struct expression *name, const char *key, const char *message,
                  struct drawing *drawing)
{
    const int rc = xoff_err_set(&drawing->err, XOFF_E_UNKNOWN, NULL, name->text, message);
    drawing->err.column = 0;
    judge_locate(paper, figure->id, key, name, &drawing->err);
    return rc;
}

/* Finds the variant of a series. Returns n_variants when there is none, and `message` says so. */
static uint32_t find_variant(const struct run_set *set, const struct figure_series *series,
                             char *message, size_t size)
{
    const char *wanted = series->variant.text ? series->variant.text : "";
    uint32_t i = 0;
    while (i < set->n_variants && strcmp(set->variants[i].variant, wanted))
        i++;
    if (i < set->n_variants)
        return i;
    if (!*wanted && set->n_variants == 1)
        return 0;
    if (!*set->variants[0].variant) {
        snprintf(message, size, "the scenario has no variants; leave it out");
        return i;
    }
    size_t n = (size_t)snprintf(message, size, "%s; the scenario has",
                                *wanted ? "no variant is called so" : "missing");
    for (uint32_t k = 0; k < set->n_variants && n < size; k++)
        n += (size_t)snprintf(message + n, size - n, "%s %s", k ? "," : "",
                              set->variants[k].variant);
    return i;
}

static const struct curve *find_curve(const struct summary *summary, const char *name,
                                      char *message, size_t size)
{
    for (uint32_t i = 0; i < summary->n_curves; i++)
        if (!strcmp(summary->curves[i].name, name))
            return &summary->curves[i];
    size_t n = (size_t)snprintf(message, size, "no curve is called so; the scenario has%s",
                                summary->n_curves ? "" : " none");
    for (uint32_t k = 0; k < summary->n_curves && n < size; k++)
        n +=
            (size_t)snprintf(message + n, size - n, "%s %s", k ? "," : "", summary->curves[k].name);
    return NULL;
}

static struct drawn_point point_of(const struct figure *figure, const struct curve *c, uint32_t i)
{
    const xoff_time at = c->first_at + (xoff_time)i * c->every;
    return (struct drawn_point){(double)at / (double)figure->x_unit, c->values[i] * figure->scale};
}

/* Adds the smallest and the largest sample of a stretch, in the order of time; one where they are
 * equal. */
static void add_stretch(const struct figure *figure, const struct curve *c, uint32_t from,
                        uint32_t to, struct drawn_series *out)
{
    uint32_t least = from, most = from;
    for (uint32_t i = from; i < to; i++) {
        least = c->values[i] < c->values[least] ? i : least;
        most = c->values[i] > c->values[most] ? i : most;
    }
    out->points[out->n_points++] = point_of(figure, c, least < most ? least : most);
    if (least != most)
        out->points[out->n_points++] = point_of(figure, c, least < most ? most : least);
}

static void draw_curve(const struct figure *figure, const struct curve *c, struct drawn_series *out)
{
    const uint32_t n = c->n <= DRAWING_MAX_POINTS ? c->n : DRAWING_MAX_POINTS / 2;
    out->points = calloc(2 * (size_t)n + 1, sizeof *out->points);
    XOFF_ASSERT(out->points);
    for (uint32_t i = 0; i < n; i++)
        add_stretch(figure, c, (uint32_t)((uint64_t)c->n * i / n),
                    (uint32_t)((uint64_t)c->n * (i + 1) / n), out);
}

static int draw_time(const struct paper *paper, const struct figure *figure,
                     const struct run_set *set, const struct figure_series *series,
                     struct drawn_series *out, struct drawing *drawing)
{
    char message[256];
    const uint32_t variant = find_variant(set, series, message, sizeof message);
    if (variant == set->n_variants)
        return refuse(paper, figure, series->variant.text ? &series->variant : &series->curve,
                      "variant", message, drawing);
    const struct curve *curve =
        find_curve(set->summaries[variant], series->curve.text, message, sizeof message);
    if (!curve)
        return refuse(paper, figure, &series->curve, "curve", message, drawing);
    draw_curve(figure, curve, out);
    return 0;
}

static const struct distribution *find_distribution(const struct summary *summary, const char *name)
{
    for (uint32_t i = 0; i < summary->n_distributions; i++)
        if (!strcmp(summary->distributions[i].name, name))
            return &summary->distributions[i];
    return NULL;
}

/* Draws the sum over seeds. A run may have no such value; that none has one is an error. */
static int draw_distribution(const struct paper *paper, const struct figure *figure,
                             const struct run_set *set, const struct figure_series *series,
                             struct drawn_series *out, struct drawing *drawing)
{
    char message[256];
    const uint32_t variant = find_variant(set, series, message, sizeof message);
    if (variant == set->n_variants)
        return refuse(paper, figure,
                      series->variant.text ? &series->variant : &series->distribution, "variant",
                      message, drawing);
    double step = 0, total = 0, below = 0;
    for (uint32_t seed = 0; seed < drawing->n_seeds; seed++) {
        const struct distribution *d = find_distribution(
            set->summaries[seed * set->n_variants + variant], series->distribution.text);
        if (!d)
            continue;
        step = d->step;
        if (d->n > out->n_points) {
            out->points = realloc(out->points, d->n * sizeof *out->points);
            XOFF_ASSERT(out->points);
            memset(out->points + out->n_points, 0, (d->n - out->n_points) * sizeof *out->points);
            out->n_points = d->n;
        }
        for (uint32_t k = 0; k < d->n; k++) {
            out->points[k].y += (double)d->counts[k];
            total += (double)d->counts[k];
        }
    }
    if (total == 0) {
        const struct summary *first = set->summaries[variant];
        size_t n = (size_t)snprintf(message, sizeof message, "no run has it; the first has%s",
                                    first->n_distributions ? "" : " none");
        for (uint32_t k = 0; k < first->n_distributions && n < sizeof message; k++)
            n += (size_t)snprintf(message + n, sizeof message - n, "%s %s", k ? "," : "",
                                  first->distributions[k].name);
        return refuse(paper, figure, &series->distribution, "distribution", message, drawing);
    }
    for (uint32_t k = 0; k < out->n_points; k++) {
        below += out->points[k].y;
        out->points[k] = (struct drawn_point){(k + 1) * step * figure->scale, below / total};
    }
    return 0;
}

static int draw(const struct paper *paper, const struct figure *figure, const struct run_set *set,
                struct drawing *out)
{
    int rc = 0;
    if (figure->kind == FIGURE_LINE || figure->kind == FIGURE_BAR)
        return draw_points(paper, figure, set, out);
    out->series = calloc(figure->n_series + 1, sizeof *out->series);
    XOFF_ASSERT(out->series);
    for (uint32_t s = 0; s < figure->n_series && !rc; s++) {
        const struct figure_series *series = &figure->series[s];
        struct drawn_series *drawn = &out->series[out->n_series++];
        if (figure->kind == FIGURE_TIME)
            rc = draw_time(paper, figure, set, series, drawn, out);
        else if (series->distribution.text)
            rc = draw_distribution(paper, figure, set, series, drawn, out);
        else
            rc = draw_cdf(paper, figure, set, &series->value, drawn, out);
    }
    return rc;
}

void judge_figure(const struct paper *paper, const struct figure *figure,
                  const struct run_options *options, const struct run_set *set, struct drawing *out)
{
    *out = (struct drawing){.state = VERDICT_LEFT_OUT};
    if (!set)
        return;
    /* A figure over time draws one run, however many seeds there are. */
    out->n_seeds = figure->kind == FIGURE_TIME ? 1 : runs_n_seeds(options, &figure->experiment);
    const struct xoff_err *err = runs_error(set, out->n_seeds, &out->is_bad_input);
    out->state = VERDICT_HOLDS;
    if (err) {
        out->err = *err;
        out->state = VERDICT_ERROR;
    } else if (draw(paper, figure, set, out)) {
        drawing_fini(out);
        out->is_bad_input = true;
        out->state = VERDICT_ERROR;
    }
}

void drawing_fini(struct drawing *drawing)
{
    for (uint32_t i = 0; i < drawing->n_series; i++)
        free(drawing->series[i].points);
    free(drawing->series);
    free(drawing->points);
    drawing->series = NULL;
    drawing->points = NULL;
    drawing->n_series = 0;
}
