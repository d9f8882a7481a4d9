/* Sets of byte ranges: the bytes that a TCP sender knows to have arrived (SACK), or that a receiver
 * holds beyond a gap. A set is a list of disjoint, sorted ranges; its blocks come from a store that
 * many sets share.
 */
#ifndef XOFF_RANGES_H
#define XOFF_RANGES_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define XOFF_RANGE_NONE UINT32_MAX

struct xoff_range {
    uint64_t from, to; /* [from, to) */
    uint32_t next;     /* block; XOFF_RANGE_NONE: last */
};

/* Storage for the blocks, owned by the caller. Before a call that may add a range the caller makes
 * sure that xoff_range_store_is_full() is false. */
struct xoff_range_store {
    struct xoff_range *blocks;
    uint32_t free;           /* list of returned blocks; XOFF_RANGE_NONE: none */
    uint32_t used, capacity; /* blocks ever taken; blocks in all */
    uint32_t n_taken, peak;  /* blocks taken now, and at most so far */
};

void xoff_range_store_init(struct xoff_range_store *store, struct xoff_range *blocks,
                           uint32_t capacity);
static inline bool xoff_range_store_is_full(const struct xoff_range_store *store)
{
    return store->free == XOFF_RANGE_NONE && store->used == store->capacity;
}

/* Adds [from, to) to a set. *set is the first block of the set; XOFF_RANGE_NONE: empty. Takes one
 * block at most. Returns how many of the bytes were not in the set before. */
uint64_t xoff_ranges_add(struct xoff_range_store *store, uint32_t *set, uint64_t from, uint64_t to);
/* Removes all bytes below `floor`; returns how many of them the set had. */
uint64_t xoff_ranges_trim(struct xoff_range_store *store, uint32_t *set, uint64_t floor);
void xoff_ranges_clear(struct xoff_range_store *store, uint32_t *set);
/* Returns the first byte at or after `at` that is not in the set; *end is where that gap ends
 * (UINT64_MAX: no range of the set lies behind it). */
uint64_t xoff_ranges_gap(const struct xoff_range_store *store, uint32_t set, uint64_t at,
                         uint64_t *end);
/* Bytes of the set at or above `at`. */
uint64_t xoff_ranges_above(const struct xoff_range_store *store, uint32_t set, uint64_t at);
/* The block whose range holds `at`; XOFF_RANGE_NONE: none. */
uint32_t xoff_ranges_find(const struct xoff_range_store *store, uint32_t set, uint64_t at);

#ifdef __cplusplus
}
#endif

#endif
