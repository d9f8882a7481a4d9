/* Frames as octets: golden headers, lengths that agree with the simulated ones, checksums that sum
 * up, and frames that are cut. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "wire/packet.h"

static struct crc32 crc32;
static uint8_t buf[PACKET_BUFFER_BYTES(16000)];

static int make_tables(void **unused)
{
    (void)unused;
    xoff_crc32_init(&crc32);
    return 0;
}

static uint32_t encode(const struct packet *p)
{
    memset(buf, 0xee, sizeof buf);
    return xoff_packet_encode(p, &crc32, buf);
}

static bool has_good_fcs(uint32_t length)
{
    return xoff_crc32_octets(&crc32, CRC32_START, buf, length) == 0xdebb20e3u;
}

static uint32_t sum_of(const uint8_t *at, uint32_t n, uint32_t sum)
{
    for (uint32_t i = 0; i < n; i++)
        sum += i % 2 ? at[i] : (uint32_t)at[i] << 8;
    while (sum >> 16)
        sum = (sum & 0xffff) + (sum >> 16);
    return sum;
}

/* Flow 5 from host 0 to host 258, priority 3, marked, last of its message, wants an ACK. */
static const struct packet data = {
    .kind = PACKET_DATA,
    .protocol = PACKET_RC,
    .bytes = 62 + 100,
    .payload_bytes = 100,
    .from = 0,
    .to = 258,
    .flow = 5,
    .hash = 0xabcd1234,
    .priority = 3,
    .is_marked = true,
    .is_last = true,
    .asks = true,
    .psn = 0x1020304, /* 24 bits are left */
};

static void data_of_go_back_n(void **unused)
{
    (void)unused;
    static const uint8_t want[] = {
        0x02, 0x00, 0x00, 0x00, 0x01, 0x02, 0x02, 0x00, 0x00, 0x00, 0x00, 0x00, 0x08, 0x00,
        0x45, 0x63, 0x00, 0x90, 0x00, 0x00, 0x40, 0x00, 0x40, 0x11, 0,    0, /* CS3 and CE; 144 */
        10,   0,    0,    1,    10,   0,    1,    3,                         /* addresses */
        0xd2, 0x34, 0x12, 0xb7, 0x00, 0x7c, 0x00, 0x00,                      /* UDP to 4791 */
        0x02, 0x40, 0xff, 0xff, 0x00, 0x00, 0x00, 0x07,                      /* SEND last, QP 7 */
        0x80, 0x02, 0x03, 0x04,                                              /* wants an ACK; PSN */
    };
    assert_int_equal(encode(&data), 162);
    assert_int_equal(sum_of(buf + 14, 20, 0), 0xffff);
    buf[24] = buf[25] = 0;
    assert_memory_equal(buf, want, sizeof want);
    for (uint32_t i = sizeof want; i < sizeof want + 100; i++)
        assert_int_equal(buf[i], 0);
    assert_int_equal(buf[162], 0xee); /* nothing behind it */
}

static void opcodes(void **unused)
{
    (void)unused;
    struct packet p = data;
    p.is_marked = p.asks = false;
    static const uint8_t want[2][2] = {{1, 2}, {0, 4}}; /* [is_first][is_last] */
    for (uint32_t i = 0; i < 8; i++) {
        p.is_first = i & 1;
        p.is_last = i >> 1 & 1;
        p.protocol = i & 4 ? PACKET_UC : PACKET_RC;
        assert_int_equal(encode(&p), 162);
        assert_int_equal(buf[42], want[i & 1][i >> 1 & 1] + (i & 4 ? 0x20 : 0));
        assert_int_equal(buf[15], 0x62); /* ECT(0) */
        assert_int_equal(buf[50], 0);
    }
}

