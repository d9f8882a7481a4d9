/* Reads figures: of claims.yaml: lines and bars of expressions over the results, curves over time,
 * distributions over seeds, and the paper's own points. */
#include <stdlib.h>
#include <string.h>

#include "reproduce/claims_parts.h"

const char *const figure_words[N_FIGURE_KINDS] = {"line", "bar", "time", "cdf"};

static int read_axis(struct claims_reader *r, const struct yaml_node *mapping, const char *key,
                     struct figure_axis *axis)
{
    static const char *const keys[] = {"label", "unit", NULL};
    const struct yaml_node *node = yaml_find(mapping, key);
    if (!node)
        return claims_fail_missing(r, mapping, key, "missing; give {label: frame size, unit: B}");
    const size_t length = fields_enter(&r->fields, key);
    int rc = claims_check_keys(r, node, keys);
    if (!rc)
        rc = claims_take_text(r, node, "label", "what is on the axis", &axis->label);
    if (!rc)
        rc = claims_take_text(r, node, "unit", NULL, &axis->unit);
    if (!axis->unit)
        axis->unit = "";
    fields_leave(&r->fields, length);
    return rc;
}

static int read_x(struct claims_reader *r, const struct yaml_node *node,
                  const struct figure *figure, struct figure_x *x)
{
    int rc = fields_want(&r->fields, node, YAML_SCALAR, "a number, or a word for bars");
    if (rc)
        return rc;
    x->text = node->text;
    x->is_number = claims_is_number(node->text, &x->value);
    if (!x->is_number && figure->kind != FIGURE_BAR)
        return fields_fail(&r->fields, node, XOFF_E_TYPE,
                           "not a number; words on the x axis are for kind: bar");
    return 0;
}

static int read_point(struct claims_reader *r, const struct yaml_node *node,
                      const struct figure *figure, struct figure_point *point)
{
    static const char *const keys[] = {"x", "value", NULL};
    const char *x;
    int rc = claims_check_keys(r, node, keys);
    if (!rc)
        rc = claims_take_text(r, node, "x", "the place on the x axis", &x);
    if (!rc) {
        const size_t length = fields_enter(&r->fields, "x");
        rc = read_x(r, yaml_find(node, "x"), figure, &point->x);
        fields_leave(&r->fields, length);
    }
    return rc ? rc
              : claims_take_expression(r, node, "value", "an expression such as a.throughput / 1e9",
                                       false, &point->value);
}

static int read_mark(struct claims_reader *r, const struct yaml_node *node,
                     const struct figure *figure, struct figure_mark *mark)
{
    static const char what[] = "a pair such as [64, 4.1]";
    int rc = fields_want(&r->fields, node, YAML_SEQUENCE, what);
    if (!rc && node->n != 2)
        rc = fields_fail(&r->fields, node, XOFF_E_TYPE, "not two values; give [x, y]");
    if (!rc)
        rc = read_x(r, node->first, figure, &mark->x);
    return rc ? rc : claims_take_number(r, node->last, &mark->y);
}

/* Reads `name:` and opens the list `points:` of a series or of marks, which must not be empty. */
static int open_points(struct claims_reader *r, const struct yaml_node *node, const char **name,
                       const struct yaml_node **points)
{
    static const char *const keys[] = {"name", "points", NULL};
    int rc = claims_check_keys(r, node, keys);
    if (!rc)
        rc = claims_take_text(r, node, "name", "its name in the legend", name);
    if (rc)
        return rc;
    *points = yaml_find(node, "points");
    if (!*points || (*points)->kind != YAML_SEQUENCE || !(*points)->n)
        return claims_fail_missing(r, *points ? *points : node, "points",
                                   "missing; give a list of points");
    return 0;
}

/* Reads a name that is looked up in the results later, with its place. */
static int take_name(struct claims_reader *r, const struct yaml_node *mapping, const char *key,
                     const char *what, struct expression *out)
{
    const struct yaml_node *node = yaml_find(mapping, key);
    if (node)
        out->place = (struct plan_place){node->line, node->column};
    return claims_take_text(r, mapping, key, what, &out->text);
}

