/* Parameter tables: text into fields and back, and the sentences that tell people what fits.
 *
 * Values, defaults and limits are all in the user's words and go through the same parsers, so a
 * table cannot state a limit its own parameter would not accept. A default or limit that does not
 * parse is a mistake in the table and ends the run. A value that does not parse is the user's
 * mistake; the answer says what is wrong, the accepted form with an example that lies in the range,
 * and the range.
 */
#include <xoff/param.h>

#include <xoff/units.h>

#include "base/text.h"

/* One value of any type but text. */
union number {
    int64_t whole;
    double real;
};

/* The words for each type in messages, indexed by enum xoff_param_type. */
static const struct form {
    const char *noun, *example;
    const char *units;    /* as listed when one is wrong or missing */
    const char *too_fine; /* what is wrong with a value that the type cannot hold */
} forms[] = {
    [XOFF_P_BOOL] = {"true or false (or yes, no, on, off)", NULL, NULL, NULL},
    [XOFF_P_INT] = {"a whole number", "64", "none, or one of k M G",
                    "not a whole number, or too large"},
    [XOFF_P_REAL] = {"a number", "0.5", "none, or %", "too large, or too small to tell from 0"},
    [XOFF_P_TIME] = {"a time", "2us", "ps ns us ms s", "not a whole number of ps, or too large"},
    [XOFF_P_RATE] = {"a rate", "100Gbps", "bps kbps Mbps Gbps Tbps",
                     "not a whole number of bps, or too large"},
    [XOFF_P_BYTES] = {"a size", "16MB", "B KB MB GB (1000), KiB MiB GiB (1024)",
                      "not a whole number of bytes, or too large"},
    [XOFF_P_CHOICE] = {"one of", NULL, NULL, NULL},
    [XOFF_P_TEXT] = {"text of at most ", NULL, NULL, NULL},
};

static const char auto_word[] = "auto";

static int parse_number(const struct xoff_param *p, const char *text, union number *out);
static int check_range(const struct xoff_param *p, union number value);
static void add_accepts(struct text *t, const struct xoff_param *p);
static int reject(const struct xoff_param *p, int rc, const char *text, const char *why,
                  struct xoff_err *err);
static const char *explain(const struct xoff_param *p, int rc, const char *text);

const struct xoff_param *xoff_param_find(const struct xoff_param *table, const char *name)
{
    for (const struct xoff_param *p = table; p && p->name; p++)
        if (strcmp(p->name, name) == 0)
            return p;
    return NULL;
}

void xoff_param_defaults(const struct xoff_param *table, void *params)
{
    for (const struct xoff_param *p = table; p && p->name; p++) {
        memset((char *)params + p->offset, 0,
               p->type == XOFF_P_TEXT ? XOFF_PARAM_TEXT : sizeof(union number));
        if (p->preset) {
            const int rc = xoff_param_set(p, params, p->preset, NULL);
            XOFF_ASSERT(rc == 0);
        }
    }
}

int xoff_param_set(const struct xoff_param *p, void *params, const char *text, struct xoff_err *err)
{
    char *const field = (char *)params + p->offset;
    if (!text)
        return reject(p, -XOFF_E_MISSING, text, "has no value", err);
    if (p->type == XOFF_P_TEXT) {
        const size_t length = strlen(text);
        if (length >= XOFF_PARAM_TEXT)
            return reject(p, -XOFF_E_RANGE, text, "too long", err);
        memset(field, 0, XOFF_PARAM_TEXT);
        memcpy(field, text, length);
        return 0;
    }
    union number value;
    if (p->allows_auto && strcmp(text, auto_word) == 0) {
        if (p->type == XOFF_P_REAL)
            value.real = XOFF_PARAM_AUTO;
        else
            value.whole = XOFF_PARAM_AUTO;
    } else {
        const int rc = parse_number(p, text, &value);
        if (rc)
            return reject(p, rc, text, explain(p, rc, text), err);
        const int side = check_range(p, value);
        if (side)
            return reject(p, -XOFF_E_RANGE, text, side < 0 ? "too small" : "too large", err);
    }
    memcpy(field, &value, sizeof value);
    return 0;
}

char *xoff_param_format(const struct xoff_param *p, const void *params, char *buf, size_t size)
{
    const char *const field = (const char *)params + p->offset;
    struct text t = text_at(buf, size, 0);
    if (p->type == XOFF_P_TEXT) {
        text_add(&t, field);
        return buf;
    }
    union number value;
    memcpy(&value, field, sizeof value);
    const bool is_auto =
        p->type == XOFF_P_REAL ? value.real == XOFF_PARAM_AUTO : value.whole == XOFF_PARAM_AUTO;
    if (p->allows_auto && is_auto) {
        text_add(&t, auto_word);
        return buf;
    }
    switch (p->type) {
    case XOFF_P_BOOL:
        text_add(&t, value.whole ? "true" : "false");
        return buf;
    case XOFF_P_INT:
        return xoff_format_int(buf, size, value.whole);
    case XOFF_P_REAL:
        return xoff_format_real(buf, size, value.real);
    case XOFF_P_TIME:
        return xoff_format_time(buf, size, value.whole);
    case XOFF_P_RATE:
        return xoff_format_rate(buf, size, (xoff_rate)value.whole);
    case XOFF_P_BYTES:
        return xoff_format_bytes(buf, size, value.whole);
    case XOFF_P_CHOICE:
        for (int64_t i = 0; p->choices[i]; i++)
            if (i == value.whole)
                text_add(&t, p->choices[i]);
        XOFF_ASSERT(t.length > 0 || t.cut);
        return buf;
    case XOFF_P_TEXT:
        break;
    }
    return buf;
}

