/* Enhanced transmission selection (802.1Qaz; 802.1Q 8.6.8.4).
 *
 * Strict priorities go first, the highest number first. What they leave is shared by the others in
 * proportion to their weights, in deficit rounds (rounds.h); a share that is not used goes to those
 * that can use it, so the port is never idle while a queue may send.
 *
 * The priority of the smallest weight is granted `quantum` bytes per visit, the others in
 * proportion: these are the shortest rounds in which a queue is never skipped. Deficits count in
 * 1/smallest-weight of a byte, which keeps proportions exact: a visit grants weight * quantum, and
 * a byte costs the smallest weight.
 *
 * Differs: each priority is a traffic class of its own; bandwidth is per priority.
 * Differs: weights need not add up to 100; a share is weight / sum of the weights of the priorities
 * that are not strict (and, at any moment, of those that have something to send).
 * Differs: the dissertation (2.1.2) says a class may use bandwidth only up to its percentage; the
 * standard, and its own 3.2.2, are work conserving.
 */
#include <xoff/sched.h>

#include "rounds.h"

struct ets_params {
    int64_t quantum;
    int64_t count_overhead;
};

struct ets_cfg {
    struct xoff_rounds_cfg rounds;
    uint32_t strict; /* bit n: priority n */
};

static const struct xoff_param ets_table[] = {
    {.name = "quantum",
     .type = XOFF_P_BYTES,
     .offset = offsetof(struct ets_params, quantum),
     .preset = "auto",
     .min = "1B",
     .max = ROUNDS_MAX_QUANTUM,
     .allows_auto = true,
     .help = "Bytes the priority of the smallest weight is granted per round; auto: the largest "
             "frame, the least that lets every queue send in each round."},
    {.name = "count_overhead",
     .type = XOFF_P_BOOL,
     .offset = offsetof(struct ets_params, count_overhead),
     .preset = "false",
     .help = "Charge preamble and gap (20 bytes) with each frame: shares of the wire instead of "
             "shares of frame bytes."},
    {0},
};

static int ets_configure(const void *params, const struct xoff_sched_env *env, void *cfg,
                         struct xoff_sched_shape *shape, struct xoff_err *err)
{
    const struct ets_params *p = params;
    struct ets_cfg *c = cfg;
    int code = rounds_check_weights(env, (uint8_t)~env->strict, err);
    if (code)
        return code;
    XOFF_ASSERT(env->max_frame_bytes > 0);
    shape->state_size = sizeof(struct xoff_rounds);
    *c = (struct ets_cfg){.strict = env->strict};
    c->rounds.overhead_bytes = p->count_overhead ? XOFF_OVERHEAD_BYTES : 0;
    c->rounds.scale = ROUNDS_MAX_WEIGHT;
    const int64_t quantum = p->quantum == XOFF_PARAM_AUTO
                                ? env->max_frame_bytes + c->rounds.overhead_bytes
                                : p->quantum;
    XOFF_ASSERT(quantum > 0);
    for (uint32_t q = 0; q < XOFF_N_PRIORITIES; q++) {
        if (env->strict >> q & 1)
            continue;
        c->rounds.credit[q] = quantum * env->weight[q];
        if (env->weight[q] < c->rounds.scale)
            c->rounds.scale = env->weight[q];
    }
    return rounds_warn(&c->rounds, ROUNDS_SCALED, env, (uint8_t)~env->strict, "quantum", err);
}

static void ets_init(const void *cfg, void *state)
{
    (void)cfg;
    rounds_init(state);
}

static uint32_t ets_select(const void *cfg, void *state, const struct xoff_sched_view *view)
{
    const struct ets_cfg *c = cfg;
    const uint32_t strict = view->eligible & c->strict;
    if (strict)
        return 31 - (uint32_t)__builtin_clz(strict);
    return rounds_select(&c->rounds, ROUNDS_SCALED, state, view, view->eligible);
}

static void ets_charge(const void *cfg, void *state, uint32_t queue, uint32_t bytes, bool emptied)
{
    const struct ets_cfg *c = cfg;
    if (!(c->strict >> queue & 1))
        rounds_charge(&c->rounds, ROUNDS_SCALED, state, queue, bytes, emptied);
}

static uint8_t ets_ahead(const void *cfg, uint32_t queue)
{
    const struct ets_cfg *c = cfg;
    return (uint8_t)(c->strict & (c->strict >> queue & 1 ? 0xfeu << queue : 0xffu));
}

const struct xoff_sched_ops xoff_sched_ets = {
    .name = "ets",
    .summary = "enhanced transmission selection (802.1Qaz): strict first, the rest by weight",
    .params = ets_table,
    .params_size = sizeof(struct ets_params),
    .cfg_size = sizeof(struct ets_cfg),
    .configure = ets_configure,
    .init = ets_init,
    .select = ets_select,
    .charge = ets_charge,
    .ahead = ets_ahead,
};
