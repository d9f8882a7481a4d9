/* FECN's reaction point: start, phases of tags, rates that come back, severe congestion. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "mech/mechanisms.h"

_Noreturn void xoff_assert_fail(const char *expression, const char *file, int line)
{
    mock_assert(0, expression, file, line);
    abort();
}

struct rig {
    struct xoff_rp rp;
    int64_t params[16], cfg[16], state[8];
    struct xoff_rp_answer answer;
};

static void setup(struct rig *r, const char *name, const char *value, uint64_t seed, xoff_time now)
{
    const struct xoff_rp_env env = {
        .rate_bps = 10 * XOFF_GBPS, .frame_bytes = 1518, .payload_bytes = 1440};
    const struct xoff_rp_flow flow = {.seed = seed};
    struct xoff_err err;
    *r = (struct rig){.answer = {0}};
    assert_true(xoff_rp_fecn.params_size <= sizeof r->params);
    assert_true(xoff_rp_fecn.cfg_size <= sizeof r->cfg);
    xoff_param_defaults(xoff_rp_fecn.params, r->params);
    if (name)
        assert_int_equal(
            xoff_param_set(xoff_param_find(xoff_rp_fecn.params, name), r->params, value, &err), 0);
    assert_int_equal(xoff_rp_configure(&r->rp, &xoff_rp_fecn, r->params, &env, r->cfg, &err), 0);
    assert_true(r->rp.shape.state_size <= sizeof r->state);
    assert_int_equal(r->rp.shape.tag_kind, XOFF_NOTICE_FECN);
    xoff_rp_init(&r->rp, r->state, &flow, now, &r->answer);
}

static void starts(void **unused)
{
    (void)unused;
    static const struct {
        const char *n0;
        xoff_rate want;
    } cases[] = {{NULL, 50 * XOFF_MBPS}, {"1", 10 * XOFF_GBPS}, {"1000000", 10000}};
    for (size_t i = 0; i < 3; i++) {
        struct rig r;
        setup(&r, cases[i].n0 ? "n0" : NULL, cases[i].n0, 7, 0);
        assert_int_equal(r.answer.rate_bps, cases[i].want);
        assert_true(r.answer.window_bytes == XOFF_RP_NO_WINDOW);
        assert_int_equal(r.answer.probe, XOFF_RP_NO_PROBE);
    }
}

/* Random phases: after the start, at most an interval later, all over the interval. */
static void phases(void **unused)
{
    (void)unused;
    const xoff_time start = 12345;
    uint32_t in_quarter[4] = {0};
    for (uint64_t seed = 0; seed < 1000; seed++) {
        struct rig r;
        setup(&r, NULL, NULL, seed, start);
        const xoff_time left = r.answer.deadline - start;
        assert_true(left > 0 && left <= XOFF_MS);
        in_quarter[(left - 1) / (XOFF_MS / 4)]++;
    }
    for (uint32_t i = 0; i < 4; i++) /* 250, and 5 times the deviation of 13.7 */
        assert_true(in_quarter[i] > 180 && in_quarter[i] < 320);
    /* In step: at the next multiple of the interval, whenever a flow starts. */
    static const xoff_time starts[] = {0, 1, XOFF_MS - 1, XOFF_MS, XOFF_MS + 1};
    static const xoff_time tags[] = {XOFF_MS, XOFF_MS, XOFF_MS, 2 * XOFF_MS, 2 * XOFF_MS};
    for (size_t i = 0; i < 5; i++) {
        struct rig r;
        setup(&r, "phase", "in-step", 3, starts[i]);
        assert_int_equal(r.answer.deadline, tags[i]);
    }
}

