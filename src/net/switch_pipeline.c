/* Fabric `pipeline`: inputs that one packet-processing pipeline serves, queues at the outputs.
 *
 * Source: the merchant-silicon switch of "Congestion aware priority flow control in data center
 * networks" (Avci, Li and Liu, 2016), II-A.
 *
 * A frame is admitted by `mmu` to the ingress queue of its port and priority when its last bit has
 * arrived. The ingress queues of a port are counters; its frames wait in one FIFO. The pipeline
 * takes a frame every 1 / packet_rate, from the inputs in turn, and has decided about it
 * `processing_delay` later. Only then is its output known. A frame whose egress queue has room
 * leaves its ingress queue and joins it. Where there is no room,
 *
 *   full: drop   the frame is lost (PFC_wdrop)
 *   full: stop   the pipeline stands still, with all frames in it, until there is (PFC_wstop)
 *
 * While the pipeline stands still its clock does: `line` and `free_at` are in the pipeline's time,
 * which is `stopped_for` behind that of the simulation.
 *
 * Differs: the paper does not say where a frame is counted while it is in the pipeline; here it is
 * in its ingress queue until its output is decided, as the payload stays in the ingress buffer. A
 * lossy priority never stops the pipeline: its frames are lost.
 */
#include "net/egress.h"
#include "net/pipeline.h"

/* Returns when the pipeline has something to do next. Frames that wait while others are in the
 * pipeline enter it without an event of their own (catch_up). */
static inline xoff_time next_at(const struct pipeline *p)
{
    if (is_stopped(p))
        return XOFF_NEVER;
    if (p->line.n)
        return p->line_at + p->sw.stopped_for;
    return p->n_waiting ? p->free_at + p->sw.stopped_for : XOFF_NEVER;
}

static inline void set_clock(struct pipeline *p, struct worker *w, xoff_time at)
{
    p->sw.clock_at = at;
    node_rearm(&p->sw.head, w);
}

/* Called when the pause policy was told something: applies its decisions and its new deadline. */
static void heed_policy(struct pipeline *p, struct worker *w)
{
    if (__builtin_expect(p->ledger.edges.n != 0, 0)) {
        p->has_paused = true;
        sw_apply_edges(&p->sw, w, &p->ledger.edges, UINT32_MAX);
    }
    ledger_set_timer(&p->sw, w, &p->ledger);
}

/* Egress queues */

static const struct xoff_crossings no_crossings;

/* The frame leaves its egress queue, and the switch. */
EGRESS_INLINE void release(struct sw *sw, struct worker *w, const struct frame *f,
                           int64_t egress_bytes)
{
    struct pipeline *p = pipeline_of(sw);
    const struct xoff_departure departure = sw_departure(f, egress_bytes);
    sw_let_go(sw, f);
    if (p->is_two_sided)
        p->ledger.mmu.ops->egress_leave(p->ledger.mmu.cfg, p->ledger.mmu.state, &departure);
    else
        p->egress.used_bytes -= f->bytes;
    if (p->tells_policy && xoff_pause_on_departure(&p->ledger.pause, &departure, &no_crossings,
                                                   sim_now(w), &p->ledger.edges))
        heed_policy(p, w);
    if (is_stopped(p)) /* there may be room now; an event of its own looks */
        set_clock(p, w, sim_now(w));
}

EGRESS_INLINE void send(struct sw *sw, struct worker *w, struct port *port)
{
    egress_send(sw, w, port, release);
}

/* Returns what keeps a frame, which is in its ingress queue, out of its egress queue. */
static inline enum xoff_limit limit_of(const struct pipeline *p, const struct frame *f)
{
    const int64_t bytes = sw_queue(&p->sw, f->out_port, f->priority)->bytes;
    if (!p->is_two_sided)
        return bytes + f->bytes <= p->egress_limit_bytes ? XOFF_LIMIT_NONE : XOFF_LIMIT_QUEUE;
    const struct xoff_departure departure = sw_departure(f, 0);
    return p->ledger.mmu.ops->egress_limit(p->ledger.mmu.cfg, p->ledger.mmu.state, &departure);
}

