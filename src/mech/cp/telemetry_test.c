/* In-band telemetry: what a hop keeps of its four numbers, differences over a turn of the counters,
 * and the congestion point that stamps. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <xoff/cp.h>
#include <xoff/rng.h>

extern const struct xoff_cp_ops xoff_cp_int;

_Noreturn void xoff_assert_fail(const char *expression, const char *file, int line)
{
    mock_assert(0, expression, file, line);
    abort();
}

static struct xoff_int_view pass(uint32_t at_ns, uint32_t tx_bytes, int64_t queue_bytes,
                                 xoff_rate rate_bps)
{
    const struct xoff_int_view view = {at_ns, tx_bytes, queue_bytes, rate_bps};
    const struct xoff_int_hop hop = xoff_int_pack(&view);
    return xoff_int_unpack(&hop);
}

static xoff_rate rate_kept(xoff_rate rate_bps)
{
    return pass(0, 0, 0, rate_bps).rate_bps;
}

static int64_t queue_kept(int64_t queue_bytes)
{
    return pass(0, 0, queue_bytes, 100 * XOFF_GBPS).queue_bytes;
}

/* 12800 B are 200 units, 100 Gb/s is 100 * 10^9: 200 << 12 | 100 << 4 | 9
 * = 819200 + 1600 + 9 = 820809. */
static void a_hop_by_hand(void **unused)
{
    (void)unused;
    const struct xoff_int_view view = {800, 10000, 12800, 100 * XOFF_GBPS};
    const struct xoff_int_hop hop = xoff_int_pack(&view);
    assert_int_equal(sizeof hop, 12);
    assert_int_equal(hop.at_ns, 800);
    assert_int_equal(hop.tx_bytes, 10000);
    assert_int_equal(hop.packed, 820809);
    assert_int_equal(XOFF_INT_HOPS * 8 + 2, XOFF_INT_WIRE_BYTES);
}

static void ethernet_rates_are_exact(void **unused)
{
    (void)unused;
    static const xoff_rate tenths_of_gbps[] = {1,   10,   25,   50,   100,  250,  400,
                                               500, 1000, 2000, 4000, 8000, 16000};
    for (size_t i = 0; i < sizeof tenths_of_gbps / sizeof *tenths_of_gbps; i++) {
        const xoff_rate rate_bps = tenths_of_gbps[i] * 100 * XOFF_MBPS;
        assert_true(rate_kept(rate_bps) == rate_bps);
    }
}

/* The distance to the nearest of all 256 * 16 values. */
static uint64_t least_distance(xoff_rate rate_bps)
{
    uint64_t least = UINT64_MAX, power = 1;
    for (int e = 0; e < 16; e++, power *= 10)
        for (uint64_t m = 0; m < 256; m++) {
            const uint64_t value = m * power;
            const uint64_t off = value > rate_bps ? value - rate_bps : rate_bps - value;
            least = off < least ? off : least;
        }
    return least;
}

static void nearest_is_kept(xoff_rate rate_bps)
{
    const xoff_rate kept = rate_kept(rate_bps);
    const uint64_t off = kept > rate_bps ? kept - rate_bps : rate_bps - kept;
    if (off != least_distance(rate_bps))
        fail_msg("%llu is kept as %llu", (unsigned long long)rate_bps, (unsigned long long)kept);
    assert_true(rate_kept(kept) == kept);
}

/* Around the last value of a step: 255 still fits, 257 is nearer to 255 than to 260, 258 is not;
 * 2574 belongs to 2550, 2576 to 2600. */
static void the_nearest_rate_is_kept(void **unused)
{
    (void)unused;
    assert_true(rate_kept(255) == 255);
    assert_true(rate_kept(257) == 255);
    assert_true(rate_kept(258) == 260);
    assert_true(rate_kept(2574) == 2550);
    assert_true(rate_kept(2576) == 2600);
    for (xoff_rate rate_bps = 0; rate_bps < 3000; rate_bps++)
        nearest_is_kept(rate_bps);
    struct xoff_rng rng;
    xoff_rng_init(&rng, 7, 0, 0);
    for (int i = 0; i < 3000; i++)
        nearest_is_kept(xoff_rng_u64(&rng) >> xoff_rng_below(&rng, 64));
    assert_true(rate_kept(UINT64_MAX) == UINT64_C(255000000000000000));
}

static void the_queue_is_cut_and_saturates(void **unused)
{
    (void)unused;
    assert_int_equal(queue_kept(0), 0);
    assert_int_equal(queue_kept(63), 0);
    assert_int_equal(queue_kept(64), 64);
    assert_int_equal(queue_kept(127), 64);
    const int64_t most = INT64_C(1048575) * 64;
    assert_int_equal(queue_kept(most - 1), most - 64);
    assert_int_equal(queue_kept(most), most);
    assert_int_equal(queue_kept(most + 64), most);
    assert_int_equal(queue_kept(INT64_MAX), most);
    assert_int_equal(pass(0, 0, INT64_MAX, 25 * XOFF_GBPS).rate_bps, 25 * XOFF_GBPS);
    expect_assert_failure(queue_kept(-1));
}

