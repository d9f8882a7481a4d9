/* PAUSE and PFC frames: golden octets with their layout, round trips, every malformed case. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <xoff/pfc_frame.h>
#include <xoff/rng.h>

#define N_OCTETS 60

_Noreturn void xoff_assert_fail(const char *expression, const char *file, int line)
{
    mock_assert(0, expression, file, line);
    abort();
}

static const uint8_t source[6] = {0x00, 0x1b, 0x21, 0xaa, 0xbb, 0xcc};

/* 802.3 31B: all traffic off for 0xffff quanta; 42 octets of padding. */
static const uint8_t pause_xoff[N_OCTETS] = {
    0x01, 0x80, 0xc2, 0x00, 0x00, 0x01, /* destination */
    0x00, 0x1b, 0x21, 0xaa, 0xbb, 0xcc, /* source */
    0x88, 0x08,                         /* MAC Control */
    0x00, 0x01,                         /* PAUSE */
    0xff, 0xff,                         /* pause_time */
};

/* 802.3 31D: priority 3 off for 0x1234 quanta, priority 7 on again; 26 octets of padding. */
static const uint8_t pfc_3_off_7_on[N_OCTETS] = {
    0x01, 0x80, 0xc2, 0x00, 0x00, 0x01, /* destination */
    0x00, 0x1b, 0x21, 0xaa, 0xbb, 0xcc, /* source */
    0x88, 0x08,                         /* MAC Control */
    0x01, 0x01,                         /* PFC */
    0x00, 0x88,                         /* class-enable vector: 1000 1000 */
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, /* time[0] to time[2] */
    0x12, 0x34,                         /* time[3] */
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, /* time[4] to time[6] */
    0x00, 0x00,                         /* time[7] */
};

/* Each time in its place: time[n] = 0x0a00 + n, all classes enabled. */
static const uint8_t pfc_all[N_OCTETS] = {
    0x01, 0x80, 0xc2, 0x00, 0x00, 0x01, 0x00, 0x1b, 0x21, 0xaa, 0xbb, 0xcc,
    0x88, 0x08, 0x01, 0x01, 0x00, 0xff, 0x0a, 0x00, 0x0a, 0x01, 0x0a, 0x02,
    0x0a, 0x03, 0x0a, 0x04, 0x0a, 0x05, 0x0a, 0x06, 0x0a, 0x07,
};

static void assert_frame(const struct xoff_pause_frame *got, const struct xoff_pause_frame *want)
{
    assert_int_equal(got->opcode, want->opcode);
    assert_int_equal(got->classes, want->classes);
    for (int n = 0; n < 8; n++)
        assert_int_equal(got->quanta[n], want->quanta[n]);
}

static void check_golden(const uint8_t *golden, const struct xoff_pause_frame *frame)
{
    uint8_t buf[N_OCTETS + 1];
    memset(buf, 0xee, sizeof buf);
    xoff_pause_frame_encode(frame, source, buf);
    assert_memory_equal(buf, golden, N_OCTETS);
    assert_int_equal(buf[N_OCTETS], 0xee); /* the FCS is not ours */

    struct xoff_err err = {0};
    struct xoff_pause_frame got;
    assert_int_equal(xoff_pause_frame_decode(golden, N_OCTETS, &got, &err), 0);
    assert_frame(&got, frame);
}

static void golden_frames(void **state)
{
    (void)state;
    check_golden(pause_xoff, &(struct xoff_pause_frame){
                                 .opcode = XOFF_OPCODE_PAUSE, .classes = 0xff, .quanta = {0xffff}});
    check_golden(pfc_3_off_7_on, &(struct xoff_pause_frame){.opcode = XOFF_OPCODE_PFC,
                                                            .classes = 0x88,
                                                            .quanta = {[3] = 0x1234}});
    check_golden(pfc_all, &(struct xoff_pause_frame){
                              .opcode = XOFF_OPCODE_PFC,
                              .classes = 0xff,
                              .quanta = {0xa00, 0xa01, 0xa02, 0xa03, 0xa04, 0xa05, 0xa06, 0xa07}});
}

static void length_with_fcs_is_accepted(void **state)
{
    (void)state;
    uint8_t buf[XOFF_PAUSE_FRAME_BYTES];
    memcpy(buf, pfc_3_off_7_on, N_OCTETS);
    memset(buf + N_OCTETS, 0xa5, 4);
    struct xoff_err err = {0};
    struct xoff_pause_frame got;
    assert_int_equal(xoff_pause_frame_decode(buf, sizeof buf, &got, &err), 0);
    assert_int_equal(got.classes, 0x88);
    assert_int_equal(got.quanta[3], 0x1234);
}

