/* A host: one port, a NIC that picks among flows and ACKs, the flows that it sends and receives,
 * and the slow side of a receiver that cannot keep up. Shared by host.c, flow*.c, receiver.c and
 * the files that build hosts or collect their results. */
#ifndef NET_HOST_H
#define NET_HOST_H

#include "net/point.h"

/* A transport, configured for hosts whose links have one rate. */
struct transport {
    const struct net_transport *spec;
    struct xoff_rp rp;
    struct xoff_rel rel;
    struct xoff_np np;
    uint32_t header_bytes, ack_bytes;
};

/* A flow at its sender. Its last member is the head of its reliability's state, which continues
 * behind the struct; the state of its reaction point follows. Flows are host.flow_bytes apart. */
struct flow {
    uint32_t from, to, number, hash; /* of its frames, in the order in which they have them */
    uint32_t next;                   /* in the ready list, or the free list */
    uint32_t word;
    uint16_t payload_max;
    uint16_t header_bytes; /* of its next frame */
    uint8_t priority, transport;
    bool endless, is_ready, is_connection, has_messages;
    bool is_bound;      /* the window holds the flow back */
    bool is_sequential; /* xoff_rel_is_sequential(), kept here since every frame asks */
    bool has_acks;      /* that of its reliability */
    bool is_plain;      /* flow_fill() has a short way for its frames */
    bool hears_sent;    /* its reaction point is told of every frame sent */
    uint8_t flags;      /* of all its frames: FRAME_TAGGED, or none; and of its next frame:
                         * FRAME_ASKS_RATE */
    uint64_t offered;   /* payload bytes */
    xoff_rate app_bps;  /* pace of the app, 0: none */
    xoff_rate pace_bps; /* pace in force, 0: line rate */
    uint64_t carry;
    xoff_time next_at;  /* when the pace allows the next frame */
    xoff_time ready_at; /* when the flow joined the ready list */
    xoff_time paced_at;
    uint32_t paced_bytes; /* bytes of the last frame sent; a new pace applies from that frame on */
    uint32_t messages, last_message; /* outstanding, in order: host.messages */
    xoff_time timer_at; /* when the flow's timer is set to expire; it is lazy, see flow.c */
    xoff_time base_rtt;
    uint64_t window_bytes; /* window in force */
    struct xoff_rp_answer rp;
    struct xoff_rel_tx rel;
};

_Static_assert(sizeof(struct flow) <= 200, "512 bytes per active flow, with rp and rel state");
_Static_assert(offsetof(struct flow, rel) + sizeof(struct xoff_rel_tx) == sizeof(struct flow),
               "the state of the reliability goes on behind its head");

/* A message of a connection, at its sender or waiting for a gap at its receiver. */
struct message {
    uint64_t end; /* the byte behind the message */
    uint32_t number, word, next;
    bool ends_flow;
};

struct message_store {
    struct message *at;
    uint32_t free, used, capacity;
};

/* What a sender knows of a flow or message. All zero: the flow has been summarised (fold.c), and
 * nothing of it is left. */
struct flow_note {
    uint32_t to, tag;
    uint8_t priority, reliable, is_connection, transport;
    uint16_t frame_bytes, header_bytes;
    uint32_t hash, number;
    uint64_t offered, sent;
    uint64_t again_frames;
    xoff_rate rate_bps;
    xoff_time start_at, acked_at;
    uint32_t open;      /* index of the open flow, plus 1; 0: closed, or a later message of its
                         * connection */
    uint32_t n_notices; /* notifications received; of a connection, at its first record */
    uint32_t n_tags_sent, n_tags_back; /* the same of tags that it sent, and that came back */
};

static inline bool note_is_left(const struct flow_note *note)
{
    return note->frame_bytes;
}

/* A flow at its receiver. */
struct rx_flow {
    uint64_t key;          /* source << 32 | number, plus 1; 0: empty */
    uint64_t message_from; /* where the message that is being received begins; 0 without ACKs */
    uint64_t np;           /* state of the notification point */
    uint32_t message;      /* number of the message that is being received */
    uint32_t marked;
    uint32_t ends; /* messages whose end has arrived but lies beyond a gap, in order */
    uint32_t more; /* index into host.rx_states; NET_NONE: `rel` has room for the state */
    uint8_t priority, transport;
    uint64_t rel[4]; /* state of the reliability */
};

_Static_assert(sizeof(struct rx_flow) <= 80, "many flows");

/* A delayed ACK. */
struct delayed {
    xoff_time at;
    uint64_t key; /* that of its rx_flow */
};

struct rx_note {
    uint32_t from, number;
    uint64_t received, marked;
    xoff_time finish_at;
};

/* An event that an app is told of once the frame that caused it has been handled. */
struct pending {
    uint32_t tag;
    struct app_event event;
};

