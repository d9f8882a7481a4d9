/* The table of kinds, what all have in common (same seed, same offers), permutation and all-to-all.
 */
#include "traffic/traffic_testing.h"

/* Settings under which each random kind offers something on 8 hosts. */
static const struct {
    const char *kind, *settings;
} samples[] = {
    {"bernoulli", "load=0.1"},
    {"onoff", "burst=10us; idle=10us"},
    {"poisson", "load=0.5; sizes=10KB"},
    {"frames", "load=0.1"},
    {"incast", "to=h7; size=1KB; every=10us; jitter=5us"},
    {"fan-in", "senders=3; size=1KB; every=10us"},
    {"query", "senders=3; size=1KB; every=10us"},
};

static void table(void **unused)
{
    (void)unused;
    static const char *const names[] = {
        "cbr",   "bernoulli",   "onoff",      "poisson",   "frames",       "incast", "fan-in",
        "query", "permutation", "all-to-all", "allreduce", "mpi-exchange", "iscsi",  "flows"};
    size_t n = 0;
    for (; traffic_kinds[n]; n++) {
        const struct traffic_kind *kind = traffic_kinds[n];
        assert_string_equal(kind->name, names[n]);
        assert_ptr_equal(traffic_find(kind->name), kind);
        assert_true(kind->summary && kind->params && kind->bind);
        /* Every default parses, every field lies in the struct, every key has help. */
        void *params = calloc(1, kind->params_size);
        xoff_param_defaults(kind->params, params);
        for (const struct xoff_param *p = kind->params; p->name; p++) {
            assert_true(p->help && p->help[0]);
            assert_true(p->offset + (p->type == XOFF_P_TEXT ? XOFF_PARAM_TEXT : 8) <=
                        kind->params_size);
            assert_string_not_equal(p->name, "name"); /* the parser's */
            assert_string_not_equal(p->name, "kind");
            char text[256];
            xoff_param_accepts(p, text, sizeof text);
        }
        assert_non_null(xoff_param_find(kind->params, "priority"));
        assert_non_null(xoff_param_find(kind->params, "priorities"));
        assert_non_null(xoff_param_find(kind->params, "transport"));
        free(params);
    }
    assert_int_equal(n, sizeof names / sizeof names[0]);
    assert_null(traffic_find("nothing"));
    assert_null(traffic_find(""));
}

/* Same seed, same offers; another seed, or another entry, other ones; hosts differ. */
static void connections(void **unused)
{
    (void)unused;
    struct bench *b = bench_create(8, 100 * XOFF_GBPS, XOFF_MS);
    for (size_t k = 0; k < sizeof samples / sizeof samples[0]; k++) {
        b->env.seed = 1;
        b->env.index = 3;
        struct record one = bench_offers(b, samples[k].kind, samples[k].settings);
        struct record same = bench_offers(b, samples[k].kind, samples[k].settings);
        b->env.seed = 2;
        struct record seeded = bench_offers(b, samples[k].kind, samples[k].settings);
        b->env.seed = 1;
        b->env.index = 4;
        struct record indexed = bench_offers(b, samples[k].kind, samples[k].settings);
        assert_true(one.n > 100 && one.n == same.n);
        for (size_t i = 0; i < one.n; i++) {
            assert_int_equal(one.seen[i].at, same.seen[i].at);
            assert_int_equal(one.seen[i].offer.to, same.seen[i].offer.to);
            assert_int_equal(one.seen[i].offer.bytes, same.seen[i].offer.bytes);
        }
        assert_true(seeded.seen[0].at != one.seen[0].at || seeded.seen[1].at != one.seen[1].at);
        assert_true(indexed.seen[0].at != one.seen[0].at || indexed.seen[1].at != one.seen[1].at);
        size_t h1 = 0;
        while (one.seen[h1].host == 0)
            h1++;
        assert_true(one.seen[h1].at != one.seen[0].at || one.seen[h1 + 1].at != one.seen[1].at);
        record_fini(&one);
        record_fini(&same);
        record_fini(&seeded);
        record_fini(&indexed);
    }
    bench_fini(b);
}

