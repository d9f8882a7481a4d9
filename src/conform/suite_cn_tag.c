/* Congestion notification, groups 2 and 3: CN-TAGs, the edge of the domain, and reaction points.
 *
 * Source: titles and numbers of the UNH-IOL suite; those of group 4 are ours. Rules as in
 * docs/mechanisms/qcn.md: the four modes of 802.1Q 32.1, and the reaction point's decrease,
 * CR (1 - Q / 128), and fast recovery, halfway back to the target for each 150000 octets.
 */
#include <string.h>

#include "conform/suites.h"
#include "wire/octets.h"

#define PRIORITY 3
#define FRAME_BYTES 1000
#define FLOW 0x7777

/* A bridge with modes for its two ports, and one tagged stream from port 1 to port 0. */
static bool begin_bridge(struct station *st, uint8_t priority, enum xoff_device_defence in,
                         enum xoff_device_defence out)
{
    struct xoff_device_setup setup = station_setup(st, 2);
    setup.cn = 1 << PRIORITY;
    setup.cn_alternate = 1;
    station_share(&setup, (uint8_t)(1u << priority | 1u << setup.cn_alternate));
    setup.defence[0] = out;
    setup.defence[1] = in;
    if (!station_begin(st, &setup))
        return false;
    struct stream *s = station_stream(st, 1, 0, priority, FRAME_BYTES);
    s->has_cn_tag = true;
    s->flow = FLOW;
    s->to = station_learnt(st) + station_quanta(st, 200);
    station_run(st, station_learnt(st) + station_quanta(st, 1000));
    return station_check(st, s->n_sent && !station_lost(st, s), "%u of %u frames come out",
                         s->n_sent - station_lost(st, s), s->n_sent);
}

/* All test frames of port 0 have a tag, or none has. */
static void check_tags(struct station *st, bool has_tag, const char *where)
{
    for (uint32_t i = 0; i < st->n_log; i++) {
        const struct logged *f = &st->log[i];
        if (f->is_from_device && f->port == 0 && is_test_frame(f)) {
            station_check(st, f->has_cn_tag == has_tag, "%s: %s CN-TAG", where,
                          has_tag ? "no" : "a");
            station_check(st, !has_tag || f->flow == FLOW, "%s: flow %04x", where, f->flow);
        }
    }
}

/* 31.2.3 */
static void test_removal(struct station *st)
{
    if (!begin_bridge(st, PRIORITY, XOFF_DEVICE_CN_INTERIOR_READY, XOFF_DEVICE_CN_INTERIOR))
        return;
    check_tags(st, false, "interior");
    if (!begin_bridge(st, PRIORITY, XOFF_DEVICE_CN_INTERIOR_READY, XOFF_DEVICE_CN_EDGE))
        return;
    check_tags(st, false, "edge");
    for (uint32_t i = 0; i < st->n_log; i++) {
        const struct logged *f = &st->log[i];
        if (f->is_from_device && f->port == 0 && is_test_frame(f))
            station_check(st, f->bytes == FRAME_BYTES - 4, "%u bytes without the tag, not %u",
                          f->bytes, FRAME_BYTES - 4);
    }
    station_note(st, "tags are removed at interior and edge ports");
}

/* 33.2.4: a bridge passes tags on, whatever the flow and whatever follows. */
static void test_not_interpreted(struct station *st)
{
    static const uint16_t flows[] = {0, 1, 0x8000, 0xffff};
    struct xoff_device_setup setup = station_setup(st, 2);
    setup.cn = 1 << PRIORITY;
    station_share(&setup, setup.cn);
    if (!station_begin(st, &setup))
        return;
    for (uint32_t i = 0; i < 4; i++) {
        struct stream *s = station_stream(st, 1, 0, PRIORITY, FRAME_BYTES);
        s->has_cn_tag = true;
        s->flow = flows[i];
        s->to = station_learnt(st) + station_quanta(st, 200);
    }
    station_run(st, station_learnt(st) + station_quanta(st, 1000));
    for (uint32_t i = 0; i < st->n_log; i++) {
        const struct logged *f = &st->log[i];
        if (f->is_from_device && f->port == 0 && is_test_frame(f))
            station_check(st, f->has_cn_tag && f->flow == flows[f->stream],
                          "flow %04x comes out as %04x", flows[f->stream], f->flow);
    }
    for (uint32_t i = 0; i < 4; i++)
        station_check(st, !station_lost(st, &st->streams[i]), "frames of flow %04x are lost",
                      flows[i]);
    station_note(st, "flows 0, 1, 8000 and ffff pass unchanged");
}

