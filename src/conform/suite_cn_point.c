/* Congestion notification, group 1 and a part of group 3: the congestion points of a bridge and the
 * messages (CNMs) they send.
 *
 * Source: titles and numbers of the UNH-IOL suite; 802.1Q clauses 30 to 33 as far as public
 * descriptions go (docs/mechanisms/qcn.md). Chosen where those are silent: queue offset and delta
 * count units of 64 octets, the encapsulated priority is in the upper three bits, and the
 * encapsulated MSDU begins with the EtherType behind VLAN tag and CN-TAG.
 *
 * Two ports overload a third. Messages quote the sampled frame, so that the station knows which one
 * it was and how long the queue was then: what had arrived less what had begun to leave.
 */
#include <stdlib.h>
#include <string.h>

#include "conform/suites.h"
#include "wire/octets.h"

#define PRIORITY 3
#define FRAME_BYTES 1000
#define SET_POINT 26000 /* cpQueueSizeSetPoint */
#define WEIGHT 2
#define MAX_CNMS 256
#define CNM_ETHERTYPE 0x22e7

/* A message as it is on the wire; only its length has been checked. */
struct cnm {
    const struct logged *frame;
    uint8_t version, reserved, feedback;
    uint64_t cp_id;
    int32_t offset_bytes, delta_bytes; /* above the set point, and growth: sign of the queue */
    uint16_t priority_field;
    uint8_t destination[6];
    uint16_t msdu_octets, msdu_there;
    const uint8_t *msdu;
    /* Of the frame that it quotes; NULL: none of the station's. */
    const struct logged *about;
    int64_t queue_bytes;
};

struct cnms {
    uint32_t n;
    struct cnm at[MAX_CNMS];
};

static bool read_cnm(const struct station *st, const struct logged *frame, struct cnm *cnm)
{
    struct octets_in in = octets_in(station_octets(st, frame), frame->length);
    get_octets(&in, 14u + (frame->is_tagged ? 4u : 0) + (frame->has_cn_tag ? 4u : 0), "headers");
    const uint16_t first = get16(&in, "version");
    *cnm = (struct cnm){.frame = frame,
                        .version = (uint8_t)(first >> 12),
                        .reserved = first >> 6 & 0x3f,
                        .feedback = first & 0x3f,
                        .cp_id = get64(&in, "CPID")};
    cnm->offset_bytes = -64 * (int16_t)get16(&in, "offset");
    cnm->delta_bytes = -64 * (int16_t)get16(&in, "delta");
    cnm->priority_field = get16(&in, "priority");
    const uint8_t *destination = get_octets(&in, 6, "destination");
    if (destination)
        memcpy(cnm->destination, destination, 6);
    cnm->msdu_octets = get16(&in, "length");
    cnm->msdu_there = (uint16_t)octets_left(&in);
    cnm->msdu = in.octets + in.at;
    return !in.cut_field;
}

/* Finds the frame that the message quotes, and how long its queue was with it. */
static void find_frame(const struct station *st, struct cnm *cnm)
{
    struct octets_in in = octets_in(cnm->msdu, cnm->msdu_octets);
    if (cnm->msdu_octets > cnm->msdu_there || get16(&in, "EtherType") != STATION_ETHERTYPE)
        return;
    const uint32_t stream = get32(&in, "stream"), seq = get32(&in, "number");
    for (uint32_t i = 0; i < st->n_log && !cnm->about; i++) {
        const struct logged *f = &st->log[i];
        if (!f->is_from_device && f->stream == stream && f->seq == seq)
            cnm->about = f;
    }
    if (!cnm->about || in.cut_field)
        return;
    const struct stream *s = &st->streams[stream];
    for (uint32_t i = 0; i < st->n_log; i++) {
        const struct logged *f = &st->log[i];
        if (!is_test_frame(f) || f->priority != s->priority || st->streams[f->stream].out != s->out)
            continue;
        if (!f->is_from_device && f->at <= cnm->about->at)
            cnm->queue_bytes += s->bytes;
        else if (f->is_from_device && f->port == s->out && f->start < cnm->about->at)
            cnm->queue_bytes -= s->bytes; /* as it came in */
    }
}

