/* A model port for the tests of schedulers: eight queues, pauses, and random streams of frames.
 *
 *   queue 0 --+
 *   ...       +--> select --> charge --> sent
 *   queue 7 --+
 *       ^ paused: backlogged, not eligible
 *
 * Every choice is checked here to be an eligible queue: with port_pick() called whenever one is,
 * that is work conservation.
 */
#ifndef XOFF_MECH_SCHED_TESTING_H
#define XOFF_MECH_SCHED_TESTING_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <xoff/rng.h>
#include <xoff/sched.h>

#define N XOFF_N_PRIORITIES
#define PORT_STATE 2560 /* bytes of the largest state */

struct port {
    const struct xoff_sched_ops *ops;
    struct xoff_sched sched;
    struct xoff_sched_env env;
    _Alignas(16) unsigned char params[512];
    _Alignas(16) unsigned char cfg[512];
    _Alignas(16) unsigned char states[2][PORT_STATE];
    uint32_t state_at; /* which of states is in use */
    uint32_t head_bytes[N];
    xoff_time head_since[N];
    uint8_t backlogged, paused;
    xoff_time now; /* only goes on where a test says so */
};

/* All weights 1, nothing strict, default parameters, every queue empty. */
static inline void port_setup(struct port *port, const struct xoff_sched_ops *ops,
                              uint32_t max_frame_bytes)
{
    memset(port, 0, sizeof *port);
    port->ops = ops;
    port->env.max_frame_bytes = max_frame_bytes;
    for (uint32_t q = 0; q < N; q++)
        port->env.weight[q] = 1;
    assert_true(ops->params_size <= sizeof port->params);
    assert_true(ops->cfg_size <= sizeof port->cfg);
    xoff_param_defaults(ops->params, port->params);
}

static inline void port_set(struct port *port, const char *name, const char *text)
{
    struct xoff_err err;
    const struct xoff_param *p = xoff_param_find(port->ops->params, name);
    assert_non_null(p);
    assert_int_equal(xoff_param_set(p, port->params, text, &err), 0);
}

static inline void *port_state(struct port *port)
{
    return port->states[port->state_at];
}

/* The answer of configure() to the current parameters: 0 or a negative code, and *err. */
static inline int port_check(struct port *port, struct xoff_err *err)
{
    memset(err, 0, sizeof *err);
    return xoff_sched_configure(&port->sched, port->ops, port->params, &port->env, port->cfg, err);
}

static inline void port_start(struct port *port)
{
    struct xoff_err err;
    assert_int_equal(port_check(port, &err), 0);
    assert_true(port->sched.shape.state_size <= sizeof port->states[0]);
    xoff_sched_init(&port->sched, port_state(port));
}

static inline uint8_t port_eligible(const struct port *port)
{
    return port->backlogged & (uint8_t)~port->paused;
}

static inline struct xoff_sched_view port_view(const struct port *port)
{
    return (struct xoff_sched_view){.eligible = port_eligible(port),
                                    .backlogged = port->backlogged,
                                    .head_bytes = port->head_bytes,
                                    .head_since = port->head_since,
                                    .now = port->now};
}

static inline uint32_t port_pick(struct port *port)
{
    const struct xoff_sched_view view = port_view(port);
    const uint32_t q = xoff_sched_select(&port->sched, port_state(port), &view);
    assert_true(q < N);
    assert_true(view.eligible >> q & 1);
    return q;
}

static inline void port_charge(struct port *port, uint32_t q, bool emptied)
{
    xoff_sched_charge(&port->sched, port_state(port), q, port->head_bytes[q], emptied);
}

/* Sends one frame of a queue that goes on with frames of the same size. */
static inline uint32_t port_send(struct port *port)
{
    const uint32_t q = port_pick(port);
    port_charge(port, q, false);
    return q;
}

/* A queue that never ends, all frames alike. */
static inline void port_fill(struct port *port, uint32_t q, uint32_t bytes)
{
    port->head_bytes[q] = bytes;
    port->backlogged |= (uint8_t)(1u << q);
}

/* Sends `n` frames of queues that never end; adds what each sent to `sent_bytes`. */
static inline void port_run(struct port *port, uint32_t n, double sent_bytes[N])
{
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t q = port_send(port);
        sent_bytes[q] += port->head_bytes[q];
    }
}

static inline void assert_close(double value, double expected, double within)
{
    if (value < expected - within || value > expected + within)
        fail_msg("%.6f is not %.6f within %.6f", value, expected, within);
}

/* Sends as many frames as `order` has digits; the queues served must be those digits. */
static inline void port_expect(struct port *port, const char *order)
{
    char got[256] = "";
    for (size_t i = 0; order[i] && i < sizeof got - 1; i++)
        got[i] = (char)('0' + port_send(port));
    assert_string_equal(got, order);
}

/* Plain bytes may be moved: goes on with a copy, and spoils the original. */
static inline void port_move_state(struct port *port)
{
    const uint32_t from = port->state_at;
    port->state_at = !from;
    memcpy(port->states[!from], port->states[from], sizeof port->states[0]);
    memset(port->states[from], 0xa5, sizeof port->states[0]);
}

static inline uint32_t draw_between(struct xoff_rng *rng, uint32_t low, uint32_t high)
{
    return low + (uint32_t)xoff_rng_below(rng, high - low + 1);
}

