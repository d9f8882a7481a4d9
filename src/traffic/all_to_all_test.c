/* Kind all-to-all in iterations: dependencies, the limit of `parallel`, ranks that share hosts. Its
 * single open round is tested in traffic_test.c. */
#include "traffic/loop_testing.h"

#define MAX_N 16
#define MAX_ITERATIONS 32

struct model {
    uint32_t n_came[MAX_N][MAX_ITERATIONS], n_acked[MAX_N][MAX_ITERATIONS];
    uint32_t n_done[MAX_N], n_open[MAX_N], most_open;
    uint64_t n_ahead; /* messages that came an iteration early */
};

/* One rank per host, in host order: message m of a host is number m mod (n - 1) of iteration
 * m / (n - 1). */
static void play(struct model *m, const struct loop *l, uint32_t n, bool awaits_acks)
{
    for (size_t i = 0; i < l->n; i++) {
        const struct loop_entry *e = &l->log[i];
        const uint32_t iteration = e->index / (n - 1);
        assert_true(iteration < MAX_ITERATIONS);
        if (e->what == LOOP_SENT) {
            assert_int_equal(e->peer, (e->host + 1 + e->index % (n - 1)) % n);
            assert_int_equal(m->n_done[e->host], iteration);
            m->n_open[e->host]++;
            if (m->n_open[e->host] > m->most_open)
                m->most_open = m->n_open[e->host];
        } else if (e->what == LOOP_ARRIVED) {
            m->n_came[e->host][iteration]++;
            assert_true(iteration <= m->n_done[e->host] + 1);
            m->n_ahead += iteration > m->n_done[e->host];
        } else if (e->what == LOOP_ACKED) {
            m->n_acked[e->host][iteration]++;
            m->n_open[e->host]--;
        } else {
            const uint32_t done = m->n_done[e->host]++;
            assert_int_equal(e->offer.bytes, 2000 * (n - 1));
            assert_int_equal(m->n_came[e->host][done], n - 1);
            assert_true(!awaits_acks || m->n_acked[e->host][done] == n - 1);
        }
    }
}

static void iterations(void **unused)
{
    (void)unused;
    uint64_t n_ahead = 0;
    for (uint64_t seed = 0; seed < 80; seed++) {
        const uint32_t n = 2 + (uint32_t)seed % 8, count = 1 + (uint32_t)seed % 20;
        const uint32_t parallel = 1 + (uint32_t)seed % 3;
        const bool is_datagram = seed % 4 == 1, is_limited = seed % 4 >= 2;
        struct bench *b = bench_create(n, 100 * XOFF_GBPS, 100 * XOFF_MS);
        struct model *m = calloc(1, sizeof *m);
        char text[128], limit[32] = "";
        assert_non_null(m);
        if (is_limited)
            snprintf(limit, sizeof limit, "; parallel=%u", parallel);
        snprintf(text, sizeof text, "size=2KB; iterations=%u; transport=%s%s", count,
                 is_datagram ? "datagram" : "none", limit);
        struct loop *l = loop_create(b, "all-to-all", text, seed);
        l->is_ordered = seed % 5 == 0;
        loop_run(l, XOFF_NEVER);
        play(m, l, n, !is_datagram);
        for (uint32_t r = 0; r < n; r++)
            assert_int_equal(m->n_done[r], count);
        assert_int_equal(loop_bytes(l), 2000 * (uint64_t)n * (n - 1) * count);
        if (is_limited)
            assert_int_equal(m->most_open, parallel < n - 1 ? parallel : n - 1);
        else if (!is_datagram)
            assert_int_equal(m->most_open, n - 1);
        n_ahead += m->n_ahead;
        /* Connections last where there are several iterations. */
        for (size_t i = 0; i < l->n; i++)
            if (l->log[i].what == LOOP_SENT)
                assert_int_equal(l->log[i].offer.continues, count > 1);
        assert_int_equal(b->apps.apps[0].n_connections, count > 1 ? n - 1 : 0);
        loop_fini(l);
        bench_fini(b);
        free(m);
    }
    assert_true(n_ahead > 0);
}

/* Equal delays of 10 us. One at a time to 3 others: acknowledged after 20 us each; the third at
 * 60 us, and the gap of 5 us after it. Staggered by 30 us the third is sent at 60 us and
 * acknowledged at 80 us. */
