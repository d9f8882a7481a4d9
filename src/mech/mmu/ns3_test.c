/* The buffer of the ns-3 RDMA family: thresholds from both sides, random traffic against a slow
 * model, and a run of two senders whose pauses and resumes are known to the nanosecond.
 *
 * Unless a test says otherwise the switch has four ports, priority 3 lossless, 1000 bytes of
 * reserve and 3 * 1000 of headroom at each port, shift 3, resume_offset 500, and
 * 4 * 1000 + 4 * 3000 + 16000 = 32000 bytes in all: a shared pool of 16000, T = 2000 when empty.
 */
#include "mech/mmu/mmu_testing.h"

extern const struct xoff_mmu_ops xoff_mmu_ns3;

#define LOSSLESS_3 0x08

static void setup_small(struct bench *b)
{
    bench_setup(b, &xoff_mmu_ns3, LOSSLESS_3, 32000);
    bench_set(b, "reserved", "1000B");
    bench_set(b, "resume_offset", "500B");
}

/* One ingress queue, frames of 1000 bytes, up to a loss and down again. */
static void test_trace_of_one_queue(void **unused)
{
    (void)unused;
    struct bench b;
    setup_small(&b);
    bench_start(&b);
    assert_int_equal(bench_arrive(&b, 0, 1, 3, 1000), XOFF_POOL_RESERVED);
    expect_no_crossing(&b);
    /* shared 1000 <= T = 16000/8 = 2000; then T = 15000/8 = 1875 > 1000. */
    assert_int_equal(bench_arrive(&b, 0, 1, 3, 1000), XOFF_POOL_SHARED);
    expect_no_crossing(&b);
    /* shared 2000 > 1875: headroom, XOFF with 1000 shared + 1000 headroom against 1875. */
    assert_int_equal(bench_arrive(&b, 0, 1, 3, 1000), XOFF_POOL_HEADROOM);
    expect_crossing(&b, 1, 2000, 1875);
    assert_int_equal(bench_arrive(&b, 0, 1, 3, 1000), XOFF_POOL_HEADROOM);
    expect_no_crossing(&b);
    assert_int_equal(bench_arrive(&b, 0, 1, 3, 1000), XOFF_POOL_HEADROOM);
    expect_used(&b, 1000, 1000, 3000);
    /* Headroom 4000 > 3000 and 1000 + 1000 > T = 1875. */
    assert_int_equal(bench_arrive(&b, 0, 1, 3, 1000), XOFF_POOL_DROP);
    expect_no_crossing(&b);
    /* 875 + 1000 <= 1875: the headroom is not asked. */
    assert_int_equal(bench_arrive(&b, 0, 1, 3, 875), XOFF_POOL_SHARED);
    expect_used(&b, 1000, 1875, 3000);
    bench_depart(&b, 0, 1, 3, 875, XOFF_POOL_SHARED);
    expect_used(&b, 1000, 1875, 2125);
    assert_int_equal(xoff_mmu_headroom_peak(&b.mmu, 0, 3), 3000);
    assert_int_equal(xoff_mmu_headroom_peak(&b.mmu, 1, 3), 0);

    /* Departures empty the headroom first, whatever pool the frame was given. */
    bench_depart(&b, 0, 1, 3, 2000, XOFF_POOL_RESERVED);
    expect_no_crossing(&b);
    /* 125 from headroom, 875 shared: 1000 + 500 <= 15000/8 = 1875: XON at 1875 - 500 = 1375. */
    bench_depart(&b, 0, 1, 3, 1000, XOFF_POOL_SHARED);
    expect_used(&b, 1000, 1000, 0);
    expect_crossing(&b, 0, 1000, 1375);
    bench_depart(&b, 0, 1, 3, 1500, XOFF_POOL_HEADROOM);
    expect_used(&b, 500, 0, 0);
    expect_no_crossing(&b);
    bench_depart(&b, 0, 1, 3, 500, XOFF_POOL_HEADROOM);
    expect_used(&b, 0, 0, 0);
    const struct xoff_mmu_view v = bench_view(&b);
    assert_int_equal(v.peak_total_bytes, 5875);
    assert_int_equal(v.peak_bytes[XOFF_POOL_RESERVED], 1000);
    assert_int_equal(v.peak_bytes[XOFF_POOL_SHARED], 1875);
    assert_int_equal(v.peak_bytes[XOFF_POOL_HEADROOM], 3000);
    assert_int_equal(v.capacity_bytes[XOFF_POOL_RESERVED], 4000);
    assert_int_equal(v.capacity_bytes[XOFF_POOL_SHARED], 16000);
    assert_int_equal(v.capacity_bytes[XOFF_POOL_HEADROOM], 12000);
    bench_end(&b);
}

