/* Reading flow files (flow_file.h). The file is read whole and cut in place; a million lines take
 * well under a second.
 */
#include "traffic/flow_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <xoff/units.h>

#include "base/text.h"
#include "traffic/sizes.h"
#include "traffic/words.h"

#define MAX_FIELDS 5
#define MIN_FIELDS 4
#define MAX_FIELD 64 /* characters shown of a field, and of a number */

struct field {
    const char *text;
    size_t length;
};

/* A host with its name. qsort has no context argument, so the names are part of the elements. */
struct named_host {
    const char *name;
    uint32_t host;
};

static int compare_names(const void *a, const void *b)
{
    return strcmp(((const struct named_host *)a)->name, ((const struct named_host *)b)->name);
}

int flow_names_init(struct flow_names *names, const struct topo *topo, struct xoff_err *err)
{
    *names = (struct flow_names){.topo = topo};
    struct named_host *sorted = calloc(topo->n_hosts ? topo->n_hosts : 1, sizeof *sorted);
    names->by_name = calloc(topo->n_hosts ? topo->n_hosts : 1, sizeof *names->by_name);
    if (!sorted || !names->by_name) {
        free(sorted);
        free(names->by_name);
        names->by_name = NULL;
        return bind_no_memory(err);
    }
    for (uint32_t i = 0; i < topo->n_hosts; i++)
        sorted[i] = (struct named_host){.name = topo->nodes[i].name, .host = i};
    qsort(sorted, topo->n_hosts, sizeof *sorted, compare_names);
    for (uint32_t i = 0; i < topo->n_hosts; i++)
        names->by_name[i] = sorted[i].host;
    free(sorted);
    return 0;
}

/* Reads a plain decimal number up to `max`; false: the text is anything else. */
static bool read_digits(const char *text, size_t length, uint64_t max, uint64_t *out)
{
    uint64_t n = 0;
    if (length == 0)
        return false;
    for (size_t i = 0; i < length; i++) {
        const uint64_t digit = (uint64_t)(unsigned char)text[i] - '0';
        if (digit > 9 || digit > max || n > (max - digit) / 10)
            return false;
        n = n * 10 + digit;
    }
    *out = n;
    return true;
}

uint32_t flow_names_find(const struct flow_names *names, const char *name, size_t length)
{
    const struct topo *topo = names->topo;
    char text[TOPO_NAME];
    if (length == 0 || length >= sizeof text)
        return TOPO_NONE;
    memcpy(text, name, length);
    text[length] = '\0';
    uint32_t low = 0, high = topo->n_hosts;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        const int order = strcmp(topo->nodes[names->by_name[middle]].name, text);
        if (order == 0)
            return names->by_name[middle];
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    uint64_t number;
    if (read_digits(name, length, topo->n_hosts, &number) && number < topo->n_hosts)
        return (uint32_t)number;
    return TOPO_NONE;
}

static int refuse_line(struct xoff_err *err, enum xoff_err_code code, const char *path, int line,
                       const struct field *field, const char *message)
{
    char value[MAX_FIELD] = "";
    if (field) {
        const size_t n = field->length < sizeof value ? field->length : sizeof value - 1;
        memcpy(value, field->text, n);
    }
    const int rc = xoff_err_set(err, code, "file", field ? value : NULL, message);
    if (err) {
        struct text file = text_at(err->file, sizeof err->file, 0);
        text_add(&file, path);
        err->line = line;
        err->column = 0;
    }
    return rc;
}

/* Reads seconds as picoseconds: exactly for up to twelve plain decimals, else through a double. */
static bool read_seconds(const struct field *field, xoff_time *out)
{
    const char *dot = memchr(field->text, '.', field->length);
    const size_t n_whole = dot ? (size_t)(dot - field->text) : field->length;
    const size_t n_part = dot ? field->length - n_whole - 1 : 0;
    uint64_t whole, part = 0;
    if (n_part <= 12 && (!dot || n_part) && read_digits(field->text, n_whole, 9000000, &whole) &&
        (!n_part || read_digits(dot + 1, n_part, UINT64_MAX, &part))) {
        for (size_t i = n_part; i < 12; i++)
            part *= 10;
        *out = (xoff_time)(whole * (uint64_t)XOFF_S + part);
        return true;
    }
    char text[MAX_FIELD];
    double seconds;
    if (field->length >= sizeof text || memchr(field->text, '/', field->length) ||
        memchr(field->text, '%', field->length))
        return false;
    memcpy(text, field->text, field->length);
    text[field->length] = '\0';
    if (xoff_parse_real(text, &seconds) || seconds > 9e6)
        return false;
    *out = (xoff_time)(seconds * (double)XOFF_S + 0.5);
    return true;
}

