/* Frames as chains of headers: what a golden frame decodes to, encode(decode(frame)) = frame, lies
 * of every length, nested tags, frames that the capture cut. */
#include "wire/codec_testing.h"

#include "wire/layers.h"

static struct crc32 crc32;
static uint8_t buf[LAYERS_MORE_OCTETS + 16384];
static struct layers layers;
static struct xoff_err err;

static int make_tables(void **unused)
{
    (void)unused;
    xoff_crc32_init(&crc32);
    return 0;
}

static int decode(const uint8_t *octets, uint32_t n)
{
    const struct layers_in in = {.octets = octets, .captured = n, .original = n, .crc32 = &crc32};
    memset(&err, 0, sizeof err);
    return xoff_layers_decode(&in, &layers, &err);
}

/* What was decoded last is encoded to the same octets. */
static void assert_written_back(const uint8_t *octets, uint32_t n)
{
    const struct layers_out out = {.payload = octets + layers.payload_at,
                                   .payload_octets = layers.payload_end - layers.payload_at,
                                   .least_octets = n};
    memset(buf, 0xee, n);
    assert_int_equal(xoff_layers_encode(&layers, &out, &crc32, buf), n);
    assert_memory_equal(buf, octets, n);
}

static int decode_hex(const char *hex)
{
    static uint8_t octets[2048];
    uint32_t digits = 0;
    for (; *hex; hex++) {
        if (*hex == ' ')
            continue;
        const unsigned digit = (unsigned)(*hex <= '9' ? *hex - '0' : *hex - 'a' + 10);
        octets[digits / 2] = (uint8_t)(digits % 2 ? octets[digits / 2] | digit : digit << 4);
        digits++;
    }
    const int answer = decode(octets, digits / 2);
    if (!answer)
        assert_written_back(octets, digits / 2);
    return answer;
}

static void assert_kinds(const char *want)
{
    char got[128] = "";
    for (uint32_t i = 0; i < layers.n; i++) {
        strcat(got, i ? " " : "");
        strcat(got, xoff_layer_name(layers.layer[i].kind));
    }
    assert_string_equal(got, want);
}

#define ADDRESSES "0180c2000001 020000000001 "
#define ZEROS_26 "0000000000000000000000000000000000000000000000000000"

static void mac_control(void **unused)
{
    (void)unused;
    assert_int_equal(
        decode_hex(ADDRESSES "8808 0101 0088 0000 0000 0000 ffff 0000 0000 0000 0000 " ZEROS_26),
        0);
    assert_kinds("eth pfc");
    assert_int_equal(layers.layer[1].pause.quanta[3], 0xffff);
    assert_int_equal(layers.layer[1].at, 14);
    assert_int_equal(layers.payload_at, 60);
    assert_int_equal(layers.payload_end, 60);
    assert_int_equal(
        decode_hex(ADDRESSES "8808 0001 0007 " ZEROS_26 "00000000000000000000000000000000"), 0);
    assert_kinds("eth pause");
    assert_int_equal(decode_hex(ADDRESSES
                                "8808 fffe fa7acb 01 00001 00002 00003 00004 00005 00006 "
                                "00007 00008 00009 0000a 0000b 0000c 0000d 0000e 0000f fffff"),
                     0);
    assert_kinds("eth cc-update");
    assert_int_equal(layers.layer[1].cc_update.consumed[15], 0xfffff);
    /* Another company's extension, an opcode of EPON, an unknown one: named, not refused. */
    assert_int_equal(decode_hex(ADDRESSES "8808 fffe 0080c2 01 " ZEROS_26), 0);
    assert_kinds("eth mac-control");
    assert_int_equal(layers.layer[1].mac_control.company, 0x0080c2);
    assert_int_equal(decode_hex(ADDRESSES "8808 0002 " ZEROS_26), 0);
    assert_int_equal(layers.layer[1].mac_control.opcode, 2);
    assert_int_equal(decode_hex(ADDRESSES "8808 1234 " ZEROS_26), 0);
    assert_int_equal(layers.layer[1].mac_control.opcode, 0x1234);
    assert_int_equal(layers.layer[1].mac_control.company, 0);
    assert_refused(decode_hex(ADDRESSES "8808 01"), &err, "opcode",
                   "octet 14: cut off, what contains it ends at octet 15");
    /* A tagged pause frame pauses nobody: 802.3 31B has no room for a tag. */
    assert_refused(decode_hex(ADDRESSES "8100 6000 8808 0001 0007 " ZEROS_26 ZEROS_26), &err,
                   "EtherType", "octets 12 and 13: must be 88-08, MAC Control");
}

