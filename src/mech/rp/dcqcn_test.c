/* DCQCN, paper form: each stage boundary, the worked example of its docs page, floor and cap, and
 * random streams against a model that runs every timer. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <xoff/rng.h>
#include <xoff/rp.h>

extern const struct xoff_rp_ops xoff_rp_dcqcn;

struct flow {
    struct xoff_rp_env env;
    struct xoff_rp_answer answer;
    uint32_t n_expired;
    _Alignas(16) unsigned char params[256];
    _Alignas(16) unsigned char cfg[256];
    _Alignas(16) unsigned char state[128];
};

static void flow_setup(struct flow *flow, xoff_rate rate_bps)
{
    *flow =
        (struct flow){.env = {.rate_bps = rate_bps, .frame_bytes = 1518, .payload_bytes = 1460}};
    assert_true(xoff_rp_dcqcn.params_size <= sizeof flow->params);
    assert_true(xoff_rp_dcqcn.cfg_size <= sizeof flow->cfg);
    xoff_param_defaults(xoff_rp_dcqcn.params, flow->params);
}

static void flow_set(struct flow *flow, const char *name, const char *text)
{
    struct xoff_err err;
    const struct xoff_param *p = xoff_param_find(xoff_rp_dcqcn.params, name);
    assert_non_null(p);
    assert_int_equal(xoff_param_set(p, flow->params, text, &err), 0);
}

static int flow_configure(struct flow *flow, struct xoff_err *err)
{
    struct xoff_rp_shape shape = {0};
    const int code = xoff_rp_dcqcn.configure(flow->params, &flow->env, flow->cfg, &shape, err);
    assert_true(code || (shape.state_size && shape.state_size <= sizeof flow->state));
    return code;
}

static void flow_start(struct flow *flow)
{
    struct xoff_err err;
    const struct xoff_rp_flow of = {.base_rtt = 8 * XOFF_US};
    assert_int_equal(flow_configure(flow, &err), 0);
    xoff_rp_dcqcn.init(flow->cfg, flow->state, &of, 0, &flow->answer);
}

/* The rate with all its bits. */
static double flow_rate(const struct flow *flow)
{
    double rate;
    memcpy(&rate, flow->state, sizeof rate);
    return rate;
}

/* Every expiry up to `now`. */
static void flow_run(struct flow *flow, xoff_time now)
{
    while (flow->answer.deadline <= now) {
        const xoff_time at = flow->answer.deadline;
        xoff_rp_dcqcn.expire(flow->cfg, flow->state, at, &flow->answer);
        flow->n_expired++;
        assert_true(flow->answer.deadline > at);
    }
}

static void flow_cnp(struct flow *flow, xoff_time now)
{
    flow_run(flow, now);
    xoff_rp_dcqcn.on_cnp(flow->cfg, flow->state, now, &flow->answer);
}

static void flow_sent(struct flow *flow, uint32_t bytes, xoff_time now)
{
    xoff_rp_dcqcn.on_sent(flow->cfg, flow->state, bytes, now, &flow->answer);
}

static void starts_at_line_rate_without_timers(void **unused)
{
    (void)unused;
    struct flow flow;
    flow_setup(&flow, 100 * XOFF_GBPS);
    flow_start(&flow);
    assert_int_equal(flow.answer.rate_bps, 100 * XOFF_GBPS);
    assert_int_equal(flow.answer.window_bytes, XOFF_RP_NO_WINDOW);
    assert_int_equal(flow.answer.deadline, XOFF_NEVER);
    for (int i = 0; i < 100; i++)
        flow_sent(&flow, 4000000, i * XOFF_MS);
    assert_int_equal(flow.answer.rate_bps, 100 * XOFF_GBPS);
    assert_int_equal(flow.answer.deadline, XOFF_NEVER);
    /* The bytes before the first CNP are no part of a B: one byte short of it nothing happens. */
    flow_cnp(&flow, XOFF_S);
    flow_sent(&flow, 9999999, XOFF_S);
    assert_int_equal(flow.answer.rate_bps, 50 * XOFF_GBPS);
    flow_sent(&flow, 1, XOFF_S);
    assert_int_equal(flow.answer.rate_bps, 75 * XOFF_GBPS);
}

