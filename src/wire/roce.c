/* BTH, AETH, invariant CRC and HPCC's telemetry: octets <-> struct.
 *
 * Source: InfiniBand Architecture 1.4 chapter 9 (BTH, AETH) and its annex A17 (RoCEv2: UDP port
 * 4791, ICRC, CNP).
 *
 *   BTH   opcode 8; solicited 1, migrated 1, pad 2, version 4; partition 16; FECN 1, BECN 1,
 *         reserved 6; queue pair 24; asks 1, reserved 7; PSN 24 bits
 *   AETH  syndrome 8, message sequence number 24 bits
 *
 * HPCC (Li et al., 2019) Figure 7: hops in use 4, path 12 bits; then five hops of rate 4, time in
 * ns 24, bytes sent in units of 128 B 20, queue in units of 80 B 16 bits. Differs: which number
 * stands for which rate is not published; ours is an index into gbps[].
 */
#include "wire/roce.h"

#include "wire/ip.h"
#include "wire/octets.h"

static const uint16_t gbps[] = {1, 10, 25, 40, 50, 100, 200, 400, 800, 1600};
enum { N_RATES = sizeof gbps / sizeof *gbps, NO_RATE = 15 };

int xoff_bth_decode(const uint8_t *frame, size_t length, size_t at, struct bth *bth,
                    struct xoff_err *err)
{
    struct octets_in in = octets_in_at(frame, length, at);
    bth->opcode = get8(&in, "BTH opcode");
    const uint8_t second = get8(&in, "BTH version");
    bth->is_solicited = second >> 7;
    bth->is_migrated = second >> 6 & 1;
    bth->pad_octets = second >> 4 & 3;
    bth->partition = get16(&in, "partition key");
    const uint8_t congestion = get8(&in, "FECN and BECN");
    bth->is_fecn = congestion >> 7;
    bth->is_becn = congestion >> 6 & 1;
    bth->reserved = congestion & 63;
    bth->queue_pair = get24(&in, "queue pair");
    const uint8_t asks = get8(&in, "acknowledge request");
    bth->asks = asks >> 7;
    bth->reserved_too = asks & 127;
    bth->psn = get24(&in, "PSN");
    if (in.cut_field)
        return xoff_octets_refuse_cut(err, &in);
    if (second & 15)
        return xoff_octets_refuse(err, XOFF_E_RANGE, "BTH version", frame, at + 1, 1,
                                  "the lower four bits must be 0");
    return (int)in.at;
}

size_t xoff_bth_encode(const struct bth *bth, uint8_t *buf, size_t capacity)
{
    struct octets_out out = octets_out(buf, capacity);
    XOFF_ASSERT(bth->pad_octets < 4 && bth->reserved < 64 && bth->reserved_too < 128);
    put8(&out, bth->opcode);
    put8(&out, (unsigned)bth->is_solicited << 7 | (unsigned)bth->is_migrated << 6 |
                   (unsigned)bth->pad_octets << 4);
    put16(&out, bth->partition);
    put8(&out, (unsigned)bth->is_fecn << 7 | (unsigned)bth->is_becn << 6 | bth->reserved);
    put24(&out, bth->queue_pair);
    put8(&out, (unsigned)bth->asks << 7 | bth->reserved_too);
    put24(&out, bth->psn);
    return octets_written(&out);
}

int xoff_aeth_decode(const uint8_t *frame, size_t length, size_t at, struct aeth *aeth,
                     struct xoff_err *err)
{
    struct octets_in in = octets_in_at(frame, length, at);
    aeth->syndrome = get8(&in, "syndrome");
    aeth->message = get24(&in, "message sequence number");
    return in.cut_field ? xoff_octets_refuse_cut(err, &in) : (int)in.at;
}

size_t xoff_aeth_encode(const struct aeth *aeth, uint8_t *buf, size_t capacity)
{
    struct octets_out out = octets_out(buf, capacity);
    put8(&out, aeth->syndrome);
    put24(&out, aeth->message);
    return octets_written(&out);
}

