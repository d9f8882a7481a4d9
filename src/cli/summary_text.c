/* Prints the summary of runs as a table, and the places of errors and losses. */
#include <string.h>

#include "cli/cli.h"

/* The figures that a newcomer wants to know first, in order. */
static const struct {
    const char *metric, *label;
} rows[] = {
    {"flows", "flows started"},
    {"flows.finished", "flows finished"},
    {"delivered", "data delivered"},
    {"throughput", "throughput, all flows"},
    {"fct.mean", "completion time, mean"},
    {"fct.p50", "  median"},
    {"fct.p99", "  99th percentile"},
    {"fct.max", "  longest"},
    {"slowdown.mean", "slowdown, mean"},
    {"slowdown.p99", "  99th percentile"},
    {"slowdown.ns3.mean", "slowdown of fct.txt, mean"},
    {"slowdown.ns3.p99", "  99th percentile"},
    {"operations", "operations completed"},
    {"operations.rate", "  per second"},
    {"operations.mean", "operation time, mean"},
    {"operations.p50", "  median"},
    {"operations.p99", "  99th percentile"},
    {"operations.max", "  longest"},
    {"jain", "fairness (Jain's index)"},
    {"utilisation.max", "busiest link"},
    {"queue.peak", "longest queue"},
    {"buffer.peak", "fullest buffer"},
    {"headroom.peak", "most own headroom used"},
    {"insurance.peak", "most insurance used"},
    {"pauses", "pauses (XOFF)"},
    {"pause_time", "time paused, all ports"},
    {"marks", "ECN marks"},
    {"notices.sent", "congestion notifications"},
    {"notices.received", "  at their source"},
    {"tags.sent", "tags sent"},
    {"tags.received", "  that came back"},
    {"feedback.rate", "messages to sources /s"},
    {"retransmissions", "retransmissions"},
    {"drops", "frames lost"},
    {"drops.lossless", "  of lossless classes"},
    {"deadlocks", "deadlocks"},
};

static const char *const buckets[] = {"le10KB", "le100KB", "le1MB", "le10MB", "gt10MB"};
const char *const cli_bucket_labels[COMPARE_BUCKETS] = {"to 10 KB", "to 100 KB", "to 1 MB",
                                                        "to 10 MB", "over 10 MB"};

/* Prints the sizes for which a flow finished. */
static void print_buckets(FILE *out, const struct cli_run *run)
{
    static const char *const figures[] = {"flows", "mean", "p50", "p95", "p99", "max"};
    if (!summary_find(run->summary, "slowdown.mean"))
        return;
    char title[64] = "slowdown by flow size";
    if (run->results->variant[0])
        snprintf(title, sizeof title, "slowdown, %s", run->results->variant);
    fprintf(out, "\n  %-24s", title);
    for (uint32_t f = 0; f < sizeof figures / sizeof *figures; f++)
        fprintf(out, " %9s", figures[f]);
    fputc('\n', out);
    for (uint32_t b = 0; b < sizeof buckets / sizeof *buckets; b++) {
        char count[64];
        snprintf(count, sizeof count, "slowdown.%s.flows", buckets[b]);
        const struct metric *flows = summary_find(run->summary, count);
        if (!flows || flows->value == 0)
            continue;
        fprintf(out, "  %-24s", cli_bucket_labels[b]);
        for (uint32_t f = 0; f < sizeof figures / sizeof *figures; f++) {
            char name[64], text[32] = "-";
            snprintf(name, sizeof name, "slowdown.%s.%s", buckets[b], figures[f]);
            const struct metric *m = summary_find(run->summary, name);
            if (m)
                snprintf(text, sizeof text, f ? "%.2f" : "%.0f", m->value);
            fprintf(out, " %9s", text);
        }
        fputc('\n', out);
    }
}

static bool is_dull(const char *metric, const struct cli_run *runs, uint32_t n_runs)
{
    static const char *const only_if_any[] = {
        "operations",    "marks",         "notices.sent",    "notices.received", "tags.sent",
        "tags.received", "feedback.rate", "retransmissions", "deadlocks"};
    bool is_there = false, is_zero = true, is_listed = false;
    for (uint32_t i = 0; i < n_runs; i++) {
        const struct metric *m = summary_find(runs[i].summary, metric);
        is_there |= m != NULL;
        is_zero &= !m || m->value == 0;
    }
    for (uint32_t k = 0; k < sizeof only_if_any / sizeof *only_if_any; k++)
        is_listed |= !strcmp(metric, only_if_any[k]);
    return !is_there || (is_zero && is_listed);
}

