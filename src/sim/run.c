/* The events of a window, cell after cell. See sim.h for their order, rounds.c for the windows. */
#include <string.h>

#include "sim/engine.h"
#include <xoff/err.h>

/* A cell of a single node with one port has two slots for the port and one for the timer. */
#define END_NODE_SLOTS 3
/* In a cell of so many slots another event almost always comes before a node's next one: nobody
 * tries to go on without an event. */
#define CROWDED 256

static inline void insert(struct thread *w, uint32_t local, xoff_time at, enum sim_kind kind,
                          uint32_t port)
{
    queue_insert(&w->queue, local,
                 kind == SIM_TIMER ? queue_timer_key(&w->queue, at, local)
                                   : queue_key(&w->queue, at, kind, port, local));
}

/* The key of the timer of the node that runs alone. */
static inline uint64_t timer_key(const struct thread *w, xoff_time at)
{
    return at < w->window_end ? queue_timer_key(&w->queue, at, 0) : UINT64_MAX;
}

/* Sets the time of a slot, in the running cell's queue or for a later window. Kind and port are
 * those of the slot, which the caller knows: its cache line is not read. */
static inline void set_at(struct thread *w, uint32_t slot, xoff_time at, enum sim_kind kind,
                          uint32_t port)
{
    struct sim *sim = w->worker.sim;
    const xoff_time old = sim->at[slot];
    if (old == at)
        return;
    XOFF_ASSERT(at >= w->worker.now);
    sim->at[slot] = at;
    const uint32_t local = slot - w->first_slot;
    if (__builtin_expect(local < w->n_slots, 1)) { /* slot of the running cell */
        if (!w->uses_queue)
            return;
        if (old < w->window_end)
            queue_remove(&w->queue, local);
        if (at < w->window_end)
            insert(w, local, at, kind, port);
        return;
    }
    const uint32_t cell = sim->cell_of[sim->slots[slot].node];
    if (at < sim->next_at[cell])
        sim->next_at[cell] = at;
}

/* The ring is full as far as the sender knows. Returns false when the frame had to spill. */
XOFF_SELDOM static bool make_room(struct thread *w, struct link *link, uint32_t tail,
                                  const struct frame *frame, xoff_time at)
{
    link->head_seen = atomic_load_explicit(&link->head, memory_order_acquire);
    if (!link->n_spilled && tail - link->head_seen <= link->mask)
        return true;
    /* Between windows nobody else is at work: the ring can grow at once. */
    if (w == w->worker.sim->exclusive) {
        link_grow(w->worker.sim, link);
        return true;
    }
    /* Once a frame has spilled, all that follow it spill too: order is kept. */
    link_spill(link, frame, at);
    w->spilled = true;
    w->remote_min = xoff_time_min(w->remote_min, at);
    return false;
}

/* Sends a frame to a node of another thread. */
__attribute__((noinline)) static void send_remote(struct thread *w, struct link *link,
                                                  const struct frame *frame, xoff_time at)
{
    struct sim *sim = w->worker.sim;
    const uint32_t tail = atomic_load_explicit(&link->tail, memory_order_relaxed);
    if ((tail - link->head_seen > link->mask || link->n_spilled) &&
        !make_room(w, link, tail, frame, at))
        return;
    struct frame *in = &link->frames[tail & link->mask];
    frame_copy(in, frame, link->step);
    in->at = at;
    atomic_store_explicit(&link->tail, tail + link->step, memory_order_release);
    if (w != sim->exclusive)
        w->remote_min = xoff_time_min(w->remote_min, at);
    else if (sim->at[link->to_slot] == XOFF_NEVER)
        set_at(w, link->to_slot, at, SIM_ARRIVAL, link->to_port);
}

/* The chunk is full: its last frame names the next one. */
__attribute__((noinline)) static void next_chunk(struct thread *w, struct link *link,
                                                 struct frame *last)
{
    struct sim *sim = w->worker.sim;
    struct thread *owner =
        w != sim->exclusive ? w : sim->threads[sim->cells[link->from_cell].owner];
    last->more = chunk_take(owner);
    link->frames = chunk_at(owner, last->more);
    atomic_store_explicit(&link->tail, 0, memory_order_relaxed);
}

/* A frame is on its way over an empty link within the running cell. */
__attribute__((noinline)) static void arrive_within(struct thread *w, const struct link *link,
                                                    xoff_time at)
{
    w->worker.sim->at[link->to_slot] = at;
    if (w->uses_queue && at < w->window_end)
        insert(w, link->to_slot - w->first_slot, at, SIM_ARRIVAL, link->to_port);
}

