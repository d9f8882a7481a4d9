/* xoff run --seeds: every variant with every seed, and what that came to. */
#ifndef CLI_RUN_SEEDS_H
#define CLI_RUN_SEEDS_H

#include "cli/cli.h"
#include "stats/spread.h"

struct seeds_options {
    uint64_t *list; /* as given; NULL: one seed */
    uint32_t n;
    uint32_t n_jobs;
    char first[24]; /* list[0], as a setting */
};

/* A scenario file with the seeds that it is run with. */
struct seeds_run {
    const struct seeds_options *options;
    const struct cli_options *shared; /* its settings end with the first seed */
    const char *file;
    const char *const *variants; /* chosen by --variant */
    uint32_t n_variants;
    const struct scenario *scenario;
    struct summary **summaries; /* [seed * n_plans + plan]; those of the first seed are `firsts` */
    struct result_seeds **seeds;
    struct seed_expect *expects;
};

/* Runs all seeds but the first, which `firsts` has done with every plan of the scenario, and
 * attaches what all came to to the results of `firsts`. Prints errors. Returns an exit status. */
int seeds_go(struct seeds_run *run, struct cli_run *firsts);
/* Tests each expectation with each seed, and notes those that fail in the results of the first
 * seed. Returns an exit status. */
int seeds_expect(struct seeds_run *run, struct cli_run *firsts, FILE *out);
/* Prints what the audit found with other seeds, and notes it there, too. */
int seeds_audit(struct seeds_run *run, struct cli_run *firsts, FILE *out);
void seeds_fini(struct seeds_run *run);

/* Prints the table: mean, confidence interval and spread of what matters most (seeds_text.c). */
void seeds_print(FILE *out, const struct cli_run *firsts, uint32_t n_runs);

#endif
