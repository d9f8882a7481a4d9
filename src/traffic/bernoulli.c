/* Traffic kind bernoulli: time at each sender is cut into slots of one frame with preamble and gap
 * at the rate of its link. Each slot has a frame with probability `load`, independently of the
 * others.
 *
 * The number of slots up to the next used one is geometric, so idle slots cost nothing. Slot n
 * starts n * slot bits / rate after `start`, rounded down: rates that do not divide evenly do not
 * drift. With a steady receiver the frames are one connection, else each is a flow of its own.
 */
#include "traffic/draw.h"
#include "traffic/kinds.h"
#include "traffic/targets.h"

#include <stdlib.h>
#include <string.h>

struct bernoulli_params {
    struct targets_params targets;
    double load;
    int64_t frame;
    struct bind_period period;
    struct bind_carriage carriage;
};

struct bernoulli_cfg {
    struct app_offer offer;
    struct bind_period period;
    double log_miss;
    uint64_t slot_bits;
    uint32_t n_pool;
    uint32_t pool[];
};

struct bernoulli_state {
    xoff_time next_at;
    uint64_t slots; /* slots passed, including that of next_at; 0: not started */
    xoff_rate line_bps;
    struct targets_one target;
};

static const struct xoff_param bernoulli_table[] = {
    TARGETS_SETS(struct bernoulli_params),
    TARGETS_PATTERN(struct bernoulli_params, targets_patterns, "uniform"),
    {.name = "load",
     .type = XOFF_P_REAL,
     .offset = offsetof(struct bernoulli_params, load),
     .min = "0",
     .max = "1",
     .help = "Probability that a frame slot at line rate is used."},
    BIND_FRAME(struct bernoulli_params),
    BIND_PERIOD(struct bernoulli_params),
    BIND_CARRIAGE(struct bernoulli_params),
    {0},
};

static xoff_time bernoulli_deadline(const void *cfg, const void *state)
{
    (void)cfg;
    return ((const struct bernoulli_state *)state)->next_at;
}

/* Moves on to the next used slot, or to the end when it lies behind stop. */
static void advance(const struct bernoulli_cfg *cfg, struct bernoulli_state *st,
                    struct xoff_rng *rng)
{
    const uint64_t n = st->slots + draw_geometric(rng, cfg->log_miss);
    const unsigned __int128 bits = (unsigned __int128)(n - 1) * cfg->slot_bits;
    const uint64_t length = (uint64_t)(cfg->period.stop - cfg->period.start);
    const unsigned __int128 bits_to_stop = (unsigned __int128)length * st->line_bps;
    /* The whole period is compared first: only then is the product with a second in range. */
    if (bits > bits_to_stop / (uint64_t)XOFF_S + 1) {
        st->next_at = XOFF_NEVER;
        return;
    }
    st->slots = n;
    st->next_at = cfg->period.start + (xoff_time)(bits * (uint64_t)XOFF_S / st->line_bps);
    if (st->next_at >= cfg->period.stop)
        st->next_at = XOFF_NEVER;
}

static uint32_t bernoulli_expire(const void *config, void *state, struct xoff_rng *rng,
                                 xoff_time now, struct app_offer *offers)
{
    const struct bernoulli_cfg *cfg = config;
    struct bernoulli_state *st = state;
    uint32_t n = 0;
    if (st->slots == 0 && st->next_at <= now)
        advance(cfg, st, rng);
    while (n < APP_MAX_OFFERS && st->next_at <= now) {
        struct app_offer *offer = &offers[n++];
        *offer = cfg->offer;
        offer->to = targets_draw(&st->target, cfg->pool, cfg->n_pool, rng);
        offer->continues = targets_is_steady(&st->target);
        advance(cfg, st, rng);
    }
    return n;
}

static const struct app_ops bernoulli_ops = {
    .name = "bernoulli", .deadline = bernoulli_deadline, .expire = bernoulli_expire};

static int make_apps(const struct traffic_env *env, const struct bernoulli_cfg *made,
                     const struct targets *targets, struct app_set *apps, struct xoff_err *err)
{
    const struct bind_hosts *pool = &targets->pool;
    struct bernoulli_cfg *cfg = calloc(1, sizeof *cfg + pool->n * sizeof cfg->pool[0]);
    struct bernoulli_state *states = calloc(targets->senders.n, sizeof *states);
    if (cfg && states) {
        *cfg = *made;
        cfg->n_pool = pool->n;
        if (pool->n)
            memcpy(cfg->pool, pool->hosts, pool->n * sizeof cfg->pool[0]);
        for (uint32_t i = 0; i < targets->senders.n; i++)
            states[i] = (struct bernoulli_state){
                .next_at = made->period.start < made->period.stop ? made->period.start : XOFF_NEVER,
                .line_bps = bind_line_rate(env, targets->senders.hosts[i]),
                .target = targets->ones[i],
            };
    }
    const struct bind_made all = {
        .ops = &bernoulli_ops, .cfg = cfg, .states = states, .state_size = sizeof *states};
    return bind_apps(env, &targets->senders, &all, apps, err);
}

static int bernoulli_bind(const struct traffic_env *env, const void *params, const void *items,
                          uint32_t n_items, struct app_set *apps, struct xoff_err *err)
{
    const struct bernoulli_params *p = params;
    struct bernoulli_cfg cfg = {0};
    struct targets targets;
    (void)items, (void)n_items;
    int rc = bind_offer(env, &p->carriage, &cfg.offer, err);
    if (rc == 0)
        rc = bind_load(p->load, err);
    if (rc == 0)
        rc = bind_period(env, &p->period, &cfg.period, err);
    if (rc == 0)
        rc = bind_frame(env, cfg.offer.transport, p->frame, &cfg.offer.frame_bytes, err);
    if (rc == 0)
        rc = targets_bind(env, &p->targets, TARGETS_UNIFORM, &targets, err);
    if (rc)
        return rc;
    cfg.offer.bytes = cfg.offer.frame_bytes - bind_header(env, cfg.offer.transport);
    cfg.slot_bits = (uint64_t)(cfg.offer.frame_bytes + XOFF_OVERHEAD_BYTES) * 8;
    cfg.log_miss = p->load == 1 ? 0 : draw_log_miss(p->load);
    rc = make_apps(env, &cfg, &targets, apps, err);
    targets_fini(&targets);
    return rc;
}

const struct traffic_kind traffic_bernoulli = {
    .name = "bernoulli",
    .summary = "each frame slot at line rate used with a probability",
    .params = bernoulli_table,
    .params_size = sizeof(struct bernoulli_params),
    .bind = bernoulli_bind,
};
