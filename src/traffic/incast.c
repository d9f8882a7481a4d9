/* Traffic kind incast: many senders start a flow to one receiver at the same time, once or in
 * rounds.
 *
 * Round k begins at `at` + k * `every`; each sender begins its flow of that round up to `jitter`
 * later, drawn uniformly for each. With `senders` that many of `from` are chosen by the seed and
 * stay the same in all rounds. The receiver is never among them.
 */
#include "traffic/kinds.h"
#include "traffic/targets.h"

#include <stdlib.h>
#include <string.h>

#include <xoff/units.h>

struct incast_params {
    char from[XOFF_PARAM_TEXT], to[XOFF_PARAM_TEXT];
    int64_t senders, size, at, every, count, jitter, rate;
    struct bind_carriage carriage;
};

struct incast_cfg {
    struct app_offer offer;
    xoff_time every, jitter, stop;
};

struct incast_state {
    xoff_time next_at;
    xoff_time round_at;
    uint64_t rounds;   /* rounds left, including this one */
    bool has_jittered; /* next_at includes the round's jitter */
};

static const struct xoff_param incast_table[] = {
    {.name = "from",
     .type = XOFF_P_TEXT,
     .offset = offsetof(struct incast_params, from),
     .preset = "all",
     .help = "Senders: all, h3, h0..h15, leaf0 (its hosts), or a list; the receiver is left out."},
    {.name = "to",
     .type = XOFF_P_TEXT,
     .offset = offsetof(struct incast_params, to),
     .help = "The receiver."},
    {.name = "senders",
     .type = XOFF_P_INT,
     .offset = offsetof(struct incast_params, senders),
     .preset = "auto",
     .min = "1",
     .allows_auto = true,
     .help = "So many of `from`, chosen by the seed; auto: all of them."},
    {.name = "size",
     .type = XOFF_P_BYTES,
     .offset = offsetof(struct incast_params, size),
     .min = "1B",
     .max = "1000000GB",
     .help = "Payload of each flow."},
    {.name = "at",
     .type = XOFF_P_TIME,
     .offset = offsetof(struct incast_params, at),
     .preset = "0s",
     .help = "When the flows of the first round start."},
    {.name = "every",
     .type = XOFF_P_TIME,
     .offset = offsetof(struct incast_params, every),
     .preset = "0s",
     .help = "Time from round to round; 0s: one round only."},
    {.name = "count",
     .type = XOFF_P_INT,
     .offset = offsetof(struct incast_params, count),
     .preset = "auto",
     .min = "1",
     .allows_auto = true,
     .help = "Number of rounds; auto: until the run's stop, or one without `every`."},
    {.name = "jitter",
     .type = XOFF_P_TIME,
     .offset = offsetof(struct incast_params, jitter),
     .preset = "0s",
     .help = "Each flow starts up to this much later, drawn uniformly."},
    BIND_RATE(struct incast_params),
    BIND_CARRIAGE(struct incast_params),
    {0},
};

static xoff_time incast_deadline(const void *cfg, const void *state)
{
    (void)cfg;
    return ((const struct incast_state *)state)->next_at;
}

static uint32_t incast_expire(const void *config, void *state, struct xoff_rng *rng, xoff_time now,
                              struct app_offer *offers)
{
    const struct incast_cfg *cfg = config;
    struct incast_state *st = state;
    if (st->next_at > now)
        return 0;
    if (cfg->jitter && !st->has_jittered) {
        st->has_jittered = true;
        st->next_at = xoff_time_after(st->round_at,
                                      (xoff_time)xoff_rng_below(rng, (uint64_t)cfg->jitter + 1));
        if (st->next_at >= cfg->stop) /* later rounds begin even later */
            st->next_at = XOFF_NEVER;
        if (st->next_at > now)
            return 0;
    }
    offers[0] = cfg->offer;
    st->has_jittered = false;
    st->rounds--;
    st->round_at = xoff_time_after(st->round_at, cfg->every);
    st->next_at = st->rounds && st->round_at < cfg->stop ? st->round_at : XOFF_NEVER;
    return 1;
}

static const struct app_ops incast_ops = {
    .name = "incast", .deadline = incast_deadline, .expire = incast_expire};