/* 32.2.5 */
static void test_acceptance(struct station *st)
{
    struct xoff_device_setup setup = station_setup(st, 2);
    setup.cn = 0x7f;
    if (!station_begin(st, &setup))
        return;
    for (uint8_t p = 0; p < 7; p++) {
        struct stream *s = station_stream(st, 1, 0, p, FRAME_BYTES);
        s->has_cn_tag = true;
        s->flow = FLOW;
        s->to = station_learnt(st) + station_quanta(st, 400);
    }
    station_run(st, station_learnt(st) + station_quanta(st, 2000));
    check_tags(st, true, "interior-ready");
    for (uint8_t p = 0; p < 7; p++)
        station_check(st, !station_lost(st, &st->streams[p]), "priority %u: frames are lost", p);
    station_note(st, "tagged frames of all 7 priorities pass");
}

/* 32.3.4: what each mode makes of tags, with messages from the queue or without. */
static void test_modes(struct station *st)
{
    static const struct {
        enum xoff_device_defence mode;
        const char *name;
        bool keeps_tag, has_point;
    } modes[] = {
        {XOFF_DEVICE_CN_DISABLED, "disabled", true, false},
        {XOFF_DEVICE_CN_INTERIOR, "interior", false, true},
        {XOFF_DEVICE_CN_INTERIOR_READY, "interior-ready", true, true},
        {XOFF_DEVICE_CN_EDGE, "edge", false, true},
    };
    for (uint32_t i = 0; i < 4; i++) {
        struct xoff_device_setup setup = station_setup(st, 3);
        setup.cn = 1 << PRIORITY;
        setup.defence[0] = modes[i].mode;
        if (!station_begin(st, &setup))
            return;
        for (uint16_t port = 1; port <= 2; port++) {
            struct stream *s = station_stream(st, port, 0, PRIORITY, FRAME_BYTES);
            s->has_cn_tag = true;
            s->flow = FLOW;
            s->to = station_learnt(st) + station_quanta(st, 3000);
        }
        station_run(st, station_learnt(st) + station_quanta(st, 10000));
        uint32_t n = 0;
        for (uint32_t k = 0; k < st->n_log; k++)
            n += st->log[k].is_from_device && st->log[k].ethertype == 0x22e7;
        check_tags(st, modes[i].keeps_tag, modes[i].name);
        station_check(st, !n == !modes[i].has_point, "%s: %u messages", modes[i].name, n);
    }
    station_note(st, "disabled, interior, interior-ready and edge");
}

/* 32.3.5 */
static void test_override(struct station *st)
{
    if (!begin_bridge(st, PRIORITY, XOFF_DEVICE_CN_EDGE, XOFF_DEVICE_CN_INTERIOR_READY))
        return;
    station_check(st, !station_count(st, 0, PRIORITY, 0, XOFF_NEVER),
                  "frames that come in at the edge keep priority %u", PRIORITY);
    station_check(st, station_count(st, 0, 1, 0, XOFF_NEVER), "none has the alternate priority");
    if (!begin_bridge(st, 5, XOFF_DEVICE_CN_EDGE, XOFF_DEVICE_CN_INTERIOR_READY))
        return;
    station_check(st, station_count(st, 0, 5, 0, XOFF_NEVER), "another priority is replaced, too");
    if (!begin_bridge(st, PRIORITY, XOFF_DEVICE_CN_INTERIOR, XOFF_DEVICE_CN_INTERIOR_READY))
        return;
    station_check(st, station_count(st, 0, PRIORITY, 0, XOFF_NEVER),
                  "an interior port replaces the priority");
    station_note(st, "priority 3 becomes 1 at the edge, and only there");
}

/* The end station */

/* An end station with sources for these priorities, under congestion notification for `cn`. */
static bool begin_station(struct station *st, uint8_t sources, uint8_t cn,
                          enum xoff_device_defence mode)
{
    struct xoff_device_setup setup = station_setup(st, 1);
    setup.kind = XOFF_DEVICE_STATION;
    setup.sources = sources;
    setup.source_bytes = FRAME_BYTES;
    setup.cn = cn;
    setup.defence[0] = mode;
    station_share(&setup, sources ? sources : 1 << PRIORITY);
    return station_begin(st, &setup);
}

/* The flow that the device gives to frames of a priority; -1: it sends no tag. */
static int flow_of(const struct station *st, uint8_t priority)
{
    for (uint32_t i = 0; i < st->n_log; i++) {
        const struct logged *f = &st->log[i];
        if (f->is_from_device && is_test_frame(f) && f->priority == priority && f->has_cn_tag)
            return f->flow;
    }
    return -1;
}

