/* Steps of a small world: see world.h. */
#include "explore/world.h"

#include <string.h>

#include <xoff/units.h>

#define NOW ((xoff_time)1 << 40)

const uint8_t world_priorities[WORLD_PRIORITIES] = {3, 4};
static const uint32_t size_bytes[] = {WORLD_MAX_FRAME, XOFF_MIN_FRAME_BYTES};

uint32_t world_size_bytes(uint32_t size)
{
    return size_bytes[size];
}

/* One step, with the mechanisms pointed at the state. */
struct step {
    const struct world *w;
    struct world_state *s;
    struct xoff_mmu mmu;
    struct xoff_pause pause;
    const char *violation; /* the first */
};

static void must_not(struct step *t, const char *what)
{
    if (!t->violation)
        t->violation = what;
}

static void tell(const struct step *t, enum world_event event, uint32_t port, int64_t a, int64_t b,
                 int64_t c)
{
    if (t->w->log)
        t->w->log->hear(t->w->log, event, port, a, b, c);
}

static uint32_t wire_ticks(uint32_t bytes)
{
    return (bytes + XOFF_OVERHEAD_BYTES) / WORLD_TICK_BYTES;
}

static uint32_t last_bit_ticks(uint32_t bytes)
{
    return (bytes + XOFF_PREAMBLE_BYTES) / WORLD_TICK_BYTES;
}

static bool is_lossless(const struct world *w, uint32_t priority)
{
    return w->lossless >> world_priorities[priority] & 1;
}

/* Choices. A choice is a number with one digit for each thing that is free to happen. */

struct plan {
    uint32_t leave;               /* queue + 1; 0: none */
    uint32_t send[WORLD_SENDERS]; /* 1 + priority * sizes + size; 0: nothing */
    uint32_t reverse[WORLD_SENDERS];
    uint32_t mishap[WORLD_SENDERS]; /* 1: lost, 2: late */
    uint32_t draw;
};

static uint32_t digit(uint32_t *choice, uint32_t base, uint32_t *n)
{
    *n *= base;
    const uint32_t value = *choice % base;
    *choice /= base;
    return value;
}

static bool arrives_next(const struct world_link *link, uint32_t left)
{
    for (uint32_t i = 0; i < link->n_controls; i++)
        if (link->controls[i].left == left)
            return true;
    return false;
}

/* Digit 0 is no frame; the others are the frames that may begin. */
static uint32_t plan_send(const struct world *w, const struct world_link *link, uint32_t *choice,
                          uint32_t *n)
{
    uint32_t frames[WORLD_PRIORITIES * 2 + 1] = {0}, n_frames = 1;
    for (uint32_t p = 0; p < w->spec.n_priorities && link->tx_left <= 1; p++)
        for (uint32_t z = 0; z < w->n_sizes && link->gate.open >> world_priorities[p] & 1; z++)
            frames[n_frames++] = 1 + p * 2 + z;
    return frames[digit(choice, n_frames, n)];
}

/* Reads the choice, and returns how many there are. */
static uint32_t plan_of(const struct world *w, const struct world_state *s, uint32_t choice,
                        struct plan *plan)
{
    uint32_t n = 1, n_queues = 0, queues[WORLD_PRIORITIES];
    bool is_arriving = false;
    memset(plan, 0, sizeof *plan);
    for (uint32_t p = 0; p < w->spec.n_priorities; p++)
        if (s->n_queued[p])
            queues[n_queues++] = p;
    if (n_queues) { /* the kind one lets a frame leave */
        const uint32_t which = digit(&choice, n_queues + 1, &n);
        plan->leave = which < n_queues ? queues[which] + 1 : 0;
    }
    for (uint32_t i = 0; i < w->spec.n_senders; i++) {
        const struct world_link *link = &s->links[i];
        plan->send[i] = plan_send(w, link, &choice, &n);
        if (w->spec.has_reverse && link->rx_left <= 1 && !xoff_signal_is_due(&link->signal))
            plan->reverse[i] = digit(&choice, 2, &n);
        if (w->spec.has_mishaps && !s->had_mishap && arrives_next(link, w->response_ticks + 1))
            plan->mishap[i] = digit(&choice, 3, &n);
        for (uint32_t k = 0; k < link->n_flights; k++)
            is_arriving |= link->flights[k].left == 1;
    }
    if (w->rng_at != SIZE_MAX && is_arriving)
        plan->draw = digit(&choice, 4, &n);
    return n;
}

