/* Congestion-aware PFC in whole networks: nothing is lost where PFC loses nothing, only ports that
 * sent to a long queue are paused by it, and the deadlock detector follows its signals. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <xoff/rng.h>
#include <xoff/units.h>

#include "support/rig.h"

#define PRIORITY 3

static const char *const policies[] = {
    "select: max",
    "select: calibrate",
    "select: calibrate, cut: 1",
    "select: max, departures: true",
    "select: calibrate, cut: 0, departures: true",
};
static const char *const mmus[] = {
    "{kind: sih, alpha: 1/32}",
    "{kind: dsh, alpha: 1/32}",
    "{kind: static, xoff: 30KB, xon: 20KB}",
};
static const char *const fabric_names[] = {"shared", "output-queued", "cioq",
                                           "{kind: pipeline, egress_queue: 1MB}"};

/* Two switches with links of mixed speeds and delays, one or two lossless priorities, storms of
 * incast and random traffic. The caller frees the text. */
static char *storm(uint32_t round, const char *fabric)
{
    enum { HOSTS = 6, LINKS = HOSTS + 1 };
    static const uint32_t gbps[] = {1, 10, 25, 40};
    static const uint32_t delays_ns[] = {0, 100, 1000, 2000};
    struct xoff_rng rng;
    char links[1024];
    size_t n = 0;
    xoff_rng_init(&rng, 43, round, 0);
    for (uint32_t i = 0; i < LINKS; i++) {
        char end[8] = "s0";
        if (i < HOSTS)
            snprintf(end, sizeof end, "h%u", i);
        n += (size_t)snprintf(links + n, sizeof links - n,
                              "{endpoints: [%s, s%u], rate: %uGbps, delay: %uns}%s", end,
                              i < HOSTS ? i / 3 : 1, gbps[xoff_rng_below(&rng, 4)],
                              delays_ns[xoff_rng_below(&rng, 4)], i + 1 < LINKS ? ", " : "");
    }
    const int64_t xoff = 4000 + (int64_t)xoff_rng_below(&rng, 80000);
    const int64_t xon = (int64_t)xoff_rng_below(&rng, (uint64_t)xoff);
    const int64_t warn = xon + (int64_t)xoff_rng_below(&rng, (uint64_t)(xoff - xon));
    const uint32_t to = (uint32_t)xoff_rng_below(&rng, HOSTS);
    char *text = NULL;
    assert_true(
        asprintf(
            &text,
            "seed: %u\nstop: 400us\ndrain: 0s\n"
            "topology: {kind: custom, nodes: {h0: host, h1: host, h2: host, h3: host, h4: host,\n"
            "  h5: host, s0: switch, s1: switch}, links: [%s]}\n"
            "switch: {buffer: 1MB, fabric: %s, processing_delay: %uns, mmu: %s,\n"
            "  pause: {kind: capfc, %s, xon: %lldB, warn: %lldB, xoff: %lldB}}\n"
            "priorities: {3: {lossless: true}, 4: {lossless: %s}}\n"
            "traffic:\n"
            "- {kind: cbr, to: h%u, priority: 3}\n"
            "- {kind: onoff, burst: 20us, idle: 20us, priority: 4}\n"
            "- {kind: poisson, load: 0.4, sizes: uniform 100B 40KB, priority: 3}\n"
            "- {kind: bernoulli, load: 0.2, frame: 200B, priority: 0}\n",
            round, links, fabric, round % 2 * 150, mmus[round % 3], policies[round % 5],
            (long long)xon, (long long)warn, (long long)xoff, round % 2 ? "true" : "false",
            to) > 0);
    return text;
}

static void run_storm(struct rig *rig, uint32_t round, const char *fabric)
{
    char *text = storm(round, fabric);
    rig_run(rig, NULL, "%s", text);
    free(text);
}

/* Returns how long egress queues of a pipeline may become by the warnings of a storm, of those that
 * have `limit` bytes; 0: nothing is warned about. */
