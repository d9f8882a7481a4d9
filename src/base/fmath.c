/* log, exp, pow, sqrt and the random draws that need them: the same bits on every machine (rng.h).
 *
 * Only IEEE 754 addition, multiplication and division of doubles, comparisons and integers are
 * used. Those are correctly rounded everywhere, so compiler, optimisation level and CPU cannot
 * change a result as long as contraction into fused multiply-add is off (-ffp-contract=off) and
 * expressions are evaluated in double.
 *
 * log   x = 2^k m, m in [sqrt 1/2, sqrt 2); c = j/64 nearest to m; s = (m - c) / (m + c), |s| <
 * 2^-7; log x = k log 2 + log c + 2 (s + s^3/3 + s^5/5 + ...). The first three terms are kept as a
 *       sum of two doubles, so about 66 bits are good: pow needs them, since an error of its
 *       exponent is multiplied by up to 745.
 * exp   k = x 32/log 2 to the nearest whole number, k = 32 e + j; r = x - k log(2)/32;
 *       exp x = 2^e 2^(j/32) (1 + r + r^2/2 + ... + r^6/720); the next term is below 2^-57.
 * pow   exp(y log x) with the product in two doubles.
 * sqrt  digit by digit on the integer mantissa, as by hand: 53 bits and one to round by.
 *
 * Sums and products in two doubles are Knuth's two-sum and Dekker's product with Veltkamp's split.
 * The tables hold each value as the nearest double and the nearest double to the rest.
 */
#include <xoff/rng.h>

#include <float.h>
#include <stdbool.h>
#include <string.h>

#include <xoff/err.h>

#ifdef __FAST_MATH__
#error "results would depend on the compiler"
#endif
_Static_assert(FLT_EVAL_METHOD == 0, "doubles must be evaluated in double");
_Static_assert(DBL_MANT_DIG == 53 && DBL_MAX_EXP == 1024, "doubles are IEEE 754 binary64");

/* An unevaluated sum; |lo| is at most half a unit in the last place of hi. */
struct pair {
    double hi, lo;
};

/* log 2 with 42 bits above, so that k LOG2_HI is exact for |k| < 2^11; likewise log(2)/32 with 36
 * bits for |k| < 2^17. */
static const double LOG2_HI = 0x1.62e42fefa3800p-1, LOG2_LO = 0x1.ef35793c76730p-45;
static const double STEP_HI = 0x1.62e42fefa0000p-6, STEP_LO = 0x1.cf79abc9e3b3ap-45;
static const double STEPS_PER_UNIT = 0x1.71547652b82fep+5;

#define LOG_FIRST 45 /* 64 sqrt(1/2) = 45.3, 64 sqrt 2 = 90.5 */
#define LOG_LAST 91
#define EXP_STEPS 32

