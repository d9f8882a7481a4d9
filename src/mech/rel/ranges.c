/* Sets of byte ranges: the SACK scoreboard of a sender, the reorder buffer of a receiver.
 *
 * A set is a singly linked list of blocks, sorted, with at least one byte between neighbours:
 * ranges that touch are merged. Every call walks from the lowest range, so it takes as many steps
 * as there are gaps below; a connection without loss or reordering has empty sets.
 *
 * The block that was returned last is taken first, so the storage in use stays small and two runs
 * with the same calls use the same blocks.
 */
#include <xoff/ranges.h>

#include <xoff/err.h>

static uint32_t range_take(struct xoff_range_store *store)
{
    uint32_t at = store->free;
    if (at != XOFF_RANGE_NONE) {
        store->free = store->blocks[at].next;
    } else {
        XOFF_ASSERT(store->used < store->capacity);
        at = store->used++;
    }
    if (++store->n_taken > store->peak)
        store->peak = store->n_taken;
    return at;
}

/* Takes the first block out of the list that starts in *link and returns it to the store. */
static void range_drop(struct xoff_range_store *store, uint32_t *link)
{
    const uint32_t at = *link;
    *link = store->blocks[at].next;
    store->blocks[at].next = store->free;
    store->free = at;
    store->n_taken--;
}

void xoff_range_store_init(struct xoff_range_store *store, struct xoff_range *blocks,
                           uint32_t capacity)
{
    *store =
        (struct xoff_range_store){.blocks = blocks, .free = XOFF_RANGE_NONE, .capacity = capacity};
}

uint64_t xoff_ranges_add(struct xoff_range_store *store, uint32_t *set, uint64_t from, uint64_t to)
{
    if (from >= to)
        return 0;
    struct xoff_range *const blocks = store->blocks;
    uint32_t *link = set;
    while (*link != XOFF_RANGE_NONE && blocks[*link].to < from)
        link = &blocks[*link].next;

    if (*link == XOFF_RANGE_NONE || to < blocks[*link].from) {
        const uint32_t at = range_take(store);
        blocks[at] = (struct xoff_range){.from = from, .to = to, .next = *link};
        *link = at;
        return to - from;
    }
    /* The new range touches this one, which grows over it and over all following ranges that touch.
     */
    struct xoff_range *const grown = &blocks[*link];
    uint64_t had = grown->to - grown->from;
    if (from < grown->from)
        grown->from = from;
    if (to > grown->to)
        grown->to = to;
    while (grown->next != XOFF_RANGE_NONE && blocks[grown->next].from <= grown->to) {
        const struct xoff_range *const other = &blocks[grown->next];
        had += other->to - other->from;
        if (other->to > grown->to)
            grown->to = other->to;
        range_drop(store, &grown->next);
    }
    return grown->to - grown->from - had;
}

uint64_t xoff_ranges_trim(struct xoff_range_store *store, uint32_t *set, uint64_t floor)
{
    uint64_t gone = 0;
    while (*set != XOFF_RANGE_NONE && store->blocks[*set].to <= floor) {
        gone += store->blocks[*set].to - store->blocks[*set].from;
        range_drop(store, set);
    }
    if (*set != XOFF_RANGE_NONE && store->blocks[*set].from < floor) {
        gone += floor - store->blocks[*set].from;
        store->blocks[*set].from = floor;
    }
    return gone;
}

void xoff_ranges_clear(struct xoff_range_store *store, uint32_t *set)
{
    while (*set != XOFF_RANGE_NONE)
        range_drop(store, set);
}

uint64_t xoff_ranges_gap(const struct xoff_range_store *store, uint32_t set, uint64_t at,
                         uint64_t *end)
{
    while (set != XOFF_RANGE_NONE && store->blocks[set].from <= at) {
        if (at < store->blocks[set].to)
            at = store->blocks[set].to;
        set = store->blocks[set].next;
    }
    *end = set == XOFF_RANGE_NONE ? UINT64_MAX : store->blocks[set].from;
    return at;
}

uint64_t xoff_ranges_above(const struct xoff_range_store *store, uint32_t set, uint64_t at)
{
    uint64_t bytes = 0;
    for (; set != XOFF_RANGE_NONE; set = store->blocks[set].next) {
        const struct xoff_range *const range = &store->blocks[set];
        if (range->to > at)
            bytes += range->to - (range->from > at ? range->from : at);
    }
    return bytes;
}

uint32_t xoff_ranges_find(const struct xoff_range_store *store, uint32_t set, uint64_t at)
{
    while (set != XOFF_RANGE_NONE && store->blocks[set].to <= at)
        set = store->blocks[set].next;
    return set != XOFF_RANGE_NONE && store->blocks[set].from <= at ? set : XOFF_RANGE_NONE;
}
