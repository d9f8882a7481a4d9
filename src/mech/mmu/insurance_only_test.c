/* Headroom for each port, shared by its queues: thresholds from both sides, traces worked by hand,
 * and random traffic against a slow model.
 *
 * Unless a test says otherwise the switch has four ports and
 *
 *   priorities 3 and 4 lossless, 1000 bytes of reserve each              4 * 2 * 1000 =  8000
 *   eta = 3000 bytes of headroom per port                                    4 * 3000 = 12000
 *   a shared pool, in which nothing is set aside for lossy traffic                      64000
 *   alpha 1/16: T = 4000 when the pool is empty; resume_offset 300
 */
#include "mech/mmu/mmu_testing.h"

#include "mech/mechanisms.h"

#define LOSSLESS_34 0x18

static void setup_small(struct bench *b, const struct xoff_mmu_ops *ops)
{
    bench_setup(b, ops, LOSSLESS_34, 84000);
    bench_set(b, "reserved", "1000B");
    bench_set(b, "reserved_lossy", "0B");
    bench_set(b, "resume_offset", "300B");
    b->has_port_level = true;
}

/* An empty switch again, with the reserves of port 0 full. */
static void refill(struct bench *b)
{
    bench_restart(b);
    assert_int_equal(bench_arrive(b, 0, 1, 3, 1000), XOFF_POOL_RESERVED);
    expect_no_crossing(b);
    assert_int_equal(bench_arrive(b, 0, 1, 4, 1000), XOFF_POOL_RESERVED);
    expect_no_crossing(b);
}

static void start_small(struct bench *b)
{
    setup_small(b, &xoff_mmu_insurance_only);
    bench_start(b);
    refill(b);
}

static void expect_port(const struct bench *b, int above, int64_t occupied, int64_t threshold)
{
    expect_crossing(b, above, occupied, threshold);
    assert_int_equal(b->crossings.at[0].unit, XOFF_UNIT_INGRESS_PORT);
}

static void expect_pools(const struct bench *b, int64_t reserved, int64_t shared, int64_t insurance)
{
    expect_used(b, reserved, shared, 0);
    assert_int_equal(bench_view(b).used_bytes[XOFF_POOL_INSURANCE], insurance);
}

/* Priority 3 fills its port to a loss and back; priority 4 fills later, and the port waits for
 * both.
 */
static void test_trace_of_two_queues(void **unused)
{
    (void)unused;
    struct bench b;
    start_small(&b);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(bench_arrive(&b, 0, 1, 3, 1000), XOFF_POOL_SHARED);
        expect_no_crossing(&b);
    }
    /* 4000 > (64000 - 3000)/16 = 3812 */
    assert_int_equal(bench_arrive(&b, 0, 1, 3, 1000), XOFF_POOL_INSURANCE);
    expect_port(&b, 1, 4000, 3812);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(bench_arrive(&b, 0, 1, 3, 1000), XOFF_POOL_INSURANCE);
        expect_no_crossing(&b);
    }
    assert_int_equal(bench_arrive(&b, 0, 1, 3, 1000), XOFF_POOL_DROP);
    expect_no_crossing(&b);
    expect_pools(&b, 2000, 3000, 3000);
    assert_int_equal(xoff_mmu_headroom_peak(&b.mmu, 0, 4), 3000);
    assert_int_equal(xoff_mmu_headroom_peak(&b.mmu, 1, 3), 0);

    /* T is 3812, 3750, 3687 as these come, and then 3625. */
    for (int i = 0; i < 3; i++)
        assert_int_equal(bench_arrive(&b, 0, 2, 4, 1000), XOFF_POOL_SHARED);
    assert_int_equal(bench_arrive(&b, 0, 2, 4, 1000), XOFF_POOL_DROP);
    expect_no_crossing(&b);

    /* Priority 3 is full no more after three, with 3000 + 300 <= 3625. */
    for (int i = 0; i < 3; i++) {
        bench_depart(&b, 0, 1, 3, 1000, XOFF_POOL_INSURANCE);
        expect_no_crossing(&b);
    }
    expect_pools(&b, 2000, 6000, 0);
    assert_true(b.port_above[0]);
    bench_depart(&b, 0, 2, 4, 1000, XOFF_POOL_SHARED);
    expect_port(&b, 0, 2000, 3687 - 300);
    bench_end(&b);
}