/* 30.2.1 */
static void test_insertion(struct station *st)
{
    if (!begin_station(st, 1 << PRIORITY | 1 << 5, 1 << PRIORITY, XOFF_DEVICE_CN_INTERIOR_READY))
        return;
    station_run(st, station_quanta(st, 1000));
    uint32_t n = 0;
    for (uint32_t i = 0; i < st->n_log; i++) {
        const struct logged *f = &st->log[i];
        if (!f->is_from_device || !is_test_frame(f))
            continue;
        n++;
        station_check(st, f->has_cn_tag == (f->priority == PRIORITY), "priority %u: %s CN-TAG",
                      f->priority, f->has_cn_tag ? "a" : "no");
    }
    station_check(st, n, "the end station sends nothing");
    station_note(st, "%u frames: a CN-TAG with priority 3, none with 5", n);
}

/* 33.2.2 */
static void test_order(struct station *st)
{
    if (!begin_station(st, 1 << PRIORITY, 1 << PRIORITY, XOFF_DEVICE_CN_INTERIOR_READY))
        return;
    station_run(st, station_quanta(st, 200));
    for (uint32_t i = 0; i < st->n_log; i++) {
        const uint8_t *octets = station_octets(st, &st->log[i]);
        station_check(st, octets[12] == 0x81 && octets[13] == 0x00,
                      "type %02x%02x follows the addresses, not a VLAN tag", octets[12],
                      octets[13]);
        station_check(st, octets[16] == 0x22 && octets[17] == 0xe9,
                      "type %02x%02x follows the VLAN tag, not a CN-TAG", octets[16], octets[17]);
    }
    station_note(st, "VLAN tag, then CN-TAG");
}

/* 32.2.6: the application sees the frame without its tag, and sends it back. */
static void test_station_removal(struct station *st)
{
    if (!begin_station(st, 0, 1 << PRIORITY, XOFF_DEVICE_CN_INTERIOR_READY))
        return;
    struct stream *s = station_stream(st, 0, 0, PRIORITY, FRAME_BYTES);
    s->has_cn_tag = true;
    s->flow = FLOW;
    s->to = station_learnt(st) + station_quanta(st, 200);
    station_run(st, station_learnt(st) + station_quanta(st, 1000));
    station_check(st, s->n_sent && !station_lost(st, s), "%u of %u frames come back as sent",
                  s->n_sent - station_lost(st, s), s->n_sent);
    for (uint32_t i = 0; i < st->n_log; i++)
        station_check(st, !st->log[i].is_from_device || st->log[i].flow != FLOW,
                      "a frame comes back with the tag it went in with");
    station_note(st, "%u frames come back without the tag they had", s->n_sent);
}

/* 32.3.7 */
static void test_station_modes(struct station *st)
{
    static const struct {
        enum xoff_device_defence mode;
        const char *name;
        bool has_tag;
    } modes[] = {{XOFF_DEVICE_CN_DISABLED, "disabled", false},
                 {XOFF_DEVICE_CN_INTERIOR, "interior", false},
                 {XOFF_DEVICE_CN_INTERIOR_READY, "interior-ready", true},
                 {XOFF_DEVICE_CN_EDGE, "edge", false}};
    for (uint32_t i = 0; i < 4; i++) {
        if (!begin_station(st, 1 << PRIORITY, 1 << PRIORITY, modes[i].mode))
            return;
        station_run(st, station_quanta(st, 200));
        station_check(st, (flow_of(st, PRIORITY) >= 0) == modes[i].has_tag, "%s: %s CN-TAG",
                      modes[i].name, modes[i].has_tag ? "no" : "a");
    }
    station_note(st, "a CN-TAG only where the port is interior-ready");
}

/* Reaction */

struct notice {
    uint8_t version, reserved, feedback;
    uint16_t flow;
    uint16_t msdu_octets;
};

static void send_notice(struct station *st, xoff_time at, const struct notice *notice)
{
    uint8_t octets[64] = {0}, mac[6];
    struct octets_out out = octets_out(octets, sizeof octets);
    station_mac(0, mac);
    put_octets(&out, st->setup.dcbx_mac, 6);
    put_octets(&out, mac, 6);
    put16(&out, 0x8100);
    put16(&out, PRIORITY << 13 | 1);
    put16(&out, 0x22e9);
    put16(&out, notice->flow);
    put16(&out, 0x22e7);
    put16(&out,
          (unsigned)notice->version << 12 | (unsigned)notice->reserved << 6 | notice->feedback);
    put64(&out, 0x0102030405060708);
    put16(&out, (unsigned)-100);
    put16(&out, (unsigned)-50);
    put16(&out, PRIORITY << 13);
    put_octets(&out, mac, 6);
    put16(&out, notice->msdu_octets);
    station_send(st, 0, at, octets, 60);
}

