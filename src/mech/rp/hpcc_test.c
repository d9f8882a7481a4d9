/* HPCC: single ACKs by hand, a random stream against the paper's formulas written out, and flows
 * at a bottleneck. T is 8 us and the link 100 Gb/s: 12.5 B/ns, 100000 B in a round trip. */
#include "mech/rp/bottleneck_testing.h"

#include <xoff/rng.h>

extern const struct xoff_rp_ops xoff_rp_hpcc;

/* A path of one hop at 100 Gb/s whose counters are kept here. */
struct hop_script {
    struct rig rig;
    uint32_t at_ns, tx_bytes;
};

/* An ACK: so long after the last record, so much sent since, this queue now. */
static void feed(struct hop_script *hop, uint32_t span_ns, uint32_t tx_bytes, int64_t queue_bytes,
                 uint64_t acked_to, uint64_t sent_to)
{
    hop->at_ns += span_ns;
    hop->tx_bytes += tx_bytes;
    const struct xoff_int record = {
        .n = 1, .hop = {hop_at(hop->at_ns, hop->tx_bytes, queue_bytes, 100 * XOFF_GBPS)}};
    rig_ack(&hop->rig,
            (struct xoff_rp_ack){.acked_to = acked_to, .sent_to = sent_to, .telemetry = &record},
            hop->at_ns * XOFF_NS);
}

/* eta 1/2, no additive increase: windows are plain fractions. */
static void script_setup(struct hop_script *hop, const char *max_stage)
{
    *hop = (struct hop_script){0};
    rig_setup(&hop->rig, &xoff_rp_hpcc);
    rig_set(&hop->rig, "eta", "0.5");
    rig_set(&hop->rig, "ai", "0bps");
    rig_set(&hop->rig, "max_stage", max_stage);
    rig_start(&hop->rig);
}

/* docs/mechanisms/hpcc.md. u = 6400/100000 + (10000/800)/12.5 = 1.064; tau/T = 0.1, so
 * U = 0.9 + 0.1064 = 1.0064; W_AI = 40 Mb/s * 8 us = 40 B;
 * W = 100000 / (1.0064/0.95) + 40 = 94395.867... + 40 = 94435.867 B, R = 94.435867 Gb/s. */
static void worked_example(void **unused)
{
    (void)unused;
    struct hop_script hop = {0};
    rig_setup(&hop.rig, &xoff_rp_hpcc);
    rig_start(&hop.rig);
    assert_int_equal(hop.rig.answer.window_bytes, 100000);
    assert_int_equal(hop.rig.answer.rate_bps, 100 * XOFF_GBPS);
    assert_int_equal(hop.rig.answer.deadline, XOFF_NEVER);
    feed(&hop, 0, 0, 6400, 1000, 100000);
    assert_int_equal(hop.rig.answer.window_bytes, 100000);
    feed(&hop, 800, 10000, 12800, 11000, 110000);
    assert_int_equal(hop.rig.answer.window_bytes, 94435);
    assert_near(rig_window(&hop.rig), 94435.867, 0.001);
    assert_string_equal(xoff_rp_hpcc.marking, "int");
    assert_string_equal(xoff_rp_hpcc.rel, "go-back-n");
}

/* No telemetry, telemetry without a hop, and a record that is not newer: bit for bit as before but
 * for the time of the last record. */
static void acks_that_say_nothing(void **unused)
{
    (void)unused;
    struct hop_script hop;
    script_setup(&hop, "5");
    feed(&hop, 1000, 0, 0, 1000, 50000);
    feed(&hop, 1000, 12500, 6400, 2000, 60000);
    const struct hop_script before = hop;
    const struct xoff_int empty = {.n = 0};
    struct xoff_rp_ack ack = {.acked_to = 70000, .sent_to = 90000, .rtt = 20 * XOFF_US};
    rig_ack(&hop.rig, ack, 9 * XOFF_US);
    ack.telemetry = &empty;
    rig_ack(&hop.rig, ack, 9 * XOFF_US);
    assert_memory_equal(&hop, &before, sizeof hop);
    feed(&hop, 0, 0, 64000, 70000, 90000);
    assert_memory_equal(&hop.rig.answer, &before.rig.answer, sizeof before.rig.answer);
    feed(&hop, (uint32_t)-500, 5000, 64000, 70000, 90000);
    assert_memory_equal(&hop.rig.answer, &before.rig.answer, sizeof before.rig.answer);
    /* They left no trace: the next is measured against the record before them. */
    struct hop_script other = before;
    hop.at_ns = before.at_ns;
    hop.tx_bytes = before.tx_bytes;
    feed(&hop, 4000, 40000, 0, 70000, 90000);
    feed(&other, 4000, 40000, 0, 70000, 90000);
    assert_memory_equal(&hop.rig.answer, &other.rig.answer, sizeof hop.rig.answer);
}

