/* The reference device: its ports and the order of its events. See reference.h. */
#include "conform/reference.h"

#include <stdlib.h>
#include <string.h>

#include "wire/octets.h"

#define MAC_CONTROL 0x8808

struct held *held_create(const uint8_t *octets, uint32_t length)
{
    struct held *frame = malloc(sizeof *frame + length);
    XOFF_ASSERT(frame);
    *frame = (struct held){.length = length, .bytes = length + 4};
    memcpy(frame->octets, octets, length);
    return frame;
}

void held_append(struct held_list *list, struct held *frame)
{
    frame->next = NULL;
    if (list->head)
        list->tail->next = frame;
    else
        list->head = frame;
    list->tail = frame;
}

struct held *held_first(struct held_list *list)
{
    struct held *frame = list->head;
    list->head = frame->next;
    return frame;
}

/* Puts a frame behind all that are not later. */
static void held_insert(struct held_list *list, struct held *frame)
{
    if (!list->head || list->tail->at <= frame->at) {
        held_append(list, frame);
        return;
    }
    struct held **place = &list->head;
    while ((*place)->at <= frame->at)
        place = &(*place)->next;
    frame->next = *place;
    *place = frame;
}

void reference_port_mac(const struct reference *r, uint32_t port, uint8_t mac[6])
{
    memcpy(mac, r->setup.dcbx_mac, 6);
    mac[5] = (uint8_t)(mac[5] + port);
}

/* Sending */

static void begin(struct reference *r, uint16_t port, struct held *frame)
{
    struct reference_port *p = &r->ports[port];
    frame->port = port;
    xoff_wire_clock_send(&p->clock, r->now, frame->bytes, r->now == p->free_at, &frame->at,
                         &p->free_at);
    held_insert(&r->sent, frame);
}

static void send_pause(struct reference *r, uint16_t port)
{
    struct reference_port *p = &r->ports[port];
    struct xoff_pause_frame frame;
    uint8_t octets[XOFF_PAUSE_FRAME_BYTES], mac[6];
    xoff_signal_take(&p->signal_cfg, &p->signal, r->now, &frame);
    if (r->fault == FAULT_PAUSES_ALL) {
        const uint16_t quanta = frame.quanta[__builtin_ctz(frame.classes)];
        frame.classes = 0xff;
        for (uint32_t n = 0; n < XOFF_N_PRIORITIES; n++)
            frame.quanta[n] = quanta;
    }
    reference_port_mac(r, port, mac);
    xoff_pause_frame_encode(&frame, mac, octets);
    begin(r, port, held_create(octets, XOFF_PAUSE_FRAME_BYTES - 4));
}

/* A class that has had its percentage of the line waits: the fault of a device that takes shares
 * for limits. */
static uint8_t within_shares(const struct reference *r, const struct reference_port *p)
{
    uint8_t within = 0;
    const uint64_t line_bytes = (uint64_t)xoff_bytes_in(r->now, r->setup.rate_bps);
    for (uint32_t n = 0; n < XOFF_N_PRIORITIES; n++)
        if (p->sent_bytes[n] * 100 <= line_bytes * r->setup.percent[n] || r->setup.strict >> n & 1)
            within |= (uint8_t)(1u << n);
    return within;
}

static uint8_t eligible(const struct reference *r, const struct reference_port *p)
{
    uint8_t may_send = 0;
    for (uint32_t n = 0; n < XOFF_N_PRIORITIES; n++)
        if (p->backlog >> n & 1 && p->gate.open >> p->queues[n].head->priority & 1)
            may_send |= (uint8_t)(1u << n);
    if (r->fault == FAULT_HARD_SHARES)
        may_send &= within_shares(r, p);
    return may_send;
}

