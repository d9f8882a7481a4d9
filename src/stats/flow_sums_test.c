/* Summarised flows: the figures and the digest are those of flows that are kept, whatever the
 * order; the worst of each entry stay. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <xoff/rng.h>

#include "stats/flow_sums.h"
#include "stats/tables.h"

enum { N = 3000, N_OVER = 2900 };
static struct result_flow flows[N]; /* the last of them have not finished */
static const char *const tags[] = {"web", "sum-marised"};

static void make_flows(void)
{
    struct xoff_rng rng = {.key = 11};
    for (uint32_t i = 0; i < N; i++) {
        struct result_flow *f = &flows[i];
        const uint64_t bytes = 1 + (xoff_rng_u64(&rng) >> (38 + xoff_rng_below(&rng, 20)));
        const xoff_time start = i * XOFF_US, ideal = (xoff_time)bytes * 80 + XOFF_US;
        const bool is_over = i < N_OVER;
        *f = (struct result_flow){
            .from = i % 7,
            .to = 7,
            .number = i / 7,
            .tag = i % 3 == 0,
            .reliable = i % 5 != 0,
            .offered_bytes = bytes,
            .sent_bytes = bytes + i % 11,
            .delivered_bytes = is_over ? bytes : bytes / 2,
            .early_bytes = i < 100 ? bytes / 3 : 0,
            .late_bytes = i > N_OVER - 100 && is_over ? bytes / 4 : 0,
            .start_at = start,
            .finish_at =
                is_over ? start + ideal + (xoff_time)xoff_rng_below(&rng, 1000000000) : XOFF_NEVER,
            .acked_at = XOFF_NEVER,
            .ideal_for = ideal,
            .marked_frames = i % 13,
            .retransmitted_frames = i % 17 == 0,
            .notices = i % 19 == 0,
            .tags_sent = 3,
            .tags_back = 2,
        };
        if (is_over && f->reliable)
            f->acked_at = f->finish_at + XOFF_US;
    }
}

static struct results results_of(struct result_flow *kept, uint64_t n, struct flow_sums *sums)
{
    return (struct results){.tag_names = tags,
                            .n_tags = 2,
                            .flows = kept,
                            .n_flows = n,
                            .sums = sums,
                            .end_at = XOFF_S,
                            .stop_at = XOFF_S / 2};
}

static bool is_percentile(const char *name)
{
    const char *dot = strrchr(name, '.');
    return dot && dot[1] == 'p' && dot[2] >= '0' && dot[2] <= '9';
}

/* Every metric of the run with all flows is there, and no other but the number summarised. */
static void compare_figures(const struct results *full, const struct results *summed)
{
    struct summary *a = summary_create(full), *b = summary_create(summed);
    assert_non_null(a);
    assert_non_null(b);
    assert_int_equal(a->n_metrics + 1, b->n_metrics);
    assert_true(summary_find(b, "flows.summarised")->value == N_OVER);
    for (uint32_t i = 0; i < a->n_metrics; i++) {
        const struct metric *m = &a->metrics[i], *found = summary_find(b, m->name);
        assert_non_null(found);
        const double most = is_percentile(m->name) ? 1.0 / 1024 : 1e-6; /* rates: whole bps */
        if (fabs(found->value - m->value) > most * fabs(m->value))
            fail_msg("%s: %.12g, and %.12g of all flows", m->name, found->value, m->value);
    }
    summary_destroy(a);
    summary_destroy(b);
}

static void test_figures(void **state)
{
    (void)state;
    struct flow_sums *sums = flow_sums_create(), *reversed = flow_sums_create();
    struct flow_sums *none = flow_sums_create();
    for (uint32_t i = 0; i < N_OVER; i++) {
        assert_true(flow_sums_add(sums, &flows[i]));
        assert_true(flow_sums_add(reversed, &flows[N_OVER - 1 - i]));
    }
    assert_true(flow_sums_finish(sums, flows + N_OVER, N - N_OVER));
    assert_true(flow_sums_finish(reversed, flows + N_OVER, N - N_OVER));
    struct results full = results_of(flows, N, NULL);
    struct results summed = results_of(flows + N_OVER, N - N_OVER, sums);
    compare_figures(&full, &summed);
    const uint64_t digest = results_digest(&summed);
    full.sums = none; /* the same digest of flows of which none is summarised */
    assert_true(results_digest(&full) == digest);
    flows[5].sent_bytes++;
    assert_true(results_digest(&full) != digest);
    flows[5].sent_bytes--;
    summed.sums = reversed;
    assert_true(results_digest(&summed) == digest);
    full.sums = NULL;
    compare_figures(&full, &summed);
    assert_int_equal(sums->n_worst, reversed->n_worst);
    assert_memory_equal(sums->worst, reversed->worst, sums->n_worst * sizeof *sums->worst);
    flow_sums_destroy(sums);
    flow_sums_destroy(reversed);
    flow_sums_destroy(none);
}

