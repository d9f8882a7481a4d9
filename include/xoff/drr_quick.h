/* The scheduler drr for callers to whom every instruction counts: its books, and the inline half of
 * its calls. xoff_drr_quick_select() answers where the queue that is next in turn can send after at
 * most one grant; else it declines, nothing has changed, and xoff_sched_select() is to be called.
 * Either way the outcome is that of the call. src/mech/sched/rounds.h has the rules.
 */
#ifndef XOFF_DRR_QUICK_H
#define XOFF_DRR_QUICK_H

#include <xoff/sched.h>

#ifdef __cplusplus
extern "C" {
#endif

extern const struct xoff_sched_ops xoff_sched_drr;

struct xoff_rounds_cfg {
    int64_t credit[XOFF_N_PRIORITIES]; /* per visit, in 1/scale bytes; > 0 where used */
    int64_t scale;
    int64_t overhead_bytes; /* charged with each frame */
    int64_t unit_bytes;     /* a charge is a multiple of it */
};

/* No padding: the state may be hashed and compared as bytes. */
struct xoff_rounds {
    int64_t deficit[XOFF_N_PRIORITIES]; /* in 1/scale bytes */
    uint32_t cursor;
    uint32_t credited; /* bit n: deficit[n] may differ from 0 */
};

#define XOFF_DRR_DECLINES UINT32_MAX

/* Whether the two below may be called. */
static inline bool xoff_drr_is_quick(const struct xoff_sched *s)
{
    return s->ops == &xoff_sched_drr && ((const struct xoff_rounds_cfg *)s->cfg)->unit_bytes == 1;
}

/* `head_bytes` tells the bytes of a queue's head; it is asked about two queues at most, and inlined
 * if it can be. */
static inline __attribute__((always_inline)) uint32_t
xoff_drr_quick_select(const void *cfg, void *state,
                      uint32_t (*head_bytes)(const void *context, uint32_t queue),
                      const void *context, uint32_t backlogged, uint32_t eligible)
{
    const struct xoff_rounds_cfg *c = (const struct xoff_rounds_cfg *)cfg;
    struct xoff_rounds *r = (struct xoff_rounds *)state;
    uint32_t q = r->cursor;
    if (r->credited & ~backlogged)
        return XOFF_DRR_DECLINES;
    if (eligible >> q & 1 && head_bytes(context, q) + c->overhead_bytes <= r->deficit[q])
        return q;
    q = (q + 1 + (uint32_t)__builtin_ctz((eligible << 8 | eligible) >> (q + 1))) %
        XOFF_N_PRIORITIES;
    const int64_t missing = head_bytes(context, q) + c->overhead_bytes - r->deficit[q];
    if (__builtin_expect(missing > c->credit[q], 0))
        return XOFF_DRR_DECLINES;
    if (missing > 0) {
        r->deficit[q] += c->credit[q];
        r->credited |= UINT32_C(1) << q;
    }
    r->cursor = q;
    return q;
}

/* xoff_sched_charge(). */
static inline void xoff_drr_quick_charge(const void *cfg, void *state, uint32_t queue,
                                         uint32_t bytes, bool emptied)
{
    const struct xoff_rounds_cfg *c = (const struct xoff_rounds_cfg *)cfg;
    struct xoff_rounds *r = (struct xoff_rounds *)state;
    r->deficit[queue] -= bytes + c->overhead_bytes;
    if (emptied) {
        r->deficit[queue] = 0;
        r->credited &= ~(UINT32_C(1) << queue);
    }
}

#ifdef __cplusplus
}
#endif

#endif
