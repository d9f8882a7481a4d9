/* QCN's congestion point (IEEE 802.1Qau): samples its queue and sends quantised feedback.
 *
 * Source: IEEE 802.1Q clauses 30 to 32 and the MIB's defaults, as far as public descriptions of
 * them go; the table of intervals and the shift are those of a public qdisc. At a sample, with q
 * the bytes in the queue and q_old those at the sample before,
 *
 *   psi = (q - Qeq) + w (q - q_old)          Fb = -psi: negative means congestion
 *   F   = Qeq (2 w + 1)                      full scale
 *   Q   = 0                psi <= 0
 *         63 psi / F       0 < psi < F, rounded down       (quantiser: scale)
 *         63               psi >= F
 *   Q   = min(63, psi >> shift)                            (quantiser: shift)
 *
 * If Q > 0 a notification with feedback -Q goes to a source; a psi that rounds to 0 sends none.
 * Then q_old = q, and the next sample is due when so many bytes have joined the queue:
 *
 *   Q / 8     0    1   2   3     4   5   6     7
 *   KiB       150  75  50  37.5  30  25  21.5  18.5     times base / 150 KiB, times 1 +- jitter
 *
 * The caller counts the bytes (shape.samples), so a frame that is not sampled costs one subtraction
 * and no call. The source is that of the frame that made the sample due (sampling: arrival), or
 * that of a frame drawn from the queue by the room it takes (sampling: occupancy; Neeser et al.,
 * "Occupancy sampling for terabit CEE switches", equation 3).
 *
 * w is kept in units of 2^-10, the finest that the standard's exponent allows: everything is in
 * whole numbers, and exact for every w = 2^k with -10 <= k <= 10.
 *
 * Differs: bytes by which a frame overshoots the interval are not taken off the next one, and the
 * first interval has no jitter, since there is no draw yet. Differs: frames that are not data are
 * counted, but a sample that falls due on one waits for the next data frame.
 */
#include "mech/cp/set_point.h"

enum qcn_quantiser { QCN_SCALE, QCN_SHIFT };
static const char *const qcn_quantisers[] = {"scale", "shift", NULL};
enum qcn_sampling { QCN_ARRIVAL, QCN_OCCUPANCY };
static const char *const qcn_samplings[] = {"arrival", "occupancy", NULL};

#define QCN_FULL 63  /* largest value of six bits */
#define QCN_ONE 1024 /* w = 1 */

struct qcn_cp_params {
    int64_t qeq, base, quantiser, shift, sampling, unit;
    double w, jitter;
};

struct qcn_cp_cfg {
    uint64_t port_id;
    int64_t qeq_bytes;
    int64_t w;     /* in units of 1 / QCN_ONE */
    int64_t full;  /* F, in the same units */
    int32_t shift; /* -1: scale */
    bool from_buffer;
    uint32_t jitter; /* in units of 2^-32 */
    int64_t interval_bytes[8];
};

struct qcn_cp {
    struct xoff_cp_sampling sampling;
    int64_t old_bytes; /* the queue at the sample before */
};

static const struct xoff_param qcn_cp_table[] = {
    {.name = "qeq",
     .type = XOFF_P_BYTES,
     .offset = offsetof(struct qcn_cp_params, qeq),
     .preset = "26000B",
     .min = "100B",
     .help = "Set point of the queue, Qeq (cpQueueSizeSetPoint)."},
    {.name = "w",
     .type = XOFF_P_REAL,
     .offset = offsetof(struct qcn_cp_params, w),
     .preset = "2",
     .min = "1/1024",
     .max = "1024",
     .help = "Weight of the queue's growth in the feedback, in steps of 1/1024 (the standard's "
             "cpFeedbackWeight is its binary logarithm)."},
    {.name = "base",
     .type = XOFF_P_BYTES,
     .offset = offsetof(struct qcn_cp_params, base),
     .preset = "150000B",
     .min = "1B",
     .max = "1GB",
     .help = "Bytes between samples without congestion (cpMinSampleBase)."},
    {.name = "jitter",
     .type = XOFF_P_REAL,
     .offset = offsetof(struct qcn_cp_params, jitter),
     .preset = "0.15",
     .min = "0",
     .max = "0.99",
     .help = "Largest deviation of an interval between samples from its value, as a fraction."},
    {.name = "quantiser",
     .type = XOFF_P_CHOICE,
     .offset = offsetof(struct qcn_cp_params, quantiser),
     .preset = "scale",
     .choices = qcn_quantisers,
     .help = "How feedback becomes six bits: as a part of Qeq (2 w + 1), or by a right shift."},
    {.name = "shift",
     .type = XOFF_P_INT,
     .offset = offsetof(struct qcn_cp_params, shift),
     .preset = "auto",
     .min = "0",
     .max = "31",
     .allows_auto = true,
     .help = "Bits that quantiser: shift drops; auto: as few as bring Qeq (2 w + 1) to at most "
             "63."},
    {.name = "sampling",
     .type = XOFF_P_CHOICE,
     .offset = offsetof(struct qcn_cp_params, sampling),
     .preset = "arrival",
     .choices = qcn_samplings,
     .help = "Whose source is told: of the frame that arrived, or of one drawn from the queue by "
             "the room it takes."},
    {.name = "unit",
     .type = XOFF_P_BYTES,
     .offset = offsetof(struct qcn_cp_params, unit),
     .preset = "256B",
     .min = "16B",
     .max = "16000B",
     .help = "Size of the buffer units that sampling: occupancy draws from."},
    {0},
};

