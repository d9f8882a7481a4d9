/* The NIC that scans its flows: whom it serves, when it looks again, and how flows are paced. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "net/model.h"

#define N_FLOWS 4
#define NOW (5000 * XOFF_NS)
#define CLASS 3
#define OPEN (1u << CLASS)

static struct net_sequence sequence;
static struct heap_entry entries[HOST_APPS];
static uint32_t positions[HOST_APPS];
static struct host host;
static struct transport transport;

/* A host at 100 Gb/s with four flows of class 3 that have 10000 bytes each and may send. */
static int set_up(void **state)
{
    (void)state;
    memset(&sequence, 0, sizeof sequence);
    host = (struct host){.flow_bytes = 256, .transports = &transport};
    transport = (struct transport){.np.ops = xoff_np_find("int")};
    host.scan = (struct scan){.is_on = true, .next_at = XOFF_NEVER};
    host.port.wire = &net_wire_ns3;
    host.port.sequence = &sequence;
    xoff_wire_clock_init(&host.port.clock, 100 * XOFF_GBPS);
    heap_init(&host.timers, entries, positions, HOST_APPS);
    host.flows = aligned_alloc(64, N_FLOWS * host.flow_bytes);
    assert_non_null(host.flows);
    for (uint32_t i = 0; i < N_FLOWS; i++) {
        *flow_at(&host, i) = (struct flow){
            .number = i, .priority = CLASS, .is_ready = true, .offered = 10000, .next_at = NOW};
        scan_add(&host, i);
    }
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    free(host.flows);
    free(host.scan.flows);
    return 0;
}

static uint32_t pick(void)
{
    return scan_pick(&host, OPEN, NOW);
}

/* The last served is flow 0 at first, so the scan begins with flow 1. */
static void goes_round(void **state)
{
    (void)state;
    const uint32_t order[] = {1, 2, 3, 0, 1};
    for (uint32_t i = 0; i < sizeof order / sizeof order[0]; i++)
        assert_int_equal(pick(), order[i]);
    assert_int_equal(scan_pick(&host, (uint8_t)~OPEN, NOW), NET_NONE); /* its class is paused */
    assert_int_equal(pick(), 2); /* a scan that finds nothing does not move the place */
}

static void passes_over_who_may_not(void **state)
{
    (void)state;
    flow_at(&host, 1)->next_at = NOW + 1;
    flow_at(&host, 2)->is_ready = false; /* its window holds it back */
    assert_int_equal(pick(), 3);
    flow_at(&host, 1)->next_at = NOW;
    assert_int_equal(pick(), 0);
    assert_int_equal(pick(), 1);
}

/* Flow 0 finishes; the scan from behind flow 2 takes flow 3 and does not meet flow 0. The next one
 * does: the list is 1, 2, 3 then, and flow 1 is taken. */
static void finished_leave_when_met(void **state)
{
    (void)state;
    host.scan.last = 2;
    scan_close(&host, 0);
    assert_int_equal(pick(), 3);
    assert_int_equal(host.scan.n, 4);
    assert_int_equal(pick(), 1);
    assert_int_equal(host.scan.n, 3);
    assert_int_equal(host.scan.last, 0);
    assert_int_equal(pick(), 2);
}

/* All that is met finished and nothing may send: the place stays 2, in a list of three. The next
 * scan begins at place (1 + 2) % 3, with flow 1, where flow 3 would be next. */
static void place_is_not_corrected(void **state)
{
    (void)state;
    host.scan.last = 2;
    scan_close(&host, 0);
    assert_int_equal(scan_pick(&host, 0, NOW), NET_NONE);
    assert_int_equal(host.scan.n, 3);
    assert_int_equal(host.scan.last, 2);
    assert_int_equal(pick(), 1);
}

static void an_empty_list_is_fine(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < N_FLOWS; i++)
        scan_close(&host, i);
    assert_int_equal(pick(), NET_NONE);
    assert_int_equal(host.scan.n, 0);
    assert_int_equal(pick(), NET_NONE);
    scan_wait(&host, NOW);
    assert_int_equal(host.scan.next_at, XOFF_NEVER);
}

/* The timer lies within the nanosecond of the next scan. */
static void assert_next(xoff_time at)
{
    assert_int_equal(host.scan.next_at, at);
    assert_int_equal(heap_top_id(&host.timers), HOST_NEXT);
    assert_in_range(heap_top_at(&host.timers), at, at + XOFF_NS - 1);
}

