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
#include <xoff/pfc_frame.h>

#include <string.h>

enum {
    AT_DESTINATION = 0,
    AT_SOURCE = 6,
    AT_ETHERTYPE = 12,
    AT_OPCODE = 14,
    AT_PAUSE_TIME = 16,
    AT_RESERVED = 16,
    AT_CLASSES = 17,
    AT_TIMES = 18,
    N_OCTETS = XOFF_PAUSE_FRAME_BYTES - 4, /* without FCS */
    N_CLASSES = 8,
};

#define ETHERTYPE_MAC_CONTROL 0x8808

static const uint8_t mac_control_group[6] = {0x01, 0x80, 0xc2, 0x00, 0x00, 0x01};

static void put16(uint8_t *at, unsigned value);
static uint16_t get16(const uint8_t *at);
static int refuse(struct xoff_err *err, enum xoff_err_code code, const char *field,
                  const uint8_t *at, size_t n, const char *message);

void xoff_pause_frame_encode(const struct xoff_pause_frame *frame, const uint8_t source_mac[6],
                             uint8_t *buf)
{
    XOFF_ASSERT(frame->opcode == XOFF_OPCODE_PAUSE || frame->opcode == XOFF_OPCODE_PFC);
    memset(buf, 0, N_OCTETS);
    memcpy(buf + AT_DESTINATION, mac_control_group, sizeof mac_control_group);
    memcpy(buf + AT_SOURCE, source_mac, 6);
    put16(buf + AT_ETHERTYPE, ETHERTYPE_MAC_CONTROL);
    put16(buf + AT_OPCODE, frame->opcode);
    if (frame->opcode == XOFF_OPCODE_PAUSE) {
        put16(buf + AT_PAUSE_TIME, frame->quanta[0]);
        return;
    }
    buf[AT_CLASSES] = frame->classes;
    for (int n = 0; n < N_CLASSES; n++)
        put16(buf + AT_TIMES + 2 * n, frame->quanta[n]);
}

int xoff_pause_frame_decode(const uint8_t *buf, size_t length, struct xoff_pause_frame *frame,
                            struct xoff_err *err)
{
    /* Opcode 0 is obeyed by no gate: a caller that ignored the answer would still pause nobody. */
    memset(frame, 0, sizeof *frame);
    if (length < N_OCTETS) {
        const int code = refuse(err, XOFF_E_SYNTAX, "length", NULL, 0, "the frame ends at octet ");
        xoff_err_add_int(err, (long long)length);
        xoff_err_add(err, "; a pause frame has 60 octets, or 64 with FCS");
        return code;
    }
    if (memcmp(buf + AT_DESTINATION, mac_control_group, sizeof mac_control_group) != 0)
        return refuse(err, XOFF_E_TYPE, "destination", buf + AT_DESTINATION, 6,
                      "octets 0 to 5: must be 01-80-c2-00-00-01");
    if (get16(buf + AT_ETHERTYPE) != ETHERTYPE_MAC_CONTROL)
        return refuse(err, XOFF_E_TYPE, "EtherType", buf + AT_ETHERTYPE, 2,
                      "octets 12 and 13: must be 88-08, MAC Control");

    const uint16_t opcode = get16(buf + AT_OPCODE);
    if (opcode == XOFF_OPCODE_PAUSE) {
        frame->classes = 0xff;
        frame->quanta[0] = get16(buf + AT_PAUSE_TIME);
    } else if (opcode == XOFF_OPCODE_PFC) {
        if (buf[AT_RESERVED] != 0)
            return refuse(err, XOFF_E_RANGE, "class-enable vector", buf + AT_RESERVED, 1,
                          "octet 16: reserved, must be 00");
        frame->classes = buf[AT_CLASSES];
        for (int n = 0; n < N_CLASSES; n++)
            frame->quanta[n] = get16(buf + AT_TIMES + 2 * n);
    } else {
        return refuse(err, XOFF_E_TYPE, "opcode", buf + AT_OPCODE, 2,
                      "octets 14 and 15: must be 00-01 (PAUSE) or 01-01 (PFC)");
    }
    frame->opcode = opcode;
    return 0;
}

static void put16(uint8_t *at, unsigned value)
{
    at[0] = (uint8_t)(value >> 8);
    at[1] = (uint8_t)(value & 0xff);
}

static uint16_t get16(const uint8_t *at)
{
    return (uint16_t)(at[0] << 8 | at[1]);
}

/* Shows the `n` octets (at most 6) at `at` as aa-bb-cc. */
static int refuse(struct xoff_err *err, enum xoff_err_code code, const char *field,
                  const uint8_t *at, size_t n, const char *message)
{
    static const char digits[] = "0123456789abcdef";
    char value[3 * 6 + 1] = "";
    for (size_t i = 0; i < n; i++) {
        value[3 * i] = digits[at[i] >> 4];
        value[3 * i + 1] = digits[at[i] & 15];
        value[3 * i + 2] = i + 1 < n ? '-' : '\0';
    }
    return xoff_err_set(err, code, field, value, message);
}