/* log(j / 64), j = LOG_FIRST ... LOG_LAST */
static const struct pair log_table[LOG_LAST - LOG_FIRST + 1] = {
    {-0x1.68ac83e9c6a14p-2, -0x1.a64eadd740178p-58},
    {-0x1.522ae0738a3d8p-2, 0x1.8f7e9b38a6979p-57},
    {-0x1.3c25277333184p-2, 0x1.2ad27e50a8ec6p-56},
    {-0x1.269621134db92p-2, -0x1.e0efadd9db02bp-56},
    {-0x1.1178e8227e47cp-2, 0x1.0e63a5f01c691p-57},
    {-0x1.f991c6cb3b379p-3, -0x1.f665066f980a2p-57},
    {-0x1.d1037f2655e7bp-3, -0x1.60629242471a2p-57},
    {-0x1.a93ed3c8ad9e3p-3, -0x1.bcafa9de97203p-57},
    {-0x1.823c16551a3c2p-3, 0x1.1232ce70be781p-57},
    {-0x1.5bf406b543db2p-3, 0x1.1f5b44c0df7e7p-61},
    {-0x1.365fcb0159016p-3, -0x1.7d411a5b944adp-58},
    {-0x1.1178e8227e47cp-3, 0x1.0e63a5f01c691p-58},
    {-0x1.da727638446a2p-4, -0x1.401fa71733019p-58},
    {-0x1.9335e5d594989p-4, 0x1.478a85704ccb7p-58},
    {-0x1.4d3115d207eacp-4, -0x1.769f42c7842ccp-58},
    {-0x1.08598b59e3a07p-4, 0x1.dd7009902bf32p-58},
    {-0x1.894aa149fb343p-5, -0x1.a8be97660a23dp-60},
    {-0x1.0415d89e74444p-5, -0x1.c05cf1d753622p-59},
    {-0x1.0205658935847p-6, -0x1.27c8e8416e71fp-60},
    {0, 0},
    {0x1.fc0a8b0fc03e4p-7, -0x1.83092c59642a1p-62},
    {0x1.f829b0e783300p-6, 0x1.33e3f04f1ef23p-60},
    {0x1.77458f632dcfcp-5, 0x1.18d3ca87b9296p-59},
    {0x1.f0a30c01162a6p-5, 0x1.85f325c5bbacdp-59},
    {0x1.341d7961bd1d1p-4, -0x1.b599f227becbbp-58},
    {0x1.6f0d28ae56b4cp-4, -0x1.906d99184b992p-58},
    {0x1.a926d3a4ad563p-4, 0x1.942f48aa70ea9p-58},
    {0x1.e27076e2af2e6p-4, -0x1.61578001e0162p-60},
    {0x1.0d77e7cd08e59p-3, 0x1.9a5dc5e9030acp-57},
    {0x1.29552f81ff523p-3, 0x1.301771c407dbfp-57},
    {0x1.44d2b6ccb7d1ep-3, 0x1.9f4f6543e1f88p-57},
    {0x1.5ff3070a793d4p-3, -0x1.bc60efafc6f6ep-58},
    {0x1.7ab890210d909p-3, 0x1.be36b2d6a0608p-59},
    {0x1.9525a9cf456b4p-3, 0x1.d904c1d4e2e26p-57},
    {0x1.af3c94e80bff3p-3, -0x1.398cff3641985p-58},
    {0x1.c8ff7c79a9a22p-3, -0x1.4f689f8434012p-57},
    {0x1.e27076e2af2e6p-3, -0x1.61578001e0162p-59},
    {0x1.fb9186d5e3e2bp-3, -0x1.caaae64f21acbp-57},
    {0x1.0a324e27390e3p-2, 0x1.7dcfde8061c03p-56},
    {0x1.1675cababa60ep-2, 0x1.ce63eab883717p-61},
    {0x1.22941fbcf7966p-2, -0x1.76f5eb09628afp-56},
    {0x1.2e8e2bae11d31p-2, -0x1.8f4cdb95ebdf9p-56},
    {0x1.3a64c556945eap-2, -0x1.c68651945f97cp-57},
    {0x1.4618bc21c5ec2p-2, 0x1.f42decdeccf1dp-56},
    {0x1.51aad872df82dp-2, 0x1.3927ac19f55e3p-59},
    {0x1.5d1bdbf5809cap-2, 0x1.4236383dc7fe1p-56},
    {0x1.686c81e9b14afp-2, -0x1.ddea0f7f58e3dp-57},
};

