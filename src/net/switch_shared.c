/* Fabric `shared`: one memory for all ports, store and forward, ingress accounting by the mmu.
 *
 * A frame is admitted when its last bit has arrived, waits out the processing delay, joins the
 * egress queue of its priority, and leaves the buffer when its transmission starts: the memory is
 * read out faster than the wire sends, and an idle switch needs one event per frame instead of two.
 * (Releasing at the end of transmission holds one frame per egress port longer.) A frame that finds
 * its port free and nothing waiting there goes straight from wire to wire. It occupies no buffer
 * for any time, so the buffer, the scheduler and the congestion point are not asked about it,
 * unless one of them wants to see every frame.
 */
#include "net/egress.h"
#include "net/image.h"
#include "sim/alone.h"
#include <xoff/drr_quick.h>
#include <xoff/ecn_quick.h>
#include <xoff/mmu_quick.h>

/* What the short way needs for the frames of a priority. */
struct lane {
    struct egress *queues; /* by port */
    uint32_t *held_bytes;  /* sw_held() by [in port][out port]; NULL: lossy */
};

struct shared {
    struct sw sw;
    struct ledger ledger;
    bool passes_through; /* frames for an idle port bypass the buffer */
    bool has_quick_drr;  /* xoff_drr_is_quick() */
    bool is_plain;       /* it may go the short way; so it was after plain_after changes of links */
    uint32_t plain_after;
    struct route_row row; /* its routes in this window */
    struct lane lanes[XOFF_N_PRIORITIES];
};

static inline struct shared *shared_of(const struct sw *sw)
{
    return (struct shared *)sw;
}

/* Called when the pause policy was told something: applies its decisions and its new deadline. */
static inline void heed_policy(struct shared *s, struct worker *w)
{
    if (__builtin_expect(s->ledger.edges.n != 0, 0))
        sw_apply_edges(&s->sw, w, &s->ledger.edges, UINT32_MAX);
    ledger_set_timer(&s->sw, w, &s->ledger);
}

EGRESS_INLINE void release(struct sw *sw, struct worker *w, const struct frame *f,
                           int64_t egress_bytes)
{
    struct shared *s = shared_of(sw);
    const struct xoff_departure departure = sw_departure(f, egress_bytes);
    sw_let_go(sw, f);
    if (ledger_release(&s->ledger, &departure, sim_now(w)))
        heed_policy(s, w);
}

static void send(struct sw *sw, struct worker *w, struct port *port)
{
    egress_send(sw, w, port, release);
}

static void join(struct sw *sw, struct worker *w, uint32_t place)
{
    egress_join(sw, w, place, release, send);
}

/* The buffer takes a frame or drops it. */
static inline uint32_t admit(struct sw *sw, struct worker *w, const struct frame *frame,
                             uint32_t in, uint32_t out)
{
    struct shared *s = shared_of(sw);
    const xoff_time now = sim_now(w);
    struct xoff_arrival arrival = sw_arrival(sw, frame, in, out);
    bool told;
    const enum xoff_pool pool = ledger_admit(&s->ledger, &arrival, now, &told);
    if (!arrival.dropped)
        sw_hold(sw, frame, in, out);
    if (told)
        heed_policy(s, w);
    if (__builtin_expect(arrival.dropped, 0)) {
        sw_drop(sw, frame, in, out, RESULT_DROP_BUFFER, now);
        return NET_NONE;
    }
    return sw_put(sw, frame, in, out, pool);
}

static void arrive(struct sw *sw, struct worker *w, uint32_t in, const struct frame *frame)
{
    struct shared *s = shared_of(sw);
    const xoff_time now = sim_now(w);
    const uint32_t out = sw_receive(sw, w, in, frame);
    if (__builtin_expect(out == ROUTE_NONE, 0))
        return;
    struct port *to = &sw->ports[out];
    /* A port that has a pause frame to send is armed, hence not free. */
    if (s->passes_through && frame->bytes <= to->quiet_below &&
        port_is_free(to, frame->priority, now)) {
        egress_count(sw_queue(sw, out, frame->priority), frame->bytes, now);
        port_tx_begin(to, w, frame);
        return;
    }
    const uint32_t place = admit(sw, w, frame, in, out);
    if (__builtin_expect(place == NET_NONE, 0))
        return;
    if (__builtin_expect(sw->detains, 0))
        sw_move_on(sw, w, place, join);
    else
        egress_join_up(sw, w, to, place, send);
}

