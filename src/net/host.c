/* A host: one port, a NIC that picks among ready flows and queued ACKs of the priorities its gate
 * leaves open, timers of its apps and flows, and the receive path. */
#include <xoff/drr_quick.h>

#include "net/model.h"
#include "net/net_dcbx.h"
#include "sim/alone.h"

/* node_rearm() for a host, whose timers are all in the heap. */
static inline void rearm(struct host *host, struct worker *w)
{
    const xoff_time at = heap_top_at(&host->timers);
    if (at == host->timer_at)
        return;
    host->timer_at = at;
    sim_at_timer(w, host->node, at);
}

/* Called after an event: arms the port and the timers for what the event left to do. `scans`: a NIC
 * that scans its flows does so after this event. */
static inline void settle(struct host *host, struct worker *w, bool scans)
{
    if (__builtin_expect(host->scan.is_on, 0))
        scan_wake(host, w, scans);
    port_wake(&host->head, &host->port, w);
    rearm(host, w);
}

void host_hold_ack(struct host *host, struct worker *w, const struct frame *ack, uint32_t queue)
{
    const uint32_t place = store_take(&host->store);
    struct frame *held = store_at(&host->store, place);
    frame_copy(held, ack, host->store.step);
    held->at = sim_now(w);
    fifo_push(&host->acks[queue], &host->store, place);
    host->port.backlog |= (uint8_t)(1u << queue);
}

/* Bytes of the next frame of a priority: ACKs go before data. */
static uint32_t head_bytes(const struct host *host, uint32_t priority, xoff_time now)
{
    if (host->acks[priority].n)
        return store_at(&host->store, host->acks[priority].head)->bytes;
    return flow_next_bytes(host, flow_at(host, host->ready[priority].head), now);
}

/* The queues of a NIC, for a scheduler that asks about few of them. */
struct nic_heads {
    const struct host *host;
    xoff_time now;
};

static uint32_t nic_head_bytes(const void *context, uint32_t priority)
{
    const struct nic_heads *heads = context;
    return head_bytes(heads->host, priority, heads->now);
}

static uint32_t nic_pick(struct host *host, uint8_t eligible, xoff_time now)
{
    if (xoff_drr_is_quick(&host->sched)) {
        const struct nic_heads heads = {.host = host, .now = now};
        const uint32_t p = xoff_drr_quick_select(host->sched.cfg, host->sched_state, nic_head_bytes,
                                                 &heads, host->port.backlog, eligible);
        if (p != XOFF_DRR_DECLINES)
            return p;
    }
    uint32_t bytes[XOFF_N_PRIORITIES];
    xoff_time since[XOFF_N_PRIORITIES];
    for (uint32_t mask = host->port.backlog; mask; mask &= mask - 1) {
        const uint32_t p = (uint32_t)__builtin_ctz(mask);
        bytes[p] = head_bytes(host, p, now);
        if (host->sched.shape.reads_since)
            since[p] = host->acks[p].n ? store_at(&host->store, host->acks[p].head)->at
                                       : flow_at(host, host->ready[p].head)->ready_at;
    }
    return port_select(&host->port, &host->sched, host->sched_state, bytes, since, eligible, now);
}

/* ACKs go before data; of data, what the scan finds is at the head of its list then.
 * XOFF_N_PRIORITIES: nothing may be sent. */
static uint32_t scan_priority(struct host *host, uint8_t eligible, xoff_time now)
{
    for (uint32_t p = 0; p < XOFF_N_PRIORITIES; p++)
        if (eligible >> p & 1 && host->acks[p].n)
            return p;
    const uint32_t flow = scan_pick(host, eligible, now);
    if (flow == NET_NONE) {
        scan_wait(host, now);
        return XOFF_N_PRIORITIES;
    }
    flow_promote(host, flow);
    return flow_at(host, flow)->priority;
}

/* Puts the rate-regulation tag of a limited flow into its next frame, which has a second line. */
static void add_limiter(const struct host *host, const struct flow *flow, struct frame *frame)
{
    if (flow->rp.limiter != XOFF_RP_NO_LIMITER && !host->net->has_stamps)
        extra_of(frame)->tag =
            (struct xoff_notice){.cp_id = flow->rp.limiter, .kind = XOFF_NOTICE_LIMITED};
}

