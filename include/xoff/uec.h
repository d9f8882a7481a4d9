/* Ultra Ethernet's link layer: CC_Update frames and control ordered sets (CtlOS), octets <->
 * struct. The conventions of decoders and encoders are in eth.h. */
#ifndef XOFF_UEC_H
#define XOFF_UEC_H

#include <stddef.h>
#include <stdint.h>

#include <xoff/err.h>

#ifdef __cplusplus
extern "C" {
#endif

#define XOFF_OPCODE_EXTENSION 0xfffe /* of MAC Control; a company id follows */
#define XOFF_UEC_COMPANY 0xfa7acb
#define XOFF_CC_UPDATE_CHANNELS 16 /* in one frame; a port has two times as many */
#define XOFF_CTLOS_OCTETS 8
#define XOFF_UEC_COUNTER_BITS 20 /* credit counters and LLR sequence numbers are cyclic */

/* Credits that the sender has consumed on half of the virtual channels, so that the receiver can
 * give back those of frames that were lost. */
struct xoff_cc_update {
    uint8_t first_channel; /* 0 or 16 */
    uint32_t consumed[XOFF_CC_UPDATE_CHANNELS];
};

enum xoff_ctlos_type {
    XOFF_CTLOS_LLR_ACK = 0x01,
    XOFF_CTLOS_LLR_NACK = 0x02,
    XOFF_CTLOS_LLR_INIT = 0x03,
    XOFF_CTLOS_LLR_INIT_ECHO = 0x04,
    XOFF_CTLOS_CF_UPDATE = 0x10,
};

struct xoff_ctlos_credit {
    uint8_t channel; /* 0 .. 31 */
    uint16_t freed;  /* 0 .. 32767: the low bits of the counter */
};

struct xoff_ctlos {
    uint8_t type;                       /* enum xoff_ctlos_type */
    uint32_t sequence;                  /* of the LLR types */
    struct xoff_ctlos_credit credit[2]; /* of CF_Update */
    uint32_t reserved; /* the last 24 bits of the LLR types, the last 4 of CF_Update */
};

/* `at` is behind EtherType 0x8808. Refused: cut off, another opcode, company or type. */
int xoff_cc_update_decode(const uint8_t *frame, size_t length, size_t at,
                          struct xoff_cc_update *update, struct xoff_err *err);
size_t xoff_cc_update_encode(const struct xoff_cc_update *update, uint8_t *buf, size_t capacity);

/* The eight octets of an ordered set stand alone, in no frame. */
int xoff_ctlos_decode(const uint8_t *octets, size_t length, struct xoff_ctlos *ctlos,
                      struct xoff_err *err);
size_t xoff_ctlos_encode(const struct xoff_ctlos *ctlos, uint8_t *buf, size_t capacity);

#ifdef __cplusplus
}
#endif

#endif
