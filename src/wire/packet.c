/* Real frames: RoCEv2 for go-back-N and datagrams, TCP, CNP, PAUSE and PFC.
 *
 * Source: 802.3 3.2 (frame), RFC 791 (IPv4), RFC 3168 (ECN, CWR, ECE), RFC 9293 and 7323 and 2018
 * (TCP, timestamps, SACK), InfiniBand Architecture 1.4 chapter 9 (BTH, AETH) and its annex A17
 * (RoCEv2: UDP port 4791, ICRC, CNP), HPCC (Li et al., 2019) Figure 7 (telemetry).
 *
 *   address   10.0.0.1 is host 0; MAC 02-00 and its number, 06-00 for ports of switches
 *   priority  DSCP = 8 * priority, the class selectors, as switches map them by default
 *   ECN       data is ECT(0), or CE once marked; nothing else is ECN-capable
 *   QP        2 + number of the flow at its source (0 and 1 are reserved)
 *   ports     TCP: the flow's number in 14 bits each, from 49152 at its source and 32768 at its
 *             destination; one-way connections, as after a handshake from sequence number 0
 *
 *   CNM       802.1Qau: addresses, VLAN tag with the priority and VID 0, CN-TAG, then 24 octets
 *   CN-TAG    behind the addresses: type and the low 16 bits of the flow's number
 *   BCN       of ECM: addresses, VLAN tag as in a CNM, EtherType 0x8904, then 24 octets: kind 0,
 *             flags (1: stop), point, queue offset and delta as in a CNM, destination of the frame
 *             that it is about, number of its flow
 *   RRT       rate-regulation tag, behind the addresses: 0x8904, kind 1, flags (1: limited), point
 *   rate tag  FECN's, behind the addresses: type, version 0 in the upper half of an octet with the
 *             direction in its last bit, kind, flow, rate in b/s; all ones: no switch has said one
 *
 * Of a CNM the source is the port of the congestion point. Queue offset and delta are in units of
 * 64 octets, rounded toward 0, with the sign of Fb: negative means congestion. The encapsulated
 * priority is in the upper three bits of its two octets. The encapsulated length is that of the
 * frame without addresses, CN-TAG and FCS, and none of its octets follow. These are our choices
 * where the standard's text was not at hand, and so is all behind the EtherType of BCN and RRT.
 *
 * Differs: the published widths of FECN's tag are not known; ours is in the second local
 * experimental EtherType. Any other notification has a format of its own in the first: kind, point,
 * feedback, queue offset and delta, rate, flow. The payload of RoCE is not padded to words (the
 * simulator counts it as it is), and the message sequence number of an AETH is 0. The UDP checksum
 * of RoCE is 0, "none": the ICRC is stronger, and adapters do the same. A receiver of TCP stamps
 * its ACKs with 0: its clock is not simulated. HPCC's header lies behind BTH and AETH; with TCP,
 * which has no place for it, zeros behind the packet make up the length.
 */
#include "wire/packet.h"

#include <string.h>

enum {
    ETHERNET_BYTES = 14,
    IPV4_BYTES = 20,
    UDP_BYTES = 8,
    BTH_BYTES = 12,
    CNP_BYTES = 16, /* reserved, behind the BTH */
    ICRC_BYTES = 4,
    CN_TAG_BYTES = 4,
    RRT_BYTES = 12,
    RATE_TAG_BYTES = 16,
};

enum {
    AT_IP = ETHERNET_BYTES,
    AT_IP_LENGTH = AT_IP + 2,
    AT_IP_CHECKSUM = AT_IP + 10,
    AT_L4 = AT_IP + IPV4_BYTES,
    AT_UDP_LENGTH = AT_L4 + 4,
    AT_UDP_CHECKSUM = AT_L4 + 6,
    AT_BTH = AT_L4 + UDP_BYTES,
    AT_TCP_CHECKSUM = AT_L4 + 16,
};

#define ETHERTYPE_IPV4 0x0800
#define ETHERTYPE_LOCAL 0x88b5 /* 802 9.2.3: local experimental */
#define ETHERTYPE_RATE_TAG 0x88b6
#define ETHERTYPE_VLAN 0x8100
#define ETHERTYPE_CN_TAG 0x22e9
#define ETHERTYPE_CNM 0x22e7
#define ETHERTYPE_BCN 0x8904
#define PROTOCOL_TCP 6
#define PROTOCOL_UDP 17
#define ROCE_PORT 4791
#define ECT0 2
#define CE 3

