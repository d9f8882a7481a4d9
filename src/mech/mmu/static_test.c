/* Fixed thresholds: each from both sides, the defaults worked by hand, and random traffic against a
 * slow model.
 *
 * Unless a test says otherwise the switch has four ports and priority 3 lossless, with xoff 5000,
 * xon 2000, headroom 3000 and a limit of 4000 for each of the 28 lossy egress queues:
 * 4 * 8000 + 28 * 4000 = 144000 bytes in all.
 */
#include "mech/mmu/mmu_testing.h"

#include "mech/mechanisms.h"

#define LOSSLESS_3 0x08

static void setup_small(struct bench *b)
{
    bench_setup(b, &xoff_mmu_static, LOSSLESS_3, 144000);
    bench_set(b, "xoff", "5000B");
    bench_set(b, "xon", "2000B");
    bench_set(b, "egress_limit", "4000B");
}

/* Up to a loss and down again in frames of 1500 bytes. */
static void test_trace_of_one_queue(void **unused)
{
    (void)unused;
    struct bench b;
    setup_small(&b);
    bench_start(&b);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(bench_arrive(&b, 0, 1, 3, 1500), XOFF_POOL_RESERVED);
        expect_no_crossing(&b);
    }
    /* 6000 >= 5000: XOFF, 1000 bytes lie in headroom. */
    assert_int_equal(bench_arrive(&b, 0, 1, 3, 1500), XOFF_POOL_HEADROOM);
    expect_crossing(&b, 1, 6000, 5000);
    expect_used(&b, 5000, 0, 1000);
    /* 7500, then 9000 > 8000. */
    assert_int_equal(bench_arrive(&b, 0, 1, 3, 1500), XOFF_POOL_HEADROOM);
    expect_no_crossing(&b);
    assert_int_equal(bench_arrive(&b, 0, 1, 3, 1500), XOFF_POOL_DROP);
    expect_no_crossing(&b);
    assert_int_equal(xoff_mmu_headroom_peak(&b.mmu, 0, 3), 2500);
    assert_int_equal(xoff_mmu_headroom_peak(&b.mmu, 0, 4), 0);
    /* 6000, 4500, 3000: not yet; 1500 <= 2000: XON. */
    for (int64_t left = 6000; left > 1500; left -= 1500) {
        bench_depart(&b, 0, 1, 3, 1500, XOFF_POOL_RESERVED);
        expect_no_crossing(&b);
        assert_int_equal(xoff_mmu_ingress_bytes(&b.mmu, 0, 3), left);
    }
    bench_depart(&b, 0, 1, 3, 1500, XOFF_POOL_HEADROOM);
    expect_crossing(&b, 0, 1500, 2000);
    bench_depart(&b, 0, 1, 3, 1500, XOFF_POOL_HEADROOM);
    expect_no_crossing(&b);
    expect_used(&b, 0, 0, 0);
    const struct xoff_mmu_view v = bench_view(&b);
    assert_int_equal(v.peak_total_bytes, 7500);
    assert_int_equal(v.peak_bytes[XOFF_POOL_RESERVED], 5000);
    assert_int_equal(v.peak_bytes[XOFF_POOL_HEADROOM], 2500);
    assert_int_equal(v.capacity_bytes[XOFF_POOL_RESERVED], 20000);
    assert_int_equal(v.capacity_bytes[XOFF_POOL_HEADROOM], 12000);
    assert_int_equal(v.capacity_bytes[XOFF_POOL_SHARED], 112000);
    bench_end(&b);
}