static uint32_t world_n_choices(const void *world, const void *state)
{
    struct plan plan;
    return plan_of(world, state, 0, &plan);
}

/* Decisions */

static void apply_edges(struct step *t, const struct xoff_edges *edges)
{
    for (uint32_t i = 0; i < edges->n; i++) {
        const struct xoff_edge *e = &edges->at[i];
        uint8_t *asked = &t->s->asked[e->port];
        tell(t, EVENT_DECIDE, e->port, e->pause, e->priorities, e->cause.occupied_bytes);
        if (e->pause ? *asked & e->priorities : ~*asked & e->priorities)
            must_not(t, e->pause ? "a pause is decided for who is paused already"
                                 : "a resume is decided for who is not paused");
        *asked = (uint8_t)(e->pause ? *asked | e->priorities : *asked & ~e->priorities);
        if (e->port < t->w->spec.n_senders)
            xoff_signal_on_edge(&t->w->signal_cfg, &t->s->links[e->port].signal, e->priorities,
                                e->pause);
    }
}

static int64_t queued_bytes(const struct world_state *s, uint32_t queue)
{
    int64_t bytes = 0;
    for (uint32_t i = 0; i < s->n_queued[queue]; i++)
        bytes += size_bytes[s->queue[queue][i].size];
    return bytes;
}

static void arrive(struct step *t, uint32_t port, const struct world_flight *f)
{
    struct world_state *s = t->s;
    struct xoff_crossings crossings;
    struct xoff_edges edges = {.at = t->w->edges};
    struct xoff_arrival a = {
        .in_port = (uint16_t)port,
        .out_port = (uint16_t)(t->w->n_ports - 1),
        .priority = world_priorities[f->priority],
        .bytes = size_bytes[f->size],
        .egress_bytes = queued_bytes(s, f->priority),
    };
    const enum xoff_pool pool = xoff_mmu_admit(&t->mmu, &a, NOW, &crossings);
    a.dropped = pool == XOFF_POOL_DROP;
    tell(t, EVENT_ARRIVE, port, a.priority, a.bytes, pool);
    if (!a.dropped) {
        XOFF_ASSERT(s->n_queued[f->priority] < WORLD_QUEUE);
        s->queue[f->priority][s->n_queued[f->priority]++] =
            (struct world_frame){(uint8_t)port, f->size, (uint8_t)pool};
    } else if (is_lossless(t->w, f->priority) && !t->w->spec.may_lose && !s->had_mishap) {
        must_not(t, "a frame of a lossless priority is lost");
    }
    if (xoff_pause_on_arrival(&t->pause, &a, &crossings, NOW, &edges))
        apply_edges(t, &edges);
}

static void leave(struct step *t, uint32_t queue)
{
    struct world_state *s = t->s;
    struct world_frame *frames = s->queue[queue];
    const struct world_frame f = frames[0];
    struct xoff_crossings crossings;
    struct xoff_edges edges = {.at = t->w->edges};
    s->n_queued[queue]--;
    memmove(frames, frames + 1, s->n_queued[queue] * sizeof *frames);
    memset(&frames[s->n_queued[queue]], 0, sizeof *frames);
    const struct xoff_departure d = {
        .in_port = f.in_port,
        .out_port = (uint16_t)(t->w->n_ports - 1),
        .priority = world_priorities[queue],
        .pool = f.pool,
        .bytes = size_bytes[f.size],
        .egress_bytes = queued_bytes(s, queue),
    };
    tell(t, EVENT_LEAVE, f.in_port, d.priority, d.bytes, f.pool);
    xoff_mmu_release(&t->mmu, &d, NOW, &crossings);
    if (t->w->spec.fault == FAULT_RELEASED_TWICE && s->n_queued[queue])
        xoff_mmu_release(&t->mmu, &d, NOW, &crossings);
    if (xoff_pause_on_departure(&t->pause, &d, &crossings, NOW, &edges))
        apply_edges(t, &edges);
}

/* Data */

