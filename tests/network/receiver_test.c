/* Slow receivers in whole networks: virtual machines that share a receive queue, and the congestion
 * point that watches it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/rig.h"

static xoff_time finish_of(const struct rig *rig, uint32_t tag)
{
    for (uint64_t i = 0; i < rig->results->n_flows; i++)
        if (rig->results->flows[i].tag == tag)
            return rig->results->flows[i].finish_at;
    fail_msg("no flow of entry %u", tag);
    return 0;
}

/* Three frames of 1062 B (1000 B and 62 of headers) for h1. On the wire each takes 856 ns with its
 * preamble until its last bit, at two links of 10 Gb/s and 1 us: the first is there at 3712 ns, the
 * others 865.6 ns (1082 B) later each. A machine takes 8496 ns at 1 Gb/s, the host 849.6 ns at 10.
 */
static void machines_take_their_own(void **state)
{
    (void)state;
    static const struct {
        const char *vms;
        xoff_time finish_at[3];
    } cases[] = {
        /* In one queue: 3712 + 849.6, then each when it is there. */
        {"", {4561600, 5427200, 6292800}},
        /* The first waits for its machine, the others do not wait for the first. */
        {", vms: [{traffic: a, rate: 1Gbps}]", {12208000, 5427200, 6292800}},
        /* a and c have one machine: c is taken behind a. */
        {", vms: [{traffic: [a, c], rate: 1Gbps}]", {12208000, 5427200, 20704000}},
        /* Two machines of 1 Gb/s do not share their rate. */
        {", vms: [{traffic: a, rate: 1Gbps}, {traffic: c, rate: 1Gbps}]",
         {12208000, 5427200, 13939200}},
        /* A machine stands still until 20 us: 20000 + 849.6. */
        {", vms: [{traffic: b, rate: [0bps, 20us: 10Gbps]}]", {4561600, 20849600, 6292800}},
    };
    for (uint32_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct rig rig;
        rig_run(&rig, &(struct rig_options){0},
                "topology: {kind: star, hosts: 2, host_link: {rate: 10Gbps, delay: 1us}}\n"
                "receivers: [{host: h1, rate: 10Gbps%s}]\n"
                "traffic: [{kind: flows, name: a, list: [{from: h0, to: h1, size: 1000B}]},\n"
                "  {kind: flows, name: b, list: [{from: h0, to: h1, size: 1000B}]},\n"
                "  {kind: flows, name: c, list: [{from: h0, to: h1, size: 1000B}]}]\n",
                cases[i].vms);
        for (uint32_t tag = 0; tag < 3; tag++)
            assert_int_equal(finish_of(&rig, tag), cases[i].finish_at[tag]);
        rig_assert_clean(&rig);
        rig_fini(&rig);
    }
}

/* Flows of one frame at random times from three hosts. A slow model takes what a capture saw arrive
 * at h3 and serves each machine by itself, first come, first served. */
static void machines_equal_a_model(void **state)
{
    (void)state;
    static const double ps_per_byte[] = {8000, 2000, 800}; /* 1, 4 and 10 Gb/s */
    for (uint32_t seed = 1; seed <= 6; seed++) {
        struct rig rig;
        const struct rig_options options = {.capture = "h3", .n_threads = seed % 2 + 1};
        rig_run(&rig, &options,
                "seed: %u\nstop: 300us\ndrain: 10ms\n"
                "topology: {kind: star, hosts: 4, host_link: {rate: 10Gbps, delay: 1us}}\n"
                "receivers: [{host: h3, rate: 10Gbps, buffer: 4MB, vms: [{traffic: slow, rate:\n"
                "  1Gbps}, {traffic: mid, rate: 4Gbps}]}]\ntransport: datagram\n"
                "traffic:\n"
                "  - {kind: poisson, name: slow, from: h0..h2, to: h3, load: 0.1, sizes: 700B}\n"
                "  - {kind: poisson, name: mid, from: h0..h2, to: h3, load: 0.15, sizes: 1300B}\n"
                "  - {kind: poisson, name: rest, from: h0..h2, to: h3, load: 0.01, sizes: 100B}\n",
                seed);
        const struct result_capture *c = &rig.results->captures[0];
        xoff_time free_at[3] = {0};
        uint64_t n = 0;
        for (uint64_t k = 0; k < c->n_frames; k++) {
            const struct result_frame *f = &c->frames[k];
            if (f->is_sent)
                continue;
            const struct result_flow *flow = rig.results->flows;
            while (flow->from != f->from || flow->number != f->flow)
                flow++;
            xoff_time *at = &free_at[flow->tag];
            *at = (f->at > *at ? f->at : *at) + (xoff_time)(f->bytes * ps_per_byte[flow->tag]);
            assert_int_equal(flow->finish_at, *at);
            n++;
        }
        assert_true(n > 50 && n == rig.results->n_flows);
        rig_assert_clean(&rig);
        rig_fini(&rig);
    }
}

