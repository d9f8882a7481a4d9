/* Flows at their sender: offers become flows and messages, flows become frames.
 *
 * A flow is on the ready list of its priority, on its pacing timer, or waits: for more to send, for
 * its window, for an ACK. Its reliability (rel.h) decides what it sends next. Its reaction point
 * (rp.h) and the app's own pace decide how fast and how much.
 *
 * One timer of a flow serves both the retransmission timeout and the reaction point's deadline. The
 * timer is lazy: it is moved only to an earlier time, and on expiry it is set to the deadline that
 * progress has meanwhile pushed back. So an ACK costs no timer operation.
 */
#include <string.h>

#include "net/model.h"

/* Returns the byte behind the last that may be sent, ignoring the window. From the run's stop on,
 * an endless flow has nothing new, but what was lost must still be sent again. */
uint64_t flow_end(const struct host *host, const struct flow *flow, xoff_time now)
{
    if (!flow->endless)
        return flow->offered;
    return now < host->net->spec.stop ? UINT64_MAX / 2 : flow->rel.sent_to;
}

static const struct message *message_at(const struct host *host, const struct flow *flow,
                                        uint64_t seq)
{
    uint32_t m = flow->messages;
    while (host->messages.at[m].end <= seq)
        m = host->messages.at[m].next;
    return &host->messages.at[m];
}

/* Finds what the flow would send next; false: nothing for now. */
static inline bool next_segment(const struct host *host, const struct flow *flow, xoff_time now,
                                struct xoff_rel_segment *s)
{
    const uint64_t end = flow_end(host, flow, now);
    const bool may =
        __builtin_expect(flow->is_sequential, 1)
            ? xoff_rel_next_in_sequence(&flow->rel, end, flow->window_bytes, flow->payload_max, s)
            : xoff_rel_next(&host->transports[flow->transport].rel, &flow->rel, &host->ranges, end,
                            flow->window_bytes, flow->payload_max, s);
    if (!may)
        return false;
    if (flow->has_messages) { /* a frame carries bytes of one message */
        const uint64_t left = message_at(host, flow, s->seq)->end - s->seq;
        if (left < s->bytes)
            s->bytes = (uint32_t)left;
    }
    return true;
}

static inline uint32_t frame_bytes_of(const struct host *host, const struct flow *flow,
                                      uint32_t payload)
{
    const uint32_t bytes = payload + flow->header_bytes;
    const uint32_t least = host->net->spec.wire->min_bytes;
    return bytes < least ? least : bytes;
}

uint32_t flow_next_bytes(const struct host *host, const struct flow *flow, xoff_time now)
{
    struct xoff_rel_segment s;
    XOFF_ASSERT(next_segment(host, flow, now, &s));
    return frame_bytes_of(host, flow, s.bytes);
}

static void push_ready(struct host *host, uint32_t index, xoff_time now)
{
    struct flow *flow = flow_at(host, index);
    struct ready *ready = &host->ready[flow->priority];
    flow->is_ready = true;
    flow->ready_at = now;
    flow->next = NET_NONE;
    if (ready->head == NET_NONE)
        ready->head = index;
    else
        flow_at(host, ready->tail)->next = index;
    ready->tail = index;
    host->port.backlog |= (uint8_t)(1u << flow->priority);
}

/* Takes the flow off the head of its ready list. */
static void pop_ready(struct host *host, struct flow *flow)
{
    struct ready *ready = &host->ready[flow->priority];
    ready->head = flow->next;
    flow->is_ready = false;
}

/* Takes a flow off its ready list from any position: what it would send has been acknowledged, or
 * its window has closed. */
static void leave_ready(struct host *host, uint32_t index)
{
    struct flow *flow = flow_at(host, index);
    struct ready *ready = &host->ready[flow->priority];
    uint32_t before = NET_NONE;
    for (uint32_t i = ready->head; i != index; i = flow_at(host, i)->next)
        before = i;
    if (before == NET_NONE)
        ready->head = flow->next;
    else
        flow_at(host, before)->next = flow->next;
    if (ready->tail == index)
        ready->tail = before;
    flow->is_ready = false;
    if (ready->head == NET_NONE && !host->acks[flow->priority].n)
        host->port.backlog &= (uint8_t) ~(1u << flow->priority);
}

