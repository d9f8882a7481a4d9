/* The bound on headroom, the rule eta and the cut of the buffer, in every buffer that has them.
 *
 * The bench's four ports have links of 100 Gb/s and frames up to 1500 bytes here; port 2 has the
 * longest link: 2 us, where the others have 500 ns. With a response of 60 quanta (3840 bytes, 307.2
 * ns) the worst case is 57680 bytes at port 2 and 20680 at the others, eta 56840 and 19340
 * (headroom_test.c works these out).
 */
#include "mech/mmu/mmu_testing.h"

#include <xoff/headroom.h>

#include "mech/mechanisms.h"
#include "mech/mmu/shared.h"

#define LOSSLESS_3 0x08
#define LOSSLESS_3_4 0x18

static const struct xoff_mmu_ops *const all_kinds[] = {&xoff_mmu_sih, &xoff_mmu_dsh,
                                                       &xoff_mmu_static};
/* The buffers that use xoff_shared_configure(). */
static const struct xoff_mmu_ops *const shared_kinds[] = {&xoff_mmu_sih, &xoff_mmu_dsh};
#define N_ALL 3
#define N_SHARED 2

static void set_link(struct bench *b, uint32_t port, xoff_rate rate_bps, xoff_time delay,
                     int64_t response_bytes)
{
    const struct xoff_headroom_params link = {
        .rate_bps = rate_bps,
        .delay = delay,
        .max_frame_bytes = b->env.max_frame_bytes,
        .response_for = xoff_time_of_bits(8 * (uint64_t)response_bytes, rate_bps),
    };
    b->ports[port] = (struct xoff_mmu_port){.rate_bps = rate_bps,
                                            .headroom_bytes = xoff_headroom_bytes(&link),
                                            .delay = delay,
                                            .response_for = link.response_for};
}

static void setup_links(struct bench *b, const struct xoff_mmu_ops *ops, uint8_t lossless)
{
    bench_setup(b, ops, lossless, 10000000);
    b->env.max_frame_bytes = 1500;
    for (uint32_t port = 0; port < 4; port++)
        set_link(b, port, 100 * XOFF_GBPS, port == 2 ? 2 * XOFF_US : 500 * XOFF_NS, 3840);
    assert_int_equal(b->ports[1].headroom_bytes, 20680);
    assert_int_equal(b->ports[2].headroom_bytes, 57680);
}

static void expect_refused(struct bench *b, enum xoff_err_code code, const char *subject,
                           const char *value, const char *words)
{
    assert_int_equal(bench_configure(b), -(int)code);
    assert_string_equal(b->err.subject, subject);
    assert_string_equal(b->err.value, value);
    if (!strstr(b->err.message, words))
        fail_msg("no \"%s\" in: %s", words, b->err.message);
}

/* Accepted; `subject` "": and nothing said. */
static void expect_accepted(struct bench *b, const char *subject, const char *value,
                            const char *words)
{
    bench_start(b);
    assert_int_equal(b->err.code, XOFF_E_OK);
    assert_string_equal(b->err.subject, subject);
    assert_string_equal(b->err.value, value);
    if (!words)
        assert_string_equal(b->err.message, "");
    else if (!strstr(b->err.message, words))
        fail_msg("no \"%s\" in: %s", words, b->err.message);
    bench_end(b);
}

