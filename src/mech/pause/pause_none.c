/* No flow control: nobody is ever paused. Frames beyond the buffer's limits are lost. */
#include "mech/mechanisms.h"

static const struct xoff_param none_table[] = {{0}};

static size_t none_cfg_size(const struct xoff_pause_env *env)
{
    (void)env;
    return 0;
}

static int none_configure(const void *params, const struct xoff_pause_env *env, void *cfg,
                          struct xoff_err *err)
{
    (void)params, (void)env, (void)cfg, (void)err;
    return 0;
}

static size_t none_state_size(const void *cfg)
{
    (void)cfg;
    return 0;
}

static uint32_t none_max_edges(const void *cfg)
{
    (void)cfg;
    return 0;
}

static void none_init(const void *cfg, void *state)
{
    (void)cfg, (void)state;
}

static struct xoff_pause_signalling none_signalling(const void *cfg)
{
    (void)cfg;
    return (struct xoff_pause_signalling){.wire = XOFF_WIRE_NONE};
}

static bool none_wants_every_frame(const void *cfg)
{
    (void)cfg;
    return false;
}

static void none_on_arrival(const void *cfg, void *state, const struct xoff_arrival *arrival,
                            const struct xoff_crossings *crossings, xoff_time now,
                            struct xoff_edges *out)
{
    (void)cfg, (void)state, (void)arrival, (void)crossings, (void)now, (void)out;
}

static void none_on_departure(const void *cfg, void *state, const struct xoff_departure *departure,
                              const struct xoff_crossings *crossings, xoff_time now,
                              struct xoff_edges *out)
{
    (void)cfg, (void)state, (void)departure, (void)crossings, (void)now, (void)out;
}

static uint8_t none_waits_for(const void *cfg, const void *state, uint32_t port, uint32_t priority)
{
    (void)cfg, (void)state, (void)port, (void)priority;
    return 0;
}

const struct xoff_pause_ops xoff_pause_none = {
    .name = "none",
    .summary = "no flow control",
    .params = none_table,
    .params_size = 0,
    .cfg_size = none_cfg_size,
    .configure = none_configure,
    .state_size = none_state_size,
    .max_edges = none_max_edges,
    .init = none_init,
    .signalling = none_signalling,
    .wants_every_frame = none_wants_every_frame,
    .on_arrival = none_on_arrival,
    .on_departure = none_on_departure,
    .waits_for = none_waits_for,
};
