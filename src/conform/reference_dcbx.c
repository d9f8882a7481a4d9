/* DCBX of the reference device: libxoff's state machine at every port, with LLDP's real timers.
 *
 * The priorities that a port obeys pauses for follow what is negotiated. Differs: buffer and
 * scheduler stay as they were configured, since no test looks at them after a negotiation.
 */
#include <string.h>

#include "conform/reference.h"

#define MAX_OPTIONAL 512

static void set_admin(const struct reference *r, struct xoff_dcbx_admin *admin)
{
    const struct xoff_device_setup *setup = &r->setup;
    *admin = (struct xoff_dcbx_admin){
        .sends = 1 << XOFF_DCBX_ETS_CONFIGURATION | 1 << XOFF_DCBX_ETS_RECOMMENDATION |
                 1 << XOFF_DCBX_PFC,
        .pfc = {.is_willing = setup->pfc_willing || r->fault == FAULT_IGNORES_WILLING,
                .max_classes = 8,
                .enabled = setup->pfc},
        .cn_priorities = setup->cn,
    };
    admin->ets = (struct xoff_dcbx_ets){
        .is_willing = setup->ets_willing || r->fault == FAULT_IGNORES_WILLING, .max_classes = 8};
    for (uint8_t p = 0; p < XOFF_N_PRIORITIES; p++) {
        const bool is_strict = setup->strict >> p & 1;
        admin->ets.class_of[p] = p;
        admin->ets.percent[p] = is_strict ? 0 : setup->percent[p];
        admin->ets.tsa[p] = is_strict ? XOFF_TSA_STRICT : XOFF_TSA_ETS;
    }
    admin->recommendation = admin->ets;
    if (setup->fcoe_priority >= 0) {
        admin->sends |= 1 << XOFF_DCBX_APPLICATIONS;
        admin->apps.n = 1;
        admin->apps.app[0] = (struct xoff_dcbx_app){.priority = (uint8_t)setup->fcoe_priority,
                                                    .selector = XOFF_APP_ETHERTYPE,
                                                    .protocol = XOFF_APP_FCOE};
    }
    if (setup->cn)
        admin->sends |= 1 << XOFF_DCBX_CONGESTION_NOTIFICATION;
}

int reference_agent_build(struct reference *r, struct xoff_err *err)
{
    struct xoff_dcbx_admin admin;
    set_admin(r, &admin);
    for (uint32_t i = 0; i < r->setup.n_ports; i++) {
        struct xoff_dcbx_cfg *cfg = &r->dcbx_cfg[i];
        *cfg = (struct xoff_dcbx_cfg){
            .tie = r->fault == FAULT_TIE_BREAK ? XOFF_DCBX_TIE_HIGHER : XOFF_DCBX_TIE_LOWER,
            .follows_last = r->fault == FAULT_MULTIPLE_PEERS,
            .lldp = xoff_lldp_tx_defaults,
        };
        reference_port_mac(r, i, cfg->mac);
        const int code = xoff_dcbx_check(cfg, &admin, err);
        if (code)
            return code;
        r->dcbx[i] = reference_keep(r, sizeof *r->dcbx[i]);
        xoff_dcbx_init(cfg, r->dcbx[i], &admin);
        xoff_dcbx_on_link(cfg, r->dcbx[i], true, 0);
    }
    return 0;
}

/* Makes every TLV as long as it ought to be: the fault of a device that does not look. */
static size_t mend(const struct held *frame, const struct xoff_lldp *lldp, size_t at, uint8_t *buf,
                   size_t capacity)
{
    static const uint8_t lengths[] = {[9] = 25, [10] = 25, [11] = 6};
    uint8_t tlvs[MAX_OPTIONAL] = {0};
    size_t n = 0;
    struct xoff_lldp_tlv tlv;
    struct xoff_err err;
    while (xoff_lldp_next(frame->octets, frame->length, &at, &tlv, &err) > 0) {
        uint16_t length = tlv.length;
        if (tlv.oui == XOFF_DCBX_OUI && tlv.subtype >= 9 && tlv.subtype <= 11)
            length = lengths[tlv.subtype];
        if (n + 2u + length > sizeof tlvs)
            break;
        tlvs[n++] = (uint8_t)(tlv.type << 1 | length >> 8);
        tlvs[n++] = (uint8_t)length;
        memcpy(tlvs + n, tlv.value, tlv.length < length ? tlv.length : length);
        n += length;
    }
    return xoff_lldp_encode(lldp, tlvs, n, buf, capacity);
}

