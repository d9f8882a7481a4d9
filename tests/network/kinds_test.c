/* Switches of several kinds in one network: each has what its entry says, hosts go by the switch
 * that they are attached to, and neighbours with different policies understand each other. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/rig.h"

static xoff_time paused_for(const struct rig *rig, const char *node, const char *peer, int priority)
{
    return rig_port(rig, node, peer)->queue[priority].paused_for;
}

/* h0..h3 - left - right - h4..h7. Hosts of each side send to one of the other, which takes frames
 * slowly. left pauses whole links, right single priorities; whoever is paused obeys what its peer
 * says: h0 and right by PAUSE, h5, left and the slow hosts' switches by what these hosts say. */
static void understand_each_other(void **state)
{
    (void)state;
    struct rig rig;
    rig_run(&rig, NULL,
            "stop: 300us\ndrain: 20ms\n"
            "topology: {kind: dumbbell, left: 4, right: 4,\n"
            "  host_link: {rate: 10Gbps, delay: 1us}, fabric_link: {rate: 20Gbps}}\n"
            "switch: {buffer: 300KB, pause: pause}\n"
            "switches: [{match: right, pause: pfc}]\n"
            "priorities: {3: {lossless: true}}\n"
            "receivers: [{host: [h0, h4], rate: 3Gbps, buffer: 100KB}]\n"
            "traffic:\n"
            "- {kind: incast, from: h1..h3, to: h4, size: 200KB, at: 0s, priority: 3}\n"
            "- {kind: incast, from: h5..h7, to: h0, size: 200KB, at: 0s, priority: 3}\n");
    rig_assert_clean(&rig);
    assert_true(rig_metric(&rig, "drops") == 0);
    assert_true(rig_metric(&rig, "flows.finished") == 6);
    static const struct {
        const char *node, *peer;
        bool is_whole; /* what the peer says stops all priorities */
    } rows[] = {{"h1", "left", true},     {"h5", "right", false}, {"right", "left", true},
                {"left", "right", false}, {"left", "h0", true},   {"right", "h4", false}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const xoff_time lossless = paused_for(&rig, rows[i].node, rows[i].peer, 3);
        const xoff_time other = paused_for(&rig, rows[i].node, rows[i].peer, 5);
        if (lossless <= 0 || other != (rows[i].is_whole ? lossless : 0))
            fail_msg("%s by %s: %lld ps, and %lld ps of another priority", rows[i].node,
                     rows[i].peer, (long long)lossless, (long long)other);
    }
    rig_fini(&rig);
}

/* The same burst of 3 x 120 KB at both ends of a link: one buffer has room for it, one has not. */
static void each_has_its_buffer(void **state)
{
    (void)state;
    struct rig rig;
    rig_run(&rig, NULL,
            "stop: 300us\ndrain: 20ms\n"
            "topology: {kind: dumbbell, left: 4, right: 4,\n"
            "  host_link: {rate: 10Gbps, delay: 1us}}\n"
            "switch: {buffer: 400KB, mmu: {kind: sih, alpha: 1/2}}\n"
            "switches: [{match: right, buffer: 2400KB}]\n"
            "priorities: {3: {lossless: true}}\n"
            "traffic:\n"
            "- {kind: incast, from: h1..h3, to: h0, size: 120KB, at: 0s, priority: 3}\n"
            "- {kind: incast, from: h5..h7, to: h4, size: 120KB, at: 0s, priority: 3}\n");
    rig_assert_clean(&rig);
    const struct xoff_mmu_view *left = &rig_buffer(&rig, rig_node(&rig, "left"))->view;
    const struct xoff_mmu_view *right = &rig_buffer(&rig, rig_node(&rig, "right"))->view;
    assert_int_equal(right->capacity_bytes[XOFF_POOL_HEADROOM],
                     left->capacity_bytes[XOFF_POOL_HEADROOM]);
    assert_int_equal(
        right->capacity_bytes[XOFF_POOL_SHARED] - left->capacity_bytes[XOFF_POOL_SHARED], 2000000);
    assert_true(paused_for(&rig, "h1", "left", 3) > 0);
    assert_int_equal(paused_for(&rig, "h5", "right", 3), 0);
    rig_fini(&rig);
}

/* One frame through both switches, and the time that it takes when nobody is in its way. */
static xoff_time time_of_one(const char *switches)
{
    struct rig rig;
    rig_run(&rig, NULL,
            "stop: 300us\n"
            "topology: {kind: dumbbell, left: 2, right: 2}\n"
            "switch: {processing_delay: 100ns}\n"
            "switches: [%s]\n"
            "traffic: [{kind: flows, list: [{at: 0s, from: h0, to: h2, size: 1000B}]}]\n",
            switches);
    const struct result_flow *flow = &rig.results->flows[0];
    const xoff_time took = flow->finish_at - flow->start_at;
    assert_int_equal(took, flow->ideal_for);
    rig_fini(&rig);
    return took;
}

static void each_has_its_delay(void **state)
{
    (void)state;
    const xoff_time base = time_of_one("");
    assert_int_equal(time_of_one("{match: left, processing_delay: 1us}") - base, 900 * XOFF_NS);
    assert_int_equal(time_of_one("{match: right, processing_delay: 0s}") - base, -100 * XOFF_NS);
    assert_int_equal(time_of_one("{match: all, processing_delay: 2us},"
                                 "{match: left, processing_delay: 1us}") -
                         base,
                     (1900 + 900) * XOFF_NS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(understand_each_other),
        cmocka_unit_test(each_has_its_buffer),
        cmocka_unit_test(each_has_its_delay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
