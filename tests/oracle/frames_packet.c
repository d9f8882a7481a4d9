/* Frames as captures of runs have them: PAUSE, PFC, RoCEv2, TCP, with and without tags of QCN, ECM
 * and FECN, and the messages of these. Fields of tags and messages are those of xoff.lua. */
#include <string.h>

#include "oracle/random_frames.h"
#include "wire/packet.h"

static void encode(struct frames *f, const struct packet *packet)
{
    static struct crc32 crc32;
    static bool is_ready;
    if (!is_ready)
        xoff_crc32_init(&crc32);
    is_ready = true;
    f->n = xoff_packet_encode(packet, &crc32, f->octets) - PACKET_FCS_BYTES;
}

static void say_hosts(struct frames *f, const struct packet *p)
{
    uint8_t from[6], to[6];
    xoff_packet_host_mac(p->from, from);
    xoff_packet_host_mac(p->to, to);
    frames_say_address(f, "eth.src", from);
    frames_say_address(f, "eth.dst", to);
}

static void say_ip(struct frames *f, const struct packet *p, uint32_t protocol, uint32_t octets)
{
    char text[32];
    say_hosts(f, p);
    for (unsigned i = 0; i < 2; i++) {
        const uint32_t host = (i ? p->to : p->from) + 1;
        snprintf(text, sizeof text, "10.%u.%u.%u", host >> 16, host >> 8 & 255, host & 255);
        frames_say_text(f, i ? "ip.dst" : "ip.src", text);
    }
    frames_say(f, "ip.version", 4);
    frames_say(f, "ip.hdr_len", 20);
    frames_say(f, "ip.dsfield.dscp", 8u * p->priority);
    frames_say(f, "ip.dsfield.ecn", p->kind != PACKET_DATA ? 0 : p->is_marked ? 3 : 2);
    frames_say(f, "ip.flags.df", 1);
    frames_say(f, "ip.ttl", 64);
    frames_say(f, "ip.proto", protocol);
    frames_say(f, "ip.len", 20 + octets);
    frames_say(f, "ip.checksum.status", 1); /* good */
}

static struct packet make_flow(struct frames *f, enum packet_kind kind)
{
    return (struct packet){.kind = kind,
                           .bytes = 64,
                           .from = (uint32_t)frames_bits(f, 20),
                           .to = (uint32_t)frames_bits(f, 20),
                           .flow = (uint32_t)frames_bits(f, 23),
                           .hash = (uint32_t)frames_bits(f, 32),
                           .priority = (uint8_t)frames_bits(f, 3),
                           .seq = frames_bits(f, 40),
                           .psn = (uint32_t)frames_bits(f, 24),
                           .stamp = (uint32_t)frames_bits(f, 32),
                           .is_marked = frames_coin(f),
                           .is_first = frames_coin(f),
                           .is_last = frames_coin(f),
                           .asks = frames_coin(f),
                           .is_reduced = frames_coin(f)};
}

/* A data frame may have one of the tags. */
static void make_tag(struct frames *f, struct packet *p)
{
    switch (frames_below(f, 4)) {
    case 0:
        p->is_tagged = true;
        frames_say(f, "cn-tag.flow", p->flow & 0xffff);
        break;
    case 1:
        p->has_rrt = true;
        p->is_limited = frames_coin(f);
        p->notice.cp_id = frames_bits(f, 64);
        frames_say(f, "rrt.limited", p->is_limited);
        frames_say(f, "rrt.cp_id", p->is_limited ? p->notice.cp_id : 0);
        break;
    case 2:
        p->rate_tag = (struct packet_rate_tag){.is_there = true,
                                               .is_back = frames_coin(f),
                                               .kind = (uint8_t)frames_bits(f, 8),
                                               .rate_bps = frames_bits(f, 64)};
        frames_say(f, "rate-tag.version", 0);
        frames_say(f, "rate-tag.direction", p->rate_tag.is_back);
        frames_say(f, "rate-tag.kind", p->rate_tag.kind);
        frames_say(f, "rate-tag.flow", p->flow);
        frames_say(f, "rate-tag.rate_bps", p->rate_tag.rate_bps);
        break;
    default:
        break;
    }
}

