/* Go-back-N, both ends by hand: each row of the two tables in go_back_n.c, each boundary on both
 * sides. Frames carry 1000 B. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <xoff/rng.h>

#include "mech/mechanisms.h"

#define FRAME 1000
#define TIMEOUT (200 * XOFF_US)
#define DELAY (20 * XOFF_US)

_Noreturn void xoff_assert_fail(const char *expression, const char *file, int line)
{
    mock_assert(0, expression, file, line);
    abort();
}

struct rig {
    struct xoff_rel rel;
    _Alignas(16) unsigned char cfg[64], rx_state[64];
    struct xoff_rel_tx tx;
    struct xoff_rel_rx *rx;
    struct xoff_rel_ack ack;
};

static void setup(struct rig *r, uint32_t ack_every)
{
    const struct xoff_rel_env env = {
        .payload_bytes = FRAME, .timeout_for = TIMEOUT, .ack_delay = DELAY, .ack_every = ack_every};
    struct xoff_err err;
    *r = (struct rig){.rel = {.ops = &xoff_rel_go_back_n, .cfg = r->cfg}};
    assert_true(xoff_rel_go_back_n.cfg_size <= sizeof r->cfg);
    assert_int_equal(r->rel.ops->configure(NULL, &env, r->cfg, &r->rel.shape, &err), 0);
    assert_true(r->rel.shape.rx_size <= 32);
    assert_int_equal(r->rel.shape.tx_size, 0);
    r->rx = (struct xoff_rel_rx *)r->rx_state;
    xoff_rel_init_tx(&r->rel, &r->tx);
    xoff_rel_init_rx(&r->rel, r->rx);
}

/* Sends what may be sent within the window, frame by frame at `now`; returns how many. */
static uint32_t send_all(struct rig *r, uint64_t end, uint64_t window, xoff_time now)
{
    struct xoff_rel_segment s;
    uint32_t n = 0;
    for (; xoff_rel_next(&r->rel, &r->tx, NULL, end, window, FRAME, &s); n++) {
        assert_int_equal(s.seq, r->tx.next);
        xoff_rel_on_sent(&r->rel, &r->tx, &s, now);
    }
    return n;
}

static unsigned acked(struct rig *r, uint64_t to, xoff_time now)
{
    const struct xoff_rel_ack ack = {.acked_to = to};
    return xoff_rel_on_ack(&r->rel, &r->tx, NULL, &ack, 0, now);
}

static unsigned nacked(struct rig *r, uint64_t to, xoff_time now)
{
    const struct xoff_rel_ack ack = {.acked_to = to, .is_nack = true};
    return xoff_rel_on_ack(&r->rel, &r->tx, NULL, &ack, 0, now);
}

static uint32_t arrives(struct rig *r, uint64_t seq, uint32_t bits, xoff_time now)
{
    const struct xoff_rel_data data = {
        .seq = seq, .bytes = FRAME, .sent_at = now - XOFF_US, .bits = bits};
    return xoff_rel_on_data(&r->rel, r->rx, NULL, &data, now, &r->ack);
}

static void sends_within_window_and_end(void **unused)
{
    (void)unused;
    struct rig r;
    struct xoff_rel_segment s;
    setup(&r, 1);
    assert_true(xoff_rel_is_sequential(&r.rel));
    assert_false(xoff_rel_next(&r.rel, &r.tx, NULL, 0, 5000, FRAME, &s)); /* nothing offered */
    /* A frame goes while less than the window is outstanding, so it may pass it: 2500 B are three
     * frames, 3000 B as well, 3001 B four. */
    assert_int_equal(send_all(&r, 10000, 2500, 0), 3);
    assert_int_equal(send_all(&r, 10000, 3000, 0), 0);
    assert_int_equal(send_all(&r, 10000, 3001, 0), 1);
    assert_int_equal(xoff_rel_outstanding(&r.rel, &r.tx), 4000);
    /* The last one is as short as what is left. */
    assert_true(xoff_rel_next(&r.rel, &r.tx, NULL, 4001, 5000, FRAME, &s));
    assert_int_equal(s.bytes, 1);
    assert_false(s.is_again || s.has_reduced);
    assert_true(xoff_rel_next(&r.rel, &r.tx, NULL, 5000, 5000, FRAME, &s));
    assert_int_equal(s.bytes, 1000);
    assert_true(xoff_rel_next(&r.rel, &r.tx, NULL, 5001, 5000, FRAME, &s));
    assert_int_equal(s.bytes, 1000);
    assert_false(xoff_rel_next(&r.rel, &r.tx, NULL, 4000, 5000, FRAME, &s));
}

