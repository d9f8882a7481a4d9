/* Headroom: worked numbers, and an event-by-event replay of a sender that never stops by itself. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <xoff/headroom.h>
#include <xoff/rng.h>

struct worked {
    struct xoff_headroom_params params;
    int64_t bytes;
};

/* W = (L + 20) + 72 + (L + 8) + ceil((2d + r) * rate / 8); headroom = L + qL + max(0, s - 20) where
 * W = q(L + 20) + s. */
static const struct worked worked[] = {
    /* 10G, 100 m = 500 ns, r = 60 quanta = 3840 B = 3072 ns, L = 1518:
     * W = 1538 + 72 + 1526 + 1250 + 3840 = 8226 = 5 * 1538 + 536; 1518 + 7590 + 516 = 9624 */
    {{10 * XOFF_GBPS, 500 * XOFF_NS, 1518, 3072 * XOFF_NS}, 9624},
    /* 100G, 1 us, r = 394 quanta = 25216 B = 2017.28 ns, L = 1518:
     * W = 1538 + 72 + 1526 + 25000 + 25216 = 53352 = 34 * 1538 + 1060;
     * 1518 + 51612 + 1040 = 54170 */
    {{100 * XOFF_GBPS, XOFF_US, 1518, 2017280}, 54170},
    /* No cable, no response time, L = 64: W = 84 + 72 + 72 = 228 = 2 * 84 + 60;
     * 64 + 128 + 40 = 232 */
    {{XOFF_GBPS, 0, 64, 0}, 232},
    /* The rest of a slot is worth nothing up to the 20 bytes of overhead, then byte for byte.
     * 1G, a byte is 8 ns, L = 64: W = 228 + r; r = 24 B fills three slots: 64 + 192. */
    {{XOFF_GBPS, 0, 64, 24 * 8 * XOFF_NS}, 256},
    {{XOFF_GBPS, 0, 64, 44 * 8 * XOFF_NS}, 256},     /* s = 20 */
    {{XOFF_GBPS, 0, 64, 44 * 8 * XOFF_NS + 1}, 257}, /* s = 21, rounded up */
    {{XOFF_GBPS, 0, 64, 45 * 8 * XOFF_NS}, 257},
    {{XOFF_GBPS, 0, 64, 45 * 8 * XOFF_NS + 1}, 258},
    /* The delay counts twice: 12 B each way. */
    {{XOFF_GBPS, 12 * 8 * XOFF_NS, 64, 20 * 8 * XOFF_NS}, 256},
    {{XOFF_GBPS, 12 * 8 * XOFF_NS, 64, 21 * 8 * XOFF_NS}, 257},
    /* 3 Gb/s: a byte takes 2666.67 ps. 45 B take 120000 ps, and the picosecond of the wire clock's
     * carry makes that 46: s = 22. */
    {{3 * XOFF_GBPS, 0, 64, 120000}, 258},
    {{3 * XOFF_GBPS, 0, 64, 119999}, 257},
};

static void worked_numbers(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof worked / sizeof worked[0]; i++)
        assert_int_equal(xoff_headroom_bytes(&worked[i].params), worked[i].bytes);
}

/* eta = 2 (rate * d + L) + r with L = 1500, against the worst case of the same link.
 * docs/mechanisms/buffers.md has this table. */
