/* NewReno: growth on both sides of ssthresh, losses, timeouts, marks, and random lives of a flow
 * against a model that counts byte by byte. */
#include "mech/rp/flow_testing.h"

extern const struct xoff_rp_ops xoff_rp_newreno;

static const struct xoff_rp_ack plain = {.is_window_bound = true};
static const struct xoff_rp_ack marked = {.is_window_bound = true, .is_marked = true};
static const struct xoff_rp_ack repairing = {.is_window_bound = true, .is_recovering = true};

static void start(struct tested_flow *f)
{
    flow_setup(f, &xoff_rp_newreno, 10 * XOFF_GBPS);
    flow_start(f);
}

/* A flow in congestion avoidance with a window of `segments` of 1000 B, all before acknowledged. */
static void start_avoidance(struct tested_flow *f, uint64_t segments)
{
    start(f);
    f->sent_to = 2000 * segments;
    assert_true(flow_lose(f, XOFF_RP_LOST) <= 1000 * segments);
    flow_ack(f, 2000 * segments, repairing);
    while (f->answer.window_bytes < 1000 * segments)
        flow_ack(f, 1000, plain);
}

/* Segments of 1000 B, one per ACK unless said otherwise:
 *   10 ACKs                  slow start from 10000 to 20000
 *   loss, 20000 outstanding  ssthresh = window = 10000; 20000 are acknowledged when it is repaired
 *   10 ACKs, then 11         11000, 12000: one segment per window
 *   timeout, 12000 out       ssthresh 6000, window 1000
 *   ACKs of one segment      2000, 3000, 4000, 5000, 6000; six more for 7000 */
static void worked_example(void **unused)
{
    (void)unused;
    struct tested_flow f;
    start(&f);
    assert_int_equal(f.answer.rate_bps, 10 * XOFF_GBPS);
    assert_int_equal(f.answer.deadline, XOFF_NEVER);
    assert_int_equal(f.answer.window_bytes, 10000);
    for (uint64_t n = 1; n <= 10; n++)
        assert_int_equal(flow_ack(&f, 1000, plain), 10000 + 1000 * n);
    assert_int_equal(f.sent_to - f.acked_to, 20000);
    assert_int_equal(flow_lose(&f, XOFF_RP_LOST), 10000);
    for (int n = 0; n < 10; n++)
        assert_int_equal(flow_ack(&f, 1500, repairing), 10000);
    assert_int_equal(flow_ack(&f, 5000, repairing), 10000);
    for (int n = 0; n < 9; n++)
        assert_int_equal(flow_ack(&f, 1000, plain), 10000);
    assert_int_equal(flow_ack(&f, 1000, plain), 11000);
    for (int n = 0; n < 10; n++)
        assert_int_equal(flow_ack(&f, 1000, plain), 11000);
    assert_int_equal(flow_ack(&f, 1000, plain), 12000);
    assert_int_equal(f.sent_to - f.acked_to, 12000);
    assert_int_equal(flow_lose(&f, XOFF_RP_TIMEOUT), 1000);
    for (uint64_t n = 2; n <= 6; n++)
        assert_int_equal(flow_ack(&f, 1000, repairing), 1000 * n);
    for (int n = 0; n < 5; n++)
        assert_int_equal(flow_ack(&f, 1000, repairing), 6000);
    assert_int_equal(flow_ack(&f, 1000, repairing), 7000);
    assert_int_equal(f.answer.rate_bps, 10 * XOFF_GBPS);
    assert_int_equal(f.answer.deadline, XOFF_NEVER);
}

/* An ACK adds what it acknowledges, up to two segments (RFC 3465, L = 2). */
static void slow_start_counts_bytes(void **unused)
{
    (void)unused;
    struct tested_flow f;
    start(&f);
    assert_int_equal(flow_ack(&f, 1, plain), 10001);
    assert_int_equal(flow_ack(&f, 1999, plain), 12000);
    assert_int_equal(flow_ack(&f, 2000, plain), 14000);
    assert_int_equal(flow_ack(&f, 2001, plain), 16000);
    assert_int_equal(flow_ack(&f, 7000, plain), 18000);
    assert_int_equal(flow_ack(&f, 0, plain), 18000);
}

/* After a timeout ssthresh is 5000 and L = 1: at 4000 an ACK of 1000 reaches it, and the next byte
 * counts towards avoidance; at 4500 one of 1000 gives 500 to each. */
