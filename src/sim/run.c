/* The events of a window, cell after cell. See sim.h for their order, rounds.c for the windows. */
#include <string.h>

#include "sim/alone.h"
#include "sim/warm.h"
#include <xoff/err.h>

/* In a cell of so many slots another event almost always comes before a node's next one: nobody
 * tries to go on without an event. */
#define CROWDED 256

/* The key of the timer of the node that runs alone. */
static inline uint64_t timer_key(const struct thread *w, xoff_time at)
{
    return at < w->window_end ? queue_key(&w->queue, at, SIM_TIMER, 0) : QUEUE_NONE;
}

/* Sets the time of a slot, in the running cell's queue or for a later window. The kind is that of
 * the slot, which the caller knows: its cache line is not read. */
static inline void set_at(struct thread *w, uint32_t slot, xoff_time at, enum sim_kind kind)
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
        if (__builtin_expect(old < w->window_end, 0))
            queue_remove(&w->queue, queue_key(&w->queue, old, kind, local));
        if (at < w->window_end)
            queue_insert(&w->queue, queue_key(&w->queue, at, kind, local));
        return;
    }
    const uint32_t cell = sim->cell_of[sim->slots[slot].node];
    if (at < sim->next_at[cell])
        sim->next_at[cell] = at;
}

struct frame *sim_next_chunk(struct worker *worker, struct frame *last)
{
    struct thread *w = (struct thread *)worker;
    struct sim *sim = worker->sim;
    struct thread *from = w != sim->exclusive ? w : sim->threads[0];
    last->more = chunk_take(from); /* the last frame of a chunk names the next one */
    return chunk_at(from, last->more);
}

/* Notes an event after this round. What is sent between rounds is noted at its receiver alone. */
static inline void note_next(struct thread *w, xoff_time at)
{
    w->worker.next_at = xoff_time_min(w->worker.next_at, at);
}

/* A frame is on its way over a shared link. The receiver looks at its links itself. */
static inline void tell_time(struct thread *w, const struct link *link, xoff_time at)
{
    struct sim *sim = w->worker.sim;
    if (__builtin_expect(w != sim->exclusive, 1))
        note_next(w, at);
    else if (!link->is_out && sim->at[link->to_slot] == XOFF_NEVER)
        set_at(w, link->to_slot, at, SIM_ARRIVAL);
}

void sim_expect(struct worker *worker, const struct link *link, xoff_time at)
{
    struct thread *w = (struct thread *)worker;
    if (link->is_shared) {
        tell_time(w, link, at);
        return;
    }
    *link->to_at = at;
    const uint32_t local = link->to_slot - w->first_slot;
    if (local < w->n_slots) { /* receiver is in the running cell */
        if (w->uses_queue && at < w->window_end)
            queue_insert(&w->queue, queue_key(&w->queue, at, SIM_ARRIVAL, local));
        return;
    }
    xoff_time *next_at = &worker->sim->next_at[link->to_cell];
    *next_at = xoff_time_min(*next_at, at);
    if (__builtin_expect(w != worker->sim->exclusive, 1))
        note_next(w, at);
}

void sim_send_specially(struct worker *w, struct link *link, const struct frame *frame,
                        xoff_time at)
{
    xoff_time *last_at = link_last_at(link);
    if (at <= *last_at) /* the delay was shortened since */
        at = *last_at + 1;
    *last_at = at;
    struct frame *in = link_end(link), *end = in + link->step;
    frame_copy(in, frame, link->step);
    in->at = at;
    if (__builtin_expect(chunk_begins(end, link->mask), 0))
        end = sim_next_chunk(w, in);
    link_append(link, end);
    if (*link->to_at == XOFF_NEVER)
        sim_expect(w, link, at);
}

