/* E2CM's reaction point: messages and probes one by one, which of them raise a rate, when probes
 * are sent and given up, stops, and random events against a slow model in long doubles. */
#include <math.h>

#include "mech/rp/flow_testing.h"

extern const struct xoff_rp_ops xoff_rp_e2cm;

#define LINE (10 * XOFF_GBPS)

static void setup(struct tested_flow *f)
{
    flow_setup(f, &xoff_rp_e2cm, LINE);
}

static xoff_rate tell(struct tested_flow *f, int32_t offset, int32_t delta, xoff_time now)
{
    const struct xoff_notice notice = {
        .kind = XOFF_NOTICE_ECM, .queue_offset_bytes = offset, .queue_delta_bytes = delta};
    xoff_rp_e2cm.on_notice(f->cfg, f->state, &notice, now, &f->answer);
    return f->answer.rate_bps;
}

/* The timer expires; returns whether a probe is sent. */
static bool expire(struct tested_flow *f, xoff_time now)
{
    assert_true(f->answer.deadline <= now);
    f->answer.probe = XOFF_RP_NO_PROBE;
    xoff_rp_e2cm.expire(f->cfg, f->state, now, &f->answer);
    assert_true(f->answer.deadline > now);
    return f->answer.probe == XOFF_RP_PROBE_ALONE;
}

static xoff_rate back(struct tested_flow *f, xoff_time now)
{
    const struct xoff_notice notice = {.kind = XOFF_NOTICE_E2CM};
    xoff_rp_e2cm.on_notice(f->cfg, f->state, &notice, now, &f->answer);
    return f->answer.rate_bps;
}

static void sent(struct tested_flow *f, uint32_t bytes, xoff_time now)
{
    xoff_rp_e2cm.on_sent(f->cfg, f->state, bytes, now, &f->answer);
}

/* A probe is sent at its deadline and comes back after `rtt`, `bytes` after the one before. */
static xoff_rate probe(struct tested_flow *f, uint32_t bytes, xoff_time rtt)
{
    const xoff_time at = f->answer.deadline;
    sent(f, bytes, at);
    assert_true(expire(f, at));
    return back(f, at + rtt);
}

/* Messages cut as in ECM: Fb -80 leaves 48/128. They never raise, and name no limiter in data. */
static void messages(void **unused)
{
    (void)unused;
    struct tested_flow f;
    setup(&f);
    flow_start(&f);
    assert_true(f.answer.rate_bps == XOFF_RP_LINE_RATE && f.answer.deadline == XOFF_NEVER);
    assert_true(f.answer.window_bytes == XOFF_RP_NO_WINDOW);
    assert_true(tell(&f, -1500, 0, 0) == XOFF_RP_LINE_RATE);
    assert_true(tell(&f, 3000, -1500, 0) == XOFF_RP_LINE_RATE); /* Fb = 0 */
    assert_true(back(&f, 1) == XOFF_RP_LINE_RATE);              /* no probe is away */
    const struct xoff_notice other = {.kind = XOFF_NOTICE_QCN, .queue_offset_bytes = 9000};
    xoff_rp_e2cm.on_notice(f.cfg, f.state, &other, 0, &f.answer);
    assert_true(f.answer.rate_bps == XOFF_RP_LINE_RATE);
    assert_int_equal(tell(&f, 24000, 48000, 10), UINT64_C(3750000000));
    assert_int_equal(f.answer.deadline, 500 * XOFF_US + 10);
    assert_true(f.answer.limiter == XOFF_RP_NO_LIMITER);
    assert_int_equal(tell(&f, -24000, -48000, 20), UINT64_C(3750000000));
    assert_int_equal(tell(&f, 1500, 0, 30), UINT64_C(3720703125));
    assert_int_equal(f.answer.deadline, 500 * XOFF_US + 10); /* a message moves no probe */
}

/* Limited to 3.75 Gb/s at 0. Probes leave at 500, 1000, 1500 us. The first comes back after 10 us
 * and only counts. 234375 B (500 us of 3.75 Gb/s) later the second comes back after 10 us: Q = 0,
 * offset -3000, delta 0: Fb = 2, and 4 * 2 * 8 = 64 Mb/s more. The third: after 16.4 us. 506.4 us
 * have passed since the second came back: T = 234375 B / 506.4 us, Q = T * 6.4 us = 2962 B
 * (2962.08), offset -38, delta 2962: Fb = -(-38 + 5924) / 1500 = -3.924, and R falls by 3.0656 % of
 * 3814 Mb/s.
 */
