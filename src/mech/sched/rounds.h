/* Deficit rounds: the arithmetic that drr.c, drr_awc.c and ets.c share. Not for use outside this
 * folder.
 *
 * Source: Shreedhar and Varghese, "Efficient fair queuing using deficit round-robin", 1996;
 * fairness dissertation 2.4 and its Figure 2-5.
 *
 * The queues form a ring in rising order; the cursor stands on the queue that was served last. That
 * queue goes on as long as its head is covered by its deficit. Otherwise the cursor moves on, and
 * each eligible queue it comes to is granted its credit; the first one whose head is then covered
 * is served. What a queue sends is taken off its deficit; a queue that empties loses the rest.
 *
 * A queue that is backlogged but paused is passed over: it keeps its deficit and gains nothing. A
 * pause may also cut a visit short while the next head is still covered. When the cursor comes
 * back, that visit continues without a new grant: a queue gains only while its head is not covered.
 * For a queue that is never paused this is no restriction (its visits end exactly there), and it
 * bounds every deficit: 0 <= deficit < cost of a head + credit, however pauses fall.
 *
 * Costs and credits count in 1/scale of a byte so that weights need not divide each other. A
 * scheduler may charge whole units: the bytes of a frame and what is added to them are then rounded
 * up, as in a switch that stores and schedules cells.
 *
 * Time is bounded for any credit: when a full turn has covered no head, the turns that would only
 * add credit are counted by division and granted at once; the next turn then serves somebody.
 */
#ifndef XOFF_MECH_SCHED_ROUNDS_H
#define XOFF_MECH_SCHED_ROUNDS_H

#include <string.h>

#include <xoff/drr_quick.h>
#include <xoff/units.h>

/* With these limits no product below passes 2^32 * 10^6 < 2^52, and sums of two stay far inside
 * 2^63. */
#define ROUNDS_MAX_WEIGHT 1000000
#define ROUNDS_MAX_QUANTUM "1GB"
#define ROUNDS_MAX_QUANTUM_BYTES INT64_C(1000000000)

#define ROUNDS_NONE UINT32_MAX

/* Parameters `unit` and `added_bytes` of a scheduler whose params struct has them. */
#define ROUNDS_CHARGE_PARAMS(params)                                                              \
    {.name = "unit",                                                                              \
     .type = XOFF_P_BYTES,                                                                        \
     .offset = offsetof(params, unit),                                                            \
     .preset = "1B",                                                                              \
     .min = "1B",                                                                                 \
     .max = "64KiB",                                                                              \
     .help = "A frame is charged in whole units of this size, as by a switch that stores cells: " \
             "what it costs is rounded up."},                                                     \
    {                                                                                             \
        .name = "added_bytes", .type = XOFF_P_BYTES, .offset = offsetof(params, added_bytes),     \
        .preset = "0B", .min = "0B", .max = "64KiB",                                              \
        .help = "Charged with each frame before rounding up to units, beside the 20 bytes of "    \
                "count_overhead.",                                                                \
    }

/* How a scheduler charges: in 1/scale of a byte, in bytes (its scale is 1), or in bytes rounded up
 * to units. It is a constant where these functions are called, so that none pays for the others. */
enum rounds_kind { ROUNDS_SCALED, ROUNDS_PLAIN, ROUNDS_UNITS };

/* What a frame costs, in 1/scale bytes. */
static inline int64_t rounds_cost(const struct xoff_rounds_cfg *cfg, enum rounds_kind kind,
                                  uint32_t bytes)
{
    const int64_t cost = bytes + cfg->overhead_bytes;
    if (kind == ROUNDS_SCALED)
        return cost * cfg->scale;
    if (kind == ROUNDS_PLAIN)
        return cost;
    return (cost + cfg->unit_bytes - 1) / cfg->unit_bytes * cfg->unit_bytes;
}

/* Refuses a weight that would grant nothing (or overflow) among the priorities of mask `used`. */
static inline int rounds_check_weights(const struct xoff_sched_env *env, uint8_t used,
                                       struct xoff_err *err)
{
    for (uint32_t p = 0; p < XOFF_N_PRIORITIES; p++) {
        if (!(used >> p & 1) || (env->weight[p] >= 1 && env->weight[p] <= ROUNDS_MAX_WEIGHT))
            continue;
        char subject[] = "priorities.0.weight", value[32];
        subject[sizeof "priorities." - 1] = (char)('0' + p);
        int code = xoff_err_set(err, XOFF_E_RANGE, subject,
                                xoff_format_int(value, sizeof value, env->weight[p]),
                                "a share must be a whole number from 1 to ");
        xoff_err_add_int(err, ROUNDS_MAX_WEIGHT);
        return code;
    }
    return 0;
}

/* Warns of the first priority of mask `used` whose grant does not cover the largest frame. Such a
 * grant works, but the queue is skipped at some visits (2.4 of the dissertation advises against
 * it). Returns 0.
 */
static inline int rounds_warn(const struct xoff_rounds_cfg *cfg, enum rounds_kind kind,
                              const struct xoff_sched_env *env, uint32_t used, const char *key,
                              struct xoff_err *err)
{
    const int64_t largest = rounds_cost(cfg, kind, env->max_frame_bytes);
    for (uint32_t left = used; left; left &= left - 1) {
        const uint32_t p = (uint32_t)__builtin_ctz(left);
        if (cfg->credit[p] >= largest)
            continue;
        char value[32];
        xoff_err_set(err, XOFF_E_OK, key,
                     xoff_format_bytes(value, sizeof value, cfg->credit[p] / cfg->scale),
                     "priority ");
        xoff_err_add_int(err, p);
        xoff_err_add(err, " is granted less per visit than the largest frame needs (");
        xoff_err_add_int(err, largest / cfg->scale);
        xoff_err_add(err, "B): it is skipped until enough visits have added up");
        return 0;
    }
    return 0;
}