char *xoff_param_accepts(const struct xoff_param *p, char *buf, size_t size)
{
    struct text t = text_at(buf, size, 0);
    add_accepts(&t, p);
    return buf;
}

static int parse_bool(const char *text, int64_t *out)
{
    static const char *const words[] = {"false", "true", "no", "yes", "off", "on"};
    for (int i = 0; i < 6; i++) {
        if (strcmp(text, words[i]) == 0) {
            *out = i & 1;
            return 0;
        }
    }
    return -XOFF_E_TYPE;
}

static int parse_choice(const char *const *choices, const char *text, int64_t *out)
{
    for (int64_t i = 0; choices[i]; i++) {
        if (strcmp(text, choices[i]) == 0) {
            *out = i;
            return 0;
        }
    }
    return -XOFF_E_RANGE;
}

static int parse_number(const struct xoff_param *p, const char *text, union number *out)
{
    xoff_rate rate = 0;
    int rc = -XOFF_E_TYPE;
    switch (p->type) {
    case XOFF_P_BOOL:
        return parse_bool(text, &out->whole);
    case XOFF_P_INT:
        return xoff_parse_int(text, &out->whole);
    case XOFF_P_REAL:
        return xoff_parse_real(text, &out->real);
    case XOFF_P_TIME:
        return xoff_parse_time(text, &out->whole);
    case XOFF_P_RATE: /* parsed rates fit an int64_t */
        rc = xoff_parse_rate(text, &rate);
        out->whole = (int64_t)rate;
        return rc;
    case XOFF_P_BYTES:
        return xoff_parse_bytes(text, &out->whole);
    case XOFF_P_CHOICE:
        return parse_choice(p->choices, text, &out->whole);
    case XOFF_P_TEXT:
        break;
    }
    return rc;
}

static bool is_less(const struct xoff_param *p, union number a, union number b)
{
    return p->type == XOFF_P_REAL ? a.real < b.real : a.whole < b.whole;
}

/* -1 below min, 1 above max, 0 between. */
static int check_range(const struct xoff_param *p, union number value)
{
    union number limit;
    if (p->min) {
        const int rc = parse_number(p, p->min, &limit);
        XOFF_ASSERT(rc == 0);
        if (is_less(p, value, limit))
            return -1;
    }
    if (p->max) {
        const int rc = parse_number(p, p->max, &limit);
        XOFF_ASSERT(rc == 0);
        if (is_less(p, limit, value))
            return 1;
    }
    return 0;
}

/* The default, the usual example of the type if it is in range, or a limit. */
static const char *example_of(const struct xoff_param *p)
{
    if (p->preset && strcmp(p->preset, auto_word) != 0)
        return p->preset;
    union number value;
    const char *const usual = forms[p->type].example;
    const int rc = parse_number(p, usual, &value);
    XOFF_ASSERT(rc == 0);
    const int side = check_range(p, value);
    return side == 0 ? usual : side < 0 ? p->min : p->max;
}

static void add_accepts(struct text *t, const struct xoff_param *p)
{
    text_add(t, forms[p->type].noun);
    if (p->type == XOFF_P_CHOICE) {
        for (int i = 0; p->choices[i]; i++) {
            text_add(t, i ? ", " : " ");
            text_add(t, p->choices[i]);
        }
    } else if (p->type == XOFF_P_TEXT) {
        text_add_u64(t, XOFF_PARAM_TEXT - 1);
        text_add(t, " bytes");
    } else if (forms[p->type].example) {
        text_add(t, " such as ");
        text_add(t, example_of(p));
        if (p->min) {
            text_add(t, p->max ? ", from " : ", at least ");
            text_add(t, p->min);
        }
        if (p->max) {
            text_add(t, p->min ? " to " : ", at most ");
            text_add(t, p->max);
        }
    }
    if (p->allows_auto && p->type != XOFF_P_TEXT)
        text_add(t, ", or auto");
}

static const char *explain(const struct xoff_param *p, int rc, const char *text)
{
    if (p->type == XOFF_P_BOOL || p->type == XOFF_P_CHOICE)
        return "not known";
    if (rc == -XOFF_E_UNIT)
        return "wrong or missing unit";
    if (rc == -XOFF_E_RANGE)
        return text[0] == '-' ? "negative" : forms[p->type].too_fine;
    return text[0] == '\0' ? "empty" : "not a number";
}

/* Fills the message "<why>; give <what is accepted>" and adds the units if the unit is wrong. */
static int reject(const struct xoff_param *p, int rc, const char *text, const char *why,
                  struct xoff_err *err)
{
    xoff_err_set(err, (enum xoff_err_code) - rc, p->name, text, why);
    if (!err)
        return rc;
    struct text t = text_at(err->message, sizeof err->message, strlen(err->message));
    text_add(&t, "; give ");
    add_accepts(&t, p);
    if (rc == -XOFF_E_UNIT && forms[p->type].units) {
        text_add(&t, "; units: ");
        text_add(&t, forms[p->type].units);
    }
    return rc;
}
