/* Step marking: a frame is marked when its egress queue is longer than k, the congestion point of
 * DCTCP.
 *
 * Source: Alizadeh et al., "Data center TCP (DCTCP)", SIGCOMM 2010, 3.1. The default, 30 KB per 10
 * Gb/s of the port, is that of the ns-3 RDMA family; the paper asks for more than a seventh of
 * bandwidth times RTT (30 KB are that for 168 us at 10 Gb/s) and adds room for bursts.
 *
 *   marked: q > k, q the bytes of the egress queue
 *
 * The mechanism keeps no state and draws nothing: DCTCP's share of marks needs each frame to tell
 * on which side of k the queue was. It marks as ecn with kmin = kmax does, and has its own default.
 *
 * Differs: q counts the frame itself; the paper looks at the queue that the frame finds.
 */
#include <xoff/cp.h>

enum step_at { STEP_AT_ENQUEUE, STEP_AT_DEQUEUE };
static const char *const step_ats[] = {"enqueue", "dequeue", NULL};

struct step_params {
    int64_t k, at;
};

struct step_cfg {
    int64_t k_bytes;
};

static const struct xoff_param step_table[] = {
    {.name = "k",
     .type = XOFF_P_BYTES,
     .offset = offsetof(struct step_params, k),
     .preset = "auto",
     .allows_auto = true,
     .help = "Queue length beyond which every frame is marked; auto: 30KB per 10Gbps of the "
             "port."},
    {.name = "at",
     .type = XOFF_P_CHOICE,
     .offset = offsetof(struct step_params, at),
     .preset = "enqueue",
     .choices = step_ats,
     .help = "When the queue is looked at: as the frame joins it or as it leaves."},
    {0},
};

static int step_configure(const void *params, const struct xoff_cp_env *env, void *cfg,
                          struct xoff_cp_shape *shape, struct xoff_err *err)
{
    const struct step_params *p = params;
    (void)err;
    /* 30 KB per 10 Gb/s are 3 bytes per Mb/s. */
    const int64_t k_bytes =
        p->k == XOFF_PARAM_AUTO ? (int64_t)(env->rate_bps * 3 / XOFF_MBPS) : p->k;
    *(struct step_cfg *)cfg = (struct step_cfg){.k_bytes = k_bytes};
    *shape = (struct xoff_cp_shape){
        .quiet_below = k_bytes,
        .skips_enqueue = p->at != STEP_AT_ENQUEUE,
        .skips_dequeue = p->at != STEP_AT_DEQUEUE,
    };
    return 0;
}

static bool step_marks(const void *cfg, int64_t queue_bytes, uint32_t bytes, uint32_t draw)
{
    const struct step_cfg *c = cfg;
    (void)bytes, (void)draw;
    return queue_bytes > c->k_bytes;
}

/* Called as the frame joins the queue or as it leaves; the shape says which. */
static void step_look(const void *cfg, void *state, const struct xoff_cp_frame *frame,
                      xoff_time now, struct xoff_cp_answer *answer)
{
    (void)state, (void)now;
    answer->mark = step_marks(cfg, frame->queue_bytes, frame->bytes, frame->draw);
}

const struct xoff_cp_ops xoff_cp_step = {
    .name = "step",
    .summary = "marks every frame while the queue is longer than a threshold",
    .params = step_table,
    .params_size = sizeof(struct step_params),
    .cfg_size = sizeof(struct step_cfg),
    .configure = step_configure,
    .on_enqueue = step_look,
    .on_dequeue = step_look,
    .marks = step_marks,
};