/* The same bytes of one priority in both buffers. With insurance alone the port stops; with dynamic
 * headroom the queue does, at T - eta = 937, and its port goes on. */
static void test_isolation_against_dsh(void **unused)
{
    (void)unused;
    struct bench b, dsh;
    start_small(&b);
    setup_small(&dsh, &xoff_mmu_dsh);
    bench_start(&dsh);
    refill(&dsh);
    for (int i = 0; i < 4; i++) {
        bench_arrive(&b, 0, 1, 3, 1000);
        bench_arrive(&dsh, 0, 1, 3, 1000);
    }
    assert_true(b.port_above[0]);
    assert_true(dsh.above[0][3] && !dsh.above[0][4] && !dsh.port_above[0]);
    assert_int_equal(bench_view(&dsh).used_bytes[XOFF_POOL_INSURANCE], 0);
    bench_end(&b);
    bench_end(&dsh);
}

/* shared(i) > T: 3765 > (64000 - 3765)/16 = 3764, but 3764 is not. */
static void test_xoff_boundary(void **unused)
{
    (void)unused;
    struct bench b;
    start_small(&b);
    assert_int_equal(bench_arrive(&b, 0, 1, 3, 3764), XOFF_POOL_SHARED);
    expect_no_crossing(&b);
    refill(&b);
    assert_int_equal(bench_arrive(&b, 0, 1, 3, 3765), XOFF_POOL_SHARED);
    expect_port(&b, 1, 3765, 3764);
    /* T before the frame: 4000 bytes fit, 4001 do not, and are more than eta. */
    refill(&b);
    assert_int_equal(bench_arrive(&b, 0, 1, 3, 4000), XOFF_POOL_SHARED);
    expect_port(&b, 1, 4000, 3750);
    refill(&b);
    assert_int_equal(bench_arrive(&b, 0, 1, 3, 4001), XOFF_POOL_DROP);
    expect_port(&b, 1, 4001, 4000);
    /* A queue that holds nothing does not stop its port: nothing would leave. */
    bench_restart(&b);
    assert_int_equal(bench_arrive(&b, 0, 1, 3, 5001), XOFF_POOL_DROP);
    expect_no_crossing(&b);
    assert_int_equal(bench_arrive(&b, 0, 1, 3, 5000), XOFF_POOL_SHARED);
    expect_port(&b, 1, 4000, 3750);
    bench_end(&b);
}

/* 3482 + 300 <= (64000 - 3482)/16 = 3782, but 3483 + 300 > 3782. */
static void test_xon_boundary(void **unused)
{
    (void)unused;
    struct bench b;
    start_small(&b);
    bench_arrive(&b, 0, 1, 3, 3765);
    bench_depart(&b, 0, 1, 3, 282, XOFF_POOL_SHARED);
    expect_no_crossing(&b);
    bench_depart(&b, 0, 1, 3, 1, XOFF_POOL_SHARED);
    expect_port(&b, 0, 3482, 3482);

    /* With one byte in headroom there is no XON, however low the rest; without, there is. */
    refill(&b);
    bench_arrive(&b, 0, 1, 3, 3000);
    assert_int_equal(bench_arrive(&b, 0, 1, 3, 2000), XOFF_POOL_INSURANCE);
    bench_depart(&b, 0, 1, 3, 1999, XOFF_POOL_INSURANCE);
    expect_no_crossing(&b);
    bench_depart(&b, 0, 1, 3, 1, XOFF_POOL_INSURANCE);
    expect_port(&b, 0, 3000, 3812 - 300);
    bench_end(&b);
}