/* What a priority sends from `from` to `to`, as a part of the line, by octets of frames; the whole
 * line is 1. */
static double rate_of(const struct station *st, uint8_t priority, xoff_time from, xoff_time to)
{
    return (double)station_bytes(st, 0, priority, from, to, false) * 8 * (double)XOFF_S /
           (double)st->rate_bps / (double)(to - from) * (FRAME_BYTES + XOFF_OVERHEAD_BYTES) /
           FRAME_BYTES;
}

static bool is_about(double rate, double wanted)
{
    return rate > 0.97 * wanted - 0.01 && rate < 1.03 * wanted + 0.01;
}

/* Starts an end station with one flow and sends it a message after 1000 quanta. Returns the rate in
 * the 1500 quanta behind it, below 0: nothing to measure. */
static double react(struct station *st, struct notice notice, bool is_own_flow)
{
    const xoff_time at = station_quanta(st, 1000);
    if (st->rate_bps < 10 * XOFF_MBPS) {
        station_leave_out(st, "no limiter goes below 5 Mb/s");
        return -1;
    }
    if (!begin_station(st, 1 << PRIORITY, 1 << PRIORITY, XOFF_DEVICE_CN_INTERIOR_READY))
        return -1;
    station_run(st, station_quanta(st, 500));
    const int flow = flow_of(st, PRIORITY);
    if (!station_check(st, flow >= 0, "the end station sends no CN-TAG"))
        return -1;
    notice.flow = (uint16_t)(is_own_flow ? flow : flow + 100);
    send_notice(st, at, &notice);
    station_run(st, at + station_quanta(st, 1600));
    return rate_of(st, PRIORITY, at + station_quanta(st, 100), at + station_quanta(st, 1600));
}

/* 31.3.6 */
static void test_decrease(struct station *st)
{
    static const uint8_t feedbacks[] = {1, 16, 32, 63};
    for (uint32_t i = 0; i < 4; i++) {
        const double wanted = 1 - feedbacks[i] / 128.0;
        const double rate = react(st, (struct notice){.feedback = feedbacks[i]}, true);
        station_check(st, is_about(rate, wanted), "feedback %u: %.1f %% of the line, not %.1f %%",
                      feedbacks[i], 100 * rate, 100 * wanted);
    }
    station_note(st, "feedback 1, 16, 32 and 63 cut the rate by 1/128 each");
}

/* 33.1.13 */
static void test_versions(struct station *st)
{
    double rate = react(st, (struct notice){.feedback = 63, .reserved = 0x3f}, true);
    station_check(st, is_about(rate, 1 - 63 / 128.0),
                  "ReservedV is not ignored: %.1f %% of the line", 100 * rate);
    for (uint8_t version = 1; version < 16; version += 7) {
        rate = react(st, (struct notice){.feedback = 63, .version = version}, true);
        station_check(st, is_about(rate, 1), "acts on version %u: %.1f %% of the line", version,
                      100 * rate);
    }
    station_note(st, "ReservedV is ignored; versions 1, 8 and 15 have no effect");
}

/* CN.4.1 */
static void test_recovery(struct station *st)
{
    const xoff_time at = station_quanta(st, 1000);
    if (st->rate_bps < XOFF_GBPS / 2) { /* 300000 octets take longer than the timer's 15 ms */
        station_leave_out(st, "at this rate the timer comes before the byte counter");
        return;
    }
    if (react(st, (struct notice){.feedback = 63}, true) < 0)
        return;
    /* 150000 octets at 65/128 of the line, and again at 193/256: each takes the rate halfway up. */
    const double line = (double)st->rate_bps / 8 / (double)XOFF_S;
    const double overhead = (double)(FRAME_BYTES + XOFF_OVERHEAD_BYTES) / FRAME_BYTES;
    const xoff_time first = at + (xoff_time)(150000 / (line * 65 / 128) * overhead);
    const xoff_time second = first + (xoff_time)(150000 / (line * 193 / 256) * overhead);
    station_run(st, second + station_quanta(st, 2000));
    const xoff_time quiet = station_quanta(st, 200);
    const double once = rate_of(st, PRIORITY, first + quiet, second - quiet);
    const double twice =
        rate_of(st, PRIORITY, second + quiet, second + station_quanta(st, 2000) - quiet);
    station_check(st, is_about(once, 193 / 256.0), "%.1f %% of the line after 150000 octets",
                  100 * once);
    station_check(st, is_about(twice, 449 / 512.0), "%.1f %% of the line after 300000 octets",
                  100 * twice);
    station_note(st, "from 50.8 to %.1f and %.1f %% of the line", 100 * once, 100 * twice);
}

