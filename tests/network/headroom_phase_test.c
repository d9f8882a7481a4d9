/* Headroom under the worst phase: no loss at the computed value, loss with one maximum frame less.
 *
 *   h1 ==> s0 ==> h0   full frames of priority 3 at line rate; h0 stands still, so that s0 fills up
 *   h2 --> s0 --> h1   one full frame of priority 0, in the way of the pause frame
 *
 * The ingress queue of h1 reaches its threshold in the middle of a frame, the first byte of which
 * still fits below it: XOFF is decided at t, when its last bit has arrived. The frame to h1 delays
 * the pause frame the more the closer before t it begins; of two arrivals at t itself either may
 * come first. So the worst phase is t or 1 ps before. Others are tried all over one frame time.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <xoff/headroom.h>
#include <xoff/units.h>

#include "support/rig.h"

#define PRIORITY 3
#define START (50 * XOFF_US) /* of h1; leaves room for h2 to begin earlier */

struct cable {
    xoff_rate rate_bps;
    uint32_t length_m;
    uint32_t max_frame;
    const char *mmu; /* printf format: threshold */
};

struct outcome {
    xoff_time decided_at;
    int64_t headroom_bytes, peak_bytes;
    uint64_t lost_frames;
};

static xoff_time delay_of(const struct cable *link)
{
    return (xoff_time)link->length_m * 1000 * XOFF_PS_PER_MM;
}

static xoff_time byte_of(const struct cable *link)
{
    return (xoff_time)(8 * (uint64_t)XOFF_S / link->rate_bps);
}

/* What h1 sends: full frames without end, or n of them, a short one and again full ones. */
static void forward_traffic(const struct cable *link, uint64_t n_full, uint32_t short_frame,
                            char *text, size_t size)
{
    if (!short_frame) {
        snprintf(text, size, "- {kind: cbr, from: h1, to: h0, priority: 3, start: %lldps}\n",
                 (long long)START);
        return;
    }
    snprintf(text, size,
             "- {kind: flows, priority: 3, list: [{from: h1, to: h0, at: %lldps, size: %lluB},\n"
             "  {from: h1, to: h0, at: %lldps, size: auto}]}\n",
             (long long)START,
             (unsigned long long)(n_full * (link->max_frame - 62) + short_frame - 62),
             (long long)(START + (xoff_time)n_full * (link->max_frame + 20) * byte_of(link) + 1));
}

/* headroom_bytes < 0: as computed. reverse_at < 0: no frame in the way. */
static struct outcome run_with(const struct cable *link, int64_t headroom_bytes,
                               xoff_time reverse_at, uint64_t n_full, uint32_t short_frame)
{
    char rate[32], headroom[32] = "auto", reverse[128] = "", mmu[128], forward[256];
    forward_traffic(link, n_full, short_frame, forward, sizeof forward);
    if (headroom_bytes >= 0)
        snprintf(headroom, sizeof headroom, "%lldB", (long long)headroom_bytes);
    if (reverse_at >= 0)
        snprintf(
            reverse, sizeof reverse,
            "- {kind: flows, priority: 0, list: [{at: %lldps, from: h2, to: h1, size: %uB}]}\n",
            (long long)reverse_at, link->max_frame - 62);
    /* One byte more than ten frames. */
    snprintf(mmu, sizeof mmu, link->mmu, 10 * link->max_frame + 1);
    struct rig rig;
    rig_run(&rig, NULL,
            "stop: 10ms\ndrain: 0s\n"
            "topology: {kind: star, hosts: 3, host_link: {rate: %s, length: %um}}\n"
            "switch: {buffer: 100MB, mmu: %s}\n"
            "port: {headroom: %s, max_frame: %uB}\n"
            "priorities: {3: {lossless: true}}\n"
            "receivers: [{host: h0, rate: 0bps, buffer: 100MB, xoff: 1B, xon: 0B}]\n"
            "deadlock: {after: 0s}\n"
            "traffic:\n"
            "%s%s",
            xoff_format_rate(rate, sizeof rate, link->rate_bps), link->length_m, mmu, headroom,
            link->max_frame, forward, reverse);
    struct outcome out = {0};
    const uint32_t s0 = rig_node(&rig, "s0");
    for (uint64_t i = 0; i < rig.results->n_pauses && !out.decided_at; i++)
        if (rig.results->pauses[i].node == s0)
            out.decided_at = rig.results->pauses[i].at;
    const struct result_queue *in = &rig_port(&rig, "s0", "h1")->queue[PRIORITY];
    out.headroom_bytes = in->headroom_bytes;
    out.peak_bytes = in->headroom_peak_bytes;
    for (uint32_t i = 0; i < rig.results->n_drops; i++) {
        assert_int_equal(rig.results->drops[i].node, s0);
        assert_int_equal(rig.results->drops[i].cause, RESULT_DROP_BUFFER);
        assert_int_equal(rig.results->drops[i].lossless, 1);
        out.lost_frames += rig.results->drops[i].frames;
    }
    rig_assert_clean(&rig);
    rig_fini(&rig);
    return out;
}

static struct outcome run(const struct cable *link, int64_t headroom_bytes, xoff_time reverse_at)
{
    return run_with(link, headroom_bytes, reverse_at, 0, 0);
}

