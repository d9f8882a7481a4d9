/* Whether a frame survives the wire: its headers are written as octets, read again and compared. */
#ifndef WIRE_PACKET_CHECK_H
#define WIRE_PACKET_CHECK_H

#include "wire/layers.h"
#include "wire/packet.h"

/* Checks the headers of a frame. CRCs are left out: they cost more than all the rest. Returns 0, or
 * a negative code with `err` naming the field that came back another. */
int xoff_packet_check(const struct packet *packet, struct xoff_err *err);

/* The second half of it: reads the octets of a frame that was sent with these headers. */
int xoff_packet_check_octets(const struct layers *sent, const uint8_t *octets, uint32_t n,
                             struct xoff_err *err);

#endif
