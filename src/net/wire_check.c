/* Wire check: control frames are written as octets and read again at every hop, as captures would
 * have them, and must come back as they were. spec.wire_check does that for one frame:
 * xoff_packet_check(), or what a test puts there.
 *
 * Control frames are pauses, CNPs, notifications and probes. On request ACKs, NACKs and the tags of
 * data, which are as many as data, are checked, too. LLDP frames travel as octets in every run.
 * Packet numbers and addresses of ports are known only after a run; the number of an acknowledged
 * byte stands for the one here, and the port's own number for the other.
 *
 * The first frame that does not come back ends the run at the end of its window. A node keeps its
 * own first, so that the earliest is the same however many threads there are.
 */
#include "net/model.h"
#include "net/packets.h"

static bool has_tag(const struct net *net, const struct frame *f)
{
    return f->flags & (FRAME_TAGGED | FRAME_ASKS_RATE) ||
           net->transports[f->transport].rp.ops->tag_bytes == XOFF_RRT_BYTES;
}

static bool is_checked(const struct net *net, const struct frame *f)
{
    switch (f->kind) {
    case FRAME_LLDP:
        return false;
    case FRAME_DATA:
        return net->spec.wire_checks_all && has_tag(net, f);
    case FRAME_ACK:
    case FRAME_NACK:
        return net->spec.wire_checks_all;
    default:
        return true;
    }
}

void wire_check_frame(struct wire_check *check, uint32_t port, const struct frame *f, xoff_time now)
{
    struct net *net = check->net;
    if (check->has_failed || !is_checked(net, f))
        return;
    struct result_frame frame;
    struct result_frame_extra extra;
    struct packet packet;
    struct xoff_err err;
    capture_read(net, f, &frame);
    frame.payload_bytes = 0;
    if (f->kind != FRAME_PAUSE)
        frame.psn = (uint32_t)f->seq;
    const bool has_extra = net_frame_lines(net) > 1;
    if (has_extra) {
        extra = (struct result_frame_extra){0};
        capture_read_extra(net, f, &extra);
    }
    packet_of_frame(&frame, has_extra ? &extra : NULL, &packet);
    xoff_packet_switch_mac(port, 0, packet.source_mac);
    check->n_frames++;
    if (net->spec.wire_check(&packet, &err) == 0)
        return;
    check->has_failed = true;
    check->at = now;
    check->port = port;
    check->kind = f->kind;
    check->err = err;
    __atomic_store_n(&net->wire_has_failed, true, __ATOMIC_RELAXED);
}

struct net_wire_result net_wire_result(const struct net *net)
{
    struct net_wire_result result = {.at = XOFF_NEVER};
    for (uint32_t n = 0; net->checks && n < net->topo->n_nodes; n++) {
        const struct wire_check *check = &net->checks[n];
        result.n_frames += check->n_frames;
        if (check->has_failed && check->at < result.at)
            result = (struct net_wire_result){.n_frames = result.n_frames,
                                              .has_failed = true,
                                              .at = check->at,
                                              .node = n,
                                              .port = check->port,
                                              .kind = check->kind,
                                              .err = check->err};
    }
    return result;
}
