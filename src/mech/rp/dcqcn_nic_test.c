/* DCQCN, adapter form: each stage boundary, the worked example of its docs page, order at one
 * instant, floor and cap, and random streams against a model with every event of the source. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <xoff/rng.h>
#include <xoff/rp.h>

extern const struct xoff_rp_ops xoff_rp_dcqcn_nic;

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
        (struct flow){.env = {.rate_bps = rate_bps, .frame_bytes = 1066, .payload_bytes = 1000}};
    assert_true(xoff_rp_dcqcn_nic.params_size <= sizeof flow->params);
    assert_true(xoff_rp_dcqcn_nic.cfg_size <= sizeof flow->cfg);
    xoff_param_defaults(xoff_rp_dcqcn_nic.params, flow->params);
}

static void flow_set(struct flow *flow, const char *name, const char *text)
{
    struct xoff_err err;
    const struct xoff_param *p = xoff_param_find(xoff_rp_dcqcn_nic.params, name);
    assert_non_null(p);
    assert_int_equal(xoff_param_set(p, flow->params, text, &err), 0);
}

static int flow_configure(struct flow *flow, struct xoff_err *err)
{
    struct xoff_rp_shape shape = {0};
    const int code = xoff_rp_dcqcn_nic.configure(flow->params, &flow->env, flow->cfg, &shape, err);
    assert_true(code || (shape.state_size && shape.state_size <= sizeof flow->state));
    return code;
}

static void flow_start(struct flow *flow)
{
    struct xoff_err err;
    const struct xoff_rp_flow of = {.base_rtt = 8 * XOFF_US};
    assert_int_equal(flow_configure(flow, &err), 0);
    xoff_rp_dcqcn_nic.init(flow->cfg, flow->state, &of, 0, &flow->answer);
    flow->n_expired = 0;
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
        xoff_rp_dcqcn_nic.expire(flow->cfg, flow->state, at, &flow->answer);
        flow->n_expired++;
        assert_true(flow->answer.deadline > at);
    }
}

static void flow_ack(struct flow *flow, bool is_marked, xoff_time now)
{
    const struct xoff_rp_ack ack = {
        .newly_acked_bytes = 1000, .n_frames = 1, .n_marked = is_marked, .is_marked = is_marked};
    xoff_rp_dcqcn_nic.on_ack(flow->cfg, flow->state, &ack, now, &flow->answer);
}

static void flow_mark(struct flow *flow, xoff_time now)
{
    flow_run(flow, now);
    flow_ack(flow, true, now);
}

static void only_marks_start_anything(void **unused)
{
    (void)unused;
    struct flow flow;
    flow_setup(&flow, 100 * XOFF_GBPS);
    flow_start(&flow);
    assert_int_equal(flow.answer.rate_bps, 100 * XOFF_GBPS);
    assert_int_equal(flow.answer.window_bytes, XOFF_RP_NO_WINDOW);
    assert_int_equal(flow.answer.deadline, XOFF_NEVER);
    for (int i = 0; i < 100; i++)
        flow_ack(&flow, false, i * XOFF_US);
    assert_int_equal(flow.answer.deadline, XOFF_NEVER);
    flow_ack(&flow, true, XOFF_MS);
    assert_int_equal(flow.answer.rate_bps, 100 * XOFF_GBPS); /* the first check is yet to come */
    assert_int_equal(flow.answer.deadline, XOFF_MS + 4001 * XOFF_NS);
    flow_ack(&flow, false, XOFF_MS + 4 * XOFF_US);
    flow_ack(&flow, true, XOFF_MS + 4 * XOFF_US);
    assert_int_equal(flow.answer.deadline, XOFF_MS + 4001 * XOFF_NS);
    assert_string_equal(xoff_rp_dcqcn_nic.np, "echo");
    assert_null(xoff_rp_dcqcn_nic.on_cnp);
}

