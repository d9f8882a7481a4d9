/* Notifications of congestion points other than QCN's and ECM's: octets <-> struct.
 *
 * The format is our own and of no standard, in the first EtherType that 802 9.2.3 leaves to
 * experiments: kind 1, congestion point 8, feedback 4, queue offset 4, queue delta 4, rate 8, flow
 * 4 octets.
 */
#include "wire/notice_frame.h"

#include "wire/octets.h"

int xoff_notice_frame_decode(const uint8_t *frame, size_t length, size_t at,
                             struct notice_frame *notice, struct xoff_err *err)
{
    struct octets_in in = octets_in_at(frame, length, at);
    notice->kind = get8(&in, "kind");
    notice->cp_id = get64(&in, "congestion point");
    notice->feedback = (int32_t)get32(&in, "feedback");
    notice->queue_offset_bytes = (int32_t)get32(&in, "queue offset");
    notice->queue_delta_bytes = (int32_t)get32(&in, "queue delta");
    notice->rate_bps = get64(&in, "rate");
    notice->flow = get32(&in, "flow");
    return in.cut_field ? xoff_octets_refuse_cut(err, &in) : (int)in.at;
}

size_t xoff_notice_frame_encode(const struct notice_frame *notice, uint8_t *buf, size_t capacity)
{
    struct octets_out out = octets_out(buf, capacity);
    put8(&out, notice->kind);
    put64(&out, notice->cp_id);
    put32(&out, (uint32_t)notice->feedback);
    put32(&out, (uint32_t)notice->queue_offset_bytes);
    put32(&out, (uint32_t)notice->queue_delta_bytes);
    put64(&out, notice->rate_bps);
    put32(&out, notice->flow);
    return octets_written(&out);
}
