/* CC_Update and CtlOS of Ultra Ethernet: octets <-> struct.
 *
 * Source: Ultra Ethernet 1.0 as the public interfaces of switches and testers tell of it: SAI
 * (doc/CBFC, doc/LLR) and the open traffic generator models. CC_Update is a MAC Control frame of 64
 * octets with FCS, in the opcode that 802.3 Annex 31C leaves to organisations:
 *
 *   octet 14  opcode 0xfffe
 *         16  company id FA-7A-CB
 *         19  type: 1 for virtual channels 0 to 15, 2 for 16 to 31
 *         20  16 counters of 20 bits
 *
 * A control ordered set has eight octets, D0 to D7, between frames:
 *
 *   D0  0x5c
 *   D1  type
 *   D2, D3, upper half of D4: 20 bits; LLR: sequence number; CF_Update: an entry
 *   lower half of D4: 6
 *   D5, D6, upper half of D7: CF_Update: a second entry
 *
 * These are our choices, since the text was not at hand: counters lie in order, the most
 * significant bit first; an entry has the channel in its upper 5 bits and the count in its lower
 * 15; the second entry stands in D5 to D7; what is left is reserved, sent as 0 and ignored.
 */
#include <xoff/uec.h>

#include "wire/octets.h"

#define CTLOS_START 0x5c
#define CTLOS_ORDER 6

int xoff_cc_update_decode(const uint8_t *frame, size_t length, size_t at,
                          struct xoff_cc_update *update, struct xoff_err *err)
{
    struct octets_in in = octets_in_at(frame, length, at);
    const uint16_t opcode = get16(&in, "opcode");
    const uint32_t company = get24(&in, "company id");
    const uint8_t type = get8(&in, "CC_Update type");
    /* Two counters fill five octets. */
    for (int i = 0; i < XOFF_CC_UPDATE_CHANNELS; i += 2) {
        const uint64_t pair = get_number(&in, 5, "consumed credits");
        update->consumed[i] = (uint32_t)(pair >> XOFF_UEC_COUNTER_BITS);
        update->consumed[i + 1] = pair & 0xfffff;
    }
    if (in.cut_field)
        return xoff_octets_refuse_cut(err, &in);
    if (opcode != XOFF_OPCODE_EXTENSION)
        return xoff_octets_refuse(err, XOFF_E_TYPE, "opcode", frame, at, 2, "must be ff-fe");
    if (company != XOFF_UEC_COMPANY)
        return xoff_octets_refuse(err, XOFF_E_TYPE, "company id", frame, at + 2, 3,
                                  "must be fa-7a-cb");
    if (type != 1 && type != 2)
        return xoff_octets_refuse(err, XOFF_E_RANGE, "CC_Update type", frame, at + 5, 1,
                                  "must be 01 (channels 0 to 15) or 02 (16 to 31)");
    update->first_channel = type == 2 ? XOFF_CC_UPDATE_CHANNELS : 0;
    return (int)in.at;
}

size_t xoff_cc_update_encode(const struct xoff_cc_update *update, uint8_t *buf, size_t capacity)
{
    struct octets_out out = octets_out(buf, capacity);
    XOFF_ASSERT(update->first_channel == 0 || update->first_channel == XOFF_CC_UPDATE_CHANNELS);
    put16(&out, XOFF_OPCODE_EXTENSION);
    put24(&out, XOFF_UEC_COMPANY);
    put8(&out, update->first_channel ? 2 : 1);
    for (int i = 0; i < XOFF_CC_UPDATE_CHANNELS; i += 2) {
        XOFF_ASSERT((update->consumed[i] | update->consumed[i + 1]) >> XOFF_UEC_COUNTER_BITS == 0);
        put_number(&out,
                   (uint64_t)update->consumed[i] << XOFF_UEC_COUNTER_BITS | update->consumed[i + 1],
                   5);
    }
    return octets_written(&out);
}

static struct xoff_ctlos_credit credit_of(uint32_t entry)
{
    return (struct xoff_ctlos_credit){.channel = (uint8_t)(entry >> 15), .freed = entry & 0x7fff};
}

static uint32_t entry_of(const struct xoff_ctlos_credit *credit)
{
    XOFF_ASSERT(credit->channel < 32 && credit->freed < 0x8000);
    return (uint32_t)credit->channel << 15 | credit->freed;
}

static bool is_known(uint8_t type)
{
    return (type >= XOFF_CTLOS_LLR_ACK && type <= XOFF_CTLOS_LLR_INIT_ECHO) ||
           type == XOFF_CTLOS_CF_UPDATE;
}

int xoff_ctlos_decode(const uint8_t *octets, size_t length, struct xoff_ctlos *ctlos,
                      struct xoff_err *err)
{
    struct octets_in in = octets_in(octets, length);
    *ctlos = (struct xoff_ctlos){0};
    const uint8_t start = get8(&in, "D0");
    ctlos->type = get8(&in, "type");
    const uint32_t first = get24(&in, "D2 to D4"), second = get24(&in, "D5 to D7");
    if (in.cut_field)
        return xoff_octets_refuse_cut(err, &in);
    if (octets_left(&in))
        return xoff_octets_refuse(err, XOFF_E_RANGE, "length", octets, in.at, 1,
                                  "an ordered set has eight octets");
    if (start != CTLOS_START)
        return xoff_octets_refuse(err, XOFF_E_TYPE, "D0", octets, 0, 1, "must be 5c");
    if (!is_known(ctlos->type))
        return xoff_octets_refuse(err, XOFF_E_TYPE, "type", octets, 1, 1,
                                  "must be 01 to 04 (LLR) or 10 (CF_Update)");
    if ((first & 15) != CTLOS_ORDER)
        return xoff_octets_refuse(err, XOFF_E_TYPE, "D4", octets, 4, 1,
                                  "the lower four bits must be 6");
    if (ctlos->type == XOFF_CTLOS_CF_UPDATE) {
        ctlos->credit[0] = credit_of(first >> 4);
        ctlos->credit[1] = credit_of(second >> 4);
        ctlos->reserved = second & 15;
    } else {
        ctlos->sequence = first >> 4;
        ctlos->reserved = second;
    }
    return (int)in.at;
}

size_t xoff_ctlos_encode(const struct xoff_ctlos *ctlos, uint8_t *buf, size_t capacity)
{
    struct octets_out out = octets_out(buf, capacity);
    const bool has_credit = ctlos->type == XOFF_CTLOS_CF_UPDATE;
    XOFF_ASSERT(is_known(ctlos->type));
    XOFF_ASSERT(ctlos->sequence >> XOFF_UEC_COUNTER_BITS == 0);
    XOFF_ASSERT(ctlos->reserved >> (has_credit ? 4 : 24) == 0);
    put8(&out, CTLOS_START);
    put8(&out, ctlos->type);
    put24(&out, (has_credit ? entry_of(&ctlos->credit[0]) : ctlos->sequence) << 4 | CTLOS_ORDER);
    put24(&out, has_credit ? entry_of(&ctlos->credit[1]) << 4 | ctlos->reserved : ctlos->reserved);
    return octets_written(&out);
}