static void transmit(struct sw *sw, struct worker *w, uint32_t port)
{
    if (port_on_transmit(&sw->head, &sw->ports[port], w))
        send(sw, w, &sw->ports[port]);
}

/* The short way
 *
 * Most switches are cells of their own, and nothing seldom is set up at them: no frame is watched,
 * drawn, tagged or held up, none has a second line. Their windows run in a loop of their own, in
 * which a frame passes from wire to queue and from queue to wire without a call, as long as its
 * link is up and its buffer crosses no threshold. All else goes the way above, before anything has
 * changed.
 */

/* Buffers whose books are kept inline (mmu_quick.h). */
enum books { BOOKS_CALLED, BOOKS_SIH, BOOKS_DSH };

EGRESS_INLINE enum xoff_pool try_admit(const struct shared *s, uint32_t in, uint32_t priority,
                                       bool is_lossless, uint32_t bytes, int64_t egress_bytes,
                                       enum books books)
{
    const struct xoff_mmu *mmu = &s->ledger.mmu;
    if (books == BOOKS_SIH)
        return xoff_sih_quick_admit(mmu->cfg, mmu->state, in, priority, is_lossless, bytes,
                                    egress_bytes);
    if (books == BOOKS_DSH)
        return xoff_dsh_quick_admit(mmu->cfg, mmu->state, in, priority, is_lossless, bytes,
                                    egress_bytes);
    return XOFF_POOL_DROP;
}

EGRESS_INLINE bool try_release(struct shared *s, uint32_t in, uint32_t priority, bool is_lossless,
                               uint32_t bytes, enum books books)
{
    const struct xoff_mmu *mmu = &s->ledger.mmu;
    if (books == BOOKS_SIH)
        return xoff_sih_quick_release(mmu->cfg, mmu->state, in, priority, is_lossless, bytes);
    if (books == BOOKS_DSH)
        return xoff_dsh_quick_release(mmu->cfg, mmu->state, in, priority, is_lossless, bytes);
    return false;
}

/* headroom_used(). The books of both buffers begin alike. */
EGRESS_INLINE int64_t headroom_shortly(const struct shared *s, enum books books)
{
    if (books == BOOKS_CALLED)
        return headroom_used(&s->ledger.mmu);
    const struct xoff_shared_state *state = s->ledger.mmu.state;
    return state->used_bytes[XOFF_POOL_HEADROOM];
}

/* The queues of a port, for a scheduler that asks about few of them. */
struct heads {
    const struct sw *sw;
    uint32_t port;
};

EGRESS_INLINE uint32_t bytes_of_head(const void *context, uint32_t priority)
{
    const struct heads *heads = context;
    return store_at(&heads->sw->store, sw_queue(heads->sw, heads->port, priority)->head)->bytes;
}

EGRESS_INLINE uint32_t select_shortly(struct shared *s, struct port *port, void *state,
                                      uint32_t eligible, xoff_time now)
{
    struct sw *sw = &s->sw;
    if (s->has_quick_drr) {
        const struct heads heads = {.sw = sw, .port = port->number};
        const uint32_t priority = xoff_drr_quick_select(sw->sched.cfg, state, bytes_of_head, &heads,
                                                        port->backlog, eligible);
        if (__builtin_expect(priority != XOFF_DRR_DECLINES, 1))
            return priority;
    }
    return egress_select(sw, port, state, (uint8_t)eligible, now);
}

EGRESS_INLINE void charge_shortly(const struct shared *s, void *state, uint32_t priority,
                                  uint32_t bytes, bool emptied)
{
    const struct xoff_sched *sched = &s->sw.sched;
    if (s->has_quick_drr)
        xoff_drr_quick_charge(sched->cfg, state, priority, bytes, emptied);
    else
        xoff_sched_charge(sched, state, priority, bytes, emptied);
}

