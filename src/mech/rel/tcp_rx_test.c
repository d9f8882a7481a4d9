/* TCP's receiver: when it acknowledges, what it names, how it echoes. Segments have 1000 bytes and
 * are written by number: segment 3 is bytes 3000 to 3999. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "mech/rel/tcp.h"
#include <xoff/rng.h>

#define N_BLOCKS 64

struct receiver {
    struct xoff_tcp_cfg cfg;
    struct xoff_tcp_rx rx;
    struct xoff_range blocks[N_BLOCKS];
    struct xoff_range_store store;
    struct xoff_rel_ack acks[2];
    uint32_t n_acks;
};

static void setup(struct receiver *r)
{
    *r = (struct receiver){.cfg = {.has_sack = true,
                                   .ack_every = 2,
                                   .delayed_ack = 100 * XOFF_US,
                                   .echo = XOFF_TCP_ECHO_RFC3168,
                                   .mss = 1000}};
    xoff_range_store_init(&r->store, r->blocks, N_BLOCKS);
    xoff_tcp_rx_init(&r->rx);
}

enum { MARKED = 1, REDUCED = 2, ASKS = 4 };

/* A whole segment arrives; returns how many ACKs go out at once. */
static uint32_t arrives(struct receiver *r, uint64_t number, int how, xoff_time now)
{
    r->n_acks =
        xoff_tcp_on_segment(&r->cfg, &r->rx, &r->store, number * 1000, 1000, (how & MARKED) != 0,
                            (how & REDUCED) != 0, (how & ASKS) != 0, now, r->acks);
    return r->n_acks;
}

/* The last ACK: `numbers` are its SACK blocks, from, to, ... */
static void assert_ack(const struct receiver *r, uint64_t acked_to, const uint64_t *numbers,
                       uint32_t n_sacks)
{
    assert_true(r->n_acks > 0);
    const struct xoff_rel_ack *ack = &r->acks[r->n_acks - 1];
    assert_int_equal(ack->acked_to, acked_to * 1000);
    assert_int_equal(ack->n_sacks, n_sacks);
    for (uint32_t i = 0; i < n_sacks; i++) {
        assert_int_equal(ack->sack_from[i], numbers[2 * i] * 1000);
        assert_int_equal(ack->sack_to[i], numbers[2 * i + 1] * 1000);
    }
}

#define ASSERT_ACK(r, acked_to, ...)                         \
    assert_ack(r, acked_to, (const uint64_t[]){__VA_ARGS__}, \
               (uint32_t)(sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t) / 2))
#define ASSERT_PLAIN_ACK(r, acked_to) assert_ack(r, acked_to, NULL, 0)

/* Every second segment at once; the first of a pair starts the clock and the second stops it. */
static void every_second_segment(void **unused)
{
    (void)unused;
    struct receiver r;
    setup(&r);
    assert_int_equal(arrives(&r, 0, 0, 5 * XOFF_US), 0);
    assert_true(r.rx.head.deadline == 105 * XOFF_US);
    assert_int_equal(arrives(&r, 1, 0, 6 * XOFF_US), 1);
    ASSERT_PLAIN_ACK(&r, 2);
    assert_true(r.rx.head.deadline == XOFF_NEVER);
    assert_int_equal(arrives(&r, 2, 0, 7 * XOFF_US), 0);
    assert_true(r.rx.head.deadline == 107 * XOFF_US);
}

/* ack_every 4: the deadline is that of the first segment that waits, not of the last; what comes a
 * moment before it waits no longer, what comes after the delayed ACK has a deadline of its own. */
