/* A run's part of the page: reduction, stops, causality tree, victims, topology. */
#include "report/report_testing.h"
#include "stats/flow_sums.h"

#include "report/run_parts.h"

static char folder[64];

static int setup(void **state)
{
    (void)state;
    make_folder(folder);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    remove_folder(folder);
    return 0;
}

static json_t *load(const struct report_limits *limits)
{
    struct run_file file;
    struct xoff_err err = {0};
    const struct report_limits usual = report_limits(1, 1);
    if (run_file_open(folder, &file, &err))
        fail_msg("%s", err.message);
    json_t *run = run_data_create(&file, 1, limits ? limits : &usual, &err);
    if (!run)
        fail_msg("%s", err.message);
    run_file_close(&file);
    return run;
}

static json_t *load_results(const struct results *results)
{
    write_result(folder, results);
    return load(NULL);
}

static void test_head(void **state)
{
    (void)state;
    struct results r = test_results("v");
    json_t *run = load_results(&r);
    assert_string_equal(text_at_path(run, "title"), "A & <b>");
    assert_string_equal(text_at_path(run, "digest"), "00000000000000ab");
    assert_string_equal(text_at_path(run, "verdict"), "fail"); /* there is a finding */
    assert_string_equal(text_at_path(run, "findings.0"), "cut within a character: \xef\xbf\xbd");
    assert_int_equal(json_array_size(at(run, "spreads")), 0);
    assert_string_equal(text_at_path(run, "expectations.0.text"), "drops == 0");
    assert_true(json_is_false(at(run, "expectations.0.holds")));
    assert_string_equal(text_at_path(run, "expectations.0.detail"), "drops = 10, not == 0");
    assert_true(json_is_false(at(run, "interrupted")));
    assert_true(json_is_false(at(run, "version_differs")));
    assert_near(number_at(run, "end_s"), 1e-4);
    assert_near(number_at(run, "wall_s"), 0.5);
    assert_int_equal(number_at(run, "seed"), 7);
    assert_string_equal(text_at_path(run, "scenario"), "title: </script><!-- A\n");
    assert_string_equal(text_at_path(run, "metrics.0.name"), "flows");
    assert_int_equal(number_at(run, "metrics.0.value"), 4);
    json_decref(run);

    /* Beyond what a browser counts exactly. */
    r.seed = UINT64_C(1) << 53;
    run = load_results(&r);
    assert_string_equal(text_at_path(run, "seed"), "9007199254740992");
    json_decref(run);
}

static void test_small_tables(void **state)
{
    (void)state;
    const struct results r = test_results("");
    json_t *run = load_results(&r);
    /* The most frames first. */
    assert_string_equal(text_at_path(run, "drops.0.node"), "s0");
    assert_string_equal(text_at_path(run, "drops.0.cause"), "no-route");
    assert_true(json_is_null(at(run, "drops.0.out_port")));
    assert_true(json_is_true(at(run, "drops.1.lossless")));
    assert_near(number_at(run, "drops.1.first_s"), 5e-6);
    assert_near(number_at(run, "deadlocks.0.onset_s"), 50e-6);
    assert_near(number_at(run, "deadlocks.0.found_s"), 60e-6);
    assert_string_equal(text_at_path(run, "deadlocks.0.ports.0.name"), "s0:2 (s1) p3");
    assert_int_equal(json_array_size(at(run, "deadlocks.0.ports")), 2);
    assert_string_equal(text_at_path(run, "watermarks.buffers.0.node"), "s1");
    assert_string_equal(text_at_path(run, "watermarks.buffers.0.name"), "output");
    assert_int_equal(number_at(run, "watermarks.buffers.0.peak"), 190);
    assert_int_equal(json_array_size(at(run, "watermarks.buffers.0.pools")), 0);
    assert_string_equal(text_at_path(run, "watermarks.buffers.1.name"), "shared");
    assert_int_equal(json_array_size(at(run, "watermarks.buffers.1.pools")), 2);
    assert_string_equal(text_at_path(run, "watermarks.buffers.1.pools.1.name"), "shared");
    assert_int_equal(number_at(run, "watermarks.buffers.1.pools.1.peak"), 40);
    assert_int_equal(number_at(run, "watermarks.buffers.1.pools.1.size"), 70);
    assert_string_equal(text_at_path(run, "watermarks.buffers.2.name"), "input");
    assert_int_equal(json_array_size(at(run, "watermarks.headroom")), 1);
    assert_string_equal(text_at_path(run, "watermarks.headroom.0.name"), "s0:0 (h0) p3");
    assert_int_equal(number_at(run, "watermarks.headroom.0.size"), 1000);
    assert_int_equal(number_at(run, "operations.n"), 2);
    assert_near(number_at(run, "operations.by_entry.web.duration.0.0"), 1e-6);
    assert_near(number_at(run, "operations.by_entry.web.duration.1.1"), 1);
    json_decref(run);
}