enum { BCN_MESSAGE, BCN_TAG };                                                  /* kinds */
enum { OPCODE_FIRST = 0, OPCODE_MIDDLE = 1, OPCODE_LAST = 2, OPCODE_ONLY = 4 }; /* SEND */
enum { OPCODE_UC = 0x20, OPCODE_ACKNOWLEDGE = 0x11, OPCODE_CNP = 0x81 };
enum { SYNDROME_ACK = 0x1f, SYNDROME_PSN_ERROR = 0x60 }; /* credits not used; NAK */
enum { TCP_PSH = 8, TCP_ACK = 16, TCP_ECE = 64, TCP_CWR = 128 };

/* The place of the next octet. Every call of put() has a constant size, so no loop is left in it.
 */
struct cursor {
    uint8_t *at;
};

static inline __attribute__((always_inline)) void put(struct cursor *c, uint64_t value, uint32_t n)
{
    for (uint32_t i = n; i-- > 0;)
        *c->at++ = (uint8_t)(value >> (8 * i));
}

static void set16(uint8_t *at, uint32_t value)
{
    at[0] = (uint8_t)(value >> 8);
    at[1] = (uint8_t)value;
}

/* Ones' complement sum of RFC 1071, not folded. */
static uint32_t sum16(const uint8_t *at, uint32_t n, uint32_t sum)
{
    for (uint32_t i = 0; i + 1 < n; i += 2)
        sum += (uint32_t)(at[i] << 8 | at[i + 1]);
    return n & 1 ? sum + (uint32_t)(at[n - 1] << 8) : sum;
}

static uint32_t checksum(uint32_t sum)
{
    while (sum >> 16)
        sum = (sum & 0xffff) + (sum >> 16);
    return ~sum & 0xffff;
}

void xoff_packet_host_mac(uint32_t host, uint8_t mac[6])
{
    struct cursor c = {mac};
    put(&c, 0x0200, 2);
    put(&c, host, 4);
}

void xoff_packet_switch_mac(uint32_t number, uint32_t port, uint8_t mac[6])
{
    struct cursor c = {mac};
    put(&c, 0x0600, 2);
    put(&c, (uint64_t)number << 12 | (port & 0xfff), 4);
}

/* Writes Ethernet and IPv4; finish_ip() fills in length and checksum. */
static void put_ip(struct cursor *c, const struct packet *p, uint32_t protocol)
{
    xoff_packet_host_mac(p->to, c->at);
    xoff_packet_host_mac(p->from, c->at + 6);
    c->at += 12;
    put(c, ETHERTYPE_IPV4, 2);
    const uint32_t ecn = p->kind != PACKET_DATA ? 0 : p->is_marked ? CE : ECT0;
    put(c, 0x45, 1);
    put(c, (uint64_t)p->priority << 5 | ecn, 1);
    put(c, 0, 4);      /* length; identification */
    put(c, 0x4000, 2); /* not to be fragmented */
    put(c, 64, 1);
    put(c, protocol, 1);
    put(c, 0, 2);
    put(c, (10u << 24) + p->from + 1, 4);
    put(c, (10u << 24) + p->to + 1, 4);
}

static void finish_ip(uint8_t *buf, uint32_t length)
{
    set16(buf + AT_IP_LENGTH, length - AT_IP);
    set16(buf + AT_IP_CHECKSUM, checksum(sum16(buf + AT_IP, IPV4_BYTES, 0)));
}

/* A hop has 4 bits of rate, 24 of time in ns, 20 of bytes sent in units of 128 B, 16 of queue in
 * units of 80 B. The rate is an index into gbps[]; 15: any other rate. */
static void put_hops(struct cursor *c, const struct packet *p)
{
    static const uint16_t gbps[] = {1, 10, 25, 40, 50, 100, 200, 400, 800, 1600};
    put(c, (uint64_t)p->n_hops << 12, 2); /* no path identifier */
    for (uint32_t h = 0; h < PACKET_MAX_HOPS; h++) {
        if (h >= p->n_hops) {
            put(c, 0, 8);
            continue;
        }
        const struct packet_hop *hop = &p->hops[h];
        uint64_t code = 15;
        for (uint32_t i = 0; i < sizeof gbps / sizeof *gbps; i++)
            if (hop->rate_bps == gbps[i] * 1000000000ull)
                code = i;
        const uint64_t queue = hop->queue_bytes / 80;
        put(c,
            code << 60 | (uint64_t)(hop->at_ns & 0xffffff) << 36 |
                (uint64_t)(hop->tx_bytes / 128 & 0xfffff) << 16 | (queue < 0xffff ? queue : 0xffff),
            8);
    }
}