void sim_at_transmit(struct worker *w, uint32_t node, uint32_t port, xoff_time at)
{
    const struct thread *thread = (const struct thread *)w;
    const struct node_slots *slots = &w->sim->slots_of[node];
    if (thread->first_slot == slots->first && thread->n_slots == END_NODE_SLOTS &&
        !thread->uses_queue) /* the node that runs, which has one port: nothing is to be moved */
        w->sim->at[slots->first + 1] = at;
    else
        set_at((struct thread *)w, slots->first + slots->n_ports + port, at, SIM_TRANSMIT);
}

void sim_at_timer(struct worker *worker, uint32_t node, xoff_time at)
{
    struct thread *w = (struct thread *)worker;
    const struct node_slots *slots = &worker->sim->slots_of[node];
    const uint32_t slot = slots->first + 2 * slots->n_ports;
    if (slot != w->timer_slot) {
        set_at(w, slot, at, SIM_TIMER);
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
        if (w->timer_key < up_to || w->next_arrival->key < up_to || w->queue.first_key < up_to)
            return false;
    }
    worker->now = at;
    return true;
}

struct worker *sim_exclusive(struct sim *sim)
{
    return &sim->exclusive->worker;
}

static xoff_time earliest_of(const struct sim *sim, const struct cell *cell)
{
    xoff_time next = XOFF_NEVER;
    for (uint32_t i = 0; i < cell->n_slots; i++)
        next = xoff_time_min(next, sim->at[cell->first_slot + i]);
    return next;
}

/* A node with one port whose model has not compiled its own. */
__attribute__((noinline)) static void run_end_slots(struct thread *w, uint32_t first_slot)
{
    const struct sim *sim = w->worker.sim;
    const struct sim_node *on = &sim->model.nodes[sim->slots[first_slot].node];
    sim_run_end_slots(&w->worker, first_slot, w->step, on->self, on->arrive, on->transmit,
                      on->timer);
}

static inline void run_end_node(struct thread *w, uint32_t index)
{
    const struct sim *sim = w->worker.sim;
    const uint32_t first_slot = sim->cells[index].first_slot;
    const struct sim_node *on = &sim->model.nodes[sim->slots[first_slot].node];
    if (on->run)
        on->run(on->self, &w->worker, index);
    else
        run_end_slots(w, first_slot);
    const xoff_time *at = sim->at + first_slot;
    sim->next_at[index] = xoff_time_min(at[0], xoff_time_min(at[1], at[2]));
}

static const struct next_arrival no_arrival = {.key = QUEUE_NONE};

/* Opens the queue for a window of a cell with up to so many events at a time. */
static inline void open_queue(struct thread *w, const struct cell *cell, uint32_t n_events)
{
    w->first_slot = cell->first_slot;
    w->n_slots = cell->n_slots;
    w->uses_queue = true;
    w->worker.advances_before = cell->n_slots < CROWDED ? w->window_end : 0;
    w->next_arrival = &no_arrival;
    w->queue.ports = w->worker.sim->ports + cell->first_slot;
    queue_open(&w->queue, w->window_end - w->queue.start, cell->bucket_bits, n_events);
}

static inline void close_queue(struct thread *w, const struct cell *cell, uint32_t index)
{
    w->n_slots = 0;
    if (w->worker.now > w->last_at)
        w->last_at = w->worker.now;
    w->worker.sim->next_at[index] = earliest_of(w->worker.sim, cell);
}

/* Events in the queue of a single node at a time: as many arrivals as there are buckets, and one
 * for each slot. */
static inline uint32_t most_events(const struct cell *cell)
{
    return (UINT32_C(1) << cell->bucket_bits) + cell->n_slots;
}

/* For as many arrivals as there are buckets. */
static void open_for_arrivals(struct thread *w, const struct cell *cell)
{
    open_queue(w, cell, most_events(cell));
    w->most_arrivals = UINT32_C(1) << cell->bucket_bits;
    if (__builtin_expect(w->most_arrivals >= w->arriving_capacity, 0))
        thread_reserve_arrivals(w, w->most_arrivals);
}

