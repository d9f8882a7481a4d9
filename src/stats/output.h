/* Shared by the writers of results: names for codes, derived figures.
 *
 * Only stats/ includes this. The contract with the rest of the program is results.h.
 */
#ifndef STATS_OUTPUT_H
#define STATS_OUTPUT_H

#include "stats/csv_text.h"
#include "stats/results.h"

#ifndef XOFF_VERSION
#define XOFF_VERSION "dev"
#endif

/* Words for codes and indices, the same in every format. They never return NULL. */
const char *output_text(const char *text); /* "" for NULL */
const char *output_node(const struct results *results, uint32_t node);
const char *output_tag(const struct results *results, uint32_t tag);
const char *output_drop_cause(uint8_t cause);
const char *output_unit(uint8_t unit);
const char *output_sample_metric(uint8_t metric);
/* Flow-size buckets by bytes offered, upper bound inclusive. */
#define OUTPUT_BUCKETS 5
extern const char *const output_bucket_names[OUTPUT_BUCKETS];
uint32_t output_bucket(uint64_t bytes);
/* "fail" with audit findings, else "interrupted", else "pass". */
const char *output_verdict(const struct results *results);

#define OUTPUT_PRIORITIES 16 /* "0,1,2,3,4,5,6,7" and NUL */
char *output_priorities(uint8_t mask, char buf[OUTPUT_PRIORITIES]);

static inline double output_seconds(xoff_time t)
{
    return (double)t / (double)XOFF_S;
}

static inline bool output_is_finished(const struct result_flow *flow)
{
    return flow->finish_at != XOFF_NEVER;
}

/* Whether a flow that has an end had not reached it when the run ended. Streams and connections
 * have no ideal time, and no end. */
static inline bool output_is_unfinished(const struct result_flow *flow)
{
    return !output_is_finished(flow) && flow->ideal_for > 0;
}

/* Whether a flow is a stream or a connection, which sends until the run's stop. */
static inline bool output_is_stream(const struct result_flow *flow)
{
    return !output_is_finished(flow) && flow->ideal_for <= 0;
}

/* Payload received in the measured time. */
static inline uint64_t output_measured_bytes(const struct result_flow *flow)
{
    return flow->delivered_bytes - flow->early_bytes - flow->late_bytes;
}

/* A finished flow with an ideal time has a slowdown. */
static inline bool output_has_slowdown(const struct result_flow *flow)
{
    return output_is_finished(flow) && flow->ideal_for > 0;
}

/* max(1, FCT / ideal): rounding of the ideal time must not make a flow faster than light. */
static inline double output_slowdown(const struct result_flow *flow)
{
    const double ratio = (double)(flow->finish_at - flow->start_at) / (double)flow->ideal_for;
    return ratio > 1 ? ratio : 1;
}

/* The time in which there was traffic: from the first start of a flow to the last byte received or
 * acknowledged, or to the end of the run when some flow is not done by then. The whole run where
 * there was no flow. */
struct output_span {
    xoff_time from, to;
};
struct output_span output_traffic(const struct results *results);
/* The part of it in which traffic was offered: up to the run's stop, and within what the scenario
 * asks for. Throughput, utilisation and pause fractions are over this time; what is delivered while
 * the run drains would be divided by a time that other queues stretch. */
struct output_span output_measured(const struct results *results);

/* The longest time from a decision to pause a (port, priority) to that to resume it. False: no
 * pause has ended. */
bool output_longest_pause(const struct results *results, xoff_time *longest);

/* An acknowledged flow with a standalone time has a slowdown in the ns-3 RDMA family's sense. */
static inline bool output_has_slowdown_ns3(const struct result_flow *flow)
{
    return flow->acked_at != XOFF_NEVER && flow->standalone_for > 0;
}

/* max(1, FCT / standalone), both in whole nanoseconds as fct.txt has them. */
static inline double output_slowdown_ns3(const struct result_flow *flow)
{
    const double ratio = (double)((flow->acked_at - flow->start_at) / XOFF_NS) /
                         (double)(flow->standalone_for / XOFF_NS);
    return ratio > 1 ? ratio : 1;
}

/* Writes the database at `path` (which must not exist). The file may be partial on failure: the
 * caller removes it. */
int sqlite_write(const char *path, const struct results *const *runs,
                 const struct summary *const *summaries, uint32_t n_runs, struct xoff_err *err);

/* The CSV files, one for each table that has a name for it; stream errors are left for the caller's
 * ferror(). */
#define N_CSV_FILES 7
const char *csv_name(uint32_t file);
void csv_write(FILE *out, uint32_t file, const struct results *const *runs, uint32_t n_runs);

/* Writes metrics.csv. */
void metrics_csv_write(FILE *out, const struct results *const *runs,
                       const struct summary *const *summaries, uint32_t n_runs);

/* "cannot write PATH: REASON" with code XOFF_E_IO; returns its negative. */
int output_fail(struct xoff_err *err, const char *path, const char *reason);

#endif
