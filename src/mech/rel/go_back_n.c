/* Go-back-N: frames are taken in order only, and the sender goes back to the first one missing.
 *
 * Source: InfiniBand Architecture Specification, volume 1, 9.7 (reliable connections: PSN sequence
 * errors are answered by a NAK, duplicates are acknowledged again), as RoCE adapters do it. Let e
 * be the next byte that the receiver expects.
 *
 *   data with first byte s    answer
 *   s = e                     taken, e moves on; ACK(e) for every `ack_every`-th frame, for one
 *                             that asks, and at the latest after `ack_delay`
 *   s > e, first since e      NACK(e); the frame is thrown away
 *     last moved
 *   s > e otherwise           nothing
 *   s < e                     ACK(e): the sender repeats what is there
 *
 * Let una be the oldest byte not acknowledged and n the next to send.
 *
 *   ACK(e), e > una           una = e, the timer starts anew, n = max(n, e)
 *   NACK(e), e >= una         the same, then n = e
 *   timeout                   n = una
 *
 * What to send and when the timer starts are the defaults of the role (rel.h). Its inline fast
 * paths take an ACK that only moves una and, if each frame is acknowledged, a frame in order. An
 * ACK says how many frames it covers and how many of them were marked. An ACK that was held back
 * measures the round trip of the last frame.
 *
 * Differs: sequence numbers count bytes, not packets.
 */
#include <xoff/rel.h>

struct gbn_cfg {
    xoff_time timeout_for, ack_delay;
    uint32_t ack_every;
};

struct gbn_rx {
    struct xoff_rel_rx head;
    xoff_time sent_at; /* when the last frame taken was sent */
};

/* The bytes of head.own: frames taken since the last ACK, how many of them were marked, and whether
 * a NACK was sent since e last moved. */
enum { GBN_UNACKED, GBN_MARKED, GBN_NACKED };

_Static_assert(sizeof(struct gbn_rx) <= 32, "many flows: kept within a receiver's record");

static const struct xoff_param gbn_table[] = {{0}};

static int gbn_configure(const void *params, const struct xoff_rel_env *env, void *cfg,
                         struct xoff_rel_shape *shape, struct xoff_err *err)
{
    (void)params;
    if (env->timeout_for <= 0 || env->ack_delay <= 0)
        return xoff_err_set(err, XOFF_E_RANGE, "timeout", NULL, "a timer needs a time > 0");
    if (env->ack_every < 1 || env->ack_every > 255)
        return xoff_err_set(err, XOFF_E_RANGE, "ack_every", NULL,
                            "an ACK speaks of 1 to 255 frames");
    *(struct gbn_cfg *)cfg = (struct gbn_cfg){
        .timeout_for = env->timeout_for, .ack_delay = env->ack_delay, .ack_every = env->ack_every};
    shape->rx_size = sizeof(struct gbn_rx);
    shape->timeout_for = env->timeout_for;
    shape->is_cumulative = true;
    return 0;
}

static unsigned gbn_on_ack(const void *cfg, struct xoff_rel_tx *tx, struct xoff_range_store *store,
                           const struct xoff_rel_ack *ack, xoff_time rtt, xoff_time now)
{
    const struct gbn_cfg *c = cfg;
    (void)store, (void)rtt;
    if (ack->acked_to > tx->una) {
        tx->una = ack->acked_to;
        tx->deadline = now + c->timeout_for;
        if (tx->next < tx->una)
            tx->next = tx->una;
    }
    if (ack->is_nack && ack->acked_to >= tx->una && tx->next > ack->acked_to) {
        tx->next = ack->acked_to;
        return XOFF_REL_LOST;
    }
    if (tx->una == tx->sent_to)
        tx->deadline = XOFF_NEVER; /* nothing is outstanding */
    return 0;
}

static void gbn_expire(const void *cfg, struct xoff_rel_tx *tx, struct xoff_range_store *store,
                       xoff_time now)
{
    const struct gbn_cfg *c = cfg;
    (void)store;
    tx->next = tx->una;
    tx->deadline = tx->sent_to > tx->una ? now + c->timeout_for : XOFF_NEVER;
}

static void gbn_init_rx(const void *cfg, struct xoff_rel_rx *rx)
{
    const struct gbn_cfg *c = cfg;
    *(struct gbn_rx *)rx =
        (struct gbn_rx){.head = {.deadline = XOFF_NEVER, .is_open = c->ack_every == 1}};
}

