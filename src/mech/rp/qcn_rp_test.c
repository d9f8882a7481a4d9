/* QCN's reaction point: hand-worked steps of each phase, creation and deletion of the limiter, both
 * counts of plain halvings, and random notifications against a slow model of the state machine. */
#include "mech/rp/flow_testing.h"

extern const struct xoff_rp_ops xoff_rp_qcn;

#define LINE (10 * XOFF_GBPS)

static void setup(struct tested_flow *f)
{
    flow_setup(f, &xoff_rp_qcn, LINE);
}

static xoff_rate cnm(struct tested_flow *f, int32_t quantised, xoff_time now)
{
    const struct xoff_notice notice = {.kind = XOFF_NOTICE_QCN, .feedback = -quantised};
    xoff_rp_qcn.on_notice(f->cfg, f->state, &notice, now, &f->answer);
    return f->answer.rate_bps;
}

static xoff_rate send(struct tested_flow *f, uint32_t bytes, xoff_time now)
{
    xoff_rp_qcn.on_sent(f->cfg, f->state, bytes, now, &f->answer);
    return f->answer.rate_bps;
}

static xoff_rate expire(struct tested_flow *f, xoff_time now)
{
    assert_true(f->answer.deadline <= now);
    xoff_rp_qcn.expire(f->cfg, f->state, now, &f->answer);
    assert_true(f->answer.deadline > now);
    return f->answer.rate_bps;
}

/* Until the first notification there is no limiter, no deadline, and nothing is counted. The first
 * finds CR = TR = 10 Gb/s: Q 1 leaves 127/128, Q 63 leaves 65/128. Feedback of 0, or of another
 * scheme, is nothing. */
static void first_notification(void **unused)
{
    (void)unused;
    struct tested_flow f;
    setup(&f);
    flow_start(&f);
    assert_true(f.answer.rate_bps == XOFF_RP_LINE_RATE && f.answer.deadline == XOFF_NEVER);
    assert_true(f.answer.window_bytes == XOFF_RP_NO_WINDOW);
    assert_true(send(&f, 1000000, 0) == XOFF_RP_LINE_RATE);
    assert_true(cnm(&f, 0, 0) == XOFF_RP_LINE_RATE);
    const struct xoff_notice other = {.kind = XOFF_NOTICE_QCN + 1, .feedback = -9};
    xoff_rp_qcn.on_notice(f.cfg, f.state, &other, 0, &f.answer);
    assert_true(f.answer.rate_bps == XOFF_RP_LINE_RATE);
    assert_int_equal(cnm(&f, 1, 5), UINT64_C(9921875000));
    assert_int_equal(f.answer.deadline, 15 * XOFF_MS + 5);
    flow_start(&f);
    assert_int_equal(cnm(&f, 63, 5), UINT64_C(5078125000));
}

/* With Gd 1/64, Q 31 leaves 33/64, Q 32 one half, and no more is ever cut; a least factor of 3/4
 * stops at Q 16. */
static void least_factor(void **unused)
{
    (void)unused;
    static const struct {
        const char *factor;
        int32_t quantised;
        xoff_rate rate_bps;
    } cases[] = {{"0.5", 31, UINT64_C(5156250000)}, {"0.5", 32, UINT64_C(5000000000)},
                 {"0.5", 33, UINT64_C(5000000000)}, {"0.5", 63, UINT64_C(5000000000)},
                 {"3/4", 15, UINT64_C(7656250000)}, {"3/4", 16, UINT64_C(7500000000)},
                 {"3/4", 17, UINT64_C(7500000000)}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct tested_flow f;
        setup(&f);
        flow_set(&f, "gd", "1/64");
        flow_set(&f, "min_factor", cases[i].factor);
        flow_start(&f);
        assert_int_equal(cnm(&f, cases[i].quantised, 0), cases[i].rate_bps);
    }
}

static void least_rate(void **unused)
{
    (void)unused;
    struct tested_flow f;
    setup(&f);
    flow_start(&f);
    xoff_rate rate_bps = 0;
    for (uint32_t i = 0; i < 30; i++)
        rate_bps = cnm(&f, 63, i);
    assert_int_equal(rate_bps, 5 * XOFF_MBPS);
    setup(&f);
    flow_set(&f, "min_rate", "10Gbps");
    flow_start(&f);
    assert_int_equal(cnm(&f, 63, 0), LINE);
    flow_set(&f, "min_rate", "10000000001bps");
    expect_refused(&f, XOFF_E_CONFLICT, "min_rate", "at most that of its link");
}

