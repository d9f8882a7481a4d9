/* Kind fan-in: who takes part, when, and at what load; sets of priorities, which kinds share.
 *
 * Chi-square tests have fixed seeds and the quantile that one of a thousand right generators would
 * miss.
 */
#include "traffic/traffic_testing.h"

#include "traffic/schedule.h"

/* By time, then receiver: flows of a fan-in lie together. */
static int by_fan_in(const void *a, const void *b)
{
    const struct seen *x = a, *y = b;
    if (x->at != y->at)
        return x->at < y->at ? -1 : 1;
    return (x->offer.to > y->offer.to) - (x->offer.to < y->offer.to);
}

/* The flows of all fan-ins; fails where one has another number of flows than `senders`, or two of
 * one sender. */
static struct record fan_ins(struct bench *b, const char *settings, uint32_t senders)
{
    struct record r = bench_offers(b, "fan-in", settings);
    assert_int_equal(r.n % senders, 0);
    qsort(r.seen, r.n, sizeof r.seen[0], by_fan_in);
    for (size_t i = 0; i < r.n; i += senders) {
        bool sends[MAX_HOSTS] = {false};
        for (size_t k = i; k < i + senders; k++) {
            assert_int_equal(r.seen[k].at, r.seen[i].at);
            assert_int_equal(r.seen[k].offer.to, r.seen[i].offer.to);
            assert_false(sends[r.seen[k].host]);
            sends[r.seen[k].host] = true;
        }
        assert_false(sends[r.seen[i].offer.to]);
    }
    return r;
}

static double chi_square(const uint32_t *count, size_t n_cells, double expected)
{
    double sum = 0;
    for (size_t i = 0; i < n_cells; i++)
        sum += (count[i] - expected) * (count[i] - expected) / expected;
    return sum;
}

static void what_is_offered(void **unused)
{
    (void)unused;
    struct bench *b = bench_create(24, 100 * XOFF_GBPS, XOFF_MS);
    struct record r = fan_ins(b,
                              "from=h0..h19; to=h10..h23; senders=16; size=64KB; every=10us; "
                              "start=100us; stop=900us; priority=3; transport=none; rate=40Gbps",
                              16);
    assert_true(r.n / 16 > 40 && r.n / 16 < 130); /* 80 on average, deviation 9 */
    for (size_t i = 0; i < r.n; i++) {
        const struct app_offer *offer = &r.seen[i].offer;
        assert_true(r.seen[i].at > 100 * XOFF_US && r.seen[i].at < 900 * XOFF_US);
        assert_true(r.seen[i].host < 20 && offer->to >= 10);
        assert_int_equal(offer->bytes, 64000);
        assert_int_equal(offer->rate_bps, 40 * XOFF_GBPS);
        assert_int_equal(offer->priority, 3);
        assert_int_equal(offer->priorities, 0);
        assert_int_equal(offer->transport, RELIABLE);
        assert_int_equal(offer->frame_bytes, 0);
        assert_false(offer->continues);
    }
    record_fini(&r);
    /* A period that is over before it begins, and one outside of the run. */
    r = bench_offers(b, "fan-in", "senders=2; size=1KB; every=1ns; start=1ms");
    assert_int_equal(r.n, 0);
    record_fini(&r);
    bench_fini(b);
}

/* 16 hosts, 40 000 fan-ins of 4: receivers, senders, and pairs of both are alike likely. */
static void all_are_alike_likely(void **unused)
{
    (void)unused;
    struct bench *b = bench_create(16, 100 * XOFF_GBPS, 400 * XOFF_MS);
    struct record r = fan_ins(b, "senders=4; size=1KB; every=10us", 4);
    uint32_t receives[16] = {0}, sends[16] = {0}, pairs[16 * 15] = {0};
    for (size_t i = 0; i < r.n; i++) {
        const uint32_t from = r.seen[i].host, to = r.seen[i].offer.to;
        receives[to] += i % 4 == 0;
        sends[from]++;
        pairs[to * 15 + from - (from > to)]++;
    }
    const double n = (double)r.n;
    assert_near(n, 160000, 0.02);
    assert_true(chi_square(receives, 16, n / 4 / 16) < 37.7); /* 15 degrees of freedom */
    assert_true(chi_square(sends, 16, n / 16) < 37.7);
    assert_true(chi_square(pairs, 240, n / 240) < 311);
    record_fini(&r);
    bench_fini(b);
}

