/* LLDP frames and the TLVs of DCBX, as text or JSON. */
#include <string.h>

#include <xoff/dcbx_tlv.h>

#include "cli/frame_text.h"

static void tell_id(struct values *f, const char *name, const struct xoff_lldp_id *id,
                    uint8_t mac_subtype)
{
    char subtype[32];
    snprintf(subtype, sizeof subtype, "%s_subtype", name);
    values_unsigned(f, subtype, id->subtype);
    if (id->subtype == mac_subtype && id->length == 6)
        values_mac(f, name, id->octets);
    else
        values_raw_text(f, name, id->octets, id->length);
}

static void tell_eight(struct values *f, const char *name, const uint8_t values[8])
{
    uint32_t numbers[8];
    for (int i = 0; i < 8; i++)
        numbers[i] = values[i];
    values_numbers(f, name, numbers, 8);
}

static void tell_ets(struct values *f, const struct xoff_dcbx_ets *ets, bool is_configuration)
{
    if (is_configuration) {
        values_is(f, "willing", ets->is_willing);
        values_is(f, "cbs", ets->has_cbs);
        values_unsigned(f, "max_classes", ets->max_classes);
    }
    tell_eight(f, "class_of", ets->class_of);
    tell_eight(f, "percent", ets->percent);
    tell_eight(f, "tsa", ets->tsa);
}

static void tell_pfc(struct values *f, const struct xoff_dcbx_pfc *pfc)
{
    values_is(f, "willing", pfc->is_willing);
    values_is(f, "cannot_bypass", pfc->cannot_bypass);
    values_unsigned(f, "max_classes", pfc->max_classes);
    values_bits(f, "enabled", pfc->enabled);
}

static void tell_apps(struct values *f, const struct xoff_dcbx_apps *apps)
{
    uint32_t priorities[XOFF_DCBX_MAX_APPS], selectors[XOFF_DCBX_MAX_APPS],
        protocols[XOFF_DCBX_MAX_APPS];
    for (int i = 0; i < apps->n; i++) {
        priorities[i] = apps->app[i].priority;
        selectors[i] = apps->app[i].selector;
        protocols[i] = apps->app[i].protocol;
    }
    values_numbers(f, "priority", priorities, apps->n);
    values_numbers(f, "selector", selectors, apps->n);
    values_numbers(f, "protocol", protocols, apps->n);
}

static void tell_cee(struct values *f, const struct xoff_cee *cee)
{
    values_unsigned(f, "seq", cee->control.seq);
    values_unsigned(f, "ack", cee->control.ack);
    if (cee->groups.head.is_there) {
        tell_eight(f, "group_of", cee->groups.group_of);
        tell_eight(f, "group_percent", cee->groups.percent);
        values_is(f, "groups_willing", cee->groups.head.is_willing);
    }
    if (cee->pfc.head.is_there) {
        values_bits(f, "pfc_enabled", cee->pfc.enabled);
        values_is(f, "pfc_willing", cee->pfc.head.is_willing);
    }
    if (cee->apps.head.is_there) {
        uint32_t protocols[XOFF_CEE_MAX_APPS], priorities[XOFF_CEE_MAX_APPS];
        for (int i = 0; i < cee->apps.n; i++) {
            protocols[i] = cee->apps.app[i].protocol;
            priorities[i] = cee->apps.app[i].priorities;
        }
        values_numbers(f, "app_protocol", protocols, cee->apps.n);
        values_numbers(f, "app_priorities", priorities, cee->apps.n);
    }
}

static void tell_dcbx(struct values *f, const struct xoff_dcbx_tlv *tlv)
{
    switch (tlv->kind) {
    case XOFF_DCBX_ETS_CONFIGURATION:
    case XOFF_DCBX_ETS_RECOMMENDATION:
        tell_ets(f, &tlv->u.ets, tlv->kind == XOFF_DCBX_ETS_CONFIGURATION);
        break;
    case XOFF_DCBX_PFC:
        tell_pfc(f, &tlv->u.pfc);
        break;
    case XOFF_DCBX_APPLICATIONS:
        tell_apps(f, &tlv->u.apps);
        break;
    case XOFF_DCBX_CONGESTION_NOTIFICATION:
        values_bits(f, "priorities", tlv->u.cn.priorities);
        values_bits(f, "ready", tlv->u.cn.ready);
        break;
    default:
        tell_cee(f, &tlv->u.cee);
    }
    char remarks[XOFF_DCBX_N_REMARKS * 96] = "";
    size_t n = 0;
    for (int i = 0; i < XOFF_DCBX_N_REMARKS; i++)
        if (tlv->remarks >> i & 1)
            n += (size_t)snprintf(remarks + n, sizeof remarks - n, "%s%s", n ? "; " : "",
                                  xoff_dcbx_remark_text((enum xoff_dcbx_remark)i));
    XOFF_ASSERT(n < sizeof remarks);
    if (n)
        values_text(f, "remarks", remarks);
}

static bool is_text(uint8_t type)
{
    return type == XOFF_LLDP_PORT_DESCRIPTION || type == XOFF_LLDP_SYSTEM_NAME ||
           type == XOFF_LLDP_SYSTEM_DESCRIPTION;
}

/* Names of the groups: as short as those of headers. */
static const char *const dcbx_names[] = {
    [XOFF_DCBX_ETS_CONFIGURATION] = "dcbx-ets",
    [XOFF_DCBX_ETS_RECOMMENDATION] = "dcbx-rec",
    [XOFF_DCBX_PFC] = "dcbx-pfc",
    [XOFF_DCBX_APPLICATIONS] = "dcbx-app",
    [XOFF_DCBX_CONGESTION_NOTIFICATION] = "dcbx-cn",
    [XOFF_DCBX_CEE] = "dcbx-cee",
};

static void tell_tlv(struct values *f, const uint8_t *frame, const struct xoff_lldp_tlv *tlv)
{
    static struct xoff_dcbx_tlv dcbx;
    struct xoff_err err;
    const enum xoff_dcbx_kind kind = xoff_dcbx_kind_of(tlv);
    const bool is_dcbx = kind != XOFF_DCBX_OTHER;
    values_begin(f, is_dcbx ? dcbx_names[kind] : "tlv");
    if (is_dcbx && xoff_dcbx_tlv_decode(frame, tlv, &dcbx, &err)) {
        values_is(f, "void", true);
    } else if (is_dcbx) {
        tell_dcbx(f, &dcbx);
    } else {
        values_unsigned(f, "type", tlv->type);
        values_text(f, "name", xoff_lldp_type_text(tlv->type));
        if (is_text(tlv->type))
            values_raw_text(f, "text", tlv->value, tlv->length);
        else
            values_octets(f, "value", tlv->value, tlv->length);
    }
    values_end(f);
}

void frame_print_lldp(struct values *f, const uint8_t *frame, size_t length)
{
    struct xoff_lldp lldp;
    struct xoff_lldp_tlv tlv;
    struct xoff_err err;
    size_t at;
    if (xoff_lldp_decode(frame, length, &lldp, &at, &err))
        return;
    values_begin(f, "lldp");
    tell_id(f, "chassis", &lldp.chassis, XOFF_LLDP_CHASSIS_MAC);
    tell_id(f, "port", &lldp.port, XOFF_LLDP_PORT_MAC);
    values_unsigned(f, "ttl_s", lldp.ttl_s);
    values_end(f);
    while (xoff_lldp_next(frame, length, &at, &tlv, &err) > 0)
        tell_tlv(f, frame, &tlv);
}