/* The machine of a stands still. ACKs of what h1 sends itself are not its: they are taken at the
 * host's rate, though they have the priority of the frame that waits. */
static void machines_take_no_acks(void **state)
{
    (void)state;
    struct rig rig;
    rig_run(&rig, &(struct rig_options){0},
            "stop: 5ms\ndrain: 0s\ntransport: dctcp\n"
            "topology: {kind: star, hosts: 2, host_link: {rate: 10Gbps, delay: 1us}}\n"
            "receivers: [{host: h1, rate: 10Gbps, vms: [{traffic: a, rate: 0bps}]}]\n"
            "traffic: [{kind: flows, name: a, list: [{from: h0, to: h1, size: 1000B}]},\n"
            "  {kind: flows, name: b, list: [{from: h1, to: h0, size: 400KB, at: 10us}]}]\n");
    for (uint64_t i = 0; i < rig.results->n_flows; i++)
        assert_int_equal(rig.results->flows[i].acked_at != XOFF_NEVER,
                         rig.results->flows[i].tag == 1);
    rig_assert_clean(&rig);
    rig_fini(&rig);
}

static uint64_t notices_of(const struct rig *rig, uint32_t tag)
{
    uint64_t n = 0;
    for (uint64_t i = 0; i < rig->results->n_flows; i++)
        if (rig->results->flows[i].tag == tag)
            n += rig->results->flows[i].notices;
    return n;
}

/* h1 takes 1 Gb/s. Its notifications are frames: 72 B with preamble at 10 Gb/s (57.6 ns) and 1 us,
 * twice, on a priority and in a direction where nothing else is. h1 has port 1 of the network. */
static void notifications_are_frames(void **state)
{
    (void)state;
    static const struct {
        const char *priority;
        uint8_t expected;
    } cases[] = {{"7", 7}, {"5", 5}, {"auto", 3}};
    for (uint32_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct rig_options options = {.capture = "h0"};
        struct rig rig;
        rig_run(&rig, &options,
                "stop: 20ms\ndrain: 0s\n"
                "topology: {kind: star, hosts: 2, host_link: {rate: 10Gbps, delay: 1us}}\n"
                "switch: {marking: none, notice_priority: %s}\npriorities: {3: {lossless: true}}\n"
                "receivers: [{host: h1, rate: 1Gbps, buffer: 16MB, marking: qcn}]\n"
                "transport: qcn\ntraffic: [{kind: cbr, from: h0, to: h1, priority: 3}]\n"
                "measure: {every: 20us, series: [input]}\n"
                "curves: {q: {of: input, at: h1, priority: 3, from: 15ms}}\n",
                cases[i].priority);
        const struct result_capture *c = &rig.results->captures[0];
        uint64_t n = 0;
        for (uint64_t k = 0; k < c->n_frames; k++) {
            const struct result_frame *f = &c->frames[k];
            if (f->kind != RESULT_FRAME_NOTICE)
                continue;
            assert_int_equal(f->at - f->sent_at, 2115200);
            assert_int_equal(f->bytes, 64);
            assert_int_equal(f->priority, cases[i].expected);
            assert_int_equal(c->extras[k].notice.kind, XOFF_NOTICE_QCN);
            assert_int_equal(c->extras[k].notice.cp_id, 1 * XOFF_N_PRIORITIES + 3);
            assert_true(c->extras[k].notice.feedback < 0);
            n++;
        }
        const struct result_queue *q = &rig_port(&rig, "h1", "s0")->queue[3];
        assert_true(n > 5);
        assert_int_equal(q->notices, n);
        assert_true(q->samples > n);
        assert_int_equal(rig.results->flows[0].notices, n);
        /* The set point is 26 kB; PFC alone would have filled the buffer. */
        assert_true(rig_metric(&rig, "curve.q.mean") > 13000);
        assert_true(rig_metric(&rig, "curve.q.mean") < 39000);
        assert_int_equal(rig.results->n_pauses, 0);
        rig_assert_clean(&rig);
        rig_fini(&rig);
    }
}

/* The machines of a and b stand still; a has 20 frames in the queue and b 60, of 1518 B each. c is
 * taken at once, and makes samples due: 5 Gb/s for 20 ms are 12.5 MB. With q = 121 kB, Qeq 26 kB
 * and q_old = q the feedback is 63 * 95 / 130, so each sample notifies and the next one is due
 * after 25 KiB: about 480. Whom do they tell? Arrival: c alone. Occupancy: a 1/4 and b 3/4 of them,
 * less what a frame of c that is just there has (1 of 81). Of n draws the standard deviation is
 * sqrt(n / 4 * 3 / 4); bounds are 5 of them, and c's share is at most 5 %. */
