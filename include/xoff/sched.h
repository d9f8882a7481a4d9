/* Role sched: which queue of a port sends next.
 *
 * The caller holds the queues; it asks select() with at least one queue eligible (backlogged and
 * not paused), sends the head of the answer, and reports it by charge(). While one queue alone is
 * backlogged it may send without asking: there is nothing to share. A scheduler that has to see
 * those frames too says so (wants_every_frame). A queue that is no longer backlogged at a select()
 * has lost what credit it had.
 *
 * configure() returns 0 with err->code XOFF_E_OK and a message to warn of what works but is
 * probably not meant.
 */
#ifndef XOFF_SCHED_H
#define XOFF_SCHED_H

#include <stddef.h>

#include <xoff/err.h>
#include <xoff/param.h>
#include <xoff/time.h>

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

struct xoff_sched_ops {
    const char *name, *summary;
    const struct xoff_param *params;
    size_t params_size, cfg_size, state_size;
    bool wants_every_frame; /* select() and charge() also while a queue is alone */
    int (*configure)(const void *params, const struct xoff_sched_env *env, void *cfg,
                     struct xoff_err *err);
    void (*init)(const void *cfg, void *state);
    uint32_t (*select)(const void *cfg, void *state, const struct xoff_sched_view *view);
    /* `bytes` of queue `queue` were sent; `emptied`: it has no frame left. */
    void (*charge)(const void *cfg, void *state, uint32_t queue, uint32_t bytes, bool emptied);
};

struct xoff_sched {
    const struct xoff_sched_ops *ops;
    const void *cfg;
};

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

#endif
