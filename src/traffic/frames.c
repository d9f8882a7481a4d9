/* Traffic kind frames: single frames arrive at each sender as a Poisson process; with a steady
 * receiver they are one connection, and the sender's link is an M/D/1 queue. Load counts frames
 * with preamble and gap: it is the utilisation of the link.
 */
#include "traffic/arrivals.h"
#include "traffic/kinds.h"

struct frames_params {
    struct targets_params targets;
    double load;
    int64_t frame;
    struct bind_period period;
    struct bind_carriage carriage;
};

static const struct xoff_param frames_table[] = {
    TARGETS_SETS(struct frames_params),
    TARGETS_PATTERN(struct frames_params, targets_patterns, "uniform"),
    {.name = "load",
     .type = XOFF_P_REAL,
     .offset = offsetof(struct frames_params, load),
     .min = "0",
     .max = "1",
     .help = "Part of its link's time that each sender's frames take, preamble and gap included."},
    BIND_FRAME(struct frames_params),
    BIND_PERIOD(struct frames_params),
    BIND_CARRIAGE(struct frames_params),
    {0},
};

static int frames_bind(const struct traffic_env *env, const void *params, const void *items,
                       uint32_t n_items, struct app_set *apps, struct xoff_err *err)
{
    const struct frames_params *p = params;
    struct arrivals arrivals = {.is_connection = true, .load = p->load};
    struct targets targets;
    (void)items, (void)n_items;
    int rc = bind_offer(env, &p->carriage, &arrivals.offer, err);
    if (rc == 0)
        rc = bind_load(p->load, err);
    if (rc == 0)
        rc = bind_period(env, &p->period, &arrivals.period, err);
    if (rc == 0)
        rc = bind_frame(env, arrivals.offer.transport, p->frame, &arrivals.offer.frame_bytes, err);
    if (rc == 0)
        rc = targets_bind(env, &p->targets, TARGETS_UNIFORM, &targets, err);
    if (rc)
        return rc;
    sizes_fixed((int64_t)arrivals.offer.frame_bytes - bind_header(env, arrivals.offer.transport),
                &arrivals.sizes);
    arrivals.bits = (arrivals.offer.frame_bytes + XOFF_OVERHEAD_BYTES) * 8.0;
    rc = arrivals_bind(env, &arrivals, &targets, apps, err);
    targets_fini(&targets);
    return rc;
}

const struct traffic_kind traffic_frames = {
    .name = "frames",
    .summary = "single frames that arrive at random, at a load",
    .params = frames_table,
    .params_size = sizeof(struct frames_params),
    .bind = frames_bind,
};
