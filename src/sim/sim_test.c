/* The engine against a slow reference, and its promises one by one.
 *
 * A toy network runs on both: nodes on a random graph that fold what happens to them into a hash
 * and take all decisions from that hash (forward, arm, move and cancel timers and transmissions),
 * so one event out of order changes everything after it. The reference keeps one sorted list of all
 * that is pending. Times are multiples of one unit, so that equal times are common.
 *
 * Callbacks run on several threads, where a failed assertion could not be caught: they count what
 * is wrong, and the test looks at the count.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <sched.h>

#include <xoff/param.h>
#include <xoff/rng.h>

#include "sim/alone.h"

_Noreturn void xoff_assert_fail(const char *expression, const char *file, int line)
{
    fprintf(stderr, "%s:%d: %s\n", file, line, expression);
    abort();
}

#define UNIT (INT64_C(6720))
#define MAX_NODES 12
#define MAX_PORTS 16
#define MAX_LINKS 64
#define MAX_WAITING 32
#define MAX_INSTANTS 12
#define MAX_PENDING 8192

/* ---- The reference: one list, latest first, so that the next event is at its end. ---- */

struct event {
    xoff_time at;
    enum sim_kind kind;
    uint64_t tie;
    uint32_t node, port;
    uint32_t link;
    struct frame frame;
};

struct reference {
    struct worker worker; /* as the engine's: tells the time */
    uint32_t n_events;
    uint64_t n_handled;
    xoff_time last_at[MAX_LINKS];
    bool is_at_rest;
    struct event events[MAX_PENDING];
};

/* Options of the current run: equal times in order of ports, and frames with a second line. */
static bool ties_by_port, has_extra;

/* What the hash is does not matter here, only that it comes after time and kind. */
static uint64_t tie_of(xoff_time at, uint32_t port)
{
    return ties_by_port ? 0 : queue_tie(at, port);
}

static bool is_before(const struct event *a, const struct event *b)
{
    if (a->at != b->at)
        return a->at < b->at;
    if (a->kind != b->kind)
        return a->kind < b->kind;
    if (a->tie != b->tie)
        return a->tie < b->tie;
    if (a->node != b->node) /* matters only over links that take no time */
        return a->node < b->node;
    return a->port < b->port; /* a port has one event of a kind and time */
}

static void ref_insert(struct reference *ref, const struct event *pending)
{
    struct event event = *pending;
    event.tie = tie_of(event.at, event.port);
    uint32_t i = ref->n_events;
    while (i > 0 && is_before(&ref->events[i - 1], &event))
        i--;
    XOFF_ASSERT(ref->n_events < MAX_PENDING);
    memmove(&ref->events[i + 1], &ref->events[i], (ref->n_events - i) * sizeof event);
    ref->events[i] = event;
    ref->n_events++;
}

static void ref_erase(struct reference *ref, uint32_t i)
{
    ref->n_events--;
    memmove(&ref->events[i], &ref->events[i + 1], (ref->n_events - i) * sizeof ref->events[0]);
}

static void ref_set(struct reference *ref, enum sim_kind kind, uint32_t node, uint32_t port,
                    xoff_time at)
{
    for (uint32_t i = ref->n_events; i-- > 0;) {
        const struct event *e = &ref->events[i];
        if (e->kind == kind && e->node == node && e->port == port)
            ref_erase(ref, i);
    }
    if (at != XOFF_NEVER)
        ref_insert(ref, &(struct event){.at = at, .kind = kind, .node = node, .port = port});
}

/* ---- Nodes of the networks below: their handlers get the network and a number. ---- */

struct handlers {
    void (*arrive)(void *net, struct worker *w, uint32_t index, uint32_t port,
                   const struct frame *frame);
    void (*transmit)(void *net, struct worker *w, uint32_t index, uint32_t port);
    void (*timer)(void *net, struct worker *w, uint32_t index);
};

struct member {
    void *net;
    uint32_t index;
    const struct handlers *on;
};

static void member_arrive(void *self, struct worker *w, uint32_t port, const struct frame *frame)
{
    const struct member *m = self;
    m->on->arrive(m->net, w, m->index, port, frame);
}

static void member_transmit(void *self, struct worker *w, uint32_t port)
{
    const struct member *m = self;
    m->on->transmit(m->net, w, m->index, port);
}

static void member_timer(void *self, struct worker *w)
{
    const struct member *m = self;
    m->on->timer(m->net, w, m->index);
}

/* Every other node has its handlers compiled into the loop of its windows. */
static void member_run(void *self, struct worker *w, uint32_t cell)
{
    sim_run_alone(w, cell, self, member_arrive, member_transmit, member_timer);
}

/* For one network at a time. */
static void give_handlers(struct sim_spec *spec, void *net, const struct handlers *on)
{
    static struct member members[MAX_NODES];
    static struct sim_node nodes[MAX_NODES];
    assert_true(spec->n_nodes <= MAX_NODES);
    for (uint32_t n = 0; n < spec->n_nodes; n++) {
        members[n] = (struct member){net, n, on};
        nodes[n] = (struct sim_node){.self = &members[n],
                                     .arrive = member_arrive,
                                     .transmit = member_transmit,
                                     .timer = member_timer,
                                     .run = n % 2 ? member_run : NULL};
    }
    spec->model.net = net;
    spec->model.nodes = nodes;
}

/* ---- The toy network. ---- */

struct toy_port {
    uint32_t link;         /* outgoing */
    xoff_time step, delay; /* per unit of frame, and of the wire */
    xoff_time free_at;
    bool is_armed;
    uint32_t n_waiting;
    struct {
        uint64_t payload;
        uint16_t ttl;
    } waiting[MAX_WAITING];
};

struct toy_node {
    alignas(64) uint64_t hash;
    uint32_t n_ports, budget, n_advanced;
    struct toy_port ports[MAX_PORTS];
};

struct toy {
    struct sim *sim;
    struct reference *ref; /* NULL: on the engine */
    uint32_t n_nodes, n_links, n_instants, next_instant;
    uint32_t n_ports[MAX_NODES];
    struct toy_node nodes[MAX_NODES];
    struct sim_link_spec links[MAX_LINKS];
    struct {
        xoff_time at;
        bool wakes, samples;
    } instants[MAX_INSTANTS];
    uint64_t hash; /* of what instants saw */
    uint64_t arrivals;
};

static void toy_send(struct toy *t, struct worker *w, uint32_t link, const struct frame *f,
                     xoff_time at)
{
    if (!t->ref) {
        struct long_frame with = {.frame = *f};
        memset(with.extra.bytes, (int)(f->seq & 0xff), sizeof with.extra.bytes);
        sim_send(w, link, &with.frame, at);
        return;
    }
    if (at <= t->ref->last_at[link])
        at = t->ref->last_at[link] + 1;
    t->ref->last_at[link] = at;
    struct event e = {.at = at,
                      .kind = SIM_ARRIVAL,
                      .node = t->links[link].to_node,
                      .port = t->links[link].to_port,
                      .link = link,
                      .frame = *f};
    e.frame.at = at;
    ref_insert(t->ref, &e);
}

static void toy_at_timer(struct toy *t, struct worker *w, uint32_t node, xoff_time at)
{
    if (t->ref)
        ref_set(t->ref, SIM_TIMER, node, 0, at);
    else
        sim_at_timer(w, node, at);
}

static void toy_at_transmit(struct toy *t, struct worker *w, uint32_t node, uint32_t port,
                            xoff_time at)
{
    t->nodes[node].ports[port].is_armed = at != XOFF_NEVER;
    if (t->ref)
        ref_set(t->ref, SIM_TRANSMIT, node, port, at);
    else
        sim_at_transmit(w, node, port, at);
}

/* The reference never advances time within an event; the events must be the same without it. */
static bool toy_advance(struct toy *t, struct worker *w, uint32_t node, xoff_time at)
{
    if (t->ref || !sim_advance(w, at))
        return false;
    t->nodes[node].n_advanced++;
    return true;
}

static void fold_lost(void *context, const struct frame *f)
{
    struct toy *t = context;
    t->hash = xoff_mix64(t->hash + f->seq);
}

