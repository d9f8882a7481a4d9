/* TCP's sender by worked traces. Segments have 1000 bytes and are written by number: segment 3 is
 * bytes 3000 to 3999, "ack 3" expects it next, "sack 5-7" has segments 5 and 6. A trace ends with
 * what the sender must do after each ACK. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "mech/rel/tcp.h"
#include <xoff/rng.h>

#define N_BLOCKS 256
#define MSS 1000

struct sender {
    struct xoff_tcp_cfg cfg;
    struct xoff_tcp_tx tx;
    struct xoff_range blocks[N_BLOCKS];
    struct xoff_range_store store;
    uint64_t offered, window; /* segments */
    xoff_time now;
};

static void setup(struct sender *s, uint64_t offered, uint64_t window)
{
    *s = (struct sender){.cfg = {.has_sack = true,
                                 .has_fast_retransmit = true,
                                 .duplicates = 3,
                                 .rto_min = XOFF_MS,
                                 .rto_max = 60 * XOFF_S,
                                 .rto_initial = 10 * XOFF_MS,
                                 .mss = MSS},
                         .offered = offered,
                         .window = window};
    xoff_range_store_init(&s->store, s->blocks, N_BLOCKS);
    xoff_tcp_tx_init(&s->cfg, &s->tx);
}

static bool next(const struct sender *s, struct xoff_rel_segment *segment)
{
    return xoff_tcp_next(&s->cfg, &s->tx, &s->store, s->offered * MSS, s->window * MSS, segment);
}

/* Sends all that it may, which must be these segments; again: whether they are retransmissions. */
static void assert_sends(struct sender *s, bool again, const uint64_t *numbers, uint32_t n)
{
    struct xoff_rel_segment segment;
    for (uint32_t i = 0; i < n; i++) {
        assert_true(next(s, &segment));
        assert_int_equal(segment.seq, numbers[i] * MSS);
        assert_int_equal(segment.bytes, MSS);
        assert_int_equal(segment.is_again, again);
        xoff_tcp_on_sent(&s->cfg, &s->tx, &segment, s->now);
    }
}

#define ASSERT_SENDS(s, ...)                                \
    assert_sends(s, false, (const uint64_t[]){__VA_ARGS__}, \
                 (uint32_t)(sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t)))
#define ASSERT_SENDS_AGAIN(s, ...)                         \
    assert_sends(s, true, (const uint64_t[]){__VA_ARGS__}, \
                 (uint32_t)(sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t)))

static void assert_silent(const struct sender *s)
{
    struct xoff_rel_segment segment;
    assert_false(next(s, &segment));
}

/* New segments `from` to `to` - 1, and then nothing more. */
static void send_new(struct sender *s, uint64_t from, uint64_t to)
{
    for (uint64_t i = from; i < to; i++)
        assert_sends(s, false, &i, 1);
    assert_silent(s);
}

static struct xoff_tcp_outcome on_ack(struct sender *s, uint64_t acked_to, const uint64_t *sacks,
                                      uint32_t n_sacks)
{
    struct xoff_rel_ack ack = {.acked_to = acked_to * MSS, .n_sacks = (uint8_t)n_sacks};
    for (uint32_t i = 0; i < n_sacks; i++) {
        ack.sack_from[i] = sacks[2 * i] * MSS;
        ack.sack_to[i] = sacks[2 * i + 1] * MSS;
    }
    return xoff_tcp_on_ack(&s->cfg, &s->tx, &s->store, &ack, 0, s->now);
}

#define ACK(s, acked_to) on_ack(s, acked_to, NULL, 0)
#define SACK(s, acked_to, ...)                           \
    on_ack(s, acked_to, (const uint64_t[]){__VA_ARGS__}, \
           (uint32_t)(sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t) / 2))

static uint64_t outstanding(const struct sender *s)
{
    return xoff_tcp_outstanding(&s->tx);
}

static void timeout(struct sender *s)
{
    s->now = s->tx.head.deadline;
    xoff_tcp_on_timeout(&s->cfg, &s->tx, &s->store, s->now);
}

static void finish(struct sender *s)
{
    xoff_tcp_tx_fini(&s->tx, &s->store);
    assert_int_equal(s->store.n_taken, 0);
}

/* Window and offer, both sides. A last short segment is sent as it is; one that does not fit waits
 * for room; a window below a segment lets its size go, but only alone. */
