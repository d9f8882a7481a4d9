/* Dynamic threshold with static headroom: thresholds from both sides, traces worked by hand, and
 * random traffic against a slow model.
 *
 * Unless a test says otherwise the switch has four ports, priority 3 lossless, 1000 bytes of
 * reserve and 3000 of headroom for it at each port, nothing for lossy traffic, alpha 1/8,
 * resume_offset 500, and 4 * 1000 + 4 * 3000 + 16000 = 32000 bytes in all: a shared pool of 16000,
 * T = 2000 when empty.
 */
#include "mech/mmu/mmu_testing.h"

#include "mech/mechanisms.h"

#define LOSSLESS_3 0x08

static void setup_small(struct bench *b)
{
    bench_setup(b, &xoff_mmu_sih, LOSSLESS_3, 32000);
    bench_set(b, "reserved", "1000B");
    bench_set(b, "reserved_lossy", "0B");
    bench_set(b, "resume_offset", "500B");
}

/* One ingress queue, frames of 1000 bytes, up to a loss and down again. */
static void test_trace_of_one_queue(void **unused)
{
    (void)unused;
    struct bench b;
    setup_small(&b);
    bench_start(&b);
    /* q = 1000: the reserve. */
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
    /* Headroom 4000 > 3000: lost; XOFF is decided already. */
    assert_int_equal(bench_arrive(&b, 0, 1, 3, 1000), XOFF_POOL_DROP);
    expect_no_crossing(&b);
    assert_int_equal(xoff_mmu_headroom_peak(&b.mmu, 0, 3), 3000);
    assert_int_equal(xoff_mmu_headroom_peak(&b.mmu, 1, 3), 0);

    /* Departures empty the headroom first, whatever pool the frame was given. */
    bench_depart(&b, 0, 1, 3, 1000, XOFF_POOL_RESERVED);
    expect_used(&b, 1000, 1000, 2000);
    bench_depart(&b, 0, 1, 3, 1000, XOFF_POOL_SHARED);
    expect_no_crossing(&b);
    /* Headroom 0, shared 1000 + 500 <= 1875: XON at 1875 - 500 = 1375. */
    bench_depart(&b, 0, 1, 3, 1000, XOFF_POOL_HEADROOM);
    expect_crossing(&b, 0, 1000, 1375);
    bench_depart(&b, 0, 1, 3, 1000, XOFF_POOL_HEADROOM);
    expect_no_crossing(&b);
    expect_used(&b, 1000, 0, 0);
    bench_depart(&b, 0, 1, 3, 1000, XOFF_POOL_HEADROOM);
    expect_no_crossing(&b);
    expect_used(&b, 0, 0, 0);
    const struct xoff_mmu_view v = bench_view(&b);
    assert_int_equal(v.peak_total_bytes, 5000);
    assert_int_equal(v.peak_bytes[XOFF_POOL_RESERVED], 1000);
    assert_int_equal(v.peak_bytes[XOFF_POOL_SHARED], 1000);
    assert_int_equal(v.peak_bytes[XOFF_POOL_HEADROOM], 3000);
    assert_int_equal(v.capacity_bytes[XOFF_POOL_RESERVED], 4000);
    assert_int_equal(v.capacity_bytes[XOFF_POOL_SHARED], 16000);
    assert_int_equal(v.capacity_bytes[XOFF_POOL_HEADROOM], 12000);
    assert_int_equal(v.capacity_bytes[XOFF_POOL_INSURANCE], 0); /* it has no such pool */
    bench_end(&b);
}

static void test_reserve_boundary(void **unused)
{
    (void)unused;
    struct bench b;
    setup_small(&b);
    bench_start(&b);
    assert_int_equal(bench_arrive(&b, 0, 1, 3, 1000), XOFF_POOL_RESERVED);
    bench_restart(&b);
    /* One byte too many takes one byte of the shared pool. */
    assert_int_equal(bench_arrive(&b, 0, 1, 3, 1001), XOFF_POOL_SHARED);
    expect_used(&b, 1000, 1, 0);
    /* A queue's reserve is its own: the same priority of another port has all of its reserve. */
    assert_int_equal(bench_arrive(&b, 1, 1, 3, 1000), XOFF_POOL_RESERVED);
    bench_end(&b);
}

