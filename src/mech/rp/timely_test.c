/* TIMELY: both sides of each threshold, the round trip that an update takes, and trajectories
 * against a model that sums the whole history. */
#include "mech/rp/flow_testing.h"

extern const struct xoff_rp_ops xoff_rp_timely;

static void setup(struct tested_flow *f)
{
    flow_setup(f, &xoff_rp_timely, 10 * XOFF_GBPS);
}

/* One round trip: an ACK of all that was sent by the last update and a frame more. */
static xoff_rate round_trip(struct tested_flow *f, xoff_time rtt)
{
    flow_ack(f, 1000, (struct xoff_rp_ack){.rtt = rtt});
    return f->answer.rate_bps;
}

static void expect_near(xoff_rate rate_bps, double expected)
{
    assert_true((double)rate_bps > expected - 2 && (double)rate_bps < expected + 2);
}

/* 10 Gb/s, min_rtt 20 us, alpha 7/8, beta 0.8:
 *   40 us   only noted
 *   60 us   d = 7/8 * 20 = 17.5, g = 0.875, factor 1 - 0.8 * 0.875 = 0.3       3 Gb/s
 *   60 us   d = 1/8 * 17.5 = 2.1875, g = 0.109375, factor 0.9125               2.7375 Gb/s
 *   56 us   d = 1/8 * 2.1875 - 7/8 * 4 = -3.23: + 10 Mb/s                      2.7475 Gb/s
 *   45 us   below t_low: + 10 Mb/s                                             2.7575 Gb/s
 *   600 us  above t_high: factor 1 - 0.8 (1 - 500 / 600) = 13 / 15             2.389833 Gb/s */
static void worked_example(void **unused)
{
    (void)unused;
    struct tested_flow f;
    setup(&f);
    flow_start(&f);
    assert_int_equal(f.answer.rate_bps, 10 * XOFF_GBPS);
    assert_int_equal(f.answer.window_bytes, XOFF_RP_NO_WINDOW);
    assert_int_equal(f.answer.deadline, XOFF_NEVER);
    assert_int_equal(round_trip(&f, 40 * XOFF_US), 10 * XOFF_GBPS);
    expect_near(round_trip(&f, 60 * XOFF_US), 3e9);
    expect_near(round_trip(&f, 60 * XOFF_US), 2.7375e9);
    expect_near(round_trip(&f, 56 * XOFF_US), 2.7475e9);
    expect_near(round_trip(&f, 45 * XOFF_US), 2.7575e9);
    expect_near(round_trip(&f, 600 * XOFF_US), 2.7575e9 * 13 / 15);
    assert_int_equal(f.answer.window_bytes, XOFF_RP_NO_WINDOW);
    assert_int_equal(f.answer.deadline, XOFF_NEVER);
}

/* A flow that has been cut to 5 Gb/s, its RTT at `rtt` and d = 0 (alpha 1 forgets). */
static void start_at(struct tested_flow *f, xoff_time rtt)
{
    setup(f);
    flow_set(f, "alpha", "1");
    flow_set(f, "beta", "0.5");
    flow_start(f);
    round_trip(f, rtt - 20 * XOFF_US);
    round_trip(f, rtt); /* g = 1: halved, for t_low <= rtt <= t_high */
    assert_int_equal(f->answer.rate_bps, 5 * XOFF_GBPS);
}

/* With the RTT rising by 10 us, g = 0.5 and beta 0.5: cut to 3.75 Gb/s unless below t_low. */
static void both_sides_of_t_low(void **unused)
{
    (void)unused;
    struct tested_flow f;
    setup(&f);
    flow_set(&f, "alpha", "1");
    flow_set(&f, "beta", "0.5");
    flow_start(&f);
    round_trip(&f, 600 * XOFF_US);
    round_trip(&f, 1000 * XOFF_US); /* 1 - 0.5 (1 - 1/2) */
    assert_int_equal(f.answer.rate_bps, 7500 * XOFF_MBPS);
    round_trip(&f, 40 * XOFF_US);
    assert_int_equal(f.answer.rate_bps, 7510 * XOFF_MBPS);
    assert_int_equal(round_trip(&f, 50 * XOFF_US - 1), 7520 * XOFF_MBPS);

    flow_start(&f);
    round_trip(&f, 40 * XOFF_US);
    assert_int_equal(round_trip(&f, 50 * XOFF_US), 7500 * XOFF_MBPS); /* g = 0.5 */
}

