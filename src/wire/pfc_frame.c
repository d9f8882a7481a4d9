/* PAUSE and PFC frames: bytes <-> struct.
 *
 * Source: 802.3 Annex 31B (PAUSE), Annex 31D and 802.1Qbb (PFC). Both are MAC Control frames of
 * minimum size to a reserved group address that no bridge forwards:
 *
 *   octet  0  destination 01-80-C2-00-00-01
 *          6  source
 *         12  EtherType 0x8808
 *         14  opcode: 0x0001 PAUSE, 0x0101 PFC
 *         16  PAUSE: pause_time
 *             PFC: class-enable vector, high octet reserved (0), low octet bit n = priority n;
 *         18  PFC: time[0] .. time[7]
 *         18  (PAUSE) or 34 (PFC): zeros up to octet 59; the FCS follows
 *
 * Multi-octet fields are big-endian. The times of classes that are not enabled are kept as they
 * stand: it is the receiver's duty to ignore them, and a decoder shows what was on the wire.
 *
 * Differs: PAUSE addressed to the station's own address, which 802.3 lets a receiver accept, is
 * refused, since the decoder knows no station. The content of the padding is not looked at.
 */
#include <xoff/eth.h>
#include <xoff/pfc_frame.h>

#include "wire/octets.h"

enum {
    AT_DESTINATION = 0,
    AT_ETHERTYPE = 12,
    AT_OPCODE = 14,
    AT_RESERVED = 16,
    N_OCTETS = XOFF_PAUSE_FRAME_BYTES - 4, /* without FCS */
    N_CLASSES = 8,
};

static const uint8_t mac_control_group[6] = {0x01, 0x80, 0xc2, 0x00, 0x00, 0x01};

void xoff_pause_frame_encode(const struct xoff_pause_frame *frame, const uint8_t source_mac[6],
                             uint8_t *buf)
{
    XOFF_ASSERT(frame->opcode == XOFF_OPCODE_PAUSE || frame->opcode == XOFF_OPCODE_PFC);
    struct octets_out out = octets_out(buf, N_OCTETS);
    put_octets(&out, mac_control_group, sizeof mac_control_group);
    put_octets(&out, source_mac, 6);
    put16(&out, XOFF_ETHERTYPE_MAC_CONTROL);
    put16(&out, frame->opcode);
    if (frame->opcode == XOFF_OPCODE_PFC)
        put16(&out, frame->classes);
    for (int n = 0; n < (frame->opcode == XOFF_OPCODE_PFC ? N_CLASSES : 1); n++)
        put16(&out, frame->quanta[n]);
    put_zeros(&out, N_OCTETS - out.at);
}

int xoff_pause_frame_decode(const uint8_t *buf, size_t length, struct xoff_pause_frame *frame,
                            struct xoff_err *err)
{
    /* Opcode 0 is obeyed by no gate: a caller that ignored the answer would still pause nobody. */
    memset(frame, 0, sizeof *frame);
    if (length < N_OCTETS) {
        const int code =
            xoff_err_set(err, XOFF_E_SYNTAX, "length", NULL, "the frame ends at octet ");
        xoff_err_add_int(err, (long long)length);
        xoff_err_add(err, "; a pause frame has 60 octets, or 64 with FCS");
        return code;
    }
    struct octets_in in = octets_in(buf, length);
    if (memcmp(get_octets(&in, 6, "destination"), mac_control_group, 6) != 0)
        return xoff_octets_refuse(err, XOFF_E_TYPE, "destination", buf, AT_DESTINATION, 6,
                                  "must be 01-80-c2-00-00-01");
    get_octets(&in, 6, "source");
    if (get16(&in, "EtherType") != XOFF_ETHERTYPE_MAC_CONTROL)
        return xoff_octets_refuse(err, XOFF_E_TYPE, "EtherType", buf, AT_ETHERTYPE, 2,
                                  "must be 88-08, MAC Control");

    const uint16_t opcode = get16(&in, "opcode");
    if (opcode == XOFF_OPCODE_PAUSE) {
        frame->classes = 0xff;
        frame->quanta[0] = get16(&in, "pause_time");
    } else if (opcode == XOFF_OPCODE_PFC) {
        if (get8(&in, "class-enable vector") != 0)
            return xoff_octets_refuse(err, XOFF_E_RANGE, "class-enable vector", buf, AT_RESERVED, 1,
                                      "reserved, must be 00");
        frame->classes = get8(&in, "class-enable vector");
        for (int n = 0; n < N_CLASSES; n++)
            frame->quanta[n] = get16(&in, "time");
    } else {
        return xoff_octets_refuse(err, XOFF_E_TYPE, "opcode", buf, AT_OPCODE, 2,
                                  "must be 00-01 (PAUSE) or 01-01 (PFC)");
    }
    frame->opcode = opcode;
    return 0;
}
