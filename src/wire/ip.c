/* IPv4, UDP and TCP headers: octets <-> struct.
 *
 * Source: RFC 791 (IPv4), RFC 2474 and 3168 (DSCP, ECN), RFC 768 (UDP), RFC 9293 (TCP), RFC 7323
 * (timestamps), RFC 2018 (SACK), RFC 1071 (checksum). Options are kept as octets, so that any
 * header is written back as it was.
 */
#include "wire/ip.h"

#include "wire/octets.h"

enum { OPTION_END = 0, OPTION_FILLER = 1, OPTION_SACK = 5, OPTION_STAMPS = 8 };

/* Reads the options of a header with a length in words of 4 octets, of which five are fixed. */
static uint8_t get_header_options(struct octets_in *in, unsigned words, uint8_t *options)
{
    const unsigned n = 4 * words - 20;
    get_copy(in, options, n, "options");
    return (uint8_t)n;
}

int xoff_ipv4_decode(const uint8_t *frame, size_t length, size_t at, struct ipv4 *ip,
                     struct xoff_err *err)
{
    struct octets_in in = octets_in_at(frame, length, at);
    const uint8_t first = get8(&in, "version"), class = get8(&in, "DSCP");
    ip->dscp = class >> 2;
    ip->ecn = class & 3;
    ip->length = get16(&in, "total length");
    ip->identification = get16(&in, "identification");
    const uint16_t fragment = get16(&in, "fragment offset");
    ip->bits = (uint8_t)(fragment >> 13);
    ip->fragment_unit = fragment & 0x1fff;
    ip->ttl = get8(&in, "TTL");
    ip->protocol = get8(&in, "protocol");
    ip->checksum = get16(&in, "header checksum");
    ip->source = get32(&in, "source");
    ip->destination = get32(&in, "destination");
    if (in.cut_field)
        return xoff_octets_refuse_cut(err, &in);
    if (first >> 4 != 4)
        return xoff_octets_refuse(err, XOFF_E_TYPE, "version", frame, at, 1,
                                  "the upper four bits must be 4");
    if ((first & 15) < 5)
        return xoff_octets_refuse(err, XOFF_E_RANGE, "header length", frame, at, 1,
                                  "the lower four bits must be 5 at least");
    ip->option_octets = get_header_options(&in, first & 15, ip->options);
    if (in.cut_field)
        return xoff_octets_refuse_cut(err, &in);
    if (ip->length < in.at - at)
        return xoff_octets_refuse(err, XOFF_E_RANGE, "total length", frame, at + 2, 2,
                                  "less than the header's own");
    return (int)in.at;
}

size_t xoff_ipv4_encode(const struct ipv4 *ip, uint8_t *buf, size_t capacity)
{
    struct octets_out out = octets_out(buf, capacity);
    XOFF_ASSERT(ip->dscp < 64 && ip->ecn < 4 && ip->bits < 8 && ip->fragment_unit < 0x2000);
    XOFF_ASSERT(ip->option_octets <= IP_MAX_OPTIONS && ip->option_octets % 4 == 0);
    put8(&out, 0x45u + ip->option_octets / 4u);
    put8(&out, (unsigned)ip->dscp << 2 | ip->ecn);
    put16(&out, ip->length);
    put16(&out, ip->identification);
    put16(&out, (unsigned)ip->bits << 13 | ip->fragment_unit);
    put8(&out, ip->ttl);
    put8(&out, ip->protocol);
    put16(&out, ip->checksum);
    put32(&out, ip->source);
    put32(&out, ip->destination);
    put_octets(&out, ip->options, ip->option_octets);
    return octets_written(&out);
}

int xoff_udp_decode(const uint8_t *frame, size_t length, size_t at, struct udp *udp,
                    struct xoff_err *err)
{
    struct octets_in in = octets_in_at(frame, length, at);
    udp->source = get16(&in, "source port");
    udp->destination = get16(&in, "destination port");
    udp->length = get16(&in, "UDP length");
    udp->checksum = get16(&in, "UDP checksum");
    if (in.cut_field)
        return xoff_octets_refuse_cut(err, &in);
    if (udp->length < UDP_OCTETS)
        return xoff_octets_refuse(err, XOFF_E_RANGE, "UDP length", frame, at + 4, 2,
                                  "must be 8 at least");
    return (int)in.at;
}

size_t xoff_udp_encode(const struct udp *udp, uint8_t *buf, size_t capacity)
{
    struct octets_out out = octets_out(buf, capacity);
    put16(&out, udp->source);
    put16(&out, udp->destination);
    put16(&out, udp->length);
    put16(&out, udp->checksum);
    return octets_written(&out);
}