/* 2^(j / 32) */
static const struct pair exp_table[EXP_STEPS] = {
    {1, 0},
    {0x1.059b0d3158574p+0, 0x1.d73e2a475b465p-55},
    {0x1.0b5586cf9890fp+0, 0x1.8a62e4adc610bp-54},
    {0x1.11301d0125b51p+0, -0x1.6c51039449b3ap-54},
    {0x1.172b83c7d517bp+0, -0x1.19041b9d78a76p-55},
    {0x1.1d4873168b9aap+0, 0x1.e016e00a2643cp-54},
    {0x1.2387a6e756238p+0, 0x1.9b07eb6c70573p-54},
    {0x1.29e9df51fdee1p+0, 0x1.612e8afad1255p-55},
    {0x1.306fe0a31b715p+0, 0x1.6f46ad23182e4p-55},
    {0x1.371a7373aa9cbp+0, -0x1.63aeabf42eae2p-54},
    {0x1.3dea64c123422p+0, 0x1.ada0911f09ebcp-55},
    {0x1.44e086061892dp+0, 0x1.89b7a04ef80d0p-59},
    {0x1.4bfdad5362a27p+0, 0x1.d4397afec42e2p-56},
    {0x1.5342b569d4f82p+0, -0x1.07abe1db13cadp-55},
    {0x1.5ab07dd485429p+0, 0x1.6324c054647adp-54},
    {0x1.6247eb03a5585p+0, -0x1.383c17e40b497p-54},
    {0x1.6a09e667f3bcdp+0, -0x1.bdd3413b26456p-54},
    {0x1.71f75e8ec5f74p+0, -0x1.16e4786887a99p-55},
    {0x1.7a11473eb0187p+0, -0x1.41577ee04992fp-55},
    {0x1.82589994cce13p+0, -0x1.d4c1dd41532d8p-54},
    {0x1.8ace5422aa0dbp+0, 0x1.6e9f156864b27p-54},
    {0x1.93737b0cdc5e5p+0, -0x1.75fc781b57ebcp-57},
    {0x1.9c49182a3f090p+0, 0x1.c7c46b071f2bep-56},
    {0x1.a5503b23e255dp+0, -0x1.d2f6edb8d41e1p-54},
    {0x1.ae89f995ad3adp+0, 0x1.7a1cd345dcc81p-54},
    {0x1.b7f76f2fb5e47p+0, -0x1.5584f7e54ac3bp-56},
    {0x1.c199bdd85529cp+0, 0x1.11065895048ddp-55},
    {0x1.cb720dcef9069p+0, 0x1.503cbd1e949dbp-56},
    {0x1.d5818dcfba487p+0, 0x1.2ed02d75b3707p-55},
    {0x1.dfc97337b9b5fp+0, -0x1.1a5cd4f184b5cp-54},
    {0x1.ea4afa2a490dap+0, -0x1.e9c23179c2893p-54},
    {0x1.f50765b6e4540p+0, 0x1.9d3e12dd8a18bp-54},
};

static struct pair log_pair(double x);
static double exp_pair(struct pair x);
static struct pair product(double a, double b);
static double from_bits(uint64_t bits);
static uint64_t to_bits(double x);

double xoff_log(double x)
{
    XOFF_ASSERT(x > 0);
    return x > DBL_MAX ? x : log_pair(x).hi;
}

double xoff_exp(double x)
{
    return exp_pair((struct pair){x, 0});
}

double xoff_pow(double x, double y)
{
    XOFF_ASSERT(x > 0 && x <= DBL_MAX);
    const struct pair log_x = log_pair(x);
    if (log_x.hi == 0)
        return 1;
    /* Settle overflow here, while the split inside product() is still safe. */
    const double rough = y * log_x.hi;
    if (!(rough > -800 && rough < 800))
        return xoff_exp(rough);
    struct pair p = product(y, log_x.hi);
    p.lo += y * log_x.lo;
    return exp_pair(p);
}

double xoff_sqrt(double x)
{
    XOFF_ASSERT(x >= 0);
    if (x == 0 || x > DBL_MAX)
        return x;
    uint64_t bits = to_bits(x);
    int exponent = -1075;
    if (bits >> 52 == 0) { /* subnormal: scale by an even power of two */
        bits = to_bits(x * 0x1p54);
        exponent -= 54;
    }
    exponent += (int)(bits >> 52);
    uint64_t mantissa = (bits & ((UINT64_C(1) << 52) - 1)) | UINT64_C(1) << 52;
    if (exponent & 1) {
        mantissa <<= 1;
        exponent--;
    }
    /* x = mantissa 2^exponent, mantissa in [2^52, 2^54). Each step brings down two more binary
     * digits (zeros after the first 27 pairs) and settles one digit of the root; 54 steps give
     * floor(sqrt(mantissa 2^54)), in [2^53, 2^54). */
    uint64_t root = 0, rest = 0;
    for (int pair = 26; pair > -28; pair--) {
        rest = rest << 2 | (pair >= 0 ? mantissa >> (2 * pair) & 3 : 0);
        const uint64_t trial = root << 2 | 1;
        const bool fits = rest >= trial;
        rest -= fits ? trial : 0;
        root = root << 1 | fits;
    }
    /* The 54th bit decides how to round. A tie is impossible, as the square of a 54-bit odd number
     * has more than 53 bits. Rounding up never reaches 2^54: that would need x above every
     * mantissa. */
    const uint64_t rounded = (root >> 1) + (root & 1);
    return (double)rounded * from_bits((uint64_t)(exponent / 2 - 26 + 1023) << 52);
}

