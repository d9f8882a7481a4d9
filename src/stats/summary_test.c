/* Figures of a run: percentiles against their definition, group by group, and every counter. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include <xoff/rng.h>

#include "stats/metric_names.h"

#if defined(__SANITIZE_ADDRESS__)
#define IS_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define IS_SANITIZED 1
#endif
#endif

_Noreturn void xoff_assert_fail(const char *expression, const char *file, int line)
{
    mock_assert(0, expression, file, line);
    abort();
}

/* Sums a run up; each metric is among those that metric_names.c knows, with its unit. */
static struct summary *summarise(const struct results *r)
{
    struct metric_label *entries = calloc(r->n_tags + 1, sizeof *entries);
    struct metric_curve *curves = calloc(r->n_curves + 1, sizeof *curves);
    struct summary *s = summary_create(r);
    assert_non_null(s);
    metric_labels(r->tag_names, r->n_tags, entries);
    for (uint32_t i = 0; i < r->n_curves; i++) {
        snprintf(curves[i].name, sizeof curves[i].name, "%s", r->curves[i].name);
        curves[i].metric = r->curves[i].metric;
    }
    const struct metric_words words = {entries, r->n_tags, curves, r->n_curves};
    for (uint32_t i = 0; i < s->n_metrics; i++) {
        const char *unit = metric_unit(&words, s->metrics[i].name);
        if (!unit)
            fail_msg("%s is not known before a run", s->metrics[i].name);
        assert_string_equal(unit, s->metrics[i].unit);
    }
    free(curves);
    free(entries);
    return s;
}

static void check(const struct summary *s, const char *name, double value, const char *unit)
{
    const struct metric *m = summary_find(s, name);
    if (!m)
        fail_msg("%s is absent", name);
    const double error = m->value > value ? m->value - value : value - m->value;
    const double size = value < 0 ? -value : value;
    if (error > 1e-15 * size)
        fail_msg("%s is %.17g, expected %.17g", name, m->value, value);
    assert_string_equal(m->unit, unit);
    assert_non_null(m->meaning);
}

static void check_absent(const struct summary *s, const char *name)
{
    if (summary_find(s, name))
        fail_msg("%s should be absent", name);
}

/* A finished, never acknowledged flow without ideal time. */
static struct result_flow flow(xoff_time start_at, xoff_time fct, uint64_t bytes, uint32_t tag)
{
    return (struct result_flow){.tag = tag,
                                .offered_bytes = bytes,
                                .sent_bytes = bytes,
                                .delivered_bytes = bytes,
                                .start_at = start_at,
                                .finish_at = fct == XOFF_NEVER ? XOFF_NEVER : start_at + fct,
                                .acked_at = XOFF_NEVER};
}

static void nearest_rank(void **state)
{
    (void)state;
    /* Completion times of 1 .. n us in a mixed order (37 is prime to 100 and 101). Rank ceil(p n /
     * 100): n = 100 gives 50, 95, 99; n = 101 gives ceil(50.5) = 51, ceil(95.95) = 96, ceil(99.99)
     * = 100; n = 1 gives 1. Mean (n + 1) / 2. */
    static const struct {
        uint32_t n;
        double mean, p50, p95, p99, max;
    } rows[] = {{1, 1, 1, 1, 1, 1}, {100, 50.5, 50, 95, 99, 100}, {101, 51, 51, 96, 100, 101}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct result_flow flows[101];
        for (uint32_t j = 0; j < rows[i].n; j++)
            flows[j] = flow(5, (j * 37 % rows[i].n + 1) * XOFF_US, 1000, 0);
        const struct results r = {.flows = flows, .n_flows = rows[i].n, .end_at = XOFF_MS};
        struct summary *s = summarise(&r);
        check(s, "flows", rows[i].n, "");
        check(s, "flows.finished", rows[i].n, "");
        check(s, "fct.mean", rows[i].mean * 1e-6, "s");
        check(s, "fct.p50", rows[i].p50 * 1e-6, "s");
        check(s, "fct.p95", rows[i].p95 * 1e-6, "s");
        check(s, "fct.p99", rows[i].p99 * 1e-6, "s");
        check(s, "fct.max", rows[i].max * 1e-6, "s");
        check_absent(s, "fct.ack.p99");
        check_absent(s, "slowdown.p99");
        summary_destroy(s);
    }
}

/* Two entries, the run ends at 10 ms. Of "web" a flow took 3 ms and one that started at 8 ms is
 * still under way: the largest is 3 ms. One more from 4 ms on makes it 6 ms, its age; of 20 KB,
 * where nothing finished, too. Of "bulk" a flow took 7 ms, longer than any age. A flow without end
 * has no ideal time and does not count, and neither mean nor percentiles know of those that did not
 * finish. */