struct ready {
    uint32_t head, tail; /* flows, served round robin */
};

/* A NIC that scans its flows (scan.c). */
struct scan {
    bool is_on;
    uint32_t *flows; /* NET_NONE: finished */
    uint32_t n, capacity, last;
    xoff_time next_at; /* a scan is set for then; XOFF_NEVER: none */
};

/* Who takes frames out of a receive queue, with those that wait for it. */
struct server {
    const struct net_server *spec;
    struct fifo queue;
    uint32_t service;  /* step of its schedule */
    xoff_time done_at; /* end of service of the current frame; XOFF_NEVER: none */
};

/* The slow side of a host that cannot keep up with its link. */
struct receiver {
    const struct net_receiver *spec;
    struct xoff_mmu mmu;
    struct xoff_pause pause;
    struct xoff_edges edges;
    struct server *servers;
    struct heap due; /* when each server has something to do next */
    int64_t held_bytes[XOFF_N_PRIORITIES];
    struct point *point;         /* congestion points of the queue, by priority; NULL: none */
    struct occupancy *occupancy; /* NULL: the point draws no frames from the queue */
    struct xoff_rng marking_rng;
    uint64_t n_marked[XOFF_N_PRIORITIES];
};

static inline int64_t receiver_bytes(const struct receiver *r)
{
    int64_t bytes = 0;
    for (uint32_t p = 0; p < XOFF_N_PRIORITIES; p++)
        bytes += r->held_bytes[p];
    return bytes;
}

#define BUS_AHEAD 4 /* frames of the largest size */

/* What sending and receiving share at a host (bus.c). */
struct bus {
    struct net_wire wire; /* the network's, sending by bus_send() */
    xoff_rate rate_bps;
    xoff_time free_at;   /* when all that was begun is over */
    xoff_time ahead_for; /* a frame may be sent so long before that */
};

struct host {
    union {
        struct node head; /* its number is also the host's number */
        struct {
            NODE_FIELDS
        };
    };
    struct port port;
    /* What most frames need lies together, so that few cache lines are read: in a large network
     * these are not in the cache. */
    const struct transport *transports;
    unsigned char *flows;       /* flow_bytes apart, see flow_at() */
    uint32_t flow_bytes, rp_at; /* rp_at: where the state of the reaction point lies in a flow */
    struct rx_flow *rx;         /* hash table with open addressing */
    uint32_t rx_mask, n_rx;
    struct flow_note *flow_notes; /* by flow number */
    uint32_t n_pending;           /* events that apps have not been told of */
    bool has_copies;              /* frames sent more than once have arrived, see rx_find */
    bool has_retired;             /* endless flows have left the ready list */
    bool is_slow;     /* frames that it receives concern more than their flow: see arrive_slow() */
    int8_t ack_class; /* priority of ACKs; -1: that of what they answer */
    int8_t ack_queue; /* queue in which ACKs wait, and whose pause holds them back; -1: that of
                         their priority */
    int64_t consumed_bytes, offered_bytes;
    xoff_time grain;      /* of its clock: host_now() */
    xoff_time arrived_at; /* with a grain: the engine's time of the frame being delivered */
    uint32_t *n_flows_to; /* per host, where paths are chosen by ports; NULL: not wanted */
    struct scan scan;
    struct ready ready[XOFF_N_PRIORITIES];
    struct frame_store store; /* ACKs to send, frames waiting for the receiver */
    struct fifo acks[XOFF_N_PRIORITIES];
    struct xoff_sched sched;
    unsigned char *sched_state;
    uint32_t n_flows, flows_capacity, free_flow;
    struct message_store messages;
    struct xoff_range_store ranges;
    unsigned char *rx_states; /* states that do not fit in an rx_flow, rx_state_bytes apart */
    uint32_t rx_state_bytes;  /* 0: there are none */
    uint32_t n_rx_states, rx_states_capacity, free_rx_state;
    struct delayed *delayed; /* ring, in order of time; entries may be out of date */
    uint32_t delayed_head, n_delayed, delayed_capacity;
    uint32_t n_listening; /* apps that hear events */
    struct pending *pending;
    uint32_t pending_capacity;
    uint32_t *finished; /* hash table of rx_notes by key, built when first needed (notes.c) */
    uint32_t finished_mask, n_finished;
    struct heap_entry *timer_entries;
    uint32_t *timer_pos;
    const struct app *apps;
    uint32_t n_apps;
    struct xoff_rng *app_rngs;
    uint32_t *app_connections;      /* flow of each connection of each app; NET_NONE */
    uint32_t *app_first_connection; /* index into app_connections of each app's first connection */
    struct receiver *receiver;
    struct bus *bus;
    uint32_t n_flow_notes, flow_notes_capacity;
    struct rx_note *rx_notes;
    uint32_t n_rx_notes, rx_notes_capacity;
    struct result_operation *operations;
    uint32_t n_operations, operations_capacity;
    struct tally tx[XOFF_N_PRIORITIES];
    uint64_t sampled_tx_bytes;
    xoff_time sampled_paused_for[XOFF_N_PRIORITIES];  /* at the last sample ... */
    xoff_time sampled_paused_part[XOFF_N_PRIORITIES]; /* ... and its part of the interval before */
    struct xoff_rng priority_rng;                     /* value n is that of flow number n */
};

