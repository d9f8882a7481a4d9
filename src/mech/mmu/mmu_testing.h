/* A switch buffer on the bench: configures an mmu from scenario words, tells it about frames, and
 * checks at every step what holds for all of them.
 *
 *   port 0 --+            +--> egress queues (out_port, priority), first in first out
 *   ...      +--> mmu ----+
 *   port n --+
 *
 * Checked at each call: crossings are of the frame's own ingress queue, or its port where the
 * buffer has thresholds for ports, alternate between above and below, and stand on the right side
 * of their threshold; ingress_bytes() and the total follow the frames; pools add up and stay within
 * their capacity.
 */
#ifndef XOFF_MECH_MMU_TESTING_H
#define XOFF_MECH_MMU_TESTING_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <xoff/mmu.h>
#include <xoff/rng.h>

#define MAX_PORTS 8
#define MAX_FRAMES 4096

/* Weak: a test build may bring its own. */
__attribute__((weak)) void xoff_assert_fail(const char *expression, const char *file, int line)
{
    fprintf(stderr, "%s:%d: %s\n", file, line, expression);
    abort();
}

struct bench {
    const struct xoff_mmu_ops *ops;
    struct xoff_mmu_port ports[MAX_PORTS];
    struct xoff_mmu_env env;
    _Alignas(16) unsigned char params[256];
    struct xoff_mmu mmu;
    void *cfg;
    struct xoff_err err;
    struct xoff_crossings crossings; /* of the last call */
    bool above[MAX_PORTS][XOFF_N_PRIORITIES];
    int64_t ingress_bytes[MAX_PORTS][XOFF_N_PRIORITIES];
    int64_t egress_bytes[MAX_PORTS][XOFF_N_PRIORITIES];
    bool port_above[MAX_PORTS];
    uint64_t n_pools[XOFF_N_POOLS], n_xoff, n_xon, n_port_xoff, n_port_xon;
    bool has_port_level; /* thresholds for ports too */
    bool overcommits;    /* its rules promise more than the buffer has */
};

/* Four ports of 100 Gb/s with 3000 bytes of headroom, frames up to 9000 bytes; the links hold 1000
 * bytes one way (80 ns), the hosts' links have the same rate. */
static inline void bench_setup(struct bench *b, const struct xoff_mmu_ops *ops, uint8_t lossless,
                               int64_t buffer_bytes)
{
    memset(b, 0, sizeof *b);
    b->ops = ops;
    for (uint32_t port = 0; port < MAX_PORTS; port++)
        b->ports[port] = (struct xoff_mmu_port){
            .rate_bps = 100 * XOFF_GBPS, .headroom_bytes = 3000, .delay = 80 * XOFF_NS};
    b->env = (struct xoff_mmu_env){.n_ports = 4,
                                   .lossless = lossless,
                                   .max_frame_bytes = 9000,
                                   .buffer_bytes = buffer_bytes,
                                   .nic_rate_bps = 100 * XOFF_GBPS,
                                   .ports = b->ports};
    assert_true(ops->params_size <= sizeof b->params);
    xoff_param_defaults(ops->params, b->params);
}

static inline void bench_set(struct bench *b, const char *name, const char *text)
{
    const struct xoff_param *p = xoff_param_find(b->ops->params, name);
    assert_non_null(p);
    assert_int_equal(xoff_param_set(p, b->params, text, &b->err), 0);
}

static inline void bench_set_bytes(struct bench *b, const char *name, int64_t bytes)
{
    const struct xoff_param *p = xoff_param_find(b->ops->params, name);
    assert_non_null(p);
    memcpy(b->params + p->offset, &bytes, sizeof bytes);
}

/* Configures into exactly as much storage as was asked for. Returns configure()'s answer. */
static inline int bench_configure(struct bench *b)
{
    memset(&b->err, 0, sizeof b->err);
    b->cfg = malloc(xoff_mmu_cfg_size(b->ops, b->env.n_ports));
    assert_non_null(b->cfg);
    const int code = xoff_mmu_configure(&b->mmu, b->ops, b->params, &b->env, b->cfg, &b->err);
    if (code) {
        assert_int_equal(code, -(int)b->err.code);
        free(b->cfg);
        b->cfg = NULL;
        return code;
    }
    void *state = malloc(b->mmu.shape.state_size);
    assert_non_null(state);
    xoff_mmu_init(&b->mmu, state);
    return 0;
}

