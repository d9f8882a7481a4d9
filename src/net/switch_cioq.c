/* Fabric `cioq`: combined input and output queueing, a crossbar between buffers at every port.
 *
 * Source: the switch of "Occupancy sampling for terabit CEE switches" (Neeser et al., 2011): input
 * buffers that the virtual output queues (VOQs) of a port share, arbitration by request and grant
 * with reservation of room at the outputs, PFC thresholds on each input buffer.
 *
 * A frame is admitted to the buffer of its input by `mmu` when its last bit has arrived. It joins
 * the VOQ of its output and priority, and the arbiter hears of it `round_trip` later. Time is cut
 * into slots, in which the crossbar carries a cell. In a slot the arbiter (include/xoff/arb.h)
 * matches idle inputs with idle outputs that have room; a matched pair carries one frame, in whole
 * cells, without interruption. The frame lies in the input buffer until its last cell is over, then
 * in the output buffer until its transmission starts. Its room there is taken at the grant, so an
 * output never drops. The grant is the match (grants: matched), or comes before it (ahead): then
 * outputs give room in turn to the heads of all queues, and the arbiter matches heads that have it.
 *
 * The arbitration of a slot that starts at t is an event at t + 1 ps, so that everything which
 * happens at t is known, in whatever order it happened.
 *
 * One pause policy serves all inputs, since a policy may go by all frames that wait for an output.
 * What it sees as egress queue are the frames of all input buffers for that output and priority.
 *
 * Differs: the slides do not say in what units the crossbar works, nor how priorities share an
 * output buffer. Here they take turns at a pair, and each has a reserve of its own at the output,
 * so that frames of a paused priority cannot keep another out.
 */
#include "net/cioq_room.h"
#include "net/egress.h"

static void set_timer(struct cioq *c, struct worker *w, uint32_t own, xoff_time at)
{
    heap_set(&c->sw.timers, node_timer(&c->sw.head, SW_TIMERS + own), at);
    if (!c->is_in_timer)
        node_rearm(&c->sw.head, w);
}

/* Output buffers */

/* The frame leaves the output buffer, and the switch. */
EGRESS_INLINE void release(struct sw *sw, struct worker *w, const struct frame *f,
                           int64_t egress_bytes)
{
    struct cioq *c = cioq_of(sw);
    const uint32_t out = f->out_port;
    (void)egress_bytes;
    sw_let_go(sw, f);
    c->outputs[out].held_bytes -= f->bytes;
    if (!cioq_take_room(c, out, f->priority, -(int64_t)f->bytes))
        return;
    if (c->granted)
        cioq_grant_ahead(c, w, out);
    else if (cioq_is_in(c->wanted, c->n_words, out) && cioq_is_in(c->idle_outputs, c->n_words, out))
        cioq_want_match(c, w);
}

static void send(struct sw *sw, struct worker *w, struct port *port)
{
    egress_send(sw, w, port, release);
}

/* Input buffers */

/* Called when the pause policy was told something: applies its decisions and its new deadline. */
static void heed_policy(struct cioq *c, struct worker *w)
{
    if (__builtin_expect(c->edges.n != 0, 0))
        sw_apply_edges(&c->sw, w, &c->edges, UINT32_MAX);
    if (__builtin_expect(c->pause.shape.has_deadline, 0))
        set_timer(c, w, CIOQ_PAUSE, xoff_pause_deadline(&c->pause));
}

/* The mmu of an input calls its port 0. */
static void name_port(struct xoff_crossings *crossings, uint32_t in)
{
    for (uint32_t i = 0; i < crossings->n; i++)
        crossings->at[i].port = (uint16_t)in;
}

