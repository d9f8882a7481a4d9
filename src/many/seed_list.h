/* Lists of seeds as people write them. */
#ifndef MANY_SEED_LIST_H
#define MANY_SEED_LIST_H

#include <stdint.h>

#include <xoff/err.h>

#define SEEDS_MAX 10000

/* Reads "1..20", "1,5,9" or both together into a list that the caller frees. Returns 0 or a
 * negative code, with value and message in err. */
int seed_list_parse(const char *text, uint64_t **list, uint32_t *n, struct xoff_err *err);

#endif
