/* The switch with a packet-processing pipeline in whole networks: what a frame costs, the exact
 * packet rate, turns of the inputs, full egress queues that drop or stop, deadlock of stopped
 * pipelines, no loss and equal digests in random networks, failures of links. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <xoff/rng.h>

#include "support/rig.h"

static xoff_time last_finish(const struct rig *rig)
{
    xoff_time last = 0;
    for (uint32_t f = 0; f < rig->results->n_flows; f++)
        if (rig->results->flows[f].finish_at > last)
            last = rig->results->flows[f].finish_at;
    return last;
}

static uint64_t drops_of(const struct rig *rig, enum result_drop_cause cause)
{
    uint64_t n = 0;
    for (uint32_t d = 0; d < rig->results->n_drops; d++)
        n += rig->results->drops[d].cause == cause ? rig->results->drops[d].frames : 0;
    return n;
}

/* One frame of 1518 B between links of 10 Gb/s and 1 us: 1526 * 0.8 ns + 1 us = 2220.8 ns for each
 * link, and the processing delay once. Two of them need two slots of the pipeline: they come in
 * 1230.4 ns apart, so a slot of 2 us makes the second 769.6 ns late, and one of 1 us does not. */
static void a_frame_takes_its_time(void **state)
{
    (void)state;
    static const struct {
        const char *delay, *rate;
        uint32_t n_frames;
        xoff_time finish_ps;
    } rows[] = {
        {"0s", "auto", 1, 2 * 2220800},
        {"25us", "auto", 1, 2 * 2220800 + 25000000},
        {"25us", "500k", 1, 2 * 2220800 + 25000000},
        {"25us", "500k", 2, 2 * 2220800 + 25000000 + 2000000},
        {"25us", "1M", 2, 2 * 2220800 + 25000000 + 1230400},
        {"0s", "500k", 3, 2 * 2220800 + 2 * 2000000},
    };
    for (uint32_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct rig rig;
        rig_run(&rig, NULL,
                "stop: 1ms\n"
                "topology: {kind: star, hosts: 2, host_link: {rate: 10Gbps, delay: 1us}}\n"
                "switch: {processing_delay: %s, fabric: {kind: pipeline, packet_rate: %s}}\n"
                "transport: datagram\n"
                "traffic: [{kind: incast, from: h1, to: h0, size: %uB, at: 0s}]\n",
                rows[i].delay, rows[i].rate, 1456 * rows[i].n_frames);
        rig_assert_clean(&rig);
        assert_int_equal(rig.results->flows[0].finish_at, rows[i].finish_ps);
        rig_fini(&rig);
    }
}

/* The time of a transfer alone in the network has the delay once. */
static void ideal_times_have_the_delay(void **state)
{
    (void)state;
    xoff_time ideal[2];
    for (uint32_t i = 0; i < 2; i++) {
        struct rig rig;
        rig_run(&rig, NULL,
                "stop: 1ms\n"
                "topology: {kind: star, hosts: 2, host_link: {rate: 10Gbps, delay: 1us}}\n"
                "switch: {processing_delay: %s, fabric: pipeline}\n"
                "traffic: [{kind: incast, from: h1, to: h0, size: 1456B, at: 0s}]\n",
                i ? "25us" : "0s");
        rig_assert_clean(&rig);
        ideal[i] = rig.results->flows[0].ideal_for;
        assert_int_equal(rig.results->flows[0].finish_at, ideal[i]);
        rig_fini(&rig);
    }
    assert_int_equal(ideal[1] - ideal[0], 25 * XOFF_US);
}

/* Eight inputs bring 8 * 0.81 M frames in a second to a pipeline that takes R. Of 3000 frames the
 * k-th is taken k / R after the first, cut to a picosecond, whatever R is. The first is in at
 * 2220.8 ns; the last, alone on its wire, is at its receiver 2220.8 ns after the pipeline. Inputs
 * take turns: all flows end within eight slots. */