static void unfinished_flows_count_for_the_largest(void **state)
{
    (void)state;
    const char *const tags[] = {"web", "bulk"};
    struct result_flow flows[] = {
        flow(0, 3 * XOFF_MS, 1000, 0),       flow(8 * XOFF_MS, XOFF_NEVER, 1000, 0),
        flow(0, XOFF_NEVER, 1000, 0), /* without end */
        flow(XOFF_MS, 7 * XOFF_MS, 1000, 1), flow(4 * XOFF_MS, XOFF_NEVER, 20000, 0),
    };
    flows[1].ideal_for = flows[4].ideal_for = 1;
    struct results r = {
        .flows = flows, .n_flows = 4, .tag_names = tags, .n_tags = 2, .end_at = 10 * XOFF_MS};
    struct summary *s = summarise(&r);
    check(s, "fct.web.max", 3e-3, "s");
    check(s, "fct.max", 7e-3, "s");
    summary_destroy(s);
    r.n_flows = 5;
    s = summarise(&r);
    check(s, "fct.web.max", 6e-3, "s");
    check(s, "fct.web.p99", 3e-3, "s");
    check(s, "fct.web.mean", 3e-3, "s");
    check(s, "fct.le100KB.max", 6e-3, "s");
    check_absent(s, "fct.le100KB.p99");
    check(s, "fct.bulk.max", 7e-3, "s");
    check(s, "fct.max", 7e-3, "s");
    check_absent(s, "fct.ack.max");
    /* Of "web" 2 ms and 6 ms are ages, 3 ms is a time. */
    check(s, "flows.unfinished", 2, "");
    check(s, "flows.web.unfinished", 2, "");
    check(s, "flows.bulk.unfinished", 0, "");
    check(s, "fct.all.web.mean", 11e-3 / 3, "s");
    check(s, "fct.all.web.p50", 3e-3, "s");
    check(s, "fct.all.web.p99", 6e-3, "s");
    check(s, "fct.all.max", 7e-3, "s");
    summary_destroy(s);
}

static void undefined_is_absent(void **state)
{
    (void)state;
    struct result_flow unfinished = flow(0, XOFF_NEVER, 1000, 0);
    unfinished.ideal_for = 1;
    unfinished.delivered_bytes = 0;
    const char *const tags[] = {"web"};
    const struct results r = {
        .flows = &unfinished, .n_flows = 1, .tag_names = tags, .n_tags = 1, .end_at = XOFF_MS};
    const struct results nothing = {0};
    struct summary *s = summarise(&r);
    check(s, "flows", 1, "");
    check(s, "flows.finished", 0, "");
    check(s, "throughput", 0, "bps");
    check(s, "throughput.min", 0, "bps");
    check(s, "drops", 0, "frames");
    check(s, "slowdown.le10KB.flows", 0, "");
    check_absent(s, "fct.p99");
    check_absent(s, "fct.web.p99");
    check_absent(s, "fct.web.mean");
    check_absent(s, "slowdown.p99");
    check_absent(s, "slowdown.le10KB.p99");
    check_absent(s, "jain"); /* 0 / 0 */
    check_absent(s, "utilisation.mean");
    check_absent(s, "headroom.peak");
    check_absent(s, "buffer.peak");
    check_absent(s, "deadlock.onset");
    check(s, "deadlocked", 0, "");
    check(s, "operations", 0, "");
    check(s, "operations.bytes", 0, "B");
    check(s, "operations.web", 0, "");
    check_absent(s, "operations.rate");
    check_absent(s, "operations.mean");
    check_absent(s, "operations.web.p99");
    summary_destroy(s);

    s = summarise(&nothing);
    check(s, "flows", 0, "");
    check(s, "operations", 0, "");
    check(s, "end_time", 0, "s");
    check_absent(s, "throughput"); /* per second of no time */
    check_absent(s, "throughput.mean");
    summary_destroy(s);
    summary_destroy(NULL);
}

/* Throughput and utilisation are over the time with traffic: from 2 s to 2.001 s in a run to 3 s,
 * until something is not done by its end. */
static void time_with_traffic(void **state)
{
    (void)state;
    struct result_flow flows[] = {flow(2 * XOFF_S + XOFF_US, 99 * XOFF_US, 1000, 0),
                                  flow(2 * XOFF_S, 500 * XOFF_US, 1000, 0)};
    struct result_port port = {.busy_for = 250 * XOFF_US};
    struct results r = {
        .flows = flows, .n_flows = 2, .ports = &port, .n_ports = 1, .end_at = 3 * XOFF_S};
    static const struct {
        bool reliable, is_finished;
        xoff_time acked_for; /* of the second flow */
        xoff_time to;
    } rows[] = {
        {false, true, XOFF_NEVER, 2 * XOFF_S + 500 * XOFF_US}, /* datagrams: last byte */
        {true, true, XOFF_MS, 2 * XOFF_S + XOFF_MS},           /* last ACK */
        {true, true, 400 * XOFF_US, 2 * XOFF_S + 500 * XOFF_US},
        {true, true, XOFF_NEVER, 3 * XOFF_S}, /* it would have sent again */
        {false, false, XOFF_NEVER, 3 * XOFF_S},
        {true, false, XOFF_MS, 3 * XOFF_S},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        flows[1].reliable = rows[i].reliable;
        flows[1].acked_at =
            rows[i].acked_for == XOFF_NEVER ? XOFF_NEVER : 2 * XOFF_S + rows[i].acked_for;
        flows[1].finish_at = rows[i].is_finished ? 2 * XOFF_S + 500 * XOFF_US : XOFF_NEVER;
        const double length = (double)(rows[i].to - 2 * XOFF_S) / 1e12;
        struct summary *s = summarise(&r);
        check(s, "traffic_start", 2, "s");
        check(s, "traffic_end", (double)rows[i].to / 1e12, "s");
        check(s, "end_time", 3, "s");
        check(s, "throughput", 16000 / length, "bps");
        check(s, "utilisation.max", 250e-6 / length, "ratio");
        summary_destroy(s);
    }
    /* Traffic from 0 to the end is the whole run, and so is none at all. */
    flows[0].start_at = 0;
    struct summary *s = summarise(&r);
    check(s, "throughput", 16000. / 3, "bps");
    summary_destroy(s);
    r.n_flows = 0;
    s = summarise(&r);
    check(s, "traffic_start", 0, "s");
    check(s, "traffic_end", 3, "s");
    check(s, "utilisation.max", 250e-6 / 3, "ratio");
    summary_destroy(s);
}