static long long warned_bytes(uint32_t round, long long limit)
{
    char fabric[64];
    snprintf(fabric, sizeof fabric, "{kind: pipeline, egress_queue: %lldB}", limit);
    char *text = storm(round, fabric);
    struct xoff_err err = {0};
    struct scenario *scenario = NULL;
    struct built *built = NULL;
    const struct build_options options = {.n_threads = 1, .cell_bound = XOFF_PARAM_AUTO};
    assert_int_equal(scenario_read_text("test", text, strlen(text), NULL, 0, &scenario, &err), 0);
    if (build_create(scenario->plans[0], &options, &built, &err))
        fail_msg("%s: %s\n%s", err.subject, err.message, text);
    long long most = 0;
    for (uint32_t i = 0; i < built->n_warnings; i++) {
        const char *figure = strstr(built->warnings[i].message, "can come to ");
        assert_non_null(figure);
        const long long bytes = strtoll(figure + strlen("can come to "), NULL, 10);
        most = bytes > most ? bytes : most;
    }
    build_destroy(built);
    scenario_destroy(scenario);
    free(text);
    return most;
}

static void nothing_is_lost(void **state)
{
    (void)state;
    uint64_t n_by_egress = 0, n_by_ingress = 0;
    for (uint32_t round = 0; round < 60; round++) {
        struct rig rig;
        run_storm(&rig, round, fabric_names[round / 3 % 4]);
        const struct results *r = rig.results;
        if (rig_metric(&rig, "drops.lossless") > 0)
            fail_msg("round %u: %g lossless frames lost", round,
                     rig_metric(&rig, "drops.lossless"));
        for (uint64_t i = 0; i < r->n_pauses; i++) {
            const struct result_pause *p = &r->pauses[i];
            if (!p->pause || p->node < 6)
                continue;
            assert_true(p->occupied_bytes >= p->threshold_bytes);
            n_by_egress += p->unit == XOFF_UNIT_EGRESS;
            n_by_ingress += p->unit != XOFF_UNIT_EGRESS;
        }
        rig_assert_clean(&rig);
        rig_fini(&rig);
    }
    assert_true(n_by_egress > 300);
    assert_true(n_by_ingress > 30);
}

/* Egress queues as long as the warning about shorter ones says: it is given no longer, and nothing
 * is lost. With a third of that some storms do lose frames, which are counted at the egress. */
static void queues_that_are_long_enough(void **state)
{
    (void)state;
    uint32_t n_lost = 0;
    for (uint32_t round = 0; round < 20; round++) {
        const long long bytes = warned_bytes(round, 90000);
        if (!bytes)
            continue;
        assert_true(bytes > 90000);
        assert_int_equal(warned_bytes(round, bytes), 0);
        assert_int_equal(warned_bytes(round, bytes - 1), bytes);
        for (uint32_t k = 0; k < 2; k++) {
            const long long limit = k && bytes / 3 > 85000 ? bytes / 3 : k ? 85000 : bytes;
            char fabric[64];
            struct rig rig;
            snprintf(fabric, sizeof fabric, "{kind: pipeline, egress_queue: %lldB}", limit);
            run_storm(&rig, round, fabric);
            const double lost = rig_metric(&rig, "drops.lossless");
            if (!k && lost > 0)
                fail_msg("round %u: %g lost in queues of %lld B", round, lost, limit);
            n_lost += k && rig_metric(&rig, "drops.egress") > 0;
            rig_fini(&rig);
        }
    }
    assert_true(n_lost > 0);
}

/* h1 and h2 fill the queue to h0, h3 sends it a hundredth of the link, h4 sends at line rate to h5.
 * Of what comes between WARN and XOFF, some hundred frames, most is of h1 and h2. */
static void only_contributors_are_paused(void **state)
{
    (void)state;
    for (uint32_t is_max = 0; is_max < 2; is_max++) {
        struct rig rig;
        rig_run(&rig, NULL,
                "stop: 2ms\ndrain: 0s\n"
                "topology: {kind: star, hosts: 6, host_link: {rate: 10Gbps, delay: 1us}}\n"
                "switch: {buffer: 4MB, mmu: {kind: sih, alpha: 16},\n"
                "  pause: {kind: capfc, select: %s, xon: 50KB, xoff: 250KB}}\n"
                "priorities: {3: {lossless: true}}\n"
                "traffic:\n"
                "- {kind: cbr, from: h1..h2, to: h0, priority: 3}\n"
                "- {kind: cbr, from: h3, to: h0, rate: 100Mbps, priority: 3}\n"
                "- {kind: cbr, from: h4, to: h5, priority: 3}\n",
                is_max ? "max" : "calibrate");
        const struct results *r = rig.results;
        uint64_t n[6] = {0};
        for (uint64_t i = 0; i < r->n_pauses; i++) {
            assert_int_equal(r->pauses[i].unit, XOFF_UNIT_EGRESS);
            assert_int_equal(r->pauses[i].egress_port, 0);
            n[r->pauses[i].port] += r->pauses[i].pause;
        }
        assert_true(n[1] + n[2] > 5);
        assert_int_equal(n[0] + n[3] + n[4] + n[5], 0);
        assert_int_equal(rig_port(&rig, "h3", "s0")->queue[PRIORITY].paused_for, 0);
        assert_int_equal(rig_port(&rig, "h4", "s0")->queue[PRIORITY].paused_for, 0);
        assert_true(rig_port(&rig, "h1", "s0")->queue[PRIORITY].paused_for +
                        rig_port(&rig, "h2", "s0")->queue[PRIORITY].paused_for >
                    XOFF_MS);
        assert_int_equal(r->n_drops, 0);
        rig_assert_clean(&rig);
        rig_fini(&rig);
    }
}

