/* Explains a run: what happened, where it began, whom it hurt, and how sure that is.
 *
 * An explanation is made of run.sqlite alone, so results of last year can be explained. It is the
 * same for the same file: every order has a rule. docs/explain.md tells how roots are found and
 * what harm means.
 */
#ifndef EXPLAIN_EXPLAIN_H
#define EXPLAIN_EXPLAIN_H

#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>

#include <xoff/err.h>

#include "reading/run_file.h"

struct explanation;

/* Returns 0 or a negative code with err. */
int explain_run(const struct run_file *file, int64_t run_id, struct explanation **out,
                struct xoff_err *err);
void explain_destroy(struct explanation *explanation);

/* Sets the sentence that tells this run from another one of the same file. */
void explain_against(struct explanation *explanation, const struct explanation *first);

/* The explanation as pages and programs read it (docs/explain.md), with this many roots at most. */
json_t *explain_json(const struct explanation *explanation, uint32_t most_roots);
/* The explanation for people, lines of at most 80 columns; brief: without the evidence. The caller
 * frees it. */
char *explain_text(const struct explanation *explanation, bool is_brief);

/* What may help against the roots, for a run that tries it: `changes` are settings KEY=VALUE. */
#define EXPLAIN_CHANGES 3
struct explain_remedy {
    const char *words;
    const char *changes[EXPLAIN_CHANGES + 1]; /* ends with NULL */
};
/* Fills in the remedies, those against the worst root first, and returns how many there are. */
uint32_t explain_remedies(const struct explanation *explanation,
                          const struct explain_remedy **remedies, uint32_t capacity);

/* Figures for the comparison with a run that tried something. */
struct explain_figures {
    double harm_byte_s;        /* of all roots */
    double bystanders_byte_s;  /* of it, done to flows that do not pass the root */
    uint64_t lost_frames;      /* for want of room, by errors, by failures */
    uint64_t unfinished_flows; /* flows with an end that did not reach it */
    uint64_t delivered_bytes;
};
struct explain_figures explain_figures(const struct explanation *explanation);
/* The configuration that the run had, as a scenario, and the file that it came from. */
const char *explain_config(const struct explanation *explanation);
const char *explain_scenario_file(const struct explanation *explanation);
const char *explain_variant(const struct explanation *explanation);
/* One paragraph; the caller frees it. */
char *explain_headline(const struct explanation *explanation);

#endif