static void congestion_messages(void **unused)
{
    (void)unused;
    assert_int_equal(decode_hex(ADDRESSES
                                "8100 e000 22e9 0304 22e7 0021 1122334455667788 ff9c 0002 "
                                "6000 020000000001 0000"),
                     0);
    assert_kinds("eth cn-tag cnm");
    assert_int_equal(layers.layer[0].eth.tags[0].priority, 7);
    assert_int_equal(layers.layer[1].cn_tag.flow, 0x0304);
    assert_int_equal(layers.layer[2].cnm.feedback, 33);
    assert_int_equal(decode_hex(ADDRESSES "8100 e000 8904 00 01 1122334455667788 ff9c 0002 "
                                          "020000000001 01020304"),
                     0);
    assert_kinds("eth bcn");
    assert_int_equal(decode_hex(ADDRESSES "88b5 07 1122334455667788 fffffffe 00010203 ffffffff "
                                          "0000000000000099 01020304"),
                     0);
    assert_kinds("eth notice");
    /* A probe of its own: a length of 0 follows the tag, and what follows that is padding. */
    assert_int_equal(decode_hex(ADDRESSES "88b6 01 02 01020304 1122334455667788 0000 " ZEROS_26),
                     0);
    assert_kinds("eth rate-tag");
    assert_int_equal(layers.payload_at, 30);
    assert_int_equal(layers.payload_end, 30);
}

static void tags_come_once_and_behind_vlans(void **unused)
{
    (void)unused;
    assert_int_equal(decode_hex(ADDRESSES
                                "88b6 00 02 00000001 1122334455667788 22e9 0005 8904 01 01 "
                                "1122334455667788 88cc 0000"),
                     0);
    assert_kinds("eth rate-tag cn-tag rrt lldp");
    assert_refused(decode_hex(ADDRESSES "22e9 0005 22e9 0006 0800"), &err, "EtherType",
                   "octets 16 and 17: a second CN-TAG");
    assert_refused(decode_hex(ADDRESSES "88b6 00 02 00000001 1122334455667788 88b6 00 02"), &err,
                   "EtherType", "octets 28 and 29: a second rate tag");
    assert_refused(decode_hex(ADDRESSES "8904 01 01 1122334455667788 8904 01 01"), &err,
                   "EtherType", "octets 24 and 25: a second rate-regulation tag");
    assert_refused(decode_hex(ADDRESSES "22e9 0005 8100 e000 0800"), &err, "EtherType",
                   "octets 16 and 17: a VLAN tag behind another tag; it must stand before");
    assert_refused(decode_hex(ADDRESSES "8904 02"), &err, "flags",
                   "octet 15: cut off, what contains it ends at octet 15");
}

static void lengths_of_802_3(void **unused)
{
    (void)unused;
    assert_int_equal(decode_hex(ADDRESSES "0003 424203 0000"), 0);
    assert_kinds("eth");
    assert_int_equal(layers.payload_end - layers.payload_at, 3);
    assert_int_equal(decode_hex(ADDRESSES "0003 424203"), 0);
    assert_refused(decode_hex(ADDRESSES "0004 424203"), &err, "length",
                   "octets 12 and 13: more than the frame has");
    static uint8_t long_frame[14 + 1500] = {[12] = 0x05, [13] = 0xdc};
    assert_int_equal(decode(long_frame, sizeof long_frame), 0); /* 1500 is a length still */
    assert_refused(decode(long_frame, sizeof long_frame - 1), &err, "length",
                   "octets 12 and 13: more than the frame has");
    assert_int_equal(decode_hex(ADDRESSES "86dd 60"), 0); /* a type without a codec */
    assert_kinds("eth");
    assert_int_equal(layers.payload_at, 14);
}

