/* Values counted in bins (sketch.h). */
#include "stats/sketch.h"

#include <stdlib.h>
#include <string.h>

/* The first octave has the values below SKETCH_BINS, the k-th those with k more bits. */
static uint32_t octave_of(uint64_t value)
{
    return value < SKETCH_BINS ? 0 : 64 - SKETCH_BITS - (uint32_t)__builtin_clzll(value);
}

static uint32_t bin_of(uint64_t value, uint32_t octave)
{
    return (uint32_t)(octave ? value >> (octave - 1) : value) & (SKETCH_BINS - 1);
}

void sketch_bin(uint32_t octave, uint32_t bin, uint64_t *low, uint64_t *high)
{
    const uint64_t width = octave ? UINT64_C(1) << (octave - 1) : 1;
    *low = ((octave ? SKETCH_BINS : 0) + (uint64_t)bin) * width;
    *high = *low + width;
}

static uint64_t middle_of(uint32_t octave, uint32_t bin)
{
    uint64_t low, high;
    sketch_bin(octave, bin, &low, &high);
    return low + (high - low) / 2;
}

uint64_t *sketch_octave(struct sketch *sketch, uint32_t octave)
{
    if (!sketch->octaves[octave])
        sketch->octaves[octave] = calloc(SKETCH_BINS, sizeof **sketch->octaves);
    return sketch->octaves[octave];
}

bool sketch_add(struct sketch *sketch, uint64_t value)
{
    const uint32_t octave = octave_of(value);
    uint64_t *bins = sketch_octave(sketch, octave);
    if (!bins)
        return false;
    bins[bin_of(value, octave)]++;
    sketch->min = !sketch->n || value < sketch->min ? value : sketch->min;
    sketch->max = value > sketch->max ? value : sketch->max;
    sketch->sum += value;
    sketch->n++;
    return true;
}

bool sketch_merge(struct sketch *sketch, const struct sketch *other)
{
    for (uint32_t o = 0; o < SKETCH_OCTAVES; o++)
        if (other->octaves[o] && !sketch_octave(sketch, o))
            return false;
    for (uint32_t o = 0; o < SKETCH_OCTAVES; o++)
        for (uint32_t b = 0; other->octaves[o] && b < SKETCH_BINS; b++)
            sketch->octaves[o][b] += other->octaves[o][b];
    if (other->n && (!sketch->n || other->min < sketch->min))
        sketch->min = other->min;
    sketch->max = other->max > sketch->max ? other->max : sketch->max;
    sketch->sum += other->sum;
    sketch->n += other->n;
    return true;
}

void sketch_fini(struct sketch *sketch)
{
    for (uint32_t o = 0; o < SKETCH_OCTAVES; o++)
        free(sketch->octaves[o]);
    memset(sketch, 0, sizeof *sketch);
}

uint64_t sketch_rank(const struct sketch *sketch, uint64_t rank)
{
    uint64_t n = 0;
    for (uint32_t o = 0; o < SKETCH_OCTAVES; o++)
        for (uint32_t b = 0; sketch->octaves[o] && b < SKETCH_BINS; b++) {
            n += sketch->octaves[o][b];
            if (n < rank)
                continue;
            const uint64_t value = middle_of(o, b);
            return value < sketch->min ? sketch->min : value > sketch->max ? sketch->max : value;
        }
    return sketch->max;
}