/* A full queue that stands still holds its port, whatever else leaves. */
static void test_innocent_queue_waits(void **unused)
{
    (void)unused;
    struct bench b;
    start_small(&b);
    bench_arrive(&b, 0, 2, 4, 500);
    assert_int_equal(bench_arrive(&b, 2, 1, 0, 30000), XOFF_POOL_SHARED);
    bench_arrive(&b, 0, 1, 3, 1971); /* (64000 - 32471)/16 = 1970 */
    expect_port(&b, 1, 1971, 1970);
    bench_depart(&b, 0, 2, 4, 500, XOFF_POOL_SHARED);
    expect_no_crossing(&b);
    bench_depart(&b, 0, 1, 4, 1000, XOFF_POOL_RESERVED);
    expect_no_crossing(&b); /* priority 4 is empty, its port is stopped */
    bench_depart(&b, 2, 1, 0, 30000, XOFF_POOL_SHARED);
    expect_no_crossing(&b); /* T is high again; the queue itself must send */
    bench_depart(&b, 0, 1, 3, 1, XOFF_POOL_SHARED);
    expect_port(&b, 0, 1970, 3876 - 300);
    bench_end(&b);
}

/* The queues of a port share eta: 2000 and 1000 fit, 2000 and 1001 do not. Other ports have their
 * own. */
static void test_headroom_boundary(void **unused)
{
    (void)unused;
    struct bench b;
    start_small(&b);
    for (uint32_t last = 1000; last <= 1001; last++) {
        refill(&b);
        bench_arrive(&b, 0, 1, 3, 3000);
        assert_int_equal(bench_arrive(&b, 0, 1, 3, 2000), XOFF_POOL_INSURANCE);
        expect_port(&b, 1, 5000, 3812);
        bench_arrive(&b, 0, 1, 4, 3000);
        assert_int_equal(bench_arrive(&b, 0, 1, 4, last),
                         last == 1000 ? XOFF_POOL_INSURANCE : XOFF_POOL_DROP);
        expect_no_crossing(&b);
        bench_arrive(&b, 1, 2, 3, 1000);
        assert_int_equal(bench_arrive(&b, 1, 2, 3, 3400), XOFF_POOL_SHARED); /* T = 3625 */
        assert_int_equal(bench_arrive(&b, 1, 2, 3, 3000), XOFF_POOL_INSURANCE);
        expect_port(&b, 1, 6400, 3412);
    }
    bench_end(&b);
}

/* alpha 2: T promises more than there is, and the crossing tells what there was. */
static void test_alpha_above_one(void **unused)
{
    (void)unused;
    struct bench b;
    setup_small(&b, &xoff_mmu_insurance_only);
    bench_set(&b, "alpha", "2");
    b.env.buffer_bytes = 20000 + 10000;
    bench_start(&b);
    refill(&b);
    bench_arrive(&b, 1, 2, 3, 1000);
    assert_int_equal(bench_arrive(&b, 1, 2, 3, 6000), XOFF_POOL_SHARED); /* 6000 < 2 * 4000 */
    expect_no_crossing(&b);
    assert_int_equal(bench_arrive(&b, 0, 1, 3, 2500), XOFF_POOL_SHARED); /* 2500 < 2 * 1500 */
    expect_no_crossing(&b);
    assert_int_equal(bench_arrive(&b, 0, 1, 4, 1501), XOFF_POOL_INSURANCE); /* 1501 <= 2 * 1500 */
    expect_port(&b, 1, 1501, 1500);
    bench_end(&b);
}

