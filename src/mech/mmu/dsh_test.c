/* Dynamic and shared headroom: thresholds from both sides, traces worked by hand, and random
 * traffic against a slow model.
 *
 * Unless a test says otherwise the switch has four ports and
 *
 *   priorities 3 and 4 lossless (N = 2), 1000 bytes of reserve each      4 * 2 * 1000 =  8000
 *   eta = 3000 bytes of insurance per port                                   4 * 3000 = 12000
 *   one pool, in which nothing is set aside for lossy traffic                           64000
 *   alpha 1/16: T = 4000, X_qoff = T - eta = 1000 and X_poff = 2 T = 8000 when it is empty
 *   resume_offset (delta_q) 300, port_resume_offset (delta_p) 500
 *
 * w is what a queue holds beyond its reserve, S what the queues of a port hold in the pool, I what
 * they hold in insurance.
 */
#include "mech/mmu/mmu_testing.h"

#include "mech/mechanisms.h"

#define LOSSLESS_34 0x18

static void setup_small(struct bench *b)
{
    bench_setup(b, &xoff_mmu_dsh, LOSSLESS_34, 84000);
    bench_set(b, "reserved", "1000B");
    bench_set(b, "reserved_lossy", "0B");
    bench_set(b, "resume_offset", "300B");
    bench_set(b, "port_resume_offset", "500B");
    b->has_port_level = true;
}

/* An empty switch again, with the reserves of port 0 full. */
static void refill(struct bench *b)
{
    bench_restart(b);
    assert_int_equal(bench_arrive(b, 0, 1, 3, 1000), XOFF_POOL_RESERVED);
    expect_no_crossing(b);
    assert_int_equal(bench_arrive(b, 0, 1, 4, 1000), XOFF_POOL_RESERVED);
    expect_no_crossing(b);
}

static void start_small(struct bench *b)
{
    setup_small(b);
    bench_start(b);
    refill(b);
}

static void expect_unit(const struct bench *b, uint32_t i, uint8_t unit, int above,
                        int64_t occupied, int64_t threshold)
{
    assert_int_equal(b->crossings.at[i].unit, unit);
    assert_int_equal(b->crossings.at[i].above, above);
    assert_int_equal(b->crossings.at[i].occupied_bytes, occupied);
    assert_int_equal(b->crossings.at[i].threshold_bytes, threshold);
}

static void expect_queue(const struct bench *b, int above, int64_t occupied, int64_t threshold)
{
    assert_int_equal(b->crossings.n, 1);
    expect_unit(b, 0, XOFF_UNIT_INGRESS, above, occupied, threshold);
}

static void expect_port(const struct bench *b, int above, int64_t occupied, int64_t threshold)
{
    assert_int_equal(b->crossings.n, 1);
    expect_unit(b, 0, XOFF_UNIT_INGRESS_PORT, above, occupied, threshold);
}

static void expect_both(const struct bench *b, int above, int64_t occupied, int64_t threshold,
                        int64_t port_occupied, int64_t port_threshold)
{
    assert_int_equal(b->crossings.n, 2);
    expect_unit(b, 0, XOFF_UNIT_INGRESS, above, occupied, threshold);
    expect_unit(b, 1, XOFF_UNIT_INGRESS_PORT, above, port_occupied, port_threshold);
}

static void expect_pools(const struct bench *b, int64_t reserved, int64_t shared, int64_t headroom,
                         int64_t insurance)
{
    expect_used(b, reserved, shared, headroom);
    assert_int_equal(bench_view(b).used_bytes[XOFF_POOL_INSURANCE], insurance);
}

/* Lossy traffic of port 2 takes `bytes` of the pool, and gives them back. */
static void lossy_in(struct bench *b, uint32_t bytes)
{
    assert_int_equal(bench_arrive(b, 2, 1, 0, bytes), XOFF_POOL_SHARED);
    expect_no_crossing(b);
}

static void lossy_out(struct bench *b, uint32_t bytes)
{
    bench_depart(b, 2, 1, 0, bytes, XOFF_POOL_SHARED);
    expect_no_crossing(b);
}

/* One queue, frames of 1000 bytes, through all parts of the buffer to a loss and down again; the
 * example of docs/mechanisms/dsh.md. The queue is paused first, the port resumes first. */
static void test_trace_of_one_queue(void **unused)
{
    (void)unused;
    struct bench b;
    setup_small(&b);
    bench_start(&b);
    assert_int_equal(bench_arrive(&b, 0, 1, 3, 1000), XOFF_POOL_RESERVED);
    expect_no_crossing(&b);
    /* w = 1000, T = 63000/16 = 3937, X_qoff = 937. */
    assert_int_equal(bench_arrive(&b, 0, 1, 3, 1000), XOFF_POOL_SHARED);
    expect_queue(&b, 1, 1000, 937);
    /* Later frames are counted as headroom, in the same pool. */
    for (int i = 3; i <= 8; i++) {
        assert_int_equal(bench_arrive(&b, 0, 1, 3, 1000), XOFF_POOL_HEADROOM);
        expect_no_crossing(&b);
    }
    /* S = 7000, T = 57000/16 = 3562, X_poff = 7124: an eighth thousand does not fit under it. */
    expect_pools(&b, 1000, 1000, 6000, 0);
    assert_int_equal(bench_arrive(&b, 0, 1, 3, 1000), XOFF_POOL_INSURANCE);
    expect_port(&b, 1, 8000, 7124);
    bench_arrive(&b, 0, 1, 3, 1000);
    assert_int_equal(bench_arrive(&b, 0, 1, 3, 1000), XOFF_POOL_INSURANCE);
    assert_int_equal(bench_arrive(&b, 0, 1, 3, 1000), XOFF_POOL_DROP);
    expect_no_crossing(&b);
    expect_pools(&b, 1000, 1000, 6000, 3000);

    bench_depart(&b, 0, 1, 3, 1000, XOFF_POOL_RESERVED);
    expect_pools(&b, 1000, 1000, 6000, 2000);
    bench_depart(&b, 0, 1, 3, 2000, XOFF_POOL_SHARED);
    expect_pools(&b, 1000, 1000, 6000, 0);
    expect_no_crossing(&b); /* 7000 + 500 > 7124 */
    /* S = 6000, T = 58000/16 = 3625: 6500 <= 7250. */
    bench_depart(&b, 0, 1, 3, 1000, XOFF_POOL_HEADROOM);
    expect_port(&b, 0, 6000, 6750);
    bench_depart(&b, 0, 1, 3, 5000, XOFF_POOL_HEADROOM);
    expect_no_crossing(&b); /* w = 1000, 1300 > 937 */
    expect_pools(&b, 1000, 1000, 0, 0);
    bench_depart(&b, 0, 1, 3, 1000, XOFF_POOL_INSURANCE);
    expect_queue(&b, 0, 0, 700);
    bench_depart(&b, 0, 1, 3, 1000, XOFF_POOL_INSURANCE);
    expect_pools(&b, 0, 0, 0, 0);
    const struct xoff_mmu_view v = bench_view(&b);
    static const int64_t peaks[] = {0, 1000, 1000, 6000, 3000};
    static const int64_t capacities[] = {0, 8000, 64000, 64000, 12000};
    assert_int_equal(v.peak_total_bytes, 11000);
    assert_int_equal(v.capacity_total_bytes, 84000);
    for (int pool = 0; pool < XOFF_N_POOLS; pool++) {
        assert_int_equal(v.peak_bytes[pool], peaks[pool]);
        assert_int_equal(v.capacity_bytes[pool], capacities[pool]);
    }
    assert_int_equal(xoff_mmu_headroom_peak(&b.mmu, 0, 3), 3000);
    assert_int_equal(xoff_mmu_headroom_peak(&b.mmu, 1, 3), 0);
    assert_int_equal(xoff_mmu_headroom_limit(&b.mmu, 0, 3), 3000);
    assert_int_equal(xoff_mmu_headroom_limit(&b.mmu, 0, 5), 0);
    bench_end(&b);
}

