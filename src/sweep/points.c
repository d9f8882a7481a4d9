/* The points of a sweep (sweep_file.h): all combinations, or a Latin hypercube.
 *
 * A Latin hypercube of N points cuts every parameter into N strata of equal share and uses each
 * stratum once: along every parameter the points are spread evenly, however many parameters there
 * are (McKay, Beckman, Conover 1979). Which strata meet, and where in its stratum a point lies, is
 * drawn from the seed. A list has its values in equal shares.
 */
#include <stdlib.h>

#include <xoff/rng.h>

#include "sweep/axes.h"

static void *take(void *memory)
{
    XOFF_ASSERT(memory);
    return memory;
}

/* The last axis changes fastest. */
static void fill_grid(const struct sweep_file *f, struct sweep_value *values, uint32_t n_points)
{
    for (uint32_t p = 0; p < n_points; p++) {
        uint32_t rest = p;
        for (uint32_t a = f->n_axes; a-- > 0; rest /= f->axes[a].n_values)
            values[p * f->n_axes + a] = f->axes[a].values[rest % f->axes[a].n_values];
    }
}

static struct sweep_value value_at(struct sweep_file *f, const struct sweep_axis *axis,
                                   double share)
{
    if (axis->n_values)
        return axis->values[(uint32_t)(share * axis->n_values)];
    struct sweep_value value = axis->from;
    value.number = axes_between(axis, share);
    value.text = axes_text(f, axis, value.number);
    return value;
}

static void fill_latin(struct sweep_file *f, struct sweep_value *values, uint32_t n_points)
{
    uint32_t *strata = take(calloc(n_points, sizeof *strata));
    for (uint32_t a = 0; a < f->n_axes; a++) {
        struct xoff_rng rng;
        xoff_rng_init(&rng, (uint64_t)f->params.latin_seed, a, 0);
        for (uint32_t p = 0; p < n_points; p++)
            strata[p] = p;
        for (uint32_t p = n_points; p-- > 1;) { /* Fisher and Yates's shuffle */
            const uint32_t other = (uint32_t)xoff_rng_below(&rng, p + 1), kept = strata[p];
            strata[p] = strata[other];
            strata[other] = kept;
        }
        for (uint32_t p = 0; p < n_points; p++)
            values[p * f->n_axes + a] =
                value_at(f, &f->axes[a], (strata[p] + xoff_rng_unit(&rng)) / n_points);
    }
    free(strata);
}

struct sweep_value *sweep_points(struct sweep_file *f, uint32_t *n_points)
{
    uint32_t n = f->params.latin ? (uint32_t)f->params.latin : 1;
    for (uint32_t a = 0; a < f->n_axes && !f->params.latin; a++)
        n *= f->axes[a].n_values; /* bounded when the file was read */
    struct sweep_value *values = take(calloc((size_t)n * f->n_axes + 1, sizeof *values));
    if (f->params.latin)
        fill_latin(f, values, n);
    else
        fill_grid(f, values, n);
    *n_points = n;
    return values;
}
