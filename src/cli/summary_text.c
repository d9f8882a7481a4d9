/* Prints the summary of runs: what each entry of the traffic got, variant by variant and against
 * the first, then figures of the whole network. Tables fit the width of the terminal. */
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

enum {
    LABEL_COLUMNS = 28,
    CELL_COLUMNS = 15,
    NAME_COLUMNS = 18,
    COUNT_COLUMNS = 9,
    MAX_FIGURES = 5,
    MAX_SIZED = 4 /* more runs would bury the rest under slowdowns by size */
};

/* A table with a row per run and entry of the traffic. The metric of a cell is FAMILY.ENTRY.FIGURE,
 * or FAMILY.ENTRY where the figure is empty. */
struct figure {
    const char *family, *figure, *heading;
};
struct table {
    const char *title;
    struct figure figures[MAX_FIGURES]; /* the first is a count */
    uint32_t judged;                    /* the figure whose change is shown */
};

static const struct table completion = {"completion time",
                                        {{"flows", "", "flows"},
                                         {"fct", "mean", "mean"},
                                         {"fct", "p50", "median"},
                                         {"fct", "p99", "p99"},
                                         {"fct", "max", "longest"}},
                                        3};
/* The same with every flow in it: an unfinished one counts with its age at the end of the run. */
static const struct table ages = {"completion time",
                                  {{"flows", "", "flows"},
                                   {"fct.all", "mean", "mean"},
                                   {"fct.all", "p50", "median"},
                                   {"fct.all", "p99", "p99"},
                                   {"fct.all", "max", "longest"}},
                                  3};
static const struct table operation = {"operation time",
                                       {{"operations", "", "done"},
                                        {"operations", "mean", "mean"},
                                        {"operations", "p50", "median"},
                                        {"operations", "p99", "p99"},
                                        {"operations", "max", "longest"}},
                                       3};
static const struct table throughput = {"throughput",
                                        {{"flows", "", "flows"},
                                         {"throughput", "", "all"},
                                         {"throughput", "min", "slowest"},
                                         {"throughput", "max", "fastest"}},
                                        1};
static const struct table slowdown = {"slowdown",
                                      {{"slowdown", "flows", "flows"},
                                       {"slowdown", "mean", "mean"},
                                       {"slowdown", "p50", "median"},
                                       {"slowdown", "p99", "p99"},
                                       {"slowdown", "max", "largest"}},
                                      3};

/* Figures of the whole network: their names in a column, and as headings of columns. */
static const struct {
    const char *metric, *label, *heading;
} rows[] = {
    {"throughput", "throughput, all flows", "throughput"},
    {"measure_start", "  measured from", "from"},
    {"measure_end", "  measured until", "until"},
    {"delivered", "data delivered", "delivered"},
    {"drained", "  of it while draining", "drained"},
    {"flows.summarised", "flows summarised (+-0.1 %)", "summarised"},
    {"starved", "flows that starve", "starving"},
    {"slowdown.ns3.mean", "slowdown of fct.txt, mean", "slowdown"},
    {"slowdown.ns3.p99", "  99th percentile", "its p99"},
    {"jain", "fairness (Jain's index)", "Jain"},
    {"utilisation.max", "busiest link", "busiest"},
    {"queue.peak", "longest queue", "queue"},
    {"buffer.peak", "fullest buffer", "buffer"},
    {"headroom.peak", "most own headroom used", "headroom"},
    {"insurance.peak", "most insurance used", "insurance"},
    {"pauses", "pauses (XOFF)", "pauses"},
    {"pauses.frames", "  pause frames", "frames"},
    {"pause_time", "  time, all ports", "paused"},
    {"pause_fraction.max", "most paused port", "most paused"},
    {"stops", "stops of pipelines", "stops"},
    {"stop_time", "  time, all switches", "stopped"},
    {"dcbx.ports", "ports that speak DCBX", "DCBX ports"},
    {"dcbx.taken", "  that took from the peer", "taken"},
    {"dcbx.differing", "  whose peer differs", "differing"},
    {"dcbx.unusable", "  that cannot apply it", "unusable"},
    {"dcbx.multiple", "  with several peers", "several"},
    {"dcbx.foreign", "  of another version", "foreign"},
    {"marks", "ECN marks", "ECN marks"},
    {"notices.sent", "congestion notifications", "notifications"},
    {"notices.received", "  at their source", "at source"},
    {"tags.sent", "tags sent", "tags sent"},
    {"tags.received", "  that came back", "tags back"},
    {"feedback.rate", "messages to sources /s", "messages /s"},
    {"retransmissions", "retransmissions", "sent again"},
    {"drops", "frames lost", "lost"},
    {"drops.lossless", "  of lossless classes", "lossless"},
    {"deadlocks", "deadlocks", "deadlocks"},
};

