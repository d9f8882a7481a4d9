/* The crossbar switch in whole networks: what a frame costs, the throughput that VOQs and single
 * queues are known for, no loss and equal digests in random networks, priorities and inputs kept
 * apart, failures of links. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/rig.h"

/* One frame of 1518 B through an idle switch between links of 10 Gb/s and 1 us. Its last bit is in
 * at 1526 * 0.8 ns + 1 us = 2220.8 ns. At speed-up 2 a cell of 128 B takes 51.2 ns; the next slot
 * starts at 44 * 51.2 = 2252.8 ns. 1538 B are 12.02 cells: 13 * 51.2 = 665.6 ns, so the frame is at
 * its output at 2918.4 ns and at its receiver 2220.8 ns later. */
static void a_frame_takes_its_time(void **state)
{
    (void)state;
    static const struct {
        const char *fabric;
        xoff_time finish_ps;
    } rows[] = {
        {"{kind: cioq}", 2918400 + 2220800},
        /* It is known at 3220.8 ns, crosses from 63 * 51.2 = 3225.6 ns on. */
        {"{kind: cioq, round_trip: 1us}", 3225600 + 665600 + 2220800},
        /* Slots of 1538 B at line rate: 1230.4 ns. The second starts at 2460.8 ns. */
        {"{kind: cioq, speedup: 1, cell: 1538B}", 2460800 + 1230400 + 2220800},
        /* One byte less, and the frame needs two cells: 1229.6 ns from 2459.2 ns on. */
        {"{kind: cioq, speedup: 1, cell: 1537B}", 2459200 + 2 * 1229600 + 2220800},
        {"shared", 2 * 2220800},
    };
    for (uint32_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct rig rig;
        rig_run(&rig, NULL,
                "stop: 1ms\n"
                "topology: {kind: star, hosts: 2, host_link: {rate: 10Gbps, delay: 1us}}\n"
                "switch: {fabric: %s}\n"
                "traffic: [{kind: incast, from: h1, to: h0, size: 1456B, at: 0s}]\n",
                rows[i].fabric);
        rig_assert_clean(&rig);
        assert_int_equal(rig.results->flows[0].finish_at, rows[i].finish_ps);
        rig_fini(&rig);
    }
}

/* Slots of 102.4 ns; the arbiter has one round. Full frames of h0 to h4 and of h1 to h5 come in at
 * 2220.8 ns and cross in slots 22 to 34. Meanwhile both hosts have sent 600 B (5 cells) to h2 and
 * to h3. In slot 35 both outputs grant to h0, whose frame for h2 crosses; h1 is left over. It tries
 * again in slot 36, and its frame for h3 is there in slot 41, when the last two start. A frame gets
 * from its output to its host in 608 * 0.8 ns + 1 us = 1486.4 ns. */
static void who_is_left_over_tries_again(void **state)
{
    (void)state;
    static const xoff_time finish_ps[2][2] = {
        {40 * 102400 + 1486400, 46 * 102400 + 1486400}, /* of h0: to h2, to h3 */
        {46 * 102400 + 1486400, 41 * 102400 + 1486400},
    };
    struct rig rig;
    rig_run(&rig, NULL,
            "stop: 1ms\n"
            "topology: {kind: star, hosts: 6, host_link: {rate: 10Gbps, delay: 1us}}\n"
            "switch: {fabric: {kind: cioq, speedup: 1},\n"
            "  arbiter: {kind: round-robin, iterations: 1}}\n"
            "traffic: [{kind: flows, list: [{from: h0, to: h4, size: 1456B},\n"
            "  {from: h0, to: h2, size: 538B}, {from: h0, to: h3, size: 538B},\n"
            "  {from: h1, to: h5, size: 1456B}, {from: h1, to: h2, size: 538B},\n"
            "  {from: h1, to: h3, size: 538B}]}]\n");
    assert_int_equal(rig.results->n_flows, 6);
    for (uint64_t i = 0; i < 6; i++) {
        const struct result_flow *f = &rig.results->flows[i];
        if (f->to == 2 || f->to == 3)
            assert_int_equal(f->finish_at, finish_ps[f->from][f->to - 2]);
    }
    rig_assert_clean(&rig);
    rig_fini(&rig);
}