void alone_widen(struct thread *w, struct cell *cell)
{
    cell->bucket_bits += 2;
    w->most_arrivals = UINT32_C(1) << cell->bucket_bits;
    queue_open_wider(&w->queue, w->window_end - w->queue.start, cell->bucket_bits,
                     most_events(cell));
    if (w->most_arrivals >= w->arriving_capacity)
        thread_reserve_arrivals(w, w->most_arrivals);
}

/* The queue takes all that the node receives in the window, which was sent before. */
void alone_open(struct thread *w, uint32_t index)
{
    const struct sim *sim = w->worker.sim;
    const struct cell *cell = &sim->cells[index];
    open_for_arrivals(w, cell);
    if (sim->model.begin && !sim->is_large) /* else it has been done */
        sim->model.begin(sim->model.net, sim->slots[cell->first_slot].node);
}

/* Puts the transmissions that the node has set into the queue. They are fewer than the arrivals, so
 * with half the buckets fewer empty places are passed over. */
void alone_begin(struct thread *w, uint32_t index)
{
    const struct sim *sim = w->worker.sim;
    const struct cell *cell = &sim->cells[index];
    struct queue *q = &w->queue;
    xoff_time *at = sim->at + cell->first_slot;
    const uint32_t n_ports = (cell->n_slots - 1) / 2;
    const xoff_time end = w->window_end;
    queue_open(q, end - q->start, cell->bucket_bits - 1, cell->n_slots);
    for (uint32_t i = n_ports; i < 2 * n_ports; i++)
        if (at[i] < end)
            queue_fill(q, queue_key(q, at[i], SIM_TRANSMIT, i));
    w->next_arrival = w->in_order;
    queue_look(q, 0);
    w->timer_slot = cell->first_slot + 2 * n_ports;
    w->timer_key = timer_key(w, at[2 * n_ports]);
}

/* Ends it; n_own is the number of events that the node had set itself. */
void alone_close(struct thread *w, uint32_t index, uint64_t n_own)
{
    struct sim *sim = w->worker.sim;
    struct cell *cell = &sim->cells[index];
    const uint32_t n = w->n_arriving;
    chunks_return_read(w);
    w->events += n_own + n;
    w->arrivals += n;
    w->timer_slot = UINT32_MAX;
    if (cell->bucket_bits > LEAST_BUCKET_BITS && n < UINT32_C(1) << cell->bucket_bits >> 5)
        cell->bucket_bits--;
    else if (n > UINT32_C(1) << cell->bucket_bits >> 3)
        cell->bucket_bits++;
    close_queue(w, cell, index);
}

static inline void arrive_by_call(void *node, struct worker *w, uint32_t port,
                                  const struct arrival *a)
{
    const struct sim_node *on = node;
    on->arrive(on->self, w, port, a->frame);
}

static inline void transmit_by_call(void *node, struct worker *w, uint32_t port)
{
    const struct sim_node *on = node;
    on->transmit(on->self, w, port);
}

static inline void timer_by_call(void *node, struct worker *w)
{
    const struct sim_node *on = node;
    on->timer(on->self, w);
}

/* A node whose model has not compiled its own. */
__attribute__((noinline)) static void run_node(struct thread *w, uint32_t index,
                                               const struct sim_node *on)
{
    sim_run_alone(&w->worker, index, w->step, (void *)on, NULL, arrive_by_call, transmit_by_call,
                  timer_by_call);
}

static inline void run_alone(struct thread *w, uint32_t index)
{
    const struct sim *sim = w->worker.sim;
    const struct sim_node *on = &sim->model.nodes[sim->slots[sim->cells[index].first_slot].node];
    if (on->run)
        on->run(on->self, &w->worker, index);
    else
        run_node(w, index, on);
}