static const char *const buckets[] = {"le10KB", "le100KB", "le1MB", "le10MB", "gt10MB"};
const char *const cli_bucket_labels[COMPARE_BUCKETS] = {"to 10 KB", "to 100 KB", "to 1 MB",
                                                        "to 10 MB", "over 10 MB"};

static const struct metric *find(const struct cli_run *run, const struct figure *figure,
                                 const char *entry)
{
    char name[160];
    snprintf(name, sizeof name, "%s.%s%s%s", figure->family, entry, *figure->figure ? "." : "",
             figure->figure);
    return summary_find(run->summary, name);
}

/* Whether the run ended by itself: what had not finished then never will. */
static bool has_waited(const struct results *r)
{
    return !r->interrupted && (r->end_at > r->stop_at || r->is_at_rest);
}

/* How many of `n` that are counted did not come to an end. */
static double count_short(const struct cli_run *run, const struct table *table, const char *entry,
                          double n)
{
    static const struct figure done = {"flows", "finished", NULL};
    static const struct figure left = {"operations", "unfinished", NULL};
    static const struct figure cut = {"slowdown", "unfinished", NULL};
    const struct metric *m = NULL;
    if (table == &completion && (m = find(run, &done, entry)))
        return n - m->value;
    if (table == &slowdown && (m = find(run, &cut, entry)))
        return m->value;
    if (table == &operation && has_waited(run->results) && (m = find(run, &left, entry)))
        return m->value;
    return 0;
}

/* Prints the label of a line and behind it how many there are; if some did not come to an end also
 * how many did, in red. The two share their columns. */
static void print_count(FILE *out, const struct cli_run *run, const struct table *table,
                        const char *entry, const char *label, int indent)
{
    const struct cli_style *s = cli_style(out);
    const struct metric *all = find(run, &table->figures[0], entry);
    const double n = all ? all->value : 0, n_short = count_short(run, table, entry, n);
    const double n_all = table == &operation || table == &slowdown ? n + n_short : n;
    const int room = NAME_COLUMNS + 2 + COUNT_COLUMNS - indent - (int)strlen(label);
    char text[48] = "-";
    if (n_short > 0)
        snprintf(text, sizeof text, "%.0f of %.0f", n_all - n_short, n_all);
    else if (all)
        snprintf(text, sizeof text, "%.0f", n);
    const int length = (int)strlen(text) + 1;
    fprintf(out, "%*s%s%s%*s%s", indent, "", label, n_short > 0 ? s->red : "",
            room > length ? room : length, text, n_short > 0 ? s->off : "");
}

/* Prints by how much a figure differs from that of the first run. */
static void print_change(FILE *out, const struct metric *first, const struct metric *m)
{
    if (!first || !m || first->value <= 0)
        return;
    const double times = m->value / first->value;
    char text[32];
    if (times >= 10)
        snprintf(text, sizeof text, "x %.0f", times);
    else
        snprintf(text, sizeof text, "%+.0f %%", 100 * (times - 1));
    fprintf(out, " %9s", text);
}

/* "27.64 Gb/s" is longer than "64.51 us". */
static int figure_columns(const struct table *table)
{
    return table == &throughput ? 10 : 9;
}

static bool is_unfinished(const struct cli_run *run, const char *entry)
{
    static const struct figure cut = {"flows", "unfinished", NULL};
    const struct metric *unfinished = find(run, &cut, entry);
    return unfinished && unfinished->value > 0;
}

static void print_line(FILE *out, const struct cli_run *runs, uint32_t i, const struct table *table,
                       const char *entry, const char *label, int indent)
{
    /* fct.max counts flows that did not finish: it belongs to the line of ages. */
    const bool is_cut = table == &completion && is_unfinished(&runs[i], entry);
    print_count(out, &runs[i], table, entry, label, indent);
    for (uint32_t f = 1; f < MAX_FIGURES && table->figures[f].family; f++) {
        const struct metric *m = find(&runs[i], &table->figures[f], entry);
        char text[32] = "-";
        if (m && !(is_cut && !strcmp(table->figures[f].figure, "max")))
            cli_figure(text, sizeof text, m->value, m->unit);
        fprintf(out, " %*s", figure_columns(table), text);
    }
    const struct figure *judged = &table->figures[table->judged];
    if (i)
        print_change(out, find(&runs[0], judged, entry), find(&runs[i], judged, entry));
    fputc('\n', out);
}

static void print_headings(FILE *out, const struct table *table, bool has_change)
{
    const struct cli_style *s = cli_style(out);
    fprintf(out, "\n  %s%-*s%s %8s", s->bold, NAME_COLUMNS, table->title, s->off,
            table->figures[0].heading);
    for (uint32_t f = 1; f < MAX_FIGURES && table->figures[f].family; f++)
        fprintf(out, " %*s", figure_columns(table), table->figures[f].heading);
    if (has_change) {
        char text[32];
        snprintf(text, sizeof text, "%s diff", table->figures[table->judged].heading);
        fprintf(out, " %9s", text);
    }
    fputc('\n', out);
}

