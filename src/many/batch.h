/* Many runs on the local cores: each in a worker process, or taken from the cache.
 *
 * A worker is a fork of this process that simulates one run and writes its figures, or its error,
 * to an unnamed file that it inherited; the parent reads the file when the worker has ended. A
 * crash of a worker affects nothing else. The number of workers and the order in which they end
 * change nothing: a run's figures are kept with the run.
 */
#ifndef MANY_BATCH_H
#define MANY_BATCH_H

#include <stdio.h>
#include <sys/types.h>

#include "many/cache.h"

enum run_state {
    RUN_WAITING,
    RUN_DONE,
    RUN_BAD_INPUT, /* the scenario is wrong */
    RUN_BROKEN     /* the worker crashed, or the audit found something */
};

struct run {
    const char *file, *variant; /* for messages */
    uint64_t seed;
    char key[CACHE_KEY]; /* its name in the cache */
    enum run_state state;
    struct summary *summary; /* RUN_DONE; whoever has the run destroys it */
    struct xoff_err err;     /* for RUN_BAD_INPUT and RUN_BROKEN */
    pid_t worker;            /* 0: none */
    FILE *answer;            /* the worker writes to it */
};

struct batch {
    struct run **runs; /* a run that is not RUN_WAITING is left as it is */
    uint32_t n_runs, n_workers;
    const char *cache_folder; /* NULL: none */
    bool is_fresh;            /* ignores cached results */
    /* Called in a worker: returns the figures of runs[index], or NULL with err filled. */
    struct summary *(*simulate)(void *context, uint32_t index, struct xoff_err *err);
    void *context;
    /* Called when a run has ended, and when a signal came; false stops all. May be NULL. */
    bool (*progress)(void *context, uint32_t n_done, uint32_t n_runs);
    void *progress_context;
    /* Set by batch_go(). */
    uint32_t n_cached;
    int store_reason; /* errno of the first entry that could not be stored; 0: none */
};

/* Runs everything that is not in the cache. Returns false when it was stopped. */
bool batch_go(struct batch *batch);
/* Marks a run as broken: "the run with seed 3 of variant b REASON". */
void run_break(struct run *run, const char *reason);
/* Number of simulations to run at a time: one per core. */
uint32_t batch_cores(void);

#endif
