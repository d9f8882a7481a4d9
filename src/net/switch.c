/* The parts of a switch that are the same for every fabric: timers, causes of pauses, marks,
 * samples. */
#include "net/egress.h"
#include "net/net_dcbx.h"

/* Finds an egress queue that holds up all inputs; UINT32_MAX: none does, the pipeline is slow. */
static void find_stopper(const struct sw *sw, struct pause_note *note)
{
    for (uint32_t out = 0; out < sw->n_ports; out++)
        for (uint32_t p = 0; p < XOFF_N_PRIORITIES; p++)
            if (sw->fabric->holds_up(sw, out, p)) {
                note->egress_port = out;
                note->egress_priority = (uint8_t)p;
                return;
            }
}

/* Finds the egress queue that holds most of the bytes of an ingress unit. */
static void find_egress(struct sw *sw, const struct xoff_crossing *cause, uint32_t only,
                        xoff_time now, struct pause_note *note)
{
    note->egress_port = UINT32_MAX;
    uint32_t most = 0;
    if (cause->unit == XOFF_UNIT_EGRESS) {
        note->egress_port = cause->port;
        note->egress_priority = cause->priority;
    } else if (sw->fabric->holds_up) {
        find_stopper(sw, note);
    } else {
        for (uint32_t p = 0; p < XOFF_N_PRIORITIES; p++) {
            if (!sw_is_lossless(sw, p) ||
                (cause->unit == XOFF_UNIT_INGRESS && p != cause->priority))
                continue;
            const uint32_t *row = sw_held(sw, p, cause->port, 0);
            for (uint32_t out = 0; out < sw->n_ports; out++)
                if (row[out] > most && (only == UINT32_MAX || only == out)) {
                    most = row[out];
                    note->egress_port = out;
                    note->egress_priority = (uint8_t)p;
                }
        }
    }
    if (note->egress_port == UINT32_MAX)
        return;
    struct port *egress = &sw->ports[note->egress_port];
    note->egress_paused = !(port_open(egress, now) >> note->egress_priority & 1);
    note->egress_closed_at = egress->closed_at[note->egress_priority];
}

void sw_apply_edges(struct sw *sw, struct worker *w, const struct xoff_edges *edges, uint32_t out)
{
    for (uint32_t i = 0; i < edges->n; i++) {
        const struct xoff_edge *e = &edges->at[i];
        struct pause_note note = {0};
        find_egress(sw, &e->cause, out, sim_now(w), &note);
        port_apply_edge(&sw->head, &sw->ports[e->port], w, e, &note);
    }
}

void sw_drop(struct sw *sw, const struct frame *f, uint32_t in, uint32_t out,
             enum result_drop_cause cause, xoff_time now)
{
    note_drop(&sw->notes, in, out, f, cause, now);
}

void sw_count_held(const struct sw *sw, uint32_t out, int64_t held_bytes[XOFF_N_PRIORITIES])
{
    for (uint32_t p = 0; p < XOFF_N_PRIORITIES; p++)
        held_bytes[p] += sw_queue(sw, out, p)->bytes;
    uint32_t place = sw->processing.head;
    for (uint32_t k = 0; k < sw->processing.n; k++, place = store_at(&sw->store, place)->next) {
        const struct frame *f = store_at(&sw->store, place);
        if (f->out_port == out)
            held_bytes[f->priority] += f->bytes;
    }
}

/* The number of a flow is unique only at the host that sends its data. */
static inline uint64_t flow_id(const struct frame *f)
{
    const bool is_data = f->kind == FRAME_DATA;
    return (uint64_t)!is_data << 63 | (uint64_t)(is_data ? f->src : f->dst) << 32 | f->flow;
}

static inline int64_t bytes_ahead(const struct sw *sw, const struct port *port, uint8_t counts)
{
    int64_t bytes = 0;
    for (uint32_t mask = counts & port->backlog; mask; mask &= mask - 1)
        bytes += sw_queue(sw, port->number, (uint32_t)__builtin_ctz(mask))->bytes;
    return bytes;
}

/* Whether the path choice makes no difference between the candidates of a frame. */
static inline bool is_even(const struct sw *sw, const uint16_t *ports, uint32_t n, uint8_t counts)
{
    for (uint32_t i = 0; i < n; i++) {
        const struct port *port = &sw->ports[ports[i]];
        if (!port->is_up || bytes_ahead(sw, port, counts) >= sw->path.shape.even_below)
            return false;
    }
    return true;
}

