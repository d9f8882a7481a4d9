/* Frames as chains of headers, both ways.
 *
 * Decoding has one function per way a header can name the next: read_type() by EtherType,
 * read_ipv4() by protocol, read_udp() by port, read_roce() by opcode. Each header bounds what
 * follows it (`end`), so a length that lies is found where it stands. A header that is cut off
 * by the capture, not by the frame, ends the decoding without an error.
 */
#include "wire/layers.h"

#include "wire/octets.h"

#define GOOD_FCS 0xdebb20e3u /* register behind a frame with its FCS */

struct walk {
    const struct layers_in *in;
    struct layers *layers;
    struct xoff_err *err;
    uint32_t at;       /* next octet */
    uint32_t end;      /* of what the headers so far contain, as far as it was captured */
    uint32_t true_end; /* the same on the wire */
};

static const char *const names[] = {
#define X(kind, name) [LAYER_##kind] = name,
    LAYER_MAP(X)
#undef X
};

/* EtherTypes that announce a header. */
static const uint16_t types[N_LAYER_KINDS] = {
    [LAYER_CN_TAG] = XOFF_ETHERTYPE_CN_TAG,
    [LAYER_RRT] = XOFF_ETHERTYPE_BCN,
    [LAYER_RATE_TAG] = XOFF_ETHERTYPE_RATE_TAG,
    [LAYER_PAUSE] = XOFF_ETHERTYPE_MAC_CONTROL,
    [LAYER_PFC] = XOFF_ETHERTYPE_MAC_CONTROL,
    [LAYER_CC_UPDATE] = XOFF_ETHERTYPE_MAC_CONTROL,
    [LAYER_MAC_CONTROL] = XOFF_ETHERTYPE_MAC_CONTROL,
    [LAYER_CNM] = XOFF_ETHERTYPE_CNM,
    [LAYER_BCN] = XOFF_ETHERTYPE_BCN,
    [LAYER_NOTICE] = XOFF_ETHERTYPE_NOTICE,
    [LAYER_LLDP] = XOFF_ETHERTYPE_LLDP,
    [LAYER_IPV4] = XOFF_ETHERTYPE_IPV4,
};

static int read_type(struct walk *w, uint16_t type);

const char *xoff_layer_name(enum layer_kind kind)
{
    return names[kind];
}

/* ------------------------------------------------------------------------------------ decoding */

/* The place of a header that is being read. It counts once keep() has its end. */
static struct layer *begin(struct walk *w, enum layer_kind kind)
{
    struct layer *layer = &w->layers->layer[w->layers->n];
    layer->kind = kind;
    layer->at = w->at;
    return layer;
}

/* `answer` is that of a decoder: where the header ends, or a negative code. */
static int keep(struct walk *w, const struct layer *layer, int answer)
{
    if (answer < 0)
        return answer;
    w->layers->layer[w->layers->n++].end = w->at = (uint32_t)answer;
    w->layers->kinds |= 1u << layer->kind;
    return 0;
}

static int refuse_type(struct walk *w, const char *message)
{
    return xoff_octets_refuse(w->err, XOFF_E_TYPE, "EtherType", w->in->octets, w->at - 2, 2,
                              message);
}

/* Ends what follows at offset `end`, if there is as much. */
static bool bound(struct walk *w, uint32_t end)
{
    if (end > w->true_end)
        return false;
    w->true_end = end;
    w->end = end < w->end ? end : w->end;
    return true;
}

static bool is_whole(const struct walk *w)
{
    return w->end == w->true_end;
}

