/* The window of a cell that is one node, inline, so that a model can compile it with the handlers
 * of its node in it (sim_node.run): then no event is a call. run.c has one for all other nodes.
 */
#ifndef SIM_ALONE_H
#define SIM_ALONE_H

#include "sim/engine.h"

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

/* Takes all frames that a link delivers to the node in this window, and puts their keys into the
 * queue; the slot has the time of the next one. Frames that are being sent now arrive after the
 * window: none is missed here. Returns how many frames arrive so far, with n before. What a handler
 * needs to know of a frame first is looked up here: no frame waits for another, and who handles it
 * finds it in the cache. */
static inline __attribute__((always_inline)) uint32_t
alone_take(struct thread *w, struct cell *cell, uint32_t local, uint32_t n, uint32_t step,
           void *self, void (*prepare)(void *, uint32_t, struct arrival *))
{
    struct sim *sim = w->worker.sim;
    const uint32_t slot = w->first_slot + local;
    const struct frame *frame = sim->frames[slot];
    struct link *link = &w->worker.links[sim->slots[slot].link];
    const struct frame *last = link_read_end(link);
    const xoff_time end = w->window_end;
    const uint64_t base = queue_key(&w->queue, 0, SIM_ARRIVAL, local);
    const uint32_t first = n;
    for (bool more = true; more;) { /* chunk after chunk */
        if (__builtin_expect(n + w->chunk_frames > w->most_arrivals, 0))
            alone_widen(w, cell);
        const struct frame *chunk_end =
            (const struct frame *)(((uintptr_t)frame | w->chunk_mask) + 1);
        const struct frame *stop = last > frame && last < chunk_end ? last : chunk_end;
        struct arrival *a = w->arriving + n;
        uint64_t *keys = w->queue.keys, *occupied = w->queue.occupied;
        const unsigned shift = w->queue.shift;
        do {
            queue_fill_at(&w->queue, keys, occupied, base + ((uint64_t)frame->at << 28), shift);
            a->frame = frame;
            if (prepare)
                prepare(self, local, a);
            a++;
            frame += step;
        } while (frame != stop && frame->at < end);
        n = (uint32_t)(a - w->arriving);
        more = frame == chunk_end;
        if (more) {
            const struct frame *done = frame - step;
            frame = chunk_at(w, done->more);
            chunk_set_aside(w, done);
            more = frame != last && frame->at < end;
        }
    }
    sim->frames[slot] = frame;
    sim->at[slot] = frame != last ? frame->at : XOFF_NEVER;
    if (frame == last) /* those that have been taken stay readable until the sender runs */
        chunk_restart(w, &sim->slots[slot], link, &sim->frames[slot]);
    w->arriving_at[local] = w->arriving + first;
    return n;
}

/* Moves the keys of all arrivals out of the queue, in order. */
static inline void alone_sort(struct thread *w)
{
    struct queue *q = &w->queue;
    struct next_arrival *to = w->in_order;
    const struct next_arrival *end = to + w->n_arriving;
    struct arrival **at = w->arriving_at;
    uint64_t *keys = q->keys;
    for (uint64_t *word = q->occupied; to < end; word++, keys += 64) {
        for (uint64_t bits = *word; bits; bits &= bits - 1) {
            uint64_t *place = keys + (unsigned)__builtin_ctzll(bits);
            to->key = *place;
            to->arrival = at[queue_key_slot(*place)]++;
            to++;
            *place = QUEUE_NONE;
        }
        *word = 0;
    }
    to->key = QUEUE_NONE;
}

/* The next arrival of a port. */
static inline const struct arrival *alone_next(struct thread *w, uint32_t port)
{
    return w->arriving_at[port]++;
}

/* Runs a cell of a single node from the window's start to its end. All that the node receives was
 * sent before the window starts, so its arrivals are put in order first. What is left to be ordered
 * are its own events. Frames are `step` lines apart (frame.h). `prepare`, which may be NULL, is
 * called for each arrival before all events, port after port. */
