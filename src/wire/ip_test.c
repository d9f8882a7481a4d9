/* IPv4, UDP and TCP: golden octets with their layout, round trips, every malformed case. */
#include "wire/codec_testing.h"

#include "wire/ip.h"

/* RFC 791 3.1. The checksum is worked out by hand: 4563 + 0090 + 0000 + 4000 + 4011 + 0a00 + 0001 +
 * 0a00 + 0103 = db08, and its complement is 24f7. */
static const uint8_t packet[20] = {
    0x45, 0x63, 0x00, 0x90, /* version 4, 5 words; CS3 and CE; 144 octets */
    0x00, 0x00, 0x40, 0x00, /* identification; do not fragment */
    0x40, 0x11, 0x24, 0xf7, /* TTL 64, UDP, checksum */
    10,   0,    0,    1,    10, 0, 1, 3,
};

static void golden_ipv4(void **unused)
{
    (void)unused;
    struct ipv4 ip;
    struct xoff_err err;
    assert_int_equal(xoff_ipv4_decode(packet, 20, 0, &ip, &err), 20);
    assert_int_equal(ip.dscp, 24);
    assert_int_equal(ip.ecn, IP_CE);
    assert_int_equal(ip.length, 144);
    assert_int_equal(ip.identification, 0);
    assert_int_equal(ip.bits, IPV4_DO_NOT_FRAGMENT);
    assert_int_equal(ip.fragment_unit, 0);
    assert_int_equal(ip.ttl, 64);
    assert_int_equal(ip.protocol, 17);
    assert_int_equal(ip.source, 0x0a000001);
    assert_int_equal(ip.destination, 0x0a000103);
    assert_int_equal(ip.option_octets, 0);
}

static void fix_ipv4(uint8_t *octets)
{
    octets[0] = 0x45;
    octets[2] |= 0x80;
}

static void fix_long_ipv4(uint8_t *octets)
{
    octets[0] = 0x4f;
    octets[2] |= 0x80;
}

static void fix_udp(uint8_t *octets)
{
    octets[4] |= 1;
}

static void fix_tcp(uint8_t *octets)
{
    octets[12] = (uint8_t)(0x50 | (octets[12] & 15));
}

static void fix_long_tcp(uint8_t *octets)
{
    octets[12] = (uint8_t)(0xf0 | (octets[12] & 15));
}

static void any_header_survives(void **unused)
{
    (void)unused;
    ASSERT_OCTETS_SURVIVE(struct ipv4, xoff_ipv4_decode, xoff_ipv4_encode, 20, fix_ipv4);
    ASSERT_OCTETS_SURVIVE(struct ipv4, xoff_ipv4_decode, xoff_ipv4_encode, 60, fix_long_ipv4);
    ASSERT_OCTETS_SURVIVE(struct udp, xoff_udp_decode, xoff_udp_encode, 8, fix_udp);
    ASSERT_OCTETS_SURVIVE(struct tcp, xoff_tcp_decode, xoff_tcp_encode, 20, fix_tcp);
    ASSERT_OCTETS_SURVIVE(struct tcp, xoff_tcp_decode, xoff_tcp_encode, 60, fix_long_tcp);
}

static void malformed_headers_are_refused(void **unused)
{
    (void)unused;
    uint8_t octets[24] = {0};
    struct ipv4 ip;
    struct udp udp;
    struct tcp tcp;
    struct xoff_err err;
    memcpy(octets, packet, 20);
    octets[0] = 0x65;
    assert_refused(xoff_ipv4_decode(octets, 24, 0, &ip, &err), &err, "version",
                   "octet 0: the upper four bits must be 4");
    octets[0] = 0x44;
    assert_refused(xoff_ipv4_decode(octets, 24, 0, &ip, &err), &err, "header length",
                   "octet 0: the lower four bits must be 5 at least");
    octets[0] = 0x46; /* 24 octets */
    octets[3] = 24;
    assert_int_equal(xoff_ipv4_decode(octets, 24, 0, &ip, &err), 24);
    assert_refused(xoff_ipv4_decode(octets, 23, 0, &ip, &err), &err, "options",
                   "octet 20: cut off, what contains it ends at octet 23");
    octets[3] = 23;
    assert_refused(xoff_ipv4_decode(octets, 24, 0, &ip, &err), &err, "total length",
                   "octets 2 and 3: less than the header's own");
    octets[4] = 0;
    octets[5] = 8;
    assert_int_equal(xoff_udp_decode(octets, 24, 0, &udp, &err), 8);
    octets[5] = 7;
    assert_refused(xoff_udp_decode(octets, 24, 0, &udp, &err), &err, "UDP length",
                   "octets 4 and 5: must be 8 at least");
    octets[12] = 0x4f;
    assert_refused(xoff_tcp_decode(octets, 24, 0, &tcp, &err), &err, "data offset",
                   "octet 12: the upper four bits must be 5 at least");
    octets[12] = 0x70;
    assert_refused(xoff_tcp_decode(octets, 24, 0, &tcp, &err), &err, "options",
                   "octet 20: cut off, what contains it ends at octet 24");
}