static void window_and_offer(void **unused)
{
    (void)unused;
    struct sender s;
    struct xoff_rel_segment segment;
    setup(&s, 0, 10);
    assert_silent(&s);
    assert_true(s.tx.head.deadline == XOFF_NEVER);
    s.offered = 4, s.window = 3;
    send_new(&s, 0, 3);
    assert_int_equal(outstanding(&s), 3000);
    assert_int_equal(ACK(&s, 1).newly_acked_bytes, 1000);
    assert_true(xoff_tcp_next(&s.cfg, &s.tx, &s.store, 3001, 3000, &segment));
    assert_int_equal(segment.bytes, 1);
    assert_true(xoff_tcp_next(&s.cfg, &s.tx, &s.store, 4000, 3000, &segment));
    assert_int_equal(segment.bytes, 1000);
    assert_false(xoff_tcp_next(&s.cfg, &s.tx, &s.store, 4000, 2999, &segment));
    assert_false(xoff_tcp_next(&s.cfg, &s.tx, &s.store, 3001, 2000, &segment));
    assert_true(xoff_tcp_next(&s.cfg, &s.tx, &s.store, 3001, 2001, &segment));
    ACK(&s, 3);
    assert_true(s.tx.head.deadline == XOFF_NEVER);
    assert_true(xoff_tcp_next(&s.cfg, &s.tx, &s.store, 9000, 999, &segment));
    assert_int_equal(segment.bytes, 999);
    assert_false(xoff_tcp_next(&s.cfg, &s.tx, &s.store, 9000, 0, &segment));
    segment.bytes = 10; /* the caller may cut it */
    xoff_tcp_on_sent(&s.cfg, &s.tx, &segment, 0);
    assert_int_equal(s.tx.head.sent_to, 3010);
    assert_false(xoff_tcp_next(&s.cfg, &s.tx, &s.store, 9000, 999, &segment));
}

/* Segment 2 is lost; window 10, then 5 from the loss on.
 *   ack 2                      2..9 in the network (8): 10, 11
 *   sack 3-4                   limited transmit: 12
 *   sack 3-5                   13
 *   sack 3-6   3 above: lost   in the network 14 - 2 - 3 - 1 = 8, above the window, yet 2 goes
 *   sack 3-7 .. 3-10           9 - 1 .. 9 - 4 = 5: the window is full
 *   sack 3-11                  4: new 14
 *   ack 11                     2 arrived, 14 was the recovery point: still recovering
 *                              in the network 15 - 11 = 4: 15
 *   ack 14                     over; in the network 14, 15: 16, 17, 18 */
static void single_loss_with_sack(void **unused)
{
    (void)unused;
    struct sender s;
    struct xoff_tcp_outcome outcome;
    setup(&s, 100, 10);
    send_new(&s, 0, 10);
    ACK(&s, 2);
    send_new(&s, 10, 12);
    outcome = SACK(&s, 2, 3, 4);
    assert_false(outcome.has_lost);
    send_new(&s, 12, 13);
    SACK(&s, 2, 3, 5);
    send_new(&s, 13, 14);
    assert_int_equal(s.tx.n_duplicates, 2);
    outcome = SACK(&s, 2, 3, 6);
    assert_true(outcome.has_lost);
    assert_true(outcome.is_recovering);
    assert_int_equal(outcome.newly_acked_bytes, 0);
    assert_int_equal(outstanding(&s), 8000);
    s.window = 5;
    ASSERT_SENDS_AGAIN(&s, 2);
    assert_silent(&s);
    assert_int_equal(outstanding(&s), 9000);
    for (uint64_t to = 7; to <= 10; to++) {
        outcome = SACK(&s, 2, 3, to);
        assert_false(outcome.has_lost); /* told once */
        assert_true(outcome.is_recovering);
        assert_silent(&s);
    }
    SACK(&s, 2, 3, 11);
    send_new(&s, 14, 15);
    outcome = ACK(&s, 11);
    assert_int_equal(outcome.newly_acked_bytes, 9000);
    assert_true(outcome.is_recovering);
    send_new(&s, 15, 16);
    outcome = ACK(&s, 14);
    assert_false(outcome.is_recovering);
    send_new(&s, 16, 19);
    finish(&s);
}

/* The same without SACK: duplicates are counted, each stands for one segment.
 *   ack 2                  10, 11
 *   dup 1, 2               limited transmit: 12, 13
 *   dup 3: lost            in the network 12 - 3 - 1 = 8; 2 goes: 9
 *   dup 4 .. 7             8 .. 5
 *   dup 8                  4: new 14
 *   ack 14: all that was sent before the loss; in the network 14: 15 .. 18 */