/* TR 10, CR 5 Gb/s (least factor 1/2, Gd 1): each halving adds half of what is missing. Four are
 * plain; the fifth would add R_AI to TR, which is at the link's rate. */
static void start_at_half(struct tested_flow *f)
{
    setup(f);
    flow_set(f, "gd", "1");
    flow_set(f, "ai", "1Gbps");
    flow_set(f, "hai", "2Gbps");
}

/* A limiter ends when its rate comes closer than a unit (1 Mb/s) to the link's. On a link of 1024
 * Mb/s halvings lead from 512 over 768, 896, ... to 1022, 1023, which is a whole unit away, and
 * past 1023.5, which is not. */
static void the_limiter_ends_within_a_unit(void **unused)
{
    (void)unused;
    struct tested_flow f;
    flow_setup(&f, &xoff_rp_qcn, 1024 * XOFF_MBPS);
    flow_set(&f, "gd", "1");
    flow_start(&f);
    assert_int_equal(cnm(&f, 1, 0), 512 * XOFF_MBPS);
    xoff_rate last_bps = 0;
    for (uint32_t i = 0; f.answer.rate_bps != XOFF_RP_LINE_RATE; i++) {
        assert_true(i < 10000);
        last_bps = f.answer.rate_bps;
        send(&f, 1500, 1);
    }
    assert_int_equal(last_bps, 1023 * XOFF_MBPS);
    assert_int_equal(f.answer.deadline, XOFF_NEVER);
}

/* A second notification within the first cycle leaves TR at 10 Gb/s, as the byte counter has not
 * expired: CR 5, 2.5. Had it expired, TR were CR. From 2.5: 6.25, 8.125, 9.0625, 9.53125. */
static void target_without_a_cycle(void **unused)
{
    (void)unused;
    struct tested_flow f;
    start_at_half(&f);
    flow_start(&f);
    assert_int_equal(cnm(&f, 1, 0), 5 * XOFF_GBPS);
    assert_int_equal(send(&f, 149999, 1), 5 * XOFF_GBPS);
    assert_int_equal(cnm(&f, 1, 2), UINT64_C(2500000000));
    /* The byte counter was not reloaded either: one byte more is a cycle. */
    assert_int_equal(send(&f, 1, 3), UINT64_C(6250000000));
    assert_int_equal(send(&f, 149999, 4), UINT64_C(6250000000));
    assert_int_equal(send(&f, 1, 5), UINT64_C(8125000000));
    /* The timer was restarted by the second one. */
    assert_int_equal(f.answer.deadline, 15 * XOFF_MS + 2);
    assert_int_equal(expire(&f, 15 * XOFF_MS + 2), UINT64_C(9062500000));
    /* Now a cycle is over: TR = CR = 9.0625, halved, and halfway back. */
    send(&f, 149999, 15 * XOFF_MS + 3);
    assert_int_equal(cnm(&f, 1, 15 * XOFF_MS + 4), UINT64_C(4531250000));
    assert_int_equal(send(&f, 149999, 15 * XOFF_MS + 5), UINT64_C(4531250000)); /* reloaded */
    assert_int_equal(send(&f, 1, 15 * XOFF_MS + 6), UINT64_C(6796875000));
}

/* A timer cycle alone does not make TR = CR: only the byte stage counts. */
static void target_after_a_timer_cycle(void **unused)
{
    (void)unused;
    struct tested_flow f;
    start_at_half(&f);
    flow_start(&f);
    cnm(&f, 1, 0);
    assert_int_equal(expire(&f, 15 * XOFF_MS), UINT64_C(7500000000));
    assert_int_equal(cnm(&f, 1, 15 * XOFF_MS + 1), UINT64_C(3750000000));
    assert_int_equal(send(&f, 150000, 15 * XOFF_MS + 2),
                     UINT64_C(6875000000)); /* (3.75 + 10) / 2 */
}

/* Brings a flow to TR = CR = 4 Gb/s or so with TR well below the link: two notifications with a
 * cycle between. 10 -> 5; byte cycle: 7.5; TR = 7.5, CR = 3.75; byte cycle 5.625; TR = 5.625, CR =
 * 2.8125, stages 0. */
static xoff_time lower(struct tested_flow *f)
{
    cnm(f, 1, 0);
    send(f, 150000, 1);
    cnm(f, 1, 2);
    send(f, 150000, 3);
    assert_int_equal(cnm(f, 1, 4), UINT64_C(2812500000));
    return 4;
}

