/* Targeted PFC: a congested egress queue first pauses those who crowd it, and everyone only when
 * that was not enough.
 *
 * Source: "Fairness in a data center", 7.2 and Appendices A and B. An egress queue (port, priority)
 * of a lossless priority has three watermarks, LW < TW < HW. With q bytes in it before the frame:
 *
 *   frame joins, q >= HW:        every ingress port of the switch is paused
 *   frame joins, HW > q >= TW:   targets are chosen among the ports that sent what is in the queue
 *     targeting: random          the port that sent a frame drawn uniformly from the queue
 *     targeting: fair            every port with more than total / N of it; N ports have some
 *   frame leaves, q <= LW after: every port that this queue has paused goes on
 *
 * Targets are chosen by the first frame from TW on and then by every k-th (`every`), anew once the
 * queue has been below TW, or at LW (`rearm`). N of TW = HW - N * F is configured, or counted in
 * the queue: the ports with frames in it, or with more than the fair share of it (`count`).
 *
 * A frame that is lost decides nothing. q counts frames from admission on, those under way inside
 * the switch too. A port that several queues hold goes on when the last lets go (holds.h).
 *
 * Statistics: `kept` counts what each port has in each queue as frames come and go; `scan` keeps a
 * list of the frames and counts them when targets are chosen. Both answer alike; the first costs
 * the same for any queue, the second is what a switch without statistics would have to do. The list
 * has room for a buffer full of smallest frames. Where more comes (mmu: ns3 may hold more than its
 * size; a trial sends without end) counts are kept from then on.
 *
 * A choice concerns ports that are not held yet, and most enqueues need not look at any:
 *   random   the draw falls into [0, total), where the frames of held ports come first: a port is
 *            looked up only for a draw behind them.
 *   fair     `most` bounds what any port that is not held has. Arrivals raise it, a walk over all
 *            ports makes it exact again. While most * N <= total nobody is above the fair share.
 *
 * Differs: the paper counts frames of full size; watermarks are bytes here, shares either.
 * Differs: eq. 7.1 writes TW = N * F, which is the space that N targets need, not a length to act
 * at; tw: auto is HW - N * F. docs/mechanisms/tpfc.md compares the two.
 */
#include <string.h>

#include "mech/mechanisms.h"
#include "mech/pause/tpfc.h"

#define NO_RECORD UINT32_MAX
#define UNKNOWN UINT32_MAX

static void tpfc_init(const void *cfg, void *state)
{
    const struct tpfc_cfg *c = cfg;
    struct tpfc_state *s = state;
    memset(state, 0, c->records_at); /* records are written before they are read */
    s->rng = c->rng;
    s->free = NO_RECORD;
    s->scans = c->scans;
    for (size_t i = 0; i < c->n_queues; i++) {
        s->queues[i].tw_bytes = c->tw_bytes;
        s->queues[i].most = UNKNOWN;
        s->queues[i].head = s->queues[i].tail = NO_RECORD;
    }
}

/* Parts of the state */

static size_t index_of(const struct tpfc_cfg *c, uint32_t in_port, uint32_t out_port,
                       uint32_t priority)
{
    XOFF_ASSERT(in_port < c->n_ports);
    XOFF_ASSERT(out_port < c->n_ports);
    return (size_t)c->ranks[priority] * c->n_ports + out_port;
}

static struct holds *ports_of(const struct tpfc_cfg *c, struct tpfc_state *s)
{
    return (struct holds *)(void *)((char *)s + c->ports_at);
}

static struct holds_share *shares_of(const struct tpfc_cfg *c, struct tpfc_state *s, size_t index)
{
    return (struct holds_share *)(void *)((char *)s + c->shares_at) + index * c->n_ports;
}

static struct tpfc_record *record_at(const struct tpfc_cfg *c, struct tpfc_state *s, uint32_t i)
{
    return (struct tpfc_record *)(void *)((char *)s + c->records_at) + i;
}

static uint32_t amount_of(const struct tpfc_cfg *c, uint32_t bytes)
{
    return c->counts_bytes ? bytes : 1;
}

/* Statistics, kept */

