/* FECN in whole networks: tags on data and alone, what switches write into them and receivers send
 * back, queues held near their set point, fair rates over one and several hot spots, PAUSE beside
 * it, severe congestion, a link that others share. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/rig.h"

static void run(struct rig *rig, const char *capture, uint32_t n_threads, const char *text)
{
    const struct rig_options options = {.n_threads = n_threads,
                                        .cell_bound = n_threads > 1 ? 0 : XOFF_PARAM_AUTO,
                                        .capture = capture};
    rig_run(rig, &options, "%s", text);
}

/* h0 sends at up to 40 Gb/s over two switches to h1, whose link has 10 Gb/s. */
#define LINE(keys, transport)                                                                  \
    "stop: 30ms\n"                                                                             \
    "topology: {kind: custom, nodes: {h0: host, h1: host, s0: switch, s1: switch}, links: [\n" \
    "  {endpoints: [h0, s0], rate: 40Gbps, delay: 1us}, {endpoints: [s0, s1], rate: 40Gbps,\n" \
    "  delay: 700ns}, {endpoints: [s1, h1], rate: 10Gbps, delay: 1us}]}\n"                     \
    "switch: {buffer: 16MB" keys "}\npriorities: {3: {lossless: true}}\n"                      \
    "transport: " transport "\n"                                                               \
    "traffic: [{kind: flows, priority: 3, list: [{from: h0, to: h1, size: 4MB}]}]\n"

/* Frames that h0 sends: of 1502 B without a tag, with 62 of headers, and 16 more with one; a tag
 * alone has 64 B. What comes back has the rate of the slower port: at first 10 Gb/s / 200, never
 * more than 10 Gb/s. */
static void tags_travel(void **state)
{
    (void)state;
    static const char *const texts[] = {
        LINE("", "fecn"),
        LINE("", "{kind: fecn, tags: probe}"),
        LINE("", "{kind: fecn, reliability: go-back-n}"),
        LINE("", "{kind: fecn, tags: probe, reliability: tcp}"),
        LINE(", fabric: output-queued", "fecn"),
        LINE(", processing_delay: 300ns", "fecn"),
    };
    for (uint32_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        const bool is_alone = strstr(texts[i], "probe");
        const uint32_t headers = strstr(texts[i], "tcp") ? 70 : 62;
        struct rig rig;
        run(&rig, "h0", 1, texts[i]);
        const struct result_capture *c = &rig.results->captures[0];
        uint64_t n_sent = 0, n_back = 0;
        for (uint64_t k = 0; k < c->n_frames; k++) {
            const struct result_frame *f = &c->frames[k];
            const struct xoff_notice *tag = &c->extras[k].notice;
            if (f->kind == RESULT_FRAME_DATA && f->bytes > 64) {
                assert_true(f->bytes <= (f->asks_rate ? 1518 : 1502));
                assert_int_equal(f->bytes, f->payload_bytes + headers + (f->asks_rate ? 16 : 0));
            }
            if (f->asks_rate) {
                assert_int_equal(f->kind, is_alone ? RESULT_FRAME_PROBE : RESULT_FRAME_DATA);
                assert_true(c->extras[k].has_notice && f->is_sent);
                assert_true(tag->rate_bps == XOFF_NOTICE_NO_RATE && !tag->cp_id);
                assert_int_equal(f->priority, 3);
                n_sent++;
            } else if (f->kind == RESULT_FRAME_PROBE) {
                assert_true(c->extras[k].has_notice && !f->is_sent);
                assert_int_equal(f->bytes, 64);
                if (!n_back++)
                    assert_int_equal(tag->rate_bps, 50 * XOFF_MBPS);
                assert_true(tag->rate_bps <= 10 * XOFF_GBPS);
            }
        }
        assert_true(n_sent >= 5 && n_back >= n_sent - 1 && n_back <= n_sent);
        assert_int_equal(rig.results->flows[0].tags_sent, n_sent);
        assert_int_equal(rig.results->flows[0].tags_back, n_back);
        assert_true(rig_metric(&rig, "tags.sent") == (double)n_sent);
        assert_true(rig_metric(&rig, "tags.received") == (double)n_back);
        assert_true(rig_metric(&rig, "feedback") == (double)n_back);
        assert_true(rig_metric(&rig, "notices.samples") == 2 * (double)n_sent);
        assert_true(rig_metric(&rig, "notices.received") == 0);
        assert_int_equal(rig.results->flows[0].delivered_bytes, 4000000);
        rig_assert_clean(&rig);
        rig_fini(&rig);
    }
}

