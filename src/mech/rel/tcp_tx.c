/* TCP's sender: what is lost, what to send next, and the retransmission timer.
 *
 * Sources: RFC 6675 (loss recovery by SACK), RFC 6582 (NewReno, without SACK), RFC 3042 (limited
 * transmit), RFC 6298 (timer), DeTail (Zats et al., 2012; no fast retransmit).
 *
 * The bytes from una to sent_to are acknowledged out of order (left), lost and not retransmitted
 * (lost), or in the network: outstanding = sent_to - una - left - lost, RFC 6675's pipe. Losses
 * have a boundary: bytes below lost_to that are not SACKed are lost. Retransmission goes through
 * these holes once, in order, and again_to says how far it got. In fast recovery lost_to rises as
 * more is SACKed; a timeout sets it to sent_to and begins again at una. Without SACK the only known
 * hole is the segment at una, and each duplicate ACK stands for a segment that has left the
 * network.
 *
 *            lost by SACK or duplicates
 *   OPEN ----------------------------------> RECOVERING
 *    ^  ^        recover acknowledged         |   |
 *    |  +-------------------------------------+   | timeout
 *    |           recover acknowledged             v
 *    +-----------------------------------------  REPAIRING (timeout: from OPEN too, and again)
 *
 * Differs: the window bounds the bytes outstanding, in all states; RFC 5681 bounds all bytes that
 * are not acknowledged while nothing is lost. For up to `duplicates` - 1 segments that is limited
 * transmit.
 * Differs: RFC 6675's NextSeg rule 3 (a hole not yet lost, when there is nothing new to send)
 * counts its bytes once in the pipe, not twice as original and copy.
 * Differs: the rescue retransmission (rule 4) waits for a partial ACK and takes only bytes beyond
 * all that were SACKed or sent again. Before a partial ACK the tail is probably just on its way,
 * and losses of retransmissions are left to the timer.
 * Differs: SACK information survives a timeout. RFC 2018 8 discards it, in case the receiver drops
 * what it had SACKed; the receiver here never does.
 * Differs: a new ACK ends the backoff (RFC 6298 5.7 with Karn waits for a measured round trip). RFC
 * 6582's timer is restarted by each partial ACK (its slow-but-steady variant); sending una again
 * restarts it too (RFC 6675 6 lets every retransmission do so).
 */
#include "mech/rel/tcp.h"

void xoff_tcp_tx_init(const struct xoff_tcp_cfg *cfg, struct xoff_tcp_tx *tx)
{
    *tx = (struct xoff_tcp_tx){
        .head.deadline = XOFF_NEVER,
        .rto = cfg->rto_initial,
        .sacked = XOFF_RANGE_NONE,
        .state = XOFF_TCP_OPEN,
    };
}

void xoff_tcp_tx_fini(struct xoff_tcp_tx *tx, struct xoff_range_store *store)
{
    xoff_ranges_clear(store, &tx->sacked);
    tx->sacked_bytes = 0;
}

uint64_t xoff_tcp_outstanding(const struct xoff_tcp_tx *tx)
{
    return tx->head.sent_to - tx->head.una - tx->left_bytes - tx->lost_bytes;
}