static int read_time_series(struct claims_reader *r, const struct yaml_node *node,
                            struct figure_series *series)
{
    static const char *const keys[] = {"name", "variant", "curve", NULL};
    int rc = claims_check_keys(r, node, keys);
    if (!rc)
        rc = claims_take_text(r, node, "name", "its name in the legend", &series->name);
    if (!rc)
        rc = take_name(r, node, "variant", NULL, &series->variant);
    return rc ? rc
              : take_name(r, node, "curve", "the name of one of the scenario's curves",
                          &series->curve);
}

static int refuse_key(struct claims_reader *r, const struct yaml_node *mapping, const char *key,
                      const char *message)
{
    const struct yaml_node *node = yaml_find(mapping, key);
    if (!node)
        return 0;
    const size_t length = fields_enter(&r->fields, key);
    const int rc = fields_fail_key(&r->fields, node, XOFF_E_CONFLICT, message);
    fields_leave(&r->fields, length);
    return rc;
}

static int read_cdf_series(struct claims_reader *r, const struct yaml_node *node,
                           struct figure_series *series)
{
    static const char *const keys[] = {"name", "value", "variant", "distribution", NULL};
    int rc = claims_check_keys(r, node, keys);
    if (!rc)
        rc = claims_take_text(r, node, "name", "its name in the legend", &series->name);
    if (!rc)
        rc = take_name(r, node, "variant", NULL, &series->variant);
    if (!rc)
        rc = take_name(r, node, "distribution", NULL, &series->distribution);
    if (!rc && series->distribution.text)
        rc = refuse_key(r, node, "value", "not beside distribution; give one of the two");
    else if (!rc)
        rc = refuse_key(r, node, "variant", "goes with distribution; value names it: a.drops");
    return rc || series->distribution.text
               ? rc
               : claims_take_expression(r, node, "value", "an expression such as a.deadlock.onset",
                                        false, &series->value);
}

static int read_series(struct claims_reader *r, const struct yaml_node *node,
                       const struct figure *figure, struct figure_series *series)
{
    if (figure->kind == FIGURE_TIME)
        return read_time_series(r, node, series);
    if (figure->kind == FIGURE_CDF)
        return read_cdf_series(r, node, series);
    const struct yaml_node *points;
    int rc = open_points(r, node, &series->name, &points);
    if (!rc && !(series->points = calloc(points->n, sizeof *series->points)))
        rc = fields_no_memory(&r->fields);
    const size_t length = fields_enter(&r->fields, "points");
    for (const struct yaml_node *p = rc ? NULL : points->first; p && !rc; p = p->next) {
        const size_t inner = fields_enter_index(&r->fields, series->n_points);
        rc = read_point(r, p, figure, &series->points[series->n_points++]);
        fields_leave(&r->fields, inner);
    }
    fields_leave(&r->fields, length);
    return rc;
}

static int read_marks(struct claims_reader *r, const struct yaml_node *node,
                      const struct figure *figure, struct figure_marks *marks)
{
    const struct yaml_node *points;
    int rc = open_points(r, node, &marks->name, &points);
    if (!rc && !(marks->points = calloc(points->n, sizeof *marks->points)))
        rc = fields_no_memory(&r->fields);
    const size_t length = fields_enter(&r->fields, "points");
    for (const struct yaml_node *p = rc ? NULL : points->first; p && !rc; p = p->next) {
        const size_t inner = fields_enter_index(&r->fields, marks->n_points);
        rc = read_mark(r, p, figure, &marks->points[marks->n_points++]);
        fields_leave(&r->fields, inner);
    }
    fields_leave(&r->fields, length);
    return rc;
}

static int read_curves(struct claims_reader *r, const struct yaml_node *node, struct figure *figure)
{
    const struct yaml_node *series, *marks;
    int rc = claims_open_list(r, node, "series", true, &series);
    if (!rc)
        rc = claims_open_list(r, node, "marks", false, &marks);
    if (rc)
        return rc;
    figure->series = calloc(series->n + 1, sizeof *figure->series);
    figure->marks = calloc(marks ? marks->n + 1 : 1, sizeof *figure->marks);
    if (!figure->series || !figure->marks)
        return fields_no_memory(&r->fields);
    size_t length = fields_enter(&r->fields, "series");
    for (const struct yaml_node *s = series->first; s && !rc; s = s->next) {
        const size_t inner = fields_enter_index(&r->fields, figure->n_series);
        rc = read_series(r, s, figure, &figure->series[figure->n_series++]);
        fields_leave(&r->fields, inner);
    }
    fields_leave(&r->fields, length);
    length = fields_enter(&r->fields, "marks");
    for (const struct yaml_node *m = marks ? marks->first : NULL; m && !rc; m = m->next) {
        const size_t inner = fields_enter_index(&r->fields, figure->n_marks);
        rc = read_marks(r, m, figure, &figure->marks[figure->n_marks++]);
        fields_leave(&r->fields, inner);
    }
    fields_leave(&r->fields, length);
    return rc;
}

