/* When a port sends LLDP frames (802.1AB 9.2): at once when it starts, a few in quick succession
 * when a neighbour is new, soon after a change, and otherwise once per interval; a shutdown frame
 * when it stops.
 *
 * All times are counted in seconds, as on the wire, and cfg says how long a second is: a simulated
 * network lives for milliseconds, and with a second of 10 us everything else keeps its proportion.
 */
#ifndef XOFF_LLDP_TX_H
#define XOFF_LLDP_TX_H

#include <xoff/err.h>
#include <xoff/time.h>

#ifdef __cplusplus
extern "C" {
#endif

struct xoff_lldp_tx_cfg {
    xoff_time second_for; /* length of a second */
    uint16_t interval_s;  /* 1 to 3600: between frames without news (msgTxInterval) */
    uint16_t ttl_s;       /* 1 to 65535: how long what was sent holds */
    uint16_t fast_s;      /* 1 to 3600: between frames while a neighbour is new (msgFastTx) */
    uint16_t tx_delay_s;  /* 1 to 8192: between a frame and the next one that a change causes */
    uint16_t reinit_s;    /* 1 to 10: from a shutdown frame to the next start */
    uint8_t n_fast;       /* 1 to 8: frames sent fast (txFastInit) */
};

/* 30 s, 120 s, 1 s, 2 s, 2 s and four frames, of real seconds. */
extern const struct xoff_lldp_tx_cfg xoff_lldp_tx_defaults;

enum xoff_lldp_tx_status { XOFF_LLDP_TX_OFF, XOFF_LLDP_TX_ON, XOFF_LLDP_TX_STOPPING };

struct xoff_lldp_tx {
    uint8_t status;        /* enum xoff_lldp_tx_status */
    uint8_t n_fast_left;   /* frames still to be sent fast, beside the one that is due */
    xoff_time due_at;      /* next frame (deadline); XOFF_NEVER: none */
    xoff_time sent_at;     /* last frame; -XOFF_NEVER: none since the start */
    xoff_time earliest_at; /* a start is held up until then, after a shutdown frame */
};

int xoff_lldp_tx_check(const struct xoff_lldp_tx_cfg *cfg, struct xoff_err *err);

void xoff_lldp_tx_init(struct xoff_lldp_tx *tx);
/* The port begins to send: now, or when the time of reinitialisation is over. */
void xoff_lldp_tx_start(const struct xoff_lldp_tx_cfg *cfg, struct xoff_lldp_tx *tx, xoff_time now);
/* The port is told to stop: a shutdown frame is due now. */
void xoff_lldp_tx_stop(struct xoff_lldp_tx *tx, xoff_time now);
/* The link is down: nothing can be sent any more, a shutdown frame neither. */
void xoff_lldp_tx_cut(struct xoff_lldp_tx *tx);

/* What is sent has changed; a frame follows when the last one is old enough. */
void xoff_lldp_tx_on_change(const struct xoff_lldp_tx_cfg *cfg, struct xoff_lldp_tx *tx,
                            xoff_time now);
/* A neighbour was heard that was not known. */
void xoff_lldp_tx_on_neighbour(const struct xoff_lldp_tx_cfg *cfg, struct xoff_lldp_tx *tx,
                               xoff_time now);

static inline bool xoff_lldp_tx_is_due(const struct xoff_lldp_tx *tx, xoff_time now)
{
    return now >= tx->due_at;
}

/* A frame goes out now. Returns its TTL; 0: it is the shutdown frame. Call only when due. */
uint16_t xoff_lldp_tx_take(const struct xoff_lldp_tx_cfg *cfg, struct xoff_lldp_tx *tx,
                           xoff_time now);

#ifdef __cplusplus
}
#endif

#endif