/* When h2 must be offered a frame for it to begin at s0 towards h1 at `at`. */
static xoff_time reverse_at(const struct cable *link, xoff_time at)
{
    return at - (link->max_frame + 8) * byte_of(link) - delay_of(link);
}

/* Tries all phases with this headroom; returns the worst. */
static struct outcome worst_of(const struct cable *link, int64_t headroom_bytes)
{
    const struct outcome alone = run(link, headroom_bytes, -1);
    assert_true(alone.decided_at > START);
    const xoff_time exact = reverse_at(link, alone.decided_at);
    struct outcome worst = run(link, headroom_bytes, exact - 1);
    const struct outcome tie = run(link, headroom_bytes, exact);
    assert_int_equal(tie.decided_at, alone.decided_at);
    if (tie.peak_bytes > worst.peak_bytes || tie.lost_frames > worst.lost_frames)
        worst = tie;
    /* Begun 1 ps later it finds the pause frame before it. */
    assert_int_equal(run(link, headroom_bytes, exact + 1).peak_bytes, alone.peak_bytes);
    const xoff_time slot = (link->max_frame + 20) * byte_of(link);
    for (uint32_t i = 0; i < 16; i++) {
        const struct outcome o = run(link, headroom_bytes, exact - 2 - i * slot / 16);
        assert_int_equal(o.decided_at, alone.decided_at);
        assert_true(o.peak_bytes <= worst.peak_bytes);
        assert_true(o.lost_frames <= worst.lost_frames);
    }
    return worst;
}

static int64_t computed_for(const struct cable *link)
{
    const struct xoff_headroom_params params = {
        .rate_bps = link->rate_bps,
        .delay = delay_of(link),
        .max_frame_bytes = link->max_frame,
        .response_for = xoff_quanta_time(xoff_response_quanta(link->rate_bps), link->rate_bps),
    };
    return xoff_headroom_bytes(&params);
}

static void check(const struct cable *link)
{
    const int64_t computed = computed_for(link);
    const struct outcome enough = worst_of(link, -1);
    assert_int_equal(enough.headroom_bytes, computed);
    assert_int_equal(enough.lost_frames, 0);
    const struct outcome less = worst_of(link, computed - link->max_frame);
    char rate[32];
    print_message("%8s %5u m %5u B: headroom %7lld B, used %7lld B, one frame less loses %llu\n",
                  xoff_format_rate(rate, sizeof rate, link->rate_bps), link->length_m,
                  link->max_frame, (long long)computed, (long long)enough.peak_bytes,
                  (unsigned long long)less.lost_frames);
    assert_true(enough.peak_bytes > computed - link->max_frame);
    assert_true(less.lost_frames >= 1);
}

static const xoff_rate rates[] = {1 * XOFF_GBPS,   10 * XOFF_GBPS,  25 * XOFF_GBPS,
                                  100 * XOFF_GBPS, 400 * XOFF_GBPS, 800 * XOFF_GBPS};
static const uint32_t lengths[] = {1, 100, 2000};

static void check_all(const char *mmu, uint32_t max_frame)
{
    for (size_t r = 0; r < sizeof rates / sizeof *rates; r++)
        for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++) {
            const struct cable link = {rates[r], lengths[l], max_frame, mmu};
            check(&link);
        }
}

static void static_thresholds(void **state)
{
    (void)state;
    check_all("{kind: static, xoff: %uB, xon: 1000B}", 1518);
}

/* The bound is met to two bytes. Among the q full frames that follow the deciding one a frame of
 * s - 20 bytes (headroom.c: W = q (L + 20) + s) shifts the last of them so that it would begin just
 * as the gate closes; it must begin before, hence one byte less. And the deciding frame has one
 * byte below the threshold. */
static void bound_is_met(void **state)
{
    (void)state;
    for (size_t r = 0; r < sizeof rates / sizeof *rates; r++)
        for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++) {
            const struct cable link = {rates[r], lengths[l], 1518,
                                       "{kind: static, xoff: %uB, xon: 1000B}"};
            const xoff_time byte = byte_of(&link), slot = 1538 * byte;
            const int64_t computed = computed_for(&link);
            const uint32_t short_frame = (uint32_t)(computed % 1518) - 1;
            if (short_frame < 64 || short_frame > 1518)
                continue;
            const xoff_time decided = run(&link, -1, -1).decided_at;
            const xoff_time sent_for = decided - START - delay_of(&link) + 12 * byte;
            assert_int_equal(sent_for % slot, 0);
            const uint64_t n_full = (uint64_t)(sent_for / slot);
            const xoff_time reverse = reverse_at(&link, decided - 1);
            struct outcome o = run_with(&link, -1, reverse, n_full, short_frame);
            assert_int_equal(o.decided_at, decided);
            assert_int_equal(o.peak_bytes, computed - 2);
            assert_int_equal(o.lost_frames, 0);
            o = run_with(&link, computed - 2, reverse, n_full, short_frame);
            assert_int_equal(o.lost_frames, 0);
            o = run_with(&link, computed - 3, reverse, n_full, short_frame);
            assert_int_equal(o.lost_frames, 1);
        }
}

static void static_thresholds_jumbo(void **state)
{
    (void)state;
    check_all("{kind: static, xoff: %uB, xon: 1000B}", 9216);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(static_thresholds),
        cmocka_unit_test(static_thresholds_jumbo),
        cmocka_unit_test(bound_is_met),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
