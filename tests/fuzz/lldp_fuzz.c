/* libFuzzer target for LLDP frames and the TLVs of DCBX, of 802.1Qaz and of CEE. What is accepted
 * keeps its meaning through encode and decode, and its octets where none of them was ignored. What
 * is refused names a field. The walk over TLVs always ends and never leaves the frame. */
#include <xoff/dcbx_tlv.h>

#include "target.h"

static void require_error(int code, const struct xoff_err *err)
{
    require(code == -(int)err->code);
    require(err->subject[0] != '\0' && err->message[0] != '\0');
}

/* Octets that a decoder skips are not written again: reserved bits, sub-TLVs of unknown types and
 * the order of those that are known. */
static int is_exact(const struct xoff_dcbx_tlv *tlv)
{
    return tlv->kind != XOFF_DCBX_CEE && !(tlv->remarks & 1u << XOFF_DCBX_REMARK_RESERVED);
}

static void check_tlv(const uint8_t *frame, const struct xoff_lldp_tlv *found)
{
    struct xoff_err err = {0};
    struct xoff_dcbx_tlv tlv, again;
    const int code = xoff_dcbx_tlv_decode(frame, found, &tlv, &err);
    if (code < 0) {
        require_error(code, &err);
        return;
    }
    require(code == 0 && tlv.kind == xoff_dcbx_kind_of(found));
    uint8_t first[XOFF_DCBX_MAX_TLV], second[XOFF_DCBX_MAX_TLV];
    const size_t n = xoff_dcbx_tlv_encode(&tlv, first, sizeof first);
    require(n > 0);
    if (is_exact(&tlv))
        require(n == 2u + found->length && memcmp(first, frame + found->at, n) == 0);
    struct xoff_lldp_tlv written;
    size_t at = 0;
    require(xoff_lldp_next(first, n, &at, &written, &err) == 1 && at == n);
    require(xoff_dcbx_tlv_decode(first, &written, &again, &err) == 0);
    require(xoff_dcbx_tlv_encode(&again, second, sizeof second) == n);
    require(memcmp(first, second, n) == 0);
}

/* Returns whether every TLV could be read. */
static int walk(const uint8_t *data, size_t size, size_t at)
{
    struct xoff_lldp_tlv tlv;
    struct xoff_err err = {0};
    for (;;) {
        const size_t before = at;
        const int code = xoff_lldp_next(data, size, &at, &tlv, &err);
        if (code < 0)
            require_error(code, &err);
        if (code <= 0)
            return code == 0;
        require(tlv.at == before && at == before + 2u + tlv.length && at <= size);
        require(tlv.value == data + before + 2);
        require(*xoff_lldp_type_text(tlv.type) != '\0');
        if (xoff_dcbx_kind_of(&tlv) != XOFF_DCBX_OTHER)
            check_tlv(data, &tlv);
    }
}

/* The frame with those of its TLVs that count says the same again, but for what was ignored. */
static void check_pdu(const struct xoff_lldp *lldp, struct xoff_dcbx_pdu *pdu)
{
    static uint8_t tlvs[XOFF_DCBX_N_KINDS * XOFF_DCBX_MAX_TLV], frame[sizeof tlvs + 1024];
    struct xoff_lldp lldp_again;
    struct xoff_dcbx_pdu again;
    struct xoff_err err = {0};
    pdu->cee.n_unknown = 0; /* parts that nobody knows are not written again */
    const size_t n_tlvs = xoff_dcbx_pdu_encode(pdu, tlvs, sizeof tlvs);
    require(!pdu->has == !n_tlvs);
    const size_t n = xoff_lldp_encode(lldp, tlvs, n_tlvs, frame, sizeof frame);
    require(n >= 60);
    require(xoff_dcbx_pdu_decode(frame, n, &lldp_again, &again, &err) == 0);
    require(err.code == XOFF_E_OK);
    require(memcmp(lldp, &lldp_again, sizeof *lldp) == 0);
    again.malformed = pdu->malformed;
    again.repeated = pdu->repeated;
    memcpy(again.remarks, pdu->remarks, sizeof again.remarks);
    again.cee.has_reserved = pdu->cee.has_reserved;
    require(memcmp(pdu, &again, sizeof *pdu) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct xoff_err err = {0};
    struct xoff_lldp lldp;
    struct xoff_dcbx_pdu pdu;
    size_t at;
    int code = xoff_lldp_decode(data, size, &lldp, &at, &err);
    const int is_readable = code == 0 && walk(data, size, at);
    if (code)
        require_error(code, &err);
    code = xoff_dcbx_pdu_decode(data, size, &lldp, &pdu, &err);
    require((code == 0) == is_readable);
    if (code)
        require_error(code, &err);
    else if (pdu.malformed || pdu.repeated)
        require(err.code != XOFF_E_OK && err.subject[0] && err.message[0]);
    if (!code)
        check_pdu(&lldp, &pdu);
    return 0;
}
