/* Flows at their sender, continued: ACKs, NACKs, CNPs and timers.
 *
 * Go-back-N: the sender goes back to what a NACK asks for, or to the oldest unacknowledged byte
 * when nothing was acknowledged for `timeout`.
 */
#include "net/model.h"

/* Everything up to `acked` is there: messages that end with it, or the flow itself, are done. */
static void finish_acked(struct host *host, struct worker *w, uint32_t index, uint64_t acked)
{
    const xoff_time now = sim_now(w);
    struct flow *flow = flow_at(host, index);
    struct app_event event = {.kind = APP_ACKED, .peer = flow->to};
    while (flow->has_messages && flow->messages != NET_NO_SLOT &&
           host->messages.at[flow->messages].end <= acked) {
        const uint32_t m = flow->messages;
        const struct message done = host->messages.at[m];
        flow->messages = done.next;
        message_return(&host->messages, m);
        host->flow_notes[done.number].acked_at = now;
        event.word = done.word & APP_MAX_WORD;
        host_note_event(host, host->flow_notes[done.number].tag, &event);
    }
    if (flow->endless || flow->is_stream || acked != flow->offered)
        return;
    struct flow_note *note = &host->flow_notes[flow->number];
    note->acked_at = now;
    event.word = flow->word & APP_MAX_WORD;
    flow_close(host, index);
    host_note_event(host, note->tag, &event);
}

/* Returns whether a loss was found. */
static bool take_gbn(struct host *host, struct flow *flow, const struct frame *ack, xoff_time now)
{
    if (ack->seq > flow->acked) {
        flow->acked = ack->seq;
        flow->timeout_at = now + host->net->spec.timeout_for;
        if (flow->sent_to < flow->acked)
            flow->sent_to = flow->acked;
    }
    bool has_lost = false;
    if (ack->kind == FRAME_NACK && ack->seq >= flow->acked && flow->sent_to > ack->seq) {
        flow->sent_to = ack->seq;
        has_lost = true;
    }
    if (flow->acked == flow->highest && !has_lost)
        flow->timeout_at = XOFF_NEVER; /* nothing is outstanding */
    return has_lost;
}

static struct xoff_tcp_outcome take_tcp_ack(struct host *host, struct flow *flow,
                                            const struct frame *ack, xoff_time rtt, xoff_time now)
{
    const struct transport *t = &host->transports[flow->transport];
    struct xoff_tcp_ack a = {.acked_to = ack->seq};
    if (t->tcp.has_sack) {
        const struct sack *sack = &extra_at(ack)->sack;
        a.n_sacks = sack->n;
        for (uint32_t i = 0; i < sack->n; i++) {
            a.sack_from[i] = ack->seq + sack->from[i];
            a.sack_to[i] = a.sack_from[i] + sack->bytes[i];
        }
    }
    host_grow_ranges(host, XOFF_TCP_SACKS);
    return xoff_tcp_on_ack(&t->tcp, flow_tcp(host, flow), &host->ranges, &a, rtt, now);
}

static bool is_same(const struct xoff_rp_answer *a, const struct xoff_rp_answer *b)
{
    return a->rate_bps == b->rate_bps && a->window_bytes == b->window_bytes &&
           a->deadline == b->deadline;
}

/* Go-back-N whose reaction point does not look at ACKs. */
static void take_plain(struct host *host, struct worker *w, uint32_t index, const struct frame *ack)
{
    struct flow *flow = flow_at(host, index);
    const uint64_t before = flow->acked;
    take_gbn(host, flow, ack, sim_now(w));
    if (flow->timeout_at == XOFF_NEVER)
        flow_set_timer(host, index, sim_now(w));
    flow_settle(host, index, sim_now(w));
    if (flow->acked > before && (flow->has_messages || flow->acked == flow->offered))
        finish_acked(host, w, index, flow->acked);
}

