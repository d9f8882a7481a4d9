/* Kind onoff: offered load, lengths, whole frames, the end of the period. */
#include "traffic/traffic_testing.h"

static double payload_of(const struct record *r)
{
    double sum = 0;
    for (size_t i = 0; i < r->n; i++)
        sum += (double)r->seen[i].offer.bytes;
    return sum;
}

/* 8 hosts, peak 40G, 100 us on and 300 us off: 10 Gb/s of frames each, of which 1456/1518 are
 * payload; 4 s have 80 000 bursts. */
static void load_exponential(void **unused)
{
    (void)unused;
    struct bench *b = bench_create(8, 100 * XOFF_GBPS, 4 * XOFF_S);
    struct record r = bench_offers(
        b, "onoff", "burst=100us; idle=300us; rate=40Gbps; pattern=shift; shift=3; priority=2");
    assert_near(payload_of(&r), 8 * 10e9 / 8 * 4 * 1456 / 1518, 0.01);
    assert_near((double)r.n, 80000, 0.01);
    for (size_t i = 0; i < r.n; i++) {
        const struct app_offer *offer = &r.seen[i].offer;
        assert_int_equal(offer->to, (r.seen[i].host + 3) % 8);
        assert_int_equal(offer->rate_bps, 40 * XOFF_GBPS);
        assert_int_equal(offer->bytes % 1456, 0);
        assert_true(offer->bytes > 0 && offer->continues && offer->connection == 0);
        assert_int_equal(offer->priority, 2);
    }
    record_fini(&r);
    bench_fini(b);
}

/* At line rate a frame takes 1538 B of link time: 100G * 1/2 * 1456/1538 of payload. */
static void load_at_line_rate(void **unused)
{
    (void)unused;
    struct bench *b = bench_create(2, 100 * XOFF_GBPS, 2 * XOFF_S);
    struct record r = bench_offers(b, "onoff", "from=h0; to=h1; burst=20us; idle=20us");
    assert_near(payload_of(&r), 100e9 / 8 / 2 * 2 * 1456 / 1538, 0.01);
    assert_int_equal(r.seen[0].offer.rate_bps, 0);
    record_fini(&r);
    bench_fini(b);
}

/* Bursts much shorter than a frame: fractions are carried, the load stays. A burst of 10 ns has 125
 * B at 100G; load is 1/2. */
static void load_of_short_bursts(void **unused)
{
    (void)unused;
    struct bench *b = bench_create(2, 100 * XOFF_GBPS, 20 * XOFF_MS);
    struct record r = bench_offers(b, "onoff", "from=h0; to=h1; burst=10ns; idle=10ns");
    assert_near(payload_of(&r), 100e9 / 8 / 2 * 0.02 * 1456 / 1538, 0.01);
    record_fini(&r);
    bench_fini(b);
}

/* Exponential bursts: the part longer than twice the mean is e^-2 = 0.1353, second moment 2. The
 * burst is known to a frame (121 ns) from its bytes: it began up to a frame earlier. */
static void exponential_bursts(void **unused)
{
    (void)unused;
    struct bench *b = bench_create(2, 100 * XOFF_GBPS, 30 * XOFF_S);
    struct record r = bench_offers(b, "onoff", "from=h0; to=h1; burst=100us; idle=50us");
    double sum = 0, squares = 0, above = 0;
    for (size_t i = 0; i < r.n; i++) {
        const double length = (double)(r.seen[i].offer.bytes / 1456) * 123040 / 100e6;
        sum += length;
        squares += length * length;
        above += length > 2;
    }
    const double n = (double)r.n;
    assert_near(n, 200000, 0.01);
    assert_near(sum / n, 1, 0.01);
    assert_near(squares / n, 2, 0.02);
    assert_near(above / n, 0.13534, 0.02);
    record_fini(&r);
    bench_fini(b);
}