static inline bool may_send(const struct host *host, const struct flow *flow, xoff_time now)
{
    struct xoff_rel_segment s;
    if (!flow->is_sequential)
        return next_segment(host, flow, now, &s);
    return xoff_rel_has_next(&flow->rel, flow_end(host, flow, now), flow->window_bytes);
}

/* Returns whether the flow has something to send, now or when its pace allows. */
static inline bool settle(struct host *host, uint32_t index, xoff_time now)
{
    struct flow *flow = flow_at(host, index);
    if (!may_send(host, flow, now)) {
        flow->is_bound = flow->rel.next < flow_end(host, flow, now);
        if (flow->is_ready)
            leave_ready(host, index);
        return false;
    }
    flow->is_bound = false;
    if (flow->is_ready)
        return true;
    if (flow->pace_bps && flow->next_at > now && !host->scan.is_on)
        heap_set(&host->timers, host_pace_timer(host, index), flow->next_at);
    else
        push_ready(host, index, now);
    return true;
}

void flow_place(struct host *host, uint32_t index, xoff_time now)
{
    settle(host, index, now);
}

void flow_promote(struct host *host, uint32_t index)
{
    struct flow *flow = flow_at(host, index);
    struct ready *ready = &host->ready[flow->priority];
    if (ready->head == index)
        return;
    leave_ready(host, index);
    flow->is_ready = true;
    flow->next = ready->head;
    ready->head = index;
}

void flow_close(struct host *host, uint32_t index)
{
    struct flow *flow = flow_at(host, index);
    if (host->scan.is_on)
        scan_close(host, index);
    if (flow->is_ready)
        leave_ready(host, index);
    heap_remove(&host->timers, host_pace_timer(host, index));
    heap_remove(&host->timers, host_pace_timer(host, index) + 1);
    xoff_rel_fini_tx(&host->transports[flow->transport].rel, &flow->rel, &host->ranges);
    host->flow_notes[flow->number].open = 0;
    flow->next = host->free_flow;
    host->free_flow = index;
}

void flow_set_timer(struct host *host, uint32_t index, xoff_time now)
{
    struct flow *flow = flow_at(host, index);
    xoff_time at = flow->rel.deadline;
    /* With nothing to send and nothing outstanding, the timers of a reaction point can wait: they
     * catch up when there is something to send again (flow_offer). */
    const bool is_idle = at == XOFF_NEVER && flow->rel.sent_to >= flow_end(host, flow, now);
    if (!is_idle)
        at = xoff_time_min(at, flow->rp.deadline);
    const uint32_t timer = host_pace_timer(host, index) + 1;
    if (at < flow->timer_at) {
        flow->timer_at = at;
        heap_set(&host->timers, timer, at);
    } else if (at == XOFF_NEVER && flow->timer_at != XOFF_NEVER) {
        flow->timer_at = XOFF_NEVER; /* an idle network must come to rest */
        heap_remove(&host->timers, timer);
    }
}

/* Returns the time of a frame on the wire at the flow's pace; fractions of a bit are carried over.
 */
static xoff_time pace_gap(struct flow *flow, uint32_t bytes)
{
    const uint64_t bits = (uint64_t)bytes * 8 * (uint64_t)XOFF_S + flow->carry;
    flow->carry = bits % flow->pace_bps;
    return (xoff_time)(bits / flow->pace_bps);
}

/* The pace counts MAC frame bytes. A flow that was held back makes up for one frame at most. */
static void pace(struct flow *flow, uint32_t bytes, xoff_time now)
{
    flow->paced_at = flow->next_at;
    flow->paced_bytes = bytes;
    flow->next_at += pace_gap(flow, bytes);
    if (flow->next_at < now)
        flow->next_at = now;
}