/* The worked example of docs/mechanisms/dcqcn.md. 40 Gb/s, so RAI = 40 Mb/s; CNPs at 0, 50, 400 us.
 * Alpha stays 1 through the first two, then shrinks six times (105 .. 380 us) to (255/256)^6 =
 * 0.97679019. T = 5 at 325 us is the first additive increase: RT = 20.04 Gb/s. At 400 us
 * RC = 19.89375 * (1 - 0.97679019 / 2) = 10.17774005 Gb/s. */
static void worked_example(void **unused)
{
    (void)unused;
    static const struct {
        xoff_time at_us;
        xoff_rate rate_bps;
    } steps[] = {
        {0, 20000000000},   {104, 10000000000}, {105, 15000000000}, {160, 17500000000},
        {215, 18750000000}, {270, 19375000000}, {325, 19707500000}, {380, 19893750000},
        {399, 19893750000}, {400, 10177740047},
    };
    struct flow flow;
    flow_setup(&flow, 40 * XOFF_GBPS);
    flow_start(&flow);
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        const xoff_time now = steps[i].at_us * XOFF_US;
        flow_run(&flow, now);
        if (now == 0 || now == 400 * XOFF_US)
            flow_cnp(&flow, now);
        assert_int_equal(flow.answer.rate_bps, steps[i].rate_bps);
        if (now == 0)
            flow_cnp(&flow, 50 * XOFF_US);
    }
    assert_int_equal(flow.answer.deadline, 455 * XOFF_US);
}

/* Steps of the target for a word of T (timer) and B (byte counter) after a CNP, F = 5. Everything
 * is a power of two, so target = 2 RC' - RC is exact. Two CNPs at once take RT to half the rate. */
static void stage_boundaries(void **unused)
{
    (void)unused;
    enum { A = 1, H = 1000 }; /* one RAI; one RHAI */
    static const struct {
        const char *word;
        int steps[24];
    } cases[] = {
        /* max < 5 four times, then additive as long as the other stands at 0 */
        {"TTTTTTT", {0, 0, 0, 0, A, A, A}},
        {"BBBBBBB", {0, 0, 0, 0, A, A, A}},
        /* (4, 4) is fast recovery, (5, 4) is not */
        {"TBTBTBTBT", {0, 0, 0, 0, 0, 0, 0, 0, A}},
        {"TBTBTBTBB", {0, 0, 0, 0, 0, 0, 0, 0, A}},
        /* min = 5 is additive, min = 6 hyper with i = 1, min = 7 with i = 2 */
        {"TTTTTBBBBBTBTB", {0, 0, 0, 0, A, A, A, A, A, A, A, H, H, 2 * H}},
        {"BBBBBTTTTTBTBTT", {0, 0, 0, 0, A, A, A, A, A, A, A, H, H, 2 * H, 2 * H}},
    };
    const double ai = 0x1p20, hai = 0x1p24;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct flow flow;
        flow_setup(&flow, UINT64_C(1) << 40);
        flow_set(&flow, "ai", "1048576bps");
        flow_set(&flow, "hai", "16777216bps");
        flow_set(&flow, "byte_counter", "10KB");
        flow_start(&flow);
        flow_cnp(&flow, 0);
        flow_cnp(&flow, 0);
        double target = 0x1p39;
        xoff_time now = 0;
        for (size_t k = 0; cases[i].word[k]; k++) {
            const double before = flow_rate(&flow);
            if (cases[i].word[k] == 'T') {
                assert_int_equal(flow.answer.deadline, now + 55 * XOFF_US);
                now += 55 * XOFF_US;
                flow_run(&flow, now);
            } else {
                flow_sent(&flow, 9999, now);
                assert_true(flow_rate(&flow) == before);
                flow_sent(&flow, 1, now);
            }
            target += cases[i].steps[k] % H * ai + cases[i].steps[k] / H * hai;
            assert_true(flow_rate(&flow) == (before + target) / 2);
        }
    }
}

