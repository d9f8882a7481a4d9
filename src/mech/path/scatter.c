/* Packet scatter: every frame takes any of the equal-cost ports, drawn anew at each switch.
 *
 * Source: Dixit et al., "On the impact of packet spraying in data center networks", INFOCOM 2013
 * (random packet spraying). Links are loaded evenly, but frames of a flow overtake each other, and
 * the transport must cope with that.
 */
#include <xoff/path.h>

static const struct xoff_param scatter_table[] = {{0}};

static int scatter_configure(const void *params, const struct xoff_path_env *env, void *cfg,
                             struct xoff_path_shape *shape, struct xoff_err *err)
{
    (void)params, (void)env, (void)cfg, (void)err;
    *shape = (struct xoff_path_shape){.by_hash = true, .draws = true};
    return 0;
}

const struct xoff_path_ops xoff_path_scatter = {
    .name = "scatter",
    .summary = "anew for every frame",
    .params = scatter_table,
    .configure = scatter_configure,
};
