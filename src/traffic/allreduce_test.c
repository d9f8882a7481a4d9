/* Kind allreduce against a model that adds real vectors: chunks are sets of ranks whose part they
 * hold, carried from rank to rank in the order of the log. A chunk that is sent before the one it
 * is made of has come, or a wrong chunk, leaves a rank with an incomplete sum. */
#include "traffic/loop_testing.h"

#define MAX_N 16
#define MAX_COLLECTIVES 32

struct model {
    uint32_t n;
    uint32_t sum[MAX_COLLECTIVES][MAX_N][MAX_N]; /* collective, rank, chunk: set of ranks */
    uint32_t carried[MAX_COLLECTIVES * 2 * MAX_N][MAX_N]; /* step, sender: the set on its way */
    uint32_t n_received[MAX_N], n_done[MAX_N];
    bool has_come[MAX_N][MAX_COLLECTIVES * 2 * MAX_N];
};

static uint64_t chunk_bytes(uint64_t size, uint32_t n, uint32_t chunk)
{
    uint64_t bytes = 0; /* byte i of the vector belongs to chunk i mod n */
    for (uint64_t i = chunk; i < size; i += n)
        bytes++;
    return bytes;
}

/* One rank per host, in host order: message number s of a host is its step s. */
static void play(struct model *m, const struct loop *l, uint64_t size)
{
    const uint32_t n = m->n, n_steps = 2 * (n - 1);
    for (uint32_t c = 0; c < MAX_COLLECTIVES; c++)
        for (uint32_t r = 0; r < n; r++)
            for (uint32_t k = 0; k < n; k++)
                m->sum[c][r][k] = 1u << r;
    for (size_t i = 0; i < l->n; i++) {
        const struct loop_entry *e = &l->log[i];
        const uint32_t s = e->index, c = s / n_steps, k = s % n_steps;
        if (e->what == LOOP_SENT) {
            const uint32_t chunk = (e->host + 2 * n - k) % n;
            assert_int_equal(e->peer, (e->host + 1) % n);
            assert_int_equal(e->offer.bytes, chunk_bytes(size, n, chunk));
            assert_true(s == 0 || m->has_come[e->host][s - 1]);
            assert_true(m->n_done[e->host] >= c); /* the collective before it is over */
            m->carried[s][e->host] = m->sum[c][e->host][chunk];
        } else if (e->what == LOOP_ARRIVED) {
            const uint32_t chunk = (e->peer + 2 * n - k) % n;
            uint32_t *sum = &m->sum[c][e->host][chunk];
            assert_false(m->has_come[e->host][s]);
            m->has_come[e->host][s] = true;
            m->n_received[e->host]++;
            *sum = k < n - 1 ? *sum | m->carried[s][e->peer] : m->carried[s][e->peer];
        } else if (e->what == LOOP_DONE) {
            const uint32_t done = m->n_done[e->host]++;
            assert_int_equal(e->offer.bytes, size);
            for (uint32_t step = 0; step < n_steps; step++)
                assert_true(m->has_come[e->host][done * n_steps + step]);
            for (uint32_t chunk = 0; chunk < n; chunk++)
                assert_int_equal(m->sum[done][e->host][chunk], (1u << n) - 1);
        }
    }
}

static void sums_are_complete(void **unused)
{
    (void)unused;
    for (uint64_t seed = 0; seed < 60; seed++) {
        const uint32_t n = 2 + (uint32_t)seed % 8, n_collectives = 1 + (uint32_t)seed % 5;
        const uint64_t size = 100 + 37 * seed;
        struct bench *b = bench_create(n, 100 * XOFF_GBPS, 100 * XOFF_MS);
        struct model *m = calloc(1, sizeof *m);
        char text[128];
        assert_non_null(m);
        m->n = n;
        snprintf(text, sizeof text, "size=%lluB; iterations=%u; gap=%uns; transport=%s",
                 (unsigned long long)size, n_collectives, (unsigned)(seed % 3) * 700,
                 seed % 2 ? "none" : "datagram");
        struct loop *l = loop_create(b, "allreduce", text, seed);
        l->is_ordered = seed % 3 == 0;
        loop_run(l, XOFF_NEVER);
        play(m, l, size);
        for (uint32_t r = 0; r < n; r++) {
            assert_int_equal(m->n_done[r], n_collectives);
            assert_int_equal(m->n_received[r], n_collectives * 2 * (n - 1));
        }
        /* Every step moves every chunk once: 2 (n - 1) vectors in all. */
        assert_int_equal(loop_bytes(l), n_collectives * 2 * (n - 1) * size);
        loop_fini(l);
        bench_fini(b);
        free(m);
    }
}

