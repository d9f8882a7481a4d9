/* Turns what nodes noted for a trace into results: one sequence of events for all nodes, in order
 * of time, then of nodes, then of what happened at the node. So it is the same for any number of
 * threads.
 *
 * A frame that a switch passed straight from wire to wire has no note of its queue, since it was in
 * none. In the trace it joins and leaves an empty one, as it does in switches that buffer
 * everything.
 */
#include <stdlib.h>

#include "net/model.h"

#define ROCE_PORT 4791
#define FREE_PORTS 0xc000u /* source ports of RoCE, as in captures */

struct gather {
    const struct net *net;
    struct result_event *events;
    uint64_t n, capacity;
};

static void add(struct gather *g, const struct result_event *event)
{
    if (g->n == g->capacity) {
        g->capacity = g->capacity ? 2 * g->capacity : 1024;
        g->events = realloc(g->events, g->capacity * sizeof *g->events);
        XOFF_ASSERT(g->events);
    }
    g->events[g->n++] = *event;
}

/* The ns-3 RDMA family sends a pause frame before the frame that caused it joins or leaves its
 * queue; here a transmission is an event of its own, at the same instant. */
static void move_before_cause(struct gather *g)
{
    uint64_t i = g->n - 1;
    const struct result_event pause = g->events[i];
    for (; i > 0; i--) {
        const struct result_event *before = &g->events[i - 1];
        if (before->at != pause.at || before->node != pause.node ||
            before->kind == RESULT_FRAME_PAUSE || before->what == RESULT_EVENT_RECEIVE)
            break;
        g->events[i] = *before;
    }
    g->events[i] = pause;
}

/* The end of the link that a pause frame came from. */
static void place_pause(const struct net *net, uint32_t node, struct result_event *event)
{
    const struct topo *topo = net->topo;
    const struct topo_port *port = &topo->ports[topo->nodes[node].first_port + event->port];
    event->from = port->link;
    event->to = event->what == RESULT_EVENT_RECEIVE ? !port->end : port->end;
}

/* A pause frame for several priorities makes one event for each. */
static void add_pause(struct gather *g, const struct frame *f, struct result_event *event)
{
    place_pause(g->net, event->node, event);
    event->asked_bytes = f->hash;
    for (uint32_t mask = f->pause.classes; mask; mask &= mask - 1) {
        const uint32_t p = (uint32_t)__builtin_ctz(mask);
        event->priority = (uint8_t)p;
        event->pauses = f->pause.quanta[f->pause.opcode == XOFF_OPCODE_PAUSE ? 0 : p];
        add(g, event);
        if (g->net->spec.wire->is_one_sequence)
            move_before_cause(g);
    }
}

static const uint8_t by_of[] = {
    [XOFF_REL_AS_ROCE] = RESULT_BY_GO_BACK_N,
    [XOFF_REL_AS_DATAGRAM] = RESULT_BY_DATAGRAM,
    [XOFF_REL_AS_TCP] = RESULT_BY_TCP,
};

static void set_ports(const struct net *net, const struct frame *f, struct result_event *event)
{
    if (net->spec.wire->hop) { /* the hash is made of them */
        event->sport = (uint16_t)f->hash;
        event->dport = (uint16_t)(f->hash >> 16);
        return;
    }
    const uint16_t own = (uint16_t)(FREE_PORTS | (f->hash & 0x3fff));
    const bool is_data = f->kind == FRAME_DATA;
    event->sport = is_data ? own : ROCE_PORT;
    event->dport = is_data ? ROCE_PORT : own;
}

static void add_note(struct gather *g, uint32_t node, const struct frame *f, bool passes)
{
    const struct net *net = g->net;
    if (f->kind == FRAME_LLDP) /* that simulator has none */
        return;
    struct result_event event = {.at = f->at,
                                 .node = node,
                                 .port = f->in_port,
                                 .queue_bytes = f->next,
                                 .bytes = f->bytes,
                                 .what = f->pool,
                                 .kind = f->kind};
    if (f->kind == FRAME_PAUSE) {
        add_pause(g, f, &event);
        return;
    }
    const bool is_data = f->kind == FRAME_DATA;
    const struct net_transport *t = &net->spec.transports[f->transport];
    event.seq = f->seq;
    event.sent_at = t->rp->reads_rtt ? frame_sent_at(f) : 0;
    event.from = f->src;
    event.to = f->dst;
    event.payload_bytes = is_data ? f->payload : 0;
    event.by = by_of[t->rel->format];
    event.priority = f->priority;
    if (f->kind != FRAME_PROBE)
        event.is_marked = f->flags & (is_data ? FRAME_MARKED : FRAME_HIT);
    event.echoes = !is_data && f->flags & FRAME_MARKED;
    set_ports(net, f, &event);
    if (event.what != RESULT_EVENT_RECEIVE && (is_data || node >= net->n_hosts))
        event.queue = f->priority;
    if (passes) {
        event.what = RESULT_EVENT_ENQUEUE;
        add(g, &event);
        event.what = RESULT_EVENT_DEQUEUE;
    }
    add(g, &event);
}

/* Whether the frame that a switch sends is the one it has just received. */
static bool passes_through(const struct net *net, uint32_t node, const struct capture *c,
                           uint64_t index)
{
    const struct frame *f = capture_at(c, index), *before = index ? capture_at(c, index - 1) : f;
    return node >= net->n_hosts && f->pool == RESULT_EVENT_DEQUEUE && f->kind != FRAME_PAUSE &&
           before->pool == RESULT_EVENT_RECEIVE && before->kind == f->kind && before->at == f->at &&
           before->src == f->src && before->flow == f->flow && before->seq == f->seq;
}

void trace_collect(struct net *net, struct results *r)
{
    if (!net->spec.trace_until)
        return;
    const uint32_t n_nodes = net->topo->n_nodes;
    struct gather g = {.net = net};
    struct heap heap;
    struct heap_entry *entries = calloc(n_nodes, sizeof *entries);
    uint32_t *pos = calloc(n_nodes, sizeof *pos);
    uint64_t *next = calloc(n_nodes, sizeof *next);
    XOFF_ASSERT(entries && pos && next);
    heap_init(&heap, entries, pos, n_nodes);
    for (uint32_t n = 0; n < n_nodes; n++)
        if (net_notes(net, n)->tracer->notes.n)
            heap_set(&heap, n, capture_at(&net_notes(net, n)->tracer->notes, 0)->at);
    while (heap.n) {
        const uint32_t n = heap_top_id(&heap);
        struct capture *c = &net_notes(net, n)->tracer->notes;
        add_note(&g, n, capture_at(c, next[n]), passes_through(net, n, c, next[n]));
        if (++next[n] < c->n)
            heap_set(&heap, n, capture_at(c, next[n])->at);
        else
            heap_remove(&heap, n);
    }
    r->trace = g.events;
    r->n_trace = g.n;
    free(entries), free(pos), free(next);
}
