/* FECN's rate-discovery tag: golden octets with their layout, round trips, malformed ones. */
#include "wire/codec_testing.h"

#include <xoff/rate_tag.h>

static const uint8_t golden[16] = {
    0x01, 0x02,                                     /* version 0, back; kind 2 */
    0x01, 0x02, 0x03, 0x04,                         /* flow */
    0x00, 0x00, 0x00, 0x02, 0x54, 0x0b, 0xe4, 0x00, /* 10 Gb/s */
    0x08, 0x00,                                     /* IPv4 follows */
};

static void golden_tag(void **unused)
{
    (void)unused;
    struct xoff_rate_tag tag;
    struct xoff_err err;
    assert_int_equal(xoff_rate_tag_decode(golden, 16, 0, &tag, &err), 16);
    assert_true(tag.is_back);
    assert_int_equal(tag.reserved, 0);
    assert_int_equal(tag.kind, 2);
    assert_int_equal(tag.flow, 0x01020304);
    assert_true(tag.rate_bps == 10000000000);
    assert_int_equal(tag.type, 0x0800);
}

static void fix(uint8_t *octets)
{
    octets[0] &= 0x0f;
}

static void any_tag_survives(void **unused)
{
    (void)unused;
    ASSERT_OCTETS_SURVIVE(struct xoff_rate_tag, xoff_rate_tag_decode, xoff_rate_tag_encode, 16,
                          fix);
}

static void malformed_tags_are_refused(void **unused)
{
    (void)unused;
    for (unsigned version = 1; version < 16; version++) {
        uint8_t octets[16];
        struct xoff_rate_tag tag;
        struct xoff_err err;
        memcpy(octets, golden, sizeof octets);
        octets[0] = (uint8_t)(version << 4 | 1);
        assert_refused(xoff_rate_tag_decode(octets, 16, 0, &tag, &err), &err, "version",
                       "octet 0: the upper four bits must be 0");
    }
    struct xoff_rate_tag tag;
    struct xoff_err err;
    assert_refused(xoff_rate_tag_decode(golden, 13, 0, &tag, &err), &err, "rate",
                   "octet 6: cut off, what contains it ends at octet 13");
    tag = (struct xoff_rate_tag){.reserved = 8};
    uint8_t buf[16];
    expect_assert_failure(xoff_rate_tag_encode(&tag, buf, sizeof buf));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(golden_tag),
        cmocka_unit_test(any_tag_survives),
        cmocka_unit_test(malformed_tags_are_refused),
    };
    return cmocka_run_group_tests_name("rate_tag", tests, NULL, NULL);
}