/* At t_high a flat RTT still raises the rate; a picosecond more and it is cut, if by little. */
static void both_sides_of_t_high(void **unused)
{
    (void)unused;
    struct tested_flow f;
    start_at(&f, 500 * XOFF_US);
    assert_int_equal(round_trip(&f, 500 * XOFF_US), 5010 * XOFF_MBPS);
    /* factor 1 - 0.5 * (1 ps / 500 us): 5.01 Gb/s * 10^-9 = 5 bit/s less */
    expect_near(round_trip(&f, 500 * XOFF_US + 1), 5.01e9 - 5);
    assert_true(f.answer.rate_bps < 5010 * XOFF_MBPS);
    /* Falling, but above t_high: cut all the same, 1 - 0.5 (1 - 500 / 625) = 0.9. */
    setup(&f);
    flow_set(&f, "beta", "0.5");
    flow_start(&f);
    round_trip(&f, 900 * XOFF_US);
    expect_near(round_trip(&f, 625 * XOFF_US), 9e9);
}

static void both_sides_of_gradient_zero(void **unused)
{
    (void)unused;
    struct tested_flow f;
    start_at(&f, 100 * XOFF_US);
    assert_int_equal(round_trip(&f, 100 * XOFF_US), 5010 * XOFF_MBPS);
    assert_int_equal(round_trip(&f, 100 * XOFF_US - 1), 5020 * XOFF_MBPS);
    /* 1 ps more than before: 0.5 * (1 ps / 20 us) of 5.02 Gb/s are 125.5 bit/s. */
    expect_near(round_trip(&f, 100 * XOFF_US), 5.02e9 - 125.5);
    assert_true(f.answer.rate_bps < 5020 * XOFF_MBPS);
}

/* Rises 1 to 5 take delta, from the sixth hai; a cut starts anew. */
static void hyperactive_after_five(void **unused)
{
    (void)unused;
    struct tested_flow f;
    xoff_rate rate_bps = 5 * XOFF_GBPS;
    start_at(&f, 100 * XOFF_US);
    for (uint32_t n = 1; n <= 8; n++) {
        rate_bps += (n <= 5 ? 10 : 50) * XOFF_MBPS;
        /* Those below t_low count as well. */
        assert_true(round_trip(&f, n % 2 ? 40 * XOFF_US : 30 * XOFF_US) == rate_bps);
    }
    round_trip(&f, 1000 * XOFF_US); /* 1 - 0.5 (1 - 1/2) */
    expect_near(f.answer.rate_bps, (double)rate_bps * 0.75);
    rate_bps = f.answer.rate_bps;
    for (uint32_t n = 1; n <= 6; n++) {
        rate_bps += (n <= 5 ? 10 : 50) * XOFF_MBPS;
        assert_int_equal(round_trip(&f, 40 * XOFF_US), rate_bps);
    }
}

/* The rate stays within the link's and min_rate, whatever the step. */
static void stays_in_range(void **unused)
{
    (void)unused;
    struct tested_flow f;
    setup(&f);
    flow_set(&f, "min_rate", "3Gbps");
    flow_set(&f, "delta", "4Gbps");
    flow_start(&f);
    round_trip(&f, 100 * XOFF_US);
    assert_int_equal(round_trip(&f, 90 * XOFF_US), 10 * XOFF_GBPS);
    /* g = 7/8 * 100 / 20 - a little > 1 / beta: the factor is held at 0 */
    assert_int_equal(round_trip(&f, 190 * XOFF_US), 3 * XOFF_GBPS);
    assert_int_equal(round_trip(&f, 5000 * XOFF_US), 3 * XOFF_GBPS);
    assert_int_equal(round_trip(&f, 40 * XOFF_US), 7 * XOFF_GBPS);
    assert_int_equal(round_trip(&f, 40 * XOFF_US), 10 * XOFF_GBPS);
}

