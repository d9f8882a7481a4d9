/* A port of a host or a switch: the wire it sends on, the gate it obeys, the pauses it asks of its
 * peer, and when it next looks for something to send.
 *
 * A forwarded frame touches only the first cache line of struct port. That line mirrors a few
 * fields of gate and signal. The functions here keep the mirror in step, so nobody else may change
 * the two.
 */
#ifndef NET_PORT_H
#define NET_PORT_H

#include <xoff/gate.h>
#include <xoff/pause.h>
#include <xoff/rng.h>
#include <xoff/sched.h>
#include <xoff/signal.h>
#include <xoff/units.h>

#include "net/node.h"
#include "net/profile.h"

struct tally {
    uint64_t frames, bytes;
};

/* Copies of frames that crossed a port: `at` says when, `pool` how (CAPTURE_x). */
enum { CAPTURE_SENT = 1, CAPTURE_CORRUPT = 2 };
#define CAPTURE_CHUNK 1024
struct capture {
    struct frame **chunks; /* chunks of CAPTURE_CHUNK frames, `step` lines apart */
    uint64_t n, limit, left_out;
    uint64_t chunks_capacity;
    uint32_t step;
};

/* Copies of the frames that a node received, queued, sent or dropped, for a trace: `at` says when,
 * `pool` what (RESULT_EVENT_x), `in_port` where, `next` how many bytes were queued there. */
struct tracer {
    struct capture notes;
    const struct egress *queues; /* by priority and port; NULL: a host */
    uint32_t n_ports;
    const struct port *ports;
    xoff_time until;
};

/* What a node has found in frames that were written as octets and read again (wire_check.c). */
struct wire_check {
    struct net *net;
    uint64_t n_frames;
    bool has_failed; /* once; of the frame that did not come back as it was: */
    uint8_t kind;
    uint32_t port;
    xoff_time at;
    struct xoff_err err;
};

static inline struct frame *capture_at(const struct capture *c, uint64_t index)
{
    return &c->chunks[index / CAPTURE_CHUNK][index % CAPTURE_CHUNK * c->step];
}

struct port {
    alignas(64) xoff_time free_at; /* when the wire can take the next frame */
    xoff_time gate_at;             /* next change of the gate */
    xoff_time delay;
    xoff_time busy_for;
    int64_t quiet_below;  /* queue length up to which the congestion point has nothing to say */
    uint32_t ps_per_byte; /* 0: the rate has no whole number, see `clock`, or wire->send is used */
    uint32_t link_out;
    uint32_t error_ppb;
    uint16_t number;
    bool is_up;
    bool is_armed;       /* a transmit event is pending */
    uint8_t open;        /* priorities that the gate lets through */
    uint8_t backlog;     /* priorities with something to send */
    bool is_control_due; /* a pause or LLDP frame is to be sent */
    bool is_watched;     /* every frame that crosses it is captured, traced or checked */
    uint8_t known_heads; /* of a switch: queues whose head_bytes are those of their head */

    alignas(64) struct tally rx[XOFF_N_PRIORITIES];

    struct xoff_wire_clock clock;
    const struct net_wire *wire;
    struct dcbx_port *dcbx;        /* NULL: it does not speak DCBX */
    bool is_lldp_due;              /* an LLDP frame is to be sent */
    uint8_t lets;                  /* priorities that it sends at all, whatever the gate says */
    bool keeps_heard;              /* pause frames are noted where they are received, too */
    struct capture *capture;       /* NULL: not captured */
    struct tracer *tracer;         /* that of the node; NULL: not traced */
    struct wire_check *check;      /* the same; NULL: frames are not checked */
    uint32_t told_bytes;           /* traced: length of the queue when it last asked for a pause */
    struct net_sequence *sequence; /* of wire->is_one_sequence */
    struct xoff_gate gate;
    struct xoff_signal signal;
    struct xoff_gate_cfg gate_cfg;
    int64_t response_quanta; /* XOFF_PARAM_AUTO: the limit for the link's rate */
    struct xoff_signal_cfg signal_cfg;
    struct xoff_rng error_rng;
    uint8_t peer_told; /* priorities the peer last told us to stop */
    uint64_t control_tx, control_rx;
    uint64_t pause_tx[XOFF_N_PRIORITIES], resume_tx[XOFF_N_PRIORITIES];
    uint64_t pause_rx[XOFF_N_PRIORITIES], resume_rx[XOFF_N_PRIORITIES];
    uint64_t lapsed_tx[XOFF_N_PRIORITIES]; /* pauses sent that ended because the link failed */
    xoff_time closed_at[XOFF_N_PRIORITIES], paused_for[XOFF_N_PRIORITIES];
    /* Of a switch: bytes of the head of each egress queue that has a frame, for the scheduler. This
     * line also makes the number of lines odd: the first lines of many ports would share few sets
     * else. */
    alignas(64) uint32_t head_bytes[XOFF_N_PRIORITIES];
};