void make_pause(struct frames *f)
{
    struct packet p = {.kind = PACKET_PAUSE, .bytes = 64};
    const bool is_pfc = frames_coin(f);
    p.pause.opcode = is_pfc ? XOFF_OPCODE_PFC : XOFF_OPCODE_PAUSE;
    p.pause.classes = is_pfc ? (uint8_t)frames_bits(f, 8) : 0xff;
    frames_octets(f, p.source_mac, 6);
    p.source_mac[0] &= 0xfe;
    frames_say_text(f, "eth.dst", "01:80:c2:00:00:01");
    frames_say_address(f, "eth.src", p.source_mac);
    frames_say(f, "eth.type", 0x8808);
    frames_say(f, "macc.opcode", p.pause.opcode);
    for (unsigned c = 0; c < (is_pfc ? 8 : 1); c++)
        p.pause.quanta[c] = (uint16_t)frames_bits(f, 16);
    if (!is_pfc)
        frames_say(f, "macc.pause_time", p.pause.quanta[0]);
    else
        frames_say(f, "macc.cbfc.enbv", p.pause.classes);
    for (unsigned c = 0; c < 8 && is_pfc; c++) {
        frames_say_at(f, "macc.cbfc.enbv.c%u", c, p.pause.classes >> c & 1);
        frames_say_at(f, "macc.cbfc.pause_time.c%u", c, p.pause.quanta[c]);
    }
    encode(f, &p);
}

static unsigned roce_opcode(const struct packet *p)
{
    static const unsigned send[2][2] = {{1, 2}, {0, 4}}; /* by is_first, is_last */
    return send[p->is_first][p->is_last] + (p->protocol == PACKET_UC ? 0x20 : 0);
}

static void say_bth(struct frames *f, const struct packet *p, unsigned opcode)
{
    frames_say(f, "udp.srcport", 0xc000 | (p->hash & 0x3fff));
    frames_say(f, "udp.dstport", 4791);
    frames_say(f, "infiniband.bth.opcode", opcode);
    frames_say(f, "infiniband.bth.se", 0);
    frames_say(f, "infiniband.bth.m", 1);
    frames_say(f, "infiniband.bth.padcnt", 0);
    frames_say(f, "infiniband.bth.tver", 0);
    frames_say(f, "infiniband.bth.p_key", 0xffff);
    frames_say(f, "infiniband.bth.destqp", p->flow + 2);
    frames_say(f, "infiniband.bth.a", p->kind == PACKET_DATA && p->asks);
    frames_say(f, "infiniband.bth.psn", p->psn);
}

void make_roce(struct frames *f)
{
    static const enum packet_kind kinds[] = {PACKET_DATA, PACKET_ACK, PACKET_NACK, PACKET_CNP};
    struct packet p = make_flow(f, kinds[frames_below(f, 4)]);
    unsigned opcode = p.kind == PACKET_CNP ? 0x81 : 0x11, octets = 12 + 4;
    if (p.kind == PACKET_DATA) {
        p.protocol = frames_coin(f) ? PACKET_UC : PACKET_RC;
        p.payload_bytes = (uint16_t)(1 + frames_below(f, 1024));
        p.bytes = (uint16_t)(p.payload_bytes + 62 > 64 ? p.payload_bytes + 62 : 64);
        make_tag(f, &p);
        opcode = roce_opcode(&p);
        octets += p.payload_bytes;
    } else if (p.kind == PACKET_CNP) {
        octets += 16;
    } else {
        octets += 4;
        frames_say(f, "infiniband.aeth.syndrome.opcode", p.kind == PACKET_ACK ? 0 : 3);
        frames_say(f,
                   p.kind == PACKET_ACK ? "infiniband.aeth.syndrome.credit_count"
                                        : "infiniband.aeth.syndrome.error_code",
                   p.kind == PACKET_ACK ? 31 : 0);
        frames_say(f, "infiniband.aeth.msn", 0);
    }
    say_ip(f, &p, 17, 8 + octets);
    frames_say(f, "udp.length", 8 + octets);
    say_bth(f, &p, opcode);
    encode(f, &p);
}

