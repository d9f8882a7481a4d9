/* Text built into a caller's buffer. It is always terminated, and cut to fit but never inside a
 * character.
 *
 * Base code has no stdio; messages and quantities are put together from these few calls.
 */
#ifndef BASE_TEXT_H
#define BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct text {
    char *buf;
    size_t size;   /* of buf, with its NUL */
    size_t length; /* so far, without the NUL */
    bool cut;      /* something did not fit; later text is left out too */
};

/* Continues behind the first `length` characters of buf. */
static inline struct text text_at(char *buf, size_t size, size_t length)
{
    if (size)
        buf[length] = '\0';
    return (struct text){.buf = buf, .size = size, .length = length, .cut = size == 0};
}

static inline void text_add(struct text *t, const char *more)
{
    if (t->cut)
        return;
    const size_t room = t->size - 1 - t->length;
    size_t n = strlen(more);
    if (n > room) {
        t->cut = true;
        n = room;
        while (n && ((unsigned char)more[n] & 0xc0) == 0x80) /* UTF-8 continuation */
            n--;
    }
    memmove(t->buf + t->length, more, n);
    t->length += n;
    t->buf[t->length] = '\0';
}

static inline void text_add_u64(struct text *t, uint64_t number)
{
    char digits[21]; /* 2^64 - 1 has 20 */
    char *p = digits + sizeof digits - 1;
    *p = '\0';
    do {
        *--p = (char)('0' + number % 10);
        number /= 10;
    } while (number);
    text_add(t, p);
}

/* Works for INT64_MIN too, whose magnitude no int64_t holds. */
static inline void text_add_i64(struct text *t, int64_t number)
{
    if (number < 0)
        text_add(t, "-");
    text_add_u64(t, number < 0 ? 0 - (uint64_t)number : (uint64_t)number);
}

static inline bool text_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Whether the character behind a complete number begins a unit or ends the text (a missing unit).
 * Any other character means that the number itself is malformed. */
static inline bool text_is_unit_start(char c)
{
    return c == '\0' || c == ' ' || c == '%' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           ((unsigned char)c & 0x80);
}

#endif
