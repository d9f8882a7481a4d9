/* DCTCP: what an observation counts and where it ends, when the window is cut and by how much, and
 * random lives of a flow against a model that keeps every ACK. Growth and losses: newreno_test.c,
 * the code is the same. */
#include "mech/rp/flow_testing.h"

extern const struct xoff_rp_ops xoff_rp_dctcp;

static const struct xoff_rp_ack plain = {.is_window_bound = true};
static const struct xoff_rp_ack marked = {.is_window_bound = true, .is_marked = true};

static void start(struct tested_flow *f)
{
    flow_setup(f, &xoff_rp_dctcp, 10 * XOFF_GBPS);
    flow_start(f);
}

/* Segments of 1000 B, g = 1/16:
 *   first ACK         ends the first observation: alpha = 15/16; the second ends beyond 10000
 *   3 more, unmarked  slow start to 14000; 18000 sent
 *   the 5th, marked   cut with alpha = 0.9375: 14000 * 0.53125 = 7437
 *   6th to 10th       two of them marked: no second cut, no growth
 *   11th              of 10000 B since the 1st 3000 are marked, F = 0.3:
 *                     alpha = 0.9375 * 15/16 + 0.3 / 16 = 0.89765625; ends beyond 18000
 *   up to 18000       nothing grows
 *   the next, marked  F = 1000 / 8000: alpha = 0.89765625 * 15/16 + 0.125 / 16 = 0.849365,
 *                     then the cut: 7437 * 0.575317 = 4278 */
static void worked_example(void **unused)
{
    (void)unused;
    struct tested_flow f;
    start(&f);
    assert_int_equal(f.answer.rate_bps, 10 * XOFF_GBPS);
    assert_int_equal(f.answer.deadline, XOFF_NEVER);
    assert_int_equal(f.answer.window_bytes, 10000);
    for (uint64_t n = 1; n <= 4; n++)
        assert_int_equal(flow_ack(&f, 1000, plain), 10000 + 1000 * n);
    assert_int_equal(f.sent_to, 18000);
    assert_int_equal(flow_ack(&f, 1000, marked), 7437);
    for (int n = 6; n <= 10; n++)
        assert_int_equal(flow_ack(&f, 1000, n < 8 ? marked : plain), 7437);
    assert_int_equal(flow_ack(&f, 1000, plain), 7437);
    assert_int_equal(flow_ack(&f, 7000, plain), 7437);
    assert_int_equal(flow_ack(&f, 1000, marked), 4278);
}

/* Without smoothing (g = 1) and without growth (the flow never fills its window) the cut tells the
 * share of the last whole observation: the window is 100000 (1 - F / 2). The observation begins
 * with `sent_to` at 4000, after an unmarked ACK, so F and alpha are 0 until it ends. */
static void share_start(struct tested_flow *f)
{
    flow_setup(f, &xoff_rp_dctcp, 10 * XOFF_GBPS);
    flow_set(f, "gain", "1");
    flow_set(f, "initial_window", "100KB");
    flow_start(f);
    f->sent_to = 4000;
    flow_ack(f, 1000, (struct xoff_rp_ack){.n_frames = 1}); /* observed up to 4000 */
    assert_int_equal(f->answer.window_bytes, 100000);
}

static uint64_t share_ack(struct tested_flow *f, uint64_t bytes, uint32_t n_marked,
                          uint32_t n_frames, bool is_marked, uint64_t sent_to)
{
    f->sent_to = sent_to;
    return flow_ack(
        f, bytes,
        (struct xoff_rp_ack){.n_marked = n_marked, .n_frames = n_frames, .is_marked = is_marked});
}

/* acked_to 4000 does not end it, 4001 does, and counts. Frames: 2 of 8 marked. */
static void observation_ends_beyond_what_was_sent(void **unused)
{
    (void)unused;
    struct tested_flow f;
    share_start(&f);
    assert_int_equal(share_ack(&f, 2000, 1, 4, false, 4000), 100000);
    assert_int_equal(share_ack(&f, 1000, 0, 3, false, 4000), 100000); /* acked_to 4000 */
    /* Marked as well, so cut at once, with F = (1 + 1) / 8: 100000 * 0.875 */
    assert_int_equal(share_ack(&f, 1, 1, 1, true, 6000), 87500);

    share_start(&f);
    assert_int_equal(share_ack(&f, 2000, 1, 4, false, 4000), 100000);
    /* The echo comes one byte early: alpha is still 0, and the cut cuts nothing. */
    assert_int_equal(share_ack(&f, 1000, 1, 3, true, 4000), 100000);
    assert_int_equal(share_ack(&f, 1, 1, 1, true, 9000), 100000 * 13 / 16); /* 3 of 8 */
}

