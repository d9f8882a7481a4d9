/* Networks that change while they run: rates, delays, failures, routes, frame errors, and runs that
 * are stopped. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <xoff/units.h>

#include "support/rig.h"

#define PAYLOAD 1456
#define SLOT (1538 * 80)     /* ps of a full frame with preamble and gap at 100 Gb/s */
#define LAST_BIT (1526 * 80) /* up to its last bit */

/* A frame on the wire is finished at the old rate, the next one has the new one. h1 sends 200
 * frames back to back; its link falls to 10 Gb/s (or rises from it) at t. */
static void rate_change_counts_from_the_next_frame(void **state)
{
    (void)state;
    static const xoff_time times[] = {1, SLOT - 1, SLOT, SLOT + 1, 5 * XOFF_US, 12345678};
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        struct rig rig;
        rig_run(&rig, NULL,
                "stop: 10ms\n"
                "topology: {kind: star, hosts: 2, host_link: {rate: 100Gbps, delay: 1us}}\n"
                "links: [{link: h1-s0, at: %lldps, rate: 10Gbps}]\n"
                "traffic: [{kind: flows, list: [{from: h1, to: h0, size: %uB}]}]\n",
                (long long)times[i], 200 * PAYLOAD);
        /* Frames 0, 1, ... begin at multiples of a slot; a change comes before what else falls on
         * its instant. */
        const xoff_time n_fast = (times[i] + SLOT - 1) / SLOT;
        const xoff_time last_begins = n_fast * SLOT + (199 - n_fast) * 10 * SLOT;
        const xoff_time finish = last_begins + 10 * LAST_BIT + XOFF_US + LAST_BIT + XOFF_US;
        assert_int_equal(rig.results->flows[0].finish_at, finish);
        rig_assert_clean(&rig);
        rig_fini(&rig);
    }
}

/* 5 m at 100 Gb/s, then a new delay in the middle of a flow of 60 frames. */
static void run_delay_change(struct rig *rig, const char *transport, const char *before,
                             xoff_time at, const char *after)
{
    rig_run(rig, NULL,
            "stop: 10ms\n"
            "topology: {kind: custom, nodes: {h0: host, h1: host, s0: switch}, links: [\n"
            "  {endpoints: [h0, s0], rate: 100Gbps, delay: 1us},\n"
            "  {endpoints: [h1, s0], rate: 100Gbps, delay: %s}]}\n"
            "links: [{link: h1-s0, at: %lldps, delay: %s}]\n"
            "traffic: [{kind: flows, transport: %s, list: [{from: h1, to: h0, size: %uB}]}]\n",
            before, (long long)at, after, transport, 60 * PAYLOAD);
}

static void longer_delay_moves_later_frames(void **state)
{
    (void)state;
    struct rig rig;
    run_delay_change(&rig, "datagram", "1us", 20 * SLOT + 5, "10us");
    assert_int_equal(rig.results->flows[0].finish_at,
                     59 * SLOT + LAST_BIT + 10 * XOFF_US + LAST_BIT + XOFF_US);
    rig_assert_clean(&rig);
    rig_fini(&rig);
}

/* From 10 us to 1 us while frame 20 (counted from 0) is sent: it arrives last of the old ones, and
 * the others, which would be there earlier, right behind it. They leave s0 one slot apart. */
static void shorter_delay_does_not_reorder(void **state)
{
    (void)state;
    struct rig rig;
    run_delay_change(&rig, "datagram", "10us", 20 * SLOT + 5, "1us");
    const xoff_time old_last = 20 * SLOT + LAST_BIT + 10 * XOFF_US;
    assert_int_equal(rig.results->flows[0].finish_at, old_last + 39 * SLOT + LAST_BIT + XOFF_US);
    rig_assert_clean(&rig);
    rig_fini(&rig);

    /* Reordering would cost go-back-N a NACK and frames sent again. */
    for (xoff_time at = 1; at < 60 * SLOT; at += 7 * SLOT / 3) {
        run_delay_change(&rig, "none", "7us", at, "0s");
        assert_int_equal(rig.results->flows[0].delivered_bytes, 60 * PAYLOAD);
        assert_int_equal(rig.results->flows[0].retransmitted_frames, 0);
        rig_assert_clean(&rig);
        rig_fini(&rig);
    }
}