/* A slow receiver has no egress queue: it pauses as with PFC. */
static void receivers_pause_as_with_pfc(void **state)
{
    (void)state;
    static const char *const pauses[] = {"pfc", "{kind: capfc, xon: 2MB, xoff: 3MB}"};
    uint64_t n_pauses[2];
    for (uint32_t i = 0; i < 2; i++) {
        struct rig rig;
        rig_run(&rig, NULL,
                "stop: 1ms\ndrain: 0s\n"
                "topology: {kind: star, hosts: 2, host_link: {rate: 10Gbps, delay: 1us}}\n"
                "switch: {buffer: 4MB, pause: %s}\n"
                "priorities: {3: {lossless: true}}\n"
                "receivers: [{host: h1, rate: 5Gbps, buffer: 200KB, xoff: 100KB, xon: 50KB}]\n"
                "traffic: [{kind: cbr, from: h0, to: h1, priority: 3}]\n",
                pauses[i]);
        n_pauses[i] = rig.results->n_pauses;
        assert_true(n_pauses[i] > 3);
        assert_int_equal(rig.results->n_drops, 0);
        rig_assert_clean(&rig);
        rig_fini(&rig);
    }
    assert_int_equal(n_pauses[0], n_pauses[1]);
}

/* Four switches whose routes go round: signals of egress queues close the ring, and it is found.
 * With thresholds that no egress queue reaches the ingress state does. */
static void a_ring_is_a_deadlock(void **state)
{
    (void)state;
    static const char *const pauses[] = {"select: max, xon: 40KB, xoff: 60KB",
                                         "select: calibrate, xon: 40KB, xoff: 60KB",
                                         "xon: 1.8MB, xoff: 1.9MB"};
    for (uint32_t i = 0; i < 3; i++) {
        struct rig rig;
        rig_run(&rig, NULL,
                "stop: 4ms\ndrain: 0s\n"
                "topology: {kind: ring, switches: 4, hosts_per_switch: 1,\n"
                "  host_link: {rate: 100Gbps, delay: 1us}}\n"
                "switch: {buffer: 2MB, mmu: {kind: sih, alpha: 1/8}, pause: {kind: capfc, %s}}\n"
                "priorities: {3: {lossless: true}}\n"
                "routes: [{on: s0, to: h2, via: [s1]}, {on: s1, to: h3, via: [s2]},\n"
                "  {on: s2, to: h0, via: [s3]}, {on: s3, to: h1, via: [s0]}]\n"
                "traffic: [{kind: cbr, pattern: shift, shift: 2, priority: 3}]\n",
                pauses[i]);
        assert_int_equal(rig.results->n_deadlocks, 1);
        assert_int_equal(rig.results->deadlocks[0].n, 4);
        assert_int_equal(rig.results->n_drops, 0);
        rig_fini(&rig);
    }
}

/* Traffic in both directions over one link: a queue that paused all its partners would stand still
 * (deadlock_test.c); contributors alone leave no circle, and all flows finish. */