void make_tcp(struct frames *f)
{
    struct packet p = make_flow(f, frames_coin(f) ? PACKET_DATA : PACKET_ACK);
    const bool is_data = p.kind == PACKET_DATA;
    const unsigned here = 49152 + (p.flow & 0x3fff), there = 32768 + (p.flow >> 14);
    p.protocol = PACKET_TCP;
    if (is_data) {
        p.payload_bytes = (uint16_t)(1 + frames_below(f, 1024));
        p.bytes = (uint16_t)(p.payload_bytes + 70);
        make_tag(f, &p);
    } else {
        p.n_sacks = frames_below(f, 4);
    }
    for (unsigned i = 0; i < p.n_sacks; i++) {
        p.sack_from[i] = p.seq + frames_bits(f, 20);
        p.sack_to[i] = p.sack_from[i] + frames_bits(f, 20);
        frames_say(f, "tcp.options.sack_le", (uint32_t)(p.sack_from[i] + 1));
        frames_say(f, "tcp.options.sack_re", (uint32_t)(p.sack_to[i] + 1));
    }
    const unsigned head = 20 + 12 + (p.n_sacks ? 4 + 8 * p.n_sacks : 0);
    say_ip(f, &p, 6, head + p.payload_bytes);
    frames_say(f, "tcp.srcport", is_data ? here : there);
    frames_say(f, "tcp.dstport", is_data ? there : here);
    frames_say(f, "tcp.seq_raw", is_data ? (uint32_t)(p.seq + 1) : 1);
    frames_say(f, "tcp.ack_raw", is_data ? 1 : (uint32_t)(p.seq + 1));
    frames_say(f, "tcp.hdr_len", head);
    frames_say(f, "tcp.len", p.payload_bytes);
    frames_say(f, "tcp.flags.ack", 1);
    frames_say(f, "tcp.flags.push", is_data && p.is_last);
    frames_say(f, "tcp.flags.cwr", is_data && p.is_reduced);
    frames_say(f, "tcp.flags.ece", !is_data && p.is_marked);
    frames_say(f, "tcp.window_size_value", 0xffff);
    frames_say(f, "tcp.options.timestamp.tsval", is_data ? p.stamp : 0);
    frames_say(f, "tcp.options.timestamp.tsecr", is_data ? 0 : p.stamp);
    frames_say(f, "tcp.checksum.status", 1);
    encode(f, &p);
}

/* Queue offset and delta travel in units of 64 octets, negative when congested. */
static int64_t units(int32_t bytes)
{
    const int64_t n = -(int64_t)bytes / 64;
    return n > INT16_MAX ? INT16_MAX : n < INT16_MIN ? INT16_MIN : n;
}

static void say_point(struct frames *f, const struct packet *p, bool is_cnm)
{
    uint8_t to[6], about[6];
    xoff_packet_host_mac(p->to, to);
    xoff_packet_host_mac(p->from, about);
    frames_say_address(f, "eth.dst", to);
    frames_say_address(f, "eth.src", p->source_mac);
    frames_say(f, "vlan.priority", p->priority);
    frames_say(f, "vlan.id", 0);
    frames_say(f, is_cnm ? "cnm.cp_id" : "bcn.cp_id", p->notice.cp_id);
    frames_say_signed(f, is_cnm ? "cnm.queue_offset" : "bcn.queue_offset",
                      units(p->notice.queue_offset_bytes));
    frames_say_signed(f, is_cnm ? "cnm.queue_delta" : "bcn.queue_delta",
                      units(p->notice.queue_delta_bytes));
    frames_say_address(f, is_cnm ? "cnm.about_destination" : "bcn.about_destination", about);
}

/* CNM, BCN, or the notice of all other schemes. */
void make_message(struct frames *f)
{
    struct packet p = make_flow(f, PACKET_NOTICE);
    const unsigned which = frames_below(f, 3);
    frames_octets(f, p.source_mac, 6);
    p.source_mac[0] &= 0xfe;
    p.notice = (struct packet_notice){.cp_id = frames_bits(f, 64),
                                      .rate_bps = frames_bits(f, 64),
                                      .feedback = -1 - (int32_t)frames_below(f, 63),
                                      .queue_offset_bytes = (int32_t)frames_bits(f, 32),
                                      .queue_delta_bytes = (int32_t)frames_bits(f, 32),
                                      .kind = (uint8_t)frames_bits(f, 8),
                                      .is_cnm = which == 0,
                                      .is_bcn = which == 1,
                                      .about_priority = (uint8_t)frames_bits(f, 3)};
    if (which == 0) {
        p.is_tagged = frames_coin(f);
        say_point(f, &p, true);
        frames_say(f, "cn-tag.flow", p.is_tagged ? p.flow & 0xffff : 0);
        frames_say(f, "cnm.version", 0);
        frames_say_signed(f, "cnm.feedback", -p.notice.feedback);
        frames_say(f, "cnm.about_priority", p.notice.about_priority);
    } else if (which == 1) {
        const bool stops = frames_below(f, 4) == 0;
        if (stops)
            p.notice.queue_offset_bytes = p.notice.queue_delta_bytes = 0;
        say_point(f, &p, false);
        frames_say(f, "bcn.stop", stops);
        frames_say(f, "bcn.flow", p.flow);
    } else {
        say_hosts(f, &p);
        frames_say(f, "notice.kind", p.notice.kind);
        frames_say(f, "notice.cp_id", p.notice.cp_id);
        frames_say_signed(f, "notice.feedback", p.notice.feedback);
        frames_say_signed(f, "notice.queue_offset_bytes", p.notice.queue_offset_bytes);
        frames_say_signed(f, "notice.queue_delta_bytes", p.notice.queue_delta_bytes);
        frames_say(f, "notice.rate_bps", p.notice.rate_bps);
        frames_say(f, "notice.flow", p.flow);
    }
    encode(f, &p);
}