/* With the reserve full, T = 2000: 2000 bytes go to the shared pool, 2001 to headroom. */
static void test_shared_boundary(void **unused)
{
    (void)unused;
    struct bench b;
    setup_small(&b);
    bench_start(&b);
    bench_arrive(&b, 0, 1, 3, 1000);
    assert_int_equal(bench_arrive(&b, 0, 1, 3, 2000), XOFF_POOL_SHARED);
    /* T fell to 14000/8 = 1750 by the frame itself. */
    expect_crossing(&b, 1, 2000, 1750);
    bench_restart(&b);
    bench_arrive(&b, 0, 1, 3, 1000);
    assert_int_equal(bench_arrive(&b, 0, 1, 3, 2001), XOFF_POOL_HEADROOM);
    expect_crossing(&b, 1, 2001, 2000);
    bench_end(&b);
}

/* shared >= T after admission: at 1777, T = 14223/8 = 1777; at 1776, T = 14224/8 = 1778. */
static void test_xoff_boundary(void **unused)
{
    (void)unused;
    struct bench b;
    setup_small(&b);
    bench_start(&b);
    bench_arrive(&b, 2, 1, 3, 1000);
    assert_int_equal(bench_arrive(&b, 2, 1, 3, 1776), XOFF_POOL_SHARED);
    expect_no_crossing(&b);
    bench_restart(&b);
    bench_arrive(&b, 2, 1, 3, 1000);
    assert_int_equal(bench_arrive(&b, 2, 1, 3, 1777), XOFF_POOL_SHARED);
    expect_crossing(&b, 1, 1777, 1777);
    bench_end(&b);
}

/* From shared 1777, a departure of y leaves 1777 - y and T = (14223 + y)/8. y = 444: 1333 + 500 <=
 * 14667/8 = 1833: XON. y = 443: 1334 + 500 > 14666/8 = 1833: not yet. */
static void test_xon_boundary(void **unused)
{
    (void)unused;
    struct bench b;
    setup_small(&b);
    bench_start(&b);
    bench_arrive(&b, 0, 1, 3, 1000);
    bench_arrive(&b, 0, 1, 3, 1777);
    expect_crossing(&b, 1, 1777, 1777);
    bench_depart(&b, 0, 1, 3, 444, XOFF_POOL_SHARED);
    expect_crossing(&b, 0, 1333, 1333);
    bench_restart(&b);
    bench_arrive(&b, 0, 1, 3, 1000);
    bench_arrive(&b, 0, 1, 3, 1777);
    bench_depart(&b, 0, 1, 3, 443, XOFF_POOL_SHARED);
    expect_no_crossing(&b);
    bench_end(&b);
}

/* An offset larger than T can ever be: XON comes when the shared part is empty, not a byte before.
 */
static void test_xon_of_empty_queue(void **unused)
{
    (void)unused;
    struct bench b;
    setup_small(&b);
    bench_set(&b, "resume_offset", "20000B");
    bench_start(&b);
    bench_arrive(&b, 0, 1, 3, 1000);
    bench_arrive(&b, 0, 1, 3, 1777);
    bench_depart(&b, 0, 1, 3, 1776, XOFF_POOL_SHARED);
    expect_no_crossing(&b);
    bench_depart(&b, 0, 1, 3, 1, XOFF_POOL_SHARED);
    expect_crossing(&b, 0, 0, 0);
    bench_end(&b);
}

static void test_headroom_boundary(void **unused)
{
    (void)unused;
    struct bench b;
    setup_small(&b);
    bench_start(&b);
    bench_arrive(&b, 0, 1, 3, 1000);
    assert_int_equal(bench_arrive(&b, 0, 1, 3, 3000), XOFF_POOL_HEADROOM);
    expect_crossing(&b, 1, 3000, 2000);
    bench_restart(&b);
    /* Lost, and XOFF all the same: the queue holds 1000 bytes that will bring XON. */
    bench_arrive(&b, 0, 1, 3, 1000);
    assert_int_equal(bench_arrive(&b, 0, 1, 3, 3001), XOFF_POOL_DROP);
    expect_crossing(&b, 1, 3001, 2000);
    bench_depart(&b, 0, 1, 3, 1000, XOFF_POOL_RESERVED);
    expect_crossing(&b, 0, 0, 1500);
    /* Lost at an empty queue: a pause would never end. 1000 + 3001 > 1000 + 2000. */
    assert_int_equal(bench_arrive(&b, 0, 1, 3, 4001), XOFF_POOL_DROP);
    expect_no_crossing(&b);
    bench_end(&b);
}

