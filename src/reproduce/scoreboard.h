/* The scoreboard: the chosen claims and figures of papers with their results, as text and JSON. */
#ifndef REPRODUCE_SCOREBOARD_H
#define REPRODUCE_SCOREBOARD_H

#include "reproduce/shipped.h"

#define SCOREBOARD_NOT_RUN UINT32_MAX
#define SCOREBOARD_TITLE "Claims of the papers"

struct scored_claim {
    const struct claim *claim;
    uint32_t set; /* index of its set in runs; SCOREBOARD_NOT_RUN */
    struct judgement judgement;
    bool has_shipped; /* it was not run, and the shipped results know it */
    struct judgement shipped;
    struct scored_claim *readings; /* under other readings, as in claim->readings */
};
struct scored_figure {
    const struct figure *figure;
    uint32_t set;
    bool is_shipped; /* it was not run; the drawing is the shipped one */
    struct drawing drawing;
};
struct scored_paper {
    struct paper *paper;     /* owned, like the next */
    struct shipped *shipped; /* NULL: none */
    struct scored_claim *claims;
    uint32_t n_claims;
    struct scored_figure *figures;
    uint32_t n_figures;
};
struct scoreboard {
    const struct run_options *options;
    struct runs runs;
    struct scored_paper *papers;
    uint32_t n_papers;
};

/* Adds a paper with its runs and takes ownership of it and of its shipped results (NULL: none).
 * `id` chooses a claim, or a figure with the claims on the same scenario; NULL: all. Returns false,
 * and leaves both to the caller, when the paper has nothing of that id. */
bool scoreboard_add(struct scoreboard *board, struct paper *paper, struct shipped *shipped,
                    const char *id);
/* Called after runs_go(). What was not run gets its shipped results beside it. */
void scoreboard_judge(struct scoreboard *board);
void scoreboard_fini(struct scoreboard *board);

/* Verdicts are counted for claims as they are; the rest also under other readings. */
struct scoreboard_counts {
    uint32_t n_claims, verdicts[N_VERDICTS], n_worse, n_better;
    uint32_t n_bad_input, n_broken; /* claims and figures with an error */
};
struct scoreboard_counts scoreboard_count(const struct scoreboard *board);

struct scoreboard_share {
    uint32_t n_held, n_all; /* those not run are not among all */
};
struct scoreboard_totals {
    struct scoreboard_share cells[N_KINDS][N_STRENGTHS];
    struct scoreboard_share reproduced; /* independent, and stated by the paper */
    uint32_t n_left_out;                /* claims that were not run */
};
void scoreboard_total(const struct scored_paper *papers, uint32_t n, struct scoreboard_totals *out);

/* The claims that say what they are under a reading: there, and under the plain reading. For the
 * plain reading itself: all claims that have another. */
struct scoreboard_reading {
    struct scoreboard_share own, plain;
};
struct scoreboard_reading scoreboard_read(const struct scored_paper *paper, uint32_t reading);
/* The claim under a reading; NULL: it says nothing about it. */
const struct scored_claim *scoreboard_under(const struct scored_claim *claim, uint32_t reading);

/* Readings are shown chapter by chapter, since most are about one. Returns whether claim i is the
 * first of its chapter that has other readings. */
bool scoreboard_opens_readings(const struct scored_paper *paper, uint32_t i);
/* Whether both are of one chapter. */
bool scoreboard_is_beside(const struct scored_claim *a, const struct scored_claim *b);
/* Whether a claim of the chapter of claim i says what it is under the reading. */
bool scoreboard_is_read(const struct scored_paper *paper, uint32_t i, uint32_t reading);

/* Calls `say` for each claim, under each reading ("" for plain), that the shipped results of its
 * paper do not know, or that was changed since. */
void scoreboard_stale(const struct scoreboard *board,
                      void (*say)(const struct paper *paper, const struct claim *claim,
                                  const char *reading, bool is_known));

/* Calls `say` for every different error of a claim or figure, in order. */
void scoreboard_errors(const struct scoreboard *board, void (*say)(const struct xoff_err *err));

/* Colours of a terminal; empty strings: no colours. */
struct scoreboard_style {
    const char *bold, *dim, *red, *green, *yellow, *off;
    int columns; /* of the terminal; 0: any */
};
void scoreboard_print(const struct scoreboard *board, const struct scoreboard_style *style,
                      FILE *out);

/* "538 MB/s" where the paper states a number, else what it says in words, or "-". */
void scoreboard_published(const struct claim *claim, char *buf, size_t size);
/* "531.2 MB/s (529 .. 534)": the mean, and the spread where the seeds differ at this many digits;
 * "-": nothing was measured. */
void scoreboard_measured(const struct claim *claim, const struct judgement *judgement, char *buf,
                         size_t size);

/* The scoreboard as JSON, with the points of figures. Option -j prints it; reproduce.json and
 * reproduce.html contain it. The caller frees it. */
char *scoreboard_json(const struct scoreboard *board);

#endif