/* The books of egress queues take a frame. */
static inline void take(struct pipeline *p, const struct frame *f)
{
    if (p->is_two_sided) {
        const struct xoff_departure departure = sw_departure(f, 0);
        p->ledger.mmu.ops->egress_join(p->ledger.mmu.cfg, p->ledger.mmu.state, &departure);
        return;
    }
    p->egress.used_bytes += f->bytes;
    if (p->egress.used_bytes > p->egress.peak_bytes)
        p->egress.peak_bytes = p->egress.used_bytes;
}

/* Ingress queues */

/* A frame leaves its ingress queue: its output has been decided, or it is lost. In a calm window
 * the books hear of it when they have come to its time. */
EGRESS_INLINE void leave_input(struct pipeline *p, struct worker *w, const struct frame *f,
                               bool is_calm)
{
    if (is_calm) {
        p->left[p->n_left++] = (struct left){.at = sim_now(w),
                                             .bytes = f->bytes,
                                             .in_port = f->in_port,
                                             .priority = f->priority,
                                             .pool = f->pool};
        return;
    }
    struct ledger *ledger = &p->ledger;
    const struct xoff_departure departure = sw_departure(f, 0);
    struct xoff_crossings crossings;
    xoff_mmu_release(&ledger->mmu, &departure, sim_now(w), &crossings);
    if (__builtin_expect(ledger->maxima.rises, 0))
        maxima_leave(&ledger->maxima, headroom_used(&ledger->mmu));
    input_leave(&p->sw, f);
    if (xoff_pause_on_crossings(&ledger->pause, &crossings, sim_now(w), &ledger->edges))
        heed_policy(p, w);
}

static void lose(struct pipeline *p, struct worker *w, uint32_t place, bool is_calm)
{
    leave_input(p, w, store_at(&p->sw.store, place), is_calm);
    store_return(&p->sw.store, place);
}

/* The ingress queue of a frame takes it or drops it. A lossy frame is limited by the length of its
 * ingress queue, since its egress queue is not known. */
EGRESS_INLINE uint32_t take_in(struct sw *sw, struct worker *w, const struct frame *frame,
                               uint32_t in, uint32_t out)
{
    struct ledger *ledger = &pipeline_of(sw)->ledger;
    const xoff_time now = sim_now(w);
    const struct xoff_arrival arrival = {
        .in_port = (uint16_t)in,
        .out_port = (uint16_t)out,
        .priority = frame->priority,
        .bytes = frame->bytes,
        .egress_bytes = sw_is_lossless(sw, frame->priority)
                            ? 0
                            : xoff_mmu_ingress_bytes(&ledger->mmu, in, frame->priority)};
    struct xoff_crossings crossings;
    const enum xoff_pool pool = xoff_mmu_admit(&ledger->mmu, &arrival, now, &crossings);
    if (__builtin_expect(pool == XOFF_POOL_HEADROOM, 0))
        maxima_rise(&ledger->maxima, headroom_used(&ledger->mmu));
    if (xoff_pause_on_crossings(&ledger->pause, &crossings, now, &ledger->edges))
        heed_policy(pipeline_of(sw), w);
    if (__builtin_expect(pool == XOFF_POOL_DROP, 0)) {
        sw_drop(sw, frame, in, UINT32_MAX, RESULT_DROP_BUFFER, now);
        return NET_NONE;
    }
    return sw_put(sw, frame, in, out, pool);
}

static uint32_t admit(struct sw *sw, struct worker *w, const struct frame *frame, uint32_t in,
                      uint32_t out)
{
    return take_in(sw, w, frame, in, out);
}

/* The pipeline */

/* A frame enters the pipeline, which is free, at a time of the pipeline. */
static inline void enter(struct pipeline *p, xoff_time at, uint32_t place)
{
    p->carry = at == p->free_at ? p->carry + p->fraction : p->fraction;
    p->free_at = at + p->interval;
    if (p->carry >= p->packet_rate) {
        p->carry -= p->packet_rate;
        p->free_at++;
    }
    /* A frame keeps the time of the one behind it, so that only its own cache line is read when it
     * leaves. */
    *(p->line.n ? &store_at(&p->sw.store, p->line.tail)->at : &p->line_at) = at + p->processing_for;
    fifo_push(&p->line, &p->sw.store, place);
}

