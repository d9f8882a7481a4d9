/* Quantities: every unit, every way to be wrong, both sides of every bound; the wire clock. */
#include <float.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <xoff/err.h>
#include <xoff/rng.h>
#include <xoff/units.h>

_Noreturn void xoff_assert_fail(const char *expression, const char *file, int line)
{
    mock_assert(0, expression, file, line);
    abort();
}

#define ARRAY_LENGTH(a) (sizeof(a) / sizeof((a)[0]))

struct row {
    const char *text;
    int rc;
    int64_t value;
};

static void check_rows(const struct row *rows, size_t n, int (*parse)(const char *, int64_t *))
{
    for (size_t i = 0; i < n; i++) {
        int64_t value = -77;
        const int rc = parse(rows[i].text, &value);
        if (rc != rows[i].rc || value != (rc ? -77 : rows[i].value))
            fail_msg("\"%s\": rc %d, value %lld; expected %d, %lld", rows[i].text, rc,
                     (long long)value, rows[i].rc, (long long)rows[i].value);
    }
}

static int parse_rate(const char *text, int64_t *out)
{
    xoff_rate rate = (xoff_rate)-77;
    const int rc = xoff_parse_rate(text, &rate);
    *out = (int64_t)rate;
    return rc;
}

enum { TYPE = -XOFF_E_TYPE, UNIT = -XOFF_E_UNIT, RANGE = -XOFF_E_RANGE };

static void times(void **state)
{
    (void)state;
    const struct row rows[] = {
        {"1ps", 0, 1},
        {"2us", 0, 2000000},
        {"1.5us", 0, 1500000},
        {"3ns", 0, 3000},
        {"4ms", 0, 4000000000},
        {"5s", 0, 5000000000000},
        {"0.000000000001s", 0, 1},
        {"1.000000000000000000000000s", 0, 1000000000000},
        {"007ns", 0, 7000},
        {"10 us", 0, 10000000},
        {"0", 0, 0},
        {"0s", 0, 0},
        {"0.0ns", 0, 0},
        /* finer than a picosecond: the 13th decimal of a second, the 4th of a nanosecond */
        {"0.1ps", RANGE, 0},
        {"0.0000000000001s", RANGE, 0},
        {"1.0001ns", RANGE, 0},
        {"1.001ns", 0, 1001},
        /* 2^63 - 1 = 9223372036854775807 */
        {"9223372036854775807ps", 0, INT64_MAX},
        {"9223372.036854775807s", 0, INT64_MAX},
        {"9223372036854775808ps", RANGE, 0},
        {"9223372.036854775808s", RANGE, 0},
        {"9223373s", RANGE, 0},
        {"99999999999999999999999999999999s", RANGE, 0},
        {"-1us", RANGE, 0},
        {"-0s", RANGE, 0},
        {"5", UNIT, 0},
        {"0.0", UNIT, 0},
        {"00", UNIT, 0},
        {"5 ", UNIT, 0},
        {"0 ", UNIT, 0},
        {"5  us", UNIT, 0},
        {"5us ", UNIT, 0},
        {"5usec", UNIT, 0},
        {"5US", UNIT, 0},
        {"5\xc2\xb5s", UNIT, 0},
        {"5Gbps", UNIT, 0},
        {"1e3us", UNIT, 0},
        {"0x10us", UNIT, 0},
        {"", TYPE, 0},
        {" ", TYPE, 0},
        {" 5us", TYPE, 0},
        {"us", TYPE, 0},
        {".5us", TYPE, 0},
        {"5.us", TYPE, 0},
        {"5.", TYPE, 0},
        {"1.2.3us", TYPE, 0},
        {"1,5us", TYPE, 0},
        {"+5us", TYPE, 0},
        {"-", TYPE, 0},
        {"-us", TYPE, 0},
        {"--5us", TYPE, 0},
        {"5-us", TYPE, 0},
        {"nan", TYPE, 0},
        {"inf", TYPE, 0},
        {"auto", TYPE, 0},
    };
    check_rows(rows, ARRAY_LENGTH(rows), xoff_parse_time);
}

