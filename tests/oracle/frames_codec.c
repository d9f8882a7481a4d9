/* Frames of any header behind any tags, all fields random: what the codecs write alone, beyond what
 * captures of runs have. Fields of tags and messages are those of xoff.lua. */
#include <string.h>

#include <xoff/bcn.h>
#include <xoff/cnm.h>
#include <xoff/eth.h>
#include <xoff/rate_tag.h>

#include "oracle/random_frames.h"
#include "wire/ip.h"
#include "wire/notice_frame.h"
#include "wire/roce.h"

/* Notes the octets that an encoder has appended. */
static void append(struct frames *f, size_t n)
{
    XOFF_ASSERT(n > 0);
    f->n += n;
}

static uint8_t *end(struct frames *f)
{
    return f->octets + f->n;
}

static size_t left(const struct frames *f)
{
    return sizeof f->octets - f->n;
}

static void make_address(struct frames *f, uint8_t address[6], const char *field)
{
    frames_octets(f, address, 6);
    address[0] &= 0xfe; /* not a group */
    frames_say_address(f, field, address);
}

/* tshark has one protocol for each kind of VLAN tag, and other names where two are service tags. */
static void make_vlan_tags(struct frames *f, struct xoff_eth *eth)
{
    eth->n_tags = (uint8_t)frames_below(f, XOFF_ETH_MAX_TAGS + 1);
    for (unsigned i = 0; i < eth->n_tags; i++) {
        const bool is_service = frames_coin(f);
        eth->tags[i] = (struct xoff_vlan_tag){.type = is_service ? XOFF_ETHERTYPE_SERVICE_VLAN
                                                                 : XOFF_ETHERTYPE_VLAN,
                                              .priority = (uint8_t)frames_bits(f, 3),
                                              .drop_eligible = frames_coin(f),
                                              .vlan = (uint16_t)frames_bits(f, 12)};
    }
    const bool are_both_service = eth->n_tags == 2 && eth->tags[0].type == eth->tags[1].type &&
                                  eth->tags[0].type == XOFF_ETHERTYPE_SERVICE_VLAN;
    for (unsigned i = 0; i < eth->n_tags; i++) {
        const struct xoff_vlan_tag *tag = &eth->tags[i];
        const bool is_service = tag->type == XOFF_ETHERTYPE_SERVICE_VLAN;
        frames_say(f, is_service ? "ieee8021ad.priority" : "vlan.priority", tag->priority);
        frames_say(f, is_service ? "ieee8021ad.dei" : "vlan.dei", tag->drop_eligible);
        if (are_both_service)
            frames_say(f, i ? "ieee8021ad.cvid" : "ieee8021ad.svid", tag->vlan);
        else
            frames_say(f, is_service ? "ieee8021ad.id" : "vlan.id", tag->vlan);
    }
}

/* One of the tags behind the VLAN tags, or none. Each is told what follows it. */
enum tag { TAG_CN, TAG_RRT, TAG_RATE, N_TAGS };
static const uint16_t tag_types[] = {XOFF_ETHERTYPE_CN_TAG, XOFF_ETHERTYPE_BCN,
                                     XOFF_ETHERTYPE_RATE_TAG};