static inline void rounds_init(struct xoff_rounds *r)
{
    memset(r, 0, sizeof *r);
    r->cursor = XOFF_N_PRIORITIES - 1; /* the first turn begins at queue 0 */
}

/* What queue q lacks to send its head; <= 0: nothing. */
static inline int64_t rounds_missing(const struct xoff_rounds_cfg *cfg, enum rounds_kind kind,
                                     const struct xoff_rounds *r,
                                     const struct xoff_sched_view *view, uint32_t q)
{
    return rounds_cost(cfg, kind, view->head_bytes[q]) - r->deficit[q];
}

/* Grants that cover `missing` > 0. */
static inline int64_t rounds_needed(int64_t missing, int64_t credit)
{
    return missing <= credit ? 1 : (missing + credit - 1) / credit;
}

static inline void rounds_grant(const struct xoff_rounds_cfg *cfg, struct xoff_rounds *r,
                                uint32_t q, int64_t n_grants)
{
    r->deficit[q] += n_grants * cfg->credit[q];
    r->credited |= UINT32_C(1) << q;
}

/* One turn of the ring from behind the cursor. Returns the first queue whose head is covered, with
 * the cursor on it; ROUNDS_NONE when each eligible queue was granted its credit in vain. */
static inline uint32_t rounds_turn(const struct xoff_rounds_cfg *cfg, enum rounds_kind kind,
                                   struct xoff_rounds *r, const struct xoff_sched_view *view,
                                   uint32_t eligible)
{
    const uint32_t from = r->cursor + 1;
    for (uint32_t ahead = ((eligible << 8 | eligible) >> from) & 0xff; ahead; ahead &= ahead - 1) {
        const uint32_t q = (from + (uint32_t)__builtin_ctz(ahead)) % XOFF_N_PRIORITIES;
        const int64_t missing = rounds_missing(cfg, kind, r, view, q);
        if (missing > 0)
            rounds_grant(cfg, r, q, 1);
        if (missing <= cfg->credit[q]) {
            r->cursor = q;
            return q;
        }
    }
    return ROUNDS_NONE;
}

/* Grants all turns that cover no head at once: one fewer than the smallest number of grants any
 * eligible queue still needs. No head of an eligible queue may be covered. */
static inline void rounds_skip(const struct xoff_rounds_cfg *cfg, enum rounds_kind kind,
                               struct xoff_rounds *r, const struct xoff_sched_view *view,
                               uint32_t eligible)
{
    int64_t fewest = INT64_MAX;
    for (uint32_t left = eligible; left; left &= left - 1) {
        const uint32_t q = (uint32_t)__builtin_ctz(left);
        const int64_t n = rounds_needed(rounds_missing(cfg, kind, r, view, q), cfg->credit[q]);
        fewest = n < fewest ? n : fewest;
    }
    for (uint32_t left = eligible; left; left &= left - 1)
        rounds_grant(cfg, r, (uint32_t)__builtin_ctz(left), fewest - 1);
}

/* No head is covered at the end of a turn. Out of line, so that the fast path spills no registers.
 */
XOFF_SELDOM static uint32_t rounds_turn_again(const struct xoff_rounds_cfg *cfg,
                                              enum rounds_kind kind, struct xoff_rounds *r,
                                              const struct xoff_sched_view *view, uint32_t eligible)
{
    rounds_skip(cfg, kind, r, view, eligible);
    const uint32_t q = rounds_turn(cfg, kind, r, view, eligible);
    XOFF_ASSERT(q != ROUNDS_NONE);
    return q;
}

/* The queue to serve among `eligible` (not 0). */
static inline uint32_t rounds_select(const struct xoff_rounds_cfg *cfg, enum rounds_kind kind,
                                     struct xoff_rounds *r, const struct xoff_sched_view *view,
                                     uint32_t eligible)
{
    /* Queues that lost their frames other than by sending (a flush) lose their deficit as well. */
    for (uint32_t gone = r->credited & ~(uint32_t)view->backlogged; gone; gone &= gone - 1) {
        r->deficit[__builtin_ctz(gone)] = 0;
        r->credited &= ~(gone & -gone);
    }
    if (!(eligible & (eligible - 1))) { /* one queue gets every turn */
        const uint32_t q = (uint32_t)__builtin_ctz(eligible);
        const int64_t missing = rounds_missing(cfg, kind, r, view, q);
        if (missing > 0)
            rounds_grant(cfg, r, q, rounds_needed(missing, cfg->credit[q]));
        r->cursor = q;
        return q;
    }
    if (eligible >> r->cursor & 1 && rounds_missing(cfg, kind, r, view, r->cursor) <= 0)
        return r->cursor;
    const uint32_t q = rounds_turn(cfg, kind, r, view, eligible);
    return q != ROUNDS_NONE ? q : rounds_turn_again(cfg, kind, r, view, eligible);
}

/* Takes the cost of a sent frame off the deficit that covered it; `bytes` is the head of the queue
 * that rounds_select() answered. */
static inline void rounds_charge(const struct xoff_rounds_cfg *cfg, enum rounds_kind kind,
                                 struct xoff_rounds *r, uint32_t q, uint32_t bytes, bool emptied)
{
    const int64_t left = r->deficit[q] - rounds_cost(cfg, kind, bytes);
    XOFF_ASSERT(left >= 0);
    r->deficit[q] = left;
    if (emptied) {
        r->deficit[q] = 0;
        r->credited &= ~(UINT32_C(1) << q);
    }
}

#endif