static inline void count_in(struct tpfc_queue *queue, struct holds_share *share, uint32_t amount)
{
    queue->n_sources += share->amount == 0;
    queue->total += amount;
    share->amount += amount;
    if (share->is_held)
        queue->held_total += amount;
    else if (share->amount > queue->most)
        queue->most = share->amount;
}

static inline void count_out(struct tpfc_queue *queue, struct holds_share *share, uint32_t amount)
{
    XOFF_ASSERT(share->amount >= amount);
    queue->total -= amount;
    share->amount -= amount;
    queue->n_sources -= share->amount == 0;
    if (share->is_held)
        queue->held_total -= amount;
}

/* Statistics by scan */

static void scan(const struct tpfc_cfg *c, struct tpfc_state *s, struct tpfc_queue *queue,
                 struct holds_share *shares)
{
    queue->total = queue->n_sources = queue->held_total = 0;
    queue->most = UNKNOWN;
    for (uint32_t port = 0; port < c->n_ports; port++)
        shares[port].amount = 0;
    for (uint32_t i = queue->head; i != NO_RECORD; i = record_at(c, s, i)->next) {
        const struct tpfc_record *r = record_at(c, s, i);
        count_in(queue, &shares[r->in_port], amount_of(c, r->bytes));
    }
}

/* Frees all records: from now on statistics are kept. */
XOFF_SELDOM static void stop_scanning(const struct tpfc_cfg *c, struct tpfc_state *s)
{
    for (size_t i = 0; i < c->n_queues; i++)
        scan(c, s, &s->queues[i], shares_of(c, s, i));
    s->scans = false;
}

static void record_in(const struct tpfc_cfg *c, struct tpfc_state *s, struct tpfc_queue *queue,
                      const struct xoff_arrival *a)
{
    uint32_t i = s->free;
    if (i == NO_RECORD)
        i = s->n_used++;
    else
        s->free = record_at(c, s, i)->next;
    *record_at(c, s, i) = (struct tpfc_record){NO_RECORD, a->bytes, a->in_port};
    if (queue->head == NO_RECORD)
        queue->head = i;
    else
        record_at(c, s, queue->tail)->next = i;
    queue->tail = i;
}

/* Removes the record of a frame, mostly the first: virtual output queues and machines of a host
 * overtake each other. */
static void record_out(const struct tpfc_cfg *c, struct tpfc_state *s, struct tpfc_queue *queue,
                       const struct xoff_departure *d)
{
    uint32_t before = NO_RECORD, i = queue->head;
    struct tpfc_record *r;
    for (;; before = i, i = r->next) {
        XOFF_ASSERT(i != NO_RECORD);
        r = record_at(c, s, i);
        if (r->in_port == d->in_port && r->bytes == d->bytes)
            break;
    }
    if (before == NO_RECORD)
        queue->head = r->next;
    else
        record_at(c, s, before)->next = r->next;
    if (queue->tail == i)
        queue->tail = before;
    r->next = s->free;
    s->free = i;
}

/* Targets */

static void hold(const struct tpfc_cfg *c, struct tpfc_state *s, struct tpfc_queue *queue,
                 struct holds_share *shares, uint32_t port, const struct xoff_crossing *cause,
                 struct xoff_edges *out)
{
    shares[port].is_held = 1;
    queue->held_total += shares[port].amount;
    queue->n_held++;
    holds_change(ports_of(c, s) + port, (uint16_t)port, XOFF_WIRE_PFC, c->lossless, cause, out);
}

static void hold_all(const struct tpfc_cfg *c, struct tpfc_state *s, struct tpfc_queue *queue,
                     struct holds_share *shares, const struct xoff_crossing *cause,
                     struct xoff_edges *out)
{
    for (uint32_t port = 0; port < c->n_ports; port++)
        if (!shares[port].is_held)
            hold(c, s, queue, shares, port, cause, out);
}

/* Holds the port that sent the drawn frame or byte. The draw counts held ports first, then the
 * others by number. */
