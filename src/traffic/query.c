/* Traffic kind query: fan-in queries, as made by partition/aggregate applications.
 *
 * Queries arrive as a Poisson process with mean distance `every`. Each has an aggregator, drawn
 * uniformly from `to`, which sends a request to `senders` hosts of `from`, drawn anew for each
 * query; a host answers with `size` as soon as the request has arrived. The query is an operation
 * that ends when the last answer has arrived.
 *
 * A Poisson process whose arrivals are each given to one of m aggregators at random is equal to m
 * independent processes with mean distance m * every. So each aggregator draws its own, and nothing
 * is shared. The hosts asked are a uniform subset (Floyd: Bentley, Programming Pearls, CACM 30(9),
 * 1987).
 *
 * An aggregator has up to `outstanding` queries under way. Later queries wait; their time counts
 * from their arrival, not from when they were sent out. The word carries the query's slot at the
 * aggregator (16 bits) and whether the message is the request.
 */
#include "traffic/kinds.h"
#include "traffic/targets.h"

#include <stdlib.h>
#include <string.h>

#include <xoff/units.h>

#include "traffic/draw.h"

#define NO_SLOT UINT32_MAX
#define WORD_SLOT 0xffff
#define WORD_IS_REQUEST 0x10000

enum { CONNECTIONS_NEW, CONNECTIONS_KEPT };
static const char *const connections_choices[] = {"new", "kept", NULL};

struct query_params {
    struct targets_params targets; /* from and to */
    int64_t senders, size, request, every, outstanding, connections;
    struct bind_period period;
    struct bind_carriage carriage;
};

struct query_cfg {
    struct app_offer offer;
    xoff_time stop;
    double mean_gap_ps; /* mean gap of one aggregator */
    uint64_t size, request;
    uint32_t n_slots;
    uint32_t n_chosen;     /* room for choices in the state */
    struct bind_hosts all; /* all hosts that take part; position = number of the connection to it */
    uint32_t n_pool;
    uint32_t pool[]; /* `from`; behind it the hosts of `all` */
};

struct query_slot {
    xoff_time began_at;
    uint32_t n_missing; /* answers still missing */
    uint32_t next_free;
};

/* The slots follow in memory, then the pool positions chosen for the query being sent out. */
struct query_state {
    xoff_time due_at;
    xoff_time next_at; /* arrival of the next query, which may be past: it waits for a slot */
    uint32_t host;
    uint32_t self;      /* own position in the pool, or the pool's length */
    uint32_t n_senders; /* senders of a query */
    uint32_t n_asked;   /* requests sent of the query being sent out; n_senders: none */
    uint32_t slot;      /* slot of that query */
    uint32_t first_free;
    bool is_started;
};
_Static_assert(sizeof(struct query_state) % _Alignof(struct query_slot) == 0, "slots follow");

static const struct xoff_param query_table[] = {
    {.name = "from",
     .type = XOFF_P_TEXT,
     .offset = offsetof(struct query_params, targets.from),
     .preset = "all",
     .help = "Who is asked: all, h3, h0..h15, leaf0 (its hosts), or a list of these."},
    {.name = "to",
     .type = XOFF_P_TEXT,
     .offset = offsetof(struct query_params, targets.to),
     .preset = "all",
     .help = "Aggregators, named likewise; each query has one of them, drawn uniformly."},
    {.name = "senders",
     .type = XOFF_P_INT,
     .offset = offsetof(struct query_params, senders),
     .preset = "auto",
     .min = "1",
     .allows_auto = true,
     .help = "So many of `from` answer a query, drawn for each; auto: all but the aggregator."},
    {.name = "size",
     .type = XOFF_P_BYTES,
     .offset = offsetof(struct query_params, size),
     .min = "1B",
     .max = "1000000GB",
     .help = "Payload of each answer."},
    {.name = "request",
     .type = XOFF_P_BYTES,
     .offset = offsetof(struct query_params, request),
     .preset = "64B",
     .min = "1B",
     .max = "1000000GB",
     .help = "Payload of each request."},
    {.name = "every",
     .type = XOFF_P_TIME,
     .offset = offsetof(struct query_params, every),
     .min = "1ps",
     .help = "Mean time from one query to the next, of all aggregators together."},
    {.name = "outstanding",
     .type = XOFF_P_INT,
     .offset = offsetof(struct query_params, outstanding),
     .preset = "64",
     .min = "1",
     .max = "65536",
     .help = "Queries of an aggregator under way at a time; further ones wait."},
    {.name = "connections",
     .type = XOFF_P_CHOICE,
     .offset = offsetof(struct query_params, connections),
     .preset = "new",
     .choices = connections_choices,
     .help = "Each request and answer is a new flow, or goes on a connection of the two hosts that "
             "is kept."},
    BIND_PERIOD(struct query_params),
    BIND_CARRIAGE(struct query_params),
    {0},
};