static uint64_t tx_min(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t tx_max(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* Returns the byte at which retransmission continues. */
static uint64_t tx_again_from(const struct xoff_tcp_tx *tx)
{
    return tx_max(tx->again_to, tx->head.una);
}

/* Finds what to send again although it is not known to be lost, when there is nothing else to send:
 * RFC 6675 4, NextSeg() rules 3 and 4. Returns its length, 0: nothing. */
static uint64_t tx_extra(const struct xoff_tcp_cfg *cfg, const struct xoff_tcp_tx *tx,
                         const struct xoff_range_store *store, uint64_t *from)
{
    if (tx->state != XOFF_TCP_RECOVERING || !cfg->has_sack)
        return 0;
    uint64_t end;
    *from = xoff_ranges_gap(store, tx->sacked, tx_again_from(tx), &end);
    if (end != UINT64_MAX)
        return end - *from;
    if (!tx->has_partial || tx->has_rescued || *from >= tx->head.sent_to)
        return 0;
    if (tx->head.sent_to - *from > cfg->mss)
        *from =
            tx->head.sent_to - cfg->mss; /* the last bytes: their SACK shows the hole before them */
    return tx->head.sent_to - *from;
}

bool xoff_tcp_next(const struct xoff_tcp_cfg *cfg, const struct xoff_tcp_tx *tx,
                   const struct xoff_range_store *store, uint64_t offered, uint64_t window_bytes,
                   struct xoff_rel_segment *segment)
{
    uint64_t from = tx->head.sent_to, bytes;
    bool is_again = true, is_urgent = false;
    if (tx->lost_bytes > 0) {
        uint64_t end;
        from = xoff_ranges_gap(store, tx->sacked, tx_again_from(tx), &end);
        bytes = tx_min(end, tx->lost_to) - from;
        is_urgent = tx->state == XOFF_TCP_RECOVERING && tx->again_to <= tx->head.una;
    } else if (offered > tx->head.sent_to) {
        bytes = offered - tx->head.sent_to;
        is_again = false;
    } else {
        bytes = tx_extra(cfg, tx, store, &from);
        if (bytes == 0)
            return false;
    }
    bytes = tx_min(bytes, cfg->mss);
    const uint64_t outstanding = xoff_tcp_outstanding(tx);
    if (!is_urgent && (outstanding > window_bytes || bytes > window_bytes - outstanding)) {
        /* A partial segment is sent only if no ACK can come to widen the window. */
        if (outstanding > 0 || window_bytes == 0)
            return false;
        bytes = window_bytes;
    }
    *segment = (struct xoff_rel_segment){.seq = from,
                                         .bytes = (uint32_t)bytes,
                                         .is_again = is_again,
                                         .has_reduced = !is_again && tx->has_reduced};
    return true;
}

/* RFC 6298 5.5: the timeout doubles with each expiry, up to rto_max. */
static xoff_time tx_timeout(const struct xoff_tcp_cfg *cfg, const struct xoff_tcp_tx *tx)
{
    return tx->rto > cfg->rto_max >> tx->backoff ? cfg->rto_max : tx->rto << tx->backoff;
}

void xoff_tcp_on_sent(const struct xoff_tcp_cfg *cfg, struct xoff_tcp_tx *tx,
                      const struct xoff_rel_segment *segment, xoff_time now)
{
    const uint64_t end = segment->seq + segment->bytes;
    if (!segment->is_again) {
        XOFF_ASSERT(segment->seq == tx->head.sent_to);
        tx->head.sent_to = tx->head.next = end;
        tx->has_reduced &= !segment->has_reduced;
    } else {
        XOFF_ASSERT(tx->state != XOFF_TCP_OPEN);
        XOFF_ASSERT(segment->seq >= tx_again_from(tx) && end <= tx->head.sent_to);
        if (segment->seq < tx->lost_to)
            tx->lost_bytes -= segment->bytes;
        if (segment->seq < tx->lost_to || segment->seq < tx->sacked_to)
            tx->again_to = end;
        else
            tx->has_rescued = true; /* again_to stays, as there may be holes before it */
    }
    if (tx->head.deadline == XOFF_NEVER || (segment->is_again && segment->seq == tx->head.una))
        tx->head.deadline = xoff_time_after(now, tx_timeout(cfg, tx));
}

/* RFC 6298 2.2 and 2.3. The clock is exact, so its granularity G sets no lower bound. */
static void tx_measure(const struct xoff_tcp_cfg *cfg, struct xoff_tcp_tx *tx, xoff_time rtt)
{
    if (tx->srtt == 0) {
        tx->srtt = rtt;
        tx->rttvar = rtt / 2;
    } else {
        const xoff_time error = rtt > tx->srtt ? rtt - tx->srtt : tx->srtt - rtt;
        tx->rttvar += (error - tx->rttvar) / 4;
        tx->srtt += (rtt - tx->srtt) / 8;
    }
    const xoff_time rto = tx->srtt + 4 * tx->rttvar;
    tx->rto = rto < cfg->rto_min ? cfg->rto_min : xoff_time_min(rto, cfg->rto_max);
}

/* Returns the bytes that were not SACKed before. */
static uint64_t tx_take_sacks(struct xoff_tcp_tx *tx, struct xoff_range_store *store,
                              const struct xoff_rel_ack *ack)
{
    uint64_t fresh_bytes = 0;
    for (uint32_t i = 0; i < ack->n_sacks; i++) {
        XOFF_ASSERT(ack->sack_to[i] <= tx->head.sent_to);
        /* A late ACK may name bytes that have been acknowledged since. */
        const uint64_t from = tx_max(ack->sack_from[i], tx->head.una);
        fresh_bytes += xoff_ranges_add(store, &tx->sacked, from, ack->sack_to[i]);
        tx->sacked_to = tx_max(tx->sacked_to, ack->sack_to[i]);
    }
    tx->sacked_bytes += fresh_bytes;
    return fresh_bytes;
}

/* RFC 6675 4, IsLost(): a byte is lost when `duplicates` separate ranges, or more than (duplicates
 * - 1) * mss bytes, are SACKed above it. Both numbers fall with rising bytes, so there is a
 * boundary: the start of the highest range such that it and those above it are enough. */
static uint64_t tx_find_lost_to(const struct xoff_tcp_cfg *cfg, const struct xoff_tcp_tx *tx,
                                const struct xoff_range_store *store)
{
    uint64_t n_ranges = 0, bytes = tx->sacked_bytes, lost_to = tx->head.una;
    for (uint32_t at = tx->sacked; at != XOFF_RANGE_NONE; at = store->blocks[at].next)
        n_ranges++;
    for (uint32_t at = tx->sacked; at != XOFF_RANGE_NONE; at = store->blocks[at].next) {
        const struct xoff_range *const range = &store->blocks[at];
        if (n_ranges < cfg->duplicates && bytes <= (uint64_t)(cfg->duplicates - 1) * cfg->mss)
            break;
        lost_to = range->from;
        bytes -= range->to - range->from;
        n_ranges--;
    }
    return lost_to;
}

/* RFC 6675 5 (4): the first segment is lost, whatever showed the loss. */
static void tx_recover(const struct xoff_tcp_cfg *cfg, struct xoff_tcp_tx *tx,
                       const struct xoff_range_store *store)
{
    uint64_t end;
    xoff_ranges_gap(store, tx->sacked, tx->head.una, &end);
    tx->state = XOFF_TCP_RECOVERING;
    tx->recover = tx->head.sent_to;
    tx->again_to = tx->head.una;
    tx->lost_to = tx_min(tx_min(end, tx->head.sent_to), tx->head.una + cfg->mss);
    tx->lost_bytes = tx->lost_to - tx->head.una;
    tx->has_partial = tx->has_rescued = false;
}

/* Takes the SACKs of an ACK. Returns whether a loss episode begins. */
static bool tx_on_sacks(const struct xoff_tcp_cfg *cfg, struct xoff_tcp_tx *tx,
                        const struct xoff_range_store *store, bool has_moved, bool is_duplicate)
{
    bool has_lost = false;
    if (cfg->has_fast_retransmit && tx->state != XOFF_TCP_REPAIRING) {
        if (has_moved)
            tx->n_duplicates = 0;
        if (is_duplicate)
            tx->n_duplicates++;
        const uint64_t lost_to = tx_find_lost_to(cfg, tx, store);
        if (tx->state == XOFF_TCP_OPEN &&
            (lost_to > tx->head.una || tx->n_duplicates >= cfg->duplicates)) {
            tx_recover(cfg, tx, store);
            has_lost = true;
        }
        if (tx->state == XOFF_TCP_RECOVERING)
            tx->lost_to = tx_max(tx->lost_to, lost_to);
    }
    tx->left_bytes =
        cfg->has_fast_retransmit || tx->state == XOFF_TCP_REPAIRING ? tx->sacked_bytes : 0;
    if (tx->state != XOFF_TCP_OPEN) {
        const uint64_t from = tx_again_from(tx);
        tx->lost_bytes = 0;
        if (from < tx->lost_to)
            tx->lost_bytes = tx->lost_to - from - xoff_ranges_above(store, tx->sacked, from) +
                             xoff_ranges_above(store, tx->sacked, tx->lost_to);
    }
    return has_lost;
}

/* Takes an ACK without SACK while nothing is known to be lost. Returns whether a loss episode
 * begins. */
static bool tx_on_plain_open(const struct xoff_tcp_cfg *cfg, struct xoff_tcp_tx *tx,
                             const struct xoff_range_store *store, bool has_moved,
                             bool is_duplicate)
{
    if (has_moved)
        tx->n_duplicates = 0, tx->left_bytes = 0;
    if (!is_duplicate)
        return false;
    tx->n_duplicates++;
    /* RFC 6582 3.2 step 2: a new episode needs an ACK beyond all that was sent in the last one,
     * since duplicates may come from segments that were sent twice in it. */
    const bool has_lost =
        tx->n_duplicates >= cfg->duplicates && (tx->head.una > tx->recover || tx->recover == 0);
    if (has_lost)
        tx_recover(cfg, tx, store);
    if (has_lost || tx->n_duplicates < cfg->duplicates)
        tx->left_bytes += cfg->mss; /* RFC 3042: each duplicate allows one new segment */
    return has_lost;
}

/* Takes an ACK without SACK. Each duplicate is a segment that has left the network. A partial ACK
 * of n bytes cancels what the duplicates said of those bytes, except for the segment that was sent
 * again (RFC 6582 3.2 step 3: deflate by n, add back one segment), and shows the next hole. Returns
 * whether a loss episode begins. */
static bool tx_on_plain(const struct xoff_tcp_cfg *cfg, struct xoff_tcp_tx *tx,
                        const struct xoff_range_store *store, uint64_t newly_acked_bytes,
                        bool is_duplicate)
{
    bool has_lost = false;
    if (tx->state == XOFF_TCP_OPEN) {
        has_lost = tx_on_plain_open(cfg, tx, store, newly_acked_bytes > 0, is_duplicate);
    } else if (tx->state == XOFF_TCP_REPAIRING) {
        const uint64_t from = tx_again_from(tx);
        tx->lost_bytes = from < tx->lost_to ? tx->lost_to - from : 0;
    } else if (newly_acked_bytes > 0) {
        const uint64_t arrived = newly_acked_bytes - tx_min(newly_acked_bytes, cfg->mss);
        tx->left_bytes -= tx_min(tx->left_bytes, arrived);
        tx->again_to = tx->head.una;
        tx->lost_to = tx_min(tx->head.una + cfg->mss, tx->head.sent_to);
        tx->lost_bytes = tx->lost_to - tx->head.una;
    } else if (is_duplicate) {
        tx->left_bytes += cfg->mss;
    }
    /* The segment at una has not left the network, however many duplicates there are. */
    const uint64_t sent_bytes = tx->head.sent_to - tx->head.una;
    tx->left_bytes = tx_min(tx->left_bytes, sent_bytes - tx_min(sent_bytes, cfg->mss));
    return has_lost;
}

struct xoff_tcp_outcome xoff_tcp_on_ack(const struct xoff_tcp_cfg *cfg, struct xoff_tcp_tx *tx,
                                        struct xoff_range_store *store,
                                        const struct xoff_rel_ack *ack, xoff_time rtt,
                                        xoff_time now)
{
    struct xoff_tcp_outcome outcome = {0};
    XOFF_ASSERT(ack->acked_to <= tx->head.sent_to);
    if (rtt > 0)
        tx_measure(cfg, tx, rtt);
    bool is_duplicate = ack->acked_to == tx->head.una && tx->head.una < tx->head.sent_to;
    if (ack->acked_to > tx->head.una) {
        /* Bytes that were SACKed right behind acked_to have arrived, too. A receiver that has
         * forgotten a finished transfer acknowledges repeated segments one by one. */
        uint64_t end;
        const uint64_t acked_to = xoff_ranges_gap(store, tx->sacked, ack->acked_to, &end);
        outcome.newly_acked_bytes = acked_to - tx->head.una;
        tx->head.una = acked_to;
        tx->sacked_bytes -= xoff_ranges_trim(store, &tx->sacked, tx->head.una);
        tx->has_partial = true;
        tx->backoff = 0;
        /* RFC 6298 5.2 and 5.3: progress restarts the timer, and the last ACK stops it. */
        tx->head.deadline = tx->head.una == tx->head.sent_to
                                ? XOFF_NEVER
                                : xoff_time_after(now, tx_timeout(cfg, tx));
        if (tx->state != XOFF_TCP_OPEN && tx->head.una >= tx->recover) {
            tx->state = XOFF_TCP_OPEN;
            tx->lost_bytes = 0;
        }
    }
    if (cfg->has_sack) {
        is_duplicate = tx_take_sacks(tx, store, ack) > 0; /* RFC 6675 2 */
        outcome.has_lost = tx_on_sacks(cfg, tx, store, outcome.newly_acked_bytes > 0, is_duplicate);
    } else {
        outcome.has_lost = tx_on_plain(cfg, tx, store, outcome.newly_acked_bytes,
                                       is_duplicate && cfg->has_fast_retransmit);
    }
    outcome.is_recovering = tx->state == XOFF_TCP_RECOVERING;
    /* RFC 3168 6.1.2: the receiver repeats its echo until the sender says that it has answered. The
     * sender answers once for each window of data. */
    if (ack->echo && tx->head.una > tx->echo_to) {
        tx->has_reduced = true;
        tx->echo_to = tx->head.sent_to;
    }
    return outcome;
}

void xoff_tcp_on_timeout(const struct xoff_tcp_cfg *cfg, struct xoff_tcp_tx *tx,
                         struct xoff_range_store *store, xoff_time now)
{
    (void)store; /* SACK information is kept */
    XOFF_ASSERT(now >= tx->head.deadline);
    XOFF_ASSERT(tx->head.una < tx->head.sent_to);
    tx->state = XOFF_TCP_REPAIRING;
    tx->recover = tx->lost_to = tx->head.sent_to;
    tx->again_to = tx->head.una;
    tx->left_bytes = tx->sacked_bytes;
    tx->lost_bytes = tx->head.sent_to - tx->head.una - tx->sacked_bytes;
    if (tx_timeout(cfg, tx) < cfg->rto_max)
        tx->backoff++;
    tx->head.deadline = xoff_time_after(now, tx_timeout(cfg, tx));
}
