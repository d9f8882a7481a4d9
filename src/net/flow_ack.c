/* Flows at their sender, continued: ACKs, NACKs, CNPs, notifications and timers. The flow's
 * reliability (rel.h) reads what an ACK acknowledges; the reaction point (rp.h) decides what
 * follows for rate and window. */
#include "net/fold.h"

/* Every byte before `acked` has arrived: completes the messages that end there, or the flow itself.
 */
static void finish_acked(struct host *host, uint32_t index, uint64_t acked, xoff_time now)
{
    struct flow *flow = flow_at(host, index);
    struct app_event event = {.kind = APP_ACKED, .peer = flow->to};
    while (flow->has_messages && flow->messages != NET_NONE &&
           host->messages.at[flow->messages].end <= acked) {
        const uint32_t m = flow->messages;
        const struct message done = host->messages.at[m];
        flow->messages = done.next;
        message_return(&host->messages, m);
        host->flow_notes[done.number].acked_at = host->grain ? host->arrived_at : now;
        event.word = done.word & APP_MAX_WORD;
        host_note_event(host, host->flow_notes[done.number].tag, &event);
    }
    if (flow->endless || flow->is_connection || acked != flow->offered)
        return;
    struct flow_note *note = &host->flow_notes[flow->number];
    note->acked_at = host->grain ? host->arrived_at : now; /* in order */
    event.word = flow->word & APP_MAX_WORD;
    flow_close(host, index);
    host_note_event(host, note->tag, &event);
}

/* Hands the frame to its flow's reliability, which reads neither counts of frames nor times. */
__attribute__((noinline)) static unsigned ask_reliability(struct host *host,
                                                          const struct transport *t,
                                                          struct flow *flow,
                                                          const struct frame *frame, xoff_time now)
{
    struct xoff_rel_ack ack;
    ack.acked_to = frame->seq;
    ack.n_sacks = 0;
    ack.is_nack = frame->kind == FRAME_NACK;
    ack.echo = frame->flags & FRAME_MARKED;
    if (__builtin_expect(t->rel.shape.names_blocks, 0) && !frame->is_bare) {
        const struct sack *sack = &extra_at(frame)->sack;
        ack.n_sacks = (uint8_t)sack->n;
        for (uint32_t i = 0; i < sack->n; i++) {
            ack.sack_from[i] = frame->seq + sack->from[i];
            ack.sack_to[i] = ack.sack_from[i] + sack->bytes[i];
        }
    }
    if (t->rel.shape.tx_blocks)
        host_grow_ranges(host, t->rel.shape.tx_blocks);
    return xoff_rel_on_ack(&t->rel, &flow->rel, &host->ranges, &ack, now - frame->sent_at, now);
}

/* The same, without a call where the ACK only moves the flow on. */
static inline unsigned take_ack(struct host *host, const struct transport *t, struct flow *flow,
                                const struct frame *frame, xoff_time now)
{
    if (__builtin_expect(frame->kind == FRAME_ACK, 1) &&
        xoff_rel_advance(&t->rel, &flow->rel, frame->seq, now))
        return 0;
    return ask_reliability(host, t, flow, frame, now);
}

static bool is_same(const struct xoff_rp_answer *a, const struct xoff_rp_answer *b)
{
    return a->rate_bps == b->rate_bps && a->window_bytes == b->window_bytes &&
           a->deadline == b->deadline;
}

/* Takes an ACK of a flow whose reaction point does not look at ACKs. */
static inline void take_plain(struct host *host, const struct transport *t, struct flow *flow,
                              uint32_t index, const struct frame *ack, xoff_time now)
{
    const uint64_t before = flow->rel.una;
    take_ack(host, t, flow, ack, now);
    if (flow->rel.deadline == XOFF_NEVER || flow->rel.deadline < flow->timer_at)
        flow_set_timer(host, index, now);
    flow_settle(host, index, now);
    const uint64_t acked_to = flow->rel.una;
    if (acked_to > before && (flow->has_messages || acked_to == flow->offered))
        finish_acked(host, index, acked_to, now);
}