static void round_trip(void **unused)
{
    (void)unused;
    struct xoff_rng rng;
    xoff_rng_init(&rng, 3, 0, 0);
    for (int i = 0; i < 10000; i++) {
        const uint32_t at_ns = xoff_rng_u32(&rng), tx_bytes = xoff_rng_u32(&rng);
        const int64_t queue_bytes = (int64_t)xoff_rng_below(&rng, 1048576) * 64;
        const xoff_rate rate_bps = rate_kept(xoff_rng_below(&rng, 2000 * XOFF_GBPS));
        const struct xoff_int_view view = pass(at_ns, tx_bytes, queue_bytes, rate_bps);
        assert_int_equal(view.at_ns, at_ns);
        assert_int_equal(view.tx_bytes, tx_bytes);
        assert_int_equal(view.queue_bytes, queue_bytes);
        assert_int_equal(view.rate_bps, rate_bps);
    }
}

static struct xoff_int_hop hop_of(uint32_t at_ns, uint32_t tx_bytes)
{
    const struct xoff_int_view view = {at_ns, tx_bytes, 640, 100 * XOFF_GBPS};
    return xoff_int_pack(&view);
}

static bool is_newer(uint32_t earlier_ns, uint32_t later_ns)
{
    const struct xoff_int_hop earlier = hop_of(earlier_ns, 0), later = hop_of(later_ns, 0);
    struct xoff_int_change change;
    return xoff_int_measure(&earlier, &later, &change);
}

/* Both counters come round between the records: 2^32 - 100 -> 700 is 800 ns, 2^32 - 1 -> 9999 is
 * 10000 B. */
static void differences_over_a_turn(void **unused)
{
    (void)unused;
    const struct xoff_int_hop earlier = hop_of(UINT32_MAX - 99, UINT32_MAX);
    const struct xoff_int_view now = {700, 9999, 12800, 100 * XOFF_GBPS};
    const struct xoff_int_hop later = xoff_int_pack(&now);
    struct xoff_int_change change;
    assert_true(xoff_int_measure(&earlier, &later, &change));
    assert_int_equal(change.span_ns, 800);
    assert_int_equal(change.tx_bytes, 10000);
    assert_int_equal(change.queue_bytes, 12800);
    assert_int_equal(change.earlier_queue_bytes, 640);
    assert_int_equal(change.rate_bps, 100 * XOFF_GBPS);

    assert_false(is_newer(500, 500));
    assert_true(is_newer(500, 501));
    assert_false(is_newer(500, 499));
    assert_true(is_newer(5, 4 + (UINT32_C(1) << 31)));
    assert_false(is_newer(5, 5 + (UINT32_C(1) << 31)));
}

static struct xoff_int path_of(uint32_t n, xoff_rate last_bps)
{
    struct xoff_int record = {.n = n};
    for (uint32_t i = 0; i < n; i++) {
        const struct xoff_int_view view = {1000 * i, 77 * i, 640 * i,
                                           i == n - 1 ? last_bps : 100 * XOFF_GBPS};
        record.hop[i] = xoff_int_pack(&view);
    }
    return record;
}

/* Half a turn of the byte counter at 100 Gb/s: 2^31 B * 8 / 10^11 b/s = 171.79869184 ms; at
 * 10 Mb/s half a turn of the clock comes first: 2^31 ns. */
static void what_can_be_compared(void **unused)
{
    (void)unused;
    const struct xoff_int none = {.n = 0}, one = path_of(1, 10 * XOFF_MBPS),
                          three = path_of(3, 100 * XOFF_GBPS), four = path_of(4, 100 * XOFF_GBPS),
                          slower = path_of(3, 40 * XOFF_GBPS);
    struct xoff_int busier = three;
    busier.hop[1].packed += 5u << 12;
    assert_true(xoff_int_is_comparable(&three, &three, XOFF_US));
    assert_true(xoff_int_is_comparable(&three, &busier, XOFF_US));
    assert_false(xoff_int_is_comparable(&none, &three, XOFF_US));
    assert_false(xoff_int_is_comparable(&none, &none, XOFF_US));
    assert_false(xoff_int_is_comparable(&three, &four, XOFF_US));
    assert_false(xoff_int_is_comparable(&four, &three, XOFF_US));
    assert_false(xoff_int_is_comparable(&three, &slower, XOFF_US));
    assert_true(xoff_int_is_comparable(&three, &three, INT64_C(171798691839)));
    assert_false(xoff_int_is_comparable(&three, &three, INT64_C(171798691840)));
    assert_true(xoff_int_is_comparable(&one, &one, (INT64_C(1) << 31) * XOFF_NS - 1));
    assert_false(xoff_int_is_comparable(&one, &one, (INT64_C(1) << 31) * XOFF_NS));
    struct xoff_int too_many = three;
    too_many.n = XOFF_INT_HOPS + 1;
    expect_assert_failure(xoff_int_is_comparable(&too_many, &too_many, 0));
}