/* F = 0 knows no fast recovery; a CNP sets both stages back. */
static void fast_recovery_none_and_again(void **unused)
{
    (void)unused;
    struct flow flow;
    flow_setup(&flow, UINT64_C(1) << 40);
    flow_set(&flow, "fast_recovery", "0");
    flow_set(&flow, "ai", "1048576bps");
    flow_start(&flow);
    flow_cnp(&flow, 0);
    flow_cnp(&flow, 0);
    flow_run(&flow, 55 * XOFF_US);
    assert_true(flow_rate(&flow) == (0x1p38 + 0x1p39 + 0x1p20) / 2);

    flow_set(&flow, "fast_recovery", "2");
    flow_start(&flow);
    flow_cnp(&flow, 0);
    flow_cnp(&flow, 0);
    flow_run(&flow, 110 * XOFF_US); /* T = 2 */
    flow_sent(&flow, 9000000, 110 * XOFF_US);
    flow_cnp(&flow, 110 * XOFF_US);
    const double target = 2 * flow_rate(&flow) / (2 - 255. * 255 / 65536), cut = flow_rate(&flow);
    flow_sent(&flow, 9999999, 111 * XOFF_US); /* the counter began anew, too */
    assert_true(flow_rate(&flow) == cut);
    flow_run(&flow, 165 * XOFF_US); /* T = 1 again: the target stays */
    assert_true(flow_rate(&flow) > (cut + target) / 2 - 1);
    assert_true(flow_rate(&flow) < (cut + target) / 2 + 1);
}

/* Each cut at alpha = 1 halves: 40 Gb/s / 2^9 = 78.1 Mb/s, / 2^10 = 39.06 < 40 Mb/s. */
static void floor_and_cap(void **unused)
{
    (void)unused;
    struct flow flow;
    flow_setup(&flow, 40 * XOFF_GBPS);
    flow_start(&flow);
    for (int i = 0; i < 9; i++)
        flow_cnp(&flow, i);
    assert_int_equal(flow.answer.rate_bps, 78125000);
    flow_cnp(&flow, 9);
    assert_int_equal(flow.answer.rate_bps, 40000000);
    flow_cnp(&flow, 10);
    assert_int_equal(flow.answer.rate_bps, 40000000);
    xoff_rate last = 0;
    while (flow.answer.deadline != XOFF_NEVER) {
        assert_true(flow.answer.rate_bps >= last);
        assert_true(flow.answer.rate_bps <= 40 * XOFF_GBPS);
        last = flow.answer.rate_bps;
        flow_run(&flow, flow.answer.deadline);
    }
    assert_int_equal(flow.answer.rate_bps, 40 * XOFF_GBPS);
}

/* One CNP: the gap of 50 Gb/s halves every 55 us and rounds away (below 1/2) after 37 of them
 * (50e9 / 2^36 = 0.73, / 2^37 = 0.36). Then no more events, and no increase later. */
