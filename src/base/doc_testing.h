/* Helpers for tests that keep a page of docs/ in step with tables of the program.
 *
 * The page has marked regions,
 *     <!-- mark -->  ... <!-- end -->
 * whose insides a function of the test writes. The test makes them again and compares; called with
 * --update it writes the page anew instead.
 */
#ifndef BASE_DOC_TESTING_H
#define BASE_DOC_TESTING_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct doc {
    const char *root; /* folder of the sources */
    const char *name; /* such as docs/scenario.md */
    /* Writes the inside of a region; false: there is no such mark. */
    bool (*write_region)(FILE *out, const char *mark);
};

static inline char *doc_load(const struct doc *doc)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", doc->root, doc->name);
    FILE *in = fopen(path, "rb");
    if (!in)
        return NULL;
    char *text = calloc(1, 1 << 20);
    const size_t n = text ? fread(text, 1, (1 << 20) - 1, in) : 0;
    fclose(in);
    if (!n) {
        free(text);
        return NULL;
    }
    return text;
}

/* The page with every region made anew; NULL and a line on stderr when a mark is wrong. */
static inline char *doc_made_anew(const struct doc *doc, const char *page)
{
    static const char open_mark[] = "\n<!-- ", close_mark[] = " -->\n", end_mark[] = "<!-- end -->";
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    bool good = out != NULL;
    while (good) {
        const char *mark = strstr(page, open_mark);
        const char *close = mark ? strstr(mark, close_mark) : NULL;
        if (!close)
            break;
        char name[64];
        mark += strlen(open_mark);
        snprintf(name, sizeof name, "%.*s", (int)(close - mark), mark);
        close += strlen(close_mark);
        fwrite(page, 1, (size_t)(close - page), out);
        const char *end = strstr(close, end_mark);
        good = doc->write_region(out, name) && end;
        if (!good)
            fprintf(stderr, "%s: no table for, or no end of, '%s'\n", doc->name, name);
        else
            fputs(end_mark, out);
        page = end ? end + strlen(end_mark) : page;
    }
    if (good)
        fputs(page, out);
    if (out)
        fclose(out);
    if (!good) {
        free(text);
        return NULL;
    }
    return text;
}

static inline int doc_update(const struct doc *doc)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", doc->root, doc->name);
    char *page = doc_load(doc), *text = page ? doc_made_anew(doc, page) : NULL;
    FILE *out = text ? fopen(path, "wb") : NULL;
    const bool good = out && fputs(text, out) >= 0 && fclose(out) == 0;
    free(page);
    free(text);
    if (!good)
        fprintf(stderr, "%s: not updated\n", path);
    return good ? 0 : 1;
}

/* The line where the page differs from the tables; 0: nowhere, UINT32_MAX: a mark is wrong. */
static inline uint32_t doc_differs_at(const struct doc *doc, const char *page)
{
    char *text = doc_made_anew(doc, page);
    if (!text)
        return UINT32_MAX;
    uint32_t line = 1;
    size_t i = 0;
    for (; page[i] && page[i] == text[i]; i++)
        line += page[i] == '\n';
    const bool is_same = page[i] == text[i];
    free(text);
    return is_same ? 0 : line;
}

#endif
