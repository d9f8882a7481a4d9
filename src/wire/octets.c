/* Errors of codecs: which field, at which offset, what it is, and what it must be. */
#include "wire/octets.h"

enum { MAX_SHOWN = 16 };

static void show_octets(char *text, const uint8_t *octets, size_t n);

int xoff_octets_refuse(struct xoff_err *err, enum xoff_err_code code, const char *field,
                       const uint8_t *frame, size_t at, size_t n, const char *message)
{
    char value[3 * MAX_SHOWN + 1];
    show_octets(value, frame + at, n < MAX_SHOWN ? n : MAX_SHOWN);
    const int answer = xoff_err_set(err, code, field, value, n > 1 ? "octets " : "octet ");
    xoff_err_add_int(err, (long long)at);
    if (n > 1) {
        xoff_err_add(err, n > 2 ? " to " : " and ");
        xoff_err_add_int(err, (long long)(at + n - 1));
    }
    xoff_err_add(err, ": ");
    xoff_err_add(err, message);
    return answer;
}

int xoff_octets_refuse_cut(struct xoff_err *err, const struct octets_in *in)
{
    const int answer = xoff_err_set(err, XOFF_E_SYNTAX, in->cut_field, NULL, "octet ");
    xoff_err_add_int(err, (long long)in->cut_at);
    xoff_err_add(err, ": cut off, what contains it ends at octet ");
    xoff_err_add_int(err, (long long)in->end);
    return answer;
}

static void show_octets(char *text, const uint8_t *octets, size_t n)
{
    static const char digits[] = "0123456789abcdef";
    *text = '\0';
    for (size_t i = 0; i < n; i++) {
        text[3 * i] = digits[octets[i] >> 4];
        text[3 * i + 1] = digits[octets[i] & 15];
        text[3 * i + 2] = i + 1 < n ? '-' : '\0';
    }
}
