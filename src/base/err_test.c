/* Errors: codes and text, cutting, and what is left alone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <xoff/err.h>

_Noreturn void xoff_assert_fail(const char *expression, const char *file, int line)
{
    mock_assert(0, expression, file, line);
    abort();
}

static void every_code_has_text(void **state)
{
    (void)state;
    assert_string_equal(xoff_err_text(XOFF_E_OK), "no error");
    assert_string_equal(xoff_err_text(XOFF_E_RANGE), "out of range");
    assert_string_equal(xoff_err_text(XOFF_E_IO), "input/output");
    assert_string_equal(xoff_err_text(XOFF_E_ELSEWHERE), "another rank failed");
    assert_string_equal(xoff_err_text((enum xoff_err_code)(XOFF_E_ELSEWHERE + 1)), "unknown error");
    assert_string_equal(xoff_err_text((enum xoff_err_code) - 1), "unknown error");
}

static void set_fills_all_but_the_place(void **state)
{
    (void)state;
    struct xoff_err err;
    memset(&err, 'x', sizeof err);
    err.line = 7;
    err.column = 3;
    strcpy(err.file, "a.yaml");
    assert_int_equal(xoff_err_set(&err, XOFF_E_UNIT, "delay", "5", "no unit"), -XOFF_E_UNIT);
    assert_int_equal(err.code, XOFF_E_UNIT);
    assert_string_equal(err.subject, "delay");
    assert_string_equal(err.value, "5");
    assert_string_equal(err.message, "no unit");
    assert_int_equal(err.line, 7);
    assert_int_equal(err.column, 3);
    assert_string_equal(err.file, "a.yaml");

    xoff_err_set(&err, XOFF_E_RANGE, NULL, NULL, NULL);
    assert_string_equal(err.subject, "");
    assert_string_equal(err.value, "");
    assert_string_equal(err.message, "");
}

static void a_field_may_be_passed_on(void **state)
{
    (void)state;
    struct xoff_err err = {0};
    xoff_err_set(&err, XOFF_E_UNIT, "delay", "5", "no unit");
    xoff_err_set(&err, XOFF_E_RANGE, err.subject, err.value, "other");
    assert_string_equal(err.subject, "delay");
    assert_string_equal(err.value, "5");
    assert_string_equal(err.message, "other");
}

static void nobody_needs_to_listen(void **state)
{
    (void)state;
    assert_int_equal(xoff_err_set(NULL, XOFF_E_TYPE, "a", "b", "c"), -XOFF_E_TYPE);
    xoff_err_add(NULL, "x");
    xoff_err_add_int(NULL, 1);
}

/* The field holds 95 bytes and a NUL: 95 fit, of 96 the last is cut. */
static void text_is_cut_to_its_field(void **state)
{
    (void)state;
    struct xoff_err err = {0};
    char given[97];
    memset(given, 'v', sizeof given);
    given[95] = '\0';
    xoff_err_set(&err, XOFF_E_TYPE, NULL, given, NULL);
    assert_string_equal(err.value, given);
    given[95] = 'v';
    given[96] = '\0';
    xoff_err_set(&err, XOFF_E_TYPE, NULL, given, NULL);
    assert_int_equal(strlen(err.value), 95);

    /* A two-byte character across the end goes as a whole; one just before it stays. */
    memcpy(given + 94, "\xc2\xb5", 2);
    xoff_err_set(&err, XOFF_E_TYPE, NULL, given, NULL);
    assert_int_equal(strlen(err.value), 94);
    memcpy(given + 93, "\xc2\xb5z", 3);
    xoff_err_set(&err, XOFF_E_TYPE, NULL, given, NULL);
    assert_int_equal(strlen(err.value), 95);
}

static void messages_are_added_up(void **state)
{
    (void)state;
    struct xoff_err err = {0};
    xoff_err_set(&err, XOFF_E_RANGE, NULL, NULL, "got ");
    xoff_err_add_int(&err, -42);
    xoff_err_add(&err, ", up to ");
    xoff_err_add_int(&err, 0);
    xoff_err_add(&err, "/");
    xoff_err_add_int(&err, INT64_MIN);
    xoff_err_add(&err, "/");
    xoff_err_add_int(&err, INT64_MAX);
    assert_string_equal(err.message, "got -42, up to 0/-9223372036854775808/9223372036854775807");
    for (int i = 0; i < 100; i++)
        xoff_err_add(&err, "0123456789");
    assert_int_equal(strlen(err.message), sizeof err.message - 1);
    assert_memory_equal(err.message, "got -42", 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_code_has_text),      cmocka_unit_test(set_fills_all_but_the_place),
        cmocka_unit_test(a_field_may_be_passed_on), cmocka_unit_test(nobody_needs_to_listen),
        cmocka_unit_test(text_is_cut_to_its_field), cmocka_unit_test(messages_are_added_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
