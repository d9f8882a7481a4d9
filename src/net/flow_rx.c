/* Flows at their receiver: order, ACKs and CNPs, and the completion of messages.
 *
 * Go-back-N takes frames in order only, acknowledges every `ack_every`-th and those behind which
 * the sender has no more for now, and answers the first frame beyond a gap with a NACK. TCP is in
 * tcp.h. A frame that was marked is echoed on the next ACK; where the transport has a notification
 * point it also causes a CNP, at most one per flow and interval.
 *
 * Nothing is kept of a flow that has arrived whole. A frame of it that is sent again, since its
 * last ACK was lost, says that its sender has heard of the receiver before (FRAME_KNOWN): a
 * receiver that does not know the flow must have finished it, and acknowledges blindly. Where no
 * ACK came through at all the flow is simply received once more; its first completion counts.
 */
#include "net/model.h"

static uint32_t rx_slot(const struct host *host, uint64_t key)
{
    uint32_t i = (uint32_t)xoff_mix64(key) & host->rx_mask;
    while (host->rx[i].key && host->rx[i].key != key)
        i = (i + 1) & host->rx_mask;
    return i;
}

/* The state of a flow at its receiver, made when its first frame comes; NULL: finished long ago. */
static struct rx_flow *rx_find(struct host *host, const struct frame *data)
{
    const uint64_t key = ((uint64_t)data->src << 32 | data->flow) + 1;
    if (2 * (host->n_rx + 1) > host->rx_mask + 1)
        host_grow_rx(host);
    struct rx_flow *rx = &host->rx[rx_slot(host, key)];
    if (rx->key)
        return rx;
    if (data->flags & FRAME_KNOWN)
        return NULL;
    *rx = (struct rx_flow){.key = key, .message = data->message, .tcp = NET_NO_SLOT};
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
    const int64_t priority = host->net->spec.ack_priority;
    const uint64_t id = tcp->key - 1;
    /* The option takes 2 bytes and 8 for each block, in words of 4. */
    const uint32_t option_bytes = ack->n_sacks ? 4 + 8 * ack->n_sacks : 0;
    struct long_frame back = {
        .frame = {
            .seq = ack->acked_to,
            .src = host->node,
            .dst = (uint32_t)(id >> 32),
            .flow = (uint32_t)id,
            .hash = tcp->hash,
            .sent_at = tcp->echo_at,
            .bytes = (uint16_t)(host->transports[tcp->transport].ack_bytes + option_bytes),
            .kind = FRAME_ACK,
            .transport = tcp->transport & 15u,
            .priority = priority < 0 ? tcp->priority : (uint8_t)priority,
            .flags = ack->echo ? FRAME_MARKED : 0,
        }};
    if (host->transports[tcp->transport].tcp.has_sack) {
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
static void finish(struct host *host, struct worker *w, struct rx_flow *rx, uint32_t number,
                   uint32_t word, uint64_t bytes, bool ends_flow)
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
            tcp->key = 0;
            tcp->next = host->free_tcp_rx;
            host->free_tcp_rx = rx->tcp;
        }
        rx_forget(host, rx);
    }
    const struct app_event event = {
        .kind = APP_ARRIVED, .peer = from, .word = word & APP_MAX_WORD, .bytes = bytes};
    host_tell_app(host, w, word >> 24, &event);
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
        send_back(host, w, data, FRAME_ACK, rx->received + data->payload, rx->unacked_frames & 0xff,
                  rx->unacked_marked & 0xff);
        rx->unacked_frames = rx->unacked_marked = 0;
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
                                 .hash = data->hash,
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
    uint32_t *link = &tcp->ends;
    while (*link != NET_NO_SLOT && host->messages.at[*link].end < end)
        link = &host->messages.at[*link].next;
    if (*link != NET_NO_SLOT && host->messages.at[*link].end == end)
        return;
    const uint32_t after = *link;
    const size_t place =
        link == &tcp->ends ? SIZE_MAX : (size_t)((char *)link - (char *)host->messages.at);
    const uint32_t m = message_take(&host->messages); /* may move the pool */
    link = place == SIZE_MAX ? &tcp->ends : (uint32_t *)((char *)host->messages.at + place);
    host->messages.at[m] = (struct message){.end = end,
                                            .number = data->message,
                                            .word = data->word,
                                            .next = after,
                                            .ends_flow = data->flags & FRAME_ENDS};
    *link = m;
}

static void push_delayed(struct host *host, uint32_t slot, xoff_time at)
{
    if (host->n_delayed == host->delayed_capacity)
        host_grow_delayed(host);
    const uint32_t mask = host->delayed_capacity - 1;
    uint32_t i = host->n_delayed++;
    for (; i > 0 && host->delayed[(host->delayed_head + i - 1) & mask].at > at; i--)
        host->delayed[(host->delayed_head + i) & mask] =
            host->delayed[(host->delayed_head + i - 1) & mask];
    host->delayed[(host->delayed_head + i) & mask] = (struct delayed){.at = at, .tcp = slot};
    heap_set(&host->timers, HOST_DELAYED, host->delayed[host->delayed_head].at);
}

