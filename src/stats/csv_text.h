/* Fields of CSV files (RFC 4180). */
#ifndef STATS_CSV_TEXT_H
#define STATS_CSV_TEXT_H

#include <stdio.h>

/* Writes a field, quoted where it needs to be. */
void csv_put_text(FILE *out, const char *text);

#endif
