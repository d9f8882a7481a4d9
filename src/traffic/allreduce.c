/* Traffic kind allreduce: ring all-reduce of a vector (Patarasuk and Yuan, JPDC 69, 2009).
 *
 * The vector of `size` bytes is cut into n chunks that differ by at most a byte. In step k = 0 ...
 * 2 (n - 1) - 1 rank r sends chunk (r - k) mod n to rank r + 1: the first n - 1 steps add the
 * chunks up on their way round the ring (reduce-scatter), the others hand the sums round
 * (all-gather). The chunk of step k + 1 is the one that came in step k, so a rank sends step k + 1
 * when step k has arrived. The collective ends at a rank when its last chunk has come; the next
 * begins `gap` later.
 *
 * Steps are numbered through from the first collective on. A rank sends step s only with all steps
 * before s received, so round the ring the predecessor can be ahead, but its step is less than n
 * beyond the first that is missing here: n bits note what came early. Step and number on the host
 * travel in the word.
 */
#include "traffic/kinds.h"
#include "traffic/ranks.h"

#include <stdlib.h>

#define MAX_RANKS 32768 /* the word has 16 bits of a step's number */

struct allreduce_params {
    struct ranks_params ranks;
};

struct allreduce_rank {
    struct rank rank;
    uint64_t n_sent;  /* steps sent, over all collectives */
    uint64_t n_got;   /* steps received without a gap */
    uint64_t early[]; /* bit s mod (64 * words): step s came before an earlier one */
};

static const struct xoff_param allreduce_table[] = {
    RANKS_PARAMS(struct allreduce_params, "Bytes of the vector that is reduced.", "auto"),
    BIND_PERIOD_IN(struct allreduce_params, ranks.period),
    BIND_CARRIAGE_IN(struct allreduce_params, ranks.carriage),
    {0},
};

static uint32_t n_words(const struct ranks *ranks)
{
    return (ranks->n + 63) / 64;
}

/* The word carries the low 16 bits of step s. */
static void receive(const struct ranks *ranks, struct allreduce_rank *rank, uint32_t low_step)
{
    const uint64_t n_bits = (uint64_t)n_words(ranks) * 64;
    const uint64_t step = rank->n_got + (uint16_t)(low_step - rank->n_got);
    uint64_t bit = step % n_bits;
    XOFF_ASSERT(step - rank->n_got < ranks->n);
    XOFF_ASSERT(!(rank->early[bit / 64] >> bit % 64 & 1));
    rank->early[bit / 64] |= UINT64_C(1) << bit % 64;
    for (bit = rank->n_got % n_bits; rank->early[bit / 64] >> bit % 64 & 1;
         bit = ++rank->n_got % n_bits)
        rank->early[bit / 64] &= ~(UINT64_C(1) << bit % 64);
}

static uint64_t chunk_bytes(const struct ranks *ranks, uint32_t number, uint64_t step)
{
    const uint64_t chunk = (number + ranks->n - step % ranks->n) % ranks->n;
    return ranks->size / ranks->n + (chunk < ranks->size % ranks->n);
}

/* Sends the next step, through memory or the network; false: no room. */
static bool send(const struct ranks *ranks, struct ranks_app *app, uint32_t local, bool *is_given,
                 struct ranks_out *out)
{
    struct allreduce_rank *rank = ranks_rank(ranks, app, local);
    const uint64_t n_steps = 2 * (uint64_t)(ranks->n - 1);
    const uint32_t number = ranks_number(ranks, app, local), to = (number + 1) % ranks->n;
    const uint32_t to_local = ranks_local(ranks, to), to_place = ranks_place(ranks, to);
    const uint32_t low_step = (uint32_t)(rank->n_sent & 0xffff);
    if (to_place == app->place) {
        receive(ranks, ranks_rank(ranks, app, to_local), low_step);
        *is_given = true;
    } else {
        struct app_offer *offer = ranks_offer(ranks, out);
        if (!offer)
            return false;
        offer->to = ranks->hosts[to_place];
        offer->bytes = chunk_bytes(ranks, number, rank->n_sent % n_steps);
        offer->connection = local;
        offer->word = to_local << 16 | low_step;
    }
    rank->n_sent++;
    return true;
}

static bool allreduce_advance(const struct ranks *ranks, struct ranks_app *app, uint32_t local,
                              xoff_time now, struct ranks_out *out)
{
    struct allreduce_rank *rank = ranks_rank(ranks, app, local);
    const uint64_t n_steps = 2 * (uint64_t)(ranks->n - 1);
    bool is_given = false;
    while (ranks_is_running(&rank->rank, now)) {
        const uint64_t end = (rank->rank.iteration + 1) * n_steps;
        while (rank->n_sent < end && rank->n_got >= rank->n_sent) {
            if (!send(ranks, app, local, &is_given, out))
                return is_given;
        }
        if (rank->n_got < end || !ranks_end(ranks, app, &rank->rank, ranks->size, now, out))
            return is_given;
    }
    return is_given;
}

static uint32_t allreduce_on_event(const void *cfg, void *state, struct xoff_rng *rng,
                                   const struct app_event *event, xoff_time now,
                                   struct app_offer *offers)
{
    const struct ranks *ranks = cfg;
    struct ranks_app *app = state;
    (void)rng;
    if (event->kind == APP_ARRIVED)
        receive(ranks, ranks_rank(ranks, app, event->word >> 16), event->word & 0xffff);
    return ranks_run(ranks, app, now, offers);
}

static const struct app_ops allreduce_ops = {.name = "allreduce",
                                             .deadline = ranks_deadline,
                                             .expire = ranks_expire,
                                             .on_event = allreduce_on_event,
                                             .n_under_way = ranks_under_way};

static int check_ranks(const struct ranks *ranks, struct xoff_err *err)
{
    if (ranks->n > MAX_RANKS)
        return xoff_err_set(err, XOFF_E_RANGE, "hosts", NULL, "at most 32768 ranks are accepted");
    if (ranks->size >= ranks->n)
        return 0;
    xoff_err_set(err, XOFF_E_RANGE, "size", NULL, "a chunk has at least 1B; accepted are from ");
    xoff_err_add_int(err, ranks->n);
    xoff_err_add(err, "B, one for each rank, on");
    return -XOFF_E_RANGE;
}

static int allreduce_bind(const struct traffic_env *env, const void *params, const void *items,
                          uint32_t n_items, struct app_set *apps, struct xoff_err *err)
{
    const struct allreduce_params *p = params;
    struct bind_hosts hosts = {0};
    (void)items, (void)n_items;
    struct ranks *ranks = calloc(1, sizeof *ranks);
    int rc = ranks ? ranks_bind(env, &p->ranks, ranks, &hosts, apps, err) : bind_no_memory(err);
    if (rc == 0)
        rc = check_ranks(ranks, err);
    if (rc == 0) {
        ranks->rank_size = sizeof(struct allreduce_rank) + n_words(ranks) * sizeof(uint64_t);
        ranks->advance = allreduce_advance;
        const uint32_t n_connections = ranks->per_host;
        rc = ranks_apps(env, &p->ranks, &allreduce_ops, &hosts, ranks, n_connections, apps, err);
    } else {
        free(ranks);
    }
    free(hosts.hosts);
    return rc;
}

const struct traffic_kind traffic_allreduce = {
    .name = "allreduce",
    .summary = "ring all-reduce: chunks that go round a ring of ranks twice",
    .params = allreduce_table,
    .params_size = sizeof(struct allreduce_params),
    .bind = allreduce_bind,
};
