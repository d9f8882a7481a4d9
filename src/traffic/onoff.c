/* Traffic kind onoff: bursts at a peak rate and idle times between them, both with lengths drawn
 * from an exponential or a Pareto distribution of given mean.
 *
 * A sender begins idle. A burst of length b is offered when it begins, as the whole frames that fit
 * in b at the peak rate. The time that does not fill a frame is added to the next burst, so that in
 * the long run peak * burst / (burst + idle) is offered. Bits are counted as for the peak: those of
 * MAC frames for a stated rate, with preamble and gap at line rate. A burst that `stop` falls in
 * ends there. With a steady receiver all bursts are one connection, else each is a flow of its own.
 *
 * Pareto with mean m and shape a > 1 has the smallest length m (a - 1) / a; for a <= 2 its variance
 * is infinite, and many such senders make self-similar traffic.
 */
#include "traffic/draw.h"
#include "traffic/kinds.h"
#include "traffic/targets.h"

#include <stdlib.h>
#include <string.h>

#include <xoff/units.h>

enum { LENGTHS_EXPONENTIAL, LENGTHS_PARETO };

struct onoff_params {
    struct targets_params targets;
    int64_t burst, idle, lengths;
    double shape;
    int64_t rate, frame;
    struct bind_period period;
    struct bind_carriage carriage;
};

struct onoff_cfg {
    struct app_offer offer;
    xoff_time stop;
    double burst_ps, idle_ps; /* means, or smallest lengths for pareto */
    double shape;             /* 0: exponential */
    uint64_t frame_bits;      /* as the peak rate counts them */
    uint32_t payload_bytes;   /* payload of a frame */
    uint32_t n_pool;
    uint32_t pool[];
};

struct onoff_state {
    xoff_time next_at;
    xoff_rate peak_bps;
    uint64_t carry; /* burst time not sent yet, in 1/peak_bps ps; less than a frame */
    struct targets_one target;
    bool is_started;
};

static const char *const lengths_choices[] = {"exponential", "pareto", NULL};

static const struct xoff_param onoff_table[] = {
    TARGETS_SETS(struct onoff_params),
    TARGETS_PATTERN(struct onoff_params, targets_patterns, "uniform"),
    {.name = "burst",
     .type = XOFF_P_TIME,
     .offset = offsetof(struct onoff_params, burst),
     .min = "1ns",
     .help = "Mean length of a burst."},
    {.name = "idle",
     .type = XOFF_P_TIME,
     .offset = offsetof(struct onoff_params, idle),
     .min = "0s",
     .help = "Mean time from the end of a burst to the next."},
    {.name = "lengths",
     .type = XOFF_P_CHOICE,
     .offset = offsetof(struct onoff_params, lengths),
     .preset = "exponential",
     .choices = lengths_choices,
     .help = "Distribution of both lengths."},
    {.name = "shape",
     .type = XOFF_P_REAL,
     .offset = offsetof(struct onoff_params, shape),
     .preset = "1.5",
     .min = "1",
     .max = "100",
     .help = "Shape of pareto lengths, above 1."},
    BIND_RATE(struct onoff_params),
    BIND_FRAME(struct onoff_params),
    BIND_PERIOD(struct onoff_params),
    BIND_CARRIAGE(struct onoff_params),
    {0},
};

static xoff_time onoff_deadline(const void *cfg, const void *state)
{
    (void)cfg;
    return ((const struct onoff_state *)state)->next_at;
}

static xoff_time draw_length(const struct onoff_cfg *cfg, double scale_ps, struct xoff_rng *rng)
{
    return draw_span(
        scale_ps * (cfg->shape > 0 ? xoff_rng_pareto(rng, cfg->shape) : xoff_rng_exponential(rng)));
}

/* Begins an idle time at `at`. */
static void rest(const struct onoff_cfg *cfg, struct onoff_state *st, struct xoff_rng *rng,
                 xoff_time at)
{
    st->next_at = xoff_time_after(at, draw_length(cfg, cfg->idle_ps, rng));
    if (st->next_at >= cfg->stop)
        st->next_at = XOFF_NEVER;
}

