/* Building a small world: mechanisms by their keywords, and what of their state is no state. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <xoff/headroom.h>
#include <xoff/registry.h>
#include <xoff/units.h>

#include "explore/world.h"

#define DELAY_TICKS 1
#define RESPONSE_TICKS 1
#define STREAM_KEY UINT64_C(0x5eed0f57eadfa57e)

extern const struct explorer_model world_model;

/* Reads "name=value name=value" over the defaults. */
static int set_params(const struct xoff_param *table, const char *text, void *params,
                      struct xoff_err *err)
{
    xoff_param_defaults(table, params);
    char word[64], value[64];
    for (int n; text && sscanf(text, " %63[^= ]=%63[^ ]%n", word, value, &n) == 2; text += n) {
        const struct xoff_param *p = xoff_param_find(table, word);
        if (!p)
            return xoff_err_set(err, XOFF_E_UNKNOWN, word, value, "no such parameter");
        const int code = xoff_param_set(p, params, value, err);
        if (code)
            return code;
    }
    return 0;
}

static int build_pause(struct world *w, const struct xoff_mmu_port *ports, struct xoff_err *err)
{
    const struct xoff_pause_ops *ops = xoff_pause_find(w->spec.pause);
    if (!ops)
        return xoff_err_set(err, XOFF_E_UNKNOWN, "pause", w->spec.pause, "no such policy");
    const struct xoff_pause_env env = {
        .n_ports = w->n_ports,
        .lossless = w->lossless,
        .min_frame_bytes = XOFF_MIN_FRAME_BYTES,
        .max_frame_bytes = WORLD_MAX_FRAME,
        .buffer_bytes = w->buffer_bytes,
        .egress_bytes = w->buffer_bytes,
        .ports = ports,
        .rng = {.key = STREAM_KEY},
    };
    _Alignas(16) unsigned char params[1024];
    XOFF_ASSERT(ops->params_size <= sizeof params);
    int code = set_params(ops->params, w->spec.pause_params, params, err);
    if (code)
        return code;
    void *cfg = calloc(1, xoff_pause_cfg_size(ops, w->n_ports));
    code = xoff_pause_configure(&w->pause, ops, params, &env, cfg, err);
    if (!code && w->pause.shape.has_deadline)
        code = xoff_err_set(err, XOFF_E_CONFLICT, "pause", ops->name,
                            "keeps times in its state: teach the world to move them");
    w->edges = calloc(w->pause.shape.max_edges + 1, sizeof *w->edges);
    return code;
}

static int build_mmu(struct world *w, const struct xoff_mmu_port *ports, struct xoff_err *err)
{
    const struct xoff_mmu_ops *ops = xoff_mmu_find(w->spec.mmu);
    if (!ops)
        return xoff_err_set(err, XOFF_E_UNKNOWN, "mmu", w->spec.mmu, "no such buffer");
    const struct xoff_mmu_env env = {
        .n_ports = w->n_ports,
        .lossless = w->lossless,
        .max_frame_bytes = WORLD_MAX_FRAME,
        .buffer_bytes = w->buffer_bytes,
        .nic_rate_bps = WORLD_RATE,
        .ports = ports,
    };
    _Alignas(16) unsigned char params[1024];
    XOFF_ASSERT(ops->params_size <= sizeof params);
    const int code = set_params(ops->params, w->spec.mmu_params, params, err);
    if (code)
        return code;
    void *cfg = calloc(1, xoff_mmu_cfg_size(ops, w->n_ports));
    return xoff_mmu_configure(&w->mmu, ops, params, &env, cfg, err);
}

static int build_signal(struct world *w, struct xoff_err *err)
{
    const struct xoff_pause_signalling *how = &w->pause.shape.signalling;
    const int code = xoff_signal_configure(how, WORLD_RATE, WORLD_MAX_FRAME, &w->signal_cfg, err);
    if (w->spec.fault == FAULT_LATE_REFRESH)
        w->signal_cfg.refresh_for += WORLD_TICK;
    w->gate_cfg = (struct xoff_gate_cfg){
        .wire = how->wire,
        .obeys = w->lossless,
        .response_for = RESPONSE_TICKS * WORLD_TICK,
        .rate_bps = WORLD_RATE,
    };
    return code;
}

