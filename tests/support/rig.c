/* Runs a scenario given as text, for tests of whole networks. */
#include "rig.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include <cmocka.h>

/* Weak: a test may have a hook of its own. */
__attribute__((weak, noreturn)) void xoff_assert_fail(const char *expression, const char *file,
                                                      int line)
{
    fprintf(stderr, "assertion at %s:%d: %s\n", file, line, expression);
    abort();
}

void rig_run(struct rig *rig, const struct rig_options *options, const char *format, ...)
{
    char *text = NULL;
    va_list args;
    va_start(args, format);
    const int length = vasprintf(&text, format, args);
    va_end(args);
    assert_true(length > 0);
    struct xoff_err err = {0};
    struct scenario *scenario = NULL;
    if (scenario_read_text("test", text, (size_t)length, NULL, 0, &scenario, &err))
        fail_msg("%s:%d:%d: %s: %s\n%s", err.file, err.line, err.column, err.subject, err.message,
                 text);
    rig_run_plan(rig, options, scenario, 0);
    free(text);
}

#define RIG_MOST_S 60 /* of processor time, for one run; the longest takes a few */

static void end_of_time(int signal)
{
    static const char text[] = "rig: a run took more than 60 s of processor time\n";
    (void)signal;
    _exit(write(STDERR_FILENO, text, sizeof text - 1) ? 1 : 2);
}

/* Ends the test when a run does not end by itself. Processor time does not depend on what else the
 * machine does. */
static void watch(long seconds)
{
    const struct itimerval timer = {.it_value.tv_sec = seconds};
    signal(SIGPROF, end_of_time);
    setitimer(ITIMER_PROF, &timer, NULL);
}

void rig_run_plan(struct rig *rig, const struct rig_options *options, struct scenario *scenario,
                  uint32_t plan)
{
    static const struct rig_options standard = {.n_threads = 1, .cell_bound = XOFF_PARAM_AUTO};
    const struct rig_options *o = options ? options : &standard;
    struct xoff_err err = {0};
    *rig = (struct rig){.scenario = scenario};
    const struct build_options build = {.n_threads = o->n_threads ? o->n_threads : 1,
                                        .cell_bound = o->cell_bound,
                                        .progress_context = o->progress_context,
                                        .progress = o->progress,
                                        .captures = &o->capture,
                                        .n_captures = o->capture != NULL};
    if (build_create(scenario->plans[plan], &build, &rig->built, &err))
        fail_msg("%s:%d:%d: %s: %s\n%s", err.file, err.line, err.column, err.subject, err.message,
                 scenario->text);
    rig->kinds = NULL;
    if (o->adjust) {
        struct built *b = rig->built;
        struct net_blame blame;
        net_destroy(b->net);
        rig->kinds = calloc(b->spec.n_kinds, sizeof *rig->kinds);
        assert_non_null(rig->kinds);
        memcpy(rig->kinds, b->spec.kinds, b->spec.n_kinds * sizeof *rig->kinds);
        b->spec.kinds = rig->kinds;
        o->adjust(o->adjust_context, &b->spec, rig->kinds, b->transports);
        if (net_create(&b->spec, &b->net, &blame, &err))
            fail_msg("%s: %s", err.subject, err.message);
    }
    watch(RIG_MOST_S);
    net_run(rig->built->net);
    watch(0);
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
    free(rig->kinds);
}

double rig_metric(const struct rig *rig, const char *name)
{
    const struct metric *m = summary_find(rig->summary, name);
    if (!m)
        fail_msg("no metric %s", name);
    return m->value;
}

uint32_t rig_node(const struct rig *rig, const char *name)
{
    for (uint32_t n = 0; n < rig->results->n_nodes; n++)
        if (!strcmp(rig->results->nodes[n].name, name))
            return n;
    fail_msg("no node %s", name);
    return 0;
}

const struct result_buffer *rig_buffer(const struct rig *rig, uint32_t node)
{
    for (uint32_t i = 0; i < rig->results->n_buffers; i++)
        if (rig->results->buffers[i].node == node)
            return &rig->results->buffers[i];
    fail_msg("node %u has no buffer", node);
    return NULL;
}

const struct result_port *rig_port(const struct rig *rig, const char *node, const char *peer)
{
    const uint32_t from = rig_node(rig, node), to = rig_node(rig, peer);
    for (uint32_t i = 0; i < rig->results->n_ports; i++)
        if (rig->results->ports[i].node == from && rig->results->ports[i].peer_node == to)
            return &rig->results->ports[i];
    fail_msg("no link from %s to %s", node, peer);
    return NULL;
}

void rig_assert_clean(const struct rig *rig)
{
    for (uint32_t i = 0; i < rig->results->n_findings; i++)
        print_error("audit: %s\n", rig->results->findings[i].text);
    assert_int_equal(rig->results->n_findings, 0);
}
