/* PAUSE (802.3 Annex 31B) and PFC (Annex 31D, 802.1Qbb) frames: bytes <-> struct. */
#ifndef XOFF_PFC_FRAME_H
#define XOFF_PFC_FRAME_H

#include <stddef.h>
#include <stdint.h>

#include <xoff/err.h>

#ifdef __cplusplus
extern "C" {
#endif

#define XOFF_PAUSE_FRAME_BYTES 64 /* with FCS, both kinds */

enum xoff_pause_opcode {
    XOFF_OPCODE_PAUSE = 0x0001,
    XOFF_OPCODE_PFC = 0x0101,
};

/* A decoded pause frame. PAUSE uses quanta[0] alone and has classes = 0xff. */
struct xoff_pause_frame {
    uint16_t opcode;
    uint8_t classes; /* class-enable vector, bit n: priority n */
    uint16_t quanta[8];
};

/* Writes the 60 octets before the FCS (the FCS itself is the MAC's). `buf` has at least 60. */
void xoff_pause_frame_encode(const struct xoff_pause_frame *frame, const uint8_t source_mac[6],
                             uint8_t *buf);

/* Reads a frame of `length` octets, with or without FCS. Returns 0, or a negative code with `err`
 * naming field and offset: too short, wrong destination or EtherType, unknown opcode, reserved
 * octet of the class vector set. Such frames must not pause anybody. */
int xoff_pause_frame_decode(const uint8_t *buf, size_t length, struct xoff_pause_frame *frame,
                            struct xoff_err *err);

#ifdef __cplusplus
}
#endif

#endif
