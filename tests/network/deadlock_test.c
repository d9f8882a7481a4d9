/* Deadlock at run time, in a ring of four switches with one host each. All traffic is stated to go
 * clockwise and two hops far, so that every link between switches carries frames that go on over
 * the next one: a cycle of buffers, which PFC can close. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/rig.h"

#define ROUTES                                  \
    "routes:\n"                                 \
    "- {on: s0, to: \"h1,h2,h3\", via: [s1]}\n" \
    "- {on: s1, to: \"h2,h3,h0\", via: [s2]}\n" \
    "- {on: s2, to: \"h3,h0,h1\", via: [s3]}\n" \
    "- {on: s3, to: \"h0,h1,h2\", via: [s0]}\n"

/* Each host sends to the host two switches further. */
static void run_ring(struct rig *rig, const char *traffic, const char *pause, const char *more)
{
    rig_run(rig, NULL,
            "stop: 2ms\ndrain: 20ms\n"
            "topology: {kind: ring, switches: 4, hosts_per_switch: 1,\n"
            "  host_link: {rate: 100Gbps, delay: 1us}, fabric_link: {rate: 100Gbps, delay: 1us}}\n"
            "switch: {buffer: 2MB, mmu: {kind: static, xoff: 20KB, xon: 10KB}, pause: %s}\n"
            "traffic: [{kind: cbr, pattern: shift, shift: 2, priority: 3, %s}]\n%s%s",
            pause, traffic, more, ROUTES);
}

#define LOSSLESS "priorities: {3: {lossless: true}}\n"

static uint32_t stated_cycle(const struct rig *rig, struct route_channel channels[8])
{
    struct routes *routes;
    struct xoff_err err;
    assert_int_equal(routes_create(&rig->built->topo, 0, true, &routes, &err), 0);
    const uint32_t n = routes_find_cycle(&rig->built->topo, routes, NULL, channels, 8);
    routes_destroy(routes);
    return n;
}

/* The cycle has the four clockwise ports, each followed by the one its frames wait for. */
static void check_cycle(const struct rig *rig, const struct result_deadlock *d)
{
    const struct results *r = rig->results;
    const struct topo *topo = &rig->built->topo;
    assert_int_equal(d->n, 4);
    uint32_t seen = 0;
    for (uint32_t i = 0; i < d->n; i++) {
        const struct result_deadlock_port *a = &r->deadlock_ports[d->first + i];
        const struct result_deadlock_port *b = &r->deadlock_ports[d->first + (i + 1) % d->n];
        assert_int_equal(topo_peer(topo, a->node, a->port), b->node);
        assert_int_equal(a->priority, 3);
        char from[8], to[8];
        const uint32_t s = a->node - r->n_hosts;
        snprintf(from, sizeof from, "s%u", s);
        snprintf(to, sizeof to, "s%u", (s + 1) % 4);
        assert_int_equal(a->node, rig_node(rig, from));
        assert_int_equal(a->port, rig_port(rig, from, to)->port);
        seen |= 1u << s;
    }
    assert_int_equal(seen, 0xf);
}

/* Onset is when the last gate of the cycle closed: all were paused from then to the end. */
static void check_onset(const struct rig *rig, const struct result_deadlock *d)
{
    const struct results *r = rig->results;
    assert_true(d->onset_at > 0);
    assert_true(d->found_at >= d->onset_at + XOFF_MS);
    assert_true(d->found_at <= d->onset_at + 2 * XOFF_MS);
    xoff_time last_closed = 0;
    for (uint32_t i = 0; i < d->n; i++) {
        const struct result_deadlock_port *at = &r->deadlock_ports[d->first + i];
        const struct result_port *port =
            rig_port(rig, r->nodes[at->node].name,
                     r->nodes[topo_peer(&rig->built->topo, at->node, at->port)].name);
        const struct result_queue *q = &port->queue[at->priority];
        /* The last XOFF of the peer closed it: decided, sent (72 byte times), 1 us, 394 quanta. */
        xoff_time decided = 0;
        bool is_paused = false;
        for (uint64_t k = 0; k < r->n_pauses; k++)
            if (r->pauses[k].node == port->peer_node && r->pauses[k].port == port->peer_port &&
                r->pauses[k].priorities >> at->priority & 1) {
                decided = r->pauses[k].at;
                is_paused = r->pauses[k].pause;
            }
        assert_true(is_paused);
        const xoff_time earliest = decided + 72 * 80 + XOFF_US + 394 * 64 * 80;
        assert_true(q->paused_for >= r->end_at - earliest - 1538 * 80);
        last_closed = earliest > last_closed ? earliest : last_closed;
    }
    assert_in_range(d->onset_at, last_closed, last_closed + 1538 * 80);
}

