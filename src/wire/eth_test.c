/* Ethernet headers: golden octets with their layout, round trips, every malformed case. */
#include "wire/codec_testing.h"

#include <xoff/eth.h>

/* 802.3 3.2, untagged. */
static const uint8_t plain[14] = {
    0x01, 0x80, 0xc2, 0x00, 0x00, 0x0e, /* destination */
    0x00, 0x1b, 0x21, 0xaa, 0xbb, 0xcc, /* source */
    0x88, 0xcc,                         /* EtherType */
};

/* 802.1Q 9.6: priority 5 in bits 15 to 13, DEI in bit 12, VID 0x123 below: 1011 0001 0010 0011. */
static const uint8_t tagged[18] = {
    0x02, 0x00, 0x00, 0x00, 0x00, 0x01, 0x02, 0x00, 0x00, 0x00, 0x00, 0x02, /* addresses */
    0x81, 0x00, 0xb1, 0x23, 0x08, 0x00,                                     /* C-TAG, IPv4 */
};

/* The tag that a Nexus 5000 puts before LLDP, priority 7 and VID 9, behind an S-TAG. */
static const uint8_t twice[22] = {
    0x01, 0x80, 0xc2, 0x00, 0x00, 0x0e, 0x00, 0x05, 0x73, 0x01, 0x02, 0x03, /* addresses */
    0x88, 0xa8, 0x00, 0x64,                                                 /* S-TAG 100 */
    0x81, 0x00, 0xe0, 0x09, 0x88, 0xcc,                                     /* C-TAG 9, LLDP */
};

static void assert_eth(const struct xoff_eth *got, const struct xoff_eth *want)
{
    assert_memory_equal(got->destination, want->destination, 6);
    assert_memory_equal(got->source, want->source, 6);
    assert_int_equal(got->type, want->type);
    assert_int_equal(got->n_tags, want->n_tags);
    for (int i = 0; i < want->n_tags; i++) {
        assert_int_equal(got->tags[i].type, want->tags[i].type);
        assert_int_equal(got->tags[i].priority, want->tags[i].priority);
        assert_int_equal(got->tags[i].drop_eligible, want->tags[i].drop_eligible);
        assert_int_equal(got->tags[i].vlan, want->tags[i].vlan);
    }
}

static void check_golden(const uint8_t *octets, size_t n, struct xoff_eth want)
{
    struct xoff_eth eth;
    struct xoff_err err;
    uint8_t buf[32];
    memcpy(want.destination, octets, 6);
    memcpy(want.source, octets + 6, 6);
    memset(buf, 0xee, sizeof buf);
    assert_int_equal(xoff_eth_decode(octets, n, &eth, &err), n);
    assert_eth(&eth, &want);
    assert_int_equal(xoff_eth_encode(&eth, buf, n - 1), 0);
    assert_int_equal(xoff_eth_encode(&eth, buf, n), n);
    assert_memory_equal(buf, octets, n);
    assert_int_equal(buf[n], 0xee);
}

static void golden_headers(void **unused)
{
    (void)unused;
    check_golden(plain, sizeof plain, (struct xoff_eth){.type = 0x88cc});
    check_golden(
        tagged, sizeof tagged,
        (struct xoff_eth){
            .n_tags = 1,
            .tags = {{.type = 0x8100, .priority = 5, .drop_eligible = true, .vlan = 0x123}},
            .type = 0x0800});
    check_golden(twice, sizeof twice,
                 (struct xoff_eth){.n_tags = 2,
                                   .tags = {{.type = 0x88a8, .vlan = 100},
                                            {.type = 0x8100, .priority = 7, .vlan = 9}},
                                   .type = 0x88cc});
}

/* All 65536 values of a tag's control field come back as they were. */
static void every_tag_survives(void **unused)
{
    (void)unused;
    uint8_t octets[18], back[18];
    memcpy(octets, tagged, sizeof octets);
    for (unsigned control = 0; control < 65536; control++) {
        struct xoff_eth eth;
        struct xoff_err err;
        octets[14] = (uint8_t)(control >> 8);
        octets[15] = (uint8_t)control;
        assert_int_equal(xoff_eth_decode(octets, sizeof octets, &eth, &err), 18);
        assert_int_equal(xoff_eth_encode(&eth, back, sizeof back), 18);
        assert_memory_equal(back, octets, sizeof octets);
    }
}