static void timer_of_the_sender(void **unused)
{
    (void)unused;
    struct rig r;
    setup(&r, 1);
    assert_true(r.tx.deadline == XOFF_NEVER);
    send_all(&r, 3000, UINT64_MAX, 10);
    assert_true(r.tx.deadline == 10 + TIMEOUT); /* by the first frame, not moved by the others */
    send_all(&r, 4000, UINT64_MAX, 30);
    assert_true(r.tx.deadline == 10 + TIMEOUT);
    assert_int_equal(acked(&r, 1000, 50), 0);
    assert_true(r.tx.deadline == 50 + TIMEOUT); /* starts anew */
    assert_int_equal(acked(&r, 1000, 60), 0);
    assert_true(r.tx.deadline == 50 + TIMEOUT); /* nothing new */
    assert_int_equal(acked(&r, 3999, 70), 0);
    assert_true(r.tx.deadline == 70 + TIMEOUT); /* a byte is outstanding */
    assert_int_equal(acked(&r, 4000, 80), 0);
    assert_true(r.tx.deadline == XOFF_NEVER);
}

static void timeout_goes_back(void **unused)
{
    (void)unused;
    struct rig r;
    struct xoff_rel_segment s;
    setup(&r, 1);
    send_all(&r, 5000, UINT64_MAX, 0);
    acked(&r, 2000, 10);
    const xoff_time at = r.tx.deadline;
    xoff_rel_expire(&r.rel, &r.tx, NULL, at);
    assert_int_equal(r.tx.next, 2000);
    assert_int_equal(r.tx.sent_to, 5000);
    assert_true(r.tx.deadline == at + TIMEOUT);
    /* Frames up to the last byte sent before say that they are repeated. */
    for (uint32_t i = 0; i < 4; i++) {
        assert_true(xoff_rel_next(&r.rel, &r.tx, NULL, 6000, UINT64_MAX, FRAME, &s));
        assert_int_equal(s.is_again, i < 3);
        xoff_rel_on_sent(&r.rel, &r.tx, &s, at);
    }
    /* With nothing outstanding it has nothing to wait for. */
    acked(&r, 6000, at);
    xoff_rel_expire(&r.rel, &r.tx, NULL, at);
    assert_true(r.tx.deadline == XOFF_NEVER);
}

/* An ACK may pass what a sender that went back has sent anew: it goes on from there. */
static void late_ack_moves_the_sender_on(void **unused)
{
    (void)unused;
    struct rig r;
    setup(&r, 1);
    send_all(&r, 5000, UINT64_MAX, 0);
    xoff_rel_expire(&r.rel, &r.tx, NULL, r.tx.deadline);
    assert_int_equal(r.tx.next, 0);
    acked(&r, 3000, TIMEOUT + 1);
    assert_int_equal(r.tx.una, 3000);
    assert_int_equal(r.tx.next, 3000);
    assert_int_equal(r.tx.sent_to, 5000);
}

static void nack_goes_back_once(void **unused)
{
    (void)unused;
    struct rig r;
    setup(&r, 1);
    send_all(&r, 6000, UINT64_MAX, 0);
    acked(&r, 1000, 1);
    /* Acknowledges up to there as well. */
    assert_int_equal(nacked(&r, 2000, 2), XOFF_REL_LOST);
    assert_int_equal(r.tx.una, 2000);
    assert_int_equal(r.tx.next, 2000);
    assert_true(r.tx.deadline == 2 + TIMEOUT);
    /* A second NACK before anything was sent again is no new loss. */
    assert_int_equal(nacked(&r, 2000, 3), 0);
    /* A NACK below the acknowledged byte is out of date. */
    send_all(&r, 6000, UINT64_MAX, 4);
    assert_int_equal(nacked(&r, 1999, 5), 0);
    assert_int_equal(r.tx.next, 6000);
    assert_int_equal(nacked(&r, 2000, 6), XOFF_REL_LOST);
    assert_int_equal(r.tx.next, 2000);
}

