/* Values of one parameter: a list, or a range in equal steps or equal factors (axes.h). */
#include "sweep/axes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <xoff/rng.h>

static const char *const scales[] = {"lin", "log", NULL};

struct range {
    char from[XOFF_PARAM_TEXT], to[XOFF_PARAM_TEXT], step[XOFF_PARAM_TEXT];
    int64_t steps, scale, whole;
};
#define AT(field) offsetof(struct range, field)
const struct xoff_param axes_range[] = {
    {"from", XOFF_P_TEXT, AT(from), NULL, NULL, NULL, NULL, false,
     "The first value, with its unit."},
    {"to", XOFF_P_TEXT, AT(to), NULL, NULL, NULL, NULL, false, "The last value."},
    {"steps", XOFF_P_INT, AT(steps), "2", "2", "10000", NULL, false,
     "Number of values, both ends counted; no default."},
    {"step", XOFF_P_TEXT, AT(step), "", NULL, NULL, NULL, false,
     "Distance of two values, in place of their number."},
    {"scale", XOFF_P_CHOICE, AT(scale), "lin", NULL, NULL, scales, false,
     "Equal distances (lin), or equal factors (log)."},
    {"whole", XOFF_P_BOOL, AT(whole), "false", NULL, NULL, NULL, false, "Round to whole numbers."},
    {0}};
#undef AT

static int fail_at(struct fields_reader *r, const struct yaml_node *mapping, const char *key,
                   enum xoff_err_code code, const char *message)
{
    const struct yaml_node *node = yaml_find(mapping, key);
    const size_t length = fields_enter(r, key);
    const int rc = fields_fail(r, node ? node : mapping, code, message);
    fields_leave(r, length);
    return rc;
}

static struct sweep_value value_of(const struct yaml_node *node)
{
    struct sweep_value value = {.text = node->text, .place = {node->line, node->column}};
    amount_read(node->text, &value.number);
    return value;
}

/* The unit that all values share; a bare 0 is one of any unit. */
static enum amount_unit unit_of(const struct sweep_value *values, uint32_t n)
{
    enum amount_unit shared = N_AMOUNTS;
    for (uint32_t i = 0; i < n; i++) {
        double number;
        const enum amount_unit own = amount_read(values[i].text, &number);
        if (own == AMOUNT_NUMBER && number == 0)
            continue;
        if (shared != N_AMOUNTS && own != shared)
            return AMOUNT_WORD;
        shared = own;
    }
    return shared == N_AMOUNTS ? AMOUNT_NUMBER : shared;
}

static int fail_twice(struct fields_reader *r, const struct yaml_node *entry, const char *first)
{
    char message[XOFF_PARAM_TEXT + 32];
    if (!strcmp(first, entry->text))
        return fields_fail(r, entry, XOFF_E_CONFLICT, "given twice");
    snprintf(message, sizeof message, "given twice: the same as %.255s", first);
    return fields_fail(r, entry, XOFF_E_CONFLICT, message);
}

/* Whether two values are the same, however they are written: 1MB and 1000KB. */
static bool is_same(const struct sweep_value *a, const struct sweep_value *b)
{
    double ignored;
    if (!strcmp(a->text, b->text))
        return true;
    return a->number == b->number &&
           (a->number == 0 || amount_read(a->text, &ignored) == amount_read(b->text, &ignored));
}

static int read_list(struct fields_reader *r, const struct yaml_node *node, struct sweep_axis *axis)
{
    int rc = 0;
    if (!node->n)
        return fields_fail(r, node, XOFF_E_MISSING, "empty; give at least one value");
    if (node->n > SWEEP_MAX_VALUES)
        return fields_fail(r, node, XOFF_E_RANGE, "too many values; accepted: up to 10000");
    axis->values = calloc(node->n, sizeof *axis->values);
    if (!axis->values)
        return fields_no_memory(r);
    for (const struct yaml_node *entry = node->first; entry && !rc; entry = entry->next) {
        const size_t length = fields_enter_index(r, axis->n_values);
        rc = fields_want(r, entry, YAML_SCALAR,
                         "a plain value; a list goes in quotes, as \"[a, b]\"");
        const struct sweep_value value = rc ? (struct sweep_value){0} : value_of(entry);
        for (uint32_t i = 0; i < axis->n_values && !rc; i++)
            if (is_same(&axis->values[i], &value))
                rc = fail_twice(r, entry, axis->values[i].text);
        if (!rc)
            axis->values[axis->n_values++] = value;
        fields_leave(r, length);
    }
    axis->unit = unit_of(axis->values, axis->n_values);
    return rc;
}

static int read_end(struct fields_reader *r, const struct yaml_node *mapping, const char *key,
                    struct sweep_value *out)
{
    *out = value_of(yaml_find(mapping, key));
    if (!isnan(out->number))
        return 0;
    return fail_at(r, mapping, key, XOFF_E_TYPE, "not a number; give one with its unit, as 16KB");
}

