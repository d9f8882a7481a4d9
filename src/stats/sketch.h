/* Many values in little memory: how many there are, their sum and extremes, exactly, and any
 * percentile within a stated error.
 *
 * Values are whole numbers. Each is counted in a bin: values below SKETCH_BINS have one each, and
 * every power of two above is divided into SKETCH_BINS bins of equal width. A percentile is
 * answered with the middle of its bin, and never beyond the extremes, so it is wrong by at most
 * 1/1024 of itself. Only powers of two that occur take memory (4 KB each). What a sketch holds does
 * not depend on the order in which values came.
 */
#ifndef STATS_SKETCH_H
#define STATS_SKETCH_H

#include <stdbool.h>
#include <stdint.h>

#define SKETCH_BITS 9
#define SKETCH_BINS (1u << SKETCH_BITS)
#define SKETCH_OCTAVES (64 - SKETCH_BITS + 1)

struct sketch {
    uint64_t n, min, max;
    unsigned __int128 sum;
    uint64_t *octaves[SKETCH_OCTAVES]; /* counts of bins; NULL: no value lies there */
};

/* All of them return false when memory is short; the sketch is then as it was. A sketch of zeros is
 * empty. */
bool sketch_add(struct sketch *sketch, uint64_t value);
/* Adds the values of another one. */
bool sketch_merge(struct sketch *sketch, const struct sketch *other);
void sketch_fini(struct sketch *sketch);
/* The counts of an octave, made if need be; NULL: no memory. */
uint64_t *sketch_octave(struct sketch *sketch, uint32_t octave);

/* The values that a bin counts: from *low up to, not including, *high, which is 0 for 2^64. */
void sketch_bin(uint32_t octave, uint32_t bin, uint64_t *low, uint64_t *high);

/* Returns the value of that rank, from 1 (the smallest) to n. */
uint64_t sketch_rank(const struct sketch *sketch, uint64_t rank);

#endif
