/* Who sends to whom, seen through kind cbr, and cbr itself: rates, whole frames, the end. */
#include "traffic/traffic_testing.h"

/* One flow per sender, in order of senders. */
static void expect_pairs(struct bench *b, const char *settings, const uint32_t (*pairs)[2],
                         size_t n)
{
    struct record r = bench_offers(b, "cbr", settings);
    if (r.n != n)
        fail_msg("%s: %zu flows, not %zu", settings, r.n, n);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(r.seen[i].host, pairs[i][0]);
        assert_int_equal(r.seen[i].offer.to, pairs[i][1]);
    }
    record_fini(&r);
}

static void patterns(void **unused)
{
    (void)unused;
    struct bench *b = bench_create(6, 100 * XOFF_GBPS, XOFF_MS);
    static const uint32_t pairs[][2] = {{0, 3}, {1, 4}, {2, 5}};
    expect_pairs(b, "from=h0..h2; to=h3..h5", pairs, 3);
    expect_pairs(b, "from=h0..h2; to=h3..h5; pattern=pairs", pairs, 3);
    /* Sets are in host order, however written. */
    expect_pairs(b, "from=h2,h1,h0; to=h5,h3,h4; pattern=pairs", pairs, 3);
    static const uint32_t shifted[][2] = {{0, 2}, {1, 3}, {2, 4}, {3, 5}, {4, 0}, {5, 1}};
    expect_pairs(b, "pattern=shift; shift=2", shifted, 6);
    expect_pairs(b, "pattern=shift; shift=8", shifted, 6); /* round about */
    static const uint32_t onto_two[][2] = {{0, 5}, {1, 4}, {2, 5}};
    expect_pairs(b, "from=h0..h2; to=h4,h5; pattern=shift; shift=1", onto_two, 3);
    static const uint32_t to_one[][2] = {{0, 2}, {1, 2}, {3, 2}, {4, 2}, {5, 2}};
    expect_pairs(b, "to=h2", to_one, 5);
    expect_pairs(b, "to=h2; pattern=all-to-one", to_one, 5);
    static const uint32_t single[][2] = {{4, 2}};
    expect_pairs(b, "from=h4; to=h2", single, 1);
    expect_pairs(b, "from=h4; to=h2; pattern=pairs", single, 1);
    bench_fini(b);
}

/* Random receivers: never oneself, all of them occur, by the seed and the entry. */
static void random_receivers(void **unused)
{
    (void)unused;
    struct bench *b = bench_create(200, 100 * XOFF_GBPS, XOFF_MS);
    struct record one = bench_offers(b, "cbr", "pattern=random; to=h0..h9");
    uint32_t count[10] = {0};
    assert_int_equal(one.n, 200);
    for (size_t i = 0; i < one.n; i++)
        count[one.seen[i].offer.to]++;
    for (uint32_t i = 0; i < 10; i++)
        assert_true(count[i] > 5 && count[i] < 40);
    struct record same = bench_offers(b, "cbr", "pattern=random; to=h0..h9");
    assert_memory_equal(same.seen, one.seen, one.n * sizeof *one.seen);
    record_fini(&same);
    for (int change = 0; change < 2; change++) {
        b->env.seed = change ? 1 : 2;
        b->env.index = change ? 4 : 3;
        struct record other = bench_offers(b, "cbr", "pattern=random; to=h0..h9");
        size_t n_equal = 0;
        for (size_t i = 0; i < other.n; i++)
            n_equal += other.seen[i].offer.to == one.seen[i].offer.to;
        assert_true(n_equal < 60); /* 20 by chance */
        record_fini(&other);
    }
    record_fini(&one);
    bench_fini(b);
}

/* A flow as long as the run is without end. */
static void endless(void **unused)
{
    (void)unused;
    struct bench *b = bench_create(2, 100 * XOFF_GBPS, XOFF_MS);
    static const char *const settings[] = {
        "from=h0; to=h1; rate=10Gbps; start=3us; priority=5; frame=1000B",
        "from=h0; to=h1; rate=10Gbps; start=3us; priority=5; frame=1000B; stop=1ms",
        "from=h0; to=h1; rate=10Gbps; start=3us; priority=5; frame=1000B; stop=1s",
    };
    for (size_t i = 0; i < 3; i++) {
        struct record r = bench_offers(b, "cbr", settings[i]);
        assert_int_equal(r.n, 1);
        assert_int_equal(r.seen[0].at, 3 * XOFF_US);
        assert_true(r.seen[0].offer.bytes == UINT64_MAX);
        assert_int_equal(r.seen[0].offer.rate_bps, 10 * XOFF_GBPS);
        assert_int_equal(r.seen[0].offer.frame_bytes, 1000);
        assert_int_equal(r.seen[0].offer.priority, 5);
        assert_false(r.seen[0].offer.continues);
        record_fini(&r);
    }
    /* A start at or behind the run's stop offers nothing. */
    struct record r = bench_offers(b, "cbr", "from=h0; to=h1; start=1ms");
    assert_int_equal(r.n, 0);
    bench_fini(b);
}