static int read_mac_control(struct walk *w)
{
    const uint8_t *frame = w->in->octets;
    struct octets_in in = octets_in_at(frame, w->end, w->at);
    const uint16_t opcode = get16(&in, "opcode");
    if (in.cut_field)
        return xoff_octets_refuse_cut(w->err, &in);
    if (opcode == XOFF_OPCODE_PAUSE || opcode == XOFF_OPCODE_PFC) {
        struct layer *l = begin(w, opcode == XOFF_OPCODE_PFC ? LAYER_PFC : LAYER_PAUSE);
        const int answer = xoff_pause_frame_decode(frame, w->end, &l->pause, w->err);
        return keep(w, l, answer < 0 ? answer : XOFF_ETH_MIN_OCTETS);
    }
    const uint32_t company = opcode == XOFF_OPCODE_EXTENSION ? get24(&in, "company id") : 0;
    if (company == XOFF_UEC_COMPANY) {
        struct layer *l = begin(w, LAYER_CC_UPDATE);
        return keep(w, l, xoff_cc_update_decode(frame, w->end, w->at, &l->cc_update, w->err));
    }
    struct layer *l = begin(w, LAYER_MAC_CONTROL);
    l->mac_control = (struct mac_control){.opcode = opcode, .company = company};
    return in.cut_field ? xoff_octets_refuse_cut(w->err, &in) : keep(w, l, (int)in.at);
}

/* The invariant CRC stands at the end of the payload. */
static void check_icrc(struct walk *w, uint32_t at_ip, uint32_t at_bth)
{
    const struct crc32 *crc32 = w->in->crc32;
    uint8_t want[ROCE_ICRC_OCTETS];
    if (!crc32)
        return;
    const uint32_t crc = xoff_roce_icrc(crc32, w->in->octets, at_ip, at_bth, w->end);
    xoff_crc32_put(crc, want);
    w->layers->icrc = memcmp(want, w->in->octets + w->end, sizeof want) ? CHECK_BAD : CHECK_GOOD;
}

static int read_roce(struct walk *w, uint32_t at_ip)
{
    const uint8_t *frame = w->in->octets;
    const uint32_t at_bth = w->at, left = w->true_end - w->at;
    const bool had_all = is_whole(w);
    bound(w, left < ROCE_ICRC_OCTETS ? w->at : w->true_end - ROCE_ICRC_OCTETS);
    struct layer *l = begin(w, LAYER_ROCE);
    int answer = keep(w, l, xoff_bth_decode(frame, w->end, w->at, &l->roce, w->err));
    const uint8_t opcode = l->roce.opcode;
    if (!answer && had_all)
        check_icrc(w, at_ip, at_bth);
    if (!answer && xoff_roce_has_aeth(opcode)) {
        l = begin(w, LAYER_AETH);
        answer = keep(w, l, xoff_aeth_decode(frame, w->end, w->at, &l->aeth, w->err));
    }
    if (!answer && w->in->has_telemetry && opcode != ROCE_CNP) {
        l = begin(w, LAYER_HPCC);
        answer = keep(w, l, xoff_hpcc_decode(frame, w->end, w->at, &l->hpcc, w->err));
    }
    if (!answer && opcode == ROCE_CNP) {
        struct octets_in in = octets_in_at(frame, w->end, w->at);
        l = begin(w, LAYER_CNP);
        get_copy(&in, l->cnp, sizeof l->cnp, "reserved octets of a CNP");
        answer = in.cut_field ? xoff_octets_refuse_cut(w->err, &in) : keep(w, l, (int)in.at);
    }
    return answer;
}

static enum layer_check check_l4(const struct walk *w, const struct ipv4 *ip, uint32_t at)
{
    const uint32_t n = w->end - at;
    const uint32_t sum = xoff_ip_sum(w->in->octets + at, n, xoff_ip_pseudo_sum(ip, n));
    return xoff_ip_checksum(sum) ? CHECK_BAD : CHECK_GOOD;
}

