/* A frame as it travels: copied by value, one cache line, no pointers, so that the same bytes go
 * from thread to thread or in a message between ranks. A run whose frames carry telemetry,
 * tags, notifications or SACK blocks has a second line behind each frame (frame_extra).
 */
#ifndef SIM_FRAME_H
#define SIM_FRAME_H

#include <stdalign.h>
#include <stdbool.h>
#include <string.h>

#include <xoff/pfc_frame.h>
#include <xoff/time.h>

enum frame_kind {
    FRAME_DATA,
    FRAME_ACK,    /* seq: next byte expected */
    FRAME_NACK,   /* seq: next byte expected; something after it arrived */
    FRAME_CNP,    /* frames of the flow were marked */
    FRAME_NOTICE, /* from a congestion point on the path, to the source of a frame */
    FRAME_PROBE,  /* a tag without payload; with FRAME_ASKS_RATE on its way to the receiver */
    /* From here on: between the two ports of a link. */
    FRAME_PAUSE, /* PAUSE or PFC */
    FRAME_LLDP,  /* src, dst: node and port of its sender; flow: number of its contents there */
};

enum {
    FRAME_LAST = 1,     /* ends its message */
    FRAME_MARKED = 2,   /* congestion experienced; on an ACK: its echo */
    FRAME_ASKS = 4,     /* asks for an ACK at once: its sender has nothing more to send */
    FRAME_AGAIN = 8,    /* may have arrived before: see rx_find in flow_rx.c */
    FRAME_REDUCED = 16, /* the sender has answered the echo (TCP's CWR) */
    FRAME_ENDS = 32,    /* ends its flow as well as its message */
    FRAME_HIT = 64,     /* on ACKs, CNPs and notifications: marked; only a trace reads it */
    FRAME_ASKS_RATE = FRAME_HIT, /* on data and probes: carries a tag that switches write into */
    FRAME_TAGGED = 128, /* carries a CN-TAG; on a notification: the frame it is about does */
};

struct frame {
    alignas(64) xoff_time
        at; /* on a link: arrival of the last bit at its far end; in a queue: time it was queued */
    union {
        struct {
            uint64_t seq;      /* first payload byte */
            uint32_t src, dst; /* hosts */
            uint32_t flow;     /* number within its source host */
            uint32_t hash;     /* for equal-cost choices */
            xoff_time sent_at; /* on an ACK: copied from the frame that caused it; with a limit of
                                  hops: see frame_count_hop */
        };
        struct xoff_pause_frame pause;
    };
    uint16_t bytes;   /* MAC frame with FCS */
    uint16_t payload; /* on an ACK: frames it acknowledges; upper byte: those marked; on a
                         notification: bytes of the frame it is about */
    uint8_t transport : 4;
    uint8_t is_bare : 1; /* its second line, where frames have one, means nothing */
    uint8_t kind : 3;    /* the upper bits, so that one comparison tells who has crossed a link */
    uint8_t priority, flags;
    /* Scratch space of the node that holds the frame. */
    uint8_t pool;
    uint16_t in_port, out_port;
    union {
        uint32_t next;
        uint32_t more; /* on a link: the chunk that follows */
    };
    uint32_t message; /* number of its record at the source */
    uint32_t word;    /* for the apps at both ends */
};

_Static_assert(sizeof(struct frame) == 64, "a frame is one cache line");
_Static_assert(FRAME_LLDP < 8, "a kind has three bits");

/* In runs with a limit of hops the upper bits of sent_at count the switches that a frame has come
 * to; times go up to 2^55 ps, ten hours. Hosts and observers remove the count. */
#define FRAME_HOP (INT64_C(1) << 55)
static inline uint32_t frame_count_hop(struct frame *frame)
{
    frame->sent_at += FRAME_HOP;
    return (uint32_t)(frame->sent_at / FRAME_HOP);
}
static inline xoff_time frame_sent_at(const struct frame *frame)
{
    return frame->sent_at % FRAME_HOP;
}

/* Whether it ends at the port that receives it, and counts as no traffic. */
static inline bool frame_is_control(const struct frame *frame)
{
    return frame->kind >= FRAME_PAUSE;
}

/* The second cache line behind a frame, in runs that have one. The model defines its meaning. */
struct frame_extra {
    alignas(64) unsigned char bytes[64];
};

/* A frame with room for the second line. */
struct long_frame {
    struct frame frame;
    struct frame_extra extra;
};

/* Frames in memory lie `step` cache lines apart: 1, or 2 where each has a frame_extra. */
static inline void frame_copy(struct frame *to, const struct frame *from, uint32_t step)
{
    *to = *from;
    if (__builtin_expect(step > 1, 0) && !from->is_bare)
        to[1] = from[1];
}

#endif
