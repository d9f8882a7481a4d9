/* The edge of a congestion notification domain (802.1Qau): what the ports of a switch do to the
 * priority of frames that come in and to the CN-TAG of frames that go out. Built only where a
 * scenario gives a port a mode; a switch without one pays nothing. */
#ifndef NET_DOMAIN_H
#define NET_DOMAIN_H

#include "net/fabric.h"
#include "net/frames.h"

struct domain_port {
    uint8_t priority[XOFF_N_PRIORITIES]; /* of a frame that comes in, by the one it carries */
    uint8_t strips;                      /* priorities whose frames go out without a CN-TAG */
    uint8_t disabled;                    /* priorities without a congestion point */
};

struct domain {
    const struct fabric_ops *fabric; /* that of the switch ... */
    struct fabric_ops guarded;       /* ... and the same with domain_arrive() before it */
    struct domain_port *ports;
    struct long_frame in, out; /* the frame as changed */
};

/* Takes the place of the fabric's arrive(). */
void domain_arrive(struct sw *sw, struct worker *w, uint32_t in, const struct frame *frame);

/* Returns the frame as it goes out by the port: `f`, or a copy without its tag. */
const struct frame *domain_depart(struct sw *sw, uint32_t out, const struct frame *f);

#endif