/* The transport is the scenario's own unless stated; one that is not there is refused by name, and
 * without a list there is only number 0. */
static void transport(void **unused)
{
    (void)unused;
    static const char *const settings[] = {"", "; transport=datagram", "; transport=none"};
    struct bench *b = bench_create(8, 100 * XOFF_GBPS, XOFF_MS);
    for (int preset = DATAGRAM; preset <= RELIABLE; preset++) {
        b->default_transport = preset;
        for (size_t k = 0; k < sizeof samples / sizeof samples[0]; k++) {
            for (int i = 0; i < 3; i++) {
                char text[256];
                snprintf(text, sizeof text, "%s%s; priority=6", samples[k].settings, settings[i]);
                struct record r = bench_offers(b, samples[k].kind, text);
                assert_int_equal(r.seen[0].offer.transport, i ? i - 1 + DATAGRAM : preset);
                assert_int_equal(r.seen[0].offer.priority, 6);
                record_fini(&r);
            }
        }
    }
    for (size_t k = 0; k < sizeof samples / sizeof samples[0]; k++) {
        char text[256];
        snprintf(text, sizeof text, "%s; transport=tcp", samples[k].settings);
        bench_refuses(b, samples[k].kind, text, "transport", XOFF_E_UNKNOWN);
        assert_string_equal(b->err.value, "tcp");
        assert_non_null(strstr(b->err.message, "dcqcn"));
    }
    b->env.transport = NULL;
    struct record r = bench_offers(b, "poisson", "load=0.5; sizes=10KB");
    assert_int_equal(r.seen[0].offer.transport, 0);
    record_fini(&r);
    bench_refuses(b, "poisson", "load=0.5; sizes=10KB; transport=none", "transport",
                  XOFF_E_UNKNOWN);
    bench_fini(b);
}

/* Each sends one and receives one, nobody to itself; for 2 hosts there is one such permutation. */
static void permutation_is_one(void **unused)
{
    (void)unused;
    for (uint64_t seed = 0; seed < 200; seed++) {
        const uint32_t n = 2 + (uint32_t)seed % 17;
        bool gets[32] = {false};
        struct bench *b = bench_create(n + 1, 100 * XOFF_GBPS, XOFF_MS);
        b->env.seed = seed;
        char text[64];
        snprintf(text, sizeof text, "hosts=h1..h%u; size=2MB; at=5us", n);
        struct record r = bench_offers(b, "permutation", text);
        assert_int_equal(r.n, n);
        for (uint32_t i = 0; i < n; i++) {
            assert_int_equal(r.seen[i].host, i + 1);
            assert_int_equal(r.seen[i].at, 5 * XOFF_US);
            assert_int_equal(r.seen[i].offer.bytes, 2000000);
            assert_true(r.seen[i].offer.to != i + 1 && r.seen[i].offer.to != 0);
            assert_false(gets[r.seen[i].offer.to]);
            gets[r.seen[i].offer.to] = true;
        }
        record_fini(&r);
        bench_fini(b);
    }
}

/* All 9 permutations of 4 without a fixed point come up alike: 1800 seeds, 200 each, deviation 13.
 */
static void permutation_is_uniform(void **unused)
{
    (void)unused;
    uint32_t count[256] = {0}, n_kinds = 0;
    struct bench *b = bench_create(4, 100 * XOFF_GBPS, XOFF_MS);
    for (uint64_t seed = 0; seed < 1800; seed++) {
        b->env.seed = seed;
        struct record r = bench_offers(b, "permutation", "size=auto");
        uint32_t code = 0;
        for (size_t i = 0; i < 4; i++) {
            code = code * 4 + r.seen[i].offer.to;
            assert_true(r.seen[i].offer.bytes == UINT64_MAX);
        }
        count[code]++;
        record_fini(&r);
    }
    for (uint32_t i = 0; i < 256; i++) {
        n_kinds += count[i] > 0;
        assert_true(count[i] == 0 || (count[i] > 145 && count[i] < 255));
    }
    assert_int_equal(n_kinds, 9);
    bench_fini(b);
}