/* The reserve to the byte; its bytes are in no occupancy. */
static void test_reserve_boundary(void **unused)
{
    (void)unused;
    struct bench b;
    start_small(&b);
    expect_pools(&b, 2000, 0, 0, 0);
    assert_int_equal(bench_arrive(&b, 1, 1, 3, 1001), XOFF_POOL_SHARED);
    expect_pools(&b, 3000, 1, 0, 0);
    bench_depart(&b, 1, 1, 3, 2, XOFF_POOL_RESERVED);
    expect_pools(&b, 2999, 0, 0, 0);
    bench_end(&b);
}

/* w > X_qoff: at 941, 63059/16 - 3000 = 941; at 942, 63058/16 - 3000 = 941. */
static void test_queue_xoff_boundary(void **unused)
{
    (void)unused;
    struct bench b;
    start_small(&b);
    assert_int_equal(bench_arrive(&b, 0, 1, 3, 941), XOFF_POOL_SHARED);
    expect_no_crossing(&b);
    refill(&b);
    assert_int_equal(bench_arrive(&b, 0, 1, 3, 942), XOFF_POOL_SHARED);
    expect_queue(&b, 1, 942, 941);
    /* Only this queue: the next one of the port has a pool of 63058 for itself. */
    assert_int_equal(bench_arrive(&b, 0, 1, 4, 882), XOFF_POOL_SHARED);
    expect_no_crossing(&b); /* 62176/16 = 3886 */
    bench_end(&b);
}

/* w + 300 <= X_qoff: at 658, 63342/16 - 3000 = 958; at 659, 63341/16 - 3000 = 958. */
static void test_queue_xon_boundary(void **unused)
{
    (void)unused;
    struct bench b;
    start_small(&b);
    bench_arrive(&b, 0, 1, 3, 942);
    bench_depart(&b, 0, 1, 3, 283, XOFF_POOL_SHARED);
    expect_no_crossing(&b);
    refill(&b);
    bench_arrive(&b, 0, 1, 3, 942);
    bench_depart(&b, 0, 1, 3, 284, XOFF_POOL_SHARED);
    expect_queue(&b, 0, 658, 658);
    bench_end(&b);
}

/* Headroom leaves before footroom; what is left of it at XON is footroom from then on. */
static void test_headroom_becomes_footroom(void **unused)
{
    (void)unused;
    struct bench b;
    start_small(&b);
    lossy_in(&b, 16000); /* T = 3000, X_qoff = 0 */
    bench_arrive(&b, 0, 1, 3, 100);
    expect_queue(&b, 1, 100, 0);
    assert_int_equal(bench_arrive(&b, 0, 1, 3, 200), XOFF_POOL_HEADROOM);
    expect_pools(&b, 2000, 16100, 200, 0);
    lossy_out(&b, 16000);
    assert_int_equal(bench_arrive(&b, 0, 1, 3, 500), XOFF_POOL_HEADROOM);
    bench_depart(&b, 0, 1, 3, 100, XOFF_POOL_SHARED); /* 700 + 300 > 63300/16 - 3000 = 956 */
    expect_no_crossing(&b);
    expect_pools(&b, 2000, 100, 600, 0);
    bench_depart(&b, 0, 1, 3, 401, XOFF_POOL_SHARED); /* 299 + 300 <= 63701/16 - 3000 = 981 */
    expect_queue(&b, 0, 299, 681);
    expect_pools(&b, 2000, 299, 0, 0);
    assert_int_equal(bench_arrive(&b, 0, 1, 3, 1), XOFF_POOL_SHARED);
    bench_end(&b);
}

/* S > X_poff: at 7110, 2 * (56890/16) = 7110; at 7111, 2 * (56889/16) = 7110. */
static void test_port_xoff_boundary(void **unused)
{
    (void)unused;
    struct bench b;
    start_small(&b);
    assert_int_equal(bench_arrive(&b, 0, 1, 3, 7110), XOFF_POOL_SHARED);
    expect_queue(&b, 1, 7110, 555);
    refill(&b);
    assert_int_equal(bench_arrive(&b, 0, 1, 3, 7111), XOFF_POOL_SHARED);
    expect_both(&b, 1, 7111, 555, 7111, 7110);
    expect_pools(&b, 2000, 7111, 0, 0);
    bench_end(&b);
}

/* S + 500 <= X_poff: at 6666, 2 * (57334/16) = 7166; at 6667, 2 * (57333/16) = 7166. */
static void test_port_xon_boundary(void **unused)
{
    (void)unused;
    struct bench b;
    start_small(&b);
    bench_arrive(&b, 0, 1, 3, 7111);
    bench_depart(&b, 0, 1, 3, 444, XOFF_POOL_SHARED);
    expect_no_crossing(&b);
    refill(&b);
    bench_arrive(&b, 0, 1, 3, 7111);
    bench_depart(&b, 0, 1, 3, 445, XOFF_POOL_SHARED);
    expect_port(&b, 0, 6666, 6666);
    bench_end(&b);
}

/* A frame is for the pool when S with it is at most X_poff before it: 2 * (57000/16) = 7124. */
static void test_pool_boundary(void **unused)
{
    (void)unused;
    struct bench b;
    start_small(&b);
    bench_arrive(&b, 0, 1, 3, 7000);
    expect_queue(&b, 1, 7000, 562);
    assert_int_equal(bench_arrive(&b, 0, 1, 3, 124), XOFF_POOL_HEADROOM);
    expect_port(&b, 1, 7124, 7108); /* 56876/16 = 3554 */
    refill(&b);
    bench_arrive(&b, 0, 1, 3, 7000);
    assert_int_equal(bench_arrive(&b, 0, 1, 3, 125), XOFF_POOL_INSURANCE);
    expect_port(&b, 1, 7125, 7124);
    /* The port is above: all goes to insurance now, of any queue, and be there room under X_poff.
     */
    bench_depart(&b, 0, 1, 3, 250, XOFF_POOL_HEADROOM);
    expect_no_crossing(&b); /* I = 0, S = 6875, 2 * (57125/16) = 7140, 7375 is above that */
    assert_int_equal(bench_arrive(&b, 0, 1, 4, 64), XOFF_POOL_INSURANCE);
    expect_no_crossing(&b);
    expect_pools(&b, 2000, 6875, 0, 64);
    bench_end(&b);
}

/* 3000 bytes of insurance for all queues of the port together, with a port that is above already
 * and with one that is not. */
