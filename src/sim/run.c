/* The loop: window after window, cell after cell. See sim.h for the order of events.
 *
 * Per window every worker runs its cells, posts the earliest time it knows of, and meets the others
 * at a barrier; then all compute the same next window from the same postings. What one worker sends
 * to another's cell in a window arrives after it, so the only thing to exchange is that time.
 */
#include <pthread.h>
#include <sched.h>

#include "sim/engine.h"
#include <xoff/err.h>

static inline void insert(struct worker *w, uint32_t local, xoff_time at)
{
    const struct slot *s = &w->sim->slots[w->first_slot + local];
    queue_insert(&w->queue, local,
                 queue_key(&w->queue, at, (enum sim_kind)s->kind, s->port, local));
}

/* Sets the time of a slot, in the running cell's queue or for a later window. */
static inline void set_at(struct worker *w, uint32_t slot, uint32_t cell, xoff_time at)
{
    struct sim *sim = w->sim;
    const xoff_time old = sim->at[slot];
    if (old == at)
        return;
    sim->at[slot] = at;
    if (cell == w->cell) {
        const uint32_t local = slot - w->first_slot;
        if (old < w->window_end)
            queue_remove(&w->queue, local);
        if (at < w->window_end)
            insert(w, local, at);
    } else if (at < sim->next_at[cell]) {
        sim->next_at[cell] = at;
    }
}

void sim_send(struct worker *w, uint32_t index, struct frame *frame)
{
    struct link *link = &w->sim->links[index];
    const uint32_t tail = atomic_load_explicit(&link->tail, memory_order_relaxed);
    if (frame->at < link->last_at) /* the delay was shortened meanwhile */
        frame->at = link->last_at;
    link->last_at = frame->at;
    /* Behind spilled frames everything spills: order is kept. */
    if (tail - link->head_seen > link->mask || link->n_spilled) {
        link->head_seen = atomic_load_explicit(&link->head, memory_order_acquire);
        if (link->n_spilled || tail - link->head_seen > link->mask) {
            if (link->is_remote) {
                link_spill(link, frame);
                w->spilled = true;
                w->remote_min = xoff_time_min(w->remote_min, frame->at);
                return;
            }
            link_grow(link);
        }
    }
    link->frames[tail & link->mask] = *frame;
    atomic_store_explicit(&link->tail, tail + 1, memory_order_release);
    if (link->is_remote) {
        w->remote_min = xoff_time_min(w->remote_min, frame->at);
        return;
    }
    if (w->sim->at[link->to_slot] == XOFF_NEVER)
        set_at(w, link->to_slot, link->to_cell, frame->at);
}

void sim_at_transmit(struct worker *w, uint32_t node, uint32_t port, xoff_time at)
{
    const struct sim *sim = w->sim;
    set_at(w, sim->first_slot[node] + sim->n_ports[node] + port, sim->cell_of[node], at);
}

void sim_at_timer(struct worker *w, uint32_t node, xoff_time at)
{
    const struct sim *sim = w->sim;
    set_at(w, sim->first_slot[node] + 2 * sim->n_ports[node], sim->cell_of[node], at);
}

xoff_time sim_now(const struct worker *w)
{
    return w->now;
}

struct worker *sim_exclusive(struct sim *sim)
{
    return sim->exclusive;
}

/* A cell from the window's start to its end. */
static void run_cell(struct worker *w, uint32_t index)
{
    struct sim *sim = w->sim;
    const struct cell *cell = &sim->cells[index];
    const struct sim_model *model = &sim->model;
    struct queue *q = &w->queue;
    xoff_time *at = sim->at + cell->first_slot;
    const xoff_time end = w->window_end;

    w->cell = index;
    w->first_slot = cell->first_slot;
    q->word = 0;
    q->shift = 0;
    while ((end - q->start - 1) >> q->shift >> cell->bucket_bits)
        q->shift++;
    for (uint32_t i = 0; i < cell->n_slots; i++)
        if (at[i] < end)
            insert(w, i, at[i]);

    uint64_t events = 0, arrivals = 0;
    for (uint32_t i; (i = queue_take(q, cell->n_words)) != QUEUE_END; events++) {
        const struct slot *s = &sim->slots[cell->first_slot + i];
        w->now = at[i];
        if (s->kind == SIM_ARRIVAL) {
            struct link *link = &sim->links[s->link];
            arrivals++;
            const uint32_t head = atomic_load_explicit(&link->head, memory_order_relaxed);
            model->arrive(model->net, w, s->node, s->port, &link->frames[head & link->mask]);
            atomic_store_explicit(&link->head, head + 1, memory_order_release);
            if (atomic_load_explicit(&link->tail, memory_order_acquire) != head + 1) {
                at[i] = link->frames[(head + 1) & link->mask].at;
                if (at[i] < end)
                    insert(w, i, at[i]);
            } else {
                at[i] = XOFF_NEVER;
            }
        } else {
            at[i] = XOFF_NEVER;
            if (s->kind == SIM_TRANSMIT)
                model->transmit(model->net, w, s->node, s->port);
            else
                model->timer(model->net, w, s->node);
        }
    }
    w->events += events;
    w->arrivals += arrivals;
    w->cell = UINT32_MAX;

    xoff_time next = XOFF_NEVER;
    for (uint32_t i = 0; i < cell->n_slots; i++)
        next = xoff_time_min(next, at[i]);
    sim->next_at[index] = next;
}

static void relax(unsigned *spins)
{
    /* More threads than cores must not starve the one that everybody waits for. */
    if (++*spins > 4096)
        sched_yield();
#if defined(__x86_64__) || defined(__i386__)
    else
        __builtin_ia32_pause();
#endif
}