/* A run of 10 us with its stop at 8 us. Of a stream 1000 B came before the measured time, 3000 B in
 * it and 500 B behind it; a flow of 2000 B finished while the run drained, half of it after stop.
 */
static void measured_time(void **state)
{
    (void)state;
    struct result_flow flows[] = {flow(0, XOFF_NEVER, 4500, 0),
                                  flow(XOFF_US, 8 * XOFF_US, 2000, 1)};
    flows[0].ideal_for = 0;
    flows[0].late_bytes = 500;
    flows[1].late_bytes = 1000;
    struct result_port port = {
        .busy_for = 5 * XOFF_US,
        .unmeasured_busy_for = XOFF_US,
        .queue[3] = {.paused_for = 4 * XOFF_US, .unmeasured_paused_for = 2 * XOFF_US}};
    const char *const tags[] = {"x", "y"};
    struct results r = {.flows = flows,
                        .n_flows = 2,
                        .tag_names = tags,
                        .n_tags = 2,
                        .ports = &port,
                        .n_ports = 1,
                        .end_at = 10 * XOFF_US,
                        .stop_at = 8 * XOFF_US};
    struct summary *s = summarise(&r);
    check(s, "measure_start", 0, "s");
    check(s, "measure_end", 8e-6, "s");
    check(s, "traffic_end", 10e-6, "s");
    check(s, "throughput", 8 * 5000 / 8e-6, "bps");
    check(s, "throughput.x", 8 * 4000 / 8e-6, "bps");
    check(s, "throughput.x.mean", 8 * 4000 / 8e-6, "bps");
    check(s, "throughput.y", 8 * 1000 / 8e-6, "bps");
    check(s, "throughput.y.mean", 8 * 2000 / 8e-6, "bps"); /* over its life */
    check(s, "delivered.x", 4500, "B");
    check(s, "drained", 1500, "B");
    check(s, "drained.x", 500, "B");
    check(s, "utilisation.max", 0.5, "ratio");
    check(s, "pause_fraction.max", 0.25, "ratio");
    summary_destroy(s);

    flows[0].early_bytes = 1000; /* the scenario asks for 2 us to 6 us */
    r.measure_from = 2 * XOFF_US;
    r.measure_to = 6 * XOFF_US;
    s = summarise(&r);
    check(s, "measure_start", 2e-6, "s");
    check(s, "measure_end", 6e-6, "s");
    check(s, "throughput.x", 8 * 3000 / 4e-6, "bps");
    check(s, "throughput.x.mean", 8 * 3000 / 4e-6, "bps");
    check(s, "utilisation.max", 1, "ratio");
    summary_destroy(s);

    r.measure_from = 9 * XOFF_US; /* nothing is offered any more */
    s = summarise(&r);
    check_absent(s, "throughput");
    check_absent(s, "utilisation.max");
    summary_destroy(s);
}

/* Both times of that family are whole nanoseconds: 2999 ps and 1000 ps past 100 ns are 102 and 100.
 * Flows without an ACK or without a standalone time do not count. */
static void slowdown_of_ns3(void **state)
{
    (void)state;
    struct result_flow flows[5];
    static const xoff_time acked_for[] = {102999, 49999, 400000, XOFF_NEVER, 900000};
    for (uint32_t i = 0; i < 5; i++) {
        flows[i] = flow(7, 50000, i < 2 ? 10000 : 10001, 0);
        flows[i].acked_at = acked_for[i] == XOFF_NEVER ? XOFF_NEVER : 7 + acked_for[i];
        flows[i].standalone_for = i == 4 ? 0 : 100000;
    }
    const char *const tags[] = {"ns3"};
    const struct results r = {
        .flows = flows, .n_flows = 5, .tag_names = tags, .n_tags = 1, .end_at = XOFF_MS};
    struct summary *s = summarise(&r);
    check(s, "slowdown.ns3.p50", 1.02, "ratio"); /* of 1 (not 0.49), 1.02 and 4 */
    check(s, "slowdown.ns3.max", 4, "ratio");
    check(s, "slowdown.ns3.mean", (1 + 1.02 + 4) / 3, "ratio");
    check(s, "slowdown.ns3.le10KB.max", 1.02, "ratio");
    check(s, "slowdown.ns3.le100KB.p50", 4, "ratio");
    check(s, "slowdown.ns3.ns3#0.max", 4, "ratio"); /* an entry of that name */
    check_absent(s, "slowdown.ns3.gt10MB.max");
    check_absent(s, "slowdown.p50");
    assert_true(summary_has_family("slowdown.ns3.p50"));
    summary_destroy(s);

    for (uint32_t i = 0; i < 5; i++)
        flows[i].standalone_for = 0;
    s = summarise(&r);
    check_absent(s, "slowdown.ns3.p50");
    check(s, "fct.ack.max", 9e-7, "s");
    summary_destroy(s);
}

