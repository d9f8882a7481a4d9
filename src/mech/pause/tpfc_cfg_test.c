/* Parameters of targeted PFC: what is refused, to the byte, and what a policy says of itself. And
 * the list of frames of `statistics: scan`, at its limits. */
#include "mech/pause/tpfc.h"
#include "tpfc_testing.h"

/* Four ports of 1000 B of headroom, frames up to 1000 B. */
static void test_refusals(void **unused)
{
    (void)unused;
    static const struct {
        const char *lw, *tw, *hw, *targets, *allow_loss;
        enum xoff_err_code code;
        const char *subject, *says;
    } rows[] = {
        {"0B", "1B", "2B", "auto", "false", XOFF_E_OK, "", ""},
        {"1B", "1B", "2B", "auto", "false", XOFF_E_CONFLICT, "lw", "at most 0B"},
        {"8B", "1B", "9B", "auto", "false", XOFF_E_CONFLICT, "lw", "at most 0B"},
        {"0B", "2B", "2B", "auto", "false", XOFF_E_CONFLICT, "tw", "at most 1B"},
        {"0B", "3B", "2B", "auto", "false", XOFF_E_CONFLICT, "tw", "at most 1B"},
        {"2B", "1B", "2B", "auto", "false", XOFF_E_CONFLICT, "hw", "at least 4B"},
        {"auto", "1B", "2B", "auto", "false", XOFF_E_MISSING, "lw", ""},
        {"0B", "1B", "auto", "auto", "false", XOFF_E_MISSING, "hw", ""},
        /* 50000 - 4000 - 1000 + 1 */
        {"0B", "1B", "45001B", "auto", "false", XOFF_E_OK, "", ""},
        {"0B", "1B", "45002B", "auto", "false", XOFF_E_CONFLICT, "hw", "at most 45001B"},
        {"0B", "1B", "45002B", "auto", "true", XOFF_E_OK, "hw", "may lose"},
        {"0B", "1B", "45001B", "auto", "true", XOFF_E_OK, "", ""},
        /* HW - TW >= N * F */
        {"0B", "6000B", "9000B", "3", "false", XOFF_E_OK, "", ""},
        {"0B", "6001B", "9000B", "3", "false", XOFF_E_CONFLICT, "tw", "at most 6000B"},
        {"0B", "6001B", "9000B", "auto", "false", XOFF_E_OK, "", ""},
        {"5999B", "auto", "9000B", "3", "false", XOFF_E_OK, "", ""},
        {"6000B", "auto", "9000B", "3", "false", XOFF_E_CONFLICT, "hw", "at least 9001B"},
        {"7999B", "auto", "9000B", "auto", "false", XOFF_E_OK, "", ""},
        {"8000B", "auto", "9000B", "auto", "false", XOFF_E_CONFLICT, "hw", "at least 9001B"},
    };
    struct bench b;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        tpfc_setup(&b);
        b.env.egress_bytes = 50000;
        bench_set_watermarks(&b, rows[i].lw, rows[i].tw, rows[i].hw);
        bench_set(&b, "targets", rows[i].targets);
        bench_set(&b, "allow_loss", rows[i].allow_loss);
        assert_int_equal(bench_configure(&b), -(int)rows[i].code);
        assert_int_equal(b.err.code, rows[i].code);
        assert_string_equal(b.err.subject, rows[i].subject);
        assert_non_null(strstr(b.err.message, rows[i].says));
        if (rows[i].code == XOFF_E_OK)
            bench_end(&b);
    }
    /* Nothing in flight fits: there is no HW that would do. */
    tpfc_setup(&b);
    b.env.egress_bytes = 4000;
    bench_set_watermarks(&b, "0B", "1B", "2B");
    assert_int_equal(bench_configure(&b), -XOFF_E_CONFLICT);
    assert_non_null(strstr(b.err.message, "a larger buffer"));
    b.env.lossless = 0; /* nobody to protect */
    bench_start(&b);
    bench_end(&b);
    /* N is counted or given. */
    static const char *const keys[][2] = {{"targets", "1"}, {"tw", "6000B"}};
    for (size_t i = 0; i < 2; i++) {
        tpfc_setup(&b);
        bench_set_watermarks(&b, "1000B", "auto", "9000B");
        bench_set(&b, "count", "aggressors");
        bench_start(&b);
        bench_end(&b);
        bench_set(&b, keys[i][0], keys[i][1]);
        assert_int_equal(bench_configure(&b), -XOFF_E_CONFLICT);
        assert_string_equal(b.err.subject, "count");
    }
    /* A list of frames needs to know how many there can be. */
    tpfc_setup(&b);
    b.env.min_frame_bytes = 1;
    bench_set_watermarks(&b, "0B", "1B", "2B");
    bench_set(&b, "statistics", "scan");
    assert_int_equal(bench_configure(&b), -XOFF_E_CONFLICT);
    assert_string_equal(b.err.subject, "statistics");
}

