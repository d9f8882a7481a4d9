/* Curves: samples put into their instants (curves.h).
 *
 * Samples are sparse: one that repeats the value before it may be left out, and a queue that has
 * not had a frame yet has none. So a value holds until the next sample, and is 0 before the first.
 * A port has samples by priority, or (a host) samples of all priorities together. A curve over all
 * priorities adds up the samples; for pauses it takes the priority paused longest instead, so that
 * a fraction stays at most one, and for rates and loads of congestion points the largest.
 *
 * A curve is made of one track, the samples of one place, or of one for each of its hosts:
 *
 *   jain       (sum x)^2 / (n sum x^2) of the hosts' throughputs; 0 if nobody sends
 *   evenness   1 - the largest |x / share - 1|, at least 0; 0 if the share is
 */
#include "stats/curves.h"

#include <stdlib.h>
#include <string.h>

#include <xoff/rng.h>

#define ALL XOFF_N_PRIORITIES /* index of samples of all priorities together */

/* Samples of one place while they are being put into their instants. */
struct track {
    const struct result_curve_spec *spec;
    uint32_t node, port;
    uint8_t metric;
    double *values; /* one for each instant */
    uint32_t n_values, n;
    double latest[XOFF_N_PRIORITIES + 1]; /* by priority, and ALL */
};

const char *curve_unit(uint8_t metric)
{
    switch (metric) {
    case RESULT_TX_BPS:
    case RESULT_ADVERTISED_BPS:
        return "bps";
    case RESULT_PAUSED_FRACTION:
    case RESULT_LOAD_RATIO:
    case RESULT_CONTROL_RATIO:
    case RESULT_JAIN:
    case RESULT_EVENNESS:
        return "ratio";
    default:
        return "B";
    }
}

/* Whether the values of a port's priorities add up to that of the port. */
static bool adds_up(uint8_t metric)
{
    return metric != RESULT_PAUSED_FRACTION && metric < RESULT_ADVERTISED_BPS;
}

/* The last instant at which samples were taken. The very end of the run is such an instant only if
 * it has a sample: a deadlock that ends the run is sampled, the end of the time is not. */
static xoff_time last_instant(const struct results *r, xoff_time every)
{
    const bool is_at_end = r->n_samples && r->samples[r->n_samples - 1].at == r->end_at;
    return (r->end_at - !is_at_end) / every * every;
}

static double value_now(const struct track *t)
{
    if (t->spec->priority < XOFF_N_PRIORITIES)
        return t->latest[t->spec->priority];
    double sum = 0, most = 0;
    for (uint32_t p = 0; p <= ALL; p++) {
        sum += t->latest[p];
        most = t->latest[p] > most ? t->latest[p] : most;
    }
    return adds_up(t->metric) ? sum : most;
}

/* Fills the instants before `at` with the value that holds. */
static void fill(struct track *t, xoff_time at)
{
    const xoff_time every = t->spec->every, first_at = (t->spec->from / every + 1) * every;
    while (t->n < t->n_values && first_at + (xoff_time)t->n * every < at)
        t->values[t->n++] = value_now(t);
}

static uint32_t n_tracks(const struct result_curve_spec *spec)
{
    return spec->hosts ? spec->n_hosts : 1;
}

/* Starts the tracks of a curve; false: no memory. */
static bool begin(struct track *tracks, const struct results *r,
                  const struct result_curve_spec *spec)
{
    const xoff_time last = xoff_time_min(last_instant(r, spec->every), spec->to);
    const xoff_time n = last / spec->every - spec->from / spec->every;
    bool is_good = true;
    for (uint32_t i = 0; i < n_tracks(spec); i++) {
        tracks[i] = (struct track){.spec = spec,
                                   .node = spec->hosts ? spec->hosts[i] : spec->node,
                                   .port = spec->hosts ? 0 : spec->port,
                                   .metric = spec->hosts ? RESULT_TX_BPS : spec->metric,
                                   .n_values = n > 0 ? (uint32_t)n : 0};
        tracks[i].values = calloc((size_t)tracks[i].n_values + 1, sizeof *tracks[i].values);
        is_good &= tracks[i].values != NULL;
    }
    return is_good;
}

static void put_samples(const struct results *r, struct track *tracks, uint64_t n)
{
    for (uint64_t k = 0; k < r->n_samples; k++) {
        const struct result_sample *s = &r->samples[k];
        for (uint64_t i = 0; i < n; i++) {
            struct track *t = &tracks[i];
            if (s->node != t->node || s->port != t->port || s->metric != t->metric)
                continue;
            fill(t, s->at);
            t->latest[s->priority < XOFF_N_PRIORITIES ? s->priority : ALL] = s->value;
        }
    }
    for (uint64_t i = 0; i < n; i++)
        fill(&tracks[i], XOFF_NEVER);
}

