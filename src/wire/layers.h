/* A frame as the chain of its headers: octets <-> structs of all codecs.
 *
 * Decoding follows EtherTypes, protocols and ports as far as a codec is known; what is left is
 * payload. Encoding writes the same headers, and fills in what follows from the frame as a whole:
 * lengths and checksums of IPv4, UDP and TCP, RoCE's invariant CRC, padding, FCS.
 */
#ifndef WIRE_LAYERS_H
#define WIRE_LAYERS_H

#include <xoff/bcn.h>
#include <xoff/cnm.h>
#include <xoff/eth.h>
#include <xoff/pfc_frame.h>
#include <xoff/rate_tag.h>
#include <xoff/uec.h>

#include "wire/crc32.h"
#include "wire/ip.h"
#include "wire/notice_frame.h"
#include "wire/roce.h"

/* kind, name; an ordered set has a name here but is no header of a frame */
#define LAYER_MAP(X)              \
    X(ETH, "eth")                 \
    X(CN_TAG, "cn-tag")           \
    X(RRT, "rrt")                 \
    X(RATE_TAG, "rate-tag")       \
    X(PAUSE, "pause")             \
    X(PFC, "pfc")                 \
    X(CC_UPDATE, "cc-update")     \
    X(MAC_CONTROL, "mac-control") \
    X(CNM, "cnm")                 \
    X(BCN, "bcn")                 \
    X(NOTICE, "notice")           \
    X(LLDP, "lldp")               \
    X(IPV4, "ipv4")               \
    X(UDP, "udp")                 \
    X(TCP, "tcp")                 \
    X(ROCE, "roce")               \
    X(AETH, "aeth")               \
    X(CNP, "cnp")                 \
    X(HPCC, "hpcc")               \
    X(CTLOS, "ctlos")

enum layer_kind {
#define X(kind, name) LAYER_##kind,
    LAYER_MAP(X)
#undef X
        N_LAYER_KINDS
};

/* Frames under EtherType 0x8808 that no codec knows. `company` is 0 but for extensions. */
struct mac_control {
    uint16_t opcode;
    uint32_t company;
};

struct layer {
    enum layer_kind kind;
    uint32_t at, end; /* octets of the frame; the content of LLDP begins at `end` */
    union {
        struct xoff_eth eth;
        struct xoff_cn_tag cn_tag;
        struct xoff_rrt rrt;
        struct xoff_rate_tag rate_tag;
        struct xoff_pause_frame pause; /* LAYER_PAUSE and LAYER_PFC */
        struct xoff_cc_update cc_update;
        struct mac_control mac_control;
        struct xoff_cnm cnm;
        struct xoff_bcn bcn;
        struct notice_frame notice;
        struct ipv4 ipv4;
        struct udp udp;
        struct tcp tcp;
        struct bth roce;
        struct aeth aeth;
        struct hpcc_header hpcc;
        uint8_t cnp[ROCE_CNP_OCTETS]; /* reserved */
    };
};

enum layer_check { CHECK_ABSENT, CHECK_GOOD, CHECK_BAD };

#define LAYERS_MAX 12
struct layers {
    uint32_t n;
    struct layer layer[LAYERS_MAX];
    uint32_t kinds;                   /* bit n: a layer of kind n is there */
    uint32_t payload_at, payload_end; /* behind the last header */
    enum layer_check fcs, ip_checksum, l4_checksum, icrc;
    bool is_snapped; /* the capture ends before the headers do */
};

/* A frame to decode. */
struct layers_in {
    const uint8_t *octets;
    uint32_t captured, original; /* octets that are here, and that were on the wire */
    int8_t fcs_octets;           /* 0 or 4 at the end; LAYERS_FIND_FCS: 4 if they are right */
    bool has_telemetry;          /* HPCC's header follows BTH and AETH; nothing else tells */
    const struct crc32 *crc32;   /* NULL: FCS and invariant CRC are not checked */
};
#define LAYERS_FIND_FCS (-1)

/* A frame to encode, around its headers. */
struct layers_out {
    const uint8_t *payload; /* NULL: zeros */
    uint32_t payload_octets;
    uint32_t least_octets; /* zeros fill the frame up to these, FCS not included */
    bool has_fcs, has_bad_fcs;
};
#define LAYERS_MORE_OCTETS (LAYERS_MAX * 80) /* room for headers, ICRC and FCS */

const char *xoff_layer_name(enum layer_kind kind);

/* Reads a frame. Returns 0, or a negative code with `err` filled: `layers` then has the headers up
 * to the one that was refused. */
int xoff_layers_decode(const struct layers_in *in, struct layers *layers, struct xoff_err *err);

/* Appends a header of zeros to `layers` and names it in the EtherType of the header before. */
struct layer *xoff_layers_add(struct layers *layers, enum layer_kind kind);
/* Writes a frame. `buf` has room for LAYERS_MORE_OCTETS more than payload and least octets. The
 * lengths and checksums in `layers` are not looked at. Without `crc32` there is no FCS, and the
 * invariant CRC is 0. Returns the octets written. */
uint32_t xoff_layers_encode(const struct layers *layers, const struct layers_out *out,
                            struct crc32 *crc32, uint8_t *buf);

#endif