/* Without a marking nobody writes, and the flow learns from its first tag that the way is free. */
static void nobody_writes(void **state)
{
    (void)state;
    struct rig rig;
    run(&rig, "h0", 1, LINE(", marking: none", "fecn"));
    const struct result_capture *c = &rig.results->captures[0];
    uint64_t n_back = 0;
    for (uint64_t k = 0; k < c->n_frames; k++)
        if (c->frames[k].kind == RESULT_FRAME_PROBE && !c->frames[k].asks_rate) {
            assert_true(c->extras[k].notice.rate_bps == XOFF_NOTICE_NO_RATE);
            n_back++;
        }
    assert_true(n_back >= 1);
    assert_true(rig_metric(&rig, "notices.samples") == 0);
    rig_assert_clean(&rig);
    rig_fini(&rig);
}

/* Senders at 10 Gb/s, one receiver. */
#define STAR(n_hosts, senders, to, switch_keys, transport)                                    \
    "stop: 80ms\ndrain: 0s\n"                                                                 \
    "topology: {kind: star, hosts: " n_hosts ", host_link: {rate: 10Gbps, delay: 500ns}}\n"   \
    "switch: {buffer: 2MB" switch_keys "}\npriorities: {3: {lossless: true}}\n"               \
    "transport: " transport "\n"                                                              \
    "traffic: [{kind: cbr, from: " senders ", to: h" to ", priority: 3}]\n"                   \
    "measure: {every: 20us}\ncurves: {q: {of: queue, at: \"s0:" to "\", from: 40ms}, link:\n" \
    "  {of: throughput, at: \"s0:" to "\", from: 40ms}}\n"
#define FOUR(keys, transport) STAR("5", "h0..h3", "4", keys, transport)

/* Every queue control and way to send tags holds the queue near Qeq, shares the link evenly and
 * keeps it busy. T = tau = 0.25 ms makes the loop fast against the run. */
#define FAST "interval: 250us"
static void the_queue_is_held(void **state)
{
    (void)state;
    static const char *const texts[] = {
        FOUR(", marking: {kind: fecn, " FAST "}", "{kind: fecn, " FAST "}"),
        FOUR(", marking: {kind: fecn, " FAST "}", "{kind: fecn, tags: probe, " FAST "}"),
        FOUR(", marking: {kind: fecn, " FAST "}", "{kind: fecn, phase: in-step, " FAST "}"),
        FOUR(", marking: {kind: fecn, " FAST "}", "{kind: fecn, reliability: tcp, " FAST "}"),
        FOUR(", marking: {kind: fecn, function: linear, " FAST "}", "{kind: fecn, " FAST "}"),
        FOUR(", marking: {kind: fecn, function: additive, " FAST "}", "{kind: fecn, " FAST "}"),
        FOUR(", marking: {kind: fecn, function: multistage, k: 0.06, " FAST "}",
             "{kind: fecn, " FAST "}"),
        FOUR(", marking: {kind: fecn, capacity: nominal, " FAST "}", "{kind: fecn, " FAST "}"),
        FOUR(", fabric: output-queued, marking: {kind: fecn, " FAST "}", "{kind: fecn, " FAST "}"),
        STAR("11", "h0..h9", "10", ", marking: {kind: fecn, " FAST "}", "{kind: fecn, " FAST "}"),
    };
    for (uint32_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct rig rig;
        run(&rig, NULL, 1, texts[i]);
        const double mean = rig_metric(&rig, "curve.q.mean"),
                     most = rig_metric(&rig, "curve.q.max");
        const double link = rig_metric(&rig, "curve.link.mean"), jain = rig_metric(&rig, "jain");
        if (mean < 8000 || mean > 40000 || most > 120000 || link < 9.7e9 || jain < 0.999)
            fail_msg("case %u: queue %g to %g, link %g, jain %g", i, mean, most, link, jain);
        assert_int_equal(rig.results->n_drops, 0);
        rig_assert_clean(&rig);
        rig_fini(&rig);
    }
}

