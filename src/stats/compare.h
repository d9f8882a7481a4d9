/* Compares the flows of a run with those that another simulator found for the same traffic.
 *
 * Both sides are plain lists. Flows are the same when source, destination, size and start are
 * equal. Among flows that are equal in all of these, those with equal ports are the same; the
 * others are taken in order of their source ports, since simulators count ports differently.
 * Figures are over the flows that both sides finished.
 */
#ifndef STATS_COMPARE_H
#define STATS_COMPARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stats/results.h"

#define COMPARE_LISTED 10          /* flows that are listed at most, of each kind */
#define COMPARE_NO_PORT UINT32_MAX /* a destination port that is not known */
#define COMPARE_BUCKETS 5          /* flow sizes: those of the metrics by size */

struct compare_flow {
    char from[RESULT_NAME], to[RESULT_NAME]; /* names of nodes */
    uint32_t sport, dport;
    uint64_t bytes, start_ns;
    uint64_t fct_ns;        /* to the last ACK; 0: not finished, on our side only */
    uint64_t standalone_ns; /* 0: not stated */
};

enum { COMPARE_MEAN, COMPARE_P50, COMPARE_P95, COMPARE_P99, COMPARE_MAX, COMPARE_N_STATS };
extern const char *const compare_stat_names[COMPARE_N_STATS];

struct compare_side {
    double figures[COMPARE_N_STATS];
};

/* A distribution on both sides, over the same n flows; 0: the figures mean nothing. */
struct compare_pair {
    uint64_t n;
    struct compare_side ours, theirs;
};

struct compare_difference {
    struct compare_flow flow; /* with our time */
    uint64_t theirs_ns;
};

struct compare {
    char *file;                /* of theirs */
    uint64_t n_ours, n_theirs; /* finished flows */
    uint64_t n_both;           /* finished on both sides; n_ports of them with equal ports */
    uint64_t n_ports;
    uint64_t n_unfinished;      /* of theirs: found here, but not finished */
    uint64_t n_equal, n_within; /* of both: equal to the nanosecond, within 1 % of theirs */
    uint64_t n_standalone;      /* of both: standalone times are stated on both sides and differ */
    struct compare_pair fct;    /* seconds */
    struct compare_pair slowdown;                    /* max(1, fct / their standalone time) */
    struct compare_pair buckets[COMPARE_BUCKETS];    /* slowdown by size */
    struct compare_difference worst[COMPARE_LISTED]; /* by share of theirs; largest first */
    uint32_t n_worst;
    struct compare_flow only_ours[COMPARE_LISTED], only_theirs[COMPARE_LISTED]; /* by start */
    uint32_t n_only_ours, n_only_theirs;                                        /* listed */
};

/* `theirs` have times above 0. Neither list is changed. `file` is copied. NULL: no memory. */
struct compare *compare_create(const struct compare_flow *ours, size_t n_ours,
                               const struct compare_flow *theirs, size_t n_theirs,
                               const char *file);
void compare_destroy(struct compare *compare);

#endif