/* The worked example of docs/mechanisms/dcqcn.md. 100 Gb/s: RAI = 20 Mb/s, RHAI = 200 Mb/s. Marks
 * at 0, 5.5 and 1300.5 us. With k = 255/256:
 *
 *   4.001 us     alpha = k^4 = 0.98446631 (the first mark does not count); RC = 100 (1 - alpha / 2)
 *   8.001 us     alpha = (k^6 + g) k^2 = 0.97304972; S = 0, so RT is still 100 Gb/s
 *   308.001 us   fast recovery; then RT is capped, each step halves the gap to 100 Gb/s
 *   1304.001 us  alpha = (k (alpha at 1300 us) + g) k^3 = 0.00995902; S = 4, so RT = RC
 *   1604.001 us  fast recovery, 1904.001 us RT + 20 Mb/s, 2204.001 us RT + 200 Mb/s
 */
static void worked_example(void **unused)
{
    (void)unused;
    static const struct {
        xoff_time at_ns;
        xoff_rate rate_bps;
    } steps[] = {
        {4000, 100000000000},   {4001, 50776684273},    {8000, 50776684273},
        {8001, 26072565154},    {308000, 26072565154},  {308001, 63036282577},
        {608001, 81518141289},  {908001, 90759070644},  {1208001, 95379535322},
        {1304000, 95379535322}, {1304001, 94904591828}, {1604001, 95142063575},
        {1904001, 95270799448}, {2204001, 95435167385},
    };
    static const xoff_time marks_ns[] = {0, 5500, 1300500};
    struct flow flow;
    size_t n_marks = 0;
    flow_setup(&flow, 100 * XOFF_GBPS);
    flow_start(&flow);
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        for (; n_marks < 3 && marks_ns[n_marks] < steps[i].at_ns; n_marks++)
            flow_mark(&flow, marks_ns[n_marks] * XOFF_NS);
        flow_run(&flow, steps[i].at_ns * XOFF_NS);
        assert_int_equal(flow.answer.rate_bps, steps[i].rate_bps);
    }
    assert_int_equal(flow.n_expired, 10); /* three cuts, seven increases, no event for alpha */
}

/* A flow whose alpha stays 1 (no step within a second), so that each cut halves; everything is a
 * power of two, so that RT = 2 RC' - RC is exact. */
static void halving_setup(struct flow *flow)
{
    flow_setup(flow, UINT64_C(1) << 40);
    flow_set(flow, "alpha_interval", "1s");
    flow_set(flow, "ai", "1048576bps");
    flow_set(flow, "hai", "16777216bps");
}

/* S < F leaves the target, S = F adds RAI, S > F adds RHAI. */
static void stage_boundaries(void **unused)
{
    (void)unused;
    for (int fast = 0; fast < 4; fast++) {
        struct flow flow;
        char text[16];
        halving_setup(&flow);
        snprintf(text, sizeof text, "%d", fast);
        flow_set(&flow, "fast_recovery", text);
        flow_start(&flow);
        flow_mark(&flow, 0);
        /* 4.001 us: RC = 2^39, RT = 2^40; 304.001 us: RC = 3/4 2^40, S = 1; 308.001 us: cut */
        flow_run(&flow, 305 * XOFF_US);
        assert_true(flow_rate(&flow) == 0x3p38);
        flow_mark(&flow, 305 * XOFF_US);
        double target = 0x3p38;
        flow_run(&flow, 308001 * XOFF_NS);
        assert_true(flow_rate(&flow) == 0x3p37);
        for (int stage = 0; stage < 7; stage++) {
            const double before = flow_rate(&flow);
            const xoff_time at = (308001 + 300000 * (stage + 1)) * XOFF_NS;
            target += stage < fast ? 0 : stage == fast ? 0x1p20 : 0x1p24;
            flow_run(&flow, at - 1);
            assert_true(flow_rate(&flow) == before);
            flow_run(&flow, at);
            assert_true(flow_rate(&flow) == (before + target) / 2);
        }
    }
}

