/* Role pause: which (port, priority) to pause or resume. No other role decides that.
 *
 * A policy is told about thresholds the buffer crossed and, if it sets shape.every_frame, about
 * every arrival and departure; it answers pause and resume edges, each with its cause. signal.h
 * turns edges into frames, refreshes and resumes on the wire. The contract is that of every role
 * (role.h).
 *
 * Most fabrics have one memory, in which a frame is in its ingress and its egress queue for the
 * whole of its stay: one arrival and one departure tell about both. Where frames wait at their
 * input until their output is decided, arrivals and departures are those of egress queues, and
 * on_crossings() tells what ingress queues crossed before.
 */
#ifndef XOFF_PAUSE_H
#define XOFF_PAUSE_H

#include <xoff/mmu.h>
#include <xoff/rng.h>

#ifdef __cplusplus
extern "C" {
#endif

#define XOFF_ALL_PRIORITIES 0xff

/* A decision to pause or resume, with its cause: the unit that crossed a threshold. The caller adds
 * the egress queue that holds most of the unit's bytes, and the pause under which that queue itself
 * stands. */
struct xoff_edge {
    uint16_t port;      /* ingress port whose peer is to stop or go */
    uint8_t priorities; /* bit mask; XOFF_ALL_PRIORITIES for 802.3x */
    uint8_t pause;      /* 1 XOFF, 0 XON */
    struct xoff_crossing cause;
};

/* Bounded by the policy: `at` has room for shape.max_edges entries. */
struct xoff_edges {
    uint32_t n;
    struct xoff_edge *at;
};

enum xoff_pause_wire { XOFF_WIRE_NONE, XOFF_WIRE_PAUSE, XOFF_WIRE_PFC };

/* How the port signals edges of this policy (signal.h). */
struct xoff_pause_signalling {
    enum xoff_pause_wire wire;
    uint16_t quanta;
    bool refreshes; /* false: XOFF is sent once and runs out */
    bool resumes;   /* false: no XON is sent */
};

/* Whether an egress queue keeps the peer of an ingress port paused. BY_FRAMES: it does while frames
 * from that port lie in the queue and fill the buffer. NO, YES: the policy decides by egress queue,
 * and this is its decision. */
enum xoff_hold { XOFF_HOLD_BY_FRAMES, XOFF_HOLD_NO, XOFF_HOLD_YES };

/* The switch, or slow receiver, that a policy serves; fields mean the same as in struct
 * xoff_mmu_env (mmu.h). Policies are configured before the buffer, so `ports` has only the headroom
 * that the links need. */
struct xoff_pause_env {
    uint32_t n_ports;
    uint8_t lossless;
    uint32_t min_frame_bytes, max_frame_bytes;
    int64_t buffer_bytes;
    int64_t egress_bytes; /* most that an egress queue can hold */
    const struct xoff_mmu_port *ports;
    struct xoff_rng rng; /* the policy's own stream, not drawn from yet */
};

struct xoff_pause_shape {
    size_t state_size;
    uint32_t max_edges; /* most edges that one call answers */
    bool every_frame;   /* false: the caller may skip frames that crossed nothing */
    bool has_deadline;  /* false: the caller never asks for one */
    struct xoff_pause_signalling signalling;
    /* The statistics that the policy keeps of who sends to which egress queue: how many counters,
     * and the bytes of each. 0: none. */
    uint64_t n_counters;
    uint32_t counter_bytes;
    /* Headroom that the policy needs beyond that of the links. XOFF follows a crossing within
     * late_for; late_bytes may arrive on top of what arrives in that time. A policy that decides
     * late and leaves these fields 0 loses frames. */
    xoff_time late_for;
    int64_t late_bytes;
};

struct xoff_pause_ops {
    const char *name, *summary;
    const struct xoff_param *params;
    size_t params_size;
    size_t cfg_size, cfg_port_size;
    int (*configure)(const void *params, const struct xoff_pause_env *env, void *cfg,
                     struct xoff_pause_shape *shape, struct xoff_err *err);
    void (*init)(const void *cfg, void *state);
    /* `arrival->egress_bytes` is the length before the frame, `departure->egress_bytes` the length
     * after it. NULL: such frames, and the thresholds they cross, decide nothing. */
    void (*on_arrival)(const void *cfg, void *state, const struct xoff_arrival *arrival,
                       const struct xoff_crossings *crossings, xoff_time now,
                       struct xoff_edges *out);
    void (*on_departure)(const void *cfg, void *state, const struct xoff_departure *departure,
                         const struct xoff_crossings *crossings, xoff_time now,
                         struct xoff_edges *out);
    /* A frame that joined or left an ingress queue, and no egress queue, has crossed thresholds.
     * NULL: thresholds of ingress queues decide nothing. */
    void (*on_crossings)(const void *cfg, void *state, const struct xoff_crossings *crossings,
                         xoff_time now, struct xoff_edges *out);
    /* When expire() is to be called next; XOFF_NEVER: not at all. Only a call of init(), on_x() or
     * expire() changes it. NULL: there is no deadline. */
    xoff_time (*deadline)(const void *cfg, const void *state);
    /* Called at the deadline, which is `now`. NULL: there is no deadline. */
    void (*expire)(const void *cfg, void *state, xoff_time now, struct xoff_edges *out);
    /* The priorities whose frames from ingress `port` must leave before the peer may send
     * `priority` again, as a bit mask; 0: the peer is not paused. Used by the deadlock detector.
     * NULL: nobody is paused. */
    uint8_t (*waits_for)(const void *cfg, const void *state, uint32_t port, uint32_t priority);
    /* Whether egress queue (out_port, priority) itself holds `port`, even if it has no frame from
     * there. NULL: queues do not hold ports. */
    enum xoff_hold (*held_by)(const void *cfg, const void *state, uint32_t port, uint32_t out_port,
                              uint32_t priority);
};

struct xoff_pause {
    const struct xoff_pause_ops *ops;
    const void *cfg;
    void *state;
    struct xoff_pause_shape shape;
};

XOFF_ROLE(pause)

/* `state` has shape.state_size bytes and stays the caller's. */
static inline void xoff_pause_init(struct xoff_pause *p, void *state)
{
    p->state = state;
    if (p->ops->init)
        p->ops->init(p->cfg, state);
    else
        memset(state, 0, p->shape.state_size);
}

/* xoff_pause_on_x() return false when the policy was not called, so nothing has changed. */
static inline bool xoff_pause_on_arrival(const struct xoff_pause *p, const struct xoff_arrival *a,
                                         const struct xoff_crossings *c, xoff_time now,
                                         struct xoff_edges *out)
{
    out->n = 0;
    if ((!c->n && !p->shape.every_frame) || !p->ops->on_arrival)
        return false;
    p->ops->on_arrival(p->cfg, p->state, a, c, now, out);
    return true;
}

static inline bool xoff_pause_on_departure(const struct xoff_pause *p,
                                           const struct xoff_departure *d,
                                           const struct xoff_crossings *c, xoff_time now,
                                           struct xoff_edges *out)
{
    out->n = 0;
    if ((!c->n && !p->shape.every_frame) || !p->ops->on_departure)
        return false;
    p->ops->on_departure(p->cfg, p->state, d, c, now, out);
    return true;
}

static inline bool xoff_pause_on_crossings(const struct xoff_pause *p,
                                           const struct xoff_crossings *c, xoff_time now,
                                           struct xoff_edges *out)
{
    out->n = 0;
    if (!c->n || !p->ops->on_crossings)
        return false;
    p->ops->on_crossings(p->cfg, p->state, c, now, out);
    return true;
}

static inline xoff_time xoff_pause_deadline(const struct xoff_pause *p)
{
    return p->shape.has_deadline && p->ops->deadline ? p->ops->deadline(p->cfg, p->state)
                                                     : XOFF_NEVER;
}

static inline void xoff_pause_expire(const struct xoff_pause *p, xoff_time now,
                                     struct xoff_edges *out)
{
    out->n = 0;
    if (p->ops->expire)
        p->ops->expire(p->cfg, p->state, now, out);
}

static inline uint8_t xoff_pause_waits_for(const struct xoff_pause *p, uint32_t port,
                                           uint32_t priority)
{
    return p->ops->waits_for ? p->ops->waits_for(p->cfg, p->state, port, priority) : 0;
}

static inline enum xoff_hold xoff_pause_held_by(const struct xoff_pause *p, uint32_t port,
                                                uint32_t out_port, uint32_t priority)
{
    return p->ops->held_by ? p->ops->held_by(p->cfg, p->state, port, out_port, priority)
                           : XOFF_HOLD_BY_FRAMES;
}

#ifdef __cplusplus
}
#endif

#endif
