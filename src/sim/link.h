/* One direction of a link: a ring that one node appends to and another consumes in a later window.
 *
 * It is the only thing two nodes share. The sender has struct link, the receiver an arrival slot
 * (engine.h); what was appended in a window arrives after its end, so it does not matter when the
 * receiver sees it. Arrival times on a link strictly grow: a receiver on the same thread knows by
 * the time in the next frame whether it is a new one or left from a lap before, and never looks at
 * the sender's half. Between threads `tail` and `head` are exchanged. A full ring grows: at once
 * when both ends run on one thread; otherwise frames spill to a list of the sender's, merged into a
 * larger ring between two windows.
 */
#ifndef SIM_LINK_H
#define SIM_LINK_H

#include <stdalign.h>
#include <stdatomic.h>

#include "sim/frame.h"

struct link {
    /* Sender's line. */
    alignas(64) struct frame *frames;
    uint32_t mask;
    uint32_t head_seen;
    _Atomic uint32_t tail;
    uint32_t to_slot; /* receiving slot, of the whole simulation */
    uint32_t to_cell, from_cell;
    uint32_t n_spilled, spill_capacity;
    bool is_remote; /* receiver runs on another thread */
    struct frame *spilled;
    xoff_time last_at; /* a frame never overtakes another, whatever happens to the delay */
    /* The receiver's, for a sender on another thread. */
    alignas(64) _Atomic uint32_t head;
};

#endif