static void test_boundaries(void **unused)
{
    (void)unused;
    struct bench b;
    setup_small(&b);
    bench_start(&b);
    /* XOFF */
    bench_arrive(&b, 0, 1, 3, 4999);
    expect_no_crossing(&b);
    bench_restart(&b);
    assert_int_equal(bench_arrive(&b, 0, 1, 3, 5000), XOFF_POOL_RESERVED);
    expect_crossing(&b, 1, 5000, 5000);
    bench_restart(&b);
    assert_int_equal(bench_arrive(&b, 0, 1, 3, 5001), XOFF_POOL_HEADROOM);
    expect_crossing(&b, 1, 5001, 5000);
    /* XON */
    bench_depart(&b, 0, 1, 3, 3000, XOFF_POOL_HEADROOM);
    expect_no_crossing(&b);
    bench_depart(&b, 0, 1, 3, 1, XOFF_POOL_HEADROOM);
    expect_crossing(&b, 0, 2000, 2000);
    /* Limit */
    bench_arrive(&b, 0, 1, 3, 3000);
    assert_int_equal(bench_arrive(&b, 0, 1, 3, 3001), XOFF_POOL_DROP);
    assert_int_equal(bench_arrive(&b, 0, 1, 3, 3000), XOFF_POOL_HEADROOM);
    assert_int_equal(bench_arrive(&b, 0, 1, 3, 1), XOFF_POOL_DROP);
    /* A loss below xoff pauses when something is queued that will bring XON, else not. */
    bench_restart(&b);
    assert_int_equal(bench_arrive(&b, 0, 1, 3, 8001), XOFF_POOL_DROP);
    expect_no_crossing(&b);
    bench_arrive(&b, 0, 1, 3, 1);
    assert_int_equal(bench_arrive(&b, 0, 1, 3, 8000), XOFF_POOL_DROP);
    expect_crossing(&b, 1, 8001, 5000);
    bench_depart(&b, 0, 1, 3, 1, XOFF_POOL_RESERVED);
    expect_crossing(&b, 0, 0, 2000);
    bench_end(&b);
}

static void test_lossy_boundary(void **unused)
{
    (void)unused;
    struct bench b;
    setup_small(&b);
    bench_start(&b);
    assert_int_equal(bench_arrive(&b, 0, 1, 0, 4001), XOFF_POOL_DROP);
    assert_int_equal(bench_arrive(&b, 0, 1, 0, 1000), XOFF_POOL_SHARED);
    assert_int_equal(bench_arrive(&b, 2, 1, 0, 3001), XOFF_POOL_DROP);
    assert_int_equal(bench_arrive(&b, 2, 1, 0, 3000), XOFF_POOL_SHARED);
    expect_no_crossing(&b);
    /* Other queues are not touched. */
    assert_int_equal(bench_arrive(&b, 2, 1, 1, 4000), XOFF_POOL_SHARED);
    assert_int_equal(bench_arrive(&b, 2, 3, 0, 4000), XOFF_POOL_SHARED);
    expect_used(&b, 0, 12000, 0);
    bench_end(&b);
}

/* One headroom per port: limits 5000 + 3000, 5000 + 1, 5000 + 70000, 5000 + 12. */
static void test_mixed_headrooms(void **unused)
{
    (void)unused;
    static const int64_t headrooms[] = {3000, 1, 70000, 12};
    struct bench b;
    setup_small(&b);
    b.env.buffer_bytes = 4 * 5000 + 73013 + 112000;
    for (uint32_t port = 0; port < 4; port++)
        b.ports[port].headroom_bytes = headrooms[port];
    bench_start(&b);
    for (uint16_t port = 0; port < 4; port++) {
        const uint32_t limit = 5000 + (uint32_t)headrooms[port];
        bench_restart(&b);
        assert_int_equal(bench_arrive(&b, port, 0, 3, limit + 1), XOFF_POOL_DROP);
        assert_int_equal(bench_arrive(&b, port, 0, 3, limit), XOFF_POOL_HEADROOM);
        assert_int_equal(xoff_mmu_headroom_peak(&b.mmu, port, 3), headrooms[port]);
    }
    bench_end(&b);
}

/* xoff and xon as they show in the first crossings of a queue filled byte by byte. */
static void find_thresholds(struct bench *b, uint8_t priority, int64_t *xoff, int64_t *xon)
{
    bench_restart(b);
    do
        bench_arrive(b, 0, 0, priority, 1);
    while (b->crossings.n == 0);
    *xoff = b->crossings.at[0].threshold_bytes;
    do
        bench_depart(b, 0, 0, priority, 1, XOFF_POOL_RESERVED);
    while (b->crossings.n == 0);
    *xon = b->crossings.at[0].threshold_bytes;
}

