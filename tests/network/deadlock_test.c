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
    const uint32_t n = routes_find_cycle(&rig->built->topo, routes, channels, 8);
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

/* Onset is when the last gate of the cycle closed: all four were paused from then to the end. */
static void check_onset(const struct rig *rig, const struct result_deadlock *d)
{
    const struct results *r = rig->results;
    assert_true(d->onset_at > 0);
    assert_true(d->found_at >= d->onset_at + XOFF_MS);
    assert_true(d->found_at <= d->onset_at + 2 * XOFF_MS);
    xoff_time last_closed = 0;
    for (uint32_t i = 0; i < 4; i++) {
        char from[8], to[8];
        snprintf(from, sizeof from, "s%u", i);
        snprintf(to, sizeof to, "s%u", (i + 1) % 4);
        const struct result_queue *q = &rig_port(rig, from, to)->queue[3];
        /* The last XOFF of the peer closed it: decided, sent (72 byte times), 1 us, 394 quanta. */
        const struct result_port *peer = rig_port(rig, to, from);
        xoff_time decided = 0;
        for (uint64_t k = 0; k < r->n_pauses; k++)
            if (r->pauses[k].node == peer->node && r->pauses[k].port == peer->port) {
                decided = r->pauses[k].at;
                assert_true(k + 1 < r->n_pauses || r->pauses[k].pause);
            }
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ring_under_pressure_deadlocks),
        cmocka_unit_test(ring_without_pressure_does_not),
        cmocka_unit_test(lossy_class_does_not),
        cmocka_unit_test(row_does_not),
        cmocka_unit_test(detection_follows_its_settings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
