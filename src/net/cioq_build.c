/* Building and describing fabric `cioq` (switch_cioq.c). */
#include <stdlib.h>

#include <xoff/units.h>

#include "net/build.h"
#include "net/cioq.h"
#include "net/image.h"

static void output_view(const void *cfg, const void *state, struct xoff_mmu_view *view)
{
    const struct cioq_output_cfg *c = cfg;
    const struct cioq_output *o = state;
    view->used_total_bytes = view->used_bytes[XOFF_POOL_RESERVED] = o->held_bytes;
    view->peak_total_bytes = view->peak_bytes[XOFF_POOL_RESERVED] = o->peak_bytes;
    view->capacity_total_bytes = view->capacity_bytes[XOFF_POOL_RESERVED] = c->capacity_bytes;
}

static int64_t output_used_bytes(const void *state, enum xoff_pool pool)
{
    return pool == XOFF_POOL_RESERVED ? ((const struct cioq_output *)state)->held_bytes : 0;
}

/* An output buffer, as results, samples and audit read it. It is filled by grants, so nobody asks
 * it to admit a frame. */
static const struct xoff_mmu_ops output_ops = {
    .name = "output",
    .view = output_view,
    .used_bytes = output_used_bytes,
};

/* Adds the bytes of a list's frames that came in at `in`. */
static void count_list(const struct sw *sw, const struct fifo *list, uint32_t in, int64_t *held)
{
    uint32_t place = list->head;
    for (uint32_t k = 0; k < list->n; k++, place = store_at(&sw->store, place)->next) {
        const struct frame *f = store_at(&sw->store, place);
        if (f->in_port == in)
            held[f->priority] += f->bytes;
    }
}

static void count_input(const struct cioq *c, uint32_t in, int64_t *held)
{
    const struct sw *sw = &c->sw;
    for (uint32_t out = 0; out < (c->has_voqs ? sw->n_ports : 1); out++)
        for (uint32_t p = 0; p < XOFF_N_PRIORITIES; p++)
            held[p] += cioq_queue(c, in, out, p)->bytes;
    count_list(sw, &sw->processing, in, held);
    count_list(sw, &c->line, in, held);
    if (!cioq_is_in(c->idle_inputs, c->n_words, in)) {
        const struct frame *f = store_at(&sw->store, c->moving[in]);
        held[f->priority] += f->bytes;
    }
}

/* First the buffers of the inputs, then those of the outputs. */
bool cioq_buffer(const struct sw *sw, uint32_t i, struct fabric_buffer *buffer)
{
    const struct cioq *c = cioq_of(sw);
    const uint32_t port = i % sw->n_ports;
    if (i >= 2 * sw->n_ports)
        return false;
    sw_name_buffer(sw, i < sw->n_ports ? "from " : "to ", port, buffer->name);
    buffer->first_port = port;
    if (i < sw->n_ports) {
        buffer->n_ports = 1;
        buffer->mmu = &c->inputs[port].mmu;
        buffer->maxima = c->inputs[port].maxima.counts;
        count_input(c, port, buffer->held_bytes);
    } else {
        buffer->n_ports = 0;
        buffer->mmu = &c->outputs[port].mmu;
        for (uint32_t p = 0; p < XOFF_N_PRIORITIES; p++)
            buffer->held_bytes[p] = sw_queue(sw, port, p)->bytes;
    }
    return true;
}

/* Building */

static int build_input(struct cioq *c, const struct xoff_mmu_env *env, uint32_t in,
                       struct xoff_err *err)
{
    struct cioq_input *input = &c->inputs[in];
    struct xoff_mmu_port port = env->ports[in];
    struct xoff_mmu_env own = *env;
    build_add_late(&c->pause, &port);
    own.n_ports = 1;
    own.ports = &port;
    const int code = build_mmu(c->sw.net, NET_PART_MMU, c->sw.node, c->sw.spec->mmu,
                               c->sw.spec->mmu_params, &own, &input->mmu, err);
    if (code)
        return code;
    maxima_build(&input->maxima, &input->mmu);
    return 0;
}

/* Warns if input buffers have too little room for what arrives after a pause that the frames of all
 * inputs for an output decide. The second input stands for all. */
static int try_inputs(const struct cioq *c, const struct xoff_mmu_env *env, struct xoff_err *err)
{
    struct xoff_mmu_port *ports = build_late_ports(&c->pause, env);
    struct xoff_mmu_env late = *env;
    late.ports = ports;
    if (env->n_ports > 1)
        net_try_buffer(c->sw.net, c->sw.node, &c->inputs[1].mmu, TRIAL_BY_PORT, &c->pause,
                       &c->edges, &late, err);
    free(ports);
    return 0;
}

