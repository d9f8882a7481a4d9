/* FECN's congestion point: queue control functions, order of the update, intervals, tags, severe
 * congestion, what is refused and warned of; the fluid model on both sides of its bound; random
 * loads against a slow model. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <xoff/rng.h>

#include "mech/mechanisms.h"

_Noreturn void xoff_assert_fail(const char *expression, const char *file, int line)
{
    mock_assert(0, expression, file, line);
    abort();
}

#define LINE 10e9          /* b/s */
#define INTERVAL XOFF_MS   /* T */
#define FULL_BYTES 1250000 /* of an interval at the link's rate */
#define FRAME 1500
#define QEQ (16 * FRAME)

/* No average, no gamma, and the capacity of the link: r_new = r f(q) C T / bits. */
#define PLAIN "w 1 gamma 1 capacity nominal "

struct rig {
    struct xoff_cp cp;
    _Alignas(16) unsigned char params[512], cfg[512], state[128];
    struct xoff_cp_load load;
    struct xoff_cp_answer answer;
    struct xoff_err err;
    xoff_time now;
};

/* `settings`: names and values, separated by blanks. Returns what configure() answers. */
static int try(struct rig *r, const char *settings)
{
    const struct xoff_cp_env env = {
        .rate_bps = 10 * XOFF_GBPS, .buffer_bytes = 1000000, .port_id = 5};
    *r = (struct rig){.now = 0};
    assert_true(xoff_cp_fecn.params_size <= sizeof r->params);
    assert_true(xoff_cp_fecn.cfg_size <= sizeof r->cfg);
    xoff_param_defaults(xoff_cp_fecn.params, r->params);
    char text[256];
    snprintf(text, sizeof text, "%s", settings);
    for (char *rest, *name = strtok_r(text, " ", &rest); name; name = strtok_r(NULL, " ", &rest)) {
        const struct xoff_param *p = xoff_param_find(xoff_cp_fecn.params, name);
        assert_non_null(p);
        assert_int_equal(xoff_param_set(p, r->params, strtok_r(NULL, " ", &rest), &r->err), 0);
    }
    r->err = (struct xoff_err){.code = XOFF_E_OK};
    const int code = xoff_cp_configure(&r->cp, &xoff_cp_fecn, r->params, &env, r->cfg, &r->err);
    if (!code) {
        assert_true(r->cp.shape.state_size <= sizeof r->state);
        xoff_cp_init(&r->cp, r->state);
    }
    return code;
}

static void setup(struct rig *r, const char *settings)
{
    assert_int_equal(try(r, settings), 0);
}

/* A frame with a tag of this rate joins; returns the rate it has then. */
static xoff_rate pass(struct rig *r, xoff_rate bps)
{
    const struct xoff_notice tag = {.rate_bps = bps, .kind = XOFF_NOTICE_FECN};
    const struct xoff_cp_frame frame = {.queue_bytes = r->load.queue_bytes,
                                        .bytes = FRAME,
                                        .priority = 3,
                                        .is_data = true,
                                        .tag = &tag,
                                        .load = &r->load};
    xoff_cp_on_enqueue(&r->cp, r->state, &frame, r->now, &r->answer);
    assert_false(r->answer.mark || r->answer.stamp || r->answer.notify);
    if (!r->answer.write)
        return bps;
    assert_int_equal(r->answer.notice.kind, XOFF_NOTICE_FECN);
    assert_int_equal(r->answer.notice.cp_id, 43); /* 5 * 8 + 3 */
    assert_int_equal(r->answer.notice.feedback, 0);
    return r->answer.notice.rate_bps;
}

static xoff_rate rate(struct rig *r)
{
    return pass(r, XOFF_NOTICE_NO_RATE);
}

/* An interval in which so many bytes joined, at whose end so many wait; all that left was sent at
 * the link's rate. */
static void interval(struct rig *r, uint64_t joined, int64_t queue_bytes)
{
    if (xoff_cp_deadline(&r->cp, r->state) == XOFF_NEVER)
        rate(r);
    r->load.joined_bytes += joined;
    r->load.queue_bytes = queue_bytes;
    r->load.sent_bytes = r->load.joined_bytes - (uint64_t)queue_bytes;
    r->load.backlogged_for += INTERVAL;
    r->now = xoff_cp_deadline(&r->cp, r->state);
    xoff_cp_expire(&r->cp, r->state, &r->load, r->now);
}

