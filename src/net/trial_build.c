/* Does a buffer hold what may still arrive when egress queues decide about pauses?
 *
 * Buffers size headroom for pauses decided by their own thresholds. A policy that goes by the
 * length of egress queues (pfc with trigger: egress, tpfc) knows the size of the buffer but not how
 * much of it one ingress may have, so a small alpha can lose frames although a queue pauses in
 * time. No formula covers every buffer and policy, so this file tries it out: fresh copies of both
 * get frames for the queues of one port, of one priority and of all lossless ones, from one port
 * alone and from all, until each sender has been paused and has sent its worst case after that. A
 * frame lost on the way causes a warning.
 *
 * Queues of several ports that are full at a time are not tried. A buffer that has room for all of
 * them shares nothing: nearly every network with egress watermarks would be warned about, and no
 * longer told apart from one that loses frames behind a single queue. Only one that is far from
 * full by then is: queues of all ports get frames from one sender and from two, and if some are
 * lost before anybody is paused, two have filled hardly more of it than one, and most of it is
 * empty, then a limit for all queues together is too low.
 *
 * While frames are processed they are in the buffer, and no queue counts them: what a sender brings
 * in that time comes on top.
 *
 * Where frames go through a pipeline before they join an egress queue, it is the queue that has to
 * hold them: what arrives from each sender, and what the pipeline has of it by then. A pipeline
 * that stops for a full queue loses none of these, but then ingress queues fill, also with frames
 * for other queues, and a policy that does not look at them pauses nobody.
 *
 * The deadlines of a policy that decides late are handled before the next frame, as far as the
 * policy said that it may be late: what arrives in that time is part of the worst case already.
 */
#include <stdlib.h>
#include <string.h>

#include <xoff/units.h>

#include "net/model.h"

#define EGRESS 0 /* the first port that frames leave by */

struct trial {
    struct xoff_mmu mmu;
    struct xoff_pause pause;
    struct xoff_edges edges;
    enum net_trial kind;                /* BY_PORT: `mmu` is the buffer that is asked */
    unsigned char *states;              /* of the buffers */
    int64_t (*left)[XOFF_N_PRIORITIES]; /* by port: what its peer may still send; -1: not paused */
    int64_t (*queued_bytes)[XOFF_N_PRIORITIES]; /* by port that they leave by */
    uint32_t n_outs, out; /* frames leave by so many ports in turn, the last one by `out` */
    bool ends_at_pause;   /* what comes after a pause is of no interest */
    bool is_paused;       /* anybody is */
    xoff_time now;
    xoff_time line_for;    /* frames are processed so long before they join a queue */
    uint8_t priorities;    /* that are sent */
    int64_t endless_bytes; /* a queue of this length grows without end */
};

static bool has_egress_queues(enum net_trial kind)
{
    return kind == TRIAL_EGRESS_QUEUES || kind == TRIAL_STOPPING_QUEUES;
}

static size_t state_step(const struct trial *t)
{
    return (t->mmu.shape.state_size + 63) / 64 * 64;
}

static void take_edges(struct trial *t, const struct xoff_mmu_env *env)
{
    for (uint32_t i = 0; i < t->edges.n; i++) {
        const struct xoff_edge *e = &t->edges.at[i];
        t->is_paused |= e->pause;
        for (uint32_t p = 0; p < XOFF_N_PRIORITIES; p++)
            if (e->pause && e->priorities >> p & 1 && t->left[e->port][p] < 0)
                t->left[e->port][p] = env->ports[e->port].headroom_bytes +
                                      xoff_bytes_in(t->line_for, env->ports[e->port].rate_bps);
    }
}

/* The first port that sends. A receiver's one port is the sender, and its queue the "egress". */
static uint32_t first_sender(const struct trial *t)
{
    return t->kind == TRIAL_RECEIVER ? 0 : EGRESS + t->n_outs;
}