/* A frame of RoCE: headers of 14, 20, 8 and 12 octets, 6 of payload, ICRC. */
static uint32_t make_roce(uint8_t opcode)
{
    static const uint8_t payload[] = "hello";
    layers.n = layers.kinds = 0;
    xoff_layers_add(&layers, LAYER_ETH);
    xoff_layers_add(&layers, LAYER_IPV4)->ipv4 =
        (struct ipv4){.ttl = 1, .protocol = 17, .source = 1, .destination = 2};
    xoff_layers_add(&layers, LAYER_UDP)->udp = (struct udp){.source = 7, .destination = 4791};
    xoff_layers_add(&layers, LAYER_ROCE)->roce = (struct bth){.opcode = opcode, .psn = 5};
    const struct layers_out out = {.payload = payload, .payload_octets = sizeof payload};
    const uint32_t n = xoff_layers_encode(&layers, &out, &crc32, buf);
    assert_int_equal(n, 14 + 20 + 8 + 12 + 6 + 4);
    return n;
}

static void roce_is_checked(void **unused)
{
    (void)unused;
    const uint32_t n = make_roce(ROCE_SEND_ONLY);
    assert_int_equal(decode(buf, n), 0);
    assert_kinds("eth ipv4 udp roce");
    assert_int_equal(layers.payload_at, 54);
    assert_int_equal(layers.payload_end, 60);
    assert_int_equal(layers.layer[1].ipv4.length, n - 14);
    assert_int_equal(layers.layer[2].udp.length, n - 34);
    assert_int_equal(layers.icrc, CHECK_GOOD);
    assert_int_equal(layers.ip_checksum, CHECK_GOOD);
    buf[59] ^= 1;
    assert_int_equal(decode(buf, n), 0);
    assert_int_equal(layers.icrc, CHECK_BAD);
    buf[59] ^= 1;
    buf[22] ^= 1; /* TTL: the ICRC does not cover it, the checksum does */
    assert_int_equal(decode(buf, n), 0);
    assert_int_equal(layers.icrc, CHECK_GOOD);
    assert_int_equal(layers.ip_checksum, CHECK_BAD);
    const struct layers_in in = {.octets = buf, .captured = n, .original = n};
    assert_int_equal(xoff_layers_decode(&in, &layers, &err), 0);
    assert_int_equal(layers.icrc, CHECK_ABSENT);
}

/* IPv4 has 50 octets and UDP 30; each end is right, one octet more is a lie. */
static void lengths_that_lie(void **unused)
{
    (void)unused;
    const uint32_t n = make_roce(ROCE_SEND_ONLY);
    buf[17] = 51;
    assert_refused(decode(buf, n), &err, "total length",
                   "octets 16 and 17: more than the frame has");
    assert_int_equal(layers.n, 2);
    assert_int_equal(decode(buf, n + 1), 0);
    buf[17] = 50;
    buf[39] = 31;
    assert_refused(decode(buf, n), &err, "UDP length",
                   "octets 38 and 39: more than the packet has");
    assert_int_equal(layers.n, 3);
    buf[39] = 8 + 12 + 4;
    assert_int_equal(decode(buf, n), 0); /* no payload */
    assert_int_equal(layers.payload_at, layers.payload_end);
    buf[39] = 8 + 12 + 3;
    assert_refused(decode(buf, n), &err, "PSN",
                   "octet 51: cut off, what contains it ends at octet 53");
    buf[39] = 8 + 3; /* not even an ICRC */
    assert_refused(decode(buf, n), &err, "BTH opcode",
                   "octet 42: cut off, what contains it ends at octet 42");
}

static void acknowledgements_and_cnps(void **unused)
{
    (void)unused;
    assert_int_equal(decode(buf, make_roce(ROCE_ACKNOWLEDGE)), 0);
    assert_kinds("eth ipv4 udp roce aeth");
    assert_int_equal(layers.layer[4].aeth.syndrome, 'h');
    assert_int_equal(layers.payload_at, 58);
    assert_refused(decode(buf, make_roce(ROCE_CNP)), &err, "reserved octets of a CNP",
                   "octet 54: cut off, what contains it ends at octet 60");
    xoff_layers_add(&layers, LAYER_CNP);
    const uint32_t n = xoff_layers_encode(&layers, &(struct layers_out){0}, &crc32, buf);
    assert_int_equal(decode(buf, n), 0);
    assert_kinds("eth ipv4 udp roce cnp");
    assert_int_equal(layers.icrc, CHECK_GOOD);
}

