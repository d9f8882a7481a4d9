/* Expectations: what holds, what it says, and where it goes wrong. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "stats/results.h"

_Noreturn void xoff_assert_fail(const char *expression, const char *file, int line)
{
    mock_assert(0, expression, file, line);
    abort();
}

static struct metric sih_metrics[] = {
    {"fct.p99", "s", 81.2e-6, ""},        {"drops", "frames", 0, ""},
    {"drops.link-down", "frames", 3, ""}, {"throughput", "bps", 9.5e9, ""},
    {"queue.peak", "B", 16000, ""},       {"fct.poisson#0.p99", "s", 1e-6, ""},
    {"jain", "ratio", 0.98, ""},          {"operations", "", 120, ""},
    {"operations.rate", "/s", 2400, ""},  {"operations.io.p99", "s", 55e-6, ""},
};
static struct metric dsh_metrics[] = {
    {"fct.p99", "s", 40.6e-6, ""},
    {"drops", "frames", 2, ""},
    {"queue.peak", "B", 16000, ""},
};
static const struct results sih = {.variant = "SIH"}, dsh = {.variant = "DSH-2"};
static const struct summary sih_summary = {.metrics = sih_metrics, .n_metrics = 10},
                            dsh_summary = {.metrics = dsh_metrics, .n_metrics = 3};
static const struct results *const runs[] = {&sih, &dsh};
static const struct summary *const summaries[] = {&sih_summary, &dsh_summary};

/* `n_runs` 1 or 2 of the above; "text -> detail" must hold or not. */
static void check(uint32_t n_runs, const char *text, bool expected, const char *expected_detail)
{
    bool holds = !expected;
    char detail[256];
    struct xoff_err err = {0};
    const int status =
        expect_evaluate(text, runs, summaries, n_runs, &holds, detail, sizeof detail, &err);
    if (status)
        fail_msg("\"%s\": %d, %s (column %d)", text, status, err.message, err.column);
    if (holds != expected)
        fail_msg("\"%s\": holds is %d", text, holds);
    if (expected_detail)
        assert_string_equal(detail, expected_detail);
}

static void check_error(uint32_t n_runs, const char *text, enum xoff_err_code code, int column,
                        const char *part)
{
    bool holds = true;
    char detail[64];
    struct xoff_err err = {0};
    const int status =
        expect_evaluate(text, runs, summaries, n_runs, &holds, detail, sizeof detail, &err);
    if (status != -(int)code || err.code != code || err.column != column ||
        !strstr(err.message, part))
        fail_msg("\"%s\": %d, column %d, %s; expected %d, column %d, ...%s...", text, status,
                 err.column, err.message, -(int)code, column, part);
    assert_false(holds);
}

static void comparisons(void **state)
{
    (void)state;
    static const struct {
        const char *sign;
        bool less, equal, greater;
    } rows[] = {{"==", 0, 1, 0}, {"!=", 1, 0, 1}, {"<=", 1, 1, 0},
                {">=", 0, 1, 1}, {"<", 1, 0, 0},  {">", 0, 0, 1}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const bool expected[] = {rows[i].less, rows[i].equal, rows[i].greater};
        for (int right = 4; right >= 2; right--) { /* drops.link-down is 3 */
            char text[64];
            snprintf(text, sizeof text, "drops.link-down%s%d", rows[i].sign, right);
            check(1, text, expected[4 - right], NULL);
        }
    }
}

static void details(void **state)
{
    (void)state;
    check(1, "fct.p99 <= 100us", true, "fct.p99 = 81.2us <= 100us");
    check(1, " fct.p99  <=80us ", false, "fct.p99 = 81.2us, not <= 80us");
    check(1, "drops == 0", true, "drops = 0 == 0");
    check(1, "throughput >= 9Gbps", true, "throughput = 9.5Gbps >= 9Gbps");
    check(1, "queue.peak < 1MB", true, "queue.peak = 16KB < 1MB");
    check(1, "queue.peak - 16KB > 2KB", false, "queue.peak - 16KB = 0B, not > 2KB");
    check(1, "operations == 120", true, "operations = 120 == 120");
    check(1, "operations.rate > 2.4k", false, "operations.rate = 2400, not > 2.4k");
    check(1, "operations.io.p99 <= 60us", true, "operations.io.p99 = 55us <= 60us");
    check(1, "1 < 2", true, "1 < 2");
    check(1, "10us < fct.p99 / 2", true, "10us < fct.p99 / 2 = 40.6us");
    /* Equal at six digits but not equal: shown with as many as it takes. */
    check(1, "jain == 0.9800000001 * jain / jain", false,
          "jain = 0.98, not == 0.9800000001 * jain / jain = 0.9800000001");
}

