/* The TLVs of DCBX: frames of real devices, round trips, remarks, and every malformed case. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <xoff/dcbx_tlv.h>
#include <xoff/rng.h>

#define REMARK(name) (1u << XOFF_DCBX_REMARK_##name)
#define KIND(name) (1u << XOFF_DCBX_##name)

/* The frame of a Juniper QFX3500 around its TLVs. It announces three classes and has all priorities
 * in class 7; the octet that 802.1Qaz reserves in the recommendation repeats the 03. */
static const uint8_t qfx[] = {
    0x01, 0x80, 0xc2, 0x00, 0x00, 0x0e, 0x02, 0x00, 0x00, 0x00, 0x00, 0x01, 0x88, 0xcc, /* header */
    0x02, 0x07, 0x04, 0x02, 0x00, 0x00, 0x00, 0x00, 0x01,             /* chassis ID */
    0x04, 0x02, 0x07, '1',                                            /* port ID */
    0x06, 0x02, 0x00, 0x78,                                           /* 120 s */
    0xfe, 0x19, 0x00, 0x80, 0xc2, 0x09, 0x03, 0x77, 0x77, 0x77, 0x77, /* 31: configuration */
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x64,                   /* 42 */
    0x02, 0x02, 0x02, 0x02, 0x02, 0x02, 0x02, 0x02,                   /* 50 */
    0xfe, 0x19, 0x00, 0x80, 0xc2, 0x0a, 0x03, 0x77, 0x77, 0x77, 0x77, /* 58: recommendation */
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x64,                   /* 69 */
    0x02, 0x02, 0x02, 0x02, 0x02, 0x02, 0x02, 0x02,                   /* 77 */
    0xfe, 0x06, 0x00, 0x80, 0xc2, 0x0b, 0x08, 0x00,                   /* 85: PFC */
    0xfe, 0x0b, 0x00, 0x80, 0xc2, 0x0c, 0x00, 0x24, 0xc3, 0x51, 0x44, 0xc3, 0x50, /* 93: apps */
    0x00, 0x00,                                                                   /* 106: End */
};
enum { CONFIGURATION_AT = 31, RECOMMENDATION_AT = 58, PFC_AT = 85, APPS_AT = 93, END_AT = 106 };

/* The frame of a Cisco Nexus 5000 around its TLV: with a priority tag. */
static const uint8_t nexus[] = {
    0x01, 0x80, 0xc2, 0x00, 0x00, 0x0e, 0x02, 0x00, 0x00, 0x00, 0x00, 0x02, /* header */
    0x81, 0x00, 0xe0, 0x09, 0x88, 0xcc,                                     /* tag, LLDP */
    0x02, 0x07, 0x04, 0x02, 0x00, 0x00, 0x00, 0x00, 0x02,                   /* chassis ID */
    0x04, 0x02, 0x07, '1',                                                  /* port ID */
    0x06, 0x02, 0x00, 0x78,                                                 /* 120 s */
    0xfe, 0x37, 0x00, 0x1b, 0x21, 0x02,                                     /* CEE */
    0x02, 0x0a, 0x00, 0x00, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x01, /* control */
    0x06, 0x06, 0x00, 0x00, 0x80, 0x00, 0x08, 0x08,                         /* PFC */
    0x08, 0x0a, 0x00, 0x00, 0x80, 0x00, 0x89, 0x06, 0x00, 0x1b, 0x21, 0x08, /* applications */
    0x04, 0x11, 0x00, 0x00, 0x80, 0x00, 0x00, 0x01, 0x00, 0x00,             /* groups */
    0x32, 0x32, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02,                   /* */
    0x00, 0x00,                                                             /* End */
};

