/* Fabric `pipeline`, apart from the path of a frame: its parameters, building it, its buffers as
 * results, samples and the audit see them. */
#include <string.h>

#include <xoff/units.h>

#include "net/build.h"
#include "net/image.h"
#include "net/pipeline.h"

static void count_list(const struct sw *sw, const struct fifo *list, int64_t *bytes)
{
    uint32_t place = list->head;
    for (uint32_t k = 0; k < list->n; k++, place = store_at(&sw->store, place)->next)
        bytes[store_at(&sw->store, place)->priority] += store_at(&sw->store, place)->bytes;
}

/* Counts the frames whose output is not decided, or not reached. */
static void count_undecided(const struct pipeline *p, int64_t *bytes)
{
    const struct sw *sw = &p->sw;
    count_list(sw, &sw->processing, bytes);
    count_list(sw, &p->line, bytes);
    for (uint32_t in = 0; in < sw->n_ports; in++)
        count_list(sw, &p->inputs[in], bytes);
    if (is_stopped(p))
        bytes[store_at(&sw->store, p->stuck)->priority] += store_at(&sw->store, p->stuck)->bytes;
}

bool pipeline_buffer(const struct sw *sw, uint32_t i, struct fabric_buffer *buffer)
{
    const struct pipeline *p = pipeline_of(sw);
    if (i > (p->is_two_sided ? 0 : 1))
        return false;
    strcpy(buffer->name, p->is_two_sided ? "shared" : i == 0 ? "ingress" : "egress");
    buffer->mmu = i == 0 ? &p->ledger.mmu : &p->egress_mmu;
    if (i == 0) {
        buffer->maxima = p->ledger.maxima.counts;
        count_undecided(p, buffer->held_bytes);
        count_undecided(p, buffer->undecided_bytes);
    } else {
        buffer->n_ports = 0;
    }
    for (uint32_t out = 0; (i || p->is_two_sided) && out < sw->n_ports; out++)
        for (uint32_t priority = 0; priority < XOFF_N_PRIORITIES; priority++)
            buffer->held_bytes[priority] += sw_queue(sw, out, priority)->bytes;
    return true;
}

bool pipeline_is_coupled(const struct net_switch *spec)
{
    const struct pipeline_params *params = spec->fabric_params;
    return params && params->full == PIPELINE_STOP;
}

static void egress_view(const void *cfg, const void *state, struct xoff_mmu_view *view)
{
    const struct pipeline_egress *e = state;
    (void)cfg;
    view->used_total_bytes = view->used_bytes[XOFF_POOL_RESERVED] = e->used_bytes;
    view->peak_total_bytes = view->peak_bytes[XOFF_POOL_RESERVED] = e->peak_bytes;
    view->capacity_total_bytes = view->capacity_bytes[XOFF_POOL_RESERVED] = e->capacity_bytes;
}

static int64_t egress_used_bytes(const void *state, enum xoff_pool pool)
{
    return pool == XOFF_POOL_RESERVED ? ((const struct pipeline_egress *)state)->used_bytes : 0;
}

/* Nobody asks it to admit a frame: forward() does that. */
static const struct xoff_mmu_ops egress_ops = {
    .name = "egress",
    .view = egress_view,
    .used_bytes = egress_used_bytes,
};

static int build_egress(struct pipeline *p, int64_t limit_bytes, const struct xoff_mmu_env *env,
                        struct xoff_err *err)
{
    const int64_t n_queues = (int64_t)p->sw.n_ports * XOFF_N_PRIORITIES;
    p->egress_limit_bytes = limit_bytes;
    if (limit_bytes == XOFF_PARAM_AUTO) {
        p->egress_limit_bytes = p->sw.spec->buffer_bytes / n_queues;
        if (p->egress_limit_bytes < env->max_frame_bytes)
            p->egress_limit_bytes = env->max_frame_bytes;
    }
    if (p->egress_limit_bytes < env->max_frame_bytes) {
        char text[32];
        xoff_err_set(err, XOFF_E_CONFLICT, "egress_queue",
                     xoff_format_bytes(text, sizeof text, limit_bytes),
                     "too small: a largest frame must fit, which has ");
        xoff_err_add_int(err, env->max_frame_bytes);
        xoff_err_add(err, "B");
        return -(int)XOFF_E_CONFLICT;
    }
    p->egress.capacity_bytes = n_queues * p->egress_limit_bytes;
    p->egress_mmu = (struct xoff_mmu){.ops = &egress_ops, .state = &p->egress};
    return 0;
}

/* Without a rate the pipeline is never the bottleneck: it takes smallest frames from all ports at
 * their full rate. */
static uint64_t full_rate(const struct xoff_mmu_env *env)
{
    uint64_t rate = 0;
    for (uint32_t i = 0; i < env->n_ports; i++)
        rate +=
            (uint64_t)env->ports[i].rate_bps / (8 * (XOFF_MIN_FRAME_BYTES + XOFF_OVERHEAD_BYTES)) +
            1;
    return rate;
}

/* Warns if egress queues that decide about pauses cannot hold what still comes: the pipeline takes
 * what each port brings in its time, besides what arrives after the decision. */
static void try_egress(struct pipeline *p, const struct xoff_mmu_env *env, struct xoff_err *err)
{
    struct xoff_mmu_port *ports = build_late_ports(&p->ledger.pause, env);
    struct xoff_mmu_env late = *env;
    late.ports = ports;
    for (uint32_t i = 0; i < env->n_ports; i++)
        ports[i].headroom_bytes += xoff_bytes_in(p->processing_for, ports[i].rate_bps);
    net_try_buffer(p->sw.net, p->sw.node, &p->ledger.mmu,
                   p->stops ? TRIAL_STOPPING_QUEUES : TRIAL_EGRESS_QUEUES, &p->ledger.pause,
                   &p->ledger.edges, &late, err);
    build_free(ports);
}