static void test_reserve_and_shared_boundaries(void **unused)
{
    (void)unused;
    struct bench b;
    setup_small(&b);
    bench_start(&b);
    assert_int_equal(bench_arrive(&b, 0, 1, 3, 1000), XOFF_POOL_RESERVED);
    bench_restart(&b);
    /* One byte beyond the reserve is one shared byte. */
    assert_int_equal(bench_arrive(&b, 0, 1, 3, 1001), XOFF_POOL_SHARED);
    expect_used(&b, 1000, 1, 0);
    /* From a half full reserve: 500 + 2500 - 1000 = 2000 <= T = 2000. T falls to 14000/8. */
    bench_restart(&b);
    bench_arrive(&b, 0, 1, 3, 500);
    assert_int_equal(bench_arrive(&b, 0, 1, 3, 2500), XOFF_POOL_SHARED);
    expect_used(&b, 1000, 2000, 0);
    expect_crossing(&b, 1, 2000, 1750);
    bench_restart(&b);
    bench_arrive(&b, 0, 1, 3, 500);
    assert_int_equal(bench_arrive(&b, 0, 1, 3, 2501), XOFF_POOL_HEADROOM);
    expect_used(&b, 500, 0, 2501);
    expect_crossing(&b, 1, 2501, 2000);
    bench_end(&b);
}

/* shared >= T after admission: at 1777, T = 14223/8 = 1777; at 1776, T = 14224/8 = 1778.
 * From 1777 a departure of y leaves T = (14223 + y)/8. y = 444: 1333 + 500 <= 14667/8 = 1833.
 * y = 443: 1334 + 500 > 14666/8 = 1833. */
static void test_xoff_and_xon_boundaries(void **unused)
{
    (void)unused;
    struct bench b;
    setup_small(&b);
    bench_start(&b);
    bench_arrive(&b, 2, 1, 3, 1000);
    assert_int_equal(bench_arrive(&b, 2, 1, 3, 1776), XOFF_POOL_SHARED);
    expect_no_crossing(&b);
    for (uint32_t y = 443; y <= 444; y++) {
        bench_restart(&b);
        bench_arrive(&b, 2, 1, 3, 1000);
        assert_int_equal(bench_arrive(&b, 2, 1, 3, 1777), XOFF_POOL_SHARED);
        expect_crossing(&b, 1, 1777, 1777);
        bench_depart(&b, 2, 1, 3, y, XOFF_POOL_SHARED);
        if (y == 443)
            expect_no_crossing(&b);
        else
            expect_crossing(&b, 0, 1333, 1333);
    }
    /* Below T again, it can pause again. */
    bench_arrive(&b, 2, 1, 3, 444);
    expect_crossing(&b, 1, 1777, 1777);
    bench_end(&b);

    /* An offset larger than T: XON with the last shared byte, not before. */
    setup_small(&b);
    bench_set(&b, "resume_offset", "20000B");
    bench_start(&b);
    bench_arrive(&b, 0, 1, 3, 2777);
    bench_depart(&b, 0, 1, 3, 1776, XOFF_POOL_SHARED);
    expect_no_crossing(&b);
    bench_depart(&b, 0, 1, 3, 1, XOFF_POOL_SHARED);
    expect_crossing(&b, 0, 0, 0);
    bench_end(&b);
}

/* Others move T; the queue is told with its own next frame, XOFF at an arrival, XON at a departure.
 */
static void test_told_at_own_frames_only(void **unused)
{
    (void)unused;
    struct bench b;
    setup_small(&b);
    b.ports[2].rate_bps = 800 * XOFF_GBPS; /* shift 0: port 2 may take all; 24000 of headroom */
    b.env.buffer_bytes = 32000 + 21000;
    bench_start(&b);
    bench_arrive(&b, 0, 1, 3, 2000);
    expect_no_crossing(&b);
    /* Free 15000 - 7400 = 7600, T = 950 < 1000 at port 0; 7600 at port 2. */
    assert_int_equal(bench_arrive(&b, 2, 1, 3, 8400), XOFF_POOL_SHARED);
    expect_no_crossing(&b);
    /* A departure of port 0 does not pause. */
    bench_depart(&b, 0, 1, 3, 10, XOFF_POOL_SHARED);
    expect_no_crossing(&b);
    assert_int_equal(bench_arrive(&b, 0, 1, 3, 100), XOFF_POOL_HEADROOM);
    expect_crossing(&b, 1, 990 + 100, 951);
    bench_depart(&b, 0, 1, 3, 100, XOFF_POOL_SHARED);
    expect_no_crossing(&b);
    /* T = 15010/8 = 1876: an arrival does not resume. */
    bench_depart(&b, 2, 1, 3, 8400, XOFF_POOL_SHARED);
    expect_no_crossing(&b);
    assert_int_equal(bench_arrive(&b, 0, 1, 3, 10), XOFF_POOL_SHARED);
    expect_no_crossing(&b);
    bench_depart(&b, 0, 1, 3, 10, XOFF_POOL_SHARED);
    expect_crossing(&b, 0, 990, 1376);
    bench_end(&b);
}

