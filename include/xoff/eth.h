/* Ethernet headers (802.3 clause 3) with VLAN tags (802.1Q clause 9): octets <-> struct.
 *
 * A frame is a chain of headers. Each part begins behind the EtherType that announced it and, if
 * another part follows, ends with the EtherType of that one. Decoders of parts take the whole frame
 * and the offset at which the part begins, so that errors name offsets in the frame; they return
 * the offset behind the part, or a negative code with `err` filled. Encoders return how many octets
 * they wrote; 0: `capacity` is too small, and what was written has no meaning.
 */
#ifndef XOFF_ETH_H
#define XOFF_ETH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <xoff/err.h>

#ifdef __cplusplus
extern "C" {
#endif

#define XOFF_ETH_MIN_OCTETS 60 /* of a frame without its FCS */
#define XOFF_ETH_FCS_OCTETS 4
#define XOFF_ETH_MAX_TAGS 2
#define XOFF_ETH_MAX_LENGTH 1500 /* `type` up to here is a length (802.3 3.2.6) */
#define XOFF_ETH_MIN_TYPE 1536   /* and from here on an EtherType */

enum xoff_ethertype {
    XOFF_ETHERTYPE_IPV4 = 0x0800,
    XOFF_ETHERTYPE_CNM = 0x22e7,
    XOFF_ETHERTYPE_CN_TAG = 0x22e9,
    XOFF_ETHERTYPE_VLAN = 0x8100, /* C-TAG */
    XOFF_ETHERTYPE_MAC_CONTROL = 0x8808,
    XOFF_ETHERTYPE_SERVICE_VLAN = 0x88a8, /* S-TAG */
    XOFF_ETHERTYPE_NOTICE = 0x88b5,       /* 802 9.2.3, local experimental: our notices */
    XOFF_ETHERTYPE_RATE_TAG = 0x88b6,     /* the second of these: our rate tag */
    XOFF_ETHERTYPE_LLDP = 0x88cc,
    XOFF_ETHERTYPE_BCN = 0x8904,
};

struct xoff_vlan_tag {
    uint16_t type;    /* XOFF_ETHERTYPE_VLAN or XOFF_ETHERTYPE_SERVICE_VLAN */
    uint8_t priority; /* PCP, 0 .. 7 */
    bool drop_eligible;
    uint16_t vlan; /* 0 .. 4095; 0: the frame is priority-tagged, in no VLAN of its own */
};

struct xoff_eth {
    uint8_t destination[6], source[6];
    uint8_t n_tags;
    struct xoff_vlan_tag tags[XOFF_ETH_MAX_TAGS]; /* outer first */
    uint16_t type;                                /* EtherType or length of what follows */
};

/* Reads addresses, VLAN tags and type. Refused: a frame that ends within them, a third VLAN tag, a
 * type between 1500 and 1536. */
int xoff_eth_decode(const uint8_t *frame, size_t length, struct xoff_eth *eth,
                    struct xoff_err *err);
size_t xoff_eth_encode(const struct xoff_eth *eth, uint8_t *buf, size_t capacity);

/* Fills a frame up to the least size of 802.3 with zeros. `buf` has XOFF_ETH_MIN_OCTETS at least.
 * Returns the new length, FCS not included. */
size_t xoff_eth_pad(uint8_t *buf, size_t length);

#ifdef __cplusplus
}
#endif

#endif