/* The series of congestion points: four flows get a quarter of what frames can use of the link,
 * 1502 of 1522 bytes, at a load of 1, and f lies in [c, a]. A marking that computes no rate has
 * none. */
static void series_of_points(void **state)
{
    (void)state;
    static const char *const curves =
        "measure: {every: 250us, series: [point]}\ncurves: {r: {of: advertised, at: s0:4, from: "
        "40ms,\n  level: 2.3Gbps}, rho: {of: load, at: s0:4, from: 40ms}, f: {of: control, at: "
        "s0:4},\n  first: {of: advertised, at: s0:4, to: 500us}}\n";
    static const char *const head =
        "stop: 60ms\ndrain: 0s\ntopology: {kind: star, hosts: 5, host_link: {rate: 10Gbps, delay: "
        "1us}}\npriorities: {3: {lossless: true}}\ntraffic: [{kind: cbr, from: h0..h3, to: h4, "
        "priority: 3}]\n";
    struct rig rig;
    const struct rig_options options = {.n_threads = 1, .cell_bound = XOFF_PARAM_AUTO};
    rig_run(&rig, &options,
            "%sswitch: {buffer: 2MB, marking: {kind: fecn, interval: 250us}}\ntransport: {kind: "
            "fecn, interval: 250us}\n%s",
            head, curves);
    const double fair = 10e9 / 4 * 1502 / 1522;
    const double r = rig_metric(&rig, "curve.r.mean") / fair,
                 rho = rig_metric(&rig, "curve.rho.mean");
    if (r < 0.98 || r > 1.02 || rho < 0.98 || rho > 1.02)
        fail_msg("rate %g of a fair one, load %g", r, rho);
    assert_true(rig_metric(&rig, "curve.r.below") == 0);
    assert_true(rig_metric(&rig, "curve.f.max") <= 1.002);
    assert_true(rig_metric(&rig, "curve.f.min") >= 0); /* 0 until the first interval ends */
    assert_true(rig_metric(&rig, "curve.first.min") == 50e6);
    rig_fini(&rig);
    rig_run(&rig, &options, "%sswitch: {buffer: 2MB, marking: ecn}\ntransport: datagram\n%s", head,
            curves);
    assert_true(rig_metric(&rig, "curve.r.max") == 0);
    assert_true(rig_metric(&rig, "curve.r.below") > 0.01);
    rig_fini(&rig);
}

/* Section V: PAUSE of the whole link beside FECN, four uplinks that start at the link's rate. There
 * are pauses while the rates come down, none afterwards, and nothing is lost. */
static void pause_beside_it(void **state)
{
    (void)state;
    struct rig rig;
    run(&rig, NULL, 1,
        FOUR(", pause: {kind: pause, trigger: egress, xoff: 135000B, xon: 120000B}",
             "{kind: fecn, n0: 1}"));
    uint64_t n_late = 0;
    for (uint64_t i = 0; i < rig.results->n_pauses; i++)
        n_late += rig.results->pauses[i].at > 40 * XOFF_MS;
    assert_true(rig_metric(&rig, "pauses") > 50);
    assert_int_equal(n_late, 0);
    assert_int_equal(rig.results->n_drops, 0);
    assert_true(rig_metric(&rig, "curve.q.mean") < 40000);
    assert_true(rig_metric(&rig, "curve.link.mean") > 9.6e9);
    assert_true(rig_metric(&rig, "jain") > 0.99);
    rig_assert_clean(&rig);
    rig_fini(&rig);
}

