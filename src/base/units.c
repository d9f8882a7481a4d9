/* Quantities as text, and the wire constants that depend on the link rate.
 *
 * Parsing is exact integer arithmetic. With digits d1 d2 ... dk after the point and a unit of S
 * base units, the fraction is worth (d1 S + (d2 S + ...) / 10) / 10. Working from the last digit
 * inwards every division must leave no remainder: the total times ten, less d1 S, is the next inner
 * term, so if the total is whole all of them are. The first remainder means "finer than the base
 * unit", whatever the number of digits, and nothing can overflow.
 *
 * Printing tries every unit and takes the shortest text. Of two equally short texts it takes the
 * one without a point, else the one with the larger unit: 9100B and not 9.1KB, 10.3125ms and not
 * 10312.5us.
 *
 * Source: 802.3 31B.3.7 for the response times; the values are those of public switch software and
 * headroom tables, listed in docs/mechanisms/pfc.md.
 */
#include <xoff/units.h>

#include <xoff/err.h>

#include "base/text.h"

struct unit {
    const char *name;
    uint64_t scale; /* in base units */
};

/* Smallest first; a NULL name ends a table. */
static const struct unit time_units[] = {
    {"ps", 1},
    {"ns", (uint64_t)XOFF_NS},
    {"us", (uint64_t)XOFF_US},
    {"ms", (uint64_t)XOFF_MS},
    {"s", (uint64_t)XOFF_S},
    {NULL, 0},
};
static const struct unit rate_units[] = {
    {"bps", 1},          {"kbps", XOFF_KBPS},        {"Mbps", XOFF_MBPS},
    {"Gbps", XOFF_GBPS}, {"Tbps", 1000 * XOFF_GBPS}, {NULL, 0},
};
static const struct unit byte_units[] = {
    {"B", 1},
    {"KB", 1000},
    {"KiB", 1024},
    {"MB", 1000 * 1000},
    {"MiB", 1024 * 1024},
    {"GB", 1000 * 1000 * 1000},
    {"GiB", 1024 * 1024 * 1024},
    {NULL, 0},
};
static const struct unit length_units[] = {{"m", 1000}, {"km", 1000 * 1000}, {NULL, 0}};
static const struct unit count_units[] = {
    {"", 1}, {"k", 1000}, {"M", 1000 * 1000}, {"G", 1000 * 1000 * 1000}, {NULL, 0},
};

static int parse_quantity(const char *text, const struct unit *units, int64_t *out);
static char *format_quantity(char *buf, size_t size, bool negative, uint64_t magnitude,
                             const struct unit *units);

int xoff_parse_time(const char *text, xoff_time *out)
{
    return parse_quantity(text, time_units, out);
}

int xoff_parse_rate(const char *text, xoff_rate *out)
{
    int64_t rate;
    const int rc = parse_quantity(text, rate_units, &rate);
    if (rc == 0)
        *out = (xoff_rate)rate;
    return rc;
}

int xoff_parse_bytes(const char *text, int64_t *out)
{
    return parse_quantity(text, byte_units, out);
}

int xoff_parse_length(const char *text, int64_t *out_mm)
{
    return parse_quantity(text, length_units, out_mm);
}

int xoff_parse_int(const char *text, int64_t *out)
{
    return parse_quantity(text, count_units, out);
}

static uint64_t magnitude_of(int64_t n)
{
    return n < 0 ? 0 - (uint64_t)n : (uint64_t)n;
}

char *xoff_format_time(char *buf, size_t size, xoff_time t)
{
    return format_quantity(buf, size, t < 0, magnitude_of(t), time_units);
}

char *xoff_format_rate(char *buf, size_t size, xoff_rate r)
{
    return format_quantity(buf, size, false, r, rate_units);
}

char *xoff_format_bytes(char *buf, size_t size, int64_t bytes)
{
    return format_quantity(buf, size, bytes < 0, magnitude_of(bytes), byte_units);
}

/* Writes all digits and never k, M or G, because other programs read these numbers too. */
char *xoff_format_int(char *buf, size_t size, int64_t n)
{
    struct text t = text_at(buf, size, 0);
    text_add_i64(&t, n);
    return buf;
}

void xoff_wire_clock_init(struct xoff_wire_clock *clock, xoff_rate rate_bps)
{
    XOFF_ASSERT(rate_bps > 0);
    const uint64_t byte_ps = 8 * (uint64_t)XOFF_S;
    const uint64_t ps_per_byte = byte_ps / rate_bps;
    const bool is_exact = byte_ps % rate_bps == 0 && ps_per_byte <= UINT32_MAX;
    *clock = (struct xoff_wire_clock){
        .rate_bps = rate_bps,
        .ps_per_byte = is_exact ? (uint32_t)ps_per_byte : 0,
    };
}

