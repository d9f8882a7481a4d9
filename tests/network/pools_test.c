/* What is seen of a switch's buffer: its pools over time, and the local maxima of headroom. The
 * maxima are counted at every frame; here they are found again in samples so close together that
 * nothing happens between two of them but one thing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/rig.h"

/* Two congested egress ports of one switch, one of them slow: departures from the one come while
 * headroom is in use for the other. Odd rates and delays, so that no two frames move at once. */
static void run(struct rig *rig, uint32_t n_threads, const char *mmu, const char *priorities)
{
    const struct rig_options options = {.n_threads = n_threads, .cell_bound = XOFF_PARAM_AUTO};
    rig_run(
        rig, &options,
        "stop: 400us\ndrain: 5ms\n"
        "topology: {kind: custom, nodes: {h0: host, h1: host, h2: host, h3: host, s0: switch},\n"
        "  links: [{endpoints: [h0, s0], rate: 1.03Gbps, delay: 5us},\n"
        "  {endpoints: [h1, s0], rate: 9.7Gbps, delay: 5.3us},\n"
        "  {endpoints: [h2, s0], rate: 9.9Gbps, delay: 5.7us},\n"
        "  {endpoints: [h3, s0], rate: 9.1Gbps, delay: 6.1us}]}\n"
        "switch: {buffer: 500KB, mmu: %s, pause: pfc}\n"
        "%s"
        "transport: none\n"
        "measure: {every: 20ns, series: [buffer, pools]}\n"
        "traffic:\n"
        "- {kind: flows, priority: 3, transport: datagram, list: [\n"
        "  {at: 0s, from: h1, to: h0, size: 150KB}, {at: 100us, from: h2, to: h0, size: 50KB},\n"
        "  {at: 30us, from: h2, to: h3, size: 150KB}, {at: 30us, from: h1, to: h3, size: "
        "150KB}]}\n",
        mmu, priorities);
}

#define LOSSLESS "priorities: {3: {lossless: true}}\n"

/* The samples of the switch: how often, and by metric, a value for each. */
struct seen {
    uint64_t n;
    double *values[RESULT_INSURANCE_BYTES + 1];
};

static struct seen see(const struct rig *rig)
{
    const struct results *r = rig->results;
    struct seen seen = {0};
    uint64_t n[RESULT_INSURANCE_BYTES + 1] = {0};
    for (uint32_t m = 0; m <= RESULT_INSURANCE_BYTES; m++)
        assert_non_null(seen.values[m] = calloc(r->n_samples + 1, sizeof(double)));
    for (uint64_t i = 0; i < r->n_samples; i++) {
        const struct result_sample *s = &r->samples[i];
        assert_int_equal(s->node, rig_node(rig, "s0"));
        assert_int_equal(s->port, UINT32_MAX);
        assert_int_equal(s->priority, 0xff);
        seen.values[s->metric][n[s->metric]++] = s->value;
    }
    seen.n = n[RESULT_BUFFER_BYTES];
    assert_true(seen.n > 20000);
    for (uint32_t m = 0; m <= RESULT_INSURANCE_BYTES; m++) {
        assert_true(n[m] == seen.n || n[m] == 0);
        if (!n[m]) {
            free(seen.values[m]);
            seen.values[m] = NULL;
        }
    }
    return seen;
}

static void forget(struct seen *seen)
{
    for (uint32_t m = 0; m <= RESULT_INSURANCE_BYTES; m++)
        free(seen->values[m]);
}

/* Pools add up to the buffer, none is fuller than its peak, and the largest sample is close to it;
 * pools without capacity have no samples. */
static void check_pools(const struct rig *rig, const struct seen *seen)
{
    const struct xoff_mmu_view *view = &rig_buffer(rig, rig_node(rig, "s0"))->view;
    for (uint64_t i = 0; i < seen->n; i++) {
        double sum = 0;
        for (uint32_t m = RESULT_RESERVED_BYTES; m <= RESULT_INSURANCE_BYTES; m++)
            sum += seen->values[m] ? seen->values[m][i] : 0;
        assert_true(sum == seen->values[RESULT_BUFFER_BYTES][i]);
    }
    for (uint32_t pool = XOFF_POOL_RESERVED; pool < XOFF_N_POOLS; pool++) {
        const double *values = seen->values[RESULT_RESERVED_BYTES + pool - XOFF_POOL_RESERVED];
        assert_int_equal(values != NULL, view->capacity_bytes[pool] > 0);
        double most = 0;
        for (uint64_t i = 0; values && i < seen->n; i++)
            most = values[i] > most ? values[i] : most;
        assert_true(most <= (double)view->peak_bytes[pool]);
        assert_true(most >= (double)view->peak_bytes[pool] - 1518);
    }
}

/* First falls after rises. */
static uint64_t find_maxima(const struct rig *rig, const double *values, uint64_t n,
                            uint64_t counts[RESULT_MAXIMA])
{
    const struct xoff_mmu_view *view = &rig_buffer(rig, rig_node(rig, "s0"))->view;
    const uint64_t capacity = (uint64_t)view->capacity_bytes[XOFF_POOL_HEADROOM];
    bool is_rising = false;
    uint64_t found = 0;
    for (uint64_t i = 1; i < n; i++) {
        if (is_rising && values[i] < values[i - 1]) {
            const uint64_t permille = (uint64_t)values[i - 1] * 1000;
            counts[permille / capacity - (permille % capacity == 0)]++;
            found++;
        }
        if (values[i] != values[i - 1])
            is_rising = values[i] > values[i - 1];
    }
    return found;
}