/* Runs a cell of several nodes from the window's start to its end. */
__attribute__((noinline)) static void run_cell(struct thread *w, uint32_t index)
{
    struct sim *sim = w->worker.sim;
    const struct cell *cell = &sim->cells[index];
    const struct sim_node *nodes = sim->model.nodes;
    struct queue *q = &w->queue;
    xoff_time *at = sim->at + cell->first_slot;
    const xoff_time end = w->window_end;

    open_queue(w, cell, 2 * cell->n_slots);
    const struct slot *slots = &sim->slots[cell->first_slot];
    const struct frame **frames = sim->frames + cell->first_slot;
    for (uint32_t i = 0; i < cell->n_slots; i++)
        if (at[i] < end)
            queue_fill(q, queue_key(q, at[i], (enum sim_kind)slots[i].kind, i));
    queue_look(q, 0);
    uint64_t events = 0, arrivals = 0;
    for (;; events++) {
        if (__builtin_expect(q->first_key == QUEUE_NONE, 0))
            break;
        const uint64_t key = queue_take(q);
        const uint32_t i = queue_key_slot(key);
        const struct slot *s = &slots[i];
        const struct sim_node *on = &nodes[s->node];
        w->worker.now = queue_key_at(q, key);
        const enum sim_kind kind = queue_key_kind(key);
        if (kind == SIM_ARRIVAL) {
            arrivals++;
            on->arrive(on->self, &w->worker, s->port, frames[i]);
            chunk_leave(w, &frames[i]);
            at[i] = front_at(w, s, &frames[i]);
            if (at[i] < end)
                queue_insert(q, queue_key(q, at[i], SIM_ARRIVAL, i));
        } else {
            at[i] = XOFF_NEVER;
            if (kind == SIM_TRANSMIT)
                on->transmit(on->self, &w->worker, s->port);
            else
                on->timer(on->self, &w->worker);
        }
    }
    w->events += events;
    w->arrivals += arrivals;
    close_queue(w, cell, index);
}

/* Calm windows
 *
 * Where switches keep what arrives for longer than the window lasts, a window may be much longer
 * than the lookahead: the model vouches for it (sim_model.calm_for). Switches first do what they
 * do without their arrivals, then hosts run, and then switches take what has arrived. So each node
 * runs on its own, with its data in the cache, and few events have to be sorted. */

/* Buckets for the few events that a node has in a calm window. */
#define CALM_BUCKET_BITS 6

static struct cell calm_cell(const struct node_slots *slots)
{
    return (struct cell){.first_slot = slots->first,
                         .n_slots = 2 * slots->n_ports + 1,
                         .bucket_bits = CALM_BUCKET_BITS};
}

/* Finds the slots from `first` up to `last` that have an event before the window ends, and returns
 * their number. There is no branch: which slots these are cannot be predicted. */
static inline uint32_t find_due(const struct thread *w, const xoff_time *at, uint32_t first,
                                uint32_t last, uint16_t *due)
{
    uint32_t n = 0;
    for (uint32_t i = first; i < last; i++) {
        due[n] = (uint16_t)i;
        n += at[i] < w->window_end;
    }
    return n;
}

/* Runs the transmissions and the timer of a node. */
__attribute__((noinline)) static void run_own(struct thread *w, uint32_t node)
{
    struct sim *sim = w->worker.sim;
    const struct sim_node *on = &sim->model.calm_nodes[node];
    struct queue *q = &w->queue;
    const struct cell cell = calm_cell(&sim->slots_of[node]);
    const uint32_t n_ports = sim->slots_of[node].n_ports, timer = 2 * n_ports;
    xoff_time *at = sim->at + cell.first_slot;

    const uint32_t n = find_due(w, at, n_ports, timer, w->due);
    if (!n && at[timer] >= w->window_end)
        return;
    open_queue(w, &cell, cell.n_slots);
    for (uint32_t k = 0; k < n; k++)
        queue_fill(q, queue_key(q, at[w->due[k]], SIM_TRANSMIT, w->due[k]));
    w->timer_slot = cell.first_slot + timer;
    w->timer_key = timer_key(w, at[timer]);
    queue_look(q, 0);
    uint64_t events = 0;
    for (;; events++) {
        if (q->first_key < w->timer_key) {
            const uint64_t key = queue_take(q);
            const uint32_t i = queue_key_slot(key);
            w->worker.now = queue_key_at(q, key);
            at[i] = XOFF_NEVER;
            on->transmit(on->self, &w->worker, i - n_ports);
        } else if (w->timer_key != QUEUE_NONE) {
            w->worker.now = at[timer];
            at[timer] = XOFF_NEVER;
            w->timer_key = QUEUE_NONE;
            on->timer(on->self, &w->worker);
        } else {
            break;
        }
    }
    w->events += events;
    w->timer_slot = UINT32_MAX;
    w->n_slots = 0;
    if (w->worker.now > w->last_at)
        w->last_at = w->worker.now;
}

