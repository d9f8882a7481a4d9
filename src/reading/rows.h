/* Rows of run.sqlite, and their values as JSON. Memory is asserted. */
#ifndef READING_ROWS_H
#define READING_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>
#include <sqlite3.h>

#include <xoff/err.h>
#include <xoff/time.h>

#define NONE UINT32_MAX /* no such index */

/* Rows of a query, and the first failure. After a failure there are no more rows. */
struct rows {
    sqlite3 *db;
    sqlite3_stmt *statement;
    const char *path;
    struct xoff_err *err;
    int status;
};
/* `sql` has one parameter, the run's id. */
void rows_begin(struct rows *rows, const char *sql, int64_t run_id);
bool rows_next(struct rows *rows);
bool rows_is_null(struct rows *rows, int column);
int64_t rows_int(struct rows *rows, int column); /* at most 2^61 either way */
/* Returns NONE when there is no such index. */
uint32_t rows_index(struct rows *rows, int column);
double rows_real(struct rows *rows, int column);
/* Never NULL; valid until the next row. */
const char *rows_text(struct rows *rows, int column);
/* Sets the reason why a file cannot be used. */
int rows_fail(struct rows *rows, const char *reason);

/* JSON of a value; null when it is unknown or not finite. In text, broken characters are replaced,
 * and what exceeds `limit` bytes (0: no limit) is cut with a note. */
json_t *json_number(double value);
json_t *json_rounded(double value, int digits); /* significant digits */
json_t *json_seconds(int64_t ps);
json_t *json_words(const char *text, size_t limit);
json_t *rows_json_number(struct rows *rows, int column);
json_t *rows_json_seconds(struct rows *rows, int column);
json_t *rows_json_text(struct rows *rows, int column, size_t limit);
/* Levels from 0 to 1 as text: a letter for each (A for 0, to z for 1; above 0 at least B), and
 * after it how often it repeats, if it does. */
json_t *json_levels(const double *levels, uint32_t n);
/* Makes points [value, fraction of values up to it] of ascending values. At most `most` points (at
 * least 2) are taken: first, last, even ranks, and closer ones towards the end. */
json_t *json_cdf(const double *sorted, uint64_t n, uint32_t most);

#endif
