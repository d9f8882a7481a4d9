/* Where the frames of a node lie: a store of places, and lists of frames by the index of their
 * place. */
#ifndef NET_FRAMES_H
#define NET_FRAMES_H

#include "sim/frame.h"

#define NET_NO_PLACE UINT32_MAX

struct frame_store {
    struct frame *frames;
    uint32_t free; /* list of returned places */
    uint32_t used; /* places ever taken */
    uint32_t capacity;
    uint32_t step;  /* places are counted in lines, and lie so many apart */
    bool is_mapped; /* as large as it can get: pages come when touched */
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
    if (place != NET_NO_PLACE) {
        store->free = store_at(store, place)->next;
        if (store->free != NET_NO_PLACE)
            __builtin_prefetch(store_at(store, store->free), 1);
        return place;
    }
    if (store->used == store->capacity)
        store_grow(store);
    store->used += store->step;
    return store->used - store->step;
}

static inline void store_return(struct frame_store *store, uint32_t place)
{
    store_at(store, place)->next = store->free;
    store->free = place;
}

static inline void fifo_push(struct fifo *fifo, struct frame_store *store, uint32_t place)
{
    struct frame *f = store_at(store, place);
    f->next = NET_NO_PLACE;
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

#endif
