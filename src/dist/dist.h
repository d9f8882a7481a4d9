/* Ranks by MPI. The command is one binary with and without them: what needs MPI is a module of its
 * own (xoff_mpi.so), loaded only when a process has been started as one of several ranks. */
#ifndef DIST_DIST_H
#define DIST_DIST_H

#include <xoff/err.h>

#include "sim/sim_ranks.h"

/* What the module asks of the command. */
struct dist_calls {
    bool (*is_interrupted)(void);
    /* Another rank has gone. Ends the process. */
    void (*lost)(const char *why);
};

/* The module's only symbol, dist_module. */
struct dist_module {
    uint32_t version;
    const char *library; /* whose MPI it is */
    /* Returns NULL, or why there are no ranks. */
    const char *(*start)(const struct dist_calls *calls, struct sim_ranks *ranks);
    void (*end)(void);
};
#define DIST_VERSION 4

/* The number of ranks that this process was started as one of, and which it is, as the environment
 * tells: mpirun of Open MPI and MPICH, and srun. 0 and 0 without them. */
uint32_t dist_environment(uint32_t *rank);

/* Loads the module and starts MPI, once. */
int dist_start(const struct dist_calls *calls, const struct sim_ranks **ranks,
               struct xoff_err *err);
/* Waits until all ranks have come to their end. */
void dist_end(void);

#endif
