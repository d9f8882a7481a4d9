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

static char *draw(uint64_t seed)
{
    static const char *const topologies[] = {
        "fat-tree, k: 4", "star, hosts: 12",
        "leaf-spine, leaves: 3, spines: 2, hosts_per_leaf: 4, fabric_link: {rate: 600Mbps}"};
    static const char *const delays[] = {"1us", "100ns", "3us"};
    static const char *const processing[] = {"25us", "12.7us", "40us"};
    static const char *const paths[] = {"adaptive", "ecmp", "scatter", "flowlet"};
    static const char *const rates[] = {"1M", "auto", "250k", "140k", "300001"};
    static const char *const egress[] = {"80KB", "20KB"};
    static const uint32_t xoff[] = {16, 22, 30, 50};
    static const char *const marks[] = {"none", "{kind: step, k: 5KB}", "{kind: step, k: 20KB}"};
    static const char *const measures[] = {"", "measure: {every: 50us}\n",
                                           "measure: {every: 7us}\n"};
    static const char *const more[] = {
        "", ", {kind: incast, from: h1..h6, to: h0, size: 60KB, at: 500us, priority: 3}",
        ", {kind: poisson, load: 0.2, sizes: 3KB, priority: 5}"};
    struct xoff_rng rng;
    char *out = NULL;
    xoff_rng_init(&rng, seed, 1, 2);
    const uint32_t xoff_kb = OF(xoff), xon_kb = 3 + (uint32_t)xoff_rng_below(&rng, xoff_kb / 2);
    assert_true(
        asprintf(&out,
                 "seed: %llu\nstop: 2ms\ndrain: %ums\n"
                 "topology: {kind: %s, host_link: {rate: 1Gbps, delay: %s}}\n"
                 "switch:\n"
                 "  buffer: 2MB\n"
                 "  processing_delay: %s\n"
                 "  path: %s\n"
                 "  fabric: {kind: pipeline, packet_rate: %s, egress_queue: %s}\n"
                 "  mmu: {kind: static, xoff: %uKB, xon: %uKB, headroom: 10KB, allow_loss: true}\n"
                 "  marking: %s\n"
                 "transport: tcp\n"
                 "priorities: {3: {lossless: true}}\n"
                 "%s"
                 "traffic: [{kind: poisson, load: 0.%u, sizes: 20KB, priority: %u}%s]\n",
                 (unsigned long long)seed, 3 * (uint32_t)xoff_rng_below(&rng, 2), OF(topologies),
                 OF(delays), OF(processing), OF(paths), OF(rates), OF(egress), xoff_kb, xon_kb,
                 OF(marks), OF(measures), 3 * (1 + (uint32_t)xoff_rng_below(&rng, 3)),
                 3 * (uint32_t)xoff_rng_below(&rng, 2), OF(more)) > 0);
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

static void calm_windows_change_nothing(void **state)
{
    (void)state;
    const uint64_t n = getenv("XOFF_QUICK") ? 40 : 100;
    uint32_t calm = 0, paused = 0, lost = 0;
    for (uint64_t seed = 1; seed <= n; seed++) {
        char *text = draw(seed);
        const struct seen seen = compare(text);
        calm += seen.is_calm;
        paused += seen.is_calm && seen.has_paused;
        lost += seen.is_calm && seen.has_lost;
        free(text);
    }
    print_message("%llu networks: %u with calm windows, of these %u paused and %u lost frames\n",
                  (unsigned long long)n, calm, paused, lost);
    assert_true(calm > n / 2 && paused > 0 && lost > 0);
}

/* A burst from s0 to s1 over a link of 900 us makes s1 pause it. When the burst is over and queues
 * are short again, pause and resume are still on their way: s0 must get them in time. */
static void windows_are_not_calm_while_pauses_travel(void **state)
{
    (void)state;
    const struct seen seen = compare(
        "stop: 5ms\n"
        "topology: {kind: custom, nodes: {h0: host, h1: host, h2: host, h3: host,\n"
        "                                 s0: switch, s1: switch},\n"
        "           links: [{endpoints: [s0, s1], rate: 1Gbps, delay: 900us},\n"
        "                   {endpoints: [h0, s0], rate: 1Gbps, delay: 1us},\n"
        "                   {endpoints: [h1, s0], rate: 1Gbps, delay: 1us},\n"
        "                   {endpoints: [h2, s1], rate: 1Gbps, delay: 1us},\n"
        "                   {endpoints: [h3, s1], rate: 1Gbps, delay: 1us}]}\n"
        "switch: {buffer: 20MB, processing_delay: 25us,\n"
        "         fabric: {kind: pipeline, packet_rate: 100k, egress_queue: 300KB},\n"
        "         mmu: {kind: static, xoff: 22KB, xon: 15KB}}\n"
        "transport: datagram\n"
        "priorities: {3: {lossless: true}}\n"
        "traffic: [{kind: incast, from: h0..h1, to: h2, size: 40KB, at: 10us,\n"
        "           priority: 3},\n"
        "          {kind: incast, from: h3, to: h2, size: 80KB, at: 930us, priority: 3},\n"
        "          {kind: poisson, from: h1, to: h0, load: 0.15, sizes: 1000B, priority: 3}]\n");
    assert_true(seen.is_calm && seen.has_paused);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calm_windows_change_nothing),
        cmocka_unit_test(windows_are_not_calm_while_pauses_travel),
    };
    return cmocka_run_group_tests_name("calm", tests, NULL, NULL);
}
