/* The path of a frame through a switch, in steps that fabrics put together: the frame comes in and
 * is routed, waits out the processing delay, joins its egress queue, and is sent when the scheduler
 * chooses it. All steps are inline, so that each fabric compiles its own path with its own
 * `release` in it. */
#ifndef NET_EGRESS_H
#define NET_EGRESS_H

#include "net/domain.h"
#include "net/model.h"

#define EGRESS_INLINE static inline __attribute__((always_inline))

/* Called when the bytes of a frame leave the fabric's buffer. The egress queue they were in is
 * already shorter and holds `egress_bytes`. */
typedef void egress_release(struct sw *sw, struct worker *w, const struct frame *f,
                            int64_t egress_bytes);
typedef void egress_sender(struct sw *sw, struct worker *w, struct port *port);

/* Asks the congestion point about a frame that joined, or is about to leave, its queue (switch.c).
 * The call may take a place in the store, which moves when it grows, so the caller must look up its
 * frame again. */
void egress_mark(struct sw *sw, struct worker *w, struct port *port, struct frame *f, bool joined);

/* A congestion point that only marks has marked the frame. The mark of an ACK is an echo. */
EGRESS_INLINE void egress_set_mark(struct egress *queue, struct frame *f)
{
    if (f->kind == FRAME_DATA) {
        queue->marked += !(f->flags & FRAME_MARKED);
        f->flags |= FRAME_MARKED;
    } else if (f->kind != FRAME_PROBE) {
        f->flags |= FRAME_HIT;
    }
}

/* For traces, histograms and the units of egress queues: a frame is about to join its queue of a
 * watched switch, or to leave it (switch.c). */
XOFF_SELDOM void egress_watch(struct sw *sw, uint32_t place, bool joins, xoff_time now);

/* A frame joins or leaves what lies in the switch from its input; called where sw->at_inputs. The
 * first may send a notification, so a pointer to the frame must be looked up again (switch.c). */
void input_take(struct sw *sw, struct worker *w, uint32_t place);
void input_give(struct sw *sw, uint32_t place);

/* Returns the port that the frame leaves by; ROUTE_NONE: the frame was dropped. */
EGRESS_INLINE uint32_t sw_route(struct sw *sw, const struct frame *frame, uint32_t in,
                                xoff_time now)
{
    const struct routes *routes = sw->net->routes;
    uint32_t out;
    if (__builtin_expect(sw->by_hash, 1))
        out = routes_lookup(routes, sw->node, frame->dst, frame->hash);
    else if (sw->by_draw)
        out = routes_lookup(routes, sw->node, frame->dst, xoff_rng_u32(&sw->path_rng));
    else
        out = sw_choose_path(sw, frame, now);
    if (__builtin_expect(out == ROUTE_NONE || !sw->ports[out].is_up, 0)) {
        sw_drop(sw, frame, in, out == ROUTE_NONE ? UINT32_MAX : out,
                out == ROUTE_NONE ? RESULT_DROP_NO_ROUTE : RESULT_DROP_LINK_DOWN, now);
        return ROUTE_NONE;
    }
    return out;
}

/* Takes a frame that came in. Returns the port it leaves by; ROUTE_NONE: it ended here. */
EGRESS_INLINE uint32_t sw_receive(struct sw *sw, struct worker *w, uint32_t in,
                                  const struct frame *frame)
{
    if (!port_rx(&sw->head, &sw->ports[in], w, frame))
        return ROUTE_NONE;
    return sw_route(sw, frame, in, sim_now(w));
}

EGRESS_INLINE struct xoff_arrival sw_arrival(const struct sw *sw, const struct frame *f,
                                             uint32_t in, uint32_t out)
{
    return (struct xoff_arrival){.in_port = (uint16_t)in,
                                 .out_port = (uint16_t)out,
                                 .priority = f->priority,
                                 .bytes = f->bytes,
                                 .egress_bytes = sw_queue(sw, out, f->priority)->bytes};
}

EGRESS_INLINE struct xoff_departure sw_departure(const struct frame *f, int64_t egress_bytes)
{
    return (struct xoff_departure){.in_port = f->in_port,
                                   .out_port = f->out_port,
                                   .priority = f->priority,
                                   .pool = f->pool,
                                   .bytes = f->bytes,
                                   .egress_bytes = egress_bytes};
}

/* Asks buffer and pause policy about a frame that has come in. Sets arrival->dropped, and whether
 * the policy was told; if so, the fabric must apply ledger->edges and call ledger_set_timer(). */
