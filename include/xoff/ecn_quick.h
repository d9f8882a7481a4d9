/* The congestion point ecn for callers to whom every instruction counts: its configuration, and its
 * one decision inline. src/mech/cp/ecn.c has the rules.
 */
#ifndef XOFF_ECN_QUICK_H
#define XOFF_ECN_QUICK_H

#include <xoff/cp.h>

#ifdef __cplusplus
extern "C" {
#endif

extern const struct xoff_cp_ops xoff_cp_ecn;

enum xoff_ecn_counts { XOFF_ECN_COUNTS_ALL, XOFF_ECN_COUNTS_OTHERS };

struct xoff_ecn_cfg {
    int64_t kmin_bytes, kmax_bytes;
    uint64_t span_bytes; /* kmax - kmin */
    uint64_t pmax_draws; /* P: how many of the 2^32 draws mark at q = kmax */
    enum xoff_ecn_counts counts;
};

/* Whether a frame of `bytes` is marked in a queue of `queue_bytes`, itself included. */
static inline bool xoff_ecn_marks(const struct xoff_ecn_cfg *c, int64_t queue_bytes, uint32_t bytes,
                                  uint32_t draw)
{
    if (c->counts == XOFF_ECN_COUNTS_OTHERS)
        queue_bytes -= bytes;
    if (queue_bytes <= c->kmin_bytes)
        return false;
    if (queue_bytes > c->kmax_bytes)
        return true;
    /* d / 2^32 < P / 2^32 * (q - kmin) / (kmax - kmin). Both products fit where the span does: P is
     * at most 2^32, and q - kmin at most the span. */
    const uint64_t above_bytes = (uint64_t)(queue_bytes - c->kmin_bytes);
    if (__builtin_expect(c->span_bytes < UINT32_MAX, 1))
        return draw * c->span_bytes < c->pmax_draws * above_bytes;
    __extension__ typedef unsigned __int128 wide;
    return (wide)draw * c->span_bytes < (wide)c->pmax_draws * above_bytes;
}

#ifdef __cplusplus
}
#endif

#endif
