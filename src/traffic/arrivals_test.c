/* Kinds poisson and frames: load as counted, exponential gaps, receivers, period, own streams. */
#include "traffic/traffic_testing.h"

static double payload_of(const struct record *r)
{
    double sum = 0;
    for (size_t i = 0; i < r->n; i++)
        sum += (double)r->seen[i].offer.bytes;
    return sum;
}

/* 8 hosts of 100G at 0.5 for 1 s offer 8 * 0.5 * 100e9 / 8 = 50 GB of payload; at a mean of
 * 100 KB these are 500 000 flows. */
static void load_of_flows(void **unused)
{
    (void)unused;
    struct bench *b = bench_create(8, 100 * XOFF_GBPS, XOFF_S);
    struct record r = bench_offers(b, "poisson", "load=0.5; sizes=exponential 100KB; priority=3");
    assert_near(payload_of(&r), 50e9, 0.01);
    assert_near((double)r.n, 500000, 0.01);
    for (size_t i = 0; i < r.n; i++) {
        assert_int_equal(r.seen[i].offer.priority, 3);
        assert_int_equal(r.seen[i].offer.transport, DATAGRAM);
        assert_false(r.seen[i].offer.continues);
        assert_true(r.seen[i].offer.rate_bps == 0 && r.seen[i].offer.frame_bytes == 0);
        assert_true(r.seen[i].at < XOFF_S);
    }
    record_fini(&r);
    /* Sizes of a heavy distribution: 8 hosts, 4 s at 0.8: 320 GB, 187 000 flows. */
    b->env.stop = 4 * XOFF_S;
    r = bench_offers(b, "poisson", "load=0.8; sizes=websearch");
    assert_near(payload_of(&r), 320e9, 0.01);
    record_fini(&r);
    bench_fini(b);
}

/* Gaps of one host: mean m = 8e5 bits / (0.5 * 100e9) = 16 us, deviation m as well, and a part 1/e
 * above m. */
static void gaps_are_exponential(void **unused)
{
    (void)unused;
    struct bench *b = bench_create(2, 100 * XOFF_GBPS, 4 * XOFF_S);
    struct record r = bench_offers(b, "poisson", "from=h0; to=h1; load=0.5; sizes=100KB");
    double sum = 0, squares = 0, above = 0;
    for (size_t i = 0; i < r.n; i++) {
        const double gap = (double)(r.seen[i].at - (i ? r.seen[i - 1].at : 0)) / 16e6;
        assert_int_equal(r.seen[i].host, 0);
        assert_int_equal(r.seen[i].offer.bytes, 100000);
        sum += gap;
        squares += gap * gap;
        above += gap > 1;
    }
    const double n = (double)r.n;
    assert_near(n, 250000, 0.01);
    assert_near(sum / n, 1, 0.01);
    assert_near(squares / n, 2, 0.02);
    assert_near(above / n, 0.36788, 0.01);
    record_fini(&r);
    bench_fini(b);
}

/* A flow every 20 us of all: 50 000 in 1 s. Each of four hosts has a quarter of them, whatever its
 * link, with exponential gaps of 80 us: the mean of their squares is twice the square of their
 * mean. */
static void flows_at_a_distance(void **unused)
{
    (void)unused;
    struct bench *b = bench_create(4, 100 * XOFF_GBPS, XOFF_S);
    b->links[1].rate_bps = 10 * XOFF_GBPS;
    struct record r = bench_offers(b, "poisson", "every=20us; sizes=1MB");
    double of_host[4] = {0}, squares = 0;
    assert_near((double)r.n, 50000, 0.015);
    for (size_t i = 0; i < r.n; i++) {
        const bool is_first = of_host[r.seen[i].host]++ == 0; /* they are in order of hosts */
        const double gap = (double)(r.seen[i].at - (is_first ? 0 : r.seen[i - 1].at)) / 80e6;
        squares += gap * gap;
    }
    for (uint32_t h = 0; h < 4; h++)
        assert_near(of_host[h], 12500, 0.03);
    assert_near(squares / (double)r.n, 2, 0.03);
    record_fini(&r);
    /* h2 has nobody to send to, and the others share the whole. */
    r = bench_offers(b, "poisson", "every=20us; sizes=1MB; to=h2");
    assert_int_equal(b->apps.n, 3);
    assert_near((double)r.n, 50000, 0.015);
    record_fini(&r);
    bench_fini(b);
}