static struct query_slot *slots_of(struct query_state *st)
{
    return (struct query_slot *)(st + 1);
}

static uint32_t *chosen_of(const struct query_cfg *cfg, struct query_state *st)
{
    return (uint32_t *)(slots_of(st) + cfg->n_slots);
}

static xoff_time query_deadline(const void *cfg, const void *state)
{
    (void)cfg;
    return ((const struct query_state *)state)->due_at;
}

static void draw_next(const struct query_cfg *cfg, struct query_state *st, struct xoff_rng *rng)
{
    st->next_at =
        xoff_time_after(st->next_at, draw_span(xoff_rng_exponential(rng) * cfg->mean_gap_ps));
    if (st->next_at >= cfg->stop)
        st->next_at = XOFF_NEVER;
}

/* Draws element number n_asked of a subset of n_senders out of `n`, by Floyd's method. */
static uint32_t choose(const struct query_cfg *cfg, struct query_state *st, struct xoff_rng *rng)
{
    uint32_t *chosen = chosen_of(cfg, st);
    const uint32_t n = cfg->n_pool - (st->self < cfg->n_pool);
    const uint32_t last = n - st->n_senders + st->n_asked;
    uint32_t place = (uint32_t)xoff_rng_below(rng, (uint64_t)last + 1);
    for (uint32_t i = 0; i < st->n_asked; i++) {
        if (chosen[i] == place) {
            place = last;
            break;
        }
    }
    chosen[st->n_asked++] = place;
    return cfg->pool[place + (place >= st->self)];
}

static void fill(const struct query_cfg *cfg, uint32_t to, uint64_t bytes, uint32_t word,
                 struct app_offer *offer)
{
    *offer = cfg->offer;
    offer->to = to;
    offer->bytes = bytes;
    offer->word = word;
    if (offer->continues)
        offer->connection = bind_position(&cfg->all, to);
}

/* Begins the queries that are due and appends their requests to the n offers. */
static uint32_t ask(const struct query_cfg *cfg, struct query_state *st, struct xoff_rng *rng,
                    xoff_time now, struct app_offer *offers, uint32_t n)
{
    for (;;) {
        while (st->n_asked < st->n_senders && n < APP_MAX_OFFERS)
            fill(cfg, choose(cfg, st, rng), cfg->request, WORD_IS_REQUEST | st->slot, &offers[n++]);
        const bool has_more = st->n_asked < st->n_senders;
        const bool begins = st->next_at <= now && st->first_free != NO_SLOT;
        if (has_more || (begins && n == APP_MAX_OFFERS)) {
            st->due_at = now;
            return n;
        }
        if (!begins)
            break;
        st->slot = st->first_free;
        struct query_slot *slot = &slots_of(st)[st->slot];
        st->first_free = slot->next_free;
        *slot = (struct query_slot){.began_at = st->next_at, .n_missing = st->n_senders};
        st->n_asked = 0;
        draw_next(cfg, st, rng);
    }
    st->due_at = st->next_at > now ? st->next_at : XOFF_NEVER; /* else it waits for a free slot */
    return n;
}