static void the_packet_rate_is_exact(void **state)
{
    (void)state;
    static const uint64_t rates[] = {1000000, 3000000, 500000, 2999999, 700001};
    for (uint32_t i = 0; i < sizeof rates / sizeof *rates; i++) {
        struct rig rig;
        char traffic[2048] = "";
        for (uint32_t h = 0; h < 8; h++)
            snprintf(traffic + strlen(traffic), sizeof traffic - strlen(traffic),
                     "- {kind: incast, from: h%u, to: h%u, size: 546000B, at: 0s}\n", h, h + 8);
        rig_run(
            &rig, NULL,
            "stop: 1ms\ndrain: 1s\n"
            "topology: {kind: star, hosts: 16, host_link: {rate: 10Gbps, delay: 1us}}\n"
            "switch: {buffer: 200MB, processing_delay: 25us, mmu: {kind: sih, alpha_lossy: 64},\n"
            "         fabric: {kind: pipeline, packet_rate: %llu}}\n"
            "transport: datagram\n"
            "traffic:\n%s",
            (unsigned long long)rates[i], traffic);
        rig_assert_clean(&rig);
        assert_int_equal(rig_metric(&rig, "drops"), 0);
        const xoff_time last = last_finish(&rig);
        assert_int_equal(last, 2 * 2220800 + 25000000 +
                                   (xoff_time)(UINT64_C(2999) * 1000000000000 / rates[i]));
        for (uint32_t f = 0; f < 8; f++) {
            const xoff_time before = last - rig.results->flows[f].finish_at;
            assert_true(before <= (xoff_time)(UINT64_C(7) * 1000000000000 / rates[i]) + 1);
        }
        rig_fini(&rig);
    }
}

/* Turns are by frame and over inputs that have one: h0 offers a tenth of what the pipeline takes
 * and gets it, h1 to h3 have more than they can send and get a third of the rest each. */
static void inputs_take_turns(void **state)
{
    (void)state;
    struct rig rig;
    rig_run(&rig, NULL,
            "stop: 20ms\ndrain: 0s\n"
            "topology: {kind: star, hosts: 8, host_link: {rate: 10Gbps, delay: 1us}}\n"
            "switch: {buffer: 4MB, fabric: {kind: pipeline, packet_rate: 1M}}\n"
            "priorities: {3: {lossless: true}}\n"
            "traffic:\n"
            "- {kind: cbr, from: h0, to: h4, rate: 1214.4Mbps, priority: 3}\n" /* 100 k frames/s */
            "- {kind: cbr, from: h1, to: h5, priority: 3}\n"
            "- {kind: cbr, from: h2, to: h6, priority: 3}\n"
            "- {kind: cbr, from: h3, to: h7, priority: 3}\n");
    rig_assert_clean(&rig);
    assert_int_equal(rig_metric(&rig, "drops"), 0);
    assert_in_range(rig_port(&rig, "h4", "s0")->queue[3].rx_frames, 1998, 2000);
    uint64_t sum = 0;
    for (uint32_t h = 5; h < 8; h++) {
        char name[8];
        snprintf(name, sizeof name, "h%u", h);
        const uint64_t n = rig_port(&rig, name, "s0")->queue[3].rx_frames;
        assert_in_range(n, 5997, 6000); /* (20000 - 2000) / 3, less the first microseconds */
        sum += n;
    }
    assert_in_range(sum, 17995, 18000);
    rig_fini(&rig);
}

#define PARTS                                                                               \
    "stop: 500us\ndrain: 20ms\n"                                                            \
    "topology: {kind: star, hosts: 6, host_link: {rate: 10Gbps, delay: 1us}}\n"             \
    "switch: {buffer: 1200KB, processing_delay: 2us, mmu: {kind: static, xoff: 50KB, xon: " \
    "40KB},\n"                                                                              \
    "         fabric: {kind: pipeline, full: %s, egress_queue: 60KB}}\n"                    \
    "priorities: {3: {lossless: true}, 4: {lossless: true}}\n"                              \
    "transport: datagram\n"                                                                 \
    "receivers: [{host: h0, rate: \"0bps, 5ms: 10Gbps\", buffer: 200KB}]\n"                 \
    "traffic:\n"                                                                            \
    "- {kind: incast, from: h1..h3, to: h0, size: 400400B, at: 0s, priority: 3}\n"          \
    "- {kind: incast, name: victim, from: h4, to: h5, size: 1456B, at: 400us, priority: 4}\n"

/* h0 stands still until 5 ms, and its egress queue is full long before 400 us. A frame on another
 * priority from another input to another output takes 2 * 2220.8 ns + 2 us through a pipeline that
 * drops, and has to wait for h0 behind one that stops. */
