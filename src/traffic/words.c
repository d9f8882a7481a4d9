/* Words of a text file (words.h). */
#include "traffic/words.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <xoff/time.h>
#include <xoff/units.h>

#include "base/text.h"

#define MAX_REAL 64 /* characters of a number with a fraction */

void words_init(struct words *words, const char *path, const char *text, size_t size)
{
    *words =
        (struct words){.path = path, .at = text, .end = text + size, .line_start = text, .line = 1};
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

static void next_line(struct words *w)
{
    w->at++;
    w->line_start = w->at;
    w->line++;
}

static struct word take(struct words *w)
{
    struct word word = {.text = w->at, .line = w->line, .column = (int)(w->at - w->line_start) + 1};
    while (w->at < w->end && *w->at != '\n' && !is_blank(*w->at))
        w->at++;
    word.length = (size_t)(w->at - word.text);
    return word;
}

bool words_next(struct words *words, struct word *word)
{
    while (words->at < words->end) {
        if (*words->at == '\n')
            next_line(words);
        else if (is_blank(*words->at))
            words->at++;
        else {
            *word = take(words);
            return true;
        }
    }
    return false;
}

int words_line(struct words *words, struct word *out, int max)
{
    struct word word;
    if (!words_next(words, &word))
        return 0;
    const char *newline = memchr(word.text, '\n', (size_t)(words->end - word.text));
    const char *stop = newline ? newline : words->end;
    if (stop - words->line_start > WORDS_MAX_LINE) {
        out[0] = word;
        return -1;
    }
    int n = 0;
    for (;;) {
        if (n < max)
            out[n] = word;
        n++;
        while (words->at < stop && is_blank(*words->at))
            words->at++;
        if (words->at >= stop)
            return n;
        word = take(words);
    }
}

bool words_is(const struct word *word, const char *text)
{
    return strlen(text) == word->length && memcmp(word->text, text, word->length) == 0;
}

bool words_u64(const struct word *word, uint64_t max, uint64_t *out)
{
    uint64_t n = 0;
    if (word->length == 0)
        return false;
    for (size_t i = 0; i < word->length; i++) {
        const uint64_t digit = (uint64_t)(unsigned char)word->text[i] - '0';
        if (digit > 9 || digit > max || n > (max - digit) / 10)
            return false;
        n = n * 10 + digit;
    }
    *out = n;
    return true;
}

/* A whole number below 2^53 divided by a power of ten up to 10^22 is rounded once, so the quotient
 * is the double nearest to the text. Most files need no more. */
static bool read_short(const struct word *word, double *out)
{
    static const double tens[] = {1e0, 1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                  1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
    uint64_t n = 0;
    size_t n_digits = 0, n_part = 0;
    bool has_dot = false;
    if (word->length > 16)
        return false;
    for (size_t i = 0; i < word->length; i++) {
        const char c = word->text[i];
        if (c == '.' && !has_dot && n_digits) {
            has_dot = true;
            continue;
        }
        if (!text_is_digit(c))
            return false;
        n = n * 10 + (uint64_t)(c - '0');
        n_digits++;
        n_part += has_dot;
    }
    if (n_digits == 0 || n_digits > 15 || (has_dot && n_part == 0))
        return false;
    *out = (double)n / tens[n_part];
    return true;
}

bool words_real(const struct word *word, double *out)
{
    char text[MAX_REAL];
    if (read_short(word, out))
        return true;
    /* Ratios and per cent belong to the scenario language, not to these files. */
    if (word->length >= sizeof text || memchr(word->text, '/', word->length) ||
        memchr(word->text, '%', word->length) || memchr(word->text, '\0', word->length))
        return false;
    words_copy(word, text, sizeof text);
    const size_t n = word->length;
    if (n > 1 && text[n - 1] == '.') /* "2." */
        text[n - 1] = '\0';
    return xoff_parse_real(text, out) == 0;
}

bool words_seconds(const struct word *word, int64_t *out_ps)
{
    double seconds;
    if (!words_real(word, &seconds) || seconds > 9e6)
        return false;
    uint64_t bits;
    _Static_assert(sizeof bits == sizeof seconds, "doubles have 64 bits");
    memcpy(&bits, &seconds, sizeof bits);
    const int exponent = (int)(bits >> 52 & 0x7ff);
    const uint64_t fraction = bits & ((UINT64_C(1) << 52) - 1);
    if (exponent == 0) { /* 0: words_real() refuses what is smaller than a normal double */
        *out_ps = 0;
        return true;
    }
    /* seconds = mantissa * 2^-shift; below 2^24 the shift is at least 28. */
    const unsigned shift = (unsigned)(1075 - exponent);
    const unsigned __int128 product =
        (unsigned __int128)(fraction | UINT64_C(1) << 52) * UINT64_C(1000000000);
    const uint64_t ns = shift < 128 ? (uint64_t)(product >> shift) : 0;
    *out_ps = (int64_t)ns * XOFF_NS;
    return true;
}

char *words_copy(const struct word *word, char *buf, size_t size)
{
    const size_t n = word->length < size ? word->length : size - 1;
    memcpy(buf, word->text, n);
    buf[n] = '\0';
    return buf;
}

/* Makes a word printable: bytes that cannot be printed (of a binary file perhaps) become '?'. */
static void show(const struct word *word, char *buf, size_t size)
{
    words_copy(word, buf, size);
    const size_t n = word->length < size ? word->length : size - 1;
    for (size_t i = 0; i < n; i++)
        if (buf[i] < ' ' || buf[i] > '~')
            buf[i] = '?';
}

static void set_file(struct xoff_err *err, const char *path)
{
    struct text file = text_at(err->file, sizeof err->file, 0);
    text_add(&file, path);
}

int words_fail(const struct words *words, const struct word *word, enum xoff_err_code code,
               const char *subject, const char *message, struct xoff_err *err)
{
    char value[64] = "";
    if (word)
        show(word, value, sizeof value);
    const int rc = xoff_err_set(err, code, subject, word ? value : NULL, message);
    if (err) {
        set_file(err, words->path);
        err->line = word ? word->line : words->line;
        err->column = word ? word->column : (int)(words->at - words->line_start) + 1;
    }
    return rc;
}

static int fail_file(const char *path, const char *subject, enum xoff_err_code code,
                     const char *message, const char *reason, struct xoff_err *err)
{
    const int rc = xoff_err_set(err, code, subject, NULL, message);
    if (err) {
        xoff_err_add(err, reason);
        set_file(err, path);
        err->line = err->column = 0;
    }
    return rc;
}

int words_load(const char *path, const char *subject, char **text, size_t *size,
               struct xoff_err *err)
{
    struct stat status;
    if (stat(path, &status)) /* before it is opened: a pipe would be waited for */
        return fail_file(path, subject, XOFF_E_IO, "cannot be read: ", strerror(errno), err);
    if (S_ISDIR(status.st_mode))
        return fail_file(path, subject, XOFF_E_IO, "is a folder; give the path of a file", "", err);
    if (!S_ISREG(status.st_mode) || (uint64_t)status.st_size > WORDS_MAX_FILE)
        return fail_file(path, subject, XOFF_E_IO, "a file of at most 2 GiB is accepted", "", err);
    FILE *file = fopen(path, "rb");
    if (!file)
        return fail_file(path, subject, XOFF_E_IO, "cannot be read: ", strerror(errno), err);
    const size_t expected = (size_t)status.st_size;
    char *buf = malloc(expected + 1);
    if (!buf) {
        fclose(file);
        return fail_file(path, subject, XOFF_E_NO_MEMORY, "not enough memory to read it", "", err);
    }
    errno = 0;
    const size_t n = fread(buf, 1, expected, file);
    const int reason = ferror(file) ? errno ? errno : EIO : 0;
    fclose(file);
    if (reason) {
        free(buf);
        return fail_file(path, subject, XOFF_E_IO, "cannot be read: ", strerror(reason), err);
    }
    buf[n] = '\0';
    *text = buf;
    *size = n;
    return 0;
}