static void waits_for_the_first(void **state)
{
    (void)state;
    const xoff_time first = NOW + 100 * XOFF_NS;
    for (uint32_t i = 0; i < N_FLOWS; i++)
        flow_at(&host, i)->next_at = first + i * XOFF_NS;
    flow_at(&host, 0)->rel.next = 10000; /* has nothing left, */
    flow_at(&host, 1)->is_ready = false; /* is held back by its window, and counts */
    scan_wait(&host, NOW);
    assert_next(first + XOFF_NS);
    flow_at(&host, 0)->rel.next = 9999; /* a time that is set stays */
    scan_wait(&host, NOW);
    assert_next(first + XOFF_NS);
}

/* If one of them might start by now but for its window, no time is set: an ACK will wake it. */
static void does_not_wait_for_acks(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < N_FLOWS; i++)
        flow_at(&host, i)->next_at = NOW + 100 * XOFF_NS;
    flow_at(&host, 2)->next_at = NOW;
    scan_wait(&host, NOW);
    assert_int_equal(host.scan.next_at, XOFF_NEVER);
    flow_at(&host, 2)->next_at = NOW + 1;
    scan_wait(&host, NOW);
    assert_int_equal(host.scan.next_at, NOW + 1);
}

/* 1090 bytes take 87.2 ns at 100 Gb/s and 174.4 at 50, cut to whole ones. */
static void paces(void **state)
{
    (void)state;
    struct flow *flow = flow_at(&host, 0);
    scan_pace(&host, flow, 1090, NOW);
    assert_int_equal(flow->next_at, NOW + 87 * XOFF_NS);
    scan_set_pace(&host, flow, 50 * XOFF_GBPS); /* with telemetry the time set moves ... */
    assert_int_equal(flow->next_at, NOW + 174 * XOFF_NS);
    scan_set_pace(&host, flow, 0);
    assert_int_equal(flow->next_at, NOW + 87 * XOFF_NS);
    transport.np.ops = xoff_np_find("cnp"); /* ... and without it stays */
    scan_set_pace(&host, flow, 50 * XOFF_GBPS);
    assert_int_equal(flow->next_at, NOW + 87 * XOFF_NS);
    scan_pace(&host, flow, 1090, NOW + XOFF_US);
    assert_int_equal(flow->next_at, NOW + XOFF_US + 174 * XOFF_NS);
}

static void a_flow_that_has_sent_nothing_keeps_its_start(void **state)
{
    (void)state;
    scan_set_pace(&host, flow_at(&host, 0), 50 * XOFF_GBPS);
    assert_int_equal(flow_at(&host, 0)->next_at, NOW);
}

static void hastens(void **state)
{
    (void)state;
    struct flow *flow = flow_at(&host, 0);
    const xoff_time at = NOW + 50 * XOFF_NS;
    flow->next_at = at;
    scan_hasten(&host, flow, NOW); /* none is set: none is moved */
    assert_int_equal(host.scan.next_at, XOFF_NEVER);
    for (uint32_t i = 0; i < N_FLOWS; i++)
        flow_at(&host, i)->next_at = at;
    scan_wait(&host, NOW);
    const xoff_time timer_at = heap_top_at(&host.timers);
    scan_hasten(&host, flow, NOW); /* not earlier: keeps its place in the nanosecond */
    assert_int_equal(heap_top_at(&host.timers), timer_at);
    flow->next_at = at - XOFF_NS;
    scan_hasten(&host, flow, NOW);
    assert_next(at - XOFF_NS);
    flow->next_at = at + XOFF_NS; /* never moved back */
    scan_hasten(&host, flow, NOW);
    assert_next(at - XOFF_NS);
    flow->next_at = NOW - XOFF_NS; /* at once, behind all that is scheduled for now */
    const xoff_time before = net_sequence_next(&sequence, NOW, NOW);
    scan_hasten(&host, flow, NOW);
    assert_next(NOW);
    assert_true(heap_top_at(&host.timers) > before);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(goes_round),
        TEST(passes_over_who_may_not),
        TEST(finished_leave_when_met),
        TEST(place_is_not_corrected),
        TEST(an_empty_list_is_fine),
        TEST(waits_for_the_first),
        TEST(does_not_wait_for_acks),
        TEST(paces),
        TEST(a_flow_that_has_sent_nothing_keeps_its_start),
        TEST(hastens),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
