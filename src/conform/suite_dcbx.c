/* DCBX: the TLVs that a device sends, and what it makes of those it receives.
 *
 * Source: titles and numbers of the UNH-IOL suite as far as they are public (38.1.x, 38.2.1); the
 * others are ours, after "Fairness in a data center" 3.2.4: willing bits, the tie between two
 * willing ports, several peers, malformed TLVs. Rules: 802.1Q clause 38 (asymmetric and symmetric
 * parameter passing), 802.1AB for LLDP.
 *
 * What a device holds operational shows in the TLVs it sends: a port that has taken over its peer's
 * parameters advertises them, with its own willing bit. The station speaks at 1 s; a device answers
 * within the transmission delay, so its last frame before 9 s tells.
 *
 * Chosen where texts and devices differ: of two willing ports the lower MAC address counts; of a
 * TLV that comes twice the first counts; reserved bits are ignored.
 */
#include <string.h>

#include <xoff/dcbx_tlv.h>

#include "conform/suites.h"
#include "wire/octets.h"

#define SPOKEN (1 * XOFF_S)
#define ANSWERED (9 * XOFF_S)
#define OWN (1u << 3)     /* priorities with PFC that the device is given ... */
#define OFFERED (1u << 4) /* ... and those of the station */

/* The station below the device's address, and above it. */
static const uint8_t low_mac[6] = {0x02, 0x00, 0x5e, 0x00, 0x01, 0x01};
static const uint8_t high_mac[6] = {0x02, 0x00, 0x5e, 0x00, 0x03, 0x01};

/* Sending */

/* A table that differs from the one the device is given: halves for classes 0 and 4. */
static struct xoff_dcbx_ets offered_table(void)
{
    struct xoff_dcbx_ets ets = {.max_classes = 8};
    for (uint8_t p = 0; p < XOFF_N_PRIORITIES; p++) {
        ets.class_of[p] = p & 4;
        ets.tsa[p] = p & 3 ? XOFF_TSA_STRICT : XOFF_TSA_ETS;
        ets.percent[p] = p & 3 ? 0 : 50;
    }
    return ets;
}

static struct xoff_dcbx_pdu offer_pfc(bool is_willing)
{
    return (struct xoff_dcbx_pdu){
        .has = 1 << XOFF_DCBX_PFC,
        .pfc = {.is_willing = is_willing, .max_classes = 8, .enabled = OFFERED}};
}

static struct xoff_dcbx_pdu offer_ets(bool has_recommendation)
{
    struct xoff_dcbx_pdu pdu = {.has = 1 << XOFF_DCBX_ETS_CONFIGURATION};
    pdu.ets = pdu.recommendation = offered_table();
    pdu.has |= has_recommendation ? 1 << XOFF_DCBX_ETS_RECOMMENDATION : 0;
    return pdu;
}

/* An LLDP frame with these octets of TLVs. */
static struct shot *send_tlvs(struct station *st, uint16_t port, xoff_time at, const uint8_t mac[6],
                              uint16_t ttl_s, const uint8_t *tlvs, size_t n)
{
    struct xoff_lldp lldp = {.ttl_s = ttl_s,
                             .chassis = {.subtype = XOFF_LLDP_CHASSIS_MAC, .length = 6},
                             .port = {.subtype = XOFF_LLDP_PORT_MAC, .length = 6}};
    uint8_t octets[XOFF_LLDP_MAX_FRAME];
    memcpy(lldp.destination, xoff_lldp_nearest_bridge, 6);
    memcpy(lldp.source, mac, 6);
    memcpy(lldp.chassis.octets, mac, 6);
    memcpy(lldp.port.octets, mac, 6);
    const size_t length = xoff_lldp_encode(&lldp, tlvs, n, octets, sizeof octets);
    XOFF_ASSERT(length);
    return station_send(st, port, at, octets, (uint32_t)length);
}

static struct shot *send_pdu(struct station *st, xoff_time at, const uint8_t mac[6], uint16_t ttl_s,
                             const struct xoff_dcbx_pdu *pdu)
{
    uint8_t tlvs[512];
    const size_t n = xoff_dcbx_pdu_encode(pdu, tlvs, sizeof tlvs);
    return send_tlvs(st, 0, at, mac, ttl_s, tlvs, n);
}

