/* What is found in captures, frame by frame. At 10 Gb/s a quantum takes 51.2 ns, so 1000 quanta
 * last 51.2 us. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <xoff/cnm.h>
#include <xoff/dcbx_tlv.h>
#include <xoff/eth.h>
#include <xoff/pfc_frame.h>
#include <xoff/rng.h>

#include "conform/watch.h"

#define AT(us) (1000000000 + (uint64_t)((us)*1000)) /* captures begin at some time of day */

static const uint8_t low[6] = {2, 0, 0, 0, 0, 1}, high[6] = {2, 0, 0, 0, 0, 2};
static const struct capture_interface ethernet = {.link_type = CAPTURE_ETHERNET};

static struct watch *begin(void)
{
    return watch_create(10 * XOFF_GBPS);
}

static void see(struct watch *w, uint64_t at_ns, const uint8_t *octets, uint32_t length)
{
    const struct capture_frame frame = {.octets = octets,
                                        .captured = length,
                                        .original = length,
                                        .interface = &ethernet,
                                        .has_time = true,
                                        .at_ns = at_ns};
    watch_frame(w, &frame);
}

static void pause(struct watch *w, uint64_t at_ns, uint16_t quanta)
{
    const struct xoff_pause_frame frame = {
        .opcode = XOFF_OPCODE_PFC, .classes = 1 << 3, .quanta = {[3] = quanta}};
    uint8_t octets[60];
    xoff_pause_frame_encode(&frame, low, octets);
    see(w, at_ns, octets, sizeof octets);
}

static enum xoff_verdict verdict(const struct watch_result *r, enum watch_check check)
{
    return r[check].result.verdict;
}

static void test_nothing(void **state)
{
    struct watch *w = begin();
    const struct watch_result *r = watch_end(w);
    (void)state;
    for (uint32_t i = 0; i < WATCH_N_CHECKS; i++)
        assert_int_equal(verdict(r, i), XOFF_SKIP);
    watch_destroy(w);
}

/* Renewed at the last moment, and resumed. */
static void test_good(void **state)
{
    struct watch *w = begin();
    (void)state;
    pause(w, AT(0), 1000);
    pause(w, AT(51.2), 1000);
    pause(w, AT(80), 0);
    const struct watch_result *r = watch_end(w);
    for (uint32_t i = WATCH_PFC; i <= WATCH_RESUME; i++)
        assert_int_equal(verdict(r, i), XOFF_PASS);
    assert_string_equal(r[WATCH_REFRESH].result.observed, "1 pauses, renewed 1 times");
    assert_string_equal(r[WATCH_QUANTA].result.observed, "1000 to 1000 quanta");
    watch_destroy(w);
}

/* One nanosecond later it had run out; within its length that is a late refresh. */
static void test_late(void **state)
{
    struct watch *w = begin();
    (void)state;
    pause(w, AT(0), 1000);
    pause(w, AT(51.201), 1000);
    pause(w, AT(80), 0);
    const struct watch_result *r = watch_end(w);
    assert_int_equal(verdict(r, WATCH_REFRESH), XOFF_FAIL);
    assert_int_equal(r[WATCH_REFRESH].findings[0].frame, 2);
    assert_int_equal(verdict(r, WATCH_RESUME), XOFF_PASS);
    watch_destroy(w);
}

/* Beyond twice its length it is another pause, and the first was never resumed. */
static void test_run_out(void **state)
{
    struct watch *w = begin();
    (void)state;
    pause(w, AT(0), 1000);
    pause(w, AT(102.401), 1000);
    pause(w, AT(110), 0);
    const struct watch_result *r = watch_end(w);
    assert_int_equal(verdict(r, WATCH_REFRESH), XOFF_PASS);
    assert_int_equal(verdict(r, WATCH_RESUME), XOFF_FAIL);
    assert_int_equal(r[WATCH_RESUME].findings[0].frame, 1);
    watch_destroy(w);
}