/* A NACK for the end of what was sent cannot mean a loss. */
static void nack_of_everything(void **unused)
{
    (void)unused;
    struct rig r;
    setup(&r, 1);
    send_all(&r, 2000, UINT64_MAX, 0);
    assert_int_equal(nacked(&r, 2000, 2), 0);
    assert_true(r.tx.deadline == XOFF_NEVER);
}

static void receiver_takes_in_order(void **unused)
{
    (void)unused;
    struct rig r;
    setup(&r, 1);
    assert_int_equal(arrives(&r, 0, 0, 10 * XOFF_US), 1);
    assert_int_equal(r.rx->delivered, 1000);
    assert_int_equal(r.ack.acked_to, 1000);
    assert_true(r.ack.sent_at == 9 * XOFF_US && !r.ack.is_nack && !r.ack.echo);
    assert_int_equal(r.ack.n_frames, 1);
    assert_int_equal(r.ack.n_marked, 0);
    assert_int_equal(r.ack.n_sacks, 0);
    assert_int_equal(arrives(&r, 1000, XOFF_REL_MARKED, 11 * XOFF_US), 1);
    assert_int_equal(r.ack.n_marked, 1);
    assert_true(r.ack.echo);
    assert_true(r.rx->deadline == XOFF_NEVER);
}

static void receiver_answers_a_gap_once(void **unused)
{
    (void)unused;
    struct rig r;
    setup(&r, 1);
    arrives(&r, 0, 0, 10);
    assert_int_equal(arrives(&r, 2000, XOFF_REL_MARKED, 20), 1); /* 1000 is missing */
    assert_true(r.ack.is_nack && r.ack.echo);
    assert_int_equal(r.ack.acked_to, 1000);
    assert_int_equal(r.ack.n_frames, 1);
    assert_int_equal(arrives(&r, 3000, 0, 30), 0);
    assert_int_equal(arrives(&r, 1001, 0, 31), 0);
    assert_int_equal(r.rx->delivered, 1000); /* all thrown away */
    /* Repeated data is acknowledged again, and the gap causes no second NACK. */
    assert_int_equal(arrives(&r, 0, 0, 40), 1);
    assert_true(!r.ack.is_nack && r.ack.acked_to == 1000);
    assert_int_equal(arrives(&r, 999, 0, 41), 1);
    assert_false(r.ack.is_nack);
    assert_int_equal(arrives(&r, 2000, 0, 42), 0);
    /* Filled; the next gap has its own NACK. */
    assert_int_equal(arrives(&r, 1000, 0, 50), 1);
    assert_false(r.ack.is_nack);
    assert_int_equal(arrives(&r, 3000, 0, 60), 1);
    assert_true(r.ack.is_nack && r.ack.acked_to == 2000);
}

/* Every third frame, and one that asks. */
static void acks_are_gathered(void **unused)
{
    (void)unused;
    struct rig r;
    setup(&r, 3);
    assert_int_equal(arrives(&r, 0, XOFF_REL_MARKED, 10 * XOFF_US), 0);
    assert_true(r.rx->deadline == 10 * XOFF_US + DELAY);
    assert_int_equal(arrives(&r, 1000, 0, 12 * XOFF_US), 0);
    assert_true(r.rx->deadline == 10 * XOFF_US + DELAY); /* from the first */
    assert_int_equal(arrives(&r, 2000, XOFF_REL_MARKED, 13 * XOFF_US), 1);
    assert_int_equal(r.ack.acked_to, 3000);
    assert_int_equal(r.ack.n_frames, 3);
    assert_int_equal(r.ack.n_marked, 2);
    assert_true(r.ack.sent_at == 12 * XOFF_US);
    assert_true(r.rx->deadline == XOFF_NEVER);
    assert_int_equal(arrives(&r, 3000, XOFF_REL_ASKS, 14 * XOFF_US), 1);
    assert_int_equal(r.ack.n_frames, 1);
    assert_int_equal(r.ack.n_marked, 0);
}