/* Flows that were summarised: counts and curves are those of all, though few are in the file. */
static void test_summarised(void **state)
{
    (void)state;
    enum { N = 100000 };
    struct results r = test_results("");
    struct result_flow flow = given_flows[0], open = given_flows[3];
    struct flow_sums *sums = flow_sums_create();
    for (uint32_t i = 1; i <= N; i++) { /* slowdowns from 1 to 1001 */
        flow.number = i;
        flow.ideal_for = XOFF_NS;
        flow.finish_at = flow.start_at + XOFF_NS + (xoff_time)i * XOFF_NS / 100;
        assert_true(flow_sums_add(sums, &flow));
    }
    open.finish_at = XOFF_NEVER;
    assert_true(flow_sums_finish(sums, &open, 1));
    r.flows = &open;
    r.n_flows = 1;
    r.sums = sums;
    json_t *run = load_results(&r);
    assert_int_equal(number_at(run, "flows.n"), N + 1);
    assert_int_equal(number_at(run, "flows.finished"), N);
    assert_int_equal(number_at(run, "flows.summarised"), N);
    assert_int_equal(number_at(run, "flows.by_entry.web.finished"), N);
    assert_true(json_array_size(at(run, "flows.cdf.slowdown")) > 100);
    uint64_t n = 0;
    for (uint32_t i = 0; i < 5; i++) {
        char path[64];
        snprintf(path, sizeof path, "flows.buckets.%u.n", i);
        if (number_at(run, path) <= 0)
            continue;
        n += (uint64_t)number_at(run, path);
        snprintf(path, sizeof path, "flows.buckets.%u.p50", i);
        assert_in_range(number_at(run, path) * 1000, 500500, 501500);
        snprintf(path, sizeof path, "flows.buckets.%u.p99", i);
        assert_in_range(number_at(run, path) * 1000, 990000, 992000);
    }
    assert_int_equal(n, N);
    json_decref(run);
    flow_sums_destroy(sums);
}

static void test_flows(void **state)
{
    (void)state;
    struct results r = test_results("");
    struct result_flow flows[4];
    memcpy(flows, given_flows, sizeof flows);
    flows[3].finish_at = XOFF_NEVER;
    r.flows = flows;
    json_t *run = load_results(&r);
    assert_int_equal(number_at(run, "flows.n"), 4);
    assert_int_equal(number_at(run, "flows.finished"), 3);
    assert_int_equal(json_array_size(at(run, "flows.cdf.fct")), 3);
    assert_near(number_at(run, "flows.cdf.fct.0.0"), 40e-6);
    assert_near(number_at(run, "flows.cdf.fct.2.1"), 1);
    assert_int_equal(number_at(run, "flows.by_entry.web.n"), 4);
    assert_near(number_at(run, "flows.by_entry.web.slowdown.2.0"), 8);
    assert_int_equal(json_array_size(at(run, "flows.buckets")), 5);
    assert_int_equal(number_at(run, "flows.buckets.0.n"), 1);
    assert_near(number_at(run, "flows.buckets.0.p99"), 8);
    assert_near(number_at(run, "flows.buckets.1.mean"), 4);
    assert_int_equal(number_at(run, "flows.buckets.2.n"), 0);
    assert_true(json_is_null(at(run, "flows.buckets.2.max")));
    assert_int_equal(number_at(run, "flows.buckets.3.n"), 1);
    assert_true(json_is_null(at(run, "flows.buckets.4.to_bytes")));
    json_decref(run);
}

/* Of many values: few points, but the first, the last and the quantiles that people quote. */
static void test_cdf(void **state)
{
    (void)state;
    static double values[100000];
    for (uint32_t i = 0; i < 100000; i++)
        values[i] = i + 1;
    json_t *points = json_cdf(values, 100000, 400);
    assert_in_range(json_array_size(points), 300, 400);
    assert_near(number_at(points, "0.0"), 1);
    static const double quoted[] = {0.5, 0.99, 0.999, 0.9999, 1};
    double last = 0;
    uint32_t n_found = 0, n_tail = 0;
    for (uint32_t i = 0; i < json_array_size(points); i++) {
        json_t *p = json_array_get(points, i);
        const double value = number_at(p, "0"), part = number_at(p, "1");
        assert_true(value > last);
        assert_near(part, value / 100000);
        for (uint32_t k = 0; k < sizeof quoted / sizeof *quoted; k++)
            n_found += part == quoted[k];
        n_tail += part >= 0.99;
        last = value;
    }
    assert_int_equal(n_found, 5);
    assert_true(n_tail > 80);
    json_decref(points);

    for (uint32_t most = 2; most < 30; most++) {
        points = json_cdf(values, 100000, most);
        assert_in_range(json_array_size(points), 2, most);
        json_decref(points);
    }
    points = json_cdf(values, 400, 400);
    assert_int_equal(json_array_size(points), 400);
    json_decref(points);
    points = json_cdf(values, 0, 400);
    assert_int_equal(json_array_size(points), 0);
    json_decref(points);
}