static void arithmetic(void **state)
{
    (void)state;
    check(1, "2 + 3 * 4 == 14", true, NULL);
    check(1, "(2 + 3) * 4 == 20", true, NULL);
    check(1, "10 - 4 - 3 == 3", true, NULL);
    check(1, "24 / 4 / 2 == 3", true, NULL);
    check(1, "2 - -3 == 5", true, NULL);
    check(1, "-(2 + 1) == -3", true, NULL);
    check(1, "-2 * -3 == 6", true, NULL);
    check(1, "1e3 == 1000", true, NULL);
    check(1, "2.5e-1==0.25", true, NULL);
    check(1, "10k == 10000", true, NULL);
    check(1, "25% == 0.25", true, NULL);
    check(1, "25 % == 0.25", true, NULL);
    check(1, "1us == 1000ns", true, NULL);
    check(1, "1us == 1e-6", true, NULL);
    check(1, "1KiB == 1024B", true, NULL);
    check(1, "2 * queue.peak - 16KB == queue.peak", true, NULL);
    check(1, "fct.p99 / 100us <= 90%", true, NULL);
    check(1, "throughput * 8us > 9500", true, NULL); /* bits: of no kind we follow */
}

static void near_equality(void **state)
{
    (void)state;
    /* 102 and 98 are the last that lie within 2 % of 100; the percentage is of the right side. */
    check(1, "102 == 100 within 2%", true, "102 == 100 within 2%");
    check(1, "98 == 100 within 2 %", true, NULL);
    check(1, "102.001 == 100 within 2%", false, "102.001, not == 100 within 2%");
    check(1, "97.999 == 100 within 2%", false, NULL);
    check(1, "-102 == -100 within 2%", true, NULL);
    check(1, "fct.p99 == 80us within 2us", true, "fct.p99 = 81.2us == 80us within 2us");
    check(1, "fct.p99 == 80us within 1us", false, NULL);
    check(1, "drops.link-down == 5 within 2", true, NULL);
    check_error(1, "1 <= 1 within 2%", XOFF_E_SYNTAX, 8, "== only");
    check_error(1, "1 == 1 within", XOFF_E_SYNTAX, 14, "a tolerance");
    check_error(1, "1 == 1 within jain", XOFF_E_SYNTAX, 15, "a tolerance");
    check_error(1, "fct.p99 == 80us within 2KB", XOFF_E_UNIT, 24, "a time and a size");
    check_error(1, "within == 1", XOFF_E_SYNTAX, 1, "'within'");
}

static void variants(void **state)
{
    (void)state;
    check(2, "DSH-2.fct.p99 <= SIH.fct.p99", true,
          "DSH-2.fct.p99 = 40.6us <= SIH.fct.p99 = 81.2us");
    check(2, "DSH-2.fct.p99 * 2 == SIH.fct.p99", true, NULL);
    check(2, "SIH.drops.link-down == 3", true, NULL);
    check(2, "SIH.fct.poisson#0.p99 == 1us", true, NULL);
    /* A bare name must hold in every run; what failed is named. */
    check(2, "queue.peak == 16KB", true,
          "SIH: queue.peak = 16KB == 16KB; DSH-2: queue.peak = 16KB == 16KB");
    check(2, "drops == 0", false, "DSH-2: drops = 2, not == 0");
    check(2, "drops <= SIH.drops", false, "DSH-2: drops = 2, not <= SIH.drops = 0");
    check(2, "fct.p99 <= SIH.fct.p99", true, NULL);
}

static void variant_names(void **state)
{
    (void)state;
    /* The longest variant wins; a metric wins over a variant named like its first part when the
     * rest is no metric; a variant may start with a digit. */
    struct metric one[] = {{"x", "", 1, ""}, {"drops.x", "", 10, ""}};
    struct metric two[] = {{"x", "", 2, ""}, {"drops.x", "", 20, ""}};
    struct metric three[] = {{"x.y", "", 3, ""}, {"drops.x", "", 20, ""}, {"x", "", 5, ""}};
    const struct results r[] = {{.variant = "a"}, {.variant = "a.b"}, {.variant = "8x"}};
    const struct results drops = {.variant = "drops"};
    const struct summary s[] = {{.metrics = one, .n_metrics = 2},
                                {.metrics = two, .n_metrics = 2},
                                {.metrics = three, .n_metrics = 3}};
    const struct results *const many[] = {&r[0], &r[1], &r[2]};
    const struct results *const clash[] = {&drops};
    const struct summary *const figures[] = {&s[0], &s[1], &s[2]};
    bool holds = false;
    char detail[128];
    struct xoff_err err;
    assert_int_equal(
        expect_evaluate("a.b.x == 2", many, figures, 3, &holds, detail, sizeof detail, &err), 0);
    assert_true(holds);
    assert_int_equal(
        expect_evaluate("8x.x.y == 3", many, figures, 3, &holds, detail, sizeof detail, &err), 0);
    assert_true(holds);
    assert_int_equal(
        expect_evaluate("drops.x == 1", clash, figures, 1, &holds, detail, sizeof detail, &err), 0);
    assert_true(holds); /* x of the variant drops */
    assert_int_equal(expect_evaluate("drops.drops.x == 10", clash, figures, 1, &holds, detail,
                                     sizeof detail, &err),
                     0);
    assert_true(holds);
}