static uint32_t toy_flush(struct toy *t, uint32_t link)
{
    if (!t->ref)
        return sim_flush_link(t->sim, link, t, fold_lost);
    t->ref->last_at[link] = -1; /* nothing is left to overtake */
    uint32_t n = 0;
    for (uint32_t i = t->ref->n_events; i-- > 0;) {
        if (t->ref->events[i].kind != SIM_ARRIVAL || t->ref->events[i].link != link)
            continue;
        fold_lost(t, &t->ref->events[i].frame);
        ref_erase(t->ref, i);
        n++;
    }
    return n;
}

static uint32_t toy_in_flight(const struct toy *t, uint32_t link, uint64_t *bytes)
{
    if (!t->ref)
        return sim_in_flight(t->sim, link, bytes);
    uint32_t n = 0;
    for (uint32_t i = 0; i < t->ref->n_events; i++) {
        const struct event *e = &t->ref->events[i];
        if (e->kind == SIM_ARRIVAL && e->link == link && e->frame.kind != FRAME_PAUSE) {
            *bytes += e->frame.bytes;
            n++;
        }
    }
    return n;
}

static uint64_t draw(struct toy_node *node, uint64_t below)
{
    node->hash = xoff_mix64(node->hash + UINT64_C(0x9e3779b97f4a7c15));
    return (node->hash >> 20) % below;
}

static void absorb(struct toy_node *node, xoff_time now, uint32_t kind, uint32_t port,
                   uint64_t what)
{
    node->hash = xoff_mix64(node->hash ^ xoff_mix64((uint64_t)now));
    node->hash = xoff_mix64(node->hash + what + 31 * kind + 1009 * (uint64_t)port);
}

static void arm(struct toy *t, struct worker *w, uint32_t index, uint32_t port)
{
    const xoff_time now = sim_now(w), free_at = t->nodes[index].ports[port].free_at;
    toy_at_transmit(t, w, index, port, free_at > now ? free_at : now);
}

static void enqueue(struct toy *t, struct worker *w, uint32_t index, uint16_t ttl)
{
    struct toy_node *node = &t->nodes[index];
    const uint32_t port = (uint32_t)draw(node, node->n_ports);
    struct toy_port *p = &node->ports[port];
    if (p->n_waiting == MAX_WAITING)
        return;
    p->waiting[p->n_waiting].payload = draw(node, UINT64_MAX);
    p->waiting[p->n_waiting++].ttl = ttl;
    if (!p->is_armed)
        arm(t, w, index, port);
}

/* Arms, moves or cancels the timer or a transmission; sometimes for this very moment. */
static void meddle(struct toy *t, struct worker *w, uint32_t index)
{
    struct toy_node *node = &t->nodes[index];
    const xoff_time now = sim_now(w);
    const xoff_time later = now + UNIT * (xoff_time)draw(node, 40);
    const uint32_t port = (uint32_t)draw(node, node->n_ports);
    switch (draw(node, 9)) {
    case 0:
        toy_at_timer(t, w, index, XOFF_NEVER);
        break;
    case 1:
        toy_at_timer(t, w, index, now);
        break;
    case 2:
    case 3:
        toy_at_timer(t, w, index, later);
        break;
    case 4:
        toy_at_transmit(t, w, index, port, XOFF_NEVER);
        break;
    case 5:
    case 6:
        toy_at_transmit(t, w, index, port, later);
        break;
    default:
        break;
    }
}

static void toy_arrive(void *net, struct worker *w, uint32_t index, uint32_t port,
                       const struct frame *f)
{
    struct toy *t = net;
    struct toy_node *node = &t->nodes[index];
    const xoff_time now = sim_now(w);
    if (!t->ref && has_extra) /* the second line came along */
        for (uint32_t i = 0; i < sizeof(struct frame_extra); i++)
            assert_int_equal(((const unsigned char *)(f + 1))[i], f->seq & 0xff);
    absorb(node, now, SIM_ARRIVAL, port, f->seq ^ f->payload ^ (uint64_t)(f->at - now));
    const uint16_t ttl = f->payload;
    if (ttl > 0)
        for (uint64_t n = (draw(node, 8) + 5) / 6; n > 0; n--) /* 1, in one of 8 cases 2 */
            enqueue(t, w, index, (uint16_t)(ttl - 1));
    meddle(t, w, index);
}

static void toy_transmit_once(struct toy *t, struct worker *w, uint32_t index, uint32_t port)
{
    struct toy_node *node = &t->nodes[index];
    struct toy_port *p = &node->ports[port];
    const xoff_time now = sim_now(w);
    absorb(node, now, SIM_TRANSMIT, port, p->n_waiting);
    p->is_armed = false;
    if (now >= p->free_at && p->n_waiting) {
        const uint64_t units = 1 + draw(node, 3);
        const xoff_time sending_for = (xoff_time)units * p->step;
        const struct frame f = {.seq = p->waiting[0].payload,
                                .payload = p->waiting[0].ttl,
                                .bytes = (uint16_t)(64 * units),
                                .kind = draw(node, 5) ? FRAME_DATA : FRAME_PAUSE};
        memmove(&p->waiting[0], &p->waiting[1], --p->n_waiting * sizeof p->waiting[0]);
        p->free_at = now + sending_for + (draw(node, 4) ? UNIT : 0);
        toy_send(t, w, p->link, &f, now + sending_for + p->delay);
    }
}

static void toy_transmit(void *net, struct worker *w, uint32_t index, uint32_t port)
{
    struct toy *t = net;
    struct toy_node *node = &t->nodes[index];
    const struct toy_port *p = &node->ports[port];
    for (;;) {
        toy_transmit_once(t, w, index, port);
        if (!p->n_waiting)
            return;
        const xoff_time next = p->free_at > sim_now(w) ? p->free_at : sim_now(w);
        if (!draw(node, 2) || !toy_advance(t, w, index, next))
            break;
    }
    arm(t, w, index, port);
}

static void toy_timer(void *net, struct worker *w, uint32_t index)
{
    struct toy *t = net;
    struct toy_node *node = &t->nodes[index];
    const xoff_time now = sim_now(w);
    absorb(node, now, SIM_TIMER, 0, node->budget);
    for (uint32_t p = 0; p < node->n_ports; p++)
        if (node->ports[p].n_waiting && !node->ports[p].is_armed)
            arm(t, w, index, p);
    if (node->budget) {
        node->budget--;
        enqueue(t, w, index, 8);
        toy_at_timer(t, w, index, now + UNIT * (xoff_time)(1 + draw(node, 30)));
    }
    meddle(t, w, index);
}

static xoff_time toy_next_instant(const struct toy *t)
{
    return t->next_instant < t->n_instants ? t->instants[t->next_instant].at : XOFF_NEVER;
}

/* Looks at everything, so that an event too many or too few shows; then interferes. */
static xoff_time toy_instant(void *net, xoff_time now)
{
    struct toy *t = net;
    struct worker *w = t->ref ? &t->ref->worker : sim_exclusive(t->sim);
    t->next_instant++;
    t->hash = xoff_mix64(t->hash ^ (uint64_t)now);
    for (uint32_t n = 0; n < t->n_nodes; n++)
        t->hash = xoff_mix64(t->hash ^ t->nodes[n].hash);
    for (uint32_t l = 0; l < t->n_links; l++) {
        uint64_t bytes = 0;
        t->hash = xoff_mix64(t->hash + toy_in_flight(t, l, &bytes));
        t->hash = xoff_mix64(t->hash + bytes);
    }
    for (uint32_t k = 0; k < 3; k++) {
        const uint32_t link = (uint32_t)(t->hash >> 8) % t->n_links;
        const uint32_t index = t->links[link].from_node;
        struct frame f = {.seq = t->hash, .payload = 4, .bytes = 64, .kind = FRAME_DATA};
        switch ((t->hash >> 40) % 4) {
        case 0:
            t->hash = xoff_mix64(t->hash + toy_flush(t, link));
            break;
        case 1:
            for (uint64_t n = (t->hash >> 50) % 40; n > 0; n--, f.seq++)
                toy_send(t, w, link, &f, now + t->links[link].lookahead);
            break;
        case 2:
            meddle(t, w, index);
            break;
        default:
            toy_at_timer(t, w, index, (t->hash >> 50) & 1 ? now : XOFF_NEVER);
            break;
        }
        t->hash = xoff_mix64(t->hash + k);
    }
    return toy_next_instant(t);
}

