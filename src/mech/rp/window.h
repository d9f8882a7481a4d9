/* TCP's congestion window: the arithmetic that newreno.c and dctcp.c share. It is private to this
 * folder.
 *
 * Source: RFC 5681 (slow start, congestion avoidance, losses), RFC 3465 (growth by bytes
 * acknowledged), RFC 6928 (first window), RFC 3168 6.1.2 (one reduction per window of data).
 *
 *   W < ssthresh:   W += min(acked, L mss), up to ssthresh; L = 2, after a timeout 1
 *   W >= ssthresh:  credit += acked; when credit >= W: credit -= W, W += mss
 *   loss:           ssthresh = max(outstanding / 2, floor), W = ssthresh
 *   timeout:        the same ssthresh, W = mss
 *   marks:          W = ssthresh = max(what the scheme says, floor)
 *
 * Acknowledged bytes beyond ssthresh count as credit. Nothing grows while the flow does not fill
 * the window, while a loss is repaired, or in the round trip after a reduction (until a byte sent
 * after it is acknowledged); repair after a timeout is itself slow start and does grow. The
 * reliability counts what is in the network (RFC 6675), so the window is not inflated during
 * recovery.
 *
 * If marks have already reduced the window, a loss among the bytes that were then outstanding
 * reduces it no further. When the timer expires again before anything new is acknowledged, ssthresh
 * stays (RFC 5681, eq. 4). No reduction raises the window: after a timeout W may be below the
 * floor.
 *
 * Differs: the first window is ten segments of any size; RFC 6928 allows fewer when they are larger
 * than 1460 B. Differs: an idle flow keeps its window (RFC 5681 4.1 would restart it).
 */
#ifndef XOFF_MECH_RP_WINDOW_H
#define XOFF_MECH_RP_WINDOW_H

#include <xoff/rp.h>
#include <xoff/units.h>

#define WINDOW_FIRST_SEGMENTS 10
#define WINDOW_FLOOR_SEGMENTS 2

struct window_cfg {
    uint64_t mss; /* payload of a full frame */
    uint64_t first_bytes, floor_bytes, max_bytes;
    xoff_rate rate_bps;
};

struct window {
    uint64_t bytes;
    uint64_t ssthresh;     /* UINT64_MAX: no loss or mark yet */
    uint64_t credit_bytes; /* bytes acknowledged towards the next segment of congestion avoidance */
    uint64_t acked_to;
    uint64_t reduced_to;       /* bytes sent when the window was last reduced */
    uint32_t is_after_timeout; /* the last reduction was caused by a timeout */
    uint32_t is_timed_out;     /* nothing new has been acknowledged since a timeout */
};

/* Refuses a window parameter shorter than a segment, which could never send one. */
static inline int window_check(const char *name, uint64_t bytes, uint64_t mss, struct xoff_err *err)
{
    char text[32];
    if (bytes >= mss)
        return 0;
    int code =
        xoff_err_set(err, XOFF_E_RANGE, name, xoff_format_bytes(text, sizeof text, (int64_t)bytes),
                     "a window holds a full frame's payload at least, which is ");
    xoff_err_add(err, xoff_format_bytes(text, sizeof text, (int64_t)mss));
    return code;
}

/* `first`, `floor` and `max` are parameters. XOFF_PARAM_AUTO stands for ten segments (or max if
 * that is less), two segments, and no limit. Errors name the keys initial_window, min_window,
 * max_window. */
