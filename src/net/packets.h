/* Frames as the simulator has them -> frames as the wire has them. */
#ifndef NET_PACKETS_H
#define NET_PACKETS_H

#include "stats/results.h"
#include "wire/packet.h"

/* Everything but `source_mac`, which depends on who sent the frame. `extra` may be NULL. */
void packet_of_frame(const struct result_frame *frame, const struct result_frame_extra *extra,
                     struct packet *packet);

#endif
