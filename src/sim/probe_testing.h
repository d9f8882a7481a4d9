/* A bare network for single promises of the engine: it logs, and does what the test's hooks do.
 *
 * Callbacks run on several threads, where a failed assertion could not be caught: they count what
 * is wrong, and the test looks at the count. */
#ifndef PROBE_TESTING_H
#define PROBE_TESTING_H

#include "sim/sim_testing.h"

#define PROBE_NODES 48
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

static inline void note(struct probe *p, uint32_t index, xoff_time now)
{
    struct probe_node *node = &p->nodes[index];
    if (now < node->last_at || now < p->instant_at)
        p->wrong++;
    if (p->instants && p->instants[p->next_instant] <= now)
        p->wrong++; /* an instant that is due has not happened */
    node->last_at = now;
}

static inline void probe_arrive(void *net, struct worker *w, uint32_t index, uint32_t port,
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

static inline void probe_transmit(void *net, struct worker *w, uint32_t index, uint32_t port)
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

static inline void probe_timer(void *net, struct worker *w, uint32_t index)
{
    struct probe *p = net;
    const xoff_time now = sim_now(w);
    note(p, index, now);
    p->nodes[index].n_timers++;
    if (p->timer)
        p->timer(p, w, index, now);
}

static inline xoff_time probe_instant(void *net, xoff_time now)
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

static inline void probe_sample(void *net, uint32_t node, xoff_time now)
{
    struct probe *p = net;
    if (now != p->instant_at)
        p->wrong++;
    p->nodes[node].n_samples++;
}

/* Every second instant, from the first. */
static inline bool probe_wants_sample(void *net, xoff_time now)
{
    const struct probe *p = net;
    (void)now;
    return p->next_instant % 2 == 0;
}

static inline bool probe_has_changes(void *net)
{
    const struct probe *p = net;
    return p->next_instant < p->n_waking;
}

static inline bool probe_progress(void *net, xoff_time now, uint64_t arrivals)
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
 * of a node faces its predecessor (of node 0: its successor). Links take 1000 each if lookaheads is
 * NULL. */
static inline void probe_create(struct probe *p, uint32_t n_nodes, const xoff_time *lookaheads,
                                uint32_t n_threads, xoff_time bound)
{
    uint32_t n_ports[PROBE_NODES];
    struct sim_link_spec links[2 * PROBE_NODES];
    memset(p, 0, sizeof *p);
    for (uint32_t n = 0; n < n_nodes; n++)
        n_ports[n] = n_nodes == 1 ? 0 : n == 0 || n == n_nodes - 1 ? 1 : 2;
    for (uint32_t n = 0; n + 1 < n_nodes; n++) {
        const xoff_time lookahead = lookaheads ? lookaheads[n] : 1000;
        links[2 * n] = (struct sim_link_spec){
            .from_node = n, .to_node = n + 1, .to_port = 0, .lookahead = lookahead};
        links[2 * n + 1] = (struct sim_link_spec){
            .from_node = n + 1, .to_node = n, .to_port = n > 0, .lookahead = lookahead};
    }
    struct sim_spec spec = {.n_nodes = n_nodes,
                            .n_ports = n_ports,
                            .links = links,
                            .n_links = 2 * (n_nodes - 1),
                            .n_threads = n_threads,
                            .cell_bound = bound,
                            .chunk_frames = 8, /* so that few frames fill one */
                            .model = probe_model};
    give_handlers(&spec, p, &probe_handlers);
    assert_int_equal(sim_create(&spec, &p->sim), 0);
}

static struct probe probe;

static inline void send_next(struct probe *p, struct worker *w, uint32_t link, xoff_time at)
{
    const struct frame f = {.seq = p->sent++, .bytes = 64, .kind = FRAME_DATA};
    sim_send(w, link, &f, at);
}

/* Before the run. */
static inline void set_timer(struct probe *p, uint32_t node, xoff_time at)
{
    sim_at_timer(sim_exclusive(p->sim), node, at);
}

static inline void set_transmit(struct probe *p, uint32_t node, xoff_time at)
{
    sim_at_transmit(sim_exclusive(p->sim), node, 0, at);
}

#endif
