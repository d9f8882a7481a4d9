/* ECM's reaction point: hand-worked cuts and steps, which point may raise a rate, stops and their
 * end, the drift, creation and deletion of the limiter, and random messages against a slow model in
 * long doubles. */
#include <math.h>

#include "mech/rp/flow_testing.h"

extern const struct xoff_rp_ops xoff_rp_ecm;

#define LINE (10 * XOFF_GBPS)
#define P 77 /* a congestion point */

static void setup(struct tested_flow *f)
{
    flow_setup(f, &xoff_rp_ecm, LINE);
}

static xoff_rate tell(struct tested_flow *f, uint64_t cp_id, int32_t offset, int32_t delta,
                      xoff_time now)
{
    const struct xoff_notice notice = {.kind = XOFF_NOTICE_ECM,
                                       .cp_id = cp_id,
                                       .queue_offset_bytes = offset,
                                       .queue_delta_bytes = delta};
    xoff_rp_ecm.on_notice(f->cfg, f->state, &notice, now, &f->answer);
    return f->answer.rate_bps;
}

static xoff_rate expire(struct tested_flow *f, xoff_time now)
{
    assert_true(f->answer.deadline <= now);
    xoff_rp_ecm.expire(f->cfg, f->state, now, &f->answer);
    assert_true(f->answer.deadline > now);
    return f->answer.rate_bps;
}

/* A flow is not limited until a message with Fb < 0. Offset 1500, delta 0: Fb = -1, R = 127/128 of
 * 10 Gb/s. Offset 24000, delta 48000: Fb = -(16 + 2 * 32) = -80, R = 48/128. Positive or no
 * feedback, or another kind, makes no limiter. Offset 3000 and delta -1500: 3000 - 3000 = 0. */
static void first_message(void **unused)
{
    (void)unused;
    struct tested_flow f;
    setup(&f);
    flow_start(&f);
    assert_true(f.answer.rate_bps == XOFF_RP_LINE_RATE && f.answer.deadline == XOFF_NEVER);
    assert_true(f.answer.window_bytes == XOFF_RP_NO_WINDOW);
    assert_true(f.answer.limiter == XOFF_RP_NO_LIMITER);
    assert_true(tell(&f, P, -1500, 0, 0) == XOFF_RP_LINE_RATE);
    assert_true(tell(&f, P, 3000, -1500, 0) == XOFF_RP_LINE_RATE);
    const struct xoff_notice other = {.kind = XOFF_NOTICE_QCN, .queue_offset_bytes = 9000};
    xoff_rp_ecm.on_notice(f.cfg, f.state, &other, 0, &f.answer);
    assert_true(f.answer.limiter == XOFF_RP_NO_LIMITER);
    assert_int_equal(tell(&f, P, 1500, 0, 0), UINT64_C(9921875000));
    assert_true(f.answer.limiter == P && f.answer.deadline == XOFF_NEVER);
    flow_start(&f);
    assert_int_equal(tell(&f, P, 24000, 48000, 0), UINT64_C(3750000000));
    flow_start(&f);
    assert_true(tell(&f, P, 3001, -1500, 0) < LINE); /* one byte too much: a limiter */
    assert_true(f.answer.limiter == P);
}

/* From 3.75 Gb/s: Fb = +16 adds 4 * 16 * 8 Mb/s = 512 Mb/s; Fb = +16 + 2 * 4 (delta -6000) adds 768
 * Mb/s. Gd 1/128 of 5.03 Gb/s at Fb -2 is 78.59375 Mb/s. */
static void worked_example(void **unused)
{
    (void)unused;
    struct tested_flow f;
    setup(&f);
    flow_start(&f);
    tell(&f, P, 24000, 48000, 0);
    assert_int_equal(tell(&f, P, -24000, 0, 1), UINT64_C(4262000000));
    assert_int_equal(tell(&f, P, -24000, -6000, 2), UINT64_C(5030000000));
    assert_int_equal(tell(&f, P, 3000, 0, 3), UINT64_C(4951406250));
    assert_int_equal(tell(&f, P, 3000, -1500, 4), UINT64_C(4951406250)); /* Fb = 0 */
}

