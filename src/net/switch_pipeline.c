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
#include <string.h>

#include <xoff/units.h>

#include "net/build.h"
#include "net/egress.h"
#include "net/image.h"

/* Parameters as the scenario writes them. */
struct pipeline_params {
    int64_t packet_rate, full, egress_queue;
};

enum pipeline_full { PIPELINE_DROP, PIPELINE_STOP };

/* The egress queues together, as results, samples and audit read them. */
struct pipeline_egress {
    int64_t used_bytes, peak_bytes, capacity_bytes;
};

struct pipeline {
    struct sw sw;
    /* Every frame reads the first three cache lines. */
    alignas(64) struct fifo line; /* frames in the pipeline; frame.at is when the next is done */
    xoff_time line_at;            /* when the first of them has been processed */
    xoff_time free_at;            /* when the pipeline can take the next frame */
    uint64_t carry;               /* fractions of a ps, in 1 / packet_rate */
    xoff_time processing_for;
    uint32_t n_waiting;
    uint32_t turn; /* the search for the next frame starts with this port, or behind the last */

    xoff_time interval;             /* between two frames, without its fraction */
    uint64_t packet_rate, fraction; /* of the interval, as carry */
    int64_t egress_limit_bytes;     /* of each egress queue */
    struct pipeline_egress egress;
    bool is_two_sided; /* mmu has books of egress queues, not the fabric */
    bool tells_policy; /* the pause policy is to see every frame of egress queues */
    bool is_plain;     /* books of egress queues count bytes, and nobody has to see each frame */
    bool stops;

    struct ledger ledger; /* of ingress queues, and of egress queues if mmu is two-sided */
    struct fifo *inputs;  /* by port: frames that wait for the pipeline */
    uint64_t *waiting;    /* set of ports whose inputs are not empty */
    uint32_t n_words;
    uint32_t stuck;             /* stopped: the place of the frame that found no room */
    enum xoff_limit limit;      /* stopped: why */
    struct xoff_mmu egress_mmu; /* describes the egress queues */
};

/* Timers of the fabric. The pipeline's own is the switch's clock, which comes before them. */
enum { PIPELINE_PAUSE, PIPELINE_TIMERS };

static inline struct pipeline *pipeline_of(const struct sw *sw)
{
    return (struct pipeline *)sw;
}

static inline bool is_stopped(const struct pipeline *p)
{
    return __builtin_expect(p->sw.stopped_at != XOFF_NEVER, 0);
}

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
    if (__builtin_expect(p->ledger.edges.n != 0, 0))
        sw_apply_edges(&p->sw, w, &p->ledger.edges, UINT32_MAX);
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

/* A frame leaves its ingress queue: its output has been decided, or it is lost. */
EGRESS_INLINE void leave_input(struct pipeline *p, struct worker *w, const struct frame *f)
{
    struct ledger *ledger = &p->ledger;
    const struct xoff_departure departure = sw_departure(f, 0);
    struct xoff_crossings crossings;
    xoff_mmu_release(&ledger->mmu, &departure, sim_now(w), &crossings);
    if (__builtin_expect(ledger->maxima.rises, 0))
        maxima_leave(&ledger->maxima, &ledger->mmu);
    input_leave(&p->sw, f);
    if (xoff_pause_on_crossings(&ledger->pause, &crossings, sim_now(w), &ledger->edges))
        heed_policy(p, w);
}