/* Two hosts, equal delays of 10 us, gap 5 us: step 0 arrives at 10 us, step 1 at 20 us; the next
 * collective begins at 25 us. */
static void times(void **unused)
{
    (void)unused;
    struct bench *b = bench_create(2, 100 * XOFF_GBPS, XOFF_MS);
    struct loop *l = loop_create(b, "allreduce", "size=1KB; start=3us; gap=5us; iterations=2", 1);
    l->min_delay = 10 * XOFF_US;
    l->delay = 0;
    loop_run(l, XOFF_NEVER);
    static const xoff_time sent[] = {3, 13, 28, 38}, began[] = {3, 28}, ended[] = {23, 48};
    uint32_t n_sent = 0, n_done = 0;
    for (size_t i = 0; i < l->n; i++) {
        if (l->log[i].host != 0)
            continue;
        if (l->log[i].what == LOOP_SENT) {
            assert_int_equal(l->log[i].at, sent[n_sent++] * XOFF_US);
            assert_int_equal(l->log[i].offer.bytes, 500);
        } else if (l->log[i].what == LOOP_DONE) {
            assert_int_equal(l->log[i].offer.began_at, began[n_done] * XOFF_US);
            assert_int_equal(l->log[i].at, ended[n_done++] * XOFF_US);
        }
    }
    assert_int_equal(n_sent, 4);
    assert_int_equal(n_done, 2);
    loop_fini(l);
    bench_fini(b);
}

/* Several ranks of a host: only the link from its last rank to the next host's first is used, by
 * all chunks twice but two of them, and each rank ends each collective. */
static void ranks_on_hosts(void **unused)
{
    (void)unused;
    for (uint32_t per_host = 2; per_host <= 5; per_host++) {
        const uint32_t n_hosts = 3, n = n_hosts * per_host;
        struct bench *b = bench_create(n_hosts, 100 * XOFF_GBPS, 100 * XOFF_MS);
        char text[128];
        snprintf(text, sizeof text, "size=1001B; iterations=7; ranks_per_host=%u", per_host);
        struct loop *l = loop_create(b, "allreduce", text, per_host);
        loop_run(l, XOFF_NEVER);
        assert_int_equal(loop_count(l, LOOP_DONE), 7 * n);
        uint64_t bytes = 0;
        for (uint32_t r = per_host - 1; r < n; r += per_host)
            bytes += 7 * (2 * 1001 - chunk_bytes(1001, n, (r + 1) % n) -
                          chunk_bytes(1001, n, (r + 2) % n));
        assert_int_equal(loop_bytes(l), bytes);
        loop_fini(l);
        bench_fini(b);
    }
    /* In random order more links are used, and it ends all the same. */
    struct bench *b = bench_create(4, 100 * XOFF_GBPS, 100 * XOFF_MS);
    for (uint64_t seed = 0; seed < 20; seed++) {
        b->env.seed = seed;
        struct loop *l = loop_create(
            b, "allreduce", "size=1KB; iterations=3; ranks_per_host=20; placement=random", seed);
        loop_run(l, XOFF_NEVER);
        assert_int_equal(loop_count(l, LOOP_DONE), 3 * 80);
        assert_true(loop_count(l, LOOP_SENT) > 3 * 158 * 40);
        loop_fini(l);
    }
    bench_fini(b);
}

/* 60 ranks of a host begin together, and the successors of about 30 are elsewhere: more than an
 * answer holds. */
