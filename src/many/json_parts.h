/* Building JSON with jansson, for what many runs came to. Running out of memory ends the
 * program: an incomplete document would be of no use. */
#ifndef MANY_JSON_PARTS_H
#define MANY_JSON_PARTS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include <xoff/err.h>

#ifndef XOFF_VERSION
#define XOFF_VERSION "dev"
#endif

/* Takes ownership of `value` even on failure. */
static inline void put(json_t *object, const char *key, json_t *value)
{
    const int failed = json_object_set_new(object, key, value);
    XOFF_ASSERT(!failed);
}

static inline void append(json_t *list, json_t *value)
{
    const int failed = json_array_append_new(list, value);
    XOFF_ASSERT(!failed);
}

static inline json_t *text_json(const char *text)
{
    return text && *text ? json_string(text) : json_null();
}

/* Counts become integers: 1e15 is below 2^53, so the conversion is exact. */
static inline json_t *number_json(double value)
{
    const bool is_whole = value > -1e15 && value < 1e15 && (double)(int64_t)value == value;
    return is_whole ? json_integer((json_int_t)value) : json_real(value);
}

#endif
