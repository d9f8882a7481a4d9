/* Traffic kind cbr: one flow per sender at a constant rate, paced by the network. A flow that lasts
 * as long as the run is endless; otherwise it has as many whole frames as start before `stop`.
 */
#include "traffic/kinds.h"
#include "traffic/schedule.h"
#include "traffic/targets.h"

#include <stdlib.h>

struct cbr_params {
    struct targets_params targets;
    int64_t rate, frame;
    struct bind_period period;
    struct bind_carriage carriage;
};

static const struct xoff_param cbr_table[] = {
    TARGETS_SETS(struct cbr_params),
    TARGETS_PATTERN(struct cbr_params, targets_steady, "pairs"),
    BIND_RATE(struct cbr_params),
    BIND_FRAME(struct cbr_params),
    BIND_PERIOD(struct cbr_params),
    BIND_CARRIAGE(struct cbr_params),
    {0},
};

/* Frame k starts k * frame time after the first, so `length` / frame time frames start, rounded up.
 * Line rate needs preamble and gap as well, a pace counts the frame only. */
static uint64_t frames_in(xoff_time length, uint32_t frame_bytes, xoff_rate rate_bps,
                          xoff_rate line_bps)
{
    const uint64_t bytes = rate_bps ? frame_bytes : frame_bytes + XOFF_OVERHEAD_BYTES;
    const unsigned __int128 frame = (unsigned __int128)bytes * 8 * (uint64_t)XOFF_S;
    const unsigned __int128 all =
        (unsigned __int128)(uint64_t)length * (rate_bps ? rate_bps : line_bps);
    return (uint64_t)((all + frame - 1) / frame);
}

static int cbr_bind(const struct traffic_env *env, const void *params, const void *items,
                    uint32_t n_items, struct app_set *apps, struct xoff_err *err)
{
    const struct cbr_params *p = params;
    struct app_offer offer;
    struct bind_period period;
    struct targets targets = {0};
    struct schedule *schedule = NULL;
    uint32_t frame_bytes = 0;
    xoff_rate rate_bps = 0;
    (void)items, (void)n_items;
    int rc = bind_offer(env, &p->carriage, &offer, err);
    if (rc == 0)
        rc = bind_period(env, &p->period, &period, err);
    if (rc == 0)
        rc = bind_frame(env, offer.transport, p->frame, &frame_bytes, err);
    if (rc == 0)
        rc = targets_bind(env, &p->targets, TARGETS_PAIRS, &targets, err);
    if (rc == 0)
        rc = bind_rate(env, p->rate, &targets.senders, &rate_bps, err);
    for (uint32_t i = 0; rc == 0 && i < targets.senders.n; i++) {
        const uint32_t from = targets.senders.hosts[i];
        struct schedule_entry entry = {.at = period.start,
                                       .bytes = UINT64_MAX,
                                       .rate_bps = rate_bps,
                                       .from = from,
                                       .to = targets.ones[i].to,
                                       .priority = offer.priority,
                                       .priorities = offer.priorities,
                                       .transport = offer.transport};
        if (period.stop < env->stop)
            entry.bytes = (frame_bytes - bind_header(env, offer.transport)) *
                          frames_in(period.stop - period.start, frame_bytes, rate_bps,
                                    bind_line_rate(env, from));
        rc = schedule_add(&schedule, &entry, err);
    }
    targets_fini(&targets);
    if (rc) {
        free(schedule);
        return rc;
    }
    return schedule_bind(env, schedule, frame_bytes, apps, err);
}

const struct traffic_kind traffic_cbr = {
    .name = "cbr",
    .summary = "a constant rate from each sender to one receiver",
    .params = cbr_table,
    .params_size = sizeof(struct cbr_params),
    .bind = cbr_bind,
};