static void slowdown_and_buckets(void **state)
{
    (void)state;
    /* One flow on each side of each bound; slowdown is its number, the first would be 0.5. */
    static const uint64_t sizes[] = {1,       10000,   10001,    100000,  100001,
                                     1000000, 1000001, 10000000, 10000001};
    struct result_flow flows[9];
    for (uint32_t i = 0; i < 9; i++) {
        flows[i] = flow(0, (i ? i + 1 : 1) * 20, sizes[i], 0);
        flows[i].ideal_for = i ? 20 : 40;
        flows[i].acked_at = flows[i].finish_at + 7;
    }
    const struct results r = {.flows = flows, .n_flows = 9, .end_at = XOFF_MS};
    struct summary *s = summarise(&r);
    check(s, "slowdown.max", 9, "ratio");
    check(s, "slowdown.mean", 5, "ratio"); /* (1 + 2 + ... + 9) / 9 */
    check(s, "slowdown.p50", 5, "ratio");  /* rank ceil(4.5) = 5 */
    /* Two flows, a and a + 1, in each bucket but the last: ranks ceil(1), ceil(1.9), ceil(1.98).
     * The first slowdown of le10KB is 1, not 0.5. */
    static const struct {
        const char *bucket;
        double figures[6];
    } buckets[] = {{"le10KB", {2, 1.5, 1, 2, 2, 2}},
                   {"le100KB", {2, 3.5, 3, 4, 4, 4}},
                   {"le1MB", {2, 5.5, 5, 6, 6, 6}},
                   {"le10MB", {2, 7.5, 7, 8, 8, 8}},
                   {"gt10MB", {1, 9, 9, 9, 9, 9}}};
    static const char *const names[] = {"flows", "mean", "p50", "p95", "p99", "max"};
    for (uint32_t i = 0; i < 5; i++) {
        for (uint32_t j = 0; j < 6; j++) {
            char name[64];
            snprintf(name, sizeof name, "slowdown.%s.%s", buckets[i].bucket, names[j]);
            check(s, name, buckets[i].figures[j], j ? "ratio" : "");
        }
    }
    check(s, "fct.gt10MB.max", 180e-12, "s");
    check(s, "fct.ack.max", 187e-12, "s");
    summary_destroy(s);
}

static void traffic_entries(void **state)
{
    (void)state;
    /* Names that clash with figures over all flows, or with each other, get their index. */
    const char *const tags[] = {"web", "ack", "a b.c", "web", "poisson#1", "le1MB"};
    struct result_flow flows[6];
    for (uint32_t i = 0; i < 6; i++) {
        flows[i] = flow(0, (i + 1) * XOFF_US, 1000 * (i + 1), i);
        flows[i].acked_at = (i + 1) * XOFF_MS;
    }
    flows[4].tag = 99; /* of no entry: counted in the whole only */
    const struct results r = {
        .flows = flows, .n_flows = 6, .tag_names = tags, .n_tags = 6, .end_at = XOFF_MS};
    struct summary *s = summarise(&r);
    check(s, "fct.max", 6e-6, "s");
    check(s, "fct.web.p99", 1e-6, "s");
    check(s, "fct.ack#1.p99", 2e-6, "s");
    check(s, "fct.ack.ack#1.p99", 2e-3, "s");
    check(s, "fct.ack.p50", 3e-3, "s");
    check(s, "fct.a_b_c.max", 3e-6, "s");
    check(s, "fct.web#3.mean", 4e-6, "s");
    check(s, "fct.le1MB#5.mean", 6e-6, "s");
    check(s, "flows.web.finished", 1, "");
    check(s, "flows.poisson#1", 0, "");
    check_absent(s, "fct.poisson#1.p99");
    check(s, "delivered.web", 1000, "B");
    check(s, "delivered", 21000, "B");
    for (uint32_t i = 0; i < s->n_metrics; i++) /* expectations know the family of each */
        assert_true(summary_has_family(s->metrics[i].name));
    for (uint32_t i = 0; i < s->n_metrics; i++)
        assert_ptr_equal(summary_find(s, s->metrics[i].name), &s->metrics[i]); /* no doubles */
    summary_destroy(s);
}

static struct result_operation operation(xoff_time start_at, xoff_time duration, uint64_t bytes,
                                         uint32_t tag)
{
    return (struct result_operation){
        .tag = tag, .bytes = bytes, .start_at = start_at, .finish_at = start_at + duration};
}

static void operations_by_entry(void **state)
{
    (void)state;
    /* io: 1 and 3 us, the last at 5 us: 2 / 5 us = 400 000 per second. rate#2: 2 us at 4 us: 250
     * 000. One of no entry, 10 us at 20 us, counts in the whole only: 4 / 20 us = 200 000. Of the
     * four durations 1 2 3 10 ranks ceil(2), ceil(3.8), ceil(3.96): 2, 10, 10; mean 4. An entry
     * called like a figure gets its index. */
    const char *const tags[] = {"io", "idle", "rate", "bytes"};
    struct result_operation operations[] = {
        operation(0, XOFF_US, 100, 0),
        operation(2 * XOFF_US, 2 * XOFF_US, 10, 2),
        operation(2 * XOFF_US, 3 * XOFF_US, 300, 0),
        operation(10 * XOFF_US, 10 * XOFF_US, 5000, 4),
    };
    const struct results r = {.operations = operations,
                              .n_operations = 4,
                              .tag_names = tags,
                              .n_tags = 4,
                              .end_at = XOFF_MS};
    struct summary *s = summarise(&r);
    check(s, "operations", 4, "");
    check(s, "operations.bytes", 5410, "B");
    check(s, "operations.rate", 200e3, "/s");
    check(s, "operations.mean", 4e-6, "s");
    check(s, "operations.p50", 2e-6, "s");
    check(s, "operations.p95", 10e-6, "s");
    check(s, "operations.p99", 10e-6, "s");
    check(s, "operations.max", 10e-6, "s");
    check(s, "operations.io", 2, "");
    check(s, "operations.io.bytes", 400, "B");
    check(s, "operations.io.rate", 400e3, "/s");
    check(s, "operations.io.mean", 2e-6, "s");
    check(s, "operations.io.p50", 1e-6, "s");
    check(s, "operations.io.max", 3e-6, "s");
    check(s, "operations.rate#2", 1, "");
    check(s, "operations.rate#2.rate", 250e3, "/s");
    check(s, "operations.rate#2.p99", 2e-6, "s");
    check(s, "operations.bytes#3.bytes", 0, "B");
    check(s, "operations.idle", 0, "");
    check_absent(s, "operations.idle.rate");
    check_absent(s, "operations.idle.mean");
    check_absent(s, "operations.le10KB.mean"); /* not by size */
    check(s, "flows", 0, "");                  /* no flow is made of an operation */
    check_absent(s, "fct.mean");
    for (uint32_t i = 0; i < s->n_metrics; i++) {
        assert_true(summary_has_family(s->metrics[i].name));
        assert_ptr_equal(summary_find(s, s->metrics[i].name), &s->metrics[i]);
    }
    summary_destroy(s);

    /* One that took no time at the very start: a duration, but no rate. */
    struct result_operation instant = operation(0, 0, 1, 0);
    const struct results first = {.operations = &instant, .n_operations = 1, .end_at = XOFF_MS};
    s = summarise(&first);
    check(s, "operations", 1, "");
    check(s, "operations.max", 0, "s");
    check_absent(s, "operations.rate");
    summary_destroy(s);
}