static void rates(void **state)
{
    (void)state;
    const struct row rows[] = {
        {"1bps", 0, 1},
        {"64kbps", 0, 64000},
        {"100Mbps", 0, 100000000},
        {"100Gbps", 0, 100000000000},
        {"10 Gbps", 0, 10000000000},
        {"1.6Tbps", 0, 1600000000000},
        {"2.5Gbps", 0, 2500000000},
        {"10.3125Gbps", 0, 10312500000},
        {"0", 0, 0},
        {"9223372.036854775807Tbps", 0, INT64_MAX},
        {"9223372.036854775808Tbps", RANGE, 0},
        {"0.5bps", RANGE, 0},
        {"0.0001kbps", RANGE, 0},
        {"-10Gbps", RANGE, 0},
        {"10", UNIT, 0},
        {"10G", UNIT, 0},
        {"10gbps", UNIT, 0},
        {"10Kbps", UNIT, 0},
        {"10mbps", UNIT, 0},
        {"10GB", UNIT, 0},
        {"Gbps", TYPE, 0},
    };
    check_rows(rows, ARRAY_LENGTH(rows), parse_rate);
}

static void sizes(void **state)
{
    (void)state;
    const struct row rows[] = {
        {"9100B", 0, 9100},
        {"1KB", 0, 1000},
        {"1KiB", 0, 1024},
        {"16MB", 0, 16000000},
        {"16MiB", 0, 16777216}, /* 16 * 2^20 */
        {"2GB", 0, 2000000000},
        {"2GiB", 0, 2147483648},
        {"1.5KiB", 0, 1536},
        {"0.0009765625KiB", 0, 1},
        {"0.00048828125KiB", RANGE, 0}, /* half a byte */
        /* 2^-30 = 9.31322574615478515625e-10: thirty decimals, and still exactly one byte */
        {"0.000000000931322574615478515625GiB", 0, 1},
        {"0.000000000931322574615478515624GiB", RANGE, 0},
        {"1.3KiB", RANGE, 0}, /* 1331.2 */
        {"8589934591GiB", 0, INT64_C(8589934591) << 30},
        {"8589934592GiB", RANGE, 0}, /* 2^33 2^30 = 2^63 */
        {"0", 0, 0},
        {"0B", 0, 0},
        {"-1B", RANGE, 0},
        {"0.5B", RANGE, 0},
        {"1500", UNIT, 0},
        {"1kB", UNIT, 0},
        {"1b", UNIT, 0},
        {"1M", UNIT, 0},
        {"1MBs", UNIT, 0},
        {"B", TYPE, 0},
    };
    check_rows(rows, ARRAY_LENGTH(rows), xoff_parse_bytes);
}

static void lengths(void **state)
{
    (void)state;
    const struct row rows[] = {
        {"40m", 0, 40000},
        {"1.5m", 0, 1500},
        {"0.001m", 0, 1},
        {"10km", 0, 10000000},
        {"0.0005m", RANGE, 0},
        {"0", 0, 0},
        {"40", UNIT, 0},
        {"40mm", UNIT, 0},
        {"40M", UNIT, 0},
        {"-40m", RANGE, 0},
        {"m", TYPE, 0},
        {"9223372036854775.807m", 0, INT64_MAX},
        {"9223372036854775.808m", RANGE, 0},
    };
    check_rows(rows, ARRAY_LENGTH(rows), xoff_parse_length);
    assert_int_equal(40000 * XOFF_PS_PER_MM, 200 * XOFF_NS); /* 40 m at 5 ns/m */
}

static void counts(void **state)
{
    (void)state;
    const struct row rows[] = {
        {"0", 0, 0},
        {"64", 0, 64},
        {"2k", 0, 2000},
        {"1.5k", 0, 1500},
        {"3 M", 0, 3000000},
        {"4G", 0, 4000000000},
        {"1.0", 0, 1},
        {"1.5", RANGE, 0},
        {"-1", RANGE, 0},
        {"9223372036854775807", 0, INT64_MAX},
        {"9223372036854775808", RANGE, 0},
        {"9223372036.854775807G", 0, INT64_MAX},
        {"9223372036.854775808G", RANGE, 0},
        {"1e3", UNIT, 0},
        {"1K", UNIT, 0},
        {"1T", UNIT, 0},
        {"7 ", UNIT, 0},
        {"7us", UNIT, 0},
        {"7/8", TYPE, 0},
        {"1_000", TYPE, 0},
        {"k", TYPE, 0},
        {"", TYPE, 0},
    };
    check_rows(rows, ARRAY_LENGTH(rows), xoff_parse_int);
}