static inline void bench_start(struct bench *b)
{
    if (bench_configure(b))
        fail_msg("%s: %s", b->err.subject, b->err.message);
}

/* Back to an empty buffer, same configuration. */
static inline void bench_restart(struct bench *b)
{
    xoff_mmu_init(&b->mmu, b->mmu.state);
    memset(b->above, 0, sizeof b->above);
    memset(b->port_above, 0, sizeof b->port_above);
    memset(b->ingress_bytes, 0, sizeof b->ingress_bytes);
    memset(b->egress_bytes, 0, sizeof b->egress_bytes);
}

static inline void bench_end(struct bench *b)
{
    free(b->mmu.state);
    free(b->cfg);
    b->mmu.state = b->cfg = NULL;
}

static inline struct xoff_mmu_view bench_view(const struct bench *b)
{
    struct xoff_mmu_view view;
    memset(&view, 0xa5, sizeof view);
    xoff_mmu_view(&b->mmu, &view);
    return view;
}

/* A queue that is above must have a departure to come, and so must a port. */
static inline void bench_check_above(const struct bench *b, uint16_t in_port, uint8_t priority)
{
    int64_t lossless_bytes = 0;
    for (uint32_t n = 0; n < XOFF_N_PRIORITIES; n++)
        lossless_bytes += b->env.lossless >> n & 1 ? b->ingress_bytes[in_port][n] : 0;
    if (b->above[in_port][priority])
        assert_true(b->ingress_bytes[in_port][priority] > 0);
    if (b->port_above[in_port])
        assert_true(lossless_bytes > 0);
}

static inline void bench_check(struct bench *b, uint16_t in_port, uint8_t priority)
{
    const struct xoff_mmu_view v = bench_view(b);
    int64_t total = 0;
    assert_int_equal(xoff_mmu_ingress_bytes(&b->mmu, in_port, priority),
                     b->ingress_bytes[in_port][priority]);
    for (uint32_t port = 0; port < b->env.n_ports; port++)
        for (uint32_t n = 0; n < XOFF_N_PRIORITIES; n++)
            total += b->ingress_bytes[port][n];
    assert_int_equal(v.used_total_bytes, total);
    assert_int_equal(v.used_bytes[XOFF_POOL_RESERVED] + v.used_bytes[XOFF_POOL_SHARED] +
                         v.used_bytes[XOFF_POOL_HEADROOM] + v.used_bytes[XOFF_POOL_INSURANCE],
                     total);
    for (int pool = 0; pool < XOFF_N_POOLS; pool++) {
        assert_true(v.used_bytes[pool] >= 0);
        assert_true(v.used_bytes[pool] <= v.peak_bytes[pool]);
        assert_true(v.peak_bytes[pool] <= v.capacity_bytes[pool]);
    }
    assert_true(v.used_total_bytes <= v.peak_total_bytes);
    assert_true(b->overcommits || v.peak_total_bytes <= v.capacity_total_bytes);
    assert_int_equal(v.capacity_total_bytes, b->env.buffer_bytes);

    assert_true(b->crossings.n <= (b->has_port_level ? 2 : 1));
    for (uint32_t i = 0; i < b->crossings.n; i++) {
        const struct xoff_crossing *x = &b->crossings.at[i];
        const bool is_port = x->unit == XOFF_UNIT_INGRESS_PORT;
        bool *above = is_port ? &b->port_above[in_port] : &b->above[in_port][priority];
        assert_true(is_port ? b->has_port_level : x->unit == XOFF_UNIT_INGRESS);
        assert_int_equal(x->port, in_port);
        assert_int_equal(x->priority, priority);
        assert_true(b->env.lossless >> priority & 1);
        assert_int_equal(x->above, !*above);
        if (x->above)
            assert_true(x->occupied_bytes >= x->threshold_bytes);
        else
            assert_true(x->occupied_bytes <= x->threshold_bytes || x->occupied_bytes == 0);
        *above = x->above;
        *(is_port ? &b->n_port_xoff : &b->n_xoff) += x->above;
        *(is_port ? &b->n_port_xon : &b->n_xon) += !x->above;
    }
    bench_check_above(b, in_port, priority);
}

