/* Dedicated parts and a limited pool: each limit hit alone, from both sides, thresholds and
 * headroom, frames that move from ingress to egress, and random traffic against a slow model.
 *
 * Unless a test says otherwise the switch has four ports, priorities 3 and 4 lossless, dedicated
 * space of 2000 bytes and a pool of 20000: 2 * 4 * 8 * 2000 + 20000 + 4 * 2 * 3000 of headroom =
 * 172000 bytes in all. Frames have up to 1500 bytes.
 */
#include "mech/mmu/mmu_testing.h"

#include "mech/mechanisms.h"

#define LOSSLESS_34 0x18

static void setup_small(struct bench *b)
{
    bench_setup(b, &xoff_mmu_two_sided, LOSSLESS_34, 172000);
    b->env.max_frame_bytes = 1500;
    bench_set(b, "dedicated", "2000B");
    bench_set(b, "xoff", "5000B");
    bench_set(b, "xon", "2500B");
}

static enum xoff_limit limit(const struct bench *b, const struct xoff_departure *frame)
{
    return b->ops->egress_limit(b->mmu.cfg, b->mmu.state, frame);
}

/* A frame of 1000 bytes comes in at `in` and goes to the egress queue of `out`. Returns what keeps
 * it out; it is lost then. */
static enum xoff_limit move(struct bench *b, uint16_t in, uint16_t out, uint8_t priority)
{
    const struct xoff_arrival a = {.in_port = in, .priority = priority, .bytes = 1000};
    struct xoff_crossings crossings;
    const enum xoff_pool pool = xoff_mmu_admit(&b->mmu, &a, 0, &crossings);
    assert_int_not_equal(pool, XOFF_POOL_DROP);
    const struct xoff_departure d = {
        .in_port = in, .out_port = out, .priority = priority, .pool = (uint8_t)pool, .bytes = 1000};
    const enum xoff_limit answer = limit(b, &d);
    xoff_mmu_release(&b->mmu, &d, 0, &crossings);
    if (answer == XOFF_LIMIT_NONE)
        b->ops->egress_join(b->mmu.cfg, b->mmu.state, &d);
    return answer;
}

static void leave(struct bench *b, uint16_t out, uint8_t priority, uint32_t bytes)
{
    const struct xoff_departure d = {
        .out_port = out, .priority = priority, .pool = XOFF_POOL_SHARED, .bytes = bytes};
    b->ops->egress_leave(b->mmu.cfg, b->mmu.state, &d);
}

/* Each limit of lossy ingress queues alone: the frame that reaches 6000 bytes of the pool is
 * admitted, one byte more is not. */
static void test_each_ingress_limit(void **unused)
{
    (void)unused;
    static const struct {
        const char *key;
        uint16_t ports[3];
        uint8_t priorities[3];
    } rows[] = {
        {"queue_limit", {0, 0, 0}, {1, 1, 1}},   /* one queue */
        {"port_limit", {0, 0, 0}, {1, 2, 5}},    /* three queues of a port */
        {"ingress_limit", {0, 1, 2}, {1, 1, 1}}, /* three ports */
        {"pool", {0, 1, 2}, {1, 2, 5}},
    };
    for (uint32_t i = 0; i < 4; i++)
        for (uint32_t more = 0; more < 2; more++) {
            struct bench b;
            setup_small(&b);
            bench_set(&b, rows[i].key, "6000B");
            bench_start(&b);
            uint32_t n = 0;
            /* Frames of 1000 in turn: their own space first, then 6000 bytes of the pool. */
            const uint32_t n_queues = i == 0 ? 1 : 3;
            for (uint32_t k = 0; k < 2 * n_queues; k++, n++)
                assert_int_equal(
                    bench_arrive(&b, rows[i].ports[k % 3], 3, rows[i].priorities[k % 3], 1000),
                    XOFF_POOL_RESERVED);
            for (uint32_t k = 0; k < 5; k++, n++)
                assert_int_equal(
                    bench_arrive(&b, rows[i].ports[k % 3], 3, rows[i].priorities[k % 3], 1000),
                    XOFF_POOL_SHARED);
            expect_used(&b, 2000 * n_queues, 5000, 0);
            assert_int_equal(
                bench_arrive(&b, rows[i].ports[2], 3, rows[i].priorities[2], 1000 + more),
                more ? XOFF_POOL_DROP : XOFF_POOL_SHARED);
            /* Another queue, or another port, is not concerned, but by the limits of all. */
            const enum xoff_pool other = bench_arrive(&b, 3, 3, 6, 1500);
            assert_int_equal(other, XOFF_POOL_RESERVED);
            assert_int_equal(bench_arrive(&b, 3, 3, 6, 1500 + 500 * more),
                             i < 2 ? XOFF_POOL_SHARED : XOFF_POOL_DROP);
            bench_end(&b);
        }
}

