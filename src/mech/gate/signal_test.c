/* Pause transmission: edges, coalescing, refreshes, and what is refused.
 *
 * At 10 Gb/s 1000 quanta last 51.2 us; a refresh falls due after 25.6 us.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <xoff/gate.h>
#include <xoff/rng.h>
#include <xoff/signal.h>
#include <xoff/units.h>

#define QUANTA 1000
#define HALF (25600 * XOFF_NS)
#define RATE (10 * XOFF_GBPS)
#define MAX_FRAME 1518

_Noreturn void xoff_assert_fail(const char *expression, const char *file, int line)
{
    mock_assert(0, expression, file, line);
    abort();
}

static struct xoff_signal_cfg configured(enum xoff_pause_wire wire, bool refreshes, bool resumes)
{
    const struct xoff_pause_signalling how = {
        .wire = wire, .quanta = QUANTA, .refreshes = refreshes, .resumes = resumes};
    struct xoff_signal_cfg cfg;
    struct xoff_err err = {0};
    assert_int_equal(xoff_signal_configure(&how, RATE, MAX_FRAME, &cfg, &err), 0);
    return cfg;
}

static struct xoff_signal fresh(void)
{
    struct xoff_signal signal;
    memset(&signal, 0xa5, sizeof signal);
    xoff_signal_init(&signal);
    return signal;
}

/* Takes the frame at `now`: PFC, XOFF for `xoff`, XON for `xon`, nothing else in it. */
static void assert_takes(const struct xoff_signal_cfg *cfg, struct xoff_signal *signal,
                         xoff_time now, uint8_t xoff, uint8_t xon)
{
    struct xoff_pause_frame frame;
    memset(&frame, 0xa5, sizeof frame);
    assert_true(xoff_signal_is_due(signal));
    xoff_signal_take(cfg, signal, now, &frame);
    assert_false(xoff_signal_is_due(signal));
    assert_int_equal(frame.opcode, XOFF_OPCODE_PFC);
    assert_int_equal(frame.classes, xoff | xon);
    for (int n = 0; n < 8; n++)
        assert_int_equal(frame.quanta[n], xoff >> n & 1 ? QUANTA : 0);
}

static void assert_refresh_due_at(struct xoff_signal *signal, xoff_time at)
{
    assert_int_equal(signal->next_at, at);
    xoff_signal_expire(signal, at - 1);
    assert_false(xoff_signal_is_due(signal));
    assert_int_equal(signal->next_at, at);
    xoff_signal_expire(signal, at);
    assert_true(xoff_signal_is_due(signal));
}

static void nothing_is_due_at_first(void **state)
{
    (void)state;
    struct xoff_signal signal = fresh();
    assert_false(xoff_signal_is_due(&signal));
    assert_int_equal(signal.next_at, XOFF_NEVER);
    xoff_signal_expire(&signal, XOFF_S);
    assert_false(xoff_signal_is_due(&signal));
}

static void xoff_then_xon(void **state)
{
    (void)state;
    const struct xoff_signal_cfg cfg = configured(XOFF_WIRE_PFC, true, true);
    struct xoff_signal signal = fresh();
    xoff_signal_on_edge(&cfg, &signal, 0x08, true);
    assert_int_equal(signal.next_at, XOFF_NEVER); /* nothing to refresh before it is sent */
    assert_takes(&cfg, &signal, 100, 0x08, 0);
    xoff_signal_on_edge(&cfg, &signal, 0x08, true); /* known already */
    assert_false(xoff_signal_is_due(&signal));
    xoff_signal_on_edge(&cfg, &signal, 0x08, false);
    assert_takes(&cfg, &signal, 200, 0, 0x08);
    assert_int_equal(signal.next_at, XOFF_NEVER);
    xoff_signal_on_edge(&cfg, &signal, 0x08, false);
    assert_false(xoff_signal_is_due(&signal));
}

static void edges_that_cancel_out_send_nothing(void **state)
{
    (void)state;
    const struct xoff_signal_cfg cfg = configured(XOFF_WIRE_PFC, true, true);
    struct xoff_signal signal = fresh();
    xoff_signal_on_edge(&cfg, &signal, 0x08, true);
    xoff_signal_on_edge(&cfg, &signal, 0x08, false);
    assert_false(xoff_signal_is_due(&signal));

    xoff_signal_on_edge(&cfg, &signal, 0x08, true);
    assert_takes(&cfg, &signal, 0, 0x08, 0);
    xoff_signal_on_edge(&cfg, &signal, 0x08, false);
    assert_true(xoff_signal_is_due(&signal));
    xoff_signal_on_edge(&cfg, &signal, 0x08, true);
    assert_false(xoff_signal_is_due(&signal));
    assert_refresh_due_at(&signal, HALF); /* the peer's timer went on running */
}

