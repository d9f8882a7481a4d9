/* The Pareto front: what no other point is better than (sweep.h). */
#include <math.h>
#include <string.h>

#include "sweep/sweep.h"

/* Whether row a is at least as good in everything, and better in something. */
static bool dominates(const double *a, const double *b, uint32_t n)
{
    bool is_better = false;
    for (uint32_t i = 0; i < n; i++) {
        if (!(a[i] <= b[i]))
            return false;
        is_better |= a[i] < b[i];
    }
    return is_better;
}

void front_mark(const double *rows, uint32_t n_cells, uint32_t n_goals, bool *is_on_front)
{
    for (uint32_t i = 0; i < n_cells; i++) {
        const double *row = rows + (size_t)i * n_goals;
        is_on_front[i] = n_goals > 0;
        for (uint32_t k = 0; k < n_goals; k++)
            is_on_front[i] &= !isnan(row[k]);
        for (uint32_t k = 0; k < n_cells && is_on_front[i]; k++)
            is_on_front[i] = !dominates(rows + (size_t)k * n_goals, row, n_goals);
    }
}

bool sweep_is_more_better(const char *name)
{
    static const char *const more[] = {"throughput", "jain", "utilisation", "min_share",
                                       "delivered"};
    for (size_t i = 0; i < sizeof more / sizeof *more; i++)
        if (!strncmp(name, more[i], strlen(more[i])))
            return true;
    return strstr(name, ".finished") != NULL;
}

const struct sweep_cell *sweep_best(const struct sweep *sweep, const char *name, bool is_worst)
{
    const struct sweep_cell *best = NULL;
    const bool is_largest = sweep_is_more_better(name) != is_worst;
    double value = NAN;
    for (uint32_t i = 0; i < sweep->n_cells; i++) {
        const double mean = sweep_mean(sweep, &sweep->cells[i], name);
        if (isnan(mean) || (best && !(is_largest ? mean > value : mean < value)))
            continue;
        best = &sweep->cells[i];
        value = mean;
    }
    return best;
}