static void reals(void **state)
{
    (void)state;
    const struct {
        const char *text;
        int rc;
        double value;
    } rows[] = {
        {"0", 0, 0.0},
        {"0.25", 0, 0.25},
        {"1e-3", 0, 1e-3},
        {"1E+3", 0, 1e3},
        {"1.5e3", 0, 1500},
        {"1/8", 0, 0.125},
        {"1/3", 0, 1.0 / 3},
        {"2/1", 0, 2},
        {"25 %", 0, 0.25},
        {"25%", 0, 0.25},
        {"0.1 %", 0, 0.001},
        {"0/5", 0, 0.0},
        {"0.1", 0, 0.1},
        {"3.141592653589793238462643383279", 0, 3.141592653589793},
        /* ties and their neighbours: 2^53 + 1 is halfway between 2^53 and 2^53 + 2, even wins */
        {"9007199254740993", 0, 9007199254740992.0},
        {"9007199254740993.00000000000000000000000000001", 0, 9007199254740994.0},
        {"9007199254740995", 0, 9007199254740996.0},
        {"9007199254740994.99999999999999999999999999999", 0, 9007199254740994.0},
        {"18014398509481983/2", 0, 9007199254740992.0}, /* 2^53 - 1/2: carries to 2^53 */
        {"1.7976931348623157e308", 0, DBL_MAX},
        {"1.7976931348623159e308", RANGE, 0},
        {"1e309", RANGE, 0},
        {"1e99999999999999999999", RANGE, 0},
        {"2.2250738585072014e-308", 0, DBL_MIN},
        {"2.2250738585072009e-308", RANGE, 0},
        {"1e-400", RANGE, 0},
        {"0e99999999999999999999", 0, 0.0},
        {"1/0", RANGE, 0},
        {"0/0", RANGE, 0},
        {"-1", RANGE, 0},
        {"-0.5", RANGE, 0},
        {"", TYPE, 0},
        {"-", TYPE, 0},
        {".5", TYPE, 0},
        {"5.", TYPE, 0},
        {"1e", TYPE, 0},
        {"1e+", TYPE, 0},
        {"1/", TYPE, 0},
        {"1/-8", TYPE, 0},
        {"1/2.5", TYPE, 0},
        {"1.5/2", TYPE, 0},
        {"1/2/3", TYPE, 0},
        {"1 / 8", UNIT, 0},
        {"1/8 %", UNIT, 0},
        {"25  %", UNIT, 0},
        {"25 %%", UNIT, 0},
        {"25% ", UNIT, 0},
        {"0.5us", UNIT, 0},
        {"0x10", UNIT, 0},
        {"nan", TYPE, 0},
        {"inf", TYPE, 0},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
        double value = -77;
        const int rc = xoff_parse_real(rows[i].text, &value);
        if (rc != rows[i].rc || value != (rc ? -77 : rows[i].value))
            fail_msg("\"%s\": rc %d, value %.17g; expected %d, %.17g", rows[i].text, rc, value,
                     rows[i].rc, rows[i].value);
    }
}

/* 64 digits pass, 65 do not; leading zeros are free, up to 10000 places. */
static void reals_have_bounded_length(void **state)
{
    (void)state;
    char text[10300];
    double value;
    memset(text, '1', 65);
    text[64] = '\0';
    assert_int_equal(xoff_parse_real(text, &value), 0);
    assert_true(value == 1.1111111111111111e63);
    text[64] = '1';
    text[65] = '\0';
    assert_int_equal(xoff_parse_real(text, &value), RANGE);

    memset(text, '0', sizeof text);
    text[1] = '.';
    strcpy(text + 2 + 9999, "1e10000"); /* 10000 places: 10^-10000 10^10000 */
    assert_int_equal(xoff_parse_real(text, &value), 0);
    assert_true(value == 1);
    memset(text + 2, '0', 10010);
    strcpy(text + 2 + 10000, "1e10001");
    assert_int_equal(xoff_parse_real(text, &value), RANGE);
}

