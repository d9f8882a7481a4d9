/* Test bench of traffic kinds whose hosts wait for each other: plays the network between the apps
 * of a bench, with a delay drawn for each message and each acknowledgement, and keeps a log of all
 * that happened, in order.
 *
 * It holds the apps to their contract: offers that fit, connections that stay with one host,
 * deadlines that do not lie in the past and nothing due held back unless the answer is full.
 */
#ifndef LOOP_TESTING_H
#define LOOP_TESTING_H

#include "traffic/traffic_testing.h"

enum loop_what { LOOP_SENT, LOOP_ARRIVED, LOOP_ACKED, LOOP_DONE };

struct loop_entry {
    enum loop_what what;
    xoff_time at;
    uint32_t host;  /* where it happened: sender for SENT and ACKED, receiver for ARRIVED */
    uint32_t peer;  /* the other end */
    uint32_t index; /* number of the message among those of its sender */
    struct app_offer offer;
};

/* A message, or its acknowledgement, on its way. */
struct loop_flight {
    xoff_time at;
    uint64_t order;
    struct loop_entry entry;
};

struct loop {
    struct bench *b;
    struct xoff_rng rng;        /* for the delays of the network */
    xoff_time min_delay, delay; /* each is drawn from the first to the sum of both */
    bool is_ordered;            /* messages of one connection do not overtake each other */
    uint32_t host_app[MAX_HOSTS];
    struct xoff_rng rngs[MAX_HOSTS]; /* for the apps */
    uint32_t n_sent[MAX_HOSTS];
    uint32_t *connection_to[MAX_HOSTS];
    xoff_time *connection_at[MAX_HOSTS];
    struct loop_flight *flights; /* a heap by at, then order */
    size_t n_flights, flights_capacity;
    uint64_t order;
    struct loop_entry *log;
    size_t n, capacity;
    uint32_t n_full; /* answers that were full */
};

static inline void *loop_grow(void *array, size_t n, size_t *capacity, size_t size)
{
    if (n < *capacity)
        return array;
    *capacity = *capacity ? 2 * *capacity : 1024;
    void *moved = realloc(array, *capacity * size);
    assert_non_null(moved);
    return moved;
}

static inline bool loop_before(const struct loop_flight *a, const struct loop_flight *b)
{
    return a->at != b->at ? a->at < b->at : a->order < b->order;
}

static inline void loop_push(struct loop *l, xoff_time at, const struct loop_entry *entry)
{
    l->flights = loop_grow(l->flights, l->n_flights, &l->flights_capacity, sizeof *l->flights);
    size_t i = l->n_flights++;
    const struct loop_flight flight = {.at = at, .order = l->order++, .entry = *entry};
    for (; i && loop_before(&flight, &l->flights[(i - 1) / 2]); i = (i - 1) / 2)
        l->flights[i] = l->flights[(i - 1) / 2];
    l->flights[i] = flight;
}

static inline struct loop_flight loop_pop(struct loop *l)
{
    const struct loop_flight first = l->flights[0], last = l->flights[--l->n_flights];
    size_t i = 0;
    for (size_t child; (child = 2 * i + 1) < l->n_flights; i = child) {
        child +=
            child + 1 < l->n_flights && loop_before(&l->flights[child + 1], &l->flights[child]);
        if (!loop_before(&l->flights[child], &last))
            break;
        l->flights[i] = l->flights[child];
    }
    l->flights[i] = last;
    return first;
}

static inline void loop_note(struct loop *l, const struct loop_entry *entry)
{
    l->log = loop_grow(l->log, l->n, &l->capacity, sizeof *l->log);
    l->log[l->n++] = *entry;
}

static inline xoff_time loop_delay(struct loop *l)
{
    return l->min_delay + (xoff_time)xoff_rng_below(&l->rng, (uint64_t)l->delay + 1);
}

static inline void loop_send(struct loop *l, const struct app *app, const struct app_offer *offer,
                             xoff_time now)
{
    struct loop_entry entry = {.what = LOOP_SENT,
                               .at = now,
                               .host = app->host,
                               .peer = offer->to,
                               .index = l->n_sent[app->host]++,
                               .offer = *offer};
    assert_true(offer->to != app->host && offer->bytes > 0 && offer->word <= APP_MAX_WORD);
    assert_int_equal(offer->continues, offer->is_message);
    loop_note(l, &entry);
    xoff_time at = now + loop_delay(l);
    if (offer->continues) {
        assert_true(offer->connection < app->n_connections);
        uint32_t *to = &l->connection_to[app->host][offer->connection];
        assert_true(*to == TOPO_NONE || *to == offer->to);
        *to = offer->to;
        if (l->is_ordered && at <= l->connection_at[app->host][offer->connection])
            at = l->connection_at[app->host][offer->connection] + 1;
        l->connection_at[app->host][offer->connection] = at;
    }
    entry.what = LOOP_ARRIVED;
    entry.host = offer->to;
    entry.peer = app->host;
    loop_push(l, at, &entry);
    if (offer->transport != RELIABLE)
        return;
    entry.what = LOOP_ACKED;
    entry.host = app->host;
    entry.peer = offer->to;
    loop_push(l, at + loop_delay(l), &entry);
}