/* Lost only when headroom and T are both exceeded; then nobody is paused for it. */
static void test_loss_needs_both(void **unused)
{
    (void)unused;
    struct bench b;
    setup_small(&b);
    bench_set(&b, "headroom", "700B"); /* 4000 + 2800 + 25200: T = 3150 */
    bench_start(&b);
    assert_int_equal(bench_view(&b).capacity_bytes[XOFF_POOL_SHARED], 25200);
    assert_int_equal(bench_arrive(&b, 0, 1, 3, 3151), XOFF_POOL_DROP);
    expect_no_crossing(&b);
    /* A frame is held against T whole, though 1000 of its bytes go to the reserve. */
    assert_int_equal(bench_arrive(&b, 0, 1, 3, 3150), XOFF_POOL_SHARED);
    expect_used(&b, 1000, 2150, 0);
    /* T = 23050/8 = 2881, shared 2150: 731 fit T; then the headroom takes 700 and not 701. */
    assert_int_equal(bench_arrive(&b, 0, 1, 3, 732), XOFF_POOL_DROP);
    expect_no_crossing(&b);
    assert_int_equal(bench_arrive(&b, 0, 1, 3, 731), XOFF_POOL_SHARED);
    expect_crossing(&b, 1, 2881, 2789);
    assert_int_equal(bench_arrive(&b, 0, 1, 3, 701), XOFF_POOL_DROP);
    assert_int_equal(bench_arrive(&b, 0, 1, 3, 700), XOFF_POOL_HEADROOM);
    assert_int_equal(bench_arrive(&b, 0, 1, 3, 1), XOFF_POOL_DROP);
    bench_end(&b);

    /* Nothing is shared, so T = 0. A frame that the reserve could hold still needs as much free
     * headroom, and it pauses since shared 0 >= T 0. */
    setup_small(&b);
    bench_set(&b, "headroom", "700B");
    b.env.buffer_bytes = 4 * 1700;
    bench_start(&b);
    assert_int_equal(bench_arrive(&b, 0, 1, 3, 701), XOFF_POOL_DROP);
    expect_no_crossing(&b);
    assert_int_equal(bench_arrive(&b, 0, 1, 3, 700), XOFF_POOL_RESERVED);
    expect_crossing(&b, 1, 0, 0);
    bench_depart(&b, 0, 1, 3, 700, XOFF_POOL_RESERVED);
    expect_crossing(&b, 0, 0, 0);
    bench_end(&b);
}

static void test_priority_0_is_outside(void **unused)
{
    (void)unused;
    struct bench b;
    setup_small(&b);
    b.env.lossless = LOSSLESS_3 | 1;
    b.overcommits = true;
    bench_start(&b);
    for (uint32_t n = 0; n < 20; n++) {
        assert_int_equal(bench_arrive(&b, 0, 1, 0, 9000), XOFF_POOL_RESERVED);
        expect_no_crossing(&b);
    }
    expect_used(&b, 180000, 0, 0);
    assert_int_equal(bench_view(&b).capacity_bytes[XOFF_POOL_RESERVED], 4000 + 180000);
    assert_int_equal(xoff_mmu_ingress_bytes(&b.mmu, 0, 0), 180000);
    /* The others have what they had: reserve 1000, T = 2000. */
    assert_int_equal(bench_arrive(&b, 0, 1, 3, 1000), XOFF_POOL_RESERVED);
    expect_no_crossing(&b);
    assert_int_equal(bench_arrive(&b, 0, 1, 3, 2001), XOFF_POOL_HEADROOM);
    expect_crossing(&b, 1, 2001, 2000);
    for (uint32_t n = 0; n < 20; n++) {
        bench_depart(&b, 0, 1, 0, 9000, XOFF_POOL_RESERVED);
        expect_no_crossing(&b);
    }
    expect_used(&b, 1000, 0, 2001);
    assert_int_equal(bench_view(&b).capacity_bytes[XOFF_POOL_RESERVED], 4000 + 180000);
    bench_end(&b);
}

/* Reserve and headroom are set aside once per port, and each priority may use all of it. */
static void test_priorities_share_what_is_set_aside(void **unused)
{
    (void)unused;
    struct bench b;
    setup_small(&b);
    b.env.lossless = 0xfe;
    b.env.buffer_bytes = 16000; /* nothing shared */
    b.overcommits = true;
    bench_start(&b);
    for (uint8_t priority = 1; priority < 8; priority++) {
        assert_int_equal(bench_arrive(&b, 0, 1, priority, 1000), XOFF_POOL_RESERVED);
        assert_int_equal(bench_arrive(&b, 0, 1, priority, 3000), XOFF_POOL_HEADROOM);
        assert_int_equal(bench_arrive(&b, 0, 1, priority, 1), XOFF_POOL_DROP);
        const struct xoff_mmu_view v = bench_view(&b);
        assert_int_equal(v.capacity_bytes[XOFF_POOL_RESERVED], priority * 4000);
        assert_int_equal(v.capacity_bytes[XOFF_POOL_HEADROOM], priority * 12000);
        assert_int_equal(v.capacity_total_bytes, 16000);
    }
    assert_int_equal(bench_view(&b).used_total_bytes, 28000);
    bench_end(&b);
}

