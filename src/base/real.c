/* Reals as text: exact decimal to nearest double and back (units.h), without stdio or libm.
 *
 * A real as text is a ratio N 10^e / D of whole numbers: "0.25" is 25 10^-2, "1/8" has D = 8,
 * "25 %" has e = -2. N and D are held as big integers, brought to equal bit length, and divided
 * bit by bit; the 53 bits that make a double are rounded once, half to even, by comparing twice the
 * remainder with D. There is no table, and no estimate that could be off by one.
 *
 * The other way, for n = 1, 2, ... digits, x 10^(n-1-p) is rounded to a whole number with the same
 * division, and the first n whose text parses back to x is the shortest.
 *
 * Differs: numbers are positive (or zero), have at most 64 digits, and a value other than 0 below
 * the smallest normal double is refused as too fine, where strtod would round it.
 */
#include <xoff/units.h>

#include <float.h>

#include <xoff/err.h>

#include "base/text.h"

_Static_assert(DBL_MANT_DIG == 53 && DBL_MAX_EXP == 1024, "doubles are IEEE 754 binary64");

/* 64 digits and 10^400 are 1542 bits; 17 digits of the smallest double 1190; plus alignment. */
#define BIG_LIMBS 52
#define MAX_DIGITS 64
#define MAX_EXPONENT 400 /* 10^(308 + 64) and beyond is out of range whatever the digits */

struct big {
    uint32_t n; /* limbs in use; the top one is not 0 */
    uint32_t limbs[BIG_LIMBS];
};

struct decimal {
    struct big digits;
    int exponent10;
    bool is_plain; /* digits only: may be part of a ratio */
};

static int scan_decimal(const char **s, struct decimal *d);
static int to_double(struct big *n, struct big *d, int exponent10, double *out);
static uint64_t round_to_digits(double x, int n_digits, int *exponent10);
static void decimal_text(struct text *t, uint64_t digits, int n_digits, int exponent10);

int xoff_parse_real(const char *text, double *out)
{
    const char *s = text;
    if (s[0] == '-' && text_is_digit(s[1]))
        return -XOFF_E_RANGE;
    struct decimal numerator;
    struct decimal denominator = {.digits = {.n = 1, .limbs = {1}}};
    int rc = scan_decimal(&s, &numerator);
    if (rc)
        return rc;
    if (*s == '/' && numerator.is_plain) {
        s++;
        rc = scan_decimal(&s, &denominator);
        if (rc)
            return rc;
        if (!denominator.is_plain)
            return -XOFF_E_TYPE;
    } else if (*s == '%' || (s[0] == ' ' && s[1] == '%')) {
        s += *s == ' ' ? 2 : 1;
        numerator.exponent10 -= 2;
    }
    if (*s)
        return text_is_unit_start(*s) ? -XOFF_E_UNIT : -XOFF_E_TYPE;
    if (denominator.digits.n == 0)
        return -XOFF_E_RANGE;
    return to_double(&numerator.digits, &denominator.digits, numerator.exponent10, out);
}

char *xoff_format_real(char *buf, size_t size, double x)
{
    struct text t = text_at(buf, size, 0);
    if (x != x) {
        text_add(&t, "nan");
        return buf;
    }
    if (x < 0) {
        text_add(&t, "-");
        x = -x;
    }
    if (x == 0 || x > DBL_MAX) {
        text_add(&t, x == 0 ? "0" : "inf");
        return buf;
    }
    char best[32];
    for (int n_digits = 1; n_digits <= DBL_DECIMAL_DIG; n_digits++) {
        int exponent10;
        const uint64_t digits = round_to_digits(x, n_digits, &exponent10);
        struct text candidate = text_at(best, sizeof best, 0);
        decimal_text(&candidate, digits, n_digits, exponent10);
        double back;
        if (xoff_parse_real(best, &back) == 0 && back == x)
            break;
    }
    text_add(&t, best);
    return buf;
}

static void big_multiply_add(struct big *b, uint32_t factor, uint32_t addend)
{
    uint64_t carry = addend;
    for (uint32_t i = 0; i < b->n; i++) {
        carry += (uint64_t)b->limbs[i] * factor;
        b->limbs[i] = (uint32_t)carry;
        carry >>= 32;
    }
    if (carry) {
        XOFF_ASSERT(b->n < BIG_LIMBS);
        b->limbs[b->n++] = (uint32_t)carry;
    }
}

