/* The reference device as a bridge: addresses, buffer and pauses, and how it is configured. */
#include <stdlib.h>
#include <string.h>

#include <xoff/headroom.h>

#include "conform/reference.h"
#include "wire/octets.h"

#define VLAN_ETHERTYPE 0x8100
#define SHARED_BYTES (512 * 1024) /* of the buffer, beside headroom and reserves */
#define RESERVED_BYTES (4 * 1024)
#define MAX_PARAMS_BYTES 1024

/* Configuration */

void *reference_keep(struct reference *r, size_t size)
{
    XOFF_ASSERT(r->n_memory < sizeof r->memory / sizeof r->memory[0]);
    void *memory = calloc(1, size ? size : 1);
    XOFF_ASSERT(memory);
    r->memory[r->n_memory++] = memory;
    return memory;
}

static int64_t headroom_of(const struct reference *r)
{
    const struct xoff_headroom_params params = {
        .rate_bps = r->setup.rate_bps,
        .delay = r->setup.delay,
        .max_frame_bytes = r->setup.max_frame_bytes,
        .response_for =
            xoff_quanta_time(xoff_response_quanta(r->setup.rate_bps), r->setup.rate_bps),
    };
    return xoff_headroom_bytes(&params);
}

static int build_pause(struct reference *r, const struct xoff_mmu_env *buffer, struct xoff_err *err)
{
    const struct xoff_pause_ops *ops = xoff_pause_find("pfc");
    _Alignas(16) unsigned char params[MAX_PARAMS_BYTES];
    const struct xoff_pause_env env = {.n_ports = buffer->n_ports,
                                       .lossless = buffer->lossless,
                                       .min_frame_bytes = XOFF_MIN_FRAME_BYTES,
                                       .max_frame_bytes = buffer->max_frame_bytes,
                                       .buffer_bytes = buffer->buffer_bytes,
                                       .egress_bytes = buffer->buffer_bytes,
                                       .ports = buffer->ports};
    XOFF_ASSERT(ops->params_size <= sizeof params);
    xoff_param_defaults(ops->params, params);
    void *cfg = reference_keep(r, xoff_pause_cfg_size(ops, env.n_ports));
    const int code = xoff_pause_configure(&r->pause, ops, params, &env, cfg, err);
    if (code)
        return code;
    xoff_pause_init(&r->pause, reference_keep(r, r->pause.shape.state_size));
    r->edges.at = reference_keep(r, r->pause.shape.max_edges * sizeof *r->edges.at);
    if (r->fault == FAULT_NO_REFRESH)
        r->pause.shape.signalling.refreshes = false;
    return 0;
}

static int build_mmu(struct reference *r, struct xoff_mmu_env *env, struct xoff_err *err)
{
    const struct xoff_mmu_ops *ops = xoff_mmu_find("sih");
    _Alignas(16) unsigned char params[MAX_PARAMS_BYTES];
    XOFF_ASSERT(ops->params_size <= sizeof params);
    xoff_param_defaults(ops->params, params);
    if (r->fault == FAULT_SMALL_BUFFER) {
        char text[32];
        xoff_format_bytes(text, sizeof text, headroom_of(r) / 2);
        if (xoff_param_set(xoff_param_find(ops->params, "headroom"), params, text, err) ||
            xoff_param_set(xoff_param_find(ops->params, "allow_loss"), params, "true", err))
            return -(int)err->code;
    }
    void *cfg = reference_keep(r, xoff_mmu_cfg_size(ops, env->n_ports));
    const int code = xoff_mmu_configure(&r->mmu, ops, params, env, cfg, err);
    if (!code)
        xoff_mmu_init(&r->mmu, reference_keep(r, r->mmu.shape.state_size));
    return code;
}

/* Weights are percentages. A queue without one gets as much as the smallest: the rounds of the
 * scheduler are as long as the smallest weight makes them. */
static void set_weights(const struct reference *r, uint32_t weight[XOFF_N_PRIORITIES])
{
    uint32_t least = 100;
    for (uint32_t n = 0; n < XOFF_N_PRIORITIES; n++)
        if (r->fault != FAULT_EQUAL_SHARES)
            weight[reference_queue(r, n)] += r->setup.percent[n];
    for (uint32_t n = 0; n < XOFF_N_PRIORITIES; n++)
        least = weight[n] && weight[n] < least ? weight[n] : least;
    for (uint32_t n = 0; n < XOFF_N_PRIORITIES; n++)
        weight[n] = weight[n] ? weight[n] : least;
}