/* How often each set of three senders occurs; returns the number of sets. */
static uint32_t count_subsets(const struct record *r, uint32_t count[64])
{
    uint32_t by_set[64] = {0}, n = 0;
    for (size_t i = 0; i < r->n; i += 3)
        by_set[1u << r->seen[i].host | 1u << r->seen[i + 1].host | 1u << r->seen[i + 2].host]++;
    for (uint32_t set = 0; set < 64; set++)
        if (by_set[set])
            count[n++] = by_set[set];
    return n;
}

/* Three of six: each of the 20 subsets as often, not only each host. With a receiver that is one of
 * the six there are 10. */
static void subsets_are_alike_likely(void **unused)
{
    (void)unused;
    uint32_t count[64];
    struct bench *b = bench_create(7, 100 * XOFF_GBPS, 200 * XOFF_MS);
    struct record r = fan_ins(b, "from=h0..h5; to=h6; senders=3; size=1KB; every=10us", 3);
    assert_int_equal(count_subsets(&r, count), 20);
    assert_true(chi_square(count, 20, (double)r.n / 3 / 20) < 43.8);
    record_fini(&r);
    r = fan_ins(b, "from=h0..h5; to=h3; senders=3; size=1KB; every=10us", 3);
    assert_int_equal(count_subsets(&r, count), 10);
    assert_true(chi_square(count, 10, (double)r.n / 3 / 10) < 27.9);
    record_fini(&r);
    bench_fini(b);
}

/* Load is payload over the sum of the receivers' rates: 100 000 fan-ins have it within 1 %, three
 * deviations. Half of the receivers have slower links. Gaps are exponential: as large a deviation
 * as mean, and 1/e of them above it. */
static void load_and_gaps(void **unused)
{
    (void)unused;
    struct bench *b = bench_create(16, 100 * XOFF_GBPS, 100 * XOFF_MS);
    for (uint32_t i = 12; i < 16; i++)
        b->links[i].rate_bps = 25 * XOFF_GBPS;
    /* 4 * 100 + 4 * 25 Gb/s, of which 0.64 is 100 000 * 2 * 20 KB in 100 ms. */
    struct record r = fan_ins(b, "to=h8..h15; senders=2; size=20KB; load=0.64", 2);
    assert_near((double)r.n * 20000 * 8 / 0.1 / 500e9, 0.64, 0.01);
    double sum = 0, squares = 0, n_above = 0;
    for (size_t i = 0; i < r.n; i += 2) {
        const double gap = (double)(r.seen[i].at - (i ? r.seen[i - 2].at : 0)) / 1e6;
        sum += gap;
        squares += gap * gap;
        n_above += gap > 1;
    }
    const double n = (double)(r.n / 2), mean = sum / n;
    assert_near(mean, 1, 0.01);
    assert_near(squares / n - mean * mean, mean * mean, 0.03);
    assert_near(n_above / n, 0.36788, 0.01);
    record_fini(&r);
    r = fan_ins(b, "to=h8..h15; senders=2; size=20KB; every=1us", 2);
    assert_near((double)(r.n / 2), 100000, 0.01);
    record_fini(&r);
    bench_fini(b);
}

/* The schedule is a function of seed, entry and parameters. */
static void same_seed_same_schedule(void **unused)
{
    (void)unused;
    static const char settings[] = "senders=5; size=1KB; load=0.01; jitter=3us; priorities=0..6";
    struct bench *b = bench_create(32, 100 * XOFF_GBPS, 10 * XOFF_MS);
    struct record one = bench_offers(b, "fan-in", settings);
    struct record same = bench_offers(b, "fan-in", settings);
    b->env.seed = 2;
    struct record other = bench_offers(b, "fan-in", settings);
    assert_true(one.n > 5000 && one.n == same.n);
    size_t n_equal = 0;
    for (size_t i = 0; i < one.n; i++) {
        assert_int_equal(one.seen[i].host, same.seen[i].host);
        assert_int_equal(one.seen[i].at, same.seen[i].at);
        assert_int_equal(one.seen[i].offer.to, same.seen[i].offer.to);
        n_equal += i < other.n && one.seen[i].at == other.seen[i].at;
    }
    assert_true(n_equal < 3);
    record_fini(&one);
    record_fini(&same);
    record_fini(&other);
    bench_fini(b);
}

