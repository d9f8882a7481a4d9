/* E2CM in whole networks: probes go to the receiver and back, the queue holds what flows are to
 * have in it, rates fall, even out and recover. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/rig.h"

static void run(struct rig *rig, const char *capture, uint32_t n_threads, const char *text)
{
    const struct rig_options options = {.n_threads = n_threads,
                                        .cell_bound = n_threads > 1 ? 0 : XOFF_PARAM_AUTO,
                                        .capture = capture};
    rig_run(rig, &options, "%s", text);
}

/* Four senders at 10 Gb/s, one receiver; three of them have 30 MB each, the last has no end. */
#define STAR(keys, transport)                                                       \
    "stop: 250ms\ndrain: 1ms\n"                                                     \
    "topology: {kind: star, hosts: 5, host_link: {rate: 10Gbps, delay: 1us}}\n"     \
    "switch: {buffer: 1MB" keys "}\npriorities: {3: {lossless: true}}\n"            \
    "transport: " transport "\n"                                                    \
    "traffic: [{kind: flows, priority: 3, list: [{from: h0, to: h4, size: 30MB},\n" \
    "  {from: h1, to: h4, size: 30MB}, {from: h2, to: h4, size: 30MB},\n"           \
    "  {from: h3, to: h4, size: 1GB}]}]\nmeasure: {every: 20us}\n"                  \
    "curves: {q: {of: queue, at: \"s0:4\", from: 40ms, to: 80ms},\n"                \
    "  link: {of: throughput, at: \"s0:4\", from: 40ms, to: 80ms},\n"               \
    "  before: {of: throughput, at: h3, from: 40ms, to: 80ms},\n"                   \
    "  after: {of: throughput, at: h3, from: 220ms}}\n"

/* Four flows of 3000 B each: 12 KB, below the Qeq of switches, which have nothing to say but at the
 * start. Rates are near 10 / 4 Gb/s, and the last flow gets the link when the others have ended. A
 * limited flow sends a probe in 500 us: four of them 8 in a ms, for some 100 ms and more. */
static void the_queue_is_shared(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double queue;
    } cases[] = {
        {STAR(", marking: {kind: ecm, severe: max}", "e2cm"), 12000},
        {STAR(", marking: {kind: ecm, severe: max}", "{kind: e2cm, qeq: 4500B}"), 18000},
        {STAR(", marking: {kind: ecm, severe: max}, fabric: output-queued", "e2cm"), 12000},
        {STAR(", marking: {kind: ecm, severe: max}", "{kind: e2cm, reliability: go-back-n}"),
         12000},
    };
    for (uint32_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct rig rig;
        run(&rig, NULL, 1, cases[i].text);
        const double mean = rig_metric(&rig, "curve.q.mean");
        const double link = rig_metric(&rig, "curve.link.mean");
        const double before = rig_metric(&rig, "curve.before.mean");
        const double after = rig_metric(&rig, "curve.after.mean");
        print_message("case %u: queue %g, link %g, last flow %g, then %g, notices %g, probes %g\n",
                      i, mean, link, before, after, rig_metric(&rig, "notices.sent"),
                      rig_metric(&rig, "tags.sent"));
        assert_true(mean > 0.85 * cases[i].queue && mean < 1.2 * cases[i].queue);
        assert_true(link > 9.7e9);
        assert_true(before > 1.8e9 && before < 3.3e9 && after > 9.5e9);
        assert_true(rig_metric(&rig, "notices.sent") < 100);
        assert_true(rig_metric(&rig, "tags.sent") > 400);
        assert_true(rig_metric(&rig, "tags.received") == rig_metric(&rig, "tags.sent"));
        assert_int_equal(rig.results->n_drops, 0);
        rig_assert_clean(&rig);
        rig_fini(&rig);
    }
}

/* The same on any number of threads, with the network at rest in the end: probes of flows that have
 * nothing more to send stop. */
static void threads_and_rest(void **state)
{
    (void)state;
    uint64_t digest = 0;
    for (uint32_t threads = 1; threads <= 4; threads *= 2) {
        struct rig rig;
        run(&rig, NULL, threads,
            "stop: 40ms\n"
            "topology: {kind: star, hosts: 5, host_link: {rate: 10Gbps, delay: 1us}}\n"
            "switch: {buffer: 1MB}\npriorities: {3: {lossless: true}}\ntransport: e2cm\n"
            "traffic: [{kind: flows, priority: 3, list: [{from: h0, to: h4, size: 3MB},\n"
            "  {from: h1, to: h4, size: 3MB}, {from: h2, to: h4, size: 3MB}]}]\n");
        for (uint64_t f = 0; f < rig.results->n_flows; f++)
            assert_int_equal(rig.results->flows[f].delivered_bytes, 3000000);
        assert_true(rig_metric(&rig, "tags.sent") > 10);
        rig_assert_clean(&rig);
        assert_true(threads == 1 || rig.results->digest == digest);
        digest = rig.results->digest;
        rig_fini(&rig);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_queue_is_shared),
        cmocka_unit_test(threads_and_rest),
    };
    return cmocka_run_group_tests_name("e2cm", tests, NULL, NULL);
}