static void absent_metrics(void **state)
{
    (void)state;
    check_error(1, "slowdown.p99 < 2", XOFF_E_MISSING, 1, "no such flow finished");
    check_error(2, "1 < DSH-2.jain", XOFF_E_MISSING, 5, "no metric jain in variant DSH-2");
    check_error(2, "SIH.jain == jain", XOFF_E_MISSING, 13, "no metric jain in variant DSH-2");
    check_error(1, "drop == 0", XOFF_E_UNKNOWN, 1, "no metric drop in variant SIH; names");
    check_error(1, "drops-drops == 0", XOFF_E_UNKNOWN, 1, "spaces around '-'");
    check_error(2, "XYZ.fct.p99 > 0", XOFF_E_UNKNOWN, 1, "no metric XYZ.fct.p99");
    check_error(1, "operations.p99 < 2ms", XOFF_E_MISSING, 1, "no such operation completed");
    check_error(1, "deadlock.onset > 0", XOFF_E_MISSING, 1, "no deadlock");
    check_error(1, "deadlock.onzet > 0", XOFF_E_UNKNOWN, 1, "names are in");
    check_error(1, "curve.F0.mean > 0", XOFF_E_MISSING, 1, "no curve is called so");
}

static void syntax(void **state)
{
    (void)state;
    /* The same with and without runs. */
    static const struct {
        const char *text;
        enum xoff_err_code code;
        int column;
        const char *part;
    } rows[] = {
        {"", XOFF_E_SYNTAX, 1, "ends where a number"},
        {"drops", XOFF_E_SYNTAX, 6, "ends where an operator"},
        {"drops =", XOFF_E_SYNTAX, 7, "write =="},
        {"drops = 0", XOFF_E_SYNTAX, 7, "write =="},
        {"drops ==", XOFF_E_SYNTAX, 9, "ends where a number"},
        {"drops == 0 == 0", XOFF_E_SYNTAX, 12, "unexpected '='"},
        {"drops == 0 0", XOFF_E_SYNTAX, 12, "unexpected '0'"},
        {"drops == (1 + 2", XOFF_E_SYNTAX, 16, "')'"},
        {"drops == 1)", XOFF_E_SYNTAX, 11, "unexpected ')'"},
        {"drops == 1 +", XOFF_E_SYNTAX, 13, "ends where a number"},
        {"drops == * 2", XOFF_E_SYNTAX, 10, "unexpected '*'"},
        {"drops \xe2\x89\xa4 2", XOFF_E_SYNTAX, 7, "0xe2"},
        {"fct.p99. == 2", XOFF_E_SYNTAX, 8, "unexpected '.'"},
        {"fct.p99 <= 2parsecs", XOFF_E_UNIT, 12, "2parsecs is not a quantity"},
        {"fct.p99 <= 2m", XOFF_E_UNIT, 12, "2m is not"},
        {"fct.p99 <= 1.2.3", XOFF_E_UNIT, 12, "1.2.3 is not"},
        {"fct.p99 <= 0.5ps", XOFF_E_RANGE, 12, "too fine"},
        {"fct.p99 <= 1e999", XOFF_E_RANGE, 12, "too large"},
        {"1us + 1KB == 2", XOFF_E_UNIT, 5, "a time and a size"},
        {"1us == 1Gbps", XOFF_E_UNIT, 5, "a time and a rate"},
        {"1us == 50%", XOFF_E_UNIT, 5, "a time and a count"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        check_error(0, rows[i].text, rows[i].code, rows[i].column, rows[i].part);
        check_error(1, rows[i].text, rows[i].code, rows[i].column, rows[i].part);
    }
    /* Kinds of metrics are known only with runs. */
    check(0, "fct.p99 == 16KB", true, "");
    check_error(1, "fct.p99 == 16KB", XOFF_E_UNIT, 9, "a time and a size");
    check_error(1, "operations.rate <= 1Gbps", XOFF_E_UNIT, 17, "a count or ratio and a rate");
    check_error(1, "drops <= 1us", XOFF_E_UNIT, 7, "a count or ratio and a time");
    check(0, "1 / drops == 2", true, "");
    check(0, "a.b.fct.web.p99 < 8x.throughput", true, "");
    check(0, "DSH.operations.io.p99 < operations.max", true, "");
    check_error(0, "operation.p99 == 2", XOFF_E_UNKNOWN, 1, "no metric is called operation.p99");
    check_error(0, "anything == 2", XOFF_E_UNKNOWN, 1, "no metric is called anything");
    check_error(0, "1 == SIH.dropsy", XOFF_E_UNKNOWN, 6, "no metric is called SIH.dropsy");
    check_error(1, "1 / drops == 2", XOFF_E_RANGE, 3, "division by zero");
    check_error(1, "1e300 * 1e300 == 2", XOFF_E_RANGE, 1, "too large");
}

/* `n` times `open`, then "1 == 1" with `n` times `close` after the left 1. */
static char *nested(uint32_t n, char open, char close)
{
    char *text = calloc(2 * (size_t)n + 16, 1);
    assert_non_null(text);
    memset(text, open, n);
    text[n] = '1';
    if (close)
        memset(text + n + 1, close, n);
    strcat(text, " != 2");
    return text;
}

static void limits(void **state)
{
    (void)state;
    /* 64 levels: 63 parentheses and the number inside them. */
    static const char marks[][2] = {{'(', ')'}, {'-', '\0'}};
    for (uint32_t i = 0; i < 2; i++) {
        char *text = nested(63, marks[i][0], marks[i][1]);
        check(1, text, true, NULL);
        free(text);
        text = nested(64, marks[i][0], marks[i][1]);
        check_error(1, text, XOFF_E_SYNTAX, 65, "nested deeper than 64");
        free(text);
    }
    char text[4200];
    memset(text, ' ', sizeof text);
    memcpy(text, "1 == 1", 6);
    text[4096] = '\0';
    check(1, text, true, NULL);
    text[4096] = ' ';
    text[4097] = '\0';
    check_error(1, text, XOFF_E_SYNTAX, 1, "more than 4096");
    memset(text, 'a', 127);
    memcpy(text, "drops.", 6);
    strcpy(text + 127, " == 1");
    check(0, text, true, NULL);
    memset(text, 'a', 128);
    strcpy(text + 128, " == 1");
    check_error(0, text, XOFF_E_SYNTAX, 1, "more than 127");

    /* A short detail is cut, never overrun; none is asked for with size 0. */
    char detail[8] = "1234567";
    bool holds = false;
    assert_int_equal(
        expect_evaluate("fct.p99 <= 100us", runs, summaries, 1, &holds, detail, 5, NULL), 0);
    assert_true(holds);
    assert_string_equal(detail, "fct.");
    assert_int_equal(detail[5], '6');
    assert_int_equal(expect_evaluate("drops == 0", runs, summaries, 1, &holds, NULL, 0, NULL), 0);
    assert_int_equal(expect_evaluate("drops = 0", runs, summaries, 1, &holds, NULL, 0, NULL),
                     -XOFF_E_SYNTAX);
}

static double value_of(uint32_t n_runs, const char *text)
{
    double value = -1;
    struct xoff_err err = {0};
    if (expect_compute(text, runs, summaries, n_runs, &value, &err))
        fail_msg("\"%s\": %s (column %d)", text, err.message, err.column);
    return value;
}

static void check_value_error(uint32_t n_runs, const char *text, enum xoff_err_code code,
                              int column, const char *part)
{
    double value = 7;
    struct xoff_err err = {0};
    const int status = expect_compute(text, runs, summaries, n_runs, &value, &err);
    if (status != -(int)code || err.column != column || !strstr(err.message, part) || value != 0)
        fail_msg("\"%s\": %d, %s (column %d), value %g", text, status, err.message, err.column,
                 value);
}

static void values(void **state)
{
    (void)state;
    assert_true(value_of(1, "throughput / 1e9") == 9.5);
    assert_true(value_of(1, " 100 * drops.link-down / operations ") == 2.5);
    assert_true(value_of(2, "SIH.fct.p99 / DSH-2.fct.p99") == 2.0);
    assert_true(value_of(2, "2 * (1us + 1us) / 1us") == 4.0);
    assert_true(value_of(1, "-3 - -4") == 1.0);
    assert_true(value_of(0, "SIH.drops / SIH.sent") == 0.0); /* syntax only, no division */

    check_value_error(2, "drops", XOFF_E_CONFLICT, 1, "name one, such as SIH.drops");
    check_value_error(2, "1 + jain", XOFF_E_CONFLICT, 5, "of every variant");
    check_value_error(1, "drops == 0", XOFF_E_SYNTAX, 7, "unexpected '='");
    check_value_error(0, "drops > 0", XOFF_E_SYNTAX, 7, "unexpected '>'");
    check_value_error(1, "", XOFF_E_SYNTAX, 1, "the text ends");
    check_value_error(1, "1 / drops", XOFF_E_RANGE, 3, "division by zero");
    check_value_error(1, "1e308 * 10", XOFF_E_RANGE, 1, "too large");
    check_value_error(1, "fct.p99 + queue.peak", XOFF_E_UNIT, 9, "do not go together");
    check_value_error(2, "DSH-2.jain", XOFF_E_MISSING, 1, "no metric jain in variant DSH-2");
    check_value_error(0, "2 * speed", XOFF_E_UNKNOWN, 5, "no metric is called speed");
    char text[4098];
    memset(text, ' ', sizeof text);
    text[0] = '1';
    text[4096] = '\0';
    assert_true(value_of(1, text) == 1.0);
    text[4096] = ' ';
    text[4097] = '\0';
    check_value_error(1, text, XOFF_E_SYNTAX, 1, "more than 4096");
}

static void functions(void **state)
{
    (void)state;
    assert_true(value_of(1, "abs(-2) + abs ( 3 - 1 )") == 4.0);
    assert_true(value_of(1, "min(3, 1, 2)") == 1.0);
    assert_true(value_of(1, "max(3, 1, max(2, 5))") == 5.0);
    assert_true(value_of(1, "min(7)") == 7.0);
    assert_true(value_of(2, "max(SIH.fct.p99, DSH-2.fct.p99) / 1us") == 81.2e-6 / 1e-6);
    check(2, "abs(SIH.drops - DSH-2.drops) == 2", true, NULL);

    check_value_error(1, "abs(1, 2)", XOFF_E_SYNTAX, 6, "unexpected ','");
    check_value_error(1, "min(1, 2", XOFF_E_SYNTAX, 9, "an operator, ',' or ')'");
    check_value_error(1, "max()", XOFF_E_SYNTAX, 5, "unexpected ')'");
    check_value_error(1, "max(1us, 2B)", XOFF_E_UNIT, 8, "do not go together");
    /* Before there are runs, what is made of a metric may be of any kind. */
    check(0, "min(fct.p99, 9us) > 4 * fct.mean * 90%", true, NULL);
    check(0, "max(fct.p99, 9us) > fct.mean / 90%", true, NULL);
    check_value_error(0, "abs + 1", XOFF_E_UNKNOWN, 1, "no metric is called abs");
    check_value_error(0, "maximum(1)", XOFF_E_UNKNOWN, 1, "no metric is called maximum");
}

/* A variant is named where a name begins with it, and nowhere else. */
static void variants_are_found(void **state)
{
    (void)state;
    static const struct {
        const char *text, *variant;
        bool is_named;
    } rows[] = {
        {"a.drops == 0", "a", true},
        {"a.drops == 0", "b", false},
        {"a-b.drops == 0", "a", false},
        {"a-b.drops == 0", "a-b", true},
        {"a-b.drops == 0", "b", false},
        {"drops == 0", "drops", false},
        {"drops.lossless == 0", "drops", false}, /* the metric; no metric is called lossless */
        {"drops.drops.lossless == 0", "drops", true},
        {"jain > 0.5", "0", false}, /* a number is no name */
        {"0.jain > 0.5", "0", true},
        {"abs(1 - max(b.jain, c.jain)) < 1", "c", true},
        {"fct.p99 == a.fct.p99 within 2%", "a", true},
        {"a.drops == ", "a", false}, /* no expectation */
    };
    for (uint32_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (expect_names_variant(rows[i].text, rows[i].variant) != rows[i].is_named)
            fail_msg("%s: %s", rows[i].text, rows[i].variant);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(comparisons),    cmocka_unit_test(details),
        cmocka_unit_test(arithmetic),     cmocka_unit_test(near_equality),
        cmocka_unit_test(variants),       cmocka_unit_test(variant_names),
        cmocka_unit_test(absent_metrics), cmocka_unit_test(syntax),
        cmocka_unit_test(limits),         cmocka_unit_test(values),
        cmocka_unit_test(functions),      cmocka_unit_test(variants_are_found),
    };
    return cmocka_run_group_tests_name("expect", tests, NULL, NULL);
}
