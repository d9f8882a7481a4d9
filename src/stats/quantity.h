/* Quantities of expectations: a value with its kind, read from and written as text with a unit. */
#ifndef STATS_QUANTITY_H
#define STATS_QUANTITY_H

#include <stddef.h>

enum kind { KIND_ANY, KIND_NUMBER, KIND_TIME, KIND_RATE, KIND_SIZE, N_KINDS };
extern const char *const quantity_words[N_KINDS]; /* "a time" and the like, for messages */

struct quantity {
    double value; /* in seconds, bits per second or bytes, or a number */
    enum kind kind;
};

/* Reads a number with its unit: 3, 0.5, 1e-3, 10k, 25%, 2us, 10Gbps, 16KiB. Returns 0 or a negative
 * code. */
int quantity_read(const char *text, struct quantity *out);
/* Writes the value in the largest unit that leaves it at least 1, with `digits` significant
 * digits. */
void quantity_format(char *buf, size_t size, struct quantity q, int digits);
/* The same as in a sentence: 10 Gb/s in place of 10Gbps. */
void quantity_say(char *buf, size_t size, struct quantity q, int digits);

static inline double quantity_magnitude(double x)
{
    return x < 0 ? -x : x;
}

#endif