static void timers_stop_at_line_rate(void **unused)
{
    (void)unused;
    struct flow flow;
    flow_setup(&flow, 100 * XOFF_GBPS);
    flow_start(&flow);
    flow_cnp(&flow, 0);
    flow_run(&flow, 36 * 55 * XOFF_US);
    assert_int_equal(flow.answer.rate_bps, 100 * XOFF_GBPS - 1);
    flow_run(&flow, XOFF_S);
    assert_int_equal(flow.n_expired, 37);
    assert_int_equal(flow.answer.rate_bps, 100 * XOFF_GBPS);
    assert_int_equal(flow.answer.deadline, XOFF_NEVER);
    /* After a day alpha is nothing: the cut cannot be seen, the CNP after it is (255 + 1) / 256 of
     * nothing and 1/256: RC = line * (1 - 1/512). */
    flow_cnp(&flow, 86400 * XOFF_S);
    assert_int_equal(flow.answer.rate_bps, 100 * XOFF_GBPS);
    assert_int_equal(flow.answer.deadline, XOFF_NEVER);
    flow_cnp(&flow, 86400 * XOFF_S + 1);
    assert_int_equal(flow.answer.rate_bps, 99804687500);
    assert_int_equal(flow.answer.deadline, 86400 * XOFF_S + 1 + 55 * XOFF_US);
}

/* Every timer, one expiry at a time. */
struct model {
    double line, floor, ai, hai, g;
    xoff_time alpha_for, timer_for;
    uint64_t counter, fast;
    double rc, rt, alpha;
    bool runs;
    xoff_time alpha_at, timer_at;
    uint64_t bytes, t, bc, n_changes;
};

static void model_increase(struct model *m)
{
    const double before = m->rc;
    if (m->t > m->fast && m->bc > m->fast)
        m->rt += (double)((m->t < m->bc ? m->t : m->bc) - m->fast) * m->hai;
    else if (m->t >= m->fast || m->bc >= m->fast)
        m->rt += m->ai;
    m->rt = m->rt < m->line ? m->rt : m->line;
    m->rc = (m->rt + m->rc) / 2;
    m->n_changes += m->rc != before || m->rt < m->line;
}

static void model_run(struct model *m, xoff_time now)
{
    while (m->runs && (m->alpha_at <= now || m->timer_at <= now)) {
        if (m->alpha_at <= m->timer_at) {
            m->alpha = (1 - m->g) * m->alpha;
            m->alpha_at += m->alpha_for;
        } else {
            m->t++;
            model_increase(m);
            m->timer_at += m->timer_for;
        }
    }
}

static void model_cnp(struct model *m, xoff_time now)
{
    m->rt = m->rc;
    m->rc = m->rc * (1 - m->alpha / 2);
    m->rc = m->rc > m->floor ? m->rc : m->floor;
    m->alpha = (1 - m->g) * m->alpha + m->g;
    m->runs = true;
    m->t = m->bc = m->bytes = 0;
    m->alpha_at = now + m->alpha_for;
    m->timer_at = now + m->timer_for;
}

static void model_sent(struct model *m, uint32_t bytes)
{
    if (!m->runs)
        return;
    for (m->bytes += bytes; m->bytes >= m->counter; m->bytes -= m->counter) {
        m->bc++;
        model_increase(m);
    }
}

static const char *const gains[] = {"1/256", "1/16", "0.3", "1", "0.001"};
static const double gain_values[] = {1. / 256, 1. / 16, 0.3, 1, 0.001};

static void random_setup(struct flow *flow, struct model *m, struct xoff_rng *rng)
{
    static const char *const times[] = {"55us", "300us", "7us", "1us"};
    static const char *const counters[] = {"10MB", "1MB", "150KB"};
    static const char *const stages[] = {"5", "1", "0", "2"};
    static const xoff_time time_values[] = {55 * XOFF_US, 300 * XOFF_US, 7 * XOFF_US, XOFF_US};
    static const uint64_t counter_values[] = {10000000, 1000000, 150000}, fasts[] = {5, 1, 0, 2};
    const uint64_t gain = xoff_rng_below(rng, 5), alpha = xoff_rng_below(rng, 4);
    const uint64_t timer = xoff_rng_below(rng, 4), counter = xoff_rng_below(rng, 3);
    const uint64_t fast = xoff_rng_below(rng, 4);
    flow_setup(flow, 100 * XOFF_GBPS);
    flow_set(flow, "gain", gains[gain]);
    flow_set(flow, "alpha_interval", times[alpha]);
    flow_set(flow, "timer", times[timer]);
    flow_set(flow, "byte_counter", counters[counter]);
    flow_set(flow, "fast_recovery", stages[fast]);
    flow_start(flow);
    *m = (struct model){
        .line = 100e9,
        .floor = 100e6, /* what auto is at 100 Gb/s */
        .ai = 100e6,
        .hai = 1000e6,
        .g = gain_values[gain],
        .alpha_for = time_values[alpha],
        .timer_for = time_values[timer],
        .counter = counter_values[counter],
        .fast = fasts[fast],
        .rc = 100e9,
        .rt = 100e9,
        .alpha = 1,
    };
}