/* Two leaves, two spines; the link that the flow takes fails at 100 us. */
static void run_failure(struct rig *rig, const char *victim, const char *more)
{
    rig_run(rig, NULL,
            "stop: 1ms\ndrain: 50ms\n"
            "topology: {kind: leaf-spine, leaves: 2, spines: 2, hosts_per_leaf: 1,\n"
            "  host_link: {rate: 100Gbps, delay: 1us}}\n"
            "switch: {buffer: 4MB}\npriorities: {3: {lossless: true}}\n"
            "host: {timeout: 100us}\n"
            "links: [{link: leaf0-%s, at: 100us, fail: true}%s\n"
            "traffic: [{kind: flows, priority: 3, transport: none,\n"
            "  list: [{from: h0, to: h1, size: 5MB}]}]\n",
            victim, more);
}

static const char *spine_used(const struct rig *rig)
{
    return rig_port(rig, "leaf0", "spine0")->queue[3].tx_frames ? "spine0" : "spine1";
}

static void failed_link_is_routed_around(void **state)
{
    (void)state;
    struct rig rig;
    rig_run(&rig, NULL,
            "stop: 1ms\n"
            "topology: {kind: leaf-spine, leaves: 2, spines: 2, hosts_per_leaf: 1}\n"
            "traffic: [{kind: flows, priority: 3, transport: none,\n"
            "  list: [{from: h0, to: h1, size: 5KB}]}]\n");
    const char *victim = spine_used(&rig);
    const char *other = !strcmp(victim, "spine0") ? "spine1" : "spine0";
    rig_fini(&rig);

    /* Alone 5 MB take 425 us. Nothing gets through from 100 to 300 us. */
    run_failure(&rig, victim, "]\nreroute_after: 200us");
    const struct result_flow *flow = &rig.results->flows[0];
    assert_in_range(flow->finish_at, 600 * XOFF_US, 900 * XOFF_US);
    assert_true(flow->retransmitted_frames > 0);
    assert_true(rig_port(&rig, "leaf0", victim)->queue[3].tx_frames > 500);
    assert_true(rig_port(&rig, "leaf0", other)->queue[3].tx_frames > 2000);
    assert_true(rig_metric(&rig, "drops.link-down") > 0);
    assert_true(rig_metric(&rig, "drops.lossless") == 0);
    assert_true(rig_metric(&rig, "drops.buffer") == 0);
    for (uint32_t i = 0; i < rig.results->n_drops; i++)
        assert_in_range(rig.results->drops[i].first_at, 100 * XOFF_US, 300 * XOFF_US);
    rig_assert_clean(&rig);
    rig_fini(&rig);

    /* Without new routes the flow waits for the repair. */
    char more[128];
    snprintf(more, sizeof more, ", {link: leaf0-%s, at: 5ms, repair: true}]\nreroute_after: never",
             victim);
    run_failure(&rig, victim, more);
    flow = &rig.results->flows[0];
    assert_in_range(flow->finish_at, 5300 * XOFF_US, 5600 * XOFF_US);
    assert_int_equal(rig_port(&rig, "leaf0", other)->queue[3].tx_frames, 0);
    rig_assert_clean(&rig);
    rig_fini(&rig);

    /* Repaired and known to be before the flow ends: it comes back. */
    snprintf(more, sizeof more, ", {link: leaf0-%s, at: 200us, repair: true}]\nreroute_after: 50us",
             victim);
    run_failure(&rig, victim, more);
    assert_true(rig_port(&rig, "leaf0", victim)->queue[3].tx_frames > 1500);
    assert_true(rig_port(&rig, "leaf0", other)->queue[3].tx_frames > 300);
    assert_int_equal(rig.results->flows[0].delivered_bytes, 5000000);
    rig_assert_clean(&rig);
    rig_fini(&rig);
}

/* h0 stands still until 2 ms, so that s0 pauses h1. The link between those two fails under the
 * pause and comes back: h1 must be told again, and wait until it could have been told, since the
 * headroom is as full as before. Failure and repair become known to routing one after the other. */