static void delayed_both_sides(void **unused)
{
    (void)unused;
    struct receiver r;
    struct xoff_rel_ack ack;
    setup(&r);
    r.cfg.ack_every = 4;
    assert_int_equal(arrives(&r, 0, 0, 0), 0);
    assert_int_equal(arrives(&r, 1, 0, 100 * XOFF_US - 1), 0);
    assert_true(r.rx.head.deadline == 100 * XOFF_US);
    xoff_tcp_on_delayed(&r.cfg, &r.rx, &r.store, &ack);
    assert_int_equal(ack.acked_to, 2000);
    assert_true(r.rx.head.deadline == XOFF_NEVER);
    assert_int_equal(arrives(&r, 2, 0, 100 * XOFF_US + 1), 0);
    assert_true(r.rx.head.deadline == 200 * XOFF_US + 1);
    assert_int_equal(arrives(&r, 3, 0, 101 * XOFF_US), 0);
    assert_int_equal(arrives(&r, 4, 0, 101 * XOFF_US), 0);
    assert_int_equal(arrives(&r, 5, 0, 101 * XOFF_US), 1); /* the fourth since the ACK */
    ASSERT_PLAIN_ACK(&r, 6);
}

static void no_delay(void **unused)
{
    (void)unused;
    struct receiver r;
    setup(&r);
    r.cfg.delayed_ack = 0;
    for (uint64_t i = 0; i < 3; i++)
        assert_int_equal(arrives(&r, i, 0, 0), 1);
    setup(&r);
    r.cfg.ack_every = 1;
    for (uint64_t i = 0; i < 3; i++)
        assert_int_equal(arrives(&r, i, 0, 0), 1);
    ASSERT_PLAIN_ACK(&r, 3);
}

static void asking(void **unused)
{
    (void)unused;
    struct receiver r;
    setup(&r);
    assert_int_equal(arrives(&r, 0, ASKS, 0), 1);
    ASSERT_PLAIN_ACK(&r, 1);
    assert_int_equal(arrives(&r, 1, 0, 0), 0); /* the count begins anew */
    assert_int_equal(arrives(&r, 2, 0, 0), 1);
}

/* 0, then 2, 4, 3, 2 again, 1, 5, 0 again: beyond the gap at once, part of it filled, duplicate
 * beyond the gap, gap filled, then delayed as before, duplicate below. */
static void out_of_order(void **unused)
{
    (void)unused;
    struct receiver r;
    setup(&r);
    assert_int_equal(arrives(&r, 0, 0, 0), 0);
    assert_int_equal(arrives(&r, 2, 0, 0), 1);
    ASSERT_ACK(&r, 1, 2, 3);
    assert_true(r.rx.head.deadline == XOFF_NEVER); /* segment 0 went with it */
    assert_int_equal(arrives(&r, 4, 0, 0), 1);
    ASSERT_ACK(&r, 1, 4, 5, 2, 3);
    assert_int_equal(arrives(&r, 3, 0, 0), 1);
    ASSERT_ACK(&r, 1, 2, 5);
    assert_int_equal(arrives(&r, 2, 0, 0), 1);
    ASSERT_ACK(&r, 1, 2, 5);
    assert_int_equal(arrives(&r, 1, 0, 0), 1);
    ASSERT_PLAIN_ACK(&r, 5);
    assert_int_equal(r.store.n_taken, 0);
    assert_int_equal(arrives(&r, 5, 0, 0), 0);
    assert_int_equal(arrives(&r, 0, 0, 0), 1);
    ASSERT_PLAIN_ACK(&r, 6);
}

/* In order, but something is held: part of a gap, at once. The gap from 1 to 3. */
static void part_of_a_gap(void **unused)
{
    (void)unused;
    struct receiver r;
    setup(&r);
    arrives(&r, 3, 0, 0);
    assert_int_equal(arrives(&r, 0, 0, 0), 1);
    ASSERT_ACK(&r, 1, 3, 4);
    assert_int_equal(arrives(&r, 1, 0, 0), 1);
    assert_int_equal(arrives(&r, 2, 0, 0), 1);
    ASSERT_PLAIN_ACK(&r, 4);
}

/* Bytes 0 to 999, then 500 to 1499: half is new, it is taken and acknowledged at once. */
static void overlap(void **unused)
{
    (void)unused;
    struct receiver r;
    setup(&r);
    arrives(&r, 0, ASKS, 0);
    r.n_acks =
        xoff_tcp_on_segment(&r.cfg, &r.rx, &r.store, 500, 1000, false, false, false, 0, r.acks);
    assert_int_equal(r.n_acks, 1);
    assert_int_equal(r.acks[0].acked_to, 1500);
}