/* Takes a frame of the next input in turn that has one. */
static uint32_t next_frame(struct pipeline *p)
{
    uint32_t word = p->turn / 64;
    uint64_t bits = word < p->n_words ? p->waiting[word] & ~UINT64_C(0) << p->turn % 64 : 0;
    while (!bits) {
        word = word + 1 < p->n_words ? word + 1 : 0;
        bits = p->waiting[word];
    }
    const uint32_t in = word * 64 + (uint32_t)__builtin_ctzll(bits);
    const uint32_t place = fifo_pop(&p->inputs[in], &p->sw.store);
    if (!p->inputs[in].n)
        p->waiting[word] &= ~(UINT64_C(1) << in % 64);
    p->turn = in + 1;
    p->n_waiting--;
    return place;
}

/* Lets the frames enter that the pipeline, which runs, took before `now`, a time of its own. What
 * takes its turn when shows only `processing_for` later, so no event is spent on it: it is made up
 * for before a frame comes in or is decided about. */
static inline void catch_up(struct pipeline *p, xoff_time now)
{
    while (__builtin_expect(p->n_waiting && p->free_at < now, 0))
        enter(p, p->free_at, next_frame(p));
}

/* A frame has its place in an ingress queue: it enters the pipeline or waits for its turn. */
EGRESS_INLINE void take_place(struct pipeline *p, xoff_time now, uint32_t place, bool runs)
{
    const uint32_t in = store_at(&p->sw.store, place)->in_port;
    if (runs)
        catch_up(p, now);
    if (!p->n_waiting && runs && p->free_at <= now) {
        p->turn = in + 1;
        enter(p, now, place);
        return;
    }
    fifo_push(&p->inputs[in], &p->sw.store, place);
    p->waiting[in / 64] |= UINT64_C(1) << in % 64;
    p->n_waiting++;
}

EGRESS_INLINE void queue_up(struct sw *sw, struct worker *w, uint32_t place)
{
    struct pipeline *p = pipeline_of(sw);
    take_place(p, sim_now(w) - sw->stopped_for, place, !is_stopped(p));
    if (p->line.n + p->n_waiting == 1 && !is_stopped(p)) /* else the clock is set */
        set_clock(p, w, next_at(p));
}

static void join(struct sw *sw, struct worker *w, uint32_t place)
{
    queue_up(sw, w, place);
}

/* A frame that has left its ingress queue joins its egress queue, which has room. */
__attribute__((noinline)) static void join_egress(struct pipeline *p, struct worker *w,
                                                  uint32_t place)
{
    struct sw *sw = &p->sw;
    const struct frame *f = store_at(&sw->store, place);
    const struct xoff_arrival arrival = sw_arrival(sw, f, f->in_port, f->out_port);
    sw_hold(sw, f, f->in_port, f->out_port);
    take(p, f);
    if (p->tells_policy && xoff_pause_on_arrival(&p->ledger.pause, &arrival, &no_crossings,
                                                 sim_now(w), &p->ledger.edges))
        heed_policy(p, w);
    egress_join(sw, w, place, release, send);
}

/* Whether a frame of `bytes` may go straight to the wire, past an egress queue that nobody watches:
 * joining and leaving it would change nothing but its counts. */
static inline bool is_straight(const struct pipeline *p, struct port *port, uint32_t priority,
                               uint32_t bytes, xoff_time now)
{
    return p->is_plain && !p->sw.is_watched && !p->sw.sched.shape.every_frame &&
           !port->is_control_due && port_is_free(port, priority, now) && bytes <= port->quiet_below;
}