static void full_queues_drop_or_stop(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 2; i++) {
        struct rig rig;
        rig_run(&rig, NULL, PARTS, i ? "stop" : "drop");
        rig_assert_clean(&rig);
        const struct results *r = rig.results;
        xoff_time victim = 0;
        for (uint32_t f = 0; f < r->n_flows; f++)
            if (r->flows[f].tag == 1)
                victim = r->flows[f].finish_at - r->flows[f].start_at;
        assert_int_equal(drops_of(&rig, RESULT_DROP_BUFFER), 0);
        assert_int_equal(r->n_deadlocks, 0);
        const uint64_t n_lost = drops_of(&rig, RESULT_DROP_EGRESS);
        const uint32_t to_h0 = rig_port(&rig, "h0", "s0")->peer_port;
        if (i == 0) {
            assert_int_equal(victim, 2 * 2220800 + 2000000);
            assert_int_equal(rig_metric(&rig, "stops"), 0);
            assert_true(n_lost > 100);
            for (uint32_t d = 0; d < r->n_drops; d++)
                assert_int_equal(r->drops[d].out_port, to_h0);
        } else {
            assert_true(victim > 4600 * XOFF_US);
            /* From about 50 us on, until h0 goes on at 5 ms, and for a while after that. */
            assert_true(rig_metric(&rig, "stop_time") > 4.9e-3);
            assert_true(rig_metric(&rig, "stop_time") < 6e-3);
            assert_true(rig_metric(&rig, "stops") >= 1);
            assert_int_equal(n_lost, 0);
            assert_int_equal(rig_metric(&rig, "flows.finished"), 4);
            /* The cause of the pauses of h1 to h3 is the queue that stopped the pipeline. */
            uint32_t n = 0;
            for (uint64_t k = 0; k < r->n_pauses; k++) {
                const struct result_pause *p = &r->pauses[k];
                if (p->node != rig_node(&rig, "s0") || !p->pause || p->at > 5 * XOFF_MS)
                    continue;
                assert_int_equal(p->egress_port, to_h0);
                assert_int_equal(p->egress_priority, 3);
                n++;
            }
            assert_int_equal(n, 3);
        }
        /* 60 KB are 39 frames of 1518 B. */
        for (uint32_t k = 0; k < r->n_ports; k++)
            if (r->nodes[r->ports[k].node].is_switch && r->ports[k].queue[3].queue_peak_bytes)
                assert_int_equal(r->ports[k].queue[3].queue_peak_bytes, 39 * 1518);
        rig_fini(&rig);
    }
}

/* A lossy priority never stops the pipeline. */
static void lossy_frames_never_stop_it(void **state)
{
    (void)state;
    struct rig rig;
    rig_run(
        &rig, NULL,
        "stop: 300us\ndrain: 20ms\n"
        "topology: {kind: star, hosts: 6, host_link: {rate: 10Gbps, delay: 1us}}\n"
        "switch: {buffer: 2MB, fabric: {kind: pipeline, full: stop, egress_queue: 20KB}}\n"
        "priorities: {4: {lossless: true}}\n"
        "transport: datagram\n"
        "traffic:\n"
        "- {kind: incast, from: h1..h3, to: h0, size: 400KB, at: 0s}\n"
        "- {kind: incast, name: other, from: h4, to: h5, size: 1456B, at: 200us, priority: 4}\n");
    rig_assert_clean(&rig);
    assert_true(drops_of(&rig, RESULT_DROP_EGRESS) > 100);
    assert_int_equal(rig_metric(&rig, "drops.lossless"), 0);
    for (uint32_t f = 0; f < rig.results->n_flows; f++)
        if (rig.results->flows[f].tag == 1)
            assert_int_equal(rig.results->flows[f].finish_at - rig.results->flows[f].start_at,
                             2 * 2220800);
    rig_fini(&rig);
}

/* An egress queue that has asked for a pause still gets what is in the pipeline: h1 sends at 10
 * Gb/s to h0, which takes nothing. Frames are 1230.4 ns apart; with a delay of 20 us, 16.26 of them
 * are in the pipeline, so the queue grows by 16 or 17 frames more than without delay. */
