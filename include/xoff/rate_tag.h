/* The rate-discovery tag of FECN: octets <-> struct. The layout is our own: the published one is
 * not known. The conventions of decoders and encoders are in eth.h. */
#ifndef XOFF_RATE_TAG_H
#define XOFF_RATE_TAG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <xoff/err.h>

#ifdef __cplusplus
extern "C" {
#endif

#define XOFF_RATE_TAG_UNSET UINT64_MAX /* rate_bps that no switch has lowered yet */

/* Behind EtherType 0x88b6. */
struct xoff_rate_tag {
    bool is_back;     /* on its way from the receiver back to the source */
    uint8_t reserved; /* 3 bits: sent as 0, ignored by receivers */
    uint8_t kind;     /* of the scheme, as in notice.h */
    uint32_t flow;    /* the rate-limiting queue of the source */
    uint64_t rate_bps;
    uint16_t type; /* EtherType of what follows; 0: nothing, the tag is a probe of its own */
};

/* Refused: a tag that is cut off, a version other than 0. */
int xoff_rate_tag_decode(const uint8_t *frame, size_t length, size_t at, struct xoff_rate_tag *tag,
                         struct xoff_err *err);
size_t xoff_rate_tag_encode(const struct xoff_rate_tag *tag, uint8_t *buf, size_t capacity);

#ifdef __cplusplus
}
#endif

#endif