static int build_outputs(struct cioq *c, const struct cioq_params *p,
                         const struct xoff_mmu_env *env, struct xoff_err *err)
{
    const int64_t most = env->max_frame_bytes;
    struct cioq_output_cfg *cfg = &c->output_cfg;
    cfg->capacity_bytes =
        p->output_buffer == XOFF_PARAM_AUTO ? c->sw.spec->buffer_bytes : p->output_buffer;
    cfg->reserve_bytes = p->output_reserve;
    if (p->output_reserve == XOFF_PARAM_AUTO) {
        const int64_t half = cfg->capacity_bytes / 2 / XOFF_N_PRIORITIES;
        cfg->reserve_bytes = half < most ? most : half < 4 * most ? half : 4 * most;
    }
    cfg->shared_bytes = cfg->capacity_bytes - XOFF_N_PRIORITIES * cfg->reserve_bytes;
    cfg->max_frame_bytes = most;
    if (cfg->shared_bytes < (cfg->reserve_bytes < most ? most : 0)) {
        char text[32];
        xoff_err_set(err, XOFF_E_CONFLICT, "output_buffer",
                     xoff_format_bytes(text, sizeof text, cfg->capacity_bytes),
                     "too small: 8 priorities have a reserve of ");
        xoff_err_add_int(err, cfg->reserve_bytes);
        xoff_err_add(err, "B each (output_reserve), and a largest frame must fit; needed are ");
        xoff_err_add_int(err, XOFF_N_PRIORITIES * cfg->reserve_bytes +
                                  (cfg->reserve_bytes < most ? most : 0));
        xoff_err_add(err, "B");
        return -(int)XOFF_E_CONFLICT;
    }
    for (uint32_t out = 0; out < c->sw.n_ports; out++) {
        struct cioq_output *o = &c->outputs[out];
        o->open = XOFF_ALL_PRIORITIES;
        o->mmu = (struct xoff_mmu){.ops = &output_ops, .cfg = cfg, .state = o};
    }
    return 0;
}

static int build_arbiter(struct cioq *c, struct xoff_err *err)
{
    const struct net_switch *spec = c->sw.spec;
    const struct xoff_arb_ops *ops = spec->arb ? spec->arb : xoff_arbs[0];
    const struct xoff_arb_env env = {.n_ports = c->sw.n_ports};
    void *cfg = build_block(1, xoff_arb_cfg_size(ops, env.n_ports));
    const int code =
        net_configured(c->sw.net, NET_PART_ARB, c->sw.node,
                       xoff_arb_configure(&c->arb, ops, spec->arb_params, &env, cfg, err), err);
    if (!code)
        xoff_arb_init(&c->arb, build_block(1, c->arb.shape.state_size));
    return code;
}

/* A slot is the time of a cell on a line that is `speedup` times as fast as the fastest port ever
 * is. Rounded down, so that the crossbar is never slower than that. */
static xoff_time slot_of(const struct cioq_params *p, xoff_rate fastest_bps)
{
    const double seconds = (double)p->cell * 8 / (p->speedup * (double)fastest_bps);
    return (xoff_time)(seconds * (double)XOFF_S);
}

static struct cioq_params params_of(const struct net_switch *spec)
{
    struct cioq_params p;
    if (spec->fabric_params)
        return *(const struct cioq_params *)spec->fabric_params;
    xoff_param_defaults(cioq_table, &p);
    return p;
}

/* A frame that comes in just before a slot starts waits for none. */
xoff_time cioq_transit(const struct net_switch *spec, xoff_rate fastest_bps, uint32_t bytes,
                       xoff_time *carries_for)
{
    const struct cioq_params p = params_of(spec);
    *carries_for = cioq_cells(bytes, (uint32_t)p.cell) * slot_of(&p, fastest_bps);
    return p.round_trip + *carries_for;
}

