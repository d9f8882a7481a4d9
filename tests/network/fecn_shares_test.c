/* What FECN gives to whom: equal rates whatever the first one is, shares that follow flows which
 * come and go, what a modest flow leaves over, the capacity of a link that is paused, and
 * tags that are lost or overtake each other.
 *
 * A full frame without a tag has 1502 B and takes 1522 B of the wire: 9.869 of 10 Gb/s are to be
 * shared. T = tau = 250 us makes the loop fast against the runs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#include "support/rig.h"

#define CARRIED 9.869e9

#define HEAD(n_hosts, keys)                                                                  \
    "drain: 0s\npriorities: {3: {lossless: true}}\nmeasure: {every: 1ms}\n"                  \
    "topology: {kind: star, hosts: " n_hosts ", host_link: {rate: 10Gbps, delay: 500ns" keys \
    "}}\n"

static void expect_near(const struct rig *rig, const char *metric, double want, double part)
{
    const double got = rig_metric(rig, metric);
    if (got < want * (1 - part) || got > want * (1 + part))
        fail_msg("%s is %g, expected %g", metric, got, want);
}

static void expect_above(const struct rig *rig, const char *metric, double least)
{
    const double got = rig_metric(rig, metric);
    if (got <= least)
        fail_msg("%s is %g, expected more than %g", metric, got, least);
}

/* Every flow stays within 2 % of C / N from 30 ms on, whatever N0: from the link's rate to one
 * frame in an interval. In 5 ms a tenth of the link has 410 frames. */
static void whatever_the_first_rate(void **state)
{
    (void)state;
    static const int first[] = {1, 20, 200}, flows[] = {3, 10};
    for (uint32_t i = 0; i < 3; i++)
        for (uint32_t k = 0; k < 2; k++) {
            struct rig rig;
            rig_run(&rig, NULL,
                    HEAD("11", "") "stop: 50ms\nswitch: {buffer: 2MB, marking: {kind: fecn, "
                                   "interval: 250us, n0: %d}}\n"
                                   "transport: {kind: fecn, interval: 250us, n0: %d}\n"
                                   "traffic: [{kind: cbr, from: h0..h%d, to: h10, priority: 3}]\n"
                                   "curves: {fair: {of: evenness, at: h0..h%d, from: 30ms, over: "
                                   "5ms, share: %.0fbps}}\n",
                    first[i], first[i], flows[k] - 1, flows[k] - 1, CARRIED / flows[k]);
            expect_above(&rig, "curve.fair.min", 0.98);
            assert_int_equal(rig.results->n_drops, 0);
            rig_assert_clean(&rig);
            rig_fini(&rig);
        }
}

/* h0 and h1 share the link, from 20 ms on with h2 and h3. By 36 ms they have sent 12.3 and 4.9 MB
 * in frames of 1502 B, 16.5 MB of payload, and have 0.7 MB left, which takes 2 ms. Then h2 and h3
 * are alone. 8 ms after each change everybody is within 2 % of the share. */
static void joiners_and_leavers(void **state)
{
    (void)state;
    struct rig rig;
    rig_run(&rig, NULL,
            HEAD("5", "") "stop: 60ms\nswitch: {buffer: 2MB, marking: {kind: fecn, interval: "
                          "250us}}\ntransport: {kind: fecn, interval: 250us}\n"
                          "traffic: [{kind: flows, priority: 3, list: [{from: h0, to: h4, size: "
                          "17.2MB},\n  {from: h1, to: h4, size: 17.2MB}]},\n"
                          "  {kind: cbr, from: h2..h3, to: h4, start: 20ms, priority: 3}]\n"
                          "curves: {two: {of: evenness, at: h0..h1, from: 10ms, to: 20ms, share: "
                          "%.0fbps},\n  four: {of: evenness, at: h0..h3, from: 28ms, to: 36ms, "
                          "share: %.0fbps},\n  last: {of: evenness, at: h2..h3, from: 50ms, share: "
                          "%.0fbps}}\n",
            CARRIED / 2, CARRIED / 4, CARRIED / 2);
    expect_above(&rig, "curve.two.min", 0.98);
    expect_above(&rig, "curve.four.min", 0.98);
    expect_above(&rig, "curve.last.min", 0.98);
    for (uint32_t i = 0; i < 2; i++)
        assert_true(rig.results->flows[i].finish_at > 36 * XOFF_MS &&
                    rig.results->flows[i].finish_at < 42 * XOFF_MS);
    rig_assert_clean(&rig);
    rig_fini(&rig);
}