static void set_pace(struct host *host, uint32_t index, xoff_rate bps, xoff_time now)
{
    struct flow *flow = flow_at(host, index);
    if (host->scan.is_on) {
        scan_set_pace(host, flow, bps);
        return;
    }
    const bool was_stopped = flow->pace_bps == XOFF_RP_STOPPED;
    flow->pace_bps = bps;
    flow->carry = 0;
    flow->next_at = now;
    /* The new rate applies from the last frame sent on, but a stop ends at once. */
    if (bps && flow->paced_bytes && !was_stopped) {
        const xoff_time at = flow->paced_at + pace_gap(flow, flow->paced_bytes);
        flow->next_at = at > now ? at : now;
    }
    if (!flow->is_ready)
        heap_remove(&host->timers, host_pace_timer(host, index));
}

static uint64_t window_of(const struct host *host, const struct flow *flow)
{
    const struct net_transport *spec = host->transports[flow->transport].spec;
    const uint64_t line_bps = host->port.clock.rate_bps;
    uint64_t cap = XOFF_RP_NO_WINDOW;
    if (spec->window == NET_WINDOW_BYTES) {
        cap = (uint64_t)spec->window_bytes;
    } else if (spec->window != NET_WINDOW_NONE) {
        const uint64_t bps = spec->window == NET_WINDOW_SCALED && flow->rp.rate_bps < line_bps
                                 ? flow->rp.rate_bps
                                 : line_bps;
        cap = (uint64_t)xoff_bytes_in(flow->base_rtt, bps);
    }
    const uint64_t window = flow->rp.window_bytes < cap ? flow->rp.window_bytes : cap;
    return window ? window : 1; /* one frame is always allowed, so that a flow never stalls */
}

void flow_take_answer(struct host *host, uint32_t index, xoff_time now)
{
    struct flow *flow = flow_at(host, index);
    xoff_rate bps = flow->rp.rate_bps >= host->port.clock.rate_bps ? 0 : flow->rp.rate_bps;
    if (flow->app_bps && (!bps || flow->app_bps < bps))
        bps = flow->app_bps;
    if (bps != flow->pace_bps)
        set_pace(host, index, bps, now);
    flow->window_bytes = window_of(host, flow);
    flow_set_timer(host, index, now);
}

static inline struct xoff_notice new_tag(const struct transport *t)
{
    return (struct xoff_notice){.rate_bps = XOFF_NOTICE_NO_RATE, .kind = t->rp.shape.tag_kind};
}

/* Puts the tag that is due into the frame; all frames of the transport leave room for it. */
XOFF_SELDOM static void add_tag(struct host *host, struct flow *flow, struct frame *frame)
{
    extra_of(frame)->tag = new_tag(&host->transports[flow->transport]);
    flow->flags &= (uint8_t)~FRAME_ASKS_RATE;
    flow->header_bytes -= XOFF_RATE_TAG_BYTES;
    host->flow_notes[flow->number].n_tags_sent++;
}

static void send_probe(struct host *host, struct worker *w, const struct flow *flow)
{
    const struct transport *t = &host->transports[flow->transport];
    struct long_frame out;
    out.frame = (struct frame){
        .src = host->node,
        .dst = flow->to,
        .flow = flow->number,
        .hash = flow->hash,
        .sent_at = sim_now(w),
        .bytes = (uint16_t)host->net->spec.wire->min_bytes,
        .kind = FRAME_PROBE,
        .flags = FRAME_ASKS_RATE,
        .transport = flow->transport & 15u,
        .priority = flow->priority,
    };
    extra_of(&out.frame)->tag = new_tag(t);
    host->flow_notes[flow->number].n_tags_sent++;
    host_queue_ack(host, w, &out.frame);
}

void flow_expire_rp(struct host *host, struct worker *w, uint32_t index, xoff_time now)
{
    struct flow *flow = flow_at(host, index);
    const struct transport *t = &host->transports[flow->transport];
    xoff_rp_expire(&t->rp, flow_rp_state(host, flow), now, &flow->rp);
    if (flow->rp.probe == XOFF_RP_PROBE_ALONE) {
        send_probe(host, w, flow);
    } else if (flow->rp.probe == XOFF_RP_PROBE_ON_DATA && !(flow->flags & FRAME_ASKS_RATE)) {
        flow->flags |= FRAME_ASKS_RATE;
        flow->header_bytes += XOFF_RATE_TAG_BYTES;
    }
    flow->rp.probe = XOFF_RP_NO_PROBE;
}