/* The hash chooses among equal-cost paths; the receiver of a flow can compute it, too. */
static inline uint32_t flow_hash(uint32_t from, uint32_t to, uint32_t number)
{
    const uint64_t pair = (uint64_t)from << 32 | to;
    return (uint32_t)(xoff_mix64(pair ^ xoff_mix64((uint64_t)number + 1)) >> 32);
}

/* The time as the host's clock shows it. */
static inline xoff_time host_now(const struct host *host, const struct worker *w)
{
    const xoff_time now = sim_now(w);
    return __builtin_expect(host->grain != 0, 0) ? now - now % host->grain : now;
}

/* When an app next offers something: behind all else that happens in that grain. */
static inline xoff_time host_app_at(const struct host *host, const struct app *app)
{
    const xoff_time at = app->ops->deadline(app->cfg, app->state);
    return host->grain && at != XOFF_NEVER ? at - at % host->grain + host->grain - 1 : at;
}

static inline struct flow *flow_at(const struct host *host, uint32_t index)
{
    return (struct flow *)(host->flows + (size_t)index * host->flow_bytes);
}

static inline void *flow_rp_state(const struct host *host, struct flow *flow)
{
    return (unsigned char *)flow + host->rp_at;
}

static inline void message_return(struct message_store *store, uint32_t m)
{
    store->at[m].next = store->free;
    store->free = m;
}

/* Timer numbers of a host: those of its port, then its own, then pace and timeout of each flow. */
enum { HOST_SERVICE = PORT_TIMERS, HOST_DELAYED, HOST_PAUSE, HOST_NEXT, HOST_DCBX, HOST_APPS };
static inline uint32_t host_pace_timer(const struct host *host, uint32_t flow)
{
    return HOST_APPS + host->n_apps + 2 * flow;
}

/* Where the search for the state of a received flow begins in host.rx. */
static inline uint32_t rx_home(const struct host *host, uint64_t key)
{
    return (uint32_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 32) & host->rx_mask;
}

/* host.c, flow.c */
void host_arrive(struct host *host, struct worker *w, const struct frame *frame);
void host_transmit(struct host *host, struct worker *w);
void host_timer(struct host *host, struct worker *w);
void host_run(void *self, struct worker *w, uint32_t cell); /* sim_node.run */
void host_sample(struct host *host, xoff_time now);
void host_warm(const struct host *host);
void host_begin(const struct host *host);
/* A frame leaves the receive path and goes to its flow. */
void host_deliver(struct host *host, struct worker *w, const struct frame *frame);
/* An ACK, CNP or probe waits for the wire. */
void host_hold_ack(struct host *host, struct worker *w, const struct frame *ack, uint32_t queue);

/* Sends an ACK, CNP or probe: as in a switch, at once if nothing waits. Called only where settle()
 * of host.c follows, which wakes the port. */
static inline void host_queue_ack(struct host *host, struct worker *w, const struct frame *ack)
{
    struct port *port = &host->port;
    const uint32_t p = host->ack_queue < 0 ? ack->priority : (uint32_t)host->ack_queue;
    host->offered_bytes += ack->bytes;
    if (__builtin_expect(port->is_watched, 0))
        port_note_queued(port, ack, sim_now(w));
    if (port->is_control_due || !port->is_up || !port_is_free(port, p, sim_now(w))) {
        host_hold_ack(host, w, ack, p);
        return;
    }
    host->tx[ack->priority].frames++;
    host->tx[ack->priority].bytes += ack->bytes;
    port_tx_begin(port, w, ack);
}

/* flow.c: sending. */
void flow_offer(struct host *host, struct worker *w, uint32_t app, const struct app_offer *offer);
/* Fills the next frame of a ready flow, and takes the flow off the ready list or moves it to the
 * tail. */