/* CN.4.2 */
static void test_other_flow(struct station *st)
{
    const double rate = react(st, (struct notice){.feedback = 63}, false);
    station_check(st, is_about(rate, 1), "a message for another flow: %.1f %% of the line",
                  100 * rate);
    station_note(st, "a message for another flow changes nothing");
}

/* CN.4.3 */
static void test_no_feedback(struct station *st)
{
    const double rate = react(st, (struct notice){.feedback = 0}, true);
    station_check(st, is_about(rate, 1), "feedback 0: %.1f %% of the line", 100 * rate);
    station_note(st, "feedback 0 changes nothing");
}

/* CN.4.4 */
static void test_malformed(struct station *st)
{
    double rate = react(st, (struct notice){.feedback = 63, .msdu_octets = 40}, true);
    station_check(st, is_about(rate, 1), "a message that ends within its MSDU: %.1f %% of the line",
                  100 * rate);
    rate = react(st, (struct notice){.feedback = 63, .msdu_octets = 65}, true);
    station_check(st, is_about(rate, 1), "a message with 65 octets of MSDU: %.1f %% of the line",
                  100 * rate);
    station_note(st, "lengths that lie: no effect");
}

#define CN_TEST(number, function, ports, name, why, how)                              \
    {                                                                                 \
        .id = number, .suite = "cn", .title = name, .purpose = why, .procedure = how, \
        .run = function, .n_ports = ports,                                            \
    }

#define BY_NOTICE                                                                         \
    "An end station sends one flow at line rate. Send it a message about that flow, and " \
    "measure its rate."

const struct xoff_conform_test cn_tag_tests[] = {
    CN_TEST("30.2.1", test_insertion, 1, "CN-TAG: insertion",
            "An end station tags the frames of priorities under congestion notification.",
            "Let it send two priorities, one of which is under it."),
    CN_TEST("33.2.2", test_order, 1, "CN-TAG: order", "The CN-TAG follows the VLAN tag.",
            "Read the frames of an end station."),
    CN_TEST("31.2.3", test_removal, 2, "CN-TAG: removal by a bridge",
            "CN-TAGs are removed at ports towards peers that are not ready.",
            "Send tagged frames out by a port in mode interior, then edge."),
    CN_TEST("33.2.4", test_not_interpreted, 2, "CN-TAG: not interpreted",
            "A bridge passes tags on unchanged; a flow means something to its source only.",
            "Send frames with flows 0, 1, 8000 and ffff."),
    CN_TEST("32.2.5", test_acceptance, 2, "CN-TAG: all priorities",
            "Tagged frames of every priority under congestion notification pass.",
            "Send tagged frames of seven priorities."),
    CN_TEST("32.2.6", test_station_removal, 1, "CN-TAG: removal by an end station",
            "Applications do not see the tag.",
            "Send tagged frames to an application that sends them back."),
    CN_TEST("32.3.4", test_modes, 3, "four defence modes: bridge",
            "disabled: no congestion point, tags stay; interior and edge: tags are removed; "
            "interior-ready: tags stay.",
            "Overload a port in each of the four modes with tagged frames."),
    CN_TEST("32.3.5", test_override, 2, "priority override",
            "At the edge frames that come in with a priority under congestion notification get "
            "the alternate one; others keep theirs.",
            "Send by a port in mode edge, then interior."),
    CN_TEST("31.3.6", test_decrease, 1, "reaction point creation",
            "A message makes a limiter, and cuts the rate by Q / 128.", BY_NOTICE),
    CN_TEST("32.3.7", test_station_modes, 1, "four defence modes: end station",
            "An end station tags its frames only where its port is interior-ready.",
            "Let it send in each of the four modes."),
    CN_TEST("33.1.13", test_versions, 1, "CNM: version and ReservedV",
            "ReservedV is ignored; a message of another version has no effect.", BY_NOTICE),
    CN_TEST("CN.4.1", test_recovery, 1, "fast recovery",
            "Each 150000 octets without a message bring the rate halfway back.", BY_NOTICE),
    CN_TEST("CN.4.2", test_other_flow, 1, "another flow",
            "A message about another flow changes nothing.", BY_NOTICE),
    CN_TEST("CN.4.3", test_no_feedback, 1, "no feedback", "Feedback 0 changes nothing.", BY_NOTICE),
    CN_TEST("CN.4.4", test_malformed, 1, "malformed CNM",
            "A message that quotes more octets than it has, or more than 64, has no effect.",
            BY_NOTICE),
    {0},
};