static inline enum xoff_pool bench_arrive(struct bench *b, uint16_t in_port, uint16_t out_port,
                                          uint8_t priority, uint32_t bytes)
{
    const struct xoff_arrival a = {.in_port = in_port,
                                   .out_port = out_port,
                                   .priority = priority,
                                   .bytes = bytes,
                                   .egress_bytes = b->egress_bytes[out_port][priority]};
    b->crossings.n = 77; /* the wrapper empties it */
    const enum xoff_pool pool = xoff_mmu_admit(&b->mmu, &a, 0, &b->crossings);
    if (pool != XOFF_POOL_DROP) {
        b->ingress_bytes[in_port][priority] += bytes;
        b->egress_bytes[out_port][priority] += bytes;
    }
    b->n_pools[pool]++;
    bench_check(b, in_port, priority);
    /* XOFF is decided no later than at the first frame put in headroom. */
    if (pool == XOFF_POOL_HEADROOM && (b->env.lossless >> priority & 1))
        assert_true(b->above[in_port][priority]);
    return pool;
}

static inline void bench_depart(struct bench *b, uint16_t in_port, uint16_t out_port,
                                uint8_t priority, uint32_t bytes, enum xoff_pool pool)
{
    b->ingress_bytes[in_port][priority] -= bytes;
    b->egress_bytes[out_port][priority] -= bytes;
    const struct xoff_departure d = {.in_port = in_port,
                                     .out_port = out_port,
                                     .priority = priority,
                                     .pool = (uint8_t)pool,
                                     .bytes = bytes,
                                     .egress_bytes = b->egress_bytes[out_port][priority]};
    b->crossings.n = 77;
    xoff_mmu_release(&b->mmu, &d, 0, &b->crossings);
    bench_check(b, in_port, priority);
}

static inline void expect_no_crossing(const struct bench *b)
{
    assert_int_equal(b->crossings.n, 0);
}

static inline void expect_crossing(const struct bench *b, int above, int64_t occupied_bytes,
                                   int64_t threshold_bytes)
{
    assert_int_equal(b->crossings.n, 1);
    assert_int_equal(b->crossings.at[0].above, above);
    assert_int_equal(b->crossings.at[0].occupied_bytes, occupied_bytes);
    assert_int_equal(b->crossings.at[0].threshold_bytes, threshold_bytes);
}

static inline void expect_used(const struct bench *b, int64_t reserved, int64_t shared,
                               int64_t headroom)
{
    const struct xoff_mmu_view v = bench_view(b);
    assert_int_equal(v.used_bytes[XOFF_POOL_RESERVED], reserved);
    assert_int_equal(v.used_bytes[XOFF_POOL_SHARED], shared);
    assert_int_equal(v.used_bytes[XOFF_POOL_HEADROOM], headroom);
}

/* Random traffic: frames queue first in first out at (out_port, priority); any queue may send. */
struct traffic_frame {
    uint16_t in_port, out_port;
    uint8_t priority;
    enum xoff_pool pool;
    uint32_t bytes;
};

struct traffic {
    struct xoff_rng rng;
    struct traffic_frame frames[MAX_FRAMES]; /* in the buffer, in order of arrival */
    uint32_t n;
};

static inline struct traffic_frame traffic_next(struct traffic *t, const struct bench *b)
{
    return (struct traffic_frame){
        .in_port = (uint16_t)xoff_rng_below(&t->rng, b->env.n_ports),
        .out_port = (uint16_t)xoff_rng_below(&t->rng, b->env.n_ports),
        .priority = (uint8_t)xoff_rng_below(&t->rng, XOFF_N_PRIORITIES),
        .bytes = 64 + (uint32_t)xoff_rng_below(&t->rng, xoff_rng_below(&t->rng, 2) ? 200 : 2000),
    };
}

/* Takes out the first frame of the egress queue of a frame chosen at random. */
static inline struct traffic_frame traffic_take(struct traffic *t)
{
    const struct traffic_frame *chosen = &t->frames[xoff_rng_below(&t->rng, t->n)];
    uint32_t i = 0;
    while (t->frames[i].out_port != chosen->out_port || t->frames[i].priority != chosen->priority)
        i++;
    const struct traffic_frame frame = t->frames[i];
    t->n--;
    memmove(&t->frames[i], &t->frames[i + 1], (t->n - i) * sizeof t->frames[0]);
    return frame;
}

#endif
