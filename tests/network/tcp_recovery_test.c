/* TCP in whole networks: losses of every kind are repaired and every byte arrives once, frames out
 * of order do not look lost to the sender that waits, marks are answered, and the throughput under
 * random loss follows the square-root law.
 *
 *   h1 -- s0 -- h0     100 Gb/s, 1 us each unless said otherwise
 *
 * A full frame has 1518 B, of which 1448 B are payload (70 B of headers, timestamps included).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <xoff/rng.h>

#include "support/rig.h"

#define MSS 1448

/* A timer that is doubled to 60 s, the default, would make runs with much loss long. */
static const char *const senders[] = {
    "{kind: tcp, tcp: {rto_max: 50ms}}",
    "{kind: tcp, tcp: {rto_max: 50ms, sack: false}}",
    "{kind: tcp, tcp: {rto_max: 50ms, fast_retransmit: false}}",
    "{kind: tcp, tcp: {rto_max: 50ms, delayed_ack: 0s}}",
    "{kind: tcp, tcp: {rto_max: 50ms, ack_every: 8, delayed_ack: 500us}}",
    "{kind: tcp, tcp: {rto_max: 50ms, sack: false, fast_retransmit: false}}",
    "{kind: dctcp, tcp: {rto_max: 50ms}}",
    "{kind: none, reliability: tcp, tcp: {rto_max: 50ms}}",
};
#define N_SENDERS (sizeof senders / sizeof *senders)

static uint64_t sent_again(const struct rig *rig)
{
    uint64_t frames = 0;
    for (uint64_t i = 0; i < rig->results->n_flows; i++)
        frames += rig->results->flows[i].retransmitted_frames;
    return frames;
}

static uint64_t dropped(const struct rig *rig)
{
    uint64_t frames = 0;
    for (uint32_t i = 0; i < rig->results->n_drops; i++)
        frames += rig->results->drops[i].frames;
    return frames;
}

/* All flows have arrived and are acknowledged, with just the bytes that were offered. */
static void assert_all_whole(const struct rig *rig, const char *what)
{
    for (uint64_t i = 0; i < rig->results->n_flows; i++) {
        const struct result_flow *f = &rig->results->flows[i];
        if (f->finish_at == XOFF_NEVER || f->acked_at == XOFF_NEVER)
            fail_msg("%s: flow %llu is not finished: %llu of %llu bytes, %llu frames sent again",
                     what, (unsigned long long)i, (unsigned long long)f->delivered_bytes,
                     (unsigned long long)f->offered_bytes,
                     (unsigned long long)f->retransmitted_frames);
        assert_int_equal(f->delivered_bytes, f->offered_bytes);
        assert_true(f->acked_at > f->finish_at);
        assert_true(f->sent_bytes >= f->offered_bytes);
        assert_true((f->sent_bytes > f->offered_bytes) == (f->retransmitted_frames > 0));
    }
    rig_assert_clean(rig);
}

/* Frames and ACKs are lost at random; 30 % is nearly every window more than once. */
static void random_losses_are_repaired(void **state)
{
    (void)state;
    static const char *const errors[] = {"1e-3", "0.01", "0.1", "0.3"};
    const uint32_t n_seeds = getenv("XOFF_QUICK") ? 5 : 20;
    for (uint32_t s = 0; s < N_SENDERS; s++)
        for (uint32_t e = 0; e < 4; e++)
            for (uint32_t seed = 1; seed <= n_seeds; seed++) {
                struct rig rig;
                char what[128];
                snprintf(what, sizeof what, "%s, error %s, seed %u", senders[s], errors[e], seed);
                rig_run(&rig, NULL,
                        "seed: %u\nstop: 1ms\ndrain: 100s\n"
                        "topology: {kind: star, hosts: 5, host_link: {error: %s}}\n"
                        "transport: %s\n"
                        "traffic:\n"
                        "- {kind: incast, to: h0, size: 1B}\n"
                        "- {kind: incast, to: h1, size: 5KB}\n"
                        "- {kind: incast, to: h2, size: 100KB}\n",
                        seed, errors[e], senders[s]);
                assert_int_equal(rig.results->n_flows, 12);
                assert_all_whole(&rig, what);
                assert_true(e < 2 || (dropped(&rig) > 10 && sent_again(&rig) > 5));
                rig_fini(&rig);
            }
}

