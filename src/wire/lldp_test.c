/* LLDP frames: golden octets, round trips, and every way in which a frame is void. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <xoff/lldp.h>
#include <xoff/rng.h>

enum { N_OCTETS = 60, TLVS_AT = 14, TTL_AT = 32, OPTIONAL_AT = 36 };

/* 802.1AB 8: a station at 02-00-00-00-00-07, both identifiers its MAC address, 120 s. */
static const uint8_t plain[N_OCTETS] = {
    0x01, 0x80, 0xc2, 0x00, 0x00, 0x0e,                   /* destination */
    0x02, 0x00, 0x00, 0x00, 0x00, 0x07,                   /* source */
    0x88, 0xcc,                                           /* LLDP */
    0x02, 0x07, 0x04, 0x02, 0x00, 0x00, 0x00, 0x00, 0x07, /* chassis ID: a MAC address */
    0x04, 0x07, 0x03, 0x02, 0x00, 0x00, 0x00, 0x00, 0x07, /* port ID: a MAC address */
    0x06, 0x02, 0x00, 0x78,                               /* time to live */
    0x0a, 0x02, 'n',  '5',                                /* system name */
    0xfe, 0x06, 0x00, 0x80, 0xc2, 0x0b, 0x08, 0x00,       /* organisation */
    0x00, 0x00,                                           /* End; padding follows */
};

static struct xoff_lldp station(void)
{
    static const uint8_t mac[6] = {0x02, 0, 0, 0, 0, 7};
    struct xoff_lldp lldp = {.ttl_s = 120,
                             .chassis = {XOFF_LLDP_CHASSIS_MAC, 6, {0}},
                             .port = {XOFF_LLDP_PORT_MAC, 6, {0}}};
    memcpy(lldp.destination, xoff_lldp_nearest_bridge, 6);
    memcpy(lldp.source, mac, 6);
    memcpy(lldp.chassis.octets, mac, 6);
    memcpy(lldp.port.octets, mac, 6);
    return lldp;
}

static void assert_lldp(const struct xoff_lldp *got, const struct xoff_lldp *want)
{
    assert_memory_equal(got->destination, want->destination, 6);
    assert_memory_equal(got->source, want->source, 6);
    assert_int_equal(got->is_tagged, want->is_tagged);
    assert_int_equal(got->tag, want->tag);
    assert_true(xoff_lldp_id_is(&got->chassis, &want->chassis));
    assert_true(xoff_lldp_id_is(&got->port, &want->port));
    assert_int_equal(got->ttl_s, want->ttl_s);
}

static void golden_frame(void **state)
{
    (void)state;
    const struct xoff_lldp lldp = station();
    uint8_t buf[N_OCTETS];
    assert_int_equal(xoff_lldp_encode(&lldp, plain + OPTIONAL_AT, 12, buf, sizeof buf), N_OCTETS);
    assert_memory_equal(buf, plain, N_OCTETS);
    assert_int_equal(xoff_lldp_encode(&lldp, plain + OPTIONAL_AT, 12, buf, N_OCTETS - 1), 0);

    struct xoff_err err = {0};
    struct xoff_lldp got;
    size_t at;
    assert_int_equal(xoff_lldp_decode(plain, N_OCTETS, &got, &at, &err), 0);
    assert_lldp(&got, &lldp);
    assert_int_equal(at, OPTIONAL_AT);
}

static void the_walk_gives_each_tlv_and_stops_at_end(void **state)
{
    (void)state;
    struct xoff_err err = {0};
    struct xoff_lldp_tlv tlv;
    size_t at = OPTIONAL_AT;
    assert_int_equal(xoff_lldp_next(plain, N_OCTETS, &at, &tlv, &err), 1);
    assert_int_equal(tlv.type, XOFF_LLDP_SYSTEM_NAME);
    assert_int_equal(tlv.length, 2);
    assert_int_equal(tlv.at, OPTIONAL_AT);
    assert_memory_equal(tlv.value, "n5", 2);
    assert_int_equal(xoff_lldp_next(plain, N_OCTETS, &at, &tlv, &err), 1);
    assert_int_equal(tlv.type, XOFF_LLDP_ORGANISATION);
    assert_int_equal(tlv.oui, 0x0080c2);
    assert_int_equal(tlv.subtype, 11);
    assert_int_equal(xoff_lldp_next(plain, N_OCTETS, &at, &tlv, &err), 0);
    assert_string_equal(xoff_lldp_type_text(5), "system name");
    assert_string_equal(xoff_lldp_type_text(9), "reserved");
    assert_string_equal(xoff_lldp_type_text(126), "reserved");
    assert_string_equal(xoff_lldp_type_text(127), "organisation");
}

