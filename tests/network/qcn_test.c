/* QCN in whole networks: queues are held at their set point, notifications are frames with a
 * frame's latency, congestion points at inputs and outputs, and whose source is told. */
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
#define LINE(keys, transport)                                                                    \
    "stop: 5ms\n"                                                                                \
    "topology: {kind: custom, nodes: {h0: host, h1: host, s0: switch, s1: switch}, links: [\n"   \
    "  {endpoints: [h0, s0], rate: 100Gbps, delay: 1us}, {endpoints: [s0, s1], rate: 100Gbps,\n" \
    "  delay: 700ns}, {endpoints: [s1, h1], rate: 10Gbps, delay: 1us}]}\n"                       \
    "switch: {buffer: 16MB" keys "}\npriorities: {3: {lossless: true}}\n"                        \
    "transport: " transport "\n"                                                                 \
    "traffic: [{kind: flows, priority: 3, list: [{from: h0, to: h1, size: 4MB}]}]\n"

/* A notification that s1 makes is 72 B with its preamble at 100 Gb/s (5760 ps), 700 ns on the way,
 * 5760 ps and 1 us on the way to h0: 1711520 ps, on a priority where nothing else is. A full frame
 * has 1518 B, of which 62 are headers and 4 the CN-TAG: 1452 B of payload. */
static void notifications_are_frames(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint8_t priority;
    } cases[] = {{LINE("", "qcn"), 7},
                 {LINE(", notice_priority: 5", "qcn"), 5},
                 {LINE(", notice_priority: auto", "qcn"), 3}};
    for (uint32_t i = 0; i < 3; i++) {
        struct rig rig;
        run(&rig, "h0", 1, cases[i].text);
        const struct result_capture *c = &rig.results->captures[0];
        uint64_t n = 0;
        for (uint64_t k = 0; k < c->n_frames; k++) {
            const struct result_frame *f = &c->frames[k];
            const struct xoff_notice *notice = &c->extras[k].notice;
            if (f->kind == RESULT_FRAME_DATA) {
                assert_true(f->bytes <= 1518 && f->payload_bytes <= 1452);
                assert_true(f->payload_bytes == f->bytes - 66 || f->bytes == 64);
                continue;
            }
            assert_int_equal(f->kind, RESULT_FRAME_NOTICE);
            assert_int_equal(f->at - f->sent_at, 1711520);
            assert_int_equal(f->bytes, 64);
            assert_int_equal(f->priority, cases[i].priority);
            assert_int_equal(notice->kind, XOFF_NOTICE_QCN);
            assert_true(notice->feedback < 0 && notice->feedback >= -63);
            assert_int_equal(notice->cp_id % XOFF_N_PRIORITIES, 3);
            n++;
        }
        const struct result_queue *q = &rig_port(&rig, "s1", "h1")->queue[3];
        assert_true(n > 10);
        assert_int_equal(q->notices, n);
        assert_true(q->samples > n);
        assert_int_equal(rig.results->flows[0].notices, n);
        assert_true(rig_metric(&rig, "notices.sent") == (double)n);
        assert_true(rig_metric(&rig, "notices.received") == (double)n);
        assert_int_equal(rig.results->flows[0].delivered_bytes, 4000000);
        rig_assert_clean(&rig);
        rig_fini(&rig);
    }
}

/* With one way in and one way out, the input's queue is the output's: every sample, notification
 * and frame is the same, in both fabrics; only who speaks is another port. */