static bool is_near(double x, double y)
{
    const double scale = x > y ? x : y;
    return x - y <= 1e-7 * scale && y - x <= 1e-7 * scale;
}

static void assert_rate(struct rig *r, double want)
{
    const double got = (double)rate(r);
    if (got - want > 1 + 1e-9 * want || want - got > 1 + 1e-9 * want)
        fail_msg("rate is %.0f, not %.3f", got, want);
}

static struct xoff_cp_view look(const struct rig *r)
{
    struct xoff_cp_view view;
    assert_true(xoff_cp_view(&r->cp, r->state, &view));
    return view;
}

/* At full load r_new = r f(q), from r = 50 Mb/s. Equation 1 with a = 1.002, b = 1.1 and Qeq of 16
 * frames: f(0) = 1.002, f(8) = 16.032 / 16.016, f(16) = 1, f(17) = 17.6 / 17.7, f(80) = 17.6 / 24
 * (rho = 1.364, the paper's "about 1.4"), f(100) = 17.6 / 26. */
static void functions(void **unused)
{
    (void)unused;
    static const struct {
        const char *settings;
        double frames, f;
    } cases[] = {
        {"", 0, 1.002},
        {"", 8, 16.032 / 16.016},
        {"", 16, 1},
        {"", 17, 17.6 / 17.7},
        {"", 80, 17.6 / 24},
        {"", 100, 17.6 / 26},
        {"c 0.677", 100, 0.677},      /* just above 17.6 / 26 = 0.67692 */
        {"c 0.6769", 100, 17.6 / 26}, /* just below */
        {"function linear", 16, 1},
        {"function linear", 32, 0.94},
        {"function linear", 0, 1.002},
        {"function linear k_below 0.06", 0, 1.06},
        {"function linear k 0.00375", 24, 1 - 0.001875},
        {"function linear k 0.899", 32, 0.101},
        {"function linear k 0.901", 32, 0.1}, /* c */
        {"function linear k 5", 64, 0.1},
        {"function multistage", 16, 1},
        {"function multistage", 32, 0.998}, /* 1 - k */
        {"function multistage", 40, 0.996}, /* and half of 2 k */
        {"function multistage", 48, 0.994},
        {"function multistage", 64, 0.990}, /* the second stage goes on */
        {"function multistage stages 3", 48, 0.994},
        {"function multistage stages 3", 64, 0.988}, /* and 3 k */
        {"function multistage stages 3", 80, 0.982},
        {"function multistage stages 1", 80, 0.992}, /* linear */
        {"function multistage", 0, 1.002},
        /* Equation 5 at A = C: 1 - beta (q - Qeq) / (C T), a frame being 0.0012 of C T. */
        {"function additive beta 2", 16, 1},
        {"function additive beta 2", 26, 1 - 2 * 0.012},
        {"function additive beta 2", 6, 1 + 2 * 0.012},
        {"function additive", 17, 1 - 1 / 176.}, /* auto: the hyperbola's tangent, 0.1 / 1.1 / 16 */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct rig r;
        char settings[128];
        snprintf(settings, sizeof settings, PLAIN "%s", cases[i].settings);
        setup(&r, settings);
        assert_rate(&r, 50e6);
        interval(&r, FULL_BYTES, (int64_t)(cases[i].frames * FRAME));
        assert_rate(&r, 50e6 * cases[i].f);
        const struct xoff_cp_view view = look(&r);
        assert_true(is_near(view.control, cases[i].f) && is_near(view.load, 1 / cases[i].f));
    }
}

/* What results show: nothing but the first rate before an interval has ended and after an idle one.
 * At 1.5 of C and a queue of 80 frames, rho = 1.5 / (0.7333 * 0.99) = 2.0661, before the average.
 */