static int read_udp(struct walk *w, const struct ipv4 *ip, uint32_t at_ip)
{
    struct layer *l = begin(w, LAYER_UDP);
    const uint32_t at = w->at;
    const int answer = keep(w, l, xoff_udp_decode(w->in->octets, w->end, w->at, &l->udp, w->err));
    if (answer)
        return answer;
    if (!bound(w, at + l->udp.length))
        return xoff_octets_refuse(w->err, XOFF_E_RANGE, "UDP length", w->in->octets, at + 4, 2,
                                  "more than the packet has");
    if (is_whole(w) && l->udp.checksum)
        w->layers->l4_checksum = check_l4(w, ip, at);
    return l->udp.destination == ROCE_PORT ? read_roce(w, at_ip) : 0;
}

static int read_tcp(struct walk *w, const struct ipv4 *ip)
{
    struct layer *l = begin(w, LAYER_TCP);
    const uint32_t at = w->at;
    const int answer = keep(w, l, xoff_tcp_decode(w->in->octets, w->end, w->at, &l->tcp, w->err));
    if (!answer && is_whole(w))
        w->layers->l4_checksum = check_l4(w, ip, at);
    return answer;
}

static int read_ipv4(struct walk *w)
{
    struct layer *l = begin(w, LAYER_IPV4);
    const uint32_t at = w->at;
    const struct ipv4 *ip = &l->ipv4;
    const int answer = keep(w, l, xoff_ipv4_decode(w->in->octets, w->end, w->at, &l->ipv4, w->err));
    if (answer)
        return answer;
    const uint32_t sum = xoff_ip_sum(w->in->octets + at, w->at - at, 0);
    w->layers->ip_checksum = xoff_ip_checksum(sum) ? CHECK_BAD : CHECK_GOOD;
    if (!bound(w, at + ip->length))
        return xoff_octets_refuse(w->err, XOFF_E_RANGE, "total length", w->in->octets, at + 2, 2,
                                  "more than the frame has");
    if (ip->fragment_unit || ip->bits & 1)
        return 0; /* a fragment: no header, or not all of its content */
    return ip->protocol == IP_PROTOCOL_UDP   ? read_udp(w, ip, at)
           : ip->protocol == IP_PROTOCOL_TCP ? read_tcp(w, ip)
                                             : 0;
}

static int read_cn_tag(struct walk *w)
{
    struct layer *l = begin(w, LAYER_CN_TAG);
    if (w->layers->kinds >> LAYER_CN_TAG & 1)
        return refuse_type(w, "a second CN-TAG");
    const int answer =
        keep(w, l, xoff_cn_tag_decode(w->in->octets, w->end, w->at, &l->cn_tag, w->err));
    return answer ? answer : read_type(w, l->cn_tag.type);
}

static int read_rate_tag(struct walk *w)
{
    struct layer *l = begin(w, LAYER_RATE_TAG);
    if (w->layers->kinds >> LAYER_RATE_TAG & 1)
        return refuse_type(w, "a second rate tag");
    const int answer =
        keep(w, l, xoff_rate_tag_decode(w->in->octets, w->end, w->at, &l->rate_tag, w->err));
    return answer ? answer : read_type(w, l->rate_tag.type);
}

static int read_bcn(struct walk *w)
{
    if (w->at == w->end || w->in->octets[w->at] != XOFF_BCN_TAG) {
        struct layer *l = begin(w, LAYER_BCN);
        return keep(w, l, xoff_bcn_decode(w->in->octets, w->end, w->at, &l->bcn, w->err));
    }
    struct layer *l = begin(w, LAYER_RRT);
    if (w->layers->kinds >> LAYER_RRT & 1)
        return refuse_type(w, "a second rate-regulation tag");
    const int answer = keep(w, l, xoff_rrt_decode(w->in->octets, w->end, w->at, &l->rrt, w->err));
    return answer ? answer : read_type(w, l->rrt.type);
}

/* Reads what an EtherType or a length announces. Each tag can be there once, so that the calls are
 * no more than there are tags. */