/* Sums of parts come to those of the whole, and an empty part changes nothing. */
static void test_merge(void **state)
{
    (void)state;
    struct flow_sums *whole = flow_sums_create(), *parts[3];
    for (uint32_t p = 0; p < 3; p++)
        parts[p] = flow_sums_create();
    for (uint32_t i = 0; i < N_OVER; i++) {
        assert_true(flow_sums_add(whole, &flows[i]));
        assert_true(flow_sums_add(parts[1 + (i * i % 5 < 2)], &flows[i]));
    }
    for (uint32_t p = 1; p < 3; p++)
        assert_true(flow_sums_merge(parts[0], parts[p]));
    struct flow_sums *none = flow_sums_create();
    assert_true(flow_sums_merge(parts[0], none));
    assert_true(whole->from == parts[0]->from && whole->to == parts[0]->to);
    assert_memory_equal(&whole->tally, &parts[0]->tally, sizeof whole->tally);
    assert_true(flow_sums_finish(whole, flows + N_OVER, N - N_OVER));
    assert_true(flow_sums_finish(parts[0], flows + N_OVER, N - N_OVER));
    struct results full = results_of(flows, N, NULL);
    struct results a = results_of(flows + N_OVER, N - N_OVER, whole);
    struct results b = results_of(flows + N_OVER, N - N_OVER, parts[0]);
    compare_figures(&full, &b);
    assert_true(results_digest(&a) == results_digest(&b));
    assert_int_equal(whole->n_worst, parts[0]->n_worst);
    assert_memory_equal(whole->worst, parts[0]->worst, whole->n_worst * sizeof *whole->worst);
    assert_int_equal(whole->n_bins, parts[0]->n_bins);
    assert_memory_equal(whole->bins, parts[0]->bins, whole->n_bins * sizeof *whole->bins);
    flow_sums_destroy(whole);
    flow_sums_destroy(none);
    for (uint32_t p = 0; p < 3; p++)
        flow_sums_destroy(parts[p]);
}

/* What came for flows that had been summarised belongs to none of them, and is added all the same.
 */
static void test_merge_late(void **state)
{
    (void)state;
    struct flow_sums *a = flow_sums_create(), *b = flow_sums_create();
    a->late_notices = 3, a->late_tags = 10;
    b->late_notices = 4, b->late_tags = 20;
    assert_true(flow_sums_merge(a, b));
    assert_int_equal(a->late_notices, 3 + 4);
    assert_int_equal(a->late_tags, 10 + 20);
    flow_sums_destroy(a);
    flow_sums_destroy(b);
}

static double slowdown_of(const struct result_flow *flow)
{
    return output_slowdown(flow);
}

static double fct_of(const struct result_flow *flow)
{
    return (double)(flow->finish_at - flow->start_at);
}

static bool is_listed(const struct flow_sums *sums, const struct result_flow *flow)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < sums->n_worst; i++)
        n += sums->worst[i].from == flow->from && sums->worst[i].number == flow->number;
    assert_true(n <= 1);
    return n;
}

/* A flow is listed if fewer than FLOW_WORST of its entry are worse by either measure. */
static void test_worst(void **state)
{
    (void)state;
    struct flow_sums *sums = flow_sums_create();
    for (uint32_t i = 0; i < N_OVER; i++)
        assert_true(flow_sums_add(sums, &flows[i]));
    assert_true(flow_sums_finish(sums, NULL, 0));
    double (*const measures[])(const struct result_flow *) = {slowdown_of, fct_of};
    for (uint32_t i = 0; i < N_OVER; i++) {
        bool is_wanted = false;
        for (uint32_t m = 0; m < 2; m++) {
            uint32_t n_worse = 0;
            for (uint32_t k = 0; k < N_OVER; k++)
                n_worse +=
                    flows[k].tag == flows[i].tag && measures[m](&flows[k]) > measures[m](&flows[i]);
            is_wanted |= n_worse < FLOW_WORST;
        }
        assert_int_equal(is_listed(sums, &flows[i]), is_wanted);
    }
    /* The rows of the table are those that are kept, then these. */
    struct results summed = results_of(flows + N_OVER, N - N_OVER, sums);
    const struct table_run run = {&summed, NULL};
    const struct table *table = tables;
    while (strcmp(table->name, "flow") != 0)
        table++;
    assert_int_equal(table->count(&run), N - N_OVER + sums->n_worst);
    assert_ptr_equal(table->fields(&run, N - N_OVER - 1), &flows[N - 1]);
    assert_ptr_equal(table->fields(&run, N - N_OVER), &sums->worst[0]);
    flow_sums_destroy(sums);
}