static void test_each_egress_limit(void **unused)
{
    (void)unused;
    static const struct {
        const char *key;
        uint16_t ports[3];
        uint8_t priorities[3];
        enum xoff_limit limit;
    } rows[] = {
        {"queue_limit", {0, 0, 0}, {1, 1, 1}, XOFF_LIMIT_QUEUE},
        {"port_limit", {0, 0, 0}, {1, 2, 5}, XOFF_LIMIT_PORT},
        {"egress_limit", {0, 1, 2}, {1, 1, 1}, XOFF_LIMIT_ALL},
        {"pool", {0, 1, 2}, {1, 2, 5}, XOFF_LIMIT_ALL},
    };
    for (uint32_t i = 0; i < 4; i++) {
        struct bench b;
        setup_small(&b);
        bench_set(&b, rows[i].key, "6000B");
        bench_start(&b);
        const uint32_t n_queues = i == 0 ? 1 : 3, n = 2 * n_queues + 6;
        for (uint32_t k = 0; k < n; k++)
            assert_int_equal(move(&b, 3, rows[i].ports[k % 3], rows[i].priorities[k % 3]),
                             XOFF_LIMIT_NONE);
        expect_used(&b, 2000 * n_queues, 6000, 0);
        assert_int_equal(move(&b, 3, rows[i].ports[0], rows[i].priorities[0]), rows[i].limit);
        expect_used(&b, 2000 * n_queues, 6000, 0); /* it has left its ingress queue and is lost */
        /* An empty queue has its own space in any case; one that has used it up has not, unless
         * the limit is another queue's or port's. */
        for (uint32_t k = 0; k < 3; k++)
            assert_int_equal(move(&b, 2, 3, 6), k < 2 || i < 2 ? XOFF_LIMIT_NONE : XOFF_LIMIT_ALL);
        /* A byte short of the room that a frame needs, and to the byte. */
        leave(&b, rows[i].ports[0], rows[i].priorities[0], 999);
        const enum xoff_limit before = move(&b, 3, rows[i].ports[0], rows[i].priorities[0]);
        assert_int_equal(before, rows[i].limit);
        leave(&b, rows[i].ports[0], rows[i].priorities[0], 1);
        assert_int_equal(move(&b, 3, rows[i].ports[0], rows[i].priorities[0]), XOFF_LIMIT_NONE);
        bench_end(&b);
    }
}

/* A payload is stored once: a frame that lies in a full pool may still move, since it gives back
 * what it took. One that lies in dedicated space or in headroom gives back nothing. */
static void test_moving_takes_no_room(void **unused)
{
    (void)unused;
    struct bench b;
    struct xoff_crossings crossings;
    setup_small(&b);
    bench_set(&b, "pool", "6000B");
    bench_start(&b);
    for (uint32_t k = 0; k < 2; k++)
        assert_int_equal(move(&b, 3, 2, 1), XOFF_LIMIT_NONE); /* egress (2, 1) uses its own space */
    for (uint32_t k = 0; k < 8; k++) {
        const struct xoff_arrival a = {.in_port = 0, .priority = 1, .bytes = 1000};
        assert_int_equal(xoff_mmu_admit(&b.mmu, &a, 0, &crossings),
                         k < 2 ? XOFF_POOL_RESERVED : XOFF_POOL_SHARED);
    }
    expect_used(&b, 4000, 6000, 0);
    struct xoff_departure d = {
        .in_port = 0, .out_port = 2, .priority = 1, .pool = XOFF_POOL_RESERVED, .bytes = 1000};
    assert_int_equal(limit(&b, &d), XOFF_LIMIT_NONE); /* the queue gives back pool bytes first */
    d.bytes = 1001;
    assert_int_equal(limit(&b, &d), XOFF_LIMIT_NONE);
    d.pool = XOFF_POOL_HEADROOM;
    assert_int_equal(limit(&b, &d), XOFF_LIMIT_ALL);
    /* From a queue that uses its own space alone. */
    const struct xoff_arrival own = {.in_port = 1, .priority = 1, .bytes = 1000};
    assert_int_equal(xoff_mmu_admit(&b.mmu, &own, 0, &crossings), XOFF_POOL_RESERVED);
    d = (struct xoff_departure){
        .in_port = 1, .out_port = 2, .priority = 1, .pool = XOFF_POOL_RESERVED, .bytes = 1000};
    assert_int_equal(limit(&b, &d), XOFF_LIMIT_ALL);
    d.out_port = 3; /* whose own space is free */
    assert_int_equal(limit(&b, &d), XOFF_LIMIT_NONE);
    bench_end(&b);
}