/* Prints a line of the table, and where flows did not finish another in which they count, too. */
static void print_lines(FILE *out, const struct cli_run *runs, uint32_t i,
                        const struct table *table, const char *entry, const char *label, int indent)
{
    print_line(out, runs, i, table, entry, label, indent);
    if (table == &completion && is_unfinished(&runs[i], entry))
        print_line(out, runs, i, &ages, entry, "all, by age", indent + 2);
}

/* Prints an entry: one line, or its name and a line per run. */
static void print_entry(FILE *out, const struct cli_run *runs, uint32_t n_runs,
                        const struct table *table, const char *entry, const char *label)
{
    if (n_runs == 1) {
        print_lines(out, runs, 0, table, entry, label, 2);
        return;
    }
    fprintf(out, "  %s\n", label);
    for (uint32_t i = 0; i < n_runs; i++)
        print_lines(out, runs, i, table, entry, runs[i].results->variant, 4);
}

static bool has_any(const struct cli_run *runs, uint32_t n_runs, const struct figure *figure,
                    const char *entry)
{
    for (uint32_t i = 0; i < n_runs; i++) {
        const struct metric *m = find(&runs[i], figure, entry);
        if (m && m->value > 0)
            return true;
    }
    return false;
}

/* The table for an entry, by what it is: operations, flows that end, or streams. */
static const struct table *table_of(const struct cli_run *runs, uint32_t n_runs, const char *entry)
{
    static const struct figure longest = {"fct", "max", NULL};
    static const struct figure left = {"operations", "unfinished", NULL};
    if (has_any(runs, n_runs, &operation.figures[0], entry) || has_any(runs, n_runs, &left, entry))
        return &operation;
    return has_any(runs, n_runs, &longest, entry) ? &completion : &throughput;
}

/* Copies the name of the entry that a metric "flows.ENTRY.finished" is of; false: it is another. */
static bool entry_of(const struct metric *m, char entry[64])
{
    static const char before[] = "flows.", after[] = ".finished";
    const size_t length = strlen(m->name), around = sizeof before - 1 + sizeof after - 1;
    if (length <= around || strncmp(m->name, before, sizeof before - 1) ||
        strcmp(m->name + length - (sizeof after - 1), after))
        return false;
    snprintf(entry, 64, "%.*s", (int)(length - around), m->name + sizeof before - 1);
    return true;
}

static void print_entries(FILE *out, const struct cli_run *runs, uint32_t n_runs,
                          const struct table *table)
{
    bool is_first = true;
    char entry[64];
    for (uint32_t i = 0; i < runs[0].summary->n_metrics; i++) {
        if (!entry_of(&runs[0].summary->metrics[i], entry) ||
            table_of(runs, n_runs, entry) != table)
            continue;
        if (is_first)
            print_headings(out, table, n_runs > 1);
        is_first = false;
        print_entry(out, runs, n_runs, table, entry, entry);
    }
}

static void print_sizes(FILE *out, const struct cli_run *runs, uint32_t n_runs)
{
    bool is_first = true;
    for (uint32_t b = 0; b < sizeof buckets / sizeof *buckets; b++) {
        if (!has_any(runs, n_runs, &slowdown.figures[0], buckets[b]))
            continue;
        if (is_first)
            print_headings(out, &slowdown, n_runs > 1);
        is_first = false;
        print_entry(out, runs, n_runs, &slowdown, buckets[b], cli_bucket_labels[b]);
    }
}