/* 5 hosts, a flow every 2 us: host i sends to i+1, i+2, ... in turn; at any time all receivers
 * differ. */
static void all_to_all(void **unused)
{
    (void)unused;
    struct bench *b = bench_create(6, 100 * XOFF_GBPS, XOFF_MS);
    struct record r =
        bench_offers(b, "all-to-all", "hosts=h1..h5; size=10KB; at=1us; stagger=2us; rate=1Gbps");
    assert_int_equal(r.n, 20);
    for (uint32_t i = 0; i < 5; i++) {
        for (uint32_t k = 1; k < 5; k++) {
            const struct seen *s = &r.seen[i * 4 + k - 1];
            assert_int_equal(s->host, 1 + i);
            assert_int_equal(s->offer.to, 1 + (i + k) % 5);
            assert_int_equal(s->offer.bytes, 10000);
            assert_int_equal(s->offer.rate_bps, XOFF_GBPS);
            assert_int_equal(s->at, XOFF_US + (k - 1) * 2 * XOFF_US);
        }
    }
    record_fini(&r);
    /* Stop at the time of the third flow: two are left of each. */
    b->env.stop = 5 * XOFF_US;
    r = bench_offers(b, "all-to-all", "hosts=h1..h5; size=10KB; at=1us; stagger=2us");
    assert_int_equal(r.n, 10);
    record_fini(&r);
    bench_fini(b);
}

/* 39 flows at one instant come in answers of 16, 16 and 7, all at the same time. */
static void more_than_an_answer(void **unused)
{
    (void)unused;
    struct bench *b = bench_create(40, 100 * XOFF_GBPS, XOFF_MS);
    assert_int_equal(bench_bind(b, "all-to-all", "size=1B; at=3us"), 0);
    const struct app *app = &b->apps.apps[39];
    struct app_offer offers[APP_MAX_OFFERS];
    struct xoff_rng rng = {0};
    static const uint32_t answers[] = {16, 16, 7};
    for (uint32_t i = 0, to = 0; i < 3; i++) {
        assert_int_equal(app->ops->deadline(app->cfg, app->state), 3 * XOFF_US);
        assert_int_equal(app->ops->expire(app->cfg, app->state, &rng, 3 * XOFF_US, offers),
                         answers[i]);
        for (uint32_t k = 0; k < answers[i]; k++)
            assert_int_equal(offers[k].to, to++);
    }
    assert_true(app->ops->deadline(app->cfg, app->state) == XOFF_NEVER);
    assert_int_equal(app->ops->expire(app->cfg, app->state, &rng, 4 * XOFF_US, offers), 0);
    bench_fini(b);
}

static void bad_parameters(void **unused)
{
    (void)unused;
    struct bench *b = bench_create(4, 100 * XOFF_GBPS, XOFF_MS);
    static const char *const kinds[] = {"permutation", "all-to-all"};
    for (size_t i = 0; i < 2; i++) {
        bench_refuses(b, kinds[i], "", "size", XOFF_E_RANGE);
        bench_refuses(b, kinds[i], "size=1KB; hosts=h1", "hosts", XOFF_E_RANGE);
        bench_refuses(b, kinds[i], "size=1KB; hosts=h1,h5", "hosts", XOFF_E_UNKNOWN);
        bench_refuses(b, kinds[i], "size=1KB; hosts=", "hosts", XOFF_E_MISSING);
        bench_refuses(b, kinds[i], "size=1KB; rate=200Gbps", "rate", XOFF_E_RANGE);
        assert_int_equal(bench_bind(b, kinds[i], "size=1B; hosts=h1,h2"), 0);
        assert_int_equal(b->apps.n, 2);
    }
    bench_fini(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(table),
        cmocka_unit_test(connections),
        cmocka_unit_test(transport),
        cmocka_unit_test(permutation_is_one),
        cmocka_unit_test(permutation_is_uniform),
        cmocka_unit_test(all_to_all),
        cmocka_unit_test(more_than_an_answer),
        cmocka_unit_test(bad_parameters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
