/* Shared by the two halves of summary_create: summary.c has counts, rates and the rest of the run,
 * summary_times.c completion times, slowdowns and durations. */
#ifndef STATS_SUMMARY_PARTS_H
#define STATS_SUMMARY_PARTS_H

#include <stdlib.h>
#include <string.h>

#include "stats/flow_sums.h"
#include "stats/metric_names.h"

enum stat { STAT_MEAN, STAT_P50, STAT_P95, STAT_P99, STAT_MAX, N_STATS };

static const char *const stat_names[N_STATS] = {"mean", "p50", "p95", "p99", "max"};
static const uint64_t stat_percents[N_STATS] = {0, 50, 95, 99, 100};

/* One flow's or operation's value with the groups it belongs to. */
struct value {
    uint64_t key;         /* sorts like the value: picoseconds, or the bits of a double >= 1 */
    uint32_t tag, bucket; /* bucket only where the family is shown by size */
};

/* A summary being made. */
struct build {
    const struct results *results;
    xoff_time traffic_for; /* how long there was traffic */
    struct output_span measured;
    xoff_time measured_for;
    struct summary *summary;
    uint32_t capacity;
    bool failed;                 /* out of memory */
    struct metric_label *labels; /* per traffic entry */
    struct value *values; /* one per flow or operation: sorted, work space, and keys of groups */
    struct value *scratch;
    uint64_t *keys;
    uint64_t *offsets; /* per group, and one more */
    /* Age of the oldest flow that did not finish, 0: none; of all, then by tag and by bucket. */
    uint64_t *ages;
};

static inline void add(struct build *b, const char *family, const char *group, const char *stat,
                       const char *unit, double value, const char *meaning)
{
    struct summary *s = b->summary;
    if (s->n_metrics == b->capacity) {
        const uint32_t capacity = b->capacity ? 2 * b->capacity : 128;
        struct metric *grown = realloc(s->metrics, capacity * sizeof *grown);
        if (!grown) {
            b->failed = true;
            return;
        }
        s->metrics = grown;
        b->capacity = capacity;
    }
    struct metric *m = &s->metrics[s->n_metrics++];
    *m = (struct metric){.value = value, .meaning = meaning};
    const int length = snprintf(m->name, sizeof m->name, "%s%s%s%s%s", family, group ? "." : "",
                                group ? group : "", stat ? "." : "", stat ? stat : "");
    XOFF_ASSERT(length > 0 && (size_t)length < sizeof m->name);
    snprintf(m->unit, sizeof m->unit, "%s", unit);
}

/* Add the families of figures of flows, of operations. */
void summary_times_of_flows(struct build *b);
void summary_times_of_operations(struct build *b);

#endif