static int read_type(struct walk *w, uint16_t type)
{
    struct layer *l;
    switch (type) {
    case XOFF_ETHERTYPE_CN_TAG:
        return read_cn_tag(w);
    case XOFF_ETHERTYPE_RATE_TAG:
        return read_rate_tag(w);
    case XOFF_ETHERTYPE_BCN:
        return read_bcn(w);
    case XOFF_ETHERTYPE_VLAN:
    case XOFF_ETHERTYPE_SERVICE_VLAN:
        return refuse_type(w, "a VLAN tag behind another tag; it must stand before");
    case XOFF_ETHERTYPE_MAC_CONTROL:
        return read_mac_control(w);
    case XOFF_ETHERTYPE_IPV4:
        return read_ipv4(w);
    case XOFF_ETHERTYPE_CNM:
        l = begin(w, LAYER_CNM);
        return keep(w, l, xoff_cnm_decode(w->in->octets, w->end, w->at, &l->cnm, w->err));
    case XOFF_ETHERTYPE_NOTICE:
        l = begin(w, LAYER_NOTICE);
        return keep(w, l,
                    xoff_notice_frame_decode(w->in->octets, w->end, w->at, &l->notice, w->err));
    case XOFF_ETHERTYPE_LLDP:
        return keep(w, begin(w, LAYER_LLDP), (int)w->at);
    default:
        if (type > XOFF_ETH_MAX_LENGTH || bound(w, w->at + type))
            return 0;
        return xoff_octets_refuse(w->err, XOFF_E_RANGE, "length", w->in->octets, w->at - 2, 2,
                                  "more than the frame has");
    }
}

/* Finds the end of the frame before its FCS, and checks that. */
static void read_fcs(struct walk *w)
{
    const struct layers_in *in = w->in;
    const bool is_complete = in->captured == in->original;
    w->end = in->captured;
    w->true_end = in->original;
    if (!in->fcs_octets || in->original < XOFF_ETH_FCS_OCTETS)
        return;
    const bool must_check = in->fcs_octets == LAYERS_FIND_FCS || in->crc32;
    const bool is_good =
        is_complete && must_check &&
        xoff_crc32_octets(in->crc32, CRC32_START, in->octets, in->captured) == GOOD_FCS;
    if (in->fcs_octets == LAYERS_FIND_FCS && !is_good)
        return;
    bound(w, in->original - XOFF_ETH_FCS_OCTETS);
    if (is_complete && must_check)
        w->layers->fcs = is_good ? CHECK_GOOD : CHECK_BAD;
}

int xoff_layers_decode(const struct layers_in *in, struct layers *layers, struct xoff_err *err)
{
    struct walk w = {.in = in, .layers = layers, .err = err};
    XOFF_ASSERT(in->captured <= in->original);
    XOFF_ASSERT(in->fcs_octets != LAYERS_FIND_FCS || in->crc32);
    layers->n = 0;
    layers->kinds = 0;
    layers->fcs = layers->ip_checksum = layers->l4_checksum = layers->icrc = CHECK_ABSENT;
    layers->is_snapped = false;
    read_fcs(&w);
    struct layer *l = begin(&w, LAYER_ETH);
    int answer = keep(&w, l, xoff_eth_decode(in->octets, w.end, &l->eth, err));
    if (!answer)
        answer = read_type(&w, l->eth.type);
    layers->payload_at = w.at < w.end ? w.at : w.end;
    layers->payload_end = w.end;
    /* A header that is not all there may have been cut off by the capture. */
    layers->is_snapped = answer == -XOFF_E_SYNTAX && !is_whole(&w);
    return layers->is_snapped ? 0 : answer;
}

/* ------------------------------------------------------------------------------------ encoding */