/* A bridge with PFC for priority 3 and equal shares. */
static bool begin_dcbx(struct station *st, uint16_t n_ports, bool is_willing)
{
    struct xoff_device_setup setup = station_setup(st, n_ports);
    setup.has_dcbx = true;
    setup.pfc = OWN;
    setup.pfc_willing = setup.ets_willing = is_willing;
    setup.fcoe_priority = 3;
    setup.cn = 1 << 5;
    return station_begin(st, &setup);
}

/* Reading */

static bool is_lldp(const struct logged *f, uint16_t port)
{
    return f->is_from_device && f->port == port && f->ethertype == XOFF_LLDP_ETHERTYPE;
}

/* The last frame that the device has sent by port 0. */
static bool read_last(struct station *st, struct xoff_dcbx_pdu *pdu)
{
    struct xoff_lldp lldp;
    struct xoff_err err = {0};
    for (uint32_t i = st->n_log; i-- > 0;)
        if (is_lldp(&st->log[i], 0))
            return station_check(st,
                                 !xoff_dcbx_pdu_decode(station_octets(st, &st->log[i]),
                                                       st->log[i].length, &lldp, pdu, &err) &&
                                     !pdu->malformed,
                                 "an LLDP frame that is not well formed: %s %s", err.subject,
                                 err.message);
    return station_check(st, false, "the device sends no LLDP frame");
}

static void check_pfc(struct station *st, uint8_t wanted, const char *when)
{
    struct xoff_dcbx_pdu pdu;
    if (!read_last(st, &pdu) ||
        !station_check(st, pdu.has >> XOFF_DCBX_PFC & 1, "%s: no PFC TLV", when))
        return;
    station_check(st, pdu.pfc.enabled == wanted, "%s: PFC %02x is operational, not %02x", when,
                  pdu.pfc.enabled, wanted);
    station_check(st, pdu.pfc.is_willing == st->setup.pfc_willing,
                  "%s: the willing bit of PFC has changed", when);
}

static void check_ets(struct station *st, bool is_taken, const char *when)
{
    const struct xoff_dcbx_ets offered = offered_table();
    struct xoff_dcbx_pdu pdu;
    if (!read_last(st, &pdu) || !station_check(st, pdu.has >> XOFF_DCBX_ETS_CONFIGURATION & 1,
                                               "%s: no ETS configuration TLV", when))
        return;
    const bool is_same = !memcmp(pdu.ets.class_of, offered.class_of, 8) &&
                         !memcmp(pdu.ets.percent, offered.percent, 8) &&
                         !memcmp(pdu.ets.tsa, offered.tsa, 8);
    bool is_own = true;
    for (uint32_t p = 0; p < XOFF_N_PRIORITIES; p++)
        is_own &= pdu.ets.percent[pdu.ets.class_of[p]] == st->setup.percent[p];
    station_check(st, is_taken ? is_same : is_own, "%s: %s", when,
                  is_taken ? "the recommendation is not operational"
                           : "its own ETS table is not operational");
    station_check(st, pdu.ets.is_willing == st->setup.ets_willing,
                  "%s: the willing bit of ETS has changed", when);
}

/* Well-formed TLVs, read octet by octet. */

/* The only TLV with this subtype in the device's first frame; NULL: none, or several. */
static const uint8_t *find_tlv(struct station *st, uint8_t subtype, uint32_t *length)
{
    const uint8_t *found = NULL;
    uint32_t n = 0;
    for (uint32_t i = 0; i < st->n_log; i++) {
        if (!is_lldp(&st->log[i], 0))
            continue;
        struct octets_in in = octets_in(station_octets(st, &st->log[i]), st->log[i].length);
        get_octets(&in, st->log[i].is_tagged ? 18 : 14, "headers");
        for (uint16_t header = 1; header;) {
            header = get16(&in, "TLV");
            struct octets_in value = get_part(&in, header & 0x1ff, "value");
            const uint8_t *octets = value.octets + value.at;
            if (!in.cut_field && header >> 9 == 127 && octets_left(&value) >= 4 &&
                !memcmp(octets, "\x00\x80\xc2", 3) && octets[3] == subtype) {
                found = octets + 4;
                *length = header & 0x1ff;
                n++;
            }
        }
        break;
    }
    station_check(st, n == 1, "%u TLVs of subtype %u, not 1", n, subtype);
    return n == 1 ? found : NULL;
}

