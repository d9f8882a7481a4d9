/* Who gets how much of a congested link: weighted max-min shares of DRR, ETS and WFQ, weights that
 * follow the frame sizes, strict priority, nothing wasted; and which frames ECN marks.
 *
 *   h0 -- left ===== right -- h8     host i sends priority i to host 8 + i, all over one link
 *   h7 --/               \-- h15
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/rig.h"

#define LINE 100e9
#define FULL 0 /* line rate */
#define NONE (-1)

struct share_case {
    const char *name, *scheduler;
    bool is_lossless;
    uint8_t strict;
    double gbps[8]; /* offered, in bits of MAC frames; FULL, NONE */
    uint32_t weight[8], frame[8];
};

static const struct share_case cases[] = {
    {"drr, equal",
     "drr",
     false,
     0,
     {FULL, FULL, FULL, FULL, FULL, FULL, FULL, FULL},
     {1, 1, 1, 1, 1, 1, 1, 1},
     {1518, 1518, 1518, 1518, 1518, 1518, 1518, 1518}},
    {"drr, weights",
     "drr",
     false,
     0,
     {FULL, FULL, FULL, FULL, FULL, FULL, FULL, FULL},
     {1, 2, 3, 4, 5, 6, 7, 8},
     {1518, 1518, 1518, 1518, 1518, 1518, 1518, 1518}},
    {"drr, frame sizes",
     "drr",
     false,
     0,
     {FULL, FULL, FULL, FULL, NONE, NONE, NONE, NONE},
     {1, 2, 1, 5, 1, 1, 1, 1},
     {1518, 300, 777, 1000, 1518, 1518, 1518, 1518}},
    {"drr, modest demands",
     "drr",
     false,
     0,
     {5, FULL, 20, FULL, 1.5, NONE, FULL, NONE},
     {1, 1, 4, 2, 8, 1, 3, 1},
     {1518, 1518, 1000, 1518, 500, 1518, 1518, 1518}},
    {"drr, lossless",
     "drr",
     true,
     0,
     {FULL, FULL, FULL, FULL, FULL, FULL, FULL, FULL},
     {1, 2, 3, 4, 5, 6, 7, 8},
     {1518, 1518, 1518, 1518, 1518, 1518, 1518, 1518}},
    {"wfq, frame sizes and modest demands",
     "wfq",
     false,
     0,
     {5, FULL, 20, FULL, 1.5, NONE, FULL, NONE},
     {1, 1, 4, 2, 8, 1, 3, 1},
     {1518, 300, 1000, 777, 500, 1518, 1518, 1518}},
    {"wfq, lossless",
     "wfq",
     true,
     0,
     {FULL, FULL, FULL, FULL, FULL, FULL, FULL, FULL},
     {1, 2, 3, 4, 5, 6, 7, 8},
     {1518, 1518, 1518, 1518, 1518, 1518, 1518, 1518}},
    /* Charges preamble and gap, and yet shares frame bytes. */
    {"drr-awc, exact",
     "{kind: drr-awc, weights: exact, bin_size: mean, period: 20us}",
     false,
     0,
     {FULL, FULL, FULL, FULL, NONE, NONE, NONE, NONE},
     {1, 2, 1, 5, 1, 1, 1, 1},
     {1518, 300, 68, 1000, 1518, 1518, 1518, 1518}},
    {"ets, weights",
     "ets",
     false,
     0,
     {FULL, FULL, FULL, FULL, NONE, NONE, NONE, FULL},
     {10, 20, 30, 40, 1, 1, 1, 100},
     {1518, 1518, 1518, 1518, 1518, 1518, 1518, 1518}},
    {"ets, strict first",
     "ets",
     false,
     1u << 6,
     {FULL, FULL, FULL, NONE, NONE, NONE, 30, NONE},
     {1, 2, 7, 1, 1, 1, 1, 1},
     {1518, 1518, 1518, 1518, 1518, 1518, 1000, 1518}},
    {"ets, strict first, lossless",
     "ets",
     true,
     1u << 2 | 1u << 5,
     {FULL, FULL, 12, NONE, FULL, 25, NONE, NONE},
     {3, 1, 1, 1, 4, 1, 1, 1},
     {1518, 700, 1518, 1518, 1518, 400, 1518, 1518}},
    {"strict",
     "strict",
     false,
     0xff,
     {FULL, FULL, NONE, 10, NONE, 30, 20, NONE},
     {1, 1, 1, 1, 1, 1, 1, 1},
     {1518, 1518, 1518, 1518, 1518, 1518, 1518, 1518}},
};