/* The link to the receiver fails at any time of a transfer, for a moment (the frames on the wire
 * are lost: a burst, or the tail) or for longer than timeouts. Ten frames go out at once; the last
 * bit of the first arrives after 2.24 us, of the tenth after 3.35 us, and the last ACK is back
 * after 5.4 us. */
static void failures_are_repaired(void **state)
{
    (void)state;
    static const char *const down[] = {"1ns", "300ns", "20us", "5ms"};
    static const char *const links[] = {"h1-s0", "s0-h0"};
    uint64_t n_lost = 0, n_timed_out = 0;
    for (uint32_t s = 0; s < N_SENDERS; s++)
        for (uint32_t i = 0; i < 4 * 2 * 24; i++) {
            struct rig rig;
            char what[128];
            const uint32_t at_ns = 50 + i / 8 * 231;
            const char *link = links[i / 4 % 2];
            xoff_time down_for;
            assert_int_equal(xoff_parse_time(down[i % 4], &down_for), 0);
            snprintf(what, sizeof what, "%s, %s down at %u ns for %s", senders[s], link, at_ns,
                     down[i % 4]);
            rig_run(&rig, NULL,
                    "stop: 10ms\ndrain: 10s\nreroute_after: never\n"
                    "topology: {kind: star, hosts: 2, host_link: {rate: 100Gbps, delay: 1us}}\n"
                    "transport: %s\n"
                    "traffic:\n"
                    "- {kind: flows, list: [{from: h1, to: h0, size: %uB}]}\n"
                    "links: [{link: %s, at: %uns, fail: true}, {link: %s, at: %lldps, repair: "
                    "true}]\n",
                    senders[s], (s % 2 ? 10 : 60) * MSS, link, at_ns, link,
                    (long long)at_ns * XOFF_NS + (long long)down_for);
            assert_int_equal(rig.results->n_flows, 1);
            assert_all_whole(&rig, what);
            n_lost += dropped(&rig) > 0;
            n_timed_out += rig.results->flows[0].acked_at > down_for + XOFF_MS;
            rig_fini(&rig);
        }
    print_message("%llu runs with losses, %llu with timeouts\n", (unsigned long long)n_lost,
                  (unsigned long long)n_timed_out);
    assert_true(n_lost > 400 && n_timed_out > 100);
}

/* The tenth and last frame is lost on its way to s0, where its last bit would be at 9 * 123.04 +
 * 122.08 + 1000 = 2229.44 ns: nobody duplicates an ACK, the timer repairs. The ninth frame, at h0
 * after 8 * 123.04 + 2 * 1122.08 = 3228.48 ns, waits 100 us for its ACK, which takes another 2 *
 * (1000
 * + 78 * 8 / 100) = 2012.48 ns and restarts the timer. From then it takes rto_min (what was
 * measured gives less) and one RTT of 4256.64 ns: 109.4976 us beyond rto_min. */
static void tail_loss_costs_one_timeout(void **state)
{
    (void)state;
    static const uint32_t rto_us[] = {300, 1000, 20000};
    for (uint32_t i = 0; i < 3; i++) {
        struct rig rig;
        rig_run(&rig, NULL,
                "stop: 1ms\ndrain: 1s\nreroute_after: never\n"
                "topology: {kind: star, hosts: 2, host_link: {rate: 100Gbps, delay: 1us}}\n"
                "transport: {kind: tcp, tcp: {rto_min: %uus, rto_initial: 20ms}}\n"
                "traffic: [{kind: flows, list: [{from: h1, to: h0, size: %uB}]}]\n"
                "links: [{link: h1-s0, at: 2200ns, fail: true}, {link: h1-s0, at: 2210ns, repair: "
                "true}]\n",
                rto_us[i], 10 * MSS);
        const struct result_flow *f = &rig.results->flows[0];
        assert_all_whole(&rig, "tail");
        assert_int_equal(f->retransmitted_frames, 1);
        const double us = (double)f->acked_at / 1e6 - rto_us[i];
        if (us < 109.4966 || us > 109.4986)
            fail_msg("%.4f us beyond the timeout of %u us", us, rto_us[i]);
        rig_fini(&rig);
    }
}