/* Cuts at 4.001 and 8.001 us take the rate to 1/4; the target remains, or follows when clamped. */
static void clamp_target(void **unused)
{
    (void)unused;
    struct flow flow;
    halving_setup(&flow);
    flow_start(&flow);
    flow_mark(&flow, 0);
    flow_mark(&flow, 5 * XOFF_US);
    flow_run(&flow, 9 * XOFF_US);
    assert_true(flow_rate(&flow) == 0x1p38);
    flow_run(&flow, 308001 * XOFF_NS);
    assert_true(flow_rate(&flow) == (0x1p38 + 0x1p40) / 2);

    flow_set(&flow, "clamp_target", "true");
    flow_start(&flow);
    flow_mark(&flow, 0);
    flow_mark(&flow, 5 * XOFF_US);
    flow_run(&flow, 308001 * XOFF_NS);
    assert_true(flow_rate(&flow) == (0x1p38 + 0x1p39) / 2);
}

/* A mark at the instant of a check is too late for it; a check without a mark passes unseen. */
static void marks_and_checks_at_one_instant(void **unused)
{
    (void)unused;
    struct flow flow;
    halving_setup(&flow);
    flow_start(&flow);
    flow_mark(&flow, 0);
    flow_ack(&flow, true, 4001 * XOFF_NS); /* the check is due, and made before the mark */
    assert_true(flow_rate(&flow) == 0x1p39);
    assert_int_equal(flow.answer.deadline, 8001 * XOFF_NS);
    flow_run(&flow, 8001 * XOFF_NS);
    assert_true(flow_rate(&flow) == 0x1p38);
    flow_ack(&flow, true, 20001 * XOFF_NS); /* checks at 12.001, 16.001, 20.001 us have passed */
    assert_int_equal(flow.answer.deadline, 24001 * XOFF_NS);
    flow_run(&flow, 24001 * XOFF_NS);
    flow_ack(&flow, true, 28001 * XOFF_NS - 1);
    assert_int_equal(flow.answer.deadline, 28001 * XOFF_NS);
}

/* Increase and check at 304.001 us, a mark pending. The longer period was set up earlier and goes
 * first: with 300 us the rate rises to 3/4, then is cut to 3/8 with that as target. With 4 us for
 * both, the check cuts first and takes the increase away. */
static void increase_and_check_at_one_instant(void **unused)
{
    (void)unused;
    struct flow flow;
    halving_setup(&flow);
    flow_start(&flow);
    flow_mark(&flow, 0);
    flow_mark(&flow, 304 * XOFF_US);
    flow_run(&flow, 304001 * XOFF_NS);
    assert_true(flow_rate(&flow) == 0x3p37);
    assert_int_equal(flow.answer.deadline, 604001 * XOFF_NS);
    flow_run(&flow, 604001 * XOFF_NS);
    assert_true(flow_rate(&flow) == (0x3p37 + 0x3p38) / 2);

    flow_set(&flow, "timer", "4us");
    flow_start(&flow);
    flow_mark(&flow, 0);
    flow_mark(&flow, 8 * XOFF_US - 1);
    flow_run(&flow, 8001 * XOFF_NS);
    assert_true(flow_rate(&flow) == 0x1p38);
    flow_run(&flow, 12001 * XOFF_NS); /* S was 0 at the second cut: RT is 2^40 still */
    assert_true(flow_rate(&flow) == (0x1p38 + 0x1p40) / 2);
}

/* Alpha at the very instant of a check is taken first: 4.001 us for both after the first mark;
 * alpha = 1/2 and the cut leaves 3/4. A picosecond later it is not. */
static void alpha_before_check(void **unused)
{
    (void)unused;
    static const char *const intervals[] = {"4001ns", "4001001ps"};
    static const double rates[] = {0x3p38, 0x1p39};
    for (int i = 0; i < 2; i++) {
        struct flow flow;
        halving_setup(&flow);
        flow_set(&flow, "gain", "0.5");
        flow_set(&flow, "alpha_interval", intervals[i]);
        flow_start(&flow);
        flow_mark(&flow, 0);
        flow_run(&flow, 4001 * XOFF_NS);
        assert_true(flow_rate(&flow) == rates[i]);
    }
}

