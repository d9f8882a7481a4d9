/* Traffic kind fan-in: groups of flows to one receiver that start together, at random times.
 *
 * Fan-ins arrive as a Poisson process. Each has a receiver drawn uniformly from `to` and `senders`
 * hosts of `from`, a uniform subset without the receiver (Floyd: Bentley, Programming Pearls, CACM
 * 30(9), 1987), which all start a flow of `size` to it at that instant, or up to `jitter` later.
 * Load counts payload at the receivers:
 *
 *   mean time between fan-ins = 8 * senders * size / (load * sum of the receivers' link rates)
 *
 * Senders of one fan-in are hosts that know nothing of each other, so all fan-ins are drawn when
 * the network is built, from the one random stream of the entry, and dealt to the hosts as a
 * schedule: 48 bytes a flow.
 */
#include "traffic/kinds.h"
#include "traffic/schedule.h"

#include <stdlib.h>

#include <xoff/units.h>

#include "traffic/draw.h"

#define MAX_FLOWS 100e6 /* 4 GB of schedule */

struct fan_in_params {
    char from[XOFF_PARAM_TEXT], to[XOFF_PARAM_TEXT];
    int64_t senders, size, every, jitter, rate;
    double load;
    struct bind_period period;
    struct bind_carriage carriage;
};

static const struct xoff_param fan_in_table[] = {
    {.name = "from",
     .type = XOFF_P_TEXT,
     .offset = offsetof(struct fan_in_params, from),
     .preset = "all",
     .help = "Who may send: all, h3, h0..h15, leaf0 (its hosts), or a list of these."},
    {.name = "to",
     .type = XOFF_P_TEXT,
     .offset = offsetof(struct fan_in_params, to),
     .preset = "all",
     .help = "Receivers, named likewise; each fan-in has one of them, drawn uniformly."},
    {.name = "senders",
     .type = XOFF_P_INT,
     .offset = offsetof(struct fan_in_params, senders),
     .min = "1",
     .help = "So many of `from` send in a fan-in, drawn for each; never the receiver."},
    {.name = "size",
     .type = XOFF_P_BYTES,
     .offset = offsetof(struct fan_in_params, size),
     .min = "1B",
     .max = "1000000GB",
     .help = "Payload of each flow."},
    {.name = "load",
     .type = XOFF_P_REAL,
     .offset = offsetof(struct fan_in_params, load),
     .preset = "auto",
     .min = "0",
     .max = "1",
     .allows_auto = true,
     .help = "Payload that comes to each receiver, as a part of its link's rate; auto: see every."},
    {.name = "every",
     .type = XOFF_P_TIME,
     .offset = offsetof(struct fan_in_params, every),
     .preset = "auto",
     .min = "1ps",
     .allows_auto = true,
     .help = "Mean time from one fan-in to the next, of all receivers together; auto: by load."},
    {.name = "jitter",
     .type = XOFF_P_TIME,
     .offset = offsetof(struct fan_in_params, jitter),
     .preset = "0s",
     .help = "Each flow starts up to this much later, drawn uniformly."},
    BIND_RATE(struct fan_in_params),
    BIND_PERIOD(struct fan_in_params),
    BIND_CARRIAGE(struct fan_in_params),
    {0},
};

/* State of the drawing of the schedule. */
struct fan_in {
    struct bind_hosts pool, receivers;
    uint32_t senders;
    xoff_time start, stop, jitter;
    double gap_ps;                /* mean time between fan-ins */
    struct schedule_entry preset; /* everything but at, from and to */
    struct xoff_rng rng;
    uint32_t *drawn_by; /* per host of the pool: the last fan-in that drew it */
    struct schedule *schedule;
};

/* Counts the hosts of the pool other than this one. */
static uint32_t count_others(const struct fan_in *f, uint32_t host)
{
    return f->pool.n - (bind_position(&f->pool, host) < f->pool.n);
}

/* Checks that every receiver has enough others that may send to it. */
static int find_senders(const struct traffic_env *env, int64_t wanted, struct fan_in *f,
                        struct xoff_err *err)
{
    char text[32];
    for (uint32_t i = 0; i < f->receivers.n; i++) {
        const uint32_t host = f->receivers.hosts[i], n_others = count_others(f, host);
        if (wanted >= 1 && wanted <= n_others)
            continue;
        xoff_err_set(err, XOFF_E_RANGE, "senders", xoff_format_int(text, sizeof text, wanted),
                     "accepted is a number from 1 to the hosts of `from` beside the receiver, "
                     "for ");
        xoff_err_add(err, env->topo->nodes[host].name);
        xoff_err_add(err, " ");
        xoff_err_add_int(err, n_others);
        return -XOFF_E_RANGE;
    }
    f->senders = (uint32_t)wanted;
    return 0;
}

static int find_gap(const struct traffic_env *env, const struct fan_in_params *p, struct fan_in *f,
                    struct xoff_err *err)
{
    const int rc = bind_load_or_every(p->load, p->every, err);
    if (rc || p->every != XOFF_PARAM_AUTO) {
        f->gap_ps = (double)p->every;
        return rc;
    }
    double rates_bps = 0;
    for (uint32_t i = 0; i < f->receivers.n; i++)
        rates_bps += (double)bind_line_rate(env, f->receivers.hosts[i]);
    f->gap_ps = 8.0 * f->senders * (double)p->size / (p->load * rates_bps) * (double)XOFF_S;
    return 0;
}