/* Every field of a TLV of ours in its place, by hand. */
static const uint8_t ours[] = {
    0xfe, 0x19, 0x00, 0x80, 0xc2, 0x09, 0xc0,       /* willing, CBS, eight classes */
    0x01, 0x23, 0x45, 0x67,                         /* priority n in class n */
    0x0a, 0x14, 0x1e, 0x28, 0x00, 0x00, 0x00, 0x00, /* 10, 20, 30, 40 % */
    0x02, 0x02, 0x02, 0x02, 0x00, 0x01, 0xff, 0x00, /* ETS; strict, CBS, vendor */
    0xfe, 0x19, 0x00, 0x80, 0xc2, 0x0a, 0x00,       /* recommendation */
    0x00, 0x01, 0x00, 0x02,                         /* priority 3 in class 1, 7 in 2 */
    0x3c, 0x28, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, /* 60, 40 % */
    0x02, 0x02, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, /* */
    0xfe, 0x06, 0x00, 0x80, 0xc2, 0x0b, 0xc8, 0x18, /* willing, MBC, 8; priorities 3 and 4 */
    0xfe, 0x0b, 0x00, 0x80, 0xc2, 0x0c, 0x00,       /* */
    0x61, 0x89, 0x06, 0x83, 0x12, 0xb7,             /* FCoE on 3, UDP 4791 on 4 */
    0xfe, 0x06, 0x00, 0x80, 0xc2, 0x08, 0x60, 0x20, /* CNPVs 5 and 6, 5 is ready */
};

static const struct xoff_dcbx_pdu our_pdu = {
    .has = KIND(ETS_CONFIGURATION) | KIND(ETS_RECOMMENDATION) | KIND(PFC) | KIND(APPLICATIONS) |
           KIND(CONGESTION_NOTIFICATION),
    .ets = {.is_willing = true,
            .has_cbs = true,
            .max_classes = 8,
            .class_of = {0, 1, 2, 3, 4, 5, 6, 7},
            .percent = {10, 20, 30, 40},
            .tsa = {2, 2, 2, 2, 0, 1, 255, 0}},
    .recommendation = {.class_of = {[3] = 1, [7] = 2}, .percent = {60, 40}, .tsa = {2, 2}},
    .pfc = {.is_willing = true, .cannot_bypass = true, .max_classes = 8, .enabled = 0x18},
    .apps = {.n = 2, .app = {{3, 1, 0x8906}, {4, 3, 4791}}},
    .cn = {.priorities = 0x60, .ready = 0x20},
};

static void assert_pdu(const struct xoff_dcbx_pdu *got, const struct xoff_dcbx_pdu *want)
{
    assert_int_equal(got->has, want->has);
    assert_int_equal(got->malformed, want->malformed);
    assert_int_equal(got->repeated, want->repeated);
    assert_memory_equal(&got->ets, &want->ets, sizeof got->ets);
    assert_memory_equal(&got->recommendation, &want->recommendation, sizeof got->recommendation);
    assert_memory_equal(&got->pfc, &want->pfc, sizeof got->pfc);
    assert_memory_equal(&got->apps, &want->apps, sizeof got->apps);
    assert_memory_equal(&got->cn, &want->cn, sizeof got->cn);
}

/* The header of the QFX's frame before these TLVs. */
static size_t frame_of(const uint8_t *tlvs, size_t n, uint8_t *buf)
{
    memcpy(buf, qfx, CONFIGURATION_AT);
    memcpy(buf + CONFIGURATION_AT, tlvs, n);
    memset(buf + CONFIGURATION_AT + n, 0, 2);
    return CONFIGURATION_AT + n + 2;
}

static void our_tlvs_have_their_layout(void **state)
{
    (void)state;
    uint8_t buf[sizeof ours], frame[XOFF_LLDP_MAX_FRAME];
    assert_int_equal(xoff_dcbx_pdu_encode(&our_pdu, buf, sizeof buf), sizeof ours);
    assert_memory_equal(buf, ours, sizeof ours);
    assert_int_equal(xoff_dcbx_pdu_encode(&our_pdu, buf, sizeof buf - 1), 0);

    struct xoff_lldp lldp;
    struct xoff_dcbx_pdu got;
    struct xoff_err err;
    const size_t length = frame_of(ours, sizeof ours, frame);
    assert_int_equal(xoff_dcbx_pdu_decode(frame, length, &lldp, &got, &err), 0);
    assert_int_equal(err.code, XOFF_E_OK);
    assert_pdu(&got, &our_pdu);
    for (int kind = 0; kind < XOFF_DCBX_N_KINDS; kind++)
        assert_int_equal(got.remarks[kind], 0);
}

