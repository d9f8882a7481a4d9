/* Traffic kind all-to-all: each rank sends a flow to each other, once or in iterations.
 *
 * Rank number i of the n sends to i + 1, i + 2, ..., i + n - 1 (modulo n), each at the earliest
 * `stagger` after the one before: while all keep step, all receivers are different. `parallel`
 * limits how many of a rank's flows are unacknowledged at a time. An iteration ends at a rank when
 * it has received from all others and, where the transport has acknowledgements, all it sent has
 * been acknowledged.
 *
 * Another rank may be one iteration ahead, but not two: it ends an iteration only with the message
 * that this one sends in it. So arrivals are counted by the parity of the iteration.
 *
 * In a single iteration each message is a flow of its own; several iterations share n - 1 lasting
 * connections of each rank.
 */
#include "traffic/kinds.h"
#include "traffic/ranks.h"

#include <stdlib.h>

struct all_to_all_params {
    struct ranks_params ranks;
    int64_t stagger, parallel, rate;
};

struct all_to_all_cfg {
    struct ranks ranks;
    xoff_time stagger;
    uint32_t parallel;
    bool awaits_acks;
};

struct all_to_all_rank {
    struct rank rank;
    xoff_time next_at; /* earliest time of the next message */
    uint32_t offset;   /* distance to its receiver, 1 ... n; 0: the iteration has not begun */
    uint32_t n_acked;
    uint32_t n_come[2]; /* by parity of the iteration */
};

static const struct xoff_param all_to_all_table[] = {
    RANKS_PARAMS(struct all_to_all_params, "Payload of each flow, from each rank to each other.",
                 "1"),
    {.name = "at",
     .type = XOFF_P_TIME,
     .offset = offsetof(struct all_to_all_params, ranks.period.start),
     .preset = "0s",
     .help = "When the first flow of each rank starts."},
    BIND_STOP_IN(struct all_to_all_params, ranks.period),
    {.name = "stagger",
     .type = XOFF_P_TIME,
     .offset = offsetof(struct all_to_all_params, stagger),
     .preset = "0s",
     .help = "Time from one flow of a rank to its next, at least."},
    {.name = "parallel",
     .type = XOFF_P_INT,
     .offset = offsetof(struct all_to_all_params, parallel),
     .preset = "auto",
     .min = "1",
     .max = "1000000000",
     .allows_auto = true,
     .help = "Unacknowledged flows of a rank at a time; auto: any number."},
    BIND_RATE(struct all_to_all_params),
    BIND_CARRIAGE_IN(struct all_to_all_params, ranks.carriage),
    {0},
};

/* Sends to the next receiver, through memory or the network; false: no room. Word: parity 1 bit, 7
 * free, number at the receiver 8, number at the sender 8. */
static bool send(const struct ranks *ranks, struct ranks_app *app, uint32_t local, bool *is_given,
                 struct ranks_out *out)
{
    struct all_to_all_rank *rank = ranks_rank(ranks, app, local);
    const uint32_t parity = rank->rank.iteration & 1;
    const uint64_t number = ranks_number(ranks, app, local);
    const uint32_t to = (uint32_t)((number + rank->offset) % ranks->n);
    const uint32_t to_local = ranks_local(ranks, to), to_place = ranks_place(ranks, to);
    if (to_place == app->place) {
        struct all_to_all_rank *other = ranks_rank(ranks, app, to_local);
        other->n_come[parity]++;
        rank->n_acked++;
        *is_given = true;
    } else {
        struct app_offer *offer = ranks_offer(ranks, out);
        if (!offer)
            return false;
        offer->to = ranks->hosts[to_place];
        offer->bytes = ranks->size;
        offer->connection = offer->continues ? local * (ranks->n - 1) + rank->offset - 1 : 0;
        offer->word = local << 16 | to_local << 8 | parity;
    }
    rank->offset++;
    return true;
}

/* Sends everything that may be sent now; false: not all has been sent. */
static bool send_all(const struct all_to_all_cfg *cfg, struct ranks_app *app, uint32_t local,
                     xoff_time now, bool *is_given, struct ranks_out *out)
{
    struct all_to_all_rank *rank = ranks_rank(&cfg->ranks, app, local);
    rank->rank.wake_at = XOFF_NEVER;
    while (rank->offset < cfg->ranks.n) {
        if (cfg->awaits_acks && rank->offset - 1 - rank->n_acked >= cfg->parallel)
            return false;
        if (rank->next_at > now) {
            rank->rank.wake_at = rank->next_at < cfg->ranks.stop ? rank->next_at : XOFF_NEVER;
            return false;
        }
        if (!send(&cfg->ranks, app, local, is_given, out))
            return false;
        rank->next_at = xoff_time_after(now, cfg->stagger);
    }
    return true;
}