/* Random events between two frames: arrivals, pauses and resumes, and now and then a flush. */
struct stream {
    struct xoff_rng rng;
    uint32_t low_bytes, high_bytes;
    uint32_t waiting[N]; /* frames in each queue */
};

static inline void stream_events(struct stream *s, struct port *port)
{
    const uint32_t q = draw_between(&s->rng, 0, N - 1);
    const uint8_t bit = (uint8_t)(1u << q);
    const uint32_t kind = draw_between(&s->rng, 0, 99);
    if (kind < 25) {
        port->paused ^= bit;
    } else if (kind < 70) {
        if (!s->waiting[q])
            port->head_bytes[q] = draw_between(&s->rng, s->low_bytes, s->high_bytes);
        s->waiting[q] += draw_between(&s->rng, 1, 4);
        port->backlogged |= bit;
    } else if (kind < 71) {
        s->waiting[q] = 0;
        port->backlogged &= (uint8_t)~bit;
    }
}

/* The head of q has been sent: charge it and bring up the next one. */
static inline void stream_sent(struct stream *s, struct port *port, uint32_t q)
{
    s->waiting[q]--;
    port_charge(port, q, s->waiting[q] == 0);
    port->head_bytes[q] = draw_between(&s->rng, s->low_bytes, s->high_bytes);
    if (!s->waiting[q])
        port->backlogged &= (uint8_t) ~(1u << q);
}

/* The definition of deficit rounds taken by the letter, spinning and without short cuts. */
struct literal {
    int64_t credit_bytes[N], overhead_bytes;
    int64_t deficit[N];
    uint32_t cursor;
};

static inline uint32_t literal_select(struct literal *l, const struct port *port)
{
    const uint8_t eligible = port_eligible(port);
    for (uint32_t q = 0; q < N; q++)
        if (!(port->backlogged >> q & 1))
            l->deficit[q] = 0;
    for (uint32_t q = l->cursor;; q = (q + 1) % N) {
        if (!(eligible >> q & 1))
            continue;
        const int64_t cost = port->head_bytes[q] + l->overhead_bytes;
        if (l->deficit[q] < cost && q != l->cursor)
            l->deficit[q] += l->credit_bytes[q];
        if (l->deficit[q] >= cost) {
            l->cursor = q;
            return q;
        }
        if (q == l->cursor) /* its visit is over; the next time it is reached is a new one */
            l->cursor = N;
    }
}

/* Max-min fairness by filling up: queues that want no more than their part of what is left get
 * what they want; when there is none, the rest divides what is left by weight. */
static inline void fluid_shares(const uint32_t weight[N], const double demand[N], double left,
                                uint32_t open, double share[N])
{
    for (bool settled = false; open && !settled;) {
        double total = 0, taken = 0;
        for (uint32_t q = 0; q < N; q++)
            total += open >> q & 1 ? weight[q] : 0;
        settled = true;
        for (uint32_t q = 0; q < N; q++) {
            if (!(open >> q & 1) || demand[q] > left * weight[q] / total)
                continue;
            share[q] = demand[q];
            taken += demand[q];
            open &= ~(1u << q);
            settled = false;
        }
        if (settled)
            for (uint32_t q = 0; q < N; q++)
                if (open >> q & 1)
                    share[q] = left * weight[q] / total;
        left -= taken;
    }
}

/* Runs `n_frames` with queue q offered demand[q] of the link, in frames of low..high bytes. What
 * leaves, as part of the link, goes to `share`; `overhead_bytes` of each frame count as sent. */
static inline void run_shares(struct port *port, struct xoff_rng *rng, const double demand[N],
                              const uint32_t low[N], const uint32_t high[N],
                              uint32_t overhead_bytes, uint32_t n_frames, double share[N])
{
    double offered[N] = {0}, sent[N] = {0}, elapsed = 0;
    for (uint32_t q = 0; q < N; q++)
        port->head_bytes[q] = draw_between(rng, low[q], high[q]);
    for (uint32_t i = 0; i < n_frames; i++) {
        double step = 100; /* idle time */
        if (port->backlogged) {
            const uint32_t q = port_pick(port);
            step = port->head_bytes[q] + overhead_bytes;
            offered[q] -= step;
            sent[q] += step;
            const uint32_t next_bytes = draw_between(rng, low[q], high[q]);
            const bool emptied = offered[q] < next_bytes + overhead_bytes;
            port_charge(port, q, emptied);
            port->head_bytes[q] = next_bytes;
        }
        elapsed += step;
        port->backlogged = 0;
        for (uint32_t q = 0; q < N; q++) {
            offered[q] += demand[q] * step;
            if (offered[q] >= port->head_bytes[q] + overhead_bytes)
                port->backlogged |= (uint8_t)(1u << q);
        }
    }
    for (uint32_t q = 0; q < N; q++)
        share[q] = sent[q] / elapsed;
}

/* Prints the seed when a share is off by more than 1 %. */
static inline void check_shares(uint64_t seed, const double share[N], const double fluid[N])
{
    for (uint32_t q = 0; q < N; q++) {
        const double off = share[q] > fluid[q] ? share[q] - fluid[q] : fluid[q] - share[q];
        if (off > 0.01 * fluid[q])
            fail_msg("seed %llu queue %u: share %.5f, fluid model %.5f", (unsigned long long)seed,
                     q, share[q], fluid[q]);
    }
}

#endif
