/* The app behind poisson and frames (arrivals.h).
 *
 * The gap to the next arrival is exponential with mean bits / (load * the sender's rate), rounded
 * to the picosecond. The first gap is drawn when the period starts, so that every draw comes from
 * the app's own stream.
 */
#include "traffic/arrivals.h"

#include <stdlib.h>
#include <string.h>

#include "traffic/draw.h"

struct arrivals_cfg {
    struct app_offer offer;
    bool is_connection;
    xoff_time stop;
    struct sizes sizes;
    uint32_t n_pool;
    uint32_t pool[]; /* receivers to draw from */
};

struct arrivals_state {
    xoff_time next_at;
    double mean_gap_ps;
    struct targets_one target;
    bool is_started;
};

static xoff_time arrivals_deadline(const void *cfg, const void *state)
{
    (void)cfg;
    return ((const struct arrivals_state *)state)->next_at;
}

static void advance(const struct arrivals_cfg *cfg, struct arrivals_state *st, struct xoff_rng *rng)
{
    st->next_at =
        xoff_time_after(st->next_at, draw_span(xoff_rng_exponential(rng) * st->mean_gap_ps));
    if (st->next_at >= cfg->stop)
        st->next_at = XOFF_NEVER;
}

static uint32_t arrivals_expire(const void *config, void *state, struct xoff_rng *rng,
                                xoff_time now, struct app_offer *offers)
{
    const struct arrivals_cfg *cfg = config;
    struct arrivals_state *st = state;
    uint32_t n = 0;
    if (!st->is_started && st->next_at <= now) {
        st->is_started = true;
        advance(cfg, st, rng);
    }
    while (n < APP_MAX_OFFERS && st->next_at <= now) {
        struct app_offer *offer = &offers[n++];
        *offer = cfg->offer;
        offer->to = targets_draw(&st->target, cfg->pool, cfg->n_pool, rng);
        offer->bytes = (uint64_t)sizes_draw(&cfg->sizes, rng);
        offer->continues = cfg->is_connection && targets_is_steady(&st->target);
        advance(cfg, st, rng);
    }
    return n;
}

static const struct app_ops arrivals_ops = {
    .name = "arrivals", .deadline = arrivals_deadline, .expire = arrivals_expire};

int arrivals_bind(const struct traffic_env *env, const struct arrivals *arrivals,
                  const struct targets *targets, struct app_set *apps, struct xoff_err *err)
{
    const struct bind_hosts *pool = &targets->pool;
    struct arrivals_cfg *cfg = calloc(1, sizeof *cfg + pool->n * sizeof cfg->pool[0]);
    struct arrivals_state *states = calloc(targets->senders.n, sizeof *states);
    if (cfg && states) {
        cfg->offer = arrivals->offer;
        cfg->is_connection = arrivals->is_connection;
        cfg->stop = arrivals->period.stop;
        cfg->sizes = arrivals->sizes;
        cfg->n_pool = pool->n;
        if (pool->n)
            memcpy(cfg->pool, pool->hosts, pool->n * sizeof cfg->pool[0]);
        for (uint32_t i = 0; i < targets->senders.n; i++) {
            const double rate_bps = arrivals->rates_bps
                                        ? arrivals->rates_bps[i]
                                        : (double)bind_line_rate(env, targets->senders.hosts[i]);
            const bool is_empty = arrivals->period.start >= cfg->stop;
            states[i] = (struct arrivals_state){
                .next_at = is_empty ? XOFF_NEVER : arrivals->period.start,
                .mean_gap_ps = arrivals->bits / (arrivals->load * rate_bps) * (double)XOFF_S,
                .target = targets->ones[i],
            };
            if (!is_empty && !cfg->is_connection)
                apps->n_flows +=
                    (double)(cfg->stop - arrivals->period.start) / states[i].mean_gap_ps;
        }
    }
    const struct bind_made all = {
        .ops = &arrivals_ops, .cfg = cfg, .states = states, .state_size = sizeof *states};
    return bind_apps(env, &targets->senders, &all, apps, err);
}