static void test_autos(void **unused)
{
    (void)unused;
    static const struct {
        uint8_t lossless;
        const char *xoff, *egress_limit;
        int64_t buffer, xoff_bytes, xon_bytes, lossy_capacity;
    } rows[] = {
        /* 172000 - 4 * 3000 = 160000: half is 80000, a quarter of that 20000; two frames less is
         * 2000, below half of 20000: xon 10000. The other half: 80000 / 28 = 2857, * 28 = 79996. */
        {LOSSLESS_3, "auto", "auto", 172000, 20000, 10000, 79996},
        /* 412000 - 12000 = 400000: 50000 each, xon 50000 - 18000. 200000 / 28 = 7142. */
        {LOSSLESS_3, "auto", "auto", 412000, 50000, 32000, 199976},
        /* All lossless: 256000 - 32 * 3000 = 160000, / 32 = 5000. */
        {0xff, "auto", "auto", 256000, 5000, 2500, 0},
        /* xoff given: lossy queues get 172000 - 12000 - 20000 = 140000, / 28 = 5000. */
        {LOSSLESS_3, "5000B", "auto", 172000, 5000, 2500, 140000},
        /* The limit given: lossless queues get 160000 - 28 * 1000 = 132000, / 4 = 33000. */
        {LOSSLESS_3, "auto", "1000B", 172000, 33000, 16500, 28000},
        /* Odd: 5001 - 2501. */
        {LOSSLESS_3, "5001B", "auto", 172000, 5001, 2500, 139972},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct bench b;
        int64_t xoff, xon;
        bench_setup(&b, &xoff_mmu_static, rows[i].lossless, rows[i].buffer);
        bench_set(&b, "xoff", rows[i].xoff);
        bench_set(&b, "egress_limit", rows[i].egress_limit);
        bench_start(&b);
        find_thresholds(&b, 3, &xoff, &xon);
        assert_int_equal(xoff, rows[i].xoff_bytes);
        assert_int_equal(xon, rows[i].xon_bytes);
        assert_int_equal(bench_view(&b).capacity_bytes[XOFF_POOL_SHARED], rows[i].lossy_capacity);
        bench_end(&b);
    }
    struct bench b;
    /* A receiver has one lossy queue per port: 172000 - 12000 - 4 * 5000 = 140000, / 4 = 35000. */
    bench_setup(&b, &xoff_mmu_static, LOSSLESS_3, 172000);
    bench_set(&b, "xoff", "5000B");
    b.env.has_one_lossy = true;
    bench_start(&b);
    assert_int_equal(bench_arrive(&b, 0, 1, 0, 35001), XOFF_POOL_DROP);
    assert_int_equal(bench_arrive(&b, 0, 1, 0, 35000), XOFF_POOL_SHARED);
    bench_end(&b);
    /* One without lossy priorities leaves all to the others: 256000 - 96000 = 160000, / 32. */
    bench_setup(&b, &xoff_mmu_static, 0xff, 256000);
    b.env.has_one_lossy = true;
    bench_start(&b);
    bench_arrive(&b, 0, 1, 3, 4999);
    expect_no_crossing(&b);
    bench_arrive(&b, 0, 1, 3, 1);
    expect_crossing(&b, 1, 5000, 5000);
    bench_end(&b);
    /* Nothing lossless: 32 queues of 1000, no headroom. */
    bench_setup(&b, &xoff_mmu_static, 0, 32000);
    bench_start(&b);
    assert_int_equal(bench_arrive(&b, 0, 1, 3, 1001), XOFF_POOL_DROP);
    assert_int_equal(bench_arrive(&b, 0, 1, 3, 1000), XOFF_POOL_SHARED);
    bench_end(&b);
}

