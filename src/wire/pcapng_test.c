/* pcapng: every block octet by octet, and buffers that are just large enough or one too small. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "wire/pcapng.h"

static uint8_t buf[8192];

static struct pcapng fresh(size_t capacity)
{
    memset(buf, 0xee, sizeof buf);
    return (struct pcapng){.buf = buf, .capacity = capacity};
}

static const uint8_t section[] = {
    0x0a, 0x0d, 0x0d, 0x0a,                         /* section header */
    0x30, 0,    0,    0,                            /* 48 octets */
    0x4d, 0x3c, 0x2b, 0x1a,                         /* byte order */
    1,    0,    0,    0,                            /* 1.0 */
    0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, /* length not said */
    1,    0,    2,    0,    'h',  'i',  0,    0,    /* comment */
    4,    0,    4,    0,    'x',  'o',  'f',  'f',  /* application */
    0,    0,    0,    0,                            /* end of options */
    0x30, 0,    0,    0,
};

static void a_section(void **unused)
{
    (void)unused;
    struct pcapng out = fresh(sizeof buf);
    assert_true(xoff_pcapng_section(&out, "xoff", "hi"));
    assert_int_equal(out.length, sizeof section);
    assert_memory_equal(buf, section, sizeof section);
}

static const uint8_t interface[] = {
    1,    0, 0, 0,                                        /* interface description */
    0x44, 0, 0, 0,                                        /* 68 octets */
    1,    0, 0, 0,                                        /* Ethernet */
    0,    0, 0, 0,                                        /* packets of any length */
    2,    0, 2, 0, 'h',  '2',  0,    0,                   /* name */
    3,    0, 1, 0, 'p',  0,    0,    0,                   /* description */
    8,    0, 8, 0, 0,    0xe8, 0x76, 0x48, 0x17, 0, 0, 0, /* 100 Gb/s */
    9,    0, 1, 0, 9,    0,    0,    0,                   /* nanoseconds */
    13,   0, 1, 0, 4,    0,    0,    0,                   /* FCS of 4 octets */
    0,    0, 0, 0, 0x44, 0,    0,    0,
};

static void an_interface(void **unused)
{
    (void)unused;
    struct pcapng out = fresh(sizeof buf);
    const struct pcapng_interface about = {
        .name = "h2", .description = "p", .speed_bps = 100000000000, .fcs_bytes = 4};
    assert_true(xoff_pcapng_interface(&out, &about));
    assert_int_equal(out.length, sizeof interface);
    assert_memory_equal(buf, interface, sizeof interface);
}

/* Five octets of a frame of nine: cut, outbound, FCS of 4, a CRC error, and a comment. */
static const uint8_t packet[] = {
    6,    0,   0,   0,                      /* enhanced packet */
    0x3c, 0,   0,   0,                      /* 60 octets */
    0,    0,   0,   0,                      /* interface */
    1,    0,   0,   0,   2,    0,   0,   0, /* 2^32 + 2 ns, upper half first */
    5,    0,   0,   0,                      /* captured */
    9,    0,   0,   0,                      /* on the wire */
    'a',  'b', 'c', 'd', 'e',  0,   0,   0, /* padded */
    1,    0,   3,   0,   'w',  'h', 'y', 0, 2, 0, 4, 0, 0x82, 0, 0, 1, /* flags */
    0,    0,   0,   0,   0x3c, 0,   0,   0,
};

static const struct pcapng_packet about_packet = {
    .at_ns = (1ull << 32) + 2,
    .octets = (const uint8_t *)"abcde",
    .captured_bytes = 5,
    .original_bytes = 9,
    .direction = PCAPNG_OUTBOUND,
    .fcs_bytes = 4,
    .has_crc_error = true,
    .comment = "why",
};

static void a_packet(void **unused)
{
    (void)unused;
    struct pcapng out = fresh(sizeof buf);
    assert_true(xoff_pcapng_packet(&out, &about_packet));
    assert_int_equal(out.length, sizeof packet);
    assert_memory_equal(buf, packet, sizeof packet);
}

static void a_packet_in_its_place(void **unused)
{
    (void)unused;
    struct pcapng out = fresh(sizeof buf);
    out.length = 4;
    struct pcapng_packet about = about_packet;
    uint8_t *place = xoff_pcapng_packet_place(&out);
    memcpy(place, "abcde", 5);
    about.octets = place;
    assert_true(xoff_pcapng_packet(&out, &about));
    assert_memory_equal(buf + 4, packet, sizeof packet);
}

static void counts_at_the_end(void **unused)
{
    (void)unused;
    static const uint8_t want[] = {
        5, 0, 0, 0, 52, 0, 0, 0, /* interface statistics, 52 octets */
        0, 0, 0, 0,              /* interface */
        0, 0, 0, 0, 7,  0, 0, 0, /* 7 ns */
        4, 0, 8, 0, 3,  0, 0, 0, 0, 0, 0, 0, 5,  0, 8, 0,
        1, 0, 0, 0, 0,  0, 0, 0, 0, 0, 0, 0, 52, 0, 0, 0,
    };
    struct pcapng out = fresh(sizeof buf);
    const struct pcapng_counts counts = {.at_ns = 7, .received_frames = 3, .dropped_frames = 1};
    assert_true(xoff_pcapng_counts(&out, &counts));
    assert_int_equal(out.length, sizeof want);
    assert_memory_equal(buf, want, sizeof want);
}

static void whole_or_not_at_all(void **unused)
{
    (void)unused;
    for (size_t capacity = 0; capacity <= sizeof packet; capacity++) {
        struct pcapng out = fresh(capacity);
        const bool fits = capacity == sizeof packet;
        assert_int_equal(xoff_pcapng_packet(&out, &about_packet), fits);
        assert_int_equal(out.length, fits ? sizeof packet : 0);
        assert_int_equal(buf[capacity], 0xee); /* nothing behind the end */
    }
}

static void a_text_too_long_is_cut_between_characters(void **unused)
{
    (void)unused;
    static char text[PCAPNG_MAX_TEXT + 10];
    memset(text, 'a', sizeof text - 1);
    memcpy(text + PCAPNG_MAX_TEXT - 1, "\xc3\xa9", 2); /* across the limit */
    struct pcapng out = fresh(sizeof buf);
    assert_true(xoff_pcapng_section(&out, NULL, text));
    assert_int_equal(buf[26] | buf[27] << 8, PCAPNG_MAX_TEXT - 1);
    assert_int_equal(out.length % 4, 0);
    assert_true(out.length <= PCAPNG_BLOCK_BYTES(0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_section),
        cmocka_unit_test(an_interface),
        cmocka_unit_test(a_packet),
        cmocka_unit_test(a_packet_in_its_place),
        cmocka_unit_test(counts_at_the_end),
        cmocka_unit_test(whole_or_not_at_all),
        cmocka_unit_test(a_text_too_long_is_cut_between_characters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
