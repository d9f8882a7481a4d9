/* Path choices in whole networks: one of the test's own, the least occupied of the equal-cost
 * ports, which is shown candidates, their queues and their links as they are; adaptive load
 * balancing and flowlets, on every fabric.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <xoff/registry.h>

#include "support/rig.h"

#define PRIORITY 3
#define SPINES 4
#define HOSTS 8 /* of each leaf */

static int least_configure(const void *params, const struct xoff_path_env *env, void *cfg,
                           struct xoff_path_shape *shape, struct xoff_err *err)
{
    (void)params, (void)err;
    /* One word for the switch and one for each port. */
    memset(cfg, 0xff, sizeof(uint32_t) * (1 + env->n_ports));
    *shape = (struct xoff_path_shape){.state_size = sizeof(uint32_t), .sees_egress = true};
    memcpy(shape->counts, env->ahead, sizeof shape->counts);
    return 0;
}

/* Of ports that are up the one with the shortest queue; among equals the next in turn. */
static uint32_t least_choose(const void *cfg, void *state, const struct xoff_path_frame *frame,
                             xoff_time now)
{
    uint32_t *turn = state;
    (void)cfg, (void)now;
    if (frame->n < 2 || !frame->egress || frame->draw)
        abort();
    const uint32_t start = (*turn)++ % frame->n;
    uint32_t best = start;
    for (uint32_t k = 0; k < frame->n; k++) {
        const uint32_t i = (start + k) % frame->n;
        const struct xoff_path_port *a = &frame->egress[i], *b = &frame->egress[best];
        if (!a->is_up)
            continue;
        if (!b->is_up || a->queue_bytes < b->queue_bytes)
            best = i;
    }
    return best;
}

static const struct xoff_param no_params[] = {{0}};
static const struct xoff_path_ops least = {.name = "least",
                                           .summary = "shortest queue",
                                           .params = no_params,
                                           .cfg_size = sizeof(uint32_t),
                                           .cfg_port_size = sizeof(uint32_t),
                                           .configure = least_configure,
                                           .choose = least_choose};

static const char *const fabric_names[] = {"shared", "output-queued", "cioq"};

static void adjust(const void *context, struct net_spec *spec, struct net_switch *kinds,
                   struct net_transport *transports)
{
    (void)spec, (void)transports;
    if (context)
        kinds->path = context;
}

/* With `path` NULL the network has the path choice of `set`, which is of the form key: value, ...
 */
static void run_set(struct rig *rig, const struct xoff_path_ops *path, const char *set,
                    uint32_t n_threads, const char *more)
{
    const struct rig_options options = {.n_threads = n_threads,
                                        .cell_bound = n_threads > 1 ? 0 : XOFF_PARAM_AUTO,
                                        .adjust = adjust,
                                        .adjust_context = path};
    rig_run(rig, &options,
            "stop: 1ms\nreroute_after: never\n"
            "topology: {kind: leaf-spine, leaves: 2, spines: %u, hosts_per_leaf: %u,\n"
            "  host_link: {rate: 100Gbps, delay: 1us}, fabric_link: {rate: 200Gbps}}\n"
            "switch: {buffer: 16MB, %s}\npriorities: {3: {lossless: true}}\ntransport: datagram\n%s"
            "traffic: [{kind: flows, priority: 3, list: [\n"
            "  {from: h0, to: h8, size: 1MB}, {from: h1, to: h9, size: 1MB},\n"
            "  {from: h2, to: h10, size: 1MB}, {from: h3, to: h11, size: 1MB},\n"
            "  {from: h4, to: h12, size: 1MB}, {from: h5, to: h13, size: 1MB},\n"
            "  {from: h6, to: h14, size: 1MB}, {from: h7, to: h15, size: 1MB}]}]\n",
            SPINES, HOSTS, set, more);
}

static void run(struct rig *rig, const struct xoff_path_ops *path, uint32_t n_threads,
                const char *more)
{
    run_set(rig, path, "fabric: shared", n_threads, more);
}

struct uplinks {
    uint64_t most_bytes, least_bytes;
    int64_t peak_bytes;
};

static struct uplinks uplinks_of(const struct rig *rig)
{
    struct uplinks u = {.least_bytes = UINT64_MAX};
    for (uint32_t s = 0; s < SPINES; s++) {
        char spine[16];
        snprintf(spine, sizeof spine, "spine%u", s);
        const struct result_queue *q = &rig_port(rig, "leaf0", spine)->queue[PRIORITY];
        u.most_bytes = q->tx_bytes > u.most_bytes ? q->tx_bytes : u.most_bytes;
        u.least_bytes = q->tx_bytes < u.least_bytes ? q->tx_bytes : u.least_bytes;
        u.peak_bytes = q->queue_peak_bytes > u.peak_bytes ? q->queue_peak_bytes : u.peak_bytes;
    }
    return u;
}

