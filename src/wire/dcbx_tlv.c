/* The TLVs of DCBX: bytes <-> struct.
 *
 * Source: 802.1Qaz (ETS, PFC, applications) and 802.1Qau (congestion notification). All have type
 * 127 and OUI 00-80-C2; behind the subtype stand
 *
 *    9 ETS configuration   willing 1 bit, CBS 1, reserved 3, max classes 3 (0: 8); class of each
 *                          priority, 8 x 4 bits, priority 0 first; per cent of each class, 8
 * octets; selection algorithm of each class, 8 octets 10 ETS recommendation  reserved octet; the
 * same three tables 11 PFC configuration   willing 1 bit, MBC 1, reserved 2, capability 4; enabled
 * priorities 12 applications        reserved octet; n x {priority 3 bits, reserved 2, selector 3;
 *                          protocol 2 octets}
 *    8 congestion notif.   CNPVs; ready: a bit per priority
 *
 * A TLV of the wrong length is malformed and void. Values that make no sense are another matter:
 * a shipping switch (Juniper QFX3500) announces three classes and puts all priorities into class 7,
 * and sets bits of a reserved octet. So tables are taken as they are and remarked upon.
 *
 * Differs: of a TLV that comes twice the first counts, as in Intel's LLDP agent.
 */
#include <xoff/dcbx_tlv.h>

#include "wire/octets.h"

enum {
    LENGTH_BITS = 9,
    HEAD_LENGTH = 4, /* OUI and subtype */
    N_PRIORITIES = 8,
    N_CLASSES = 8,
    TABLES_LENGTH = 20,
    ETS_LENGTH = HEAD_LENGTH + 1 + TABLES_LENGTH,
    PFC_LENGTH = HEAD_LENGTH + 2,
    APPS_LENGTH = HEAD_LENGTH + 1,
    APP_LENGTH = 3,
    CN_LENGTH = HEAD_LENGTH + 2,
    WILLING = 0x80,
    CBS = 0x40,
    ETS_RESERVED = 0x38,
    ETS_MAX = 0x07,
    MBC = 0x40,
    PFC_RESERVED = 0x30,
    PFC_MAX = 0x0f,
    APP_RESERVED = 0x18,
    APP_SELECTOR = 0x07,
};

/* Where a frame's TLVs are kept in struct xoff_dcbx_pdu. */
#define PLACE(field) offsetof(struct xoff_dcbx_pdu, field), sizeof((struct xoff_dcbx_pdu *)0)->field

static const struct {
    uint8_t subtype;
    const char *text;
    size_t at, size;
} kinds[XOFF_DCBX_N_KINDS] = {
    [XOFF_DCBX_ETS_CONFIGURATION] = {9, "ETS configuration", PLACE(ets)},
    [XOFF_DCBX_ETS_RECOMMENDATION] = {10, "ETS recommendation", PLACE(recommendation)},
    [XOFF_DCBX_PFC] = {11, "PFC configuration", PLACE(pfc)},
    [XOFF_DCBX_APPLICATIONS] = {12, "application priority", PLACE(apps)},
    [XOFF_DCBX_CONGESTION_NOTIFICATION] = {8, "congestion notification", PLACE(cn)},
    [XOFF_DCBX_CEE] = {XOFF_CEE_SUBTYPE, "CEE (Baseline DCBX)", PLACE(cee)},
};

static void put_tables(struct octets_out *out, const struct xoff_dcbx_ets *ets);
static void put_apps(struct octets_out *out, const struct xoff_dcbx_apps *apps);
static void get_ets(struct octets_in *in, struct xoff_dcbx_tlv *tlv);
static void get_pfc(struct octets_in *in, struct xoff_dcbx_tlv *tlv);
static void get_apps(struct octets_in *in, struct xoff_dcbx_tlv *tlv);
static void get_cn(struct octets_in *in, struct xoff_dcbx_tlv *tlv);
static int check_length(const uint8_t *frame, const struct xoff_lldp_tlv *found,
                        enum xoff_dcbx_kind kind, struct xoff_err *err);

static uint16_t remark(bool applies, enum xoff_dcbx_remark which)
{
    return (uint16_t)((unsigned)applies << which);
}

enum xoff_dcbx_kind xoff_dcbx_kind_of(const struct xoff_lldp_tlv *tlv)
{
    if (tlv->type != XOFF_LLDP_ORGANISATION)
        return XOFF_DCBX_OTHER;
    for (unsigned kind = 0; kind < XOFF_DCBX_N_KINDS; kind++) {
        const uint32_t oui = kind == XOFF_DCBX_CEE ? XOFF_CEE_OUI : XOFF_DCBX_OUI;
        if (tlv->oui == oui && tlv->subtype == kinds[kind].subtype)
            return (enum xoff_dcbx_kind)kind;
    }
    return XOFF_DCBX_OTHER;
}