/* Port 0 keeps 1000 shared bytes while lossy traffic of port 2 makes T shrink under it. */
static void test_threshold_shrinks_under_a_queue(void **unused)
{
    (void)unused;
    struct bench b;
    setup_small(&b);
    bench_start(&b);
    bench_arrive(&b, 0, 1, 3, 2000);
    expect_no_crossing(&b);
    /* Free 15000 - 7500 = 7500, T = 937 < 1000: nobody is told until the queue's own next frame. */
    assert_int_equal(bench_arrive(&b, 2, 1, 0, 7500), XOFF_POOL_SHARED);
    expect_no_crossing(&b);
    assert_int_equal(bench_arrive(&b, 0, 1, 3, 100), XOFF_POOL_HEADROOM);
    expect_crossing(&b, 1, 1100, 937);
    /* Headroom empty, but 1000 + 500 > 937. */
    bench_depart(&b, 0, 1, 3, 100, XOFF_POOL_SHARED);
    expect_no_crossing(&b);
    /* The lossy bytes leave: T = 15000/8 = 1875, again without a word. */
    bench_depart(&b, 2, 1, 0, 7500, XOFF_POOL_SHARED);
    expect_no_crossing(&b);
    /* Its own departure: 990 + 500 <= (16000 - 990)/8 = 1876, XON at 1376. */
    bench_depart(&b, 0, 1, 3, 10, XOFF_POOL_SHARED);
    expect_crossing(&b, 0, 990, 1376);
    bench_end(&b);
}

/* A full pool has T = 0: a frame that fits the reserve is the last that does, XOFF comes with it.
 */
static void test_full_pool(void **unused)
{
    (void)unused;
    struct bench b;
    setup_small(&b);
    bench_start(&b);
    assert_int_equal(bench_arrive(&b, 2, 1, 0, 16000), XOFF_POOL_SHARED);
    assert_int_equal(bench_arrive(&b, 0, 1, 3, 64), XOFF_POOL_RESERVED);
    expect_crossing(&b, 1, 0, 0);
    bench_depart(&b, 0, 1, 3, 64, XOFF_POOL_RESERVED);
    expect_crossing(&b, 0, 0, 0);
    /* Seven bytes free: T = 0; eight: T = 1. */
    bench_depart(&b, 2, 1, 0, 7, XOFF_POOL_SHARED);
    bench_arrive(&b, 0, 1, 3, 64);
    expect_crossing(&b, 1, 0, 0);
    bench_depart(&b, 0, 1, 3, 64, XOFF_POOL_RESERVED);
    bench_depart(&b, 2, 1, 0, 1, XOFF_POOL_SHARED);
    bench_arrive(&b, 0, 1, 3, 64);
    expect_no_crossing(&b);
    bench_end(&b);
}

/* alpha_lossy against the egress queue, and the free space where alpha_lossy promises more. */
static void test_lossy_boundaries(void **unused)
{
    (void)unused;
    static const struct {
        const char *alpha;
        uint32_t queued, last_good;
    } rows[] = {
        {"1", 0, 16000},     {"1/2", 0, 8000}, {"2", 0, 16000}, /* T = 32000 */
        {"1", 4000, 8000},                     /* T = 12000, of which 4000 are in the queue */
        {"1/2", 4000, 2000}, {"1/2", 5334, 0}, /* T = 10666/2 = 5333 */
        {"4", 12000, 4000},                    /* T = 16000 */
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct bench b;
        setup_small(&b);
        bench_set(&b, "alpha_lossy", rows[i].alpha);
        bench_start(&b);
        for (uint32_t extra = 0; extra <= 1; extra++) {
            bench_restart(&b);
            if (rows[i].queued)
                assert_int_equal(bench_arrive(&b, 0, 1, 5, rows[i].queued), XOFF_POOL_SHARED);
            if (rows[i].last_good + extra == 0)
                continue;
            assert_int_equal(bench_arrive(&b, 2, 1, 5, rows[i].last_good + extra),
                             extra ? XOFF_POOL_DROP : XOFF_POOL_SHARED);
            expect_no_crossing(&b);
        }
        bench_end(&b);
    }
}