/* Eight flows of 1 MB over four links, each as fast as two hosts'. By hash more than two meet on
 * one of them, and a queue grows until hosts are paused; by occupancy the links carry the same
 * within a frame per flow, and no queue gets longer than a frame of each host. */
static void the_shortest_queue_balances(void **state)
{
    (void)state;
    struct rig rig;
    run(&rig, xoff_path_find("ecmp"), 1, "");
    print_message("by hash: %lld B queued at most\n", (long long)uplinks_of(&rig).peak_bytes);
    assert_true(uplinks_of(&rig).peak_bytes > 300000);
    rig_assert_clean(&rig);
    rig_fini(&rig);
    uint64_t digest = 0;
    for (uint32_t threads = 1; threads <= 4; threads *= 2) {
        run(&rig, &least, threads, "");
        const struct uplinks u = uplinks_of(&rig);
        assert_true(u.most_bytes - u.least_bytes <= HOSTS * 1518);
        assert_true(u.peak_bytes <= HOSTS * 1518);
        for (uint64_t f = 0; f < rig.results->n_flows; f++)
            assert_int_equal(rig.results->flows[f].delivered_bytes, 1000000);
        rig_assert_clean(&rig);
        assert_true(threads == 1 || rig.results->digest == digest);
        digest = rig.results->digest;
        rig_fini(&rig);
    }
}

static uint64_t lost_at_leaf(const struct rig *rig)
{
    uint64_t frames = 0;
    for (uint32_t i = 0; i < rig->results->n_drops; i++)
        if (rig->results->drops[i].node == rig_node(rig, "leaf0")) {
            assert_int_equal(rig->results->drops[i].cause, RESULT_DROP_LINK_DOWN);
            frames += rig->results->drops[i].frames;
        }
    return frames;
}

/* All uplinks but one fail before the first frame, and routing does not learn of it: by hash most
 * frames are lost at the leaf, who sees links loses none. */
static void a_link_that_is_down_is_seen(void **state)
{
    (void)state;
    static const char failures[] = "links: [{link: leaf0-spine0, at: 1ns, fail: true},\n"
                                   "  {link: leaf0-spine1, at: 1ns, fail: true},\n"
                                   "  {link: leaf0-spine3, at: 1ns, fail: true}]\n";
    struct rig rig;
    run(&rig, xoff_path_find("scatter"), 1, failures);
    assert_true(lost_at_leaf(&rig) > 2000);
    rig_assert_clean(&rig);
    rig_fini(&rig);
    run(&rig, &least, 1, failures);
    assert_int_equal(lost_at_leaf(&rig), 0);
    assert_true(rig_port(&rig, "leaf0", "spine2")->queue[PRIORITY].tx_bytes > 8000000);
    rig_assert_clean(&rig);
    rig_fini(&rig);
}

/* Eight senders fill four links exactly, so a queue grows only by chance, and a port with a queue
 * of 4 KB is avoided while another has less: no queue grows beyond 4 KB and a frame from each host.
 * By the draw alone (scatter) a queue is a random walk and gets longer. */
static void adaptive_keeps_queues_in_the_best_band(void **state)
{
    (void)state;
    struct rig rig;
    run(&rig, xoff_path_find("scatter"), 1, "");
    assert_true(uplinks_of(&rig).peak_bytes > 4000 + HOSTS * 1518);
    rig_fini(&rig);
    for (uint32_t i = 0; i < 3; i++) {
        char set[100];
        uint64_t digest = 0;
        snprintf(set, sizeof set, "fabric: %s, path: {kind: adaptive, low: 4KB, high: 8KB}",
                 fabric_names[i]);
        for (uint32_t threads = 1; threads <= 4; threads *= 2) {
            run_set(&rig, NULL, set, threads, "");
            const struct uplinks u = uplinks_of(&rig);
            assert_true(u.peak_bytes > 0 && u.peak_bytes <= 4000 + HOSTS * 1518);
            assert_true(u.most_bytes - u.least_bytes < u.most_bytes / 20);
            for (uint64_t f = 0; f < rig.results->n_flows; f++)
                assert_int_equal(rig.results->flows[f].delivered_bytes, 1000000);
            rig_assert_clean(&rig);
            assert_true(threads == 1 || rig.results->digest == digest);
            digest = rig.results->digest;
            rig_fini(&rig);
        }
    }
}

