/* Prints a sweep (sweep_text.h): the point first, then a small table. */
#include "cli/sweep_text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_ROWS = 24, MAX_NAMED = 12, GAP = 2 };

/* A mean of counts is no whole number: a small one is shown with its fraction. */
static char *figure(char *buf, size_t size, double value, const char *unit)
{
    const bool is_count = !*unit || !strcmp(unit, "frames");
    if (isnan(value))
        snprintf(buf, size, "-");
    else
        cli_figure(buf, size, value,
                   is_count && value < 1000 && value != floor(value) ? "ratio" : unit);
    return buf;
}

/* "612.3 us +- 12 us" */
static char *estimate(char *buf, size_t size, const struct seed_metric *m)
{
    char mean[32], half[32];
    figure(mean, sizeof mean, m->over.mean, m->unit);
    if (isnan(m->over.ci95))
        snprintf(buf, size, "%s", mean);
    else
        snprintf(buf, size, "%s +- %s", mean, figure(half, sizeof half, m->over.ci95, m->unit));
    return buf;
}

static void print_place(const struct sweep *s, const struct sweep_cell *cell, FILE *out)
{
    const struct sweep_file *f = s->file;
    for (uint32_t a = 0; a < f->n_axes; a++)
        fprintf(out, "%s%s=%s", a ? " " : "", f->axes[a].key,
                s->values[cell->point * f->n_axes + a].text);
    if (*s->variants[cell->variant])
        fprintf(out, " %s", s->variants[cell->variant]);
}

/* The verdicts that `xoff run` would come to. A sweep often looks for the points that fail, so this
 * is told and no more. */
static void print_verdicts(const struct sweep *s, FILE *out)
{
    const struct cli_style *style = cli_style(out);
    uint32_t n_done = 0;
    for (uint32_t i = 0; i < s->n_cells; i++)
        n_done += s->cells[i].n_done;
    if (!s->n_unexpected)
        return;
    fprintf(out, "  %s%u of %u runs failed an expectation or the audit%s\n", style->red,
            s->n_unexpected, n_done, style->off);
    for (uint32_t i = 0; i < s->n_reasons && i < MAX_NAMED; i++) {
        const struct sweep_reason *reason = &s->reasons[i];
        fprintf(out, "    %s: %u run%s, first seed %llu of ", reason->what, reason->n_runs,
                reason->n_runs == 1 ? "" : "s",
                (unsigned long long)reason->cell->runs[reason->seed].seed);
        print_place(s, reason->cell, out);
        fprintf(out, "\n      %s\n", reason->why);
    }
    if (s->n_reasons > MAX_NAMED)
        fprintf(out, "    and %u more\n", s->n_reasons - MAX_NAMED);
    fputc('\n', out);
}

static void print_extreme(const struct sweep *s, const char *name, bool is_worst, FILE *out)
{
    const struct sweep_cell *cell = sweep_best(s, name, is_worst);
    char text[80];
    fprintf(out, "    %-5s  %-24s  ", is_worst ? "worst" : "best",
            estimate(text, sizeof text, seeds_find(cell->spread, name)));
    print_place(s, cell, out);
    uint32_t n_same = 0;
    for (uint32_t i = 0; i < s->n_cells; i++)
        n_same += sweep_mean(s, &s->cells[i], name) == sweep_mean(s, cell, name);
    if (n_same > 1)
        fprintf(out, ", and %u more", n_same - 1);
    fputc('\n', out);
}

/* Whether all cells have the same mean: then none is best. */
static bool is_equal(const struct sweep *s, const char *name)
{
    return sweep_mean(s, sweep_best(s, name, false), name) ==
           sweep_mean(s, sweep_best(s, name, true), name);
}

static void print_extremes(const struct sweep *s, const struct sweep_column *shown, uint32_t n,
                           FILE *out)
{
    const struct cli_style *style = cli_style(out);
    char text[80];
    for (uint32_t i = 0; i < n; i++) {
        const char *name = shown[i].name;
        const uint32_t n_without = sweep_count_without(s, name);
        fprintf(out, "  %s%s%s", style->bold, name, style->off);
        if (is_equal(s, name)) {
            const struct sweep_cell *cell = sweep_best(s, name, false);
            fprintf(out, "  %s",
                    figure(text, sizeof text, sweep_mean(s, cell, name), shown[i].unit));
            if (n_without)
                fprintf(out, " at %u of %u, none at %u\n", s->n_cells - n_without, s->n_cells,
                        n_without);
            else
                fputs(" everywhere\n", out);
            continue;
        }
        fputc('\n', out);
        print_extreme(s, name, false, out);
        print_extreme(s, name, true, out);
        if (n_without)
            fprintf(out, "    none   at %u of %u\n", n_without, s->n_cells);
    }
}