/* Asks the path choice itself. Out of line, so that the rest spills no registers for it. */
__attribute__((noinline)) static uint32_t ask_path(struct sw *sw, const struct frame *frame,
                                                   const uint16_t *ports, uint32_t n, uint32_t draw,
                                                   xoff_time now)
{
    const struct xoff_path_shape *shape = &sw->path.shape;
    const struct xoff_path_frame about = {.hash = routes_mix(sw->node, frame->hash),
                                          .draw = draw,
                                          .flow = flow_id(frame),
                                          .bytes = frame->bytes,
                                          .priority = frame->priority,
                                          .n = n,
                                          .ports = ports,
                                          .egress = sw->path_ports};
    for (uint32_t i = 0; shape->sees_egress && i < n; i++) {
        struct port *port = &sw->ports[ports[i]];
        sw->path_ports[i] = (struct xoff_path_port){
            .queue_bytes = bytes_ahead(sw, port, shape->counts[frame->priority]),
            .open = port_open(port, now),
            .is_up = port->is_up};
    }
    const uint32_t index = xoff_path_choose(&sw->path, &about, now);
    XOFF_ASSERT(index < n);
    return ports[index];
}

uint32_t sw_choose_path(struct sw *sw, const struct frame *frame, xoff_time now)
{
    const struct xoff_path_shape *shape = &sw->path.shape;
    const uint16_t *ports;
    const uint32_t n = routes_hops(sw->net->routes, sw->node, frame->dst, &ports);
    if (n < 2)
        return n ? ports[0] : ROUTE_NONE;
    if (sw->keeps_flows && !sw->by_hash)
        return sw->net->spec.wire->hop(sw->net->topo, sw->node, frame, ports, n);
    const uint32_t draw = shape->draws ? xoff_rng_u32(&sw->path_rng) : 0;
    if (shape->even_below && is_even(sw, ports, n, shape->counts[frame->priority]))
        return ports[xoff_path_by_value(draw, n)];
    return ask_path(sw, frame, ports, n, draw, now);
}

void point_fill_notice(const struct net *net, const struct net_switch *kind, const struct frame *f,
                       const struct xoff_notice *notice, xoff_time now, struct long_frame *made)
{
    made->frame = (struct frame){
        .src = f->dst,
        .dst = f->src,
        .flow = f->flow,
        .hash = f->hash,
        .sent_at = now,
        .bytes = (uint16_t)net->spec.notice_bytes,
        .payload = f->bytes,
        .kind = FRAME_NOTICE,
        .flags = f->flags & FRAME_TAGGED,
        .transport = f->transport,
        .priority = kind->notice_priority < 0 ? f->priority : (uint8_t)kind->notice_priority,
    };
    extra_of(&made->frame)->tag = *notice;
}

/* Sends a notification of a congestion point to the source of a frame. The notification is
 * accounted as if it had come in at the port that the frame leaves by. It joins its queue in an
 * event of its own, because the frame that caused it is just being sent. */
XOFF_SELDOM static void notify(struct sw *sw, struct worker *w, const struct frame *f,
                               const struct xoff_notice *notice)
{
    const uint32_t in = f->out_port;
    struct long_frame made;
    point_fill_notice(sw->net, sw->spec, f, notice, sim_now(w), &made);
    sw->made |= (uint8_t)(1u << made.frame.priority);
    sw->made_bytes += made.frame.bytes;
    const uint32_t out = sw_route(sw, &made.frame, in, sim_now(w));
    if (out == ROUTE_NONE)
        return;
    const uint32_t place = sw->fabric->admit(sw, w, &made.frame, in, out);
    if (place == NET_NONE)
        return;
    if (sw->at_inputs)
        input_take(sw, w, place);
    sw_process(sw, w, place);
}

/* Tells the source of a frame: of this one, or of one drawn from the queue by the units it holds.
 */
XOFF_SELDOM static void tell_source(struct sw *sw, struct worker *w, uint32_t at,
                                    const struct frame *f, const struct xoff_cp_answer *answer)
{
    struct point *point = &sw->points[at];
    point->queues[f->priority].n_notices++;
    if (point->cp.shape.unit_bytes && answer->from_buffer)
        f = store_at(&sw->store,
                     occupancy_draw(sw->occupancy, at * XOFF_N_PRIORITIES + f->priority));
    notify(sw, w, f, &answer->notice);
}

