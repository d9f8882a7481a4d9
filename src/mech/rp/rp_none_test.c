/* No reaction point: one answer, which nothing changes, by the defaults of the role. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <xoff/rp.h>

extern const struct xoff_rp_ops xoff_rp_datagram, xoff_rp_none;

static void expect_line_rate(const struct xoff_rp_ops *ops, xoff_rate pace_bps)
{
    const struct xoff_rp rp = {.ops = ops};
    const struct xoff_rp_flow flow = {.base_rtt = 8 * XOFF_US, .pace_bps = pace_bps};
    struct xoff_rp_answer answer = {0};
    assert_int_equal(ops->cfg_size, 0);
    assert_null(ops->configure);
    xoff_rp_init(&rp, NULL, &flow, 5 * XOFF_US, &answer);
    assert_int_equal(answer.rate_bps, XOFF_RP_LINE_RATE);
    assert_int_equal(answer.window_bytes, XOFF_RP_NO_WINDOW);
    assert_int_equal(answer.deadline, XOFF_NEVER);
    assert_null(ops->params->name);
    assert_string_equal(ops->marking, "none");
    assert_string_equal(ops->np, "echo");
}

static void answers_the_line_rate(void **unused)
{
    (void)unused;
    expect_line_rate(&xoff_rp_datagram, 0);
    expect_line_rate(&xoff_rp_datagram, XOFF_GBPS);
    expect_line_rate(&xoff_rp_none, 0);
    expect_line_rate(&xoff_rp_none, XOFF_GBPS);
}

/* It has no functions, so the answer stays whatever it is told. */
static void nothing_changes_it(void **unused)
{
    (void)unused;
    const struct xoff_rp rp = {.ops = &xoff_rp_none};
    const struct xoff_rp_ack ack = {.acked_to = 1000, .is_marked = true};
    const struct xoff_notice notice = {.feedback = -64};
    struct xoff_rp_answer answer;
    xoff_rp_init(&rp, NULL, &(struct xoff_rp_flow){0}, 0, &answer);
    assert_false(xoff_rp_hears_acks(&rp));
    assert_false(xoff_rp_hears_sent(&rp));
    xoff_rp_on_ack(&rp, NULL, &ack, 1, &answer);
    xoff_rp_on_loss(&rp, NULL, XOFF_RP_TIMEOUT, 1000, 2000, 2, &answer);
    assert_false(xoff_rp_on_cnp(&rp, NULL, 3, &answer));
    assert_false(xoff_rp_on_notice(&rp, NULL, &notice, 4, &answer));
    assert_int_equal(answer.rate_bps, XOFF_RP_LINE_RATE);
    assert_int_equal(answer.window_bytes, XOFF_RP_NO_WINDOW);
    assert_int_equal(answer.deadline, XOFF_NEVER);
}

static void halve(const void *cfg, void *state, const struct xoff_notice *notice, xoff_time now,
                  struct xoff_rp_answer *answer)
{
    (void)cfg, (void)state;
    answer->rate_bps = notice->rate_bps / 2;
    answer->deadline = now + 1;
}

/* A notification is handed unchanged to a reaction point that wants it. */
static void a_notice_is_handed_on(void **unused)
{
    (void)unused;
    const struct xoff_rp_ops ops = {.on_notice = halve};
    const struct xoff_rp rp = {.ops = &ops};
    const struct xoff_notice notice = {.rate_bps = 8 * XOFF_GBPS};
    struct xoff_rp_answer answer = {0};
    assert_true(xoff_rp_on_notice(&rp, NULL, &notice, 4, &answer));
    assert_true(answer.rate_bps == 4 * XOFF_GBPS && answer.deadline == 5);
}

static void they_differ_in_reliability(void **unused)
{
    (void)unused;
    assert_string_equal(xoff_rp_datagram.name, "datagram");
    assert_string_equal(xoff_rp_datagram.rel, "datagram");
    assert_string_equal(xoff_rp_none.name, "none");
    assert_string_equal(xoff_rp_none.rel, "go-back-n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_the_line_rate),
        cmocka_unit_test(nothing_changes_it),
        cmocka_unit_test(a_notice_is_handed_on),
        cmocka_unit_test(they_differ_in_reliability),
    };
    return cmocka_run_group_tests_name("rp_none", tests, NULL, NULL);
}
