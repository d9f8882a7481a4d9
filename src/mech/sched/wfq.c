/* Weighted fair queueing: finish times on a virtual clock (WF2Q+).
 *
 * Source: Bennett and Zhang, "Hierarchical packet fair queueing algorithms", 1997, and their "WF2Q:
 * worst-case fair weighted fair queueing", 1996; fairness dissertation 2.3 (finish-time fair
 * queueing). This scheduler is the yardstick for the round robins: its order of frames stays close
 * to a fluid in which all queues send at once, each at its share (generalized processor sharing,
 * GPS).
 *
 *   v   virtual time: bytes that the fluid has sent of a queue of weight 1
 *   S   start tag of a queue's head: the finish tag of the frame before it, but at least v as it
 *       was at the choice that found the queue with a frame again
 *   F   finish tag of the head: S + bytes / weight
 *
 * Among the heads that the fluid has begun (S <= v), the one it finishes first (smallest F) is
 * sent; of equal tags the lower priority number goes first. If the fluid has begun none, the first
 * to begin counts as begun. A frame of b bytes moves v on by b / sum of the weights that share. The
 * queues that share are those that may send, and those that ran out of frames ahead of the fluid,
 * in which they still send. Queues that have frames all the time are neither ahead of the fluid nor
 * behind it by more than one largest frame; with queues that come and go, or are paused, the
 * distance is less than one and a half (wfq_test.c; not proven).
 *
 * A paused queue keeps its distance S - v: it collects no credit in a pause, however long, and does
 * not fall behind either. So a queue that is stopped again and again before its turn is served once
 * the times in which it may send add up.
 *
 * Differs: classic WFQ sends any smallest F, and may be ahead of the fluid by half as many frames
 * as there are queues. Its clock needs the arrival of every frame, and a fluid that knows of
 * pauses; the clock here looks at heads alone, and so sees an arrival at the next choice.
 *
 * Differs: WF2Q+ moves v by b / sum of all weights, and to the smallest S if that is later. Here
 * the sum is over the queues that share, as in the fluid, and v is set to the smallest S only while
 * nobody is paused: while a queue behind the fluid is paused, all others may be ahead, and stay so
 * until that queue has caught up.
 *
 * The scheduler must see every frame (shape.every_frame): frames that a queue sends alone move the
 * clock as well.
 *
 * Tags are whole numbers in 1/scale of a byte; scale is the largest power of two that keeps the tag
 * of a largest frame below 2^52. For frames up to 64 KB shares are exact to 2 in 10^5, with weights
 * up to 1000 to 2 in 10^8. Tags are shifted back to v = 0 before they overflow.
 */
#include <string.h>

#include <xoff/sched.h>
#include <xoff/units.h>

#include "rounds.h"

#define WFQ_MAX_TAG (INT64_C(1) << 52)
#define WFQ_MAX_CLOCK (INT64_C(1) << 60)

struct wfq_params {
    int64_t count_overhead;
};

struct wfq_cfg {
    int64_t scale;
    int64_t per_byte[XOFF_N_PRIORITIES]; /* what a byte adds to a tag: scale / weight */
    int64_t weight[XOFF_N_PRIORITIES];
    int64_t overhead_bytes;
};

/* No padding: the state may be hashed and compared as bytes. */
struct wfq {
    int64_t clock;                    /* v */
    int64_t start[XOFF_N_PRIORITIES]; /* S of the head; without one: F of the last frame */
    uint32_t known;                   /* bit n: start[n] is that of a head */
    uint32_t could_send;              /* bit n: had a head at the choice, and was not paused */
};

static const struct xoff_param wfq_table[] = {
    {.name = "count_overhead",
     .type = XOFF_P_BOOL,
     .offset = offsetof(struct wfq_params, count_overhead),
     .preset = "false",
     .help = "Charge preamble and gap (20 bytes) with each frame: shares of the wire instead of "
             "shares of frame bytes."},
    {0},
};

static int wfq_configure(const void *params, const struct xoff_sched_env *env, void *cfg,
                         struct xoff_sched_shape *shape, struct xoff_err *err)
{
    const struct wfq_params *p = params;
    struct wfq_cfg *c = cfg;
    const int code = rounds_check_weights(env, 0xff, err);
    if (code)
        return code;
    XOFF_ASSERT(env->max_frame_bytes > 0);
    shape->state_size = sizeof(struct wfq);
    shape->every_frame = true;
    c->overhead_bytes = p->count_overhead ? XOFF_OVERHEAD_BYTES : 0;
    c->scale = 1;
    while ((env->max_frame_bytes + c->overhead_bytes) * c->scale * 2 < WFQ_MAX_TAG)
        c->scale *= 2;
    for (uint32_t q = 0; q < XOFF_N_PRIORITIES; q++) {
        c->weight[q] = env->weight[q];
        c->per_byte[q] = c->scale / c->weight[q];
    }
    return 0;
}