static void the_qfx_is_inconsistent_and_survived(void **state)
{
    (void)state;
    struct xoff_lldp lldp;
    struct xoff_dcbx_pdu got;
    struct xoff_err err;
    assert_int_equal(xoff_dcbx_pdu_decode(qfx, sizeof qfx, &lldp, &got, &err), 0);
    assert_int_equal(err.code, XOFF_E_OK);
    assert_int_equal(lldp.ttl_s, 120);
    assert_int_equal(got.has, KIND(ETS_CONFIGURATION) | KIND(ETS_RECOMMENDATION) | KIND(PFC) |
                                  KIND(APPLICATIONS));
    assert_false(got.ets.is_willing);
    assert_int_equal(got.ets.max_classes, 3);
    for (int n = 0; n < 8; n++) {
        assert_int_equal(got.ets.class_of[n], 7);
        assert_int_equal(got.ets.percent[n], n == 7 ? 100 : 0);
        assert_int_equal(got.ets.tsa[n], XOFF_TSA_ETS);
    }
    assert_int_equal(got.remarks[XOFF_DCBX_ETS_CONFIGURATION], REMARK(BEYOND_MAX));
    assert_int_equal(got.remarks[XOFF_DCBX_ETS_RECOMMENDATION], REMARK(RESERVED));
    assert_int_equal(got.pfc.max_classes, 8);
    assert_int_equal(got.pfc.enabled, 0);
    assert_int_equal(got.apps.n, 2);
    assert_int_equal(got.apps.app[0].priority, 1); /* 24: 001 00 100 */
    assert_int_equal(got.apps.app[0].selector, XOFF_APP_PORT);
    assert_int_equal(got.apps.app[0].protocol, 0xc351);
    assert_int_equal(got.apps.app[1].priority, 2);
    assert_int_equal(got.apps.app[1].protocol, 0xc350);

    /* Written again, it is the same but for the reserved octet. */
    uint8_t buf[sizeof qfx], want[sizeof qfx];
    memcpy(want, qfx, sizeof qfx);
    want[RECOMMENDATION_AT + 6] = 0;
    assert_int_equal(xoff_dcbx_pdu_encode(&got, buf, sizeof buf), END_AT - CONFIGURATION_AT);
    assert_memory_equal(buf, want + CONFIGURATION_AT, END_AT - CONFIGURATION_AT);
}

static void the_nexus_is_recognised_as_cee(void **state)
{
    (void)state;
    struct xoff_lldp lldp;
    struct xoff_dcbx_pdu got;
    struct xoff_err err;
    assert_int_equal(xoff_dcbx_pdu_decode(nexus, sizeof nexus, &lldp, &got, &err), 0);
    assert_true(lldp.is_tagged);
    assert_int_equal(got.has, KIND(CEE));
    assert_string_equal(xoff_dcbx_kind_text(XOFF_DCBX_CEE), "CEE (Baseline DCBX)");
    assert_int_equal(got.cee.pfc.enabled, 0x08);
    uint8_t buf[57];
    assert_int_equal(xoff_dcbx_pdu_encode(&got, buf, sizeof buf), 57);
    assert_memory_equal(buf, nexus + sizeof nexus - 2 - 57, 57);
}

/* Octet `at` of our TLVs set to `value` draws exactly these remarks. */
static void check_remarked(size_t at, uint8_t value, enum xoff_dcbx_kind kind, unsigned remarks)
{
    uint8_t tlvs[sizeof ours], frame[XOFF_LLDP_MAX_FRAME];
    memcpy(tlvs, ours, sizeof ours);
    tlvs[at] = value;
    struct xoff_lldp lldp;
    struct xoff_dcbx_pdu got;
    struct xoff_err err;
    const size_t length = frame_of(tlvs, sizeof tlvs, frame);
    assert_int_equal(xoff_dcbx_pdu_decode(frame, length, &lldp, &got, &err), 0);
    assert_int_equal(got.has, our_pdu.has);
    for (int k = 0; k < XOFF_DCBX_N_KINDS; k++)
        assert_int_equal(got.remarks[k], k == (int)kind ? remarks : 0);
}

