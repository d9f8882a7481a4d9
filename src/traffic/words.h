/* Text files of whitespace-separated words, whole in memory, with places for errors.
 *
 * The files of the ns-3 RDMA family are read with these: lines end with LF or CRLF, blank lines are
 * passed over, numbers are plain decimal. Nothing here trusts a count that a file states.
 */
#ifndef TRAFFIC_WORDS_H
#define TRAFFIC_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <xoff/err.h>

#define WORDS_MAX_LINE 4096        /* bytes of a line that words_line() takes */
#define WORDS_MAX_FILE (1UL << 31) /* bytes of a file */

struct word {
    const char *text; /* not terminated */
    size_t length;
    int line, column; /* from 1 */
};

struct words {
    const char *path;
    const char *at, *end, *line_start;
    int line;
};

void words_init(struct words *words, const char *path, const char *text, size_t size);

/* Reads the next word, on this or a later line; false: the file ends. */
bool words_next(struct words *words, struct word *word);

/* Reads the words of the next line that has any, from where words_next() stopped. Returns their
 * number; at most `max` are kept. 0: the file ends; -1: the line is longer than WORDS_MAX_LINE,
 * words[0] has its place. */
int words_line(struct words *words, struct word *out, int max);

bool words_is(const struct word *word, const char *text);
/* Reads a plain decimal number up to `max`. */
bool words_u64(const struct word *word, uint64_t max, uint64_t *out);
/* Reads a decimal number from 0 on, as 0.25, 2 or 1e-6, to the nearest double. */
bool words_real(const struct word *word, double *out);
/* Reads seconds up to 9e6, as whole nanoseconds in picoseconds. ns-3 takes the double nearest to
 * the text and truncates its product with 10^9, so 2.3 is 2299999999 ns there and here. */
bool words_seconds(const struct word *word, int64_t *out_ps);
/* Copies the word as a string, cut to fit. Returns buf. */
char *words_copy(const struct word *word, char *buf, size_t size);

/* Fills err with the place and text of the word (NULL: none, at the end of the file) and returns
 * -code. */
int words_fail(const struct words *words, const struct word *word, enum xoff_err_code code,
               const char *subject, const char *message, struct xoff_err *err);

/* Loads a regular file whole, from malloc. err has the path as file. */
int words_load(const char *path, const char *subject, char **text, size_t *size,
               struct xoff_err *err);

#endif