/* egress_ask_out(), with ecn inline. */
EGRESS_INLINE struct frame *ask_out_shortly(struct sw *sw, struct worker *w, struct port *port,
                                            struct egress *queue, uint32_t place, xoff_time now)
{
    const struct point *point = &sw->points[port->number];
    if (__builtin_expect(point->cp.ops != &xoff_cp_ecn, 0))
        return egress_ask_out(sw, w, port, queue, place, now);
    struct frame *f = store_at(&sw->store, place);
    if (point->marks_out && xoff_ecn_marks(point->cp.cfg, queue->bytes + f->bytes, f->bytes,
                                           xoff_rng_u32(&sw->marking_rng)))
        egress_set_mark(queue, f);
    return f;
}

EGRESS_INLINE void arm_shortly(const struct sw *sw, struct worker *w, struct port *port)
{
    port->is_armed = true;
    alone_at_transmit(w, sw->n_ports, port->number, port->free_at);
}

/* Finds out where a frame goes, before the events of the window. No port: it goes the long way. */
EGRESS_INLINE void prepare_shortly(const struct shared *s, uint32_t in, struct arrival *a,
                                   bool has_hops)
{
    const struct frame *frame = a->frame;
    const uint32_t priority = frame->priority;
    uint32_t out;
    if (__builtin_expect(frame_is_control(frame), 0) ||
        __builtin_expect(!route_row_lookup(&s->row, frame->dst, frame->hash, has_hops, &out), 0)) {
        a->port = NULL;
        return;
    }
    a->port = s->sw.port_at[out];
    a->queue = &s->lanes[priority].queues[out];
    __builtin_prefetch(a->port, 1);
    __builtin_prefetch(a->queue, 1);
    port_count_rx(s->sw.port_at[in], priority, frame->bytes);
}

EGRESS_INLINE void arrive_shortly(struct shared *s, struct worker *w, uint32_t in,
                                  const struct arrival *a, enum books books)
{
    struct sw *sw = &s->sw;
    const xoff_time now = sim_now(w);
    const struct frame *frame = a->frame;
    const uint32_t priority = frame->priority, bytes = frame->bytes;
    struct port *to = a->port;
    if (__builtin_expect(!to, 0)) {
        arrive(sw, w, in, frame);
        return;
    }
    const struct lane *lane = &s->lanes[priority];
    struct egress *queue = a->queue;
    if (bytes <= to->quiet_below && port_is_free(to, priority, now)) {
        egress_count(queue, bytes, now);
        port_tx_plainly(to, w, frame);
        return;
    }
    const uint32_t out = to->number;
    const enum xoff_pool pool =
        try_admit(s, in, priority, lane->held_bytes, bytes, queue->bytes, books);
    if (__builtin_expect(pool == XOFF_POOL_DROP, 0)) {
        const uint32_t place = admit(sw, w, frame, in, out);
        if (place != NET_NONE)
            egress_join_up(sw, w, to, place, send);
        return;
    }
    if (__builtin_expect(pool == XOFF_POOL_HEADROOM, 0))
        maxima_rise(&s->ledger.maxima, headroom_shortly(s, books));
    if (lane->held_bytes)
        lane->held_bytes[in * sw->n_ports + out] += bytes;
    const uint32_t place = store_take(&sw->store);
    struct frame *f = store_at(&sw->store, place);
    *f = *frame; /* it has just arrived, so its `at` is the time it is queued */
    f->in_port = (uint16_t)in;
    f->out_port = (uint16_t)out;
    f->pool = (uint8_t)pool;
    egress_append(&sw->store, to, queue, place, priority, bytes);
    egress_ask(sw, w, to, queue, f, now);
    if (to->is_armed)
        return;
    if (now < to->free_at)
        arm_shortly(sw, w, to);
    else if (to->is_control_due || to->backlog & port_open(to, now)) /* else it is paused */
        send(sw, w, to);
}

