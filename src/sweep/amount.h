/* Values of parameters as numbers: plain ones, times, rates and sizes. */
#ifndef SWEEP_AMOUNT_H
#define SWEEP_AMOUNT_H

#include <stdbool.h>
#include <stddef.h>

enum amount_unit { AMOUNT_WORD, AMOUNT_NUMBER, AMOUNT_TIME, AMOUNT_RATE, AMOUNT_SIZE, N_AMOUNTS };
/* "", "", "s", "bps", "B": as units of metrics. */
extern const char *const amount_units[N_AMOUNTS];
/* What a column's name ends with: "", "", "_s", "_bps", "_bytes". */
extern const char *const amount_endings[N_AMOUNTS];

/* Reads a number with its unit into seconds, bits per second, bytes or a number. AMOUNT_WORD: it is
 * none, and *out is NAN. */
enum amount_unit amount_read(const char *text, double *out);
/* Writes text that a scenario accepts. Times, rates and sizes are whole in their base units. */
void amount_write(char *buf, size_t size, enum amount_unit unit, double value);

#endif