/* Tells the reaction point of a frame that was sent, and adopts its answer. */
static inline void tell_sent(struct host *host, struct flow *flow, uint32_t index, uint32_t bytes,
                             xoff_time now)
{
    const struct transport *t = &host->transports[flow->transport];
    const xoff_rate rate_bps = flow->rp.rate_bps;
    const uint64_t window_bytes = flow->rp.window_bytes;
    const xoff_time deadline = flow->rp.deadline;
    xoff_rp_on_sent(&t->rp, flow_rp_state(host, flow), bytes, now, &flow->rp);
    if (rate_bps != flow->rp.rate_bps || window_bytes != flow->rp.window_bytes)
        flow_take_answer(host, index, now);
    else if (deadline != flow->rp.deadline || flow->rel.deadline == XOFF_NEVER)
        flow_set_timer(host, index, now); /* with nothing outstanding it may be idle now */
}

static inline void note_sent(struct host *host, struct flow *flow, uint32_t index,
                             const struct xoff_rel_segment *s, uint32_t bytes, xoff_time now)
{
    xoff_rel_on_sent(&host->transports[flow->transport].rel, &flow->rel, s, now);
    if (__builtin_expect(host->scan.is_on, 0)) {
        scan_pace(host, flow, bytes, now);
    } else if (flow->pace_bps) {
        pace(flow, bytes, now);
    } else {
        flow->paced_at = now;
        flow->paced_bytes = bytes;
    }
    if (flow->hears_sent)
        tell_sent(host, flow, index, bytes, now);
    if (flow->rel.deadline < flow->timer_at)
        flow_set_timer(host, index, now);
}

/* Drops the first message of a connection without ACKs, once it has been sent. */
static void forget_message(struct host *host, struct flow *flow)
{
    const uint32_t m = flow->messages;
    flow->messages = host->messages.at[m].next;
    message_return(&host->messages, m);
}

/* Fills the next frame of any flow. */
__attribute__((noinline)) static void fill_any(struct host *host, struct flow *flow, uint32_t index,
                                               xoff_time now, struct frame *frame)
{
    struct xoff_rel_segment s;
    XOFF_ASSERT(next_segment(host, flow, now, &s));
    uint32_t number = flow->number, word = flow->word;
    bool is_last = !flow->endless && !flow->is_connection && s.seq + s.bytes == flow->offered;
    const bool ends = is_last;
    if (flow->has_messages) {
        const struct message *m = message_at(host, flow, s.seq);
        number = m->number;
        word = m->word;
        is_last = s.seq + s.bytes == m->end;
    }
    s.is_last = is_last;
    struct flow_note *note = &host->flow_notes[number];
    *frame = (struct frame){
        .seq = flow->has_acks ? s.seq : s.seq - flow->rel.una,
        .src = flow->from,
        .dst = flow->to,
        .flow = flow->number,
        .hash = flow->hash,
        .sent_at = now,
        .bytes = (uint16_t)frame_bytes_of(host, flow, s.bytes),
        .payload = (uint16_t)s.bytes,
        .kind = FRAME_DATA,
        .is_bare = !host->net->has_extra,
        .transport = flow->transport & 15u,
        .priority = flow->priority,
        .flags = (uint8_t)((is_last ? FRAME_LAST : 0) | (ends ? FRAME_ENDS : 0) |
                           (s.is_again ? FRAME_AGAIN : 0) | (s.has_reduced ? FRAME_REDUCED : 0) |
                           flow->flags),
        .message = number,
        .word = word,
    };
    if (__builtin_expect(frame->flags & FRAME_ASKS_RATE, 0))
        add_tag(host, flow, frame);
    note->sent += s.bytes;
    note->again_frames += s.is_again;
    host->offered_bytes += frame->bytes;
    pop_ready(host, flow);
    note_sent(host, flow, index, &s, frame->bytes, now);
    if (!flow->has_acks && is_last) {
        if (ends) {
            flow_close(host, index);
            return;
        }
        forget_message(host, flow);
    }
    bool asks = !settle(host, index, now);
    if (host->transports[flow->transport].rel.shape.asks_at_end_only)
        asks = flow->rel.sent_to >= flow_end(host, flow, now);
    if (asks || (flow->endless && flow->next_at >= host->net->spec.stop))
        frame->flags |= FRAME_ASKS;
}

