/* Traffic kind mpi-exchange: the Exchange pattern of the Intel MPI Benchmarks.
 *
 * Ranks form a periodic chain. In each iteration a rank sends `size` to both of its neighbours and
 * receives as much from both; the iteration ends when both messages have come and both sends are
 * complete (MPI_Waitall), and the next begins `gap` later. A send is complete when it has been
 * acknowledged, or at once where `sends` is buffered.
 *
 * A neighbour may be one iteration ahead, but not two: it ends an iteration only with the message
 * that this rank sends in it. So arrivals are kept by the parity of the iteration.
 *
 * Differs: ranks do not wait in a barrier before the first iteration, and messages cost no time at
 * the hosts.
 */
#include "traffic/kinds.h"
#include "traffic/ranks.h"

#include <stdlib.h>

enum { RIGHT, LEFT, N_WAYS };
enum { SENDS_ACKED, SENDS_BUFFERED };
static const char *const sends_choices[] = {"acked", "buffered", NULL};

struct exchange_params {
    struct ranks_params ranks;
    int64_t sends;
};

struct exchange_cfg {
    struct ranks ranks;
    bool awaits_acks;
};

/* Indexed by the direction of the message: RIGHT goes to the rank one up. */
struct exchange_rank {
    struct rank rank;
    bool is_sent[N_WAYS], is_acked[N_WAYS];
    bool has_come[N_WAYS][2]; /* by parity of the iteration */
};

static const struct xoff_param exchange_table[] = {
    RANKS_PARAMS(struct exchange_params, "Payload to each neighbour in an iteration.", "auto"),
    {.name = "sends",
     .type = XOFF_P_CHOICE,
     .offset = offsetof(struct exchange_params, sends),
     .preset = "auto",
     .choices = sends_choices,
     .allows_auto = true,
     .help = "When a send is complete: acknowledged, or at once; auto: acked where the transport "
             "has acknowledgements."},
    BIND_PERIOD_IN(struct exchange_params, ranks.period),
    BIND_CARRIAGE_IN(struct exchange_params, ranks.carriage),
    {0},
};

/* The word: direction 1 bit, parity 1 bit, 6 free, number at the receiver 8, number at the sender
 * 8. */
static uint32_t word_of(uint32_t from_local, uint32_t to_local, uint64_t iteration, uint32_t way)
{
    return from_local << 16 | to_local << 8 | (uint32_t)(iteration & 1) << 1 | way;
}

static void receive(struct exchange_rank *rank, uint32_t way, uint32_t parity)
{
    XOFF_ASSERT(!rank->has_come[way][parity]);
    rank->has_come[way][parity] = true;
}

/* Sends in one direction, through memory or the network; false: no room. */
static bool send(const struct ranks *ranks, struct ranks_app *app, uint32_t local, uint32_t way,
                 bool *is_given, struct ranks_out *out)
{
    struct exchange_rank *rank = ranks_rank(ranks, app, local);
    const uint32_t number = ranks_number(ranks, app, local);
    const uint32_t to = (number + (way == RIGHT ? 1 : ranks->n - 1)) % ranks->n;
    const uint32_t to_local = ranks_local(ranks, to), to_place = ranks_place(ranks, to);
    if (to_place == app->place) {
        receive(ranks_rank(ranks, app, to_local), way, rank->rank.iteration & 1);
        rank->is_acked[way] = *is_given = true;
    } else {
        struct app_offer *offer = ranks_offer(ranks, out);
        if (!offer)
            return false;
        offer->to = ranks->hosts[to_place];
        offer->bytes = ranks->size;
        /* With two ranks both neighbours are the same rank: one connection. */
        offer->connection = local * N_WAYS + (ranks->n > 2 ? way : 0);
        offer->word = word_of(local, to_local, rank->rank.iteration, way);
    }
    rank->is_sent[way] = true;
    return true;
}

static bool exchange_advance(const struct ranks *ranks, struct ranks_app *app, uint32_t local,
                             xoff_time now, struct ranks_out *out)
{
    const struct exchange_cfg *cfg = (const void *)ranks;
    struct exchange_rank *rank = ranks_rank(ranks, app, local);
    bool is_given = false;
    while (ranks_is_running(&rank->rank, now)) {
        const uint32_t parity = rank->rank.iteration & 1;
        for (uint32_t way = 0; way < N_WAYS; way++) {
            if (!rank->is_sent[way] && !send(ranks, app, local, way, &is_given, out))
                return is_given;
        }
        for (uint32_t way = 0; way < N_WAYS; way++) {
            if (!rank->has_come[way][parity] || (cfg->awaits_acks && !rank->is_acked[way]))
                return is_given;
        }
        if (!ranks_end(ranks, app, &rank->rank, N_WAYS * ranks->size, now, out))
            return is_given;
        for (uint32_t way = 0; way < N_WAYS; way++)
            rank->is_sent[way] = rank->is_acked[way] = rank->has_come[way][parity] = false;
    }
    return is_given;
}

static uint32_t exchange_on_event(const void *config, void *state, struct xoff_rng *rng,
                                  const struct app_event *event, xoff_time now,
                                  struct app_offer *offers)
{
    const struct exchange_cfg *cfg = config;
    struct ranks_app *app = state;
    const uint32_t way = event->word & 1, parity = event->word >> 1 & 1;
    (void)rng;
    if (event->kind == APP_ARRIVED) {
        receive(ranks_rank(&cfg->ranks, app, event->word >> 8 & 0xff), way, parity);
    } else if (cfg->awaits_acks) {
        struct exchange_rank *rank = ranks_rank(&cfg->ranks, app, event->word >> 16);
        rank->is_acked[way] = true;
    }
    return ranks_run(&cfg->ranks, app, now, offers);
}

static const struct app_ops exchange_ops = {.name = "mpi-exchange",
                                            .deadline = ranks_deadline,
                                            .expire = ranks_expire,
                                            .on_event = exchange_on_event,
                                            .n_under_way = ranks_under_way};

static int exchange_bind(const struct traffic_env *env, const void *params, const void *items,
                         uint32_t n_items, struct app_set *apps, struct xoff_err *err)
{
    const struct exchange_params *p = params;
    struct bind_hosts hosts = {0};
    (void)items, (void)n_items;
    struct exchange_cfg *cfg = calloc(1, sizeof *cfg);
    int rc = cfg ? ranks_bind(env, &p->ranks, &cfg->ranks, &hosts, apps, err) : bind_no_memory(err);
    if (rc == 0) {
        const bool is_acknowledged = bind_is_acknowledged(env, cfg->ranks.offer.transport);
        cfg->awaits_acks = is_acknowledged && p->sends != SENDS_BUFFERED;
        if (p->sends == SENDS_ACKED && !is_acknowledged)
            rc = xoff_err_set(err, XOFF_E_CONFLICT, "sends", "acked",
                              "this transport has no acknowledgements; accepted are buffered, auto "
                              "and other transports");
    }
    if (rc == 0) {
        cfg->ranks.rank_size = sizeof(struct exchange_rank);
        cfg->ranks.advance = exchange_advance;
        const uint32_t n_connections = cfg->ranks.per_host * N_WAYS;
        rc = ranks_apps(env, &p->ranks, &exchange_ops, &hosts, cfg, n_connections, apps, err);
    } else {
        free(cfg);
    }
    free(hosts.hosts);
    return rc;
}

const struct traffic_kind traffic_exchange = {
    .name = "mpi-exchange",
    .summary = "ranks in a ring that exchange messages with both neighbours, again and again",
    .params = exchange_table,
    .params_size = sizeof(struct exchange_params),
    .bind = exchange_bind,
};
