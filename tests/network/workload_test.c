/* Closed loops in whole networks: durations by hand, and completion in spite of loss. Fan-ins, and
 * priorities drawn for each flow. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/rig.h"

#define STAR "topology: {kind: star, hosts: 8, host_link: {rate: 100Gbps, delay: 1us}}\n"

/* Time of a message of `bytes` over the two links of the star: all frames but the last are full
 * (1456 B of payload, 1538 on the wire) and follow each other; the last one crosses both links. At
 * 80 ps per byte. */
static xoff_time message_time(uint64_t bytes)
{
    const uint64_t full = (bytes - 1) / 1456;
    uint64_t last = bytes - full * 1456 + 62;
    last = last < 64 ? 64 : last;
    /* The last full frame has arrived 12 byte times before the next could start, and keeps the
     * switch's wire for 1538 more: a short last one may have to wait for it. */
    const xoff_time first_link = (xoff_time)(full * 1538 + last + 8) * 80;
    const xoff_time waits = full ? (xoff_time)(full * 1538 - 12 + 1538) * 80 + XOFF_US : 0;
    xoff_time at_switch = first_link + XOFF_US;
    if (waits > at_switch)
        at_switch = waits;
    return at_switch + (xoff_time)(last + 8) * 80 + XOFF_US;
}

/* A ring all-reduce of n ranks is 2(n - 1) steps, each a chunk of size / n that follows the arrival
 * of the last one. Datagrams: nothing else is on the wire, so it is exact. */
static void allreduce_is_2n_2_steps(void **state)
{
    (void)state;
    static const uint32_t sizes[] = {8, 8 * 1456, 8 * 5000, 8 * 14560};
    for (uint32_t i = 0; i < 4; i++) {
        struct rig rig;
        rig_run(&rig, NULL,
                STAR "stop: 10ms\ntraffic: [{kind: allreduce, size: %uB, iterations: 3}]\n",
                sizes[i]);
        const struct results *r = rig.results;
        assert_int_equal(r->n_operations, 3 * 8);
        assert_int_equal(r->n_flows, 3 * 8 * 14);
        for (uint32_t k = 0; k < r->n_operations; k++)
            assert_int_equal(r->operations[k].finish_at - r->operations[k].start_at,
                             14 * message_time(sizes[i] / 8));
        rig_assert_clean(&rig);
        rig_fini(&rig);
    }
}

/* A read of one frame: the command there, data and response back in one message. A write: command,
 * R2T, data, response: four messages. One initiator, one target, one command at a time. */
static void iscsi_by_hand(void **state)
{
    (void)state;
    struct rig rig;
    rig_run(&rig, NULL,
            STAR "stop: 100us\ntraffic: [{kind: iscsi, from: h0, to: h1, size: 1000B, read: 1}]\n");
    xoff_time expected = message_time(48) + message_time(1000 + 48 + 48);
    assert_true(rig.results->n_operations > 5);
    for (uint32_t k = 0; k < rig.results->n_operations; k++)
        assert_int_equal(rig.results->operations[k].finish_at - rig.results->operations[k].start_at,
                         expected);
    rig_fini(&rig);

    /* 20000 B in bursts of 8000: three R2Ts; the data of a burst has one header, of at most 8 KiB.
     */
    rig_run(&rig, NULL,
            STAR "stop: 100us\ntraffic: [{kind: iscsi, from: h0, to: h1, size: 20000B, read: 0,\n"
                 "  burst: 8000B, segment: 8192B}]\n");
    expected = message_time(48) + 3 * message_time(48) + 2 * message_time(8048) +
               message_time(4048) + message_time(48);
    assert_true(rig.results->n_operations > 2);
    for (uint32_t k = 0; k < rig.results->n_operations; k++)
        assert_int_equal(rig.results->operations[k].finish_at - rig.results->operations[k].start_at,
                         expected);
    rig_assert_clean(&rig);
    rig_fini(&rig);
}

/* Both neighbours at a time share a rank's link; an iteration takes at least both messages on it,
 * and with their ACKs not much more. */
static void exchange_iterations(void **state)
{
    (void)state;
    struct rig rig;
    rig_run(&rig, NULL,
            STAR "stop: 10ms\ntransport: none\n"
                 "traffic: [{kind: mpi-exchange, size: 145600B, iterations: 20}]\n");
    assert_int_equal(rig.results->n_operations, 20 * 8);
    const xoff_time least = 2 * 100 * (xoff_time)1538 * 80;
    for (uint32_t k = 0; k < rig.results->n_operations; k++) {
        const xoff_time t =
            rig.results->operations[k].finish_at - rig.results->operations[k].start_at;
        /* Beyond it: the latency there and back, an ACK per frame, and a neighbour that began
         * later. */
        assert_true(t > least && t < least + least / 4 + 10 * XOFF_US);
    }
    rig_assert_clean(&rig);
    rig_fini(&rig);
}

