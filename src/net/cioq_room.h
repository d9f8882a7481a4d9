/* Room at the outputs of fabric `cioq`, and who may cross because of it: the part of the path of a
 * frame that switch_cioq.c and cioq_room.c share. The functions that every frame needs are inline.
 */
#ifndef NET_CIOQ_ROOM_H
#define NET_CIOQ_ROOM_H

#include "net/cioq.h"

/* cioq_room.c */

/* Asks for an arbitration in the first slot that starts from now on. */
void cioq_want_match(struct cioq *c, struct worker *w);
/* Finds who may cross to an output, when what decides about it has changed. */
void cioq_set_asking(struct cioq *c, uint32_t out);
/* The head of a queue of the input may cross to the output from now on. */
void cioq_let_cross(struct cioq *c, struct worker *w, uint32_t in, uint32_t out);
/* Gives room at an output to the next input in turn whose head has none, as long as there is some.
 * Called only with CIOQ_AHEAD, as is the next. */
void cioq_grant_ahead(struct cioq *c, struct worker *w, uint32_t out);
/* The head of a queue crosses, or is lost. */
void cioq_use_grant(struct cioq *c, uint32_t in, uint32_t out, uint32_t priority);

static inline void cioq_set_clock(struct cioq *c)
{
    c->sw.clock_at = xoff_time_min(c->match_at, c->first_at);
}

/* Asks for an arbitration in a slot, unless one is to come. */
static inline void cioq_want_match_in(struct cioq *c, uint64_t slot)
{
    if (c->match_at != XOFF_NEVER)
        return;
    c->match_slot = slot;
    c->match_at = (xoff_time)slot * c->slot_for + 1;
}

/* Returns the bytes that a priority takes beyond its reserve. */
static inline int64_t cioq_beyond_reserve(const struct cioq *c, int64_t bytes)
{
    return bytes > c->output_cfg.reserve_bytes ? bytes - c->output_cfg.reserve_bytes : 0;
}

/* A priority is open if a largest frame fits its reserve and what is left to share. */
CIOQ_INLINE uint8_t cioq_open_of(const struct cioq *c, const struct cioq_output *o)
{
    const int64_t most = c->output_cfg.max_frame_bytes;
    const int64_t left = c->output_cfg.shared_bytes - o->shared_bytes;
    if (__builtin_expect(left >= most, 1))
        return XOFF_ALL_PRIORITIES;
    uint32_t open = 0;
    for (uint32_t p = 0; p < XOFF_N_PRIORITIES; p++)
        open |= (uint32_t)(o->by_priority[p] + most <= c->output_cfg.reserve_bytes + left) << p;
    return (uint8_t)open;
}

/* Takes room, or with bytes < 0 gives it back. Returns whether that has opened or closed a priority
 * that is asked for. */
CIOQ_INLINE bool cioq_take_room(struct cioq *c, uint32_t out, uint32_t priority, int64_t bytes)
{
    struct cioq_output *o = &c->outputs[out];
    const int64_t before = o->by_priority[priority], after = before + bytes;
    o->by_priority[priority] = after;
    o->shared_bytes += cioq_beyond_reserve(c, after) - cioq_beyond_reserve(c, before);
    o->taken_bytes += bytes;
    if (o->taken_bytes > o->peak_bytes)
        o->peak_bytes = o->taken_bytes;
    const uint8_t open = cioq_open_of(c, o);
    const uint32_t changed = (o->open ^ open) & o->asked;
    o->open = open;
    if (__builtin_expect(!changed, 1))
        return false;
    if (!c->granted)
        cioq_set_asking(c, out);
    return true;
}

/* Returns the priorities among `mask` in whose sets the input is. */
CIOQ_INLINE uint32_t cioq_priorities_in(uint64_t *sets, uint32_t n_words, uint32_t in, uint32_t out,
                                        uint32_t mask)
{
    uint32_t found = 0;
    for (; mask; mask &= mask - 1) {
        const uint32_t p = (uint32_t)__builtin_ctz(mask);
        found |= (uint32_t)cioq_is_in(cioq_row(sets, n_words, out, p), n_words, in) << p;
    }
    return found;
}

/* Priorities of a pair take turns: returns the first after the one that crossed last. */
static inline uint32_t cioq_next_priority(const struct cioq *c, uint32_t in, uint32_t out,
                                          uint32_t ready)
{
    const uint32_t later = ready & ~0u << c->last_priority[out * c->sw.n_ports + in] << 1;
    return (uint32_t)__builtin_ctz(later ? later : ready);
}

#endif