/* Only the point that cut last may raise the rate; any may cut it, and takes it over. */
static void whose_feedback_counts(void **unused)
{
    (void)unused;
    struct tested_flow f;
    setup(&f);
    flow_start(&f);
    tell(&f, P, 24000, 48000, 0);
    assert_int_equal(tell(&f, P + 1, -24000, 0, 1), UINT64_C(3750000000));
    assert_true(f.answer.limiter == P);
    tell(&f, P + 1, 1500, 0, 2);
    const xoff_rate rate_bps = UINT64_C(3750000000) / 128 * 127 + 3750000000 % 128 * 127 / 128;
    assert_int_equal(f.answer.rate_bps, rate_bps);
    assert_true(f.answer.limiter == P + 1);
    assert_int_equal(tell(&f, P, -24000, 0, 3), rate_bps);
    assert_int_equal(tell(&f, P + 1, -24000, 0, 4), rate_bps + 512 * XOFF_MBPS);
}

/* At 9921.875 Mb/s 78.125 are missing: 2.441 units of feedback. 3662 bytes add 78.1227 Mb/s, 3663
 * bytes 78.144: the limiter goes, and with it the tag. */
static void deletion(void **unused)
{
    (void)unused;
    for (int32_t offset = -3663; offset <= -3662; offset++) {
        struct tested_flow f;
        setup(&f);
        flow_start(&f);
        tell(&f, P, 1500, 0, 0);
        tell(&f, P, offset, 0, 1);
        assert_true((f.answer.rate_bps == XOFF_RP_LINE_RATE) == (offset == -3663));
        assert_true((f.answer.limiter == XOFF_RP_NO_LIMITER) == (offset == -3663));
        assert_true(f.answer.rate_bps > UINT64_C(9999900000));
    }
}

/* Gd 1 cuts all with Fb -1, but the least rate stays. */
static void least_rate(void **unused)
{
    (void)unused;
    struct tested_flow f;
    setup(&f);
    flow_set(&f, "gd", "1");
    flow_start(&f);
    assert_int_equal(tell(&f, P, 1485, 0, 0), 100 * XOFF_MBPS); /* 1 % is left */
    assert_int_equal(tell(&f, P, 1350, 0, 0), 10 * XOFF_MBPS);
    flow_start(&f);
    assert_int_equal(tell(&f, P, 1499, 0, 0), 10 * XOFF_MBPS); /* 6.7 Mb/s */
    flow_start(&f);
    assert_int_equal(tell(&f, P, 1500, 0, 0), 10 * XOFF_MBPS);
    assert_int_equal(tell(&f, P, 24000, 48000, 0), 10 * XOFF_MBPS);
    flow_set(&f, "min_rate", "10Gbps");
    flow_start(&f);
    assert_int_equal(tell(&f, P, 24000, 48000, 0), LINE);
    flow_set(&f, "min_rate", "10000000001bps");
    expect_refused(&f, XOFF_E_CONFLICT, "min_rate", "at most that of its link");
}

/* (0, 0) stops the flow for up to 100 us, whatever it was; then it has 1 % of the link's rate. What
 * arrives meanwhile is about frames sent before. */