/* Policies that go by egress queues are told what waits for an output at all inputs. That is a
 * frame or two where inputs do not compete, whatever has crossed: nobody is paused. Two inputs that
 * do reach the threshold. */
static void what_waits_for_an_output(void **state)
{
    (void)state;
    static const char *const senders[] = {"h0", "h0..h1"};
    for (uint32_t i = 0; i < 2; i++) {
        struct rig rig;
        rig_run(&rig, NULL,
                "stop: 1ms\ndrain: 10ms\ntopology: {kind: star, hosts: 3}\n"
                "switch: {buffer: 1MB, fabric: {kind: cioq, output_buffer: 20KB},\n"
                "  pause: {kind: pfc, trigger: egress, xoff: 50KB, xon: 40KB}}\n"
                "priorities: {3: {lossless: true}}\ntransport: datagram\n"
                "traffic: [{kind: incast, from: %s, to: h2, size: 1MB, at: 0s, priority: 3}]\n",
                senders[i]);
        assert_int_equal(rig.results->n_pauses > 0, i > 0);
        assert_int_equal(rig_metric(&rig, "drops"), 0);
        rig_assert_clean(&rig);
        rig_fini(&rig);
    }
}

/* Virtual output queues are what memory goes to: 32 ports have 1024 of 8 priorities instead of 32,
 * of 16 B each. */
static void queues_are_in_the_estimate(void **state)
{
    (void)state;
    uint64_t bytes[2];
    for (uint32_t i = 0; i < 2; i++) {
        struct rig rig;
        rig_run(&rig, NULL,
                "stop: 1us\ndrain: 0s\ntopology: {kind: star, hosts: 32}\n"
                "switch: {fabric: {kind: cioq, voq: %s}}\n",
                i ? "true" : "false");
        bytes[i] = net_estimate(&rig.built->spec);
        rig_fini(&rig);
    }
    assert_int_equal(bytes[1] - bytes[0], (1024 - 32) * 8 * 16);
}

/* Frames of 1518 B that a switch has sent until `stop_ms`. Half of its 2n ports have
 * senders, the others receivers, drawn anew for each frame: every input has frames for every
 * output, as in the classical model. */
static uint64_t sent_until(uint32_t stop_ms, uint32_t n, const char *fabric, const char *arbiter,
                           const char *load, const char *more, uint64_t *received)
{
    struct rig rig;
    rig_run(&rig, NULL,
            "seed: 7\nstop: %ums\ndrain: 0s\n"
            "topology: {kind: star, hosts: %u, host_link: {rate: 10Gbps, delay: 100ns}}\n"
            "switch: {buffer: 16MB, fabric: %s, arbiter: %s,\n"
            "         mmu: {kind: static, xoff: 4MB, xon: 2MB}}\n"
            "priorities: {3: {lossless: true}}\n"
            "%s"
            "traffic: [{kind: poisson, from: h0..h%u, to: h%u..h%u, load: %s, sizes: 1456B,\n"
            "           priority: 3}]\n",
            stop_ms, 2 * n, fabric, arbiter, more, n - 1, n, 2 * n - 1, load);
    rig_assert_clean(&rig);
    assert_int_equal(rig_metric(&rig, "drops"), 0);
    uint64_t frames = 0;
    *received = 0;
    for (uint32_t p = 0; p < rig.results->n_ports; p++)
        if (rig.results->nodes[rig.results->ports[p].node].is_switch) {
            frames += rig.results->ports[p].queue[3].tx_frames;
            *received += rig.results->ports[p].queue[3].rx_frames;
        }
    rig_fini(&rig);
    return frames;
}

/* Throughput from 6 to 12 ms, as a part of the line rate. Payload at the line rate is more than the
 * links carry; its frames fill the inputs, behind small outputs, until receivers start at 5 ms. */