static struct xoff_cp_load load_of(const struct sw *sw, uint32_t at, uint32_t priority,
                                   xoff_time now)
{
    const struct egress *queue = sw_queue(sw, at, priority);
    const struct point *point = &sw->points[at];
    const xoff_time sent_at = point->sent_at[priority];
    const xoff_time until = queue->n && now > sent_at ? now : sent_at;
    return (struct xoff_cp_load){.queue_bytes = queue->bytes,
                                 .joined_bytes = queue->tx.bytes + (uint64_t)queue->bytes,
                                 .sent_bytes = queue->tx.bytes,
                                 .backlogged_for = until - point->idle_for[priority]};
}

/* Asks the congestion points of port `at` about a frame that joined its queue, or is about to leave
 * it; the queue has `queue_bytes` with it. */
static void ask_point(struct sw *sw, struct worker *w, uint32_t at, int64_t queue_bytes,
                      struct frame *f, bool joined)
{
    const xoff_time now = sim_now(w);
    struct point *point = &sw->points[at];
    const struct xoff_cp_shape *shape = &point->cp.shape;
    const bool is_data = f->kind == FRAME_DATA;
    const bool is_probe = f->kind == FRAME_PROBE && f->flags & FRAME_ASKS_RATE;
    struct xoff_cp_frame view = {.queue_bytes = queue_bytes,
                                 .bytes = f->bytes,
                                 .flow_hash = f->hash,
                                 .priority = f->priority,
                                 .is_data = is_data,
                                 .is_probe = is_probe};
    if (shape->draws)
        view.draw = xoff_rng_u32(&sw->marking_rng);
    if (shape->sees_port)
        for (uint32_t p = 0; p < XOFF_N_PRIORITIES; p++) {
            view.port_bytes += sw_queue(sw, at, p)->bytes;
            view.port_tx_bytes += sw_queue(sw, at, p)->tx.bytes;
        }
    if ((shape->writes || shape->reads_tags) && (is_data || is_probe) && !sw->net->has_stamps &&
        extra_of(f)->tag.kind != XOFF_NOTICE_NONE)
        view.tag = &extra_of(f)->tag;
    struct xoff_cp_load load;
    if (shape->sees_load) {
        load = load_of(sw, at, f->priority, now);
        view.load = &load;
    }
    void *state = point_state(point, f->priority);
    struct xoff_cp_answer answer;
    if (joined)
        xoff_cp_on_enqueue(&point->cp, state, &view, now, &answer);
    else
        xoff_cp_on_dequeue(&point->cp, state, &view, now, &answer);
    point->queues[f->priority].n_samples += point->samples || (point->meters && view.tag);
    if (__builtin_expect(shape->is_timed, 0))
        node_set_timer(&sw->head, w, sw_point_timer(sw, at, f->priority),
                       xoff_cp_deadline(&point->cp, state));
    if (is_probe && answer.write)
        extra_of(f)->tag = answer.notice;
    if (!is_data) { /* the mark of an ACK is an echo, and nobody reads its telemetry */
        f->flags |= answer.mark && f->kind != FRAME_PROBE ? FRAME_HIT : 0;
        return;
    }
    if (answer.mark && !(f->flags & FRAME_MARKED)) {
        f->flags |= FRAME_MARKED;
        sw_queue(sw, f->out_port, f->priority)->marked++;
    }
    if (answer.stamp) { /* frames have room for it, since the shape said so */
        struct xoff_int *telemetry = &extra_of(f)->telemetry;
        if (telemetry->n < XOFF_INT_HOPS)
            telemetry->hop[telemetry->n++] = answer.hop;
    }
    if (__builtin_expect(answer.write, 0))
        extra_of(f)->tag = answer.notice;
    if (__builtin_expect(answer.notify, 0))
        tell_source(sw, w, at, f, &answer);
}

/* ask_point() for a point that only marks. */
static inline void ask_marker(struct sw *sw, const struct xoff_cp *cp, struct egress *queue,
                              int64_t queue_bytes, struct frame *f)
{
    const uint32_t draw = cp->shape.draws ? xoff_rng_u32(&sw->marking_rng) : 0;
    if (cp->ops->marks(cp->cfg, queue_bytes, f->bytes, draw))
        egress_set_mark(queue, f);
}