/* What is in the queue that the last frame was for; a receiver has one for all priorities. */
static int64_t queue_bytes(const struct trial *t, uint32_t priority)
{
    int64_t sum = 0;
    for (uint32_t p = 0; p < XOFF_N_PRIORITIES; p++)
        sum += t->kind == TRIAL_RECEIVER || p == priority ? t->queued_bytes[t->out][p] : 0;
    return sum;
}

/* Whether the buffer has room for a frame, and if so takes it. Egress queues with a limit of their
 * own take all, and are looked at in the end. */
static bool take(const struct trial *t, const struct xoff_arrival *a,
                 struct xoff_crossings *crossings)
{
    const struct xoff_mmu_ops *ops = t->mmu.ops;
    if (!has_egress_queues(t->kind))
        return xoff_mmu_admit(&t->mmu, a, t->now, crossings) != XOFF_POOL_DROP;
    crossings->n = 0;
    if (!ops->egress_join)
        return true;
    const struct xoff_departure frame = {.in_port = a->in_port,
                                         .out_port = a->out_port,
                                         .priority = a->priority,
                                         .pool = XOFF_POOL_RESERVED,
                                         .bytes = a->bytes};
    if (ops->egress_limit(t->mmu.cfg, t->mmu.state, &frame) != XOFF_LIMIT_NONE)
        return false;
    ops->egress_join(t->mmu.cfg, t->mmu.state, &frame);
    return true;
}

/* Sends a frame from `port`, the largest that its peer may still send; false: it found no room. */
static bool send_frame(struct trial *t, const struct xoff_mmu_env *env, uint32_t port,
                       uint32_t priority)
{
    const int64_t most = env->max_frame_bytes;
    int64_t *left = &t->left[port][priority];
    struct xoff_arrival arrival = {.in_port = (uint16_t)(t->kind == TRIAL_BY_PORT ? 0 : port),
                                   .out_port = (uint16_t)t->out,
                                   .priority = (uint8_t)priority,
                                   .bytes = (uint32_t)(*left < 0 || *left > most ? most : *left),
                                   .egress_bytes = t->queued_bytes[t->out][priority]};
    struct xoff_crossings crossings;
    t->mmu.state = t->states + (t->kind == TRIAL_BY_PORT ? port : 0) * state_step(t);
    if (!take(t, &arrival, &crossings))
        return false;
    for (uint32_t i = 0; i < crossings.n && t->kind == TRIAL_BY_PORT; i++)
        crossings.at[i].port = (uint16_t)port;
    arrival.in_port = (uint16_t)port;
    t->queued_bytes[t->out][priority] += arrival.bytes;
    xoff_pause_on_arrival(&t->pause, &arrival, &crossings, t->now, &t->edges);
    take_edges(t, env);
    t->now += t->pause.shape.late_for;
    for (xoff_time at; (at = xoff_pause_deadline(&t->pause)) <= t->now;) {
        xoff_pause_expire(&t->pause, at, &t->edges);
        take_edges(t, env);
    }
    if (*left >= 0) /* headroom includes the frame that caused the pause */
        *left -= arrival.bytes;
    if (*left < XOFF_MIN_FRAME_BYTES && *left >= 0)
        *left = 0;
    return true;
}

/* The ports up to `last` send to the queues in turn. Returns what the queue of a frame held when it
 * was lost, or -1. */