const char *xoff_dcbx_kind_text(enum xoff_dcbx_kind kind)
{
    return kind < XOFF_DCBX_N_KINDS ? kinds[kind].text : "not of DCBX";
}

const char *xoff_dcbx_remark_text(enum xoff_dcbx_remark which)
{
    static const char *const texts[] = {
#define X(name, text) text,
        XOFF_DCBX_REMARK_MAP(X)
#undef X
    };
    XOFF_ASSERT(which < XOFF_DCBX_N_REMARKS);
    return texts[which];
}

uint16_t xoff_dcbx_ets_remarks(const struct xoff_dcbx_ets *ets, bool is_recommendation)
{
    uint16_t remarks = 0;
    for (unsigned n = 0; n < N_PRIORITIES; n++) {
        remarks |= remark(ets->class_of[n] >= N_CLASSES, XOFF_DCBX_REMARK_CLASS);
        remarks |= remark(!is_recommendation && ets->class_of[n] >= ets->max_classes,
                          XOFF_DCBX_REMARK_BEYOND_MAX);
    }
    unsigned sum = 0, n_ets = 0;
    for (unsigned c = 0; c < N_CLASSES; c++) {
        const bool is_ets = ets->tsa[c] == XOFF_TSA_ETS;
        n_ets += is_ets;
        sum += is_ets ? ets->percent[c] : 0;
        remarks |= remark(!is_ets && ets->percent[c] > 0, XOFF_DCBX_REMARK_IDLE_SHARE);
        remarks |= remark(ets->tsa[c] > XOFF_TSA_ETS && ets->tsa[c] != XOFF_TSA_VENDOR,
                          XOFF_DCBX_REMARK_ALGORITHM);
    }
    return remarks | remark(n_ets > 0 && sum != 100, XOFF_DCBX_REMARK_SUM);
}

size_t xoff_dcbx_tlv_encode(const struct xoff_dcbx_tlv *tlv, uint8_t *buf, size_t capacity)
{
    if (tlv->kind == XOFF_DCBX_CEE)
        return xoff_cee_tlv_encode(&tlv->u.cee, buf, capacity);
    XOFF_ASSERT(tlv->kind < XOFF_DCBX_CEE);
    struct octets_out out = octets_out(buf, capacity);
    put16(&out, 0); /* the header, when the length is known */
    put24(&out, XOFF_DCBX_OUI);
    put8(&out, kinds[tlv->kind].subtype);
    const struct xoff_dcbx_ets *ets = &tlv->u.ets;
    const struct xoff_dcbx_pfc *pfc = &tlv->u.pfc;
    switch (tlv->kind) {
    case XOFF_DCBX_ETS_CONFIGURATION:
        XOFF_ASSERT(ets->max_classes >= 1 && ets->max_classes <= N_CLASSES);
        put8(&out, (ets->is_willing ? WILLING : 0u) | (ets->has_cbs ? CBS : 0u) |
                       (ets->max_classes & ETS_MAX));
        put_tables(&out, ets);
        break;
    case XOFF_DCBX_ETS_RECOMMENDATION:
        put8(&out, 0);
        put_tables(&out, ets);
        break;
    case XOFF_DCBX_PFC:
        XOFF_ASSERT(pfc->max_classes <= PFC_MAX);
        put8(&out,
             (pfc->is_willing ? WILLING : 0u) | (pfc->cannot_bypass ? MBC : 0u) | pfc->max_classes);
        put8(&out, pfc->enabled);
        break;
    case XOFF_DCBX_APPLICATIONS:
        put_apps(&out, &tlv->u.apps);
        break;
    default:
        put8(&out, tlv->u.cn.priorities);
        put8(&out, tlv->u.cn.ready);
    }
    if (out.is_full)
        return 0;
    struct octets_out header = octets_out(buf, 2);
    put16(&header, (unsigned)XOFF_LLDP_ORGANISATION << LENGTH_BITS | (unsigned)(out.at - 2));
    return out.at;
}