int xoff_tcp_decode(const uint8_t *frame, size_t length, size_t at, struct tcp *tcp,
                    struct xoff_err *err)
{
    struct octets_in in = octets_in_at(frame, length, at);
    tcp->source = get16(&in, "source port");
    tcp->destination = get16(&in, "destination port");
    tcp->sequence = get32(&in, "sequence number");
    tcp->acknowledged = get32(&in, "acknowledgement number");
    const uint8_t words = get8(&in, "data offset");
    tcp->reserved = words & 15;
    tcp->bits = get8(&in, "control bits");
    tcp->window = get16(&in, "window");
    tcp->checksum = get16(&in, "TCP checksum");
    tcp->urgent = get16(&in, "urgent pointer");
    if (in.cut_field)
        return xoff_octets_refuse_cut(err, &in);
    if (words >> 4 < 5)
        return xoff_octets_refuse(err, XOFF_E_RANGE, "data offset", frame, at + 12, 1,
                                  "the upper four bits must be 5 at least");
    tcp->option_octets = get_header_options(&in, words >> 4, tcp->options);
    return in.cut_field ? xoff_octets_refuse_cut(err, &in) : (int)in.at;
}

size_t xoff_tcp_encode(const struct tcp *tcp, uint8_t *buf, size_t capacity)
{
    struct octets_out out = octets_out(buf, capacity);
    XOFF_ASSERT(tcp->option_octets <= IP_MAX_OPTIONS && tcp->option_octets % 4 == 0);
    XOFF_ASSERT(tcp->reserved < 16);
    put16(&out, tcp->source);
    put16(&out, tcp->destination);
    put32(&out, tcp->sequence);
    put32(&out, tcp->acknowledged);
    put8(&out, (5u + tcp->option_octets / 4u) << 4 | tcp->reserved);
    put8(&out, tcp->bits);
    put16(&out, tcp->window);
    put16(&out, tcp->checksum);
    put16(&out, tcp->urgent);
    put_octets(&out, tcp->options, tcp->option_octets);
    return octets_written(&out);
}

static void get_sacks(struct octets_in *in, struct tcp_options *options)
{
    while (octets_left(in) && options->n_sacks < TCP_MAX_SACKS) {
        options->sack_from[options->n_sacks] = get32(in, "SACK");
        options->sack_to[options->n_sacks] = get32(in, "SACK");
        if (!in->cut_field)
            options->n_sacks++;
    }
}

bool xoff_tcp_get_options(const struct tcp *tcp, struct tcp_options *options)
{
    struct octets_in in = octets_in(tcp->options, tcp->option_octets);
    memset(options, 0, sizeof *options);
    while (octets_left(&in)) {
        const uint8_t kind = get8(&in, "kind");
        if (kind == OPTION_END)
            return true;
        if (kind == OPTION_FILLER)
            continue;
        const uint8_t n = get8(&in, "length");
        struct octets_in value = get_part(&in, n < 2 ? SIZE_MAX : n - 2u, "option");
        if (in.cut_field)
            return false;
        if (kind == OPTION_STAMPS) {
            options->stamp = get32(&value, "stamp");
            options->echoed_stamp = get32(&value, "echoed stamp");
            options->has_stamps = !value.cut_field;
        } else if (kind == OPTION_SACK) {
            get_sacks(&value, options);
        }
        if (value.cut_field)
            return false;
    }
    return true;
}

void xoff_tcp_set_options(struct tcp *tcp, const struct tcp_options *options)
{
    struct octets_out out = octets_out(tcp->options, sizeof tcp->options);
    XOFF_ASSERT(options->n_sacks <= TCP_MAX_SACKS - options->has_stamps);
    if (options->has_stamps) {
        put32(&out, 0x0101080a); /* two fillers; 10 octets of timestamps */
        put32(&out, options->stamp);
        put32(&out, options->echoed_stamp);
    }
    if (options->n_sacks) {
        put24(&out, 0x010105);
        put8(&out, 2u + 8u * options->n_sacks);
        for (int i = 0; i < options->n_sacks; i++) {
            put32(&out, options->sack_from[i]);
            put32(&out, options->sack_to[i]);
        }
    }
    tcp->option_octets = (uint8_t)octets_written(&out);
}

uint32_t xoff_ip_sum(const uint8_t *octets, size_t n, uint32_t sum)
{
    uint64_t wide = sum; /* 2^47 octets fit */
    for (; n > 1; n -= 2, octets += 2)
        wide += (uint32_t)octets[0] << 8 | octets[1];
    wide += n ? (uint32_t)octets[0] << 8 : 0;
    while (wide >> 16)
        wide = (wide & 0xffff) + (wide >> 16);
    return (uint32_t)wide;
}

uint16_t xoff_ip_checksum(uint32_t sum)
{
    while (sum >> 16)
        sum = (sum & 0xffff) + (sum >> 16);
    return (uint16_t)~sum;
}

uint32_t xoff_ip_pseudo_sum(const struct ipv4 *ip, size_t n)
{
    return (ip->source >> 16) + (ip->source & 0xffff) + (ip->destination >> 16) +
           (ip->destination & 0xffff) + ip->protocol + (uint32_t)n;
}
