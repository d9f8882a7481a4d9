/* Fails a run for troubles that no expectation covers.
 *
 * This program exists to find deadlocks, lossless frames lost for want of room, and flows that
 * never get through. A scenario may be about them: then one of its expectations names a metric that
 * counts them, and that expectation decides. A metric of something else (frames lost by errors of
 * the link) or of another variant decides nothing here.
 *
 * A flow that the end of the run cuts off is no trouble. It is one when the run has waited for it
 * after its stop (drain) and it still did not finish.
 */
#include <stdio.h>
#include <string.h>

#include "stats/output.h"

enum {
    LOST_IN_BUFFER = 1,
    LOST_AT_RECEIVER = 2,
    DEADLOCK = 4,
    LOST_AT_EGRESS = 8,
    NOT_FINISHED = 16,
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
    {"deadlocks", DEADLOCK | NOT_FINISHED},
    {"deadlocked", DEADLOCK | NOT_FINISHED},
    {"deadlock.onset", DEADLOCK | NOT_FINISHED},
    {"flows.finished", NOT_FINISHED},
    {"flows.unfinished", NOT_FINISHED},
    {"fct.max", NOT_FINISHED},
};

/* The expectations that a run is judged by. */
struct asked {
    const struct results *const *runs;
    const struct summary *const *summaries;
    uint32_t n_runs, run;
    const char *const *expects;
    uint32_t n_expects;
};

static bool is_named(const struct asked *a, const char *metric)
{
    for (uint32_t i = 0; i < a->n_expects; i++)
        if (expect_names(a->expects[i], a->runs, a->summaries, a->n_runs, a->run, metric))
            return true;
    return false;
}

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

/* Whether the run waited after its stop, and had all the time for it that it was given. */
static bool has_waited(const struct results *run)
{
    return !run->interrupted && run->end_at > run->stop_at;
}

/* Counts the flows of an entry that did not finish. A datagram that was lost is not sent again:
 * where frames were lost, flows of datagrams are not expected to be whole. */
static uint64_t count_unfinished(const struct results *run, uint32_t tag)
{
    uint64_t n = 0;
    for (uint64_t i = 0; i < run->n_flows; i++) {
        const struct result_flow *f = &run->flows[i];
        n += f->tag == tag && output_is_unfinished(f) && (f->reliable || !run->n_drops);
    }
    return n;
}

/* Whether an expectation names a figure of the entry that shows whether its flows finished. */
static bool is_watched(const struct asked *asked, const char *entry)
{
    char finished[96], unfinished[96], longest[96];
    snprintf(finished, sizeof finished, "flows.%s.finished", entry);
    snprintf(unfinished, sizeof unfinished, "flows.%s.unfinished", entry);
    snprintf(longest, sizeof longest, "fct.%s.max", entry);
    return is_named(asked, finished) || is_named(asked, unfinished) || is_named(asked, longest);
}

/* Notes flows that did not finish, by entry. The summary has the entries in order. */
static void note_unfinished(struct results *run, const struct asked *asked, const char *of)
{
    const struct summary *summary = asked->summaries[asked->run];
    char entries[160] = "";
    uint32_t tag = 0;
    for (uint32_t i = 0; i < summary->n_metrics && tag < run->n_tags; i++) {
        char entry[64];
        int end = 0;
        if (sscanf(summary->metrics[i].name, "flows.%63[^.].unfinished%n", entry, &end) != 1 ||
            !end)
            continue;
        const uint64_t n = summary->metrics[i].value > 0 ? count_unfinished(run, tag) : 0;
        tag++;
        const size_t used = strlen(entries);
        if (n && !is_watched(asked, entry))
            snprintf(entries + used, sizeof entries - used, "%s%llu of %s", used ? ", " : "",
                     (unsigned long long)n, entry);
    }
    if (*entries)
        results_add_finding(run,
                            "flows did not finish though the run waited for them: %s, and no "
                            "expectation%s%s speaks of them",
                            entries, of, output_text(run->variant));
}

void verdict_note(struct results *run, const struct results *const *runs,
                  const struct summary *const *summaries, uint32_t n_runs,
                  const char *const *expects, uint32_t n_expects)
{
    struct asked asked = {runs, summaries, n_runs, 0, expects, n_expects};
    uint32_t covered = 0;
    while (asked.run < n_runs && runs[asked.run] != run)
        asked.run++;
    XOFF_ASSERT(asked.run < n_runs);
    for (size_t k = 0; k < sizeof covers / sizeof *covers; k++)
        if (is_named(&asked, covers[k].metric))
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
    if (has_waited(run) && !(covered & NOT_FINISHED))
        note_unfinished(run, &asked, of);
}