static void one_input_is_one_output(void **state)
{
    (void)state;
    static const char *const texts[] = {
        LINE("", "qcn"),
        LINE(", congestion_points: input", "qcn"),
        LINE(", fabric: output-queued", "qcn"),
        LINE(", fabric: output-queued, congestion_points: input", "qcn"),
        LINE(", marking: {kind: qcn, sampling: occupancy}", "qcn"),
        LINE(", congestion_points: input, marking: {kind: qcn, sampling: occupancy}", "qcn"),
    };
    uint64_t samples = 0, notices = 0;
    xoff_time finish_at = 0;
    for (uint32_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct rig rig;
        run(&rig, NULL, 1, texts[i]);
        const bool at_input = strstr(texts[i], "input") != NULL;
        const struct result_queue *here = &rig_port(&rig, "s1", at_input ? "s0" : "h1")->queue[3];
        const struct result_queue *there = &rig_port(&rig, "s1", at_input ? "h1" : "s0")->queue[3];
        assert_int_equal(there->samples, 0);
        if (!i) {
            samples = here->samples;
            notices = here->notices;
            finish_at = rig.results->flows[0].finish_at;
            assert_true(notices > 10);
        }
        assert_int_equal(here->samples, samples);
        assert_int_equal(here->notices, notices);
        assert_int_equal(rig.results->flows[0].finish_at, finish_at);
        rig_assert_clean(&rig);
        rig_fini(&rig);
    }
}

/* Four senders at 10 Gb/s, one receiver. */
#define STAR(keys, transport)                                                                    \
    "stop: 60ms\ndrain: 1ms\n"                                                                   \
    "topology: {kind: star, hosts: 5, host_link: {rate: 10Gbps, delay: 1us}}\n"                  \
    "switch: {buffer: 1MB" keys "}\npriorities: {3: {lossless: true}}\n"                         \
    "transport: " transport "\n"                                                                 \
    "traffic: [{kind: flows, priority: 3, list: [{from: h0, to: h4, size: 1GB},\n"               \
    "  {from: h1, to: h4, size: 1GB}, {from: h2, to: h4, size: 1GB}, {from: h3, to: h4, size:\n" \
    "  1GB}]}]\nmeasure: {every: 20us}\ncurves: {q: {of: queue, at: \"s0:4\", from: 30ms}}\n"

/* The queue is held near Qeq, on any reliability, and the link stays busy. */
static void the_queue_is_held(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double qeq;
    } cases[] = {
        {STAR("", "qcn"), 26000},
        {STAR(", marking: {kind: qcn, qeq: 60KiB}", "qcn"), 61440},
        {STAR(", fabric: output-queued", "qcn"), 26000},
        {STAR("", "{kind: qcn, reliability: go-back-n}"), 26000},
        {STAR("", "{kind: qcn, reliability: tcp}"), 26000},
        {STAR("", "{kind: qcn, recovery: prose, jitter: 0.15}"), 26000},
        {STAR(", marking: {kind: qcn, sampling: occupancy}", "qcn"), 26000},
        {STAR(", marking: {kind: qcn, quantiser: shift}", "qcn"), 26000},
    };
    for (uint32_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct rig rig;
        run(&rig, NULL, 1, cases[i].text);
        const double mean = rig_metric(&rig, "curve.q.mean");
        if (mean < 0.5 * cases[i].qeq || mean > 1.5 * cases[i].qeq)
            print_error("case %u: %g\n", i, mean);
        assert_true(mean > 0.5 * cases[i].qeq && mean < 1.5 * cases[i].qeq);
        assert_true(rig_metric(&rig, "curve.q.max") < 4 * cases[i].qeq);
        assert_true(rig_metric(&rig, "notices.sent") > 50);
        assert_int_equal(rig.results->n_drops, 0);
        rig_assert_clean(&rig);
        rig_fini(&rig);
    }
}

/* f1 (h0 to h4) and f2 (h0 to h5) come in by one port; f3 .. f5 make an overload at h5 alone. All
 * of the input's bytes wait for h5. Arrival sampling tells f1's source by its rate, occupancy
 * sampling does not tell it at all: a frame of f1 is there for no time but its own arrival.
 * The run ends with full queues: the audit compares what inputs count with what is held. */
#define HOTSPOT(keys)                                                                 \
    "stop: 20ms\ndrain: 0s\n"                                                         \
    "topology: {kind: star, hosts: 6, host_link: {rate: 10Gbps, delay: 1us}}\n"       \
    "switch: {buffer: 1MB, congestion_points: input, marking: {kind: qcn" keys "}}\n" \
    "priorities: {3: {lossless: true}}\ntransport: qcn\n"                             \
    "traffic: [{kind: cbr, from: h0, to: h4, rate: 5Gbps, priority: 3},\n"            \
    "  {kind: cbr, from: h0, to: h5, rate: 5Gbps, priority: 3},\n"                    \
    "  {kind: cbr, from: h1, to: h5, rate: 9Gbps, priority: 3},\n"                    \
    "  {kind: cbr, from: h2, to: h5, rate: 9Gbps, priority: 3},\n"                    \
    "  {kind: cbr, from: h3, to: h5, rate: 9Gbps, priority: 3}]\n"

