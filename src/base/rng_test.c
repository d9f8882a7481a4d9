/* Random streams: pinned values, the ends of each range, uniformity and independence.
 *
 * Statistical tests use fixed seeds, so they pass always or never; the bounds are what a correct
 * generator misses once in about 10^5 seeds.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <xoff/rng.h>

_Noreturn void xoff_assert_fail(const char *expression, const char *file, int line)
{
    mock_assert(0, expression, file, line);
    abort();
}

static struct xoff_rng stream(uint64_t seed, uint64_t owner, uint64_t purpose)
{
    struct xoff_rng rng;
    xoff_rng_init(&rng, seed, owner, purpose);
    return rng;
}

/* Worked out separately, with arbitrary-precision integers, from the definition in rng.h. */
static void golden_values(void **state)
{
    (void)state;
    const struct {
        uint64_t seed, owner, purpose, key, values[3];
    } rows[] = {
        {0,
         0,
         0,
         UINT64_C(0xd9dfee5d0039b834),
         {UINT64_C(0x773753dbf0c65b08), UINT64_C(0x4d07bd90b1e67ce8),
          UINT64_C(0xd0b063eed8792dbc)}},
        {1,
         2,
         3,
         UINT64_C(0x5ddff0791e77cf58),
         {UINT64_C(0x324b37c00303ce9c), UINT64_C(0x140858a02b96d3ad),
          UINT64_C(0x345bc36bafaa6ab6)}},
        {UINT64_MAX,
         UINT64_MAX,
         UINT64_MAX,
         UINT64_C(0x5d6fa012db0a163b),
         {UINT64_C(0x091eb7f6349a5324), UINT64_C(0xba249c3f344bc742),
          UINT64_C(0x25de844dc5691866)}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct xoff_rng rng = stream(rows[i].seed, rows[i].owner, rows[i].purpose);
        assert_true(rng.key == rows[i].key);
        for (int k = 0; k < 3; k++)
            assert_true(xoff_rng_u64(&rng) == rows[i].values[k]);
        assert_int_equal(rng.counter, 3);
    }
    struct xoff_rng rng = stream(1, 2, 3);
    assert_int_equal(xoff_rng_u32(&rng), 0x324b37c0);
    rng.counter = 0;
    /* 0x324b37c00303ce9c / 2^64 = 0.19646 */
    assert_int_equal(xoff_rng_below(&rng, 1000), 196);
    rng.counter = 0;
    /* the upper 52 bits and a half: 0x324b37c00303c.8 2^-52 */
    assert_true(xoff_rng_unit(&rng) == 0x324b37c00303c.8p-52);
}

/* With key 1 these counters give a word of all zeros and of all ones. */
static void ends_of_the_ranges(void **state)
{
    (void)state;
    const struct xoff_rng zeros = {.key = 1, .counter = UINT64_C(0xb47dc774547a05cd)};
    const struct xoff_rng ones = {.key = 1, .counter = UINT64_C(0x16d8b865173afde2)};
    struct xoff_rng rng = zeros;
    assert_true(xoff_rng_u64(&rng) == 0);
    rng = ones;
    assert_true(xoff_rng_u64(&rng) == UINT64_MAX);
    rng = zeros;
    assert_true(xoff_rng_unit(&rng) == 0x1p-53);
    rng = ones;
    assert_true(xoff_rng_unit(&rng) == 1 - 0x1p-53);
    rng = zeros;
    assert_int_equal(xoff_rng_below(&rng, 7), 0);
    rng = ones;
    assert_int_equal(xoff_rng_below(&rng, 7), 6);
    rng = ones;
    assert_int_equal(xoff_rng_below(&rng, 1), 0);
    rng = ones;
    assert_true(xoff_rng_below(&rng, UINT64_MAX) == UINT64_MAX - 1);

    /* The draws stay usable at both ends: 53 log 2 = 36.74 and 2^(53/2) = 94906265.6; above 0 and
     * at least 1. */
    rng = zeros;
    const double longest = xoff_rng_exponential(&rng);
    assert_true(longest > 36.73 && longest < 36.74);
    rng = zeros;
    const double largest = xoff_rng_pareto(&rng, 2);
    assert_true(largest > 94906265.6 && largest < 94906265.7);
    rng = ones;
    assert_true(xoff_rng_exponential(&rng) > 0);
    rng = ones;
    assert_true(xoff_rng_pareto(&rng, 2) >= 1);
}

/* Sum of (observed - expected)^2 / expected. */
static double chi_square(const unsigned *counts, int n_bins, double expected)
{
    double sum = 0;
    for (int i = 0; i < n_bins; i++)
        sum += ((double)counts[i] - expected) * ((double)counts[i] - expected) / expected;
    return sum;
}

/* 255 degrees of freedom: mean 255, standard deviation sqrt(510) = 22.6. The quantiles at 10^-5 and
 * 1 - 10^-5 are about 170 and 363 (Wilson-Hilferty: 255 (1 - 2/2295 +- 4.265 sqrt(2/2295))^3). */
#define CHI_LOW 170
#define CHI_HIGH 363

static void bytes_and_bins_are_uniform(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 5; seed++) {
        struct xoff_rng rng = stream(seed, 7, 9);
        unsigned bytes[8][256] = {0}, bins[256] = {0}, units[256] = {0};
        for (int i = 0; i < 256 * 200; i++) {
            const uint64_t word = xoff_rng_u64(&rng);
            for (int k = 0; k < 8; k++)
                bytes[k][word >> (8 * k) & 255]++;
            bins[xoff_rng_below(&rng, 256)]++;
            units[(int)(xoff_rng_unit(&rng) * 256)]++;
        }
        for (int k = 0; k < 8; k++) {
            const double chi = chi_square(bytes[k], 256, 200);
            assert_true(chi > CHI_LOW && chi < CHI_HIGH);
        }
        const double below = chi_square(bins, 256, 200), unit = chi_square(units, 256, 200);
        assert_true(below > CHI_LOW && below < CHI_HIGH);
        assert_true(unit > CHI_LOW && unit < CHI_HIGH);
    }
}