void sim_send(struct worker *worker, uint32_t index, const struct frame *frame, xoff_time at)
{
    struct thread *w = (struct thread *)worker;
    struct sim *sim = worker->sim;
    struct link *link = &sim->links[index];
    if (__builtin_expect(at <= link->last_at, 0)) /* the delay was shortened since */
        at = link->last_at + 1;
    link->last_at = at;
    if (link->is_remote) {
        send_remote(w, link, frame, at);
        return;
    }
    const uint32_t tail = atomic_load_explicit(&link->tail, memory_order_relaxed);
    struct frame *in = &link->frames[tail];
    frame_copy(in, frame, link->step);
    in->at = at;
    if (__builtin_expect(tail == link->last, 0)) {
        next_chunk(w, link, in);
    } else {
        atomic_store_explicit(&link->tail, tail + link->step, memory_order_relaxed);
    }
    if (link->to_slot - w->first_slot < w->n_slots) { /* receiver is in the running cell */
        if (sim->at[link->to_slot] == XOFF_NEVER)
            arrive_within(w, link, at);
    } else { /* an earlier frame on the link may already have set the time */
        sim->at[link->to_slot] = xoff_time_min(sim->at[link->to_slot], at);
        sim->next_at[link->to_cell] = xoff_time_min(sim->next_at[link->to_cell], at);
    }
}

void sim_at_transmit(struct worker *w, uint32_t node, uint32_t port, xoff_time at)
{
    const struct node_slots *slots = &w->sim->slots_of[node];
    set_at((struct thread *)w, slots->first + slots->n_ports + port, at, SIM_TRANSMIT, port);
}

void sim_at_timer(struct worker *worker, uint32_t node, xoff_time at)
{
    struct thread *w = (struct thread *)worker;
    const struct node_slots *slots = &worker->sim->slots_of[node];
    const uint32_t slot = slots->first + 2 * slots->n_ports;
    if (slot != w->timer_slot) {
        set_at(w, slot, at, SIM_TIMER, 0);
        return;
    }
    XOFF_ASSERT(at >= worker->now);
    worker->sim->at[slot] = at;
    w->timer_key = timer_key(w, at);
}

bool sim_try_advance(struct worker *worker, xoff_time at)
{
    struct thread *w = (struct thread *)worker;
    if (!w->uses_queue) {
        const xoff_time *of = w->worker.sim->at + w->first_slot;
        if (of[0] <= at || of[1] <= at || of[2] <= at)
            return false;
    } else {
        const uint64_t up_to = (uint64_t)(at - w->queue.start + 1) << 28;
        if (w->next_key < up_to || w->timer_key < up_to ||
            queue_peek(&w->queue, w->n_words) < up_to)
            return false;
    }
    worker->now = at;
    return true;
}

struct worker *sim_exclusive(struct sim *sim)
{
    return &sim->exclusive->worker;
}

/* The next frame to arrive at a slot. */
static inline struct frame *front(const struct slot *s)
{
    return &s->frames[s->head & s->mask];
}

/* Moves the slot on to the next frame after one was taken. */
static inline void step(struct thread *w, struct slot *s)
{
    s->head += s->step;
    if (!s->is_remote && s->head == LINK_CHUNK * s->step) {
        struct frame *done = s->frames;
        s->frames = chunk_at(w, done[s->head - s->step].more);
        s->head = 0;
        chunk_return(w, done);
    }
}

/* Arrival time of the slot's next frame; XOFF_NEVER when there is none. A link that has run empty
 * starts its chunk anew: where frames are far apart, it always uses the same cache line. Which line
 * that is differs from link to link, as the first of all chunks share a few sets of the cache. */
static inline xoff_time front_at(struct sim *sim, struct slot *s)
{
    struct link *link = &sim->links[s->link];
    if (__builtin_expect(s->is_remote, 0))
        atomic_store_explicit(&link->head, s->head, memory_order_release);
    if (!link_is_read(link, s->frames, s->head))
        return front(s)->at;
    if (__builtin_expect(!s->is_remote, 1)) {
        s->head = s->link % LINK_CHUNK * s->step;
        atomic_store_explicit(&link->tail, s->head, memory_order_relaxed);
    }
    return XOFF_NEVER;
}

static xoff_time earliest_of(const struct sim *sim, const struct cell *cell)
{
    xoff_time next = XOFF_NEVER;
    for (uint32_t i = 0; i < cell->n_slots; i++)
        next = xoff_time_min(next, sim->at[cell->first_slot + i]);
    return next;
}

