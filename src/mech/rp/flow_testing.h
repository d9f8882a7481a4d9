/* A flow for the tests of reaction points: one reaction point, driven by hand, with a sender that
 * keeps its window full.
 *
 * `sent_to` is what had been sent when an ACK comes: all that the last answer allowed.
 */
#ifndef MECH_RP_FLOW_TESTING_H
#define MECH_RP_FLOW_TESTING_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <xoff/rng.h>
#include <xoff/rp.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

struct tested_flow {
    const struct xoff_rp_ops *ops;
    struct xoff_rp_env env;
    struct xoff_rp_flow flow;
    _Alignas(16) unsigned char params[256], cfg[256], state[256];
    struct xoff_rp_answer answer;
    uint64_t acked_to, sent_to;
};

/* Weak: a test build may bring its own. */
__attribute__((weak)) void xoff_assert_fail(const char *expression, const char *file, int line)
{
    fprintf(stderr, "%s:%d: %s\n", file, line, expression);
    abort();
}

/* Frames of 1000 B of payload, 12 us from end to end and back. */
static inline void flow_setup(struct tested_flow *f, const struct xoff_rp_ops *ops,
                              xoff_rate rate_bps)
{
    *f = (struct tested_flow){
        .ops = ops,
        .env = {.rate_bps = rate_bps, .frame_bytes = 1058, .payload_bytes = 1000},
        .flow = {.base_rtt = 12 * XOFF_US},
    };
    assert_true(ops->params_size <= sizeof f->params && ops->cfg_size <= sizeof f->cfg);
    xoff_param_defaults(ops->params, f->params);
}

static inline void flow_set(struct tested_flow *f, const char *name, const char *text)
{
    struct xoff_err err;
    const struct xoff_param *p = xoff_param_find(f->ops->params, name);
    assert_non_null(p);
    assert_int_equal(xoff_param_set(p, f->params, text, &err), 0);
}

static inline int flow_configure(struct tested_flow *f, struct xoff_err *err)
{
    struct xoff_rp_shape shape = {0};
    const int code = f->ops->configure(f->params, &f->env, f->cfg, &shape, err);
    assert_true(code || (shape.state_size && shape.state_size <= sizeof f->state));
    return code;
}

static inline void flow_fill(struct tested_flow *f)
{
    const uint64_t window = f->answer.window_bytes;
    if (window != XOFF_RP_NO_WINDOW && f->acked_to + window > f->sent_to)
        f->sent_to = f->acked_to + window;
}

static inline void flow_start(struct tested_flow *f)
{
    struct xoff_err err;
    assert_int_equal(flow_configure(f, &err), 0);
    f->ops->init(f->cfg, f->state, &f->flow, 0, &f->answer);
    f->acked_to = f->sent_to = 0;
    flow_fill(f);
}

/* The next `bytes` are acknowledged; what else the ACK says is in `ack`. Returns the window. */
static inline uint64_t flow_ack(struct tested_flow *f, uint64_t bytes, struct xoff_rp_ack ack)
{
    f->acked_to += bytes;
    if (f->sent_to < f->acked_to) /* no window: it had been sent */
        f->sent_to = f->acked_to;
    ack.acked_to = f->acked_to;
    ack.newly_acked_bytes = bytes;
    ack.sent_to = f->sent_to;
    ack.outstanding_bytes = f->sent_to - f->acked_to;
    f->ops->on_ack(f->cfg, f->state, &ack, 0, &f->answer);
    flow_fill(f);
    return f->answer.window_bytes;
}

static inline uint64_t flow_lose(struct tested_flow *f, enum xoff_rp_loss loss)
{
    f->ops->on_loss(f->cfg, f->state, loss, f->sent_to - f->acked_to, f->sent_to, 0, &f->answer);
    return f->answer.window_bytes;
}

/* configure() refuses, and names the key and, in its message, what is wrong. */
static inline void expect_refused(struct tested_flow *f, enum xoff_err_code code,
                                  const char *subject, const char *words)
{
    struct xoff_err err = {0};
    assert_int_equal(flow_configure(f, &err), -(int)code);
    assert_string_equal(err.subject, subject);
    assert_non_null(strstr(err.message, words));
}

static inline void expect_accepted(struct tested_flow *f)
{
    struct xoff_err err;
    assert_int_equal(flow_configure(f, &err), 0);
}

#endif