/* A parameter that changes nothing was probably meant to: another key may stand in its way. */
static void print_idle(const struct sweep *s, FILE *out)
{
    for (uint32_t a = 0; a < s->file->n_axes; a++)
        if (sweep_effect(s, a) == EFFECT_NONE)
            fprintf(out,
                    "\n  %s makes no difference: every run is the same with each of its values\n",
                    s->file->axes[a].key);
}

/* One table cell: a parameter, the variant, or a metric. */
static char *table_text(const struct sweep *s, const struct sweep_column *shown, uint32_t column,
                        const struct sweep_cell *cell, char *buf, size_t size)
{
    const struct sweep_file *f = s->file;
    if (column < f->n_axes) {
        const char *dot = strrchr(f->axes[column].key, '.');
        snprintf(buf, size, "%s",
                 cell  ? s->values[cell->point * f->n_axes + column].text
                 : dot ? dot + 1
                       : f->axes[column].key);
    } else if (column == f->n_axes) {
        snprintf(buf, size, "%s", cell ? s->variants[cell->variant] : "variant");
    } else {
        const struct sweep_column *metric = &shown[column - f->n_axes - 1];
        const struct seed_metric *m =
            cell && cell->spread ? seeds_find(cell->spread, metric->name) : NULL;
        if (!cell)
            snprintf(buf, size, "%s", metric->name);
        else if (m)
            estimate(buf, size, m);
        else
            snprintf(buf, size, "-");
    }
    return buf;
}

static void print_table(const struct sweep *s, const struct sweep_column *shown, uint32_t n_shown,
                        FILE *out)
{
    const uint32_t n_columns = s->file->n_axes + 1 + n_shown, n_rows = s->n_cells;
    const bool has_variants = *s->variants[0];
    char text[256];
    int *widths = calloc(n_columns, sizeof *widths);
    XOFF_ASSERT(widths);
    for (uint32_t c = 0; c < n_columns; c++)
        for (uint32_t i = 0; i <= n_rows; i++) {
            const int n = (int)strlen(
                table_text(s, shown, c, i ? &s->cells[i - 1] : NULL, text, sizeof text));
            widths[c] = n > widths[c] ? n : widths[c];
        }
    fputc('\n', out);
    uint32_t n_fitting = 0;
    for (int room = (int)cli_columns(out); n_fitting < n_columns; n_fitting++) {
        room -= GAP + widths[n_fitting];
        if (room < 0 && n_fitting > s->file->n_axes + 1)
            break;
    }
    for (uint32_t i = 0; i <= n_rows; i++) {
        for (uint32_t c = 0; c < n_fitting; c++)
            if (c != s->file->n_axes || has_variants)
                fprintf(out, "%*s%*s", GAP, "", widths[c],
                        table_text(s, shown, c, i ? &s->cells[i - 1] : NULL, text, sizeof text));
        fputc('\n', out);
    }
    if (n_fitting < n_columns)
        fprintf(out, "  %s%u more in a wider terminal, in sweep.csv and on the page%s\n",
                cli_style(out)->dim, n_columns - n_fitting, cli_style(out)->off);
    free(widths);
}

/* Whether a cell has a figure of every goal of the front. */
static bool has_goals(const struct sweep *s, const struct sweep_cell *cell)
{
    const struct sweep_names *least = &s->file->least, *most = &s->file->most;
    for (uint32_t i = 0; i < least->n; i++)
        if (isnan(sweep_mean(s, cell, least->list[i].text)))
            return false;
    for (uint32_t i = 0; i < most->n; i++)
        if (isnan(sweep_mean(s, cell, most->list[i].text)))
            return false;
    return true;
}

