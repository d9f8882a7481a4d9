/* CN-TAG and CNM: golden octets with their layout, round trips, every malformed case. */
#include "wire/codec_testing.h"

#include <xoff/cnm.h>

/* 802.1Qau: behind the addresses and a VLAN tag, as a whole frame's middle. */
static const uint8_t golden[] = {
    0x22, 0xe9, 0x03, 0x04,                         /* CN-TAG of flow 0x0304 */
    0x22, 0xe7,                                     /* CNM */
    0x00, 0x21,                                     /* version 0, ReservedV 0, feedback 33 */
    0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, /* CPID */
    0xff, 0x9c, 0x00, 0x02,                         /* offset -100, delta 2 units */
    0x60, 0x00,                                     /* priority 3 in the upper three bits */
    0x02, 0x00, 0x00, 0x00, 0x00, 0x01,             /* destination of the sampled frame */
    0x00, 0x03, 0x45, 0x00, 0x2a,                   /* three octets of its MSDU */
};
enum { AT_TAG = 2, AT_PDU = 6, AT_LENGTH = AT_PDU + 22, AT_MSDU = AT_PDU + 24 };

static const struct xoff_cnm decoded = {.feedback = 33,
                                        .cp_id = 0x1122334455667788,
                                        .queue_offset = -100,
                                        .queue_delta = 2,
                                        .about_priority = 3,
                                        .about_destination = {2, 0, 0, 0, 0, 1},
                                        .msdu_octets = 3,
                                        .msdu = {0x45, 0x00, 0x2a}};

static void assert_cnm(const struct xoff_cnm *got, const struct xoff_cnm *want)
{
    assert_int_equal(got->reserved, want->reserved);
    assert_int_equal(got->feedback, want->feedback);
    assert_true(got->cp_id == want->cp_id);
    assert_int_equal(got->queue_offset, want->queue_offset);
    assert_int_equal(got->queue_delta, want->queue_delta);
    assert_int_equal(got->about_priority, want->about_priority);
    assert_int_equal(got->about_reserved, want->about_reserved);
    assert_memory_equal(got->about_destination, want->about_destination, 6);
    assert_int_equal(got->msdu_octets, want->msdu_octets);
    assert_memory_equal(got->msdu, want->msdu, sizeof want->msdu);
}

static void golden_frame(void **unused)
{
    (void)unused;
    struct xoff_cn_tag tag;
    struct xoff_cnm cnm;
    struct xoff_err err;
    assert_int_equal(xoff_cn_tag_decode(golden, sizeof golden, AT_TAG, &tag, &err), AT_PDU);
    assert_int_equal(tag.flow, 0x0304);
    assert_int_equal(tag.type, 0x22e7);
    assert_int_equal(xoff_cnm_decode(golden, sizeof golden, AT_PDU, &cnm, &err), sizeof golden);
    assert_cnm(&cnm, &decoded);

    uint8_t buf[sizeof golden + 1];
    memset(buf, 0xee, sizeof buf);
    assert_int_equal(xoff_cn_tag_encode(&tag, buf + AT_TAG, 4), 4);
    assert_int_equal(xoff_cnm_encode(&cnm, buf + AT_PDU, 27), 27);
    assert_memory_equal(buf + AT_TAG, golden + AT_TAG, sizeof golden - AT_TAG);
    assert_int_equal(buf[sizeof golden], 0xee);
    assert_int_equal(xoff_cn_tag_encode(&tag, buf, 3), 0);
    assert_int_equal(xoff_cnm_encode(&cnm, buf, 26), 0);
}

/* Reserved bits are ignored, shown, and written back. */
static void reserved_bits_survive(void **unused)
{
    (void)unused;
    uint8_t octets[sizeof golden], back[sizeof golden];
    struct xoff_cnm cnm;
    struct xoff_err err;
    memcpy(octets, golden, sizeof golden);
    octets[AT_PDU] = 0x0f;
    octets[AT_PDU + 1] = 0xe1; /* 0000 111111 100001: all of ReservedV, then 33 */
    octets[AT_PDU + 14] = 0x7f;
    octets[AT_PDU + 15] = 0xfe; /* 011 1111111111110 */
    assert_int_equal(xoff_cnm_decode(octets, sizeof octets, AT_PDU, &cnm, &err), sizeof octets);
    assert_int_equal(cnm.reserved, 63);
    assert_int_equal(cnm.feedback, 33);
    assert_int_equal(cnm.about_priority, 3);
    assert_int_equal(cnm.about_reserved, 0x1ffe);
    assert_int_equal(xoff_cnm_encode(&cnm, back, sizeof back), sizeof octets - AT_PDU);
    assert_memory_equal(back, octets + AT_PDU, sizeof octets - AT_PDU);
}