static void build_tables(struct cioq *c, int64_t grants)
{
    const size_t n = c->sw.n_ports, n_words = c->n_words;
    c->idle_inputs = build_block(n_words, sizeof *c->idle_inputs);
    c->idle_outputs = build_block(n_words, sizeof *c->idle_outputs);
    for (uint32_t port = 0; port < n; port++) {
        cioq_put_in(c->idle_inputs, c->n_words, port);
        cioq_put_in(c->idle_outputs, c->n_words, port);
    }
    c->moving = build_block(n, sizeof *c->moving);
    /* A transfer ends fewer slots from now than there are turns, of which a set has whole words. */
    const int64_t most = c->output_cfg.max_frame_bytes + XOFF_OVERHEAD_BYTES;
    for (c->turn_mask = 63; c->turn_mask * (int64_t)c->cell_bytes < most + c->cell_bytes;)
        c->turn_mask = 2 * c->turn_mask + 1;
    c->turns = build_block((c->turn_mask + 1) / 64, sizeof *c->turns);
    c->done = build_block((c->turn_mask + 1) * n_words, sizeof *c->done);
    c->wanted = build_block(n_words, sizeof *c->wanted);
    c->asks = build_block(n * XOFF_N_PRIORITIES * n_words, sizeof *c->asks);
    if (grants == CIOQ_AHEAD)
        c->granted = build_block(n * XOFF_N_PRIORITIES * n_words, sizeof *c->granted);
    c->asking = build_block(n * n_words, sizeof *c->asking);
    c->voqs = build_aligned((c->has_voqs ? n * n : n) * XOFF_N_PRIORITIES, sizeof *c->voqs);
    c->last_priority = build_block(n * n, sizeof *c->last_priority);
    if (c->arb.shape.sees_bytes)
        c->pair_bytes = build_block(n * n, sizeof *c->pair_bytes);
    c->waiting_bytes = build_block(n * XOFF_N_PRIORITIES, sizeof *c->waiting_bytes);
    c->matching.at = build_block(n, sizeof *c->matching.at);
}

/* What grows with the square of the ports: virtual output queues, turns of priorities and lengths
 * of pairs; and the ports' own. */
uint64_t cioq_estimate(const struct net_switch *spec, uint32_t n_ports)
{
    const struct cioq_params *p = spec->fabric_params;
    const uint64_t n = n_ports, n_queues = !p || p->voq ? n * n : n;
    return n_queues * XOFF_N_PRIORITIES * sizeof(struct cioq_voq) +
           n * n * (sizeof(uint8_t) + sizeof(uint32_t)) +
           n * (sizeof(struct cioq_input) + sizeof(struct cioq_output));
}

int cioq_build(struct sw *sw, const struct xoff_mmu_env *env, enum net_part *part,
               struct xoff_err *err)
{
    struct cioq *c = cioq_of(sw);
    const struct cioq_params p = params_of(sw->spec);
    c->inputs = build_aligned(sw->n_ports, sizeof *c->inputs);
    c->outputs = build_aligned(sw->n_ports, sizeof *c->outputs);
    c->has_voqs = p.voq;
    c->n_words = (sw->n_ports + 63) / 64;
    c->cell_bytes = (uint32_t)p.cell;
    c->slot_for = slot_of(&p, net_fastest(sw->net->topo, sw->node));
    c->round_trip = p.round_trip;
    c->first_at = c->match_at = XOFF_NEVER;
    int code = build_outputs(c, &p, env, err);
    if (code)
        return code;
    *part = NET_PART_ARB;
    if ((code = build_arbiter(c, err)))
        return code;
    build_tables(c, p.grants);
    *part = NET_PART_PAUSE;
    struct xoff_mmu_env all = *env; /* frames for an output wait at all inputs */
    all.egress_bytes = sw->n_ports * env->buffer_bytes;
    if ((code = build_pause(sw->net, *part, sw->node, &all, &c->pause, &c->edges, err)))
        return code;
    heap_set(&sw->timers, node_timer(&sw->head, SW_TIMERS + CIOQ_PAUSE),
             xoff_pause_deadline(&c->pause));
    sw->signalling = c->pause.shape.signalling;
    *part = NET_PART_MMU;
    for (uint32_t in = 0; in < sw->n_ports && !code; in++)
        code = build_input(c, env, in, err);
    return code ? code : try_inputs(c, env, err);
}

IMAGE_SIZE(struct cioq, 1024)
IMAGE_SIZE(struct cioq_output, 136)

