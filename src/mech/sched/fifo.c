/* First in, first out over all priorities: of the queues that may send, the one whose head has
 * waited longest is served.
 *
 * Each queue is itself in order of arrival, so without pauses frames leave the port in order of
 * arrival. A paused queue is passed over, and its age counts again when it resumes. Of heads queued
 * at the same instant the one with the higher priority number goes first.
 */
#include <xoff/sched.h>

static const struct xoff_param fifo_table[] = {{0}};

static int fifo_configure(const void *params, const struct xoff_sched_env *env, void *cfg,
                          struct xoff_sched_shape *shape, struct xoff_err *err)
{
    (void)params, (void)env, (void)cfg, (void)err;
    shape->reads_since = true;
    return 0;
}

static uint32_t fifo_select(const void *cfg, void *state, const struct xoff_sched_view *view)
{
    (void)cfg, (void)state;
    uint32_t oldest = (uint32_t)__builtin_ctz(view->eligible);
    xoff_time since = view->head_since[oldest];
    /* The loop goes upwards and a head of equal age wins, so ties go to the higher number. */
    for (uint32_t left = view->eligible & (view->eligible - 1u); left; left &= left - 1) {
        const uint32_t q = (uint32_t)__builtin_ctz(left);
        const bool wins = view->head_since[q] <= since;
        oldest = wins ? q : oldest;
        since = wins ? view->head_since[q] : since;
    }
    return oldest;
}

static uint8_t fifo_ahead(const void *cfg, uint32_t queue)
{
    (void)cfg, (void)queue;
    return 0xff;
}

const struct xoff_sched_ops xoff_sched_fifo = {
    .name = "fifo",
    .summary = "oldest head of all priorities first",
    .params = fifo_table,
    .configure = fifo_configure,
    .select = fifo_select,
    .ahead = fifo_ahead,
};
