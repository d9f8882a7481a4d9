/* Deficit round robin with weights that follow the frame sizes (DRR-AWC).
 *
 * Source: fairness dissertation chapter 6. A scheduler that charges preamble and gap gives a queue
 * of small frames fewer frame bytes. Each queue therefore counts the frames it sends in bins of
 * size; at the end of every period its weight becomes (Algorithm 1)
 *
 *   weight = sum over bins of f(size of the bin) * frames in the bin / frames in all bins
 *   f(x) = -0.008 x + 2.276         x <= 146   (6.1)
 *          -8.555e-5 x + 1.106      x > 146    (6.2)
 *
 * and a visit grants weight * largest frame. Before the first period ends all weights are 1, and a
 * queue without frames in a period keeps its weight. The rounds are those of drr (rounds.h).
 *
 * `weights: exact` takes what the 20 bytes of preamble and gap cost instead of the fit:
 *
 *   weight = (1 + 20 / mean size) / (1 + 20 / largest frame)
 *
 * or, where frames are charged in units, what the frames are charged over their bytes, relative to
 * the largest frame.
 *
 * With this weight a queue gets the frame bytes that one of the largest frames gets. The mean is
 * over the frames of the queue: shares are made of bytes, so the average over frames of
 * (x + 20) / x, in the manner of Algorithm 1, would be too much for a mixture.
 *
 * Weights change at the first choice past the end of a period, not by a timer: nobody looks at them
 * in between. Floating point is used only there, and only + - * /.
 *
 * Differs: the period is 1 ms, not the minute of the paper, since runs last milliseconds.
 * Differs: the paper does not say which size stands for a bin; here it is the upper edge of the
 * bin, or the mean of the frames in it. Above the last edge the paper's switch counts nothing; here
 * there is a bin, and the largest frame stands for it.
 * Differs: weights of the priorities multiply the grant.
 */
#include <xoff/sched.h>

#include "lists.h"
#include "rounds.h"

#define AWC_MAX_BINS 16
#define AWC_PIVOT_BYTES 146

enum awc_weights { AWC_FITTED, AWC_EXACT };
static const char *const awc_weights[] = {"fitted", "exact", NULL};
enum awc_bin_size { AWC_EDGE, AWC_MEAN };
static const char *const awc_bin_sizes[] = {"edge", "mean", NULL};

struct awc_params {
    int64_t period;
    char bins[XOFF_PARAM_TEXT];
    int64_t weights, bin_size;
    int64_t count_overhead;
    int64_t unit, added_bytes;
};

struct awc_cfg {
    xoff_time period;
    int64_t edge_bytes[AWC_MAX_BINS]; /* upper, inclusive; the last bin has no edge */
    uint32_t n_bins;
    enum awc_weights weights;
    enum awc_bin_size bin_size;
    int64_t max_frame_bytes;
    int64_t exact_bytes;               /* added to each frame for exact weights */
    int64_t weight[XOFF_N_PRIORITIES]; /* of the scenario */
    struct xoff_rounds_cfg rounds;     /* credits of the first period */
};

struct awc_bin {
    uint64_t frames, bytes;
};

/* No padding: the state may be hashed and compared as bytes. */
struct awc {
    struct xoff_rounds rounds;
    struct xoff_rounds_cfg current; /* credits by the current weights */
    xoff_time period_end_at;
    struct awc_bin bins[XOFF_N_PRIORITIES][AWC_MAX_BINS]; /* of this period */
};

