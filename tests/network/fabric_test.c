/* Fabrics behind their boundary: the ideal output-queued switch is the shared memory where one
 * output is hot, keeps an input paused until its last output lets go, and keeps outputs apart. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/rig.h"

static const char *const fabric_names[] = {"shared", "output-queued"};

static void run(struct rig *rig, const char *fabric, const char *text)
{
    rig_run(rig, NULL, text, fabric);
    rig_assert_clean(rig);
}

/* With one hot output, and frames that find their ports busy, both switches are one buffer over the
 * same inputs: every figure of the digest is the same. */
static void one_hot_output_is_alike(void **state)
{
    (void)state;
    uint64_t digests[2];
    for (uint32_t i = 0; i < 2; i++) {
        struct rig rig;
        run(&rig, fabric_names[i],
            "stop: 200us\ndrain: 20ms\n"
            "topology: {kind: star, hosts: 6, host_link: {rate: 10Gbps, delay: 1us}}\n"
            "switch: {fabric: %s, buffer: 400KB, processing_delay: 100ns}\n"
            "priorities: {3: {lossless: true}}\n"
            "transport: datagram\n"
            "traffic: [{kind: incast, from: h1..h5, to: h0, size: 100KB, at: 0s, priority: 3}]\n");
        assert_int_equal(rig_metric(&rig, "drops"), 0);
        assert_true(rig_metric(&rig, "pauses") > 0);
        digests[i] = rig.results->digest;
        rig_fini(&rig);
    }
    assert_int_equal(digests[0], digests[1]);
}

/* h3 sends to h1, which stands still from 100 us to 5 ms, and with h4 and h5 to h2. The buffers of
 * both outputs want h3 paused, that of h2 over and over until its traffic is through; what h2's
 * lets go, h1's still holds. A switch that resumed h3 at h2's word would lose what h3 sends then.
 */
static void the_last_output_lets_go(void **state)
{
    (void)state;
    struct rig rig;
    run(&rig, fabric_names[1],
        "stop: 200us\ndrain: 20ms\n"
        "topology: {kind: star, hosts: 6, host_link: {rate: 10Gbps, delay: 1us}}\n"
        "switch: {fabric: %s, buffer: 400KB, mmu: {kind: static, xoff: 20KB}}\n"
        "priorities: {3: {lossless: true}}\n"
        "transport: datagram\n"
        "receivers: [{host: h1, rate: \"10Gbps, 100us: 0bps, 5ms: 10Gbps\", buffer: 60KB}]\n"
        "traffic:\n"
        "- {kind: incast, from: h3, to: h1, size: 400KB, at: 0s, priority: 3}\n"
        "- {kind: incast, from: h3..h5, to: h2, size: 400KB, at: 0s, priority: 3}\n");
    assert_int_equal(rig_metric(&rig, "drops"), 0);
    assert_int_equal(rig_metric(&rig, "flows.finished"), 4);
    const struct results *r = rig.results;
    const struct result_port *port = rig_port(&rig, "h3", "s0");
    uint32_t n_before = 0;
    xoff_time last_xoff = 0, resumed_at = XOFF_NEVER;
    bool is_paused = false;
    for (uint64_t i = 0; i < r->n_pauses; i++) {
        const struct result_pause *p = &r->pauses[i];
        if (p->node != port->peer_node || p->port != port->peer_port)
            continue;
        assert_int_equal(p->pause, !is_paused); /* never twice the same */
        is_paused = p->pause;
        if (p->pause && p->at < 5 * XOFF_MS) {
            n_before++;
            last_xoff = p->at;
            resumed_at = XOFF_NEVER;
        } else if (!p->pause && resumed_at == XOFF_NEVER) {
            resumed_at = p->at;
        }
    }
    assert_true(n_before > 1);              /* h2's output paused it before */
    assert_true(last_xoff < 2 * XOFF_MS);   /* from here on h1's output holds it ... */
    assert_true(resumed_at >= 5 * XOFF_MS); /* ... until h1 takes frames again */
    assert_false(is_paused);
    rig_fini(&rig);
}

