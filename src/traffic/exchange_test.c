/* Kind mpi-exchange: each iteration of a rank against a model that counts what came for it. */
#include "traffic/loop_testing.h"

#define MAX_N 16
#define MAX_ITERATIONS 64

struct model {
    uint32_t n_came[MAX_N][MAX_ITERATIONS];
    uint32_t n_acked[MAX_N][MAX_ITERATIONS];
    uint32_t n_done[MAX_N];
    uint64_t n_ahead; /* messages that came an iteration early */
};

/* One rank per host, in host order: messages 2i and 2i + 1 of a host are those of iteration i, to
 * its right and left. */
static void play(struct model *m, const struct loop *l, uint32_t n, bool awaits_acks)
{
    for (size_t i = 0; i < l->n; i++) {
        const struct loop_entry *e = &l->log[i];
        const uint32_t iteration = e->index / 2;
        assert_true(iteration < MAX_ITERATIONS);
        if (e->what == LOOP_SENT) {
            assert_int_equal(e->peer, (e->host + (e->index % 2 ? n - 1 : 1)) % n);
            assert_int_equal(m->n_done[e->host], iteration);
        } else if (e->what == LOOP_ARRIVED) {
            m->n_came[e->host][iteration]++;
            /* At most one iteration ahead, or the parity would not do. */
            assert_true(iteration <= m->n_done[e->host] + 1);
            m->n_ahead += iteration > m->n_done[e->host];
        } else if (e->what == LOOP_ACKED) {
            m->n_acked[e->host][iteration]++;
        } else {
            const uint32_t done = m->n_done[e->host]++;
            assert_int_equal(e->offer.bytes, 6000);
            assert_int_equal(m->n_came[e->host][done], 2);
            assert_true(!awaits_acks || m->n_acked[e->host][done] == 2);
        }
    }
}

static void iterations(void **unused)
{
    (void)unused;
    uint64_t n_ahead = 0;
    for (uint64_t seed = 0; seed < 80; seed++) {
        const uint32_t n = 2 + (uint32_t)seed % 8, count = 1 + (uint32_t)seed % 40;
        static const char *const carried[] = {"transport=none", "transport=none; sends=buffered",
                                              "transport=datagram", "transport=none; sends=acked"};
        struct bench *b = bench_create(n, 100 * XOFF_GBPS, 100 * XOFF_MS);
        struct model *m = calloc(1, sizeof *m);
        char text[128];
        assert_non_null(m);
        snprintf(text, sizeof text, "size=3KB; iterations=%u; %s", count, carried[seed % 4]);
        struct loop *l = loop_create(b, "mpi-exchange", text, seed);
        l->is_ordered = seed % 5 == 0;
        loop_run(l, XOFF_NEVER);
        play(m, l, n, seed % 4 == 0 || seed % 4 == 3);
        for (uint32_t r = 0; r < n; r++)
            assert_int_equal(m->n_done[r], count);
        assert_int_equal(loop_bytes(l), 2 * 3000 * (uint64_t)n * count);
        n_ahead += m->n_ahead;
        assert_int_equal(b->apps.apps[0].n_connections, 2);
        if (n == 2) /* one connection for both ways */
            assert_true(l->connection_to[0][0] == 1 && l->connection_to[0][1] == TOPO_NONE);
        loop_fini(l);
        bench_fini(b);
        free(m);
    }
    assert_true(n_ahead > 0);
}

/* Equal delays of 10 us: messages arrive after 10 us, acknowledgements after 20 us. */
static void times(void **unused)
{
    (void)unused;
    static const struct {
        const char *settings;
        xoff_time period_us;
    } rows[] = {{"size=1KB; iterations=3; transport=none", 20},
                {"size=1KB; iterations=3; transport=none; gap=7us", 27},
                {"size=1KB; iterations=3; transport=none; sends=buffered", 10},
                {"size=1KB; iterations=3; transport=datagram", 10}};
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        struct bench *b = bench_create(3, 100 * XOFF_GBPS, XOFF_MS);
        struct loop *l = loop_create(b, "mpi-exchange", rows[k].settings, 1);
        l->min_delay = 10 * XOFF_US;
        l->delay = 0;
        loop_run(l, XOFF_NEVER);
        uint32_t n_sent = 0;
        for (size_t i = 0; i < l->n; i++)
            if (l->log[i].what == LOOP_SENT && l->log[i].host == 1)
                assert_int_equal(l->log[i].at, n_sent++ / 2 * rows[k].period_us * XOFF_US);
        assert_int_equal(n_sent, 6);
        loop_fini(l);
        bench_fini(b);
    }
}

/* 3 hosts of 4 ranks in order: of the 12 links of the ring 3 are between hosts, used both ways. 25
 * ranks a host at random use more, and answers are full. */
static void ranks_on_hosts(void **unused)
{
    (void)unused;
    struct bench *b = bench_create(3, 100 * XOFF_GBPS, 100 * XOFF_MS);
    struct loop *l = loop_create(b, "mpi-exchange",
                                 "size=1KB; iterations=9; ranks_per_host=4; transport=none", 1);
    loop_run(l, XOFF_NEVER);
    assert_int_equal(loop_count(l, LOOP_SENT), 9 * 6);
    assert_int_equal(loop_count(l, LOOP_DONE), 9 * 12);
    loop_fini(l);
    uint32_t n_full = 0;
    for (uint64_t seed = 0; seed < 20; seed++) {
        b->env.seed = seed;
        l = loop_create(b, "mpi-exchange",
                        "size=1KB; iterations=5; ranks_per_host=25; placement=random; "
                        "transport=none",
                        seed);
        loop_run(l, XOFF_NEVER);
        assert_int_equal(loop_count(l, LOOP_DONE), 5 * 75);
        assert_true(loop_count(l, LOOP_SENT) > 5 * 60);
        n_full += l->n_full;
        loop_fini(l);
    }
    assert_true(n_full > 0);
    bench_fini(b);
}

/* Nothing begins from stop on; ranks that are in an iteration then may wait for ever for a
 * neighbour that is not. */
static void stop(void **unused)
{
    (void)unused;
    struct bench *b = bench_create(5, 100 * XOFF_GBPS, 200 * XOFF_US);
    struct loop *l = loop_create(b, "mpi-exchange", "size=1KB; transport=none", 1);
    loop_run(l, XOFF_NEVER);
    uint64_t n_sent = 0;
    for (size_t i = 0; i < l->n; i++)
        if (l->log[i].what == LOOP_SENT) {
            assert_true(l->log[i].at < 200 * XOFF_US);
            n_sent++;
        }
    assert_true(n_sent > 100);
    loop_fini(l);
    bench_fini(b);
}

static void bad_parameters(void **unused)
{
    (void)unused;
    struct bench *b = bench_create(4, 100 * XOFF_GBPS, XOFF_MS);
    bench_refuses(b, "mpi-exchange", "", "size", XOFF_E_RANGE);
    bench_refuses(b, "mpi-exchange", "size=1KB; hosts=h2", "hosts", XOFF_E_RANGE);
    bench_refuses(b, "mpi-exchange", "size=1KB; sends=acked", "sends", XOFF_E_CONFLICT);
    assert_int_equal(bench_bind(b, "mpi-exchange", "size=1KB; sends=acked; transport=none"), 0);
    b->env.acknowledges = NULL; /* all do */
    assert_int_equal(bench_bind(b, "mpi-exchange", "size=1KB; sends=acked"), 0);
    bench_fini(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(iterations),     cmocka_unit_test(times),
        cmocka_unit_test(ranks_on_hosts), cmocka_unit_test(stop),
        cmocka_unit_test(bad_parameters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