/* Two accidents. One of ten frames is lost on the short wire to s0, where the others pass: h0 holds
 * what is beyond it and says so (SACK). Then a moment's failure of the long wire catches what is on
 * it: data, ACKs, or just the ACK for the repaired frame, which is the one for everything. The
 * receiver knows the flow no more by then; the sender must still learn that all has arrived, and
 * all of it is over soon after a timeout or two. */
static void ack_of_a_repair_may_be_lost(void **state)
{
    (void)state;
    static const uint32_t first_ns[] = {60, 300, 560, 800};
    uint64_t n_acks = 0;
    for (uint32_t s = 0; s < N_SENDERS; s++)
        for (uint32_t i = 0; i < 4 * 18; i++) {
            struct rig rig;
            char what[128];
            const uint32_t first = first_ns[i % 4], second = 1500 + i / 4 * 250;
            snprintf(what, sizeof what, "%s, failures at %u and %u ns", senders[s], first, second);
            rig_run(&rig, NULL,
                    "stop: 1ms\ndrain: 1s\nreroute_after: never\n"
                    "topology:\n"
                    "  kind: custom\n"
                    "  nodes: {h0: host, h1: host, s0: switch}\n"
                    "  links: [{endpoints: [h1, s0], delay: 10ns}, {endpoints: [s0, h0]}]\n"
                    "transport: %s\n"
                    "traffic: [{kind: flows, list: [{from: h1, to: h0, size: %uB}]}]\n"
                    "links:\n"
                    "- {link: h1-s0, at: %uns, fail: true}\n"
                    "- {link: h1-s0, at: %uns, repair: true}\n"
                    "- {link: s0-h0, at: %uns, fail: true}\n"
                    "- {link: s0-h0, at: %uns, repair: true}\n",
                    senders[s], 10 * MSS, first, first + 1, second, second + 1);
            assert_true(dropped(&rig) >= 1);
            n_acks += sent_again(&rig) > 0 && rig.results->flows[0].finish_at < second * XOFF_NS;
            assert_all_whole(&rig, what);
            assert_true(rig.results->flows[0].acked_at < 50 * XOFF_MS);
            rig_fini(&rig);
        }
    assert_true(n_acks > 20);
}

/* A window full of losses: many senders, little buffer, no pauses. */
static void incast_without_pauses_finishes(void **state)
{
    (void)state;
    for (uint32_t s = 0; s < N_SENDERS; s++) {
        struct rig rig;
        rig_run(&rig, NULL,
                "stop: 10ms\ndrain: 100s\n"
                "topology: {kind: star, hosts: 33, host_link: {rate: 10Gbps, delay: 1us}}\n"
                "switch: {buffer: 16MB, pause: none, mmu: {kind: static, egress_limit: 30KB}}\n"
                "transport: %s\n"
                "traffic: [{kind: incast, to: h0, size: 64KB, at: 0s, every: 5ms, count: 2}]\n",
                senders[s]);
        assert_int_equal(rig.results->n_flows, 64);
        assert_true(dropped(&rig) > 100);
        /* ACKs find empty links and buffers: every drop is of data, and is sent again. */
        assert_true(sent_again(&rig) >= dropped(&rig));
        assert_all_whole(&rig, senders[s]);
        rig_fini(&rig);
    }
}

/* Messages on lasting connections, of both ends, with losses: each operation ends. */
static void messages_survive_losses(void **state)
{
    (void)state;
    for (uint32_t s = 0; s < N_SENDERS; s++) {
        struct rig rig;
        rig_run(&rig, NULL,
                "stop: 5ms\ndrain: 100s\n"
                "topology: {kind: star, hosts: 6, host_link: {error: 0.01}}\n"
                "transport: %s\n"
                "traffic:\n"
                "- {kind: iscsi, from: h0..h2, to: h3..h5, size: 64KiB, depth: 4}\n"
                "- {kind: query, senders: 5, size: 20KB, every: 500us, connections: kept}\n",
                senders[s]);
        assert_true(dropped(&rig) > 50);
        assert_true(rig.results->n_operations > 20);
        for (uint64_t i = 0; i < rig.results->n_operations; i++)
            assert_true(rig.results->operations[i].finish_at != XOFF_NEVER);
        for (uint64_t i = 0; i < rig.results->n_flows; i++) {
            const struct result_flow *f = &rig.results->flows[i];
            if (f->finish_at == XOFF_NEVER || f->delivered_bytes != f->offered_bytes)
                fail_msg("%s: message %llu did not arrive whole", senders[s],
                         (unsigned long long)i);
        }
        rig_assert_clean(&rig);
        rig_fini(&rig);
    }
}