static void whose_source_is_told(void **state)
{
    (void)state;
    for (uint32_t seed = 1; seed <= 8; seed++) {
        const bool is_drawn = seed > 4;
        struct rig rig;
        rig_run(&rig, &(struct rig_options){0},
                "seed: %u\nstop: 20ms\ndrain: 0s\ntransport: datagram\n"
                "topology: {kind: star, hosts: 4, host_link: {rate: 10Gbps, delay: 1us}}\n"
                "receivers: [{host: h3, rate: 10Gbps, buffer: 4MB, marking: {kind: qcn,\n"
                "  sampling: %s}, vms: [{traffic: a, rate: 0bps}, {traffic: b, rate: 0bps}]}]\n"
                "traffic:\n"
                "  - {kind: flows, name: a, list: [{from: h0, to: h3, size: 29120B}]}\n"
                "  - {kind: flows, name: b, list: [{from: h1, to: h3, size: 87360B}]}\n"
                "  - {kind: cbr, name: c, from: h2, to: h3, rate: 5Gbps, start: 500us}\n",
                seed, is_drawn ? "occupancy" : "arrival");
        const double a = (double)notices_of(&rig, 0), b = (double)notices_of(&rig, 1),
                     c = (double)notices_of(&rig, 2), n = a + b + c;
        assert_true(n > 300 && n < 700);
        assert_true(rig_metric(&rig, "notices.sent") - n <= 1); /* one is on its way */
        if (!is_drawn) {
            assert_true(a + b == 0);
        } else {
            assert_true((a - n / 4) * (a - n / 4) < 25 * n * 3 / 16);
            assert_true(c <= 0.05 * n);
        }
        assert_int_equal(rig.results->nodes[rig_node(&rig, "h3")].held_bytes >= 80 * 1518, true);
        rig_assert_clean(&rig); /* counts the units that are left */
        rig_fini(&rig);
    }
}

/* Marks of a receive queue are echoed like those of switches, and the queue stays short. */
static void marks_are_echoed(void **state)
{
    (void)state;
    struct rig rig;
    rig_run(&rig, &(struct rig_options){0},
            "stop: 10ms\ntopology: {kind: star, hosts: 2, host_link: {rate: 10Gbps, delay: 1us}}\n"
            "switch: {marking: none}\ntransport: dctcp\n"
            "receivers: [{host: h1, rate: 5Gbps, buffer: 4MB, marking: {kind: step, at: enqueue,\n"
            "  k: 30KB}}]\n"
            "traffic: [{kind: flows, list: [{from: h0, to: h1, size: 4MB}]}]\n");
    const struct result_queue *q = &rig_port(&rig, "h1", "s0")->queue[0];
    assert_true(q->marked_frames > 20);
    assert_int_equal(q->marked_frames, rig.results->flows[0].marked_frames);
    assert_int_equal(q->notices, 0);
    assert_true(rig_buffer(&rig, rig_node(&rig, "h1"))->view.peak_total_bytes < 300000);
    assert_int_equal(rig.results->flows[0].delivered_bytes, 4000000);
    rig_assert_clean(&rig);
    rig_fini(&rig);
}

/* The switch marks every frame, so the receive queue has none left to mark. */
static void marks_are_counted_once(void **state)
{
    (void)state;
    struct rig rig;
    rig_run(&rig, &(struct rig_options){0},
            "stop: 10ms\ntopology: {kind: star, hosts: 2, host_link: {rate: 10Gbps, delay: 1us}}\n"
            "switch: {marking: {kind: step, at: enqueue, k: 0B}}\ntransport: dctcp\n"
            "receivers: [{host: h1, rate: 5Gbps, buffer: 4MB, marking: {kind: step, at: enqueue,\n"
            "  k: 0B}}]\n"
            "traffic: [{kind: flows, list: [{from: h0, to: h1, size: 100KB}]}]\n");
    assert_true(rig.results->flows[0].marked_frames >= 100000 / 1518);
    assert_int_equal(rig_port(&rig, "h1", "s0")->queue[0].marked_frames, 0);
    assert_true(rig_metric(&rig, "marks") == (double)rig.results->flows[0].marked_frames);
    rig_assert_clean(&rig);
    rig_fini(&rig);
}

/* A slow machine with pauses, notifications and points at switches beside: the same on any number
 * of threads, and all that was sent is taken in the end. */