static double demand_of(const struct share_case *c, uint32_t p)
{
    if (c->gbps[p] < 0)
        return 0;
    return c->gbps[p] > 0 ? c->gbps[p] * 1e9 : LINE * c->frame[p] / (c->frame[p] + 20);
}

/* Part of the link that a rate of MAC bits takes. */
static double wire_of(const struct share_case *c, uint32_t p, double bps)
{
    return bps * (c->frame[p] + 20) / c->frame[p];
}

/* Strict priorities take what they ask for, highest first; the weighted ones get
 * min(demand, weight * f) with f as large as the link allows. */
static void expected_shares(const struct share_case *c, double bps[8])
{
    double left = LINE;
    for (uint32_t p = 8; p-- > 0;) {
        bps[p] = 0;
        if (!(c->strict >> p & 1))
            continue;
        bps[p] = demand_of(c, p);
        if (wire_of(c, p, bps[p]) > left)
            bps[p] = left * c->frame[p] / (c->frame[p] + 20);
        left -= wire_of(c, p, bps[p]);
    }
    double low = 0, high = LINE;
    for (uint32_t i = 0; i < 100; i++) {
        const double f = (low + high) / 2;
        double used = 0;
        for (uint32_t p = 0; p < 8; p++) {
            const double demand = demand_of(c, p);
            if (!(c->strict >> p & 1))
                used += wire_of(c, p, demand < c->weight[p] * f ? demand : c->weight[p] * f);
        }
        if (used > left)
            high = f;
        else
            low = f;
    }
    for (uint32_t p = 0; p < 8; p++)
        if (!(c->strict >> p & 1)) {
            const double demand = demand_of(c, p);
            bps[p] = demand < c->weight[p] * low ? demand : c->weight[p] * low;
        }
}

static void run_case(const struct share_case *c, struct rig *rig)
{
    char traffic[1024] = "", priorities[1024] = "";
    for (uint32_t p = 0; p < 8; p++) {
        size_t used = strlen(priorities);
        snprintf(priorities + used, sizeof priorities - used,
                 "%u: {lossless: %s, strict: %s, weight: %u}, ", p,
                 c->is_lossless ? "true" : "false", c->strict >> p & 1 ? "true" : "false",
                 c->weight[p]);
        if (c->gbps[p] < 0)
            continue;
        char rate[32] = "auto";
        if (c->gbps[p] > 0)
            snprintf(rate, sizeof rate, "%.0fMbps", c->gbps[p] * 1000);
        used = strlen(traffic);
        snprintf(traffic + used, sizeof traffic - used,
                 "- {kind: cbr, from: h%u, to: h%u, priority: %u, rate: %s, frame: %uB}\n", p,
                 8 + p, p, rate, c->frame[p]);
    }
    rig_run(rig, NULL,
            "stop: 4ms\ndrain: 0s\n"
            "topology: {kind: dumbbell, left: 8, right: 8, host_link: {rate: 100Gbps, delay: "
            "1us}}\n"
            "switch: {buffer: 16MB, mmu: static, pause: %s, scheduler: %s}\n"
            "priorities: {%s}\n"
            "traffic:\n%s",
            c->is_lossless ? "pfc" : "none", c->scheduler, priorities, traffic);
}