/* Statistics. A buffer is filled and emptied at random, again and again; words in which an empty
 * buffer ever differs from a new one count what once was. */

#define ROUNDS 20000

struct held {
    struct xoff_departure frames[256];
    uint32_t n;
};

/* A random frame, more often one that comes or more often one that leaves, by turns; *kind is the
 * pool of one that came. */
static void random_frame(const struct world *w, const struct xoff_mmu mmu[], uint32_t n,
                         uint32_t round, struct xoff_rng *rng, struct held *held,
                         struct xoff_crossings out[], enum xoff_pool pools[])
{
    const bool fills = xoff_rng_below(rng, 64) < (round / 64 % 2 ? 12 : 52);
    if (fills && held->n < sizeof held->frames / sizeof *held->frames) {
        const struct xoff_arrival a = {
            .in_port = (uint16_t)xoff_rng_below(rng, w->n_ports),
            .priority = (uint8_t)(3 + xoff_rng_below(rng, 2)),
            .bytes = (uint32_t)(64 + xoff_rng_below(rng, 13)),
        };
        for (uint32_t k = 0; k < n; k++)
            pools[k] = xoff_mmu_admit(&mmu[k], &a, 0, &out[k]);
        if (pools[0] != XOFF_POOL_DROP)
            held->frames[held->n++] = (struct xoff_departure){.in_port = a.in_port,
                                                              .priority = a.priority,
                                                              .pool = (uint8_t)pools[0],
                                                              .bytes = a.bytes};
    } else if (!fills && held->n) {
        const uint32_t i = (uint32_t)xoff_rng_below(rng, held->n);
        for (uint32_t k = 0; k < n; k++)
            xoff_mmu_release(&mmu[k], &held->frames[i], 0, &out[k]);
        held->frames[i] = held->frames[--held->n];
    }
}

static void find_statistics(struct world *w)
{
    const size_t n_words = w->mmu.shape.state_size / sizeof(uint64_t);
    struct xoff_mmu mmu = w->mmu;
    struct xoff_crossings crossings;
    enum xoff_pool pool;
    struct xoff_rng rng;
    struct held held = {.n = 0};
    bool *varies = calloc(n_words, sizeof *varies);
    mmu.state = calloc(1, w->mmu.shape.state_size);
    memcpy(mmu.state, w->mmu_first, w->mmu.shape.state_size);
    xoff_rng_init(&rng, 1, 2, 3);
    for (uint32_t round = 0; round < ROUNDS; round++) {
        random_frame(w, &mmu, 1, round, &rng, &held, &crossings, &pool);
        for (size_t i = 0; i < n_words && held.n == 0; i++)
            varies[i] |= memcmp((char *)mmu.state + 8 * i, w->mmu_first + 8 * i, 8) != 0;
    }
    w->statistics = calloc(n_words, sizeof *w->statistics);
    for (uint32_t i = 0; i < n_words; i++)
        if (varies[i])
            w->statistics[w->n_statistics++] = i;
    free(varies);
    free(mmu.state);
}

/* Two buffers get the same random frames. One forgets its statistics after each: if an answer
 * differs they were more than that. */
static int check_statistics(const struct world *w, struct xoff_err *err)
{
    struct xoff_mmu mmu[2] = {w->mmu, w->mmu};
    struct xoff_crossings out[2];
    enum xoff_pool pools[2] = {XOFF_POOL_DROP, XOFF_POOL_DROP};
    struct xoff_rng rng;
    struct held held = {.n = 0};
    bool is_same = true;
    xoff_rng_init(&rng, 4, 5, 6);
    for (unsigned k = 0; k < 2; k++) {
        mmu[k].state = calloc(1, w->mmu.shape.state_size);
        memcpy(mmu[k].state, w->mmu_first, w->mmu.shape.state_size);
    }
    for (uint32_t round = 0; round < ROUNDS && is_same; round++) {
        memset(out, 0, sizeof out);
        random_frame(w, mmu, 2, round, &rng, &held, out, pools);
        is_same = pools[0] == pools[1] && memcmp(&out[0], &out[1], sizeof out[0]) == 0;
        for (uint32_t i = 0; i < w->n_statistics; i++)
            memcpy((char *)mmu[1].state + 8 * w->statistics[i], w->mmu_first + 8 * w->statistics[i],
                   8);
    }
    for (unsigned k = 0; k < 2; k++)
        free(mmu[k].state);
    if (is_same)
        return 0;
    return xoff_err_set(err, XOFF_E_CONFLICT, "mmu", w->spec.mmu,
                        "decides by what an emptied buffer remembers");
}