/* Prints a metric of all runs side by side. */
static void print_row(FILE *out, const struct cli_run *runs, uint32_t n_runs, const char *metric,
                      const char *label)
{
    const struct cli_style *s = cli_style(out);
    if (is_dull(metric, runs, n_runs))
        return;
    fprintf(out, "  %-26s", label);
    const char *meaning = "";
    for (uint32_t i = 0; i < n_runs; i++) {
        const struct metric *m = summary_find(runs[i].summary, metric);
        char text[32] = "-";
        if (m) {
            cli_figure(text, sizeof text, m->value, m->unit);
            meaning = m->meaning;
        }
        const bool is_bad = m && m->value > 0 && !strncmp(metric, "drops", 5);
        fprintf(out, " %s%14s%s", is_bad ? s->red : "", text, is_bad ? s->off : "");
    }
    if (n_runs == 1)
        fprintf(out, "   %s%s%s", s->dim, meaning, s->off);
    fputc('\n', out);
}

/* Prints the curves of the first run that has any: variants have the same, unless they change
 * them. */
static void print_curves(FILE *out, const struct cli_run *runs, uint32_t n_runs)
{
    static const char *const figures[] = {"mean", "min", "max", "until"};
    uint32_t first = 0;
    while (first < n_runs && !runs[first].summary->n_curves)
        first++;
    for (uint32_t c = 0; first < n_runs && c < runs[first].summary->n_curves; c++)
        for (uint32_t f = 0; f < sizeof figures / sizeof *figures; f++) {
            const char *name = runs[first].summary->curves[c].name;
            char metric[64], label[64];
            snprintf(metric, sizeof metric, "curve.%s.%s", name, figures[f]);
            snprintf(label, sizeof label, "%s%s%s", f ? "  " : "curve ", f ? "" : name,
                     f ? figures[f] : ", mean");
            print_row(out, runs, n_runs, metric, label);
        }
}

void cli_print_summary(FILE *out, const struct cli_run *runs, uint32_t n_runs)
{
    const struct cli_style *s = cli_style(out);
    if (n_runs > 1) {
        fprintf(out, "  %-26s", "");
        for (uint32_t i = 0; i < n_runs; i++)
            fprintf(out, " %s%14s%s", s->bold, runs[i].results->variant, s->off);
        fputc('\n', out);
    }
    for (uint32_t r = 0; r < sizeof rows / sizeof *rows; r++)
        print_row(out, runs, n_runs, rows[r].metric, rows[r].label);
    print_curves(out, runs, n_runs);
    for (uint32_t i = 0; i < n_runs; i++)
        print_buckets(out, &runs[i]);
}

static const char *node_name(const struct results *r, uint32_t node)
{
    return r->nodes[node].name;
}

/* Prints the cycle; a priority is printed once when it is the same all around. */
static void print_deadlock(FILE *out, const struct cli_style *s, const struct results *r,
                           const struct result_deadlock *d)
{
    const struct result_deadlock_port *ports = &r->deadlock_ports[d->first];
    char text[32];
    bool is_mixed = false;
    for (uint32_t k = 1; k < d->n; k++)
        is_mixed |= ports[k].priority != ports[0].priority;
    fprintf(out, "  %s%sdeadlock%s since %s:", s->bold, s->red, s->off,
            cli_figure(text, sizeof text, (double)d->onset_at / (double)XOFF_S, "s"));
    for (uint32_t k = 0; k < d->n; k++) {
        fprintf(out, "%s %s port %u", k ? " ->" : "", node_name(r, ports[k].node), ports[k].port);
        if (is_mixed)
            fprintf(out, " priority %u", ports[k].priority);
    }
    if (is_mixed)
        fprintf(out, " -> back\n");
    else
        fprintf(out, " -> back, priority %u\n", ports[0].priority);
}

void cli_print_troubles(FILE *out, const struct cli_run *run)
{
    static const char *const causes[] = {
#define X(id, name, text) text,
        RESULT_DROP_MAP(X)
#undef X
    };
    const struct cli_style *s = cli_style(out);
    const struct results *r = run->results;
    char text[32];
    uint32_t shown = 0;
    for (uint32_t i = 0; i < r->n_drops && shown < 8; i++) {
        const struct result_drop *d = &r->drops[i];
        fprintf(out, "  %s%sdrop%s %s port %u, priority %u%s: %llu frames, %s", s->bold,
                d->lossless ? s->red : s->yellow, s->off, node_name(r, d->node), d->port,
                d->priority, d->lossless ? " (lossless)" : "", (unsigned long long)d->frames,
                causes[d->cause]);
        if (d->out_port != UINT32_MAX)
            fprintf(out, ", towards port %u", d->out_port);
        fprintf(out, "; first at %s\n",
                cli_figure(text, sizeof text, (double)d->first_at / (double)XOFF_S, "s"));
        shown++;
    }
    if (r->n_drops > shown)
        fprintf(out, "  ... and %u more places, in the results\n", r->n_drops - shown);
    for (uint32_t i = 0; i < r->n_deadlocks; i++)
        print_deadlock(out, s, r, &r->deadlocks[i]);
    for (uint32_t i = 0; i < r->n_findings; i++)
        fprintf(out, "  %s%saudit%s %s\n", s->bold, s->red, s->off, r->findings[i].text);
}