static void test_insurance_boundary(void **unused)
{
    (void)unused;
    struct bench b;
    start_small(&b);
    bench_arrive(&b, 0, 1, 3, 7111);
    assert_int_equal(bench_arrive(&b, 0, 1, 3, 1200), XOFF_POOL_INSURANCE);
    assert_int_equal(bench_arrive(&b, 0, 1, 4, 1801), XOFF_POOL_DROP);
    assert_int_equal(bench_arrive(&b, 0, 1, 4, 1800), XOFF_POOL_INSURANCE);
    assert_int_equal(bench_arrive(&b, 0, 1, 3, 1), XOFF_POOL_DROP);
    assert_int_equal(bench_arrive(&b, 0, 1, 4, 1), XOFF_POOL_DROP);
    /* Port 1 has its own. */
    bench_arrive(&b, 1, 1, 3, 1000);
    expect_no_crossing(&b);
    lossy_in(&b, 56889);
    assert_int_equal(bench_arrive(&b, 1, 1, 3, 3001), XOFF_POOL_DROP);
    expect_no_crossing(&b); /* lost at a port with nothing beyond the reserve */
    assert_int_equal(bench_arrive(&b, 1, 1, 3, 3000), XOFF_POOL_INSURANCE);
    expect_both(&b, 1, 3000, 0, 3000, 0);
    assert_int_equal(xoff_mmu_headroom_peak(&b.mmu, 1, 4), 3000);
    bench_end(&b);
}

/* Queue pause, port pause, queue resume, port resume. Priority 3 has w = 942, priority 4 fills the
 * port to X_poff = 2 * (63058/16) = 7882. */
static void test_queue_first_and_queue_first(void **unused)
{
    (void)unused;
    struct bench b;
    start_small(&b);
    bench_arrive(&b, 0, 1, 3, 942);
    expect_queue(&b, 1, 942, 941);
    assert_int_equal(bench_arrive(&b, 0, 1, 4, 6940), XOFF_POOL_SHARED);
    expect_both(&b, 1, 6940, 507, 7882, 7014); /* 56118/16 = 3507 */
    bench_depart(&b, 0, 1, 3, 942, XOFF_POOL_SHARED);
    expect_queue(&b, 0, 0, 266); /* 57060/16 = 3566: 6940 + 500 > 7132 */
    bench_depart(&b, 0, 1, 4, 500, XOFF_POOL_SHARED);
    expect_port(&b, 0, 6440, 6694); /* 57560/16 = 3597 */
    /* Both at once: all of priority 4 leaves. */
    refill(&b);
    bench_arrive(&b, 0, 1, 4, 7111);
    bench_depart(&b, 0, 1, 4, 8111, XOFF_POOL_SHARED);
    expect_both(&b, 0, 0, 700, 0, 7500);
    bench_end(&b);
}

/* A port with w = 900 at priority 4, below X_qoff when it came, and 3100 bytes left of the pool:
 * T = 193, X_poff = 386. A frame that the reserve of priority 3 covers finds the port above. */
static void pause_port_alone(struct bench *b)
{
    bench_restart(b);
    bench_arrive(b, 0, 1, 4, 1900);
    expect_no_crossing(b);
    lossy_in(b, 60000);
    assert_int_equal(bench_arrive(b, 0, 1, 3, 64), XOFF_POOL_RESERVED);
    expect_port(b, 1, 900, 386);
}

static void test_port_first_and_port_first(void **unused)
{
    (void)unused;
    struct bench b;
    start_small(&b);
    pause_port_alone(&b);
    /* Its own next frame tells priority 4 that it is above too. */
    assert_int_equal(bench_arrive(&b, 0, 1, 4, 100), XOFF_POOL_INSURANCE);
    expect_queue(&b, 1, 1000, 0);
    lossy_out(&b, 60000);
    bench_depart(&b, 0, 1, 3, 64, XOFF_POOL_RESERVED);
    expect_no_crossing(&b); /* T is large again, but I = 100 */
    bench_depart(&b, 0, 1, 4, 100, XOFF_POOL_SHARED);
    expect_port(&b, 0, 900, 7386); /* 63100/16 = 3943; of the queue 900 + 300 > 943 */
    bench_depart(&b, 0, 1, 4, 300, XOFF_POOL_SHARED);
    expect_queue(&b, 0, 600, 662); /* 63400/16 = 3962 */
    bench_end(&b);
}

/* The port alone is paused and goes on, at a departure of a queue that never was. */
static void test_port_without_queue(void **unused)
{
    (void)unused;
    struct bench b;
    start_small(&b);
    pause_port_alone(&b);
    lossy_out(&b, 60000);
    bench_depart(&b, 0, 1, 3, 64, XOFF_POOL_RESERVED);
    expect_port(&b, 0, 900, 7386);
    assert_int_equal(b.n_xoff, 0);
    bench_end(&b);
}

static void test_port_first_and_queue_first(void **unused)
{
    (void)unused;
    struct bench b;
    start_small(&b);
    pause_port_alone(&b);
    bench_arrive(&b, 0, 1, 4, 100);
    expect_queue(&b, 1, 1000, 0);
    /* 64 + 1436 = 1000 + 500 */
    assert_int_equal(bench_arrive(&b, 0, 1, 3, 1436), XOFF_POOL_INSURANCE);
    expect_queue(&b, 1, 500, 0);
    expect_pools(&b, 2000, 60900, 0, 600);
    /* The 1000 bytes of priority 4 take I = 600 with them, 500 of which were of priority 3: its
     * bytes lie in the pool now. 500 + 500 > 2 * (3500/16) = 436. */
    bench_depart(&b, 0, 1, 4, 1000, XOFF_POOL_SHARED);
    expect_queue(&b, 0, 0, 0);
    expect_pools(&b, 2000, 60500, 0, 0);
    bench_depart(&b, 0, 1, 3, 499, XOFF_POOL_SHARED);
    expect_no_crossing(&b); /* 1 + 500 > 2 * (3999/16) = 498 */
    bench_depart(&b, 0, 1, 3, 1, XOFF_POOL_SHARED);
    expect_both(&b, 0, 0, 0, 0, 0);
    bench_end(&b);
}

/* w = 900 stays as it is while lossy traffic of another port makes T shrink under it. */
static void test_threshold_shrinks_under_a_queue(void **unused)
{
    (void)unused;
    struct bench b;
    start_small(&b);
    bench_arrive(&b, 0, 1, 3, 900);
    expect_no_crossing(&b);
    lossy_in(&b, 10000); /* T = 53100/16 = 3318: X_qoff = 318 */
    bench_arrive(&b, 1, 1, 3, 1000);
    expect_no_crossing(&b); /* another port's frame does not tell either */
    bench_arrive(&b, 0, 1, 3, 1);
    expect_queue(&b, 1, 901, 318);
    bench_depart(&b, 0, 1, 3, 1, XOFF_POOL_SHARED);
    expect_no_crossing(&b);
    lossy_out(&b, 10000);
    bench_depart(&b, 1, 1, 3, 1000, XOFF_POOL_RESERVED);
    expect_no_crossing(&b);
    bench_depart(&b, 0, 1, 3, 256, XOFF_POOL_SHARED);
    expect_queue(&b, 0, 644, 659); /* 63356/16 = 3959 */
    bench_end(&b);
}

/* Nothing free: a frame in its reserve pauses nobody, one byte beyond it pauses queue and port. */
static void test_no_shared_space(void **unused)
{
    (void)unused;
    struct bench b;
    start_small(&b);
    bench_restart(&b);
    lossy_in(&b, 64000);
    assert_int_equal(bench_arrive(&b, 0, 1, 3, 1000), XOFF_POOL_RESERVED);
    expect_no_crossing(&b);
    assert_int_equal(bench_arrive(&b, 0, 1, 3, 1), XOFF_POOL_INSURANCE);
    expect_both(&b, 1, 1, 0, 1, 0);
    bench_depart(&b, 0, 1, 3, 1, XOFF_POOL_RESERVED);
    expect_both(&b, 0, 0, 0, 0, 0);
    /* Priority 4 lies in its reserve: the port that priority 3 paused is all that stops it. */
    bench_arrive(&b, 0, 1, 3, 64);
    expect_both(&b, 1, 64, 0, 64, 0);
    assert_int_equal(bench_arrive(&b, 0, 1, 4, 1000), XOFF_POOL_RESERVED);
    expect_no_crossing(&b);
    bench_end(&b);
}

