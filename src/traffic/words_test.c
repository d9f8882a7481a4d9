/* Tests of words.c: words and lines with their places, and numbers at their limits. */
#include "traffic/words.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <xoff/time.h>

static struct word word_of(const char *text)
{
    return (struct word){.text = text, .length = strlen(text), .line = 3, .column = 5};
}

static void words_have_places(void **state)
{
    const char text[] = "a bc\r\n\n \t d\n";
    struct words w;
    struct word word;
    (void)state;
    words_init(&w, "f", text, strlen(text));
    assert_true(words_next(&w, &word) && words_is(&word, "a"));
    assert_int_equal(word.line * 100 + word.column, 101);
    assert_true(words_next(&w, &word) && words_is(&word, "bc"));
    assert_int_equal(word.line * 100 + word.column, 103);
    assert_true(words_next(&w, &word) && words_is(&word, "d"));
    assert_int_equal(word.line * 100 + word.column, 304);
    assert_false(words_next(&w, &word));
    assert_false(words_is(&word, "dd"));
}

static void lines_are_counted_whole(void **state)
{
    const char text[] = "\n1 2 3\r\n4\n\n  5 6";
    struct words w;
    struct word word[2];
    (void)state;
    words_init(&w, "f", text, strlen(text));
    assert_int_equal(words_line(&w, word, 2), 3); /* two kept */
    assert_true(words_is(&word[1], "2") && word[1].line == 2);
    assert_int_equal(words_line(&w, word, 2), 1);
    assert_int_equal(words_line(&w, word, 2), 2);
    assert_true(words_is(&word[1], "6") && word[1].line == 5 && word[1].column == 5);
    assert_int_equal(words_line(&w, word, 2), 0);
}

/* 4096 bytes before the line's end pass, 4097 do not; the words of the line are not lost on those
 * who take words one by one. */
static void long_lines_are_refused(void **state)
{
    static char text[WORDS_MAX_LINE + 8];
    (void)state;
    for (int extra = 0; extra < 2; extra++) {
        struct words w;
        struct word word;
        const size_t n = WORDS_MAX_LINE + (size_t)extra;
        memset(text, 'x', n);
        text[0] = ' ';
        memcpy(text + n, "\ny", 2);
        words_init(&w, "f", text, n + 2);
        assert_int_equal(words_line(&w, &word, 1), extra ? -1 : 1);
        assert_int_equal(word.column, 2);
        assert_true(words_next(&w, &word) && words_is(&word, "y"));
    }
}

static void whole_numbers_have_limits(void **state)
{
    uint64_t n = 0;
    struct word word = word_of("255");
    (void)state;
    assert_true(words_u64(&word, 255, &n) && n == 255);
    assert_false(words_u64(&word, 254, &n));
    word = word_of("18446744073709551615");
    assert_true(words_u64(&word, UINT64_MAX, &n) && n == UINT64_MAX);
    word = word_of("18446744073709551616");
    assert_false(words_u64(&word, UINT64_MAX, &n));
    static const char *const bad[] = {"", "-1", "+1", "1.0", "1e3", "0x1", "1a"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        word = word_of(bad[i]);
        assert_false(words_u64(&word, UINT64_MAX, &n));
    }
}

static void reals_are_the_nearest_double(void **state)
{
    static const char *const good[] = {"0",
                                       "0.0000",
                                       "0.2",
                                       "1.05",
                                       "2.000000000",
                                       "999999999999999",
                                       "9999999999999999",
                                       "1e-6",
                                       "2.",
                                       "1E3",
                                       "0.00390625",
                                       "0.1234567890123456789",
                                       "3.0000000000000004"};
    static const char *const bad[] = {"",     ".",   "-1",  "1/2", "5%",
                                      "1..2", "nan", "inf", "1 2", "e3"};
    double x;
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        const struct word word = word_of(good[i]);
        assert_true(words_real(&word, &x));
        assert_true(x == strtod(good[i], NULL));
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        const struct word word = word_of(bad[i]);
        assert_false(words_real(&word, &x));
    }
}

