/* Role path: which of the equal-cost ports a frame takes at a switch.
 *
 * A path choice is told about a frame and its candidate ports, and answers an index among them. The
 * contract is that of every role (role.h). cfg and state belong to a switch. The shape says which
 * calls the caller may skip; with a shape of zeros the path choice is asked about every frame that
 * has two candidates or more.
 */
#ifndef XOFF_PATH_H
#define XOFF_PATH_H

#include <xoff/role.h>

#ifdef __cplusplus
extern "C" {
#endif

struct xoff_path_env {
    uint32_t n_ports;
    int64_t buffer_bytes;
    /* By priority: whose queued frames leave a port before a new one of that priority
     * (xoff_sched_ahead()); its own bit is set. */
    uint8_t ahead[XOFF_N_PRIORITIES];
};

/* The egress side of a candidate, as a frame finds it. */
struct xoff_path_port {
    int64_t queue_bytes; /* in the egress queues of shape.counts[frame.priority] */
    uint8_t open;        /* bit n: priority n is not paused */
    bool is_up;          /* the link; a frame sent to a port whose link is down is lost */
};

struct xoff_path_frame {
    /* Both are 32 uniform bits. `hash` is the same for all frames of a flow and independent from
     * switch to switch; `draw` is drawn for this frame if shape.draws is set. */
    uint32_t hash, draw;
    uint64_t flow; /* unique in the network; the reverse direction of a flow has another number */
    uint32_t bytes;
    uint8_t priority;
    uint32_t n;            /* candidates, 2 or more */
    const uint16_t *ports; /* their numbers: the same order for all frames to a destination, until
                            * routes change */
    const struct xoff_path_port *egress; /* of each candidate if shape.sees_egress, else NULL */
};

struct xoff_path_shape {
    size_t state_size;
    /* The answer is xoff_path_by_value() of frame.draw (with `draws`) or of frame.hash (without),
     * so the caller need not call choose(). */
    bool by_hash;
    bool draws;       /* needs a random value with every frame */
    bool sees_egress; /* reads the candidates' queues and links */
    /* Not 0: where the links of all candidates are up and each has less than this in queue_bytes,
     * the answer is xoff_path_by_value() of frame.draw, so the caller need not call choose(). */
    int64_t even_below;
    /* By priority of the frame: the priorities whose bytes make up queue_bytes. The caller reads no
     * others, since each is a cache line of its own. */
    uint8_t counts[XOFF_N_PRIORITIES];
};

struct xoff_path_ops {
    const char *name, *summary;
    const struct xoff_param *params;
    size_t params_size;
    size_t cfg_size, cfg_port_size;
    int (*configure)(const void *params, const struct xoff_path_env *env, void *cfg,
                     struct xoff_path_shape *shape, struct xoff_err *err);
    void (*init)(const void *cfg, void *state);
    /* Answers an index below frame->n. NULL: as with shape.by_hash. */
    uint32_t (*choose)(const void *cfg, void *state, const struct xoff_path_frame *frame,
                       xoff_time now);
};

/* A configured path choice: the typed handle that everyone calls through. */
struct xoff_path {
    const struct xoff_path_ops *ops;
    const void *cfg;
    void *state;
    struct xoff_path_shape shape;
};

/* Maps a uniform 32-bit value to one of n candidates: floor(value * n / 2^32). */
static inline uint32_t xoff_path_by_value(uint32_t value, uint32_t n)
{
    return (uint32_t)((uint64_t)value * n >> 32);
}

XOFF_ROLE(path)

/* `state` has shape.state_size bytes and stays the caller's. */
static inline void xoff_path_init(struct xoff_path *path, void *state)
{
    path->state = state;
    if (path->ops->init)
        path->ops->init(path->cfg, state);
    else if (state) /* may be NULL when state_size is 0 */
        memset(state, 0, path->shape.state_size);
}

/* True when the hash or the draw alone determines the answer, so the caller need not call choose().
 */
static inline bool xoff_path_is_by_hash(const struct xoff_path *path)
{
    return path->shape.by_hash || !path->ops->choose;
}

static inline uint32_t xoff_path_choose(const struct xoff_path *path,
                                        const struct xoff_path_frame *frame, xoff_time now)
{
    if (xoff_path_is_by_hash(path))
        return xoff_path_by_value(path->shape.draws ? frame->draw : frame->hash, frame->n);
    return path->ops->choose(path->cfg, path->state, frame, now);
}

/* True when all frames of a flow take the same port while routes do not change. */
static inline bool xoff_path_keeps_flows(const struct xoff_path *path)
{
    return xoff_path_is_by_hash(path) && !path->shape.draws;
}

#ifdef __cplusplus
}
#endif

#endif
