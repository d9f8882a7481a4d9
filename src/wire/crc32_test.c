/* CRC-32: the check value of its catalogue, parts joined, runs of zeros against octets. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "wire/crc32.h"

static struct crc32 tables;

static int make_tables(void **unused)
{
    (void)unused;
    xoff_crc32_init(&tables);
    return 0;
}

/* By definition, a bit at a time. */
static uint32_t slowly(uint32_t crc, const uint8_t *octets, size_t n)
{
    for (size_t i = 0; i < n; i++)
        for (uint32_t bit = 0; bit < 8; bit++) {
            const uint32_t in = (crc ^ (uint32_t)(octets[i] >> bit)) & 1;
            crc = (crc >> 1) ^ (in ? 0xedb88320u : 0);
        }
    return crc;
}

static void check_value(void **unused)
{
    (void)unused;
    const uint8_t digits[] = "123456789";
    const uint32_t crc = xoff_crc32_octets(&tables, CRC32_START, digits, 9);
    assert_int_equal(~crc & UINT32_MAX, 0xcbf43926u);
    uint8_t wire[4];
    xoff_crc32_put(crc, wire);
    const uint8_t want[4] = {0x26, 0x39, 0xf4, 0xcb};
    assert_memory_equal(wire, want, 4);
}

/* A frame with its FCS leaves the same register whatever it holds. */
static void leaves_the_residue(void **unused)
{
    (void)unused;
    uint8_t frame[64] = "any frame at all";
    xoff_crc32_put(xoff_crc32_octets(&tables, CRC32_START, frame, 60), frame + 60);
    assert_int_equal(xoff_crc32_octets(&tables, CRC32_START, frame, 64), 0xdebb20e3u);
}

static void any_length_and_any_cut(void **unused)
{
    (void)unused;
    uint8_t octets[70];
    for (uint32_t i = 0; i < sizeof octets; i++)
        octets[i] = (uint8_t)(37 * i + 11);
    for (uint32_t n = 0; n <= sizeof octets; n++) {
        const uint32_t want = slowly(CRC32_START, octets, n);
        assert_int_equal(xoff_crc32_octets(&tables, CRC32_START, octets, n), want);
        for (uint32_t cut = 0; cut <= n; cut++) {
            const uint32_t half = xoff_crc32_octets(&tables, CRC32_START, octets, cut);
            assert_int_equal(xoff_crc32_octets(&tables, half, octets + cut, n - cut), want);
        }
    }
}

static void zeros_as_octets(void **unused)
{
    (void)unused;
    static const uint8_t zeros[16000];
    static const uint32_t counts[] = {0, 1, 2, 3, 4, 7, 8, 255, 256, 1456, 1456, 8999, 16000, 1};
    uint32_t crc = 0x12345678;
    for (uint32_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        const uint32_t want = slowly(crc, zeros, counts[i]);
        assert_int_equal(xoff_crc32_zeros(&tables, crc, counts[i]), want);
        crc = want ^ 0x80000001u;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(check_value),
        cmocka_unit_test(leaves_the_residue),
        cmocka_unit_test(any_length_and_any_cut),
        cmocka_unit_test(zeros_as_octets),
    };
    return cmocka_run_group_tests(tests, make_tables, NULL);
}
