/* Calm windows (net/calm.c): networks of pipelines give the same digest with and without them.
 *
 * A capture of one port keeps a network from having calm windows and changes nothing else. Ingress
 * queues have thresholds that some networks reach now and then, so that calm windows come and go
 * with pauses. That a network had calm windows shows in its events, of which there are fewer. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <xoff/rng.h>

#include "support/rig.h"

#define OF(choices) choices[xoff_rng_below(&rng, sizeof choices / sizeof *choices)]

/* A window lasts eight frames, 98 us, or up to the next sample. What can arrive from a port in it,
 * and a frame, fits below the XOFF threshold: by how much decides how often windows are calm. */
static char *draw(uint64_t seed)
{
    static const char *const topologies[] = {
        "fat-tree, k: 4", "star, hosts: 12",
        "leaf-spine, leaves: 3, spines: 2, hosts_per_leaf: 4, fabric_link: {rate: 600Mbps}",
        "leaf-spine, leaves: 2, spines: 2, hosts_per_leaf: 4, fabric_link: {rate: 1500Mbps}"};
    static const char *const delays[] = {"1us", "100ns", "3us", "1us", "100ns", "1us, error: 0.01"};
    static const char *const processing[] = {"25us", "12.7us", "40us"};
    static const char *const paths[] = {"adaptive", "ecmp", "scatter", "flowlet"};
    static const char *const rates[] = {"1M", "auto", "250k", "140k", "300001"};
    static const char *const full[] = {"drop", "drop", "drop", "drop", "stop"};
    static const char *const egress[] = {"80KB", "20KB"};
    static const uint32_t room_kb[] = {0, 1, 2, 4, 8, 16, 36};
    static const char *const marks[] = {"none", "{kind: step, k: 5KB}", "{kind: step, k: 20KB}"};
    static const struct {
        const char *key;
        uint32_t xoff_kb;
    } measures[] = {{"", 15},
                    {"measure: {every: 50us}\n", 9},
                    {"measure: {every: 25us}\n", 6},
                    {"measure: {every: 7us}\n", 4}};
    static const char *const more[] = {
        "", ", {kind: incast, from: h1..h6, to: h0, size: 60KB, at: 500us, priority: 3}",
        ", {kind: poisson, load: 0.2, sizes: 3KB, priority: 5}"};
    struct xoff_rng rng;
    char *out = NULL;
    xoff_rng_init(&rng, seed, 1, 2);
    const char *pause = xoff_rng_below(&rng, 8) ? "" : "  pause: pause\n";
    const uint32_t m = (uint32_t)xoff_rng_below(&rng, 3),
                   xoff_kb = measures[m].xoff_kb + OF(room_kb);
    const uint32_t xon_kb = 1 + (uint32_t)xoff_rng_below(&rng, xoff_kb - 1);
    assert_true(
        asprintf(
            &out,
            "seed: %llu\nstop: 2ms\ndrain: %ums\n"
            "topology: {kind: %s, host_link: {rate: 1Gbps, delay: %s}}\n"
            "switch:\n"
            "  buffer: 8MB\n"
            "  processing_delay: %s\n"
            "  path: %s\n"
            "  fabric: {kind: pipeline, packet_rate: %s, full: %s, egress_queue: %s}\n"
            "  mmu: {kind: static, xoff: %uKB, xon: %uKB, headroom: 10KB, egress_limit: %uKB,\n"
            "        allow_loss: true}\n"
            "  marking: %s\n"
            "%s"
            "transport: tcp\n"
            "priorities: {3: {lossless: true}}\n"
            "%s"
            "traffic: [{kind: poisson, load: 0.%u, sizes: 20KB, priority: %u}%s]\n",
            (unsigned long long)seed, 3 * (uint32_t)xoff_rng_below(&rng, 2), OF(topologies),
            OF(delays), OF(processing), OF(paths), OF(rates), OF(full), OF(egress), xoff_kb, xon_kb,
            measures[m].xoff_kb + OF(room_kb), OF(marks), pause, measures[m].key,
            3 * (1 + (uint32_t)xoff_rng_below(&rng, 3)), 3 * (uint32_t)xoff_rng_below(&rng, 2),
            OF(more)) > 0);
    return out;
}

struct seen {
    bool is_calm, has_paused, has_lost;
};

/* Runs a network with and without calm windows. */
static struct seen compare(const char *text)
{
    const struct rig_options ways[] = {
        {.n_threads = 1, .cell_bound = XOFF_PARAM_AUTO},
        {.n_threads = 1, .cell_bound = XOFF_PARAM_AUTO, .capture = "h0"}};
    struct rig rigs[2];
    for (uint32_t i = 0; i < 2; i++)
        rig_run(&rigs[i], &ways[i], "%s", text);
    const struct results *r = rigs[0].results, *without = rigs[1].results;
    bool is_same = r->digest == without->digest && r->end_at == without->end_at;
    for (uint32_t i = 0; i < r->n_buffers; i++) /* peaks are not in the digest */
        is_same &= !memcmp(&r->buffers[i].view, &without->buffers[i].view, sizeof r->buffers->view);
    if (!is_same) {
        fprintf(stderr, "%s", text);
        fail_msg("calm windows have changed the results");
    }
    const struct seen seen = {.is_calm = r->events<without->events, .has_paused = r->n_pauses> 0,
                              .has_lost = r->n_drops > 0};
    for (uint32_t i = 0; i < 2; i++)
        rig_fini(&rigs[i]);
    return seen;
}

