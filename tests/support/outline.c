/* A YAML text as a list of lines, of which blocks can be taken out, changed and put in. */
#include "support/outline.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void put(struct outline *o, uint32_t at, char *line)
{
    if (o->n == o->capacity) {
        o->capacity = o->capacity ? 2 * o->capacity : 64;
        o->lines = realloc(o->lines, o->capacity * sizeof *o->lines);
    }
    if (!o->lines || !line)
        abort();
    memmove(&o->lines[at + 1], &o->lines[at], (o->n - at) * sizeof *o->lines);
    o->lines[at] = line;
    o->n++;
}

void outline_init(struct outline *o, const char *text)
{
    *o = (struct outline){0};
    while (*text) {
        const size_t length = strcspn(text, "\n");
        put(o, o->n, strndup(text, length));
        text += length + (text[length] == '\n');
    }
}

void outline_fini(struct outline *o)
{
    for (uint32_t i = 0; i < o->n; i++)
        free(o->lines[i]);
    free(o->lines);
}

char *outline_text(const struct outline *o)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        abort();
    for (uint32_t i = 0; i < o->n; i++)
        fprintf(out, "%s\n", o->lines[i]);
    fclose(out);
    return text;
}

void outline_insert(struct outline *o, uint32_t at, const char *format, ...)
{
    char *line = NULL;
    va_list args;
    va_start(args, format);
    if (vasprintf(&line, format, args) < 0)
        abort();
    va_end(args);
    put(o, at == OUTLINE_NONE ? o->n : at, line);
}

uint32_t outline_indent(const struct outline *o, uint32_t at)
{
    return (uint32_t)strspn(o->lines[at], " ");
}

uint32_t outline_end(const struct outline *o, uint32_t at)
{
    const uint32_t indent = outline_indent(o, at);
    while (++at < o->n && outline_indent(o, at) > indent)
        ;
    return at;
}

uint32_t outline_parent(const struct outline *o, uint32_t at)
{
    const uint32_t indent = outline_indent(o, at);
    while (at-- > 0)
        if (outline_indent(o, at) < indent)
            return at;
    return OUTLINE_NONE;
}

void outline_remove(struct outline *o, uint32_t at)
{
    for (;;) {
        const uint32_t end = outline_end(o, at), parent = outline_parent(o, at);
        for (uint32_t i = at; i < end; i++)
            free(o->lines[i]);
        memmove(&o->lines[at], &o->lines[end], (o->n - end) * sizeof *o->lines);
        o->n -= end - at;
        if (parent == OUTLINE_NONE || outline_end(o, parent) > parent + 1 ||
            *outline_value(o, parent))
            return;
        at = parent;
    }
}

static const char *key_of(const char *line)
{
    line += strspn(line, " ");
    return strncmp(line, "- ", 2) ? line : line + 2;
}

bool outline_has_key(const struct outline *o, uint32_t at, const char *key)
{
    const char *here = key_of(o->lines[at]);
    const size_t length = strlen(key);
    return !strncmp(here, key, length) && here[length] == ':';
}

const char *outline_value(const struct outline *o, uint32_t at)
{
    const char *colon = strstr(key_of(o->lines[at]), ": ");
    return colon ? colon + 2 : "";
}

void outline_set(struct outline *o, uint32_t at, const char *value)
{
    const char *line = o->lines[at], *key = key_of(line);
    char *changed = NULL;
    if (asprintf(&changed, "%.*s: %s", (int)(key - line + (long)strcspn(key, ":")), line, value) <
        0)
        abort();
    free(o->lines[at]);
    o->lines[at] = changed;
}

uint32_t outline_find(const struct outline *o, uint32_t parent, const char *key)
{
    const bool is_top = parent == OUTLINE_NONE;
    /* The first key of an entry of a list stands behind its dash. */
    if (!is_top && key_of(o->lines[parent]) > o->lines[parent] && outline_has_key(o, parent, key) &&
        strstr(o->lines[parent], "- "))
        return parent;
    const uint32_t first = is_top ? 0 : parent + 1;
    const uint32_t end = is_top ? o->n : outline_end(o, parent);
    for (uint32_t i = first; i < end; i = outline_end(o, i))
        if (outline_has_key(o, i, key))
            return i;
    return OUTLINE_NONE;
}
