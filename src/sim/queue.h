/* The event queue of the cell that is running: buckets over one window.
 *
 * A window is cut into a power of two of buckets. Each bucket holds a short list sorted by key, and
 * a bitmap says which buckets are not empty. The queue is empty between cells, so one queue serves
 * all cells of a thread and stays in its cache. Insert and take cost a few nanoseconds whatever the
 * number of ports (a binary heap of 64 entries took twice as long).
 *
 * A key orders events: 36 bits of time within the window, 2 of kind, 10 of tie hash, 16 of slot.
 */
#ifndef SIM_QUEUE_H
#define SIM_QUEUE_H

#include "sim/sim.h"

#define QUEUE_MAX_BUCKETS 4096
#define QUEUE_MAX_SLOTS 65535
#define QUEUE_MAX_WINDOW ((INT64_C(1) << 36) - 1)
#define QUEUE_END UINT16_MAX

/* A slot of the cell while it is queued; key and link are read together. */
struct queue_entry {
    uint64_t key;
    uint16_t next; /* slot behind it in its bucket; QUEUE_END: none */
};

struct queue {
    xoff_time start; /* start of the window */
    unsigned shift;  /* bucket = time within the window >> shift */
    uint32_t word;   /* no bucket is set in words before this one */
    uint64_t ties;   /* mask of the tie hash; 0: equal times are ordered by port */
    uint64_t occupied[QUEUE_MAX_BUCKETS / 64];
    uint16_t first[QUEUE_MAX_BUCKETS];
    struct queue_entry *entries; /* per slot of the cell */
};

/* Equal times are ordered by a hash of time and port, so that no port is always served first. */
static inline uint64_t queue_key(const struct queue *q, xoff_time at, enum sim_kind kind,
                                 uint32_t port, uint32_t slot)
{
    /* Two rounds: after one, port p + k always follows port p at the same distance, modulo 1. */
    uint64_t tie = (uint64_t)at + port * UINT64_C(0x9e3779b97f4a7c15);
    tie *= UINT64_C(0xd6e8feb86659fd93);
    tie = (tie ^ tie >> 32) * UINT64_C(0xd6e8feb86659fd93) >> 54;
    return (uint64_t)(at - q->start) << 28 | (uint64_t)kind << 26 | (tie & q->ties) << 16 | slot;
}

/* The same for the timer of a node: there is no other that it could be tied with. */
static inline uint64_t queue_timer_key(const struct queue *q, xoff_time at, uint32_t slot)
{
    return (uint64_t)(at - q->start) << 28 | (uint64_t)SIM_TIMER << 26 | slot;
}

static inline void queue_insert(struct queue *q, uint32_t slot, uint64_t key)
{
    const uint32_t bucket = (uint32_t)(key >> 28 >> q->shift);
    const uint32_t word = bucket / 64;
    const uint64_t bit = UINT64_C(1) << (bucket % 64);
    struct queue_entry *entry = &q->entries[slot];
    entry->key = key;
    if (!(q->occupied[word] & bit)) {
        q->occupied[word] |= bit;
        q->first[bucket] = (uint16_t)slot;
        entry->next = QUEUE_END;
        if (word < q->word)
            q->word = word;
        return;
    }
    uint16_t *link = &q->first[bucket];
    while (*link != QUEUE_END && q->entries[*link].key < key)
        link = &q->entries[*link].next;
    entry->next = *link;
    *link = (uint16_t)slot;
}

static inline void queue_remove(struct queue *q, uint32_t slot)
{
    const uint32_t bucket = (uint32_t)(q->entries[slot].key >> 28 >> q->shift);
    uint16_t *link = &q->first[bucket];
    while (*link != slot)
        link = &q->entries[*link].next;
    *link = q->entries[slot].next;
    if (q->first[bucket] == QUEUE_END)
        q->occupied[bucket / 64] &= ~(UINT64_C(1) << (bucket % 64));
}

/* Returns the key of the earliest event; UINT64_MAX when the queue is empty. */
static inline uint64_t queue_peek(struct queue *q, uint32_t n_words)
{
    while (q->word < n_words && !q->occupied[q->word])
        q->word++;
    if (q->word == n_words)
        return UINT64_MAX;
    const uint32_t bucket = q->word * 64 + (uint32_t)__builtin_ctzll(q->occupied[q->word]);
    return q->entries[q->first[bucket]].key;
}

/* Takes out and returns the earliest slot, right after queue_peek() has found that there is one. */
static inline uint32_t queue_take_peeked(struct queue *q)
{
    const uint64_t bits = q->occupied[q->word];
    const uint32_t bucket = q->word * 64 + (uint32_t)__builtin_ctzll(bits);
    const uint16_t slot = q->first[bucket];
    q->first[bucket] = q->entries[slot].next;
    if (q->entries[slot].next == QUEUE_END)
        q->occupied[q->word] = bits & (bits - 1);
    return slot;
}

/* Takes out and returns the earliest slot; QUEUE_END when the queue is empty. n_words bounds the
 * bitmap in use. */
static inline uint32_t queue_take(struct queue *q, uint32_t n_words)
{
    while (q->word < n_words && !q->occupied[q->word])
        q->word++;
    return q->word == n_words ? QUEUE_END : queue_take_peeked(q);
}

#endif
