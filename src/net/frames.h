/* Storage of a node's frames: a store of places, and lists of frames linked by the index of their
 * place. */
#ifndef NET_FRAMES_H
#define NET_FRAMES_H

#include <xoff/notice.h>
#include <xoff/rel.h>
#include <xoff/telemetry.h>

#include "sim/frame.h"

#define NET_NONE UINT32_MAX /* an index that no frame, flow or message has */

struct frame_store {
    struct frame *frames;
    uint32_t free; /* list of returned places */
    uint32_t used; /* places ever taken */
    uint32_t capacity;
    uint32_t step;  /* cache lines from one place to the next; places are counted in lines */
    bool is_mapped; /* as large as it can get: pages are allocated when touched */
};

/* A list of frames in a store. */
struct fifo {
    uint32_t head, tail;
    uint32_t n;
    int64_t bytes;
};

static inline struct frame *store_at(const struct frame_store *store, uint32_t place)
{
    return &store->frames[place];
}

void store_grow(struct frame_store *store); /* notes.c */

static inline uint32_t store_take(struct frame_store *store)
{
    const uint32_t place = store->free;
    if (place != NET_NONE) {
        store->free = store_at(store, place)->next;
        if (store->free != NET_NONE)
            __builtin_prefetch(store_at(store, store->free), 1);
        return place;
    }
    if (store->used == store->capacity)
        store_grow(store);
    store->used += store->step;
    return store->used - store->step;
}

/* For callers that still know where the frame at the place is. */
static inline void store_return_frame(struct frame_store *store, struct frame *f, uint32_t place)
{
    f->next = store->free;
    store->free = place;
}

static inline void store_return(struct frame_store *store, uint32_t place)
{
    store_return_frame(store, store_at(store, place), place);
}

static inline void fifo_push(struct fifo *fifo, struct frame_store *store, uint32_t place)
{
    struct frame *f = store_at(store, place);
    f->next = NET_NONE;
    if (fifo->n++)
        store_at(store, fifo->tail)->next = place;
    else
        fifo->head = place;
    fifo->tail = place;
    fifo->bytes += f->bytes;
}

static inline uint32_t fifo_pop(struct fifo *fifo, struct frame_store *store)
{
    const uint32_t place = fifo->head;
    const struct frame *f = store_at(store, place);
    fifo->head = f->next;
    fifo->n--;
    fifo->bytes -= f->bytes;
    return place;
}

/* The ranges that an ACK names (SACK), relative to its seq. */
struct sack {
    uint32_t n;
    uint32_t from[XOFF_REL_BLOCKS], bytes[XOFF_REL_BLOCKS];
};

/* The second cache line of a frame, in runs whose frames have one. */
union extra {
    struct xoff_int telemetry; /* on data, and sent back on its ACK */
    struct xoff_notice tag;    /* on data, and the content of a notification */
    struct sack sack;          /* on an ACK that names ranges */
};

_Static_assert(sizeof(union extra) <= sizeof(struct frame_extra), "one cache line");

static inline union extra *extra_of(struct frame *frame)
{
    return (union extra *)(frame + 1);
}

static inline const union extra *extra_at(const struct frame *frame)
{
    return (const union extra *)(frame + 1);
}

#endif
