/* The suites against the devices that come with them: the reference passes everything, and each
 * broken device fails exactly the tests that its fault is about. `conform_tests_test --update DIR`
 * writes the tables of docs/conform.md anew. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <xoff/conform.h>

#include "base/doc_testing.h"
#include "conform/watch.h"

/* The tables of docs/conform.md. */
static bool write_region(FILE *out, const char *mark)
{
    if (!strcmp(mark, "tests")) {
        fputs("| id | test | purpose |\n|---|---|---|\n", out);
        for (uint32_t i = 0; i < xoff_conform_count(); i++) {
            const struct xoff_conform_test *t = xoff_conform_test(i);
            fprintf(out, "| %s | %s | %s |\n", t->id, t->title, t->purpose);
        }
        return true;
    }
    if (!strcmp(mark, "captures")) {
        fputs("| id | check | passes if |\n|---|---|---|\n", out);
        for (uint32_t i = 0; i < WATCH_N_CHECKS; i++)
            fprintf(out, "| %s | %s | %s |\n", watch_tests[i].id, watch_tests[i].title,
                    watch_tests[i].purpose);
        return true;
    }
    if (strcmp(mark, "devices"))
        return false;
    fputs("| device | what it does | fails |\n|---|---|---|\n", out);
    for (const struct xoff_conform_model *m = xoff_conform_models; m->name; m++)
        fprintf(out, "| `%s` | %s | %s |\n", m->name, m->summary, m->fails);
    return true;
}

static struct doc page = {.root = ".", .name = "docs/conform.md", .write_region = write_region};

static void test_page(void **state)
{
    (void)state;
    char *text = doc_load(&page);
    assert_non_null(text);
    assert_int_equal(doc_differs_at(&page, text), 0);
    free(text);
}

/* Whether `id` is one of the words of `ids`. */
static bool is_named(const char *ids, const char *id)
{
    const size_t length = strlen(id);
    for (const char *word = ids; *word; word += strcspn(word, " "), word += strspn(word, " "))
        if (strcspn(word, " ") == length && !strncmp(word, id, length))
            return true;
    return false;
}

/* With sanitizers a device takes the tests it should fail and every sixth of the others, each
 * device another sixth. */
static bool is_quick(void)
{
    return getenv("XOFF_QUICK");
}

static void check_model(const struct xoff_conform_model *model, xoff_rate rate_bps)
{
    struct xoff_device *device = xoff_conform_model_create(model->name);
    bool is_right = true;
    assert_non_null(device);
    for (uint32_t i = 0; i < xoff_conform_count(); i++) {
        const struct xoff_conform_test *test = xoff_conform_test(i);
        struct xoff_conform_result result;
        if (is_quick() && !is_named(model->fails, test->id) &&
            (i + (uint32_t)(model - xoff_conform_models)) % 6)
            continue;
        xoff_conform_run(test, device, rate_bps, NULL, &result);
        const enum xoff_verdict wanted = is_named(model->fails, test->id) ? XOFF_FAIL : XOFF_PASS;
        if (result.verdict != wanted) {
            print_error("%s: %s: %s\n", model->name, test->id, result.observed);
            is_right = false;
        }
    }
    xoff_conform_destroy(device);
    assert_true(is_right);
}

/* Every id that a model names is that of a test. */
static void test_ids(void **state)
{
    (void)state;
    for (const struct xoff_conform_model *m = xoff_conform_models; m->name; m++) {
        uint32_t n_words = 0, n_found = 0;
        for (const char *word = m->fails; *word;
             word += strcspn(word, " "), word += strspn(word, " "))
            n_words++;
        for (uint32_t i = 0; i < xoff_conform_count(); i++)
            n_found += is_named(m->fails, xoff_conform_test(i)->id);
        assert_int_equal(n_words, n_found);
    }
    for (uint32_t i = 0; i < xoff_conform_count(); i++)
        for (uint32_t j = 0; j < i; j++)
            assert_string_not_equal(xoff_conform_test(i)->id, xoff_conform_test(j)->id);
}

static void test_every_model(void **state)
{
    (void)state;
    for (const struct xoff_conform_model *m = xoff_conform_models; m->name; m++)
        check_model(m, 10 * XOFF_GBPS);
}

/* Quanta and response times differ by rate; 3 Gb/s has no whole number of picoseconds per byte. */
static void test_other_rates(void **state)
{
    static const xoff_rate rates[] = {XOFF_GBPS, 3 * XOFF_GBPS, 25 * XOFF_GBPS};
    (void)state;
    for (uint32_t i = 0; i < sizeof rates / sizeof rates[0]; i++)
        check_model(&xoff_conform_models[0], rates[i]);
}

/* The list of faults is found by name; there is no device of another name. */
static void test_names(void **state)
{
    (void)state;
    assert_null(xoff_conform_model_create("broken"));
    assert_null(xoff_conform_model_create(""));
    xoff_conform_destroy(NULL);
}

/* A device that only forwards fails; one of few ports or with a coarse clock is spared. */
static int no_reset(void *device, const struct xoff_device_setup *setup, struct xoff_err *err)
{
    (void)device, (void)setup;
    return xoff_err_set(err, XOFF_E_UNKNOWN, "set-up", NULL, "is not for me");
}

static void test_skipped(void **state)
{
    const struct xoff_device_ops ops = {.reset = no_reset, .uncertainty = 1, .max_ports = 2};
    const struct xoff_device device = {.ops = &ops};
    struct xoff_conform_result result;
    uint32_t counts[3] = {0};
    (void)state;
    for (uint32_t i = 0; i < xoff_conform_count(); i++) {
        const struct xoff_conform_test *test = xoff_conform_test(i);
        xoff_conform_run(test, &device, XOFF_GBPS, NULL, &result);
        const bool is_left_out = test->n_ports > 2 || test->is_exact;
        assert_int_equal(result.verdict, is_left_out ? XOFF_SKIP : XOFF_FAIL);
        counts[result.verdict]++;
        if (!is_left_out)
            assert_string_equal(result.observed,
                                "the device refuses the set-up: set-up is not for me");
    }
    assert_true(counts[XOFF_FAIL] > 0 && counts[XOFF_SKIP] > 0);
}

int main(int argc, char **argv)
{
    const bool updates = argc > 1 && !strcmp(argv[1], "--update");
    if (argc > 1 + updates)
        page.root = argv[1 + updates];
    if (updates)
        return doc_update(&page);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_page),        cmocka_unit_test(test_ids),
        cmocka_unit_test(test_every_model), cmocka_unit_test(test_other_rates),
        cmocka_unit_test(test_names),       cmocka_unit_test(test_skipped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