/* Moves a frame to its output, where there is room for it. */
EGRESS_INLINE void forward(struct pipeline *p, struct worker *w, uint32_t place, bool is_calm)
{
    struct sw *sw = &p->sw;
    const struct frame *f = store_at(&sw->store, place);
    struct port *port = &sw->ports[f->out_port];
    leave_input(p, w, f, is_calm);
    if (!is_straight(p, port, f->priority, f->bytes, sim_now(w))) {
        join_egress(p, w, place);
        return;
    }
    struct egress *queue = sw_queue(sw, f->out_port, f->priority);
    if (f->bytes > queue->peak_bytes)
        queue->peak_bytes = f->bytes;
    if (p->egress.used_bytes + f->bytes > p->egress.peak_bytes)
        p->egress.peak_bytes = p->egress.used_bytes + f->bytes;
    egress_count(queue, f->bytes, sim_now(w));
    port_tx_begin(port, w, f);
    store_return(&sw->store, place);
}

/* A frame found its egress queue full: it is lost, or the pipeline stops. */
XOFF_SELDOM static void overflow(struct pipeline *p, struct worker *w, uint32_t place,
                                 enum xoff_limit limit, bool is_calm)
{
    struct sw *sw = &p->sw;
    const struct frame *f = store_at(&sw->store, place);
    if (p->stops && sw_is_lossless(sw, f->priority)) {
        sw->n_stops++;
        sw->stopped_at = sim_now(w);
        p->stuck = place;
        p->limit = limit;
        return;
    }
    struct xoff_arrival arrival = sw_arrival(sw, f, f->in_port, f->out_port);
    arrival.dropped = true;
    if (xoff_pause_on_arrival(&p->ledger.pause, &arrival, &no_crossings, sim_now(w),
                              &p->ledger.edges))
        heed_policy(p, w);
    sw_drop(sw, f, f->in_port, f->out_port, RESULT_DROP_EGRESS, sim_now(w));
    lose(p, w, place, is_calm);
}

/* The first frame of the line has been processed: its output is decided. */
EGRESS_INLINE void decide(struct pipeline *p, struct worker *w, bool is_calm)
{
    struct sw *sw = &p->sw;
    const uint32_t place = fifo_pop(&p->line, &sw->store);
    struct frame *f = store_at(&sw->store, place);
    if (p->line.n) /* its turn comes soon, and it has been left alone for the processing delay */
        __builtin_prefetch(store_at(&sw->store, p->line.head));
    p->line_at = f->at;
    const uint32_t out = sw_route(sw, f, f->in_port, sim_now(w));
    if (__builtin_expect(out == ROUTE_NONE, 0)) {
        lose(p, w, place, is_calm);
        return;
    }
    f->out_port = (uint16_t)out;
    const enum xoff_limit limit = limit_of(p, f);
    if (__builtin_expect(limit == XOFF_LIMIT_NONE, 1))
        forward(p, w, place, is_calm);
    else
        overflow(p, w, place, limit, is_calm);
}

/* The pipeline is stopped and something has left the egress queues, or a link has failed. */
XOFF_SELDOM static void try_again(struct pipeline *p, struct worker *w)
{
    const struct frame *f = store_at(&p->sw.store, p->stuck);
    const bool is_up = p->sw.ports[f->out_port].is_up;
    p->limit = is_up ? limit_of(p, f) : XOFF_LIMIT_NONE;
    if (p->limit != XOFF_LIMIT_NONE)
        return;
    p->sw.stopped_for += sim_now(w) - p->sw.stopped_at;
    p->sw.stopped_at = XOFF_NEVER;
    const xoff_time now = sim_now(w) - p->sw.stopped_for;
    if (p->free_at < now) { /* frames that came in meanwhile enter now, not when it became free */
        p->free_at = now;
        p->carry = 0;
    }
    if (is_up) {
        forward(p, w, p->stuck, false);
        return;
    }
    sw_drop(&p->sw, f, f->in_port, f->out_port, RESULT_DROP_LINK_DOWN, sim_now(w));
    lose(p, w, p->stuck, false);
}

/* The pipeline's time has come. Goes on as long as nothing else comes between. */
static void clock_line(struct sw *sw, struct worker *w)
{
    struct pipeline *p = pipeline_of(sw);
    xoff_time at;
    sw->clock_at = XOFF_NEVER; /* what is set meanwhile must not see it */
    if (is_stopped(p))
        try_again(p, w);
    do {
        const xoff_time now = sim_now(w) - sw->stopped_for;
        if (!is_stopped(p)) {
            catch_up(p, now);
            if (p->line.n && p->line_at <= now)
                decide(p, w, false);
        }
        if (!is_stopped(p)) /* one that enters now does so after the decision, which may stop it */
            catch_up(p, now + 1);
        at = next_at(p);
    } while (at < heap_top_at(&sw->timers) && sim_advance(w, at));
    sw->clock_at = at;
}

