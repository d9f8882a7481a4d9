/* Flows at their receiver: order, ACKs and CNPs, and the completion of messages.
 *
 * Go-back-N takes frames in order only, acknowledges every `ack_every`-th and those behind which
 * the sender has no more for now, at the latest after `ack_delay`, and answers the first frame
 * beyond a gap with a NACK. TCP is in tcp.h. A frame that was marked is echoed on the next ACK;
 * where the transport has a notification point it also causes a CNP, at most one per flow and
 * interval.
 *
 * Nothing is kept of a flow that has arrived whole but its record. Frames of it that come once
 * more, since its last ACKs were lost or late, are known by that record and acknowledged blindly.
 */
#include "net/model.h"

static uint64_t key_of(const struct frame *data)
{
    return ((uint64_t)data->src << 32 | data->flow) + 1;
}

static uint32_t rx_slot(const struct host *host, uint64_t key)
{
    uint32_t i = (uint32_t)xoff_mix64(key) & host->rx_mask;
    while (host->rx[i].key && host->rx[i].key != key)
        i = (i + 1) & host->rx_mask;
    return i;
}

/* The state of a flow at its receiver, made when its first frame comes; NULL: finished before. */
static struct rx_flow *rx_find(struct host *host, const struct frame *data)
{
    const uint64_t key = key_of(data);
    host->has_copies |= data->flags & FRAME_AGAIN;
    if (2 * (host->n_rx + 1) > host->rx_mask + 1)
        host_grow_rx(host);
    struct rx_flow *rx = &host->rx[rx_slot(host, key)];
    if (rx->key)
        return rx;
    /* The first frame of a flow is not looked for among those that came before, unless there may
     * be copies of it. */
    if (__builtin_expect(data->seq || host->has_copies, 0) && host_has_finished(host, key))
        return NULL;
    *rx = (struct rx_flow){.key = key,
                           .message = data->message,
                           .tcp = NET_NO_SLOT,
                           .priority = data->priority,
                           .transport = data->transport,
                           .ack_at = XOFF_NEVER};
    host->n_rx++;
    return rx;
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

/* A frame back to the sender of `data`; ACKs carry its telemetry back. */
static void send_back(struct host *host, struct worker *w, const struct frame *data,
                      enum frame_kind kind, uint64_t seq, uint32_t n_frames, uint32_t n_marked)
{
    const struct net_spec *spec = &host->net->spec;
    const struct transport *t = &host->transports[data->transport];
    int64_t priority = spec->ack_priority;
    if (kind == FRAME_CNP && spec->cnp_priority >= 0)
        priority = spec->cnp_priority;
    struct long_frame back; /* what lies behind it is filled where it is read */
    back.frame = (struct frame){
        .seq = seq,
        .src = host->node,
        .dst = data->src,
        .flow = data->flow,
        .hash = data->hash,
        .sent_at = data->sent_at,
        .bytes = (uint16_t)t->ack_bytes,
        .payload = (uint16_t)(n_marked << 8 | n_frames),
        .kind = (unsigned)kind & 15u,
        .transport = data->transport,
        .priority = priority < 0 ? data->priority : (uint8_t)priority,
        .flags = n_marked ? FRAME_MARKED : 0,
    };
    if (t->has_telemetry)
        extra_of(&back.frame)->telemetry = extra_at(data)->telemetry;
    host_queue_ack(host, w, &back.frame);
}

static void send_tcp_ack(struct host *host, struct worker *w, const struct tcp_flow *tcp,
                         const struct xoff_tcp_ack *ack)
{
    const struct transport *t = &host->transports[tcp->transport];
    const int64_t priority = host->net->spec.ack_priority;
    const uint64_t id = tcp->key - 1;
    /* The option takes 2 bytes and 8 for each block, in words of 4. */
    const uint32_t option_bytes = ack->n_sacks ? 4 + 8 * ack->n_sacks : 0;
    struct long_frame back;
    back.frame = (struct frame){
        .seq = ack->acked_to,
        .src = host->node,
        .dst = (uint32_t)(id >> 32),
        .flow = (uint32_t)id,
        .hash = flow_hash((uint32_t)(id >> 32), host->node, (uint32_t)id),
        .sent_at = tcp->echo_at,
        .bytes = (uint16_t)(t->ack_bytes + option_bytes),
        .kind = FRAME_ACK,
        .transport = tcp->transport & 15u,
        .priority = priority < 0 ? tcp->priority : (uint8_t)priority,
        .flags = ack->echo ? FRAME_MARKED : 0,
    };
    if (t->tcp.has_sack) {
        struct sack *sack = &extra_of(&back.frame)->sack;
        sack->n = ack->n_sacks;
        for (uint32_t i = 0; i < ack->n_sacks; i++) {
            sack->from[i] = (uint32_t)(ack->sack_from[i] - ack->acked_to);
            sack->bytes[i] = (uint32_t)(ack->sack_to[i] - ack->sack_from[i]);
        }
    }
    host_queue_ack(host, w, &back.frame);
}

/* A message, or a whole flow, has arrived. */
static void finish_received(struct host *host, struct worker *w, struct rx_flow *rx,
                            uint32_t number, uint32_t word, uint64_t bytes, bool ends_flow)
{
    const uint32_t from = (uint32_t)((rx->key - 1) >> 32);
    if (host->n_rx_notes == host->rx_notes_capacity)
        host_grow_rx_notes(host);
    host->rx_notes[host->n_rx_notes++] = (struct rx_note){.from = from,
                                                          .number = number,
                                                          .received = bytes,
                                                          .marked = rx->marked,
                                                          .finish_at = sim_now(w)};
    rx->marked = 0;
    if (ends_flow) {
        if (rx->tcp != NET_NO_SLOT) {
            struct tcp_flow *tcp = &host->tcp_rx[rx->tcp];
            xoff_tcp_rx_fini(&tcp->rx, &host->ranges);
            tcp->next = host->free_tcp_rx;
            host->free_tcp_rx = rx->tcp;
        }
        rx_forget(host, rx);
    }
    const struct app_event event = {
        .kind = APP_ARRIVED, .peer = from, .word = word & APP_MAX_WORD, .bytes = bytes};
    host_note_event(host, word >> 24, &event);
}

/* When the ACK that is held back for a flow goes out; XOFF_NEVER: none is. */
static xoff_time held_until(const struct host *host, const struct rx_flow *rx)
{
    if (!rx->key)
        return XOFF_NEVER;
    return rx->tcp == NET_NO_SLOT ? rx->ack_at : host->tcp_rx[rx->tcp].rx.ack_at;
}

static void hold_ack(struct host *host, uint64_t key, xoff_time at)
{
    if (host->n_delayed == host->delayed_capacity)
        host_grow_delayed(host);
    const uint32_t mask = host->delayed_capacity - 1;
    uint32_t i = host->n_delayed++;
    for (; i > 0 && host->delayed[(host->delayed_head + i - 1) & mask].at > at; i--)
        host->delayed[(host->delayed_head + i) & mask] =
            host->delayed[(host->delayed_head + i - 1) & mask];
    host->delayed[(host->delayed_head + i) & mask] = (struct delayed){.at = at, .key = key};
}

/* Drops what was acknowledged meanwhile from the head of the ring, and sets the timer for what is
 * left. */
static void trim_held(struct host *host)
{
    const uint32_t mask = host->delayed_capacity - 1;
    xoff_time at = XOFF_NEVER;
    while (host->n_delayed && at == XOFF_NEVER) {
        const struct delayed *head = &host->delayed[host->delayed_head];
        if (held_until(host, &host->rx[rx_slot(host, head->key)]) == head->at) {
            at = head->at;
        } else {
            host->delayed_head = (host->delayed_head + 1) & mask;
            host->n_delayed--;
        }
    }
    heap_set(&host->timers, HOST_DELAYED, at);
}

void flow_send_delayed(struct host *host, struct worker *w)
{
    const xoff_time now = sim_now(w);
    while (host->n_delayed && host->delayed[host->delayed_head].at <= now) {
        const struct delayed due = host->delayed[host->delayed_head];
        host->delayed_head = (host->delayed_head + 1) & (host->delayed_capacity - 1);
        host->n_delayed--;
        struct rx_flow *rx = &host->rx[rx_slot(host, due.key)];
        if (held_until(host, rx) != due.at)
            continue;
        if (rx->tcp != NET_NO_SLOT) {
            struct tcp_flow *tcp = &host->tcp_rx[rx->tcp];
            struct xoff_tcp_ack ack;
            xoff_tcp_on_delayed(&host->transports[tcp->transport].tcp, &tcp->rx, &host->ranges,
                                &ack);
            send_tcp_ack(host, w, tcp, &ack);
            continue;
        }
        const uint32_t from = (uint32_t)((due.key - 1) >> 32), flow = (uint32_t)(due.key - 1);
        const struct long_frame data = {.frame = {.src = from,
                                                  .flow = flow,
                                                  .hash = flow_hash(from, host->node, flow),
                                                  .sent_at = rx->sent_at,
                                                  .priority = rx->priority,
                                                  .transport = rx->transport & 15u}};
        rx->ack_at = XOFF_NEVER;
        send_back(host, w, &data.frame, FRAME_ACK, rx->received, rx->unacked_frames,
                  rx->unacked_marked);
        rx->unacked_frames = rx->unacked_marked = 0;
    }
    trim_held(host);
}

/* Order and acknowledgement of go-back-N. Returns false for a frame not taken. */
static bool take_in_order(struct host *host, struct worker *w, struct rx_flow *rx,
                          const struct frame *data)
{
    const bool is_marked = data->flags & FRAME_MARKED;
    if (data->seq != rx->received) {
        if (data->seq < rx->received || !rx->is_nacked)
            send_back(host, w, data, data->seq < rx->received ? FRAME_ACK : FRAME_NACK,
                      rx->received, 1, is_marked);
        rx->is_nacked |= data->seq > rx->received;
        return false;
    }
    rx->is_nacked = false;
    rx->unacked_frames++;
    rx->unacked_marked = (uint16_t)(rx->unacked_marked + is_marked);
    if (rx->unacked_frames >= host->net->spec.ack_every || data->flags & FRAME_ASKS) {
        send_back(host, w, data, FRAME_ACK, rx->received + data->payload, rx->unacked_frames,
                  rx->unacked_marked);
        rx->unacked_frames = rx->unacked_marked = 0;
        rx->ack_at = XOFF_NEVER;
    } else {
        rx->sent_at = data->sent_at;
        if (rx->ack_at == XOFF_NEVER) {
            rx->ack_at = sim_now(w) + host->net->spec.ack_delay;
            hold_ack(host, rx->key, rx->ack_at);
        }
    }
    return true;
}

static struct tcp_flow *tcp_of(struct host *host, struct rx_flow *rx, const struct frame *data)
{
    if (rx->tcp == NET_NO_SLOT) {
        if (host->free_tcp_rx == NET_NO_SLOT)
            host_grow_tcp_rx(host);
        rx->tcp = host->free_tcp_rx;
        struct tcp_flow *tcp = &host->tcp_rx[rx->tcp];
        host->free_tcp_rx = tcp->next;
        *tcp = (struct tcp_flow){.key = rx->key,
                                 .ends = NET_NO_SLOT,
                                 .priority = data->priority,
                                 .transport = data->transport};
        xoff_tcp_rx_init(&tcp->rx);
    }
    return &host->tcp_rx[rx->tcp];
}

/* Remembers where a message ends, in order. */
static void add_end(struct host *host, struct tcp_flow *tcp, const struct frame *data)
{
    const uint64_t end = data->seq + data->payload;
    const uint32_t m = message_take(&host->messages); /* first, since the pool may move */
    uint32_t *link = &tcp->ends;
    while (*link != NET_NO_SLOT && host->messages.at[*link].end < end)
        link = &host->messages.at[*link].next;
    if (*link != NET_NO_SLOT && host->messages.at[*link].end == end) {
        message_return(&host->messages, m);
        return;
    }
    host->messages.at[m] = (struct message){.end = end,
                                            .number = data->message,
                                            .word = data->word,
                                            .next = *link,
                                            .ends_flow = data->flags & FRAME_ENDS};
    *link = m;
}

static void take_segment(struct host *host, struct worker *w, struct rx_flow *rx,
                         const struct frame *data)
{
    const struct xoff_tcp_cfg *cfg = &host->transports[data->transport].tcp;
    struct tcp_flow *tcp = tcp_of(host, rx, data);
    if ((data->flags & FRAME_LAST) && data->seq + data->payload > tcp->rx.next)
        add_end(host, tcp, data);
    if (!tcp->rx.n_unacked)
        tcp->echo_at = data->sent_at;
    struct xoff_tcp_ack acks[2];
    host_grow_ranges(host, 1);
    const xoff_time ack_at = tcp->rx.ack_at;
    const uint32_t n = xoff_tcp_on_segment(cfg, &tcp->rx, &host->ranges, data->seq, data->payload,
                                           data->flags & FRAME_MARKED, data->flags & FRAME_REDUCED,
                                           data->flags & FRAME_ASKS, sim_now(w), acks);
    for (uint32_t i = 0; i < n; i++) {
        send_tcp_ack(host, w, tcp, &acks[i]);
        tcp->echo_at = data->sent_at;
    }
    if (tcp->rx.ack_at != XOFF_NEVER && tcp->rx.ack_at != ack_at)
        hold_ack(host, rx->key, tcp->rx.ack_at);
    rx->received = tcp->rx.next;
    while (tcp->ends != NET_NO_SLOT && host->messages.at[tcp->ends].end <= tcp->rx.next) {
        const uint32_t m = tcp->ends;
        const struct message done = host->messages.at[m];
        tcp->ends = done.next;
        message_return(&host->messages, m);
        const uint64_t bytes = done.end - rx->message_from;
        rx->message_from = done.end;
        finish_received(host, w, rx, done.number, done.word, bytes, done.ends_flow);
        if (done.ends_flow)
            return;
    }
    if (rx->received > rx->message_from && data->seq < rx->received)
        rx->message = data->message;
}

/* A datagram counts from the start of its message. Frames of a message come together, but not in
 * order where paths differ. */
static void take_datagram(struct host *host, struct worker *w, struct rx_flow *rx,
                          const struct frame *data)
{
    if (rx->message != data->message) {
        rx->message = data->message; /* what the last one lacked is lost */
        rx->received = rx->total = 0;
    }
    rx->received += data->payload;
    if (data->flags & FRAME_LAST) {
        rx->total = data->seq + data->payload;
        rx->has_end = data->flags & FRAME_ENDS;
    }
    if (rx->total && rx->received >= rx->total)
        finish_received(host, w, rx, data->message, data->word, rx->received, rx->has_end);
}

/* Of a flow that arrived whole before. */
static void acknowledge_blindly(struct host *host, struct worker *w, const struct frame *data)
{
    const uint64_t acked_to = data->seq + data->payload;
    if (host->transports[data->transport].spec->reliability != XOFF_REL_TCP) {
        send_back(host, w, data, FRAME_ACK, acked_to, 1, (data->flags & FRAME_MARKED) != 0);
        return;
    }
    const struct tcp_flow gone = {.key = key_of(data),
                                  .echo_at = data->sent_at,
                                  .priority = data->priority,
                                  .transport = data->transport};
    const struct xoff_tcp_ack ack = {.acked_to = acked_to};
    send_tcp_ack(host, w, &gone, &ack);
}

static void take_data(struct host *host, struct worker *w, const struct frame *data)
{
    const struct transport *t = &host->transports[data->transport];
    const bool is_marked = data->flags & FRAME_MARKED;
    struct rx_flow *rx = rx_find(host, data);
    if (__builtin_expect(!rx, 0)) {
        acknowledge_blindly(host, w, data);
        return;
    }
    rx->marked += is_marked;
    if (is_marked && t->has_cnps && sim_now(w) >= rx->cnp_at) {
        rx->cnp_at = sim_now(w) + t->cnp_interval;
        send_back(host, w, data, FRAME_CNP, 0, 0, 0);
    }
    switch (t->spec->reliability) {
    case XOFF_REL_TCP:
        take_segment(host, w, rx, data);
        return;
    case XOFF_REL_DATAGRAM:
        take_datagram(host, w, rx, data);
        return;
    case XOFF_REL_GO_BACK_N:
        break;
    }
    if (!take_in_order(host, w, rx, data))
        return;
    rx->received += data->payload;
    rx->message = data->message;
    if (data->flags & FRAME_LAST) {
        const uint64_t bytes = rx->received - rx->message_from;
        rx->message_from = rx->received;
        finish_received(host, w, rx, data->message, data->word, bytes, data->flags & FRAME_ENDS);
    }
}

void flow_on_data(struct host *host, struct worker *w, const struct frame *data)
{
    take_data(host, w, data);
    if (__builtin_expect(host->n_delayed, 0))
        trim_held(host);
}