/* At the end of the capture a pause may be on, or have run out. */
static void test_end(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 2; i++) {
        static const uint8_t other[60] = {2, 0, 0, 0, 0, 9, 2, 0, 0, 0, 0, 8, 0x08, 0x00};
        struct watch *w = begin();
        pause(w, AT(0), 1000);
        see(w, i ? AT(51.201) : AT(51.2), other, sizeof other);
        assert_int_equal(verdict(watch_end(w), WATCH_RESUME), i ? XOFF_FAIL : XOFF_PASS);
        watch_destroy(w);
    }
}

static void test_malformed(void **state)
{
    const struct xoff_pause_frame frame = {
        .opcode = XOFF_OPCODE_PFC, .classes = 1, .quanta = {[0] = 7, [1] = 9}};
    struct watch *w = begin();
    uint8_t octets[60];
    (void)state;
    xoff_pause_frame_encode(&frame, low, octets);
    octets[18 + 3] = 9; /* a time whose bit is 0 */
    see(w, AT(0), octets, sizeof octets);
    octets[15] = 2; /* opcode 0102 */
    see(w, AT(1), octets, sizeof octets);
    octets[14] = 0xff, octets[15] = 0xfe; /* CC_Update: named, not malformed */
    see(w, AT(2), octets, sizeof octets);
    const struct watch_result *r = watch_end(w);
    assert_int_equal(r[WATCH_QUANTA].n_findings, 1);
    assert_int_equal(r[WATCH_QUANTA].findings[0].frame, 1);
    assert_int_equal(r[WATCH_PFC].n_findings, 1);
    assert_int_equal(r[WATCH_PFC].findings[0].frame, 2);
    watch_destroy(w);
}

/* A capture that keeps 34 octets of each frame loses the padding only. */
static void test_snapped(void **state)
{
    const struct xoff_pause_frame pause_frame = {
        .opcode = XOFF_OPCODE_PFC, .classes = 1, .quanta = {7}};
    uint8_t octets[60];
    (void)state;
    xoff_pause_frame_encode(&pause_frame, low, octets);
    for (uint32_t kept = 33; kept <= 34; kept++) {
        struct watch *w = begin();
        const struct capture_frame frame = {.octets = octets,
                                            .captured = kept,
                                            .original = 60,
                                            .interface = &ethernet,
                                            .has_time = true,
                                            .at_ns = AT(0)};
        watch_frame(w, &frame);
        assert_int_equal(verdict(watch_end(w), WATCH_PFC), kept < 34 ? XOFF_FAIL : XOFF_PASS);
        watch_destroy(w);
    }
}

static void lldp(struct watch *w, uint64_t at_ns, const uint8_t mac[6], bool is_willing,
                 uint8_t enabled)
{
    const struct xoff_dcbx_pdu pdu = {
        .has = 1 << XOFF_DCBX_PFC,
        .pfc = {.is_willing = is_willing, .max_classes = 8, .enabled = enabled}};
    struct xoff_lldp about = {.ttl_s = 120, .chassis = {4, 6, {0}}, .port = {3, 6, {0}}};
    uint8_t tlvs[64], octets[256];
    memcpy(about.destination, xoff_lldp_nearest_bridge, 6);
    memcpy(about.source, mac, 6);
    memcpy(about.chassis.octets, mac, 6);
    const size_t n = xoff_dcbx_pdu_encode(&pdu, tlvs, sizeof tlvs);
    see(w, at_ns, octets, (uint32_t)xoff_lldp_encode(&about, tlvs, n, octets, sizeof octets));
}

/* The willing port speaks `after_s` seconds after its peer. */
static enum xoff_verdict agree(bool is_low_willing, bool is_high_willing, uint8_t high_enabled,
                               double after_s)
{
    struct watch *w = begin();
    lldp(w, AT(0), low, is_low_willing, 0x08);
    lldp(w, AT(after_s * 1e6), high, is_high_willing, high_enabled);
    const enum xoff_verdict answer = verdict(watch_end(w), WATCH_WILLING);
    watch_destroy(w);
    return answer;
}