static void send(struct step *t, uint32_t port, uint32_t what)
{
    struct world_link *link = &t->s->links[port];
    const struct world_flight f = {.priority = (uint8_t)((what - 1) / 2),
                                   .size = (uint8_t)((what - 1) % 2)};
    const uint32_t bytes = size_bytes[f.size];
    XOFF_ASSERT(link->tx_left == 0);
    XOFF_ASSERT(link->n_flights < sizeof link->flights / sizeof *link->flights);
    struct world_flight *at = &link->flights[link->n_flights++];
    *at = f;
    at->left = (uint8_t)(last_bit_ticks(bytes) + t->w->delay_ticks);
    link->tx_left = (uint8_t)wire_ticks(bytes);
    tell(t, EVENT_SEND, port, world_priorities[f.priority], bytes, 0);
}

static void receive(struct step *t, uint32_t port)
{
    struct world_link *link = &t->s->links[port];
    while (link->n_flights && link->flights[0].left == 0) {
        const struct world_flight f = link->flights[0];
        link->n_flights--;
        memmove(link->flights, link->flights + 1, link->n_flights * sizeof f);
        memset(&link->flights[link->n_flights], 0, sizeof f);
        arrive(t, port, &f);
    }
}

/* Pause frames */

static void decode(const struct world *w, const struct world_control *c,
                   struct xoff_pause_frame *frame)
{
    memset(frame, 0, sizeof *frame);
    frame->classes = c->classes;
    if (w->signal_cfg.how.wire == XOFF_WIRE_PAUSE) {
        frame->opcode = XOFF_OPCODE_PAUSE;
        frame->quanta[0] = c->pausing ? WORLD_QUANTA : 0;
        return;
    }
    frame->opcode = XOFF_OPCODE_PFC;
    for (unsigned n = 0; n < XOFF_N_PRIORITIES; n++)
        frame->quanta[n] = c->pausing >> n & 1 ? WORLD_QUANTA : 0;
}

static struct world_control encode(struct step *t, const struct xoff_pause_frame *frame)
{
    const bool is_pause = t->w->signal_cfg.how.wire == XOFF_WIRE_PAUSE;
    struct world_control c = {.classes = frame->classes};
    for (unsigned n = 0; n < XOFF_N_PRIORITIES; n++)
        if (frame->quanta[n])
            c.pausing |= (uint8_t)(1u << n);
    if (is_pause && c.pausing)
        c.pausing = XOFF_ALL_PRIORITIES;
    struct xoff_pause_frame same;
    decode(t->w, &c, &same);
    if (memcmp(&same, frame, sizeof same) != 0 || (is_pause && c.classes != XOFF_ALL_PRIORITIES) ||
        (c.pausing & ~c.classes))
        must_not(t, "a pause frame says something that the policy did not ask for");
    return c;
}

/* Bits 3 and 4 change places. */
static uint8_t swapped(uint8_t mask)
{
    return (uint8_t)((mask & ~0x18) | (mask & 0x08) << 1 | (mask & 0x10) >> 1);
}

static void send_control(struct step *t, uint32_t port)
{
    struct world_link *link = &t->s->links[port];
    const uint8_t before = link->signal.told;
    struct xoff_pause_frame frame;
    xoff_signal_take(&t->w->signal_cfg, &link->signal, NOW, &frame);
    struct world_control c = encode(t, &frame);
    c.changes = before ^ link->signal.told;
    c.left = (uint8_t)(last_bit_ticks(XOFF_PAUSE_FRAME_BYTES) + t->w->delay_ticks +
                       t->w->response_ticks);
    link->rx_left = (uint8_t)wire_ticks(XOFF_PAUSE_FRAME_BYTES);
    tell(t, EVENT_CONTROL, port, c.classes, c.pausing, c.changes);
    if (t->w->spec.fault == FAULT_XON_LOST && !c.pausing)
        return;
    if (t->w->spec.fault == FAULT_WRONG_PRIORITY) {
        c.classes = swapped(c.classes);
        c.pausing = swapped(c.pausing);
    }
    XOFF_ASSERT(link->n_controls < sizeof link->controls / sizeof *link->controls);
    link->controls[link->n_controls++] = c;
}

static void remove_control(struct world_link *link, uint32_t i)
{
    link->n_controls--;
    memmove(&link->controls[i], &link->controls[i + 1],
            (link->n_controls - i) * sizeof *link->controls);
    memset(&link->controls[link->n_controls], 0, sizeof *link->controls);
}