static bool begin_listening(struct station *st)
{
    if (!begin_dcbx(st, 1, true))
        return false;
    station_run(st, ANSWERED);
    return true;
}

/* Tables of 4, 8 and 8 octets: classes of priorities, percentages, algorithms. */
static void check_tables(struct station *st, const uint8_t *tables)
{
    uint32_t sum = 0;
    bool has_ets = false;
    for (uint32_t p = 0; p < XOFF_N_PRIORITIES; p++) {
        const uint8_t class = p & 1 ? tables[p / 2] & 0x0f : tables[p / 2] >> 4;
        const uint8_t tsa = tables[12 + p];
        station_check(st, class < 8, "priority %u is in class %u", p, class);
        station_check(st, tsa <= 2 || tsa == 255, "class %u has algorithm %u", p, tsa);
        station_check(st, tsa == 2 || !tables[4 + p], "class %u has a share without ETS", p);
        has_ets |= tsa == 2;
        sum += tsa == 2 ? tables[4 + p] : 0;
    }
    station_check(st, !has_ets || sum == 100, "the shares add up to %u %%", sum);
}

static void test_ets_form(struct station *st)
{
    uint32_t length = 0;
    const uint8_t *tlv = begin_listening(st) ? find_tlv(st, 9, &length) : NULL;
    if (!tlv || !station_check(st, length == 25, "length %u, not 25", length))
        return;
    station_check(st, !(tlv[0] & 0x38), "reserved bits are set: %02x", tlv[0]);
    station_check(st, tlv[0] >> 7, "the willing bit is not set");
    check_tables(st, tlv + 1);
    station_note(st, "25 octets, shares of 100 %%, reserved bits 0");
}

static void test_recommendation_form(struct station *st)
{
    uint32_t length = 0;
    const uint8_t *tlv = begin_listening(st) ? find_tlv(st, 10, &length) : NULL;
    if (!tlv || !station_check(st, length == 25, "length %u, not 25", length))
        return;
    station_check(st, !tlv[0], "the reserved octet is %02x", tlv[0]);
    check_tables(st, tlv + 1);
    station_note(st, "25 octets, shares of 100 %%, reserved octet 0");
}

static void test_pfc_form(struct station *st)
{
    uint32_t length = 0;
    const uint8_t *tlv = begin_listening(st) ? find_tlv(st, 11, &length) : NULL;
    if (!tlv || !station_check(st, length == 6, "length %u, not 6", length))
        return;
    station_check(st, !(tlv[0] & 0x30), "reserved bits are set: %02x", tlv[0]);
    station_check(st, tlv[0] >> 7, "the willing bit is not set");
    station_check(st, tlv[1] == OWN, "PFC %02x, administered is %02x", tlv[1], OWN);
    station_check(st, __builtin_popcount(tlv[1]) <= (tlv[0] & 0x0f),
                  "more priorities than its capability of %u", tlv[0] & 0x0f);
    station_note(st, "6 octets, PFC as administered, reserved bits 0");
}

static void test_apps_form(struct station *st)
{
    uint32_t length = 0;
    const uint8_t *tlv = begin_listening(st) ? find_tlv(st, 12, &length) : NULL;
    if (!tlv ||
        !station_check(st, length >= 5 && length % 3 == 2, "length %u is not 5 + 3 n", length))
        return;
    bool has_fcoe = false;
    for (uint32_t i = 1; i + 3 <= length - 4; i += 3) {
        station_check(st, !(tlv[i] & 0x18), "reserved bits are set: %02x", tlv[i]);
        has_fcoe |= tlv[i] == (3 << 5 | 1) && tlv[i + 1] == 0x89 && tlv[i + 2] == 0x06;
    }
    station_check(st, has_fcoe, "FCoE with priority 3 is not among its applications");
    station_note(st, "5 + 3 n octets, FCoE with priority 3");
}

