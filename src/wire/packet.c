/* Real frames: RoCEv2 for go-back-N and datagrams, TCP, CNP, PAUSE and PFC.
 *
 * Source: the layouts are those of the codecs (layers.h). What the simulator does not know is
 * chosen here:
 *
 *   address   10.0.0.1 is host 0; MAC 02-00 and its number, 06-00 for ports of switches
 *   priority  DSCP = 8 * priority, the class selectors, as switches map them by default
 *   ECN       data is ECT(0), or CE once marked; nothing else is ECN-capable
 *   QP        2 + number of the flow at its source (0 and 1 are reserved)
 *   ports     TCP: the flow's number in 14 bits each, from 49152 at its source and 32768 at its
 *             destination; one-way connections, as after a handshake from sequence number 0
 *
 *   CNM       addresses, VLAN tag with the priority and VID 0, CN-TAG, then the PDU; its source is
 *             the port of the congestion point, and no octets of the sampled frame follow
 *   CN-TAG    behind the addresses, with the low 16 bits of the flow's number
 *   BCN       addresses, VLAN tag as in a CNM, then the message
 *   RRT       rate-regulation tag, behind the addresses
 *   rate tag  FECN's, behind the addresses and before other tags
 *
 * Queue offset and delta of CNM and BCN have the sign of Fb: negative means congestion.
 *
 * Differs: the payload of RoCE is not padded to words (the simulator counts it as it is), and the
 * message sequence number of an AETH is 0. The UDP checksum of RoCE is 0, "none": the ICRC is
 * stronger, and adapters do the same. A receiver of TCP stamps its ACKs with 0: its clock is not
 * simulated. HPCC's header lies behind BTH and AETH; with TCP, which has no place for it, zeros
 * behind the packet make up the length.
 */
#include "wire/packet.h"

#include <string.h>

#include "wire/layers.h"
#include "wire/octets.h"

_Static_assert(PACKET_BUFFER_BYTES(0) >= LAYERS_MORE_OCTETS, "room for all headers");

void xoff_packet_host_mac(uint32_t host, uint8_t mac[6])
{
    struct octets_out out = octets_out(mac, 6);
    put16(&out, 0x0200);
    put32(&out, host);
}

void xoff_packet_switch_mac(uint32_t number, uint32_t port, uint8_t mac[6])
{
    struct octets_out out = octets_out(mac, 6);
    put16(&out, 0x0600);
    put32(&out, number << 12 | (port & 0xfff));
}

/* Addresses, and the tag that asks for a rate. */
static void add_eth(struct layers *layers, const struct packet *p)
{
    struct xoff_eth *eth = &xoff_layers_add(layers, LAYER_ETH)->eth;
    xoff_packet_host_mac(p->to, eth->destination);
    xoff_packet_host_mac(p->from, eth->source);
    if (p->rate_tag.is_there)
        xoff_layers_add(layers, LAYER_RATE_TAG)->rate_tag =
            (struct xoff_rate_tag){.is_back = p->rate_tag.is_back,
                                   .kind = p->rate_tag.kind,
                                   .flow = p->flow,
                                   .rate_bps = p->rate_tag.rate_bps};
}

/* The tag that data carries for congestion points. */
static void add_tag(struct layers *layers, const struct packet *p)
{
    if (p->kind != PACKET_DATA)
        return;
    if (p->has_rrt)
        xoff_layers_add(layers, LAYER_RRT)->rrt = (struct xoff_rrt){
            .is_limited = p->is_limited, .cp_id = p->is_limited ? p->notice.cp_id : 0};
    else if (p->is_tagged)
        xoff_layers_add(layers, LAYER_CN_TAG)->cn_tag.flow = (uint16_t)p->flow;
}

static void add_ip(struct layers *layers, const struct packet *p, enum ip_protocol protocol)
{
    xoff_layers_add(layers, LAYER_IPV4)->ipv4 =
        (struct ipv4){.dscp = (uint8_t)(p->priority << 3),
                      .ecn = p->kind != PACKET_DATA ? IP_NOT_ECT
                             : p->is_marked         ? IP_CE
                                                    : IP_ECT0,
                      .bits = IPV4_DO_NOT_FRAGMENT,
                      .ttl = 64,
                      .protocol = (uint8_t)protocol,
                      .source = (10u << 24) + p->from + 1,
                      .destination = (10u << 24) + p->to + 1};
}

