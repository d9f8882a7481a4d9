/* Kind query: who is asked, when a query ends, how many are under way, the Poisson process. */
#include "traffic/loop_testing.h"

#define MAX_N 16

/* A query as the log shows it: the requests of an aggregator come in runs of n_senders. */
struct query {
    uint32_t aggregator;
    uint32_t n_asked, n_answered;
    bool is_asked[MAX_N];
    xoff_time sent_at, last_at, began_at, done_at;
};

struct model {
    struct query *queries;
    uint32_t n;
    uint32_t open[MAX_N], most_open;
};

/* The query of which host `to` was asked by the aggregator with this word and has not answered. The
 * word names it among those under way. */
static struct query *find(struct model *m, const uint32_t *by_word, uint32_t word)
{
    const uint32_t number = by_word[word & 0xffff];
    assert_true(number < m->n);
    return &m->queries[number];
}

static struct model *play(const struct loop *l, uint32_t n_senders, uint64_t request, uint64_t size)
{
    struct model *m = calloc(1, sizeof *m);
    uint32_t(*by_word)[65536] = calloc(MAX_N, sizeof *by_word);
    uint32_t current[MAX_N];
    assert_true(m && by_word);
    m->queries = calloc(l->n + 1, sizeof *m->queries);
    assert_non_null(m->queries);
    memset(current, 0xff, sizeof current);
    for (size_t i = 0; i < l->n; i++) {
        const struct loop_entry *e = &l->log[i];
        const bool is_request = e->offer.word >> 16;
        if (e->what == LOOP_SENT && is_request) {
            assert_int_equal(e->offer.bytes, request);
            if (current[e->host] == UINT32_MAX) {
                current[e->host] = by_word[e->host][e->offer.word & 0xffff] = m->n;
                m->queries[m->n++] = (struct query){.aggregator = e->host, .sent_at = e->at};
                if (++m->open[e->host] > m->most_open)
                    m->most_open = m->open[e->host];
            }
            struct query *q = find(m, by_word[e->host], e->offer.word);
            assert_int_equal(q - m->queries, current[e->host]);
            assert_true(q->sent_at == e->at && !q->is_asked[e->peer] && e->peer != e->host);
            q->is_asked[e->peer] = true;
            if (++q->n_asked == n_senders)
                current[e->host] = UINT32_MAX;
        } else if (e->what == LOOP_SENT) { /* right when the request has come */
            assert_true(i > 0 && l->log[i - 1].what == LOOP_ARRIVED && l->log[i - 1].at == e->at);
            assert_true(l->log[i - 1].host == e->host && l->log[i - 1].peer == e->peer);
            assert_int_equal(e->offer.bytes, size);
        } else if (e->what == LOOP_ARRIVED && !is_request) {
            struct query *q = find(m, by_word[e->host], e->offer.word);
            assert_true(q->aggregator == e->host && q->is_asked[e->peer]);
            q->is_asked[e->peer] = false; /* one answer of each */
            q->n_answered++;
            q->last_at = e->at;
            if (q->n_answered == n_senders) {
                assert_true(i + 1 < l->n && l->log[i + 1].what == LOOP_DONE);
                q->done_at = l->log[i + 1].at;
                q->began_at = l->log[i + 1].offer.began_at;
                assert_true(q->done_at == q->last_at && l->log[i + 1].host == e->host);
                assert_int_equal(l->log[i + 1].offer.bytes, n_senders * size);
                m->open[e->host]--;
            }
        }
    }
    free(by_word);
    return m;
}

static void model_fini(struct model *m)
{
    free(m->queries);
    free(m);
}

static void queries_end(void **unused)
{
    (void)unused;
    for (uint64_t seed = 0; seed < 60; seed++) {
        const uint32_t n = 3 + (uint32_t)seed % 7, n_senders = 1 + (uint32_t)seed % (n - 1);
        struct bench *b = bench_create(n, 100 * XOFF_GBPS, XOFF_MS);
        char text[200];
        snprintf(text, sizeof text,
                 "senders=%u; size=5KB; every=3us; outstanding=%u; connections=%s; transport=%s",
                 n_senders, 1 + (unsigned)seed % 4, seed % 2 ? "new" : "kept",
                 seed % 3 ? "none" : "datagram");
        b->env.seed = seed;
        struct loop *l = loop_create(b, "query", text, seed);
        loop_run(l, XOFF_NEVER);
        struct model *m = play(l, n_senders, 64, 5000);
        assert_true(m->n > 50);
        assert_int_equal(loop_count(l, LOOP_DONE), m->n);
        assert_true(m->most_open <= 1 + seed % 4);
        assert_int_equal(loop_bytes(l), (uint64_t)m->n * n_senders * 5064);
        bool has_waited = false;
        for (uint32_t i = 0; i < m->n; i++) {
            assert_int_equal(m->queries[i].n_answered, n_senders);
            assert_true(m->queries[i].began_at <= m->queries[i].sent_at);
            assert_true(m->queries[i].began_at < XOFF_MS);
            has_waited |= m->queries[i].began_at < m->queries[i].sent_at;
        }
        assert_true(has_waited || seed % 4 > 0);
        for (size_t i = 0; i < l->n; i++)
            if (l->log[i].what == LOOP_SENT)
                assert_int_equal(l->log[i].offer.continues, seed % 2 == 0);
        model_fini(m);
        loop_fini(l);
        bench_fini(b);
    }
}

/* 10 ms of a query every 1 us on 8 aggregators: 10000 of them (deviation 100), 1250 each; their
 * distances, taken together, are exponential: half below log 2 us. Each of 7 others is asked alike
 * often: 3/7 of 1250. */
