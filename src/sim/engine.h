/* Private structures of the engine, shared by run.c (events), rounds.c (threads and windows),
 * cut_links.c (ranks) and sim_build.c (creation and destruction). */
#ifndef SIM_ENGINE_H
#define SIM_ENGINE_H

#include <xoff/err.h>

#include "sim/queue.h"

/* A slot holds one pending event of a node. An arrival slot is the receiver's half of a link: only
 * the receiver moves `frames` through chunks, or `head` through the ring. */
struct slot {
    uint32_t node;
    uint16_t port;
    uint8_t kind;        /* enum sim_kind */
    bool is_remote;      /* SIM_ARRIVAL: the sender runs on another thread */
    uint32_t link;       /* SIM_ARRIVAL: the link that ends here; SIM_TRANSMIT: that begins here */
    uint32_t mask, head; /* of the ring; 0 within a thread */
    const struct frame *frames; /* the frame to read next, or the ring */
};

/* The slots of a node: arrivals by port, transmissions by port, the timer. */
struct node_slots {
    uint32_t first, n_ports;
};

#define LEAST_BUCKET_BITS 6
struct cell {
    uint32_t first_slot, n_slots;
    uint32_t owner;       /* worker */
    unsigned bucket_bits; /* buckets of its queue; of a single node: suit the last window */
    bool is_node; /* one node, no link to itself: all it receives in a window was sent before */
};

/* A worker of the engine: a share of the cells. Any thread may run it, one at a time (rounds.c).
 * The model sees only the first member. */
struct thread {
    alignas(64) struct worker worker;
    xoff_time window_end;
    uint32_t first_slot, n_slots; /* slots of the running cell; n_slots 0: no cell is running */
    bool uses_queue;
    bool spilled;
    xoff_time remote_min; /* earliest arrival sent to another thread in this window */
    xoff_time last_at;    /* latest event or instant so far */
    xoff_time next_at;    /* earliest pending event that this worker knows of, after a round */
    uint64_t events, arrivals;
    uint32_t id;
    uint32_t *cells, *active; /* cells of this thread; those with an event in this window */
    uint32_t n_cells;
    uint32_t n_border;   /* of the cells, the first that have links to other ranks */
    uint32_t *remote_in; /* links from other threads */
    uint32_t n_remote_in;
    /* Chunks of frames for links within this thread. The address range is reserved once, and pages
     * are allocated when touched. Returned chunks are reused first, last in first out. */
    struct frame *chunks;
    uint32_t step;       /* distance between neighbouring frames, in cache lines (frame.h) */
    uint32_t chunk_mask; /* bits of an address within a chunk */
    unsigned chunk_shift;
    uint32_t n_chunks, chunks_capacity; /* chunks ever taken; capacity of the range */
    uint32_t free_chunk;                /* linked by frame.more; UINT32_MAX: none */
    struct queue queue;
    uint16_t *due; /* slots of the node that runs, in calm windows */
    /* Of the node that runs alone: frames that arrive, and how many may before the queue must be
     * widened. */
    uint32_t n_alone, most_arrivals;
    /* The timer of a node that runs alone is in no bucket, since some nodes move it with almost
     * every event: its slot (UINT32_MAX: no such node runs) and its key (UINT64_MAX: not in this
     * window). */
    uint32_t timer_slot;
    uint64_t timer_key;
    uint32_t patience;                  /* of the thread: spins that have paid off lately */
    alignas(64) _Atomic uint32_t begun; /* rounds of this worker that some thread has begun */
};

struct sim {
    struct sim_model model;
    uint32_t n_nodes, n_slots, n_cells, n_links, n_threads;
    xoff_time *at;      /* per slot */
    xoff_time *next_at; /* per cell: least `at` of its slots; during an instant, or earlier */
    struct slot *slots;
    uint16_t *ports; /* per slot */
    struct cell *cells;
    struct node_slots *slots_of; /* per node */
    uint32_t *cell_of;           /* per node */
    struct link *links;
    void *links_block;         /* that they lie in */
    struct exchange *exchange; /* NULL: this process runs all nodes */
    struct thread **threads;
    struct thread *exclusive;
    xoff_time lookahead;
    uint32_t step;        /* distance between neighbouring frames, in cache lines */
    bool may_be_calm;     /* all nodes are one cell, and the model knows calm windows */
    xoff_time sparse_for; /* in which a frame arrives at every second node, by the last window */
    /* State of the run, written between two rounds. */
    xoff_time end, instant_at, reached;
    xoff_time window_start, window_end;
    uint64_t n_rounds, n_events;
    bool is_window; /* task of this round: a window, or what follows an instant */
    bool sampling, stops, is_stopped, is_last, is_at_rest;
    alignas(64) _Atomic uint32_t n_done; /* workers that are done with this round */
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
        XOFF_ASSERT(thread->n_chunks < thread->chunks_capacity);
        return thread->n_chunks++;
    }
    thread->free_chunk = chunk_at(thread, chunk)->more;
    return chunk;
}

/* Returns the chunk that a frame lies in. */
static inline void chunk_return(struct thread *thread, const struct frame *in)
{
    const size_t chunk =
        (size_t)((const char *)in - (const char *)thread->chunks) >> thread->chunk_shift;
    chunk_at(thread, (uint32_t)chunk)->more = thread->free_chunk;
    thread->free_chunk = (uint32_t)chunk;
}

/* The place behind a frame that was read from a link within the thread. */
static inline const struct frame *chunk_next(const struct thread *thread, const struct frame *frame)
{
    const struct frame *next = frame + thread->step;
    return __builtin_expect(chunk_begins(next, thread->chunk_mask), 0)
               ? chunk_at(thread, frame->more)
               : next;
}

/* These are in run.c. Takes note of frames that other workers have sent since the last call. */
void thread_look(struct thread *thread);
/* Does a worker's task of this round. */
void thread_run(struct thread *thread);

/* Open and close the window of a node that runs alone (alone.h), which had n_own events that it has
 * set itself. */
void alone_open(struct thread *thread, uint32_t cell);
void alone_close(struct thread *thread, uint32_t cell, uint64_t n_own);

/* These are in cut_links.c. The border cells of a worker are done: the last worker to say so has
 * the batches sent. */
void exchange_border_done(struct sim *sim);
/* Sends what has not been sent yet, agrees on the word, and puts what has come onto its links. */
void exchange_round(struct sim *sim, struct sim_word *word);
struct exchange *exchange_create(struct sim *sim, const struct sim_spec *spec);
void exchange_destroy(struct exchange *exchange);

/* These are in sim_build.c, which may allocate. Spilled frames are merged into larger rings between
 * two windows. */
void link_grow(struct sim *sim, struct link *link);
void link_spill(struct link *link, const struct frame *frame, xoff_time at);
void sim_merge_spilled(struct sim *sim, uint32_t worker);

/* A position on a link, to walk over the frames on it; the first one is that of its slot. */
struct walk {
    const struct frame *frames;
    uint32_t head;
};
/* Returns the frame at the position and moves on; NULL at the end. */
const struct frame *walk_on(const struct sim *sim, const struct link *link, struct walk *at);

#endif