/* `n` samples of one queue, one a microsecond: 0 but for a spike of 1e6 at `spike`. */
static struct result_sample *make_samples(uint32_t n, uint32_t spike)
{
    struct result_sample *samples = calloc(n, sizeof *samples);
    assert_non_null(samples);
    for (uint32_t i = 0; i < n; i++)
        samples[i] = (struct result_sample){.at = (i + 1) * US,
                                            .node = 4,
                                            .port = 2,
                                            .priority = 3,
                                            .metric = RESULT_QUEUE_BYTES,
                                            .value = i == spike ? 1e6 : 10};
    return samples;
}

static void test_series_whole(void **state)
{
    (void)state;
    struct results r = test_results("");
    r.end_at = 600 * US;
    r.samples = make_samples(600, 77);
    r.n_samples = 600;
    json_t *run = load_results(&r);
    assert_int_equal(json_array_size(at(run, "series")), 1);
    assert_string_equal(text_at_path(run, "series.0.metric"), "queue");
    assert_string_equal(text_at_path(run, "series.0.unit"), "B");
    assert_string_equal(text_at_path(run, "series.0.name"), "s0:2 (s1) p3");
    assert_int_equal(json_array_size(at(run, "series.0.points")), 600);
    assert_near(number_at(run, "series.0.points.77.0"), 78e-6);
    for (uint32_t i = 1; i < 4; i++)
        assert_near(json_number_value(json_array_get(at(run, "series.0.points.77"), i)), 1e6);
    json_decref(run);
    free(r.samples);
}

/* What lies in the switch from an input is a series of its own, beside the queue of that port. */
static void test_series_of_inputs(void **state)
{
    (void)state;
    struct results r = test_results("");
    r.end_at = 600 * US;
    r.samples = make_samples(600, 77);
    r.n_samples = 600;
    for (uint32_t i = 0; i < 600; i += 2)
        r.samples[i].metric = RESULT_INPUT_BYTES;
    json_t *run = load_results(&r);
    assert_int_equal(json_array_size(at(run, "series")), 2);
    assert_string_equal(text_at_path(run, "series.0.metric"), "queue");
    assert_string_equal(text_at_path(run, "series.1.metric"), "input");
    assert_string_equal(text_at_path(run, "series.1.unit"), "B");
    assert_string_equal(text_at_path(run, "series.1.name"), "s0:2 (s1) p3");
    assert_near(number_at(run, "series.1.points.0.0"), 1e-6);
    assert_near(number_at(run, "series.1.points.0.3"), 10);
    json_decref(run);
    free(r.samples);
}

static void test_series_keeps_spikes(void **state)
{
    (void)state;
    struct results r = test_results("");
    r.end_at = 10004 * US;
    for (uint32_t spike = 0; spike < 10007; spike += 1429) { /* the first and the last too */
        r.samples = make_samples(10004, spike);
        r.n_samples = 10004;
        json_t *run = load_results(&r), *points = at(run, "series.0.points");
        assert_in_range(json_array_size(points), 300, 600);
        uint32_t n_spikes = 0;
        double sum = 0;
        for (uint32_t i = 0; i < json_array_size(points); i++) {
            json_t *p = json_array_get(points, i);
            assert_true(number_at(p, "1") <= number_at(p, "3"));
            assert_true(number_at(p, "3") <= number_at(p, "2"));
            if (number_at(p, "2") > 10) {
                n_spikes++;
                assert_near(number_at(p, "2"), 1e6);
                assert_true(number_at(p, "1") == 10 && number_at(p, "3") > 10);
            }
            sum += number_at(p, "3");
        }
        assert_int_equal(n_spikes, spike < 10004);
        assert_true(sum > 10. * (double)json_array_size(points));
        json_decref(run);
        free(r.samples);
    }
}