static int64_t try_senders(struct trial *t, const struct xoff_mmu_env *env, uint32_t last)
{
    for (uint32_t i = 0; i < (t->kind == TRIAL_BY_PORT ? env->n_ports : 1); i++)
        xoff_mmu_init(&t->mmu, t->states + i * state_step(t));
    xoff_pause_init(&t->pause, t->pause.state);
    memset(t->queued_bytes, 0, env->n_ports * sizeof *t->queued_bytes);
    t->out = EGRESS;
    t->is_paused = false;
    t->now = 0;
    memset(t->left, 0xff, env->n_ports * sizeof *t->left);
    for (bool is_any = true; is_any;) {
        is_any = false;
        for (uint32_t port = first_sender(t); port <= last; port++)
            for (uint32_t mask = t->priorities; mask; mask &= mask - 1) {
                const uint32_t p = (uint32_t)__builtin_ctz(mask);
                if (t->left[port][p] == 0 || (t->ends_at_pause && t->is_paused))
                    continue;
                is_any = true;
                t->out = t->out + 1 < EGRESS + t->n_outs ? t->out + 1 : EGRESS;
                if (!send_frame(t, env, port, p) || queue_bytes(t, p) >= t->endless_bytes)
                    return queue_bytes(t, p);
            }
    }
    return -1;
}

/* Far more than all senders send after a pause: a policy that comes to this never pauses one of
 * them (capfc, when contributors that it has paused keep the share that it asks for). */
static int64_t endless(const struct xoff_mmu_env *env)
{
    int64_t sum = env->buffer_bytes + env->egress_bytes;
    for (uint32_t port = 0; port < env->n_ports; port++)
        sum += env->ports[port].headroom_bytes + env->max_frame_bytes;
    return 64 * sum;
}

static void *copy_of_size(size_t size)
{
    void *memory = aligned_alloc(64, (size + 63) / 64 * 64 + 64);
    XOFF_ASSERT(memory);
    return memory;
}

/* Returns the longest queue of the trial if it is longer than egress queues can be, or -1. */
static int64_t longest(const struct trial *t, const struct xoff_mmu_env *env)
{
    const int64_t *queued_bytes = t->queued_bytes[EGRESS];
    int64_t most = queued_bytes[0];
    for (uint32_t p = 1; p < XOFF_N_PRIORITIES; p++)
        most = queued_bytes[p] > most ? queued_bytes[p] : most;
    if (most >= t->endless_bytes)
        return INT64_MAX;
    return most > env->egress_bytes ? most : -1;
}

/* Returns what the buffer held besides headroom when the frames of so many senders to all others
 * found no room and nobody was paused, or -1. */
static int64_t used_when_lost(struct trial *t, const struct xoff_mmu_env *env, uint32_t n_senders,
                              struct xoff_mmu_view *view)
{
    const uint32_t last = env->n_ports - 3 + n_senders;
    t->n_outs = env->n_ports - 2;
    t->ends_at_pause = true;
    t->priorities = env->lossless;
    if (try_senders(t, env, last) < 0)
        return -1;
    xoff_mmu_view(&t->mmu, view);
    return view->used_total_bytes - view->used_bytes[XOFF_POOL_HEADROOM];
}

static void warn_of_limit(struct trial *t, const struct xoff_mmu_env *env, struct xoff_err *err)
{
    struct xoff_mmu_view view = {0};
    char text[32];
    if (env->n_ports < 3)
        return;
    const int64_t of_one = used_when_lost(t, env, 1, &view),
                  of_two = used_when_lost(t, env, 2, &view);
    const int64_t most = view.capacity_total_bytes - view.capacity_bytes[XOFF_POOL_HEADROOM];
    if (of_one < 0 || of_two < 0 || 2 * of_two >= 3 * of_one || 2 * of_two >= most)
        return;
    xoff_err_set(
        err, XOFF_E_OK, "kind", t->mmu.ops->name,
        "may lose frames of lossless priorities: pauses are decided by egress queues here, "
        "and before one of them pauses anybody, all together can come to a limit at ");
    xoff_err_add(err, xoff_format_bytes(text, sizeof text, of_two));
    xoff_err_add(err, " of ");
    xoff_err_add(err, xoff_format_bytes(text, sizeof text, most));
    xoff_err_add(err, "; a higher limit of all queues (two-sided: ingress_limit, pool) or a lower "
                      "watermark would do");
}

static const char stop_text[] =
    ", which stops the pipeline, and no ingress queue pauses its sender then";