/* RoCEv2's CRC covers the packet with ones for what changes on the way. */
static void invariant_crc_and_fcs(void **unused)
{
    (void)unused;
    const uint32_t length = encode(&data);
    assert_true(has_good_fcs(length));
    uint8_t pseudo[8 + 162];
    const uint32_t n = length - 14 - 8; /* from IPv4 up to the ICRC */
    memset(pseudo, 0xff, 8);
    memcpy(pseudo + 8, buf + 14, n);
    static const uint8_t changes[] = {1, 8, 10, 11, 26, 27, 32}; /* TOS, TTL, checksums, BTH 4 */
    for (uint32_t i = 0; i < sizeof changes; i++)
        pseudo[8 + changes[i]] = 0xff;
    uint8_t icrc[4];
    xoff_crc32_put(xoff_crc32_octets(&crc32, CRC32_START, pseudo, n + 8), icrc);
    assert_memory_equal(buf + length - 8, icrc, 4);
    uint8_t unmarked_icrc[4];
    struct packet p = data;
    p.is_marked = false; /* a switch may mark it without touching the ICRC */
    encode(&p);
    memcpy(unmarked_icrc, buf + length - 8, 4);
    assert_memory_equal(unmarked_icrc, icrc, 4);
    p.has_bad_fcs = true;
    encode(&p);
    assert_false(has_good_fcs(length));
}

static void short_frames_are_padded(void **unused)
{
    (void)unused;
    struct packet p = data;
    p.payload_bytes = 1;
    p.bytes = 64;
    assert_int_equal(encode(&p), 64);
    assert_int_equal(buf[16] << 8 | buf[17], 64 - 18 - 1); /* the padding is not IPv4's */
    assert_int_equal(buf[59], 0);
    assert_true(has_good_fcs(64));
    p.payload_bytes = 2;
    assert_int_equal(encode(&p), 64);
    assert_int_equal(buf[16] << 8 | buf[17], 64 - 18);
}

/* An ACK with AETH and ICRC takes 66 bytes; the simulator's have 64. */
static void acknowledgements(void **unused)
{
    (void)unused;
    struct packet p = data;
    p.kind = PACKET_ACK;
    p.bytes = 64;
    p.payload_bytes = 0;
    assert_int_equal(encode(&p), 66);
    assert_true(has_good_fcs(66));
    assert_int_equal(buf[15], 0x60); /* not ECN-capable */
    assert_int_equal(buf[42], 0x11);
    assert_int_equal(buf[50], 0);
    assert_int_equal(buf[54], 0x1f);
    p.kind = PACKET_NACK;
    assert_int_equal(encode(&p), 66);
    assert_int_equal(buf[54], 0x60);
    p.kind = PACKET_CNP;
    assert_int_equal(encode(&p), 78);
    assert_int_equal(buf[42], 0x81);
    assert_int_equal(buf[46], 0x40); /* BECN */
}

/* Kind, point, feedback, queue offset and delta, rate and flow, in 64 bytes. */
static void notifications(void **unused)
{
    (void)unused;
    struct packet p = data;
    p.kind = PACKET_NOTICE;
    p.bytes = 64;
    p.payload_bytes = 0;
    p.from = 1;
    p.to = 2;
    p.flow = 0x01020304;
    p.notice = (struct packet_notice){.cp_id = 0x1122334455667788,
                                      .rate_bps = 0x99,
                                      .feedback = -2,
                                      .queue_offset_bytes = 0x10203,
                                      .queue_delta_bytes = -1,
                                      .kind = 7};
    assert_int_equal(encode(&p), 64);
    static const uint8_t want[60] = {
        0x02, 0,    0,    0,    0,    2,                               /* to host 2 */
        0x02, 0,    0,    0,    0,    1,                               /* from host 1 */
        0x88, 0xb5, 7,                                                 /* type, kind */
        0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88,                /* point */
        0xff, 0xff, 0xff, 0xfe, 0,    1,    2,    3,                   /* feedback, offset */
        0xff, 0xff, 0xff, 0xff, 0,    0,    0,    0,    0, 0, 0, 0x99, /* delta, rate */
        1,    2,    3,    4};                                          /* flow; then padding */
    assert_memory_equal(buf, want, sizeof want);
    assert_true(has_good_fcs(64));
}

/* Feedback 33, offset 6400 B over the set point, 130 B less than before: -100 and +2 units. Without
 * a tag the flow is 0. No octets of the sampled frame follow. */
