/* BCN messages and rate-regulation tags: golden octets with their layout, round trips, malformed
 * ones. */
#include "wire/codec_testing.h"

#include <xoff/bcn.h>

static const uint8_t message[24] = {
    0x00, 0x01,                                     /* message; stop */
    0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, /* point */
    0xff, 0x9c, 0x00, 0x02,                         /* offset -100, delta 2 units */
    0x02, 0x00, 0x00, 0x00, 0x00, 0x01,             /* destination of the sampled frame */
    0x01, 0x02, 0x03, 0x04,                         /* flow */
};
static const uint8_t tag[12] = {
    0x01, 0x01,                                     /* tag; limited */
    0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, /* point */
    0x08, 0x00,                                     /* IPv4 follows */
};

static void golden(void **unused)
{
    (void)unused;
    static const uint8_t destination[6] = {2, 0, 0, 0, 0, 1};
    struct xoff_bcn bcn;
    struct xoff_rrt rrt;
    struct xoff_err err;
    assert_int_equal(xoff_bcn_decode(message, 24, 0, &bcn, &err), 24);
    assert_true(bcn.is_stop);
    assert_int_equal(bcn.reserved, 0);
    assert_true(bcn.cp_id == 0x1122334455667788);
    assert_int_equal(bcn.queue_offset, -100);
    assert_int_equal(bcn.queue_delta, 2);
    assert_memory_equal(bcn.about_destination, destination, 6);
    assert_int_equal(bcn.flow, 0x01020304);
    assert_int_equal(xoff_rrt_decode(tag, 12, 0, &rrt, &err), 12);
    assert_true(rrt.is_limited);
    assert_true(rrt.cp_id == 0x1122334455667788);
    assert_int_equal(rrt.type, 0x0800);
}

static void fix_message(uint8_t *octets)
{
    octets[0] = 0;
}

static void fix_tag(uint8_t *octets)
{
    octets[0] = 1;
}

static void any_survives(void **unused)
{
    (void)unused;
    ASSERT_OCTETS_SURVIVE(struct xoff_bcn, xoff_bcn_decode, xoff_bcn_encode, 24, fix_message);
    ASSERT_OCTETS_SURVIVE(struct xoff_rrt, xoff_rrt_decode, xoff_rrt_encode, 12, fix_tag);
}

static void other_kinds_are_refused(void **unused)
{
    (void)unused;
    uint8_t octets[24] = {0};
    struct xoff_bcn bcn;
    struct xoff_rrt rrt;
    struct xoff_err err;
    for (unsigned kind = 0; kind < 256; kind++) {
        octets[0] = (uint8_t)kind;
        const int as_message = xoff_bcn_decode(octets, 24, 0, &bcn, &err);
        if (kind)
            assert_refused(as_message, &err, "kind", "octet 0: must be 00 (message) or 01 (tag)");
        const int as_tag = xoff_rrt_decode(octets, 24, 0, &rrt, &err);
        if (kind != 1)
            assert_refused(as_tag, &err, "kind", "octet 0: must be 00 (message) or 01 (tag)");
    }
    assert_refused(xoff_bcn_decode(message, 23, 0, &bcn, &err), &err, "flow",
                   "octet 20: cut off, what contains it ends at octet 23");
    bcn = (struct xoff_bcn){.reserved = 128};
    expect_assert_failure(xoff_bcn_encode(&bcn, octets, sizeof octets));
    rrt = (struct xoff_rrt){.reserved = 128};
    expect_assert_failure(xoff_rrt_encode(&rrt, octets, sizeof octets));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(golden),
        cmocka_unit_test(any_survives),
        cmocka_unit_test(other_kinds_are_refused),
    };
    return cmocka_run_group_tests_name("bcn", tests, NULL, NULL);
}