/* A lossy priority has the same space and tells nobody. */
static void test_lossy_priority(void **unused)
{
    (void)unused;
    struct bench b;
    setup_small(&b);
    bench_start(&b);
    assert_int_equal(bench_arrive(&b, 0, 1, 5, 3000), XOFF_POOL_SHARED);
    expect_no_crossing(&b);
    assert_int_equal(bench_arrive(&b, 0, 1, 5, 3000), XOFF_POOL_HEADROOM);
    expect_no_crossing(&b);
    assert_int_equal(bench_arrive(&b, 0, 1, 5, 1), XOFF_POOL_DROP);
    bench_depart(&b, 0, 1, 5, 6000, XOFF_POOL_SHARED);
    expect_no_crossing(&b);
    expect_used(&b, 0, 0, 0);
    bench_end(&b);
}

/* factor * floor(rate * delay / 8): 100 Gb/s for 81 ns are 1012.5 bytes, thrice that 3036. */
static void test_headroom_of_a_port(void **unused)
{
    (void)unused;
    static const struct {
        xoff_rate rate_bps;
        xoff_time delay;
        const char *factor;
        int64_t headroom;
    } rows[] = {
        {100 * XOFF_GBPS, 1 * XOFF_US, "3", 37500},
        {100 * XOFF_GBPS, 81 * XOFF_NS, "3", 3036},
        {100 * XOFF_GBPS, 81 * XOFF_NS, "2", 2024},
        {25 * XOFF_GBPS, 1 * XOFF_US, "3", 9375},
        {400 * XOFF_GBPS, 5 * XOFF_US, "3", 750000},
        {40 * XOFF_GBPS, 1500, "3", 21}, /* 7.5 bytes */
        {10 * XOFF_GBPS, 700, "3", 0},   /* 0.875 bytes */
        {10 * XOFF_GBPS, 800, "3", 3},
        {100 * XOFF_GBPS, 1 * XOFF_US, "0", 0},
        {100 * XOFF_GBPS, 0, "3", 0},
        {1600 * XOFF_GBPS, XOFF_S, "5", INT64_C(1000000000000)},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct bench b;
        bench_setup(&b, &xoff_mmu_ns3, LOSSLESS_3, INT64_C(1) << 40);
        b.env.n_ports = 1;
        b.env.nic_rate_bps = 1600 * XOFF_GBPS;
        b.ports[0].rate_bps = rows[i].rate_bps;
        b.ports[0].delay = rows[i].delay;
        bench_set(&b, "headroom_factor", rows[i].factor);
        bench_start(&b);
        assert_int_equal(bench_view(&b).capacity_bytes[XOFF_POOL_HEADROOM], rows[i].headroom);
        bench_end(&b);
        /* A given headroom is taken as it is. */
        bench_set(&b, "headroom", "12345B");
        bench_start(&b);
        assert_int_equal(bench_view(&b).capacity_bytes[XOFF_POOL_HEADROOM], 12345);
        bench_end(&b);
    }
}

/* T of an empty switch with 80000 shared bytes and neither reserve nor headroom. */
static void test_shift_follows_the_rate(void **unused)
{
    (void)unused;
    static const struct {
        xoff_rate rate_bps;
        const char *shift;
        uint32_t threshold;
    } rows[] = {
        {10 * XOFF_GBPS, "3", 10000},   {100 * XOFF_GBPS, "3", 10000},
        {100000000001, "3", 20000}, /* one bit more: halved once */
        {150 * XOFF_GBPS, "3", 20000},  {200 * XOFF_GBPS, "3", 20000},
        {200000000001, "3", 20000}, /* halves to 100 G, the half bit is cut */
        {200000000002, "3", 40000},     {400 * XOFF_GBPS, "3", 40000},
        {800 * XOFF_GBPS, "3", 80000},  {1600 * XOFF_GBPS, "3", 80000}, /* not below 0 */
        {1600 * XOFF_GBPS, "5", 40000}, {100 * XOFF_GBPS, "0", 80000},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct bench b;
        bench_setup(&b, &xoff_mmu_ns3, LOSSLESS_3, 80000);
        bench_set(&b, "reserved", "0B");
        bench_set(&b, "headroom", "0B");
        bench_set(&b, "shift", rows[i].shift);
        b.ports[1].rate_bps = rows[i].rate_bps;
        bench_start(&b);
        assert_int_equal(bench_arrive(&b, 1, 0, 3, rows[i].threshold + 1), XOFF_POOL_DROP);
        assert_int_equal(bench_arrive(&b, 1, 0, 3, rows[i].threshold), XOFF_POOL_SHARED);
        bench_end(&b);
    }
}