static void test_refusals(void **unused)
{
    (void)unused;
    struct bench b;
    setup_small(&b);
    b.env.buffer_bytes = 143999;
    assert_int_equal(bench_configure(&b), -XOFF_E_CONFLICT);
    assert_string_equal(b.err.subject, "buffer");
    assert_non_null(strstr(b.err.message, "144000"));
    b.env.buffer_bytes = 144000;
    bench_start(&b);
    bench_end(&b);

    bench_set(&b, "xon", "5000B");
    assert_int_equal(bench_configure(&b), -XOFF_E_CONFLICT);
    assert_string_equal(b.err.subject, "xon");
    assert_non_null(strstr(b.err.message, "5000"));
    bench_set(&b, "xon", "4999B");
    bench_start(&b);
    bench_end(&b);

    /* Headroom alone eats the buffer: 12000, and one byte for each of 4 + 28 queues. */
    bench_setup(&b, &xoff_mmu_static, LOSSLESS_3, 12000);
    assert_int_equal(bench_configure(&b), -XOFF_E_CONFLICT);
    assert_non_null(strstr(b.err.message, "12032"));

    setup_small(&b);
    b.ports[0].headroom_bytes = 31840;
    bench_set(&b, "headroom", "0B");
    assert_int_equal(bench_configure(&b), -XOFF_E_RANGE);
    assert_string_equal(b.err.subject, "headroom");
    assert_non_null(strstr(b.err.message, "31840"));
    bench_set(&b, "headroom", "31839B");
    b.env.buffer_bytes = 20000 + 4 * 31840 + 112000;
    assert_int_equal(bench_configure(&b), -XOFF_E_RANGE);
    bench_set(&b, "headroom", "31840B");
    bench_start(&b);
    assert_string_equal(b.err.message, "");
    bench_end(&b);
    bench_set(&b, "headroom", "0B");
    bench_set(&b, "allow_loss", "true");
    bench_start(&b);
    assert_int_equal(b.err.code, XOFF_E_OK);
    assert_string_equal(b.err.subject, "headroom");
    assert_non_null(strstr(b.err.message, "31840B"));
    assert_int_equal(bench_arrive(&b, 0, 1, 3, 5001), XOFF_POOL_DROP);
    assert_int_equal(bench_arrive(&b, 0, 1, 3, 5000), XOFF_POOL_RESERVED);
    bench_end(&b);
}

/* Every set of lossless priorities: the model keeps the frames and adds them up for each question.
 */