static uint32_t opcode_of(const struct packet *p)
{
    if (p->kind == PACKET_CNP)
        return OPCODE_CNP;
    if (p->kind != PACKET_DATA)
        return OPCODE_ACKNOWLEDGE;
    const uint32_t send = p->is_first ? (p->is_last ? OPCODE_ONLY : OPCODE_FIRST)
                                      : (p->is_last ? OPCODE_LAST : OPCODE_MIDDLE);
    return send + (p->protocol == PACKET_UC ? OPCODE_UC : 0);
}

/* A17.3.3: the ICRC covers everything from the LRH on. The LRH is taken as ones, and so are the
 * fields that change on the way. The headers end at `headers`, and `zeros` octets of payload
 * follow. */
static uint32_t invariant_crc(const uint8_t *buf, uint32_t headers, uint32_t zeros,
                              struct crc32 *crc32)
{
    uint8_t masked[8 + IPV4_BYTES + UDP_BYTES + BTH_BYTES];
    memset(masked, 0xff, 8);
    memcpy(masked + 8, buf + AT_IP, sizeof masked - 8);
    masked[8 + 1] = 0xff;                                  /* DSCP and ECN */
    masked[8 + 8] = 0xff;                                  /* TTL */
    memset(masked + 8 + AT_IP_CHECKSUM - AT_IP, 0xff, 2);  /* IPv4 checksum */
    memset(masked + 8 + AT_UDP_CHECKSUM - AT_IP, 0xff, 2); /* UDP checksum */
    masked[8 + IPV4_BYTES + UDP_BYTES + 4] = 0xff;         /* BTH: FECN, BECN, reserved */
    uint32_t crc = xoff_crc32_octets(crc32, CRC32_START, masked, sizeof masked);
    const uint32_t at = AT_BTH + BTH_BYTES;
    crc = xoff_crc32_octets(crc32, crc, buf + at, headers - at);
    return xoff_crc32_zeros(crc32, crc, zeros);
}

/* Returns the length without padding and FCS; the zeros of the payload lie from *headers to *tail.
 */
static uint32_t encode_roce(const struct packet *p, struct crc32 *crc32, uint8_t *buf,
                            uint32_t *headers, uint32_t *tail)
{
    struct cursor c = {buf};
    put_ip(&c, p, PROTOCOL_UDP);
    put(&c, 0xc000 | (p->hash & 0x3fff), 2);
    put(&c, ROCE_PORT, 2);
    put(&c, 0, 4); /* length; no checksum */
    put(&c, opcode_of(p), 1);
    put(&c, 0x40, 1);                             /* no path migration, no padding, version 0 */
    put(&c, 0xffff, 2);                           /* partition */
    put(&c, p->kind == PACKET_CNP ? 0x40 : 0, 1); /* BECN */
    put(&c, p->flow + 2, 3);
    put(&c, p->kind == PACKET_DATA && p->asks ? 0x80 : 0, 1);
    put(&c, p->psn, 3);
    if (p->kind == PACKET_ACK || p->kind == PACKET_NACK) {
        put(&c, p->kind == PACKET_ACK ? SYNDROME_ACK : SYNDROME_PSN_ERROR, 1);
        put(&c, 0, 3);
    }
    if (p->has_hops)
        put_hops(&c, p);
    *headers = (uint32_t)(c.at - buf);
    *tail = *headers;
    if (p->kind == PACKET_DATA)
        *tail += p->payload_bytes;
    else if (p->kind == PACKET_CNP)
        *tail += CNP_BYTES;
    memset(c.at, 0, *tail - *headers);
    const uint32_t length = *tail + ICRC_BYTES;
    set16(buf + AT_UDP_LENGTH, length - AT_L4);
    finish_ip(buf, length);
    xoff_crc32_put(invariant_crc(buf, *headers, *tail - *headers, crc32), buf + *tail);
    return length;
}

