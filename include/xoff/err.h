/* Errors of user input: one list of codes, and one struct that says what is wrong, where, and what
 * is accepted. */
#ifndef XOFF_ERR_H
#define XOFF_ERR_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* code, text shown to people */
#define XOFF_ERR_MAP(X)                  \
    X(OK, "no error")                    \
    X(UNKNOWN, "unknown key")            \
    X(TYPE, "wrong type")                \
    X(UNIT, "wrong or missing unit")     \
    X(RANGE, "out of range")             \
    X(MISSING, "missing")                \
    X(CONFLICT, "does not fit together") \
    X(SYNTAX, "syntax")                  \
    X(NO_MEMORY, "not enough memory")    \
    X(IO, "input/output")                \
    X(ELSEWHERE, "another rank failed")

enum xoff_err_code {
#define X(code, text) XOFF_E_##code,
    XOFF_ERR_MAP(X)
#undef X
};

/* All text is NUL-terminated and cut to its field. `file`, `line` and `column` (from 1; 0: none)
 * are filled by whoever knows the place; mechanisms fill the rest. */
struct xoff_err {
    enum xoff_err_code code;
    int line, column;
    char file[256];
    char subject[128]; /* the key, option or field */
    char value[96];    /* what was given */
    char message[384]; /* what is wrong, and what is accepted */
};

const char *xoff_err_text(enum xoff_err_code code);

/* Fills code, subject, value and message (any may be NULL) and returns -(int)code. */
int xoff_err_set(struct xoff_err *err, enum xoff_err_code code, const char *subject,
                 const char *value, const char *message);

/* Appends text, or a decimal number, to err->message. */
void xoff_err_add(struct xoff_err *err, const char *text);
void xoff_err_add_int(struct xoff_err *err, long long number);

/* A failed assertion is a programmer error and ends the run, in every build used for results.
 * xoff_assert_fail() never returns: the simulator's version prints and exits, firmware supplies its
 * own. */
__attribute__((noreturn)) void xoff_assert_fail(const char *expression, const char *file, int line);
/* Marks a function that per-frame code calls rarely. It is kept out of line so that the common path
 * stays short. */
#define XOFF_SELDOM __attribute__((noinline, cold))

#define XOFF_ASSERT(e) ((e) ? (void)0 : xoff_assert_fail(#e, __FILE__, __LINE__))

#ifdef __cplusplus
}
#endif

#endif
