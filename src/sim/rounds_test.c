/* Threads of the engine: who runs which cells, and what they hand each other. */
#include <sched.h>
#include <time.h>

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

/* Handlers meet in counts that order nothing: the ThreadSanitizer is to see the engine's own order.
 */
static void count_up(_Atomic uint32_t *count)
{
    atomic_fetch_add_explicit(count, 1, memory_order_relaxed);
}

static void wait_for(struct probe *p, _Atomic uint32_t *count, uint32_t least)
{
    for (const time_t since = time(NULL); time(NULL) < since + 30; sched_yield())
        if (atomic_load_explicit(count, memory_order_relaxed) >= least)
            return;
    p->wrong++;
}

/* Sender and receiver of a link go hand in hand in one window: the receiver takes the last frame of
 * a chunk, and then the first of the next, while the sender begins others behind it. */
static void send_in_step(struct probe *p, struct worker *w, uint32_t node, xoff_time now)
{
    (void)node;
    for (uint32_t i = 0; i < (now == 0 ? 16 : 9); i++) {
        if (i == 1 && now > 0) {
            count_up(&p->n_sent); /* the receiver may begin */
            wait_for(p, &p->n_received, 4);
        }
        send_next(p, w, 0, now + 1000 + i);
    }
}

static void receive_in_step(struct probe *p, struct worker *w, uint32_t node, const struct frame *f)
{
    (void)w, (void)node;
    if (f->seq == 0)
        wait_for(p, &p->n_sent, 1);
    count_up(&p->n_received);
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

/* Sets timers of so many nodes in the share of a thread. */
static void set_timers_of(uint32_t owner, uint32_t n, xoff_time at)
{
    const struct sim *sim = probe.sim;
    for (uint32_t node = 0; node < sim->n_nodes && n > 0; node++)
        if (sim->cells[sim->cell_of[node]].owner == owner) {
            set_timer(&probe, node, at);
            n--;
        }
    assert_int_equal(n, 0);
}

/* As many cells of one share as there are threads wait for each other, in each of three windows:
 * every thread has to run one of them. */
static void meet(struct probe *p, struct worker *w, uint32_t node, xoff_time now)
{
    count_up(&p->n_sent);
    wait_for(p, &p->n_sent, p->sim->n_threads * p->nodes[node].n_timers);
    if (p->nodes[node].n_timers < 3)
        sim_at_timer(w, node, now + 1000);
}

static void threads_help_each_other(void **state)
{
    (void)state;
    for (uint32_t n_threads = 2; n_threads <= 4; n_threads++)
        for (uint32_t owner = 0; owner < n_threads; owner++) {
            probe_create(&probe, 8 * n_threads, NULL, n_threads, 0);
            probe.timer = meet;
            set_timers_of(owner, n_threads, 5);
            assert_int_equal(sim_run(probe.sim, XOFF_NEVER, XOFF_S), 2005);
            assert_int_equal(probe.n_sent, 3 * n_threads);
            assert_int_equal(probe.wrong, 0);
            sim_destroy(probe.sim);
        }
}

/* One thread is all that ever runs: it opens the shares of the others, too. */
static void tick(struct probe *p, struct worker *w, uint32_t node, xoff_time now)
{
    (void)p;
    if (now < 10000)
        sim_at_timer(w, node, now + 1000);
}

static void one_thread_is_enough(void **state)
{
    (void)state;
    for (uint32_t n_threads = 2; n_threads <= 4; n_threads++)
        for (uint32_t who = 0; who < n_threads; who++) {
            probe_create(&probe, 9, NULL, n_threads, 0);
            struct sim *sim = probe.sim;
            probe.timer = tick;
            for (uint32_t n = 0; n < 9; n++)
                set_timer(&probe, n, 0);
            rounds_begin(sim, XOFF_NEVER, XOFF_S);
            for (uint32_t rounds = 0; !sim->is_over; rounds++) {
                assert_in_range(rounds, 0, 20);
                const uint32_t round = sim->round;
                for (uint32_t i = 0; i < n_threads; i++)
                    rounds_help(sim->threads[who], &sim->threads[i]->share, round);
            }
            assert_int_equal(sim->reached, 10000);
            assert_int_equal(sim->threads[who]->events, 9 * 11);
            sim_destroy(sim);
        }
}

/* A thread that was held up since the last round finds nothing to do in the present one. */
static void come_late(struct probe *p, struct worker *w, uint32_t node, xoff_time now)
{
    struct sim *sim = p->sim;
    const uint64_t round = sim->round, n_timers = p->n_sent++;
    if (round > 0)
        for (uint32_t i = 0; i < 2; i++)
            rounds_help(sim->threads[1], &sim->threads[i]->share, (uint32_t)round - 1);
    if (sim->round != round || p->n_sent != n_timers + 1)
        p->wrong++;
    tick(p, w, node, now);
}

static void rounds_are_not_mixed_up(void **state)
{
    (void)state;
    probe_create(&probe, 9, NULL, 2, 0);
    struct sim *sim = probe.sim;
    probe.timer = come_late;
    for (uint32_t n = 0; n < 9; n++)
        set_timer(&probe, n, 0);
    rounds_begin(sim, XOFF_NEVER, XOFF_S);
    while (!sim->is_over) {
        const uint32_t round = sim->round;
        rounds_help(sim->threads[0], &sim->threads[0]->share, round);
        rounds_help(sim->threads[0], &sim->threads[1]->share, round);
        assert_int_equal(sim->round, round + 1);
    }
    assert_int_equal(probe.n_sent, 9 * 11);
    assert_int_equal(probe.wrong, 0);
    sim_destroy(sim);
}

/* Every cell is run once in each window, by one thread, in a scramble for cells with little to do.
 */
static xoff_time last_window;
static _Atomic bool is_running[PROBE_NODES];

static void scramble(struct probe *p, struct worker *w, uint32_t node, xoff_time now)
{
    if (atomic_exchange_explicit(&is_running[node], true, memory_order_relaxed))
        p->wrong++;
    if (now < last_window)
        sim_at_timer(w, node, now + 1000);
    atomic_store_explicit(&is_running[node], false, memory_order_relaxed);
}

static void cells_are_run_once(void **state)
{
    (void)state;
    const uint32_t n_windows = getenv("XOFF_QUICK") ? 2000 : 12000;
    last_window = 1000 * (n_windows - 1);
    for (uint32_t n_threads = 2; n_threads <= 4; n_threads++) {
        probe_create(&probe, PROBE_NODES, NULL, n_threads, 0);
        probe.timer = scramble;
        for (uint32_t n = 0; n < PROBE_NODES; n++)
            set_timer(&probe, n, 0);
        assert_int_equal(sim_run(probe.sim, XOFF_NEVER, XOFF_S), last_window);
        for (uint32_t n = 0; n < PROBE_NODES; n++)
            assert_int_equal(probe.nodes[n].n_timers, n_windows);
        assert_int_equal(sim_figures(probe.sim).events, n_windows * PROBE_NODES);
        assert_int_equal(probe.wrong, 0);
        sim_destroy(probe.sim);
    }
}

/* Frames go one way, for as long as it takes to fill a pile of chunks many times over, and each end
 * is always run by its own thread. Chunks come back to the sender: the ranges of the threads are
 * not used up. */
static void send_some(struct probe *p, struct worker *w, uint32_t node, xoff_time now)
{
    for (uint32_t i = 0; i < 80; i++)
        send_next(p, w, node == 0 ? 0 : 1, now + 1000 + i);
    if (now < 2000000)
        sim_at_transmit(w, node, 0, now + 1000);
}

static void chunks_come_back(void **state)
{
    (void)state;
    for (uint32_t n_threads = 1; n_threads <= 3; n_threads++)
        for (uint32_t sender = 0; sender < 2; sender++) {
            probe_create(&probe, 2, NULL, n_threads, 0);
            struct sim *sim = probe.sim;
            assert_int_equal(sim->cells[0].owner != sim->cells[1].owner, n_threads > 1);
            uint32_t n_used = 0;
            for (uint32_t i = 0; i < n_threads; i++)
                n_used -= sim->threads[i]->new_chunk;
            probe.transmit = send_some;
            set_transmit(&probe, sender, 0);
            rounds_begin(sim, XOFF_NEVER, XOFF_S);
            while (!sim->is_over) {
                const uint32_t round = sim->round;
                for (uint32_t i = 0; i < n_threads; i++)
                    rounds_help(sim->threads[i], &sim->threads[i]->share, round);
                assert_int_equal(sim->round, round + 1);
            }
            assert_int_equal(probe.nodes[!sender].n_arrivals, 2001 * 80);
            assert_int_equal(probe.wrong, 0);
            for (uint32_t i = 0; i < n_threads; i++)
                n_used += sim->threads[i]->new_chunk;
            assert_in_range(n_used, 1, 2000); /* of 20010 that were filled */
            sim_destroy(sim);
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
        /* What is played by one thread comes first: with a fault others may not end. */
        cmocka_unit_test(one_thread_is_enough),    cmocka_unit_test(rounds_are_not_mixed_up),
        cmocka_unit_test(chunks_come_back),        cmocka_unit_test(bursts_take_chunks),
        cmocka_unit_test(more_threads_than_cells), cmocka_unit_test(ends_of_a_link_run_at_once),
        cmocka_unit_test(threads_help_each_other), cmocka_unit_test(cells_are_run_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