static const struct {
    xoff_rate rate_bps;
    xoff_time delay;
    int64_t response_bytes, eta_bytes, worst_bytes;
} etas[] = {
    /* 60 quanta, the response time of 10 Gb/s, at every rate */
    {10 * XOFF_GBPS, XOFF_US, 3840, 9340, 10800},
    {25 * XOFF_GBPS, XOFF_US, 3840, 13090, 14510},
    {40 * XOFF_GBPS, XOFF_US, 3840, 16840, 18200},
    {100 * XOFF_GBPS, 500 * XOFF_NS, 3840, 19340, 20680},
    {100 * XOFF_GBPS, XOFF_US, 3840, 31840, 33000},
    {100 * XOFF_GBPS, 2 * XOFF_US, 3840, 56840, 57680},
    /* W = 206940 = 136 * 1520 + 220: the gaps and preambles of 136 frames, which eta counts,
     * outweigh the frame that it leaves out. */
    {400 * XOFF_GBPS, 2 * XOFF_US, 3840, 206840, 205700},
    /* the response time of the rate: 80, 118, 394 and 905 quanta */
    {25 * XOFF_GBPS, XOFF_US, 5120, 14370, 15770},
    {40 * XOFF_GBPS, XOFF_US, 7552, 20552, 21872},
    {100 * XOFF_GBPS, 500 * XOFF_NS, 25216, 40716, 41776},
    {100 * XOFF_GBPS, XOFF_US, 25216, 53216, 54096},
    {100 * XOFF_GBPS, 2 * XOFF_US, 25216, 56840 + 21376, 78776},
    {400 * XOFF_GBPS, 500 * XOFF_NS, 57920, 110920, 111040},
    {400 * XOFF_GBPS, XOFF_US, 57920, 160920, 160400},
    {400 * XOFF_GBPS, 2 * XOFF_US, 57920, 260920, 259080},
};

static void eta_by_hand(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof etas / sizeof etas[0]; i++) {
        const struct xoff_headroom_params params = {
            .rate_bps = etas[i].rate_bps,
            .delay = etas[i].delay,
            .max_frame_bytes = 1500,
            .response_for =
                xoff_time_of_bits(8 * (uint64_t)etas[i].response_bytes, etas[i].rate_bps),
        };
        assert_int_equal(xoff_headroom_eta_bytes(&params), etas[i].eta_bytes);
        assert_int_equal(xoff_headroom_bytes(&params), etas[i].worst_bytes);
    }
    /* Part of a byte counts as one: 2 * 1 ns at 1 Gb/s are 2 bits. */
    assert_int_equal(
        xoff_headroom_eta_bytes(&(struct xoff_headroom_params){XOFF_GBPS, XOFF_NS, 64, 0}), 129);
}

/* The replay. Time starts when the last bit of the deciding frame, of `first_bytes`, arrives. The
 * peer sent it and goes on back to back with sizes[0], sizes[1], ... (the last one again and
 * again); our port is `into_ps` into the transmission of a maximum frame. A frame the peer could
 * begin in the very instant its gate closes is begun: the order of equal instants may allow it. */
struct replay {
    struct xoff_headroom_params params;
    uint32_t first_bytes;
    xoff_time into_ps;
    const uint32_t *sizes;
    int n_sizes;
};

static int64_t replay_bytes(const struct replay *r)
{
    const xoff_time byte_ps = (xoff_time)(8 * (uint64_t)XOFF_S / r->params.rate_bps);
    const xoff_time busy_for = (r->params.max_frame_bytes + 20) * byte_ps;

    const xoff_time pause_at = busy_for - r->into_ps; /* when the pause frame can begin */
    xoff_time gate_at = XOFF_NEVER;                   /* when the peer's gate closes */
    xoff_time begin_at = -r->params.delay;            /* the peer's next frame: after the gap */
    begin_at += 12 * byte_ps;

    int64_t bytes = r->first_bytes;
    for (int i = 0;;) {
        if (gate_at == XOFF_NEVER && pause_at <= begin_at) {
            const xoff_time received_at = pause_at + (8 + 64) * byte_ps + r->params.delay;
            gate_at = received_at + r->params.response_for;
        } else if (begin_at <= gate_at) {
            const uint32_t size = r->sizes[i < r->n_sizes ? i : r->n_sizes - 1];
            const xoff_time last_bit_at = begin_at + (8 + (xoff_time)size) * byte_ps;
            bytes += size; /* arrives at last_bit_at + delay */
            begin_at = last_bit_at + 12 * byte_ps;
            i++;
        } else {
            return bytes;
        }
    }
}

static const xoff_rate rates[] = {XOFF_GBPS,       10 * XOFF_GBPS,  25 * XOFF_GBPS,
                                  100 * XOFF_GBPS, 400 * XOFF_GBPS, 800 * XOFF_GBPS};
static const uint32_t response_quanta[] = {2, 60, 80, 394, 905, 905};
static const xoff_time delays[] = {5 * XOFF_NS, 500 * XOFF_NS, 10 * XOFF_US}; /* 1 m, 100 m, 2 km */
static const uint32_t longest[] = {64, 1518, 9216};