static void the_pipeline_is_emptied_after_a_pause(void **state)
{
    (void)state;
    int64_t peaks[2];
    for (uint32_t i = 0; i < 2; i++) {
        struct rig rig;
        rig_run(&rig, NULL,
                "stop: 1ms\ndrain: 0s\n"
                "topology: {kind: star, hosts: 2, host_link: {rate: 10Gbps, delay: 1us}}\n"
                "switch: {buffer: 4MB, processing_delay: %s,\n"
                "         fabric: {kind: pipeline, egress_queue: 200KB},\n"
                "         pause: {kind: pfc, trigger: egress, xoff: 30KB, xon: 20KB}}\n"
                "priorities: {3: {lossless: true}}\n"
                "receivers: [{host: h0, rate: 0bps, buffer: 200KB}]\n"
                "traffic: [{kind: cbr, from: h1, to: h0, priority: 3}]\n",
                i ? "20us" : "0s");
        rig_assert_clean(&rig);
        assert_int_equal(rig_metric(&rig, "drops"), 0);
        peaks[i] = 0;
        for (uint32_t k = 0; k < rig.results->n_ports; k++)
            if (rig.results->ports[k].node == rig_node(&rig, "s0") &&
                rig.results->ports[k].queue[3].queue_peak_bytes > peaks[i])
                peaks[i] = rig.results->ports[k].queue[3].queue_peak_bytes;
        rig_fini(&rig);
    }
    const int64_t more = (peaks[1] - peaks[0]) / 1518;
    assert_int_equal((peaks[1] - peaks[0]) % 1518, 0);
    assert_in_range(more, 16, 17);
}

/* Two switches with traffic both ways over one link, which has no cycle of routes: a stopped
 * pipeline does not take in what the other has to get rid of. The detector finds the two queues. */
static void stopped_pipelines_deadlock(void **state)
{
    (void)state;
    static const char *const pauses[] = {"pfc", "pfc, trigger: egress, xoff: 25KB, xon: 20KB"};
    for (uint32_t i = 0; i < 3; i++) {
        struct rig rig;
        rig_run(&rig, NULL,
                "stop: 5ms\ndrain: 5ms\n"
                "topology: {kind: dumbbell, left: 3, right: 3,\n"
                "           host_link: {rate: 10Gbps, delay: 1us},\n"
                "           fabric_link: {rate: 10Gbps, delay: 1us}}\n"
                "switch: {buffer: 1600KB, processing_delay: 2us, mmu: {kind: static, xoff: 50KB},\n"
                "         fabric: {kind: pipeline, full: %s, egress_queue: 60KB},\n"
                "         pause: {kind: %s}}\n"
                "priorities: {3: {lossless: true}}\n"
                "traffic:\n"
                "- {kind: cbr, from: h0..h2, to: h3, priority: 3}\n"
                "- {kind: cbr, from: h3..h5, to: h0, priority: 3}\n",
                i == 1 ? "drop" : "stop", pauses[i == 2]);
        rig_assert_clean(&rig);
        const struct results *r = rig.results;
        if (i == 0) {
            assert_int_equal(r->n_deadlocks, 1);
            assert_int_equal(r->deadlocks[0].n, 2);
            /* Both stand still until the end. */
            for (uint32_t n = 0; n < r->n_nodes; n++)
                if (r->nodes[n].is_switch)
                    assert_true(r->nodes[n].stopped_for > r->end_at - XOFF_MS);
            for (uint32_t k = 0; k < 2; k++)
                assert_int_equal(r->deadlock_ports[k].priority, 3);
            assert_int_not_equal(r->deadlock_ports[0].node, r->deadlock_ports[1].node);
            assert_int_equal(r->n_drops, 0);
        } else {
            assert_int_equal(r->n_deadlocks, 0);
        }
        assert_true(i != 1 || drops_of(&rig, RESULT_DROP_EGRESS) > 0);
        rig_fini(&rig);
    }
}

/* Frames at the inputs fill the pool, and one in headroom, for an empty egress queue, stops the
 * pipeline: only those behind it could make room. So it is until the link of that queue fails. */
