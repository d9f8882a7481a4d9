/* PowerTCP and theta-PowerTCP: single ACKs by hand, random streams against the paper's formulas
 * written out, and flows at a bottleneck. tau is 8 us and the link 100 Gb/s: 12.5 B/ns, 100000 B in
 * a round trip. */
#include "mech/rp/bottleneck_testing.h"

#include <xoff/rng.h>

extern const struct xoff_rp_ops xoff_rp_powertcp;
extern const struct xoff_rp_ops xoff_rp_theta_powertcp;

/* A path of one hop at 100 Gb/s whose counters are kept here. */
struct hop_script {
    struct rig rig;
    uint32_t at_ns, tx_bytes;
};

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

/* gamma 1 and next to no additive increase (0.1 B): windows are plain fractions. */
static void plain_setup(struct rig *rig, const struct xoff_rp_ops *ops)
{
    rig_setup(rig, ops);
    rig_set(rig, "gamma", "1");
    rig_set(rig, "flows", "1000000");
    rig_start(rig);
}

/* docs/mechanisms/powertcp.md. lambda = (12800 - 6400 + 10000) / 800 = 20.5 B/ns,
 * nu = 12800 + 100000 = 112800 B, norm = 20.5 * 112800 / (12.5 * 100000) = 1.84992;
 * dt/tau = 0.1: Gs = 0.9 + 0.184992 = 1.084992; beta = 100000/100 = 1000 B;
 * w = 0.9 (100000/1.084992 + 1000) + 0.1 * 100000 = 0.9 * 93166.578 + 10000 = 93849.920 B. */
static void worked_example(void **unused)
{
    (void)unused;
    struct hop_script hop = {0};
    rig_setup(&hop.rig, &xoff_rp_powertcp);
    rig_start(&hop.rig);
    assert_int_equal(hop.rig.answer.window_bytes, 100000);
    assert_int_equal(hop.rig.answer.rate_bps, 100 * XOFF_GBPS);
    assert_int_equal(hop.rig.answer.deadline, XOFF_NEVER);
    feed(&hop, 0, 0, 6400, 1000, 100000);
    assert_int_equal(hop.rig.answer.window_bytes, 100000);
    feed(&hop, 800, 10000, 12800, 11000, 110000);
    assert_int_equal(hop.rig.answer.window_bytes, 93849);
    assert_near(rig_window(&hop.rig), 93849.920, 0.001);
    assert_string_equal(xoff_rp_powertcp.marking, "int");
    assert_string_equal(xoff_rp_powertcp.rel, "go-back-n");
}

static void theta_ack(struct rig *rig, xoff_time rtt, uint64_t acked_to, uint64_t sent_to,
                      xoff_time now)
{
    rig_ack(rig, (struct xoff_rp_ack){.acked_to = acked_to, .sent_to = sent_to, .rtt = rtt}, now);
}

/* docs/mechanisms/powertcp.md. dRTT/dt = (10 - 8)/4 = 0.5, norm = 1.5 * 10/8 = 1.875;
 * dt/tau = 0.5: Gs = 0.5 + 0.9375 = 1.4375; w = 0.9 (100000/1.4375 + 1000) + 10000
 * = 0.9 * 70565.217 + 10000 = 73508.696 B. */
static void theta_worked_example(void **unused)
{
    (void)unused;
    struct rig rig;
    rig_setup(&rig, &xoff_rp_theta_powertcp);
    rig_start(&rig);
    assert_int_equal(rig.answer.window_bytes, 100000);
    theta_ack(&rig, 8 * XOFF_US, 1000, 100000, 8 * XOFF_US);
    assert_int_equal(rig.answer.window_bytes, 100000);
    theta_ack(&rig, 10 * XOFF_US, 101000, 150000, 12 * XOFF_US);
    assert_int_equal(rig.answer.window_bytes, 73508);
    assert_near(rig_window(&rig), 73508.696, 0.001);
    assert_string_equal(xoff_rp_theta_powertcp.marking, "none");
    assert_string_equal(xoff_rp_theta_powertcp.rel, "go-back-n");
}