static void first_mark_scales_the_rate(void **unused)
{
    (void)unused;
    struct flow flow;
    halving_setup(&flow);
    flow_set(&flow, "first_rate", "0.25");
    flow_start(&flow);
    flow_mark(&flow, 0);
    assert_int_equal(flow.answer.rate_bps, UINT64_C(1) << 38);
    flow_run(&flow, 4001 * XOFF_NS);
    assert_int_equal(flow.answer.rate_bps, UINT64_C(1) << 37);
    flow_run(&flow, 304001 * XOFF_NS); /* towards the scaled rate */
    assert_int_equal(flow.answer.rate_bps, UINT64_C(3) << 36);

    flow_set(&flow, "first_rate", "0.001"); /* the floor, 1/100, holds here too */
    flow_start(&flow);
    flow_mark(&flow, 0);
    assert_int_equal(flow.answer.rate_bps, (UINT64_C(1) << 40) / 100);
}

/* Cuts at every check halve 100 Gb/s: the sixth leaves 1.5625 Gb/s, the seventh 0.78 < 1 Gb/s. */
static void floor_and_cap(void **unused)
{
    (void)unused;
    struct flow flow;
    flow_setup(&flow, 100 * XOFF_GBPS);
    flow_set(&flow, "alpha_interval", "1s");
    flow_start(&flow);
    for (int i = 0; i < 6; i++)
        flow_mark(&flow, i * 4 * XOFF_US + i * XOFF_NS);
    flow_run(&flow, 24001 * XOFF_NS);
    assert_int_equal(flow.answer.rate_bps, 1562500000);
    flow_mark(&flow, 25 * XOFF_US);
    flow_run(&flow, 28001 * XOFF_NS);
    assert_int_equal(flow.answer.rate_bps, XOFF_GBPS);
    flow_mark(&flow, 29 * XOFF_US);
    flow_run(&flow, 32001 * XOFF_NS);
    assert_int_equal(flow.answer.rate_bps, XOFF_GBPS);
    xoff_rate last = 0;
    while (flow.answer.deadline != XOFF_NEVER) {
        assert_true(flow.answer.rate_bps >= last);
        assert_true(flow.answer.rate_bps <= 100 * XOFF_GBPS);
        last = flow.answer.rate_bps;
        flow_run(&flow, flow.answer.deadline);
    }
    assert_int_equal(flow.answer.rate_bps, 100 * XOFF_GBPS);
}

/* One mark at alpha = 1: the gap of 50 Gb/s rounds away (below 1/2) with the 37th increase
 * (50e9 / 2^36 = 0.73, / 2^37 = 0.36); then no event, though alpha steps every microsecond. */
static void timers_stop_at_line_rate(void **unused)
{
    (void)unused;
    struct flow flow;
    flow_setup(&flow, 100 * XOFF_GBPS);
    flow_set(&flow, "alpha_interval", "5us");
    flow_start(&flow);
    flow_mark(&flow, 0);
    flow_run(&flow, 4001 * XOFF_NS + 36 * 300 * XOFF_US);
    assert_int_equal(flow.answer.rate_bps, 100 * XOFF_GBPS - 1);
    flow_run(&flow, XOFF_S);
    assert_int_equal(flow.n_expired, 38);
    assert_int_equal(flow.answer.rate_bps, 100 * XOFF_GBPS);
    assert_int_equal(flow.answer.deadline, XOFF_NEVER);
    /* A day later alpha is nothing. The day is a multiple of 5 and of 4 us: the check comes 1 ns
     * after the mark and finds alpha as it was, so does the next one; the step at 5 us makes alpha
     * g, and the check at 8.001 us cuts to line (1 - 1/512). */
    const xoff_time day = 86400 * XOFF_S;
    flow_mark(&flow, day);
    assert_int_equal(flow.answer.deadline, day + XOFF_NS);
    flow_mark(&flow, day + XOFF_US);
    assert_int_equal(flow.answer.deadline, day + 4001 * XOFF_NS);
    flow_mark(&flow, day + 4002 * XOFF_NS);
    assert_int_equal(flow.answer.rate_bps, 100 * XOFF_GBPS);
    flow_run(&flow, day + 8001 * XOFF_NS);
    assert_int_equal(flow.answer.rate_bps, 99804687500);
}