static void hold_drawn(const struct tpfc_cfg *c, struct tpfc_state *s, struct tpfc_queue *queue,
                       struct holds_share *shares, const struct xoff_crossing *cause,
                       struct xoff_edges *out)
{
    const uint32_t drawn = (uint32_t)xoff_rng_below(&s->rng, queue->total);
    if (drawn < queue->held_total)
        return;
    uint32_t rest = drawn - queue->held_total, port = 0;
    while (shares[port].is_held || rest >= shares[port].amount) {
        rest -= shares[port].is_held ? 0 : shares[port].amount;
        port++;
        XOFF_ASSERT(port < c->n_ports);
    }
    hold(c, s, queue, shares, port, cause, out);
}

/* Whether n_i > total / N, without the division. */
static bool is_above_fair(const struct tpfc_queue *queue, uint32_t amount)
{
    return (uint64_t)amount * queue->n_sources > queue->total;
}

static void hold_unfair(const struct tpfc_cfg *c, struct tpfc_state *s, struct tpfc_queue *queue,
                        struct holds_share *shares, const struct xoff_crossing *cause,
                        struct xoff_edges *out)
{
    uint32_t most = 0;
    for (uint32_t port = 0; port < c->n_ports; port++) {
        if (shares[port].is_held)
            continue;
        if (is_above_fair(queue, shares[port].amount))
            hold(c, s, queue, shares, port, cause, out);
        else if (shares[port].amount > most)
            most = shares[port].amount;
    }
    queue->most = most;
}

/* TW of a queue that counts its N: HW - N * F, and above LW. With nobody above the fair share there
 * is one port to come, as for `targets: auto`. */
static void place_by_count(const struct tpfc_cfg *c, struct tpfc_state *s, struct tpfc_queue *queue,
                           struct holds_share *shares)
{
    if (s->scans)
        scan(c, s, queue, shares);
    int64_t n = queue->n_sources;
    if (c->count == TPFC_AGGRESSORS) {
        n = 0;
        for (uint32_t port = 0; port < c->n_ports; port++)
            n += is_above_fair(queue, shares[port].amount);
    }
    const int64_t tw_bytes = c->hw_bytes - (n > 1 ? n : 1) * c->in_flight_bytes;
    queue->tw_bytes = tw_bytes > c->tw_bytes ? tw_bytes : c->tw_bytes;
}

/* Chooses whom to hold when a frame arrives for a queue at TW or above. */
static void choose(const struct tpfc_cfg *c, struct tpfc_state *s, struct tpfc_queue *queue,
                   struct holds_share *shares, const struct xoff_arrival *a, struct xoff_edges *out)
{
    const bool is_high = queue->bytes >= c->hw_bytes;
    const uint32_t to_skip = queue->to_skip;
    if (to_skip == 0)
        queue->to_skip = c->n_skipped;
    else if (to_skip != TPFC_FOR_GOOD)
        queue->to_skip--;
    if (queue->n_held == c->n_ports || (to_skip && !is_high))
        return;
    if (s->scans)
        scan(c, s, queue, shares);
    if (!is_high && c->is_fair && queue->most != UNKNOWN && !is_above_fair(queue, queue->most))
        return;
    const struct xoff_crossing cause = {
        .unit = XOFF_UNIT_EGRESS,
        .above = 1,
        .priority = a->priority,
        .port = a->out_port,
        .occupied_bytes = queue->bytes,
        .threshold_bytes = is_high ? c->hw_bytes : queue->tw_bytes,
    };
    if (is_high)
        hold_all(c, s, queue, shares, &cause, out);
    else if (c->is_fair)
        hold_unfair(c, s, queue, shares, &cause, out);
    else
        hold_drawn(c, s, queue, shares, &cause, out);
}

XOFF_SELDOM static void let_go(const struct tpfc_cfg *c, struct tpfc_state *s,
                               struct tpfc_queue *queue, struct holds_share *shares,
                               const struct xoff_departure *d, struct xoff_edges *out)
{
    const struct xoff_crossing cause = {
        .unit = XOFF_UNIT_EGRESS,
        .above = 0,
        .priority = d->priority,
        .port = d->out_port,
        .occupied_bytes = queue->bytes,
        .threshold_bytes = c->lw_bytes,
    };
    for (uint32_t port = 0; port < c->n_ports; port++)
        if (shares[port].is_held) {
            shares[port].is_held = 0;
            holds_change(ports_of(c, s) + port, (uint16_t)port, XOFF_WIRE_PFC, c->lossless, &cause,
                         out);
        }
    queue->n_held = queue->held_total = 0;
}

