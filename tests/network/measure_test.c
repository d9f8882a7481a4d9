/* What is measured of a run, and when: counters at the ends of the measured time, flows that
 * starve, operations under way, series of the pauses of hosts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/rig.h"

/* An incast that makes pauses, streams beside it, and flows whose last frames are on their way when
 * the run stops. */
static const char network[] =
    "seed: %u\nstop: %s\ndrain: %s\n"
    "topology: {kind: leaf-spine, leaves: 2, spines: 2, hosts_per_leaf: 4, host_link: {rate: "
    "10Gbps,\n"
    "  delay: 1us}, fabric_link: {rate: 10Gbps, delay: 1us}}\n"
    "switch: {buffer: 300KB, pause: pfc}\npriorities: {3: {lossless: true}}\n"
    "transports: {sure: dcqcn}\nreceivers: [{host: h1, rate: 4Gbps}]\n"
    "measure: {every: 7us, from: %s, to: %s}\n"
    "traffic: [{kind: incast, from: h4..h7, to: h0, size: 60KB, every: 150us, priority: 3},\n"
    "  {kind: cbr, from: h2..h3, to: h1, rate: 3Gbps, priority: 3},\n"
    "  {kind: poisson, load: 0.2, sizes: 20KB, transport: sure, priority: 3}]\n";

/* A frame of 1518 B with preamble and gap at 10 Gb/s: a port books the wire for it in advance. */
#define FRAME_PS (1538 * 800)

static void assert_ports_equal(const struct results *part, const struct results *whole,
                               bool is_early)
{
    xoff_time paused = 0;
    for (uint32_t i = 0; i < whole->n_ports; i++) {
        const struct result_port *a = &part->ports[i], *b = &whole->ports[i];
        const xoff_time busy =
            is_early ? b->unmeasured_busy_for : b->busy_for - b->unmeasured_busy_for;
        assert_true(busy <= a->busy_for && a->busy_for - busy <= FRAME_PS);
        for (uint32_t p = 0; p < XOFF_N_PRIORITIES; p++) {
            const struct result_queue *q = &b->queue[p];
            assert_int_equal(is_early ? q->unmeasured_paused_for
                                      : q->paused_for - q->unmeasured_paused_for,
                             a->queue[p].paused_for);
            paused += a->queue[p].paused_for;
        }
    }
    assert_true(paused > 0); /* else the test shows nothing */
}

/* What a run that waits has measured by its stop is what a run that ends there has counted. */
static void stop_is_the_end(void **state)
{
    (void)state;
    for (uint32_t seed = 1; seed <= 4; seed++) {
        const struct rig_options options = {.n_threads = seed % 2 + 1};
        struct rig cut, waits;
        uint64_t late = 0;
        rig_run(&cut, &options, network, seed, "500us", "0s", "0s", "auto");
        rig_run(&waits, &options, network, seed, "500us", "20ms", "0s", "auto");
        assert_true(waits.results->end_at > 500 * XOFF_US);
        assert_ports_equal(cut.results, waits.results, false);
        for (uint64_t i = 0; i < cut.results->n_flows; i++) {
            const struct result_flow *a = &cut.results->flows[i], *b = &waits.results->flows[i];
            assert_int_equal(a->late_bytes, 0);
            assert_int_equal(a->delivered_bytes, b->delivered_bytes - b->late_bytes);
            late += b->late_bytes;
        }
        assert_true(late > 0);
        rig_fini(&cut);
        rig_fini(&waits);
    }
}

/* The part from 200 us to 400 us of a run is the difference of what runs that end there count.
 * Sources do not know of their stop before it comes, so that the first 400 us are the same. */
static void part_of_a_run(void **state)
{
    (void)state;
    struct rig at[2], whole;
    rig_run(&at[0], &(struct rig_options){0}, network, 7, "200us", "0s", "0s", "auto");
    rig_run(&at[1], &(struct rig_options){0}, network, 7, "400us", "0s", "0s", "auto");
    rig_run(&whole, &(struct rig_options){0}, network, 7, "500us", "0s", "200us", "500us");
    assert_ports_equal(at[0].results, whole.results, true);
    for (uint64_t i = 0; i < at[0].results->n_flows; i++)
        assert_int_equal(at[0].results->flows[i].delivered_bytes,
                         whole.results->flows[i].early_bytes);
    rig_fini(&whole);
    rig_run(&whole, &(struct rig_options){0}, network, 7, "500us", "0s", "200us", "400us");
    for (uint64_t i = 0; i < at[1].results->n_flows; i++) {
        const struct result_flow *f = &whole.results->flows[i];
        assert_int_equal(f->delivered_bytes - f->late_bytes,
                         at[1].results->flows[i].delivered_bytes);
    }
    for (uint32_t i = 0; i < 2; i++)
        rig_fini(&at[i]);
    rig_fini(&whole);
}

/* The last tenth of 1 ms begins at 900 us, the last half at 500 us. h1 takes nothing any more from
 * a little before or after that; what is on its way then takes less than 10 us. */