static void ring_under_pressure_deadlocks(void **state)
{
    (void)state;
    static const char *const policies[] = {"pfc", "pause"};
    for (uint32_t i = 0; i < 2; i++) {
        struct rig rig;
        run_ring(&rig, "transport: datagram", policies[i], LOSSLESS);
        struct route_channel channels[8];
        assert_int_equal(stated_cycle(&rig, channels), 4);
        assert_int_equal(rig.results->n_deadlocks, 1);
        check_cycle(&rig, &rig.results->deadlocks[0]);
        check_onset(&rig, &rig.results->deadlocks[0]);
        assert_true(rig_metric(&rig, "deadlocks") == 1);
        assert_int_equal(rig.results->n_drops, 0);
        int64_t held = 0;
        for (uint32_t n = 0; n < rig.results->n_nodes; n++)
            held += rig.results->nodes[n].held_bytes;
        assert_true(held > 4 * 20000);
        rig_assert_clean(&rig);
        rig_fini(&rig);
    }
}

/* The same ring with half the load: pauses are rare, nothing freezes. */
static void ring_without_pressure_does_not(void **state)
{
    (void)state;
    struct rig rig;
    run_ring(&rig, "rate: 40Gbps", "pfc", LOSSLESS);
    struct route_channel channels[8];
    assert_int_equal(stated_cycle(&rig, channels), 4); /* it could */
    assert_int_equal(rig.results->n_deadlocks, 0);
    for (uint64_t i = 0; i < rig.results->n_flows; i++)
        assert_int_equal(rig.results->flows[i].delivered_bytes, rig.results->flows[i].sent_bytes);
    rig_assert_clean(&rig);
    rig_fini(&rig);
}

/* A lossy class loses frames instead. */
static void lossy_class_does_not(void **state)
{
    (void)state;
    struct rig rig;
    run_ring(&rig, "transport: datagram", "pfc", "");
    assert_int_equal(rig.results->n_deadlocks, 0);
    assert_true(rig.results->n_drops > 0);
    assert_int_equal(rig.results->n_pauses, 0);
    for (uint32_t n = 0; n < rig.results->n_nodes; n++)
        assert_int_equal(rig.results->nodes[n].held_bytes, 0);
    rig_assert_clean(&rig);
    rig_fini(&rig);
}

/* A row of switches has no cycle: the same pressure pauses and nothing more. */
static void row_does_not(void **state)
{
    (void)state;
    struct rig rig;
    rig_run(&rig, NULL,
            "stop: 2ms\n"
            "topology: {kind: chain, switches: 4, hosts_per_switch: 1,\n"
            "  host_link: {rate: 100Gbps, delay: 1us}}\n"
            "switch: {buffer: 2MB, mmu: {kind: static, xoff: 20KB, xon: 10KB}}\n" LOSSLESS
            "traffic: [{kind: cbr, pattern: shift, shift: 2, priority: 3}]\n");
    struct route_channel channels[8];
    assert_int_equal(stated_cycle(&rig, channels), 0);
    assert_int_equal(rig.results->n_deadlocks, 0);
    assert_true(rig.results->n_pauses > 10);
    for (uint64_t i = 0; i < rig.results->n_flows; i++)
        assert_int_equal(rig.results->flows[i].delivered_bytes, rig.results->flows[i].sent_bytes);
    rig_assert_clean(&rig);
    rig_fini(&rig);
}