/* A round of 8000 ns replaces U by u. 100000 B: u = 1, W = 100000/2. Then u = 1/2 is eta itself:
 * W stays and incStage is cleared, so that with max_stage 1 the round after (u = 1/4) adds (here:
 * nothing). Were it one byte less, that round would divide: 50000 / (0.25/0.5) = 100000. */
static void at_eta_and_just_below(void **unused)
{
    (void)unused;
    static const struct {
        uint32_t tx_bytes;
        double window_bytes;
    } cases[] = {{50000, 50000}, {49999, 100000}};
    for (size_t i = 0; i < 2; i++) {
        struct hop_script hop;
        script_setup(&hop, "1");
        feed(&hop, 0, 0, 0, 1, 10);
        feed(&hop, 8000, 100000, 0, 11, 20);
        assert_near(rig_window(&hop.rig), 50000, 1e-3);
        feed(&hop, 8000, cases[i].tx_bytes, 0, 21, 30);
        assert_near(rig_window(&hop.rig), 50000, 1e-3);
        feed(&hop, 8000, 25000, 0, 31, 40);
        assert_near(rig_window(&hop.rig), cases[i].window_bytes, 1e-3);
    }
}

/* ai 1 Gb/s: 1000 B. From 11000 B at u = 1/4 there are max_stage additive rounds, then one that
 * doubles, then additive ones again. */
static void stages_of_increase(void **unused)
{
    (void)unused;
    struct hop_script hop = {0};
    rig_setup(&hop.rig, &xoff_rp_hpcc);
    rig_set(&hop.rig, "eta", "0.5");
    rig_set(&hop.rig, "ai", "1Gbps");
    rig_start(&hop.rig);
    feed(&hop, 0, 0, 0, 1, 10);
    feed(&hop, 8000, 100000, 400000, 11, 20); /* no queue before: u = 1 */
    assert_near(rig_window(&hop.rig), 51000, 1e-3);
    feed(&hop, 8000, 100000, 400000, 21, 30); /* u = 1 + 4: 51000 / 10 + 1000 */
    assert_near(rig_window(&hop.rig), 6100, 1e-3);
    static const double windows[] = {7100, 8100, 9100, 10100, 11100, 23200, 24200};
    for (uint32_t i = 0; i < sizeof windows / sizeof *windows; i++) {
        feed(&hop, 8000, 25000, 0, 31 + 10 * i, 40 + 10 * i);
        assert_near(rig_window(&hop.rig), windows[i], 1e-3);
    }
}

/* u = 1/2 against U = 1, eta 1/2. 4000 ns: U = 3/4, W = 100000/1.5; 8000 ns: U = 1/2; 16000 ns
 * weigh no more than 8000; at 7996 a trace of the old U is left: U = 0.5 + 0.5 * 4/8000,
 * W = 100000 / 1.0005 = 99950.025. */
static void tau_counts_up_to_a_round_trip(void **unused)
{
    (void)unused;
    static const struct {
        uint32_t span_ns;
        double window_bytes;
    } cases[] = {{4000, 100000 / 1.5}, {7996, 99950.025}, {8000, 100000}, {16000, 100000}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct hop_script hop;
        script_setup(&hop, "5");
        feed(&hop, 0, 0, 0, 1, 10);
        feed(&hop, cases[i].span_ns, cases[i].span_ns * 25 / 4, 0, 11, 20);
        assert_near(rig_window(&hop.rig), cases[i].window_bytes, 0.1);
    }
}

/* ACKs up to the mark set the window from the same reference, the first beyond it moves the
 * reference: 100000, 50000, 50000 | 50000 -> 25000. */
