/* Targeted PFC in whole networks: who is paused, that nothing is lost where HW leaves room for the
 * frames in flight, and that one frame less of room is too little. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <xoff/headroom.h>
#include <xoff/rng.h>
#include <xoff/units.h>

#include "support/rig.h"

#define PRIORITY 3
#define FRAME 1518

static int64_t headroom_of(xoff_rate rate_bps, xoff_time delay)
{
    const struct xoff_headroom_params params = {
        .rate_bps = rate_bps,
        .delay = delay,
        .max_frame_bytes = FRAME,
        .response_for = xoff_quanta_time(xoff_response_quanta(rate_bps), rate_bps)};
    return xoff_headroom_bytes(&params);
}

static const char *const policies[] = {
    "kind: tpfc, targeting: fair",
    "kind: tpfc, targeting: fair, sample: bytes, statistics: scan",
    "kind: tpfc, targeting: random",
    "kind: tpfc, targeting: random, sample: bytes",
    "kind: tpfc, targeting: random, when: crossing, statistics: scan",
    "kind: tpfc, targeting: fair, when: crossing",
};
enum { N_POLICIES = sizeof policies / sizeof *policies };

/* Two switches with links of mixed speeds and delays, one or two lossless priorities, random
 * traffic. Every queue of a switch may stand at HW at a time: the buffer holds that and, for each
 * port and priority, what is in flight. */
static void run_random(struct rig *rig, uint32_t round, const char *policy)
{
    enum { HOSTS = 6, LINKS = HOSTS + 1 };
    static const uint32_t gbps[] = {1, 10, 25, 40, 100};
    static const uint32_t delays_ns[] = {0, 100, 1000, 3000};
    struct xoff_rng rng;
    char links[1024];
    size_t n = 0;
    int64_t in_flight[2] = {0};
    xoff_rng_init(&rng, 41, round, 0);
    for (uint32_t i = 0; i < LINKS; i++) {
        const uint32_t rate = gbps[xoff_rng_below(&rng, 5)];
        const uint32_t delay = delays_ns[xoff_rng_below(&rng, 4)];
        const int64_t bytes = headroom_of(rate * XOFF_GBPS, delay * XOFF_NS);
        if (i < HOSTS)
            n += (size_t)snprintf(links + n, sizeof links - n, "{endpoints: [h%u, s%u]", i, i / 3);
        else
            n += (size_t)snprintf(links + n, sizeof links - n, "{endpoints: [s0, s1]");
        n += (size_t)snprintf(links + n, sizeof links - n, ", rate: %uGbps, delay: %uns}%s", rate,
                              delay, i + 1 < LINKS ? ", " : "");
        in_flight[0] += i < 3 || i == HOSTS ? bytes : 0;
        in_flight[1] += i >= 3 ? bytes : 0;
    }
    const uint32_t n_lossless = 1 + round % 2;
    const int64_t hw = 20000 + (int64_t)xoff_rng_below(&rng, 60000);
    const int64_t most = in_flight[0] > in_flight[1] ? in_flight[0] : in_flight[1];
    const int64_t buffer = n_lossless * (4 * (hw - 1 + FRAME) + most);
    const uint32_t to = (uint32_t)xoff_rng_below(&rng, HOSTS);
    rig_run(rig, NULL,
            "seed: %u\nstop: 400us\ndrain: 0s\n"
            "topology: {kind: custom, nodes: {h0: host, h1: host, h2: host, h3: host, h4: host,\n"
            "  h5: host, s0: switch, s1: switch}, links: [%s]}\n"
            "switch: {buffer: %lldB, processing_delay: %uns,\n"
            "  mmu: {kind: sih, alpha: 1024, reserved: 0B},\n"
            "  pause: {%s, lw: %lldB, tw: %lldB, hw: %lldB}}\n"
            "priorities: {3: {lossless: true}, 4: {lossless: %s}}\n"
            "traffic:\n"
            "- {kind: cbr, to: h%u, priority: 3}\n"
            "- {kind: onoff, burst: 20us, idle: 20us, priority: 4}\n"
            "- {kind: poisson, load: 0.4, sizes: uniform 100B 40KB, priority: 3}\n"
            "- {kind: bernoulli, load: 0.2, frame: 200B, priority: 0}\n",
            round, links, (long long)buffer, round % 3 * 150, policy, (long long)hw / 4,
            (long long)hw / 2, (long long)hw, n_lossless == 2 ? "true" : "false", to);
}

static void nothing_is_lost(void **state)
{
    (void)state;
    uint64_t n_targeted = 0, n_high = 0;
    for (uint32_t round = 0; round < 60; round++) {
        struct rig rig;
        run_random(&rig, round, policies[round % N_POLICIES]);
        const struct results *r = rig.results;
        if (rig_metric(&rig, "drops.lossless") > 0)
            fail_msg("round %u: %g lossless frames lost", round,
                     rig_metric(&rig, "drops.lossless"));
        for (uint64_t i = 0; i < r->n_pauses; i++) {
            const struct result_pause *p = &r->pauses[i];
            if (!p->pause || p->node < 6)
                continue;
            assert_int_equal(p->unit, XOFF_UNIT_EGRESS);
            assert_true(p->occupied_bytes >= p->threshold_bytes);
            /* Nobody sends to itself: its own port is held at HW alone. */
            n_high += p->egress_port == p->port;
            n_targeted += p->egress_port != p->port;
        }
        rig_assert_clean(&rig);
        rig_fini(&rig);
    }
    assert_true(n_targeted > 300);
    assert_true(n_high > 30);
}