static void a_pipeline_waits_for_itself(void **state)
{
    (void)state;
    static const char *const rows[] = {"", "links: [{link: h1-s0, at: 2ms, fail: true}]\n"};
    for (uint32_t i = 0; i < 2; i++) {
        struct rig rig;
        rig_run(&rig, NULL,
                "stop: 20us\ndrain: 5ms\n"
                "topology: {kind: star, hosts: 4, host_link: {rate: 10Gbps, delay: 1us}}\n"
                "switch: {buffer: 120KB, processing_delay: 100ns,\n"
                "         fabric: {kind: pipeline, full: stop},\n"
                "         mmu: {kind: two-sided, dedicated: 0B, pool: 1518B}}\n"
                "priorities: {3: {lossless: true}}\n"
                "transport: none\n"
                "deadlock: {after: 500us}\n"
                "traffic: [{kind: all-to-all, size: 20KB, priority: 3}]\n%s",
                rows[i]);
        rig_assert_clean(&rig);
        const struct results *r = rig.results;
        assert_non_null(strstr(rig.built->warnings[0].message, "may stand still for good"));
        assert_true(r->n_deadlocks >= 1);
        const struct result_deadlock *d = &r->deadlocks[0];
        const struct result_deadlock_port *at = &r->deadlock_ports[d->first];
        assert_int_equal(d->n, 1);
        assert_int_equal(at->node, rig_node(&rig, "s0"));
        assert_int_equal(at->port, 1);
        assert_int_equal(at->priority, 3);
        assert_in_range(d->onset_at, 1, 50 * XOFF_US);
        assert_in_range(d->found_at, d->onset_at + 500 * XOFF_US, d->onset_at + XOFF_MS);
        if (!i) /* it is reported once, and lasts */
            assert_true(r->n_deadlocks == 1 && r->nodes[at->node].stopped_for > 4 * XOFF_MS);
        else
            assert_true(drops_of(&rig, RESULT_DROP_LINK_DOWN) > 0);
        rig_fini(&rig);
    }
}

/* The link of a hot output fails while the pipeline is stopped for it, and comes back. */
static void failures_leave_nothing_behind(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 4; i++) {
        struct rig rig;
        rig_run(&rig, NULL,
                "stop: 300us\ndrain: 20ms\nreroute_after: never\n"
                "topology: {kind: star, hosts: 6, host_link: {rate: 10Gbps, delay: 1us}}\n"
                "switch: {buffer: 1200KB, processing_delay: %s,\n"
                "         fabric: {kind: pipeline, full: %s, egress_queue: 20KB}}\n"
                "priorities: {3: {lossless: true}}\n"
                "links: [{link: h0-s0, at: 100us, fail: true},\n"
                "        {link: h0-s0, at: 200us, repair: true}]\n"
                "traffic:\n"
                "- {kind: cbr, from: h1..h4, to: h0, priority: 3}\n"
                "- {kind: cbr, from: h1..h4, to: h5, priority: 3}\n",
                i & 1 ? "3us" : "0s", i & 2 ? "stop" : "drop");
        rig_assert_clean(&rig);
        assert_true(drops_of(&rig, RESULT_DROP_LINK_DOWN) > 50);
        assert_int_equal(drops_of(&rig, RESULT_DROP_BUFFER), 0);
        assert_int_equal(drops_of(&rig, RESULT_DROP_EGRESS) > 0, !(i & 2));
        assert_int_equal(rig.results->nodes[rig_node(&rig, "s0")].held_bytes, 0);
        rig_fini(&rig);
    }
}

/* Two hosts send 40 frames each within 50 us, half of which wait for the link of h0 when it fails
 * at 50 us. They are lost then, and do not wait for the repair. */
static void nothing_waits_for_a_repair(void **state)
{
    (void)state;
    struct rig rig;
    const struct rig_options options = {.cell_bound = XOFF_PARAM_AUTO, .capture = "h0"};
    rig_run(&rig, &options,
            "stop: 400us\nreroute_after: never\n"
            "topology: {kind: star, hosts: 3, host_link: {rate: 10Gbps, delay: 1us}}\n"
            "switch: {fabric: pipeline}\n"
            "transport: datagram\n"
            "links: [{link: h0-s0, at: 50us, fail: true},\n"
            "        {link: h0-s0, at: 200us, repair: true}]\n"
            "traffic: [{kind: incast, from: h1..h2, to: h0, size: %uB, at: 0s}]\n",
            40 * 1456);
    const struct result_capture *c = &rig.results->captures[0];
    assert_true(c->n_frames > 30);
    for (uint64_t i = 0; i < c->n_frames; i++)
        assert_true(c->frames[i].at < 52 * XOFF_US);
    assert_int_equal(c->n_frames + drops_of(&rig, RESULT_DROP_LINK_DOWN), 80);
    rig_assert_clean(&rig);
    rig_fini(&rig);
}