/* Pareto of shape 3 and mean 90 us: smallest 60 us, P(> 120 us) = 1/8; second moment 3 * 60^2. */
static void pareto_bursts(void **unused)
{
    (void)unused;
    struct bench *b = bench_create(2, 100 * XOFF_GBPS, 30 * XOFF_S);
    struct record r =
        bench_offers(b, "onoff", "from=h0; to=h1; burst=90us; idle=90us; lengths=pareto; shape=3");
    double sum = 0, above = 0, smallest = 1e9;
    xoff_time smallest_gap = XOFF_NEVER;
    for (size_t i = 0; i < r.n; i++) {
        const double length = (double)(r.seen[i].offer.bytes / 1456) * 0.123040;
        sum += length;
        above += length > 120;
        smallest = length < smallest ? length : smallest;
        if (i && r.seen[i].at - r.seen[i - 1].at < smallest_gap)
            smallest_gap = r.seen[i].at - r.seen[i - 1].at;
    }
    const double n = (double)r.n;
    assert_near(sum / n, 90, 0.01);
    assert_near(above / n, 0.125, 0.03);
    assert_true(smallest > 59.8 && smallest < 60.2);
    /* Burst and idle together are at least 120 us. */
    assert_true(smallest_gap >= 120 * XOFF_US && smallest_gap < 121 * XOFF_US);
    assert_near(payload_of(&r), 100e9 / 8 / 2 * 30 * 1456 / 1538, 0.01);
    record_fini(&r);
    bench_fini(b);
}

/* Without idle time it is a constant rate: all of the period is used, and nothing behind it. A
 * burst of a second is cut by stop: 1 ms at 100G is 8127.4 frames. */
static void period(void **unused)
{
    (void)unused;
    struct bench *b = bench_create(2, 100 * XOFF_GBPS, XOFF_S);
    struct record r =
        bench_offers(b, "onoff", "from=h0; to=h1; burst=1us; idle=0s; start=1ms; stop=2ms");
    assert_int_equal((uint64_t)payload_of(&r), 8127 * 1456);
    for (size_t i = 0; i < r.n; i++)
        assert_true(r.seen[i].at >= XOFF_MS && r.seen[i].at < 2 * XOFF_MS);
    record_fini(&r);
    r = bench_offers(b, "onoff",
                     "from=h0; to=h1; burst=1000s; idle=0s; start=1ms; stop=2ms; lengths=pareto");
    assert_int_equal(r.n, 1);
    assert_int_equal(r.seen[0].at, XOFF_MS);
    assert_int_equal(r.seen[0].offer.bytes, 8127 * 1456);
    record_fini(&r);
    bench_fini(b);
}

/* Drawn receivers: each burst is a flow of its own. */
static void uniform_receivers(void **unused)
{
    (void)unused;
    struct bench *b = bench_create(4, 100 * XOFF_GBPS, XOFF_S);
    struct record r = bench_offers(b, "onoff", "burst=100us; idle=100us");
    uint32_t count[4] = {0};
    for (size_t i = 0; i < r.n; i++) {
        assert_false(r.seen[i].offer.continues);
        count[r.seen[i].offer.to]++;
    }
    for (uint32_t i = 0; i < 4; i++)
        assert_near(count[i], 5000, 0.06);
    record_fini(&r);
    bench_fini(b);
}

static void bad_parameters(void **unused)
{
    (void)unused;
    struct bench *b = bench_create(4, 100 * XOFF_GBPS, XOFF_MS);
    bench_refuses(b, "onoff", "idle=1us; to=h1", "burst", XOFF_E_RANGE);
    bench_refuses(b, "onoff", "burst=1us; idle=1us; lengths=pareto; shape=1; to=h1", "shape",
                  XOFF_E_RANGE);
    assert_int_equal(bench_bind(b, "onoff", "burst=1us; idle=1us; shape=1; to=h1"), 0);
    assert_int_equal(
        bench_bind(b, "onoff", "burst=1us; idle=1us; lengths=pareto; shape=1.1; to=h1"), 0);
    bench_refuses(b, "onoff", "burst=1us; idle=1us; to=h1; rate=100000000001bps", "rate",
                  XOFF_E_RANGE);
    assert_int_equal(bench_bind(b, "onoff", "burst=1us; idle=1us; to=h1; rate=100Gbps"), 0);
    bench_refuses(b, "onoff", "burst=1us; idle=1us; from=h2; to=h2", "to", XOFF_E_CONFLICT);
    bench_fini(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(load_exponential),     cmocka_unit_test(load_at_line_rate),
        cmocka_unit_test(load_of_short_bursts), cmocka_unit_test(exponential_bursts),
        cmocka_unit_test(pareto_bursts),        cmocka_unit_test(period),
        cmocka_unit_test(uniform_receivers),    cmocka_unit_test(bad_parameters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
