/* A shared-memory switch: store and forward, ingress accounting by the mmu, egress queues by
 * priority, one scheduler and one congestion point per port.
 *
 * A frame is admitted when its last bit has arrived, waits out the processing delay, joins the
 * egress queue of its priority, and leaves the buffer when its transmission starts: the memory is
 * read out faster than the wire sends, and an idle switch needs one event per frame instead of two.
 * (Releasing at the end of transmission holds one frame per egress port longer.) A frame that finds
 * its port free and nothing waiting there goes straight from wire to wire: it occupies no buffer
 * for any time, so the buffer, the scheduler and the congestion point are not asked about it,
 * unless one of them wants to see every frame.
 */
#include "net/model.h"

static inline struct xoff_arrival arrival_of(const struct sw *sw, const struct frame *f,
                                             uint32_t in, uint32_t out)
{
    return (struct xoff_arrival){.in_port = (uint16_t)in,
                                 .out_port = (uint16_t)out,
                                 .priority = f->priority,
                                 .bytes = f->bytes,
                                 .egress_bytes = sw->ports[out].queue[f->priority].bytes};
}

static inline uint32_t *held_of(const struct sw *sw, uint32_t priority, uint32_t in, uint32_t out)
{
    return &sw->held_bytes[((uint32_t)sw->rank[priority] * sw->n_ports + in) * sw->n_ports + out];
}

static inline void *cp_state_of(const struct sw *sw, uint32_t port, uint32_t priority)
{
    return sw->cp_states + (port * XOFF_N_PRIORITIES + priority) * sw->cp->state_size;
}

/* The egress queue that holds most of the bytes of an ingress unit. */
XOFF_SELDOM static void find_egress(struct sw *sw, const struct xoff_crossing *cause, xoff_time now,
                                    struct pause_note *note)
{
    note->egress_port = UINT32_MAX;
    uint32_t most = 0;
    if (cause->unit == XOFF_UNIT_EGRESS) {
        note->egress_port = cause->port;
        note->egress_priority = cause->priority;
    } else {
        for (uint32_t p = 0; p < XOFF_N_PRIORITIES; p++) {
            if (sw->rank[p] < 0 || (cause->unit == XOFF_UNIT_INGRESS && p != cause->priority))
                continue;
            const uint32_t *row = held_of(sw, p, cause->port, 0);
            for (uint32_t out = 0; out < sw->n_ports; out++)
                if (row[out] > most) {
                    most = row[out];
                    note->egress_port = out;
                    note->egress_priority = (uint8_t)p;
                }
        }
    }
    if (note->egress_port == UINT32_MAX)
        return;
    struct port *egress = &sw->ports[note->egress_port].port;
    note->egress_paused = !(port_open(egress, now) >> note->egress_priority & 1);
    note->egress_closed_at = egress->closed_at[note->egress_priority];
}

/* Pause and resume edges become signals of their ports, each noted with its cause. */
XOFF_SELDOM static void apply_edges(struct sw *sw, struct worker *w)
{
    for (uint32_t i = 0; i < sw->edges.n; i++) {
        const struct xoff_edge *e = &sw->edges.at[i];
        struct pause_note note = {0};
        find_egress(sw, &e->cause, sim_now(w), &note);
        port_apply_edge(&sw->head, &sw->ports[e->port].port, w, e, &note);
    }
}

/* The bytes of a frame leave the buffer; the queue they were in is already shorter. */
static inline void release(struct sw *sw, struct worker *w, const struct frame *f,
                           int64_t egress_bytes)
{
    const xoff_time now = sim_now(w);
    const struct xoff_departure departure = {.in_port = f->in_port,
                                             .out_port = f->out_port,
                                             .priority = f->priority,
                                             .pool = f->pool,
                                             .bytes = f->bytes,
                                             .egress_bytes = egress_bytes};
    struct xoff_crossings crossings;
    if (sw->rank[f->priority] >= 0)
        *held_of(sw, f->priority, f->in_port, f->out_port) -= f->bytes;
    xoff_mmu_release(&sw->mmu, &departure, now, &crossings);
    if (__builtin_expect(sw->headroom_rises, 0))
        maxima_leave(sw);
    xoff_pause_on_departure(&sw->pause, &departure, &crossings, now, &sw->edges);
    if (__builtin_expect(sw->edges.n != 0, 0))
        apply_edges(sw, w);
}

XOFF_SELDOM static void drop(struct sw *sw, const struct frame *f, uint32_t in, uint32_t out,
                             enum result_drop_cause cause, xoff_time now)
{
    note_drop(&sw->notes, in, out, f, cause, now);
}

