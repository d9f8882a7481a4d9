/* A port: see port.h. */
#include "net/net_dcbx.h"

static void mirror(struct port *port)
{
    port->gate_at = port->gate.next_at;
    port->open = port->gate.open & port->lets;
    port->is_control_due = xoff_signal_is_due(&port->signal) | port->is_lldp_due;
}

/* Accounts for gates that changed at `at`: notes when they closed, and adds how long they were
 * closed. */
static void account(struct port *port, uint32_t changed, xoff_time at)
{
    for (; changed; changed &= changed - 1) {
        const uint32_t p = (uint32_t)__builtin_ctz(changed);
        if (port->gate.open >> p & 1)
            port->paused_for[p] += at - port->closed_at[p];
        else
            port->closed_at[p] = at;
    }
}

void port_init(struct port *port, xoff_rate rate_bps, int64_t response_quanta)
{
    port->is_up = true;
    port->lets = XOFF_ALL_PRIORITIES;
    port->response_quanta = response_quanta;
    port_set_rate(port, rate_bps);
    xoff_gate_init(&port->gate);
    xoff_signal_init(&port->signal);
    mirror(port);
}

void port_tx_slowly(struct port *port, struct worker *w, const struct frame *frame)
{
    const xoff_time now = sim_now(w);
    if (port->is_watched)
        port_note_frame(port, frame, true, now);
    if (port->wire->send) {
        port->wire->send(port, w, frame);
        return;
    }
    xoff_time last_bit, free_at;
    xoff_wire_clock_send(&port->clock, now, frame->bytes, now == port->free_at, &last_bit,
                         &free_at);
    port_tx_until(port, w, frame, last_bit, free_at);
}

void port_tx_control(struct node *node, struct port *port, struct worker *w)
{
    if (!xoff_signal_is_due(&port->signal)) {
        dcbx_send(node, port, w);
        return;
    }
    struct long_frame control = {
        .frame = {.bytes = (uint16_t)port->wire->pause_bytes, .kind = FRAME_PAUSE}};
    struct frame *frame = &control.frame;
    const uint8_t before = port->signal.told;
    xoff_signal_take(&port->signal_cfg, &port->signal, sim_now(w), &frame->pause);
    /* Only a capture at the other end reads this time: it looks for the decision before it. */
    frame->message = (uint32_t)sim_now(w);
    frame->word = (uint32_t)((uint64_t)sim_now(w) >> 32);
    frame->hash = port->told_bytes; /* only a trace reads it, at both ends */
    const uint8_t after = port->signal.told;
    for (uint32_t p = 0; p < XOFF_N_PRIORITIES; p++) {
        port->pause_tx[p] += (after & ~before) >> p & 1;
        port->resume_tx[p] += (before & ~after) >> p & 1;
    }
    port->control_tx++;
    mirror(port);
    port_tx_begin(port, w, frame);
    node_set_timer(node, w, port_timer(port, PORT_SIGNAL), port->signal.next_at);
}

/* The gate hears a pause frame. */
static void hear(struct port *port, const struct xoff_pause_frame *frame, xoff_time now)
{
    port->control_rx++;
    port_open(port, now);
    const uint8_t before = port->gate.open;
    if (!xoff_gate_on_frame(&port->gate_cfg, &port->gate, frame, now))
        return;
    account(port, before ^ port->gate.open, now); /* the ring was full: its oldest took effect */
    mirror(port);
    for (uint32_t p = 0; p < XOFF_N_PRIORITIES; p++) {
        const uint8_t bit = (uint8_t)(1u << p);
        if (!(frame->classes & bit))
            continue;
        const uint16_t quanta = frame->quanta[frame->opcode == XOFF_OPCODE_PAUSE ? 0 : p];
        const bool told = port->peer_told & bit;
        port->pause_rx[p] += quanta && !told;
        port->resume_rx[p] += !quanta && told;
        port->peer_told = (uint8_t)(quanta ? port->peer_told | bit : port->peer_told & ~bit);
    }
    port_open(port, now);
}

void port_rx_control(struct node *node, struct port *port, struct worker *w,
                     const struct frame *frame)
{
    if (port_is_corrupt(port)) {
        port_note_corrupt(port);
        return;
    }
    if (frame->kind == FRAME_LLDP) {
        dcbx_receive(node, port, w, frame);
        return;
    }
    hear(port, &frame->pause, sim_now(w));
    if (port->keeps_heard)
        note_heard(&node->notes, node->node, port->number, &frame->pause, sim_now(w));
    node_set_timer(node, w, port_timer(port, PORT_GATE), port->gate_at);
    port_wake(node, port, w);
}

void port_rx_corrupt(struct node *node, struct port *port, const struct frame *frame, xoff_time now)
{
    port_note_corrupt(port);
    note_drop(&node->notes, port->number, UINT32_MAX, frame, RESULT_DROP_CORRUPT, now);
}

static void apply(struct node *node, struct port *port, struct worker *w,
                  const struct xoff_edge *edge, struct pause_note *note)
{
    note->at = sim_now(w);
    note->port = port->number;
    note->priorities = edge->priorities;
    note->pause = edge->pause;
    note->unit = edge->cause.unit;
    note->occupied_bytes = edge->cause.occupied_bytes;
    note->threshold_bytes = edge->cause.threshold_bytes;
    note_pause(&node->notes, note);
    if (port->tracer)
        port_note_edge(port, edge, note->at);
    xoff_signal_on_edge(&port->signal_cfg, &port->signal, edge->priorities, edge->pause);
    mirror(port);
    port_wake(node, port, w);
}

