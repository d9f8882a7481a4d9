/* Longest queue first: every port takes the candidate with most bytes; of equals, the first at or
 * after its pointer.
 *
 * Source: iLQF (McKeown, "Scheduling cells in an input-queued switch", 1995). See matching.h for
 * the rounds and for when pointers move. A short queue may wait for as long as longer ones compete
 * with it, as the algorithm intends.
 */
#include "mech/arb/matching.h"
#include "mech/mechanisms.h"

static const struct xoff_param longest_table[] = {MATCHING_PARAMS, {0}};

static int longest_configure(const void *params, const struct xoff_arb_env *env, void *cfg,
                             struct xoff_arb_shape *shape, struct xoff_err *err)
{
    shape->sees_bytes = true;
    return matching_configure(params, env, cfg, shape, err);
}

MATCHING_INLINE uint32_t longest_of(const uint64_t *set, uint32_t n_words, uint32_t from,
                                    const uint32_t *bytes, uint32_t step)
{
    const uint32_t first = matching_first(set, n_words, from);
    uint32_t best = first;
    /* Cyclically from `first`: a later candidate must be longer, not only as long. */
    for (uint32_t port = matching_next(set, n_words, first + 1); port != UINT32_MAX;
         port = matching_next(set, n_words, port + 1))
        if (bytes[(size_t)port * step] > bytes[(size_t)best * step])
            best = port;
    for (uint32_t port = matching_next(set, n_words, 0); port < first;
         port = matching_next(set, n_words, port + 1))
        if (bytes[(size_t)port * step] > bytes[(size_t)best * step])
            best = port;
    return best;
}

static void longest_match(const void *cfg, void *state, const struct xoff_arb_view *view,
                          struct xoff_arb_matching *out)
{
    matching_match(cfg, state, view, view->bytes, longest_of, out);
}

const struct xoff_arb_ops xoff_arb_longest = {
    .name = "longest",
    .summary = "longest queue first, in rounds of request, grant and accept (iLQF)",
    .params = longest_table,
    .params_size = sizeof(struct matching_params),
    .cfg_size = sizeof(struct matching_cfg),
    .configure = longest_configure,
    .match = longest_match,
};
