/* Ranks: the processes that one run is spread over, as the engine and the network see them.
 *
 * Every rank knows the whole topology and runs its own nodes. In each round the frames that left on
 * cut links travel in one batch for each neighbour, with what is attached to them, and all ranks
 * agree on one word. src/dist fills this struct in with MPI; tests fill it in with threads. All
 * ranks make the same calls in the same order, but for post(), which a rank without neighbours may
 * leave out. A rank that is lost never returns from a call: the implementation ends the process.
 */
#ifndef SIM_SIM_RANKS_H
#define SIM_SIM_RANKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <xoff/time.h>

/* What ranks agree on in each round. */
struct sim_word {
    xoff_time next_at; /* least */
    xoff_time last_at; /* greatest */
    uint64_t arrivals; /* sum */
    uint64_t stops;    /* whether anybody wants to stop: sum */
};

/* Bytes for or from another rank. */
struct sim_batch {
    void *bytes;
    size_t size;
    bool is_neighbour; /* a batch is exchanged in each round, an empty one too */
};

/* A graph to be divided: vertices are groups of nodes that must stay together. */
struct sim_graph {
    uint32_t n;
    const uint32_t *weight; /* by vertex */
    const uint32_t *first, *to,
        *strength; /* neighbours of v: to[first[v]] .. to[first[v + 1] - 1] */
};

struct sim_ranks {
    void *context;
    uint32_t rank, n;
    /* Begins to send out[r] to each neighbour r. The bytes stay as they are until agree() returns.
     */
    void (*post)(void *context, const struct sim_batch *out);
    /* Agrees on the word, and receives in[r] from each neighbour; the bytes are the
     * implementation's and last until the next call. */
    void (*agree)(void *context, struct sim_word *word, struct sim_batch *in);
    /* Gathers the bytes of all ranks, one behind the other, at rank 0 or (to_all) everywhere.
     * sizes[r] are the bytes of each; elsewhere they are 0. The caller frees *all. */
    void (*gather)(void *context, const void *bytes, size_t size, bool to_all, void **all,
                   size_t *sizes);
    /* The same, to all, between two rounds of a run: nobody has to be waited for long, so that one
     * that does not come is lost, which gather() cannot tell. */
    void (*share)(void *context, const void *bytes, size_t size, void **all, size_t *sizes);
    /* Hands out the numbers from 0 up to, and without, `end`: each to one rank, to whoever asks
     * next. Never waits: returns false when no number has come yet, or none is wanted; true with
     * `end` itself when there are no more. The first rank answers the others in its own calls, so
     * it must go on calling, whether it wants a number or not. */
    bool (*deal)(void *context, uint32_t end, bool wants, uint32_t *number);
    /* This rank wants no more. At the first one it waits until that holds for all. Every rank
     * calls it once, whether it was told of the end or not. */
    void (*end_deal)(void *context, uint32_t end);
    /* Divides a graph into n parts. Called by one rank, whose answer is everybody's. */
    void (*divide)(void *context, const struct sim_graph *graph, uint32_t *part_of);
};

#endif