EGRESS_INLINE enum xoff_pool ledger_admit(struct ledger *ledger, struct xoff_arrival *arrival,
                                          xoff_time now, bool *told)
{
    struct xoff_crossings crossings;
    const enum xoff_pool pool = xoff_mmu_admit(&ledger->mmu, arrival, now, &crossings);
    arrival->dropped = pool == XOFF_POOL_DROP;
    if (__builtin_expect(pool == XOFF_POOL_HEADROOM, 0))
        maxima_rise(&ledger->maxima, headroom_used(&ledger->mmu));
    *told = xoff_pause_on_arrival(&ledger->pause, arrival, &crossings, now, &ledger->edges);
    return pool;
}

/* Tells buffer and pause policy that a frame leaves; returns whether the policy was told. */
EGRESS_INLINE bool ledger_release(struct ledger *ledger, const struct xoff_departure *departure,
                                  xoff_time now)
{
    struct xoff_crossings crossings;
    xoff_mmu_release(&ledger->mmu, departure, now, &crossings);
    if (__builtin_expect(ledger->maxima.rises, 0))
        maxima_leave(&ledger->maxima, headroom_used(&ledger->mmu));
    return xoff_pause_on_departure(&ledger->pause, departure, &crossings, now, &ledger->edges);
}

/* Called after every call of the pause policy, since its deadline may have changed. */
EGRESS_INLINE void ledger_set_timer(struct sw *sw, struct worker *w, const struct ledger *ledger)
{
    if (__builtin_expect(ledger->pause.shape.has_deadline, 0))
        node_set_timer(&sw->head, w, ledger->timer, xoff_pause_deadline(&ledger->pause));
}

/* Copies an admitted frame into the switch's store and returns its place. */
EGRESS_INLINE uint32_t sw_put(struct sw *sw, const struct frame *frame, uint32_t in, uint32_t out,
                              enum xoff_pool pool)
{
    const uint32_t place = store_take(&sw->store);
    struct frame *f = store_at(&sw->store, place);
    frame_copy(f, frame, sw->store.step);
    f->in_port = (uint16_t)in;
    f->out_port = (uint16_t)out;
    f->pool = (uint8_t)pool;
    return place;
}

/* sw_hold() and sw_let_go() mark the time that a frame of a lossless priority lies in the switch.
 */
EGRESS_INLINE void sw_hold(struct sw *sw, const struct frame *f, uint32_t in, uint32_t out)
{
    if (sw_is_lossless(sw, f->priority))
        *sw_held(sw, f->priority, in, out) += f->bytes;
}

EGRESS_INLINE void sw_let_go(struct sw *sw, const struct frame *f)
{
    if (sw_is_lossless(sw, f->priority))
        *sw_held(sw, f->priority, f->in_port, f->out_port) -= f->bytes;
}

/* Ends the time that a frame lies in the buffer of its input, for congestion points at inputs:
 * called by a fabric with leaves_inputs, before the place is returned. */
EGRESS_INLINE void input_leave(struct sw *sw, const struct frame *f)
{
    if (__builtin_expect(sw->at_inputs, 0))
        input_give(sw, (uint32_t)(f - sw->store.frames));
}

/* A frame has joined, or is about to leave, the queue of a point that meters its load. The first
 * returns whether the point is to look at it. */
static inline bool meter_joined(struct point *point, const struct egress *queue,
                                const struct frame *f, xoff_time now)
{
    if (queue->n == 1 && now > point->sent_at[f->priority])
        point->idle_for[f->priority] += now - point->sent_at[f->priority];
    return (f->flags & point->heeds && (f->kind == FRAME_DATA || f->kind == FRAME_PROBE)) ||
           queue->bytes > point->cp.shape.quiet_below;
}

static inline void meter_left(struct point *point, const struct egress *queue,
                              const struct frame *f, const struct port *port, xoff_time now)
{
    if (queue->n)
        return;
    const uint64_t bytes = f->bytes + (uint64_t)XOFF_OVERHEAD_BYTES;
    point->sent_at[f->priority] =
        now + (port->ps_per_byte ? (xoff_time)(bytes * port->ps_per_byte)
                                 : xoff_time_of_bits(8 * bytes, port->clock.rate_bps));
}

/* Makes a frame wait out the processing delay; the fabric's processed() is called afterwards. */
EGRESS_INLINE void sw_process(struct sw *sw, struct worker *w, uint32_t place)
{
    struct frame *f = store_at(&sw->store, place);
    f->at = sim_now(w) + sw->processing_for;
    fifo_push(&sw->processing, &sw->store, place);
    if (sw->processing.n == 1)
        node_set_timer(&sw->head, w, node_timer(&sw->head, SW_PROCESSING), f->at);
}

