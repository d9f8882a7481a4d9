/* PFC, group 3: the pause frames that a device sends, and whether it keeps what it promises.
 *
 * Source: "Fairness in a data center" 3.2.1: the worst case of frames in flight, for which many
 * early devices had too little buffer; the numbers are ours. Rules: 802.1Q 36 and the delay model
 * of its annex, 802.3 Annex 31D.
 */
#include <string.h>

#include "conform/suites.h"

#define PRIORITY 3
#define FULL_BYTES 1522

/* A bridge whose port 0 is paused for the priorities of `stopped` from the start, and heeds the
 * device's pauses at all other ports. */
static bool begin_stopped(struct station *st, uint16_t n_ports, uint8_t pfc, uint8_t stopped)
{
    struct xoff_device_setup setup = station_setup(st, n_ports);
    setup.pfc = pfc;
    station_share(&setup, pfc);
    if (!station_begin(st, &setup))
        return false;
    for (uint16_t port = 1; port < n_ports; port++)
        station_obey(st, port);
    if (stopped)
        station_pause(st, 0, station_learnt(st), stopped, 65535);
    return true;
}

/* The next PFC frame of the device at a port from log entry *i on, which is left behind it. */
static bool next_pause(const struct station *st, uint16_t port, uint32_t *i,
                       struct xoff_pause_frame *pause, const struct logged **frame)
{
    while (*i < st->n_log) {
        *frame = &st->log[(*i)++];
        if ((*frame)->is_from_device && (*frame)->port == port && station_is_pfc(st, *frame, pause))
            return true;
    }
    return false;
}

/* PFC.3.1 */
static void check_form(struct station *st, const struct logged *frame,
                       const struct xoff_pause_frame *pause)
{
    static const uint8_t zeros[26] = {0};
    const uint8_t *octets = station_octets(st, frame);
    station_check(st, frame->length == 60, "a PFC frame of %u octets, not 60", frame->length);
    station_check(st, !(octets[6] & 1), "its source is a group address");
    station_check(st, !memcmp(octets + 34, zeros, sizeof zeros), "its padding is not zero");
    for (uint32_t p = 0; p < XOFF_N_PRIORITIES; p++)
        station_check(st, pause->classes >> p & 1 || !pause->quanta[p],
                      "%u quanta for priority %u, whose bit is 0", pause->quanta[p], p);
    station_check(st, pause->classes != 0, "its enable vector is empty");
}

static void test_form(struct station *st)
{
    if (!begin_stopped(st, 2, 1 << PRIORITY, 1 << PRIORITY))
        return;
    station_stream(st, 1, 0, PRIORITY, 1000);
    station_pause(st, 0, station_learnt(st) + station_quanta(st, 20000), 1 << PRIORITY, 0);
    station_run(st, station_learnt(st) + station_quanta(st, 40000));
    struct xoff_pause_frame pause;
    const struct logged *frame;
    uint32_t i = 0, n_xoff = 0, n = 0;
    while (next_pause(st, 1, &i, &pause, &frame)) {
        check_form(st, frame, &pause);
        n++;
        n_xoff += pause.quanta[PRIORITY] > 0;
    }
    station_check(st, n_xoff > 0, "the device sends no PFC frame when it is full");
    station_note(st, "%u PFC frames, all well formed", n);
}

/* PFC.3.2 */
static void test_eight(struct station *st)
{
    for (uint8_t p = 0; p < XOFF_N_PRIORITIES; p++) {
        const uint8_t bit = (uint8_t)(1u << p);
        if (!begin_stopped(st, 2, 0xff, bit))
            return;
        for (uint8_t q = 0; q < XOFF_N_PRIORITIES; q++) /* half of the line together */
            station_stream(st, 1, 0, q, 1000)->every = station_bits(st, 16 * 8 * 1020);
        station_run(st, station_learnt(st) + station_quanta(st, 60000));
        struct xoff_pause_frame pause;
        const struct logged *frame;
        uint8_t told = 0;
        for (uint32_t i = 0; next_pause(st, 1, &i, &pause, &frame);)
            for (uint32_t q = 0; q < XOFF_N_PRIORITIES; q++)
                told |= (uint8_t)((pause.classes >> q & 1 && pause.quanta[q]) << q);
        station_check(st, told & bit, "priority %u stands still and is not paused", p);
        station_check(st, !(told & ~bit), "priority %u stands still, and others are paused too", p);
    }
    station_note(st, "each of 8 priorities is paused alone");
}

