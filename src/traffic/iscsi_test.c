/* Kind iscsi: every command followed PDU by PDU, from the words and sizes on the wire. */
#include "traffic/loop_testing.h"

#define MAX_N 16
#define MAX_PLACES 1024

/* As a message's word has it: type in the upper 3 bits, burst in the next 11, place in 10. */
enum { READ, WRITE, DATA_IN, R2T, DATA_OUT, RESPONSE };

/* What is to be on the wire next for a command. */
struct command {
    bool is_open;
    uint32_t target;
    uint32_t next_type, next_burst;
    xoff_time began_at;
};

struct model {
    struct command commands[MAX_N][MAX_PLACES];
    uint32_t open[MAX_N], most_open, n_reads, n_writes;
};

struct sizes_of {
    uint64_t size, burst, segment;
};

/* PDU by PDU. */
static uint64_t on_wire(uint64_t bytes, uint64_t segment)
{
    uint64_t sum = 0;
    while (bytes) {
        const uint64_t data = bytes < segment ? bytes : segment;
        sum += 48 + data;
        bytes -= data;
    }
    return sum;
}

static uint64_t burst_bytes(const struct sizes_of *s, uint32_t burst)
{
    uint64_t left = s->size;
    while (burst--)
        left -= s->burst;
    return left < s->burst ? left : s->burst;
}

static void on_sent(struct model *m, const struct loop_entry *e, const struct sizes_of *s)
{
    const uint32_t type = e->offer.word >> 21, burst = e->offer.word >> 10 & 2047;
    const uint32_t place = e->offer.word & 1023;
    const bool by_initiator = type == READ || type == WRITE || type == DATA_OUT;
    const uint32_t initiator = by_initiator ? e->host : e->peer;
    struct command *c = &m->commands[initiator][place];
    if (type == READ || type == WRITE) {
        assert_false(c->is_open);
        assert_int_equal(e->offer.bytes, 48);
        *c = (struct command){.is_open = true,
                              .target = e->peer,
                              .next_type = type == READ ? DATA_IN : R2T,
                              .began_at = e->at};
        if (++m->open[initiator] > m->most_open)
            m->most_open = m->open[initiator];
        m->n_reads += type == READ;
        m->n_writes += type == WRITE;
        return;
    }
    assert_true(c->is_open && c->target == (by_initiator ? e->peer : e->host));
    assert_int_equal(c->next_type, type);
    assert_int_equal(c->next_burst, burst);
    if (type == DATA_IN) {
        assert_int_equal(e->offer.bytes, on_wire(s->size, s->segment) + 48);
    } else if (type == R2T) {
        assert_int_equal(e->offer.bytes, 48);
        c->next_type = DATA_OUT;
    } else if (type == DATA_OUT) {
        const bool is_last = (uint64_t)(burst + 1) * s->burst >= s->size;
        assert_int_equal(e->offer.bytes, on_wire(burst_bytes(s, burst), s->segment));
        c->next_type = is_last ? RESPONSE : R2T;
        c->next_burst = is_last ? 0 : burst + 1;
    } else {
        assert_int_equal(e->offer.bytes, 48);
    }
}

/* Every answer follows at once on the arrival of what it answers; a command ends with the arrival
 * of its data or response. */
static void play(struct model *m, const struct loop *l, const struct sizes_of *s)
{
    const struct loop_entry *came = NULL;
    for (size_t i = 0; i < l->n; i++) {
        const struct loop_entry *e = &l->log[i];
        const uint32_t type = e->offer.word >> 21;
        if (e->what == LOOP_ARRIVED) {
            came = e;
        } else if (e->what == LOOP_SENT) {
            if (type > WRITE) {
                assert_true(came && came->at == e->at && came->host == e->host);
                assert_true(came->peer == e->peer);
                assert_int_equal(came->offer.word & 1023, e->offer.word & 1023);
            }
            on_sent(m, e, s);
        } else if (e->what == LOOP_DONE) {
            const uint32_t last = came->offer.word >> 21;
            struct command *c = &m->commands[e->host][came->offer.word & 1023];
            assert_true(last == DATA_IN || last == RESPONSE);
            assert_true(came->host == e->host && came->at == e->at && c->is_open);
            assert_true(c->next_type == last && c->target == e->peer);
            assert_int_equal(e->offer.began_at, c->began_at);
            assert_int_equal(e->offer.bytes, s->size);
            c->is_open = false;
            m->open[e->host]--;
        }
    }
}