static void edges_share_a_frame(void **state)
{
    (void)state;
    const struct xoff_signal_cfg cfg = configured(XOFF_WIRE_PFC, true, true);
    struct xoff_signal signal = fresh();
    xoff_signal_on_edge(&cfg, &signal, 0x08, true);
    xoff_signal_on_edge(&cfg, &signal, 0x30, true);
    assert_takes(&cfg, &signal, 0, 0x38, 0);
    /* XOFF of one and XON of another; 0x20 is neither and stays out. */
    xoff_signal_on_edge(&cfg, &signal, 0x01, true);
    xoff_signal_on_edge(&cfg, &signal, 0x18, false);
    assert_takes(&cfg, &signal, 50, 0x01, 0x18);
}

static void refreshed_at_half_time(void **state)
{
    (void)state;
    const struct xoff_signal_cfg cfg = configured(XOFF_WIRE_PFC, true, true);
    assert_int_equal(cfg.refresh_for, HALF);
    struct xoff_signal signal = fresh();
    xoff_signal_on_edge(&cfg, &signal, 0x08, true);
    assert_takes(&cfg, &signal, 100, 0x08, 0);
    assert_refresh_due_at(&signal, 100 + HALF);
    assert_int_equal(signal.next_at, XOFF_NEVER); /* due, so no longer a deadline */
    assert_takes(&cfg, &signal, 5000 + HALF, 0x08, 0);
    assert_refresh_due_at(&signal, 5000 + 2 * HALF); /* from when it was sent */
    assert_takes(&cfg, &signal, 5000 + 2 * HALF, 0x08, 0);
}

/* The first refresh carries every paused priority: from then on they are refreshed together. */
static void refreshes_fall_together(void **state)
{
    (void)state;
    const struct xoff_signal_cfg cfg = configured(XOFF_WIRE_PFC, true, true);
    struct xoff_signal signal = fresh();
    xoff_signal_on_edge(&cfg, &signal, 0x08, true);
    assert_takes(&cfg, &signal, 0, 0x08, 0);
    xoff_signal_on_edge(&cfg, &signal, 0x10, true);
    assert_takes(&cfg, &signal, 1000, 0x10, 0);
    assert_refresh_due_at(&signal, HALF);
    assert_int_equal(signal.next_at, 1000 + HALF); /* of the other one, still to come */
    assert_takes(&cfg, &signal, HALF, 0x18, 0);
    assert_refresh_due_at(&signal, 2 * HALF);
    assert_int_equal(signal.next_at, XOFF_NEVER);
    /* Edges join a refresh: XON for 3, XOFF for 0. */
    xoff_signal_on_edge(&cfg, &signal, 0x08, false);
    xoff_signal_on_edge(&cfg, &signal, 0x01, true);
    assert_takes(&cfg, &signal, 2 * HALF, 0x11, 0x08);
    assert_refresh_due_at(&signal, 3 * HALF);
}

/* A refresh that came up and was overtaken by XON is none. */
static void xon_takes_the_place_of_a_refresh(void **state)
{
    (void)state;
    const struct xoff_signal_cfg cfg = configured(XOFF_WIRE_PFC, true, true);
    struct xoff_signal signal = fresh();
    xoff_signal_on_edge(&cfg, &signal, 0x08, true);
    assert_takes(&cfg, &signal, 0, 0x08, 0);
    xoff_signal_on_edge(&cfg, &signal, 0x10, true);
    assert_takes(&cfg, &signal, 10, 0x10, 0);
    xoff_signal_expire(&signal, HALF);
    xoff_signal_on_edge(&cfg, &signal, 0x08, false);
    assert_takes(&cfg, &signal, HALF, 0, 0x08); /* no refresh of 4 in it: none was due */
    assert_refresh_due_at(&signal, 10 + HALF);
}

