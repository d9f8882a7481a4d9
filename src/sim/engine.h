/* The engine's own structures: shared by run.c (the loop) and sim_build.c (making and freeing). */
#ifndef SIM_ENGINE_H
#define SIM_ENGINE_H

#include "sim/queue.h"

/* What can happen at a node. An arrival slot is the receiver's half of a link: it alone moves
 * `head`, and sees on the frames themselves what is there, since arrival times on a link only grow.
 */
struct slot {
    uint32_t node;
    uint16_t port;
    uint8_t kind;   /* enum sim_kind */
    bool is_remote; /* SIM_ARRIVAL: the sender runs on another thread */
    uint32_t link, mask, head;
    struct frame *frames;
};

struct cell {
    uint32_t first_slot, n_slots;
    uint32_t owner;   /* worker */
    uint32_t n_words; /* of the bucket bitmap */
    unsigned bucket_bits;
};

/* What a worker tells the others at a barrier, on a line of its own. */
struct bulletin {
    alignas(64) xoff_time next_at, last_at;
    bool spilled, stop;
    uint64_t arrivals;
};

/* A thread of the engine; the model sees its first member. */
struct thread {
    alignas(64) struct worker worker;
    xoff_time window_end;
    uint32_t first_slot, n_slots; /* of the running cell; n_slots 0: none */
    uint32_t n_words;
    bool spilled;
    xoff_time remote_min; /* earliest arrival sent to another thread in this window */
    xoff_time last_at;    /* latest event or instant so far */
    uint64_t events, windows, arrivals;
    /* Of all workers, at the last meeting. */
    uint64_t all_arrivals;
    xoff_time all_last_at;
    uint32_t id;
    uint32_t *cells;
    uint32_t n_cells;
    uint32_t *remote_in; /* links from other threads */
    uint32_t n_remote_in;
    struct queue queue;
};

struct sim {
    struct sim_model model;
    uint32_t n_nodes, n_slots, n_cells, n_links, n_threads;
    xoff_time *at;      /* per slot */
    xoff_time *next_at; /* per cell: least of its slots; during an instant, or earlier */
    struct slot *slots;
    struct cell *cells;
    uint32_t *first_slot; /* per node */
    uint32_t *n_ports;
    uint32_t *cell_of; /* per node */
    struct link *links;
    struct thread **threads;
    struct thread *exclusive;
    xoff_time lookahead;
    /* Run state, written by the first worker between barriers. */
    xoff_time end, instant_at, reached;
    bool sampling, is_at_rest;
    struct bulletin *board;
    alignas(64) _Atomic uint32_t arrived;
    alignas(64) _Atomic uint32_t round;
};

/* In sim_build.c, which may allocate. A ring whose receiver runs on the same thread grows at once;
 * one to another thread takes spilled frames between two windows. */
void link_grow(struct sim *sim, struct link *link);
void link_spill(struct link *link, const struct frame *frame, xoff_time at);
void sim_merge_spilled(struct sim *sim, uint32_t worker);

#endif
