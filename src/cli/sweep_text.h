/* What a sweep came to, for people. */
#ifndef CLI_SWEEP_TEXT_H
#define CLI_SWEEP_TEXT_H

#include "cli/cli.h"
#include "sweep/sweep.h"

/* Prints the best and the worst point of each metric, a table of the points, the Pareto front, and
 * where `until` was not reached. */
void sweep_print(const struct sweep *sweep, FILE *out);

#endif