/* h1 fills the queue to h0, whose link is too slow to take a second frame. Every other frame time a
 * frame from h2 leaves for h1, and the pause frame may have to wait for it: all phases are tried.
 * HW is one byte above k frames, so that the queue is as long as it can be when all are paused, k +
 * 1 frames, and the buffer has the computed headroom of one port beyond. Returns the most that was
 * lost. */
static double lost_at(uint32_t more_bytes)
{
    const int64_t in_flight = headroom_of(100 * XOFF_GBPS, XOFF_US);
    const int64_t hw = 60 * FRAME + 1;
    double most = 0;
    for (uint32_t offset = 0; offset < 243; offset++) {
        struct rig rig;
        rig_run(&rig, NULL,
                "stop: 40us\ndrain: 0s\n"
                "topology: {kind: custom, host_link: {rate: 100Gbps, delay: 1us},\n"
                "  nodes: {h0: host, h1: host, h2: host, s0: switch}, links: [\n"
                "  {endpoints: [h0, s0], rate: 1Mbps}, {endpoints: [h1, s0]},\n"
                "  {endpoints: [h2, s0]}]}\n"
                "switch: {buffer: %lldB,\n"
                "  mmu: {kind: sih, alpha: 1024, reserved: 0B, headroom: 0B, allow_loss: true},\n"
                "  pause: {kind: tpfc, lw: 1B, tw: 2B, hw: %lldB, allow_loss: true}}\n"
                "priorities: {3: {lossless: true}}\n"
                "traffic:\n"
                "- {kind: flows, priority: 3, list: [{at: 0s, from: h1, to: h0, size: 1B},\n"
                "  {at: 15us, from: h1, to: h0, size: auto}]}\n"
                "- {kind: cbr, from: h2, to: h1, rate: 50Gbps, start: %uns, priority: 0}\n",
                (long long)(hw - 1 + FRAME + in_flight), (long long)hw + more_bytes, offset);
        const double lost = rig_metric(&rig, "drops.lossless");
        most = lost > most ? lost : most;
        rig_fini(&rig);
    }
    return most;
}

static void room_is_enough_to_the_frame(void **state)
{
    (void)state;
    assert_true(lost_at(0) == 0);
    assert_true(lost_at(FRAME) == 1);
}

/* The star of scenarios/tpfc.yaml: h1 and h2 send a quarter of the link, h3 all it can. */
static void run_star(struct rig *rig, const char *pause)
{
    rig_run(rig, NULL,
            "stop: 3ms\ndrain: 0s\n"
            "topology: {kind: star, hosts: 4, host_link: {rate: 10Gbps, length: 300m}}\n"
            "port: {max_frame: 1522B, response: 133}\n"
            "switch: {buffer: 168942B, mmu: {kind: sih, alpha: 1024, reserved: 0B},\n"
            "  pause: {%s}}\n"
            "priorities: {3: {lossless: true}}\n"
            "traffic:\n"
            "- {kind: cbr, from: h1..h2, to: h0, rate: 2.5Gbps, priority: 3}\n"
            "- {kind: cbr, from: h3, to: h0, start: 100us, priority: 3}\n",
            pause);
}

/* Fair targeting pauses the aggressor alone, at TW, and never needs HW. */
static void fair_targets_the_aggressor_alone(void **state)
{
    (void)state;
    struct rig rig;
    run_star(&rig, "kind: tpfc, lw: 16742B, hw: 100452B, targets: 3");
    const struct results *r = rig.results;
    assert_true(r->n_pauses > 10);
    for (uint64_t i = 0; i < r->n_pauses; i++) {
        const struct result_pause *p = &r->pauses[i];
        assert_int_equal(p->port, 3);
        assert_int_equal(p->egress_port, 0);
        assert_int_equal(p->threshold_bytes, p->pause ? 100452 - 3 * 16728 : 16742);
        assert_true(p->pause ? p->occupied_bytes >= p->threshold_bytes
                             : p->occupied_bytes <= p->threshold_bytes);
    }
    assert_int_equal(r->n_drops, 0);
    assert_int_equal(rig_port(&rig, "h1", "s0")->queue[PRIORITY].paused_for, 0);
    assert_int_equal(rig_port(&rig, "h2", "s0")->queue[PRIORITY].paused_for, 0);
    assert_true(rig_port(&rig, "h3", "s0")->queue[PRIORITY].paused_for > XOFF_MS);
    rig_assert_clean(&rig);
    rig_fini(&rig);
}