int xoff_dcbx_tlv_decode(const uint8_t *frame, const struct xoff_lldp_tlv *found,
                         struct xoff_dcbx_tlv *tlv, struct xoff_err *err)
{
    memset(tlv, 0, sizeof *tlv);
    tlv->kind = xoff_dcbx_kind_of(found);
    XOFF_ASSERT(tlv->kind < XOFF_DCBX_N_KINDS);
    const size_t at = found->at + 2;
    if (tlv->kind == XOFF_DCBX_CEE) {
        const int code = xoff_cee_tlv_decode(frame, at, found->length, &tlv->u.cee, err);
        tlv->remarks = remark(tlv->u.cee.has_reserved, XOFF_DCBX_REMARK_RESERVED) |
                       remark(tlv->u.cee.n_unknown > 0, XOFF_DCBX_REMARK_UNKNOWN_PART);
        return code;
    }
    const int code = check_length(frame, found, tlv->kind, err);
    if (code != 0)
        return code;
    struct octets_in in = octets_in(frame, at + found->length);
    in.at = at + HEAD_LENGTH;
    if (tlv->kind == XOFF_DCBX_PFC)
        get_pfc(&in, tlv);
    else if (tlv->kind == XOFF_DCBX_APPLICATIONS)
        get_apps(&in, tlv);
    else if (tlv->kind == XOFF_DCBX_CONGESTION_NOTIFICATION)
        get_cn(&in, tlv);
    else
        get_ets(&in, tlv);
    return 0;
}

int xoff_dcbx_pdu_decode(const uint8_t *frame, size_t length, struct xoff_lldp *lldp,
                         struct xoff_dcbx_pdu *pdu, struct xoff_err *err)
{
    memset(pdu, 0, sizeof *pdu);
    memset(err, 0, sizeof *err);
    size_t at;
    int code = xoff_lldp_decode(frame, length, lldp, &at, err);
    if (code != 0)
        return code;
    struct xoff_err first = {0}, ignored;
    struct xoff_lldp_tlv found;
    while ((code = xoff_lldp_next(frame, length, &at, &found, err)) > 0) {
        const enum xoff_dcbx_kind kind = xoff_dcbx_kind_of(&found);
        if (kind == XOFF_DCBX_OTHER)
            continue;
        const uint8_t bit = (uint8_t)(1u << kind);
        struct xoff_err *place = first.code == XOFF_E_OK ? &first : &ignored;
        if ((pdu->has | pdu->malformed) & bit) {
            pdu->repeated |= bit;
            xoff_octets_refuse(place, XOFF_E_CONFLICT, xoff_dcbx_kind_text(kind), frame, found.at,
                               2, "comes a second time and is ignored");
            continue;
        }
        struct xoff_dcbx_tlv tlv;
        if (xoff_dcbx_tlv_decode(frame, &found, &tlv, place) != 0) {
            pdu->malformed |= bit;
            continue;
        }
        pdu->has |= bit;
        pdu->remarks[kind] = tlv.remarks;
        memcpy((char *)pdu + kinds[kind].at, &tlv.u, kinds[kind].size);
    }
    if (code != 0)
        memset(pdu, 0, sizeof *pdu);
    else
        *err = first;
    return code;
}

size_t xoff_dcbx_pdu_encode(const struct xoff_dcbx_pdu *pdu, uint8_t *buf, size_t capacity)
{
    size_t at = 0;
    for (unsigned kind = 0; kind < XOFF_DCBX_N_KINDS; kind++) {
        if (!(pdu->has & 1u << kind))
            continue;
        struct xoff_dcbx_tlv tlv = {.kind = (enum xoff_dcbx_kind)kind};
        memcpy(&tlv.u, (const char *)pdu + kinds[kind].at, kinds[kind].size);
        const size_t length = xoff_dcbx_tlv_encode(&tlv, buf + at, capacity - at);
        if (length == 0)
            return 0;
        at += length;
    }
    return at;
}

static void put_tables(struct octets_out *out, const struct xoff_dcbx_ets *ets)
{
    uint32_t classes = 0;
    for (unsigned n = 0; n < N_PRIORITIES; n++) {
        XOFF_ASSERT(ets->class_of[n] < 16);
        classes = classes << 4 | ets->class_of[n];
    }
    put32(out, classes);
    put_octets(out, ets->percent, N_CLASSES);
    put_octets(out, ets->tsa, N_CLASSES);
}

static void put_apps(struct octets_out *out, const struct xoff_dcbx_apps *apps)
{
    XOFF_ASSERT(apps->n <= XOFF_DCBX_MAX_APPS);
    put8(out, 0);
    for (unsigned i = 0; i < apps->n; i++) {
        const struct xoff_dcbx_app *app = &apps->app[i];
        XOFF_ASSERT(app->priority < N_PRIORITIES && app->selector <= APP_SELECTOR);
        put8(out, (unsigned)app->priority << 5 | app->selector);
        put16(out, app->protocol);
    }
}

