/* Congestion notification of the reference bridge: congestion points of libxoff, the messages they
 * send, and CN-TAGs at the edge of the domain (802.1Q clauses 30 to 33).
 *
 * A message goes back by the port that the sampled frame came in, with that frame's priority and
 * VLAN. It has a CN-TAG with the flow of the frame, 0 if that had none. The encapsulated MSDU is
 * what follows the frame's VLAN tag and CN-TAG, from its EtherType on.
 */
#include <stdlib.h>
#include <string.h>

#include <xoff/cnm.h>
#include <xoff/eth.h>

#include "conform/reference.h"

#define MAX_PARAMS_BYTES 1024
#define TAG_OCTETS 4
#define MAX_CNM_OCTETS 128

static bool is_cn(const struct reference *r, uint16_t port, uint8_t priority)
{
    return r->setup.cn >> priority & 1 && r->setup.defence[port] != XOFF_DEVICE_CN_DISABLED;
}

int reference_cn_build(struct reference *r, struct xoff_err *err)
{
    const struct xoff_cp_ops *ops = xoff_cp_find("qcn");
    _Alignas(16) unsigned char params[MAX_PARAMS_BYTES];
    XOFF_ASSERT(ops->params_size <= sizeof params);
    xoff_param_defaults(ops->params, params);
    xoff_rng_init(&r->rng, 1, 0, 0);
    for (uint32_t i = 0; i < r->setup.n_ports && r->setup.cn; i++) {
        const struct xoff_cp_env env = {
            .rate_bps = r->setup.rate_bps, .buffer_bytes = INT64_C(1) << 30, .port_id = i + 1};
        const int code = xoff_cp_configure(&r->cps[i], ops, params, &env,
                                           reference_keep(r, xoff_cp_cfg_size(ops, 1)), err);
        if (code)
            return code;
        for (uint32_t p = 0; p < XOFF_N_PRIORITIES; p++) {
            r->cp_states[i][p] = reference_keep(r, r->cps[i].shape.state_size);
            xoff_cp_init(&r->cps[i], r->cp_states[i][p]);
        }
    }
    return 0;
}

/* Where the headers of a frame end, and the CN-TAG among them. */
struct headers {
    struct xoff_eth eth;
    struct xoff_cn_tag tag; /* flow 0 without a tag */
    bool has_tag;
    uint32_t tag_at;  /* of its EtherType */
    uint32_t msdu_at; /* of the EtherType behind VLAN tag and CN-TAG */
};

static bool read_headers(const struct held *frame, struct headers *h)
{
    struct xoff_err err;
    const int at = xoff_eth_decode(frame->octets, frame->length, &h->eth, &err);
    if (at < 0)
        return false;
    h->has_tag = h->eth.type == XOFF_ETHERTYPE_CN_TAG;
    h->tag_at = h->msdu_at = (uint32_t)at - 2;
    h->tag = (struct xoff_cn_tag){0};
    if (!h->has_tag)
        return true;
    h->msdu_at += TAG_OCTETS;
    return xoff_cn_tag_decode(frame->octets, frame->length, (size_t)at, &h->tag, &err) >= 0;
}

void reference_cn_receive(struct reference *r, struct held *frame)
{
    const bool is_edge = r->setup.defence[frame->in_port] == XOFF_DEVICE_CN_EDGE;
    struct headers h;
    if (!(r->setup.cn >> frame->priority & 1) || !is_edge || r->fault == FAULT_NO_OVERRIDE ||
        !read_headers(frame, &h) || !h.eth.n_tags)
        return;
    frame->priority = r->setup.cn_alternate;
    frame->octets[14] = (uint8_t)((frame->octets[14] & 0x1f) | frame->priority << 5);
}