/* h0 wants 500 Mb/s, less than a quarter: h1 to h3 have a third of the rest, within 3 %. */
static void modest_flow(void **state)
{
    (void)state;
    struct rig rig;
    rig_run(&rig, NULL,
            HEAD("5", "") "stop: 50ms\nswitch: {buffer: 2MB, marking: {kind: fecn, interval: "
                          "250us}}\ntransport: {kind: fecn, interval: 250us}\n"
                          "traffic: [{kind: cbr, from: h0, to: h4, rate: 500Mbps, priority: 3},\n"
                          "  {kind: cbr, from: h1..h3, to: h4, priority: 3}]\n"
                          "curves: {modest: {of: throughput, at: h0, from: 20ms}, rest: {of: "
                          "evenness, at: h1..h3,\n  from: 20ms, over: 5ms, share: %.0fbps}}\n",
            (CARRIED - 0.5e9) / 3);
    expect_near(&rig, "curve.modest.mean", 0.5e9, 0.03);
    expect_above(&rig, "curve.rest.min", 0.97);
    rig_assert_clean(&rig);
    rig_fini(&rig);
}

/* The link between the switches is paused by the second one, which has 4 Gb/s to h4 and no FECN.
 * While it is, the first switch finds a capacity of 4 Gb/s, and its queue is shorter than with the
 * link's rate as the capacity, where only its length holds the flows back. It still swings: when
 * the queue is gone so are the pauses, and the link seems to have 10 Gb/s again. */
static void paused_link(void **state)
{
    (void)state;
    double queue[2];
    for (uint32_t nominal = 0; nominal < 2; nominal++) {
        struct rig rig;
        rig_run(&rig, NULL,
                "stop: 80ms\ndrain: 0s\npriorities: {3: {lossless: true}}\n"
                "measure: {every: 100us}\ntopology: {kind: custom, nodes: {h0: host, h1: host, h2: "
                "host, h3: host,\n  h4: host, s0: switch, s1: switch}, links: [{endpoints: [h0, "
                "s0], rate: 10Gbps},\n  {endpoints: [h1, s0], rate: 10Gbps}, {endpoints: [h2, s0], "
                "rate: 10Gbps}, {endpoints: [h3, s0],\n  rate: 10Gbps}, {endpoints: [s0, s1], "
                "rate: 10Gbps}, {endpoints: [s1, h4], rate: 4Gbps}]}\n"
                "switch: {buffer: 2MB, marking: {kind: fecn, capacity: %s}}\n"
                "switches: [{match: s1, marking: none, mmu: {kind: static, xoff: 30KB, xon: "
                "20KB}}]\ntransport: {kind: fecn, interval: 250us}\n"
                "traffic: [{kind: cbr, from: h0..h3, to: h4, priority: 3}]\n"
                "curves: {q: {of: queue, at: \"s0:4\", from: 20ms}, link: {of: throughput, at: "
                "\"s0:4\", from: 20ms},\n  jain: {of: jain, at: h0..h3, from: 20ms, over: 5ms}}\n",
                nominal ? "nominal" : "measured");
        queue[nominal] = rig_metric(&rig, "curve.q.mean");
        expect_above(&rig, "curve.link.mean", 0.9 * 4e9);
        expect_above(&rig, "curve.jain.min", 0.99);
        assert_true(rig_metric(&rig, "pauses") > 500);
        assert_int_equal(rig.results->n_drops, 0);
        rig_assert_clean(&rig);
        rig_fini(&rig);
    }
    if (queue[0] > 0.75 * queue[1])
        fail_msg("queue %g and %g", queue[0], queue[1]);
}

/* A strict priority leaves 5 of 10 Gb/s, and the link fails in the middle of an interval with
 * frames waiting. The time that they waited counts, so the capacity is still found to be 5 Gb/s:
 * the rate at 8 ms is at most the mean of that and the 6.27 Gb/s before it, and not that of an idle
 * link. */
static void failed_link(void **state)
{
    (void)state;
    struct rig rig;
    rig_run(
        &rig, NULL,
        "stop: 9ms\ndrain: 0s\nmeasure: {every: 100us, series: point}\n"
        "topology: {kind: star, hosts: 3, host_link: {rate: 10Gbps, delay: 1us}}\n"
        "priorities: {5: {strict: true}}\nswitch: {buffer: 2MB, marking: {kind: fecn, n0: 1}}\n"
        "transport: fecn\ntransports: {plain: {kind: datagram}}\n"
        "traffic: [{kind: cbr, from: h0, to: h2, rate: 8Gbps, priority: 1, start: 5ms},\n"
        "  {kind: cbr, from: h1, to: h2, rate: 5Gbps, priority: 5, transport: plain}]\n"
        "links: [{link: h2-s0, at: 7.5ms, fail: true}, {link: h2-s0, at: 7.6ms, repair: true}]\n"
        "curves: {before: {of: advertised, at: \"s0:2\", priority: 1, from: 7.1ms, to: 7.9ms},\n"
        "  after: {of: advertised, at: \"s0:2\", priority: 1, from: 8.1ms, to: 8.9ms}}\n");
    expect_near(&rig, "curve.before.mean", 6.27e9, 0.01);
    expect_near(&rig, "curve.after.mean", (6.27e9 + 5e9) / 2, 0.02);
    rig_assert_clean(&rig);
    rig_fini(&rig);
}