/* Bytes where no frames are counted: 500 of 4000 marked, F = 1/8. Frames win where both are. */
static void share_of_bytes_or_frames(void **unused)
{
    (void)unused;
    struct tested_flow f;
    share_start(&f);
    assert_int_equal(share_ack(&f, 3000, 0, 0, false, 4000), 100000);
    assert_int_equal(share_ack(&f, 500, 0, 0, false, 5000), 100000); /* ends: F = 0 */
    assert_int_equal(share_ack(&f, 500, 0, 0, false, 5000), 100000); /* acked_to 5000 */
    assert_int_equal(share_ack(&f, 500, 0, 0, true, 9000), 75000);   /* 500 of 1000 */

    share_start(&f);
    assert_int_equal(share_ack(&f, 3001, 1, 4, true, 9000), 87500); /* not 3001 of 3001 */
}

/* With alpha at 0 and marks on the last observation only: the cut of an ACK that ends an
 * observation takes the new alpha; one that does not takes the old. */
static void alpha_comes_before_the_cut(void **unused)
{
    (void)unused;
    struct tested_flow f;
    share_start(&f);
    assert_int_equal(share_ack(&f, 3001, 1, 1, true, 9000), 50000);
    share_start(&f);
    assert_int_equal(share_ack(&f, 3000, 1, 1, true, 9000), 100000);
}

/* acked_to 10000 is within the window of the cut, 10001 is beyond. With gain 0 alpha stays 1. */
static void cut_once_per_window(void **unused)
{
    (void)unused;
    struct tested_flow f;
    flow_setup(&f, &xoff_rp_dctcp, 10 * XOFF_GBPS);
    flow_set(&f, "gain", "0");
    flow_start(&f);
    assert_int_equal(flow_ack(&f, 1000, marked), 5000);
    assert_int_equal(flow_ack(&f, 9000, marked), 5000);
    assert_int_equal(flow_ack(&f, 1, marked), 2500);
    assert_int_equal(f.sent_to, 15000);
    assert_int_equal(flow_ack(&f, 5000, marked), 2000); /* not 1250 but two segments */

    flow_set(&f, "alpha", "0.5");
    flow_set(&f, "min_window", "8KB");
    flow_start(&f);
    assert_int_equal(flow_ack(&f, 1000, marked), 8000); /* 7500 */
    /* After a cut: congestion avoidance. */
    assert_int_equal(flow_ack(&f, 9000, plain), 8000);
    assert_int_equal(flow_ack(&f, 7999, plain), 8000);
    assert_int_equal(flow_ack(&f, 1, plain), 9000);
}

/* alpha decays by 15/16 per unmarked window from 1: after n of them a cut leaves
 * W (1 - (15/16)^n / 2), and with marks on everything it goes back up. */
static void alpha_decays(void **unused)
{
    (void)unused;
    for (uint32_t n_windows = 0; n_windows <= 60; n_windows += 20) {
        struct tested_flow f;
        double alpha = 1;
        flow_setup(&f, &xoff_rp_dctcp, 10 * XOFF_GBPS);
        flow_set(&f, "initial_window", "1MB");
        flow_start(&f);
        for (uint32_t n = 0; n < n_windows; n++, alpha *= 0.9375)
            flow_ack(&f, 1000000 + (n > 0), (struct xoff_rp_ack){0});
        alpha = alpha * 0.9375 + 1. / 16;
        flow_ack(&f, 1000000, (struct xoff_rp_ack){.is_marked = true});
        const double expected = 1e6 * (1 - alpha / 2);
        assert_true((double)f.answer.window_bytes > expected - 2);
        assert_true((double)f.answer.window_bytes < expected + 2);
    }
}

static void losses_are_those_of_tcp(void **unused)
{
    (void)unused;
    struct tested_flow f;
    start(&f);
    assert_int_equal(flow_lose(&f, XOFF_RP_LOST), 5000);
    assert_int_equal(flow_ack(&f, 10000, marked), 5000); /* answered by the halving */
    assert_int_equal(flow_lose(&f, XOFF_RP_TIMEOUT), 1000);
    assert_int_equal(flow_ack(&f, 1000, plain), 2000);
    assert_int_equal(flow_ack(&f, 1000, plain), 2500); /* half of 5000 */
}