static void test_bound_from_both_sides(void **unused)
{
    (void)unused;
    for (size_t k = 0; k < N_ALL; k++) {
        struct bench b;
        setup_links(&b, all_kinds[k], LOSSLESS_3_4);
        bench_set(&b, "headroom", "57679B");
        expect_refused(&b, XOFF_E_RANGE, "headroom", "57679B", "port 2 needs 57680B: give that");
        assert_non_null(strstr(b.err.message, "allow_loss: true"));
        bench_set(&b, "headroom", "57680B");
        expect_accepted(&b, "", "", NULL);

        bench_set(&b, "allow_loss", "true");
        expect_accepted(&b, "", "", NULL);
        bench_set(&b, "headroom", "57679B");
        expect_accepted(&b, "headroom", "57679B", "57680B can arrive");
        bench_set(&b, "headroom", "0B");
        expect_accepted(&b, "headroom", "0B", "57680B can arrive");

        /* auto is the bound itself, port by port. */
        bench_set(&b, "headroom", "auto");
        bench_set(&b, "allow_loss", "false");
        bench_start(&b);
        assert_int_equal(xoff_mmu_headroom_limit(&b.mmu, 1, 3), 20680);
        assert_int_equal(xoff_mmu_headroom_limit(&b.mmu, 2, 4), 57680);
        assert_int_equal(xoff_mmu_headroom_limit(&b.mmu, 2, 5), 0);
        bench_end(&b);
    }
}

/* If several ports have too little, the message names the one that needs most, the first of equals.
 */
static void test_figure_does_for_all_ports(void **unused)
{
    (void)unused;
    for (size_t k = 0; k < N_ALL; k++) {
        struct bench b;
        setup_links(&b, all_kinds[k], LOSSLESS_3);
        bench_set(&b, "headroom", "20679B");
        expect_refused(&b, XOFF_E_RANGE, "headroom", "20679B", "port 2 needs 57680B");
        set_link(&b, 2, 100 * XOFF_GBPS, 500 * XOFF_NS, 3840);
        expect_refused(&b, XOFF_E_RANGE, "headroom", "20679B", "port 0 needs 20680B");
        bench_set(&b, "headroom", "20680B");
        expect_accepted(&b, "", "", NULL);
    }
}

/* A link for which nothing was computed (port.headroom: 0B) needs a frame at the least; without
 * lossless priorities nobody asks. */
static void test_no_headroom_at_all(void **unused)
{
    (void)unused;
    for (size_t k = 0; k < N_ALL; k++) {
        struct bench b;
        setup_links(&b, all_kinds[k], LOSSLESS_3);
        b.ports[3].headroom_bytes = 0;
        expect_refused(&b, XOFF_E_RANGE, "headroom", "0B", "port 3 needs 1500B at the least");
        bench_set(&b, "allow_loss", "true");
        expect_accepted(&b, "", "", NULL); /* said to be the bound, and kept */
        bench_set(&b, "allow_loss", "false");
        b.env.lossless = 0;
        expect_accepted(&b, "", "", NULL);
        bench_set(&b, "headroom", "0B");
        expect_accepted(&b, "", "", NULL);
    }
}

static void test_eta(void **unused)
{
    (void)unused;
    static const struct {
        xoff_rate rate_bps;
        xoff_time delay;
        int64_t response_bytes, eta_bytes;
        const char *needs; /* NULL: eta covers the worst case */
    } rows[] = {
        {10 * XOFF_GBPS, XOFF_US, 3840, 9340, "10800B"},
        {25 * XOFF_GBPS, XOFF_US, 3840, 13090, "14510B"},
        {40 * XOFF_GBPS, XOFF_US, 3840, 16840, "18200B"},
        {100 * XOFF_GBPS, XOFF_US, 3840, 31840, "33000B"},
        {100 * XOFF_GBPS, 2 * XOFF_US, 3840, 56840, "57680B"},
        {100 * XOFF_GBPS, 2 * XOFF_US, 25216, 78216, "78776B"},
        {400 * XOFF_GBPS, 2 * XOFF_US, 3840, 206840, NULL},
    };
    for (size_t k = 0; k < N_SHARED; k++)
        for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
            struct bench b;
            char text[XOFF_PARAM_TEXT];
            setup_links(&b, shared_kinds[k], LOSSLESS_3);
            for (uint32_t port = 0; port < 4; port++)
                set_link(&b, port, rows[i].rate_bps, rows[i].delay, rows[i].response_bytes);
            bench_set(&b, "headroom_rule", "eta");
            snprintf(text, sizeof text, "%lldB", (long long)rows[i].eta_bytes);
            if (rows[i].needs)
                expect_refused(&b, XOFF_E_RANGE, "headroom_rule", text, rows[i].needs);
            else
                expect_accepted(&b, "", "", NULL);
            bench_set(&b, "allow_loss", "true");
            expect_accepted(&b, rows[i].needs ? "headroom_rule" : "", rows[i].needs ? text : "",
                            rows[i].needs);
            bench_start(&b);
            assert_int_equal(xoff_mmu_headroom_limit(&b.mmu, 0, 3), rows[i].eta_bytes);
            bench_end(&b);
            /* What a late pause policy asks for comes on top. */
            for (uint32_t port = 0; port < 4; port++) {
                b.ports[port].late_bytes = 5000;
                b.ports[port].headroom_bytes += 5000;
            }
            bench_start(&b);
            assert_int_equal(xoff_mmu_headroom_limit(&b.mmu, 0, 3), rows[i].eta_bytes + 5000);
            bench_end(&b);
            /* A figure that is given goes before any rule. */
            bench_set(&b, "headroom", "300000B");
            expect_accepted(&b, "", "", NULL);
        }
}