/* The byte counter alone. TR 5.625, CR 2.8125 in Gb/s:
 *   stages 1 .. 4 plain: missing 2.8125 / 16 = 0.17578125 -> CR 5.44921875
 *   standard: stage 5 adds R_AI 1: TR 6.625, CR 6.037109375
 *   prose: stage 5 plain: CR 5.537109375; stage 6: TR 6.625, CR 6.0810546875. */
static void plain_halvings(void **unused)
{
    (void)unused;
    for (uint32_t prose = 0; prose < 2; prose++) {
        struct tested_flow f;
        start_at_half(&f);
        if (prose)
            flow_set(&f, "recovery", "prose");
        flow_start(&f);
        lower(&f);
        for (uint32_t i = 0; i < 4; i++)
            send(&f, 150000, 5);
        assert_int_equal(f.answer.rate_bps, UINT64_C(5449218750));
        send(&f, 150000, 6);
        if (prose) {
            assert_int_equal(f.answer.rate_bps, UINT64_C(5537109375));
            send(&f, 150000, 7);
            assert_int_equal(f.answer.rate_bps, UINT64_C(6081054687)); /* cut to whole bits */
        } else {
            assert_int_equal(f.answer.rate_bps, UINT64_C(6037109375));
        }
    }
}

/* With threshold 1 the first expiry of each already increases. R_AI 0.1, R_HAI 0.25 Gb/s, TR 5.625,
 * CR 2.8125 Gb/s at first:
 *   byte 1, time 0: active, TR 5.725, CR 4.26875
 *   byte 2: still active, TR 5.825, CR 5.046875
 *   timer 1: both have reached 1: hyper, step 0.25 (1 - 1 + 1): TR 6.075, CR 5.5609375
 *   byte 3 after the usual 150000 B: min 1, TR 6.325, CR 5.94296875; the next needs 75000 B
 *   timer 2 after the usual 15 ms: min 2, TR 6.825, CR 6.383984375; the next after 7.5 ms. */
static void phases(void **unused)
{
    (void)unused;
    struct tested_flow f;
    start_at_half(&f);
    flow_set(&f, "threshold", "1");
    flow_set(&f, "ai", "0Mbps");
    flow_set(&f, "hai", "250Mbps");
    flow_start(&f);
    /* lower() would increase here, so the least steps are taken by hand: R_AI 0 keeps TR. */
    const xoff_time at = lower(&f);
    flow_set(&f, "ai", "100Mbps");
    struct xoff_err err;
    assert_int_equal(flow_configure(&f, &err), 0); /* the state stays */
    assert_int_equal(send(&f, 150000, 5), UINT64_C(4268750000));
    assert_int_equal(send(&f, 150000, 6), UINT64_C(5046875000));
    send(&f, 149999, 7);
    assert_int_equal(expire(&f, at + 15 * XOFF_MS), UINT64_C(5560937500));
    assert_int_equal(f.answer.deadline, at + 30 * XOFF_MS);
    assert_int_equal(send(&f, 1, at + 15 * XOFF_MS), UINT64_C(5942968750));
    send(&f, 74999, at + 16 * XOFF_MS);
    assert_int_equal(f.answer.rate_bps, UINT64_C(5942968750));
    assert_int_equal(expire(&f, at + 30 * XOFF_MS), UINT64_C(6383984375));
    assert_int_equal(f.answer.deadline, at + 30 * XOFF_MS + 7500 * XOFF_US);
    assert_int_equal(send(&f, 1, at + 31 * XOFF_MS), UINT64_C(6854492187)); /* TR 7.325 */
}

/* In active increase a byte expiry does not look whether hyper is due, a timer expiry does: with
 * the timer's stage at N first, the byte counter's N-th expiry comes in active increase. Threshold
 * 2, R_AI 0.1, R_HAI 1 Gb/s, TR 5.625, CR 2.8125:
 *   timer 1 plain: CR 4.21875; timer 2 selects active: TR 5.725, CR 4.971875
 *   byte 1 active: TR 5.825, CR 5.3984375; byte 2 makes both 2, and is active all the same:
 *   TR 5.925, CR 5.66171875; timer 3 looks: hyper, min 2, step 1: TR 6.925, CR 6.293359375. */