static void make_tag(struct frames *f, enum tag which, uint16_t type)
{
    if (which == TAG_CN) {
        const struct xoff_cn_tag tag = {.flow = (uint16_t)frames_bits(f, 16), .type = type};
        frames_say(f, "cn-tag.flow", tag.flow);
        append(f, xoff_cn_tag_encode(&tag, end(f), left(f)));
    } else if (which == TAG_RRT) {
        const struct xoff_rrt tag = {.is_limited = frames_coin(f),
                                     .reserved = (uint8_t)frames_bits(f, 7),
                                     .cp_id = frames_bits(f, 64),
                                     .type = type};
        frames_say(f, "rrt.limited", tag.is_limited);
        frames_say(f, "rrt.reserved", tag.reserved);
        frames_say(f, "rrt.cp_id", tag.cp_id);
        append(f, xoff_rrt_encode(&tag, end(f), left(f)));
    } else {
        const struct xoff_rate_tag tag = {.is_back = frames_coin(f),
                                          .reserved = (uint8_t)frames_bits(f, 3),
                                          .kind = (uint8_t)frames_bits(f, 8),
                                          .flow = (uint32_t)frames_bits(f, 32),
                                          .rate_bps = frames_bits(f, 64),
                                          .type = type};
        frames_say(f, "rate-tag.direction", tag.is_back);
        frames_say(f, "rate-tag.reserved", tag.reserved);
        frames_say(f, "rate-tag.kind", tag.kind);
        frames_say(f, "rate-tag.flow", tag.flow);
        frames_say(f, "rate-tag.rate_bps", tag.rate_bps);
        append(f, xoff_rate_tag_encode(&tag, end(f), left(f)));
    }
}

/* Begins a frame whose last EtherType is `type`. */
static void begin(struct frames *f, uint16_t type)
{
    struct xoff_eth eth = {.type = type};
    const unsigned which = frames_below(f, N_TAGS + 1);
    if (which < N_TAGS)
        eth.type = tag_types[which];
    make_address(f, eth.destination, "eth.dst");
    make_address(f, eth.source, "eth.src");
    make_vlan_tags(f, &eth);
    append(f, xoff_eth_encode(&eth, end(f), left(f)));
    if (which < N_TAGS)
        make_tag(f, (enum tag)which, type);
}

void make_cnm(struct frames *f)
{
    struct xoff_cnm cnm = {.reserved = (uint8_t)frames_bits(f, 6),
                           .feedback = (uint8_t)frames_bits(f, 6),
                           .cp_id = frames_bits(f, 64),
                           .queue_offset = (int16_t)frames_bits(f, 16),
                           .queue_delta = (int16_t)frames_bits(f, 16),
                           .about_priority = (uint8_t)frames_bits(f, 3),
                           .about_reserved = (uint16_t)frames_bits(f, 13),
                           .msdu_octets = (uint8_t)frames_below(f, XOFF_CNM_MAX_MSDU + 1)};
    begin(f, XOFF_ETHERTYPE_CNM);
    frames_octets(f, cnm.msdu, cnm.msdu_octets);
    frames_say(f, "cnm.version", 0);
    frames_say(f, "cnm.reserved", cnm.reserved);
    frames_say(f, "cnm.feedback", cnm.feedback);
    frames_say(f, "cnm.cp_id", cnm.cp_id);
    frames_say_signed(f, "cnm.queue_offset", cnm.queue_offset);
    frames_say_signed(f, "cnm.queue_delta", cnm.queue_delta);
    frames_say(f, "cnm.about_priority", cnm.about_priority);
    frames_say(f, "cnm.about_reserved", cnm.about_reserved);
    make_address(f, cnm.about_destination, "cnm.about_destination");
    frames_say(f, "cnm.msdu_octets", cnm.msdu_octets);
    if (cnm.msdu_octets)
        frames_say_octets(f, "cnm.msdu", cnm.msdu, cnm.msdu_octets);
    append(f, xoff_cnm_encode(&cnm, end(f), left(f)));
    f->n = xoff_eth_pad(f->octets, f->n);
}

void make_bcn(struct frames *f)
{
    struct xoff_bcn bcn = {.is_stop = frames_coin(f),
                           .reserved = (uint8_t)frames_bits(f, 7),
                           .cp_id = frames_bits(f, 64),
                           .queue_offset = (int16_t)frames_bits(f, 16),
                           .queue_delta = (int16_t)frames_bits(f, 16),
                           .flow = (uint32_t)frames_bits(f, 32)};
    begin(f, XOFF_ETHERTYPE_BCN);
    frames_say(f, "bcn.stop", bcn.is_stop);
    frames_say(f, "bcn.reserved", bcn.reserved);
    frames_say(f, "bcn.cp_id", bcn.cp_id);
    frames_say_signed(f, "bcn.queue_offset", bcn.queue_offset);
    frames_say_signed(f, "bcn.queue_delta", bcn.queue_delta);
    make_address(f, bcn.about_destination, "bcn.about_destination");
    frames_say(f, "bcn.flow", bcn.flow);
    append(f, xoff_bcn_encode(&bcn, end(f), left(f)));
    f->n = xoff_eth_pad(f->octets, f->n);
}