static void times(void **unused)
{
    (void)unused;
    static const struct {
        const char *settings;
        xoff_time sent_us[6];
    } rows[] = {
        {"size=2KB; iterations=2; parallel=1; gap=5us; at=1us", {1, 21, 41, 66, 86, 106}},
        {"size=2KB; iterations=2; parallel=1; stagger=30us", {0, 30, 60, 80, 110, 140}},
        {"size=2KB; iterations=2; parallel=2", {0, 0, 20, 40, 40, 60}},
        {"size=2KB; iterations=2", {0, 0, 0, 20, 20, 20}},
    };
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        struct bench *b = bench_create(4, 100 * XOFF_GBPS, XOFF_MS);
        b->default_transport = RELIABLE;
        struct loop *l = loop_create(b, "all-to-all", rows[k].settings, 1);
        l->min_delay = 10 * XOFF_US;
        l->delay = 0;
        loop_run(l, XOFF_NEVER);
        uint32_t n = 0;
        for (size_t i = 0; i < l->n; i++)
            if (l->log[i].what == LOOP_SENT && l->log[i].host == 2)
                assert_int_equal(l->log[i].at, rows[k].sent_us[n++] * XOFF_US);
        assert_int_equal(n, 6);
        loop_fini(l);
        bench_fini(b);
    }
}

/* 19 messages that are due on an event go out at its instant, 16 and 3 of them: with equal delays
 * of 10 us all of the second iteration at 20 us. */
static void more_than_an_answer(void **unused)
{
    (void)unused;
    struct bench *b = bench_create(20, 100 * XOFF_GBPS, XOFF_MS);
    b->default_transport = RELIABLE;
    struct loop *l = loop_create(b, "all-to-all", "size=1KB; iterations=2", 1);
    l->min_delay = 10 * XOFF_US;
    l->delay = 0;
    loop_run(l, XOFF_NEVER);
    for (size_t i = 0; i < l->n; i++)
        if (l->log[i].what == LOOP_SENT)
            assert_int_equal(l->log[i].at, l->log[i].index < 19 ? 0 : 20 * XOFF_US);
    assert_int_equal(loop_count(l, LOOP_SENT), 2 * 20 * 19);
    assert_int_equal(l->n_full, 2 * 20);
    loop_fini(l);
    bench_fini(b);
}

/* 4 hosts with 3 ranks each: 12 * 9 messages between hosts. With 20 and more to send at once an
 * answer is full. */
static void ranks_on_hosts(void **unused)
{
    (void)unused;
    static const char *const placements[] = {"linear", "random"};
    struct bench *b = bench_create(4, 100 * XOFF_GBPS, 100 * XOFF_MS);
    b->default_transport = RELIABLE;
    for (uint64_t seed = 0; seed < 20; seed++) {
        char text[128];
        snprintf(text, sizeof text,
                 "size=1KB; iterations=4; ranks_per_host=3; placement=%s; parallel=%u",
                 placements[seed % 2], 1 + (unsigned)seed);
        b->env.seed = seed;
        struct loop *l = loop_create(b, "all-to-all", text, seed);
        loop_run(l, XOFF_NEVER);
        assert_int_equal(loop_count(l, LOOP_SENT), 4 * 12 * 9);
        assert_int_equal(loop_count(l, LOOP_DONE), 4 * 12);
        assert_true(seed < 8 || l->n_full > 0);
        loop_fini(l);
    }
    bench_fini(b);
}

/* Iterations until stop; the last one of each begins before it. */
static void stop(void **unused)
{
    (void)unused;
    struct bench *b = bench_create(3, 100 * XOFF_GBPS, XOFF_MS);
    b->default_transport = RELIABLE;
    struct loop *l = loop_create(b, "all-to-all", "size=1KB; iterations=auto; stop=300us", 1);
    loop_run(l, XOFF_NEVER);
    uint64_t n_done = 0;
    for (size_t i = 0; i < l->n; i++) {
        if (l->log[i].what != LOOP_DONE)
            continue;
        n_done++;
        assert_true(l->log[i].offer.began_at < 300 * XOFF_US);
    }
    assert_true(n_done > 60);
    loop_fini(l);
    bench_fini(b);
}

static void bad_parameters(void **unused)
{
    (void)unused;
    struct bench *b = bench_create(4, 100 * XOFF_GBPS, XOFF_MS);
    bench_refuses(b, "all-to-all", "size=1KB; parallel=2", "parallel", XOFF_E_CONFLICT);
    assert_int_equal(bench_bind(b, "all-to-all", "size=1KB; parallel=2; transport=none"), 0);
    bench_refuses(b, "all-to-all", "size=1KB; at=2us; stop=2us", "stop", XOFF_E_RANGE);
    bench_fini(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(iterations),
        cmocka_unit_test(times),
        cmocka_unit_test(more_than_an_answer),
        cmocka_unit_test(ranks_on_hosts),
        cmocka_unit_test(stop),
        cmocka_unit_test(bad_parameters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