static void test_configuration(void **unused)
{
    (void)unused;
    static const char *const expected[][2] = {
        {"alpha", "1/16"},       {"alpha_lossy", "1"},      {"reserved", "4KiB"},
        {"headroom", "auto"},    {"resume_offset", "3KiB"}, {"headroom_rule", "worst"},
        {"allow_loss", "false"}, {"reserved_lossy", "auto"}};
    struct bench b, given;
    bench_setup(&b, &xoff_mmu_insurance_only, LOSSLESS_34, 1000000);
    bench_setup(&given, &xoff_mmu_insurance_only, LOSSLESS_34, 1000000);
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++)
        bench_set(&given, expected[i][0], expected[i][1]);
    assert_memory_equal(b.params, given.params, xoff_mmu_insurance_only.params_size);

    setup_small(&b, &xoff_mmu_insurance_only);
    b.env.buffer_bytes = 19999;
    assert_int_equal(bench_configure(&b), -XOFF_E_CONFLICT);
    assert_non_null(strstr(b.err.message, "20000"));
    b.env.buffer_bytes = 20000; /* a pool of nothing */
    bench_start(&b);
    refill(&b);
    assert_int_equal(bench_arrive(&b, 0, 1, 4, 3000), XOFF_POOL_INSURANCE);
    expect_port(&b, 1, 3000, 0);
    const struct xoff_mmu_view v = bench_view(&b);
    assert_int_equal(v.capacity_bytes[XOFF_POOL_INSURANCE], 12000);
    assert_int_equal(v.capacity_bytes[XOFF_POOL_HEADROOM], 0);
    assert_int_equal(xoff_mmu_headroom_limit(&b.mmu, 0, 3), 3000);
    assert_int_equal(xoff_mmu_headroom_limit(&b.mmu, 0, 2), 0);
    bench_end(&b);

    setup_small(&b, &xoff_mmu_insurance_only);
    bench_set(&b, "headroom", "2999B");
    assert_int_not_equal(bench_configure(&b), 0);
    bench_set(&b, "allow_loss", "true");
    bench_start(&b);
    bench_end(&b);
}

/* The rules again, as written in the head of insurance_only.c, with sums made anew each time. */
struct model {
    uint32_t n_ports;
    uint8_t lossless;
    int64_t num, den, reserve, offset, capacity;
    int64_t etas[MAX_PORTS];
    int64_t q[MAX_PORTS][XOFF_N_PRIORITIES], h[MAX_PORTS][XOFF_N_PRIORITIES];
    bool is_full[MAX_PORTS][XOFF_N_PRIORITIES];
};

static int64_t model_shared(const struct model *m, uint32_t port, uint32_t n)
{
    if (!(m->lossless >> n & 1))
        return m->q[port][n];
    return m->q[port][n] > m->reserve ? m->q[port][n] - m->reserve : 0;
}

static int64_t model_free(const struct model *m)
{
    int64_t used = 0;
    for (uint32_t port = 0; port < m->n_ports; port++)
        for (uint32_t n = 0; n < XOFF_N_PRIORITIES; n++)
            used += model_shared(m, port, n);
    return m->capacity - used;
}

static int64_t model_threshold(const struct model *m)
{
    return model_free(m) * m->num / m->den;
}

static enum xoff_pool model_arrive(struct model *m, const struct traffic_frame *f)
{
    const uint32_t port = f->in_port, n = f->priority;
    const int64_t before = model_shared(m, port, n), threshold = model_threshold(m),
                  space = model_free(m);
    enum xoff_pool pool = XOFF_POOL_DROP;
    int64_t headroom = f->bytes;
    for (uint32_t i = 0; i < XOFF_N_PRIORITIES; i++)
        headroom += m->h[port][i];
    m->q[port][n] += f->bytes;
    const int64_t after = model_shared(m, port, n);
    if (after == before)
        return XOFF_POOL_RESERVED;
    if (after <= threshold && after - before <= space) {
        pool = XOFF_POOL_SHARED;
    } else {
        m->q[port][n] -= f->bytes;
        if (headroom <= m->etas[port]) {
            m->h[port][n] += f->bytes;
            pool = XOFF_POOL_INSURANCE;
        }
    }
    return pool;
}

static void model_settle(struct model *m, const struct traffic_frame *f, bool arrives)
{
    const uint32_t port = f->in_port, n = f->priority;
    const int64_t shared = model_shared(m, port, n), threshold = model_threshold(m);
    if (arrives && m->q[port][n] + m->h[port][n] > 0 &&
        (m->h[port][n] > 0 || shared > threshold || f->pool == XOFF_POOL_DROP))
        m->is_full[port][n] = true;
    if (!arrives && m->h[port][n] == 0 && (shared == 0 || shared + m->offset <= threshold))
        m->is_full[port][n] = false;
}

