/* The promises of the engine, one by one: cells, windows, instants and ends. rounds_test.c has
 * threads. */
#include "sim/probe_testing.h"

static void cells_by_bound(void **state)
{
    (void)state;
    static const xoff_time chain[] = {10 * XOFF_NS, 500 * XOFF_NS, 300 * XOFF_NS};
    static const xoff_time pair[] = {10 * XOFF_NS}, none[] = {0}, mixed[] = {0, 10 * XOFF_NS, 0};
    static const struct {
        const xoff_time *lookaheads;
        uint32_t n_nodes;
        xoff_time bound;
        uint32_t n_cells;
        xoff_time lookahead;
    } rows[] = {
        {chain, 4, 0, 4, 10 * XOFF_NS},
        {chain, 4, 10 * XOFF_NS, 4, 10 * XOFF_NS}, /* "less than" the bound */
        {chain, 4, 10 * XOFF_NS + 1, 3, 300 * XOFF_NS},
        {chain, 4, 300 * XOFF_NS, 3, 300 * XOFF_NS},
        {chain, 4, 300 * XOFF_NS + 1, 2, 500 * XOFF_NS},
        {chain, 4, 500 * XOFF_NS, 2, 500 * XOFF_NS},
        {chain, 4, 500 * XOFF_NS + 1, 1, QUEUE_MAX_WINDOW},
        {chain, 4, XOFF_NEVER, 1, 4 * XOFF_US},        /* any would do */
        {chain, 4, XOFF_PARAM_AUTO, 2, 500 * XOFF_NS}, /* the first that is worth a window */
        {chain + 1, 2, XOFF_PARAM_AUTO, 2, 500 * XOFF_NS},
        {pair, 2, XOFF_PARAM_AUTO, 2, 10 * XOFF_NS}, /* never all in one */
        /* A link that takes no time cannot lie between cells. */
        {none, 2, 0, 1, QUEUE_MAX_WINDOW},
        {none, 2, XOFF_PARAM_AUTO, 1, QUEUE_MAX_WINDOW},
        {mixed, 4, 0, 2, 10 * XOFF_NS},
        {mixed, 4, XOFF_PARAM_AUTO, 2, 10 * XOFF_NS},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        for (uint32_t n_threads = 1; n_threads <= 4; n_threads++) {
            probe_create(&probe, rows[i].n_nodes, rows[i].lookaheads, n_threads, rows[i].bound);
            const struct sim_figures figures = sim_figures(probe.sim);
            assert_int_equal(figures.n_cells, rows[i].n_cells);
            assert_true(figures.lookahead == rows[i].lookahead);
            sim_destroy(probe.sim);
        }
    sim_destroy(NULL);
}

/* Three nodes with 500 ns between them. Frames of 2 us fit four times into a window; from 2000004
 * ps on (a quarter of which is 500001 ps) one thread takes all in one cell, in windows of eight
 * frames. Several threads, and a bound that is stated, have it their way. */
static void one_cell_for_slow_links(void **state)
{
    (void)state;
    static const struct {
        uint32_t n_threads;
        xoff_time bound, frame_for;
        uint32_t n_cells;
        xoff_time lookahead;
    } rows[] = {
        {1, XOFF_PARAM_AUTO, 2000003, 3, 500 * XOFF_NS},
        {1, XOFF_PARAM_AUTO, 2000004, 1, 16000032},
        {2, XOFF_PARAM_AUTO, 2000004, 3, 500 * XOFF_NS},
        {1, 0, 2000004, 3, 500 * XOFF_NS},
        {1, XOFF_PARAM_AUTO, QUEUE_MAX_WINDOW, 1, QUEUE_MAX_WINDOW},
    };
    static const uint32_t n_ports[] = {1, 2, 1};
    static const struct sim_link_spec links[] = {{0, 0, 1, 0, 500 * XOFF_NS},
                                                 {1, 0, 0, 0, 500 * XOFF_NS},
                                                 {1, 1, 2, 0, 500 * XOFF_NS},
                                                 {2, 0, 1, 1, 500 * XOFF_NS}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct sim *sim;
        const struct sim_spec spec = {.n_nodes = 3,
                                      .n_ports = n_ports,
                                      .links = links,
                                      .n_links = 4,
                                      .n_threads = rows[i].n_threads,
                                      .cell_bound = rows[i].bound,
                                      .frame_for = rows[i].frame_for,
                                      .model = probe_model};
        assert_int_equal(sim_create(&spec, &sim), 0);
        const struct sim_figures figures = sim_figures(sim);
        assert_int_equal(figures.n_cells, rows[i].n_cells);
        assert_true(figures.lookahead == rows[i].lookahead);
        sim_destroy(sim);
    }
}

/* Two stars with h hosts each, 10 ns, joined by 1 us: a star has 2 (h + 1) + 1 slots in its switch
 * and 3 in each host, 5 h + 3 in all. */
static struct sim_figures create_stars(uint32_t n_hosts, xoff_time bound)
{
    const uint32_t n_nodes = 2 * n_hosts + 2, n_links = 4 * n_hosts + 2;
    uint32_t *n_ports = malloc(n_nodes * sizeof *n_ports);
    struct sim_link_spec *links = malloc(n_links * sizeof *links);
    assert_true(n_ports && links);
    uint32_t l = 0;
    for (uint32_t s = 0; s < 2; s++) {
        n_ports[s] = n_hosts + 1;
        links[l++] = (struct sim_link_spec){s, n_hosts, !s, n_hosts, XOFF_US};
        for (uint32_t h = 0; h < n_hosts; h++) {
            const uint32_t host = 2 + s * n_hosts + h;
            n_ports[host] = 1;
            links[l++] = (struct sim_link_spec){host, 0, s, h, 10 * XOFF_NS};
            links[l++] = (struct sim_link_spec){s, h, host, 0, 10 * XOFF_NS};
        }
    }
    struct sim *sim;
    const struct sim_spec spec = {.n_nodes = n_nodes,
                                  .n_ports = n_ports,
                                  .links = links,
                                  .n_links = n_links,
                                  .n_threads = 2,
                                  .cell_bound = bound,
                                  .model = probe_model};
    assert_int_equal(sim_create(&spec, &sim), 0);
    const struct sim_figures figures = sim_figures(sim);
    sim_destroy(sim);
    free(n_ports), free(links);
    return figures;
}

static void cells_stay_small(void **state)
{
    (void)state;
    assert_int_equal(create_stars(818, XOFF_PARAM_AUTO).n_cells, 2);    /* 4093 slots <= 4096 */
    assert_int_equal(create_stars(819, XOFF_PARAM_AUTO).n_cells, 1640); /* 4098 */
    assert_int_equal(create_stars(819, XOFF_NS * 11).n_cells, 2);       /* as stated */
    assert_int_equal(create_stars(13106, XOFF_NS * 11).n_cells, 2);     /* 65533 <= 65535 */
    assert_int_equal(create_stars(13107, XOFF_NS * 11).n_cells, 26216); /* 65538: automatic */
}

/* A shortened delay: the second frame would arrive before the first and is moved behind it, and so
 * is the third, which would arrive at the same time as the second. */
static void overtake(struct probe *p, struct worker *w, uint32_t node, xoff_time now)
{
    (void)node, (void)now;
    send_next(p, w, 0, 5000);
    send_next(p, w, 0, 4000);
    send_next(p, w, 0, 5001);
}

static void frames_never_overtake(void **state)
{
    (void)state;
    static const xoff_time lookaheads[] = {1000};
    for (uint32_t n_threads = 1; n_threads <= 2; n_threads++) {
        probe_create(&probe, 2, lookaheads, n_threads, 0);
        probe.transmit = overtake;
        set_transmit(&probe, 0, 10);
        assert_int_equal(sim_run(probe.sim, XOFF_NEVER, XOFF_S), 5002);
        assert_int_equal(probe.nodes[1].n_arrivals, 3);
        assert_true(probe.nodes[1].arrived_at[0] == 5000);
        assert_true(probe.nodes[1].arrived_at[1] == 5001);
        assert_true(probe.nodes[1].arrived_at[2] == 5002);
        assert_int_equal(probe.wrong, 0);
        sim_destroy(probe.sim);
    }
}

/* All nodes are busy every 50 ps; windows would be 1000 long. note() and probe_instant() check that
 * each instant comes after all that is before it and before all that is at it. */
static void tick(struct probe *p, struct worker *w, uint32_t node, xoff_time now)
{
    (void)p;
    if (now < 10000)
        sim_at_timer(w, node, now + 50);
}

static void instants_are_exact(void **state)
{
    (void)state;
    static const xoff_time lookaheads[] = {1000, 1000, 1000};
    static const xoff_time instants[] = {0,    1,    50,   51,    999,   1000,
                                         1001, 3333, 9999, 10000, 10001, XOFF_NEVER};
    static const xoff_time bounds[] = {0, 2000};
    for (uint32_t n_threads = 1; n_threads <= 4; n_threads++)
        for (uint32_t b = 0; b < 2; b++) {
            probe_create(&probe, 4, lookaheads, n_threads, bounds[b]);
            probe.timer = tick;
            probe.instants = instants;
            for (uint32_t n = 0; n < 4; n++)
                set_timer(&probe, n, 0);
            assert_int_equal(sim_run(probe.sim, 0, XOFF_S), 10000);
            assert_int_equal(probe.wrong, 0);
            assert_int_equal(probe.next_instant, 10); /* nothing is left for the one at 10001 */
            for (uint32_t n = 0; n < 4; n++) {
                assert_int_equal(probe.nodes[n].n_timers, 201);
                assert_int_equal(probe.nodes[n].n_samples, 5);
            }
            assert_true(sim_figures(probe.sim).is_at_rest);
            sim_destroy(probe.sim);
        }
}

/* Events before `end` happen, those at it do not; the same for instants. */
static void ends_at_the_end(void **state)
{
    (void)state;
    static const xoff_time lookaheads[] = {1000};
    static const xoff_time instants[] = {9998, 9999, XOFF_NEVER};
    for (uint32_t n_threads = 1; n_threads <= 2; n_threads++) {
        for (xoff_time end = 9998; end <= 10000; end++) {
            probe_create(&probe, 2, lookaheads, n_threads, 0);
            probe.instants = instants;
            set_timer(&probe, 0, 9999);
            set_timer(&probe, 1, 10000);
            assert_int_equal(sim_run(probe.sim, instants[0], end), end);
            assert_int_equal(probe.nodes[0].n_timers, end == 10000);
            assert_int_equal(probe.nodes[1].n_timers, 0);
            assert_int_equal(probe.next_instant, end - 9998);
            assert_false(sim_figures(probe.sim).is_at_rest);
            assert_int_equal(probe.wrong, 0);
            sim_destroy(probe.sim);
        }
        probe_create(&probe, 2, lookaheads, n_threads, 0);
        set_timer(&probe, 1, 10000);
        assert_int_equal(sim_run(probe.sim, XOFF_NEVER, 10001), 10000);
        assert_true(sim_figures(probe.sim).is_at_rest);
        sim_destroy(probe.sim);
    }
}

/* A network with nothing to do ends at once; one that changes may wake does not. */
static void wake_at_300(struct probe *p, struct worker *w, xoff_time now)
{
    (void)p;
    if (now == 300)
        sim_at_timer(w, 1, 4000);
}

static void ends_at_rest(void **state)
{
    (void)state;
    static const xoff_time lookaheads[] = {1000};
    static const xoff_time instants[] = {100, 200, 300, 400, 5000, XOFF_NEVER};
    for (uint32_t n_threads = 1; n_threads <= 2; n_threads++) {
        for (uint32_t n_waking = 0; n_waking <= 3; n_waking++) {
            probe_create(&probe, 2, lookaheads, n_threads, 0);
            probe.instants = instants;
            probe.n_waking = n_waking;
            probe.instant = wake_at_300;
            const xoff_time reached = sim_run(probe.sim, instants[0], XOFF_S);
            assert_true(sim_figures(probe.sim).is_at_rest);
            /* Woken at 300, it is busy until 4000 and sees the instant at 400, not that at 5000. */
            assert_int_equal(probe.next_instant, n_waking == 3 ? 4 : n_waking);
            assert_int_equal(reached, n_waking == 3 ? 4000 : 100 * (xoff_time)n_waking);
            assert_int_equal(probe.nodes[1].n_timers, n_waking == 3);
            assert_int_equal(probe.wrong, 0);
            sim_destroy(probe.sim);
        }
        /* Changes are announced but never come. */
        probe_create(&probe, 2, lookaheads, n_threads, 0);
        probe.n_waking = 1;
        assert_int_equal(sim_run(probe.sim, XOFF_NEVER, 777), 777);
        assert_false(sim_figures(probe.sim).is_at_rest);
        sim_destroy(probe.sim);
    }
}

/* What an instant cancels leaves no trace: the run is at rest after the other node's last event, so
 * the instant at 2000 is not held, whether the two share a cell or not. */
static void cancel_at_10(struct probe *p, struct worker *w, xoff_time now)
{
    (void)p;
    if (now == 10)
        sim_at_timer(w, 1, XOFF_NEVER);
}

static void cancelled_events_leave_no_trace(void **state)
{
    (void)state;
    static const xoff_time lookaheads[] = {1000};
    static const xoff_time instants[] = {10, 2000, XOFF_NEVER};
    for (uint32_t n_threads = 1; n_threads <= 2; n_threads++)
        for (xoff_time bound = 0; bound <= 1001; bound += 1001)
            for (uint32_t early = 0; early < 2; early++) {
                probe_create(&probe, 2, lookaheads, n_threads, bound);
                probe.instants = instants + early; /* those at 10 and 2000, or the latter */
                probe.instant = cancel_at_10;
                set_timer(&probe, 0, 50);
                set_timer(&probe, 1, 3000);
                if (early)
                    set_timer(&probe, 1, XOFF_NEVER);
                assert_int_equal(sim_run(probe.sim, instants[early], XOFF_S), 50);
                assert_int_equal(probe.next_instant, !early);
                assert_int_equal(probe.nodes[1].n_timers, 0);
                sim_destroy(probe.sim);
            }
}

/* An instant that names an earlier one as the next ends the run there: with its samples, without
 * what was due at the same time. */
static void ends_at_an_instant(void **state)
{
    (void)state;
    static const xoff_time lookaheads[] = {1000};
    static const xoff_time instants[] = {100, 99, XOFF_NEVER};
    for (uint32_t n_threads = 1; n_threads <= 3; n_threads++)
        for (xoff_time bound = 0; bound <= 1001; bound += 1001) {
            probe_create(&probe, 2, lookaheads, n_threads, bound);
            probe.instants = instants;
            set_timer(&probe, 0, 99);
            set_timer(&probe, 1, 100);
            assert_int_equal(sim_run(probe.sim, instants[0], XOFF_S), 100);
            assert_int_equal(probe.nodes[0].n_timers, 1);
            assert_int_equal(probe.nodes[1].n_timers, 0);
            assert_int_equal(probe.nodes[1].n_samples, 1);
            assert_false(sim_figures(probe.sim).is_at_rest);
            assert_int_equal(probe.wrong, 0);
            sim_destroy(probe.sim);
        }
}

/* Timers every 1000, a window each: the third call says stop, so the third window is the last. */
static void tick_slowly(struct probe *p, struct worker *w, uint32_t node, xoff_time now)
{
    (void)p;
    send_next(p, w, 0, now + 1000);
    sim_at_timer(w, node, now + 1000);
}

static void ends_when_told(void **state)
{
    (void)state;
    static const xoff_time lookaheads[] = {1000};
    for (uint32_t n_threads = 1; n_threads <= 3; n_threads++) {
        probe_create(&probe, 2, lookaheads, n_threads, 0);
        probe.timer = tick_slowly;
        probe.stop_after_calls = 3;
        set_timer(&probe, 0, 0);
        assert_int_equal(sim_run(probe.sim, XOFF_NEVER, XOFF_S), 3000);
        assert_int_equal(probe.nodes[0].n_timers, 3);
        assert_int_equal(probe.nodes[1].n_arrivals, 2);
        assert_int_equal(probe.n_calls, 3);
        assert_int_equal(probe.arrivals, 1); /* before the third window */
        assert_int_equal(probe.progress_at, 2000);
        assert_false(sim_figures(probe.sim).is_at_rest);
        uint64_t bytes = 0;
        assert_int_equal(sim_in_flight(probe.sim, 0, &bytes), 1);
        assert_int_equal(bytes, 64);
        assert_int_equal(probe.wrong, 0);
        sim_destroy(probe.sim);
    }
}

/* Idle time costs nothing: two events a second apart, windows of 1 ns. */
static void skips_idle_time(void **state)
{
    (void)state;
    static const xoff_time lookaheads[] = {1000};
    for (uint32_t n_threads = 1; n_threads <= 2; n_threads++) {
        probe_create(&probe, 2, lookaheads, n_threads, 0);
        set_timer(&probe, 0, 7);
        set_timer(&probe, 1, XOFF_S);
        assert_int_equal(sim_run(probe.sim, XOFF_NEVER, 2 * XOFF_S), XOFF_S);
        /* One for each event and the one that finds nothing. */
        assert_int_equal(sim_figures(probe.sim).windows, 3);
        assert_int_equal(sim_figures(probe.sim).events, 2);
        sim_destroy(probe.sim);
    }
}

/* A transmission at 100 would go on at 150, 200, ...; the other node of the cell has a timer at
 * 250, and there is an instant at 400. Time moves on up to just before either. */
static void advance(struct probe *p, struct worker *w, uint32_t node, xoff_time now)
{
    xoff_time next = now + 50;
    for (; sim_advance(w, next); next += 50)
        if (sim_now(w) != next)
            p->wrong++;
    if (sim_now(w) != next - 50)
        p->wrong++;
    p->nodes[node].advanced_to = sim_now(w);
    if (next < 600)
        sim_at_transmit(w, node, 0, next);
}

static void time_advances_up_to_the_next_event(void **state)
{
    (void)state;
    static const xoff_time lookaheads[] = {1000};
    static const xoff_time instants[] = {400, XOFF_NEVER};
    for (xoff_time timer_at = 249; timer_at <= 251; timer_at++)
        for (xoff_time bound = 0; bound <= 1001; bound += 1001) {
            probe_create(&probe, 2, lookaheads, 1, bound);
            probe.transmit = advance;
            probe.instants = instants;
            set_transmit(&probe, 0, 100);
            set_timer(&probe, 1, timer_at);
            assert_false(sim_advance(sim_exclusive(probe.sim), 5));
            sim_run(probe.sim, instants[0], 601);
            /* Events at 100, at 250 or, when the timer comes later, 300 (only if both share a
             * cell), at 400; the last goes on to 600, the run's last moment. */
            const uint32_t n_events = bound ? 3 : 2;
            const struct probe_node *node = &probe.nodes[0];
            assert_int_equal(node->n_transmits, n_events);
            assert_int_equal(node->transmit_at[0], 100);
            if (bound)
                assert_int_equal(node->transmit_at[1], timer_at <= 250 ? 250 : 300);
            assert_int_equal(node->transmit_at[n_events - 1], 400);
            assert_int_equal(node->advanced_to, 600);
            assert_int_equal(probe.nodes[1].n_timers, 1);
            assert_int_equal(probe.wrong, 0);
            sim_destroy(probe.sim);
        }
}

static void on_lost(void *context, const struct frame *f)
{
    struct probe *p = context;
    if (f->seq != p->lost_seq++)
        p->wrong++;
    p->n_lost++;
}

/* Frames 0 to 4, the second a pause frame, sent at 0 to arrive at 1000, 2000, ...; at 2000 the link
 * is cut, with 1 to 4 on it. */
static void send_five(struct probe *p, struct worker *w, uint32_t node, xoff_time now)
{
    (void)node;
    for (uint32_t i = 1; i <= 5; i++) {
        const struct frame f = {.seq = p->sent++,
                                .bytes = (uint16_t)(100 * i),
                                .kind = i == 2 ? FRAME_PAUSE : FRAME_DATA};
        sim_send(w, 0, &f, now + 1000 * (xoff_time)i);
    }
}

static void cut(struct probe *p, struct worker *w, xoff_time now)
{
    uint64_t bytes = 1; /* it adds */
    if (now == 2001) {
        send_next(p, w, 0, 6000);
        return;
    }
    if (sim_in_flight(p->sim, 0, &bytes) != 3 || bytes != 1 + 300 + 400 + 500)
        p->wrong++;
    p->lost_seq = 1;
    if (sim_flush_link(p->sim, 0, p, on_lost) != 4 || p->n_lost != 4)
        p->wrong++;
    if (sim_in_flight(p->sim, 0, &bytes) != 0 || sim_flush_link(p->sim, 0, p, on_lost) != 0)
        p->wrong++;
    p->nodes[1].next_seq = 5;
}

static void flush_empties_a_link(void **state)
{
    (void)state;
    static const xoff_time lookaheads[] = {1000};
    static const xoff_time instants[] = {2000, 2001, XOFF_NEVER};
    for (uint32_t n_threads = 1; n_threads <= 2; n_threads++)
        for (xoff_time bound = 0; bound <= 1001; bound += 1001) {
            probe_create(&probe, 2, lookaheads, n_threads, bound);
            probe.transmit = send_five;
            probe.instants = instants;
            probe.n_waking = 2;
            probe.instant = cut;
            set_transmit(&probe, 0, 0);
            assert_int_equal(sim_run(probe.sim, instants[0], XOFF_S), 6000);
            assert_int_equal(probe.nodes[1].n_arrivals, 2);
            assert_true(probe.nodes[1].arrived_at[0] == 1000);
            assert_true(probe.nodes[1].arrived_at[1] == 6000);
            assert_int_equal(probe.wrong, 0);
            sim_destroy(probe.sim);
        }
}

/* Frames sent before the run and from an instant, more than a chunk holds, arrive at their time
 * even when what is pending elsewhere is later, or nothing is. */
static void send_forty(struct probe *p, struct worker *w, xoff_time now)
{
    for (uint32_t i = 0; i < 40; i++)
        send_next(p, w, 0, now + 1000 + i);
}

static void sends_between_windows(void **state)
{
    (void)state;
    static const xoff_time lookaheads[] = {1000};
    static const xoff_time instants[] = {5000, XOFF_NEVER};
    for (uint32_t n_threads = 1; n_threads <= 2; n_threads++)
        for (uint32_t is_busy = 0; is_busy < 2; is_busy++) {
            probe_create(&probe, 2, lookaheads, n_threads, 0);
            send_forty(&probe, sim_exclusive(probe.sim), 0);
            if (is_busy)
                set_timer(&probe, 0, 20000);
            probe.instants = instants;
            probe.n_waking = 1;
            probe.instant = send_forty;
            assert_int_equal(sim_run(probe.sim, instants[0], XOFF_S), is_busy ? 20000 : 6039);
            assert_int_equal(probe.nodes[1].n_arrivals, 80);
            assert_true(probe.nodes[1].arrived_at[0] == 1000);
            assert_true(probe.nodes[1].arrived_at[39] == 1039);
            assert_true(probe.nodes[1].arrived_at[40] == 6000);
            assert_true(probe.nodes[1].arrived_at[79] == 6039);
            assert_int_equal(probe.wrong, 0);
            sim_destroy(probe.sim);
        }
}

/* Many links that bring few frames each, none of which fills a chunk. All nodes have a link to node
 * 0. For some windows one frame comes in each, so that node 0 gets by with the least queue. Then
 * all other nodes send 20 frames at once: frame k of node n arrives after those that have a smaller
 * k, or the same and a smaller n. */
enum { QUIET = 8, BURST = 20, SENDERS = PROBE_NODES - 2 };

static void star_create(struct probe *p)
{
    static const uint32_t lookahead = 1000000;
    uint32_t n_ports[PROBE_NODES] = {PROBE_NODES - 1};
    struct sim_link_spec links[2 * (PROBE_NODES - 1)];
    memset(p, 0, sizeof *p);
    for (uint32_t n = 1; n < PROBE_NODES; n++) {
        n_ports[n] = 1;
        links[2 * n - 2] = (struct sim_link_spec){
            .from_node = n, .to_node = 0, .to_port = (uint16_t)(n - 1), .lookahead = lookahead};
        links[2 * n - 1] =
            (struct sim_link_spec){.from_node = 0, .to_node = n, .lookahead = lookahead};
    }
    struct sim_spec spec = {.n_nodes = PROBE_NODES,
                            .n_ports = n_ports,
                            .links = links,
                            .n_links = 2 * (PROBE_NODES - 1),
                            .n_threads = 1,
                            .chunk_frames = 32,
                            .model = probe_model};
    give_handlers(&spec, p, &probe_handlers);
    assert_int_equal(sim_create(&spec, &p->sim), 0);
}

static void send_one(struct probe *p, struct worker *w, uint32_t node, xoff_time now)
{
    if (p->sent + 1 < QUIET)
        sim_at_timer(w, node, now + 2000000);
    send_next(p, w, 2 * node - 2, now + 1000000);
}

static void send_burst(struct probe *p, struct worker *w, uint32_t node, xoff_time now)
{
    (void)p;
    for (uint32_t k = 0; k < BURST; k++) {
        const uint32_t place = k * SENDERS + node - 2;
        const struct frame f = {.seq = QUIET + place, .bytes = 64, .kind = FRAME_DATA};
        sim_send(w, 2 * node - 2, &f, now + 1000000 + place);
    }
}

static void bursts_over_many_links(void **state)
{
    (void)state;
    star_create(&probe);
    probe.timer = send_one;
    probe.transmit = send_burst;
    set_timer(&probe, 1, 0);
    for (uint32_t n = 2; n < PROBE_NODES; n++)
        set_transmit(&probe, n, 50000000);
    sim_run(probe.sim, XOFF_NEVER, XOFF_S);
    assert_int_equal(probe.nodes[0].n_arrivals, QUIET + BURST * SENDERS);
    assert_int_equal(probe.wrong, 0);
    sim_destroy(probe.sim);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cells_by_bound),
        cmocka_unit_test(one_cell_for_slow_links),
        cmocka_unit_test(cells_stay_small),
        cmocka_unit_test(frames_never_overtake),
        cmocka_unit_test(instants_are_exact),
        cmocka_unit_test(ends_at_the_end),
        cmocka_unit_test(ends_at_rest),
        cmocka_unit_test(cancelled_events_leave_no_trace),
        cmocka_unit_test(ends_at_an_instant),
        cmocka_unit_test(ends_when_told),
        cmocka_unit_test(skips_idle_time),
        cmocka_unit_test(time_advances_up_to_the_next_event),
        cmocka_unit_test(flush_empties_a_link),
        cmocka_unit_test(sends_between_windows),
        cmocka_unit_test(bursts_over_many_links),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
