/* FECN's reaction point: a rate limiter that takes the rate of the tags that come back.
 *
 * Source: Jiang, Jain and So-In, "An explicit rate control framework for lossless Ethernet
 * operation", sections II and III. Every tau the flow sends a tag along its path, each switch
 * lowers the rate in it to its own, the receiver sends it back:
 *
 *   start       R = link's rate / N0; the first tag after a part of tau drawn at random
 *   every tau   a tag on the next data frame, or in a frame of its own
 *   tag back    R = its rate, at most the link's
 *   severe congestion, told by a switch (E-FECN)   R = the rate in the message, if that is less
 *
 * A flow without anything to send sends no tags. Tags keep their phase: a tag that had to wait for
 * a data frame does not delay the one after it.
 *
 * Differs: what the source does is hardly told in the paper. Start, phases and the answer to severe
 * congestion are choices.
 */
#include <xoff/rng.h>

#include "mech/rp/rates.h"

enum { FECN_ON_DATA, FECN_ALONE };
static const char *const fecn_tags[] = {"data", "probe", NULL};
enum { FECN_RANDOM, FECN_IN_STEP };
static const char *const fecn_phases[] = {"random", "in-step", NULL};

struct fecn_rp_params {
    int64_t interval, tags, phase, n0;
};

struct fecn_rp_cfg {
    xoff_rate line_bps, start_bps;
    xoff_time interval;
    enum xoff_rp_probe probe;
    bool is_in_step;
};

struct fecn_rp {
    xoff_time next_at; /* when the next tag is due */
};

static const struct xoff_param fecn_rp_table[] = {
    {.name = "interval",
     .type = XOFF_P_TIME,
     .offset = offsetof(struct fecn_rp_params, interval),
     .preset = "1ms",
     .min = "1us",
     .max = "10s",
     .help = "Time from one tag of a flow to the next, tau."},
    {.name = "tags",
     .type = XOFF_P_CHOICE,
     .offset = offsetof(struct fecn_rp_params, tags),
     .preset = "data",
     .choices = fecn_tags,
     .help = "What carries a tag: the next data frame, or a frame of its own."},
    {.name = "phase",
     .type = XOFF_P_CHOICE,
     .offset = offsetof(struct fecn_rp_params, phase),
     .preset = "random",
     .choices = fecn_phases,
     .help = "When a flow sends tags within the interval: from a random time on, or when all "
             "others do, at multiples of the interval."},
    {.name = "n0",
     .type = XOFF_P_INT,
     .offset = offsetof(struct fecn_rp_params, n0),
     .preset = "200",
     .min = "1",
     .max = "1000000",
     .help = "A flow starts with the link's rate divided by this; 1: at the link's rate."},
    {0},
};

static int fecn_rp_configure(const void *params, const struct xoff_rp_env *env, void *cfg,
                             struct xoff_rp_shape *shape, struct xoff_err *err)
{
    const struct fecn_rp_params *p = params;
    if (p->interval <= 0)
        return xoff_err_set(err, XOFF_E_RANGE, "interval", NULL, "must be above 0");
    if (p->n0 <= 0)
        return xoff_err_set(err, XOFF_E_RANGE, "n0", NULL, "must be above 0");
    const xoff_rate start_bps = env->rate_bps / (xoff_rate)p->n0;
    *(struct fecn_rp_cfg *)cfg = (struct fecn_rp_cfg){
        .line_bps = env->rate_bps,
        .start_bps = start_bps ? start_bps : 1,
        .interval = p->interval,
        .probe = p->tags == FECN_ALONE ? XOFF_RP_PROBE_ALONE : XOFF_RP_PROBE_ON_DATA,
        .is_in_step = p->phase == FECN_IN_STEP,
    };
    shape->state_size = sizeof(struct fecn_rp);
    shape->tag_kind = XOFF_NOTICE_FECN;
    return 0;
}

static void fecn_rp_init(const void *cfg, void *state, const struct xoff_rp_flow *flow,
                         xoff_time now, struct xoff_rp_answer *answer)
{
    const struct fecn_rp_cfg *c = cfg;
    struct fecn_rp *s = state;
    struct xoff_rng rng;
    xoff_rng_init(&rng, flow->seed, 0, 0);
    const xoff_time left = c->is_in_step
                               ? c->interval - now % c->interval
                               : (xoff_time)xoff_rng_below(&rng, (uint64_t)c->interval) + 1;
    s->next_at = answer->deadline = xoff_time_after(now, left);
    answer->rate_bps = c->start_bps;
}

static void fecn_rp_expire(const void *cfg, void *state, xoff_time now,
                           struct xoff_rp_answer *answer)
{
    const struct fecn_rp_cfg *c = cfg;
    struct fecn_rp *s = state;
    if (s->next_at > now)
        return;
    s->next_at += (now - s->next_at) / c->interval * c->interval + c->interval;
    answer->deadline = s->next_at;
    answer->probe = c->probe;
}

static void fecn_rp_on_notice(const void *cfg, void *state, const struct xoff_notice *notice,
                              xoff_time now, struct xoff_rp_answer *answer)
{
    const struct fecn_rp_cfg *c = cfg;
    (void)state, (void)now;
    if (notice->kind != XOFF_NOTICE_FECN)
        return;
    xoff_rate bps = notice->rate_bps < c->line_bps ? notice->rate_bps : c->line_bps;
    if (notice->feedback < 0 && answer->rate_bps < bps)
        bps = answer->rate_bps;
    answer->rate_bps = bps ? bps : 1;
}

const struct xoff_rp_ops xoff_rp_fecn = {
    .name = "fecn",
    .summary = "a rate limiter per flow, set by the tags that switches write (FECN)",
    .params = fecn_rp_table,
    .params_size = sizeof(struct fecn_rp_params),
    .cfg_size = sizeof(struct fecn_rp_cfg),
    .marking = "fecn",
    .np = "reflect",
    .rel = "datagram",
    .sends_tags = true,
    .configure = fecn_rp_configure,
    .init = fecn_rp_init,
    .on_notice = fecn_rp_on_notice,
    .expire = fecn_rp_expire,
};