static void whose_source_is_told(void **state)
{
    (void)state;
    uint64_t notices[2][2];
    for (uint32_t occupancy = 0; occupancy < 2; occupancy++) {
        struct rig rig;
        run(&rig, NULL, 1, occupancy ? HOTSPOT(", sampling: occupancy") : HOTSPOT(""));
        for (uint64_t f = 0; f < rig.results->n_flows; f++)
            if (rig.results->flows[f].from == rig_node(&rig, "h0"))
                notices[occupancy][rig.results->flows[f].to == rig_node(&rig, "h5")] =
                    rig.results->flows[f].notices;
        assert_true(rig.results->nodes[rig_node(&rig, "s0")].held_bytes > 20000);
        rig_assert_clean(&rig);
        rig_fini(&rig);
    }
    assert_true(notices[0][0] >= 5 && notices[0][1] >= 1);
    assert_true(notices[1][1] >= 5);
    assert_true(10 * notices[1][0] <= notices[1][1]);
}

/* Two congested hops on a path, points at inputs that draw from their buffers, a processing delay:
 * the same on any number of threads, and both hops notify. */
#define TWO_HOPS(keys)                                                                          \
    "stop: 6ms\n"                                                                               \
    "topology: {kind: custom, nodes: {h0: host, h1: host, h2: host, h3: host, h4: host,\n"      \
    "  s0: switch, s1: switch}, links: [{endpoints: [h0, s0]}, {endpoints: [h1, s0]},\n"        \
    "  {endpoints: [h2, s0]}, {endpoints: [h3, s0]}, {endpoints: [s0, s1]}, {endpoints: [s1,\n" \
    "  h4], rate: 40Gbps}]}\nswitch: {buffer: 4MB" keys "}\n"                                   \
    "priorities: {3: {lossless: true}}\ntransport: qcn\n"                                       \
    "traffic: [{kind: flows, priority: 3, list: [{from: h0, to: h4, size: 3MB},\n"              \
    "  {from: h1, to: h4, size: 3MB}, {from: h2, to: h4, size: 3MB},\n"                         \
    "  {from: h3, to: h4, size: 3MB}]}]\n"

static void several_points_and_threads(void **state)
{
    (void)state;
    static const char *const texts[] = {
        TWO_HOPS(""),
        TWO_HOPS(", congestion_points: input, marking: {kind: qcn, sampling: occupancy, unit: "
                 "64B}, processing_delay: 300ns"),
        TWO_HOPS(", marking: {kind: qcn, sampling: occupancy}, processing_delay: 300ns"),
    };
    for (uint32_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        uint64_t digest = 0;
        for (uint32_t threads = 1; threads <= 4; threads *= 2) {
            struct rig rig;
            run(&rig, NULL, threads, texts[i]);
            uint64_t by_switch[2] = {0};
            for (uint32_t p = 0; p < rig.results->n_ports; p++)
                for (uint32_t q = 0; q < XOFF_N_PRIORITIES; q++) {
                    const uint32_t node = rig.results->ports[p].node;
                    if (node == rig_node(&rig, "s0"))
                        by_switch[0] += rig.results->ports[p].queue[q].notices;
                    else if (node == rig_node(&rig, "s1"))
                        by_switch[1] += rig.results->ports[p].queue[q].notices;
                }
            assert_true(by_switch[0] > 0 && by_switch[1] > 0);
            for (uint64_t f = 0; f < rig.results->n_flows; f++)
                assert_int_equal(rig.results->flows[f].delivered_bytes, 3000000);
            rig_assert_clean(&rig);
            assert_true(threads == 1 || rig.results->digest == digest);
            digest = rig.results->digest;
            rig_fini(&rig);
        }
    }
}