/* Lossy priorities of a port share one reserve, outside of any threshold. */
static void test_lossy_reserve(void **unused)
{
    (void)unused;
    struct bench b;
    /* 4 * (1000 + 700) + 4 * 3000 + 1200 = 20000 */
    bench_setup(&b, &xoff_mmu_sih, LOSSLESS_3, 20000);
    bench_set(&b, "reserved", "1000B");
    bench_set(&b, "reserved_lossy", "700B");
    bench_start(&b);
    assert_int_equal(bench_view(&b).capacity_bytes[XOFF_POOL_SHARED], 1200);
    /* Port 1 fills its reserve, then the shared pool: T = 1200. */
    assert_int_equal(bench_arrive(&b, 1, 3, 0, 700), XOFF_POOL_RESERVED);
    assert_int_equal(bench_arrive(&b, 1, 2, 0, 1200), XOFF_POOL_SHARED);
    expect_used(&b, 700, 1200, 0);
    assert_int_equal(bench_arrive(&b, 0, 2, 0, 300), XOFF_POOL_RESERVED);
    assert_int_equal(bench_arrive(&b, 0, 2, 7, 400), XOFF_POOL_RESERVED);
    assert_int_equal(bench_arrive(&b, 0, 2, 6, 1), XOFF_POOL_DROP);
    /* Room in the reserve is for any lossy priority, again to the byte. */
    bench_depart(&b, 0, 2, 0, 300, XOFF_POOL_RESERVED);
    assert_int_equal(bench_arrive(&b, 0, 2, 6, 301), XOFF_POOL_DROP);
    assert_int_equal(bench_arrive(&b, 0, 2, 6, 300), XOFF_POOL_RESERVED);
    assert_int_equal(xoff_mmu_ingress_bytes(&b.mmu, 0, 6), 300);
    assert_int_equal(xoff_mmu_ingress_bytes(&b.mmu, 0, 7), 400);
    bench_end(&b);
}

/* alpha 4: with 1000 bytes free T is 4000, but only 1000 fit. */
static void test_alpha_above_one_needs_space(void **unused)
{
    (void)unused;
    struct bench b;
    setup_small(&b);
    bench_set(&b, "alpha", "4");
    bench_start(&b);
    bench_arrive(&b, 2, 1, 0, 15000);
    bench_arrive(&b, 0, 1, 3, 1000);
    expect_no_crossing(&b);
    assert_int_equal(bench_arrive(&b, 0, 1, 3, 1001), XOFF_POOL_HEADROOM);
    expect_crossing(&b, 1, 1001, 1000);
    bench_depart(&b, 0, 1, 3, 1001, XOFF_POOL_HEADROOM);
    expect_crossing(&b, 0, 0, 3500);
    assert_int_equal(bench_arrive(&b, 0, 1, 3, 1000), XOFF_POOL_SHARED);
    expect_crossing(&b, 1, 1000, 0);
    bench_end(&b);
}

/* T = floor(num * free / den) to the byte, seen as the largest frame an empty switch without
 * reserve and headroom takes. */
static void test_alpha_is_exact(void **unused)
{
    (void)unused;
    static const struct {
        const char *text;
        uint64_t num, den;
    } alphas[] = {
        {"1/8", 1, 8},
        {"0.125", 1, 8},
        {"1/3", 1, 3},
        {"2/3", 2, 3},
        {"0.7", 7, 10},
        {"70 %", 7, 10},
        {"5/7", 5, 7},
        {"3/8", 3, 8},
        {"1/1023", 1, 1023},
        {"1/1024", 1, 1024},
        {"999/1000", 999, 1000},
        {"1", 1, 1},
        {"1022/1023", 1022, 1023},
    };
    struct xoff_rng rng;
    xoff_rng_init(&rng, 1, 0, 0);
    for (size_t i = 0; i < sizeof alphas / sizeof alphas[0]; i++)
        for (uint32_t round = 0; round < 200; round++) {
            struct bench b;
            /* Multiples of the denominator are where a rounded alpha would be short by one. */
            uint64_t free_bytes = 2000 + xoff_rng_below(&rng, 1u << (12 + round % 18));
            if (round % 2)
                free_bytes -= free_bytes % alphas[i].den;
            const uint64_t threshold = free_bytes * alphas[i].num / alphas[i].den;
            bench_setup(&b, &xoff_mmu_sih, LOSSLESS_3, (int64_t)free_bytes);
            bench_set(&b, "alpha", alphas[i].text);
            bench_set(&b, "reserved", "0B");
            bench_set(&b, "headroom", "0B");
            bench_set(&b, "allow_loss", "true");
            bench_start(&b);
            assert_int_equal(bench_arrive(&b, 0, 0, 3, (uint32_t)threshold + 1), XOFF_POOL_DROP);
            assert_int_equal(bench_arrive(&b, 0, 0, 3, (uint32_t)threshold), XOFF_POOL_SHARED);
            bench_end(&b);
        }
}