/* The calls of the boundary */

static void arrive(struct sw *sw, struct worker *w, uint32_t in, const struct frame *frame)
{
    if (!port_rx(&sw->head, &sw->ports[in], w, frame))
        return;
    const uint32_t place = take_in(sw, w, frame, in, in);
    if (place == NET_NONE)
        return;
    if (__builtin_expect(sw->at_inputs, 0))
        input_take(sw, w, place);
    queue_up(sw, w, place);
}

static void transmit(struct sw *sw, struct worker *w, uint32_t port)
{
    struct pipeline *p = pipeline_of(sw);
    if (!is_stopped(p)) /* a notification made here comes after what entered at the same time */
        catch_up(p, sim_now(w) - sw->stopped_for + 1);
    if (port_on_transmit(&sw->head, &sw->ports[port], w))
        send(sw, w, &sw->ports[port]);
}

static void timer(struct sw *sw, struct worker *w, uint32_t own)
{
    struct pipeline *p = pipeline_of(sw);
    (void)own; /* there is one */
    xoff_pause_expire(&p->ledger.pause, sim_now(w), &p->ledger.edges);
    heed_policy(p, w);
}

/* Frames in the pipeline are dropped when they leave it (sw_route). */
static void link_down(struct sw *sw, struct worker *w, uint32_t port)
{
    struct pipeline *p = pipeline_of(sw);
    egress_flush(sw, w, port, release);
    if (is_stopped(p))
        set_clock(p, w, sim_now(w));
}

/* Calm windows: what arrives is decided about `processing_for` later, so until then it changes
 * nothing but its input, the line behind it and the books of ingress queues. */

static bool calm_begins(struct sw *sw, xoff_time now, xoff_time end)
{
    struct pipeline *p = pipeline_of(sw);
    const int64_t bytes = xoff_bytes_in(end - now, p->fastest_bps) + sw->net->spec.max_frame_bytes;
    if (sw->timers.n || p->ledger.maxima.rises ||
        !p->ledger.mmu.ops->is_quiet(p->ledger.mmu.cfg, p->ledger.mmu.state, bytes))
        return false;
    if (p->has_paused && !sw_is_heard(sw))
        return false;
    p->has_paused = false;
    catch_up(p, now);
    return true;
}

static void calm_transmit(void *self, struct worker *w, uint32_t port)
{
    struct sw *sw = self;
    if (port_on_transmit(&sw->head, &sw->ports[port], w))
        send(sw, w, &sw->ports[port]);
}

static void calm_timer(void *self, struct worker *w)
{
    struct pipeline *p = self;
    xoff_time at;
    p->sw.timer_at = p->sw.clock_at = XOFF_NEVER;
    do {
        if (p->line.n && p->line_at <= sim_now(w)) /* else a frame enters that takes longer */
            decide(p, w, true);
        at = p->line.n ? p->line_at : XOFF_NEVER;
    } while (sim_advance(w, at));
    set_clock(p, w, at);
}

/* The books hear of frames that left before `now`: what arrives at the same time comes first. */
static inline void hear_of_left(struct pipeline *p, xoff_time now)
{
    for (; p->n_heard < p->n_left && p->left[p->n_heard].at < now; p->n_heard++) {
        const struct left *left = &p->left[p->n_heard];
        const struct xoff_departure departure = {.in_port = left->in_port,
                                                 .out_port = left->in_port,
                                                 .priority = left->priority,
                                                 .pool = left->pool,
                                                 .bytes = left->bytes};
        struct xoff_crossings crossings;
        xoff_mmu_release(&p->ledger.mmu, &departure, left->at, &crossings);
        XOFF_ASSERT(!crossings.n);
    }
}