static bool is_dull(const char *metric, const struct cli_run *runs, uint32_t n_runs)
{
    static const char *const only_if_any[] = {
        "measure_start",      "drained",         "pauses.frames",
        "pause_fraction.max", "starved",         "stops",
        "stop_time",          "marks",           "notices.sent",
        "notices.received",   "tags.sent",       "tags.received",
        "feedback.rate",      "retransmissions", "deadlocks",
        "dcbx.taken",         "dcbx.differing",  "dcbx.unusable",
        "dcbx.multiple",      "dcbx.foreign"};
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

/* Prints a metric of a run, in red where it is a trouble. */
static void print_cell(FILE *out, const struct cli_run *run, const char *metric, int columns)
{
    static const char *const troubles[] = {"drops.lossless", "deadlocks",     "starved",
                                           "dcbx.differing", "dcbx.unusable", "dcbx.multiple",
                                           "dcbx.foreign"};
    const struct cli_style *s = cli_style(out);
    const struct metric *m = summary_find(run->summary, metric);
    char text[32] = "-";
    bool is_bad = false;
    if (m)
        cli_figure(text, sizeof text, m->value, m->unit);
    for (uint32_t k = 0; k < sizeof troubles / sizeof *troubles; k++)
        is_bad |= m && m->value > 0 && !strcmp(metric, troubles[k]);
    fprintf(out, " %s%*s%s", is_bad ? s->red : "", columns, text, is_bad ? s->off : "");
}

/* Whether what the metrics mean fits behind the figures of a single run: of all rows, or of none.
 */
static bool has_meanings(FILE *out, const struct cli_run *run)
{
    size_t longest = 0;
    for (uint32_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        const struct metric *m = summary_find(run->summary, rows[r].metric);
        if (m && strlen(m->meaning) > longest)
            longest = strlen(m->meaning);
    }
    return LABEL_COLUMNS + CELL_COLUMNS + 3 + longest <= cli_columns(out);
}

/* Prints a metric of all runs side by side. */
static void print_row(FILE *out, const struct cli_run *runs, uint32_t n_runs, const char *metric,
                      const char *label)
{
    const struct cli_style *s = cli_style(out);
    if (is_dull(metric, runs, n_runs))
        return;
    fprintf(out, "  %-*s", LABEL_COLUMNS - 2, label);
    for (uint32_t i = 0; i < n_runs; i++)
        print_cell(out, &runs[i], metric, CELL_COLUMNS - 1);
    const struct metric *m = summary_find(runs[0].summary, metric);
    if (n_runs == 1 && m && has_meanings(out, runs))
        fprintf(out, "   %s%s%s", s->dim, m->meaning, s->off);
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

/* Prints the figures of the whole network with a column for each run. */
static void print_beside(FILE *out, const struct cli_run *runs, uint32_t n_runs)
{
    const struct cli_style *s = cli_style(out);
    fprintf(out, "\n  %s%-*s%s", s->bold, LABEL_COLUMNS - 2, "network", s->off);
    for (uint32_t i = 0; n_runs > 1 && i < n_runs; i++)
        fprintf(out, " %*.*s", CELL_COLUMNS - 1, CELL_COLUMNS - 1, runs[i].results->variant);
    fputc('\n', out);
    for (uint32_t r = 0; r < sizeof rows / sizeof *rows; r++)
        print_row(out, runs, n_runs, rows[r].metric, rows[r].label);
    print_curves(out, runs, n_runs);
}

static int heading_columns(const char *heading)
{
    const int n = (int)strlen(heading);
    return n > 9 ? n + 1 : 10;
}

/* Prints metrics [from, to) with a row for each run. */
static void print_turned(FILE *out, const struct cli_run *runs, uint32_t n_runs, uint32_t from,
                         uint32_t to)
{
    const struct cli_style *s = cli_style(out);
    fprintf(out, "\n  %s%-*s%s", s->bold, NAME_COLUMNS, from ? "" : "network", s->off);
    for (uint32_t r = from; r < to; r++)
        if (!is_dull(rows[r].metric, runs, n_runs))
            fprintf(out, " %*s", heading_columns(rows[r].heading), rows[r].heading);
    fputc('\n', out);
    for (uint32_t i = 0; i < n_runs; i++) {
        fprintf(out, "  %-*s", NAME_COLUMNS, runs[i].results->variant);
        for (uint32_t r = from; r < to; r++)
            if (!is_dull(rows[r].metric, runs, n_runs))
                print_cell(out, &runs[i], rows[r].metric, heading_columns(rows[r].heading));
        fputc('\n', out);
    }
}

/* Prints the same with a row for each run, in as many tables as the width demands. */
static void print_below(FILE *out, const struct cli_run *runs, uint32_t n_runs)
{
    const int width = (int)cli_columns(out) - NAME_COLUMNS - 2;
    uint32_t from = 0;
    int used = 0;
    for (uint32_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        if (is_dull(rows[r].metric, runs, n_runs))
            continue;
        const int columns = 1 + heading_columns(rows[r].heading);
        if (used && used + columns > width) {
            print_turned(out, runs, n_runs, from, r);
            from = r;
            used = 0;
        }
        used += columns;
    }
    print_turned(out, runs, n_runs, from, sizeof rows / sizeof *rows);
}

void cli_print_summary(FILE *out, const struct cli_run *runs, uint32_t n_runs)
{
    print_entries(out, runs, n_runs, &operation);
    print_entries(out, runs, n_runs, &completion);
    print_entries(out, runs, n_runs, &throughput);
    if (n_runs <= MAX_SIZED)
        print_sizes(out, runs, n_runs);
    if (LABEL_COLUMNS + n_runs * CELL_COLUMNS <= cli_columns(out))
        print_beside(out, runs, n_runs);
    else
        print_below(out, runs, n_runs);
}