static void shares_are_max_min(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct share_case *c = &cases[i];
        struct rig rig;
        double expected[8];
        expected_shares(c, expected);
        run_case(c, &rig);
        const struct result_port *link = rig_port(&rig, "left", "right");
        const double seconds = (double)rig.results->end_at / 1e12;
        for (uint32_t p = 0; p < 8; p++) {
            const double bps = (double)link->queue[p].tx_bytes * 8 / seconds;
            if (bps < 0.99 * expected[p] || bps > 1.01 * expected[p] + 1e6)
                fail_msg("%s: priority %u got %.4f Gb/s, should get %.4f", c->name, p, bps / 1e9,
                         expected[p] / 1e9);
        }
        /* The link was never idle but for the first 2 us. */
        assert_true((double)link->busy_for > 0.999 * (double)rig.results->end_at);
        assert_true(c->is_lossless == (rig.results->n_drops == 0));
        rig_assert_clean(&rig);
        rig_fini(&rig);
    }
}

/* Throughput of a priority over the link in the interval that ends at `at`, in Gb/s. */
static double sampled(const struct rig *rig, uint32_t priority, xoff_time at)
{
    const struct result_port *link = rig_port(rig, "left", "right");
    for (uint64_t i = 0; i < rig->results->n_samples; i++) {
        const struct result_sample *s = &rig->results->samples[i];
        if (s->at == at && s->node == link->node && s->port == link->port &&
            s->priority == priority && s->metric == RESULT_TX_BPS)
            return s->value / 1e9;
    }
    fail_msg("no sample of priority %u at %lld", priority, (long long)at);
    return 0;
}

static void assert_near(double value, double expected)
{
    if (value < 0.99 * expected || value > 1.01 * expected)
        fail_msg("%.4f is not near %.4f", value, expected);
}

/* Weights 1, 2 and 5. Priority 5 goes idle for a while: the others take its share by their weights,
 * and give it back. The link carries 100 * 1518 / 1538 = 98.70 Gb/s of full frames. */
static void idle_share_goes_to_the_others(void **state)
{
    (void)state;
    static const char *const schedulers[] = {"drr", "ets", "wfq"};
    for (uint32_t i = 0; i < 3; i++) {
        struct rig rig;
        rig_run(&rig, NULL,
                "stop: 6100us\ndrain: 0s\n"
                "topology: {kind: dumbbell, left: 4, right: 4}\n"
                "switch: {buffer: 4MB, pause: none, scheduler: %s}\n"
                "priorities: {1: {weight: 1}, 2: {weight: 2}, 5: {weight: 5}}\n"
                "traffic:\n"
                "- {kind: cbr, from: h0, to: h4, priority: 1}\n"
                "- {kind: cbr, from: h1, to: h5, priority: 2}\n"
                "- {kind: cbr, from: h2, to: h6, priority: 5, stop: 2ms}\n"
                "- {kind: cbr, from: h3, to: h7, priority: 5, start: 4ms}\n"
                "measure: {every: 1ms, series: [throughput], at: left}\n",
                schedulers[i]);
        const double whole = 100.0 * 1518 / 1538;
        assert_near(sampled(&rig, 1, 2 * XOFF_MS), whole / 8);
        assert_near(sampled(&rig, 2, 2 * XOFF_MS), whole / 4);
        assert_near(sampled(&rig, 5, 2 * XOFF_MS), whole * 5 / 8);
        assert_near(sampled(&rig, 1, 4 * XOFF_MS), whole / 3);
        assert_near(sampled(&rig, 2, 4 * XOFF_MS), whole * 2 / 3);
        assert_true(sampled(&rig, 5, 4 * XOFF_MS) == 0);
        assert_near(sampled(&rig, 1, 6 * XOFF_MS), whole / 8);
        assert_near(sampled(&rig, 2, 6 * XOFF_MS), whole / 4);
        assert_near(sampled(&rig, 5, 6 * XOFF_MS), whole * 5 / 8);
        rig_assert_clean(&rig);
        rig_fini(&rig);
    }
}

