/* The Baseline TLV: what a Nexus 5000 sends, round trips, and every malformed case. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <xoff/cee_tlv.h>
#include <xoff/rng.h>

/* Of a Cisco Nexus 5000: PFC on priority 3, FCoE there, two groups of 50 %. */
static const uint8_t nexus[] = {
    0xfe, 0x37, 0x00, 0x1b, 0x21, 0x02,                                     /* OUI, subtype */
    0x02, 0x0a, 0x00, 0x00, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x01, /* control */
    0x06, 0x06, 0x00, 0x00, 0x80, 0x00, 0x08, 0x08,                         /* PFC */
    0x08, 0x0a, 0x00, 0x00, 0x80, 0x00, 0x89, 0x06, 0x00, 0x1b, 0x21, 0x08, /* applications */
    0x04, 0x11, 0x00, 0x00, 0x80, 0x00, 0x00, 0x01, 0x00, 0x00,             /* groups */
    0x32, 0x32, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02,
};
enum { VALUE_AT = 2, CONTROL_AT = 6, PFC_AT = 18, APPS_AT = 26, GROUPS_AT = 38 };

static void the_nexus_is_understood(void **state)
{
    (void)state;
    struct xoff_cee cee;
    struct xoff_err err = {0};
    assert_int_equal(xoff_cee_tlv_decode(nexus, VALUE_AT, sizeof nexus - 2, &cee, &err), 0);
    assert_int_equal(cee.control.seq, 1);
    assert_int_equal(cee.control.ack, 1);
    assert_true(cee.pfc.head.is_there);
    assert_true(cee.pfc.head.is_enabled);
    assert_false(cee.pfc.head.is_willing);
    assert_false(cee.pfc.head.has_error);
    assert_int_equal(cee.pfc.enabled, 0x08);
    assert_int_equal(cee.pfc.n_classes, 8);
    assert_int_equal(cee.apps.n, 1);
    assert_int_equal(cee.apps.app[0].protocol, 0x8906);
    assert_int_equal(cee.apps.app[0].selector, 0);
    assert_int_equal(cee.apps.app[0].oui, 0x001b21);
    assert_int_equal(cee.apps.app[0].priorities, 0x08);
    const uint8_t group_of[8] = {0, 0, 0, 1, 0, 0, 0, 0}, percent[8] = {50, 50};
    assert_memory_equal(cee.groups.group_of, group_of, 8);
    assert_memory_equal(cee.groups.percent, percent, 8);
    assert_int_equal(cee.groups.n_classes, 2);
    assert_int_equal(cee.n_unknown, 0);
    assert_false(cee.has_reserved);

    uint8_t buf[sizeof nexus];
    assert_int_equal(xoff_cee_tlv_encode(&cee, buf, sizeof buf), sizeof nexus);
    assert_memory_equal(buf, nexus, sizeof nexus);
    assert_int_equal(xoff_cee_tlv_encode(&cee, buf, sizeof buf - 1), 0);
}

static void check_refused(size_t at, uint8_t value, enum xoff_err_code code, const char *subject,
                          const char *message)
{
    uint8_t buf[sizeof nexus];
    memcpy(buf, nexus, sizeof nexus);
    buf[at] = value;
    struct xoff_cee cee;
    struct xoff_err err = {0};
    assert_int_equal(xoff_cee_tlv_decode(buf, VALUE_AT, sizeof nexus - 2, &cee, &err), -(int)code);
    assert_string_equal(err.subject, subject);
    assert_string_equal(err.message, message);
}