static void toy_sample(void *net, uint32_t index, xoff_time now)
{
    struct toy *t = net;
    absorb(&t->nodes[index], now, 3, 0, 0);
}

static bool toy_wants_sample(void *net, xoff_time now)
{
    const struct toy *t = net;
    (void)now;
    return t->instants[t->next_instant].samples;
}

static bool toy_has_changes(void *net)
{
    const struct toy *t = net;
    for (uint32_t i = t->next_instant; i < t->n_instants; i++)
        if (t->instants[i].wakes)
            return true;
    return false;
}

static bool toy_progress(void *net, xoff_time now, uint64_t arrivals)
{
    struct toy *t = net;
    (void)now;
    t->arrivals = arrivals;
    return true;
}

static void connect(struct toy *t, uint32_t a, uint32_t b, xoff_time step, xoff_time delay)
{
    if (t->n_ports[a] == MAX_PORTS || t->n_ports[b] == MAX_PORTS || t->n_links + 2 > MAX_LINKS)
        return;
    const uint32_t ends[2] = {a, b}, ports[2] = {t->n_ports[a]++, t->n_ports[b]++};
    for (uint32_t end = 0; end < 2; end++) {
        t->nodes[ends[end]].ports[ports[end]] =
            (struct toy_port){.link = t->n_links, .step = step, .delay = delay};
        t->links[t->n_links++] = (struct sim_link_spec){.from_node = ends[end],
                                                        .to_node = ends[!end],
                                                        .to_port = ports[!end],
                                                        .lookahead = step + delay};
    }
}

/* A tree with some more edges. 60 units are 403 ns: on either side of what automatic cells aim at.
 */
static void toy_make(struct toy *t, uint64_t seed)
{
    static const xoff_time delays[] = {0, 1, 15, 58, 59, 70, 150};
    struct xoff_rng rng;
    xoff_rng_init(&rng, seed, 1, 2);
    memset(t, 0, sizeof *t);
    t->n_nodes = 2 + (uint32_t)xoff_rng_below(&rng, MAX_NODES - 1);
    const bool has_instant_links = seed % 4 == 0;
    const uint64_t shortest = seed % 3; /* without the shortest, nodes stay apart */
    for (uint32_t n = 1; n < t->n_nodes + t->n_nodes / 2; n++) {
        const uint32_t a = n < t->n_nodes ? n : 1 + (uint32_t)xoff_rng_below(&rng, t->n_nodes - 1);
        const uint32_t b = (uint32_t)xoff_rng_below(&rng, a);
        if (has_instant_links && xoff_rng_below(&rng, 2))
            connect(t, a, b, 0, 0);
        else
            connect(t, a, b, UNIT * (xoff_time)(1 + xoff_rng_below(&rng, 2)),
                    UNIT * delays[shortest + xoff_rng_below(&rng, 7 - shortest)]);
    }
    for (uint32_t n = 0; n < t->n_nodes; n++) {
        t->nodes[n].n_ports = t->n_ports[n];
        t->nodes[n].hash = xoff_rng_u64(&rng);
        t->nodes[n].budget = (uint32_t)xoff_rng_below(&rng, 6);
    }
    t->n_instants = (uint32_t)xoff_rng_below(&rng, MAX_INSTANTS + 1);
    xoff_time at = 0;
    for (uint32_t i = 0; i < t->n_instants; i++) {
        t->instants[i].at = at +=
            UNIT * (xoff_time)(i > 0) + UNIT * (xoff_time)xoff_rng_below(&rng, 300);
        t->instants[i].wakes = xoff_rng_below(&rng, 2);
        t->instants[i].samples = xoff_rng_below(&rng, 2);
    }
}

static void toy_start(struct toy *t, struct worker *w)
{
    for (uint32_t n = 0; n < t->n_nodes; n++)
        if (t->nodes[n].hash % 2 == 0 || n == 0)
            toy_at_timer(t, w, n, UNIT * (xoff_time)(t->nodes[n].hash >> 8 & 15));
    const struct frame f = {.seq = 5, .payload = 9, .bytes = 64};
    for (uint32_t i = 0; i < 20; i++) /* more than a chunk holds */
        toy_send(t, w, 0, &f, t->links[0].lookahead);
}

static xoff_time ref_run(struct toy *t, xoff_time end)
{
    struct reference *ref = t->ref;
    toy_start(t, &ref->worker);
    for (;;) {
        const xoff_time next = ref->n_events ? ref->events[ref->n_events - 1].at : XOFF_NEVER;
        const xoff_time instant_at = toy_next_instant(t);
        if (next == XOFF_NEVER && !toy_has_changes(t)) {
            ref->is_at_rest = true;
            return ref->worker.now;
        }
        if (xoff_time_min(next, instant_at) >= end)
            return end;
        if (instant_at <= next) {
            ref->worker.now = instant_at;
            const bool samples = toy_wants_sample(t, instant_at);
            toy_instant(t, instant_at);
            for (uint32_t n = 0; samples && n < t->n_nodes; n++)
                toy_sample(t, n, instant_at);
            continue;
        }
        struct event e = ref->events[--ref->n_events];
        ref->worker.now = e.at;
        ref->n_handled++;
        if (e.kind == SIM_ARRIVAL)
            toy_arrive(t, &ref->worker, e.node, e.port, &e.frame);
        else if (e.kind == SIM_TRANSMIT)
            toy_transmit(t, &ref->worker, e.node, e.port);
        else
            toy_timer(t, &ref->worker, e.node);
    }
}

static const struct handlers toy_handlers = {toy_arrive, toy_transmit, toy_timer};
static const struct sim_model toy_model = {.instant = toy_instant,
                                           .sample = toy_sample,
                                           .wants_sample = toy_wants_sample,
                                           .has_changes = toy_has_changes,
                                           .progress = toy_progress};

/* Returns how often time was advanced within an event. */
static uint64_t check_equal(const struct toy *expected, uint64_t seed, uint32_t n_threads,
                            xoff_time bound, xoff_time end, xoff_time expected_end)
{
    static struct toy t;
    toy_make(&t, seed);
    struct sim_spec spec = {.n_nodes = t.n_nodes,
                            .n_ports = t.n_ports,
                            .links = t.links,
                            .n_links = t.n_links,
                            .n_threads = n_threads,
                            .cell_bound = bound,
                            .frame_for = seed % 3 ? 0 : XOFF_MS, /* one cell, where it is chosen */
                            .has_extra = has_extra,
                            .ties_by_port = ties_by_port,
                            .model = toy_model};
    give_handlers(&spec, &t, &toy_handlers);
    assert_int_equal(sim_create(&spec, &t.sim), 0);
    toy_start(&t, sim_exclusive(t.sim));
    const xoff_time reached = sim_run(t.sim, toy_next_instant(&t), end);
    const struct sim_figures figures = sim_figures(t.sim);

    uint64_t n_advanced = 0;
    for (uint32_t n = 0; n < t.n_nodes; n++)
        n_advanced += t.nodes[n].n_advanced;
    bool is_equal = reached == expected_end && t.hash == expected->hash &&
                    figures.events + n_advanced == expected->ref->n_handled &&
                    figures.is_at_rest == expected->ref->is_at_rest &&
                    t.next_instant == expected->next_instant;
    for (uint32_t n = 0; n < t.n_nodes; n++)
        is_equal &= t.nodes[n].hash == expected->nodes[n].hash;
    for (uint32_t l = 0; l < t.n_links; l++) {
        uint64_t bytes = 0, expected_bytes = 0;
        is_equal &= toy_in_flight(&t, l, &bytes) == toy_in_flight(expected, l, &expected_bytes);
        is_equal &= bytes == expected_bytes;
    }
    if (!is_equal)
        fail_msg("seed %llu, %u threads, cell bound %lld, end %lld: %llu events until %lld, "
                 "expected %llu until %lld",
                 (unsigned long long)seed, n_threads, (long long)bound, (long long)end,
                 (unsigned long long)figures.events, (long long)reached,
                 (unsigned long long)expected->ref->n_handled, (long long)expected_end);
    sim_destroy(t.sim);
    return n_advanced;
}

