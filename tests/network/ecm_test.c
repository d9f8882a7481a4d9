/* ECM in whole networks: messages are frames, data of limited flows names the point that limits
 * them, the queue is held, rates fall and recover, and who may tell a flow to go faster. */
#include <math.h>
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

/* h0 sends at 100 Gb/s over two switches to h1, whose link has 10 Gb/s. */
#define LINE(marking)                                                                            \
    "stop: 20ms\n"                                                                               \
    "topology: {kind: custom, nodes: {h0: host, h1: host, s0: switch, s1: switch}, links: [\n"   \
    "  {endpoints: [h0, s0], rate: 100Gbps, delay: 1us}, {endpoints: [s0, s1], rate: 100Gbps,\n" \
    "  delay: 700ns}, {endpoints: [s1, h1], rate: 10Gbps, delay: 1us}]}\n"                       \
    "switch: {buffer: 16MB, marking: {kind: ecm" marking "}}\n"                                  \
    "priorities: {3: {lossless: true}}\ntransport: ecm\n"                                        \
    "traffic: [{kind: flows, priority: 3, list: [{from: h0, to: h1, size: 4MB}]}]\n"

/* A message that s1 makes is 72 B with its preamble at 100 Gb/s (5760 ps), 700 ns on the way, 5760
 * ps and 1 us on the way to h0: 1711520 ps. A full frame has 1518 B, of which 62 are headers and 12
 * the rate-regulation tag: 1444 B of payload. Data sent after the first message names s1's port to
 * h1 and priority 3. In severe congestion alone the message is (0, 0). */
static void messages_are_frames(void **state)
{
    (void)state;
    static const char *const texts[] = {LINE(""), LINE(", severe: max"), LINE(", severe: none")};
    for (uint32_t i = 0; i < 3; i++) {
        struct rig rig;
        run(&rig, "h0", 1, texts[i]);
        const struct result_capture *c = &rig.results->captures[0];
        const struct result_port *port = rig_port(&rig, "s1", "h1");
        const uint64_t cp_id = (uint64_t)(port - rig.results->ports) * XOFF_N_PRIORITIES + 3;
        uint64_t n = 0, n_stops = 0, n_tags = 0, n_data = 0;
        for (uint64_t k = 0; k < c->n_frames; k++) {
            const struct result_frame *f = &c->frames[k];
            const struct xoff_notice *notice = &c->extras[k].notice;
            if (f->kind == RESULT_FRAME_DATA) {
                assert_true(f->bytes <= 1518 && f->has_rrt && !f->is_tagged);
                assert_true(f->payload_bytes == f->bytes - 74);
                n_data++;
                n_tags += c->extras[k].has_notice;
                assert_true(n || !c->extras[k].has_notice);
                if (c->extras[k].has_notice) {
                    assert_int_equal(notice->kind, XOFF_NOTICE_LIMITED);
                    assert_int_equal(notice->cp_id, cp_id);
                }
                continue;
            }
            assert_int_equal(f->kind, RESULT_FRAME_NOTICE);
            assert_int_equal(f->at - f->sent_at, 1711520);
            assert_int_equal(f->bytes, 64);
            assert_int_equal(f->priority, 7);
            assert_int_equal(notice->kind, XOFF_NOTICE_ECM);
            assert_int_equal(notice->cp_id, cp_id);
            assert_true(abs(notice->queue_offset_bytes) <= 24000);
            assert_true(abs(notice->queue_delta_bytes) <= 48000);
            n_stops += !notice->queue_offset_bytes && !notice->queue_delta_bytes;
            n++;
        }
        assert_int_equal(n_data, 2771); /* 4 MB in frames of 1444 B, rounded up */
        assert_true(n_tags > 500 && n_tags < n_data);
        assert_true((n_stops > 0) == (i == 0));
        assert_true(n > 8);
        assert_int_equal(port->queue[3].notices, n);
        assert_true(port->queue[3].samples >= n);
        assert_true(rig_metric(&rig, "notices.sent") == (double)n);
        assert_true(rig_metric(&rig, "notices.received") == (double)n);
        assert_int_equal(rig.results->flows[0].delivered_bytes, 4000000);
        rig_assert_clean(&rig);
        rig_fini(&rig);
    }
}