/* PAUSE has one time; whatever else the struct holds does not reach the wire. */
static void pause_carries_one_time(void **state)
{
    (void)state;
    const struct xoff_pause_frame frame = {
        .opcode = XOFF_OPCODE_PAUSE, .classes = 0x10, .quanta = {0xffff, 1, 2, 3, 4, 5, 6, 7}};
    uint8_t buf[N_OCTETS];
    xoff_pause_frame_encode(&frame, source, buf);
    assert_memory_equal(buf, pause_xoff, N_OCTETS);
}

static void encoding_an_unknown_opcode_is_an_error_of_the_caller(void **state)
{
    (void)state;
    uint8_t buf[N_OCTETS];
    const uint16_t unknown[] = {0, 2, 0x0100, 0x0102};
    for (int i = 0; i < 4; i++) {
        const struct xoff_pause_frame frame = {.opcode = unknown[i]};
        expect_assert_failure(xoff_pause_frame_encode(&frame, source, buf));
    }
}

static void random_frames_survive_the_round_trip(void **state)
{
    (void)state;
    struct xoff_rng rng;
    xoff_rng_init(&rng, 1, 0, 0);
    for (int round = 0; round < 20000; round++) {
        struct xoff_pause_frame frame = {.opcode = XOFF_OPCODE_PFC,
                                         .classes = (uint8_t)xoff_rng_below(&rng, 256)};
        for (int n = 0; n < 8; n++)
            frame.quanta[n] = (uint16_t)xoff_rng_below(&rng, 65536);
        if (round & 1) {
            frame = (struct xoff_pause_frame){
                .opcode = XOFF_OPCODE_PAUSE, .classes = 0xff, .quanta = {frame.quanta[0]}};
        }
        uint8_t mac[6], buf[N_OCTETS];
        for (int i = 0; i < 6; i++)
            mac[i] = (uint8_t)xoff_rng_below(&rng, 256);
        xoff_pause_frame_encode(&frame, mac, buf);
        assert_memory_equal(buf + 6, mac, 6);

        struct xoff_err err = {0};
        struct xoff_pause_frame got;
        assert_int_equal(xoff_pause_frame_decode(buf, N_OCTETS, &got, &err), 0);
        assert_frame(&got, &frame);
    }
}

/* Any valid octets are written back as they were: classes that are not enabled keep their times. */
static void random_octets_survive_the_round_trip(void **state)
{
    (void)state;
    struct xoff_rng rng;
    xoff_rng_init(&rng, 2, 0, 0);
    for (int round = 0; round < 20000; round++) {
        uint8_t octets[N_OCTETS], again[N_OCTETS];
        memcpy(octets, round & 1 ? pause_xoff : pfc_all, N_OCTETS);
        for (int i = 6; i < 12; i++)
            octets[i] = (uint8_t)xoff_rng_below(&rng, 256);
        for (int i = round & 1 ? 16 : 17; i < (round & 1 ? 18 : 34); i++)
            octets[i] = (uint8_t)xoff_rng_below(&rng, 256);
        struct xoff_err err = {0};
        struct xoff_pause_frame got;
        assert_int_equal(xoff_pause_frame_decode(octets, N_OCTETS, &got, &err), 0);
        xoff_pause_frame_encode(&got, octets + 6, again);
        assert_memory_equal(again, octets, N_OCTETS);
    }
}

/* Octet `at` set to `value` must be refused with the field's name, its offset in the message, and
 * must leave a frame nobody obeys. */
static void check_refused(const uint8_t *good, size_t at, uint8_t value, enum xoff_err_code code,
                          const char *field, const char *shown, const char *where)
{
    uint8_t buf[N_OCTETS];
    memcpy(buf, good, N_OCTETS);
    buf[at] = value;
    struct xoff_err err = {0};
    struct xoff_pause_frame got;
    memset(&got, 0xff, sizeof got);
    assert_int_equal(xoff_pause_frame_decode(buf, N_OCTETS, &got, &err), -(int)code);
    assert_int_equal(err.code, code);
    assert_string_equal(err.subject, field);
    assert_string_equal(err.value, shown);
    assert_non_null(strstr(err.message, where));
    assert_frame(&got, &(struct xoff_pause_frame){0});
}

