/* Quantities of expectations: their units in text. */
#include "stats/quantity.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <xoff/units.h>

#include "stats/output.h"

const char *const quantity_words[N_KINDS] = {"a bare number", "a count or ratio", "a time",
                                             "a rate", "a size"};

/* The kind that a number's ending stands for. */
static enum kind kind_of_unit(const char *number)
{
    const size_t n = strlen(number);
    if (n >= 3 && !strcmp(number + n - 3, "bps"))
        return KIND_RATE;
    if (number[n - 1] == 's')
        return KIND_TIME;
    if (number[n - 1] == 'B')
        return KIND_SIZE;
    return number[n - 1] == '%' ? KIND_NUMBER : KIND_ANY;
}

/* The kind selects the parser of units.h, which must accept all of the text. */
int quantity_read(const char *number, struct quantity *out)
{
    xoff_time time = 0;
    xoff_rate rate = 0;
    int64_t whole = 0;
    int status;

    out->kind = kind_of_unit(number);
    switch (out->kind) {
    case KIND_TIME:
        status = xoff_parse_time(number, &time);
        out->value = output_seconds(time);
        return status;
    case KIND_RATE:
        status = xoff_parse_rate(number, &rate);
        out->value = (double)rate;
        return status;
    case KIND_SIZE:
        status = xoff_parse_bytes(number, &whole);
        out->value = (double)whole;
        return status;
    default:
        status = xoff_parse_real(number, &out->value);
        if (status && !xoff_parse_int(number, &whole)) {
            out->value = (double)whole;
            return 0;
        }
        return status;
    }
}

void quantity_format(char *buf, size_t size, struct quantity q, int digits)
{
    static const struct {
        enum kind kind;
        double scale;
        const char *unit;
    } scales[] = {
        {KIND_TIME, 1, "s"},      {KIND_TIME, 1e-3, "ms"},  {KIND_TIME, 1e-6, "us"},
        {KIND_TIME, 1e-9, "ns"},  {KIND_TIME, 1e-12, "ps"}, {KIND_RATE, 1e12, "Tbps"},
        {KIND_RATE, 1e9, "Gbps"}, {KIND_RATE, 1e6, "Mbps"}, {KIND_RATE, 1e3, "kbps"},
        {KIND_RATE, 1, "bps"},    {KIND_SIZE, 1e9, "GB"},   {KIND_SIZE, 1e6, "MB"},
        {KIND_SIZE, 1e3, "KB"},   {KIND_SIZE, 1, "B"},
    };
    double scale = 1;
    const char *unit = "";
    for (size_t i = 0; i < sizeof scales / sizeof *scales; i++) {
        if (scales[i].kind != q.kind)
            continue;
        scale = scales[i].scale;
        unit = scales[i].unit;
        if (quantity_magnitude(q.value) >= scale || (q.value == 0 && scale == 1))
            break;
    }
    /* Counts are shown whole: 1e15 is below 2^53, so the conversion is exact. */
    if (!*unit && quantity_magnitude(q.value) < 1e15 && (double)(int64_t)q.value == q.value)
        snprintf(buf, size, "%lld", (long long)q.value);
    else
        snprintf(buf, size, "%.*g%s", digits, q.value / scale, unit);
}

void quantity_say(char *buf, size_t size, struct quantity q, int digits)
{
    char text[64];
    quantity_format(text, sizeof text, q, digits);
    const size_t n = strspn(text, "-+.0123456789e");
    const char *unit = text + n, *bps = strstr(unit, "bps");
    if (bps)
        snprintf(buf, size, "%.*s %.*sb/s", (int)n, text, (int)(bps - unit), unit);
    else
        snprintf(buf, size, "%.*s%s%s", (int)n, text, *unit ? " " : "", unit);
}
