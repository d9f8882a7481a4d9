/* Parameter tables: every type, every refusal with its whole sentence, and the way back to text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <xoff/param.h>
#include <xoff/rng.h>

_Noreturn void xoff_assert_fail(const char *expression, const char *file, int line)
{
    mock_assert(0, expression, file, line);
    abort();
}

struct params {
    int64_t on, n, delay, rate, limit, kind, quanta;
    double gain, load;
    char label[XOFF_PARAM_TEXT];
    int64_t guard; /* behind everything a table may write */
};

static const char *const kinds[] = {"fifo", "strict", "ets", NULL};

#define FIELD(f) .offset = offsetof(struct params, f)
static const struct xoff_param table[] = {
    {.name = "on", .type = XOFF_P_BOOL, FIELD(on), .preset = "yes"},
    {.name = "n", .type = XOFF_P_INT, FIELD(n), .preset = "4", .min = "1", .max = "1k"},
    {.name = "delay",
     .type = XOFF_P_TIME,
     FIELD(delay),
     .preset = "auto",
     .min = "0s",
     .max = "1s",
     .allows_auto = true},
    {.name = "rate", .type = XOFF_P_RATE, FIELD(rate), .preset = "40Gbps", .min = "1kbps"},
    {.name = "limit", .type = XOFF_P_BYTES, FIELD(limit), .max = "1MB"},
    {.name = "kind", .type = XOFF_P_CHOICE, FIELD(kind), .preset = "strict", .choices = kinds},
    {.name = "quanta", .type = XOFF_P_INT, FIELD(quanta), .min = "100", .max = "65535"},
    {.name = "gain",
     .type = XOFF_P_REAL,
     FIELD(gain),
     .preset = "1/256",
     .min = "0",
     .max = "1",
     .allows_auto = true},
    {.name = "load", .type = XOFF_P_REAL, FIELD(load)},
    {.name = "label", .type = XOFF_P_TEXT, FIELD(label), .preset = "plain"},
    {0},
};

static const struct xoff_param *entry(const char *name)
{
    const struct xoff_param *p = xoff_param_find(table, name);
    assert_non_null(p);
    return p;
}

static void found_by_whole_name(void **state)
{
    (void)state;
    assert_ptr_equal(xoff_param_find(table, "on"), &table[0]);
    assert_ptr_equal(xoff_param_find(table, "label"), &table[9]);
    assert_null(xoff_param_find(table, "labe"));
    assert_null(xoff_param_find(table, "labels"));
    assert_null(xoff_param_find(table, ""));
    assert_null(xoff_param_find(NULL, "on"));
}

static void defaults_fill_every_field(void **state)
{
    (void)state;
    struct params params;
    memset(&params, 0xa5, sizeof params);
    const int64_t guard = params.guard;
    xoff_param_defaults(table, &params);
    assert_int_equal(params.on, 1);
    assert_int_equal(params.n, 4);
    assert_int_equal(params.delay, XOFF_PARAM_AUTO);
    assert_int_equal(params.rate, 40000000000);
    assert_int_equal(params.limit, 0);
    assert_int_equal(params.kind, 1);
    assert_int_equal(params.quanta, 0);
    assert_true(params.gain == 1.0 / 256);
    assert_true(params.load == 0);
    assert_string_equal(params.label, "plain");
    assert_int_equal(params.label[XOFF_PARAM_TEXT - 1], 0);
    assert_true(params.guard == guard);
    xoff_param_defaults(NULL, &params);
}

static void wrong_tables_are_caught(void **state)
{
    (void)state;
    int64_t value;
    struct xoff_param p[] = {
        {.name = "x", .type = XOFF_P_INT, .preset = "5", .min = "6"},
        {0},
    };
    expect_assert_failure(xoff_param_defaults(p, &value));
    p[0].min = "6us";
    expect_assert_failure(xoff_param_defaults(p, &value));
    p[0].min = NULL;
    p[0].max = "x";
    expect_assert_failure(xoff_param_defaults(p, &value));
    p[0].max = NULL;
    p[0].preset = "auto";
    expect_assert_failure(xoff_param_defaults(p, &value));
    p[0].preset = "5";
    xoff_param_defaults(p, &value);
    assert_int_equal(value, 5);
}