static double mean_of(const double *values, uint32_t n)
{
    double sum = 0;
    for (uint32_t i = 0; i < n; i++)
        sum += values[i];
    return n == 1 ? values[0] : sum / n;
}

/* The value of a curve of hosts, whose tracks have `n` samples from `first` on. */
static double fairness(const struct result_curve_spec *spec, const struct track *tracks,
                       uint32_t first, uint32_t n)
{
    double sum = 0, squares = 0, least = 0, most = 0;
    for (uint32_t i = 0; i < spec->n_hosts; i++) {
        const double x = mean_of(tracks[i].values + first, n);
        sum += x;
        squares += x * x;
        least = !i || x < least ? x : least;
        most = !i || x > most ? x : most;
    }
    if (spec->metric == RESULT_JAIN)
        return squares > 0 ? sum * sum / (spec->n_hosts * squares) : 0;
    const double share = spec->share_bps > 0 ? spec->share_bps : sum / spec->n_hosts;
    const double away = most - share > share - least ? most - share : share - least;
    return away < share ? 1 - away / share : 0;
}

/* Makes a curve of its complete tracks; false: no memory. */
static bool finish(const struct track *tracks, const struct result_curve_spec *spec,
                   struct curve *c)
{
    const uint32_t n = (uint32_t)(spec->over / spec->every);
    memcpy(c->name, spec->name, sizeof c->name);
    snprintf(c->unit, sizeof c->unit, "%s", curve_unit(spec->metric));
    c->every = spec->over;
    c->first_at = spec->from / spec->every * spec->every + spec->over;
    c->n = tracks->n_values / n;
    c->values = calloc((size_t)c->n + 1, sizeof *c->values);
    for (uint32_t i = 0; i < c->n && c->values; i++)
        c->values[i] = spec->hosts ? fairness(spec, tracks, i * n, n)
                                   : mean_of(tracks->values + (size_t)i * n, n);
    return c->values;
}

struct curve *curves_create(const struct results *r)
{
    uint64_t n = 0, at = 0;
    for (uint32_t i = 0; i < r->n_curves; i++)
        n += n_tracks(&r->curves[i]);
    struct curve *curves = calloc((size_t)r->n_curves + 1, sizeof *curves);
    struct track *tracks = calloc((size_t)n + 1, sizeof *tracks);
    bool is_good = curves && tracks;
    for (uint32_t i = 0; i < r->n_curves && is_good; at += n_tracks(&r->curves[i++]))
        is_good = begin(&tracks[at], r, &r->curves[i]);
    if (is_good)
        put_samples(r, tracks, n);
    at = 0;
    for (uint32_t i = 0; i < r->n_curves && is_good; at += n_tracks(&r->curves[i++]))
        is_good = finish(&tracks[at], &r->curves[i], &curves[i]);
    for (uint64_t i = 0; i < n && tracks; i++)
        free(tracks[i].values);
    free(tracks);
    if (is_good)
        return curves;
    curves_destroy(curves, r->n_curves);
    return NULL;
}

void curves_destroy(struct curve *curves, uint32_t n)
{
    for (uint32_t i = 0; i < n && curves; i++)
        free(curves[i].values);
    free(curves);
}

static int compare_values(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void curve_lows(const struct curve *c, double level, struct curve_lows *out)
{
    uint32_t n = 0, last = 0;
    for (uint32_t i = 0; i < c->n; i++)
        if (c->values[i] < level) {
            n++;
            last = i + 1;
        }
    const double every_s = (double)c->every / (double)XOFF_S;
    *out = (struct curve_lows){.below_s = n * every_s, .until_s = last * every_s};
}

bool curve_figures(const struct curve *c, struct curve_figures *out)
{
    double *sorted = malloc(c->n * sizeof *sorted), sum = 0, squares = 0;
    if (!sorted)
        return false;
    memcpy(sorted, c->values, c->n * sizeof *sorted);
    qsort(sorted, c->n, sizeof *sorted, compare_values);
    *out = (struct curve_figures){.mean = sorted[0],
                                  .min = sorted[0],
                                  .max = sorted[c->n - 1],
                                  .p50 = sorted[((uint64_t)c->n * 50 + 99) / 100 - 1],
                                  .p99 = sorted[((uint64_t)c->n * 99 + 99) / 100 - 1]};
    for (uint32_t i = 0; i < c->n; i++)
        sum += c->values[i];
    /* The mean of equal values is that value: their sum could be rounded. */
    if (out->min < out->max)
        out->mean = sum / c->n;
    for (uint32_t i = 0; i < c->n; i++)
        squares += (c->values[i] - out->mean) * (c->values[i] - out->mean);
    out->stddev = xoff_sqrt(squares / c->n);
    free(sorted);
    return true;
}