static void pause_outlives_a_failure(void **state)
{
    (void)state;
    struct rig rig;
    rig_run(&rig, NULL,
            "stop: 3ms\ndrain: 100ms\n"
            "topology: {kind: star, hosts: 2, host_link: {rate: 100Gbps, delay: 1us}}\n"
            "switch: {buffer: 2MB, mmu: {kind: static, xoff: 50KB}}\n"
            "priorities: {3: {lossless: true}}\nhost: {timeout: 500us}\n"
            "receivers: [{host: h0, rate: \"0bps, 2ms: 100Gbps\", buffer: 500KB}]\n"
            "links:\n"
            "- {link: h1-s0, at: 200us, fail: true}\n"
            "- {link: h1-s0, at: 300us, repair: true}\n"
            "- {link: h1-s0, at: 2010us, fail: true}\n"
            "- {link: h1-s0, at: 2100us, repair: true}\n"
            "traffic: [{kind: cbr, from: h1, to: h0, priority: 3, transport: none}]\n");
    const struct results *r = rig.results;
    assert_true(rig_port(&rig, "s0", "h1")->queue[3].pause_tx >= 2);
    assert_true(rig_metric(&rig, "drops.lossless") == 0);
    assert_int_equal(r->flows[0].delivered_bytes, r->flows[0].offered_bytes);
    assert_true(r->flows[0].delivered_bytes > 5000000);
    /* Open for a moment after the repair, until the new pause takes effect. */
    assert_true(rig_port(&rig, "h1", "s0")->queue[3].paused_for > 1600 * XOFF_US);
    rig_assert_clean(&rig);
    rig_fini(&rig);
}

/* h1 overruns a slow link to h0 while full frames go the other way. Its own link changes its rate
 * at `at`, and back at 400 us. */
static void run_rate_change(struct rig *rig, const char *before, const char *after, xoff_time at)
{
    rig_run(rig, NULL,
            "stop: 500us\n"
            "topology: {kind: custom, nodes: {h0: host, h1: host, h2: host, s0: switch},\n"
            "  host_link: {rate: %s, delay: 10ns}, links: [{endpoints: [h1, s0]},\n"
            "  {endpoints: [h0, s0], rate: 500Mbps}, {endpoints: [h2, s0]}]}\n"
            "switch: {buffer: 4MB, mmu: {kind: static, xoff: 15181B, xon: 2000B}}\n"
            "priorities: {3: {lossless: true}}\n"
            "links: [{link: h1-s0, at: %lldps, rate: %s}, {link: h1-s0, at: 400us, rate: %s}]\n"
            "traffic:\n"
            "- {kind: cbr, from: h1, to: h0, priority: 3, start: 10us}\n"
            "- {kind: cbr, from: h2, to: h1, priority: 0}\n",
            before, (long long)at, after, before);
}

/* A lossless link that gets faster or slower under load loses nothing, also when it does so around
 * the decision of a pause, its way, its response and what arrives behind it. */
static void rate_change_under_pressure_loses_nothing(void **state)
{
    (void)state;
    static const char *const rates[][2] = {
        {"10Gbps", "100Gbps"}, {"100Gbps", "10Gbps"}, {"25Gbps", "400Gbps"}, {"1Gbps", "7.3Gbps"}};
    for (uint32_t i = 0; i < sizeof rates / sizeof *rates; i++) {
        struct rig rig;
        run_rate_change(&rig, rates[i][0], rates[i][1], 399 * XOFF_US);
        const xoff_time decided = rig.results->pauses[0].at;
        assert_true(decided < 399 * XOFF_US);
        rig_fini(&rig);
        for (xoff_time offset = -3 * XOFF_US; offset < 9 * XOFF_US; offset += 60 * XOFF_NS) {
            run_rate_change(&rig, rates[i][0], rates[i][1], decided + offset);
            if (rig_metric(&rig, "drops.lossless") != 0)
                fail_msg("%s to %s at %lld ps, pause decided at %lld ps: lossless frames lost",
                         rates[i][0], rates[i][1], (long long)(decided + offset),
                         (long long)decided);
            rig_assert_clean(&rig);
            rig_fini(&rig);
        }
    }
}

/* Frames that reach leaf0 before 1 ms go by spine0, then by spine1, from 2 ms on by shortest paths.
 */
