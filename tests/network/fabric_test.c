/* Fabrics behind their boundary: the ideal output-queued switch is the shared memory where one
 * output is hot, keeps an input paused until its last output lets go, and keeps outputs apart. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/rig.h"

static const char *const fabric_names[] = {"shared", "output-queued", "cioq"};

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

/* h0 and h3 send to h1, which stands still until 5 ms; from 30 us on h3, h4 and h5 send to h2. The
 * queue of h1 pauses h3. That of h2, with frames of h3 in it, asks for the same, and lets go when
 * it has drained, over and over while h4 and h5 send: h3 stays paused at the word of h1's queue. */
static void the_last_output_lets_go(void **state)
{
    (void)state;
    struct rig rig;
    run(&rig, fabric_names[1],
        "stop: 200us\ndrain: 20ms\n"
        "topology: {kind: star, hosts: 6, host_link: {rate: 10Gbps, delay: 1us}}\n"
        "switch: {fabric: %s, buffer: 600KB, mmu: {kind: sih, alpha: 1024, reserved: 0B},\n"
        "  pause: {kind: pfc, trigger: egress, xoff: 60KB, xon: 30KB}}\n"
        "priorities: {3: {lossless: true}}\n"
        "transport: datagram\n"
        "receivers: [{host: h1, rate: \"0bps, 5ms: 10Gbps\", buffer: 200KB}]\n"
        "traffic:\n"
        "- {kind: incast, from: [h0, h3], to: h1, size: 400KB, at: 0s, priority: 3}\n"
        "- {kind: incast, from: h3..h5, to: h2, size: 400KB, at: 30us, priority: 3}\n");
    assert_int_equal(rig_metric(&rig, "drops"), 0);
    assert_int_equal(rig_metric(&rig, "flows.finished"), 5);
    const struct results *r = rig.results;
    const struct result_port *h3 = rig_port(&rig, "h3", "s0"), *h4 = rig_port(&rig, "h4", "s0");
    const uint32_t to_h1 = rig_port(&rig, "h1", "s0")->peer_port;
    const uint32_t to_h2 = rig_port(&rig, "h2", "s0")->peer_port;
    uint32_t n_h3 = 0, n_h4 = 0;
    bool by_h1 = false, by_h2 = false;
    for (uint64_t i = 0; i < r->n_pauses; i++) {
        const struct result_pause *p = &r->pauses[i];
        if (p->node != h3->peer_node || p->at >= 5 * XOFF_MS)
            continue;
        by_h1 |= p->pause && p->egress_port == to_h1 && p->port == h3->peer_port;
        by_h2 |= p->pause && p->egress_port == to_h2 && p->port == h4->peer_port;
        n_h3 += p->port == h3->peer_port;
        n_h4 += p->port == h4->peer_port && !p->pause;
    }
    assert_true(by_h1 && by_h2); /* both queues paused somebody ... */
    assert_true(n_h4 > 0);       /* ... that of h2 let h4 go meanwhile ... */
    assert_int_equal(n_h3, 1);   /* ... and h3 heard one XOFF and no XON */
    assert_true(h3->queue[3].paused_for > 4 * XOFF_MS);
    rig_fini(&rig);
}

/* Four senders fill a buffer of 300 KB towards h0 with lossy frames; then 2 x 130 KB come for h5 at
 * twice its rate, so that its queue grows to 130 KB. With alpha 1 two long queues share a memory in
 * three parts, 100 KB for each: frames are lost. A queue alone has half of it, 150 KB. */
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
    for (uint32_t i = 0; i < 3; i++) {
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