void egress_mark(struct sw *sw, struct worker *w, struct port *port, struct frame *f, bool joined)
{
    struct egress *queue = sw_queue(sw, port->number, f->priority);
    const int64_t queue_bytes = queue->bytes + (joined ? 0 : f->bytes);
    const struct xoff_cp *cp = &sw->points[port->number].cp;
    if (cp->ops->marks)
        ask_marker(sw, cp, queue, queue_bytes, f);
    else
        ask_point(sw, w, port->number, queue_bytes, f, joined);
}

/* Keeps the units of the frame's queue: of port `at`, input or output. Only data has a source that
 * can be told. */
static void note_occupancy(struct sw *sw, uint32_t at, uint32_t place, const struct frame *f,
                           bool joins)
{
    if (!sw->occupancy || f->kind != FRAME_DATA)
        return;
    const uint32_t queue = at * XOFF_N_PRIORITIES + f->priority;
    if (joins)
        occupancy_add(sw->occupancy, queue, place, f->bytes);
    else
        occupancy_remove(sw->occupancy, queue, place, f->bytes);
}

void egress_watch(struct sw *sw, uint32_t place, bool joins, xoff_time now)
{
    const struct frame *f = store_at(&sw->store, place);
    if (sw->histograms)
        histogram_change(sw, f->out_port, joins ? f->bytes : -(int64_t)f->bytes, now);
    if (joins)
        port_note_queued(&sw->ports[f->out_port], f, now);
    if (!sw->at_inputs)
        note_occupancy(sw, f->out_port, place, f, joins);
    else if (!joins && !sw->fabric->leaves_inputs)
        input_give(sw, place);
}

void input_take(struct sw *sw, struct worker *w, uint32_t place)
{
    struct frame *f = store_at(&sw->store, place);
    struct point *point = &sw->points[f->in_port];
    int64_t *bytes = &point->queues[f->priority].bytes;
    *bytes += f->bytes;
    note_occupancy(sw, f->in_port, place, f, true);
    if (!xoff_cp_skips_enqueue(&point->cp) && point_is_due(point, f))
        ask_point(sw, w, f->in_port, *bytes, f, true);
}

void input_give(struct sw *sw, uint32_t place)
{
    const struct frame *f = store_at(&sw->store, place);
    sw->points[f->in_port].queues[f->priority].bytes -= f->bytes;
    note_occupancy(sw, f->in_port, place, f, false);
}

/* The deadline of a congestion point has come. */
static void expire_point(struct sw *sw, uint32_t timer, xoff_time now)
{
    const uint32_t n = timer - sw_point_timer(sw, 0, 0);
    const uint32_t at = n / XOFF_N_PRIORITIES, priority = n % XOFF_N_PRIORITIES;
    const struct point *point = &sw->points[at];
    void *state = point_state(point, priority);
    struct xoff_cp_load load;
    if (point->cp.shape.sees_load)
        load = load_of(sw, at, priority, now);
    xoff_cp_expire(&point->cp, state, point->cp.shape.sees_load ? &load : NULL, now);
    const xoff_time next = xoff_cp_deadline(&point->cp, state);
    XOFF_ASSERT(next > now);
    heap_set(&sw->timers, timer, next);
}

/* One of the timers in the heap has expired. */
static void expire(struct sw *sw, struct worker *w, uint32_t timer)
{
    const uint32_t processing = node_timer(&sw->head, SW_PROCESSING);
    if (timer < processing) {
        port_on_timer(&sw->head, &sw->ports[timer / PORT_TIMERS], w, timer % PORT_TIMERS);
    } else if (timer >= sw_point_timer(sw, 0, 0)) {
        expire_point(sw, timer, sim_now(w));
    } else if (timer == node_timer(&sw->head, SW_DCBX)) {
        dcbx_timer(&sw->head, w);
    } else if (timer > processing) {
        sw->fabric->timer(sw, w, timer - node_timer(&sw->head, SW_TIMERS));
    } else {
        const uint32_t place = fifo_pop(&sw->processing, &sw->store);
        heap_set(&sw->timers, timer,
                 sw->processing.n ? store_at(&sw->store, sw->processing.head)->at : XOFF_NEVER);
        sw->fabric->processed(sw, w, place);
    }
}