/* Prefetches what a cell needs first: the frames in the chunks that its slots read next, and the
 * model's own data. */
static void warm(const struct thread *w, uint32_t index)
{
    const struct sim *sim = w->worker.sim;
    const struct cell *cell = &sim->cells[index];
    for (uint32_t i = cell->first_slot; i < cell->first_slot + cell->n_slots; i++) {
        const struct slot *s = &sim->slots[i];
        if (s->kind == SIM_TRANSMIT)
            __builtin_prefetch(&sim->links[s->link], 1);
        else if (s->kind == SIM_ARRIVAL && sim->at[i] < w->window_end && !s->is_remote)
            for (uint32_t k = s->head; k < LINK_CHUNK * s->step; k++)
                __builtin_prefetch(&s->frames[k]);
    }
    if (sim->model.warm)
        sim->model.warm(sim->model.net, sim->slots[cell->first_slot].node);
}

/* A node with one port needs no queue: it has at most one pending arrival, one transmission and one
 * timer, and equal times are ordered by kind. Half of all events belong to such nodes. */
__attribute__((noinline)) static void run_end_node(struct thread *w, uint32_t index)
{
    struct sim *sim = w->worker.sim;
    const struct cell *cell = &sim->cells[index];
    const struct sim_model *model = &sim->model;
    xoff_time *at = sim->at + cell->first_slot;
    struct slot *s = &sim->slots[cell->first_slot];
    const uint32_t node = s->node;
    w->first_slot = cell->first_slot;
    w->n_slots = END_NODE_SLOTS;
    w->uses_queue = false;
    w->worker.advances_before = w->window_end;
    for (;;) {
        const xoff_time now = xoff_time_min(at[0], xoff_time_min(at[1], at[2]));
        if (now >= w->window_end)
            break;
        w->worker.now = now;
        w->events++;
        if (at[0] == now) {
            w->arrivals++;
            model->arrive(model->net, &w->worker, node, 0, front(s));
            step(w, s);
            at[0] = front_at(sim, s);
        } else if (at[2] == now) {
            at[2] = XOFF_NEVER;
            model->timer(model->net, &w->worker, node);
        } else {
            at[1] = XOFF_NEVER;
            model->transmit(model->net, &w->worker, node, 0);
        }
    }
    w->n_slots = 0;
    if (w->worker.now > w->last_at)
        w->last_at = w->worker.now;
    sim->next_at[index] = xoff_time_min(at[0], xoff_time_min(at[1], at[2]));
}

/* Sets up the buckets of the window for a cell. */
static inline void open_queue(struct thread *w, const struct cell *cell)
{
    struct queue *q = &w->queue;
    w->first_slot = cell->first_slot;
    w->n_slots = cell->n_slots;
    w->n_words = cell->n_words;
    w->uses_queue = true;
    w->worker.advances_before = cell->n_slots < CROWDED ? w->window_end : 0;
    q->word = 0;
    const uint64_t length = (uint64_t)(w->window_end - q->start);
    const unsigned bits = 64 - (unsigned)__builtin_clzll((length - 1) | 1);
    q->shift = bits > cell->bucket_bits ? bits - cell->bucket_bits : 0;
}

static inline void close_queue(struct thread *w, const struct cell *cell, uint32_t index)
{
    w->n_slots = 0;
    if (w->worker.now > w->last_at)
        w->last_at = w->worker.now;
    w->worker.sim->next_at[index] = earliest_of(w->worker.sim, cell);
}

/* Collects the keys of all frames that a link delivers to a node in this window. */
static uint32_t collect(struct thread *w, uint32_t local, uint32_t n)
{
    const struct sim *sim = w->worker.sim;
    const struct slot *s = &sim->slots[w->first_slot + local];
    const struct link *link = &sim->links[s->link];
    const xoff_time end = w->window_end;
    struct frame *frames = s->frames;
    uint32_t head = s->head;
    xoff_time at = sim->at[w->first_slot + local];
    do {
        if (n == w->keys_capacity)
            thread_grow(w, n + 1);
        w->keys[n++] = queue_key(&w->queue, at, SIM_ARRIVAL, s->port, local);
        head += s->step;
        if (!s->is_remote && head == LINK_CHUNK * s->step) {
            frames = chunk_at(w, frames[head - s->step].more);
            head = 0;
        }
        /* Frames that another thread appends now arrive after this window: none is missed here. */
        if (link_is_read(link, frames, head))
            break;
        at = frames[head & s->mask].at;
    } while (at < end);
    return n;
}

