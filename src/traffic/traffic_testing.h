/* Test bench of traffic kinds: a star of hosts filled by hand, parameters set by text, and a loop
 * that runs each app alone and keeps what it offered.
 *
 *    h0 --- sw --- h1, h2, ...     host i on port i of the switch, all links alike at first
 */
#ifndef TRAFFIC_TESTING_H
#define TRAFFIC_TESTING_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <xoff/param.h>

#include "traffic/traffic.h"

#define MAX_HOSTS 1024
#define HEADER 62
#define FRAME 1518

_Noreturn void xoff_assert_fail(const char *expression, const char *file, int line)
{
    mock_assert(0, expression, file, line);
    abort();
}

struct bench {
    struct topo topo;
    struct topo_node nodes[MAX_HOSTS + 1];
    struct topo_link links[MAX_HOSTS];
    struct topo_port ports[2 * MAX_HOSTS];
    struct topo_change change;
    struct traffic_env env;
    int default_transport;
    struct app_set apps;
    struct xoff_err err;
};

/* What an app offered and when. */
struct seen {
    uint32_t host;
    xoff_time at;
    struct app_offer offer;
};

struct record {
    struct seen *seen;
    size_t n, capacity;
};

static uint32_t bench_host(const struct topo *topo, const char *name)
{
    for (uint32_t i = 0; i < topo->n_hosts; i++)
        if (strcmp(topo->nodes[i].name, name) == 0)
            return i;
    return TOPO_NONE;
}

/* "all", "h3", "h0..h2", lists with commas; "none" is an empty set. */
static int bench_hosts(const struct topo *topo, const char *set, uint32_t *hosts, uint32_t *n_hosts,
                       struct xoff_err *err)
{
    char text[XOFF_PARAM_TEXT];
    bool marks[MAX_HOSTS] = {false};
    *n_hosts = 0;
    snprintf(text, sizeof text, "%s", set);
    for (char *item = strtok(text, ","); item; item = strtok(NULL, ",")) {
        char *dots = strstr(item, "..");
        if (strcmp(item, "none") == 0)
            continue;
        if (dots)
            *dots = '\0';
        uint32_t from = bench_host(topo, item), to = dots ? bench_host(topo, dots + 2) : from;
        if (strcmp(item, "all") == 0) {
            from = 0;
            to = topo->n_hosts - 1;
        }
        if (from == TOPO_NONE || to == TOPO_NONE)
            return xoff_err_set(err, XOFF_E_UNKNOWN, NULL, item, "no such host");
        for (uint32_t i = from; i <= to; i++)
            marks[i] = true;
    }
    for (uint32_t i = 0; i < topo->n_hosts; i++)
        if (marks[i])
            hosts[(*n_hosts)++] = i;
    return 0;
}

/* The scenario's transports, by number. */
enum { DATAGRAM, RELIABLE };

static int bench_transport(void *context, const char *name)
{
    if (*name == '\0')
        return *(const int *)context;
    return strcmp(name, "datagram") == 0 ? DATAGRAM : strcmp(name, "none") == 0 ? RELIABLE : -1;
}

static bool bench_acknowledges(void *context, uint8_t transport)
{
    (void)context;
    return transport == RELIABLE;
}

static void bench_init(struct bench *b, uint32_t n_hosts, xoff_rate rate_bps, xoff_time stop)
{
    memset(b, 0, sizeof *b);
    b->topo = (struct topo){.n_nodes = n_hosts + 1,
                            .n_hosts = n_hosts,
                            .n_links = n_hosts,
                            .n_ports = 2 * n_hosts,
                            .nodes = b->nodes,
                            .links = b->links,
                            .ports = b->ports,
                            .changes = &b->change};
    for (uint32_t i = 0; i < n_hosts; i++) {
        b->nodes[i] = (struct topo_node){.kind = TOPO_HOST, .first_port = i, .n_ports = 1};
        snprintf(b->nodes[i].name, sizeof b->nodes[i].name, "h%u", i);
        b->links[i] = (struct topo_link){
            .node = {i, n_hosts}, .port = {0, i}, .rate_bps = rate_bps, .delay = XOFF_US};
        b->ports[i] = (struct topo_port){.node = i, .link = i, .end = 0};
        b->ports[n_hosts + i] = (struct topo_port){.node = n_hosts, .link = i, .end = 1};
    }
    b->nodes[n_hosts] = (struct topo_node){
        .name = "sw", .kind = TOPO_SWITCH, .first_port = n_hosts, .n_ports = n_hosts};
    b->env = (struct traffic_env){.topo = &b->topo,
                                  .seed = 1,
                                  .stop = stop,
                                  .max_frame_bytes = FRAME,
                                  .header_bytes = HEADER,
                                  .transport = bench_transport,
                                  .transport_context = &b->default_transport,
                                  .acknowledges = bench_acknowledges,
                                  .index = 3,
                                  .hosts = bench_hosts};
}