static void what_cannot_be_meant_is_remarked(void **state)
{
    (void)state;
    const enum xoff_dcbx_kind ets = XOFF_DCBX_ETS_CONFIGURATION, pfc = XOFF_DCBX_PFC,
                              reco = XOFF_DCBX_ETS_RECOMMENDATION, apps = XOFF_DCBX_APPLICATIONS,
                              cn = XOFF_DCBX_CONGESTION_NOTIFICATION;
    check_remarked(6, 0xc8, ets, REMARK(RESERVED));
    check_remarked(6, 0xe0, ets, REMARK(RESERVED));
    check_remarked(6, 0xc7, ets, REMARK(BEYOND_MAX)); /* priority 7 in class 7, of 7 classes */
    check_remarked(10, 0x68, ets, REMARK(CLASS) | REMARK(BEYOND_MAX));
    check_remarked(11, 0x0b, ets, REMARK(SUM));
    check_remarked(11, 0x09, ets, REMARK(SUM));
    check_remarked(15, 0x01, ets, REMARK(IDLE_SHARE));
    check_remarked(23, 0x03, ets, REMARK(ALGORITHM));
    check_remarked(23, 0xfe, ets, REMARK(ALGORITHM));
    check_remarked(33, 0x01, reco, REMARK(RESERVED));
    check_remarked(34, 0x07, reco, 0); /* a recommendation says nothing of the sender's classes */
    check_remarked(38, 0x3d, reco, REMARK(SUM));
    check_remarked(60, 0xd8, pfc, REMARK(RESERVED));
    check_remarked(60, 0xc2, pfc, 0);
    check_remarked(60, 0xc1, pfc, REMARK(TOO_LOSSLESS)); /* two priorities, one class */
    check_remarked(68, 0x01, apps, REMARK(RESERVED));
    check_remarked(69, 0x69, apps, REMARK(RESERVED));
    check_remarked(69, 0x60, apps, REMARK(SELECTOR));
    check_remarked(69, 0x65, apps, 0);
    check_remarked(69, 0x66, apps, REMARK(SELECTOR));
    check_remarked(82, 0x80, cn, REMARK(READY));
    for (int n = 0; n < XOFF_DCBX_N_REMARKS; n++)
        assert_true(strlen(xoff_dcbx_remark_text((enum xoff_dcbx_remark)n)) > 0);
}

/* Without an ETS class there is nothing that must add up. */
static void strict_classes_need_no_bandwidth(void **state)
{
    (void)state;
    const struct xoff_dcbx_ets strict = {.max_classes = 8};
    assert_int_equal(xoff_dcbx_ets_remarks(&strict, false), 0);
}

/* A TLV whose length is one too small or too large is void; the others still count. */
static void check_malformed(size_t at, size_t n, uint8_t length, enum xoff_dcbx_kind kind,
                            const char *message)
{
    uint8_t tlvs[sizeof ours + 1], frame[XOFF_LLDP_MAX_FRAME];
    const int change = length - ours[at + 1];
    memcpy(tlvs, ours, at + n);
    memcpy(tlvs + at + n + change, ours + at + n, sizeof ours - at - n);
    tlvs[at + 1] = length;
    if (change > 0)
        tlvs[at + n] = 0;
    struct xoff_lldp lldp;
    struct xoff_dcbx_pdu got;
    struct xoff_err err;
    const size_t total = frame_of(tlvs, (size_t)((int)sizeof ours + change), frame);
    assert_int_equal(xoff_dcbx_pdu_decode(frame, total, &lldp, &got, &err), 0);
    assert_int_equal(got.malformed, 1u << kind);
    assert_int_equal(got.has, our_pdu.has & ~(1u << kind));
    assert_int_equal(err.code, XOFF_E_RANGE);
    assert_string_equal(err.subject, xoff_dcbx_kind_text(kind));
    assert_string_equal(err.message, message);
}

static void a_wrong_length_makes_a_tlv_void(void **state)
{
    (void)state;
    const char *ets = "octets 31 and 32: its length must be 25";
    check_malformed(0, 27, 24, XOFF_DCBX_ETS_CONFIGURATION, ets);
    check_malformed(0, 27, 26, XOFF_DCBX_ETS_CONFIGURATION, ets);
    check_malformed(27, 27, 24, XOFF_DCBX_ETS_RECOMMENDATION,
                    "octets 58 and 59: its length must be 25");
    check_malformed(54, 8, 5, XOFF_DCBX_PFC, "octets 85 and 86: its length must be 6");
    check_malformed(54, 8, 7, XOFF_DCBX_PFC, "octets 85 and 86: its length must be 6");
    const char *apps = "octets 93 and 94: its length must be 5 and 3 for each application";
    check_malformed(62, 13, 10, XOFF_DCBX_APPLICATIONS, apps);
    check_malformed(62, 13, 12, XOFF_DCBX_APPLICATIONS, apps);
    check_malformed(62, 13, 4, XOFF_DCBX_APPLICATIONS, apps);
    check_malformed(75, 8, 5, XOFF_DCBX_CONGESTION_NOTIFICATION,
                    "octets 106 and 107: its length must be 6");
}