static void stated_routes_change_at_their_time(void **state)
{
    (void)state;
    struct rig rig;
    rig_run(&rig, NULL,
            "stop: 2ms\n"
            "topology: {kind: leaf-spine, leaves: 2, spines: 2, hosts_per_leaf: 1,\n"
            "  host_link: {rate: 100Gbps, delay: 1us}}\n"
            "routes:\n"
            "- {on: leaf0, to: h1, via: [spine0]}\n"
            "- {at: 1ms, on: leaf0, to: h1, via: [spine1]}\n"
            "traffic: [{kind: cbr, from: h0, to: h1, rate: 10Gbps}]\n");
    /* Frame k is offered at k * 1518 * 800 ps and arrives 1526 * 80 ps + 1 us later. */
    const xoff_time pace = 1518 * 800;
    const xoff_time before = XOFF_MS - LAST_BIT - XOFF_US;
    const uint64_t n_first = (uint64_t)((before + pace - 1) / pace);
    const uint64_t n_all = (uint64_t)((2 * XOFF_MS + pace - 1) / pace);
    assert_int_equal(rig_port(&rig, "leaf0", "spine0")->queue[0].tx_frames, n_first);
    assert_int_equal(rig_port(&rig, "leaf0", "spine1")->queue[0].tx_frames, n_all - n_first);
    assert_int_equal(rig.results->n_drops, 0);
    rig_assert_clean(&rig);
    rig_fini(&rig);
}

/* Two links lose each frame with probability p: of n datagrams about n (1 - (1 - p)^2) are lost,
 * within five standard deviations; they are counted apart and fail nothing. */
static void frame_errors_are_counted_apart(void **state)
{
    (void)state;
    static const double errors[] = {0.001, 0.02, 0.3};
    for (uint32_t i = 0; i < 3; i++) {
        struct rig rig;
        rig_run(&rig, NULL,
                "stop: 10ms\n"
                "topology: {kind: star, hosts: 2, host_link: {rate: 100Gbps, delay: 1us, error: "
                "%g}}\n"
                "priorities: {3: {lossless: true}}\n"
                "traffic: [{kind: cbr, from: h1, to: h0, priority: 3}]\n",
                errors[i]);
        const struct result_flow *flow = &rig.results->flows[0];
        const double n = (double)flow->sent_bytes / PAYLOAD, p = errors[i] * (2 - errors[i]);
        const double lost = rig_metric(&rig, "drops.corrupt");
        const double sigma = sqrt(n * p * (1 - p));
        print_message("error %g: %.0f of %.0f frames lost, expected %.0f +- %.0f\n", errors[i],
                      lost, n, n * p, sigma);
        assert_true(n > 80000);
        assert_true(lost > n * p - 5 * sigma && lost < n * p + 5 * sigma);
        assert_true(lost == rig_metric(&rig, "drops"));
        assert_true(rig_metric(&rig, "drops.lossless") == 0);
        assert_int_equal(flow->sent_bytes - flow->delivered_bytes, (uint64_t)lost * PAYLOAD);
        rig_assert_clean(&rig);
        rig_fini(&rig);
    }
}

/* Data, ACKs and NACKs are all hit; every flow completes all the same. */
static void go_back_n_recovers_from_errors(void **state)
{
    (void)state;
    static const char *const errors[] = {"0.001", "0.01", "0.1"};
    for (uint32_t i = 0; i < 3; i++) {
        struct rig rig;
        rig_run(&rig, NULL,
                "stop: 1ms\ndrain: 10s\n"
                "topology: {kind: leaf-spine, leaves: 2, spines: 2, hosts_per_leaf: 3,\n"
                "  host_link: {rate: 100Gbps, delay: 1us, error: %s}}\n"
                "transport: none\nhost: {timeout: 200us}\n"
                "traffic:\n"
                "- {kind: all-to-all, size: 100KB}\n"
                "- {kind: flows, list: [{from: h0, to: h5, size: 1B}, {from: h5, to: h0, size: "
                "1456B}]}\n",
                errors[i]);
        const struct results *r = rig.results;
        assert_int_equal(r->n_flows, 32);
        assert_true(rig_metric(&rig, "flows.finished") == 32);
        for (uint64_t f = 0; f < r->n_flows; f++) {
            assert_int_equal(r->flows[f].delivered_bytes, r->flows[f].offered_bytes);
            assert_true(r->flows[f].acked_at != XOFF_NEVER);
            assert_true(r->flows[f].acked_at > r->flows[f].finish_at);
        }
        assert_true(rig_metric(&rig, "retransmissions") > 0);
        assert_true(r->end_at < 10 * XOFF_S);
        rig_assert_clean(&rig);
        rig_fini(&rig);
    }
}