static void malformed_parts_are_refused_at_their_place(void **state)
{
    (void)state;
    check_refused(4, 0x22, XOFF_E_TYPE, "OUI and subtype",
                  "octets 2 to 5: must be 00-1b-21-02, CEE");
    check_refused(5, 0x01, XOFF_E_TYPE, "OUI and subtype",
                  "octets 2 to 5: must be 00-1b-21-02, CEE");
    check_refused(CONTROL_AT + 1, 0x0b, XOFF_E_RANGE, "CEE control",
                  "octets 6 and 7: its length must be 10");
    check_refused(CONTROL_AT, 0x0e, XOFF_E_MISSING, "CEE control sub-TLV",
                  "octets 2 to 5: must be among the sub-TLVs");
    check_refused(PFC_AT, 0x02, XOFF_E_CONFLICT, "CEE sub-TLV",
                  "octets 18 and 19: comes a second time");
    check_refused(PFC_AT + 1, 0x05, XOFF_E_RANGE, "CEE PFC",
                  "octets 18 and 19: its length must be 6");
    check_refused(APPS_AT + 1, 0x0b, XOFF_E_RANGE, "CEE applications",
                  "octets 26 and 27: its length must be 4 and 6 for each application");
    check_refused(APPS_AT + 1, 0x03, XOFF_E_RANGE, "CEE applications",
                  "octets 26 and 27: its length must be 4 and 6 for each application");
    check_refused(GROUPS_AT + 1, 0x10, XOFF_E_RANGE, "CEE priority groups",
                  "octets 38 and 39: its length must be 17");
    check_refused(GROUPS_AT + 1, 0x12, XOFF_E_SYNTAX, "CEE sub-TLV",
                  "octet 40: cut off, what contains it ends at octet 57");
    check_refused(GROUPS_AT, 0x05, XOFF_E_SYNTAX, "CEE sub-TLV", /* 256 octets more */
                  "octet 40: cut off, what contains it ends at octet 57");
}

/* What was good before a fault is there to be shown. */
static void a_fault_leaves_what_came_before(void **state)
{
    (void)state;
    struct xoff_cee cee;
    struct xoff_err err = {0};
    assert_int_equal(xoff_cee_tlv_decode(nexus, VALUE_AT, sizeof nexus - 3, &cee, &err),
                     -XOFF_E_SYNTAX);
    assert_int_equal(cee.pfc.enabled, 0x08);
    assert_int_equal(cee.apps.n, 1);
    assert_false(cee.groups.head.is_there);
}

static void every_cut_is_told(void **state)
{
    (void)state;
    for (size_t length = 0; length < sizeof nexus - 2; length++) {
        uint8_t *cut = malloc(length + 2); /* of this size, for the address sanitizer */
        memcpy(cut, nexus, length + 2);
        struct xoff_cee cee;
        struct xoff_err err = {0};
        const int answer = xoff_cee_tlv_decode(cut, VALUE_AT, length, &cee, &err);
        /* Between two sub-TLVs there is nothing to miss, but for the control one. */
        const size_t end = length + 2;
        if (end == PFC_AT || end == APPS_AT || end == GROUPS_AT)
            assert_int_equal(answer, 0);
        else
            assert_int_equal(answer, end == CONTROL_AT ? -XOFF_E_MISSING : -XOFF_E_SYNTAX);
        free(cut);
    }
}

static void odd_bits_and_unknown_parts_are_survived(void **state)
{
    (void)state;
    uint8_t buf[sizeof nexus];
    memcpy(buf, nexus, sizeof nexus);
    buf[PFC_AT + 4] = 0xff; /* all flags, and the five reserved bits */
    buf[GROUPS_AT] = 0x0a;  /* sub-TLV 5 */
    struct xoff_cee cee;
    struct xoff_err err = {0};
    assert_int_equal(xoff_cee_tlv_decode(buf, VALUE_AT, sizeof nexus - 2, &cee, &err), 0);
    assert_true(cee.has_reserved);
    assert_true(cee.pfc.head.is_willing);
    assert_true(cee.pfc.head.has_error);
    assert_int_equal(cee.n_unknown, 1);
    assert_false(cee.groups.head.is_there);
}

/* 81 applications fill 4 + 12 + 6 + 486 = 508 of 511 octets; one more has no room. */
static void applications_fill_a_tlv(void **state)
{
    (void)state;
    struct xoff_cee cee = {.apps = {.head = {.is_there = true}, .n = 81}};
    uint8_t buf[513];
    assert_int_equal(xoff_cee_tlv_encode(&cee, buf, sizeof buf), 510);
    struct xoff_cee got;
    struct xoff_err err = {0};
    assert_int_equal(xoff_cee_tlv_decode(buf, VALUE_AT, 508, &got, &err), 0);
    assert_int_equal(got.apps.n, 81);
    cee.apps.n = 82;
    assert_int_equal(xoff_cee_tlv_encode(&cee, buf, sizeof buf), 0);
}