/* Moves a frame on that has been admitted and has its place: past the congestion point of its
 * input, into the processing line or straight to `join`. */
EGRESS_INLINE void sw_move_on(struct sw *sw, struct worker *w, uint32_t place,
                              void (*join)(struct sw *, struct worker *, uint32_t))
{
    if (__builtin_expect(sw->detains, 0)) {
        if (sw->at_inputs)
            input_take(sw, w, place);
        if (sw->processing_for) {
            sw_process(sw, w, place);
            return;
        }
    }
    join(sw, w, place);
}

EGRESS_INLINE void egress_append(struct frame_store *store, struct port *port, struct egress *queue,
                                 uint32_t place, uint32_t priority, uint32_t bytes)
{
    if (queue->n++) {
        store_at(store, queue->tail)->next = place;
    } else {
        queue->head = place;
        port->backlog |= (uint8_t)(1u << priority);
    }
    queue->tail = place;
    queue->bytes += bytes;
    if (queue->bytes > queue->peak_bytes)
        queue->peak_bytes = queue->bytes;
}

EGRESS_INLINE void egress_push(struct sw *sw, struct port *port, uint32_t place, struct frame *f,
                               xoff_time now)
{
    struct egress *queue = sw_queue(sw, port->number, f->priority);
    if (__builtin_expect(sw->is_watched, 0))
        egress_watch(sw, place, true, now);
    egress_append(&sw->store, port, queue, place, f->priority, f->bytes);
}

/* Takes the head, `f`, out of its queue; the caller says so in port->known_heads. */
EGRESS_INLINE void egress_remove(const struct frame_store *store, struct port *port,
                                 struct egress *queue, const struct frame *f, uint32_t priority)
{
    queue->bytes -= f->bytes;
    if (--queue->n == 0) {
        port->backlog &= (uint8_t) ~(1u << priority);
        return;
    }
    queue->head = f->next;
    /* The next head is needed one frame time from now and may be cold: in a full buffer, waiting
     * for it was a fifth of the run. */
    __builtin_prefetch(store_at(store, queue->head));
}

EGRESS_INLINE uint32_t egress_pop(struct sw *sw, struct port *port, uint32_t priority,
                                  xoff_time now)
{
    struct egress *queue = sw_queue(sw, port->number, priority);
    const uint32_t place = queue->head;
    const struct frame *f = store_at(&sw->store, place);
    if (__builtin_expect(sw->is_watched, 0))
        egress_watch(sw, place, false, now);
    egress_remove(&sw->store, port, queue, f, priority);
    port->known_heads &= (uint8_t) ~(1u << priority);
    return place;
}

EGRESS_INLINE void egress_count(struct egress *queue, uint32_t bytes, xoff_time now)
{
    queue->left_at = now;
    queue->tx.frames++;
    queue->tx.bytes += bytes;
}

/* Returns the scheduler's choice among the eligible queues. */
static inline uint32_t egress_select(struct sw *sw, struct port *port, void *state,
                                     uint8_t eligible, xoff_time now)
{
    for (uint32_t mask = port->backlog & ~(uint32_t)port->known_heads; mask; mask &= mask - 1) {
        const uint32_t p = (uint32_t)__builtin_ctz(mask);
        port->head_bytes[p] = store_at(&sw->store, sw_queue(sw, port->number, p)->head)->bytes;
    }
    port->known_heads = port->backlog;
    xoff_time since[XOFF_N_PRIORITIES];
    if (__builtin_expect(sw->sched.shape.reads_since, 0))
        for (uint32_t mask = port->backlog; mask; mask &= mask - 1) {
            const uint32_t p = (uint32_t)__builtin_ctz(mask);
            since[p] = store_at(&sw->store, sw_queue(sw, port->number, p)->head)->at;
        }
    return port_select(port, &sw->sched, state, port->head_bytes, since, eligible, now);
}

/* Asks the congestion point about a frame that has left its queue; returns where the frame is now.
 */
EGRESS_INLINE struct frame *egress_ask_out(struct sw *sw, struct worker *w, struct port *port,
                                           const struct egress *queue, uint32_t place,
                                           xoff_time now)
{
    struct frame *f = store_at(&sw->store, place);
    if (sw->points[port->number].meters)
        meter_left(&sw->points[port->number], queue, f, port, now);
    if (sw->points[port->number].marks_out)
        egress_mark(sw, w, port, f, false);
    return store_at(&sw->store, place);
}

