/* figures: of claims.yaml: curves of expressions over the results, and the paper's own points. */
#include <stdlib.h>
#include <string.h>

#include "reproduce/claims_parts.h"

static int read_axis(struct reading *r, const struct yaml_node *mapping, const char *key,
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

static int read_x(struct reading *r, const struct yaml_node *node, const struct figure *figure,
                  struct figure_x *x)
{
    int rc = fields_want(&r->fields, node, YAML_SCALAR, "a number, or a word for bars");
    if (rc)
        return rc;
    x->text = node->text;
    x->is_number = claims_is_number(node->text, &x->value);
    if (!x->is_number && !figure->is_bar)
        return fields_fail(&r->fields, node, XOFF_E_TYPE,
                           "not a number; words on the x axis are for kind: bar");
    return 0;
}

static int read_point(struct reading *r, const struct yaml_node *node, const struct figure *figure,
                      struct figure_point *point)
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

static int read_mark(struct reading *r, const struct yaml_node *node, const struct figure *figure,
                     struct figure_mark *mark)
{
    static const char what[] = "a pair such as [64, 4.1]";
    int rc = fields_want(&r->fields, node, YAML_SEQUENCE, what);
    if (!rc && node->n != 2)
        rc = fields_fail(&r->fields, node, XOFF_E_TYPE, "not two values; give [x, y]");
    if (!rc)
        rc = read_x(r, node->first, figure, &mark->x);
    return rc ? rc : claims_take_number(r, node->last, &mark->y);
}

/* `name:` and the list `points:` of a series or of marks, which must have entries. */
static int open_points(struct reading *r, const struct yaml_node *node, const char **name,
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

static int read_series(struct reading *r, const struct yaml_node *node, const struct figure *figure,
                       struct figure_series *series)
{
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

static int read_marks(struct reading *r, const struct yaml_node *node, const struct figure *figure,
                      struct figure_marks *marks)
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

static int read_curves(struct reading *r, const struct yaml_node *node, struct figure *figure)
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

int claims_read_figure(struct reading *r, const struct yaml_node *node, struct figure *figure)
{
    static const char *const keys[] = {"id",    "title", "kind", "place", "scenario",
                                       "quick", "seeds", "x",    "y",     "series",
                                       "marks", "notes", NULL};
    const char *kind = NULL;
    figure->at = (struct plan_place){node->line, node->column};
    int rc = claims_check_keys(r, node, keys);
    if (!rc)
        rc = claims_take_text(r, node, "id", "a short name such as \"6-1\"", &figure->id);
    if (!rc)
        rc = claims_check_id(r, node, figure->id);
    if (!rc)
        rc = claims_take_text(r, node, "title", "what the figure shows", &figure->title);
    if (!rc)
        rc = claims_take_text(r, node, "kind", "line or bar", &kind);
    if (!rc && strcmp(kind, "line") && strcmp(kind, "bar")) {
        const size_t length = fields_enter(&r->fields, "kind");
        rc =
            fields_fail(&r->fields, yaml_find(node, "kind"), XOFF_E_UNKNOWN, "accepted: line, bar");
        fields_leave(&r->fields, length);
    }
    figure->is_bar = kind && !strcmp(kind, "bar");
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
    return rc ? rc : read_curves(r, node, figure);
}