/* The p-th percentile by its definition: the least value that at least p n / 100 do not exceed. */
static xoff_time slow_percentile(const struct result_operation *operations, uint32_t n,
                                 uint32_t tag, uint64_t percent)
{
    xoff_time least = XOFF_NEVER;
    for (uint32_t i = 0; i < n; i++) {
        const xoff_time x = operations[i].finish_at - operations[i].start_at;
        uint64_t n_tag = 0, n_up_to = 0;
        for (uint32_t j = 0; j < n; j++) {
            if (operations[j].tag != tag)
                continue;
            n_tag++;
            n_up_to += operations[j].finish_at - operations[j].start_at <= x;
        }
        if (operations[i].tag == tag && n_up_to * 100 >= percent * n_tag && x < least)
            least = x;
    }
    return least;
}

/* In any order of completion, which percentiles do not look at. More operations than flows, and
 * fewer: neither is cut short by the other. */
static void operations_against_a_slow_model(void **state)
{
    (void)state;
    enum { N = 400 };
    static const char *const tags[] = {"a", "b", "c"};
    static const struct {
        const char *stat;
        uint64_t percent;
    } stats[] = {{"p50", 50}, {"p95", 95}, {"p99", 99}, {"max", 100}};
    struct result_operation operations[N];
    struct result_flow flows[N];
    struct xoff_rng rng;

    xoff_rng_init(&rng, 77, 0, 0);
    for (uint32_t round = 0; round < 20; round++) {
        const uint32_t n = (uint32_t)(1 + xoff_rng_below(&rng, N));
        const uint32_t n_flows = (uint32_t)xoff_rng_below(&rng, N + 1);
        const uint32_t bits = (uint32_t)xoff_rng_below(&rng, 50); /* few: many durations equal */
        for (uint32_t i = 0; i < n; i++) {
            const xoff_time duration = (xoff_time)(xoff_rng_u64(&rng) >> (63 - bits));
            const uint32_t tag = (uint32_t)xoff_rng_below(&rng, 4); /* 3 is of no entry */
            operations[i] = operation(i, duration, 1000, tag);
        }
        for (uint32_t i = 0; i < n_flows; i++)
            flows[i] = flow(0, 7, 1000, 0);
        const struct results r = {.operations = operations,
                                  .n_operations = n,
                                  .flows = flows,
                                  .n_flows = n_flows,
                                  .tag_names = tags,
                                  .n_tags = 3,
                                  .end_at = XOFF_MS};
        struct summary *s = summarise(&r);
        check(s, "operations", n, "");
        for (uint32_t tag = 0; tag < 3; tag++) {
            for (uint32_t i = 0; i < sizeof stats / sizeof *stats; i++) {
                char name[64];
                snprintf(name, sizeof name, "operations.%s.%s", tags[tag], stats[i].stat);
                const xoff_time x = slow_percentile(operations, n, tag, stats[i].percent);
                if (x == XOFF_NEVER)
                    check_absent(s, name);
                else
                    check(s, name, (double)x / 1e12, "s");
            }
        }
        if (n_flows)
            check(s, "fct.max", 7e-12, "s");
        summary_destroy(s);
    }
}

static void throughput_and_fairness(void **state)
{
    (void)state;
    /* End at 10 us. a: 1000 B in 4 us = 2 Gbps. b: a stream from 2 us to the end, 6000 B in 8 us =
     * 6 Gbps. c: starts with the end of the run, no life, no rate. Whole: 7000 B in 10 us = 5.6
     * Gbps. Jain of 2 and 6: 8^2 / (2 (4 + 36)) = 0.8. */
    struct result_flow flows[] = {flow(0, 4 * XOFF_US, 1000, 0),
                                  flow(2 * XOFF_US, XOFF_NEVER, 6000, 0),
                                  flow(10 * XOFF_US, XOFF_NEVER, 0, 0)};
    flows[1].sent_bytes = 9000;
    flows[1].retransmitted_frames = 3;
    flows[0].retransmitted_frames = 1;
    const char *const tags[] = {"x", "y"};
    const struct results r = {
        .flows = flows, .n_flows = 3, .tag_names = tags, .n_tags = 2, .end_at = 10 * XOFF_US};
    struct summary *s = summarise(&r);
    check(s, "throughput", 5.6e9, "bps");
    check(s, "throughput.x", 5.6e9, "bps");
    check(s, "throughput.mean", 4e9, "bps");
    check(s, "throughput.x.min", 2e9, "bps");
    check(s, "throughput.x.max", 6e9, "bps");
    check(s, "throughput.y", 0, "bps");
    check_absent(s, "throughput.y.mean");
    check(s, "jain", 0.8, "ratio");
    check(s, "jain.x", 0.8, "ratio");
    check_absent(s, "jain.y");
    check(s, "starved", 0, ""); /* c had no time to */
    check(s, "min_share", 0.5, "ratio");
    check_absent(s, "min_share.y");
    check(s, "starved.y", 0, "");
    check(s, "sent", 10000, "B");
    check(s, "retransmissions", 4, "frames");
    summary_destroy(s);
}

