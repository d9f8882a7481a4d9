/* Nodes of the networks that test the engine: their handlers get the network and a number. */
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

/* Every other node has its handlers compiled into the loop of its windows. */
static inline void member_run(void *self, struct worker *w, uint32_t cell)
{
    sim_run_alone(w, cell, self, member_arrive, member_transmit, member_timer);
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

#endif