static void acks_that_say_nothing(void **unused)
{
    (void)unused;
    struct hop_script hop = {0};
    plain_setup(&hop.rig, &xoff_rp_powertcp);
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
    feed(&hop, (uint32_t)-500, 5000, 64000, 70000, 90000);
    assert_memory_equal(&hop.rig.answer, &before.rig.answer, sizeof before.rig.answer);

    struct rig rig;
    plain_setup(&rig, &xoff_rp_theta_powertcp);
    theta_ack(&rig, 8 * XOFF_US, 1000, 50000, 10 * XOFF_US);
    theta_ack(&rig, 9 * XOFF_US, 51000, 60000, 14 * XOFF_US);
    const struct rig rig_before = rig;
    theta_ack(&rig, 0, 70000, 90000, 16 * XOFF_US);            /* sent again: no RTT */
    theta_ack(&rig, 20 * XOFF_US, 70000, 90000, 14 * XOFF_US); /* no time has passed */
    assert_memory_equal(&rig, &rig_before, sizeof rig);
}

/* A round of 8000 ns replaces Gs by norm. A full link without a queue: norm 1, w stays. Arrivals at
 * twice the rate: the queue grows to 100000 B, norm = 2 * 2. A standing queue of one
 * bandwidth-delay product: norm 2. It drains with nothing arriving: norm 0, all the line. */
static void power_by_hand(void **unused)
{
    (void)unused;
    static const struct {
        int64_t earlier_bytes, queue_bytes;
        double window_bytes;
    } cases[] = {
        {0, 0, 100000},
        {0, 100096, 24976.117},      /* in units of 64 B: 10^5 / 2.00096^2, and 0.1 */
        {100032, 100032, 49992.101}, /* 10^5 / 2.00032, and 0.1 */
        {100032, 0, 100000},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct hop_script hop = {0};
        plain_setup(&hop.rig, &xoff_rp_powertcp);
        feed(&hop, 0, 0, cases[i].earlier_bytes, 1000, 100000);
        feed(&hop, 8000, 100000, cases[i].queue_bytes, 2000, 101000);
        assert_near(rig_window(&hop.rig), cases[i].window_bytes, 0.01);
    }
}

/* norm 2 against Gs = 1: 4000 ns give 1.5; 8000 and 16000 both 2; 7996 leave 1/2000 of it. */
static void dt_counts_up_to_tau(void **unused)
{
    (void)unused;
    static const struct {
        uint32_t span_ns;
        double power;
    } cases[] = {{4000, 1.5}, {7996, 1.9995}, {8000, 2}, {16000, 2}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct hop_script hop = {0};
        struct rig rig;
        plain_setup(&hop.rig, &xoff_rp_powertcp);
        feed(&hop, 0, 0, 0, 1000, 100000);
        feed(&hop, cases[i].span_ns, cases[i].span_ns * 25, 0, 2000, 101000);
        assert_near(rig_window(&hop.rig), 100000 / cases[i].power + 0.1, 0.01);

        plain_setup(&rig, &xoff_rp_theta_powertcp);
        theta_ack(&rig, 16 * XOFF_US, 1000, 100000, 0);
        theta_ack(&rig, 16 * XOFF_US, 101000, 101000, cases[i].span_ns * XOFF_NS);
        assert_near(rig_window(&rig), 100000 / cases[i].power + 0.1, 0.01);
    }
}

/* Power 2 in every round, gamma 1. A frame sent before the first note answers to the first window,
 * whatever became of it since: 100000 -> 50000, 50000. The first byte sent after it answers to
 * 50000; then 25000. */