/* The update at acked_to 1000 comes with 9000 B sent: the next is at 9001, not at 9000. */
static void once_per_round_trip(void **unused)
{
    (void)unused;
    struct tested_flow f;
    setup(&f);
    flow_set(&f, "alpha", "1");
    flow_set(&f, "beta", "0.5");
    flow_start(&f);
    f.sent_to = 9000;
    flow_ack(&f, 1000, (struct xoff_rp_ack){.rtt = 100 * XOFF_US});
    f.sent_to = 20000;
    flow_ack(&f, 8000, (struct xoff_rp_ack){.rtt = 120 * XOFF_US});
    assert_int_equal(f.answer.rate_bps, 10 * XOFF_GBPS);
    /* The RTT of 120 us was not looked at: the difference is from 100 us, g = 0.5. */
    flow_ack(&f, 1, (struct xoff_rp_ack){.rtt = 110 * XOFF_US});
    assert_int_equal(f.answer.rate_bps, 7500 * XOFF_MBPS);
    flow_ack(&f, 10999, (struct xoff_rp_ack){.rtt = 200 * XOFF_US});
    assert_int_equal(f.answer.rate_bps, 7500 * XOFF_MBPS);
    /* An RTT that is not known waits for the next; then g = 0.5 again. */
    f.sent_to = 30000;
    flow_ack(&f, 1000, (struct xoff_rp_ack){.rtt = 0});
    assert_int_equal(f.answer.rate_bps, 7500 * XOFF_MBPS);
    flow_ack(&f, 1000, (struct xoff_rp_ack){.rtt = 120 * XOFF_US});
    assert_int_equal(f.answer.rate_bps, 5625 * XOFF_MBPS);
}

/* Links of 1, 10 and 100 Gb/s: rises of 1, 10, 100 Mb/s, then five times that; the least rate is
 * one rise. hai follows a delta that is given. */
static void auto_follows_the_rate(void **unused)
{
    (void)unused;
    static const xoff_rate rates_bps[] = {XOFF_GBPS, 10 * XOFF_GBPS, 100 * XOFF_GBPS};
    for (size_t i = 0; i < COUNT(rates_bps); i++) {
        const xoff_rate part_bps = rates_bps[i] / 1000;
        struct tested_flow f;
        flow_setup(&f, &xoff_rp_timely, rates_bps[i]);
        flow_set(&f, "beta", "1");
        flow_start(&f);
        round_trip(&f, 60 * XOFF_US);
        assert_int_equal(round_trip(&f, 400 * XOFF_US), part_bps);
        for (uint32_t n = 1; n <= 6; n++)
            round_trip(&f, 10 * XOFF_US);
        assert_int_equal(f.answer.rate_bps, (1 + 5 + 5) * part_bps);

        flow_set(&f, "delta", "3kbps");
        flow_start(&f);
        round_trip(&f, 60 * XOFF_US);
        round_trip(&f, 400 * XOFF_US);
        for (uint32_t n = 1; n <= 6; n++)
            round_trip(&f, 10 * XOFF_US);
        assert_int_equal(f.answer.rate_bps, part_bps + (5 + 5) * 3000);
    }
}

/* auto: the flow's own 12 us. A rise of 6 us with alpha 1 is g = 0.5 then, not 0.3. */
static void min_rtt_of_the_flow(void **unused)
{
    (void)unused;
    struct tested_flow f;
    setup(&f);
    flow_set(&f, "alpha", "1");
    flow_set(&f, "beta", "1");
    flow_start(&f);
    round_trip(&f, 60 * XOFF_US);
    expect_near(round_trip(&f, 66 * XOFF_US), 7e9);
    flow_set(&f, "min_rtt", "auto");
    flow_start(&f);
    round_trip(&f, 60 * XOFF_US);
    expect_near(round_trip(&f, 66 * XOFF_US), 5e9);
}

