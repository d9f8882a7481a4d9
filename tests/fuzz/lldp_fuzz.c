/* libFuzzer target for LLDP and the TLVs of DCBX: what is accepted keeps its meaning through encode
 * and decode, and what is refused names a field. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <xoff/dcbx_tlv.h>

_Noreturn void xoff_assert_fail(const char *expression, const char *file, int line)
{
    (void)expression, (void)file, (void)line;
    abort();
}

static void require(int holds)
{
    if (!holds)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct xoff_lldp lldp, lldp_again;
    struct xoff_dcbx_pdu pdu, again;
    struct xoff_err err;
    const int code = xoff_dcbx_pdu_decode(data, size, &lldp, &pdu, &err);
    if (code != 0 || pdu.malformed || pdu.repeated)
        require(err.code != XOFF_E_OK && err.subject[0] && err.message[0]);
    if (code != 0)
        return 0;

    static uint8_t tlvs[6 * XOFF_DCBX_MAX_TLV], frame[sizeof tlvs + 1024];
    pdu.cee.n_unknown = 0; /* parts that nobody knows are not written again */
    const size_t n = xoff_dcbx_pdu_encode(&pdu, tlvs, sizeof tlvs);
    require(pdu.has == 0 || n > 0);
    const size_t length = xoff_lldp_encode(&lldp, tlvs, n, frame, sizeof frame);
    require(length >= 60);
    require(xoff_dcbx_pdu_decode(frame, length, &lldp_again, &again, &err) == 0);
    require(err.code == XOFF_E_OK);
    require(memcmp(&lldp, &lldp_again, sizeof lldp) == 0);
    /* Reserved bits are not written, so that remark is gone; the rest is the same. */
    again.malformed = pdu.malformed;
    again.repeated = pdu.repeated;
    memcpy(again.remarks, pdu.remarks, sizeof again.remarks);
    again.cee.has_reserved = pdu.cee.has_reserved;
    require(memcmp(&pdu, &again, sizeof pdu) == 0);
    return 0;
}