static void test_refuses_small_buffers(void **unused)
{
    (void)unused;
    struct bench b;
    /* 4 * (4096 + 3000) = 28384 */
    bench_setup(&b, &xoff_mmu_ns3, LOSSLESS_3, 28383);
    assert_int_equal(bench_configure(&b), -XOFF_E_CONFLICT);
    assert_string_equal(b.err.subject, "buffer");
    assert_non_null(strstr(b.err.message, "28384"));
    assert_non_null(strstr(b.err.message, "12000"));
    b.env.buffer_bytes = 28384;
    bench_start(&b);
    assert_int_equal(bench_view(&b).capacity_bytes[XOFF_POOL_SHARED], 0);
    bench_end(&b);

    /* A link that holds more than the buffer, also beyond what a 64-bit sum can say. */
    b.ports[2].delay = XOFF_NEVER;
    b.ports[2].rate_bps = UINT64_MAX;
    assert_int_equal(bench_configure(&b), -XOFF_E_CONFLICT);
    assert_non_null(strstr(b.err.message, "port 2"));
    /* 4 * 8e12 bit/s for 2^62 ps are 2^64 bytes. */
    b.ports[2].delay = INT64_C(1) << 62;
    b.ports[2].rate_bps = 32000 * XOFF_GBPS;
    assert_int_equal(bench_configure(&b), -XOFF_E_CONFLICT);
    b.ports[2].delay = XOFF_MS;
    b.ports[2].rate_bps = 100 * XOFF_GBPS;
    assert_int_equal(bench_configure(&b), -XOFF_E_CONFLICT);
    assert_non_null(strstr(b.err.message, "100Gbps, 1ms"));

    bench_setup(&b, &xoff_mmu_ns3, LOSSLESS_3, (INT64_C(1) << 40) + 1);
    assert_int_equal(bench_configure(&b), -XOFF_E_RANGE);
    b.env.buffer_bytes--;
    bench_start(&b);
    bench_end(&b);
    b.env.buffer_bytes = 0;
    assert_int_equal(bench_configure(&b), -XOFF_E_RANGE);
}

static void test_defaults(void **unused)
{
    (void)unused;
    static const char *const expected[][2] = {{"reserved", "4096B"},
                                              {"headroom", "auto"},
                                              {"headroom_factor", "3"},
                                              {"shift", "3"},
                                              {"resume_offset", "3072B"}};
    struct bench b, given;
    bench_setup(&b, &xoff_mmu_ns3, LOSSLESS_3, 1000000);
    bench_setup(&given, &xoff_mmu_ns3, LOSSLESS_3, 1000000);
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++)
        bench_set(&given, expected[i][0], expected[i][1]);
    assert_memory_equal(b.params, given.params, xoff_mmu_ns3.params_size);
}

/* Two senders of 1000 frames each to one receiver.
 *
 *   s0 --1 us--> port 0 --+
 *                         +--> port 2 --> receiver        all links 100 Gb/s
 *   s1 --1 us--> port 1 --+
 *
 * A frame of 1048 bytes takes 83 ns on a link (times are cut to whole nanoseconds), a pause or
 * resume 3 ns. So a frame is at the switch 1083 ns after its start, and a decision reaches the
 * sender 1003 ns after it was made; the frame then on the wire is sent to its end. Of events at the
 * same instant the ports come in order, and the end of a transmission comes last.
 *
 * Buffer 1 MiB, headroom 3 * 12500, reserve 4096: 923788 bytes are shared. Each queue fills by half
 * a frame in 83 ns and pauses when s >= (923788 - 2 s) / 8, s = 92379: with 4096 more that is after
 * about 184 of those steps, 1083 + 184 * 83 = 16355 ns. */
#define FRAME_BYTES 1048
#define FRAME_NS 83
#define TO_SWITCH_NS (FRAME_NS + 1000)
#define TO_SENDER_NS (3 + 1000)
#define RUN_NS 170000

struct sender {
    uint32_t n_left;
    uint32_t free_at_ns;
    bool is_paused;
    bool arrives[RUN_NS + TO_SWITCH_NS];      /* a frame, at the switch */
    signed char hears[RUN_NS + TO_SENDER_NS]; /* 1: pause, -1: resume */
};

struct decision {
    uint32_t at_ns;
    uint16_t port;
    uint8_t above;
};

struct two_senders {
    struct bench b;
    struct sender senders[2];
    uint16_t queue[2000]; /* ports the frames came from, in order */
    uint32_t head, tail;
    uint32_t busy_until_ns; /* 0: the egress port is idle */
    struct decision decisions[100];
    uint32_t n_decisions;
};