static void views(void **unused)
{
    (void)unused;
    struct rig r;
    setup(&r, "capacity nominal");
    struct xoff_cp_view view = look(&r);
    assert_true(view.rate_bps == 50e6 && view.load == 0 && view.control == 0);
    interval(&r, FULL_BYTES * 3 / 2, 80 * FRAME);
    view = look(&r);
    const double f = 17.6 / 24, rho = 1.5 / (f * 0.99);
    assert_true(is_near(view.control, f) && is_near(view.load, rho));
    assert_true(is_near(view.rate_bps, 0.5 * 50e6 / rho + 0.5 * 50e6));
    interval(&r, 0, 0);
    view = look(&r);
    assert_true(view.rate_bps == 50e6 && view.load == 0 && view.control == 0);
    /* Equation 5 at twice C and beta 0 asks for nothing: the rate is the floor, and no load says
     * so. */
    setup(&r, PLAIN "function additive beta 0");
    interval(&r, FULL_BYTES * 2, QEQ);
    view = look(&r);
    assert_true(view.rate_bps == 1e6 && view.load == 0 && view.control == 0);
    /* A point that computes no rate has none to show. */
    r.cp.ops = &xoff_cp_none;
    assert_false(xoff_cp_view(&r.cp, r.state, &view));
}

/* Half the load doubles the rate, twice the load halves it; what comes out is at most C. */
static void load_and_limits(void **unused)
{
    (void)unused;
    struct rig r;
    setup(&r, PLAIN);
    interval(&r, FULL_BYTES / 2, QEQ);
    assert_rate(&r, 100e6);
    interval(&r, FULL_BYTES * 2, QEQ);
    assert_rate(&r, 50e6);
    interval(&r, FULL_BYTES / 200 + 10, QEQ); /* 6260 B: 50e6 * 1250000 / 6260, still below C */
    assert_rate(&r, 50e6 * 1250000 / 6260);
    interval(&r, 1, QEQ);
    assert_rate(&r, LINE);
    /* The floor: with c = 0.1 a full queue takes nine tenths each time. */
    setup(&r, PLAIN "function linear k 5 min_rate 6Mbps");
    interval(&r, FULL_BYTES, 900000);
    assert_rate(&r, 6e6);
    interval(&r, FULL_BYTES, 900000);
    assert_rate(&r, 6e6);
    interval(&r, FULL_BYTES / 2, QEQ);
    assert_rate(&r, 12e6);
    /* The first rate is not below the floor either. */
    setup(&r, PLAIN "n0 10001");
    assert_rate(&r, 1e6);
    setup(&r, PLAIN "n0 9999");
    assert_rate(&r, LINE / 9999);
    setup(&r, PLAIN "n0 1");
    assert_rate(&r, LINE);
    /* Equation 5: spare capacity counts in full, or by alpha. */
    setup(&r, PLAIN "function additive beta 2");
    interval(&r, FULL_BYTES / 2, QEQ);
    assert_rate(&r, 75e6);
    setup(&r, PLAIN "function additive beta 2 alpha 0.5");
    interval(&r, FULL_BYTES / 2, QEQ);
    assert_rate(&r, 62.5e6);
}

/* w = 0.5: the mean with the last rate, taken after the limit by C. */
static void average(void **unused)
{
    (void)unused;
    struct rig r;
    setup(&r, "gamma 1 capacity nominal");
    interval(&r, FULL_BYTES / 2, QEQ); /* 100 and 50 */
    assert_rate(&r, 75e6);
    interval(&r, FULL_BYTES, QEQ);
    assert_rate(&r, 75e6);
    interval(&r, 1, QEQ); /* C and 75 Mb/s */
    assert_rate(&r, (LINE + 75e6) / 2);
    setup(&r, "gamma 1 capacity nominal w 0.25");
    interval(&r, FULL_BYTES / 2, QEQ);
    assert_rate(&r, 0.25 * 100e6 + 0.75 * 50e6);
}