/* Takes an ACK that the reaction point hears of. */
__attribute__((noinline)) static void take_heard(struct host *host, const struct transport *t,
                                                 struct flow *flow, uint32_t index,
                                                 const struct frame *ack, xoff_time now)
{
    void *rp = flow_rp_state(host, flow);
    const bool has_hops = t->np.ops->has_telemetry && extra_at(ack)->telemetry.n;
    const uint64_t before = flow->rel.una;
    const uint64_t outstanding_before = xoff_rel_outstanding(&t->rel, &flow->rel);
    struct xoff_rp_ack about = {
        .rtt = now - ack->sent_at,
        .n_frames = ack->payload & 0xff,
        .n_marked = ack->payload >> 8,
        .is_marked = ack->flags & FRAME_MARKED,
        .is_window_bound = flow->is_bound || 2 * outstanding_before >= flow->window_bytes,
        .telemetry = has_hops ? &extra_at(ack)->telemetry : NULL,
    };
    const unsigned found = take_ack(host, t, flow, ack, now);
    about.is_recovering = found & XOFF_REL_RECOVERING;
    about.outstanding_bytes = xoff_rel_outstanding(&t->rel, &flow->rel);
    about.sent_to = flow->rel.sent_to;
    about.acked_to = flow->rel.una;
    about.newly_acked_bytes = about.acked_to - before;
    const struct xoff_rp_answer answer = flow->rp;
    xoff_rp_on_ack(&t->rp, rp, &about, now, &flow->rp);
    if (found & XOFF_REL_LOST)
        xoff_rp_on_loss(&t->rp, rp, XOFF_RP_LOST, about.sent_to - about.acked_to, about.sent_to,
                        now, &flow->rp);
    if (is_same(&flow->rp, &answer))
        flow_set_timer(host, index, now);
    else
        flow_take_answer(host, index, now);
    /* The first ACK of a flow only leaves a record. */
    if (has_hops && host->scan.is_on && before)
        scan_hasten(host, flow, now);
    flow_settle(host, index, now);
    if (about.newly_acked_bytes)
        finish_acked(host, index, about.acked_to, now);
}

void flow_on_ack(struct host *host, const struct frame *ack, xoff_time now)
{
    const uint32_t open = host->flow_notes[ack->flow].open;
    if (!open)
        return;
    const uint32_t index = open - 1;
    struct flow *flow = flow_at(host, index);
    const struct transport *t = &host->transports[flow->transport];
    if (xoff_rp_hears_acks(&t->rp))
        take_heard(host, t, flow, index, ack, now);
    else
        take_plain(host, t, flow, index, ack, now);
}

void flow_on_cnp(struct host *host, const struct frame *cnp, xoff_time now)
{
    const uint32_t open = host->flow_notes[cnp->flow].open;
    if (!open)
        return;
    const uint32_t index = open - 1;
    struct flow *flow = flow_at(host, index);
    const struct transport *t = &host->transports[flow->transport];
    if (!xoff_rp_on_cnp(&t->rp, flow_rp_state(host, flow), now, &flow->rp))
        return;
    flow_take_answer(host, index, now);
    flow_settle(host, index, now);
}

/* Tells the reaction point of a message for its flow. */
static void heed(struct host *host, uint32_t open, const struct xoff_notice *notice, xoff_time now)
{
    if (!open)
        return;
    const uint32_t index = open - 1;
    struct flow *flow = flow_at(host, index);
    const struct transport *t = &host->transports[flow->transport];
    if (!xoff_rp_on_notice(&t->rp, flow_rp_state(host, flow), notice, now, &flow->rp))
        return;
    flow_take_answer(host, index, now);
    flow_settle(host, index, now);
}

void flow_on_notice(struct host *host, const struct frame *frame, const struct xoff_notice *notice,
                    xoff_time now)
{
    struct flow_note *note = &host->flow_notes[frame->flow];
    if (!note_is_left(note)) {
        host->net->fold->hosts[host->node].late_notices++;
        return;
    }
    note->n_notices++;
    heed(host, note->open, notice, now);
}

void flow_on_tag(struct host *host, const struct frame *frame, xoff_time now)
{
    struct flow_note *note = &host->flow_notes[frame->flow];
    if (!note_is_left(note)) {
        host->net->fold->hosts[host->node].late_tags++;
        return;
    }
    note->n_tags_back++;
    heed(host, note->open, &extra_at(frame)->tag, now);
}

static void time_out(struct host *host, uint32_t index, xoff_time now)
{
    struct flow *flow = flow_at(host, index);
    const struct transport *t = &host->transports[flow->transport];
    const uint64_t sent_to = flow->rel.sent_to, flight_bytes = sent_to - flow->rel.una;
    xoff_rel_expire(&t->rel, &flow->rel, &host->ranges, now);
    xoff_rp_on_loss(&t->rp, flow_rp_state(host, flow), XOFF_RP_TIMEOUT, flight_bytes, sent_to, now,
                    &flow->rp);
}

void flow_on_timer(struct host *host, struct worker *w, uint32_t index, bool is_pace)
{
    struct flow *flow = flow_at(host, index);
    const xoff_time now = host_now(host, w);
    heap_remove(&host->timers, host_pace_timer(host, index) + !is_pace);
    if (!is_pace) {
        /* A deadline within a grain of the host's clock is due by the engine's time; its timer
         * would be set to the same instant for ever. */
        const xoff_time due_at = sim_now(w);
        flow->timer_at = XOFF_NEVER;
        if (flow->rp.deadline <= due_at)
            flow_expire_rp(host, w, index, flow->rp.deadline > now ? flow->rp.deadline : now);
        if (flow->rel.deadline <= due_at)
            time_out(host, index, flow->rel.deadline > now ? flow->rel.deadline : now);
        flow_take_answer(host, index, now);
    }
    flow_settle(host, index, now);
}