EGRESS_INLINE void transmit_shortly(struct shared *s, struct worker *w, uint32_t number,
                                    enum books books)
{
    struct sw *sw = &s->sw;
    struct port *port = sw->port_at[number];
    const xoff_time now = sim_now(w);
    if (__builtin_expect(now < port->free_at || port->is_control_due, 0)) {
        transmit(sw, w, number);
        return;
    }
    port->is_armed = false;
    const uint32_t backlog = port->backlog, eligible = backlog & port_open(port, now);
    if (!eligible)
        return;
    uint32_t priority = (uint32_t)__builtin_ctz(eligible);
    const bool is_scheduled = backlog & (backlog - 1);
    void *sched_state = NULL;
    if (is_scheduled) {
        sched_state = sw->sched_states + number * sw->sched.shape.state_size;
        priority = select_shortly(s, port, sched_state, eligible, now);
    }
    const struct lane *lane = &s->lanes[priority];
    struct egress *queue = &lane->queues[number];
    const uint32_t place = queue->head;
    struct frame *f = store_at(&sw->store, place);
    const uint32_t bytes = f->bytes;
    const int64_t queued_bytes = queue->bytes;
    egress_remove(&sw->store, port, queue, f, priority);
    if (is_scheduled) {
        port->known_heads &= (uint8_t)(s->has_quick_drr ? 0 : ~(1u << priority));
        charge_shortly(s, sched_state, priority, bytes, !queue->n);
    } else {
        port->known_heads = 0;
    }
    if (__builtin_expect(queued_bytes > port->quiet_below, 0))
        f = ask_out_shortly(sw, w, port, queue, place, now);
    egress_count(queue, bytes, now);
    port_tx_plainly(port, w, f);
    if (__builtin_expect(try_release(s, f->in_port, priority, lane->held_bytes, bytes, books), 1)) {
        if (lane->held_bytes)
            lane->held_bytes[f->in_port * sw->n_ports + number] -= bytes;
        if (__builtin_expect(s->ledger.maxima.rises, 0))
            maxima_leave(&s->ledger.maxima, headroom_shortly(s, books));
    } else {
        release(sw, w, f, queue->bytes);
    }
    store_return_frame(&sw->store, f, place);
    if (port->backlog & port->open && !port->is_armed)
        arm_shortly(sw, w, port);
}

#define SHORT_WAY(name, books, has_hops)                                              \
    EGRESS_INLINE void prepare_##name(void *s, uint32_t in, struct arrival *a)        \
    {                                                                                 \
        prepare_shortly(s, in, a, has_hops);                                          \
    }                                                                                 \
    EGRESS_INLINE void arrive_##name(void *s, struct worker *w, uint32_t in,          \
                                     const struct arrival *a)                         \
    {                                                                                 \
        arrive_shortly(s, w, in, a, books);                                           \
    }                                                                                 \
    EGRESS_INLINE void transmit_##name(void *s, struct worker *w, uint32_t port)      \
    {                                                                                 \
        transmit_shortly(s, w, port, books);                                          \
    }                                                                                 \
    static void run_##name(void *sw, struct worker *w, uint32_t cell)                 \
    {                                                                                 \
        sim_run_alone(w, cell, 1, sw, prepare_##name, arrive_##name, transmit_##name, \
                      timer_alone);                                                   \
    }

static void timer_alone(void *sw, struct worker *w)
{
    sw_timer(sw, w);
}

SHORT_WAY(called, BOOKS_CALLED, true)
SHORT_WAY(sih, BOOKS_SIH, true)
SHORT_WAY(dsh, BOOKS_DSH, true)
/* In large networks, whose routes are by edge. */
SHORT_WAY(called_by_edge, BOOKS_CALLED, false)
SHORT_WAY(sih_by_edge, BOOKS_SIH, false)
SHORT_WAY(dsh_by_edge, BOOKS_DSH, false)

static void arrive_alone(void *sw, struct worker *w, uint32_t in, const struct arrival *a)
{
    arrive(sw, w, in, a->frame);
}

static void transmit_alone(void *sw, struct worker *w, uint32_t port)
{
    transmit(sw, w, port);
}