static void worked_example(void **unused)
{
    (void)unused;
    struct tested_flow f;
    setup(&f);
    flow_start(&f);
    tell(&f, 24000, 48000, 0);
    assert_int_equal(probe(&f, 100000, 10 * XOFF_US), UINT64_C(3750000000));
    assert_int_equal(f.answer.deadline, XOFF_MS);
    assert_int_equal(probe(&f, 234375, 10 * XOFF_US), UINT64_C(3814000000));
    assert_int_equal(f.answer.deadline, 1500 * XOFF_US);
    const xoff_rate rate_bps = probe(&f, 234375, 16400 * XOFF_NS);
    assert_true(fabs((double)rate_bps - 3814e6 * (1 - 5886.0 / 1500 / 128)) < 3);
}

/* At a steady 3000 B of its own in queues, Qeq, the rate stays; one byte less or more moves it.
 * Probes are 500 us apart and bring 3000 B * 500 us / d, with d = 2 us: 750000 B. */
static void set_point(void **unused)
{
    (void)unused;
    for (int32_t i = -1; i <= 1; i++) {
        struct tested_flow f;
        setup(&f);
        flow_start(&f);
        tell(&f, 24000, 48000, 0);
        probe(&f, 1000, 10 * XOFF_US); /* the shortest */
        const uint32_t bytes = (uint32_t)(750000 + i * 250);
        probe(&f, bytes, 12 * XOFF_US);
        xoff_rate before = 0;
        for (uint32_t k = 0; k < 3; k++) {
            before = f.answer.rate_bps;
            probe(&f, bytes, 12 * XOFF_US);
        }
        assert_int_equal((f.answer.rate_bps > before) - (f.answer.rate_bps < before), -i);
    }
}

/* However long a queue is, offset counts as Qeq and growth as 2 Qeq: Fb = -(2 + 2 * 4) = -10, and
 * 118/128 of the rate are left; then growth is 0: Fb = -2. */
static void bounds(void **unused)
{
    (void)unused;
    struct tested_flow f;
    setup(&f);
    flow_start(&f);
    tell(&f, 24000, 48000, 0);
    probe(&f, 1000, 10 * XOFF_US);
    assert_int_equal(probe(&f, 600000, 200 * XOFF_US), UINT64_C(3457031250));
    assert_int_equal(probe(&f, 600000, 200 * XOFF_US),
                     (xoff_rate)(UINT64_C(3457031250) * 126 / 128));
}

/* What is more restrictive counts: a probe that finds no queue does not raise the rate if a message
 * has come since it was sent; one that finds a long queue cuts as well. */
static void the_more_restrictive(void **unused)
{
    (void)unused;
    struct tested_flow f;
    setup(&f);
    flow_start(&f);
    tell(&f, 24000, 48000, 0);
    probe(&f, 1000, 10 * XOFF_US);
    sent(&f, 1000, XOFF_MS);
    assert_true(expire(&f, XOFF_MS));
    tell(&f, 1500, 0, XOFF_MS + 1);
    const xoff_rate cut_bps = f.answer.rate_bps;
    assert_int_equal(back(&f, XOFF_MS + 10 * XOFF_US), cut_bps);
    assert_int_equal(probe(&f, 1000, 10 * XOFF_US), cut_bps + 64 * XOFF_MBPS);
    assert_true(expire(&f, f.answer.deadline));
    tell(&f, 1500, 0, 2 * XOFF_MS + 1);
    const xoff_rate again_bps = f.answer.rate_bps;
    sent(&f, 1000000, 2 * XOFF_MS + 2);
    back(&f, 2010 * XOFF_US);
    assert_true(f.answer.rate_bps <= again_bps);
    assert_true(probe(&f, 0, 300 * XOFF_US) < again_bps);
    /* Nor does it delete a limiter that is 15 Mb/s below the link's rate: 64 would do. */
    setup(&f);
    flow_start(&f);
    tell(&f, 1500, 0, 0);
    probe(&f, 1000, 10 * XOFF_US);
    assert_int_equal(probe(&f, 1000, 10 * XOFF_US), UINT64_C(9985875000));
    const xoff_time at = f.answer.deadline;
    assert_true(expire(&f, at));
    const xoff_rate least_bps = tell(&f, 15, 0, at + 1);
    assert_true(least_bps > LINE - 15 * XOFF_MBPS && least_bps < UINT64_C(9985875000));
    assert_int_equal(back(&f, at + 10 * XOFF_US), least_bps);
}