static void both_directions_go_on(void **state)
{
    (void)state;
    for (uint32_t is_max = 0; is_max < 2; is_max++) {
        struct rig rig;
        rig_run(&rig, NULL,
                "stop: 5ms\ndrain: 10ms\n"
                "topology: {kind: dumbbell, left: 2, right: 2,\n"
                "  host_link: {rate: 10Gbps, delay: 1us}}\n"
                "switch: {buffer: 2MB, pause: {kind: capfc, select: %s, xon: 50KB, xoff: 100KB}}\n"
                "priorities: {3: {lossless: true}}\n"
                "traffic:\n"
                "  - {kind: flows, priority: 3, list: [{from: h0, to: h2, size: 2MB},\n"
                "      {from: h1, to: h3, size: 2MB}, {from: h2, to: h0, size: 2MB},\n"
                "      {from: h3, to: h1, size: 2MB}]}\n"
                "deadlock: {after: 500us, stop: true}\n",
                is_max ? "max" : "calibrate");
        assert_int_equal(rig.results->n_deadlocks, 0);
        assert_true(rig_metric(&rig, "flows.finished") == 4);
        assert_true(rig.results->n_pauses > 4);
        rig_assert_clean(&rig);
        rig_fini(&rig);
    }
}

/* The switch of the paper, whose egress queues have 60 KB each: h1 to h4 send to h0. Pauses at 25
 * KB leave room for what still comes, at 55 KB they do not, and what overflows is counted as lost
 * at the egress. Ingress queues stay short: they pause nobody. */
static void pipelines_overflow_if_pauses_are_late(void **state)
{
    (void)state;
    for (uint32_t is_late = 0; is_late < 2; is_late++)
        for (uint32_t is_max = 0; is_max < 2; is_max++) {
            struct rig rig;
            rig_run(&rig, NULL,
                    "stop: 8ms\ndrain: 0s\n"
                    "topology: {kind: star, hosts: 6, host_link: {rate: 1Gbps, delay: 1us}}\n"
                    "switch: {buffer: 1MB, processing_delay: 25us,\n"
                    "  fabric: {kind: pipeline, packet_rate: 1M, egress_queue: 60KB},\n"
                    "  mmu: {kind: static, xoff: 50KB, xon: 40KB},\n"
                    "  pause: {kind: capfc, select: %s, xon: %uKB, xoff: %uKB}}\n"
                    "priorities: {3: {lossless: true}, 4: {lossless: true}}\n"
                    "traffic:\n"
                    "- {kind: incast, from: h1..h4, to: h0, size: 150KB, at: 1ms, priority: 3}\n"
                    "- {kind: cbr, from: h5, to: h1, rate: 100Mbps, priority: 4}\n",
                    is_max ? "max" : "calibrate", is_late ? 50 : 20, is_late ? 55 : 25);
            const struct results *r = rig.results;
            for (uint64_t i = 0; i < r->n_pauses; i++) {
                assert_int_equal(r->pauses[i].unit, XOFF_UNIT_EGRESS);
                assert_int_equal(r->pauses[i].egress_port, 0);
                assert_true(r->pauses[i].port >= 1 && r->pauses[i].port <= 4);
            }
            assert_true(r->n_pauses > 8);
            assert_int_equal(rig_metric(&rig, "drops.egress") > 0, is_late);
            assert_true(rig_metric(&rig, "drops") == rig_metric(&rig, "drops.egress"));
            if (!is_late)
                rig_assert_clean(&rig);
            rig_fini(&rig);
        }
}

/* Pipelines that stop although CaPFC pauses, since it does so too late: traffic of one priority
 * goes right, of another left, and both switches wait for the other. The ingress queue that holds a
 * port and the egress queue that stops the pipeline have different priorities. */
static void stopped_pipelines_of_two_priorities(void **state)
{
    (void)state;
    static const char *const pauses[] = {"kind: pfc", "kind: capfc, xon: 40KB, xoff: 59KB"};
    for (uint32_t i = 0; i < 2; i++) {
        struct rig rig;
        rig_run(
            &rig, NULL,
            "stop: 5ms\ndrain: 5ms\n"
            "topology: {kind: dumbbell, left: 6, right: 6,\n"
            "  host_link: {rate: 10Gbps, delay: 10us}, fabric_link: {rate: 10Gbps, delay: 1us}}\n"
            "switch: {buffer: 6MB, processing_delay: 2us, mmu: {kind: static, xoff: 50KB},\n"
            "  fabric: {kind: pipeline, full: stop, egress_queue: 60KB}, pause: {%s}}\n"
            "priorities: {3: {lossless: true}, 4: {lossless: true}}\n"
            "traffic:\n"
            "- {kind: cbr, from: h0..h5, to: h6, priority: 3}\n"
            "- {kind: cbr, from: h6..h11, to: h0, priority: 4}\n",
            pauses[i]);
        const struct results *r = rig.results;
        assert_int_equal(r->n_deadlocks, 1);
        assert_int_equal(r->deadlocks[0].n, 2);
        assert_int_not_equal(r->deadlock_ports[0].priority, r->deadlock_ports[1].priority);
        assert_int_equal(r->n_drops, 0);
        rig_fini(&rig);
    }
}

