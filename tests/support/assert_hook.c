/* The assert hook of tests that define none. */
#include <stdio.h>
#include <stdlib.h>

#include <xoff/err.h>

_Noreturn void xoff_assert_fail(const char *expression, const char *file, int line)
{
    fprintf(stderr, "assertion at %s:%d: %s\n", file, line, expression);
    abort();
}
