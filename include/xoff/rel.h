/* Role rel: the reliability of a flow. It decides what the sender sends next and sends again, what
 * the receiver takes, and what the receiver acknowledges.
 *
 * The sender is told of frames sent, ACKs and expiry, and answers the next segment. The receiver is
 * told of data and expiry, and answers ACKs. How much may be outstanding is decided by the reaction
 * point (rp.h), which is told of the losses found here. cfg belongs to a transport of a host, the
 * two states to a flow at its two ends. The contract is that of every role (role.h).
 *
 * Each state begins with a head that the caller reads without a call: struct xoff_rel_tx and struct
 * xoff_rel_rx. A mechanism keeps the rest of its state behind it.
 *
 * Bytes are numbered from 0. Without ACKs (has_acks is false) a sender forgets what it has sent.
 * Frames then count from the start of their message, since a receiver that missed some could not
 * tell where a message starts.
 */
#ifndef XOFF_REL_H
#define XOFF_REL_H

#include <xoff/ranges.h>
#include <xoff/role.h>

#ifdef __cplusplus
extern "C" {
#endif

#define XOFF_REL_BLOCKS 3 /* ranges that an ACK can name: SACK beside TCP's timestamps */
#define XOFF_REL_ACKS 2   /* ACKs that one data frame can cause */

struct xoff_rel_env {
    uint32_t payload_bytes; /* payload of a full frame */
    xoff_time timeout_for;  /* setting of the host: time without an ACK before sending again */
    xoff_time ack_delay;    /* setting of the host: longest time that an ACK is held back */
    uint32_t ack_every;     /* setting of the host: frames per ACK */
    /* Needs of the rest of the transport. */
    bool needs_acks, has_window, has_telemetry;
    bool reads_each_mark; /* marked bytes must be told from others (DCTCP) */
};

struct xoff_rel_shape {
    size_t tx_size, rx_size; /* bytes of the states, heads included; 0: a head is enough */
    xoff_time timeout_for;   /* used by the default on_sent(); 0: no timer */
    uint32_t tx_blocks;      /* blocks that on_ack() may take from the store of ranges */
    uint32_t rx_blocks;      /* blocks that on_data() may take */
    bool is_cumulative;      /* an ACK (no NACK) between una and both next and sent_to only
                              * moves una there and sets the deadline to timeout_for from now */
    bool names_blocks;       /* ACKs name ranges, for which frames need room */
    bool reorders;           /* the receiver keeps what arrives beyond a gap */
    bool asks_at_end_only;   /* a frame asks for an ACK when nothing is left to send, but not when
                              * the window closes behind it */
};

/* Head of a sender's state. */
struct xoff_rel_tx {
    uint64_t una;       /* oldest byte not acknowledged; without ACKs: start of the message */
    uint64_t next;      /* next byte in sequence */
    uint64_t sent_to;   /* end of all that was ever sent */
    xoff_time deadline; /* when expire() is to be called; XOFF_NEVER: not at all */
};

/* Head of a receiver's state. */
struct xoff_rel_rx {
    uint64_t delivered; /* all below it has arrived; without ACKs: bytes of the current message */
    xoff_time deadline; /* an ACK is held back until then; XOFF_NEVER: none */
    bool is_open;       /* the frame at `delivered` would be taken and acknowledged alone: nothing
                         * else would change */
    uint8_t own[7];     /* for the mechanism, filled by init_rx(): a small state fits here */
};

struct xoff_rel_segment {
    uint64_t seq;
    uint32_t bytes;
    bool is_again;    /* the segment may have arrived before */
    bool has_reduced; /* the sender has answered the echo of a mark (TCP's CWR) */
    bool is_last;     /* the segment ends its message; filled by the caller before on_sent() */
};

/* Bits of a data frame. */
enum {
    XOFF_REL_MARKED = 2,   /* congestion experienced */
    XOFF_REL_ASKS = 4,     /* nothing follows the frame for now */
    XOFF_REL_REDUCED = 16, /* xoff_rel_segment.has_reduced */
};

struct xoff_rel_data {
    uint64_t seq;
    xoff_time sent_at;
    uint32_t bytes; /* payload */
    uint32_t bits;  /* XOFF_REL_MARKED, ... */
};

/* An ACK or NACK. */
struct xoff_rel_ack {
    uint64_t acked_to;           /* next byte that the receiver expects */
    xoff_time sent_at;           /* when the frame was sent whose round trip this ACK measures */
    uint16_t n_frames, n_marked; /* frames it covers and how many were marked; 0: not counted */
    uint8_t n_sacks;
    bool is_nack; /* bytes beyond acked_to arrived and were thrown away */
    bool echo;    /* echo of marks */
    uint64_t sack_from[XOFF_REL_BLOCKS], sack_to[XOFF_REL_BLOCKS];
};

/* Bits that on_ack() returns. */
enum {
    XOFF_REL_LOST = 1,       /* a loss episode begins: the reaction point is told, once */
    XOFF_REL_RECOVERING = 2, /* a loss is being repaired after this ACK */
};

/* The format of frames on the wire. */
enum xoff_rel_format { XOFF_REL_AS_ROCE, XOFF_REL_AS_DATAGRAM, XOFF_REL_AS_TCP };

struct xoff_rel_ops {
    const char *name, *summary;
    const struct xoff_param *params;
    size_t params_size, cfg_size, cfg_port_size;
    bool has_acks;
    enum xoff_rel_format format;
    int (*configure)(const void *params, const struct xoff_rel_env *env, void *cfg,
                     struct xoff_rel_shape *shape, struct xoff_err *err);

    /* Sender. The caller has filled the head; NULL: there is nothing behind it. */
    void (*init_tx)(const void *cfg, struct xoff_rel_tx *tx);
    void (*fini_tx)(struct xoff_rel_tx *tx, struct xoff_range_store *store); /* NULL: nothing */
    /* Finds what may be sent now: at most a full segment, below `end` and within the window. False:
     * nothing. The call changes no state; the caller may cut the segment shorter. NULL: the bytes
     * from `next` on, while next - una is below the window. */
    bool (*next)(const void *cfg, const struct xoff_rel_tx *tx,
                 const struct xoff_range_store *store, uint64_t end, uint64_t window_bytes,
                 struct xoff_rel_segment *segment);
    /* NULL: `next` moves behind the segment, and `sent_to` with it; if no deadline is set, it
     * becomes now + shape.timeout_for. */
    void (*on_sent)(const void *cfg, struct xoff_rel_tx *tx, const struct xoff_rel_segment *segment,
                    xoff_time now);
    /* `rtt` 0: not known. The store has shape.tx_blocks free blocks. NULL: there are no ACKs. */
    unsigned (*on_ack)(const void *cfg, struct xoff_rel_tx *tx, struct xoff_range_store *store,
                       const struct xoff_rel_ack *ack, xoff_time rtt, xoff_time now);
    /* Called at the deadline or later: prepares to send again what is missing. NULL: there is no
     * deadline. */
    void (*expire)(const void *cfg, struct xoff_rel_tx *tx, struct xoff_range_store *store,
                   xoff_time now);
    /* Returns the bytes that were sent and are, as far as is known, still in the network. NULL:
     * next - una. */
    uint64_t (*outstanding)(const struct xoff_rel_tx *tx);

    /* Receiver. The caller has filled the head; NULL: there is nothing behind it. */
    void (*init_rx)(const void *cfg, struct xoff_rel_rx *rx);
    void (*fini_rx)(struct xoff_rel_rx *rx, struct xoff_range_store *store); /* NULL: nothing */
    /* Returns how many ACKs to send at once; `acks` has room for XOFF_REL_ACKS. The store has
     * shape.rx_blocks free blocks. NULL: frames are taken in any order, and nothing is answered;
     * `delivered` counts the bytes of one message, and the first frame of another message means
     * that the missing bytes of the last one are lost. */
    uint32_t (*on_data)(const void *cfg, struct xoff_rel_rx *rx, struct xoff_range_store *store,
                        const struct xoff_rel_data *data, xoff_time now, struct xoff_rel_ack *acks);
    /* Called at the deadline or later: fills in the ACK that was held back. NULL: no ACK ever is.
     */
    void (*expire_rx)(const void *cfg, struct xoff_rel_rx *rx, const struct xoff_range_store *store,
                      struct xoff_rel_ack *ack);
    /* Takes data of a flow that arrived whole before and has no state left. Fills in the ACK that
     * tells the sender so. NULL: nothing is answered. */
    void (*on_late)(const void *cfg, const struct xoff_rel_data *data, struct xoff_rel_ack *ack);
};

struct xoff_rel {
    const struct xoff_rel_ops *ops;
    const void *cfg;
    struct xoff_rel_shape shape;
};

XOFF_ROLE(rel)

/* Tells whether the inline defaults decide what may be sent, so that no call is needed. */
static inline bool xoff_rel_is_sequential(const struct xoff_rel *r)
{
    return !r->ops->next;
}

static inline void xoff_rel_init_tx(const struct xoff_rel *r, struct xoff_rel_tx *tx)
{
    tx->una = tx->next = tx->sent_to = 0;
    tx->deadline = XOFF_NEVER;
    if (r->ops->init_tx)
        r->ops->init_tx(r->cfg, tx);
}

static inline void xoff_rel_fini_tx(const struct xoff_rel *r, struct xoff_rel_tx *tx,
                                    struct xoff_range_store *store)
{
    if (r->ops->fini_tx)
        r->ops->fini_tx(tx, store);
}

/* Tells whether the default of next() finds something to send. */
static inline bool xoff_rel_has_next(const struct xoff_rel_tx *tx, uint64_t end,
                                     uint64_t window_bytes)
{
    return tx->next < end && tx->next - tx->una < window_bytes;
}

/* The default of next(). `max_bytes` is the payload of a full frame of the flow. */
static inline bool xoff_rel_next_in_sequence(const struct xoff_rel_tx *tx, uint64_t end,
                                             uint64_t window_bytes, uint32_t max_bytes,
                                             struct xoff_rel_segment *segment)
{
    if (!xoff_rel_has_next(tx, end, window_bytes))
        return false;
    const uint64_t left = end - tx->next;
    segment->seq = tx->next;
    segment->bytes = left < max_bytes ? (uint32_t)left : max_bytes;
    segment->is_again = tx->next < tx->sent_to;
    segment->has_reduced = segment->is_last = false;
    return true;
}

static inline bool xoff_rel_next(const struct xoff_rel *r, const struct xoff_rel_tx *tx,
                                 const struct xoff_range_store *store, uint64_t end,
                                 uint64_t window_bytes, uint32_t max_bytes,
                                 struct xoff_rel_segment *segment)
{
    if (xoff_rel_is_sequential(r))
        return xoff_rel_next_in_sequence(tx, end, window_bytes, max_bytes, segment);
    if (!r->ops->next(r->cfg, tx, store, end, window_bytes, segment))
        return false;
    if (segment->bytes > max_bytes)
        segment->bytes = max_bytes;
    return true;
}

static inline void xoff_rel_on_sent(const struct xoff_rel *r, struct xoff_rel_tx *tx,
                                    const struct xoff_rel_segment *segment, xoff_time now)
{
    if (r->ops->on_sent) {
        r->ops->on_sent(r->cfg, tx, segment, now);
        return;
    }
    tx->next += segment->bytes;
    if (tx->next > tx->sent_to)
        tx->sent_to = tx->next;
    if (tx->deadline == XOFF_NEVER && r->shape.timeout_for)
        tx->deadline = now + r->shape.timeout_for;
}

static inline unsigned xoff_rel_on_ack(const struct xoff_rel *r, struct xoff_rel_tx *tx,
                                       struct xoff_range_store *store,
                                       const struct xoff_rel_ack *ack, xoff_time rtt, xoff_time now)
{
    return r->ops->on_ack(r->cfg, tx, store, ack, rtt, now);
}

/* Takes an ACK of the kind that is_cumulative describes, without a call. False: call on_ack(). */
static inline bool xoff_rel_advance(const struct xoff_rel *r, struct xoff_rel_tx *tx,
                                    uint64_t acked_to, xoff_time now)
{
    if (!r->shape.is_cumulative || acked_to <= tx->una || acked_to > tx->next ||
        acked_to >= tx->sent_to)
        return false;
    tx->una = acked_to;
    tx->deadline = now + r->shape.timeout_for;
    return true;
}

static inline void xoff_rel_expire(const struct xoff_rel *r, struct xoff_rel_tx *tx,
                                   struct xoff_range_store *store, xoff_time now)
{
    r->ops->expire(r->cfg, tx, store, now);
}

static inline uint64_t xoff_rel_outstanding(const struct xoff_rel *r, const struct xoff_rel_tx *tx)
{
    return r->ops->outstanding ? r->ops->outstanding(tx) : tx->next - tx->una;
}

static inline void xoff_rel_init_rx(const struct xoff_rel *r, struct xoff_rel_rx *rx)
{
    rx->delivered = 0;
    rx->deadline = XOFF_NEVER;
    rx->is_open = false;
    if (r->ops->init_rx)
        r->ops->init_rx(r->cfg, rx);
}

static inline void xoff_rel_fini_rx(const struct xoff_rel *r, struct xoff_rel_rx *rx,
                                    struct xoff_range_store *store)
{
    if (r->ops->fini_rx)
        r->ops->fini_rx(rx, store);
}

/* Takes a frame of the kind that is_open describes, without a call. False: call on_data(). */
static inline bool xoff_rel_take(struct xoff_rel_rx *rx, uint64_t seq, uint32_t bytes,
                                 xoff_time sent_at, bool is_marked, struct xoff_rel_ack *ack)
{
    if (!rx->is_open || seq != rx->delivered)
        return false;
    rx->delivered += bytes;
    ack->acked_to = rx->delivered;
    ack->sent_at = sent_at;
    ack->n_frames = 1;
    ack->n_marked = is_marked;
    ack->n_sacks = 0;
    ack->is_nack = false;
    ack->echo = is_marked;
    return true;
}

static inline bool xoff_rel_is_loose(const struct xoff_rel *r)
{
    return !r->ops->on_data;
}

/* The default of on_data(). */
static inline void xoff_rel_count(struct xoff_rel_rx *rx, bool is_other_message, uint32_t bytes)
{
    rx->delivered = (is_other_message ? 0 : rx->delivered) + bytes;
}

/* Must only be called if the mechanism has an on_data(). */
static inline uint32_t xoff_rel_on_data(const struct xoff_rel *r, struct xoff_rel_rx *rx,
                                        struct xoff_range_store *store,
                                        const struct xoff_rel_data *data, xoff_time now,
                                        struct xoff_rel_ack *acks)
{
    return r->ops->on_data(r->cfg, rx, store, data, now, acks);
}

static inline void xoff_rel_expire_rx(const struct xoff_rel *r, struct xoff_rel_rx *rx,
                                      const struct xoff_range_store *store,
                                      struct xoff_rel_ack *ack)
{
    r->ops->expire_rx(r->cfg, rx, store, ack);
}

/* Returns whether there is an ACK to send. */
static inline bool xoff_rel_on_late(const struct xoff_rel *r, const struct xoff_rel_data *data,
                                    struct xoff_rel_ack *ack)
{
    if (r->ops->on_late)
        r->ops->on_late(r->cfg, data, ack);
    return r->ops->on_late != NULL;
}

#ifdef __cplusplus
}
#endif

#endif
