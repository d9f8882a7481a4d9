/* ECM's congestion point (Ethernet congestion management by backward congestion notification, BCN):
 * samples its queue and tells the source of the sampled frame how long the queue is and how it
 * grows.
 *
 * Source: public descriptions of the proposal to IEEE 802.1 (Bergamasco et al., 2005 to 2007) and
 * of its rivals; the drafts were not at hand. At a sample, with q the bytes in the queue and q_old
 * those at the sample before,
 *
 *   offset = q - Qeq, at most Qeq either way      delta = q - q_old, at most 2 Qeq either way
 *
 *   q <= Qeq          message (offset, delta) if the frame is tagged by a limiter of this point
 *   Qeq < q <= Qsc    message (offset, delta), whoever sent the frame
 *   q > Qsc           severe congestion: the message (0, 0), which stops the source (severe: stop),
 *                     or the worst that there is, (Qeq, 2 Qeq) (severe: max); with severe: none
 *                     the same as below Qsc
 *
 * (0, 0) is sent in severe congestion alone: without it a steady queue at Qeq has nothing to say.
 * Data of a limited flow carries a rate-regulation tag that names the point which limits it, so
 * only that point ever tells it to go faster.
 *
 * The next sample is due when so many bytes have joined the queue: `sample`, times 1 - jitter to
 * 1 + jitter (interval: periodic), or times an exponential draw (interval: random), which is as if
 * each byte were sampled with the same probability. Without jitter samples of constant-rate
 * traffic fall on the same flow again and again.
 *
 * Differs: bytes by which a frame overshoots the interval are not taken off the next one; the first
 * interval is `sample` itself, since there is no draw yet. Differs: frames that are not data are
 * counted, but a sample that falls due on one waits for the next data frame.
 */
#include "mech/cp/set_point.h"

enum ecm_severe { ECM_STOP, ECM_MAX, ECM_NONE };
static const char *const ecm_severes[] = {"stop", "max", "none", NULL};
enum ecm_interval { ECM_PERIODIC, ECM_RANDOM };
static const char *const ecm_intervals[] = {"periodic", "random", NULL};

struct ecm_cp_params {
    int64_t qeq, qsc, severe, sample, interval;
    double jitter;
};

struct ecm_cp_cfg {
    uint64_t port_id;
    int64_t qeq_bytes, qsc_bytes;
    int64_t sample_bytes;
    uint32_t jitter; /* in units of 2^-32 */
    bool is_random;
    bool stops; /* severe congestion is told by (0, 0) */
};

struct ecm_cp {
    struct xoff_cp_sampling sampling;
    int64_t old_bytes; /* the queue at the sample before */
};

static const struct xoff_param ecm_cp_table[] = {
    {.name = "qeq",
     .type = XOFF_P_BYTES,
     .offset = offsetof(struct ecm_cp_params, qeq),
     .preset = "24000B",
     .min = "100B",
     .max = "1GB",
     .help = "Set point of the queue, Qeq: 16 frames of 1500 bytes."},
    {.name = "qsc",
     .type = XOFF_P_BYTES,
     .offset = offsetof(struct ecm_cp_params, qsc),
     .preset = "120000B",
     .min = "100B",
     .help = "Queue above which congestion is severe, Qsc: 80 frames of 1500 bytes."},
    {.name = "severe",
     .type = XOFF_P_CHOICE,
     .offset = offsetof(struct ecm_cp_params, severe),
     .preset = "stop",
     .choices = ecm_severes,
     .help = "What severe congestion tells: to stop, BCN(0,0); the largest feedback; or nothing of "
             "its own."},
    {.name = "sample",
     .type = XOFF_P_BYTES,
     .offset = offsetof(struct ecm_cp_params, sample),
     .preset = "150000B",
     .min = "1B",
     .max = "1GB",
     .help = "Mean number of bytes from one sample to the next."},
    {.name = "interval",
     .type = XOFF_P_CHOICE,
     .offset = offsetof(struct ecm_cp_params, interval),
     .preset = "periodic",
     .choices = ecm_intervals,
     .help =
         "How intervals between samples vary: by the jitter, or at random, so that every byte is "
         "as likely as any other."},
    {.name = "jitter",
     .type = XOFF_P_REAL,
     .offset = offsetof(struct ecm_cp_params, jitter),
     .preset = "0.15",
     .min = "0",
     .max = "0.99",
     .help = "Largest deviation of a periodic interval from its value, as a fraction."},
    {0},
};

static int ecm_cp_check(const struct ecm_cp_params *p, const struct xoff_cp_env *env,
                        struct xoff_err *err)
{
    char text[32];
    const int code = set_point_check(p->qeq, env, err);
    if (code)
        return code;
    if (p->qsc <= p->qeq && p->severe != ECM_NONE)
        return xoff_err_set(err, XOFF_E_CONFLICT, "qsc",
                            xoff_format_bytes(text, sizeof text, p->qsc),
                            "severe congestion begins above the set point, qeq");
    return sampling_check("sample", p->sample, p->jitter, err);
}

