/* One direction of a link: a queue that one node appends to and another consumes in a later window.
 *
 * Links are the only thing two nodes share. The sender has struct link, the receiver an arrival
 * slot (engine.h). A frame appended in a window arrives after the window's end, so it does not
 * matter when the receiver sees it. Arrival times on a link strictly grow.
 *
 * Frames lie in chunks. The sender takes them from its thread's pile and the receiver returns them
 * to that of its own. The chunk read last is written next, so the frames in flight stay in the
 * cache. (Rings as large as the worst burst were walked through end to end: 4 MB for 64 hosts, 31
 * MB for 1024, and a fifth of the speed.)
 *
 * A link is shared when its two cells may run at the same time: with several threads every link
 * between cells is. What the sender has appended is what lies before `frames`, which it moves on
 * when the frame is whole, and the next chunk is known. A link that is not shared tells its
 * receiver of the first frame, and starts its chunk anew when it has run empty.
 *
 * A link between ranks is shared on both sides. The sender's is emptied into a batch in each round,
 * and the receiver's is filled from it (cut_links.c).
 */
#ifndef SIM_LINK_H
#define SIM_LINK_H

#include <stdalign.h>
#include <stdatomic.h>

#include "sim/frame.h"

/* Frames of a chunk. Long chunks are faster, as most frames lie behind the one before, where the
 * processor expects them; but those of many links do not stay in the cache. */
#define LINK_CHUNK 8
#define LINK_LONG_CHUNK 32
#define LINK_FEW 1024 /* links that have long chunks */

struct link {
    alignas(64) struct frame *_Atomic frames; /* place in a chunk for the next frame */
    /* A frame never overtakes another, whatever happens to the delay. Of a link that is special
     * `last_at` is XOFF_NEVER, so that one comparison sends its frames and those that would
     * overtake another to sim_send_specially(), and its_last_at is the time. */
    xoff_time last_at, its_last_at;
    xoff_time *to_at; /* time of the receiving slot; of a shared link, whose sender may not look at
                         it, a time that is always XOFF_NEVER */
    uint32_t mask;    /* bits of an address within a chunk */
    uint32_t to_slot; /* receiving slot, counted over the whole simulation */
    uint32_t to_cell, from_cell;
    bool is_shared;  /* its ends may be at work at the same time */
    bool is_out;     /* receiver runs on another rank; to_slot means nothing */
    bool is_special; /* its frames have two lines: see sim_send */
    uint8_t step;    /* distance between neighbouring frames, in cache lines (frame.h) */
    uint16_t to_port;
};

/* When the last frame arrives that was sent; -1: there is none to overtake. */
static inline xoff_time *link_last_at(struct link *link)
{
    return link->is_special ? &link->its_last_at : &link->last_at;
}

/* The place behind the last frame, for the sender. */
static inline struct frame *link_end(const struct link *link)
{
    return atomic_load_explicit(&link->frames, memory_order_relaxed);
}

/* The same for the receiver: all frames before it can be read. */
static inline const struct frame *link_read_end(const struct link *link)
{
    return atomic_load_explicit(&link->frames, memory_order_acquire);
}

/* Appends what has been written up to a place. */
static inline void link_append(struct link *link, struct frame *end)
{
    atomic_store_explicit(&link->frames, end, memory_order_release);
}

/* Whether a place in memory begins a chunk: the frame before it ended another. `mask` has the bits
 * of an address within a chunk. */
static inline bool chunk_begins(const struct frame *frames, uint32_t mask)
{
    return ((uintptr_t)frames & mask) == 0;
}

#endif