/* Congestion points at outputs and inputs, notifications, marks, weights, TPFC. */
static void mechanisms_work_on_it(void **state)
{
    (void)state;
    static const char *const more[] = {
        "  marking: {kind: step, k: 20KB}\n",
        "  marking: qcn\n",
        "  marking: qcn\n  congestion_points: input\n",
        "  pause: {kind: tpfc, lw: 10KB, tw: 20KB, hw: 40KB, allow_loss: true}\n",
        "  scheduler: wfq\n",
        "  path: scatter\n",
        "  pause: pause\n",
        "  mmu: dsh\n",
    };
    for (uint32_t i = 0; i < 2 * sizeof more / sizeof *more; i++) {
        struct rig rig;
        rig_run(&rig, NULL,
                "stop: 1ms\ndrain: 0s\n"
                "topology: {kind: leaf-spine, leaves: 2, spines: 2, hosts_per_leaf: 3,\n"
                "           host_link: {rate: 10Gbps, delay: 1us},\n"
                "           fabric_link: {rate: 10Gbps, delay: 1us}}\n"
                "priorities: {3: {lossless: true}, 4: {lossless: true}}\n"
                "switch:\n"
                "  buffer: 3MB\n"
                "  processing_delay: 1us\n"
                "  fabric: {kind: pipeline, full: %s, egress_queue: 60KB, packet_rate: 20M}\n%s"
                "traffic:\n"
                "- {kind: cbr, from: h0..h2, to: h3, priority: 3}\n"
                "- {kind: cbr, from: h4, to: h0, priority: 4}\n",
                i & 1 ? "stop" : "drop", more[i / 2]);
        rig_assert_clean(&rig);
        assert_int_equal(drops_of(&rig, RESULT_DROP_BUFFER), 0);
        assert_true(i & 1 ? drops_of(&rig, RESULT_DROP_EGRESS) == 0 : true);
        uint64_t marked = 0, notices = 0;
        for (uint32_t k = 0; k < rig.results->n_ports; k++)
            marked += rig.results->ports[k].queue[3].marked_frames;
        for (uint32_t f = 0; f < rig.results->n_flows; f++)
            notices += rig.results->flows[f].notices;
        assert_int_equal(marked > 0, i / 2 == 0);
        /* Input queues are long only where the pipeline stops. */
        assert_int_equal(notices > 0, i / 2 == 1 || i == 5);
        assert_true(i % 2 == 0 || rig.results->n_pauses > 0);
        rig_fini(&rig);
    }
}

/* The shared memory of the source's last experiment: 8 KB for each queue, a pool of 350 KB, at most
 * 80 KB of it for a queue and 100 KB for a side of a port. h0 takes nothing until 5 ms, and frames
 * for it come on two priorities. In each row one limit stops them: peaks are to the frame. */