static void pools_and_maxima(void **state)
{
    (void)state;
    static const char *const mmus[] = {"{kind: static, xoff: 20KB}", "{kind: sih}", "{kind: dsh}"};
    for (uint32_t k = 0; k < sizeof mmus / sizeof *mmus; k++) {
        struct rig rig;
        uint64_t counts[RESULT_MAXIMA] = {0};
        run(&rig, 1, mmus[k], LOSSLESS);
        rig_assert_clean(&rig);
        struct seen seen = see(&rig);
        check_pools(&rig, &seen);
        const double *headroom = seen.values[RESULT_HEADROOM_BYTES];
        const uint64_t n = find_maxima(&rig, headroom, seen.n, counts);
        assert_true(n > 5);
        assert_int_equal(rig_metric(&rig, "headroom.maxima"), n);
        assert_memory_equal(rig.results->headroom_maxima, counts, sizeof counts);
        /* The last and the middle one of those in order. */
        uint64_t below = 0;
        for (uint32_t i = 0; i < RESULT_MAXIMA; below += counts[i++]) {
            if (below < (n + 1) / 2 && below + counts[i] >= (n + 1) / 2)
                assert_true(rig_metric(&rig, "headroom.maxima.p50") == (i + 1.) / 1000);
            if (below < n && below + counts[i] == n)
                assert_true(rig_metric(&rig, "headroom.maxima.max") == (i + 1.) / 1000);
        }
        assert_int_equal(summary_find(rig.summary, "insurance.peak") != NULL, k == 2);
        forget(&seen);
        rig_fini(&rig);
    }
}

/* Footroom and headroom of DSH are one space. */
static void one_space(void **state)
{
    (void)state;
    struct rig rig;
    run(&rig, 1, "{kind: dsh}", LOSSLESS);
    struct seen seen = see(&rig);
    const int64_t *capacity = rig_buffer(&rig, rig_node(&rig, "s0"))->view.capacity_bytes;
    assert_int_equal(capacity[XOFF_POOL_SHARED], capacity[XOFF_POOL_HEADROOM]);
    for (uint64_t i = 0; i < seen.n; i++)
        assert_true(seen.values[RESULT_SHARED_BYTES][i] + seen.values[RESULT_HEADROOM_BYTES][i] <=
                    (double)capacity[XOFF_POOL_SHARED]);
    const double aside = (double)capacity[XOFF_POOL_INSURANCE] / 500000;
    assert_true(aside > 0);
    assert_float_equal(rig_metric(&rig, "buffer.set_aside"), aside, 1e-12);
    assert_float_equal(rig_metric(&rig, "buffer.shared"),
                       (double)capacity[XOFF_POOL_SHARED] / 500000, 1e-12);
    forget(&seen);
    rig_fini(&rig);
}

/* Without a lossless priority there is neither headroom nor a word about it. */
static void without_headroom(void **state)
{
    (void)state;
    struct rig rig;
    run(&rig, 1, "{kind: sih}", "");
    struct seen seen = see(&rig);
    check_pools(&rig, &seen);
    assert_null(seen.values[RESULT_HEADROOM_BYTES]);
    assert_null(rig.results->headroom_maxima);
    assert_null(summary_find(rig.summary, "headroom.maxima"));
    assert_float_equal(rig_metric(&rig, "buffer.set_aside"), 0, 1e-12);
    forget(&seen);
    rig_fini(&rig);
}

static void threads(void **state)
{
    (void)state;
    struct rig one, two;
    run(&one, 1, "{kind: sih}", LOSSLESS);
    run(&two, 2, "{kind: sih}", LOSSLESS);
    assert_memory_equal(one.results->headroom_maxima, two.results->headroom_maxima,
                        RESULT_MAXIMA * sizeof(uint64_t));
    assert_true(one.results->digest == two.results->digest);
    rig_fini(&one);
    rig_fini(&two);
}

/* mmu: ns3 holds priority 0 to no limit, so a switch may have to store more frames than its buffer
 * has room for: here 3 x 300 KB for a link of a third of their rate, and 60 KB. */
static void more_than_the_buffer(void **state)
{
    (void)state;
    struct rig rig;
    rig_run(&rig, NULL,
            "stop: 1ms\ndrain: 20ms\n"
            "topology: {kind: star, hosts: 4, host_link: {rate: 10Gbps, delay: 100ns}}\n"
            "switch: {buffer: 60KB, mmu: ns3}\n"
            "port: {max_frame: 128B}\n"
            "traffic: [{kind: incast, from: h1..h3, to: h0, size: 300KB, at: 0s, priority: 0}]\n");
    rig_assert_clean(&rig);
    assert_true(rig_metric(&rig, "drops") == 0);
    assert_true(rig_metric(&rig, "flows.finished") == 3);
    assert_true(rig_buffer(&rig, rig_node(&rig, "s0"))->view.peak_total_bytes > 500000);
    rig_fini(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pools_and_maxima),
        cmocka_unit_test(one_space),
        cmocka_unit_test(without_headroom),
        cmocka_unit_test(threads),
        cmocka_unit_test(more_than_the_buffer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
