/* Gives keys dense numbers in order of appearance: the first new key is 0, the next 1, and so on.
 *
 * Open addressing over 128-bit keys (two words; a text is two digests of itself), at most half
 * full. Entries are never removed.
 */
#ifndef READING_KEY_TABLE_H
#define READING_KEY_TABLE_H

#include <stdint.h>
#include <stdlib.h>

#include <xoff/err.h>

#include "base/digest.h"

#define KEY_NONE UINT32_MAX

struct key_slot {
    uint64_t a, b;
    uint32_t number; /* KEY_NONE: the slot is free */
};

struct key_table {
    struct key_slot *slots;
    uint32_t capacity; /* a power of two, or 0 */
    uint32_t n;
};

/* Returns the slot of the key, or the free slot where it would be. The table is never full. */
static inline struct key_slot *key_slot_of(const struct key_table *t, uint64_t a, uint64_t b)
{
    const uint32_t mask = t->capacity - 1;
    uint32_t i = (uint32_t)xoff_mix64(a ^ xoff_mix64(b)) & mask;
    while (t->slots[i].number != KEY_NONE && (t->slots[i].a != a || t->slots[i].b != b))
        i = (i + 1) & mask;
    return &t->slots[i];
}

static inline uint32_t key_find(const struct key_table *t, uint64_t a, uint64_t b)
{
    return t->n ? key_slot_of(t, a, b)->number : KEY_NONE;
}

static inline void key_table_grow(struct key_table *t)
{
    struct key_table grown = {.capacity = t->capacity ? 2 * t->capacity : 64, .n = t->n};
    XOFF_ASSERT(grown.capacity > t->capacity);
    grown.slots = malloc(grown.capacity * sizeof *grown.slots);
    XOFF_ASSERT(grown.slots);
    for (uint32_t i = 0; i < grown.capacity; i++)
        grown.slots[i].number = KEY_NONE;
    for (uint32_t i = 0; i < t->capacity; i++)
        if (t->slots[i].number != KEY_NONE)
            *key_slot_of(&grown, t->slots[i].a, t->slots[i].b) = t->slots[i];
    free(t->slots);
    *t = grown;
}

/* Returns the key's number; a new key gets the next. */
static inline uint32_t key_put(struct key_table *t, uint64_t a, uint64_t b)
{
    if (2 * (uint64_t)t->n >= t->capacity)
        key_table_grow(t);
    struct key_slot *slot = key_slot_of(t, a, b);
    if (slot->number == KEY_NONE)
        *slot = (struct key_slot){a, b, t->n++};
    return slot->number;
}

static inline uint32_t key_put_text(struct key_table *t, const char *text, size_t length)
{
    struct digest one, two;
    digest_init(&one);
    digest_init(&two);
    digest_u64(&two, 1);
    digest_bytes(&one, text, length);
    digest_bytes(&two, text, length);
    return key_put(t, one.state, two.state);
}

static inline void key_table_fini(struct key_table *t)
{
    free(t->slots);
    *t = (struct key_table){0};
}

#endif