/* XOFF at 5000 and not at 4999, XON at 2500 and not at 2501. */
static void test_thresholds_to_the_byte(void **unused)
{
    (void)unused;
    for (uint32_t more = 0; more < 2; more++) {
        struct bench b;
        setup_small(&b);
        bench_start(&b);
        for (int i = 0; i < 3; i++) {
            bench_arrive(&b, 0, 1, 3, 1500);
            expect_no_crossing(&b);
        }
        bench_arrive(&b, 0, 1, 3, 499 + more);
        if (more)
            expect_crossing(&b, 1, 5000, 5000);
        else
            expect_no_crossing(&b);
        bench_arrive(&b, 0, 1, 3, 1500);
        if (more)
            expect_no_crossing(&b);
        else
            expect_crossing(&b, 1, 6499, 5000);
        bench_depart(&b, 0, 1, 3, 1500, XOFF_POOL_SHARED);
        bench_depart(&b, 0, 1, 3, 1500, XOFF_POOL_SHARED);
        expect_no_crossing(&b); /* 3499 or 3500 */
        bench_depart(&b, 0, 1, 3, 998 + more, XOFF_POOL_SHARED);
        expect_no_crossing(&b); /* 2501 */
        bench_depart(&b, 0, 1, 3, 1, XOFF_POOL_SHARED);
        expect_crossing(&b, 0, 2500, 2500);
        bench_end(&b);
    }
}

/* What a lossless queue finds no room for lies in its headroom and decides XOFF, however short the
 * queue is; what passes the headroom is lost. XON waits until the headroom is empty. */
static void test_headroom(void **unused)
{
    (void)unused;
    struct bench b;
    setup_small(&b);
    bench_set(&b, "pool", "3000B");
    bench_set(&b, "xoff", "4000B");
    bench_start(&b);
    for (uint32_t k = 0; k < 5; k++)
        bench_arrive(&b, 1, 2, 0, 1000); /* a lossy queue takes the pool */
    assert_int_equal(bench_arrive(&b, 1, 2, 0, 64), XOFF_POOL_DROP);
    expect_no_crossing(&b);
    assert_int_equal(bench_arrive(&b, 0, 2, 3, 1500), XOFF_POOL_RESERVED);
    expect_no_crossing(&b);
    assert_int_equal(bench_arrive(&b, 0, 2, 3, 501), XOFF_POOL_HEADROOM);
    expect_crossing(&b, 1, 2001, 1500);
    expect_used(&b, 3500, 3000, 501);
    assert_int_equal(bench_arrive(&b, 0, 2, 3, 500), XOFF_POOL_RESERVED); /* there is room */
    assert_int_equal(bench_arrive(&b, 0, 2, 3, 1500), XOFF_POOL_HEADROOM);
    assert_int_equal(bench_arrive(&b, 0, 2, 3, 1000), XOFF_POOL_DROP);
    assert_int_equal(bench_arrive(&b, 0, 2, 3, 999), XOFF_POOL_HEADROOM);
    expect_no_crossing(&b);
    assert_int_equal(xoff_mmu_headroom_peak(&b.mmu, 0, 3), 3000);
    assert_int_equal(xoff_mmu_headroom_peak(&b.mmu, 0, 4), 0);
    assert_int_equal(xoff_mmu_headroom_limit(&b.mmu, 0, 3), 3000);
    assert_int_equal(xoff_mmu_headroom_limit(&b.mmu, 0, 0), 0);
    bench_depart(&b, 0, 2, 3, 1500, XOFF_POOL_RESERVED);
    bench_depart(&b, 0, 2, 3, 501, XOFF_POOL_HEADROOM);
    bench_depart(&b, 0, 2, 3, 500, XOFF_POOL_RESERVED);
    bench_depart(&b, 0, 2, 3, 1500, XOFF_POOL_HEADROOM);
    expect_no_crossing(&b);
    bench_depart(&b, 0, 2, 3, 999, XOFF_POOL_HEADROOM);
    expect_crossing(&b, 0, 0, 2500);
    bench_end(&b);
}

