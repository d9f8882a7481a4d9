/* The window of a cell that is one node, inline, so that a model can compile it with the handlers
 * of its node in it (sim_node.run): then no event is a call. run.c has one for all other nodes.
 */
#ifndef SIM_ALONE_H
#define SIM_ALONE_H

#include "sim/engine.h"

/* The next frame to arrive at a slot. */
static inline const struct frame *front(const struct slot *s)
{
    return &s->frames[s->head & s->mask];
}

/* Moves a slot on to the next frame after one was taken, of a link within the thread. */
static inline void step_within(struct thread *w, struct slot *s)
{
    const struct frame *done = s->frames;
    s->frames += w->step;
    if (__builtin_expect(chunk_begins(s->frames, w->chunk_mask), 0)) {
        s->frames = chunk_at(w, done->more);
        chunk_return(w, done);
    }
}

/* The same for any link. */
static inline void step(struct thread *w, struct slot *s)
{
    if (__builtin_expect(s->is_remote, 0))
        s->head += w->step;
    else
        step_within(w, s);
}

/* sim_at_transmit() for the node that runs alone, whose port has no transmit event pending. */
static inline void alone_at_transmit(struct worker *worker, uint32_t n_ports, uint32_t port,
                                     xoff_time at)
{
    struct thread *w = (struct thread *)worker;
    if (at < w->window_end)
        queue_insert(&w->queue, queue_key(&w->queue, at, SIM_TRANSMIT, n_ports + port));
    else
        worker->sim->at[w->first_slot + n_ports + port] = at;
}

/* Runs a cell of a single node from the window's start to its end. All that the node receives was
 * sent before the window starts, so alone_open() has put its arrivals into the queue. */
static inline __attribute__((always_inline)) void
sim_run_alone(struct worker *worker, uint32_t index, void *self,
              void (*arrive)(void *, struct worker *, uint32_t, const struct frame *),
              void (*transmit)(void *, struct worker *, uint32_t),
              void (*timer)(void *, struct worker *))
{
    struct thread *w = (struct thread *)worker;
    const struct cell *cell = &worker->sim->cells[index];
    struct queue *q = &w->queue;
    xoff_time *at = worker->sim->at + cell->first_slot;
    struct slot *slots = &worker->sim->slots[cell->first_slot];
    const uint32_t n_ports = (cell->n_slots - 1) / 2;
    alone_open(w, index);
    uint64_t n_own = 0;
    for (;;) {
        const uint64_t key = queue_take(q, w->timer_key);
        if (__builtin_expect(key == QUEUE_NONE, 0)) {
            if (w->timer_key == QUEUE_NONE)
                break;
            worker->now = at[2 * n_ports];
            at[2 * n_ports] = XOFF_NEVER;
            w->timer_key = QUEUE_NONE;
            n_own++;
            timer(self, worker);
            continue;
        }
        worker->now = queue_key_at(q, key);
        const uint32_t i = queue_key_slot(key);
        if (i < n_ports) {
            struct slot *s = &slots[i];
            arrive(self, worker, i, front(s));
            step(w, s);
        } else {
            at[i] = XOFF_NEVER;
            n_own++;
            transmit(self, worker, i - n_ports);
        }
    }
    alone_close(w, index, n_own);
}

#endif
