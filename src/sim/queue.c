/* The parts of the event queue that are seldom needed: see queue.h. */
#include <string.h>

#include "sim/queue.h"
#include <xoff/err.h>

#define FEW 4 /* keys that are looked at one after the other */

static void mark(struct queue *q, uint32_t place)
{
    q->occupied[place / 64] |= UINT64_C(1) << (place % 64);
}

/* Gathers all keys at the end of the places first. Then keys only move towards the front: there is
 * room for the j-th behind j others. */
void queue_settle(struct queue *q, uint32_t n_places, unsigned shift)
{
    uint32_t from = n_places;
    for (uint32_t i = q->n_places; i-- > 0;) {
        const uint64_t key = q->keys[i];
        if (key != QUEUE_NONE) {
            q->keys[i] = QUEUE_NONE;
            q->keys[--from] = key;
        }
    }
    memset(q->occupied, 0, sizeof *q->occupied * (q->capacity / 64 + 1));
    mark(q, n_places);
    q->n_places = n_places;
    q->taken = 0;
    q->shift = shift;
    for (uint32_t place = 0; from < n_places; place++, from++) {
        const uint64_t key = q->keys[from];
        const uint32_t bucket = queue_bucket(q, key);
        place = bucket > place ? bucket : place;
        XOFF_ASSERT(place <= from);
        q->keys[from] = QUEUE_NONE;
        q->keys[place] = key;
        mark(q, place);
    }
    queue_look(q, 0);
}

/* Fills in the tie hash. */
static uint64_t with_tie(const struct queue *q, uint64_t key)
{
    if (q->ties_by_port || key >> 16 & 1023)
        return key;
    return key | queue_tie(queue_key_at(q, key), q->ports[queue_key_slot(key)]) << 16;
}

/* Whether the key at a place comes before *key, both as they are and with their hash. */
static bool is_before(struct queue *q, uint32_t place, uint64_t *key)
{
    if (__builtin_expect((q->keys[place] ^ *key) >> 26 == 0, 0)) {
        q->keys[place] = with_tie(q, q->keys[place]);
        *key = with_tie(q, *key);
    }
    return q->keys[place] < *key;
}

/* Returns the first free place from `place` on; n_places or more: there is none. */
static uint32_t free_place(const struct queue *q, uint32_t place)
{
    uint32_t word = place / 64;
    uint64_t bits = ~q->occupied[word] & ~UINT64_C(0) << (place % 64);
    while (!bits)
        bits = ~q->occupied[++word];
    return word * 64 + (uint32_t)__builtin_ctzll(bits);
}

/* Returns the place of the first key behind *key, of those from `place` up to `end`. Where many
 * events have one time, as where the clocks of many nodes tick at once, it halves what is left. */
static uint32_t place_behind(struct queue *q, uint32_t place, uint32_t end, uint64_t *key)
{
    for (uint32_t i = 0; i < FEW; i++, place++)
        if (place == end || !is_before(q, place, key))
            return place;
    while (place < end) {
        const uint32_t middle = place + (end - place) / 2;
        if (is_before(q, middle, key))
            place = middle + 1;
        else
            end = middle;
    }
    return place;
}

/* Makes a free place among sorted keys, and returns it; n_places: there is no room behind them. */
static uint32_t make_place(struct queue *q, uint64_t *key)
{
    uint32_t place = queue_bucket(q, *key);
    if (place < q->taken)
        place = q->taken;
    if (q->keys[place] == QUEUE_NONE) { /* left by the event taken last: earlier ones move up */
        mark(q, place);
        for (; is_before(q, place + 1, key); place++)
            q->keys[place] = q->keys[place + 1];
        return place;
    }
    const uint32_t end = free_place(q, place);
    if (end >= q->n_places)
        return q->n_places;
    place = place_behind(q, place, end, key);
    memmove(&q->keys[place + 1], &q->keys[place], sizeof *q->keys * (end - place));
    mark(q, end);
    return place;
}

/* Puts a key next to the only other one that it meets. Returns whether it could. */
static inline bool squeeze_in(struct queue *q, uint64_t key)
{
    const uint32_t bucket = queue_bucket(q, key);
    const uint32_t place = bucket < q->taken ? q->taken : bucket;
    const uint64_t here = q->keys[place], next = q->keys[place + 1];
    if (here == QUEUE_NONE) { /* left by the event taken last */
        if (key >> 26 >= next >> 26)
            return false;
        q->keys[place] = key;
        mark(q, place);
        return true;
    }
    if (next != QUEUE_NONE || place + 1 >= q->n_places || here >> 26 == key >> 26)
        return false;
    q->keys[place] = here < key ? here : key;
    q->keys[place + 1] = here < key ? key : here;
    mark(q, place + 1);
    return true;
}

void queue_squeeze(struct queue *q, uint64_t key)
{
    if (squeeze_in(q, key))
        return;
    uint32_t place = make_place(q, &key);
    if (__builtin_expect(place == q->n_places, 0)) {
        queue_settle(q, q->n_places,
                     q->shift); /* events that were taken have left places in front */
        place = make_place(q, &key);
        XOFF_ASSERT(place < q->n_places);
    }
    q->keys[place] = key;
}

void queue_remove(struct queue *q, uint64_t key)
{
    uint32_t place = queue_bucket(q, key);
    if (place < q->taken)
        place = q->taken;
    while (queue_key_slot(q->keys[place]) != queue_key_slot(key))
        place++;
    for (; q->keys[place + 1] != QUEUE_NONE && queue_bucket(q, q->keys[place + 1]) <= place;
         place++)
        q->keys[place] = q->keys[place + 1];
    q->keys[place] = QUEUE_NONE;
    q->occupied[place / 64] &= ~(UINT64_C(1) << (place % 64));
    queue_look(q, q->taken);
}