/* Each of the other hosts of `to` is as likely; with one receiver the receiver itself is quiet. */
static void receivers_are_uniform(void **unused)
{
    (void)unused;
    uint32_t count[8][8] = {{0}};
    struct bench *b = bench_create(8, 100 * XOFF_GBPS, XOFF_S);
    struct record r = bench_offers(b, "poisson", "from=h0..h3; to=h2..h6; load=0.5; sizes=100KB");
    for (size_t i = 0; i < r.n; i++)
        count[r.seen[i].host][r.seen[i].offer.to]++;
    for (uint32_t from = 0; from < 4; from++) {
        const double n = 62500.0 / (from >= 2 ? 4 : 5);
        for (uint32_t to = 2; to <= 6; to++) {
            if (from != to)
                assert_near(count[from][to], n, 0.05);
        }
        assert_int_equal(count[from][from] + count[from][0] + count[from][1] + count[from][7], 0);
    }
    record_fini(&r);
    r = bench_offers(b, "poisson", "to=h5; load=0.1; sizes=1MB");
    assert_int_equal(b->apps.n, 7);
    for (size_t i = 0; i < r.n; i++)
        assert_int_equal(r.seen[i].offer.to, 5);
    record_fini(&r);
    bench_fini(b);
}

/* A slow host offers by its own link. */
static void load_follows_the_link(void **unused)
{
    (void)unused;
    struct bench *b = bench_create(2, 100 * XOFF_GBPS, XOFF_S);
    b->links[1].rate_bps = 10 * XOFF_GBPS;
    struct record r = bench_offers(b, "poisson", "load=0.8; sizes=10KB");
    double sum[2] = {0};
    for (size_t i = 0; i < r.n; i++)
        sum[r.seen[i].host] += (double)r.seen[i].offer.bytes;
    assert_near(sum[0], 10e9, 0.01);
    assert_near(sum[1], 1e9, 0.012);
    record_fini(&r);
    bench_fini(b);
}

/* Frames: load counts 1538 B of link time for each 1518 B frame: at 0.7 of 10G for 2 s there are
 * 0.7 * 2 * 10e9 / (1538 * 8) = 1 137 841 frames of 1456 B payload. */
static void frames_at_a_load(void **unused)
{
    (void)unused;
    struct bench *b = bench_create(3, 10 * XOFF_GBPS, 2 * XOFF_S);
    struct record r = bench_offers(b, "frames", "from=h0; to=h2; load=0.7");
    assert_near((double)r.n, 1137841, 0.005);
    for (size_t i = 0; i < r.n; i++) {
        assert_int_equal(r.seen[i].offer.bytes, FRAME - HEADER);
        assert_int_equal(r.seen[i].offer.frame_bytes, FRAME);
        assert_true(r.seen[i].offer.continues && r.seen[i].offer.connection == 0);
    }
    record_fini(&r);
    /* Small frames: 84 B of link time; drawn receivers make flows of one frame each. */
    b->env.stop = 20 * XOFF_MS;
    r = bench_offers(b, "frames", "from=h0; load=0.5; frame=64B");
    assert_near((double)r.n, 0.5 * 0.02 * 10e9 / 672, 0.01);
    uint32_t n_to[3] = {0};
    for (size_t i = 0; i < r.n; i++) {
        assert_int_equal(r.seen[i].offer.bytes, 2);
        assert_false(r.seen[i].offer.continues);
        n_to[r.seen[i].offer.to]++;
    }
    assert_near(n_to[1], n_to[2], 0.02);
    record_fini(&r);
    bench_fini(b);
}

/* Nothing before start, nothing from stop on; a period behind the run's end is empty. */
static void period(void **unused)
{
    (void)unused;
    struct bench *b = bench_create(4, 100 * XOFF_GBPS, 10 * XOFF_MS);
    struct record r =
        bench_offers(b, "poisson", "load=0.9; sizes=1KB; start=2ms; stop=3ms; transport=none");
    assert_near(payload_of(&r), 4 * 0.9 * 100e9 / 8 * 1e-3, 0.02);
    xoff_time first = XOFF_NEVER, last = 0;
    for (size_t i = 0; i < r.n; i++) {
        first = r.seen[i].at < first ? r.seen[i].at : first;
        last = r.seen[i].at > last ? r.seen[i].at : last;
        assert_int_equal(r.seen[i].offer.transport, RELIABLE);
    }
    assert_true(first >= 2 * XOFF_MS && first < 2 * XOFF_MS + XOFF_US);
    assert_true(last < 3 * XOFF_MS && last > 3 * XOFF_MS - XOFF_US);
    record_fini(&r);
    r = bench_offers(b, "poisson", "load=0.9; sizes=1KB; start=10ms");
    assert_int_equal(r.n, 0);
    record_fini(&r);
    r = bench_offers(b, "poisson", "load=0.9; sizes=1KB; start=10ms; stop=20ms");
    assert_int_equal(r.n, 0);
    record_fini(&r);
    bench_fini(b);
}