static inline void loop_take(struct loop *l, const struct app *app, const struct app_offer *offers,
                             uint32_t n, xoff_time now)
{
    const xoff_time next = app->ops->deadline(app->cfg, app->state);
    assert_true(n <= APP_MAX_OFFERS && next >= now);
    assert_true(next > now || n == APP_MAX_OFFERS);
    l->n_full += next == now;
    for (uint32_t i = 0; i < n; i++) {
        assert_int_equal(offers[i].tag, l->b->env.index);
        if (!offers[i].is_done) {
            loop_send(l, app, &offers[i], now);
            continue;
        }
        assert_false(offers[i].continues || offers[i].is_message);
        assert_true(offers[i].began_at <= now);
        loop_note(l, &(struct loop_entry){.what = LOOP_DONE,
                                          .at = now,
                                          .host = app->host,
                                          .peer = offers[i].to,
                                          .offer = offers[i]});
    }
}

/* The app with the earliest deadline, or NULL. */
static inline const struct app *loop_next(const struct loop *l, xoff_time *at)
{
    const struct app *first = NULL;
    *at = XOFF_NEVER;
    for (uint32_t i = 0; i < l->b->apps.n; i++) {
        const struct app *app = &l->b->apps.apps[i];
        const xoff_time deadline = app->ops->deadline(app->cfg, app->state);
        if (deadline < *at) {
            *at = deadline;
            first = app;
        }
    }
    return first;
}

/* Runs until nothing is left to do or to `until`. */
static inline void loop_run(struct loop *l, xoff_time until)
{
    struct app_offer offers[APP_MAX_OFFERS];
    for (;;) {
        xoff_time at;
        const struct app *app = loop_next(l, &at);
        const bool is_flight = l->n_flights && l->flights[0].at <= at;
        if (is_flight)
            at = l->flights[0].at;
        if (at >= until || at == XOFF_NEVER)
            return;
        if (!is_flight) {
            const uint32_t n =
                app->ops->expire(app->cfg, app->state, &l->rngs[app->host], at, offers);
            loop_take(l, app, offers, n, at);
            continue;
        }
        struct loop_flight flight = loop_pop(l);
        flight.entry.at = at;
        loop_note(l, &flight.entry);
        app = &l->b->apps.apps[l->host_app[flight.entry.host]];
        const bool is_ack = flight.entry.what == LOOP_ACKED;
        const struct app_event event = {.kind = is_ack ? APP_ACKED : APP_ARRIVED,
                                        .peer = flight.entry.peer,
                                        .word = flight.entry.offer.word,
                                        .bytes = is_ack ? 0 : flight.entry.offer.bytes};
        const uint32_t n =
            app->ops->on_event(app->cfg, app->state, &l->rngs[app->host], &event, at, offers);
        loop_take(l, app, offers, n, at);
    }
}

static inline void loop_fini(struct loop *l)
{
    for (uint32_t i = 0; i < MAX_HOSTS; i++) {
        free(l->connection_to[i]);
        free(l->connection_at[i]);
    }
    free(l->flights);
    free(l->log);
    free(l);
}

/* Binds, which must work; delays are 1 us to 5 us at first. */
static inline struct loop *loop_create(struct bench *b, const char *kind, const char *settings,
                                       uint64_t seed)
{
    struct loop *l = calloc(1, sizeof *l);
    assert_non_null(l);
    if (bench_bind(b, kind, settings))
        fail_msg("%s {%s}: %s: %s", kind, settings, b->err.subject, b->err.message);
    l->b = b;
    l->min_delay = XOFF_US;
    l->delay = 4 * XOFF_US;
    xoff_rng_init(&l->rng, seed, 1, 2);
    for (uint32_t i = 0; i < b->apps.n; i++) {
        const struct app *app = &b->apps.apps[i];
        const uint32_t host = app->host, n = app->n_connections ? app->n_connections : 1;
        assert_non_null(app->ops->on_event);
        assert_int_equal(app->tag, b->env.index);
        assert_null(l->connection_to[host]); /* one app of the entry on a host */
        l->host_app[host] = i;
        xoff_rng_init(&l->rngs[host], b->env.seed, host, app->stream_purpose);
        l->connection_to[host] = malloc(n * sizeof(uint32_t));
        l->connection_at[host] = calloc(n, sizeof(xoff_time));
        assert_true(l->connection_to[host] && l->connection_at[host]);
        memset(l->connection_to[host], 0xff, n * sizeof(uint32_t));
    }
    return l;
}

static inline uint64_t loop_count(const struct loop *l, enum loop_what what)
{
    uint64_t n = 0;
    for (size_t i = 0; i < l->n; i++)
        n += l->log[i].what == what;
    return n;
}

static inline uint64_t loop_bytes(const struct loop *l)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < l->n; i++)
        if (l->log[i].what == LOOP_SENT)
            sum += l->log[i].offer.bytes;
    return sum;
}

#endif
