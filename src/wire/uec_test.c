/* CC_Update and CtlOS: golden octets with their layout, round trips, every malformed case. */
#include "wire/codec_testing.h"

#include <xoff/uec.h>

/* Behind EtherType 0x8808: opcode, company, type, 16 counters of 20 bits: 0xabcd0, 0xabcd1, ... */
static const uint8_t cc_update[46] = {
    0xff, 0xfe,             /* opcode of organisations */
    0xfa, 0x7a, 0xcb, 0x02, /* Ultra Ethernet; channels 16 to 31 */
    0xab, 0xcd, 0x0a, 0xbc, 0xd1, 0xab, 0xcd, 0x2a, 0xbc, 0xd3, 0xab, 0xcd, 0x4a, 0xbc,
    0xd5, 0xab, 0xcd, 0x6a, 0xbc, 0xd7, 0xab, 0xcd, 0x8a, 0xbc, 0xd9, 0xab, 0xcd, 0xaa,
    0xbc, 0xdb, 0xab, 0xcd, 0xca, 0xbc, 0xdd, 0xab, 0xcd, 0xea, 0xbc, 0xdf,
};

static void golden_cc_update(void **unused)
{
    (void)unused;
    struct xoff_cc_update update;
    struct xoff_err err;
    uint8_t buf[46];
    assert_int_equal(xoff_cc_update_decode(cc_update, 46, 0, &update, &err), 46);
    assert_int_equal(update.first_channel, 16);
    for (uint32_t i = 0; i < 16; i++)
        assert_int_equal(update.consumed[i], 0xabcd0 + i);
    assert_int_equal(xoff_cc_update_encode(&update, buf, sizeof buf), 46);
    assert_memory_equal(buf, cc_update, sizeof buf);
}

static void fix_cc_update(uint8_t *octets)
{
    memcpy(octets, cc_update, 5);
    octets[5] = octets[5] & 1 ? 1 : 2;
}

static void any_cc_update_survives(void **unused)
{
    (void)unused;
    ASSERT_OCTETS_SURVIVE(struct xoff_cc_update, xoff_cc_update_decode, xoff_cc_update_encode, 46,
                          fix_cc_update);
}