/* A policy's random stream is found by its key. Any draw is possible then: the model chooses one of
 * four, from each quarter of the range. */
static void find_stream(struct world *w)
{
    unsigned char *state = calloc(1, w->pause.shape.state_size + 1);
    const uint64_t key = STREAM_KEY;
    struct xoff_pause pause = w->pause;
    xoff_pause_init(&pause, state);
    w->rng_at = SIZE_MAX;
    for (size_t i = 0; i + sizeof(struct xoff_rng) <= w->pause.shape.state_size; i += 8)
        if (memcmp(state + i, &key, sizeof key) == 0)
            w->rng_at = i;
    for (uint64_t counter = 0, found = 0; found != 15; counter++) {
        struct xoff_rng rng = {STREAM_KEY, counter};
        const uint64_t quarter = xoff_rng_u64(&rng) >> 62;
        if (!(found >> quarter & 1))
            w->draws[quarter] = counter;
        found |= UINT64_C(1) << quarter;
    }
    free(state);
}

int64_t world_buffer_bytes(const struct world *w, uint32_t n_ports)
{
    const uint32_t n_shares = w->spec.is_by_port ? 1 : (uint32_t)__builtin_popcount(w->lossless);
    return w->spec.shared_bytes + n_ports * n_shares * w->headroom_bytes;
}

int world_init(struct world *w, const struct world_spec *spec, struct xoff_err *err)
{
    const struct xoff_headroom_params link = {
        .rate_bps = WORLD_RATE,
        .delay = DELAY_TICKS * WORLD_TICK,
        .max_frame_bytes = WORLD_MAX_FRAME,
        .response_for = RESPONSE_TICKS * WORLD_TICK,
    };
    *w = (struct world){
        .spec = *spec,
        .model = world_model,
        .n_ports = spec->n_senders + 1,
        .lossless = spec->n_priorities > 1 && !spec->is_second_lossy ? 0x18 : 0x08,
        .n_sizes = spec->has_short ? 2 : 1,
        .delay_ticks = DELAY_TICKS,
        .response_ticks = RESPONSE_TICKS,
        .headroom_bytes = xoff_headroom_bytes(&link) - (spec->fault == FAULT_SHORT_HEADROOM),
    };
    w->buffer_bytes = world_buffer_bytes(w, w->n_ports);
    struct xoff_mmu_port ports[WORLD_PORTS];
    for (uint32_t i = 0; i < w->n_ports; i++)
        ports[i] = (struct xoff_mmu_port){.rate_bps = WORLD_RATE,
                                          .headroom_bytes = w->headroom_bytes,
                                          .delay = link.delay,
                                          .response_for = link.response_for};
    int code = build_pause(w, ports, err);
    if (!code)
        code = build_mmu(w, ports, err);
    if (!code)
        code = build_signal(w, err);
    if (code)
        return code;
    w->pause_at = (w->mmu.shape.state_size + 15) / 16 * 16;
    w->model.state_size =
        (sizeof(struct world_state) + w->pause_at + w->pause.shape.state_size + 63) / 64 * 64;
    w->mmu_first = calloc(1, w->mmu.shape.state_size);
    xoff_mmu_init(&w->mmu, w->mmu_first);
    find_statistics(w);
    find_stream(w);
    return check_statistics(w, err);
}

void world_fini(struct world *w)
{
    free((void *)(uintptr_t)w->mmu.cfg);
    free((void *)(uintptr_t)w->pause.cfg);
    free(w->edges);
    free(w->mmu_first);
    free(w->statistics);
}
