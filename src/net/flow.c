/* Flows: at the sender pacing, framing and go-back-N; at the receiver order, ACKs and completion.
 *
 * Reliable flows are go-back-N: the receiver takes frames in order only, acknowledges every
 * `ack_every`-th and those behind which the sender has no more, and answers the first frame beyond
 * a gap with a NACK; the sender goes back to what the NACK asks for, or to the oldest
 * unacknowledged byte when nothing was acknowledged for `timeout`. The timer of a flow runs behind
 * its deadline: it is set once, and on expiry moved to where progress has pushed the deadline, so
 * that an ACK costs no timer operation.
 */
#include <string.h>

#include "net/model.h"

static uint64_t left_to_send(const struct host *host, const struct flow *flow, xoff_time now)
{
    if (flow->endless && now < host->net->spec.stop)
        return flow->payload_max;
    if (flow->endless) /* nothing new, but what was lost must still be sent again */
        return flow->highest - flow->sent_to;
    return flow->offered - flow->sent_to;
}

static inline uint32_t frame_bytes_of(uint32_t payload)
{
    const uint32_t bytes = payload + NET_HEADER_BYTES;
    return bytes < XOFF_MIN_FRAME_BYTES ? XOFF_MIN_FRAME_BYTES : bytes;
}

uint32_t flow_next_bytes(const struct flow *flow)
{
    const uint64_t left = flow->endless ? flow->payload_max : flow->offered - flow->sent_to;
    return frame_bytes_of(left < flow->payload_max ? (uint32_t)left : flow->payload_max);
}

static void push_ready(struct host *host, uint32_t index)
{
    struct flow *flow = &host->flows[index];
    struct ready *ready = &host->ready[flow->priority];
    flow->is_ready = true;
    flow->next = NET_NO_SLOT;
    if (ready->head == NET_NO_SLOT)
        ready->head = index;
    else
        host->flows[ready->tail].next = index;
    ready->tail = index;
    host->port.backlog |= (uint8_t)(1u << flow->priority);
}

/* Puts a flow where it belongs: on the ready list, or on its pacing timer. */
static void make_ready(struct host *host, uint32_t index, xoff_time now)
{
    struct flow *flow = &host->flows[index];
    if (flow->is_ready || !left_to_send(host, flow, now))
        return;
    if (flow->rate_bps && flow->next_at > now)
        heap_set(&host->timers, host_pace_timer(host, index), flow->next_at);
    else
        push_ready(host, index);
}

static void close_flow(struct host *host, uint32_t index)
{
    struct flow *flow = &host->flows[index];
    heap_remove(&host->timers, host_pace_timer(host, index));
    heap_remove(&host->timers, host_pace_timer(host, index) + 1);
    host->flow_notes[flow->number].slot = NET_NO_SLOT;
    flow->next = host->free_flow;
    host->free_flow = index;
}

/* Takes the flow off the head of its ready list. */
static void pop_ready(struct host *host, struct flow *flow)
{
    struct ready *ready = &host->ready[flow->priority];
    ready->head = flow->next;
    flow->is_ready = false;
}

/* Takes a flow that was going back off its ready list: what it would repeat has been acknowledged.
 */
static void leave_ready(struct host *host, uint32_t index)
{
    struct flow *flow = &host->flows[index];
    struct ready *ready = &host->ready[flow->priority];
    uint32_t before = NET_NO_SLOT;
    for (uint32_t i = ready->head; i != index; i = host->flows[i].next)
        before = i;
    if (before == NET_NO_SLOT)
        ready->head = flow->next;
    else
        host->flows[before].next = flow->next;
    if (ready->tail == index)
        ready->tail = before;
    flow->is_ready = false;
    if (ready->head == NET_NO_SLOT && !host->acks[flow->priority].n)
        host->port.backlog &= (uint8_t) ~(1u << flow->priority);
}

static void start_timeout(struct host *host, uint32_t index, xoff_time now)
{
    struct flow *flow = &host->flows[index];
    if (flow->timeout_at != XOFF_NEVER)
        return;
    flow->timeout_at = now + host->net->spec.timeout_for;
    heap_set(&host->timers, host_pace_timer(host, index) + 1, flow->timeout_at);
}

/* The pace counts MAC frame bytes. A flow held back makes up for one frame at most. */
static void pace(struct flow *flow, uint32_t bytes, xoff_time now)
{
    const uint64_t bits = (uint64_t)bytes * 8 * (uint64_t)XOFF_S + flow->carry;
    flow->next_at += (xoff_time)(bits / flow->rate_bps);
    flow->carry = bits % flow->rate_bps;
    if (flow->next_at < now)
        flow->next_at = now;
}

