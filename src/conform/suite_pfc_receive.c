/* PFC, groups 1 and 2: how a device obeys pause frames, and what it must not take for one.
 *
 * Source: "Fairness in a data center" 3.2.1 tells what the groups of the UNH-IOL suite are about;
 * its list of tests is not public, so the numbers are ours. The cases of Windows' QosPriorityFlow-
 * Control (enable vector, zero quanta, PFC disabled) are among them. Rules: 802.3 Annex 31D and
 * 31B.3.7, 802.1Q 36.
 *
 * The device is a bridge. Two ports of the station overload a third, port 0, at which the station
 * pauses the device and looks at what comes out.
 */
#include <string.h>

#include "conform/suites.h"

#define PRIORITY 3 /* of tests that need one */
#define LEAST_BYTES 64

/* Quanta in proportion to the response time, `n` of them up to 10 Gb/s. Every test but those of
 * quanta and response time leaves a margin of four response times, so that it finds what it is
 * about. */
static uint16_t quanta_of(const struct station *st, uint32_t n)
{
    const uint32_t response = xoff_response_quanta(st->rate_bps);
    return (uint16_t)(response > 60 ? n * response / 60 : n);
}

static xoff_time span_of(const struct station *st, uint32_t n)
{
    return station_quanta(st, quanta_of(st, n));
}

/* The queues are long by then. */
static xoff_time pause_at(const struct station *st)
{
    return station_learnt(st) + station_quanta(st, 200);
}

static xoff_time margin(const struct station *st)
{
    return span_of(st, 150);
}

/* A bridge with PFC for `pfc`, and two full streams of 64-byte frames for port 0 with each of
 * `priorities`. */
static bool begin_overload(struct station *st, uint8_t pfc, uint8_t priorities)
{
    struct xoff_device_setup setup = station_setup(st, 3);
    setup.pfc = pfc;
    station_share(&setup, priorities);
    if (!station_begin(st, &setup))
        return false;
    for (uint16_t port = 1; port <= 2; port++) {
        station_obey(st, port);
        for (uint8_t p = 0; p < XOFF_N_PRIORITIES; p++)
            if (priorities >> p & 1)
                station_stream(st, port, 0, p, LEAST_BYTES);
    }
    return true;
}

/* The device may send nothing of the priority in [from, to) but for the margin, and must send again
 * soon after `to`: `slack` is for what else is queued. */
static void check_paused(struct station *st, uint8_t priority, xoff_time from, xoff_time to,
                         xoff_time slack)
{
    const xoff_time unsure = st->device->ops->uncertainty;
    const uint32_t n = station_count(st, 0, priority, from + margin(st), to - unsure);
    station_check(st, n == 0, "priority %u: %u frames begun while it was paused", priority, n);
    const xoff_time first = station_first(st, 0, priority, to - unsure);
    station_check(st, first <= to + margin(st) + slack + unsure,
                  "priority %u: not sent again after its pause", priority);
}

static void check_flows(struct station *st, uint8_t priority, xoff_time from, xoff_time to,
                        const char *why)
{
    station_check(st, station_count(st, 0, priority, from, to) > 0,
                  "priority %u: nothing sent although %s", priority, why);
}

/* PFC.1.1 */
static void test_eight(struct station *st)
{
    const xoff_time lasts = span_of(st, 500), slack = span_of(st, 250);
    for (uint8_t p = 0; p < XOFF_N_PRIORITIES; p++) {
        if (!begin_overload(st, 0xff, 0xff))
            return;
        station_pause(st, 0, pause_at(st), (uint8_t)(1u << p), quanta_of(st, 500));
        station_run(st, pause_at(st) + 2 * lasts);
        check_paused(st, p, pause_at(st), pause_at(st) + lasts, slack);
        for (uint8_t q = 0; q < XOFF_N_PRIORITIES; q++)
            if (q != p)
                check_flows(st, q, pause_at(st) + margin(st), pause_at(st) + lasts,
                            "another was paused");
    }
    station_note(st, "each of 8 priorities stops alone, the others go on");
}

static void set_time(struct shot *shot, uint32_t priority, uint16_t quanta)
{
    shot->octets[18 + 2 * priority] = (uint8_t)(quanta >> 8);
    shot->octets[19 + 2 * priority] = (uint8_t)quanta;
}