/* Five ranges: the three that grew last, latest first. When two of them merge, their place goes to
 * the lowest that is not named. */
static void sacks_most_recent_first(void **unused)
{
    (void)unused;
    struct receiver r;
    setup(&r);
    arrives(&r, 10, 0, 0);
    arrives(&r, 2, 0, 0);
    arrives(&r, 6, 0, 0);
    ASSERT_ACK(&r, 0, 6, 7, 2, 3, 10, 11);
    arrives(&r, 8, 0, 0);
    ASSERT_ACK(&r, 0, 8, 9, 6, 7, 2, 3);
    arrives(&r, 4, 0, 0);
    ASSERT_ACK(&r, 0, 4, 5, 8, 9, 6, 7);
    arrives(&r, 9, 0, 0); /* joins 8 and 10 */
    ASSERT_ACK(&r, 0, 8, 11, 4, 5, 6, 7);
    arrives(&r, 5, 0, 0); /* joins 4 and 6; 2 was not among the recent ones any more */
    ASSERT_ACK(&r, 0, 4, 7, 8, 11, 2, 3);
    arrives(&r, 0, 0, 0);
    ASSERT_ACK(&r, 1, 4, 7, 8, 11, 2, 3);
    arrives(&r, 1, 0, 0); /* to 3 */
    ASSERT_ACK(&r, 3, 4, 7, 8, 11);
    xoff_tcp_rx_fini(&r.rx, &r.store);
    assert_int_equal(r.store.n_taken, 0);
}

static void without_sack(void **unused)
{
    (void)unused;
    struct receiver r;
    setup(&r);
    r.cfg.has_sack = false;
    assert_int_equal(arrives(&r, 2, 0, 0), 1);
    ASSERT_PLAIN_ACK(&r, 0);
    assert_int_equal(arrives(&r, 1, 0, 0), 1);
    ASSERT_PLAIN_ACK(&r, 0);
    assert_int_equal(arrives(&r, 0, 0, 0), 1);
    ASSERT_PLAIN_ACK(&r, 3);
}

/* RFC 3168: segment 0 is marked, ECE stays on all ACKs until CWR on segment 6; CWR on a segment
 * that is marked itself keeps it. A mark does not hurry the ACK. */
static void echo_until_cwr(void **unused)
{
    (void)unused;
    struct receiver r;
    setup(&r);
    assert_int_equal(arrives(&r, 0, MARKED, 0), 0);
    assert_int_equal(arrives(&r, 1, 0, 0), 1);
    assert_true(r.acks[0].echo);
    arrives(&r, 2, 0, 0);
    assert_int_equal(arrives(&r, 3, 0, 0), 1);
    assert_true(r.acks[0].echo);
    arrives(&r, 4, MARKED | REDUCED, 0);
    arrives(&r, 5, 0, 0);
    assert_true(r.acks[0].echo);
    arrives(&r, 6, REDUCED, 0);
    arrives(&r, 7, 0, 0);
    assert_false(r.acks[0].echo);
}

/* DCTCP, ack_every 2, marks of segments 0 to 7:   . M M M . . M .
 *   0  waits
 *   1  differs: ACK 1 without echo; itself waits
 *   2  second of its kind: ACK 3 with echo
 *   3  waits
 *   4  differs: ACK 4 with echo; itself waits
 *   5  ACK 6 without
 *   6  differs, but all is acknowledged: waits
 *   7  differs: ACK 7 with echo; asks: ACK 8 without */