/* Four senders at 10 Gb/s, one receiver; three of them have 20 MB each, the last has no end. */
#define STAR(keys, transport)                                                       \
    "stop: 200ms\ndrain: 1ms\n"                                                     \
    "topology: {kind: star, hosts: 5, host_link: {rate: 10Gbps, delay: 1us}}\n"     \
    "switch: {buffer: 1MB" keys "}\npriorities: {3: {lossless: true}}\n"            \
    "transport: " transport "\n"                                                    \
    "traffic: [{kind: flows, priority: 3, list: [{from: h0, to: h4, size: 20MB},\n" \
    "  {from: h1, to: h4, size: 20MB}, {from: h2, to: h4, size: 20MB},\n"           \
    "  {from: h3, to: h4, size: 1GB}]}]\nmeasure: {every: 20us}\n"                  \
    "curves: {q: {of: queue, at: \"s0:4\", from: 10ms, to: 40ms},\n"                \
    "  link: {of: throughput, at: \"s0:4\", from: 10ms, to: 40ms},\n"               \
    "  before: {of: throughput, at: h3, from: 10ms, to: 40ms},\n"                   \
    "  after: {of: throughput, at: h3, from: 160ms}}\n"

/* The queue is held near Qeq, on any reliability and however severe congestion is told, and the
 * link stays busy. 60 MB and more pass while flows are limited: 400 samples of 150 kB and more,
 * nearly all of which tell, since all flows are limited here. When the others have ended the last
 * flow gets the link. */
static void the_queue_is_held(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double qeq, least; /* least: of queue and link, as parts of Qeq and 9.87 Gb/s */
    } cases[] = {
        {STAR(", marking: {kind: ecm, severe: none}", "ecm"), 24000, 0.9},
        {STAR(", marking: {kind: ecm, severe: max}", "ecm"), 24000, 0.9},
        {STAR(", marking: {kind: ecm, severe: none, qeq: 30000B}", "ecm"), 30000, 0.9},
        {STAR(", marking: {kind: ecm, severe: none, interval: random}", "ecm"), 24000, 0.9},
        {STAR(", fabric: output-queued, marking: {kind: ecm, severe: max}", "ecm"), 24000, 0.9},
        {STAR(", marking: {kind: ecm, severe: none}", "{kind: ecm, reliability: go-back-n}"), 24000,
         0.9},
        /* Stopped flows need long to come back: meanwhile the link has gaps. */
        {STAR("", "ecm"), 24000, 0.6},
        {STAR("", "{kind: ecm, drift: 1Mbps}"), 24000, 0.6},
    };
    for (uint32_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct rig rig;
        run(&rig, NULL, 1, cases[i].text);
        const double mean = rig_metric(&rig, "curve.q.mean");
        const double link = rig_metric(&rig, "curve.link.mean");
        const double before = rig_metric(&rig, "curve.before.mean");
        const double after = rig_metric(&rig, "curve.after.mean");
        print_message("case %u: queue %g, link %g, last flow %g, then %g, notices %g of %g\n", i,
                      mean, link, before, after, rig_metric(&rig, "notices.sent"),
                      rig_metric(&rig, "notices.samples"));
        assert_true(mean > cases[i].least * cases[i].qeq && mean < 1.1 * cases[i].qeq);
        assert_true(link > cases[i].least * 9.87e9);
        assert_true(before < 7e9 && after > 9.5e9);
        assert_true(rig_metric(&rig, "notices.sent") > 380);
        assert_true(rig_metric(&rig, "notices.sent") < rig_metric(&rig, "notices.samples"));
        assert_int_equal(rig.results->n_drops, 0);
        rig_assert_clean(&rig);
        rig_fini(&rig);
    }
}

/* Two congested hops: s0's port to s1 has 20 Gb/s for four hosts of 10, s1's to h6 10 Gb/s for two
 * of them and h5. Both points tell h0; what its data names is the point whose congestion was told
 * last, or nothing. */