/* PFC.1.2 */
static void test_own_times(struct station *st)
{
    if (!begin_overload(st, 0x18, 0x18))
        return;
    struct shot *shot = station_pause(st, 0, pause_at(st), 0x18, 0);
    set_time(shot, 3, quanta_of(st, 250));
    set_time(shot, 4, quanta_of(st, 750));
    station_run(st, pause_at(st) + span_of(st, 1000));
    check_paused(st, 3, pause_at(st), pause_at(st) + span_of(st, 250), 0);
    check_paused(st, 4, pause_at(st), pause_at(st) + span_of(st, 750), span_of(st, 50));
    station_note(st, "250 and 750 quanta of one frame end each in its own time");
}

/* Runs with a pause that arrives at `at`, and returns whether a frame of PRIORITY begins at
 * `start`. */
static bool begins_at(struct station *st, xoff_time at, xoff_time start)
{
    if (!begin_overload(st, 1 << PRIORITY, 1 << PRIORITY))
        return false;
    station_pause(st, 0, at, 1 << PRIORITY, 65535);
    station_run(st, start + station_bits(st, 8 * (LEAST_BYTES + XOFF_OVERHEAD_BYTES)));
    return station_first(st, 0, PRIORITY, start) == start;
}

/* Finds the response time to the bit. Frames begin back to back, at times that a first run shows.
 * The latest pause that keeps the frame of time S from beginning is found by bisection: it arrived
 * one response time before S. Returns that pause's time in *stop_at, or false. */
static bool measure_response(struct station *st, xoff_time *response, xoff_time *stop_at)
{
    const xoff_time bit = station_bits(st, 1), limit = station_limit(st);
    if (!begin_overload(st, 1 << PRIORITY, 1 << PRIORITY))
        return false;
    station_run(st, pause_at(st) + limit + station_quanta(st, 10));
    const xoff_time start = station_first(st, 0, PRIORITY, pause_at(st) + limit);
    if (!station_check(st, start != XOFF_NEVER, "the device forwards nothing"))
        return false;
    xoff_time low = start - limit - bit, high = start;
    if (!station_check(st, !begins_at(st, low, start),
                       "a frame begins later than %u quanta after the pause",
                       xoff_response_quanta(st->rate_bps)))
        return false;
    while (high - low > bit) {
        const xoff_time mid = low + (high - low) / 2;
        if (begins_at(st, mid, start))
            high = mid;
        else
            low = mid;
    }
    *stop_at = low;
    *response = start - low;
    return !st->has_failed;
}

/* PFC.1.3 */
static void test_quanta(struct station *st)
{
    static const uint16_t quanta[] = {1, 2, 3, 100, 1000, 65535};
    xoff_time response, stop_at;
    const xoff_time bit = station_bits(st, 1);
    if (!measure_response(st, &response, &stop_at))
        return;
    for (uint32_t i = 0; i < sizeof quanta / sizeof quanta[0]; i++) {
        const xoff_time lasts = station_quanta(st, quanta[i]);
        if (!begin_overload(st, 1 << PRIORITY, 1 << PRIORITY))
            return;
        station_pause(st, 0, stop_at, 1 << PRIORITY, quanta[i]);
        station_run(st, stop_at + response + lasts + station_quanta(st, 100));
        const xoff_time first = station_first(st, 0, PRIORITY, stop_at + response);
        const xoff_time error = first - (stop_at + response + lasts);
        station_check(st, first != XOFF_NEVER && error >= -bit && error <= bit,
                      "a pause of %u quanta lasts %+.1f bit times more", quanta[i],
                      (double)error / (double)bit);
    }
    station_note(st, "1 to 65535 quanta, each to the bit time");
}

/* PFC.1.4 */
static void test_vector(struct station *st)
{
    if (!begin_overload(st, 0x18, 0x18))
        return;
    struct shot *shot = station_pause(st, 0, pause_at(st), 1 << 3, quanta_of(st, 500));
    set_time(shot, 4, 65535); /* not valid */
    station_run(st, pause_at(st) + span_of(st, 750));
    check_paused(st, 3, pause_at(st), pause_at(st) + span_of(st, 500), span_of(st, 50));
    check_flows(st, 4, pause_at(st) + margin(st), pause_at(st) + span_of(st, 500),
                "its bit of the enable vector is 0");
    station_note(st, "a time whose bit is 0 pauses nobody");
}

/* PFC.1.5 */
static void test_zero(struct station *st)
{
    const xoff_time resume_at = pause_at(st) + span_of(st, 250);
    if (!begin_overload(st, 1 << PRIORITY, 1 << PRIORITY))
        return;
    station_pause(st, 0, pause_at(st), 1 << PRIORITY, 65535);
    station_pause(st, 0, resume_at, 1 << PRIORITY, 0);
    station_pause(st, 0, resume_at + span_of(st, 150), 1 << PRIORITY, 0);
    station_run(st, resume_at + span_of(st, 500));
    check_paused(st, PRIORITY, pause_at(st), resume_at, 0);
    check_flows(st, PRIORITY, resume_at + span_of(st, 200), resume_at + span_of(st, 500),
                "zero quanta came twice");
    station_note(st, "zero quanta end a pause within the response time");
}