static bool all_to_all_advance(const struct ranks *ranks, struct ranks_app *app, uint32_t local,
                               xoff_time now, struct ranks_out *out)
{
    const struct all_to_all_cfg *cfg = (const void *)ranks;
    struct all_to_all_rank *rank = ranks_rank(ranks, app, local);
    bool is_given = false;
    while (ranks_is_running(&rank->rank, now)) {
        uint32_t *n_come = &rank->n_come[rank->rank.iteration & 1];
        if (rank->offset == 0) {
            rank->offset = 1;
            rank->next_at = now;
        }
        if (!send_all(cfg, app, local, now, &is_given, out))
            return is_given;
        if (*n_come < ranks->n - 1 || (cfg->awaits_acks && rank->n_acked < ranks->n - 1))
            return is_given;
        if (!ranks_end(ranks, app, &rank->rank, (ranks->n - 1) * ranks->size, now, out))
            return is_given;
        *n_come = rank->n_acked = rank->offset = 0;
    }
    return is_given;
}

static uint32_t all_to_all_on_event(const void *config, void *state, struct xoff_rng *rng,
                                    const struct app_event *event, xoff_time now,
                                    struct app_offer *offers)
{
    const struct all_to_all_cfg *cfg = config;
    struct ranks_app *app = state;
    (void)rng;
    if (event->kind == APP_ARRIVED) {
        struct all_to_all_rank *rank = ranks_rank(&cfg->ranks, app, event->word >> 8 & 0xff);
        rank->n_come[event->word & 1]++;
    } else if (cfg->awaits_acks) {
        struct all_to_all_rank *rank = ranks_rank(&cfg->ranks, app, event->word >> 16);
        rank->n_acked++;
    }
    return ranks_run(&cfg->ranks, app, now, offers);
}

static const struct app_ops all_to_all_ops = {.name = "all-to-all",
                                              .deadline = ranks_deadline,
                                              .expire = ranks_expire,
                                              .on_event = all_to_all_on_event,
                                              .n_under_way = ranks_under_way};

static int fill(const struct traffic_env *env, const struct all_to_all_params *p,
                const struct bind_hosts *hosts, struct all_to_all_cfg *cfg, struct xoff_err *err)
{
    struct ranks *ranks = &cfg->ranks;
    if (p->stagger < 0)
        return xoff_err_set(err, XOFF_E_RANGE, "stagger", NULL, "a time from 0s on is accepted");
    cfg->stagger = p->stagger;
    cfg->awaits_acks = bind_is_acknowledged(env, ranks->offer.transport);
    cfg->parallel = p->parallel == XOFF_PARAM_AUTO ? UINT32_MAX : (uint32_t)p->parallel;
    if (p->parallel != XOFF_PARAM_AUTO && !cfg->awaits_acks)
        return xoff_err_set(err, XOFF_E_CONFLICT, "parallel", NULL,
                            "this transport has no acknowledgements to count; accepted are auto "
                            "and other transports");
    ranks->rank_size = sizeof(struct all_to_all_rank);
    ranks->advance = all_to_all_advance;
    if (ranks->iterations == 1)
        ranks->offer.continues = ranks->offer.is_message = false;
    return bind_rate(env, p->rate, hosts, &ranks->offer.rate_bps, err);
}

static int all_to_all_bind(const struct traffic_env *env, const void *params, const void *items,
                           uint32_t n_items, struct app_set *apps, struct xoff_err *err)
{
    const struct all_to_all_params *p = params;
    struct bind_hosts hosts = {0};
    (void)items, (void)n_items;
    struct all_to_all_cfg *cfg = calloc(1, sizeof *cfg);
    int rc = cfg ? ranks_bind(env, &p->ranks, &cfg->ranks, &hosts, apps, err) : bind_no_memory(err);
    if (rc == 0)
        rc = fill(env, p, &hosts, cfg, err);
    if (rc == 0) {
        const uint32_t n_connections =
            cfg->ranks.offer.continues ? cfg->ranks.per_host * (cfg->ranks.n - 1) : 0;
        rc = ranks_apps(env, &p->ranks, &all_to_all_ops, &hosts, cfg, n_connections, apps, err);
    } else {
        free(cfg);
    }
    free(hosts.hosts);
    return rc;
}

const struct traffic_kind traffic_all_to_all = {
    .name = "all-to-all",
    .summary = "each host sends a flow to each other, once or again and again",
    .params = all_to_all_table,
    .params_size = sizeof(struct all_to_all_params),
    .bind = all_to_all_bind,
};