static int ecm_cp_configure(const void *params, const struct xoff_cp_env *env, void *cfg,
                            struct xoff_cp_shape *shape, struct xoff_err *err)
{
    const struct ecm_cp_params *p = params;
    const int code = ecm_cp_check(p, env, err);
    if (code)
        return code;
    *(struct ecm_cp_cfg *)cfg = (struct ecm_cp_cfg){
        .port_id = env->port_id,
        .qeq_bytes = p->qeq,
        .qsc_bytes = p->severe == ECM_NONE ? INT64_MAX : p->qsc,
        .sample_bytes = p->sample,
        .jitter = (uint32_t)(p->jitter * 0x1p32),
        .is_random = p->interval == ECM_RANDOM,
        .stops = p->severe == ECM_STOP,
    };
    *shape = (struct xoff_cp_shape){
        .state_size = sizeof(struct ecm_cp),
        .samples = true,
        .skips_dequeue = true,
        .draws = true,
        .reads_tags = true,
        .notifies = true,
    };
    return 0;
}

static void ecm_cp_init(const void *cfg, void *state)
{
    const struct ecm_cp_cfg *c = cfg;
    *(struct ecm_cp *)state = (struct ecm_cp){.sampling = {c->sample_bytes}};
}

/* -ln((draw + 1) / 2^32) in units of 2^-32, from 0 to 22.2: the binary logarithm, a bit for each
 * squaring of the mantissa, times ln 2. */
static uint64_t ecm_exponential(uint32_t draw)
{
    uint64_t x = (uint64_t)draw + 1; /* 1 .. 2^32 */
    const uint32_t whole = 63u - (uint32_t)__builtin_clzll(x);
    x <<= 32 - whole; /* the mantissa: 2^32 stands for 1 */
    uint64_t log2 = (uint64_t)whole << 32;
    for (uint64_t bit = UINT64_C(1) << 31; bit; bit >>= 1) {
        x = (uint64_t)((unsigned __int128)x * x >> 32);
        if (x >> 33) {
            x >>= 1;
            log2 |= bit;
        }
    }
    const uint64_t ln_2 = UINT64_C(2977044472); /* in units of 2^-32 */
    return (uint64_t)((unsigned __int128)((UINT64_C(32) << 32) - log2) * ln_2 >> 32);
}

static int64_t ecm_next_interval(const struct ecm_cp_cfg *c, uint32_t draw)
{
    return sampling_interval(c->sample_bytes, c->is_random ? ecm_exponential(draw)
                                                           : sampling_factor(c->jitter, draw));
}

static int32_t ecm_clip(int64_t bytes, int64_t most)
{
    return (int32_t)(bytes > most ? most : bytes < -most ? -most : bytes);
}

static void ecm_cp_on_enqueue(const void *cfg, void *state, const struct xoff_cp_frame *frame,
                              xoff_time now, struct xoff_cp_answer *answer)
{
    const struct ecm_cp_cfg *c = cfg;
    struct ecm_cp *s = state;
    (void)now;
    const uint64_t cp_id = xoff_cp_id(c->port_id, frame->priority);
    const int64_t q = frame->queue_bytes;
    int32_t offset = ecm_clip(q - c->qeq_bytes, c->qeq_bytes);
    int32_t delta = ecm_clip(q - s->old_bytes, 2 * c->qeq_bytes);
    s->old_bytes = q;
    s->sampling.left_bytes = ecm_next_interval(c, frame->draw);
    if (q > c->qsc_bytes) {
        offset = c->stops ? 0 : (int32_t)c->qeq_bytes;
        delta = 2 * offset;
    } else {
        const bool is_limited_here =
            frame->tag && frame->tag->kind == XOFF_NOTICE_LIMITED && frame->tag->cp_id == cp_id;
        if ((q <= c->qeq_bytes && !is_limited_here) || (!offset && !delta))
            return;
    }
    answer->notify = true;
    answer->from_buffer = false;
    answer->notice = (struct xoff_notice){.cp_id = cp_id,
                                          .queue_offset_bytes = offset,
                                          .queue_delta_bytes = delta,
                                          .kind = XOFF_NOTICE_ECM};
}

const struct xoff_cp_ops xoff_cp_ecm = {
    .name = "ecm",
    .summary = "tells sources the length and growth of a sampled queue (ECM, BCN)",
    .params = ecm_cp_table,
    .params_size = sizeof(struct ecm_cp_params),
    .cfg_size = sizeof(struct ecm_cp_cfg),
    .configure = ecm_cp_configure,
    .init = ecm_cp_init,
    .on_enqueue = ecm_cp_on_enqueue,
};
