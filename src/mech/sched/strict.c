/* Strict priority (802.1Q 8.6.8.1): of the queues that may send, the one with the highest priority
 * number is served.
 *
 * A priority that never runs out of frames starves all below it, as the algorithm intends.
 */
#include <xoff/sched.h>

static const struct xoff_param strict_table[] = {{0}};

static uint32_t strict_select(const void *cfg, void *state, const struct xoff_sched_view *view)
{
    (void)cfg, (void)state;
    return 31 - (uint32_t)__builtin_clz(view->eligible);
}

static uint8_t strict_ahead(const void *cfg, uint32_t queue)
{
    (void)cfg;
    return (uint8_t)(0xfeu << queue);
}

const struct xoff_sched_ops xoff_sched_strict = {
    .name = "strict",
    .summary = "highest priority number first",
    .params = strict_table,
    .select = strict_select,
    .ahead = strict_ahead,
};
