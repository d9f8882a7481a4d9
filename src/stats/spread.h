/* Figures over several seeds: mean, confidence interval and spread of each metric of a variant. */
#ifndef STATS_SPREAD_H
#define STATS_SPREAD_H

#include "stats/results.h"

struct spread {
    double mean, min, max;
    double stddev; /* of the sample, divided by n - 1; NAN for a single value */
    double ci95;   /* half the width of the 95 % confidence interval of the mean; NAN likewise */
    uint32_t n;
};
/* `n` is at least 1. The result depends on the order of the values in its last digits only, and on
 * nothing else. */
struct spread spread_of(const double *values, uint32_t n);
/* Student's t for two-sided 95 %. */
double spread_t95(uint32_t degrees);

struct seed_metric {
    char name[64], unit[16]; /* as those of struct metric */
    struct spread over;      /* the seeds whose run has the metric */
    double *values;          /* by seed; NAN: its run has no such metric */
};

/* An expectation, seed by seed. */
struct seed_expect {
    const char *text;
    bool *holds; /* by seed */
    uint32_t n_holding;
};

/* What one variant came to with several seeds. */
struct result_seeds {
    uint64_t *list, *digests; /* by seed */
    uint32_t n;
    struct seed_metric *metrics; /* in the order of the first seed's, then of later ones' own */
    uint32_t n_metrics;
    const struct seed_expect *expects; /* of the whole file; not tested: none */
    uint32_t n_expects;
};

/* Collects the summaries of a variant, one per seed. */
struct result_seeds *seeds_create(const uint64_t *list, const struct summary *const *summaries,
                                  uint32_t n);
void seeds_destroy(struct result_seeds *seeds);
const struct seed_metric *seeds_find(const struct result_seeds *seeds, const char *name);

/* Writes "1, 2, 3, 7" of the seeds with which an expectation fails, at most a few of them. */
char *seeds_failed(const struct result_seeds *seeds, const struct seed_expect *expect, char *buf,
                   size_t size);

#endif
