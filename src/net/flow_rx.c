/* Flows at their receiver: what arrives, what is sent back, and the completion of messages.
 *
 * The reliability (rel.h) decides what is taken and what is acknowledged; the notification point
 * (np.h) decides what else the sender is told. ACKs that are held back wait in a ring in order of
 * time.
 *
 * Once a flow has arrived whole, only its record is kept. Frames of it may still come again,
 * because its last ACKs were lost or late. They are recognised by that record, and the reliability
 * decides how to answer them.
 */
#include <string.h>

#include "net/model.h"

static uint64_t key_of(const struct frame *data)
{
    return ((uint64_t)data->src << 32 | data->flow) + 1;
}

static uint32_t rx_index(const struct host *host, uint64_t key)
{
    uint32_t i = rx_home(host, key);
    while (host->rx[i].key && host->rx[i].key != key)
        i = (i + 1) & host->rx_mask;
    return i;
}

_Static_assert((int)XOFF_REL_MARKED == FRAME_MARKED && (int)XOFF_REL_ASKS == FRAME_ASKS &&
                   (int)XOFF_REL_REDUCED == FRAME_REDUCED,
               "a reliability reads the flags of a frame as they are");

static inline struct xoff_rel_data data_of(const struct frame *data)
{
    return (struct xoff_rel_data){
        .seq = data->seq, .sent_at = data->sent_at, .bytes = data->payload, .bits = data->flags};
}

static uint32_t take_state(struct host *host)
{
    if (host->free_rx_state == NET_NONE)
        host_grow_rx_states(host);
    const uint32_t state = host->free_rx_state;
    memcpy(&host->free_rx_state, host->rx_states + (size_t)state * host->rx_state_bytes,
           sizeof host->free_rx_state);
    return state;
}

static void return_state(struct host *host, uint32_t state)
{
    memcpy(host->rx_states + (size_t)state * host->rx_state_bytes, &host->free_rx_state,
           sizeof host->free_rx_state);
    host->free_rx_state = state;
}

/* Makes the state of a flow at its receiver when its first frame comes; NULL: the flow has finished
 * before. */
__attribute__((noinline)) static struct rx_flow *
rx_make(struct host *host, const struct transport *t, const struct frame *data)
{
    const uint64_t key = key_of(data);
    /* The first frame of a flow needs no search among finished flows, unless copies of frames have
     * been seen. */
    if (__builtin_expect(data->seq || host->has_copies, 0) && host_has_finished(host, key))
        return NULL;
    if (!host->rx || 2 * (host->n_rx + 1) > host->rx_mask + 1)
        host_grow_rx(host);
    struct rx_flow *rx = &host->rx[rx_index(host, key)];
    *rx = (struct rx_flow){.key = key,
                           .message = data->message,
                           .ends = NET_NONE,
                           .more = NET_NONE,
                           .priority = data->priority,
                           .transport = data->transport};
    if (t->rel.shape.rx_size > sizeof rx->rel)
        rx->more = take_state(host);
    xoff_rel_init_rx(&t->rel, rx_rel(host, rx));
    xoff_np_init(&t->np, &rx->np);
    host->n_rx++;
    return rx;
}

/* Returns the state of a flow at its receiver; NULL: the flow has finished before. */
static inline struct rx_flow *rx_find(struct host *host, const struct transport *t,
                                      const struct frame *data)
{
    if (__builtin_expect(data->flags & FRAME_AGAIN, 0))
        host->has_copies = true;
    if (__builtin_expect(host->rx != NULL, 1)) {
        struct rx_flow *rx = &host->rx[rx_index(host, key_of(data))];
        if (__builtin_expect(rx->key != 0, 1))
            return rx;
    }
    return rx_make(host, t, data);
}