static void single_loss_without_sack(void **unused)
{
    (void)unused;
    struct sender s;
    setup(&s, 100, 10);
    s.cfg.has_sack = false;
    send_new(&s, 0, 10);
    ACK(&s, 2);
    send_new(&s, 10, 12);
    assert_false(ACK(&s, 2).has_lost);
    send_new(&s, 12, 13);
    assert_false(ACK(&s, 2).has_lost);
    send_new(&s, 13, 14);
    assert_true(ACK(&s, 2).has_lost);
    assert_int_equal(outstanding(&s), 8000);
    s.window = 5;
    ASSERT_SENDS_AGAIN(&s, 2);
    assert_silent(&s);
    for (int i = 4; i <= 7; i++) {
        assert_false(ACK(&s, 2).has_lost);
        assert_silent(&s);
    }
    ACK(&s, 2);
    send_new(&s, 14, 15);
    const struct xoff_tcp_outcome outcome = ACK(&s, 14);
    assert_false(outcome.is_recovering);
    assert_int_equal(outcome.newly_acked_bytes, 12000);
    assert_int_equal(outstanding(&s), 1000);
    send_new(&s, 15, 19);
}

/* Segments 0 and 2 of 8 are lost, no SACK: the partial ACK shows the second loss (RFC 6582).
 *   1, 3 .. 7 arrive: 6 duplicates; lost at the third, 0 goes. In the network 8 - 6 = 2
 *   ack 2: 2000 bytes, one segment of them was sent again: 5 duplicates stay, in the network 6 - 5
 *   less the hole: 0. Segment 2 goes
 *   ack 8: over. Duplicates at 8 begin nothing, for 8 is not above the recovery point; at 9 they
 *   do */
static void newreno_partial_ack(void **unused)
{
    (void)unused;
    struct sender s;
    setup(&s, 8, 8);
    s.cfg.has_sack = false;
    send_new(&s, 0, 8);
    for (int i = 1; i <= 6; i++) {
        const struct xoff_tcp_outcome outcome = ACK(&s, 0);
        assert_int_equal(outcome.has_lost, i == 3);
        if (i == 3)
            ASSERT_SENDS_AGAIN(&s, 0);
        assert_silent(&s);
    }
    assert_int_equal(outstanding(&s), 2000);
    s.window = 1;
    struct xoff_tcp_outcome outcome = ACK(&s, 2);
    assert_false(outcome.has_lost);
    assert_true(outcome.is_recovering);
    assert_int_equal(outcome.newly_acked_bytes, 2000);
    assert_int_equal(outstanding(&s), 0);
    ASSERT_SENDS_AGAIN(&s, 2);
    assert_silent(&s);
    assert_int_equal(outstanding(&s), 1000);
    outcome = ACK(&s, 8);
    assert_false(outcome.is_recovering);

    s.offered = 20, s.window = 6;
    send_new(&s, 8, 14);
    ACK(&s, 8);
    ACK(&s, 8);
    send_new(&s, 14, 16);
    assert_false(ACK(&s, 8).has_lost);
    assert_false(ACK(&s, 8).has_lost);
    assert_silent(&s); /* limited transmit: two, and no more */
    ACK(&s, 9);
    assert_false(ACK(&s, 9).has_lost);
    assert_false(ACK(&s, 9).has_lost);
    assert_true(ACK(&s, 9).has_lost);
    ACK(&s, 9), ACK(&s, 9), ACK(&s, 9);
}

/* A burst: 1, 2, 4 of 12 are lost, nothing new to send, window 12. The figures after each SACK:
 *   ack 1
 *   sack 3-4                     1 range
 *   sack 5-6, 3-4                2 ranges, 2 segments: nothing lost
 *   sack 5-7, 3-4                3 segments above 1 and 2: lost; above 4 are only 2
 *   -> 1, 2 again; then 4 too, for there is nothing new (NextSeg rule 3)
 *   sack 5-8 .. 5-12, 3-4        nothing more
 *   ack 2: 1 arrived             nothing; ack 4; ack 12: over */
static void burst_with_sack(void **unused)
{
    (void)unused;
    struct sender s;
    setup(&s, 12, 12);
    send_new(&s, 0, 12);
    ACK(&s, 1);
    assert_false(SACK(&s, 1, 3, 4).has_lost);
    assert_false(SACK(&s, 1, 5, 6, 3, 4).has_lost);
    assert_silent(&s);
    assert_true(SACK(&s, 1, 5, 7, 3, 4).has_lost);
    assert_int_equal(s.tx.lost_to, 3000);
    assert_int_equal(s.tx.lost_bytes, 2000);
    assert_int_equal(outstanding(&s), 11000 - 3000 - 2000);
    ASSERT_SENDS_AGAIN(&s, 1, 2);
    assert_int_equal(outstanding(&s), 8000);
    ASSERT_SENDS_AGAIN(&s, 4);
    assert_silent(&s);
    for (uint64_t to = 8; to <= 12; to++) {
        SACK(&s, 1, 5, to, 3, 4);
        assert_silent(&s);
    }
    assert_int_equal(outstanding(&s), 3000); /* 1, 2, 4 on their way again */
    assert_true(SACK(&s, 2, 5, 12, 3, 4).is_recovering);
    assert_silent(&s);
    assert_true(SACK(&s, 4, 5, 12).is_recovering);
    assert_silent(&s);
    assert_false(ACK(&s, 12).is_recovering);
    assert_true(s.tx.head.deadline == XOFF_NEVER);
    finish(&s);
}