static void hear(struct step *t, uint32_t port, const struct world_control *c)
{
    struct world_link *link = &t->s->links[port];
    struct xoff_pause_frame frame;
    decode(t->w, c, &frame);
    if (t->w->spec.fault == FAULT_TIMER_NOT_RESTARTED)
        frame.classes &= (uint8_t) ~(c->pausing & ~link->gate.open);
    tell(t, EVENT_HEAR, port, c->classes, c->pausing, 0);
    if (!frame.classes)
        return;
    if (!xoff_gate_on_frame(&t->w->gate_cfg, &link->gate, &frame, NOW))
        must_not(t, "a gate ignores a pause frame of its kind");
}

/* Frames reach the gate, or do not, and take effect a response time later. */
static void receive_controls(struct step *t, uint32_t port, uint32_t mishap)
{
    struct world_link *link = &t->s->links[port];
    const uint8_t response = (uint8_t)t->w->response_ticks;
    for (uint32_t i = 0; i < link->n_controls; i++) {
        struct world_control *c = &link->controls[i];
        if (c->left != response)
            continue;
        if (mishap)
            tell(t, EVENT_MISHAP, port, c->classes, c->pausing, mishap);
        t->s->had_mishap |= mishap != 0;
        if (mishap == 1)
            remove_control(link, i--);
        else if (mishap == 2) /* the next one may be a frame time behind */
            c->left = (uint8_t)(c->left + wire_ticks(XOFF_PAUSE_FRAME_BYTES) + 1);
        else
            hear(t, port, c);
        mishap = 0;
    }
}

static uint8_t closed_mask(const struct world *w, const struct world_link *link)
{
    uint8_t mask = 0;
    for (uint32_t p = 0; p < w->spec.n_priorities; p++)
        mask |= (uint8_t)((link->closed_for[p] > 0) << world_priorities[p]);
    return mask;
}

static uint8_t used_mask(const struct world *w)
{
    return (uint8_t)(1u << world_priorities[0] |
                     (w->spec.n_priorities > 1 ? 1u << world_priorities[1] : 0));
}

static bool is_strict(const struct step *t)
{
    const struct xoff_pause_signalling *how = &t->w->signal_cfg.how;
    return !t->s->had_mishap && how->refreshes && how->resumes;
}

/* Takes over what frames say in this instant; `before` are the priorities that were closed. */
static void take_effect(struct step *t, uint32_t port, uint8_t before)
{
    struct world_link *link = &t->s->links[port];
    const uint8_t used = used_mask(t->w);
    struct world_control said = {0};
    for (uint32_t i = 0; i < link->n_controls; i++) {
        if (link->controls[i].left != 0)
            continue;
        said = link->controls[i];
        remove_control(link, i--);
        for (uint32_t p = 0; p < t->w->spec.n_priorities; p++)
            if (said.classes >> world_priorities[p] & 1)
                link->closed_for[p] =
                    said.pausing >> world_priorities[p] & 1 ? WORLD_QUANTA_TICKS : 0;
    }
    const uint8_t after = closed_mask(t->w, link);
    const uint8_t flipped = (before ^ after) & used;
    if (is_strict(t) && (flipped & said.classes) != (said.changes & used))
        must_not(t, "a decision does not change the gate exactly once");
    if (is_strict(t) && (flipped & before & ~said.classes & link->signal.told))
        must_not(t, "a pause runs out although it is wanted");
}

static void run_gate(struct step *t, uint32_t port)
{
    struct world_link *link = &t->s->links[port];
    const uint8_t before = link->gate.open;
    if (!t->w->spec.is_lazy || xoff_gate_is_due(&link->gate, NOW))
        xoff_gate_expire(&t->w->gate_cfg, &link->gate, NOW);
    if (before != link->gate.open)
        tell(t, EVENT_GATE, port, link->gate.open, 0, 0);
    if (link->gate.next_at <= NOW)
        must_not(t, "a gate has a change left to make that was due");
    if ((uint8_t)~link->gate.open & used_mask(t->w) & (uint8_t)~closed_mask(t->w, link))
        must_not(t, "a gate is closed although the frames it got say open");
    if (link->gate.open & closed_mask(t->w, link))
        must_not(t, "a gate is open although the frames it got say closed");
}

/* Time */

/* Moves a time one tick into the past. A lazy gate may keep a frame for ever that changed nothing.
 * Two pauses ago is as long ago as any time before: each frame in the ring since then was in time.
 */
static xoff_time earlier(xoff_time at)
{
    const xoff_time first = NOW - 2 * WORLD_QUANTA_TICKS * WORLD_TICK;
    if (at == XOFF_NEVER || at <= first)
        return at;
    return at - WORLD_TICK;
}