static void print_front(const struct sweep *s, FILE *out)
{
    const struct sweep_file *f = s->file;
    uint32_t n = 0, n_without = 0;
    for (uint32_t i = 0; i < s->n_cells; i++) {
        n += s->cells[i].is_on_front;
        n_without += !has_goals(s, &s->cells[i]);
    }
    if (!f->least.n && !f->most.n)
        return;
    fprintf(out, "\n  Pareto front, ");
    for (uint32_t i = 0; i < f->least.n; i++)
        fprintf(out, "%s%s", i ? ", " : "least ", f->least.list[i].text);
    for (uint32_t i = 0; i < f->most.n; i++)
        fprintf(out, "%s%s", i ? ", " : f->least.n ? ", most " : "most ", f->most.list[i].text);
    fprintf(out, ": %u of %u", n, s->n_cells);
    if (n_without)
        fprintf(out, "; %u have not all of these figures", n_without);
    fputc('\n', out);
    for (uint32_t i = 0, k = 0; i < s->n_cells && k < MAX_NAMED; i++) {
        if (!s->cells[i].is_on_front)
            continue;
        fputs("    ", out);
        print_place(s, &s->cells[i], out);
        fputc('\n', out);
        k++;
    }
    if (n > MAX_NAMED)
        fprintf(out, "    and %u more\n", n - MAX_NAMED);
}

static void print_until(const struct sweep *s, FILE *out)
{
    const struct sweep_options *o = s->options;
    uint32_t n_tight = 0, n_named = 0;
    if (!*o->until.metric)
        return;
    for (uint32_t i = 0; i < s->n_cells; i++)
        n_tight += s->cells[i].is_tight;
    fprintf(out, "\n  %s is as tight as asked at %u of %u\n", o->until.metric, n_tight, s->n_cells);
    for (uint32_t i = 0; i < s->n_cells && n_named < MAX_NAMED; i++) {
        const struct sweep_cell *cell = &s->cells[i];
        const struct seed_metric *m =
            cell->spread ? seeds_find(cell->spread, o->until.metric) : NULL;
        char text[80];
        if (cell->is_tight)
            continue;
        if (m)
            fprintf(out, "    not after %u seeds: %s  ", cell->n_runs,
                    estimate(text, sizeof text, m));
        else
            fprintf(out, "    no run of %u has it  ", cell->n_runs);
        print_place(s, cell, out);
        fputc('\n', out);
        n_named++;
    }
    if (s->n_cells - n_tight > n_named)
        fprintf(out, "    and %u more\n", s->n_cells - n_tight - n_named);
}

/* Whether any figure has an interval: with one seed none has. */
static bool has_interval(const struct sweep *s, const struct sweep_column *shown, uint32_t n_shown)
{
    for (uint32_t i = 0; i < s->n_cells; i++)
        for (uint32_t k = 0; k < n_shown && s->cells[i].spread; k++) {
            const struct seed_metric *m = seeds_find(s->cells[i].spread, shown[k].name);
            if (m && !isnan(m->over.ci95))
                return true;
        }
    return false;
}

void sweep_print(const struct sweep *s, FILE *out)
{
    const struct cli_style *style = cli_style(out);
    uint32_t n_shown;
    struct sweep_column *shown = sweep_shown(s, &n_shown);
    fprintf(out, "%s%s%s\n%u point%s", style->bold, s->file->params.title, style->off, s->n_points,
            s->n_points == 1 ? "" : "s");
    if (s->n_variants > 1)
        fprintf(out, ", %u variants", s->n_variants);
    fprintf(out, ", %u runs", s->n_runs);
    if (s->n_failed)
        fprintf(out, ", %s%u failed%s", style->red, s->n_failed, style->off);
    fputs("\n\n", out);
    print_verdicts(s, out);
    print_extremes(s, shown, n_shown, out);
    print_idle(s, out);
    if (s->n_cells <= MAX_ROWS)
        print_table(s, shown, n_shown, out);
    else
        fprintf(out, "\n  no table of more than %d rows here: sweep.csv and the page have all %u\n",
                MAX_ROWS, s->n_cells);
    print_front(s, out);
    print_until(s, out);
    fputc('\n', out);
    if (has_interval(s, shown, n_shown))
        fprintf(out,
                "  %s+-: the true mean is within this of the mean shown, with 95 %% confidence%s\n",
                style->dim, style->off);
    free(shown);
}