static void test_cn_form(struct station *st)
{
    uint32_t length = 0;
    const uint8_t *tlv = begin_listening(st) ? find_tlv(st, 8, &length) : NULL;
    if (!tlv || !station_check(st, length == 6, "length %u, not 6", length))
        return;
    station_check(st, tlv[0] == 1 << 5, "priorities %02x, administered is 20", tlv[0]);
    station_check(st, !(tlv[1] & ~tlv[0]), "ready for priorities that are not under it");
    station_note(st, "6 octets, priorities as administered");
}

/* Willing bits */

static void test_ets_willing(struct station *st)
{
    static const struct {
        bool is_willing, recommends, is_taken;
        const char *when;
    } cases[] = {{true, true, true, "willing, a recommendation"},
                 {false, true, false, "not willing, a recommendation"},
                 {true, false, false, "willing, a configuration alone"}};
    for (uint32_t i = 0; i < 3; i++) {
        const struct xoff_dcbx_pdu pdu = offer_ets(cases[i].recommends);
        if (!begin_dcbx(st, 1, cases[i].is_willing))
            return;
        send_pdu(st, SPOKEN, low_mac, 120, &pdu);
        station_run(st, ANSWERED);
        check_ets(st, cases[i].is_taken, cases[i].when);
    }
    station_note(st, "takes a recommendation if willing, and nothing else");
}

static void test_pfc_willing(struct station *st)
{
    static const struct {
        bool is_willing, is_peer_willing;
        uint8_t wanted;
        const char *when;
    } cases[] = {{true, false, OFFERED, "willing, peer not"},
                 {false, false, OWN, "neither is willing"},
                 {false, true, OWN, "peer willing, device not"}};
    for (uint32_t i = 0; i < 3; i++) {
        const struct xoff_dcbx_pdu pdu = offer_pfc(cases[i].is_peer_willing);
        if (!begin_dcbx(st, 1, cases[i].is_willing))
            return;
        send_pdu(st, SPOKEN, low_mac, 120, &pdu);
        station_run(st, ANSWERED);
        check_pfc(st, cases[i].wanted, cases[i].when);
    }
    station_note(st, "takes PFC of a peer that is not willing, if willing");
}

static void test_tie(struct station *st)
{
    const struct xoff_dcbx_pdu pdu = offer_pfc(true);
    if (!begin_dcbx(st, 1, true))
        return;
    send_pdu(st, SPOKEN, low_mac, 120, &pdu);
    station_run(st, ANSWERED);
    check_pfc(st, OFFERED, "both willing, the peer's MAC is lower");
    if (!begin_dcbx(st, 1, true))
        return;
    send_pdu(st, SPOKEN, high_mac, 120, &pdu);
    station_run(st, ANSWERED);
    check_pfc(st, OWN, "both willing, the peer's MAC is higher");
    station_note(st, "of two willing ports the lower MAC address counts");
}

/* Malformed TLVs */

/* Sends the TLV with `length` octets in place of its own, cut or with zeros behind it. */
static void send_resized(struct station *st, const struct xoff_dcbx_pdu *pdu, uint16_t length)
{
    uint8_t tlvs[512] = {0};
    XOFF_ASSERT(xoff_dcbx_pdu_encode(pdu, tlvs, sizeof tlvs));
    tlvs[0] = (uint8_t)(127 << 1 | length >> 8);
    tlvs[1] = (uint8_t)length;
    send_tlvs(st, 0, SPOKEN, low_mac, 120, tlvs, 2u + length);
    station_run(st, ANSWERED);
}