static void gamma_above(void **unused)
{
    (void)unused;
    struct rig r;
    setup(&r, "w 1 capacity nominal k 0 function linear");
    assert_string_equal(r.err.subject, "k"); /* no weight: a warning */
    interval(&r, FULL_BYTES, QEQ);
    assert_rate(&r, 50e6);
    interval(&r, FULL_BYTES, QEQ + 1);
    assert_rate(&r, 49.5e6);
    interval(&r, FULL_BYTES, 0); /* f(0) = 1.002 */
    assert_rate(&r, 49.5e6 * 1.002);
    setup(&r, "w 1 capacity nominal k 0 function linear gamma_at always gamma 0.98");
    interval(&r, FULL_BYTES, QEQ);
    assert_rate(&r, 49e6);
}

/* A link that is paused half of the time, or shared, has half the capacity; one that idles half of
 * the time has all of it. */
static void capacity(void **unused)
{
    (void)unused;
    static const struct {
        uint64_t sent;
        xoff_time backlogged_for;
        double want; /* of r = 50 Mb/s, when 625000 B joined and nothing waits: f = 1.002 */
    } cases[] = {
        {625000, XOFF_MS, 50e6 * 1.002},      /* 5 Gb/s were there, 5 Gb/s came */
        {625000, XOFF_MS / 2, 100e6 * 1.002}, /* 10 Gb/s */
        {625000, XOFF_MS / 4, 100e6 * 1.002}, /* never more than the link */
        {312500, XOFF_MS, 25e6 * 1.002},
        {0, XOFF_MS, 1e6},     /* paused all the time: the floor */
        {0, 0, 100e6 * 1.002}, /* nothing is known */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct rig r;
        setup(&r, "w 1 gamma 1");
        rate(&r);
        r.load.joined_bytes = 625000;
        r.load.sent_bytes = cases[i].sent;
        r.load.backlogged_for = cases[i].backlogged_for;
        xoff_cp_expire(&r.cp, r.state, &r.load, XOFF_MS);
        assert_rate(&r, cases[i].want);
        setup(&r, PLAIN);
        rate(&r);
        r.load.joined_bytes = 625000;
        r.load.sent_bytes = cases[i].sent;
        r.load.backlogged_for = cases[i].backlogged_for;
        xoff_cp_expire(&r.cp, r.state, &r.load, XOFF_MS);
        assert_rate(&r, 100e6 * 1.002);
    }
}

/* An interval begins with a tag; one without arrivals ends them, and the rate is the first again.
 */
static void intervals(void **unused)
{
    (void)unused;
    struct rig r;
    setup(&r, PLAIN "interval 2ms");
    assert_true(xoff_cp_deadline(&r.cp, r.state) == XOFF_NEVER);
    r.now = 700;
    r.load.joined_bytes = r.load.sent_bytes = 123456; /* all before the first tag: not counted */
    rate(&r);
    assert_true(xoff_cp_deadline(&r.cp, r.state) == 2 * XOFF_MS + 700);
    r.now += XOFF_MS;
    rate(&r); /* another tag changes nothing */
    assert_true(xoff_cp_deadline(&r.cp, r.state) == 2 * XOFF_MS + 700);
    interval(&r, 1250000, QEQ); /* half the load of 2 ms */
    assert_rate(&r, 100e6);
    assert_true(xoff_cp_deadline(&r.cp, r.state) == 4 * XOFF_MS + 700);
    interval(&r, 1, QEQ);
    assert_rate(&r, LINE);
    r.now = xoff_cp_deadline(&r.cp, r.state);
    xoff_cp_expire(&r.cp, r.state, &r.load, r.now);
    assert_true(xoff_cp_deadline(&r.cp, r.state) == XOFF_NEVER);
    r.now += 5;
    assert_rate(&r, 50e6);
    assert_true(xoff_cp_deadline(&r.cp, r.state) == r.now + 2 * XOFF_MS);
    /* A link that failed has lost its queue: fewer bytes have joined than before. */
    r.load.joined_bytes--;
    xoff_cp_expire(&r.cp, r.state, &r.load, r.now + 2 * XOFF_MS);
    assert_true(xoff_cp_deadline(&r.cp, r.state) == XOFF_NEVER);
}

