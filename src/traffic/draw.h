/* Random draws shared by the kinds: whole-number and time versions of the real distributions.
 *
 * Each is exact where possible: a geometric number of trials replaces an exponential in whole
 * units, so that its mean is the stated one and not half a unit off.
 */
#ifndef TRAFFIC_DRAW_H
#define TRAFFIC_DRAW_H

#include <xoff/rng.h>
#include <xoff/time.h>

/* log(1 - p), 0 <= p < 1. Below 2^-10 the difference 1 - p would lose digits of p, and the series
 * -(p + p^2/2 + ... + p^5/5) is good to 2^-52 of the result. */
static inline double draw_log_miss(double p)
{
    if (p >= 0x1p-10)
        return xoff_log(1 - p);
    return -p * (1 + p * (1.0 / 2 + p * (1.0 / 3 + p * (1.0 / 4 + p * (1.0 / 5)))));
}

/* Number of trials up to and including the first success, at least 1, mean 1/p: P(more than k) = (1
 * - p)^k. `log_miss` is draw_log_miss(p), 0 for p = 1 (every trial succeeds; draws nothing). */
static inline uint64_t draw_geometric(struct xoff_rng *rng, double log_miss)
{
    if (log_miss == 0)
        return 1;
    const double missed = xoff_log(xoff_rng_unit(rng)) / log_miss;
    return missed < 0x1p62 ? 1 + (uint64_t)missed : UINT64_C(1) << 62;
}

/* Rounds a real number of picoseconds (>= 0) to the nearest; XOFF_NEVER beyond the range. */
static inline xoff_time draw_span(double ps)
{
    return ps < 0x1p62 ? (xoff_time)(ps + 0.5) : XOFF_NEVER;
}

#endif