/* Priority 1 sends small frames alone for a period, so slowly that each finds its port idle; in the
 * next period it meets full frames. Its weight is right from the first of them on, so both get the
 * same throughput: the frames it sent alone have been counted. Drr would give 0.783 of it. */
static void frames_sent_alone_are_counted(void **state)
{
    (void)state;
    struct rig rig;
    rig_run(&rig, NULL,
            "stop: 1900us\ndrain: 0s\nport: {max_frame: 1522B}\n"
            "topology: {kind: dumbbell, left: 3, right: 3}\n"
            "switch: {buffer: 4MB, pause: none, scheduler: {kind: drr-awc, weights: exact}}\n"
            "traffic:\n"
            "- {kind: cbr, from: h0, to: h3, priority: 1, frame: 68B, rate: 1Mbps, stop: 1ms}\n"
            "- {kind: cbr, from: h1, to: h4, priority: 1, frame: 68B, start: 1ms}\n"
            "- {kind: cbr, from: h2, to: h5, priority: 2, frame: 1522B, start: 1ms}\n"
            "measure: {every: 100us, series: [throughput], at: left}\n");
    const double ratio = sampled(&rig, 1, 1800 * XOFF_US) / sampled(&rig, 2, 1800 * XOFF_US);
    assert_near(ratio, 1);
    rig_assert_clean(&rig);
    rig_fini(&rig);
}

/* h1 and h2 send 40 full frames each to h0, in step. From the first pair on the link to h0 is busy:
 * every slot two frames join and one leaves, so that the queue grows by one frame a slot to
 * about 40. */
static void run_marking(struct rig *rig, const char *marking)
{
    rig_run(rig, NULL,
            "stop: 1ms\n"
            "topology: {kind: star, hosts: 3, host_link: {rate: 100Gbps, delay: 1us}}\n"
            "switch: {buffer: 4MB, pause: none, marking: {kind: ecn, %s}}\n"
            "traffic: [{kind: incast, from: \"h1,h2\", to: h0, size: %uB}]\n",
            marking, 40 * 1456);
}

/* The queue as frames join and leave, which they do when their transmission starts. Counts frames
 * that saw more than `limit` frames in the queue, themselves included. */
static uint32_t replayed_marks(uint32_t limit, bool at_enqueue)
{
    uint32_t queue = 0, marks = 0;
    for (uint32_t slot = 0; slot < 40 || queue; slot++) {
        /* Pairs come one slot apart, and a frame holds the wire for one slot. Of what falls on one
         * instant arrivals go first: but for the first pair, which finds the wire free, both frames
         * of a pair join before the next one leaves. */
        if (slot < 40)
            for (uint32_t k = 0; k < 2; k++) {
                queue++;
                marks += at_enqueue && queue > limit;
                if (slot == 0 && k == 0) {
                    marks += !at_enqueue && queue > limit;
                    queue--;
                }
            }
        if (slot > 0 && queue) {
            marks += !at_enqueue && queue > limit;
            queue--;
        }
    }
    return marks;
}

/* A step (kmin = kmax): exactly the frames beyond it are marked, where the queue is looked at. */
static void step_marks_frames_beyond_it(void **state)
{
    (void)state;
    static const uint32_t limits[] = {1, 2, 7, 20, 38, 39, 40, 45};
    for (uint32_t at_enqueue = 0; at_enqueue < 2; at_enqueue++)
        for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
            struct rig rig;
            char marking[128];
            snprintf(marking, sizeof marking, "kmin: %uB, kmax: %uB, pmax: 1, at: %s",
                     limits[i] * 1518, limits[i] * 1518, at_enqueue ? "enqueue" : "dequeue");
            run_marking(&rig, marking);
            const struct result_queue *queue = &rig_port(&rig, "s0", "h0")->queue[0];
            const uint64_t received =
                rig.results->flows[0].marked_frames + rig.results->flows[1].marked_frames;
            assert_int_equal(queue->marked_frames, replayed_marks(limits[i], at_enqueue));
            assert_int_equal(received, queue->marked_frames);
            if (queue->queue_peak_bytes <= limits[i] * 1518)
                assert_int_equal(queue->marked_frames, 0);
            rig_fini(&rig);
        }
}