void reference_cn_send(struct reference *r, uint16_t port, struct held *frame)
{
    const enum xoff_device_defence mode = r->setup.defence[port];
    const bool is_out = mode == XOFF_DEVICE_CN_EDGE || mode == XOFF_DEVICE_CN_INTERIOR;
    struct headers h;
    const bool strips = r->fault == FAULT_STRIPS_TAGS || (is_out && r->fault != FAULT_KEEPS_TAGS);
    if (!(r->setup.cn >> frame->priority & 1) || !strips || !frame->is_data ||
        !read_headers(frame, &h) || !h.has_tag)
        return;
    memmove(frame->octets + h.tag_at, frame->octets + h.tag_at + TAG_OCTETS,
            frame->length - h.tag_at - TAG_OCTETS);
    memset(frame->octets + frame->length - TAG_OCTETS, 0, TAG_OCTETS);
    if (frame->length > XOFF_ETH_MIN_OCTETS) /* shorter frames stay padded */
        frame->length = frame->length - TAG_OCTETS > XOFF_ETH_MIN_OCTETS
                            ? frame->length - TAG_OCTETS
                            : XOFF_ETH_MIN_OCTETS;
    frame->bytes = frame->length + XOFF_ETH_FCS_OCTETS;
}

static void fill_cnm(const struct reference *r, const struct held *frame, const struct headers *h,
                     const struct xoff_notice *notice, struct xoff_cnm *cnm)
{
    const uint32_t left = frame->length - h->msdu_at;
    const int sign = r->fault == FAULT_CNM_SIGN ? -1 : 1;
    *cnm = (struct xoff_cnm){
        .feedback = (uint8_t)-notice->feedback,
        .cp_id = notice->cp_id,
        .queue_offset = xoff_cnm_units(sign * notice->queue_offset_bytes),
        .queue_delta = xoff_cnm_units(sign * notice->queue_delta_bytes),
        .about_priority = frame->priority,
        .msdu_octets = (uint8_t)(left < r->setup.cn_min_header ? left : r->setup.cn_min_header),
    };
    memcpy(cnm->about_destination, h->eth.destination, 6);
    memcpy(cnm->msdu, frame->octets + h->msdu_at, cnm->msdu_octets);
}

/* Sends the message of a congestion point of `port` to the source of the frame. */
static void notify(struct reference *r, uint16_t port, const struct held *frame,
                   const struct xoff_notice *notice)
{
    uint8_t octets[MAX_CNM_OCTETS];
    struct headers h;
    struct xoff_cnm cnm;
    if (!read_headers(frame, &h))
        return;
    fill_cnm(r, frame, &h, notice, &cnm);
    const struct xoff_cn_tag tag = {.flow = h.tag.flow, .type = XOFF_ETHERTYPE_CNM};
    struct xoff_eth eth = h.eth;
    eth.type = XOFF_ETHERTYPE_CN_TAG;
    memcpy(eth.destination, h.eth.source, 6);
    reference_port_mac(r, port, eth.source);
    if (r->fault == FAULT_CNM_ADDRESS) /* what the dissertation's 2.1.3 can be read to say */
        memcpy(eth.destination, h.eth.destination, 6);
    size_t length = xoff_eth_encode(&eth, octets, sizeof octets);
    length += xoff_cn_tag_encode(&tag, octets + length, sizeof octets - length);
    const size_t cnm_at = length;
    length += xoff_cnm_encode(&cnm, octets + length, sizeof octets - length);
    if (r->fault == FAULT_CNM_VERSION)
        octets[cnm_at] |= 0x10;
    struct held *message = held_create(octets, (uint32_t)xoff_eth_pad(octets, length));
    message->in_port = port;
    message->priority = frame->priority;
    reference_bridge_enqueue(r, frame->in_port, message);
}

void reference_cn_sample(struct reference *r, uint16_t port, const struct held *frame)
{
    const uint8_t p = frame->priority;
    if (!is_cn(r, port, p) || !xoff_cp_is_due(r->cp_states[port][p], frame->bytes, frame->is_data))
        return;
    const struct xoff_cp_frame seen = {.queue_bytes =
                                           r->ports[port].queue_bytes[reference_queue(r, p)],
                                       .bytes = frame->bytes,
                                       .draw = xoff_rng_u32(&r->rng),
                                       .priority = p,
                                       .is_data = true};
    struct xoff_cp_answer answer;
    xoff_cp_on_enqueue(&r->cps[port], r->cp_states[port][p], &seen, r->now, &answer);
    if (answer.notify)
        notify(r, port, frame, &answer.notice);
}
