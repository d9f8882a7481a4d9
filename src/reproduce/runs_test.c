/* Sets of runs: what is shared, what workers bring back, and what becomes of those that fail. */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "reproduce/runs.h"

static char dir[64], cache[96], folder[80], file[96];
static struct paper paper = {.file = file, .folder = folder};

static void write_text(const char *name, const char *text)
{
    char path[160];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    assert_true(fputs(text, out) >= 0);
    assert_int_equal(fclose(out), 0);
}

#define STAR                                                                \
    "topology: {kind: star, hosts: 5}\nstop: 200us\nswitch: {pause: pfc}\n" \
    "transport: datagram\npriorities: {3: {lossless: true}}\n"

static int make_dir(void **state)
{
    (void)state;
    snprintf(dir, sizeof dir, "/tmp/runs-test-XXXXXX");
    if (!mkdtemp(dir))
        return -1;
    snprintf(cache, sizeof cache, "%s/cache", dir);
    snprintf(folder, sizeof folder, "%s/", dir);
    snprintf(file, sizeof file, "%s/claims.yaml", dir);
    write_text("two.yaml",
               STAR "seed: 7\nmeasure: {every: 10us, series: throughput, at: s0}\n"
                    "curves: {out: {of: throughput, at: s0:0, priority: 3},"
                    " none: {of: throughput, at: s0:0, priority: 1, from: 50us, to: 100us}}\n"
                    "traffic: [{kind: poisson, name: p, from: h1..h4, to: h0, load: 0.2,"
                    " sizes: 10KB, priority: 3}]\n"
                    "variants: [{name: a}, {name: b, set: {traffic.0.load: 0.1}}]\n");
    write_text("unbuildable.yaml", STAR "traffic: [{kind: incast, from: h9, to: h0, size: 1KB}]\n");
    write_text("wrong.yaml", STAR "colour: red\n");
    return 0;
}

static int remove_dir(void **state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -r '%s'", dir);
    return system(command);
}

static double metric(const struct run_set *set, uint32_t index, const char *name)
{
    const struct metric *m = summary_find(set->summaries[index], name);
    assert_non_null(m);
    return m->value;
}

static void sharing(void **state)
{
    (void)state;
    struct plan_setting quick[] = {{"stop", "100us"}};
    const struct experiment once = {.scenario = "two.yaml",
                                    .n_seeds = 1,
                                    .quick = quick,
                                    .n_quick = 1},
                            thrice = {.scenario = "two.yaml", .n_seeds = 3};
    struct run_options options = {.n_workers = 1};
    struct runs runs = {.options = &options};
    assert_int_equal(runs_add(&runs, &paper, &once), 0);
    assert_int_equal(runs_add(&runs, &paper, &thrice), 0); /* settings only count when quick */
    assert_int_equal(runs.n_sets, 1);
    assert_int_equal(runs.n_runs, 6);
    const struct run_set *set = &runs.sets[0];
    assert_int_equal(set->runs[0].seed, 7);
    assert_int_equal(set->runs[1].seed, 7);
    assert_int_equal(set->runs[5].seed, 9);
    assert_string_equal(set->variants[1].variant, "b");
    runs_fini(&runs);

    options.is_quick = true;
    runs = (struct runs){.options = &options};
    assert_int_equal(runs_add(&runs, &paper, &once), 0);
    assert_int_equal(runs_add(&runs, &paper, &thrice), 1);
    assert_int_equal(runs.sets[1].n_seeds, 2); /* at most, when quick */
    runs_fini(&runs);
    options.n_seeds = 4;
    assert_int_equal(runs_n_seeds(&options, &once), 4);
    assert_int_equal(runs_n_seeds(&options, &thrice), 4);
}

/* Runs two.yaml with two seeds; the caller ends it. */
static struct runs run_two(const struct run_options *options)
{
    const struct experiment e = {.scenario = "two.yaml", .n_seeds = 2};
    struct runs runs = {.options = options};
    runs_add(&runs, &paper, &e);
    assert_true(runs_go(&runs));
    return runs;
}

