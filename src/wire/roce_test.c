/* BTH, AETH, invariant CRC and HPCC's telemetry: golden octets, round trips, malformed ones. */
#include "wire/codec_testing.h"

#include "wire/ip.h"
#include "wire/roce.h"

/* InfiniBand 9.2: SEND last, migrated, default partition, BECN, QP 7, wants an ACK, PSN 0x020304.
 */
static const uint8_t header[12] = {0x02, 0x40, 0xff, 0xff, 0x40, 0x00,
                                   0x00, 0x07, 0x80, 0x02, 0x03, 0x04};

static void golden_bth(void **unused)
{
    (void)unused;
    struct bth bth;
    struct xoff_err err;
    assert_int_equal(xoff_bth_decode(header, 12, 0, &bth, &err), 12);
    assert_int_equal(bth.opcode, ROCE_SEND_LAST);
    assert_false(bth.is_solicited);
    assert_true(bth.is_migrated);
    assert_int_equal(bth.pad_octets, 0);
    assert_int_equal(bth.partition, 0xffff);
    assert_false(bth.is_fecn);
    assert_true(bth.is_becn);
    assert_int_equal(bth.reserved, 0);
    assert_int_equal(bth.queue_pair, 7);
    assert_true(bth.asks);
    assert_int_equal(bth.reserved_too, 0);
    assert_int_equal(bth.psn, 0x020304);
}

/* 100 Gb/s has code 5; 0x123456 ns, 0xabcde units, 10 units of queue. */
static void golden_telemetry(void **unused)
{
    (void)unused;
    static const uint8_t octets[42] = {0x10, 0x07, 0x51, 0x23, 0x45, 0x6a, 0xbc, 0xde, 0x00, 0x0a};
    struct hpcc_header hpcc;
    struct xoff_err err;
    assert_int_equal(xoff_hpcc_decode(octets, 42, 0, &hpcc, &err), 42);
    assert_int_equal(hpcc.n_hops, 1);
    assert_int_equal(hpcc.path, 7);
    assert_true(xoff_hpcc_rate_of_code(hpcc.hops[0].rate_code) == 100000000000);
    assert_int_equal(hpcc.hops[0].at_ns, 0x123456);
    assert_int_equal(hpcc.hops[0].tx_units, 0xabcde);
    assert_int_equal(hpcc.hops[0].queue_units, 10);
    static const unsigned gbps[] = {1, 10, 25, 40, 50, 100, 200, 400, 800, 1600};
    for (unsigned code = 0; code < 10; code++) {
        assert_true(xoff_hpcc_rate_of_code((uint8_t)code) == gbps[code] * UINT64_C(1000000000));
        assert_int_equal(xoff_hpcc_code_of_rate(xoff_hpcc_rate_of_code((uint8_t)code)), code);
    }
    assert_int_equal(xoff_hpcc_code_of_rate(3), 15);
    assert_true(xoff_hpcc_rate_of_code(10) == 0);
    assert_true(xoff_hpcc_rate_of_code(15) == 0);
}

static void fix_bth(uint8_t *octets)
{
    octets[1] &= 0xf0;
}

static void fix_hpcc(uint8_t *octets)
{
    octets[0] = (uint8_t)((octets[0] >> 4) % 6 << 4 | (octets[0] & 15));
}

static void leave(uint8_t *octets)
{
    (void)octets;
}

static void any_header_survives(void **unused)
{
    (void)unused;
    ASSERT_OCTETS_SURVIVE(struct bth, xoff_bth_decode, xoff_bth_encode, 12, fix_bth);
    ASSERT_OCTETS_SURVIVE(struct aeth, xoff_aeth_decode, xoff_aeth_encode, 4, leave);
    ASSERT_OCTETS_SURVIVE(struct hpcc_header, xoff_hpcc_decode, xoff_hpcc_encode, 42, fix_hpcc);
}