/* Equal values left out: a point before the next change, and one at the end. */
static void test_series_sparse(void **state)
{
    (void)state;
    struct results r = test_results("");
    struct result_sample *s = make_samples(102, 1000);
    r.end_at = 102 * US;
    for (uint32_t i = 0; i < 101; i++) /* another one, which gives the interval and the end */
        s[i].port = 1;
    s[101].at = US;
    s[101].value = 5; /* and never again */
    r.samples = s;
    r.n_samples = 102;
    json_t *run = load_results(&r);
    assert_int_equal(json_array_size(at(run, "series")), 2);
    assert_int_equal(json_array_size(at(run, "series.1.points")), 2);
    assert_near(number_at(run, "series.1.points.1.0"), 101e-6);
    assert_near(number_at(run, "series.1.points.1.2"), 5);
    json_decref(run);

    /* 5 at 1 us and 2 us in place of the samples there, then 9 at 50 us. */
    s[0] = s[1] = s[49] = s[101];
    s[1].at = 2 * US;
    s[49].at = 50 * US;
    s[49].value = 9;
    r.n_samples = 101;
    run = load_results(&r);
    json_t *points = at(run, "series.1.points");
    assert_near(number_at(points, "1.0"), 2e-6);
    assert_near(number_at(points, "2.0"), 49e-6);
    assert_near(number_at(points, "2.3"), 5);
    assert_near(number_at(points, "3.0"), 50e-6);
    assert_near(number_at(points, "3.1"), 9);
    json_decref(run);

    /* The same in wide buckets: what is missing counts in the mean. */
    struct report_limits limits = report_limits(1, 1);
    limits.points = 16;
    limits.buckets = 8;
    run = load(&limits);
    points = at(run, "series.1.points");
    for (uint32_t i = 0; i < json_array_size(points); i++) {
        json_t *p = json_array_get(points, i);
        if (number_at(p, "2") == 9 && number_at(p, "1") == 5)
            assert_in_range(number_at(p, "3") * 1000, 5000, 6500);
    }
    json_decref(run);
    free(s);
}

/* Traffic from 2 s on, done after 100 us, in a run to 3 s: charts begin 2 us (a fiftieth) before it
 * and end with it, both moved to the next sample. The value that held before is drawn at the left
 * edge, what comes behind the traffic is not. */
static void test_late_traffic(void **state)
{
    (void)state;
    struct results r = test_results("");
    const xoff_time start = 2 * XOFF_S;
    struct result_flow flow = {.to = 2,
                               .offered_bytes = 1,
                               .reliable = 1,
                               .start_at = start + 25 * US,
                               .finish_at = start + 124 * US,
                               .acked_at = start + 125 * US};
    struct result_sample samples[6];
    static const xoff_time at_us[] = {-1999990, -50, 40, 50, 130, 500000};
    static const double values[] = {0, 7, 70, 80, 90, 0};
    for (uint32_t i = 0; i < 6; i++)
        samples[i] = (struct result_sample){.at = start + at_us[i] * US,
                                            .node = 4,
                                            .port = 2,
                                            .priority = 3,
                                            .metric = RESULT_QUEUE_BYTES,
                                            .value = values[i]};
    struct result_pause pauses[] = {given_pauses[0], given_pauses[3]};
    pauses[0].at = start + 30 * US;
    pauses[1].at = start + 85 * US;
    r.end_at = 3 * XOFF_S;
    r.flows = &flow;
    r.n_flows = 1;
    r.samples = samples;
    r.n_samples = 6;
    r.pauses = pauses;
    r.n_pauses = 2;
    given_ports[0].busy_for = 25 * US;
    json_t *run = load_results(&r);
    assert_near(number_at(run, "end_s"), 3);
    assert_near(number_at(run, "traffic_s"), 100e-6);
    assert_near(number_at(run, "from_s"), 2 + 20e-6); /* of 2.000023 */
    assert_near(number_at(run, "to_s"), 2 + 130e-6);
    json_t *points = at(run, "series.0.points");
    /* 7 at the edge and up to 30 us, 70 at 40, 80 at 50 and up to 120, 90 at 130. */
    static const double drawn[][2] = {{20, 7}, {30, 7}, {40, 70}, {50, 80}, {120, 80}, {130, 90}};
    assert_int_equal(json_array_size(points), 6);
    for (uint32_t i = 0; i < 6; i++) {
        json_t *p = json_array_get(points, i);
        assert_near(number_at(p, "0"), 2 + drawn[i][0] * 1e-6);
        assert_near(number_at(p, "3"), drawn[i][1]);
    }
    /* Paused from 30 to 85 us. */
    assert_near(number_at(run, "stops.t0_s"), 2 + 20e-6);
    json_t *spans = at(run, "stops.rows.0.spans");
    assert_int_equal(json_array_size(spans), 2);
    assert_int_equal(number_at(spans, "0"), 10000);
    assert_int_equal(number_at(spans, "1"), 55000);
    /* A bin per 10 us: 7 held at the beginning, 70 at 40 us, 80 from 50 on, 90 at the end. */
    assert_near(number_at(run, "replay.t0_s"), 2 + 20e-6);
    assert_int_equal(number_at(run, "replay.bins"), 12);
    assert_near(number_at(run, "replay.dt_s"), 10e-6);
    assert_near(number_at(run, "replay.longest_queue"), 90);
    assert_string_equal(text_at_path(run, "replay.queues.0.bins"), "E2ou8z");
    json_decref(run);
}