static void figures_and_cache(void **state)
{
    (void)state;
    struct run_options options = {.n_workers = 3, .cache_folder = cache, .binary = 5};
    struct runs first = run_two(&options);
    bool is_bad_input;
    assert_null(runs_error(&first.sets[0], 2, &is_bad_input));
    assert_int_equal(first.n_cached, 0);
    /* More load sends more; another seed sends something else; entries have their names. */
    assert_true(metric(&first.sets[0], 0, "sent") > metric(&first.sets[0], 1, "sent"));
    assert_true(metric(&first.sets[0], 0, "sent") != metric(&first.sets[0], 2, "sent"));
    assert_true(metric(&first.sets[0], 0, "sent.p") == metric(&first.sets[0], 0, "sent"));

    /* All that reached h0 by the end of the curve left the switch by that port. */
    assert_true(metric(&first.sets[0], 0, "curve.out.mean") > 0);
    assert_true(metric(&first.sets[0], 0, "curve.out.mean") * 200e-6 / 8 >=
                0.5 * metric(&first.sets[0], 0, "delivered"));
    assert_true(metric(&first.sets[0], 0, "curve.none.max") == 0);
    options.n_workers = 1;
    struct runs second = run_two(&options);
    assert_int_equal(second.n_cached, 4);
    options.is_fresh = true;
    struct runs third = run_two(&options);
    assert_int_equal(third.n_cached, 0);
    for (uint32_t i = 0; i < 4; i++) {
        const struct summary *a = first.sets[0].summaries[i], *b = second.sets[0].summaries[i],
                             *c = third.sets[0].summaries[i];
        assert_true(a->n_metrics == b->n_metrics && a->n_metrics == c->n_metrics);
        for (uint32_t k = 0; k < a->n_metrics; k++)
            assert_true(a->metrics[k].value == b->metrics[k].value &&
                        a->metrics[k].value == c->metrics[k].value);
        assert_true(a->n_curves == 2 && b->n_curves == 2 && a->curves[0].n == 20);
        assert_true(b->curves[1].n == 5 && b->curves[1].first_at == 60 * XOFF_US);
        assert_memory_equal(a->curves[0].values, b->curves[0].values, 20 * sizeof(double));
        assert_memory_equal(a->curves[0].values, c->curves[0].values, 20 * sizeof(double));
    }
    options.is_fresh = false;
    options.binary = 6; /* another program */
    struct runs fourth = run_two(&options);
    assert_int_equal(fourth.n_cached, 0);
    runs_fini(&first), runs_fini(&second), runs_fini(&third), runs_fini(&fourth);
}

static void bad_input(void **state)
{
    (void)state;
    struct plan_setting quick[] = {{"colour", "red"}};
    const struct experiment wrong = {.scenario = "wrong.yaml", .n_seeds = 1},
                            missing = {.scenario = "none.yaml", .n_seeds = 1, .place = {3, 4}},
                            unbuildable = {.scenario = "unbuildable.yaml", .n_seeds = 1},
                            bad_quick = {.scenario = "two.yaml",
                                         .n_seeds = 1,
                                         .quick = quick,
                                         .n_quick = 1,
                                         .quick_place = {5, 6}};
    const struct run_options options = {.n_workers = 2, .is_quick = true};
    struct runs runs = {.options = &options};
    bool is_bad_input;
    runs_add(&runs, &paper, &wrong);
    runs_add(&runs, &paper, &missing);
    runs_add(&runs, &paper, &unbuildable);
    runs_add(&runs, &paper, &bad_quick);
    assert_true(runs_go(&runs));
    const struct xoff_err *err = runs_error(&runs.sets[0], 1, &is_bad_input);
    assert_true(is_bad_input && err->line == 6 && err->column == 1);
    assert_non_null(strstr(err->file, "wrong.yaml"));
    err = runs_error(&runs.sets[1], 1, &is_bad_input);
    assert_true(is_bad_input && err->line == 3 && err->column == 4);
    assert_string_equal(err->file, file);
    assert_non_null(strstr(err->message, "none.yaml"));
    err = runs_error(&runs.sets[2], 1, &is_bad_input); /* which only a worker finds */
    assert_true(is_bad_input && err->line == 6);
    assert_non_null(strstr(err->file, "unbuildable.yaml"));
    assert_non_null(strstr(err->value, "h9"));
    err = runs_error(&runs.sets[3], 1, &is_bad_input);
    assert_true(is_bad_input && err->line == 5 && err->column == 6);
    assert_string_equal(err->subject, "quick.colour");
    runs_fini(&runs);
}

/* A worker that may not write dies of it; the others' work is not harmed, nor is the parent. */
static void crash(void **state)
{
    (void)state;
    struct rlimit old, none;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    none = old;
    none.rlim_cur = 0;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &none), 0);
    const struct run_options options = {.n_workers = 2};
    struct runs runs = run_two(&options);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
    bool is_bad_input;
    const struct xoff_err *err = runs_error(&runs.sets[0], 2, &is_bad_input);
    assert_false(is_bad_input);
    assert_non_null(strstr(err->message, "the run with seed 7 of variant a crashed"));
    runs_fini(&runs);
}

static bool stop_at_once(void *context, uint32_t n_done, uint32_t n_runs)
{
    uint32_t *n_calls = context;
    (void)n_done;
    assert_int_equal(n_runs, 4);
    return ++*n_calls < 2; /* with workers under way */
}

static void stopping(void **state)
{
    (void)state;
    uint32_t n_calls = 0;
    const struct experiment e = {.scenario = "two.yaml", .n_seeds = 2};
    const struct run_options options = {
        .n_workers = 2, .progress = stop_at_once, .progress_context = &n_calls};
    struct runs runs = {.options = &options};
    runs_add(&runs, &paper, &e);
    assert_false(runs_go(&runs));
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* no worker is left */
    assert_int_equal(errno, ECHILD);
    runs_fini(&runs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sharing), cmocka_unit_test(figures_and_cache), cmocka_unit_test(bad_input),
        cmocka_unit_test(crash),   cmocka_unit_test(stopping),
    };
    return cmocka_run_group_tests_name("runs", tests, make_dir, remove_dir);
}