static int read_kind(struct claims_reader *r, const struct yaml_node *node, struct figure *figure)
{
    const char *word = NULL;
    uint32_t i = 0;
    int rc = claims_take_text(r, node, "kind", "line, bar, time or cdf", &word);
    while (!rc && i < N_FIGURE_KINDS && strcmp(word, figure_words[i]))
        i++;
    figure->kind = (enum figure_kind)i;
    if (i < N_FIGURE_KINDS)
        return rc;
    const size_t length = fields_enter(&r->fields, "kind");
    rc = fields_fail(&r->fields, yaml_find(node, "kind"), XOFF_E_UNKNOWN,
                     "accepted: line, bar, time, cdf");
    fields_leave(&r->fields, length);
    return rc;
}

/* Reads scale, the other keys that only figures over time have, and rejects those that they do not
 * have. */
static int read_time(struct claims_reader *r, const struct yaml_node *node, struct figure *figure)
{
    static const struct {
        const char *word;
        xoff_time unit;
    } units[] = {{"ns", XOFF_NS}, {"us", XOFF_US}, {"ms", XOFF_MS}, {"s", XOFF_S}};
    const struct yaml_node *scale = yaml_find(node, "scale"), *x = yaml_find(node, "x");
    size_t length = fields_enter(&r->fields, "scale");
    int rc = 0;
    figure->scale = 1;
    if (scale && figure->kind != FIGURE_TIME && figure->kind != FIGURE_CDF)
        rc = fields_fail_key(&r->fields, scale, XOFF_E_CONFLICT, "goes with kind: time or cdf");
    else if (scale)
        rc = claims_take_number(r, scale, &figure->scale);
    fields_leave(&r->fields, length);
    if (rc || figure->kind != FIGURE_TIME)
        return rc;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (!strcmp(figure->x.unit, units[i].word))
            figure->x_unit = units[i].unit;
    if (!figure->x_unit)
        return claims_fail_missing(r, yaml_find(x, "unit") ? yaml_find(x, "unit") : x, "x.unit",
                                   "not a unit of time; accepted: ns, us, ms, s");
    length = fields_enter(&r->fields, "seeds");
    if (figure->experiment.n_seeds > 1)
        rc = fields_fail(&r->fields, yaml_find(node, "seeds"), XOFF_E_CONFLICT,
                         "over time the first seed is drawn; leave it out");
    fields_leave(&r->fields, length);
    return rc;
}

int claims_read_figure(struct claims_reader *r, const struct yaml_node *node, struct figure *figure)
{
    static const char *const keys[] = {"id",     "title", "kind",  "place", "scenario",
                                       "quick",  "seeds", "x",     "y",     "scale",
                                       "series", "marks", "notes", NULL};
    figure->at = (struct plan_place){node->line, node->column};
    int rc = claims_check_keys(r, node, keys);
    if (!rc)
        rc = claims_take_text(r, node, "id", "a short name such as \"6-1\"", &figure->id);
    if (!rc)
        rc = claims_check_id(r, node, figure->id);
    if (!rc)
        rc = claims_take_text(r, node, "title", "what the figure shows", &figure->title);
    if (!rc)
        rc = read_kind(r, node, figure);
    if (!rc)
        rc = claims_take_text(r, node, "place", NULL, &figure->place);
    if (!rc)
        rc = claims_take_text(r, node, "notes", NULL, &figure->notes);
    if (!rc)
        rc = claims_read_experiment(r, node, true, &figure->experiment);
    if (!rc)
        rc = read_axis(r, node, "x", &figure->x);
    if (!rc)
        rc = read_axis(r, node, "y", &figure->y);
    if (!rc)
        rc = read_time(r, node, figure);
    return rc ? rc : read_curves(r, node, figure);
}