static uint32_t onoff_expire(const void *config, void *state, struct xoff_rng *rng, xoff_time now,
                             struct app_offer *offers)
{
    const struct onoff_cfg *cfg = config;
    struct onoff_state *st = state;
    uint32_t n = 0;
    if (!st->is_started && st->next_at <= now) {
        st->is_started = true;
        rest(cfg, st, rng, st->next_at);
    }
    while (n < APP_MAX_OFFERS && st->next_at <= now) {
        const xoff_time length = draw_length(cfg, cfg->burst_ps, rng);
        const xoff_time end = xoff_time_min(xoff_time_after(st->next_at, length), cfg->stop);
        const unsigned __int128 frame = (unsigned __int128)cfg->frame_bits * (uint64_t)XOFF_S;
        const unsigned __int128 all =
            (unsigned __int128)(uint64_t)(end - st->next_at) * st->peak_bps + st->carry;
        const uint64_t n_frames = (uint64_t)(all / frame);
        st->carry = (uint64_t)(all % frame);
        if (n_frames) {
            struct app_offer *offer = &offers[n++];
            *offer = cfg->offer;
            offer->to = targets_draw(&st->target, cfg->pool, cfg->n_pool, rng);
            offer->bytes = n_frames * cfg->payload_bytes;
            offer->continues = targets_is_steady(&st->target);
        }
        rest(cfg, st, rng, end);
    }
    return n;
}

static const struct app_ops onoff_ops = {
    .name = "onoff", .deadline = onoff_deadline, .expire = onoff_expire};

static int check_lengths(const struct onoff_params *p, struct xoff_err *err)
{
    char text[32];
    if (p->burst <= 0)
        return xoff_err_set(err, XOFF_E_RANGE, "burst", NULL, "a time above 0s is accepted");
    if (p->idle < 0)
        return xoff_err_set(err, XOFF_E_RANGE, "idle", NULL, "a time from 0s on is accepted");
    if (p->lengths == LENGTHS_PARETO && !(p->shape > 1))
        return xoff_err_set(err, XOFF_E_RANGE, "shape",
                            xoff_format_real(text, sizeof text, p->shape),
                            "pareto lengths have a mean for a shape above 1 only");
    return 0;
}

static int make_apps(const struct traffic_env *env, const struct onoff_cfg *made, xoff_time start,
                     const struct targets *targets, struct app_set *apps, struct xoff_err *err)
{
    const struct bind_hosts *pool = &targets->pool;
    struct onoff_cfg *cfg = calloc(1, sizeof *cfg + pool->n * sizeof cfg->pool[0]);
    struct onoff_state *states = calloc(targets->senders.n, sizeof *states);
    if (cfg && states) {
        *cfg = *made;
        cfg->n_pool = pool->n;
        if (pool->n)
            memcpy(cfg->pool, pool->hosts, pool->n * sizeof cfg->pool[0]);
        for (uint32_t i = 0; i < targets->senders.n; i++)
            states[i] = (struct onoff_state){
                .next_at = start < made->stop ? start : XOFF_NEVER,
                .peak_bps = made->offer.rate_bps ? made->offer.rate_bps
                                                 : bind_line_rate(env, targets->senders.hosts[i]),
                .target = targets->ones[i],
            };
    }
    const struct bind_made all = {
        .ops = &onoff_ops, .cfg = cfg, .states = states, .state_size = sizeof *states};
    return bind_apps(env, &targets->senders, &all, apps, err);
}

static int onoff_bind(const struct traffic_env *env, const void *params, const void *items,
                      uint32_t n_items, struct app_set *apps, struct xoff_err *err)
{
    const struct onoff_params *p = params;
    struct onoff_cfg cfg = {0};
    struct bind_period period;
    struct targets targets = {0};
    (void)items, (void)n_items;
    int rc = bind_offer(env, &p->carriage, &cfg.offer, err);
    if (rc == 0)
        rc = check_lengths(p, err);
    if (rc == 0)
        rc = bind_period(env, &p->period, &period, err);
    if (rc == 0)
        rc = bind_frame(env, cfg.offer.transport, p->frame, &cfg.offer.frame_bytes, err);
    if (rc == 0)
        rc = targets_bind(env, &p->targets, TARGETS_UNIFORM, &targets, err);
    if (rc == 0)
        rc = bind_rate(env, p->rate, &targets.senders, &cfg.offer.rate_bps, err);
    if (rc == 0) {
        const double scale = p->lengths == LENGTHS_PARETO ? (p->shape - 1) / p->shape : 1;
        cfg.stop = period.stop;
        cfg.shape = p->lengths == LENGTHS_PARETO ? p->shape : 0;
        cfg.burst_ps = (double)p->burst * scale;
        cfg.idle_ps = (double)p->idle * scale;
        cfg.payload_bytes = cfg.offer.frame_bytes - bind_header(env, cfg.offer.transport);
        cfg.frame_bits =
            (uint64_t)(cfg.offer.frame_bytes + (cfg.offer.rate_bps ? 0 : XOFF_OVERHEAD_BYTES)) * 8;
        rc = make_apps(env, &cfg, period.start, &targets, apps, err);
    }
    targets_fini(&targets);
    return rc;
}

const struct traffic_kind traffic_onoff = {
    .name = "onoff",
    .summary = "bursts at a peak rate and idle times between them",
    .params = onoff_table,
    .params_size = sizeof(struct onoff_params),
    .bind = onoff_bind,
};
