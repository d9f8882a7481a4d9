/* A profile decides what frames look like on the wire, and how times and buffers are computed. One
 * profile is chosen for a network; no other code asks which one it is. */
#ifndef NET_PROFILE_H
#define NET_PROFILE_H

#include <xoff/headroom.h>
#include <xoff/time.h>

struct frame;
struct topo;
struct port;
struct worker;

struct net_wire {
    uint32_t header_bytes, tcp_header_bytes; /* of a data frame */
    uint32_t ack_bytes;                      /* of ACK, NACK and CNP, unless they are TCP's */
    uint32_t ack_telemetry_bytes;            /* what telemetry adds to that */
    uint32_t timestamp_bytes; /* of a data frame, where the reaction point reads the RTT */
    bool rtt_counts_payload;  /* base RTT: delays both ways, and payload one way */
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
    /* All nodes run in one sequence, and events of one nanosecond in the order in which they were
     * scheduled: net_sequence_next(). */
    bool is_one_sequence;
    xoff_time grain; /* of the clock that hosts see; 0: the engine's own */
    /* The port of a switch that a frame takes, of n equal ones. The frame's hash is then its source
     * port, and its destination port in the upper half. NULL: routes_lookup(). */
    uint32_t (*hop)(const struct topo *topo, uint32_t node, const struct frame *frame,
                    const uint16_t *ports, uint32_t n);
    bool scans;             /* hosts serve and pace their flows as scan.c says */
    bool acks_keep_class;   /* ACKs have their data's priority on the way; ack_priority chooses the
                               queue at the host */
    bool buffers_all;       /* a frame for an idle port goes through the buffer, too */
    bool has_free_priority; /* what priority 0 holds in a buffer is not accounted for */
};
/* Counts the events of each nanosecond. */
#define NET_SEQUENCE 65536
struct net_sequence {
    struct net_sequence_entry {
        xoff_time at;
        int64_t n;
    } entries[NET_SEQUENCE];
};
/* A time within the nanosecond that begins at `ns`, behind all that were asked for before. */
xoff_time net_sequence_next(struct net_sequence *sequence, xoff_time ns, xoff_time now);

extern const struct net_wire net_wire_ethernet, net_wire_ns3;

#endif