static double saturated(uint32_t n, const char *fabric, const char *arbiter)
{
    static const char late[] = "receivers: [{host: all, rate: \"0bps, 5ms: 40Gbps\"}]\n";
    uint64_t received;
    const uint64_t before = sent_until(6, n, fabric, arbiter, "1", late, &received);
    const uint64_t after = sent_until(12, n, fabric, arbiter, "1", late, &received);
    const double part = (double)(after - before) * 1538 * 8 / (n * 10e9 * 6e-3);
    print_message("%u ports, %s, %s: %.2f %%\n", n, fabric, arbiter, 100 * part);
    return part;
}

/* With VOQs 100 %, at log2(ports) rounds; under round robin already with one, since the pointers
 * come to differ. */
static void voqs_reach_the_line_rate(void **state)
{
    (void)state;
    static const struct {
        uint32_t n;
        const char *fabric, *arbiter;
    } rows[] = {
        {16, "{kind: cioq, speedup: 1, cell: 1538B, output_buffer: 16KB}",
         "{kind: round-robin, iterations: 4}"},
        {16, "{kind: cioq, speedup: 1, cell: 1538B, output_buffer: 16KB}",
         "{kind: round-robin, iterations: 1}"},
        {16, "{kind: cioq, speedup: 1, cell: 1538B, output_buffer: 16KB}",
         "{kind: longest, iterations: 4}"},
        {16, "{kind: cioq, speedup: 2, output_buffer: 16KB}", "{kind: round-robin, iterations: 4}"},
        {32, "{kind: cioq, speedup: 1, cell: 1538B, output_buffer: 16KB}",
         "{kind: round-robin, iterations: 5}"},
    };
    for (uint32_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const double part = saturated(rows[i].n, rows[i].fabric, rows[i].arbiter);
        assert_true(part >= 0.99);
        assert_true(part <= 1.001);
    }
}

/* At 95 % of the line rate everything that comes in goes out: what a switch still holds after 20
 * ms, of 15447 frames per port, is less than half a per cent. */
static void voqs_carry_what_is_offered(void **state)
{
    (void)state;
    uint64_t received;
    const uint64_t sent = sent_until(20, 16, "{kind: cioq, speedup: 1, cell: 1538B}", "round-robin",
                                     "0.9", "", &received);
    print_message("%llu of %llu frames\n", (unsigned long long)sent, (unsigned long long)received);
    assert_true((double)received > 0.95 * 16 * 15447);
    assert_true((double)sent > 0.995 * (double)received);
}

/* With one queue per input 2 - sqrt(2) for many ports (Karol, Hluchyj and Morgan, 1987; a little
 * more for few). */
static void single_queues_reach_less(void **state)
{
    (void)state;
    for (uint32_t n = 16; n <= 32; n += 16) {
        const double part =
            saturated(n, "{kind: cioq, voq: false, speedup: 1, cell: 1538B, output_buffer: 16KB}",
                      "round-robin");
        assert_true(fabs(part - (2 - sqrt(2))) < 0.02);
    }
}

/* The wire of a hot output is never idle while frames wait for it at any input: six flows of 150
 * frames are done when 900 frames have left one behind the other, 900 * 1230.4 ns after the first
 * one reached its output. */