static void note_decision(struct two_senders *two, uint32_t now_ns)
{
    if (!two->b.crossings.n)
        return;
    const struct xoff_crossing *x = &two->b.crossings.at[0];
    assert_true(two->n_decisions < 100);
    two->decisions[two->n_decisions++] = (struct decision){now_ns, x->port, x->above};
    two->senders[x->port].hears[now_ns + TO_SENDER_NS] = x->above ? 1 : -1;
}

static void send_next(struct two_senders *two, uint32_t now_ns)
{
    two->busy_until_ns = 0;
    if (two->head == two->tail)
        return;
    two->busy_until_ns = now_ns + FRAME_NS;
    bench_depart(&two->b, two->queue[two->head++], 2, 3, FRAME_BYTES, XOFF_POOL_SHARED);
    note_decision(two, now_ns);
}

static void run_two_senders(struct two_senders *two)
{
    for (uint32_t now = 0; now < RUN_NS; now++) {
        for (uint16_t port = 0; port < 2; port++) {
            struct sender *s = &two->senders[port];
            if (s->hears[now])
                s->is_paused = s->hears[now] > 0;
            if (s->n_left && !s->is_paused && s->free_at_ns <= now) {
                s->n_left--;
                s->free_at_ns = now + FRAME_NS;
                s->arrives[now + TO_SWITCH_NS] = true;
            }
            if (!s->arrives[now])
                continue;
            assert_true(bench_arrive(&two->b, port, 2, 3, FRAME_BYTES) != XOFF_POOL_DROP);
            note_decision(two, now);
            two->queue[two->tail++] = port;
            if (!two->busy_until_ns)
                send_next(two, now);
        }
        if (two->busy_until_ns == now && now)
            send_next(two, now);
    }
}

/* The decisions of port 1; port 0 follows each one frame time later. After the first round, which
 * starts from empty queues, they come again every 112 frame times. */
static void test_two_senders(void **unused)
{
    (void)unused;
    static struct two_senders two;
    struct decision expected[60];
    uint32_t n = 0;
    for (uint32_t round = 0; round < 15; round++) {
        const uint32_t xoff_ns = round == 0 ? 16272 : 25496 + (round - 1) * 9296;
        const uint32_t xon_ns = round == 0 ? 20920 : 30216 + (round - 1) * 9296;
        expected[n++] = (struct decision){xoff_ns, 1, 1};
        expected[n++] = (struct decision){xoff_ns + FRAME_NS, 0, 1};
        expected[n++] = (struct decision){xon_ns, 1, 0};
        expected[n++] = (struct decision){xon_ns + FRAME_NS, 0, 0};
    }
    bench_setup(&two.b, &xoff_mmu_ns3, LOSSLESS_3, 1 << 20);
    two.b.env.n_ports = 3;
    for (uint32_t port = 0; port < 3; port++)
        two.b.ports[port].delay = XOFF_US;
    bench_start(&two.b);
    two.senders[0].n_left = two.senders[1].n_left = 1000;
    run_two_senders(&two);
    assert_int_equal(two.tail, 2000);
    assert_int_equal(two.head, 2000);
    assert_int_equal(two.n_decisions, n);
    for (uint32_t i = 0; i < n; i++) {
        assert_int_equal(two.decisions[i].at_ns, expected[i].at_ns);
        assert_int_equal(two.decisions[i].port, expected[i].port);
        assert_int_equal(two.decisions[i].above, expected[i].above);
    }
    expect_used(&two.b, 0, 0, 0);
    bench_end(&two.b);
}

/* A slow model: reserve, shared and headroom bytes of each queue are numbers of their own, totals
 * are summed anew for each question, and T is a division. */
struct model {
    uint32_t n_ports;
    uint8_t lossless;
    int64_t reserve, offset, shared_capacity;
    int64_t limits[MAX_PORTS], divisors[MAX_PORTS];
    int64_t pools[MAX_PORTS][XOFF_N_PRIORITIES][XOFF_N_POOLS];
    bool paused[MAX_PORTS][XOFF_N_PRIORITIES];
    int64_t peak_total, peaks[XOFF_N_POOLS];
};

static int64_t model_used(const struct model *m, enum xoff_pool pool)
{
    int64_t sum = 0;
    for (uint32_t port = 0; port < m->n_ports; port++)
        for (uint32_t n = 0; n < XOFF_N_PRIORITIES; n++)
            sum += m->pools[port][n][pool];
    return sum;
}

static int64_t model_threshold(const struct model *m, uint32_t port)
{
    return (m->shared_capacity - model_used(m, XOFF_POOL_SHARED)) / m->divisors[port];
}

static void model_note_peaks(struct model *m)
{
    int64_t total = 0;
    for (int pool = XOFF_POOL_RESERVED; pool < XOFF_N_POOLS; pool++) {
        const int64_t used = model_used(m, (enum xoff_pool)pool);
        m->peaks[pool] = used > m->peaks[pool] ? used : m->peaks[pool];
        total += used;
    }
    m->peak_total = total > m->peak_total ? total : m->peak_total;
}