/* First draws of neighbouring streams: 256 x 200 owners, purposes or seeds in a row. */
static void first_draws_of_streams_are_uniform(void **state)
{
    (void)state;
    unsigned counts[3][256] = {0};
    for (uint64_t i = 0; i < 256 * 200; i++) {
        struct xoff_rng rngs[3] = {stream(i, 1, 1), stream(1, i, 1), stream(1, 1, i)};
        for (int k = 0; k < 3; k++)
            counts[k][xoff_rng_u64(&rngs[k]) >> 56]++;
    }
    for (int k = 0; k < 3; k++) {
        const double chi = chi_square(counts[k], 256, 200);
        assert_true(chi > CHI_LOW && chi < CHI_HIGH);
    }
}

/* Two streams side by side: the pair (4 bits, 4 bits) is uniform over 256, and half the bits of the
 * words agree. 64 n fair bits have a deviation of sqrt(64 n) / 2. */
static void streams_are_independent(void **state)
{
    (void)state;
    const uint64_t others[4][3] = {{2, 1, 1}, {1, 2, 1}, {1, 1, 2}, {1, 1, UINT64_C(1) << 63}};
    for (int k = 0; k < 4; k++) {
        struct xoff_rng a = stream(1, 1, 1);
        struct xoff_rng b = stream(others[k][0], others[k][1], others[k][2]);
        unsigned pairs[256] = {0};
        long n_equal = 0;
        const int n = 256 * 200;
        for (int i = 0; i < n; i++) {
            const uint64_t x = xoff_rng_u64(&a), y = xoff_rng_u64(&b);
            pairs[(x >> 60) << 4 | y >> 60]++;
            n_equal += __builtin_popcountll(~(x ^ y));
        }
        const double chi = chi_square(pairs, 256, 200);
        assert_true(chi > CHI_LOW && chi < CHI_HIGH);
        /* 64 * 51200 = 3276800 bits, deviation 905 */
        assert_in_range(n_equal, 1638400 - 4 * 905, 1638400 + 4 * 905);
    }
}

/* Neighbouring draws of one stream, same two measures. */
static void draws_are_independent(void **state)
{
    (void)state;
    struct xoff_rng rng = stream(3, 1, 4);
    unsigned pairs[256] = {0};
    uint64_t last = xoff_rng_u64(&rng);
    long n_equal = 0;
    for (int i = 0; i < 256 * 200; i++) {
        const uint64_t word = xoff_rng_u64(&rng);
        pairs[(last >> 60) << 4 | word >> 60]++;
        n_equal += __builtin_popcountll(~(last ^ word));
        last = word;
    }
    const double chi = chi_square(pairs, 256, 200);
    assert_true(chi > CHI_LOW && chi < CHI_HIGH);
    assert_in_range(n_equal, 1638400 - 4 * 905, 1638400 + 4 * 905);
}

/* Seed, owner and purpose are not interchangeable, and small ones never share a key. */
static int compare_keys(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static void keys_differ(void **state)
{
    (void)state;
    static uint64_t keys[32 * 32 * 32];
    size_t n = 0;
    for (uint64_t seed = 0; seed < 32; seed++)
        for (uint64_t owner = 0; owner < 32; owner++)
            for (uint64_t purpose = 0; purpose < 32; purpose++)
                keys[n++] = stream(seed, owner, purpose).key;
    qsort(keys, n, sizeof keys[0], compare_keys);
    for (size_t i = 1; i < n; i++)
        assert_true(keys[i - 1] != keys[i]);
}

/* n = 3: each third of 2^64; a plain modulo of a small word would be caught by the bins above. */
static void below_is_fair_for_odd_n(void **state)
{
    (void)state;
    struct xoff_rng rng = stream(5, 0, 0);
    unsigned counts[3] = {0};
    for (int i = 0; i < 300000; i++)
        counts[xoff_rng_below(&rng, 3)]++;
    /* 2 degrees of freedom: P(chi > 23) = e^-11.5 = 10^-5 */
    assert_true(chi_square(counts, 3, 100000) < 23);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(golden_values),
        cmocka_unit_test(ends_of_the_ranges),
        cmocka_unit_test(bytes_and_bins_are_uniform),
        cmocka_unit_test(first_draws_of_streams_are_uniform),
        cmocka_unit_test(streams_are_independent),
        cmocka_unit_test(draws_are_independent),
        cmocka_unit_test(keys_differ),
        cmocka_unit_test(below_is_fair_for_odd_n),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
