/* Role sched: which queue of a port sends next.
 *
 * The caller holds the queues. It asks select() with at least one queue eligible (backlogged and
 * not paused), sends the head of the answer, and reports it by charge(). While only one queue is
 * backlogged the caller may send without asking, since there is nothing to share; a scheduler that
 * must see those frames too sets shape.every_frame. A queue that is not backlogged at a select()
 * loses its credit. The contract is that of every role (role.h).
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
    const xoff_time *head_since; /* when its head was queued; where shape.reads_since */
    xoff_time now;
};

struct xoff_sched_shape {
    size_t state_size; /* of each port */
    bool reads_since;  /* select() reads view->head_since */
    bool every_frame;  /* select() and charge() are called even if one queue alone is backlogged */
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
    /* A frame of `bytes` was sent from `queue`; `emptied`: the queue has no frame left. NULL: the
     * scheduler does not need to know. */
    void (*charge)(const void *cfg, void *state, uint32_t queue, uint32_t bytes, bool emptied);
    /* Queues whose frames all go before a new frame of `queue`, whatever weights and turns say; a
     * bit mask, in which its own bit means nothing. NULL: none. */
    uint8_t (*ahead)(const void *cfg, uint32_t queue);
};

/* One scheduler serves all ports of a node; each port has its own state. */
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

/* Returns the queues whose bytes leave before a frame that joins `queue` now, itself included. */
static inline uint8_t xoff_sched_ahead(const struct xoff_sched *s, uint32_t queue)
{
    return (uint8_t)((s->ops->ahead ? s->ops->ahead(s->cfg, queue) : 0) | 1u << queue);
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