/* End may be missing where the frame ends behind a TLV; one octet more is half a header. */
static void the_walk_stops_at_the_end_of_the_frame(void **state)
{
    (void)state;
    struct xoff_err err = {0};
    struct xoff_lldp_tlv tlv;
    size_t at = OPTIONAL_AT + 12;
    assert_int_equal(xoff_lldp_next(plain, OPTIONAL_AT + 12, &at, &tlv, &err), 0);
    assert_int_equal(xoff_lldp_next(plain, OPTIONAL_AT + 13, &at, &tlv, &err), -XOFF_E_SYNTAX);
    assert_string_equal(err.subject, "TLV header");
    assert_string_equal(err.message, "octet 48: cut off, what contains it ends at octet 49");
}

static void a_shutdown_has_no_time_to_live(void **state)
{
    (void)state;
    struct xoff_lldp lldp = station(), got;
    lldp.ttl_s = 0;
    uint8_t buf[N_OCTETS];
    assert_int_equal(xoff_lldp_encode(&lldp, NULL, 0, buf, sizeof buf), N_OCTETS);
    struct xoff_err err = {0};
    size_t at;
    assert_int_equal(xoff_lldp_decode(buf, sizeof buf, &got, &at, &err), 0);
    assert_int_equal(got.ttl_s, 0);
    struct xoff_lldp_tlv tlv;
    assert_int_equal(xoff_lldp_next(buf, sizeof buf, &at, &tlv, &err), 0);
}

/* As a Cisco Nexus 5000 sends it: 8100 e009 before 88cc, priority 7 on VLAN 9. */
static void a_tagged_frame_is_taken(void **state)
{
    (void)state;
    uint8_t buf[N_OCTETS + 4];
    memcpy(buf, plain, 12);
    memcpy(buf + 12, (const uint8_t[]){0x81, 0x00, 0xe0, 0x09}, 4);
    memcpy(buf + 16, plain + 12, N_OCTETS - 12);
    struct xoff_lldp want = station(), got;
    want.is_tagged = true;
    want.tag = 0xe009;
    struct xoff_err err = {0};
    size_t at;
    assert_int_equal(xoff_lldp_decode(buf, sizeof buf, &got, &at, &err), 0);
    assert_lldp(&got, &want);
    assert_int_equal(at, OPTIONAL_AT + 4);
    uint8_t again[N_OCTETS + 4];
    assert_int_equal(xoff_lldp_encode(&got, buf + at, 12, again, sizeof again), N_OCTETS);
    assert_memory_equal(again, buf, N_OCTETS);
}

/* Octet `at` set to `value` makes the frame void, with this error. */
static void check_void(size_t at, uint8_t value, enum xoff_err_code code, const char *subject,
                       const char *message)
{
    uint8_t buf[N_OCTETS];
    memcpy(buf, plain, N_OCTETS);
    buf[at] = value;
    struct xoff_err err = {0};
    struct xoff_lldp got;
    struct xoff_lldp_tlv tlv;
    size_t tlvs_at;
    int answer = xoff_lldp_decode(buf, N_OCTETS, &got, &tlvs_at, &err);
    while (answer >= 0 && (answer = xoff_lldp_next(buf, N_OCTETS, &tlvs_at, &tlv, &err)) > 0)
        ;
    assert_int_equal(answer, -(int)code);
    assert_string_equal(err.subject, subject);
    assert_string_equal(err.message, message);
}

static void a_broken_frame_is_refused_at_its_place(void **state)
{
    (void)state;
    check_void(13, 0xcd, XOFF_E_TYPE, "EtherType", "octets 12 and 13: must be 88-cc, LLDP");
    check_void(14, 0x04, XOFF_E_MISSING, "chassis ID",
               "octets 14 and 15: must be here; this is of type 2");
    check_void(15, 0x01, XOFF_E_RANGE, "chassis ID",
               "octets 14 and 15: its length must be 2 to 256: subtype and 1 to 255 octets");
    check_void(23, 0x02, XOFF_E_MISSING, "port ID",
               "octets 23 and 24: must be here; this is of type 1");
    check_void(TTL_AT, 0x08, XOFF_E_MISSING, "time to live",
               "octets 32 and 33: must be here; this is of type 4");
    check_void(TTL_AT + 1, 0x03, XOFF_E_RANGE, "time to live",
               "octets 32 and 33: its length must be 2");
    check_void(TTL_AT + 1, 0x01, XOFF_E_RANGE, "time to live",
               "octets 32 and 33: its length must be 2");
    check_void(OPTIONAL_AT, 0x02, XOFF_E_CONFLICT, "chassis ID",
               "octets 36 and 37: comes a second time");
    check_void(OPTIONAL_AT, 0x06, XOFF_E_CONFLICT, "time to live",
               "octets 36 and 37: comes a second time");
    check_void(OPTIONAL_AT, 0x00, XOFF_E_RANGE, "End TLV",
               "octets 36 and 37: must be 00-00: End has no value");
    check_void(OPTIONAL_AT, 0x0b, XOFF_E_SYNTAX, "TLV length",
               "octets 36 and 37: system name of 258 octets, but the frame ends at octet 60");
}

