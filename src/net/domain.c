/* The edge of a congestion notification domain (domain.h).
 *
 * Source: IEEE 802.1Q 32.1, by what public descriptions say of the four modes:
 *   disabled        congestion notification is off here: no congestion point, priorities and tags
 *                   are left alone
 *   interior        priorities are left alone, CN-TAGs are removed from frames that go out
 *   interior-ready  priorities and tags are left alone
 *   edge            frames that come in get an alternate priority, CN-TAGs are removed from frames
 *                   that go out
 */
#include "net/domain.h"

#include "net/model.h"

void domain_arrive(struct sw *sw, struct worker *w, uint32_t in, const struct frame *frame)
{
    struct domain *domain = sw->domain;
    const uint8_t priority =
        frame_is_control(frame) ? 0 : domain->ports[in].priority[frame->priority];
    if (!frame_is_control(frame) && priority != frame->priority) {
        frame_copy(&domain->in.frame, frame, sw->store.step);
        domain->in.frame.priority = priority;
        frame = &domain->in.frame;
    }
    domain->fabric->arrive(sw, w, in, frame);
}

const struct frame *domain_depart(struct sw *sw, uint32_t out, const struct frame *f)
{
    struct domain *domain = sw->domain;
    const bool strips = domain->ports[out].strips >> f->priority & 1;
    if (!strips || f->kind != FRAME_DATA || !(f->flags & FRAME_TAGGED))
        return f;
    const uint32_t least = sw->net->spec.wire->min_bytes;
    struct frame *bare = &domain->out.frame;
    frame_copy(bare, f, sw->store.step);
    bare->flags &= (uint8_t)~FRAME_TAGGED;
    const uint32_t without = f->bytes - (uint32_t)XOFF_CN_TAG_BYTES;
    if (f->bytes > least) /* shorter frames are padded */
        bare->bytes = (uint16_t)(without > least ? without : least);
    sw->made_bytes -= f->bytes - bare->bytes;
    return bare;
}
