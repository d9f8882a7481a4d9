/* Compares what was sent with what is read: see packet_check.h.
 *
 * The fields of each header are in a table, so that the difference can be named. Lengths and
 * checksums are not in it: the encoder computes them, and the decoder checks them.
 */
#include "wire/packet_check.h"

#include <string.h>

struct field {
    uint16_t at, octets; /* in struct layer */
    const char *name;
};

#define FIELD(member)                                                                \
    {                                                                                \
        offsetof(struct layer, member), sizeof(((struct layer *)0)->member), #member \
    }
#define HOP(i)                                                                              \
    FIELD(hpcc.hops[i].rate_code), FIELD(hpcc.hops[i].at_ns), FIELD(hpcc.hops[i].tx_units), \
        FIELD(hpcc.hops[i].queue_units)

static const struct field eth[] = {FIELD(eth.source), FIELD(eth.n_tags), FIELD(eth.type),
                                   FIELD(eth.destination)};
static const struct field cn_tag[] = {FIELD(cn_tag.flow), FIELD(cn_tag.type)};
static const struct field rrt[] = {FIELD(rrt.is_limited), FIELD(rrt.cp_id), FIELD(rrt.type),
                                   FIELD(rrt.reserved)};
static const struct field rate_tag[] = {FIELD(rate_tag.is_back), FIELD(rate_tag.kind),
                                        FIELD(rate_tag.flow),    FIELD(rate_tag.rate_bps),
                                        FIELD(rate_tag.type),    FIELD(rate_tag.reserved)};
static const struct field pause[] = {FIELD(pause.opcode), FIELD(pause.classes),
                                     FIELD(pause.quanta)};
static const struct field cnm[] = {
    FIELD(cnm.feedback),    FIELD(cnm.cp_id),          FIELD(cnm.queue_offset),
    FIELD(cnm.queue_delta), FIELD(cnm.about_priority), FIELD(cnm.about_destination),
    FIELD(cnm.msdu_octets), FIELD(cnm.reserved),       FIELD(cnm.about_reserved)};
static const struct field bcn[] = {
    FIELD(bcn.is_stop),           FIELD(bcn.cp_id), FIELD(bcn.queue_offset), FIELD(bcn.queue_delta),
    FIELD(bcn.about_destination), FIELD(bcn.flow),  FIELD(bcn.reserved)};
static const struct field notice[] = {FIELD(notice.kind),
                                      FIELD(notice.cp_id),
                                      FIELD(notice.feedback),
                                      FIELD(notice.queue_offset_bytes),
                                      FIELD(notice.queue_delta_bytes),
                                      FIELD(notice.rate_bps),
                                      FIELD(notice.flow)};
static const struct field ipv4[] = {
    FIELD(ipv4.dscp),   FIELD(ipv4.ecn),         FIELD(ipv4.ttl),          FIELD(ipv4.protocol),
    FIELD(ipv4.source), FIELD(ipv4.destination), FIELD(ipv4.option_octets)};
static const struct field udp[] = {FIELD(udp.source), FIELD(udp.destination)};
static const struct field tcp[] = {
    FIELD(tcp.source), FIELD(tcp.destination), FIELD(tcp.sequence),     FIELD(tcp.acknowledged),
    FIELD(tcp.bits),   FIELD(tcp.window),      FIELD(tcp.option_octets)};
static const struct field roce[] = {
    FIELD(roce.opcode),     FIELD(roce.is_solicited), FIELD(roce.is_migrated),
    FIELD(roce.pad_octets), FIELD(roce.partition),    FIELD(roce.is_fecn),
    FIELD(roce.is_becn),    FIELD(roce.reserved),     FIELD(roce.queue_pair),
    FIELD(roce.asks),       FIELD(roce.reserved_too), FIELD(roce.psn)};
static const struct field aeth[] = {FIELD(aeth.syndrome), FIELD(aeth.message)};
static const struct field hpcc[] = {
    FIELD(hpcc.n_hops), FIELD(hpcc.path), HOP(0), HOP(1), HOP(2), HOP(3), HOP(4)};
static const struct field cnp[] = {FIELD(cnp)};

#define TABLE(fields)                             \
    {                                             \
        fields, sizeof(fields) / sizeof *(fields) \
    }
static const struct {
    const struct field *fields;
    uint32_t n;
} tables[N_LAYER_KINDS] = {
    [LAYER_ETH] = TABLE(eth),       [LAYER_CN_TAG] = TABLE(cn_tag),
    [LAYER_RRT] = TABLE(rrt),       [LAYER_RATE_TAG] = TABLE(rate_tag),
    [LAYER_PAUSE] = TABLE(pause),   [LAYER_PFC] = TABLE(pause),
    [LAYER_CNM] = TABLE(cnm),       [LAYER_BCN] = TABLE(bcn),
    [LAYER_NOTICE] = TABLE(notice), [LAYER_IPV4] = TABLE(ipv4),
    [LAYER_UDP] = TABLE(udp),       [LAYER_TCP] = TABLE(tcp),
    [LAYER_ROCE] = TABLE(roce),     [LAYER_AETH] = TABLE(aeth),
    [LAYER_HPCC] = TABLE(hpcc),     [LAYER_CNP] = TABLE(cnp),
};