static uint8_t down(uint8_t ticks)
{
    return (uint8_t)(ticks ? ticks - 1 : 0);
}

static void advance(const struct world *w, struct world_link *link)
{
    link->tx_left = down(link->tx_left);
    link->rx_left = down(link->rx_left);
    for (uint32_t i = 0; i < link->n_flights; i++)
        link->flights[i].left--;
    for (uint32_t i = 0; i < link->n_controls; i++)
        link->controls[i].left--;
    for (uint32_t p = 0; p < w->spec.n_priorities; p++)
        link->closed_for[p] = down(link->closed_for[p]);
    link->gate.next_at = earlier(link->gate.next_at);
    link->signal.next_at = earlier(link->signal.next_at);
    for (unsigned n = 0; n < XOFF_N_PRIORITIES; n++) {
        link->gate.closed_until[n] = earlier(link->gate.closed_until[n]);
        link->signal.refresh_at[n] = earlier(link->signal.refresh_at[n]);
    }
    for (unsigned i = 0; i < XOFF_GATE_PENDING; i++)
        link->gate.pending[i].effective_at = earlier(link->gate.pending[i].effective_at);
}

/* Gives one value to all that means nothing: timers that do not run, free places, the start of a
 * ring. */
static void settle_link(struct world_link *link)
{
    struct xoff_gate *gate = &link->gate;
    struct xoff_signal *signal = &link->signal;
    struct xoff_gate ring = *gate;
    memset(gate->pending, 0, sizeof gate->pending);
    gate->first_pending = 0;
    for (unsigned i = 0; i < gate->n_pending; i++) {
        const unsigned from = (ring.first_pending + i) % XOFF_GATE_PENDING;
        gate->pending[i].effective_at = ring.pending[from].effective_at;
        gate->pending[i].classes = ring.pending[from].classes;
        memcpy(gate->pending[i].quanta, ring.pending[from].quanta, sizeof ring.pending[0].quanta);
    }
    for (unsigned n = 0; n < XOFF_N_PRIORITIES; n++) {
        if (gate->open >> n & 1)
            gate->closed_until[n] = 0;
        if (!(signal->told >> n & 1))
            signal->refresh_at[n] = XOFF_NEVER;
        else if (signal->stale >> n & 1)
            signal->refresh_at[n] = NOW;
    }
}

static void settle(struct step *t)
{
    uint64_t *words = t->mmu.state;
    for (uint32_t i = 0; i < t->w->n_statistics; i++)
        memcpy(&words[t->w->statistics[i]], t->w->mmu_first + t->w->statistics[i] * sizeof *words,
               sizeof *words);
    if (t->w->rng_at != SIZE_MAX)
        ((struct xoff_rng *)(void *)((char *)t->pause.state + t->w->rng_at))->counter = 0;
    for (uint32_t i = 0; i < t->w->spec.n_senders; i++)
        settle_link(&t->s->links[i]);
}

/* Checks */

static void check_books(struct step *t)
{
    const struct world *w = t->w;
    const struct world_state *s = t->s;
    int64_t held[WORLD_PORTS][WORLD_PRIORITIES] = {{0}}, total = 0, pools = 0;
    for (uint32_t p = 0; p < w->spec.n_priorities; p++)
        for (uint32_t i = 0; i < s->n_queued[p]; i++) {
            held[s->queue[p][i].in_port][p] += size_bytes[s->queue[p][i].size];
            total += size_bytes[s->queue[p][i].size];
        }
    struct xoff_mmu_view view;
    xoff_mmu_view(&t->mmu, &view);
    for (uint32_t pool = 0; pool < XOFF_N_POOLS; pool++) {
        pools += view.used_bytes[pool];
        if (view.used_bytes[pool] < 0 || view.used_bytes[pool] > view.capacity_bytes[pool])
            must_not(t, "a pool holds less than nothing, or more than it can");
    }
    if (view.used_total_bytes != total || pools != total)
        must_not(t, "the buffer's books are not those of the frames in it");
    if (view.used_total_bytes > view.capacity_total_bytes)
        must_not(t, "the buffer holds more than it can");
    for (uint32_t port = 0; port < w->n_ports; port++)
        for (uint32_t p = 0; p < w->spec.n_priorities; p++)
            if (xoff_mmu_ingress_bytes(&t->mmu, port, world_priorities[p]) != held[port][p])
                must_not(t, "an ingress queue's bytes are not those of its frames");
    if (total)
        return;
    if (memcmp(t->mmu.state, w->mmu_first, w->mmu.shape.state_size) != 0)
        must_not(t, "the buffer is empty, but its books are not as they were at first");
    for (uint32_t port = 0; port < w->n_ports; port++)
        if (s->asked[port])
            must_not(t, "a port is paused for an empty buffer");
}