static void equals_the_reference(void **state)
{
    (void)state;
    static struct toy expected;
    static struct reference ref;
    static const xoff_time bounds[] = {0, XOFF_PARAM_AUTO, 17 * UNIT, 1000 * XOFF_S};
    uint64_t n_events = 0, n_at_rest = 0, n_advanced = 0;
    const uint64_t n_seeds = 300;
    for (uint64_t seed = 0; seed < n_seeds; seed++) {
        const xoff_time end = seed % 5 == 0 ? 1000 * UNIT + 1 : XOFF_S;
        has_extra = seed % 7 < 3;
        ties_by_port = seed % 11 < 4;
        memset(&ref, 0, sizeof ref);
        for (uint32_t l = 0; l < MAX_LINKS; l++)
            ref.last_at[l] = -1;
        toy_make(&expected, seed);
        expected.ref = &ref;
        const xoff_time expected_end = ref_run(&expected, end);
        n_events += ref.n_handled;
        n_at_rest += ref.is_at_rest;
        for (uint32_t b = 0; b < 4; b++)
            n_advanced += check_equal(&expected, seed, 1, bounds[b], end, expected_end);
        /* Every number of threads meets every bound in twelve seeds. */
        for (uint32_t b = 0; b < 3; b++)
            check_equal(&expected, seed, 2 + (uint32_t)(seed + b) % 3, bounds[(seed / 3 + b) % 4],
                        end, expected_end);
    }
    has_extra = ties_by_port = false;
    /* The toy is alive, and ends in both ways. */
    assert_true(n_events > 200 * n_seeds);
    assert_true(n_advanced > n_seeds);
    assert_true(n_at_rest > n_seeds / 10 && n_at_rest < n_seeds);
}

/* ---- A bare network for single promises: it logs, and does what the test's hooks do. ---- */

#define PROBE_NODES 8
#define PROBE_LOG 128

struct probe;

struct probe_node {
    alignas(64) xoff_time last_at, advanced_to;
    uint32_t n_arrivals, n_timers, n_transmits, n_samples;
    uint64_t next_seq; /* frames carry 0, 1, 2, ... */
    xoff_time arrived_at[PROBE_LOG], transmit_at[PROBE_LOG];
};

struct probe {
    struct sim *sim;
    struct probe_node nodes[PROBE_NODES];
    void (*arrive)(struct probe *p, struct worker *w, uint32_t node, const struct frame *f);
    void (*transmit)(struct probe *p, struct worker *w, uint32_t node, xoff_time now);
    void (*timer)(struct probe *p, struct worker *w, uint32_t node, xoff_time now);
    void (*instant)(struct probe *p, struct worker *w, xoff_time now);
    const xoff_time *instants;       /* ends with XOFF_NEVER */
    uint32_t next_instant, n_waking; /* the first n_waking are changes */
    uint64_t sent, stop_after_calls, n_calls, arrivals;
    xoff_time progress_at;
    xoff_time instant_at; /* the last one */
    _Atomic uint32_t wrong, n_received, n_sent;
    uint32_t n_lost;
    uint64_t lost_seq;
};

static void note(struct probe *p, uint32_t index, xoff_time now)
{
    struct probe_node *node = &p->nodes[index];
    if (now < node->last_at || now < p->instant_at)
        p->wrong++;
    if (p->instants && p->instants[p->next_instant] <= now)
        p->wrong++; /* an instant that is due has not happened */
    node->last_at = now;
}

static void probe_arrive(void *net, struct worker *w, uint32_t index, uint32_t port,
                         const struct frame *f)
{
    struct probe *p = net;
    const xoff_time now = sim_now(w);
    struct probe_node *node = &p->nodes[index];
    (void)port;
    note(p, index, now);
    if (f->at != now || f->seq != node->next_seq++)
        p->wrong++;
    if (node->n_arrivals < PROBE_LOG)
        node->arrived_at[node->n_arrivals] = f->at;
    node->n_arrivals++;
    if (p->arrive)
        p->arrive(p, w, index, f);
}

static void probe_transmit(void *net, struct worker *w, uint32_t index, uint32_t port)
{
    struct probe *p = net;
    const xoff_time now = sim_now(w);
    (void)port;
    note(p, index, now);
    struct probe_node *node = &p->nodes[index];
    if (node->n_transmits < PROBE_LOG)
        node->transmit_at[node->n_transmits] = now;
    node->n_transmits++;
    if (p->transmit)
        p->transmit(p, w, index, now);
}

static void probe_timer(void *net, struct worker *w, uint32_t index)
{
    struct probe *p = net;
    const xoff_time now = sim_now(w);
    note(p, index, now);
    p->nodes[index].n_timers++;
    if (p->timer)
        p->timer(p, w, index, now);
}

static xoff_time probe_instant(void *net, xoff_time now)
{
    struct probe *p = net;
    if (now != p->instants[p->next_instant++])
        p->wrong++;
    for (uint32_t n = 0; n < PROBE_NODES; n++)
        if (p->nodes[n].last_at >= now && now > 0)
            p->wrong++;
    p->instant_at = now;
    if (sim_now(sim_exclusive(p->sim)) != now)
        p->wrong++;
    if (p->instant)
        p->instant(p, sim_exclusive(p->sim), now);
    return p->instants[p->next_instant];
}

static void probe_sample(void *net, uint32_t node, xoff_time now)
{
    struct probe *p = net;
    if (now != p->instant_at)
        p->wrong++;
    p->nodes[node].n_samples++;
}

/* Every second instant, from the first. */
static bool probe_wants_sample(void *net, xoff_time now)
{
    const struct probe *p = net;
    (void)now;
    return p->next_instant % 2 == 0;
}

static bool probe_has_changes(void *net)
{
    const struct probe *p = net;
    return p->next_instant < p->n_waking;
}

static bool probe_progress(void *net, xoff_time now, uint64_t arrivals)
{
    struct probe *p = net;
    if (now < p->progress_at || arrivals < p->arrivals)
        p->wrong++;
    p->progress_at = now;
    p->arrivals = arrivals;
    return ++p->n_calls != p->stop_after_calls;
}

static const struct handlers probe_handlers = {probe_arrive, probe_transmit, probe_timer};
static const struct sim_model probe_model = {.instant = probe_instant,
                                             .sample = probe_sample,
                                             .wants_sample = probe_wants_sample,
                                             .has_changes = probe_has_changes,
                                             .progress = probe_progress};

/* A chain of nodes 0 - 1 - 2 ...; links[2 * i] leads from i to i + 1, links[2 * i + 1] back. Port 0
 * of a node faces its predecessor (of node 0: its successor). */
static void probe_create(struct probe *p, uint32_t n_nodes, const xoff_time *lookaheads,
                         uint32_t n_threads, xoff_time bound)
{
    uint32_t n_ports[PROBE_NODES];
    struct sim_link_spec links[2 * PROBE_NODES];
    memset(p, 0, sizeof *p);
    for (uint32_t n = 0; n < n_nodes; n++)
        n_ports[n] = n_nodes == 1 ? 0 : n == 0 || n == n_nodes - 1 ? 1 : 2;
    for (uint32_t n = 0; n + 1 < n_nodes; n++) {
        links[2 * n] = (struct sim_link_spec){
            .from_node = n, .to_node = n + 1, .to_port = 0, .lookahead = lookaheads[n]};
        links[2 * n + 1] = (struct sim_link_spec){
            .from_node = n + 1, .to_node = n, .to_port = n > 0, .lookahead = lookaheads[n]};
    }
    struct sim_spec spec = {.n_nodes = n_nodes,
                            .n_ports = n_ports,
                            .links = links,
                            .n_links = 2 * (n_nodes - 1),
                            .n_threads = n_threads,
                            .cell_bound = bound,
                            .model = probe_model};
    give_handlers(&spec, p, &probe_handlers);
    assert_int_equal(sim_create(&spec, &p->sim), 0);
}

