/* Which parameters of a grid change anything (sweep.h).
 *
 * Runs are compared by their digests, which are over all that was simulated. In a grid each run has
 * others that differ from it in one parameter alone; in a Latin hypercube none has.
 */
#include "sweep/sweep.h"

/* Whether one of two runs failed, or both were done and differ. */
static bool differs(const struct run *a, const struct run *b)
{
    if (a->state != RUN_DONE || b->state != RUN_DONE)
        return a->state != b->state;
    return a->summary->digest != b->summary->digest;
}

enum sweep_effect sweep_effect(const struct sweep *s, uint32_t axis)
{
    const struct sweep_file *f = s->file;
    enum sweep_effect effect = EFFECT_UNKNOWN;
    uint32_t stride = s->n_variants; /* of cells, to the next value */
    if (f->params.latin)
        return effect;
    for (uint32_t a = f->n_axes; --a > axis;)
        stride *= f->axes[a].n_values;
    for (uint32_t i = 0; i < s->n_cells; i++) {
        const uint32_t value = i / stride % f->axes[axis].n_values;
        const struct sweep_cell *cell = &s->cells[i], *first = cell - value * stride;
        for (uint32_t k = 0; value && k < cell->n_runs && k < first->n_runs; k++) {
            if (differs(&cell->runs[k], &first->runs[k]))
                return EFFECT_SOME;
            if (cell->runs[k].state == RUN_DONE)
                effect = EFFECT_NONE;
        }
    }
    return effect;
}