/* Of a reliable connection: first, last and only response to READ; ACK; ATOMIC ACK. */
bool xoff_roce_has_aeth(uint8_t opcode)
{
    return opcode >= 13 && opcode <= 18 && opcode != 14;
}

int xoff_hpcc_decode(const uint8_t *frame, size_t length, size_t at, struct hpcc_header *header,
                     struct xoff_err *err)
{
    struct octets_in in = octets_in_at(frame, length, at);
    const uint16_t first = get16(&in, "hops");
    header->n_hops = (uint8_t)(first >> 12);
    header->path = first & 0xfff;
    for (int i = 0; i < HPCC_MAX_HOPS; i++) {
        const uint64_t hop = get64(&in, "hop");
        header->hops[i] = (struct hpcc_hop){.rate_code = (uint8_t)(hop >> 60),
                                            .at_ns = hop >> 36 & 0xffffff,
                                            .tx_units = hop >> 16 & 0xfffff,
                                            .queue_units = hop & 0xffff};
    }
    if (in.cut_field)
        return xoff_octets_refuse_cut(err, &in);
    if (header->n_hops > HPCC_MAX_HOPS)
        return xoff_octets_refuse(err, XOFF_E_RANGE, "hops", frame, at, 1,
                                  "the upper four bits must be at most 5");
    return (int)in.at;
}

size_t xoff_hpcc_encode(const struct hpcc_header *header, uint8_t *buf, size_t capacity)
{
    struct octets_out out = octets_out(buf, capacity);
    XOFF_ASSERT(header->n_hops <= HPCC_MAX_HOPS && header->path < 0x1000);
    put16(&out, (unsigned)header->n_hops << 12 | header->path);
    for (int i = 0; i < HPCC_MAX_HOPS; i++) {
        const struct hpcc_hop *hop = &header->hops[i];
        XOFF_ASSERT(hop->rate_code < 16 && hop->at_ns < 1u << 24 && hop->tx_units < 1u << 20);
        put64(&out, (uint64_t)hop->rate_code << 60 | (uint64_t)hop->at_ns << 36 |
                        (uint64_t)hop->tx_units << 16 | hop->queue_units);
    }
    return octets_written(&out);
}

uint8_t xoff_hpcc_code_of_rate(uint64_t rate_bps)
{
    for (uint8_t i = 0; i < N_RATES; i++)
        if (rate_bps == gbps[i] * UINT64_C(1000000000))
            return i;
    return NO_RATE;
}

uint64_t xoff_hpcc_rate_of_code(uint8_t code)
{
    return code < N_RATES ? gbps[code] * UINT64_C(1000000000) : 0;
}

/* A17.3.3: the CRC covers everything from the LRH on. The LRH is taken as ones, and so are DSCP,
 * ECN, TTL, both checksums, and the octet of the BTH with FECN and BECN. */
uint32_t xoff_roce_icrc(const struct crc32 *crc32, const uint8_t *frame, size_t at_ip,
                        size_t at_bth, size_t end)
{
    uint8_t masked[8 + IPV4_MIN_OCTETS + IP_MAX_OPTIONS + UDP_OCTETS + BTH_OCTETS];
    const size_t n = at_bth + BTH_OCTETS - at_ip, bth = 8 + at_bth - at_ip;
    XOFF_ASSERT(n + 8 <= sizeof masked);
    memset(masked, 0xff, 8);
    memcpy(masked + 8, frame + at_ip, n);
    masked[8 + 1] = masked[8 + 8] = 0xff;
    masked[8 + 10] = masked[8 + 11] = 0xff;
    masked[bth - 2] = masked[bth - 1] = 0xff;
    masked[bth + 4] = 0xff;
    const uint32_t crc = xoff_crc32_octets(crc32, CRC32_START, masked, n + 8);
    return xoff_crc32_octets(crc32, crc, frame + at_bth + BTH_OCTETS, end - at_bth - BTH_OCTETS);
}
