/* Pause transmission: turns a policy's edges into PAUSE or PFC frames and keeps them alive.
 *
 * `wanted` is what the policy asks for, `told` what the peer was last told. A frame is due while
 * they differ or a refresh has come up; an XOFF taken back before it could be sent is never sent.
 * XOFF is refreshed when half of its quanta have run out, as long as it is wanted.
 */
#ifndef XOFF_SIGNAL_H
#define XOFF_SIGNAL_H

#include <xoff/pause.h>
#include <xoff/pfc_frame.h>

#ifdef __cplusplus
extern "C" {
#endif

struct xoff_signal_cfg {
    struct xoff_pause_signalling how;
    xoff_time refresh_for; /* from one XOFF to its refresh; XOFF_NEVER: none */
};

struct xoff_signal {
    uint8_t wanted, told, stale; /* bit n: priority n; stale: a refresh is due */
    xoff_time next_at;           /* earliest refresh (deadline), XOFF_NEVER: none */
    xoff_time refresh_at[8];
};

/* Checks that a refresh sent at half time arrives in time behind a frame of max_frame_bytes. */
int xoff_signal_configure(const struct xoff_pause_signalling *how, xoff_rate rate_bps,
                          uint32_t max_frame_bytes, struct xoff_signal_cfg *cfg,
                          struct xoff_err *err);
void xoff_signal_init(struct xoff_signal *signal);

void xoff_signal_on_edge(const struct xoff_signal_cfg *cfg, struct xoff_signal *signal,
                         uint8_t priorities, bool pause);
void xoff_signal_expire(struct xoff_signal *signal, xoff_time now);

/* The peer has not obeyed pauses of these priorities and does so now: those it was told of are due
 * once more. */
void xoff_signal_repeat(struct xoff_signal *signal, uint8_t priorities);

/* The link came back: the peer knows nothing of earlier pauses. */
void xoff_signal_forget(struct xoff_signal *signal);

static inline bool xoff_signal_is_due(const struct xoff_signal *signal)
{
    return (signal->wanted ^ signal->told) | signal->stale;
}

/* Fills the frame to send now and takes note of it. Call only when due. */
void xoff_signal_take(const struct xoff_signal_cfg *cfg, struct xoff_signal *signal, xoff_time now,
                      struct xoff_pause_frame *frame);

#ifdef __cplusplus
}
#endif

#endif