static void test_ets_malformed(struct station *st)
{
    static const uint16_t lengths[] = {24, 26, 5};
    struct xoff_dcbx_pdu pdu = offer_ets(true);
    pdu.has = 1 << XOFF_DCBX_ETS_RECOMMENDATION;
    for (uint32_t i = 0; i < 3; i++) {
        if (!begin_dcbx(st, 1, true))
            return;
        send_resized(st, &pdu, lengths[i]);
        check_ets(st, false, "a recommendation of a wrong length");
    }
    station_note(st, "24, 26 and 5 octets are ignored");
}

static void test_pfc_malformed(struct station *st)
{
    static const uint16_t lengths[] = {5, 7, 4};
    const struct xoff_dcbx_pdu pdu = offer_pfc(false);
    for (uint32_t i = 0; i < 3; i++) {
        if (!begin_dcbx(st, 1, true))
            return;
        send_resized(st, &pdu, lengths[i]);
        check_pfc(st, OWN, "a PFC TLV of a wrong length");
    }
    station_note(st, "5, 7 and 4 octets are ignored");
}

/* DCBX.2.4: what stands beside a malformed TLV counts. */
static void test_apps_malformed(struct station *st)
{
    static const uint8_t app[] = {127 << 1, 7, 0x00, 0x80, 0xc2, 12, 0, 0x61, 0x89};
    const struct xoff_dcbx_pdu pdu = offer_pfc(false);
    uint8_t tlvs[64];
    memcpy(tlvs, app, sizeof app);
    const size_t n = xoff_dcbx_pdu_encode(&pdu, tlvs + sizeof app, sizeof tlvs - sizeof app);
    if (!begin_dcbx(st, 1, true))
        return;
    send_tlvs(st, 0, SPOKEN, low_mac, 120, tlvs, sizeof app + n);
    station_run(st, ANSWERED);
    check_pfc(st, OFFERED, "a malformed application TLV and a good PFC TLV");
    station_note(st, "it is ignored, the PFC TLV behind it counts");
}

static void test_repeated(struct station *st)
{
    struct xoff_dcbx_pdu pdu = offer_pfc(false);
    uint8_t tlvs[64];
    size_t n = xoff_dcbx_pdu_encode(&pdu, tlvs, sizeof tlvs);
    pdu.pfc.enabled = 1 << 6;
    n += xoff_dcbx_pdu_encode(&pdu, tlvs + n, sizeof tlvs - n);
    if (!begin_dcbx(st, 1, true))
        return;
    send_tlvs(st, 0, SPOKEN, low_mac, 120, tlvs, n);
    station_run(st, ANSWERED);
    check_pfc(st, OFFERED, "two PFC TLVs in one frame");
    station_note(st, "of two PFC TLVs the first counts");
}

static void test_reserved(struct station *st)
{
    const struct xoff_dcbx_pdu pdu = offer_pfc(false);
    uint8_t tlvs[64];
    const size_t n = xoff_dcbx_pdu_encode(&pdu, tlvs, sizeof tlvs);
    tlvs[6] |= 0x30;
    if (!begin_dcbx(st, 1, true))
        return;
    send_tlvs(st, 0, SPOKEN, low_mac, 120, tlvs, n);
    station_run(st, ANSWERED);
    check_pfc(st, OFFERED, "reserved bits are set");
    station_note(st, "reserved bits are ignored");
}

/* Frames that are void as a whole: the lengths lead out of the frame, or TTL is missing. */
static void test_void(struct station *st)
{
    const struct xoff_dcbx_pdu pdu = offer_pfc(false);
    for (uint32_t i = 0; i < 2; i++) {
        if (!begin_dcbx(st, 1, true))
            return;
        struct shot *shot = send_pdu(st, SPOKEN, low_mac, 120, &pdu);
        if (i)
            shot->octets[14 + 9 + 9] = 5 << 1; /* TTL becomes a system name */
        else
            shot->octets[14 + 9 + 9 + 4 + 1] = 200; /* of the PFC TLV */
        station_run(st, ANSWERED);
        check_pfc(st, OWN, i ? "a frame without TTL" : "a TLV that leads out of the frame");
    }
    station_note(st, "a frame without TTL or with a length that lies says nothing");
}

/* Peers */