static void stop(void **unused)
{
    (void)unused;
    xoff_time longest = 0, shortest = XOFF_S;
    for (uint32_t i = 0; i < 1000; i++) {
        struct tested_flow f;
        setup(&f);
        f.flow.seed = i;
        flow_start(&f);
        assert_int_equal(tell(&f, P, 0, 0, 1000), XOFF_RP_STOPPED);
        const xoff_time at = f.answer.deadline;
        assert_true(at > 1000 && at <= 1000 + 100 * XOFF_US);
        longest = at > longest ? at : longest;
        shortest = at < shortest ? at : shortest;
        assert_int_equal(tell(&f, P, -24000, 0, 1000), XOFF_RP_STOPPED);
        assert_int_equal(tell(&f, P + 1, 24000, 48000, 1000), XOFF_RP_STOPPED);
        assert_int_equal(tell(&f, P + 1, 0, 0, 1000), XOFF_RP_STOPPED);
        assert_true(f.answer.limiter == P && f.answer.deadline == at);
        assert_int_equal(expire(&f, at), 100 * XOFF_MBPS);
        assert_true(f.answer.deadline == XOFF_NEVER && f.answer.limiter == P);
        assert_int_equal(tell(&f, P, -24000, 0, at), 612 * XOFF_MBPS);
        assert_int_equal(tell(&f, P, 0, 0, at), XOFF_RP_STOPPED); /* again */
    }
    assert_true(longest > 99 * XOFF_US && shortest < XOFF_US); /* 1 in 1000 is beyond, each */
    struct tested_flow f;
    setup(&f);
    flow_set(&f, "restart", "0.0005"); /* 5 Mb/s: below the least rate */
    flow_start(&f);
    tell(&f, P, 0, 0, 0);
    assert_int_equal(expire(&f, 100 * XOFF_US), 10 * XOFF_MBPS);
}

/* 100 Mb/s every millisecond from the cut on; an idle flow catches up, and the limiter goes when
 * the link's rate is reached. A stop holds the drift off until its end. */
static void drift(void **unused)
{
    (void)unused;
    struct tested_flow f;
    setup(&f);
    flow_set(&f, "drift", "100Mbps");
    flow_start(&f);
    assert_true(f.answer.deadline == XOFF_NEVER);
    assert_int_equal(tell(&f, P, 24000, 48000, 5), UINT64_C(3750000000));
    assert_int_equal(f.answer.deadline, XOFF_MS + 5);
    assert_int_equal(expire(&f, XOFF_MS + 5), UINT64_C(3850000000));
    assert_int_equal(expire(&f, 4 * XOFF_MS + 5), UINT64_C(4150000000));
    assert_int_equal(f.answer.deadline, 5 * XOFF_MS + 5);
    assert_int_equal(expire(&f, 62 * XOFF_MS + 5), UINT64_C(9950000000));
    assert_true(expire(&f, 63 * XOFF_MS + 5) == XOFF_RP_LINE_RATE);
    assert_true(f.answer.deadline == XOFF_NEVER && f.answer.limiter == XOFF_RP_NO_LIMITER);
    tell(&f, P, 0, 0, 100 * XOFF_MS);
    const xoff_time at = f.answer.deadline;
    assert_int_equal(expire(&f, at), 100 * XOFF_MBPS);
    assert_int_equal(f.answer.deadline, at + XOFF_MS);
    assert_int_equal(expire(&f, at + XOFF_MS), 200 * XOFF_MBPS);
}

/* Weight 0 forgets growth; a unit of 64 B makes more of the same bytes. */
static void parameters(void **unused)
{
    (void)unused;
    struct tested_flow f;
    setup(&f);
    flow_set(&f, "w", "0");
    flow_start(&f);
    assert_int_equal(tell(&f, P, 1500, 48000, 0), UINT64_C(9921875000));
    flow_set(&f, "w", "0.5"); /* 1500 + 0.5 * 3000: Fb = -2 */
    flow_start(&f);
    assert_int_equal(tell(&f, P, 1500, 3000, 0), UINT64_C(9843750000));
    flow_set(&f, "unit", "64B");
    flow_start(&f);
    assert_int_equal(tell(&f, P, 64, 0, 0), UINT64_C(9921875000));
    flow_set(&f, "gi", "0.5");
    flow_set(&f, "ru", "1Mbps");
    flow_start(&f);
    tell(&f, P, 64 * 64, 0, 0); /* half */
    assert_int_equal(tell(&f, P, -128, 0, 0), UINT64_C(5001000000));
}