/* PFC.1.6 */
static void test_overwrite(struct station *st)
{
    static const uint16_t second[] = {50, 500, 1500};
    const xoff_time again_at = pause_at(st) + span_of(st, 250);
    for (uint32_t i = 0; i < 3; i++) {
        if (!begin_overload(st, 1 << PRIORITY, 1 << PRIORITY))
            return;
        const xoff_time end = again_at + span_of(st, second[i]);
        station_pause(st, 0, pause_at(st), 1 << PRIORITY, quanta_of(st, 1000));
        station_pause(st, 0, again_at, 1 << PRIORITY, quanta_of(st, second[i]));
        station_run(st, end + span_of(st, 1250));
        check_paused(st, PRIORITY, pause_at(st), end, 0);
    }
    station_note(st, "a later frame sets the time anew, shorter or longer");
}

/* PFC.1.7 */
static void test_response(struct station *st)
{
    xoff_time response, stop_at;
    if (!measure_response(st, &response, &stop_at))
        return;
    station_note(st, "stops after %.2f quanta; %u are granted",
                 (double)response / (double)station_quanta(st, 1),
                 xoff_response_quanta(st->rate_bps));
}

/* PFC.1.8 */
static void test_control_goes(struct station *st)
{
    struct xoff_device_setup setup = station_setup(st, 2);
    setup.pfc = 1 << PRIORITY;
    if (!station_begin(st, &setup))
        return;
    station_obey(st, 0);
    station_stream(st, 0, 1, PRIORITY, 1000);
    station_pause(st, 1, station_learnt(st), 1 << PRIORITY, 65535);
    station_pause(st, 0, station_learnt(st), 0xff, 65535);
    station_run(st, station_learnt(st) + station_quanta(st, 40000));
    struct xoff_pause_frame pause;
    uint32_t n = 0;
    for (uint32_t i = 0; i < st->n_log; i++)
        n += st->log[i].is_from_device && st->log[i].port == 0 &&
             station_is_pfc(st, &st->log[i], &pause);
    station_check(st, n > 0, "a port that is paused on all priorities sends no pause frame");
    station_note(st, "a port that is paused altogether still sends PFC");
}

/* PFC.1.9 */
static void test_renewed(struct station *st)
{
    const xoff_time every = span_of(st, 200);
    if (!begin_overload(st, 1 << PRIORITY, 1 << PRIORITY))
        return;
    for (uint32_t i = 0; i < 10; i++)
        station_pause(st, 0, pause_at(st) + i * every, 1 << PRIORITY, quanta_of(st, 250));
    station_run(st, pause_at(st) + 12 * every);
    check_paused(st, PRIORITY, pause_at(st), pause_at(st) + 9 * every + span_of(st, 250), 0);
    station_note(st, "ten pauses, each before the last has run out, are one");
}

/* PFC.1.10 */
static void test_disabled(struct station *st)
{
    if (!begin_overload(st, 1 << 4, 0x18))
        return;
    station_pause(st, 0, pause_at(st), 0x18, quanta_of(st, 500));
    station_run(st, pause_at(st) + span_of(st, 750));
    check_paused(st, 4, pause_at(st), pause_at(st) + span_of(st, 500), span_of(st, 50));
    check_flows(st, 3, pause_at(st) + margin(st), pause_at(st) + span_of(st, 500),
                "PFC is disabled for it");
    station_note(st, "a priority without PFC goes on");
}

/* Group 2: a frame with one fault. Octet `at` and the one behind it become `value`; a negative
 * `at` leaves the octets alone. */
struct malformed {
    const char *what;
    int at;
    uint16_t value;
    uint32_t length;
    bool has_bad_fcs, is_tagged;
};

#define WHOLE (XOFF_PAUSE_FRAME_BYTES - 4)

static void spoil(const struct malformed *how, struct shot *shot)
{
    shot->length = how->length;
    shot->has_bad_fcs = how->has_bad_fcs;
    if (how->at >= 0) {
        shot->octets[how->at] = (uint8_t)(how->value >> 8);
        shot->octets[how->at + 1] = (uint8_t)how->value;
    }
    if (how->is_tagged) {
        memmove(shot->octets + 16, shot->octets + 12, WHOLE - 12);
        memcpy(shot->octets + 12, "\x81\x00\x60\x01", 4);
    }
}

