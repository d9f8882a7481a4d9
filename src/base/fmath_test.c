/* log, exp, pow and sqrt against the C library within 2 ulp, exact cases, moments of the draws, and
 * a digest of many results that must be the same for every compiler and optimisation level. */
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <xoff/rng.h>

#include "base/digest.h"

_Noreturn void xoff_assert_fail(const char *expression, const char *file, int line)
{
    mock_assert(0, expression, file, line);
    abort();
}

static uint64_t bits_of(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static double from_bits(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* Steps between two doubles of equal sign; infinite for different signs or NaN. */
static double ulps(double a, double b)
{
    if (isnan(a) || isnan(b) || signbit(a) != signbit(b))
        return INFINITY;
    const uint64_t x = bits_of(a), y = bits_of(b);
    return (double)(x > y ? x - y : y - x);
}

#define CHECK_ULPS(got, expected)                                   \
    do {                                                            \
        const double got_ = (got), expected_ = (expected);          \
        if (ulps(got_, expected_) > 2)                              \
            fail_msg("%s: %a, expected %a", #got, got_, expected_); \
    } while (0)

/* Any positive finite double, all exponents alike, subnormals included. */
static double any_positive(struct xoff_rng *rng)
{
    for (;;) {
        const double x = from_bits(xoff_rng_u64(rng) >> 1);
        if (x > 0 && x <= DBL_MAX)
            return x;
    }
}

static double between(struct xoff_rng *rng, double low, double high)
{
    return low + (high - low) * xoff_rng_unit(rng);
}

static void log_within_2_ulp(void **state)
{
    (void)state;
    struct xoff_rng rng;
    xoff_rng_init(&rng, 31, 0, 0);
    for (int i = 0; i < 200000; i++) {
        const double far = any_positive(&rng), near = between(&rng, 0.5, 2);
        const double close = 1 + (between(&rng, -1, 1)) * ldexp(1, -(i % 52));
        CHECK_ULPS(xoff_log(far), log(far));
        CHECK_ULPS(xoff_log(near), log(near));
        if (close > 0)
            CHECK_ULPS(xoff_log(close), log(close));
    }
    /* Where the reduction changes: every j/64 + 1/128 and both sides of sqrt(1/2), sqrt 2. */
    for (int j = 90; j <= 183; j++) {
        const double edge = j / 128.0;
        CHECK_ULPS(xoff_log(edge), log(edge));
        CHECK_ULPS(xoff_log(nextafter(edge, 0)), log(nextafter(edge, 0)));
        CHECK_ULPS(xoff_log(nextafter(edge, 2)), log(nextafter(edge, 2)));
    }
    double x = sqrt(2);
    for (int i = 0; i < 10; i++, x = nextafter(x, 2))
        CHECK_ULPS(xoff_log(x), log(x));
}

static void log_at_its_ends(void **state)
{
    (void)state;
    assert_true(xoff_log(1) == 0 && !signbit(xoff_log(1)));
    CHECK_ULPS(xoff_log(5e-324), log(5e-324));
    CHECK_ULPS(xoff_log(DBL_MIN), log(DBL_MIN));
    CHECK_ULPS(xoff_log(nextafter(DBL_MIN, 0)), log(nextafter(DBL_MIN, 0)));
    CHECK_ULPS(xoff_log(DBL_MAX), log(DBL_MAX));
    assert_true(xoff_log(INFINITY) == INFINITY);
    CHECK_ULPS(xoff_log(nextafter(1, 0)), -0x1p-53);
    CHECK_ULPS(xoff_log(nextafter(1, 2)), 0x1p-52);
    double sink;
    expect_assert_failure(sink = xoff_log(0));
    expect_assert_failure(sink = xoff_log(-1));
    expect_assert_failure(sink = xoff_log(NAN));
    (void)sink;
}

static void exp_within_2_ulp(void **state)
{
    (void)state;
    struct xoff_rng rng;
    xoff_rng_init(&rng, 32, 0, 0);
    for (int i = 0; i < 200000; i++) {
        const double far = between(&rng, -745, 709.7), near = between(&rng, -1, 1);
        const double tiny = near * ldexp(1, -(i % 60));
        CHECK_ULPS(xoff_exp(far), exp(far));
        CHECK_ULPS(xoff_exp(near), exp(near));
        CHECK_ULPS(xoff_exp(tiny), exp(tiny));
    }
    /* Halfway between steps of log(2)/32, where k changes. */
    for (int k = -2000; k < 2000; k++) {
        const double edge = (k + 0.5) * 0.021660849392498290;
        CHECK_ULPS(xoff_exp(edge), exp(edge));
    }
}

/* Largest finite result at log DBL_MAX = 709.782712893384 (rounded down), smallest other than 0 at
 * log(2^-1075) = -745.1332191019412. */
static void exp_at_its_ends(void **state)
{
    (void)state;
    assert_true(xoff_exp(0) == 1 && xoff_exp(-0.0) == 1);
    CHECK_ULPS(xoff_exp(0x1.62e42fefa39efp+9), exp(0x1.62e42fefa39efp+9));
    assert_true(xoff_exp(0x1.62e42fefa39efp+9) <= DBL_MAX);
    assert_true(xoff_exp(0x1.62e42fefa39f0p+9) == INFINITY);
    assert_true(xoff_exp(711) == INFINITY && xoff_exp(1e300) == INFINITY);
    assert_true(xoff_exp(INFINITY) == INFINITY);
    assert_true(xoff_exp(-745.1332191019411) == 5e-324);
    assert_true(xoff_exp(-745.1332191019413) == 0);
    assert_true(xoff_exp(-747) == 0 && xoff_exp(-1e300) == 0 && xoff_exp(-INFINITY) == 0);
    assert_true(isnan(xoff_exp(NAN)));
    CHECK_ULPS(xoff_exp(-708.3964185322641), exp(-708.3964185322641)); /* at DBL_MIN */
    CHECK_ULPS(xoff_exp(-720), exp(-720));
}

static void pow_within_2_ulp(void **state)
{
    (void)state;
    struct xoff_rng rng;
    xoff_rng_init(&rng, 33, 0, 0);
    for (int i = 0; i < 200000; i++) {
        /* any base, with an exponent that keeps the result in range: |y log x| < 745 */
        const double x = any_positive(&rng);
        const double y = between(&rng, -745, 745) / (fabs(log(x)) + 1e-9);
        CHECK_ULPS(xoff_pow(x, y), pow(x, y));
        /* a base near 1 and a large exponent: any error of the logarithm is magnified */
        const double base = 1 + between(&rng, -1, 1) * ldexp(1, -(i % 40) - 1);
        const double power = between(&rng, -700, 700) / (fabs(log(base)) + 1e-300);
        CHECK_ULPS(xoff_pow(base, power), pow(base, power));
        /* sizes and shapes as the traffic models use them */
        const double u = between(&rng, 0, 1), shape = between(&rng, 0.5, 4);
        CHECK_ULPS(xoff_pow(u, -1 / shape), pow(u, -1 / shape));
    }
}

static void pow_exact_cases(void **state)
{
    (void)state;
    for (int n = -30; n <= 30; n++)
        assert_true(xoff_pow(2, n) == ldexp(1, n));
    int64_t power = 1;
    for (int n = 0; n <= 22; n++, power *= 5) /* 5^22 has 52 bits */
        assert_true(xoff_pow(5, n) == (double)power);
    assert_true(xoff_pow(9, 0.5) == 3 && xoff_pow(0.25, -0.5) == 2 && xoff_pow(1.5, 2) == 2.25);
    assert_true(xoff_pow(7, 0) == 1 && xoff_pow(1, 1e308) == 1 && xoff_pow(5e-324, 0) == 1);
    assert_true(xoff_pow(5e-324, 1) == 5e-324 && xoff_pow(DBL_MAX, 1) == DBL_MAX);
    assert_true(xoff_pow(3, 1) == 3 && xoff_pow(0.1, 1) == 0.1);
    assert_true(xoff_pow(2, 1024) == INFINITY && xoff_pow(2, 1023) == 0x1p1023);
    assert_true(xoff_pow(2, -1074) == 5e-324 && xoff_pow(2, -1076) == 0);
    assert_true(xoff_pow(2, 1e308) == INFINITY && xoff_pow(2, -1e308) == 0);
    assert_true(xoff_pow(0.5, 1e308) == 0 && xoff_pow(0.5, -1e308) == INFINITY);
    assert_true(isnan(xoff_pow(2, NAN)));
    double sink;
    expect_assert_failure(sink = xoff_pow(0, 1));
    expect_assert_failure(sink = xoff_pow(-8, 3));
    expect_assert_failure(sink = xoff_pow(INFINITY, 1));
    (void)sink;
}

/* IEEE 754 square roots are correctly rounded, so libm's must be equal to the bit. */
static void sqrt_is_correctly_rounded(void **state)
{
    (void)state;
    struct xoff_rng rng;
    xoff_rng_init(&rng, 34, 0, 0);
    for (int i = 0; i < 200000; i++) {
        const double any = any_positive(&rng), near = between(&rng, 1, 4);
        assert_true(xoff_sqrt(any) == sqrt(any));
        assert_true(xoff_sqrt(near) == sqrt(near));
        /* next to squares, where the decision to round is closest */
        const double root = (double)(xoff_rng_u64(&rng) >> 38), square = root * root;
        assert_true(xoff_sqrt(square) == root);
        assert_true(xoff_sqrt(nextafter(square, 0)) == sqrt(nextafter(square, 0)));
        assert_true(xoff_sqrt(nextafter(square, INFINITY)) == sqrt(nextafter(square, INFINITY)));
    }
    assert_true(xoff_sqrt(0) == 0 && xoff_sqrt(INFINITY) == INFINITY);
    const double edges[] = {5e-324, 1e-323, DBL_MIN, nextafter(DBL_MIN, 0), DBL_MAX,
                            1,      2,      4,       nextafter(1, 0),       nextafter(4, 0)};
    for (size_t i = 0; i < sizeof edges / sizeof edges[0]; i++)
        assert_true(xoff_sqrt(edges[i]) == sqrt(edges[i]));
    double sink;
    expect_assert_failure(sink = xoff_sqrt(-1));
    expect_assert_failure(sink = xoff_sqrt(NAN));
    (void)sink;
}

#define N_DRAWS 400000

/* Mean 1, variance 1, P(X > k) = e^-k. Bounds are 4.5 deviations: of the mean 1/sqrt n, of the
 * variance sqrt((9 - 1)/n), of a share p sqrt(p (1 - p)/n). */
static void exponential_moments(void **state)
{
    (void)state;
    struct xoff_rng rng;
    xoff_rng_init(&rng, 35, 0, 0);
    double sum = 0, squares = 0;
    int n_above[4] = {0};
    for (int i = 0; i < N_DRAWS; i++) {
        const double x = xoff_rng_exponential(&rng);
        assert_true(x > 0);
        sum += x;
        squares += (x - 1) * (x - 1);
        for (int k = 0; k < 4; k++)
            n_above[k] += x > k + 1;
    }
    const double n = N_DRAWS;
    assert_true(fabs(sum / n - 1) < 4.5 / sqrt(n));
    assert_true(fabs(squares / n - 1) < 4.5 * sqrt(8 / n));
    for (int k = 0; k < 4; k++) {
        const double p = exp(-(k + 1));
        assert_true(fabs(n_above[k] / n - p) < 4.5 * sqrt(p * (1 - p) / n));
    }
}

/* Shape a: mean a/(a-1) for a > 1, variance a/((a-1)^2 (a-2)) for a > 2, P(X > x) = x^-a. With a =
 * 5: mean 5/4, variance 5/48. */
static void pareto_moments(void **state)
{
    (void)state;
    const double n = N_DRAWS;
    const double shapes[] = {5, 2, 1.2, 0.5};
    for (int s = 0; s < 4; s++) {
        struct xoff_rng rng;
        xoff_rng_init(&rng, 36, (uint64_t)s, 0);
        double sum = 0;
        int n_above[3] = {0};
        const double marks[3] = {1.1, 2, 10};
        for (int i = 0; i < N_DRAWS; i++) {
            const double x = xoff_rng_pareto(&rng, shapes[s]);
            assert_true(x >= 1);
            sum += x;
            for (int k = 0; k < 3; k++)
                n_above[k] += x > marks[k];
        }
        for (int k = 0; k < 3; k++) {
            const double p = pow(marks[k], -shapes[s]);
            assert_true(fabs(n_above[k] / n - p) < 4.5 * sqrt(p * (1 - p) / n));
        }
        if (s == 0)
            assert_true(fabs(sum / n - 1.25) < 4.5 * sqrt(5.0 / 48 / n));
    }
    struct xoff_rng rng = {0};
    double sink;
    expect_assert_failure(sink = xoff_rng_pareto(&rng, 0));
    (void)sink;
}

/* The points are made with integers and products of powers of two only, so that the test itself
 * cannot differ. */
static void same_bits_everywhere(void **state)
{
    (void)state;
    struct xoff_rng rng;
    xoff_rng_init(&rng, 37, 0, 0);
    struct digest d;
    digest_init(&d);
    for (int i = 0; i < 100000; i++) {
        const double x = any_positive(&rng);
        const double y = ((double)(int64_t)xoff_rng_u64(&rng)) * 0x1p-54; /* within +-512 */
        digest_u64(&d, bits_of(xoff_log(x)));
        digest_u64(&d, bits_of(xoff_sqrt(x)));
        digest_u64(&d, bits_of(xoff_exp(y)));
        digest_u64(&d, bits_of(xoff_pow(x, y * 0x1p-8)));
        digest_u64(&d, bits_of(xoff_rng_exponential(&rng)));
        digest_u64(&d, bits_of(xoff_rng_pareto(&rng, 1.5)));
    }
    char text[17];
    digest_hex(&d, text);
    assert_string_equal(text, "919d1d4dfef76412");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(log_within_2_ulp),
        cmocka_unit_test(log_at_its_ends),
        cmocka_unit_test(exp_within_2_ulp),
        cmocka_unit_test(exp_at_its_ends),
        cmocka_unit_test(pow_within_2_ulp),
        cmocka_unit_test(pow_exact_cases),
        cmocka_unit_test(sqrt_is_correctly_rounded),
        cmocka_unit_test(exponential_moments),
        cmocka_unit_test(pareto_moments),
        cmocka_unit_test(same_bits_everywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
