/* A sweep: every point of a sweep file, with every variant and every seed, and what that came to.
 *
 * A cell is a point with a variant. Its runs are one per seed; `until` adds seeds to a cell, round
 * by round, by the cell's own figures alone. So neither the number of workers nor what else is run
 * changes anything, and a sweep that was killed, or done in shares, comes to the same.
 */
#ifndef SWEEP_SWEEP_H
#define SWEEP_SWEEP_H

#include "many/batch.h"
#include "stats/metric_names.h"
#include "stats/spread.h"
#include "sweep/sweep_file.h"

/* "fct.web.p99 +- 2%": how narrow the confidence interval of a metric is to be. */
struct sweep_until {
    char metric[64];  /* "": no such wish */
    double tolerance; /* half the width: a share of the mean, or in `unit` */
    bool is_relative;
    enum amount_unit unit;
    char given[32];          /* the tolerance as it is written */
    struct plan_place place; /* in the file; line 0: it is an option */
};
int until_parse(const char *text, struct sweep_until *out, struct xoff_err *err);
/* Seeds to have next where the metric is as `m` (NULL: there is no such metric) with n seeds: n
 * when the interval is tight, or at `most`. */
uint32_t until_next(const struct sweep_until *until, const struct seed_metric *m, uint32_t n,
                    uint32_t most);
/* Whether the tolerance can be one of a metric in that unit. */
bool until_fits(const struct sweep_until *until, const char *unit);
bool until_is_reached(const struct sweep_until *until, const struct seed_metric *m);

struct sweep_cell {
    uint32_t point, variant;
    struct run *runs; /* by seed */
    uint32_t n_runs, n_done;
    struct result_seeds *spread; /* over the runs that are done; NULL: none is */
    bool is_tight;               /* has reached `until` */
    bool is_on_front;
    char **whys; /* by seed, why the run's verdict is failed; NULL: it passed, or failed */
    uint32_t n_unexpected; /* runs that are done with the verdict failed */
};

/* A reason of failed verdicts, and the first run that has it. */
struct sweep_reason {
    char *what, *why; /* an expectation or a trouble; with the figures of that run */
    uint32_t n_runs;
    const struct sweep_cell *cell;
    uint32_t seed; /* index of the run */
};

struct sweep_column {
    const char *name, *unit;
};

struct sweep_options {
    const struct plan_setting *settings; /* on top of those of the file */
    uint32_t n_settings;
    uint32_t n_workers;
    const struct batch_peers *peers; /* NULL: none */
    const char *cache_folder;        /* NULL: none */
    uint64_t binary;                 /* cache_binary(); 0: no cache */
    bool is_fresh;                   /* ignores cached results */
    bool is_collecting;              /* runs nothing, takes all from the cache */
    uint32_t share, n_shares;        /* from 1; n_shares 0: all */
    struct sweep_until until;
    uint32_t max_seeds;
    bool (*progress)(void *context, uint32_t n_done, uint32_t n_runs);
    void *progress_context;
};

/* What names of metrics can be made of, at any point. */
struct sweep_words {
    struct metric_label *entries;
    struct metric_curve *curves;
    uint32_t n_entries, n_curves;
};

struct sweep {
    struct sweep_file *file;
    const struct sweep_options *options;
    struct sweep_value *values; /* [point * n_axes + axis] */
    uint32_t n_points;
    char **variants;           /* "" when the scenario has none */
    uint32_t *variant_numbers; /* their places in the scenario */
    uint32_t n_variants;
    struct sweep_cell *cells; /* [point * n_variants + variant] */
    uint32_t n_cells;
    struct sweep_column *columns; /* every metric that some run has, in order of appearance */
    uint32_t n_columns;
    uint32_t n_runs, n_cached, n_failed, n_missing; /* missing: not in the cache */
    int store_reason; /* errno of the first entry that could not be stored; 0: none */
    struct sweep_words words;
    char **expects; /* the scenario's expectations that are about variants of the sweep */
    uint32_t n_expects;
    char *cached_as; /* name of the command in the cache: has the variants, if verdicts depend */
    struct sweep_reason *reasons; /* of failed verdicts, in order of appearance */
    uint32_t n_reasons, n_unexpected;
};

/* Makes the points and cells of a file, which the sweep then owns, and checks every value against
 * the scenario. */
int sweep_open(struct sweep *sweep, struct sweep_file *file, const struct sweep_options *options,
               struct xoff_err *err);
/* Runs what is not in the cache, and sums up. Returns false when it was stopped. */
bool sweep_go(struct sweep *sweep);
void sweep_fini(struct sweep *sweep);

/* What the cell is of that metric, or parameter; NAN: it has none. */
double sweep_mean(const struct sweep *sweep, const struct sweep_cell *cell, const char *name);
/* How many cells have no such metric, or parameter with a number. */
uint32_t sweep_count_without(const struct sweep *sweep, const char *name);
/* Whether more of a metric is better: throughput, fairness and the like. */
bool sweep_is_more_better(const char *name);
/* The metrics to show: those that the file names and runs have, or a few by default. The caller
 * frees the list. */
struct sweep_column *sweep_shown(const struct sweep *sweep, uint32_t *n);
/* The cells with the best and the worst mean; NULL: no cell has the metric. */
const struct sweep_cell *sweep_best(const struct sweep *sweep, const char *name, bool is_worst);
/* Whether any value of an axis changes the results of any run. Unknown: one value, no run that is
 * done, or no grid. */
enum sweep_effect { EFFECT_UNKNOWN, EFFECT_NONE, EFFECT_SOME };
enum sweep_effect sweep_effect(const struct sweep *sweep, uint32_t axis);
/* A row of what is to be small for each cell; marks those that no other cell is better than. NANs
 * are not on the front. */
void front_mark(const double *rows, uint32_t n_cells, uint32_t n_goals, bool *is_on_front);

/* Names of metrics (sweep_names.c): adds what those of a plan are made of; refuses names that no
 * run can have, and a tolerance in another unit. */
void sweep_add_words(struct sweep *sweep, const struct plan *plan);
int sweep_check_metrics(const struct sweep *sweep, struct xoff_err *err);

/* Verdicts (sweep_verdict.c): keeps the expectations of the scenario; judges all runs that are
 * done; frees what both have made. */
void sweep_keep_expects(struct sweep *sweep, const struct scenario *scenario);
void sweep_judge(struct sweep *sweep);
void sweep_forget_verdicts(struct sweep *sweep);
/* "passed" or "failed", and why in short; "" where it passed. */
const char *sweep_verdict(const struct sweep_cell *cell, uint32_t seed, const char **why);

/* sweep.csv: a row per run. */
void sweep_write_csv(const struct sweep *sweep, FILE *out);
int sweep_write_sqlite(const struct sweep *sweep, const char *path, struct xoff_err *err);
/* sweep.json, which is the page's data, too. The caller frees it. */
char *sweep_json(const struct sweep *sweep);

#endif
