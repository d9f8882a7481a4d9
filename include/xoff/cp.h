/* Role cp: congestion point of a queue: an egress queue, or all frames of a priority that came in
 * by one port and lie in the switch. It is told about frames that join and leave the queue and
 * about expiry; it answers whether to mark the frame, what telemetry or tag to write into it, and
 * what notification to send to the frame's source. The message is data (notice.h): the switch makes
 * a frame of it and sends it like any other.
 *
 * The contract is that of every role (role.h). cfg belongs to a port, state to a queue (port,
 * priority). The shape says what the caller may know of a configured congestion point; with a shape
 * of zeros the point is asked about every frame and only marks.
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

/* What has gone through a queue since the network started. */
struct xoff_cp_load {
    int64_t queue_bytes; /* that wait in it */
    uint64_t joined_bytes, sent_bytes;
    /* How long it had something to send: frames that waited, for whatever reason, or one that was
     * on the wire. */
    xoff_time backlogged_for;
};

struct xoff_cp_frame {
    int64_t queue_bytes; /* of its queue, this frame included */
    uint32_t bytes;
    uint32_t draw;      /* 32 uniform bits, drawn for this frame if shape.draws */
    uint32_t flow_hash; /* the same for all frames of a flow */
    uint8_t priority;
    bool is_data;  /* marks, tags and notifications take effect on data frames alone */
    bool is_probe; /* a frame without payload that carries a tag, which may be written */
    /* The tag that its source or switches before this one wrote into the frame, if shape.writes or
     * shape.reads_tags; NULL: none. */
    const struct xoff_notice *tag;
    /* Set if shape.sees_port: bytes in the port's queues without this frame, and all bytes that the
     * port sent before it. */
    int64_t port_bytes;
    uint64_t port_tx_bytes;
    const struct xoff_cp_load *load; /* of its queue, this frame included, if shape.sees_load */
};

/* The caller has cleared the first four flags. It reads `hop`, `notice` and `from_buffer` only if a
 * flag that stands for them is set. */
struct xoff_cp_answer {
    bool mark;   /* set congestion experienced */
    bool stamp;  /* write `hop` into the frame's telemetry */
    bool notify; /* send `notice` to the source of the frame */
    bool write;  /* write `notice` into the frame, in place of the tag it carries */
    /* With `notify`, and only if shape.unit_bytes: the notice is not for the source of this frame
     * but for that of a frame which the caller draws from the queue (see there). */
    bool from_buffer;
    struct xoff_int_hop hop;
    struct xoff_notice notice;
};

/* The state of a point with shape.samples begins with this. */
struct xoff_cp_sampling {
    int64_t left_bytes; /* that may still join the queue before a sample is due */
};

struct xoff_cp_shape {
    size_t state_size; /* of a queue */
    /* The point looks at a frame only now and then. The caller counts the bytes that join the queue
     * with xoff_cp_is_due() and makes on_enqueue only when that says so. Frames that are not data
     * are counted, and a sample that falls due on one waits for the next data frame. */
    bool samples;
    /* Above 0: `from_buffer` is possible. The queue is seen as units of so many bytes, each of
     * which belongs to one data frame: a frame of b bytes has b / unit_bytes of them, rounded up.
     * The caller draws one of the occupied units, each with the same probability, and sends the
     * notice to the source of its frame. */
    uint32_t unit_bytes;
    /* Up to this queue length, which includes the frame that joins or leaves, a call would neither
     * answer anything nor change the state, so the caller may skip it. 0: every frame counts. */
    int64_t quiet_below;
    /* Frames to which their source gave a tag are shown whatever the queue length; quiet_below
     * holds for all others. */
    bool heeds_tags;
    bool skips_enqueue, skips_dequeue; /* the call need not be made at all */
    bool draws;                        /* needs a random value with every call for a frame */
    bool sees_port;                    /* reads port_bytes and port_tx_bytes */
    bool reads_tags;                   /* reads the tags of frames, and writes none */
    bool sees_load;                    /* reads the load of its queue, here and in expire() */
    bool is_timed;                     /* has deadlines: see deadline() */
    /* What the point may answer. A frame has room for telemetry or for a tag, not for both. */
    bool stamps, writes, notifies;
    int64_t queue_unit; /* stamps: bytes for which a unit of its queue lengths stands */
};