static void a_hot_output_is_never_idle(void **state)
{
    (void)state;
    static const char *const kinds[] = {
        "{kind: cioq}", "{kind: cioq, speedup: 1, cell: 1538B, output_buffer: 16KB}",
        "{kind: cioq, voq: false}", "{kind: cioq, output_buffer: 32KB}",
        "{kind: cioq, output_buffer: 12144B, cell: 769B}"};
    for (uint32_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        for (uint32_t a = 0; a < 2; a++) {
            struct rig rig;
            rig_run(&rig, NULL,
                    "stop: 10ms\n"
                    "topology: {kind: star, hosts: 7, host_link: {rate: 10Gbps, delay: 1us}}\n"
                    "switch: {fabric: %s, buffer: 100KB, arbiter: %s}\n"
                    "priorities: {3: {lossless: true}}\n"
                    "traffic: [{kind: incast, from: h1..h6, to: h0, size: 218400B, at: 0s,\n"
                    "           priority: 3}]\n",
                    kinds[i], a ? "longest" : "round-robin");
            rig_assert_clean(&rig);
            assert_int_equal(rig_metric(&rig, "drops"), 0);
            assert_true(rig_metric(&rig, "pauses") > 0);
            assert_int_equal(rig_metric(&rig, "flows.finished"), 6);
            const struct result_port *h0 = rig_port(&rig, "h0", "s0");
            xoff_time last = 0;
            for (uint32_t f = 0; f < 6; f++)
                if (rig.results->flows[f].finish_at > last)
                    last = rig.results->flows[f].finish_at;
            assert_int_equal(h0->queue[3].rx_frames, 900);
            /* In at 2220.8 ns, at most a slot and two cells later (of 1230.4 ns) at its output, and
             * on the wire for 2220.8 ns; 899 follow, each at most 1 ps late. */
            const xoff_time first = 2220800 + 2 * 1230400 + 2220800;
            assert_in_range(last, 899 * INT64_C(1230400) + 2 * 2220800,
                            899 * INT64_C(1230400) + first + 900);
            rig_fini(&rig);
        }
}

/* The slides' experiment with PFC only: f1 and f2 come in at one port with 5 Gb/s each, f2 to f5 go
 * to one output. The hot output gives each of its four flows a quarter. Its frames fill the input
 * that f1 shares, and f1 goes down to a quarter with f2. */
static void shared_inputs_are_hogged(void **state)
{
    (void)state;
    struct rig rig;
    rig_run(&rig, NULL,
            "seed: 3\nstop: 20ms\ndrain: 0s\n"
            "topology: {kind: star, hosts: 6, host_link: {rate: 10Gbps, delay: 500ns}}\n"
            "switch:\n"
            "  buffer: 150KiB\n"
            "  fabric: {kind: cioq, output_buffer: 150KiB, speedup: 2, output_reserve: 0B}\n"
            "  mmu: {kind: static, xoff: 110KiB, xon: 44KiB}\n"
            "priorities: {3: {lossless: true}}\n"
            "traffic:\n"
            "- {kind: cbr, name: f1, from: h0, to: h5, rate: 5Gbps, priority: 3}\n"
            "- {kind: cbr, name: f2, from: h0, to: h4, rate: 5Gbps, priority: 3}\n"
            "- {kind: cbr, name: f3, from: h1, to: h4, priority: 3}\n"
            "- {kind: cbr, name: f4, from: h2, to: h4, priority: 3}\n"
            "- {kind: cbr, name: f5, from: h3, to: h4, priority: 3}\n");
    rig_assert_clean(&rig);
    assert_int_equal(rig_metric(&rig, "drops"), 0);
    for (uint32_t f = 0; f < 5; f++) {
        const struct result_flow *flow = &rig.results->flows[f];
        const double gbps = (double)flow->delivered_bytes * 1538 / 1456 * 8 / 20e-3 / 1e9;
        print_message("%u: %.3f Gb/s\n", flow->tag, gbps);
        assert_true(fabs(gbps - 2.5) < 0.15);
    }
    const struct result_buffer *in = rig_buffer(&rig, rig_node(&rig, "s0"));
    assert_string_equal(in->name, "from h0");
    assert_true(in->view.peak_total_bytes >= 110 * 1024);
    assert_true(in->view.peak_total_bytes <= 150 * 1024);
    rig_fini(&rig);
}

/* h0 sends 5 Gb/s to h6 and as much as it may to h5, like four others. Granted with a match, room
 * at h5 that becomes free while h0's input carries a frame for h6 goes to others, and h0 gets less
 * than a fifth of it. Granted ahead, everyone has a turn: a fifth of 9.87 Gb/s of frames. */
static void busy_inputs_keep_their_turn(void **state)
{
    (void)state;
    double share[2];
    for (uint32_t i = 0; i < 2; i++) {
        struct rig rig;
        rig_run(&rig, NULL,
                "stop: 20ms\ndrain: 0s\n"
                "topology: {kind: star, hosts: 7, host_link: {rate: 10Gbps, delay: 500ns}}\n"
                "switch: {buffer: 16MB, mmu: {kind: static, xoff: 8MB, xon: 4MB},\n"
                "         fabric: {kind: cioq, output_buffer: 150KiB, grants: %s}}\n"
                "priorities: {3: {lossless: true}}\n"
                "traffic:\n"
                "- {kind: cbr, from: h0, to: h6, rate: 5Gbps, priority: 3}\n"
                "- {kind: cbr, from: h0, to: h5, rate: 4.8Gbps, priority: 3}\n"
                "- {kind: cbr, from: h1..h4, to: h5, priority: 3}\n",
                i ? "ahead" : "matched");
        rig_assert_clean(&rig);
        double own = 0, all = 0;
        for (uint32_t f = 0; f < rig.results->n_flows; f++) {
            const struct result_flow *flow = &rig.results->flows[f];
            own += flow->tag == 1 ? (double)flow->delivered_bytes : 0;
            all += flow->tag >= 1 ? (double)flow->delivered_bytes : 0;
        }
        share[i] = own / all;
        print_message("%s: %.4f of the hot output\n", i ? "ahead" : "matched", share[i]);
        rig_fini(&rig);
    }
    assert_true(share[0] < 0.17);
    assert_true(fabs(share[1] - 0.2) < 0.005);
}

/* The slides' experiment with QCN at inputs: f1 and f2 come in at one port, f2 to f6 go to one
 * output. Sampling by arrivals tells f1 as often as f2, which comes as fast, and both are cut
 * alike. Sampling by occupancy finds f2 alone: frames of f1 lie in the buffer no longer than it
 * takes to cross. */
static void the_culprit_is_found(void **state)
{
    (void)state;
    uint64_t delivered[2], notices[2][2];
    for (uint32_t i = 0; i < 2; i++) {
        struct rig rig;
        rig_run(&rig, NULL,
                "seed: 1\nstop: 60ms\ndrain: 0s\n"
                "topology: {kind: star, hosts: 7, host_link: {rate: 10Gbps, delay: 500ns}}\n"
                "switch:\n"
                "  buffer: 150KiB\n"
                "  fabric: {kind: cioq, output_buffer: 150KiB, speedup: 2, output_reserve: 0B}\n"
                "  mmu: {kind: static, xoff: 110KiB, xon: 44KiB}\n"
                "  congestion_points: input\n"
                "  marking: {kind: qcn, qeq: 60KiB, w: 2, base: 150KiB, sampling: %s}\n"
                "priorities: {3: {lossless: true}}\n"
                "transport: qcn\n"
                "traffic:\n"
                "- {kind: cbr, from: h0, to: h6, rate: 5Gbps, priority: 3}\n"
                "- {kind: cbr, from: h0, to: h5, rate: 5Gbps, priority: 3}\n"
                "- {kind: cbr, from: h1..h4, to: h5, priority: 3, start: 10ms}\n",
                i ? "occupancy" : "arrival");
        rig_assert_clean(&rig);
        assert_int_equal(rig_metric(&rig, "drops"), 0);
        delivered[i] = rig.results->flows[0].delivered_bytes;
        for (uint32_t f = 0; f < 2; f++) {
            assert_int_equal(rig.results->flows[f].tag, f);
            notices[i][f] = rig.results->flows[f].notices;
        }
        rig_fini(&rig);
    }
    print_message("f1: %llu B and %llu B, notices %llu of %llu and %llu of %llu\n",
                  (unsigned long long)delivered[0], (unsigned long long)delivered[1],
                  (unsigned long long)notices[0][0], (unsigned long long)notices[0][1],
                  (unsigned long long)notices[1][0], (unsigned long long)notices[1][1]);
    assert_true(notices[0][0] > 10 && 3 * notices[0][0] > notices[0][1]);
    assert_true(notices[1][1] > 10 && 10 * notices[1][0] < notices[1][1]);
    assert_true(2 * delivered[1] > 3 * delivered[0]);
}

/* Priority 3 towards s1 stands still, because h2 takes nothing; frames of priority 4 for h3 go the
 * same way. They get through if priorities have a reserve in the output buffer of s0. */
static void priorities_are_apart(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 2; i++) {
        struct rig rig;
        rig_run(&rig, NULL,
                "stop: 2ms\ndrain: 0s\n"
                "topology: {kind: dumbbell, left: 2, right: 2,\n"
                "           host_link: {rate: 10Gbps, delay: 1us}}\n"
                "switch: {buffer: 300KB, fabric: {kind: cioq, output_buffer: 40KB%s}}\n"
                "priorities: {3: {lossless: true}, 4: {lossless: true}}\n"
                "receivers: [{host: h2, rate: 0bps, buffer: 200KB}]\n"
                "traffic:\n"
                "- {kind: cbr, from: h0, to: h2, priority: 3}\n"
                "- {kind: cbr, from: h1, to: h3, priority: 4, start: 1ms}\n",
                i ? ", output_reserve: 0B" : "");
        rig_assert_clean(&rig);
        const uint64_t frames = rig_port(&rig, "h3", "right")->queue[4].rx_frames;
        if (i)
            assert_int_equal(frames, 0);
        else /* 1 ms at 1230.4 ns each is 812, less what is under way */
            assert_in_range(frames, 800, 812);
        rig_fini(&rig);
    }
}