/* HW alone: told once, never refreshed, never resumed. Every link partner, h0 too, is silent for
 * the quanta of each XOFF, 655.36 us; the queue is empty long before. */
static void hw_only_lets_the_pause_run_out(void **state)
{
    (void)state;
    struct rig rig;
    run_star(&rig, "kind: pfc, trigger: egress, partners: all, xoff: 100452B, xon: 16742B,\n"
                   "    quanta: 12800, refresh: false, resume: false");
    const struct results *r = rig.results;
    uint64_t n_xoffs[4] = {0}, n_xons = 0;
    for (uint64_t i = 0; i < r->n_pauses; i++) {
        n_xoffs[r->pauses[i].port] += r->pauses[i].pause;
        n_xons += !r->pauses[i].pause;
    }
    assert_true(n_xons > 0); /* decided, not sent */
    for (uint32_t port = 0; port < 4; port++) {
        static const char *const hosts[] = {"h0", "h1", "h2", "h3"};
        const struct result_queue *gate = &rig_port(&rig, hosts[port], "s0")->queue[PRIORITY];
        assert_int_equal(n_xoffs[port], n_xoffs[0]);
        assert_int_equal(gate->resume_rx, 0);
        assert_int_equal(rig_port(&rig, hosts[port], "s0")->control_rx_frames, n_xoffs[0]);
        assert_true(gate->paused_for > (xoff_time)(n_xoffs[0] - 1) * 655360 * XOFF_NS);
        assert_true(gate->paused_for <= (xoff_time)n_xoffs[0] * 655360 * XOFF_NS);
    }
    assert_true(n_xoffs[0] >= 3);
    assert_int_equal(r->n_drops, 0);
    rig_assert_clean(&rig);
    rig_fini(&rig);
}

/* Draws come from the seed: the same again, others with another seed, whatever the threads. */
static void draws_follow_the_seed(void **state)
{
    (void)state;
    uint64_t n_pauses[4];
    for (uint32_t i = 0; i < 4; i++) {
        const struct rig_options options = {.n_threads = 1 + i % 2, .cell_bound = 0};
        struct rig rig;
        rig_run(&rig, &options,
                "seed: %u\nstop: 2ms\ndrain: 0s\n"
                "topology: {kind: dumbbell, left: 4, right: 4,\n"
                "  host_link: {rate: 10Gbps, delay: 1us}}\n"
                "switch: {buffer: 1MB, mmu: {kind: sih, alpha: 1024, reserved: 0B},\n"
                "  pause: {kind: tpfc, targeting: random, lw: 20KB, tw: 50KB, hw: 200KB}}\n"
                "priorities: {3: {lossless: true}}\n"
                "traffic: [{kind: cbr, from: h0..h3, to: h4..h7, rate: 4Gbps, priority: 3}]\n",
                i < 3 ? 1 : 2);
        n_pauses[i] = rig.results->n_pauses;
        assert_true(n_pauses[i] > 20);
        assert_int_equal(rig.results->n_drops, 0);
        rig_assert_clean(&rig);
        rig_fini(&rig);
    }
    assert_int_equal(n_pauses[0], n_pauses[1]);
    assert_int_equal(n_pauses[0], n_pauses[2]);
    assert_int_not_equal(n_pauses[0], n_pauses[3]);
}

/* Four switches whose routes go round: pauses of targets close the ring too, and it is found. */
static void a_ring_of_targets_is_a_deadlock(void **state)
{
    (void)state;
    for (uint32_t random = 0; random < 2; random++) {
        struct rig rig;
        rig_run(&rig, NULL,
                "stop: 2ms\ndrain: 0s\n"
                "topology: {kind: ring, switches: 4, hosts_per_switch: 1,\n"
                "  host_link: {rate: 100Gbps, delay: 1us}}\n"
                "switch: {buffer: 2MB, mmu: {kind: sih, alpha: 1024, reserved: 0B},\n"
                "  pause: {kind: tpfc, targeting: %s, lw: 20KB, tw: 60KB, hw: 200KB}}\n"
                "priorities: {3: {lossless: true}}\n"
                "routes: [{on: s0, to: h2, via: [s1]}, {on: s1, to: h3, via: [s2]},\n"
                "  {on: s2, to: h0, via: [s3]}, {on: s3, to: h1, via: [s0]}]\n"
                "traffic: [{kind: cbr, pattern: shift, shift: 2, priority: 3}]\n",
                random ? "random" : "fair");
        assert_int_equal(rig.results->n_deadlocks, 1);
        assert_int_equal(rig.results->deadlocks[0].n, 4);
        assert_int_equal(rig.results->n_drops, 0);
        rig_fini(&rig);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_lost),
        cmocka_unit_test(room_is_enough_to_the_frame),
        cmocka_unit_test(fair_targets_the_aggressor_alone),
        cmocka_unit_test(hw_only_lets_the_pause_run_out),
        cmocka_unit_test(draws_follow_the_seed),
        cmocka_unit_test(a_ring_of_targets_is_a_deadlock),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
