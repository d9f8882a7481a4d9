/* The part that a host and a switch have in common: a place in the topology, timers, and notes of
 * what happened. Both begin with NODE_FIELDS, so that a function for any node takes their `head`.
 */
#ifndef NET_NODE_H
#define NET_NODE_H

#include "base/heap.h"
#include "sim/sim.h"
#include "stats/results.h"

struct net;

/* A decision of a pause policy, as the node notes it down. */
struct pause_note {
    xoff_time at;
    uint16_t port;
    uint8_t priorities, pause, unit;
    uint8_t egress_priority, egress_paused;
    uint32_t egress_port;       /* UINT32_MAX: none */
    xoff_time egress_closed_at; /* start of its pause, which identifies it */
    int64_t occupied_bytes, threshold_bytes;
};

struct drop_note {
    uint32_t port, out_port;
    uint8_t priority, cause;
    bool is_agreed; /* PFC was in force for the priority at the port */
    uint64_t frames, bytes;
    xoff_time first_at;
};

/* The notes of a node; arrays grow when an entry is added. */
struct notes {
    struct result_heard *heard;
    uint64_t n_heard, heard_capacity;
    struct pause_note *pauses;
    uint64_t n_pauses, pauses_capacity, pauses_left_out;
    struct drop_note *drops;
    uint32_t n_drops, drops_capacity;
    struct result_sample *samples;
    uint64_t n_samples, samples_capacity;
    struct tracer *tracer;         /* NULL: no trace */
    const struct port *dcbx_ports; /* of the node, where PFC is agreed upon; NULL: nowhere */
};

/* `timers` holds the gate and the signal of each port (port.h), then the owner's own timers from
 * node_timer(node, 0) on. `clock_at` is one more deadline, kept out of the heap because it moves
 * with almost every frame (fabric_ops.clock). `timer_at` is when the node's timer event at the
 * engine is set. */
#define NODE_FIELDS         \
    struct net *net;        \
    uint32_t node, n_ports; \
    struct heap timers;     \
    xoff_time clock_at;     \
    xoff_time timer_at;     \
    bool passes_lldp;       \
    struct notes notes;

struct node {
    NODE_FIELDS
};

/* Tells the engine when the node's first timer expires. */
static inline void node_rearm(struct node *node, struct worker *w)
{
    const xoff_time at = xoff_time_min(heap_top_at(&node->timers), node->clock_at);
    if (at != node->timer_at) {
        node->timer_at = at;
        sim_at_timer(w, node->node, at);
    }
}

static inline void node_set_timer(struct node *node, struct worker *w, uint32_t timer, xoff_time at)
{
    heap_set(&node->timers, timer, at);
    node_rearm(node, w);
}

/* notes.c: these may allocate, and are not called for a frame that is simply forwarded. */
void note_pause(struct notes *notes, const struct pause_note *note);
void note_drop(struct notes *notes, uint32_t port, uint32_t out_port, const struct frame *frame,
               enum result_drop_cause cause, xoff_time now);
void note_sample(struct notes *notes, const struct result_sample *sample);
void note_heard(struct notes *notes, uint32_t node, uint32_t port,
                const struct xoff_pause_frame *frame, xoff_time now);

#endif