static void cnm(void **unused)
{
    (void)unused;
    struct packet p = data;
    p.kind = PACKET_NOTICE;
    p.bytes = 64;
    p.payload_bytes = 0;
    p.from = 1;
    p.to = 2;
    p.flow = 0x01020304;
    p.priority = 7;
    p.is_tagged = true;
    memcpy(p.source_mac, "\x06\0\0\1\0\3", 6);
    p.notice = (struct packet_notice){.cp_id = 0x1122334455667788,
                                      .feedback = -33,
                                      .queue_offset_bytes = 6400,
                                      .queue_delta_bytes = -130,
                                      .kind = 1,
                                      .is_cnm = true,
                                      .about_priority = 3};
    assert_int_equal(encode(&p), 64);
    uint8_t want[60] = {0x02, 0,    0,    0,    0,    2,                /* to host 2 */
                        0x06, 0,    0,    1,    0,    3,                /* from a port */
                        0x81, 0,    0xe0, 0,                            /* priority 7 */
                        0x22, 0xe9, 3,    4,                            /* CN-TAG */
                        0x22, 0xe7, 0,    33,                           /* CNM, feedback */
                        0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, /* CPID */
                        0xff, 0x9c, 0,    2,    0x60, 0,  /* offset, delta, priority 3 */
                        0x02, 0,    0,    0,    0,    1}; /* its destination; then zeros */
    assert_memory_equal(buf, want, sizeof want);
    assert_true(has_good_fcs(64));
    p.is_tagged = false;
    p.notice.feedback = -63;
    p.notice.queue_offset_bytes = INT32_MAX;
    p.notice.queue_delta_bytes = INT32_MIN;
    assert_int_equal(encode(&p), 64);
    static const uint8_t ends[] = {0, 0, 0x22, 0xe7, 0, 63};
    assert_memory_equal(buf + 18, ends, sizeof ends);
    static const uint8_t clipped[] = {0x80, 0, 0x7f, 0xff};
    assert_memory_equal(buf + 32, clipped, sizeof clipped);
}

/* Offset 6400 B over the set point, 130 B less than before: -100 and +2 units. Both 0: stop. */
static void bcn(void **unused)
{
    (void)unused;
    struct packet p = data;
    p.kind = PACKET_NOTICE;
    p.bytes = 64;
    p.payload_bytes = 0;
    p.from = 1;
    p.to = 2;
    p.flow = 0x01020304;
    p.priority = 7;
    memcpy(p.source_mac, "\x06\0\0\1\0\3", 6);
    p.notice = (struct packet_notice){.cp_id = 0x1122334455667788,
                                      .queue_offset_bytes = 6400,
                                      .queue_delta_bytes = -130,
                                      .is_bcn = true};
    assert_int_equal(encode(&p), 64);
    uint8_t want[60] = {0x02, 0,    0,    0,    0,    2,                /* to host 2 */
                        0x06, 0,    0,    1,    0,    3,                /* from a port */
                        0x81, 0,    0xe0, 0,                            /* priority 7 */
                        0x89, 0x04, 0,    0,                            /* BCN, no flag */
                        0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, /* point */
                        0xff, 0x9c, 0,    2,                            /* offset, delta */
                        0x02, 0,    0,    0,    0,    1,                /* its destination */
                        1,    2,    3,    4};                           /* flow; then padding */
    assert_memory_equal(buf, want, sizeof want);
    assert_true(has_good_fcs(64));
    p.notice.queue_delta_bytes = 0;
    encode(&p);
    assert_int_equal(buf[19], 0);
    p.notice.queue_offset_bytes = 0;
    encode(&p);
    assert_int_equal(buf[19], 1);
}

/* A rate-regulation tag moves all behind the addresses by twelve octets. Of a flow that is not
 * limited it names no point. */
static void rate_regulation_tag(void **unused)
{
    (void)unused;
    static uint8_t plain[256];
    struct packet p = data;
    p.protocol = PACKET_UC;
    p.bytes = (uint16_t)(62 + p.payload_bytes);
    const uint32_t length = encode(&p);
    assert_true(length <= sizeof plain);
    memcpy(plain, buf, length);
    p.has_rrt = true;
    p.notice.cp_id = 0x1122334455667788;
    p.bytes = (uint16_t)(p.bytes + 12);
    for (uint32_t limited = 0; limited < 2; limited++) {
        p.is_limited = limited;
        assert_int_equal(encode(&p), length + 12);
        assert_memory_equal(buf, plain, 12);
        static const uint8_t tags[2][12] = {
            {0x89, 0x04, 1, 0}, {0x89, 0x04, 1, 1, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88}};
        assert_memory_equal(buf + 12, tags[limited], 12);
        assert_memory_equal(buf + 24, plain + 12, length - 12 - 4);
        assert_true(has_good_fcs(length + 12));
    }
}

