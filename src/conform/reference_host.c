/* The reference device as an end station: sources with QCN's reaction point, and an application
 * that sends test frames back.
 *
 * Each priority of the set-up has one flow, which always has a frame to send. Its limiter paces it
 * by the octets of MAC frames, as hosts of the simulator do. Frames of a priority under congestion
 * notification carry a CN-TAG while the port is interior-ready.
 */
#include <stdlib.h>
#include <string.h>

#include <xoff/cnm.h>
#include <xoff/eth.h>

#include "conform/reference.h"
#include "conform/station.h"
#include "wire/octets.h"

#define MAX_PARAMS_BYTES 1024
#define FIRST_FLOW 0x0a00  /* flow identifiers: this and the priority */
#define FIRST_STREAM 4096u /* streams of its sources in the payload */

int reference_host_build(struct reference *r, struct xoff_err *err)
{
    const struct xoff_rp_ops *ops = xoff_rp_find("qcn");
    _Alignas(16) unsigned char params[MAX_PARAMS_BYTES];
    const struct xoff_rp_env env = {.rate_bps = r->setup.rate_bps,
                                    .frame_bytes = r->setup.source_bytes,
                                    .payload_bytes = r->setup.source_bytes};
    XOFF_ASSERT(ops->params_size <= sizeof params);
    xoff_param_defaults(ops->params, params);
    if (r->setup.rate_bps < 10 * XOFF_MBPS) { /* the default does not fit such a link */
        char text[32];
        xoff_format_rate(text, sizeof text, r->setup.rate_bps / 2);
        if (xoff_param_set(xoff_param_find(ops->params, "min_rate"), params, text, err))
            return -(int)err->code;
    }
    const int code = xoff_rp_configure(&r->rp, ops, params, &env,
                                       reference_keep(r, xoff_rp_cfg_size(ops, 1)), err);
    if (code)
        return code;
    for (uint32_t p = 0; p < XOFF_N_PRIORITIES; p++) {
        const struct xoff_rp_flow about = {.seed = p};
        struct reference_flow *flow = &r->flows[p];
        flow->rp_state = reference_keep(r, r->rp.shape.state_size);
        xoff_rp_init(&r->rp, flow->rp_state, &about, 0, &flow->answer);
        flow->next_at = r->setup.sources >> p & 1 ? 0 : XOFF_NEVER;
    }
    return 0;
}

/* Writes addresses, VLAN tag, CN-TAG where it belongs, and the type of test frames. */
static uint32_t encode_headers(const struct reference *r, const uint8_t to[6], uint8_t priority,
                               uint8_t *buf)
{
    const bool has_tag =
        r->setup.cn >> priority & 1 &&
        (r->setup.defence[0] == XOFF_DEVICE_CN_INTERIOR_READY ||
         (r->fault == FAULT_KEEPS_TAGS && r->setup.defence[0] != XOFF_DEVICE_CN_DISABLED));
    struct octets_out out = octets_out(buf, STATION_MAX_OCTETS);
    uint8_t from[6];
    reference_port_mac(r, 0, from);
    put_octets(&out, to, 6);
    put_octets(&out, from, 6);
    const uint32_t vlan = (uint32_t)XOFF_ETHERTYPE_VLAN << 16 | (uint32_t)priority << 13 | 1;
    const uint32_t tag = (uint32_t)XOFF_ETHERTYPE_CN_TAG << 16 | (FIRST_FLOW + priority);
    const bool is_tag_first = has_tag && r->fault == FAULT_TAG_FIRST;
    put32(&out, is_tag_first ? tag : vlan);
    if (has_tag)
        put32(&out, is_tag_first ? vlan : tag);
    put16(&out, STATION_ETHERTYPE);
    return (uint32_t)out.at;
}

static void offer(struct reference *r, uint8_t priority)
{
    struct reference_flow *flow = &r->flows[priority];
    uint8_t octets[STATION_MAX_OCTETS] = {0};
    struct octets_out out = octets_out(octets, sizeof octets);
    out.at = encode_headers(r, r->setup.station_mac, priority, octets);
    put32(&out, FIRST_STREAM + priority);
    put32(&out, flow->n_sent++);
    struct held *frame = held_create(octets, r->setup.source_bytes - 4);
    frame->priority = priority;
    frame->at = r->now;
    held_append(&r->ports[0].queues[priority], frame);
    r->ports[0].queue_bytes[priority] += frame->bytes;
    r->ports[0].backlog |= (uint8_t)(1u << priority);
}