static void test_multiple(struct station *st)
{
    const struct xoff_dcbx_pdu pdu = offer_pfc(false);
    struct xoff_dcbx_pdu other = offer_pfc(false);
    other.pfc.enabled = 1 << 6;
    if (!begin_dcbx(st, 1, true))
        return;
    send_pdu(st, SPOKEN, low_mac, 120, &pdu);
    station_run(st, ANSWERED);
    check_pfc(st, OFFERED, "one peer");
    send_pdu(st, ANSWERED + SPOKEN, high_mac, 20, &other);
    station_run(st, 2 * ANSWERED);
    check_pfc(st, OWN, "two peers");
    /* The second lapses 20 s after it spoke. */
    station_run(st, 5 * ANSWERED);
    check_pfc(st, OFFERED, "one peer again");
    station_note(st, "two peers count as none, until one has lapsed");
}

static void test_lapse(struct station *st)
{
    const struct xoff_dcbx_pdu pdu = offer_pfc(false);
    if (!begin_dcbx(st, 1, true))
        return;
    send_pdu(st, SPOKEN, low_mac, 20, &pdu);
    station_run(st, ANSWERED);
    check_pfc(st, OFFERED, "before the TTL is over");
    station_run(st, SPOKEN + 20 * XOFF_S + ANSWERED);
    check_pfc(st, OWN, "after the TTL");
    station_note(st, "what a peer said is void when its TTL is over");
}

static void test_shutdown(struct station *st)
{
    const struct xoff_dcbx_pdu pdu = offer_pfc(false), none = {0};
    if (!begin_dcbx(st, 1, true))
        return;
    send_pdu(st, SPOKEN, low_mac, 120, &pdu);
    station_run(st, ANSWERED);
    check_pfc(st, OFFERED, "before the shutdown");
    send_pdu(st, ANSWERED + SPOKEN, low_mac, 0, &none);
    station_run(st, 2 * ANSWERED);
    check_pfc(st, OWN, "after a frame with TTL 0");
    station_note(st, "a frame with TTL 0 makes void what was said");
}

static void test_changed(struct station *st)
{
    struct xoff_dcbx_pdu pdu = offer_pfc(false);
    if (!begin_dcbx(st, 1, true))
        return;
    send_pdu(st, SPOKEN, low_mac, 120, &pdu);
    station_run(st, ANSWERED);
    check_pfc(st, OFFERED, "the first frame");
    pdu.pfc.enabled = 1 << 6;
    send_pdu(st, ANSWERED + SPOKEN, low_mac, 120, &pdu);
    station_run(st, 2 * ANSWERED);
    check_pfc(st, 1 << 6, "a frame that says something else");
    pdu.has = 0;
    send_pdu(st, 2 * ANSWERED + SPOKEN, low_mac, 120, &pdu);
    station_run(st, 3 * ANSWERED);
    check_pfc(st, OWN, "a frame without a PFC TLV");
    station_note(st, "the last frame of a peer counts, also for what it leaves out");
}

/* LLDP */

static void test_group(struct station *st)
{
    static const uint8_t groups[] = {0x00, 0x03};
    const struct xoff_dcbx_pdu pdu = offer_pfc(false);
    for (uint32_t i = 0; i < 2; i++) {
        if (!begin_dcbx(st, 1, true))
            return;
        send_pdu(st, SPOKEN, low_mac, 120, &pdu)->octets[5] = groups[i];
        station_run(st, ANSWERED);
        check_pfc(st, OWN, "a frame to another group");
    }
    station_note(st, "DCBX counts in frames to the nearest bridge alone");
}

static void test_tagged(struct station *st)
{
    const struct xoff_dcbx_pdu pdu = offer_pfc(false);
    if (!begin_dcbx(st, 1, true))
        return;
    struct shot *shot = send_pdu(st, SPOKEN, low_mac, 120, &pdu);
    memmove(shot->octets + 16, shot->octets + 12, shot->length - 12);
    memcpy(shot->octets + 12, "\x81\x00\xe0\x00", 4);
    shot->length += 4;
    station_run(st, ANSWERED);
    check_pfc(st, OFFERED, "a priority-tagged frame");
    station_note(st, "priority-tagged LLDP frames count");
}