/* The slow model: all frames, and every figure added up anew. */
struct model_frame {
    uint16_t in, out;
    uint8_t priority, pool;
    uint32_t bytes;
    bool is_out; /* in its egress queue */
};

struct model {
    struct model_frame frames[2000];
    uint32_t n;
};

#define N 4
struct sums {
    int64_t queue[2][N][XOFF_N_PRIORITIES], shared, port[2][N], side[2];
    int64_t headroom[N][XOFF_N_PRIORITIES];
};

static void add_up(const struct model *m, struct sums *s)
{
    memset(s, 0, sizeof *s);
    for (uint32_t i = 0; i < m->n; i++) {
        const struct model_frame *f = &m->frames[i];
        if (f->pool == XOFF_POOL_HEADROOM && !f->is_out)
            s->headroom[f->in][f->priority] += f->bytes;
        else
            s->queue[f->is_out][f->is_out ? f->out : f->in][f->priority] += f->bytes;
    }
    for (uint32_t side = 0; side < 2; side++)
        for (uint32_t port = 0; port < N; port++)
            for (uint32_t p = 0; p < XOFF_N_PRIORITIES; p++) {
                const int64_t q = s->queue[side][port][p], beyond = q > 2000 ? q - 2000 : 0;
                s->port[side][port] += beyond;
                s->side[side] += beyond;
                s->shared += beyond;
            }
}

/* Adds the frame and looks whether any limit is passed that was not before. */
static bool fits(const struct model *before, const struct model_frame *f, bool is_moved)
{
    static struct model m;
    m = *before;
    if (is_moved)
        m.frames[f - before->frames].is_out = true;
    else
        m.frames[m.n++] = *f;
    struct sums s, old;
    add_up(&m, &s);
    add_up(before, &old);
    const uint32_t side = is_moved, port = is_moved ? f->out : f->in;
    const int64_t q = s.queue[side][port][f->priority];
    if (s.port[side][port] == old.port[side][port])
        return true; /* it lies in dedicated space */
    return q - 2000 <= 6000 && s.port[side][port] <= 8000 && s.side[side] <= 12000 &&
           s.shared <= 15000;
}