struct layer *xoff_layers_add(struct layers *layers, enum layer_kind kind)
{
    XOFF_ASSERT(layers->n < LAYERS_MAX);
    if (layers->n && types[kind]) {
        struct layer *before = &layers->layer[layers->n - 1];
        uint16_t *type = before->kind == LAYER_ETH        ? &before->eth.type
                         : before->kind == LAYER_CN_TAG   ? &before->cn_tag.type
                         : before->kind == LAYER_RRT      ? &before->rrt.type
                         : before->kind == LAYER_RATE_TAG ? &before->rate_tag.type
                                                          : NULL;
        XOFF_ASSERT(type);
        *type = types[kind];
    }
    struct layer *layer = &layers->layer[layers->n++];
    memset(layer, 0, sizeof *layer);
    layer->kind = kind;
    layers->kinds |= 1u << kind;
    return layer;
}

/* Where the headers are that hold lengths and checksums; 0: there is none. */
struct places {
    uint32_t ip, udp, tcp, bth;
};

static size_t put_mac_control(const struct mac_control *control, uint8_t *buf, size_t capacity)
{
    struct octets_out out = octets_out(buf, capacity);
    put16(&out, control->opcode);
    if (control->opcode == XOFF_OPCODE_EXTENSION)
        put24(&out, control->company);
    return octets_written(&out);
}

/* Writes one header at offset `at`. Returns the offset behind it. */
static uint32_t put_layer(const struct layer *l, const struct layers *all, uint8_t *buf,
                          uint32_t at)
{
    const size_t room = LAYERS_MORE_OCTETS;
    uint8_t *to = buf + at;
    switch (l->kind) {
    case LAYER_ETH:
        return at + (uint32_t)xoff_eth_encode(&l->eth, to, room);
    case LAYER_CN_TAG:
        return at + (uint32_t)xoff_cn_tag_encode(&l->cn_tag, to, room);
    case LAYER_RRT:
        return at + (uint32_t)xoff_rrt_encode(&l->rrt, to, room);
    case LAYER_RATE_TAG:
        return at + (uint32_t)xoff_rate_tag_encode(&l->rate_tag, to, room);
    case LAYER_PAUSE:
    case LAYER_PFC: /* its codec writes the whole frame */
        xoff_pause_frame_encode(&l->pause, all->layer[0].eth.source, buf);
        return XOFF_ETH_MIN_OCTETS;
    case LAYER_CC_UPDATE:
        return at + (uint32_t)xoff_cc_update_encode(&l->cc_update, to, room);
    case LAYER_MAC_CONTROL:
        return at + (uint32_t)put_mac_control(&l->mac_control, to, room);
    case LAYER_CNM:
        return at + (uint32_t)xoff_cnm_encode(&l->cnm, to, room);
    case LAYER_BCN:
        return at + (uint32_t)xoff_bcn_encode(&l->bcn, to, room);
    case LAYER_NOTICE:
        return at + (uint32_t)xoff_notice_frame_encode(&l->notice, to, room);
    case LAYER_IPV4:
        return at + (uint32_t)xoff_ipv4_encode(&l->ipv4, to, room);
    case LAYER_UDP:
        return at + (uint32_t)xoff_udp_encode(&l->udp, to, room);
    case LAYER_TCP:
        return at + (uint32_t)xoff_tcp_encode(&l->tcp, to, room);
    case LAYER_ROCE:
        return at + (uint32_t)xoff_bth_encode(&l->roce, to, room);
    case LAYER_AETH:
        return at + (uint32_t)xoff_aeth_encode(&l->aeth, to, room);
    case LAYER_HPCC:
        return at + (uint32_t)xoff_hpcc_encode(&l->hpcc, to, room);
    case LAYER_CNP:
        memcpy(to, l->cnp, sizeof l->cnp);
        return at + (uint32_t)sizeof l->cnp;
    default: /* the content of LLDP is payload; an ordered set is no frame */
        return at;
    }
}

static void set16(uint8_t *at, uint32_t value)
{
    at[0] = (uint8_t)(value >> 8);
    at[1] = (uint8_t)value;
}

