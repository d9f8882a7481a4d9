/* FECN's rate-discovery tag: octets <-> struct.
 *
 * Source: the fields are those of Jiang, Jain and So-In's FECN proposal: a source sends a tag with
 * its queue's number and no rate, each switch lowers the rate to its own, the receiver turns the
 * tag round. Differs: the published widths are not known. Ours stands where a VLAN tag would, in
 * the second EtherType that 802 9.2.3 leaves to experiments:
 *
 *   octet  0  version, 4 bits, 0; reserved, 3 bits; direction, 1 bit (1: back to the source)
 *          1  kind
 *          2  flow
 *          6  rate in b/s; all ones: no switch has said one
 *         14  EtherType of what follows; an 802.3 length of 0 where nothing does
 */
#include <xoff/rate_tag.h>

#include "wire/octets.h"

int xoff_rate_tag_decode(const uint8_t *frame, size_t length, size_t at, struct xoff_rate_tag *tag,
                         struct xoff_err *err)
{
    struct octets_in in = octets_in_at(frame, length, at);
    const uint8_t first = get8(&in, "version");
    tag->is_back = first & 1;
    tag->reserved = first >> 1 & 7;
    tag->kind = get8(&in, "kind");
    tag->flow = get32(&in, "flow");
    tag->rate_bps = get64(&in, "rate");
    tag->type = get16(&in, "EtherType");
    if (in.cut_field)
        return xoff_octets_refuse_cut(err, &in);
    if (first >> 4)
        return xoff_octets_refuse(err, XOFF_E_RANGE, "version", frame, at, 1,
                                  "the upper four bits must be 0");
    return (int)in.at;
}

size_t xoff_rate_tag_encode(const struct xoff_rate_tag *tag, uint8_t *buf, size_t capacity)
{
    struct octets_out out = octets_out(buf, capacity);
    XOFF_ASSERT(tag->reserved < 8);
    put8(&out, (unsigned)tag->reserved << 1 | tag->is_back);
    put8(&out, tag->kind);
    put32(&out, tag->flow);
    put64(&out, tag->rate_bps);
    put16(&out, tag->type);
    return octets_written(&out);
}