/* eta of a link without delay is 2 * 1500 + 3840 = 6840; the worst case W = 3100 + 3840 = 4 * 1520
 * + 860, 1500 + 6000 + 840 = 8340. Loss allowed or not: eta is meant for links that have a delay.
 */
static void test_eta_needs_a_delay(void **unused)
{
    (void)unused;
    for (size_t k = 0; k < N_SHARED; k++)
        for (uint32_t allows = 0; allows <= 1; allows++) {
            struct bench b;
            setup_links(&b, shared_kinds[k], LOSSLESS_3);
            set_link(&b, 1, 100 * XOFF_GBPS, 0, 3840);
            bench_set(&b, "headroom_rule", "eta");
            bench_set(&b, "allow_loss", allows ? "true" : "false");
            expect_refused(&b, XOFF_E_CONFLICT, "headroom_rule", "eta", "eta would be 6840B");
            assert_non_null(strstr(b.err.message, "port 1 "));
            assert_non_null(strstr(b.err.message, "headroom: 8340B, which would do"));
            set_link(&b, 1, 100 * XOFF_GBPS, 1, 3840); /* a picosecond is one */
            assert_int_equal(bench_configure(&b), allows ? 0 : -XOFF_E_RANGE);
            if (allows)
                bench_end(&b);
            set_link(&b, 1, 100 * XOFF_GBPS, 0, 3840);
            bench_set(&b, "headroom", "57680B"); /* no eta is computed */
            expect_accepted(&b, "", "", NULL);
            bench_set(&b, "headroom", "auto");
            bench_set(&b, "headroom_rule", "worst");
            expect_accepted(&b, "", "", NULL);
            b.env.lossless = 0;
            bench_set(&b, "headroom_rule", "eta");
            expect_accepted(&b, "", "", NULL);
        }
}

static void test_alphas(void **unused)
{
    (void)unused;
    static const double bad[] = {
        0, -0.0, -1, -1e-300, 1024.0000001, __builtin_inf(), -__builtin_inf()};
    static const double good[] = {1024, 1, 1.0 / 1024, 0x1p-30};
    static const char *const names[] = {"alpha", "alpha_lossy"};
    for (size_t k = 0; k < N_SHARED; k++)
        for (size_t n = 0; n < 2; n++) {
            struct bench b;
            setup_links(&b, shared_kinds[k], LOSSLESS_3);
            unsigned char *at = b.params + xoff_param_find(b.ops->params, names[n])->offset;
            for (size_t i = 0; i <= sizeof bad / sizeof bad[0]; i++) {
                const double alpha = i < sizeof bad / sizeof bad[0] ? bad[i] : __builtin_nan("");
                memcpy(at, &alpha, sizeof alpha);
                assert_int_equal(bench_configure(&b), -XOFF_E_RANGE);
                assert_string_equal(b.err.subject, names[n]);
                assert_non_null(strstr(b.err.message, "above 0"));
            }
            for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
                memcpy(at, &good[i], sizeof good[i]);
                expect_accepted(&b, "", "", NULL);
            }
        }
}

