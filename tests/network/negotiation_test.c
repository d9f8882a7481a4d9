/* DCBX in whole networks: ports agree by LLDP frames on links, and switches and hosts act by it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <xoff/rng.h>
#include <xoff/units.h>

#include "support/rig.h"

/* Two hosts send to a third without waiting for anything; the switch holds 60 KB beside headroom,
 * so that PFC, or its absence, shows at once. */
#define STAR "stop: 400us\n" STAR_ALONE
#define STAR_ALONE                                                                          \
    "topology: {kind: star, hosts: 3, host_link: {rate: 10Gbps, delay: 500ns}}\n"           \
    "priorities: {0: {weight: 50}, 3: {lossless: true, weight: 50}, 4: {lossless: true}}\n" \
    "switch: {buffer: 300KB, mmu: sih, pause: pfc, scheduler: ets}\n"                       \
    "transport: {kind: none, reliability: datagram}\n"                                      \
    "lldp: {second: 1us}\n"

/* As much of a priority as two hosts can send. */
#define FLOOD(priority) \
    "  - {kind: cbr, from: h1..h2, to: h0, rate: 9.5Gbps, priority: " priority "}\n"

static uint64_t drops_of(const struct rig *rig, uint32_t priority)
{
    uint64_t frames = 0;
    for (uint32_t i = 0; i < rig->results->n_drops; i++)
        if (rig->results->drops[i].priority == priority)
            frames += rig->results->drops[i].frames;
    return frames;
}

static void willing_hosts_take_the_switch_over(void **state)
{
    (void)state;
    uint64_t digest = 0;
    for (uint32_t threads = 1; threads <= 3; threads++) {
        struct rig rig;
        const struct rig_options options = {.n_threads = threads};
        rig_run(&rig, &options, "%s",
                STAR "dcbx:\n"
                     "  - {at: s0, pfc: [3]}\n"
                     "  - {at: hosts, pfc: [], willing: all}\n"
                     "traffic:\n" FLOOD("3"));
        assert_int_equal(drops_of(&rig, 3), 0);
        assert_true(rig_metric(&rig, "pauses") > 10);
        assert_true(rig_metric(&rig, "dcbx.ports") == 6);
        assert_true(rig_metric(&rig, "dcbx.peers") == 6);
        assert_true(rig_metric(&rig, "dcbx.taken") == 3);
        assert_true(rig_metric(&rig, "dcbx.differing") == 0);
        assert_true(rig_metric(&rig, "dcbx.lossless") == 6);
        rig_assert_clean(&rig);
        digest = digest ? digest : rig.results->digest;
        assert_true(rig.results->digest == digest);
        rig_fini(&rig);
    }
}

/* The switch sends pauses, and the hosts do not obey. */
static void unwilling_ports_stay_apart(void **state)
{
    (void)state;
    struct rig rig;
    rig_run(&rig, NULL, "%s",
            STAR "dcbx:\n"
                 "  - {at: s0, pfc: [3]}\n"
                 "  - {at: hosts, pfc: []}\n"
                 "traffic:\n" FLOOD("3"));
    assert_true(drops_of(&rig, 3) > 100);
    assert_true(rig_metric(&rig, "drops.lossless") > 100); /* the switch holds it lossless */
    assert_true(rig_metric(&rig, "dcbx.differing") == 6);
    assert_true(rig_metric(&rig, "pause_time") == 0);
    rig_assert_clean(&rig);
    rig_fini(&rig);

    /* The other way round nobody asks for pauses, and a loss breaks no promise. */
    rig_run(&rig, NULL, "%s",
            STAR "dcbx:\n"
                 "  - {at: s0, pfc: []}\n"
                 "  - {at: hosts, pfc: [3]}\n"
                 "traffic:\n" FLOOD("3"));
    assert_true(drops_of(&rig, 3) > 100);
    assert_true(rig_metric(&rig, "drops.lossless") == 0);
    assert_true(rig_metric(&rig, "pauses") == 0);
    rig_assert_clean(&rig);
    rig_fini(&rig);
}

