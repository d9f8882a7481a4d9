/* ECN marking by queue length (RED on the instantaneous queue), the congestion point of DCQCN.
 *
 * Source: DCQCN (Zhu et al., 2015) 3.1, and the ns-3 RDMA family whose defaults are taken: kmin and
 * kmax 100 and 400 kB per 25 Gb/s of the port, pmax 0.2. With q the bytes of the egress queue:
 *
 *   p(q) = 0                                   q <= kmin
 *          pmax * (q - kmin) / (kmax - kmin)   kmin < q <= kmax
 *          1                                   q > kmax
 *
 * A frame is marked when its draw d, uniform in 0 .. 2^32 - 1, satisfies d / 2^32 < p(q). With
 * pmax rounded once to P / 2^32 that is d * (kmax - kmin) < P * (q - kmin) in whole numbers: no
 * division, and exact at every queue length (at q = kmax just P of the 2^32 draws mark).
 *
 * Keeps no state. Marking at dequeue tells the sender of the queue as it is when the frame leaves,
 * one queueing delay fresher than at enqueue.
 *
 * Differs: the DCQCN paper's kmin 5 KB, kmax 200 KB and pmax 1 % are for 40 Gb/s; they must be
 * given. Differs: q counts the frame itself; the ns-3 family looks at the queue after the frame has
 * left. Differs: any priority may be marked; the ns-3 family leaves out queue 0.
 */
#include <xoff/cp.h>
#include <xoff/units.h>

enum ecn_at { ECN_AT_ENQUEUE, ECN_AT_DEQUEUE };
static const char *const ecn_ats[] = {"enqueue", "dequeue", NULL};

struct ecn_params {
    int64_t kmin, kmax;
    double pmax;
    int64_t at;
};

struct ecn_cfg {
    int64_t kmin_bytes, kmax_bytes;
    uint64_t span_bytes; /* kmax - kmin */
    uint64_t pmax_draws; /* P: how many of the 2^32 draws mark at q = kmax */
    enum ecn_at at;
};

static const struct xoff_param ecn_table[] = {
    {.name = "kmin",
     .type = XOFF_P_BYTES,
     .offset = offsetof(struct ecn_params, kmin),
     .preset = "auto",
     .allows_auto = true,
     .help = "Queue length up to which nothing is marked; auto: 100KB per 25Gbps of the port."},
    {.name = "kmax",
     .type = XOFF_P_BYTES,
     .offset = offsetof(struct ecn_params, kmax),
     .preset = "auto",
     .allows_auto = true,
     .help = "Queue length beyond which every frame is marked; auto: 400KB per 25Gbps of the "
             "port."},
    {.name = "pmax",
     .type = XOFF_P_REAL,
     .offset = offsetof(struct ecn_params, pmax),
     .preset = "0.2",
     .min = "0",
     .max = "1",
     .help = "Probability of a mark when the queue is at kmax."},
    {.name = "at",
     .type = XOFF_P_CHOICE,
     .offset = offsetof(struct ecn_params, at),
     .preset = "dequeue",
     .choices = ecn_ats,
     .help = "When the queue is looked at: as the frame joins it or as it leaves."},
    {0},
};

/* 100 and 400 KB per 25 Gb/s: one byte for so many bits per second of the port. */
#define ECN_KMIN_BPS (25 * XOFF_GBPS / 100000)
#define ECN_KMAX_BPS (25 * XOFF_GBPS / 400000)

static int ecn_configure(const void *params, const struct xoff_cp_env *env, void *cfg,
                         struct xoff_err *err)
{
    const struct ecn_params *p = params;
    struct ecn_cfg *c = cfg;
    const int64_t kmin =
        p->kmin == XOFF_PARAM_AUTO ? (int64_t)(env->rate_bps / ECN_KMIN_BPS) : p->kmin;
    const int64_t kmax =
        p->kmax == XOFF_PARAM_AUTO ? (int64_t)(env->rate_bps / ECN_KMAX_BPS) : p->kmax;
    char text[32];
    if (kmin > kmax) {
        int code =
            xoff_err_set(err, XOFF_E_CONFLICT, "kmin", xoff_format_bytes(text, sizeof text, kmin),
                         "marking needs kmin <= kmax, and kmax is ");
        xoff_err_add(err, xoff_format_bytes(text, sizeof text, kmax));
        if (p->kmin == XOFF_PARAM_AUTO)
            xoff_err_add(err, " (kmin: auto is 100KB per 25Gbps of the port)");
        if (p->kmax == XOFF_PARAM_AUTO)
            xoff_err_add(err, " (kmax: auto is 400KB per 25Gbps of the port)");
        return code;
    }
    if (!(p->pmax >= 0 && p->pmax <= 1)) /* also refuses what is no number */
        return xoff_err_set(err, XOFF_E_RANGE, "pmax", NULL, "a probability is from 0 to 1");
    *c = (struct ecn_cfg){
        .kmin_bytes = kmin,
        .kmax_bytes = kmax,
        .span_bytes = (uint64_t)(kmax - kmin),
        .pmax_draws = (uint64_t)(p->pmax * 0x1p32 + 0.5),
        .at = (enum ecn_at)p->at,
    };
    return 0;
}

static void ecn_init(const void *cfg, void *state)
{
    (void)cfg, (void)state;
}

static int64_t ecn_quiet_below(const void *cfg)
{
    const struct ecn_cfg *c = cfg;
    return c->kmin_bytes;
}

static bool ecn_is_marked(const struct ecn_cfg *c, const struct xoff_cp_frame *frame)
{
    if (frame->queue_bytes <= c->kmin_bytes)
        return false;
    if (frame->queue_bytes > c->kmax_bytes)
        return true;
    /* d / 2^32 < P / 2^32 * (q - kmin) / (kmax - kmin) */
    const uint64_t above_bytes = (uint64_t)(frame->queue_bytes - c->kmin_bytes);
    return (unsigned __int128)frame->draw * c->span_bytes <
           (unsigned __int128)c->pmax_draws * above_bytes;
}

static struct xoff_cp_answer ecn_on_enqueue(const void *cfg, void *state,
                                            const struct xoff_cp_frame *frame, xoff_time now)
{
    const struct ecn_cfg *c = cfg;
    (void)state, (void)now;
    return (struct xoff_cp_answer){.mark = c->at == ECN_AT_ENQUEUE && ecn_is_marked(c, frame)};
}

static struct xoff_cp_answer ecn_on_dequeue(const void *cfg, void *state,
                                            const struct xoff_cp_frame *frame, xoff_time now)
{
    const struct ecn_cfg *c = cfg;
    (void)state, (void)now;
    return (struct xoff_cp_answer){.mark = c->at == ECN_AT_DEQUEUE && ecn_is_marked(c, frame)};
}

const struct xoff_cp_ops xoff_cp_ecn = {
    .name = "ecn",
    .summary = "marks by queue length, between two thresholds with rising probability",
    .params = ecn_table,
    .params_size = sizeof(struct ecn_params),
    .cfg_size = sizeof(struct ecn_cfg),
    .configure = ecn_configure,
    .init = ecn_init,
    .quiet_below = ecn_quiet_below,
    .on_enqueue = ecn_on_enqueue,
    .on_dequeue = ecn_on_dequeue,
};