/* XON decided and taken back while the refresh came up: the refresh is what is sent. */
static void refresh_survives_an_xon_taken_back(void **state)
{
    (void)state;
    const struct xoff_signal_cfg cfg = configured(XOFF_WIRE_PFC, true, true);
    struct xoff_signal signal = fresh();
    xoff_signal_on_edge(&cfg, &signal, 0x08, true);
    assert_takes(&cfg, &signal, 0, 0x08, 0);
    xoff_signal_on_edge(&cfg, &signal, 0x08, false);
    xoff_signal_expire(&signal, HALF);
    xoff_signal_on_edge(&cfg, &signal, 0x08, true);
    assert_takes(&cfg, &signal, HALF, 0x08, 0);
}

static void forget_tells_the_peer_anew(void **state)
{
    (void)state;
    const struct xoff_signal_cfg cfg = configured(XOFF_WIRE_PFC, true, true);
    struct xoff_signal signal = fresh();
    xoff_signal_on_edge(&cfg, &signal, 0x18, true);
    assert_takes(&cfg, &signal, 0, 0x18, 0);
    xoff_signal_expire(&signal, HALF);
    xoff_signal_on_edge(&cfg, &signal, 0x10, false);
    xoff_signal_forget(&signal);
    assert_int_equal(signal.next_at, XOFF_NEVER);
    assert_takes(&cfg, &signal, 2 * HALF, 0x08, 0); /* no XON: the peer knows of no pause */
    assert_refresh_due_at(&signal, 3 * HALF);

    xoff_signal_on_edge(&cfg, &signal, 0x08, false);
    xoff_signal_forget(&signal);
    assert_false(xoff_signal_is_due(&signal));
}

static void without_resumes_a_pause_runs_out(void **state)
{
    (void)state;
    const struct xoff_signal_cfg cfg = configured(XOFF_WIRE_PFC, true, false);
    struct xoff_signal signal = fresh();
    xoff_signal_on_edge(&cfg, &signal, 0x18, true);
    assert_takes(&cfg, &signal, 0, 0x18, 0);
    xoff_signal_on_edge(&cfg, &signal, 0x08, false);
    assert_false(xoff_signal_is_due(&signal));
    assert_refresh_due_at(&signal, HALF);
    assert_takes(&cfg, &signal, HALF, 0x10, 0); /* only what is still wanted */

    xoff_signal_expire(&signal, 2 * HALF); /* a refresh comes up, and is not wanted any more */
    xoff_signal_on_edge(&cfg, &signal, 0x10, false);
    assert_false(xoff_signal_is_due(&signal));
    assert_int_equal(signal.next_at, XOFF_NEVER);

    xoff_signal_on_edge(&cfg, &signal, 0x08, true); /* a new pause is sent anew */
    assert_takes(&cfg, &signal, 2 * HALF, 0x08, 0);
    assert_int_equal(signal.next_at, 3 * HALF);
    xoff_signal_on_edge(&cfg, &signal, 0x08, false);
    assert_int_equal(signal.next_at, XOFF_NEVER);
}

static void without_refreshes_each_edge_sends(void **state)
{
    (void)state;
    const struct xoff_signal_cfg cfg = configured(XOFF_WIRE_PFC, false, true);
    assert_int_equal(cfg.refresh_for, XOFF_NEVER);
    struct xoff_signal signal = fresh();
    xoff_signal_on_edge(&cfg, &signal, 0x18, true);
    assert_takes(&cfg, &signal, 100, 0x18, 0);
    assert_int_equal(signal.next_at, XOFF_NEVER);
    xoff_signal_expire(&signal, XOFF_S);
    assert_false(xoff_signal_is_due(&signal)); /* told for good, as far as we know */

    xoff_signal_on_edge(&cfg, &signal, 0x08, true); /* the policy says it again */
    assert_takes(&cfg, &signal, XOFF_S, 0x08, 0); /* 4 was not said again: its time is left alone */
    xoff_signal_on_edge(&cfg, &signal, 0x08, true);
    xoff_signal_on_edge(&cfg, &signal, 0x18, false);
    assert_takes(&cfg, &signal, XOFF_S, 0, 0x18); /* although it may have run out */
    assert_false(xoff_signal_is_due(&signal));
}

static void once_only_and_no_resume(void **state)
{
    (void)state;
    const struct xoff_signal_cfg cfg = configured(XOFF_WIRE_PFC, false, false);
    struct xoff_signal signal = fresh();
    xoff_signal_on_edge(&cfg, &signal, 0x08, true);
    assert_takes(&cfg, &signal, 0, 0x08, 0);
    xoff_signal_on_edge(&cfg, &signal, 0x08, true);
    xoff_signal_on_edge(&cfg, &signal, 0x08, false);
    assert_false(xoff_signal_is_due(&signal));
    xoff_signal_on_edge(&cfg, &signal, 0x08, true);
    assert_takes(&cfg, &signal, 0, 0x08, 0);
}

