/* A YAML text as a list of lines, of which blocks can be taken out, changed and put in.
 *
 * Only block style is understood: a key and its value to a line, what belongs to a key indented by
 * two, entries of lists begun by "- " and indented, too. random_scenario() writes such text. */
#ifndef SUPPORT_OUTLINE_H
#define SUPPORT_OUTLINE_H

#include <stdbool.h>
#include <stdint.h>

#define OUTLINE_NONE UINT32_MAX

struct outline {
    char **lines; /* without their ends */
    uint32_t n, capacity;
};

void outline_init(struct outline *o, const char *text);
void outline_fini(struct outline *o);
/* Returns the whole text; the caller frees it. */
char *outline_text(const struct outline *o);

/* Puts a line in before line `at`, or at the end for OUTLINE_NONE. */
void outline_insert(struct outline *o, uint32_t at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

uint32_t outline_indent(const struct outline *o, uint32_t at);
/* Returns the line after the block of line `at`: after all that is indented further. */
uint32_t outline_end(const struct outline *o, uint32_t at);
/* Returns the line that the block of line `at` belongs to; OUTLINE_NONE: to the file. */
uint32_t outline_parent(const struct outline *o, uint32_t at);
/* Removes the block of a line, and those around it that are empty then. The first line of an entry
 * of a list stands for the entry. */
void outline_remove(struct outline *o, uint32_t at);

bool outline_has_key(const struct outline *o, uint32_t at, const char *key);
/* Returns the value of a line, "" if it has none. */
const char *outline_value(const struct outline *o, uint32_t at);
void outline_set(struct outline *o, uint32_t at, const char *value);
/* Finds a key right below line `parent` (OUTLINE_NONE: of the file), or on it if it begins an entry
 * of a list. */
uint32_t outline_find(const struct outline *o, uint32_t parent, const char *key);

#endif
