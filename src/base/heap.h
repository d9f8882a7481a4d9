/* Indexed 4-ary min-heap of deadlines over caller storage: at most one deadline per id, moved
 * earlier or later in place.
 *
 * Four children lie in a cache line or two, and a thousand ids are only five steps deep. Entries
 * carry their deadline, so that sifting reads no other memory; `pos` is written once per entry
 * moved. Equal deadlines are ordered by id: what comes first never depends on the order of
 * insertion.
 */
#ifndef BASE_HEAP_H
#define BASE_HEAP_H

#include <stdbool.h>
#include <stdint.h>

#include <xoff/err.h>
#include <xoff/time.h>

#define HEAP_ABSENT UINT32_MAX

struct heap_entry {
    xoff_time at;
    uint32_t id;
};

/* Both arrays have `capacity` elements and belong to the caller; ids are 0 .. capacity - 1. */
struct heap {
    struct heap_entry *entries; /* the first n, in heap order */
    uint32_t *pos;              /* index into entries by id, or HEAP_ABSENT */
    uint32_t n, capacity;
    xoff_time top_at; /* of entries[0]; XOFF_NEVER: the heap is empty */
};

/* Switches to the caller's larger arrays, into which the caller has copied the old contents. */
static inline void heap_grow(struct heap *heap, struct heap_entry *entries, uint32_t *pos,
                             uint32_t capacity)
{
    XOFF_ASSERT(capacity >= heap->capacity && capacity < HEAP_ABSENT);
    for (uint32_t id = heap->capacity; id < capacity; id++)
        pos[id] = HEAP_ABSENT;
    heap->entries = entries;
    heap->pos = pos;
    heap->capacity = capacity;
}

static inline void heap_init(struct heap *heap, struct heap_entry *entries, uint32_t *pos,
                             uint32_t capacity)
{
    heap->n = heap->capacity = 0;
    heap->top_at = XOFF_NEVER;
    heap_grow(heap, entries, pos, capacity);
}

/* The earliest deadline; XOFF_NEVER when the heap is empty. */
static inline xoff_time heap_top_at(const struct heap *heap)
{
    return heap->top_at;
}

/* The heap must not be empty. */
static inline uint32_t heap_top_id(const struct heap *heap)
{
    XOFF_ASSERT(heap->n > 0);
    return heap->entries[0].id;
}

/* This function and heap_first_of() have no branches: which child comes first is as good as random,
 * and a mispredicted branch costs more than the whole choice. */
static inline bool heap_is_before(struct heap_entry a, struct heap_entry b)
{
    return (a.at < b.at) | ((a.at == b.at) & (a.id < b.id));
}

static inline void heap_place(struct heap *heap, uint32_t index, struct heap_entry entry)
{
    heap->entries[index] = entry;
    heap->pos[entry.id] = index;
    if (index == 0)
        heap->top_at = entry.at;
}

/* Moves the hole at `index` towards the root until `entry` fits, and puts it there. */
static inline void heap_sift_up(struct heap *heap, uint32_t index, struct heap_entry entry)
{
    while (index > 0) {
        const uint32_t parent = (index - 1) / 4;
        if (!heap_is_before(entry, heap->entries[parent]))
            break;
        heap_place(heap, index, heap->entries[parent]);
        index = parent;
    }
    heap_place(heap, index, entry);
}

static inline uint32_t heap_first_of(const struct heap_entry *entries, uint32_t a, uint32_t b)
{
    return a ^ ((a ^ b) & -(uint32_t)heap_is_before(entries[b], entries[a]));
}

/* Moves the hole at `index` towards the leaves until `entry` fits, and puts it there. */
static inline void heap_sift_down(struct heap *heap, uint32_t index, struct heap_entry entry)
{
    const struct heap_entry *const entries = heap->entries;
    for (;;) {
        /* 64 bits: 4 index + 1 passes 2^32 before n does. */
        const uint64_t child = 4 * (uint64_t)index + 1;
        if (child >= heap->n)
            break;
        uint32_t first = (uint32_t)child;
        if (child + 4 <= heap->n) {
            first = heap_first_of(entries, heap_first_of(entries, first, first + 1),
                                  heap_first_of(entries, first + 2, first + 3));
        } else {
            for (uint32_t other = first + 1; other < heap->n; other++)
                first = heap_first_of(entries, first, other);
        }
        if (!heap_is_before(entries[first], entry))
            break;
        heap_place(heap, index, entries[first]);
        index = first;
    }
    heap_place(heap, index, entry);
}

/* Nothing happens when `id` has no deadline. */
static inline void heap_remove(struct heap *heap, uint32_t id)
{
    XOFF_ASSERT(id < heap->capacity);
    const uint32_t index = heap->pos[id];
    if (index == HEAP_ABSENT)
        return;
    heap->pos[id] = HEAP_ABSENT;
    const struct heap_entry last = heap->entries[--heap->n];
    if (heap->n == 0)
        heap->top_at = XOFF_NEVER;
    if (index == heap->n)
        return;
    /* The last entry may come from another branch and belong above the hole as well as below. */
    if (index > 0 && heap_is_before(last, heap->entries[(index - 1) / 4]))
        heap_sift_up(heap, index, last);
    else
        heap_sift_down(heap, index, last);
}

/* Gives `id` the deadline `at`, whether or not it has one; XOFF_NEVER removes it. */
static inline void heap_set(struct heap *heap, uint32_t id, xoff_time at)
{
    XOFF_ASSERT(id < heap->capacity);
    if (at == XOFF_NEVER) {
        heap_remove(heap, id);
        return;
    }
    const struct heap_entry entry = {.at = at, .id = id};
    const uint32_t index = heap->pos[id];
    if (index == HEAP_ABSENT)
        heap_sift_up(heap, heap->n++, entry);
    else if (at < heap->entries[index].at)
        heap_sift_up(heap, index, entry);
    else if (at > heap->entries[index].at)
        heap_sift_down(heap, index, entry);
}

#endif
