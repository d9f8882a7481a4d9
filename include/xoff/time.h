/* Simulated time: signed 64-bit picoseconds since the start of the run.
 *
 * A byte takes 80 ps at 100 Gb/s and 10 ps at 800 Gb/s, so common rates are exact; odd rates carry
 * their remainder (struct xoff_wire_clock). 2^63 ps are 106 days.
 */
#ifndef XOFF_TIME_H
#define XOFF_TIME_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef int64_t xoff_time;  /* a point in time or a span, picoseconds */
typedef uint64_t xoff_rate; /* bits per second */

#define XOFF_NEVER INT64_MAX /* a deadline that never comes */

#define XOFF_NS INT64_C(1000)
#define XOFF_US INT64_C(1000000)
#define XOFF_MS INT64_C(1000000000)
#define XOFF_S INT64_C(1000000000000)

#define XOFF_KBPS UINT64_C(1000)
#define XOFF_MBPS UINT64_C(1000000)
#define XOFF_GBPS UINT64_C(1000000000)

/* Preamble and start delimiter before a frame, and the gap after it, in bytes (802.3 3.1.1, 4.4.2).
 */
#define XOFF_PREAMBLE_BYTES 8
#define XOFF_GAP_BYTES 12
#define XOFF_OVERHEAD_BYTES (XOFF_PREAMBLE_BYTES + XOFF_GAP_BYTES)
#define XOFF_MIN_FRAME_BYTES 64

#define XOFF_N_PRIORITIES 8

/* now + span; XOFF_NEVER absorbs, and a sum beyond the range becomes XOFF_NEVER. span >= 0. */
static inline xoff_time xoff_time_after(xoff_time now, xoff_time span)
{
    xoff_time sum;
    return __builtin_add_overflow(now, span, &sum) ? XOFF_NEVER : sum;
}

static inline xoff_time xoff_time_min(xoff_time a, xoff_time b)
{
    return a < b ? a : b;
}

/* Time of `bits` at `rate_bps`, rounded up: for bounds and thresholds, not for serialisation. */
static inline xoff_time xoff_time_of_bits(uint64_t bits, xoff_rate rate_bps)
{
    __extension__ typedef unsigned __int128 u128;
    return (xoff_time)(((u128)bits * (uint64_t)XOFF_S + rate_bps - 1) / rate_bps);
}

/* Bytes that pass in `span` at `rate_bps`, rounded up. */
static inline int64_t xoff_bytes_in(xoff_time span, xoff_rate rate_bps)
{
    __extension__ typedef unsigned __int128 u128;
    const u128 unit = (u128)8 * (uint64_t)XOFF_S;
    return (int64_t)(((u128)(uint64_t)span * rate_bps + unit - 1) / unit);
}

#ifdef __cplusplus
}
#endif

#endif