typedef void check_fn(const struct xoff_headroom_params *params, struct xoff_rng *rng);

static void for_all_links(check_fn *check)
{
    struct xoff_rng rng;
    xoff_rng_init(&rng, 7, 0, 0);
    for (size_t i = 0; i < sizeof rates / sizeof rates[0]; i++)
        for (size_t j = 0; j < sizeof delays / sizeof delays[0]; j++)
            for (size_t k = 0; k < sizeof longest / sizeof longest[0]; k++) {
                const xoff_time quantum_ps = (xoff_time)(512 * (uint64_t)XOFF_S / rates[i]);
                check(&(struct xoff_headroom_params){rates[i], delays[j], longest[k],
                                                     response_quanta[i] * quantum_ps},
                      &rng);
            }
}

static uint32_t random_size(struct xoff_rng *rng, uint32_t max)
{
    const uint64_t kind = xoff_rng_below(rng, 3);
    if (kind == 0)
        return max;
    return kind == 1 ? 64 : 64 + (uint32_t)xoff_rng_below(rng, max - 63);
}

static void check_random(const struct xoff_headroom_params *params, struct xoff_rng *rng)
{
    const int64_t bound = xoff_headroom_bytes(params);
    const xoff_time byte_ps = (xoff_time)(8 * (uint64_t)XOFF_S / params->rate_bps);
    for (int round = 0; round < 50; round++) {
        uint32_t sizes[64];
        for (size_t i = 0; i < 64; i++)
            sizes[i] = random_size(rng, params->max_frame_bytes);
        sizes[63] = params->max_frame_bytes; /* the rest of the stream */
        struct replay r = {.params = *params,
                           .first_bytes = random_size(rng, params->max_frame_bytes),
                           .sizes = sizes,
                           .n_sizes = 1 + (int)xoff_rng_below(rng, 64)};
        if (round & 1)
            r.into_ps =
                (xoff_time)xoff_rng_below(rng, (params->max_frame_bytes + 20) * (uint64_t)byte_ps);
        assert_true(replay_bytes(&r) <= bound);
    }
}

static void never_more_than_the_bound(void **state)
{
    (void)state;
    for_all_links(check_random);
}

static void check_full_size(const struct xoff_headroom_params *params, struct xoff_rng *rng)
{
    (void)rng;
    const int64_t bound = xoff_headroom_bytes(params);
    const struct replay r = {.params = *params,
                             .first_bytes = params->max_frame_bytes,
                             .sizes = &params->max_frame_bytes,
                             .n_sizes = 1};
    const int64_t bytes = replay_bytes(&r);
    assert_true(bytes <= bound);
    assert_true(bytes > bound - params->max_frame_bytes);
}

static void full_size_frames_come_within_a_frame(void **state)
{
    (void)state;
    for_all_links(check_full_size);
}

static int n_reached;

/* Some size of the second frame puts a later maximum frame right at the closing of the gate: then
 * not a byte of the bound is spare. No frame is shorter than 64 bytes, so where the last slot has
 * room for less the bound stays out of reach of a single odd frame; and a span that is no whole
 * number of bytes was rounded up, which is one byte spare. */
static void check_reached(const struct xoff_headroom_params *params, struct xoff_rng *rng)
{
    (void)rng;
    const int64_t bound = xoff_headroom_bytes(params);
    const int64_t odd = bound % params->max_frame_bytes;
    int64_t most = 0;
    for (uint32_t size = 64; size <= params->max_frame_bytes; size++) {
        const uint32_t sizes[2] = {size, params->max_frame_bytes};
        const struct replay r = {.params = *params,
                                 .first_bytes = params->max_frame_bytes,
                                 .sizes = sizes,
                                 .n_sizes = 2};
        const int64_t bytes = replay_bytes(&r);
        assert_true(bytes <= bound);
        most = bytes > most ? bytes : most;
    }
    const xoff_time byte_ps = (xoff_time)(8 * (uint64_t)XOFF_S / params->rate_bps);
    const int spare = (2 * params->delay + params->response_for) % byte_ps ? 1 : 0;
    if (odd == 0 || odd >= 64 + spare) {
        assert_in_range(most, bound - spare, bound);
        n_reached++;
    }
}