static enum xoff_pool model_put(struct model *m, const struct traffic_frame *f)
{
    int64_t *pools = m->pools[f->in_port][f->priority];
    if (f->priority == 0) {
        pools[XOFF_POOL_RESERVED] += f->bytes;
        return XOFF_POOL_RESERVED;
    }
    const int64_t threshold = model_threshold(m, f->in_port);
    const bool headroom_is_full = pools[XOFF_POOL_HEADROOM] + f->bytes > m->limits[f->in_port];
    const bool share_is_full = pools[XOFF_POOL_SHARED] + f->bytes > threshold;
    if (headroom_is_full && share_is_full)
        return XOFF_POOL_DROP;
    const int64_t room = m->reserve - pools[XOFF_POOL_RESERVED];
    const int64_t to_reserve = f->bytes < room ? f->bytes : room;
    if (pools[XOFF_POOL_SHARED] + f->bytes - to_reserve > threshold) {
        pools[XOFF_POOL_HEADROOM] += f->bytes;
        return XOFF_POOL_HEADROOM;
    }
    pools[XOFF_POOL_RESERVED] += to_reserve;
    pools[XOFF_POOL_SHARED] += f->bytes - to_reserve;
    return to_reserve < f->bytes ? XOFF_POOL_SHARED : XOFF_POOL_RESERVED;
}

/* Answers the pool; sets *crossed to 1 when XOFF is decided. */
static enum xoff_pool model_arrive(struct model *m, const struct traffic_frame *f, int *crossed)
{
    const int64_t *pools = m->pools[f->in_port][f->priority];
    bool *paused = &m->paused[f->in_port][f->priority];
    const enum xoff_pool pool = model_put(m, f);
    model_note_peaks(m);
    *crossed = pool != XOFF_POOL_DROP && f->priority > 0 && (m->lossless >> f->priority & 1) &&
               !*paused &&
               (pools[XOFF_POOL_HEADROOM] > 0 ||
                pools[XOFF_POOL_SHARED] >= model_threshold(m, f->in_port));
    *paused |= *crossed;
    return pool;
}

/* Sets *crossed to 1 when XON is decided. */
static void model_depart(struct model *m, const struct traffic_frame *f, int *crossed)
{
    int64_t *pools = m->pools[f->in_port][f->priority];
    int64_t left = f->bytes;
    for (int pool = XOFF_POOL_HEADROOM; pool >= XOFF_POOL_RESERVED; pool--) {
        const int64_t taken = left < pools[pool] ? left : pools[pool];
        pools[pool] -= taken;
        left -= taken;
    }
    assert_int_equal(left, 0);
    *crossed = m->paused[f->in_port][f->priority] && pools[XOFF_POOL_HEADROOM] == 0 &&
               (pools[XOFF_POOL_SHARED] == 0 ||
                pools[XOFF_POOL_SHARED] + m->offset <= model_threshold(m, f->in_port));
    if (*crossed)
        m->paused[f->in_port][f->priority] = false;
}

static void setup_random(struct bench *b, struct model *m, struct xoff_rng *rng, uint8_t lossless)
{
    static const xoff_rate rates[] = {50 * XOFF_GBPS, 100 * XOFF_GBPS, 200 * XOFF_GBPS,
                                      400 * XOFF_GBPS, 800 * XOFF_GBPS};
    static const int64_t divisors[] = {8, 8, 4, 2, 1}; /* for hosts of 100 Gb/s */
    memset(m, 0, sizeof *m);
    *m = (struct model){.n_ports = 2 + (uint32_t)xoff_rng_below(rng, 5),
                        .lossless = lossless,
                        .reserve = (int64_t)xoff_rng_below(rng, 3) * 1111,
                        .offset = (int64_t)xoff_rng_below(rng, 3) * 700,
                        .shared_capacity = (int64_t)xoff_rng_below(rng, 40000)};
    bench_setup(b, &xoff_mmu_ns3, lossless, m->shared_capacity);
    b->overcommits = true;
    b->env.n_ports = m->n_ports;
    for (uint32_t port = 0; port < m->n_ports; port++) {
        const uint64_t i = xoff_rng_below(rng, 5);
        const int64_t delay_ns = (int64_t)xoff_rng_below(rng, 4) * 40;
        b->ports[port].rate_bps = rates[i];
        b->ports[port].delay = delay_ns * XOFF_NS;
        m->divisors[port] = divisors[i];
        m->limits[port] = 3 * delay_ns * (int64_t)(rates[i] / XOFF_GBPS) / 8;
        b->env.buffer_bytes += m->reserve + m->limits[port];
    }
    bench_set_bytes(b, "reserved", m->reserve);
    bench_set_bytes(b, "resume_offset", m->offset);
    b->env.buffer_bytes += b->env.buffer_bytes == 0;
    bench_start(b);
    m->shared_capacity = bench_view(b).capacity_bytes[XOFF_POOL_SHARED];
}