static int differs(struct xoff_err *err, const char *what)
{
    return xoff_err_set(err, XOFF_E_CONFLICT, what, NULL, "is read another than it was sent");
}

static bool is_same_tag(const struct xoff_vlan_tag *a, const struct xoff_vlan_tag *b)
{
    return a->type == b->type && a->priority == b->priority &&
           a->drop_eligible == b->drop_eligible && a->vlan == b->vlan;
}

static bool is_same_eth(const struct xoff_eth *a, const struct xoff_eth *b, bool is_pause)
{
    /* The codec of PAUSE and PFC writes the destination itself, and takes no other. */
    bool is_same = memcmp(a->source, b->source, 6) == 0 && a->n_tags == b->n_tags &&
                   a->type == b->type &&
                   (is_pause || memcmp(a->destination, b->destination, 6) == 0);
    for (uint32_t i = 0; is_same && i < a->n_tags; i++)
        is_same = is_same_tag(&a->tags[i], &b->tags[i]);
    return is_same;
}

static bool is_same_ip(const struct ipv4 *a, const struct ipv4 *b)
{
    return a->source == b->source && a->destination == b->destination && a->dscp == b->dscp &&
           a->ecn == b->ecn && a->ttl == b->ttl && a->protocol == b->protocol &&
           a->option_octets == b->option_octets;
}

static bool is_same_bth(const struct bth *a, const struct bth *b)
{
    return a->opcode == b->opcode && a->queue_pair == b->queue_pair && a->psn == b->psn &&
           a->partition == b->partition && a->is_solicited == b->is_solicited &&
           a->is_migrated == b->is_migrated && a->pad_octets == b->pad_octets &&
           a->is_fecn == b->is_fecn && a->is_becn == b->is_becn && a->asks == b->asks &&
           a->reserved == b->reserved && a->reserved_too == b->reserved_too;
}

/* The headers of most frames, by name; the table does for the others and says what differs. */
static bool is_same(const struct layer *a, const struct layer *b, bool is_pause)
{
    switch (a->kind) {
    case LAYER_ETH:
        return is_same_eth(&a->eth, &b->eth, is_pause);
    case LAYER_CN_TAG:
        return a->cn_tag.flow == b->cn_tag.flow && a->cn_tag.type == b->cn_tag.type;
    case LAYER_IPV4:
        return is_same_ip(&a->ipv4, &b->ipv4);
    case LAYER_UDP:
        return a->udp.source == b->udp.source && a->udp.destination == b->udp.destination;
    case LAYER_ROCE:
        return is_same_bth(&a->roce, &b->roce);
    case LAYER_AETH:
        return a->aeth.syndrome == b->aeth.syndrome && a->aeth.message == b->aeth.message;
    default:
        return false;
    }
}

static int compare(const struct layer *sent, const struct layer *read, bool is_pause,
                   struct xoff_err *err)
{
    if (sent->kind != read->kind)
        return differs(err, xoff_layer_name(sent->kind));
    if (is_same(sent, read, is_pause))
        return 0;
    const uint32_t n = tables[sent->kind].n - (sent->kind == LAYER_ETH && is_pause);
    for (const struct field *f = tables[sent->kind].fields; f < tables[sent->kind].fields + n; f++)
        if (memcmp((const char *)sent + f->at, (const char *)read + f->at, f->octets) != 0)
            return differs(err, f->name);
    if (sent->kind == LAYER_ETH)
        return differs(err, "eth.tags");
    if (sent->kind == LAYER_TCP &&
        memcmp(sent->tcp.options, read->tcp.options, sent->tcp.option_octets) != 0)
        return differs(err, "tcp.options");
    return 0;
}

int xoff_packet_check_octets(const struct layers *sent, const uint8_t *octets, uint32_t n,
                             struct xoff_err *err)
{
    struct layers read;
    const struct layers_in in = {.octets = octets,
                                 .captured = n,
                                 .original = n,
                                 .has_telemetry = sent->kinds >> LAYER_HPCC & 1};
    const int answer = xoff_layers_decode(&in, &read, err);
    if (answer)
        return answer;
    if (read.ip_checksum == CHECK_BAD)
        return differs(err, "ipv4.checksum");
    if (read.l4_checksum == CHECK_BAD)
        return differs(err, "tcp.checksum");
    if (read.n != sent->n)
        return differs(err, "number of headers");
    const bool is_pause = sent->kinds & (1u << LAYER_PAUSE | 1u << LAYER_PFC);
    for (uint32_t i = 0; i < sent->n; i++) {
        const int code = compare(&sent->layer[i], &read.layer[i], is_pause, err);
        if (code)
            return code;
    }
    return 0;
}

int xoff_packet_check(const struct packet *packet, struct xoff_err *err)
{
    uint8_t octets[LAYERS_MORE_OCTETS + XOFF_ETH_MIN_OCTETS];
    struct layers sent;
    xoff_packet_layers(packet, &sent);
    const struct layers_out out = {.least_octets = XOFF_ETH_MIN_OCTETS};
    const uint32_t n = xoff_layers_encode(&sent, &out, NULL, octets);
    return xoff_packet_check_octets(&sent, octets, n, err);
}