/* A frame of 500 of which its reserve has room for 400. */
static void test_frame_partly_in_reserve(void **unused)
{
    (void)unused;
    struct bench b;
    start_small(&b);
    bench_restart(&b);
    bench_arrive(&b, 0, 1, 3, 600);
    assert_int_equal(bench_arrive(&b, 0, 1, 3, 500), XOFF_POOL_SHARED);
    expect_pools(&b, 1000, 100, 0, 0);
    bench_restart(&b);
    bench_arrive(&b, 0, 1, 3, 600);
    lossy_in(&b, 64000);
    assert_int_equal(bench_arrive(&b, 0, 1, 3, 500), XOFF_POOL_INSURANCE);
    expect_both(&b, 1, 100, 0, 100, 0);
    expect_pools(&b, 1000, 64000, 0, 100);
    /* Insurance is for the part beyond: 1000 + 2900. A lost frame leaves nothing in the reserve. */
    assert_int_equal(bench_arrive(&b, 0, 1, 4, 3901), XOFF_POOL_DROP);
    assert_int_equal(bench_arrive(&b, 0, 1, 4, 3900), XOFF_POOL_INSURANCE);
    expect_pools(&b, 2000, 64000, 0, 3000);
    bench_depart(&b, 0, 1, 4, 3900, XOFF_POOL_INSURANCE);
    expect_pools(&b, 1000, 64000, 0, 100);
    bench_end(&b);
}

/* Priority 4 empties the insurance that priority 3 filled; to the last byte before the port goes
 * on, although X_poff has long been high enough. */
static void test_insurance_drains_first(void **unused)
{
    (void)unused;
    struct bench b;
    start_small(&b);
    bench_arrive(&b, 0, 1, 4, 940);
    expect_no_crossing(&b);
    lossy_in(&b, 63060);
    bench_arrive(&b, 0, 1, 3, 500);
    expect_both(&b, 1, 500, 0, 1440, 0);
    expect_pools(&b, 2000, 64000, 0, 500);
    lossy_out(&b, 63060);
    bench_depart(&b, 0, 1, 4, 499, XOFF_POOL_SHARED);
    expect_no_crossing(&b);
    expect_pools(&b, 2000, 940, 0, 1);
    bench_depart(&b, 0, 1, 4, 2, XOFF_POOL_SHARED);
    expect_port(&b, 0, 939, 7382); /* 63061/16 = 3941 */
    expect_pools(&b, 2000, 939, 0, 0);
    /* w = 500 and 439; priority 3 is told with its own next frame. */
    bench_depart(&b, 0, 1, 3, 1, XOFF_POOL_INSURANCE);
    expect_queue(&b, 0, 499, 641); /* 63062/16 = 3941 */
    bench_end(&b);
}

/* Headroom of a queue whose bytes another's insurance took over: priority 3 has 2000 in the pool,
 * 1000 of it headroom, priority 4 has 3000 in insurance. */
static void test_headroom_follows_the_queue(void **unused)
{
    (void)unused;
    struct bench b;
    start_small(&b);
    lossy_in(&b, 40000); /* T = 1500, X_poff = 3000 */
    bench_arrive(&b, 0, 1, 3, 1000);
    expect_queue(&b, 1, 1000, 0);
    bench_arrive(&b, 0, 1, 3, 1000);
    assert_int_equal(bench_arrive(&b, 0, 1, 4, 3000), XOFF_POOL_INSURANCE);
    expect_pools(&b, 2000, 41000, 1000, 3000);
    /* Priority 3 sends 1000: the rest, w = 1000, may all be its headroom; 1 more and it may not. */
    bench_depart(&b, 0, 1, 3, 1000, XOFF_POOL_HEADROOM);
    expect_pools(&b, 2000, 41000, 1000, 2000);
    bench_depart(&b, 0, 1, 3, 1, XOFF_POOL_HEADROOM);
    expect_pools(&b, 2000, 41001, 999, 1999);
    bench_depart(&b, 0, 1, 3, 999, XOFF_POOL_HEADROOM);
    expect_queue(&b, 0, 0, 0);
    expect_pools(&b, 2000, 42000, 0, 1000);
    bench_depart(&b, 0, 1, 4, 3000, XOFF_POOL_HEADROOM);
    expect_both(&b, 0, 0, 0, 0, 2500);
    expect_pools(&b, 2000, 40000, 0, 0);
    bench_end(&b);
}

/* Lossy frames of a paused port go on into the pool, or are lost; never to insurance. */
static void test_lossy_beside(void **unused)
{
    (void)unused;
    struct bench b;
    start_small(&b);
    bench_arrive(&b, 0, 1, 3, 7111);
    assert_int_equal(bench_arrive(&b, 0, 1, 5, 56889), XOFF_POOL_SHARED);
    expect_no_crossing(&b);
    assert_int_equal(bench_arrive(&b, 0, 2, 6, 1), XOFF_POOL_DROP);
    expect_no_crossing(&b);
    bench_depart(&b, 0, 1, 5, 56889, XOFF_POOL_SHARED);
    expect_no_crossing(&b); /* T is high again; a lossy departure tells nobody */
    expect_pools(&b, 2000, 7111, 0, 0);
    bench_end(&b);
}

/* Insurance for each port by its own speed: eta = 3000, 1000, 6000 and 500. */
static void test_mixed_speeds(void **unused)
{
    (void)unused;
    static const struct {
        int64_t eta;
        uint32_t last_good; /* largest w <= (64000 - w)/16 - eta */
        int64_t threshold;  /* one byte later */
    } rows[] = {{3000, 941, 941}, {1000, 2823, 2823}, {6000, 0, 0}, {500, 3294, 3294}};
    struct bench b;
    setup_small(&b);
    b.env.buffer_bytes = 8000 + 10500 + 64000;
    for (uint32_t port = 0; port < 4; port++)
        b.ports[port].headroom_bytes = rows[port].eta;
    bench_start(&b);
    assert_int_equal(bench_view(&b).capacity_bytes[XOFF_POOL_INSURANCE], 10500);
    for (uint16_t port = 0; port < 4; port++) {
        const uint32_t eta = (uint32_t)rows[port].eta;
        assert_int_equal(xoff_mmu_headroom_limit(&b.mmu, port, 4), eta);
        bench_restart(&b);
        bench_arrive(&b, port, 1, 3, 1000 + rows[port].last_good);
        expect_no_crossing(&b);
        bench_restart(&b);
        bench_arrive(&b, port, 1, 3, 1001 + rows[port].last_good);
        expect_queue(&b, 1, rows[port].last_good + 1, rows[port].threshold);
        bench_restart(&b);
        assert_int_equal(bench_arrive(&b, port, 1, 0, 64000), XOFF_POOL_SHARED);
        assert_int_equal(bench_arrive(&b, port, 1, 3, 1001 + eta), XOFF_POOL_DROP);
        assert_int_equal(bench_arrive(&b, port, 1, 3, 1000 + eta), XOFF_POOL_INSURANCE);
    }
    bench_end(&b);
}

/* N = 1: X_poff = T, S = 3764 <= 60236/16, 3765 > 60235/16 = 3764.
 * N = 8: X_poff = 8 T, S = 21328 <= 8 * (42672/16), 21329 > 8 * (42671/16) = 21328. */