/* h0 is at port 0 of s0, h1 at port 1 of s1. What reaches h1 by each mode: which priority, and the
 * tag or 4 bytes less. A tag is removed where the frame goes out, a priority changed where it comes
 * in. Without a congestion point its queue has nobody told. */
static void modes_of_ports(void **state)
{
    (void)state;
    static const struct {
        const char *keys;
        uint8_t priority;
        bool is_tagged, is_told;
    } cases[] = {
        {"", 3, true, true},
        {"cn_ports: [{at: all, priority: 3, mode: interior-ready}]\n", 3, true, true},
        {"cn_ports: [{at: \"s1:1\", priority: 3, mode: interior}]\n", 3, false, true},
        {"cn_ports: [{at: \"s1:0\", priority: 3, mode: interior}]\n", 3, true, true},
        {"cn_ports: [{at: \"s1:1\", priority: 2, mode: interior}]\n", 3, true, true},
        {"cn_ports: [{at: s0, priority: 3, mode: interior}]\n", 3, false, true},
        {"cn_ports: [{at: \"s0:0\", priority: 3, mode: edge, alternate: 1}]\n", 1, true, true},
        {"cn_ports: [{at: \"s0:1\", priority: 3, mode: edge, alternate: 1}]\n", 3, false, true},
        {"cn_ports: [{at: \"s0:0\", priority: 3, mode: edge, alternate: 1}, {at: all, priority: 1, "
         "mode: interior}]\n",
         1, false, true},
        {"cn_ports: [{at: \"s1:1\", priority: 3, mode: disabled}]\n", 3, true, false},
        {"cn_ports: [{at: all, priority: 3, mode: edge, alternate: 1}, {at: all, priority: 3, "
         "mode: "
         "interior-ready}]\n",
         3, true, true},
    };
    for (uint32_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct rig_options options = {.capture = "h1"};
        struct rig rig;
        rig_run(&rig, &options, "%s%s", LINE("", "qcn"), cases[i].keys);
        const struct result_capture *c = &rig.results->captures[0];
        uint64_t n = 0;
        for (uint64_t k = 0; k < c->n_frames; k++) {
            const struct result_frame *f = &c->frames[k];
            if (f->kind != RESULT_FRAME_DATA)
                continue;
            assert_int_equal(f->priority, cases[i].priority);
            assert_int_equal(f->is_tagged, cases[i].is_tagged);
            assert_int_equal(f->bytes, f->payload_bytes + (cases[i].is_tagged ? 66 : 62));
            n++;
        }
        assert_int_equal(n, 2755); /* 4 MB in frames of 1452 B */
        const struct result_queue *q = &rig_port(&rig, "s1", "h1")->queue[cases[i].priority];
        assert_true((q->notices > 0) == cases[i].is_told);
        assert_int_equal(rig.results->flows[0].delivered_bytes, 4000000);
        rig_assert_clean(&rig);
        rig_fini(&rig);
    }
}

/* A frame of one byte of payload has 67 B with its tag and is padded to 64 without. */
static void short_frames_are_padded(void **state)
{
    (void)state;
    const struct rig_options options = {.capture = "h1"};
    struct rig rig;
    rig_run(&rig, &options, "%s",
            "topology: {kind: star, hosts: 2}\ntransport: qcn\n"
            "cn_ports: [{at: s0, priority: 3, mode: interior}]\n"
            "traffic: [{kind: flows, priority: 3, list: [{from: h0, to: h1, size: 1B},\n"
            "  {from: h0, to: h1, size: 2B, at: 1us}, {from: h0, to: h1, size: 3B, at: "
            "2us}]}]\n");
    const struct result_capture *c = &rig.results->captures[0];
    assert_int_equal(c->n_frames, 3);
    for (uint32_t k = 0; k < 3; k++)
        assert_int_equal(c->frames[k].bytes, k < 2 ? 64 : 65);
    rig_assert_clean(&rig);
    rig_fini(&rig);
}

