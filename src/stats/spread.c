/* Spreads over seeds (spread.h).
 *
 *   mean    sum / n
 *   stddev  sqrt(sum (x - mean)^2 / (n - 1))
 *   ci95    t(n - 1) stddev / sqrt(n), t of Student's distribution, two-sided
 */
#include "stats/spread.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_NAMED = 8 }; /* seeds that a message names */

double spread_t95(uint32_t degrees)
{
    static const double few[] = {12.706204736, 4.302652730, 3.182446305, 2.776445105, 2.570581836,
                                 2.446911851,  2.364624252, 2.306004135, 2.262157163, 2.228138852};
    if (degrees <= sizeof few / sizeof *few)
        return few[degrees - 1];
    /* Cornish and Fisher's expansion around the normal distribution, exact to six digits here. */
    const double z = 1.959963984540054, v = degrees, z2 = z * z;
    const double g1 = z * (z2 + 1) / 4, g2 = z * ((5 * z2 + 16) * z2 + 3) / 96;
    const double g3 = z * (((3 * z2 + 19) * z2 + 17) * z2 - 15) / 384;
    const double g4 = z * ((((79 * z2 + 776) * z2 + 1482) * z2 - 1920) * z2 - 945) / 92160;
    return z + (g1 + (g2 + (g3 + g4 / v) / v) / v) / v;
}

struct spread spread_of(const double *values, uint32_t n)
{
    struct spread s = {.mean = values[0], .min = values[0], .max = values[0], .n = n};
    double sum = 0, squares = 0;
    for (uint32_t i = 0; i < n; i++) {
        sum += values[i];
        s.min = values[i] < s.min ? values[i] : s.min;
        s.max = values[i] > s.max ? values[i] : s.max;
    }
    /* The mean of equal values is that value: their sum could be rounded. */
    if (s.min < s.max)
        s.mean = sum / n;
    for (uint32_t i = 0; i < n; i++)
        squares += (values[i] - s.mean) * (values[i] - s.mean);
    s.stddev = n > 1 ? sqrt(squares / (n - 1)) : NAN;
    s.ci95 = n > 1 ? spread_t95(n - 1) * s.stddev / sqrt(n) : NAN;
    return s;
}

static void *take(void *memory)
{
    XOFF_ASSERT(memory);
    return memory;
}

/* Runs of one variant mostly have the same metrics in the same order: that place is looked at
 * first. */
static const struct metric *find_near(const struct summary *s, const char *name, uint32_t near)
{
    if (near < s->n_metrics && !strcmp(s->metrics[near].name, name))
        return &s->metrics[near];
    return summary_find(s, name);
}

static void add_metric(struct result_seeds *seeds, const struct summary *const *summaries,
                       const struct metric *metric, uint32_t near, double *there)
{
    struct seed_metric *m = &seeds->metrics[seeds->n_metrics++];
    uint32_t n = 0;
    snprintf(m->name, sizeof m->name, "%s", metric->name);
    snprintf(m->unit, sizeof m->unit, "%s", metric->unit);
    m->values = take(calloc(seeds->n, sizeof *m->values));
    for (uint32_t i = 0; i < seeds->n; i++) {
        const struct metric *found = find_near(summaries[i], metric->name, near);
        m->values[i] = found ? found->value : NAN;
        if (found)
            there[n++] = found->value;
    }
    m->over = spread_of(there, n);
}

struct result_seeds *seeds_create(const uint64_t *list, const struct summary *const *summaries,
                                  uint32_t n)
{
    struct result_seeds *seeds = take(calloc(1, sizeof *seeds));
    double *there = take(calloc(n, sizeof *there));
    uint32_t most = 0;
    seeds->n = n;
    seeds->list = take(calloc(n, sizeof *seeds->list));
    seeds->digests = take(calloc(n, sizeof *seeds->digests));
    for (uint32_t i = 0; i < n; i++) {
        seeds->list[i] = list[i];
        seeds->digests[i] = summaries[i]->digest;
        most += summaries[i]->n_metrics;
    }
    seeds->metrics = take(calloc(most + 1, sizeof *seeds->metrics));
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = 0; k < summaries[i]->n_metrics; k++) {
            const struct metric *m = &summaries[i]->metrics[k];
            const bool is_known =
                i && ((k < seeds->n_metrics && !strcmp(seeds->metrics[k].name, m->name)) ||
                      seeds_find(seeds, m->name));
            if (!is_known)
                add_metric(seeds, summaries, m, k, there);
        }
    free(there);
    return seeds;
}

void seeds_destroy(struct result_seeds *seeds)
{
    if (!seeds)
        return;
    for (uint32_t i = 0; i < seeds->n_metrics; i++)
        free(seeds->metrics[i].values);
    free(seeds->metrics);
    free(seeds->digests);
    free(seeds->list);
    free(seeds);
}

const struct seed_metric *seeds_find(const struct result_seeds *seeds, const char *name)
{
    for (uint32_t i = 0; i < seeds->n_metrics; i++)
        if (!strcmp(seeds->metrics[i].name, name))
            return &seeds->metrics[i];
    return NULL;
}

char *seeds_failed(const struct result_seeds *seeds, const struct seed_expect *expect, char *buf,
                   size_t size)
{
    uint32_t n = 0;
    size_t used = 0;
    *buf = '\0';
    for (uint32_t i = 0; i < seeds->n && used < size; i++) {
        if (expect->holds[i])
            continue;
        if (n++ == MAX_NAMED) {
            snprintf(buf + used, size - used, ", ...");
            break;
        }
        used += (size_t)snprintf(buf + used, size - used, "%s%llu", used ? ", " : "",
                                 (unsigned long long)seeds->list[i]);
    }
    return buf;
}