#define TWO_HOPS                                                                           \
    "stop: 20ms\ndrain: 1ms\n"                                                             \
    "topology: {kind: custom, nodes: {h0: host, h1: host, h2: host, h3: host, h4: host,\n" \
    "  h5: host, h6: host, s0: switch, s1: switch}, links: [\n"                            \
    "  {endpoints: [h0, s0], rate: 10Gbps}, {endpoints: [h1, s0], rate: 10Gbps},\n"        \
    "  {endpoints: [h2, s0], rate: 10Gbps}, {endpoints: [h3, s0], rate: 10Gbps},\n"        \
    "  {endpoints: [s0, s1], rate: 20Gbps}, {endpoints: [h5, s1], rate: 10Gbps},\n"        \
    "  {endpoints: [s1, h4], rate: 40Gbps}, {endpoints: [s1, h6], rate: 10Gbps}]}\n"       \
    "switch: {buffer: 2MB, marking: {kind: ecm, severe: none}}\n"                          \
    "priorities: {3: {lossless: true}}\ntransport: ecm\n"                                  \
    "traffic: [{kind: cbr, priority: 3, from: h0, to: h6},\n"                              \
    "  {kind: cbr, priority: 3, from: h1..h3, to: h4, stop: 10ms},\n"                      \
    "  {kind: cbr, priority: 3, from: h5, to: h6}]\n"

static void the_point_that_limits(void **state)
{
    (void)state;
    uint64_t digest = 0;
    for (uint32_t threads = 1; threads <= 4; threads *= 2) {
        struct rig rig;
        run(&rig, "h0", threads, TWO_HOPS);
        const struct result_capture *c = &rig.results->captures[0];
        uint64_t told[2] = {0}, tagged[2] = {0}, last = UINT64_MAX;
        const uint64_t ids[2] = {
            (uint64_t)(rig_port(&rig, "s0", "s1") - rig.results->ports) * XOFF_N_PRIORITIES + 3,
            (uint64_t)(rig_port(&rig, "s1", "h6") - rig.results->ports) * XOFF_N_PRIORITIES + 3};
        for (uint64_t k = 0; k < c->n_frames; k++) {
            const struct xoff_notice *notice = &c->extras[k].notice;
            if (!c->extras[k].has_notice)
                continue;
            const uint32_t which = notice->cp_id == ids[1];
            assert_true(notice->cp_id == ids[which]);
            if (c->frames[k].kind == RESULT_FRAME_DATA) {
                assert_true(notice->cp_id == last);
                tagged[which]++;
                continue;
            }
            const bool is_bad = notice->queue_offset_bytes + 2 * notice->queue_delta_bytes > 0;
            /* A point whose queue is at or below Qeq speaks to those it limits alone. */
            if (notice->queue_offset_bytes <= 0)
                assert_true(tagged[which] > 0);
            if (is_bad)
                last = notice->cp_id;
            told[which] += is_bad;
        }
        assert_true(told[0] > 2 && told[1] > 2 && tagged[0] > 50 && tagged[1] > 50);
        rig_assert_clean(&rig);
        assert_true(threads == 1 || rig.results->digest == digest);
        digest = rig.results->digest;
        rig_fini(&rig);
    }
}

/* Switches of which one writes telemetry leave no room for tags: flows are limited all the same,
 * and no frame carries a tag. */
static void beside_telemetry(void **state)
{
    (void)state;
    struct rig rig;
    run(&rig, "h0", 1,
        "stop: 3ms\n"
        "topology: {kind: custom, nodes: {h0: host, h1: host, s0: switch, s1: switch}, links: [\n"
        "  {endpoints: [h0, s0], rate: 100Gbps}, {endpoints: [s0, s1], rate: 100Gbps},\n"
        "  {endpoints: [s1, h1], rate: 10Gbps}]}\n"
        "switch: {buffer: 16MB, marking: ecm}\nswitches: [{match: s0, marking: int}]\n"
        "priorities: {3: {lossless: true}}\ntransport: ecm\n"
        "traffic: [{kind: flows, priority: 3, list: [{from: h0, to: h1, size: 2MB}]}]\n");
    const struct result_capture *c = &rig.results->captures[0];
    for (uint64_t k = 0; k < c->n_frames; k++)
        assert_true(c->frames[k].kind != RESULT_FRAME_DATA || !c->extras[k].has_notice);
    assert_true(rig_metric(&rig, "notices.received") > 0);
    rig_assert_clean(&rig);
    rig_fini(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(messages_are_frames),
        cmocka_unit_test(the_queue_is_held),
        cmocka_unit_test(the_point_that_limits),
        cmocka_unit_test(beside_telemetry),
    };
    return cmocka_run_group_tests_name("ecm", tests, NULL, NULL);
}