static void refusals(void **unused)
{
    (void)unused;
    struct tested_flow f;
    setup(&f);
    flow_set(&f, "t_low", "500us");
    expect_accepted(&f);
    flow_set(&f, "t_low", "500.000001us");
    expect_refused(&f, XOFF_E_CONFLICT, "t_low", "t_high is 500us");

    setup(&f);
    flow_set(&f, "min_rate", "10Gbps");
    expect_accepted(&f);
    flow_set(&f, "min_rate", "10000000001bps");
    expect_refused(&f, XOFF_E_CONFLICT, "min_rate", "link, 10Gbps");

    static const char *const too_small[] = {"t_high", "min_rtt", "min_rate"};
    struct xoff_err err;
    for (size_t i = 0; i < COUNT(too_small); i++)
        assert_int_equal(xoff_param_set(xoff_param_find(xoff_rp_timely.params, too_small[i]),
                                        f.params, "0", &err),
                         -XOFF_E_RANGE);
}

/* The rate after all RTTs of a history, from the definitions: d is the sum of every difference
 * with its weight, computed anew for each step. */
static double model_rate(const xoff_time *rtts, size_t n, double link_bps)
{
    double rate = link_bps;
    uint32_t n_rises = 0;
    for (size_t step = 1; step < n; step++) {
        double d = 0, weight = 0.875;
        for (size_t i = step; i >= 1 && weight > 1e-30; i--, weight *= 0.125)
            d += weight * (double)(rtts[i] - rtts[i - 1]);
        const double rtt = (double)rtts[step];
        double factor = 1;
        if (rtt > 500e6)
            factor = 1 - 0.8 + 0.8 * 500e6 / rtt;
        else if (rtt >= 50e6 && d > 0)
            factor = 1 - 0.8 * d / 20e6;
        if (factor < 1) {
            n_rises = 0;
            rate *= factor;
            if (rate < link_bps / 1000)
                rate = link_bps / 1000;
        } else {
            rate += link_bps / 1000 * (++n_rises > 5 ? 5 : 1);
            if (rate > link_bps)
                rate = link_bps;
        }
    }
    return rate;
}

/* Random walks of the RTT, with steps from 1 us to 100 us, over all ranges. */
static void equals_the_model(void **unused)
{
    (void)unused;
    enum { N_STEPS = 200 };
    size_t n_low = 0, n_high = 0;
    for (uint32_t seed = 1; seed <= 40; seed++) {
        xoff_time rtts[N_STEPS], rtt = 60 * XOFF_US;
        struct xoff_rng rng;
        struct tested_flow f;
        xoff_rng_init(&rng, seed, 0, 0);
        setup(&f);
        flow_start(&f);
        const uint64_t reach = UINT64_C(1000000) * (seed % 4 == 0 ? 100 : seed);
        for (size_t n = 0; n < N_STEPS; n++) {
            rtt += (xoff_time)xoff_rng_below(&rng, 2 * reach) - (xoff_time)reach;
            if (rtt < 12 * XOFF_US)
                rtt = 12 * XOFF_US + (xoff_time)xoff_rng_below(&rng, 1000000);
            rtts[n] = rtt;
            n_low += rtt < 50 * XOFF_US;
            n_high += rtt > 500 * XOFF_US;
            const double expected = model_rate(rtts, n + 1, 10e9);
            const double error = (double)round_trip(&f, rtt) - expected;
            if (error > expected * 1e-5 || error < -expected * 1e-5)
                fail_msg("seed %u step %zu: %g, model %g", seed, n, (double)f.answer.rate_bps,
                         expected);
        }
    }
    assert_true(n_low > 500 && n_high > 500);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(worked_example),         cmocka_unit_test(both_sides_of_t_low),
        cmocka_unit_test(both_sides_of_t_high),   cmocka_unit_test(both_sides_of_gradient_zero),
        cmocka_unit_test(hyperactive_after_five), cmocka_unit_test(stays_in_range),
        cmocka_unit_test(once_per_round_trip),    cmocka_unit_test(auto_follows_the_rate),
        cmocka_unit_test(min_rtt_of_the_flow),    cmocka_unit_test(refusals),
        cmocka_unit_test(equals_the_model),
    };
    return cmocka_run_group_tests_name("timely", tests, NULL, NULL);
}