/* deadlock.after moves the discovery, not the onset; stop ends the run there; 0s does not look. */
static void detection_follows_its_settings(void **state)
{
    (void)state;
    struct rig rig;
    run_ring(&rig, "transport: datagram", "pfc", LOSSLESS);
    const xoff_time onset = rig.results->deadlocks[0].onset_at;
    rig_fini(&rig);

    run_ring(&rig, "transport: datagram", "pfc", LOSSLESS "deadlock: {after: 200us}\n");
    assert_int_equal(rig.results->n_deadlocks, 1);
    assert_int_equal(rig.results->deadlocks[0].onset_at, onset);
    assert_in_range(rig.results->deadlocks[0].found_at, onset + 200 * XOFF_US,
                    onset + 250 * XOFF_US);
    rig_fini(&rig);

    run_ring(&rig, "transport: datagram", "pfc", LOSSLESS "deadlock: {after: 200us, stop: true}\n");
    assert_int_equal(rig.results->n_deadlocks, 1);
    assert_int_equal(rig.results->end_at, rig.results->deadlocks[0].found_at);
    assert_false(rig.results->interrupted);
    rig_assert_clean(&rig);
    rig_fini(&rig);

    run_ring(&rig, "transport: datagram", "pfc", LOSSLESS "deadlock: {after: 0s}\n");
    assert_int_equal(rig.results->n_deadlocks, 0);
    rig_fini(&rig);
}

/* Each host sends to the host two switches further, in a priority of its own choice: frames of h0
 * cross s0, s1 and s2 and leave the ring there. Where neighbours differ in priority, no cycle is in
 * one priority alone. */
static void run_two_priorities(struct rig *rig, const uint8_t priorities[4], const char *sw,
                               const char *more)
{
    rig_run(rig, NULL,
            "stop: 2ms\ndrain: 20ms\n"
            "topology: {kind: ring, switches: 4, hosts_per_switch: 1,\n"
            "  host_link: {rate: 100Gbps, delay: 1us}, fabric_link: {rate: 100Gbps, delay: 1us}}\n"
            "switch: {%s}\npriorities: {3: {lossless: true}, 4: {lossless: true}}\n"
            "traffic:\n"
            "- {kind: cbr, from: h0, to: h2, priority: %u}\n"
            "- {kind: cbr, from: h1, to: h3, priority: %u}\n"
            "- {kind: cbr, from: h2, to: h0, priority: %u}\n"
            "- {kind: cbr, from: h3, to: h1, priority: %u}\n%s%s",
            sw, priorities[0], priorities[1], priorities[2], priorities[3], more, ROUTES);
}

static void check_at_rest(const struct rig *rig)
{
    assert_int_equal(rig->results->n_deadlocks, 0);
    assert_int_equal(rig->results->n_drops, 0);
    for (uint64_t i = 0; i < rig->results->n_flows; i++)
        assert_int_equal(rig->results->flows[i].delivered_bytes, rig->results->flows[i].sent_bytes);
    rig_assert_clean(rig);
}

static const uint8_t in_turn[4] = {3, 4, 3, 4}, in_halves[4] = {3, 3, 4, 4};

/* DSH pauses a port as a whole when it has used its part of the pool, which is tiny here. Then a
 * queue waits for bytes of the other priority, too: of the next host's frames, which go on, while
 * those of its own leave the ring. */