/* Both willing: hosts have the lower addresses (02-.. against 06-..). */
static void the_tie_goes_by_address(void **state)
{
    (void)state;
    for (int higher = 0; higher < 2; higher++) {
        struct rig rig;
        rig_run(&rig, NULL,
                "%sdcbx:\n"
                "  - {at: s0, pfc: [3], willing: pfc, tie: %s}\n"
                "  - {at: hosts, pfc: [4], willing: pfc, tie: %s}\n"
                "traffic:\n" FLOOD("3"),
                STAR, higher ? "higher" : "lower", higher ? "higher" : "lower");
        assert_int_equal(drops_of(&rig, 3) > 0, !higher);
        assert_true(rig_metric(&rig, "dcbx.taken") == 3);
        assert_true(rig_metric(&rig, "dcbx.differing") == 0);
        rig_assert_clean(&rig);
        rig_fini(&rig);
    }
}

/* Priority 3 has PFC all the time, priority 4 from 100 us to 250 us; both flood. Nothing of 3 is
 * lost, and of 4 nothing while it has PFC. */
static void a_change_loses_nothing_that_stays_lossless(void **state)
{
    (void)state;
    struct rig rig;
    rig_run(&rig, NULL, "%s",
            STAR "dcbx:\n"
                 "  - {at: s0, pfc: [3]}\n"
                 "  - {at: s0, from: 100us, pfc: [3, 4]}\n"
                 "  - {at: s0, from: 250us, pfc: [3]}\n"
                 "  - {at: hosts, pfc: [3], willing: all}\n"
                 "traffic:\n" FLOOD("3") FLOOD("4"));
    assert_int_equal(drops_of(&rig, 3), 0);
    assert_true(drops_of(&rig, 4) > 0);
    assert_true(rig_metric(&rig, "dcbx.changes") == 12); /* two at each of six ports */
    const struct result_queue *q = &rig_port(&rig, "h1", "s0")->queue[4];
    assert_true(q->pause_rx > 0);
    assert_true(q->paused_for > 0 && q->paused_for < 160 * XOFF_US);
    rig_assert_clean(&rig);
    rig_fini(&rig);
}

/* The shares of two priorities at the port to h0. */
static double share_of_3(const struct rig *rig)
{
    const struct result_port *port = rig_port(rig, "s0", "h0");
    const double three = (double)port->queue[3].tx_bytes, zero = (double)port->queue[0].tx_bytes;
    return three / (three + zero);
}

/* 80 % for priority 3, told by the scheduler of one port. From 3 ms on it is 20 %: the mean over
 * both halves is 50 %. */
static void ets_comes_into_force(void **state)
{
    (void)state;
    for (int change = 0; change < 2; change++) {
        struct rig rig;
        rig_run(&rig, NULL,
                "%sdcbx:\n"
                "  - {at: s0, pfc: [], ets: [0: 20, 3: 80]}\n"
                "%s"
                "  - {at: hosts, pfc: []}\n"
                "traffic:\n" FLOOD("3") FLOOD("0"),
                "stop: 6ms\n" STAR_ALONE,
                change ? "  - {at: s0, from: 3ms, pfc: [], ets: [0: 80, 3: 20]}\n" : "");
        const double want = change ? 0.5 : 0.8;
        assert_true(share_of_3(&rig) > want - 0.03 && share_of_3(&rig) < want + 0.03);
        rig_assert_clean(&rig);
        rig_fini(&rig);
    }
}

/* A willing switch takes the recommendation of h0 for the port to h0, and of no other. */
static void a_recommendation_holds_for_its_port(void **state)
{
    (void)state;
    struct rig rig;
    rig_run(&rig, NULL, "%s",
            "stop: 6ms\n" STAR_ALONE "dcbx:\n"
            "  - {at: s0, pfc: [], ets: [0: 50, 3: 50], willing: ets}\n"
            "  - {at: h0, pfc: [], recommend: [0: 75, 3: 25]}\n"
            "traffic:\n" FLOOD("3") FLOOD("0"));
    assert_true(share_of_3(&rig) > 0.22 && share_of_3(&rig) < 0.28);
    assert_true(rig_metric(&rig, "dcbx.taken") == 1);
    assert_true(rig_metric(&rig, "dcbx.peers") == 2);
    rig_assert_clean(&rig);
    rig_fini(&rig);
}

/* The switch does not speak, and passes frames on: each host hears two others, and takes nothing.
 * With one other it would have a peer. */
