/* TCP's reliability as two state machines, sender and receiver: what to send and send again, when
 * to acknowledge. The congestion window comes from a reaction point (rp.h), which is told of
 * losses. tcp.c puts both behind the role (rel.h).
 *
 * Sender: cumulative ACKs with SACK (RFC 2018, 6675) or without (NewReno, RFC 6582), fast
 * retransmit and recovery, limited transmit (RFC 3042), retransmission timer (RFC 6298) with a
 * configurable minimum and exponential backoff. The reorder-resistant sender of DeTail (Zats et
 * al., 2012) has no fast retransmit, so that only the timer finds losses.
 *
 * Receiver: reorder buffer, delayed ACKs (RFC 1122, 5681), ECN echo of RFC 3168, or of DCTCP (RFC
 * 8257), which acknowledges at once when the marks change.
 */
#ifndef MECH_REL_TCP_H
#define MECH_REL_TCP_H

#include <xoff/rel.h>

enum xoff_tcp_echo { XOFF_TCP_ECHO_RFC3168, XOFF_TCP_ECHO_DCTCP };

struct xoff_tcp_params {
    int64_t sack;            /* bool */
    int64_t fast_retransmit; /* bool; false: DeTail's sender */
    int64_t duplicates;      /* ACKs that mean a loss, 3 */
    int64_t rto_min, rto_max, rto_initial;
    int64_t delayed_ack; /* longest delay of an ACK; 0: every segment is acknowledged */
    int64_t ack_every;   /* segments per ACK while in order, 2 */
    int64_t echo;        /* enum xoff_tcp_echo; XOFF_PARAM_AUTO: as the reaction point needs */
};
extern const struct xoff_param xoff_tcp_table[];

struct xoff_tcp_cfg {
    bool has_sack, has_fast_retransmit;
    uint32_t duplicates, ack_every;
    xoff_time rto_min, rto_max, rto_initial, delayed_ack;
    enum xoff_tcp_echo echo;
    uint32_t mss; /* payload of a full segment */
};
int xoff_tcp_configure(const struct xoff_tcp_params *params, const struct xoff_rel_env *env,
                       struct xoff_tcp_cfg *cfg, struct xoff_err *err);

/* Sender. */
enum xoff_tcp_state {
    XOFF_TCP_OPEN,       /* nothing is known to be lost */
    XOFF_TCP_RECOVERING, /* fast recovery */
    XOFF_TCP_REPAIRING,  /* after a timeout, until all that was sent before it is acknowledged */
};

struct xoff_tcp_tx {
    struct xoff_rel_tx head; /* una, sent_to and the timeout; `next` is sent_to */
    uint64_t recover;      /* recovery or repair ends when this byte is acknowledged; 0: none yet */
    uint64_t again_to;     /* unless open: retransmitted up to here */
    uint64_t lost_to;      /* unless open: bytes below it that are not SACKed are lost */
    uint64_t lost_bytes;   /* bytes of those that are not retransmitted yet */
    uint64_t sacked_bytes; /* bytes of the set `sacked` */
    uint64_t sacked_to;    /* end of the highest range that was ever SACKed */
    uint64_t left_bytes; /* not acknowledged, but by SACK or duplicates no longer in the network */
    uint64_t echo_to;    /* an echo beyond it belongs to another window of data */
    xoff_time srtt, rttvar, rto; /* srtt 0: no sample yet; rto before backoff */
    uint32_t sacked;             /* set of ranges */
    uint32_t n_duplicates;
    uint8_t backoff;                  /* number of doublings */
    uint8_t state;                    /* enum xoff_tcp_state */
    uint8_t has_partial, has_rescued; /* in this recovery: una has moved; the tail was sent again */
    uint8_t has_reduced; /* the next new segment says that the echo was answered (CWR) */
};

