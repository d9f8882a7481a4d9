/* Shipped results: papers/NAME/results.json, what a full run of a paper found.
 *
 * It holds the verdict and the values by seed of each claim under each reading, and the points of
 * each figure, so that a page can show what a reduced run leaves out and README.md can be made
 * without running anything. Numbers have seven digits; curves over time are reduced.
 *
 *   {"paper", "xoff_version", "digest", "scenarios": {FILE: digest of its text},
 *    "claims": [{"id", "asks", "verdict", "seeds", "values": [by seed], "direction_holds",
 *                "detail", "readings": [{"reading", "asks" to "detail"}]}],
 *    "figures": [{"id", "seeds", "series": [{"name", "n", "points"}]}]}
 *
 * "digest" is that of every figure of every run, so it tells whether another run found exactly the
 * same. "asks" is that of what a claim asks (scenario, seeds, expressions, published number), and
 * tells that the claim has been changed since.
 */
#ifndef REPRODUCE_SHIPPED_H
#define REPRODUCE_SHIPPED_H

#include "reproduce/judge.h"

#define SHIPPED_FILE "results.json"
#define SHIPPED_MAX_POINTS 400 /* of a curve over time */

struct shipped;

/* Reads the results beside claims.yaml. *out is NULL where there are none. */
int shipped_read(const struct paper *paper, struct shipped **out, struct xoff_err *err);
/* Reads them from memory. */
int shipped_parse(const char *file, const char *text, size_t size, struct shipped **out,
                  struct xoff_err *err);
void shipped_destroy(struct shipped *shipped);

const char *shipped_version(const struct shipped *shipped);
const char *shipped_digest(const struct shipped *shipped);

/* Finds the judgement of a claim under a reading (NULL: plain); false: the results do not know it.
 * The caller calls judge_fini(). */
bool shipped_claim(const struct shipped *shipped, const struct claim *claim, const char *reading,
                   struct judgement *out);
bool shipped_knows(const struct shipped *shipped, const struct claim *claim, const char *reading);
/* Whether the claim asks something else than when the results were made. */
bool shipped_is_changed(const struct shipped *shipped, const struct claim *claim,
                        const char *reading);
/* Finds the points of a figure; false: there are none, or the figure has been changed since. The
 * caller calls drawing_fini(). */
bool shipped_figure(const struct shipped *shipped, const struct figure *figure,
                    struct drawing *out);
/* Calls `say` with the name of each scenario that has been changed since. */
void shipped_changed_scenarios(const struct shipped *shipped, const struct paper *paper,
                               void (*say)(const char *file));

struct scoreboard;
struct scored_paper;
/* The results of a paper as text. The caller frees it. */
char *shipped_text(const struct scoreboard *board, const struct scored_paper *paper);

#endif