static inline void push(struct sw *sw, struct sw_port *sp, uint32_t slot, struct frame *f,
                        xoff_time now)
{
    struct egress *queue = &sp->queue[f->priority];
    if (__builtin_expect(sw->histograms != NULL, 0))
        histogram_change(sw, sp->port.number, f->bytes, now);
    if (queue->n++) {
        pool_at(&sw->pool, queue->tail)->next = slot;
    } else {
        queue->head = slot;
        sp->port.backlog |= (uint8_t)(1u << f->priority);
    }
    queue->tail = slot;
    queue->bytes += f->bytes;
    if (queue->bytes > queue->peak_bytes)
        queue->peak_bytes = queue->bytes;
}

static inline uint32_t pop(struct sw *sw, struct sw_port *sp, uint32_t priority, xoff_time now)
{
    struct egress *queue = &sp->queue[priority];
    const uint32_t slot = queue->head;
    const struct frame *f = pool_at(&sw->pool, slot);
    if (__builtin_expect(sw->histograms != NULL, 0))
        histogram_change(sw, sp->port.number, -(int64_t)f->bytes, now);
    queue->bytes -= f->bytes;
    if (--queue->n == 0) {
        sp->port.backlog &= (uint8_t) ~(1u << priority);
        return slot;
    }
    queue->head = f->next;
    /* It is needed a frame time from now and may be cold: in a full buffer, waiting for it was a
     * fifth of the run. */
    __builtin_prefetch(pool_at(&sw->pool, queue->head));
    return slot;
}

__attribute__((noinline)) static void mark(struct sw *sw, struct sw_port *sp, struct frame *f,
                                           bool enqueued, xoff_time now)
{
    const uint32_t port = sp->port.number;
    struct xoff_cp_frame view = {.queue_bytes =
                                     sp->queue[f->priority].bytes + (enqueued ? 0 : f->bytes),
                                 .bytes = f->bytes,
                                 .draw = xoff_rng_u32(&sw->marking_rng)};
    if (sw->pool.step > 1)
        for (uint32_t p = 0; p < XOFF_N_PRIORITIES; p++) {
            view.port_bytes += sp->queue[p].bytes;
            view.port_tx_bytes += sp->queue[p].tx.bytes;
        }
    const void *cfg = sw->cp_cfgs + port * sw->cp->cfg_size;
    void *state = cp_state_of(sw, port, f->priority);
    const struct xoff_cp_answer answer = enqueued ? sw->cp->on_enqueue(cfg, state, &view, now)
                                                  : sw->cp->on_dequeue(cfg, state, &view, now);
    if (f->kind != FRAME_DATA) /* an ACK's bit is the echo, and nobody reads its telemetry */
        return;
    if (answer.mark && !(f->flags & FRAME_MARKED)) {
        f->flags |= FRAME_MARKED;
        sp->marked[f->priority]++;
    }
    if (answer.stamp) { /* there is room for it: net_build.c */
        struct xoff_int *telemetry = &extra_of(f)->telemetry;
        if (telemetry->n < XOFF_INT_HOPS)
            telemetry->hop[telemetry->n++] = answer.hop;
    }
}

static inline void count_out(struct sw_port *sp, const struct frame *f, xoff_time now)
{
    struct egress *queue = &sp->queue[f->priority];
    queue->left_at = now;
    queue->tx.frames++;
    queue->tx.bytes += f->bytes;
}

/* The scheduler's choice among the eligible queues. */
static inline uint32_t select_queue(struct sw *sw, struct sw_port *sp, void *state,
                                    uint8_t eligible, xoff_time now)
{
    struct port_heads heads;
    for (uint32_t mask = sp->port.backlog; mask; mask &= mask - 1) {
        const uint32_t p = (uint32_t)__builtin_ctz(mask);
        const struct frame *head = pool_at(&sw->pool, sp->queue[p].head);
        heads.bytes[p] = head->bytes;
        heads.since[p] = head->at;
    }
    return port_select(&sp->port, &sw->sched, state, &heads, eligible, now);
}

/* Sends what is next on a free wire: a pause frame that is due, or the scheduler's choice. */
static void send(struct sw *sw, struct worker *w, struct sw_port *sp)
{
    struct port *port = &sp->port;
    const xoff_time now = sim_now(w);
    if (__builtin_expect(port->is_control_due, 0)) {
        port_tx_control(&sw->head, port, w);
        port_wake(&sw->head, port, w);
        return;
    }
    const uint8_t eligible = port->backlog & port_open(port, now);
    if (!eligible)
        return;
    const bool is_scheduled = port_is_scheduled(port, &sw->sched);
    void *sched_state = sw->sched_states + port->number * sw->sched.shape.state_size;
    const uint32_t priority = is_scheduled ? select_queue(sw, sp, sched_state, eligible, now)
                                           : (uint32_t)__builtin_ctz(eligible);
    struct egress *queue = &sp->queue[priority];
    const uint32_t slot = pop(sw, sp, priority, now);
    struct frame *f = pool_at(&sw->pool, slot);
    if (is_scheduled)
        xoff_sched_charge(&sw->sched, sched_state, priority, f->bytes, !queue->n);
    if (__builtin_expect(queue->bytes + f->bytes > port->quiet_below, 0) && sw->marks_out)
        mark(sw, sp, f, false, now);
    count_out(sp, f, now);
    port_tx_begin(port, w, f);
    release(sw, w, f, queue->bytes);
    pool_return(&sw->pool, slot);
    if (port->backlog & port->open)
        port_arm(&sw->head, &sp->port, w);
}