static void test_random_frames(void **unused)
{
    (void)unused;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        static struct model m;
        struct bench b;
        struct xoff_rng rng;
        uint32_t n_kept_out = 0, n_headroom = 0, n_lost = 0;
        bool above[N][XOFF_N_PRIORITIES] = {0};
        xoff_rng_init(&rng, seed, 0, 0);
        m.n = 0;
        setup_small(&b);
        bench_set(&b, "pool", "15000B");
        bench_set(&b, "queue_limit", "6000B");
        bench_set(&b, "port_limit", "8000B");
        bench_set(&b, "ingress_limit", "12000B");
        bench_set(&b, "egress_limit", "12000B");
        bench_start(&b);
        for (uint32_t step = 0; step < 4000; step++) {
            struct xoff_crossings crossings = {.n = 0};
            struct model_frame *f = &m.frames[m.n];
            const uint32_t what = (uint32_t)xoff_rng_below(&rng, 100);
            uint32_t in = 0, priority = 0;
            bool has_left = false; /* its ingress queue */
            if (what < 40 || !m.n) {
                const uint16_t in_port = (uint16_t)xoff_rng_below(&rng, N);
                const uint16_t out_port = (uint16_t)xoff_rng_below(&rng, 2);
                const uint8_t prio = (uint8_t)(2 + xoff_rng_below(&rng, 3));
                *f = (struct model_frame){.in = in_port,
                                          .out = out_port,
                                          .priority = prio,
                                          .bytes = 64 + (uint32_t)xoff_rng_below(&rng, 1437)};
                struct sums s;
                add_up(&m, &s);
                enum xoff_pool expected = XOFF_POOL_DROP;
                if (fits(&m, f, false))
                    expected = s.queue[0][f->in][prio] + f->bytes > 2000 ? XOFF_POOL_SHARED
                                                                         : XOFF_POOL_RESERVED;
                else if (LOSSLESS_34 >> prio & 1 && s.headroom[f->in][prio] + f->bytes <= 3000)
                    expected = XOFF_POOL_HEADROOM;
                const struct xoff_arrival a = {
                    .in_port = f->in, .priority = prio, .bytes = f->bytes};
                f->pool = (uint8_t)xoff_mmu_admit(&b.mmu, &a, 0, &crossings);
                assert_int_equal(f->pool, expected);
                in = f->in;
                priority = prio;
                n_headroom += f->pool == XOFF_POOL_HEADROOM;
                n_lost += f->pool == XOFF_POOL_DROP;
                m.n += f->pool != XOFF_POOL_DROP;
            } else {
                f = &m.frames[xoff_rng_below(&rng, m.n)];
                in = f->in;
                priority = f->priority;
                const struct xoff_departure d = {.in_port = f->in,
                                                 .out_port = f->out,
                                                 .priority = f->priority,
                                                 .pool = f->pool,
                                                 .bytes = f->bytes};
                const bool was_out = f->is_out;
                bool is_kept_out = false;
                if (!was_out) {
                    is_kept_out = limit(&b, &d) != XOFF_LIMIT_NONE;
                    assert_int_equal(!is_kept_out, fits(&m, f, true));
                    n_kept_out += is_kept_out;
                    if (is_kept_out && what < 70)
                        continue; /* it waits; else it is lost */
                    xoff_mmu_release(&b.mmu, &d, 0, &crossings);
                    f->is_out = has_left = true;
                }
                if (!was_out && !is_kept_out)
                    b.ops->egress_join(b.mmu.cfg, b.mmu.state, &d);
                else if (was_out)
                    b.ops->egress_leave(b.mmu.cfg, b.mmu.state, &d);
                if (was_out || is_kept_out)
                    *f = m.frames[--m.n];
            }
            struct sums s;
            add_up(&m, &s);
            const int64_t held = s.queue[0][in][priority] + s.headroom[in][priority];
            assert_int_equal(xoff_mmu_ingress_bytes(&b.mmu, in, priority), held);
            for (uint32_t i = 0; i < crossings.n; i++) {
                assert_int_equal(crossings.at[i].above, !above[in][priority]);
                above[in][priority] = crossings.at[i].above;
            }
            if (held >= 5000)
                assert_true(above[in][priority] || !(LOSSLESS_34 >> priority & 1));
            if (has_left && held <= 2500 && !s.headroom[in][priority])
                assert_false(above[in][priority]);
            const struct xoff_mmu_view v = bench_view(&b);
            assert_int_equal(v.used_bytes[XOFF_POOL_SHARED], s.shared);
            int64_t total = 0;
            for (uint32_t i = 0; i < m.n; i++)
                total += m.frames[i].bytes;
            assert_int_equal(v.used_total_bytes, total);
            for (int pool = 0; pool < XOFF_N_POOLS; pool++)
                assert_true(v.peak_bytes[pool] <= v.capacity_bytes[pool]);
        }
        if (!n_kept_out || !n_headroom || !n_lost)
            fail_msg("seed %llu: nothing was tested", (unsigned long long)seed);
        bench_end(&b);
    }
}

/* What an egress queue can hold is known before the buffer is configured: its own 2000 bytes and
 * the least of the limits that are given; else what dedicated space (128000) and headroom (24000)
 * leave of 172000. A queue filled with frames of a byte ends there. */