static uint64_t count_bins(const struct flow_sums *sums, uint32_t tag, uint8_t time, uint8_t size)
{
    uint64_t n = 0;
    double before = 0;
    for (uint64_t i = 0; i < sums->n_bins; i++) {
        const struct flow_bin *bin = &sums->bins[i];
        if (bin->tag != tag || bin->time != time || bin->size != size)
            continue;
        assert_true(bin->flows > 0 && bin->low >= before && bin->high > bin->low);
        before = bin->high;
        n += bin->flows;
    }
    return n;
}

/* Each group has its flows in ascending bins, kept ones among them. */
static void test_bins(void **state)
{
    (void)state;
    enum { N_SUMMED = 100 };
    struct flow_sums *sums = flow_sums_create();
    uint64_t n_acked = 0, n_web = 0, n_small = 0;
    for (uint32_t i = 0; i < N_SUMMED; i++)
        assert_true(flow_sums_add(sums, &flows[i]));
    assert_true(flow_sums_finish(sums, flows + N_SUMMED, N - N_SUMMED));
    assert_int_equal(sums->tally.n, N_SUMMED);
    for (uint32_t i = 0; i < N_OVER; i++) {
        n_acked += flows[i].acked_at != XOFF_NEVER;
        n_web += flows[i].tag == 0;
        n_small += flows[i].offered_bytes <= 10000;
    }
    assert_int_equal(count_bins(sums, FLOW_ALL, FLOW_FCT, OUTPUT_BUCKETS), N_OVER);
    assert_int_equal(count_bins(sums, FLOW_ALL, FLOW_ACK, OUTPUT_BUCKETS), n_acked);
    assert_int_equal(count_bins(sums, 0, FLOW_SLOWDOWN, OUTPUT_BUCKETS), n_web);
    assert_int_equal(count_bins(sums, FLOW_ALL, FLOW_SLOWDOWN, 0), n_small);
    flow_sums_destroy(sums);
}

/* Flows that are alike: the earliest stay. */
static void test_ties(void **state)
{
    (void)state;
    struct flow_sums *sums = flow_sums_create();
    struct result_flow flow = {.finish_at = 10, .acked_at = XOFF_NEVER, .ideal_for = 5};
    for (uint32_t i = FLOW_WORST + 1; i > 0; i--) {
        flow.number = i - 1;
        assert_true(flow_sums_add(sums, &flow));
    }
    assert_true(flow_sums_finish(sums, NULL, 0));
    assert_int_equal(sums->n_worst, FLOW_WORST);
    assert_int_equal(sums->worst[FLOW_WORST - 1].number, FLOW_WORST - 1);
    flow_sums_destroy(sums);
}

/* Traffic lasts from the first start to the last end, which is an ACK where there is one. */
static void test_span(void **state)
{
    (void)state;
    struct flow_sums *sums = flow_sums_create();
    struct result_flow flow = {.start_at = 3, .finish_at = 10, .acked_at = 12, .ideal_for = 5};
    assert_true(flow_sums_add(sums, &flow));
    assert_true(sums->from == 3 && sums->to == 12);
    flow = (struct result_flow){.start_at = 2, .finish_at = 11, .acked_at = XOFF_NEVER};
    assert_true(flow_sums_add(sums, &flow));
    assert_true(sums->from == 2 && sums->to == 12);
    flow = (struct result_flow){.start_at = 4, .finish_at = 13, .acked_at = XOFF_NEVER};
    assert_true(flow_sums_add(sums, &flow));
    assert_true(sums->from == 2 && sums->to == 13);
    flow_sums_destroy(sums);
}

/* No flow at all, and none summarised. */
static void test_empty(void **state)
{
    (void)state;
    struct flow_sums *sums = flow_sums_create();
    assert_true(flow_sums_finish(sums, NULL, 0) && sums->n_worst == 0 && sums->n_bins == 0);
    struct results none = results_of(NULL, 0, sums);
    struct summary *summary = summary_create(&none);
    assert_true(summary_find(summary, "flows.summarised")->value == 0);
    assert_null(summary_find(summary, "fct.p50"));
    assert_true(summary_find(summary, "traffic_end")->value == 1);
    summary_destroy(summary);
    flow_sums_destroy(sums);
    flow_sums_destroy(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_figures),    cmocka_unit_test(test_merge),
        cmocka_unit_test(test_merge_late), cmocka_unit_test(test_worst),
        cmocka_unit_test(test_bins),       cmocka_unit_test(test_ties),
        cmocka_unit_test(test_span),       cmocka_unit_test(test_empty),
    };
    make_flows();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