/* Frame errors lose data and ACKs of every kind of message; each operation still completes, once.
 */
static void loss_delays_but_loses_nothing(void **state)
{
    (void)state;
    static const char *const transports[] = {"none", "tcp", "dcqcn", "dctcp"};
    static const struct {
        const char *traffic;
        uint32_t n_operations;
    } loops[] = {
        {"{kind: allreduce, size: 200KB, iterations: 2}", 16},
        {"{kind: mpi-exchange, size: 20KB, iterations: 10, ranks_per_host: 2}", 160},
        {"{kind: all-to-all, size: 10KB, iterations: 3}", 24},
    };
    for (uint32_t t = 0; t < 4; t++)
        for (uint32_t l = 0; l < 3; l++)
            for (uint32_t seed = 1; seed <= 5; seed++) {
                struct rig rig;
                rig_run(&rig, NULL,
                        "seed: %u\nstop: 1s\ndrain: 10s\ntransport: %s\nhost: {timeout: 100us}\n"
                        "topology: {kind: star, hosts: 8,\n"
                        "  host_link: {rate: 100Gbps, delay: 1us, error: 1%%}}\n"
                        "traffic: [%s]\n",
                        seed, transports[t], loops[l].traffic);
                assert_int_equal(rig.results->n_operations, loops[l].n_operations);
                assert_true(rig_metric(&rig, "drops.corrupt") > 0);
                assert_true(rig_metric(&rig, "flows.finished") == rig_metric(&rig, "flows"));
                for (uint64_t f = 0; f < rig.results->n_flows; f++)
                    assert_int_equal(rig.results->flows[f].delivered_bytes,
                                     rig.results->flows[f].offered_bytes);
                rig_assert_clean(&rig);
                rig_fini(&rig);
            }
}

/* Queues longer than the timeout: whole flows arrive twice and more, and late copies after the end.
 * Each is told to its app once, or a query would end before its answers are there. */
static void copies_are_told_once(void **state)
{
    (void)state;
    static const char *const more[] = {
        "transport: none\nhost: {timeout: 20us}\n"
        "topology: {kind: star, hosts: 8}\n",
        "transport: none\nhost: {timeout: 20us}\n"
        "topology: {kind: star, hosts: 8, host_link: {error: 2%}}\n",
        "transport: {kind: tcp, tcp: {rto_min: 20us, rto_initial: 20us, delayed_ack: 1us}}\n"
        "topology: {kind: leaf-spine, leaves: 2, spines: 2, hosts_per_leaf: 4,\n"
        "  host_link: {error: 2%}}\nswitch: {path: scatter}\n"};
    for (uint32_t i = 0; i < 3; i++) {
        struct rig rig;
        rig_run(&rig, NULL,
                "stop: 1ms\npriorities: {0: {lossless: true}}\n%s"
                "traffic: [{kind: query, senders: 7, size: 20KB, every: 5us, outstanding: 100}]\n",
                more[i]);
        const struct results *r = rig.results;
        assert_true(rig_metric(&rig, "retransmissions") > 0);
        assert_true(r->n_operations > 100);
        assert_int_equal(r->n_flows, 14 * r->n_operations); /* seven requests, seven answers */
        assert_true(rig_metric(&rig, "flows.finished") == rig_metric(&rig, "flows"));
        rig_assert_clean(&rig);
        rig_fini(&rig);
    }
}

/* Connections stay open, and DCQCN would go on raising their rates for tens of milliseconds: with
 * nothing to send its clocks stand still, and the run ends with its last ACK. */
static void idle_connections_rest(void **state)
{
    (void)state;
    static const char *const kinds[] = {"dcqcn", "dcqcn-nic", "tcp"};
    for (uint32_t i = 0; i < 3; i++) {
        struct rig rig;
        rig_run(&rig, NULL,
                "stop: 1ms\ntransport: %s\ntopology: {kind: star, hosts: 9}\n"
                "switch: {marking: {kind: ecn, kmin: 5KB, kmax: 20KB, pmax: 1}}\n"
                "priorities: {0: {lossless: true}}\n"
                "traffic: [{kind: iscsi, from: h1..h8, to: h0, size: 64KB, depth: 4}]\n",
                kinds[i]);
        xoff_time last = 0;
        for (uint64_t f = 0; f < rig.results->n_flows; f++)
            last = rig.results->flows[f].acked_at > last ? rig.results->flows[f].acked_at : last;
        assert_true(rig_metric(&rig, "marks") > 0);
        assert_int_equal(rig.results->end_at, last);
        rig_fini(&rig);
    }
}

