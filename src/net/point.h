/* The congestion points of a port: of its egress queues, of what came in by it, or of the receive
 * queue of a slow host. */
#ifndef NET_POINT_H
#define NET_POINT_H

#include "net/frames.h"
#include "net/net.h"
#include "net/occupancy.h"

/* What the congestion point of a queue counts. */
struct point_queue {
    int64_t bytes; /* at an input: bytes that came in by the port and lie in the switch */
    uint64_t n_samples, n_notices;
};

/* The congestion points of a port's queues: its egress queues, or, where sw->at_inputs and at slow
 * receivers, all frames of a priority that came in by the port. */
struct point {
    struct xoff_cp cp;
    unsigned char *states;    /* by priority, cp.shape.state_size apart */
    bool marks_in, marks_out; /* of egress queues: it looks at frames that join, that leave */
    bool samples;             /* cp.shape.samples */
    bool meters;              /* cp.shape.sees_load or .heeds_tags: port.quiet_below is 0 */
    uint8_t heeds;            /* where it meters: flags of data and probes that it looks at */
    struct point_queue queues[XOFF_N_PRIORITIES];
    /* Where it meters: how long a queue had nothing to send before its last backlog, and the end of
     * the last frame that left it empty. All other time is backlog. */
    xoff_time idle_for[XOFF_N_PRIORITIES], sent_at[XOFF_N_PRIORITIES];
};

static inline void *point_state(const struct point *point, uint32_t priority)
{
    return point->states + priority * point->cp.shape.state_size;
}

/* Whether a congestion point is to look at a frame that has joined its queue. */
static inline __attribute__((always_inline)) bool point_is_due(const struct point *point,
                                                               const struct frame *f)
{
    return !point->samples ||
           xoff_cp_is_due(point_state(point, f->priority), f->bytes, f->kind == FRAME_DATA);
}

/* Makes the frame that brings `notice` to the source of `f`, as an answer of its receiver would
 * come (switch.c). */
void point_fill_notice(const struct net *net, const struct net_switch *kind, const struct frame *f,
                       const struct xoff_notice *notice, xoff_time now, struct long_frame *made);

#endif