/* The first queued ACK of a priority goes onto the free wire. */
static uint32_t send_ack(struct host *host, struct worker *w, uint32_t p)
{
    const uint32_t place = fifo_pop(&host->acks[p], &host->store);
    const struct frame *frame = store_at(&host->store, place);
    const uint32_t bytes = frame->bytes;
    host->tx[frame->priority].frames++;
    host->tx[frame->priority].bytes += bytes;
    port_tx_begin(&host->port, w, frame);
    store_return(&host->store, place);
    return bytes;
}

/* The next frame of the first ready flow of a priority goes onto the free wire. */
static inline uint32_t send_data(struct host *host, struct worker *w, uint32_t p)
{
    struct long_frame out;
    struct frame *frame = &out.frame;
    if (__builtin_expect(host->net->has_extra, 0)) {
        extra_of(frame)->telemetry.n = 0;
        extra_of(frame)->tag.kind = XOFF_NOTICE_NONE;
        add_limiter(host, flow_at(host, host->ready[p].head), frame);
    }
    flow_fill(host, host->ready[p].head, host_now(host, w), frame);
    const uint32_t bytes = frame->bytes;
    host->tx[p].frames++;
    host->tx[p].bytes += bytes;
    port_tx_begin(&host->port, w, frame);
    return bytes;
}

/* The next frame goes onto the free wire, if any may. */
static void send(struct host *host, struct worker *w)
{
    struct port *port = &host->port;
    const xoff_time now = sim_now(w);
    if (__builtin_expect(port->is_control_due, 0)) {
        port_tx_control(&host->head, port, w);
        return;
    }
    if (__builtin_expect(now >= host->net->spec.stop, 0) && !host->has_retired) {
        host->has_retired = true;
        flow_retire(host, now);
    }
    const uint8_t eligible = port->backlog & port_open(port, now);
    bool is_scheduled = false;
    uint32_t p;
    if (__builtin_expect(host->scan.is_on, 0)) {
        p = scan_priority(host, eligible, host_now(host, w));
        if (p == XOFF_N_PRIORITIES)
            return;
    } else {
        if (!eligible)
            return;
        is_scheduled = port_is_scheduled(port, &host->sched);
        p = is_scheduled ? nic_pick(host, eligible, now) : (uint32_t)__builtin_ctz(eligible);
    }
    const bool is_ack = host->acks[p].n;
    const uint32_t bytes = is_ack ? send_ack(host, w, p) : send_data(host, w, p);
    const bool emptied = host->ready[p].head == NET_NONE && !(is_ack && host->acks[p].n);
    if (emptied)
        port->backlog &= (uint8_t) ~(1u << p);
    if (is_scheduled)
        xoff_sched_charge(&host->sched, host->sched_state, p, bytes, emptied);
}

static inline void transmit(struct host *host, struct worker *w)
{
    struct port *port = &host->port;
    if (port_on_transmit(&host->head, port, w)) {
        /* Frame after frame while no other event, such as a timer of this host, comes between. */
        do
            send(host, w);
        while (port_has_work(port) && heap_top_at(&host->timers) > port->free_at &&
               sim_advance(w, port->free_at));
    }
    if (__builtin_expect(host->scan.is_on, 0) && port->free_at > sim_now(w))
        port_arm(&host->head, port, w); /* a scan follows each frame */
    port_wake(&host->head, port, w);
    rearm(host, w);
}

static void take_offers(struct host *host, struct worker *w, uint32_t a,
                        const struct app_offer *offers, uint32_t n)
{
    const struct app *app = &host->apps[a];
    heap_set(&host->timers, HOST_APPS + a, host_app_at(host, app));
    for (uint32_t i = 0; i < n; i++)
        flow_offer(host, w, a, &offers[i]);
}

void host_note_event(struct host *host, uint32_t tag, const struct app_event *event)
{
    if (!host->n_listening)
        return;
    if (host->n_pending == host->pending_capacity)
        host_grow_pending(host);
    host->pending[host->n_pending++] = (struct pending){.tag = tag, .event = *event};
}

/* Offers of apps cause no further events until their frames have arrived, so one pass is enough. */
static void tell_apps(struct host *host, struct worker *w)
{
    for (uint32_t i = 0; i < host->n_pending; i++) {
        const struct pending *p = &host->pending[i];
        uint32_t a = 0;
        while (a < host->n_apps && (host->apps[a].tag != p->tag || !host->apps[a].ops->on_event))
            a++;
        if (a == host->n_apps)
            continue;
        const struct app *app = &host->apps[a];
        struct app_offer offers[APP_MAX_OFFERS];
        const uint32_t n = app->ops->on_event(app->cfg, app->state, &host->app_rngs[a], &p->event,
                                              sim_now(w), offers);
        take_offers(host, w, a, offers, n);
    }
    host->n_pending = 0;
}