/* Compares the networks that are drawn from seeds; enough of them have calm windows. */
static void compare_drawn(char *(*drawn)(uint64_t seed), uint64_t n)
{
    uint32_t calm = 0, paused = 0, lost = 0;
    for (uint64_t seed = 1; seed <= n; seed++) {
        char *text = drawn(seed);
        const struct seen seen = compare(text);
        calm += seen.is_calm;
        paused += seen.is_calm && seen.has_paused;
        lost += seen.is_calm && seen.has_lost;
        free(text);
    }
    print_message("%llu networks: %u with calm windows, of these %u paused and %u lost frames\n",
                  (unsigned long long)n, calm, paused, lost);
    assert_true(calm > n / 5 && paused > n / 40 && lost > 0);
}

static void calm_windows_change_nothing(void **state)
{
    (void)state;
    compare_drawn(draw, getenv("XOFF_QUICK") ? 80 : 250);
}

/* Bursts into a slow pipeline, again and again, with idle time between them: a queue that is short
 * when a window begins is long before it ends, and passes thresholds that lie anywhere between. A
 * window is as short as the time between samples. */
static char *draw_bursts(uint64_t seed)
{
    static const char *const topologies[] = {"star, hosts: 6",
                                             "leaf-spine, leaves: 2, spines: 1, hosts_per_leaf: 3"};
    /* Gates that stay closed, or open late, while buffers are empty already. */
    static const char *const pauses[] = {"kind: pfc", "kind: pfc, quanta: 200",
                                         "kind: pfc, quanta: 90, refresh: false, resume: false"};
    static const char *const ports[] = {"", "port: {response: 90}\n"};
    struct xoff_rng rng;
    char *out = NULL;
    xoff_rng_init(&rng, seed, 1, 3);
    const uint32_t xoff = 3000 + (uint32_t)xoff_rng_below(&rng, 20000);
    const uint32_t every_ns = 5000 + (uint32_t)xoff_rng_below(&rng, seed % 2 ? 150000 : 30000);
    assert_true(
        asprintf(
            &out,
            "seed: %llu\nstop: 3ms\n"
            "topology: {kind: %s, host_link: {rate: 1Gbps, delay: 1us}}\n"
            "switch:\n"
            "  buffer: 8MB\n"
            "  processing_delay: %uus\n"
            "  fabric: {kind: pipeline, packet_rate: %uk, egress_queue: 300KB}\n"
            "  mmu: {kind: static, xoff: %uB, xon: %uB, headroom: 20KB, egress_limit: %uB,\n"
            "        allow_loss: true}\n"
            "  pause: {%s}\n"
            "transport: datagram\n"
            "priorities: {3: {lossless: true}}\n"
            "%s"
            "measure: {every: %uns}\n"
            "traffic: [{kind: incast, from: h3..h%u, to: h0, size: %uB, at: 50us,\n"
            "           every: %uus, count: 20, priority: %u},\n"
            "          {kind: poisson, from: h0..h2, to: h3..h5, load: 0.3, sizes: %uB}]\n",
            (unsigned long long)seed, OF(topologies), 20 + 10 * (uint32_t)xoff_rng_below(&rng, 3),
            40 + (uint32_t)xoff_rng_below(&rng, 160), xoff, (uint32_t)xoff_rng_below(&rng, xoff),
            3000 + (uint32_t)xoff_rng_below(&rng, 20000), OF(pauses), OF(ports), every_ns,
            3 + (uint32_t)xoff_rng_below(&rng, 3), 3000 + (uint32_t)xoff_rng_below(&rng, 25000),
            150 + (uint32_t)xoff_rng_below(&rng, 400), 3 * (uint32_t)xoff_rng_below(&rng, 2),
            300 + 1160 * (uint32_t)xoff_rng_below(&rng, 2)) > 0);
    return out;
}

static void thresholds_are_passed_in_time(void **state)
{
    (void)state;
    compare_drawn(draw_bursts, getenv("XOFF_QUICK") ? 60 : 250);
}

#define STATIC "{kind: static, xoff: 60KB, xon: 50KB, headroom: 20KB, egress_limit: 60KB}"

