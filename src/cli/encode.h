/* What a user wants encoded, and the octets that come of it. */
#ifndef CLI_ENCODE_H
#define CLI_ENCODE_H

#include <xoff/dcbx_tlv.h>
#include <xoff/time.h>

#include "wire/layers.h"

/* kind, name, what it is */
#define ENCODE_MAP(X)                                                       \
    X(PAUSE, "pause", "PAUSE of 802.3x")                                    \
    X(PFC, "pfc", "priority-based flow control")                            \
    X(CNM, "cnm", "congestion notification message of QCN")                 \
    X(BCN, "bcn", "message of ECM's congestion point")                      \
    X(RATE_TAG, "rate-tag", "FECN's rate-discovery tag alone, as a probe")  \
    X(DATA, "data", "RoCEv2 data, with a CN-TAG, rate tag or RRT if given") \
    X(ACK, "ack", "RoCEv2 acknowledgement")                                 \
    X(CNP, "cnp", "RoCEv2 congestion notification")                         \
    X(LLDP, "lldp", "LLDP with the TLVs of DCBX that are given")            \
    X(CC_UPDATE, "cc-update", "Ultra Ethernet's CC_Update")                 \
    X(CTLOS, "ctlos", "Ultra Ethernet's control ordered set: eight octets")

enum encode_kind {
#define X(kind, name, about) ENCODE_##kind,
    ENCODE_MAP(X)
#undef X
        N_ENCODE_KINDS
};

struct encode_arguments {
    enum encode_kind kind;
    struct xoff_eth eth;
    bool has_cn_tag, has_rate_tag, has_rrt;
    struct xoff_pause_frame pause;
    struct xoff_cnm cnm;
    struct xoff_cn_tag cn_tag;
    struct xoff_bcn bcn;
    struct xoff_rrt rrt;
    struct xoff_rate_tag rate_tag;
    struct xoff_cc_update cc_update;
    struct xoff_ctlos ctlos;
    struct ipv4 ip;
    struct bth bth;
    struct aeth aeth;
    uint32_t payload_octets;
    struct xoff_lldp lldp;
    struct xoff_dcbx_pdu pdu;
};

#define ENCODE_MAX_PAYLOAD 9216
#define ENCODE_MAX_OCTETS (ENCODE_MAX_PAYLOAD + LAYERS_MORE_OCTETS)

/* All that is not given has a value, so that any kind alone makes a valid frame. */
void encode_defaults(struct encode_arguments *a);
/* Writes the frame, with FCS if asked for. Returns its octets. */
uint32_t encode_frame(const struct encode_arguments *a, bool has_fcs, struct crc32 *crc32,
                      uint8_t buf[ENCODE_MAX_OCTETS]);

struct encode_capture {
    const uint8_t *octets;
    uint32_t n;
    bool has_fcs; /* they end with it */
    uint64_t count;
    xoff_time interval; /* between two */
};

/* Writes a capture: pcapng if `path` ends so. Prints an error. Returns an exit status. */
int encode_write_capture(const char *path, const struct encode_capture *capture);

#endif