/* How long until something happens: short, long, very long, or right on an expiry of the model. */
static xoff_time random_gap(struct xoff_rng *rng, const struct model *m, xoff_time now)
{
    switch (xoff_rng_below(rng, 8)) {
    case 0:
        return m->runs ? m->timer_at - now : 0;
    case 1:
        return m->runs ? m->alpha_at - now : 0;
    case 2:
        return (xoff_time)xoff_rng_below(rng, 3 * XOFF_MS);
    case 3:
        return xoff_rng_below(rng, 16) ? 0 : 60 * XOFF_MS;
    default:
        return (xoff_time)xoff_rng_below(rng, 100 * XOFF_US);
    }
}

static void equals_the_model_that_runs_every_timer(void **unused)
{
    (void)unused;
    for (uint64_t seed = 1; seed <= 150; seed++) {
        struct flow flow;
        struct model m;
        struct xoff_rng rng;
        uint64_t n_calls = 0;
        xoff_rng_init(&rng, seed, 0, 0);
        random_setup(&flow, &m, &rng);
        xoff_time now = 0;
        for (int i = 0; i < 150; i++) {
            now += random_gap(&rng, &m, now);
            model_run(&m, now);
            /* what is due now may be left to the call itself */
            flow_run(&flow, xoff_rng_below(&rng, 2) ? now : now - 1);
            if (flow.answer.deadline > now)
                assert_int_equal(flow.answer.rate_bps, (xoff_rate)(m.rc + 0.5));
            if (xoff_rng_below(&rng, 2)) {
                xoff_rp_dcqcn.on_cnp(flow.cfg, flow.state, now, &flow.answer);
                model_cnp(&m, now);
                assert_memory_equal(&m.rc, flow.state, sizeof m.rc);
            } else {
                const uint32_t bytes = (uint32_t)xoff_rng_below(&rng, m.counter / 2 * 3);
                flow_sent(&flow, bytes, now);
                flow_run(&flow, now);
                model_sent(&m, bytes);
            }
            n_calls++;
            assert_true(flow.answer.deadline > now);
            assert_int_equal(flow.answer.rate_bps, (xoff_rate)(m.rc + 0.5));
        }
        assert_true(flow.n_expired <= m.n_changes + n_calls);
    }
}

static void defaults_follow_the_rate(void **unused)
{
    (void)unused;
    static const xoff_rate rates[] = {10 * XOFF_GBPS, 40 * XOFF_GBPS, 400 * XOFF_GBPS};
    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++) {
        struct flow flow;
        flow_setup(&flow, rates[i]);
        flow_start(&flow);
        for (int k = 0; k < 20; k++)
            flow_cnp(&flow, 0);
        assert_int_equal(flow.answer.rate_bps, rates[i] / 1000);
        flow_run(&flow, 4 * 55 * XOFF_US); /* RC = RT = rate / 1000 at the floor */
        assert_int_equal(flow.answer.rate_bps, rates[i] / 1000);
        flow_run(&flow, 5 * 55 * XOFF_US); /* RT = 2 / 1000 */
        assert_int_equal(flow.answer.rate_bps, rates[i] / 1000 * 3 / 2);
        /* (5, 5) is additive: RT = 7 / 1000; T = 6 one more; (6, 6) adds rate / 100: RT = 18 */
        for (int k = 0; k < 5; k++)
            flow_sent(&flow, 10000000, 280 * XOFF_US);
        flow_run(&flow, 6 * 55 * XOFF_US);
        const double before = flow_rate(&flow);
        flow_sent(&flow, 10000000, 6 * 55 * XOFF_US);
        const double target = 2 * flow_rate(&flow) - before, step = (double)rates[i] / 1000;
        assert_true(target > 17.999 * step && target < 18.001 * step);
    }
    assert_string_equal(xoff_rp_dcqcn.np, "cnp");
}

