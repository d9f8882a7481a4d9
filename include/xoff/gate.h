/* Pause reception at a transmitter (802.3 31B.3, 31D; 802.1Q 36.2): which priorities may send.
 *
 * A frame received at r takes effect at r + response: the gate of each enabled priority closes then
 * and its timer starts then, with the quanta of that frame. A later frame overwrites the timer;
 * times do not add up. Quanta 0 open the gate, also at r + response. A frame whose first bit is on
 * the wire is always finished: the port takes care of that. Frames of the other kind (PAUSE on a
 * PFC port, PFC on a PAUSE port) are ignored, since the two exclude each other on a port.
 *
 * Received frames wait for their response time in a ring of XOFF_GATE_PENDING; when more than that
 * arrive within one response time the oldest takes effect at once, which the standard allows (the
 * response time is a limit, not a delay).
 */
#ifndef XOFF_GATE_H
#define XOFF_GATE_H

#include <xoff/pause.h>
#include <xoff/pfc_frame.h>

#ifdef __cplusplus
extern "C" {
#endif

#define XOFF_GATE_PENDING 8

struct xoff_gate_cfg {
    enum xoff_pause_wire wire; /* what this port obeys */
    uint8_t obeys;             /* PFC: priorities with PFC enabled; others ignore their timers */
    xoff_time response_for;
    xoff_rate rate_bps; /* of the link; it sets the length of a quantum */
};

struct xoff_gate {
    xoff_time next_at; /* next change, XOFF_NEVER: none (the role's deadline) */
    uint8_t open;      /* bit n: priority n may send */
    uint8_t n_pending, first_pending;
    xoff_time closed_until[8]; /* valid while the gate is closed */
    struct {
        xoff_time effective_at;
        uint8_t classes;
        uint16_t quanta[8];
    } pending[XOFF_GATE_PENDING];
};

void xoff_gate_init(struct xoff_gate *gate);

/* Takes a decoded frame received at `now`. Returns true when the frame is of the kind this port
 * obeys. `open` changes only if the ring was full; the caller compares it before and after. */
bool xoff_gate_on_frame(const struct xoff_gate_cfg *cfg, struct xoff_gate *gate,
                        const struct xoff_pause_frame *frame, xoff_time now);

/* Applies everything due at or before `now`. Returns the priorities whose gate changed. */
uint8_t xoff_gate_expire(const struct xoff_gate_cfg *cfg, struct xoff_gate *gate, xoff_time now);

/* Closes the priorities that this port obeys from now until `until`. Used when a link has come up
 * and the peer's pauses are not known yet. */
void xoff_gate_hold(const struct xoff_gate_cfg *cfg, struct xoff_gate *gate, xoff_time now,
                    xoff_time until);

/* PFC is no longer in force for these priorities: they may send, and what the peer said of them is
 * void. cfg->obeys does not have them any more. */
void xoff_gate_release(const struct xoff_gate_cfg *cfg, struct xoff_gate *gate, uint8_t priorities);

static inline bool xoff_gate_is_due(const struct xoff_gate *gate, xoff_time now)
{
    return now >= gate->next_at;
}

#ifdef __cplusplus
}
#endif

#endif