/* The buffer of an input takes a frame or drops it. */
static inline uint32_t admit(struct sw *sw, struct worker *w, const struct frame *frame,
                             uint32_t in, uint32_t out)
{
    struct cioq *c = cioq_of(sw);
    struct cioq_input *input = &c->inputs[in];
    const xoff_time now = sim_now(w);
    int64_t *waiting = &c->waiting_bytes[out * XOFF_N_PRIORITIES + frame->priority];
    struct xoff_arrival arrival = {.out_port = (uint16_t)out,
                                   .priority = frame->priority,
                                   .bytes = frame->bytes,
                                   .egress_bytes = cioq_queue(c, in, out, frame->priority)->bytes};
    struct xoff_crossings crossings;
    const enum xoff_pool pool = xoff_mmu_admit(&input->mmu, &arrival, now, &crossings);
    if (__builtin_expect(pool == XOFF_POOL_HEADROOM, 0))
        maxima_rise(&input->maxima, headroom_used(&input->mmu));
    name_port(&crossings, in);
    arrival.in_port = (uint16_t)in;
    arrival.egress_bytes = *waiting;
    arrival.dropped = pool == XOFF_POOL_DROP;
    if (!arrival.dropped) {
        *waiting += frame->bytes;
        sw_hold(sw, frame, in, out);
    }
    if (xoff_pause_on_arrival(&c->pause, &arrival, &crossings, now, &c->edges))
        heed_policy(c, w);
    if (__builtin_expect(arrival.dropped, 0)) {
        sw_drop(sw, frame, in, out, RESULT_DROP_BUFFER, now);
        return NET_NONE;
    }
    return sw_put(sw, frame, in, out, pool);
}

/* A frame leaves the buffer of its input, to cross or because it is lost. */
EGRESS_INLINE void leave_input(struct cioq *c, struct worker *w, const struct frame *f)
{
    struct cioq_input *input = &c->inputs[f->in_port];
    const xoff_time now = sim_now(w);
    int64_t *waiting = &c->waiting_bytes[f->out_port * XOFF_N_PRIORITIES + f->priority];
    struct xoff_departure departure =
        sw_departure(f, cioq_queue(c, f->in_port, f->out_port, f->priority)->bytes);
    struct xoff_crossings crossings;
    departure.in_port = 0;
    xoff_mmu_release(&input->mmu, &departure, now, &crossings);
    if (__builtin_expect(input->maxima.rises, 0))
        maxima_leave(&input->maxima, headroom_used(&input->mmu));
    name_port(&crossings, f->in_port);
    input_leave(&c->sw, f);
    *waiting -= f->bytes;
    departure.in_port = f->in_port;
    departure.egress_bytes = *waiting;
    if (xoff_pause_on_departure(&c->pause, &departure, &crossings, now, &c->edges))
        heed_policy(c, w);
}

/* Virtual output queues */

/* The head of a queue of the input is for this output from now on. */
EGRESS_INLINE void ask(struct cioq *c, struct worker *w, uint32_t n_words, uint32_t in,
                       uint32_t out, uint32_t priority)
{
    struct cioq_output *o = &c->outputs[out];
    cioq_put_in(cioq_row(c->asks, n_words, out, priority), n_words, in);
    o->asked |= (uint8_t)(1u << priority);
    if (!(o->open >> priority & 1))
        return;
    if (c->granted)
        cioq_grant_ahead(c, w, out);
    else
        cioq_let_cross(c, w, in, out);
}

/* The head of a queue of the input is not for this output any more. */
EGRESS_INLINE void withdraw(struct cioq *c, uint32_t n_words, uint32_t in, uint32_t out,
                            uint32_t priority)
{
    struct cioq_output *o = &c->outputs[out];
    uint64_t *asks = cioq_row(c->asks, n_words, out, priority), *row = &c->asking[out * n_words];
    const bool is_only = o->asked == 1u << priority;
    cioq_take_out(asks, n_words, in);
    if (cioq_is_empty(asks, n_words))
        o->asked &= (uint8_t) ~(1u << priority);
    if (c->granted)
        return;
    if (!is_only) {
        cioq_set_asking(c, out);
        return;
    }
    cioq_take_out(row, n_words, in);
    if (cioq_is_empty(row, n_words))
        cioq_take_out(c->wanted, n_words, out);
}

/* A frame joins its queue, and the arbiter knows of it. */
EGRESS_INLINE void join_words(struct cioq *c, struct worker *w, uint32_t n_words, uint32_t place)
{
    struct frame *f = store_at(&c->sw.store, place);
    const uint32_t in = f->in_port, out = f->out_port;
    struct cioq_voq *q = cioq_queue(c, in, out, f->priority);
    f->next = NET_NONE;
    q->bytes += f->bytes;
    if (c->pair_bytes)
        c->pair_bytes[out * c->sw.n_ports + in] += f->bytes;
    if (q->n++) {
        store_at(&c->sw.store, q->tail)->next = place;
        q->tail = place;
        return;
    }
    q->head = q->tail = place;
    ask(c, w, n_words, in, out, f->priority);
}