void cioq_image(struct sw *sw, struct image *image)
{
    struct cioq *c = cioq_of(sw);
    const size_t n = sw->n_ports, word = sizeof(uint64_t) * c->n_words;
    const size_t n_rows = n * XOFF_N_PRIORITIES, n_turns = (size_t)c->turn_mask + 1;
    image_same(image, c->has_voqs);
    image_same(image, n_turns);
    for (uint32_t port = 0; port < n; port++) {
        image_mmu(image, &c->inputs[port].mmu);
        image_maxima(image, &c->inputs[port].maxima);
        const struct xoff_mmu mmu = c->outputs[port].mmu;
        image_bytes(image, &c->outputs[port], sizeof c->outputs[port]);
        c->outputs[port].mmu = mmu;
    }
    image_part(image, "the crossbar");
    image_bytes(image, c->idle_inputs, word);
    image_bytes(image, c->idle_outputs, word);
    image_bytes(image, c->moving, sizeof *c->moving * n);
    image_bytes(image, c->turns, n_turns / 8);
    image_bytes(image, c->done, word * n_turns);
    image_bytes(image, c->wanted, word);
    image_bytes(image, c->asks, word * n_rows);
    if (image_has(image, c->granted))
        image_bytes(image, c->granted, word * n_rows);
    image_bytes(image, c->asking, word * n);
    image_bytes(image, c->voqs, sizeof *c->voqs * (c->has_voqs ? n : 1) * n_rows);
    image_bytes(image, c->last_priority, sizeof *c->last_priority * n * n);
    if (image_has(image, c->pair_bytes))
        image_bytes(image, c->pair_bytes, sizeof *c->pair_bytes * n * n);
    image_bytes(image, c->waiting_bytes, sizeof *c->waiting_bytes * n_rows);
    image_bytes(image, &c->first_at, sizeof c->first_at);
    image_bytes(image, &c->match_at, sizeof c->match_at);
    image_bytes(image, &c->first_slot, sizeof c->first_slot);
    image_bytes(image, &c->match_slot, sizeof c->match_slot);
    image_bytes(image, &c->line, sizeof c->line);
    image_part(image, "the arbiter");
    image_same(image, c->arb.shape.state_size);
    image_bytes(image, c->arb.state, c->arb.shape.state_size);
    image_pause(image, &c->pause);
}

void cioq_destroy(struct sw *sw)
{
    struct cioq *c = cioq_of(sw);
    /* There are no inputs if another part of the switch was refused first. */
    for (uint32_t in = 0; c->inputs && in < sw->n_ports; in++) {
        struct cioq_input *input = &c->inputs[in];
        free((void *)input->mmu.cfg), free(input->mmu.state), free(input->maxima.counts);
    }
    free((void *)c->arb.cfg), free(c->arb.state);
    free((void *)c->pause.cfg), free(c->pause.state), free(c->edges.at);
    free(c->idle_inputs), free(c->idle_outputs), free(c->moving);
    free(c->done), free(c->turns), free(c->wanted), free(c->asks), free(c->granted);
    free(c->asking);
    free(c->last_priority), free(c->pair_bytes), free(c->waiting_bytes), free(c->matching.at);
    build_free(c->voqs), build_free(c->inputs), build_free(c->outputs);
}

static const char *const cioq_grant_words[] = {"matched", "ahead", NULL};

const struct xoff_param cioq_table[] = {
    {.name = "voq",
     .type = XOFF_P_BOOL,
     .offset = offsetof(struct cioq_params, voq),
     .preset = "true",
     .help = "Inputs have a queue for each output and priority; false: one for each priority, in "
             "which frames for a busy output hold up all others."},
    {.name = "speedup",
     .type = XOFF_P_REAL,
     .offset = offsetof(struct cioq_params, speedup),
     .preset = "2",
     .min = "1",
     .max = "16",
     .help = "Rate of the crossbar, as a multiple of that of the fastest port."},
    {.name = "output_buffer",
     .type = XOFF_P_BYTES,
     .offset = offsetof(struct cioq_params, output_buffer),
     .preset = "auto",
     .min = "64B",
     .max = "4GB",
     .allows_auto = true,
     .help = "Buffer of each output; auto: as large as that of an input (buffer)."},
    {.name = "output_reserve",
     .type = XOFF_P_BYTES,
     .offset = offsetof(struct cioq_params, output_reserve),
     .preset = "auto",
     .min = "0B",
     .max = "4GB",
     .allows_auto = true,
     .help = "Part of an output buffer that each priority has for itself; auto: four largest "
             "frames, or less so that half of the buffer is left, but at least one."},
    {.name = "cell",
     .type = XOFF_P_BYTES,
     .offset = offsetof(struct cioq_params, cell),
     .preset = "128B",
     .min = "64B",
     .max = "16KiB",
     .help = "What the crossbar carries from a port in a slot; frames, with preamble and gap, take "
             "whole cells."},
    {.name = "grants",
     .type = XOFF_P_CHOICE,
     .offset = offsetof(struct cioq_params, grants),
     .preset = "matched",
     .choices = cioq_grant_words,
     .help = "When room at an output is given: with a match, so that a busy input loses its turn, "
             "or ahead of it, in turn among all inputs that have a frame, busy or not."},
    {.name = "round_trip",
     .type = XOFF_P_TIME,
     .offset = offsetof(struct cioq_params, round_trip),
     .preset = "0s",
     .min = "0s",
     .max = "1s",
     .help = "Time from the request for a frame to the earliest grant."},
    {0},
};
