/* The audit notices each book that is wrong. Networks end in the middle of traffic, and in them one
 * number at a time is spoiled; the audit then says of which node or link, and has nothing to say
 * once the number is right again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "net/harvest.h"
#include "support/rig.h"

enum { PRIORITY = 3 };

/* h0 sends to h2, a slow receiver whose congestion point knows its frames, and to h1; congestion
 * points of the switch watch its inputs. Everybody is busy in the end. */
static const char busy[] =
    "stop: 1ms\ndrain: 0s\n"
    "topology: {kind: star, hosts: 3, host_link: {rate: 10Gbps, delay: 500ns}}\n"
    "switch: {buffer: 1MB, congestion_points: input, marking: {kind: qcn}}\n"
    "priorities: {3: {lossless: true}}\ntransport: qcn\n"
    "receivers: [{host: h2, rate: 5Gbps, buffer: 150KiB, xoff: 110KiB, xon: 44KiB,\n"
    "  marking: {kind: qcn, qeq: 60KiB, sampling: occupancy}}]\n"
    "traffic: [{kind: cbr, from: h0, to: h2, rate: 8Gbps, priority: 3},\n"
    "  {kind: cbr, from: h1, to: h2, rate: 8Gbps, priority: 3}]\n";

/* Everything has arrived. */
static const char at_rest[] = "topology: {kind: star, hosts: 2}\n"
                              "traffic: [{kind: flows, list: [{from: h0, to: h1, size: 9KB}]}]\n";

static void made(struct rig *rig, int by)
{
    rig->built->net->switches[0]->made_bytes += by;
}

static void held_by_port(struct rig *rig, int by)
{
    *sw_held(rig->built->net->switches[0], PRIORITY, 0, 2) += (uint32_t)by;
}

static void counted_at_an_input(struct rig *rig, int by)
{
    rig->built->net->switches[0]->points[1].queues[PRIORITY].bytes += by;
}

static void counted_by_all_points(struct rig *rig, int by)
{
    rig->built->net->switches[0]->points[1].queues[PRIORITY].bytes += by * INT64_C(1000000);
}

static void consumed(struct rig *rig, int by)
{
    rig->built->net->hosts[2].consumed_bytes += by;
}

static void offered(struct rig *rig, int by)
{
    rig->built->net->hosts[1].offered_bytes += by;
}

static void waiting(struct rig *rig, int by)
{
    rig->built->net->hosts[2].receiver->servers[0].queue.bytes += by;
}

static void units_of_a_receiver(struct rig *rig, int by)
{
    rig->built->net->hosts[2].receiver->occupancy->queues[PRIORITY].n += (uint32_t)by;
}

static struct result_queue *queue_of(struct rig *rig, const char *node, const char *peer)
{
    return (struct result_queue *)&rig_port(rig, node, peer)->queue[PRIORITY];
}

static void sent(struct rig *rig, int by)
{
    queue_of(rig, "s0", "h2")->tx_bytes += (uint64_t)by;
}

static void pauses_sent(struct rig *rig, int by)
{
    queue_of(rig, "h2", "s0")->pause_tx += 2 * (uint64_t)by;
}

static void resumes_sent(struct rig *rig, int by)
{
    queue_of(rig, "h2", "s0")->resume_tx += 2 * (uint64_t)by;
}

static void pauses_received(struct rig *rig, int by)
{
    queue_of(rig, "s0", "h2")->pause_rx += 2 * (uint64_t)by;
}

static void left_to_acknowledge(struct rig *rig, int by)
{
    rig->built->net->hosts[0].acks[0].bytes += by;
}

static bool is_said(const struct results *r, uint32_t first, const char *says)
{
    for (uint32_t i = first; i < r->n_findings; i++)
        if (strstr(r->findings[i].text, says))
            return true;
    return false;
}

/* Checks the nodes as they are now, and their links by the results. */
static void audit_again(struct net *net, struct results *r)
{
    struct harvests all;
    harvest_create(net, NULL, &all);
    audit(net, &all, r);
    harvest_fini(&all);
}

static void each_book(void **state)
{
    (void)state;
    static const struct {
        const char *scenario;
        void (*spoil)(struct rig *rig, int by);
        const char *says;
    } cases[] = {
        {busy, made, "s0: "},
        {busy, made, "B in or made, but"},
        {busy, held_by_port, "s0 priority 3: "},
        {busy, held_by_port, "B noted by port"},
        {busy, counted_at_an_input, "s0 port 1 priority 3: congestion point counts"},
        {busy, counted_by_all_points, "s0: congestion points see"},
        {busy, consumed, "B in, but"},
        {busy, offered, "h1: "},
        {busy, offered, "B to send, but"},
        {busy, waiting, "h2: pools account for"},
        {busy, units_of_a_receiver, "h2 priority 3: congestion point sees"},
        {busy, sent, "link s0 port 2 to h2: "},
        {busy, pauses_sent, "h2 port 0 priority 3: "},
        {busy, pauses_sent, "do not pair"},
        {busy, resumes_sent, "do not pair"},
        {busy, pauses_received, "s0 port 2 priority 3: more pauses received than h2 sent"},
        {at_rest, left_to_acknowledge, "h0: 1 B stuck after the network came to rest"},
    };
    struct rig rig = {0};
    for (uint32_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (i == 0 || cases[i].scenario != cases[i - 1].scenario) {
            if (i > 0)
                rig_fini(&rig);
            rig_run(&rig, NULL, "%s", cases[i].scenario);
            rig_assert_clean(&rig);
        }
        struct results *r = rig.results;
        uint32_t before = r->n_findings;
        cases[i].spoil(&rig, 1);
        audit_again(rig.built->net, r);
        if (!is_said(r, before, cases[i].says))
            fail_msg("not said: %s", cases[i].says);
        cases[i].spoil(&rig, -1);
        before = r->n_findings;
        audit_again(rig.built->net, r);
        assert_int_equal(r->n_findings, before);
    }
    rig_fini(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_book)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
