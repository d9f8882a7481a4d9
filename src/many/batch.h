/* Many runs: each is done by a crew, or taken from the cache.
 *
 * The batch decides what is run, in which order, and keeps what came out; a crew does the runs. The
 * crew of workers.c are processes on the local cores. Others can be made of anything that carries a
 * run's number, seed and key to where batch_answer() is called, and its answer back. How many work
 * and in which order they end changes nothing: a run's figures are kept with the run.
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

/* The end of a run: runs[index] of the batch, with what batch_answer() returned, or a reason. */
struct crew_answer {
    uint32_t index;
    char *text; /* freed by the batch; NULL: none, the reason says why */
    size_t size;
    char reason[128]; /* "crashed: Segmentation fault" */
};

struct batch;
struct crew {
    uint32_t n; /* runs at a time */
    /* Begins runs[index]. Returns 0 or the reason (errno). */
    int (*begin)(struct crew *crew, const struct batch *batch, uint32_t index);
    /* Waits for the end of a run, or for a signal: then returns false. */
    bool (*wait)(struct crew *crew, struct crew_answer *answer);
    /* Ends everything that is being done. */
    void (*stop)(struct crew *crew);
    void (*destroy)(struct crew *crew);
};
/* Worker processes on this machine, `n` at a time. A crash of one affects nothing else. */
struct crew *workers_create(uint32_t n);

/* Processes that share a batch, such as the ranks of MPI: all have the same runs, each does every
 * n-th, by a crew of its own, and in the end all have all figures. All make the same batches in the
 * same order. */
struct batch_peers {
    void *context;
    uint32_t rank, n;
    /* Gathers the bytes of all, one behind the other, everywhere (to_all). sizes[r] are those of
     * each. The caller frees *all. */
    void (*gather)(void *context, const void *bytes, size_t size, bool to_all, void **all,
                   size_t *sizes);
};

struct batch {
    struct run **runs; /* a run that is not RUN_WAITING is left as it is */
    uint32_t n_runs, n_workers;
    const char *cache_folder;        /* NULL: none */
    bool is_fresh;                   /* ignores cached results */
    bool is_cached_only;             /* runs nothing: what is not in the cache stays RUN_WAITING */
    struct crew *crew;               /* NULL: n_workers processes */
    const struct batch_peers *peers; /* NULL: none; only own runs are counted by progress */
    /* Called by the crew: returns the figures of the run, or NULL with err filled. */
    struct summary *(*simulate)(void *context, const struct run *run, struct xoff_err *err);
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
/* Simulates a run and returns its figures, or its error, as bytes for crew_answer. The caller frees
 * them. */
char *batch_answer(const struct batch *batch, const struct run *run, size_t *size);
/* Marks a run as broken: "the run with seed 3 of variant b REASON". */
void run_break(struct run *run, const char *reason);
/* Number of simulations to run at a time: one per core. */
uint32_t batch_cores(void);

#endif