/* Sixteen to one without pause into a small buffer: frames are lost and sent again. */
static void go_back_n_recovers_from_overflow(void **state)
{
    (void)state;
    struct rig rig;
    rig_run(&rig, NULL,
            "stop: 1ms\ndrain: 10s\n"
            "topology: {kind: star, hosts: 17, host_link: {rate: 100Gbps, delay: 1us}}\n"
            "switch: {buffer: 300KB, pause: none}\n"
            "transport: none\nhost: {timeout: 300us}\n"
            "traffic: [{kind: incast, to: h0, size: 200KB}]\n");
    assert_true(rig_metric(&rig, "drops.buffer") > 100);
    assert_true(rig_metric(&rig, "flows.finished") == 16);
    assert_true(rig_metric(&rig, "retransmissions") >= rig_metric(&rig, "drops.buffer") / 2);
    for (uint64_t f = 0; f < rig.results->n_flows; f++)
        assert_int_equal(rig.results->flows[f].delivered_bytes, 200000);
    rig_assert_clean(&rig);
    rig_fini(&rig);
}

static bool until(void *context, xoff_time now, uint64_t arrivals)
{
    (void)arrivals;
    const xoff_time *at = context;
    return now < *at;
}

/* Stopped by hand: the results say so, and the books are right all the same. */
static void interrupted_run_says_so(void **state)
{
    (void)state;
    for (uint32_t threads = 1; threads <= 2; threads++) {
        struct rig rig;
        xoff_time at = 100 * XOFF_US;
        const struct rig_options options = {.n_threads = threads,
                                            .cell_bound = XOFF_PARAM_AUTO,
                                            .progress_context = &at,
                                            .progress = until};
        rig_run(&rig, &options,
                "stop: 5ms\ntopology: {kind: star, hosts: 9}\n"
                "switch: {buffer: 4MB}\npriorities: {3: {lossless: true}}\n"
                "traffic: [{kind: cbr, from: h1..h8, to: h0, priority: 3}]\n");
        assert_true(rig.results->interrupted);
        assert_in_range(rig.results->end_at, 100 * XOFF_US, 110 * XOFF_US);
        assert_true(rig.results->packet_hops > 1000);
        rig_assert_clean(&rig);
        rig_fini(&rig);

        at = XOFF_S;
        rig_run(&rig, &options,
                "stop: 100us\ntopology: {kind: star, hosts: 3}\n"
                "traffic: [{kind: cbr, from: h1, to: h0}]\n");
        assert_false(rig.results->interrupted);
        rig_fini(&rig);
    }
}

/* Outages shorter than a frame, again and again under a pause: the pause frame of the repair does
 * not wait for the frame that died with the link. */
static void short_outages_lose_nothing_more(void **state)
{
    (void)state;
    char links[4096] = "";
    size_t length = 0;
    for (uint32_t i = 0; i < 20; i++)
        length += (size_t)snprintf(links + length, sizeof links - length,
                                   "- {link: h1-s0, at: %uns, fail: true}\n"
                                   "- {link: h1-s0, at: %uns, repair: true}\n",
                                   200000 + 20137 * i, 200001 + 20137 * i);
    struct rig rig;
    rig_run(&rig, NULL,
            "stop: 1ms\ndrain: 100ms\nreroute_after: never\n"
            "topology: {kind: star, hosts: 3, host_link: {rate: 10Gbps, delay: 100ns}}\n"
            "switch: {buffer: 2MB, mmu: {kind: static, xoff: 50KB}}\nport: {max_frame: 9018B}\n"
            "priorities: {3: {lossless: true}}\nhost: {timeout: 500us}\n"
            "receivers: [{host: h0, rate: \"0bps, 2ms: 10Gbps\", buffer: 500KB}]\n"
            "links:\n%s"
            "traffic:\n- {kind: cbr, from: h1, to: h0, rate: 10Gbps, priority: 3}\n"
            "- {kind: cbr, from: h2, to: h1, rate: 10Gbps, priority: 0}\n",
            links);
    assert_true(rig_metric(&rig, "drops.link-down") > 0);
    assert_true(rig_metric(&rig, "drops.lossless") == 0);
    rig_assert_clean(&rig);
    rig_fini(&rig);
}