static void test_series_choice(void **state)
{
    (void)state;
    struct results r = test_results("");
    struct result_sample samples[40];
    for (uint32_t i = 0; i < 40; i++)
        samples[i] = (struct result_sample){.at = US,
                                            .node = i % 10 < 5 ? 4 : 5,
                                            .port = i % 5,
                                            .priority = (uint8_t)(i / 10),
                                            .metric = RESULT_TX_BPS,
                                            .value = i < 3 ? 0 : i};
    r.samples = samples;
    r.n_samples = 40;
    json_t *run = load_results(&r);
    assert_int_equal(json_array_size(at(run, "series")), 24);
    assert_int_equal(number_at(run, "series_left_out"), 16);
    assert_near(number_at(run, "series.0.points.0.2"), 39);
    assert_near(number_at(run, "series.23.points.0.2"), 16);
    json_decref(run);

    /* Only zeros: one of them, to show that there is nothing. */
    r.n_samples = 3;
    run = load_results(&r);
    assert_int_equal(json_array_size(at(run, "series")), 1);
    assert_int_equal(number_at(run, "series_left_out"), 2);
    json_decref(run);
}

/* Pools of a switch go together: the 24 switches that had most in all of them, whatever is in each;
 * with the sizes of pool and buffer. */
static void test_series_pools(void **state)
{
    (void)state;
    struct results r = test_results("");
    static struct result_node nodes[30];
    static struct result_buffer buffers[60];
    static struct result_sample samples[120];
    static const char *const names[] = {"reserved", "shared", "headroom", "insurance"};
    for (uint32_t n = 0; n < 30; n++) {
        nodes[n] = (struct result_node){.is_switch = 1};
        for (uint32_t b = 0; b < 2; b++) /* sizes are sums over the buffers of a node */
            buffers[2 * n + b] = (struct result_buffer){
                .node = n,
                .name = {(char)('a' + b)},
                .view = {.capacity_total_bytes = b ? 600 : 300, .capacity_bytes = {0, 1, 2, 3, 4}}};
        snprintf(nodes[n].name, sizeof nodes[n].name, "s%u", n);
        /* s0 has most, but only at one place; s29 has nothing anywhere. */
        const double most = n == 29 ? 0 : 100 - n;
        for (uint32_t pool = 0; pool < 4; pool++)
            samples[4 * n + pool] =
                (struct result_sample){.at = US,
                                       .node = n,
                                       .port = UINT32_MAX,
                                       .priority = 0xff,
                                       .metric = (uint8_t)(RESULT_RESERVED_BYTES + pool),
                                       .value = n           ? most
                                                : pool == 3 ? 1000
                                                            : 0};
    }
    r.nodes = nodes;
    r.n_nodes = 30;
    r.buffers = buffers;
    r.n_buffers = 60;
    r.n_ports = r.n_drops = r.n_deadlocks = 0;
    r.n_flows = r.n_operations = r.n_pauses = 0;
    r.samples = samples;
    r.n_samples = 120;
    json_t *run = load_results(&r);
    assert_int_equal(json_array_size(at(run, "series")), 4 * 24);
    assert_int_equal(number_at(run, "series_left_out"), 4 * 6);
    for (uint32_t i = 0; i < 4 * 24; i++) {
        json_t *s = json_array_get(at(run, "series"), i);
        char node[8];
        snprintf(node, sizeof node, "s%u", i % 24);
        assert_string_equal(text_at_path(s, "node"), node);
        assert_string_equal(text_at_path(s, "metric"), names[i / 24]);
        assert_int_equal(number_at(s, "capacity"), 2 * (i / 24 + 1));
        assert_int_equal(number_at(s, "buffer"), 900);
        assert_true(json_is_null(at(s, "port")));
    }
    assert_near(number_at(run, "series.0.points.0.3"), 0);
    assert_near(number_at(run, "series.72.points.0.3"), 1000);
    json_decref(run);

    /* Nothing anywhere: one switch, to show that. */
    r.samples = samples + 4 * 29;
    r.n_samples = 4;
    run = load_results(&r);
    assert_int_equal(json_array_size(at(run, "series")), 4);
    json_decref(run);
}

static void test_stops(void **state)
{
    (void)state;
    struct results r = test_results("");
    json_t *run = load_results(&r);
    assert_int_equal(json_array_size(at(run, "stops.rows")), 2);
    assert_string_equal(text_at_path(run, "stops.rows.0.name"), "s1 pauses s0 p3");
    assert_string_equal(text_at_path(run, "stops.rows.1.name"), "s0 pauses h0 p3");
    assert_near(number_at(run, "stops.rows.0.paused_s"), 50e-6);
    assert_near(number_at(run, "stops.tick_s"), 1e-9);
    json_t *spans = at(run, "stops.rows.0.spans");
    assert_int_equal(json_array_size(spans), 2);
    assert_int_equal(number_at(spans, "0"), 20000);
    assert_int_equal(number_at(spans, "1"), 50000);
    /* s1 closed s0's port 2 of the cycle; nobody closed the other. */
    assert_near(number_at(run, "deadlocks.0.ports.0.closed_s"), 20e-6);
    assert_true(json_is_null(at(run, "deadlocks.0.ports.1.closed_s")));
    json_decref(run);

    /* Never resumed: to the end of the run; with decisions missing, as far as is known. */
    r.n_pauses = 2;
    run = load_results(&r);
    assert_near(number_at(run, "stops.rows.0.paused_s"), 80e-6);
    json_decref(run);
    r.n_pauses = 3;
    r.pauses_left_out = 5;
    run = load_results(&r);
    assert_near(number_at(run, "stops.rows.0.paused_s"), 35e-6);
    assert_near(number_at(run, "stops.rows.1.paused_s"), 0);
    assert_int_equal(number_at(run, "pauses.left_out"), 5);
    json_decref(run);
}