/* Three senders fill the buffer for h0; a burst from two others to h5 needs 90 KB. In a shared
 * memory its queue gets what alpha leaves of the rest; an output of its own has it all. */
static void outputs_are_apart(void **state)
{
    (void)state;
    uint32_t lost[2] = {0};
    for (uint32_t i = 0; i < 2; i++) {
        struct rig rig;
        run(&rig, fabric_names[i],
            "stop: 300us\ndrain: 20ms\n"
            "topology: {kind: star, hosts: 8, host_link: {rate: 10Gbps, delay: 1us}}\n"
            "switch: {fabric: %s, buffer: 300KB, pause: none, mmu: {kind: sih, alpha: 1}}\n"
            "transport: datagram\n"
            "traffic:\n"
            "- {kind: incast, from: h1..h4, to: h0, size: 400KB, at: 0s}\n"
            "- {kind: incast, name: burst, from: h6..h7, to: h5, size: 130KB, at: 100us}\n");
        for (uint64_t f = 0; f < rig.results->n_flows; f++) {
            const struct result_flow *flow = &rig.results->flows[f];
            lost[i] += flow->tag == 1 && flow->finish_at == XOFF_NEVER;
        }
        uint32_t n = 0;
        for (uint32_t b = 0; b < rig.results->n_buffers; b++) {
            const struct result_buffer *buffer = &rig.results->buffers[b];
            assert_int_equal(buffer->node, rig_node(&rig, "s0"));
            char name[RESULT_NAME];
            snprintf(name, sizeof name, "to h%u", b);
            assert_string_equal(buffer->name, i ? name : "shared");
            assert_int_equal(buffer->view.capacity_total_bytes, 300000);
            n++;
        }
        assert_int_equal(n, i ? 8 : 1);
        rig_fini(&rig);
    }
    assert_true(lost[0] > 0); /* a frame lost leaves its message unfinished */
    assert_int_equal(lost[1], 0);
}

/* A ring of three that sends two hops on deadlocks whatever is between the ports, and is found. */
static void deadlocks_are_found(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 2; i++) {
        struct rig rig;
        rig_run(
            &rig, NULL,
            "stop: 1ms\ndrain: 5ms\n"
            "topology: {kind: ring, switches: 3, hosts_per_switch: 2,\n"
            "  host_link: {rate: 10Gbps, delay: 1us}, fabric_link: {rate: 10Gbps, delay: 1us}}\n"
            "switch: {fabric: %s, buffer: 300KB, mmu: {kind: static, xoff: 20KB}}\n"
            "priorities: {3: {lossless: true}}\n"
            "routes:\n"
            "- {on: s0, to: h4..h5, via: [s1]}\n"
            "- {on: s1, to: h0..h1, via: [s2]}\n"
            "- {on: s2, to: h2..h3, via: [s0]}\n"
            "transport: none\n"
            "deadlock: {after: 500us}\n"
            "traffic:\n"
            "- {kind: incast, from: h0..h1, to: h4, size: 2MB, at: 0s, priority: 3}\n"
            "- {kind: incast, from: h2..h3, to: h0, size: 2MB, at: 0s, priority: 3}\n"
            "- {kind: incast, from: h4..h5, to: h2, size: 2MB, at: 0s, priority: 3}\n",
            fabric_names[i]);
        assert_int_equal(rig.results->n_deadlocks, 1);
        assert_int_equal(rig.results->deadlocks[0].n, 3);
        assert_int_equal(rig.results->n_findings, 0);
        rig_fini(&rig);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_hot_output_is_alike),
        cmocka_unit_test(the_last_output_lets_go),
        cmocka_unit_test(outputs_are_apart),
        cmocka_unit_test(deadlocks_are_found),
    };
    return cmocka_run_group_tests_name("fabric", tests, NULL, NULL);
}