static void big_multiply_power10(struct big *b, int exponent)
{
    for (; exponent >= 9; exponent -= 9)
        big_multiply_add(b, 1000000000, 0);
    for (; exponent > 0; exponent--)
        big_multiply_add(b, 10, 0);
}

static void big_shift_left(struct big *b, int bits)
{
    const uint32_t whole = (uint32_t)bits / 32;
    XOFF_ASSERT(b->n + whole <= BIG_LIMBS);
    memmove(b->limbs + whole, b->limbs, b->n * sizeof b->limbs[0]);
    memset(b->limbs, 0, whole * sizeof b->limbs[0]);
    b->n += whole;
    if (bits % 32)
        big_multiply_add(b, UINT32_C(1) << (bits % 32), 0);
}

static int big_bits(const struct big *b)
{
    return b->n ? (int)(32 * b->n) - __builtin_clz(b->limbs[b->n - 1]) : 0;
}

/* < 0, 0, > 0 as strcmp. */
static int big_compare(const struct big *a, const struct big *b)
{
    if (a->n != b->n)
        return a->n < b->n ? -1 : 1;
    for (uint32_t i = a->n; i-- > 0;)
        if (a->limbs[i] != b->limbs[i])
            return a->limbs[i] < b->limbs[i] ? -1 : 1;
    return 0;
}

/* a >= b. */
static void big_subtract(struct big *a, const struct big *b)
{
    uint32_t borrow = 0;
    for (uint32_t i = 0; i < a->n; i++) {
        const uint64_t take = (uint64_t)(i < b->n ? b->limbs[i] : 0) + borrow;
        borrow = a->limbs[i] < take;
        a->limbs[i] -= (uint32_t)take;
    }
    while (a->n && a->limbs[a->n - 1] == 0)
        a->n--;
}

/* n 2^(bits-1) / d to the nearest whole number, half to even; n < 2 d. Overwrites n. */
static uint64_t divide(struct big *n, const struct big *d, int bits)
{
    uint64_t quotient = 0;
    for (; bits > 0; bits--) {
        quotient <<= 1;
        if (big_compare(n, d) >= 0) {
            big_subtract(n, d);
            quotient |= 1;
        }
        big_shift_left(n, 1);
    }
    const int twice_rest = big_compare(n, d);
    return quotient + (twice_rest > 0 || (twice_rest == 0 && (quotient & 1)));
}

static int to_double(struct big *n, struct big *d, int exponent10, double *out)
{
    if (n->n == 0) {
        *out = 0;
        return 0;
    }
    if (exponent10 > MAX_EXPONENT || exponent10 < -MAX_EXPONENT)
        return -XOFF_E_RANGE;
    big_multiply_power10(exponent10 > 0 ? n : d, exponent10 > 0 ? exponent10 : -exponent10);

    /* Scale to 1 <= n / d < 2; the value is that times 2^exponent2. */
    int exponent2 = big_bits(n) - big_bits(d);
    big_shift_left(exponent2 > 0 ? d : n, exponent2 > 0 ? exponent2 : -exponent2);
    if (big_compare(n, d) < 0) {
        big_shift_left(n, 1);
        exponent2--;
    }
    uint64_t mantissa = divide(n, d, DBL_MANT_DIG);
    if (mantissa >> DBL_MANT_DIG) {
        mantissa >>= 1;
        exponent2++;
    }
    if (exponent2 < DBL_MIN_EXP - 1 || exponent2 > DBL_MAX_EXP - 1)
        return -XOFF_E_RANGE;
    const uint64_t bits =
        ((uint64_t)(exponent2 + 1023) << 52) | (mantissa & ((UINT64_C(1) << 52) - 1));
    memcpy(out, &bits, sizeof *out);
    return 0;
}

static int scan_digits(const char **s, struct big *digits, int *n_significant)
{
    const char *const start = *s;
    for (; text_is_digit(**s); ++*s) {
        if (**s != '0' || *n_significant)
            ++*n_significant;
        if (*n_significant > MAX_DIGITS)
            return -XOFF_E_RANGE;
        big_multiply_add(digits, 10, (uint32_t)(**s - '0'));
    }
    return *s == start ? -XOFF_E_TYPE : 0;
}

