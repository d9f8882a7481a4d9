/* Fails a run for troubles that no expectation covers.
 *
 * This program exists to find deadlocks and lossless frames lost for want of room. A scenario may
 * be about them: then one of its expectations names a metric that counts them, and that expectation
 * decides. A metric of something else (frames lost by errors of the link) or of another variant
 * decides nothing here.
 */
#include <string.h>

#include "stats/output.h"

enum {
    LOST_IN_BUFFER = 1,
    LOST_AT_RECEIVER = 2,
    DEADLOCK = 4,
    LOST_AT_EGRESS = 8,
    LOST_ANYWHERE = LOST_IN_BUFFER | LOST_AT_RECEIVER | LOST_AT_EGRESS
};

/* The troubles that a metric counts, by itself or among others. */
static const struct {
    const char *metric;
    uint32_t counts;
} covers[] = {
    {"drops", LOST_ANYWHERE},
    {"drops.bytes", LOST_ANYWHERE},
    {"drops.lossless", LOST_ANYWHERE},
    {"drops.buffer", LOST_IN_BUFFER},
    {"drops.receiver", LOST_AT_RECEIVER},
    {"drops.egress", LOST_AT_EGRESS},
    {"deadlocks", DEADLOCK},
    {"deadlocked", DEADLOCK},
    {"deadlock.onset", DEADLOCK},
};

/* Counts lossless frames lost for want of room in a place that is not covered. */
static uint64_t count_lost(const struct results *run, uint32_t covered)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < run->n_drops; i++) {
        const struct result_drop *d = &run->drops[i];
        const uint32_t trouble = d->cause == RESULT_DROP_BUFFER     ? LOST_IN_BUFFER
                                 : d->cause == RESULT_DROP_RECEIVER ? LOST_AT_RECEIVER
                                 : d->cause == RESULT_DROP_EGRESS   ? LOST_AT_EGRESS
                                                                    : 0;
        if (d->lossless && trouble & ~covered)
            n += d->frames;
    }
    return n;
}

void verdict_note(struct results *run, const struct results *const *runs,
                  const struct summary *const *summaries, uint32_t n_runs,
                  const char *const *expects, uint32_t n_expects)
{
    uint32_t index = 0, covered = 0;
    while (index < n_runs && runs[index] != run)
        index++;
    XOFF_ASSERT(index < n_runs);
    for (uint32_t i = 0; i < n_expects; i++)
        for (size_t k = 0; k < sizeof covers / sizeof *covers; k++)
            if (expect_names(expects[i], runs, summaries, n_runs, index, covers[k].metric))
                covered |= covers[k].counts;
    const uint64_t lost = count_lost(run, covered);
    const char *variant = output_text(run->variant), *of = *variant ? " of " : "";
    if (lost)
        results_add_finding(run,
                            "frames of a lossless class were lost for want of room: %llu, and no "
                            "expectation%s%s speaks of them",
                            (unsigned long long)lost, of, variant);
    if (run->n_deadlocks && !(covered & DEADLOCK))
        results_add_finding(run, "the network is in deadlock, and no expectation%s%s speaks of it",
                            of, variant);
}