/* RFC 1071: 0001 + f203 + f4f5 + f6f7 = 2ddf0, folded ddf2. An odd octet counts as its upper half.
 */
static void sums(void **unused)
{
    (void)unused;
    static const uint8_t octets[] = {0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7};
    assert_int_equal(xoff_ip_sum(octets, 8, 0), 0xddf2);
    assert_int_equal(xoff_ip_checksum(0x2ddf0), 0x220d);
    assert_int_equal(xoff_ip_sum(octets, 3, 0), 0xf201);
    assert_int_equal(xoff_ip_checksum(xoff_ip_sum(packet, 20, 0)), 0);
    const struct ipv4 ip = {.source = 0x0a000001, .destination = 0x0a000103, .protocol = 6};
    assert_int_equal(xoff_ip_pseudo_sum(&ip, 32), 0x0a00 + 1 + 0x0a00 + 0x103 + 6 + 32);
}

/* RFC 7323 appendix A and RFC 2018: fillers, kind 8 of 10 octets, kind 5 of 2 + 8 n. */
static void options(void **unused)
{
    (void)unused;
    const struct tcp_options some = {.has_stamps = true,
                                     .stamp = 77,
                                     .echoed_stamp = 5,
                                     .n_sacks = 1,
                                     .sack_from = {2001},
                                     .sack_to = {3001}};
    static const uint8_t want[] = {1, 1, 8, 10, 0, 0, 0,    77,   0, 0, 0,    5,
                                   1, 1, 5, 10, 0, 0, 0x07, 0xd1, 0, 0, 0x0b, 0xb9};
    struct tcp tcp = {0};
    struct tcp_options back;
    xoff_tcp_set_options(&tcp, &some);
    assert_int_equal(tcp.option_octets, sizeof want);
    assert_memory_equal(tcp.options, want, sizeof want);
    assert_true(xoff_tcp_get_options(&tcp, &back));
    assert_true(back.has_stamps);
    assert_int_equal(back.stamp, 77);
    assert_int_equal(back.echoed_stamp, 5);
    assert_int_equal(back.n_sacks, 1);
    assert_int_equal(back.sack_from[0], 2001);
    assert_int_equal(back.sack_to[0], 3001);
}

static bool reads(const char *octets, uint8_t n, struct tcp_options *found)
{
    struct tcp tcp = {.option_octets = n};
    memcpy(tcp.options, octets, n);
    return xoff_tcp_get_options(&tcp, found);
}

static void options_that_lie(void **unused)
{
    (void)unused;
    struct tcp_options found;
    assert_true(reads("\x02\x04\x05\xb4\x04\x02\x01\x03\x03\x07\x00\x08", 12, &found));
    assert_false(found.has_stamps);                     /* behind the end of the list */
    assert_false(reads("\x08\x00\x01\x01", 4, &found)); /* would stand still */
    assert_false(reads("\x08\x01\x01\x01", 4, &found));
    assert_false(reads("\x03\x05\x01\x01", 4, &found)); /* one octet too many */
    assert_true(reads("\x03\x04\x01\x01", 4, &found));
    assert_false(reads("\x01\x01\x01\x08", 4, &found));         /* no length */
    assert_false(reads("\x08\x06\1\2\3\4\x01\x01", 8, &found)); /* half of the stamps */
    assert_false(reads("\x05\x06\1\2\3\4\x01\x01", 8, &found)); /* half a block */
    assert_true(reads("\x05\x0a\1\2\3\4\5\6\7\x08\x01\x01", 12, &found));
    assert_int_equal(found.n_sacks, 1);
    assert_int_equal(found.sack_to[0], 0x05060708);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(golden_ipv4),
        cmocka_unit_test(any_header_survives),
        cmocka_unit_test(malformed_headers_are_refused),
        cmocka_unit_test(sums),
        cmocka_unit_test(options),
        cmocka_unit_test(options_that_lie),
    };
    return cmocka_run_group_tests_name("ip", tests, NULL, NULL);
}
