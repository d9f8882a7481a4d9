/* DCTCP as a rate: when alpha is updated, the cut and its state, the rise, and both bounds. */
#include <setjmp.h>
#include <stdalign.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <xoff/rp.h>
#include <xoff/units.h>

extern const struct xoff_rp_ops xoff_rp_dctcp_rate;

struct tested {
    alignas(16) unsigned char params[64], cfg[128], state[128];
    struct xoff_rp_answer answer;
};

static void start(struct tested *t, const char *gain, const char *min_rate)
{
    const struct xoff_rp_ops *ops = &xoff_rp_dctcp_rate;
    const struct xoff_rp_env env = {
        .rate_bps = 10 * XOFF_GBPS, .frame_bytes = 1048, .payload_bytes = 1000};
    struct xoff_rp_shape shape = {0};
    struct xoff_err err;
    memset(t, 0, sizeof *t);
    xoff_param_defaults(ops->params, t->params);
    assert_int_equal(xoff_param_set(xoff_param_find(ops->params, "gain"), t->params, gain, &err),
                     0);
    assert_int_equal(
        xoff_param_set(xoff_param_find(ops->params, "min_rate"), t->params, min_rate, &err), 0);
    assert_int_equal(ops->configure(t->params, &env, t->cfg, &shape, &err), 0);
    assert_in_range(shape.state_size, 1, sizeof t->state);
    ops->init(t->cfg, t->state, &(struct xoff_rp_flow){0}, 0, &t->answer);
    assert_int_equal(t->answer.rate_bps, 10 * XOFF_GBPS);
}

static xoff_rate ack(struct tested *t, uint64_t acked_to, uint64_t sent_to, bool is_marked)
{
    const struct xoff_rp_ack about = {
        .acked_to = acked_to, .sent_to = sent_to, .is_marked = is_marked};
    xoff_rp_dctcp_rate.on_ack(t->cfg, t->state, &about, 0, &t->answer);
    return t->answer.rate_bps;
}

/* With g = 1/2:
 *   ACK of 1000, marked     first round trip: alpha stays 1; cut to 5 Gb/s; reduced up to 4000
 *   2000 and 4000           not beyond 4000: nothing
 *   5000, marked            2 marks of a batch of 4000 / 1000 + 1 = 5: alpha = 0.5 + 0.2 = 0.7;
 *                           no longer reduced: cut to 5 * 0.65 = 3.25 Gb/s, up to 8000
 *   9000                    0 of 4: alpha = 0.35; 1 Gb/s more
 *   9500, marked            same round trip: cut to 4.25 * 0.825 */
static void worked_example(void **unused)
{
    (void)unused;
    struct tested t;
    start(&t, "0.5", "1Gbps");
    assert_int_equal(ack(&t, 1000, 4000, true), 5 * XOFF_GBPS);
    assert_int_equal(ack(&t, 2000, 5000, false), 5 * XOFF_GBPS);
    assert_int_equal(ack(&t, 4000, 7000, false), 5 * XOFF_GBPS);
    assert_int_equal(ack(&t, 5000, 8000, true), 3250 * XOFF_MBPS);
    assert_int_equal(ack(&t, 9000, 12000, false), 4250 * XOFF_MBPS);
    assert_in_range(ack(&t, 9500, 12500, true), 3506249999, 3506250000);
}

static void bounds(void **unused)
{
    (void)unused;
    struct tested t;
    start(&t, "0", "4Gbps"); /* alpha stays 1: every cut halves */
    assert_int_equal(ack(&t, 1000, 2000, false), 10 * XOFF_GBPS);
    assert_int_equal(ack(&t, 3000, 4000, true), 5 * XOFF_GBPS);
    assert_int_equal(ack(&t, 4000, 5000, true), 5 * XOFF_GBPS); /* still reduced */
    assert_int_equal(ack(&t, 5000, 6000, true), 4 * XOFF_GBPS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(worked_example), cmocka_unit_test(bounds)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