/* A tag every interval, in phase even after an idle time, of which nothing is made up. */
static void every_interval(void **unused)
{
    (void)unused;
    for (uint32_t alone = 0; alone < 2; alone++) {
        struct rig r;
        setup(&r, "tags", alone ? "probe" : "data", 11, 500);
        const xoff_time first = r.answer.deadline;
        const int kind = alone ? XOFF_RP_PROBE_ALONE : XOFF_RP_PROBE_ON_DATA;
        static const struct {
            xoff_time at, next;
        } steps[] = {{0, 1}, {1, 2}, {2, 3}};
        for (size_t i = 0; i < 3; i++) {
            r.answer.probe = XOFF_RP_NO_PROBE;
            xoff_rp_expire(&r.rp, r.state, first + steps[i].at * XOFF_MS, &r.answer);
            assert_int_equal(r.answer.probe, kind);
            assert_int_equal(r.answer.deadline, first + steps[i].next * XOFF_MS);
        }
        /* Called a picosecond early it has nothing to do. */
        r.answer.probe = XOFF_RP_NO_PROBE;
        xoff_rp_expire(&r.rp, r.state, first + 3 * XOFF_MS - 1, &r.answer);
        assert_int_equal(r.answer.probe, XOFF_RP_NO_PROBE);
        /* Idle to the middle of the eleventh interval, then to its end less one and to its end. */
        xoff_rp_expire(&r.rp, r.state, first + 10 * XOFF_MS + 77, &r.answer);
        assert_int_equal(r.answer.probe, kind);
        assert_int_equal(r.answer.deadline, first + 11 * XOFF_MS);
        xoff_rp_expire(&r.rp, r.state, first + 14 * XOFF_MS - 1, &r.answer);
        assert_int_equal(r.answer.deadline, first + 14 * XOFF_MS);
        xoff_rp_expire(&r.rp, r.state, first + 16 * XOFF_MS, &r.answer);
        assert_int_equal(r.answer.deadline, first + 17 * XOFF_MS);
        assert_int_equal(r.answer.rate_bps, 50 * XOFF_MBPS);
    }
}

static xoff_rate told(struct rig *r, xoff_rate bps, int32_t feedback, uint8_t kind)
{
    const struct xoff_notice notice = {.rate_bps = bps, .feedback = feedback, .kind = kind};
    assert_true(xoff_rp_on_notice(&r->rp, r->state, &notice, 0, &r->answer));
    return r->answer.rate_bps;
}

static void rates(void **unused)
{
    (void)unused;
    struct rig r;
    setup(&r, NULL, NULL, 1, 0);
    const xoff_time deadline = r.answer.deadline;
    const xoff_rate line = 10 * XOFF_GBPS;
    assert_int_equal(told(&r, 123456789, 0, XOFF_NOTICE_FECN), 123456789); /* up ... */
    assert_int_equal(told(&r, 5, 0, XOFF_NOTICE_FECN), 5);                 /* ... and down */
    assert_int_equal(told(&r, 0, 0, XOFF_NOTICE_FECN), 1);
    assert_int_equal(told(&r, line - 1, 0, XOFF_NOTICE_FECN), line - 1);
    assert_int_equal(told(&r, line, 0, XOFF_NOTICE_FECN), line);
    assert_int_equal(told(&r, XOFF_NOTICE_NO_RATE, 0, XOFF_NOTICE_FECN), line); /* nobody wrote */
    assert_int_equal(told(&r, 7, -5, XOFF_NOTICE_QCN), line);
    /* Severe congestion only ever lowers. */
    assert_int_equal(told(&r, 1000, -1, XOFF_NOTICE_FECN), 1000);
    assert_int_equal(told(&r, 1001, -1, XOFF_NOTICE_FECN), 1000);
    assert_int_equal(told(&r, 999, -1, XOFF_NOTICE_FECN), 999);
    assert_int_equal(told(&r, 1001, 0, XOFF_NOTICE_FECN), 1001);
    assert_int_equal(r.answer.deadline, deadline);
    assert_int_equal(r.answer.probe, XOFF_RP_NO_PROBE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(starts),
        cmocka_unit_test(phases),
        cmocka_unit_test(every_interval),
        cmocka_unit_test(rates),
    };
    return cmocka_run_group_tests_name("fecn_rp", tests, NULL, NULL);
}