static void the_window_of_the_acked_frame(void **unused)
{
    (void)unused;
    struct hop_script hop = {0};
    plain_setup(&hop.rig, &xoff_rp_powertcp);
    feed(&hop, 0, 0, 0, 1000, 100000);
    feed(&hop, 8000, 200000, 0, 2000, 101000); /* note: 50000 from byte 101000 */
    assert_near(rig_window(&hop.rig), 50000, 1);
    feed(&hop, 8000, 200000, 0, 3000, 102000);
    assert_near(rig_window(&hop.rig), 50000, 1);
    feed(&hop, 8000, 200000, 0, 101000, 130000); /* all of it sent before; another note */
    assert_near(rig_window(&hop.rig), 50000, 1);
    feed(&hop, 8000, 200000, 0, 101001, 131000);
    assert_near(rig_window(&hop.rig), 25000, 1);
    feed(&hop, 8000, 200000, 0, 130000, 132000);
    assert_near(rig_window(&hop.rig), 25000, 1);
    feed(&hop, 8000, 200000, 0, 131000, 160000); /* beyond 130000, noted at 50000: again 25000 */
    assert_near(rig_window(&hop.rig), 25000, 1);
}

/* Bytes 2000, 4000 ... 64000 are noted with 100000 / (1 + k/10) B, then all six places wait for an
 * ACK and 128000 is not. What is sent beyond answers to the sixth: 100000 / 1.6. */
static void notes_end_at_six(void **unused)
{
    (void)unused;
    struct hop_script hop = {0};
    plain_setup(&hop.rig, &xoff_rp_powertcp);
    feed(&hop, 0, 0, 0, 1, 1000);
    for (uint32_t k = 1; k <= 7; k++) {
        feed(&hop, 8000, 100000 + 10000 * k, 0, 1 + k, UINT64_C(1000) << k);
        assert_near(rig_window(&hop.rig), 100000 / (1 + 0.1 * k), 1);
    }
    feed(&hop, 8000, 100000, 0, 128001, 200000);
    assert_near(rig_window(&hop.rig), 62500, 1);
}

/* The sequence goes through 2^32 and beyond between notes; the same windows as from 0. */
static void notes_over_a_turn(void **unused)
{
    (void)unused;
    struct hop_script a = {0}, b;
    plain_setup(&a.rig, &xoff_rp_powertcp);
    b = a;
    struct xoff_rng rng;
    xoff_rng_init(&rng, 5, 0, 0);
    const uint64_t base = UINT64_C(0xffff0000);
    for (uint64_t seq = 0; seq < 400000; seq += 1000) {
        const uint32_t span_ns = 100 + (uint32_t)xoff_rng_below(&rng, 900);
        const int64_t queue_bytes = (int64_t)xoff_rng_below(&rng, 100000);
        feed(&a, span_ns, span_ns * 12, queue_bytes, seq + 1000, seq + 40000);
        feed(&b, span_ns, span_ns * 12, queue_bytes, base + seq + 1000, base + seq + 40000);
        assert_memory_equal(&a.rig.answer, &b.rig.answer, sizeof a.rig.answer);
    }
    assert_true(a.rig.answer.window_bytes < 90000);
}

static void another_path_starts_anew(void **unused)
{
    (void)unused;
    for (int kind = 0; kind < 3; kind++) {
        struct hop_script hop = {0};
        plain_setup(&hop.rig, &xoff_rp_powertcp);
        feed(&hop, 0, 0, 0, 1000, 100000);
        feed(&hop, 8000, 200000, 0, 2000, 100000); /* Gs = 2 */
        struct xoff_int record = {
            .n = kind == 0 ? 2 : 1,
            .hop = {hop_at(20000, 5000, 0, (kind == 1 ? 40 : 100) * XOFF_GBPS),
                    hop_at(1, 2, 0, 100 * XOFF_GBPS)}};
        const xoff_time now = kind == 2 ? 300 * XOFF_MS : 20 * XOFF_US;
        struct xoff_rp_ack ack = {.acked_to = 3000, .sent_to = 100000, .telemetry = &record};
        rig_ack(&hop.rig, ack, now);
        assert_near(rig_window(&hop.rig), 50000, 1);
        /* The new path is just full: from Gs = 1 the power is 1, and w_old is still 100000. From
         * Gs = 2 it would be 1.5. */
        record.hop[0] = hop_at(24000, 5000 + (kind == 1 ? 20000 : 50000), 0,
                               (kind == 1 ? 40 : 100) * XOFF_GBPS);
        record.hop[1] = hop_at(4001, 2, 0, 100 * XOFF_GBPS);
        ack.acked_to = 4000;
        rig_ack(&hop.rig, ack, now + 4 * XOFF_US);
        assert_int_equal(hop.rig.answer.window_bytes, 100000);
    }
}

