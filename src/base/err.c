/* Errors of user input: filling struct xoff_err without stdio.
 *
 * The place (file, line, column) is never touched here: a mechanism that rejects a value does not
 * know it, and the parser that does may have filled it already.
 */
#include <xoff/err.h>

#include "base/text.h"

const char *xoff_err_text(enum xoff_err_code code)
{
    static const char *const texts[] = {
#define X(c, text) [XOFF_E_##c] = text,
        XOFF_ERR_MAP(X)
#undef X
    };
    return (size_t)code < sizeof texts / sizeof texts[0] ? texts[code] : "unknown error";
}

/* The source may be the field itself: errors are often passed on with one part replaced. */
static void fill(char *field, size_t size, const char *source)
{
    if (source == field)
        return;
    struct text t = text_at(field, size, 0);
    text_add(&t, source ? source : "");
}

int xoff_err_set(struct xoff_err *err, enum xoff_err_code code, const char *subject,
                 const char *value, const char *message)
{
    if (err) {
        err->code = code;
        fill(err->subject, sizeof err->subject, subject);
        fill(err->value, sizeof err->value, value);
        fill(err->message, sizeof err->message, message);
    }
    return -(int)code;
}

void xoff_err_add(struct xoff_err *err, const char *text)
{
    if (!err)
        return;
    struct text t = text_at(err->message, sizeof err->message, strlen(err->message));
    text_add(&t, text);
}

void xoff_err_add_int(struct xoff_err *err, long long number)
{
    if (!err)
        return;
    struct text t = text_at(err->message, sizeof err->message, strlen(err->message));
    text_add_i64(&t, number);
}