/* Random digits, point and exponent against the C library. */
static void reals_agree_with_strtod(void **state)
{
    (void)state;
    struct xoff_rng rng;
    xoff_rng_init(&rng, 11, 0, 0);
    for (int i = 0; i < 20000; i++) {
        char text[64];
        int n = 1 + (int)xoff_rng_below(&rng, 25), length = 0;
        const int point = (int)xoff_rng_below(&rng, 30);
        for (int k = 0; k < n; k++) {
            if (k == point && k > 0)
                text[length++] = '.';
            text[length++] = (char)('0' + xoff_rng_below(&rng, 10));
        }
        sprintf(text + length, "e%d", (int)xoff_rng_below(&rng, 580) - 290);
        double value;
        const int rc = xoff_parse_real(text, &value);
        const double expected = strtod(text, NULL);
        if (expected > DBL_MAX || (expected > 0 && expected < DBL_MIN))
            assert_int_equal(rc, RANGE);
        else if (rc || value != expected)
            fail_msg("\"%s\": rc %d, %.17g", text, rc, value);
    }
}

static void shortest_text(void **state)
{
    (void)state;
    const struct {
        int64_t value;
        const char *as_time, *as_rate, *as_bytes, *as_int;
    } rows[] = {
        {0, "0s", "0bps", "0B", "0"},
        {1, "1ps", "1bps", "1B", "1"},
        {999, "999ps", "999bps", "999B", "999"},
        {1000, "1ns", "1kbps", "1KB", "1000"},
        {1024, "1024ps", "1024bps", "1KiB", "1024"},
        {1500, "1.5ns", "1500bps", "1500B", "1500"},
        {9100, "9.1ns", "9100bps", "9100B", "9100"},
        {1500000, "1.5us", "1.5Mbps", "1.5MB", "1500000"},
        {16000000, "16us", "16Mbps", "16MB", "16000000"},
        {16777216, "16777216ps", "16777216bps", "16MiB", "16777216"},
        {2621440, "2621440ps", "2621440bps", "2.5MiB", "2621440"},
        {100000000000, "0.1s", "100Gbps", "100GB", "100000000000"},
        {10312500000, "10.3125ms", "10.3125Gbps", "10.3125GB", "10312500000"},
        {1600000000000, "1.6s", "1.6Tbps", "1600GB", "1600000000000"},
        {INT64_MAX, "9223372036854775807ps", "9223372036854775807bps", "9223372036854775807B",
         "9223372036854775807"},
        {-1500, "-1.5ns", NULL, "-1500B", "-1500"},
        {INT64_MIN, "-9223372036854775808ps", NULL, "-8589934592GiB", "-9223372036854775808"},
    };
    char buf[32];
    for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
        assert_string_equal(xoff_format_time(buf, sizeof buf, rows[i].value), rows[i].as_time);
        assert_string_equal(xoff_format_bytes(buf, sizeof buf, rows[i].value), rows[i].as_bytes);
        assert_string_equal(xoff_format_int(buf, sizeof buf, rows[i].value), rows[i].as_int);
        if (rows[i].as_rate)
            assert_string_equal(xoff_format_rate(buf, sizeof buf, (xoff_rate)rows[i].value),
                                rows[i].as_rate);
    }
    assert_string_equal(xoff_format_rate(buf, sizeof buf, UINT64_MAX), "18446744073709551615bps");
}

static void shortest_reals(void **state)
{
    (void)state;
    const struct {
        double value;
        const char *text;
    } rows[] = {
        {0, "0"},
        {1, "1"},
        {0.5, "0.5"},
        {0.1, "0.1"},
        {0.05, "0.05"},
        {0.3, "0.3"},
        {0.1 + 0.2, "0.30000000000000004"},
        {1.0 / 3, "0.3333333333333333"},
        {400, "400"},
        {12.5, "12.5"},
        {9.5, "9.5"},
        {99.99, "99.99"},
        {0.0001, "0.0001"},
        {0.00009, "9e-5"},
        {1.25e-9, "1.25e-9"},
        {123456789012345, "123456789012345"},
        {1e14, "100000000000000"},
        {1e15, "1e15"},
        {1e23, "1e23"},
        {9007199254740992.0, "9.007199254740992e15"},
        {5e-324, "4.9406564584124654e-324"}, /* cannot be parsed back: all 17 digits */
        {DBL_MIN, "2.2250738585072014e-308"},
        {DBL_MAX, "1.7976931348623157e308"},
        {-0.25, "-0.25"},
    };
    char buf[32];
    for (size_t i = 0; i < ARRAY_LENGTH(rows); i++)
        assert_string_equal(xoff_format_real(buf, sizeof buf, rows[i].value), rows[i].text);
    assert_string_equal(xoff_format_real(buf, sizeof buf, DBL_MAX * 2), "inf");
    assert_string_equal(xoff_format_real(buf, sizeof buf, -DBL_MAX * 2), "-inf");
    const double inf = DBL_MAX * 2;
    assert_string_equal(xoff_format_real(buf, sizeof buf, inf - inf), "nan");
}