/* The rules again, in long doubles and without a limiter object. */
struct model {
    long double rate; /* 0: no limiter */
    uint64_t point;
};

static void model_tell(struct model *m, uint64_t point, int32_t offset, int32_t delta)
{
    const long double fb = -(offset + 2.0L * delta) / 1500;
    if (fb < 0) {
        const long double rate = m->rate > 0 ? m->rate : 10e9L;
        m->rate = fmaxl(10e6L, rate * (1 + fb / 128));
        m->point = point;
    } else if (m->rate > 0 && m->point == point) {
        m->rate += 4 * fb * 8e6L;
        if (m->rate >= 10e9L)
            m->rate = 0;
    }
}

static void random_messages(void **unused)
{
    (void)unused;
    const uint64_t seed = 20070313;
    print_message("seed %llu\n", (unsigned long long)seed);
    struct xoff_rng rng;
    xoff_rng_init(&rng, seed, 0, 0);
    uint32_t n_limited = 0, n_deleted = 0;
    struct tested_flow f;
    setup(&f);
    flow_start(&f);
    struct model m = {0};
    for (uint32_t i = 0; i < 200000; i++) {
        const uint64_t point = P + xoff_rng_below(&rng, 2);
        const int32_t up = i / 50 % 2 ? 16000 : 44000; /* more cuts, or more steps */
        const int32_t offset = (int32_t)xoff_rng_below(&rng, 48001) - up;
        const int32_t delta = (int32_t)xoff_rng_below(&rng, 6001) - 3000;
        if (!offset && !delta)
            continue;
        const bool was_limited = m.rate > 0;
        model_tell(&m, point, offset, delta);
        const xoff_rate rate_bps = tell(&f, point, offset, delta, i);
        if (m.rate == 0 || fabsl(m.rate - 10e9L) < 100) { /* rounding may decide there */
            n_deleted += was_limited;
            flow_start(&f);
            m.rate = 0;
            continue;
        }
        n_limited++;
        if (fabsl((long double)rate_bps - m.rate) > 300)
            print_error("message %u: %llu, model %Lf\n", i, (unsigned long long)rate_bps, m.rate);
        assert_true(fabsl((long double)rate_bps - m.rate) <= 300);
        assert_int_equal(f.answer.limiter, m.point);
        m.rate = (long double)rate_bps; /* rounding does not add up */
    }
    print_message("%u limited, %u deleted\n", n_limited, n_deleted);
    assert_true(n_limited > 50000 && n_deleted > 20);
}

static void refused(void **unused)
{
    (void)unused;
    static const struct {
        const char *name, *last_good, *first_bad;
    } cases[] = {{"w", "1024", "1025"},       {"gd", "1", "1.01"},     {"gd", "1e-6", "0"},
                 {"gi", "0", "-1"},           {"restart", "1", "1.1"}, {"restart", "1e-6", "0"},
                 {"ru", "1Tbps", "1001Gbps"}, {"unit", "1B", "0B"},    {"stop_for", "1ns", "0s"},
                 {"min_rate", "1bps", "0bps"}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct xoff_err err;
        struct tested_flow f;
        setup(&f);
        const struct xoff_param *p = xoff_param_find(xoff_rp_ecm.params, cases[i].name);
        assert_int_equal(xoff_param_set(p, f.params, cases[i].last_good, &err), 0);
        assert_int_equal(flow_configure(&f, &err), 0);
        assert_int_not_equal(xoff_param_set(p, f.params, cases[i].first_bad, &err), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(first_message),   cmocka_unit_test(worked_example),
        cmocka_unit_test(deletion),        cmocka_unit_test(whose_feedback_counts),
        cmocka_unit_test(least_rate),      cmocka_unit_test(stop),
        cmocka_unit_test(drift),           cmocka_unit_test(parameters),
        cmocka_unit_test(random_messages), cmocka_unit_test(refused),
    };
    return cmocka_run_group_tests_name("ecm_rp", tests, NULL, NULL);
}