static void commands_end(void **unused)
{
    (void)unused;
    static const struct {
        const char *settings;
        struct sizes_of sizes;
    } rows[] = {
        {"", {65536, 262144, 8192}},
        {"; size=262144B", {262144, 262144, 8192}},
        {"; size=262145B", {262145, 262144, 8192}},
        {"; size=1000KB; burst=100KB; segment=3KB", {1000000, 100000, 3000}},
        {"; size=1B; segment=512B", {1, 262144, 512}},
        {"; size=1048576B; burst=512B", {1048576, 512, 8192}}, /* 2048 bursts */
    };
    static const char *const patterns[] = {"; from=h0; to=h1", "; from=h0..h2; to=h3", "",
                                           "; from=h1,h2; to=h0,h3; pattern=pairs",
                                           "; pattern=shift; shift=1"};
    for (uint64_t seed = 0; seed < 60; seed++) {
        const size_t row = seed % (sizeof rows / sizeof rows[0]);
        const uint32_t depth = 1 + (uint32_t)(seed * 7 % 40);
        struct bench *b = bench_create(4, 100 * XOFF_GBPS, XOFF_MS);
        struct model *m = calloc(1, sizeof *m);
        char text[200];
        assert_non_null(m);
        snprintf(text, sizeof text, "depth=%u; read=%u/2; transport=%s%s%s", depth,
                 (unsigned)seed / 3 % 3, seed % 2 ? "none" : "datagram", patterns[seed % 5],
                 rows[row].settings);
        b->env.seed = seed;
        struct loop *l = loop_create(b, "iscsi", text, seed);
        l->is_ordered = seed % 3 == 0;
        loop_run(l, XOFF_NEVER);
        play(m, l, &rows[row].sizes);
        assert_int_equal(m->most_open, depth);
        assert_true(m->n_reads + m->n_writes >= depth);
        assert_int_equal(loop_count(l, LOOP_DONE), m->n_reads + m->n_writes);
        assert_true(seed / 3 % 3 != 0 || m->n_reads == 0);
        assert_true(seed / 3 % 3 != 2 || m->n_writes == 0);
        assert_true(depth <= APP_MAX_OFFERS || l->n_full > 0);
        for (uint32_t h = 0; h < 4; h++)
            assert_int_equal(m->open[h], 0);
        for (size_t i = 0; i < l->n; i++) /* no command begins from stop on */
            if (l->log[i].what == LOOP_SENT && l->log[i].offer.word >> 21 <= WRITE)
                assert_true(l->log[i].at < XOFF_MS && l->log[i].offer.continues);
        loop_fini(l);
        bench_fini(b);
        free(m);
    }
}

/* Equal delays of 10 us, one command at a time. A read takes 20 us; with 5 us to think one begins
 * every 25 us. A write of two bursts takes 6 crossings, 60 us. */
static void times(void **unused)
{
    (void)unused;
    static const struct {
        const char *settings;
        xoff_time took_us, period_us;
    } rows[] = {{"from=h0; to=h1; read=1", 20, 20},
                {"from=h0; to=h1; read=1; think=5us", 20, 25},
                {"from=h0; to=h1; read=0; size=64KB", 40, 40},
                {"from=h0; to=h1; read=0; size=64KB; burst=32KB", 60, 60}};
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        struct bench *b = bench_create(2, 100 * XOFF_GBPS, XOFF_MS);
        struct loop *l = loop_create(b, "iscsi", rows[k].settings, 1);
        xoff_time n = 0;
        l->min_delay = 10 * XOFF_US;
        l->delay = 0;
        loop_run(l, XOFF_NEVER);
        for (size_t i = 0; i < l->n; i++) {
            if (l->log[i].what != LOOP_DONE)
                continue;
            assert_int_equal(l->log[i].offer.began_at, n * rows[k].period_us * XOFF_US);
            assert_int_equal(l->log[i].at - l->log[i].offer.began_at, rows[k].took_us * XOFF_US);
            n++;
        }
        /* Those that begin before 1 ms: ceil(1000 / period). */
        assert_int_equal(n, (1000 + rows[k].period_us - 1) / rows[k].period_us);
        loop_fini(l);
        bench_fini(b);
    }
}

/* A quarter of the commands read; targets are drawn alike, never the initiator. */
static void shares(void **unused)
{
    (void)unused;
    struct bench *b = bench_create(5, 100 * XOFF_GBPS, 10 * XOFF_MS);
    struct model *m = calloc(1, sizeof *m);
    const struct sizes_of sizes = {4096, 262144, 8192};
    assert_non_null(m);
    struct loop *l = loop_create(b, "iscsi", "size=4KiB; read=0.25; depth=8", 1);
    loop_run(l, XOFF_NEVER);
    play(m, l, &sizes);
    const double n = m->n_reads + m->n_writes;
    uint32_t to[5] = {0};
    assert_true(n > 10000);
    assert_near(m->n_reads, n / 4, 0.05);
    for (size_t i = 0; i < l->n; i++)
        if (l->log[i].what == LOOP_SENT && l->log[i].offer.word >> 21 <= WRITE)
            to[l->log[i].peer]++;
    for (uint32_t h = 0; h < 5; h++)
        assert_near(to[h], n / 5, 0.05);
    loop_fini(l);
    bench_fini(b);
    free(m);
}

static void bad_parameters(void **unused)
{
    (void)unused;
    struct bench *b = bench_create(4, 100 * XOFF_GBPS, XOFF_MS);
    assert_int_equal(bench_bind(b, "iscsi", "from=h0; to=h1"), 0);
    assert_int_equal(b->apps.n, 2);
    assert_int_equal(bench_bind(b, "iscsi", "size=1048576B; burst=512B"), 0);
    bench_refuses(b, "iscsi", "size=1048577B; burst=512B", "size", XOFF_E_RANGE);
    bench_refuses(b, "iscsi", "from=h0; to=h0", "to", XOFF_E_CONFLICT);
    bench_refuses(b, "iscsi", "from=h9", "from", XOFF_E_UNKNOWN);
    bench_refuses(b, "iscsi", "start=2us; stop=1us", "stop", XOFF_E_RANGE);
    bench_refuses(b, "iscsi", "transport=x", "transport", XOFF_E_UNKNOWN);
    struct xoff_err err;
    char params[8192];
    static const char *const beyond[][2] = {{"depth", "1025"},
                                            {"depth", "0"},
                                            {"read", "1.01"},
                                            {"segment", "511B"},
                                            {"burst", "511B"}};
    for (size_t i = 0; i < sizeof beyond / sizeof beyond[0]; i++) {
        const struct xoff_param *p = xoff_param_find(traffic_find("iscsi")->params, beyond[i][0]);
        assert_int_not_equal(xoff_param_set(p, params, beyond[i][1], &err), 0);
    }
    bench_fini(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(commands_end),
        cmocka_unit_test(times),
        cmocka_unit_test(shares),
        cmocka_unit_test(bad_parameters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