static void slow_start_ends_at_ssthresh(void **unused)
{
    (void)unused;
    struct tested_flow f;
    start(&f);
    flow_lose(&f, XOFF_RP_TIMEOUT);
    assert_int_equal(flow_ack(&f, 3000, repairing), 2000);
    assert_int_equal(flow_ack(&f, 1000, repairing), 3000);
    assert_int_equal(flow_ack(&f, 1000, repairing), 4000);
    assert_int_equal(flow_ack(&f, 500, repairing), 4500);
    assert_int_equal(flow_ack(&f, 1000, repairing), 5000); /* credit 500 */
    assert_int_equal(flow_ack(&f, 3500, repairing), 5000); /* 4000: all outstanding acknowledged */
    assert_int_equal(flow_ack(&f, 999, plain), 5000);
    assert_int_equal(flow_ack(&f, 1, plain), 6000);
}

/* L = 1 holds for the slow start that follows a timeout, beyond the repair. */
static void slow_start_after_timeout_is_careful(void **unused)
{
    (void)unused;
    struct tested_flow f;
    flow_setup(&f, &xoff_rp_newreno, 10 * XOFF_GBPS);
    flow_set(&f, "initial_window", "100KB");
    flow_start(&f);
    flow_lose(&f, XOFF_RP_TIMEOUT);
    assert_int_equal(flow_ack(&f, 100000, plain), 2000); /* repaired, and ssthresh is 50000 */
    assert_int_equal(flow_ack(&f, 2000, plain), 3000);
}

/* A window of 5000 grows when 5000 B are acknowledged; what is over counts for the next. */
static void avoidance_counts_bytes(void **unused)
{
    (void)unused;
    struct tested_flow f;
    start_avoidance(&f, 5);
    assert_int_equal(flow_ack(&f, 4999, plain), 5000);
    assert_int_equal(flow_ack(&f, 2001, plain), 6000); /* credit 2000 */
    assert_int_equal(flow_ack(&f, 3999, plain), 6000);
    assert_int_equal(flow_ack(&f, 1, plain), 7000);
    assert_int_equal(flow_ack(&f, 7000, plain), 8000);
}

static void grows_only_when_the_window_holds_it_back(void **unused)
{
    (void)unused;
    const struct xoff_rp_ack idle = {.is_window_bound = false};
    struct tested_flow f;
    start(&f);
    assert_int_equal(flow_ack(&f, 1000, idle), 10000);
    assert_int_equal(flow_ack(&f, 1000, plain), 11000);
    assert_int_equal(flow_ack(&f, 1000, repairing), 11000);
    start_avoidance(&f, 5);
    assert_int_equal(flow_ack(&f, 5000, idle), 5000);
    assert_int_equal(flow_ack(&f, 4999, plain), 5000);
    assert_int_equal(flow_ack(&f, 1, plain), 6000);
}

/* ssthresh = max(outstanding / 2, 2 segments), and never more than the window was. */
static void loss_halves_what_is_outstanding(void **unused)
{
    (void)unused;
    static const struct {
        uint64_t outstanding, window;
    } cases[] = {{9000, 4500}, {4001, 2000}, {4000, 2000},  {3999, 2000},
                 {4002, 2001}, {0, 2000},    {40000, 10000}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct tested_flow f;
        start(&f);
        f.sent_to = cases[i].outstanding;
        assert_int_equal(flow_lose(&f, XOFF_RP_LOST), cases[i].window);
    }
}

/* After the loss at 10000 sent, nothing grows until a byte sent after it is acknowledged. */
static void growth_waits_for_the_next_window(void **unused)
{
    (void)unused;
    struct tested_flow f;
    start(&f);
    f.sent_to = 10000;
    assert_int_equal(flow_lose(&f, XOFF_RP_LOST), 5000);
    assert_int_equal(flow_ack(&f, 10000, plain), 5000);
    assert_int_equal(flow_ack(&f, 4999, plain), 5000);
    assert_int_equal(flow_ack(&f, 1, plain), 6000);
}

static void repeated_timeouts_keep_ssthresh(void **unused)
{
    (void)unused;
    struct tested_flow f;
    start(&f);
    assert_int_equal(flow_lose(&f, XOFF_RP_TIMEOUT), 1000); /* ssthresh 5000 */
    f.sent_to = 1000; /* a reliability that went back says so */
    assert_int_equal(flow_lose(&f, XOFF_RP_TIMEOUT), 1000);
    flow_ack(&f, 0, plain); /* nothing new */
    assert_int_equal(flow_lose(&f, XOFF_RP_TIMEOUT), 1000);
    f.sent_to = 10000;
    for (uint64_t n = 2; n <= 5; n++)
        assert_int_equal(flow_ack(&f, 1000, repairing), 1000 * n);
    assert_int_equal(flow_ack(&f, 1000, repairing), 5000);
    /* Something was acknowledged, so the next one counts: 5000 outstanding, ssthresh 2500. */
    assert_int_equal(flow_lose(&f, XOFF_RP_TIMEOUT), 1000);
    assert_int_equal(flow_ack(&f, 1000, repairing), 2000);
    assert_int_equal(flow_ack(&f, 1000, repairing), 2500);
}

