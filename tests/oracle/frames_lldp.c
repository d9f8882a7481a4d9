/* LLDP frames with the TLVs of DCBX, of 802.1Qaz and of CEE. */
#include <string.h>

#include <xoff/dcbx_tlv.h>

#include "oracle/random_frames.h"

static void say_tlv(struct frames *f, unsigned type, size_t octets)
{
    frames_say(f, "lldp.tlv.type", type);
    frames_say(f, "lldp.tlv.len", octets);
}

static void say_bits(struct frames *f, const char *field, uint8_t bits)
{
    for (unsigned p = 0; p < 8; p++)
        frames_say_at(f, field, p, bits >> p & 1);
}

static void say_octets(struct frames *f, const char *field, const uint8_t values[8])
{
    for (unsigned i = 0; i < 8; i++)
        frames_say_at(f, field, i, values[i]);
}

static void make_ets(struct frames *f, struct xoff_dcbx_ets *ets, bool is_recommendation)
{
    if (!is_recommendation) {
        ets->is_willing = frames_coin(f);
        ets->has_cbs = frames_coin(f);
        ets->max_classes = (uint8_t)(1 + frames_below(f, 8));
        frames_say(f, "lldp.dcbx.ieee.willing", ets->is_willing);
        frames_say(f, "lldp.dcbx.ieee.ets.cbs", ets->has_cbs);
        frames_say(f, "lldp.dcbx.ieee.ets.maxtcs", ets->max_classes & 7); /* 8 is written as 0 */
    }
    for (unsigned i = 0; i < 8; i++) {
        ets->class_of[i] = (uint8_t)frames_below(f, 8);
        ets->percent[i] = (uint8_t)frames_below(f, 101);
        ets->tsa[i] = (uint8_t)frames_bits(f, 8);
    }
    say_octets(f, "lldp.dcbx.feature.pg.pgid_prio%u", ets->class_of);
    say_octets(f, "lldp.dcbx.feature.pg.per%u", ets->percent);
    say_octets(f, "lldp.dcbx.ieee.ets.tsa%u", ets->tsa);
}

static void make_pfc(struct frames *f, struct xoff_dcbx_pfc *pfc)
{
    *pfc = (struct xoff_dcbx_pfc){.is_willing = frames_coin(f),
                                  .cannot_bypass = frames_coin(f),
                                  .max_classes = (uint8_t)frames_bits(f, 4),
                                  .enabled = (uint8_t)frames_bits(f, 8)};
    frames_say(f, "lldp.dcbx.ieee.willing", pfc->is_willing);
    frames_say(f, "lldp.dcbx.ieee.pfc.mbc", pfc->cannot_bypass);
    frames_say(f, "lldp.dcbx.ieee.pfc.numtcs", pfc->max_classes);
    say_bits(f, "lldp.dcbx.feature.pfc.prio%u", pfc->enabled);
}

static void make_apps(struct frames *f, struct xoff_dcbx_apps *apps)
{
    apps->n = (uint8_t)frames_below(f, 20);
    for (unsigned i = 0; i < apps->n; i++) {
        apps->app[i] = (struct xoff_dcbx_app){.priority = (uint8_t)frames_bits(f, 3),
                                              .selector = (uint8_t)frames_bits(f, 3),
                                              .protocol = (uint16_t)frames_bits(f, 16)};
        frames_say(f, "lldp.dcbx.ieee.app.prio", apps->app[i].priority);
        frames_say(f, "lldp.dcbx.iee.app.sf", apps->app[i].selector);
        frames_say(f, "lldp.dcbx.feature.app.proto", apps->app[i].protocol);
    }
}

static void make_cn(struct frames *f, struct xoff_dcbx_cn *cn)
{
    cn->priorities = (uint8_t)frames_bits(f, 8);
    cn->ready = (uint8_t)frames_bits(f, 8);
    say_bits(f, "lldp.ieee.802_1qau.cnpv.prio%u", cn->priorities);
    say_bits(f, "lldp.ieee.802_1qau.ready.prio%u", cn->ready);
}

