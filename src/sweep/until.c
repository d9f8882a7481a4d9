/* Seeds until a confidence interval is tight (sweep.h).
 *
 * The interval shrinks with the root of the number of seeds, so n (ci / wanted)^2 of them should
 * do. At most twice as many as there were are added at a time: with few seeds the interval itself
 * is not known well.
 */
#include <math.h>
#include <string.h>

#include "sweep/sweep.h"

#define FEWEST 3 /* seeds before an interval means anything */

static int fail(const char *text, const char *message, struct xoff_err *err)
{
    return xoff_err_set(err, XOFF_E_SYNTAX, NULL, text, message);
}

int until_parse(const char *text, struct sweep_until *out, struct xoff_err *err)
{
    static const char *const signs[] = {"+-", "\u00b1"};
    static const char form[] = "give a metric and a tolerance, such as fct.p99 +- 2%";
    const char *at = NULL;
    size_t sign = 0, length;
    *out = (struct sweep_until){0};
    for (size_t i = 0; i < sizeof signs / sizeof *signs && !at; i++) {
        at = strstr(text, signs[i]);
        sign = strlen(signs[i]);
    }
    if (!at)
        return fail(text, form, err);
    for (length = (size_t)(at - text); length && text[length - 1] == ' '; length--)
        ;
    if (!length || length >= sizeof out->metric)
        return fail(text, form, err);
    memcpy(out->metric, text, length);
    if (!summary_has_family(out->metric))
        return fail(text, "not a metric; give one such as fct.p99 +- 2%", err);
    at += sign;
    at += strspn(at, " ");
    out->unit = amount_read(at, &out->tolerance);
    snprintf(out->given, sizeof out->given, "%s", at);
    out->is_relative = *at && at[strlen(at) - 1] == '%';
    if (out->unit == AMOUNT_WORD)
        return fail(text, form, err);
    if (!(out->tolerance > 0))
        return fail(text, "the tolerance is above 0", err);
    return 0;
}

bool until_fits(const struct sweep_until *until, const char *unit)
{
    const bool is_number = strcmp(unit, "s") && strcmp(unit, "bps") && strcmp(unit, "B");
    return until->is_relative ||
           (until->unit == AMOUNT_NUMBER ? is_number : !strcmp(unit, amount_units[until->unit]));
}

static double wanted(const struct sweep_until *until, const struct seed_metric *m)
{
    return until->is_relative ? until->tolerance * fabs(m->over.mean) : until->tolerance;
}

bool until_is_reached(const struct sweep_until *until, const struct seed_metric *m)
{
    return m && until_fits(until, m->unit) && m->over.n >= FEWEST &&
           m->over.ci95 <= wanted(until, m);
}

uint32_t until_next(const struct sweep_until *until, const struct seed_metric *m, uint32_t n,
                    uint32_t most)
{
    if (until_is_reached(until, m) || n >= most || (n && !m) || (m && !until_fits(until, m->unit)))
        return n;
    double next = FEWEST;
    if (n >= FEWEST) {
        const double ratio = m->over.ci95 / wanted(until, m);
        next = ceil(n * ratio * ratio);
        next = next > 2.0 * n || isnan(next) ? 2.0 * n : next;
        next = next > n ? next : n + 1.0;
    }
    return next < most ? (uint32_t)next : most;
}