/* Takes an entry out of the hash table and moves back the entries that had probed past it. */
static void rx_forget(struct host *host, struct rx_flow *entry)
{
    uint32_t hole = (uint32_t)(entry - host->rx);
    for (uint32_t i = (hole + 1) & host->rx_mask; host->rx[i].key; i = (i + 1) & host->rx_mask) {
        const uint32_t home = rx_home(host, host->rx[i].key);
        if (((i - home) & host->rx_mask) >= ((i - hole) & host->rx_mask)) {
            host->rx[hole] = host->rx[i];
            hole = i;
        }
    }
    host->rx[hole].key = 0;
    host->n_rx--;
}

/* Fills the second cache line of a frame that acknowledges `data`. */
static void fill_extra(const struct transport *t, const struct frame *data,
                       const struct xoff_rel_ack *ack, struct frame *back)
{
    if (t->np.shape.returns_written) {
        *extra_of(back) = *extra_at(data);
    } else if (t->rel.shape.names_blocks) {
        struct sack *sack = &extra_of(back)->sack;
        sack->n = ack->n_sacks;
        for (uint32_t i = 0; i < ack->n_sacks; i++) {
            sack->from[i] = (uint32_t)(ack->sack_from[i] - ack->acked_to);
            sack->bytes[i] = (uint32_t)(ack->sack_to[i] - ack->sack_from[i]);
        }
    }
}

/* The hash of what goes back: its ports are the other way round. */
static uint32_t back_hash(const struct host *host, const struct frame *data)
{
    return host->n_flows_to ? data->hash << 16 | data->hash >> 16 : data->hash;
}

static inline uint8_t ack_priority(const struct host *host, const struct frame *data)
{
    return host->ack_class < 0 ? data->priority : (uint8_t)host->ack_class;
}

/* Out of line, so that taking a frame spills no registers for it. */
__attribute__((noinline)) static void send_ack(struct host *host, struct worker *w,
                                               const struct transport *t, const struct frame *data,
                                               const struct xoff_rel_ack *ack)
{
    struct long_frame back; /* its second line is filled only where it is read */
    back.frame = (struct frame){
        .seq = ack->acked_to,
        .src = host->node,
        .dst = data->src,
        .flow = data->flow,
        .hash = back_hash(host, data),
        .sent_at = ack->sent_at,
        /* TCP's SACK option takes 2 bytes and 8 for each block, in words of 4. */
        .bytes = (uint16_t)(t->ack_bytes + (ack->n_sacks ? 4 + 8u * ack->n_sacks : 0)),
        .payload = (uint16_t)(ack->n_marked << 8 | ack->n_frames),
        .kind = ack->is_nack ? FRAME_NACK : FRAME_ACK,
        .transport = data->transport,
        .priority = ack_priority(host, data),
        .flags = ack->echo ? FRAME_MARKED : 0,
        .is_bare = !host->net->has_extra && !ack->n_sacks,
    };
    if (!back.frame.is_bare)
        fill_extra(t, data, ack, &back.frame);
    host_queue_ack(host, w, &back.frame);
}

__attribute__((noinline)) static void send_cnp(struct host *host, struct worker *w,
                                               const struct transport *t, const struct frame *data)
{
    const struct net_spec *spec = &host->net->spec;
    const bool has_own = spec->cnp_priority >= 0 && !spec->wire->acks_keep_class;
    struct long_frame back;
    back.frame = (struct frame){
        .src = host->node,
        .dst = data->src,
        .flow = data->flow,
        .hash = back_hash(host, data),
        .sent_at = data->sent_at,
        .bytes = (uint16_t)t->ack_bytes,
        .kind = FRAME_CNP,
        .transport = data->transport,
        .priority = has_own ? (uint8_t)spec->cnp_priority : ack_priority(host, data),
    };
    host_queue_ack(host, w, &back.frame);
}

/* Sends the tag of a frame back to its source, in the state in which it has come. */
static void return_tag(struct host *host, struct worker *w, const struct frame *data)
{
    struct long_frame back;
    back.frame = (struct frame){
        .src = host->node,
        .dst = data->src,
        .flow = data->flow,
        .hash = back_hash(host, data),
        .sent_at = data->sent_at,
        .bytes = (uint16_t)host->net->spec.wire->min_bytes,
        .kind = FRAME_PROBE,
        .transport = data->transport,
        .priority = ack_priority(host, data),
    };
    extra_of(&back.frame)->tag = extra_at(data)->tag;
    host_queue_ack(host, w, &back.frame);
}