static void cycle_through_ports(void **state)
{
    (void)state;
    static const uint8_t *const choices[] = {in_turn, in_halves};
    for (uint32_t i = 0; i < 2; i++) {
        struct rig rig;
        run_two_priorities(&rig, choices[i], "buffer: 200KB, mmu: dsh", "");
        const struct results *r = rig.results;
        assert_int_equal(r->n_deadlocks, 1);
        const struct result_deadlock *d = &r->deadlocks[0];
        assert_int_equal(d->n, 4);
        uint32_t n_changes = 0;
        for (uint32_t k = 0; k < d->n; k++) {
            const struct result_deadlock_port *a = &r->deadlock_ports[d->first + k];
            const struct result_deadlock_port *b = &r->deadlock_ports[d->first + (k + 1) % d->n];
            assert_int_equal(topo_peer(&rig.built->topo, a->node, a->port), b->node);
            /* What goes on from the peer is of the host at a's switch. */
            assert_int_equal(b->priority, choices[i][a->node - r->n_hosts]);
            n_changes += a->priority != b->priority;
        }
        assert_int_equal(n_changes, choices[i] == in_turn ? 4 : 2);
        check_onset(&rig, d);
        assert_int_equal(r->end_at, 22 * XOFF_MS); /* it goes on, in vain */
        assert_int_equal(r->n_drops, 0);
        rig_assert_clean(&rig);
        rig_fini(&rig);

        run_two_priorities(&rig, choices[i], "buffer: 200KB, mmu: dsh", "deadlock: {stop: true}\n");
        assert_int_equal(rig.results->n_deadlocks, 1);
        assert_int_equal(rig.results->end_at, rig.results->deadlocks[0].found_at);
        check_onset(&rig, &rig.results->deadlocks[0]);
        rig_fini(&rig);

        /* With thresholds of queues alone, and with a pool large enough, nothing freezes. */
        run_two_priorities(&rig, choices[i], "buffer: 800KB, mmu: sih", "");
        assert_true(rig.results->n_pauses > 10);
        check_at_rest(&rig);
        rig_fini(&rig);
        run_two_priorities(&rig, choices[i], "buffer: 400KB, mmu: dsh", "");
        assert_true(rig.results->n_pauses > 10);
        check_at_rest(&rig);
        rig_fini(&rig);
    }
}

/* All hosts stand still for 4 ms: queues of both priorities are frozen all around the ring, but
 * each waits for a host in the end. Bytes of the other priority at the same port mean nothing. */
static void hosts_that_stop_are_no_deadlock(void **state)
{
    (void)state;
    static const char *const policies[] = {"pfc", "pause"};
    for (uint32_t i = 0; i < 2; i++) {
        char sw[64];
        snprintf(sw, sizeof sw, "buffer: 900KB, mmu: sih, pause: %s", policies[i]);
        struct rig rig;
        run_two_priorities(&rig, in_turn, sw,
                           "receivers: [{host: all, rate: \"0bps, 4ms: 100Gbps\", buffer: "
                           "500KB}]\n");
        for (uint32_t k = 0; k < 4; k++) {
            char from[8], to[8];
            snprintf(from, sizeof from, "s%u", k);
            snprintf(to, sizeof to, "s%u", (k + 1) % 4);
            const struct result_port *port = rig_port(&rig, from, to);
            assert_true(port->queue[3].paused_for > 3 * XOFF_MS);
            assert_true(port->queue[4].paused_for > 3 * XOFF_MS);
        }
        check_at_rest(&rig);
        rig_fini(&rig);
    }
}

/* A link that fails takes its frames with it, and the ring moves again. When it is back the ring
 * closes once more: another deadlock. */
static void failure_ends_a_deadlock(void **state)
{
    (void)state;
    static const char *const repairs[] = {"5ms", "30ms"};
    for (uint32_t i = 0; i < 2; i++) {
        struct rig rig;
        rig_run(&rig, NULL,
                "stop: 8ms\ndrain: 20ms\nreroute_after: never\n"
                "topology: {kind: ring, switches: 4, hosts_per_switch: 1,\n"
                "  host_link: {rate: 100Gbps, delay: 1us}}\n"
                "switch: {buffer: 2MB, mmu: {kind: static, xoff: 20KB, xon: 10KB}}\n"
                "traffic: [{kind: cbr, pattern: shift, shift: 2, priority: 3}]\n"
                "links: [{link: s0-s1, at: 4ms, fail: true},\n"
                "  {link: s0-s1, at: %s, repair: true}]\n" LOSSLESS ROUTES,
                repairs[i]);
        const struct results *r = rig.results;
        assert_int_equal(r->n_deadlocks, i ? 1 : 2);
        check_cycle(&rig, &r->deadlocks[0]);
        assert_true(r->deadlocks[0].onset_at < XOFF_MS);
        assert_true(r->deadlocks[0].found_at < 3 * XOFF_MS);
        int64_t held = 0;
        for (uint32_t n = 0; n < r->n_nodes; n++)
            held += r->nodes[n].held_bytes;
        if (i) {
            assert_int_equal(held, 0);
        } else {
            check_cycle(&rig, &r->deadlocks[1]);
            assert_in_range(r->deadlocks[1].onset_at, 5 * XOFF_MS, 6 * XOFF_MS);
            assert_in_range(r->deadlocks[1].found_at, 6 * XOFF_MS, 8 * XOFF_MS);
            assert_true(held > 4 * 20000);
        }
        rig_assert_clean(&rig);
        rig_fini(&rig);
    }
}