static void malformed_cc_updates_are_refused(void **unused)
{
    (void)unused;
    static const struct {
        size_t at;
        uint8_t value;
        const char *field, *message;
    } cases[] = {
        {14, 0x00, "opcode", "octets 14 and 15: must be ff-fe"},
        {15, 0xff, "opcode", "octets 14 and 15: must be ff-fe"},
        {16, 0xfb, "company id", "octets 16 to 18: must be fa-7a-cb"},
        {18, 0xca, "company id", "octets 16 to 18: must be fa-7a-cb"},
        {19, 0, "CC_Update type", "octet 19: must be 01 (channels 0 to 15) or 02 (16 to 31)"},
        {19, 3, "CC_Update type", "octet 19: must be 01 (channels 0 to 15) or 02 (16 to 31)"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint8_t frame[60] = {0};
        struct xoff_cc_update update;
        struct xoff_err err;
        memcpy(frame + 14, cc_update, sizeof cc_update);
        assert_int_equal(xoff_cc_update_decode(frame, sizeof frame, 14, &update, &err), 60);
        assert_refused(xoff_cc_update_decode(frame, 59, 14, &update, &err), &err,
                       "consumed credits", "octet 55: cut off, what contains it ends at octet 59");
        frame[cases[i].at] = cases[i].value;
        assert_refused(xoff_cc_update_decode(frame, sizeof frame, 14, &update, &err), &err,
                       cases[i].field, cases[i].message);
    }
}

/* Sequence 0xabcde in D2, D3 and the upper half of D4. */
static const uint8_t nack[8] = {0x5c, 0x02, 0xab, 0xcd, 0xe6, 0x00, 0x00, 0x00};
/* Channel 3, count 0x1234: 00011 001 0010 0011 0100 = 0x19234. Channel 31, count 0x7fff: all ones.
 */
static const uint8_t cf_update[8] = {0x5c, 0x10, 0x19, 0x23, 0x46, 0xff, 0xff, 0xf0};

static void golden_ordered_sets(void **unused)
{
    (void)unused;
    struct xoff_ctlos ctlos;
    struct xoff_err err;
    uint8_t buf[8];
    assert_int_equal(xoff_ctlos_decode(nack, 8, &ctlos, &err), 8);
    assert_int_equal(ctlos.type, XOFF_CTLOS_LLR_NACK);
    assert_int_equal(ctlos.sequence, 0xabcde);
    assert_int_equal(xoff_ctlos_encode(&ctlos, buf, 8), 8);
    assert_memory_equal(buf, nack, 8);
    assert_int_equal(xoff_ctlos_decode(cf_update, 8, &ctlos, &err), 8);
    assert_int_equal(ctlos.credit[0].channel, 3);
    assert_int_equal(ctlos.credit[0].freed, 0x1234);
    assert_int_equal(ctlos.credit[1].channel, 31);
    assert_int_equal(ctlos.credit[1].freed, 0x7fff);
    assert_int_equal(ctlos.reserved, 0);
    assert_int_equal(xoff_ctlos_encode(&ctlos, buf, 8), 8);
    assert_memory_equal(buf, cf_update, 8);
}

static void fix_ctlos(uint8_t *octets)
{
    static const uint8_t types[] = {1, 2, 3, 4, 0x10};
    octets[0] = 0x5c;
    octets[1] = types[octets[1] % 5];
    octets[4] = (uint8_t)((octets[4] & 0xf0) | 6);
}

static int ctlos_at(const uint8_t *octets, size_t length, size_t at, struct xoff_ctlos *ctlos,
                    struct xoff_err *err)
{
    return xoff_ctlos_decode(octets + at, length - at, ctlos, err);
}

static void any_ordered_set_survives(void **unused)
{
    (void)unused;
    ASSERT_OCTETS_SURVIVE(struct xoff_ctlos, ctlos_at, xoff_ctlos_encode, 8, fix_ctlos);
}

/* Of each octet that has a meaning of its own, all values but the good ones are refused. */
static void malformed_ordered_sets_are_refused(void **unused)
{
    (void)unused;
    struct xoff_ctlos ctlos;
    struct xoff_err err;
    for (unsigned value = 0; value < 256; value++) {
        uint8_t octets[9] = {0x5c, 1, 0, 0, 6};
        octets[0] = (uint8_t)value;
        if (value != 0x5c)
            assert_refused(xoff_ctlos_decode(octets, 8, &ctlos, &err), &err, "D0",
                           "octet 0: must be 5c");
        octets[0] = 0x5c;
        octets[1] = (uint8_t)value;
        if ((value < 1 || value > 4) && value != 0x10)
            assert_refused(xoff_ctlos_decode(octets, 8, &ctlos, &err), &err, "type",
                           "octet 1: must be 01 to 04 (LLR) or 10 (CF_Update)");
        octets[1] = 1;
        octets[4] = (uint8_t)value;
        if ((value & 15) != 6)
            assert_refused(xoff_ctlos_decode(octets, 8, &ctlos, &err), &err, "D4",
                           "octet 4: the lower four bits must be 6");
        octets[4] = 6;
        assert_int_equal(xoff_ctlos_decode(octets, 8, &ctlos, &err), 8);
        assert_refused(xoff_ctlos_decode(octets, 9, &ctlos, &err), &err, "length",
                       "octet 8: an ordered set has eight octets");
    }
}

static void values_that_do_not_fit_are_errors_of_the_caller(void **unused)
{
    (void)unused;
    uint8_t buf[64];
    struct xoff_cc_update update = {.first_channel = 1};
    expect_assert_failure(xoff_cc_update_encode(&update, buf, sizeof buf));
    update = (struct xoff_cc_update){.consumed = {[15] = 1 << 20}};
    expect_assert_failure(xoff_cc_update_encode(&update, buf, sizeof buf));
    struct xoff_ctlos ctlos = {.type = 5};
    expect_assert_failure(xoff_ctlos_encode(&ctlos, buf, sizeof buf));
    ctlos = (struct xoff_ctlos){.type = 1, .sequence = 1 << 20};
    expect_assert_failure(xoff_ctlos_encode(&ctlos, buf, sizeof buf));
    ctlos = (struct xoff_ctlos){.type = 0x10, .credit = {{.channel = 32}}};
    expect_assert_failure(xoff_ctlos_encode(&ctlos, buf, sizeof buf));
    ctlos = (struct xoff_ctlos){.type = 0x10, .reserved = 16};
    expect_assert_failure(xoff_ctlos_encode(&ctlos, buf, sizeof buf));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(golden_cc_update),
        cmocka_unit_test(any_cc_update_survives),
        cmocka_unit_test(malformed_cc_updates_are_refused),
        cmocka_unit_test(golden_ordered_sets),
        cmocka_unit_test(any_ordered_set_survives),
        cmocka_unit_test(malformed_ordered_sets_are_refused),
        cmocka_unit_test(values_that_do_not_fit_are_errors_of_the_caller),
    };
    return cmocka_run_group_tests_name("uec", tests, NULL, NULL);
}