/* Every event of the source: each has a time and the number of its making, the smaller pair is
 * next. ALPHA and CHECK are made again at each expiry, INCREASE at each expiry and cut. */
enum { ALPHA, CHECK, INCREASE, N_EVENTS };

struct model {
    double line, floor, ai, hai, g, first;
    xoff_time periods[N_EVENTS];
    uint64_t fast;
    bool clamps, had_mark, alpha_bit, cut_bit;
    double rate, target, alpha;
    uint64_t stage, n_made, n_changes;
    xoff_time at[N_EVENTS];
    uint64_t made[N_EVENTS];
};

static void model_make(struct model *m, int event, xoff_time at)
{
    m->at[event] = at;
    m->made[event] = m->n_made++;
}

static void model_check(struct model *m, xoff_time now)
{
    model_make(m, CHECK, now + m->periods[CHECK]);
    if (!m->cut_bit)
        return;
    if (m->clamps || m->stage != 0)
        m->target = m->rate;
    m->rate = m->rate * (1 - m->alpha / 2);
    m->rate = m->rate > m->floor ? m->rate : m->floor;
    m->stage = 0;
    m->cut_bit = false;
    m->n_changes++;
    model_make(m, INCREASE, now + m->periods[INCREASE]);
}

static void model_increase(struct model *m, xoff_time now)
{
    model_make(m, INCREASE, now + m->periods[INCREASE]);
    m->n_changes += m->rate != m->line;
    if (m->stage >= m->fast)
        m->target += m->stage == m->fast ? m->ai : m->hai;
    m->target = m->target < m->line ? m->target : m->line;
    m->rate = m->rate / 2 + m->target / 2;
    m->stage++;
}

static void model_run(struct model *m, xoff_time now)
{
    for (;;) {
        int next = 0;
        for (int i = 1; i < N_EVENTS; i++)
            if (m->at[i] < m->at[next] || (m->at[i] == m->at[next] && m->made[i] < m->made[next]))
                next = i;
        const xoff_time at = m->at[next];
        if (at > now)
            return;
        if (next == CHECK) {
            model_check(m, at);
        } else if (next == INCREASE) {
            model_increase(m, at);
        } else {
            m->alpha = m->alpha_bit ? (1 - m->g) * m->alpha + m->g : (1 - m->g) * m->alpha;
            m->alpha_bit = false;
            model_make(m, ALPHA, at + m->periods[ALPHA]);
        }
    }
}

static void model_mark(struct model *m, xoff_time now)
{
    m->alpha_bit = m->had_mark;
    m->cut_bit = true;
    if (m->had_mark)
        return;
    m->had_mark = true;
    m->alpha = 1;
    model_make(m, ALPHA, now + m->periods[ALPHA]);
    model_make(m, CHECK, now + m->periods[CHECK] + XOFF_NS);
    m->target = m->rate = m->first * m->rate;
}