/* `bytes`: what a queue held when a frame was lost. */
static void warn_of_buffer(const char *name, int64_t bytes, bool stops, struct xoff_err *err)
{
    char text[32];
    xoff_err_set(
        err, XOFF_E_OK, "kind", name,
        "may lose frames of lossless priorities: pauses are decided by egress queues here, "
        "and this buffer had no room for what arrives until they act when a queue held ");
    xoff_err_add(err, xoff_format_bytes(text, sizeof text, bytes));
    if (stops)
        xoff_err_add(err, stop_text);
    xoff_err_add(err, "; a larger share for a queue (sih: alpha: 1024, reserved: 0B), a lower "
                      "watermark or a larger buffer would do");
}

/* Whether the policy pauses for an ingress queue that is above its threshold. */
static bool heeds_ingress(struct trial *t, const struct xoff_mmu_env *env)
{
    const struct xoff_crossings crossings = {
        .n = 1,
        .at[0] = {.unit = XOFF_UNIT_INGRESS,
                  .above = 1,
                  .priority = (uint8_t)__builtin_ctz(env->lossless),
                  .port = (uint16_t)first_sender(t)}};
    xoff_pause_init(&t->pause, t->pause.state);
    return xoff_pause_on_crossings(&t->pause, &crossings, 0, &t->edges) && t->edges.n;
}

/* `bytes`: how long a queue can become; INT64_MAX: without end. */
static void warn_of_queues(int64_t limit_bytes, int64_t bytes, bool stops, struct xoff_err *err)
{
    char text[32];
    xoff_err_set(err, XOFF_E_OK, "egress_queue", xoff_format_bytes(text, sizeof text, limit_bytes),
                 "may lose frames of lossless priorities: pauses are decided by egress queues "
                 "here, and with what is in the pipeline and arrives until they act a queue can "
                 "come to ");
    if (bytes == INT64_MAX) {
        xoff_err_add(err, "any length: not all senders are paused");
        return;
    }
    xoff_err_add(err, xoff_format_bytes(text, sizeof text, bytes));
    if (stops)
        xoff_err_add(err, stop_text);
    xoff_err_add(err, "; larger queues or a lower threshold would do");
}

static void warn_of_receiver(int64_t buffer_bytes, int64_t bytes, struct xoff_err *err)
{
    char text[32];
    xoff_err_set(err, XOFF_E_OK, "buffer", xoff_format_bytes(text, sizeof text, buffer_bytes),
                 "may lose frames of lossless priorities: switch.pause goes by the length of "
                 "queues, and the buffer had no room for what arrives until a pause acts when it "
                 "held ");
    xoff_err_add(err, xoff_format_bytes(text, sizeof text, bytes));
    xoff_err_add(err, "; a lower watermark or a larger buffer would do");
}