/* Handles what is due besides the fabric's clock, or at the same time. */
XOFF_SELDOM static void expire_all(struct sw *sw, struct worker *w, xoff_time now)
{
    for (;;) {
        const bool is_due = heap_top_at(&sw->timers) <= now;
        if (sw->clock_at <= now &&
            (!is_due || heap_top_id(&sw->timers) >=
                            node_timer(&sw->head, SW_TIMERS + sw->fabric->clock_before)))
            sw->fabric->clock(sw, w);
        else if (is_due)
            expire(sw, w, heap_top_id(&sw->timers));
        else
            break;
    }
}

void sw_timer(struct sw *sw, struct worker *w)
{
    const xoff_time now = sim_now(w);
    sw->timer_at = XOFF_NEVER; /* that event has been handled */
    if (__builtin_expect(heap_top_at(&sw->timers) > now, 1) && sw->clock_at <= now)
        sw->fabric->clock(sw, w);
    if (__builtin_expect(xoff_time_min(heap_top_at(&sw->timers), sw->clock_at) <= now, 0))
        expire_all(sw, w, now);
    node_rearm(&sw->head, w);
}

void sw_warm(const struct sw *sw)
{
    for (uint32_t p = 0; p < sw->n_ports; p++) {
        const struct port *port = &sw->ports[p];
        __builtin_prefetch(port, 1);
        __builtin_prefetch(port->rx, 1);
        __builtin_prefetch(port->rx + XOFF_N_PRIORITIES / 2, 1);
    }
}

void sw_begin(const struct sw *sw)
{
    for (uint32_t p = 0; p < sw->n_ports; p++)
        for (uint32_t mask = sw->ports[p].backlog; mask; mask &= mask - 1)
            __builtin_prefetch(
                store_at(&sw->store, sw_queue(sw, p, (uint32_t)__builtin_ctz(mask))->head));
}

static void sample_queue(struct sw *sw, uint32_t number, uint32_t p, xoff_time now)
{
    const struct net_spec *spec = &sw->net->spec;
    const struct egress *queue = sw_queue(sw, number, p);
    struct sampled *before = &sw->sampled[number * XOFF_N_PRIORITIES + p];
    struct port *port = &sw->ports[number];
    struct result_sample s = {.at = now, .node = sw->node, .port = number, .priority = (uint8_t)p};
    const double seconds = (double)spec->measure_every / (double)XOFF_S;
    if (spec->measure & NET_QUEUE) {
        s.metric = RESULT_QUEUE_BYTES;
        s.value = (double)queue->bytes;
        note_sample(&sw->notes, &s);
    }
    if (spec->measure & NET_THROUGHPUT) {
        s.metric = RESULT_TX_BPS;
        s.value = (double)(queue->tx.bytes - before->tx_bytes) * 8 / seconds;
        before->tx_bytes = queue->tx.bytes;
        note_sample(&sw->notes, &s);
    }
    if (spec->measure & NET_PAUSE) {
        port_gate_expire(port, now);
        xoff_time paused_for = port->paused_for[p];
        if (!(port->gate.open >> p & 1))
            paused_for += now - port->closed_at[p];
        s.metric = RESULT_PAUSED_FRACTION;
        s.value = (double)(paused_for - before->paused_for) / (double)spec->measure_every;
        before->paused_for = paused_for;
        note_sample(&sw->notes, &s);
    }
}

/* Samples what the congestion point of a queue computed. */
static void sample_point(struct sw *sw, uint32_t port, uint32_t p, xoff_time now)
{
    const struct point *point = &sw->points[port];
    struct xoff_cp_view view;
    if (!xoff_cp_view(&point->cp, point_state(point, p), &view))
        return;
    const double values[] = {view.rate_bps, view.load, view.control};
    struct result_sample s = {.at = now, .node = sw->node, .port = port, .priority = (uint8_t)p};
    for (uint32_t i = 0; i < sizeof values / sizeof *values; i++) {
        s.metric = (uint8_t)(RESULT_ADVERTISED_BPS + i);
        s.value = values[i];
        note_sample(&sw->notes, &s);
    }
}

