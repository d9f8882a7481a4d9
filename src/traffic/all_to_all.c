/* Traffic kind all-to-all: each host of a set sends a flow to each other of it.
 *
 * Host number i of the n sends to i + 1, i + 2, ..., i + n - 1 (round about), the k-th of them
 * (k - 1) * `stagger` after `at`: at any time all receivers are different.
 */
#include "traffic/bind.h"
#include "traffic/kinds.h"

#include <stdlib.h>
#include <string.h>

struct all_to_all_params {
    char hosts[XOFF_PARAM_TEXT];
    int64_t size, at, stagger, rate;
    struct bind_carriage carriage;
};

struct all_to_all_cfg {
    struct app_offer offer;
    xoff_time stagger, stop;
    uint32_t n;
    uint32_t hosts[];
};

struct all_to_all_state {
    xoff_time next_at;
    uint32_t self;   /* own place in hosts */
    uint32_t offset; /* of the next receiver, 1 ... n - 1 */
};

static const struct xoff_param all_to_all_table[] = {
    {.name = "hosts",
     .type = XOFF_P_TEXT,
     .offset = offsetof(struct all_to_all_params, hosts),
     .preset = "all",
     .help = "Who takes part: all, h3, h0..h15, leaf0 (its hosts), or a list of these."},
    {.name = "size",
     .type = XOFF_P_BYTES,
     .offset = offsetof(struct all_to_all_params, size),
     .min = "1B",
     .max = "1000000GB",
     .help = "Payload of each flow."},
    {.name = "at",
     .type = XOFF_P_TIME,
     .offset = offsetof(struct all_to_all_params, at),
     .preset = "0s",
     .help = "When the first flow of each host starts."},
    {.name = "stagger",
     .type = XOFF_P_TIME,
     .offset = offsetof(struct all_to_all_params, stagger),
     .preset = "0s",
     .help = "Time from one flow of a host to its next."},
    BIND_RATE(struct all_to_all_params),
    BIND_CARRIAGE(struct all_to_all_params),
    {0},
};

static xoff_time all_to_all_deadline(const void *cfg, const void *state)
{
    (void)cfg;
    return ((const struct all_to_all_state *)state)->next_at;
}

static uint32_t all_to_all_expire(const void *config, void *state, struct xoff_rng *rng,
                                  xoff_time now, struct app_offer *offers)
{
    const struct all_to_all_cfg *cfg = config;
    struct all_to_all_state *st = state;
    uint32_t n = 0;
    (void)rng;
    while (n < APP_MAX_OFFERS && st->next_at <= now) {
        offers[n] = cfg->offer;
        offers[n++].to = cfg->hosts[((uint64_t)st->self + st->offset) % cfg->n];
        st->next_at = xoff_time_after(st->next_at, cfg->stagger);
        if (++st->offset == cfg->n || st->next_at >= cfg->stop)
            st->next_at = XOFF_NEVER;
    }
    return n;
}

static const struct app_ops all_to_all_ops = {
    .name = "all-to-all", .deadline = all_to_all_deadline, .expire = all_to_all_expire};

static int make_apps(const struct traffic_env *env, const struct all_to_all_params *p,
                     const struct app_offer *offer, const struct bind_hosts *hosts,
                     struct app_set *apps, struct xoff_err *err)
{
    struct all_to_all_cfg *cfg = malloc(sizeof *cfg + hosts->n * sizeof cfg->hosts[0]);
    struct all_to_all_state *states = calloc(hosts->n, sizeof *states);
    if (cfg && states) {
        *cfg = (struct all_to_all_cfg){
            .offer = *offer, .stagger = p->stagger, .stop = env->stop, .n = hosts->n};
        memcpy(cfg->hosts, hosts->hosts, hosts->n * sizeof cfg->hosts[0]);
        for (uint32_t i = 0; i < hosts->n; i++)
            states[i] = (struct all_to_all_state){
                .next_at = p->at < env->stop ? p->at : XOFF_NEVER, .self = i, .offset = 1};
    }
    return bind_apps(env, &all_to_all_ops, hosts, cfg, states, sizeof *states, apps, err);
}

static int all_to_all_bind(const struct traffic_env *env, const void *params, const void *items,
                           uint32_t n_items, struct app_set *apps, struct xoff_err *err)
{
    const struct all_to_all_params *p = params;
    struct app_offer offer = bind_offer(env, &p->carriage);
    struct bind_hosts hosts = {0};
    (void)items, (void)n_items;
    int rc = bind_size("size", p->size, err);
    if (rc == 0 && (p->at < 0 || p->stagger < 0))
        rc = xoff_err_set(err, XOFF_E_RANGE, p->at < 0 ? "at" : "stagger", NULL,
                          "a time from 0s on is accepted");
    if (rc == 0)
        rc = bind_hosts(env, "hosts", p->hosts, &hosts, err);
    if (rc == 0 && hosts.n < 2)
        rc = xoff_err_set(err, XOFF_E_RANGE, "hosts", p->hosts, "at least two hosts are needed");
    if (rc == 0)
        rc = bind_rate(env, p->rate, &hosts, &offer.rate_bps, err);
    if (rc == 0) {
        offer.bytes = (uint64_t)p->size;
        rc = make_apps(env, p, &offer, &hosts, apps, err);
    }
    free(hosts.hosts);
    return rc;
}

const struct traffic_kind traffic_all_to_all = {
    .name = "all-to-all",
    .summary = "each host sends a flow to each other",
    .params = all_to_all_table,
    .params_size = sizeof(struct all_to_all_params),
    .bind = all_to_all_bind,
};