struct xoff_tcp_outcome {
    uint64_t newly_acked_bytes;
    bool has_lost;      /* a loss episode begins: tell the reaction point, once */
    bool is_recovering; /* in fast recovery after this ACK; false after a timeout, whose slow start
                         * must grow the window */
};

void xoff_tcp_tx_init(const struct xoff_tcp_cfg *cfg, struct xoff_tcp_tx *tx);
void xoff_tcp_tx_fini(struct xoff_tcp_tx *tx, struct xoff_range_store *store);
/* Finds what may be sent now: at most one full segment, within the window and below `offered`; lost
 * segments go first. The first retransmission of `una` in a recovery ignores the window (RFC 6675 5
 * (4.3), 6582 3.2). If nothing is outstanding, a window below a segment allows a segment of its
 * size. False: nothing may be sent. The call changes no state, and the caller may shorten the
 * segment. */
bool xoff_tcp_next(const struct xoff_tcp_cfg *cfg, const struct xoff_tcp_tx *tx,
                   const struct xoff_range_store *store, uint64_t offered, uint64_t window_bytes,
                   struct xoff_rel_segment *segment);
void xoff_tcp_on_sent(const struct xoff_tcp_cfg *cfg, struct xoff_tcp_tx *tx,
                      const struct xoff_rel_segment *segment, xoff_time now);
/* `rtt` 0: not known. The store must have XOFF_REL_BLOCKS free blocks. */
struct xoff_tcp_outcome xoff_tcp_on_ack(const struct xoff_tcp_cfg *cfg, struct xoff_tcp_tx *tx,
                                        struct xoff_range_store *store,
                                        const struct xoff_rel_ack *ack, xoff_time rtt,
                                        xoff_time now);
/* Called at head.deadline or later: goes back and doubles the timer. */
void xoff_tcp_on_timeout(const struct xoff_tcp_cfg *cfg, struct xoff_tcp_tx *tx,
                         struct xoff_range_store *store, xoff_time now);
/* Returns the bytes that were sent and are, as far as is known, still in the network (RFC 6675's
 * pipe). */
uint64_t xoff_tcp_outstanding(const struct xoff_tcp_tx *tx);

/* Receiver. */
struct xoff_tcp_rx {
    struct xoff_rel_rx head;          /* first byte not yet received, and the delayed ACK */
    xoff_time echo_at;                /* when the first segment that waits for an ACK was sent */
    uint64_t recent[XOFF_REL_BLOCKS]; /* a byte of each range that grew last, latest first; below
                                       * next: none */
    uint32_t held;                    /* set of ranges beyond a gap */
    uint32_t n_unacked;               /* segments in order since the last ACK */
    uint8_t is_echoing;               /* RFC 3168: a mark has come, and no CWR since */
    uint8_t was_marked;               /* DCTCP.CE of RFC 8257: the last segment's mark */
};

void xoff_tcp_rx_init(struct xoff_tcp_rx *rx);
void xoff_tcp_rx_fini(struct xoff_tcp_rx *rx, struct xoff_range_store *store);
/* Takes a segment that arrived. Returns how many ACKs to send at once, 0 to 2 (DCTCP acknowledges
 * the segments before a change of marks, then the one with the change); `acks` has room for two.
 * `asks`: nothing follows the segment for now. `has_reduced`: the sender says that it has answered
 * the echo (CWR). The store must have a free block. */
uint32_t xoff_tcp_on_segment(const struct xoff_tcp_cfg *cfg, struct xoff_tcp_rx *rx,
                             struct xoff_range_store *store, uint64_t seq, uint32_t bytes,
                             bool is_marked, bool has_reduced, bool asks, xoff_time now,
                             struct xoff_rel_ack acks[2]);
/* Called at head.deadline or later: fills in the delayed ACK. */
void xoff_tcp_on_delayed(const struct xoff_tcp_cfg *cfg, struct xoff_tcp_rx *rx,
                         const struct xoff_range_store *store, struct xoff_rel_ack *ack);

#endif