/* An entry beyond what a frame can name is heard by nobody, not by entry 0. */
static void plain_flows_are_not_heard(void **state)
{
    (void)state;
    static char text[64000];
    size_t n = (size_t)snprintf(text, sizeof text,
                                STAR "stop: 100us\ntransport: none\ntraffic:\n"
                                     "- {kind: query, senders: 3, size: 2KB, every: 10us}\n");
    for (uint32_t i = 1; i < 300; i++)
        n += (size_t)snprintf(text + n, sizeof text - n,
                              "- {kind: flows, list: [{at: %uns, from: h1, to: h0, size: 1KB}]}\n",
                              100 * i);
    struct rig rig;
    rig_run(&rig, NULL, "%s", text);
    assert_int_equal(rig.results->n_flows, 299 + 6 * rig.results->n_operations);
    rig_assert_clean(&rig);
    rig_fini(&rig);
}

/* Queries: each has its answers, and the same digest on any number of threads. */
static void queries_and_threads(void **state)
{
    (void)state;
    uint64_t digest = 0;
    for (uint32_t n_threads = 1; n_threads <= 4; n_threads *= 2) {
        const struct rig_options options = {.n_threads = n_threads, .cell_bound = XOFF_PARAM_AUTO};
        struct rig rig;
        rig_run(&rig, &options,
                "stop: 1ms\ntransport: dctcp\npriorities: {3: {lossless: true}}\n"
                "switch: {marking: ecn}\n"
                "topology: {kind: leaf-spine, leaves: 4, spines: 2, hosts_per_leaf: 4}\n"
                "traffic:\n"
                "- {kind: query, senders: 10, size: 20KB, every: 20us, priority: 3}\n"
                "- {kind: iscsi, from: 'h0..h3', to: 'h8..h11', size: 64KB, depth: 4,\n"
                "   transport: tcp}\n"
                "- {kind: allreduce, size: 100KB, iterations: 4, priority: 3, transport: dcqcn}\n");
        assert_true(rig.results->n_operations > 100);
        assert_true(rig_metric(&rig, "flows.finished") == rig_metric(&rig, "flows"));
        if (digest)
            assert_true(digest == rig.results->digest);
        digest = rig.results->digest;
        rig_assert_clean(&rig);
        rig_fini(&rig);
    }
}

/* Deviation of counts from those expected, as chi-square has it. */
static double deviation(double count, double expected)
{
    return (count - expected) * (count - expected) / expected;
}

/* Fan-ins on seven lossless priorities: each flow has one of them, all alike often, all is
 * delivered, and the same on two threads. 6 degrees of freedom: 22.5 once in a thousand. */
static void fan_ins_on_seven_priorities(void **state)
{
    (void)state;
    uint64_t digest = 0;
    for (uint32_t n_threads = 1; n_threads <= 2; n_threads++) {
        const struct rig_options options = {.n_threads = n_threads, .cell_bound = XOFF_PARAM_AUTO};
        struct rig rig;
        rig_run(&rig, &options,
                "stop: 1ms\ntransport: dcqcn\nswitch: {marking: ecn}\n"
                "priorities: {0: {lossless: true}, 1: {lossless: true}, 2: {lossless: true},\n"
                "  3: {lossless: true}, 4: {lossless: true}, 5: {lossless: true},\n"
                "  6: {lossless: true}}\n"
                "topology: {kind: leaf-spine, leaves: 4, spines: 2, hosts_per_leaf: 4}\n"
                "traffic: [{kind: fan-in, senders: 8, size: 20KB, load: 0.3,\n"
                "  priorities: 0..6}]\n");
        const struct results *r = rig.results;
        uint32_t count[8] = {0};
        double sum = 0;
        for (uint64_t f = 0; f < r->n_flows; f++) {
            count[r->flows[f].priority]++;
            assert_int_equal(r->flows[f].offered_bytes, 20000);
            assert_int_equal(r->flows[f].delivered_bytes, 20000);
        }
        for (uint32_t p = 0; p < 7; p++)
            sum += deviation(count[p], (double)r->n_flows / 7);
        assert_true(r->n_flows > 2000 && r->n_flows % 8 == 0);
        assert_int_equal(count[7], 0);
        assert_true(sum < 22.5);
        assert_int_equal(r->n_drops, 0);
        assert_true(rig_metric(&rig, "flows.finished") == rig_metric(&rig, "flows"));
        if (digest)
            assert_true(digest == r->digest);
        digest = r->digest;
        rig_assert_clean(&rig);
        rig_fini(&rig);
    }
}