/* `duplicates` separate ranges make a loss however short they are; one less does not. Bytes: more
 * than 2 segments do. */
static void both_sides_of_lost(void **unused)
{
    (void)unused;
    struct sender s;
    struct xoff_rel_ack ack = {
        .n_sacks = 2, .sack_from = {2000, 4000, 6000}, .sack_to = {2001, 4001, 6001}};
    setup(&s, 20, 20);
    send_new(&s, 0, 20);
    assert_false(xoff_tcp_on_ack(&s.cfg, &s.tx, &s.store, &ack, 0, 0).has_lost);
    ack.n_sacks = 3;
    assert_true(xoff_tcp_on_ack(&s.cfg, &s.tx, &s.store, &ack, 0, 0).has_lost);
    assert_int_equal(s.tx.lost_to, 2000);

    setup(&s, 20, 20);
    send_new(&s, 0, 20);
    ack = (struct xoff_rel_ack){.n_sacks = 1, .sack_from = {5000}, .sack_to = {7000}};
    assert_false(xoff_tcp_on_ack(&s.cfg, &s.tx, &s.store, &ack, 0, 0).has_lost);
    ack.sack_to[0] = 7001;
    assert_true(xoff_tcp_on_ack(&s.cfg, &s.tx, &s.store, &ack, 0, 0).has_lost);
    assert_int_equal(s.tx.lost_to, 5000);
    ASSERT_SENDS_AGAIN(&s, 0, 1, 2, 3, 4);

    /* Three duplicates with little in them: the first segment alone. */
    setup(&s, 20, 20);
    send_new(&s, 0, 20);
    for (uint64_t to = 5001; to <= 5003; to++) {
        ack = (struct xoff_rel_ack){.n_sacks = 1, .sack_from = {5000}, .sack_to = {to}};
        assert_int_equal(xoff_tcp_on_ack(&s.cfg, &s.tx, &s.store, &ack, 0, 0).has_lost, to == 5003);
        xoff_tcp_on_ack(&s.cfg, &s.tx, &s.store, &ack, 0, 0); /* says nothing new: no duplicate */
    }
    assert_int_equal(s.tx.lost_to, 1000);
}

/* Segments 3 and 9, the last, of 10 are lost. Nothing new to send.
 *   sack 4-7: 3 again. The tail 7, 8, 9 is as yet only on its way: no rescue.
 *   sack 4-9; ack 9: 3 arrived. Still recovering: 9 is sent again, once (NextSeg rule 4)
 *   ack 10 */
static void tail_rescued(void **unused)
{
    (void)unused;
    struct sender s;
    setup(&s, 10, 10);
    send_new(&s, 0, 10);
    ACK(&s, 3);
    assert_true(SACK(&s, 3, 4, 7).has_lost);
    ASSERT_SENDS_AGAIN(&s, 3);
    assert_silent(&s);
    SACK(&s, 3, 4, 9);
    assert_silent(&s);
    assert_true(ACK(&s, 9).is_recovering);
    ASSERT_SENDS_AGAIN(&s, 9);
    assert_silent(&s);
    assert_int_equal(outstanding(&s), 1000);
    assert_false(ACK(&s, 10).is_recovering);

    /* Each recovery has its own rescue. */
    s.offered = 20;
    send_new(&s, 10, 20);
    assert_true(SACK(&s, 10, 11, 15).has_lost);
    ASSERT_SENDS_AGAIN(&s, 10);
    assert_silent(&s);
    ACK(&s, 19);
    ASSERT_SENDS_AGAIN(&s, 19);
    assert_silent(&s);

    /* Two of the tail are lost: the last is sent, its SACK shows the other. */
    setup(&s, 10, 10);
    send_new(&s, 0, 10);
    ACK(&s, 3);
    SACK(&s, 3, 4, 7);
    ASSERT_SENDS_AGAIN(&s, 3);
    SACK(&s, 3, 4, 8);
    ACK(&s, 8);
    ASSERT_SENDS_AGAIN(&s, 9);
    assert_silent(&s);
    SACK(&s, 8, 9, 10);
    ASSERT_SENDS_AGAIN(&s, 8);
    assert_silent(&s);
    finish(&s);
}