/* Ports of different rates have headroom of their own size: 3000, 5000, 12000 and 1 byte. */
static void test_mixed_headrooms(void **unused)
{
    (void)unused;
    static const int64_t headrooms[] = {3000, 5000, 12000, 1};
    struct bench b;
    setup_small(&b);
    b.env.buffer_bytes = 4000 + 20001 + 16;
    for (uint32_t port = 0; port < 4; port++)
        b.ports[port].headroom_bytes = headrooms[port];
    bench_start(&b);
    assert_int_equal(bench_view(&b).capacity_bytes[XOFF_POOL_HEADROOM], 20001);
    for (uint16_t port = 0; port < 4; port++) {
        const uint32_t limit = (uint32_t)headrooms[port];
        bench_restart(&b);
        bench_arrive(&b, port, 0, 3, 1000);
        assert_int_equal(bench_arrive(&b, port, 0, 3, limit + 2), XOFF_POOL_DROP);
        if (limit > 2) /* T = 2 takes less */
            assert_int_equal(bench_arrive(&b, port, 0, 3, limit), XOFF_POOL_HEADROOM);
        else
            assert_int_equal(bench_arrive(&b, port, 0, 3, limit), XOFF_POOL_SHARED);
    }
    bench_end(&b);

    /* A given headroom holds for all ports, whatever was computed. */
    setup_small(&b);
    b.env.buffer_bytes = 4000 + 4 * 800;
    b.ports[1].headroom_bytes = 99999;
    bench_set(&b, "headroom", "800B");
    bench_set(&b, "allow_loss", "true");
    bench_start(&b);
    bench_arrive(&b, 1, 0, 3, 1000);
    assert_int_equal(bench_arrive(&b, 1, 0, 3, 801), XOFF_POOL_DROP);
    assert_int_equal(bench_arrive(&b, 1, 0, 3, 800), XOFF_POOL_HEADROOM);
    bench_end(&b);
}

static void test_refuses_small_buffer(void **unused)
{
    (void)unused;
    struct bench b;
    /* Lossless 3 and 4 at 4 ports: 8 * (4096 + 3000) and 4 * 4096 lossy: 56768 + 16384 = 73152. */
    bench_setup(&b, &xoff_mmu_sih, 0x18, 73151);
    assert_int_equal(bench_configure(&b), -XOFF_E_CONFLICT);
    assert_string_equal(b.err.subject, "buffer");
    assert_non_null(strstr(b.err.message, "73152"));
    b.env.buffer_bytes = 73152;
    bench_start(&b);
    assert_int_equal(bench_view(&b).capacity_bytes[XOFF_POOL_SHARED], 0);
    /* Nothing is shared, and it still works. */
    assert_int_equal(bench_arrive(&b, 0, 1, 4, 4096), XOFF_POOL_RESERVED);
    expect_crossing(&b, 1, 0, 0);
    assert_int_equal(bench_arrive(&b, 0, 1, 4, 3000), XOFF_POOL_HEADROOM);
    bench_end(&b);

    /* All eight lossless: no lossy reserve. 32 * 7096 = 227072. */
    bench_setup(&b, &xoff_mmu_sih, 0xff, 227071);
    assert_int_equal(bench_configure(&b), -XOFF_E_CONFLICT);
    b.env.buffer_bytes = 227072;
    bench_start(&b);
    bench_end(&b);
    /* None lossless: no headroom. 4 * 4096 = 16384. */
    bench_setup(&b, &xoff_mmu_sih, 0, 16383);
    b.ports[0].headroom_bytes = 0;
    assert_int_equal(bench_configure(&b), -XOFF_E_CONFLICT);
    b.env.buffer_bytes = 16384;
    bench_start(&b);
    bench_end(&b);
}