void flow_send_delayed(struct host *host, struct worker *w)
{
    const xoff_time now = sim_now(w);
    const uint32_t mask = host->delayed_capacity - 1;
    while (host->n_delayed && host->delayed[host->delayed_head].at <= now) {
        const struct delayed due = host->delayed[host->delayed_head];
        host->delayed_head = (host->delayed_head + 1) & mask;
        host->n_delayed--;
        struct tcp_flow *tcp = &host->tcp_rx[due.tcp];
        if (!tcp->key || tcp->rx.ack_at != due.at) /* acknowledged meanwhile */
            continue;
        struct xoff_tcp_ack ack;
        xoff_tcp_on_delayed(&host->transports[tcp->transport].tcp, &tcp->rx, &host->ranges, &ack);
        send_tcp_ack(host, w, tcp, &ack);
    }
    heap_set(&host->timers, HOST_DELAYED,
             host->n_delayed ? host->delayed[host->delayed_head].at : XOFF_NEVER);
}

static void take_tcp(struct host *host, struct worker *w, struct rx_flow *rx,
                     const struct frame *data)
{
    const struct xoff_tcp_cfg *cfg = &host->transports[data->transport].tcp;
    struct tcp_flow *tcp = tcp_of(host, rx, data);
    const uint32_t slot = rx->tcp;
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
    for (uint32_t i = 0; i < n; i++)
        send_tcp_ack(host, w, tcp, &acks[i]);
    if (n)
        tcp->echo_at = data->sent_at;
    if (tcp->rx.ack_at != XOFF_NEVER && tcp->rx.ack_at != ack_at)
        push_delayed(host, slot, tcp->rx.ack_at);
    rx->received = tcp->rx.next;
    const uint64_t key = rx->key;
    while (tcp->ends != NET_NO_SLOT && host->messages.at[tcp->ends].end <= tcp->rx.next) {
        const uint32_t m = tcp->ends;
        const struct message done = host->messages.at[m];
        tcp->ends = done.next;
        host->messages.at[m].next = host->messages.free;
        host->messages.free = m;
        const uint64_t bytes = done.end - rx->message_from;
        rx->message_from = done.end;
        finish(host, w, rx, done.number, done.word, bytes, done.ends_flow);
        if (done.ends_flow)
            return;
        /* What apps did may have moved both. */
        rx = &host->rx[rx_slot(host, key)];
        tcp = &host->tcp_rx[slot];
    }
    if (rx->received > rx->message_from && data->seq < rx->received)
        rx->message = data->message;
}

void flow_on_data(struct host *host, struct worker *w, const struct frame *data)
{
    const struct transport *t = &host->transports[data->transport];
    const enum xoff_reliability reliability = t->spec->reliability;
    const bool is_marked = data->flags & FRAME_MARKED;
    struct rx_flow *rx = rx_find(host, data);
    if (__builtin_expect(!rx, 0)) {
        struct tcp_flow gone = {.key = ((uint64_t)data->src << 32 | data->flow) + 1,
                                .hash = data->hash,
                                .echo_at = data->sent_at,
                                .priority = data->priority,
                                .transport = data->transport};
        const struct xoff_tcp_ack ack = {.acked_to = data->seq + data->payload};
        if (reliability == XOFF_REL_TCP)
            send_tcp_ack(host, w, &gone, &ack);
        else
            send_back(host, w, data, FRAME_ACK, ack.acked_to, 1, is_marked);
        return;
    }
    rx->marked += is_marked;
    if (is_marked && t->has_cnps && sim_now(w) >= rx->cnp_at) {
        rx->cnp_at = sim_now(w) + t->cnp_interval;
        send_back(host, w, data, FRAME_CNP, 0, 0, 0);
    }
    if (reliability == XOFF_REL_TCP) {
        take_tcp(host, w, rx, data);
        return;
    }
    if (reliability == XOFF_REL_GO_BACK_N && !take_in_order(host, w, rx, data))
        return;
    if (reliability == XOFF_REL_DATAGRAM && rx->message != data->message) {
        rx->message = data->message; /* what the last one lacked is lost */
        rx->received = rx->total = 0;
    }
    rx->received += data->payload;
    if (reliability == XOFF_REL_DATAGRAM) {
        if (data->flags & FRAME_LAST)
            rx->total = data->seq + data->payload;
        if (rx->total && rx->received >= rx->total)
            finish(host, w, rx, data->message, data->word, rx->received, data->flags & FRAME_ENDS);
        return;
    }
    rx->message = data->message;
    if (data->flags & FRAME_LAST) {
        const uint64_t bytes = rx->received - rx->message_from;
        rx->message_from = rx->received;
        finish(host, w, rx, data->message, data->word, bytes, data->flags & FRAME_ENDS);
    }
}
