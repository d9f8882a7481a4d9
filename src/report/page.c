/* Writes a page: the pieces made at build time, and between them its kind, title and data.
 *
 * The data stand in a script element, which the next "</script" would end, and in which "<!--" has
 * a meaning of its own. Therefore every '<' of the JSON, which can only be inside a string, is
 * written as an escape. The title is markup, and escaped as such.
 */
#include <stdio.h>
#include <string.h>

#include "report/page.h"
#include "stats/whole.h"

static const char *const page_names[] = {
    [REPORT_RUN] = "run", [REPORT_REPRODUCE] = "reproduce", [REPORT_SWEEP] = "sweep"};

#define LESS_THAN "\\u003c"

static const char *entity(char c)
{
    switch (c) {
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '&':
        return "&amp;";
    case '"':
        return "&quot;";
    default:
        return NULL;
    }
}

static void put_title(FILE *out, const char *title)
{
    for (; *title; title++) {
        const char *escaped = entity(*title);
        if (escaped)
            fputs(escaped, out);
        else
            fputc(*title, out);
    }
}

static void put_data(FILE *out, const char *json)
{
    for (const char *next; (next = strchr(json, '<')); json = next + 1) {
        fwrite(json, 1, (size_t)(next - json), out);
        fputs(LESS_THAN, out);
    }
    fputs(json, out);
}

size_t page_size(const char *title)
{
    size_t size = 6 * strlen(title) + 16; /* upper bound */
    for (size_t i = 0; i < n_page_pieces; i++)
        size += page_pieces[i].size;
    return size;
}

size_t page_data_size(const char *json)
{
    size_t size = strlen(json);
    for (; (json = strchr(json, '<')); json++)
        size += strlen(LESS_THAN) - 1;
    return size;
}

struct content {
    enum report_page page;
    const char *title, *json;
};

static void write_content(FILE *out, const void *context)
{
    const struct content *c = context;
    for (size_t i = 0; i < n_page_pieces; i++) {
        const struct page_piece *piece = &page_pieces[i];
        fwrite(piece->text, 1, piece->size, out);
        if (piece->slot == SLOT_PAGE)
            fputs(page_names[c->page], out);
        else if (piece->slot == SLOT_TITLE)
            put_title(out, c->title);
        else if (piece->slot == SLOT_DATA)
            put_data(out, c->json);
    }
}

int report_write_page(const char *path, enum report_page page, const char *title, const char *json,
                      struct xoff_err *err)
{
    const struct content content = {page, title, json};
    const int reason = whole_write(path, write_content, &content);
    if (!reason)
        return 0;
    const int code = xoff_err_set(err, XOFF_E_IO, NULL, NULL, "cannot be written: ");
    xoff_err_add(err, strerror(reason));
    snprintf(err->file, sizeof err->file, "%s", path);
    return code;
}