/* Values of every magnitude, many of them round: what is printed parses back to the same. */
static void text_parses_back(void **state)
{
    (void)state;
    struct xoff_rng rng;
    xoff_rng_init(&rng, 12, 0, 0);
    for (int i = 0; i < 20000; i++) {
        uint64_t value = (xoff_rng_u64(&rng) >> 1) >> xoff_rng_below(&rng, 63);
        for (uint64_t zeros = xoff_rng_below(&rng, 10); zeros && value < UINT64_MAX / 20; zeros--)
            value *= i % 3 ? 10 : 2;
        char buf[32];
        int64_t back = -1;
        xoff_rate rate = 0;
        assert_int_equal(xoff_parse_time(xoff_format_time(buf, 32, (int64_t)value), &back), 0);
        assert_true(back == (int64_t)value);
        assert_int_equal(xoff_parse_bytes(xoff_format_bytes(buf, 32, (int64_t)value), &back), 0);
        assert_true(back == (int64_t)value);
        assert_int_equal(xoff_parse_int(xoff_format_int(buf, 32, (int64_t)value), &back), 0);
        assert_true(back == (int64_t)value);
        assert_int_equal(xoff_parse_rate(xoff_format_rate(buf, 32, value), &rate), 0);
        assert_true(rate == value);
    }
    for (int i = 0; i < 3000; i++) {
        /* a random normal double: exponent 1 .. 2046, no sign */
        const uint64_t bits = (xoff_rng_u64(&rng) >> 12) | (1 + xoff_rng_below(&rng, 2046)) << 52;
        double value, back;
        memcpy(&value, &bits, sizeof value);
        char buf[32];
        assert_int_equal(xoff_parse_real(xoff_format_real(buf, 32, value), &back), 0);
        assert_true(back == value);
        assert_true(strtod(buf, NULL) == value);
        assert_true(strlen(buf) <= 24);
    }
}

static void small_buffers_cut_and_end(void **state)
{
    (void)state;
    char buf[8] = "xxxxxxx";
    assert_ptr_equal(xoff_format_rate(buf, 4, 100 * XOFF_GBPS), buf);
    assert_memory_equal(buf, "100\0xxx", 8);
    xoff_format_real(buf, 1, 0.5);
    assert_memory_equal(buf, "\0", 1);
    buf[0] = 'y';
    xoff_format_int(buf, 0, 5);
    assert_int_equal(buf[0], 'y');
}

/* Random strings from the characters that mean something, and from all bytes. */
static void random_text_never_crashes(void **state)
{
    (void)state;
    static const char likely[] = "0123456789..--  eE+/%numskMGTBibp";
    struct xoff_rng rng;
    xoff_rng_init(&rng, 13, 0, 0);
    int n_accepted = 0;
    for (int i = 0; i < 200000; i++) {
        /* exactly sized, so that a sanitizer sees a read past the end */
        const size_t length = xoff_rng_below(&rng, 12);
        char *text = malloc(length + 1);
        for (size_t k = 0; k < length; k++)
            text[k] = i % 4 ? likely[xoff_rng_below(&rng, sizeof likely - 1)]
                            : (char)(1 + xoff_rng_below(&rng, 255));
        text[length] = '\0';
        int (*const parsers[])(const char *, int64_t *) = {
            xoff_parse_time, parse_rate, xoff_parse_bytes, xoff_parse_length, xoff_parse_int,
        };
        for (size_t k = 0; k < ARRAY_LENGTH(parsers); k++) {
            int64_t value = -1;
            const int rc = parsers[k](text, &value);
            assert_true(rc == 0 || rc == TYPE || rc == UNIT || rc == RANGE);
            assert_true(rc != 0 || value >= 0);
            n_accepted += rc == 0;
        }
        double real = -1;
        const int rc = xoff_parse_real(text, &real);
        assert_true(rc == 0 || rc == TYPE || rc == UNIT || rc == RANGE);
        assert_true(rc != 0 || (real >= 0 && real <= DBL_MAX));
        free(text);
    }
    assert_true(n_accepted > 1000); /* or the strings prove nothing */
}