/* Sends the next frame on a free wire: a pause frame that is due, or the scheduler's choice. */
EGRESS_INLINE void egress_send(struct sw *sw, struct worker *w, struct port *port,
                               egress_release *release)
{
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
    void *sched_state = NULL;
    uint32_t priority = (uint32_t)__builtin_ctz(eligible);
    if (is_scheduled) {
        sched_state = sw->sched_states + port->number * sw->sched.shape.state_size;
        priority = egress_select(sw, port, sched_state, eligible, now);
    }
    struct egress *queue = sw_queue(sw, port->number, priority);
    const uint32_t place = egress_pop(sw, port, priority, now);
    struct frame *f = store_at(&sw->store, place);
    if (is_scheduled)
        xoff_sched_charge(&sw->sched, sched_state, priority, f->bytes, !queue->n);
    const struct frame *sent = f;
    if (__builtin_expect(queue->bytes + f->bytes > port->quiet_below, 0)) {
        sent = f = egress_ask_out(sw, w, port, queue, place, now);
        if (sw->domain)
            sent = domain_depart(sw, port->number, f);
    }
    egress_count(queue, sent->bytes, now);
    port_tx_begin(port, w, sent);
    release(sw, w, f, queue->bytes);
    store_return(&sw->store, place);
    if (port->backlog & port->open)
        port_arm(&sw->head, port, w);
}

/* Asks the congestion point about a frame that has joined its queue. */
EGRESS_INLINE void egress_ask(struct sw *sw, struct worker *w, struct port *port,
                              const struct egress *queue, struct frame *f, xoff_time now)
{
    if (__builtin_expect(queue->bytes > port->quiet_below, 0) &&
        sw->points[port->number].marks_in && point_is_due(&sw->points[port->number], f) &&
        (!sw->points[port->number].meters ||
         meter_joined(&sw->points[port->number], queue, f, now)))
        egress_mark(sw, w, port, f, true);
}

/* A frame joins the queue of a port whose link is up, and leaves at once if it can. */
EGRESS_INLINE void egress_join_up(struct sw *sw, struct worker *w, struct port *port,
                                  uint32_t place, egress_sender *send)
{
    struct frame *f = store_at(&sw->store, place);
    const xoff_time now = sim_now(w);
    const struct egress *queue = sw_queue(sw, port->number, f->priority);
    f->at = now;
    egress_push(sw, port, place, f, now);
    egress_ask(sw, w, port, queue, f, now);
    if (port->is_armed)
        return;
    if (now >= port->free_at)
        send(sw, w, port);
    else
        port_arm(&sw->head, port, w);
}

/* The same where the link may have failed while the frame was on its way to the queue. */
EGRESS_INLINE void egress_join(struct sw *sw, struct worker *w, uint32_t place,
                               egress_release *release, egress_sender *send)
{
    struct frame *f = store_at(&sw->store, place);
    struct port *port = &sw->ports[f->out_port];
    if (__builtin_expect(port->is_up, 1)) {
        egress_join_up(sw, w, port, place, send);
        return;
    }
    sw_drop(sw, f, f->in_port, f->out_port, RESULT_DROP_LINK_DOWN, sim_now(w));
    if (!sw->fabric->leaves_inputs)
        input_leave(sw, f);
    release(sw, w, f, sw_queue(sw, f->out_port, f->priority)->bytes);
    store_return(&sw->store, place);
}

/* Drops the frames that wait for a port whose link has failed. */
EGRESS_INLINE void egress_flush(struct sw *sw, struct worker *w, uint32_t out,
                                egress_release *release)
{
    const xoff_time now = sim_now(w);
    for (uint32_t p = 0; p < XOFF_N_PRIORITIES; p++) {
        xoff_time *sent_at = &sw->points[out].sent_at[p];
        if (sw_queue(sw, out, p)->n && now > *sent_at)
            *sent_at = now; /* a backlog ends here, too */
        while (sw_queue(sw, out, p)->n) {
            const uint32_t place = egress_pop(sw, &sw->ports[out], p, now);
            const struct frame *f = store_at(&sw->store, place);
            sw_drop(sw, f, f->in_port, out, RESULT_DROP_LINK_DOWN, now);
            release(sw, w, f, sw_queue(sw, out, p)->bytes);
            store_return(&sw->store, place);
        }
    }
}

#endif
