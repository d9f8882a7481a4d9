/* Rows of run.sqlite, and their values as JSON. Unknown values become null, whatever the file
 * holds. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "reading/rows.h"

/* No time, size or number of a real run is larger; of a damaged one, sums of a few have room. */
#define MOST_INT (INT64_C(1) << 61)

int rows_fail(struct rows *rows, const char *reason)
{
    if (rows->status)
        return rows->status;
    rows->status = xoff_err_set(rows->err, XOFF_E_SYNTAX, NULL, NULL, reason);
    snprintf(rows->err->file, sizeof rows->err->file, "%s", rows->path);
    return rows->status;
}

/* Turns an SQLite code into words that tell a damaged file from one that is not ours. */
static void fail(struct rows *rows, int code)
{
    char reason[256];
    const char *text = sqlite3_errmsg(rows->db);
    const int primary = code & 0xff;
    if (primary == SQLITE_CORRUPT || primary == SQLITE_NOTADB)
        snprintf(reason, sizeof reason, "the file is damaged (%s); run the scenario again", text);
    else if (primary == SQLITE_ERROR)
        snprintf(reason, sizeof reason, "not a results file of xoff (%s)", text);
    else
        snprintf(reason, sizeof reason, "cannot be read: %s", text);
    rows_fail(rows, reason);
}

void rows_begin(struct rows *rows, const char *sql, int64_t run_id)
{
    XOFF_ASSERT(!rows->statement);
    if (rows->status)
        return;
    const int code = sqlite3_prepare_v2(rows->db, sql, -1, &rows->statement, NULL);
    if (code != SQLITE_OK)
        fail(rows, code);
    else if (sqlite3_bind_parameter_count(rows->statement))
        sqlite3_bind_int64(rows->statement, 1, run_id);
}

bool rows_next(struct rows *rows)
{
    if (!rows->statement)
        return false;
    const int code = rows->status ? SQLITE_DONE : sqlite3_step(rows->statement);
    if (code == SQLITE_ROW)
        return true;
    if (code != SQLITE_DONE)
        fail(rows, code);
    sqlite3_finalize(rows->statement);
    rows->statement = NULL;
    return false;
}

bool rows_is_null(struct rows *rows, int column)
{
    return sqlite3_column_type(rows->statement, column) == SQLITE_NULL;
}

int64_t rows_int(struct rows *rows, int column)
{
    const int64_t value = sqlite3_column_int64(rows->statement, column);
    return value < -MOST_INT ? -MOST_INT : value > MOST_INT ? MOST_INT : value;
}

uint32_t rows_index(struct rows *rows, int column)
{
    const int64_t value = rows_int(rows, column);
    return rows_is_null(rows, column) || value < 0 || value >= NONE ? NONE : (uint32_t)value;
}

double rows_real(struct rows *rows, int column)
{
    return sqlite3_column_double(rows->statement, column);
}

const char *rows_text(struct rows *rows, int column)
{
    const unsigned char *text = sqlite3_column_text(rows->statement, column);
    return text ? (const char *)text : "";
}

/* Whole numbers are exact, and shorter without a point. */
json_t *json_number(double value)
{
    if (!isfinite(value))
        return json_null();
    if (fabs(value) < 9e15 && value == floor(value))
        return json_integer((json_int_t)value);
    return json_real(value);
}

json_t *json_rounded(double value, int digits)
{
    char text[40];
    if (!isfinite(value))
        return json_null();
    snprintf(text, sizeof text, "%.*g", digits, value);
    return json_number(strtod(text, NULL));
}

json_t *json_seconds(int64_t ps)
{
    return json_number((double)ps / (double)XOFF_S);
}

/* Length of the UTF-8 character at `s`; 0 when there is none. jansson checks it completely. */
static size_t character(const char *s, size_t n)
{
    for (size_t length = 1; length <= 4 && length <= n; length++) {
        json_t *whole = json_stringn(s, length);
        if (whole) {
            json_decref(whole);
            return length;
        }
    }
    return 0;
}

static json_t *mended(const char *text, size_t n)
{
    char *good = malloc(3 * n + 1);
    size_t length = 0;
    XOFF_ASSERT(good);
    for (size_t i = 0; i < n;) {
        const size_t more = character(text + i, n - i);
        memcpy(good + length, more ? text + i : "\xef\xbf\xbd", more ? more : 3);
        length += more ? more : 3;
        i += more ? more : 1;
    }
    json_t *value = json_stringn(good, length);
    free(good);
    return value;
}