/* The last two of 5 are lost: no duplicates, the timer finds it. The ACK of 3 came at 20 us, the
 * timer is the initial one of 10 ms. It doubles, and a new ACK takes the doubling back. */
static void tail_by_timer(void **unused)
{
    (void)unused;
    struct sender s;
    setup(&s, 5, 10);
    send_new(&s, 0, 5);
    assert_true(s.tx.head.deadline == 10 * XOFF_MS);
    s.now = 20 * XOFF_US;
    ACK(&s, 3);
    assert_true(s.tx.head.deadline == 20 * XOFF_US + 10 * XOFF_MS);
    assert_silent(&s);
    timeout(&s);
    assert_int_equal(outstanding(&s), 0);
    assert_true(s.tx.head.deadline == s.now + 20 * XOFF_MS);
    s.window = 1;
    ASSERT_SENDS_AGAIN(&s, 3);
    assert_silent(&s);
    s.now += 20 * XOFF_US;
    const struct xoff_tcp_outcome outcome = ACK(&s, 4);
    assert_false(outcome.is_recovering); /* slow start: the window must grow */
    assert_int_equal(s.tx.state, XOFF_TCP_REPAIRING);
    assert_true(s.tx.head.deadline == s.now + 10 * XOFF_MS);
    ASSERT_SENDS_AGAIN(&s, 4);
    ACK(&s, 5);
    assert_int_equal(s.tx.state, XOFF_TCP_OPEN);
    assert_true(s.tx.head.deadline == XOFF_NEVER);
}

/* Segment 0 is lost and so is its retransmission: the timer, and only what is missing goes.
 *   sack 1-4: 0 again, at 1 ms: the timer is at 11 ms
 *   sack 1-6, 7-10: 6 again at once, for there is nothing new; nothing else ever for 0
 *   timer: 0 and 6 again
 *   ack 6: 0 arrived; ack 10 */
static void lost_retransmission(void **unused)
{
    (void)unused;
    struct sender s;
    setup(&s, 10, 10);
    send_new(&s, 0, 10);
    s.now = XOFF_MS;
    assert_true(SACK(&s, 0, 1, 4).has_lost);
    ASSERT_SENDS_AGAIN(&s, 0);
    assert_true(s.tx.head.deadline == 11 * XOFF_MS);
    s.now = 2 * XOFF_MS;
    SACK(&s, 0, 1, 6);
    SACK(&s, 0, 7, 10, 1, 6);
    ASSERT_SENDS_AGAIN(&s, 6);
    assert_silent(&s);
    assert_true(s.tx.head.deadline == 11 * XOFF_MS); /* it is for 0 */
    timeout(&s);
    assert_int_equal(s.tx.lost_bytes, 2000);
    assert_int_equal(outstanding(&s), 0);
    ASSERT_SENDS_AGAIN(&s, 0, 6);
    assert_silent(&s);
    ACK(&s, 6);
    assert_silent(&s);
    ACK(&s, 10);
    assert_int_equal(s.tx.state, XOFF_TCP_OPEN);
    finish(&s);
}

/* After a timeout without SACK all is sent again in order, and duplicates of what had arrived begin
 * no recovery, during the repair or after it. */
static void go_back_without_sack(void **unused)
{
    (void)unused;
    struct sender s;
    setup(&s, 6, 6);
    s.cfg.has_sack = false;
    send_new(&s, 0, 6);
    timeout(&s);
    ASSERT_SENDS_AGAIN(&s, 0, 1, 2, 3, 4, 5);
    assert_silent(&s);
    ACK(&s, 2);
    for (int i = 0; i < 5; i++)
        assert_false(ACK(&s, 2).has_lost);
    assert_silent(&s);
    timeout(&s);
    s.window = 2;
    ASSERT_SENDS_AGAIN(&s, 2, 3);
    assert_silent(&s);
    ACK(&s, 4);
    ASSERT_SENDS_AGAIN(&s, 4, 5);
    ACK(&s, 6);
    s.offered = 8;
    send_new(&s, 6, 8);
    for (int i = 0; i < 5; i++)
        assert_false(ACK(&s, 6).has_lost);
    assert_silent(&s);
}

/* An ACK that passes what is still to be sent again: repair goes on above it. */
static void ack_overtakes_the_repair(void **unused)
{
    (void)unused;
    struct sender s;
    setup(&s, 8, 8);
    send_new(&s, 0, 8);
    timeout(&s);
    s.window = 1;
    ASSERT_SENDS_AGAIN(&s, 0);
    SACK(&s, 5, 6, 7);
    ASSERT_SENDS_AGAIN(&s, 5);
    SACK(&s, 5, 6, 7);
    assert_silent(&s);
    ACK(&s, 7);
    ASSERT_SENDS_AGAIN(&s, 7);
    s.window = 2;
    assert_silent(&s);
    finish(&s);
}