/* Fragments have no headers of their own, or only a part of what these announce. */
static void fragments_are_payload(void **unused)
{
    (void)unused;
    const uint32_t n = make_roce(ROCE_SEND_ONLY);
    buf[20] = 0x20; /* more follow */
    assert_int_equal(decode(buf, n), 0);
    assert_kinds("eth ipv4");
    buf[20] = 0;
    buf[21] = 1;
    assert_int_equal(decode(buf, n), 0);
    assert_kinds("eth ipv4");
}

/* Every prefix of a frame: as a capture that kept so much, it is fine; as a frame, it is not,
 * unless only the payload is cut, where the length of IPv4 lies. */
static void snapped_frames(void **unused)
{
    (void)unused;
    const uint32_t n = make_roce(ROCE_ACKNOWLEDGE);
    static const uint32_t ends[] = {14, 34, 42, 54, 58};
    for (uint32_t captured = 0; captured < n; captured++) {
        uint8_t *octets = malloc(captured ? captured : 1); /* so that ASan sees a step beyond */
        assert_non_null(octets);
        memcpy(octets, buf, captured);
        const struct layers_in in = {
            .octets = octets, .captured = captured, .original = n, .crc32 = &crc32};
        assert_int_equal(xoff_layers_decode(&in, &layers, &err), 0);
        uint32_t whole = 0;
        while (whole < 5 && ends[whole] <= captured)
            whole++;
        assert_int_equal(layers.n, whole);
        assert_int_equal(layers.is_snapped, whole < 5);
        assert_int_equal(layers.icrc, CHECK_ABSENT);
        assert_true(layers.payload_at <= layers.payload_end && layers.payload_end <= captured);
        assert_true(decode(octets, captured) < 0);
        free(octets);
    }
}

/* The checksum of a segment that is not all there cannot be checked. */
static void snapped_segments(void **unused)
{
    (void)unused;
    layers.n = layers.kinds = 0;
    xoff_layers_add(&layers, LAYER_ETH);
    xoff_layers_add(&layers, LAYER_IPV4)->ipv4 = (struct ipv4){.ttl = 1, .protocol = 6};
    xoff_layers_add(&layers, LAYER_TCP);
    const struct layers_out out = {.payload = (const uint8_t *)"hello", .payload_octets = 5};
    const uint32_t n = xoff_layers_encode(&layers, &out, &crc32, buf);
    struct layers_in in = {.octets = buf, .captured = n, .original = n};
    assert_int_equal(xoff_layers_decode(&in, &layers, &err), 0);
    assert_int_equal(layers.l4_checksum, CHECK_GOOD);
    buf[n - 1] ^= 1;
    assert_int_equal(xoff_layers_decode(&in, &layers, &err), 0);
    assert_int_equal(layers.l4_checksum, CHECK_BAD);
    in.captured = n - 1;
    assert_int_equal(xoff_layers_decode(&in, &layers, &err), 0);
    assert_int_equal(layers.l4_checksum, CHECK_ABSENT);
    assert_int_equal(layers.payload_end - layers.payload_at, 4);
}

/* The FCS: known to be there, looked for, cut off. */
static void frame_check_sequence(void **unused)
{
    (void)unused;
    layers.n = layers.kinds = 0;
    xoff_layers_add(&layers, LAYER_ETH)->eth.type = 0x1234;
    for (unsigned bad = 0; bad < 2; bad++) {
        const struct layers_out out = {.least_octets = 60, .has_fcs = true, .has_bad_fcs = bad};
        assert_int_equal(xoff_layers_encode(&layers, &out, &crc32, buf), 64);
        struct layers_in in = {
            .octets = buf, .captured = 64, .original = 64, .fcs_octets = 4, .crc32 = &crc32};
        assert_int_equal(xoff_layers_decode(&in, &layers, &err), 0);
        assert_int_equal(layers.fcs, bad ? CHECK_BAD : CHECK_GOOD);
        assert_int_equal(layers.payload_end, 60);
        in.fcs_octets = LAYERS_FIND_FCS;
        assert_int_equal(xoff_layers_decode(&in, &layers, &err), 0);
        assert_int_equal(layers.fcs, bad ? CHECK_ABSENT : CHECK_GOOD);
        assert_int_equal(layers.payload_end, bad ? 64 : 60);
        in.fcs_octets = 4;
        in.captured = 62;
        assert_int_equal(xoff_layers_decode(&in, &layers, &err), 0);
        assert_int_equal(layers.fcs, CHECK_ABSENT);
        assert_int_equal(layers.payload_end, 60);
        in.captured = 64;
        in.crc32 = NULL;
        assert_int_equal(xoff_layers_decode(&in, &layers, &err), 0);
        assert_int_equal(layers.fcs, CHECK_ABSENT);
        assert_int_equal(layers.payload_end, 60);
    }
}

