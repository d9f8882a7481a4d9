/* One direction of a link: a queue that one node appends to and another consumes in a later window.
 *
 * Links are the only thing two nodes share. The sender has struct link, the receiver an arrival
 * slot (engine.h). A frame appended in a window arrives after the window's end, so it does not
 * matter when the receiver sees it. Arrival times on a link strictly grow.
 *
 * Between nodes of one thread, frames lie in chunks of LINK_CHUNK, taken from and returned to the
 * thread's stack of chunks. The chunk read last is written next, so the frames in flight stay in
 * the cache. (Rings as large as the worst burst were walked through end to end: 4 MB for 64 hosts,
 * 31 MB for 1024, and a fifth of the speed.) A link that has run empty starts its chunk anew.
 *
 * Between threads, frames lie in a ring, and `tail` and `head` are exchanged. When the ring is
 * full, frames spill to a list of the sender's, which is merged into a larger ring between two
 * windows.
 *
 * A link between ranks is such a ring on both sides. The sender's is emptied into a batch in each
 * round, and the receiver's is filled from it (cut_links.c).
 */
#ifndef SIM_LINK_H
#define SIM_LINK_H

#include <stdalign.h>
#include <stdatomic.h>

#include "sim/frame.h"

#define LINK_CHUNK 8

struct link {
    /* This cache line is written by the sender. */
    alignas(64) struct frame *frames; /* place in a chunk for the next frame, or the ring */
    xoff_time last_at;     /* a frame never overtakes another, whatever happens to the delay */
    xoff_time *to_at;      /* within a thread: time of the receiving slot */
    uint32_t mask;         /* ring, in lines; within a thread: chunk, in bytes */
    uint32_t head_seen;    /* ring: `head` as last read */
    _Atomic uint32_t tail; /* place in the ring; 0 within a thread */
    uint32_t to_slot;      /* receiving slot, counted over the whole simulation */
    uint32_t to_cell, from_cell;
    uint32_t n_spilled;
    bool is_remote;  /* receiver runs on another thread, or on another rank */
    bool is_out;     /* receiver runs on another rank; to_slot means nothing */
    bool is_special; /* is_remote, or frames have two lines: see sim_send */
    uint8_t step;    /* distance between neighbouring frames, in cache lines (frame.h) */
    uint16_t to_port;
    /* Written by the receiver, read by a sender on another thread. */
    alignas(64) _Atomic uint32_t head;
    uint32_t spill_capacity;
    struct frame *spilled;
};

/* Whether no frame is left for a reader who has come to a place in a chunk (head is 0), or to place
 * `head` of the ring. */
static inline bool link_is_read(const struct link *link, const struct frame *frames, uint32_t head)
{
    return head == atomic_load_explicit(&link->tail, memory_order_acquire) &&
           frames == link->frames;
}

/* Whether a place in memory begins a chunk: the frame before it ended another. `mask` has the bits
 * of an address within a chunk. */
static inline bool chunk_begins(const struct frame *frames, uint32_t mask)
{
    return ((uintptr_t)frames & mask) == 0;
}

#endif