/* What keeps a network from having calm windows, one at a time. */
static void some_networks_have_no_calm_windows(void **state)
{
    (void)state;
    static const struct {
        const char *host_link, *fabric, *mmu, *rest; /* keys of `switch` come with two spaces */
        bool is_calm;
    } rows[] = {
        {"", "", STATIC, "", true},
        {"", "", STATIC, "  pause: {kind: pfc, quanta: 100}\n", true},
        {"", "", STATIC, "  marking: {kind: step, k: 5KB}\n", true},
        {", error: 0.001", "", STATIC, "", false},
        {"", ", full: stop", STATIC, "", false},
        {"", ", packet_rate: 200M", STATIC, "", false}, /* 5000 frames leave in 25 us */
        {"", "", "two-sided", "", false},
        {"", "", STATIC, "  marking: qcn\n", false},
        {"", "", STATIC, "  marking: fecn\n", false},
        {"", "", STATIC, "  pause: {kind: pfc, trigger: egress, xoff: 8KB, xon: 4KB}\n", false},
        {"", "", STATIC, "  pause: {kind: capfc, xoff: 8KB, xon: 4KB}\n", false},
        {"", "", STATIC, "hops: 3\n", false},
        {"", "", STATIC, "compat: ns3\n", false},
        {"", "", STATIC, "links: [{link: h1-s0, at: 1.5ms, rate: 500Mbps}]\n", false},
        {"", "", STATIC, "receivers: [{host: h0, rate: 300Mbps, buffer: 100KB}]\n", false},
        {"", "", STATIC, "dcbx: [{at: all}]\n", false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char *text = NULL;
        assert_true(asprintf(&text,
                             "stop: 2ms\n"
                             "topology: {kind: star, hosts: 6, host_link: {rate: 1Gbps%s}}\n"
                             "switch:\n"
                             "  buffer: 8MB\n"
                             "  processing_delay: 25us\n"
                             "  fabric: {kind: pipeline%s}\n"
                             "  mmu: %s\n"
                             "%s"
                             "transport: tcp\n"
                             "priorities: {3: {lossless: true}}\n"
                             "traffic: [{kind: poisson, load: 0.5, sizes: 20KB}]\n",
                             rows[i].host_link, rows[i].fabric, rows[i].mmu, rows[i].rest) > 0);
        const struct seen seen = compare(text);
        if (seen.is_calm != rows[i].is_calm)
            fail_msg("%s calm windows:\n%s", seen.is_calm ? "has" : "has no", text);
        free(text);
    }
}

/* Two switches of two hosts each: a burst from s0 to s1 makes s1 pause s0, beside traffic that goes
 * on between h1 and h0. */
static struct seen compare_pair(const char *delay, const char *pause, const char *second_at)
{
    char *text = NULL;
    assert_true(
        asprintf(&text,
                 "stop: 5ms\n"
                 "topology: {kind: custom, nodes: {h0: host, h1: host, h2: host, h3: host,\n"
                 "                                 s0: switch, s1: switch},\n"
                 "           links: [{endpoints: [s0, s1], rate: 1Gbps, delay: %s},\n"
                 "                   {endpoints: [h0, s0], rate: 1Gbps, delay: 1us},\n"
                 "                   {endpoints: [h1, s0], rate: 1Gbps, delay: 1us},\n"
                 "                   {endpoints: [h2, s1], rate: 1Gbps, delay: 1us},\n"
                 "                   {endpoints: [h3, s1], rate: 1Gbps, delay: 1us}]}\n"
                 "switch: {buffer: 20MB, processing_delay: 25us,\n"
                 "         fabric: {kind: pipeline, packet_rate: 100k, egress_queue: 300KB},\n"
                 "         %s}\n"
                 "transport: datagram\n"
                 "priorities: {3: {lossless: true}}\n"
                 "traffic: [{kind: incast, from: h0..h1, to: h2, size: 40KB, at: 10us,\n"
                 "           priority: 3},\n"
                 "          {kind: incast, from: h3, to: h2, size: 80KB, at: %s, priority: 3},\n"
                 "          {kind: poisson, from: h1, to: h0, load: 0.15, sizes: 1000B,\n"
                 "           priority: 3}]\n",
                 delay, pause, second_at) > 0);
    const struct seen seen = compare(text);
    free(text);
    return seen;
}

/* When the burst is over and queues are short again, pause and resume are still on their way over a
 * link of 900 us: s0 must get them in time. */
static void windows_are_not_calm_while_pauses_travel(void **state)
{
    (void)state;
    const struct seen seen =
        compare_pair("900us", "mmu: {kind: static, xoff: 22KB, xon: 15KB}", "930us");
    assert_true(seen.is_calm && seen.has_paused);
}

/* No resume is sent: the gate of s0 opens when the time of the pause has run out, long after the
 * queues of s1 are short again. */
static void windows_are_not_calm_while_gates_are_closed(void **state)
{
    (void)state;
    const struct seen seen =
        compare_pair("1us",
                     "mmu: {kind: static, xoff: 22KB, xon: 8KB},\n"
                     "         pause: {kind: pfc, quanta: 1000, refresh: false, resume: false}",
                     "10us");
    assert_true(seen.is_calm && seen.has_paused);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calm_windows_change_nothing),
        cmocka_unit_test(thresholds_are_passed_in_time),
        cmocka_unit_test(some_networks_have_no_calm_windows),
        cmocka_unit_test(windows_are_not_calm_while_pauses_travel),
        cmocka_unit_test(windows_are_not_calm_while_gates_are_closed),
    };
    return cmocka_run_group_tests_name("calm", tests, NULL, NULL);
}
