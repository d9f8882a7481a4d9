/* Private structures of the engine, shared by run.c (events), rounds.c (threads and windows),
 * cut_links.c (ranks) and sim_build.c (creation and destruction). */
#ifndef SIM_ENGINE_H
#define SIM_ENGINE_H

#include <xoff/err.h>

#include "sim/queue.h"

/* A slot holds one pending event of a node. An arrival slot is the receiver's half of a link. */
struct slot {
    uint32_t node;
    uint16_t port;
    uint8_t kind;   /* enum sim_kind */
    bool is_shared; /* SIM_ARRIVAL: the link is */
    uint32_t link;  /* SIM_ARRIVAL: the link that ends here; SIM_TRANSMIT: that begins here */
};

/* The slots of a node: arrivals by port, transmissions by port, the timer. */
struct node_slots {
    uint32_t first, n_ports;
};

#define LEAST_BUCKET_BITS 6
/* A cell of a single node with one port has two slots for the port and one for the timer. */
#define END_NODE_SLOTS 3
struct cell {
    uint32_t first_slot, n_slots;
    uint32_t owner;       /* thread whose share it is in */
    unsigned bucket_bits; /* buckets of its queue; of a single node: suit the last window */
    bool is_node; /* one node, no link to itself: all it receives in a window was sent before */
};

/* A frame that arrives at a node in the window that runs (alone.h). */
struct arrival {
    const struct frame *frame;
    /* Where it goes, if the node has looked that up before the window's events. */
    void *port, *queue;
};

struct next_arrival {
    uint64_t key;
    const struct arrival *arrival;
};

/* A share of the cells. One thread opens it in each round: it finds the cells that have an event.
 * Then threads claim units of these cells, the share's own thread from the front and others from
 * the back (rounds.c). */
struct share {
    alignas(64) uint32_t *cells;
    uint32_t *active; /* cells with an event in this window */
    uint32_t n_cells, n_active;
    uint32_t n_border;   /* of the cells, the first that have links to other ranks */
    uint32_t unit;       /* active cells that are claimed at once */
    uint32_t *shared_in; /* links to cells of this share that are shared */
    uint32_t n_shared_in;
    alignas(64) _Atomic uint32_t begun; /* rounds in which some thread has begun to open it */
    _Atomic uint64_t claims;            /* round, and the units that nobody has claimed */
};

/* A thread of the engine: what it needs to run a cell. The model sees only the first member. */
struct thread {
    alignas(64) struct worker worker;
    xoff_time window_end;
    uint32_t first_slot, n_slots; /* slots of the running cell; n_slots 0: no cell is running */
    bool uses_queue;
    xoff_time last_at; /* latest event or instant so far */
    uint64_t events, arrivals;
    uint32_t id;
    /* A pile of chunks for the frames of links. The address range is reserved once, for all
     * threads, of which each takes new chunks from its own part, and pages are allocated when
     * touched. Returned chunks are reused first, last in first out. */
    struct frame *chunks; /* the whole range */
    uint32_t step;        /* distance between neighbouring frames, in cache lines (frame.h) */
    uint32_t chunk_mask;  /* bits of an address within a chunk */
    uint32_t chunk_frames;
    unsigned chunk_shift;
    uint32_t new_chunk, chunks_end; /* the next that nobody has used; end of this thread's part */
    uint32_t free_chunk, n_free;    /* linked by frame.more; UINT32_MAX: none */
    uint32_t read_chunk, n_read;    /* whose frames all arrive in the window; the same */
    struct queue queue;
    uint16_t *due; /* slots of the node that runs, in calm windows */
    /* Of the node that runs alone: its arrivals, link after link; by port, the next of them; and
     * their keys in order, behind the last one QUEUE_NONE. Nodes with one port have none of it. */
    struct arrival *arriving, **arriving_at;
    struct next_arrival *in_order;
    const struct next_arrival *next_arrival;
    uint32_t n_arriving, n_arriving_at, arriving_capacity;
    uint32_t most_arrivals; /* for which the queue is open */
    /* The timer of a node that runs alone is in no bucket, since some nodes move it with almost
     * every event: its slot (UINT32_MAX: no such node runs) and its key (UINT64_MAX: not in this
     * window). */
    uint32_t timer_slot;
    uint64_t timer_key;
    uint32_t patience; /* spins that have paid off lately */
    struct share share;
};