static int build_sched(struct reference *r, struct xoff_err *err)
{
    const struct xoff_sched_ops *ops = xoff_sched_find("ets");
    _Alignas(16) unsigned char params[MAX_PARAMS_BYTES];
    struct xoff_sched_env env = {.max_frame_bytes = r->setup.max_frame_bytes,
                                 .strict = r->fault == FAULT_STRICT_LAST ? 0 : r->setup.strict};
    set_weights(r, env.weight);
    XOFF_ASSERT(ops->params_size <= sizeof params);
    xoff_param_defaults(ops->params, params);
    void *cfg = reference_keep(r, xoff_sched_cfg_size(ops, r->setup.n_ports));
    return xoff_sched_configure(&r->sched, ops, params, &env, cfg, err);
}

static int build_port(struct reference *r, struct reference_port *p, struct xoff_err *err)
{
    const uint32_t response =
        xoff_response_quanta(r->setup.rate_bps) * (r->fault == FAULT_SLOW_RESPONSE ? 2 : 1);
    xoff_wire_clock_init(&p->clock, r->setup.rate_bps);
    xoff_gate_init(&p->gate);
    p->gate_cfg = (struct xoff_gate_cfg){
        .wire = XOFF_WIRE_PFC, .obeys = r->lossless, .rate_bps = r->setup.rate_bps};
    p->gate_cfg.response_for = xoff_quanta_time(response, r->setup.rate_bps);
    xoff_signal_init(&p->signal);
    p->sched_state = (char *)r->ports[0].sched_state +
                     (size_t)(p - r->ports) * ((r->sched.shape.state_size + 15) & ~(size_t)15);
    xoff_sched_init(&r->sched, p->sched_state);
    return xoff_signal_configure(&r->pause.shape.signalling, r->setup.rate_bps,
                                 r->setup.max_frame_bytes, &p->signal_cfg, err);
}

/* A device with two lossless classes obeys and sends PFC for the two lowest of its priorities. */
uint8_t reference_lossless(const struct reference *r, uint8_t enabled)
{
    uint8_t left = enabled;
    for (uint32_t n = 0, kept = 0; n < XOFF_N_PRIORITIES; n++)
        if (r->fault == FAULT_TWO_CLASSES && left >> n & 1 && ++kept > 2)
            left &= (uint8_t) ~(1u << n);
    return left;
}

int reference_build(struct reference *r, struct xoff_err *err)
{
    const uint32_t n_ports = r->setup.n_ports;
    r->lossless = reference_lossless(r, r->setup.pfc);
    for (uint32_t i = 0; i < n_ports; i++)
        r->mmu_ports[i] =
            (struct xoff_mmu_port){.rate_bps = r->setup.rate_bps,
                                   .headroom_bytes = headroom_of(r),
                                   .delay = r->setup.delay,
                                   .response_for = xoff_quanta_time(
                                       xoff_response_quanta(r->setup.rate_bps), r->setup.rate_bps)};
    const int64_t queue_bytes = headroom_of(r) + RESERVED_BYTES;
    const int64_t n_queues = __builtin_popcount(r->lossless) + 1; /* one for all that is lossy */
    struct xoff_mmu_env env = {
        .n_ports = n_ports,
        .lossless = r->lossless,
        .max_frame_bytes = r->setup.max_frame_bytes,
        .buffer_bytes = n_ports * n_queues * queue_bytes + SHARED_BYTES,
        .nic_rate_bps = r->setup.rate_bps,
        .ports = r->mmu_ports,
    };
    int code = build_pause(r, &env, err);
    if (!code)
        code = build_mmu(r, &env, err);
    if (!code)
        code = build_sched(r, err);
    if (code)
        return code;
    r->ports[0].sched_state = reference_keep(r, n_ports * (r->sched.shape.state_size + 16));
    for (uint32_t i = 0; i < n_ports && !code; i++)
        code = build_port(r, &r->ports[i], err);
    if (!code)
        code = r->setup.kind == XOFF_DEVICE_STATION ? reference_host_build(r, err)
                                                    : reference_cn_build(r, err);
    if (!code && r->setup.has_dcbx)
        code = reference_agent_build(r, err);
    return code;
}

static void held_free(struct held_list *list)
{
    while (list->head)
        free(held_first(list));
}

void reference_clear(struct reference *r)
{
    for (uint32_t i = 0; i < XOFF_CONFORM_MAX_PORTS; i++) {
        held_free(&r->ports[i].local);
        for (uint32_t n = 0; n < XOFF_N_PRIORITIES; n++)
            held_free(&r->ports[i].queues[n]);
    }
    held_free(&r->arrivals);
    held_free(&r->sent);
    free(r->taken);
    for (uint32_t i = 0; i < r->n_memory; i++)
        free(r->memory[i]);
    r->n_memory = 0;
    r->taken = NULL;
}

/* Pauses */

