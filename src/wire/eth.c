/* Ethernet headers with VLAN tags: octets <-> struct.
 *
 * Source: 802.3 clause 3 (addresses, length or type, least size), 802.1Q clause 9 (tags):
 *
 *   octet  0  destination
 *          6  source
 *         12  any number of tags, 4 octets each: EtherType 0x8100 (C-TAG) or 0x88a8 (S-TAG), then
 *             priority (PCP) in 3 bits, drop eligible (DEI) in 1, VLAN (VID) in 12
 *             EtherType, or the length of an 802.3 frame, 2 octets
 *
 * Differs: at most two tags are read, which is what 802.1Q makes of a frame that crosses a provider
 * bridge. VID 4095, which is reserved, is kept as it stands.
 */
#include <xoff/eth.h>

#include "wire/octets.h"

static bool is_vlan(uint16_t type)
{
    return type == XOFF_ETHERTYPE_VLAN || type == XOFF_ETHERTYPE_SERVICE_VLAN;
}

static struct xoff_vlan_tag tag_of(uint16_t type, uint16_t control)
{
    return (struct xoff_vlan_tag){.type = type,
                                  .priority = (uint8_t)(control >> 13),
                                  .drop_eligible = control >> 12 & 1,
                                  .vlan = control & 0xfff};
}

int xoff_eth_decode(const uint8_t *frame, size_t length, struct xoff_eth *eth, struct xoff_err *err)
{
    struct octets_in in = octets_in(frame, length);
    memset(eth, 0, sizeof *eth);
    get_copy(&in, eth->destination, 6, "destination");
    get_copy(&in, eth->source, 6, "source");
    eth->type = get16(&in, "EtherType");
    while (is_vlan(eth->type)) {
        if (eth->n_tags == XOFF_ETH_MAX_TAGS)
            return xoff_octets_refuse(err, XOFF_E_RANGE, "EtherType", frame, in.at - 2, 2,
                                      "a third VLAN tag; a frame has two at most");
        eth->tags[eth->n_tags++] = tag_of(eth->type, get16(&in, "VLAN tag"));
        eth->type = get16(&in, "EtherType");
    }
    if (in.cut_field)
        return xoff_octets_refuse_cut(err, &in);
    if (eth->type > XOFF_ETH_MAX_LENGTH && eth->type < XOFF_ETH_MIN_TYPE)
        return xoff_octets_refuse(err, XOFF_E_RANGE, "EtherType", frame, in.at - 2, 2,
                                  "must be a length up to 05-dc or an EtherType from 06-00 on");
    return (int)in.at;
}

size_t xoff_eth_encode(const struct xoff_eth *eth, uint8_t *buf, size_t capacity)
{
    struct octets_out out = octets_out(buf, capacity);
    XOFF_ASSERT(eth->n_tags <= XOFF_ETH_MAX_TAGS);
    put_octets(&out, eth->destination, 6);
    put_octets(&out, eth->source, 6);
    for (int i = 0; i < eth->n_tags; i++) {
        const struct xoff_vlan_tag *tag = &eth->tags[i];
        XOFF_ASSERT(is_vlan(tag->type) && tag->priority < 8 && tag->vlan < 4096);
        put16(&out, tag->type);
        put16(&out, (unsigned)tag->priority << 13 | (unsigned)tag->drop_eligible << 12 | tag->vlan);
    }
    put16(&out, eth->type);
    return octets_written(&out);
}

size_t xoff_eth_pad(uint8_t *buf, size_t length)
{
    if (length >= XOFF_ETH_MIN_OCTETS)
        return length;
    memset(buf + length, 0, XOFF_ETH_MIN_OCTETS - length);
    return XOFF_ETH_MIN_OCTETS;
}