/* E-FECN: told at once, the same senders make far fewer pauses. */
static void severe_congestion(void **state)
{
    (void)state;
    static const char *const texts[] = {
        FOUR("", "{kind: fecn, n0: 1}"),
        FOUR(", marking: {kind: fecn, severe: 100000B}", "{kind: fecn, n0: 1}"),
    };
    double peak[2];
    for (uint32_t i = 0; i < 2; i++) {
        struct rig rig;
        run(&rig, NULL, 1, texts[i]);
        peak[i] = rig_metric(&rig, "queue.peak");
        const double sent = rig_metric(&rig, "notices.sent");
        assert_true(i ? sent >= 4 : sent == 0);
        assert_true(rig_metric(&rig, "notices.received") == sent);
        assert_int_equal(rig.results->n_drops, 0);
        assert_true(rig_metric(&rig, "curve.q.mean") < 60000);
        rig_assert_clean(&rig);
        rig_fini(&rig);
    }
    assert_true(2 * peak[1] < peak[0]);
}

/* Two hot spots: h0 and h1 share the link between the switches with h2 and h3, of which h3's
 * receiver h7 has a link of 1 Gb/s. h3 gets that, the others a third of what is left. 1 Gb/s are
 * 31250 B in an interval: with n0 = 200 h3 would send a frame in ten intervals, and the port to h7
 * would forget its rate again and again. */
#define PARKING                                                                               \
    "stop: 60ms\ndrain: 0s\n"                                                                 \
    "topology: {kind: custom, nodes: {h0: host, h1: host, h2: host, h3: host, h4: host,\n"    \
    "  h5: host, h6: host, h7: host, s0: switch, s1: switch}, links: [\n"                     \
    "  {endpoints: [h0, s0], rate: 10Gbps}, {endpoints: [h1, s0], rate: 10Gbps},\n"           \
    "  {endpoints: [h2, s0], rate: 10Gbps}, {endpoints: [h3, s0], rate: 10Gbps},\n"           \
    "  {endpoints: [s0, s1], rate: 10Gbps}, {endpoints: [s1, h4], rate: 10Gbps},\n"           \
    "  {endpoints: [s1, h5], rate: 10Gbps}, {endpoints: [s1, h6], rate: 10Gbps},\n"           \
    "  {endpoints: [s1, h7], rate: 1Gbps}]}\n"                                                \
    "switch: {buffer: 4MB, marking: {kind: fecn, interval: 250us, n0: 10}}\n"                 \
    "priorities: {3: {lossless: true}}\ntransport: {kind: fecn, interval: 250us}\n"           \
    "traffic: [{kind: cbr, from: h0, to: h4, priority: 3}, {kind: cbr, from: h1, to: h5,\n"   \
    "  priority: 3}, {kind: cbr, from: h2, to: h6, priority: 3}, {kind: cbr, from: h3, to:\n" \
    "  h7, priority: 3}]\nmeasure: {every: 100us}\n"                                          \
    "curves: {a: {of: throughput, at: h0, from: 30ms}, b: {of: throughput, at: h1, from:\n"   \
    "  30ms}, c: {of: throughput, at: h2, from: 30ms}, d: {of: throughput, at: h3, from: 30ms}}\n"

static void max_min_shares(void **state)
{
    (void)state;
    uint64_t digest = 0;
    for (uint32_t threads = 1; threads <= 4; threads *= 2) {
        struct rig rig;
        run(&rig, NULL, threads, PARKING);
        /* 1502 of 1522 B: 0.9869 and 9.869 Gb/s, of which (9.869 - 0.987) / 3 = 2.961. */
        static const double want[] = {2.961e9, 2.961e9, 2.961e9, 0.987e9};
        for (uint32_t i = 0; i < 4; i++) {
            const char name[] = {'c', 'u', 'r', 'v', 'e', '.', (char)('a' + i),
                                 '.', 'm', 'e', 'a', 'n', 0};
            const double got = rig_metric(&rig, name);
            if (got < 0.95 * want[i] || got > 1.05 * want[i])
                fail_msg("flow %u: %g", i, got);
        }
        rig_assert_clean(&rig);
        assert_true(threads == 1 || rig.results->digest == digest);
        digest = rig.results->digest;
        rig_fini(&rig);
    }
}