static void test_sets_of_priorities(void **unused)
{
    (void)unused;
    static const struct {
        uint8_t lossless;
        uint32_t last_good;
        int64_t n;
    } rows[] = {{0x01, 3764, 1}, {0x80, 3764, 1}, {0xff, 21328, 8}};
    struct bench b;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const uint8_t priority = rows[i].lossless == 1 ? 0 : 7;
        setup_small(&b);
        b.env.lossless = rows[i].lossless;
        b.env.buffer_bytes = 4000 * rows[i].n + 12000 + 64000;
        bench_start(&b);
        bench_arrive(&b, 3, 1, priority, 1000 + rows[i].last_good);
        assert_int_equal(b.crossings.n, 1);
        assert_int_equal(b.crossings.at[0].unit, XOFF_UNIT_INGRESS);
        bench_restart(&b);
        bench_arrive(&b, 3, 1, priority, 1001 + rows[i].last_good);
        assert_int_equal(b.crossings.n, 2);
        expect_unit(&b, 1, XOFF_UNIT_INGRESS_PORT, 1, rows[i].last_good + 1, rows[i].last_good);
        bench_end(&b);
    }
    /* None: no insurance, and a link needs no headroom. */
    setup_small(&b);
    b.env.lossless = 0;
    b.env.buffer_bytes = 64000;
    b.ports[1].headroom_bytes = 0;
    bench_start(&b);
    assert_int_equal(bench_view(&b).capacity_bytes[XOFF_POOL_INSURANCE], 0);
    lossy_in(&b, 64000);
    assert_int_equal(bench_arrive(&b, 0, 1, 3, 1), XOFF_POOL_DROP);
    expect_no_crossing(&b);
    assert_int_equal(xoff_mmu_headroom_limit(&b.mmu, 0, 3), 0);
    bench_end(&b);
}

/* Insurance of 100 bytes: lost frames leave no pause that nothing ends. */
static void test_allow_loss(void **unused)
{
    (void)unused;
    struct bench b;
    setup_small(&b);
    bench_set(&b, "headroom", "100B");
    assert_int_equal(bench_configure(&b), -XOFF_E_RANGE);
    assert_string_equal(b.err.subject, "headroom");
    assert_non_null(strstr(b.err.message, "3000"));
    bench_set(&b, "allow_loss", "true");
    b.env.buffer_bytes = 8000 + 400 + 64000;
    bench_start(&b);
    assert_non_null(strstr(b.err.message, "3000")); /* a warning */
    refill(&b);
    lossy_in(&b, 64000);
    assert_int_equal(bench_arrive(&b, 0, 1, 3, 101), XOFF_POOL_DROP);
    expect_no_crossing(&b);
    assert_int_equal(bench_arrive(&b, 0, 1, 3, 100), XOFF_POOL_INSURANCE);
    expect_both(&b, 1, 100, 0, 100, 0);
    assert_int_equal(bench_arrive(&b, 0, 1, 4, 1), XOFF_POOL_DROP);
    expect_no_crossing(&b);
    bench_depart(&b, 0, 1, 3, 100, XOFF_POOL_INSURANCE);
    expect_both(&b, 0, 0, 0, 0, 0);

    /* Lost at a port with 2000 bytes of priority 4 in the pool: the port is paused, with the lost
     * frame in its figure. T = 10000/16 = 625, X_poff = 1250, S = 2000. */
    refill(&b);
    bench_arrive(&b, 0, 1, 4, 2000); /* X_qoff = 62000/16 - 100 = 3775 */
    expect_no_crossing(&b);
    lossy_in(&b, 52000);
    assert_int_equal(bench_arrive(&b, 0, 1, 3, 101), XOFF_POOL_DROP);
    expect_port(&b, 1, 2101, 1250);
    lossy_out(&b, 52000);
    bench_depart(&b, 0, 1, 4, 1, XOFF_POOL_SHARED);
    expect_port(&b, 0, 1999, 7250); /* 62001/16 = 3875 */
    bench_end(&b);

    setup_small(&b);
    bench_set(&b, "headroom", "0B");
    assert_int_equal(bench_configure(&b), -XOFF_E_RANGE);
    bench_set(&b, "allow_loss", "true");
    bench_start(&b);
    bench_end(&b);
}

/* alpha 4: with 1000 bytes free T = 4000, X_qoff = 1000, X_poff = 8000, but only 1000 fit. */
static void test_alpha_above_one_needs_space(void **unused)
{
    (void)unused;
    struct bench b;
    setup_small(&b);
    bench_set(&b, "alpha", "4");
    bench_start(&b);
    refill(&b);
    lossy_in(&b, 63000);
    assert_int_equal(bench_arrive(&b, 0, 1, 3, 1001), XOFF_POOL_INSURANCE);
    expect_both(&b, 1, 1001, 1000, 1001, 1000);
    bench_depart(&b, 0, 1, 3, 1001, XOFF_POOL_INSURANCE);
    expect_both(&b, 0, 0, 700, 0, 7500);
    assert_int_equal(bench_arrive(&b, 0, 1, 3, 1000), XOFF_POOL_SHARED);
    expect_both(&b, 1, 1000, 0, 1000, 0);
    bench_end(&b);
}

static void test_refuses_small_buffer(void **unused)
{
    (void)unused;
    struct bench b;
    setup_small(&b);
    b.env.buffer_bytes = 19999;
    assert_int_equal(bench_configure(&b), -XOFF_E_CONFLICT);
    assert_string_equal(b.err.subject, "buffer");
    assert_non_null(strstr(b.err.message, "20000"));
    b.env.buffer_bytes = 20000;
    bench_start(&b);
    /* A pool of nothing, and it still works. */
    refill(&b);
    assert_int_equal(bench_arrive(&b, 0, 1, 4, 3000), XOFF_POOL_INSURANCE);
    expect_both(&b, 1, 3000, 0, 3000, 0);
    bench_end(&b);

    const double alpha = 0;
    setup_small(&b);
    memcpy(b.params + xoff_param_find(b.ops->params, "alpha")->offset, &alpha, sizeof alpha);
    assert_int_equal(bench_configure(&b), -XOFF_E_RANGE);
    assert_string_equal(b.err.subject, "alpha");
}

/* eta by the slides: 2 * (1000 + 9000) + 0 with 1000 bytes on the link one way; it is less than a
 * worst case of 20001, and cannot be had for a link without delay. */
static void test_eta_rule(void **unused)
{
    (void)unused;
    struct bench b;
    setup_small(&b);
    b.env.buffer_bytes = 8000 + 4 * 20000 + 64000;
    bench_set(&b, "headroom_rule", "eta");
    bench_start(&b);
    assert_int_equal(xoff_mmu_headroom_limit(&b.mmu, 3, 3), 20000);
    bench_end(&b);
    b.ports[3].headroom_bytes = 20001;
    assert_int_equal(bench_configure(&b), -XOFF_E_RANGE);
    assert_non_null(strstr(b.err.message, "20001"));
    b.ports[3].headroom_bytes = 3000;
    b.ports[2].delay = 0;
    assert_int_equal(bench_configure(&b), -XOFF_E_CONFLICT);
    assert_string_equal(b.err.subject, "headroom_rule");
}

