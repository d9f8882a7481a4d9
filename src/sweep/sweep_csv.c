/* sweep.csv: one row per run, with every parameter, the seed and every metric (sweep.h).
 *
 * Nothing of it depends on how the runs were done: a sweep that was killed and went on, or was done
 * in shares, leaves the same bytes.
 */
#include <math.h>
#include <string.h>

#include "stats/csv_text.h"
#include "sweep/sweep.h"

/* The column of an axis, and a second one in base units where it has a unit. */
static void put_axis_names(FILE *out, const struct sweep_axis *axis)
{
    fputc(',', out);
    csv_put_text(out, axis->key);
    if (!*amount_endings[axis->unit])
        return;
    fputc(',', out);
    csv_put_text(out, axis->key);
    fputs(amount_endings[axis->unit], out);
}

static void put_axis(FILE *out, const struct sweep_axis *axis, const struct sweep_value *value)
{
    fputc(',', out);
    csv_put_text(out, value->text);
    if (*amount_endings[axis->unit])
        fprintf(out, ",%.17g", value->number);
}

static void put_metrics(FILE *out, const struct sweep *s, const struct summary *summary)
{
    for (uint32_t i = 0; i < s->n_columns; i++) {
        const char *name = s->columns[i].name;
        const struct metric *m = NULL;
        if (summary) /* runs mostly have the same metrics in the same order */
            m = i < summary->n_metrics && !strcmp(summary->metrics[i].name, name)
                    ? &summary->metrics[i]
                    : summary_find(summary, name);
        fputc(',', out);
        if (m)
            fprintf(out, "%.17g", m->value);
    }
}

static void put_run(FILE *out, const struct sweep *s, const struct sweep_cell *cell, uint32_t seed)
{
    const uint32_t n_axes = s->file->n_axes;
    const struct run *run = &cell->runs[seed];
    const char *why, *verdict = sweep_verdict(cell, seed, &why);
    const bool is_done = run->state == RUN_DONE;
    fprintf(out, "%u", cell->point);
    for (uint32_t a = 0; a < n_axes; a++)
        put_axis(out, &s->file->axes[a], &s->values[cell->point * n_axes + a]);
    fputc(',', out);
    csv_put_text(out, run->variant);
    fprintf(out, ",%llu,%s,", (unsigned long long)run->seed, is_done ? "done" : "failed");
    if (is_done)
        fprintf(out, "%016llx", (unsigned long long)run->summary->digest);
    fprintf(out, ",%s,", verdict);
    csv_put_text(out, why);
    put_metrics(out, s, is_done ? run->summary : NULL);
    fputc('\n', out);
}

void sweep_write_csv(const struct sweep *s, FILE *out)
{
    fputs("point", out);
    for (uint32_t a = 0; a < s->file->n_axes; a++)
        put_axis_names(out, &s->file->axes[a]);
    fputs(",variant,seed,state,digest,verdict,why", out);
    for (uint32_t i = 0; i < s->n_columns; i++) {
        fputc(',', out);
        csv_put_text(out, s->columns[i].name);
    }
    fputc('\n', out);
    for (uint32_t i = 0; i < s->n_cells; i++)
        for (uint32_t k = 0; k < s->cells[i].n_runs; k++)
            put_run(out, s, &s->cells[i], k);
}