static void test_most_of_an_egress_queue(void **unused)
{
    (void)unused;
    static const struct {
        const char *key, *value;
        int64_t most;
    } rows[] = {
        {"xoff", "5000B", 22000},        {"pool", "12000B", 14000},
        {"port_limit", "9000B", 11000},  {"queue_limit", "8000B", 10000},
        {"egress_limit", "7000B", 9000}, {"ingress_limit", "6000B", 22000},
        {"headroom", "5000B", 6000},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct bench b;
        setup_small(&b);
        bench_set(&b, rows[i].key, rows[i].value);
        assert_int_equal(b.ops->egress_most(b.params, &b.env), rows[i].most);
        bench_start(&b);
        int64_t held = 0;
        while (limit(&b, &(struct xoff_departure){.priority = 3, .bytes = 1}) == XOFF_LIMIT_NONE) {
            b.ops->egress_join(b.mmu.cfg, b.mmu.state,
                               &(struct xoff_departure){.priority = 3, .bytes = 1});
            assert_true(++held <= rows[i].most);
        }
        assert_int_equal(held, rows[i].most);
        bench_end(&b);
    }
    struct bench b;
    setup_small(&b);
    b.env.buffer_bytes = 152000; /* nothing is left for the pool */
    assert_int_equal(b.ops->egress_most(b.params, &b.env), 0);
    b.env.buffer_bytes = 152001;
    assert_int_equal(b.ops->egress_most(b.params, &b.env), 2001);
}

static void test_refusals(void **unused)
{
    (void)unused;
    static const struct {
        const char *key, *value;
        enum xoff_err_code code;
        const char *subject;
    } rows[] = {
        {"pool", "20000B", XOFF_E_OK, ""},
        {"pool", "20001B", XOFF_E_CONFLICT, "buffer"},
        {"queue_limit", "20000B", XOFF_E_OK, ""},
        {"queue_limit", "20001B", XOFF_E_CONFLICT, "queue_limit"},
        {"port_limit", "20001B", XOFF_E_CONFLICT, "port_limit"},
        {"ingress_limit", "20001B", XOFF_E_CONFLICT, "ingress_limit"},
        {"egress_limit", "20001B", XOFF_E_CONFLICT, "egress_limit"},
        {"xoff", "21999B", XOFF_E_OK, ""},
        {"xoff", "22000B", XOFF_E_CONFLICT, "xoff"},
        {"xon", "4999B", XOFF_E_OK, ""},
        {"xon", "5000B", XOFF_E_CONFLICT, "xon"},
        {"headroom", "3000B", XOFF_E_OK, ""},
        {"headroom", "2999B", XOFF_E_RANGE, "headroom"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct bench b;
        setup_small(&b);
        bench_set(&b, rows[i].key, rows[i].value);
        if (!strcmp(rows[i].key, "port_limit"))
            bench_set(&b, "queue_limit", "auto");
        const int code = bench_configure(&b);
        if (code != -(int)rows[i].code || strcmp(b.err.subject, rows[i].subject) != 0)
            fail_msg("%s %s: %d, %s: %s", rows[i].key, rows[i].value, code, b.err.subject,
                     b.err.message);
        if (!code)
            bench_end(&b);
    }
    struct bench b;
    setup_small(&b);
    bench_set(&b, "dedicated", "0B");
    bench_set(&b, "queue_limit", "1499B");
    bench_set(&b, "xoff", "1000B");
    bench_set(&b, "xon", "500B");
    assert_int_equal(bench_configure(&b), -(int)XOFF_E_CONFLICT);
    assert_string_equal(b.err.subject, "queue_limit");
    bench_set(&b, "queue_limit", "1500B");
    bench_start(&b);
    bench_end(&b);
    /* The paper's switch has no headroom but the pool, which is accepted with a warning. */
    setup_small(&b);
    bench_set(&b, "headroom", "0B");
    bench_set(&b, "allow_loss", "true");
    bench_start(&b);
    assert_string_equal(b.err.subject, "headroom");
    bench_end(&b);
    /* Without lossless priorities there are no thresholds to be wrong. */
    setup_small(&b);
    b.env.lossless = 0;
    bench_set(&b, "xoff", "22000B");
    bench_start(&b);
    bench_end(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_ingress_limit),
        cmocka_unit_test(test_each_egress_limit),
        cmocka_unit_test(test_moving_takes_no_room),
        cmocka_unit_test(test_thresholds_to_the_byte),
        cmocka_unit_test(test_headroom),
        cmocka_unit_test(test_random_frames),
        cmocka_unit_test(test_most_of_an_egress_queue),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests_name("two_sided", tests, NULL, NULL);
}