static void active_increase_is_asymmetric(void **unused)
{
    (void)unused;
    struct tested_flow f;
    start_at_half(&f);
    flow_set(&f, "threshold", "2");
    flow_set(&f, "ai", "100Mbps");
    flow_set(&f, "hai", "1Gbps");
    flow_start(&f);
    const xoff_time at = lower(&f);
    assert_int_equal(expire(&f, at + 15 * XOFF_MS), UINT64_C(4218750000));
    assert_int_equal(expire(&f, at + 30 * XOFF_MS), UINT64_C(4971875000));
    assert_int_equal(send(&f, 150000, at + 31 * XOFF_MS), UINT64_C(5398437500));
    assert_int_equal(send(&f, 150000, at + 32 * XOFF_MS), UINT64_C(5661718750));
    assert_int_equal(expire(&f, at + 45 * XOFF_MS), UINT64_C(6293359375));
}

/* TR 10, CR c: a first stage divides TR by 8 if TR > 10 CR, and adds nothing. Least factor 0.1 with
 * Gd 1 gives CR exactly 1 Gb/s, so TR = 10 CR and the rule does not hold: CR 5.5. With 0.0999 it
 * does: TR 1.25, CR (0.999 + 1.25) / 2. */
static void far_target(void **unused)
{
    (void)unused;
    struct tested_flow f;
    setup(&f);
    flow_set(&f, "gd", "1");
    flow_set(&f, "min_factor", "1/8"); /* a whole number of 2^-32: 1.25 Gb/s */
    flow_start(&f);
    assert_int_equal(cnm(&f, 1, 0), UINT64_C(1250000000));
    assert_int_equal(send(&f, 150000, 1), UINT64_C(5625000000));
    setup(&f);
    flow_set(&f, "gd", "1");
    flow_set(&f, "min_factor", "0.01");
    flow_set(&f, "min_rate", "1Gbps");
    flow_start(&f);
    assert_int_equal(cnm(&f, 1, 0), XOFF_GBPS);
    assert_int_equal(send(&f, 150000, 1), UINT64_C(5500000000)); /* TR = 10 CR */
    flow_set(&f, "min_rate", "999999999bps");
    flow_start(&f);
    assert_int_equal(cnm(&f, 1, 0), UINT64_C(999999999));
    assert_int_equal(send(&f, 150000, 1), UINT64_C(1124999999)); /* TR 1.25 */
    /* The timer's first stage divides, too; a second stage of the same counter does not. */
    flow_start(&f);
    cnm(&f, 1, 0);
    assert_int_equal(expire(&f, 15 * XOFF_MS), UINT64_C(1124999999));
    assert_int_equal(expire(&f, 30 * XOFF_MS), UINT64_C(1187499999));
}

/* CR 10 Gb/s less m is back when m < 1 Mb/s. From m = 5 Gb/s: after 12 halvings 1.22 Mb/s are
 * missing, after 13 0.61. */
static void the_limiter_is_deleted(void **unused)
{
    (void)unused;
    struct tested_flow f;
    start_at_half(&f);
    flow_start(&f);
    cnm(&f, 1, 0);
    for (uint32_t i = 0; i < 12; i++)
        send(&f, 150000, 1);
    assert_true(f.answer.rate_bps > LINE - 2 * XOFF_MBPS && f.answer.rate_bps < LINE - XOFF_MBPS);
    assert_true(f.answer.deadline != XOFF_NEVER);
    assert_true(send(&f, 150000, 1) == XOFF_RP_LINE_RATE);
    assert_true(f.answer.deadline == XOFF_NEVER);
    send(&f, 1000000, 2);
    assert_true(f.answer.rate_bps == XOFF_RP_LINE_RATE);
    /* The next notification makes a new one, which counts from the beginning. */
    assert_int_equal(cnm(&f, 1, 3), 5 * XOFF_GBPS);
    send(&f, 149999, 4);
    assert_int_equal(f.answer.rate_bps, 5 * XOFF_GBPS);
    assert_int_equal(send(&f, 1, 4), UINT64_C(7500000000));
}

/* An idle flow catches up: five expiries late, all at once. From CR 5, TR 10: 10 - 5 / 2^4 after
 * four, the fifth in active increase with TR at the link: 10 - 5 / 2^5. */
static void an_idle_flow_catches_up(void **unused)
{
    (void)unused;
    struct tested_flow f;
    start_at_half(&f);
    flow_start(&f);
    cnm(&f, 1, 0);
    assert_int_equal(expire(&f, 75 * XOFF_MS), UINT64_C(9843750000));
    assert_int_equal(f.answer.deadline, 90 * XOFF_MS);
    assert_true(expire(&f, 10 * XOFF_S) == XOFF_RP_LINE_RATE);
    assert_true(f.answer.deadline == XOFF_NEVER);
}