static void barrier(struct sim *sim)
{
    if (sim->n_threads == 1)
        return;
    const uint32_t round = atomic_load_explicit(&sim->round, memory_order_acquire);
    if (atomic_fetch_add_explicit(&sim->arrived, 1, memory_order_acq_rel) + 1 == sim->n_threads) {
        atomic_store_explicit(&sim->arrived, 0, memory_order_relaxed);
        atomic_store_explicit(&sim->round, round + 1, memory_order_release);
        return;
    }
    for (unsigned spins = 0; atomic_load_explicit(&sim->round, memory_order_acquire) == round;)
        relax(&spins);
}

/* Frames that other threads appended to our incoming links since we last looked. */
static void look_at_remote(struct worker *w)
{
    struct sim *sim = w->sim;
    for (uint32_t i = 0; i < w->n_remote_in; i++) {
        const struct link *link = &sim->links[w->remote_in[i]];
        if (sim->at[link->to_slot] != XOFF_NEVER || !link_count(link))
            continue;
        const xoff_time at = link_front(link)->at;
        sim->at[link->to_slot] = at;
        sim->next_at[link->to_cell] = xoff_time_min(sim->next_at[link->to_cell], at);
    }
}

static xoff_time earliest(const struct worker *w)
{
    const struct sim *sim = w->sim;
    xoff_time next = w->remote_min;
    for (uint32_t i = 0; i < w->n_cells; i++)
        next = xoff_time_min(next, sim->next_at[w->cells[i]]);
    return next;
}

/* Posts what this worker knows and learns what all know: the earliest pending time. */
static xoff_time meet(struct worker *w, bool stop, bool *anyone_stops)
{
    struct sim *sim = w->sim;
    /* Postings of successive meetings lie side by side: nobody overwrites what another still reads. */
    struct bulletin *board = sim->board + (w->windows & 1) * sim->n_threads;
    board[w->id].next_at = earliest(w);
    board[w->id].spilled = w->spilled;
    board[w->id].stop = stop;
    board[w->id].arrivals = w->arrivals;
    barrier(sim);
    xoff_time next = XOFF_NEVER;
    bool spilled = false;
    w->all_arrivals = 0;
    for (uint32_t i = 0; i < sim->n_threads; i++) {
        w->all_arrivals += board[i].arrivals;
        next = xoff_time_min(next, board[i].next_at);
        spilled |= board[i].spilled;
        *anyone_stops |= board[i].stop;
    }
    if (spilled) {
        sim_merge_spilled(sim, w->id);
        w->spilled = false;
        barrier(sim);
    }
    w->remote_min = XOFF_NEVER;
    look_at_remote(w);
    return next;
}

/* A global instant: exclusive work on the first worker, then samples by each for its own nodes. */
static void hold_instant(struct worker *w)
{
    struct sim *sim = w->sim;
    const xoff_time now = sim->instant_at;
    barrier(sim);
    if (w->id == 0) {
        sim->exclusive->now = now;
        sim->sampling = sim->model.wants_sample(sim->model.net, now);
        sim->instant_at = sim->model.instant(sim->model.net, now);
    }
    barrier(sim);
    if (sim->sampling)
        for (uint32_t i = 0; i < w->n_cells; i++) {
            const struct cell *cell = &sim->cells[w->cells[i]];
            for (uint32_t s = 0; s < cell->n_slots; s++)
                if (sim->slots[cell->first_slot + s].kind == SIM_TIMER)
                    sim->model.sample(sim->model.net, sim->slots[cell->first_slot + s].node, now);
        }
}

static void *work(void *argument)
{
    struct worker *w = argument;
    struct sim *sim = w->sim;
    xoff_time reached = 0;
    bool stop = false;
    for (;;) {
        bool anyone_stops = false;
        const xoff_time next = meet(w, stop, &anyone_stops);
        w->windows++;
        if (anyone_stops)
            break;
        if (w->id == 0)
            stop = !sim->model.progress(sim->model.net, reached, w->all_arrivals);
        /* Samples and checks of a network at rest say nothing new. */
        if (next == XOFF_NEVER && !sim->model.has_changes(sim->model.net)) {
            if (w->id == 0)
                sim->is_at_rest = true;
            break;
        }
        if (xoff_time_min(next, sim->instant_at) >= sim->end) {
            reached = sim->end;
            break;
        }
        if (sim->instant_at <= next) {
            reached = sim->instant_at;
            hold_instant(w);
            continue;
        }
        w->queue.start = next;
        w->window_end = xoff_time_min(xoff_time_after(next, sim->lookahead), sim->instant_at);
        w->window_end = xoff_time_min(w->window_end, sim->end);
        reached = w->window_end;
        for (uint32_t i = 0; i < w->n_cells; i++)
            if (sim->next_at[w->cells[i]] < w->window_end)
                run_cell(w, w->cells[i]);
    }
    if (w->id == 0)
        sim->exclusive->now = reached;
    return NULL;
}

xoff_time sim_run(struct sim *sim, xoff_time first_instant, xoff_time end)
{
    sim->end = end;
    sim->instant_at = first_instant;
    pthread_t threads[64];
    XOFF_ASSERT(sim->n_threads <= 64);
    for (uint32_t i = 1; i < sim->n_threads; i++)
        XOFF_ASSERT(pthread_create(&threads[i], NULL, work, sim->workers[i]) == 0);
    work(sim->workers[0]);
    for (uint32_t i = 1; i < sim->n_threads; i++)
        XOFF_ASSERT(pthread_join(threads[i], NULL) == 0);
    return sim->exclusive->now;
}