static uint32_t put_headers(const struct layers *layers, uint8_t *buf, struct places *places)
{
    uint32_t at = 0;
    for (uint32_t i = 0; i < layers->n; i++) {
        const struct layer *l = &layers->layer[i];
        uint32_t *place = l->kind == LAYER_IPV4   ? &places->ip
                          : l->kind == LAYER_UDP  ? &places->udp
                          : l->kind == LAYER_TCP  ? &places->tcp
                          : l->kind == LAYER_ROCE ? &places->bth
                                                  : NULL;
        if (place)
            *place = at;
        at = put_layer(l, layers, buf, at);
    }
    return at;
}

/* Fills in lengths and checksums of a packet that ends at `end`. What follows `headers` in a TCP
 * segment adds to its checksum, unless it is zeros. */
static void finish_ip(uint8_t *buf, const struct places *p, uint32_t headers, uint32_t end,
                      bool is_zeros)
{
    set16(buf + p->ip + 2, end - p->ip);
    set16(buf + p->ip + 10, 0);
    const uint32_t ip_octets = (buf[p->ip] & 15u) * 4;
    set16(buf + p->ip + 10, xoff_ip_checksum(xoff_ip_sum(buf + p->ip, ip_octets, 0)));
    if (p->udp)
        set16(buf + p->udp + 4, end - p->udp);
    if (!p->tcp)
        return;
    set16(buf + p->tcp + 16, 0);
    /* Pseudo header: addresses, protocol, length. */
    uint32_t sum = xoff_ip_sum(buf + p->ip + 12, 8, IP_PROTOCOL_TCP + end - p->tcp);
    sum = xoff_ip_sum(buf + p->tcp, (is_zeros ? headers : end) - p->tcp, sum);
    set16(buf + p->tcp + 16, xoff_ip_checksum(sum));
}

/* The register over `n` octets of payload, which are zeros or not. */
static uint32_t payload_crc(struct crc32 *crc32, uint32_t crc, const uint8_t *octets, uint32_t n,
                            bool is_zeros)
{
    return is_zeros && n > 8 ? xoff_crc32_zeros(crc32, crc, n)
                             : xoff_crc32_octets(crc32, crc, octets, n);
}

uint32_t xoff_layers_encode(const struct layers *layers, const struct layers_out *out,
                            struct crc32 *crc32, uint8_t *buf)
{
    struct places places = {0};
    XOFF_ASSERT(crc32 || !out->has_fcs);
    const uint32_t headers = put_headers(layers, buf, &places), n = out->payload_octets;
    const bool is_zeros = !out->payload;
    if (is_zeros)
        memset(buf + headers, 0, n);
    else
        memcpy(buf + headers, out->payload, n);
    const uint32_t tail = headers + n;
    uint32_t length = tail + (places.bth ? ROCE_ICRC_OCTETS : 0);
    if (places.ip)
        finish_ip(buf, &places, headers, length, is_zeros);
    if (places.bth && !crc32) {
        memset(buf + tail, 0, ROCE_ICRC_OCTETS);
    } else if (places.bth) {
        uint32_t crc = xoff_roce_icrc(crc32, buf, places.ip, places.bth, headers);
        crc = payload_crc(crc32, crc, buf + headers, n, is_zeros);
        xoff_crc32_put(crc, buf + tail);
    }
    const uint32_t padding = length < out->least_octets ? out->least_octets - length : 0;
    memset(buf + length, 0, padding);
    if (out->has_fcs) {
        uint32_t crc = xoff_crc32_octets(crc32, CRC32_START, buf, headers);
        crc = payload_crc(crc32, crc, buf + headers, n, is_zeros);
        crc = xoff_crc32_octets(crc32, crc, buf + tail, length - tail);
        crc = payload_crc(crc32, crc, buf + length, padding, true);
        xoff_crc32_put(out->has_bad_fcs ? ~crc : crc, buf + length + padding);
    }
    return length + padding + (out->has_fcs ? XOFF_ETH_FCS_OCTETS : 0);
}