/* Takes a frame that is neither data nor an ACK. */
XOFF_SELDOM static void take_notice(struct host *host, struct worker *w, const struct frame *frame)
{
    if (frame->kind == FRAME_CNP)
        flow_on_cnp(host, frame, host_now(host, w));
    else if (frame->kind == FRAME_NOTICE)
        flow_on_notice(host, frame, &extra_at(frame)->tag, host_now(host, w));
    else if (frame->flags & FRAME_ASKS_RATE)
        flow_on_probe(host, w, frame);
    else
        flow_on_tag(host, frame, host_now(host, w));
}

static inline void receive(struct host *host, struct worker *w, const struct frame *frame)
{
    host->consumed_bytes += frame->bytes;
    host->arrived_at = sim_now(w);
    if (frame->kind == FRAME_DATA)
        flow_on_data(host, w, frame);
    else if (frame->kind < FRAME_CNP)
        flow_on_ack(host, frame, host_now(host, w));
    else
        take_notice(host, w, frame);
    if (__builtin_expect(host->n_pending, 0))
        tell_apps(host, w);
    settle(host, w, true);
}

void host_deliver(struct host *host, struct worker *w, const struct frame *frame)
{
    receive(host, w, frame);
}

static bool resumes(const struct frame *frame)
{
    const struct xoff_pause_frame *pause = &frame->pause;
    bool does = false;
    for (uint32_t p = 0; frame->kind == FRAME_PAUSE && p < XOFF_N_PRIORITIES; p++)
        does |=
            pause->classes >> p & 1 && !pause->quanta[pause->opcode == XOFF_OPCODE_PAUSE ? 0 : p];
    return does;
}

/* Takes a frame where something besides its flow may have to see it. */
XOFF_SELDOM static void arrive_slow(struct host *host, struct worker *w, const struct frame *frame)
{
    if (!port_rx(&host->head, &host->port, w, frame)) {
        if (host->scan.is_on)
            settle(host, w, resumes(frame));
        return;
    }
    if (host->bus)
        bus_receive(host, frame, sim_now(w));
    if (host->receiver)
        receiver_admit(host, w, frame);
    else
        host_deliver(host, w, frame);
}

static inline void arrive(struct host *host, struct worker *w, const struct frame *frame)
{
    struct port *port = &host->port;
    if (__builtin_expect(host->is_slow, 0) || __builtin_expect(frame_is_control(frame), 0)) {
        arrive_slow(host, w, frame);
        return;
    }
    port->rx[frame->priority].frames++;
    port->rx[frame->priority].bytes += frame->bytes;
    receive(host, w, frame);
}

void host_timer(struct host *host, struct worker *w)
{
    const xoff_time now = sim_now(w);
    host->timer_at = XOFF_NEVER; /* that event has been handled */
    const uint32_t first_flow_timer = HOST_APPS + host->n_apps;
    bool scans = false;
    while (heap_top_at(&host->timers) <= now) {
        const uint32_t timer = heap_top_id(&host->timers);
        if (timer >= first_flow_timer) {
            const uint32_t n = timer - first_flow_timer;
            flow_on_timer(host, w, n / 2, n % 2 == 0);
        } else if (timer >= HOST_APPS) {
            const uint32_t a = timer - HOST_APPS;
            const struct app *app = &host->apps[a];
            struct app_offer offers[APP_MAX_OFFERS];
            const uint32_t n =
                app->ops->expire(app->cfg, app->state, &host->app_rngs[a], now, offers);
            take_offers(host, w, a, offers, n);
            scans = true;
        } else if (timer == HOST_DELAYED) {
            flow_send_delayed(host, w);
        } else if (timer == HOST_NEXT) {
            host->scan.next_at = XOFF_NEVER;
            scans = true;
            heap_remove(&host->timers, HOST_NEXT);
        } else if (timer == HOST_PAUSE) {
            receiver_expire(host, w);
        } else if (timer == HOST_DCBX) {
            dcbx_timer(&host->head, w);
        } else if (timer == HOST_SERVICE) {
            receiver_serve(host, w);
        } else {
            port_on_timer(&host->head, &host->port, w, timer);
        }
    }
    settle(host, w, scans);
}