/* Runs the arrivals of a node. */
__attribute__((noinline)) static void run_arrivals(struct thread *w, uint32_t node)
{
    struct sim *sim = w->worker.sim;
    const struct sim_node *on = &sim->model.calm_nodes[node];
    struct cell cell = calm_cell(&sim->slots_of[node]);
    const xoff_time *at = sim->at + cell.first_slot;

    const uint32_t n_due = find_due(w, at, 0, sim->slots_of[node].n_ports, w->due);
    open_for_arrivals(w, &cell);
    uint32_t n = 0;
    for (uint32_t k = 0; k < n_due; k++)
        n = alone_take(w, &cell, w->due[k], n, w->step, NULL, NULL);
    queue_look(&w->queue, 0);
    for (uint32_t k = 0; k < n; k++) {
        const uint64_t key = queue_take(&w->queue);
        const uint32_t port = queue_key_slot(key);
        w->worker.now = queue_key_at(&w->queue, key);
        on->arrive(on->self, &w->worker, port, alone_next(w, port)->frame);
    }
    chunks_return_read(w);
    w->events += n;
    w->arrivals += n;
    if (n && w->worker.now > w->last_at)
        w->last_at = w->worker.now;
    w->worker.now = w->queue.start; /* other nodes may be in the next window */
    sim->model.settle(sim->model.net, &w->worker, node, w->window_end);
    w->worker.now = w->last_at;
    w->n_slots = 0;
}

static inline void set_window(struct thread *w, xoff_time start, xoff_time end)
{
    w->queue.start = start;
    w->window_end = end;
}

/* Runs calm windows of up to `length` each. A node takes its arrivals of one window and does what
 * it does in the next one right after it. */
static void run_calm(struct thread *w, xoff_time start, xoff_time end, xoff_time length)
{
    const struct sim *sim = w->worker.sim;
    xoff_time until = xoff_time_min(start + length, end);
    set_window(w, start, until);
    for (uint32_t n = 0; n < sim->n_nodes; n++)
        if (sim->slots_of[n].n_ports > 1)
            run_own(w, n);
    while (start < end) {
        const xoff_time next = xoff_time_min(until + length, end);
        set_window(w, start, until);
        for (uint32_t n = 0; n < sim->n_nodes; n++)
            if (sim->slots_of[n].n_ports == 1)
                run_end_slots(w, sim->slots_of[n].first);
        for (uint32_t n = 0; n < sim->n_nodes; n++) {
            if (sim->slots_of[n].n_ports == 1)
                continue;
            set_window(w, start, until);
            run_arrivals(w, n);
            set_window(w, until, next);
            if (until < next)
                run_own(w, n);
        }
        start = until;
        until = next;
    }
}

/* Runs the one cell that all nodes are in, from the window's start to its end: in calm windows
 * where there are enough events to go from node to node for. */
static void run_whole(struct thread *w)
{
    struct sim *sim = w->worker.sim;
    const xoff_time start = sim->window_start, end = sim->window_end;
    const uint64_t before = w->arrivals;
    const xoff_time length =
        end - start >= sim->sparse_for ? sim->model.calm_for(sim->model.net, start, end) : 0;
    if (length > 0) {
        run_calm(w, start, end, length);
        sim->next_at[0] = earliest_of(sim, &sim->cells[0]);
    } else {
        run_cell(w, 0);
    }
    const xoff_time n = (xoff_time)(w->arrivals - before);
    sim->sparse_for = n ? (end - start) / n * sim->n_nodes / 2 : XOFF_NEVER;
}