/* RFC 3168: a mark halves the window once; the next that counts is on an ACK of a byte sent after
 * the halving. */
static void marks_halve_once_per_window(void **unused)
{
    (void)unused;
    struct tested_flow f;
    start(&f);
    assert_int_equal(f.sent_to, 10000);
    assert_int_equal(flow_ack(&f, 1000, marked), 5000);
    assert_int_equal(flow_ack(&f, 1000, plain), 5000);
    assert_int_equal(flow_ack(&f, 8000, marked), 5000); /* acked_to 10000 */
    assert_int_equal(flow_ack(&f, 1, marked), 2500);
    /* Out of slow start: 2500 B for the next segment. sent_to was 15000. */
    assert_int_equal(flow_ack(&f, 4999, plain), 2500);
    assert_int_equal(flow_ack(&f, 2499, plain), 2500);
    assert_int_equal(flow_ack(&f, 1, plain), 3500);
    /* Never below two segments. */
    for (int n = 0; n < 5; n++)
        flow_ack(&f, 5000, marked);
    assert_int_equal(f.answer.window_bytes, 2000);
}

/* A loss among bytes that were out when a mark halved the window has been answered (acked_to 9999
 * of 10000), the loss of the first byte after them has not. Marks do not follow up a loss. */
static void one_reduction_for_marks_and_losses(void **unused)
{
    (void)unused;
    struct tested_flow f;
    start(&f);
    assert_int_equal(flow_ack(&f, 1000, marked), 5000);
    flow_ack(&f, 8999, plain);
    assert_int_equal(flow_lose(&f, XOFF_RP_LOST), 5000);
    flow_ack(&f, 1, plain);
    assert_int_equal(flow_lose(&f, XOFF_RP_LOST), 2500); /* 5000 - 1 outstanding, and one more */

    start(&f);
    assert_int_equal(flow_lose(&f, XOFF_RP_LOST), 5000);
    assert_int_equal(flow_ack(&f, 10000, marked), 5000);
    struct xoff_rp_ack both = marked;
    both.is_recovering = true;
    assert_int_equal(flow_ack(&f, 1, both), 5000);
    assert_int_equal(flow_ack(&f, 1, marked), 2500);
}

/* One segment after a timeout stays one segment: a mark lowers ssthresh only. */
static void no_reduction_raises_the_window(void **unused)
{
    (void)unused;
    struct tested_flow f;
    start(&f);
    flow_lose(&f, XOFF_RP_TIMEOUT);
    flow_ack(&f, 10000, (struct xoff_rp_ack){0}); /* repaired, not bound: still 1000 */
    f.sent_to = 11000;
    assert_int_equal(flow_ack(&f, 1, marked), 1000);
    assert_int_equal(flow_ack(&f, 10999 - 10000, plain), 1000); /* acked_to 11000 */
    assert_int_equal(flow_ack(&f, 2000, plain), 2000);          /* ssthresh */
    start(&f);
    flow_lose(&f, XOFF_RP_TIMEOUT);
    flow_ack(&f, 10000, (struct xoff_rp_ack){0});
    f.sent_to = 11000;
    assert_int_equal(flow_lose(&f, XOFF_RP_LOST), 1000);
}

static void windows_by_parameter(void **unused)
{
    (void)unused;
    struct tested_flow f;
    flow_setup(&f, &xoff_rp_newreno, XOFF_GBPS);
    flow_set(&f, "initial_window", "1KB");
    flow_set(&f, "max_window", "3500B");
    flow_start(&f);
    assert_int_equal(f.answer.window_bytes, 1000);
    assert_int_equal(flow_ack(&f, 2000, plain), 3000);
    assert_int_equal(flow_ack(&f, 1000, plain), 3500);
    assert_int_equal(flow_ack(&f, 1000, plain), 3500);
    /* auto gives way to max_window, a window that is given does not. */
    flow_set(&f, "initial_window", "auto");
    flow_start(&f);
    assert_int_equal(f.answer.window_bytes, 3500);
    flow_set(&f, "initial_window", "3501B");
    expect_refused(&f, XOFF_E_CONFLICT, "initial_window", "max_window, 3500B");
    flow_set(&f, "initial_window", "3500B");
    expect_accepted(&f);
    flow_set(&f, "max_window", "auto");
    flow_set(&f, "initial_window", "999B");
    expect_refused(&f, XOFF_E_RANGE, "initial_window", "1KB");
    flow_set(&f, "initial_window", "auto");
    flow_set(&f, "max_window", "999B");
    expect_refused(&f, XOFF_E_RANGE, "max_window", "1KB");
    flow_set(&f, "max_window", "1KB");
    expect_accepted(&f);
}