void port_apply_edge(struct node *node, struct port *port, struct worker *w,
                     const struct xoff_edge *edge, struct pause_note *note)
{
    if (__builtin_expect(!port->dcbx, 1)) {
        apply(node, port, w, edge, note);
        return;
    }
    struct xoff_edge permitted = *edge;
    permitted.priorities = dcbx_mask(port->dcbx, edge);
    if (permitted.priorities)
        apply(node, port, w, &permitted, note);
}

void port_permit(struct node *node, struct port *port, struct worker *w, uint8_t pfc, uint8_t lets)
{
    const xoff_time now = sim_now(w);
    port_open(port, now);
    const uint8_t before = port->gate_cfg.obeys, open = port->gate.open;
    const uint8_t both[2] = {before & (uint8_t)~pfc, pfc & (uint8_t)~before}; /* gone, new */
    port->gate_cfg.obeys = pfc;
    port->lets = lets;
    xoff_gate_release(&port->gate_cfg, &port->gate, both[0]);
    account(port, (uint32_t)(open ^ port->gate.open), now);
    for (uint8_t pause = 0; pause < 2; pause++) {
        const struct xoff_edge edge = {
            .port = port->number, .priorities = both[pause] & port->dcbx->asked, .pause = pause};
        struct pause_note note = {.egress_port = UINT32_MAX};
        if (edge.priorities)
            apply(node, port, w, &edge, &note);
    }
    mirror(port);
    heap_set(&node->timers, port_timer(port, PORT_GATE), port->gate_at);
    heap_set(&node->timers, port_timer(port, PORT_SIGNAL), port->signal.next_at);
    port_wake(node, port, w);
    node_rearm(node, w);
}

void port_repeat(struct node *node, struct port *port, struct worker *w, uint8_t priorities)
{
    xoff_signal_repeat(&port->signal, priorities);
    heap_set(&node->timers, port_timer(port, PORT_SIGNAL), port->signal.next_at);
    port_refresh(node, port, w);
}

void port_refresh(struct node *node, struct port *port, struct worker *w)
{
    mirror(port);
    port_wake(node, port, w);
}

void port_gate_expire(struct port *port, xoff_time now)
{
    /* Changes are applied one by one so that each is accounted at its own time. */
    while (port->gate.next_at <= now) {
        const xoff_time at = port->gate.next_at;
        account(port, xoff_gate_expire(&port->gate_cfg, &port->gate, at), at);
    }
    mirror(port);
}

xoff_time port_paused_for(const struct port *port, uint32_t priority, xoff_time now)
{
    struct xoff_gate gate = port->gate;
    xoff_time paused_for = port->paused_for[priority], closed_at = port->closed_at[priority];
    while (gate.next_at <= now) {
        const xoff_time at = gate.next_at;
        if (!(xoff_gate_expire(&port->gate_cfg, &gate, at) >> priority & 1))
            continue;
        if (gate.open >> priority & 1)
            paused_for += at - closed_at;
        else
            closed_at = at;
    }
    return paused_for + (gate.open >> priority & 1 ? 0 : now - closed_at);
}

void port_on_timer(struct node *node, struct port *port, struct worker *w, uint32_t which)
{
    if (which == PORT_GATE) {
        port_gate_expire(port, sim_now(w));
    } else {
        xoff_signal_expire(&port->signal, sim_now(w));
        mirror(port);
    }
    heap_set(&node->timers, port_timer(port, which),
             which == PORT_GATE ? port->gate_at : port->signal.next_at);
    port_wake(node, port, w);
}

void port_set_up(struct node *node, struct port *port, struct worker *w, bool up, xoff_time now)
{
    port_gate_expire(port, now);
    for (uint32_t p = 0; p < XOFF_N_PRIORITIES; p++) {
        if (!(port->gate.open >> p & 1))
            port->paused_for[p] += now - port->closed_at[p];
        port->lapsed_tx[p] += port->signal.told >> p & 1;
    }
    xoff_gate_init(&port->gate);
    xoff_signal_forget(&port->signal);
    port->peer_told = 0;
    port->is_up = up;
    if (port->free_at > now) { /* the frame on the wire died with the link */
        port->busy_for -= port->free_at - now;
        port->free_at = now;
    }
    if (up) {
        /* The peer's buffer may be as full as before the failure: data waits until a pause sent at
         * this instant would have taken effect. */
        const uint64_t bits = 8 * (XOFF_PAUSE_FRAME_BYTES + XOFF_PREAMBLE_BYTES);
        const xoff_time until = now + xoff_time_of_bits(bits, port->clock.rate_bps) + port->delay +
                                port->gate_cfg.response_for;
        xoff_gate_hold(&port->gate_cfg, &port->gate, now, until);
        account(port, port->gate.open ^ 0xffu, now);
    }
    mirror(port);
    heap_set(&node->timers, port_timer(port, PORT_GATE), port->gate_at);
    heap_set(&node->timers, port_timer(port, PORT_SIGNAL), port->signal.next_at);
    if (port->dcbx)
        dcbx_set_up(node, port, w, up, now);
    node_rearm(node, w);
}

void port_set_rate(struct port *port, xoff_rate rate_bps)
{
    xoff_wire_clock_init(&port->clock, rate_bps);
    port->ps_per_byte = port->wire->send ? 0 : port->clock.ps_per_byte;
    const uint32_t quanta = port->response_quanta == XOFF_PARAM_AUTO
                                ? xoff_response_quanta(rate_bps)
                                : (uint32_t)port->response_quanta;
    port->gate_cfg.rate_bps = rate_bps;
    port->gate_cfg.response_for = xoff_quanta_time(quanta, rate_bps);
}
