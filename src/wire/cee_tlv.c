/* The Baseline TLV of DCBX (CEE): bytes <-> struct.
 *
 * Source: the layout that Intel's open LLDP agent and a Cisco Nexus 5000 use. One LLDP TLV of OUI
 * 00-1B-21, subtype 2, whose value holds sub-TLVs with headers like LLDP's (7 bits type, 9 bits
 * length):
 *
 *   1 control  oper version, max version, sequence number (4), acknowledged number (4)
 *   2 groups   head, group of each priority (8 x 4 bits), per cent of each group (8), classes
 *   3 PFC      head, enabled priorities (1), classes
 *   4 apps     head, n x {protocol (2), OUI bits 23 to 18 and selector (1), OUI bits 15 to 0 (2),
 *              priorities (1)}
 *
 * head: oper version, max version, flags (bit 7 enabled, 6 willing, 5 error), subtype. A device
 * acknowledges the peer's sequence number when it has taken its values, and counts its own number
 * on when its values change.
 */
#include <xoff/cee_tlv.h>

#include "wire/octets.h"

enum {
    ORGANISATION = 127,
    LENGTH_BITS = 9,
    LENGTH_MASK = (1 << LENGTH_BITS) - 1,
    CONTROL = 1,
    GROUPS = 2,
    PFC = 3,
    APPS = 4,
    HEAD_LENGTH = 4,
    CONTROL_LENGTH = 10,
    GROUPS_LENGTH = HEAD_LENGTH + 13,
    PFC_LENGTH = HEAD_LENGTH + 2,
    APP_LENGTH = 6,
    ENABLED = 0x80,
    WILLING = 0x40,
    ERROR = 0x20,
    FLAGS_RESERVED = 0x1f,
    SELECTOR = 0x03,
    N_PRIORITIES = 8,
};

static void put_part(struct octets_out *out, unsigned type, unsigned length,
                     const struct xoff_cee_head *head);
static int read_part(struct octets_in *part, unsigned type, struct xoff_cee *cee,
                     struct xoff_err *err);

size_t xoff_cee_tlv_encode(const struct xoff_cee *cee, uint8_t *buf, size_t capacity)
{
    struct octets_out out = octets_out(buf, capacity);
    put16(&out, 0); /* the header, when the length is known */
    put24(&out, XOFF_CEE_OUI);
    put8(&out, XOFF_CEE_SUBTYPE);
    put16(&out, CONTROL << LENGTH_BITS | CONTROL_LENGTH);
    put8(&out, cee->control.oper_version);
    put8(&out, cee->control.max_version);
    put32(&out, cee->control.seq);
    put32(&out, cee->control.ack);
    if (cee->pfc.head.is_there) {
        put_part(&out, PFC, PFC_LENGTH, &cee->pfc.head);
        put8(&out, cee->pfc.enabled);
        put8(&out, cee->pfc.n_classes);
    }
    if (cee->apps.head.is_there) {
        put_part(&out, APPS, HEAD_LENGTH + APP_LENGTH * (unsigned)cee->apps.n, &cee->apps.head);
        for (unsigned i = 0; i < cee->apps.n; i++) {
            const struct xoff_cee_app *app = &cee->apps.app[i];
            put16(&out, app->protocol);
            put8(&out, (app->oui >> 16 & 0xfcu) | (app->selector & SELECTOR));
            put16(&out, app->oui & 0xffffu);
            put8(&out, app->priorities);
        }
    }
    if (cee->groups.head.is_there) {
        put_part(&out, GROUPS, GROUPS_LENGTH, &cee->groups.head);
        uint32_t groups = 0;
        for (unsigned n = 0; n < N_PRIORITIES; n++)
            groups = groups << 4 | (cee->groups.group_of[n] & 15u);
        put32(&out, groups);
        put_octets(&out, cee->groups.percent, N_PRIORITIES);
        put8(&out, cee->groups.n_classes);
    }
    if (out.is_full || out.at - 2 > LENGTH_MASK)
        return 0;
    struct octets_out header = octets_out(buf, 2);
    put16(&header, ORGANISATION << LENGTH_BITS | (unsigned)(out.at - 2));
    return out.at;
}

int xoff_cee_tlv_decode(const uint8_t *frame, size_t at, size_t length, struct xoff_cee *cee,
                        struct xoff_err *err)
{
    memset(cee, 0, sizeof *cee);
    struct octets_in in = octets_in(frame, at + length);
    in.at = at;
    const uint32_t oui = get24(&in, "OUI");
    const uint8_t subtype = get8(&in, "subtype");
    if (in.cut_field)
        return xoff_octets_refuse_cut(err, &in);
    if (oui != XOFF_CEE_OUI || subtype != XOFF_CEE_SUBTYPE)
        return xoff_octets_refuse(err, XOFF_E_TYPE, "OUI and subtype", frame, at, 4,
                                  "must be 00-1b-21-02, CEE");
    unsigned seen = 0;
    while (octets_left(&in) > 0) {
        const size_t head_at = in.at;
        const uint16_t head = get16(&in, "header of a CEE sub-TLV");
        struct octets_in part = get_part(&in, head & LENGTH_MASK, "CEE sub-TLV");
        if (in.cut_field)
            return xoff_octets_refuse_cut(err, &in);
        const unsigned type = head >> LENGTH_BITS;
        if (type >= CONTROL && type <= APPS && seen & 1u << type)
            return xoff_octets_refuse(err, XOFF_E_CONFLICT, "CEE sub-TLV", frame, head_at, 2,
                                      "comes a second time");
        const int code = read_part(&part, type, cee, err);
        if (code != 0)
            return code;
        seen |= type <= APPS ? 1u << type : 0;
    }
    if (!(seen & 1u << CONTROL))
        return xoff_octets_refuse(err, XOFF_E_MISSING, "CEE control sub-TLV", frame, at, 4,
                                  "must be among the sub-TLVs");
    return 0;
}