void reference_host_sent(struct reference *r, const struct held *frame)
{
    struct reference_flow *flow = &r->flows[frame->priority];
    if (xoff_rp_hears_sent(&r->rp))
        xoff_rp_on_sent(&r->rp, flow->rp_state, frame->bytes, r->now, &flow->answer);
    flow->next_at = r->now;
    if (flow->answer.rate_bps < r->setup.rate_bps)
        flow->next_at += xoff_time_of_bits(8 * (uint64_t)frame->bytes, flow->answer.rate_bps);
    else
        offer(r, frame->priority);
}

/* A flow waits for its pace while it has nothing in its queue. */
static bool is_waiting(const struct reference *r, uint32_t priority)
{
    return r->flows[priority].next_at != XOFF_NEVER && !(r->ports[0].backlog >> priority & 1);
}

xoff_time reference_host_deadline(const struct reference *r)
{
    xoff_time at = XOFF_NEVER;
    if (r->setup.kind != XOFF_DEVICE_STATION)
        return at;
    for (uint32_t p = 0; p < XOFF_N_PRIORITIES; p++) {
        if (is_waiting(r, p))
            at = xoff_time_min(at, r->flows[p].next_at);
        at = xoff_time_min(at, r->flows[p].answer.deadline);
    }
    return at;
}

void reference_host_expire(struct reference *r)
{
    for (uint8_t p = 0; p < XOFF_N_PRIORITIES; p++) {
        struct reference_flow *flow = &r->flows[p];
        if (flow->answer.deadline <= r->now)
            xoff_rp_expire(&r->rp, flow->rp_state, r->now, &flow->answer);
        if (is_waiting(r, p) && flow->next_at <= r->now)
            offer(r, p);
    }
}

/* A CNM that is whole, of version 0 and about a flow of ours. */
static void hear_notice(struct reference *r, struct held *frame, uint16_t id, size_t at)
{
    struct xoff_cnm cnm;
    struct xoff_err err;
    if (r->fault == FAULT_READS_VERSIONS && frame->length > at)
        frame->octets[at] &= 0x0f;
    if (id < FIRST_FLOW || id >= FIRST_FLOW + XOFF_N_PRIORITIES || r->fault == FAULT_IGNORES_CNM ||
        xoff_cnm_decode(frame->octets, frame->length, at, &cnm, &err) < 0)
        return;
    struct reference_flow *flow = &r->flows[id - FIRST_FLOW];
    const struct xoff_notice notice = {
        .cp_id = cnm.cp_id, .feedback = -(int32_t)cnm.feedback, .kind = XOFF_NOTICE_QCN};
    xoff_rp_on_notice(&r->rp, flow->rp_state, &notice, r->now, &flow->answer);
}

/* Sends a test frame back without the CN-TAG it came with. */
static void echo(struct reference *r, const struct held *frame, const struct xoff_eth *eth,
                 size_t msdu_at)
{
    uint8_t octets[STATION_MAX_OCTETS] = {0};
    const uint8_t priority = eth->n_tags ? eth->tags[0].priority : 0;
    const uint32_t headers = encode_headers(r, eth->source, priority, octets);
    const size_t left = frame->length - msdu_at;
    if (headers + left > sizeof octets)
        return;
    memcpy(octets + headers, frame->octets + msdu_at, left);
    held_append(&r->ports[0].local,
                held_create(octets, (uint32_t)xoff_eth_pad(octets, headers + left)));
}

void reference_host_receive(struct reference *r, struct held *frame)
{
    struct xoff_eth eth;
    struct xoff_err err;
    struct xoff_cn_tag tag = {0};
    uint8_t mac[6];
    reference_port_mac(r, 0, mac);
    int at = xoff_eth_decode(frame->octets, frame->length, &eth, &err);
    if (at > 0 && !memcmp(eth.destination, mac, 6)) {
        tag.type = eth.type;
        if (eth.type == XOFF_ETHERTYPE_CN_TAG)
            at = xoff_cn_tag_decode(frame->octets, frame->length, (size_t)at, &tag, &err);
        if (at > 0 && tag.type == XOFF_ETHERTYPE_CNM)
            hear_notice(r, frame, tag.flow, (size_t)at);
        else if (at > 0 && tag.type == STATION_ETHERTYPE)
            echo(r, frame, &eth, r->fault == FAULT_KEEPS_TAGS ? 16 : (size_t)at);
    }
    free(frame);
}