void make_notice(struct frames *f)
{
    const struct notice_frame notice = {.kind = (uint8_t)frames_bits(f, 8),
                                        .cp_id = frames_bits(f, 64),
                                        .feedback = (int32_t)frames_bits(f, 32),
                                        .queue_offset_bytes = (int32_t)frames_bits(f, 32),
                                        .queue_delta_bytes = (int32_t)frames_bits(f, 32),
                                        .rate_bps = frames_bits(f, 64),
                                        .flow = (uint32_t)frames_bits(f, 32)};
    begin(f, XOFF_ETHERTYPE_NOTICE);
    frames_say(f, "notice.kind", notice.kind);
    frames_say(f, "notice.cp_id", notice.cp_id);
    frames_say_signed(f, "notice.feedback", notice.feedback);
    frames_say_signed(f, "notice.queue_offset_bytes", notice.queue_offset_bytes);
    frames_say_signed(f, "notice.queue_delta_bytes", notice.queue_delta_bytes);
    frames_say(f, "notice.rate_bps", notice.rate_bps);
    frames_say(f, "notice.flow", notice.flow);
    append(f, xoff_notice_frame_encode(&notice, end(f), left(f)));
    f->n = xoff_eth_pad(f->octets, f->n);
}

static void say_ip(struct frames *f, const struct ipv4 *ip)
{
    char text[32];
    frames_say(f, "ip.dsfield.dscp", ip->dscp);
    frames_say(f, "ip.dsfield.ecn", ip->ecn);
    frames_say(f, "ip.len", ip->length);
    frames_say(f, "ip.id", ip->identification);
    frames_say(f, "ip.flags.df", ip->bits >> 1 & 1);
    frames_say(f, "ip.ttl", ip->ttl);
    frames_say(f, "ip.proto", ip->protocol);
    frames_say(f, "ip.hdr_len", 20u + ip->option_octets);
    frames_say(f, "ip.checksum", ip->checksum);
    frames_say(f, "ip.checksum.status", 1); /* good */
    for (unsigned i = 0; i < 2; i++) {
        const uint32_t address = i ? ip->destination : ip->source;
        snprintf(text, sizeof text, "%u.%u.%u.%u", address >> 24, address >> 16 & 255,
                 address >> 8 & 255, address & 255);
        frames_say_text(f, i ? "ip.dst" : "ip.src", text);
    }
}

/* An IPv4 header in front of `payload` octets. Reserved bits and fragments would have tshark stop
 * there, and so would most options: there are only fillers. */
static struct ipv4 make_ip(struct frames *f, uint8_t protocol, size_t payload)
{
    struct ipv4 ip = {.dscp = (uint8_t)frames_bits(f, 6),
                      .ecn = (uint8_t)frames_bits(f, 2),
                      .identification = (uint16_t)frames_bits(f, 16),
                      .bits = frames_coin(f) ? 2 : 0,
                      .ttl = (uint8_t)(1 + frames_below(f, 255)),
                      .protocol = protocol,
                      .source = 0x0a000000 | (uint32_t)frames_bits(f, 24),
                      .destination = 0xac100000 | (uint32_t)frames_bits(f, 20),
                      .option_octets = (uint8_t)(frames_below(f, 4) ? 0 : 4 * frames_below(f, 11))};
    memset(ip.options, 1, ip.option_octets); /* no operation */
    ip.length = (uint16_t)(20 + ip.option_octets + payload);
    uint8_t head[60];
    const size_t n = xoff_ipv4_encode(&ip, head, sizeof head);
    ip.checksum = xoff_ip_checksum(xoff_ip_sum(head, n, 0));
    begin(f, XOFF_ETHERTYPE_IPV4);
    say_ip(f, &ip);
    append(f, xoff_ipv4_encode(&ip, end(f), left(f)));
    return ip;
}