static void what_is_refused(void **unused)
{
    (void)unused;
    struct tested_flow f;
    struct xoff_err err;
    static const struct {
        const char *name, *good, *bad;
    } ranges[] = {{"timer", "1ns", "0s"},       {"byte_counter", "64B", "63B"},
                  {"threshold", "1", "0"},      {"gd", "1", "1.01"},
                  {"min_factor", "0.01", "0"},  {"min_factor", "1", "1.01"},
                  {"min_rate", "1bps", "0bps"}, {"jitter", "0.99", "1"}};
    for (size_t i = 0; i < COUNT(ranges); i++) {
        setup(&f);
        const struct xoff_param *p = xoff_param_find(xoff_rp_qcn.params, ranges[i].name);
        assert_int_equal(xoff_param_set(p, f.params, ranges[i].good, &err), 0);
        expect_accepted(&f);
        assert_true(xoff_param_set(p, f.params, ranges[i].bad, &err) < 0);
    }
}

/* The slow model: the machine as a table of what each expiry does, every expiry an event of its
 * own, counters that count up, rates by division. */
enum model_state { FAST_RECOVERY, ACTIVE_INCREASE, HYPER_INCREASE };
struct model {
    bool exists;
    enum model_state state;
    uint64_t cr, tr;
    uint64_t counted_bytes, limit_bytes;
    xoff_time since, timeout;
    uint64_t bytes_stage, timer_stage;
    uint64_t n;
    struct xoff_rng rng;
    double jitter;
    uint32_t n_steps[3];
};

/* The same draws in the same order; the factor is rounded as a 32-bit fraction. */
static uint64_t model_reload(struct model *m, uint64_t usual)
{
    if (m->jitter == 0)
        return usual;
    const unsigned __int128 one = UINT64_C(1) << 32, j = (uint64_t)(m->jitter * 4294967296.0);
    const unsigned __int128 factor = one - j + 2 * j * xoff_rng_u32(&m->rng) / one;
    return (uint64_t)(usual * factor / one);
}

static void model_step(struct model *m, uint64_t step)
{
    m->n_steps[m->state]++;
    const bool is_first = m->bytes_stage == 1 || m->timer_stage == 1;
    if (is_first && m->tr > m->cr * 10)
        m->tr = m->tr / 8;
    else
        m->tr = m->tr + step;
    if (m->tr > LINE)
        m->tr = LINE;
    m->cr = (m->cr + m->tr) / 2;
    m->exists = LINE - m->cr >= 1000000;
}

static void model_increase(struct model *m, bool by_timer)
{
    const bool was_hyper = m->state == HYPER_INCREASE, was_active = m->state == ACTIVE_INCREASE;
    uint64_t *stage = by_timer ? &m->timer_stage : &m->bytes_stage;
    *stage = *stage + 1;
    if (by_timer) {
        m->since += m->timeout;
        m->timeout = (xoff_time)model_reload(m, 15000000000u / (was_hyper ? 2 : 1));
    } else {
        m->counted_bytes = 0;
        m->limit_bytes = model_reload(m, 150000u / (was_hyper ? 2 : 1));
    }
    if (m->state == FAST_RECOVERY && *stage < m->n) {
        model_step(m, 0);
        return;
    }
    const uint64_t low = m->bytes_stage < m->timer_stage ? m->bytes_stage : m->timer_stage;
    if (low >= m->n && !(was_active && !by_timer)) {
        m->state = HYPER_INCREASE;
        model_step(m, 50000000 * (low - m->n + 1));
    } else {
        m->state = ACTIVE_INCREASE;
        model_step(m, 5000000);
    }
}

static void model_run_to(struct model *m, xoff_time now)
{
    while (m->exists && m->since + m->timeout <= now)
        model_increase(m, true);
}

