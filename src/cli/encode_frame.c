/* Frames of all kinds that xoff encode knows. */
#include <string.h>

#include "cli/encode.h"

static const uint8_t mac_control_group[6] = {0x01, 0x80, 0xc2, 0x00, 0x00, 0x01};

void encode_defaults(struct encode_arguments *a)
{
    static const uint8_t source[6] = {2, 0, 0, 0, 0, 1}, destination[6] = {2, 0, 0, 0, 0, 2};
    *a = (struct encode_arguments){.kind = N_ENCODE_KINDS};
    memcpy(a->eth.source, source, 6);
    memcpy(a->eth.destination, destination, 6);
    a->cnm.feedback = 1;
    memcpy(a->cnm.about_destination, destination, 6);
    memcpy(a->bcn.about_destination, destination, 6);
    a->rate_tag.kind = 2; /* FECN, as in notice.h */
    a->rate_tag.rate_bps = XOFF_RATE_TAG_UNSET;
    a->ctlos.type = XOFF_CTLOS_LLR_ACK;
    a->ip = (struct ipv4){.bits = IPV4_DO_NOT_FRAGMENT,
                          .ttl = 64,
                          .protocol = IP_PROTOCOL_UDP,
                          .source = 0x0a000001,
                          .destination = 0x0a000002};
    a->bth = (struct bth){.is_migrated = true, .partition = 0xffff, .queue_pair = 2};
    a->aeth.syndrome = AETH_ACK;
    a->lldp.ttl_s = 120;
    a->pdu.ets.max_classes = 8;
    a->pdu.pfc.max_classes = 8;
}

static void add_tags(struct layers *layers, const struct encode_arguments *a)
{
    if (a->has_rate_tag || a->kind == ENCODE_RATE_TAG)
        xoff_layers_add(layers, LAYER_RATE_TAG)->rate_tag = a->rate_tag;
    if (a->has_rrt)
        xoff_layers_add(layers, LAYER_RRT)->rrt = a->rrt;
    if (a->has_cn_tag || a->kind == ENCODE_CNM)
        xoff_layers_add(layers, LAYER_CN_TAG)->cn_tag = a->cn_tag;
}

static void add_roce(struct layers *layers, const struct encode_arguments *a)
{
    xoff_layers_add(layers, LAYER_IPV4)->ipv4 = a->ip;
    xoff_layers_add(layers, LAYER_UDP)->udp =
        (struct udp){.source = 0xc000, .destination = ROCE_PORT};
    struct bth *bth = &xoff_layers_add(layers, LAYER_ROCE)->roce;
    *bth = a->bth;
    bth->opcode = a->kind == ENCODE_DATA  ? ROCE_SEND_ONLY
                  : a->kind == ENCODE_ACK ? ROCE_ACKNOWLEDGE
                                          : ROCE_CNP;
    bth->is_becn = a->kind == ENCODE_CNP;
    if (a->kind == ENCODE_ACK)
        xoff_layers_add(layers, LAYER_AETH)->aeth = a->aeth;
    if (a->kind == ENCODE_CNP)
        xoff_layers_add(layers, LAYER_CNP);
}

static void add_message(struct layers *layers, const struct encode_arguments *a)
{
    switch (a->kind) {
    case ENCODE_PAUSE:
    case ENCODE_PFC: {
        struct xoff_pause_frame *pause =
            &xoff_layers_add(layers, a->kind == ENCODE_PFC ? LAYER_PFC : LAYER_PAUSE)->pause;
        *pause = a->pause;
        pause->opcode = a->kind == ENCODE_PFC ? XOFF_OPCODE_PFC : XOFF_OPCODE_PAUSE;
        return;
    }
    case ENCODE_CNM:
        xoff_layers_add(layers, LAYER_CNM)->cnm = a->cnm;
        return;
    case ENCODE_BCN:
        xoff_layers_add(layers, LAYER_BCN)->bcn = a->bcn;
        return;
    case ENCODE_CC_UPDATE:
        memcpy(layers->layer[0].eth.destination, mac_control_group, 6);
        xoff_layers_add(layers, LAYER_CC_UPDATE)->cc_update = a->cc_update;
        return;
    case ENCODE_DATA:
    case ENCODE_ACK:
    case ENCODE_CNP:
        add_roce(layers, a);
        return;
    default:
        return; /* a probe is done with its tag */
    }
}

static void set_id(struct xoff_lldp_id *id, uint8_t subtype, const uint8_t mac[6])
{
    *id = (struct xoff_lldp_id){.subtype = subtype, .length = 6};
    memcpy(id->octets, mac, 6);
}

/* Header and TLVs in one; the chassis and the port are called by the source address. */
static uint32_t put_lldp(const struct encode_arguments *a, uint8_t *buf)
{
    static uint8_t tlvs[XOFF_DCBX_N_KINDS * XOFF_DCBX_MAX_TLV];
    struct xoff_lldp lldp = a->lldp;
    memcpy(lldp.destination, xoff_lldp_nearest_bridge, 6);
    memcpy(lldp.source, a->eth.source, 6);
    set_id(&lldp.chassis, XOFF_LLDP_CHASSIS_MAC, a->eth.source);
    set_id(&lldp.port, XOFF_LLDP_PORT_MAC, a->eth.source);
    lldp.is_tagged = a->eth.n_tags;
    lldp.tag = (uint16_t)(a->eth.tags[0].priority << 13 | a->eth.tags[0].vlan);
    const size_t n = xoff_dcbx_pdu_encode(&a->pdu, tlvs, sizeof tlvs);
    return (uint32_t)xoff_lldp_encode(&lldp, tlvs, n, buf, ENCODE_MAX_OCTETS);
}

uint32_t encode_frame(const struct encode_arguments *a, bool has_fcs, struct crc32 *crc32,
                      uint8_t buf[ENCODE_MAX_OCTETS])
{
    struct layers layers;
    if (a->kind == ENCODE_CTLOS)
        return (uint32_t)xoff_ctlos_encode(&a->ctlos, buf, ENCODE_MAX_OCTETS);
    if (a->kind == ENCODE_LLDP) {
        const uint32_t n = put_lldp(a, buf);
        if (has_fcs)
            xoff_crc32_put(xoff_crc32_octets(crc32, CRC32_START, buf, n), buf + n);
        return n + (has_fcs ? XOFF_ETH_FCS_OCTETS : 0);
    }
    layers.n = layers.kinds = 0;
    xoff_layers_add(&layers, LAYER_ETH)->eth = a->eth;
    add_tags(&layers, a);
    add_message(&layers, a);
    const struct layers_out out = {.payload_octets = a->payload_octets,
                                   .least_octets = XOFF_ETH_MIN_OCTETS,
                                   .has_fcs = has_fcs};
    return xoff_layers_encode(&layers, &out, crc32, buf);
}