static void put_in_force(struct reference *r, uint32_t port, unsigned events)
{
    if (events & XOFF_DCBX_CHANGED)
        r->ports[port].gate_cfg.obeys =
            reference_lossless(r, r->dcbx[port]->operational.pfc.enabled);
}

void reference_agent_receive(struct reference *r, const struct held *frame)
{
    struct xoff_dcbx *dcbx = r->dcbx[frame->port];
    const struct xoff_dcbx_cfg *cfg = &r->dcbx_cfg[frame->port];
    uint8_t mended[XOFF_LLDP_MAX_FRAME];
    const uint8_t *octets = frame->octets;
    size_t length = frame->length, tlvs_at;
    struct xoff_lldp lldp;
    struct xoff_dcbx_pdu pdu;
    struct xoff_err err;
    if (!dcbx)
        return;
    if (xoff_lldp_decode(octets, length, &lldp, &tlvs_at, &err) < 0) {
        xoff_dcbx_on_void(dcbx);
        return;
    }
    if (r->fault == FAULT_MALFORMED_TLV) {
        length = mend(frame, &lldp, tlvs_at, mended, sizeof mended);
        octets = mended;
    }
    if (xoff_dcbx_pdu_decode(octets, length, &lldp, &pdu, &err) < 0) {
        xoff_dcbx_on_void(dcbx);
        return;
    }
    for (uint32_t kind = 0; kind < XOFF_DCBX_N_KINDS && r->fault == FAULT_REFUSES_RESERVED; kind++)
        if (pdu.remarks[kind] >> XOFF_DCBX_REMARK_RESERVED & 1)
            pdu.has &= (uint8_t) ~(1u << kind);
    if (r->fault == FAULT_NEVER_LAPSES)
        lldp.ttl_s = UINT16_MAX;
    put_in_force(r, frame->port, xoff_dcbx_on_frame(cfg, dcbx, &lldp, &pdu, r->now));
}

xoff_time reference_agent_deadline(const struct reference *r)
{
    xoff_time at = XOFF_NEVER;
    for (uint32_t i = 0; i < r->setup.n_ports; i++)
        if (r->dcbx[i])
            at = xoff_time_min(at, xoff_dcbx_deadline(r->dcbx[i]));
    return at;
}

static void say(struct reference *r, uint32_t port)
{
    uint8_t tlvs[MAX_OPTIONAL], octets[XOFF_LLDP_MAX_FRAME];
    struct xoff_lldp lldp;
    struct xoff_dcbx_pdu pdu;
    xoff_dcbx_take(&r->dcbx_cfg[port], r->dcbx[port], r->now, &lldp, &pdu);
    pdu.pfc.is_willing &= r->setup.pfc_willing;
    pdu.ets.is_willing &= r->setup.ets_willing;
    const size_t n = xoff_dcbx_pdu_encode(&pdu, tlvs, sizeof tlvs);
    const size_t length = xoff_lldp_encode(&lldp, tlvs, n, octets, sizeof octets);
    XOFF_ASSERT(length);
    held_append(&r->ports[port].local, held_create(octets, (uint32_t)length));
}

void reference_agent_expire(struct reference *r)
{
    for (uint32_t i = 0; i < r->setup.n_ports; i++) {
        if (!r->dcbx[i] || xoff_dcbx_deadline(r->dcbx[i]) > r->now)
            continue;
        put_in_force(r, i, xoff_dcbx_expire(&r->dcbx_cfg[i], r->dcbx[i], r->now));
        if (xoff_dcbx_is_due(r->dcbx[i], r->now))
            say(r, i);
    }
}