static void what_starves(void **state)
{
    (void)state;
    static const struct {
        const char *from, *traffic, *drain;
        uint64_t n;
    } cases[] = {
        {"880us", "{kind: cbr, from: h0, to: h1}", "0s", 1},
        {"920us", "{kind: cbr, from: h0, to: h1}", "0s", 0},
        {"880us", "{kind: cbr, from: h0, to: h1}", "1ms", 1},
        {"880us: 0bps, 1.5ms: 10Gbps", "{kind: cbr, from: h0, to: h1}", "1ms",
         0}, /* saved by the drain */
        {"880us", "{kind: cbr, from: h0, to: h1, start: 899us}, {kind: cbr, from: h2, to: h0}",
         "0s", 1},
        {"880us", "{kind: cbr, from: h0, to: h1, start: 901us}, {kind: cbr, from: h2, to: h0}",
         "0s", 0}, /* it has just begun */
        /* A frame of 1518 B every 50 us is 242.88 Mb/s: slower ones may wait for so long. */
        {"880us", "{kind: cbr, from: h0, to: h1, rate: 243Mbps}", "0s", 1},
        {"880us", "{kind: cbr, from: h0, to: h1, rate: 242Mbps}", "0s", 0},
        {"480us", "{kind: flows, list: [{from: h0, to: h1, size: 10MB}]}", "0s", 1},
        {"520us", "{kind: flows, list: [{from: h0, to: h1, size: 10MB}]}", "0s", 0},
        {"880us", "{kind: flows, list: [{from: h0, to: h1, size: 10KB}]}", "0s",
         0}, /* it is done */
        /* The second flow has not begun to arrive: nor does anything else of h0. At 10 us h0 is not
         * paused yet. */
        {"1ns",
         "{kind: flows, list: [{from: h0, to: h1, size: 1MB}, {from: h0, to: h2, at: 10us, size: "
         "1B}]}",
         "0s", 1},
        {"1ns",
         "{kind: flows, list: [{from: h0, to: h1, size: 1MB}, {from: h0, to: h2, at: 400us, size: "
         "1B}]}",
         "0s", 2},
        /* A connection that is idle has nothing to send. */
        {"880us", "{kind: onoff, from: h0, to: h1, pattern: pairs, burst: 1us, idle: 20us}", "0s",
         0},
    };
    for (uint32_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct rig rig;
        rig_run(&rig, &(struct rig_options){0},
                "seed: 1\nstop: 1ms\ndrain: %s\n"
                "topology: {kind: star, hosts: 3, host_link: {rate: 10Gbps, delay: 1us}}\n"
                "switch: {buffer: 400KB, pause: pfc}\npriorities: {0: {lossless: true}}\n"
                "receivers: [{host: h1, rate: [10Gbps, %s%s], buffer: 100KB}]\ntraffic: [%s]\n",
                cases[i].drain, cases[i].from, strchr(cases[i].from, ':') ? "" : ": 0bps",
                cases[i].traffic);
        uint64_t n = 0;
        for (uint64_t k = 0; k < rig.results->n_flows; k++)
            n += rig.results->flows[k].is_starving;
        if (n != cases[i].n)
            fail_msg("case %u: %llu flows starve, not %llu", i, (unsigned long long)n,
                     (unsigned long long)cases[i].n);
        rig_fini(&rig);
    }
}

/* All ranks of a ring wait for one that stands; each is in its first all-reduce. */
static void operations_under_way(void **state)
{
    (void)state;
    for (uint32_t stands = 0; stands < 2; stands++) {
        struct rig rig;
        uint64_t n = 0;
        rig_run(&rig, &(struct rig_options){0},
                "stop: 100us\ndrain: 2ms\n"
                "topology: {kind: star, hosts: 4, host_link: {rate: 10Gbps, delay: 1us}}\n"
                "receivers: [{host: h2, rate: %s}]\ntransport: none\n"
                "traffic: [{kind: allreduce, ranks_per_host: 2, size: 80KB}]\n",
                stands ? "0bps" : "10Gbps");
        for (uint32_t i = 0; i < rig.results->n_running; i++)
            n += rig.results->running[i].n;
        assert_int_equal(n, stands ? 8 : 0);
        assert_true(stands ? !rig.results->n_operations : rig.results->n_operations > 0);
        rig_fini(&rig);
    }
}

/* The samples of a host's pauses add up to the time that it was paused, with each value standing
 * until the next. */
static void pauses_of_hosts(void **state)
{
    (void)state;
    struct rig rig;
    rig_run(&rig, &(struct rig_options){0}, network, 3, "700us", "0s", "0s", "auto");
    const struct results *r = rig.results;
    uint32_t n_paused = 0;
    for (uint32_t h = 0; h < r->n_hosts; h++) {
        double sum = 0, value = 0;
        xoff_time at = 0;
        for (uint64_t i = 0; i < r->n_samples; i++) {
            const struct result_sample *s = &r->samples[i];
            if (s->node != h || s->priority != 3 || s->metric != RESULT_PAUSED_FRACTION)
                continue;
            sum += value * (double)(s->at - 7 * XOFF_US - at) + s->value * 7 * XOFF_US;
            value = s->value;
            at = s->at;
        }
        sum += value * (double)(693 * XOFF_US - at); /* the last sample */
        xoff_time paused = 0;
        for (uint32_t i = 0; i < r->n_ports; i++)
            paused = r->ports[i].node == h ? r->ports[i].queue[3].paused_for : paused;
        const double difference = (double)paused - sum;
        assert_true(difference >= -1 && difference <= 7 * XOFF_US + 1);
        n_paused += sum > 0;
    }
    assert_true(n_paused > 0);
    rig_fini(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stop_is_the_end), cmocka_unit_test(part_of_a_run),
        cmocka_unit_test(what_starves),    cmocka_unit_test(operations_under_way),
        cmocka_unit_test(pauses_of_hosts),
    };
    return cmocka_run_group_tests_name("measure", tests, NULL, NULL);
}