/* digits [ . digits ] [ e [+|-] digits ]; leaves *s behind it. */
static int scan_decimal(const char **s, struct decimal *d)
{
    *d = (struct decimal){.is_plain = true};
    int n_significant = 0;
    int rc = scan_digits(s, &d->digits, &n_significant);
    if (rc)
        return rc;
    if (**s == '.') {
        const char *const point = (*s)++;
        rc = scan_digits(s, &d->digits, &n_significant);
        if (rc)
            return rc;
        /* Leading zeros are not counted as digits, so the places are limited here, well below the
         * cap on the exponent: a capped exponent must not cancel part of a long run of zeros. */
        const ptrdiff_t n_places = *s - point - 1;
        if (n_places > 10000)
            return -XOFF_E_RANGE;
        d->exponent10 = (int)-n_places;
        d->is_plain = false;
    }
    if (**s == 'e' || **s == 'E') {
        const char *p = *s + 1;
        const bool is_negative = *p == '-';
        if (*p == '-' || *p == '+')
            p++;
        if (!text_is_digit(*p))
            return -XOFF_E_TYPE;
        int exponent = 0;
        for (; text_is_digit(*p); p++)
            exponent = exponent > 100000 ? exponent : exponent * 10 + (*p - '0');
        d->exponent10 += is_negative ? -exponent : exponent;
        d->is_plain = false;
        *s = p;
    }
    return 0;
}

/* x > 0 as a whole number of n_digits digits times a power of ten: x ~ result 10^exponent10. */
static uint64_t round_to_digits(double x, int n_digits, int *exponent10)
{
    uint64_t limit = 1; /* 10^n_digits */
    for (int i = 0; i < n_digits; i++)
        limit *= 10;
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    const int biased = (int)(bits >> 52);
    const uint64_t mantissa = (bits & ((UINT64_C(1) << 52) - 1)) | (biased ? UINT64_C(1) << 52 : 0);
    const int exponent2 = (biased ? biased : 1) - 1075;

    /* Estimate the decimal exponent of the leading digit from the binary one. log10 2 = 0.30103 is
     * rounded such that the estimate is right or one too low. */
    const int log2_floor = 63 - __builtin_clzll(mantissa) + exponent2;
    int leading =
        log2_floor >= 0 ? log2_floor * 30102 / 100000 : -((-log2_floor * 30104 + 99999) / 100000);
    for (;; leading++) {
        const int scale10 = n_digits - 1 - leading;
        struct big n = {.n = 0}, d = {.n = 1, .limbs = {1}};
        n.limbs[n.n++] = (uint32_t)mantissa;
        if (mantissa >> 32)
            n.limbs[n.n++] = (uint32_t)(mantissa >> 32);
        big_multiply_power10(scale10 > 0 ? &n : &d, scale10 > 0 ? scale10 : -scale10);
        big_shift_left(exponent2 > 0 ? &n : &d, exponent2 > 0 ? exponent2 : -exponent2);
        const int shift = big_bits(&n) - big_bits(&d); /* >= 0: the quotient is at least 1 */
        big_shift_left(&d, shift);
        const uint64_t digits = divide(&n, &d, shift + 1);
        if (digits > limit)
            continue;
        const bool is_carried = digits == limit; /* 99.7 in two digits is 10 10^1 */
        *exponent10 = -scale10 + is_carried;
        return is_carried ? limit / 10 : digits;
    }
}

/* Writes plain digits from 0.0001 to below 10^15, and an exponent elsewhere. */
static void decimal_text(struct text *t, uint64_t digits, int n_digits, int exponent10)
{
    char figures[24];
    struct text f = text_at(figures, sizeof figures, 0);
    text_add_u64(&f, digits);
    const int point = n_digits + exponent10; /* digits before the point */
    const bool is_plain = point >= -3 && point <= 15;
    const int n_before = is_plain ? point : 1;
    if (n_before <= 0)
        text_add(t, "0");
    for (int i = n_before < 0 ? n_before : 0; i < n_digits || i < n_before; i++) {
        if (i == n_before)
            text_add(t, ".");
        const char digit = i < 0 || i >= n_digits ? '0' : figures[i];
        text_add(t, (const char[]){digit, '\0'});
    }
    if (!is_plain) {
        text_add(t, "e");
        text_add_i64(t, point - 1);
    }
}