static void send_data(struct reference *r, uint16_t port)
{
    struct reference_port *p = &r->ports[port];
    uint32_t head_bytes[XOFF_N_PRIORITIES] = {0};
    xoff_time head_since[XOFF_N_PRIORITIES] = {0};
    for (uint32_t n = 0; n < XOFF_N_PRIORITIES; n++)
        if (p->backlog >> n & 1) {
            head_bytes[n] = p->queues[n].head->bytes;
            head_since[n] = p->queues[n].head->at;
        }
    const struct xoff_sched_view view = {.eligible = eligible(r, p),
                                         .backlogged = p->backlog,
                                         .head_bytes = head_bytes,
                                         .head_since = head_since,
                                         .now = r->now};
    const uint32_t n = xoff_sched_select(&r->sched, p->sched_state, &view);
    struct held *frame = held_first(&p->queues[n]);
    p->queue_bytes[n] -= frame->bytes;
    p->sent_bytes[n] += frame->bytes + XOFF_OVERHEAD_BYTES;
    if (!p->queues[n].head)
        p->backlog &= (uint8_t) ~(1u << n);
    const uint32_t bytes = frame->bytes;
    if (r->setup.kind == XOFF_DEVICE_STATION) {
        reference_host_sent(r, frame);
    } else {
        reference_bridge_release(r, port, frame);
        reference_cn_send(r, port, frame);
    }
    xoff_sched_charge(&r->sched, p->sched_state, n, bytes, !p->queues[n].head);
    begin(r, port, frame);
}

static bool is_control_due(const struct reference *r, const struct reference_port *p)
{
    return xoff_signal_is_due(&p->signal) &&
           (r->fault != FAULT_PAUSES_CONTROL || p->gate.open == 0xff);
}

/* When the port begins its next frame. */
static xoff_time transmit_at(const struct reference *r, const struct reference_port *p)
{
    if (!is_control_due(r, p) && !p->local.head && !eligible(r, p)) {
        /* A limited class may go on at any time. */
        return r->fault == FAULT_HARD_SHARES && p->backlog
                   ? r->now + xoff_time_of_bits(672, r->setup.rate_bps)
                   : XOFF_NEVER;
    }
    return p->free_at > r->now ? p->free_at : r->now;
}

static void transmit(struct reference *r, uint16_t port)
{
    struct reference_port *p = &r->ports[port];
    if (p->free_at > r->now)
        return;
    if (is_control_due(r, p))
        send_pause(r, port);
    else if (p->local.head)
        begin(r, port, held_first(&p->local));
    else if (eligible(r, p))
        send_data(r, port);
}

/* Receiving */

/* What a careless device makes of a frame that only looks like PFC: it reads type and times. */
static bool reads_carelessly(const struct held *frame, struct xoff_pause_frame *out)
{
    struct octets_in in = octets_in(frame->octets, frame->length);
    get_octets(&in, 12, "addresses");
    if (get16(&in, "EtherType") != MAC_CONTROL)
        return false;
    get16(&in, "opcode");
    *out = (struct xoff_pause_frame){.opcode = XOFF_OPCODE_PFC,
                                     .classes = (uint8_t)get16(&in, "vector")};
    for (uint32_t n = 0; n < XOFF_N_PRIORITIES; n++)
        out->quanta[n] = get16(&in, "time");
    return true;
}

/* Adds what is left of the last pause to a new one. */
static uint32_t add_quanta(const struct reference *r, struct reference_port *p, uint32_t priority,
                           uint32_t quanta)
{
    const xoff_time left = p->runs_out_at[priority] - r->now;
    const xoff_time quantum = xoff_quanta_time(1, r->setup.rate_bps);
    if (left > 0)
        quanta += (uint32_t)(left / quantum);
    p->runs_out_at[priority] = r->now + quanta * quantum;
    return quanta;
}

static void distort(const struct reference *r, struct reference_port *p,
                    struct xoff_pause_frame *pause)
{
    if (r->fault == FAULT_IGNORES_VECTOR)
        pause->classes = 0xff;
    for (uint32_t n = 0; n < XOFF_N_PRIORITIES; n++) {
        uint32_t quanta = pause->quanta[n];
        if (!quanta)
            continue;
        quanta += r->fault == FAULT_QUANTA_PLUS;
        quanta -= r->fault == FAULT_QUANTA_MINUS;
        if (r->fault == FAULT_ADDS_QUANTA)
            quanta = add_quanta(r, p, n, quanta);
        pause->quanta[n] = (uint16_t)(quanta < UINT16_MAX ? quanta : UINT16_MAX);
    }
}

/* Returns whether the frame was one of MAC control, which ends here whatever it says. */
static bool receive_control(struct reference *r, const struct held *frame)
{
    struct reference_port *p = &r->ports[frame->port];
    struct octets_in in = octets_in(frame->octets, frame->length);
    struct xoff_pause_frame pause;
    struct xoff_err err;
    get_octets(&in, 12, "addresses");
    if (get16(&in, "EtherType") != MAC_CONTROL)
        return false;
    const bool is_malformed = xoff_pause_frame_decode(frame->octets, frame->length, &pause, &err);
    if (!is_malformed || (r->fault == FAULT_MALFORMED_PFC && reads_carelessly(frame, &pause))) {
        distort(r, p, &pause);
        xoff_gate_on_frame(&p->gate_cfg, &p->gate, &pause, r->now);
    }
    return r->fault != FAULT_FORWARDS_CONTROL;
}