/* Samples all buffers of the switch together, and their pools. */
static void sample_buffers(struct sw *sw, xoff_time now)
{
    _Static_assert(RESULT_INSURANCE_BYTES - RESULT_RESERVED_BYTES ==
                       (int)XOFF_POOL_INSURANCE - (int)XOFF_POOL_RESERVED,
                   "samples of pools come in the order of pools");
    struct xoff_mmu_view sum = {0};
    struct fabric_buffer buffer;
    for (uint32_t i = 0; sw_buffer(sw, i, &buffer); i++) {
        struct xoff_mmu_view view;
        xoff_mmu_view(buffer.mmu, &view);
        sum.used_total_bytes += view.used_total_bytes;
        for (uint32_t pool = XOFF_POOL_RESERVED; pool < XOFF_N_POOLS; pool++) {
            sum.used_bytes[pool] += view.used_bytes[pool];
            sum.capacity_bytes[pool] += view.capacity_bytes[pool];
        }
    }
    struct result_sample s = {.at = now,
                              .node = sw->node,
                              .port = UINT32_MAX,
                              .priority = 0xff,
                              .metric = RESULT_BUFFER_BYTES,
                              .value = (double)sum.used_total_bytes};
    if (sw->net->spec.measure & NET_BUFFER)
        note_sample(&sw->notes, &s);
    if (!(sw->net->spec.measure & NET_POOLS))
        return;
    for (uint32_t pool = XOFF_POOL_RESERVED; pool < XOFF_N_POOLS; pool++) {
        if (sum.capacity_bytes[pool] <= 0)
            continue;
        s.metric = (uint8_t)(RESULT_RESERVED_BYTES + pool - XOFF_POOL_RESERVED);
        s.value = (double)sum.used_bytes[pool];
        note_sample(&sw->notes, &s);
    }
}

/* Priorities of frames that have come in or were made here. */
static uint8_t seen_priorities(const struct sw *sw)
{
    uint8_t seen = sw->made;
    for (uint32_t i = 0; i < sw->n_ports; i++)
        for (uint32_t p = 0; p < XOFF_N_PRIORITIES; p++)
            seen |= (uint8_t)((sw->ports[i].rx[p].frames > 0) << p);
    return seen;
}

static void sample_input(struct sw *sw, uint32_t in, uint8_t seen, const int64_t *held_bytes,
                         xoff_time now)
{
    for (uint32_t mask = seen; mask; mask &= mask - 1) {
        const uint32_t p = (uint32_t)__builtin_ctz(mask);
        const struct result_sample s = {.at = now,
                                        .node = sw->node,
                                        .port = in,
                                        .priority = (uint8_t)p,
                                        .metric = RESULT_INPUT_BYTES,
                                        .value = (double)held_bytes[p]};
        note_sample(&sw->notes, &s);
    }
}

/* Samples what came in by each port and lies in the buffer of its input; where inputs have no
 * buffer of their own, what lies in the switch (lossless priorities). */
static void sample_inputs(struct sw *sw, xoff_time now)
{
    const uint8_t seen = seen_priorities(sw);
    if (sw->fabric->leaves_inputs) {
        struct fabric_buffer buffer;
        for (uint32_t i = 0; sw_buffer(sw, i, &buffer); i++)
            if (buffer.n_ports == 1)
                sample_input(sw, buffer.first_port, seen, buffer.held_bytes, now);
        return;
    }
    for (uint32_t in = 0; in < sw->n_ports; in++) {
        int64_t held_bytes[XOFF_N_PRIORITIES] = {0};
        for (uint32_t mask = sw->net->spec.lossless; mask; mask &= mask - 1) {
            const uint32_t p = (uint32_t)__builtin_ctz(mask);
            for (uint32_t out = 0; out < sw->n_ports; out++)
                held_bytes[p] += *sw_held(sw, p, in, out);
        }
        sample_input(sw, in, seen, held_bytes, now);
    }
}

void sw_sample(struct sw *sw, xoff_time now)
{
    for (uint32_t port = 0; port < sw->n_ports; port++)
        for (uint32_t p = 0; p < XOFF_N_PRIORITIES; p++)
            if (sw_queue(sw, port, p)->tx.frames || sw_queue(sw, port, p)->n) {
                sample_queue(sw, port, p, now);
                if (sw->net->spec.measure & NET_POINT)
                    sample_point(sw, port, p, now);
            }
    if (sw->net->spec.measure & (NET_BUFFER | NET_POOLS))
        sample_buffers(sw, now);
    if (sw->net->spec.measure & NET_INPUT)
        sample_inputs(sw, now);
}
