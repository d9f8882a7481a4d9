/* The engine against a slow reference.
 *
 * A toy network runs on both: nodes on a random graph that fold what happens to them into a hash
 * and take all decisions from that hash (forward, arm, move and cancel timers and transmissions),
 * so one event out of order changes everything after it. The reference keeps one sorted list of all
 * that is pending. Times are multiples of one unit, so that equal times are common.
 */
#include "sim/sim_testing.h"

#define UNIT (INT64_C(6720))
#define TOY_NODES 12
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
    struct hand *hand;     /* NULL: its threads are real */
    uint32_t n_nodes, n_links, n_instants, next_instant;
    uint32_t n_ports[TOY_NODES];
    struct toy_node nodes[TOY_NODES];
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

/* Other threads may go on at any time. */
static void let_others(const struct toy *t)
{
    if (t->hand && xoff_rng_below(&t->hand->rng, 4) == 0)
        hand_step(t->hand);
}

static void toy_arrive(void *net, struct worker *w, uint32_t index, uint32_t port,
                       const struct frame *f)
{
    struct toy *t = net;
    struct toy_node *node = &t->nodes[index];
    const xoff_time now = sim_now(w);
    let_others(t);
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
    let_others(t);
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
    let_others(t);
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
    t->n_nodes = 2 + (uint32_t)xoff_rng_below(&rng, TOY_NODES - 1);
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
                            bool by_hand, xoff_time bound, xoff_time end, xoff_time expected_end)
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
                            .chunk_frames = (const uint32_t[]){0, 2, 8}[seed % 5 % 3],
                            .has_extra = has_extra,
                            .ties_by_port = ties_by_port,
                            .model = toy_model};
    give_handlers(&spec, &t, &toy_handlers);
    assert_int_equal(sim_create(&spec, &t.sim), 0);
    toy_start(&t, sim_exclusive(t.sim));
    struct hand hand = {.sim = t.sim};
    xoff_rng_init(&hand.rng, seed, n_threads, 3);
    t.hand = by_hand ? &hand : NULL;
    const xoff_time first = toy_next_instant(&t);
    const xoff_time reached = by_hand ? hand_run(&hand, first, end) : sim_run(t.sim, first, end);
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
        fail_msg("seed %llu, %u threads%s, cell bound %lld, end %lld: %llu events until %lld, "
                 "expected %llu until %lld",
                 (unsigned long long)seed, n_threads, by_hand ? " by hand" : "", (long long)bound,
                 (long long)end, (unsigned long long)figures.events, (long long)reached,
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
            n_advanced += check_equal(&expected, seed, 1, false, bounds[b], end, expected_end);
        /* Every number of threads meets every bound in twelve seeds. */
        for (uint32_t i = 0; i < 6; i++) {
            const uint64_t b = i / 2;
            check_equal(&expected, seed, 2 + (uint32_t)(seed + b) % 3, i % 2,
                        bounds[(seed / 3 + b) % 4], end, expected_end);
        }
    }
    has_extra = ties_by_port = false;
    /* The toy is alive, and ends in both ways. */
    assert_true(n_events > 200 * n_seeds);
    assert_true(n_advanced > n_seeds);
    assert_true(n_at_rest > n_seeds / 10 && n_at_rest < n_seeds);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equals_the_reference),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