static void dctcp_echo(void **unused)
{
    (void)unused;
    struct receiver r;
    setup(&r);
    r.cfg.echo = XOFF_TCP_ECHO_DCTCP;
    assert_int_equal(arrives(&r, 0, 0, 0), 0);
    assert_int_equal(arrives(&r, 1, MARKED, 10), 1);
    ASSERT_PLAIN_ACK(&r, 1);
    assert_false(r.acks[0].echo);
    assert_true(r.rx.head.deadline == 10 + 100 * XOFF_US);
    assert_int_equal(arrives(&r, 2, MARKED, 20), 1);
    ASSERT_PLAIN_ACK(&r, 3);
    assert_true(r.acks[0].echo);
    assert_int_equal(arrives(&r, 3, MARKED, 30), 0);
    assert_int_equal(arrives(&r, 4, 0, 40), 1);
    ASSERT_PLAIN_ACK(&r, 4);
    assert_true(r.acks[0].echo);
    assert_int_equal(arrives(&r, 5, 0, 50), 1);
    ASSERT_PLAIN_ACK(&r, 6);
    assert_false(r.acks[0].echo);
    assert_int_equal(arrives(&r, 6, MARKED, 60), 0);
    assert_int_equal(arrives(&r, 7, ASKS, 70), 2);
    assert_int_equal(r.acks[0].acked_to, 7000);
    assert_true(r.acks[0].echo);
    ASSERT_PLAIN_ACK(&r, 8);
    assert_false(r.acks[1].echo);
}

/* CWR means nothing to DCTCP's echo, and a delayed ACK carries the mark of what it is for. */
static void dctcp_delayed(void **unused)
{
    (void)unused;
    struct receiver r;
    struct xoff_rel_ack ack;
    setup(&r);
    r.cfg.echo = XOFF_TCP_ECHO_DCTCP;
    arrives(&r, 0, MARKED | REDUCED, 0);
    xoff_tcp_on_delayed(&r.cfg, &r.rx, &r.store, &ack);
    assert_int_equal(ack.acked_to, 1000);
    assert_true(ack.echo);
}

/* In order, whatever the marks, delays and questions: the bytes acknowledged with echo are the
 * bytes that were marked, exactly. */
static void dctcp_echo_is_exact(void **unused)
{
    (void)unused;
    for (uint64_t seed = 0; seed < 500; seed++) {
        struct receiver r;
        struct xoff_rng rng;
        uint64_t acked[2] = {0}, arrived[2] = {0}, acked_to = 0;
        setup(&r);
        r.cfg.echo = XOFF_TCP_ECHO_DCTCP;
        xoff_rng_init(&rng, seed, 0, 0);
        r.cfg.ack_every = 1 + (uint32_t)xoff_rng_below(&rng, 5);
        for (uint64_t i = 0; i < 200; i++) {
            const bool is_marked = xoff_rng_below(&rng, 3) == 0;
            const bool is_last = i == 199;
            arrived[is_marked] += 1000;
            arrives(&r, i, (is_marked ? MARKED : 0) | (is_last ? ASKS : 0), 0);
            if (r.rx.head.deadline != XOFF_NEVER && xoff_rng_below(&rng, 4) == 0)
                xoff_tcp_on_delayed(&r.cfg, &r.rx, &r.store, &r.acks[r.n_acks++ & 1]);
            for (uint32_t k = 0; k < r.n_acks; k++) {
                assert_true(r.acks[k].acked_to > acked_to);
                acked[r.acks[k].echo] += r.acks[k].acked_to - acked_to;
                acked_to = r.acks[k].acked_to;
            }
        }
        assert_int_equal(acked[0], arrived[0]);
        assert_int_equal(acked[1], arrived[1]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_second_segment),
        cmocka_unit_test(delayed_both_sides),
        cmocka_unit_test(no_delay),
        cmocka_unit_test(asking),
        cmocka_unit_test(out_of_order),
        cmocka_unit_test(part_of_a_gap),
        cmocka_unit_test(overlap),
        cmocka_unit_test(sacks_most_recent_first),
        cmocka_unit_test(without_sack),
        cmocka_unit_test(echo_until_cwr),
        cmocka_unit_test(dctcp_echo),
        cmocka_unit_test(dctcp_delayed),
        cmocka_unit_test(dctcp_echo_is_exact),
    };
    return cmocka_run_group_tests_name("tcp_rx", tests, NULL, NULL);
}