void flow_fill(struct host *host, uint32_t flow, xoff_time now, struct frame *frame);
uint32_t flow_next_bytes(const struct host *host, const struct flow *flow, xoff_time now);
/* Called from the run's stop on: takes endless flows off the ready list. */
void flow_retire(struct host *host, xoff_time now);
/* Puts a flow where it belongs: on the ready list, on its pacing timer, or off both. */
void flow_place(struct host *host, uint32_t flow, xoff_time now);
static inline void flow_settle(struct host *host, uint32_t index, xoff_time now)
{
    const struct flow *flow = flow_at(host, index);
    /* Most ACKs find the flow where it already belongs. */
    if (!flow->is_ready || !flow->is_sequential ||
        !xoff_rel_has_next(&flow->rel, flow->offered, flow->window_bytes))
        flow_place(host, index, now);
}
/* Brings a ready flow to the head of its list. */
void flow_promote(struct host *host, uint32_t flow);
void flow_close(struct host *host, uint32_t flow);
void flow_set_timer(struct host *host, uint32_t flow, xoff_time now);
/* Calls expire() of the reaction point, whose deadline has come. */
void flow_expire_rp(struct host *host, struct worker *w, uint32_t flow, xoff_time now);
/* Adopts the rate, window and deadline that the reaction point has answered. */
void flow_take_answer(struct host *host, uint32_t flow, xoff_time now);
/* Returns the byte behind the last that may be sent, ignoring the window. */
uint64_t flow_end(const struct host *host, const struct flow *flow, xoff_time now);

/* flow_ack.c: frames that come back to the sender, and the sender's timers. */
void flow_on_timer(struct host *host, struct worker *w, uint32_t flow, bool is_pace);
void flow_on_ack(struct host *host, const struct frame *ack, xoff_time now);
void flow_on_cnp(struct host *host, const struct frame *cnp, xoff_time now);
/* `frame` brought a notification of a congestion point for its flow. */
void flow_on_notice(struct host *host, const struct frame *frame, const struct xoff_notice *notice,
                    xoff_time now);
/* `frame` brought back a tag that its flow sent. */
void flow_on_tag(struct host *host, const struct frame *frame, xoff_time now);

/* flow_rx.c: receiving. */
static inline struct xoff_rel_rx *rx_rel(const struct host *host, struct rx_flow *rx)
{
    if (__builtin_expect(rx->more == NET_NONE, 1))
        return (struct xoff_rel_rx *)rx->rel;
    return (struct xoff_rel_rx *)(host->rx_states + (size_t)rx->more * host->rx_state_bytes);
}
void flow_on_data(struct host *host, struct worker *w, const struct frame *data);
/* A tag has come without payload. */
void flow_on_probe(struct host *host, struct worker *w, const struct frame *probe);
/* Sends the delayed ACKs that are due. */
void flow_send_delayed(struct host *host, struct worker *w);

/* Queues an event for an app. The app is told when the frame has been handled (host_deliver), so
 * that what it offers finds every flow in a consistent state. */
void host_note_event(struct host *host, uint32_t tag, const struct app_event *event);

/* scan.c: instead of ready lists and pace timers. */
void scan_add(struct host *host, uint32_t flow);
void scan_close(struct host *host, uint32_t flow);
/* The flow that sends next; NET_NONE: none may. */
uint32_t scan_pick(struct host *host, uint8_t eligible, xoff_time now);
/* No flow may send: the next scan is set, unless one is. */
void scan_wait(struct host *host, xoff_time now);
/* Something happened that makes the NIC look again. */
void scan_wake(struct host *host, struct worker *w, bool scans);
void scan_pace(struct host *host, struct flow *flow, uint32_t bytes, xoff_time now);
void scan_set_pace(struct host *host, struct flow *flow, xoff_rate bps);
/* Telemetry has set the flow's pace anew: if it may start before the next scan, that is moved. */
void scan_hasten(struct host *host, const struct flow *flow, xoff_time now);

/* receiver.c */
void receiver_admit(struct host *host, struct worker *w, const struct frame *frame);
void receiver_serve(struct host *host, struct worker *w);
/* The deadline of the receiver's pause policy has come. */
void receiver_expire(struct host *host, struct worker *w);

/* bus.c: a frame arrives; a port sends one (net_wire.send). */
void bus_receive(struct host *host, const struct frame *frame, xoff_time now);
void bus_send(struct port *port, struct worker *w, const struct frame *frame);

/* notes.c: these may allocate, and are not called for a frame that is simply forwarded. */
void host_grow_flows(struct host *host);
void host_grow_flow_notes(struct host *host);
void host_grow_rx(struct host *host);
void host_grow_rx_notes(struct host *host);
void note_operation(struct host *host, const struct app_offer *offer, xoff_time now);
uint32_t message_take(struct message_store *store);
bool host_has_finished(struct host *host, uint64_t key);
void host_grow_rx_states(struct host *host);
void host_grow_pending(struct host *host);
void host_grow_delayed(struct host *host);
void host_grow_scan(struct host *host);
void host_grow_ranges(struct host *host, uint32_t n);

#endif