static void random_setup(struct flow *flow, struct model *m, struct xoff_rng *rng)
{
    static const char *const gains[] = {"1/256", "1/16", "0.3", "1", "0.001"};
    static const double gain_values[] = {1. / 256, 1. / 16, 0.3, 1, 0.001};
    static const int64_t alphas[] = {1, 50, 3, 1}, checks[] = {4, 50, 1, 4};
    static const int64_t timers[] = {300, 55, 4, 1, 8, 50}, mins[] = {1000, 100, 100000};
    char text[32];
    const uint64_t gain = xoff_rng_below(rng, 5);
    const int64_t alpha = alphas[xoff_rng_below(rng, 4)], check = checks[xoff_rng_below(rng, 4)];
    const int64_t timer = timers[xoff_rng_below(rng, 6)];
    const int64_t min = mins[xoff_rng_below(rng, 8) % 7 / 3];
    *m = (struct model){
        .line = 100e9,
        .floor = (double)min * 1e6,
        .ai = 20e6, /* what auto is at 100 Gb/s */
        .hai = 200e6,
        .g = gain_values[gain],
        .first = xoff_rng_below(rng, 3) || min == 100000 ? 1 : 0.5,
        .periods = {alpha * XOFF_US, check * XOFF_US, timer * XOFF_US},
        .fast = xoff_rng_below(rng, 4),
        .clamps = xoff_rng_below(rng, 3) == 0,
        .rate = 100e9,
        .target = 100e9,
        .alpha = 1,
        .at = {XOFF_NEVER, XOFF_NEVER, XOFF_NEVER},
    };
    flow_setup(flow, 100 * XOFF_GBPS);
    flow_set(flow, "gain", gains[gain]);
    flow_set(flow, "clamp_target", m->clamps ? "yes" : "no");
    flow_set(flow, "first_rate", m->first < 1 ? "0.5" : "1");
    snprintf(text, sizeof text, "%dus", (int)alpha);
    flow_set(flow, "alpha_interval", text);
    snprintf(text, sizeof text, "%dus", (int)check);
    flow_set(flow, "decrease_interval", text);
    snprintf(text, sizeof text, "%dus", (int)timer);
    flow_set(flow, "timer", text);
    snprintf(text, sizeof text, "%dMbps", (int)min);
    flow_set(flow, "min_rate", text);
    snprintf(text, sizeof text, "%d", (int)m->fast);
    flow_set(flow, "fast_recovery", text);
    flow_start(flow);
}

/* How long until the next ACK: within a burst, right on an event of the model, some steps, long. */
static xoff_time random_gap(struct xoff_rng *rng, const struct model *m, xoff_time now)
{
    const uint64_t kind = xoff_rng_below(rng, 64);
    const uint64_t event = xoff_rng_below(rng, N_EVENTS);
    if (kind == 0)
        return (xoff_time)xoff_rng_below(rng, 40 * XOFF_MS);
    if (kind < 8)
        return (xoff_time)xoff_rng_below(rng, 700 * XOFF_US);
    if (kind < 16)
        return m->at[event] == XOFF_NEVER ? 0 : m->at[event] - now;
    if (kind < 32)
        return (xoff_time)xoff_rng_below(rng, 9 * XOFF_US);
    return (xoff_time)xoff_rng_below(rng, 200 * XOFF_NS);
}

static void equals_the_model_that_runs_every_event(void **unused)
{
    (void)unused;
    for (uint64_t seed = 1; seed <= 200; seed++) {
        struct flow flow;
        struct model m;
        struct xoff_rng rng;
        xoff_rng_init(&rng, seed, 0, 0);
        random_setup(&flow, &m, &rng);
        xoff_time now = 0;
        for (int i = 0; i < 400; i++) {
            now += random_gap(&rng, &m, now);
            model_run(&m, now);
            /* what is due now may be left to the marked ACK itself */
            flow_run(&flow, xoff_rng_below(&rng, 2) ? now : now - 1);
            if (flow.answer.deadline > now)
                assert_int_equal(flow.answer.rate_bps, (xoff_rate)(m.rate + 0.5));
            const bool is_marked = xoff_rng_below(&rng, 4) > 0;
            flow_ack(&flow, is_marked, now);
            if (!is_marked)
                continue;
            model_mark(&m, now);
            assert_true(flow.answer.deadline > now);
            assert_int_equal(flow.answer.rate_bps, (xoff_rate)(m.rate + 0.5));
            assert_memory_equal(&m.rate, flow.state, sizeof m.rate);
        }
        assert_true(flow.n_expired <= m.n_changes);
    }
}