static void tags(void **unused)
{
    (void)unused;
    struct rig r;
    setup(&r, "");
    const xoff_rate own = 50 * XOFF_MBPS;
    assert_true(pass(&r, XOFF_NOTICE_NO_RATE) == own && r.answer.write);
    assert_true(pass(&r, own + 1) == own && r.answer.write);
    assert_true(pass(&r, own) == own && !r.answer.write);
    assert_true(pass(&r, own - 1) == own - 1 && !r.answer.write);
    assert_true(pass(&r, 0) == 0 && !r.answer.write);
    /* Another scheme's tag, and no tag, start nothing. */
    setup(&r, "");
    const struct xoff_notice other = {.rate_bps = UINT64_MAX, .kind = XOFF_NOTICE_QCN};
    struct xoff_cp_frame frame = {.is_data = true, .tag = &other, .load = &r.load};
    xoff_cp_on_enqueue(&r.cp, r.state, &frame, 0, &r.answer);
    assert_false(r.answer.write || r.answer.notify);
    frame.tag = NULL;
    xoff_cp_on_enqueue(&r.cp, r.state, &frame, 0, &r.answer);
    assert_false(r.answer.write || r.answer.notify);
    assert_true(xoff_cp_deadline(&r.cp, r.state) == XOFF_NEVER);
    /* A probe without payload is like data. */
    const struct xoff_notice tag = {.rate_bps = UINT64_MAX, .kind = XOFF_NOTICE_FECN};
    frame = (struct xoff_cp_frame){.is_probe = true, .tag = &tag, .load = &r.load};
    xoff_cp_on_enqueue(&r.cp, r.state, &frame, 0, &r.answer);
    assert_true(r.answer.write && r.answer.notice.rate_bps == own);
    const struct xoff_cp_shape *shape = &r.cp.shape;
    assert_true(shape->heeds_tags && shape->sees_load && shape->is_timed && shape->writes);
    assert_true(shape->quiet_below == INT64_MAX && !shape->notifies && shape->skips_dequeue);
}

/* Severe above 100000 B: a message every 15000 B that join, to sources of data without a tag. */
static void severe(void **unused)
{
    (void)unused;
    static const struct {
        int64_t queue_bytes;
        uint64_t joined;
        bool is_data, told;
    } steps[] = {
        {100000, 200000, true, false}, {100001, 200000, false, false},
        {100001, 200000, true, true},  {100001, 214999, true, false},
        {100001, 215000, true, true},  {100001, 215001, true, false},
        {99999, 300000, true, false},  {100001, 300000, true, true},
    };
    struct rig r;
    setup(&r, "severe 100000B n0 100");
    assert_true(r.cp.shape.notifies && r.cp.shape.quiet_below == 100000);
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        r.load.joined_bytes = steps[i].joined;
        const struct xoff_cp_frame frame = {.queue_bytes = steps[i].queue_bytes,
                                            .priority = 3,
                                            .is_data = steps[i].is_data,
                                            .load = &r.load};
        xoff_cp_on_enqueue(&r.cp, r.state, &frame, 0, &r.answer);
        assert_int_equal(r.answer.notify, steps[i].told);
        assert_false(r.answer.write);
        if (!steps[i].told)
            continue;
        assert_int_equal(r.answer.notice.feedback, -1);
        assert_int_equal(r.answer.notice.rate_bps, 100000000);
        assert_int_equal(r.answer.notice.cp_id, 43);
        assert_int_equal(r.answer.notice.kind, XOFF_NOTICE_FECN);
    }
    /* A frame whose tag is lowered needs no message; one whose tag is low gets it. */
    r.load = (struct xoff_cp_load){.queue_bytes = 100001, .joined_bytes = 400000};
    assert_true(pass(&r, XOFF_NOTICE_NO_RATE) == 100000000);
    const struct xoff_notice low = {.rate_bps = 5, .kind = XOFF_NOTICE_FECN};
    const struct xoff_cp_frame frame = {
        .queue_bytes = 100001, .is_data = true, .tag = &low, .load = &r.load};
    xoff_cp_on_enqueue(&r.cp, r.state, &frame, 0, &r.answer);
    assert_true(r.answer.notify && !r.answer.write);
}