/* Three hosts send to one, each on a priority of its own, with weights 50, 30 and 20: the scheduler
 * of the output finds frames of all three, although the buffer is full of those it serves least. */
static void outputs_are_shared_by_weight(void **state)
{
    (void)state;
    static const char *const schedulers[] = {"ets", "drr", "wfq"};
    for (uint32_t i = 0; i < 3; i++) {
        struct rig rig;
        rig_run(&rig, NULL,
                "stop: 4ms\ndrain: 0s\n"
                "topology: {kind: star, hosts: 4, host_link: {rate: 10Gbps, delay: 1us}}\n"
                "switch: {buffer: 400KB, fabric: {kind: cioq, output_buffer: 200KB},\n"
                "         scheduler: %s}\n"
                "priorities: {1: {lossless: true, weight: 50}, 2: {lossless: true, weight: 30},\n"
                "             3: {lossless: true, weight: 20}}\n"
                "traffic:\n"
                "- {kind: cbr, from: h1, to: h0, priority: 1}\n"
                "- {kind: cbr, from: h2, to: h0, priority: 2}\n"
                "- {kind: cbr, from: h3, to: h0, priority: 3}\n",
                schedulers[i]);
        rig_assert_clean(&rig);
        assert_int_equal(rig_metric(&rig, "drops"), 0);
        const struct result_port *h0 = rig_port(&rig, "h0", "s0");
        double sum = 0;
        for (uint32_t p = 1; p <= 3; p++)
            sum += (double)h0->queue[p].rx_frames;
        assert_true(fabs((double)h0->queue[1].rx_frames / sum - 0.5) < 0.01);
        assert_true(fabs((double)h0->queue[2].rx_frames / sum - 0.3) < 0.01);
        assert_true(sum > 0.99 * 4e6 / 1230.4);
        rig_fini(&rig);
    }
}