/* A message, or a whole flow, has arrived. */
static void finish_received(struct host *host, const struct transport *t, struct rx_flow *rx,
                            uint32_t number, uint32_t word, uint64_t bytes, bool ends_flow,
                            xoff_time now)
{
    const uint32_t from = (uint32_t)((rx->key - 1) >> 32);
    if (host->n_rx_notes == host->rx_notes_capacity)
        host_grow_rx_notes(host);
    host->rx_notes[host->n_rx_notes++] = (struct rx_note){
        .from = from, .number = number, .received = bytes, .marked = rx->marked, .finish_at = now};
    rx->marked = 0;
    if (ends_flow) {
        xoff_rel_fini_rx(&t->rel, rx_rel(host, rx), &host->ranges);
        if (rx->more != NET_NONE)
            return_state(host, rx->more);
        rx_forget(host, rx);
    }
    const struct app_event event = {
        .kind = APP_ARRIVED, .peer = from, .word = word & APP_MAX_WORD, .bytes = bytes};
    host_note_event(host, word >> 24, &event);
}

/* Returns when the ACK that is held back for a flow is due; XOFF_NEVER: none is held back. */
static xoff_time held_until(const struct host *host, struct rx_flow *rx)
{
    return rx->key ? rx_rel(host, rx)->deadline : XOFF_NEVER;
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

/* Drops the ACKs at the head of the ring that have been sent meanwhile, and sets the timer for the
 * first one left. */
static void trim_held(struct host *host)
{
    const uint32_t mask = host->delayed_capacity - 1;
    xoff_time at = XOFF_NEVER;
    while (host->n_delayed && at == XOFF_NEVER) {
        const struct delayed *head = &host->delayed[host->delayed_head];
        if (held_until(host, &host->rx[rx_index(host, head->key)]) == head->at) {
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
        struct rx_flow *rx = &host->rx[rx_index(host, due.key)];
        if (held_until(host, rx) != due.at)
            continue;
        const struct transport *t = &host->transports[rx->transport];
        const uint32_t from = (uint32_t)((due.key - 1) >> 32), flow = (uint32_t)(due.key - 1);
        const struct long_frame data = {.frame = {.src = from,
                                                  .flow = flow,
                                                  .hash = flow_hash(from, host->node, flow),
                                                  .priority = rx->priority,
                                                  .transport = rx->transport & 15u}};
        struct xoff_rel_ack ack;
        xoff_rel_expire_rx(&t->rel, rx_rel(host, rx), &host->ranges, &ack);
        send_ack(host, w, t, &data.frame, &ack);
    }
    trim_held(host);
}

/* Remembers where a message ends; the list is in order of bytes. */
static void add_end(struct host *host, struct rx_flow *rx, const struct frame *data)
{
    const uint64_t end = data->seq + data->payload;
    const uint32_t m = message_take(&host->messages); /* first, since the store may move */
    uint32_t *link = &rx->ends;
    while (*link != NET_NONE && host->messages.at[*link].end < end)
        link = &host->messages.at[*link].next;
    if (*link != NET_NONE && host->messages.at[*link].end == end) {
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

/* Completes the messages whose ends have been reached, and the flow with the last of them. */
static void finish_ends(struct host *host, const struct transport *t, struct rx_flow *rx,
                        uint64_t delivered, xoff_time now)
{
    while (rx->ends != NET_NONE && host->messages.at[rx->ends].end <= delivered) {
        const uint32_t m = rx->ends;
        const struct message done = host->messages.at[m];
        rx->ends = done.next;
        message_return(&host->messages, m);
        const uint64_t bytes = done.end - rx->message_from;
        rx->message_from = t->rel.ops->has_acks ? done.end : 0;
        finish_received(host, t, rx, done.number, done.word, bytes, done.ends_flow, now);
        if (done.ends_flow)
            return;
    }
}

/* Without ACKs, a frame of another message than the last frame's shows that the missing frames of
 * the last message are lost. */
static void change_message(struct host *host, struct rx_flow *rx, uint32_t message)
{
    while (rx->ends != NET_NONE) {
        const uint32_t m = rx->ends;
        rx->ends = host->messages.at[m].next;
        message_return(&host->messages, m);
    }
    rx->message = message;
}

/* Called when bytes up to `delivered` have been taken: completes messages whose end is reached. */
__attribute__((noinline)) static void deliver(struct host *host, const struct transport *t,
                                              struct rx_flow *rx, const struct frame *data,
                                              uint64_t before, uint64_t delivered, xoff_time now)
{
    const uint64_t end = data->seq + data->payload;
    const bool has_end = (data->flags & FRAME_LAST) && end > before;
    if (delivered > before && data->seq < delivered)
        rx->message = data->message;
    if (has_end && end <= delivered && rx->ends == NET_NONE) {
        const uint64_t bytes = end - rx->message_from;
        rx->message_from = t->rel.ops->has_acks ? end : 0;
        finish_received(host, t, rx, data->message, data->word, bytes, data->flags & FRAME_ENDS,
                        now);
        return;
    }
    if (has_end && t->rel.shape.reorders)
        add_end(host, rx, data);
    if (__builtin_expect(rx->ends != NET_NONE, 0))
        finish_ends(host, t, rx, delivered, now);
}

/* Takes a frame of a flow that is received in any order. */
static void take_loose(struct host *host, const struct transport *t, struct rx_flow *rx,
                       const struct frame *data, xoff_time now)
{
    struct xoff_rel_rx *rel = rx_rel(host, rx);
    const bool is_other = rx->message != data->message;
    if (is_other)
        change_message(host, rx, data->message);
    xoff_rel_count(rel, is_other, data->payload);
    if ((data->flags & FRAME_LAST) || rx->ends != NET_NONE)
        deliver(host, t, rx, data, 0, rel->delivered, now);
}

/* Asks the reliability about any frame other than a plain one in order. */
static void ask_reliability(struct host *host, struct worker *w, const struct transport *t,
                            struct rx_flow *rx, const struct frame *data)
{
    struct xoff_rel_rx *rel = rx_rel(host, rx);
    const xoff_time now = sim_now(w), held_to = rel->deadline;
    const struct xoff_rel_data about = data_of(data);
    const uint64_t before = rel->delivered;
    if (t->rel.shape.rx_blocks)
        host_grow_ranges(host, t->rel.shape.rx_blocks);
    struct xoff_rel_ack acks[XOFF_REL_ACKS];
    const uint32_t n_acks = xoff_rel_on_data(&t->rel, rel, &host->ranges, &about, now, acks);
    for (uint32_t i = 0; i < n_acks; i++)
        send_ack(host, w, t, data, &acks[i]);
    if (rel->deadline != XOFF_NEVER && rel->deadline != held_to)
        hold_ack(host, rx->key, rel->deadline);
    deliver(host, t, rx, data, before, rel->delivered, now);
}

__attribute__((noinline)) static void notify(struct host *host, struct worker *w,
                                             const struct transport *t, void *np,
                                             const struct frame *data)
{
    const struct xoff_np_data about = {.seq = data->seq,
                                       .bytes = data->payload,
                                       .is_marked = data->flags & FRAME_MARKED,
                                       .has_tag = data->flags & FRAME_ASKS_RATE};
    const unsigned due = xoff_np_on_data(&t->np, np, &about, sim_now(w));
    if (due & XOFF_NP_CNP)
        send_cnp(host, w, t, data);
    if (about.has_tag && due & XOFF_NP_RETURN_TAG)
        return_tag(host, w, data);
}

/* A probe may come before the first data of its flow or after the last, so the notification point
 * sees it with an initial state. */
void flow_on_probe(struct host *host, struct worker *w, const struct frame *probe)
{
    const struct transport *t = &host->transports[probe->transport];
    uint64_t state;
    xoff_np_init(&t->np, &state);
    if (xoff_np_hears(&t->np, true))
        notify(host, w, t, &state, probe);
}

static void answer_late(struct host *host, struct worker *w, const struct transport *t,
                        const struct frame *data)
{
    const struct xoff_rel_data about = data_of(data);
    struct xoff_rel_ack ack;
    if (xoff_rel_on_late(&t->rel, &about, &ack))
        send_ack(host, w, t, data, &ack);
}

/* Takes a frame that is not the next one of a flow whose frames are acknowledged one by one, or
 * whose ACK has a second line. Out of line, so that most frames spill no registers for it. */
__attribute__((noinline)) static void take_other(struct host *host, struct worker *w,
                                                 const struct transport *t, struct rx_flow *rx,
                                                 const struct frame *data)
{
    struct xoff_rel_rx *rel = rx_rel(host, rx);
    struct xoff_rel_ack ack;
    if (xoff_rel_is_loose(&t->rel)) {
        take_loose(host, t, rx, data, sim_now(w));
    } else if (!xoff_rel_take(rel, data->seq, data->payload, data->sent_at,
                              data->flags & FRAME_MARKED, &ack)) {
        ask_reliability(host, w, t, rx, data);
    } else {
        send_ack(host, w, t, data, &ack);
        rx->message = data->message;
        if (data->flags & FRAME_LAST)
            deliver(host, t, rx, data, data->seq, rel->delivered, sim_now(w));
    }
}

/* Sends an ACK for a frame that was the next one: send_ack() for an ACK without a second line. */
static inline void send_plain_ack(struct host *host, struct worker *w, const struct transport *t,
                                  const struct frame *data, uint64_t acked_to)
{
    const bool is_marked = data->flags & FRAME_MARKED;
    struct frame back;
    back.at = 0;
    back.seq = acked_to;
    back.src = host->node;
    back.dst = data->src;
    back.flow = data->flow;
    back.hash = back_hash(host, data);
    back.sent_at = data->sent_at;
    back.bytes = (uint16_t)t->ack_bytes;
    back.payload = (uint16_t)(is_marked << 8 | 1);
    back.kind = FRAME_ACK;
    back.is_bare = true;
    back.transport = data->transport;
    back.priority = ack_priority(host, data);
    back.flags = is_marked ? FRAME_MARKED : 0;
    back.pool = 0;
    back.in_port = back.out_port = 0;
    back.next = 0;
    back.message = back.word = 0;
    host_queue_ack(host, w, &back);
}

static inline void take_data(struct host *host, struct worker *w, const struct frame *data)
{
    const struct transport *t = &host->transports[data->transport];
    struct rx_flow *rx = rx_find(host, t, data);
    if (__builtin_expect(!rx, 0)) {
        answer_late(host, w, t, data);
        return;
    }
    rx->marked += (data->flags & FRAME_MARKED) != 0;
    if (xoff_np_hears(&t->np, data->flags & (FRAME_MARKED | FRAME_ASKS_RATE)))
        notify(host, w, t, &rx->np, data);
    struct xoff_rel_rx *rel = rx_rel(host, rx);
    if (!rel->is_open || data->seq != rel->delivered || host->net->has_extra) {
        take_other(host, w, t, rx, data);
        return;
    }
    rel->delivered += data->payload;
    rx->message = data->message;
    send_plain_ack(host, w, t, data, rel->delivered);
    if (data->flags & FRAME_LAST)
        deliver(host, t, rx, data, data->seq, rel->delivered, sim_now(w));
}

void flow_on_data(struct host *host, struct worker *w, const struct frame *data)
{
    take_data(host, w, data);
    if (__builtin_expect(host->n_delayed, 0))
        trim_held(host);
}
