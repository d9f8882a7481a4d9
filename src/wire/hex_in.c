/* Reading frames as hex digits. The forms that are taken are told in the header. */
#include "wire/hex_in.h"

#include <string.h>

#define DUMP_OCTETS 16 /* of a line; what follows is the same as characters */
#define DUMP_GAP 3     /* blanks between the octets of a short line and the characters */

struct text {
    const char *line;
    size_t at, end;
};

static int digit_of(char c)
{
    return c >= '0' && c <= '9'                 ? c - '0'
           : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10
                                                : -1;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static size_t skip_blanks(struct text *t)
{
    const size_t from = t->at;
    while (t->at < t->end && is_blank(t->line[t->at]))
        t->at++;
    return t->at - from;
}

static size_t digits_at(const struct text *t, size_t at)
{
    size_t n = 0;
    while (at + n < t->end && digit_of(t->line[at + n]) >= 0)
        n++;
    return n;
}

/* Passes over the "0x" before a number. */
static void skip_prefix(struct text *t)
{
    if (t->end - t->at > 2 && t->line[t->at] == '0' && (t->line[t->at + 1] | 32) == 'x')
        t->at += 2;
}

/* Whether the line begins with an offset: digits and ':', or three digits and more before a lone
 * pair. Moves behind it. */
static bool get_offset(struct text *t, uint64_t *offset)
{
    struct text rest = *t;
    skip_prefix(&rest);
    const size_t n = digits_at(&rest, rest.at);
    if (n < 3 || n > 8)
        return false;
    *offset = 0;
    for (size_t i = 0; i < n; i++)
        *offset = *offset << 4 | (uint64_t)digit_of(rest.line[rest.at + i]);
    rest.at += n;
    if (rest.at < rest.end && rest.line[rest.at] == ':') {
        rest.at++;
    } else {
        if (!skip_blanks(&rest) || digits_at(&rest, rest.at) != 2)
            return false;
        if (rest.at + 2 < rest.end && !is_blank(rest.line[rest.at + 2]))
            return false;
    }
    *t = rest;
    return true;
}

static int refuse(struct xoff_err *err, size_t at, const char *message)
{
    const int code = xoff_err_set(err, XOFF_E_SYNTAX, "hex", NULL, message);
    err->column = (int)at + 1;
    return code;
}

/* Reads one octet. Returns 1, 0 where the line ends, or a negative code. */
static int get_octet(struct hex_in *in, struct text *t, struct xoff_err *err)
{
    if (t->at == t->end || t->line[t->at] == '#')
        return 0;
    const int high = digit_of(t->line[t->at]);
    if (high < 0)
        return refuse(err, t->at, "not a hex digit; give pairs such as 01 80 c2, one frame a line");
    const int low = t->at + 1 < t->end ? digit_of(t->line[t->at + 1]) : -1;
    if (low < 0)
        return refuse(err, t->at, "a single hex digit; octets have two");
    if (in->n == CAPTURE_MAX_FRAME)
        return refuse(err, t->at, "more than 262144 octets, which no frame has");
    in->octets[in->n++] = (uint8_t)(high << 4 | low);
    t->at += 2;
    return 1;
}

static int read_plain(struct hex_in *in, struct text *t, struct xoff_err *err)
{
    int answer;
    skip_prefix(t);
    while ((answer = get_octet(in, t, err)) > 0)
        while (t->at < t->end && (is_blank(t->line[t->at]) || memchr(":-.", t->line[t->at], 3)))
            t->at++;
    in->is_done = true;
    return answer < 0 ? answer : HEX_FRAME;
}

static int read_dump(struct hex_in *in, struct text *t, struct xoff_err *err)
{
    const uint32_t first = in->n;
    int answer = 1;
    skip_blanks(t);
    while (answer > 0 && in->n - first < DUMP_OCTETS) {
        answer = get_octet(in, t, err);
        if (skip_blanks(t) >= DUMP_GAP || (t->at < t->end && t->line[t->at] == '|'))
            break;
    }
    return answer < 0 ? answer : HEX_NOTHING;
}

void xoff_hex_begin(struct hex_in *in)
{
    in->n = 0;
    in->is_dump = in->is_done = false;
}

int xoff_hex_end(struct hex_in *in)
{
    if (!in->is_dump || in->is_done)
        return HEX_NOTHING;
    in->is_done = true;
    return HEX_FRAME;
}

/* A dump ends where something else begins. */
static int end_dump(struct hex_in *in)
{
    in->is_dump = false;
    in->is_done = true;
    return HEX_AGAIN;
}

int xoff_hex_line(struct hex_in *in, const char *line, size_t length, struct xoff_err *err)
{
    struct text t = {.line = line, .end = length};
    uint64_t offset;
    while (t.end &&
           (is_blank(line[t.end - 1]) || line[t.end - 1] == '\n' || line[t.end - 1] == '\r'))
        t.end--;
    if (in->is_done)
        xoff_hex_begin(in);
    skip_blanks(&t);
    if (t.at == t.end || line[t.at] == '#')
        return in->is_dump && t.at == t.end ? end_dump(in) : HEX_NOTHING;
    const size_t at = t.at;
    const bool has_offset = get_offset(&t, &offset);
    if (in->is_dump && (!has_offset || !offset))
        return end_dump(in);
    if (!has_offset || (offset && !in->is_dump)) {
        t.at = at;
        return read_plain(in, &t, err);
    }
    if (offset != in->n)
        return refuse(err, at, "this offset does not follow from the lines before");
    in->is_dump = true;
    return read_dump(in, &t, err);
}
