/* Fails a run for troubles that no expectation covers.
 *
 * This program exists to find deadlocks, lossless frames lost for want of room, and traffic that
 * never gets through. A scenario may be about them: then one of its expectations names a metric
 * that counts them, and that expectation decides. A metric of something else (frames lost by errors
 * of the link) or of another variant decides nothing here.
 *
 * A flow or operation that the end of the run cuts off is no trouble. It is one when the run has
 * waited for it after its stop (drain) and it still did not finish, and when a flow starves:
 * nothing of it has arrived any more.
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
    NOT_ENDED = 32, /* operations */
    STARVED = 64,
    NOT_THROUGH = NOT_FINISHED | NOT_ENDED | STARVED,
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
    {"deadlocks", DEADLOCK | NOT_THROUGH},
    {"deadlocked", DEADLOCK | NOT_THROUGH},
    {"deadlock.onset", DEADLOCK | NOT_THROUGH},
    {"flows.finished", NOT_FINISHED | STARVED},
    {"flows.unfinished", NOT_FINISHED | STARVED},
    {"fct.max", NOT_FINISHED | STARVED},
    {"operations", NOT_ENDED},
    {"operations.unfinished", NOT_ENDED},
    {"starved", STARVED},
    {"min_share", STARVED},
    {"throughput.min", STARVED},
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

/* Whether the run waited after its stop, and had all the time for it that it was given; or nothing
 * was left to happen. */
static bool has_waited(const struct results *run)
{
    return !run->interrupted && (run->end_at > run->stop_at || run->is_at_rest);
}

/* A datagram that was lost is not sent again: where frames were lost, flows of datagrams are not
 * expected to be whole. */
static bool is_expected_whole(const struct results *run, const struct result_flow *flow)
{
    return output_is_unfinished(flow) && (flow->reliable || !run->n_drops);
}

static uint64_t count_unfinished(const struct results *run, uint32_t tag)
{
    uint64_t n = 0;
    for (uint64_t i = 0; i < run->n_flows && has_waited(run); i++)
        n += run->flows[i].tag == tag && is_expected_whole(run, &run->flows[i]);
    return n;
}

static uint64_t count_under_way(const struct results *run, uint32_t tag)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < run->n_running && has_waited(run); i++)
        n += run->running[i].tag == tag ? run->running[i].n : 0;
    return n;
}

/* A flow of finite size that the end of the run cut off may have waited in queues, unless nothing
 * moves at all. One that is among the unfinished already is not named twice. */
static uint64_t count_starved(const struct results *run, uint32_t tag)
{
    uint64_t n = 0;
    for (uint64_t i = 0; i < run->n_flows && !run->interrupted; i++) {
        const struct result_flow *f = &run->flows[i];
        n += f->tag == tag && f->is_starving &&
             (output_is_stream(f) ||
              (run->is_standing && !has_waited(run) && is_expected_whole(run, f)));
    }
    return n;
}

/* Troubles of traffic entries, and the figures FAMILY.ENTRY.FIGURE of an entry that count them. */
static const struct trouble {
    uint32_t what;
    const char *text;
    uint64_t (*count)(const struct results *run, uint32_t tag);
    struct {
        const char *family, *figure;
    } counted_by[6];
} troubles[] = {
    {NOT_FINISHED,
     "flows did not finish though the run waited for them",
     count_unfinished,
     {{"flows", ".finished"}, {"flows", ".unfinished"}, {"fct", ".max"}}},
    {NOT_ENDED,
     "operations did not finish though the run waited for them",
     count_under_way,
     {{"operations", ""}, {"operations", ".unfinished"}}},
    {STARVED,
     "flows starve: nothing of them arrives any more",
     count_starved,
     {{"starved", ""},
      {"min_share", ""},
      {"throughput", ".min"},
      {"flows", ".finished"},
      {"flows", ".unfinished"},
      {"fct", ".max"}}},
};

/* Whether an expectation names a figure of the entry that shows the trouble. */
static bool is_watched(const struct asked *asked, const struct trouble *trouble, const char *entry)
{
    for (size_t k = 0; k < sizeof trouble->counted_by / sizeof *trouble->counted_by; k++) {
        char name[96];
        if (!trouble->counted_by[k].family)
            break;
        snprintf(name, sizeof name, "%s.%s%s", trouble->counted_by[k].family, entry,
                 trouble->counted_by[k].figure);
        if (is_named(asked, name))
            return true;
    }
    return false;
}

/* Notes a trouble, by entry. The summary has the entries in order. */
static void note_trouble(struct results *run, const struct asked *asked,
                         const struct trouble *trouble, const char *of)
{
    const struct summary *summary = asked->summaries[asked->run];
    char entries[120] = "";
    uint32_t tag = 0;
    for (uint32_t i = 0; i < summary->n_metrics && tag < run->n_tags; i++) {
        char entry[64];
        int end = 0;
        if (sscanf(summary->metrics[i].name, "flows.%63[^.].unfinished%n", entry, &end) != 1 ||
            !end)
            continue;
        const uint64_t n = trouble->count(run, tag++);
        const size_t used = strlen(entries);
        if (n && !is_watched(asked, trouble, entry))
            snprintf(entries + used, sizeof entries - used, "%s%llu of %s", used ? ", " : "",
                     (unsigned long long)n, entry);
    }
    if (*entries)
        results_add_finding(run, "%s: %s, and no expectation%s%s speaks of them", trouble->text,
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
    for (size_t k = 0; k < sizeof troubles / sizeof *troubles; k++)
        if (!(covered & troubles[k].what))
            note_trouble(run, &asked, &troubles[k], of);
}