/* Two lossless priorities at four ports: reserves of 4 * (2 * 1000 + 500) = 10000. Headroom for
 * each queue 2 * (3 * 20680 + 57680) = 239440, for each port half of that. */
static void test_buffer_to_the_byte(void **unused)
{
    (void)unused;
    static const int64_t needed[N_SHARED] = {249440, 129720};
    static const char *const words[N_SHARED] = {
        "headroom takes 239440B and reserves take 10000B; needed are at least 249440B",
        "headroom takes 119720B and reserves take 10000B; needed are at least 129720B"};
    for (size_t k = 0; k < N_SHARED; k++) {
        struct bench b;
        char text[XOFF_PARAM_TEXT];
        setup_links(&b, shared_kinds[k], LOSSLESS_3_4);
        bench_set(&b, "reserved", "1000B");
        bench_set(&b, "reserved_lossy", "500B");
        b.env.buffer_bytes = needed[k] - 1;
        snprintf(text, sizeof text, "%lldB", (long long)b.env.buffer_bytes);
        expect_refused(&b, XOFF_E_CONFLICT, "buffer", text, words[k]);
        b.env.buffer_bytes++;
        bench_start(&b);
        assert_int_equal(bench_view(&b).capacity_bytes[XOFF_POOL_SHARED], 0);
        assert_int_equal(bench_view(&b).capacity_bytes[XOFF_POOL_RESERVED], 10000);
        bench_end(&b);

        b.env.buffer_bytes = 57679;
        expect_refused(&b, XOFF_E_CONFLICT, "buffer", "57679B", "port 2 alone takes 57680B");
        b.env.buffer_bytes = 57680;
        assert_int_equal(bench_configure(&b), -XOFF_E_CONFLICT);
        assert_null(strstr(b.err.message, "alone"));
        b.env.buffer_bytes = 0;
        expect_refused(&b, XOFF_E_RANGE, "buffer", "0B", "from 1B");
    }
}

/* x * num / den, rounded down, up to the largest buffer. */
static void test_ratios(void **unused)
{
    (void)unused;
    static const struct {
        double value;
        int64_t bytes, product;
    } rows[] = {
        {1.0 / 3, 3 * (INT64_C(1) << 38), INT64_C(1) << 38},
        {1.0 / 3, 3 * (INT64_C(1) << 38) - 1, (INT64_C(1) << 38) - 1},
        {0.7, 10, 7},
        {0.7, 9, 6},
        {1.0 / 1024, 1023, 0},
        {1.0 / 1024, 1024, 1},
        {1024, INT64_C(1) << 40, INT64_C(1) << 50},
        {3.0 / 8, 15, 5},
        {0x1p-30, INT64_C(1) << 40, 1024}, /* no such denominator: a multiple of 2^-40 */
        {0x3p-20, INT64_C(1) << 20, 3},    /* one with a numerator above 2^14 */
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct xoff_ratio ratio = xoff_ratio_of(rows[i].value);
        assert_int_equal(xoff_ratio_times(&ratio, rows[i].bytes), rows[i].product);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bound_from_both_sides),
        cmocka_unit_test(test_figure_does_for_all_ports),
        cmocka_unit_test(test_no_headroom_at_all),
        cmocka_unit_test(test_eta),
        cmocka_unit_test(test_eta_needs_a_delay),
        cmocka_unit_test(test_alphas),
        cmocka_unit_test(test_buffer_to_the_byte),
        cmocka_unit_test(test_ratios),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