/* The fields are set one by one, since a compound literal would also clear the blocks, which nobody
 * reads here. */
static uint32_t gbn_answer(struct xoff_rel_ack *ack, uint64_t acked_to, xoff_time sent_at,
                           uint32_t n_frames, uint32_t n_marked)
{
    ack->acked_to = acked_to;
    ack->sent_at = sent_at;
    ack->n_frames = (uint16_t)n_frames;
    ack->n_marked = (uint16_t)n_marked;
    ack->n_sacks = 0;
    ack->is_nack = false;
    ack->echo = n_marked > 0;
    return 1;
}

static uint32_t gbn_on_gap(struct gbn_rx *rx, const struct xoff_rel_data *data,
                           struct xoff_rel_ack *ack)
{
    const bool is_beyond = data->seq > rx->head.delivered;
    if (is_beyond && rx->head.own[GBN_NACKED])
        return 0;
    rx->head.own[GBN_NACKED] |= is_beyond;
    rx->head.is_open &= !is_beyond;
    gbn_answer(ack, rx->head.delivered, data->sent_at, 1, (data->bits & XOFF_REL_MARKED) != 0);
    ack->is_nack = is_beyond;
    return 1;
}

static uint32_t gbn_on_data(const void *cfg, struct xoff_rel_rx *head,
                            struct xoff_range_store *store, const struct xoff_rel_data *data,
                            xoff_time now, struct xoff_rel_ack *acks)
{
    const struct gbn_cfg *c = cfg;
    struct gbn_rx *rx = (struct gbn_rx *)head;
    (void)store;
    if (__builtin_expect(data->seq != rx->head.delivered, 0))
        return gbn_on_gap(rx, data, acks);
    const uint32_t n_frames = rx->head.own[GBN_UNACKED] + 1u;
    const uint32_t n_marked = rx->head.own[GBN_MARKED] + (data->bits & XOFF_REL_MARKED ? 1u : 0u);
    rx->head.delivered += data->bytes;
    rx->head.own[GBN_NACKED] = false;
    rx->head.is_open = c->ack_every == 1;
    if (n_frames >= c->ack_every || data->bits & XOFF_REL_ASKS) {
        rx->head.own[GBN_UNACKED] = rx->head.own[GBN_MARKED] = 0;
        rx->head.deadline = XOFF_NEVER;
        return gbn_answer(acks, rx->head.delivered, data->sent_at, n_frames, n_marked);
    }
    rx->head.own[GBN_UNACKED] = (uint8_t)n_frames;
    rx->head.own[GBN_MARKED] = (uint8_t)n_marked;
    rx->sent_at = data->sent_at;
    if (rx->head.deadline == XOFF_NEVER)
        rx->head.deadline = now + c->ack_delay;
    return 0;
}

static void gbn_expire_rx(const void *cfg, struct xoff_rel_rx *head,
                          const struct xoff_range_store *store, struct xoff_rel_ack *ack)
{
    struct gbn_rx *rx = (struct gbn_rx *)head;
    (void)cfg, (void)store;
    gbn_answer(ack, rx->head.delivered, rx->sent_at, rx->head.own[GBN_UNACKED],
               rx->head.own[GBN_MARKED]);
    rx->head.own[GBN_UNACKED] = rx->head.own[GBN_MARKED] = 0;
    rx->head.deadline = XOFF_NEVER;
}

static void gbn_on_late(const void *cfg, const struct xoff_rel_data *data, struct xoff_rel_ack *ack)
{
    (void)cfg;
    gbn_answer(ack, data->seq + data->bytes, data->sent_at, 1, (data->bits & XOFF_REL_MARKED) != 0);
}

const struct xoff_rel_ops xoff_rel_go_back_n = {
    .name = "go-back-n",
    .summary = "frames in order only; the sender goes back to the first one missing",
    .params = gbn_table,
    .cfg_size = sizeof(struct gbn_cfg),
    .has_acks = true,
    .format = XOFF_REL_AS_ROCE,
    .configure = gbn_configure,
    .on_ack = gbn_on_ack,
    .expire = gbn_expire,
    .init_rx = gbn_init_rx,
    .on_data = gbn_on_data,
    .expire_rx = gbn_expire_rx,
    .on_late = gbn_on_late,
};