/* 21 stops in 20 us are more than a row may have: bins of 5 us, half of the time paused. */
static void test_many_stops(void **state)
{
    (void)state;
    struct results r = test_results("");
    struct result_pause pauses[42];
    for (uint32_t i = 0; i < 42; i++) {
        pauses[i] = given_pauses[i % 2 ? 3 : 0];
        pauses[i].at = i * US / 2;
    }
    r.pauses = pauses;
    r.n_pauses = 42;
    struct report_limits limits = report_limits(1, 1);
    write_result(folder, &r);
    limits.stops = 21;
    json_t *run = load(&limits);
    assert_int_equal(json_array_size(at(run, "stops.rows.0.spans")), 42);
    json_decref(run);
    limits.stops = 20;
    run = load(&limits);
    assert_null(json_object_get(at(run, "stops.rows.0"), "spans"));
    assert_int_equal(number_at(run, "stops.bins"), 20);
    assert_string_equal(text_at_path(run, "stops.rows.0.bins"), "a4GA15");
    json_decref(run);
}

/* A port at full and at half rate in turn, in bins of two samples; and a buffer half full. */
static void test_replay(void **state)
{
    (void)state;
    struct results r = test_results("");
    struct result_sample samples[41];
    for (uint32_t i = 0; i < 41; i++)
        samples[i] = (struct result_sample){.at = (i ? i : 1) * US,
                                            .node = 4,
                                            .port = i ? 2 : UINT32_MAX,
                                            .priority = UINT8_MAX,
                                            .metric = i ? RESULT_TX_BPS : RESULT_BUFFER_BYTES,
                                            .value = !i      ? 50
                                                     : i % 2 ? 10e9
                                                             : 5e9};
    r.samples = samples;
    r.n_samples = 41;
    write_result(folder, &r);
    struct report_limits limits = report_limits(1, 1);
    limits.replay = 40;
    json_t *run = load(&limits);
    assert_int_equal(number_at(run, "replay.bins"), 20);
    assert_near(number_at(run, "replay.dt_s"), 2e-6);
    assert_int_equal(json_array_size(at(run, "replay.queues")), 0);
    /* A load is that of the interval before its sample: the last bin has one sample alone. */
    assert_string_equal(text_at_path(run, "replay.loads.0.bins"), "n19a");
    assert_string_equal(text_at_path(run, "replay.loads.0.node"), "s0");
    assert_string_equal(text_at_path(run, "replay.buffers.0.bins"), "a20");
    json_decref(run);
}

static void test_pause_frames(void **state)
{
    (void)state;
    struct results r = test_results("");
    struct result_pause pauses[4];
    memcpy(pauses, given_pauses, sizeof pauses);
    for (uint32_t i = 0; i < 4; i++)
        pauses[i].priorities = 0xff;
    r.pauses = pauses;
    json_t *run = load_results(&r);
    assert_int_equal(json_array_size(at(run, "stops.rows")), 2);
    assert_string_equal(text_at_path(run, "stops.rows.0.name"), "s1 pauses s0");
    assert_true(json_is_null(at(run, "stops.rows.0.priority")));
    assert_string_equal(text_at_path(run, "pauses.roots.0.name"), "s1 port 2");
    assert_int_equal(number_at(run, "pauses.n_victims"), 2);
    json_decref(run);
}

static void test_tree(void **state)
{
    (void)state;
    const struct results r = test_results("");
    json_t *run = load_results(&r);
    assert_int_equal(number_at(run, "pauses.n"), 2);
    assert_int_equal(number_at(run, "pauses.depth"), 2);
    assert_int_equal(number_at(run, "pauses.spread"), 2);
    assert_int_equal(json_array_size(at(run, "pauses.roots")), 1);
    assert_string_equal(text_at_path(run, "pauses.roots.0.name"), "s1 port 2 p3");
    assert_string_equal(text_at_path(run, "pauses.roots.0.egress"), "h2");
    assert_string_equal(text_at_path(run, "pauses.roots.0.paused"), "s0");
    assert_near(number_at(run, "pauses.roots.0.paused_s"), 50e-6);
    assert_near(number_at(run, "pauses.roots.0.first_s"), 20e-6);
    assert_string_equal(text_at_path(run, "pauses.roots.0.children.0.name"), "s0 port 0 p3");
    assert_string_equal(text_at_path(run, "pauses.roots.0.children.0.egress"), "s1");
    assert_int_equal(json_array_size(at(run, "pauses.roots.0.children.0.children")), 0);
    json_decref(run);
}

