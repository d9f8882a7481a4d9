/* CN-TAG and congestion notification message (CNM) of 802.1Qau: octets <-> struct. The conventions
 * of decoders and encoders are in eth.h. */
#ifndef XOFF_CNM_H
#define XOFF_CNM_H

#include <stddef.h>
#include <stdint.h>

#include <xoff/err.h>

#ifdef __cplusplus
extern "C" {
#endif

#define XOFF_CNM_MAX_MSDU 64
#define XOFF_CNM_MIN_OCTETS 24 /* of the PDU, which begins behind EtherType 0x22e7 */
#define XOFF_CNM_UNIT_BYTES 64 /* of queue_offset and queue_delta */

/* Behind EtherType 0x22e9. */
struct xoff_cn_tag {
    uint16_t flow; /* means something to the station that put it there */
    uint16_t type; /* EtherType of what follows */
};

struct xoff_cnm {
    uint8_t reserved; /* ReservedV, 6 bits: sent as 0, ignored by receivers */
    uint8_t feedback; /* Quantized Feedback, 0 .. 63; the more, the worse */
    uint64_t cp_id;
    int16_t queue_offset;    /* units of 64 octets; negative: above the set point */
    int16_t queue_delta;     /* negative: grown since the last sample */
    uint8_t about_priority;  /* of the frame that was sampled, 0 .. 7 */
    uint16_t about_reserved; /* the 13 bits below it: sent as 0, ignored by receivers */
    uint8_t about_destination[6];
    uint8_t msdu_octets; /* first octets of its MSDU that follow */
    uint8_t msdu[XOFF_CNM_MAX_MSDU];
};

int xoff_cn_tag_decode(const uint8_t *frame, size_t length, size_t at, struct xoff_cn_tag *tag,
                       struct xoff_err *err);
size_t xoff_cn_tag_encode(const struct xoff_cn_tag *tag, uint8_t *buf, size_t capacity);

/* Refused: a PDU that is cut off, a version other than 0, an MSDU of more than 64 octets or of more
 * than there are. */
int xoff_cnm_decode(const uint8_t *frame, size_t length, size_t at, struct xoff_cnm *cnm,
                    struct xoff_err *err);
size_t xoff_cnm_encode(const struct xoff_cnm *cnm, uint8_t *buf, size_t capacity);

/* queue_offset and queue_delta of a number of bytes with the opposite sign: whole units, rounded
 * toward 0, as many as the field takes. */
int16_t xoff_cnm_units(int64_t bytes);

#ifdef __cplusplus
}
#endif

#endif
