/* Runs a scenario given as text, for tests of whole networks. */
#include "rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

_Noreturn void xoff_assert_fail(const char *expression, const char *file, int line)
{
    fprintf(stderr, "assertion at %s:%d: %s\n", file, line, expression);
    abort();
}

void rig_run(struct rig *rig, const struct rig_options *options, const char *format, ...)
{
    static const struct rig_options standard = {1, XOFF_PARAM_AUTO};
    const struct rig_options *o = options ? options : &standard;
    char text[8192];
    va_list args;
    va_start(args, format);
    const int length = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    assert_in_range(length, 1, sizeof text - 1);
    struct xoff_err err = {0};
    *rig = (struct rig){0};
    int code = scenario_read_text("test", text, (size_t)length, NULL, 0, &rig->scenario, &err);
    const struct build_options build = {.n_threads = o->n_threads ? o->n_threads : 1,
                                        .cell_bound = o->cell_bound};
    if (!code)
        code = build_create(rig->scenario->plans[0], &build, &rig->built, &err);
    if (code)
        fail_msg("%s:%d:%d: %s: %s\n%s", err.file, err.line, err.column, err.subject, err.message,
                 text);
    net_run(rig->built->net);
    rig->results = net_collect(rig->built->net);
    rig->results->title = rig->results->variant = "";
    rig->results->scenario_file = rig->results->scenario_text = rig->results->config_text = "";
    rig->summary = summary_create(rig->results);
}

void rig_fini(struct rig *rig)
{
    summary_destroy(rig->summary);
    net_free_results(rig->results);
    build_destroy(rig->built);
    scenario_destroy(rig->scenario);
}

double rig_metric(const struct rig *rig, const char *name)
{
    const struct metric *m = summary_find(rig->summary, name);
    if (!m)
        fail_msg("no metric %s", name);
    return m->value;
}

void rig_assert_clean(const struct rig *rig)
{
    for (uint32_t i = 0; i < rig->results->n_findings; i++)
        print_error("audit: %s\n", rig->results->findings[i].text);
    assert_int_equal(rig->results->n_findings, 0);
}