/* Sends each malformed frame to a device that a good one would pause, first the good one. */
static void test_malformed(struct station *st, const struct malformed *cases, uint32_t n)
{
    static const struct malformed good = {"good", -1, 0, WHOLE, false, false};
    const xoff_time lasts = span_of(st, 500);
    for (uint32_t i = 0; i <= n; i++) {
        const struct malformed *how = i ? &cases[i - 1] : &good;
        if (!begin_overload(st, 1 << PRIORITY, 1 << PRIORITY))
            return;
        spoil(how, station_pause(st, 0, pause_at(st), 1 << PRIORITY, quanta_of(st, 500)));
        station_run(st, pause_at(st) + 2 * lasts);
        if (!i)
            check_paused(st, PRIORITY, pause_at(st), pause_at(st) + lasts, 0);
        else
            station_check(
                st,
                station_count(st, 0, PRIORITY, pause_at(st) + margin(st), pause_at(st) + lasts) > 0,
                "paused by a frame with %s", how->what);
    }
    station_note(st, "%u kinds of bad frames pause nobody", n);
}

#define N_OF(array) ((uint32_t)(sizeof(array) / sizeof(array)[0]))

static void test_short(struct station *st)
{
    static const struct malformed cases[] = {
        {"59 octets", -1, 0, WHOLE - 1, false, false},
        {"no padding", -1, 0, 34, false, false},
        {"half a time vector", -1, 0, 28, false, false},
    };
    test_malformed(st, cases, N_OF(cases));
}

static void test_opcode(struct station *st)
{
    static const struct malformed cases[] = {
        {"opcode 0000", 14, 0x0000, WHOLE, false, false},
        {"opcode 0100", 14, 0x0100, WHOLE, false, false},
        {"opcode 0102", 14, 0x0102, WHOLE, false, false},
        {"opcode 0201", 14, 0x0201, WHOLE, false, false},
        {"opcode fffe", 14, 0xfffe, WHOLE, false, false},
    };
    test_malformed(st, cases, N_OF(cases));
}

static void test_address(struct station *st)
{
    static const struct malformed cases[] = {
        {"destination 01-80-c2-00-00-00", 4, 0x0000, WHOLE, false, false},
        {"destination 01-80-c2-00-00-02", 4, 0x0002, WHOLE, false, false},
        {"destination 01-80-c2-00-00-0e", 4, 0x000e, WHOLE, false, false},
        {"a unicast destination", 0, 0x0280, WHOLE, false, false},
    };
    test_malformed(st, cases, N_OF(cases));
}

static void test_reserved(struct station *st)
{
    static const struct malformed cases[] = {
        {"01 in the reserved octet", 16, 0x0100 | 1 << PRIORITY, WHOLE, false, false},
        {"80 in the reserved octet", 16, 0x8000 | 1 << PRIORITY, WHOLE, false, false},
        {"the vector in the wrong octet", 16, 1 << (PRIORITY + 8), WHOLE, false, false},
    };
    test_malformed(st, cases, N_OF(cases));
}

static void test_type(struct station *st)
{
    static const struct malformed cases[] = {
        {"EtherType 8809", 12, 0x8809, WHOLE, false, false},
        {"a VLAN tag", -1, 0, WHOLE, false, true},
        {"opcode 0001, PAUSE", 14, 0x0001, WHOLE, false, false},
    };
    test_malformed(st, cases, N_OF(cases));
}

static void test_fcs(struct station *st)
{
    static const struct malformed cases[] = {{"a wrong FCS", -1, 0, WHOLE, true, false}};
    test_malformed(st, cases, N_OF(cases));
}

/* PFC.2.7 */
static void test_not_forwarded(struct station *st)
{
    static const uint16_t opcodes[] = {0x0101, 0x0001, 0x0102};
    struct xoff_device_setup setup = station_setup(st, 3);
    setup.pfc = 0xff;
    if (!station_begin(st, &setup))
        return;
    for (uint32_t i = 0; i < 3; i++) {
        struct shot *shot = station_pause(st, 1, station_learnt(st) + station_quanta(st, 20 * i),
                                          1 << PRIORITY, 10);
        shot->octets[14] = (uint8_t)(opcodes[i] >> 8);
        shot->octets[15] = (uint8_t)opcodes[i];
    }
    station_run(st, station_learnt(st) + station_quanta(st, 200));
    for (uint32_t i = 0; i < st->n_log; i++)
        station_check(st, !st->log[i].is_from_device || st->log[i].ethertype != 0x8808,
                      "a MAC control frame comes out of port %u", st->log[i].port);
    station_note(st, "MAC control frames are not forwarded");
}