/* A link on which a stream without FECN, of higher priority, takes 6 Gb/s: the measured capacity is
 * what is left, and the queue stays where it should. By the link's rate the queue would be the only
 * thing that holds the flows back, and is longer. */
#define SHARED(capacity)                                                                      \
    "stop: 80ms\ndrain: 0s\n"                                                                 \
    "topology: {kind: star, hosts: 4, host_link: {rate: 10Gbps, delay: 500ns}}\n"             \
    "switch: {buffer: 2MB, scheduler: strict, marking: {kind: fecn, interval: 250us,\n"       \
    "  capacity: " capacity "}}\npriorities: {3: {lossless: true}, 6: {lossless: true}}\n"    \
    "transports: {other: datagram}\ntransport: {kind: fecn, interval: 250us}\n"               \
    "traffic: [{kind: cbr, from: [h0, h1], to: h3, priority: 3}, {kind: cbr, from: h2, to:\n" \
    "  h3, rate: 6Gbps, priority: 6, transport: other}]\nmeasure: {every: 20us}\n"            \
    "curves: {q: {of: queue, at: \"s0:3\", priority: 3, from: 40ms}}\n"

static void capacity_that_others_take(void **state)
{
    (void)state;
    double mean[2];
    for (uint32_t nominal = 0; nominal < 2; nominal++) {
        struct rig rig;
        run(&rig, NULL, 1, nominal ? SHARED("nominal") : SHARED("measured"));
        mean[nominal] = rig_metric(&rig, "curve.q.mean");
        assert_int_equal(rig.results->n_drops, 0);
        rig_assert_clean(&rig);
        rig_fini(&rig);
    }
    if (mean[0] > 40000 || mean[1] < 2 * mean[0])
        fail_msg("queue %g and %g", mean[0], mean[1]);
}

/* The port forgets its rate when nothing comes, and the network comes to rest. */
static void rest(void **state)
{
    (void)state;
    struct rig rig;
    run(&rig, NULL, 1, LINE("", "fecn"));
    assert_true(rig.results->end_at < 30 * XOFF_MS);
    assert_true(rig.results->flows[0].finish_at < rig.results->end_at);
    rig_fini(&rig);
}

/* Tags are due at any picosecond; a clock that counts whole nanoseconds gets there, too. */
static void tags_of_a_coarse_clock(void **state)
{
    (void)state;
    struct rig rig;
    rig_run(&rig, NULL,
            "stop: 50us\ndrain: 10ms\ncompat: ns3\ntopology: {kind: star, hosts: 3}\n"
            "transport: {kind: fecn, interval: 10us}\n"
            "traffic: [{kind: all-to-all, size: 9000B}]\n");
    for (uint64_t i = 0; i < rig.results->n_flows; i++) {
        assert_int_equal(rig.results->flows[i].delivered_bytes, 9000);
        assert_true(rig.results->flows[i].tags_sent > 0);
    }
    assert_int_equal(rig.results->n_flows, 6);
    rig_fini(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tags_travel),
        cmocka_unit_test(nobody_writes),
        cmocka_unit_test(the_queue_is_held),
        cmocka_unit_test(series_of_points),
        cmocka_unit_test(pause_beside_it),
        cmocka_unit_test(severe_congestion),
        cmocka_unit_test(max_min_shares),
        cmocka_unit_test(capacity_that_others_take),
        cmocka_unit_test(rest),
        cmocka_unit_test(tags_of_a_coarse_clock),
    };
    return cmocka_run_group_tests_name("fecn", tests, NULL, NULL);
}