/* A flow whose frames take the short way: it is one message of known length, sent in sequence and
 * acknowledged; its frames have no second line, and full ones are not padded. */
static bool is_plain(const struct host *host, const struct transport *t, const struct flow *flow)
{
    return flow->is_sequential && flow->has_acks && !flow->endless && !flow->is_connection &&
           !t->rel.ops->on_sent && !t->rel.shape.asks_at_end_only && !t->rp.ops->sends_tags &&
           !host->scan.is_on && !host->net->has_extra &&
           flow->payload_max + flow->header_bytes >= host->net->spec.wire->min_bytes;
}

/* A flow at the head of its ready list goes to the tail. */
static inline void rotate(struct host *host, struct flow *flow, uint32_t index)
{
    struct ready *ready = &host->ready[flow->priority];
    ready->head = flow->next;
    flow_at(host, ready->tail)->next = index;
    flow->next = NET_NONE;
    ready->tail = index;
}

/* Tells pace and reaction point of a plain flow of a frame that it has sent. Out of line, so that
 * frames of other flows spill no registers for it. */
__attribute__((noinline)) static void follow_up(struct host *host, struct flow *flow,
                                                uint32_t index, xoff_time now, struct frame *frame)
{
    if (flow->pace_bps)
        pace(flow, frame->bytes, now);
    if (flow->hears_sent)
        tell_sent(host, flow, index, frame->bytes, now);
    if ((!flow->pace_bps || flow->next_at <= now) &&
        flow->rel.next - flow->rel.una < flow->window_bytes) {
        if (flow->next != NET_NONE)
            rotate(host, flow, index);
        return;
    }
    pop_ready(host, flow);
    if (!settle(host, index, now))
        frame->flags |= FRAME_ASKS;
}

void flow_fill(struct host *host, uint32_t index, xoff_time now, struct frame *frame)
{
    struct flow *flow = flow_at(host, index);
    struct xoff_rel_tx *tx = &flow->rel;
    const uint64_t seq = tx->next, end = seq + flow->payload_max;
    /* The short way is for a full frame in the midst of a plain flow, behind which another may
     * follow. */
    if (!flow->is_plain || end >= flow->offered || seq != tx->sent_to ||
        end - tx->una >= flow->window_bytes || tx->deadline == XOFF_NEVER) {
        fill_any(host, flow, index, now, frame);
        return;
    }
    /* Field by field: for a compound literal, compilers first read all that goes into it. */
    frame->at = 0;
    frame->seq = seq;
    frame->sent_at = now;
    frame->src = flow->from;
    frame->dst = flow->to;
    frame->hash = flow->hash;
    frame->word = flow->word;
    frame->kind = FRAME_DATA;
    frame->is_bare = true;
    frame->transport = flow->transport & 15u;
    frame->priority = flow->priority;
    frame->flags = flow->flags;
    frame->flow = frame->message = flow->number;
    host->flow_notes[flow->number].sent += flow->payload_max;
    frame->payload = flow->payload_max;
    const uint32_t bytes = (uint32_t)flow->payload_max + flow->header_bytes;
    frame->bytes = (uint16_t)bytes;
    frame->pool = 0;
    frame->in_port = frame->out_port = 0;
    frame->next = 0;
    host->offered_bytes += bytes;
    tx->next = tx->sent_to = end;
    flow->ready_at = flow->paced_at = now;
    flow->paced_bytes = bytes;
    if (flow->pace_bps || flow->hears_sent)
        follow_up(host, flow, index, now, frame);
    else if (flow->next != NET_NONE)
        rotate(host, flow, index);
}