static void model_depart(struct model *m, const struct traffic_frame *f)
{
    int64_t *h = &m->h[f->in_port][f->priority];
    const int64_t insured = f->bytes < *h ? f->bytes : *h;
    *h -= insured;
    m->q[f->in_port][f->priority] -= f->bytes - insured;
}

static void expect_same(const struct bench *b, const struct model *m)
{
    int64_t insurance = 0;
    for (uint32_t port = 0; port < m->n_ports; port++) {
        bool is_full = false;
        int64_t headroom = 0;
        for (uint32_t n = 0; n < XOFF_N_PRIORITIES; n++) {
            headroom += m->h[port][n];
            is_full |= m->is_full[port][n];
        }
        assert_int_equal(b->port_above[port], is_full);
        assert_true(headroom <= m->etas[port]);
        assert_true(headroom == 0 || is_full);
        insurance += headroom;
    }
    const struct xoff_mmu_view v = bench_view(b);
    assert_int_equal(v.used_bytes[XOFF_POOL_INSURANCE], insurance);
    assert_int_equal(v.used_bytes[XOFF_POOL_SHARED], m->capacity - model_free(m));
    assert_int_equal(b->n_xoff, 0); /* never a single queue */
}

static void setup_random(struct bench *b, struct model *m, struct xoff_rng *rng, uint8_t lossless)
{
    static const struct {
        const char *text;
        int64_t num, den;
    } alphas[] = {{"1/64", 1, 64}, {"1/16", 1, 16}, {"1/3", 1, 3}, {"0.7", 7, 10}, {"2", 2, 1}};
    const uint64_t a = xoff_rng_below(rng, 5);
    memset(m, 0, sizeof *m);
    m->n_ports = 1 + (uint32_t)xoff_rng_below(rng, MAX_PORTS);
    m->lossless = lossless;
    m->num = alphas[a].num, m->den = alphas[a].den;
    m->reserve = (int64_t)xoff_rng_below(rng, 3) * 1111;
    m->offset = (int64_t)xoff_rng_below(rng, 3) * 700;
    m->capacity = 1000 + (int64_t)xoff_rng_below(rng, 40000);
    bench_setup(b, &xoff_mmu_insurance_only, lossless, m->capacity);
    b->has_port_level = true;
    b->env.n_ports = m->n_ports;
    for (uint32_t port = 0; port < m->n_ports; port++) {
        m->etas[port] = (int64_t)xoff_rng_below(rng, 6000);
        b->ports[port].headroom_bytes = m->etas[port];
        b->env.buffer_bytes += m->etas[port] + m->reserve * __builtin_popcount(lossless);
    }
    bench_set(b, "alpha", alphas[a].text);
    bench_set(b, "alpha_lossy", "1024");
    bench_set_bytes(b, "reserved", m->reserve);
    bench_set(b, "reserved_lossy", "0B");
    bench_set_bytes(b, "resume_offset", m->offset);
    bench_set(b, "allow_loss", "true");
    bench_start(b);
}

/* `more` NULL: any upstream. Else one that stops for its port's pause and sends eta and *more bytes
 * from the decision on, the deciding frame included. Returns the lossless frames lost. */