static void arrive(struct reference *r)
{
    struct held *frame = held_first(&r->arrivals);
    const bool is_short = frame->bytes < XOFF_MIN_FRAME_BYTES && r->fault != FAULT_MALFORMED_PFC;
    if (frame->has_bad_fcs || is_short || receive_control(r, frame)) {
        free(frame);
        return;
    }
    reference_agent_receive(r, frame);
    if (r->setup.kind == XOFF_DEVICE_STATION)
        reference_host_receive(r, frame);
    else
        reference_bridge_receive(r, frame);
}

/* Events */

static xoff_time next_event(const struct reference *r)
{
    xoff_time at = r->arrivals.head ? r->arrivals.head->at : XOFF_NEVER;
    at = xoff_time_min(at, xoff_pause_deadline(&r->pause));
    at = xoff_time_min(at, reference_host_deadline(r));
    at = xoff_time_min(at, reference_agent_deadline(r));
    for (uint32_t i = 0; i < r->setup.n_ports; i++) {
        const struct reference_port *p = &r->ports[i];
        at = xoff_time_min(at, p->gate.next_at);
        at = xoff_time_min(at, p->signal.next_at);
        at = xoff_time_min(at, transmit_at(r, p));
    }
    return at;
}

/* Everything that happens at r->now: arrivals, timers, transmissions. */
static void handle_events(struct reference *r)
{
    while (r->arrivals.head && r->arrivals.head->at <= r->now)
        arrive(r);
    if (xoff_pause_deadline(&r->pause) <= r->now)
        reference_bridge_expire(r, r->now);
    if (reference_host_deadline(r) <= r->now)
        reference_host_expire(r);
    if (reference_agent_deadline(r) <= r->now)
        reference_agent_expire(r);
    for (uint16_t i = 0; i < r->setup.n_ports; i++) {
        struct reference_port *p = &r->ports[i];
        if (xoff_gate_is_due(&p->gate, r->now))
            xoff_gate_expire(&p->gate_cfg, &p->gate, r->now);
        if (p->signal.next_at <= r->now)
            xoff_signal_expire(&p->signal, r->now);
    }
    for (uint16_t i = 0; i < r->setup.n_ports; i++)
        transmit(r, i);
}

static int reset(void *device, const struct xoff_device_setup *setup, struct xoff_err *err)
{
    struct reference *r = device;
    reference_clear(r);
    *r = (struct reference){.device = r->device, .fault = r->fault, .setup = *setup};
    return reference_build(r, err);
}

static void give(void *device, const struct xoff_device_frame *given)
{
    struct reference *r = device;
    struct held *frame = held_create(given->octets, given->length);
    frame->at = given->at;
    frame->port = given->port;
    frame->has_bad_fcs = given->has_bad_fcs;
    held_insert(&r->arrivals, frame);
}

static bool take(void *device, xoff_time until, struct xoff_device_frame *frame)
{
    struct reference *r = device;
    for (;;) {
        const xoff_time at = next_event(r);
        if (r->sent.head && r->sent.head->at <= until && r->sent.head->at <= at)
            break;
        if (at > until) {
            if (until > r->now)
                r->now = until;
            return false;
        }
        r->now = at;
        handle_events(r);
    }
    free(r->taken);
    r->taken = held_first(&r->sent);
    *frame = (struct xoff_device_frame){.at = r->taken->at,
                                        .port = r->taken->port,
                                        .length = r->taken->length,
                                        .octets = r->taken->octets};
    return true;
}

static void destroy(void *device)
{
    reference_clear(device);
    free(device);
}

static const struct xoff_device_ops reference_ops = {
    .name = "reference",
    .summary = "a bridge or an end station made of libxoff's mechanisms",
    .reset = reset,
    .give = give,
    .take = take,
    .destroy = destroy,
};

struct xoff_device *reference_create(enum fault fault)
{
    struct reference *r = calloc(1, sizeof *r);
    if (!r)
        return NULL;
    r->fault = fault;
    r->device = (struct xoff_device){.ops = &reference_ops, .state = r};
    return &r->device;
}
