/* Hex text: every form that is taken, where frames end, and errors with their column. */
#include "wire/codec_testing.h"

#include "wire/hex_in.h"

static struct hex_in in;
static struct xoff_err err;

static int line(const char *text)
{
    err.column = 0;
    return xoff_hex_line(&in, text, strlen(text), &err);
}

static void assert_octets(const char *want, uint32_t n)
{
    assert_int_equal(in.n, n);
    assert_memory_equal(in.octets, want, n);
}

static void plain_lines(void **unused)
{
    (void)unused;
    static const char *const same[] = {"0180c2",        "01 80 c2", "01:80:c2\n", "01-80-C2\r\n",
                                       "  0180.c2 # x", "0x0180c2", "01\t80 c2 ", "0180 c2"};
    xoff_hex_begin(&in);
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        assert_int_equal(line(same[i]), HEX_FRAME);
        assert_octets("\x01\x80\xc2", 3);
    }
    assert_int_equal(line(""), HEX_NOTHING);
    assert_int_equal(line("  # 0180"), HEX_NOTHING);
    assert_int_equal(xoff_hex_end(&in), HEX_NOTHING);
}

static void errors_have_a_column(void **unused)
{
    (void)unused;
    static const struct {
        const char *text;
        int column;
        const char *message;
    } cases[] = {
        {"0180c", 5, "a single hex digit; octets have two"},
        {"01 8 c2", 4, "a single hex digit; octets have two"},
        {"01 8g", 4, "a single hex digit; octets have two"},
        {"01 g0", 4, "not a hex digit; give pairs such as 01 80 c2, one frame a line"},
        {"01 /0", 4, "not a hex digit; give pairs such as 01 80 c2, one frame a line"},
        {"01 @0", 4, "not a hex digit; give pairs such as 01 80 c2, one frame a line"},
        {"01 `0", 4, "not a hex digit; give pairs such as 01 80 c2, one frame a line"},
        {"01 G0", 4, "not a hex digit; give pairs such as 01 80 c2, one frame a line"},
        {"frame", 1, "a single hex digit; octets have two"},
        {" x", 2, "not a hex digit; give pairs such as 01 80 c2, one frame a line"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        xoff_hex_begin(&in);
        assert_refused(line(cases[i].text), &err, "hex", cases[i].message);
        assert_int_equal(err.column, cases[i].column);
    }
}

static void dumps(void **unused)
{
    (void)unused;
    static const char *const forms[][3] = {
        {"0000  01 80 c2 00 00 01 00 1b 21 aa bb cc 88 08 01 01", "0010  00 08 ab", ""},
        {"00000000  01 80 c2 00 00 01 00 1b  21 aa bb cc 88 08 01 01  |........!.......|",
         "00000010  00 08 ab                                          |...|", ""},
        {"00000000: 0180 c200 0001 001b 21aa bbcc 8808 0101  ........!.......",
         "00000010: 0008 ab                                  abc", ""},
        {"0000  01 80 c2 00 00 01 00 1b 21 aa bb cc 88 08 01 01 |........!.......|",
         "0010  00 08 ab |abc|", ""},
        {"\t0x0000:  0180 c200 0001 001b 21aa bbcc 8808 0101", "\t0x0010:  0008 ab", "0000  11"},
    };
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        xoff_hex_begin(&in);
        assert_int_equal(line(forms[i][0]), HEX_NOTHING);
        assert_int_equal(line(forms[i][1]), HEX_NOTHING);
        assert_int_equal(line(forms[i][2]), HEX_AGAIN);
        assert_octets("\x01\x80\xc2\0\0\x01\0\x1b\x21\xaa\xbb\xcc\x88\x08\x01\x01\0\x08\xab", 19);
        assert_int_equal(line(forms[i][2]), HEX_NOTHING);
        assert_int_equal(xoff_hex_end(&in), *forms[i][2] ? HEX_FRAME : HEX_NOTHING);
    }
    assert_octets("\x11", 1);
    assert_int_equal(xoff_hex_end(&in), HEX_NOTHING);
}

/* A dump ends before a plain line; a comment within it does not end it. */
static void dumps_and_lines(void **unused)
{
    (void)unused;
    xoff_hex_begin(&in);
    assert_int_equal(line("0000 01 02"), HEX_NOTHING);
    assert_int_equal(line("# more"), HEX_NOTHING);
    assert_int_equal(line("0002 03"), HEX_NOTHING);
    assert_int_equal(line("aabb"), HEX_AGAIN);
    assert_octets("\1\2\3", 3);
    assert_int_equal(line("aabb"), HEX_FRAME);
    assert_octets("\xaa\xbb", 2);
    assert_int_equal(line("0000 01 02"), HEX_NOTHING);
    assert_refused(line("0003 03"), &err, "hex",
                   "this offset does not follow from the lines before");
    assert_int_equal(xoff_hex_end(&in), HEX_FRAME);
    assert_int_equal(line("000 01"), HEX_NOTHING); /* three digits are enough */
    assert_int_equal(xoff_hex_end(&in), HEX_FRAME);
    assert_octets("\1", 1);
    /* Not an offset, since no lone pair follows. */
    xoff_hex_begin(&in);
    assert_int_equal(line("0000 0102"), HEX_FRAME);
    assert_octets("\0\0\1\2", 4);
    /* Not an offset, since no dump began: the digits are octets. */
    xoff_hex_begin(&in);
    assert_int_equal(line("0010 01"), HEX_FRAME);
    assert_octets("\0\x10\1", 3);
}

static void too_long(void **unused)
{
    (void)unused;
    static char text[2 * CAPTURE_MAX_FRAME + 3];
    memset(text, 'a', 2 * CAPTURE_MAX_FRAME);
    xoff_hex_begin(&in);
    assert_int_equal(line(text), HEX_FRAME);
    assert_int_equal(in.n, CAPTURE_MAX_FRAME);
    text[2 * CAPTURE_MAX_FRAME] = text[2 * CAPTURE_MAX_FRAME + 1] = 'a';
    assert_refused(line(text), &err, "hex", "more than 262144 octets, which no frame has");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_lines), cmocka_unit_test(errors_have_a_column),
        cmocka_unit_test(dumps),       cmocka_unit_test(dumps_and_lines),
        cmocka_unit_test(too_long),
    };
    return cmocka_run_group_tests_name("hex_in", tests, NULL, NULL);
}