/* Plan `variant` of scenarios/gateway.yaml, 15 ms of it. */
static void run_gateway(struct rig *rig, const char *variant, const char *capture)
{
    static const struct plan_setting settings[] = {
        {"stop", "15ms"}, {"measure.every", "0s"}, {"curves", "{}"}};
    const struct rig_options options = {.capture = capture};
    struct scenario *scenario;
    struct xoff_err err;
    assert_int_equal(scenario_read("scenarios/gateway.yaml", settings, 3, &scenario, &err), 0);
    uint32_t plan = 0;
    while (strcmp(scenario->plans[plan]->variant, variant) != 0)
        plan++;
    rig_run_plan(rig, &options, scenario, plan);
}

/* Frames of f2 on their way: in domain A they have priority 3 and a tag, in the L3 network priority
 * 1 and no tag, which is 4 bytes less, and in domain B priority 3 again. */
static void a_domain_ends_at_its_gateway(void **state)
{
    (void)state;
    static const struct {
        const char *capture;
        uint8_t priority;
        bool is_tagged;
    } cases[] = {{"h0", 3, true}, {"gA:1", 3, false}, {"rB:1", 1, false}, {"h2", 3, false}};
    for (uint32_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct rig rig;
        run_gateway(&rig, "occupancy", cases[i].capture);
        const struct result_capture *c = &rig.results->captures[0];
        uint64_t n = 0;
        for (uint64_t k = 0; k < c->n_frames; k++) {
            const struct result_frame *f = &c->frames[k];
            if (f->kind != RESULT_FRAME_DATA || f->to != rig_node(&rig, "h2"))
                continue;
            assert_int_equal(f->priority, cases[i].priority);
            assert_int_equal(f->is_tagged, cases[i].is_tagged);
            assert_int_equal(f->bytes, f->payload_bytes + (cases[i].is_tagged ? 66 : 62));
            n++;
        }
        assert_true(n > 1000);
        rig_assert_clean(&rig);
        rig_fini(&rig);
    }
}

/* Every notification that comes to h0 is of the gateway where f2 waits: of gA (port 0), or of gB,
 * whose own come through the L3 network, at least 50 us away, and reach the flow though its frames
 * had lost their tag. */
static void gateways_notify(void **state)
{
    (void)state;
    static const struct {
        const char *variant, *gateway, *peer;
        xoff_time from, to; /* of a notification's time on the way */
    } cases[] = {{"occupancy", "gA", "sA", XOFF_US, 5 * XOFF_US},
                 {"far-occupancy", "gB", "r0", 51 * XOFF_US, 60 * XOFF_US}};
    for (uint32_t i = 0; i < 2; i++) {
        struct rig rig;
        run_gateway(&rig, cases[i].variant, "h0");
        const struct result_capture *c = &rig.results->captures[0];
        const struct result_port *port = rig_port(&rig, cases[i].gateway, cases[i].peer);
        uint64_t n = 0;
        for (uint64_t k = 0; k < c->n_frames; k++) {
            const struct result_frame *f = &c->frames[k];
            if (f->kind != RESULT_FRAME_NOTICE)
                continue;
            assert_int_equal(c->extras[k].notice.cp_id,
                             (uint64_t)(port - rig.results->ports) * XOFF_N_PRIORITIES + 3);
            assert_int_equal(f->is_tagged, i == 0);
            assert_true(f->at - f->sent_at > cases[i].from && f->at - f->sent_at < cases[i].to);
            n++;
        }
        assert_true(n > 10);
        assert_true(port->queue[3].notices >= n);
        assert_true((rig.results->n_drops > 0) == (i == 1));
        rig_fini(&rig);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(notifications_are_frames),
        cmocka_unit_test(one_input_is_one_output),
        cmocka_unit_test(the_queue_is_held),
        cmocka_unit_test(whose_source_is_told),
        cmocka_unit_test(several_points_and_threads),
        cmocka_unit_test(modes_of_ports),
        cmocka_unit_test(short_frames_are_padded),
        cmocka_unit_test(a_domain_ends_at_its_gateway),
        cmocka_unit_test(gateways_notify),
    };
    return cmocka_run_group_tests_name("qcn", tests, NULL, NULL);
}