/* Frames */

static void tpfc_on_arrival(const void *cfg, void *state, const struct xoff_arrival *arrival,
                            const struct xoff_crossings *crossings, xoff_time now,
                            struct xoff_edges *out)
{
    const struct tpfc_cfg *c = cfg;
    struct tpfc_state *s = state;
    (void)crossings, (void)now;
    XOFF_ASSERT(arrival->priority < XOFF_N_PRIORITIES);
    if (!(c->lossless >> arrival->priority & 1) || arrival->dropped)
        return;
    const size_t index = index_of(c, arrival->in_port, arrival->out_port, arrival->priority);
    struct tpfc_queue *queue = &s->queues[index];
    struct holds_share *shares = shares_of(c, s, index);
    if (c->count != TPFC_GIVEN && queue->bytes >= c->tw_bytes)
        place_by_count(c, s, queue, shares);
    if (queue->bytes >= queue->tw_bytes)
        choose(c, s, queue, shares, arrival, out);
    queue->bytes += arrival->bytes;
    if (s->scans && s->free == NO_RECORD && s->n_used == c->n_records)
        stop_scanning(c, s);
    if (s->scans)
        record_in(c, s, queue, arrival);
    else
        count_in(queue, &shares[arrival->in_port], amount_of(c, arrival->bytes));
}

static void tpfc_on_departure(const void *cfg, void *state, const struct xoff_departure *departure,
                              const struct xoff_crossings *crossings, xoff_time now,
                              struct xoff_edges *out)
{
    const struct tpfc_cfg *c = cfg;
    struct tpfc_state *s = state;
    (void)crossings, (void)now;
    XOFF_ASSERT(departure->priority < XOFF_N_PRIORITIES);
    if (!(c->lossless >> departure->priority & 1))
        return;
    const size_t index = index_of(c, departure->in_port, departure->out_port, departure->priority);
    struct tpfc_queue *queue = &s->queues[index];
    struct holds_share *shares = shares_of(c, s, index);
    queue->bytes -= departure->bytes;
    if (s->scans)
        record_out(c, s, queue, departure);
    else
        count_out(queue, &shares[departure->in_port], amount_of(c, departure->bytes));
    if (queue->bytes >= queue->tw_bytes)
        return;
    if (!c->rearms_low || queue->bytes <= c->lw_bytes)
        queue->to_skip = 0;
    queue->most = UNKNOWN;
    if (queue->bytes <= c->lw_bytes && queue->n_held)
        let_go(c, s, queue, shares, departure, out);
}

/* Inspection */

static enum xoff_hold tpfc_held_by(const void *cfg, const void *state, uint32_t port,
                                   uint32_t out_port, uint32_t priority)
{
    const struct tpfc_cfg *c = cfg;
    const void *shares = (const char *)state + c->shares_at;
    return holds_answer(shares, c->n_ports, c->ranks[priority], out_port, port);
}

static uint8_t tpfc_waits_for(const void *cfg, const void *state, uint32_t port, uint32_t priority)
{
    const struct tpfc_cfg *c = cfg;
    const struct holds *ports =
        (const struct holds *)(const void *)((const char *)state + c->ports_at);
    XOFF_ASSERT(port < c->n_ports);
    XOFF_ASSERT(priority < XOFF_N_PRIORITIES);
    return ports[port].paused & (uint8_t)(1u << priority);
}

const struct xoff_pause_ops xoff_pause_tpfc = {
    .name = "tpfc",
    .summary = "targeted PFC: a filling egress queue pauses first those who crowd it",
    .params = xoff_tpfc_params,
    .params_size = sizeof(struct tpfc_params),
    .cfg_size = sizeof(struct tpfc_cfg),
    .configure = xoff_tpfc_configure,
    .init = tpfc_init,
    .on_arrival = tpfc_on_arrival,
    .on_departure = tpfc_on_departure,
    .waits_for = tpfc_waits_for,
    .held_by = tpfc_held_by,
};