static void every_malformed_field_is_refused(void **state)
{
    (void)state;
    const uint8_t *both[] = {pause_xoff, pfc_all};
    for (int i = 0; i < 2; i++) {
        check_refused(both[i], 0, 0x00, XOFF_E_TYPE, "destination", "00-80-c2-00-00-01",
                      "octets 0");
        check_refused(both[i], 5, 0x02, XOFF_E_TYPE, "destination", "01-80-c2-00-00-02",
                      "octets 0");
        check_refused(both[i], 12, 0x81, XOFF_E_TYPE, "EtherType", "81-08", "octets 12");
        check_refused(both[i], 13, 0x09, XOFF_E_TYPE, "EtherType", "88-09", "octets 12");
    }
    check_refused(pause_xoff, 15, 0x00, XOFF_E_TYPE, "opcode", "00-00", "octets 14");
    check_refused(pause_xoff, 15, 0x02, XOFF_E_TYPE, "opcode", "00-02",
                  "octets 14"); /* MPCP gate */
    check_refused(pfc_all, 15, 0x00, XOFF_E_TYPE, "opcode", "01-00", "octets 14");
    check_refused(pfc_all, 15, 0x02, XOFF_E_TYPE, "opcode", "01-02", "octets 14");
    check_refused(pfc_all, 14, 0x02, XOFF_E_TYPE, "opcode", "02-01", "octets 14");
    check_refused(pfc_all, 16, 0x01, XOFF_E_RANGE, "class-enable vector", "01", "octet 16");
    check_refused(pfc_all, 16, 0x80, XOFF_E_RANGE, "class-enable vector", "80", "octet 16");
}

/* Every octet of destination, EtherType and opcode counts: 256 values each. */
static void only_known_headers_are_accepted(void **state)
{
    (void)state;
    for (size_t at = 0; at < 17; at++) {
        if (at >= 6 && at < 12)
            continue; /* the source may be anything */
        for (unsigned value = 0; value < 256; value++) {
            uint8_t buf[N_OCTETS];
            memcpy(buf, pfc_all, N_OCTETS);
            buf[at] = (uint8_t)value;
            /* 00-01 is the other opcode: PAUSE, with the class vector as its time. */
            const bool known = value == pfc_all[at] || (at == 14 && value == 0);
            struct xoff_err err = {0};
            struct xoff_pause_frame got;
            assert_int_equal(xoff_pause_frame_decode(buf, N_OCTETS, &got, &err) == 0, known);
        }
    }
}

static void short_frames_are_refused(void **state)
{
    (void)state;
    for (size_t length = 0; length < N_OCTETS; length++) {
        struct xoff_err err = {0};
        struct xoff_pause_frame got;
        memset(&got, 0xff, sizeof got);
        assert_int_equal(xoff_pause_frame_decode(pfc_all, length, &got, &err), -XOFF_E_SYNTAX);
        assert_string_equal(err.subject, "length");
        assert_frame(&got, &(struct xoff_pause_frame){0});
    }
    struct xoff_err err = {0};
    struct xoff_pause_frame got;
    xoff_pause_frame_decode(pfc_all, 59, &got, &err);
    assert_non_null(strstr(err.message, "59"));
    assert_int_equal(xoff_pause_frame_decode(pfc_all, 60, &got, &err), 0);
}

/* Padding is not looked at (802.3 reserves it and asks for zeros from the sender only). */
static void padding_is_ignored(void **state)
{
    (void)state;
    uint8_t buf[N_OCTETS];
    memcpy(buf, pfc_all, N_OCTETS);
    memset(buf + 34, 0x5a, N_OCTETS - 34);
    struct xoff_err err = {0};
    struct xoff_pause_frame got;
    assert_int_equal(xoff_pause_frame_decode(buf, N_OCTETS, &got, &err), 0);
    assert_int_equal(got.quanta[7], 0xa07);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(golden_frames),
        cmocka_unit_test(length_with_fcs_is_accepted),
        cmocka_unit_test(pause_carries_one_time),
        cmocka_unit_test(encoding_an_unknown_opcode_is_an_error_of_the_caller),
        cmocka_unit_test(random_frames_survive_the_round_trip),
        cmocka_unit_test(random_octets_survive_the_round_trip),
        cmocka_unit_test(every_malformed_field_is_refused),
        cmocka_unit_test(only_known_headers_are_accepted),
        cmocka_unit_test(short_frames_are_refused),
        cmocka_unit_test(padding_is_ignored),
    };
    return cmocka_run_group_tests_name("pfc_frame", tests, NULL, NULL);
}
