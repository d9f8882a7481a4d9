/* The command line of xoff run. */
#ifndef CLI_RUN_OPTIONS_H
#define CLI_RUN_OPTIONS_H

#include "cli/checkpoint.h"
#include "cli/run_seeds.h"

struct run_arguments {
    struct cli_options shared;
    const char *output;
    bool csv, print_config, estimate, no_report, no_expect, wire_check, wire_check_all;
    const char *write;   /* --write; NULL: default for the kind of input */
    const char *compare; /* folder or file; NULL: nothing to compare with */
    const char **captures, **variants;
    uint32_t n_captures, n_variants;
    struct seeds_options seeds;
    struct checkpoint checkpoint;
    xoff_time fork_at; /* 0: variants begin at 0 */
    uint64_t capture_limit;
    uint32_t capture_bytes; /* 0: whole frames */
    const char *trace;      /* file; NULL: none */
    xoff_time trace_until;
    const char *parts; /* file with the rank of each node; NULL: chosen */
};

extern const struct argp run_argp; /* its input is a struct run_arguments */

/* Returns "run-", the file's name without folder and ending, and the seed if one is given: runs of
 * a file with one seed each go to as many folders. The caller frees it. */
char *run_default_output(const struct run_arguments *a, const char *file);

/* Refuses what cannot be done over several ranks, whatever the file says. */
int run_check_ranks(const struct run_arguments *a, struct xoff_err *err);

#endif