static void held_ack_comes_at_last(void **unused)
{
    (void)unused;
    struct rig r;
    setup(&r, 3);
    arrives(&r, 0, 0, 10 * XOFF_US);
    arrives(&r, 1000, XOFF_REL_MARKED, 12 * XOFF_US);
    xoff_rel_expire_rx(&r.rel, r.rx, NULL, &r.ack);
    assert_int_equal(r.ack.acked_to, 2000);
    assert_int_equal(r.ack.n_frames, 2);
    assert_int_equal(r.ack.n_marked, 1);
    assert_true(r.ack.echo && !r.ack.is_nack);
    assert_true(r.ack.sent_at == 11 * XOFF_US); /* of the last frame */
    assert_true(r.rx->deadline == XOFF_NEVER);
    /* Counting starts anew. */
    assert_int_equal(arrives(&r, 2000, 0, 40 * XOFF_US), 0);
    assert_true(r.rx->deadline == 40 * XOFF_US + DELAY);
    assert_int_equal(arrives(&r, 3000, 0, 41 * XOFF_US), 0);
    assert_int_equal(arrives(&r, 4000, 0, 42 * XOFF_US), 1);
}

static void late_data_is_acknowledged(void **unused)
{
    (void)unused;
    struct rig r;
    setup(&r, 3);
    const struct xoff_rel_data data = {
        .seq = 7000, .bytes = FRAME, .sent_at = 5, .bits = XOFF_REL_MARKED};
    assert_true(xoff_rel_on_late(&r.rel, &data, &r.ack));
    assert_int_equal(r.ack.acked_to, 8000);
    assert_int_equal(r.ack.n_frames, 1);
    assert_int_equal(r.ack.n_marked, 1);
    assert_true(r.ack.echo && !r.ack.is_nack && r.ack.sent_at == 5);
}

/* Six frames, the third is lost on its way: the NACK comes back after a round trip of 10 us, and
 * the sender repeats from there on what it has sent by then. A frame takes 1 us.
 *
 *   sent         0 1 2 3 4 5 | at 14 us: NACK(2)     | 2 3 4 5
 *   answered     A A - N - - |                       | A A A A
 */
static void worked_example(void **unused)
{
    (void)unused;
    struct rig r;
    setup(&r, 1);
    assert_int_equal(send_all(&r, 6000, UINT64_MAX, 0), 6);
    static const char answers[] = "AA-N--";
    struct xoff_rel_ack acks[6];
    for (uint64_t i = 0; i < 6; i++) {
        const uint32_t n = i == 2 ? 0 : arrives(&r, i * FRAME, 0, (xoff_time)(6 + i) * XOFF_US);
        assert_int_equal(answers[i] != '-', n);
        acks[i] = r.ack;
        if (n)
            assert_int_equal(answers[i] == 'N', r.ack.is_nack);
    }
    xoff_rel_on_ack(&r.rel, &r.tx, NULL, &acks[0], 0, 11 * XOFF_US);
    xoff_rel_on_ack(&r.rel, &r.tx, NULL, &acks[1], 0, 12 * XOFF_US);
    assert_int_equal(xoff_rel_on_ack(&r.rel, &r.tx, NULL, &acks[3], 0, 14 * XOFF_US),
                     XOFF_REL_LOST);
    assert_int_equal(r.tx.next, 2000);
    assert_int_equal(send_all(&r, 6000, UINT64_MAX, 14 * XOFF_US), 4);
    for (uint64_t i = 2; i < 6; i++) {
        assert_int_equal(arrives(&r, i * FRAME, 0, (xoff_time)(18 + i) * XOFF_US), 1);
        assert_int_equal(
            xoff_rel_on_ack(&r.rel, &r.tx, NULL, &r.ack, 0, (xoff_time)(23 + i) * XOFF_US), 0);
    }
    assert_int_equal(r.tx.una, 6000);
    assert_true(r.tx.deadline == XOFF_NEVER);
}

/* The shortcuts xoff_rel_advance and xoff_rel_take do what the calls do: of two flows with the same
 * random history, one always uses the calls. */