/* The delay falls from 5 ms to 1 us while the link is down: nothing is left on it to wait behind.
 */
static void nothing_waits_for_what_was_lost(void **state)
{
    (void)state;
    struct rig rig;
    rig_run(
        &rig, NULL,
        "stop: 1ms\ntopology: {kind: star, hosts: 2, host_link: {rate: 100Gbps, delay: 1us}}\n"
        "links:\n- {link: h0-s0, at: 50us, delay: 5ms}\n- {link: h0-s0, at: 200us, fail: true}\n"
        "- {link: h0-s0, at: 250us, delay: 1us}\n- {link: h0-s0, at: 300us, repair: true}\n"
        "reroute_after: never\n"
        "traffic: [{kind: flows, list: [{at: 100us, from: h0, to: h1, size: 100KB},\n"
        "  {at: 400us, from: h0, to: h1, size: 1000B}]}]\n");
    const struct result_flow *late = &rig.results->flows[1];
    assert_int_equal(rig.results->n_flows, 2);
    assert_int_equal(late->finish_at - late->start_at, late->ideal_for);
    rig_assert_clean(&rig);
    rig_fini(&rig);
}

/* With an ACK for every sixteenth frame, the last of a burst is acknowledged all the same: pauses
 * of the source longer than the timeout repeat nothing. */
static void the_tail_is_acknowledged(void **state)
{
    (void)state;
    struct rig rig;
    rig_run(
        &rig, NULL,
        "stop: 20ms\ntopology: {kind: star, hosts: 2, host_link: {rate: 100Gbps, delay: 1us}}\n"
        "host: {ack_every: 16, timeout: 200us}\n"
        "traffic: [{kind: onoff, from: h0, to: h1, burst: 20us, idle: 1ms, transport: none}]\n");
    assert_true(rig_metric(&rig, "delivered") > 100000);
    assert_true(rig_metric(&rig, "retransmissions") == 0);
    rig_assert_clean(&rig);
    rig_fini(&rig);
}

/* h0 sends 200 frames to h3 at the far end of a chain of four switches: hops: 4 lets all pass, and
 * with hops: 3 all are lost at the fourth. */
static void hops_end_a_way(void **state)
{
    (void)state;
    for (uint32_t hops = 3; hops <= 4; hops++) {
        struct rig rig;
        rig_run(&rig, NULL,
                "hops: %u\nstop: 1ms\n"
                "topology: {kind: chain, switches: 4, hosts_per_switch: 1}\n"
                "traffic: [{kind: flows, transport: datagram, list: [{from: h0, to: h3, size: "
                "%uB}]}]\n",
                hops, 200 * PAYLOAD);
        assert_int_equal((int)rig_metric(&rig, "drops.hops"), hops == 3 ? 200 : 0);
        assert_int_equal(rig.results->flows[0].delivered_bytes, hops == 3 ? 0 : 200 * PAYLOAD);
        if (hops == 3) {
            assert_int_equal(rig.results->n_drops, 1);
            assert_int_equal(rig.results->drops[0].node, rig_node(&rig, "s3"));
        }
        rig_assert_clean(&rig);
        rig_fini(&rig);
    }
}