static void test_random_traffic_against_model(void **unused)
{
    (void)unused;
    static struct traffic t;
    uint64_t n_pools[XOFF_N_POOLS] = {0}, n_xoff = 0;
    for (uint32_t lossless = 0; lossless < 256; lossless++) {
        struct bench b;
        xoff_rng_init(&t.rng, 7, lossless, 2);
        bench_setup(&b, &xoff_mmu_static, (uint8_t)lossless, 1000000);
        const int64_t xoff = 500 + (int64_t)xoff_rng_below(&t.rng, 4000);
        const int64_t xon = (int64_t)xoff_rng_below(&t.rng, (uint64_t)xoff);
        const int64_t egress_limit = 1000 + (int64_t)xoff_rng_below(&t.rng, 8000);
        for (uint32_t port = 0; port < 4; port++)
            b.ports[port].headroom_bytes = 1 + (int64_t)xoff_rng_below(&t.rng, 5000);
        bench_set_bytes(&b, "xoff", xoff);
        bench_set_bytes(&b, "xon", xon);
        bench_set_bytes(&b, "egress_limit", egress_limit);
        bench_start(&b);
        for (uint32_t step = 0; step < 1500 || t.n > 0; step++) {
            const uint32_t arrivals_in_8 = step >= 1500 ? 0 : step / 100 % 2 ? 2 : 7;
            const bool arrives = t.n < MAX_FRAMES && xoff_rng_below(&t.rng, 8) < arrivals_in_8;
            if (!arrives && t.n == 0)
                continue;
            struct traffic_frame f = arrives ? traffic_next(&t, &b) : traffic_take(&t);
            const bool is_lossless = lossless >> f.priority & 1;
            const bool was_above = b.above[f.in_port][f.priority];
            int64_t held = 0, egress = 0; /* without this frame */
            for (uint32_t i = 0; i < t.n; i++) {
                const struct traffic_frame *g = &t.frames[i];
                held += g->in_port == f.in_port && g->priority == f.priority ? g->bytes : 0;
                egress += g->out_port == f.out_port && g->priority == f.priority ? g->bytes : 0;
            }
            bool crosses;
            if (arrives) {
                const bool fits = is_lossless
                                      ? held + f.bytes <= xoff + b.ports[f.in_port].headroom_bytes
                                      : egress + f.bytes <= egress_limit;
                f.pool = !fits                    ? XOFF_POOL_DROP
                         : !is_lossless           ? XOFF_POOL_SHARED
                         : held + f.bytes <= xoff ? XOFF_POOL_RESERVED
                                                  : XOFF_POOL_HEADROOM;
                crosses = is_lossless && !was_above && (!fits || held + f.bytes >= xoff) &&
                          (fits || held > 0);
                assert_int_equal(bench_arrive(&b, f.in_port, f.out_port, f.priority, f.bytes),
                                 f.pool);
                if (fits)
                    t.frames[t.n++] = f;
            } else {
                crosses = was_above && held <= xon;
                bench_depart(&b, f.in_port, f.out_port, f.priority, f.bytes, f.pool);
            }
            assert_int_equal(b.crossings.n, crosses);
        }
        expect_used(&b, 0, 0, 0);
        assert_int_equal(b.n_xoff, b.n_xon);
        for (int pool = 0; pool < XOFF_N_POOLS; pool++)
            n_pools[pool] += b.n_pools[pool];
        n_xoff += b.n_xoff;
        bench_end(&b);
    }
    for (int pool = 0; pool <= XOFF_POOL_HEADROOM; pool++)
        assert_true(n_pools[pool] > 2000);
    assert_int_equal(n_pools[XOFF_POOL_INSURANCE], 0);
    assert_true(n_xoff > 2000);
}

static bool is_quiet(const struct bench *b, int64_t bytes)
{
    return b->mmu.ops->is_quiet(b->mmu.cfg, b->mmu.state, bytes);
}

/* Of each limit the last byte that is quiet, and the next one. */
static void test_quiet(void **unused)
{
    (void)unused;
    struct bench b;
    setup_small(&b);
    bench_start(&b);
    assert_true(is_quiet(&b, 4000)); /* a lossy queue takes 4000 */
    assert_false(is_quiet(&b, 4001));
    /* The queue of another priority and of another port count by themselves. */
    for (uint16_t port = 0; port < 3; port++)
        assert_int_equal(bench_arrive(&b, port, 3, 3, 1500), XOFF_POOL_RESERVED);
    assert_true(is_quiet(&b, 2500));
    assert_false(is_quiet(&b, 2501));
    /* Above xon a departure might cross it. */
    assert_int_equal(bench_arrive(&b, 0, 3, 3, 500), XOFF_POOL_RESERVED);
    assert_true(is_quiet(&b, 0));
    assert_int_equal(bench_arrive(&b, 0, 3, 3, 1), XOFF_POOL_RESERVED);
    assert_false(is_quiet(&b, 0));
    bench_end(&b);

    setup_small(&b); /* xoff is reached by the last byte below it and one more */
    bench_set(&b, "egress_limit", "4999B");
    b.env.buffer_bytes = 4 * 8000 + 28 * 4999;
    bench_start(&b);
    assert_true(is_quiet(&b, 4999));
    assert_false(is_quiet(&b, 5000));
    bench_end(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_trace_of_one_queue),
        cmocka_unit_test(test_quiet),
        cmocka_unit_test(test_boundaries),
        cmocka_unit_test(test_lossy_boundary),
        cmocka_unit_test(test_mixed_headrooms),
        cmocka_unit_test(test_autos),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_random_traffic_against_model),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