#define PFC_TEST(number, function, ports, exact, name, why, how)                              \
    {                                                                                         \
        .id = "PFC." number, .suite = "pfc", .title = name, .purpose = why, .procedure = how, \
        .run = function, .n_ports = ports, .is_exact = exact,                                 \
    }

#define BY_BAD_FRAMES                                                                              \
    "Overload port 0 with one priority, pause it with a good frame, which must work; then do the " \
    "same with each bad frame: frames of the priority must go on."

const struct xoff_conform_test pfc_receive_tests[] = {
    PFC_TEST("1.1", test_eight, 3, false, "eight priorities, each alone",
             "A pause of one priority stops that priority and no other, for each of the eight.",
             "Overload port 0 with all priorities. Pause one for 500 quanta: none of its frames "
             "may begin after the response time and before the end, all others go on, and it "
             "comes back. Repeat for each priority."),
    PFC_TEST("1.2", test_own_times, 3, false, "a time for each priority",
             "The times of one frame run separately.",
             "Pause priorities 3 and 4 by one frame, for 250 and 750 quanta."),
    PFC_TEST("1.3", test_quanta, 3, true, "quanta to the bit time",
             "A pause lasts its quanta of 512 bit times, no more and no less.",
             "Find the response time to the bit: the latest pause that stops a given frame is "
             "found by bisection. Then pause for 1, 2, 3, 100, 1000 and 65535 quanta, so that a "
             "frame would begin one bit after the gate closes, and see when it begins."),
    PFC_TEST("1.4", test_vector, 3, false, "enable vector bits cleared",
             "A time whose bit in the enable vector is 0 is not valid.",
             "Pause priority 3 for 500 quanta by a frame that has 65535 quanta for priority 4 "
             "and bit 4 of the vector cleared."),
    PFC_TEST("1.5", test_zero, 3, false, "zero quanta resume",
             "Zero quanta end a pause at once, and do nothing to a priority that is not paused.",
             "Pause for 65535 quanta, send zero quanta 250 quanta later, and once more."),
    PFC_TEST("1.6", test_overwrite, 3, false, "a later frame overwrites",
             "Times do not add up: the last frame counts, whether its end is earlier or later.",
             "Pause for 1000 quanta, 250 quanta later for 50, 500 or 1500."),
    PFC_TEST("1.7", test_response, 3, true, "response time",
             "No frame begins later after a pause than 802.3 31B.3.7 grants at this rate.",
             "The bisection of PFC.1.3."),
    PFC_TEST("1.8", test_control_goes, 2, false, "control frames are not paused",
             "PFC inhibits data: a paused port sends its own pause frames all the same.",
             "Pause port 0 on all priorities, and one priority at port 1. Send that priority from "
             "port 0 to port 1 until the device is full: it must pause port 0."),
    PFC_TEST("1.9", test_renewed, 3, false, "renewed pauses leave no gap",
             "A pause that is renewed before it runs out never opens.",
             "Pause for 250 quanta every 200 quanta, ten times."),
    PFC_TEST("1.10", test_disabled, 3, false, "PFC disabled for a priority",
             "A priority without PFC does not obey.",
             "Enable PFC for priority 4 alone, and pause priorities 3 and 4 by one frame."),
    PFC_TEST("2.1", test_short, 3, false, "short frames",
             "A frame that is shorter than a pause frame pauses nobody.", BY_BAD_FRAMES),
    PFC_TEST("2.2", test_opcode, 3, false, "unknown opcodes",
             "MAC control frames with another opcode pause nobody.", BY_BAD_FRAMES),
    PFC_TEST("2.3", test_address, 3, false, "wrong destination",
             "Only frames to 01-80-C2-00-00-01 are PFC.", BY_BAD_FRAMES),
    PFC_TEST("2.4", test_reserved, 3, false, "reserved bits of the vector",
             "The upper octet of the enable vector is 0; a frame in which it is not is malformed.",
             BY_BAD_FRAMES),
    PFC_TEST("2.5", test_type, 3, false, "not PFC",
             "Frames of another type, tagged frames and PAUSE frames pause no port with PFC.",
             BY_BAD_FRAMES),
    {.id = "PFC.2.6",
     .suite = "pfc",
     .title = "wrong FCS",
     .purpose = "A frame with a wrong FCS is discarded.",
     .procedure = BY_BAD_FRAMES,
     .run = test_fcs,
     .n_ports = 3,
     .needs_bad_fcs = true},
    PFC_TEST("2.7", test_not_forwarded, 3, false, "not forwarded",
             "A bridge never forwards MAC control frames, whatever their opcode.",
             "Send PFC, PAUSE and an unknown opcode by port 1, and look at the other ports."),
    {0},
};
