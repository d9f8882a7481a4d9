/* Strict priority (802.1Q 8.6.8.1): of the queues that may send, the highest priority number.
 *
 * A higher priority that never runs out starves all below it: that is the algorithm.
 */
#include <xoff/sched.h>

static const struct xoff_param strict_table[] = {{0}};

static uint32_t strict_select(const void *cfg, void *state, const struct xoff_sched_view *view)
{
    (void)cfg, (void)state;
    return 31 - (uint32_t)__builtin_clz(view->eligible);
}

const struct xoff_sched_ops xoff_sched_strict = {
    .name = "strict",
    .summary = "highest priority number first",
    .params = strict_table,
    .select = strict_select,
};