/* The defaults, in the words of the scenario. */
static void test_defaults(void **unused)
{
    (void)unused;
    static const char *const expected[][2] = {
        {"alpha", "1/16"},          {"alpha_lossy", "1"},      {"reserved", "4KiB"},
        {"headroom", "auto"},       {"resume_offset", "3KiB"}, {"port_resume_offset", "3KiB"},
        {"headroom_rule", "worst"}, {"allow_loss", "false"},   {"reserved_lossy", "auto"},
    };
    struct bench b, given;
    bench_setup(&b, &xoff_mmu_dsh, LOSSLESS_34, 1000000);
    bench_setup(&given, &xoff_mmu_dsh, LOSSLESS_34, 1000000);
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++)
        bench_set(&given, expected[i][0], expected[i][1]);
    assert_memory_equal(b.params, given.params, xoff_mmu_dsh.params_size);
}

/* State is plain bytes: a copy goes on like the original. */
static void test_state_can_be_copied(void **unused)
{
    (void)unused;
    struct bench b;
    start_small(&b);
    bench_arrive(&b, 0, 1, 3, 7111);
    bench_arrive(&b, 0, 1, 4, 500);
    const size_t size = b.mmu.shape.state_size;
    struct xoff_mmu twin = b.mmu;
    struct xoff_crossings crossings;
    twin.state = malloc(size);
    assert_non_null(twin.state);
    memcpy(twin.state, b.mmu.state, size);
    const struct xoff_departure d = {
        .in_port = 0, .out_port = 1, .priority = 3, .pool = XOFF_POOL_SHARED, .bytes = 7111};
    xoff_mmu_release(&twin, &d, 0, &crossings);
    bench_depart(&b, 0, 1, 3, 7111, XOFF_POOL_SHARED);
    assert_int_equal(crossings.n, 2);
    assert_memory_equal(twin.state, b.mmu.state, size);
    free(twin.state);
    bench_end(&b);
}

/* A slow model. Every queue owns bytes in each pool, insurance too; nothing is kept per port or in
 * all but is summed anew for each question, and T is a division. A departure that takes insurance
 * of another queue gives that queue as many of its own bytes in the pool. */
struct model {
    uint32_t n_ports;
    uint8_t lossless;
    int64_t num, den, num_lossy, den_lossy;
    int64_t reserve, reserve_lossy, offset, port_offset, capacity;
    int64_t etas[MAX_PORTS];
    int64_t pools[MAX_PORTS][XOFF_N_PRIORITIES][XOFF_N_POOLS]; /* lossless queues */
    int64_t lossy[MAX_PORTS][XOFF_N_POOLS];
    bool above[MAX_PORTS][XOFF_N_PRIORITIES], port_above[MAX_PORTS];
    int64_t peak_total, peaks[XOFF_N_POOLS], insurance_peaks[MAX_PORTS];
    struct xoff_crossings crossings; /* of the last step */
};

static int64_t model_port(const struct model *m, uint32_t port, enum xoff_pool pool)
{
    int64_t sum = 0;
    for (uint32_t n = 0; n < XOFF_N_PRIORITIES; n++)
        sum += m->pools[port][n][pool];
    return sum;
}

static int64_t model_used(const struct model *m, enum xoff_pool pool)
{
    int64_t sum = 0;
    for (uint32_t port = 0; port < m->n_ports; port++)
        sum += m->lossy[port][pool] + model_port(m, port, pool);
    return sum;
}

static int64_t model_free(const struct model *m)
{
    return m->capacity - model_used(m, XOFF_POOL_SHARED) - model_used(m, XOFF_POOL_HEADROOM);
}

static int64_t model_t(const struct model *m)
{
    return model_free(m) * m->num / m->den;
}

/* S of a port, w of a queue. */
static int64_t model_s(const struct model *m, uint32_t port)
{
    return model_port(m, port, XOFF_POOL_SHARED) + model_port(m, port, XOFF_POOL_HEADROOM);
}

static int64_t model_w(const int64_t *pools)
{
    return pools[XOFF_POOL_SHARED] + pools[XOFF_POOL_HEADROOM] + pools[XOFF_POOL_INSURANCE];
}

static int64_t model_qoff(const struct model *m, uint32_t port)
{
    return model_t(m) > m->etas[port] ? model_t(m) - m->etas[port] : 0;
}

static int64_t model_poff(const struct model *m)
{
    int64_t sum = 0;
    for (uint32_t n = 0; n < XOFF_N_PRIORITIES; n++)
        sum += m->lossless >> n & 1 ? model_t(m) : 0;
    return sum;
}

static void model_cross(struct model *m, uint8_t unit, bool above, const struct traffic_frame *f,
                        int64_t occupied, int64_t threshold)
{
    *(unit == XOFF_UNIT_INGRESS ? &m->above[f->in_port][f->priority] : &m->port_above[f->in_port]) =
        above;
    m->crossings.at[m->crossings.n++] = (struct xoff_crossing){.unit = unit,
                                                               .above = above,
                                                               .priority = f->priority,
                                                               .port = f->in_port,
                                                               .occupied_bytes = occupied,
                                                               .threshold_bytes = threshold};
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
    for (uint32_t port = 0; port < m->n_ports; port++) {
        const int64_t used = model_port(m, port, XOFF_POOL_INSURANCE);
        if (used > m->insurance_peaks[port])
            m->insurance_peaks[port] = used;
    }
}

static enum xoff_pool model_choose(const struct model *m, const struct traffic_frame *f,
                                   int64_t egress_bytes, int64_t beyond)
{
    const int64_t free_bytes = model_free(m);
    const uint32_t port = f->in_port;
    if (beyond == 0)
        return XOFF_POOL_RESERVED;
    if (!(m->lossless >> f->priority & 1))
        return beyond <= free_bytes &&
                       egress_bytes + f->bytes <= free_bytes * m->num_lossy / m->den_lossy
                   ? XOFF_POOL_SHARED
                   : XOFF_POOL_DROP;
    if (!m->port_above[port] && beyond <= free_bytes && model_s(m, port) + beyond <= model_poff(m))
        return m->above[port][f->priority] ? XOFF_POOL_HEADROOM : XOFF_POOL_SHARED;
    return model_port(m, port, XOFF_POOL_INSURANCE) + beyond <= m->etas[port] ? XOFF_POOL_INSURANCE
                                                                              : XOFF_POOL_DROP;
}

static enum xoff_pool model_arrive(struct model *m, const struct traffic_frame *f,
                                   int64_t egress_bytes)
{
    const bool is_lossless = m->lossless >> f->priority & 1;
    const uint32_t port = f->in_port;
    int64_t *pools = is_lossless ? m->pools[port][f->priority] : m->lossy[port];
    const int64_t room = (is_lossless ? m->reserve : m->reserve_lossy) - pools[XOFF_POOL_RESERVED];
    const int64_t beyond = f->bytes > room ? f->bytes - room : 0;
    const enum xoff_pool pool = model_choose(m, f, egress_bytes, beyond);
    m->crossings.n = 0;
    if (pool != XOFF_POOL_DROP) {
        pools[XOFF_POOL_RESERVED] += f->bytes - beyond;
        pools[pool] += beyond;
    }
    model_note_peaks(m);
    if (!is_lossless)
        return pool;
    const int64_t lost = pool == XOFF_POOL_DROP ? beyond : 0;
    const int64_t held = model_s(m, port) + model_port(m, port, XOFF_POOL_INSURANCE);
    const int64_t room_in_pool = model_s(m, port) + model_free(m);
    if (!m->above[port][f->priority] && model_w(pools) > model_qoff(m, port))
        model_cross(m, XOFF_UNIT_INGRESS, true, f, model_w(pools) + lost, model_qoff(m, port));
    if (!m->port_above[port] && held > 0 &&
        (held > model_s(m, port) || model_s(m, port) > model_poff(m) || lost > 0))
        model_cross(m, XOFF_UNIT_INGRESS_PORT, true, f, held + lost,
                    model_poff(m) < room_in_pool ? model_poff(m) : room_in_pool);
    return pool;
}