struct sim {
    struct sim_model model;
    uint32_t n_nodes, n_slots, n_cells, n_links, n_threads;
    xoff_time never;    /* XOFF_NEVER: see link.to_at */
    xoff_time *at;      /* per slot */
    xoff_time *next_at; /* per cell: least `at` of its slots; during an instant, or earlier */
    struct slot *slots;
    const struct frame **frames; /* per slot, of SIM_ARRIVAL: to be read next; the receiver's */
    uint16_t *ports;             /* per slot */
    struct cell *cells;
    struct node_slots *slots_of; /* per node */
    uint32_t *cell_of;           /* per node */
    struct link *links;
    void *links_block;         /* that they lie in */
    struct exchange *exchange; /* NULL: this process runs all nodes */
    struct thread **threads;
    struct thread *exclusive;
    struct frame *chunks; /* the range that frames on links lie in */
    size_t chunks_size;   /* in bytes */
    xoff_time lookahead;
    uint32_t step;        /* distance between neighbouring frames, in cache lines */
    bool is_large;        /* does not stay in the cache (warm.h) */
    bool may_be_calm;     /* all nodes are one cell, and the model knows calm windows */
    xoff_time sparse_for; /* in which a frame arrives at every second node, by the last window */
    /* State of the run, written between two rounds. */
    xoff_time end, instant_at, reached;
    xoff_time window_start, window_end;
    uint64_t n_rounds, n_events;
    bool is_window; /* task of this round: a window, or what follows an instant */
    bool sampling, stops, is_stopped, is_last, is_at_rest;
    alignas(64) _Atomic uint32_t n_left; /* of this round: shares to open, and units to run */
    alignas(64) _Atomic uint32_t round;
    _Atomic uint32_t n_asleep;
    _Atomic bool is_over;
};

static inline struct frame *chunk_at(const struct thread *thread, uint32_t chunk)
{
    return (struct frame *)((char *)thread->chunks + ((size_t)chunk << thread->chunk_shift));
}

static inline uint32_t chunk_take(struct thread *thread)
{
    const uint32_t chunk = thread->free_chunk;
    if (chunk == UINT32_MAX) {
        XOFF_ASSERT(thread->new_chunk < thread->chunks_end);
        return thread->new_chunk++;
    }
    thread->free_chunk = chunk_at(thread, chunk)->more;
    thread->n_free--;
    return chunk;
}

/* Returns the chunk that a frame lies in. */
static inline void chunk_return(struct thread *thread, const struct frame *in)
{
    const size_t chunk =
        (size_t)((const char *)in - (const char *)thread->chunks) >> thread->chunk_shift;
    chunk_at(thread, (uint32_t)chunk)->more = thread->free_chunk;
    thread->free_chunk = (uint32_t)chunk;
    thread->n_free++;
}

/* Sets aside the chunk that a frame lies in, to be returned when its frames have been handled. */
static inline void chunk_set_aside(struct thread *thread, const struct frame *in)
{
    const size_t chunk =
        (size_t)((const char *)in - (const char *)thread->chunks) >> thread->chunk_shift;
    chunk_at(thread, (uint32_t)chunk)->more = thread->read_chunk;
    thread->read_chunk = (uint32_t)chunk;
    thread->n_read++;
}

static inline void chunks_return_read(struct thread *thread)
{
    while (thread->read_chunk != UINT32_MAX) {
        struct frame *first = chunk_at(thread, thread->read_chunk);
        const uint32_t next = first->more;
        first->more = thread->free_chunk;
        thread->free_chunk = thread->read_chunk;
        thread->read_chunk = next;
    }
    thread->n_free += thread->n_read;
    thread->n_read = 0;
}