/* The longest sub-TLV of applications that fits where no control one stands: 4 + 6 x 83 = 502 of
 * the 505 octets. It is read before the missing control is found. */
static void the_most_applications_are_read(void **state)
{
    (void)state;
    uint8_t buf[2 + 4 + 2 + 502] = {0xff, 0xfc, 0x00, 0x1b, 0x21, 0x02, 0x09, 0xf6};
    struct xoff_cee got;
    struct xoff_err err = {0};
    assert_int_equal(xoff_cee_tlv_decode(buf, VALUE_AT, sizeof buf - 2, &got, &err),
                     -XOFF_E_MISSING);
    assert_int_equal(got.apps.n, XOFF_CEE_MAX_APPS);
}

static struct xoff_cee_head random_head(struct xoff_rng *rng)
{
    struct xoff_cee_head head = {.is_there = xoff_rng_below(rng, 4) > 0};
    if (head.is_there) {
        head.oper_version = (uint8_t)xoff_rng_below(rng, 256);
        head.max_version = (uint8_t)xoff_rng_below(rng, 256);
        head.is_enabled = xoff_rng_below(rng, 2);
        head.is_willing = xoff_rng_below(rng, 2);
        head.has_error = xoff_rng_below(rng, 2);
        head.subtype = (uint8_t)xoff_rng_below(rng, 256);
    }
    return head;
}

static void random_tlvs_survive_the_round_trip(void **state)
{
    (void)state;
    struct xoff_rng rng;
    xoff_rng_init(&rng, 3, 0, 0);
    for (int round = 0; round < 5000; round++) {
        struct xoff_cee cee, got;
        memset(&cee, 0, sizeof cee); /* with its padding, since memcmp compares */
        cee.control.oper_version = (uint8_t)xoff_rng_below(&rng, 256);
        cee.control.max_version = (uint8_t)xoff_rng_below(&rng, 256);
        cee.control.seq = (uint32_t)xoff_rng_below(&rng, 1ull << 32);
        cee.control.ack = (uint32_t)xoff_rng_below(&rng, 1ull << 32);
        cee.groups.head = random_head(&rng);
        cee.pfc.head = random_head(&rng);
        cee.apps.head = random_head(&rng);
        for (int n = 0; n < 8 && cee.groups.head.is_there; n++) {
            cee.groups.group_of[n] = (uint8_t)xoff_rng_below(&rng, 16);
            cee.groups.percent[n] = (uint8_t)xoff_rng_below(&rng, 256);
            cee.groups.n_classes = (uint8_t)xoff_rng_below(&rng, 256);
        }
        if (cee.pfc.head.is_there)
            cee.pfc.enabled = (uint8_t)xoff_rng_below(&rng, 256);
        if (cee.apps.head.is_there)
            cee.apps.n = (uint8_t)xoff_rng_below(&rng, 20);
        for (int i = 0; i < cee.apps.n; i++) {
            cee.apps.app[i].protocol = (uint16_t)xoff_rng_below(&rng, 65536);
            cee.apps.app[i].selector = (uint8_t)xoff_rng_below(&rng, 4);
            cee.apps.app[i].oui = (uint32_t)xoff_rng_below(&rng, 1 << 24) & 0xfcffff;
            cee.apps.app[i].priorities = (uint8_t)xoff_rng_below(&rng, 256);
        }
        uint8_t buf[513], again[513];
        const size_t length = xoff_cee_tlv_encode(&cee, buf, sizeof buf);
        assert_true(length > 0);
        struct xoff_err err = {0};
        assert_int_equal(xoff_cee_tlv_decode(buf, VALUE_AT, length - 2, &got, &err), 0);
        assert_memory_equal(&got, &cee, sizeof cee);
        assert_int_equal(xoff_cee_tlv_encode(&got, again, sizeof again), length);
        assert_memory_equal(again, buf, length);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_nexus_is_understood),
        cmocka_unit_test(malformed_parts_are_refused_at_their_place),
        cmocka_unit_test(a_fault_leaves_what_came_before),
        cmocka_unit_test(every_cut_is_told),
        cmocka_unit_test(odd_bits_and_unknown_parts_are_survived),
        cmocka_unit_test(applications_fill_a_tlv),
        cmocka_unit_test(the_most_applications_are_read),
        cmocka_unit_test(random_tlvs_survive_the_round_trip),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