static int qcn_cp_check(const struct qcn_cp_params *p, const struct xoff_cp_env *env,
                        struct xoff_err *err)
{
    int code = set_point_check(p->qeq, env, err);
    if (!code)
        code = sampling_check("base", p->base, p->jitter, err);
    if (code)
        return code;
    if (!(p->w > 0)) /* a NaN is refused, too */
        return xoff_err_set(err, XOFF_E_RANGE, "w", NULL, "a weight is above 0");
    if (p->shift != XOFF_PARAM_AUTO && p->quantiser != QCN_SHIFT)
        return xoff_err_set(err, XOFF_E_CONFLICT, "shift", NULL,
                            "is of quantiser: shift, and the quantiser is scale");
    return 0;
}

static int32_t qcn_auto_shift(const struct qcn_cp_cfg *c)
{
    int32_t shift = 0;
    while ((c->full / QCN_ONE) >> shift > QCN_FULL)
        shift++;
    return shift;
}

/* The table of intervals, of 300 for the first. */
static const int64_t qcn_intervals[8] = {300, 150, 100, 75, 60, 50, 43, 37};

static int qcn_cp_configure(const void *params, const struct xoff_cp_env *env, void *cfg,
                            struct xoff_cp_shape *shape, struct xoff_err *err)
{
    const struct qcn_cp_params *p = params;
    struct qcn_cp_cfg *c = cfg;
    const int code = qcn_cp_check(p, env, err);
    if (code)
        return code;
    *c = (struct qcn_cp_cfg){.port_id = env->port_id,
                             .qeq_bytes = p->qeq,
                             .w = (int64_t)(p->w * QCN_ONE + 0.5),
                             .shift = -1,
                             .from_buffer = p->sampling == QCN_OCCUPANCY,
                             .jitter = (uint32_t)(p->jitter * 0x1p32)};
    c->full = c->qeq_bytes * (2 * c->w + QCN_ONE);
    if (p->quantiser == QCN_SHIFT)
        c->shift = p->shift == XOFF_PARAM_AUTO ? qcn_auto_shift(c) : (int32_t)p->shift;
    for (uint32_t i = 0; i < 8; i++) {
        const int64_t bytes = p->base * qcn_intervals[i] / qcn_intervals[0];
        c->interval_bytes[i] = bytes ? bytes : 1;
    }
    *shape = (struct xoff_cp_shape){
        .state_size = sizeof(struct qcn_cp),
        .samples = true,
        .unit_bytes = c->from_buffer ? (uint32_t)p->unit : 0,
        .skips_dequeue = true,
        .draws = true,
        .notifies = true,
    };
    return 0;
}

static void qcn_cp_init(const void *cfg, void *state)
{
    const struct qcn_cp_cfg *c = cfg;
    *(struct qcn_cp *)state = (struct qcn_cp){.sampling = {c->interval_bytes[0]}};
}

static uint32_t qcn_quantise(const struct qcn_cp_cfg *c, int64_t offset_bytes, int64_t delta_bytes)
{
    const int64_t psi = offset_bytes * QCN_ONE + c->w * delta_bytes;
    if (psi <= 0)
        return 0;
    if (c->shift >= 0) {
        const int64_t shifted = psi / QCN_ONE >> c->shift;
        return (uint32_t)(shifted < QCN_FULL ? shifted : QCN_FULL);
    }
    return psi < c->full ? (uint32_t)(QCN_FULL * psi / c->full) : QCN_FULL;
}

static int32_t qcn_clip(int64_t bytes)
{
    return (int32_t)(bytes > INT32_MAX ? INT32_MAX : bytes < INT32_MIN ? INT32_MIN : bytes);
}

/* A sample is due: the caller has counted. */
static void qcn_cp_on_enqueue(const void *cfg, void *state, const struct xoff_cp_frame *frame,
                              xoff_time now, struct xoff_cp_answer *answer)
{
    const struct qcn_cp_cfg *c = cfg;
    struct qcn_cp *s = state;
    (void)now;
    const int64_t offset_bytes = frame->queue_bytes - c->qeq_bytes;
    const int64_t delta_bytes = frame->queue_bytes - s->old_bytes;
    const uint32_t quantised = qcn_quantise(c, offset_bytes, delta_bytes);
    s->old_bytes = frame->queue_bytes;
    s->sampling.left_bytes = sampling_interval(c->interval_bytes[quantised / 8],
                                               sampling_factor(c->jitter, frame->draw));
    if (!quantised)
        return;
    answer->notify = true;
    answer->from_buffer = c->from_buffer;
    answer->notice = (struct xoff_notice){.cp_id = xoff_cp_id(c->port_id, frame->priority),
                                          .feedback = -(int32_t)quantised,
                                          .queue_offset_bytes = qcn_clip(offset_bytes),
                                          .queue_delta_bytes = qcn_clip(delta_bytes),
                                          .kind = XOFF_NOTICE_QCN};
}

const struct xoff_cp_ops xoff_cp_qcn = {
    .name = "qcn",
    .summary = "notifies sources by sampled queue length and growth (802.1Qau)",
    .params = qcn_cp_table,
    .params_size = sizeof(struct qcn_cp_params),
    .cfg_size = sizeof(struct qcn_cp_cfg),
    .configure = qcn_cp_configure,
    .init = qcn_cp_init,
    .on_enqueue = qcn_cp_on_enqueue,
};