/* Queues that share what is sent: those that could send, and those that have run out of frames
 * while ahead of the fluid, in which they still send. */
static uint32_t wfq_flowing(const struct wfq *s)
{
    uint32_t flowing = s->could_send & s->known;
    for (uint32_t left = ~s->known & 0xff; left; left &= left - 1) {
        const uint32_t q = (uint32_t)__builtin_ctz(left);
        flowing |= (uint32_t)(s->start[q] > s->clock) << q;
    }
    return flowing;
}

/* Advances the clock by what `work` bytes (times scale) give each weight. A step ends where the
 * fluid runs out of a queue. Paused queues keep their distance to the clock. */
static void wfq_advance(const struct wfq_cfg *c, struct wfq *s, int64_t work)
{
    for (uint32_t flowing = wfq_flowing(s); flowing && work > 0; flowing = wfq_flowing(s)) {
        int64_t sum = 0, next = INT64_MAX;
        for (uint32_t left = flowing; left; left &= left - 1) {
            const uint32_t q = (uint32_t)__builtin_ctz(left);
            sum += c->weight[q];
            if (!(s->known >> q & 1) && s->start[q] < next)
                next = s->start[q];
        }
        int64_t by = work / sum;
        by = by < next - s->clock ? by : next - s->clock;
        s->clock += by;
        for (uint32_t left = s->known & ~s->could_send; left; left &= left - 1)
            s->start[__builtin_ctz(left)] += by;
        work = s->clock == next ? work - by * sum : 0;
    }
}

XOFF_SELDOM static void wfq_take_back(struct wfq *s)
{
    for (uint32_t q = 0; q < XOFF_N_PRIORITIES; q++) {
        const bool is_past = !(s->known >> q & 1) && s->start[q] < s->clock;
        s->start[q] = is_past ? 0 : s->start[q] - s->clock;
    }
    s->clock = 0;
}

static uint32_t wfq_select(const void *cfg, void *state, const struct xoff_sched_view *view)
{
    const struct wfq_cfg *c = cfg;
    struct wfq *s = state;
    for (uint32_t left = view->backlogged & ~s->known; left; left &= left - 1) {
        const uint32_t q = (uint32_t)__builtin_ctz(left);
        s->start[q] = s->start[q] > s->clock ? s->start[q] : s->clock;
    }
    s->known = view->backlogged;
    s->could_send = view->eligible;

    int64_t begun = INT64_MAX;
    for (uint32_t left = view->eligible; left; left &= left - 1) {
        const int64_t start = s->start[__builtin_ctz(left)];
        begun = start < begun ? start : begun;
    }
    if (begun < s->clock)
        begun = s->clock;
    else if (view->eligible == view->backlogged)
        s->clock = begun;

    uint32_t best = XOFF_N_PRIORITIES;
    int64_t best_finish = INT64_MAX;
    for (uint32_t left = view->eligible; left; left &= left - 1) {
        const uint32_t q = (uint32_t)__builtin_ctz(left);
        const int64_t finish =
            s->start[q] + (view->head_bytes[q] + c->overhead_bytes) * c->per_byte[q];
        if (s->start[q] > begun || finish >= best_finish)
            continue;
        best = q;
        best_finish = finish;
    }
    XOFF_ASSERT(best < XOFF_N_PRIORITIES);
    return best;
}

static void wfq_charge(const void *cfg, void *state, uint32_t queue, uint32_t bytes, bool emptied)
{
    const struct wfq_cfg *c = cfg;
    struct wfq *s = state;
    const int64_t cost = bytes + c->overhead_bytes;
    s->start[queue] += cost * c->per_byte[queue];
    s->known &= ~((uint32_t)emptied << queue);
    wfq_advance(c, s, cost * c->scale);
    if (__builtin_expect(s->clock >= WFQ_MAX_CLOCK, 0))
        wfq_take_back(s);
}

const struct xoff_sched_ops xoff_sched_wfq = {
    .name = "wfq",
    .summary = "weighted fair queueing by finish time (WF2Q+)",
    .params = wfq_table,
    .params_size = sizeof(struct wfq_params),
    .cfg_size = sizeof(struct wfq_cfg),
    .configure = wfq_configure,
    .select = wfq_select,
    .charge = wfq_charge,
};