static inline __attribute__((always_inline)) void
sim_run_alone(struct worker *worker, uint32_t index, uint32_t step, void *self,
              void (*prepare)(void *, uint32_t, struct arrival *),
              void (*arrive)(void *, struct worker *, uint32_t, const struct arrival *),
              void (*transmit)(void *, struct worker *, uint32_t),
              void (*timer)(void *, struct worker *))
{
    struct thread *w = (struct thread *)worker;
    struct cell *cell = &worker->sim->cells[index];
    struct queue *q = &w->queue;
    xoff_time *at = worker->sim->at + cell->first_slot;
    const uint32_t n_ports = (cell->n_slots - 1) / 2;
    alone_open(w, index);
    uint32_t n = 0;
    for (uint32_t i = 0; i < n_ports; i++)
        if (at[i] < w->window_end)
            n = alone_take(w, cell, i, n, step, self, prepare);
    w->n_arriving = n;
    alone_sort(w);
    alone_begin(w, index);
    uint64_t n_own = 0;
    for (;;) {
        const struct next_arrival *next = w->next_arrival;
        const uint64_t key = q->first_key, timer_key = w->timer_key;
        if (next->key < key && __builtin_expect(next->key < timer_key, 1)) {
            w->next_arrival++;
            worker->now = queue_key_at(q, next->key);
            arrive(self, worker, queue_key_slot(next->key), next->arrival);
        } else if (__builtin_expect(key < timer_key, 1)) {
            const uint32_t i = queue_key_slot(queue_take(q));
            worker->now = queue_key_at(q, key);
            at[i] = XOFF_NEVER;
            n_own++;
            transmit(self, worker, i - n_ports);
        } else if (timer_key != QUEUE_NONE) {
            worker->now = at[2 * n_ports];
            at[2 * n_ports] = XOFF_NEVER;
            w->timer_key = QUEUE_NONE;
            n_own++;
            timer(self, worker);
        } else {
            break;
        }
    }
    alone_close(w, index, n_own);
}

/* The same for a node with one port. It needs no queue: it has at most one pending arrival, one
 * transmission and one timer, and equal times are ordered by kind. Half of all events belong to
 * such nodes. */
static inline __attribute__((always_inline)) void
sim_run_end_slots(struct worker *worker, uint32_t first_slot, uint32_t step, void *self,
                  void (*arrive)(void *, struct worker *, uint32_t, const struct frame *),
                  void (*transmit)(void *, struct worker *, uint32_t),
                  void (*timer)(void *, struct worker *))
{
    struct thread *w = (struct thread *)worker;
    xoff_time *at = worker->sim->at + first_slot;
    const struct slot *s = &worker->sim->slots[first_slot];
    const struct frame **frames = worker->sim->frames + first_slot;
    w->first_slot = first_slot;
    w->n_slots = END_NODE_SLOTS;
    w->uses_queue = false;
    worker->advances_before = w->window_end;
    for (;;) {
        const xoff_time now = xoff_time_min(at[0], xoff_time_min(at[1], at[2]));
        if (now >= w->window_end)
            break;
        worker->now = now;
        w->events++;
        if (at[0] == now) {
            const struct frame *frame = *frames;
            w->arrivals++;
            arrive(self, worker, 0, frame);
            chunk_leave_frame(w, frames, frame, step);
            at[0] = front_at(w, s, frames);
        } else if (at[2] == now) {
            at[2] = XOFF_NEVER;
            timer(self, worker);
        } else {
            at[1] = XOFF_NEVER;
            transmit(self, worker, 0);
        }
    }
    w->n_slots = 0;
    if (worker->now > w->last_at)
        w->last_at = worker->now;
}
static inline __attribute__((always_inline)) void
sim_run_end(struct worker *worker, uint32_t index, uint32_t step, void *self,
            void (*arrive)(void *, struct worker *, uint32_t, const struct frame *),
            void (*transmit)(void *, struct worker *, uint32_t),
            void (*timer)(void *, struct worker *))
{
    sim_run_end_slots(worker, worker->sim->cells[index].first_slot, step, self, arrive, transmit,
                      timer);
}

#endif