/*            /-- a -- \                h1 sends each frame by a or b at random; hx at a loads a's
 *   h1 -- s0            s1 -- h0       link to s1 with bursts, so that frames by b overtake those
 * by
 *            \-- b -- /   \-- hy       a by up to the burst's queue. Nothing is lost.
 *             hx at a
 *
 * Three frames that overtake make the plain sender repair what is only late; the one that takes no
 * notice of duplicates has nothing to repair as long as no frame is as late as the timer. */
static void waiting_sender_stands_reordering(void **state)
{
    (void)state;
    static const char *const resends[] = {"false", "true"};
    for (uint32_t i = 0; i < 4; i++) {
        struct rig rig;
        rig_run(&rig, NULL,
                "seed: %u\nstop: 3ms\n"
                "topology:\n"
                "  kind: custom\n"
                "  host_link: {rate: 100Gbps, delay: 1us}\n"
                "  nodes: {h0: host, h1: host, hx: host, hy: host, s0: switch, s1: switch, a: "
                "switch, b: switch}\n"
                "  links: [{endpoints: [h1, s0]}, {endpoints: [h0, s1]}, {endpoints: [hx, a]},\n"
                "          {endpoints: [hy, s1]}, {endpoints: [s0, a]}, {endpoints: [s0, b]},\n"
                "          {endpoints: [a, s1]}, {endpoints: [b, s1]}]\n"
                "switch: {buffer: 16MB, pause: none, path: scatter}\n"
                "transport: {kind: tcp, max_window: 150KB, tcp: {fast_retransmit: %s}}\n"
                "traffic:\n"
                "- {kind: incast, from: h1, to: h0, size: 4MB}\n"
                "- {kind: onoff, from: hx, to: hy, burst: 10us, idle: 5us, transport: datagram}\n",
                i / 2 + 1, resends[i % 2]);
        const struct result_flow *f = &rig.results->flows[0];
        assert_int_equal(f->offered_bytes, 4000000);
        assert_true(f->finish_at != XOFF_NEVER && f->delivered_bytes == 4000000);
        assert_int_equal(rig.results->n_drops, 0);
        if (i % 2 == 0)
            assert_int_equal(f->retransmitted_frames, 0);
        else
            assert_true(f->retransmitted_frames > 10);
        rig_assert_clean(&rig);
        rig_fini(&rig);
    }
}

/* Marks go on until the sender has said that it answered (RFC 3168 6.1.2 and 6.1.3: ECE until CWR).
 * A sender at its least window has nothing to cut but must answer all the same, or every ACK
 * carries the echo for ever and the window never grows. Eight flows with room for two segments each
 * are marked all the time; when seven have ended the eighth is alone, nothing queues, and its
 * window opens by a segment each RTT: after 1 ms, 200 RTTs, it holds more than the bandwidth-delay
 * product of 37 segments. */
static void least_window_is_left_again(void **state)
{
    (void)state;
    struct rig rig;
    rig_run(&rig, NULL,
            "stop: 4ms\ndrain: 0s\n"
            "topology: {kind: star, hosts: 9, host_link: {rate: 100Gbps, delay: 1us}}\n"
            "switch: {pause: none, marking: {kind: step, k: 2KB}}\n"
            "transport: tcp\n"
            "traffic:\n"
            "- {kind: cbr, from: h1, to: h0}\n"
            "- {kind: incast, from: h2..h8, to: h0, size: 300KB}\n"
            "measure: {every: 1ms, series: [throughput], at: s0}\n");
    const struct result_port *link = rig_port(&rig, "s0", "h0");
    assert_true(link->queue[0].marked_frames > 100);
    double last = 0;
    for (uint64_t i = 0; i < rig.results->n_samples; i++) {
        const struct result_sample *s = &rig.results->samples[i];
        if (s->node == link->node && s->port == link->port && s->metric == RESULT_TX_BPS &&
            s->at == 3 * XOFF_MS)
            last = s->value / 1e9;
    }
    /* 100 * 1518 / 1538 = 98.7; the one that is stuck has 2 segments per RTT, 5.7 Gb/s. */
    if (last < 98)
        fail_msg("the flow that is left has %.2f Gb/s of 98.7", last);
    rig_fini(&rig);
}