static void add_hops(struct layers *layers, const struct packet *p)
{
    struct hpcc_header *header = &xoff_layers_add(layers, LAYER_HPCC)->hpcc;
    header->n_hops = (uint8_t)p->n_hops;
    for (uint32_t h = 0; h < p->n_hops; h++) {
        const struct packet_hop *hop = &p->hops[h];
        const uint32_t queue = hop->queue_bytes / 80;
        header->hops[h] =
            (struct hpcc_hop){.rate_code = xoff_hpcc_code_of_rate(hop->rate_bps),
                              .at_ns = hop->at_ns & 0xffffff,
                              .tx_units = hop->tx_bytes / 128 & 0xfffff,
                              .queue_units = queue < UINT16_MAX ? (uint16_t)queue : UINT16_MAX};
    }
}

static uint8_t opcode_of(const struct packet *p)
{
    if (p->kind == PACKET_CNP)
        return ROCE_CNP;
    if (p->kind != PACKET_DATA)
        return ROCE_ACKNOWLEDGE;
    const int send = p->is_first ? (p->is_last ? ROCE_SEND_ONLY : ROCE_SEND_FIRST)
                                 : (p->is_last ? ROCE_SEND_LAST : ROCE_SEND_MIDDLE);
    return (uint8_t)(send + (p->protocol == PACKET_UC ? ROCE_UC : 0));
}

static void add_roce(struct layers *layers, const struct packet *p)
{
    add_ip(layers, p, IP_PROTOCOL_UDP);
    xoff_layers_add(layers, LAYER_UDP)->udp =
        (struct udp){.source = (uint16_t)(0xc000 | (p->hash & 0x3fff)), .destination = ROCE_PORT};
    xoff_layers_add(layers, LAYER_ROCE)->roce =
        (struct bth){.opcode = opcode_of(p),
                     .is_migrated = true,
                     .partition = 0xffff,
                     .is_becn = p->kind == PACKET_CNP,
                     .queue_pair = (p->flow + 2) & 0xffffff,
                     .asks = p->kind == PACKET_DATA && p->asks,
                     .psn = p->psn & 0xffffff};
    if (p->kind == PACKET_ACK || p->kind == PACKET_NACK)
        xoff_layers_add(layers, LAYER_AETH)->aeth.syndrome =
            p->kind == PACKET_ACK ? AETH_ACK : AETH_PSN_ERROR;
    if (p->has_hops)
        add_hops(layers, p);
    if (p->kind == PACKET_CNP)
        xoff_layers_add(layers, LAYER_CNP);
}

static void add_tcp(struct layers *layers, const struct packet *p)
{
    const bool is_data = p->kind == PACKET_DATA;
    const uint16_t here = (uint16_t)(49152 + (p->flow & 0x3fff)),
                   there = (uint16_t)(32768 + (p->flow >> 14 & 0x3fff));
    struct tcp_options options = {.has_stamps = true,
                                  .stamp = is_data ? p->stamp : 0,
                                  .echoed_stamp = is_data ? 0 : p->stamp,
                                  .n_sacks = (uint8_t)p->n_sacks};
    for (uint32_t i = 0; i < p->n_sacks; i++) {
        options.sack_from[i] = (uint32_t)(p->sack_from[i] + 1);
        options.sack_to[i] = (uint32_t)(p->sack_to[i] + 1);
    }
    add_ip(layers, p, IP_PROTOCOL_TCP);
    struct tcp *tcp = &xoff_layers_add(layers, LAYER_TCP)->tcp;
    *tcp = (struct tcp){.source = is_data ? here : there,
                        .destination = is_data ? there : here,
                        .sequence = is_data ? (uint32_t)(p->seq + 1) : 1,
                        .acknowledged = is_data ? 1 : (uint32_t)(p->seq + 1),
                        .bits = (uint8_t)(TCP_ACK | (is_data && p->is_last ? TCP_PSH : 0) |
                                          (is_data && p->is_reduced ? TCP_CWR : 0) |
                                          (!is_data && p->is_marked ? TCP_ECE : 0)),
                        .window = 0xffff};
    xoff_tcp_set_options(tcp, &options);
}