/* A frame in fifty is lost on every link, so that 8 % of the tags do not come back. Rates are as
 * even as without: the next tag says the same. */
static void lost_tags(void **state)
{
    (void)state;
    static const char *const tags[] = {"data", "probe"};
    for (uint32_t i = 0; i < 2; i++) {
        struct rig rig;
        rig_run(&rig, NULL,
                HEAD("5", ", error: 0.02") "stop: 60ms\nswitch: {buffer: 2MB, marking: {kind: "
                                           "fecn, interval: 250us}}\n"
                                           "transport: {kind: fecn, interval: 250us, tags: %s}\n"
                                           "traffic: [{kind: cbr, from: h0..h3, to: h4, priority: "
                                           "3}]\ncurves: {fair: {of: evenness, at: h0..h3, from: "
                                           "20ms, over: 5ms},\n  link: {of: throughput, at: "
                                           "\"s0:4\", from: 20ms}}\n",
                tags[i]);
        const double sent = rig_metric(&rig, "tags.sent"), back = rig_metric(&rig, "tags.received");
        if (back > 0.96 * sent || back < 0.88 * sent)
            fail_msg("%g of %g tags came back", back, sent);
        expect_above(&rig, "curve.fair.min", 0.98);
        expect_above(&rig, "curve.link.mean", 0.97 * CARRIED);
        rig_assert_clean(&rig);
        rig_fini(&rig);
    }
}

/* Every frame takes one of two ways at random, of which one is 100 us longer. With a tag every 50
 * us many overtake the one before; the interval of the switches, 1 ms, is long against both.
 * Whatever the order, a tag has a rate of this interval or the one before: rates stay within 5 %.
 */
static void reordered_tags(void **state)
{
    (void)state;
    struct rig rig;
    const struct rig_options options = {.cell_bound = XOFF_PARAM_AUTO, .capture = "h2"};
    rig_run(&rig, &options,
            "stop: 60ms\ndrain: 0s\npriorities: {3: {lossless: true}}\nmeasure: {every: 1ms}\n"
            "topology: {kind: custom, nodes: {h0: host, h1: host, h2: host, s0: switch, s1: "
            "switch,\n  a: switch, b: switch}, links: [{endpoints: [h0, s0], rate: 10Gbps},\n"
            "  {endpoints: [h1, s0], rate: 10Gbps}, {endpoints: [s0, a], rate: 40Gbps}, "
            "{endpoints: [s0, b],\n  rate: 40Gbps, delay: 50us}, {endpoints: [a, s1], rate: "
            "40Gbps}, {endpoints: [b, s1],\n  rate: 40Gbps, delay: 50us}, {endpoints: [s1, h2], "
            "rate: 10Gbps}]}\n"
            "switch: {buffer: 32MB, path: scatter, marking: {kind: fecn, qeq: 96000B}}\n"
            "transport: {kind: fecn, interval: 50us}\n"
            "traffic: [{kind: cbr, from: h0..h1, to: h2, priority: 3}]\n"
            "curves: {fair: {of: evenness, at: h0..h1, from: 40ms, over: 5ms, share: %.0fbps}}\n",
            CARRIED / 2);
    expect_above(&rig, "curve.fair.min", 0.95);
    /* Tags of h0 that arrive behind one that was sent later: on the longer way (1/2), with the next
     * tag on the shorter one (1/2). */
    const struct result_capture *c = &rig.results->captures[0];
    uint64_t n_tags = 0, n_late = 0, highest = 0;
    for (uint64_t k = 0; k < c->n_frames; k++) {
        const struct result_frame *f = &c->frames[k];
        if (!f->asks_rate || f->from != 0)
            continue;
        n_tags++;
        n_late += f->seq < highest;
        highest = f->seq > highest ? f->seq : highest;
    }
    if (n_tags < 1000 || n_late < n_tags / 5)
        fail_msg("%u of %u tags came late", (unsigned)n_late, (unsigned)n_tags);
    assert_int_equal(rig.results->n_drops, 0);
    rig_assert_clean(&rig);
    rig_fini(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whatever_the_first_rate),
        cmocka_unit_test(joiners_and_leavers),
        cmocka_unit_test(modest_flow),
        cmocka_unit_test(paused_link),
        cmocka_unit_test(failed_link),
        cmocka_unit_test(lost_tags),
        cmocka_unit_test(reordered_tags),
    };
    return cmocka_run_group_tests_name("fecn_shares", tests, NULL, NULL);
}
