/* Traffic kind permutation: each host of a set sends one flow to another and receives one. The
 * permutation is drawn uniformly, by the seed, from those in which nobody sends to itself: a
 * shuffle is repeated until it is one, which takes e = 2.7 tries on average.
 */
#include "traffic/kinds.h"
#include "traffic/schedule.h"

#include <stdlib.h>
#include <string.h>

struct permutation_params {
    char hosts[XOFF_PARAM_TEXT];
    int64_t size, at, rate;
    struct bind_carriage carriage;
};

static const struct xoff_param permutation_table[] = {
    {.name = "hosts",
     .type = XOFF_P_TEXT,
     .offset = offsetof(struct permutation_params, hosts),
     .preset = "all",
     .help = "Who takes part: all, h3, h0..h15, leaf0 (its hosts), or a list of these."},
    {.name = "size",
     .type = XOFF_P_BYTES,
     .offset = offsetof(struct permutation_params, size),
     .min = "1B",
     .max = "1000000GB",
     .allows_auto = true,
     .help = "Payload of each flow; auto: without end, until the run's stop."},
    {.name = "at",
     .type = XOFF_P_TIME,
     .offset = offsetof(struct permutation_params, at),
     .preset = "0s",
     .help = "When the flows start."},
    BIND_RATE(struct permutation_params),
    BIND_CARRIAGE(struct permutation_params),
    {0},
};

/* Draws the receivers of `hosts`, in their order; the caller frees them. NULL: no memory. */
static uint32_t *derange(const struct traffic_env *env, const struct bind_hosts *hosts)
{
    struct xoff_rng rng = bind_rng(env);
    uint32_t *to = malloc(hosts->n * sizeof *to);
    if (!to)
        return NULL;
    memcpy(to, hosts->hosts, hosts->n * sizeof *to);
    for (uint32_t i = 0; i < hosts->n;) {
        if (i == 0)
            bind_shuffle(&rng, to, hosts->n, hosts->n);
        i = to[i] == hosts->hosts[i] ? 0 : i + 1;
    }
    return to;
}

static int permutation_bind(const struct traffic_env *env, const void *params, const void *items,
                            uint32_t n_items, struct app_set *apps, struct xoff_err *err)
{
    const struct permutation_params *p = params;
    struct app_offer offer;
    const bool is_endless = p->size == XOFF_PARAM_AUTO;
    struct bind_hosts hosts = {0};
    struct schedule *schedule = NULL;
    uint32_t *to = NULL;
    xoff_rate rate_bps = 0;
    (void)items, (void)n_items;
    int rc = bind_offer(env, &p->carriage, &offer, err);
    if (rc == 0 && !is_endless)
        rc = bind_size("size", p->size, err);
    if (rc == 0 && p->at < 0)
        rc = xoff_err_set(err, XOFF_E_RANGE, "at", NULL, "a time from 0s on is accepted");
    if (rc == 0)
        rc = bind_hosts(env, "hosts", p->hosts, &hosts, err);
    if (rc == 0 && hosts.n < 2)
        rc = xoff_err_set(err, XOFF_E_RANGE, "hosts", p->hosts, "at least two hosts are needed");
    if (rc == 0)
        rc = bind_rate(env, p->rate, &hosts, &rate_bps, err);
    if (rc == 0) {
        to = derange(env, &hosts);
        rc = to ? 0 : bind_no_memory(err);
    }
    for (uint32_t i = 0; rc == 0 && i < hosts.n; i++) {
        const struct schedule_entry entry = {.at = p->at,
                                             .bytes = is_endless ? UINT64_MAX : (uint64_t)p->size,
                                             .rate_bps = rate_bps,
                                             .from = hosts.hosts[i],
                                             .to = to[i],
                                             .priority = offer.priority,
                                             .priorities = offer.priorities,
                                             .transport = offer.transport};
        rc = schedule_add(&schedule, &entry, err);
    }
    free(to);
    free(hosts.hosts);
    if (rc) {
        free(schedule);
        return rc;
    }
    return schedule_bind(env, schedule, 0, apps, err);
}

const struct traffic_kind traffic_permutation = {
    .name = "permutation",
    .summary = "each host sends one flow and receives one, at random",
    .params = permutation_table,
    .params_size = sizeof(struct permutation_params),
    .bind = permutation_bind,
};