/* Time is cut to whole nanoseconds, both counters to 32 bits; the queue is the port's, not that of
 * the frame's priority. */
static void every_frame_is_stamped(void **unused)
{
    (void)unused;
    const struct xoff_cp_env env = {.rate_bps = 40 * XOFF_GBPS, .buffer_bytes = 16000000};
    _Alignas(16) unsigned char cfg[64];
    struct xoff_err err;
    assert_true(xoff_cp_int.cfg_size <= sizeof cfg);
    _Alignas(16) unsigned char params[64];
    assert_true(xoff_cp_int.params_size <= sizeof params);
    xoff_param_defaults(xoff_cp_int.params, params);
    struct xoff_cp cp;
    assert_int_equal(xoff_cp_configure(&cp, &xoff_cp_int, params, &env, cfg, &err), 0);
    xoff_cp_init(&cp, NULL);
    assert_int_equal(cp.shape.state_size, 0);
    assert_int_equal(cp.shape.quiet_below, 0);
    assert_true(cp.shape.stamps && cp.shape.sees_port && !cp.shape.draws);
    assert_true(xoff_cp_skips_enqueue(&cp) && !xoff_cp_skips_dequeue(&cp));

    struct xoff_cp_frame frame = {.queue_bytes = 3000,
                                  .bytes = 1000,
                                  .port_bytes = 6463,
                                  .port_tx_bytes = (UINT64_C(5) << 32) + 12345};
    struct xoff_cp_answer answer;
    xoff_cp_on_dequeue(&cp, NULL, &frame, ((INT64_C(3) << 32) + 77) * XOFF_NS + 999, &answer);
    const struct xoff_int_view view = xoff_int_unpack(&answer.hop);
    assert_true(answer.stamp);
    assert_false(answer.mark || answer.notify || answer.write);
    assert_int_equal(view.at_ns, 77);
    assert_int_equal(view.tx_bytes, 12345);
    assert_int_equal(view.queue_bytes, 6400);
    assert_int_equal(view.rate_bps, 40 * XOFF_GBPS);

    frame = (struct xoff_cp_frame){.queue_bytes = 64, .bytes = 64};
    xoff_cp_on_dequeue(&cp, NULL, &frame, 0, &answer);
    assert_true(answer.stamp);
    assert_int_equal(answer.hop.at_ns, 0);
    assert_int_equal(answer.hop.tx_bytes, 0);
    assert_int_equal(xoff_int_unpack(&answer.hop).queue_bytes, 0);
}

/* Bytes in units of 128: 128 x 7 = 896 is the last before 1024. A queue is the number of its units
 * of 80 B, in the record's field of 64 B each: 959 B are 11 units, 960 B 12. */
static void units_of_another_family(void **unused)
{
    (void)unused;
    const struct xoff_cp_env env = {.rate_bps = 100 * XOFF_GBPS, .buffer_bytes = 16000000};
    _Alignas(16) unsigned char cfg[64], params[64];
    struct xoff_err err;
    struct xoff_cp cp;
    xoff_param_defaults(xoff_cp_int.params, params);
    const struct xoff_param *table = xoff_cp_int.params;
    assert_int_equal(xoff_param_set(xoff_param_find(table, "byte_unit"), params, "128B", &err), 0);
    assert_int_equal(xoff_param_set(xoff_param_find(table, "queue_unit"), params, "80B", &err), 0);
    assert_int_equal(xoff_cp_configure(&cp, &xoff_cp_int, params, &env, cfg, &err), 0);
    static const struct {
        uint64_t tx;
        int64_t queue;
        uint32_t tx_bytes;
        int64_t queue_bytes;
    } rows[] = {{1023, 959, 896, 11 * 64}, {1024, 960, 1024, 12 * 64}, {127, 79, 0, 0}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct xoff_cp_frame frame = {
            .bytes = 64, .port_bytes = rows[i].queue, .port_tx_bytes = rows[i].tx};
        struct xoff_cp_answer answer;
        xoff_cp_on_dequeue(&cp, NULL, &frame, 0, &answer);
        assert_int_equal(answer.hop.tx_bytes, rows[i].tx_bytes);
        assert_int_equal(xoff_int_unpack(&answer.hop).queue_bytes, rows[i].queue_bytes);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_hop_by_hand),
        cmocka_unit_test(ethernet_rates_are_exact),
        cmocka_unit_test(the_nearest_rate_is_kept),
        cmocka_unit_test(the_queue_is_cut_and_saturates),
        cmocka_unit_test(round_trip),
        cmocka_unit_test(differences_over_a_turn),
        cmocka_unit_test(what_can_be_compared),
        cmocka_unit_test(every_frame_is_stamped),
        cmocka_unit_test(units_of_another_family),
    };
    return cmocka_run_group_tests_name("telemetry", tests, NULL, NULL);
}
