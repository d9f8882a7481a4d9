/* Claims and figures of a paper as data: papers/NAME/claims.yaml (docs/reproducing.md).
 *
 * Text points into the document that was read, which the paper keeps. Expressions have been checked
 * for syntax; the metrics that they name are looked up when there are results.
 */
#ifndef REPRODUCE_CLAIMS_H
#define REPRODUCE_CLAIMS_H

#include "scenario/plan.h"
#include "scenario/yaml.h"

#define CLAIMS_FILE "claims.yaml"
#define CLAIMS_MAX_SEEDS 1000

/* Verdicts on a claim, the best first. The first four may be recorded with it. */
enum verdict {
    VERDICT_HOLDS,      /* the published number, within the tolerance */
    VERDICT_DIRECTION,  /* not the number, but the comparison holds */
    VERDICT_FAILS,      /* neither */
    VERDICT_UNTESTABLE, /* nothing was run */
    VERDICT_LEFT_OUT,   /* not part of the quick set */
    VERDICT_ERROR,      /* its scenario or its expression is wrong, or a run broke */
    N_VERDICTS
};
/* Names of verdicts: in claims.yaml and JSON, and for people. */
extern const char *const verdict_words[N_VERDICTS], *const verdict_texts[N_VERDICTS];

struct expression {
    const char *text; /* NULL: none */
    struct plan_place place;
};

/* The runs that a claim or a figure needs. */
struct experiment {
    const char *scenario; /* file beside claims.yaml; NULL: none */
    struct plan_place place, quick_place;
    uint32_t n_seeds;
    bool is_left_out_of_quick;
    struct plan_setting *quick; /* settings on top of the scenario's, for the quick set */
    uint32_t n_quick;
};

/* Who says it: the paper with a number, the paper with a comparison, or only we. */
enum claim_kind { KIND_NUMBER, KIND_DIRECTION, KIND_OWN, N_KINDS };
/* What a result says about the paper. Only independent ones count as reproduced. */
enum claim_strength {
    STRENGTH_INDEPENDENT, /* nothing that the claim states went into the model */
    STRENGTH_RETURNED,    /* a figure of the paper went in and comes out again */
    STRENGTH_TUNED,       /* a parameter was chosen so that it holds */
    N_STRENGTHS
};
extern const char *const kind_words[N_KINDS], *const strength_words[N_STRENGTHS];

/* A way to understand the paper where its text leaves more than one open. */
struct reading {
    const char *id, *title;
    const char *text;       /* what is assumed; NULL: none */
    bool is_after_the_fact; /* found after the results were known, not given in the text */
};
#define PLAIN_READING 0 /* index in a paper's readings; the claim as it is */

struct claim;
/* The claim under another reading. */
struct claim_reading {
    uint32_t reading;    /* index in the paper's readings, above PLAIN_READING */
    struct claim *claim; /* a copy with what differs; it has no readings */
};

/* What stands for several seeds. */
enum claim_average {
    AVERAGE_SEEDS,   /* the mean of what is measured with each */
    AVERAGE_METRICS, /* what is measured of the means of metrics */
    AVERAGE_MEDIAN,  /* the median of what is measured with each */
    N_AVERAGES
};
extern const char *const average_words[N_AVERAGES];

struct claim {
    const char *id, *place, *statement;
    const char *chapter, *quote; /* heading, and the paper's own sentence; NULL: none */
    enum claim_kind kind;
    enum claim_strength strength;
    const char *strength_why; /* what was returned or tuned; NULL where independent */
    struct plan_place at;     /* in claims.yaml */
    struct experiment experiment;
    struct expression measure, direction;
    enum claim_average average;
    const char *unit; /* unit of the measured and published numbers; "": none */
    bool has_published;
    double published;
    const char *published_text; /* NULL: none; the same for the texts below */
    double tolerance;           /* in `unit`, or as a fraction of the published number */
    bool is_tolerance_relative;
    const char *tolerance_why;
    enum verdict recorded;
    const char *why, *notes;
    struct claim_reading *readings;
    uint32_t n_readings;
};

/* A place on the x axis: a number, or a word. */
struct figure_x {
    const char *text;
    bool is_number;
    double value;
};
struct figure_point {
    struct figure_x x;
    struct expression value;
};
struct figure_series {
    const char *name;
    struct figure_point *points; /* for lines and bars */
    uint32_t n_points;
    /* For time: a curve. For a distribution: one that each run has, or `value`, of which each seed
     * gives one. variant NULL: the scenario has none. */
    struct expression variant, curve, distribution, value;
};
struct figure_mark {
    struct figure_x x;
    double y;
};
struct figure_marks {
    const char *name;
    struct figure_mark *points;
    uint32_t n_points;
};
struct figure_axis {
    const char *label, *unit; /* unit "": none */
};

enum figure_kind {
    FIGURE_LINE,
    FIGURE_BAR,
    FIGURE_TIME, /* curves of a run over time */
    FIGURE_CDF,  /* distribution of values over seeds, or of one that runs have */
    N_FIGURE_KINDS
};
extern const char *const figure_words[N_FIGURE_KINDS];

struct figure {
    const char *id, *title, *place, *notes; /* the last two NULL: none */
    struct plan_place at;
    enum figure_kind kind;
    xoff_time x_unit; /* for time: length of x.unit */
    double scale;     /* for time and distributions: values are multiplied by this */
    struct experiment experiment;
    struct figure_axis x, y;
    struct figure_series *series;
    uint32_t n_series;
    struct figure_marks *marks; /* numbers published in the paper */
    uint32_t n_marks;
};

/* A remark on a place in the paper. */
struct remark {
    const char *place, *text;
    const char *choice; /* of a contradiction: what is done about it */
};

struct paper {
    char *file, *folder; /* path of claims.yaml; its folder with a slash at the end */
    char *text;          /* the file as it is */
    struct yaml_doc doc;
    const char *name, *title, *source;
    const char *about;             /* what is modelled and how; NULL: not given */
    struct remark *remarks;        /* what came out, in short */
    struct remark *contradictions; /* with itself, a standard or another source */
    uint32_t n_remarks, n_contradictions;
    struct reading *readings; /* the plain one first */
    uint32_t n_readings;
    struct claim *claims;
    uint32_t n_claims;
    struct figure *figures;
    uint32_t n_figures;
};

/* Reads DIR/NAME/claims.yaml. Errors have file, line and column. */
int claims_read(const char *dir, const char *name, struct paper **out, struct xoff_err *err);
/* Reads claims.yaml from memory; `name` NULL: any name is accepted. */
int claims_read_text(const char *file, const char *name, const char *text, size_t size,
                     struct paper **out, struct xoff_err *err);
void claims_destroy(struct paper *paper);

/* Moves an error of an expression (its column within the text) to its place in the file. */
void claims_locate(const struct paper *paper, const struct expression *expression,
                   struct xoff_err *err);

/* Lists the folders of `dir` that have claims, in order; NULL: none (n 0), errno says why `dir`
 * cannot be read, if so. The caller frees each and the list. */
char **claims_list(const char *dir, uint32_t *n);

#endif