/* Mean of the throughput of one NewReno flow that loses each data frame, and each ACK, with
 * probability p, over seeds, in units of MSS / (RTT sqrt(p)); *noise: standard error over the mean.
 */
static double constant_of(const char *error, double p, const char *stop, double *noise)
{
    const uint32_t n = 6;
    const double rtt = 4 * 50e-6 + 2 * (1526 + 78) * 8 / 100e9;
    double sum = 0, squares = 0;
    for (uint32_t seed = 1; seed <= n; seed++) {
        struct rig rig;
        rig_run(&rig, NULL,
                "seed: %u\nstop: %s\ndrain: 0s\n"
                "topology:\n"
                "  kind: custom\n"
                "  host_link: {rate: 100Gbps, delay: 50us}\n"
                "  nodes: {h0: host, h1: host, s0: switch}\n"
                "  links: [{endpoints: [h1, s0], error: %s}, {endpoints: [s0, h0]}]\n"
                "switch: {buffer: 64MB, pause: none}\n"
                "transport: {kind: tcp, tcp: {ack_every: 2}}\n"
                "traffic: [{kind: cbr, from: h1, to: h0}]\n",
                seed, stop, error);
        const double bytes_per_s =
            (double)rig.results->flows[0].delivered_bytes / ((double)rig.results->end_at / 1e12);
        /* It is the loss that limits: the link is far from full, and nothing queues. */
        assert_true(rig_port(&rig, "h1", "s0")->busy_for < rig.results->end_at / 5);
        const double x = bytes_per_s * rtt * xoff_sqrt(p) / MSS;
        sum += x;
        squares += x * x;
        rig_assert_clean(&rig);
        rig_fini(&rig);
    }
    const double mean = sum / n;
    *noise = xoff_sqrt((squares / n - mean * mean) / (n - 1)) / mean;
    return mean;
}

/* Mathis et al., The macroscopic behavior of the TCP congestion avoidance algorithm, CCR 1997:
 *
 *   throughput = C MSS / (RTT sqrt(p)),   C = sqrt(3 / (2 b))
 *
 * b is the number of segments per ACK where the window grows per ACK. Here it grows by bytes
 * acknowledged (RFC 3465), one MSS per window of data however many ACKs bring them: b = 1 and C =
 * 1.22 also with an ACK for two segments (per-ACK growth would make it 0.87).
 *
 * The law holds while halvings are what limits: above p = 1e-2 the window is below ten segments,
 * the RTT spent on a repair is a good part of each cycle of (2/3) W RTTs and timeouts appear, which
 * the law knows nothing of; below p = 6e-7 W reaches this link's 1700 segments. 15 % allows for the
 * repair at p = 3e-3 (one RTT without growth in a cycle of 15) and for the difference between
 * periodic losses, which the law has, and random ones (Ott et al.: 1.31). */
static void square_root_law(void **state)
{
    (void)state;
    static const struct {
        const char *error;
        double p;
        const char *stop;
    } cases[] = {
        {"1e-4", 1e-4, "4s"}, {"3e-4", 3e-4, "2s"}, {"1e-3", 1e-3, "1s"}, {"3e-3", 3e-3, "1s"}};
    if (getenv("XOFF_QUICK")) /* a law of long runs, in which no other code runs than above */
        return;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double noise;
        const double c = constant_of(cases[i].error, cases[i].p, cases[i].stop, &noise);
        print_message("p %s: constant %.3f, standard error %.1f %%\n", cases[i].error, c,
                      noise * 100);
        assert_true(noise < 0.05);
        if (c < 1.2247 * 0.85 || c > 1.2247 * 1.15)
            fail_msg("p %s: constant %.3f is not within 15 %% of 1.22", cases[i].error, c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_losses_are_repaired),
        cmocka_unit_test(failures_are_repaired),
        cmocka_unit_test(tail_loss_costs_one_timeout),
        cmocka_unit_test(ack_of_a_repair_may_be_lost),
        cmocka_unit_test(incast_without_pauses_finishes),
        cmocka_unit_test(messages_survive_losses),
        cmocka_unit_test(waiting_sender_stands_reordering),
        cmocka_unit_test(least_window_is_left_again),
        cmocka_unit_test(square_root_law),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
