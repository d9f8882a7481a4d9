/* A port: the wire it sends on, the gate it obeys, and the pauses it asks of its peer.
 *
 * The first line of struct port is all that a forwarded frame touches; what it mirrors of gate and
 * signal is kept in step by the functions here, which are the only ones to touch those two.
 */
#ifndef NET_PORT_H
#define NET_PORT_H

#include <xoff/gate.h>
#include <xoff/rng.h>
#include <xoff/signal.h>
#include <xoff/units.h>

#include "sim/sim.h"

struct tally {
    uint64_t frames, bytes;
};

/* Frames that crossed a port, as they were then: `at` says when, `pool` how (CAPTURE_x). */
enum { CAPTURE_SENT = 1, CAPTURE_CORRUPT = 2 };
#define CAPTURE_CHUNK 1024
struct capture {
    struct frame **chunks; /* of CAPTURE_CHUNK frames, `step` lines apart */
    uint64_t n, limit, left_out;
    uint64_t chunks_capacity;
    uint32_t step;
};

static inline struct frame *capture_at(const struct capture *c, uint64_t index)
{
    return &c->chunks[index / CAPTURE_CHUNK][index % CAPTURE_CHUNK * c->step];
}

struct port {
    alignas(64) xoff_time free_at; /* the wire can take the next frame */
    xoff_time gate_at;             /* next change of the gate */
    xoff_time delay;
    xoff_time busy_for;
    int64_t quiet_below;  /* queue length up to which the congestion point has nothing to say */
    uint32_t ps_per_byte; /* 0: an odd rate, see clock */
    uint32_t link_out;
    uint32_t error_ppb;
    uint16_t number;
    bool is_up;
    bool is_armed;       /* a transmit event is pending */
    uint8_t open;        /* priorities that the gate lets through */
    uint8_t backlog;     /* priorities with something to send */
    bool is_control_due; /* a pause frame is to be sent */
    bool is_captured;    /* every frame that crosses it is noted down */

    alignas(64) struct tally rx[XOFF_N_PRIORITIES];

    struct xoff_wire_clock clock;
    uint32_t pause_bytes;
    struct capture *capture;
    uint32_t burst; /* frames sent one right after the other, before this one: see send_ns3 */
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
    uint64_t lapsed_tx[XOFF_N_PRIORITIES]; /* pauses sent that ended with the link */
    xoff_time closed_at[XOFF_N_PRIORITIES], paused_for[XOFF_N_PRIORITIES];
};

/* gate_cfg.wire and .obeys, clock.is_ns3 and pause_bytes are set already. */
void port_init(struct port *port, xoff_rate rate_bps, int64_t response_quanta);

/* Puts a frame on the wire now; the wire must be free and the link up. The frame is handed to the
 * link at once with its arrival time: that makes serialisation part of the lookahead. */
void port_tx_begin(struct port *port, struct worker *w, const struct frame *frame);

/* Sends the pause frame that is due. It passes all data, but waits for the frame being sent. */
void port_tx_control(struct port *port, struct worker *w);

/* A pause frame came in. */
void port_rx_control(struct port *port, const struct xoff_pause_frame *frame, xoff_time now);

/* A frame crosses a captured port; and, right after it came in, that it is corrupt. In notes.c. */
XOFF_SELDOM void port_note_frame(struct port *port, const struct frame *frame, bool is_sent,
                                 xoff_time now);
void port_note_corrupt(struct port *port);

/* The peer is to stop or go. */
void port_ask(struct port *port, uint8_t priorities, bool pause);

/* Brings the gate, or the pauses asked for, up to `now`. */
void port_gate_expire(struct port *port, xoff_time now);
void port_signal_expire(struct port *port, xoff_time now);

static inline uint8_t port_open(struct port *port, xoff_time now)
{
    if (__builtin_expect(now >= port->gate_at, 0))
        port_gate_expire(port, now);
    return port->open;
}

/* The frame is hit by an error of the link. */
static inline bool port_is_corrupt(struct port *port)
{
    return __builtin_expect(port->error_ppb != 0, 0) &&
           xoff_rng_below(&port->error_rng, 1000000000) < port->error_ppb;
}

/* The link fails or comes back: pauses are forgotten on both sides. */
void port_set_up(struct port *port, bool up, xoff_time now);
/* The link runs at another rate from the next frame on. */
void port_set_rate(struct port *port, xoff_rate rate_bps);

#endif