/* All messages that the device has sent. */
static struct cnms *read_cnms(struct station *st)
{
    struct cnms *cnms = calloc(1, sizeof *cnms);
    XOFF_ASSERT(cnms);
    for (uint32_t i = 0; i < st->n_log && cnms->n < MAX_CNMS; i++) {
        const struct logged *f = &st->log[i];
        if (!f->is_from_device || f->ethertype != CNM_ETHERTYPE)
            continue;
        struct cnm *cnm = &cnms->at[cnms->n];
        if (station_check(st, read_cnm(st, f, cnm), "a CNM that is cut off")) {
            find_frame(st, cnm);
            cnms->n++;
        }
    }
    return cnms;
}

/* A bridge with congestion notification for `cn`. The messages quote `min_header` octets. */
static bool begin_domain(struct station *st, uint8_t cn, uint8_t min_header)
{
    struct xoff_device_setup setup = station_setup(st, 3);
    setup.cn = cn;
    setup.cn_min_header = min_header;
    return station_begin(st, &setup);
}

/* Ports 1 and 2 send tagged frames of a priority to port 0 until the queue is long, but not full,
 * and all of it drains. */
static void congest(struct station *st, uint8_t priority, uint32_t bytes, bool has_tag)
{
    for (uint16_t port = 1; port <= 2; port++) {
        struct stream *s = station_stream(st, port, 0, priority, bytes);
        s->has_cn_tag = has_tag;
        s->flow = (uint16_t)(0x1200 + port);
        s->to = station_learnt(st) + station_quanta(st, 3000);
    }
    station_run(st, station_learnt(st) + station_quanta(st, 10000));
}

/* Runs a congested queue and gives its messages to `check`, one by one. */
typedef void cnm_check(struct station *st, const struct cnm *cnm, const struct cnm *before);

static void check_each(struct station *st, cnm_check *check, const char *note)
{
    if (!begin_domain(st, 1 << PRIORITY, 64))
        return;
    congest(st, PRIORITY, FRAME_BYTES, true);
    struct cnms *cnms = read_cnms(st);
    station_check(st, cnms->n > 2, "%u messages from a congested queue", cnms->n);
    for (uint32_t i = 0; i < cnms->n; i++) {
        station_check(st, cnms->at[i].about, "a message that quotes no frame of the station's");
        if (cnms->at[i].about)
            check(st, &cnms->at[i], i ? &cnms->at[i - 1] : NULL);
    }
    station_note(st, "%u messages: %s", cnms->n, note);
    free(cnms);
}

static void check_version(struct station *st, const struct cnm *cnm, const struct cnm *before)
{
    (void)before;
    station_check(st, cnm->version == 0, "version %u", cnm->version);
}

static void check_reserved(struct station *st, const struct cnm *cnm, const struct cnm *before)
{
    (void)before;
    station_check(st, cnm->reserved == 0, "ReservedV is %u", cnm->reserved);
}

/* psi = offset + w * delta; 63 psi / (Qsp (2 w + 1)), at most 63. The fields are whole units. */
static void check_feedback(struct station *st, const struct cnm *cnm, const struct cnm *before)
{
    const int64_t offset = cnm->queue_bytes - SET_POINT;
    const int64_t delta = cnm->queue_bytes - (before ? before->queue_bytes : 0);
    const int64_t full = SET_POINT * (2 * WEIGHT + 1);
    int64_t wanted = 63 * (offset + WEIGHT * delta) / full;
    wanted = wanted > 63 ? 63 : wanted;
    /* A device may count the frame, or its tags, otherwise: one frame in queue and growth. */
    const int64_t slack = 1 + 63 * (1 + WEIGHT) * FRAME_BYTES / full;
    station_check(st, cnm->feedback > 0, "a message without feedback");
    station_check(st, llabs(cnm->feedback - wanted) <= slack,
                  "feedback %u for %lld bytes, grown by %lld; it is %lld", cnm->feedback,
                  (long long)cnm->queue_bytes, (long long)delta, (long long)wanted);
}