static uint32_t encode_tcp(const struct packet *p, uint8_t *buf, uint32_t *headers, uint32_t *tail)
{
    const bool is_data = p->kind == PACKET_DATA;
    const uint32_t here = 49152 + (p->flow & 0x3fff), there = 32768 + (p->flow >> 14 & 0x3fff);
    const uint32_t sack_bytes = p->n_sacks ? 4 + 8 * p->n_sacks : 0;
    struct cursor c = {buf};
    put_ip(&c, p, PROTOCOL_TCP);
    put(&c, is_data ? here : there, 2);
    put(&c, is_data ? there : here, 2);
    put(&c, is_data ? p->seq + 1 : 1, 4);
    put(&c, is_data ? 1 : p->seq + 1, 4);
    put(&c, (20u + 12 + sack_bytes) / 4 << 4, 1);
    put(&c,
        (uint64_t)TCP_ACK | (is_data && p->is_last ? TCP_PSH : 0) |
            (is_data && p->is_reduced ? TCP_CWR : 0) | (!is_data && p->is_marked ? TCP_ECE : 0),
        1);
    put(&c, 0xffff, 2);     /* window */
    put(&c, 0, 4);          /* checksum; nothing urgent */
    put(&c, 0x0101080a, 4); /* two fillers, timestamps */
    put(&c, is_data ? p->stamp : 0, 4);
    put(&c, is_data ? 0 : p->stamp, 4);
    if (p->n_sacks) {
        put(&c, 0x010105, 3);
        put(&c, 2u + 8 * p->n_sacks, 1);
        for (uint32_t i = 0; i < p->n_sacks; i++) {
            put(&c, p->sack_from[i] + 1, 4);
            put(&c, p->sack_to[i] + 1, 4);
        }
    }
    *headers = (uint32_t)(c.at - buf);
    *tail = *headers + (is_data ? p->payload_bytes : 0);
    memset(c.at, 0, *tail - *headers);
    finish_ip(buf, *tail);
    /* Pseudo header: addresses, protocol, length. */
    uint32_t sum = sum16(buf + AT_IP + 12, 8, PROTOCOL_TCP + *tail - AT_L4);
    sum = sum16(buf + AT_L4, *headers - AT_L4, sum);
    set16(buf + AT_TCP_CHECKSUM, checksum(sum));
    return *tail;
}

/* A signed field of a CNM, 16 bits wide, from bytes that count the other way round. */
static uint64_t cnm_units(int32_t bytes)
{
    const int64_t units = -(int64_t)bytes / 64;
    return (uint16_t)(units > INT16_MAX ? INT16_MAX : units < INT16_MIN ? INT16_MIN : units);
}

#define NO_MSDU_BYTES (2 * 6 + 4) /* addresses and FCS */

static uint32_t encode_cnm(const struct packet *p, uint8_t *buf)
{
    const struct packet_notice *n = &p->notice;
    struct cursor c = {buf + 12};
    xoff_packet_host_mac(p->to, buf);
    memcpy(buf + 6, p->source_mac, sizeof p->source_mac);
    put(&c, ETHERTYPE_VLAN, 2);
    put(&c, (uint64_t)p->priority << 13, 2);
    put(&c, ETHERTYPE_CN_TAG, 2);
    put(&c, p->is_tagged ? p->flow : 0, 2);
    put(&c, ETHERTYPE_CNM, 2);
    put(&c, (uint64_t)-n->feedback & 63, 2); /* version 0 and reserved bits above */
    put(&c, n->cp_id, 8);
    put(&c, cnm_units(n->queue_offset_bytes), 2);
    put(&c, cnm_units(n->queue_delta_bytes), 2);
    put(&c, (uint64_t)n->about_priority << 13, 2);
    xoff_packet_host_mac(p->from, c.at);
    c.at += 6;
    const uint32_t besides = NO_MSDU_BYTES + (p->is_tagged ? CN_TAG_BYTES : 0u);
    put(&c, n->about_bytes - besides, 2);
    return (uint32_t)(c.at - buf);
}

static uint32_t encode_bcn(const struct packet *p, uint8_t *buf)
{
    const struct packet_notice *n = &p->notice;
    struct cursor c = {buf + 12};
    xoff_packet_host_mac(p->to, buf);
    memcpy(buf + 6, p->source_mac, sizeof p->source_mac);
    put(&c, ETHERTYPE_VLAN, 2);
    put(&c, (uint64_t)p->priority << 13, 2);
    put(&c, ETHERTYPE_BCN, 2);
    put(&c, BCN_MESSAGE, 1);
    put(&c, !n->queue_offset_bytes && !n->queue_delta_bytes, 1);
    put(&c, n->cp_id, 8);
    put(&c, cnm_units(n->queue_offset_bytes), 2);
    put(&c, cnm_units(n->queue_delta_bytes), 2);
    xoff_packet_host_mac(p->from, c.at);
    c.at += 6;
    put(&c, p->flow, 4);
    return (uint32_t)(c.at - buf);
}