static void full_answers(void **unused)
{
    (void)unused;
    struct bench *b = bench_create(2, 100 * XOFF_GBPS, 100 * XOFF_MS);
    uint32_t n_full = 0;
    for (uint64_t seed = 0; seed < 20; seed++) {
        b->env.seed = seed;
        struct loop *l = loop_create(
            b, "allreduce", "size=1KB; iterations=1; ranks_per_host=60; placement=random", seed);
        l->delay = 0; /* many arrive at once */
        loop_run(l, XOFF_NEVER);
        n_full += l->n_full;
        assert_int_equal(loop_count(l, LOOP_DONE), 120);
        loop_fini(l);
    }
    assert_true(n_full > 0);
    bench_fini(b);
}

/* Without a number of iterations they go on until stop; none begins from there on. */
static void stop(void **unused)
{
    (void)unused;
    struct bench *b = bench_create(3, 100 * XOFF_GBPS, XOFF_MS);
    struct loop *l = loop_create(b, "allreduce", "size=1KB; start=100us; stop=500us", 1);
    loop_run(l, XOFF_NEVER);
    xoff_time last = 0;
    for (size_t i = 0; i < l->n; i++) {
        assert_true(l->log[i].at >= 100 * XOFF_US);
        if (l->log[i].what == LOOP_DONE && l->log[i].offer.began_at > last)
            last = l->log[i].offer.began_at;
    }
    assert_true(last < 500 * XOFF_US && last > 470 * XOFF_US);
    loop_fini(l);
    b->env.stop = 50 * XOFF_US;
    l = loop_create(b, "allreduce", "size=1KB; start=100us", 1);
    loop_run(l, XOFF_NEVER);
    assert_int_equal(l->n, 0);
    loop_fini(l);
    bench_fini(b);
}

/* More steps than the word has numbers: 40000 collectives of 2 ranks are 80000 steps. */
static void steps_wrap(void **unused)
{
    (void)unused;
    struct bench *b = bench_create(2, 100 * XOFF_GBPS, XOFF_S);
    struct loop *l = loop_create(b, "allreduce", "size=2B; iterations=40000", 1);
    loop_run(l, XOFF_NEVER);
    assert_int_equal(loop_count(l, LOOP_DONE), 80000);
    loop_fini(l);
    bench_fini(b);
}

static void bad_parameters(void **unused)
{
    (void)unused;
    struct bench *b = bench_create(4, 100 * XOFF_GBPS, XOFF_MS);
    bench_refuses(b, "allreduce", "", "size", XOFF_E_RANGE);
    bench_refuses(b, "allreduce", "size=3B", "size", XOFF_E_RANGE);
    assert_int_equal(bench_bind(b, "allreduce", "size=4B"), 0);
    bench_refuses(b, "allreduce", "size=7B; ranks_per_host=2", "size", XOFF_E_RANGE);
    bench_refuses(b, "allreduce", "size=1KB; hosts=h1", "hosts", XOFF_E_RANGE);
    bench_refuses(b, "allreduce", "size=1KB; hosts=h9", "hosts", XOFF_E_UNKNOWN);
    bench_refuses(b, "allreduce", "size=1KB; start=2us; stop=1us", "stop", XOFF_E_RANGE);
    bench_refuses(b, "allreduce", "size=1KB; transport=x", "transport", XOFF_E_UNKNOWN);
    bench_fini(b);
    b = bench_create(129, 100 * XOFF_GBPS, XOFF_MS);
    bench_refuses(b, "allreduce", "size=1MB; ranks_per_host=256", "hosts", XOFF_E_RANGE);
    assert_int_equal(bench_bind(b, "allreduce", "size=1MB; ranks_per_host=256; hosts=h0..h127"), 0);
    bench_fini(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_are_complete),
        cmocka_unit_test(times),
        cmocka_unit_test(ranks_on_hosts),
        cmocka_unit_test(full_answers),
        cmocka_unit_test(stop),
        cmocka_unit_test(steps_wrap),
        cmocka_unit_test(bad_parameters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
