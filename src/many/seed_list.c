/* Seeds in ranges and lists (seed_list.h). */
#include "many/seed_list.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <xoff/units.h>

/* Reads a number and moves past it. */
static bool take_seed(const char **at, int64_t *out)
{
    char digits[24];
    const size_t n = strspn(*at, "0123456789");
    if (!n || n >= sizeof digits)
        return false;
    memcpy(digits, *at, n);
    digits[n] = '\0';
    *at += n;
    return xoff_parse_int(digits, out) == 0;
}

/* Reads "5" or "1..20" and moves past it. Returns NULL, or what is wrong. */
static const char *take_range(const char **at, uint64_t **list, uint32_t *n)
{
    int64_t from, to;
    if (!take_seed(at, &from))
        return "give seeds such as 1..20 or 1,5,9";
    to = from;
    if (!strncmp(*at, "..", 2)) {
        *at += 2;
        if (!take_seed(at, &to))
            return "give seeds such as 1..20 or 1,5,9";
    }
    if (to < from)
        return "a range goes from the smaller seed to the larger";
    if (to - from >= SEEDS_MAX || *n + (to - from) >= SEEDS_MAX)
        return "at most 10000 seeds";
    *list = realloc(*list, (*n + (size_t)(to - from) + 1) * sizeof **list);
    XOFF_ASSERT(*list);
    for (int64_t s = from; s <= to; s++) {
        for (uint32_t i = 0; i < *n; i++)
            if ((*list)[i] == (uint64_t)s)
                return "a seed is given twice";
        (*list)[(*n)++] = (uint64_t)s;
    }
    return NULL;
}

int seed_list_parse(const char *text, uint64_t **list, uint32_t *n, struct xoff_err *err)
{
    const char *at = text, *wrong = NULL;
    *list = NULL;
    *n = 0;
    for (bool is_more = true; is_more && !wrong;) {
        wrong = take_range(&at, list, n);
        is_more = !wrong && *at == ',';
        at += is_more;
    }
    if (!wrong && *at)
        wrong = "give seeds such as 1..20 or 1,5,9";
    if (!wrong)
        return 0;
    free(*list);
    *list = NULL;
    *n = 0;
    return xoff_err_set(err, XOFF_E_SYNTAX, NULL, text, wrong);
}