static void assert_takes_pause(const struct xoff_signal_cfg *cfg, struct xoff_signal *signal,
                               xoff_time now, uint16_t quanta)
{
    struct xoff_pause_frame frame;
    memset(&frame, 0xa5, sizeof frame);
    assert_true(xoff_signal_is_due(signal));
    xoff_signal_take(cfg, signal, now, &frame);
    assert_false(xoff_signal_is_due(signal));
    assert_int_equal(frame.opcode, XOFF_OPCODE_PAUSE);
    assert_int_equal(frame.classes, 0xff);
    assert_int_equal(frame.quanta[0], quanta);
    for (int n = 1; n < 8; n++)
        assert_int_equal(frame.quanta[n], 0);
}

static void pause_speaks_for_the_port(void **state)
{
    (void)state;
    const struct xoff_signal_cfg cfg = configured(XOFF_WIRE_PAUSE, true, true);
    struct xoff_signal signal = fresh();
    xoff_signal_on_edge(&cfg, &signal, XOFF_ALL_PRIORITIES, true);
    assert_takes_pause(&cfg, &signal, 0, QUANTA);
    assert_refresh_due_at(&signal, HALF);
    assert_takes_pause(&cfg, &signal, HALF, QUANTA);
    xoff_signal_on_edge(&cfg, &signal, XOFF_ALL_PRIORITIES, false);
    assert_takes_pause(&cfg, &signal, HALF + 1, 0);
    assert_int_equal(signal.next_at, XOFF_NEVER);
}

/* A frame is filled to its last byte and no further. */
static void frame_ends_where_it_ends(void **state)
{
    (void)state;
    const struct xoff_signal_cfg cfg = configured(XOFF_WIRE_PAUSE, true, true);
    struct xoff_signal signal = fresh();
    struct xoff_pause_frame frames[2], untouched;
    memset(frames, 0xa5, sizeof frames);
    memset(&untouched, 0xa5, sizeof untouched);
    xoff_signal_on_edge(&cfg, &signal, XOFF_ALL_PRIORITIES, true);
    xoff_signal_take(&cfg, &signal, 0, &frames[0]);
    assert_int_equal(frames[0].quanta[7], 0);
    assert_memory_equal(&frames[1], &untouched, sizeof untouched);
}

static void misuse_is_an_error_of_the_caller(void **state)
{
    (void)state;
    const struct xoff_signal_cfg cfg = configured(XOFF_WIRE_PAUSE, true, true);
    struct xoff_signal signal = fresh();
    struct xoff_pause_frame frame;
    expect_assert_failure(xoff_signal_take(&cfg, &signal, 0, &frame)); /* not due */
    expect_assert_failure(xoff_signal_on_edge(&cfg, &signal, 0x7f, true));
    expect_assert_failure(xoff_signal_on_edge(&cfg, &signal, 0x08, false));
}

static void no_wire_no_frames(void **state)
{
    (void)state;
    const struct xoff_pause_signalling how = {.wire = XOFF_WIRE_NONE, .refreshes = true};
    struct xoff_signal_cfg cfg;
    struct xoff_err err = {0};
    assert_int_equal(xoff_signal_configure(&how, RATE, MAX_FRAME, &cfg, &err), 0);
    struct xoff_signal signal = fresh();
    xoff_signal_on_edge(&cfg, &signal, 0x08, true);
    assert_false(xoff_signal_is_due(&signal));
}

static int configure(uint16_t quanta, bool refreshes, xoff_rate rate_bps, uint32_t max_frame_bytes,
                     struct xoff_signal_cfg *cfg, struct xoff_err *err)
{
    const struct xoff_pause_signalling how = {
        .wire = XOFF_WIRE_PFC, .quanta = quanta, .refreshes = refreshes, .resumes = true};
    memset(err, 0, sizeof *err);
    return xoff_signal_configure(&how, rate_bps, max_frame_bytes, cfg, err);
}

