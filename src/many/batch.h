/* Many runs: each in a worker process on this machine, or taken from the cache.
 *
 * The batch decides what is run, in which order, and keeps what came out; workers.h does the runs.
 * How many work at a time and in which order they end changes nothing: a run's figures are kept
 * with the run. Several processes, on several machines, can share a batch as peers.
 */
#ifndef MANY_BATCH_H
#define MANY_BATCH_H

#include <stdio.h>

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
    uint32_t number;     /* the caller's: says what to simulate, together with the seed */
    char key[CACHE_KEY]; /* its name in the cache */
    enum run_state state;
    struct summary *summary; /* RUN_DONE; whoever has the run destroys it */
    struct xoff_err err;     /* for RUN_BAD_INPUT and RUN_BROKEN */
};

/* Processes that share a batch, such as the ranks of MPI: all have the same runs. Each takes the
 * next run whenever one of its workers is idle, so that a long run holds up nobody else, and in
 * the end all have all figures. All make the same batches in the same order. The functions are
 * those of struct sim_ranks. */
struct batch_peers {
    void *context;
    uint32_t rank, n;
    bool (*deal)(void *context, uint32_t end, bool wants, uint32_t *number);
    void (*end_deal)(void *context, uint32_t end);
    void (*share)(void *context, const void *bytes, size_t size, void **all, size_t *sizes);
};

struct batch {
    struct run **runs; /* a run that is not RUN_WAITING is left as it is */
    uint32_t n_runs, n_workers;
    const char *cache_folder;        /* NULL: none */
    bool is_fresh;                   /* ignores cached results */
    bool is_cached_only;             /* runs nothing: what is not in the cache stays RUN_WAITING */
    const struct batch_peers *peers; /* NULL: none; progress counts those done here */
    /* Called in a worker: returns the figures of the run, or NULL with err filled. */
    struct summary *(*simulate)(void *context, const struct run *run, struct xoff_err *err);
    void *context;
    /* Called when a run has ended, when a signal came, and with peers now and then; false stops
     * all. May be NULL. */
    bool (*progress)(void *context, uint32_t n_done, uint32_t n_runs);
    void *progress_context;
    /* Set by batch_go(). */
    uint32_t n_cached;
    int store_reason; /* errno of the first entry that could not be stored; 0: none */
};

/* Runs everything that is not in the cache. Returns false when it was stopped. */
bool batch_go(struct batch *batch);
/* Simulates a run and returns its figures, or its error, as bytes for batch_go(). The caller
 * frees them. */
char *batch_answer(const struct batch *batch, const struct run *run, size_t *size);
/* Marks a run as broken: "the run with seed 3 of variant b REASON". */
void run_break(struct run *run, const char *reason);
/* Number of simulations to run at a time: one per core. */
uint32_t batch_cores(void);

#endif