/* A fan-in a millisecond, flows up to 100 us later. The eight of one that is alone are 7/9 of that
 * apart on average, from first to last. Nothing starts from the stop on. */
static void jitter(void **unused)
{
    (void)unused;
    struct bench *b = bench_create(9, 100 * XOFF_GBPS, 1000 * XOFF_MS);
    struct record r = bench_offers(b, "fan-in",
                                   "to=h8; from=h0..h7; senders=8; size=1KB; every=1ms;"
                                   "jitter=100us; stop=900ms");
    assert_near((double)r.n, 7200, 0.15);
    qsort(r.seen, r.n, sizeof r.seen[0], by_fan_in);
    double span = 0;
    size_t n_groups = 0;
    for (size_t i = 0; i + 8 < r.n; i++) {
        assert_true(r.seen[i].at < 900 * XOFF_MS);
        const bool is_alone = (i == 0 || r.seen[i].at - r.seen[i - 1].at > 100 * XOFF_US) &&
                              r.seen[i + 8].at - r.seen[i + 7].at > 100 * XOFF_US &&
                              r.seen[i + 7].at - r.seen[i].at <= 100 * XOFF_US;
        if (is_alone) {
            span += (double)(r.seen[i + 7].at - r.seen[i].at) / 100e6;
            n_groups++;
        }
    }
    assert_true(n_groups > 500);
    assert_near(span / (double)n_groups, 7.0 / 9, 0.03);
    record_fini(&r);
    /* A period as long as the jitter: half of the 100 * 8 flows miss the stop, in the middle of the
     * run. */
    r = bench_offers(
        b, "fan-in",
        "to=h8; from=h0..h7; senders=8; size=1KB; every=1us; jitter=100us; stop=100us");
    assert_near((double)r.n, 400, 0.3);
    for (size_t i = 0; i < r.n; i++)
        assert_true(r.seen[i].at < 100 * XOFF_US);
    record_fini(&r);
    bench_fini(b);
}

static void bad_parameters(void **unused)
{
    (void)unused;
    struct bench *b = bench_create(8, 100 * XOFF_GBPS, XOFF_MS);
    bench_refuses(b, "fan-in", "size=1KB; load=0.5", "senders", XOFF_E_RANGE);
    bench_refuses(b, "fan-in", "senders=2; load=0.5", "size", XOFF_E_RANGE);
    bench_refuses(b, "fan-in", "senders=2; size=1KB", "load", XOFF_E_MISSING);
    bench_refuses(b, "fan-in", "senders=2; size=1KB; load=0.5; every=1us", "every",
                  XOFF_E_CONFLICT);
    bench_refuses(b, "fan-in", "senders=2; size=1KB; load=0", "load", XOFF_E_RANGE);
    bench_refuses(b, "fan-in", "senders=8; size=1KB; load=0.5", "senders", XOFF_E_RANGE);
    assert_non_null(strstr(b->err.message, "for h0 7"));
    assert_int_equal(bench_bind(b, "fan-in", "senders=7; size=1KB; load=0.5"), 0);
    /* A receiver that may send has one fewer than one that may not. */
    bench_refuses(b, "fan-in", "from=h0..h3; to=h3..h4; senders=4; size=1KB; load=0.5", "senders",
                  XOFF_E_RANGE);
    assert_non_null(strstr(b->err.message, "for h3 3"));
    assert_int_equal(bench_bind(b, "fan-in", "from=h0..h3; to=h4; senders=4; size=1KB; load=0.5"),
                     0);
    bench_refuses(b, "fan-in", "from=h1; to=h1; senders=1; size=1KB; load=0.5", "senders",
                  XOFF_E_RANGE);
    bench_refuses(b, "fan-in", "from=h9; senders=2; size=1KB; load=0.5", "from", XOFF_E_UNKNOWN);
    bench_refuses(b, "fan-in", "to=none; senders=2; size=1KB; load=0.5", "to", XOFF_E_RANGE);
    bench_refuses(b, "fan-in", "senders=2; size=1KB; load=0.5; rate=101Gbps", "rate", XOFF_E_RANGE);
    bench_refuses(b, "fan-in", "senders=2; size=1KB; load=0.5; start=2us; stop=2us", "stop",
                  XOFF_E_RANGE);
    bench_refuses(b, "fan-in", "senders=2; size=1KB; load=0.5; transport=tcp", "transport",
                  XOFF_E_UNKNOWN);
    bench_fini(b);
}

