/* Sweep files: which keys of a scenario take which values (docs/sweep.md).
 *
 * A file is YAML whose first key is `sweep`. Text points into the document that was read, which is
 * kept. Values of ranges are made when the file is read.
 */
#ifndef SWEEP_SWEEP_FILE_H
#define SWEEP_SWEEP_FILE_H

#include "scenario/plan.h"
#include "scenario/yaml.h"
#include "sweep/amount.h"

#define SWEEP_MAX_RUNS 1000000
#define SWEEP_MAX_VALUES 10000 /* of one parameter */

struct sweep_value {
    const char *text; /* as set */
    double number;    /* in base units; NAN: a word */
    struct plan_place place;
};

/* A key with the values that it takes. */
struct sweep_axis {
    const char *key;
    struct plan_place place;
    enum amount_unit unit; /* of all values; AMOUNT_WORD where they differ */
    struct sweep_value *values;
    uint32_t n_values;
    /* A range. With `latin` it may go without steps: then n_values is 0. */
    bool is_range, is_log, is_whole;
    struct sweep_value from, to;
};

struct sweep_name {
    const char *text;
    struct plan_place place;
};
struct sweep_names {
    struct sweep_name *list;
    uint32_t n;
};

/* Keys with a plain value, by the table in sweep_file.c. */
struct sweep_params {
    char title[XOFF_PARAM_TEXT], scenario[XOFF_PARAM_TEXT], seeds[XOFF_PARAM_TEXT];
    char until[XOFF_PARAM_TEXT]; /* "": none */
    int64_t grid, latin, latin_seed, max_seeds;
};

struct sweep_file {
    char *file, *text; /* the sweep */
    struct yaml_doc doc;
    struct sweep_params params;
    char *scenario_file, *scenario_text;
    size_t scenario_size;
    struct plan_setting *set; /* the same for all points */
    struct plan_place *set_places;
    uint32_t n_set;
    struct sweep_axis *axes;
    uint32_t n_axes;
    uint64_t *seeds;
    uint32_t n_seeds;
    struct plan_place until_place;
    struct sweep_names variants, metrics;
    /* For the page: keys of axes; NULL: the page chooses. */
    const char *x, *series, *heat[2];
    struct sweep_names least, most; /* of the Pareto front */
};

/* Reads a sweep and its scenario's text. Errors have file, line and column. */
int sweep_file_read(const char *file, struct sweep_file **out, struct xoff_err *err);
int sweep_file_read_text(const char *file, const char *text, size_t size, struct sweep_file **out,
                         struct xoff_err *err);
/* Returns the JSON schema of sweep files, made from the same tables; the caller frees it. */
char *sweep_schema(void);
void sweep_file_destroy(struct sweep_file *file);

/* Gives an error in a setting of the sweep its place there. `point` are the values of all axes. */
void sweep_file_locate(const struct sweep_file *file, const struct sweep_value *point,
                       struct xoff_err *err);
/* The axis of that key; NULL: none. */
const struct sweep_axis *sweep_file_axis(const struct sweep_file *file, const char *key);

/* The values of a grid, or those that a Latin hypercube draws: n_axes for each point. The caller
 * frees the list. Text is kept by the file's document. */
struct sweep_value *sweep_points(struct sweep_file *file, uint32_t *n_points);

#endif