json_t *json_words(const char *text, size_t limit)
{
    const size_t n = strlen(text);
    if (limit && n > limit) {
        size_t kept = limit;
        while (kept && ((unsigned char)text[kept] & 0xc0) == 0x80)
            kept--;
        char *cut;
        XOFF_ASSERT(asprintf(&cut, "%.*s\n... (the first %zu of %zu bytes; all are in run.sqlite)",
                             (int)kept, text, kept, n) >= 0);
        json_t *value = json_words(cut, 0);
        free(cut);
        return value;
    }
    json_t *value = json_stringn(text, n);
    return value ? value : mended(text, n);
}

json_t *rows_json_number(struct rows *rows, int column)
{
    const int type = sqlite3_column_type(rows->statement, column);
    if (type == SQLITE_INTEGER)
        return json_integer(sqlite3_column_int64(rows->statement, column));
    return type == SQLITE_FLOAT ? json_number(rows_real(rows, column)) : json_null();
}

json_t *rows_json_seconds(struct rows *rows, int column)
{
    return rows_is_null(rows, column) ? json_null() : json_seconds(rows_int(rows, column));
}

json_t *rows_json_text(struct rows *rows, int column, size_t limit)
{
    return rows_is_null(rows, column) ? json_null() : json_words(rows_text(rows, column), limit);
}

static int compare_ranks(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Chooses half of the ranks evenly, the other half closing in on the last by a constant factor: as
 * many between 90 % and 99 % as between 99 % and 99.9 %. The ranks that reports quote are always
 * among them. */
static uint32_t choose_ranks(uint64_t n, uint32_t most, uint64_t *ranks)
{
    static const double quoted[] = {0.5, 0.9, 0.95, 0.99, 0.999, 0.9999};
    const uint32_t n_quoted = sizeof quoted / sizeof *quoted;
    uint32_t count = 0;
    ranks[count++] = 1;
    ranks[count++] = n;
    const uint32_t spare = most > n_quoted + 2 ? most - n_quoted - 2 : 0, n_even = spare / 2;
    if (spare)
        for (uint32_t i = 0; i < n_quoted; i++)
            ranks[count++] = (uint64_t)ceil(quoted[i] * (double)n);
    for (uint32_t i = 0; i < n_even; i++)
        ranks[count++] = 1 + (uint64_t)((double)n * (i + 1) / (n_even + 1));
    const uint32_t n_tail = spare - n_even;
    for (uint32_t i = 0; i < n_tail; i++) {
        const double left = pow((double)n, -(double)(i + 1) / (n_tail + 1)); /* share above it */
        ranks[count++] = n - (uint64_t)((double)n * left);
    }
    qsort(ranks, count, sizeof *ranks, compare_ranks);
    return count;
}

json_t *json_cdf(const double *sorted, uint64_t n, uint32_t most)
{
    json_t *points = json_array();
    uint64_t *ranks = calloc(n > most ? most : n + 2, sizeof *ranks);
    uint64_t last = 0;
    XOFF_ASSERT(points && ranks && most >= 2);
    uint32_t count = 0;
    if (n > most)
        count = choose_ranks(n, most, ranks);
    else
        for (uint64_t i = 0; i < n; i++)
            ranks[count++] = i + 1;
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t rank = ranks[i] < 1 ? 1 : ranks[i] > n ? n : ranks[i];
        if (rank == last)
            continue;
        last = rank;
        json_array_append_new(points, json_pack("[oo]", json_rounded(sorted[rank - 1], 9),
                                                json_rounded((double)rank / (double)n, 9)));
    }
    free(ranks);
    return points;
}

static char letter_of(double level)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    const double most = sizeof letters - 2, step = ceil(level * most);
    return letters[step < 0 ? 0 : step > most ? (int)most : (int)step];
}

json_t *json_levels(const double *levels, uint32_t n)
{
    char *text = malloc((size_t)n * 12 + 1), *end = text;
    XOFF_ASSERT(text);
    for (uint32_t i = 0, same; i < n; i += same) {
        const char letter = letter_of(levels[i]);
        for (same = 1; i + same < n && letter_of(levels[i + same]) == letter; same++)
            ;
        *end++ = letter;
        if (same > 1)
            end += snprintf(end, 11, "%u", same);
    }
    *end = '\0';
    json_t *json = json_string(text);
    free(text);
    return json;
}
