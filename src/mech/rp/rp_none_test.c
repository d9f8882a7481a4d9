/* No reaction point: one answer, which nothing changes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <xoff/rp.h>

extern const struct xoff_rp_ops xoff_rp_datagram, xoff_rp_none;

static void expect_line_rate(const struct xoff_rp_ops *ops, xoff_rate rate_bps, xoff_rate pace_bps)
{
    const struct xoff_rp_env env = {
        .rate_bps = rate_bps, .frame_bytes = 1518, .payload_bytes = 1460};
    const struct xoff_rp_flow flow = {.base_rtt = 8 * XOFF_US, .pace_bps = pace_bps};
    _Alignas(16) unsigned char cfg[64];
    struct xoff_err err;
    struct xoff_rp_answer answer = {0};
    assert_true(ops->cfg_size <= sizeof cfg);
    assert_int_equal(ops->state_size, 0);
    assert_int_equal(ops->configure(NULL, &env, cfg, &err), 0);
    ops->init(cfg, NULL, &flow, 5 * XOFF_US, &answer);
    assert_int_equal(answer.rate_bps, rate_bps);
    assert_int_equal(answer.window_bytes, XOFF_RP_NO_WINDOW);
    assert_int_equal(answer.deadline, XOFF_NEVER);
    /* It wants to hear of nothing, so the answer stays. */
    assert_true(!ops->on_ack && !ops->on_cnp && !ops->on_sent && !ops->on_loss && !ops->expire);
    assert_null(ops->cnp_interval);
    assert_null(ops->params->name);
    assert_string_equal(ops->marking, "none");
}

static void answers_the_line_rate(void **unused)
{
    (void)unused;
    expect_line_rate(&xoff_rp_datagram, 100 * XOFF_GBPS, 0);
    expect_line_rate(&xoff_rp_datagram, 10 * XOFF_GBPS, XOFF_GBPS);
    expect_line_rate(&xoff_rp_none, 100 * XOFF_GBPS, 0);
    expect_line_rate(&xoff_rp_none, 10 * XOFF_GBPS, XOFF_GBPS);
}

static void they_differ_in_reliability(void **unused)
{
    (void)unused;
    assert_string_equal(xoff_rp_datagram.name, "datagram");
    assert_int_equal(xoff_rp_datagram.reliability, XOFF_REL_DATAGRAM);
    assert_string_equal(xoff_rp_none.name, "none");
    assert_int_equal(xoff_rp_none.reliability, XOFF_REL_GO_BACK_N);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_the_line_rate),
        cmocka_unit_test(they_differ_in_reliability),
    };
    return cmocka_run_group_tests_name("rp_none", tests, NULL, NULL);
}
