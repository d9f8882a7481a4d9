/* Notifications that have no format of their own: octets <-> struct. The conventions of decoders
 * and encoders are in eth.h. */
#ifndef WIRE_NOTICE_FRAME_H
#define WIRE_NOTICE_FRAME_H

#include <stddef.h>
#include <stdint.h>

#include <xoff/err.h>

/* Behind EtherType 0x88b5: the fields of struct xoff_notice (notice.h), and a flow. */
struct notice_frame {
    uint8_t kind;
    uint64_t cp_id;
    int32_t feedback, queue_offset_bytes, queue_delta_bytes;
    uint64_t rate_bps;
    uint32_t flow;
};

int xoff_notice_frame_decode(const uint8_t *frame, size_t length, size_t at,
                             struct notice_frame *notice, struct xoff_err *err);
size_t xoff_notice_frame_encode(const struct notice_frame *notice, uint8_t *buf, size_t capacity);

#endif