static int64_t model_take(int64_t *from, int64_t most)
{
    const int64_t taken = *from < most ? *from : most;
    *from -= taken;
    return taken;
}

/* `left` bytes of a queue still have to go, and priority n of its port has insurance. */
static int64_t model_trade(struct model *m, uint32_t port, uint32_t n, int64_t *pools, int64_t left)
{
    int64_t *theirs = m->pools[port][n];
    const int64_t pooled = pools[XOFF_POOL_SHARED] + pools[XOFF_POOL_HEADROOM];
    const int64_t taken = model_take(&theirs[XOFF_POOL_INSURANCE], left < pooled ? left : pooled);
    const int64_t footroom = model_take(&pools[XOFF_POOL_SHARED], taken);
    pools[XOFF_POOL_HEADROOM] -= taken - footroom;
    theirs[XOFF_POOL_SHARED] += taken;
    return left - taken;
}

static void model_leave(struct model *m, const struct traffic_frame *f, int64_t *pools)
{
    int64_t left = f->bytes - model_take(&pools[XOFF_POOL_INSURANCE], f->bytes);
    for (uint32_t n = 0; n < XOFF_N_PRIORITIES && pools != m->lossy[f->in_port]; n++)
        if (n != f->priority)
            left = model_trade(m, f->in_port, n, pools, left);
    left -= model_take(&pools[XOFF_POOL_HEADROOM], left);
    left -= model_take(&pools[XOFF_POOL_SHARED], left);
    left -= model_take(&pools[XOFF_POOL_RESERVED], left);
    assert_int_equal(left, 0);
}

static void model_depart(struct model *m, const struct traffic_frame *f)
{
    const bool is_lossless = m->lossless >> f->priority & 1;
    const uint32_t port = f->in_port;
    int64_t *pools = is_lossless ? m->pools[port][f->priority] : m->lossy[port];
    model_leave(m, f, pools);
    m->crossings.n = 0;
    const int64_t w = model_w(pools), qoff = model_qoff(m, port);
    const int64_t s = model_s(m, port), poff = model_poff(m);
    if (is_lossless && m->above[port][f->priority] && (w == 0 || w <= qoff - m->offset)) {
        pools[XOFF_POOL_SHARED] += pools[XOFF_POOL_HEADROOM];
        pools[XOFF_POOL_HEADROOM] = 0;
        model_cross(m, XOFF_UNIT_INGRESS, false, f, w, qoff > m->offset ? qoff - m->offset : 0);
    }
    if (is_lossless && m->port_above[port] && model_port(m, port, XOFF_POOL_INSURANCE) == 0 &&
        (s == 0 || s <= poff - m->port_offset))
        model_cross(m, XOFF_UNIT_INGRESS_PORT, false, f, s,
                    poff > m->port_offset ? poff - m->port_offset : 0);
    model_note_peaks(m);
}

static void expect_same(const struct bench *b, const struct model *m)
{
    const struct xoff_mmu_view v = bench_view(b);
    for (int pool = XOFF_POOL_RESERVED; pool < XOFF_N_POOLS; pool++)
        assert_int_equal(v.used_bytes[pool], model_used(m, (enum xoff_pool)pool));
    assert_int_equal(v.peak_total_bytes, m->peak_total);
    assert_memory_equal(v.peak_bytes, m->peaks, sizeof m->peaks);
    assert_true(v.used_bytes[XOFF_POOL_SHARED] + v.used_bytes[XOFF_POOL_HEADROOM] <= m->capacity);
    assert_int_equal(b->crossings.n, m->crossings.n);
    for (uint32_t i = 0; i < m->crossings.n; i++) {
        const struct xoff_crossing *x = &m->crossings.at[i];
        expect_unit(b, i, x->unit, x->above, x->occupied_bytes, x->threshold_bytes);
    }
    for (uint32_t port = 0; port < m->n_ports; port++) {
        const int64_t insurance = model_port(m, port, XOFF_POOL_INSURANCE);
        assert_int_equal(xoff_mmu_headroom_peak(&b->mmu, port, 0), m->insurance_peaks[port]);
        assert_true(insurance <= m->etas[port]);
        assert_int_equal(m->port_above[port], b->port_above[port]);
        if (insurance > 0)
            assert_true(b->port_above[port]);
        if (b->port_above[port])
            assert_true(model_s(m, port) + insurance > 0);
        for (uint32_t n = 0; n < XOFF_N_PRIORITIES; n++)
            if (b->above[port][n])
                assert_true(model_w(m->pools[port][n]) > 0);
    }
}

static void setup_random(struct bench *b, struct model *m, struct xoff_rng *rng, uint8_t lossless)
{
    static const struct {
        const char *text;
        int64_t num, den;
    } alphas[] = {{"1/64", 1, 64}, {"1/16", 1, 16}, {"1/8", 1, 8}, {"1/3", 1, 3},
                  {"0.7", 7, 10},  {"1", 1, 1},     {"2", 2, 1},   {"4", 4, 1}};
    const uint64_t a = xoff_rng_below(rng, 8), lossy = xoff_rng_below(rng, 8);
    const int64_t scale = xoff_rng_below(rng, 2) ? 9000 : 1500;
    *m = (struct model){.n_ports = 1 + (uint32_t)xoff_rng_below(rng, MAX_PORTS),
                        .lossless = lossless,
                        .num = alphas[a].num,
                        .den = alphas[a].den,
                        .num_lossy = alphas[lossy].num,
                        .den_lossy = alphas[lossy].den,
                        .reserve = (int64_t)xoff_rng_below(rng, 3) * 1111,
                        .reserve_lossy = (int64_t)xoff_rng_below(rng, 3) * 1234,
                        .offset = (int64_t)xoff_rng_below(rng, 3) * 700,
                        .port_offset = (int64_t)xoff_rng_below(rng, 3) * 900,
                        .capacity = 1000 + (int64_t)xoff_rng_below(rng, 40000)};
    bench_setup(b, &xoff_mmu_dsh, lossless, m->capacity);
    b->has_port_level = true;
    b->env.n_ports = m->n_ports;
    for (uint32_t port = 0; port < m->n_ports; port++) {
        b->ports[port].headroom_bytes = (int64_t)xoff_rng_below(rng, (uint32_t)scale);
        m->etas[port] = lossless ? b->ports[port].headroom_bytes : 0;
        b->env.buffer_bytes += m->etas[port] + m->reserve_lossy * (lossless != 0xff) +
                               m->reserve * __builtin_popcount(lossless);
    }
    bench_set(b, "alpha", alphas[a].text);
    bench_set(b, "alpha_lossy", alphas[lossy].text);
    bench_set_bytes(b, "reserved", m->reserve);
    bench_set_bytes(b, "reserved_lossy", m->reserve_lossy);
    bench_set_bytes(b, "resume_offset", m->offset);
    bench_set_bytes(b, "port_resume_offset", m->port_offset);
    bench_set(b, "allow_loss", "true");
    bench_start(b);
    assert_int_equal(bench_view(b).capacity_bytes[XOFF_POOL_SHARED], m->capacity);
}

/* Takes the oldest frame of the ingress port, and of the priority if `priority` is one, if any. */
static bool traffic_take_of(struct traffic *t, uint32_t port, uint32_t priority,
                            struct traffic_frame *frame)
{
    for (uint32_t i = 0; i < t->n; i++) {
        if (t->frames[i].in_port != port ||
            (priority < XOFF_N_PRIORITIES && t->frames[i].priority != priority))
            continue;
        *frame = t->frames[i];
        t->n--;
        memmove(&t->frames[i], &t->frames[i + 1], (t->n - i) * sizeof t->frames[0]);
        return true;
    }
    return false;
}