static void check_cpid(struct station *st, const struct cnm *cnm, const struct cnm *before)
{
    station_check(st, !before || cnm->cp_id == before->cp_id, "the CPID of a queue changes");
}

static void check_offset(struct station *st, const struct cnm *cnm, const struct cnm *before)
{
    const int64_t offset = cnm->queue_bytes - SET_POINT;
    (void)before;
    station_check(st, llabs(cnm->offset_bytes - offset) <= 64 + FRAME_BYTES,
                  "offset of %d bytes, the queue is %lld above its set point", cnm->offset_bytes,
                  (long long)offset);
}

static void check_delta(struct station *st, const struct cnm *cnm, const struct cnm *before)
{
    const int64_t delta = cnm->queue_bytes - (before ? before->queue_bytes : 0);
    station_check(st, llabs(cnm->delta_bytes - delta) <= 64 + 2 * FRAME_BYTES,
                  "delta of %d bytes, the queue has grown by %lld", cnm->delta_bytes,
                  (long long)delta);
}

static void check_priority(struct station *st, const struct cnm *cnm, const struct cnm *before)
{
    (void)before;
    station_check(st, cnm->priority_field == PRIORITY << 13, "the field is %04x, it is %04x",
                  cnm->priority_field, PRIORITY << 13);
}

static void check_destination(struct station *st, const struct cnm *cnm, const struct cnm *before)
{
    uint8_t mac[6];
    (void)before;
    station_mac(0, mac);
    station_check(st, !memcmp(cnm->destination, mac, 6),
                  "the encapsulated address is not the sampled frame's destination");
}

/* The message goes to the source of the sampled frame, by its port, with its flow. */
static void check_sent(struct station *st, const struct cnm *cnm, const struct cnm *before)
{
    const uint8_t *octets = station_octets(st, cnm->frame);
    uint8_t mac[6];
    (void)before;
    station_mac(cnm->about->port, mac);
    station_check(st, !memcmp(octets, mac, 6), "a message to another than the source");
    station_check(st, cnm->frame->port == cnm->about->port, "a message by port %u, not %u",
                  cnm->frame->port, cnm->about->port);
    station_check(st, !(octets[6] & 1), "a message from a group address");
    station_check(st, cnm->frame->has_cn_tag && cnm->frame->flow == cnm->about->flow,
                  "flow %04x, the frame had %04x", cnm->frame->flow, cnm->about->flow);
}

static void test_version(struct station *st)
{
    check_each(st, check_version, "version 0");
}

static void test_reserved(struct station *st)
{
    check_each(st, check_reserved, "ReservedV 0");
}

static void test_feedback(struct station *st)
{
    check_each(st, check_feedback, "feedback as the queue has it");
}

static void test_offset(struct station *st)
{
    check_each(st, check_offset, "offset as the queue has it");
}

static void test_delta(struct station *st)
{
    check_each(st, check_delta, "delta as the queue has it");
}

static void test_priority(struct station *st)
{
    check_each(st, check_priority, "the sampled frame's priority");
}

static void test_destination(struct station *st)
{
    check_each(st, check_destination, "the sampled frame's destination");
}

static void test_sent(struct station *st)
{
    check_each(st, check_sent, "to the source, by its port, with its flow");
}

/* 33.1.4: the CPID of a queue stays, those of two priorities differ. */
static void test_cpid(struct station *st)
{
    uint64_t ids[2] = {0};
    check_each(st, check_cpid, "one CPID for a queue, another for another");
    for (uint8_t i = 0; i < 2; i++) {
        if (!begin_domain(st, 0x18, 64))
            return;
        congest(st, PRIORITY + i, FRAME_BYTES, true);
        struct cnms *cnms = read_cnms(st);
        if (station_check(st, cnms->n, "no message for priority %u", PRIORITY + i))
            ids[i] = cnms->at[0].cp_id;
        free(cnms);
    }
    station_check(st, ids[0] != ids[1], "two queues have the same CPID");
}

