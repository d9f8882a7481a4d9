/* The runs that claims and figures need, as a batch of which each run is done once.
 *
 * A set is a scenario with its settings and a number of seeds, counted up from the scenario's own;
 * every variant is run with every seed. Claims and figures that need the same set share it.
 */
#ifndef REPRODUCE_RUNS_H
#define REPRODUCE_RUNS_H

#include "many/batch.h"
#include "reproduce/claims.h"

struct run_set {
    char *file, *text; /* path and text of the scenario */
    size_t size;
    struct plan_setting *settings;
    uint32_t n_settings;
    uint64_t first_seed;
    uint32_t n_seeds, n_variants;
    struct results *variants;       /* names only */
    const struct results **results; /* pointers to these, as expressions take them */
    struct run *runs;               /* n_seeds times n_variants */
    struct summary **summaries;     /* those of the runs; NULL: not done */
    enum run_state state;           /* RUN_BAD_INPUT: cannot be read, err says why */
    struct xoff_err err;
};

struct run_options {
    bool is_quick;
    bool runs_nothing; /* shipped results are taken for found */
    uint32_t n_seeds;  /* 0: as the claim says */
    const struct plan_setting *settings;
    uint32_t n_settings;
    uint32_t n_workers;
    const char *cache_folder; /* NULL: none */
    bool is_fresh;            /* ignores cached results */
    uint64_t binary;          /* cache_binary(); 0: no cache */
    /* Called when a run has ended, and when a signal came; false stops all. May be NULL. */
    bool (*progress)(void *context, uint32_t n_done, uint32_t n_runs);
    void *progress_context;
};

struct runs {
    const struct run_options *options;
    struct run_set *sets;
    uint32_t n_sets;
    uint32_t n_runs, n_cached;
    int store_reason; /* errno of the first entry that could not be stored; 0: none */
};

/* Number of seeds that an experiment is run with. */
uint32_t runs_n_seeds(const struct run_options *options, const struct experiment *experiment);
/* Adds the experiment to the sets unless it is there, and returns its index. A scenario that cannot
 * be read makes a set in state RUN_BAD_INPUT. */
uint32_t runs_add(struct runs *runs, const struct paper *paper,
                  const struct experiment *experiment);
/* Runs everything that is not in the cache. Returns false when it was stopped. */
bool runs_go(struct runs *runs);
void runs_fini(struct runs *runs);

/* Returns the error of the first failed run among the first n seeds of a set; NULL: all are
 * done. */
const struct xoff_err *runs_error(const struct run_set *set, uint32_t n_seeds, bool *is_bad_input);

#endif