static void put_part(struct octets_out *out, unsigned type, unsigned length,
                     const struct xoff_cee_head *head)
{
    put16(out, type << LENGTH_BITS | length);
    put8(out, head->oper_version);
    put8(out, head->max_version);
    put8(out, (head->is_enabled ? ENABLED : 0u) | (head->is_willing ? WILLING : 0u) |
                  (head->has_error ? ERROR : 0u));
    put8(out, head->subtype);
}

static void read_head(struct octets_in *part, struct xoff_cee *cee, struct xoff_cee_head *head)
{
    head->is_there = true;
    head->oper_version = get8(part, "oper version");
    head->max_version = get8(part, "max version");
    const uint8_t flags = get8(part, "flags");
    head->is_enabled = flags & ENABLED;
    head->is_willing = flags & WILLING;
    head->has_error = flags & ERROR;
    cee->has_reserved |= (flags & FLAGS_RESERVED) != 0;
    head->subtype = get8(part, "subtype");
}

static int refuse_length(const struct octets_in *part, const char *name, const char *message,
                         struct xoff_err *err)
{
    return xoff_octets_refuse(err, XOFF_E_RANGE, name, part->octets, part->at - 2, 2, message);
}

static int read_control(struct octets_in *part, struct xoff_cee *cee, struct xoff_err *err)
{
    if (octets_left(part) != CONTROL_LENGTH)
        return refuse_length(part, "CEE control", "its length must be 10", err);
    cee->control.oper_version = get8(part, "oper version");
    cee->control.max_version = get8(part, "max version");
    cee->control.seq = get32(part, "sequence number");
    cee->control.ack = get32(part, "acknowledged number");
    return 0;
}

static int read_groups(struct octets_in *part, struct xoff_cee *cee, struct xoff_err *err)
{
    if (octets_left(part) != GROUPS_LENGTH)
        return refuse_length(part, "CEE priority groups", "its length must be 17", err);
    read_head(part, cee, &cee->groups.head);
    const uint32_t groups = get32(part, "groups of the priorities");
    for (unsigned n = 0; n < N_PRIORITIES; n++)
        cee->groups.group_of[n] = groups >> (28 - 4 * n) & 15;
    for (unsigned n = 0; n < N_PRIORITIES; n++)
        cee->groups.percent[n] = get8(part, "per cent of a group");
    cee->groups.n_classes = get8(part, "classes");
    return 0;
}

static int read_pfc(struct octets_in *part, struct xoff_cee *cee, struct xoff_err *err)
{
    if (octets_left(part) != PFC_LENGTH)
        return refuse_length(part, "CEE PFC", "its length must be 6", err);
    read_head(part, cee, &cee->pfc.head);
    cee->pfc.enabled = get8(part, "enabled");
    cee->pfc.n_classes = get8(part, "classes");
    return 0;
}

static int read_apps(struct octets_in *part, struct xoff_cee *cee, struct xoff_err *err)
{
    const size_t length = octets_left(part);
    if (length < HEAD_LENGTH || (length - HEAD_LENGTH) % APP_LENGTH != 0)
        return refuse_length(part, "CEE applications",
                             "its length must be 4 and 6 for each application", err);
    read_head(part, cee, &cee->apps.head);
    while (octets_left(part) > 0) {
        XOFF_ASSERT(cee->apps.n < XOFF_CEE_MAX_APPS);
        struct xoff_cee_app *app = &cee->apps.app[cee->apps.n++];
        app->protocol = get16(part, "protocol");
        const uint8_t upper = get8(part, "OUI and selector");
        app->selector = upper & SELECTOR;
        app->oui = (uint32_t)(upper & ~SELECTOR) << 16 | get16(part, "OUI");
        app->priorities = get8(part, "priorities");
    }
    return 0;
}

static int read_part(struct octets_in *part, unsigned type, struct xoff_cee *cee,
                     struct xoff_err *err)
{
    switch (type) {
    case CONTROL:
        return read_control(part, cee, err);
    case GROUPS:
        return read_groups(part, cee, err);
    case PFC:
        return read_pfc(part, cee, err);
    case APPS:
        return read_apps(part, cee, err);
    default:
        cee->n_unknown++;
        return 0;
    }
}
