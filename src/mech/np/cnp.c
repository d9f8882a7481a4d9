/* DCQCN's notification point: a CNP for a marked frame, at most one per flow and interval.
 *
 * Source: Zhu et al., "Congestion control for large-scale RDMA deployments", SIGCOMM 2015, section
 * 3.1 and figure 6. The first marked frame of a flow causes a CNP at once; then marked frames of
 * the flow cause none for `cnp_interval` (N in the paper, 50 us). Marks also go back on ACKs.
 */
#include <xoff/np.h>

struct cnp_params {
    int64_t cnp_interval;
};

struct cnp_cfg {
    xoff_time interval;
};

struct cnp_state {
    xoff_time next_at; /* no CNP is sent before */
};

_Static_assert(sizeof(struct cnp_state) <= XOFF_NP_MAX_STATE, "many flows");

static const struct xoff_param cnp_table[] = {
    {.name = "cnp_interval",
     .type = XOFF_P_TIME,
     .offset = offsetof(struct cnp_params, cnp_interval),
     .preset = "50us",
     .min = "0s",
     .max = "1s",
     .help = "Least time between two CNPs of a flow at its receiver."},
    {0},
};

static int cnp_configure(const void *params, const struct xoff_np_env *env, void *cfg,
                         struct xoff_np_shape *shape, struct xoff_err *err)
{
    const struct cnp_params *p = params;
    (void)env;
    if (p->cnp_interval < 0)
        return xoff_err_set(err, XOFF_E_RANGE, "cnp_interval", NULL, "must not be negative");
    *(struct cnp_cfg *)cfg = (struct cnp_cfg){.interval = p->cnp_interval};
    shape->state_size = sizeof(struct cnp_state);
    return 0;
}

static unsigned cnp_on_data(const void *cfg, void *state, const struct xoff_np_data *data,
                            xoff_time now)
{
    const struct cnp_cfg *c = cfg;
    struct cnp_state *s = state;
    if (!data->is_marked || now < s->next_at)
        return 0;
    s->next_at = xoff_time_after(now, c->interval);
    return XOFF_NP_CNP;
}

const struct xoff_np_ops xoff_np_cnp = {
    .name = "cnp",
    .summary = "a CNP for marked frames, at most one per flow and interval",
    .params = cnp_table,
    .params_size = sizeof(struct cnp_params),
    .cfg_size = sizeof(struct cnp_cfg),
    .configure = cnp_configure,
    .on_data = cnp_on_data,
};