void net_try_buffer(struct net *net, uint32_t node, const struct xoff_mmu *mmu, enum net_trial kind,
                    const struct xoff_pause *pause, const struct xoff_edges *edges,
                    const struct xoff_mmu_env *env, struct xoff_err *err)
{
    if (!env->lossless || (env->n_ports < 2 && kind != TRIAL_RECEIVER) ||
        net->spec.wire->has_free_priority)
        return;
    struct trial t = {.mmu = *mmu,
                      .pause = *pause,
                      .edges = *edges,
                      .kind = kind,
                      .n_outs = 1,
                      .endless_bytes = endless(env)};
    if (kind == TRIAL_ONE_BUFFER || kind == TRIAL_BY_PORT)
        t.line_for = net_switch_of(&net->spec, node)->processing_for;
    const uint8_t first = (uint8_t)(env->lossless & -env->lossless);
    if (xoff_pause_held_by(pause, first_sender(&t), EGRESS, (uint32_t)__builtin_ctz(first)) ==
        XOFF_HOLD_BY_FRAMES)
        return;
    t.states = copy_of_size(state_step(&t) * (kind == TRIAL_BY_PORT ? env->n_ports : 1));
    t.pause.state = copy_of_size(pause->shape.state_size);
    t.left = copy_of_size(env->n_ports * sizeof *t.left);
    t.queued_bytes = copy_of_size(env->n_ports * sizeof *t.queued_bytes);
    const bool has_limit = has_egress_queues(kind) && !mmu->ops->egress_join;
    const bool stops = kind == TRIAL_STOPPING_QUEUES;
    const uint32_t n_trials = stops && heeds_ingress(&t, env) ? 0 : 4;
    int64_t held = -1;
    for (uint32_t k = 0; k < n_trials && (held < 0 || has_limit); k++) {
        t.priorities = k < 2 ? first : env->lossless;
        const int64_t lost_at = try_senders(&t, env, k % 2 ? env->n_ports - 1 : first_sender(&t));
        const int64_t found = has_limit ? longest(&t, env) : lost_at;
        held = found > held ? found : held;
    }
    if (held < 0 && kind == TRIAL_ONE_BUFFER)
        warn_of_limit(&t, env, err);
    free(t.states), free(t.pause.state), free(t.left), free(t.queued_bytes);
    if (held < 0) {
        net_configured(net, NET_PART_MMU, node, 0, err);
        return;
    }
    if (has_limit)
        warn_of_queues(env->egress_bytes, held, stops, err);
    else if (kind == TRIAL_RECEIVER)
        warn_of_receiver(env->buffer_bytes, held, err);
    else
        warn_of_buffer(mmu->ops->name, held, stops, err);
    net_configured(net,
                   has_limit                ? NET_PART_FABRIC
                   : kind == TRIAL_RECEIVER ? NET_PART_RECEIVERS
                                            : NET_PART_MMU,
                   node, 0, err);
}

/* Fills the ingress queues of a buffer as far as they go without headroom. */
static void fill_ingress(const struct xoff_mmu *mmu, const struct xoff_mmu_env *env)
{
    struct xoff_arrival arrival = {0};
    struct xoff_crossings crossings;
    enum xoff_pool pool;
    for (uint32_t i = 0; i < env->n_ports * XOFF_N_PRIORITIES; i++)
        for (arrival.bytes = env->max_frame_bytes; arrival.bytes; arrival.bytes /= 2)
            do {
                arrival.in_port = (uint16_t)(i / XOFF_N_PRIORITIES);
                arrival.priority = (uint8_t)(i % XOFF_N_PRIORITIES);
                pool = xoff_mmu_admit(mmu, &arrival, 0, &crossings);
            } while (pool == XOFF_POOL_RESERVED || pool == XOFF_POOL_SHARED);
}

void net_try_stop(struct net *net, uint32_t node, const struct xoff_mmu *mmu,
                  const struct xoff_mmu_env *env, struct xoff_err *err)
{
    if (!env->lossless || !mmu->ops->egress_join)
        return;
    struct xoff_mmu full = *mmu;
    const struct xoff_departure frame = {.priority = (uint8_t)__builtin_ctz(env->lossless),
                                         .pool = XOFF_POOL_HEADROOM,
                                         .bytes = env->max_frame_bytes};
    char text[32];
    full.state = copy_of_size(mmu->shape.state_size);
    xoff_mmu_init(&full, full.state);
    fill_ingress(&full, env);
    if (mmu->ops->egress_limit(full.cfg, full.state, &frame) != XOFF_LIMIT_NONE) {
        xoff_err_set(err, XOFF_E_OK, "kind", mmu->ops->name,
                     "may stand still for good: frames that wait for the pipeline can fill the "
                     "pool, and one that then finds no room in an empty egress queue stops it; "
                     "dedicated: ");
        xoff_err_add(err, xoff_format_bytes(text, sizeof text, env->max_frame_bytes));
        xoff_err_add(err, ", or an ingress_limit that leaves room for such a frame, would do");
        net_configured(net, NET_PART_MMU, node, 0, err);
    }
    free(full.state);
}
