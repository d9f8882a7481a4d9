/* Kind incast: times and sizes to the byte and picosecond, choice of senders, rounds, jitter. */
#include "traffic/traffic_testing.h"

static void once(void **unused)
{
    (void)unused;
    struct bench *b = bench_create(8, 100 * XOFF_GBPS, 10 * XOFF_MS);
    struct record r = bench_offers(
        b, "incast", "to=h3; size=64KB; at=1ms; priority=3; transport=none; rate=40Gbps");
    assert_int_equal(r.n, 7);
    for (uint32_t i = 0; i < 7; i++) {
        assert_int_equal(r.seen[i].host, i < 3 ? i : i + 1);
        assert_int_equal(r.seen[i].at, XOFF_MS);
        assert_int_equal(r.seen[i].offer.to, 3);
        assert_int_equal(r.seen[i].offer.bytes, 64000);
        assert_int_equal(r.seen[i].offer.rate_bps, 40 * XOFF_GBPS);
        assert_int_equal(r.seen[i].offer.priority, 3);
        assert_int_equal(r.seen[i].offer.transport, RELIABLE);
        assert_false(r.seen[i].offer.continues);
    }
    record_fini(&r);
    bench_fini(b);
}

/* Sixteen of 63 by the seed: different, without the receiver, others for another seed, each host as
 * likely: 400 seeds choose each 400 * 16/63 = 101.6 times, deviation 8.7. */
static void chosen_senders(void **unused)
{
    (void)unused;
    uint32_t count[64] = {0};
    struct bench *b = bench_create(64, 100 * XOFF_GBPS, XOFF_MS);
    for (uint64_t seed = 0; seed < 400; seed++) {
        bool taken[64] = {false};
        b->env.seed = seed;
        struct record r = bench_offers(b, "incast", "to=h10; size=1KB; senders=16");
        assert_int_equal(r.n, 16);
        for (size_t i = 0; i < r.n; i++) {
            assert_false(taken[r.seen[i].host]);
            taken[r.seen[i].host] = true;
            count[r.seen[i].host]++;
        }
        record_fini(&r);
    }
    assert_int_equal(count[10], 0);
    for (uint32_t i = 0; i < 64; i++)
        assert_true(i == 10 || (count[i] > 66 && count[i] < 137));
    bench_fini(b);
}

/* Every 2 ms from 1 ms on: 1, 3, 5, 7, 9 ms before a stop at 10 ms; three rounds if so stated; a
 * stop at 9 ms leaves four. */
static void rounds(void **unused)
{
    (void)unused;
    static const struct {
        const char *settings;
        xoff_time stop;
        size_t n;
    } rows[] = {
        {"from=h0; to=h1; size=1KB; at=1ms; every=2ms", 10 * XOFF_MS, 5},
        {"from=h0; to=h1; size=1KB; at=1ms; every=2ms; count=3", 10 * XOFF_MS, 3},
        {"from=h0; to=h1; size=1KB; at=1ms; every=2ms; count=9", 10 * XOFF_MS, 5},
        {"from=h0; to=h1; size=1KB; at=1ms; every=2ms", 9 * XOFF_MS, 4},
        {"from=h0; to=h1; size=1KB; at=1ms; every=2ms", 9 * XOFF_MS + 1, 5},
        {"from=h0; to=h1; size=1KB; at=1ms; count=1", 9 * XOFF_MS, 1},
        {"from=h0; to=h1; size=1KB; at=9ms", 9 * XOFF_MS, 0},
    };
    struct bench *b = bench_create(2, 100 * XOFF_GBPS, XOFF_MS);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        b->env.stop = rows[i].stop;
        struct record r = bench_offers(b, "incast", rows[i].settings);
        assert_int_equal(r.n, rows[i].n);
        for (size_t k = 0; k < r.n; k++)
            assert_int_equal(r.seen[k].at, XOFF_MS + (xoff_time)k * 2 * XOFF_MS);
        record_fini(&r);
    }
    bench_fini(b);
}

/* Jitter is uniform in [0, 100 us] around each round, by host and round: mean 50 us, deviation of
 * the mean of 15 * 500 draws 0.33 us. */
static void jitter(void **unused)
{
    (void)unused;
    struct bench *b = bench_create(16, 100 * XOFF_GBPS, 500 * XOFF_MS);
    struct record r = bench_offers(b, "incast", "to=h0; size=1KB; every=1ms; jitter=100us");
    double sum = 0;
    size_t n_same = 0;
    xoff_time least = XOFF_NEVER, most = 0;
    assert_int_equal(r.n, 15 * 500);
    for (size_t i = 0; i < r.n; i++) {
        const xoff_time late = r.seen[i].at - (xoff_time)(i % 500) * XOFF_MS;
        assert_true(late >= 0 && late <= 100 * XOFF_US);
        least = late < least ? late : least;
        most = late > most ? late : most;
        sum += (double)late;
        n_same += i >= 500 && r.seen[i].at == r.seen[i - 500].at;
    }
    assert_near(sum / 7500, 50e6, 0.03);
    assert_true(least < XOFF_US && most > 99 * XOFF_US && n_same < 3);
    record_fini(&r);
    /* Late enough to miss the stop is not offered: the last round has half of its flows. */
    b->env.stop = 10 * XOFF_MS + 50 * XOFF_US;
    r = bench_offers(b, "incast", "to=h0; size=1KB; at=10ms; jitter=100us");
    assert_true(r.n > 1 && r.n < 14);
    for (size_t i = 0; i < r.n; i++)
        assert_true(r.seen[i].at < b->env.stop);
    record_fini(&r);
    bench_fini(b);
}

static void bad_parameters(void **unused)
{
    (void)unused;
    struct bench *b = bench_create(4, 100 * XOFF_GBPS, XOFF_MS);
    bench_refuses(b, "incast", "size=1KB", "to", XOFF_E_MISSING);
    bench_refuses(b, "incast", "to=h1,h2; size=1KB", "to", XOFF_E_RANGE);
    bench_refuses(b, "incast", "to=h7; size=1KB", "to", XOFF_E_UNKNOWN);
    bench_refuses(b, "incast", "to=h1", "size", XOFF_E_RANGE);
    bench_refuses(b, "incast", "from=h1; to=h1; size=1KB", "to", XOFF_E_CONFLICT);
    bench_refuses(b, "incast", "from=h8; to=h1; size=1KB", "from", XOFF_E_UNKNOWN);
    bench_refuses(b, "incast", "to=h1; size=1KB; senders=4", "senders", XOFF_E_RANGE);
    assert_int_equal(bench_bind(b, "incast", "to=h1; size=1KB; senders=3"), 0);
    bench_refuses(b, "incast", "to=h1; size=1KB; count=2", "count", XOFF_E_CONFLICT);
    bench_refuses(b, "incast", "to=h1; size=1KB; every=1us; jitter=1000001ps", "jitter",
                  XOFF_E_CONFLICT);
    assert_int_equal(bench_bind(b, "incast", "to=h1; size=1KB; every=1us; jitter=1us"), 0);
    bench_refuses(b, "incast", "to=h1; size=1KB; rate=101Gbps", "rate", XOFF_E_RANGE);
    bench_fini(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(once),   cmocka_unit_test(chosen_senders), cmocka_unit_test(rounds),
        cmocka_unit_test(jitter), cmocka_unit_test(bad_parameters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