/* The double nearest to the text written out in full, its point moved by nine places, cut. */
static int64_t slow_nanoseconds(const char *text)
{
    char full[1200], digits[64];
    snprintf(full, sizeof full, "%.1100f", strtod(text, NULL));
    char *dot = strchr(full, '.');
    snprintf(digits, sizeof digits, "%.*s%.9s", (int)(dot - full), full, dot + 1);
    return strtoll(digits, NULL, 10);
}

static void seconds_are_cut_as_there(void **state)
{
    /* 2.3 is 2.29999999999999982236431605997495353221893310546875 as a double. */
    static const struct {
        const char *text;
        int64_t ns;
    } known[] = {{"2.3", 2299999999},
                 {"2.000000000", 2000000000},
                 {"0", 0},
                 {"0.000000001", 1},
                 {"1e-9", 1},
                 {"1e-10", 0},
                 {"2.1", 2100000000},
                 {"9000000", 9000000000000000},
                 {"0.0000000000000000000000000000000000000001", 0}};
    int64_t ps;
    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        const struct word word = word_of(known[i].text);
        assert_true(words_seconds(&word, &ps));
        assert_int_equal(ps, known[i].ns * XOFF_NS);
    }
    const struct word late = word_of("9000000.1"), negative = word_of("-1");
    assert_false(words_seconds(&late, &ps));
    assert_false(words_seconds(&negative, &ps));
    srand(1);
    for (int i = 0; i < 20000; i++) {
        char text[64];
        snprintf(text, sizeof text, "%d.%0*d", rand() % 10, 1 + rand() % 12, rand());
        const struct word word = word_of(text);
        assert_true(words_seconds(&word, &ps));
        assert_int_equal(ps, slow_nanoseconds(text) * XOFF_NS);
    }
}

static void errors_show_place_and_text(void **state)
{
    struct words w;
    struct xoff_err err;
    struct word word = word_of("a\001\xff");
    (void)state;
    words_init(&w, "some/file", "x\ny", 3);
    assert_int_equal(words_fail(&w, &word, XOFF_E_TYPE, "key", "bad", &err), -XOFF_E_TYPE);
    assert_string_equal(err.file, "some/file");
    assert_string_equal(err.value, "a?\?"); /* nothing a terminal would act on */
    assert_string_equal(err.subject, "key");
    assert_int_equal(err.line * 100 + err.column, 305);
    while (words_next(&w, &word))
        ;
    assert_int_equal(words_fail(&w, NULL, XOFF_E_MISSING, "key", "end", &err), -XOFF_E_MISSING);
    assert_int_equal(err.line * 100 + err.column, 202);
    assert_string_equal(err.value, "");
}

static void files_are_loaded_whole(void **state)
{
    char path[] = "/tmp/words-XXXXXX", *text;
    size_t size;
    struct xoff_err err;
    (void)state;
    const int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, "a\0b", 3), 3);
    close(fd);
    assert_int_equal(words_load(path, "key", &text, &size, &err), 0);
    assert_int_equal(size, 3);
    assert_memory_equal(text, "a\0b", 4);
    free(text);
    unlink(path);
    assert_int_equal(words_load(path, "key", &text, &size, &err), -XOFF_E_IO);
    assert_string_equal(err.file, path);
    assert_int_equal(words_load("/", "key", &text, &size, &err), -XOFF_E_IO);
    assert_non_null(strstr(err.message, "is a folder; give the path of a file"));
    assert_int_equal(words_load("/dev/zero", "key", &text, &size, &err), -XOFF_E_IO);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_have_places),
        cmocka_unit_test(lines_are_counted_whole),
        cmocka_unit_test(long_lines_are_refused),
        cmocka_unit_test(whole_numbers_have_limits),
        cmocka_unit_test(reals_are_the_nearest_double),
        cmocka_unit_test(seconds_are_cut_as_there),
        cmocka_unit_test(errors_show_place_and_text),
        cmocka_unit_test(files_are_loaded_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