/* A frame joins its egress queue. */
static void enqueue(struct sw *sw, struct worker *w, uint32_t slot)
{
    struct frame *f = pool_at(&sw->pool, slot);
    struct sw_port *sp = &sw->ports[f->out_port];
    const xoff_time now = sim_now(w);
    const struct egress *queue = &sp->queue[f->priority];
    if (__builtin_expect(!sp->port.is_up, 0)) {
        drop(sw, f, f->in_port, f->out_port, RESULT_DROP_LINK_DOWN, now);
        release(sw, w, f, queue->bytes);
        pool_return(&sw->pool, slot);
        return;
    }
    f->at = now;
    push(sw, sp, slot, f, now);
    if (__builtin_expect(queue->bytes > sp->port.quiet_below, 0) && sw->marks_in)
        mark(sw, sp, f, true, now);
    if (sp->port.is_armed)
        return;
    if (now >= sp->port.free_at)
        send(sw, w, sp);
    else
        port_arm(&sw->head, &sp->port, w);
}

void sw_arrive(struct sw *sw, struct worker *w, uint32_t in, const struct frame *frame)
{
    const xoff_time now = sim_now(w);
    if (!port_rx(&sw->head, &sw->ports[in].port, w, frame))
        return;
    sw->used |= (uint8_t)(1u << frame->priority);
    const uint32_t hash =
        __builtin_expect(sw->scatters, 0) ? xoff_rng_u32(&sw->path_rng) : frame->hash;
    const uint32_t out = routes_lookup(sw->net->routes, sw->node, frame->dst, hash);
    if (__builtin_expect(out == ROUTE_NONE || !sw->ports[out].port.is_up, 0)) {
        drop(sw, frame, in, out == ROUTE_NONE ? UINT32_MAX : out,
             out == ROUTE_NONE ? RESULT_DROP_NO_ROUTE : RESULT_DROP_LINK_DOWN, now);
        return;
    }
    struct sw_port *to = &sw->ports[out];
    /* A port with a pause frame to send is armed. */
    if (sw->passes_through && frame->bytes <= to->port.quiet_below &&
        port_is_free(&to->port, frame->priority, now)) {
        count_out(to, frame, now);
        port_tx_begin(&to->port, w, frame);
        return;
    }
    struct xoff_arrival arrival = arrival_of(sw, frame, in, out);
    struct xoff_crossings crossings;
    const enum xoff_pool pool = xoff_mmu_admit(&sw->mmu, &arrival, now, &crossings);
    arrival.dropped = pool == XOFF_POOL_DROP;
    if (__builtin_expect(pool == XOFF_POOL_HEADROOM, 0))
        maxima_rise(sw);
    if (!arrival.dropped && sw->rank[frame->priority] >= 0)
        *held_of(sw, frame->priority, in, out) += frame->bytes;
    xoff_pause_on_arrival(&sw->pause, &arrival, &crossings, now, &sw->edges);
    if (__builtin_expect(sw->edges.n != 0, 0))
        apply_edges(sw, w);
    if (__builtin_expect(arrival.dropped, 0)) {
        drop(sw, frame, in, out, RESULT_DROP_BUFFER, now);
        return;
    }
    const uint32_t slot = pool_take(&sw->pool);
    struct frame *f = pool_at(&sw->pool, slot);
    frame_copy(f, frame, sw->pool.step);
    f->in_port = (uint16_t)in;
    f->out_port = (uint16_t)out;
    f->pool = (uint8_t)pool;
    if (!sw->spec->processing_for) {
        enqueue(sw, w, slot);
        return;
    }
    f->at = now + sw->spec->processing_for;
    fifo_push(&sw->processing, &sw->pool, slot);
    if (sw->processing.n == 1)
        node_set_timer(&sw->head, w, node_timer(&sw->head, 0), f->at);
}

void sw_transmit(struct sw *sw, struct worker *w, uint32_t port)
{
    struct sw_port *sp = &sw->ports[port];
    if (port_on_transmit(&sw->head, &sp->port, w))
        send(sw, w, sp);
}

