/* metrics.csv: the figures of all runs in tidy form, one row per run and metric. Every row says
 * which run it is of: scenario, variant, seed, and a column for each key that differs between the
 * runs. */
#include <math.h>

#include "stats/output.h"
#include "stats/spread.h"

/* Writes what the rows of a run begin with. */
static void put_run(FILE *out, const struct results *r, uint64_t seed)
{
    csv_put_text(out, output_text(r->scenario_file));
    fputc(',', out);
    csv_put_text(out, output_text(r->variant));
    fprintf(out, ",%llu,", (unsigned long long)seed);
    for (uint32_t i = 0; i < r->n_keys; i++) {
        csv_put_text(out, r->keys[i].value);
        fputc(',', out);
    }
}

static void put_metric(FILE *out, const char *name, const char *unit, double value)
{
    fprintf(out, "%s,%s,%.17g\n", name, unit, value);
}

static void put_seeds(FILE *out, const struct results *r)
{
    for (uint32_t i = 0; i < r->seeds->n; i++)
        for (uint32_t k = 0; k < r->seeds->n_metrics; k++) {
            const struct seed_metric *m = &r->seeds->metrics[k];
            if (isnan(m->values[i]))
                continue;
            put_run(out, r, r->seeds->list[i]);
            put_metric(out, m->name, m->unit, m->values[i]);
        }
}

void metrics_csv_write(FILE *out, const struct results *const *runs,
                       const struct summary *const *summaries, uint32_t n_runs)
{
    fputs("scenario,variant,seed,", out);
    for (uint32_t i = 0; n_runs && i < runs[0]->n_keys; i++) {
        csv_put_text(out, runs[0]->keys[i].name);
        fputc(',', out);
    }
    fputs("metric,unit,value\n", out);
    for (uint32_t i = 0; i < n_runs; i++) {
        if (runs[i]->seeds)
            put_seeds(out, runs[i]);
        for (uint32_t k = 0; !runs[i]->seeds && k < summaries[i]->n_metrics; k++) {
            const struct metric *m = &summaries[i]->metrics[k];
            put_run(out, runs[i], runs[i]->seed);
            put_metric(out, m->name, m->unit, m->value);
        }
    }
}