/* More flows than memory should hold are refused, with their number, before one is drawn. */
static void too_many(void **unused)
{
    (void)unused;
    struct bench *b = bench_create(8, 100 * XOFF_GBPS, 1000 * XOFF_MS);
    bench_refuses(b, "fan-in", "senders=7; size=1KB; every=50ns", "every", XOFF_E_RANGE);
    assert_string_equal(b->err.value, "50ns");
    assert_non_null(strstr(b->err.message, "up to 100 M flows"));
    assert_non_null(strstr(b->err.message, "140 M"));
    bench_refuses(b, "fan-in", "senders=7; size=100B; load=1", "load", XOFF_E_RANGE);
    assert_non_null(strstr(b->err.message, "1000 M")); /* 800 Gb/s of 800 bits for 1 s */
    b->env.stop = XOFF_NEVER - 1;
    bench_refuses(b, "fan-in", "senders=7; size=1KB; every=1ps", "every", XOFF_E_RANGE);
    bench_fini(b);
    assert_int_equal(sizeof(struct schedule_entry), 48); /* as fan_in.c says */
}

/* Sets of priorities as they may be written; what is no set is refused by every kind alike. */
static void priorities(void **unused)
{
    (void)unused;
    static const struct {
        const char *text;
        uint8_t set;
    } rows[] = {{"0..6", 0x7f}, {"1,3", 0x0a},      {" 1 , 3 ", 0x0a}, {"7", 0x80},
                {"5..5", 0x20}, {"0..2,5", 0x27},   {"3,3", 0x08},     {"0..7", 0xff},
                {"", 0},        {"0..3,2..4", 0x1f}};
    static const char *const bad[] = {"8",   "0..8", "6..0", "-1", "a",   "1,", ",1",
                                      "1 3", "0..",  "..3",  "10", "1.3", "[1"};
    static const char *const kinds[] = {
        "cbr from=h0..h3; to=h4..h7",
        "bernoulli load=0.1",
        "onoff burst=10us; idle=10us",
        "poisson load=0.5; sizes=10KB",
        "frames load=0.1",
        "incast to=h7; size=1KB",
        "fan-in senders=3; size=1KB; every=10us",
        "query senders=3; size=1KB; every=10us",
        "permutation size=1KB",
        "all-to-all size=1KB",
        "allreduce size=1KB",
        "mpi-exchange size=1KB",
        "iscsi from=h0..h3; to=h4",
    };
    struct bench *b = bench_create(8, 100 * XOFF_GBPS, XOFF_MS);
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
        char kind[32], text[256];
        const size_t length = strcspn(kinds[k], " ");
        snprintf(kind, sizeof kind, "%.*s", (int)length, kinds[k]);
        for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
            struct record r = {0};
            snprintf(text, sizeof text, "%s; priorities=%s", kinds[k] + length, rows[i].text);
            if (bench_bind(b, kind, text))
                fail_msg("%s: %s", text, b->err.message);
            bench_run(b, 300 * XOFF_US, &r);
            assert_true(r.n > 0);
            for (size_t s = 0; s < r.n; s++)
                assert_int_equal(r.seen[s].offer.priorities, rows[i].set);
            record_fini(&r);
        }
        for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
            snprintf(text, sizeof text, "%s; priorities=%s", kinds[k] + length, bad[i]);
            bench_refuses(b, kind, text, "priorities", XOFF_E_RANGE);
            assert_non_null(strstr(b->err.message, "0..6 or [1, 3]"));
        }
        snprintf(text, sizeof text, "%s; priorities=0..6; priority=2", kinds[k] + length);
        bench_refuses(b, kind, text, "priorities", XOFF_E_CONFLICT);
    }
    bench_fini(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_offered),
        cmocka_unit_test(all_are_alike_likely),
        cmocka_unit_test(subsets_are_alike_likely),
        cmocka_unit_test(load_and_gaps),
        cmocka_unit_test(same_seed_same_schedule),
        cmocka_unit_test(jitter),
        cmocka_unit_test(bad_parameters),
        cmocka_unit_test(too_many),
        cmocka_unit_test(priorities),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