/* Number of values of a range; 0: not given. */
static int count_steps(struct fields_reader *r, const struct yaml_node *mapping,
                       const struct range *range, const struct sweep_axis *axis, uint32_t *n)
{
    double step;
    char message[128];
    *n = yaml_find(mapping, "steps") ? (uint32_t)range->steps : 0;
    if (!*range->step)
        return 0;
    if (*n)
        return fail_at(r, mapping, "step", XOFF_E_CONFLICT,
                       "steps is given, too; give one of them");
    if (axis->is_log)
        return fail_at(r, mapping, "step", XOFF_E_CONFLICT, "a log range has steps: in its place");
    if (amount_read(range->step, &step) != axis->unit)
        return fail_at(r, mapping, "step", XOFF_E_UNIT, "not the unit of from and to");
    const double whole = (axis->to.number - axis->from.number) / step;
    if (!(step > 0))
        return fail_at(r, mapping, "step", XOFF_E_RANGE, "accepted: above 0");
    if (whole > SWEEP_MAX_VALUES - 1) {
        snprintf(message, sizeof message,
                 "too small: it makes %.0f values of this range; accepted: up to %d", whole + 1,
                 SWEEP_MAX_VALUES);
        return fail_at(r, mapping, "step", XOFF_E_RANGE, message);
    }
    if (fabs(whole - round(whole)) > 1e-9 * whole || whole < 0.5)
        return fail_at(r, mapping, "step", XOFF_E_RANGE,
                       "does not divide the range from from to to");
    *n = (uint32_t)lround(whole) + 1;
    return 0;
}

/* Six significant digits: what is between two ends is chosen for them, and people read it. */
static double rounded(double value, bool is_whole)
{
    char digits[40];
    if (is_whole)
        return round(value);
    snprintf(digits, sizeof digits, "%.6g", value);
    return strtod(digits, NULL);
}

double axes_between(const struct sweep_axis *axis, double share)
{
    const double from = axis->from.number, to = axis->to.number;
    const double value =
        axis->is_log ? from * xoff_pow(to / from, share) : from + share * (to - from);
    return rounded(value, axis->is_whole);
}

const char *axes_text(struct sweep_file *file, const struct sweep_axis *axis, double number)
{
    char text[64];
    amount_write(text, sizeof text, axis->unit, number);
    const char *kept = yaml_keep(&file->doc, text, strlen(text));
    XOFF_ASSERT(kept);
    return kept;
}

static int make_values(struct fields_reader *r, struct sweep_file *file,
                       const struct yaml_node *node, struct sweep_axis *axis, uint32_t n)
{
    axis->values = calloc(n + 1, sizeof *axis->values);
    if (!axis->values)
        return fields_no_memory(r);
    for (uint32_t i = 0; i < n; i++) {
        struct sweep_value *v = &axis->values[axis->n_values++];
        *v = i ? axis->to : axis->from;
        if (i && i < n - 1) { /* the ends are as given */
            v->number = axes_between(axis, (double)i / (n - 1));
            v->text = axes_text(file, axis, v->number);
        }
        if (i && v->number <= v[-1].number)
            return fail_at(r, node, "steps", XOFF_E_RANGE,
                           "more steps than values that differ in six digits, or when rounded");
    }
    return 0;
}

static int read_range(struct fields_reader *r, struct sweep_file *file,
                      const struct yaml_node *node, struct sweep_axis *axis)
{
    struct range range;
    uint32_t n;
    int rc = fields_read(r, node, axes_range, &range, NULL);
    if (!rc)
        rc = read_end(r, node, "from", &axis->from);
    if (!rc)
        rc = read_end(r, node, "to", &axis->to);
    if (rc)
        return rc;
    axis->is_range = true;
    axis->is_log = range.scale == 1;
    axis->is_whole = range.whole;
    const struct sweep_value ends[] = {axis->from, axis->to};
    axis->unit = unit_of(ends, 2);
    if (axis->unit == AMOUNT_WORD)
        return fail_at(r, node, "to", XOFF_E_UNIT, "not the unit of from");
    if (!(axis->from.number < axis->to.number))
        return fail_at(r, node, "to", XOFF_E_RANGE, "empty range: to is not above from");
    if (axis->is_log && !(axis->from.number > 0))
        return fail_at(r, node, "from", XOFF_E_RANGE, "a log range begins above 0");
    rc = count_steps(r, node, &range, axis, &n);
    if (!rc && !n && !file->params.latin)
        rc = fail_at(r, node, "steps", XOFF_E_MISSING, "missing; give steps: or step:");
    return rc ? rc : make_values(r, file, node, axis, n);
}

int axes_read(struct fields_reader *r, struct sweep_file *file, const struct yaml_node *node,
              struct sweep_axis *axis)
{
    axis->key = node->key;
    axis->place = (struct plan_place){node->key_line, node->key_column};
    if (node->kind == YAML_SEQUENCE)
        return read_list(r, node, axis);
    if (node->kind == YAML_MAPPING)
        return read_range(r, file, node, axis);
    return fields_fail(r, node, node->kind == YAML_EMPTY ? XOFF_E_MISSING : XOFF_E_TYPE,
                       "give a list such as [1MB, 2MB], or a range such as {from: 1MB, to: 16MB, "
                       "steps: 5, scale: log}");
}