static void test_forwarding(struct station *st)
{
    const struct xoff_dcbx_pdu pdu = offer_pfc(false);
    if (!begin_dcbx(st, 2, true))
        return;
    send_pdu(st, SPOKEN, low_mac, 120, &pdu);
    station_run(st, ANSWERED);
    for (uint32_t i = 0; i < st->n_log; i++)
        station_check(
            st, !is_lldp(&st->log[i], 1) || memcmp(station_octets(st, &st->log[i]) + 6, low_mac, 6),
            "an LLDP frame of port 0 comes out of port 1");
    station_note(st, "LLDP frames are not forwarded");
}

static void test_interval(struct station *st)
{
    if (!begin_dcbx(st, 1, true))
        return;
    station_run(st, 100 * XOFF_S);
    xoff_time last = 0;
    uint32_t n = 0;
    for (uint32_t i = 0; i < st->n_log; i++) {
        const struct logged *f = &st->log[i];
        struct xoff_lldp lldp;
        size_t tlvs_at;
        struct xoff_err err;
        if (!is_lldp(f, 0) ||
            !station_check(
                st, !xoff_lldp_decode(station_octets(st, f), f->length, &lldp, &tlvs_at, &err),
                "an LLDP frame that is void"))
            continue;
        station_check(st, f->at - last <= 31 * XOFF_S, "%.1f s without an LLDP frame",
                      (double)(f->at - last) / (double)XOFF_S);
        station_check(st, lldp.ttl_s > 30, "TTL of %u s", lldp.ttl_s);
        station_check(st, !memcmp(lldp.destination, xoff_lldp_nearest_bridge, 6),
                      "a frame to another group than the nearest bridge");
        last = f->at;
        n++;
    }
    station_check(st, n > 2, "%u LLDP frames in 100 s", n);
    station_note(st, "%u frames in 100 s", n);
}

/* DCBX.5.1: what is negotiated is in force. */
static void test_in_force(struct station *st)
{
    const struct xoff_dcbx_pdu pdu = offer_pfc(false);
    const xoff_time from = ANSWERED + station_quanta(st, 5000);
    if (!begin_dcbx(st, 2, true))
        return;
    send_pdu(st, SPOKEN, low_mac, 120, &pdu);
    for (uint8_t p = 3; p <= 4; p++) {
        struct stream *s = station_stream(st, 1, 0, p, 500);
        s->from = ANSWERED;
        s->every = station_bits(st, 4 * 8 * 520);
        s->to = from + station_quanta(st, 5000);
    }
    station_pause(st, 0, from, OWN | OFFERED, 20000);
    station_run(st, from + station_quanta(st, 5000));
    const xoff_time after = from + 4 * station_limit(st);
    station_check(st, station_count(st, 0, 3, after, XOFF_NEVER),
                  "obeys PFC for priority 3, which the peer has taken away");
    station_check(st, !station_count(st, 0, 4, after, XOFF_NEVER),
                  "does not obey PFC for priority 4, which it has taken over");
    station_note(st, "obeys PFC for what is operational, not for what was administered");
}

#define DCBX_TEST(number, function, ports, name, why, how)                              \
    {                                                                                   \
        .id = number, .suite = "dcbx", .title = name, .purpose = why, .procedure = how, \
        .run = function, .n_ports = ports,                                              \
    }

#define BY_LISTENING "Read the first LLDP frame of the device octet by octet."
#define BY_SPEAKING                                                                        \
    "Administer PFC for priority 3 and eight equal classes. Send LLDP frames at 1 s, and " \
    "read in those of the device what is operational at 9 s."