void flow_on_ack(struct host *host, struct worker *w, const struct frame *ack)
{
    const xoff_time now = sim_now(w);
    const uint32_t index = host->flow_notes[ack->flow].slot;
    if (index == NET_NO_SLOT)
        return;
    struct flow *flow = flow_at(host, index);
    const struct transport *t = &host->transports[flow->transport];
    if (!t->rp->on_ack && !t->rp->on_loss && flow->reliability != XOFF_REL_TCP) {
        take_plain(host, w, index, ack);
        return;
    }
    void *rp = flow_rp_state(flow);
    const bool is_tcp = flow->reliability == XOFF_REL_TCP;
    struct xoff_tcp_tx *tcp = flow_tcp(host, flow);
    const bool has_hops = t->has_telemetry && extra_at(ack)->telemetry.n;
    const uint64_t before = flow_acked_to(host, flow);
    const uint64_t outstanding_before =
        is_tcp ? xoff_tcp_outstanding(tcp) : flow->sent_to - flow->acked;
    struct xoff_rp_ack about = {
        .rtt = now - ack->sent_at,
        .n_frames = ack->payload & 0xff,
        .n_marked = ack->payload >> 8,
        .is_marked = ack->flags & FRAME_MARKED,
        .is_window_bound = flow->is_bound || 2 * outstanding_before >= flow->window_bytes,
        .telemetry = has_hops ? &extra_at(ack)->telemetry : NULL,
    };
    bool has_lost;
    if (is_tcp) {
        const struct xoff_tcp_outcome outcome = take_tcp_ack(host, flow, ack, about.rtt, now);
        has_lost = outcome.has_lost;
        about.is_recovering = outcome.is_recovering;
        about.outstanding_bytes = xoff_tcp_outstanding(tcp);
    } else {
        has_lost = take_gbn(host, flow, ack, now);
        about.outstanding_bytes = flow->sent_to - flow->acked;
    }
    about.sent_to = flow_sent_to(host, flow);
    about.acked_to = flow_acked_to(host, flow);
    about.newly_acked_bytes = about.acked_to - before;
    const struct xoff_rp_answer answer = flow->rp;
    if (t->rp->on_ack)
        t->rp->on_ack(t->rp_cfg, rp, &about, now, &flow->rp);
    if (has_lost && t->rp->on_loss)
        t->rp->on_loss(t->rp_cfg, rp, XOFF_RP_LOST, about.sent_to - about.acked_to, about.sent_to,
                       now, &flow->rp);
    /* RFC 3168 6.1.2: the receiver repeats its echo until it is told that it was answered, which is
     * once for each window of data. */
    if (is_tcp && about.is_marked && about.acked_to > flow->echo_to) {
        flow->has_halved = true;
        flow->echo_to = about.sent_to;
    }
    if (is_same(&flow->rp, &answer))
        flow_set_timer(host, index, now);
    else
        flow_take_answer(host, index, now);
    flow_settle(host, index, now);
    if (about.newly_acked_bytes)
        finish_acked(host, w, index, about.acked_to);
}

void flow_on_cnp(struct host *host, const struct frame *cnp, xoff_time now)
{
    const uint32_t index = host->flow_notes[cnp->flow].slot;
    if (index == NET_NO_SLOT)
        return;
    struct flow *flow = flow_at(host, index);
    const struct transport *t = &host->transports[flow->transport];
    if (!t->rp->on_cnp)
        return;
    t->rp->on_cnp(t->rp_cfg, flow_rp_state(flow), now, &flow->rp);
    flow_take_answer(host, index, now);
    flow_settle(host, index, now);
}

void flow_on_notice(struct host *host, const struct frame *frame, const struct xoff_notice *notice,
                    xoff_time now)
{
    const uint32_t index = host->flow_notes[frame->flow].slot;
    if (index == NET_NO_SLOT)
        return;
    struct flow *flow = flow_at(host, index);
    const struct transport *t = &host->transports[flow->transport];
    if (!t->rp->on_notice)
        return;
    t->rp->on_notice(t->rp_cfg, flow_rp_state(flow), notice, now, &flow->rp);
    flow_take_answer(host, index, now);
    flow_settle(host, index, now);
}

static void time_out(struct host *host, uint32_t index, xoff_time now)
{
    struct flow *flow = flow_at(host, index);
    const struct transport *t = &host->transports[flow->transport];
    const uint64_t sent_to = flow_sent_to(host, flow);
    const uint64_t flight_bytes = sent_to - flow_acked_to(host, flow);
    if (flow->reliability == XOFF_REL_TCP) {
        xoff_tcp_on_timeout(&t->tcp, flow_tcp(host, flow), &host->ranges, now);
    } else {
        flow->sent_to = flow->acked;
        flow->timeout_at = flight_bytes ? now + host->net->spec.timeout_for : XOFF_NEVER;
    }
    if (t->rp->on_loss)
        t->rp->on_loss(t->rp_cfg, flow_rp_state(flow), XOFF_RP_TIMEOUT, flight_bytes, sent_to, now,
                       &flow->rp);
}

void flow_on_timer(struct host *host, uint32_t index, bool is_pace, xoff_time now)
{
    struct flow *flow = flow_at(host, index);
    const struct transport *t = &host->transports[flow->transport];
    heap_remove(&host->timers, host_pace_timer(host, index) + !is_pace);
    if (!is_pace) {
        flow->timer_at = XOFF_NEVER;
        if (flow->rp.deadline <= now)
            t->rp->expire(t->rp_cfg, flow_rp_state(flow), now, &flow->rp);
        if (flow_timeout_at(host, flow) <= now)
            time_out(host, index, now);
        flow_take_answer(host, index, now);
    }
    flow_settle(host, index, now);
}