static void wire_clock_of_common_rates(void **state)
{
    (void)state;
    const struct {
        xoff_rate rate_bps;
        uint32_t ps_per_byte;
    } rows[] = {
        {100 * XOFF_MBPS, 80000},    {1 * XOFF_GBPS, 8000},
        {10 * XOFF_GBPS, 800},       {25 * XOFF_GBPS, 320},
        {40 * XOFF_GBPS, 200},       {50 * XOFF_GBPS, 160},
        {100 * XOFF_GBPS, 80},       {200 * XOFF_GBPS, 40},
        {400 * XOFF_GBPS, 20},       {800 * XOFF_GBPS, 10},
        {1600 * XOFF_GBPS, 5},       {3 * XOFF_GBPS, 0},
        {8 * XOFF_KBPS, 1000000000}, {1600, 0}, /* 5e9 ps is exact but above 2^32 */
        {2000, 4000000000},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
        struct xoff_wire_clock clock = {.carry = 99};
        xoff_wire_clock_init(&clock, rows[i].rate_bps);
        assert_int_equal(clock.rate_bps, rows[i].rate_bps);
        assert_int_equal(clock.ps_per_byte, rows[i].ps_per_byte);
        assert_int_equal(clock.carry, 0);
    }
    struct xoff_wire_clock clock;
    expect_assert_failure(xoff_wire_clock_init(&clock, 0));

    /* 1500 B at 100G from t = 1000: (1500 + 8) * 80 = 120640, then 12 * 80 = 960. */
    xoff_time last_bit, free_at;
    xoff_wire_clock_init(&clock, 100 * XOFF_GBPS);
    xoff_wire_clock_send(&clock, 1000, 1500, true, &last_bit, &free_at);
    assert_int_equal(last_bit, 1000 + 120640);
    assert_int_equal(free_at, 1000 + 120640 + 960);
}

/* At 3 Gb/s a byte takes 8000/3 ps. A 64 B frame: 84 * 8000/3 = 224000 exactly; 65 B: 85 * 8000/3 =
 * 226666.67. Three back to back are 680000 ps, not 3 * 226666. */
static void wire_clock_carries_the_remainder(void **state)
{
    (void)state;
    struct xoff_wire_clock clock;
    xoff_time last_bit, free_at = 0;
    xoff_wire_clock_init(&clock, 3 * XOFF_GBPS);
    const xoff_time expected[] = {226666, 453333, 680000};
    for (int i = 0; i < 3; i++) {
        xoff_wire_clock_send(&clock, free_at, 65, i > 0, &last_bit, &free_at);
        assert_int_equal(free_at, expected[i]);
    }
    assert_int_equal(clock.carry, 0);

    /* After a pause the remainder of old frames is void: again 226666, not 226667. */
    xoff_wire_clock_send(&clock, 0, 65, true, &last_bit, &free_at);
    xoff_wire_clock_send(&clock, 1000000, 65, false, &last_bit, &free_at);
    assert_int_equal(free_at, 1226666);
    assert_int_equal(last_bit, 1000000 + 194666); /* 73 * 8000/3 = 194666.67 */

    /* A million odd frames end within a picosecond of the exact time. */
    struct xoff_rng rng;
    xoff_rng_init(&rng, 14, 0, 0);
    const xoff_rate rate = UINT64_C(7777777777);
    xoff_wire_clock_init(&clock, rate);
    uint64_t n_bytes = 0;
    free_at = 0;
    for (int i = 0; i < 1000000; i++) {
        const uint32_t bytes = 64 + (uint32_t)xoff_rng_below(&rng, 1455);
        n_bytes += bytes + XOFF_OVERHEAD_BYTES;
        xoff_wire_clock_send(&clock, free_at, bytes, true, &last_bit, &free_at);
        assert_true(last_bit < free_at);
    }
    assert_true(free_at == (xoff_time)((unsigned __int128)n_bytes * 8 * (uint64_t)XOFF_S / rate));
}