/* The place behind a frame that was read from a link. */
static inline const struct frame *chunk_next(const struct thread *thread, const struct frame *frame)
{
    const struct frame *next = frame + thread->step;
    return __builtin_expect(chunk_begins(next, thread->chunk_mask), 0)
               ? chunk_at(thread, frame->more)
               : next;
}

/* These are in run.c. Takes note of frames that have been sent over shared links since the last
 * call. */
void share_look(struct sim *sim, struct share *share);
/* Begins a share's task of this round, and finds the cells that are left to run. What follows an
 * instant is done here. */
void share_open(struct thread *thread, struct share *share);
/* Runs active cells of a share, by their places; that at `next` follows (UINT32_MAX: not known). */
void share_run(struct thread *thread, const struct share *share, uint32_t from, uint32_t to,
               uint32_t next);

/* This is in sim_build.c: makes room for n arrivals and a key more. */
void thread_reserve_arrivals(struct thread *thread, uint32_t n);

/* These are in rounds.c. Prepares a run up to `end`. */
void rounds_begin(struct sim *sim, xoff_time first_instant, xoff_time end);
/* Does what is left to do of a share in a round; nothing, if that round is over. Whoever finishes
 * the last share goes on to the next round. */
void rounds_help(struct thread *own, struct share *share, uint32_t round);

/* The window of a node that runs alone (alone.h), in run.c: opens the queue for its arrivals, and
 * for more than it is open for; goes on to its own events; ends the window, in which it had n_own
 * of these. */
void alone_open(struct thread *thread, uint32_t cell);
void alone_widen(struct thread *thread, struct cell *cell);
void alone_begin(struct thread *thread, uint32_t cell);
void alone_close(struct thread *thread, uint32_t cell, uint64_t n_own);

/* These are in cut_links.c. The border cells of a share are done: the last thread to say so has
 * the batches sent. */
void exchange_border_done(struct thread *thread);
/* Sends what has not been sent yet, agrees on the word, and puts what has come onto its links. */
void exchange_round(struct sim *sim, struct sim_word *word);
struct exchange *exchange_create(struct sim *sim, const struct sim_spec *spec);
void exchange_destroy(struct exchange *exchange);

/* Moves on behind the frame at a position, which was read and is no longer needed. The first is
 * for callers that know the two. */
static inline void chunk_leave_frame(struct thread *thread, const struct frame **at,
                                     const struct frame *done, uint32_t step)
{
    *at = done + step;
    if (__builtin_expect(chunk_begins(done + step, thread->chunk_mask), 0)) {
        *at = chunk_at(thread, done->more);
        chunk_return(thread, done);
    }
}
static inline void chunk_leave(struct thread *thread, const struct frame **at)
{
    chunk_leave_frame(thread, at, *at, thread->step);
}

/* A link that has run empty starts its chunk anew: where frames are far apart, it always uses the
 * same cache line. Which line that is differs from link to link, as the first of all chunks share a
 * few sets of the cache. */
static inline void chunk_restart(struct thread *w, const struct slot *s, struct link *link,
                                 const struct frame **frames)
{
    if (!s->is_shared) {
        struct frame *chunk = (struct frame *)((uintptr_t)*frames & ~(uintptr_t)w->chunk_mask);
        *frames = chunk + s->link % w->chunk_frames * w->step;
        link_append(link, chunk + s->link % w->chunk_frames * w->step);
    }
}

/* Arrival time of the slot's next frame; XOFF_NEVER when there is none. */
static inline xoff_time front_at(struct thread *w, const struct slot *s,
                                 const struct frame **frames)
{
    struct link *link = &w->worker.links[s->link];
    if (*frames != link_read_end(link))
        return (*frames)->at;
    chunk_restart(w, s, link, frames);
    return XOFF_NEVER;
}

/* Returns the frame at a position on a link, and moves on; NULL at the end. The first position is
 * that of the receiving slot. */
static inline const struct frame *walk_on(const struct thread *any, const struct link *link,
                                          const struct frame **at)
{
    if (*at == link_read_end(link))
        return NULL;
    const struct frame *frame = *at;
    *at = chunk_next(any, frame);
    return frame;
}

#endif