static uint32_t query_expire(const void *cfg, void *state, struct xoff_rng *rng, xoff_time now,
                             struct app_offer *offers)
{
    struct query_state *st = state;
    if (st->due_at > now)
        return 0;
    if (!st->is_started) {
        st->is_started = true;
        draw_next(cfg, st, rng);
    }
    return ask(cfg, st, rng, now, offers, 0);
}

static uint32_t query_on_event(const void *config, void *state, struct xoff_rng *rng,
                               const struct app_event *event, xoff_time now,
                               struct app_offer *offers)
{
    const struct query_cfg *cfg = config;
    struct query_state *st = state;
    const uint32_t number = event->word & WORD_SLOT;
    if (event->kind != APP_ARRIVED)
        return 0;
    if (event->word & WORD_IS_REQUEST) {
        fill(cfg, event->peer, cfg->size, number, &offers[0]);
        return 1;
    }
    XOFF_ASSERT(number < cfg->n_slots);
    struct query_slot *slot = &slots_of(st)[number];
    XOFF_ASSERT(slot->n_missing > 0);
    if (--slot->n_missing)
        return 0;
    offers[0] = cfg->offer;
    offers[0].to = st->host;
    offers[0].bytes = cfg->size * st->n_senders;
    offers[0].continues = offers[0].is_message = false;
    offers[0].is_done = true;
    offers[0].began_at = slot->began_at;
    slot->next_free = st->first_free;
    st->first_free = number;
    return ask(cfg, st, rng, now, offers, 1);
}

/* Queries that wait for a slot have not begun; a free slot has no answer missing. */
static uint64_t query_under_way(const void *config, const void *state)
{
    const struct query_cfg *cfg = config;
    const struct query_slot *slots = (const void *)((const struct query_state *)state + 1);
    uint64_t n = 0;
    for (uint32_t i = 0; i < cfg->n_slots; i++)
        n += slots[i].n_missing > 0;
    return n;
}

static const struct app_ops query_ops = {.name = "query",
                                         .deadline = query_deadline,
                                         .expire = query_expire,
                                         .on_event = query_on_event,
                                         .n_under_way = query_under_way};

/* Computes how many hosts answer a query of this aggregator. */
static int count_senders(const struct traffic_env *env, int64_t wanted, uint32_t aggregator,
                         const struct bind_hosts *pool, uint32_t *n, struct xoff_err *err)
{
    char text[32];
    const uint32_t n_others = pool->n - (bind_position(pool, aggregator) < pool->n);
    *n = wanted == XOFF_PARAM_AUTO ? n_others : (uint32_t)(wanted < UINT32_MAX ? wanted : 0);
    if (*n >= 1 && *n <= n_others)
        return 0;
    xoff_err_set(err, XOFF_E_RANGE, "senders",
                 wanted == XOFF_PARAM_AUTO ? "auto" : xoff_format_int(text, sizeof text, wanted),
                 "accepted is a number from 1 to the hosts of `from` beside the aggregator, for ");
    xoff_err_add(err, env->topo->nodes[aggregator].name);
    xoff_err_add(err, " ");
    xoff_err_add_int(err, n_others);
    return -XOFF_E_RANGE;
}

/* The hosts that take part. */
struct query_sets {
    struct bind_hosts aggregators, pool, all;
};

static int make_states(const struct traffic_env *env, const struct query_params *p,
                       const struct query_cfg *cfg, const struct query_sets *sets, char *states,
                       size_t size, struct xoff_err *err)
{
    int rc = 0;
    for (uint32_t i = 0; rc == 0 && i < sets->all.n; i++) {
        struct query_state *st = (void *)(states + i * size);
        const uint32_t host = sets->all.hosts[i];
        *st = (struct query_state){.due_at = XOFF_NEVER,
                                   .next_at = XOFF_NEVER,
                                   .host = host,
                                   .self = bind_position(&sets->pool, host)};
        for (uint32_t k = 0; k < cfg->n_slots; k++)
            slots_of(st)[k].next_free = k + 1 < cfg->n_slots ? k + 1 : NO_SLOT;
        if (bind_position(&sets->aggregators, host) == sets->aggregators.n)
            continue;
        rc = count_senders(env, p->senders, host, &sets->pool, &st->n_senders, err);
        st->n_asked = st->n_senders;
        if (p->period.start < cfg->stop)
            st->due_at = st->next_at = p->period.start;
    }
    return rc;
}