/* The link of a hot output fails while its frames wait everywhere, and comes back. */
static void failures_leave_nothing_behind(void **state)
{
    (void)state;
    static const char *const more[] = {"",
                                       ", voq: false",
                                       ", round_trip: 700ns",
                                       ", voq: false, output_buffer: 13KB",
                                       ", grants: ahead, output_buffer: 13KB",
                                       ", grants: ahead, voq: false, output_buffer: 13KB"};
    for (uint32_t i = 0; i < 12; i++) {
        struct rig rig;
        rig_run(&rig, NULL,
                "stop: 300us\ndrain: 20ms\nreroute_after: never\n"
                "topology: {kind: star, hosts: 6, host_link: {rate: 10Gbps, delay: 1us}}\n"
                "switch: {buffer: 200KB, processing_delay: %s, fabric: {kind: cioq%s},\n"
                "         arbiter: %s}\n"
                "priorities: {3: {lossless: true}}\n"
                "links: [{link: h0-s0, at: 100us, fail: true},\n"
                "        {link: h0-s0, at: 200us, repair: true}]\n"
                "traffic:\n"
                "- {kind: cbr, from: h1..h4, to: h0, priority: 3}\n"
                "- {kind: cbr, from: h1..h4, to: h5, priority: 3}\n",
                i & 1 ? "300ns" : "0s", more[i / 2], i & 1 ? "longest" : "round-robin");
        rig_assert_clean(&rig);
        uint64_t lost = 0;
        for (uint32_t d = 0; d < rig.results->n_drops; d++) {
            assert_int_not_equal(rig.results->drops[d].cause, RESULT_DROP_BUFFER);
            lost += rig.results->drops[d].frames;
        }
        assert_true(lost > 50);
        assert_int_equal(rig.results->nodes[rig_node(&rig, "s0")].held_bytes, 0);
        rig_fini(&rig);
    }
}