/* Three of four unfinished flows have 0 bps: the slowest has no share. Which flows starve is found
 * by the network. */
static void starved_flows(void **state)
{
    (void)state;
    struct result_flow flows[] = {
        flow(0, 4 * XOFF_US, 1000, 0), flow(2 * XOFF_US, XOFF_NEVER, 0, 1),
        flow(9 * XOFF_US, XOFF_NEVER, 0, 1), flow(9 * XOFF_US + 1, XOFF_NEVER, 0, 1),
        flow(0, XOFF_NEVER, 1, 2)};
    flows[1].is_starving = flows[2].is_starving = 1;
    const char *const tags[] = {"x", "y", "z"};
    const struct results r = {
        .flows = flows, .n_flows = 5, .tag_names = tags, .n_tags = 3, .end_at = 10 * XOFF_US};
    struct summary *s = summarise(&r);
    check(s, "starved", 2, "");
    check(s, "starved.x", 0, "");
    check(s, "starved.y", 2, "");
    check(s, "starved.z", 0, "");
    check(s, "min_share", 0, "ratio");
    check(s, "min_share.x", 1, "ratio");
    check_absent(s, "min_share.y"); /* 0 / 0 */
    check(s, "min_share.z", 1, "ratio");
    check(s, "slowdown.le10KB.unfinished", 0, ""); /* they have no ideal time: streams */
    summary_destroy(s);
    flows[0].ideal_for = flows[1].ideal_for = flows[4].ideal_for = XOFF_US;
    flows[4].offered_bytes = 10001;
    s = summarise(&r);
    check(s, "slowdown.le10KB.flows", 1, "");
    check(s, "slowdown.le10KB.unfinished", 1, "");
    check(s, "slowdown.le100KB.unfinished", 1, "");
    summary_destroy(s);
}

static void drops_by_cause(void **state)
{
    (void)state;
    struct result_drop drops[] = {
        {.cause = RESULT_DROP_BUFFER, .lossless = 1, .frames = 1, .bytes = 100},
        {.cause = RESULT_DROP_BUFFER, .lossless = 0, .frames = 2, .bytes = 200},
        {.cause = RESULT_DROP_CORRUPT, .lossless = 1, .frames = 4, .bytes = 400},
        {.cause = RESULT_DROP_LINK_DOWN, .lossless = 1, .frames = 8, .bytes = 800},
        {.cause = RESULT_DROP_NO_ROUTE, .lossless = 0, .frames = 16, .bytes = 1600},
        {.cause = RESULT_DROP_RECEIVER, .lossless = 1, .frames = 32, .bytes = 3200},
        {.cause = RESULT_DROP_EGRESS, .lossless = 1, .frames = 64, .bytes = 6400},
    };
    const struct results r = {.drops = drops, .n_drops = 7};
    struct summary *s = summarise(&r);
    check(s, "drops", 127, "frames");
    check(s, "drops.bytes", 12700, "B");
    check(s, "drops.lossless", 97, "frames");
    check(s, "drops.buffer", 3, "frames");
    check(s, "drops.corrupt", 4, "frames");
    check(s, "drops.link-down", 8, "frames");
    check(s, "drops.no-route", 16, "frames");
    check(s, "drops.receiver", 32, "frames");
    check(s, "drops.egress", 64, "frames");
    summary_destroy(s);
}