/* Sorts w->keys into w->sorted: by bucket first, then by insertion within each bucket. */
static void sort_keys(struct thread *w, uint32_t n)
{
    /* A few buckets for each key: fewer make insertion slower, more take longer to add up. */
    unsigned coarser = 0;
    while (64 * w->n_words >> coarser > 4 * n)
        coarser++;
    const unsigned shift = 28 + w->queue.shift + coarser;
    const uint32_t n_buckets = 64 * w->n_words >> coarser;
    uint32_t *place = w->places;
    memset(place, 0, sizeof *place * (n_buckets + 1));
    for (uint32_t i = 0; i < n; i++)
        place[(w->keys[i] >> shift) + 1]++;
    for (uint32_t b = 1; b < n_buckets; b++)
        place[b] += place[b - 1];
    for (uint32_t i = 0; i < n; i++)
        w->sorted[place[w->keys[i] >> shift]++] = w->keys[i];
    for (uint32_t i = 1; i < n; i++) {
        const uint64_t key = w->sorted[i];
        uint32_t k = i;
        for (; k > 0 && w->sorted[k - 1] > key; k--)
            w->sorted[k] = w->sorted[k - 1];
        w->sorted[k] = key;
    }
}

/* Runs a cell of a single node from the window's start to its end. All that the node receives was
 * sent before the window starts, so its arrivals are sorted at once, and only its own events go
 * through the queue. This also reads the frames in the order they lie in memory before they are
 * needed in the order of time. */
__attribute__((noinline)) static void run_node(struct thread *w, uint32_t index)
{
    struct sim *sim = w->worker.sim;
    const struct cell *cell = &sim->cells[index];
    const struct sim_model *model = &sim->model;
    xoff_time *at = sim->at + cell->first_slot;
    struct slot *slots = &sim->slots[cell->first_slot];
    const uint32_t node = slots->node, n_ports = (cell->n_slots - 1) / 2;
    const xoff_time end = w->window_end;

    open_queue(w, cell);
    uint32_t n = 0;
    for (uint32_t i = 0; i < n_ports; i++)
        if (at[i] < end)
            n = collect(w, i, n);
    for (uint32_t i = n_ports; i < 2 * n_ports; i++)
        if (at[i] < end)
            insert(w, i, at[i], SIM_TRANSMIT, i - n_ports);
    w->timer_slot = cell->first_slot + 2 * n_ports;
    w->timer_key = timer_key(w, at[2 * n_ports]);
    if (model->begin)
        model->begin(model->net, node);
    if (n)
        sort_keys(w, n);

    uint64_t events = 0;
    w->next_key = n ? w->sorted[0] : UINT64_MAX;
    for (uint32_t k = 0;;) {
        const uint64_t own = queue_peek(&w->queue, w->n_words);
        const uint64_t key = w->next_key;
        if (w->timer_key < key && w->timer_key < own) {
            w->worker.now = at[2 * n_ports];
            at[2 * n_ports] = XOFF_NEVER;
            w->timer_key = UINT64_MAX;
            events++;
            model->timer(model->net, &w->worker, node);
        } else if (key < own) {
            struct slot *s = &slots[key & 0xffff];
            w->next_key = ++k < n ? w->sorted[k] : UINT64_MAX;
            w->worker.now = w->queue.start + (xoff_time)(key >> 28);
            model->arrive(model->net, &w->worker, node, s->port, front(s));
            step(w, s);
        } else if (own != UINT64_MAX) {
            const uint32_t i = queue_take_peeked(&w->queue);
            w->worker.now = at[i];
            at[i] = XOFF_NEVER;
            events++;
            model->transmit(model->net, &w->worker, node, i - n_ports);
        } else {
            break;
        }
    }
    for (uint32_t i = 0; i < n_ports; i++)
        if (at[i] < end)
            at[i] = front_at(sim, &slots[i]);
    w->events += events + n;
    w->arrivals += n;
    w->timer_slot = UINT32_MAX;
    close_queue(w, cell, index);
}