/* theta: measured at every ACK, the window moves with the first ACK beyond what was sent at the
 * last change; dRTT/dt + 1 counts 0.5 at least. */
static void theta_once_per_round_trip(void **unused)
{
    (void)unused;
    struct rig rig;
    plain_setup(&rig, &xoff_rp_theta_powertcp);
    theta_ack(&rig, 16 * XOFF_US, 1000, 100000, 0);
    theta_ack(&rig, 16 * XOFF_US, 2000, 101000, 8 * XOFF_US);
    theta_ack(&rig, 16 * XOFF_US, 100000, 199000, 16 * XOFF_US);
    assert_int_equal(rig.answer.window_bytes, 100000);
    theta_ack(&rig, 16 * XOFF_US, 100001, 200000, 24 * XOFF_US);
    assert_near(rig_window(&rig), 50000.1, 0.01);
    theta_ack(&rig, 16 * XOFF_US, 200000, 200000, 32 * XOFF_US);
    assert_near(rig_window(&rig), 50000.1, 0.01);
    theta_ack(&rig, 16 * XOFF_US, 200001, 250000, 40 * XOFF_US);
    assert_near(rig_window(&rig), 25000.15, 0.01);
    /* (8 - 16)/8 + 1 = 0, taken as 0.5: power 0.5 * 8/8. */
    theta_ack(&rig, 8 * XOFF_US, 250001, 260000, 48 * XOFF_US);
    assert_near(rig_window(&rig), 50000.4, 0.01);
    /* (12 - 8)/8 + 1 = 1.5: power 1.5 * 12/8 = 2.25. */
    theta_ack(&rig, 12 * XOFF_US, 260001, 270000, 56 * XOFF_US);
    assert_near(rig_window(&rig), 22222.50, 0.05);
}

static void bounds(void **unused)
{
    (void)unused;
    struct hop_script hop = {0};
    plain_setup(&hop.rig, &xoff_rp_powertcp);
    feed(&hop, 0, 0, 60000000, 1, 1);
    for (uint64_t i = 1; i < 5; i++)
        feed(&hop, 8000, 100000, 60000000, i + 1, i + 1);
    assert_int_equal(hop.rig.answer.rate_bps, 100 * XOFF_MBPS);
    assert_int_equal(hop.rig.answer.window_bytes, BN_FRAME);
    feed(&hop, 8000, 0, 0, 10, 10); /* less than nothing arrived: power 0 */
    assert_int_equal(hop.rig.answer.rate_bps, 100 * XOFF_GBPS);
    assert_int_equal(hop.rig.answer.window_bytes, 100000);
    feed(&hop, 8000, 1, 0, 20, 20);
    assert_int_equal(hop.rig.answer.rate_bps, 100 * XOFF_GBPS);

    /* A given tau counts instead of the path's. */
    rig_set(&hop.rig, "rtt", "6400ns");
    rig_set(&hop.rig, "min_rate", "5Gbps");
    rig_start(&hop.rig);
    assert_int_equal(hop.rig.answer.window_bytes, 80000);
    feed(&hop, 0, 0, 60000000, 1, 10);
    feed(&hop, 6400, 80000, 60000000, 11, 20);
    assert_int_equal(hop.rig.answer.rate_bps, 5 * XOFF_GBPS);
    assert_int_equal(hop.rig.answer.window_bytes, 4000);
}