static void malformed_headers_are_refused(void **unused)
{
    (void)unused;
    uint8_t octets[42];
    struct bth bth;
    struct hpcc_header hpcc;
    struct xoff_err err;
    for (unsigned version = 1; version < 16; version++) {
        memcpy(octets, header, 12);
        octets[1] = (uint8_t)(0x40 | version);
        assert_refused(xoff_bth_decode(octets, 12, 0, &bth, &err), &err, "BTH version",
                       "octet 1: the lower four bits must be 0");
    }
    memset(octets, 0, sizeof octets);
    octets[0] = 0x50;
    assert_int_equal(xoff_hpcc_decode(octets, 42, 0, &hpcc, &err), 42);
    octets[0] = 0x60;
    assert_refused(xoff_hpcc_decode(octets, 42, 0, &hpcc, &err), &err, "hops",
                   "octet 0: the upper four bits must be at most 5");
}

/* RC: READ responses 13, 15 and 16, ACK 17, ATOMIC ACK 18. */
static void acknowledgements_have_an_aeth(void **unused)
{
    (void)unused;
    for (unsigned opcode = 0; opcode < 256; opcode++)
        assert_int_equal(xoff_roce_has_aeth((uint8_t)opcode),
                         opcode == 13 || (opcode >= 15 && opcode <= 18));
}

/* The invariant CRC of a frame with and without what may change on the way, with IPv4 options. */
static void invariant_crc(void **unused)
{
    (void)unused;
    static const size_t changing[] = {1, 8, 10, 11, 30, 31, 36};
    static struct crc32 crc32;
    uint8_t frame[60];
    struct xoff_rng rng;
    xoff_crc32_init(&crc32);
    xoff_rng_init(&rng, CODEC_SEED, 0, 0);
    random_octets(&rng, frame, sizeof frame);
    const uint32_t crc = xoff_roce_icrc(&crc32, frame, 4, 4 + 24 + 8, sizeof frame);
    for (size_t at = 0; at < sizeof frame; at++) {
        bool is_free = at < 4;
        for (size_t i = 0; i < sizeof changing / sizeof *changing; i++)
            is_free |= at == 4 + changing[i];
        frame[at] ^= 0x10;
        assert_int_equal(xoff_roce_icrc(&crc32, frame, 4, 4 + 24 + 8, sizeof frame) == crc,
                         is_free);
        frame[at] ^= 0x10;
    }
}

/* The longest header of IPv4: the CRC is that of 8 ones, 60 + 8 + 12 octets with ones in them, and
 * what follows. */
static void invariant_crc_behind_all_options(void **unused)
{
    (void)unused;
    static struct crc32 crc32;
    uint8_t frame[90], masked[8 + 90];
    struct xoff_rng rng;
    xoff_crc32_init(&crc32);
    xoff_rng_init(&rng, CODEC_SEED, 1, 0);
    random_octets(&rng, frame, sizeof frame);
    memset(masked, 0xff, 8);
    memcpy(masked + 8, frame, sizeof frame);
    static const size_t changing[] = {1, 8, 10, 11, 66, 67, 72};
    for (size_t i = 0; i < sizeof changing / sizeof *changing; i++)
        masked[8 + changing[i]] = 0xff;
    assert_int_equal(xoff_roce_icrc(&crc32, frame, 0, 60 + 8, sizeof frame),
                     xoff_crc32_octets(&crc32, CRC32_START, masked, sizeof masked));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(golden_bth),
        cmocka_unit_test(golden_telemetry),
        cmocka_unit_test(any_header_survives),
        cmocka_unit_test(malformed_headers_are_refused),
        cmocka_unit_test(acknowledgements_have_an_aeth),
        cmocka_unit_test(invariant_crc),
        cmocka_unit_test(invariant_crc_behind_all_options),
    };
    return cmocka_run_group_tests_name("roce", tests, NULL, NULL);
}
