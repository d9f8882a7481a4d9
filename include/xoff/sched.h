/* Role sched: which queue of a port sends next.
 *
 * The caller holds the queues; it asks select() with at least one queue eligible (backlogged and
 * not paused), sends the head of the answer, and reports it by charge(). While one queue alone is
 * backlogged it may send without asking: there is nothing to share. A scheduler that has to see
 * those frames too says so (shape.every_frame). A queue that is no longer backlogged at a select()
 * has lost what credit it had. The contract is that of every role (role.h).
 */
#ifndef XOFF_SCHED_H
#define XOFF_SCHED_H

#include <xoff/role.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Per-priority settings of the scenario (`priorities:`). */
struct xoff_sched_env {
    uint32_t max_frame_bytes;
    uint32_t weight[XOFF_N_PRIORITIES]; /* 1..; ETS: percent of what strict leaves */
    uint8_t strict;                     /* ETS: bit n: priority n is strict */
};

struct xoff_sched_view {
    uint8_t eligible;            /* bit n: queue n has a frame and may send; never 0 */
    uint8_t backlogged;          /* bit n: queue n has a frame, paused or not */
    const uint32_t *head_bytes;  /* of each backlogged queue */
    const xoff_time *head_since; /* when its head was queued */
    xoff_time now;
};

struct xoff_sched_shape {
    size_t state_size; /* of each port */
    bool every_frame;  /* select() and charge() also while a queue is alone */
};

struct xoff_sched_ops {
    const char *name, *summary;
    const struct xoff_param *params;
    size_t params_size;
    size_t cfg_size, cfg_port_size;
    int (*configure)(const void *params, const struct xoff_sched_env *env, void *cfg,
                     struct xoff_sched_shape *shape, struct xoff_err *err);
    void (*init)(const void *cfg, void *state);
    uint32_t (*select)(const void *cfg, void *state, const struct xoff_sched_view *view);
    /* `bytes` of queue `queue` were sent; `emptied`: it has no frame left. NULL: it does not
     * matter. */
    void (*charge)(const void *cfg, void *state, uint32_t queue, uint32_t bytes, bool emptied);
};

/* One for all ports of a node; each port has a state of its own. */
struct xoff_sched {
    const struct xoff_sched_ops *ops;
    const void *cfg;
    struct xoff_sched_shape shape;
};

XOFF_ROLE(sched)

static inline void xoff_sched_init(const struct xoff_sched *s, void *state)
{
    if (s->ops->init)
        s->ops->init(s->cfg, state);
    else
        memset(state, 0, s->shape.state_size);
}

static inline uint32_t xoff_sched_select(const struct xoff_sched *s, void *state,
                                         const struct xoff_sched_view *view)
{
    return s->ops->select(s->cfg, state, view);
}

static inline void xoff_sched_charge(const struct xoff_sched *s, void *state, uint32_t queue,
                                     uint32_t bytes, bool emptied)
{
    if (s->ops->charge)
        s->ops->charge(s->cfg, state, queue, bytes, emptied);
}

#ifdef __cplusplus
}
#endif

#endif