static const xoff_rate paper_rates[3] = {100 * XOFF_GBPS, 400 * XOFF_GBPS, 40 * XOFF_GBPS};

/* The paper's formulas in seconds and bits over 64-bit counters; the notes as a list that only
 * grows. */
struct paper {
    double w, gs;
    uint64_t ts[3], tx[3];
    int64_t q[3];
    bool has_record;
    struct {
        uint64_t seq;
        double w;
    } notes[20000];
    int n_notes;
};

static double paper_old(const struct paper *m, uint64_t acked_to)
{
    double old = 800000;
    for (int i = 0; i < m->n_notes && m->notes[i].seq < acked_to; i++)
        old = m->notes[i].w;
    return old;
}

static void paper_note(struct paper *m, uint64_t acked_to, uint64_t sent_to)
{
    int n_ahead = 0;
    while (n_ahead < m->n_notes && m->notes[m->n_notes - 1 - n_ahead].seq >= acked_to)
        n_ahead++;
    if (n_ahead == 6)
        return;
    if (n_ahead > 0) {
        const uint64_t last = m->notes[m->n_notes - 1].seq;
        if (sent_to <= last || sent_to - last < (sent_to - acked_to) / 4)
            return;
    }
    m->notes[m->n_notes].seq = sent_to;
    m->notes[m->n_notes++].w = m->w;
}

static void paper_ack(struct paper *m, const uint64_t *ts, const uint64_t *tx, const int64_t *q,
                      uint64_t acked_to, uint64_t sent_to)
{
    const double tau = 8e-6, gamma = 0.9, beta = 100e9 * tau / 100;
    double norm = 0, dt_of_norm = 0;
    for (int i = 0; i < 3 && m->has_record; i++) {
        const double b = (double)paper_rates[i], dt = (double)(ts[i] - m->ts[i]) * 1e-9;
        const double current =
            (double)(q[i] - m->q[i]) * 8 / dt + (double)(tx[i] - m->tx[i]) * 8 / dt;
        const double power = current * ((double)q[i] * 8 + b * tau) / (b * b * tau);
        if (i == 0 || power > norm)
            norm = power, dt_of_norm = dt;
    }
    memcpy(m->ts, ts, sizeof m->ts);
    memcpy(m->tx, tx, sizeof m->tx);
    memcpy(m->q, q, sizeof m->q);
    if (!m->has_record) {
        m->has_record = true;
        return;
    }
    norm = norm < 0 ? 0 : norm;
    dt_of_norm = dt_of_norm > tau ? tau : dt_of_norm;
    m->gs = (m->gs * (tau - dt_of_norm) + norm * dt_of_norm) / tau;
    m->w = gamma * (paper_old(m, acked_to) / m->gs + beta) + (1 - gamma) * m->w;
    m->w = m->w > 800000 ? 800000 : m->w < 800 ? 800 : m->w;
    paper_note(m, acked_to, sent_to);
}

