/* Finished flows of which only sums are kept (results: summary).
 *
 * A flow that is over at both ends adds to the counts of its traffic entry, to sketches of times
 * (sketch.h), and to a sum of digests; then it is forgotten, unless it is among the slowest of its
 * entry. All of it is whole numbers that do not depend on the order in which flows are added.
 */
#ifndef STATS_FLOW_SUMS_H
#define STATS_FLOW_SUMS_H

#include "stats/output.h"
#include "stats/sketch.h"

enum flow_time { FLOW_FCT, FLOW_ACK, FLOW_SLOWDOWN, N_FLOW_TIMES };

/* Slowdowns are kept as multiples of this fraction. */
#define FLOW_SLOWDOWN_ONE (UINT64_C(1) << 32)
uint64_t flow_slowdown_fixed(double slowdown);

struct flow_tally {
    uint64_t n, n_rates; /* n_rates: flows with a life longer than 0 */
    uint64_t sent_bytes, delivered_bytes, early_bytes, late_bytes;
    uint64_t retransmitted_frames, notices, tags_sent, tags_back;
    uint64_t rate_min, rate_max; /* bps */
    unsigned __int128 rate_sum, rate_square_sum;
};

#define FLOW_WORST 50 /* flows kept of each entry, by slowdown and by completion time */
enum { WORST_SLOWDOWN, WORST_FCT, N_WORST };

struct flow_worst {
    struct result_flow flows[FLOW_WORST]; /* the worst first */
    uint32_t n;
};

struct flow_entry {
    struct flow_tally tally;
    struct sketch times[N_FLOW_TIMES];
    struct flow_worst worst[N_WORST];
};

/* A bin of a sketch, as a row of results. */
#define FLOW_ALL UINT32_MAX
struct flow_bin {
    uint32_t tag;     /* FLOW_ALL: of all entries */
    uint8_t time;     /* enum flow_time */
    uint8_t size;     /* bucket; OUTPUT_BUCKETS: of all sizes */
    double low, high; /* seconds, or slowdown */
    uint64_t flows;
};

struct flow_sums {
    uint64_t digest;    /* sum of the digests of all rows */
    xoff_time from, to; /* first start, and last byte or ACK */
    struct flow_tally tally;
    struct sketch times[N_FLOW_TIMES];
    struct sketch by_size[OUTPUT_BUCKETS][N_FLOW_TIMES];
    struct flow_entry *entries; /* by tag */
    uint32_t n_entries;
    /* Of flows that were summarised before they came; they belong to no entry. */
    uint64_t late_notices, late_tags;
    /* Made by flow_sums_finish(): the worst of all entries, each once, and the bins of all
     * sketches that count anything. */
    struct result_flow *worst;
    uint32_t n_worst;
    struct flow_bin *bins;
    uint64_t n_bins;
};

/* These return false, and flow_sums_create() NULL, when memory is short. */
struct flow_sums *flow_sums_create(void);
void flow_sums_destroy(struct flow_sums *sums);
/* Entries up to that one. */
bool flow_sums_grow(struct flow_sums *sums, uint32_t n_entries);
/* Adds a flow that is over. */
bool flow_sums_add(struct flow_sums *sums, const struct result_flow *flow);
/* Adds all that was added to another one. */
bool flow_sums_merge(struct flow_sums *sums, const struct flow_sums *other);
/* No flow is added any more: lists the worst, sorted as the flows of results are. The times of
 * flows that are kept are added to the sketches, and nothing else of them. */
bool flow_sums_finish(struct flow_sums *sums, const struct result_flow *kept, uint64_t n);

#endif
