/* The message of ECM's congestion points (BCN) and the rate-regulation tag (RRT) of its sources:
 * octets <-> struct. All behind their EtherType is our own. The conventions of decoders and
 * encoders are in eth.h. */
#ifndef XOFF_BCN_H
#define XOFF_BCN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <xoff/err.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The first octet behind EtherType 0x8904. */
enum xoff_bcn_kind { XOFF_BCN_MESSAGE = 0, XOFF_BCN_TAG = 1 };

struct xoff_bcn {
    bool is_stop;     /* severe congestion: the source stops */
    uint8_t reserved; /* 7 bits: sent as 0, ignored by receivers */
    uint64_t cp_id;
    int16_t queue_offset, queue_delta; /* as in a CNM: units of 64 octets, negative: congested */
    uint8_t about_destination[6];      /* of the frame that was sampled */
    uint32_t flow;
};

struct xoff_rrt {
    bool is_limited; /* point `cp_id` limits the flow */
    uint8_t reserved;
    uint64_t cp_id;
    uint16_t type; /* EtherType of what follows */
};

/* Refused: cut off, or of the other kind. */
int xoff_bcn_decode(const uint8_t *frame, size_t length, size_t at, struct xoff_bcn *bcn,
                    struct xoff_err *err);
size_t xoff_bcn_encode(const struct xoff_bcn *bcn, uint8_t *buf, size_t capacity);
int xoff_rrt_decode(const uint8_t *frame, size_t length, size_t at, struct xoff_rrt *rrt,
                    struct xoff_err *err);
size_t xoff_rrt_encode(const struct xoff_rrt *rrt, uint8_t *buf, size_t capacity);

#ifdef __cplusplus
}
#endif

#endif