_Static_assert(sizeof(struct port) / 64 % 2 == 1, "an odd number of cache lines");

/* `wire` must be set; gate_cfg.wire and .obeys may be set later. */
void port_init(struct port *port, xoff_rate rate_bps, int64_t response_quanta);

/* The last bit of a frame leaves at `last_bit`, and the wire is free again at `free_at`. */
static inline __attribute__((always_inline)) void port_tx_until(struct port *port, struct worker *w,
                                                                const struct frame *frame,
                                                                xoff_time last_bit,
                                                                xoff_time free_at)
{
    port->busy_for += free_at - sim_now(w);
    port->free_at = free_at;
    sim_send(w, port->link_out, frame, last_bit + port->delay);
}

/* Puts a frame on the wire now; the wire must be free and the link up. The frame is handed to the
 * link at once with its arrival time, which makes serialisation part of the lookahead. The second
 * is for frames that are watched, and for ports whose rate has no whole number of ps per byte. */
XOFF_SELDOM void port_tx_slowly(struct port *port, struct worker *w, const struct frame *frame);
static inline __attribute__((always_inline)) void
port_tx_plainly(struct port *port, struct worker *w, const struct frame *frame)
{
    const xoff_time last_bit =
        sim_now(w) + (xoff_time)(frame->bytes + XOFF_PREAMBLE_BYTES) * port->ps_per_byte;
    port_tx_until(port, w, frame, last_bit,
                  last_bit + (xoff_time)XOFF_GAP_BYTES * port->ps_per_byte);
}
static inline void port_tx_begin(struct port *port, struct worker *w, const struct frame *frame)
{
    if (__builtin_expect(port->is_watched || !port->ps_per_byte, 0))
        port_tx_slowly(port, w, frame);
    else
        port_tx_plainly(port, w, frame);
}

/* Whether no frame that crosses the port is watched or lost to errors, and the time that it takes
 * is a product. */
static inline bool port_is_plain(const struct port *port)
{
    return !port->is_watched && port->ps_per_byte && !port->error_ppb;
}

/* Sends the pause or LLDP frame that is due. It overtakes all queued data, but waits for the frame
 * being sent. */
void port_tx_control(struct node *node, struct port *port, struct worker *w);

/* The first notes a frame that crosses a watched port; the second, called right after, notes that
 * the frame was corrupt (notes.c). */
XOFF_SELDOM void port_note_frame(struct port *port, const struct frame *frame, bool is_sent,
                                 xoff_time now);
void port_note_corrupt(struct port *port);
/* A frame, or a pause of some priorities, is about to join a queue of the port. */
XOFF_SELDOM void port_note_queued(struct port *port, const struct frame *frame, xoff_time now);
XOFF_SELDOM void port_note_edge(struct port *port, const struct xoff_edge *edge, xoff_time now);

/* A pause policy has decided: the port tells its peer to stop or go, and the node notes it down.
 * `note` names the egress queue behind it; the rest is filled here. */
void port_apply_edge(struct node *node, struct port *port, struct worker *w,
                     const struct xoff_edge *edge, struct pause_note *note);

/* From now on PFC is in force for these priorities and no others, and only those of `lets` are
 * sent. The peer is told to go on with priorities that no longer can be paused, and to stop those
 * that the pause policy has wanted paused all along. */
void port_permit(struct node *node, struct port *port, struct worker *w, uint8_t pfc, uint8_t lets);
/* The peer is told once more of the pauses among these priorities. */
void port_repeat(struct node *node, struct port *port, struct worker *w, uint8_t priorities);
/* is_lldp_due may have changed. */
void port_refresh(struct node *node, struct port *port, struct worker *w);

/* Brings the gate up to `now`. */
void port_gate_expire(struct port *port, xoff_time now);
/* Returns how long the gate has been closed to a priority by `now`, and leaves the gate alone. */
xoff_time port_paused_for(const struct port *port, uint32_t priority, xoff_time now);

static inline uint8_t port_open(struct port *port, xoff_time now)
{
    if (__builtin_expect(now >= port->gate_at, 0))
        port_gate_expire(port, now);
    return port->open;
}