static void test_signalling(void **unused)
{
    (void)unused;
    struct bench b;
    tpfc_setup(&b);
    bench_set_watermarks(&b, "1000B", "3000B", "6000B");
    bench_start(&b);
    struct xoff_pause_signalling how = b.policy.shape.signalling;
    assert_int_equal(how.wire, XOFF_WIRE_PFC);
    assert_int_equal(how.quanta, 65535);
    assert_true(how.refreshes && how.resumes);
    bench_end(&b);
    tpfc_setup(&b);
    bench_set_watermarks(&b, "1000B", "3000B", "6000B");
    bench_set(&b, "quanta", "7");
    bench_set(&b, "refresh", "false");
    bench_set(&b, "resume", "false");
    bench_start(&b);
    how = b.policy.shape.signalling;
    assert_int_equal(how.quanta, 7);
    assert_false(how.refreshes || how.resumes);
    bench_end(&b);
}

/* Tells the policy of a frame that joins queue 3 of priority 3, or leaves it, and returns the ports
 * that it pauses or lets go for that. */
static uint32_t tell(struct bench *b, bool is_in, uint16_t in_port, uint32_t bytes)
{
    static const struct xoff_crossings none;
    const struct xoff_arrival a = {
        .in_port = in_port, .out_port = 3, .priority = 3, .bytes = bytes};
    const struct xoff_departure d = {
        .in_port = in_port, .out_port = 3, .priority = 3, .pool = XOFF_POOL_SHARED, .bytes = bytes};
    if (is_in)
        xoff_pause_on_arrival(&b->policy, &a, &none, 0, &b->edges);
    else
        xoff_pause_on_departure(&b->policy, &d, &none, 0, &b->edges);
    uint32_t ports = 0;
    for (uint32_t i = 0; i < b->edges.n; i++)
        ports |= 1u << b->edges.at[i].port;
    return ports;
}

static void start_scan(struct bench *b)
{
    tpfc_setup(b);
    b->env.buffer_bytes = 6400; /* a list of 101 frames */
    bench_set_watermarks(b, "1000B", "3000B", "6000B");
    bench_set(b, "allow_loss", "true");
    bench_set(b, "statistics", "scan");
    bench_start(b);
}

/* Frames may leave in another order than they came in: the last, one amid others, the first. */
static void test_scan_out_of_order(void **unused)
{
    (void)unused;
    struct bench b;
    start_scan(&b);
    tell(&b, true, 0, 1000);
    tell(&b, true, 1, 900);
    tell(&b, true, 2, 1000);
    tell(&b, false, 2, 1000);
    tell(&b, true, 2, 800); /* goes behind the frame of 1 again */
    tell(&b, false, 1, 900);
    tell(&b, false, 0, 1000);
    assert_int_equal(tell(&b, true, 2, 1000), 0);
    tell(&b, true, 2, 1000);
    tell(&b, true, 1, 200); /* 3000: the next frame finds three of 2 and one of 1 */
    assert_int_equal(tell(&b, true, 0, 64), 1u << 2);
    tell(&b, false, 1, 200);
    tell(&b, false, 0, 64);
    tell(&b, false, 2, 1000);
    assert_int_equal(tell(&b, false, 2, 800), 1u << 2); /* 1000 left */
    bench_end(&b);
}

/* More frames than the list has room for: the same ports are chosen, and let go, but frames are
 * counted from the 102nd on. */
static void test_scan_of_too_many(void **unused)
{
    (void)unused;
    struct bench b;
    start_scan(&b);
    const struct tpfc_state *s = b.policy.state;
    assert_int_equal(tell(&b, true, 1, 64), 0);
    for (uint32_t i = 1; i < 300; i++) {
        const uint32_t ports = i == 47 ? 1u << 0 : i == 94 ? 0xeu : 0;
        assert_int_equal(tell(&b, true, 0, 64), ports); /* at 3008 B, and all at 6016 B */
        assert_int_equal(s->scans, i < 101);
    }
    for (uint32_t i = 1; i < 300; i++)
        assert_int_equal(tell(&b, false, 0, 64), i == 285 ? 0xfu : 0); /* 960 B left */
    tell(&b, false, 1, 64);
    bench_end(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_signalling),
        cmocka_unit_test(test_scan_out_of_order),
        cmocka_unit_test(test_scan_of_too_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