static const struct xoff_param awc_table[] = {
    {.name = "period",
     .type = XOFF_P_TIME,
     .offset = offsetof(struct awc_params, period),
     .preset = "1ms",
     .min = "1us",
     .max = "60s",
     .help = "Time over which frames are counted before weights change; the source has a minute."},
    {.name = "bins",
     .type = XOFF_P_TEXT,
     .offset = offsetof(struct awc_params, bins),
     .preset = "68B, 128B, 256B, 512B, 1024B",
     .help = "Upper edges of the bins of frame sizes, ascending, at most 15; larger frames have a "
             "bin of their own."},
    {.name = "weights",
     .type = XOFF_P_CHOICE,
     .offset = offsetof(struct awc_params, weights),
     .preset = "fitted",
     .choices = awc_weights,
     .help = "Weight of a frame size: the straight lines fitted in the source, or what 20 bytes of "
             "preamble and gap make it."},
    {.name = "bin_size",
     .type = XOFF_P_CHOICE,
     .offset = offsetof(struct awc_params, bin_size),
     .preset = "edge",
     .choices = awc_bin_sizes,
     .help = "Frame size that stands for a bin: its upper edge, or the mean of the frames in it."},
    {.name = "count_overhead",
     .type = XOFF_P_BOOL,
     .offset = offsetof(struct awc_params, count_overhead),
     .preset = "true",
     .help =
         "Charge preamble and gap (20 bytes) with each frame, as the switch of the source does."},
    ROUNDS_CHARGE_PARAMS(struct awc_params),
    {0},
};

/* Configuration */

static int awc_refuse_bins(const struct lists_entry *entry, enum xoff_err_code code,
                           const char *message, struct xoff_err *err)
{
    return xoff_err_set(err, code, "bins", entry ? entry->text : "", message);
}

static int awc_read_bins(const char *list, struct awc_cfg *c, struct xoff_err *err)
{
    struct lists_entry entry;
    int64_t last = 0;
    for (const char *rest = lists_begin(list); lists_next(&rest, &entry);) {
        int64_t edge;
        const int code =
            entry.n_words == 1 ? xoff_parse_bytes(entry.words[0], &edge) : -XOFF_E_SYNTAX;
        if (code || edge < 1 || edge > UINT32_MAX)
            return awc_refuse_bins(&entry, code ? (enum xoff_err_code) - code : XOFF_E_RANGE,
                                   "an edge is a size from 1B on, such as 128B; commas stand "
                                   "between edges",
                                   err);
        if (edge <= last)
            return awc_refuse_bins(&entry, XOFF_E_CONFLICT,
                                   "bins overlap: each edge must be larger than the one before",
                                   err);
        if (c->n_bins == AWC_MAX_BINS - 1)
            return awc_refuse_bins(&entry, XOFF_E_RANGE, "there may be at most 15 edges", err);
        c->edge_bytes[c->n_bins++] = last = edge;
    }
    if (!c->n_bins)
        return awc_refuse_bins(NULL, XOFF_E_MISSING,
                               "at least one edge is needed, such as 68B, 128B, 256B", err);
    c->edge_bytes[c->n_bins++] = INT64_MAX;
    return 0;
}

/* (6.1) and (6.2). Positive up to 12928 bytes. */
static double awc_fitted(double x)
{
    return x <= AWC_PIVOT_BYTES ? -0.008 * x + 2.276 : -8.555e-5 * x + 1.106;
}

static int awc_configure(const void *params, const struct xoff_sched_env *env, void *cfg,
                         struct xoff_sched_shape *shape, struct xoff_err *err)
{
    const struct awc_params *p = params;
    struct awc_cfg *c = cfg;
    int code = rounds_check_weights(env, 0xff, err);
    if (code)
        return code;
    XOFF_ASSERT(env->max_frame_bytes > 0);
    shape->state_size = sizeof(struct awc);
    shape->every_frame = true;
    *c = (struct awc_cfg){.period = p->period,
                          .weights = (enum awc_weights)p->weights,
                          .bin_size = (enum awc_bin_size)p->bin_size,
                          .max_frame_bytes = env->max_frame_bytes};
    if ((code = awc_read_bins(p->bins, c, err)))
        return code;
    if (c->weights == AWC_FITTED && awc_fitted((double)c->max_frame_bytes) <= 0)
        return xoff_err_set(err, XOFF_E_CONFLICT, "weights", awc_weights[AWC_FITTED],
                            "the fitted lines give frames of more than 12928B no weight; with such "
                            "frames use exact");
    c->rounds.scale = 1;
    c->rounds.overhead_bytes = (p->count_overhead ? XOFF_OVERHEAD_BYTES : 0) + p->added_bytes;
    c->rounds.unit_bytes = p->unit;
    c->exact_bytes = XOFF_OVERHEAD_BYTES + p->added_bytes;
    for (uint32_t q = 0; q < XOFF_N_PRIORITIES; q++) {
        c->weight[q] = env->weight[q];
        c->rounds.credit[q] = c->max_frame_bytes * c->weight[q];
    }
    return 0;
}