static void forwarded_frames_make_several_peers(void **state)
{
    (void)state;
    for (int hosts = 2; hosts <= 3; hosts++) {
        struct rig rig;
        rig_run(&rig, NULL,
                "%slldp: {second: 1us, forward: s0}\n"
                "dcbx:\n"
                "  - {at: h0, pfc: [3]}\n"
                "  - {at: h1..h%d, pfc: [], willing: all}\n",
                "stop: 100us\n"
                "topology: {kind: star, hosts: 3, host_link: {rate: 10Gbps, delay: 500ns}}\n"
                "switch: {pause: pfc}\n"
                "priorities: {3: {lossless: true}}\n",
                hosts - 1);
        assert_true(rig_metric(&rig, "dcbx.multiple") == (hosts == 3 ? 3 : 0));
        assert_true(rig_metric(&rig, "dcbx.taken") == (hosts == 3 ? 0 : 1));
        assert_true(rig_metric(&rig, "dcbx.lossless") == (hosts == 3 ? 1 : 2));
        rig_assert_clean(&rig);
        rig_fini(&rig);
    }
}

#define TREE                                                                           \
    "stop: 300us\n"                                                                    \
    "topology: {kind: custom, host_link: {rate: 10Gbps, delay: 500ns},\n"              \
    "  nodes: {h0: host, h1: host, core: switch, edge: switch, far: host}, links: [\n" \
    "  {endpoints: [edge, core]}, {endpoints: [h0, edge]}, {endpoints: [h1, edge]},\n" \
    "  {endpoints: [far, core]}]}\n"                                                   \
    "switch: {pause: pfc}\n"                                                           \
    "priorities: {3: {lossless: true}}\n"                                              \
    "lldp: {second: 1us}\n"

/* The core is not willing; the edge is towards the core and not towards its hosts. What it takes is
 * pushed down, or stays where it was taken. */
static void configuration_is_pushed_down(void **state)
{
    (void)state;
    for (int push = 0; push < 2; push++) {
        struct rig rig;
        rig_run(&rig, NULL,
                TREE "dcbx:\n"
                     "  - {at: core, pfc: [3]}\n"
                     "  - {at: edge:0, pfc: [], willing: all, push: %s}\n"
                     "  - {at: [edge:1, edge:2], pfc: []}\n"
                     "  - {at: [h0, h1], pfc: [], willing: all}\n",
                push ? "true" : "false");
        /* Two ports of the core, the uplink; with push two ports of the edge and two hosts. */
        assert_true(rig_metric(&rig, "dcbx.lossless") == (push ? 7 : 3));
        assert_true(rig_metric(&rig, "dcbx.differing") == 0);
        rig_assert_clean(&rig);
        rig_fini(&rig);
    }
}

static void baseline_and_ieee_do_not_understand_each_other(void **state)
{
    (void)state;
    for (int is_auto = 0; is_auto < 2; is_auto++) {
        struct rig rig;
        rig_run(&rig, NULL,
                "%sdcbx:\n"
                "  - {at: s0, pfc: [3], version: baseline}\n"
                "  - {at: hosts, pfc: [], willing: all, version: %s}\n"
                "traffic:\n" FLOOD("3"),
                STAR, is_auto ? "auto" : "ieee");
        assert_int_equal(drops_of(&rig, 3) > 0, !is_auto);
        assert_true(rig_metric(&rig, "dcbx.foreign") == (is_auto ? 0 : 6));
        assert_true(rig_metric(&rig, "dcbx.taken") == (is_auto ? 3 : 0));
        rig_assert_clean(&rig);
        rig_fini(&rig);
    }
}

/* On a link without PFC a host that follows T11 sends no FCoE, and loses none. */
static void fcoe_waits_for_a_lossless_link(void **state)
{
    (void)state;
    for (int pfc = 0; pfc < 2; pfc++) {
        struct rig rig;
        rig_run(&rig, NULL,
                "%sdcbx:\n"
                "  - {at: s0, pfc: [%s]}\n"
                "  - {at: hosts, pfc: [], willing: pfc, needs_lossless: [3]}\n"
                "traffic:\n" FLOOD("3"),
                STAR, pfc ? "3" : "");
        assert_int_equal(drops_of(&rig, 3), 0);
        assert_int_equal(rig_metric(&rig, "delivered") > 0, pfc);
        rig_fini(&rig);
    }
}