void flow_retire(struct host *host, xoff_time now)
{
    for (uint32_t p = 0; p < XOFF_N_PRIORITIES; p++)
        for (uint32_t i = host->ready[p].head; i != NET_NONE;) {
            const uint32_t next = flow_at(host, i)->next;
            if (flow_at(host, i)->endless)
                flow_settle(host, i, now);
            i = next;
        }
}

static uint32_t new_flow(struct host *host)
{
    if (host->free_flow != NET_NONE) {
        const uint32_t index = host->free_flow;
        host->free_flow = flow_at(host, index)->next;
        return index;
    }
    if (host->n_flows == host->flows_capacity)
        host_grow_flows(host);
    return host->n_flows++;
}

/* Draws the priority of a new flow from the offer's set: value `number` of the host's random stream
 * picks one. The draw uses no bit of the flow's hash, which picks paths, and does not depend on
 * which other flows start. */
static uint8_t draw_priority(const struct host *host, const struct app_offer *offer,
                             uint32_t number)
{
    uint32_t set = offer->priorities;
    if (!set)
        return offer->priority;
    struct xoff_rng rng = {.key = host->priority_rng.key, .counter = number};
    for (uint64_t n = xoff_rng_below(&rng, (uint32_t)__builtin_popcount(set)); n; n--)
        set &= set - 1;
    return (uint8_t)__builtin_ctz(set);
}

/* Bytes that frames leave for a tag, and that those without one do not have. */
static uint32_t tag_room(const struct transport *t)
{
    return t->rp.ops->sends_tags ? XOFF_RATE_TAG_BYTES : 0;
}

/* Adds the record of a flow, or of a message that has its own: then `open` is NET_NONE. */
static uint32_t new_note(struct host *host, const struct app_offer *offer, uint8_t priority,
                         uint32_t hash, uint32_t open, xoff_time now)
{
    if (host->n_flow_notes == host->flow_notes_capacity)
        host_grow_flow_notes(host);
    const struct transport *t = &host->transports[offer->transport];
    host->flow_notes[host->n_flow_notes] = (struct flow_note){
        .to = offer->to,
        .tag = offer->tag,
        .priority = priority,
        .reliable = t->rel.ops->has_acks,
        .is_connection = (offer->continues && !offer->is_message) || offer->bytes == UINT64_MAX,
        .transport = offer->transport,
        .frame_bytes =
            (uint16_t)((offer->frame_bytes ? offer->frame_bytes : host->net->spec.max_frame_bytes) -
                       tag_room(t)),
        .header_bytes = (uint16_t)(t->header_bytes - tag_room(t)),
        .hash = hash,
        .number = host->n_flow_notes,
        .rate_bps = offer->rate_bps,
        .start_at = now,
        .acked_at = XOFF_NEVER,
        .open = open + 1,
    };
    return host->n_flow_notes++;
}

/* Returns the word that frames carry to the other end: their traffic entry, for its apps and the
 * machines of a receiver, and the offer's word. */
static uint32_t word_of(const struct app_offer *offer)
{
    const uint32_t entry = offer->tag < NET_NOBODY ? offer->tag : NET_NOBODY;
    return entry << 24 | (offer->word & APP_MAX_WORD);
}

#define FIRST_SPORT 10000u

/* Source ports are counted for each pair of hosts. */
static uint32_t hash_of(struct host *host, const struct app_offer *offer, uint32_t number)
{
    if (!host->n_flows_to)
        return flow_hash(host->node, offer->to, number);
    const uint32_t sport = (FIRST_SPORT + host->n_flows_to[offer->to]++) & UINT16_MAX;
    return sport | (uint32_t)offer->dport << 16;
}

/* Whether somebody asks for the base RTT of a flow. It takes a walk over the whole path, whose
 * lines are cold in a large network. */
static bool needs_rtt(const struct transport *t)
{
    return t->rp.ops->init || t->spec->window == NET_WINDOW_BDP ||
           t->spec->window == NET_WINDOW_SCALED;
}

