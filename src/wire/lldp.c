/* LLDP frames: bytes <-> struct, and a walk over their TLVs.
 *
 * Source: 802.1AB. A frame to one of three reserved group addresses, EtherType 0x88CC, then TLVs of
 *
 *   octet 0  type, 7 bits, and the highest bit of the length
 *         1  length, 9 bits in all: the octets that follow
 *         2  value
 *
 * Chassis ID (1), port ID (2) and TTL (3) come first, in this order and once; End (0) comes last,
 * and what stands behind it is padding. Chassis ID and port ID: subtype, then 1 to 255 octets. TTL:
 * 2 octets, seconds. A frame that breaks this is void as a whole (9.2.7.7); a wrong optional TLV is
 * void alone, which its own decoder finds.
 *
 * Real bridges send LLDP with a priority tag; one 802.1Q tag is skipped and told.
 *
 * Differs: End may be missing where the frame ends just behind a TLV: it became optional later.
 * A TTL with a length other than 2 is refused, since the field has that one length.
 */
#include <xoff/lldp.h>

#include "wire/octets.h"

enum {
    TPID_8021Q = 0x8100,
    MIN_FRAME = 60,
    LENGTH_BITS = 9,
    LENGTH_MASK = (1 << LENGTH_BITS) - 1,
    TTL_LENGTH = 2,
    ORGANISATION_HEAD = 4, /* OUI and subtype */
};

const uint8_t xoff_lldp_nearest_bridge[6] = {0x01, 0x80, 0xc2, 0x00, 0x00, 0x0e};

static void put_head(struct octets_out *out, enum xoff_lldp_type type, size_t length);
static void put_id(struct octets_out *out, enum xoff_lldp_type type, const struct xoff_lldp_id *id);
static int get_head(const uint8_t *frame, size_t length, size_t *at, struct xoff_lldp_tlv *tlv,
                    struct xoff_err *err);
static int get_id(const uint8_t *frame, size_t length, size_t *at, enum xoff_lldp_type type,
                  struct xoff_lldp_id *id, struct xoff_err *err);
static int get_ttl(const uint8_t *frame, size_t length, size_t *at, uint16_t *ttl_s,
                   struct xoff_err *err);

size_t xoff_lldp_encode(const struct xoff_lldp *lldp, const uint8_t *optional, size_t n_optional,
                        uint8_t *buf, size_t capacity)
{
    struct octets_out out = octets_out(buf, capacity);
    put_octets(&out, lldp->destination, 6);
    put_octets(&out, lldp->source, 6);
    if (lldp->is_tagged) {
        put16(&out, TPID_8021Q);
        put16(&out, lldp->tag);
    }
    put16(&out, XOFF_LLDP_ETHERTYPE);
    put_id(&out, XOFF_LLDP_CHASSIS_ID, &lldp->chassis);
    put_id(&out, XOFF_LLDP_PORT_ID, &lldp->port);
    put_head(&out, XOFF_LLDP_TTL, TTL_LENGTH);
    put16(&out, lldp->ttl_s);
    if (n_optional > 0)
        put_octets(&out, optional, n_optional);
    put_head(&out, XOFF_LLDP_END, 0);
    if (out.at < MIN_FRAME)
        put_zeros(&out, MIN_FRAME - out.at);
    return out.is_full ? 0 : out.at;
}

int xoff_lldp_decode(const uint8_t *frame, size_t length, struct xoff_lldp *lldp, size_t *tlvs_at,
                     struct xoff_err *err)
{
    memset(lldp, 0, sizeof *lldp);
    *tlvs_at = length;
    struct octets_in in = octets_in(frame, length);
    const uint8_t *destination = get_octets(&in, 6, "destination");
    const uint8_t *source = get_octets(&in, 6, "source");
    uint16_t ethertype = get16(&in, "EtherType");
    if (ethertype == TPID_8021Q) {
        lldp->is_tagged = true;
        lldp->tag = get16(&in, "tag");
        ethertype = get16(&in, "EtherType");
    }
    if (in.cut_field)
        return xoff_octets_refuse_cut(err, &in);
    memcpy(lldp->destination, destination, 6);
    memcpy(lldp->source, source, 6);
    if (ethertype != XOFF_LLDP_ETHERTYPE)
        return xoff_octets_refuse(err, XOFF_E_TYPE, "EtherType", frame, in.at - 2, 2,
                                  "must be 88-cc, LLDP");
    *tlvs_at = in.at;
    int code = get_id(frame, length, tlvs_at, XOFF_LLDP_CHASSIS_ID, &lldp->chassis, err);
    if (code == 0)
        code = get_id(frame, length, tlvs_at, XOFF_LLDP_PORT_ID, &lldp->port, err);
    if (code == 0)
        code = get_ttl(frame, length, tlvs_at, &lldp->ttl_s, err);
    return code;
}