/* The rules of RFC 5681 and 3465 once more, with every byte counted by itself. */
struct model {
    uint64_t window, ssthresh, credit, acked_to, reduced_to;
    bool is_slow_again, is_timed_out;
};

static void model_reduce(struct model *m, uint64_t ssthresh, uint64_t sent_to)
{
    m->ssthresh = ssthresh < 2000 ? 2000 : ssthresh;
    while (m->window > m->ssthresh)
        m->window--;
    m->credit = 0;
    m->reduced_to = sent_to;
    m->is_slow_again = false;
}

static void model_ack(struct model *m, uint64_t bytes, uint64_t sent_to,
                      const struct xoff_rp_ack *ack)
{
    m->acked_to += bytes;
    if (bytes > 0)
        m->is_timed_out = false;
    const bool is_past = !ack->is_recovering && m->acked_to > m->reduced_to;
    if (ack->is_marked && is_past) {
        model_reduce(m, m->window / 2, sent_to);
    } else if (ack->is_window_bound && (is_past || m->is_slow_again)) {
        const bool is_slow = m->window < m->ssthresh;
        const uint64_t most = !is_slow ? UINT64_MAX : m->is_slow_again ? 1000 : 2000;
        for (uint64_t n = 0; n < bytes && n < most; n++)
            *(m->window < m->ssthresh ? &m->window : &m->credit) += 1;
        if (m->window >= m->ssthresh && m->credit >= m->window) {
            m->credit -= m->window;
            m->window += 1000;
        }
    }
}

static void model_lose(struct model *m, enum xoff_rp_loss loss, uint64_t out, uint64_t sent_to)
{
    if (loss == XOFF_RP_TIMEOUT) {
        if (!m->is_timed_out)
            model_reduce(m, out / 2, sent_to);
        m->window = 1000, m->credit = 0;
        m->is_slow_again = m->is_timed_out = true;
    } else if (m->acked_to >= m->reduced_to) {
        model_reduce(m, out / 2, sent_to);
    }
}

static void equals_the_model(void **unused)
{
    (void)unused;
    for (uint32_t seed = 1; seed <= 60; seed++) {
        struct model m = {.window = 10000, .ssthresh = UINT64_MAX};
        struct xoff_rng rng;
        struct tested_flow f;
        xoff_rng_init(&rng, seed, 0, 0);
        start(&f);
        uint64_t repaired_at = 0;
        for (uint32_t n = 0; n < 400; n++) {
            const uint64_t out = f.sent_to - f.acked_to, kind = xoff_rng_below(&rng, 60);
            if (kind < 2) {
                const enum xoff_rp_loss loss = kind ? XOFF_RP_TIMEOUT : XOFF_RP_LOST;
                model_lose(&m, loss, out, f.sent_to);
                flow_lose(&f, loss);
                repaired_at = f.sent_to;
            } else {
                const uint64_t most = out < 4000 ? out : 4000;
                const uint64_t bytes = most ? xoff_rng_below(&rng, most + 1) : 0;
                const struct xoff_rp_ack ack = {
                    .is_marked = kind < 2 + seed % 8,
                    .is_recovering =
                        f.acked_to +
                        bytes<repaired_at, .is_window_bound = xoff_rng_below(&rng, 10)> 0,
                };
                model_ack(&m, bytes, f.sent_to, &ack);
                flow_ack(&f, bytes, ack);
            }
            if (f.answer.window_bytes != m.window)
                fail_msg("seed %u step %u: %ju, model %ju", seed, n,
                         (uintmax_t)f.answer.window_bytes, (uintmax_t)m.window);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(worked_example),
        cmocka_unit_test(slow_start_counts_bytes),
        cmocka_unit_test(slow_start_ends_at_ssthresh),
        cmocka_unit_test(slow_start_after_timeout_is_careful),
        cmocka_unit_test(avoidance_counts_bytes),
        cmocka_unit_test(grows_only_when_the_window_holds_it_back),
        cmocka_unit_test(loss_halves_what_is_outstanding),
        cmocka_unit_test(growth_waits_for_the_next_window),
        cmocka_unit_test(repeated_timeouts_keep_ssthresh),
        cmocka_unit_test(marks_halve_once_per_window),
        cmocka_unit_test(one_reduction_for_marks_and_losses),
        cmocka_unit_test(no_reduction_raises_the_window),
        cmocka_unit_test(windows_by_parameter),
        cmocka_unit_test(equals_the_model),
    };
    return cmocka_run_group_tests_name("newreno", tests, NULL, NULL);
}