static void defaults_follow_the_rate(void **unused)
{
    (void)unused;
    static const xoff_rate rates[] = {25 * XOFF_GBPS, 100 * XOFF_GBPS, 400 * XOFF_GBPS};
    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++) {
        struct flow flow;
        const xoff_rate ai = rates[i] / 25000 * 5, hai = 10 * ai, floor = rates[i] / 100;
        flow_setup(&flow, rates[i]);
        flow_set(&flow, "alpha_interval", "1s");
        flow_set(&flow, "clamp_target", "true");
        flow_start(&flow);
        for (int k = 0; k < 12; k++)
            flow_mark(&flow, k * 4 * XOFF_US + k * XOFF_NS);
        flow_run(&flow, 50 * XOFF_US); /* last check at 48.001 us: RC = RT = floor */
        assert_int_equal(flow.answer.rate_bps, floor);
        flow_run(&flow, 348001 * XOFF_NS);
        assert_int_equal(flow.answer.rate_bps, floor);
        flow_run(&flow, 648001 * XOFF_NS); /* RT = floor + ai */
        assert_int_equal(flow.answer.rate_bps, floor + ai / 2);
        flow_run(&flow, 948001 * XOFF_NS); /* RT = floor + ai + hai */
        assert_int_equal(flow.answer.rate_bps, floor + ai / 4 + (ai + hai) / 2);
    }
}

static void assert_set_refused(const char *name, const char *text)
{
    struct flow flow;
    struct xoff_err err;
    flow_setup(&flow, 100 * XOFF_GBPS);
    assert_int_equal(
        xoff_param_set(xoff_param_find(xoff_rp_dcqcn_nic.params, name), flow.params, text, &err),
        -XOFF_E_RANGE);
}

/* Values that do not come from text are looked at as well. */
static void assert_value_refused(const char *name, int64_t value, double real)
{
    struct flow flow;
    struct xoff_err err;
    const struct xoff_param *p = xoff_param_find(xoff_rp_dcqcn_nic.params, name);
    assert_non_null(p);
    flow_setup(&flow, 100 * XOFF_GBPS);
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
    assert_set_refused("decrease_interval", "0s");
    assert_set_refused("fast_recovery", "1001");
    assert_set_refused("min_rate", "0bps");
    assert_set_refused("first_rate", "1.1");
    assert_value_refused("gain", 0, 0);
    assert_value_refused("gain", 0, 1.0000001);
    assert_value_refused("gain", 0, __builtin_nan(""));
    assert_value_refused("first_rate", 0, 0);
    assert_value_refused("first_rate", 0, 1.0000001);
    assert_value_refused("timer", 0, 0);
    assert_value_refused("alpha_interval", 0, 0);
    assert_value_refused("decrease_interval", 0, 0);

    flow_setup(&flow, 100 * XOFF_GBPS);
    flow_set(&flow, "gain", "1");
    flow_set(&flow, "min_rate", "100Gbps");
    flow_start(&flow);
    flow_set(&flow, "min_rate", "100000000001bps");
    assert_int_equal(flow_configure(&flow, &err), -XOFF_E_CONFLICT);
    assert_string_equal(err.subject, "min_rate");
    assert_non_null(strstr(err.message, "100Gbps"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_marks_start_anything),
        cmocka_unit_test(worked_example),
        cmocka_unit_test(stage_boundaries),
        cmocka_unit_test(clamp_target),
        cmocka_unit_test(marks_and_checks_at_one_instant),
        cmocka_unit_test(increase_and_check_at_one_instant),
        cmocka_unit_test(alpha_before_check),
        cmocka_unit_test(first_mark_scales_the_rate),
        cmocka_unit_test(floor_and_cap),
        cmocka_unit_test(timers_stop_at_line_rate),
        cmocka_unit_test(equals_the_model_that_runs_every_event),
        cmocka_unit_test(defaults_follow_the_rate),
        cmocka_unit_test(refusals),
    };
    return cmocka_run_group_tests_name("dcqcn_nic", tests, NULL, NULL);
}