/* 802.3 31B.3.7 sets one bound per speed; a rate in between is held to the next higher speed, which
 * allows it more quanta.
 *
 * At 10 Gb/s three values are in use: 60 for fibre and twinax PHYs (the 30720 bit times of vendor
 * headroom tables, and the 3840 B of the DSH formula), 74 for 10GBASE-T, and 67, halfway between
 * them, in SONiC. The value here is 60, because lossless fabrics run on fibre and twinax and
 * results stay comparable with the published headroom. 10GBASE-T needs 14 quanta, 896 B, more
 * headroom. */
uint32_t xoff_response_quanta(xoff_rate rate_bps)
{
    static const struct {
        xoff_rate up_to_bps;
        uint32_t quanta;
    } limits[] = {
        {100 * XOFF_MBPS, 1},   {1 * XOFF_GBPS, 2},     {10 * XOFF_GBPS, 60},
        {25 * XOFF_GBPS, 80},   {40 * XOFF_GBPS, 118},  {50 * XOFF_GBPS, 147},
        {100 * XOFF_GBPS, 394}, {200 * XOFF_GBPS, 453},
    };
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++)
        if (rate_bps <= limits[i].up_to_bps)
            return limits[i].quanta;
    return 905; /* 400G; faster links are given the same by current switch software */
}

static const struct unit *find_unit(const struct unit *units, const char *name)
{
    for (; units->name; units++)
        if (strcmp(units->name, name) == 0)
            return units;
    return NULL;
}

/* Digits first..last-1 after the point, in base units; -XOFF_E_RANGE if that is not whole. */
static int fraction_of(const char *first, const char *last, uint64_t scale, uint64_t *out)
{
    uint64_t worth = 0; /* < scale, so the sum below stays under 10 scale */
    while (last > first) {
        worth += (uint64_t)(*--last - '0') * scale;
        if (worth % 10)
            return -XOFF_E_RANGE;
        worth /= 10;
    }
    *out = worth;
    return 0;
}

/* Digits first..last-1 as units of `scale`, plus `rest`, up to INT64_MAX. */
static int total_of(const char *first, const char *last, uint64_t scale, uint64_t rest,
                    int64_t *out)
{
    int64_t n = 0;
    for (; first < last; first++)
        if (__builtin_mul_overflow(n, 10, &n) || __builtin_add_overflow(n, *first - '0', &n))
            return -XOFF_E_RANGE;
    int64_t total;
    if (__builtin_mul_overflow(n, (int64_t)scale, &total) ||
        __builtin_add_overflow(total, (int64_t)rest, &total))
        return -XOFF_E_RANGE;
    *out = total;
    return 0;
}

static const char *skip_digits(const char *s)
{
    while (text_is_digit(*s))
        s++;
    return s;
}

static int parse_quantity(const char *text, const struct unit *units, int64_t *out)
{
    if (text[0] == '-' && text_is_digit(text[1]))
        return -XOFF_E_RANGE;
    const char *const whole_end = skip_digits(text);
    if (whole_end == text)
        return -XOFF_E_TYPE;
    const char *fraction = whole_end, *end = whole_end;
    if (*end == '.') {
        fraction = end + 1;
        end = skip_digits(fraction);
        if (end == fraction)
            return -XOFF_E_TYPE;
    }
    if (!text_is_unit_start(*end))
        return -XOFF_E_TYPE;

    /* One space may stand before a unit, but not in place of one. */
    const bool has_space = *end == ' ';
    const struct unit *unit = find_unit(units, end + has_space);
    if (strcmp(text, "0") == 0)
        unit = &units[0];
    if (!unit || (has_space && end[1] == '\0'))
        return -XOFF_E_UNIT;

    uint64_t rest;
    const int rc = fraction_of(fraction, end, unit->scale, &rest);
    return rc ? rc : total_of(text, whole_end, unit->scale, rest, out);
}

/* magnitude / scale as an exact decimal with its unit; text.cut if it does not end within buf. */
static struct text quantity_text(char *buf, size_t size, uint64_t magnitude,
                                 const struct unit *unit)
{
    struct text t = text_at(buf, size, 0);
    text_add_u64(&t, magnitude / unit->scale);
    uint64_t rest = magnitude % unit->scale;
    if (rest)
        text_add(&t, ".");
    while (rest && !t.cut) {
        rest *= 10;
        text_add(&t, (const char[]){(char)('0' + rest / unit->scale), '\0'});
        rest %= unit->scale;
    }
    text_add(&t, unit->name);
    return t;
}

static char *format_quantity(char *buf, size_t size, bool negative, uint64_t magnitude,
                             const struct unit *units)
{
    char best[32]; /* the smallest unit never needs more than 20 digits and its name */
    size_t best_length = SIZE_MAX;
    bool has_point = false;
    for (; units->name; units++) {
        char candidate[sizeof best];
        const struct text t = quantity_text(candidate, sizeof candidate, magnitude, units);
        if (!t.cut && (t.length < best_length || (t.length == best_length && has_point))) {
            best_length = t.length;
            has_point = memchr(candidate, '.', t.length) != NULL;
            memcpy(best, candidate, t.length + 1);
        }
    }
    struct text t = text_at(buf, size, 0);
    if (negative)
        text_add(&t, "-");
    text_add(&t, best);
    return buf;
}