static void random_messages_survive(void **unused)
{
    (void)unused;
    struct xoff_rng rng;
    xoff_rng_init(&rng, CODEC_SEED, 1, 0);
    for (int round = 0; round < CODEC_ROUNDS; round++) {
        struct xoff_cnm cnm = {.reserved = (uint8_t)random_bits(&rng, 6),
                               .feedback = (uint8_t)random_bits(&rng, 6),
                               .cp_id = random_bits(&rng, 64),
                               .queue_offset = (int16_t)random_bits(&rng, 16),
                               .queue_delta = (int16_t)random_bits(&rng, 16),
                               .about_priority = (uint8_t)random_bits(&rng, 3),
                               .about_reserved = (uint16_t)random_bits(&rng, 13),
                               .msdu_octets = (uint8_t)xoff_rng_below(&rng, 65)};
        random_octets(&rng, cnm.about_destination, 6);
        random_octets(&rng, cnm.msdu, cnm.msdu_octets);
        uint8_t buf[88], again[88];
        struct xoff_cnm back;
        struct xoff_err err;
        const size_t n = xoff_cnm_encode(&cnm, buf, sizeof buf);
        assert_int_equal(n, 24 + cnm.msdu_octets);
        assert_int_equal(xoff_cnm_decode(buf, n, 0, &back, &err), n);
        assert_cnm(&back, &cnm);
        assert_int_equal(xoff_cnm_encode(&back, again, sizeof again), n);
        assert_memory_equal(again, buf, n);
    }
}

/* Every value of a tag's four octets is valid: all of each half. */
static void every_tag_survives(void **unused)
{
    (void)unused;
    for (unsigned i = 0; i < 65536; i++) {
        const struct xoff_cn_tag tag = {.flow = (uint16_t)i, .type = (uint16_t)(i * 40503u)};
        struct xoff_cn_tag back;
        struct xoff_err err;
        uint8_t buf[4];
        assert_int_equal(xoff_cn_tag_encode(&tag, buf, sizeof buf), 4);
        assert_int_equal(xoff_cn_tag_decode(buf, sizeof buf, 0, &back, &err), 4);
        assert_int_equal(back.flow, tag.flow);
        assert_int_equal(back.type, tag.type);
    }
}

static void versions_but_0_are_refused(void **unused)
{
    (void)unused;
    for (unsigned version = 1; version < 16; version++) {
        uint8_t octets[sizeof golden];
        struct xoff_cnm cnm;
        struct xoff_err err;
        memcpy(octets, golden, sizeof golden);
        octets[AT_PDU] = (uint8_t)(version << 4);
        assert_refused(xoff_cnm_decode(octets, sizeof octets, AT_PDU, &cnm, &err), &err, "version",
                       "octet 6: the upper four bits must be 0");
    }
}

/* 64 octets of MSDU are the most, and must be there. */
static void lengths_that_lie_are_refused(void **unused)
{
    (void)unused;
    uint8_t octets[AT_MSDU + 65] = {0};
    struct xoff_cnm cnm;
    struct xoff_err err;
    memcpy(octets, golden, AT_MSDU);
    octets[AT_LENGTH + 1] = 64;
    assert_int_equal(xoff_cnm_decode(octets, AT_MSDU + 64, AT_PDU, &cnm, &err), AT_MSDU + 64);
    assert_refused(xoff_cnm_decode(octets, AT_MSDU + 63, AT_PDU, &cnm, &err), &err,
                   "encapsulated MSDU", "octet 30: cut off, what contains it ends at octet 93");
    octets[AT_LENGTH + 1] = 65;
    assert_refused(xoff_cnm_decode(octets, AT_MSDU + 65, AT_PDU, &cnm, &err), &err,
                   "encapsulated MSDU length", "octets 28 and 29: must be at most 64");
    octets[AT_LENGTH] = 1;
    octets[AT_LENGTH + 1] = 0;
    assert_refused(xoff_cnm_decode(octets, AT_MSDU + 65, AT_PDU, &cnm, &err), &err,
                   "encapsulated MSDU length", "octets 28 and 29: must be at most 64");
}

static void cut_messages_are_refused(void **unused)
{
    (void)unused;
    for (size_t length = 0; length < sizeof golden; length++) {
        struct xoff_cn_tag tag;
        struct xoff_cnm cnm;
        struct xoff_err err;
        assert_int_equal(xoff_cnm_decode(golden, length, AT_PDU, &cnm, &err), -XOFF_E_SYNTAX);
        if (length < AT_PDU)
            assert_int_equal(xoff_cn_tag_decode(golden, length, AT_TAG, &tag, &err),
                             -XOFF_E_SYNTAX);
    }
    struct xoff_cnm cnm;
    struct xoff_err err;
    assert_refused(xoff_cnm_decode(golden, AT_PDU + 9, AT_PDU, &cnm, &err), &err, "CPID",
                   "octet 8: cut off, what contains it ends at octet 15");
}

static void bytes_become_units(void **unused)
{
    (void)unused;
    assert_int_equal(xoff_cnm_units(6400), -100);
    assert_int_equal(xoff_cnm_units(-130), 2);
    assert_int_equal(xoff_cnm_units(63), 0);
    assert_int_equal(xoff_cnm_units(64), -1);
    assert_int_equal(xoff_cnm_units(-63), 0);
    assert_int_equal(xoff_cnm_units(64 * 32768ll), -32768);
    assert_int_equal(xoff_cnm_units(64 * 32769ll), -32768);
    assert_int_equal(xoff_cnm_units(-64 * 32768ll), 32767);
    assert_int_equal(xoff_cnm_units(INT64_MIN), 32767);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(golden_frame),
        cmocka_unit_test(reserved_bits_survive),
        cmocka_unit_test(random_messages_survive),
        cmocka_unit_test(every_tag_survives),
        cmocka_unit_test(versions_but_0_are_refused),
        cmocka_unit_test(lengths_that_lie_are_refused),
        cmocka_unit_test(cut_messages_are_refused),
        cmocka_unit_test(bytes_become_units),
    };
    return cmocka_run_group_tests_name("cnm", tests, NULL, NULL);
}