static struct query_cfg *make_cfg(const struct query_params *p, const struct app_offer *offer,
                                  xoff_time stop, const struct query_sets *sets)
{
    const uint32_t n_pool = sets->pool.n, n_all = sets->all.n;
    struct query_cfg *cfg = calloc(1, sizeof *cfg + ((size_t)n_pool + n_all) * sizeof(uint32_t));
    if (!cfg)
        return NULL;
    *cfg = (struct query_cfg){
        .offer = *offer,
        .stop = stop,
        .mean_gap_ps = (double)p->every * sets->aggregators.n,
        .size = (uint64_t)p->size,
        .request = (uint64_t)p->request,
        .n_slots = (uint32_t)p->outstanding,
        .n_chosen = p->senders > 0 && p->senders < n_pool ? (uint32_t)p->senders : n_pool,
        .all = {.hosts = cfg->pool + n_pool, .n = n_all},
        .n_pool = n_pool,
    };
    cfg->offer.continues = cfg->offer.is_message = p->connections == CONNECTIONS_KEPT;
    memcpy(cfg->pool, sets->pool.hosts, n_pool * sizeof(uint32_t));
    memcpy(cfg->pool + n_pool, sets->all.hosts, n_all * sizeof(uint32_t));
    return cfg;
}

static int make_apps(const struct traffic_env *env, const struct query_params *p,
                     struct query_cfg *cfg, const struct query_sets *sets, struct app_set *apps,
                     struct xoff_err *err)
{
    if (!cfg)
        return bind_no_memory(err);
    const size_t chosen_size = (cfg->n_chosen + 1) / 2 * 2 * sizeof(uint32_t); /* whole slots */
    struct bind_made made = {
        .ops = &query_ops,
        .cfg = cfg,
        .state_size =
            sizeof(struct query_state) + cfg->n_slots * sizeof(struct query_slot) + chosen_size,
        .n_connections = cfg->offer.continues ? sets->all.n : 0,
    };
    made.states = calloc(sets->all.n, made.state_size);
    if (made.states) {
        const int rc = make_states(env, p, cfg, sets, made.states, made.state_size, err);
        if (rc) {
            free(cfg);
            free(made.states);
            return rc;
        }
    }
    return bind_apps(env, &sets->all, &made, apps, err);
}

static int query_bind(const struct traffic_env *env, const void *params, const void *items,
                      uint32_t n_items, struct app_set *apps, struct xoff_err *err)
{
    const struct query_params *p = params;
    struct app_offer offer;
    struct bind_period period;
    struct query_sets sets = {0};
    (void)items, (void)n_items;
    int rc = bind_offer(env, &p->carriage, &offer, err);
    if (rc == 0)
        rc = bind_size("size", p->size, err);
    if (rc == 0)
        rc = bind_size("request", p->request, err);
    if (rc == 0 && p->every <= 0)
        rc = xoff_err_set(err, XOFF_E_RANGE, "every", NULL, "a time above 0s is accepted");
    if (rc == 0)
        rc = bind_period(env, &p->period, &period, err);
    if (rc == 0)
        rc = bind_hosts(env, "from", p->targets.from, &sets.pool, err);
    if (rc == 0)
        rc = bind_hosts(env, "to", p->targets.to, &sets.aggregators, err);
    if (rc == 0)
        rc = bind_union(env, &sets.aggregators, &sets.pool, &sets.all, err);
    if (rc == 0)
        rc = make_apps(env, p, make_cfg(p, &offer, period.stop, &sets), &sets, apps, err);
    free(sets.pool.hosts);
    free(sets.aggregators.hosts);
    free(sets.all.hosts);
    return rc;
}

const struct traffic_kind traffic_query = {
    .name = "query",
    .summary = "requests to many hosts at a time, which all answer to one",
    .params = query_table,
    .params_size = sizeof(struct query_params),
    .bind = query_bind,
};