int pipeline_build(struct sw *sw, const struct xoff_mmu_env *env, enum net_part *part,
                   struct xoff_err *err)
{
    struct pipeline *p = pipeline_of(sw);
    struct pipeline_params params;
    xoff_param_defaults(sw->fabric->params, &params);
    if (sw->spec->fabric_params)
        params = *(const struct pipeline_params *)sw->spec->fabric_params;
    p->n_words = (sw->n_ports + 63) / 64;
    p->inputs = build_block(sw->n_ports, sizeof *p->inputs);
    p->waiting = build_block(p->n_words, sizeof *p->waiting);
    p->packet_rate =
        params.packet_rate == XOFF_PARAM_AUTO ? full_rate(env) : (uint64_t)params.packet_rate;
    p->interval = XOFF_S / (xoff_time)p->packet_rate;
    p->fraction = (uint64_t)XOFF_S % p->packet_rate;
    p->processing_for = sw->processing_for;
    sw->processing_for = 0; /* the pipeline takes this time, and nothing else does */
    p->stops = params.full == PIPELINE_STOP;
    p->is_two_sided = sw->spec->mmu->egress_join;
    int code = 0;
    if (!p->is_two_sided)
        code = build_egress(p, params.egress_queue, env, err);
    else if (params.egress_queue != XOFF_PARAM_AUTO)
        code = xoff_err_set(err, XOFF_E_CONFLICT, "egress_queue", NULL,
                            "has no effect: mmu: two-sided has the limits of egress queues");
    struct xoff_mmu_env limited = *env;
    limited.egress_bytes = p->is_two_sided ? sw->spec->mmu->egress_most(sw->spec->mmu_params, env)
                                           : p->egress_limit_bytes;
    if (!code)
        code = ledger_build(sw, &limited, PIPELINE_PAUSE, &p->ledger, part, err);
    if (code)
        return code;
    p->tells_policy = p->ledger.pause.shape.every_frame;
    p->is_plain = !p->is_two_sided && !p->tells_policy;
    sw->signalling = p->ledger.pause.shape.signalling;
    try_egress(p, &limited, err);
    if (p->stops)
        net_try_stop(sw->net, sw->node, &p->ledger.mmu, env, err);
    return 0;
}

/* Longest list of frames that leave in a window. */
#define MOST_LEFT 4096

xoff_time pipeline_calm_longest(struct sw *sw)
{
    struct pipeline *p = pipeline_of(sw);
    const int64_t n_left = p->processing_for / (p->interval ? p->interval : 1) + 2;
    if (!p->is_plain || p->stops || p->ledger.pause.shape.has_deadline ||
        !p->ledger.mmu.ops->is_quiet || n_left > MOST_LEFT)
        return 0;
    p->left = build_block((size_t)n_left, sizeof *p->left);
    p->has_paused = true; /* nothing is known of a network that comes from an image */
    for (uint32_t i = 0; i < sw->n_ports; i++)
        if (sw->ports[i].clock.rate_bps > p->fastest_bps)
            p->fastest_bps = sw->ports[i].clock.rate_bps;
    return p->processing_for;
}

void pipeline_image(struct sw *sw, struct image *image)
{
    struct pipeline *p = pipeline_of(sw);
    image_bytes(image, &p->line, sizeof p->line);
    image_bytes(image, &p->line_at, sizeof p->line_at);
    image_bytes(image, &p->free_at, sizeof p->free_at);
    image_bytes(image, &p->carry, sizeof p->carry);
    image_bytes(image, &p->n_waiting, sizeof p->n_waiting);
    image_bytes(image, &p->turn, sizeof p->turn);
    image_bytes(image, &p->egress.used_bytes, sizeof p->egress.used_bytes);
    image_bytes(image, &p->egress.peak_bytes, sizeof p->egress.peak_bytes);
    image_bytes(image, p->inputs, sizeof *p->inputs * sw->n_ports);
    image_bytes(image, p->waiting, sizeof *p->waiting * p->n_words);
    image_bytes(image, &p->stuck, sizeof p->stuck);
    image_bytes(image, &p->limit, sizeof p->limit);
    image_ledger(image, &p->ledger);
}

void pipeline_destroy(struct sw *sw)
{
    struct pipeline *p = pipeline_of(sw);
    ledger_free(&p->ledger);
    build_free(p->inputs), build_free(p->waiting), build_free(p->left);
}

static const char *const full_words[] = {"drop", "stop", NULL};

const struct xoff_param pipeline_table[] = {
    {.name = "packet_rate",
     .type = XOFF_P_INT,
     .offset = offsetof(struct pipeline_params, packet_rate),
     .preset = "auto",
     .min = "1",
     .max = "1000G",
     .allows_auto = true,
     .help = "Frames that the pipeline takes in a second, such as 500k or 1M; auto: smallest "
             "frames from all ports at their full rate."},
    {.name = "full",
     .type = XOFF_P_CHOICE,
     .offset = offsetof(struct pipeline_params, full),
     .preset = "drop",
     .choices = full_words,
     .help = "What happens to a processed frame whose egress queue is full: it is lost, or the "
             "pipeline stops until there is room (for a lossless priority; lossy frames are "
             "lost)."},
    {.name = "egress_queue",
     .type = XOFF_P_BYTES,
     .offset = offsetof(struct pipeline_params, egress_queue),
     .preset = "auto",
     .min = "64B",
     .max = "4GB",
     .allows_auto = true,
     .help = "Size of each egress queue; auto: an equal part of a memory as large as buffer, but "
             "at least a largest frame."},
    {0},
};