/* Half the quanta must hold a maximum frame with preamble and gap: 32 B per quantum.
 *   1518 + 20 = 1538 = 48.06 * 32    49 quanta
 *   1516 + 20 = 1536 = 48 * 32       48
 *   9216 + 20 = 9236 = 288.6 * 32    289
 *     64 + 20 =   84 = 2.6 * 32      3 */
static void quanta_too_short_to_refresh_are_refused(void **state)
{
    (void)state;
    static const struct {
        uint32_t max_frame_bytes;
        uint16_t least;
    } cases[] = {{1518, 49}, {1516, 48}, {9216, 289}, {64, 3}};
    static const xoff_rate rates[] = {XOFF_GBPS, RATE, 100 * XOFF_GBPS, 800 * XOFF_GBPS};
    struct xoff_signal_cfg cfg;
    struct xoff_err err;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const uint32_t max = cases[i].max_frame_bytes;
        const uint16_t least = cases[i].least;
        for (size_t k = 0; k < sizeof rates / sizeof rates[0]; k++) {
            assert_int_equal(configure(least, true, rates[k], max, &cfg, &err), 0);
            assert_int_equal(configure((uint16_t)(least - 1), true, rates[k], max, &cfg, &err),
                             -XOFF_E_RANGE);
            assert_int_equal(configure((uint16_t)(least - 1), false, rates[k], max, &cfg, &err), 0);
        }
    }
    assert_int_equal(configure(48, true, RATE, 1518, &cfg, &err), -XOFF_E_RANGE);
    assert_string_equal(err.subject, "quanta");
    assert_string_equal(err.value, "48");
    assert_non_null(strstr(err.message, "1518 B"));
    assert_non_null(strstr(err.message, "49 to 65535 would do"));
    assert_int_equal(configure(1, true, RATE, 9216, &cfg, &err), -XOFF_E_RANGE);
    assert_non_null(strstr(err.message, " 289 to 65535 would do"));
}

/* Half of 65535 quanta is 2097120 B, less 20 B of overhead: a larger frame fits no pause at all. */
static void no_quanta_would_do(void **state)
{
    (void)state;
    struct xoff_signal_cfg cfg;
    struct xoff_err err;
    assert_int_equal(configure(65535, true, RATE, 2097100, &cfg, &err), 0);
    assert_int_equal(configure(65535, true, RATE, 2097101, &cfg, &err), -XOFF_E_RANGE);
    assert_non_null(strstr(err.message, "no quanta would do"));
    assert_int_equal(configure(7, true, RATE, 2097101, &cfg, &err), -XOFF_E_RANGE);
    assert_non_null(strstr(err.message, "no quanta would do"));
}

/* At 3 Gb/s a byte is 2666.67 ps: with 1516 B frames 48 quanta are 8192000 ps and the frame takes
 * 4096000, which leaves no room for the picosecond of the wire clock's carry. */
static void odd_rates_leave_room_for_the_carry(void **state)
{
    (void)state;
    struct xoff_signal_cfg cfg;
    struct xoff_err err;
    assert_int_equal(configure(48, true, 3 * XOFF_GBPS, 1516, &cfg, &err), -XOFF_E_RANGE);
    assert_non_null(strstr(err.message, "49 to 65535"));
    assert_int_equal(configure(49, true, 3 * XOFF_GBPS, 1516, &cfg, &err), 0);
}

static void quanta_zero_is_refused(void **state)
{
    (void)state;
    struct xoff_signal_cfg cfg;
    struct xoff_err err;
    assert_int_equal(configure(0, false, RATE, 64, &cfg, &err), -XOFF_E_RANGE);
    assert_string_equal(err.subject, "quanta");
    assert_int_equal(configure(1, false, RATE, 64, &cfg, &err), 0);
}

/* A signal and the gate at the other end of a cable, with the least quanta that configure() lets
 * pass and a port that begins a maximum frame whenever a refresh falls due. As
 * long as the policy wants a priority paused its gate never opens once it has closed, and the
 * gate's state is the policy's one transit later. */