static void values_are_parsed(void **state)
{
    (void)state;
    struct params params = {0};
    const struct {
        const char *text;
        int64_t value;
    } words[] = {{"false", 0}, {"true", 1}, {"no", 0}, {"yes", 1}, {"off", 0}, {"on", 1}};
    for (size_t i = 0; i < 6; i++) {
        assert_int_equal(xoff_param_set(entry("on"), &params, words[i].text, NULL), 0);
        assert_int_equal(params.on, words[i].value);
    }
    assert_int_equal(xoff_param_set(entry("n"), &params, "1k", NULL), 0);
    assert_int_equal(params.n, 1000);
    assert_int_equal(xoff_param_set(entry("delay"), &params, "1.5us", NULL), 0);
    assert_int_equal(params.delay, 1500000);
    assert_int_equal(xoff_param_set(entry("delay"), &params, "auto", NULL), 0);
    assert_int_equal(params.delay, XOFF_PARAM_AUTO);
    assert_int_equal(xoff_param_set(entry("rate"), &params, "25 Gbps", NULL), 0);
    assert_int_equal(params.rate, 25000000000);
    assert_int_equal(xoff_param_set(entry("limit"), &params, "0", NULL), 0);
    assert_int_equal(params.limit, 0);
    assert_int_equal(xoff_param_set(entry("kind"), &params, "ets", NULL), 0);
    assert_int_equal(params.kind, 2);
    assert_int_equal(xoff_param_set(entry("gain"), &params, "50 %", NULL), 0);
    assert_true(params.gain == 0.5);
    assert_int_equal(xoff_param_set(entry("gain"), &params, "auto", NULL), 0);
    assert_true(params.gain == -1.0);
    assert_int_equal(xoff_param_set(entry("label"), &params, "auto", NULL), 0);
    assert_string_equal(params.label, "auto");
    assert_int_equal(xoff_param_set(entry("label"), &params, "", NULL), 0);
    assert_string_equal(params.label, "");
}