static void reference_once_per_round_trip(void **unused)
{
    (void)unused;
    struct hop_script hop;
    script_setup(&hop, "5");
    feed(&hop, 0, 0, 0, 1, 100);
    feed(&hop, 8000, 100000, 0, 50, 150);
    assert_near(rig_window(&hop.rig), 50000, 1e-3);
    feed(&hop, 8000, 100000, 0, 100, 200);
    assert_near(rig_window(&hop.rig), 50000, 1e-3);
    feed(&hop, 8000, 100000, 0, 101, 300);
    assert_near(rig_window(&hop.rig), 50000, 1e-3);
    feed(&hop, 8000, 100000, 0, 300, 400);
    assert_near(rig_window(&hop.rig), 25000, 1e-3);
    feed(&hop, 8000, 100000, 0, 301, 400);
    feed(&hop, 8000, 100000, 0, 302, 400);
    assert_near(rig_window(&hop.rig), 12500, 1e-3);
}

static void counters_come_round(void **unused)
{
    (void)unused;
    struct hop_script hop;
    script_setup(&hop, "5");
    hop.at_ns = UINT32_MAX - 3999;
    hop.tx_bytes = UINT32_MAX - 5;
    struct hop_script plain = hop;
    plain.at_ns = plain.tx_bytes = 0;
    feed(&hop, 0, 0, 0, 1, 10);
    feed(&plain, 0, 0, 0, 1, 10);
    /* `now` is not a counter: it goes on. */
    hop.at_ns += 8000;
    hop.tx_bytes += 100000;
    const struct xoff_int record = {.n = 1,
                                    .hop = {hop_at(hop.at_ns, hop.tx_bytes, 0, 100 * XOFF_GBPS)}};
    rig_ack(&hop.rig, (struct xoff_rp_ack){.acked_to = 11, .sent_to = 20, .telemetry = &record},
            (xoff_time)(UINT32_MAX + UINT64_C(4001)) * XOFF_NS);
    feed(&plain, 8000, 100000, 0, 11, 20);
    assert_near(rig_window(&hop.rig), 50000, 1e-3);
    assert_memory_equal(&hop.rig.answer, &plain.rig.answer, sizeof hop.rig.answer);
}

/* After U = 1/2 another path, or a long silence, leaves the window and starts from U = 1: u = 1/2
 * over half a round trip then gives 3/4 where the old path would give 1/2. */
static void another_path_starts_anew(void **unused)
{
    (void)unused;
    for (int kind = 0; kind < 4; kind++) {
        struct hop_script hop;
        script_setup(&hop, "5");
        feed(&hop, 0, 0, 0, 1, 10);
        feed(&hop, 8000, 50000, 0, 11, 20);
        feed(&hop, 8000, 50000, 0, 21, 30);
        struct xoff_int record = {
            .n = kind == 1 ? 2 : 1,
            .hop = {hop_at(20000, 5000, 640000, (kind == 2 ? 40 : 100) * XOFF_GBPS),
                    hop_at(1, 2, 0, 100 * XOFF_GBPS)}};
        xoff_time now = kind == 3 ? 300 * XOFF_MS : 20 * XOFF_US;
        if (kind > 0) {
            rig_ack(&hop.rig,
                    (struct xoff_rp_ack){.acked_to = 31, .sent_to = 40, .telemetry = &record}, now);
            assert_int_equal(hop.rig.answer.window_bytes, 100000);
            const uint32_t bytes = kind == 2 ? 10000 : 25000; /* half of what 4000 ns carry */
            record.hop[0] = hop_at(24000, 5000 + bytes, 0, (kind == 2 ? 40 : 100) * XOFF_GBPS);
            record.hop[1] = hop_at(4001, 2, 0, 100 * XOFF_GBPS);
            rig_ack(&hop.rig,
                    (struct xoff_rp_ack){.acked_to = 41, .sent_to = 50, .telemetry = &record},
                    now + 4 * XOFF_US);
            assert_near(rig_window(&hop.rig), 100000 / 1.5, 1e-3);
        } else {
            feed(&hop, 4000, 25000, 0, 31, 40);
            assert_near(rig_window(&hop.rig), 100000, 1e-3);
        }
    }
}

/* Far too much in flight: the window goes down to min_rate * T (auto: 100 Mb/s, 100 B), what is
 * answered to one payload. Nothing in flight for max_stage rounds: up to the line rate. */