static uint32_t start_flow(struct host *host, const struct app_offer *offer, uint32_t word,
                           xoff_time now)
{
    const uint32_t index = new_flow(host), number = host->n_flow_notes;
    const struct transport *t = &host->transports[offer->transport];
    const uint32_t hash = hash_of(host, offer, number);
    const uint8_t priority = draw_priority(host, offer, number);
    new_note(host, offer, priority, hash, index, now);
    const uint32_t frame_bytes = host->flow_notes[number].frame_bytes;
    struct flow *flow = flow_at(host, index);
    *flow = (struct flow){
        .from = host->node,
        .to = offer->to,
        .number = number,
        .hash = hash,
        /* Traffic ensures that this is above 0. */
        .payload_max = (uint16_t)(frame_bytes - (t->header_bytes - tag_room(t))),
        .header_bytes = (uint16_t)(t->header_bytes - tag_room(t)),
        .priority = priority,
        .transport = offer->transport,
        .is_sequential = xoff_rel_is_sequential(&t->rel),
        .has_acks = t->rel.ops->has_acks,
        .hears_sent = xoff_rp_hears_sent(&t->rp),
        .flags = t->rp.ops->tag_bytes == XOFF_CN_TAG_BYTES ? FRAME_TAGGED : 0,
        .endless = offer->bytes == UINT64_MAX,
        .is_connection = offer->continues,
        .has_messages = offer->continues && offer->is_message,
        .word = word,
        .app_bps = offer->rate_bps,
        .next_at = now,
        .messages = NET_NONE,
        .timer_at = XOFF_NEVER,
    };
    flow->is_plain = is_plain(host, t, flow);
    if (t->spec->has_common_rtt)
        flow->base_rtt = host->net->max_rtt[offer->transport];
    else if (flow->has_acks && needs_rtt(t))
        flow->base_rtt =
            path_rtt(host->net, host->node, offer->to, hash, path_bytes(host->net, t, frame_bytes),
                     path_ack_bytes(host->net, t));
    xoff_rel_init_tx(&t->rel, &flow->rel);
    if (host->scan.is_on)
        scan_add(host, index);
    const struct xoff_rp_flow about = {.base_rtt = flow->base_rtt,
                                       .pace_bps = offer->rate_bps,
                                       .seed = host->priority_rng.key ^ xoff_mix64(number + 1)};
    xoff_rp_init(&t->rp, flow_rp_state(host, flow), &about, now, &flow->rp);
    flow_take_answer(host, index, now);
    return index;
}

static void add_message(struct host *host, uint32_t index, uint32_t number, uint32_t word)
{
    const uint32_t m = message_take(&host->messages);
    struct flow *flow = flow_at(host, index);
    host->messages.at[m] =
        (struct message){.end = flow->offered, .number = number, .word = word, .next = NET_NONE};
    if (flow->messages == NET_NONE)
        flow->messages = m;
    else
        host->messages.at[flow->last_message].next = m;
    flow->last_message = m;
}

void flow_offer(struct host *host, struct worker *w, uint32_t app, const struct app_offer *offer)
{
    const xoff_time now = host_now(host, w);
    if (offer->is_done) {
        note_operation(host, offer, now);
        return;
    }
    uint32_t *connection =
        &host->app_connections[host->app_first_connection[app] + offer->connection];
    uint32_t index = offer->continues ? *connection : NET_NONE;
    const uint32_t word = word_of(offer);
    uint32_t number = host->n_flow_notes;
    if (index == NET_NONE) {
        index = start_flow(host, offer, word, now);
        if (offer->continues)
            *connection = index;
    } else if (offer->is_message) {
        const struct flow *open = flow_at(host, index);
        new_note(host, offer, open->priority, open->hash, NET_NONE, now);
    } else {
        number = flow_at(host, index)->number;
    }
    struct flow *flow = flow_at(host, index);
    if (flow->rp.deadline <= now) {
        flow_expire_rp(host, w, index, now);
        flow_take_answer(host, index, now);
    }
    if (!flow->endless) {
        flow->offered += offer->bytes;
        host->flow_notes[number].offered += offer->bytes;
        if (flow->has_messages)
            add_message(host, index, number, word);
    }
    flow_settle(host, index, now);
    flow_set_timer(host, index, now); /* the flow may have been idle */
}
