/* The cache: what is kept comes back exactly, what is damaged does not, and what changes a run
 * changes its key. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/digest.h"
#include "many/cache.h"

static struct metric metrics[] = {{"fct.p99", "s", 1.0 / 3.0, "m"},
                                  {"drops.link-down", "frames", 0, "m"},
                                  {"jain", "ratio", -0x1.fffffffffffffp+1023, "m"},
                                  {"flows", "", 12, "m"}};
static double values[] = {0, 1.0 / 3.0, -0x1.fffffffffffffp+1023, 0x1p-1074, 1e9};
static struct curve curves[] = {{"F0", "bps", 2000, 1000, 5, values},
                                {"F-1", "", 0x7fffffffffff, 1, 0, values}};
static uint64_t counts[] = {0, 7, UINT64_MAX};
static struct distribution distributions[] = {{"headroom.maxima", 1e-3, 3, counts}};
static struct result_finding findings[] = {{"the network is in deadlock"},
                                           {"expected drops == 0, but\tdrops is 3"}};
static const struct summary summary = {.metrics = metrics,
                                       .n_metrics = 4,
                                       .curves = curves,
                                       .n_curves = 2,
                                       .distributions = distributions,
                                       .n_distributions = 1,
                                       .digest = 0xfedcba9876543210,
                                       .findings = findings,
                                       .n_findings = 2};
static const char key[] = "0123456789abcdef";
static char dir[64];

static int make_dir(void **state)
{
    (void)state;
    snprintf(dir, sizeof dir, "/tmp/cache-test-XXXXXX");
    return mkdtemp(dir) ? 0 : -1;
}

static int remove_dir(void **state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -r '%s'", dir);
    return system(command);
}

static void write_text(const char *name, const char *text, size_t size)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

static void hits(void **state)
{
    (void)state;
    char folder[128];
    snprintf(folder, sizeof folder, "%s/a/b", dir);
    assert_null(cache_load(folder, key));
    assert_int_equal(cache_store(folder, key, &summary), 0);
    struct summary *found = cache_load(folder, key);
    assert_non_null(found);
    assert_int_equal(found->n_metrics, 4);
    for (uint32_t i = 0; i < 4; i++) {
        assert_string_equal(found->metrics[i].name, metrics[i].name);
        assert_string_equal(found->metrics[i].unit, metrics[i].unit);
        assert_memory_equal(&found->metrics[i].value, &metrics[i].value, sizeof(double));
    }
    assert_int_equal(found->n_curves, 2);
    for (uint32_t i = 0; i < 2; i++) {
        const struct curve *c = &found->curves[i];
        assert_string_equal(c->name, curves[i].name);
        assert_string_equal(c->unit, curves[i].unit);
        assert_true(c->first_at == curves[i].first_at && c->every == curves[i].every);
        assert_int_equal(c->n, curves[i].n);
        assert_memory_equal(c->values, values, c->n * sizeof *values);
    }
    assert_int_equal(found->n_distributions, 1);
    assert_string_equal(found->distributions[0].name, "headroom.maxima");
    assert_true(found->distributions[0].step == 1e-3);
    assert_int_equal(found->distributions[0].n, 3);
    assert_memory_equal(found->distributions[0].counts, counts, sizeof counts);
    assert_true(found->digest == 0xfedcba9876543210);
    assert_int_equal(found->n_findings, 2);
    assert_string_equal(found->findings[0].text, findings[0].text);
    assert_string_equal(found->findings[1].text, findings[1].text);
    summary_destroy(found);
    assert_null(cache_load(folder, "0123456789abcdee"));

    write_text("file", "", 0);
    snprintf(folder, sizeof folder, "%s/file/b", dir);
    assert_int_equal(cache_store(folder, key, &summary), ENOTDIR);
}

static void damage(void **state)
{
    (void)state;
    size_t size;
    char *text = cache_encode(&summary, key, &size);
    assert_non_null(text);
    struct summary *whole = cache_decode(text, size, key);
    assert_non_null(whole);
    summary_destroy(whole);
    for (size_t n = 0; n < size; n++) /* cut off anywhere */
        assert_null(cache_decode(text, n, key));
    for (size_t i = 0; i < size; i++) { /* any byte changed */
        text[i] ^= 1;
        assert_null(cache_decode(text, size, key));
        text[i] ^= 1;
    }
    assert_null(cache_decode(text, size, "0123456789abcdee"));
    text[size / 2] ^= 4;
    write_text(key, text, size);
    assert_null(cache_load(dir, key));
    free(text);
}