static void telemetry_is_read_on_request(void **unused)
{
    (void)unused;
    make_roce(ROCE_SEND_ONLY);
    xoff_layers_add(&layers, LAYER_HPCC)->hpcc = (struct hpcc_header){.n_hops = 1, .path = 9};
    const uint32_t n = xoff_layers_encode(&layers, &(struct layers_out){0}, &crc32, buf);
    assert_int_equal(decode(buf, n), 0);
    assert_kinds("eth ipv4 udp roce");
    assert_int_equal(layers.payload_end - layers.payload_at, 42);
    const struct layers_in in = {
        .octets = buf, .captured = n, .original = n, .has_telemetry = true, .crc32 = &crc32};
    assert_int_equal(xoff_layers_decode(&in, &layers, &err), 0);
    assert_kinds("eth ipv4 udp roce hpcc");
    assert_int_equal(layers.layer[4].hpcc.path, 9);
}

/* Random chains: all tags that can be there, one of the ends, random payload. */
static void add_random(struct xoff_rng *rng)
{
    static const enum layer_kind tags[] = {LAYER_RATE_TAG, LAYER_CN_TAG, LAYER_RRT};
    layers.n = layers.kinds = 0;
    struct xoff_eth *eth = &xoff_layers_add(&layers, LAYER_ETH)->eth;
    random_octets(rng, eth->destination, 12);
    eth->n_tags = (uint8_t)xoff_rng_below(rng, 3);
    for (unsigned i = 0; i < eth->n_tags; i++)
        eth->tags[i] =
            (struct xoff_vlan_tag){.type = i ? 0x8100 : 0x88a8, .priority = 5, .vlan = 9};
    for (unsigned i = 0; i < 3; i++)
        if (random_bits(rng, 1))
            xoff_layers_add(&layers, tags[i])->rate_tag.rate_bps = 0;
    if (random_bits(rng, 2) == 0) {
        static const enum layer_kind ends[] = {LAYER_CNM, LAYER_BCN, LAYER_NOTICE, LAYER_LLDP};
        xoff_layers_add(&layers, ends[random_bits(rng, 2)]);
        return;
    }
    const bool is_tcp = random_bits(rng, 1);
    struct ipv4 *ip = &xoff_layers_add(&layers, LAYER_IPV4)->ipv4;
    *ip = (struct ipv4){.dscp = 9,
                        .ttl = 3,
                        .protocol = is_tcp ? 6 : 17,
                        .source = (uint32_t)random_bits(rng, 32),
                        .option_octets = (uint8_t)(4 * xoff_rng_below(rng, 11))};
    random_octets(rng, ip->options, ip->option_octets);
    if (is_tcp) {
        struct tcp *tcp = &xoff_layers_add(&layers, LAYER_TCP)->tcp;
        *tcp = (struct tcp){.sequence = (uint32_t)random_bits(rng, 32),
                            .option_octets = (uint8_t)(4 * xoff_rng_below(rng, 11))};
        random_octets(rng, tcp->options, tcp->option_octets);
        return;
    }
    static const uint8_t opcodes[] = {ROCE_SEND_ONLY, ROCE_ACKNOWLEDGE, ROCE_CNP};
    const uint8_t opcode = opcodes[xoff_rng_below(rng, 3)];
    const bool is_roce = random_bits(rng, 1);
    xoff_layers_add(&layers, LAYER_UDP)->udp.destination = is_roce ? 4791 : 53;
    if (!is_roce)
        return;
    xoff_layers_add(&layers, LAYER_ROCE)->roce = (struct bth){.opcode = opcode, .psn = 77};
    if (opcode != ROCE_SEND_ONLY)
        random_octets(
            rng, xoff_layers_add(&layers, opcode == ROCE_CNP ? LAYER_CNP : LAYER_AETH)->cnp, 1);
}

