/* BCN messages and rate-regulation tags: octets <-> struct.
 *
 * Source: EtherType 0x8904 is what the registry gives to BCN; the fields are those that ECM's
 * sources need. Differs: the published layout was not at hand, and all of this is our choice.
 *
 *   octet  0  kind: 0 message, 1 tag
 *          1  flags: bit 0 of a message: stop; of a tag: limited; the rest reserved
 *          2  congestion point
 *
 * A message goes on as a CNM does, a tag ends:
 *
 *         10  queue offset, signed                 10  EtherType of what follows
 *         12  queue delta, signed
 *         14  destination of the sampled frame
 *         20  flow
 */
#include <xoff/bcn.h>

#include "wire/octets.h"

int xoff_bcn_decode(const uint8_t *frame, size_t length, size_t at, struct xoff_bcn *bcn,
                    struct xoff_err *err)
{
    struct octets_in in = octets_in_at(frame, length, at);
    const uint8_t kind = get8(&in, "kind"), flags = get8(&in, "flags");
    bcn->is_stop = flags & 1;
    bcn->reserved = flags >> 1;
    bcn->cp_id = get64(&in, "congestion point");
    bcn->queue_offset = (int16_t)get16(&in, "queue offset");
    bcn->queue_delta = (int16_t)get16(&in, "queue delta");
    get_copy(&in, bcn->about_destination, 6, "encapsulated destination");
    bcn->flow = get32(&in, "flow");
    if (in.cut_field)
        return xoff_octets_refuse_cut(err, &in);
    if (kind != XOFF_BCN_MESSAGE)
        return xoff_octets_refuse(err, XOFF_E_TYPE, "kind", frame, at, 1,
                                  "must be 00 (message) or 01 (tag)");
    return (int)in.at;
}

size_t xoff_bcn_encode(const struct xoff_bcn *bcn, uint8_t *buf, size_t capacity)
{
    struct octets_out out = octets_out(buf, capacity);
    XOFF_ASSERT(bcn->reserved < 128);
    put8(&out, XOFF_BCN_MESSAGE);
    put8(&out, (unsigned)bcn->reserved << 1 | bcn->is_stop);
    put64(&out, bcn->cp_id);
    put16(&out, (uint16_t)bcn->queue_offset);
    put16(&out, (uint16_t)bcn->queue_delta);
    put_octets(&out, bcn->about_destination, 6);
    put32(&out, bcn->flow);
    return octets_written(&out);
}

int xoff_rrt_decode(const uint8_t *frame, size_t length, size_t at, struct xoff_rrt *rrt,
                    struct xoff_err *err)
{
    struct octets_in in = octets_in_at(frame, length, at);
    const uint8_t kind = get8(&in, "kind"), flags = get8(&in, "flags");
    rrt->is_limited = flags & 1;
    rrt->reserved = flags >> 1;
    rrt->cp_id = get64(&in, "congestion point");
    rrt->type = get16(&in, "EtherType");
    if (in.cut_field)
        return xoff_octets_refuse_cut(err, &in);
    if (kind != XOFF_BCN_TAG)
        return xoff_octets_refuse(err, XOFF_E_TYPE, "kind", frame, at, 1,
                                  "must be 00 (message) or 01 (tag)");
    return (int)in.at;
}

size_t xoff_rrt_encode(const struct xoff_rrt *rrt, uint8_t *buf, size_t capacity)
{
    struct octets_out out = octets_out(buf, capacity);
    XOFF_ASSERT(rrt->reserved < 128);
    put8(&out, XOFF_BCN_TAG);
    put8(&out, (unsigned)rrt->reserved << 1 | rrt->is_limited);
    put64(&out, rrt->cp_id);
    put16(&out, rrt->type);
    return octets_written(&out);
}