/* Sets "key=value; key=value" by a table; fails the test on a bad setting. */
static inline void bench_set(const struct xoff_param *table, void *params, const char *settings)
{
    char text[1024];
    xoff_param_defaults(table, params);
    snprintf(text, sizeof text, "%s", settings);
    for (char *item = text; *item;) {
        item += strspn(item, " ");
        char *end = item + strcspn(item, ";");
        char *next = *end ? end + 1 : end;
        *end = '\0';
        char *value = strchr(item, '=');
        if (!value)
            fail_msg("setting without value: %s", item);
        *value++ = '\0';
        const struct xoff_param *p = xoff_param_find(table, item);
        struct xoff_err err = {0};
        if (!p || xoff_param_set(p, params, value, &err))
            fail_msg("%s=%s: %s", item, value, p ? err.message : "unknown");
        item = next;
    }
}

static inline int bench_bind(struct bench *b, const char *kind_name, const char *settings)
{
    const struct traffic_kind *kind = traffic_find(kind_name);
    assert_non_null(kind);
    void *params = calloc(1, kind->params_size);
    bench_set(kind->params, params, settings);
    app_set_fini(&b->apps);
    memset(&b->err, 0, sizeof b->err);
    const int rc = kind->bind(&b->env, params, NULL, 0, &b->apps, &b->err);
    free(params);
    return rc;
}

/* Runs each app to its end, or to `until`, as a host would: at its deadline, again and again. */
static inline void bench_run(const struct bench *b, xoff_time until, struct record *record)
{
    for (uint32_t i = 0; i < b->apps.n; i++) {
        const struct app *app = &b->apps.apps[i];
        struct xoff_rng rng;
        xoff_rng_init(&rng, b->env.seed, app->host, app->stream_purpose);
        for (xoff_time now; (now = app->ops->deadline(app->cfg, app->state)) < until;) {
            struct app_offer offers[APP_MAX_OFFERS];
            const uint32_t n = app->ops->expire(app->cfg, app->state, &rng, now, offers);
            const xoff_time next = app->ops->deadline(app->cfg, app->state);
            assert_true(n <= APP_MAX_OFFERS && next >= now);
            assert_true(next > now || n == APP_MAX_OFFERS); /* nothing due is held back */
            for (uint32_t k = 0; k < n; k++) {
                assert_true(offers[k].to < b->topo.n_hosts && offers[k].to != app->host);
                assert_int_equal(offers[k].tag, b->env.index);
                if (record->n == record->capacity) {
                    record->capacity = record->capacity ? 2 * record->capacity : 1024;
                    record->seen = realloc(record->seen, record->capacity * sizeof *record->seen);
                    assert_non_null(record->seen);
                }
                record->seen[record->n++] = (struct seen){app->host, now, offers[k]};
            }
        }
    }
}

static inline void record_fini(struct record *record)
{
    free(record->seen);
    *record = (struct record){0};
}

static inline void bench_fini(struct bench *b)
{
    app_set_fini(&b->apps);
    free(b);
}

/* Binds, which must work, and runs to the end. */
static inline struct record bench_offers(struct bench *b, const char *kind, const char *settings)
{
    struct record record = {0};
    if (bench_bind(b, kind, settings))
        fail_msg("%s: %s: %s", kind, b->err.subject, b->err.message);
    bench_run(b, XOFF_NEVER, &record);
    return record;
}

/* A refusal names the key and leaves no app. */
static inline void bench_refuses(struct bench *b, const char *kind, const char *settings,
                                 const char *subject, enum xoff_err_code code)
{
    const int rc = bench_bind(b, kind, settings);
    if (rc != -(int)code || strcmp(b->err.subject, subject) != 0 || !b->err.message[0])
        fail_msg("%s {%s}: %d, %s: %s (%s)", kind, settings, rc, b->err.subject, b->err.message,
                 b->err.value);
    assert_int_equal(b->apps.n, 0);
}

static inline struct bench *bench_create(uint32_t n_hosts, xoff_rate rate_bps, xoff_time stop)
{
    struct bench *b = malloc(sizeof *b);
    assert_non_null(b);
    bench_init(b, n_hosts, rate_bps, stop);
    return b;
}

static inline void assert_near(double value, double nominal, double part)
{
    if (!(value > nominal * (1 - part) && value < nominal * (1 + part)))
        fail_msg("%.17g is not within %g of %.17g", value, part, nominal);
}

#endif