/* A second PFC TLV is told and ignored, also where the first was void. */
static void the_first_of_two_counts(void **state)
{
    (void)state;
    uint8_t tlvs[] = {0xfe, 0x06, 0x00, 0x80, 0xc2, 0x0b, 0x08, 0x18,
                      0xfe, 0x06, 0x00, 0x80, 0xc2, 0x0b, 0x08, 0x01};
    uint8_t frame[XOFF_LLDP_MAX_FRAME];
    struct xoff_lldp lldp;
    struct xoff_dcbx_pdu got;
    struct xoff_err err;
    size_t length = frame_of(tlvs, sizeof tlvs, frame);
    assert_int_equal(xoff_dcbx_pdu_decode(frame, length, &lldp, &got, &err), 0);
    assert_int_equal(got.has, KIND(PFC));
    assert_int_equal(got.repeated, KIND(PFC));
    assert_int_equal(got.pfc.enabled, 0x18);
    assert_int_equal(err.code, XOFF_E_CONFLICT);
    assert_string_equal(err.message, "octets 39 and 40: comes a second time and is ignored");

    memmove(tlvs + 7, tlvs + 8, 8);
    tlvs[1] = 5;
    length = frame_of(tlvs, sizeof tlvs - 1, frame);
    assert_int_equal(xoff_dcbx_pdu_decode(frame, length, &lldp, &got, &err), 0);
    assert_int_equal(got.has, 0);
    assert_int_equal(got.malformed, KIND(PFC));
    assert_int_equal(got.repeated, KIND(PFC));
    assert_string_equal(err.message, "octets 31 and 32: its length must be 6");
}

/* A length that leads out of the frame makes all of it void, also what came before. */
static void a_broken_frame_says_nothing(void **state)
{
    (void)state;
    struct xoff_lldp lldp;
    struct xoff_dcbx_pdu got;
    struct xoff_err err;
    assert_int_equal(xoff_dcbx_pdu_decode(qfx, END_AT - 1, &lldp, &got, &err), -XOFF_E_SYNTAX);
    assert_int_equal(got.has, 0);
    assert_string_equal(err.message, "octets 93 and 94: organisation of 11 octets, but the frame "
                                     "ends at octet 105");
    assert_int_equal(xoff_dcbx_pdu_decode(qfx, END_AT, &lldp, &got, &err), 0);
}

/* 168 applications have 509 octets, and no length of 511 holds another. */
static void applications_fill_a_tlv(void **state)
{
    (void)state;
    struct xoff_dcbx_pdu pdu = {.has = KIND(APPLICATIONS), .apps = {.n = XOFF_DCBX_MAX_APPS}};
    for (unsigned i = 0; i < XOFF_DCBX_MAX_APPS; i++)
        pdu.apps.app[i] = (struct xoff_dcbx_app){i % 8, (uint8_t)(1 + i % 5), (uint16_t)(1000 * i)};
    uint8_t tlvs[XOFF_DCBX_MAX_TLV], frame[XOFF_LLDP_MAX_FRAME];
    assert_int_equal(xoff_dcbx_pdu_encode(&pdu, tlvs, sizeof tlvs), 2 + 5 + 3 * 168);
    struct xoff_lldp lldp;
    struct xoff_dcbx_pdu got;
    struct xoff_err err;
    assert_int_equal(xoff_dcbx_pdu_decode(frame, frame_of(tlvs, 511, frame), &lldp, &got, &err), 0);
    assert_pdu(&got, &pdu);
}

static void random_ets(struct xoff_rng *rng, bool is_recommendation, struct xoff_dcbx_ets *ets)
{
    if (!is_recommendation) {
        ets->is_willing = xoff_rng_below(rng, 2);
        ets->has_cbs = xoff_rng_below(rng, 2);
        ets->max_classes = (uint8_t)(1 + xoff_rng_below(rng, 8));
    }
    for (int n = 0; n < 8; n++) {
        ets->class_of[n] = (uint8_t)xoff_rng_below(rng, 16);
        ets->percent[n] = (uint8_t)xoff_rng_below(rng, 256);
        ets->tsa[n] = (uint8_t)xoff_rng_below(rng, 256);
    }
}