static void bounds(void **unused)
{
    (void)unused;
    struct hop_script hop;
    script_setup(&hop, "0");
    feed(&hop, 0, 0, 60000000, 1, 10);
    for (uint32_t i = 0; i < 5; i++)
        feed(&hop, 8000, 100000, 60000000, 11 + 10 * i, 20 + 10 * i);
    assert_int_equal(hop.rig.answer.rate_bps, 100 * XOFF_MBPS);
    assert_int_equal(hop.rig.answer.window_bytes, BN_FRAME);
    feed(&hop, 8000, 1, 0, 61, 70); /* u = 1/100000: times 50000 */
    assert_int_equal(hop.rig.answer.rate_bps, 100 * XOFF_GBPS);
    assert_int_equal(hop.rig.answer.window_bytes, 100000);
    feed(&hop, 8000, 0, 0, 71, 80); /* u = 0 */
    assert_int_equal(hop.rig.answer.rate_bps, 100 * XOFF_GBPS);

    /* A given T counts instead of the path's: 80000 B at 6.4 us. */
    rig_set(&hop.rig, "rtt", "6400ns");
    rig_set(&hop.rig, "min_rate", "5Gbps");
    rig_start(&hop.rig);
    assert_int_equal(hop.rig.answer.window_bytes, 80000);
    feed(&hop, 0, 0, 60000000, 1, 10);
    feed(&hop, 6400, 80000, 60000000, 11, 20);
    assert_int_equal(hop.rig.answer.rate_bps, 5 * XOFF_GBPS);
    assert_int_equal(hop.rig.answer.window_bytes, 4000);
}

/* The paper's algorithm, in seconds and bits, with 64-bit counters. */
struct paper {
    double wc, w, u;
    uint64_t last, ts[3], tx[3];
    int64_t q[3];
    int stage;
    bool has_record;
};

static const xoff_rate paper_rates[3] = {100 * XOFF_GBPS, 400 * XOFF_GBPS, 40 * XOFF_GBPS};

static void paper_ack(struct paper *m, const uint64_t *ts, const uint64_t *tx, const int64_t *q,
                      uint64_t acked_to, uint64_t sent_to)
{
    const double rtt = 8e-6, eta = 0.95, ai_bits = 40e6 * rtt;
    double u = -1, tau = 0;
    for (int i = 0; i < 3 && m->has_record; i++) {
        const double b = (double)paper_rates[i], dt = (double)(ts[i] - m->ts[i]) * 1e-9;
        const double least = (double)(q[i] < m->q[i] ? q[i] : m->q[i]) * 8;
        const double one = least / (b * rtt) + (double)(tx[i] - m->tx[i]) * 8 / dt / b;
        if (one > u)
            u = one, tau = dt;
    }
    memcpy(m->ts, ts, sizeof m->ts);
    memcpy(m->tx, tx, sizeof m->tx);
    memcpy(m->q, q, sizeof m->q);
    if (!m->has_record) {
        m->has_record = true;
        m->last = sent_to;
        return;
    }
    tau = tau > rtt ? rtt : tau;
    m->u = (1 - tau / rtt) * m->u + tau / rtt * u;
    const bool divides = m->u >= eta || m->stage >= 5;
    m->w = divides ? m->wc / (m->u / eta) + ai_bits : m->wc + ai_bits;
    m->w = m->w > 800000 ? 800000 : m->w < 800 ? 800 : m->w;
    if (acked_to > m->last) {
        m->wc = m->w;
        m->stage = divides ? 0 : m->stage + 1;
        m->last = sent_to;
    }
}

static void random_stream_as_the_paper(void **unused)
{
    (void)unused;
    struct rig rig;
    struct xoff_rng rng;
    int n_divided = 0, n_added = 0;
    rig_setup(&rig, &xoff_rp_hpcc);
    rig_start(&rig);
    xoff_rng_init(&rng, 11, 0, 0);
    struct paper m = {.wc = 800000, .w = 800000, .u = 1};
    uint64_t ts[3] = {0}, tx[3] = {0}, acked_to = 0, sent_to = 0, now_ns = 0;
    for (int n = 0; n < 20000; n++) {
        int64_t q[3];
        struct xoff_int record = {.n = 3};
        const uint64_t span_ns = 1 + xoff_rng_below(&rng, n % 7 ? 2000 : 12000);
        const uint64_t load = xoff_rng_below(&rng, n % 300 < 150 ? 110 : 85);
        for (int i = 0; i < 3; i++) {
            ts[i] += span_ns + xoff_rng_below(&rng, 3);
            tx[i] += paper_rates[i] / XOFF_GBPS * span_ns * load / 800;
            q[i] = xoff_rng_below(&rng, 3) ? 0 : (int64_t)xoff_rng_below(&rng, 600) * 64;
            record.hop[i] = hop_at((uint32_t)ts[i], (uint32_t)tx[i], q[i], paper_rates[i]);
        }
        now_ns += span_ns;
        acked_to += 1 + xoff_rng_below(&rng, 3000);
        sent_to = acked_to + xoff_rng_below(&rng, 20000);
        const int stage = m.stage;
        paper_ack(&m, ts, tx, q, acked_to, sent_to);
        n_divided += m.stage < stage;
        n_added += m.stage > stage;
        rig_ack(
            &rig,
            (struct xoff_rp_ack){.acked_to = acked_to, .sent_to = sent_to, .telemetry = &record},
            (xoff_time)now_ns * XOFF_NS);
        if (rig_window(&rig) > m.w / 8 + 0.01 || rig_window(&rig) < m.w / 8 - 0.01)
            fail_msg("ACK %d: %f B, the paper's %f B", n, rig_window(&rig), m.w / 8);
        assert_true((double)rig.answer.window_bytes < m.w / 8 + 1 ||
                    rig.answer.window_bytes == BN_FRAME);
    }
    assert_true(n_divided > 50 && n_added > 50); /* both branches were taken */
}