/* Draws whether an error of the link hits the frame. */
static inline bool port_is_corrupt(struct port *port)
{
    return __builtin_expect(port->error_ppb != 0, 0) &&
           xoff_rng_below(&port->error_rng, 1000000000) < port->error_ppb;
}

/* The link fails or comes back: both ends forget pauses. */
void port_set_up(struct node *node, struct port *port, struct worker *w, bool up, xoff_time now);
/* The link runs at another rate from the next frame on. */
void port_set_rate(struct port *port, xoff_rate rate_bps);

/* Timers of a port at its node. */
enum { PORT_GATE, PORT_SIGNAL, PORT_TIMERS };

static inline uint32_t port_timer(const struct port *port, uint32_t which)
{
    return PORT_TIMERS * port->number + which;
}

/* Number of the owner's timer `own`, behind those of the ports. */
static inline uint32_t node_timer(const struct node *node, uint32_t own)
{
    return PORT_TIMERS * node->n_ports + own;
}

/* The gate or the signal of the port has something to do now; the owner calls node_rearm(). */
void port_on_timer(struct node *node, struct port *port, struct worker *w, uint32_t which);

/* Sets a transmit event for when the wire is free. */
static inline void port_arm(const struct node *node, struct port *port, struct worker *w)
{
    if (port->is_armed || !port->is_up)
        return;
    const xoff_time now = sim_now(w);
    port->is_armed = true;
    sim_at_transmit(w, node->node, port->number, port->free_at > now ? port->free_at : now);
}

static inline bool port_has_work(const struct port *port)
{
    return (port->backlog & port->open) || port->is_control_due;
}

/* Arms the port if it has something that it may send. */
static inline void port_wake(const struct node *node, struct port *port, struct worker *w)
{
    if (port_has_work(port))
        port_arm(node, port, w);
}

/* Handles the port's transmit event and returns whether the port may send now. The link may have
 * been changed or repaired while the event was pending; the port is then armed anew. */
static inline bool port_on_transmit(const struct node *node, struct port *port, struct worker *w)
{
    port->is_armed = false;
    if (__builtin_expect(port->is_up && sim_now(w) >= port->free_at, 1))
        return true;
    port_arm(node, port, w);
    return false;
}

/* A frame that finds the port idle, open and empty may be sent at once. */
static inline bool port_is_free(struct port *port, uint32_t priority, xoff_time now)
{
    return !port->backlog && !port->is_armed && now >= port->free_at &&
           (port_open(port, now) >> priority & 1);
}

/* The scheduler is asked unless only one priority has a backlog and the scheduler allows skipping
 * it.
 */
static inline bool port_is_scheduled(const struct port *port, const struct xoff_sched *sched)
{
    return (port->backlog & (port->backlog - 1)) || sched->shape.every_frame;
}

/* Asks the scheduler. Entries of queues without a frame mean nothing; `head_since` is filled in
 * only for a scheduler that reads it. */
static inline uint32_t port_select(const struct port *port, const struct xoff_sched *sched,
                                   void *state, const uint32_t *head_bytes,
                                   const xoff_time *head_since, uint8_t eligible, xoff_time now)
{
    const struct xoff_sched_view view = {.eligible = eligible,
                                         .backlogged = port->backlog,
                                         .head_bytes = head_bytes,
                                         .head_since = head_since,
                                         .now = now};
    return xoff_sched_select(sched, state, &view);
}

/* A pause or LLDP frame ends here, and so does a frame that an error of the link hit. Out of line,
 * so the fast path spills no registers. */
XOFF_SELDOM void port_rx_control(struct node *node, struct port *port, struct worker *w,
                                 const struct frame *frame);
XOFF_SELDOM void port_rx_corrupt(struct node *node, struct port *port, const struct frame *frame,
                                 xoff_time now);

static inline void port_count_rx(struct port *port, uint32_t priority, uint32_t bytes)
{
    port->rx[priority].frames++;
    port->rx[priority].bytes += bytes;
}

/* Takes a frame whose last bit has arrived. Returns whether the owner must handle it. */
static inline bool port_rx(struct node *node, struct port *port, struct worker *w,
                           const struct frame *frame)
{
    if (__builtin_expect(port->is_watched, 0))
        port_note_frame(port, frame, false, sim_now(w));
    if (__builtin_expect(frame_is_control(frame), 0)) {
        port_rx_control(node, port, w, frame);
        return false;
    }
    port_count_rx(port, frame->priority, frame->bytes);
    if (port_is_corrupt(port)) {
        port_rx_corrupt(node, port, frame, sim_now(w));
        return false;
    }
    return true;
}

#endif
