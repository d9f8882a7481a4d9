/* No congestion point: frames are never marked and the caller need never ask. */
#include <xoff/cp.h>

static const struct xoff_param cp_none_table[] = {{0}};

static int cp_none_configure(const void *params, const struct xoff_cp_env *env, void *cfg,
                             struct xoff_err *err)
{
    (void)params, (void)env, (void)cfg, (void)err;
    return 0;
}

static void cp_none_init(const void *cfg, void *state)
{
    (void)cfg, (void)state;
}

static int64_t cp_none_quiet_below(const void *cfg)
{
    (void)cfg;
    return INT64_MAX;
}

const struct xoff_cp_ops xoff_cp_none = {
    .name = "none",
    .summary = "no marking",
    .params = cp_none_table,
    .configure = cp_none_configure,
    .init = cp_none_init,
    .quiet_below = cp_none_quiet_below,
};
