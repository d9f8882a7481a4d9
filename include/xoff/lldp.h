/* LLDP frames (802.1AB): bytes <-> struct, and a walk over the TLVs of a frame. */
#ifndef XOFF_LLDP_H
#define XOFF_LLDP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <xoff/err.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    XOFF_LLDP_ETHERTYPE = 0x88cc,
    XOFF_LLDP_MAX_FRAME = 14 + 4 + 1500, /* header, one tag, LLDPDU; without FCS */
    XOFF_LLDP_MAX_VALUE = 511,           /* octets of a TLV behind its header */
    XOFF_LLDP_MAX_ID = 255,
};

enum xoff_lldp_type {
    XOFF_LLDP_END = 0,
    XOFF_LLDP_CHASSIS_ID = 1,
    XOFF_LLDP_PORT_ID = 2,
    XOFF_LLDP_TTL = 3,
    XOFF_LLDP_PORT_DESCRIPTION = 4,
    XOFF_LLDP_SYSTEM_NAME = 5,
    XOFF_LLDP_SYSTEM_DESCRIPTION = 6,
    XOFF_LLDP_SYSTEM_CAPABILITIES = 7,
    XOFF_LLDP_MANAGEMENT_ADDRESS = 8,
    XOFF_LLDP_ORGANISATION = 127, /* OUI and subtype say what it is */
};

/* How a chassis ID and a port ID say "a MAC address". */
enum { XOFF_LLDP_CHASSIS_MAC = 4, XOFF_LLDP_PORT_MAC = 3 };

/* A chassis ID or a port ID. The two together name a neighbour (MSAP identifier). */
struct xoff_lldp_id {
    uint8_t subtype;
    uint8_t length; /* 1 to 255 */
    uint8_t octets[XOFF_LLDP_MAX_ID];
};

struct xoff_lldp {
    uint8_t destination[6], source[6];
    bool is_tagged; /* an 802.1Q tag stands before the EtherType */
    uint16_t tag;   /* priority 3 bits, DEI 1, VLAN 12 */
    struct xoff_lldp_id chassis, port;
    uint16_t ttl_s; /* 0: the sender shuts down, all that it said is void */
};

/* One TLV of a frame that stays where it is. */
struct xoff_lldp_tlv {
    size_t at; /* offset of its header in the frame */
    uint8_t type;
    uint8_t subtype;      /* type 127 */
    uint16_t length;      /* 0 to 511 */
    uint32_t oui;         /* type 127 */
    const uint8_t *value; /* `length` octets: type 127 has OUI and subtype in it */
};

/* 01-80-C2-00-00-0E, the nearest-bridge group: the only one that carries DCBX. */
extern const uint8_t xoff_lldp_nearest_bridge[6];

/* Writes a frame without FCS: header, the three mandatory TLVs, `n_optional` octets of TLVs as they
 * are given, End, and zeros up to 60 octets. Returns its length, 0 where `capacity` is too small.
 */
size_t xoff_lldp_encode(const struct xoff_lldp *lldp, const uint8_t *optional, size_t n_optional,
                        uint8_t *buf, size_t capacity);

/* Reads a frame of `length` octets without FCS up to the mandatory TLVs. `*tlvs_at` is where the
 * first TLV behind them stands. Returns 0, or a negative code with `err` naming field and offset:
 * such a frame says nothing at all (802.1AB 9.2.7.7). Any destination is taken. */
int xoff_lldp_decode(const uint8_t *frame, size_t length, struct xoff_lldp *lldp, size_t *tlvs_at,
                     struct xoff_err *err);

/* Reads the TLV at `*at` and moves `*at` behind it. Returns 1, or 0 at the End TLV and where the
 * frame ends between two TLVs, or a negative code: the length leads out of the frame, End has a
 * length, or a mandatory TLV comes a second time. Then the whole frame is void. */
int xoff_lldp_next(const uint8_t *frame, size_t length, size_t *at, struct xoff_lldp_tlv *tlv,
                   struct xoff_err *err);

/* "system name", "reserved". */
const char *xoff_lldp_type_text(unsigned type);

bool xoff_lldp_id_is(const struct xoff_lldp_id *a, const struct xoff_lldp_id *b);

#ifdef __cplusplus
}
#endif

#endif