static void the_peer_stays_paused_while_wanted(void **state)
{
    (void)state;
    const struct xoff_pause_signalling how = {
        .wire = XOFF_WIRE_PFC, .quanta = 49, .refreshes = true, .resumes = true};
    const struct xoff_gate_cfg gate_cfg = {
        .wire = XOFF_WIRE_PFC, .obeys = 0xff, .response_for = 60 * 51200, .rate_bps = RATE};
    const xoff_time wait_for = (MAX_FRAME + 20) * 800, transit_for = 72 * 800 + 500 * XOFF_NS;
    struct xoff_signal_cfg cfg;
    struct xoff_err err = {0};
    assert_int_equal(xoff_signal_configure(&how, RATE, MAX_FRAME, &cfg, &err), 0);
    struct xoff_signal signal = fresh();
    struct xoff_gate gate;
    xoff_gate_init(&gate);
    struct xoff_rng rng;
    xoff_rng_init(&rng, 5, 0, 0);

    xoff_time now = 0;
    for (int round = 0; round < 300; round++) {
        const uint8_t paused = (uint8_t)xoff_rng_below(&rng, 256);
        xoff_signal_on_edge(&cfg, &signal, paused, true);
        xoff_signal_on_edge(&cfg, &signal, (uint8_t)~paused, false);
        const xoff_time until = now + 20 * XOFF_US;
        const xoff_time settled_at = now + wait_for + transit_for + gate_cfg.response_for;
        bool is_first = true;
        while (xoff_signal_is_due(&signal) || signal.next_at < until) {
            if (!xoff_signal_is_due(&signal)) {
                now = signal.next_at;
                xoff_signal_expire(&signal, now);
            }
            now += is_first ? (xoff_time)xoff_rng_below(&rng, (uint64_t)wait_for) : wait_for;
            is_first = false;
            struct xoff_pause_frame frame;
            xoff_signal_take(&cfg, &signal, now, &frame);
            /* Changes of the gate up to the arrival: none once the edges have settled. */
            while (gate.next_at < now + transit_for) {
                const xoff_time at = gate.next_at;
                xoff_gate_expire(&gate_cfg, &gate, at);
                assert_true(at <= settled_at);
            }
            xoff_gate_on_frame(&gate_cfg, &gate, &frame, now + transit_for);
        }
        now = now > until ? now : until;
        while (gate.next_at <= now) {
            const xoff_time at = gate.next_at;
            xoff_gate_expire(&gate_cfg, &gate, at);
            assert_true(at <= settled_at);
        }
        assert_int_equal(gate.open, (uint8_t)~paused);
    }
}

/* 3 and 4 are paused. The peer begins to obey pauses of 4 and 5: both that are told go out once
 * more, as with a refresh; of 5 there is nothing to say. */
static void repeat_tells_once_more(void **state)
{
    (void)state;
    const struct xoff_signal_cfg cfg = configured(XOFF_WIRE_PFC, true, true);
    struct xoff_signal signal = fresh();
    xoff_signal_on_edge(&cfg, &signal, 0x18, true);
    assert_takes(&cfg, &signal, 0, 0x18, 0);
    xoff_signal_repeat(&signal, 0x20);
    assert_false(xoff_signal_is_due(&signal));
    assert_true(signal.next_at == HALF);
    xoff_signal_repeat(&signal, 0x30);
    assert_takes(&cfg, &signal, 1000, 0x18, 0);
    assert_true(signal.next_at == 1000 + HALF);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_due_at_first),
        cmocka_unit_test(xoff_then_xon),
        cmocka_unit_test(edges_that_cancel_out_send_nothing),
        cmocka_unit_test(edges_share_a_frame),
        cmocka_unit_test(refreshed_at_half_time),
        cmocka_unit_test(refreshes_fall_together),
        cmocka_unit_test(xon_takes_the_place_of_a_refresh),
        cmocka_unit_test(refresh_survives_an_xon_taken_back),
        cmocka_unit_test(forget_tells_the_peer_anew),
        cmocka_unit_test(without_resumes_a_pause_runs_out),
        cmocka_unit_test(without_refreshes_each_edge_sends),
        cmocka_unit_test(once_only_and_no_resume),
        cmocka_unit_test(pause_speaks_for_the_port),
        cmocka_unit_test(frame_ends_where_it_ends),
        cmocka_unit_test(misuse_is_an_error_of_the_caller),
        cmocka_unit_test(no_wire_no_frames),
        cmocka_unit_test(quanta_too_short_to_refresh_are_refused),
        cmocka_unit_test(no_quanta_would_do),
        cmocka_unit_test(odd_rates_leave_room_for_the_carry),
        cmocka_unit_test(quanta_zero_is_refused),
        cmocka_unit_test(the_peer_stays_paused_while_wanted),
        cmocka_unit_test(repeat_tells_once_more),
    };
    return cmocka_run_group_tests_name("signal", tests, NULL, NULL);
}
