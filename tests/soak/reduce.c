/* Makes a failing scenario small: blocks are taken out and numbers are halved, one at a time, as
 * long as the checks end in the same way. */
#include <stdlib.h>
#include <string.h>

#include "soak/soak.h"
#include "support/outline.h"

#define MOST_TRIES 600

struct reduction {
    const struct soak_options *options;
    struct soak_report *report; /* of the smallest so far */
    struct outline best;
    struct soak_report failure; /* to be kept */
    uint32_t n_tries;
};

/* Finds the next word that has no figure in it, after the node that many sentences begin with. */
static size_t next_word(const char **text)
{
    for (;;) {
        *text += strcspn(*text, " ");
        *text += strspn(*text, " ");
        const size_t n = strcspn(*text, " ");
        if (!n || strcspn(*text, "0123456789") >= n)
            return n;
    }
}

static bool has_same_words(const char *a, const char *b)
{
    size_t n;
    do {
        n = next_word(&a);
        if (next_word(&b) != n || strncmp(a, b, n))
            return false;
    } while (n);
    return true;
}

static bool is_same_failure(const struct soak_report *a, const struct soak_report *b)
{
    if (a->end != b->end)
        return false;
    if (a->end == SOAK_CRASH)
        return !strcmp(a->why, b->why);
    return (a->end != SOAK_AUDIT && a->end != SOAK_CONFIG) || has_same_words(a->why, b->why);
}

/* Takes a candidate as the best if it fails in the same way. The candidate is gone then. */
static bool take(struct reduction *r, struct outline *candidate)
{
    struct soak_report report;
    char *text = outline_text(candidate);
    r->n_tries++;
    soak_check_apart(text, r->options, r->failure.end == SOAK_COMPILER, &report);
    free(text);
    const bool is_same = is_same_failure(&report, &r->failure);
    outline_fini(is_same ? &r->best : candidate);
    if (is_same) {
        r->best = *candidate;
        *r->report = report;
    }
    return is_same;
}

static struct outline copy_of(const struct outline *o)
{
    struct outline copy;
    char *text = outline_text(o);
    outline_init(&copy, text);
    free(text);
    return copy;
}

/* Defaults of times are long, and a run that takes long is no smaller. */
static bool is_kept(const struct outline *o, uint32_t at)
{
    return outline_has_key(o, at, "stop") || outline_has_key(o, at, "drain");
}

static bool try_without(struct reduction *r, uint32_t at)
{
    if (is_kept(&r->best, at))
        return false;
    struct outline candidate = copy_of(&r->best);
    outline_remove(&candidate, at);
    return take(r, &candidate);
}

/* Halves the number that a value begins with, or makes it one. */
static bool try_smaller(struct reduction *r, uint32_t at, bool is_one)
{
    const char *value = outline_value(&r->best, at);
    char *unit, text[128];
    const long long number = strtoll(value, &unit, 10);
    if (number < 2 || *unit == '.' || outline_has_key(&r->best, at, "seed"))
        return false;
    snprintf(text, sizeof text, "%lld%s", is_one ? 1 : number / 2, unit);
    struct outline candidate = copy_of(&r->best);
    outline_set(&candidate, at, text);
    return take(r, &candidate);
}

char *soak_reduce(const char *text, const struct soak_options *options, struct soak_report *report)
{
    struct soak_options quick = *options;
    quick.only = report->end == SOAK_CRASH ? SOAK_FINE : report->end;
    quick.is_quiet = true;
    struct reduction r = {.options = &quick, .report = report, .failure = *report};
    outline_init(&r.best, text);
    for (bool is_smaller = true; is_smaller && r.n_tries < MOST_TRIES;) {
        is_smaller = false;
        /* Large blocks come before what is in them. */
        for (uint32_t indent = 0; indent < 10; indent += 2)
            for (uint32_t at = r.best.n; at-- > 0 && r.n_tries < MOST_TRIES;)
                if (at < r.best.n && outline_indent(&r.best, at) == indent && r.best.n > 1)
                    is_smaller |= try_without(&r, at);
        for (uint32_t at = 0; at < r.best.n && r.n_tries < MOST_TRIES; at++)
            if (try_smaller(&r, at, true))
                is_smaller = true;
            else
                while (r.n_tries < MOST_TRIES && try_smaller(&r, at, false))
                    is_smaller = true;
    }
    char *smallest = outline_text(&r.best);
    outline_fini(&r.best);
    return smallest;
}
