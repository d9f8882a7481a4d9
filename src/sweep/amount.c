/* Amounts (amount.h). */
#include "sweep/amount.h"

#include <math.h>
#include <stdio.h>

#include <xoff/units.h>

#include "stats/quantity.h"

const char *const amount_units[N_AMOUNTS] = {"", "", "s", "bps", "B"};
const char *const amount_endings[N_AMOUNTS] = {"", "", "_s", "_bps", "_bytes"};

enum amount_unit amount_read(const char *text, double *out)
{
    static const enum amount_unit of_kind[N_KINDS] = {[KIND_ANY] = AMOUNT_NUMBER,
                                                      [KIND_NUMBER] = AMOUNT_NUMBER,
                                                      [KIND_TIME] = AMOUNT_TIME,
                                                      [KIND_RATE] = AMOUNT_RATE,
                                                      [KIND_SIZE] = AMOUNT_SIZE};
    struct quantity q;
    if (!*text || quantity_read(text, &q)) {
        *out = NAN;
        return AMOUNT_WORD;
    }
    *out = q.value;
    return of_kind[q.kind];
}

void amount_write(char *buf, size_t size, enum amount_unit unit, double value)
{
    if (unit == AMOUNT_TIME)
        xoff_format_time(buf, size, (xoff_time)llround(value * (double)XOFF_S));
    else if (unit == AMOUNT_RATE)
        xoff_format_rate(buf, size, (xoff_rate)llround(value));
    else if (unit == AMOUNT_SIZE)
        xoff_format_bytes(buf, size, (int64_t)llround(value));
    else
        snprintf(buf, size, "%.9g", value);
}
