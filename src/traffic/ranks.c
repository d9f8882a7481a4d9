/* Placement of ranks and the loop that plays those of a host (ranks.h). */
#include "traffic/ranks.h"

#include <stdlib.h>
#include <string.h>

enum { PLACEMENT_LINEAR, PLACEMENT_RANDOM };
const char *const ranks_placements[] = {"linear", "random", NULL};

_Static_assert(sizeof(struct ranks_app) % _Alignof(struct rank) == 0, "ranks follow the app");

struct app_offer *ranks_offer(const struct ranks *ranks, struct ranks_out *out)
{
    if (out->n == APP_MAX_OFFERS) {
        out->is_full = true;
        return NULL;
    }
    out->offers[out->n] = ranks->offer;
    return &out->offers[out->n++];
}

bool ranks_is_running(struct rank *rank, xoff_time now)
{
    if (rank->is_running)
        return true;
    if (rank->wake_at > now)
        return false;
    rank->is_running = true;
    rank->began_at = now;
    rank->wake_at = XOFF_NEVER;
    return true;
}

bool ranks_end(const struct ranks *ranks, const struct ranks_app *app, struct rank *rank,
               uint64_t bytes, xoff_time now, struct ranks_out *out)
{
    struct app_offer *offer = ranks_offer(ranks, out);
    if (!offer)
        return false;
    offer->to = ranks->hosts[app->place];
    offer->bytes = bytes;
    offer->continues = offer->is_message = false;
    offer->is_done = true;
    offer->began_at = rank->began_at;
    const xoff_time next_at = xoff_time_after(now, ranks->gap);
    rank->is_running = false;
    rank->iteration++;
    rank->wake_at =
        rank->iteration < ranks->iterations && next_at < ranks->stop ? next_at : XOFF_NEVER;
    return true;
}

uint32_t ranks_run(const struct ranks *ranks, struct ranks_app *app, xoff_time now,
                   struct app_offer *offers)
{
    struct ranks_out out = {.offers = offers};
    /* The loop ends: no rank can advance more than n steps without ranks of other hosts. */
    for (bool is_given = true; is_given && !out.is_full;) {
        is_given = false;
        for (uint32_t i = 0; i < ranks->per_host && !out.is_full; i++)
            is_given |= ranks->advance(ranks, app, i, now, &out);
    }
    app->due_at = XOFF_NEVER;
    for (uint32_t i = 0; i < ranks->per_host; i++) {
        const struct rank *rank = ranks_rank(ranks, app, i);
        if (rank->wake_at < app->due_at)
            app->due_at = rank->wake_at;
    }
    if (out.is_full)
        app->due_at = now;
    return out.n;
}

xoff_time ranks_deadline(const void *cfg, const void *state)
{
    (void)cfg;
    return ((const struct ranks_app *)state)->due_at;
}

uint64_t ranks_under_way(const void *cfg, const void *state)
{
    const struct ranks *ranks = cfg;
    uint64_t n = 0;
    for (uint32_t i = 0; i < ranks->per_host; i++)
        n += ((const struct rank *)((const char *)((const struct ranks_app *)state + 1) +
                                    i * ranks->rank_size))
                 ->is_running;
    return n;
}

uint32_t ranks_expire(const void *cfg, void *state, struct xoff_rng *rng, xoff_time now,
                      struct app_offer *offers)
{
    struct ranks_app *app = state;
    (void)rng;
    return app->due_at <= now ? ranks_run(cfg, app, now, offers) : 0;
}

/* Makes hosts, slot_of and rank_at in one block of the set. */
static int make_tables(const struct traffic_env *env, const struct bind_hosts *hosts,
                       bool is_shuffled, struct ranks *out, struct app_set *apps,
                       struct xoff_err *err)
{
    uint32_t *tables = calloc(hosts->n + 2 * (size_t)out->n, sizeof *tables);
    if (!tables || app_set_keep(apps, tables))
        return bind_no_memory(err);
    uint32_t *rank_at = tables + hosts->n, *slot_of = rank_at + out->n;
    memcpy(tables, hosts->hosts, hosts->n * sizeof *tables);
    for (uint32_t i = 0; i < out->n; i++)
        rank_at[i] = i;
    if (is_shuffled) {
        struct xoff_rng rng = bind_rng(env);
        bind_shuffle(&rng, rank_at, out->n, out->n);
    }
    for (uint32_t i = 0; i < out->n; i++)
        slot_of[rank_at[i]] = i;
    out->hosts = tables;
    out->rank_at = rank_at;
    out->slot_of = slot_of;
    return 0;
}

int ranks_bind(const struct traffic_env *env, const struct ranks_params *params, struct ranks *out,
               struct bind_hosts *hosts, struct app_set *apps, struct xoff_err *err)
{
    struct bind_period period;
    *out = (struct ranks){0};
    *hosts = (struct bind_hosts){0};
    int rc = bind_offer(env, &params->carriage, &out->offer, err);
    if (rc == 0)
        rc = bind_size("size", params->size, err);
    if (rc == 0)
        rc = bind_period(env, &params->period, &period, err);
    if (rc == 0 && params->gap < 0)
        rc = xoff_err_set(err, XOFF_E_RANGE, "gap", NULL, "a time from 0s on is accepted");
    if (rc == 0)
        rc = bind_hosts(env, "hosts", params->hosts, hosts, err);
    if (rc == 0 && hosts->n < 2)
        rc = xoff_err_set(err, XOFF_E_RANGE, "hosts", params->hosts,
                          "at least two hosts are needed");
    if (rc)
        return rc;
    XOFF_ASSERT(params->per_host >= 1 && params->per_host <= RANKS_MAX_PER_HOST);
    out->stop = period.stop;
    out->gap = params->gap;
    out->size = (uint64_t)params->size;
    out->iterations =
        params->iterations == XOFF_PARAM_AUTO ? UINT64_MAX : (uint64_t)params->iterations;
    out->per_host = (uint32_t)params->per_host;
    out->n = hosts->n * out->per_host;
    out->offer.continues = out->offer.is_message = true;
    return make_tables(env, hosts, params->placement == PLACEMENT_RANDOM, out, apps, err);
}

int ranks_apps(const struct traffic_env *env, const struct ranks_params *params,
               const struct app_ops *ops, const struct bind_hosts *hosts, void *cfg,
               uint32_t n_connections, struct app_set *apps, struct xoff_err *err)
{
    const struct ranks *ranks = cfg;
    const size_t size = sizeof(struct ranks_app) + ranks->per_host * ranks->rank_size;
    char *states = calloc(hosts->n, size);
    const struct bind_made made = {.ops = ops,
                                   .cfg = cfg,
                                   .states = states,
                                   .state_size = size,
                                   .n_connections = n_connections};
    const xoff_time first_at =
        params->period.start < ranks->stop ? params->period.start : XOFF_NEVER;
    for (uint32_t i = 0; states && i < hosts->n; i++) {
        struct ranks_app *app = (void *)(states + i * size);
        *app = (struct ranks_app){.due_at = first_at, .place = i};
        for (uint32_t k = 0; k < ranks->per_host; k++)
            ((struct rank *)ranks_rank(ranks, app, k))->wake_at = first_at;
    }
    return bind_apps(env, hosts, &made, apps, err);
}