/* Utilisation near eta, hardly a queue, and fair although the later flows found the link taken. */
static void flows_at_a_bottleneck(void **unused)
{
    (void)unused;
    for (uint32_t n_flows = 1; n_flows <= 8; n_flows = n_flows == 2 ? 8 : n_flows + 1) {
        struct rig rig;
        struct xoff_err err;
        rig_setup(&rig, &xoff_rp_hpcc);
        assert_int_equal(rig_configure(&rig, &err), 0);
        const struct bn_result result = bn_run(&xoff_rp_hpcc, rig.cfg, n_flows, 4000, 500);
        assert_true(result.utilisation >= 0.94);
        assert_true(result.utilisation <= 0.96);
        assert_true(result.queue_bytes <= 2 * BN_FRAME);
        assert_true(result.queue_most_bytes <= n_flows * BN_FRAME);
        assert_true(result.jain >= 0.99);
    }
}

static void what_is_refused(void **unused)
{
    (void)unused;
    struct rig rig;
    struct xoff_err err;
    rig_setup(&rig, &xoff_rp_hpcc);
    rig_set(&rig, "eta", "1");
    rig_set(&rig, "min_rate", "100Gbps");
    assert_int_equal(rig_configure(&rig, &err), 0);
    rig_set(&rig, "min_rate", "100001Mbps");
    assert_int_equal(rig_configure(&rig, &err), -XOFF_E_CONFLICT);
    assert_string_equal(err.subject, "min_rate");
    assert_string_equal(err.value, "100001Mbps");
    assert_non_null(strstr(err.message, "100Gbps"));

    static const struct {
        const char *name, *good, *bad;
    } cases[] = {{"eta", "0.01", "0"},          {"eta", "1", "1.01"},   {"max_stage", "0", "-1"},
                 {"min_rate", "1kbps", "0bps"}, {"rtt", "1ns", "0s"},   {"rtt", "1s", "2s"},
                 {"ai", "0bps", "5us"},         {"rtt", "auto", "100B"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct xoff_param *p = xoff_param_find(xoff_rp_hpcc.params, cases[i].name);
        assert_int_equal(xoff_param_set(p, rig.params, cases[i].good, &err), 0);
        assert_true(xoff_param_set(p, rig.params, cases[i].bad, &err) < 0);
    }
    /* Values that did not come through the table. */
    const struct xoff_param *eta = xoff_param_find(xoff_rp_hpcc.params, "eta");
    const double bad = 0;
    rig_setup(&rig, &xoff_rp_hpcc);
    memcpy(rig.params + eta->offset, &bad, sizeof bad);
    assert_int_equal(rig_configure(&rig, &err), -XOFF_E_RANGE);
    assert_string_equal(err.subject, "eta");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(worked_example),
        cmocka_unit_test(acks_that_say_nothing),
        cmocka_unit_test(at_eta_and_just_below),
        cmocka_unit_test(stages_of_increase),
        cmocka_unit_test(tau_counts_up_to_a_round_trip),
        cmocka_unit_test(reference_once_per_round_trip),
        cmocka_unit_test(counters_come_round),
        cmocka_unit_test(another_path_starts_anew),
        cmocka_unit_test(bounds),
        cmocka_unit_test(random_stream_as_the_paper),
        cmocka_unit_test(flows_at_a_bottleneck),
        cmocka_unit_test(what_is_refused),
    };
    return cmocka_run_group_tests_name("hpcc", tests, NULL, NULL);
}