/* By inversion: the draw is -log of a uniform one. */
double xoff_rng_exponential(struct xoff_rng *rng)
{
    return -xoff_log(xoff_rng_unit(rng));
}

/* By inversion: P(X > x) = x^-shape, so X = U^(-1/shape). */
double xoff_rng_pareto(struct xoff_rng *rng, double shape)
{
    XOFF_ASSERT(shape > 0);
    return xoff_pow(xoff_rng_unit(rng), -1 / shape);
}

static double from_bits(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static uint64_t to_bits(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

/* a + b exactly. */
static struct pair sum(double a, double b)
{
    const double s = a + b;
    const double b_part = s - a;
    return (struct pair){s, (a - (s - b_part)) + (b - b_part)};
}

/* Upper 26 bits of a. */
static double upper_half(double a)
{
    const double scaled = 0x1.0000002p27 * a;
    return scaled - (scaled - a);
}

/* a b exactly, unless it leaves the range of doubles. */
static struct pair product(double a, double b)
{
    const double p = a * b;
    const double a_hi = upper_half(a), b_hi = upper_half(b);
    const double a_lo = a - a_hi, b_lo = b - b_hi;
    return (struct pair){p, ((a_hi * b_hi - p) + a_hi * b_lo + a_lo * b_hi) + a_lo * b_lo};
}

/* x > 0, finite. */
static struct pair log_pair(double x)
{
    uint64_t bits = to_bits(x);
    int k = -1023;
    if (bits >> 52 == 0) {
        bits = to_bits(x * 0x1p54);
        k -= 54;
    }
    k += (int)(bits >> 52);
    const uint64_t fraction = bits & ((UINT64_C(1) << 52) - 1);
    const bool is_upper = fraction > UINT64_C(0x6a09e667f3bcc); /* of sqrt 2 */
    k += is_upper;
    const double m = from_bits(fraction | (uint64_t)(is_upper ? 1022 : 1023) << 52);

    const int j = (int)(m * 64 + 0.5);
    const double c = (double)j / 64;
    const struct pair log_c = log_table[j - LOG_FIRST];

    /* s to twice the precision: the quotient, and what it leaves over. m - c is exact. */
    const struct pair d = sum(m, c);
    const double s = (m - c) / d.hi;
    const struct pair back = product(s, d.hi);
    const double s_rest = ((((m - c) - back.hi) - back.lo) - s * d.lo) / d.hi;

    const double s2 = s * s;
    /* s^11 and beyond are below 2^-80. */
    const double series = s * s2 * (2.0 / 3 + s2 * (2.0 / 5 + s2 * (2.0 / 7 + s2 * (2.0 / 9))));

    const struct pair a = sum(k * LOG2_HI, log_c.hi);
    const struct pair b = sum(a.hi, 2 * s);
    return sum(b.hi, a.lo + b.lo + (2 * s_rest + k * LOG2_LO + log_c.lo + series));
}

/* t 2^e for t near [1, 2), in two steps where 2^e is no normal double, so that it is rounded once.
 */
static double scale(double t, int e)
{
    if (e > 1023)
        return t * 0x1p1023 * from_bits((uint64_t)(e - 1023 + 1023) << 52);
    if (e < -1022)
        return t * from_bits((uint64_t)(e + 200 + 1023) << 52) * 0x1p-200;
    return t * from_bits((uint64_t)(e + 1023) << 52);
}

static double exp_pair(struct pair x)
{
    if (x.hi > 710)
        return from_bits(UINT64_C(0x7ff) << 52); /* infinity */
    if (x.hi < -746)
        return 0;
    if (x.hi != x.hi)
        return x.hi;
    const int k = (int)(x.hi * STEPS_PER_UNIT + (x.hi < 0 ? -0.5 : 0.5));
    const int j = k & (EXP_STEPS - 1);
    const double r = (x.hi - k * STEP_HI) - k * STEP_LO + x.lo;
    const double p =
        r + r * r * (1.0 / 2 + r * (1.0 / 6 + r * (1.0 / 24 + r * (1.0 / 120 + r * (1.0 / 720)))));
    const struct pair t = exp_table[j];
    return scale(t.hi + (t.lo + t.hi * p), (k - j) / EXP_STEPS);
}