static void ports_and_buffers(void **state)
{
    (void)state;
    struct result_node nodes[3] = {{.name = "h0"},
                                   {.name = "s0", .is_switch = 1, .stops = 2, .stopped_for = 25},
                                   {.name = "s1", .is_switch = 1, .stops = 2, .stopped_for = 25}};
    struct result_buffer buffers[3] = {
        {.node = 0, .view = {.capacity_total_bytes = 10, .peak_total_bytes = 10}}, /* no switch's */
        {.node = 1, .view = {.capacity_total_bytes = 1000, .peak_total_bytes = 400}},
        {.node = 2, .view = {.capacity_total_bytes = 500, .peak_total_bytes = 300}}};
    struct result_port ports[2] = {{.node = 0, .busy_for = 25}, {.node = 1, .busy_for = 75}};
    ports[0].queue[3] = (struct result_queue){.queue_peak_bytes = 9999, .paused_for = 30};
    ports[1].queue[0] = (struct result_queue){.queue_peak_bytes = 700,
                                              .marked_frames = 5,
                                              .samples = 7,
                                              .notices = 2,
                                              .paused_for = 20,
                                              .headroom_peak_bytes = 60,
                                              .headroom_bytes = 100};
    ports[1].queue[7] = (struct result_queue){.queue_peak_bytes = 600,
                                              .marked_frames = 6,
                                              .notices = 3,
                                              .headroom_peak_bytes = 80,
                                              .headroom_bytes = 200};
    struct result_pause pauses[] = {{.pause = 1}, {.pause = 0}, {.pause = 1}};
    struct result_deadlock deadlocks[] = {{.onset_at = 90}, {.onset_at = 70}};
    struct result_flow flows[] = {
        {.finish_at = XOFF_NEVER, .notices = 3, .tags_sent = 10, .tags_back = 9},
        {.finish_at = XOFF_NEVER, .notices = 1, .tags_sent = 5, .tags_back = 4}};
    const struct results r = {.nodes = nodes,
                              .n_nodes = 3,
                              .buffers = buffers,
                              .n_buffers = 3,
                              .flows = flows,
                              .n_flows = 2,
                              .ports = ports,
                              .n_ports = 2,
                              .pauses = pauses,
                              .n_pauses = 3,
                              .pauses_left_out = 7,
                              .n_pause_counters = 18432,
                              .xoffs_left_out = 4,
                              .deadlocks = deadlocks,
                              .n_deadlocks = 2,
                              .packet_hops = 12,
                              .control_hops = 13,
                              .end_at = 100};
    struct summary *s = summarise(&r);
    check(s, "utilisation.mean", 0.5, "ratio");
    check(s, "utilisation.max", 0.75, "ratio");
    check(s, "queue.peak", 700, "B");
    check(s, "headroom.peak", 80, "B");
    check(s, "headroom.peak_fraction", 0.6, "ratio");
    check(s, "buffer.peak", 400, "B");
    check(s, "buffer.peak_fraction", 0.6, "ratio");
    check(s, "pauses", 6, "");
    check_absent(s, "pauses.max"); /* the only XON names no priority */
    check(s, "pauses.counters", 18432, "");
    check(s, "pause_time", 50e-12, "s");
    check(s, "pause_time.max", 30e-12, "s");
    check(s, "stops", 4, "");
    check(s, "stop_time", 50e-12, "s");
    check(s, "marks", 11, "frames");
    check(s, "notices.samples", 7, "");
    check(s, "notices.sent", 5, "frames");
    check(s, "notices.received", 4, "frames");
    check(s, "tags.sent", 15, "");
    check(s, "tags.received", 13, "");
    check(s, "feedback", 5 + 13, "frames");
    check(s, "feedback.rate", 18 / 100e-12, "/s"); /* of 100 ps with traffic */
    check(s, "deadlocks", 2, "");
    check(s, "deadlocked", 1, "");
    check(s, "deadlock.onset", 70e-12, "s");
    check(s, "packet_hops", 12, "frames");
    check(s, "control_hops", 13, "frames");
    check(s, "end_time", 100e-12, "s");
    summary_destroy(s);
}

/* Priority 3 of port 1 is paused from 10 to 40 and from 50 on, priority 4 from 20 to 60 by a
 * decision about both, port 2 from 30 to 31 and from 62 to 63, which are no longer, and let go once
 * more at 200; what never began or never ended is not among them. */
static void longest_pause(void **state)
{
    (void)state;
    struct result_port ports[3] = {{.node = 0}, {.node = 1, .port = 1}, {.node = 1, .port = 2}};
    struct result_pause pauses[] = {{.at = 5, .node = 1, .port = 2, .priorities = 8, .pause = 0},
                                    {.at = 10, .node = 1, .port = 1, .priorities = 8, .pause = 1},
                                    {.at = 20, .node = 1, .port = 1, .priorities = 16, .pause = 1},
                                    {.at = 30, .node = 1, .port = 2, .priorities = 8, .pause = 1},
                                    {.at = 31, .node = 1, .port = 2, .priorities = 8, .pause = 0},
                                    {.at = 40, .node = 1, .port = 1, .priorities = 8, .pause = 0},
                                    {.at = 50, .node = 1, .port = 1, .priorities = 8, .pause = 1},
                                    {.at = 60, .node = 1, .port = 1, .priorities = 24, .pause = 0},
                                    {.at = 61, .node = 0, .port = 0, .priorities = 1, .pause = 1},
                                    {.at = 62, .node = 1, .port = 2, .priorities = 8, .pause = 1},
                                    {.at = 63, .node = 1, .port = 2, .priorities = 8, .pause = 0},
                                    {.at = 200, .node = 1, .port = 2, .priorities = 8, .pause = 0}};
    struct results r = {.ports = ports, .n_ports = 3, .pauses = pauses, .end_at = 1000};
    static const struct {
        uint64_t n;
        double longest; /* 0: absent */
    } rows[] = {{0, 0}, {4, 0}, {5, 1}, {6, 30}, {8, 40}, {9, 40}, {11, 40}, {12, 40}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        r.n_pauses = rows[i].n;
        struct summary *s = summarise(&r);
        if (rows[i].longest > 0)
            check(s, "pauses.max", rows[i].longest * 1e-12, "s");
        else
            check_absent(s, "pauses.max");
        summary_destroy(s);
    }
}

/* What buffers are cut into, the smallest and the largest part over buffers of switches. */
static void pools(void **state)
{
    (void)state;
    struct result_node nodes[3] = {
        {.name = "h0"}, {.name = "s0", .is_switch = 1}, {.name = "s1", .is_switch = 1}};
    /* By pool: reserved, shared, headroom, insurance. s1 has two buffers. */
    struct result_buffer buffers[4] = {
        {.node = 0,
         .view = {.capacity_total_bytes = 100,
                  .capacity_bytes = {0, 0, 1, 0, 50},
                  .peak_bytes = {0, 0, 0, 0, 50}}},
        {.node = 1,
         .view = {.capacity_total_bytes = 1000, .capacity_bytes = {0, 100, 700, 200, 0}}},
        {.node = 2,
         .view = {.capacity_total_bytes = 1000,
                  .capacity_bytes = {0, 100, 800, 800, 100},
                  .peak_bytes = {0, 0, 0, 0, 60}}},
        {.node = 2,
         .view = {.capacity_total_bytes = 2000,
                  .capacity_bytes = {0, 100, 1860, 1860, 40},
                  .peak_bytes = {0, 0, 0, 0, 40}}}};
    struct results r = {
        .nodes = nodes, .n_nodes = 3, .buffers = buffers, .n_buffers = 4, .end_at = 100};
    struct summary *s = summarise(&r);
    check(s, "buffer.set_aside", 0.2, "ratio");
    check(s, "buffer.shared", 0.7, "ratio");
    check(s, "insurance.peak", 60, "B");
    check(s, "insurance.peak_fraction", 1, "ratio");
    check_absent(s, "headroom.maxima");
    check_absent(s, "pauses.counters");
    summary_destroy(s);

    r.n_buffers = 2;
    s = summarise(&r);
    check(s, "buffer.set_aside", 0.2, "ratio");
    check_absent(s, "insurance.peak");
    check_absent(s, "insurance.peak_fraction");
    summary_destroy(s);
    r.n_buffers = 1;
    s = summarise(&r);
    check_absent(s, "buffer.set_aside");
    check_absent(s, "buffer.shared");
    summary_destroy(s);
}

