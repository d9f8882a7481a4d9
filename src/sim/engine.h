/* The engine's own structures: shared by run.c (the loop) and sim_build.c (making and freeing). */
#ifndef SIM_ENGINE_H
#define SIM_ENGINE_H

#include "sim/queue.h"

struct slot {
    uint32_t node;
    uint16_t port;
    uint8_t kind; /* enum sim_kind */
    uint32_t link; /* SIM_ARRIVAL: the ring behind it */
};

struct cell {
    uint32_t first_slot, n_slots;
    uint32_t owner;  /* worker */
    uint32_t n_words; /* of the bucket bitmap */
    unsigned bucket_bits;
};

/* What a worker tells the others at a barrier, on a line of its own. */
struct bulletin {
    alignas(64) xoff_time next_at;
    bool spilled, stop;
    uint64_t arrivals;
};

struct worker {
    alignas(64) struct sim *sim;
    xoff_time now, window_end;
    uint32_t cell; /* running; UINT32_MAX: none */
    uint32_t first_slot;
    uint32_t n_words;
    bool spilled;
    xoff_time remote_min; /* earliest arrival sent to another thread in this window */
    uint64_t events, windows, arrivals;
    uint64_t all_arrivals; /* of all workers, at the last meeting */
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
    xoff_time *next_at; /* per cell: least of its slots, or earlier */
    struct slot *slots;
    struct cell *cells;
    uint32_t *first_slot; /* per node */
    uint32_t *n_ports;
    uint32_t *cell_of; /* per node */
    struct link *links;
    struct worker **workers;
    struct worker *exclusive;
    xoff_time lookahead;
    /* Run state, written by the first worker between barriers. */
    xoff_time end, instant_at;
    bool sampling, is_at_rest;
    struct bulletin *board;
    alignas(64) _Atomic uint32_t arrived;
    alignas(64) _Atomic uint32_t round;
};

/* In sim_build.c, which may allocate. A ring whose receiver runs on the same thread grows at once; one
 * to another thread takes spilled frames between two windows. */
void link_grow(struct link *link);
void link_spill(struct link *link, const struct frame *frame);
void sim_merge_spilled(struct sim *sim, uint32_t worker);

#endif