static struct probe probe;

static void send_next(struct probe *p, struct worker *w, uint32_t link, xoff_time at)
{
    const struct frame f = {.seq = p->sent++, .bytes = 64, .kind = FRAME_DATA};
    sim_send(w, link, &f, at);
}

/* Before the run. */
static void set_timer(struct probe *p, uint32_t node, xoff_time at)
{
    sim_at_timer(sim_exclusive(p->sim), node, at);
}

static void set_transmit(struct probe *p, uint32_t node, xoff_time at)
{
    sim_at_transmit(sim_exclusive(p->sim), node, 0, at);
}

static void cells_by_bound(void **state)
{
    (void)state;
    static const xoff_time chain[] = {10 * XOFF_NS, 500 * XOFF_NS, 300 * XOFF_NS};
    static const xoff_time pair[] = {10 * XOFF_NS}, none[] = {0}, mixed[] = {0, 10 * XOFF_NS, 0};
    static const struct {
        const xoff_time *lookaheads;
        uint32_t n_nodes;
        xoff_time bound;
        uint32_t n_cells;
        xoff_time lookahead;
    } rows[] = {
        {chain, 4, 0, 4, 10 * XOFF_NS},
        {chain, 4, 10 * XOFF_NS, 4, 10 * XOFF_NS}, /* "less than" the bound */
        {chain, 4, 10 * XOFF_NS + 1, 3, 300 * XOFF_NS},
        {chain, 4, 300 * XOFF_NS, 3, 300 * XOFF_NS},
        {chain, 4, 300 * XOFF_NS + 1, 2, 500 * XOFF_NS},
        {chain, 4, 500 * XOFF_NS, 2, 500 * XOFF_NS},
        {chain, 4, 500 * XOFF_NS + 1, 1, QUEUE_MAX_WINDOW},
        {chain, 4, XOFF_NEVER, 1, 4 * XOFF_US},        /* any would do */
        {chain, 4, XOFF_PARAM_AUTO, 2, 500 * XOFF_NS}, /* the first that is worth a window */
        {chain + 1, 2, XOFF_PARAM_AUTO, 2, 500 * XOFF_NS},
        {pair, 2, XOFF_PARAM_AUTO, 2, 10 * XOFF_NS}, /* never all in one */
        /* A link that takes no time cannot lie between cells. */
        {none, 2, 0, 1, QUEUE_MAX_WINDOW},
        {none, 2, XOFF_PARAM_AUTO, 1, QUEUE_MAX_WINDOW},
        {mixed, 4, 0, 2, 10 * XOFF_NS},
        {mixed, 4, XOFF_PARAM_AUTO, 2, 10 * XOFF_NS},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        for (uint32_t n_threads = 1; n_threads <= 4; n_threads++) {
            probe_create(&probe, rows[i].n_nodes, rows[i].lookaheads, n_threads, rows[i].bound);
            const struct sim_figures figures = sim_figures(probe.sim);
            assert_int_equal(figures.n_cells, rows[i].n_cells);
            assert_true(figures.lookahead == rows[i].lookahead);
            sim_destroy(probe.sim);
        }
    sim_destroy(NULL);
}

/* Three nodes with 500 ns between them. Frames of 2 us fit four times into a window; from 2000004
 * ps on (a quarter of which is 500001 ps) one thread takes all in one cell, in windows of eight
 * frames. Several threads, and a bound that is stated, have it their way. */
static void one_cell_for_slow_links(void **state)
{
    (void)state;
    static const struct {
        uint32_t n_threads;
        xoff_time bound, frame_for;
        uint32_t n_cells;
        xoff_time lookahead;
    } rows[] = {
        {1, XOFF_PARAM_AUTO, 2000003, 3, 500 * XOFF_NS},
        {1, XOFF_PARAM_AUTO, 2000004, 1, 16000032},
        {2, XOFF_PARAM_AUTO, 2000004, 3, 500 * XOFF_NS},
        {1, 0, 2000004, 3, 500 * XOFF_NS},
        {1, XOFF_PARAM_AUTO, QUEUE_MAX_WINDOW, 1, QUEUE_MAX_WINDOW},
    };
    static const uint32_t n_ports[] = {1, 2, 1};
    static const struct sim_link_spec links[] = {{0, 0, 1, 0, 500 * XOFF_NS},
                                                 {1, 0, 0, 0, 500 * XOFF_NS},
                                                 {1, 1, 2, 0, 500 * XOFF_NS},
                                                 {2, 0, 1, 1, 500 * XOFF_NS}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct sim *sim;
        const struct sim_spec spec = {.n_nodes = 3,
                                      .n_ports = n_ports,
                                      .links = links,
                                      .n_links = 4,
                                      .n_threads = rows[i].n_threads,
                                      .cell_bound = rows[i].bound,
                                      .frame_for = rows[i].frame_for,
                                      .model = probe_model};
        assert_int_equal(sim_create(&spec, &sim), 0);
        const struct sim_figures figures = sim_figures(sim);
        assert_int_equal(figures.n_cells, rows[i].n_cells);
        assert_true(figures.lookahead == rows[i].lookahead);
        sim_destroy(sim);
    }
}

/* Two stars with h hosts each, 10 ns, joined by 1 us: a star has 2 (h + 1) + 1 slots in its switch
 * and 3 in each host, 5 h + 3 in all. */
static struct sim_figures create_stars(uint32_t n_hosts, xoff_time bound)
{
    const uint32_t n_nodes = 2 * n_hosts + 2, n_links = 4 * n_hosts + 2;
    uint32_t *n_ports = malloc(n_nodes * sizeof *n_ports);
    struct sim_link_spec *links = malloc(n_links * sizeof *links);
    assert_true(n_ports && links);
    uint32_t l = 0;
    for (uint32_t s = 0; s < 2; s++) {
        n_ports[s] = n_hosts + 1;
        links[l++] = (struct sim_link_spec){s, n_hosts, !s, n_hosts, XOFF_US};
        for (uint32_t h = 0; h < n_hosts; h++) {
            const uint32_t host = 2 + s * n_hosts + h;
            n_ports[host] = 1;
            links[l++] = (struct sim_link_spec){host, 0, s, h, 10 * XOFF_NS};
            links[l++] = (struct sim_link_spec){s, h, host, 0, 10 * XOFF_NS};
        }
    }
    struct sim *sim;
    const struct sim_spec spec = {.n_nodes = n_nodes,
                                  .n_ports = n_ports,
                                  .links = links,
                                  .n_links = n_links,
                                  .n_threads = 2,
                                  .cell_bound = bound,
                                  .model = probe_model};
    assert_int_equal(sim_create(&spec, &sim), 0);
    const struct sim_figures figures = sim_figures(sim);
    sim_destroy(sim);
    free(n_ports), free(links);
    return figures;
}

static void cells_stay_small(void **state)
{
    (void)state;
    assert_int_equal(create_stars(818, XOFF_PARAM_AUTO).n_cells, 2);    /* 4093 slots <= 4096 */
    assert_int_equal(create_stars(819, XOFF_PARAM_AUTO).n_cells, 1640); /* 4098 */
    assert_int_equal(create_stars(819, XOFF_NS * 11).n_cells, 2);       /* as stated */
    assert_int_equal(create_stars(13106, XOFF_NS * 11).n_cells, 2);     /* 65533 <= 65535 */
    assert_int_equal(create_stars(13107, XOFF_NS * 11).n_cells, 26216); /* 65538: automatic */
}

/* 3000 frames in one event, again and again, beside a receiver that is busy with the last burst. */
static void burst(struct probe *p, struct worker *w, uint32_t node, xoff_time now)
{
    for (uint32_t i = 0; i < 3000; i++)
        send_next(p, w, 0, now + 1000 + i);
    if (p->sent < 12000)
        sim_at_transmit(w, node, 0, now + 700);
}

static void bursts_take_chunks(void **state)
{
    (void)state;
    static const xoff_time lookaheads[] = {1000, 1000};
    for (uint32_t n_threads = 1; n_threads <= 3; n_threads++)
        for (uint32_t together = 0; together < 2; together++) {
            probe_create(&probe, 3, lookaheads, n_threads, together ? 2000 : 0);
            assert_int_equal(probe.sim->links[0].is_shared, n_threads > 1 && !together);
            probe.transmit = burst;
            set_transmit(&probe, 0, 5);
            /* The first arrives at 5 + 1000, the others each 1 ps behind the one before. */
            assert_int_equal(sim_run(probe.sim, XOFF_NEVER, XOFF_S), 5 + 1000 + 11999);
            assert_int_equal(probe.nodes[1].n_arrivals, 12000);
            assert_int_equal(probe.wrong, 0);
            uint64_t bytes = 0;
            assert_int_equal(sim_in_flight(probe.sim, 0, &bytes), 0);
            sim_destroy(probe.sim);
        }
}

/* Sender and receiver of a link go hand in hand in one window: the receiver takes the last frame of
 * a chunk, and then the first of the next, while the sender begins others behind it. */
static void wait_for(_Atomic uint32_t *count, uint32_t least)
{
    for (uint32_t i = 0; atomic_load(count) < least && i < 10000000; i++)
        sched_yield();
}

static void send_in_step(struct probe *p, struct worker *w, uint32_t node, xoff_time now)
{
    (void)node;
    for (uint32_t i = 0; i < (now == 0 ? 16 : 9); i++) {
        if (i == 1 && now > 0) {
            p->n_sent = 1; /* the receiver may begin */
            wait_for(&p->n_received, 4);
        }
        send_next(p, w, 0, now + 1000 + i);
    }
}

static void receive_in_step(struct probe *p, struct worker *w, uint32_t node, const struct frame *f)
{
    (void)w, (void)node;
    if (f->seq == 0)
        wait_for(&p->n_sent, 1);
    p->n_received++;
}

static void ends_of_a_link_run_at_once(void **state)
{
    (void)state;
    static const xoff_time lookaheads[] = {1000};
    probe_create(&probe, 2, lookaheads, 2, 0);
    assert_true(probe.sim->links[0].is_shared);
    probe.transmit = send_in_step;
    probe.arrive = receive_in_step;
    probe.timer = send_in_step;
    set_transmit(&probe, 0, 0);
    set_timer(&probe, 0, 1000);
    assert_int_equal(sim_run(probe.sim, XOFF_NEVER, XOFF_S), 2008);
    assert_int_equal(probe.nodes[1].n_arrivals, 25);
    assert_int_equal(probe.wrong, 0);
    sim_destroy(probe.sim);
}

/* Two cells of one share wait for each other in a window: another thread has to run the second. */
static void meet(struct probe *p, struct worker *w, uint32_t node, xoff_time now)
{
    (void)w, (void)node, (void)now;
    p->n_sent++;
    wait_for(&p->n_sent, 2);
    if (p->n_sent < 2)
        p->wrong++;
}

static void threads_help_each_other(void **state)
{
    (void)state;
    static const xoff_time lookaheads[] = {1000, 1000, 1000};
    probe_create(&probe, 4, lookaheads, 2, 0);
    const struct sim *sim = probe.sim;
    uint32_t n = 0;
    for (uint32_t node = 0; node < 4; node++)
        if (sim->cells[sim->cell_of[node]].owner == 1) {
            set_timer(&probe, node, 5);
            n++;
        }
    assert_int_equal(n, 2);
    probe.timer = meet;
    assert_int_equal(sim_run(probe.sim, XOFF_NEVER, XOFF_S), 5);
    assert_int_equal(probe.wrong, 0);
    sim_destroy(probe.sim);
}

/* Frames go one way, for as long as it takes to fill a pile of chunks many times over. Chunks come
 * back to the sender: the ranges of the threads are not used up. */
static void send_some(struct probe *p, struct worker *w, uint32_t node, xoff_time now)
{
    for (uint32_t i = 0; i < 80; i++)
        send_next(p, w, 0, now + 1000 + i);
    if (now < 2000000)
        sim_at_transmit(w, node, 0, now + 1000);
}

static void chunks_come_back(void **state)
{
    (void)state;
    static const xoff_time lookaheads[] = {1000};
    for (uint32_t n_threads = 1; n_threads <= 2; n_threads++) {
        probe_create(&probe, 2, lookaheads, n_threads, 0);
        uint32_t n_used = 0;
        for (uint32_t i = 0; i < n_threads; i++)
            n_used -= probe.sim->threads[i]->new_chunk;
        probe.transmit = send_some;
        set_transmit(&probe, 0, 0);
        sim_run(probe.sim, XOFF_NEVER, XOFF_S);
        assert_int_equal(probe.nodes[1].n_arrivals, 2001 * 80);
        assert_int_equal(probe.wrong, 0);
        for (uint32_t i = 0; i < n_threads; i++)
            n_used += probe.sim->threads[i]->new_chunk;
        assert_in_range(n_used, 1, 2000); /* of 20010 that were filled */
        sim_destroy(probe.sim);
    }
}

/* A shortened delay: the second frame would arrive before the first and is moved behind it, and so
 * is the third, which would arrive at the same time as the second. */
static void overtake(struct probe *p, struct worker *w, uint32_t node, xoff_time now)
{
    (void)node, (void)now;
    send_next(p, w, 0, 5000);
    send_next(p, w, 0, 4000);
    send_next(p, w, 0, 5001);
}

static void frames_never_overtake(void **state)
{
    (void)state;
    static const xoff_time lookaheads[] = {1000};
    for (uint32_t n_threads = 1; n_threads <= 2; n_threads++) {
        probe_create(&probe, 2, lookaheads, n_threads, 0);
        probe.transmit = overtake;
        set_transmit(&probe, 0, 10);
        assert_int_equal(sim_run(probe.sim, XOFF_NEVER, XOFF_S), 5002);
        assert_int_equal(probe.nodes[1].n_arrivals, 3);
        assert_true(probe.nodes[1].arrived_at[0] == 5000);
        assert_true(probe.nodes[1].arrived_at[1] == 5001);
        assert_true(probe.nodes[1].arrived_at[2] == 5002);
        assert_int_equal(probe.wrong, 0);
        sim_destroy(probe.sim);
    }
}

/* All nodes are busy every 50 ps; windows would be 1000 long. note() and probe_instant() check that
 * each instant comes after all that is before it and before all that is at it. */
static void tick(struct probe *p, struct worker *w, uint32_t node, xoff_time now)
{
    (void)p;
    if (now < 10000)
        sim_at_timer(w, node, now + 50);
}

static void instants_are_exact(void **state)
{
    (void)state;
    static const xoff_time lookaheads[] = {1000, 1000, 1000};
    static const xoff_time instants[] = {0,    1,    50,   51,    999,   1000,
                                         1001, 3333, 9999, 10000, 10001, XOFF_NEVER};
    static const xoff_time bounds[] = {0, 2000};
    for (uint32_t n_threads = 1; n_threads <= 4; n_threads++)
        for (uint32_t b = 0; b < 2; b++) {
            probe_create(&probe, 4, lookaheads, n_threads, bounds[b]);
            probe.timer = tick;
            probe.instants = instants;
            for (uint32_t n = 0; n < 4; n++)
                set_timer(&probe, n, 0);
            assert_int_equal(sim_run(probe.sim, 0, XOFF_S), 10000);
            assert_int_equal(probe.wrong, 0);
            assert_int_equal(probe.next_instant, 10); /* nothing is left for the one at 10001 */
            for (uint32_t n = 0; n < 4; n++) {
                assert_int_equal(probe.nodes[n].n_timers, 201);
                assert_int_equal(probe.nodes[n].n_samples, 5);
            }
            assert_true(sim_figures(probe.sim).is_at_rest);
            sim_destroy(probe.sim);
        }
}

/* Events before `end` happen, those at it do not; the same for instants. */
static void ends_at_the_end(void **state)
{
    (void)state;
    static const xoff_time lookaheads[] = {1000};
    static const xoff_time instants[] = {9998, 9999, XOFF_NEVER};
    for (uint32_t n_threads = 1; n_threads <= 2; n_threads++) {
        for (xoff_time end = 9998; end <= 10000; end++) {
            probe_create(&probe, 2, lookaheads, n_threads, 0);
            probe.instants = instants;
            set_timer(&probe, 0, 9999);
            set_timer(&probe, 1, 10000);
            assert_int_equal(sim_run(probe.sim, instants[0], end), end);
            assert_int_equal(probe.nodes[0].n_timers, end == 10000);
            assert_int_equal(probe.nodes[1].n_timers, 0);
            assert_int_equal(probe.next_instant, end - 9998);
            assert_false(sim_figures(probe.sim).is_at_rest);
            assert_int_equal(probe.wrong, 0);
            sim_destroy(probe.sim);
        }
        probe_create(&probe, 2, lookaheads, n_threads, 0);
        set_timer(&probe, 1, 10000);
        assert_int_equal(sim_run(probe.sim, XOFF_NEVER, 10001), 10000);
        assert_true(sim_figures(probe.sim).is_at_rest);
        sim_destroy(probe.sim);
    }
}

/* A network with nothing to do ends at once; one that changes may wake does not. */
static void wake_at_300(struct probe *p, struct worker *w, xoff_time now)
{
    (void)p;
    if (now == 300)
        sim_at_timer(w, 1, 4000);
}

static void ends_at_rest(void **state)
{
    (void)state;
    static const xoff_time lookaheads[] = {1000};
    static const xoff_time instants[] = {100, 200, 300, 400, 5000, XOFF_NEVER};
    for (uint32_t n_threads = 1; n_threads <= 2; n_threads++) {
        for (uint32_t n_waking = 0; n_waking <= 3; n_waking++) {
            probe_create(&probe, 2, lookaheads, n_threads, 0);
            probe.instants = instants;
            probe.n_waking = n_waking;
            probe.instant = wake_at_300;
            const xoff_time reached = sim_run(probe.sim, instants[0], XOFF_S);
            assert_true(sim_figures(probe.sim).is_at_rest);
            /* Woken at 300, it is busy until 4000 and sees the instant at 400, not that at 5000. */
            assert_int_equal(probe.next_instant, n_waking == 3 ? 4 : n_waking);
            assert_int_equal(reached, n_waking == 3 ? 4000 : 100 * (xoff_time)n_waking);
            assert_int_equal(probe.nodes[1].n_timers, n_waking == 3);
            assert_int_equal(probe.wrong, 0);
            sim_destroy(probe.sim);
        }
        /* Changes are announced but never come. */
        probe_create(&probe, 2, lookaheads, n_threads, 0);
        probe.n_waking = 1;
        assert_int_equal(sim_run(probe.sim, XOFF_NEVER, 777), 777);
        assert_false(sim_figures(probe.sim).is_at_rest);
        sim_destroy(probe.sim);
    }
}

/* What an instant cancels leaves no trace: the run is at rest after the other node's last event, so
 * the instant at 2000 is not held, whether the two share a cell or not. */
static void cancel_at_10(struct probe *p, struct worker *w, xoff_time now)
{
    (void)p;
    if (now == 10)
        sim_at_timer(w, 1, XOFF_NEVER);
}

static void cancelled_events_leave_no_trace(void **state)
{
    (void)state;
    static const xoff_time lookaheads[] = {1000};
    static const xoff_time instants[] = {10, 2000, XOFF_NEVER};
    for (uint32_t n_threads = 1; n_threads <= 2; n_threads++)
        for (xoff_time bound = 0; bound <= 1001; bound += 1001)
            for (uint32_t early = 0; early < 2; early++) {
                probe_create(&probe, 2, lookaheads, n_threads, bound);
                probe.instants = instants + early; /* those at 10 and 2000, or the latter */
                probe.instant = cancel_at_10;
                set_timer(&probe, 0, 50);
                set_timer(&probe, 1, 3000);
                if (early)
                    set_timer(&probe, 1, XOFF_NEVER);
                assert_int_equal(sim_run(probe.sim, instants[early], XOFF_S), 50);
                assert_int_equal(probe.next_instant, !early);
                assert_int_equal(probe.nodes[1].n_timers, 0);
                sim_destroy(probe.sim);
            }
}

/* An instant that names an earlier one as the next ends the run there: with its samples, without
 * what was due at the same time. */
static void ends_at_an_instant(void **state)
{
    (void)state;
    static const xoff_time lookaheads[] = {1000};
    static const xoff_time instants[] = {100, 99, XOFF_NEVER};
    for (uint32_t n_threads = 1; n_threads <= 3; n_threads++)
        for (xoff_time bound = 0; bound <= 1001; bound += 1001) {
            probe_create(&probe, 2, lookaheads, n_threads, bound);
            probe.instants = instants;
            set_timer(&probe, 0, 99);
            set_timer(&probe, 1, 100);
            assert_int_equal(sim_run(probe.sim, instants[0], XOFF_S), 100);
            assert_int_equal(probe.nodes[0].n_timers, 1);
            assert_int_equal(probe.nodes[1].n_timers, 0);
            assert_int_equal(probe.nodes[1].n_samples, 1);
            assert_false(sim_figures(probe.sim).is_at_rest);
            assert_int_equal(probe.wrong, 0);
            sim_destroy(probe.sim);
        }
}

/* Timers every 1000, a window each: the third call says stop, so the third window is the last. */
static void tick_slowly(struct probe *p, struct worker *w, uint32_t node, xoff_time now)
{
    (void)p;
    send_next(p, w, 0, now + 1000);
    sim_at_timer(w, node, now + 1000);
}

static void ends_when_told(void **state)
{
    (void)state;
    static const xoff_time lookaheads[] = {1000};
    for (uint32_t n_threads = 1; n_threads <= 3; n_threads++) {
        probe_create(&probe, 2, lookaheads, n_threads, 0);
        probe.timer = tick_slowly;
        probe.stop_after_calls = 3;
        set_timer(&probe, 0, 0);
        assert_int_equal(sim_run(probe.sim, XOFF_NEVER, XOFF_S), 3000);
        assert_int_equal(probe.nodes[0].n_timers, 3);
        assert_int_equal(probe.nodes[1].n_arrivals, 2);
        assert_int_equal(probe.n_calls, 3);
        assert_int_equal(probe.arrivals, 1); /* before the third window */
        assert_int_equal(probe.progress_at, 2000);
        assert_false(sim_figures(probe.sim).is_at_rest);
        uint64_t bytes = 0;
        assert_int_equal(sim_in_flight(probe.sim, 0, &bytes), 1);
        assert_int_equal(bytes, 64);
        assert_int_equal(probe.wrong, 0);
        sim_destroy(probe.sim);
    }
}

/* Idle time costs nothing: two events a second apart, windows of 1 ns. */
static void skips_idle_time(void **state)
{
    (void)state;
    static const xoff_time lookaheads[] = {1000};
    for (uint32_t n_threads = 1; n_threads <= 2; n_threads++) {
        probe_create(&probe, 2, lookaheads, n_threads, 0);
        set_timer(&probe, 0, 7);
        set_timer(&probe, 1, XOFF_S);
        assert_int_equal(sim_run(probe.sim, XOFF_NEVER, 2 * XOFF_S), XOFF_S);
        /* One for each event and the one that finds nothing. */
        assert_int_equal(sim_figures(probe.sim).windows, 3);
        assert_int_equal(sim_figures(probe.sim).events, 2);
        sim_destroy(probe.sim);
    }
}

/* A transmission at 100 would go on at 150, 200, ...; the other node of the cell has a timer at
 * 250, and there is an instant at 400. Time moves on up to just before either. */
static void advance(struct probe *p, struct worker *w, uint32_t node, xoff_time now)
{
    xoff_time next = now + 50;
    for (; sim_advance(w, next); next += 50)
        if (sim_now(w) != next)
            p->wrong++;
    if (sim_now(w) != next - 50)
        p->wrong++;
    p->nodes[node].advanced_to = sim_now(w);
    if (next < 600)
        sim_at_transmit(w, node, 0, next);
}

static void time_advances_up_to_the_next_event(void **state)
{
    (void)state;
    static const xoff_time lookaheads[] = {1000};
    static const xoff_time instants[] = {400, XOFF_NEVER};
    for (xoff_time timer_at = 249; timer_at <= 251; timer_at++)
        for (xoff_time bound = 0; bound <= 1001; bound += 1001) {
            probe_create(&probe, 2, lookaheads, 1, bound);
            probe.transmit = advance;
            probe.instants = instants;
            set_transmit(&probe, 0, 100);
            set_timer(&probe, 1, timer_at);
            assert_false(sim_advance(sim_exclusive(probe.sim), 5));
            sim_run(probe.sim, instants[0], 601);
            /* Events at 100, at 250 or, when the timer comes later, 300 (only if both share a
             * cell), at 400; the last goes on to 600, the run's last moment. */
            const uint32_t n_events = bound ? 3 : 2;
            const struct probe_node *node = &probe.nodes[0];
            assert_int_equal(node->n_transmits, n_events);
            assert_int_equal(node->transmit_at[0], 100);
            if (bound)
                assert_int_equal(node->transmit_at[1], timer_at <= 250 ? 250 : 300);
            assert_int_equal(node->transmit_at[n_events - 1], 400);
            assert_int_equal(node->advanced_to, 600);
            assert_int_equal(probe.nodes[1].n_timers, 1);
            assert_int_equal(probe.wrong, 0);
            sim_destroy(probe.sim);
        }
}

/* Ping-pong with more threads than there is work for. */
static void pass_on(struct probe *p, struct worker *w, uint32_t node, const struct frame *f)
{
    (void)p;
    if (f->seq == 10)
        return;
    const struct frame next = {.seq = node == 1 ? f->seq : f->seq + 1, .bytes = 64};
    sim_send(w, node == 1 ? 1 : 0, &next, f->at + 1000);
}

static void more_threads_than_cells(void **state)
{
    (void)state;
    static const xoff_time lookaheads[] = {1000};
    for (uint32_t n_threads = 1; n_threads <= 8; n_threads++)
        for (xoff_time bound = 0; bound <= 1001; bound += 1001) {
            probe_create(&probe, 2, lookaheads, n_threads, bound);
            probe.arrive = pass_on;
            send_next(&probe, sim_exclusive(probe.sim), 0, 1000);
            /* Frames 0 to 10 go there, 0 to 9 come back: 21 hops. */
            assert_int_equal(sim_run(probe.sim, XOFF_NEVER, XOFF_S), 21000);
            assert_int_equal(probe.nodes[1].n_arrivals, 11);
            assert_int_equal(probe.nodes[0].n_arrivals, 10);
            assert_int_equal(probe.arrivals, 21);
            assert_int_equal(probe.wrong, 0);
            sim_destroy(probe.sim);

            probe_create(&probe, 1, lookaheads, n_threads, bound);
            set_timer(&probe, 0, 5);
            assert_int_equal(sim_run(probe.sim, XOFF_NEVER, XOFF_S), 5);
            assert_int_equal(probe.nodes[0].n_timers, 1);
            sim_destroy(probe.sim);
        }
}

static void on_lost(void *context, const struct frame *f)
{
    struct probe *p = context;
    if (f->seq != p->lost_seq++)
        p->wrong++;
    p->n_lost++;
}

/* Frames 0 to 4, the second a pause frame, sent at 0 to arrive at 1000, 2000, ...; at 2000 the link
 * is cut, with 1 to 4 on it. */
static void send_five(struct probe *p, struct worker *w, uint32_t node, xoff_time now)
{
    (void)node;
    for (uint32_t i = 1; i <= 5; i++) {
        const struct frame f = {.seq = p->sent++,
                                .bytes = (uint16_t)(100 * i),
                                .kind = i == 2 ? FRAME_PAUSE : FRAME_DATA};
        sim_send(w, 0, &f, now + 1000 * (xoff_time)i);
    }
}

static void cut(struct probe *p, struct worker *w, xoff_time now)
{
    uint64_t bytes = 1; /* it adds */
    if (now == 2001) {
        send_next(p, w, 0, 6000);
        return;
    }
    if (sim_in_flight(p->sim, 0, &bytes) != 3 || bytes != 1 + 300 + 400 + 500)
        p->wrong++;
    p->lost_seq = 1;
    if (sim_flush_link(p->sim, 0, p, on_lost) != 4 || p->n_lost != 4)
        p->wrong++;
    if (sim_in_flight(p->sim, 0, &bytes) != 0 || sim_flush_link(p->sim, 0, p, on_lost) != 0)
        p->wrong++;
    p->nodes[1].next_seq = 5;
}

static void flush_empties_a_link(void **state)
{
    (void)state;
    static const xoff_time lookaheads[] = {1000};
    static const xoff_time instants[] = {2000, 2001, XOFF_NEVER};
    for (uint32_t n_threads = 1; n_threads <= 2; n_threads++)
        for (xoff_time bound = 0; bound <= 1001; bound += 1001) {
            probe_create(&probe, 2, lookaheads, n_threads, bound);
            probe.transmit = send_five;
            probe.instants = instants;
            probe.n_waking = 2;
            probe.instant = cut;
            set_transmit(&probe, 0, 0);
            assert_int_equal(sim_run(probe.sim, instants[0], XOFF_S), 6000);
            assert_int_equal(probe.nodes[1].n_arrivals, 2);
            assert_true(probe.nodes[1].arrived_at[0] == 1000);
            assert_true(probe.nodes[1].arrived_at[1] == 6000);
            assert_int_equal(probe.wrong, 0);
            sim_destroy(probe.sim);
        }
}

/* Frames sent before the run and from an instant, more than a chunk holds, arrive at their time
 * even when what is pending elsewhere is later, or nothing is. */
static void send_forty(struct probe *p, struct worker *w, xoff_time now)
{
    for (uint32_t i = 0; i < 40; i++)
        send_next(p, w, 0, now + 1000 + i);
}

static void sends_between_windows(void **state)
{
    (void)state;
    static const xoff_time lookaheads[] = {1000};
    static const xoff_time instants[] = {5000, XOFF_NEVER};
    for (uint32_t n_threads = 1; n_threads <= 2; n_threads++)
        for (uint32_t is_busy = 0; is_busy < 2; is_busy++) {
            probe_create(&probe, 2, lookaheads, n_threads, 0);
            send_forty(&probe, sim_exclusive(probe.sim), 0);
            if (is_busy)
                set_timer(&probe, 0, 20000);
            probe.instants = instants;
            probe.n_waking = 1;
            probe.instant = send_forty;
            assert_int_equal(sim_run(probe.sim, instants[0], XOFF_S), is_busy ? 20000 : 6039);
            assert_int_equal(probe.nodes[1].n_arrivals, 80);
            assert_true(probe.nodes[1].arrived_at[0] == 1000);
            assert_true(probe.nodes[1].arrived_at[39] == 1039);
            assert_true(probe.nodes[1].arrived_at[40] == 6000);
            assert_true(probe.nodes[1].arrived_at[79] == 6039);
            assert_int_equal(probe.wrong, 0);
            sim_destroy(probe.sim);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cells_by_bound),
        cmocka_unit_test(one_cell_for_slow_links),
        cmocka_unit_test(cells_stay_small),
        cmocka_unit_test(bursts_take_chunks),
        cmocka_unit_test(ends_of_a_link_run_at_once),
        cmocka_unit_test(threads_help_each_other),
        cmocka_unit_test(chunks_come_back),
        cmocka_unit_test(frames_never_overtake),
        cmocka_unit_test(instants_are_exact),
        cmocka_unit_test(ends_at_the_end),
        cmocka_unit_test(ends_at_rest),
        cmocka_unit_test(cancelled_events_leave_no_trace),
        cmocka_unit_test(ends_at_an_instant),
        cmocka_unit_test(ends_when_told),
        cmocka_unit_test(skips_idle_time),
        cmocka_unit_test(time_advances_up_to_the_next_event),
        cmocka_unit_test(more_threads_than_cells),
        cmocka_unit_test(flush_empties_a_link),
        cmocka_unit_test(sends_between_windows),
        cmocka_unit_test(equals_the_reference),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