/* A rate tag alone and behind the addresses of data, which it moves by 16 octets. */
static void rate_tag(void **unused)
{
    (void)unused;
    struct packet p = data;
    p.kind = PACKET_PROBE;
    p.bytes = 64;
    p.payload_bytes = 0;
    p.from = 1;
    p.to = 2;
    p.flow = 0x01020304;
    p.rate_tag = (struct packet_rate_tag){
        .is_there = true, .is_back = true, .kind = 2, .rate_bps = 0x1122334455667788};
    assert_int_equal(encode(&p), 64);
    static const uint8_t want[60] = {
        0x02, 0,    0,    0,    0,    2,                /* to host 2 */
        0x02, 0,    0,    0,    0,    1,                /* from host 1 */
        0x88, 0xb6, 1,    2,    1,    2,    3,    4,    /* type, back, kind, flow */
        0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, /* rate; then padding */
    };
    assert_memory_equal(buf, want, sizeof want);
    assert_true(has_good_fcs(64));
    static uint8_t plain[256];
    for (uint32_t tcp = 0; tcp < 2; tcp++) {
        p = data;
        p.protocol = tcp ? PACKET_TCP : PACKET_UC;
        p.flow = 5;
        p.bytes = (uint16_t)((tcp ? 70 : 62) + p.payload_bytes);
        const uint32_t length = encode(&p);
        assert_true(length <= sizeof plain);
        memcpy(plain, buf, length);
        p.rate_tag = (struct packet_rate_tag){.is_there = true, .kind = 2, .rate_bps = UINT64_MAX};
        p.bytes = (uint16_t)(p.bytes + 16);
        assert_int_equal(encode(&p), length + 16);
        assert_memory_equal(buf, plain, 12);
        static const uint8_t tag[] = {0x88, 0xb6, 0,    2,    0,    0,    0,    5,
                                      0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
        assert_memory_equal(buf + 12, tag, sizeof tag);
        assert_memory_equal(buf + 28, plain + 12, length - 12 - 4);
        assert_true(has_good_fcs(length + 16));
    }
}

/* The tag moves everything behind the addresses by four octets, and the FCS covers it. */
static void cn_tag(void **unused)
{
    (void)unused;
    static uint8_t plain[256];
    for (uint32_t tcp = 0; tcp < 2; tcp++) {
        struct packet p = data;
        p.protocol = tcp ? PACKET_TCP : PACKET_UC;
        p.flow = 0x10005;
        p.bytes = (uint16_t)((tcp ? 70 : 62) + p.payload_bytes);
        const uint32_t length = encode(&p);
        assert_true(length <= sizeof plain);
        memcpy(plain, buf, length);
        p.is_tagged = true;
        p.bytes = (uint16_t)(p.bytes + 4);
        assert_int_equal(encode(&p), length + 4);
        assert_memory_equal(buf, plain, 12);
        static const uint8_t tag[] = {0x22, 0xe9, 0, 5};
        assert_memory_equal(buf + 12, tag, sizeof tag);
        assert_memory_equal(buf + 16, plain + 12, length - 12 - 4);
        assert_true(has_good_fcs(length + 4));
    }
}

static void telemetry(void **unused)
{
    (void)unused;
    struct packet p = data;
    p.bytes = 62 + 42 + 100;
    p.has_hops = true;
    p.n_hops = 2;
    p.hops[0] = (struct packet_hop){
        .rate_bps = 100000000000, .at_ns = 0x5123456, .tx_bytes = 0xabcd * 128, .queue_bytes = 800};
    p.hops[1] = (struct packet_hop){.rate_bps = 3, .queue_bytes = UINT32_MAX};
    assert_int_equal(encode(&p), p.bytes);
    static const uint8_t want[18] = {0x20, 0,    0x51, 0x23, 0x45, 0x60, 0xab, 0xcd, 0,
                                     10,   0xf0, 0,    0,    0,    0,    0,    0xff, 0xff};
    assert_memory_equal(buf + 54, want, sizeof want);
    assert_true(has_good_fcs(p.bytes));
}

static uint32_t tcp_sum(uint32_t length)
{
    const uint32_t n = length - 4 - 34;
    return sum_of(buf + 34, n, sum_of(buf + 26, 8, 6 + n));
}

static void tcp(void **unused)
{
    (void)unused;
    struct packet p = data;
    p.protocol = PACKET_TCP;
    p.bytes = 70 + 100;
    p.seq = (1ull << 32) + 9;
    p.stamp = 77;
    p.is_reduced = true;
    p.flow = 5 + (2 << 14);
    assert_int_equal(encode(&p), 170);
    static const uint8_t want[] = {0xc0, 0x05, 0x80, 0x02, 0,    0,    0,   10, 0,
                                   0,    0,    1,    0x80, 0x98, 0xff, 0xff}; /* ACK, PSH, CWR */
    assert_memory_equal(buf + 34, want, sizeof want);
    static const uint8_t options[] = {1, 1, 8, 10, 0, 0, 0, 77, 0, 0, 0, 0};
    assert_memory_equal(buf + 54, options, sizeof options);
    assert_int_equal(tcp_sum(170), 0xffff);
    assert_int_equal(sum_of(buf + 14, 20, 0), 0xffff);
    assert_true(has_good_fcs(170));
}

static void tcp_ack_with_blocks(void **unused)
{
    (void)unused;
    struct packet p = {.kind = PACKET_ACK,
                       .protocol = PACKET_TCP,
                       .bytes = 70 + 4 + 24,
                       .from = 258,
                       .flow = 5,
                       .seq = 1000,
                       .stamp = 77,
                       .is_marked = true,
                       .n_sacks = 3,
                       .sack_from = {2000, 4000, 6000},
                       .sack_to = {3000, 5000, 7000}};
    assert_int_equal(encode(&p), p.bytes);
    static const uint8_t want[] = {
        0x80, 0, 0xc0, 0x05, 0,    0,    0,    1,
        0,    0, 0x03, 0xe9, 0xf0, 0x50, 0xff, 0xff}; /* 60 octets; ACK, ECE */
    assert_memory_equal(buf + 34, want, sizeof want);
    static const uint8_t options[] = {1, 1, 8, 10, 0, 0, 0,    0,    0, 0, 0,    77,
                                      1, 1, 5, 26, 0, 0, 0x07, 0xd1, 0, 0, 0x0b, 0xb9};
    assert_memory_equal(buf + 54, options, sizeof options);
    assert_int_equal(tcp_sum(p.bytes), 0xffff);
}

static void pauses(void **unused)
{
    (void)unused;
    struct packet p = {.kind = PACKET_PAUSE,
                       .bytes = 64,
                       .pause = {.opcode = XOFF_OPCODE_PFC, .classes = 8, .quanta = {[3] = 9}}};
    xoff_packet_switch_mac(3, 17, p.source_mac);
    assert_int_equal(encode(&p), 64);
    struct xoff_pause_frame back;
    struct xoff_err err;
    assert_int_equal(xoff_pause_frame_decode(buf, 64, &back, &err), 0);
    assert_int_equal(back.classes, 8);
    assert_int_equal(back.quanta[3], 9);
    static const uint8_t mac[6] = {0x06, 0, 0, 0, 0x30, 0x11};
    assert_memory_equal(buf + 6, mac, 6);
    assert_true(has_good_fcs(64));
    p.bytes = 43; /* as the ns-3 RDMA family counts it */
    assert_int_equal(encode(&p), 64);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(data_of_go_back_n),
        cmocka_unit_test(opcodes),
        cmocka_unit_test(invariant_crc_and_fcs),
        cmocka_unit_test(short_frames_are_padded),
        cmocka_unit_test(acknowledgements),
        cmocka_unit_test(notifications),
        cmocka_unit_test(cnm),
        cmocka_unit_test(cn_tag),
        cmocka_unit_test(bcn),
        cmocka_unit_test(rate_regulation_tag),
        cmocka_unit_test(rate_tag),
        cmocka_unit_test(telemetry),
        cmocka_unit_test(tcp),
        cmocka_unit_test(tcp_ack_with_blocks),
        cmocka_unit_test(pauses),
    };
    return cmocka_run_group_tests(tests, make_tables, NULL);
}