/* Lines that nobody wrote, under a digest that is right. */
static void wrong_lines(void **state)
{
    (void)state;
    static const char *const lines[] = {
        "curve\tF0\tB\t1\t1\t2 0x1p+0",
        "curve\tF0\tB\t1\t1\t1 0x1p+0 0x1p+0",
        "curve\tF0\tB\t1\t1\t1 x",
        "curve\tF0\tB\t1\t1\t1 ",
        "curve\tF0\tB\t1\t1",
        "curve\tF0\tB\t1\t1\t4000000000 0x1p+0",
        "curve\tF0\tB\t1\t1\t",
        "0x1p+0\tB",
        "curve\tF0\tB\t1\t1\t2 0x1p+0 ",
        "curve\t01234567890123456789012345678901\tB\t1\t1\t1 0x1p+0",
        "counts\td\t0x1p+0\t2 1",
        "counts\td\t0x1p+0\t1 1 1",
        "counts\td\t0x1p+0\t1 x",
        "counts\td\t0x1p+0\t1 ",
        "counts\td\t0x1p+0",
        "counts\td\t0x1p+0\t4000000000 1",
        "digest 12x",
        "digest ",
        "counts\t01234567890123456789012345678901\t0x1p+0\t1 1"};
    const struct summary none = {0};
    size_t size;
    char *whole = cache_encode(&none, key, &size), text[512], hex[17];
    const size_t head = (size_t)(strchr(whole, '\n') - whole) + 1;
    /* The last two are good: the way of making them is. */
    static const char *const good[] = {"curve\tF0\tB\t1\t1\t1 0x1p+0", "counts\td\t0x1p+0\t1 1"};
    const size_t n_lines = sizeof lines / sizeof *lines;
    for (size_t i = 0; i < n_lines + 2; i++) {
        struct digest d;
        const char *line = i < n_lines ? lines[i] : good[i - n_lines];
        const int n = snprintf(text, sizeof text, "%.*s%s\n", (int)head, whole, line);
        digest_init(&d);
        digest_bytes(&d, text, (size_t)n);
        digest_hex(&d, hex);
        snprintf(text + n, sizeof text - (size_t)n, "end %s\n", hex);
        struct summary *found = cache_decode(text, strlen(text), key);
        if (!found != (i < n_lines))
            fail_msg("%s", line);
        summary_destroy(found);
    }
    free(whole);
}

/* The keys of two subjects. */
static bool is_same(const struct cache_subject *a, const struct cache_subject *b)
{
    char one[CACHE_KEY], two[CACHE_KEY];
    cache_key(a, one);
    cache_key(b, two);
    assert_int_equal(strlen(one), 16);
    return !strcmp(one, two);
}

static void keys(void **state)
{
    (void)state;
    static const struct plan_setting none_settings[] = {{"switch.pause", "none"}},
                                     pfc_settings[] = {{"switch.pause", "pfc"}},
                                     split_settings[] = {{"switch.pausen", "one"}};
    const struct cache_subject a = {.binary = 1,
                                    .file = "s.yaml",
                                    .text = "stop: 1ms\n",
                                    .size = 10,
                                    .settings = none_settings,
                                    .n_settings = 1,
                                    .seed = 1,
                                    .variant = "on",
                                    .by = "run"};
    struct cache_subject b = a;
    assert_true(is_same(&a, &b));
    b.file = "elsewhere/t.yaml"; /* where it is does not matter */
    assert_true(is_same(&a, &b));
    b = a, b.binary = 2;
    assert_false(is_same(&a, &b));
    b = a, b.text = "stop: 2ms\n";
    assert_false(is_same(&a, &b));
    b = a, b.seed = 2;
    assert_false(is_same(&a, &b));
    b = a, b.by = "reproduce";
    assert_false(is_same(&a, &b));
    b = a, b.variant = "off";
    assert_false(is_same(&a, &b));
    b = a, b.settings = pfc_settings;
    assert_false(is_same(&a, &b));
    b = a, b.settings = split_settings;
    assert_false(is_same(&a, &b));
    b = a, b.n_settings = 0;
    assert_false(is_same(&a, &b));
}

static void named_files(void **state)
{
    (void)state;
    static const char text[] = "traffic: [{kind: flows, file: f.txt}]\n";
    static const struct plan_setting setting = {"traffic.0.file", "g.txt"};
    char file[128], before[CACHE_KEY], after[CACHE_KEY];
    snprintf(file, sizeof file, "%s/s.yaml", dir);
    struct cache_subject s = {.file = file,
                              .text = text,
                              .size = sizeof text - 1,
                              .settings = &setting,
                              .variant = "",
                              .by = ""};
    for (s.n_settings = 0; s.n_settings < 2; s.n_settings++) {
        const char *name = s.n_settings ? "g.txt" : "f.txt";
        cache_key(&s, before);
        write_text(name, "1", 1);
        cache_key(&s, after);
        assert_string_not_equal(before, after);
        write_text(name, "2", 1);
        cache_key(&s, before);
        assert_string_not_equal(before, after);
        cache_key(&s, after);
        assert_string_equal(before, after);
    }
    write_text("h.txt", "1", 1); /* one that is not named */
    s.n_settings = 1;
    cache_key(&s, after);
    assert_string_equal(before, after);
}

static void binary(void **state)
{
    (void)state;
    char path[128];
    snprintf(path, sizeof path, "%s/prog", dir);
    assert_int_equal(cache_binary(path), 0);
    write_text("prog", "abc", 3);
    const uint64_t one = cache_binary(path);
    assert_int_not_equal(one, 0);
    assert_int_equal(cache_binary(path), one);
    write_text("prog", "abd", 3);
    assert_int_not_equal(cache_binary(path), one);
}

static void default_folder(void **state)
{
    (void)state;
    char buf[128];
    setenv("HOME", "/h", 1);
    setenv("XDG_CACHE_HOME", "/c", 1);
    assert_true(cache_default_folder(buf, sizeof buf));
    assert_string_equal(buf, "/c/xoff");
    setenv("XDG_CACHE_HOME", "relative", 1);
    assert_true(cache_default_folder(buf, sizeof buf));
    assert_string_equal(buf, "/h/.cache/xoff");
    unsetenv("XDG_CACHE_HOME");
    unsetenv("HOME");
    assert_false(cache_default_folder(buf, sizeof buf));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hits),           cmocka_unit_test(damage),
        cmocka_unit_test(wrong_lines),    cmocka_unit_test(keys),
        cmocka_unit_test(named_files),    cmocka_unit_test(binary),
        cmocka_unit_test(default_folder),
    };
    return cmocka_run_group_tests_name("cache", tests, make_dir, remove_dir);
}
