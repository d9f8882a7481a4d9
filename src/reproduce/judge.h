/* Verdicts: compares what was measured with the published number and with the recorded verdict.
 * Also computes the points of figures. */
#ifndef REPRODUCE_JUDGE_H
#define REPRODUCE_JUDGE_H

#include "reproduce/runs.h"
#include "stats/spread.h"

/* The spread over seeds, with what the claim's `average` asks for as its mean. */
struct spread judge_spread(const struct claim *claim, const double *values, uint32_t n);

struct judgement {
    enum verdict found;
    bool is_worse, is_better; /* than recorded */
    bool is_bad_input;        /* VERDICT_ERROR: not a crash */
    struct xoff_err err;      /* VERDICT_ERROR */
    uint32_t n_seeds;
    uint32_t n_values; /* n_seeds, or 1 where metrics are averaged */
    double *values;    /* by seed; NULL: nothing was measured */
    struct spread measured;
    bool has_direction, direction_holds; /* holds in every seed */
    char direction_detail[1024];         /* of the first seed where it fails, else of the last */
};

/* Returns the verdict on a claim that could be tested. The bounds of the tolerance are inside it,
 * up to the rounding of the last digits of a double. */
enum verdict judge_values(const struct claim *claim, double mean, bool direction_holds);
/* Compares with the recorded verdict: sets is_worse and is_better. */
void judge_recorded(const struct claim *claim, struct judgement *judgement);

/* `set` is NULL for a claim that was not run. */
void judge_claim(const struct paper *paper, const struct claim *claim,
                 const struct run_options *options, const struct run_set *set,
                 struct judgement *out);
void judge_fini(struct judgement *judgement);

/* Computes an expression with one seed; an error in err has no place yet. */
int judge_compute(const struct run_set *set, const char *text, uint32_t seed, double *value,
                  struct xoff_err *err);
/* Gives an error of an expression or name its place in claims.yaml. */
void judge_locate(const struct paper *paper, const char *id, const char *key,
                  const struct expression *expression, struct xoff_err *err);

/* A point of a series over time or of a distribution (a value, and the share of seeds up to it). */
struct drawn_point {
    double x, y;
};
struct drawn_series {
    struct drawn_point *points;
    uint32_t n_points;
    uint32_t n_values; /* for a distribution: seeds that have a value */
};
#define DRAWING_MAX_POINTS 2000 /* for a series over time; longer ones are reduced */

/* A figure's points (drawing.c). */
struct drawing {
    enum verdict state; /* VERDICT_HOLDS: drawn; VERDICT_LEFT_OUT; VERDICT_ERROR */
    bool is_bad_input;
    struct xoff_err err;
    uint32_t n_seeds;
    struct spread *points;       /* for lines and bars, in the order of series and points */
    struct drawn_series *series; /* for time and distributions; both NULL: not drawn */
    uint32_t n_series;
};
void judge_figure(const struct paper *paper, const struct figure *figure,
                  const struct run_options *options, const struct run_set *set,
                  struct drawing *out);
void drawing_fini(struct drawing *drawing);

#endif
