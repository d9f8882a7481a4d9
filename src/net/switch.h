/* The part of a switch that every fabric has: its ports, egress queues with their scheduler and
 * congestion point, the frames in it, and the bytes held by input and output. A switch of a fabric
 * (fabric.h) begins with struct sw and uses the functions here and in egress.h.
 *
 * The rest of net/ asks a switch three questions and reads nothing else of it: sw_queue(out,
 * priority), sw_held(priority, in, out), and buffer(i) of its fabric.
 */
#ifndef NET_SWITCH_H
#define NET_SWITCH_H

#include "net/point.h"

/* An egress queue: one cache line. */
struct egress {
    alignas(64) uint32_t head; /* places in the switch's store, linked by frame.next */
    uint32_t tail, n;
    int64_t bytes, peak_bytes;
    xoff_time left_at; /* when a frame last left */
    struct tally tx;
    uint64_t marked;
};

_Static_assert(sizeof(struct egress) == 64, "an egress queue is one cache line");

/* Counters of a queue and its port at the last sample: bytes sent and time paused. */
struct sampled {
    uint64_t tx_bytes;
    xoff_time paused_for;
};

/* A histogram of the lengths of a port's queues (histogram.c). */
struct histogram {
    uint64_t *counts, n_samples;
    uint32_t n_bins;
    int64_t bytes;
};

/* Local maxima of a buffer's headroom (maxima.c). */
struct maxima {
    bool rises;             /* headroom has risen and not fallen since */
    int64_t bytes;          /* in use when `rises` was set */
    int64_t capacity_bytes; /* of the headroom; 0: there is none */
    uint64_t *counts;       /* by permille; NULL: there is no headroom */
};

/* The books of a buffer: what it admits, whom it has paused, how full its headroom gets. */
struct ledger {
    struct xoff_mmu mmu;
    struct maxima maxima;
    struct xoff_edges edges; /* decisions of the last call */
    struct xoff_pause pause;
    uint32_t timer; /* timer of the pause policy's deadline */
};

struct sw {
    union {
        struct node head;
        struct {
            NODE_FIELDS
        };
    };
    /* Every frame reads the next two cache lines; one whose path is chosen, the third. */
    alignas(64) const struct fabric_ops *fabric;
    struct port *ports;
    struct port **port_at; /* where each of them is, without a multiplication */
    struct egress *queues; /* by priority and port: sw_queue() */
    struct frame_store store;
    uint8_t made;     /* priorities of notifications that it has made */
    bool keeps_flows; /* the path of a frame follows from its hash alone */
    bool by_hash;     /* and is what routes_lookup() says */
    bool by_draw;     /* it is what routes_lookup() says for a draw in place of the hash */
    bool at_inputs;   /* congestion points watch inputs, not egress queues */
    bool detains;     /* admitted frames do not go straight to their queue: sw_move_on() */
    bool is_watched;  /* every change of an egress queue is to be told: egress_watch() */
    bool is_timed;    /* some congestion point has deadlines */

    uint32_t *held_bytes;              /* lossless bytes by [rank of priority][in port][out port] */
    int8_t rank[XOFF_N_PRIORITIES];    /* -1: lossy */
    xoff_time stopped_for, stopped_at; /* until it last went on; XOFF_NEVER: it runs */
    struct xoff_rng path_rng;
    struct point *points;        /* by port */
    unsigned char *sched_states; /* sched.shape.state_size apart */

    struct xoff_path path;
    struct xoff_path_port *path_ports; /* candidates of a frame; NULL: path does not read them */
    struct domain *domain;             /* NULL: none of its ports has a mode */

    struct xoff_sched sched;
    struct occupancy *occupancy; /* NULL: no congestion point draws frames from its queue */
    struct xoff_rng marking_rng;
    const struct net_switch *spec;
    struct fifo processing;                  /* frames that wait out the processing delay */
    xoff_time processing_for;                /* 0: none, or the fabric takes it itself */
    uint64_t n_stops;                        /* of a pipeline (switch_pipeline.c) */
    int64_t made_bytes;                      /* of frames it made itself, less tags it removed */
    struct histogram *histograms;            /* per port; NULL: not asked for */
    struct sampled *sampled;                 /* per (port, priority); NULL: no series */
    struct xoff_pause_signalling signalling; /* how its ports signal pauses */
};

/* Timers of a switch behind those of its ports; the fabric's timers follow, then one for each
 * congestion point if sw->is_timed. */
enum { SW_PROCESSING, SW_DCBX, SW_TIMERS };

static inline uint32_t sw_n_fabric_timers(const struct sw *sw)
{
    return sw->fabric->n_timers + sw->n_ports * sw->fabric->n_port_timers;
}