/* A probe that is away for 10 ms is given up and another sent, not before. One that comes back when
 * the next is already due is followed at once. */
static void lost_probes(void **unused)
{
    (void)unused;
    struct tested_flow f;
    setup(&f);
    flow_start(&f);
    tell(&f, 24000, 48000, 0);
    assert_true(expire(&f, 500 * XOFF_US));
    assert_int_equal(f.answer.deadline, 10500 * XOFF_US);
    assert_true(expire(&f, 10500 * XOFF_US));
    back(&f, 12 * XOFF_MS);
    assert_int_equal(f.answer.deadline, 12 * XOFF_MS + 1);
    back(&f, 12 * XOFF_MS + 1); /* nothing is away: ignored */
    assert_int_equal(f.answer.deadline, 12 * XOFF_MS + 1);
    assert_true(expire(&f, 12 * XOFF_MS + 1));
}

/* 64 Mb/s for each probe without a queue: 9921.875 + 64 = 9985.875, and the next reaches the
 * link's rate: no limiter, no probes. A new limiter counts anew, but remembers the shortest way. */
static void deletion(void **unused)
{
    (void)unused;
    struct tested_flow f;
    setup(&f);
    flow_start(&f);
    tell(&f, 1500, 0, 0);
    probe(&f, 1000, 10 * XOFF_US);
    assert_int_equal(probe(&f, 1000, 10 * XOFF_US), UINT64_C(9985875000));
    assert_true(probe(&f, 1000, 10 * XOFF_US) == XOFF_RP_LINE_RATE);
    assert_true(f.answer.deadline == XOFF_NEVER);
    assert_int_equal(tell(&f, 24000, 48000, 9 * XOFF_MS), UINT64_C(3750000000));
    assert_int_equal(f.answer.deadline, 9500 * XOFF_US);
    assert_int_equal(probe(&f, 9000000, 100 * XOFF_US), UINT64_C(3750000000));
    assert_true(probe(&f, 600000, 100 * XOFF_US) < UINT64_C(3750000000));
}

/* (0, 0) stops the flow for up to 100 us; no probe is sent then, and one that comes back changes
 * nothing. Then it has 1 % of the link's rate, and a probe is due as before. */
static void stop(void **unused)
{
    (void)unused;
    for (uint32_t i = 0; i < 100; i++) {
        struct tested_flow f;
        setup(&f);
        f.flow.seed = i;
        flow_start(&f);
        assert_int_equal(tell(&f, 0, 0, 1000), XOFF_RP_STOPPED);
        const xoff_time at = f.answer.deadline;
        assert_true(at > 1000 && at <= 1000 + 100 * XOFF_US);
        assert_int_equal(tell(&f, 24000, 48000, 1001), XOFF_RP_STOPPED);
        assert_int_equal(back(&f, 1002), XOFF_RP_STOPPED);
        assert_int_equal(f.answer.deadline, at);
        assert_false(expire(&f, at));
        assert_int_equal(f.answer.rate_bps, 100 * XOFF_MBPS);
        assert_int_equal(f.answer.deadline, 1000 + 500 * XOFF_US);
        assert_true(expire(&f, f.answer.deadline));
        /* Stopped while the probe is away: it comes back, and the stop goes on. */
        tell(&f, 0, 0, 600 * XOFF_US);
        const xoff_time again = f.answer.deadline;
        assert_int_equal(back(&f, 600 * XOFF_US), XOFF_RP_STOPPED);
        assert_int_equal(f.answer.deadline, again);
        assert_false(expire(&f, again));
        assert_int_equal(f.answer.rate_bps, 100 * XOFF_MBPS);
    }
}

/* The rules again in long doubles. The model is told round trips and bytes, not when what is due.
 */
struct model {
    long double rate, queue, least;
    bool counts;
};

static void model_probe(struct model *m, bool was_cut, long double bytes, long double rtt,
                        long double gap)
{
    m->least = fminl(m->least, rtt);
    if (!m->counts) {
        m->counts = true;
        m->queue = 0;
        return;
    }
    const long double queue = fminl(12000, floorl(bytes * (rtt - m->least) / gap));
    const long double offset = fmaxl(-3000, fminl(3000, queue - 3000));
    const long double delta = fmaxl(-6000, fminl(6000, queue - m->queue));
    const long double fb = -(offset + 2 * delta) / 1500;
    m->queue = queue;
    if (fb < 0)
        m->rate = fmaxl(10e6L, m->rate * (1 + fb / 128));
    else if (!was_cut)
        m->rate += 32e6L * fb;
}