static void time_arithmetic(void **state)
{
    (void)state;
    assert_int_equal(xoff_time_after(5, 7), 12);
    assert_true(xoff_time_after(XOFF_NEVER - 1, 1) == XOFF_NEVER);
    assert_true(xoff_time_after(XOFF_NEVER - 1, 2) == XOFF_NEVER);
    assert_true(xoff_time_after(XOFF_NEVER, 0) == XOFF_NEVER);
    assert_true(xoff_time_after(XOFF_NEVER, XOFF_NEVER) == XOFF_NEVER);
    assert_int_equal(xoff_time_min(3, XOFF_NEVER), 3);
    /* 1 bit at 3 bps: 333333333333.3 ps, rounded up; 3 bits are exact. */
    assert_int_equal(xoff_time_of_bits(1, 3), 333333333334);
    assert_int_equal(xoff_time_of_bits(3, 3), XOFF_S);
    /* 80 ps at 100G are one byte; 81 are two, rounded up. */
    assert_int_equal(xoff_bytes_in(0, 100 * XOFF_GBPS), 0);
    assert_int_equal(xoff_bytes_in(80, 100 * XOFF_GBPS), 1);
    assert_int_equal(xoff_bytes_in(81, 100 * XOFF_GBPS), 2);
    /* 65535 * 512 bits at 100G: 33553920 / 100 ns = 335539200 ps */
    assert_int_equal(xoff_quanta_time(65535, 100 * XOFF_GBPS), 335539200);
    assert_int_equal(xoff_quanta_time(1, 3 * XOFF_GBPS), 170667); /* 512/3 ns = 170666.67 */
    assert_int_equal(xoff_quanta_time(0, XOFF_GBPS), 0);
}

static void response_quanta(void **state)
{
    (void)state;
    const struct {
        xoff_rate rate_bps;
        uint32_t quanta;
    } rows[] = {
        {1, 1},
        {100 * XOFF_MBPS, 1},
        {100 * XOFF_MBPS + 1, 2},
        {XOFF_GBPS, 2},
        {XOFF_GBPS + 1, 60},
        {10 * XOFF_GBPS, 60},
        {10 * XOFF_GBPS + 1, 80},
        {25 * XOFF_GBPS, 80},
        {25 * XOFF_GBPS + 1, 118},
        {40 * XOFF_GBPS, 118},
        {40 * XOFF_GBPS + 1, 147},
        {50 * XOFF_GBPS, 147},
        {50 * XOFF_GBPS + 1, 394},
        {100 * XOFF_GBPS, 394},
        {100 * XOFF_GBPS + 1, 453},
        {200 * XOFF_GBPS, 453},
        {200 * XOFF_GBPS + 1, 905},
        {400 * XOFF_GBPS, 905},
        {800 * XOFF_GBPS, 905},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(rows); i++)
        assert_int_equal(xoff_response_quanta(rows[i].rate_bps), rows[i].quanta);
    /* the 3840 B of the DSH headroom: 60 quanta of 64 B */
    assert_int_equal(xoff_response_quanta(10 * XOFF_GBPS) * 64, 3840);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(times),
        cmocka_unit_test(rates),
        cmocka_unit_test(sizes),
        cmocka_unit_test(lengths),
        cmocka_unit_test(counts),
        cmocka_unit_test(reals),
        cmocka_unit_test(reals_have_bounded_length),
        cmocka_unit_test(reals_agree_with_strtod),
        cmocka_unit_test(shortest_text),
        cmocka_unit_test(shortest_reals),
        cmocka_unit_test(text_parses_back),
        cmocka_unit_test(small_buffers_cut_and_end),
        cmocka_unit_test(random_text_never_crashes),
        cmocka_unit_test(wire_clock_of_common_rates),
        cmocka_unit_test(wire_clock_carries_the_remainder),
        cmocka_unit_test(time_arithmetic),
        cmocka_unit_test(response_quanta),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