static void get_ets(struct octets_in *in, struct xoff_dcbx_tlv *tlv)
{
    struct xoff_dcbx_ets *ets = &tlv->u.ets;
    const bool is_recommendation = tlv->kind == XOFF_DCBX_ETS_RECOMMENDATION;
    const uint8_t flags = get8(in, "flags");
    if (!is_recommendation) {
        ets->is_willing = flags & WILLING;
        ets->has_cbs = flags & CBS;
        ets->max_classes = flags & ETS_MAX ? flags & ETS_MAX : N_CLASSES;
    }
    tlv->remarks =
        remark(flags & (is_recommendation ? 0xff : ETS_RESERVED), XOFF_DCBX_REMARK_RESERVED);
    const uint32_t classes = get32(in, "classes of the priorities");
    for (unsigned n = 0; n < N_PRIORITIES; n++)
        ets->class_of[n] = classes >> (28 - 4 * n) & 15;
    get_copy(in, ets->percent, N_CLASSES, "per cent of the classes");
    get_copy(in, ets->tsa, N_CLASSES, "selection algorithms of the classes");
    tlv->remarks |= xoff_dcbx_ets_remarks(ets, is_recommendation);
}

static void get_pfc(struct octets_in *in, struct xoff_dcbx_tlv *tlv)
{
    struct xoff_dcbx_pfc *pfc = &tlv->u.pfc;
    const uint8_t flags = get8(in, "flags");
    pfc->is_willing = flags & WILLING;
    pfc->cannot_bypass = flags & MBC;
    pfc->max_classes = flags & PFC_MAX;
    pfc->enabled = get8(in, "enabled");
    unsigned n_enabled = 0;
    for (unsigned n = 0; n < N_PRIORITIES; n++)
        n_enabled += (unsigned)pfc->enabled >> n & 1u;
    tlv->remarks = remark(flags & PFC_RESERVED, XOFF_DCBX_REMARK_RESERVED) |
                   remark(n_enabled > pfc->max_classes, XOFF_DCBX_REMARK_TOO_LOSSLESS);
}

static void get_apps(struct octets_in *in, struct xoff_dcbx_tlv *tlv)
{
    struct xoff_dcbx_apps *apps = &tlv->u.apps;
    tlv->remarks = remark(get8(in, "reserved") != 0, XOFF_DCBX_REMARK_RESERVED);
    while (octets_left(in) > 0) {
        const uint8_t flags = get8(in, "priority and selector");
        struct xoff_dcbx_app *app = &apps->app[apps->n++];
        app->priority = flags >> 5;
        app->selector = flags & APP_SELECTOR;
        app->protocol = get16(in, "protocol");
        tlv->remarks |= remark(flags & APP_RESERVED, XOFF_DCBX_REMARK_RESERVED) |
                        remark(app->selector < XOFF_APP_ETHERTYPE || app->selector > XOFF_APP_DSCP,
                               XOFF_DCBX_REMARK_SELECTOR);
    }
}

static void get_cn(struct octets_in *in, struct xoff_dcbx_tlv *tlv)
{
    tlv->u.cn.priorities = get8(in, "CNPVs");
    tlv->u.cn.ready = get8(in, "ready");
    tlv->remarks = remark(tlv->u.cn.ready & ~tlv->u.cn.priorities, XOFF_DCBX_REMARK_READY);
}

static int check_length(const uint8_t *frame, const struct xoff_lldp_tlv *found,
                        enum xoff_dcbx_kind kind, struct xoff_err *err)
{
    if (kind == XOFF_DCBX_APPLICATIONS) {
        if (found->length >= APPS_LENGTH && (found->length - APPS_LENGTH) % APP_LENGTH == 0)
            return 0;
        return xoff_octets_refuse(err, XOFF_E_RANGE, xoff_dcbx_kind_text(kind), frame, found->at, 2,
                                  "its length must be 5 and 3 for each application");
    }
    const unsigned length = kind == XOFF_DCBX_PFC                       ? PFC_LENGTH
                            : kind == XOFF_DCBX_CONGESTION_NOTIFICATION ? CN_LENGTH
                                                                        : ETS_LENGTH;
    if (found->length == length)
        return 0;
    const int code = xoff_octets_refuse(err, XOFF_E_RANGE, xoff_dcbx_kind_text(kind), frame,
                                        found->at, 2, "its length must be ");
    xoff_err_add_int(err, length);
    return code;
}
