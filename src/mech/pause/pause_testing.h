/* A pause policy on a bench: its storage to the byte, the queues it watches, and what its edges
 * have told each port. The switch has four ports unless a test says otherwise, and priorities 3 and
 * 4 are lossless. */
#ifndef MECH_PAUSE_PAUSE_TESTING_H
#define MECH_PAUSE_PAUSE_TESTING_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <xoff/pause.h>

#include "mech/mechanisms.h"

#ifndef N_PORTS
#define N_PORTS 4
#endif
#define LOSSLESS 0x18
#define QUEUE_FRAMES 512

struct fifo {
    struct {
        uint16_t in_port;
        uint32_t bytes;
    } frames[QUEUE_FRAMES];
    uint32_t first, n; /* frames[first .. first + n), round the array */
    int64_t bytes;
};

struct bench {
    struct xoff_pause_env env;
    struct xoff_mmu_port ports[N_PORTS];
    _Alignas(16) unsigned char params[256];
    struct xoff_pause policy;
    void *cfg;
    struct xoff_err err;
    struct xoff_edges edges; /* of the last call */
    uint8_t paused[N_PORTS]; /* what edges have told each port */
    uint64_t n_pauses, n_resumes;
    /* By [out_port][priority], for tests that fill them. */
    struct fifo queues[N_PORTS][XOFF_N_PRIORITIES];
};

static inline void bench_setup(struct bench *b, const struct xoff_pause_ops *ops)
{
    memset(b, 0, sizeof *b);
    b->policy.ops = ops;
    b->env =
        (struct xoff_pause_env){.n_ports = N_PORTS, .lossless = LOSSLESS, .egress_bytes = 1000000};
    assert_true(ops->params_size <= sizeof b->params);
    xoff_param_defaults(ops->params, b->params);
}

static inline void bench_set(struct bench *b, const char *name, const char *text)
{
    const struct xoff_param *p = xoff_param_find(b->policy.ops->params, name);
    assert_non_null(p);
    assert_int_equal(xoff_param_set(p, b->params, text, &b->err), 0);
}

/* Storage is as large as asked for, to the byte. */
static inline int bench_configure(struct bench *b)
{
    const struct xoff_pause_ops *ops = b->policy.ops;
    memset(&b->err, 0, sizeof b->err);
    b->cfg = malloc(xoff_pause_cfg_size(ops, b->env.n_ports));
    assert_non_null(b->cfg);
    const int code = xoff_pause_configure(&b->policy, ops, b->params, &b->env, b->cfg, &b->err);
    if (code) {
        assert_int_equal(code, -(int)b->err.code);
        free(b->cfg);
        return code;
    }
    void *state = malloc(b->policy.shape.state_size);
    assert_non_null(state);
    xoff_pause_init(&b->policy, state);
    b->edges.at = malloc(b->policy.shape.max_edges * sizeof b->edges.at[0]);
    assert_non_null(b->edges.at);
    return 0;
}

static inline void bench_start(struct bench *b)
{
    if (bench_configure(b))
        fail_msg("%s: %s", b->err.subject, b->err.message);
}

static inline void bench_end(struct bench *b)
{
    free(b->edges.at);
    free(b->policy.state);
    free(b->cfg);
}

/* Edges pair up: never a pause of what is paused, nor a resume of what is not. */
static inline void bench_follow(struct bench *b)
{
    assert_true(b->edges.n <= b->policy.shape.max_edges);
    for (uint32_t i = 0; i < b->edges.n; i++) {
        const struct xoff_edge *e = &b->edges.at[i];
        assert_true(e->port < N_PORTS);
        assert_int_not_equal(e->priorities, 0);
        assert_int_equal(b->paused[e->port] & e->priorities, e->pause ? 0 : e->priorities);
        assert_int_equal(e->cause.above, e->pause);
        b->paused[e->port] ^= e->priorities;
        b->n_pauses += e->pause;
        b->n_resumes += !e->pause;
    }
}

#endif