/* Segment 2 comes two late: two duplicates, then all is acknowledged. Nothing is sent again and
 * nothing told. One more would have been a loss (single_loss_with_sack). */
static void reordering_is_no_loss(void **unused)
{
    (void)unused;
    for (int sack = 0; sack < 2; sack++) {
        struct sender s;
        struct xoff_tcp_outcome outcome = {0};
        setup(&s, 100, 10);
        s.cfg.has_sack = sack;
        send_new(&s, 0, 10);
        ACK(&s, 2);
        send_new(&s, 10, 12);
        SACK(&s, 2, 3, 4);
        send_new(&s, 12, 13);
        SACK(&s, 2, 3, 5);
        send_new(&s, 13, 14);
        outcome = ACK(&s, 5);
        assert_false(outcome.has_lost);
        assert_false(outcome.is_recovering);
        assert_int_equal(s.tx.n_duplicates, 0);
        send_new(&s, 14, 15); /* 14 - 5 = 9 in the network: the extra two are paid back */
        finish(&s);
    }
}

/* ACKs that come late: the older one changes nothing but may SACK what is above una. */
static void late_ack(void **unused)
{
    (void)unused;
    struct sender s;
    setup(&s, 10, 10);
    send_new(&s, 0, 10);
    ACK(&s, 5);
    const xoff_time timeout_at = s.tx.head.deadline;
    s.now = 1;
    assert_int_equal(SACK(&s, 3, 4, 5).newly_acked_bytes, 0);
    assert_int_equal(s.tx.head.una, 5000);
    assert_int_equal(s.tx.sacked_bytes, 0);
    assert_true(s.tx.head.deadline == timeout_at);
    SACK(&s, 3, 4, 5, 7, 8);
    assert_int_equal(s.tx.sacked_bytes, 1000);
    s.cfg.has_sack = false;
    assert_int_equal(s.tx.n_duplicates, 1);
    ACK(&s, 4);
    assert_int_equal(s.tx.n_duplicates, 1); /* below una is no duplicate */
    finish(&s);
}

/* What is sent after a recovery began and is lost too is told anew.
 *   sack 1-4: 0 again, recovery point 10; in the network 10 - 3 = 7: new 10, 11, 12
 *   ack 10: over; 13 .. 19. Segment 10 is lost: sack 11-13 is too little, 11-14 a second loss.
 * Or the SACKs are there before the first recovery is over:
 *   sack 1-8: 4 more out: 13 .. 16. Then ack 10 with sack 11-15 ends one and begins the next. */
static void second_recovery(void **unused)
{
    (void)unused;
    struct sender s;
    setup(&s, 100, 10);
    send_new(&s, 0, 10);
    assert_true(SACK(&s, 0, 1, 4).has_lost);
    ASSERT_SENDS_AGAIN(&s, 0);
    send_new(&s, 10, 13);
    assert_false(ACK(&s, 10).is_recovering);
    send_new(&s, 13, 20);
    assert_false(SACK(&s, 10, 11, 13).has_lost);
    const struct xoff_tcp_outcome outcome = SACK(&s, 10, 11, 14);
    assert_true(outcome.has_lost);
    assert_true(outcome.is_recovering);
    finish(&s);

    setup(&s, 100, 10);
    send_new(&s, 0, 10);
    SACK(&s, 0, 1, 4);
    ASSERT_SENDS_AGAIN(&s, 0);
    send_new(&s, 10, 13);
    SACK(&s, 0, 1, 8);
    send_new(&s, 13, 17);
    const struct xoff_tcp_outcome both = SACK(&s, 10, 11, 15);
    assert_true(both.has_lost);
    assert_true(both.is_recovering);
    ASSERT_SENDS_AGAIN(&s, 10);
    finish(&s);
}

/* DeTail's sender. The window of 10 arrives in the order 9, 8, .. 1, each with its duplicate ACK:
 * nothing is sent, nothing told, and the window is as if they had not come. 0 comes last. */