static void random_pdus_survive_the_round_trip(void **state)
{
    (void)state;
    struct xoff_rng rng;
    xoff_rng_init(&rng, 4, 0, 0);
    for (int round = 0; round < 5000; round++) {
        struct xoff_dcbx_pdu pdu, got;
        memset(&pdu, 0, sizeof pdu);
        pdu.has = (uint8_t)xoff_rng_below(&rng, KIND(CEE));
        if (pdu.has & KIND(ETS_CONFIGURATION))
            random_ets(&rng, false, &pdu.ets);
        if (pdu.has & KIND(ETS_RECOMMENDATION))
            random_ets(&rng, true, &pdu.recommendation);
        if (pdu.has & KIND(PFC))
            pdu.pfc = (struct xoff_dcbx_pfc){xoff_rng_below(&rng, 2), xoff_rng_below(&rng, 2),
                                             (uint8_t)xoff_rng_below(&rng, 16),
                                             (uint8_t)xoff_rng_below(&rng, 256)};
        if (pdu.has & KIND(APPLICATIONS))
            pdu.apps.n = (uint8_t)xoff_rng_below(&rng, XOFF_DCBX_MAX_APPS + 1);
        for (unsigned i = 0; i < pdu.apps.n; i++)
            pdu.apps.app[i] = (struct xoff_dcbx_app){(uint8_t)xoff_rng_below(&rng, 8),
                                                     (uint8_t)xoff_rng_below(&rng, 8),
                                                     (uint16_t)xoff_rng_below(&rng, 65536)};
        if (pdu.has & KIND(CONGESTION_NOTIFICATION))
            pdu.cn = (struct xoff_dcbx_cn){(uint8_t)xoff_rng_below(&rng, 256),
                                           (uint8_t)xoff_rng_below(&rng, 256)};
        uint8_t tlvs[1000], again[1000], frame[XOFF_LLDP_MAX_FRAME];
        const size_t n = xoff_dcbx_pdu_encode(&pdu, tlvs, sizeof tlvs);
        struct xoff_lldp lldp;
        struct xoff_err err;
        assert_int_equal(xoff_dcbx_pdu_decode(frame, frame_of(tlvs, n, frame), &lldp, &got, &err),
                         0);
        assert_int_equal(err.code, XOFF_E_OK);
        assert_pdu(&got, &pdu);
        assert_int_equal(xoff_dcbx_pdu_encode(&got, again, sizeof again), n);
        assert_memory_equal(again, tlvs, n);
    }
}

/* Any octet of a real frame changed at random: an answer, and an error that names its field. */
static void damaged_frames_are_survived(void **state)
{
    (void)state;
    struct xoff_rng rng;
    xoff_rng_init(&rng, 5, 0, 0);
    for (int round = 0; round < 20000; round++) {
        const uint8_t *good = round & 1 ? nexus : qfx;
        const size_t length = round & 1 ? sizeof nexus : sizeof qfx;
        uint8_t frame[sizeof qfx > sizeof nexus ? sizeof qfx : sizeof nexus];
        memcpy(frame, good, length);
        for (int i = 0; i < 3; i++)
            frame[xoff_rng_below(&rng, length)] = (uint8_t)xoff_rng_below(&rng, 256);
        struct xoff_lldp lldp;
        struct xoff_dcbx_pdu got;
        struct xoff_err err;
        const int code = xoff_dcbx_pdu_decode(frame, length, &lldp, &got, &err);
        assert_true(code <= 0);
        const bool is_told = code != 0 || got.malformed || got.repeated;
        assert_int_equal(is_told, err.code != XOFF_E_OK);
        if (is_told)
            assert_true(err.subject[0] && err.message[0]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(our_tlvs_have_their_layout),
        cmocka_unit_test(the_qfx_is_inconsistent_and_survived),
        cmocka_unit_test(the_nexus_is_recognised_as_cee),
        cmocka_unit_test(what_cannot_be_meant_is_remarked),
        cmocka_unit_test(strict_classes_need_no_bandwidth),
        cmocka_unit_test(a_wrong_length_makes_a_tlv_void),
        cmocka_unit_test(the_first_of_two_counts),
        cmocka_unit_test(a_broken_frame_says_nothing),
        cmocka_unit_test(applications_fill_a_tlv),
        cmocka_unit_test(random_pdus_survive_the_round_trip),
        cmocka_unit_test(damaged_frames_are_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
