/* Fabric `output-queued`: the ideal switch that others are compared with. It is fast enough to put
 * every frame into the buffer of its output port at the instant the frame has come in, whatever
 * else arrives at that instant; frames wait only for the wire they leave by.
 *
 * Each output port has a buffer of its own, of the size that `buffer` gives, with books over all
 * input ports: `mmu` and `pause` work in each as they do in a shared memory. Several buffers may
 * want one input paused; the input stops with the first request and goes on when the last one ends.
 * Every frame is accounted for, however short its stay is.
 */
#include "net/build.h"
#include "net/egress.h"
#include "net/image.h"

struct output_queued {
    struct sw sw;
    struct ledger *ledgers; /* by output port */
    uint8_t *asked;         /* by [out][in]: priorities that the output wants paused at the input */
    uint16_t *n_asking;     /* by [in][priority]: number of outputs that want it paused */
};

static inline struct output_queued *oq_of(const struct sw *sw)
{
    return (struct output_queued *)sw;
}

/* Returns the priorities of an edge that change for the peer of its port, over all outputs. */
static uint8_t combine(struct output_queued *oq, uint32_t out, const struct xoff_edge *edge)
{
    uint8_t *asked = &oq->asked[out * oq->sw.n_ports + edge->port];
    const uint8_t after =
        (uint8_t)(edge->pause ? *asked | edge->priorities : *asked & ~edge->priorities);
    uint8_t changed = 0;
    for (uint32_t mask = *asked ^ after; mask; mask &= mask - 1) {
        const uint32_t p = (uint32_t)__builtin_ctz(mask);
        uint16_t *n = &oq->n_asking[edge->port * XOFF_N_PRIORITIES + p];
        if (edge->pause ? (*n)++ == 0 : --(*n) == 0)
            changed |= (uint8_t)(1u << p);
    }
    *asked = after;
    return changed;
}

/* Called when the pause policy of an output was told something: applies its decisions and its new
 * deadline. */
static void heed_policy(struct output_queued *oq, struct worker *w, uint32_t out)
{
    const struct xoff_edges *edges = &oq->ledgers[out].edges;
    for (uint32_t i = 0; i < edges->n; i++) {
        struct xoff_edge edge = edges->at[i];
        edge.priorities = combine(oq, out, &edge);
        const struct xoff_edges one = {1, &edge};
        if (edge.priorities)
            sw_apply_edges(&oq->sw, w, &one, out);
    }
    ledger_set_timer(&oq->sw, w, &oq->ledgers[out]);
}

static void release(struct sw *sw, struct worker *w, const struct frame *f, int64_t egress_bytes)
{
    struct ledger *ledger = &oq_of(sw)->ledgers[f->out_port];
    const struct xoff_departure departure = sw_departure(f, egress_bytes);
    sw_let_go(sw, f);
    if (ledger_release(ledger, &departure, sim_now(w)))
        heed_policy(oq_of(sw), w, f->out_port);
}

static void send(struct sw *sw, struct worker *w, struct port *port)
{
    egress_send(sw, w, port, release);
}

static void join(struct sw *sw, struct worker *w, uint32_t place)
{
    egress_join(sw, w, place, release, send);
}

/* The buffer of an output takes a frame or drops it. */
static uint32_t admit(struct sw *sw, struct worker *w, const struct frame *frame, uint32_t in,
                      uint32_t out)
{
    struct ledger *ledger = &oq_of(sw)->ledgers[out];
    struct xoff_arrival arrival = sw_arrival(sw, frame, in, out);
    bool told;
    const enum xoff_pool pool = ledger_admit(ledger, &arrival, sim_now(w), &told);
    if (!arrival.dropped)
        sw_hold(sw, frame, in, out);
    if (told)
        heed_policy(oq_of(sw), w, out);
    if (arrival.dropped) {
        sw_drop(sw, frame, in, out, RESULT_DROP_BUFFER, sim_now(w));
        return NET_NONE;
    }
    return sw_put(sw, frame, in, out, pool);
}

static void arrive(struct sw *sw, struct worker *w, uint32_t in, const struct frame *frame)
{
    const uint32_t out = sw_receive(sw, w, in, frame);
    if (out == ROUTE_NONE)
        return;
    const uint32_t place = admit(sw, w, frame, in, out);
    if (place == NET_NONE)
        return;
    sw_move_on(sw, w, place, join);
}

static void transmit(struct sw *sw, struct worker *w, uint32_t port)
{
    if (port_on_transmit(&sw->head, &sw->ports[port], w))
        send(sw, w, &sw->ports[port]);
}

/* The deadline of an output's pause policy has come. */
static void timer(struct sw *sw, struct worker *w, uint32_t own)
{
    struct ledger *ledger = &oq_of(sw)->ledgers[own];
    xoff_pause_expire(&ledger->pause, sim_now(w), &ledger->edges);
    heed_policy(oq_of(sw), w, own);
}

static void link_down(struct sw *sw, struct worker *w, uint32_t port)
{
    egress_flush(sw, w, port, release);
}

static bool buffer(const struct sw *sw, uint32_t i, struct fabric_buffer *buffer)
{
    if (i >= sw->n_ports)
        return false;
    sw_name_buffer(sw, "to ", i, buffer->name);
    buffer->mmu = &oq_of(sw)->ledgers[i].mmu;
    buffer->maxima = oq_of(sw)->ledgers[i].maxima.counts;
    sw_count_held(sw, i, buffer->held_bytes);
    return true;
}

static const struct xoff_pause *policy(const struct sw *sw, uint32_t in, uint32_t out)
{
    (void)in;
    return &oq_of(sw)->ledgers[out].pause;
}

static int build(struct sw *sw, const struct xoff_mmu_env *env, enum net_part *part,
                 struct xoff_err *err)
{
    struct output_queued *oq = oq_of(sw);
    const uint32_t n = sw->n_ports;
    oq->ledgers = build_aligned(n, sizeof *oq->ledgers);
    oq->asked = build_block((size_t)n * n, sizeof *oq->asked);
    oq->n_asking = build_block((size_t)n * XOFF_N_PRIORITIES, sizeof *oq->n_asking);
    for (uint32_t out = 0; out < n; out++) {
        const int code = ledger_build(sw, env, out, &oq->ledgers[out], part, err);
        if (code)
            return code;
    }
    sw->signalling = oq->ledgers[0].pause.shape.signalling;
    return 0;
}

static void image_fabric(struct sw *sw, struct image *image)
{
    struct output_queued *oq = oq_of(sw);
    const size_t n = sw->n_ports;
    for (uint32_t out = 0; out < n; out++)
        image_ledger(image, &oq->ledgers[out]);
    image_bytes(image, oq->asked, sizeof *oq->asked * n * n);
    image_bytes(image, oq->n_asking, sizeof *oq->n_asking * n * XOFF_N_PRIORITIES);
}

static void destroy(struct sw *sw)
{
    struct output_queued *oq = oq_of(sw);
    for (uint32_t out = 0; oq->ledgers && out < sw->n_ports; out++)
        ledger_free(&oq->ledgers[out]);
    build_free(oq->ledgers), build_free(oq->asked), build_free(oq->n_asking);
}

const struct fabric_ops fabric_output_queued = {
    .name = "output-queued",
    .summary = "the ideal switch: unlimited speed-up, and a buffer of its own for each output port",
    .size = sizeof(struct output_queued),
    .n_port_timers = 1,
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