static void detail_under_reordering(void **unused)
{
    (void)unused;
    struct sender s;
    setup(&s, 100, 10);
    s.cfg.has_fast_retransmit = false;
    send_new(&s, 0, 10);
    for (uint64_t i = 9; i >= 1; i--) {
        const struct xoff_tcp_outcome outcome = SACK(&s, 0, i, 10);
        assert_false(outcome.has_lost);
        assert_false(outcome.is_recovering);
        assert_int_equal(outstanding(&s), 10000);
        assert_silent(&s);
    }
    assert_int_equal(s.tx.n_duplicates, 0);
    assert_int_equal(s.tx.sacked_bytes, 9000);
    ACK(&s, 10);
    send_new(&s, 10, 20);

    /* Segment 12 is lost: the timer sends it alone, although the window is one segment. */
    SACK(&s, 12, 13, 20);
    send_new(&s, 20, 22);
    timeout(&s);
    s.window = 1;
    assert_int_equal(outstanding(&s), 0);
    ASSERT_SENDS_AGAIN(&s, 12);
    assert_silent(&s);
    SACK(&s, 20, 21, 22);
    ASSERT_SENDS_AGAIN(&s, 20);
    assert_silent(&s);
    ACK(&s, 22);
    assert_int_equal(s.tx.state, XOFF_TCP_OPEN);
    finish(&s);
}

/* RFC 6298. First sample 800 us: srtt 800, rttvar 400, rto 800 + 1600 = 2400 us.
 * Second 1600 us: rttvar 400 + (800 - 400) / 4 = 500, srtt 800 + 800 / 8 = 900, rto 2900 us.
 * Unknown: as before. Many of 100 us: rto_min. One of 10 ms after them: rttvar about 2475 us, srtt
 * about 1337.5 us, rto about 11.2 ms. */
static void timer_follows_the_rtt(void **unused)
{
    (void)unused;
    struct sender s;
    struct xoff_rel_ack ack = {0};
    setup(&s, 10000, 10);
    send_new(&s, 0, 10);
    ack.acked_to = 1000;
    xoff_tcp_on_ack(&s.cfg, &s.tx, &s.store, &ack, 800 * XOFF_US, 0);
    assert_true(s.tx.rto == 2400 * XOFF_US);
    assert_true(s.tx.head.deadline == 2400 * XOFF_US);
    ack.acked_to = 2000;
    xoff_tcp_on_ack(&s.cfg, &s.tx, &s.store, &ack, 1600 * XOFF_US, 5);
    assert_true(s.tx.srtt == 900 * XOFF_US);
    assert_true(s.tx.rttvar == 500 * XOFF_US);
    assert_true(s.tx.head.deadline == 5 + 2900 * XOFF_US);
    ack.acked_to = 3000;
    xoff_tcp_on_ack(&s.cfg, &s.tx, &s.store, &ack, 0, 6);
    assert_true(s.tx.head.deadline == 6 + 2900 * XOFF_US);
    for (int i = 0; i < 200; i++)
        xoff_tcp_on_ack(&s.cfg, &s.tx, &s.store, &ack, 100 * XOFF_US, 6);
    assert_true(s.tx.rto == XOFF_MS);
    xoff_tcp_on_ack(&s.cfg, &s.tx, &s.store, &ack, 10 * XOFF_MS, 6);
    assert_true(s.tx.rto > 11 * XOFF_MS && s.tx.rto < 12 * XOFF_MS);
    s.cfg.rto_max = 5 * XOFF_MS;
    xoff_tcp_on_ack(&s.cfg, &s.tx, &s.store, &ack, 10 * XOFF_MS, 6);
    assert_true(s.tx.rto == 5 * XOFF_MS);
}

/* 10, 20, 40 ms, then 60 ms by rto_max, for as long as it takes. */
static void backoff_ends(void **unused)
{
    (void)unused;
    struct sender s;
    setup(&s, 2, 2);
    s.cfg.rto_max = 60 * XOFF_MS;
    send_new(&s, 0, 2);
    for (int i = 0; i < 300; i++) {
        const xoff_time expected = i == 0 ? 20 : i == 1 ? 40 : 60;
        timeout(&s);
        assert_true(s.tx.head.deadline == s.now + expected * XOFF_MS);
        s.now += 7; /* sending una again restarts it */
        ASSERT_SENDS_AGAIN(&s, 0);
        assert_true(s.tx.head.deadline == s.now + expected * XOFF_MS);
        s.now += 7;
        ASSERT_SENDS_AGAIN(&s, 1);
        assert_true(s.tx.head.deadline == s.now - 7 + expected * XOFF_MS);
    }
    ACK(&s, 1);
    assert_true(s.tx.head.deadline == s.now + 10 * XOFF_MS);
}

/* Random SACKs from above una: every byte that is not SACKed is below lost_to just when IsLost(),
 * by the letter of RFC 6675 4, says so or once said so (three ranges can become one short one), or
 * when it is of the first segment. */