static void awc_init(const void *cfg, void *state)
{
    const struct awc_cfg *c = cfg;
    struct awc *s = state;
    memset(s, 0, sizeof *s);
    rounds_init(&s->rounds);
    s->current = c->rounds;
    s->period_end_at = c->period;
}

/* Periods */

static double awc_size_of(const struct awc_cfg *c, const struct awc_bin *bin, uint32_t b)
{
    if (c->bin_size == AWC_MEAN)
        return (double)bin->bytes / (double)bin->frames;
    return (double)(c->edge_bytes[b] < c->max_frame_bytes ? c->edge_bytes[b] : c->max_frame_bytes);
}

/* What `exact` takes a frame of x bytes to cost: with preamble and gap, whether charged or not. */
static double awc_cost_of(const struct awc_cfg *c, double x)
{
    const double cost = x + (double)c->exact_bytes;
    const int64_t unit = c->rounds.unit_bytes;
    return unit > 1 ? (double)(((int64_t)(cost + 0.5) + unit - 1) / unit * unit) : cost;
}

/* The weight that the frames counted in the period give a queue; 0: there were none. */
static double awc_weight_of(const struct awc_cfg *c, const struct awc_bin bins[AWC_MAX_BINS])
{
    double frames = 0, weight = 0, bytes = 0, cost = 0;
    for (uint32_t b = 0; b < c->n_bins; b++) {
        if (!bins[b].frames)
            continue;
        const double n = (double)bins[b].frames, x = awc_size_of(c, &bins[b], b);
        frames += n;
        bytes += n * x;
        cost += n * awc_cost_of(c, x);
        weight += n * awc_fitted(x);
    }
    if (frames == 0)
        return 0;
    if (c->weights == AWC_FITTED)
        return weight / frames;
    const double largest = (double)c->max_frame_bytes;
    return cost / bytes / (awc_cost_of(c, largest) / largest);
}

/* Takes the weights of the period that is over, and begins the one that `now` is in. */
XOFF_SELDOM static void awc_end_period(const struct awc_cfg *c, struct awc *s, xoff_time now)
{
    for (uint32_t q = 0; q < XOFF_N_PRIORITIES; q++) {
        const double weight = awc_weight_of(c, s->bins[q]);
        if (weight == 0)
            continue;
        /* Rounded to the nearest byte. Weights are at most 21, so the credit stays below 2^57. */
        const double credit = weight * (double)(c->max_frame_bytes * c->weight[q]);
        s->current.credit[q] = credit > 1 ? (int64_t)(credit + 0.5) : 1;
    }
    memset(s->bins, 0, sizeof s->bins);
    s->period_end_at = (now / c->period + 1) * c->period;
}

static uint32_t awc_select(const void *cfg, void *state, const struct xoff_sched_view *view)
{
    struct awc *s = state;
    if (__builtin_expect(view->now >= s->period_end_at, 0))
        awc_end_period(cfg, s, view->now);
    return rounds_select(&s->current, ROUNDS_UNITS, &s->rounds, view, view->eligible);
}

static void awc_charge(const void *cfg, void *state, uint32_t queue, uint32_t bytes, bool emptied)
{
    const struct awc_cfg *c = cfg;
    struct awc *s = state;
    uint32_t b = 0;
    while (bytes > c->edge_bytes[b])
        b++;
    s->bins[queue][b].frames++;
    s->bins[queue][b].bytes += bytes;
    rounds_charge(&s->current, ROUNDS_UNITS, &s->rounds, queue, bytes, emptied);
}

const struct xoff_sched_ops xoff_sched_drr_awc = {
    .name = "drr-awc",
    .summary = "deficit round robin with weights that follow the frame sizes",
    .params = awc_table,
    .params_size = sizeof(struct awc_params),
    .cfg_size = sizeof(struct awc_cfg),
    .configure = awc_configure,
    .init = awc_init,
    .select = awc_select,
    .charge = awc_charge,
};
