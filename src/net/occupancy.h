/* The occupied buffer units of the queues that a switch's congestion points watch, built only where
 * a point draws frames from its queue (cp.h, unit_bytes).
 *
 * A frame of b bytes occupies ceil(b / unit_bytes) units of its queue, whatever else lies there. A
 * queue is an array of its occupied units in no order: a unit that is freed is replaced by the last
 * one, so that a draw is one random index, uniform over the units, at any length of the queue. Each
 * place of the switch's store knows where in the array the units of its frame are.
 */
#ifndef NET_OCCUPANCY_H
#define NET_OCCUPANCY_H

#include <xoff/rng.h>

#include "net/frames.h"

struct occupied_unit {
    uint32_t place; /* of the frame in the store */
    uint32_t which; /* of the frame's units, from 0 */
};

/* The occupied units of one queue. */
struct occupied {
    struct occupied_unit *at;
    uint32_t n, capacity;
};

struct occupancy {
    struct occupied *queues; /* by port and priority */
    uint32_t n_queues;
    uint32_t *index; /* of unit k of the frame at a place: [place / step * per_frame + k] */
    uint32_t n_places, step;
    uint32_t unit_bytes, per_frame; /* per_frame: units of the largest frame */
    struct xoff_rng rng;
};

/* notes.c: both grow a table that is full. */
void occupancy_grow_queue(struct occupied *queue);
void occupancy_grow_places(struct occupancy *occupancy, uint32_t n_places);

static inline uint32_t occupancy_of(const struct occupancy *occupancy, uint32_t bytes)
{
    return (bytes + occupancy->unit_bytes - 1) / occupancy->unit_bytes;
}

static inline uint32_t *occupancy_index(const struct occupancy *occupancy, uint32_t place)
{
    return &occupancy->index[(size_t)(place / occupancy->step) * occupancy->per_frame];
}

static inline void occupancy_add(struct occupancy *occupancy, uint32_t queue, uint32_t place,
                                 uint32_t bytes)
{
    struct occupied *q = &occupancy->queues[queue];
    if (place / occupancy->step >= occupancy->n_places)
        occupancy_grow_places(occupancy, place / occupancy->step + 1);
    const uint32_t n = occupancy_of(occupancy, bytes);
    XOFF_ASSERT(n <= occupancy->per_frame);
    for (uint32_t k = 0; k < n; k++) {
        if (q->n == q->capacity)
            occupancy_grow_queue(q);
        occupancy_index(occupancy, place)[k] = q->n;
        q->at[q->n++] = (struct occupied_unit){place, k};
    }
}

static inline void occupancy_remove(struct occupancy *occupancy, uint32_t queue, uint32_t place,
                                    uint32_t bytes)
{
    struct occupied *q = &occupancy->queues[queue];
    for (uint32_t k = occupancy_of(occupancy, bytes); k-- > 0;) {
        const uint32_t i = occupancy_index(occupancy, place)[k];
        const struct occupied_unit last = q->at[--q->n];
        q->at[i] = last;
        occupancy_index(occupancy, last.place)[last.which] = i;
    }
}

/* Returns the place of the frame that holds a unit drawn from the queue; NET_NONE: none is
 * occupied.
 */
static inline uint32_t occupancy_draw(struct occupancy *occupancy, uint32_t queue)
{
    const struct occupied *q = &occupancy->queues[queue];
    return q->n ? q->at[xoff_rng_below(&occupancy->rng, q->n)].place : NET_NONE;
}

#endif
