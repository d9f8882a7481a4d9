/* The event queue of the cell that is running: one array over one window, sorted as it is filled.
 *
 * A window is cut into a power of two of buckets, and each has a place in an array of keys. A key
 * goes into the place of its bucket. Where another one lies already, the two and those behind them
 * stay in order, each as close to its bucket as they can (linear probing that keeps the order), so
 * that the keys can be read off from the first to the last. A bitmap says which places are taken.
 * Most buckets are empty and most keys find their place free: an event costs a few nanoseconds,
 * whatever the number of ports. The queue is empty between cells, so one serves all cells of a
 * thread and stays in its cache. (Lists in buckets, with the arrivals of a node sorted beforehand,
 * took twice the instructions.)
 *
 * A key orders events: 36 bits of time within the window, 2 of kind, 10 of tie hash, 16 of slot.
 * The hash is filled in when two keys meet that need it.
 */
#ifndef SIM_QUEUE_H
#define SIM_QUEUE_H

#include "sim/sim.h"

#define QUEUE_MAX_SLOTS 65535
#define QUEUE_MAX_WINDOW ((INT64_C(1) << 36) - 1)
#define QUEUE_NONE UINT64_MAX /* in place of a key */

struct queue {
    xoff_time start; /* start of the window */
    unsigned shift;  /* bucket = key >> shift */
    uint32_t taken;  /* place of the event that was taken last: there is none before it */
    uint32_t first;  /* place of the earliest event, and its key; QUEUE_NONE: there is none */
    uint64_t first_key;
    uint64_t *keys; /* by place; QUEUE_NONE: free */
    /* Bitmap over the places. A bit at `n_places` ends every search: no key lies there. */
    uint64_t *occupied;
    uint32_t n_places, capacity; /* in use, without that one; allocated */
    bool ties_by_port;           /* equal times are ordered by port */
    const uint16_t *ports;       /* by slot of the cell */
};

/* These are in queue_build.c, and may allocate. */
void queue_init(struct queue *q);
void queue_free(struct queue *q);
/* Cuts the window of `length` from q->start into up to 1 << bits buckets, for so many events at a
 * time, and no fewer than before. What is in the queue stays in it. */
void queue_open_wider(struct queue *q, xoff_time length, unsigned bits, uint32_t n_events);

/* These are in queue.c. Puts a key into a bucket whose place is taken. */
void queue_squeeze(struct queue *q, uint64_t key);
/* Removes the event of a slot; `key` as it was inserted. */
void queue_remove(struct queue *q, uint64_t key);
/* Deals all keys out anew, each to its bucket or right behind the one before it. */
void queue_settle(struct queue *q, uint32_t n_places, unsigned shift);

/* Equal times are ordered by a hash of time and port, so that no port is always served first. */
static inline uint64_t queue_tie(xoff_time at, uint32_t port)
{
    /* Two rounds: after one, port p + k always follows port p at the same distance, modulo 1. */
    uint64_t tie = (uint64_t)at + port * UINT64_C(0x9e3779b97f4a7c15);
    tie *= UINT64_C(0xd6e8feb86659fd93);
    return (tie ^ tie >> 32) * UINT64_C(0xd6e8feb86659fd93) >> 54;
}

static inline uint64_t queue_key(const struct queue *q, xoff_time at, enum sim_kind kind,
                                 uint32_t slot)
{
    return (uint64_t)(at - q->start) << 28 | (uint64_t)kind << 26 | slot;
}

static inline xoff_time queue_key_at(const struct queue *q, uint64_t key)
{
    return q->start + (xoff_time)(key >> 28);
}
static inline enum sim_kind queue_key_kind(uint64_t key)
{
    return (enum sim_kind)(key >> 26 & 3);
}
static inline uint32_t queue_key_slot(uint64_t key)
{
    return key & 0xffff;
}

static inline uint32_t queue_bucket(const struct queue *q, uint64_t key)
{
    return (uint32_t)(key >> q->shift);
}

static inline unsigned queue_shift(xoff_time length, unsigned bits)
{
    const unsigned length_bits = 64 - (unsigned)__builtin_clzll((uint64_t)(length - 1) | 1);
    return 28 + (length_bits > bits ? length_bits - bits : 0);
}

static inline uint32_t queue_places(unsigned bits, uint32_t n_events)
{
    return ((UINT32_C(1) << bits) + n_events + 63) / 64 * 64;
}

/* Finds the earliest event; there is none before the place `from`. */
static inline void queue_look(struct queue *q, uint32_t from)
{
    uint32_t word = from / 64;
    while (!q->occupied[word])
        word++;
    q->first = word * 64 + (uint32_t)__builtin_ctzll(q->occupied[word]);
    q->first_key = q->keys[q->first];
}

/* Opens the empty queue for a window. */
static inline void queue_open(struct queue *q, xoff_time length, unsigned bits, uint32_t n_events)
{
    const uint32_t n_places = queue_places(bits, n_events);
    if (__builtin_expect(n_places > q->capacity, 0)) {
        queue_open_wider(q, length, bits, n_events);
        return;
    }
    q->shift = queue_shift(length, bits);
    q->taken = 0;
    q->occupied[q->n_places / 64] = 0;
    q->n_places = n_places;
    q->occupied[n_places / 64] = 1;
    q->first_key = QUEUE_NONE;
}

/* Inserts an event before any has been taken. When all are in, queue_look() is to be called. */
static inline void queue_fill_at(struct queue *q, uint64_t *keys, uint64_t *occupied, uint64_t key,
                                 unsigned shift)
{
    const uint64_t place = key >> shift;
    if (__builtin_expect(keys[place] != QUEUE_NONE, 0)) {
        queue_squeeze(q, key);
        return;
    }
    keys[place] = key;
    occupied[place / 64] |= UINT64_C(1) << (place % 64);
}
static inline void queue_fill(struct queue *q, uint64_t key)
{
    queue_fill_at(q, q->keys, q->occupied, key, q->shift);
}

static inline void queue_insert(struct queue *q, uint64_t key)
{
    const uint32_t place = queue_bucket(q, key);
    if (__builtin_expect(place <= q->taken || q->keys[place] != QUEUE_NONE, 0)) {
        queue_squeeze(q, key);
        queue_look(q, q->taken);
        return;
    }
    q->keys[place] = key;
    q->occupied[place / 64] |= UINT64_C(1) << (place % 64);
    if (key < q->first_key) {
        q->first_key = key;
        q->first = place;
    }
}

/* Takes out the earliest event and returns its key. There must be one. */
static inline uint64_t queue_take(struct queue *q)
{
    const uint64_t key = q->first_key;
    const uint32_t place = q->first;
    uint32_t word = place / 64;
    uint64_t bits = q->occupied[word] & (q->occupied[word] - 1); /* without the first */
    q->keys[place] = QUEUE_NONE;
    q->occupied[word] = bits;
    q->taken = place;
    while (!bits)
        bits = q->occupied[++word];
    q->first = word * 64 + (uint32_t)__builtin_ctzll(bits);
    q->first_key = q->keys[q->first];
    return key;
}

#endif