/* Runs a cell of several nodes from the window's start to its end. */
__attribute__((noinline)) static void run_cell(struct thread *w, uint32_t index)
{
    struct sim *sim = w->worker.sim;
    const struct cell *cell = &sim->cells[index];
    const struct sim_model *model = &sim->model;
    struct queue *q = &w->queue;
    xoff_time *at = sim->at + cell->first_slot;
    const xoff_time end = w->window_end;

    open_queue(w, cell);
    struct slot *slots = &sim->slots[cell->first_slot];
    for (uint32_t i = 0; i < cell->n_slots; i++) {
        if (at[i] >= end)
            continue;
        insert(w, i, at[i], (enum sim_kind)slots[i].kind, slots[i].port);
    }
    uint64_t events = 0, arrivals = 0;
    for (uint32_t i; (i = queue_take(q, cell->n_words)) != QUEUE_END; events++) {
        struct slot *s = &slots[i];
        w->worker.now = q->start + (xoff_time)(q->entries[i].key >> 28);
        if (s->kind == SIM_ARRIVAL) {
            arrivals++;
            model->arrive(model->net, &w->worker, s->node, s->port, front(s));
            step(w, s);
            at[i] = front_at(sim, s);
            if (at[i] < end)
                insert(w, i, at[i], SIM_ARRIVAL, s->port);
        } else {
            at[i] = XOFF_NEVER;
            if (s->kind == SIM_TRANSMIT)
                model->transmit(model->net, &w->worker, s->node, s->port);
            else
                model->timer(model->net, &w->worker, s->node);
        }
    }
    w->events += events;
    w->arrivals += arrivals;
    close_queue(w, cell, index);
}

void thread_look(struct thread *w)
{
    struct sim *sim = w->worker.sim;
    for (uint32_t i = 0; i < w->n_remote_in; i++) {
        const struct link *link = &sim->links[w->remote_in[i]];
        const struct slot *s = &sim->slots[link->to_slot];
        if (sim->at[link->to_slot] != XOFF_NEVER ||
            atomic_load_explicit(&link->tail, memory_order_acquire) == s->head)
            continue;
        const xoff_time at = front(s)->at;
        sim->at[link->to_slot] = at;
        sim->next_at[link->to_cell] = xoff_time_min(sim->next_at[link->to_cell], at);
    }
}

static xoff_time earliest(const struct thread *w)
{
    const struct sim *sim = w->worker.sim;
    xoff_time next = w->remote_min;
    for (uint32_t i = 0; i < w->n_cells; i++)
        next = xoff_time_min(next, sim->next_at[w->cells[i]]);
    return next;
}

/* Events cancelled between windows must not keep a network from coming to rest: the time it comes
 * to rest would depend on the cells. */
static void forget_cancelled(struct thread *w)
{
    struct sim *sim = w->worker.sim;
    for (uint32_t i = 0; i < w->n_cells; i++)
        sim->next_at[w->cells[i]] = earliest_of(sim, &sim->cells[w->cells[i]]);
}

static void sample_cells(const struct thread *w)
{
    const struct sim *sim = w->worker.sim;
    for (uint32_t i = 0; i < w->n_cells; i++) {
        const struct cell *cell = &sim->cells[w->cells[i]];
        for (uint32_t s = 0; s < cell->n_slots; s++)
            if (sim->slots[cell->first_slot + s].kind == SIM_TIMER)
                sim->model.sample(sim->model.net, sim->slots[cell->first_slot + s].node,
                                  w->last_at);
    }
}

/* Runs all cells of a thread that have an event in this window. While one cell runs, the data that
 * the next one needs first is prefetched, because the frames in flight of a large network do not
 * stay in the cache. */
static void run_cells(struct thread *w)
{
    const struct sim *sim = w->worker.sim;
    uint32_t n = 0;
    for (uint32_t i = 0; i < w->n_cells;
         i++) { /* no branch: which cells are idle cannot be predicted */
        w->active[n] = w->cells[i];
        n += sim->next_at[w->cells[i]] < w->window_end;
    }
    for (uint32_t k = 0; k < n; k++) {
        if (k + 1 < n)
            warm(w, w->active[k + 1]);
        const struct cell *cell = &sim->cells[w->active[k]];
        if (!cell->is_node)
            run_cell(w, w->active[k]);
        else if (cell->n_slots == END_NODE_SLOTS)
            run_end_node(w, w->active[k]);
        else
            run_node(w, w->active[k]);
    }
}

void thread_run(struct thread *w)
{
    const struct sim *sim = w->worker.sim;
    w->remote_min = XOFF_NEVER;
    thread_look(w);
    if (sim->is_window) {
        w->queue.start = sim->window_start;
        w->window_end = sim->window_end;
        run_cells(w);
    } else {
        forget_cancelled(w);
        if (sim->sampling)
            sample_cells(w);
    }
    w->next_at = earliest(w);
}