void sw_timer(struct sw *sw, struct worker *w)
{
    const xoff_time now = sim_now(w);
    const uint32_t processing = node_timer(&sw->head, 0);
    sw->timer_at = XOFF_NEVER; /* the event is spent */
    while (heap_top_at(&sw->timers) <= now) {
        const uint32_t timer = heap_top_id(&sw->timers);
        if (timer < processing) {
            port_on_timer(&sw->head, &sw->ports[timer / PORT_TIMERS].port, w, timer % PORT_TIMERS);
            continue;
        }
        const uint32_t slot = fifo_pop(&sw->processing, &sw->pool);
        heap_set(&sw->timers, timer,
                 sw->processing.n ? pool_at(&sw->pool, sw->processing.head)->at : XOFF_NEVER);
        enqueue(sw, w, slot);
    }
    node_rearm(&sw->head, w);
}

void sw_link_down(struct sw *sw, uint32_t port, xoff_time now)
{
    struct worker *w = sim_exclusive(sw->net->sim);
    struct sw_port *sp = &sw->ports[port];
    for (uint32_t p = 0; p < XOFF_N_PRIORITIES; p++)
        while (sp->queue[p].n) {
            const uint32_t slot = pop(sw, sp, p, now);
            const struct frame *f = pool_at(&sw->pool, slot);
            drop(sw, f, f->in_port, port, RESULT_DROP_LINK_DOWN, now);
            release(sw, w, f, sp->queue[p].bytes);
            pool_return(&sw->pool, slot);
        }
}

static void sample_port(struct sw *sw, struct sw_port *sp, uint32_t p, xoff_time now)
{
    const struct net_spec *spec = &sw->net->spec;
    struct result_sample s = {
        .at = now, .node = sw->node, .port = sp->port.number, .priority = (uint8_t)p};
    const double seconds = (double)spec->measure_every / (double)XOFF_S;
    if (spec->measure & NET_QUEUE) {
        s.metric = RESULT_QUEUE_BYTES;
        s.value = (double)sp->queue[p].bytes;
        note_sample(&sw->notes, &s);
    }
    if (spec->measure & NET_THROUGHPUT) {
        s.metric = RESULT_TX_BPS;
        s.value = (double)(sp->queue[p].tx.bytes - sp->sampled_tx_bytes[p]) * 8 / seconds;
        sp->sampled_tx_bytes[p] = sp->queue[p].tx.bytes;
        note_sample(&sw->notes, &s);
    }
    if (spec->measure & NET_PAUSE) {
        port_gate_expire(&sp->port, now);
        xoff_time paused_for = sp->port.paused_for[p];
        if (!(sp->port.open >> p & 1))
            paused_for += now - sp->port.closed_at[p];
        s.metric = RESULT_PAUSED_FRACTION;
        s.value = (double)(paused_for - sp->sampled_paused_for[p]) / (double)spec->measure_every;
        sp->sampled_paused_for[p] = paused_for;
        note_sample(&sw->notes, &s);
    }
}

/* Of the whole buffer and of its pools. */
static void sample_buffer(struct sw *sw, xoff_time now)
{
    _Static_assert(RESULT_INSURANCE_BYTES - RESULT_RESERVED_BYTES ==
                       (int)XOFF_POOL_INSURANCE - (int)XOFF_POOL_RESERVED,
                   "samples of pools come in the order of pools");
    struct xoff_mmu_view view;
    struct result_sample s = {.at = now,
                              .node = sw->node,
                              .port = UINT32_MAX,
                              .priority = 0xff,
                              .metric = RESULT_BUFFER_BYTES};
    xoff_mmu_view(&sw->mmu, &view);
    if (sw->net->spec.measure & NET_BUFFER) {
        s.value = (double)view.used_total_bytes;
        note_sample(&sw->notes, &s);
    }
    if (!(sw->net->spec.measure & NET_POOLS))
        return;
    for (uint32_t pool = XOFF_POOL_RESERVED; pool < XOFF_N_POOLS; pool++) {
        if (view.capacity_bytes[pool] <= 0)
            continue;
        s.metric = (uint8_t)(RESULT_RESERVED_BYTES + pool - XOFF_POOL_RESERVED);
        s.value = (double)view.used_bytes[pool];
        note_sample(&sw->notes, &s);
    }
}

void sw_sample(struct sw *sw, xoff_time now)
{
    for (uint32_t port = 0; port < sw->n_ports; port++)
        for (uint32_t p = 0; p < XOFF_N_PRIORITIES; p++)
            if (sw->ports[port].queue[p].tx.frames || sw->ports[port].queue[p].n)
                sample_port(sw, &sw->ports[port], p, now);
    if (sw->net->spec.measure & (NET_BUFFER | NET_POOLS))
        sample_buffer(sw, now);
}