/* Frames of h1 and h3 wait for h0 when its link fails. They count for nothing when h1 and h2
 * compete for it later: longest queue first serves both alike, so they finish within a few frames.
 */
static void failures_leave_no_weight(void **state)
{
    (void)state;
    struct rig rig;
    rig_run(
        &rig, NULL,
        "stop: 1ms\nreroute_after: never\ntransport: datagram\n"
        "topology: {kind: star, hosts: 4, host_link: {rate: 10Gbps, delay: 1us}}\n"
        "switch: {buffer: 1MB, fabric: {kind: cioq, output_buffer: 13KB}, arbiter: longest}\n"
        "priorities: {3: {lossless: true}}\n"
        "links: [{link: h0-s0, at: 100us, fail: true}, {link: h0-s0, at: 200us, repair: true}]\n"
        "traffic:\n"
        "- {kind: incast, from: [h1, h3], to: h0, size: 150KB, at: 0s, priority: 3}\n"
        "- {kind: incast, from: [h1, h2], to: h0, size: 100KB, at: 300us, priority: 3}\n");
    xoff_time finish_at[2] = {0};
    for (uint64_t i = 0; i < rig.results->n_flows; i++)
        if (rig.results->flows[i].tag == 1)
            finish_at[rig.results->flows[i].from - 1] = rig.results->flows[i].finish_at;
    assert_true(rig_metric(&rig, "drops") > 50);
    assert_in_range(finish_at[0], 450 * XOFF_US, 500 * XOFF_US);
    assert_in_range(finish_at[1], finish_at[0] - 5 * XOFF_US, finish_at[0] + 5 * XOFF_US);
    rig_assert_clean(&rig);
    rig_fini(&rig);
}

/* One frame through two crossbars: 1062 B and 20 B of overhead are 9 cells of 128 B; a slot at
 * speed-up 2 of 10 Gb/s is 51.2 ns, so it crosses in 460.8 ns, after a round trip of 300 ns. On
 * three links it takes 856 ns each with its preamble, and 1 us. In all 3 * 1856 + 2 * 760.8 =
 * 7089.6 ns, and less than a slot more at each switch. */
static void ideal_time_of_a_frame(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 20; i++) {
        struct rig rig;
        rig_run(&rig, NULL,
                "stop: 1ms\ntopology: {kind: chain, switches: 2, hosts_per_switch: 1,\n"
                "  host_link: {rate: 10Gbps, delay: 1us}}\n"
                "switch: {fabric: {kind: cioq, speedup: 2, cell: 128B, round_trip: 300ns}}\n"
                "traffic: [{kind: flows, list: [{at: %uns, from: h0, to: h1, size: 1000B}]}]\n",
                7 * i);
        const struct result_flow *f = &rig.results->flows[0];
        const xoff_time waits = f->finish_at - f->start_at - 7089600;
        assert_int_equal(f->ideal_for, 7089600);
        assert_true(waits >= 0 && waits < 2 * 51200);
        rig_assert_clean(&rig);
        rig_fini(&rig);
    }
}

/* A message alone takes its ideal time and less than a slot more at each of its two switches,
 * whether links or the crossbar are slowest: at speed-up 1, 1518 B and overhead take 13 cells,
 * which is 8 % longer than on the wire. */