const struct xoff_conform_test dcbx_tests[] = {
    DCBX_TEST("38.1.1", test_ets_form, 1, "ETS configuration TLV",
              "One TLV of 25 octets, shares that add up, reserved bits 0.", BY_LISTENING),
    DCBX_TEST("38.1.2", test_recommendation_form, 1, "ETS recommendation TLV",
              "One TLV of 25 octets, shares that add up, reserved octet 0.", BY_LISTENING),
    DCBX_TEST("38.1.3", test_ets_willing, 1, "ETS willing bit",
              "A willing device takes a recommendation over; one that is not does not. A "
              "configuration is no recommendation.",
              BY_SPEAKING),
    DCBX_TEST("38.1.4", test_ets_malformed, 1, "malformed ETS recommendation",
              "A recommendation of a wrong length is ignored.", BY_SPEAKING),
    DCBX_TEST("38.2.1", test_pfc_form, 1, "PFC TLV",
              "One TLV of 6 octets, no more priorities than classes, reserved bits 0.",
              BY_LISTENING),
    DCBX_TEST("DCBX.2.1", test_pfc_willing, 1, "PFC willing bit",
              "A willing device takes PFC over from a peer that is not willing; in all other "
              "cases but a tie it keeps its own.",
              BY_SPEAKING),
    DCBX_TEST("DCBX.2.2", test_tie, 1, "tie between willing ports",
              "If both are willing the configuration of the lower MAC address counts.",
              BY_SPEAKING),
    DCBX_TEST("DCBX.2.3", test_pfc_malformed, 1, "malformed PFC TLV",
              "A PFC TLV of a wrong length is ignored.", BY_SPEAKING),
    DCBX_TEST("DCBX.2.4", test_apps_malformed, 1, "malformed application TLV",
              "A malformed TLV is ignored, and what stands beside it counts.", BY_SPEAKING),
    DCBX_TEST("DCBX.2.5", test_repeated, 1, "a TLV twice",
              "Of two TLVs of one kind in a frame the first counts.", BY_SPEAKING),
    DCBX_TEST("DCBX.2.6", test_reserved, 1, "reserved bits",
              "Reserved bits are ignored: shipping switches set them.", BY_SPEAKING),
    DCBX_TEST("DCBX.2.7", test_void, 1, "void frames",
              "A frame whose TLVs cannot be walked, or without a mandatory one, says nothing.",
              BY_SPEAKING),
    DCBX_TEST("DCBX.3.1", test_apps_form, 1, "application TLV",
              "5 + 3 n octets, reserved bits 0, the application that was administered.",
              BY_LISTENING),
    DCBX_TEST("DCBX.3.2", test_cn_form, 1, "congestion notification TLV",
              "6 octets, the priorities that were administered, none ready beside them.",
              BY_LISTENING),
    DCBX_TEST("DCBX.4.1", test_multiple, 1, "multiple peers",
              "With two peers on a port neither counts; when one has lapsed the other does.",
              BY_SPEAKING),
    DCBX_TEST("DCBX.4.2", test_lapse, 1, "TTL expiry",
              "What a peer said is void when its TTL is over.", BY_SPEAKING),
    DCBX_TEST("DCBX.4.3", test_shutdown, 1, "shutdown",
              "A frame with TTL 0 makes void what its sender said.", BY_SPEAKING),
    DCBX_TEST("DCBX.4.4", test_changed, 1, "renegotiation",
              "A peer's later frame replaces the earlier one.", BY_SPEAKING),
    DCBX_TEST("DCBX.4.5", test_group, 1, "other groups",
              "DCBX is for the nearest bridge: frames to other groups do not count.", BY_SPEAKING),
    DCBX_TEST("DCBX.4.6", test_tagged, 1, "priority-tagged LLDP",
              "LLDP frames with a priority tag count: shipping switches send them.", BY_SPEAKING),
    DCBX_TEST("DCBX.4.7", test_forwarding, 2, "LLDP is not forwarded",
              "A bridge that forwards LLDP frames gives its neighbours several peers.",
              "Send an LLDP frame by port 0, and look at port 1."),
    DCBX_TEST("DCBX.4.8", test_interval, 1, "LLDP interval",
              "LLDP frames come at least every 30 s, to the nearest bridge, and hold for longer.",
              "Listen for 100 s."),
    DCBX_TEST("DCBX.5.1", test_in_force, 2, "negotiated PFC is in force",
              "The device obeys pauses of the priorities that are operational, and of no others.",
              "Have it take over PFC for priority 4 in place of 3, then pause both."),
    {0},
};
