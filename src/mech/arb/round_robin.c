/* Iterative round robin: every port takes the first candidate at or after its pointer.
 *
 * Source: iSLIP (McKeown, "The iSLIP scheduling algorithm for input-queued switches", 1999). See
 * matching.h for the rounds and for when pointers move. Under load the pointers of the outputs come
 * to differ, so that one round already matches every port under uniform traffic.
 */
#include "mech/arb/matching.h"
#include "mech/mechanisms.h"

static const struct xoff_param round_robin_table[] = {MATCHING_PARAMS, {0}};

static int round_robin_configure(const void *params, const struct xoff_arb_env *env, void *cfg,
                                 struct xoff_arb_shape *shape, struct xoff_err *err)
{
    return matching_configure(params, env, cfg, shape, err);
}

MATCHING_INLINE uint32_t next_in_turn(const uint64_t *set, uint32_t n_words, uint32_t from,
                                      const uint32_t *bytes, uint32_t step)
{
    (void)bytes, (void)step;
    return matching_first(set, n_words, from);
}

static void round_robin_match(const void *cfg, void *state, const struct xoff_arb_view *view,
                              struct xoff_arb_matching *out)
{
    matching_match(cfg, state, view, NULL, next_in_turn, out);
}

const struct xoff_arb_ops xoff_arb_round_robin = {
    .name = "round-robin",
    .summary = "every port in turn, in rounds of request, grant and accept (iSLIP)",
    .params = round_robin_table,
    .params_size = sizeof(struct matching_params),
    .cfg_size = sizeof(struct matching_cfg),
    .configure = round_robin_configure,
    .match = round_robin_match,
};
