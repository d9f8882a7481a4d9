/* Role cp: congestion point of an egress queue. It is told about frames that join and leave the
 * queue and about expiry; it answers whether to mark the frame, what telemetry or tag to write into
 * it, and what notification to send to the frame's source. The message is data (notice.h): the
 * switch makes a frame of it and sends it like any other.
 *
 * The contract is that of every role (role.h). cfg belongs to a port, state to a queue (port,
 * priority). What the caller may know of a configured congestion point
 * stands in its shape; a shape of zeros is one that is asked about every frame and only marks.
 */
#ifndef XOFF_CP_H
#define XOFF_CP_H

#include <xoff/notice.h>
#include <xoff/role.h>
#include <xoff/telemetry.h>

#ifdef __cplusplus
extern "C" {
#endif

struct xoff_cp_env {
    xoff_rate rate_bps; /* of the port */
    int64_t buffer_bytes;
    uint64_t port_id; /* unique in the network; with the priority it makes xoff_cp_id() */
};

struct xoff_cp_frame {
    int64_t queue_bytes; /* of its egress queue, this frame included */
    uint32_t bytes;
    uint32_t draw;      /* uniform 32 bits, drawn for this frame where the shape `draws` */
    uint32_t flow_hash; /* the same for all frames of a flow */
    uint8_t priority;
    bool is_data; /* marks, tags and notifications are for data alone: others ignore them */
    /* The tag that switches before this one wrote into the frame; NULL: none. */
    const struct xoff_notice *tag;
    /* Where the shape `sees_port`: the port's queues without this frame, and all it ever sent
     * before it. */
    int64_t port_bytes;
    uint64_t port_tx_bytes;
};

/* The caller has cleared the four flags; what a flag that is not set stands for is not read. */
struct xoff_cp_answer {
    bool mark;   /* set congestion experienced */
    bool stamp;  /* write `hop` into the frame's telemetry */
    bool notify; /* send `notice` to the source of the frame */
    bool write;  /* write `notice` into the frame, in place of the tag it carries */
    struct xoff_int_hop hop;
    struct xoff_notice notice;
};

struct xoff_cp_shape {
    size_t state_size; /* of a queue */
    /* Queue length, with the frame that joins or leaves, up to which no call would answer anything
     * or change the state, so that the caller may skip it: 0 when every frame counts. */
    int64_t quiet_below;
    bool skips_enqueue, skips_dequeue; /* the call need not be made at all */
    bool draws;                        /* wants a random value with every frame */
    bool sees_port;                    /* wants to know of the port's other queues */
    bool is_timed;                     /* has deadlines: see deadline() */
    /* What it may answer. Frames have room for one of telemetry and tag. */
    bool stamps, writes, notifies;
};

struct xoff_cp_ops {
    const char *name, *summary;
    const struct xoff_param *params;
    size_t params_size;
    size_t cfg_size, cfg_port_size;
    int (*configure)(const void *params, const struct xoff_cp_env *env, void *cfg,
                     struct xoff_cp_shape *shape, struct xoff_err *err);
    void (*init)(const void *cfg, void *state);
    /* A frame has joined its queue, or is about to be sent. NULL: it has nothing to say then. */
    void (*on_enqueue)(const void *cfg, void *state, const struct xoff_cp_frame *frame,
                       xoff_time now, struct xoff_cp_answer *answer);
    void (*on_dequeue)(const void *cfg, void *state, const struct xoff_cp_frame *frame,
                       xoff_time now, struct xoff_cp_answer *answer);
    /* Where the shape is_timed: when expire() is wanted, XOFF_NEVER: not. It changes in calls
     * alone; the caller reads it after each. expire() is called at that time and moves it beyond.
     * A deadline that always lies ahead keeps a network from coming to rest: a point whose queue is
     * idle has none. */
    xoff_time (*deadline)(const void *cfg, const void *state);
    void (*expire)(const void *cfg, void *state, xoff_time now);
};

/* A configured congestion point of a port: the typed handle that everyone calls through. The state
 * is the queue's and comes with each call. */
struct xoff_cp {
    const struct xoff_cp_ops *ops;
    const void *cfg;
    struct xoff_cp_shape shape;
};

static inline uint64_t xoff_cp_id(uint64_t port_id, uint32_t priority)
{
    return port_id * XOFF_N_PRIORITIES + priority;
}

XOFF_ROLE(cp)

/* `state` has shape.state_size bytes and stays the caller's. */
static inline void xoff_cp_init(const struct xoff_cp *cp, void *state)
{
    if (cp->ops->init)
        cp->ops->init(cp->cfg, state);
    else if (state) /* NULL will do where the state has no bytes */
        memset(state, 0, cp->shape.state_size);
}

/* Whether frames that join, or leave, the queue are of no interest to it. */
static inline bool xoff_cp_skips_enqueue(const struct xoff_cp *cp)
{
    return cp->shape.skips_enqueue || !cp->ops->on_enqueue;
}

static inline bool xoff_cp_skips_dequeue(const struct xoff_cp *cp)
{
    return cp->shape.skips_dequeue || !cp->ops->on_dequeue;
}

/* Queue length up to which the caller may skip both calls. */
static inline int64_t xoff_cp_quiet_below(const struct xoff_cp *cp)
{
    return xoff_cp_skips_enqueue(cp) && xoff_cp_skips_dequeue(cp) ? INT64_MAX
                                                                  : cp->shape.quiet_below;
}

static inline void xoff_cp_clear(struct xoff_cp_answer *answer)
{
    answer->mark = answer->stamp = answer->notify = answer->write = false;
}

/* Not to be called where the shape skips it. */
static inline void xoff_cp_on_enqueue(const struct xoff_cp *cp, void *state,
                                      const struct xoff_cp_frame *frame, xoff_time now,
                                      struct xoff_cp_answer *answer)
{
    xoff_cp_clear(answer);
    cp->ops->on_enqueue(cp->cfg, state, frame, now, answer);
}

static inline void xoff_cp_on_dequeue(const struct xoff_cp *cp, void *state,
                                      const struct xoff_cp_frame *frame, xoff_time now,
                                      struct xoff_cp_answer *answer)
{
    xoff_cp_clear(answer);
    cp->ops->on_dequeue(cp->cfg, state, frame, now, answer);
}

static inline xoff_time xoff_cp_deadline(const struct xoff_cp *cp, const void *state)
{
    return cp->shape.is_timed ? cp->ops->deadline(cp->cfg, state) : XOFF_NEVER;
}

/* Only where there is a deadline. */
static inline void xoff_cp_expire(const struct xoff_cp *cp, void *state, xoff_time now)
{
    cp->ops->expire(cp->cfg, state, now);
}
#ifdef __cplusplus
}
#endif

#endif