static void say_bth(struct frames *f, const struct bth *bth)
{
    frames_say(f, "infiniband.bth.opcode", bth->opcode);
    frames_say(f, "infiniband.bth.se", bth->is_solicited);
    frames_say(f, "infiniband.bth.m", bth->is_migrated);
    frames_say(f, "infiniband.bth.padcnt", bth->pad_octets);
    frames_say(f, "infiniband.bth.tver", 0);
    frames_say(f, "infiniband.bth.p_key", bth->partition);
    frames_say(f, "infiniband.bth.destqp", bth->queue_pair);
    frames_say(f, "infiniband.bth.a", bth->asks);
    frames_say(f, "infiniband.bth.reserved7", bth->reserved_too);
    frames_say(f, "infiniband.bth.psn", bth->psn);
}

static void say_aeth(struct frames *f, const struct aeth *aeth)
{
    frames_say(f, "infiniband.aeth.syndrome", aeth->syndrome);
    frames_say(f, "infiniband.aeth.msn", aeth->message);
}

/* tshark does not check the ICRC, and shows none behind a CNP. */
static void make_icrc(struct frames *f, bool is_shown)
{
    const uint32_t icrc = (uint32_t)frames_bits(f, 32);
    for (unsigned i = 4; i-- > 0;)
        f->octets[f->n++] = (uint8_t)(icrc >> (8 * i));
    if (is_shown)
        frames_say(f, "infiniband.invariant.crc", icrc);
}

/* Queue pairs 0 and 1 are for management and have other headers behind the BTH; a message without
 * octets is malformed to tshark. */
void make_bth(struct frames *f)
{
    static const uint8_t opcodes[] = {0, 1, 2, 4, 0x11, 0x20, 0x21, 0x22, 0x24, 0x81};
    struct bth bth = {.opcode = opcodes[frames_below(f, sizeof opcodes)],
                      .is_solicited = frames_coin(f),
                      .is_migrated = frames_coin(f),
                      .pad_octets = (uint8_t)frames_bits(f, 2),
                      .partition = (uint16_t)frames_bits(f, 16),
                      .is_fecn = frames_coin(f),
                      .is_becn = frames_coin(f),
                      .queue_pair = 2 + (uint32_t)frames_bits(f, 23),
                      .asks = frames_coin(f),
                      .reserved_too = (uint8_t)frames_bits(f, 7),
                      .psn = (uint32_t)frames_bits(f, 24)};
    const bool has_aeth = xoff_roce_has_aeth(bth.opcode);
    const size_t payload = bth.opcode == ROCE_CNP ? 16
                           : has_aeth             ? 0
                                                  : 4 + 4 * frames_below(f, 100);
    const size_t octets = 8 + 12 + (has_aeth ? 4u : 0u) + payload + 4;
    if (!payload)
        bth.pad_octets = 0;
    make_ip(f, IP_PROTOCOL_UDP, octets);
    const struct udp udp = {.source = (uint16_t)(0xc000 | frames_bits(f, 14)),
                            .destination = 4791,
                            .length = (uint16_t)octets};
    frames_say(f, "udp.srcport", udp.source);
    frames_say(f, "udp.dstport", udp.destination);
    frames_say(f, "udp.length", udp.length);
    append(f, xoff_udp_encode(&udp, end(f), left(f)));
    say_bth(f, &bth);
    append(f, xoff_bth_encode(&bth, end(f), left(f)));
    if (has_aeth) {
        const struct aeth aeth = {.syndrome = (uint8_t)frames_bits(f, 7),
                                  .message = (uint32_t)frames_bits(f, 24)};
        say_aeth(f, &aeth);
        append(f, xoff_aeth_encode(&aeth, end(f), left(f)));
    }
    memset(end(f), 0, payload);
    f->n += payload;
    make_icrc(f, bth.opcode != ROCE_CNP);
}