/* PFC.3.3 */
static void test_refresh(struct station *st)
{
    const xoff_time held_for = station_quanta(st, 200000);
    if (!begin_stopped(st, 2, 1 << PRIORITY, 0))
        return;
    for (xoff_time at = 0; at < held_for; at += station_quanta(st, 60000))
        station_pause(st, 0, station_learnt(st) + at, 1 << PRIORITY, 65535);
    station_stream(st, 1, 0, PRIORITY, 1000);
    station_run(st, station_learnt(st) + held_for);
    struct xoff_pause_frame pause;
    const struct logged *frame;
    xoff_time runs_out = XOFF_NEVER;
    uint32_t n = 0;
    for (uint32_t i = 0; next_pause(st, 1, &i, &pause, &frame); n++) {
        station_check(st, frame->at <= runs_out, "a pause ran out %.1f us before it was renewed",
                      (double)(frame->at - runs_out) / (double)XOFF_US);
        runs_out = frame->at + station_quanta(st, pause.quanta[PRIORITY]);
    }
    station_check(st, n > 0, "the device sends no PFC frame when it is full");
    station_check(st, runs_out >= st->now, "the last pause ran out, and it is still full");
    station_note(st, "%u pauses without a gap", n);
}

/* PFC.3.4 */
static void test_resume(struct station *st)
{
    const xoff_time resume_at = station_learnt(st) + station_quanta(st, 20000);
    const xoff_time end = resume_at + station_quanta(st, 60000);
    if (!begin_stopped(st, 2, 1 << PRIORITY, 1 << PRIORITY))
        return;
    struct stream *stream = station_stream(st, 1, 0, PRIORITY, 1000);
    stream->to = end;
    station_pause(st, 0, resume_at, 1 << PRIORITY, 0);
    station_run(st, end + station_quanta(st, 10000));
    const uint64_t bytes =
        station_bytes(st, 0, PRIORITY, resume_at + station_quanta(st, 10000), end, true);
    const double share = (double)bytes * 8e12 / (double)st->rate_bps /
                         (double)(end - resume_at - station_quanta(st, 10000));
    station_check(st, share > 0.99, "only %.0f %% of the line after the pause", 100 * share);
    station_note(st, "back to %.0f %% of the line", 100 * share);
}

/* PFC.3.5. Port 1 sends full frames, or full and shorter ones, while the device sends full frames
 * back by port 1, so that its pause waits for one. The phase between the two varies. */
static void test_flight(struct station *st)
{
    uint32_t n_sent = 0;
    for (uint32_t phase = 0; phase < 16; phase++) {
        if (!begin_stopped(st, 2, 1 << PRIORITY, 1 << PRIORITY))
            return;
        struct stream *stream = station_stream(st, 1, 0, PRIORITY, FULL_BYTES);
        struct stream *back = station_stream(st, 0, 1, 0, FULL_BYTES);
        back->from += phase * station_bits(st, 8 * FULL_BYTES / 16);
        if (phase & 1)
            station_stream(st, 1, 0, PRIORITY, 64 + 80 * phase)->to =
                station_learnt(st) + station_quanta(st, 20000);
        stream->to = back->to = station_learnt(st) + station_quanta(st, 20000);
        station_run(st, station_learnt(st) + station_quanta(st, 80000));
        for (uint32_t i = 0; i < st->n_streams; i++) {
            if (st->streams[i].priority != PRIORITY)
                continue;
            const uint32_t lost = station_lost(st, &st->streams[i]);
            n_sent += st->streams[i].n_sent;
            station_check(st, !lost, "%u of %u frames lost at phase %u of 16", lost,
                          st->streams[i].n_sent, phase);
        }
    }
    station_note(st, "16 phases, %u frames, none lost", n_sent);
}