static void alone_is_ideal(void **state)
{
    (void)state;
    static const uint32_t sizes[] = {1, 1456, 1457, 3000, 100000, 1456 * 50 + 3};
    static const struct {
        const char *speedup, *cell;
        xoff_time slot;
    } cases[] = {{"2", "128B", 51200}, {"1", "128B", 102400}, {"1", "1000B", 800000}};
    for (uint32_t c = 0; c < 3; c++)
        for (uint32_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
            struct rig rig;
            rig_run(&rig, NULL,
                    "stop: 10ms\ntopology: {kind: chain, switches: 2, hosts_per_switch: 1,\n"
                    "  host_link: {rate: 10Gbps, delay: 1us}}\n"
                    "switch: {fabric: {kind: cioq, speedup: %s, cell: %s, round_trip: 1us}}\n"
                    "traffic: [{kind: flows, list: [{from: h0, to: h1, size: %uB}]}]\n",
                    cases[c].speedup, cases[c].cell, sizes[s]);
            const struct result_flow *f = &rig.results->flows[0];
            const xoff_time waits = f->finish_at - f->start_at - f->ideal_for;
            assert_true(waits >= 0 && waits < 2 * cases[c].slot);
            rig_assert_clean(&rig);
            rig_fini(&rig);
        }
}

/* A window of one base RTT fills the link, with a round trip of 20 us inside the switch. Without
 * the time in the switch the window would be a tenth of that. */
static void base_rtt_has_the_crossbar(void **state)
{
    (void)state;
    struct rig rig;
    rig_run(
        &rig, NULL,
        "stop: 20ms\ntopology: {kind: star, hosts: 2, host_link: {rate: 10Gbps, delay: 500ns}}\n"
        "switch: {fabric: {kind: cioq, round_trip: 20us}}\n"
        "transport: {kind: none, window: bdp}\n"
        "traffic: [{kind: flows, list: [{from: h0, to: h1, size: 5MB}]}]\n");
    const struct result_flow *f = &rig.results->flows[0];
    assert_true((double)(f->finish_at - f->start_at) < 1.1 * (double)f->ideal_for);
    rig_assert_clean(&rig);
    rig_fini(&rig);
}

/* Names of buffers are unique in a switch: of two links to one peer the second is #1, also where
 * the name of the peer takes all of the 31 characters that a name may have. */
static void buffers_have_names(void **state)
{
    (void)state;
    struct rig rig;
    rig_run(&rig, NULL,
            "stop: 1us\n"
            "topology: {kind: custom, nodes: {h0: host, h1: host, s0: switch,\n"
            "  sw-abcdefghijklmnopqrstuvwxyz01: switch}, links: [{endpoints: [h0, s0]},\n"
            "  {endpoints: [s0, sw-abcdefghijklmnopqrstuvwxyz01]},\n"
            "  {endpoints: [s0, sw-abcdefghijklmnopqrstuvwxyz01]},\n"
            "  {endpoints: [h1, sw-abcdefghijklmnopqrstuvwxyz01]}]}\n"
            "switch: {fabric: cioq}\n");
    static const char *const names[] = {"from h0", "from sw-abcdefghijklmnopqrstuvw",
                                        "from sw-abcdefghijklmnopqrstu#1"};
    const struct result_buffer *buffer = rig_buffer(&rig, rig_node(&rig, "s0"));
    for (uint32_t i = 0; i < 3; i++)
        assert_string_equal(buffer[i].name, names[i]);
    rig_fini(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(buffers_have_names),
        cmocka_unit_test(ideal_time_of_a_frame),
        cmocka_unit_test(alone_is_ideal),
        cmocka_unit_test(base_rtt_has_the_crossbar),
        cmocka_unit_test(a_frame_takes_its_time),
        cmocka_unit_test(who_is_left_over_tries_again),
        cmocka_unit_test(what_waits_for_an_output),
        cmocka_unit_test(failures_leave_no_weight),
        cmocka_unit_test(queues_are_in_the_estimate),
        cmocka_unit_test(voqs_reach_the_line_rate),
        cmocka_unit_test(voqs_carry_what_is_offered),
        cmocka_unit_test(single_queues_reach_less),
        cmocka_unit_test(a_hot_output_is_never_idle),
        cmocka_unit_test(shared_inputs_are_hogged),
        cmocka_unit_test(busy_inputs_keep_their_turn),
        cmocka_unit_test(the_culprit_is_found),
        cmocka_unit_test(priorities_are_apart),
        cmocka_unit_test(outputs_are_shared_by_weight),
        cmocka_unit_test(failures_leave_nothing_behind),
    };
    return cmocka_run_group_tests_name("cioq", tests, NULL, NULL);
}