static void check_agreement(struct step *t, const struct world_link *link)
{
    const uint8_t used = used_mask(t->w), closed = (uint8_t)~link->gate.open & used;
    if (xoff_signal_is_due(&link->signal) || link->n_controls)
        return;
    if (is_strict(t) && closed != (link->signal.wanted & used))
        must_not(t, closed & ~link->signal.wanted
                        ? "a gate stays closed although nothing is under way to it"
                        : "a gate stays open although nothing is under way to it");
}

/* The model's functions */

static struct step step_of(const struct world *w, struct world_state *s)
{
    struct step t = {.w = w, .s = s, .mmu = w->mmu, .pause = w->pause};
    t.mmu.state = s->mechanisms;
    t.pause.state = s->mechanisms + w->pause_at;
    return t;
}

static void world_start(const void *world, void *state)
{
    const struct world *w = world;
    struct world_state *s = state;
    memset(s, 0, w->model.state_size);
    struct step t = step_of(w, s);
    xoff_mmu_init(&t.mmu, t.mmu.state);
    xoff_pause_init(&t.pause, t.pause.state);
    for (uint32_t i = 0; i < WORLD_SENDERS; i++) {
        xoff_gate_init(&s->links[i].gate);
        xoff_signal_init(&s->links[i].signal);
    }
    settle(&t);
}

static const char *world_step(const void *world, void *state, uint32_t choice)
{
    const struct world *w = world;
    struct world_state *s = state;
    struct step t = step_of(w, s);
    struct plan plan;
    uint8_t closed[WORLD_SENDERS];
    plan_of(w, s, choice, &plan);
    if (w->rng_at != SIZE_MAX)
        ((struct xoff_rng *)(void *)((char *)t.pause.state + w->rng_at))->counter =
            w->draws[plan.draw];
    tell(&t, EVENT_TICK, 0, 0, 0, 0);
    for (uint32_t i = 0; i < w->spec.n_senders; i++) {
        closed[i] = closed_mask(w, &s->links[i]);
        advance(w, &s->links[i]);
        if (plan.send[i])
            send(&t, i, plan.send[i]);
        if (plan.reverse[i]) {
            tell(&t, EVENT_REVERSE, i, 0, WORLD_MAX_FRAME, 0);
            s->links[i].rx_left = (uint8_t)wire_ticks(WORLD_MAX_FRAME);
        }
    }
    if (plan.leave)
        leave(&t, plan.leave - 1);
    for (uint32_t i = 0; i < w->spec.n_senders; i++)
        receive(&t, i);
    for (uint32_t i = 0; i < w->spec.n_senders; i++) {
        struct world_link *link = &s->links[i];
        receive_controls(&t, i, plan.mishap[i]);
        take_effect(&t, i, closed[i]);
        run_gate(&t, i);
        if (link->signal.next_at <= NOW)
            xoff_signal_expire(&link->signal, NOW);
        if (link->rx_left == 0 && xoff_signal_is_due(&link->signal))
            send_control(&t, i);
        check_agreement(&t, link);
    }
    settle(&t);
    check_books(&t);
    return t.violation;
}

static bool world_is_at_rest(const void *world, const void *state)
{
    const struct world *w = world;
    const struct world_state *s = state;
    for (uint32_t p = 0; p < w->spec.n_priorities; p++)
        if (s->n_queued[p])
            return false;
    for (uint32_t i = 0; i < w->spec.n_senders; i++) {
        const struct world_link *link = &s->links[i];
        if (link->tx_left || link->rx_left || link->n_flights || link->n_controls ||
            link->gate.open != 0xff || link->signal.told || link->signal.wanted || s->asked[i])
            return false;
    }
    return true;
}

const struct explorer_model world_model = {
    .init = world_start,
    .n_choices = world_n_choices,
    .step = world_step,
    .is_at_rest = world_is_at_rest,
};
