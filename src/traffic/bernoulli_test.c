/* Kind bernoulli: slots, load, geometric gaps, a rate that does not divide evenly. */
#include "traffic/traffic_testing.h"

#include "traffic/draw.h"

/* At 100G a byte takes 80 ps: a slot is 1538 * 80 = 123 040 ps. Of 1 s it has 8 127 439; at
 * 0.05 a frame is offered in 406 372 of them. */
static void load_and_slots(void **unused)
{
    (void)unused;
    struct bench *b = bench_create(2, 100 * XOFF_GBPS, XOFF_S);
    struct record r = bench_offers(b, "bernoulli", "from=h0; to=h1; load=0.05; start=7ps");
    double sum = 0, squares = 0, next_slot = 0;
    assert_near((double)r.n, 406372, 0.01);
    for (size_t i = 0; i < r.n; i++) {
        const xoff_time since = r.seen[i].at - 7;
        const xoff_time gap = since - (i ? r.seen[i - 1].at - 7 : -123040);
        assert_int_equal(since % 123040, 0);
        assert_true(gap > 0);
        sum += (double)(gap / 123040);
        squares += (double)(gap / 123040) * (double)(gap / 123040);
        next_slot += gap == 123040;
        assert_int_equal(r.seen[i].offer.bytes, FRAME - HEADER);
        assert_int_equal(r.seen[i].offer.frame_bytes, FRAME);
        assert_true(r.seen[i].offer.continues && r.seen[i].offer.connection == 0);
    }
    /* Geometric: mean 1/p = 20, second moment (2 - p)/p^2 = 780, P(1) = p. */
    const double n = (double)r.n;
    assert_near(sum / n, 20, 0.01);
    assert_near(squares / n, 780, 0.02);
    assert_near(next_slot / n, 0.05, 0.02);
    record_fini(&r);
    bench_fini(b);
}

/* At load 1 every slot is used, the first at start, the last before stop: ceil(1 ms / 123 040 ps) =
 * 8128. One slot less when stop is where the last begins: 8127 * 123 040 = 999 946 080. */
static void full_load(void **unused)
{
    (void)unused;
    struct bench *b = bench_create(2, 100 * XOFF_GBPS, 10 * XOFF_MS);
    struct record r = bench_offers(b, "bernoulli", "from=h0; to=h1; load=1; stop=1ms");
    assert_int_equal(r.n, 8128);
    for (size_t i = 0; i < r.n; i++)
        assert_int_equal(r.seen[i].at, (xoff_time)i * 123040);
    record_fini(&r);
    r = bench_offers(b, "bernoulli", "from=h0; to=h1; load=1; stop=999946081ps");
    assert_int_equal(r.n, 8128);
    record_fini(&r);
    r = bench_offers(b, "bernoulli", "from=h0; to=h1; load=1; stop=999946080ps");
    assert_int_equal(r.n, 8127);
    record_fini(&r);
    bench_fini(b);
}

/* 7 bps short of even: slot n begins at floor(n * 12304 * 10^12 / rate), without drift. */
static void odd_rate(void **unused)
{
    (void)unused;
    const xoff_rate rate = 30000000007;
    struct bench *b = bench_create(2, rate, 100 * XOFF_MS);
    struct record r = bench_offers(b, "bernoulli", "from=h0; to=h1; load=1");
    for (size_t i = 0; i < r.n; i++) {
        const unsigned __int128 bits = (unsigned __int128)i * 12304 * (uint64_t)XOFF_S;
        assert_int_equal(r.seen[i].at, (xoff_time)(bits / rate));
    }
    /* 0.1 s * 30000000007 / 12304 = 243823.15: 243824 slots begin. */
    assert_int_equal(r.n, 243824);
    record_fini(&r);
    bench_fini(b);
}

/* Load of drawn receivers, per host and spread evenly. */
static void uniform_receivers(void **unused)
{
    (void)unused;
    uint32_t count[4][4] = {{0}};
    struct bench *b = bench_create(4, 10 * XOFF_GBPS, XOFF_S);
    struct record r = bench_offers(b, "bernoulli", "load=0.3");
    for (size_t i = 0; i < r.n; i++) {
        assert_false(r.seen[i].offer.continues);
        count[r.seen[i].host][r.seen[i].offer.to]++;
    }
    for (uint32_t i = 0; i < 4; i++)
        for (uint32_t k = 0; k < 4; k++)
            if (i != k)
                assert_near(count[i][k], 812744 * 0.3 / 3, 0.015);
    record_fini(&r);
    bench_fini(b);
}

/* A load so small that nothing comes in the run, and the ends of the draw itself. */
static void rare(void **unused)
{
    (void)unused;
    struct bench *b = bench_create(2, 100 * XOFF_GBPS, XOFF_MS);
    struct record r = bench_offers(b, "bernoulli", "from=h0; to=h1; load=1e-300");
    assert_int_equal(r.n, 0);
    record_fini(&r);
    bench_fini(b);
    struct xoff_rng rng;
    xoff_rng_init(&rng, 1, 2, 3);
    assert_int_equal(draw_geometric(&rng, 0), 1);
    assert_int_equal(rng.counter, 0);
    assert_int_equal(draw_geometric(&rng, draw_log_miss(1e-300)), UINT64_C(1) << 62);
    /* The series and the logarithm agree where they meet. */
    assert_near(-draw_log_miss(0x1p-10 * 0.999999999), -xoff_log(1 - 0x1p-10 * 0.999999999), 1e-12);
    assert_near(-draw_log_miss(0x1p-10), 0x1p-10 * (1 + 0x1p-11 + 0x1p-20 / 3), 1e-9);
}

static void bad_parameters(void **unused)
{
    (void)unused;
    struct bench *b = bench_create(4, 100 * XOFF_GBPS, XOFF_MS);
    bench_refuses(b, "bernoulli", "to=h1", "load", XOFF_E_RANGE);
    bench_refuses(b, "bernoulli", "load=0.5; to=h1; frame=9KB", "frame", XOFF_E_RANGE);
    bench_refuses(b, "bernoulli", "load=0.5; to=h7", "to", XOFF_E_UNKNOWN);
    bench_refuses(b, "bernoulli", "load=0.5; from=h1; to=h1", "to", XOFF_E_CONFLICT);
    b->env.header_bytes = 100; /* a frame must have room for payload */
    bench_refuses(b, "bernoulli", "load=0.5; to=h1; frame=100B", "frame", XOFF_E_RANGE);
    assert_int_equal(bench_bind(b, "bernoulli", "load=0.5; to=h1; frame=101B"), 0);
    bench_fini(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(load_and_slots), cmocka_unit_test(full_load),
        cmocka_unit_test(odd_rate),       cmocka_unit_test(uniform_receivers),
        cmocka_unit_test(rare),           cmocka_unit_test(bad_parameters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