static void test_refuses_other_mistakes(void **unused)
{
    (void)unused;
    static const double alphas[] = {0, -1, -0.125, 1024.5};
    static const char *const names[] = {"alpha", "alpha_lossy"};
    struct bench b;
    for (size_t n = 0; n < 2; n++)
        for (size_t i = 0; i < sizeof alphas / sizeof alphas[0]; i++) {
            setup_small(&b);
            memcpy(b.params + xoff_param_find(b.ops->params, names[n])->offset, &alphas[i],
                   sizeof alphas[i]);
            assert_int_equal(bench_configure(&b), -XOFF_E_RANGE);
            assert_string_equal(b.err.subject, names[n]);
        }
    setup_small(&b);
    bench_set(&b, "alpha", "1024");
    bench_start(&b);
    bench_end(&b);

    setup_small(&b);
    b.env.buffer_bytes = (INT64_C(1) << 40) + 1;
    assert_int_equal(bench_configure(&b), -XOFF_E_RANGE);
    b.env.buffer_bytes--;
    bench_start(&b);
    bench_end(&b);
}

static void test_refuses_no_headroom(void **unused)
{
    (void)unused;
    struct bench b;
    setup_small(&b);
    b.ports[0].headroom_bytes = 31840;
    bench_set(&b, "headroom", "0B");
    assert_int_equal(bench_configure(&b), -XOFF_E_RANGE);
    assert_string_equal(b.err.subject, "headroom");
    assert_non_null(strstr(b.err.message, "31840"));
    bench_set(&b, "allow_loss", "true");
    bench_start(&b);
    assert_non_null(strstr(b.err.message, "31840B"));
    bench_arrive(&b, 0, 1, 3, 1000); /* the reserve; T = (32000 - 4000) / 8 */
    assert_int_equal(bench_arrive(&b, 0, 1, 3, 3501), XOFF_POOL_DROP);
    bench_end(&b);

    /* Nothing computed for port 2: at least one frame, 9000 bytes. */
    setup_small(&b);
    b.ports[2].headroom_bytes = 0;
    assert_int_equal(bench_configure(&b), -XOFF_E_RANGE);
    assert_non_null(strstr(b.err.message, "port 2"));
    assert_non_null(strstr(b.err.message, "9000"));
    b.env.lossless = 0;
    bench_start(&b);
    bench_end(&b);
}

/* The defaults, in the words of the scenario. */
static void test_defaults(void **unused)
{
    (void)unused;
    static const char *const expected[][2] = {
        {"alpha", "1/8"},           {"alpha_lossy", "1"},      {"reserved", "4KiB"},
        {"headroom", "auto"},       {"resume_offset", "3KiB"}, {"allow_loss", "false"},
        {"headroom_rule", "worst"},
    };
    struct bench b, given;
    bench_setup(&b, &xoff_mmu_sih, LOSSLESS_3, 1000000);
    bench_setup(&given, &xoff_mmu_sih, LOSSLESS_3, 1000000);
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++)
        bench_set(&given, expected[i][0], expected[i][1]);
    assert_memory_equal(b.params, given.params, xoff_mmu_sih.params_size);
}

/* A slow model: every pool of every queue is a number of its own, totals are summed anew for each
 * question, and T is a division. */
struct model {
    uint32_t n_ports;
    uint8_t lossless;
    int64_t num, den, num_lossy, den_lossy;
    int64_t reserve, reserve_lossy, offset, shared_capacity;
    int64_t limits[MAX_PORTS];
    int64_t pools[MAX_PORTS][XOFF_N_PRIORITIES][XOFF_N_POOLS]; /* lossless queues */
    int64_t lossy[MAX_PORTS][XOFF_N_POOLS];
    bool above[MAX_PORTS][XOFF_N_PRIORITIES];
    int64_t peak_total, peaks[XOFF_N_POOLS];
};