EGRESS_INLINE void join(struct cioq *c, struct worker *w, uint32_t place)
{
    if (c->n_words == 1)
        join_words(c, w, 1, place);
    else
        join_words(c, w, c->n_words, place);
}

/* Takes the head of a queue, which is for `out`. */
EGRESS_INLINE struct frame *pop(struct cioq *c, struct worker *w, uint32_t n_words, uint32_t in,
                                uint32_t out, uint32_t priority)
{
    struct cioq_voq *q = cioq_queue(c, in, out, priority);
    struct frame *f = store_at(&c->sw.store, q->head);
    c->moving[in] = q->head;
    q->bytes -= f->bytes;
    if (c->pair_bytes)
        c->pair_bytes[out * c->sw.n_ports + in] -= f->bytes;
    q->head = f->next;
    if (--q->n == 0) {
        withdraw(c, n_words, in, out, priority);
        return f;
    }
    const struct frame *next = store_at(&c->sw.store, q->head);
    if (c->has_voqs) {
        __builtin_prefetch(next); /* needed when the input is idle again */
    } else if (next->out_port != out) {
        withdraw(c, n_words, in, out, priority);
        ask(c, w, n_words, in, next->out_port, priority);
    }
    return f;
}

/* A frame has come in and waited out the processing delay: the input requests a grant. */
EGRESS_INLINE void request(struct sw *sw, struct worker *w, uint32_t place)
{
    struct cioq *c = cioq_of(sw);
    if (!c->round_trip) {
        join(c, w, place);
        return;
    }
    const xoff_time at = sim_now(w) + c->round_trip;
    store_at(&sw->store, place)->at = at;
    fifo_push(&c->line, &sw->store, place);
    if (c->line.n == 1)
        set_timer(c, w, CIOQ_LINE, at);
}

static void heed_line(struct cioq *c, struct worker *w)
{
    join(c, w, fifo_pop(&c->line, &c->sw.store));
    set_timer(c, w, CIOQ_LINE, c->line.n ? store_at(&c->sw.store, c->line.head)->at : XOFF_NEVER);
}

/* Crossbar */

/* A matched pair carries a frame. Priorities of the pair take turns. Returns how many slots it
 * takes. */
EGRESS_INLINE uint32_t cross(struct cioq *c, struct worker *w, uint32_t n_words, uint32_t in,
                             uint32_t out)
{
    const struct cioq_output *o = &c->outputs[out];
    uint32_t ready = c->granted ? o->asked : o->open & o->asked;
    if (ready & (ready - 1))
        ready = cioq_priorities_in(c->granted ? c->granted : c->asks, n_words, in, out, ready);
    const uint32_t priority = cioq_next_priority(c, in, out, ready);
    c->last_priority[out * c->sw.n_ports + in] = (uint8_t)priority;
    cioq_take_out(c->idle_inputs, n_words, in);
    cioq_take_out(c->idle_outputs, n_words, out);
    const uint32_t bytes = pop(c, w, n_words, in, out, priority)->bytes;
    if (c->granted) {
        cioq_use_grant(c, in, out, priority);
        cioq_grant_ahead(c, w, out); /* to the next frame of the queue, too, when its turn comes */
    } else {
        cioq_take_room(c, out, priority, bytes);
    }
    return cioq_cells(bytes, c->cell_bytes);
}

static inline void set_first_slot(struct cioq *c, uint64_t slot)
{
    c->first_slot = slot;
    c->first_at = (xoff_time)slot * c->slot_for;
}

/* Finds when the next of the transfers under way ends, after those of the first slot have. */
EGRESS_INLINE void find_first(struct cioq *c)
{
    const uint32_t n_words = (c->turn_mask + 1) / 64;
    const uint32_t turn = (uint32_t)c->first_slot & c->turn_mask;
    uint64_t bits = c->turns[turn / 64] & ~UINT64_C(0) << turn % 64;
    for (uint32_t k = 0; k <= n_words; k++) { /* the first word twice: its end, and its beginning */
        const uint32_t word = (turn / 64 + k) & (n_words - 1);
        if (k)
            bits = c->turns[word];
        if (bits) {
            set_first_slot(c, c->first_slot + ((cioq_first_of(word, bits) - turn) & c->turn_mask));
            return;
        }
    }
    c->first_at = XOFF_NEVER;
}