int xoff_lldp_next(const uint8_t *frame, size_t length, size_t *at, struct xoff_lldp_tlv *tlv,
                   struct xoff_err *err)
{
    memset(tlv, 0, sizeof *tlv);
    if (*at == length)
        return 0;
    const int code = get_head(frame, length, at, tlv, err);
    if (code != 0)
        return code;
    if (tlv->type == XOFF_LLDP_END) {
        if (tlv->length != 0)
            return xoff_octets_refuse(err, XOFF_E_RANGE, "End TLV", frame, tlv->at, 2,
                                      "must be 00-00: End has no value");
        return 0;
    }
    if (tlv->type <= XOFF_LLDP_TTL)
        return xoff_octets_refuse(err, XOFF_E_CONFLICT, xoff_lldp_type_text(tlv->type), frame,
                                  tlv->at, 2, "comes a second time");
    if (tlv->type == XOFF_LLDP_ORGANISATION && tlv->length >= ORGANISATION_HEAD) {
        struct octets_in in = octets_in(tlv->value, tlv->length);
        tlv->oui = get24(&in, "OUI");
        tlv->subtype = get8(&in, "subtype");
    }
    return 1;
}

const char *xoff_lldp_type_text(unsigned type)
{
    static const char *const texts[] = {"End",
                                        "chassis ID",
                                        "port ID",
                                        "time to live",
                                        "port description",
                                        "system name",
                                        "system description",
                                        "system capabilities",
                                        "management address"};
    if (type < sizeof texts / sizeof texts[0])
        return texts[type];
    return type == XOFF_LLDP_ORGANISATION ? "organisation" : "reserved";
}

bool xoff_lldp_id_is(const struct xoff_lldp_id *a, const struct xoff_lldp_id *b)
{
    return a->subtype == b->subtype && a->length == b->length &&
           memcmp(a->octets, b->octets, a->length) == 0;
}

static void put_head(struct octets_out *out, enum xoff_lldp_type type, size_t length)
{
    put16(out, (unsigned)type << LENGTH_BITS | (unsigned)length);
}

static void put_id(struct octets_out *out, enum xoff_lldp_type type, const struct xoff_lldp_id *id)
{
    XOFF_ASSERT(id->length > 0);
    put_head(out, type, 1u + id->length);
    put8(out, id->subtype);
    put_octets(out, id->octets, id->length);
}

/* Type and length, and that the value lies within the frame. */
static int get_head(const uint8_t *frame, size_t length, size_t *at, struct xoff_lldp_tlv *tlv,
                    struct xoff_err *err)
{
    struct octets_in in = octets_in(frame, length);
    in.at = tlv->at = *at;
    const uint16_t head = get16(&in, "TLV header");
    if (in.cut_field)
        return xoff_octets_refuse_cut(err, &in);
    tlv->type = (uint8_t)(head >> LENGTH_BITS);
    tlv->length = head & LENGTH_MASK;
    tlv->value = get_octets(&in, tlv->length, "TLV value");
    if (!tlv->value) {
        const int code = xoff_octets_refuse(err, XOFF_E_SYNTAX, "TLV length", frame, tlv->at, 2,
                                            xoff_lldp_type_text(tlv->type));
        xoff_err_add(err, " of ");
        xoff_err_add_int(err, tlv->length);
        xoff_err_add(err, " octets, but the frame ends at octet ");
        xoff_err_add_int(err, (long long)length);
        return code;
    }
    *at = in.at;
    return 0;
}

static int get_mandatory(const uint8_t *frame, size_t length, size_t *at, enum xoff_lldp_type type,
                         struct xoff_lldp_tlv *tlv, struct xoff_err *err)
{
    const char *name = xoff_lldp_type_text(type);
    memset(tlv, 0, sizeof *tlv);
    const int code = get_head(frame, length, at, tlv, err);
    if (code != 0)
        return code;
    if (tlv->type == type)
        return 0;
    const int wrong = xoff_octets_refuse(err, XOFF_E_MISSING, name, frame, tlv->at, 2,
                                         "must be here; this is of type ");
    xoff_err_add_int(err, tlv->type);
    return wrong;
}

static int get_id(const uint8_t *frame, size_t length, size_t *at, enum xoff_lldp_type type,
                  struct xoff_lldp_id *id, struct xoff_err *err)
{
    struct xoff_lldp_tlv tlv;
    const int code = get_mandatory(frame, length, at, type, &tlv, err);
    if (code != 0)
        return code;
    if (tlv.length < 2 || tlv.length > 1 + XOFF_LLDP_MAX_ID)
        return xoff_octets_refuse(err, XOFF_E_RANGE, xoff_lldp_type_text(type), frame, tlv.at, 2,
                                  "its length must be 2 to 256: subtype and 1 to 255 octets");
    id->subtype = tlv.value[0];
    id->length = (uint8_t)(tlv.length - 1);
    memcpy(id->octets, tlv.value + 1, id->length);
    return 0;
}

static int get_ttl(const uint8_t *frame, size_t length, size_t *at, uint16_t *ttl_s,
                   struct xoff_err *err)
{
    struct xoff_lldp_tlv tlv;
    const int code = get_mandatory(frame, length, at, XOFF_LLDP_TTL, &tlv, err);
    if (code != 0)
        return code;
    if (tlv.length != TTL_LENGTH)
        return xoff_octets_refuse(err, XOFF_E_RANGE, xoff_lldp_type_text(XOFF_LLDP_TTL), frame,
                                  tlv.at, 2, "its length must be 2");
    *ttl_s = (uint16_t)(tlv.value[0] << 8 | tlv.value[1]);
    return 0;
}