/* C T is 1.25 MB: k = 0.0384 has C T k / qeq = 2 at 24000 B, the hyperbola has 4.73. */
static void refused_and_warned(void **unused)
{
    (void)unused;
    static const struct {
        const char *settings, *subject;
        bool is_error;
    } cases[] = {
        {"", "", false},
        {"w 0.5", "", false},    /* 4.73 < 6 */
        {"w 0.59", "", false},   /* 4.73 < 4.78 */
        {"w 0.6", "qeq", false}, /* 4.73 > 4.67 */
        {"w 1", "qeq", false},
        {"w 1 function linear k 0.0383", "", false},
        {"w 1 function linear k 0.0384 qeq 23999B", "qeq", false},
        {"w 1 function linear k 0.0384 qeq 24001B", "", false},
        {"w 1 function multistage stages 3 k 0.0129", "qeq", false},
        {"w 1 function multistage stages 3 k 0.0127", "", false},
        {"w 1 function additive beta 1.99 gamma 1", "", false},
        {"w 1 function additive beta 2 gamma 1", "beta", false},
        {"w 1 function additive beta 1.99 gamma 0.99", "beta", false}, /* 2.01 */
        {"function additive beta 0", "beta", false},
        {"b 1", "b", false},
        {"function multistage k 0", "k", false},
        {"n0 823", "", false}, /* 1518.8 B in an interval */
        {"n0 824", "n0", false},
        {"qeq 1000000B", "", false},
        {"qeq 1000001B", "qeq", true},
        {"gamma 0.95", "gamma", true},
        {"gamma 0.951", "", false},
        {"severe 24000B", "severe", true},
        {"severe 24001B", "", false},
        {"severe 1000000B", "", false},
        {"severe 1000001B", "severe", true},
        {"min_rate 10Gbps", "", false},
        {"min_rate 10000000001bps", "min_rate", true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct rig r;
        const int code = try(&r, cases[i].settings);
        if ((code != 0) != cases[i].is_error || strcmp(r.err.subject, cases[i].subject) != 0)
            fail_msg("%s: %d, %s: %s", cases[i].settings, code, r.err.subject, r.err.message);
        assert_true(code || r.err.code == XOFF_E_OK);
        assert_int_equal(!*r.err.message, !*cases[i].subject);
    }
}

/* Equation 3: N flows that take the rate at once, from a queue of 1 % above Qeq. The deviation dies
 * out below the bound and grows above it. */
static double deviation_after(const char *settings, uint32_t n)
{
    struct rig r;
    setup(&r, settings);
    rate(&r);
    double q = 1.01 * QEQ;
    interval(&r, FULL_BYTES, QEQ); /* r = 50 Mb/s: 200 flows fill the link */
    for (uint32_t i = 0; i < n; i++) {
        const double bytes = 200 * (double)rate(&r) / 8e3;
        interval(&r, (uint64_t)(bytes + 0.5), (int64_t)(q + 0.5));
        q += 200 * (double)rate(&r) / 8e3 - FULL_BYTES;
        if (q < 0 || q > 900000)
            return 1e9;
    }
    return q > QEQ ? q - QEQ : QEQ - q;
}

static void stability(void **unused)
{
    (void)unused;
    static const struct {
        const char *settings;
        bool is_stable;
    } cases[] = {
        /* k = 0.0192 has a gain of 1, of which w = 1 allows 2, and w = 0.5 allows 6. */
        {PLAIN "function linear k_below 0.0192 k 0.0192", true},
        {PLAIN "function linear k_below 0.0365 k 0.0365", true},                         /* 1.90 */
        {PLAIN "function linear k_below 0.0403 k 0.0403", false},                        /* 2.10 */
        {"gamma 1 capacity nominal w 0.5 function linear k_below 0.109 k 0.109", true},  /* 5.68 */
        {"gamma 1 capacity nominal w 0.5 function linear k_below 0.122 k 0.122", false}, /* 6.35 */
        {"gamma 1 capacity nominal w 0.5 function additive beta 5.68", true},
        {"gamma 1 capacity nominal w 0.5 function additive beta 6.35", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const double left = deviation_after(cases[i].settings, 100);
        if (cases[i].is_stable ? left > 24 : left < 2400)
            fail_msg("%s: %g B after 100 intervals", cases[i].settings, left);
    }
}

/* Section IV C: near the equilibrium, equations 5 and 6 differ in the second order only. */
static void equivalence(void **unused)
{
    (void)unused;
    for (int load = -2; load <= 2; load++)
        for (int queue = -2; queue <= 2; queue++) {
            struct rig multiplied, added;
            setup(&multiplied, PLAIN "function linear k 0.0192 k_below 0.0192");
            setup(&added, PLAIN "function additive beta 1");               /* C T k / Qeq = 1 */
            const uint64_t joined = (uint64_t)(FULL_BYTES + load * 12500); /* 1 % each */
            interval(&multiplied, joined, QEQ + queue * 2400);
            interval(&added, joined, QEQ + queue * 2400);
            const double a = (double)rate(&multiplied), b = (double)rate(&added);
            assert_true(a - b < 5e-4 * a && b - a < 5e-4 * a); /* 0.02^2 and a little */
            assert_true((load || queue) == !is_near(a, 50e6) || load == -queue);
        }
}

/* The paper's recursion, step by step in its own order: rho first, then the rate. */
struct model {
    double rate, joined, sent, backlogged;
};

static void model_step(struct model *m, double joined, double sent, double backlogged, double q)
{
    const double arrival = (joined - m->joined) * 8 / 1e-3;
    double c = (sent - m->sent) * 8 / ((backlogged - m->backlogged) / 1e12);
    c = c > LINE ? LINE : c;
    const double factor = q <= QEQ ? 1.002 * QEQ / (0.002 * q + QEQ) : 1.1 * QEQ / (0.1 * q + QEQ);
    const double rho = arrival / ((factor < 0.1 ? 0.1 : factor) * (q > QEQ ? 0.99 * c : c));
    double next = m->rate / rho;
    if (next > c)
        next = c;
    next = (next + m->rate) / 2;
    *m = (struct model){next < 1e6 ? 1e6 : next, joined, sent, backlogged};
}

static void against_a_slow_model(void **unused)
{
    (void)unused;
    const uint64_t seed = 20261116;
    struct xoff_rng rng;
    xoff_rng_init(&rng, seed, 0, 0);
    struct rig r;
    setup(&r, "");
    struct model m = {.rate = 50e6};
    rate(&r);
    for (uint32_t i = 0; i < 20000; i++) {
        const uint64_t joined = 1 + xoff_rng_below(&rng, 3 * FULL_BYTES);
        const int64_t queue_bytes = (int64_t)xoff_rng_below(&rng, 100 * FRAME);
        r.load.joined_bytes += joined;
        r.load.sent_bytes += 1000 + xoff_rng_below(&rng, FULL_BYTES);
        r.load.backlogged_for += 1 + (xoff_time)xoff_rng_below(&rng, (uint64_t)INTERVAL);
        r.load.queue_bytes = queue_bytes;
        r.now = xoff_cp_deadline(&r.cp, r.state);
        xoff_cp_expire(&r.cp, r.state, &r.load, r.now);
        model_step(&m, (double)r.load.joined_bytes, (double)r.load.sent_bytes,
                   (double)r.load.backlogged_for, (double)queue_bytes);
        const double got = (double)rate(&r);
        if (got - m.rate > 2 + 1e-6 * m.rate || m.rate - got > 2 + 1e-6 * m.rate)
            fail_msg("seed %llu, interval %u: %.0f, not %.1f", (unsigned long long)seed, i, got,
                     m.rate);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions),
        cmocka_unit_test(views),
        cmocka_unit_test(load_and_limits),
        cmocka_unit_test(average),
        cmocka_unit_test(gamma_above),
        cmocka_unit_test(capacity),
        cmocka_unit_test(intervals),
        cmocka_unit_test(tags),
        cmocka_unit_test(severe),
        cmocka_unit_test(stability),
        cmocka_unit_test(refused_and_warned),
        cmocka_unit_test(equivalence),
        cmocka_unit_test(against_a_slow_model),
    };
    return cmocka_run_group_tests_name("fecn_cp", tests, NULL, NULL);
}
