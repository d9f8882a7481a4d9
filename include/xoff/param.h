/* Parameter tables: each mechanism, topology kind and traffic kind states its parameters once; the
 * scenario parser, --help, --print-config, the JSON schema and the docs are made from the table.
 */
#ifndef XOFF_PARAM_H
#define XOFF_PARAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <xoff/err.h>

#ifdef __cplusplus
extern "C" {
#endif

enum xoff_param_type {
    XOFF_P_BOOL,   /* int64_t 0 or 1: true, false, yes, no, on, off */
    XOFF_P_INT,    /* int64_t */
    XOFF_P_REAL,   /* double: 0.5, 1/8, 50 % */
    XOFF_P_TIME,   /* int64_t ps */
    XOFF_P_RATE,   /* int64_t bits per second */
    XOFF_P_BYTES,  /* int64_t */
    XOFF_P_CHOICE, /* int64_t index into choices */
    XOFF_P_TEXT,   /* char[XOFF_PARAM_TEXT] */
};

#define XOFF_PARAM_TEXT 256
#define XOFF_PARAM_AUTO (-1) /* stored for "auto" where allows_auto; REAL stores -1.0 */

struct xoff_param {
    const char *name; /* as written in the scenario; NULL ends a table */
    enum xoff_param_type type;
    size_t offset;              /* into the params struct */
    const char *preset;         /* default, in the user's words; NULL: must be given */
    const char *min, *max;      /* accepted range in the user's words, inclusive; NULL: none */
    const char *const *choices; /* XOFF_P_CHOICE: NULL-terminated */
    bool allows_auto;
    const char *help; /* one sentence: meaning, and what "auto" means */
};

/* The entry of that name, or NULL. */
const struct xoff_param *xoff_param_find(const struct xoff_param *table, const char *name);

/* Writes every default; fields without one are zeroed. */
void xoff_param_defaults(const struct xoff_param *table, void *params);

/* Parses `text` into the field of `p`, checks range and unit. On failure err has subject, value and
 * a message that says what is accepted. */
int xoff_param_set(const struct xoff_param *p, void *params, const char *text,
                   struct xoff_err *err);

/* The current value as text that xoff_param_set accepts. Returns buf. */
char *xoff_param_format(const struct xoff_param *p, const void *params, char *buf, size_t size);

/* One line that says what the parameter accepts: "a time such as 2us, from 0s to 1s, or auto". */
char *xoff_param_accepts(const struct xoff_param *p, char *buf, size_t size);

#ifdef __cplusplus
}
#endif

#endif