/* Whether a matching would find a pair. */
EGRESS_INLINE bool has_pair(const struct cioq *c, uint32_t n_words)
{
    uint64_t any = 0;
    for (uint32_t word = 0; word < n_words; word++)
        for (uint64_t bits = c->wanted[word] & c->idle_outputs[word]; bits; bits &= bits - 1)
            for (uint32_t k = 0; k < n_words; k++)
                any |= c->asking[cioq_first_of(word, bits) * n_words + k] & c->idle_inputs[k];
    return any;
}

EGRESS_INLINE void match_words(struct cioq *c, struct worker *w, uint32_t n_words)
{
    uint64_t outputs[XOFF_ARB_MAX_WORDS];
    const struct xoff_arb_view view = {.n_words = n_words,
                                       .inputs = c->idle_inputs,
                                       .outputs = outputs,
                                       .asking = c->asking,
                                       .bytes = c->pair_bytes};
    const uint64_t slot = c->match_slot;
    for (uint32_t k = 0; k < n_words; k++)
        outputs[k] = c->wanted[k] & c->idle_outputs[k];
    c->match_at = XOFF_NEVER;
    xoff_arb_match(&c->arb, &view, &c->matching);
    for (uint32_t i = 0; i < c->matching.n; i++) {
        const struct xoff_arb_pair pair = c->matching.at[i];
        const uint32_t n_slots = cross(c, w, n_words, pair.input, pair.output);
        const uint32_t turn = (uint32_t)(slot + n_slots) & c->turn_mask;
        XOFF_ASSERT(n_slots <= c->turn_mask);
        cioq_put_in(&c->done[turn * n_words], n_words, pair.input);
        c->turns[turn / 64] |= cioq_bit(turn);
        if (c->first_at == XOFF_NEVER || slot + n_slots < c->first_slot)
            set_first_slot(c, slot + n_slots);
    }
    /* Too few rounds may have left a pair that could go: it tries again in the next slot. */
    if (has_pair(c, n_words))
        cioq_want_match_in(c, slot + 1);
}

/* Frames have crossed and are in their output buffers. */
EGRESS_INLINE void finish_words(struct cioq *c, struct worker *w, uint32_t n_words)
{
    const uint32_t turn = (uint32_t)c->first_slot & c->turn_mask;
    uint64_t *done = &c->done[turn * n_words];
    c->turns[turn / 64] &= ~cioq_bit(turn);
    for (uint32_t k = 0; k < n_words; k++) {
        uint64_t bits = done[k];
        done[k] = 0;
        c->idle_inputs[k] |= bits;
        for (; bits; bits &= bits - 1) {
            const uint32_t place = c->moving[cioq_first_of(k, bits)];
            const struct frame *f = store_at(&c->sw.store, place);
            cioq_put_in(c->idle_outputs, n_words, f->out_port);
            c->outputs[f->out_port].held_bytes += f->bytes;
            leave_input(c, w, f);
            egress_join(&c->sw, w, place, release, send);
        }
    }
    if (has_pair(c, n_words))
        cioq_want_match_in(c, c->first_slot);
    find_first(c);
}

static void match(struct cioq *c, struct worker *w)
{
    if (c->n_words == 1)
        match_words(c, w, 1);
    else
        match_words(c, w, c->n_words);
}

static void finish(struct cioq *c, struct worker *w)
{
    if (c->n_words == 1)
        finish_words(c, w, 1);
    else
        finish_words(c, w, c->n_words);
}

/* A slot starts: frames have crossed, or the arbiter is asked. Goes on with the next slot as long
 * as nothing else comes between. */
static void clock_slots(struct sw *sw, struct worker *w)
{
    struct cioq *c = cioq_of(sw);
    xoff_time next_at = sw->clock_at;
    c->is_in_timer = true;
    sw->clock_at = XOFF_NEVER; /* what is set meanwhile must not see it */
    do {
        if (next_at == c->first_at)
            finish(c, w);
        else
            match(c, w);
        next_at = xoff_time_min(c->match_at, c->first_at);
    } while (next_at < heap_top_at(&sw->timers) && sim_advance(w, next_at));
    sw->clock_at = next_at;
    c->is_in_timer = false;
}

/* The calls of the boundary */

static void arrive(struct sw *sw, struct worker *w, uint32_t in, const struct frame *frame)
{
    const uint32_t out = sw_receive(sw, w, in, frame);
    if (out == ROUTE_NONE)
        return;
    const uint32_t place = admit(sw, w, frame, in, out);
    if (place == NET_NONE)
        return;
    sw_move_on(sw, w, place, request);
}