void flow_fill(struct host *host, uint32_t index, xoff_time now, struct frame *frame)
{
    struct flow *flow = &host->flows[index];
    struct flow_note *note = &host->flow_notes[flow->number];
    const uint64_t left = flow->endless ? flow->payload_max : flow->offered - flow->sent_to;
    const uint32_t payload = left < flow->payload_max ? (uint32_t)left : flow->payload_max;
    const bool is_last = !flow->endless && !flow->is_stream && payload == left;
    const bool is_again = flow->sent_to < flow->highest;
    *frame = (struct frame){
        .seq = flow->sent_to,
        .src = host->node,
        .dst = flow->to,
        .flow = flow->number,
        .hash = flow->hash,
        .sent_at = now,
        .bytes = (uint16_t)frame_bytes_of(payload),
        .payload = (uint16_t)payload,
        .kind = FRAME_DATA,
        .priority = flow->priority,
        .flags = (uint8_t)((is_last ? FRAME_LAST : 0) | (flow->reliable ? FRAME_RELIABLE : 0) | 0),
    };
    flow->sent_to += payload;
    if (flow->sent_to > flow->highest)
        flow->highest = flow->sent_to;
    note->sent += payload;
    note->again_frames += is_again;
    host->offered_bytes += frame->bytes;
    if (flow->rate_bps)
        pace(flow, frame->bytes, now);
    const bool is_paced_out = flow->endless && flow->next_at >= host->net->spec.stop;
    if (is_paced_out || !left_to_send(host, flow, now))
        frame->flags |= FRAME_ASKS;
    pop_ready(host, flow);
    if (flow->reliable)
        start_timeout(host, index, now);
    if (is_last && !flow->reliable)
        close_flow(host, index);
    else
        make_ready(host, index, now);
}

void flow_retire(struct host *host, xoff_time now)
{
    for (uint32_t p = 0; p < XOFF_N_PRIORITIES; p++)
        for (uint32_t i = host->ready[p].head; i != NET_NO_SLOT;) {
            const uint32_t next = host->flows[i].next;
            if (!left_to_send(host, &host->flows[i], now))
                leave_ready(host, i);
            i = next;
        }
}

void flow_on_timer(struct host *host, uint32_t index, bool is_pace, xoff_time now)
{
    struct flow *flow = &host->flows[index];
    const uint32_t timer = host_pace_timer(host, index) + !is_pace;
    heap_remove(&host->timers, timer);
    if (is_pace) {
        make_ready(host, index, now);
        return;
    }
    if (flow->timeout_at > now) { /* progress moved the deadline, or nothing is outstanding */
        heap_set(&host->timers, timer, flow->timeout_at);
        return;
    }
    flow->sent_to = flow->acked;
    flow->timeout_at = XOFF_NEVER;
    if (!left_to_send(host, flow, now))
        return;
    start_timeout(host, index, now);
    make_ready(host, index, now);
}

void flow_on_ack(struct host *host, const struct frame *ack, xoff_time now)
{
    struct flow_note *note = &host->flow_notes[ack->flow];
    const uint32_t index = note->slot;
    if (index == NET_NO_SLOT)
        return;
    struct flow *flow = &host->flows[index];
    if (ack->seq > flow->acked) {
        flow->acked = ack->seq;
        flow->timeout_at = now + host->net->spec.timeout_for;
        if (flow->sent_to < flow->acked)
            flow->sent_to = flow->acked;
    }
    if (ack->kind == FRAME_NACK && ack->seq >= flow->acked && flow->sent_to > ack->seq)
        flow->sent_to = ack->seq;
    if (!flow->endless && !flow->is_stream && flow->acked == flow->offered) {
        note->acked_at = now;
        if (flow->is_ready)
            leave_ready(host, index);
        close_flow(host, index);
        return;
    }
    if (flow->is_ready && !left_to_send(host, flow, now))
        leave_ready(host, index);
    if (flow->acked == flow->sent_to && !left_to_send(host, flow, now)) {
        flow->timeout_at = XOFF_NEVER;
        heap_remove(&host->timers, host_pace_timer(host, index) + 1);
    }
    make_ready(host, index, now);
}

static uint32_t new_flow(struct host *host)
{
    if (host->free_flow != NET_NO_SLOT) {
        const uint32_t index = host->free_flow;
        host->free_flow = host->flows[index].next;
        return index;
    }
    if (host->n_flows == host->flows_capacity)
        host_grow_flows(host);
    return host->n_flows++;
}

static uint32_t start_flow(struct host *host, const struct app_offer *offer, xoff_time now)
{
    const uint32_t index = new_flow(host);
    if (host->n_flow_notes == host->flow_notes_capacity)
        host_grow_flow_notes(host);
    const uint32_t number = host->n_flow_notes++;
    const uint32_t frame_bytes =
        offer->frame_bytes ? offer->frame_bytes : host->net->spec.max_frame_bytes;
    const uint64_t id =
        xoff_mix64(((uint64_t)host->node << 32 | offer->to) ^ xoff_mix64((uint64_t)number + 1));
    host->flows[index] = (struct flow){
        .number = number,
        .to = offer->to,
        .hash = (uint32_t)(id >> 32),
        .payload_max = frame_bytes - NET_HEADER_BYTES,
        .priority = offer->priority,
        .reliable = offer->delivery == APP_RELIABLE,
        .endless = offer->bytes == UINT64_MAX,
        .is_stream = offer->continues,
        .rate_bps = offer->rate_bps,
        .next_at = now,
        .timeout_at = XOFF_NEVER,
    };
    host->flow_notes[number] = (struct flow_note){
        .to = offer->to,
        .tag = offer->tag,
        .priority = offer->priority,
        .reliable = offer->delivery == APP_RELIABLE,
        .is_stream = offer->continues || offer->bytes == UINT64_MAX,
        .frame_bytes = frame_bytes,
        .hash = host->flows[index].hash,
        .rate_bps = offer->rate_bps,
        .start_at = now,
        .acked_at = XOFF_NEVER,
        .slot = index,
    };
    return index;
}