static void shared_limits_are_kept(void **state)
{
    (void)state;
    static const struct {
        const char *limits;
        int64_t queue_bytes, port_bytes; /* most in an egress queue, and at a port */
    } rows[] = {
        {"queue_limit: 80KB", 88000, 176000},
        {"queue_limit: 80KB, port_limit: 100KB", 88000, 116000},
        {"egress_limit: 50KB", 58000, 66000},
        {"pool: 70KB", 78000, 86000},
    };
    for (uint32_t i = 0; i < 8; i++) {
        struct rig rig;
        rig_run(&rig, NULL,
                "stop: 2ms\ndrain: 30ms\n"
                "topology: {kind: star, hosts: 6, host_link: {rate: 10Gbps, delay: 1us}}\n"
                "switch:\n"
                "  buffer: 1700KB\n"
                "  processing_delay: 2us\n"
                "  fabric: {kind: pipeline, full: %s}\n"
                "  mmu: {kind: two-sided, dedicated: 8KB, xoff: 30KB, xon: 20KB, %s}\n"
                "priorities: {3: {lossless: true}, 4: {lossless: true}}\n"
                "transport: datagram\n"
                "receivers: [{host: h0, rate: \"0bps, 5ms: 10Gbps\", buffer: 22KB}]\n"
                "traffic:\n"
                "- {kind: incast, from: h1..h3, to: h0, size: 291200B, at: 0s, priority: 3}\n"
                "- {kind: incast, from: h4..h5, to: h0, size: 291200B, at: 0s, priority: 4}\n",
                i & 1 ? "stop" : "drop", rows[i / 2].limits);
        rig_assert_clean(&rig);
        assert_int_equal(rig.results->n_deadlocks, 0);
        assert_int_equal(drops_of(&rig, RESULT_DROP_BUFFER), 0);
        if (i & 1) {
            assert_int_equal(drops_of(&rig, RESULT_DROP_EGRESS), 0);
            assert_int_equal(rig_metric(&rig, "flows.finished"), 5);
        } else {
            assert_true(drops_of(&rig, RESULT_DROP_EGRESS) > 100);
        }
        const struct result_port *h0 = rig_port(&rig, "h0", "s0");
        const struct result_port *to_h0 = rig_port(&rig, "s0", "h0");
        assert_int_equal(h0->peer_node, to_h0->node);
        const int64_t three = to_h0->queue[3].queue_peak_bytes;
        const int64_t four = to_h0->queue[4].queue_peak_bytes;
        assert_true(three <= rows[i / 2].queue_bytes && four <= rows[i / 2].queue_bytes);
        if (!(i & 1)) /* nothing stands in the way of a frame that fits */
            assert_in_range(three + four, rows[i / 2].port_bytes - 2 * 1518,
                            rows[i / 2].port_bytes);
        const struct result_buffer *buffer = rig_buffer(&rig, to_h0->node);
        assert_string_equal(buffer->name, "shared");
        rig_fini(&rig);
    }
}

/* Draws a network of shared-memory pipelines with limits of all kinds. */
static char *with_limits(uint64_t seed)
{
    struct xoff_rng rng;
    char *out = NULL;
    xoff_rng_init(&rng, seed, 1, 2);
    const uint32_t n_ports = 5; /* of a leaf: hosts and spines */
    const uint32_t dedicated = 500 * (uint32_t)xoff_rng_below(&rng, 8);
    const uint32_t pool = 20000 + 1000 * (uint32_t)xoff_rng_below(&rng, 200);
    const uint32_t egress = 8000 + (uint32_t)xoff_rng_below(&rng, pool - 8000);
    const uint32_t ingress = 8000 + (uint32_t)xoff_rng_below(&rng, pool - 8000);
    const uint32_t port = 6000 + (uint32_t)xoff_rng_below(&rng, pool - 6000);
    const uint32_t queue = 4000 + (uint32_t)xoff_rng_below(&rng, port - 4000);
    const uint32_t headroom = 3 * 25000 * n_ports;
    const uint32_t rate = 1 + (uint32_t)xoff_rng_below(&rng, 12);
    const bool stops = xoff_rng_below(&rng, 2);
    assert_true(
        asprintf(&out,
                 "seed: %llu\nstop: 300us\ndrain: 30ms\n"
                 "topology: {kind: leaf-spine, leaves: 3, spines: 2, hosts_per_leaf: 3,\n"
                 "           host_link: {rate: 10Gbps, delay: 1us},\n"
                 "           fabric_link: {rate: 10Gbps, delay: 1us}}\n"
                 "priorities: {2: {lossless: true}, 3: {lossless: true}, 4: {lossless: true}}\n"
                 "switch:\n"
                 "  buffer: %uB\n"
                 "  processing_delay: %uns\n"
                 "  fabric: {kind: pipeline, packet_rate: %u00k, full: %s}\n"
                 "  mmu: {kind: two-sided, dedicated: %uB, pool: %uB, queue_limit: %uB,\n"
                 "        port_limit: %uB, ingress_limit: %uB, egress_limit: %uB}\n"
                 "transport: datagram\n"
                 "traffic:\n"
                 "- {kind: poisson, from: all, to: all, load: 0.5, sizes: 20KB, priority: 2}\n"
                 "- {kind: incast, from: h1..h6, to: h0, size: 60KB, at: 20us, priority: 3}\n"
                 "- {kind: incast, from: h0..h4, to: h8, size: 60KB, at: 90us, priority: 4}\n"
                 "- {kind: incast, from: h2..h5, to: h7, size: 60KB, at: 60us, priority: 0}\n",
                 (unsigned long long)seed, 2 * n_ports * 8 * dedicated + pool + headroom,
                 (uint32_t)xoff_rng_below(&rng, 3000), 5 * rate, stops ? "stop" : "drop", dedicated,
                 pool, queue, port, ingress, egress) > 0);
    return out;
}