static void threads_are_equal(void **state)
{
    (void)state;
    uint64_t digest = 0;
    for (uint32_t threads = 1; threads <= 4; threads *= 2) {
        const struct rig_options options = {.n_threads = threads,
                                            .cell_bound = threads > 1 ? 0 : XOFF_PARAM_AUTO};
        struct rig rig;
        rig_run(&rig, &options,
                "stop: 5ms\ndrain: 60ms\n"
                "topology: {kind: chain, switches: 2, hosts_per_switch: 2,\n"
                "  host_link: {rate: 10Gbps, delay: 1us}}\n"
                "switch: {buffer: 1MB}\npriorities: {3: {lossless: true}}\ntransport: qcn\n"
                "receivers: [{host: h3, rate: 10Gbps, buffer: 150KiB, xoff: 110KiB, xon: 44KiB,\n"
                "  marking: {kind: qcn, qeq: 60KiB, sampling: occupancy, unit: 64B},\n"
                "  vms: [{traffic: slow, rate: [1Gbps, 2ms: 500Mbps]}]}]\n"
                "traffic:\n"
                "  - {kind: cbr, name: slow, from: h0, to: h3, rate: 4Gbps, priority: 3}\n"
                "  - {kind: cbr, name: fast, from: h1, to: h3, rate: 5Gbps, priority: 3}\n"
                "  - {kind: cbr, name: near, from: h2, to: h3, rate: 2Gbps, priority: 3}\n");
        assert_true(rig_port(&rig, "h3", "s1")->queue[3].notices > 0);
        assert_true(rig.results->n_pauses > 0);
        assert_int_equal(rig.results->n_drops, 0);
        for (uint64_t f = 0; f < rig.results->n_flows; f++)
            assert_int_equal(rig.results->flows[f].delivered_bytes,
                             rig.results->flows[f].sent_bytes);
        rig_assert_clean(&rig);
        assert_true(threads == 1 || rig.results->digest == digest);
        digest = rig.results->digest;
        rig_fini(&rig);
    }
}

/* A receiver with egress triggers and two priorities: what waits of the lossy one holds nobody when
 * the last lossless frame has left. Before, the pause had no end. */
static void another_priority_holds_nobody(void **state)
{
    (void)state;
    struct rig rig;
    rig_run(&rig, NULL,
            "stop: 100us\ndrain: 20ms\n"
            "topology: {kind: star, hosts: 3, host_link: {rate: 10Gbps, delay: 1us}}\n"
            "switch: {pause: {kind: pfc, trigger: egress, xoff: 3KB, xon: 1KB}}\n"
            "priorities: {3: {lossless: true}}\n"
            "receivers: [{host: h0, rate: 5Gbps, buffer: 100KB}]\n"
            "traffic:\n"
            "- {kind: flows, priority: 3, list: [{at: 0s, from: h1, to: h0, size: 20KB},\n"
            "                                   {at: 90us, from: h1, to: h0, size: 20KB}]}\n"
            "- {kind: flows, priority: 0, list: [{at: 0s, from: h2, to: h0, size: 30KB}]}\n");
    rig_assert_clean(&rig);
    assert_true(rig_metric(&rig, "flows.finished") == 3);
    rig_fini(&rig);
}

/* A frame is served at any picosecond; the flow that its ACK belongs to goes by a clock of whole
 * nanoseconds. */
static void served_by_a_coarse_clock(void **state)
{
    (void)state;
    struct rig rig;
    rig_run(&rig, NULL,
            "stop: 50us\ndrain: 10ms\ncompat: ns3\ntransport: hpcc\n"
            "topology: {kind: star, hosts: 3, host_link: {rate: 3Gbps, delay: 1us}}\n"
            "priorities: {3: {lossless: true}}\n"
            "receivers: [{host: h0, rate: 400Gbps}, {host: h1, rate: 400Gbps}]\n"
            "traffic: [{kind: incast, from: h1..h2, to: h0, size: 50KB, priority: 3},\n"
            "          {kind: incast, from: h0, to: h1, size: 50KB, priority: 3}]\n");
    assert_int_equal(rig.results->n_flows, 3);
    for (uint64_t i = 0; i < rig.results->n_flows; i++) {
        assert_int_equal(rig.results->flows[i].delivered_bytes, 50000);
        assert_int_equal(rig.results->flows[i].finish_at % XOFF_NS, 0);
    }
    rig_assert_clean(&rig);
    rig_fini(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(machines_take_their_own),       cmocka_unit_test(machines_equal_a_model),
        cmocka_unit_test(machines_take_no_acks),         cmocka_unit_test(notifications_are_frames),
        cmocka_unit_test(whose_source_is_told),          cmocka_unit_test(marks_are_echoed),
        cmocka_unit_test(marks_are_counted_once),        cmocka_unit_test(threads_are_equal),
        cmocka_unit_test(another_priority_holds_nobody), cmocka_unit_test(served_by_a_coarse_clock),
    };
    return cmocka_run_group_tests_name("receiver", tests, NULL, NULL);
}