static void processed(struct sw *sw, struct worker *w, uint32_t place)
{
    request(sw, w, place);
}

static void transmit(struct sw *sw, struct worker *w, uint32_t port)
{
    if (port_on_transmit(&sw->head, &sw->ports[port], w))
        send(sw, w, &sw->ports[port]);
}

static void timer(struct sw *sw, struct worker *w, uint32_t own)
{
    struct cioq *c = cioq_of(sw);
    c->is_in_timer = true;
    if (own == CIOQ_LINE) {
        heed_line(c, w);
    } else {
        xoff_pause_expire(&c->pause, sim_now(w), &c->edges);
        heed_policy(c, w);
    }
    cioq_set_clock(c);
    c->is_in_timer = false;
}

/* The head of a queue, which is for `out`, will not cross: its room is free again. */
static void give_back(struct cioq *c, uint32_t in, uint32_t out, const struct frame *head)
{
    if (!c->granted ||
        !cioq_is_in(cioq_row(c->granted, c->n_words, out, head->priority), c->n_words, in))
        return;
    cioq_use_grant(c, in, out, head->priority);
    cioq_take_room(c, out, head->priority, -(int64_t)head->bytes);
}

/* Drops the frames of a queue that are for a port whose link has failed. */
static void drop_for(struct cioq *c, struct worker *w, uint32_t in, uint32_t out, uint32_t priority)
{
    struct cioq_voq *q = cioq_queue(c, in, out, priority);
    if (!q->n)
        return;
    uint32_t place = q->head, n = q->n;
    const struct frame *head = store_at(&c->sw.store, place);
    give_back(c, in, head->out_port, head);
    withdraw(c, c->n_words, in, head->out_port, priority);
    *q = (struct cioq_voq){0};
    while (n--) {
        const struct frame *f = store_at(&c->sw.store, place);
        const uint32_t next = f->next;
        if (c->pair_bytes)
            c->pair_bytes[f->out_port * c->sw.n_ports + in] -= f->bytes;
        if (f->out_port == out) {
            sw_drop(&c->sw, f, in, out, RESULT_DROP_LINK_DOWN, sim_now(w));
            sw_let_go(&c->sw, f);
            leave_input(c, w, f);
            store_return(&c->sw.store, place);
        } else {
            join(c, w, place);
        }
        place = next;
    }
}

/* Frames on their way to the output are dropped when they get there (egress_join). */
static void link_down(struct sw *sw, struct worker *w, uint32_t port)
{
    egress_flush(sw, w, port, release);
    for (uint32_t in = 0; in < sw->n_ports; in++)
        for (uint32_t p = 0; p < XOFF_N_PRIORITIES; p++)
            drop_for(cioq_of(sw), w, in, port, p);
}

static const struct xoff_pause *policy(const struct sw *sw, uint32_t in, uint32_t out)
{
    (void)in, (void)out;
    return &cioq_of(sw)->pause;
}

static bool waits_behind(const struct sw *sw, uint32_t out, uint32_t first, uint32_t priority)
{
    const struct cioq *c = cioq_of(sw);
    for (uint32_t in = 0; !c->has_voqs && in < sw->n_ports; in++) {
        const struct cioq_voq *q = cioq_queue(c, in, out, priority);
        uint32_t place = q->head;
        if (!q->n || store_at(&sw->store, place)->out_port != first)
            continue;
        for (uint32_t k = 0; k < q->n; k++, place = store_at(&sw->store, place)->next)
            if (store_at(&sw->store, place)->out_port == out)
                return true;
    }
    return false;
}

const struct fabric_ops fabric_cioq = {
    .name = "cioq",
    .summary = "input buffers with virtual output queues, an arbitrated crossbar, output buffers",
    .params = cioq_table,
    .params_size = sizeof(struct cioq_params),
    .size = sizeof(struct cioq),
    .n_timers = CIOQ_TIMERS,
    .leaves_inputs = true,
    .arbitrates = true,
    .estimate = cioq_estimate,
    .transit = cioq_transit,
    .build = cioq_build,
    .image = cioq_image,
    .destroy = cioq_destroy,
    .arrive = arrive,
    .admit = admit,
    .transmit = transmit,
    .timer = timer,
    .clock = clock_slots,
    .clock_before = CIOQ_PAUSE,
    .processed = processed,
    .link_down = link_down,
    .buffer = cioq_buffer,
    .policy = policy,
    .waits_behind = waits_behind,
};