/* Puts the tag of a data frame of `length` octets behind its addresses; returns its octets. */
static uint32_t insert_tag(const struct packet *p, uint8_t *buf, uint32_t length)
{
    const uint32_t bytes = p->has_rrt ? RRT_BYTES : p->is_tagged ? CN_TAG_BYTES : 0;
    struct cursor c = {buf + 12};
    memmove(buf + 12 + bytes, buf + 12, length - 12);
    if (p->has_rrt) {
        put(&c, ETHERTYPE_BCN, 2);
        put(&c, BCN_TAG, 1);
        put(&c, p->is_limited, 1);
        put(&c, p->is_limited ? p->notice.cp_id : 0, 8);
    } else if (p->is_tagged) {
        put(&c, ETHERTYPE_CN_TAG, 2);
        put(&c, p->flow, 2);
    }
    return bytes;
}

/* The same for a rate tag. */
static void insert_rate_tag(const struct packet *p, uint8_t *buf, uint32_t length)
{
    struct cursor c = {buf + 12};
    memmove(buf + 12 + RATE_TAG_BYTES, buf + 12, length - 12);
    put(&c, ETHERTYPE_RATE_TAG, 2);
    put(&c, p->rate_tag.is_back, 1);
    put(&c, p->rate_tag.kind, 1);
    put(&c, p->flow, 4);
    put(&c, p->rate_tag.rate_bps, 8);
}

/* A tag alone: an 802.3 length of 0 follows it. */
static uint32_t encode_probe(const struct packet *p, uint8_t *buf)
{
    xoff_packet_host_mac(p->to, buf);
    xoff_packet_host_mac(p->from, buf + 6);
    memset(buf + 12, 0, 2);
    return 14;
}

/* Notifications of all other schemes have one format, which is of no standard. Returns the length.
 */
static uint32_t encode_notice(const struct packet *p, uint8_t *buf)
{
    struct cursor c = {buf + 12};
    xoff_packet_host_mac(p->to, buf);
    xoff_packet_host_mac(p->from, buf + 6);
    put(&c, ETHERTYPE_LOCAL, 2);
    put(&c, p->notice.kind, 1);
    put(&c, p->notice.cp_id, 8);
    put(&c, (uint32_t)p->notice.feedback, 4);
    put(&c, (uint32_t)p->notice.queue_offset_bytes, 4);
    put(&c, (uint32_t)p->notice.queue_delta_bytes, 4);
    put(&c, p->notice.rate_bps, 8);
    put(&c, p->flow, 4);
    return (uint32_t)(c.at - buf);
}

uint32_t xoff_packet_encode(const struct packet *packet, struct crc32 *crc32, uint8_t *buf)
{
    uint32_t headers = XOFF_PAUSE_FRAME_BYTES - PACKET_FCS_BYTES, tail = headers, length = headers;
    XOFF_ASSERT(packet->n_sacks <= PACKET_MAX_SACKS && packet->n_hops <= PACKET_MAX_HOPS);
    XOFF_ASSERT(packet->payload_bytes <= packet->bytes);
    if (packet->kind == PACKET_PAUSE)
        xoff_pause_frame_encode(&packet->pause, packet->source_mac, buf);
    else if (packet->kind == PACKET_NOTICE)
        headers = tail = length = packet->notice.is_cnm   ? encode_cnm(packet, buf)
                                  : packet->notice.is_bcn ? encode_bcn(packet, buf)
                                                          : encode_notice(packet, buf);
    else if (packet->kind == PACKET_PROBE)
        headers = tail = length = encode_probe(packet, buf);
    else if (packet->protocol == PACKET_TCP)
        length = encode_tcp(packet, buf, &headers, &tail);
    else
        length = encode_roce(packet, crc32, buf, &headers, &tail);
    if (packet->kind == PACKET_DATA) {
        const uint32_t tag_bytes = insert_tag(packet, buf, length);
        headers += tag_bytes;
        tail += tag_bytes;
        length += tag_bytes;
    }
    if (packet->rate_tag.is_there) {
        insert_rate_tag(packet, buf, length);
        headers += RATE_TAG_BYTES;
        tail += RATE_TAG_BYTES;
        length += RATE_TAG_BYTES;
    }
    uint32_t padding = 0;
    if (length + PACKET_FCS_BYTES < packet->bytes)
        padding = packet->bytes - length - PACKET_FCS_BYTES;
    memset(buf + length, 0, padding);
    uint32_t crc = xoff_crc32_octets(crc32, CRC32_START, buf, headers);
    crc = xoff_crc32_zeros(crc32, crc, tail - headers);
    crc = xoff_crc32_octets(crc32, crc, buf + tail, length - tail);
    crc = padding <= 8 ? xoff_crc32_octets(crc32, crc, buf + length, padding)
                       : xoff_crc32_zeros(crc32, crc, padding);
    xoff_crc32_put(packet->has_bad_fcs ? ~crc : crc, buf + length + padding);
    return length + padding + PACKET_FCS_BYTES;
}