static void calm_arrive(void *self, struct worker *w, uint32_t in, const struct frame *frame)
{
    struct sw *sw = self;
    struct pipeline *p = pipeline_of(sw);
    hear_of_left(p, sim_now(w));
    XOFF_ASSERT(port_rx(&sw->head, &sw->ports[in], w, frame));
    const uint32_t place = take_in(sw, w, frame, in, in);
    XOFF_ASSERT(place != NET_NONE);
    take_place(p, sim_now(w), place, true);
}

static void calm_settle(struct sw *sw, struct worker *w, xoff_time end)
{
    struct pipeline *p = pipeline_of(sw);
    hear_of_left(p, end);
    p->n_left = p->n_heard = 0;
    catch_up(p, end);
    set_clock(p, w, next_at(p));
}

static const struct fabric_calm calm = {
    .longest = pipeline_calm_longest,
    .begins = calm_begins,
    .transmit = calm_transmit,
    .timer = calm_timer,
    .arrive = calm_arrive,
    .settle = calm_settle,
};

static const struct xoff_pause *policy(const struct sw *sw, uint32_t in, uint32_t out)
{
    (void)in, (void)out;
    return &pipeline_of(sw)->ledger.pause;
}

/* Whether a frame that leaves an egress queue may let the pipeline go on: its own queue is full, or
 * what many queues share. */
static bool may_relieve(const struct pipeline *p, uint32_t out, uint32_t priority)
{
    const struct frame *f = store_at(&p->sw.store, p->stuck);
    return sw_queue(&p->sw, out, priority)->n &&
           (p->limit == XOFF_LIMIT_ALL ||
            (f->out_port == out && (p->limit == XOFF_LIMIT_PORT || f->priority == priority)));
}

/* An egress queue holds up the pipeline if its frames have to leave. Where those of several queues
 * would do, the pipeline goes on as soon as one can send: no queue holds it up unless all are
 * paused. */
static bool holds_up(const struct sw *sw, uint32_t out, uint32_t priority)
{
    const struct pipeline *p = pipeline_of(sw);
    if (!is_stopped(p) || !may_relieve(p, out, priority))
        return false;
    for (uint32_t o = 0; p->limit != XOFF_LIMIT_QUEUE && o < sw->n_ports; o++)
        for (uint32_t q = 0; q < XOFF_N_PRIORITIES; q++)
            if (may_relieve(p, o, q) && sw->ports[o].open >> q & 1)
                return false;
    return true;
}

/* Ingress queues may have what a two-sided buffer shares: when all egress queues are empty, only
 * the pipeline, which is stopped, could make room. */
static bool waits_for_itself(const struct sw *sw, uint32_t out, uint32_t priority)
{
    const struct pipeline *p = pipeline_of(sw);
    if (!is_stopped(p) || p->limit != XOFF_LIMIT_ALL)
        return false;
    for (uint32_t i = 0; i < sw->n_ports * XOFF_N_PRIORITIES; i++)
        if (sw_queue(sw, i / XOFF_N_PRIORITIES, i % XOFF_N_PRIORITIES)->n)
            return false;
    const struct frame *f = store_at(&sw->store, p->stuck);
    return f->out_port == out && f->priority == priority;
}

const struct fabric_ops fabric_pipeline = {
    .name = "pipeline",
    .summary = "inputs served in turn by a packet-processing pipeline, queues at the outputs",
    .params = pipeline_table,
    .params_size = sizeof(struct pipeline_params),
    .size = sizeof(struct pipeline),
    .n_timers = PIPELINE_TIMERS,
    .leaves_inputs = true,
    .asks_egress = true,
    .is_coupled = pipeline_is_coupled,
    .build = pipeline_build,
    .image = pipeline_image,
    .destroy = pipeline_destroy,
    .arrive = arrive,
    .admit = admit,
    .transmit = transmit,
    .timer = timer,
    .clock = clock_line,
    .clock_before = PIPELINE_PAUSE,
    .processed = join,
    .link_down = link_down,
    .buffer = pipeline_buffer,
    .policy = policy,
    .holds_up = holds_up,
    .waits_for_itself = waits_for_itself,
    .calm = &calm,
};