/* Cuts a line at commas and strips blanks around fields. Returns their number; at most MAX_FIELDS
 * are kept. */
static uint32_t cut(const char *line, size_t length, struct field *fields)
{
    const char *end = line + length;
    uint32_t n = 0;
    for (;;) {
        const char *comma = memchr(line, ',', (size_t)(end - line));
        const char *stop = comma ? comma : end;
        const char *last = stop;
        while (line < last && (*line == ' ' || *line == '\t'))
            line++;
        while (line < last && (last[-1] == ' ' || last[-1] == '\t'))
            last--;
        if (n < MAX_FIELDS)
            fields[n] = (struct field){.text = line, .length = (size_t)(last - line)};
        n++;
        if (!comma)
            return n;
        line = comma + 1;
    }
}

static int read_line(const char *path, int number, const struct field *fields, uint32_t n,
                     const struct flow_names *names, struct schedule_entry *out,
                     struct xoff_err *err)
{
    uint64_t priority;
    if (n < MIN_FIELDS || n > MAX_FIELDS)
        return refuse_line(err, XOFF_E_SYNTAX, path, number, &fields[0],
                           "a line has four or five fields: at_s,from,to,bytes,priority");
    if (!read_seconds(&fields[0], &out->at))
        return refuse_line(err, XOFF_E_TYPE, path, number, &fields[0],
                           "a start is a number of seconds from 0 on, as 0.001 or 1e-3");
    out->from = flow_names_find(names, fields[1].text, fields[1].length);
    out->to = flow_names_find(names, fields[2].text, fields[2].length);
    if (out->from == TOPO_NONE || out->to == TOPO_NONE)
        return refuse_line(err, XOFF_E_UNKNOWN, path, number,
                           &fields[out->from == TOPO_NONE ? 1 : 2],
                           "no such host; a host's name or number is accepted");
    if (out->from == out->to)
        return refuse_line(err, XOFF_E_CONFLICT, path, number, &fields[2],
                           "a host does not send to itself");
    if (!read_digits(fields[3].text, fields[3].length, (uint64_t)SIZES_MAX_BYTES, &out->bytes) ||
        out->bytes == 0)
        return refuse_line(err, XOFF_E_RANGE, path, number, &fields[3],
                           "a flow has a whole number of bytes, from 1 to 10^15, without a unit");
    if (n == MAX_FIELDS) {
        if (!read_digits(fields[4].text, fields[4].length, XOFF_N_PRIORITIES - 1, &priority))
            return refuse_line(err, XOFF_E_RANGE, path, number, &fields[4],
                               "a priority from 0 to 7 is accepted");
        out->priority = (uint8_t)priority;
        out->priorities = 0;
    }
    return 0;
}

static bool is_heading(const struct field *field)
{
    return field->length == 4 && memcmp(field->text, "at_s", 4) == 0;
}

int flow_file_parse(const char *path, const char *text, size_t size, const struct flow_names *names,
                    const struct schedule_entry *preset, struct schedule **schedule,
                    struct xoff_err *err)
{
    const char *const end = text + size;
    for (int number = 1; text < end; number++) {
        struct field fields[MAX_FIELDS];
        const char *newline = memchr(text, '\n', (size_t)(end - text));
        const char *line = text;
        size_t length = (size_t)((newline ? newline : end) - line);
        text = newline ? newline + 1 : end;
        if (length && line[length - 1] == '\r')
            length--;
        if (memchr(line, '\0', length))
            return refuse_line(err, XOFF_E_SYNTAX, path, number, NULL, "not a text file");
        if (length && line[0] == '#')
            continue;
        const uint32_t n = cut(line, length, fields);
        if ((n == 1 && fields[0].length == 0) || is_heading(&fields[0]))
            continue;
        struct schedule_entry entry = *preset;
        int rc = read_line(path, number, fields, n, names, &entry, err);
        if (rc == 0)
            rc = schedule_add(schedule, &entry, err);
        if (rc)
            return rc;
    }
    return 0;
}

int flow_file_read(const char *path, const struct flow_names *names,
                   const struct schedule_entry *preset, struct schedule **schedule,
                   struct xoff_err *err)
{
    char *text;
    size_t size;
    int rc = words_load(path, "file", &text, &size, err);
    if (rc)
        return rc;
    rc = flow_file_parse(path, text, size, names, preset, schedule, err);
    free(text);
    return rc;
}