/* 33.1.9 to .11: `bytes` of a frame leave room for so many octets of MSDU, with the EtherType. */
static void check_msdu(struct station *st, uint8_t min_header, uint32_t bytes)
{
    const uint32_t there = bytes - 4 - 12 - 4 - 4; /* FCS, addresses, VLAN tag, CN-TAG */
    const uint32_t wanted = there < min_header ? there : min_header;
    if (!begin_domain(st, 1 << PRIORITY, min_header))
        return;
    congest(st, PRIORITY, bytes, true);
    struct cnms *cnms = read_cnms(st);
    station_check(st, cnms->n, "no message from a congested queue");
    for (uint32_t i = 0; i < cnms->n; i++) {
        const struct cnm *cnm = &cnms->at[i];
        station_check(st, cnm->msdu_octets == wanted, "%u octets quoted, not %u", cnm->msdu_octets,
                      wanted);
        station_check(st, cnm->msdu_octets <= cnm->msdu_there, "fewer octets than it says");
        if (!cnm->about || cnm->msdu_octets > cnm->msdu_there)
            continue;
        const uint32_t from = cnm->about->length < 20 + wanted ? cnm->about->length : 20 + wanted;
        station_check(st, !memcmp(cnm->msdu, station_octets(st, cnm->about) + 20, from - 20),
                      "the octets quoted are not the frame's");
    }
    free(cnms);
}

static void test_msdu_length(struct station *st)
{
    static const uint8_t lengths[] = {0, 1, 24, 64};
    for (uint32_t i = 0; i < 4; i++)
        check_msdu(st, lengths[i], FRAME_BYTES);
    station_note(st, "0, 1, 24 and 64 octets as configured");
}

static void test_msdu(struct station *st)
{
    check_msdu(st, 64, FRAME_BYTES);
    station_note(st, "the first octets of the sampled frame");
}

static void test_msdu_small(struct station *st)
{
    check_msdu(st, 64, 64);
    station_note(st, "of a frame of 64 bytes as much as there is");
}

/* 33.1.12 */
static void test_no_tag(struct station *st)
{
    if (!begin_domain(st, 1 << PRIORITY, 64))
        return;
    congest(st, PRIORITY, FRAME_BYTES, false);
    struct cnms *cnms = read_cnms(st);
    station_check(st, cnms->n, "no message about frames without a CN-TAG");
    for (uint32_t i = 0; i < cnms->n; i++)
        station_check(st, !cnms->at[i].frame->has_cn_tag || cnms->at[i].frame->flow == 0,
                      "flow %04x of a frame that had none", cnms->at[i].frame->flow);
    station_note(st, "%u messages, all with flow 0", cnms->n);
    free(cnms);
}

/* 31.3.1 */
static void test_points(struct station *st)
{
    const uint8_t cn = 0x7f; /* at most seven priorities */
    for (uint8_t p = 0; p < XOFF_N_PRIORITIES; p++) {
        if (!begin_domain(st, cn, 64))
            return;
        congest(st, p, FRAME_BYTES, false);
        struct cnms *cnms = read_cnms(st);
        station_check(st, !cnms->n == !(cn >> p & 1), "priority %u: %u messages", p, cnms->n);
        free(cnms);
    }
    station_note(st, "each of 7 priorities has one, the eighth none");
}

/* 32.3.3: with an empty feedback the interval is 150000 octets times 0.85 to 1.15. The queue is
 * held below its set point but for short bursts, so that most samples send nothing; what can be
 * seen is that intervals between messages under constant overload differ. */
