/* Any text as an expectation: no crash, no overrun, and an answer that agrees with itself.
 *
 * What passes the syntax check alone must not be a syntax error against runs, what fails it must
 * fail there too (a name that no metric has may come before the mistake); an error must have a
 * place within the text; a detail is terminated. Built with -fsanitize=fuzzer; seeds in
 * tests/fuzz/seeds/expect_fuzz.
 */
#include <stdio.h>

#include "stats/results.h"
#include "target.h"

static struct metric first_metrics[] = {
    {"fct.p99", "s", 81.2e-6, ""},        {"drops", "frames", 0, ""},
    {"drops.link-down", "frames", 3, ""}, {"throughput", "bps", 9.5e9, ""},
    {"queue.peak", "B", 16000, ""},       {"jain", "ratio", 0.98, ""},
};
static struct metric second_metrics[] = {{"fct.p99", "s", 40e-6, ""}, {"drops", "frames", 1, ""}};

static void check_error(const struct xoff_err *err, int status, size_t length)
{
    XOFF_ASSERT(status == -(int)err->code);
    XOFF_ASSERT(err->column >= 1 && (size_t)err->column <= length + 1);
    XOFF_ASSERT(err->message[0]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct results first = {.variant = "SIH"}, second = {.variant = "DSH-2"};
    static const struct summary first_summary = {.metrics = first_metrics, .n_metrics = 6},
                                second_summary = {.metrics = second_metrics, .n_metrics = 2};
    static const struct results *const runs[] = {&first, &second};
    static const struct summary *const summaries[] = {&first_summary, &second_summary};
    struct xoff_err err = {0};
    bool holds;
    char detail[40];

    char *text = malloc(size + 1);
    if (!text)
        return 0;
    if (size)
        memcpy(text, data, size);
    text[size] = '\0';
    const size_t length = strlen(text);
    const int syntax = expect_evaluate(text, NULL, NULL, 0, &holds, detail, sizeof detail, &err);
    if (syntax)
        check_error(&err, syntax, length);
    for (uint32_t n_runs = 1; n_runs <= 2; n_runs++) {
        err = (struct xoff_err){0};
        memset(detail, 'x', sizeof detail);
        const int status =
            expect_evaluate(text, runs, summaries, n_runs, &holds, detail, sizeof detail, &err);
        if (status)
            check_error(&err, status, length);
        if (syntax)
            XOFF_ASSERT(syntax == -(int)XOFF_E_UNKNOWN ? status != 0 : status == syntax);
        else
            XOFF_ASSERT(status != -XOFF_E_SYNTAX);
        XOFF_ASSERT(memchr(detail, '\0', sizeof detail));
        XOFF_ASSERT(status || detail[0]);
    }
    free(text);
    return 0;
}