static void test_willing(void **state)
{
    (void)state;
    assert_int_equal(agree(false, false, 0x08, 0), XOFF_PASS);
    assert_int_equal(agree(false, false, 0x10, 0), XOFF_FAIL);
    /* The higher address has 10 s to follow, if it is willing alone or both are. */
    assert_int_equal(agree(false, true, 0x10, 9.999), XOFF_PASS);
    assert_int_equal(agree(false, true, 0x10, 10), XOFF_FAIL);
    assert_int_equal(agree(true, true, 0x10, 10), XOFF_FAIL);
    assert_int_equal(agree(true, true, 0x08, 10), XOFF_PASS);
    /* The lower one would have to follow, and has not spoken since. */
    assert_int_equal(agree(true, false, 0x10, 10), XOFF_PASS);
}

static void test_three_ports(void **state)
{
    static const uint8_t third[6] = {2, 0, 0, 0, 0, 3};
    struct watch *w = begin();
    (void)state;
    lldp(w, AT(0), low, false, 8);
    lldp(w, AT(0), high, false, 8);
    lldp(w, AT(0), third, false, 8);
    assert_int_equal(verdict(watch_end(w), WATCH_WILLING), XOFF_FAIL);
    watch_destroy(w);
}

static void test_cnm(void **state)
{
    const struct xoff_eth eth = {.type = XOFF_ETHERTYPE_CNM};
    struct xoff_cnm cnm = {.feedback = 1};
    struct watch *w = begin();
    uint8_t octets[60] = {0};
    (void)state;
    const size_t at = xoff_eth_encode(&eth, octets, sizeof octets);
    xoff_cnm_encode(&cnm, octets + at, sizeof octets - at);
    see(w, AT(0), octets, sizeof octets);
    octets[at] = 0x10; /* version 1 */
    see(w, AT(1), octets, sizeof octets);
    const struct watch_result *r = watch_end(w);
    assert_int_equal(r[WATCH_CNM].result.n_frames, 2);
    assert_int_equal(r[WATCH_CNM].n_findings, 1);
    assert_int_equal(r[WATCH_CNM].findings[0].frame, 2);
    watch_destroy(w);
}

/* Whatever the octets are: frames of each kind with random octets changed, cut anywhere. The seed
 * is fixed; the sanitizers look. */
static void test_random(void **state)
{
    const struct xoff_pause_frame pause_frame = {
        .opcode = XOFF_OPCODE_PFC, .classes = 0xff, .quanta = {1, 2, 3, 4, 5, 6, 7, 8}};
    struct xoff_rng rng;
    struct watch *w = begin();
    (void)state;
    xoff_rng_init(&rng, 1, 2, 3);
    for (uint32_t i = 0; i < 20000; i++) {
        static const uint16_t types[] = {0x8808, 0x88cc, 0x22e7, 0x22e9, 0x8100};
        uint8_t octets[128] = {0};
        const uint16_t type = types[xoff_rng_below(&rng, 5)];
        xoff_pause_frame_encode(&pause_frame, low, octets);
        octets[12] = (uint8_t)(type >> 8), octets[13] = (uint8_t)type;
        for (uint32_t k = 0; k < 1 + i % 40; k++)
            octets[14 + xoff_rng_below(&rng, sizeof octets - 14)] = (uint8_t)xoff_rng_u32(&rng);
        see(w, AT(i), octets, (uint32_t)xoff_rng_below(&rng, sizeof octets + 1));
    }
    const struct watch_result *r = watch_end(w);
    assert_true(r[WATCH_PFC].n_findings > 100 && r[WATCH_DCBX].n_findings > 100 &&
                r[WATCH_CNM].n_findings > 100);
    watch_destroy(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing),     cmocka_unit_test(test_good),
        cmocka_unit_test(test_late),        cmocka_unit_test(test_run_out),
        cmocka_unit_test(test_end),         cmocka_unit_test(test_malformed),
        cmocka_unit_test(test_snapped),     cmocka_unit_test(test_willing),
        cmocka_unit_test(test_three_ports), cmocka_unit_test(test_cnm),
        cmocka_unit_test(test_random),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