/* A thousand pauses, each caused by the one before: 200 are shown, from the root down. */
static void test_deep_tree(void **state)
{
    (void)state;
    struct results r = test_results("");
    static struct result_pause pauses[2000];
    for (uint32_t i = 0; i < 2000; i++)
        pauses[i] = (struct result_pause){.at = i * 50000,
                                          .node = i / 2 % 2 ? 5 : 4,
                                          .port = 2,
                                          .priorities = 8,
                                          .pause = i % 2 == 0,
                                          .egress_port = 2,
                                          .parent = i % 2 || !i ? UINT32_MAX : i - 2};
    r.pauses = pauses;
    r.n_pauses = 2000;
    json_t *run = load_results(&r);
    assert_int_equal(number_at(run, "pauses.n"), 1000);
    assert_int_equal(number_at(run, "pauses.depth"), 1000);
    assert_int_equal(number_at(run, "pauses.groups_left_out"), 800);
    uint32_t depth = 0;
    for (json_t *list = at(run, "pauses.roots"); json_array_size(list);
         list = at(list, "0.children")) {
        assert_int_equal(json_array_size(list), 1);
        depth++;
    }
    assert_int_equal(depth, 200);
    json_decref(run);
}

static void test_victims(void **state)
{
    (void)state;
    struct results r = test_results("");
    json_t *run = load_results(&r);
    assert_int_equal(number_at(run, "pauses.n_victims"), 2);
    assert_int_equal(json_array_size(at(run, "pauses.victims")), 2);
    assert_int_equal(number_at(run, "pauses.victims.0.flow"), 1);
    assert_string_equal(text_at_path(run, "pauses.victims.0.from"), "h0");
    assert_string_equal(text_at_path(run, "pauses.victims.0.to"), "h3");
    assert_int_equal(number_at(run, "pauses.victims.0.bytes"), 20000);
    assert_near(number_at(run, "pauses.victims.0.slowdown"), 4);
    assert_near(number_at(run, "pauses.victims.0.waited_s"), 35e-6);
    assert_int_equal(number_at(run, "pauses.victims.1.flow"), 3);
    assert_near(number_at(run, "pauses.victims.1.waited_s"), 5e-6);
    json_decref(run);

    /* Congestion began at the link between the switches: h3 is behind it, h1 is not. */
    struct result_pause pauses[4];
    memcpy(pauses, given_pauses, sizeof pauses);
    pauses[1].parent = UINT32_MAX;
    r.pauses = pauses;
    run = load_results(&r);
    assert_int_equal(number_at(run, "pauses.n_victims"), 1);
    assert_int_equal(number_at(run, "pauses.victims.0.flow"), 3);
    json_decref(run);

    /* Another priority is not stopped; a stream that has no slowdown may be a victim. */
    struct result_flow flows[4];
    memcpy(flows, given_flows, sizeof flows);
    flows[3].priority = 4;
    flows[1].ideal_for = 0;
    flows[1].offered_bytes = UINT64_MAX;
    flows[1].finish_at = XOFF_NEVER;
    r.pauses = given_pauses;
    r.flows = flows;
    run = load_results(&r);
    assert_int_equal(number_at(run, "pauses.n_victims"), 1);
    assert_int_equal(number_at(run, "pauses.victims.0.flow"), 1);
    assert_true(json_is_null(at(run, "pauses.victims.0.bytes")));
    assert_true(json_is_null(at(run, "pauses.victims.0.slowdown")));
    json_decref(run);
}

static void test_topology(void **state)
{
    (void)state;
    const struct results r = test_results("");
    json_t *run = load_results(&r);
    assert_int_equal(json_array_size(at(run, "topology.nodes")), 6);
    assert_int_equal(json_array_size(at(run, "topology.links")), 5);
    assert_int_equal(number_at(run, "topology.hosts_folded"), 0);
    assert_int_equal(number_at(run, "topology.nodes.0.level"), 0);
    assert_int_equal(number_at(run, "topology.nodes.4.level"), 1);
    assert_string_equal(text_at_path(run, "topology.nodes.4.kind"), "switch");
    assert_string_equal(text_at_path(run, "topology.nodes.4.buffer.name"), "shared");
    assert_int_equal(number_at(run, "topology.nodes.4.buffer.peak"), 60);
    /* Of several the fullest, by its share. */
    assert_string_equal(text_at_path(run, "topology.nodes.5.buffer.name"), "output");
    assert_int_equal(number_at(run, "topology.nodes.5.buffer.peak"), 190);
    assert_int_equal(number_at(run, "topology.nodes.5.buffer.size"), 200);
    assert_true(json_is_null(at(run, "topology.nodes.0.buffer")));
    assert_string_equal(text_at_path(run, "topology.links.0.a"), "h0");
    assert_string_equal(text_at_path(run, "topology.links.0.b"), "s0");
    assert_near(number_at(run, "topology.links.0.utilisation_ab"), 0.25);
    assert_near(number_at(run, "topology.links.0.paused_ab"), 0.35);
    assert_near(number_at(run, "topology.links.0.paused_ba"), 0);
    json_decref(run);
}

