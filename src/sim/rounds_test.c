/* Threads of the engine: who runs which cells, and what they hand each other. */
#include <sched.h>

#include "sim/probe_testing.h"

/* 3000 frames in one event, again and again, beside a receiver that is busy with the last burst. */
static void burst(struct probe *p, struct worker *w, uint32_t node, xoff_time now)
{
    for (uint32_t i = 0; i < 3000; i++)
        send_next(p, w, 0, now + 1000 + i);
    if (p->sent < 12000)
        sim_at_transmit(w, node, 0, now + 700);
}

static void bursts_take_chunks(void **state)
{
    (void)state;
    static const xoff_time lookaheads[] = {1000, 1000};
    for (uint32_t n_threads = 1; n_threads <= 3; n_threads++)
        for (uint32_t together = 0; together < 2; together++) {
            probe_create(&probe, 3, lookaheads, n_threads, together ? 2000 : 0);
            assert_int_equal(probe.sim->links[0].is_shared, n_threads > 1 && !together);
            probe.transmit = burst;
            set_transmit(&probe, 0, 5);
            /* The first arrives at 5 + 1000, the others each 1 ps behind the one before. */
            assert_int_equal(sim_run(probe.sim, XOFF_NEVER, XOFF_S), 5 + 1000 + 11999);
            assert_int_equal(probe.nodes[1].n_arrivals, 12000);
            assert_int_equal(probe.wrong, 0);
            uint64_t bytes = 0;
            assert_int_equal(sim_in_flight(probe.sim, 0, &bytes), 0);
            sim_destroy(probe.sim);
        }
}

/* Sender and receiver of a link go hand in hand in one window: the receiver takes the last frame of
 * a chunk, and then the first of the next, while the sender begins others behind it. */
static void wait_for(_Atomic uint32_t *count, uint32_t least)
{
    for (uint32_t i = 0; atomic_load(count) < least && i < 10000000; i++)
        sched_yield();
}

static void send_in_step(struct probe *p, struct worker *w, uint32_t node, xoff_time now)
{
    (void)node;
    for (uint32_t i = 0; i < (now == 0 ? 16 : 9); i++) {
        if (i == 1 && now > 0) {
            p->n_sent = 1; /* the receiver may begin */
            wait_for(&p->n_received, 4);
        }
        send_next(p, w, 0, now + 1000 + i);
    }
}

static void receive_in_step(struct probe *p, struct worker *w, uint32_t node, const struct frame *f)
{
    (void)w, (void)node;
    if (f->seq == 0)
        wait_for(&p->n_sent, 1);
    p->n_received++;
}

static void ends_of_a_link_run_at_once(void **state)
{
    (void)state;
    static const xoff_time lookaheads[] = {1000};
    probe_create(&probe, 2, lookaheads, 2, 0);
    assert_true(probe.sim->links[0].is_shared);
    probe.transmit = send_in_step;
    probe.arrive = receive_in_step;
    probe.timer = send_in_step;
    set_transmit(&probe, 0, 0);
    set_timer(&probe, 0, 1000);
    assert_int_equal(sim_run(probe.sim, XOFF_NEVER, XOFF_S), 2008);
    assert_int_equal(probe.nodes[1].n_arrivals, 25);
    assert_int_equal(probe.wrong, 0);
    sim_destroy(probe.sim);
}

/* Two cells of one share wait for each other in a window: another thread has to run the second. */
static void meet(struct probe *p, struct worker *w, uint32_t node, xoff_time now)
{
    (void)w, (void)node, (void)now;
    p->n_sent++;
    wait_for(&p->n_sent, 2);
    if (p->n_sent < 2)
        p->wrong++;
}

static void threads_help_each_other(void **state)
{
    (void)state;
    static const xoff_time lookaheads[] = {1000, 1000, 1000};
    probe_create(&probe, 4, lookaheads, 2, 0);
    const struct sim *sim = probe.sim;
    uint32_t n = 0;
    for (uint32_t node = 0; node < 4; node++)
        if (sim->cells[sim->cell_of[node]].owner == 1) {
            set_timer(&probe, node, 5);
            n++;
        }
    assert_int_equal(n, 2);
    probe.timer = meet;
    assert_int_equal(sim_run(probe.sim, XOFF_NEVER, XOFF_S), 5);
    assert_int_equal(probe.wrong, 0);
    sim_destroy(probe.sim);
}

/* Frames go one way, for as long as it takes to fill a pile of chunks many times over. Chunks come
 * back to the sender: the ranges of the threads are not used up. */
static void send_some(struct probe *p, struct worker *w, uint32_t node, xoff_time now)
{
    for (uint32_t i = 0; i < 80; i++)
        send_next(p, w, 0, now + 1000 + i);
    if (now < 2000000)
        sim_at_transmit(w, node, 0, now + 1000);
}

static void chunks_come_back(void **state)
{
    (void)state;
    static const xoff_time lookaheads[] = {1000};
    for (uint32_t n_threads = 1; n_threads <= 2; n_threads++) {
        probe_create(&probe, 2, lookaheads, n_threads, 0);
        uint32_t n_used = 0;
        for (uint32_t i = 0; i < n_threads; i++)
            n_used -= probe.sim->threads[i]->new_chunk;
        probe.transmit = send_some;
        set_transmit(&probe, 0, 0);
        sim_run(probe.sim, XOFF_NEVER, XOFF_S);
        assert_int_equal(probe.nodes[1].n_arrivals, 2001 * 80);
        assert_int_equal(probe.wrong, 0);
        for (uint32_t i = 0; i < n_threads; i++)
            n_used += probe.sim->threads[i]->new_chunk;
        assert_in_range(n_used, 1, 2000); /* of 20010 that were filled */
        sim_destroy(probe.sim);
    }
}

/* Ping-pong with more threads than there is work for. */
static void pass_on(struct probe *p, struct worker *w, uint32_t node, const struct frame *f)
{
    (void)p;
    if (f->seq == 10)
        return;
    const struct frame next = {.seq = node == 1 ? f->seq : f->seq + 1, .bytes = 64};
    sim_send(w, node == 1 ? 1 : 0, &next, f->at + 1000);
}

static void more_threads_than_cells(void **state)
{
    (void)state;
    static const xoff_time lookaheads[] = {1000};
    for (uint32_t n_threads = 1; n_threads <= 8; n_threads++)
        for (xoff_time bound = 0; bound <= 1001; bound += 1001) {
            probe_create(&probe, 2, lookaheads, n_threads, bound);
            probe.arrive = pass_on;
            send_next(&probe, sim_exclusive(probe.sim), 0, 1000);
            /* Frames 0 to 10 go there, 0 to 9 come back: 21 hops. */
            assert_int_equal(sim_run(probe.sim, XOFF_NEVER, XOFF_S), 21000);
            assert_int_equal(probe.nodes[1].n_arrivals, 11);
            assert_int_equal(probe.nodes[0].n_arrivals, 10);
            assert_int_equal(probe.arrivals, 21);
            assert_int_equal(probe.wrong, 0);
            sim_destroy(probe.sim);

            probe_create(&probe, 1, lookaheads, n_threads, bound);
            set_timer(&probe, 0, 5);
            assert_int_equal(sim_run(probe.sim, XOFF_NEVER, XOFF_S), 5);
            assert_int_equal(probe.nodes[0].n_timers, 1);
            sim_destroy(probe.sim);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bursts_take_chunks),      cmocka_unit_test(ends_of_a_link_run_at_once),
        cmocka_unit_test(threads_help_each_other), cmocka_unit_test(chunks_come_back),
        cmocka_unit_test(more_threads_than_cells),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
