/* What the files that build a network from a plan share. */
#ifndef SCENARIO_BUILD_PARTS_H
#define SCENARIO_BUILD_PARTS_H

#include "scenario/build.h"

/* Gives an error or warning its place in the plan's file, and its subject a prefix (NULL: none).
 * Returns the negative code. */
int build_located(const struct plan *plan, struct plan_place place, const char *prefix,
                  struct xoff_err *err);
void build_add_warning(struct built *b, const struct xoff_err *warning);

/* estimate.c: 0 for `memory_bytes` stands for no limit. Traffic must be bound. */
int build_check_memory(const struct plan *plan, uint64_t memory_bytes, struct built *b,
                       struct xoff_err *err);

#endif
