/* Reading mappings of a document by parameter tables, with located errors. */
#ifndef SCENARIO_FIELDS_H
#define SCENARIO_FIELDS_H

#include "scenario/sections.h"
#include "scenario/yaml.h"

/* The state of reading: the document, and the dotted path that errors name. */
struct fields_reader {
    const char *file;
    struct xoff_err *err;
    char path[256];
};

/* Appends `.step` to the path; returns the length to go back to. */
size_t fields_enter(struct fields_reader *r, const char *step);
size_t fields_enter_index(struct fields_reader *r, uint32_t index);
void fields_leave(struct fields_reader *r, size_t length);

/* Fails at the value of `node` (or at its key), naming the current path. Both return -code. */
int fields_fail(struct fields_reader *r, const struct yaml_node *node, enum xoff_err_code code,
                const char *message);
int fields_fail_key(struct fields_reader *r, const struct yaml_node *node, enum xoff_err_code code,
                    const char *message);
/* Locates an error whose code, value and message are filled in at the value of `node`. */
int fields_locate(struct fields_reader *r, const struct yaml_node *node, int rc);

int fields_no_memory(struct fields_reader *r);

/* Fails unless the node is of that kind; `what` names what the place expects. */
int fields_want(struct fields_reader *r, const struct yaml_node *node, enum yaml_kind kind,
                const char *what);

/* Sets every default in `params`, then the values of the mapping. Keys of `others`
 * (NULL-terminated, or NULL) are left to the caller. Fails on unknown keys, wrong values and
 * missing required keys. */
int fields_read(struct fields_reader *r, const struct yaml_node *mapping,
                const struct xoff_param *table, void *params, const char *const *others);
/* Like fields_read(), but keeps the values that are already there instead of setting defaults. */
int fields_overlay(struct fields_reader *r, const struct yaml_node *mapping,
                   const struct xoff_param *table, void *params, const char *const *others);

/* Returns a value as text, list entries joined by commas: for a parameter `p`, or for any text when
 * it is NULL. */
int fields_text(struct fields_reader *r, const struct yaml_node *node, const struct xoff_param *p,
                char *buf, size_t size);

/* Returns the kind that `node` names as a word or by `kind:` in a mapping; the default for NULL or
 * where no kind is named. */
int fields_kind(struct fields_reader *r, const struct yaml_node *node, enum kinds_role role,
                struct kind *out);

/* A name of less than `size` bytes made of letters, digits, `_` and the characters of `also`, that
 * starts and ends with a letter, digit or `_`. */
int fields_check_name(struct fields_reader *r, const struct yaml_node *node, const char *name,
                      const char *also, size_t size);

/* Returns the index of the first name that also stands earlier in the list; n: none. UINT32_MAX: no
 * memory. */
uint32_t fields_find_repeat(const char *const *names, uint32_t n);

#endif