static void model_cnm(struct model *m, uint64_t quantised, xoff_time now)
{
    model_run_to(m, now);
    m->state = FAST_RECOVERY;
    if (!m->exists) {
        m->exists = true;
        m->cr = m->tr = LINE;
        m->counted_bytes = 0;
        m->limit_bytes = model_reload(m, 150000);
    } else if (m->bytes_stage > 0) {
        m->tr = m->cr;
        m->counted_bytes = 0;
        m->limit_bytes = model_reload(m, 150000);
    }
    m->bytes_stage = m->timer_stage = 0;
    m->cr = (uint64_t)((unsigned __int128)m->cr * (128 - quantised) / 128);
    if (m->cr < 5000000)
        m->cr = 5000000;
    m->since = now;
    m->timeout = (xoff_time)model_reload(m, 15000000000u);
}

static void model_sent(struct model *m, uint32_t bytes, xoff_time now)
{
    if (!m->exists)
        return;
    m->counted_bytes += bytes;
    if (m->counted_bytes < m->limit_bytes)
        return;
    model_run_to(m, now);
    if (m->exists)
        model_increase(m, false);
}

/* Notifications come in bursts with pauses of random length between, so that every phase is seen;
 * the frames are those of a sender that keeps to the rate. */
static void random_notifications(void **unused)
{
    (void)unused;
    uint32_t n_steps[3] = {0}, n_deleted = 0;
    for (uint32_t seed = 1; seed <= 60; seed++) {
        struct tested_flow f;
        struct xoff_rng rng;
        xoff_rng_init(&rng, seed, 1, 2);
        setup(&f);
        const bool is_prose = seed % 2, is_jittered = seed % 3 == 0;
        flow_set(&f, "recovery", is_prose ? "prose" : "standard");
        flow_set(&f, "jitter", is_jittered ? "0.15" : "0");
        f.flow.seed = seed;
        flow_start(&f);
        struct model m = {.n = is_prose ? 6 : 5, .jitter = is_jittered ? 0.15 : 0};
        xoff_rng_init(&m.rng, seed, 0, 0);
        xoff_time now = 0, next_cnm = 0;
        for (uint32_t i = 0; i < 40000; i++) {
            const uint32_t bytes = 64 + (uint32_t)xoff_rng_below(&rng, 15000);
            const uint64_t bps = m.exists ? m.cr : LINE;
            now += (xoff_time)((unsigned __int128)bytes * 8 * XOFF_S / bps);
            if (!xoff_rng_below(&rng, 5000)) /* idle for a while */
                now += (xoff_time)xoff_rng_below(&rng, 40 * XOFF_MS);
            const bool was = m.exists;
            if (now >= next_cnm) {
                const uint32_t q = 1 + (uint32_t)xoff_rng_below(&rng, 63);
                cnm(&f, (int32_t)q, now);
                model_cnm(&m, q, now);
                next_cnm = now + (xoff_time)xoff_rng_below(
                                     &rng, xoff_rng_below(&rng, 4) ? XOFF_MS : 400 * XOFF_MS);
            } else if (f.answer.deadline <= now && xoff_rng_below(&rng, 2)) {
                expire(&f, now);
                model_run_to(&m, now);
            }
            send(&f, bytes, now);
            model_sent(&m, bytes, now);
            n_deleted += was && !m.exists;
            const xoff_rate expected = m.exists ? m.cr : XOFF_RP_LINE_RATE;
            if (f.answer.rate_bps != expected)
                print_error("seed %u, frame %u\n", seed, i);
            assert_int_equal(f.answer.rate_bps, expected);
            assert_int_equal(f.answer.deadline, m.exists ? m.since + m.timeout : XOFF_NEVER);
        }
        for (uint32_t s = 0; s < 3; s++)
            n_steps[s] += m.n_steps[s];
    }
    assert_true(n_steps[FAST_RECOVERY] > 1000);
    assert_true(n_steps[ACTIVE_INCREASE] > 1000);
    assert_true(n_steps[HYPER_INCREASE] > 1000);
    assert_true(n_deleted > 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(first_notification),
        cmocka_unit_test(least_factor),
        cmocka_unit_test(least_rate),
        cmocka_unit_test(the_limiter_ends_within_a_unit),
        cmocka_unit_test(target_without_a_cycle),
        cmocka_unit_test(target_after_a_timer_cycle),
        cmocka_unit_test(plain_halvings),
        cmocka_unit_test(phases),
        cmocka_unit_test(active_increase_is_asymmetric),
        cmocka_unit_test(far_target),
        cmocka_unit_test(the_limiter_is_deleted),
        cmocka_unit_test(an_idle_flow_catches_up),
        cmocka_unit_test(what_is_refused),
        cmocka_unit_test(random_notifications),
    };
    return cmocka_run_group_tests_name("qcn_rp", tests, NULL, NULL);
}