static void process_and_choice(void **unused)
{
    (void)unused;
    struct bench *b = bench_create(8, 100 * XOFF_GBPS, 10 * XOFF_MS);
    struct loop *l = loop_create(b, "query", "senders=3; size=1B; every=1us; outstanding=1000", 1);
    loop_run(l, XOFF_NEVER);
    struct model *m = play(l, 3, 64, 1);
    uint32_t by_host[8] = {0}, asked[8][8] = {{0}}, n_short = 0;
    assert_true(m->n > 9600 && m->n < 10400);
    for (uint32_t i = 0; i < m->n; i++) {
        by_host[m->queries[i].aggregator]++;
        assert_int_equal(m->queries[i].began_at, m->queries[i].sent_at);
        n_short += i && m->queries[i].sent_at - m->queries[i - 1].sent_at < 693147;
    }
    assert_near((double)n_short, m->n / 2.0, 0.05);
    for (size_t i = 0; i < l->n; i++)
        if (l->log[i].what == LOOP_SENT && l->log[i].offer.bytes == 64)
            asked[l->log[i].host][l->log[i].peer]++;
    for (uint32_t h = 0; h < 8; h++) {
        assert_near(by_host[h], 1250, 0.12);
        for (uint32_t k = 0; k < 8; k++)
            if (k != h)
                assert_near(asked[h][k], by_host[h] * 3 / 7.0, 0.15);
    }
    model_fini(m);
    loop_fini(l);
    bench_fini(b);
}

/* An aggregator outside of `from` asks all of it, 40 hosts: more than two answers hold. */
static void more_than_an_answer(void **unused)
{
    (void)unused;
    struct bench *b = bench_create(41, 100 * XOFF_GBPS, 100 * XOFF_US);
    struct loop *l =
        loop_create(b, "query", "from=h0..h39; to=h40; size=1KB; request=100B; every=10us", 1);
    loop_run(l, XOFF_NEVER);
    const uint64_t n = loop_count(l, LOOP_DONE);
    bool is_asked[41] = {false};
    uint32_t n_asked = 0;
    assert_true(n > 3 && l->n_full >= 2 * n);
    for (size_t i = 0; i < l->n; i++) {
        if (l->log[i].what != LOOP_SENT || l->log[i].host != 40)
            continue;
        if (n_asked++ % 40 == 0)
            memset(is_asked, 0, sizeof is_asked);
        assert_false(is_asked[l->log[i].peer]);
        is_asked[l->log[i].peer] = true;
    }
    assert_int_equal(n_asked, 40 * n);
    loop_fini(l);
    bench_fini(b);
}

/* Nothing before start; no query arrives from stop on. */
static void period(void **unused)
{
    (void)unused;
    struct bench *b = bench_create(4, 100 * XOFF_GBPS, XOFF_MS);
    struct loop *l = loop_create(b, "query", "size=1KB; every=1us; start=100us; stop=200us", 1);
    loop_run(l, XOFF_NEVER);
    xoff_time first = XOFF_NEVER, last = 0;
    for (size_t i = 0; i < l->n; i++) {
        if (l->log[i].what != LOOP_DONE)
            continue;
        const xoff_time at = l->log[i].offer.began_at;
        first = at < first ? at : first;
        last = at > last ? at : last;
    }
    assert_true(first >= 100 * XOFF_US && first < 110 * XOFF_US);
    assert_true(last < 200 * XOFF_US && last > 190 * XOFF_US);
    loop_fini(l);
    bench_fini(b);
}

static void bad_parameters(void **unused)
{
    (void)unused;
    struct bench *b = bench_create(4, 100 * XOFF_GBPS, XOFF_MS);
    bench_refuses(b, "query", "every=1us", "size", XOFF_E_RANGE);
    bench_refuses(b, "query", "size=1KB", "every", XOFF_E_RANGE);
    bench_refuses(b, "query", "size=1KB; every=1us; senders=4", "senders", XOFF_E_RANGE);
    assert_int_equal(bench_bind(b, "query", "size=1KB; every=1us; senders=3"), 0);
    assert_int_equal(bench_bind(b, "query", "size=1KB; every=1us; from=h0,h1; to=h2,h3"), 0);
    assert_int_equal(b->apps.n, 4);
    bench_refuses(b, "query", "size=1KB; every=1us; from=h0,h1; to=h1,h2; senders=2", "senders",
                  XOFF_E_RANGE);
    assert_non_null(strstr(b->err.message, "h1 1"));
    bench_refuses(b, "query", "size=1KB; every=1us; from=h2; to=h2", "senders", XOFF_E_RANGE);
    bench_refuses(b, "query", "size=1KB; every=1us; from=h9", "from", XOFF_E_UNKNOWN);
    bench_refuses(b, "query", "size=1KB; every=1us; to=h9", "to", XOFF_E_UNKNOWN);
    bench_refuses(b, "query", "size=1KB; every=1us; stop=0s", "stop", XOFF_E_RANGE);
    struct xoff_err err;
    char params[8192];
    const struct xoff_param *request = xoff_param_find(traffic_find("query")->params, "request");
    assert_int_not_equal(xoff_param_set(request, params, "0B", &err),
                         0); /* nobody starts unasked */
    bench_fini(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(queries_end),         cmocka_unit_test(process_and_choice),
        cmocka_unit_test(more_than_an_answer), cmocka_unit_test(period),
        cmocka_unit_test(bad_parameters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
