/* Named values, as text or JSON. */
#include "cli/values.h"

#include <inttypes.h>
#include <string.h>

enum { NAME_COLUMNS = 13, MAX_COLUMNS = 80, MAX_NUMBER_DIGITS = 8 };

/* Writes characters as JSON wants them in a string; of text, what a terminal should not get is a
 * dot. */
static void put_escaped(struct values *f, const char *text, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const unsigned char c = (unsigned char)text[i];
        const bool is_plain = c >= ' ' && c < 127;
        if (f->is_json && (c == '"' || c == '\\'))
            fprintf(f->out, "\\%c", c);
        else if (is_plain)
            fputc(c, f->out);
        else if (f->is_json)
            fprintf(f->out, "\\u%04x", c);
        else
            fputc('.', f->out);
    }
}

/* Writes what stands between two values. The next one has `n` characters of text with its name. */
static void put_separator(struct values *f, size_t n)
{
    if (f->is_json) {
        if (f->has_field)
            fputc(',', f->out);
    } else if (f->has_field) {
        const bool fits = f->column + 2 + n < MAX_COLUMNS;
        if (fits)
            fputs(", ", f->out);
        else
            fprintf(f->out, ",\n%*s", NAME_COLUMNS, "");
        f->column = (fits ? f->column + 2 : (unsigned)NAME_COLUMNS);
    }
    f->has_field = true;
    f->column += (unsigned)n;
}

/* Writes a name; text has blanks where JSON has underscores. */
static void put_name(struct values *f, const char *name)
{
    if (f->is_json) {
        fprintf(f->out, "\"%s\":", name);
        return;
    }
    for (; *name; name++)
        fputc(*name == '_' ? ' ' : *name, f->out);
}

/* Writes name and value; the value is a string in JSON if `is_text`. */
static void put_value(struct values *f, const char *name, const char *value, size_t n, bool is_text)
{
    put_separator(f, strlen(name) + 1 + n);
    put_name(f, name);
    if (!f->is_json)
        fputc(' ', f->out);
    else if (is_text)
        fputc('"', f->out);
    put_escaped(f, value, n);
    if (f->is_json && is_text)
        fputc('"', f->out);
}

void values_begin_line(struct values *f)
{
    if (f->is_json)
        fputc('{', f->out);
    f->has_field = false;
}

void values_end_line(struct values *f)
{
    fputs(f->is_json ? "}\n" : "", f->out);
}

void values_begin_groups(struct values *f, const char *name)
{
    if (f->is_json)
        fprintf(f->out, "%s\"%s\":[", f->has_field ? "," : "", name);
    f->has_field = false;
}

void values_end_groups(struct values *f)
{
    if (f->is_json)
        fputc(']', f->out);
    f->has_field = true;
}

void values_begin(struct values *f, const char *name)
{
    if (f->is_json) {
        fprintf(f->out, "%s{\"layer\":\"%s\"", f->has_field ? "," : "", name);
        f->has_field = true;
        return;
    }
    fprintf(f->out, "  %-*s", NAME_COLUMNS - 2, name);
    f->column = NAME_COLUMNS;
    f->has_field = false;
}

void values_end(struct values *f)
{
    fputc(f->is_json ? '}' : '\n', f->out);
    f->has_field = true;
}

void values_raw_text(struct values *f, const char *name, const void *characters, size_t n)
{
    put_value(f, name, characters, n, true);
}

void values_text(struct values *f, const char *name, const char *value)
{
    put_value(f, name, value, strlen(value), true);
}

void values_int(struct values *f, const char *name, int64_t value)
{
    char text[24];
    const int n = snprintf(text, sizeof text, "%" PRId64, value);
    put_value(f, name, text, (size_t)n, false);
}

void values_unsigned(struct values *f, const char *name, uint64_t value)
{
    char text[24];
    const int n = snprintf(text, sizeof text, "%" PRIu64, value);
    put_value(f, name, text, (size_t)n, false);
}

void values_hex(struct values *f, const char *name, uint64_t value, unsigned digits)
{
    char text[24];
    if (f->is_json && digits <= MAX_NUMBER_DIGITS) {
        values_unsigned(f, name, value);
        return;
    }
    const int n = snprintf(text, sizeof text, "0x%0*" PRIx64, (int)digits, value);
    put_value(f, name, text, (size_t)n, true);
}

void values_is(struct values *f, const char *name, bool value)
{
    if (f->is_json) {
        put_value(f, name, value ? "true" : "false", value ? 4 : 5, false);
    } else if (value) {
        put_separator(f, strlen(name));
        put_name(f, name);
    }
}

void values_mac(struct values *f, const char *name, const uint8_t mac[6])
{
    char text[18];
    snprintf(text, sizeof text, "%02x-%02x-%02x-%02x-%02x-%02x", mac[0], mac[1], mac[2], mac[3],
             mac[4], mac[5]);
    values_text(f, name, text);
}

void values_ipv4(struct values *f, const char *name, uint32_t address)
{
    char text[16];
    snprintf(text, sizeof text, "%u.%u.%u.%u", address >> 24, address >> 16 & 255,
             address >> 8 & 255, address & 255);
    values_text(f, name, text);
}

/* Octets take more than a line, so they are written as they come. */
void values_octets(struct values *f, const char *name, const uint8_t *octets, size_t n)
{
    put_separator(f, strlen(name) + 1 + 2 * n);
    put_name(f, name);
    fputc(f->is_json ? '"' : ' ', f->out);
    for (size_t i = 0; i < n; i++)
        fprintf(f->out, "%02x", octets[i]);
    if (f->is_json)
        fputc('"', f->out);
}

void values_numbers(struct values *f, const char *name, const uint32_t *numbers, size_t n)
{
    char text[1024] = "";
    size_t at = 0;
    for (size_t i = 0; i < n && at < sizeof text - 16; i++)
        at += (size_t)snprintf(text + at, sizeof text - at, "%s%u",
                               !i           ? ""
                               : f->is_json ? ","
                                            : " ",
                               numbers[i]);
    put_separator(f, strlen(name) + 1 + at);
    put_name(f, name);
    fprintf(f->out, f->is_json ? "[%s]" : " %s", *text || f->is_json ? text : "none");
}

void values_bits(struct values *f, const char *name, uint32_t bits)
{
    uint32_t numbers[32];
    size_t n = 0;
    for (uint32_t i = 0; i < 32; i++)
        if (bits >> i & 1)
            numbers[n++] = i;
    values_numbers(f, name, numbers, n);
}