static void lost_by_the_letter(void **unused)
{
    (void)unused;
    enum { N_BYTES = 200 };
    for (uint64_t seed = 0; seed < 2000; seed++) {
        struct xoff_rng rng;
        struct sender s;
        bool map[N_BYTES + 1] = {0}, lost[N_BYTES] = {0}, was_open = true;
        xoff_rng_init(&rng, seed, 0, 0);
        setup(&s, 0, 0);
        s.cfg.mss = 10;
        s.cfg.duplicates = 1 + (uint32_t)xoff_rng_below(&rng, 5);
        const struct xoff_rel_segment all = {.seq = 0, .bytes = N_BYTES};
        xoff_tcp_on_sent(&s.cfg, &s.tx, &all, 0);
        for (int step = 0; step < 12; step++) {
            const uint64_t from = 1 + xoff_rng_below(&rng, N_BYTES - 1);
            const uint64_t length = 1 + xoff_rng_below(&rng, 15);
            const uint64_t to = from + length > N_BYTES ? N_BYTES : from + length;
            const struct xoff_rel_ack ack = {.n_sacks = 1, .sack_from = {from}, .sack_to = {to}};
            xoff_tcp_on_ack(&s.cfg, &s.tx, &s.store, &ack, 0, 0);
            for (uint64_t i = from; i < to; i++)
                map[i] = true;
            const bool is_recovering = s.tx.state == XOFF_TCP_RECOVERING;
            for (int i = 0; i < 10 && !map[i] && was_open && is_recovering; i++)
                lost[i] = true;
            was_open = !is_recovering;
            uint64_t n_ranges = 0, n_bytes = 0, n_lost = 0;
            for (int i = N_BYTES - 1; i >= 0; i--) {
                n_bytes += map[i];
                n_ranges += map[i] && !map[i + 1];
                lost[i] |= n_ranges >= s.cfg.duplicates || n_bytes > (s.cfg.duplicates - 1) * 10;
                n_lost += lost[i] && !map[i];
                if (!map[i])
                    assert_int_equal(is_recovering && (uint64_t)i < s.tx.lost_to, lost[i]);
            }
            assert_int_equal(s.tx.lost_bytes, n_lost);
            assert_int_equal(outstanding(&s), N_BYTES - n_bytes - n_lost);
        }
        finish(&s);
    }
}

/* Segments 1 and 2 of four are SACKed. A receiver that keeps nothing of a finished transfer
 * acknowledges segment 0, sent again, alone: what lies behind it is known to be there, so segment 3
 * is next; acknowledged in the same way it ends the transfer. */
static void sacked_behind_an_ack(void **state)
{
    (void)state;
    struct sender s;
    setup(&s, 4, 10);
    send_new(&s, 0, 4);
    const struct xoff_rel_ack first = {
        .acked_to = 0, .sack_from = {1 * MSS}, .sack_to = {3 * MSS}, .n_sacks = 1};
    xoff_tcp_on_ack(&s.cfg, &s.tx, &s.store, &first, XOFF_US, s.now);
    const struct xoff_rel_ack blind = {.acked_to = 1 * MSS};
    const struct xoff_tcp_outcome o =
        xoff_tcp_on_ack(&s.cfg, &s.tx, &s.store, &blind, XOFF_US, s.now);
    assert_int_equal(s.tx.head.una, 3 * MSS);
    assert_int_equal(o.newly_acked_bytes, 3 * MSS);
    assert_int_equal(s.tx.sacked_bytes, 0);
    assert_int_equal(s.store.n_taken, 0);
    const struct xoff_rel_ack last = {.acked_to = 4 * MSS};
    xoff_tcp_on_ack(&s.cfg, &s.tx, &s.store, &last, XOFF_US, s.now);
    assert_int_equal(s.tx.head.una, 4 * MSS);
    assert_true(s.tx.head.deadline == XOFF_NEVER);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(window_and_offer),
        cmocka_unit_test(single_loss_with_sack),
        cmocka_unit_test(single_loss_without_sack),
        cmocka_unit_test(newreno_partial_ack),
        cmocka_unit_test(burst_with_sack),
        cmocka_unit_test(both_sides_of_lost),
        cmocka_unit_test(tail_rescued),
        cmocka_unit_test(tail_by_timer),
        cmocka_unit_test(lost_retransmission),
        cmocka_unit_test(go_back_without_sack),
        cmocka_unit_test(ack_overtakes_the_repair),
        cmocka_unit_test(reordering_is_no_loss),
        cmocka_unit_test(late_ack),
        cmocka_unit_test(second_recovery),
        cmocka_unit_test(detail_under_reordering),
        cmocka_unit_test(timer_follows_the_rtt),
        cmocka_unit_test(backoff_ends),
        cmocka_unit_test(lost_by_the_letter),
        cmocka_unit_test(sacked_behind_an_ack),
    };
    return cmocka_run_group_tests_name("tcp_tx", tests, NULL, NULL);
}