void share_look(struct sim *sim, struct share *share)
{
    for (uint32_t i = 0; i < share->n_shared_in; i++) {
        const struct link *link = &sim->links[share->shared_in[i]];
        const struct frame *next = sim->frames[link->to_slot];
        if (sim->at[link->to_slot] != XOFF_NEVER || link_read_end(link) == next)
            continue;
        const xoff_time at = next->at;
        sim->at[link->to_slot] = at;
        sim->next_at[link->to_cell] = xoff_time_min(sim->next_at[link->to_cell], at);
    }
}

/* Events cancelled between windows must not keep a network from coming to rest: the time it comes
 * to rest would depend on the cells. */
static void forget_cancelled(struct thread *w, const struct share *share)
{
    struct sim *sim = w->worker.sim;
    for (uint32_t i = 0; i < share->n_cells; i++) {
        const uint32_t cell = share->cells[i];
        sim->next_at[cell] = earliest_of(sim, &sim->cells[cell]);
        note_next(w, sim->next_at[cell]);
    }
}

static void sample_cells(const struct thread *w, const struct share *share)
{
    const struct sim *sim = w->worker.sim;
    for (uint32_t i = 0; i < share->n_cells; i++) {
        const struct cell *cell = &sim->cells[share->cells[i]];
        for (uint32_t s = 0; s < cell->n_slots; s++)
            if (sim->slots[cell->first_slot + s].kind == SIM_TIMER)
                sim->model.sample(sim->model.net, sim->slots[cell->first_slot + s].node,
                                  w->last_at);
    }
}

/* While one cell runs, data of the next ones is prefetched (warm.h). */
void share_run(struct thread *w, const struct share *share, uint32_t from, uint32_t to,
               uint32_t next)
{
    const struct sim *sim = w->worker.sim;
    w->queue.start = sim->window_start;
    w->window_end = sim->window_end;
    for (uint32_t k = from; k < to; k++) {
        if (sim->is_large)
            warm_ahead(w, share->active + k, to - k);
        else if (k + 1 < to || next != UINT32_MAX)
            warm(w, share->active[k + 1 < to ? k + 1 : next]);
        const uint32_t index = share->active[k];
        const struct cell *cell = &sim->cells[index];
        if (sim->may_be_calm)
            run_whole(w);
        else if (!cell->is_node)
            run_cell(w, index);
        else if (cell->n_slots == END_NODE_SLOTS)
            run_end_node(w, index);
        else
            run_alone(w, index);
        note_next(w, sim->next_at[index]);
    }
}

/* Finds those cells of a share, from a place on, that have an event in this window. */
static void find_active(struct thread *w, struct share *share, uint32_t from, uint32_t to)
{
    const struct sim *sim = w->worker.sim;
    const xoff_time end = sim->window_end;
    xoff_time later = XOFF_NEVER;
    uint32_t n = 0;
    for (uint32_t i = from; i < to; i++) { /* no branch: which cells are idle cannot be predicted */
        const xoff_time at = sim->next_at[share->cells[i]];
        share->active[n] = share->cells[i];
        n += at < end;
        later = xoff_time_min(later, at < end ? XOFF_NEVER : at);
    }
    share->n_active = n;
    note_next(w, later);
}

void share_open(struct thread *w, struct share *share)
{
    struct sim *sim = w->worker.sim;
    share_look(sim, share);
    share->n_active = 0;
    if (!sim->is_window) {
        forget_cancelled(w, share);
        if (sim->sampling)
            sample_cells(w, share);
        return;
    }
    if (__builtin_expect(sim->exchange != NULL, 0)) {
        find_active(w, share, 0, share->n_border);
        share_run(w, share, 0, share->n_active, UINT32_MAX);
        exchange_border_done(w);
    }
    find_active(w, share, share->n_border, share->n_cells);
}
