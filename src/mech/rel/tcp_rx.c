/* TCP's receiver: reorder buffer, when to acknowledge, SACK blocks, echo of congestion marks.
 *
 * Sources: RFC 5681 4.2 and RFC 1122 4.2.3.2 (delayed ACKs), RFC 2018 4 (SACK blocks), RFC 3168
 * 6.1.3 and RFC 8257 3.2 (echo).
 *
 * A segment in order, with nothing held beyond a gap, is acknowledged with the ack_every-th of its
 * kind or when delayed_ack has passed since the first of them. All others are acknowledged at once:
 * beyond a gap, filling one wholly or in part, a duplicate, and one that asks.
 *
 * Echo of RFC 3168: ACKs carry ECE from the first marked segment until one that says CWR (if that
 * one is marked itself, ECE continues). Echo of DCTCP: an ACK carries the mark that all its
 * segments share. When a segment's mark differs from the last one's, the segments before it are
 * acknowledged first, with the old echo; then the segment is treated as any other.
 *
 * RFC 2018 wants the range of the segment that caused the ACK first, then the ranges that were most
 * recently reported first. `recent` has one byte of each range: ranges merge, but a byte stays in
 * its range.
 * Differs: blocks left over name the lowest ranges that are not named yet. D-SACK (RFC 2883) is
 * left out. A change of marks sends an ACK for the segments before it only if some are
 * unacknowledged; RFC 8257 always sends one, but a duplicate ACK would look like a loss.
 */
#include "mech/rel/tcp.h"

void xoff_tcp_rx_init(struct xoff_tcp_rx *rx)
{
    *rx = (struct xoff_tcp_rx){.head.deadline = XOFF_NEVER, .held = XOFF_RANGE_NONE};
}

void xoff_tcp_rx_fini(struct xoff_tcp_rx *rx, struct xoff_range_store *store)
{
    xoff_ranges_clear(store, &rx->held);
}

static void rx_name(struct xoff_rel_ack *ack, const struct xoff_range *range)
{
    for (uint32_t i = 0; i < ack->n_sacks; i++)
        if (ack->sack_from[i] == range->from)
            return;
    ack->sack_from[ack->n_sacks] = range->from;
    ack->sack_to[ack->n_sacks] = range->to;
    ack->n_sacks++;
}

/* Makes the ACK for the present state; nothing is left unacknowledged. */
static struct xoff_rel_ack rx_acknowledge(const struct xoff_tcp_cfg *cfg, struct xoff_tcp_rx *rx,
                                          const struct xoff_range_store *store)
{
    struct xoff_rel_ack ack = {
        .acked_to = rx->head.delivered,
        .echo = cfg->echo == XOFF_TCP_ECHO_DCTCP ? rx->was_marked : rx->is_echoing,
    };
    rx->n_unacked = 0;
    rx->head.deadline = XOFF_NEVER;
    if (!cfg->has_sack || rx->held == XOFF_RANGE_NONE)
        return ack;
    for (uint32_t i = 0; i < XOFF_REL_BLOCKS; i++) {
        const uint32_t at = xoff_ranges_find(store, rx->held, rx->recent[i]);
        if (at != XOFF_RANGE_NONE)
            rx_name(&ack, &store->blocks[at]);
    }
    uint32_t at = rx->held;
    for (; at != XOFF_RANGE_NONE && ack.n_sacks < XOFF_REL_BLOCKS; at = store->blocks[at].next)
        rx_name(&ack, &store->blocks[at]);
    return ack;
}

/* Makes the range with byte `seq` the most recent, and removes older bytes of the same range. */
static void rx_note(struct xoff_tcp_rx *rx, const struct xoff_range_store *store, uint64_t seq)
{
    const struct xoff_range *const range = &store->blocks[xoff_ranges_find(store, rx->held, seq)];
    uint64_t noted[XOFF_REL_BLOCKS] = {seq};
    uint32_t n_noted = 1;
    for (uint32_t i = 0; i < XOFF_REL_BLOCKS && n_noted < XOFF_REL_BLOCKS; i++)
        if (rx->recent[i] < range->from || rx->recent[i] >= range->to)
            noted[n_noted++] = rx->recent[i];
    for (uint32_t i = 0; i < XOFF_REL_BLOCKS; i++)
        rx->recent[i] = noted[i];
}

/* Stores the bytes. Returns whether the segment must be acknowledged at once. */
static bool rx_store(struct xoff_tcp_rx *rx, struct xoff_range_store *store, uint64_t seq,
                     uint32_t bytes)
{
    const uint64_t end = seq + bytes;
    if (end <= rx->head.delivered)
        return true;
    if (seq > rx->head.delivered) {
        xoff_ranges_add(store, &rx->held, seq, end);
        rx_note(rx, store, seq);
        return true;
    }
    const bool is_plain = seq == rx->head.delivered && rx->held == XOFF_RANGE_NONE;
    uint64_t gap_end;
    rx->head.delivered = xoff_ranges_gap(store, rx->held, end, &gap_end);
    xoff_ranges_trim(store, &rx->held, rx->head.delivered);
    return !is_plain;
}

uint32_t xoff_tcp_on_segment(const struct xoff_tcp_cfg *cfg, struct xoff_tcp_rx *rx,
                             struct xoff_range_store *store, uint64_t seq, uint32_t bytes,
                             bool is_marked, bool has_reduced, bool asks, xoff_time now,
                             struct xoff_rel_ack acks[2])
{
    uint32_t n_acks = 0;
    XOFF_ASSERT(bytes > 0);
    if (cfg->echo == XOFF_TCP_ECHO_DCTCP && is_marked != rx->was_marked && rx->n_unacked > 0)
        acks[n_acks++] = rx_acknowledge(cfg, rx, store);
    rx->was_marked = is_marked;
    if (has_reduced)
        rx->is_echoing = false;
    if (is_marked)
        rx->is_echoing = true;

    const bool is_at_once = rx_store(rx, store, seq, bytes) || asks || cfg->delayed_ack == 0;
    if (is_at_once || ++rx->n_unacked >= cfg->ack_every)
        acks[n_acks++] = rx_acknowledge(cfg, rx, store);
    else if (rx->head.deadline == XOFF_NEVER)
        rx->head.deadline = xoff_time_after(now, cfg->delayed_ack);
    return n_acks;
}

void xoff_tcp_on_delayed(const struct xoff_tcp_cfg *cfg, struct xoff_tcp_rx *rx,
                         const struct xoff_range_store *store, struct xoff_rel_ack *ack)
{
    XOFF_ASSERT(rx->head.deadline != XOFF_NEVER);
    *ack = rx_acknowledge(cfg, rx, store);
}