/* A leaf's frames by priority and by spine, one frame to a flow: which way a flow goes says nothing
 * of its priority. 4 leaves with 2 x 4 places: 12 degrees of freedom, 32.9. Those of another
 * host, or with another seed, are others. */
static void priorities_do_not_follow_paths(void **state)
{
    (void)state;
    static const uint8_t set[] = {0, 2, 3, 7};
    uint8_t drawn[3][16][16] = {0}; /* by seed, host, number */
    for (uint32_t seed = 1; seed <= 2; seed++) {
        struct rig rig;
        rig_run(&rig, NULL,
                "seed: %u\nstop: 500us\ntransport: datagram\n"
                "topology: {kind: leaf-spine, leaves: 4, spines: 2, hosts_per_leaf: 4}\n"
                "traffic: [{kind: bernoulli, load: 0.3, frame: 200B, priorities: [0, 2, 3, 7]}]\n",
                seed);
        double sum = 0;
        for (uint32_t l = 0; l < 4; l++) {
            double cell[2][4], by_spine[2] = {0}, by_priority[4] = {0};
            for (uint32_t s = 0; s < 2; s++) {
                char leaf[16], spine[16];
                snprintf(leaf, sizeof leaf, "leaf%u", l);
                snprintf(spine, sizeof spine, "spine%u", s);
                const struct result_port *port = rig_port(&rig, leaf, spine);
                for (uint32_t k = 0; k < 4; k++) {
                    cell[s][k] = (double)port->queue[set[k]].tx_frames;
                    by_spine[s] += cell[s][k];
                    by_priority[k] += cell[s][k];
                }
                assert_int_equal(port->queue[1].tx_frames, 0);
            }
            for (uint32_t i = 0; i < 8; i++)
                sum += deviation(cell[i / 4][i % 4], by_spine[i / 4] * by_priority[i % 4] /
                                                         (by_spine[0] + by_spine[1]));
            assert_true(by_spine[0] > 2000 && by_spine[1] > 2000);
        }
        assert_true(sum < 32.9);
        for (uint64_t i = 0; i < rig.results->n_flows; i++) {
            const struct result_flow *f = &rig.results->flows[i];
            assert_true(0x8d >> f->priority & 1);
            if (f->number < 16)
                drawn[seed][f->from][f->number] = f->priority;
        }
        for (uint32_t h = 1; h < 16; h++)
            assert_memory_not_equal(drawn[seed][h], drawn[seed][0], sizeof drawn[0][0]);
        rig_fini(&rig);
    }
    assert_memory_not_equal(drawn[1], drawn[2], sizeof drawn[0]);
}

/* A connection has one priority for its whole life, and so have the records of its messages. */
static void connections_keep_their_priority(void **state)
{
    (void)state;
    struct rig rig;
    rig_run(&rig, NULL,
            STAR "stop: 200us\ntransport: none\n"
                 "traffic: [{kind: iscsi, from: h0..h3, to: h4..h7, pattern: uniform, size: 4KB,\n"
                 "  depth: 4, priorities: 0..7}]\n");
    uint8_t priority[8][8], used = 0;
    memset(priority, 0xff, sizeof priority);
    assert_true(rig.results->n_flows > 200);
    for (uint64_t i = 0; i < rig.results->n_flows; i++) {
        const struct result_flow *f = &rig.results->flows[i];
        uint8_t *own = &priority[f->from][f->to];
        assert_true(*own == 0xff || *own == f->priority);
        *own = f->priority;
        used |= (uint8_t)(1u << f->priority);
    }
    assert_true(__builtin_popcount(used) >= 5);
    rig_assert_clean(&rig);
    rig_fini(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(idle_connections_rest),
        cmocka_unit_test(allreduce_is_2n_2_steps),
        cmocka_unit_test(iscsi_by_hand),
        cmocka_unit_test(exchange_iterations),
        cmocka_unit_test(loss_delays_but_loses_nothing),
        cmocka_unit_test(copies_are_told_once),
        cmocka_unit_test(plain_flows_are_not_heard),
        cmocka_unit_test(queries_and_threads),
        cmocka_unit_test(fan_ins_on_seven_priorities),
        cmocka_unit_test(priorities_do_not_follow_paths),
        cmocka_unit_test(connections_keep_their_priority),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
