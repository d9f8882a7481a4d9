/* Writes a page: the pieces made at build time, and between them its kind, title and data.
 *
 * The data stand in a script element, which the next "</script" would end, and in which "<!--" has
 * a meaning of its own. Therefore every '<' of the JSON, which can only be inside a string, is
 * written as an escape. The title is markup, and escaped as such.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report/page.h"

static const char *const page_names[] = {[REPORT_RUN] = "run", [REPORT_REPRODUCE] = "reproduce"};

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

/* Returns 0 or the reason (errno). */
static int write_to(const char *path, const char *mode, enum report_page page, const char *title,
                    const char *json)
{
    FILE *out = fopen(path, mode);
    if (!out)
        return errno;
    errno = 0;
    for (size_t i = 0; i < n_page_pieces; i++) {
        const struct page_piece *piece = &page_pieces[i];
        fwrite(piece->text, 1, piece->size, out);
        if (piece->slot == SLOT_PAGE)
            fputs(page_names[page], out);
        else if (piece->slot == SLOT_TITLE)
            put_title(out, title);
        else if (piece->slot == SLOT_DATA)
            put_data(out, json);
    }
    int reason = 0;
    if (fflush(out) || ferror(out))
        reason = errno ? errno : EIO;
    if (fclose(out) && !reason)
        reason = errno;
    return reason;
}

int report_write_page(const char *path, enum report_page page, const char *title, const char *json,
                      struct xoff_err *err)
{
    struct stat status;
    int reason;
    if (stat(path, &status) == 0 && !S_ISREG(status.st_mode)) {
        reason = write_to(path, "w", page, title, json); /* a pipe cannot be replaced by a rename */
    } else {
        char *whole = realpath(path, NULL), *aside; /* the target, if the path is a link */
        const char *target = whole ? whole : path;
        XOFF_ASSERT(asprintf(&aside, "%s.%ld.tmp", target, (long)getpid()) >= 0);
        unlink(aside); /* left by a dead process; "wx" then follows no link */
        reason = write_to(aside, "wx", page, title, json);
        if (!reason && rename(aside, target))
            reason = errno;
        if (reason)
            unlink(aside);
        free(aside);
        free(whole);
    }
    if (!reason)
        return 0;
    const int code = xoff_err_set(err, XOFF_E_IO, NULL, NULL, "cannot be written: ");
    xoff_err_add(err, strerror(reason));
    snprintf(err->file, sizeof err->file, "%s", path);
    return code;
}