/* What a point that computes a rate for its queue found when its last interval ended. Before that,
 * and after an idle interval, `load` and `control` are 0. */
struct xoff_cp_view {
    double rate_bps; /* that it gives to each flow */
    double load;     /* rho: what arrived, as a part of what was to be given away; 1: balanced */
    double control;  /* f(q): what was to be given away, as a part of the capacity */
};

struct xoff_cp_ops {
    const char *name, *summary;
    const struct xoff_param *params;
    size_t params_size;
    size_t cfg_size, cfg_port_size;
    int (*configure)(const void *params, const struct xoff_cp_env *env, void *cfg,
                     struct xoff_cp_shape *shape, struct xoff_err *err);
    void (*init)(const void *cfg, void *state);
    /* on_enqueue: a frame has joined its queue; on_dequeue: it is about to be sent. NULL: the point
     * has no answer then. */
    void (*on_enqueue)(const void *cfg, void *state, const struct xoff_cp_frame *frame,
                       xoff_time now, struct xoff_cp_answer *answer);
    void (*on_dequeue)(const void *cfg, void *state, const struct xoff_cp_frame *frame,
                       xoff_time now, struct xoff_cp_answer *answer);
    /* Of a point without a state whose only answer is a mark: whether a frame of `bytes` is marked,
     * in place of both. NULL: it has more to look at, or to say. */
    bool (*marks)(const void *cfg, int64_t queue_bytes, uint32_t bytes, uint32_t draw);
    /* Used if shape.is_timed. deadline() is the time at which expire() is to be called; XOFF_NEVER:
     * not at all. Only a call to the point changes its deadline, and the caller reads it after each
     * call. expire() is called at the deadline and moves it to a later time; `load` is NULL unless
     * shape.sees_load. A point whose queue is idle must have no deadline: one that always lies
     * ahead would keep the network from coming to rest. */
    xoff_time (*deadline)(const void *cfg, const void *state);
    void (*expire)(const void *cfg, void *state, const struct xoff_cp_load *load, xoff_time now);
    /* For results. NULL: the point computes no rate. */
    void (*view)(const void *cfg, const void *state, struct xoff_cp_view *view);
};

/* A configured congestion point of a port: the typed handle that everyone calls through. Each queue
 * has its own state, which is passed to every call. */
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
    else if (state) /* may be NULL when state_size is 0 */
        memset(state, 0, cp->shape.state_size);
}

/* True when the point need not be called for frames that join the queue, or for those that leave
 * it. */
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

/* Counts a frame that has joined a queue whose point samples; returns whether the point is to look
 * at it. */
static inline bool xoff_cp_is_due(void *state, uint32_t bytes, bool is_data)
{
    struct xoff_cp_sampling *sampling = (struct xoff_cp_sampling *)state;
    sampling->left_bytes -= bytes;
    return __builtin_expect(sampling->left_bytes <= 0, 0) && is_data;
}

/* Must not be called when xoff_cp_skips_enqueue() is true; the same holds for dequeue. */
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

/* Called only when there is a deadline. */
static inline void xoff_cp_expire(const struct xoff_cp *cp, void *state,
                                  const struct xoff_cp_load *load, xoff_time now)
{
    cp->ops->expire(cp->cfg, state, load, now);
}

/* Returns whether the point computes a rate; if not, `view` is left alone. */
static inline bool xoff_cp_view(const struct xoff_cp *cp, const void *state,
                                struct xoff_cp_view *view)
{
    if (!cp->ops->view)
        return false;
    cp->ops->view(cp->cfg, state, view);
    return true;
}
#ifdef __cplusplus
}
#endif

#endif