/* A port that is held twice. Routes go round s0, s1, s2. s0's pipeline is stopped for s1 by
 * priority 4, and frames of priority 3 from s2 wait at its input; s1 is stopped for s2, and s2 for
 * s0. h3 stands still, so that priority 3 waits in (s0, s1), below XOFF. At 2 ms h4, which stood
 * still, goes on: a few frames leave s0 and as many take their place, then s0 is stopped again. The
 * frames of priority 3 among them bring (s0, s1) to XOFF: it asks for a pause of s2, which the
 * ingress holds as well. The queue that asks leads to h3 only; the pipeline closes the circle. */
static void a_stopped_pipeline_and_its_port_hold_an_input(void **state)
{
    (void)state;
    struct rig rig;
    rig_run(&rig, NULL,
            "stop: 4ms\ndrain: 4ms\ndeadlock: {after: 1ms}\n"
            "topology: {kind: ring, switches: 3, hosts_per_switch: 3,\n"
            "  host_link: {rate: 10Gbps, delay: 5us}, fabric_link: {rate: 10Gbps, delay: 1us}}\n"
            "switch: {buffer: 6MB, mmu: {kind: static, xoff: 20KB, xon: 2KB},\n"
            "  fabric: {kind: pipeline, full: stop, egress_queue: 70KB},\n"
            "  pause: {kind: capfc, xon: 20KB, xoff: 54KB}}\n" /* 36 frames of 1518 B */
            "priorities: {3: {lossless: true}, 4: {lossless: true}}\n"
            "transport: datagram\n"
            "receivers:\n"
            "- {host: h3, rate: 0bps, buffer: 200KB, xoff: 3KB, xon: 1KB}\n"
            "- {host: h4, rate: \"0bps, 2ms: 10Gbps\", buffer: 200KB, xoff: 3KB, xon: 1KB}\n"
            "routes: [{on: s2, to: h3, via: [s0]}, {on: s0, to: h7, via: [s1]}]\n"
            "traffic:\n"
            "- {kind: incast, from: h6, to: h3, size: 120848B, at: 0s, priority: 3}\n"
            "- {kind: incast, from: h0, to: h4, size: 75712B, at: 200us, priority: 4}\n"
            "- {kind: incast, from: h1..h2, to: h7, size: 300KB, at: 400us, priority: 4}\n"
            "- {kind: incast, from: \"h6,h8\", to: h3, size: 300KB, at: 700us, priority: 3}\n"
            "- {kind: incast, from: h4..h5, to: h7, size: 300KB, at: 1ms, priority: 4}\n"
            "- {kind: incast, from: h0, to: h7, size: 300KB, at: 2040us, priority: 4}\n");
    const struct results *r = rig.results;
    assert_true(rig_port(&rig, "s0", "s1")->queue[3].queue_peak_bytes >= 54000);
    assert_int_equal(r->n_deadlocks, 1);
    assert_int_equal(r->deadlocks[0].n, 3);
    for (uint32_t i = 0; i < 3; i++) {
        const bool is_s2 = r->deadlock_ports[i].node == rig_node(&rig, "s2");
        assert_int_equal(r->deadlock_ports[i].priority, is_s2 ? 3 : 4);
    }
    assert_int_equal(r->n_drops, 0);
    rig_fini(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_lost),
        cmocka_unit_test(queues_that_are_long_enough),
        cmocka_unit_test(only_contributors_are_paused),
        cmocka_unit_test(receivers_pause_as_with_pfc),
        cmocka_unit_test(a_ring_is_a_deadlock),
        cmocka_unit_test(both_directions_go_on),
        cmocka_unit_test(pipelines_overflow_if_pauses_are_late),
        cmocka_unit_test(stopped_pipelines_of_two_priorities),
        cmocka_unit_test(a_stopped_pipeline_and_its_port_hold_an_input),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