static void random_events(void **unused)
{
    (void)unused;
    const uint64_t seed = 20070501;
    print_message("seed %llu\n", (unsigned long long)seed);
    struct xoff_rng rng;
    xoff_rng_init(&rng, seed, 0, 0);
    struct tested_flow f;
    setup(&f);
    flow_start(&f);
    struct model m = {.least = 1e18L};
    xoff_time now = 0, back_at = 0;
    uint32_t n_deleted = 0, n_probes = 0;
    for (uint32_t i = 0; i < 50000; i++) {
        if (m.rate == 0) {
            tell(&f, 24000, 48000, now);
            m = (struct model){.rate = 3.75e9L, .least = m.least};
        }
        now = f.answer.deadline;
        const uint32_t bytes = (uint32_t)xoff_rng_below(&rng, 500000);
        const xoff_time rtt = 10 * XOFF_US + (xoff_time)xoff_rng_below(&rng, 1 << 22);
        const bool is_cut = !xoff_rng_below(&rng, 20);
        sent(&f, bytes, now);
        assert_true(expire(&f, now));
        if (is_cut) {
            tell(&f, 1500, 0, now);
            m.rate = fmaxl(10e6L, m.rate * 127 / 128);
        }
        now += rtt;
        model_probe(&m, is_cut, bytes, (long double)rtt, (long double)(now - back_at));
        back_at = now;
        const xoff_rate rate_bps = back(&f, now);
        n_probes++;
        if (m.rate >= 10e9L - 100) {
            n_deleted++;
            m.rate = 0;
            flow_start(&f); /* where rounding may have decided */
            m.least = 1e18L;
            continue;
        }
        if (fabsl((long double)rate_bps - m.rate) > 300)
            print_error("probe %u: %llu, model %Lf\n", i, (unsigned long long)rate_bps, m.rate);
        assert_true(fabsl((long double)rate_bps - m.rate) <= 300);
        m.rate = (long double)rate_bps;
    }
    print_message("%u probes, %u limiters deleted\n", n_probes, n_deleted);
    assert_true(n_deleted > 5);
}

static void refused(void **unused)
{
    (void)unused;
    static const struct {
        const char *name, *last_good, *first_bad;
    } cases[] = {
        {"w", "1024", "1025"},       {"gd", "1", "1.01"},         {"gi", "0", "-1"},
        {"restart", "1", "1.1"},     {"ru", "1Tbps", "1001Gbps"}, {"unit", "1B", "0B"},
        {"stop_for", "1ns", "0s"},   {"qeq", "1B", "0B"},         {"probe_every", "1us", "999ns"},
        {"min_rate", "1bps", "0bps"}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct xoff_err err;
        struct tested_flow f;
        setup(&f);
        const struct xoff_param *p = xoff_param_find(xoff_rp_e2cm.params, cases[i].name);
        assert_int_equal(xoff_param_set(p, f.params, cases[i].last_good, &err), 0);
        assert_int_equal(flow_configure(&f, &err), 0);
        assert_int_not_equal(xoff_param_set(p, f.params, cases[i].first_bad, &err), 0);
    }
    struct tested_flow f;
    setup(&f);
    flow_set(&f, "probe_timeout", "500us");
    flow_start(&f);
    flow_set(&f, "probe_timeout", "499us");
    expect_refused(&f, XOFF_E_CONFLICT, "probe_timeout", "no earlier than the next is due");
    setup(&f);
    flow_set(&f, "min_rate", "10000000001bps");
    expect_refused(&f, XOFF_E_CONFLICT, "min_rate", "at most that of its link");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(messages),      cmocka_unit_test(worked_example),
        cmocka_unit_test(set_point),     cmocka_unit_test(bounds),
        cmocka_unit_test(lost_probes),   cmocka_unit_test(the_more_restrictive),
        cmocka_unit_test(deletion),      cmocka_unit_test(stop),
        cmocka_unit_test(random_events), cmocka_unit_test(refused),
    };
    return cmocka_run_group_tests_name("e2cm_rp", tests, NULL, NULL);
}