static void the_bound_is_reached(void **state)
{
    (void)state;
    n_reached = 0;
    for_all_links(check_reached);
    assert_in_range(n_reached, 36, 54); /* not vacuous: most links have such a size */
}

/* Spectrum's pg_profile_lookup.ini as sonic-buildimage ships it for the MSN2700: cells of 96 bytes,
 * small packets only, 3.8 KB of response; xoff by rate and length of the cable. */
static void sonic_table(void **state)
{
    (void)state;
    static const int64_t metres[] = {5, 40, 300};
    static const struct {
        xoff_rate gbps;
        int64_t xoff[3];
    } rows[] = {
        {10, {29696, 29696, 36864}}, {25, {29696, 31744, 48128}},   {40, {29696, 32768, 59392}},
        {50, {29696, 33792, 66560}}, {100, {30720, 38912, 104448}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (size_t k = 0; k < 3; k++) {
            const struct xoff_sonic_params params = {.rate_bps = rows[i].gbps * XOFF_GBPS,
                                                     .length_mm = metres[k] * 1000,
                                                     .port_mtu_bytes = 9100,
                                                     .lossless_mtu_bytes = 1024,
                                                     .cell_bytes = 96,
                                                     .small_percent = 100,
                                                     .pipeline_kb = 19,
                                                     .mac_phy_kb = 0.8,
                                                     .peer_response_kb = 3.8};
            const struct xoff_sonic_profile profile = xoff_headroom_sonic(&params);
            assert_int_equal(profile.xoff_bytes, rows[i].xoff[k]);
            assert_int_equal(profile.xon_bytes, 19456);
            assert_int_equal(profile.size_bytes, 19456 + rows[i].xoff[k]);
        }
}

/* By hand, 100 Gb/s, 40 m, cells of 144 bytes: worst = ceil(144 / 64) = 3. Half of the packets are
 * small: their share of the bytes is 6400 / ((50 * 64 + 50 * 1024) / 100) = 11.7647 %, so occupancy
 * is 1.235294. cable = 2 * 40 * 100000 * 1e9 / 198e6 / 8000 = 5050.505; peer = 394 * 64 = 25216;
 * under way 9100 + 5050.505 + 819.2 + 25216 = 40185.705, times occupancy 49641.165, with the frame
 * 50665.165: 50 KiB are 51200. */
static void sonic_by_hand(void **state)
{
    (void)state;
    const struct xoff_sonic_params params = {.rate_bps = 100 * XOFF_GBPS,
                                             .length_mm = 40000,
                                             .port_mtu_bytes = 9100,
                                             .lossless_mtu_bytes = 1024,
                                             .cell_bytes = 144,
                                             .small_percent = 50,
                                             .pipeline_kb = 19,
                                             .mac_phy_kb = 0.8,
                                             .by_quanta = true};
    assert_int_equal(xoff_headroom_sonic(&params).xoff_bytes, 51200);
}

/* The parts of the second worked example: 34 slots and a rest of 1060 bytes have 35 overheads. */
static void parts_add_up(void **state)
{
    (void)state;
    struct xoff_headroom_parts parts;
    xoff_headroom_split(&worked[1].params, &parts);
    assert_int_equal(parts.deciding_bytes, 1518);
    assert_int_equal(parts.own_frame_bytes, 1538);
    assert_int_equal(parts.pause_bytes, 72);
    assert_int_equal(parts.away_bytes, 50216);
    assert_int_equal(parts.peer_frame_bytes, 1526);
    assert_int_equal(parts.overhead_bytes, 700);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sonic_table),
        cmocka_unit_test(sonic_by_hand),
        cmocka_unit_test(parts_add_up),
        cmocka_unit_test(worked_numbers),
        cmocka_unit_test(eta_by_hand),
        cmocka_unit_test(never_more_than_the_bound),
        cmocka_unit_test(full_size_frames_come_within_a_frame),
        cmocka_unit_test(the_bound_is_reached),
    };
    return cmocka_run_group_tests_name("headroom", tests, NULL, NULL);
}