static void add_message(struct layers *layers, const struct packet *p)
{
    const struct packet_notice *n = &p->notice;
    if (!n->is_cnm && !n->is_bcn) {
        xoff_layers_add(layers, LAYER_NOTICE)->notice =
            (struct notice_frame){.kind = n->kind,
                                  .cp_id = n->cp_id,
                                  .feedback = n->feedback,
                                  .queue_offset_bytes = n->queue_offset_bytes,
                                  .queue_delta_bytes = n->queue_delta_bytes,
                                  .rate_bps = n->rate_bps,
                                  .flow = p->flow};
        return;
    }
    struct xoff_eth *eth = &layers->layer[0].eth;
    memcpy(eth->source, p->source_mac, sizeof eth->source);
    eth->n_tags = 1;
    eth->tags[0] = (struct xoff_vlan_tag){.type = XOFF_ETHERTYPE_VLAN, .priority = p->priority};
    const int16_t offset = xoff_cnm_units(n->queue_offset_bytes),
                  delta = xoff_cnm_units(n->queue_delta_bytes);
    if (n->is_cnm) {
        xoff_layers_add(layers, LAYER_CN_TAG)->cn_tag.flow = p->is_tagged ? (uint16_t)p->flow : 0;
        struct xoff_cnm *cnm = &xoff_layers_add(layers, LAYER_CNM)->cnm;
        *cnm = (struct xoff_cnm){.feedback = (uint8_t)(-n->feedback & 63),
                                 .cp_id = n->cp_id,
                                 .queue_offset = offset,
                                 .queue_delta = delta,
                                 .about_priority = n->about_priority};
        xoff_packet_host_mac(p->from, cnm->about_destination);
        return;
    }
    struct xoff_bcn *bcn = &xoff_layers_add(layers, LAYER_BCN)->bcn;
    *bcn = (struct xoff_bcn){.is_stop = !n->queue_offset_bytes && !n->queue_delta_bytes,
                             .cp_id = n->cp_id,
                             .queue_offset = offset,
                             .queue_delta = delta,
                             .flow = p->flow};
    xoff_packet_host_mac(p->from, bcn->about_destination);
}

static void add_pause(struct layers *layers, const struct packet *p)
{
    memcpy(layers->layer[0].eth.source, p->source_mac, sizeof p->source_mac);
    xoff_layers_add(layers, p->pause.opcode == XOFF_OPCODE_PFC ? LAYER_PFC : LAYER_PAUSE)->pause =
        p->pause;
}

void xoff_packet_layers(const struct packet *p, struct layers *layers)
{
    XOFF_ASSERT(p->n_sacks <= PACKET_MAX_SACKS && p->n_hops <= PACKET_MAX_HOPS);
    layers->n = layers->kinds = 0;
    add_eth(layers, p);
    add_tag(layers, p);
    if (p->kind == PACKET_PAUSE)
        add_pause(layers, p);
    else if (p->kind == PACKET_NOTICE)
        add_message(layers, p);
    else if (p->kind != PACKET_PROBE && p->protocol == PACKET_TCP)
        add_tcp(layers, p);
    else if (p->kind != PACKET_PROBE)
        add_roce(layers, p);
}

uint32_t xoff_packet_encode(const struct packet *p, struct crc32 *crc32, uint8_t *buf)
{
    struct layers layers;
    XOFF_ASSERT(p->payload_bytes <= p->bytes);
    xoff_packet_layers(p, &layers);
    const struct layers_out out = {
        .payload_octets = p->kind == PACKET_DATA ? p->payload_bytes : 0,
        .least_octets = p->bytes > PACKET_FCS_BYTES ? p->bytes - (uint32_t)PACKET_FCS_BYTES : 0,
        .has_fcs = true,
        .has_bad_fcs = p->has_bad_fcs};
    return xoff_layers_encode(&layers, &out, crc32, buf);
}