static inline int window_configure(int64_t first, int64_t floor, int64_t max,
                                   const struct xoff_rp_env *env, struct window_cfg *c,
                                   struct xoff_err *err)
{
    const uint64_t mss = env->payload_bytes;
    const uint64_t max_bytes = max == XOFF_PARAM_AUTO ? INT64_MAX : (uint64_t)max;
    const uint64_t floor_bytes =
        floor == XOFF_PARAM_AUTO ? WINDOW_FLOOR_SEGMENTS * mss : (uint64_t)floor;
    uint64_t first_bytes = WINDOW_FIRST_SEGMENTS * mss;
    if (first != XOFF_PARAM_AUTO)
        first_bytes = (uint64_t)first;
    else if (first_bytes > max_bytes)
        first_bytes = max_bytes;
    XOFF_ASSERT(mss > 0);
    int code = window_check("max_window", max_bytes, mss, err);
    if (!code)
        code = window_check("min_window", floor_bytes, mss, err);
    if (!code)
        code = window_check("initial_window", first_bytes, mss, err);
    if (code)
        return code;
    char text[32];
    if (first_bytes > max_bytes) {
        code = xoff_err_set(err, XOFF_E_CONFLICT, "initial_window",
                            xoff_format_bytes(text, sizeof text, first),
                            "the first window is above max_window, ");
        xoff_err_add(err, xoff_format_bytes(text, sizeof text, max));
        return code;
    }
    if (floor != XOFF_PARAM_AUTO && floor_bytes > first_bytes) {
        code = xoff_err_set(err, XOFF_E_CONFLICT, "min_window",
                            xoff_format_bytes(text, sizeof text, floor),
                            "the least window is above the first one, ");
        xoff_err_add(err, xoff_format_bytes(text, sizeof text, (int64_t)first_bytes));
        return code;
    }
    *c = (struct window_cfg){
        .mss = mss,
        .first_bytes = first_bytes,
        .floor_bytes = floor_bytes,
        .max_bytes = max_bytes,
        .rate_bps = env->rate_bps,
    };
    return 0;
}

/* Only the window holds the flow back: there is no pacing and no timer. */
static inline struct xoff_rp_answer window_init(const struct window_cfg *c, struct window *w)
{
    *w = (struct window){.bytes = c->first_bytes, .ssthresh = UINT64_MAX};
    return (struct xoff_rp_answer){
        .rate_bps = c->rate_bps,
        .window_bytes = w->bytes,
        .deadline = XOFF_NEVER,
    };
}

/* Sets ssthresh to `bytes` or the floor, and lowers the window to it. */
static inline void window_reduce(const struct window_cfg *c, struct window *w, uint64_t bytes,
                                 uint64_t sent_to)
{
    w->ssthresh = bytes > c->floor_bytes ? bytes : c->floor_bytes;
    if (w->bytes > w->ssthresh)
        w->bytes = w->ssthresh;
    w->credit_bytes = 0;
    w->reduced_to = sent_to;
    w->is_after_timeout = false;
}

/* Called first for every ACK. */
static inline void window_note(struct window *w, const struct xoff_rp_ack *ack)
{
    if (ack->acked_to > w->acked_to)
        w->acked_to = ack->acked_to;
    if (ack->newly_acked_bytes)
        w->is_timed_out = false;
}

/* Tells whether the ACK brings a mark that no reduction has answered yet. */
static inline bool window_must_react(const struct window *w, const struct xoff_rp_ack *ack)
{
    return ack->is_marked && !ack->is_recovering && w->acked_to > w->reduced_to;
}

static inline void window_grow(const struct window_cfg *c, struct window *w,
                               const struct xoff_rp_ack *ack)
{
    const bool is_open = !ack->is_recovering && w->acked_to > w->reduced_to;
    if (!ack->is_window_bound || !(is_open || w->is_after_timeout))
        return;
    uint64_t acked = ack->newly_acked_bytes;
    if (w->bytes < w->ssthresh) {
        const uint64_t limit = (w->is_after_timeout ? 1 : 2) * c->mss; /* RFC 3465 2.3 */
        if (acked > limit)
            acked = limit;
        const uint64_t room = w->ssthresh - w->bytes;
        const uint64_t rise = acked < room ? acked : room;
        w->bytes += rise;
        acked -= rise;
    }
    if (w->bytes >= w->ssthresh) {
        w->credit_bytes += acked;
        if (w->credit_bytes >= w->bytes) {
            w->credit_bytes -= w->bytes;
            w->bytes += c->mss;
        }
    }
    if (w->bytes > c->max_bytes)
        w->bytes = c->max_bytes;
}

static inline void window_on_loss(const struct window_cfg *c, struct window *w,
                                  enum xoff_rp_loss loss, uint64_t outstanding_bytes,
                                  uint64_t sent_to)
{
    if (loss == XOFF_RP_LOST) {
        /* The lost byte is acked_to. If it was sent before the last reduction, that reduction has
         * answered the loss. */
        if (w->acked_to >= w->reduced_to)
            window_reduce(c, w, outstanding_bytes / 2, sent_to);
        return;
    }
    if (!w->is_timed_out)
        window_reduce(c, w, outstanding_bytes / 2, sent_to);
    w->bytes = c->mss;
    w->is_after_timeout = true;
    w->is_timed_out = true;
}

#endif