static void whole_frames_survive(void **unused)
{
    (void)unused;
    static uint8_t payload[256], again[sizeof buf];
    struct xoff_rng rng;
    xoff_rng_init(&rng, CODEC_SEED, 7, 0);
    for (int round = 0; round < CODEC_ROUNDS; round++) {
        const uint32_t octets = (uint32_t)xoff_rng_below(&rng, sizeof payload);
        random_octets(&rng, payload, octets);
        add_random(&rng);
        const struct layers_out out = {.payload = payload,
                                       .payload_octets = octets,
                                       .least_octets = (uint32_t)xoff_rng_below(&rng, 256),
                                       .has_fcs = random_bits(&rng, 1)};
        const uint32_t n = xoff_layers_encode(&layers, &out, &crc32, buf);
        const struct layers_in in = {.octets = buf,
                                     .captured = n,
                                     .original = n,
                                     .fcs_octets = out.has_fcs ? 4 : 0,
                                     .crc32 = &crc32};
        struct layers sent = layers;
        assert_int_equal(xoff_layers_decode(&in, &layers, &err), 0);
        assert_int_equal(layers.kinds, sent.kinds);
        assert_int_equal(layers.fcs, out.has_fcs ? CHECK_GOOD : CHECK_ABSENT);
        assert_int_not_equal(layers.icrc, CHECK_BAD);
        assert_int_not_equal(layers.ip_checksum, CHECK_BAD);
        assert_int_not_equal(layers.l4_checksum, CHECK_BAD);
        const struct layers_out back = {.payload = buf + layers.payload_at,
                                        .payload_octets = layers.payload_end - layers.payload_at,
                                        .least_octets = n - (out.has_fcs ? 4 : 0),
                                        .has_fcs = out.has_fcs};
        assert_int_equal(xoff_layers_encode(&layers, &back, &crc32, again), n);
        assert_memory_equal(again, buf, n);
    }
}

/* Any octet of a frame may be anything: no answer but 0 and a refusal, and all offsets inside. */
static void damaged_frames(void **unused)
{
    (void)unused;
    struct xoff_rng rng;
    xoff_rng_init(&rng, CODEC_SEED, 8, 0);
    for (int round = 0; round < CODEC_ROUNDS; round++) {
        add_random(&rng);
        const struct layers_out out = {.payload_octets = (uint32_t)xoff_rng_below(&rng, 40)};
        const uint32_t n = xoff_layers_encode(&layers, &out, &crc32, buf);
        for (int i = 0; i < 3; i++)
            buf[xoff_rng_below(&rng, n)] = (uint8_t)random_bits(&rng, 8);
        const uint32_t kept = (uint32_t)xoff_rng_below(&rng, n + 1);
        const struct layers_in in = {
            .octets = buf, .captured = kept, .original = n, .crc32 = &crc32};
        const int answer = xoff_layers_decode(&in, &layers, &err);
        assert_true(answer == 0 || answer == -(int)err.code);
        assert_true(layers.n <= LAYERS_MAX);
        assert_true(layers.payload_at <= layers.payload_end && layers.payload_end <= kept);
        for (uint32_t i = 0; i < layers.n; i++)
            assert_true(layers.layer[i].at <= layers.layer[i].end && layers.layer[i].end <= kept);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mac_control),
        cmocka_unit_test(congestion_messages),
        cmocka_unit_test(tags_come_once_and_behind_vlans),
        cmocka_unit_test(lengths_of_802_3),
        cmocka_unit_test(roce_is_checked),
        cmocka_unit_test(lengths_that_lie),
        cmocka_unit_test(acknowledgements_and_cnps),
        cmocka_unit_test(fragments_are_payload),
        cmocka_unit_test(snapped_frames),
        cmocka_unit_test(snapped_segments),
        cmocka_unit_test(frame_check_sequence),
        cmocka_unit_test(telemetry_is_read_on_request),
        cmocka_unit_test(whole_frames_survive),
        cmocka_unit_test(damaged_frames),
    };
    return cmocka_run_group_tests_name("layers", tests, make_tables, NULL);
}