/* 1000 B at 10G are 800 ns. In 8 us there start 10 frames, 0 to 9 times 800 ns; one picosecond more
 * and the eleventh starts too. At line rate a frame takes 1020 B, 81 600 ps at 100G. */
static void whole_frames(void **unused)
{
    (void)unused;
    static const struct {
        const char *settings;
        uint64_t n_frames;
    } rows[] = {
        {"from=h0; to=h1; rate=10Gbps; frame=1000B; start=1us; stop=9us", 10},
        {"from=h0; to=h1; rate=10Gbps; frame=1000B; start=1us; stop=9000001ps", 11},
        {"from=h0; to=h1; rate=10Gbps; frame=1000B; start=1us; stop=1000001ps", 1},
        {"from=h0; to=h1; frame=1000B; stop=816ns", 10},
        {"from=h0; to=h1; frame=1000B; stop=816001ps", 11},
    };
    struct bench *b = bench_create(2, 100 * XOFF_GBPS, XOFF_MS);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct record r = bench_offers(b, "cbr", rows[i].settings);
        assert_int_equal(r.n, 1);
        assert_int_equal(r.seen[0].offer.bytes, rows[i].n_frames * (1000 - HEADER));
        record_fini(&r);
    }
    bench_fini(b);
}

static void bad_parameters(void **unused)
{
    (void)unused;
    struct bench *b = bench_create(4, 100 * XOFF_GBPS, XOFF_MS);
    b->links[2].rate_bps = 25 * XOFF_GBPS;
    bench_refuses(b, "cbr", "", "to", XOFF_E_CONFLICT); /* everyone to itself */
    bench_refuses(b, "cbr", "from=h0,h1; to=h1..h3", "to", XOFF_E_CONFLICT);
    bench_refuses(b, "cbr", "from=h0,h2; to=h1,h2", "to", XOFF_E_CONFLICT);
    bench_refuses(b, "cbr", "from=h2; to=h2", "to", XOFF_E_CONFLICT);
    bench_refuses(b, "cbr", "pattern=shift; shift=4", "shift", XOFF_E_CONFLICT);
    bench_refuses(b, "cbr", "pattern=shift; shift=0", "to", XOFF_E_CONFLICT);
    bench_refuses(b, "cbr", "pattern=all-to-one; to=h1,h2", "to", XOFF_E_CONFLICT);
    bench_refuses(b, "cbr", "pattern=random; from=h1; to=h1", "to", XOFF_E_CONFLICT);
    bench_refuses(b, "cbr", "to=h1; rate=26Gbps", "rate", XOFF_E_RANGE);
    assert_non_null(strstr(b->err.message, "h2, 25Gbps"));
    assert_int_equal(bench_bind(b, "cbr", "to=h1; rate=25Gbps"), 0);
    assert_int_equal(bench_bind(b, "cbr", "to=h2; rate=100Gbps"), 0); /* it only receives */
    /* A link that gets faster later in the run may be given a pace for then. */
    b->change = (struct topo_change){
        .at = XOFF_US, .link = 2, .kind = TOPO_CHANGE_RATE, .rate_bps = 40 * XOFF_GBPS};
    b->topo.n_changes = 1;
    assert_int_equal(bench_bind(b, "cbr", "to=h1; rate=40Gbps"), 0);
    bench_refuses(b, "cbr", "to=h1; rate=41Gbps", "rate", XOFF_E_RANGE);
    bench_refuses(b, "cbr", "to=h1; frame=2KB", "frame", XOFF_E_RANGE);
    bench_refuses(b, "cbr", "to=h1; start=5us; stop=4us", "stop", XOFF_E_RANGE);
    bench_fini(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(patterns),       cmocka_unit_test(random_receivers),
        cmocka_unit_test(endless),        cmocka_unit_test(whole_frames),
        cmocka_unit_test(bad_parameters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