static int check_rounds(const struct incast_params *p, struct xoff_err *err)
{
    char text[32];
    if (p->at < 0 || p->every < 0 || p->jitter < 0)
        return xoff_err_set(err, XOFF_E_RANGE,
                            p->at < 0      ? "at"
                            : p->every < 0 ? "every"
                                           : "jitter",
                            NULL, "a time from 0s on is accepted");
    if (p->count != XOFF_PARAM_AUTO && p->count < 1)
        return xoff_err_set(err, XOFF_E_RANGE, "count", NULL,
                            "a number from 1 on or auto is accepted");
    if (p->count > 1 && p->every == 0)
        return xoff_err_set(err, XOFF_E_CONFLICT, "count",
                            xoff_format_int(text, sizeof text, p->count),
                            "several rounds need the time between them: give every");
    if (p->every && p->jitter > p->every)
        return xoff_err_set(err, XOFF_E_CONFLICT, "jitter",
                            xoff_format_time(text, sizeof text, p->jitter),
                            "at most `every` is accepted: rounds would overtake each other");
    return 0;
}

/* Chooses `n` of the list by the seed; XOFF_PARAM_AUTO: all. */
static int choose_senders(const struct traffic_env *env, int64_t n, struct bind_hosts *senders,
                          struct xoff_err *err)
{
    char text[32];
    if (n == XOFF_PARAM_AUTO)
        return 0;
    if (n < 1 || n > senders->n) {
        xoff_err_set(err, XOFF_E_RANGE, "senders", xoff_format_int(text, sizeof text, n),
                     "accepted is a number from 1 to the hosts there are beside the receiver, ");
        xoff_err_add_int(err, senders->n);
        return -XOFF_E_RANGE;
    }
    struct xoff_rng rng = bind_rng(env);
    bind_shuffle(&rng, senders->hosts, senders->n, (uint32_t)n);
    senders->n = (uint32_t)n;
    return 0;
}

static int make_apps(const struct traffic_env *env, const struct incast_params *p,
                     const struct incast_cfg *made, const struct bind_hosts *senders,
                     struct app_set *apps, struct xoff_err *err)
{
    struct incast_cfg *cfg = malloc(sizeof *cfg);
    struct incast_state *states = calloc(senders->n, sizeof *states);
    if (cfg && states) {
        *cfg = *made;
        for (uint32_t i = 0; i < senders->n; i++)
            states[i] = (struct incast_state){
                .next_at = p->at < env->stop ? p->at : XOFF_NEVER,
                .round_at = p->at,
                .rounds = p->every == 0                 ? 1
                          : p->count == XOFF_PARAM_AUTO ? UINT64_MAX
                                                        : (uint64_t)p->count,
            };
    }
    const struct bind_made all = {
        .ops = &incast_ops, .cfg = cfg, .states = states, .state_size = sizeof *states};
    return bind_apps(env, senders, &all, apps, err);
}

static int incast_bind(const struct traffic_env *env, const void *params, const void *items,
                       uint32_t n_items, struct app_set *apps, struct xoff_err *err)
{
    const struct incast_params *p = params;
    struct incast_cfg cfg = {.every = p->every, .jitter = p->jitter, .stop = env->stop};
    struct targets_params wanted = {.pattern = TARGETS_ALL_TO_ONE};
    struct targets targets = {0};
    (void)items, (void)n_items;
    memcpy(wanted.from, p->from, sizeof wanted.from);
    memcpy(wanted.to, p->to, sizeof wanted.to);
    int rc = bind_offer(env, &p->carriage, &cfg.offer, err);
    if (rc == 0)
        rc = bind_size("size", p->size, err);
    if (rc == 0)
        rc = check_rounds(p, err);
    if (rc == 0)
        rc = bind_host(env, "to", p->to, &cfg.offer.to, err);
    if (rc == 0)
        rc = targets_bind(env, &wanted, TARGETS_ALL_TO_ONE, &targets, err);
    if (rc == 0)
        rc = choose_senders(env, p->senders, &targets.senders, err);
    if (rc == 0)
        rc = bind_rate(env, p->rate, &targets.senders, &cfg.offer.rate_bps, err);
    if (rc == 0) {
        cfg.offer.bytes = (uint64_t)p->size;
        rc = make_apps(env, p, &cfg, &targets.senders, apps, err);
    }
    targets_fini(&targets);
    return rc;
}

const struct traffic_kind traffic_incast = {
    .name = "incast",
    .summary = "many senders start a flow to one receiver together",
    .params = incast_table,
    .params_size = sizeof(struct incast_params),
    .bind = incast_bind,
};