static void random_stream_as_the_paper(void **unused)
{
    (void)unused;
    static struct paper m;
    struct rig rig;
    struct xoff_rng rng;
    rig_setup(&rig, &xoff_rp_powertcp);
    rig_start(&rig);
    xoff_rng_init(&rng, 13, 0, 0);
    m = (struct paper){.w = 800000, .gs = 1};
    uint64_t ts[3] = {0}, tx[3] = {0}, acked_to = 0, sent_to = 40000, now_ns = 0;
    double least = 1e9, most = 0;
    for (int n = 0; n < 5000; n++) {
        int64_t q[3];
        struct xoff_int record = {.n = 3};
        const uint64_t span_ns = 20 + xoff_rng_below(&rng, n % 7 ? 2000 : 12000);
        const uint64_t load = xoff_rng_below(&rng, n % 300 < 150 ? 150 : 110);
        for (int i = 0; i < 3; i++) {
            ts[i] += span_ns + xoff_rng_below(&rng, 3);
            tx[i] += paper_rates[i] / XOFF_GBPS * span_ns * load / 800;
            q[i] = xoff_rng_below(&rng, 3) ? m.q[i] : (int64_t)xoff_rng_below(&rng, 600) * 64;
            record.hop[i] = hop_at((uint32_t)ts[i], (uint32_t)tx[i], q[i], paper_rates[i]);
        }
        now_ns += span_ns;
        acked_to += 1 + xoff_rng_below(&rng, 3000);
        sent_to += xoff_rng_below(&rng, sent_to > acked_to + 60000 ? 1000 : 5000);
        sent_to = sent_to < acked_to ? acked_to : sent_to;
        paper_ack(&m, ts, tx, q, acked_to, sent_to);
        rig_ack(
            &rig,
            (struct xoff_rp_ack){.acked_to = acked_to, .sent_to = sent_to, .telemetry = &record},
            (xoff_time)now_ns * XOFF_NS);
        /* Notes are kept to 24 bits. */
        const double window = rig_window(&rig);
        if (window > m.w / 8 * 1.000001 + 0.01 || window < m.w / 8 * 0.999999 - 0.01)
            fail_msg("ACK %d: %f B, the paper's %f B", n, window, m.w / 8);
        least = window < least ? window : least;
        most = window > most ? window : most;
    }
    assert_true(least < 20000 && most > 80000); /* the stream went through the range */
}

/* theta-PowerTCP by the paper, in seconds. */
static void theta_random_stream_as_the_paper(void **unused)
{
    (void)unused;
    struct rig rig;
    struct xoff_rng rng;
    rig_setup(&rig, &xoff_rp_theta_powertcp);
    rig_set(&rig, "gamma", "0.7");
    rig_set(&rig, "flows", "20");
    rig_start(&rig);
    xoff_rng_init(&rng, 17, 0, 0);
    const double tau = 8e-6;
    double w = 100000, gs = 1, earlier = 0;
    uint64_t acked_to = 0, sent_to = 0, last = 0;
    xoff_time now = 0;
    for (int n = 0; n < 20000; n++) {
        const xoff_time dt = 1 + (xoff_time)xoff_rng_below(&rng, n % 9 ? 1000000 : 12000000);
        const xoff_time rtt =
            8 * XOFF_US + (xoff_time)xoff_rng_below(&rng, n % 400 < 200 ? 500000 : 8000000);
        now += dt;
        acked_to += 1 + xoff_rng_below(&rng, 3000);
        sent_to = acked_to + xoff_rng_below(&rng, 20000);
        theta_ack(&rig, rtt, acked_to, sent_to, now);
        if (n == 0) {
            last = sent_to;
        } else {
            const double seconds = (double)dt * 1e-12, r = (double)rtt * 1e-12;
            double current = (r - earlier) / seconds + 1;
            current = current < 0.5 ? 0.5 : current;
            const double step = seconds > tau ? tau : seconds;
            gs = (gs * (tau - step) + current * r / tau * step) / tau;
            if (acked_to > last) {
                w = 0.7 * (w / gs + 5000) + 0.3 * w;
                w = w > 100000 ? 100000 : w < 100 ? 100 : w;
                last = sent_to;
            }
        }
        earlier = (double)rtt * 1e-12;
        assert_near(rig_window(&rig), w, 0.01);
    }
}

/* The link is full, n flows keep n/N of a bandwidth-delay product queued (a single one, whose
 * window ends at the line rate, none), and share alike. */
