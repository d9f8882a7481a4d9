/* Memory of the event queue: see queue.h. */
#include <stdlib.h>
#include <string.h>

#include "sim/queue.h"
#include <xoff/err.h>

#define FIRST_PLACES 1024

static void reserve(struct queue *q, uint32_t n_places)
{
    const uint32_t before = q->capacity;
    q->capacity = before ? before : FIRST_PLACES;
    while (q->capacity < n_places)
        q->capacity *= 2;
    const size_t n_keys = q->capacity + 1, n_words = q->capacity / 64 + 1;
    q->keys = realloc(q->keys, sizeof *q->keys * n_keys);
    q->occupied = realloc(q->occupied, sizeof *q->occupied * n_words);
    XOFF_ASSERT(q->keys && q->occupied);
    const size_t old_keys = before ? before + 1 : 0, old_words = before ? before / 64 + 1 : 0;
    memset(q->keys + old_keys, 0xff, sizeof *q->keys * (n_keys - old_keys));
    memset(q->occupied + old_words, 0, sizeof *q->occupied * (n_words - old_words));
}

void queue_init(struct queue *q)
{
    reserve(q, FIRST_PLACES);
}

void queue_free(struct queue *q)
{
    free(q->keys), free(q->occupied);
}

void queue_open_wider(struct queue *q, xoff_time length, unsigned bits, uint32_t n_events)
{
    const uint32_t n_places = queue_places(bits, n_events);
    if (n_places > q->capacity)
        reserve(q, n_places);
    queue_settle(q, n_places, queue_shift(length, bits));
}