static void ranges_include_their_ends(void **state)
{
    (void)state;
    const struct {
        const char *name, *good, *bad;
    } rows[] = {
        {"n", "1", "0"},
        {"n", "1000", "1001"},
        {"delay", "1s", "1000000000001ps"},
        {"rate", "1kbps", "999bps"},
        {"limit", "1MB", "1000001B"},
        {"quanta", "100", "99"},
        {"gain", "1", "1.0000000000000003"},
        {"gain", "0", "-0.1"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct params params;
        struct xoff_err err = {0};
        xoff_param_defaults(table, &params);
        assert_int_equal(xoff_param_set(entry(rows[i].name), &params, rows[i].good, &err), 0);
        const struct params before = params;
        assert_int_equal(xoff_param_set(entry(rows[i].name), &params, rows[i].bad, &err),
                         -XOFF_E_RANGE);
        assert_int_equal(err.code, XOFF_E_RANGE);
        assert_memory_equal(&params, &before, sizeof params);
    }
}

static void refusals_say_what_is_accepted(void **state)
{
    (void)state;
    const struct {
        const char *name, *text;
        enum xoff_err_code code;
        const char *message;
    } rows[] = {
        {"delay", "5", XOFF_E_UNIT,
         "wrong or missing unit; give a time such as 2us, from 0s to 1s, or auto; units: ps ns us "
         "ms s"},
        {"delay", "soon", XOFF_E_TYPE,
         "not a number; give a time such as 2us, from 0s to 1s, or auto"},
        {"delay", "", XOFF_E_TYPE, "empty; give a time such as 2us, from 0s to 1s, or auto"},
        {"delay", "-1us", XOFF_E_RANGE,
         "negative; give a time such as 2us, from 0s to 1s, or auto"},
        {"delay", "0.1ps", XOFF_E_RANGE,
         "not a whole number of ps, or too large; give a time such as 2us, from 0s to 1s, or auto"},
        {"delay", "2s", XOFF_E_RANGE, "too large; give a time such as 2us, from 0s to 1s, or auto"},
        {"rate", "10GB", XOFF_E_UNIT,
         "wrong or missing unit; give a rate such as 40Gbps, at least 1kbps; units: bps kbps Mbps "
         "Gbps Tbps"},
        {"rate", "auto", XOFF_E_TYPE, "not a number; give a rate such as 40Gbps, at least 1kbps"},
        {"limit", "1M", XOFF_E_UNIT,
         "wrong or missing unit; give a size such as 1MB, at most 1MB; units: B KB MB GB (1000), "
         "KiB MiB GiB (1024)"},
        {"quanta", "99", XOFF_E_RANGE,
         "too small; give a whole number such as 100, from 100 to 65535"},
        {"quanta", "2.5", XOFF_E_RANGE,
         "not a whole number, or too large; give a whole number such as 100, from 100 to 65535"},
        {"gain", "2", XOFF_E_RANGE, "too large; give a number such as 1/256, from 0 to 1, or auto"},
        {"load", "1/0", XOFF_E_RANGE,
         "too large, or too small to tell from 0; give a number such as 0.5"},
        {"load", "3us", XOFF_E_UNIT,
         "wrong or missing unit; give a number such as 0.5; units: none, or %"},
        {"kind", "wfq", XOFF_E_RANGE, "not known; give one of fifo, strict, ets"},
        {"kind", "", XOFF_E_RANGE, "not known; give one of fifo, strict, ets"},
        {"on", "1", XOFF_E_TYPE, "not known; give true or false (or yes, no, on, off)"},
        {"on", "True", XOFF_E_TYPE, "not known; give true or false (or yes, no, on, off)"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct params params = {0};
        struct xoff_err err = {0};
        assert_int_equal(xoff_param_set(entry(rows[i].name), &params, rows[i].text, &err),
                         -(int)rows[i].code);
        assert_int_equal(err.code, rows[i].code);
        assert_string_equal(err.subject, rows[i].name);
        assert_string_equal(err.value, rows[i].text);
        assert_string_equal(err.message, rows[i].message);
        assert_int_equal(xoff_param_set(entry(rows[i].name), &params, rows[i].text, NULL),
                         -(int)rows[i].code);
    }
    struct xoff_err err = {0};
    struct params params = {0};
    assert_int_equal(xoff_param_set(entry("limit"), &params, NULL, &err), -XOFF_E_MISSING);
    assert_string_equal(err.message, "has no value; give a size such as 1MB, at most 1MB");
}

static void text_fits_its_field(void **state)
{
    (void)state;
    struct params params = {.guard = 42};
    struct xoff_err err = {0};
    char text[XOFF_PARAM_TEXT + 1];
    memset(text, 'a', sizeof text);
    text[XOFF_PARAM_TEXT - 1] = '\0';
    assert_int_equal(xoff_param_set(entry("label"), &params, text, &err), 0);
    assert_string_equal(params.label, text);
    text[XOFF_PARAM_TEXT - 1] = 'a';
    text[XOFF_PARAM_TEXT] = '\0';
    assert_int_equal(xoff_param_set(entry("label"), &params, text, &err), -XOFF_E_RANGE);
    assert_string_equal(err.message, "too long; give text of at most 255 bytes");
    assert_int_equal(strlen(params.label), XOFF_PARAM_TEXT - 1);
    assert_int_equal(params.guard, 42);

    /* A shorter text leaves nothing of the longer one: params are compared and hashed as bytes. */
    const struct params fresh = {.label = "b", .guard = 42};
    assert_int_equal(xoff_param_set(entry("label"), &params, "b", NULL), 0);
    assert_memory_equal(&params, &fresh, sizeof params);
}

static void accepts_in_one_line(void **state)
{
    (void)state;
    char buf[128];
    assert_string_equal(xoff_param_accepts(entry("delay"), buf, sizeof buf),
                        "a time such as 2us, from 0s to 1s, or auto");
    assert_string_equal(xoff_param_accepts(entry("kind"), buf, sizeof buf),
                        "one of fifo, strict, ets");
    assert_string_equal(xoff_param_accepts(entry("label"), buf, sizeof buf),
                        "text of at most 255 bytes");
    assert_string_equal(xoff_param_accepts(entry("delay"), buf, 7), "a time");
}

static void formatted_values_are_accepted(void **state)
{
    (void)state;
    const struct {
        const char *name, *given, *shown;
    } rows[] = {
        {"on", "off", "false"},
        {"on", "yes", "true"},
        {"n", "1k", "1000"},
        {"delay", "1500ns", "1.5us"},
        {"delay", "auto", "auto"},
        {"rate", "0.1Tbps", "100Gbps"},
        {"limit", "1024B", "1KiB"},
        {"kind", "fifo", "fifo"},
        {"gain", "25 %", "0.25"},
        {"gain", "auto", "auto"},
        {"gain", "1/256", "0.00390625"},
        {"label", "a b", "a b"},
        {"load", "1/3", "0.3333333333333333"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct params params = {0}, again = {0};
        char buf[XOFF_PARAM_TEXT];
        const struct xoff_param *p = entry(rows[i].name);
        assert_int_equal(xoff_param_set(p, &params, rows[i].given, NULL), 0);
        assert_ptr_equal(xoff_param_format(p, &params, buf, sizeof buf), buf);
        assert_string_equal(buf, rows[i].shown);
        assert_int_equal(xoff_param_set(p, &again, buf, NULL), 0);
        assert_memory_equal(&params, &again, sizeof params);
    }
    char buf[8];
    const struct params params = {.kind = 3};
    expect_assert_failure(xoff_param_format(entry("kind"), &params, buf, sizeof buf));
}

/* Random text into every entry: either a value that formats and parses back, or a full error. */
static void random_text_never_crashes(void **state)
{
    (void)state;
    static const char likely[] = "0123456789..- e/%uskMGBibpautonfy";
    struct xoff_rng rng;
    xoff_rng_init(&rng, 21, 0, 0);
    int n_accepted = 0;
    for (int i = 0; i < 20000; i++) {
        char text[12] = "";
        const size_t length = xoff_rng_below(&rng, sizeof text);
        for (size_t k = 0; k < length; k++)
            text[k] = likely[xoff_rng_below(&rng, sizeof likely - 1)];
        for (const struct xoff_param *p = table; p->name; p++) {
            struct params params = {0}, again = {0};
            struct xoff_err err = {0};
            if (xoff_param_set(p, &params, text, &err) == 0) {
                char buf[XOFF_PARAM_TEXT];
                xoff_param_format(p, &params, buf, sizeof buf);
                assert_int_equal(xoff_param_set(p, &again, buf, NULL), 0);
                assert_memory_equal(&params, &again, sizeof params);
                n_accepted += p->type != XOFF_P_TEXT;
            } else {
                assert_string_equal(err.subject, p->name);
                assert_string_equal(err.value, text);
                assert_non_null(strstr(err.message, "; give "));
            }
        }
    }
    assert_true(n_accepted > 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(found_by_whole_name),
        cmocka_unit_test(defaults_fill_every_field),
        cmocka_unit_test(wrong_tables_are_caught),
        cmocka_unit_test(values_are_parsed),
        cmocka_unit_test(ranges_include_their_ends),
        cmocka_unit_test(refusals_say_what_is_accepted),
        cmocka_unit_test(text_fits_its_field),
        cmocka_unit_test(accepts_in_one_line),
        cmocka_unit_test(formatted_values_are_accepted),
        cmocka_unit_test(random_text_never_crashes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