static struct xoff_cee_head make_head(struct frames *f, unsigned type)
{
    const struct xoff_cee_head head = {.is_there = true,
                                       .oper_version = (uint8_t)frames_bits(f, 8),
                                       .max_version = (uint8_t)frames_bits(f, 8),
                                       .is_enabled = frames_coin(f),
                                       .is_willing = frames_coin(f),
                                       .has_error = frames_coin(f),
                                       .subtype = (uint8_t)frames_bits(f, 8)};
    frames_say(f, "lldp.dcbx.type", type);
    frames_say(f, "lldp.dcbx.version", head.oper_version);
    frames_say(f, "lldp.dcbx.max_version", head.max_version);
    frames_say(f, "lldp.dcbx.feature.enabled", head.is_enabled);
    frames_say(f, "lldp.dcbx.feature.willing", head.is_willing);
    frames_say(f, "lldp.dcbx.feature.error", head.has_error);
    frames_say(f, "lldp.dcbx.feature.subtype", head.subtype);
    return head;
}

/* tshark shows one priority of an application, the first of its mask, so each has one alone. */
static void make_cee_apps(struct frames *f, struct xoff_cee_apps *apps)
{
    apps->head = make_head(f, 4);
    apps->n = (uint8_t)(1 + frames_below(f, 6));
    for (unsigned i = 0; i < apps->n; i++) {
        const unsigned priority = frames_below(f, 8);
        apps->app[i] = (struct xoff_cee_app){.protocol = (uint16_t)frames_bits(f, 16),
                                             .selector = (uint8_t)frames_below(f, 2),
                                             .oui = (uint32_t)frames_bits(f, 24) & 0xfcffff,
                                             .priorities = (uint8_t)(1u << priority)};
        frames_say(f, "lldp.dcbx.feature.app.proto", apps->app[i].protocol);
        frames_say(f, "lldp.dcbx.feature.app.oui", apps->app[i].oui);
        frames_say(f, "lldp.dcbx.feature.app.sf", apps->app[i].selector);
        frames_say(f, "lldp.dcbx.feature.app.prio", priority);
    }
}

/* Sub-TLVs in the order in which the encoder writes them. */
static void make_cee(struct frames *f, struct xoff_cee *cee)
{
    cee->control = (struct xoff_cee_control){.oper_version = (uint8_t)frames_bits(f, 8),
                                             .max_version = (uint8_t)frames_bits(f, 8),
                                             .seq = (uint32_t)frames_bits(f, 32),
                                             .ack = (uint32_t)frames_bits(f, 32)};
    frames_say(f, "lldp.dcbx.type", 1);
    frames_say(f, "lldp.dcbx.version", cee->control.oper_version);
    frames_say(f, "lldp.dcbx.max_version", cee->control.max_version);
    frames_say(f, "lldp.dcbx.control.seq", cee->control.seq);
    frames_say(f, "lldp.dcbx.control.ack", cee->control.ack);
    if (frames_coin(f)) {
        cee->pfc.head = make_head(f, 3);
        cee->pfc.enabled = (uint8_t)frames_bits(f, 8);
        cee->pfc.n_classes = (uint8_t)frames_below(f, 9);
        say_bits(f, "lldp.dcbx.feature.pfc.prio%u", cee->pfc.enabled);
        frames_say(f, "lldp.dcbx.feature.pfc.numtcs", cee->pfc.n_classes);
    }
    if (frames_coin(f))
        make_cee_apps(f, &cee->apps);
    if (frames_coin(f)) {
        cee->groups.head = make_head(f, 2);
        for (unsigned i = 0; i < 8; i++) {
            cee->groups.group_of[i] = (uint8_t)frames_bits(f, 3);
            cee->groups.percent[i] = (uint8_t)frames_below(f, 101);
        }
        cee->groups.n_classes = (uint8_t)frames_below(f, 9);
        say_octets(f, "lldp.dcbx.feature.pg.pgid_prio%u", cee->groups.group_of);
        say_octets(f, "lldp.dcbx.feature.pg.per%u", cee->groups.percent);
        frames_say(f, "lldp.dcbx.feature.pg.numtcs", cee->groups.n_classes);
    }
}