static void adaptive_sees_links_that_are_down(void **state)
{
    (void)state;
    static const char failures[] = "links: [{link: leaf0-spine0, at: 1ns, fail: true},\n"
                                   "  {link: leaf0-spine1, at: 1ns, fail: true},\n"
                                   "  {link: leaf0-spine3, at: 1ns, fail: true}]\n";
    struct rig rig;
    run_set(&rig, NULL, "path: adaptive", 1, failures);
    assert_int_equal(lost_at_leaf(&rig), 0);
    assert_true(rig_port(&rig, "leaf0", "spine2")->queue[PRIORITY].tx_bytes > 8000000);
    rig_assert_clean(&rig);
    rig_fini(&rig);
}

/* h0 and h1 fill the queue of priority 5 at spine0's port, the only one that is stated for them; h2
 * sends priority 1 at a tenth of a link. Under strict priorities all that waits at spine0's port
 * goes before h2's frames, which therefore take spine1. By weight (drr) priority 5 is not ahead of
 * them, and they take both. */
static void bytes_of_higher_priorities_count(void **state)
{
    (void)state;
    static const char *const schedulers[] = {"strict", "drr"};
    for (uint32_t i = 0; i < 2; i++) {
        struct rig rig;
        rig_run(&rig, NULL,
                "stop: 1ms\n"
                "topology: {kind: leaf-spine, leaves: 2, spines: 2, hosts_per_leaf: 4,\n"
                "  host_link: {rate: 10Gbps, delay: 1us}}\n"
                "switch: {buffer: 16MB, pause: none, scheduler: %s,\n"
                "  path: {kind: adaptive, low: 16KB, high: 32KB}}\n"
                "transport: datagram\n"
                "routes: [{on: leaf0, to: h4..h5, via: spine0}]\n"
                "traffic:\n"
                "- {kind: cbr, from: h0, to: h4, priority: 5}\n"
                "- {kind: cbr, from: h1, to: h5, priority: 5}\n"
                "- {kind: cbr, from: h2, to: h6, rate: 1Gbps, priority: 1, start: 100us}\n",
                schedulers[i]);
        const uint64_t by_0 = rig_port(&rig, "leaf0", "spine0")->queue[1].tx_frames;
        const uint64_t by_1 = rig_port(&rig, "leaf0", "spine1")->queue[1].tx_frames;
        assert_true(by_0 + by_1 > 70);
        if (i == 0)
            assert_int_equal(by_0, 0);
        else
            assert_true(by_0 > 20 && by_1 > 20);
        rig_assert_clean(&rig);
        rig_fini(&rig);
    }
}

/* Counts the uplinks that frames of the one flow h0 to h8 took. */
static uint32_t paths_used(const char *gap, uint64_t *digest, uint32_t n_threads)
{
    const struct rig_options options = {.n_threads = n_threads,
                                        .cell_bound = n_threads > 1 ? 0 : XOFF_PARAM_AUTO};
    struct rig rig;
    uint32_t n = 0;
    rig_run(&rig, &options,
            "stop: 1ms\n"
            "topology: {kind: leaf-spine, leaves: 2, spines: 4, hosts_per_leaf: 8,\n"
            "  host_link: {rate: 100Gbps, delay: 1us}}\n"
            "switch: {path: {kind: flowlet, gap: %s}}\ntransport: datagram\n"
            "traffic: [{kind: cbr, from: h0, to: h8, rate: 1Gbps, priority: 3}]\n",
            gap);
    for (uint32_t s = 0; s < SPINES; s++) {
        char spine[16];
        snprintf(spine, sizeof spine, "spine%u", s);
        n += rig_port(&rig, "leaf0", spine)->queue[PRIORITY].tx_frames > 0;
    }
    rig_assert_clean(&rig);
    *digest = rig.results->digest;
    rig_fini(&rig);
    return n;
}

/* A frame of 1518 B at 1 Gb/s of MAC frames every 12.144 us. */
static void a_gap_makes_a_flowlet(void **state)
{
    (void)state;
    uint64_t digest, again;
    assert_int_equal(paths_used("12.144us", &digest, 1), 1);
    assert_int_equal(paths_used("12.143us", &digest, 1), SPINES);
    assert_int_equal(paths_used("12.143us", &again, 2), SPINES);
    assert_true(digest == again);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_shortest_queue_balances),
        cmocka_unit_test(a_link_that_is_down_is_seen),
        cmocka_unit_test(adaptive_keeps_queues_in_the_best_band),
        cmocka_unit_test(adaptive_sees_links_that_are_down),
        cmocka_unit_test(bytes_of_higher_priorities_count),
        cmocka_unit_test(a_gap_makes_a_flowlet),
    };
    return cmocka_run_group_tests_name("path", tests, NULL, NULL);
}