/* PFC.3.6 */
static void test_all_at_once(struct station *st)
{
    if (!begin_stopped(st, 4, 0xff, 0xff))
        return;
    for (uint16_t port = 1; port <= 3; port++)
        for (uint8_t p = 0; p < XOFF_N_PRIORITIES; p++)
            station_stream(st, port, 0, p, FULL_BYTES)->to =
                station_learnt(st) + station_quanta(st, 60000);
    station_run(st, station_learnt(st) + station_quanta(st, 300000));
    uint32_t n_sent = 0;
    for (uint32_t i = 0; i < st->n_streams; i++) {
        const struct stream *s = &st->streams[i];
        const uint32_t lost = station_lost(st, s);
        n_sent += s->n_sent;
        station_check(st, !lost, "port %u, priority %u: %u of %u frames lost", s->in, s->priority,
                      lost, s->n_sent);
    }
    station_note(st, "3 ports, 8 priorities, %u frames, none lost", n_sent);
}

/* PFC.3.7 */
static void test_lossy(struct station *st)
{
    if (!begin_stopped(st, 3, 1 << 4, 0))
        return;
    station_stream(st, 1, 0, PRIORITY, 1000);
    station_stream(st, 2, 0, PRIORITY, 1000);
    station_run(st, station_learnt(st) + station_quanta(st, 60000));
    struct xoff_pause_frame pause;
    const struct logged *frame;
    for (uint16_t port = 1; port <= 2; port++) {
        uint32_t i = 0;
        station_check(st, !next_pause(st, port, &i, &pause, &frame),
                      "port %u is paused for a priority without PFC", port);
    }
    station_note(st, "a priority without PFC is never paused");
}

#define PFC_TEST(number, function, ports, name, why, how)                                     \
    {                                                                                         \
        .id = "PFC." number, .suite = "pfc", .title = name, .purpose = why, .procedure = how, \
        .run = function, .n_ports = ports,                                                    \
    }

const struct xoff_conform_test pfc_send_tests[] = {
    PFC_TEST("3.1", test_form, 2, "well-formed PFC frames",
             "Pause frames of the device have their 60 octets, zeros where zeros belong, and times "
             "only where the vector has a bit.",
             "Pause port 0, fill the device from port 1, let it go again: read all PFC frames."),
    PFC_TEST("3.2", test_eight, 2, "eight priorities paused alone",
             "A priority that stands still is paused at its sender, and no other is.",
             "Pause one priority at port 0, send all eight from port 1. Repeat for each."),
    PFC_TEST("3.3", test_refresh, 2, "refresh before expiry",
             "As long as the device has no room it renews its pause before that runs out.",
             "Keep port 0 paused for 200000 quanta and send from port 1 whenever it may."),
    PFC_TEST("3.4", test_resume, 2, "resume",
             "When there is room again the sender may go on at full rate.",
             "Pause port 0, fill the device, let it go, and count."),
    PFC_TEST("3.5", test_flight, 2, "worst-case frames in flight",
             "What is in flight when a pause is sent finds room: one full frame before the pause, "
             "the cable twice, the whole response time, and one full frame more.",
             "Pause port 0 and send full frames from port 1, which stops as late as it may; the "
             "device sends full frames by port 1 itself. 16 phases between the two, with 100 m of "
             "cable: no frame may be lost."),
    PFC_TEST("3.6", test_all_at_once, 4, "all priorities of three ports",
             "The buffer suffices for every lossless queue at once.",
             "Pause port 0 on all priorities, send all eight from three ports, let go: no frame "
             "may be lost."),
    PFC_TEST("3.7", test_lossy, 3, "no PFC for lossy priorities",
             "A priority without PFC is not paused, however full it is.",
             "Overload port 0 with a priority that has no PFC."),
    {0},
};