static void refusals(void **unused)
{
    (void)unused;
    struct tested_flow f;
    flow_setup(&f, &xoff_rp_dctcp, XOFF_GBPS);
    flow_set(&f, "min_window", "10KB");
    expect_accepted(&f);
    flow_set(&f, "min_window", "10001B");
    expect_refused(&f, XOFF_E_CONFLICT, "min_window", "first one, 10KB");
    flow_set(&f, "min_window", "999B");
    expect_refused(&f, XOFF_E_RANGE, "min_window", "1KB");
    flow_set(&f, "min_window", "auto");
    flow_set(&f, "initial_window", "999B");
    expect_refused(&f, XOFF_E_RANGE, "initial_window", "1KB");
    flow_set(&f, "initial_window", "1KB");
    expect_accepted(&f);
    static const char *const shares[] = {"gain", "alpha"};
    struct xoff_err err;
    for (size_t i = 0; i < COUNT(shares); i++)
        assert_int_equal(xoff_param_set(xoff_param_find(xoff_rp_dctcp.params, shares[i]), f.params,
                                        "1.001", &err),
                         -XOFF_E_RANGE);
}

/* Every ACK is kept; each observation is recounted from the first, and the alpha of an instant is
 * folded over the shares of all observations ended by then. */
enum { N_ACKS = 500 };
struct kept {
    uint64_t acked_to, sent_to, bytes;
    bool is_marked;
};

static double model_alpha(const struct kept *acks, size_t n)
{
    double alpha = 1, bytes = 0, n_marked = 0;
    uint64_t ends_beyond = 0;
    for (size_t i = 0; i < n; i++) {
        bytes += (double)acks[i].bytes;
        n_marked += acks[i].is_marked ? (double)acks[i].bytes : 0;
        if (acks[i].acked_to > ends_beyond) {
            alpha += (n_marked / bytes - alpha) / 16;
            bytes = n_marked = 0;
            ends_beyond = acks[i].sent_to;
        }
    }
    return alpha;
}

/* Windows without growth: only cuts, each measured against the model's alpha. */
static void equals_the_model(void **unused)
{
    (void)unused;
    static struct kept acks[N_ACKS];
    size_t n_cuts = 0;
    for (uint32_t seed = 1; seed <= 30; seed++) {
        struct xoff_rng rng;
        struct tested_flow f;
        uint64_t cut_to = 0;
        xoff_rng_init(&rng, seed, 0, 0);
        flow_setup(&f, &xoff_rp_dctcp, 10 * XOFF_GBPS);
        flow_set(&f, "initial_window", "1GB");
        flow_start(&f);
        f.sent_to = 0;
        for (size_t n = 0; n < N_ACKS; n++) {
            const uint64_t bytes = 1 + xoff_rng_below(&rng, 3000), before = f.answer.window_bytes;
            if (f.sent_to < f.acked_to + bytes || xoff_rng_below(&rng, 4) == 0)
                f.sent_to = f.acked_to + bytes + xoff_rng_below(&rng, 20000);
            acks[n] = (struct kept){.acked_to = f.acked_to + bytes,
                                    .sent_to = f.sent_to,
                                    .bytes = bytes,
                                    .is_marked = xoff_rng_below(&rng, 40) < seed};
            const uint64_t sent_to = f.sent_to;
            flow_ack(&f, bytes, (struct xoff_rp_ack){.is_marked = acks[n].is_marked});
            f.sent_to = sent_to; /* the sender has little to send, not a full window */
            double expected = (double)before;
            if (acks[n].is_marked && acks[n].acked_to > cut_to) {
                expected -= expected * model_alpha(acks, n + 1) / 2;
                expected = expected < 2000 ? 2000 : expected;
                cut_to = sent_to;
                n_cuts++;
            }
            if ((double)f.answer.window_bytes < expected - 1.001 ||
                (double)f.answer.window_bytes > expected + 0.001)
                fail_msg("seed %u ack %zu: %ju, model %g", seed, n,
                         (uintmax_t)f.answer.window_bytes, expected);
        }
    }
    assert_true(n_cuts > 500);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(worked_example),
        cmocka_unit_test(observation_ends_beyond_what_was_sent),
        cmocka_unit_test(share_of_bytes_or_frames),
        cmocka_unit_test(alpha_comes_before_the_cut),
        cmocka_unit_test(cut_once_per_window),
        cmocka_unit_test(alpha_decays),
        cmocka_unit_test(losses_are_those_of_tcp),
        cmocka_unit_test(refusals),
        cmocka_unit_test(equals_the_model),
    };
    return cmocka_run_group_tests_name("dctcp", tests, NULL, NULL);
}