/* The value of the last TLV ends at the frame's end, or one octet behind it. */
static void a_length_may_reach_the_end_and_no_further(void **state)
{
    (void)state;
    uint8_t buf[N_OCTETS];
    memcpy(buf, plain, N_OCTETS);
    struct xoff_err err = {0};
    struct xoff_lldp_tlv tlv;
    buf[OPTIONAL_AT + 1] = N_OCTETS - OPTIONAL_AT - 2;
    size_t at = OPTIONAL_AT;
    assert_int_equal(xoff_lldp_next(buf, N_OCTETS, &at, &tlv, &err), 1);
    assert_int_equal(xoff_lldp_next(buf, N_OCTETS, &at, &tlv, &err), 0);
    buf[OPTIONAL_AT + 1]++;
    at = OPTIONAL_AT;
    assert_int_equal(xoff_lldp_next(buf, N_OCTETS, &at, &tlv, &err), -XOFF_E_SYNTAX);
}

/* Up to the last octet of the TTL every cut is an error; from there on the frame is good. */
static void every_cut_is_told(void **state)
{
    (void)state;
    for (size_t length = 0; length <= N_OCTETS; length++) {
        uint8_t *cut = malloc(length + 1); /* of this size, for the address sanitizer */
        memcpy(cut, plain, length);
        struct xoff_err err = {0};
        struct xoff_lldp got;
        size_t at;
        const int answer = xoff_lldp_decode(cut, length, &got, &at, &err);
        assert_int_equal(answer, length < OPTIONAL_AT ? -XOFF_E_SYNTAX : 0);
        free(cut);
    }
}

/* A frame of nothing but empty TLVs ends: each of them takes two octets. */
static void empty_tlvs_come_to_an_end(void **state)
{
    (void)state;
    uint8_t buf[XOFF_LLDP_MAX_FRAME];
    memcpy(buf, plain, OPTIONAL_AT);
    for (size_t i = OPTIONAL_AT; i < sizeof buf; i += 2)
        memcpy(buf + i, (const uint8_t[]){0xfe, 0x00}, 2);
    struct xoff_err err = {0};
    struct xoff_lldp_tlv tlv;
    size_t at = OPTIONAL_AT, n = 0;
    while (xoff_lldp_next(buf, sizeof buf, &at, &tlv, &err) > 0) {
        assert_int_equal(tlv.oui, 0); /* an organisation's TLV without its OUI is nobody's */
        n++;
    }
    assert_int_equal(n, (sizeof buf - OPTIONAL_AT) / 2);
}

static void random_id(struct xoff_rng *rng, struct xoff_lldp_id *id)
{
    memset(id, 0, sizeof *id);
    id->subtype = (uint8_t)xoff_rng_below(rng, 256);
    id->length = (uint8_t)(1 + xoff_rng_below(rng, 255));
    for (unsigned i = 0; i < id->length; i++)
        id->octets[i] = (uint8_t)xoff_rng_below(rng, 256);
}

static void random_frames_survive_the_round_trip(void **state)
{
    (void)state;
    struct xoff_rng rng;
    xoff_rng_init(&rng, 2, 0, 0);
    for (int round = 0; round < 5000; round++) {
        struct xoff_lldp lldp = {.is_tagged = round & 1,
                                 .ttl_s = (uint16_t)xoff_rng_below(&rng, 65536)},
                         got;
        if (lldp.is_tagged)
            lldp.tag = (uint16_t)xoff_rng_below(&rng, 65536);
        for (int i = 0; i < 6; i++) {
            lldp.destination[i] = (uint8_t)xoff_rng_below(&rng, 256);
            lldp.source[i] = (uint8_t)xoff_rng_below(&rng, 256);
        }
        random_id(&rng, &lldp.chassis);
        random_id(&rng, &lldp.port);
        uint8_t buf[XOFF_LLDP_MAX_FRAME];
        const size_t length = xoff_lldp_encode(&lldp, NULL, 0, buf, sizeof buf);
        assert_true(length >= N_OCTETS);
        struct xoff_err err = {0};
        size_t at;
        assert_int_equal(xoff_lldp_decode(buf, length, &got, &at, &err), 0);
        assert_lldp(&got, &lldp);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(golden_frame),
        cmocka_unit_test(the_walk_gives_each_tlv_and_stops_at_end),
        cmocka_unit_test(the_walk_stops_at_the_end_of_the_frame),
        cmocka_unit_test(a_shutdown_has_no_time_to_live),
        cmocka_unit_test(a_tagged_frame_is_taken),
        cmocka_unit_test(a_broken_frame_is_refused_at_its_place),
        cmocka_unit_test(a_length_may_reach_the_end_and_no_further),
        cmocka_unit_test(every_cut_is_told),
        cmocka_unit_test(empty_tlvs_come_to_an_end),
        cmocka_unit_test(random_frames_survive_the_round_trip),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