static void step_in(struct bench *b, struct model *m, struct traffic *t, struct traffic_frame f)
{
    f.pool = model_arrive(m, &f, b->egress_bytes[f.out_port][f.priority]);
    assert_int_equal(bench_arrive(b, f.in_port, f.out_port, f.priority, f.bytes), f.pool);
    if (f.pool != XOFF_POOL_DROP)
        t->frames[t->n++] = f;
    expect_same(b, m);
}

static void step_out(struct bench *b, struct model *m, const struct traffic_frame *f)
{
    model_depart(m, f);
    bench_depart(b, f->in_port, f->out_port, f->priority, f->bytes, f->pool);
    expect_same(b, m);
}

/* 100 steps of one kind: bursts and lulls of all, one port filled to the brim, one queue drained.
 */
static void run_phase(struct bench *b, struct model *m, struct traffic *t, uint32_t phase)
{
    const uint32_t kind = phase % 4;
    const uint16_t port = (uint16_t)xoff_rng_below(&t->rng, m->n_ports);
    const uint32_t priority = (uint32_t)xoff_rng_below(&t->rng, XOFF_N_PRIORITIES + 2);
    for (uint32_t step = 0; step < 100; step++) {
        struct traffic_frame f = traffic_next(t, b);
        const bool arrives = xoff_rng_below(&t->rng, 8) < (kind == 1 ? 3 : kind == 3 ? 1 : 7);
        if (kind == 2)
            f.in_port = port;
        if (arrives && t->n < MAX_FRAMES)
            step_in(b, m, t, f);
        else if (kind == 3 && traffic_take_of(t, port, priority, &f))
            step_out(b, m, &f);
        else if (kind != 2 && kind != 3 && t->n > 0) {
            f = traffic_take(t);
            step_out(b, m, &f);
        }
    }
}

/* Every set of lossless priorities, each with other parameters and other traffic: pools, crossings,
 * totals and peaks as in the model at every step, nothing left at the end. */
static void test_random_traffic_against_model(void **unused)
{
    (void)unused;
    static struct traffic t;
    uint64_t n_pools[XOFF_N_POOLS] = {0}, n_xoff = 0, n_port_xoff = 0;
    for (uint32_t seed = 0; seed < 512; seed++) {
        struct bench b;
        struct model m;
        xoff_rng_init(&t.rng, 2023, seed, 1);
        setup_random(&b, &m, &t.rng, (uint8_t)seed);
        for (uint32_t phase = 0; phase < 12; phase++)
            run_phase(&b, &m, &t, phase);
        while (t.n > 0) {
            const struct traffic_frame f = traffic_take(&t);
            step_out(&b, &m, &f);
        }
        expect_pools(&b, 0, 0, 0, 0);
        assert_int_equal(b.n_xoff, b.n_xon);
        assert_int_equal(b.n_port_xoff, b.n_port_xon);
        for (int pool = 0; pool < XOFF_N_POOLS; pool++)
            n_pools[pool] += b.n_pools[pool];
        n_xoff += b.n_xoff;
        n_port_xoff += b.n_port_xoff;
        bench_end(&b);
    }
    /* The traffic reached every branch. */
    for (int pool = 0; pool < XOFF_N_POOLS; pool++)
        assert_true(n_pools[pool] > 5000);
    assert_true(n_xoff > 5000);
    assert_true(n_port_xoff > 5000);
}

/* An upstream that stops for ports alone, never for queues, and sends at most eta bytes from the
 * decision on, the deciding frame included: nothing is lost, whatever else goes on. One byte more,
 * and there is loss. Answers the frames lost. */
static uint64_t run_obedient(uint32_t seed, int64_t more, struct traffic *t)
{
    struct bench b;
    struct model m;
    int64_t sent[MAX_PORTS] = {0}; /* since the port was paused */
    uint64_t n_lost = 0;
    xoff_rng_init(&t->rng, 77, seed, 2);
    setup_random(&b, &m, &t->rng, (uint8_t)(1 + xoff_rng_below(&t->rng, 255)));
    for (uint32_t step = 0; step < 1500 || t->n > 0; step++) {
        if (step < 1500 && t->n < MAX_FRAMES && xoff_rng_below(&t->rng, 8) < 6) {
            struct traffic_frame f = traffic_next(t, &b);
            const bool is_lossless = m.lossless >> f.priority & 1;
            const int64_t may = m.etas[f.in_port] + more - sent[f.in_port];
            if (is_lossless && may < f.bytes)
                f.bytes = (uint32_t)may; /* the last that it has begun */
            if (f.bytes == 0)
                continue;
            f.pool = bench_arrive(&b, f.in_port, f.out_port, f.priority, f.bytes);
            if (f.pool != XOFF_POOL_DROP)
                t->frames[t->n++] = f;
            if (is_lossless && b.port_above[f.in_port])
                sent[f.in_port] += f.bytes;
            n_lost += is_lossless && f.pool == XOFF_POOL_DROP;
        } else if (t->n > 0) {
            const struct traffic_frame f = traffic_take(t);
            bench_depart(&b, f.in_port, f.out_port, f.priority, f.bytes, f.pool);
            if (!b.port_above[f.in_port])
                sent[f.in_port] = 0;
        }
    }
    assert_int_equal(b.n_port_xoff, b.n_port_xon);
    bench_end(&b);
    return n_lost;
}

static void test_insurance_is_enough(void **unused)
{
    (void)unused;
    static struct traffic t;
    uint64_t n_lost = 0;
    for (uint32_t seed = 0; seed < 300; seed++) {
        assert_int_equal(run_obedient(seed, 0, &t), 0);
        n_lost += run_obedient(seed, 1, &t);
    }
    assert_true(n_lost > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_trace_of_one_queue),
        cmocka_unit_test(test_reserve_boundary),
        cmocka_unit_test(test_queue_xoff_boundary),
        cmocka_unit_test(test_queue_xon_boundary),
        cmocka_unit_test(test_headroom_becomes_footroom),
        cmocka_unit_test(test_port_xoff_boundary),
        cmocka_unit_test(test_port_xon_boundary),
        cmocka_unit_test(test_pool_boundary),
        cmocka_unit_test(test_insurance_boundary),
        cmocka_unit_test(test_queue_first_and_queue_first),
        cmocka_unit_test(test_port_first_and_port_first),
        cmocka_unit_test(test_port_without_queue),
        cmocka_unit_test(test_port_first_and_queue_first),
        cmocka_unit_test(test_threshold_shrinks_under_a_queue),
        cmocka_unit_test(test_no_shared_space),
        cmocka_unit_test(test_frame_partly_in_reserve),
        cmocka_unit_test(test_insurance_drains_first),
        cmocka_unit_test(test_headroom_follows_the_queue),
        cmocka_unit_test(test_lossy_beside),
        cmocka_unit_test(test_mixed_speeds),
        cmocka_unit_test(test_sets_of_priorities),
        cmocka_unit_test(test_allow_loss),
        cmocka_unit_test(test_alpha_above_one_needs_space),
        cmocka_unit_test(test_refuses_small_buffer),
        cmocka_unit_test(test_eta_rule),
        cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_random_traffic_against_model),
        cmocka_unit_test(test_insurance_is_enough),
        cmocka_unit_test(test_state_can_be_copied),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