/* Frames of a lossless class in a circle of two switches, each ending at its 64th. */
static void hops_end_a_circle(void **state)
{
    (void)state;
    for (uint32_t lossless = 0; lossless < 2; lossless++) {
        struct rig rig;
        rig_run(&rig, NULL,
                "hops: 63\nstop: 20us\ndrain: 10ms\n"
                "topology: {kind: ring, switches: 3, hosts_per_switch: 1}\n"
                "priorities: {0: {lossless: %s}}\n"
                "routes: [{on: s0, to: h1, via: s2}, {on: s2, to: h1, via: s0}]\n"
                "traffic: [{kind: flows, transport: datagram, list: [{from: h0, to: h1, size: "
                "%uB}]}]\n",
                lossless ? "true" : "false", 20 * PAYLOAD);
        assert_int_equal((int)rig_metric(&rig, "drops.hops"), 20);
        assert_int_equal(rig.results->n_drops, 1);
        assert_int_equal(rig.results->drops[0].node, rig_node(&rig, "s2"));
        assert_true(rig.results->end_at < XOFF_MS);
        assert_int_equal(rig.results->flows[0].ideal_for, 0); /* there is no way to be ideal on */
        rig_assert_clean(&rig);
        rig_fini(&rig);
    }
}

/* A host whose link has failed for good keeps its flow and what it owes: no fault of the books.
 * With the link repaired, everything arrives. */
static void a_host_is_cut_off(void **state)
{
    (void)state;
    for (uint32_t is_repaired = 0; is_repaired < 2; is_repaired++) {
        struct rig rig;
        rig_run(&rig, NULL,
                "stop: 10us\ndrain: 1ms\ntopology: {kind: star, hosts: 3}\n"
                "transport: dctcp\nlinks: [{link: h1-s0, at: 1us, fail: true}%s]\n"
                "traffic: [{kind: flows, list: [{at: 2us, from: h1, to: h0, size: 500B},\n"
                "                               {at: 2us, from: h2, to: h0, size: 500B}]}]\n",
                is_repaired ? ", {link: h1-s0, at: 5us, repair: true}" : "");
        rig_assert_clean(&rig);
        assert_int_equal((int)rig_metric(&rig, "flows.finished"), 1 + (int)is_repaired);
        rig_fini(&rig);
    }
}

/* A limit that nothing reaches changes nothing: round trips, telemetry and SACK are as before. */
static void hops_out_of_reach(void **state)
{
    (void)state;
    static const char *const transports[] = {"timely", "hpcc", "tcp", "qcn", "dcqcn"};
    for (size_t i = 0; i < sizeof transports / sizeof *transports; i++) {
        uint64_t digests[2];
        for (uint32_t limited = 0; limited < 2; limited++) {
            struct rig rig;
            rig_run(&rig, &(struct rig_options){.n_threads = 1 + limited},
                    "%sstop: 200us\n"
                    "topology: {kind: leaf-spine, leaves: 2, spines: 2, hosts_per_leaf: 3}\n"
                    "switch: {buffer: 200KB, pause: none, marking: %s}\n"
                    "transport: %s\n"
                    "traffic: [{kind: incast, from: h1..h5, to: h0, size: 300KB}]\n",
                    limited ? "hops: 3\n" : "",
                    i == 1   ? "int"
                    : i == 3 ? "qcn"
                             : "ecn",
                    transports[i]);
            digests[limited] = rig.results->digest;
            rig_fini(&rig);
        }
        assert_true(digests[0] == digests[1]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rate_change_counts_from_the_next_frame),
        cmocka_unit_test(longer_delay_moves_later_frames),
        cmocka_unit_test(shorter_delay_does_not_reorder),
        cmocka_unit_test(failed_link_is_routed_around),
        cmocka_unit_test(pause_outlives_a_failure),
        cmocka_unit_test(short_outages_lose_nothing_more),
        cmocka_unit_test(nothing_waits_for_what_was_lost),
        cmocka_unit_test(the_tail_is_acknowledged),
        cmocka_unit_test(rate_change_under_pressure_loses_nothing),
        cmocka_unit_test(stated_routes_change_at_their_time),
        cmocka_unit_test(frame_errors_are_counted_apart),
        cmocka_unit_test(go_back_n_recovers_from_errors),
        cmocka_unit_test(go_back_n_recovers_from_overflow),
        cmocka_unit_test(interrupted_run_says_so),
        cmocka_unit_test(a_host_is_cut_off),
        cmocka_unit_test(hops_end_a_way),
        cmocka_unit_test(hops_end_a_circle),
        cmocka_unit_test(hops_out_of_reach),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
