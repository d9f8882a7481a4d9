/* Slow receivers in whole networks: virtual machines that share a receive queue, and the congestion
 * point that watches it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/rig.h"

static xoff_time finish_of(const struct rig *rig, uint32_t tag)
{
    for (uint64_t i = 0; i < rig->results->n_flows; i++)
        if (rig->results->flows[i].tag == tag)
            return rig->results->flows[i].finish_at;
    fail_msg("no flow of entry %u", tag);
    return 0;
}

/* Three frames of 1062 B (1000 B and 62 of headers) for h1. On the wire each takes 856 ns with its
 * preamble until its last bit, at two links of 10 Gb/s and 1 us: the first is there at 3712 ns, the
 * others 865.6 ns (1082 B) later each. A machine takes 8496 ns at 1 Gb/s, the host 849.6 ns at 10.
 */
static void machines_take_their_own(void **state)
{
    (void)state;
    static const struct {
        const char *vms;
        xoff_time finish_at[3];
    } cases[] = {
        /* In one queue: 3712 + 849.6, then each when it is there. */
        {"", {4561600, 5427200, 6292800}},
        /* The first waits for its machine, the others do not wait for the first. */
        {", vms: [{traffic: a, rate: 1Gbps}]", {12208000, 5427200, 6292800}},
        /* a and c have one machine: c is taken behind a. */
        {", vms: [{traffic: [a, c], rate: 1Gbps}]", {12208000, 5427200, 20704000}},
        /* Two machines of 1 Gb/s do not share their rate. */
        {", vms: [{traffic: a, rate: 1Gbps}, {traffic: c, rate: 1Gbps}]",
         {12208000, 5427200, 13939200}},
        /* A machine stands still until 20 us: 20000 + 849.6. */
        {", vms: [{traffic: b, rate: [0bps, 20us: 10Gbps]}]", {4561600, 20849600, 6292800}},
    };
    for (uint32_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct rig rig;
        rig_run(&rig, &(struct rig_options){0},
                "topology: {kind: star, hosts: 2, host_link: {rate: 10Gbps, delay: 1us}}\n"
                "receivers: [{host: h1, rate: 10Gbps%s}]\n"
                "traffic: [{kind: flows, name: a, list: [{from: h0, to: h1, size: 1000B}]},\n"
                "  {kind: flows, name: b, list: [{from: h0, to: h1, size: 1000B}]},\n"
                "  {kind: flows, name: c, list: [{from: h0, to: h1, size: 1000B}]}]\n",
                cases[i].vms);
        for (uint32_t tag = 0; tag < 3; tag++)
            assert_int_equal(finish_of(&rig, tag), cases[i].finish_at[tag]);
        rig_assert_clean(&rig);
        rig_fini(&rig);
    }
}

/* Flows of one frame at random times from three hosts. A slow model takes what a capture saw arrive
 * at h3 and serves each machine by itself, first come, first served. */
static void machines_equal_a_model(void **state)
{
    (void)state;
    static const double ps_per_byte[] = {8000, 2000, 800}; /* 1, 4 and 10 Gb/s */
    for (uint32_t seed = 1; seed <= 6; seed++) {
        struct rig rig;
        const struct rig_options options = {.capture = "h3", .n_threads = seed % 2 + 1};
        rig_run(&rig, &options,
                "seed: %u\nstop: 300us\ndrain: 10ms\n"
                "topology: {kind: star, hosts: 4, host_link: {rate: 10Gbps, delay: 1us}}\n"
                "receivers: [{host: h3, rate: 10Gbps, buffer: 4MB, vms: [{traffic: slow, rate:\n"
                "  1Gbps}, {traffic: mid, rate: 4Gbps}]}]\ntransport: datagram\n"
                "traffic:\n"
                "  - {kind: poisson, name: slow, from: h0..h2, to: h3, load: 0.1, sizes: 700B}\n"
                "  - {kind: poisson, name: mid, from: h0..h2, to: h3, load: 0.15, sizes: 1300B}\n"
                "  - {kind: poisson, name: rest, from: h0..h2, to: h3, load: 0.01, sizes: 100B}\n",
                seed);
        const struct result_capture *c = &rig.results->captures[0];
        xoff_time free_at[3] = {0};
        uint64_t n = 0;
        for (uint64_t k = 0; k < c->n_frames; k++) {
            const struct result_frame *f = &c->frames[k];
            if (f->is_sent)
                continue;
            const struct result_flow *flow = rig.results->flows;
            while (flow->from != f->from || flow->number != f->flow)
                flow++;
            xoff_time *at = &free_at[flow->tag];
            *at = (f->at > *at ? f->at : *at) + (xoff_time)(f->bytes * ps_per_byte[flow->tag]);
            assert_int_equal(flow->finish_at, *at);
            n++;
        }
        assert_true(n > 50 && n == rig.results->n_flows);
        rig_assert_clean(&rig);
        rig_fini(&rig);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(machines_take_their_own),
        cmocka_unit_test(machines_equal_a_model),
    };
    return cmocka_run_group_tests_name("receiver", tests, NULL, NULL);
}