/* State of 1024 hosts is small and the list of receivers is there once. */
static void many_hosts(void **unused)
{
    (void)unused;
    struct bench *b = bench_create(1024, 100 * XOFF_GBPS, XOFF_MS);
    assert_int_equal(bench_bind(b, "poisson", "load=0.5; sizes=websearch"), 0);
    assert_int_equal(b->apps.n, 1024);
    assert_int_equal(b->apps.n_blocks, 2);
    const char *first = b->apps.apps[0].state, *second = b->apps.apps[1].state;
    assert_true(second - first <= 48);
    assert_ptr_equal(b->apps.apps[0].cfg, b->apps.apps[1023].cfg);
    bench_fini(b);
}

static void bad_parameters(void **unused)
{
    (void)unused;
    struct bench *b = bench_create(4, 100 * XOFF_GBPS, XOFF_MS);
    bench_refuses(b, "poisson", "sizes=1KB", "load", XOFF_E_MISSING);
    bench_refuses(b, "poisson", "sizes=1KB; load=0.5; every=1ms", "every", XOFF_E_CONFLICT);
    bench_refuses(b, "poisson", "sizes=1KB; every=1ms; load_of=bisection", "load_of",
                  XOFF_E_CONFLICT);
    assert_int_equal(bench_bind(b, "poisson", "sizes=1KB; every=1ps; stop=1ns"), 0);
    bench_refuses(b, "poisson", "load=0; sizes=1KB", "load", XOFF_E_RANGE);
    bench_refuses(b, "poisson", "load=0.5", "sizes", XOFF_E_MISSING);
    bench_refuses(b, "poisson", "load=0.5; sizes=oops", "sizes", XOFF_E_UNKNOWN);
    bench_refuses(b, "poisson", "load=0.5; sizes=0B", "sizes", XOFF_E_RANGE);
    bench_refuses(b, "poisson", "load=0.5; sizes=1KB; from=h9", "from", XOFF_E_UNKNOWN);
    bench_refuses(b, "poisson", "load=0.5; sizes=1KB; to=h9", "to", XOFF_E_UNKNOWN);
    bench_refuses(b, "poisson", "load=0.5; sizes=1KB; from=none", "from", XOFF_E_RANGE);
    bench_refuses(b, "poisson", "load=0.5; sizes=1KB; from=", "from", XOFF_E_MISSING);
    bench_refuses(b, "poisson", "load=0.5; sizes=1KB; from=h1; to=h1", "to", XOFF_E_CONFLICT);
    bench_refuses(b, "poisson", "load=0.5; sizes=1KB; start=2us; stop=2us", "stop", XOFF_E_RANGE);
    assert_int_equal(bench_bind(b, "poisson", "load=1; sizes=1KB; start=2us; stop=2000001ps"), 0);
    bench_refuses(b, "frames", "load=0", "load", XOFF_E_RANGE);
    bench_refuses(b, "frames", "load=0.5; frame=1519B", "frame", XOFF_E_RANGE);
    assert_int_equal(bench_bind(b, "frames", "load=0.5; frame=1518B"), 0);
    assert_int_equal(bench_bind(b, "frames", "load=0.5; frame=64B"), 0);
    bench_refuses(b, "frames", "load=0.5; pattern=pairs", "to", XOFF_E_CONFLICT);
    bench_fini(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(load_of_flows),
        cmocka_unit_test(gaps_are_exponential),
        cmocka_unit_test(flows_at_a_distance),
        cmocka_unit_test(receivers_are_uniform),
        cmocka_unit_test(load_follows_the_link),
        cmocka_unit_test(frames_at_a_load),
        cmocka_unit_test(period),
        cmocka_unit_test(many_hosts),
        cmocka_unit_test(bad_parameters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