/* Every set of lossless priorities, each with other parameters and other traffic: pools, crossings,
 * totals and peaks as in the model at every step, nothing left at the end. */
static void test_random_traffic_against_model(void **unused)
{
    (void)unused;
    static struct traffic t;
    uint64_t n_pools[XOFF_N_POOLS] = {0}, n_xoff = 0;
    for (uint32_t lossless = 0; lossless < 256; lossless++) {
        struct bench b;
        struct model m;
        int crossed;
        xoff_rng_init(&t.rng, 1978, lossless, 1);
        setup_random(&b, &m, &t.rng, (uint8_t)lossless);
        for (uint32_t step = 0; step < 1000 || t.n > 0; step++) {
            /* Bursts and lulls; only departures at the end. */
            const uint32_t arrivals_in_8 = step >= 1000 ? 0 : step / 100 % 2 ? 2 : 7;
            if (t.n < MAX_FRAMES && xoff_rng_below(&t.rng, 8) < arrivals_in_8) {
                struct traffic_frame f = traffic_next(&t, &b);
                f.pool = model_arrive(&m, &f, &crossed);
                assert_int_equal(bench_arrive(&b, f.in_port, f.out_port, f.priority, f.bytes),
                                 f.pool);
                assert_int_equal(b.crossings.n, crossed);
                if (f.pool != XOFF_POOL_DROP)
                    t.frames[t.n++] = f;
            } else if (t.n > 0) {
                const struct traffic_frame f = traffic_take(&t);
                model_depart(&m, &f, &crossed);
                bench_depart(&b, f.in_port, f.out_port, f.priority, f.bytes, f.pool);
                assert_int_equal(b.crossings.n, crossed);
            }
            expect_used(&b, model_used(&m, XOFF_POOL_RESERVED), model_used(&m, XOFF_POOL_SHARED),
                        model_used(&m, XOFF_POOL_HEADROOM));
            assert_int_equal(bench_view(&b).peak_total_bytes, m.peak_total);
            assert_memory_equal(bench_view(&b).peak_bytes, m.peaks, sizeof m.peaks);
        }
        expect_used(&b, 0, 0, 0);
        assert_int_equal(b.n_xoff, b.n_xon);
        for (int pool = 0; pool < XOFF_N_POOLS; pool++)
            n_pools[pool] += b.n_pools[pool];
        n_xoff += b.n_xoff;
        bench_end(&b);
    }
    /* The traffic reached every branch. */
    for (int pool = 0; pool <= XOFF_POOL_HEADROOM; pool++)
        assert_true(n_pools[pool] > 5000);
    assert_int_equal(n_pools[XOFF_POOL_INSURANCE], 0);
    assert_true(n_xoff > 5000);
}

/* State is plain bytes: a copy goes on like the original. */
static void test_state_can_be_copied(void **unused)
{
    (void)unused;
    struct bench b;
    setup_small(&b);
    bench_start(&b);
    bench_arrive(&b, 0, 1, 3, 1000);
    bench_arrive(&b, 0, 1, 3, 2001);
    const size_t size = b.mmu.shape.state_size;
    void *copy = malloc(size);
    assert_non_null(copy);
    memcpy(copy, b.mmu.state, size);
    struct xoff_mmu twin = b.mmu;
    struct xoff_crossings crossings;
    twin.state = copy;
    const struct xoff_departure d = {
        .in_port = 0, .out_port = 1, .priority = 3, .pool = XOFF_POOL_HEADROOM, .bytes = 2001};
    xoff_mmu_release(&twin, &d, 0, &crossings);
    bench_depart(&b, 0, 1, 3, 2001, XOFF_POOL_HEADROOM);
    assert_int_equal(crossings.n, 1);
    assert_memory_equal(copy, b.mmu.state, size);
    free(copy);
    bench_end(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_trace_of_one_queue),
        cmocka_unit_test(test_reserve_and_shared_boundaries),
        cmocka_unit_test(test_xoff_and_xon_boundaries),
        cmocka_unit_test(test_told_at_own_frames_only),
        cmocka_unit_test(test_loss_needs_both),
        cmocka_unit_test(test_priority_0_is_outside),
        cmocka_unit_test(test_priorities_share_what_is_set_aside),
        cmocka_unit_test(test_lossy_priority),
        cmocka_unit_test(test_headroom_of_a_port),
        cmocka_unit_test(test_shift_follows_the_rate),
        cmocka_unit_test(test_refuses_small_buffers),
        cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_two_senders),
        cmocka_unit_test(test_random_traffic_against_model),
        cmocka_unit_test(test_state_can_be_copied),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