/* Whether nothing seldom is set up. Links change between windows alone. */
static bool is_plain(const struct sw *sw)
{
    bool plain = shared_of(sw)->passes_through && sw->by_hash && !sw->detains && !sw->is_watched &&
                 sw->store.step == 1;
    for (uint32_t i = 0; i < sw->n_ports; i++)
        plain = plain && sw->ports[i].is_up && port_is_plain(&sw->ports[i]);
    return plain;
}

static void run(void *self, struct worker *w, uint32_t cell)
{
    struct shared *s = self;
    const struct xoff_mmu_ops *mmu = s->ledger.mmu.ops;
    s->row = routes_row(s->sw.net->routes, s->sw.node);
    if (s->plain_after != s->sw.net->n_link_changes) {
        s->plain_after = s->sw.net->n_link_changes;
        s->is_plain = is_plain(self);
    }
    const bool has_hops = s->row.hops;
    if (!s->is_plain)
        sim_run_alone(w, cell, s->sw.store.step, self, NULL, arrive_alone, transmit_alone,
                      timer_alone);
    else if (mmu == &xoff_mmu_sih)
        (has_hops ? run_sih : run_sih_by_edge)(self, w, cell);
    else if (mmu == &xoff_mmu_dsh)
        (has_hops ? run_dsh : run_dsh_by_edge)(self, w, cell);
    else
        (has_hops ? run_called : run_called_by_edge)(self, w, cell);
}

/* The deadline of the pause policy has come. */
static void timer(struct sw *sw, struct worker *w, uint32_t own)
{
    struct shared *s = shared_of(sw);
    (void)own;
    xoff_pause_expire(&s->ledger.pause, sim_now(w), &s->ledger.edges);
    heed_policy(s, w);
}

static void link_down(struct sw *sw, struct worker *w, uint32_t port)
{
    egress_flush(sw, w, port, release);
}

static bool buffer(const struct sw *sw, uint32_t i, struct fabric_buffer *buffer)
{
    const struct shared *s = shared_of(sw);
    if (i)
        return false;
    strcpy(buffer->name, "shared");
    buffer->mmu = &s->ledger.mmu;
    buffer->maxima = s->ledger.maxima.counts;
    for (uint32_t out = 0; out < sw->n_ports; out++)
        sw_count_held(sw, out, buffer->held_bytes);
    return true;
}

static const struct xoff_pause *policy(const struct sw *sw, uint32_t in, uint32_t out)
{
    (void)in, (void)out;
    return &shared_of(sw)->ledger.pause;
}

static int build(struct sw *sw, const struct xoff_mmu_env *env, enum net_part *part,
                 struct xoff_err *err)
{
    struct shared *s = shared_of(sw);
    const int code = ledger_build(sw, env, 0, &s->ledger, part, err);
    if (code)
        return code;
    sw->signalling = s->ledger.pause.shape.signalling;
    s->plain_after = UINT32_MAX; /* not known yet */
    for (uint32_t p = 0; p < XOFF_N_PRIORITIES; p++)
        s->lanes[p] =
            (struct lane){.queues = sw_queue(sw, 0, p),
                          .held_bytes = sw_is_lossless(sw, p) ? sw_held(sw, p, 0, 0) : NULL};
    s->has_quick_drr = xoff_drr_is_quick(&sw->sched);
    s->passes_through = !s->ledger.pause.shape.every_frame && !sw->sched.shape.every_frame &&
                        !sw->spec->processing_for && !sw->net->spec.wire->buffers_all;
    return 0;
}

static void image_fabric(struct sw *sw, struct image *image)
{
    image_ledger(image, &shared_of(sw)->ledger);
}

static void destroy(struct sw *sw)
{
    ledger_free(&shared_of(sw)->ledger);
}

const struct fabric_ops fabric_shared = {
    .name = "shared",
    .summary = "one memory for all ports, with ingress accounting (the usual data-center switch)",
    .size = sizeof(struct shared),
    .n_timers = 1,
    .build = build,
    .image = image_fabric,
    .destroy = destroy,
    .arrive = arrive,
    .admit = admit,
    .transmit = transmit,
    .run = run,
    .timer = timer,
    .processed = join,
    .link_down = link_down,
    .buffer = buffer,
    .policy = policy,
};