/* 1 to 100 permille twice each and one at the whole of it. */
static void maxima(void **state)
{
    (void)state;
    uint64_t counts[RESULT_MAXIMA] = {0};
    struct results r = {.headroom_maxima = counts, .end_at = 100};
    struct summary *s = summarise(&r);
    check(s, "headroom.maxima", 0, "");
    check_absent(s, "headroom.maxima.p50");
    check_absent(s, "headroom.maxima.max");
    assert_int_equal(s->n_distributions, 0);
    summary_destroy(s);

    for (uint32_t i = 0; i < 100; i++)
        counts[i] = 2;
    s = summarise(&r);
    check(s, "headroom.maxima", 200, "");
    check(s, "headroom.maxima.p50", 0.050, "ratio");
    check(s, "headroom.maxima.p95", 0.095, "ratio");
    check(s, "headroom.maxima.p99", 0.099, "ratio");
    check(s, "headroom.maxima.max", 0.1, "ratio");
    assert_int_equal(s->n_distributions, 1);
    assert_string_equal(s->distributions[0].name, "headroom.maxima");
    assert_true(s->distributions[0].step == 0.001 && s->distributions[0].n == 100);
    assert_memory_equal(s->distributions[0].counts, counts, 100 * sizeof *counts);
    summary_destroy(s);

    counts[RESULT_MAXIMA - 1] = 1;
    s = summarise(&r);
    check(s, "headroom.maxima.p50", 0.051, "ratio");
    check(s, "headroom.maxima.max", 1, "ratio");
    assert_int_equal(s->distributions[0].n, RESULT_MAXIMA);
    summary_destroy(s);
}

static int by_size(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* The radix sort and the scatter against qsort, over spans from picoseconds to days. */
static void million_flows(void **state)
{
    (void)state;
    const uint64_t n = 1000000, seed = 20240613;
    const char *const tags[] = {"even", "odd"};
    struct result_flow *flows = calloc(n, sizeof *flows);
    int64_t *odd = calloc(n, sizeof *odd);
    struct xoff_rng rng;
    uint64_t n_odd = 0;

    assert_true(flows && odd);
    xoff_rng_init(&rng, seed, 0, 0);
    for (uint64_t i = 0; i < n; i++) {
        const int64_t fct = (int64_t)(xoff_rng_u64(&rng) >> (1 + xoff_rng_below(&rng, 60)));
        flows[i] = flow(0, fct, 1 + xoff_rng_below(&rng, 20000000), xoff_rng_u32(&rng) & 1);
        flows[i].ideal_for = 1000;
        if (flows[i].tag)
            odd[n_odd++] = fct;
    }
    const struct results r = {
        .flows = flows, .n_flows = n, .tag_names = tags, .n_tags = 2, .end_at = XOFF_S};
    const clock_t start = clock();
    struct summary *s = summarise(&r);
    const double cpu_s = (double)(clock() - start) / CLOCKS_PER_SEC;
    print_message("a million flows summarised in %.3f s\n", cpu_s);
#ifndef IS_SANITIZED
    assert_true(cpu_s < 1);
#endif
    qsort(odd, n_odd, sizeof *odd, by_size);
    check(s, "fct.odd.p50", (double)odd[(n_odd * 50 + 99) / 100 - 1] / 1e12, "s");
    check(s, "fct.odd.p99", (double)odd[(n_odd * 99 + 99) / 100 - 1] / 1e12, "s");
    check(s, "fct.odd.max", (double)odd[n_odd - 1] / 1e12, "s");
    check(s, "slowdown.odd.p95", (double)odd[(n_odd * 95 + 99) / 100 - 1] / 1e3, "ratio");
    summary_destroy(s);
    free(odd);
    free(flows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nearest_rank),
        cmocka_unit_test(unfinished_flows_count_for_the_largest),
        cmocka_unit_test(undefined_is_absent),
        cmocka_unit_test(slowdown_and_buckets),
        cmocka_unit_test(slowdown_of_ns3),
        cmocka_unit_test(time_with_traffic),
        cmocka_unit_test(measured_time),
        cmocka_unit_test(traffic_entries),
        cmocka_unit_test(operations_by_entry),
        cmocka_unit_test(operations_against_a_slow_model),
        cmocka_unit_test(throughput_and_fairness),
        cmocka_unit_test(longest_pause),
        cmocka_unit_test(starved_flows),
        cmocka_unit_test(drops_by_cause),
        cmocka_unit_test(ports_and_buffers),
        cmocka_unit_test(pools),
        cmocka_unit_test(maxima),
        cmocka_unit_test(million_flows),
    };
    return cmocka_run_group_tests_name("summary", tests, NULL, NULL);
}