static void say_tcp(struct frames *f, const struct tcp *tcp)
{
    static const char *const bits[] = {"fin", "syn", "reset", "push", "ack", "urg", "ece", "cwr"};
    frames_say(f, "tcp.srcport", tcp->source);
    frames_say(f, "tcp.dstport", tcp->destination);
    frames_say(f, "tcp.seq_raw", tcp->sequence);
    frames_say(f, "tcp.ack_raw", tcp->acknowledged);
    frames_say(f, "tcp.hdr_len", 20u + tcp->option_octets);
    frames_say(f, "tcp.window_size_value", tcp->window);
    frames_say(f, "tcp.urgent_pointer", tcp->urgent);
    for (unsigned i = 0; i < 8; i++) {
        char field[32];
        snprintf(field, sizeof field, "tcp.flags.%s", bits[i]);
        frames_say(f, field, tcp->bits >> i & 1);
    }
    frames_say(f, "tcp.checksum", tcp->checksum);
    frames_say(f, "tcp.checksum.status", 1);
}

/* Ports from 60000 on: behind others tshark looks for the protocol that they are known for. */
void make_tcp_header(struct frames *f)
{
    struct tcp tcp = {.source = (uint16_t)(60000 + frames_below(f, 5000)),
                      .destination = (uint16_t)(60000 + frames_below(f, 5000)),
                      .sequence = (uint32_t)frames_bits(f, 32),
                      .acknowledged = (uint32_t)frames_bits(f, 32),
                      .bits = (uint8_t)frames_bits(f, 8),
                      .window = (uint16_t)frames_bits(f, 16),
                      .urgent = (uint16_t)frames_bits(f, 16)};
    struct tcp_options options = {.has_stamps = frames_coin(f),
                                  .stamp = (uint32_t)frames_bits(f, 32),
                                  .echoed_stamp = (uint32_t)frames_bits(f, 32),
                                  .n_sacks = (uint8_t)frames_below(f, 4)};
    tcp.bits &= (uint8_t) ~(TCP_SYN | TCP_RST | TCP_URG); /* their frames have other rules */
    for (unsigned i = 0; i < options.n_sacks; i++) {
        options.sack_from[i] = tcp.acknowledged + 1 + (uint32_t)frames_bits(f, 20);
        options.sack_to[i] = options.sack_from[i] + 1 + (uint32_t)frames_bits(f, 20);
        frames_say(f, "tcp.options.sack_le", options.sack_from[i]);
        frames_say(f, "tcp.options.sack_re", options.sack_to[i]);
    }
    xoff_tcp_set_options(&tcp, &options);
    if (options.has_stamps) {
        frames_say(f, "tcp.options.timestamp.tsval", options.stamp);
        frames_say(f, "tcp.options.timestamp.tsecr", options.echoed_stamp);
    }
    const size_t payload = frames_below(f, 200);
    const struct ipv4 ip = make_ip(f, IP_PROTOCOL_TCP, 20u + tcp.option_octets + payload);
    uint8_t segment[60 + 200];
    const size_t n = xoff_tcp_encode(&tcp, segment, sizeof segment);
    frames_octets(f, segment + n, payload);
    tcp.checksum =
        xoff_ip_checksum(xoff_ip_sum(segment, n + payload, xoff_ip_pseudo_sum(&ip, n + payload)));
    say_tcp(f, &tcp);
    frames_say(f, "tcp.len", payload);
    append(f, xoff_tcp_encode(&tcp, end(f), left(f)));
    memcpy(end(f), segment + n, payload);
    f->n += payload;
}
