/* Counter-based random streams: value n of stream (seed, owner, purpose) is a pure function of
 * those four numbers, so draws do not depend on threads, ranks or the order of other streams.
 *
 * The function is three rounds of the splitmix64 finaliser (Steele, Lea, Flood 2014) over the key
 * and the counter. State is 16 bytes, owned and passed by the caller.
 */
#ifndef XOFF_RNG_H
#define XOFF_RNG_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct xoff_rng {
    uint64_t key;
    uint64_t counter;
};

static inline uint64_t xoff_mix64(uint64_t x)
{
    x ^= x >> 30;
    x *= UINT64_C(0xbf58476d1ce4e5b9);
    x ^= x >> 27;
    x *= UINT64_C(0x94d049bb133111eb);
    x ^= x >> 31;
    return x;
}

static inline void xoff_rng_init(struct xoff_rng *rng, uint64_t seed, uint64_t owner,
                                 uint64_t purpose)
{
    uint64_t key = xoff_mix64(seed + UINT64_C(0x9e3779b97f4a7c15));
    key = xoff_mix64(key ^ (owner + UINT64_C(0xd1b54a32d192ed03)));
    key = xoff_mix64(key ^ (purpose + UINT64_C(0x8cb92ba72f3d8dd7)));
    rng->key = key;
    rng->counter = 0;
}

static inline uint64_t xoff_rng_u64(struct xoff_rng *rng)
{
    return xoff_mix64(rng->key ^
                      xoff_mix64(rng->counter++ * UINT64_C(0x9e3779b97f4a7c15) + rng->key));
}

static inline uint32_t xoff_rng_u32(struct xoff_rng *rng)
{
    return (uint32_t)(xoff_rng_u64(rng) >> 32);
}

/* Uniform in [0, n), n > 0: multiply-shift; the bias is below 2^-32 for n < 2^32. */
static inline uint64_t xoff_rng_below(struct xoff_rng *rng, uint64_t n)
{
    __extension__ typedef unsigned __int128 u128;
    return (uint64_t)(((u128)xoff_rng_u64(rng) * n) >> 64);
}

/* Uniform in (0, 1), never 0 or 1: the result is the middle of one of 2^52 equal parts. With 2^53
 * parts the middle of the last one would round to 1. */
static inline double xoff_rng_unit(struct xoff_rng *rng)
{
    return ((double)(xoff_rng_u64(rng) >> 12) + 0.5) * 0x1p-52;
}

/* Base-layer mathematics in place of libm, whose results differ between CPUs (fmath.c). */
double xoff_log(double x); /* natural logarithm, x > 0; error below 2 ulp */
double xoff_exp(double x);
double xoff_pow(double x, double y); /* x > 0 */
double xoff_sqrt(double x);          /* correctly rounded */

/* Exponential with mean 1; Pareto with minimum 1 and the given shape (> 0). */
double xoff_rng_exponential(struct xoff_rng *rng);
double xoff_rng_pareto(struct xoff_rng *rng, double shape);

#ifdef __cplusplus
}
#endif

#endif
