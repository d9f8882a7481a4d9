/* Runs a scenario of results again with a remedy in force, for xoff explain --try. */
#ifndef CLI_EXPLAIN_TRY_H
#define CLI_EXPLAIN_TRY_H

#include <jansson.h>
#include <stdio.h>

#include "explain/explain.h"

/* Tries every remedy against the roots of a run. Prints a line each to `out`, or with NULL only
 * returns them as JSON. The caller frees that. */
json_t *cli_try(const struct explanation *explanation, uint32_t n_threads, uint64_t memory_bytes,
                FILE *out);

#endif