static void apply_edges(struct reference *r)
{
    for (uint32_t i = 0; i < r->edges.n; i++) {
        const struct xoff_edge *edge = &r->edges.at[i];
        struct reference_port *p = &r->ports[edge->port];
        xoff_signal_on_edge(&p->signal_cfg, &p->signal, edge->priorities, edge->pause);
    }
}

void reference_bridge_expire(struct reference *r, xoff_time now)
{
    xoff_pause_expire(&r->pause, now, &r->edges);
    apply_edges(r);
}

void reference_bridge_release(struct reference *r, uint16_t port, const struct held *frame)
{
    const struct xoff_departure departure = {
        .in_port = frame->in_port,
        .out_port = port,
        .priority = frame->priority,
        .pool = frame->pool,
        .bytes = frame->bytes,
        .egress_bytes = r->ports[port].queue_bytes[reference_queue(r, frame->priority)]};
    struct xoff_crossings crossings;
    xoff_mmu_release(&r->mmu, &departure, r->now, &crossings);
    if (xoff_pause_on_departure(&r->pause, &departure, &crossings, r->now, &r->edges))
        apply_edges(r);
}

void reference_bridge_enqueue(struct reference *r, uint16_t port, struct held *frame)
{
    struct reference_port *p = &r->ports[port];
    struct xoff_arrival arrival = {.in_port = frame->in_port,
                                   .out_port = port,
                                   .priority = frame->priority,
                                   .bytes = frame->bytes,
                                   .egress_bytes =
                                       p->queue_bytes[reference_queue(r, frame->priority)]};
    struct xoff_crossings crossings;
    frame->pool = (uint8_t)xoff_mmu_admit(&r->mmu, &arrival, r->now, &crossings);
    arrival.dropped = frame->pool == XOFF_POOL_DROP;
    if (xoff_pause_on_arrival(&r->pause, &arrival, &crossings, r->now, &r->edges))
        apply_edges(r);
    if (arrival.dropped) {
        free(frame);
        return;
    }
    const uint32_t queue = reference_queue(r, frame->priority);
    frame->at = r->now;
    held_append(&p->queues[queue], frame);
    p->queue_bytes[queue] += frame->bytes;
    p->backlog |= (uint8_t)(1u << queue);
    reference_cn_sample(r, port, frame);
}

/* Addresses */

static bool is_group(const uint8_t mac[6])
{
    return mac[0] & 1;
}

/* 01-80-C2-00-00-00 to -0F: no bridge forwards these (802.1Q Table 8-1). */
static bool is_reserved(const uint8_t mac[6])
{
    static const uint8_t block[5] = {0x01, 0x80, 0xc2, 0x00, 0x00};
    return !memcmp(mac, block, sizeof block) && mac[5] < 0x10;
}

static struct reference_address *find_address(struct reference *r, const uint8_t mac[6])
{
    for (uint32_t i = 0; i < r->n_addresses; i++)
        if (!memcmp(r->addresses[i].mac, mac, 6))
            return &r->addresses[i];
    return NULL;
}

static void learn(struct reference *r, const uint8_t mac[6], uint16_t port)
{
    struct reference_address *known = find_address(r, mac);
    if (!known && r->n_addresses < REFERENCE_MAX_ADDRESSES) {
        known = &r->addresses[r->n_addresses++];
        memcpy(known->mac, mac, 6);
    }
    if (known)
        known->port = port;
}

static void flood(struct reference *r, const struct held *frame)
{
    for (uint16_t i = 0; i < r->setup.n_ports; i++) {
        if (i == frame->in_port)
            continue;
        struct held *copy = held_create(frame->octets, frame->length);
        copy->in_port = frame->in_port;
        copy->priority = frame->priority;
        copy->is_data = true;
        reference_bridge_enqueue(r, i, copy);
    }
}

void reference_bridge_receive(struct reference *r, struct held *frame)
{
    struct octets_in in = octets_in(frame->octets, frame->length);
    const uint8_t *to = get_octets(&in, 6, "destination");
    const uint8_t *from = get_octets(&in, 6, "source");
    const bool is_tagged = get16(&in, "EtherType") == VLAN_ETHERTYPE;
    frame->priority = is_tagged ? (uint8_t)(get16(&in, "TCI") >> 13) : 0;
    frame->in_port = frame->port;
    if (!from || (is_reserved(to) && r->fault != FAULT_FORWARDS_CONTROL)) {
        free(frame);
        return;
    }
    if (!is_group(from))
        learn(r, from, frame->port);
    frame->is_data = true;
    reference_cn_receive(r, frame);
    const struct reference_address *known = is_group(to) ? NULL : find_address(r, to);
    if (known && known->port != frame->in_port) {
        reference_bridge_enqueue(r, known->port, frame);
        return;
    }
    if (!known)
        flood(r, frame);
    free(frame);
}