/* Fills in one TLV of DCBX, says what is in it and appends it to `tlvs`. Returns its octets. */
static size_t make_tlv(struct frames *f, enum xoff_dcbx_kind kind, uint8_t *tlvs, size_t capacity)
{
    static const uint8_t subtypes[] = {9, 10, 11, 12, 8};
    struct xoff_dcbx_tlv tlv = {.kind = kind};
    if (kind == XOFF_DCBX_CEE)
        make_cee(f, &tlv.u.cee);
    else
        frames_say(f, "lldp.ieee.802_1.subtype", subtypes[kind]);
    if (kind == XOFF_DCBX_ETS_CONFIGURATION || kind == XOFF_DCBX_ETS_RECOMMENDATION)
        make_ets(f, &tlv.u.ets, kind == XOFF_DCBX_ETS_RECOMMENDATION);
    else if (kind == XOFF_DCBX_PFC)
        make_pfc(f, &tlv.u.pfc);
    else if (kind == XOFF_DCBX_APPLICATIONS)
        make_apps(f, &tlv.u.apps);
    else if (kind == XOFF_DCBX_CONGESTION_NOTIFICATION)
        make_cn(f, &tlv.u.cn);
    const size_t n = xoff_dcbx_tlv_encode(&tlv, tlvs, capacity);
    say_tlv(f, XOFF_LLDP_ORGANISATION, n - 2);
    frames_say(f, "lldp.orgtlv.oui", kind == XOFF_DCBX_CEE ? XOFF_CEE_OUI : XOFF_DCBX_OUI);
    return n;
}

static struct xoff_lldp_id make_id(struct frames *f, uint8_t subtype, const char *field)
{
    struct xoff_lldp_id id = {.subtype = subtype, .length = 6};
    frames_octets(f, id.octets, id.length);
    frames_say_address(f, field, id.octets);
    return id;
}

/* Up to three TLVs, in any order and more than once: tshark shows them all. */
void make_lldp(struct frames *f)
{
    struct xoff_lldp lldp = {.is_tagged = frames_coin(f),
                             .tag = (uint16_t)frames_bits(f, 16),
                             .ttl_s = (uint16_t)frames_bits(f, 16)};
    uint8_t tlvs[1400];
    size_t n = 0;
    memcpy(lldp.destination, xoff_lldp_nearest_bridge, 6);
    frames_octets(f, lldp.source, 6);
    lldp.source[0] &= 0xfe;
    frames_say_address(f, "eth.src", lldp.source);
    if (lldp.is_tagged) {
        frames_say(f, "vlan.priority", lldp.tag >> 13);
        frames_say(f, "vlan.dei", lldp.tag >> 12 & 1);
        frames_say(f, "vlan.id", lldp.tag & 0xfff);
    }
    say_tlv(f, XOFF_LLDP_CHASSIS_ID, 7);
    lldp.chassis = make_id(f, XOFF_LLDP_CHASSIS_MAC, "lldp.chassis.id.mac");
    say_tlv(f, XOFF_LLDP_PORT_ID, 7);
    lldp.port = make_id(f, XOFF_LLDP_PORT_MAC, "lldp.port.id.mac");
    say_tlv(f, XOFF_LLDP_TTL, 2);
    frames_say(f, "lldp.time_to_live", lldp.ttl_s);
    for (unsigned i = frames_below(f, 4); i-- > 0;)
        n += make_tlv(f, (enum xoff_dcbx_kind)frames_below(f, XOFF_DCBX_N_KINDS), tlvs + n,
                      sizeof tlvs - n);
    say_tlv(f, XOFF_LLDP_END, 0);
    f->n = xoff_lldp_encode(&lldp, tlvs, n, f->octets, sizeof f->octets);
}