static int64_t model_used(const struct model *m, enum xoff_pool pool)
{
    int64_t sum = 0;
    for (uint32_t port = 0; port < m->n_ports; port++) {
        sum += m->lossy[port][pool];
        for (uint32_t n = 0; n < XOFF_N_PRIORITIES; n++)
            sum += m->pools[port][n][pool];
    }
    return sum;
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

/* Answers the pool; sets *crossed to 1 (XOFF) or 0 (none). */
static enum xoff_pool model_arrive(struct model *m, const struct traffic_frame *f,
                                   int64_t egress_bytes, int *crossed)
{
    const bool is_lossless = m->lossless >> f->priority & 1;
    int64_t *pools = is_lossless ? m->pools[f->in_port][f->priority] : m->lossy[f->in_port];
    const int64_t reserve = is_lossless ? m->reserve : m->reserve_lossy;
    const int64_t room = reserve - pools[XOFF_POOL_RESERVED];
    const int64_t to_reserve = f->bytes < room ? f->bytes : room;
    const int64_t to_shared = f->bytes - to_reserve;
    const int64_t free_bytes = m->shared_capacity - model_used(m, XOFF_POOL_SHARED);
    enum xoff_pool pool = XOFF_POOL_DROP;
    *crossed = 0;
    if (to_shared == 0)
        pool = XOFF_POOL_RESERVED;
    else if (is_lossless ? pools[XOFF_POOL_SHARED] + to_shared <= free_bytes * m->num / m->den
                         : egress_bytes + f->bytes <= free_bytes * m->num_lossy / m->den_lossy)
        pool = to_shared <= free_bytes ? XOFF_POOL_SHARED : XOFF_POOL_DROP;
    if (pool == XOFF_POOL_DROP && is_lossless &&
        pools[XOFF_POOL_HEADROOM] + f->bytes <= m->limits[f->in_port])
        pool = XOFF_POOL_HEADROOM;
    if (pool == XOFF_POOL_HEADROOM) {
        pools[XOFF_POOL_HEADROOM] += f->bytes;
    } else if (pool != XOFF_POOL_DROP) {
        pools[XOFF_POOL_RESERVED] += to_reserve;
        pools[XOFF_POOL_SHARED] += to_shared;
    }
    model_note_peaks(m);
    if (!is_lossless || m->above[f->in_port][f->priority])
        return pool;
    const int64_t left = m->shared_capacity - model_used(m, XOFF_POOL_SHARED);
    const bool wants = pools[XOFF_POOL_HEADROOM] > 0 || pool == XOFF_POOL_DROP ||
                       pools[XOFF_POOL_SHARED] >= left * m->num / m->den;
    const bool holds_bytes = pools[1] + pools[2] + pools[3] > 0;
    *crossed = m->above[f->in_port][f->priority] = wants && holds_bytes;
    return pool;
}

/* Sets *crossed to 1 when XON is decided. */
static void model_depart(struct model *m, const struct traffic_frame *f, int *crossed)
{
    const bool is_lossless = m->lossless >> f->priority & 1;
    int64_t *pools = is_lossless ? m->pools[f->in_port][f->priority] : m->lossy[f->in_port];
    int64_t left = f->bytes;
    for (int pool = XOFF_POOL_HEADROOM; pool >= XOFF_POOL_RESERVED; pool--) {
        const int64_t taken = left < pools[pool] ? left : pools[pool];
        pools[pool] -= taken;
        left -= taken;
    }
    assert_int_equal(left, 0);
    *crossed = 0;
    if (!is_lossless || !m->above[f->in_port][f->priority])
        return;
    const int64_t threshold =
        (m->shared_capacity - model_used(m, XOFF_POOL_SHARED)) * m->num / m->den;
    if (pools[XOFF_POOL_HEADROOM] == 0 &&
        (pools[XOFF_POOL_SHARED] == 0 || pools[XOFF_POOL_SHARED] + m->offset <= threshold)) {
        *crossed = 1;
        m->above[f->in_port][f->priority] = false;
    }
}

static void expect_same(const struct bench *b, const struct model *m)
{
    const struct xoff_mmu_view v = bench_view(b);
    for (int pool = XOFF_POOL_RESERVED; pool < XOFF_N_POOLS; pool++)
        assert_int_equal(v.used_bytes[pool], model_used(m, (enum xoff_pool)pool));
    assert_int_equal(v.peak_total_bytes, m->peak_total);
    assert_memory_equal(v.peak_bytes, m->peaks, sizeof m->peaks);
}

static void setup_random(struct bench *b, struct model *m, struct xoff_rng *rng, uint8_t lossless)
{
    static const struct {
        const char *text;
        int64_t num, den;
    } alphas[] = {{"1/8", 1, 8}, {"1/16", 1, 16}, {"1/3", 1, 3}, {"0.7", 7, 10},
                  {"1", 1, 1},   {"2", 2, 1},     {"16", 16, 1}};
    const uint64_t a = xoff_rng_below(rng, 7), lossy = xoff_rng_below(rng, 7);
    const uint32_t n_ports = 2 + (uint32_t)xoff_rng_below(rng, 5);
    memset(m, 0, sizeof *m);
    *m = (struct model){.n_ports = n_ports,
                        .lossless = lossless,
                        .num = alphas[a].num,
                        .den = alphas[a].den,
                        .num_lossy = alphas[lossy].num,
                        .den_lossy = alphas[lossy].den,
                        .reserve = (int64_t)xoff_rng_below(rng, 3) * 1111,
                        .reserve_lossy = (int64_t)xoff_rng_below(rng, 3) * 1234,
                        .offset = (int64_t)xoff_rng_below(rng, 3) * 700,
                        .shared_capacity = 1000 + (int64_t)xoff_rng_below(rng, 40000)};
    bench_setup(b, &xoff_mmu_sih, lossless, m->shared_capacity);
    b->env.n_ports = n_ports;
    for (uint32_t port = 0; port < n_ports; port++) {
        b->ports[port].headroom_bytes = m->limits[port] = (int64_t)xoff_rng_below(rng, 9000);
        b->env.buffer_bytes += m->reserve_lossy * (lossless != 0xff);
        for (uint32_t n = 0; n < XOFF_N_PRIORITIES; n++)
            if (lossless >> n & 1)
                b->env.buffer_bytes += m->reserve + m->limits[port];
    }
    bench_set(b, "alpha", alphas[a].text);
    bench_set(b, "alpha_lossy", alphas[lossy].text);
    bench_set_bytes(b, "reserved", m->reserve);
    bench_set_bytes(b, "reserved_lossy", m->reserve_lossy);
    bench_set_bytes(b, "resume_offset", m->offset);
    bench_set(b, "allow_loss", "true");
    bench_start(b);
    assert_int_equal(bench_view(b).capacity_bytes[XOFF_POOL_SHARED], m->shared_capacity);
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
        xoff_rng_init(&t.rng, 2024, lossless, 1);
        setup_random(&b, &m, &t.rng, (uint8_t)lossless);
        for (uint32_t step = 0; step < 1500 || t.n > 0; step++) {
            /* Bursts and lulls; only departures at the end. */
            const uint32_t arrivals_in_8 = step >= 1500 ? 0 : step / 100 % 2 ? 2 : 7;
            if (t.n < MAX_FRAMES && xoff_rng_below(&t.rng, 8) < arrivals_in_8) {
                struct traffic_frame f = traffic_next(&t, &b);
                f.pool = model_arrive(&m, &f, b.egress_bytes[f.out_port][f.priority], &crossed);
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
            expect_same(&b, &m);
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
        cmocka_unit_test(test_reserve_boundary),
        cmocka_unit_test(test_shared_boundary),
        cmocka_unit_test(test_xoff_boundary),
        cmocka_unit_test(test_xon_boundary),
        cmocka_unit_test(test_xon_of_empty_queue),
        cmocka_unit_test(test_headroom_boundary),
        cmocka_unit_test(test_threshold_shrinks_under_a_queue),
        cmocka_unit_test(test_full_pool),
        cmocka_unit_test(test_lossy_boundaries),
        cmocka_unit_test(test_lossy_reserve),
        cmocka_unit_test(test_alpha_above_one_needs_space),
        cmocka_unit_test(test_alpha_is_exact),
        cmocka_unit_test(test_mixed_headrooms),
        cmocka_unit_test(test_refuses_small_buffer),
        cmocka_unit_test(test_refuses_other_mistakes),
        cmocka_unit_test(test_refuses_no_headroom),
        cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_random_traffic_against_model),
        cmocka_unit_test(test_state_can_be_copied),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
