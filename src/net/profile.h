/* What frames look like on the wire, and how times and buffers are reckoned: one profile is chosen
 * for a network, and nobody else asks which one it is. */
#ifndef NET_PROFILE_H
#define NET_PROFILE_H

#include <xoff/headroom.h>
#include <xoff/time.h>

struct frame;
struct port;
struct worker;

struct net_wire {
    uint32_t header_bytes, tcp_header_bytes; /* of a data frame */
    uint32_t ack_bytes;                      /* of ACK, NACK and CNP, unless they are TCP's */
    uint32_t pause_bytes;
    uint32_t min_bytes;  /* shorter data frames are padded */
    xoff_time min_delay; /* of a link */
    /* A frame that starts at 0 on an idle link: when its last bit has left, and when the next frame
     * may start. */
    void (*times)(xoff_rate rate_bps, uint32_t bytes, xoff_time *last_bit, xoff_time *free_at);
    /* Bound from below: from the instant at which a frame is sent to the last bit of the shortest.
     */
    xoff_time (*shortest)(xoff_rate rate_bps);
    int64_t (*headroom)(const struct xoff_headroom_params *params);
    /* Puts a frame on the wire, in place of port_tx_begin's own way; NULL: that one. */
    void (*send)(struct port *port, struct worker *w, const struct frame *frame);
    bool ties_by_port;      /* equal times of a node in order of its ports (sim.h) */
    bool buffers_all;       /* a frame for an idle port goes through the buffer, too */
    bool has_free_priority; /* what priority 0 holds in a buffer is not accounted for */
};
extern const struct net_wire net_wire_ethernet, net_wire_ns3;

#endif