static void lose(struct pipeline *p, struct worker *w, uint32_t place)
{
    leave_input(p, w, store_at(&p->sw.store, place));
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
        maxima_rise(&ledger->maxima, &ledger->mmu);
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
EGRESS_INLINE void queue_up(struct sw *sw, struct worker *w, uint32_t place)
{
    struct pipeline *p = pipeline_of(sw);
    const uint32_t in = store_at(&sw->store, place)->in_port;
    const xoff_time now = sim_now(w) - sw->stopped_for;
    if (!is_stopped(p))
        catch_up(p, now);
    if (!p->n_waiting && !is_stopped(p) && p->free_at <= now) {
        p->turn = in + 1;
        enter(p, now, place);
        if (p->line.n > 1) /* the clock is set */
            return;
    } else {
        fifo_push(&p->inputs[in], &sw->store, place);
        p->waiting[in / 64] |= UINT64_C(1) << in % 64;
        if (p->n_waiting++ || p->line.n || is_stopped(p))
            return;
    }
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
EGRESS_INLINE void forward(struct pipeline *p, struct worker *w, uint32_t place)
{
    struct sw *sw = &p->sw;
    const struct frame *f = store_at(&sw->store, place);
    struct port *port = &sw->ports[f->out_port];
    leave_input(p, w, f);
    if (!is_straight(p, port, f->priority, f->bytes, sim_now(w))) {
        join_egress(p, w, place);
        return;
    }
    struct egress *queue = sw_queue(sw, f->out_port, f->priority);
    if (f->bytes > queue->peak_bytes)
        queue->peak_bytes = f->bytes;
    if (p->egress.used_bytes + f->bytes > p->egress.peak_bytes)
        p->egress.peak_bytes = p->egress.used_bytes + f->bytes;
    egress_count(queue, f, sim_now(w));
    port_tx_begin(port, w, f);
    store_return(&sw->store, place);
}

/* A frame found its egress queue full: it is lost, or the pipeline stops. */
XOFF_SELDOM static void overflow(struct pipeline *p, struct worker *w, uint32_t place,
                                 enum xoff_limit limit)
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
    lose(p, w, place);
}

/* The first frame of the line has been processed: its output is decided. */
EGRESS_INLINE void decide(struct pipeline *p, struct worker *w)
{
    struct sw *sw = &p->sw;
    const uint32_t place = fifo_pop(&p->line, &sw->store);
    struct frame *f = store_at(&sw->store, place);
    if (p->line.n) /* its turn comes soon, and it has been left alone for the processing delay */
        __builtin_prefetch(store_at(&sw->store, p->line.head));
    p->line_at = f->at;
    const uint32_t out = sw_route(sw, f, f->in_port, sim_now(w));
    if (__builtin_expect(out == ROUTE_NONE, 0)) {
        lose(p, w, place);
        return;
    }
    f->out_port = (uint16_t)out;
    const enum xoff_limit limit = limit_of(p, f);
    if (__builtin_expect(limit == XOFF_LIMIT_NONE, 1))
        forward(p, w, place);
    else
        overflow(p, w, place, limit);
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
        forward(p, w, p->stuck);
        return;
    }
    sw_drop(&p->sw, f, f->in_port, f->out_port, RESULT_DROP_LINK_DOWN, sim_now(w));
    lose(p, w, p->stuck);
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
                decide(p, w);
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
    sw->used |= (uint8_t)(1u << frame->priority);
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

static void count_list(const struct sw *sw, const struct fifo *list, int64_t *bytes)
{
    uint32_t place = list->head;
    for (uint32_t k = 0; k < list->n; k++, place = store_at(&sw->store, place)->next)
        bytes[store_at(&sw->store, place)->priority] += store_at(&sw->store, place)->bytes;
}

/* Counts the frames whose output is not decided, or not reached. */
static void count_undecided(const struct pipeline *p, int64_t *bytes)
{
    const struct sw *sw = &p->sw;
    count_list(sw, &sw->processing, bytes);
    count_list(sw, &p->line, bytes);
    for (uint32_t in = 0; in < sw->n_ports; in++)
        count_list(sw, &p->inputs[in], bytes);
    if (is_stopped(p))
        bytes[store_at(&sw->store, p->stuck)->priority] += store_at(&sw->store, p->stuck)->bytes;
}

static bool buffer(const struct sw *sw, uint32_t i, struct fabric_buffer *buffer)
{
    const struct pipeline *p = pipeline_of(sw);
    if (i > (p->is_two_sided ? 0 : 1))
        return false;
    strcpy(buffer->name, p->is_two_sided ? "shared" : i == 0 ? "ingress" : "egress");
    buffer->mmu = i == 0 ? &p->ledger.mmu : &p->egress_mmu;
    if (i == 0) {
        buffer->maxima = p->ledger.maxima.counts;
        count_undecided(p, buffer->held_bytes);
        count_undecided(p, buffer->undecided_bytes);
    } else {
        buffer->n_ports = 0;
    }
    for (uint32_t out = 0; (i || p->is_two_sided) && out < sw->n_ports; out++)
        for (uint32_t priority = 0; priority < XOFF_N_PRIORITIES; priority++)
            buffer->held_bytes[priority] += sw_queue(sw, out, priority)->bytes;
    return true;
}

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

static bool is_coupled(const struct net_switch *spec)
{
    const struct pipeline_params *params = spec->fabric_params;
    return params && params->full == PIPELINE_STOP;
}

/* Building */

static void egress_view(const void *cfg, const void *state, struct xoff_mmu_view *view)
{
    const struct pipeline_egress *e = state;
    (void)cfg;
    view->used_total_bytes = view->used_bytes[XOFF_POOL_RESERVED] = e->used_bytes;
    view->peak_total_bytes = view->peak_bytes[XOFF_POOL_RESERVED] = e->peak_bytes;
    view->capacity_total_bytes = view->capacity_bytes[XOFF_POOL_RESERVED] = e->capacity_bytes;
}

static int64_t egress_used_bytes(const void *state, enum xoff_pool pool)
{
    return pool == XOFF_POOL_RESERVED ? ((const struct pipeline_egress *)state)->used_bytes : 0;
}

/* Nobody asks it to admit a frame: forward() does that. */
static const struct xoff_mmu_ops egress_ops = {
    .name = "egress",
    .view = egress_view,
    .used_bytes = egress_used_bytes,
};

static int build_egress(struct pipeline *p, int64_t limit_bytes, const struct xoff_mmu_env *env,
                        struct xoff_err *err)
{
    const int64_t n_queues = (int64_t)p->sw.n_ports * XOFF_N_PRIORITIES;
    p->egress_limit_bytes = limit_bytes;
    if (limit_bytes == XOFF_PARAM_AUTO) {
        p->egress_limit_bytes = p->sw.spec->buffer_bytes / n_queues;
        if (p->egress_limit_bytes < env->max_frame_bytes)
            p->egress_limit_bytes = env->max_frame_bytes;
    }
    if (p->egress_limit_bytes < env->max_frame_bytes) {
        char text[32];
        xoff_err_set(err, XOFF_E_CONFLICT, "egress_queue",
                     xoff_format_bytes(text, sizeof text, limit_bytes),
                     "too small: a largest frame must fit, which has ");
        xoff_err_add_int(err, env->max_frame_bytes);
        xoff_err_add(err, "B");
        return -(int)XOFF_E_CONFLICT;
    }
    p->egress.capacity_bytes = n_queues * p->egress_limit_bytes;
    p->egress_mmu = (struct xoff_mmu){.ops = &egress_ops, .state = &p->egress};
    return 0;
}

/* Without a rate the pipeline is never the bottleneck: it takes smallest frames from all ports at
 * their full rate. */
static uint64_t full_rate(const struct xoff_mmu_env *env)
{
    uint64_t rate = 0;
    for (uint32_t i = 0; i < env->n_ports; i++)
        rate +=
            (uint64_t)env->ports[i].rate_bps / (8 * (XOFF_MIN_FRAME_BYTES + XOFF_OVERHEAD_BYTES)) +
            1;
    return rate;
}

/* Warns if egress queues that decide about pauses cannot hold what still comes: the pipeline takes
 * what each port brings in its time, besides what arrives after the decision. */
static void try_egress(struct pipeline *p, const struct xoff_mmu_env *env, struct xoff_err *err)
{
    struct xoff_mmu_port *ports = build_late_ports(&p->ledger.pause, env);
    struct xoff_mmu_env late = *env;
    late.ports = ports;
    for (uint32_t i = 0; i < env->n_ports; i++)
        ports[i].headroom_bytes += xoff_bytes_in(p->processing_for, ports[i].rate_bps);
    net_try_buffer(p->sw.net, p->sw.node, &p->ledger.mmu,
                   p->stops ? TRIAL_STOPPING_QUEUES : TRIAL_EGRESS_QUEUES, &p->ledger.pause,
                   &p->ledger.edges, &late, err);
    build_free(ports);
}

static int build(struct sw *sw, const struct xoff_mmu_env *env, enum net_part *part,
                 struct xoff_err *err)
{
    struct pipeline *p = pipeline_of(sw);
    struct pipeline_params params;
    xoff_param_defaults(sw->fabric->params, &params);
    if (sw->spec->fabric_params)
        params = *(const struct pipeline_params *)sw->spec->fabric_params;
    p->n_words = (sw->n_ports + 63) / 64;
    p->inputs = build_block(sw->n_ports, sizeof *p->inputs);
    p->waiting = build_block(p->n_words, sizeof *p->waiting);
    p->packet_rate =
        params.packet_rate == XOFF_PARAM_AUTO ? full_rate(env) : (uint64_t)params.packet_rate;
    p->interval = XOFF_S / (xoff_time)p->packet_rate;
    p->fraction = (uint64_t)XOFF_S % p->packet_rate;
    p->processing_for = sw->processing_for;
    sw->processing_for = 0; /* the pipeline takes this time, and nothing else does */
    p->stops = params.full == PIPELINE_STOP;
    p->is_two_sided = sw->spec->mmu->egress_join;
    int code = 0;
    if (!p->is_two_sided)
        code = build_egress(p, params.egress_queue, env, err);
    else if (params.egress_queue != XOFF_PARAM_AUTO)
        code = xoff_err_set(err, XOFF_E_CONFLICT, "egress_queue", NULL,
                            "has no effect: mmu: two-sided has the limits of egress queues");
    struct xoff_mmu_env limited = *env;
    limited.egress_bytes = p->is_two_sided ? sw->spec->mmu->egress_most(sw->spec->mmu_params, env)
                                           : p->egress_limit_bytes;
    if (!code)
        code = ledger_build(sw, &limited, PIPELINE_PAUSE, &p->ledger, part, err);
    if (code)
        return code;
    p->tells_policy = p->ledger.pause.shape.every_frame;
    p->is_plain = !p->is_two_sided && !p->tells_policy;
    sw->signalling = p->ledger.pause.shape.signalling;
    try_egress(p, &limited, err);
    if (p->stops)
        net_try_stop(sw->net, sw->node, &p->ledger.mmu, env, err);
    return 0;
}

static void image_fabric(struct sw *sw, struct image *image)
{
    struct pipeline *p = pipeline_of(sw);
    image_bytes(image, &p->line, sizeof p->line);
    image_bytes(image, &p->line_at, sizeof p->line_at);
    image_bytes(image, &p->free_at, sizeof p->free_at);
    image_bytes(image, &p->carry, sizeof p->carry);
    image_bytes(image, &p->n_waiting, sizeof p->n_waiting);
    image_bytes(image, &p->turn, sizeof p->turn);
    image_bytes(image, &p->egress.used_bytes, sizeof p->egress.used_bytes);
    image_bytes(image, &p->egress.peak_bytes, sizeof p->egress.peak_bytes);
    image_bytes(image, p->inputs, sizeof *p->inputs * sw->n_ports);
    image_bytes(image, p->waiting, sizeof *p->waiting * p->n_words);
    image_bytes(image, &p->stuck, sizeof p->stuck);
    image_bytes(image, &p->limit, sizeof p->limit);
    image_ledger(image, &p->ledger);
}

static void destroy(struct sw *sw)
{
    struct pipeline *p = pipeline_of(sw);
    ledger_free(&p->ledger);
    build_free(p->inputs), build_free(p->waiting);
}

static const char *const full_words[] = {"drop", "stop", NULL};

static const struct xoff_param pipeline_table[] = {
    {.name = "packet_rate",
     .type = XOFF_P_INT,
     .offset = offsetof(struct pipeline_params, packet_rate),
     .preset = "auto",
     .min = "1",
     .max = "1000G",
     .allows_auto = true,
     .help = "Frames that the pipeline takes in a second, such as 500k or 1M; auto: smallest "
             "frames from all ports at their full rate."},
    {.name = "full",
     .type = XOFF_P_CHOICE,
     .offset = offsetof(struct pipeline_params, full),
     .preset = "drop",
     .choices = full_words,
     .help = "What happens to a processed frame whose egress queue is full: it is lost, or the "
             "pipeline stops until there is room (for a lossless priority; lossy frames are "
             "lost)."},
    {.name = "egress_queue",
     .type = XOFF_P_BYTES,
     .offset = offsetof(struct pipeline_params, egress_queue),
     .preset = "auto",
     .min = "64B",
     .max = "4GB",
     .allows_auto = true,
     .help = "Size of each egress queue; auto: an equal part of a memory as large as buffer, but "
             "at least a largest frame."},
    {0},
};

const struct fabric_ops fabric_pipeline = {
    .name = "pipeline",
    .summary = "inputs served in turn by a packet-processing pipeline, queues at the outputs",
    .params = pipeline_table,
    .params_size = sizeof(struct pipeline_params),
    .size = sizeof(struct pipeline),
    .n_timers = PIPELINE_TIMERS,
    .leaves_inputs = true,
    .asks_egress = true,
    .is_coupled = is_coupled,
    .build = build,
    .image = image_fabric,
    .destroy = destroy,
    .arrive = arrive,
    .admit = admit,
    .transmit = transmit,
    .timer = timer,
    .clock = clock_line,
    .clock_before = PIPELINE_PAUSE,
    .processed = join,
    .link_down = link_down,
    .buffer = buffer,
    .policy = policy,
    .holds_up = holds_up,
    .waits_for_itself = waits_for_itself,
};
