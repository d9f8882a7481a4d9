/* Bounded readers and writers: values, both sides of every end, and what an error says. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "wire/octets.h"

static const uint8_t ten[10] = {0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef, 0x10, 0x32};

static void reads_big_endian(void **state)
{
    (void)state;
    struct octets_in in = octets_in(ten, sizeof ten);
    assert_int_equal(get8(&in, "a"), 0x01);
    assert_int_equal(get16(&in, "b"), 0x2345);
    assert_int_equal(get24(&in, "c"), 0x6789ab);
    assert_int_equal(get32(&in, "d"), 0xcdef1032);
    assert_int_equal(octets_left(&in), 0);
    assert_null(in.cut_field);
    in = octets_in(ten, sizeof ten);
    assert_true(get64(&in, "e") == 0x0123456789abcdefu);
}

/* Ten octets hold a field of eight and one of two; of a field of three one octet is missing. */
static void the_first_cut_is_remembered(void **state)
{
    (void)state;
    struct octets_in in = octets_in(ten, sizeof ten);
    get64(&in, "first");
    assert_int_equal(get24(&in, "second"), 0);
    assert_int_equal(get8(&in, "third"), 0);
    assert_int_equal(octets_left(&in), 0);
    struct xoff_err err;
    assert_int_equal(xoff_octets_refuse_cut(&err, &in), -XOFF_E_SYNTAX);
    assert_string_equal(err.subject, "second");
    assert_string_equal(err.message, "octet 8: cut off, what contains it ends at octet 10");
}

static void a_part_ends_where_it_says(void **state)
{
    (void)state;
    struct octets_in in = octets_in(ten, sizeof ten);
    get16(&in, "head");
    struct octets_in part = get_part(&in, 3, "part");
    assert_int_equal(in.at, 5);
    assert_int_equal(get16(&part, "inner"), 0x4567);
    assert_int_equal(get16(&part, "outer"), 0);
    assert_string_equal(part.cut_field, "outer");
    assert_int_equal(part.cut_at, 4);
    assert_null(in.cut_field);
}

static void a_part_that_lies_has_the_rest(void **state)
{
    (void)state;
    struct octets_in in = octets_in(ten, sizeof ten);
    get64(&in, "head");
    struct octets_in part = get_part(&in, 2, "all");
    assert_null(in.cut_field);
    in.at = 8;
    part = get_part(&in, 3, "part");
    assert_int_equal(octets_left(&part), 2);
    assert_string_equal(in.cut_field, "part");
    assert_null(part.cut_field);
}

static void writes_what_reads_back(void **state)
{
    (void)state;
    uint8_t octets[21];
    struct octets_out out = octets_out(octets, sizeof octets);
    put8(&out, 0xfe);
    put16(&out, 0x1234);
    put24(&out, 0x56789a);
    put32(&out, 0xdeadbeef);
    put64(&out, 0x0102030405060708u);
    put_zeros(&out, 2);
    put_octets(&out, "x", 1);
    assert_false(out.is_full);
    assert_int_equal(out.at, 21);
    struct octets_in in = octets_in(octets, sizeof octets);
    assert_int_equal(get8(&in, ""), 0xfe);
    assert_int_equal(get16(&in, ""), 0x1234);
    assert_int_equal(get24(&in, ""), 0x56789a);
    assert_int_equal(get32(&in, ""), 0xdeadbeef);
    assert_true(get64(&in, "") == 0x0102030405060708u);
    assert_int_equal(get16(&in, ""), 0);
    assert_int_equal(get8(&in, ""), 'x');
}

static void a_full_writer_writes_nothing(void **state)
{
    (void)state;
    uint8_t octets[5] = {0, 0, 0, 0, 0x77};
    struct octets_out out = octets_out(octets, 4);
    put24(&out, 0x010203);
    put16(&out, 0xffff);
    assert_true(out.is_full);
    put_zeros(&out, 2);
    assert_int_equal(out.at, 3);
    assert_int_equal(octets[3], 0);
    assert_int_equal(octets[4], 0x77);
}

static void refusals_show_octets(void **state)
{
    (void)state;
    struct xoff_err err;
    assert_int_equal(xoff_octets_refuse(&err, XOFF_E_RANGE, "f", ten, 1, 1, "must be 0"),
                     -XOFF_E_RANGE);
    assert_string_equal(err.value, "23");
    assert_string_equal(err.message, "octet 1: must be 0");
    xoff_octets_refuse(&err, XOFF_E_RANGE, "f", ten, 1, 2, "no");
    assert_string_equal(err.message, "octets 1 and 2: no");
    xoff_octets_refuse(&err, XOFF_E_RANGE, "f", ten, 1, 3, "no");
    assert_string_equal(err.value, "23-45-67");
    assert_string_equal(err.message, "octets 1 to 3: no");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_big_endian),
        cmocka_unit_test(the_first_cut_is_remembered),
        cmocka_unit_test(a_part_ends_where_it_says),
        cmocka_unit_test(a_part_that_lies_has_the_rest),
        cmocka_unit_test(writes_what_reads_back),
        cmocka_unit_test(a_full_writer_writes_nothing),
        cmocka_unit_test(refusals_show_octets),
    };
    return cmocka_run_group_tests_name("octets", tests, NULL, NULL);
}
