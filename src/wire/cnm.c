/* CN-TAG and CNM: octets <-> struct.
 *
 * Source: 802.1Qau (802.1Q clauses 30 to 33). A congestion point sends a CNM to the source of the
 * frame that it sampled; behind the addresses and a VLAN tag stands the CN-TAG of that frame, then
 * EtherType 0x22e7 and the PDU:
 *
 *   octet  0  version, 4 bits, 0; ReservedV, 6 bits; Quantized Feedback, 6 bits
 *          2  CPID
 *         10  cnmQOffset, signed
 *         12  cnmQDelta, signed
 *         14  encapsulated priority
 *         16  encapsulated destination address
 *         22  encapsulated MSDU length
 *         24  first octets of the MSDU of the sampled frame, 0 to 64
 *
 * A CN-TAG is EtherType 0x22e9, the flow identifier in 2 octets, and the EtherType of what it tags.
 * It stands behind the VLAN tag.
 *
 * These are our choices, since the standard's text was not at hand: queue offset and delta are in
 * units of 64 octets and have the sign of the feedback, negative when congested; the priority is in
 * the upper three bits of its two octets; the MSDU length counts the octets that follow, which is
 * the only way to tell them from the padding of a short frame.
 */
#include <xoff/cnm.h>

#include "wire/octets.h"

int xoff_cn_tag_decode(const uint8_t *frame, size_t length, size_t at, struct xoff_cn_tag *tag,
                       struct xoff_err *err)
{
    struct octets_in in = octets_in_at(frame, length, at);
    tag->flow = get16(&in, "flow identifier");
    tag->type = get16(&in, "EtherType");
    return in.cut_field ? xoff_octets_refuse_cut(err, &in) : (int)in.at;
}

size_t xoff_cn_tag_encode(const struct xoff_cn_tag *tag, uint8_t *buf, size_t capacity)
{
    struct octets_out out = octets_out(buf, capacity);
    put16(&out, tag->flow);
    put16(&out, tag->type);
    return octets_written(&out);
}

int xoff_cnm_decode(const uint8_t *frame, size_t length, size_t at, struct xoff_cnm *cnm,
                    struct xoff_err *err)
{
    struct octets_in in = octets_in_at(frame, length, at);
    memset(cnm, 0, sizeof *cnm);
    const uint16_t first = get16(&in, "version");
    cnm->reserved = first >> 6 & 63;
    cnm->feedback = first & 63;
    cnm->cp_id = get64(&in, "CPID");
    cnm->queue_offset = (int16_t)get16(&in, "cnmQOffset");
    cnm->queue_delta = (int16_t)get16(&in, "cnmQDelta");
    const uint16_t priority = get16(&in, "encapsulated priority");
    cnm->about_priority = (uint8_t)(priority >> 13);
    cnm->about_reserved = priority & 0x1fff;
    get_copy(&in, cnm->about_destination, 6, "encapsulated destination");
    const uint16_t msdu_octets = get16(&in, "encapsulated MSDU length");
    if (in.cut_field)
        return xoff_octets_refuse_cut(err, &in);
    if (first >> 12)
        return xoff_octets_refuse(err, XOFF_E_RANGE, "version", frame, at, 1,
                                  "the upper four bits must be 0");
    if (msdu_octets > XOFF_CNM_MAX_MSDU)
        return xoff_octets_refuse(err, XOFF_E_RANGE, "encapsulated MSDU length", frame, in.at - 2,
                                  2, "must be at most 64");
    get_copy(&in, cnm->msdu, msdu_octets, "encapsulated MSDU");
    if (in.cut_field)
        return xoff_octets_refuse_cut(err, &in);
    cnm->msdu_octets = (uint8_t)msdu_octets;
    return (int)in.at;
}

size_t xoff_cnm_encode(const struct xoff_cnm *cnm, uint8_t *buf, size_t capacity)
{
    struct octets_out out = octets_out(buf, capacity);
    XOFF_ASSERT(cnm->reserved < 64 && cnm->feedback < 64);
    XOFF_ASSERT(cnm->about_priority < 8 && cnm->about_reserved < 0x2000);
    XOFF_ASSERT(cnm->msdu_octets <= XOFF_CNM_MAX_MSDU);
    put16(&out, (unsigned)cnm->reserved << 6 | cnm->feedback);
    put64(&out, cnm->cp_id);
    put16(&out, (uint16_t)cnm->queue_offset);
    put16(&out, (uint16_t)cnm->queue_delta);
    put16(&out, (unsigned)cnm->about_priority << 13 | cnm->about_reserved);
    put_octets(&out, cnm->about_destination, 6);
    put16(&out, cnm->msdu_octets);
    put_octets(&out, cnm->msdu, cnm->msdu_octets);
    return octets_written(&out);
}

int16_t xoff_cnm_units(int64_t bytes)
{
    const int64_t units = -(bytes / XOFF_CNM_UNIT_BYTES);
    return (int16_t)(units > INT16_MAX ? INT16_MAX : units < INT16_MIN ? INT16_MIN : units);
}