/* With a ramp nothing is marked up to kmin, some beyond it. */
static void no_marks_up_to_kmin(void **state)
{
    (void)state;
    struct rig rig;
    run_marking(&rig, "kmin: 100MB, kmax: 200MB, pmax: 1");
    const int64_t peak = rig_port(&rig, "s0", "h0")->queue[0].queue_peak_bytes;
    assert_in_range(peak, 35 * 1518, 41 * 1518);
    assert_true(rig_metric(&rig, "marks") == 0);
    rig_fini(&rig);

    char marking[128];
    snprintf(marking, sizeof marking, "kmin: %lldB, kmax: 200MB, pmax: 1, at: enqueue",
             (long long)peak);
    run_marking(&rig, marking);
    assert_true(rig_metric(&rig, "marks") == 0);
    rig_fini(&rig);

    snprintf(marking, sizeof marking, "kmin: %lldB, kmax: %lldB, pmax: 1", (long long)peak / 4,
             (long long)peak);
    run_marking(&rig, marking);
    assert_true(rig_metric(&rig, "marks") > 10 && rig_metric(&rig, "marks") < 70);
    rig_fini(&rig);
}

/* A point that answers about each frame, though it could only mark: switches ask both kinds. */
static void answer_in_full(const void *context, struct net_spec *spec, struct net_switch *kinds,
                           struct net_transport *transports)
{
    static struct xoff_cp_ops full; /* the same whoever writes it */
    (void)context, (void)spec, (void)transports;
    full = *kinds->marking;
    full.marks = NULL;
    kinds->marking = &full;
}

/* Points that mark every frame, at both switches of a path: the second finds none without a mark
 * and counts none. */
static void frames_are_marked_once(void **state)
{
    (void)state;
    static const char *const markings[] = {"{kind: step, k: 0B, at: enqueue}",
                                           "{kind: step, k: 0B, at: dequeue}",
                                           "{kind: ecn, kmin: 0B, kmax: 0B, pmax: 1}"};
    static const struct rig_options options[] = {{0}, {.adjust = answer_in_full}};
    for (uint32_t i = 0; i < 6; i++) {
        struct rig rig;
        rig_run(
            &rig, &options[i % 2],
            "stop: 1ms\n"
            "topology: {kind: dumbbell, left: 2, right: 1,\n"
            "  host_link: {rate: 10Gbps, delay: 1us}, fabric_link: {rate: 10Gbps, delay: 1us}}\n"
            "switch: {buffer: 4MB, pause: none, marking: %s}\n"
            "traffic: [{kind: incast, from: \"h0,h1\", to: h2, size: %uB}]\n",
            markings[i / 2], 40 * 1456);
        const struct result_port *first = rig_port(&rig, "left", "right");
        const struct result_port *second = rig_port(&rig, "right", "h2");
        assert_int_equal(first->queue[0].marked_frames, 80);
        assert_int_equal(second->queue[0].tx_frames, 80);
        assert_int_equal(second->queue[0].marked_frames, 0);
        for (uint32_t f = 0; f < 2; f++)
            assert_int_equal(rig.results->flows[f].marked_frames, 40);
        rig_assert_clean(&rig);
        rig_fini(&rig);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shares_are_max_min),
        cmocka_unit_test(idle_share_goes_to_the_others),
        cmocka_unit_test(frames_sent_alone_are_counted),
        cmocka_unit_test(step_marks_frames_beyond_it),
        cmocka_unit_test(no_marks_up_to_kmin),
        cmocka_unit_test(frames_are_marked_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
