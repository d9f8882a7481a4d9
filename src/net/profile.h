/* A profile decides what frames look like on the wire, and how times and buffers are computed. One
 * profile is chosen for a network; no other code asks which one it is. */
#ifndef NET_PROFILE_H
#define NET_PROFILE_H

#include <xoff/headroom.h>
#include <xoff/time.h>

struct frame;
struct port;
struct worker;

struct net_wire {
    uint32_t header_bytes, tcp_header_bytes; /* headers of a data frame */
    uint32_t ack_bytes; /* size of ACK, NACK and CNP, unless the transport is TCP */
    uint32_t pause_bytes;
    uint32_t min_bytes;  /* shorter data frames are padded */
    xoff_time min_delay; /* shortest delay of a link */
    /* For a frame that starts at 0 on an idle link: when its last bit has left, and when the next
     * frame may start. */
    void (*times)(xoff_rate rate_bps, uint32_t bytes, xoff_time *last_bit, xoff_time *free_at);
    /* Lower bound on the time from sending a frame to its last bit, over all frames. */
    xoff_time (*shortest)(xoff_rate rate_bps);
    int64_t (*headroom)(const struct xoff_headroom_params *params);
    /* Puts a frame on the wire; NULL: port_tx_begin does it itself. */
    void (*send)(struct port *port, struct worker *w, const struct frame *frame);
    bool ties_by_port;      /* events of a node at equal times go in order of its ports (sim.h) */
    bool buffers_all;       /* even a frame for an idle port goes through the buffer */
    bool has_free_priority; /* buffers do not account for the bytes of priority 0 */
};
extern const struct net_wire net_wire_ethernet, net_wire_ns3;

#endif
