/* Role path: which of the equal-cost ports a frame takes at a switch.
 *
 * Told about a frame and the candidates, answers an index among them. The contract is
 * that of every role (role.h). cfg and state belong to a switch. What the caller
 * may spare itself stands in the shape; a shape of zeros is a path choice that is asked about every
 * frame that has two candidates or more.
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
};

/* The egress side of a candidate. */
struct xoff_path_port {
    int64_t queue_bytes[XOFF_N_PRIORITIES];
    uint8_t open; /* bit n: priority n is not paused */
    bool is_up;   /* its link; a frame that is sent to a port that is down is lost */
};

struct xoff_path_frame {
    /* Uniform 32 bits: `hash` the same for all frames of a flow and independent from switch to
     * switch, `draw` drawn for this frame where the shape `draws`. */
    uint32_t hash, draw;
    uint64_t flow; /* identifies it in the network; what comes back for a flow is another one */
    uint32_t bytes;
    uint8_t priority;
    uint32_t n;            /* candidates, 2 or more */
    const uint16_t *ports; /* their numbers: the same order for all frames to a destination, until
                            * routes change */
    const struct xoff_path_port *queues; /* of each, where the shape sees_queues; else NULL */
};

struct xoff_path_shape {
    size_t state_size;
    /* The answer is xoff_path_by_value() of the draw where it `draws`, of the hash otherwise, so
     * that the caller need not ask. */
    bool by_hash;
    bool draws;       /* wants a random value with every frame */
    bool sees_queues; /* wants to know of the candidates' queues and links */
};

struct xoff_path_ops {
    const char *name, *summary;
    const struct xoff_param *params;
    size_t params_size;
    size_t cfg_size, cfg_port_size;
    int (*configure)(const void *params, const struct xoff_path_env *env, void *cfg,
                     struct xoff_path_shape *shape, struct xoff_err *err);
    void (*init)(const void *cfg, void *state);
    /* An index below frame->n. NULL: by_hash. */
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

/* A uniform value spread over n candidates. */
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
    else if (state) /* NULL will do where the state has no bytes */
        memset(state, 0, path->shape.state_size);
}

/* Whether the answer follows from the hash or the draw, so that the caller need not ask. */
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

/* All frames of a flow take one way, as long as routes do not change. */
static inline bool xoff_path_keeps_flows(const struct xoff_path *path)
{
    return xoff_path_is_by_hash(path) && !path->shape.draws;
}

#ifdef __cplusplus
}
#endif

#endif