static void assert_set_refused(const char *name, const char *text)
{
    struct flow flow;
    struct xoff_err err;
    flow_setup(&flow, 40 * XOFF_GBPS);
    assert_int_equal(
        xoff_param_set(xoff_param_find(xoff_rp_dcqcn.params, name), flow.params, text, &err),
        -XOFF_E_RANGE);
}

/* Values that do not come from text are looked at as well. */
static void assert_value_refused(const char *name, int64_t value, double real)
{
    struct flow flow;
    struct xoff_err err;
    const struct xoff_param *p = xoff_param_find(xoff_rp_dcqcn.params, name);
    assert_non_null(p);
    flow_setup(&flow, 40 * XOFF_GBPS);
    if (p->type == XOFF_P_REAL)
        memcpy(flow.params + p->offset, &real, sizeof real);
    else
        memcpy(flow.params + p->offset, &value, sizeof value);
    assert_int_equal(flow_configure(&flow, &err), -XOFF_E_RANGE);
    assert_string_equal(err.subject, name);
}

static void refusals(void **unused)
{
    (void)unused;
    struct flow flow;
    struct xoff_err err;
    assert_set_refused("gain", "0");
    assert_set_refused("gain", "1.01");
    assert_set_refused("timer", "0s");
    assert_set_refused("alpha_interval", "0s");
    assert_set_refused("byte_counter", "999B");
    assert_set_refused("fast_recovery", "1001");
    assert_set_refused("min_rate", "0bps");
    assert_value_refused("gain", 0, 0);
    assert_value_refused("gain", 0, -0.5);
    assert_value_refused("gain", 0, 1.0000001);
    assert_value_refused("gain", 0, __builtin_nan(""));
    assert_value_refused("timer", 0, 0);
    assert_value_refused("alpha_interval", 0, 0);
    assert_value_refused("byte_counter", 0, 0);

    flow_setup(&flow, 40 * XOFF_GBPS);
    flow_set(&flow, "min_rate", "40Gbps"); /* nothing can be cut, and nothing is left to increase */
    flow_set(&flow, "gain", "1");
    flow_start(&flow);
    flow_cnp(&flow, 0);
    assert_int_equal(flow.answer.rate_bps, 40 * XOFF_GBPS);
    assert_int_equal(flow.answer.deadline, XOFF_NEVER);
    flow_set(&flow, "min_rate", "40000000001bps");
    assert_int_equal(flow_configure(&flow, &err), -XOFF_E_CONFLICT);
    assert_string_equal(err.subject, "min_rate");
    assert_non_null(strstr(err.message, "40Gbps"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(starts_at_line_rate_without_timers),
        cmocka_unit_test(worked_example),
        cmocka_unit_test(stage_boundaries),
        cmocka_unit_test(fast_recovery_none_and_again),
        cmocka_unit_test(floor_and_cap),
        cmocka_unit_test(timers_stop_at_line_rate),
        cmocka_unit_test(equals_the_model_that_runs_every_timer),
        cmocka_unit_test(defaults_follow_the_rate),
        cmocka_unit_test(refusals),
    };
    return cmocka_run_group_tests_name("dcqcn", tests, NULL, NULL);
}
