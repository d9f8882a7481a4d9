/* What a frame of the simulator is on the wire: see packets.h. */
#include "net/packets.h"

#include <string.h>

/* A notification of QCN is a CNM, one of ECM a BCN; all others have our own format. */
static void take_message(const struct xoff_notice *notice, struct packet_notice *out)
{
    *out = (struct packet_notice){.cp_id = notice->cp_id,
                                  .rate_bps = notice->rate_bps,
                                  .feedback = notice->feedback,
                                  .queue_offset_bytes = notice->queue_offset_bytes,
                                  .queue_delta_bytes = notice->queue_delta_bytes,
                                  .kind = notice->kind,
                                  .is_cnm = notice->kind == XOFF_NOTICE_QCN,
                                  .is_bcn = notice->kind == XOFF_NOTICE_ECM,
                                  .about_priority = notice->cp_id % XOFF_N_PRIORITIES};
}

static void take_telemetry(const struct xoff_int *telemetry, struct packet *packet)
{
    packet->has_hops = true;
    packet->n_hops = telemetry->n;
    for (uint32_t h = 0; h < packet->n_hops; h++) {
        const struct xoff_int_view hop = xoff_int_unpack(&telemetry->hop[h]);
        packet->hops[h] = (struct packet_hop){.rate_bps = hop.rate_bps,
                                              .at_ns = hop.at_ns,
                                              .tx_bytes = hop.tx_bytes,
                                              .queue_bytes = (uint32_t)hop.queue_bytes};
    }
}

static void take_extra(const struct result_frame *frame, const struct result_frame_extra *extra,
                       struct packet *packet)
{
    const uint8_t kind = extra->has_notice ? extra->notice.kind : XOFF_NOTICE_NONE;
    if (packet->kind == PACKET_NOTICE)
        take_message(&extra->notice, &packet->notice);
    if (packet->kind == PACKET_DATA && kind == XOFF_NOTICE_LIMITED) {
        packet->is_limited = true;
        packet->notice.cp_id = extra->notice.cp_id;
    }
    if (frame->asks_rate || packet->kind == PACKET_PROBE)
        packet->rate_tag = (struct packet_rate_tag){.is_there = true,
                                                    .is_back = !frame->asks_rate,
                                                    .kind = kind,
                                                    .rate_bps = extra->notice.rate_bps};
    packet->n_sacks = extra->n_sacks;
    memcpy(packet->sack_from, extra->sack_from, sizeof packet->sack_from);
    memcpy(packet->sack_to, extra->sack_to, sizeof packet->sack_to);
    if (extra->has_telemetry)
        take_telemetry(&extra->telemetry, packet);
}

void packet_of_frame(const struct result_frame *frame, const struct result_frame_extra *extra,
                     struct packet *packet)
{
    static const enum packet_kind kinds[] = {
        [RESULT_FRAME_DATA] = PACKET_DATA,   [RESULT_FRAME_ACK] = PACKET_ACK,
        [RESULT_FRAME_NACK] = PACKET_NACK,   [RESULT_FRAME_CNP] = PACKET_CNP,
        [RESULT_FRAME_PAUSE] = PACKET_PAUSE, [RESULT_FRAME_NOTICE] = PACKET_NOTICE,
        [RESULT_FRAME_PROBE] = PACKET_PROBE,
    };
    static const enum packet_protocol protocols[] = {
        [RESULT_BY_GO_BACK_N] = PACKET_RC,
        [RESULT_BY_DATAGRAM] = PACKET_UC,
        [RESULT_BY_TCP] = PACKET_TCP,
    };
    *packet = (struct packet){
        .kind = kinds[frame->kind], .bytes = frame->bytes, .has_bad_fcs = frame->is_corrupt};
    if (frame->kind == RESULT_FRAME_PAUSE) {
        packet->pause.opcode = frame->opcode;
        packet->pause.classes = frame->classes;
        memcpy(packet->pause.quanta, frame->quanta, sizeof packet->pause.quanta);
        return;
    }
    packet->protocol = protocols[frame->by];
    packet->from = frame->from;
    packet->to = frame->to;
    packet->flow = frame->flow;
    packet->hash = frame->hash;
    packet->payload_bytes = frame->kind == RESULT_FRAME_DATA ? frame->payload_bytes : 0;
    packet->is_tagged = frame->is_tagged;
    packet->has_rrt = frame->has_rrt;
    packet->priority = frame->priority;
    packet->is_marked = frame->is_marked;
    packet->is_first = frame->is_first;
    packet->is_last = frame->is_last;
    packet->asks = frame->asks;
    packet->is_reduced = frame->is_reduced;
    packet->seq = frame->seq;
    packet->psn = frame->psn;
    packet->stamp = (uint32_t)(frame->sent_at / XOFF_US);
    if (extra)
        take_extra(frame, extra, packet);
}