static void shortcuts_are_what_calls_do(void **unused)
{
    (void)unused;
    const uint64_t seed = 20240611;
    print_message("seed %llu\n", (unsigned long long)seed);
    struct xoff_rng rng;
    xoff_rng_init(&rng, seed, 0, 0);
    uint32_t n_advanced = 0, n_taken = 0;
    for (uint32_t ack_every = 1; ack_every <= 2; ack_every++) {
        struct rig asked, quick;
        setup(&asked, ack_every);
        setup(&quick, ack_every);
        for (xoff_time now = 1; now <= 20000; now++) {
            const uint64_t at = xoff_rng_below(&rng, 6), base = asked.tx.una;
            const struct xoff_rel_ack ack = {.acked_to = base + at * FRAME / 2,
                                             .is_nack = xoff_rng_below(&rng, 8) == 0};
            send_all(&asked, base + 5 * FRAME, 4 * FRAME, now);
            send_all(&quick, base + 5 * FRAME, 4 * FRAME, now);
            if (ack.acked_to <= asked.tx.sent_to) {
                xoff_rel_on_ack(&asked.rel, &asked.tx, NULL, &ack, 0, now);
                const bool has =
                    !ack.is_nack && xoff_rel_advance(&quick.rel, &quick.tx, ack.acked_to, now);
                n_advanced += has;
                if (!has)
                    xoff_rel_on_ack(&quick.rel, &quick.tx, NULL, &ack, 0, now);
            }
            if (xoff_rng_below(&rng, 16) == 0 && asked.tx.deadline != XOFF_NEVER) {
                xoff_rel_expire(&asked.rel, &asked.tx, NULL, now);
                xoff_rel_expire(&quick.rel, &quick.tx, NULL, now);
            }
            assert_memory_equal(&asked.tx, &quick.tx, sizeof asked.tx);

            const int64_t off = (int64_t)xoff_rng_below(&rng, 4) - 1;
            const uint64_t next = asked.rx->delivered;
            const uint64_t seq = off < 0 && !next ? 0 : next + (uint64_t)(off * FRAME);
            const uint32_t bits = xoff_rng_below(&rng, 4) ? 0 : XOFF_REL_MARKED;
            const uint32_t n = arrives(&asked, seq, bits, now);
            if (xoff_rel_take(quick.rx, seq, FRAME, now - XOFF_US, bits, &quick.ack)) {
                n_taken++;
                assert_int_equal(n, 1);
            } else {
                assert_int_equal(arrives(&quick, seq, bits, now), n);
            }
            assert_memory_equal(asked.rx_state, quick.rx_state, asked.rel.shape.rx_size);
            if (n)
                assert_memory_equal(&asked.ack, &quick.ack,
                                    offsetof(struct xoff_rel_ack, echo) + 1);
        }
    }
    assert_true(n_advanced > 1000 && n_taken > 1000);
}

static void refusals(void **unused)
{
    (void)unused;
    static const struct {
        xoff_time timeout_for, ack_delay;
        uint32_t ack_every;
        int code;
    } rows[] = {{1, 1, 1, 0},
                {1, 1, 255, 0},
                {0, 1, 1, -XOFF_E_RANGE},
                {1, 0, 1, -XOFF_E_RANGE},
                {1, 1, 0, -XOFF_E_RANGE},
                {1, 1, 256, -XOFF_E_RANGE}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct xoff_rel_env env = {.payload_bytes = FRAME,
                                         .timeout_for = rows[i].timeout_for,
                                         .ack_delay = rows[i].ack_delay,
                                         .ack_every = rows[i].ack_every};
        _Alignas(16) unsigned char cfg[64];
        struct xoff_rel_shape shape = {0};
        struct xoff_err err;
        assert_int_equal(xoff_rel_go_back_n.configure(NULL, &env, cfg, &shape, &err), rows[i].code);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sends_within_window_and_end),
        cmocka_unit_test(timer_of_the_sender),
        cmocka_unit_test(timeout_goes_back),
        cmocka_unit_test(late_ack_moves_the_sender_on),
        cmocka_unit_test(nack_goes_back_once),
        cmocka_unit_test(nack_of_everything),
        cmocka_unit_test(receiver_takes_in_order),
        cmocka_unit_test(receiver_answers_a_gap_once),
        cmocka_unit_test(acks_are_gathered),
        cmocka_unit_test(held_ack_comes_at_last),
        cmocka_unit_test(late_data_is_acknowledged),
        cmocka_unit_test(worked_example),
        cmocka_unit_test(shortcuts_are_what_calls_do),
        cmocka_unit_test(refusals),
    };
    return cmocka_run_group_tests_name("go_back_n", tests, NULL, NULL);
}