static void test_random(struct station *st)
{
    if (!begin_domain(st, 1 << PRIORITY, 64))
        return;
    congest(st, PRIORITY, FRAME_BYTES, true);
    struct cnms *cnms = read_cnms(st);
    uint32_t n_odd = 0;
    for (uint32_t i = 1; i < cnms->n; i++) {
        static const double kib[] = {150, 75, 50, 37.5, 30, 25, 21.5, 18.5};
        const struct cnm *before = &cnms->at[i - 1], *cnm = &cnms->at[i];
        if (!before->about || !cnm->about)
            continue;
        double bytes = 0;
        for (uint32_t k = 0; k < st->n_log; k++) {
            const struct logged *f = &st->log[k];
            if (!f->is_from_device && is_test_frame(f) && f->at > before->about->at &&
                f->at <= cnm->about->at)
                bytes += f->bytes;
        }
        const double base = kib[before->feedback / 8] * 1000; /* of 150000 */
        const double least = 0.85 * base, most = 1.15 * base + 2 * FRAME_BYTES;
        station_check(st, bytes > least - FRAME_BYTES && bytes < most,
                      "%.0f bytes between samples, %.0f to %.0f are due", bytes, least, most);
        n_odd += bytes < 0.98 * base || bytes > 1.02 * base + 2 * FRAME_BYTES;
    }
    station_check(st, n_odd > 0, "all intervals are the same: no random part");
    station_note(st, "%u of %u intervals are more than 2 %% off the table", n_odd, cnms->n - 1);
    free(cnms);
}

#define CN_TEST(number, function, name, why, how)                                     \
    {                                                                                 \
        .id = number, .suite = "cn", .title = name, .purpose = why, .procedure = how, \
        .run = function, .n_ports = 3,                                                \
    }

#define BY_OVERLOAD                                                                          \
    "Ports 1 and 2 overload port 0 with frames of a congestion notification priority for "   \
    "3000 quanta; read the messages that come back. They quote the frame that was sampled, " \
    "from which the station computes what the queue was."

const struct xoff_conform_test cn_point_tests[] = {
    CN_TEST("33.1.1", test_version, "CNM: version", "The version is 0.", BY_OVERLOAD),
    CN_TEST("33.1.2", test_reserved, "CNM: ReservedV", "ReservedV is 0.", BY_OVERLOAD),
    CN_TEST("33.1.3", test_feedback, "CNM: quantized feedback",
            "The feedback is 63 psi / (Qsp (2 w + 1)), at most 63, with psi the queue above its "
            "set point and w times its growth.",
            BY_OVERLOAD),
    CN_TEST("33.1.4", test_cpid, "CNM: CPID", "A queue has one CPID, and no other queue has it.",
            BY_OVERLOAD),
    CN_TEST("33.1.5", test_offset, "CNM: QOffset",
            "The offset is what the set point exceeds the queue by, in units of 64 octets.",
            BY_OVERLOAD),
    CN_TEST("33.1.6", test_delta, "CNM: QDelta",
            "The delta is what the queue has shrunk by since the sample before.", BY_OVERLOAD),
    CN_TEST("33.1.7", test_priority, "CNM: encapsulated priority",
            "The priority of the sampled frame is in the upper three bits.", BY_OVERLOAD),
    CN_TEST("33.1.8", test_destination, "CNM: encapsulated destination",
            "The destination of the sampled frame is quoted.", BY_OVERLOAD),
    CN_TEST("33.1.9", test_msdu_length, "CNM: MSDU length",
            "As many octets are quoted as configured (cpMinHeaderOctets).", BY_OVERLOAD),
    CN_TEST("33.1.10", test_msdu, "CNM: MSDU", "The octets quoted are those of the frame.",
            BY_OVERLOAD),
    CN_TEST("33.1.11", test_msdu_small, "CNM: MSDU too small",
            "Of a frame with fewer octets than configured all are quoted.", BY_OVERLOAD),
    CN_TEST("33.1.12", test_no_tag, "CNM: no CN-TAG",
            "A message about a frame without a CN-TAG has flow 0.", BY_OVERLOAD),
    CN_TEST(
        "31.3.1", test_points, "congestion point creation",
        "Every priority under congestion notification has a congestion point, others have none.",
        "Seven priorities are under it. Overload port 0 with each of the eight."),
    CN_TEST("5.3.2", test_sent, "CNM transmission",
            "A message goes to the source of the sampled frame, by the port it came from, with "
            "its flow.",
            BY_OVERLOAD),
    CN_TEST("32.3.3", test_random, "random sampling",
            "Bytes between samples are those of the table, times 0.85 to 1.15 at random.",
            BY_OVERLOAD),
    {0},
};