/* Two switches that pause all partners when their queue to each other is full: h0 and the link from
 * the other switch alike. Each stops the other, and no frame of a paused port lies in the queue
 * that holds it. */
static void queues_that_hold_all_partners(void **state)
{
    (void)state;
    static const char *const policies[] = {
        "{kind: pfc, trigger: egress, partners: all, xoff: 100KB, xon: 50KB}",
        "{kind: tpfc, lw: 20KB, tw: 50KB, hw: 51KB}"};
    for (size_t i = 0; i < 2; i++) {
        struct rig rig;
        rig_run(&rig, NULL,
                "stop: 5ms\ndrain: 5ms\n"
                "topology: {kind: dumbbell, left: 2, right: 2,\n"
                "  host_link: {rate: 10Gbps, delay: 1us}}\n"
                "switch: {buffer: 2MB, mmu: {kind: sih, alpha: 1024, reserved: 0B}, pause: %s}\n"
                "priorities: {3: {lossless: true}}\n"
                "traffic:\n"
                "  - {kind: flows, priority: 3, list: [{from: h0, to: h2, size: 2MB},\n"
                "      {from: h1, to: h3, size: 2MB}, {from: h2, to: h0, size: 2MB},\n"
                "      {from: h3, to: h1, size: 2MB}]}\n"
                "deadlock: {after: 500us, stop: true}\n",
                policies[i]);
        assert_int_equal(rig.results->n_deadlocks, 1);
        assert_int_equal(rig.results->deadlocks[0].n, 2);
        assert_true(rig.results->end_at < 3 * XOFF_MS);
        rig_fini(&rig);
    }
}

/* Two crossbars with one queue at each input. A queue for a host holds the link from the other
 * switch, and its frames wait at inputs behind frames for that link. With a queue for each output
 * they would not. */
static void frames_that_wait_behind_others(void **state)
{
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct rig rig;
        rig_run(&rig, NULL,
                "stop: 1ms\ndrain: 5ms\n"
                "topology: {kind: dumbbell, left: 3, right: 3,\n"
                "  host_link: {rate: 100Gbps, delay: 1us}}\n"
                "switch: {buffer: 70KB, fabric: {kind: cioq, voq: %s},\n"
                "         pause: {kind: capfc, xoff: 2KB, xon: 1KB}}\n"
                "priorities: {3: {lossless: true}}\n"
                "deadlock: {after: 500us}\n"
                "traffic: [{kind: all-to-all, size: 20KB, priority: 3}]\n",
                i ? "true" : "false");
        const struct results *r = rig.results;
        assert_int_equal(r->n_deadlocks, i ? 0 : 1);
        for (uint32_t k = 0; k < 2 && !i; k++) {
            assert_int_equal(r->deadlocks[0].n, 2);
            assert_int_equal(r->deadlock_ports[k].port, 3); /* to the other switch */
            assert_int_equal(r->deadlock_ports[k].priority, 3);
        }
        rig_assert_clean(&rig);
        rig_fini(&rig);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(queues_that_hold_all_partners),
        cmocka_unit_test(frames_that_wait_behind_others),
        cmocka_unit_test(ring_under_pressure_deadlocks),
        cmocka_unit_test(ring_without_pressure_does_not),
        cmocka_unit_test(lossy_class_does_not),
        cmocka_unit_test(row_does_not),
        cmocka_unit_test(detection_follows_its_settings),
        cmocka_unit_test(cycle_through_ports),
        cmocka_unit_test(hosts_that_stop_are_no_deadlock),
        cmocka_unit_test(failure_ends_a_deadlock),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