static void flows_at_a_bottleneck(void **unused)
{
    (void)unused;
    static const struct xoff_rp_ops *const both[] = {&xoff_rp_powertcp, &xoff_rp_theta_powertcp};
    static const uint32_t counts[] = {1, 2, 8};
    for (int i = 0; i < 12; i++) {
        const uint32_t n_flows = counts[i % 3];
        const double share = i < 6 ? 0.01 : 0.1; /* 1 / N */
        struct rig rig;
        struct xoff_err err;
        rig_setup(&rig, both[i / 3 % 2]);
        rig_set(&rig, "flows", i < 6 ? "100" : "10");
        assert_int_equal(rig_configure(&rig, &err), 0);
        const struct bn_result result = bn_run(rig.ops, rig.cfg, n_flows, 1500, 500);
        assert_true(result.utilisation >= 0.99);
        assert_true(result.jain >= 0.99);
        const double rest_bytes = n_flows == 1 ? 0 : n_flows * share * 100000;
        assert_near(result.queue_bytes, rest_bytes, 0.1 * rest_bytes + 200);
        assert_true(result.queue_most_bytes <= 2 * rest_bytes + 8 * BN_FRAME);
    }
}

static void what_is_refused(void **unused)
{
    (void)unused;
    struct rig rig;
    struct xoff_err err;
    rig_setup(&rig, &xoff_rp_powertcp);
    rig_set(&rig, "min_rate", "100Gbps");
    assert_int_equal(rig_configure(&rig, &err), 0);
    rig_set(&rig, "min_rate", "100001Mbps");
    assert_int_equal(rig_configure(&rig, &err), -XOFF_E_CONFLICT);
    assert_string_equal(err.subject, "min_rate");
    assert_non_null(strstr(err.message, "100Gbps"));

    static const struct {
        const char *name, *good, *bad;
    } cases[] = {{"gamma", "0.001", "0"},       {"gamma", "1", "1.01"}, {"flows", "1", "0"},
                 {"min_rate", "1kbps", "0bps"}, {"rtt", "1ns", "0s"},   {"rtt", "1s", "2s"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct xoff_param *p = xoff_param_find(xoff_rp_powertcp.params, cases[i].name);
        assert_int_equal(xoff_param_set(p, rig.params, cases[i].good, &err), 0);
        assert_true(xoff_param_set(p, rig.params, cases[i].bad, &err) < 0);
    }
    /* Values that did not come through the table. */
    const double bad_gamma = 0;
    const int64_t bad_flows = 0;
    rig_setup(&rig, &xoff_rp_powertcp);
    memcpy(rig.params + xoff_param_find(xoff_rp_powertcp.params, "gamma")->offset, &bad_gamma, 8);
    assert_int_equal(rig_configure(&rig, &err), -XOFF_E_RANGE);
    assert_string_equal(err.subject, "gamma");
    rig_setup(&rig, &xoff_rp_theta_powertcp);
    memcpy(rig.params + xoff_param_find(xoff_rp_powertcp.params, "flows")->offset, &bad_flows, 8);
    assert_int_equal(rig_configure(&rig, &err), -XOFF_E_RANGE);
    assert_string_equal(err.subject, "flows");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(worked_example),
        cmocka_unit_test(theta_worked_example),
        cmocka_unit_test(acks_that_say_nothing),
        cmocka_unit_test(power_by_hand),
        cmocka_unit_test(dt_counts_up_to_tau),
        cmocka_unit_test(the_window_of_the_acked_frame),
        cmocka_unit_test(notes_end_at_six),
        cmocka_unit_test(notes_over_a_turn),
        cmocka_unit_test(another_path_starts_anew),
        cmocka_unit_test(theta_once_per_round_trip),
        cmocka_unit_test(bounds),
        cmocka_unit_test(random_stream_as_the_paper),
        cmocka_unit_test(theta_random_stream_as_the_paper),
        cmocka_unit_test(flows_at_a_bottleneck),
        cmocka_unit_test(what_is_refused),
    };
    return cmocka_run_group_tests_name("powertcp", tests, NULL, NULL);
}
