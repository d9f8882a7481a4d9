/* The part of `xoff bench` about several ranks. */
#ifndef CLI_BENCH_RANKS_H
#define CLI_BENCH_RANKS_H

#include <jansson.h>

#include "scenario/plan.h"
#include "sim/sim_ranks.h"

/* A network to be run over ranks: reads its scenario. */
struct bench_network {
    const char *name;
    const void *row;
    int (*read)(const void *row, struct scenario **scenario, struct xoff_err *err);
};

/* Called by all ranks. Measures the cost of a round with messages of several sizes, and each
 * network `rounds` times (at most 9); the first of them is also cut anywhere, for the cost of a
 * frame between ranks. Returns the figures at the first rank, else NULL. */
json_t *bench_in_ranks(const struct sim_ranks *ranks, const struct bench_network *networks,
                       uint32_t n_networks, uint32_t rounds);
/* Starts `mpirun -n 2 xoff bench`, with its option --only if that is not NULL. Its files go to
 * `dir`. Returns its figures; NULL: `why` says why there are none. */
json_t *bench_start_ranks(const char *dir, const char *only, uint32_t rounds, char *why,
                          size_t size);
/* Prints figures of either. */
void bench_print_ranks(const json_t *figures, FILE *words);

#endif