static const char *judge(const struct rig *rig, bool stops)
{
    const struct results *r = rig->results;
    for (uint32_t i = 0; i < r->n_drops; i++) {
        if (!r->drops[i].lossless)
            continue;
        if (r->drops[i].cause == RESULT_DROP_BUFFER)
            return "a frame of a lossless priority was lost at its input";
        if (stops && r->drops[i].cause == RESULT_DROP_EGRESS)
            return "a frame of a lossless priority was lost although the pipeline stops";
    }
    if (r->n_findings)
        return r->findings[0].text;
    /* Traffic ends early: in the end everything has left, or is in a deadlock that was found. */
    int64_t held = 0;
    for (uint32_t n = 0; n < r->n_nodes; n++)
        held += r->nodes[n].held_bytes;
    if (held && !r->n_deadlocks)
        return "a node still holds frames";
    if (!held && r->n_deadlocks)
        return "a deadlock was found, and all frames have left";
    return NULL;
}

/* Nothing is lost where the pipeline stops, nothing is left behind, and threads decide nothing. */
static void random_networks_lose_nothing(void **state)
{
    (void)state;
    const uint64_t n = getenv("XOFF_QUICK") ? 15 : 120;
    const char *one = getenv("XOFF_SEED"); /* to look at one that failed */
    const uint64_t first = one ? strtoull(one, NULL, 10) : 1;
    uint32_t paused = 0, deadlocked = 0, lost = 0;
    for (uint64_t seed = first; seed < (one ? first + 1 : n + 1); seed++) {
        static const uint32_t threads[] = {1, 2, 4};
        char *text = with_limits(seed);
        uint64_t digests[3];
        for (uint32_t t = 0; t < (seed % 4 ? 1 : 3); t++) {
            const struct rig_options way = {.n_threads = threads[t],
                                            .cell_bound = seed % 8 ? XOFF_PARAM_AUTO : 0};
            struct rig rig;
            rig_run(&rig, &way, "%s", text);
            const char *wrong = judge(&rig, strstr(text, "full: stop"));
            digests[t] = rig.results->digest;
            if (!wrong && digests[t] != digests[0])
                wrong = "another digest with more threads";
            if (wrong) {
                fprintf(stderr, "%s", text);
                fail_msg("XOFF_SEED=%llu: %s", (unsigned long long)seed, wrong);
            }
            paused += !t && rig.results->n_pauses;
            deadlocked += !t && rig.results->n_deadlocks;
            lost += !t && drops_of(&rig, RESULT_DROP_EGRESS);
            rig_fini(&rig);
        }
        free(text);
    }
    print_message("%llu networks: %u paused, %u deadlocked, %u with losses at egress queues\n",
                  (unsigned long long)n, paused, deadlocked, lost);
    assert_true(one || (paused > n / 8 && lost > 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_frame_takes_its_time),
        cmocka_unit_test(ideal_times_have_the_delay),
        cmocka_unit_test(the_packet_rate_is_exact),
        cmocka_unit_test(inputs_take_turns),
        cmocka_unit_test(full_queues_drop_or_stop),
        cmocka_unit_test(lossy_frames_never_stop_it),
        cmocka_unit_test(the_pipeline_is_emptied_after_a_pause),
        cmocka_unit_test(stopped_pipelines_deadlock),
        cmocka_unit_test(a_pipeline_waits_for_itself),
        cmocka_unit_test(failures_leave_nothing_behind),
        cmocka_unit_test(nothing_waits_for_a_repair),
        cmocka_unit_test(mechanisms_work_on_it),
        cmocka_unit_test(shared_limits_are_kept),
        cmocka_unit_test(random_networks_lose_nothing),
    };
    return cmocka_run_group_tests_name("pipeline", tests, NULL, NULL);
}