/* Off at 100 us with a shutdown frame: the hosts fall back on what they have, which is nothing. */
static void a_shutdown_ends_what_was_agreed(void **state)
{
    (void)state;
    struct rig rig;
    rig_run(&rig, NULL, "%s",
            STAR "dcbx:\n"
                 "  - {at: s0, pfc: [3]}\n"
                 "  - {at: s0, from: 100us, pfc: [3], lldp: false}\n"
                 "  - {at: hosts, pfc: [], willing: pfc}\n"
                 "traffic:\n" FLOOD("3"));
    assert_true(drops_of(&rig, 3) > 0);
    for (uint32_t i = 0; i < rig.results->n_drops; i++)
        assert_true(rig.results->drops[i].first_at > 100 * XOFF_US);
    assert_true(rig_metric(&rig, "dcbx.peers") == 0);
    rig_assert_clean(&rig);
    rig_fini(&rig);
}

/* A link that fails forgets its peer; repaired, it agrees anew, and loses nothing after that. */
static void a_repaired_link_agrees_anew(void **state)
{
    (void)state;
    struct rig rig;
    rig_run(&rig, NULL, "%s",
            STAR "dcbx:\n"
                 "  - {at: s0, pfc: [3]}\n"
                 "  - {at: hosts, pfc: [], willing: pfc}\n"
                 "links: [{link: h1-s0, at: 100us, fail: true}, {link: h1-s0, at: 150us, repair: "
                 "true}]\n"
                 "traffic:\n" FLOOD("3"));
    assert_true(rig_metric(&rig, "dcbx.peers") == 6);
    assert_true(rig_metric(&rig, "dcbx.changes") ==
                5); /* taken three times, lost and taken again */
    rig_assert_clean(&rig);
    rig_fini(&rig);
}

/* Priority 3 has PFC in every entry; what is said of priority 4, of ETS and of willingness changes
 * at random times. Nothing of priority 3 may be lost. */
static void random_changes_never_lose_what_stays_lossless(void **state)
{
    (void)state;
    uint64_t lost = 0;
    for (uint64_t seed = 1; seed <= 30; seed++) {
        struct xoff_rng rng;
        xoff_rng_init(&rng, seed, 0, 0);
        char entries[4096];
        size_t n = 0;
        for (int host = -1; host < 3; host++)
            for (int k = 0; k < 5; k++) {
                const unsigned from = k ? (unsigned)xoff_rng_below(&rng, 350) : 0;
                const unsigned share = 10 + (unsigned)xoff_rng_below(&rng, 80);
                char at[8];
                snprintf(at, sizeof at, host < 0 ? "s0" : "h%d", host);
                n += (size_t)snprintf(
                    entries + n, sizeof entries - n,
                    "  - {at: %s, from: %uus, pfc: [3%s], ets: [0: %u, 3: %u], recommend: same, "
                    "willing: [%s]}\n",
                    at, from, xoff_rng_below(&rng, 2) ? ", 4" : "", share, 100 - share,
                    xoff_rng_below(&rng, 2) ? "pfc, ets" : "pfc");
            }
        assert_true(n < sizeof entries);
        struct rig rig;
        const struct rig_options options = {.n_threads = 1 + (uint32_t)(seed % 2)};
        rig_run(&rig, &options, "seed: %u\n%sdcbx:\n%straffic:\n%s%s", (unsigned)seed, STAR,
                entries, FLOOD("3"), FLOOD("4"));
        if (drops_of(&rig, 3))
            print_message("seed %u\n", (unsigned)seed);
        assert_int_equal(drops_of(&rig, 3), 0);
        lost += drops_of(&rig, 4);
        rig_assert_clean(&rig);
        rig_fini(&rig);
    }
    assert_true(lost > 0); /* so that the flood is one */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(willing_hosts_take_the_switch_over),
        cmocka_unit_test(unwilling_ports_stay_apart),
        cmocka_unit_test(the_tie_goes_by_address),
        cmocka_unit_test(a_change_loses_nothing_that_stays_lossless),
        cmocka_unit_test(ets_comes_into_force),
        cmocka_unit_test(a_recommendation_holds_for_its_port),
        cmocka_unit_test(forwarded_frames_make_several_peers),
        cmocka_unit_test(configuration_is_pushed_down),
        cmocka_unit_test(baseline_and_ieee_do_not_understand_each_other),
        cmocka_unit_test(fcoe_waits_for_a_lossless_link),
        cmocka_unit_test(a_shutdown_ends_what_was_agreed),
        cmocka_unit_test(a_repaired_link_agrees_anew),
        cmocka_unit_test(random_changes_never_lose_what_stays_lossless),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