static void random_headers_survive(void **unused)
{
    (void)unused;
    struct xoff_rng rng;
    xoff_rng_init(&rng, CODEC_SEED, 0, 0);
    for (int round = 0; round < CODEC_ROUNDS; round++) {
        struct xoff_eth eth, back;
        struct xoff_err err;
        uint8_t buf[22];
        random_octets(&rng, eth.destination, 6);
        random_octets(&rng, eth.source, 6);
        eth.n_tags = (uint8_t)xoff_rng_below(&rng, 3);
        for (int i = 0; i < eth.n_tags; i++)
            eth.tags[i] = (struct xoff_vlan_tag){.type = random_bits(&rng, 1) ? 0x8100 : 0x88a8,
                                                 .priority = (uint8_t)random_bits(&rng, 3),
                                                 .drop_eligible = random_bits(&rng, 1),
                                                 .vlan = (uint16_t)random_bits(&rng, 12)};
        do
            eth.type = (uint16_t)random_bits(&rng, 16);
        while (eth.type == 0x8100 || eth.type == 0x88a8 || (eth.type > 1500 && eth.type < 1536));
        const size_t n = xoff_eth_encode(&eth, buf, sizeof buf);
        assert_int_equal(n, 14 + 4 * eth.n_tags);
        assert_int_equal(xoff_eth_decode(buf, n, &back, &err), n);
        assert_eth(&back, &eth);
    }
}

/* A header of 22 octets in frames of 0 to 21. */
static void cut_headers_are_refused(void **unused)
{
    (void)unused;
    static const struct {
        size_t from;
        const char *field;
    } fields[] = {{20, "EtherType"}, {18, "VLAN tag"}, {16, "EtherType"}, {14, "VLAN tag"},
                  {12, "EtherType"}, {6, "source"},    {0, "destination"}};
    for (size_t length = 0; length < sizeof twice; length++) {
        struct xoff_eth eth;
        struct xoff_err err;
        char message[80];
        size_t i = 0;
        while (fields[i].from > length)
            i++;
        snprintf(message, sizeof message, "octet %zu: cut off, what contains it ends at octet %zu",
                 fields[i].from, length);
        assert_refused(xoff_eth_decode(twice, length, &eth, &err), &err, fields[i].field, message);
    }
}

static void a_third_tag_is_refused(void **unused)
{
    (void)unused;
    uint8_t octets[26];
    struct xoff_eth eth;
    struct xoff_err err;
    memcpy(octets, twice, sizeof twice);
    memcpy(octets + 20, "\x81\x00\x00\x01\x08\x00", 6);
    assert_refused(xoff_eth_decode(octets, sizeof octets, &eth, &err), &err, "EtherType",
                   "octets 20 and 21: a third VLAN tag; a frame has two at most");
    assert_string_equal(err.value, "81-00");
}

/* 1500 is a length and 1536 a type; nothing between them means anything. */
static void types_and_lengths(void **unused)
{
    (void)unused;
    uint8_t octets[14];
    memcpy(octets, plain, sizeof octets);
    for (unsigned type = 1499; type <= 1537; type++) {
        struct xoff_eth eth;
        struct xoff_err err;
        octets[12] = (uint8_t)(type >> 8);
        octets[13] = (uint8_t)type;
        const int answer = xoff_eth_decode(octets, sizeof octets, &eth, &err);
        if (type <= 1500 || type >= 1536)
            assert_int_equal(answer, 14);
        else
            assert_refused(answer, &err, "EtherType",
                           "octets 12 and 13: must be a length up to 05-dc or an EtherType from "
                           "06-00 on");
    }
}

static void short_frames_are_padded(void **unused)
{
    (void)unused;
    uint8_t buf[61];
    memset(buf, 0xee, sizeof buf);
    assert_int_equal(xoff_eth_pad(buf, 58), 60);
    assert_int_equal(buf[57], 0xee);
    assert_int_equal(buf[58], 0);
    assert_int_equal(buf[59], 0);
    assert_int_equal(buf[60], 0xee);
    assert_int_equal(xoff_eth_pad(buf, 60), 60);
    assert_int_equal(xoff_eth_pad(buf, 61), 61);
    assert_int_equal(buf[60], 0xee);
}

static void values_that_do_not_fit_are_errors_of_the_caller(void **unused)
{
    (void)unused;
    uint8_t buf[32];
    struct xoff_eth eth = {.n_tags = 1, .tags = {{.type = 0x8100, .priority = 8}}};
    expect_assert_failure(xoff_eth_encode(&eth, buf, sizeof buf));
    eth.tags[0] = (struct xoff_vlan_tag){.type = 0x8100, .vlan = 4096};
    expect_assert_failure(xoff_eth_encode(&eth, buf, sizeof buf));
    eth.tags[0] = (struct xoff_vlan_tag){.type = 0x8101};
    expect_assert_failure(xoff_eth_encode(&eth, buf, sizeof buf));
    eth = (struct xoff_eth){.n_tags = 3};
    expect_assert_failure(xoff_eth_encode(&eth, buf, sizeof buf));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(golden_headers),
        cmocka_unit_test(every_tag_survives),
        cmocka_unit_test(random_headers_survive),
        cmocka_unit_test(cut_headers_are_refused),
        cmocka_unit_test(a_third_tag_is_refused),
        cmocka_unit_test(types_and_lengths),
        cmocka_unit_test(short_frames_are_padded),
        cmocka_unit_test(values_that_do_not_fit_are_errors_of_the_caller),
    };
    return cmocka_run_group_tests_name("eth", tests, NULL, NULL);
}
