/* For tests of the engine: nodes whose handlers get the network and a number, and threads that are
 * played by one. */
#ifndef SIM_TESTING_H
#define SIM_TESTING_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <xoff/param.h>
#include <xoff/rng.h>

#include "sim/alone.h"

#define MAX_NODES 64

struct handlers {
    void (*arrive)(void *net, struct worker *w, uint32_t index, uint32_t port,
                   const struct frame *frame);
    void (*transmit)(void *net, struct worker *w, uint32_t index, uint32_t port);
    void (*timer)(void *net, struct worker *w, uint32_t index);
};

struct member {
    void *net;
    uint32_t index;
    const struct handlers *on;
};

static inline void member_arrive(void *self, struct worker *w, uint32_t port,
                                 const struct frame *frame)
{
    const struct member *m = self;
    m->on->arrive(m->net, w, m->index, port, frame);
}

static inline void member_transmit(void *self, struct worker *w, uint32_t port)
{
    const struct member *m = self;
    m->on->transmit(m->net, w, m->index, port);
}

static inline void member_timer(void *self, struct worker *w)
{
    const struct member *m = self;
    m->on->timer(m->net, w, m->index);
}

/* What is found out about a frame before the events of a window is told when it arrives, and the
 * frame is still the same. */
static inline void member_prepare(void *self, uint32_t port, struct arrival *a)
{
    a->port = (void *)((uintptr_t)self + port);
    a->queue = (void *)(uintptr_t)(a->frame->seq ^ (uint64_t)a->frame->at);
}

static inline void member_take(void *self, struct worker *w, uint32_t port, const struct arrival *a)
{
    XOFF_ASSERT((uintptr_t)a->port == (uintptr_t)self + port && a->frame->at == w->now);
    XOFF_ASSERT((uintptr_t)a->queue == (a->frame->seq ^ (uint64_t)a->frame->at));
    member_arrive(self, w, port, a->frame);
}

/* Every other node has its handlers compiled into the loop of its windows. */
static inline void member_run(void *self, struct worker *w, uint32_t cell)
{
    sim_run_alone(w, cell, w->sim->step, self, member_prepare, member_take, member_transmit,
                  member_timer);
}

/* For one network at a time. */
static inline void give_handlers(struct sim_spec *spec, void *net, const struct handlers *on)
{
    static struct member members[MAX_NODES];
    static struct sim_node nodes[MAX_NODES];
    assert_true(spec->n_nodes <= MAX_NODES);
    for (uint32_t n = 0; n < spec->n_nodes; n++) {
        members[n] = (struct member){net, n, on};
        nodes[n] = (struct sim_node){.self = &members[n],
                                     .arrive = member_arrive,
                                     .transmit = member_transmit,
                                     .timer = member_timer,
                                     .run = n % 2 ? member_run : NULL};
    }
    spec->model.net = net;
    spec->model.nodes = nodes;
}

/* Threads by hand: one thread plays all of them. In each round they help with shares in an order
 * that is drawn, and where a handler says so, another of them goes on in the middle of an event, as
 * if it ran at the same time. So it can be repeated who ran what, and when. */
struct hand {
    struct sim *sim;
    struct xoff_rng rng;
    uint64_t busy; /* set of threads that are in the middle of something */
};

/* Some thread helps with some share, unless it is busy. */
static inline void hand_step(struct hand *h)
{
    const uint32_t n = h->sim->n_threads;
    const uint32_t who = (uint32_t)xoff_rng_below(&h->rng, n);
    struct share *share = &h->sim->threads[xoff_rng_below(&h->rng, n)]->share;
    if (h->busy >> who & 1)
        return;
    h->busy |= UINT64_C(1) << who;
    rounds_help(h->sim->threads[who], share, atomic_load(&h->sim->round));
    h->busy &= ~(UINT64_C(1) << who);
}

/* As sim_run. */
static inline xoff_time hand_run(struct hand *h, xoff_time first_instant, xoff_time end)
{
    const struct sim *sim = h->sim;
    rounds_begin(h->sim, first_instant, end);
    while (!atomic_load(&sim->is_over)) {
        const uint32_t round = atomic_load(&sim->round);
        for (uint32_t steps = 0; atomic_load(&sim->round) == round; steps++) {
            if (steps == 10000)
                fail_msg("a round does not end: %u are left to do", atomic_load(&sim->n_left));
            hand_step(h);
        }
    }
    return sim->reached;
}

#endif
