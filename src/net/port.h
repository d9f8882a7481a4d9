/* A port: the wire it sends on, the gate it obeys, and the pauses it asks of its peer. */
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

struct port {
    /* Sending. */
    xoff_time free_at; /* the wire can take the next frame */
    bool is_up;
    bool is_armed; /* a transmit event is pending at free_at */
    uint16_t number;
    uint32_t node;
    uint32_t link_out;
    struct xoff_wire_clock clock;
    xoff_time delay;
    struct xoff_gate gate;
    struct xoff_signal signal;
    struct xoff_gate_cfg gate_cfg;
    struct xoff_signal_cfg signal_cfg;
    /* Receiving: frames lost to corruption. */
    uint32_t error_ppb;
    struct xoff_rng error_rng;
    uint8_t peer_told; /* priorities the peer last told us to stop */
    /* Counting. */
    xoff_time busy_for;
    struct tally tx[XOFF_N_PRIORITIES], rx[XOFF_N_PRIORITIES];
    uint64_t control_tx, control_rx;
    uint64_t pause_tx[XOFF_N_PRIORITIES], resume_tx[XOFF_N_PRIORITIES];
    uint64_t pause_rx[XOFF_N_PRIORITIES], resume_rx[XOFF_N_PRIORITIES];
    xoff_time closed_at[XOFF_N_PRIORITIES], paused_for[XOFF_N_PRIORITIES];
};

/* Puts a frame on the wire now; the wire must be free and the link up. The frame is handed to the
 * link at once with its arrival time: that makes serialisation part of the lookahead. */
void port_tx_begin(struct port *port, struct worker *w, struct frame *frame);

/* Sends the pause frame that is due. It passes all data, but waits for the frame being sent. */
void port_tx_control(struct port *port, struct worker *w);

/* A pause frame came in. */
void port_rx_control(struct port *port, const struct xoff_pause_frame *frame, xoff_time now);

/* Brings the gate up to `now`. */
void port_gate_expire(struct port *port, xoff_time now);

static inline uint8_t port_open(struct port *port, xoff_time now)
{
    if (__builtin_expect(xoff_gate_is_due(&port->gate, now), 0))
        port_gate_expire(port, now);
    return port->gate.open;
}

/* The frame is hit by an error of the link. */
static inline bool port_is_corrupt(struct port *port)
{
    return port->error_ppb && xoff_rng_below(&port->error_rng, 1000000000) < port->error_ppb;
}

static inline xoff_time port_deadline(const struct port *port)
{
    return xoff_time_min(port->gate.next_at, port->signal.next_at);
}

/* The link fails or comes back: pauses are forgotten on both sides. */
void port_set_up(struct port *port, bool up, xoff_time now);
/* The link runs at another rate from the next frame on. */
void port_set_rate(struct port *port, xoff_rate rate_bps);

#endif