void host_arrive(struct host *host, struct worker *w, const struct frame *frame)
{
    arrive(host, w, frame);
}

void host_transmit(struct host *host, struct worker *w)
{
    transmit(host, w);
}

/* The window of a host that is a cell of its own. */
static inline void arrive_alone(void *host, struct worker *w, uint32_t port,
                                const struct frame *frame)
{
    (void)port;
    arrive(host, w, frame);
}

static inline void transmit_alone(void *host, struct worker *w, uint32_t port)
{
    (void)port;
    transmit(host, w);
}

static void timer_alone(void *host, struct worker *w)
{
    host_timer(host, w);
}

void host_run(void *self, struct worker *w, uint32_t cell)
{
    sim_run_end(w, cell, w->sim->step, self, arrive_alone, transmit_alone, timer_alone);
}

void host_warm(const struct host *host)
{
    __builtin_prefetch(&host->head, 1);
    __builtin_prefetch(&host->port, 1);
    __builtin_prefetch(&host->port.rx, 1);
    __builtin_prefetch(&host->transports, 1);
    __builtin_prefetch(&host->consumed_bytes, 1);
    __builtin_prefetch(&host->ready, 1);
    __builtin_prefetch(&host->tx, 1);
}

static inline void warm_lines(const void *from, size_t bytes)
{
    for (const char *line = from; line < (const char *)from + bytes; line += 64)
        __builtin_prefetch(line, 1);
}

/* Most hosts have a flow or two. */
void host_begin(const struct host *host)
{
    const uint32_t waiting = host->port.backlog;
    const uint32_t flow = waiting ? host->ready[__builtin_ctz(waiting)].head : NET_NONE;
    if (flow != NET_NONE)
        warm_lines(flow_at(host, flow), host->flow_bytes);
    if (host->n_rx)
        warm_lines(host->rx, 256);
    if (host->timers.n)
        warm_lines(host->timers.entries, 64);
}

/* Samples the receive queue of a slow receiver, by priorities that have come. */
static void sample_receiver(struct host *host, xoff_time now)
{
    for (uint32_t p = 0; p < XOFF_N_PRIORITIES; p++) {
        const struct result_sample s = {.at = now,
                                        .node = host->node,
                                        .priority = (uint8_t)p,
                                        .metric = RESULT_INPUT_BYTES,
                                        .value = (double)host->receiver->held_bytes[p]};
        if (host->port.rx[p].frames)
            note_sample(&host->notes, &s);
    }
}

/* Most hosts are never paused: only values that differ from the one before are kept. */
static void sample_pause(struct host *host, xoff_time now)
{
    for (uint32_t p = 0; p < XOFF_N_PRIORITIES; p++) {
        const xoff_time paused_for = port_paused_for(&host->port, p, now);
        const xoff_time part = paused_for - host->sampled_paused_for[p];
        const struct result_sample s = {
            .at = now,
            .node = host->node,
            .priority = (uint8_t)p,
            .metric = RESULT_PAUSED_FRACTION,
            .value = (double)part / (double)host->net->spec.measure_every,
        };
        if (part != host->sampled_paused_part[p])
            note_sample(&host->notes, &s);
        host->sampled_paused_for[p] = paused_for;
        host->sampled_paused_part[p] = part;
    }
}

void host_sample(struct host *host, xoff_time now)
{
    const struct net_spec *spec = &host->net->spec;
    if (spec->measure & NET_PAUSE)
        sample_pause(host, now);
    if (host->receiver && spec->measure & NET_INPUT)
        sample_receiver(host, now);
    if (!(spec->measure & NET_THROUGHPUT))
        return;
    uint64_t bytes = 0;
    for (uint32_t p = 0; p < XOFF_N_PRIORITIES; p++)
        bytes += host->tx[p].bytes;
    const struct result_sample s = {
        .at = now,
        .node = host->node,
        .port = 0,
        .priority = 0xff,
        .metric = RESULT_TX_BPS,
        .value = (double)(bytes - host->sampled_tx_bytes) * 8 /
                 ((double)spec->measure_every / (double)XOFF_S),
    };
    host->sampled_tx_bytes = bytes;
    note_sample(&host->notes, &s);
}
