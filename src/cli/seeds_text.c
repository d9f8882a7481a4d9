/* Prints what a scenario came to with several seeds: for each figure and variant its mean, the
 * confidence interval of the mean, and the spread (run_seeds.h). */
#include <math.h>
#include <string.h>

#include "cli/run_seeds.h"

enum { NAME_COLUMNS = 25, CELL_COLUMNS = 10 };

/* Figures of an entry of the traffic: FAMILY.ENTRY.FIGURE, or FAMILY.ENTRY. An entry has those of
 * the first family of which it has any, and what follows. */
static const struct {
    const char *family, *figure;
    bool is_always;
} of_entry[] = {
    {"operations", ".mean", false}, {"operations", ".p99", false}, {"fct", ".mean", false},
    {"fct", ".p99", false},         {"throughput", "", false},     {"flows", ".unfinished", true},
};

/* Figures of the network; one that is 0 with all seeds and variants is left out. */
static const char *const of_network[] = {
    "throughput",    "jain",           "utilisation.max", "queue.peak", "buffer.peak",
    "headroom.peak", "pauses",         "marks",           "pause_time", "retransmissions",
    "drops",         "drops.lossless", "deadlocks",       "starved"};

static const struct seed_metric *find(const struct cli_run *run, const char *name)
{
    return seeds_find(run->results->seeds, name);
}

static void print_cell(FILE *out, double value, const char *unit)
{
    char text[32] = "-";
    if (!isnan(value) && (value == 0 || *unit || value != floor(value)))
        cli_figure(text, sizeof text, value, value == 0 || *unit ? unit : "ratio");
    else if (!isnan(value))
        snprintf(text, sizeof text, "%.0f", value);
    fprintf(out, " %*s", CELL_COLUMNS, text);
}

static void print_line(FILE *out, const struct seed_metric *m)
{
    /* A mean of counts, or of frames, is no whole number: it is shown with its fraction. */
    const char *unit = !strcmp(m->unit, "frames") ? "" : m->unit;
    print_cell(out, m->over.mean, unit);
    print_cell(out, m->over.ci95, unit);
    print_cell(out, m->over.stddev, unit);
    print_cell(out, m->over.min, unit);
    print_cell(out, m->over.max, unit);
    fputc('\n', out);
}

/* Returns false, with nothing printed, where the metric is 0 everywhere. */
static bool print_metric(FILE *out, const struct cli_run *runs, uint32_t n_runs, const char *name)
{
    bool is_any = false;
    for (uint32_t i = 0; i < n_runs; i++) {
        const struct seed_metric *m = find(&runs[i], name);
        is_any |= m && (m->over.min != 0 || m->over.max != 0);
    }
    if (!is_any)
        return false;
    if (n_runs > 1)
        fprintf(out, "  %s\n", name);
    for (uint32_t i = 0; i < n_runs; i++) {
        const struct seed_metric *m = find(&runs[i], name);
        if (n_runs > 1)
            fprintf(out, "    %-*s", NAME_COLUMNS - 4, runs[i].results->variant);
        else
            fprintf(out, "  %-*s", NAME_COLUMNS - 2, name);
        if (m)
            print_line(out, m);
        else
            fprintf(out, " %*s\n", CELL_COLUMNS, "-");
    }
    return true;
}

static void print_entry(FILE *out, const struct cli_run *runs, uint32_t n_runs, const char *entry)
{
    const char *family = NULL;
    for (size_t f = 0; f < sizeof of_entry / sizeof *of_entry; f++) {
        char name[160];
        snprintf(name, sizeof name, "%s.%s%s", of_entry[f].family, entry, of_entry[f].figure);
        if (!family || of_entry[f].is_always || !strcmp(of_entry[f].family, family))
            family = print_metric(out, runs, n_runs, name) ? of_entry[f].family : family;
    }
}

void seeds_print(FILE *out, const struct cli_run *runs, uint32_t n_runs)
{
    static const char *const headings[] = {"mean", "+-", "stddev", "smallest", "largest"};
    const struct cli_style *s = cli_style(out);
    char title[64];
    snprintf(title, sizeof title, "over %u seeds", runs[0].results->seeds->n);
    fprintf(out, "\n  %s%-*s%s", s->bold, NAME_COLUMNS - 2, title, s->off);
    for (size_t i = 0; i < sizeof headings / sizeof *headings; i++)
        fprintf(out, " %*s", CELL_COLUMNS, headings[i]);
    fputc('\n', out);
    const struct result_seeds *seeds = runs[0].results->seeds;
    for (uint32_t i = 0; i < seeds->n_metrics; i++) {
        char entry[64];
        int end = 0;
        if (sscanf(seeds->metrics[i].name, "flows.%63[^.].finished%n", entry, &end) == 1 && end)
            print_entry(out, runs, n_runs, entry);
    }
    for (size_t i = 0; i < sizeof of_network / sizeof *of_network; i++)
        print_metric(out, runs, n_runs, of_network[i]);
    fprintf(out,
            "\n  %s+-: the true mean is within this of the mean shown, with 95 %% confidence%s\n",
            s->dim, s->off);
}