static inline uint32_t sw_point_timer(const struct sw *sw, uint32_t port, uint32_t priority)
{
    return node_timer(&sw->head,
                      SW_TIMERS + sw_n_fabric_timers(sw) + port * XOFF_N_PRIORITIES + priority);
}

static inline struct egress *sw_queue(const struct sw *sw, uint32_t out, uint32_t priority)
{
    return &sw->queues[priority * sw->n_ports + out];
}

/* Bytes of a lossless priority that came in at `in`, leave by `out`, and lie in the switch. Frames
 * whose output is not decided yet are not in it (fabric_ops.holds_up). */
static inline uint32_t *sw_held(const struct sw *sw, uint32_t priority, uint32_t in, uint32_t out)
{
    return &sw->held_bytes[((uint32_t)sw->rank[priority] * sw->n_ports + in) * sw->n_ports + out];
}

static inline bool sw_is_lossless(const struct sw *sw, uint32_t priority)
{
    return sw->rank[priority] >= 0;
}

static inline bool sw_buffer(const struct sw *sw, uint32_t i, struct fabric_buffer *buffer)
{
    *buffer = (struct fabric_buffer){.n_ports = sw->n_ports};
    return sw->fabric->buffer(sw, i, buffer);
}

/* Turns the edges of a pause policy into signals of their ports, and notes each with its cause.
 * `out` is the egress port they are about; UINT32_MAX: the one that holds most of the unit's bytes.
 */
XOFF_SELDOM void sw_apply_edges(struct sw *sw, struct worker *w, const struct xoff_edges *edges,
                                uint32_t out);

/* Asks the path choice for the port by which a frame leaves; ROUTE_NONE: none. */
uint32_t sw_choose_path(struct sw *sw, const struct frame *frame, xoff_time now);

/* Whether no pause frame of its ports is due, or on its way (calm.c). */
XOFF_SELDOM bool sw_is_heard(const struct sw *sw);

XOFF_SELDOM void sw_drop(struct sw *sw, const struct frame *f, uint32_t in, uint32_t out,
                         enum result_drop_cause cause, xoff_time now);

/* Adds the bytes of the frames in the switch that leave by `out`, by priority. Frames are counted
 * in the queues and in the processing line. */
void sw_count_held(const struct sw *sw, uint32_t out, int64_t held_bytes[XOFF_N_PRIORITIES]);

/* switch.c: called by net.c beside the fabric's own functions. */
void sw_timer(struct sw *sw, struct worker *w);
void sw_sample(struct sw *sw, xoff_time now);
void sw_warm(const struct sw *sw);
void sw_begin(const struct sw *sw);

/* switch_build.c. A fabric builds its ledgers with ledger_build(): `own` is the fabric's timer for
 * the deadline of the pause policy, and `part` is set to the part that failed. ledger_free() also
 * takes a ledger whose build failed. */
int sw_build(struct net *net, uint32_t node, struct sw **out, enum net_part *part,
             struct xoff_err *err);
int ledger_build(struct sw *sw, const struct xoff_mmu_env *env, uint32_t own, struct ledger *ledger,
                 enum net_part *part, struct xoff_err *err);
void ledger_free(struct ledger *ledger);
void maxima_build(struct maxima *maxima, const struct xoff_mmu *mmu);
void sw_destroy(struct sw *sw);
/* Names a buffer by the peer of its port: "to leaf1", and "to leaf1#2" at the third link there. */
void sw_name_buffer(const struct sw *sw, const char *side, uint32_t port,
                    char name[FABRIC_BUFFER_NAME]);

/* histogram.c */
void histogram_change(struct sw *sw, uint32_t port, int64_t bytes, xoff_time now);
void histogram_grow(struct histogram *histogram, uint32_t n_bins); /* notes.c */

void maxima_count(struct maxima *maxima); /* maxima.c */

static inline int64_t headroom_used(const struct xoff_mmu *mmu)
{
    return xoff_mmu_used_bytes(mmu, XOFF_POOL_HEADROOM);
}

/* A frame has gone into headroom, of which `bytes` are in use now. */
static inline void maxima_rise(struct maxima *maxima, int64_t bytes)
{
    XOFF_ASSERT(maxima->counts);
    maxima->bytes = bytes;
    maxima->rises = true;
}

/* A frame has left a buffer whose headroom had risen. Only the buffer knows whether the frame was
 * in headroom, of which `bytes` are in use now. */
static inline void maxima_leave(struct maxima *maxima, int64_t bytes)
{
    if (bytes < maxima->bytes)
        maxima_count(maxima);
}

extern const struct fabric_ops fabric_shared, fabric_output_queued, fabric_cioq, fabric_pipeline;

#endif
