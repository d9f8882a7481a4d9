/* A frame as it travels: by value, one cache line, no pointers, so that the same bytes go through a
 * ring between threads or a message between ranks. */
#ifndef SIM_FRAME_H
#define SIM_FRAME_H

#include <stdalign.h>

#include <xoff/pfc_frame.h>
#include <xoff/time.h>

enum frame_kind {
    FRAME_DATA,
    FRAME_ACK,   /* seq: next byte expected */
    FRAME_NACK,  /* seq: next byte expected; something after it arrived */
    FRAME_PAUSE, /* PAUSE or PFC: stops at the port that receives it */
};

enum {
    FRAME_LAST = 1,   /* ends its flow */
    FRAME_MARKED = 2, /* congestion experienced */
    FRAME_RELIABLE = 4,
    FRAME_ASKS = 8, /* to be acknowledged at once: its sender has nothing more to send */
};

struct frame {
    alignas(64) xoff_time
        at; /* on a link: arrival of the last bit at its far end; in a queue: since when */
    union {
        struct {
            uint64_t seq;      /* first payload byte */
            uint32_t src, dst; /* hosts */
            uint32_t flow;     /* number within its source host */
            uint32_t hash;     /* for equal-cost choices */
            xoff_time sent_at;
        };
        struct xoff_pause_frame pause;
    };
    uint16_t bytes; /* MAC frame with FCS */
    uint16_t payload;
    uint8_t kind, priority, flags;
    /* Scratch of the node that holds the frame. */
    uint8_t pool;
    uint16_t in_port, out_port;
    uint32_t next;
    uint32_t more; /* on a link: the chunk that follows */
};

_Static_assert(sizeof(struct frame) == 64, "a frame is one cache line");

#endif
