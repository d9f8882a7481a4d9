/* Turns what the simulator knows of a frame into the octets that a network would carry.
 *
 * Everything fits the sizes that the simulator counts with: a data frame of go-back-N or of
 * datagrams has Ethernet 14, IPv4 20, UDP 8, BTH 12, ICRC 4 and FCS 4 beside its payload; a data
 * frame of TCP has Ethernet 14, IPv4 20, TCP 20, timestamps 12 and FCS 4. There is no room for a
 * VLAN tag: the priority is in the DSCP. The payload is zeros. A CN-TAG adds 4 bytes, a
 * rate-regulation tag 12, a rate tag 16.
 */
#ifndef WIRE_PACKET_H
#define WIRE_PACKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <xoff/pfc_frame.h>

#include "wire/crc32.h"

enum packet_kind {
    PACKET_DATA,
    PACKET_ACK,
    PACKET_NACK,
    PACKET_CNP,
    PACKET_PAUSE,
    PACKET_NOTICE,
    PACKET_PROBE
};
/* RC: reliable connection of RoCEv2 (go-back-N), UC: unreliable connection (datagrams). */
enum packet_protocol { PACKET_RC, PACKET_UC, PACKET_TCP };

#define PACKET_MAX_SACKS 3
#define PACKET_MAX_HOPS 5
#define PACKET_HOPS_BYTES 42 /* HPCC's header, however many hops are used */
#define PACKET_FCS_BYTES 4
/* Room that xoff_packet_encode() needs for a frame of `n` bytes. */
#define PACKET_BUFFER_BYTES(n) ((n) + 1024)

/* The in-band telemetry of one switch. */
struct packet_hop {
    uint64_t rate_bps;
    uint32_t at_ns, tx_bytes, queue_bytes;
};

/* The message of a congestion point to the source of a frame. */
struct packet_notice {
    uint64_t cp_id, rate_bps;
    int32_t feedback, queue_offset_bytes, queue_delta_bytes;
    uint8_t kind;
    /* The CNM of QCN or the BCN of ECM, from `source_mac`; else a format of our own, from the
     * receiver's address. */
    bool is_cnm, is_bcn;
    uint8_t about_priority; /* CNM: of the frame that it is about */
};

/* The tag that asks switches for a rate, or brings it back to the source. */
struct packet_rate_tag {
    bool is_there, is_back;
    uint8_t kind;
    uint64_t rate_bps;
};

struct packet {
    enum packet_kind kind;
    uint16_t bytes; /* as simulated: MAC frame with FCS */
    bool has_bad_fcs;
    /* PACKET_PAUSE */
    struct xoff_pause_frame pause;
    uint8_t source_mac[6];
    struct packet_notice notice; /* PACKET_NOTICE, which also uses `from`, `to` and `flow`; a CNM
                                    uses `source_mac`, `priority` and `is_tagged` as well, a BCN
                                    the first two. PACKET_DATA with a tag: `cp_id` */
    struct packet_rate_tag rate_tag; /* PACKET_DATA, or a PACKET_PROBE with nothing else */
    /* All others. */
    enum packet_protocol protocol;
    uint32_t from, to; /* hosts */
    uint32_t flow;     /* its number at the host that sends the data */
    uint32_t hash;     /* spreads flows over equal-cost paths: the UDP source port */
    uint16_t payload_bytes;
    uint8_t priority;
    bool is_marked;               /* congestion experienced; on an ACK of TCP: its echo */
    bool is_first, is_last, asks; /* of its message; `asks`: wants an ACK */
    bool is_reduced;              /* TCP's CWR */
    bool is_tagged;  /* a CN-TAG is there; in a CNM: it has the flow, which is 0 otherwise */
    bool has_rrt;    /* data with a rate-regulation tag */
    bool is_limited; /* the tag names the point that limits the flow */
    uint64_t seq;    /* TCP: first payload byte, or on an ACK the next expected */
    uint32_t psn;    /* RoCE */
    uint32_t stamp;  /* TCP: TSval of data, TSecr of an ACK */
    uint32_t n_sacks;
    uint64_t sack_from[PACKET_MAX_SACKS], sack_to[PACKET_MAX_SACKS];
    bool has_hops; /* HPCC's header is there */
    uint32_t n_hops;
    struct packet_hop hops[PACKET_MAX_HOPS];
};

/* The headers of the frame, without what follows from the frame as a whole (wire/layers.h). */
struct layers;
void xoff_packet_layers(const struct packet *packet, struct layers *layers);

/* Writes the frame and returns its length on the wire, FCS included. The length is `bytes`, except
 * for frames that the simulator counts as shorter than their headers: a capture of those has the
 * first `bytes`. `buf` has PACKET_BUFFER_BYTES(bytes); `crc32` was made by xoff_crc32_init(). */
uint32_t xoff_packet_encode(const struct packet *packet, struct crc32 *crc32, uint8_t *buf);

/* Locally administered addresses. */
void xoff_packet_host_mac(uint32_t host, uint8_t mac[6]);
void xoff_packet_switch_mac(uint32_t number, uint32_t port, uint8_t mac[6]);

#endif
