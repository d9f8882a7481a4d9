/* A path choice of the test's own in whole networks: the least occupied of the equal-cost ports. It
 * is shown candidates, their queues and their links as they are.
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
    *shape = (struct xoff_path_shape){.state_size = sizeof(uint32_t), .sees_queues = true};
    return 0;
}

/* Of ports that are up the one with the shortest queue; among equals the next in turn. */
static uint32_t least_choose(const void *cfg, void *state, const struct xoff_path_frame *frame,
                             xoff_time now)
{
    uint32_t *turn = state;
    (void)cfg, (void)now;
    if (frame->n < 2 || !frame->queues || frame->draw)
        abort();
    const uint32_t start = (*turn)++ % frame->n;
    uint32_t best = start;
    for (uint32_t k = 0; k < frame->n; k++) {
        const uint32_t i = (start + k) % frame->n;
        const struct xoff_path_port *a = &frame->queues[i], *b = &frame->queues[best];
        if (!a->is_up)
            continue;
        if (!b->is_up || a->queue_bytes[frame->priority] < b->queue_bytes[frame->priority])
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

static void adjust(const void *context, struct net_spec *spec, struct net_switch *kinds,
                   struct net_transport *transports)
{
    (void)spec, (void)transports;
    kinds->path = context;
}

static void run(struct rig *rig, const struct xoff_path_ops *path, uint32_t n_threads,
                const char *more)
{
    const struct rig_options options = {.n_threads = n_threads,
                                        .cell_bound = n_threads > 1 ? 0 : XOFF_PARAM_AUTO,
                                        .adjust = adjust,
                                        .adjust_context = path};
    rig_run(rig, &options,
            "stop: 1ms\nreroute_after: never\n"
            "topology: {kind: leaf-spine, leaves: 2, spines: %u, hosts_per_leaf: %u,\n"
            "  host_link: {rate: 100Gbps, delay: 1us}, fabric_link: {rate: 200Gbps}}\n"
            "switch: {buffer: 16MB}\npriorities: {3: {lossless: true}}\ntransport: datagram\n%s"
            "traffic: [{kind: flows, priority: 3, list: [\n"
            "  {from: h0, to: h8, size: 1MB}, {from: h1, to: h9, size: 1MB},\n"
            "  {from: h2, to: h10, size: 1MB}, {from: h3, to: h11, size: 1MB},\n"
            "  {from: h4, to: h12, size: 1MB}, {from: h5, to: h13, size: 1MB},\n"
            "  {from: h6, to: h14, size: 1MB}, {from: h7, to: h15, size: 1MB}]}]\n",
            SPINES, HOSTS, more);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_shortest_queue_balances),
        cmocka_unit_test(a_link_that_is_down_is_seen),
    };
    return cmocka_run_group_tests_name("path", tests, NULL, NULL);
}