static uint64_t run_random(uint32_t seed, const int64_t *more, struct traffic *t, struct bench *b)
{
    struct model m;
    int64_t sent[MAX_PORTS] = {0};
    uint64_t n_lost = 0;
    xoff_rng_init(&t->rng, 2023, seed, 3);
    setup_random(b, &m, &t->rng, (uint8_t)(1 + xoff_rng_below(&t->rng, 255)));
    for (uint32_t step = 0; step < 1500 || t->n > 0; step++) {
        struct traffic_frame f = traffic_next(t, b);
        const bool is_lossless = m.lossless >> f.priority & 1;
        const bool arrives = step < 1500 && t->n < MAX_FRAMES &&
                             xoff_rng_below(&t->rng, 8) < (step / 100 % 2 ? 2u : 7u);
        if (arrives) {
            const int64_t may = more ? m.etas[f.in_port] + *more - sent[f.in_port] : INT64_MAX;
            if (is_lossless && may < f.bytes)
                f.bytes = (uint32_t)may;
            if (f.bytes == 0)
                continue;
            if (is_lossless)
                f.pool = model_arrive(&m, &f);
            else /* with alpha_lossy 1024 as long as there is space */
                f.pool = f.bytes <= model_free(&m) &&
                                 b->egress_bytes[f.out_port][f.priority] + f.bytes <=
                                     1024 * model_free(&m)
                             ? XOFF_POOL_SHARED
                             : XOFF_POOL_DROP;
            m.q[f.in_port][f.priority] +=
                !is_lossless && f.pool == XOFF_POOL_SHARED ? (int64_t)f.bytes : 0;
            assert_int_equal(bench_arrive(b, f.in_port, f.out_port, f.priority, f.bytes), f.pool);
            if (f.pool != XOFF_POOL_DROP)
                t->frames[t->n++] = f;
            n_lost += is_lossless && f.pool == XOFF_POOL_DROP;
        } else if (t->n > 0) {
            f = traffic_take(t);
            model_depart(&m, &f);
            bench_depart(b, f.in_port, f.out_port, f.priority, f.bytes, f.pool);
        } else {
            continue;
        }
        if (m.lossless >> f.priority & 1)
            model_settle(&m, &f, arrives);
        expect_same(b, &m);
        if (!b->port_above[f.in_port])
            sent[f.in_port] = 0;
        else if (arrives && is_lossless)
            sent[f.in_port] += f.bytes;
    }
    assert_int_equal(b->n_port_xoff, b->n_port_xon);
    expect_pools(b, 0, 0, 0);
    bench_end(b);
    return n_lost;
}

static void test_random_traffic_against_model(void **unused)
{
    (void)unused;
    static struct traffic t;
    uint64_t n_pools[XOFF_N_POOLS] = {0}, n_xoff = 0;
    for (uint32_t seed = 0; seed < 200; seed++) {
        struct bench b;
        run_random(seed, NULL, &t, &b);
        for (int pool = 0; pool < XOFF_N_POOLS; pool++)
            n_pools[pool] += b.n_pools[pool];
        n_xoff += b.n_port_xoff;
    }
    /* The traffic reached every branch. */
    assert_true(n_pools[XOFF_POOL_RESERVED] > 2000 && n_pools[XOFF_POOL_SHARED] > 2000);
    assert_true(n_pools[XOFF_POOL_INSURANCE] > 2000 && n_pools[XOFF_POOL_DROP] > 2000);
    assert_true(n_pools[XOFF_POOL_HEADROOM] == 0 && n_xoff > 2000);
}

/* Nothing is lost with an upstream that sends at most eta after a decision; one byte more, and
 * there is loss. */
static void test_eta_is_enough(void **unused)
{
    (void)unused;
    static struct traffic t;
    static const int64_t none = 0, one = 1;
    uint64_t n_lost = 0;
    for (uint32_t seed = 0; seed < 200; seed++) {
        struct bench b;
        assert_int_equal(run_random(seed, &none, &t, &b), 0);
        n_lost += run_random(seed, &one, &t, &b);
    }
    assert_true(n_lost > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_trace_of_two_queues),
        cmocka_unit_test(test_isolation_against_dsh),
        cmocka_unit_test(test_xoff_boundary),
        cmocka_unit_test(test_xon_boundary),
        cmocka_unit_test(test_innocent_queue_waits),
        cmocka_unit_test(test_headroom_boundary),
        cmocka_unit_test(test_alpha_above_one),
        cmocka_unit_test(test_configuration),
        cmocka_unit_test(test_random_traffic_against_model),
        cmocka_unit_test(test_eta_is_enough),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
