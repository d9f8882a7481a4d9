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

struct shared {
    struct sw sw;
    struct ledger ledger;
    bool passes_through; /* frames for an idle port bypass the buffer */
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
        egress_count(sw_queue(sw, out, frame->priority), frame, now);
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
    .timer = timer,
    .processed = join,
    .link_down = link_down,
    .buffer = buffer,
    .policy = policy,
};
