/* What every libFuzzer target has. */
#ifndef FUZZ_TARGET_H
#define FUZZ_TARGET_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <xoff/err.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

_Noreturn void xoff_assert_fail(const char *expression, const char *file, int line)
{
    (void)expression, (void)file, (void)line;
    abort();
}

static inline void require(int holds)
{
    if (!holds)
        abort();
}

/* libfyaml 0.7.12 loses a buffer when a quoted scalar with many escaped quotes breaks off. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
    return "leak:libfyaml";
}

#endif