/* Checks that the schedule fits in memory. */
static int check_count(const struct fan_in_params *p, const struct fan_in *f, struct xoff_err *err)
{
    char text[32];
    const double n_flows = (double)(f->stop - f->start) / f->gap_ps * f->senders;
    if (n_flows <= MAX_FLOWS)
        return 0;
    const bool has_load = p->load != XOFF_PARAM_AUTO;
    xoff_err_set(err, XOFF_E_RANGE, has_load ? "load" : "every",
                 has_load ? xoff_format_real(text, sizeof text, p->load)
                          : xoff_format_time(text, sizeof text, p->every),
                 "accepted are up to 100 M flows in the run; this makes ");
    const double millions = n_flows / 1e6 + 0.5;
    xoff_err_add_int(err, millions < 1e18 ? (long long)millions : (long long)1e18);
    xoff_err_add(err, " M");
    return -XOFF_E_RANGE;
}

/* Draws the flows of fan-in `number`, which arrives at `at`. */
static int draw_one(struct fan_in *f, uint32_t number, xoff_time at, struct xoff_err *err)
{
    struct schedule_entry entry = f->preset;
    entry.to = f->receivers.hosts[xoff_rng_below(&f->rng, f->receivers.n)];
    const uint32_t self = bind_position(&f->pool, entry.to), n_others = count_others(f, entry.to);
    int rc = 0;
    for (uint32_t last = n_others - f->senders; rc == 0 && last < n_others; last++) {
        uint32_t place = (uint32_t)xoff_rng_below(&f->rng, (uint64_t)last + 1);
        if (f->drawn_by[place] == number)
            place = last;
        f->drawn_by[place] = number;
        entry.from = f->pool.hosts[place + (place >= self)];
        entry.at = at;
        if (f->jitter)
            entry.at =
                xoff_time_after(at, (xoff_time)xoff_rng_below(&f->rng, (uint64_t)f->jitter + 1));
        if (entry.at < f->stop)
            rc = schedule_add(&f->schedule, &entry, err);
    }
    return rc;
}

/* Draws all fan-ins; the apps take over the schedule. */
static int draw_all(const struct traffic_env *env, struct fan_in *f, struct app_set *apps,
                    struct xoff_err *err)
{
    xoff_time at = f->start;
    f->rng = bind_rng(env);
    f->drawn_by = calloc(f->pool.n, sizeof *f->drawn_by);
    int rc = f->drawn_by ? 0 : bind_no_memory(err);
    for (uint32_t number = 1; rc == 0; number++) {
        at = xoff_time_after(at, draw_span(xoff_rng_exponential(&f->rng) * f->gap_ps));
        if (at >= f->stop)
            break;
        rc = draw_one(f, number, at, err);
    }
    free(f->drawn_by);
    if (rc) {
        free(f->schedule);
        return rc;
    }
    return schedule_bind(env, f->schedule, 0, apps, err);
}

static int fan_in_bind(const struct traffic_env *env, const void *params, const void *items,
                       uint32_t n_items, struct app_set *apps, struct xoff_err *err)
{
    const struct fan_in_params *p = params;
    struct app_offer offer;
    struct bind_period period;
    struct fan_in f = {.jitter = p->jitter};
    (void)items, (void)n_items;
    int rc = bind_offer(env, &p->carriage, &offer, err);
    if (rc == 0)
        rc = bind_size("size", p->size, err);
    if (rc == 0 && p->jitter < 0)
        rc = xoff_err_set(err, XOFF_E_RANGE, "jitter", NULL, "a time from 0s on is accepted");
    if (rc == 0)
        rc = bind_period(env, &p->period, &period, err);
    if (rc == 0)
        rc = bind_hosts(env, "from", p->from, &f.pool, err);
    if (rc == 0)
        rc = bind_hosts(env, "to", p->to, &f.receivers, err);
    if (rc == 0)
        rc = find_senders(env, p->senders, &f, err);
    if (rc == 0)
        rc = bind_rate(env, p->rate, &f.pool, &f.preset.rate_bps, err);
    if (rc == 0)
        rc = find_gap(env, p, &f, err);
    if (rc == 0) {
        f.start = period.start;
        f.stop = period.stop;
        f.preset.bytes = (uint64_t)p->size;
        f.preset.priority = offer.priority;
        f.preset.priorities = offer.priorities;
        f.preset.transport = offer.transport;
        rc = check_count(p, &f, err);
    }
    if (rc == 0)
        rc = draw_all(env, &f, apps, err);
    free(f.pool.hosts);
    free(f.receivers.hosts);
    return rc;
}

const struct traffic_kind traffic_fan_in = {
    .name = "fan-in",
    .summary = "flows from many senders to one receiver that start together, at random times",
    .params = fan_in_table,
    .params_size = sizeof(struct fan_in_params),
    .bind = fan_in_bind,
};
