/* Flow sizes: distributions by name or from text, drawn in whole bytes, with their exact means.
 *
 * Text forms:
 *   64KB                      every flow alike
 *   uniform 1KB 10KB          each whole number of bytes in between alike, ends included
 *   exponential 100KB         geometric in whole bytes, with this mean
 *   pareto 10KB 1.5 [1GB]     smallest size and shape, and the size at which it is cut off
 *   0B 0, 10KB 0.5, 1MB 1     points of the cumulative distribution, straight lines between them
 *   websearch                 one of sizes_named[]
 */
#ifndef TRAFFIC_SIZES_H
#define TRAFFIC_SIZES_H

#include <xoff/err.h>
#include <xoff/rng.h>

#define SIZES_MAX_POINTS 64
#define SIZES_MAX_BYTES INT64_C(1000000000000000) /* largest flow in any distribution */

enum sizes_kind { SIZES_FIXED, SIZES_UNIFORM, SIZES_EXPONENTIAL, SIZES_PARETO, SIZES_POINTS };

/* A fraction `below` (0 to 1) of all flows is no larger than `bytes`. */
struct sizes_point {
    int64_t bytes;
    double below;
};

/* A distribution, validated and precomputed; plain bytes without pointers. */
struct sizes {
    enum sizes_kind kind;
    double mean_bytes;
    int64_t min_bytes, max_bytes; /* no draw lies outside */
    double log_miss;              /* exponential: log(1 - 1/mean) */
    double inverse_shape;         /* pareto: 1/shape */
    double kept;                  /* pareto: fraction of the uncut distribution below the cut */
    uint32_t n_points;
    double below[SIZES_MAX_POINTS]; /* separate from `bytes`: the search reads only these */
    double bytes[SIZES_MAX_POINTS];
};

/* A distribution used in the literature. */
struct sizes_named {
    const char *name, *source;
    const struct sizes_point *points;
    uint32_t n_points;
};
extern const struct sizes_named sizes_named[]; /* ends with a NULL name */

/* On failure err has value and message; the subject is the caller's key. */
int sizes_parse(const char *text, struct sizes *out, struct xoff_err *err);
/* Sizes and parts must not decrease; the last part is 1. A first part above 0 is the weight of the
 * first size itself. */
int sizes_from_points(const struct sizes_point *points, uint32_t n, struct sizes *out,
                      struct xoff_err *err);
void sizes_fixed(int64_t bytes, struct sizes *out);

/* Draws a size in whole bytes, at least 1. */
int64_t sizes_draw(const struct sizes *sizes, struct xoff_rng *rng);

#endif