/* A star of 299 hosts is drawn as it is, one of 300 as a switch with 300 hosts. */
static void test_topology_folds(void **state)
{
    (void)state;
    static struct result_node nodes[301];
    static struct result_port ports[600];
    for (uint32_t n_hosts = 299; n_hosts <= 300; n_hosts++) {
        struct results r = test_results("");
        for (uint32_t i = 0; i <= n_hosts; i++) {
            nodes[i] = (struct result_node){.is_switch = i == n_hosts};
            snprintf(nodes[i].name, sizeof nodes[i].name, "n%u", i);
        }
        for (uint32_t i = 0; i < n_hosts; i++) {
            ports[i] = (struct result_port){.node = i, .peer_node = n_hosts, .peer_port = i};
            ports[n_hosts + i] = (struct result_port){.node = n_hosts, .port = i, .peer_node = i};
        }
        ports[7].busy_for = 40 * US;
        r.nodes = nodes;
        r.n_nodes = n_hosts + 1;
        r.n_hosts = n_hosts;
        r.ports = ports;
        r.n_ports = 2 * n_hosts;
        r.n_pauses = r.n_drops = r.n_deadlocks = 0;
        json_t *run = load_results(&r);
        if (n_hosts == 299) {
            assert_int_equal(json_array_size(at(run, "topology.nodes")), 300);
            assert_int_equal(json_array_size(at(run, "topology.links")), 299);
            assert_int_equal(number_at(run, "topology.hosts_folded"), 0);
        } else {
            assert_int_equal(json_array_size(at(run, "topology.nodes")), 1);
            assert_int_equal(json_array_size(at(run, "topology.links")), 0);
            assert_int_equal(number_at(run, "topology.hosts_folded"), 300);
            assert_int_equal(number_at(run, "topology.nodes.0.hosts"), 300);
            assert_near(number_at(run, "topology.nodes.0.hosts_utilisation"), 0.4);
        }
        json_decref(run);
    }
}

static void test_words(void **state)
{
    (void)state;
    json_t *text = json_words("abc", 3);
    assert_string_equal(json_string_value(text), "abc");
    json_decref(text);
    text = json_words("ab\xc3\xa4", 3); /* not within the character */
    assert_string_equal(json_string_value(text),
                        "ab\n... (the first 2 of 4 bytes; all are in run.sqlite)");
    json_decref(text);
    text = json_words("a\xff\xc3\xa4\xe2\x82z", 0);
    assert_string_equal(json_string_value(text), "a\xef\xbf\xbd\xc3\xa4\xef\xbf\xbd\xef\xbf\xbdz");
    json_decref(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_head, setup, teardown),
        cmocka_unit_test_setup_teardown(test_small_tables, setup, teardown),
        cmocka_unit_test_setup_teardown(test_flows, setup, teardown),
        cmocka_unit_test(test_cdf),
        cmocka_unit_test(test_summarised),
        cmocka_unit_test_setup_teardown(test_series_whole, setup, teardown),
        cmocka_unit_test_setup_teardown(test_series_of_inputs, setup, teardown),
        cmocka_unit_test_setup_teardown(test_series_keeps_spikes, setup, teardown),
        cmocka_unit_test_setup_teardown(test_series_sparse, setup, teardown),
        cmocka_unit_test_setup_teardown(test_series_choice, setup, teardown),
        cmocka_unit_test_setup_teardown(test_series_pools, setup, teardown),
        cmocka_unit_test_setup_teardown(test_late_traffic, setup, teardown),
        cmocka_unit_test_setup_teardown(test_stops, setup, teardown),
        cmocka_unit_test_setup_teardown(test_many_stops, setup, teardown),
        cmocka_unit_test_setup_teardown(test_replay, setup, teardown),
        cmocka_unit_test_setup_teardown(test_pause_frames, setup, teardown),
        cmocka_unit_test_setup_teardown(test_tree, setup, teardown),
        cmocka_unit_test_setup_teardown(test_deep_tree, setup, teardown),
        cmocka_unit_test_setup_teardown(test_victims, setup, teardown),
        cmocka_unit_test_setup_teardown(test_topology, setup, teardown),
        cmocka_unit_test_setup_teardown(test_topology_folds, setup, teardown),
        cmocka_unit_test(test_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