void flow_offer(struct host *host, struct worker *w, uint32_t app, const struct app_offer *offer)
{
    const xoff_time now = sim_now(w);
    uint32_t *stream = &host->app_streams[app * APP_STREAMS + offer->stream % APP_STREAMS];
    uint32_t index = offer->continues ? *stream : NET_NO_SLOT;
    if (index == NET_NO_SLOT) {
        index = start_flow(host, offer, now);
        if (offer->continues)
            *stream = index;
    }
    struct flow *flow = &host->flows[index];
    if (!flow->endless) {
        flow->offered += offer->bytes;
        host->flow_notes[flow->number].offered += offer->bytes;
    }
    make_ready(host, index, now);
}

/* The state of a flow at its receiver; made when its first frame comes. */
static struct rx_flow *rx_find(struct host *host, uint32_t from, uint32_t number)
{
    const uint64_t key = ((uint64_t)from << 32 | number) + 1;
    if (2 * (host->n_rx + 1) > host->rx_mask + 1)
        host_grow_rx(host);
    uint32_t i = (uint32_t)xoff_mix64(key) & host->rx_mask;
    while (host->rx[i].key != key) {
        if (!host->rx[i].key) {
            host->rx[i] = (struct rx_flow){.key = key};
            host->n_rx++;
            break;
        }
        i = (i + 1) & host->rx_mask;
    }
    return &host->rx[i];
}

/* Takes an entry out, moving back those that had to step over it. */
static void rx_forget(struct host *host, struct rx_flow *entry)
{
    uint32_t hole = (uint32_t)(entry - host->rx);
    for (uint32_t i = (hole + 1) & host->rx_mask; host->rx[i].key; i = (i + 1) & host->rx_mask) {
        const uint32_t home = (uint32_t)xoff_mix64(host->rx[i].key) & host->rx_mask;
        if (((i - home) & host->rx_mask) >= ((i - hole) & host->rx_mask)) {
            host->rx[hole] = host->rx[i];
            hole = i;
        }
    }
    host->rx[hole].key = 0;
    host->n_rx--;
}

static void send_ack(struct host *host, struct worker *w, const struct frame *data,
                     enum frame_kind kind, uint64_t seq)
{
    const int64_t priority = host->net->spec.ack_priority;
    const struct frame ack = {
        .seq = seq,
        .src = host->node,
        .dst = data->src,
        .flow = data->flow,
        .hash = data->hash,
        .sent_at = data->sent_at,
        .bytes = NET_ACK_BYTES,
        .kind = (uint8_t)kind,
        .priority = priority < 0 ? data->priority : (uint8_t)priority,
        .flags = data->flags & FRAME_MARKED,
    };
    host_queue_ack(host, w, &ack);
}

/* Order and acknowledgement of a reliable flow. Returns false for a frame not taken. */
static bool take_in_order(struct host *host, struct worker *w, struct rx_flow *rx,
                          const struct frame *data)
{
    if (data->seq != rx->received) {
        if (data->seq < rx->received || !rx->is_nacked)
            send_ack(host, w, data, data->seq < rx->received ? FRAME_ACK : FRAME_NACK,
                     rx->received);
        rx->is_nacked |= data->seq > rx->received;
        return false;
    }
    rx->is_nacked = false;
    if (++rx->unacked_frames >= host->net->spec.ack_every || data->flags & FRAME_ASKS) {
        rx->unacked_frames = 0;
        send_ack(host, w, data, FRAME_ACK, rx->received + data->payload);
    }
    return true;
}

void flow_on_data(struct host *host, struct worker *w, const struct frame *data)
{
    struct rx_flow *rx = rx_find(host, data->src, data->flow);
    rx->marked += (data->flags & FRAME_MARKED) != 0;
    if ((data->flags & FRAME_RELIABLE) && !take_in_order(host, w, rx, data))
        return;
    rx->received += data->payload;
    if (data->flags & FRAME_LAST)
        rx->total = data->seq + data->payload;
    if (!rx->total || rx->received < rx->total)
        return;
    if (host->n_rx_notes == host->rx_notes_capacity)
        host_grow_rx_notes(host);
    host->rx_notes[host->n_rx_notes++] = (struct rx_note){.from = data->src,
                                                          .number = data->flow,
                                                          .received = rx->received,
                                                          .marked = rx->marked,
                                                          .finish_at = sim_now(w)};
    /* A reliable flow is kept: its last ACK may be lost and asked for again. */
    if (!(data->flags & FRAME_RELIABLE))
        rx_forget(host, rx);
}
