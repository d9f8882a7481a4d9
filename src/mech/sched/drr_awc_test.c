/* DRR-AWC: weights of each bin by hand, mixtures, periods, and what they do to shares.
 *
 * A weight is seen from outside: queue 0 sends the frames to be counted alone, a period passes, and
 * then its frame bytes are compared with those of queue 7, which was never counted and so has
 * weight 1. Overhead is not charged there, so that the ratio is the weight itself.
 */
#include "sched_testing.h"

extern const struct xoff_sched_ops xoff_sched_drr_awc;

#define LARGEST 1522
#define WITHIN                                                                        \
    0.001 /* credits are whole bytes of 1522, and the last of some 2400 rounds is cut \
           */

static void awc_setup(struct port *port, const char *weights, const char *bin_size)
{
    port_setup(port, &xoff_sched_drr_awc, LARGEST);
    port_set(port, "count_overhead", "false");
    port_set(port, "weights", weights);
    port_set(port, "bin_size", bin_size);
}

/* One frame of queue q, alone. */
static void send_alone(struct port *port, uint32_t q, uint32_t bytes)
{
    port->backlogged = 0;
    port_fill(port, q, bytes);
    assert_int_equal(port_pick(port), q);
    port_charge(port, q, true);
    port->backlogged = 0;
}

/* The weight that queue 0 has now, relative to queue 7. The frames sent to find out are counted. */
static double weight_now(struct port *port)
{
    double sent[N] = {0};
    port->backlogged = 0;
    port_fill(port, 0, 100);
    port_fill(port, 7, 100);
    port_run(port, 100000, sent);
    return sent[0] / sent[7];
}

/* Queue 0 sends n of each of the sizes (0 ends the list); its weight after the period. */
static double weight_of(struct port *port, const uint32_t *sizes, uint32_t n)
{
    port_start(port);
    port->now = 0;
    for (; *sizes; sizes++)
        for (uint32_t i = 0; i < n; i++)
            send_alone(port, 0, *sizes);
    port->now = XOFF_MS;
    return weight_now(port);
}

/* (6.1) at 68 and 128, (6.2) at the other edges; the last bin stands for the largest frame. Exact:
 * (x + 20) / x * 1522 / 1542. */
static void each_bin_by_hand(void **unused)
{
    (void)unused;
    static const struct {
        uint32_t low, high;
        double fitted, exact;
    } rows[] = {
        {64, 68, 1.732, 1.27733},     {69, 128, 1.252, 1.14125},     {129, 256, 1.08410, 1.06414},
        {257, 512, 1.06220, 1.02559}, {513, 1024, 1.01840, 1.00631}, {1025, 1522, 0.97579, 1},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct port port;
        const uint32_t low[] = {rows[i].low, 0}, high[] = {rows[i].high, 0};
        awc_setup(&port, "fitted", "edge");
        assert_close(weight_of(&port, low, 1), rows[i].fitted, WITHIN);
        assert_close(weight_of(&port, high, 3), rows[i].fitted, WITHIN);
        awc_setup(&port, "exact", "edge");
        assert_close(weight_of(&port, low, 1), rows[i].exact, WITHIN);
        assert_close(weight_of(&port, high, 3), rows[i].exact, WITHIN);
    }
}

/* With as many bins as there may be, a queue is still weighed by its own frames: f_l(512)
 * = 1.06220, whatever queue 1 sends. */
static void the_most_bins(void **unused)
{
    (void)unused;
    struct port port;
    awc_setup(&port, "fitted", "edge");
    port_set(&port, "bins",
             "68B, 128B, 256B, 512B, 600B, 700B, 800B, 900B, 1000B, 1100B, 1150B, "
             "1200B, 1300B, 1400B, 1500B");
    port_start(&port);
    port.now = 0;
    send_alone(&port, 0, 512);
    for (uint32_t i = 0; i < 9; i++)
        send_alone(&port, 1, 64);
    port.now = XOFF_MS;
    assert_close(weight_now(&port), 1.06220, WITHIN);
}

/* Frames charged in units of 40 with 20 added: the exact weight is the charge per byte over the
 * largest frame's, 120 / 68 * 1522 / 1560 = 1.72173 and 160 / 128 * 1522 / 1560 = 1.21955. Then all
 * queues get equal frame bytes; the last of some 960 rounds is cut. */
static void units_are_charged(void **unused)
{
    (void)unused;
    static const uint32_t sizes[][2] = {{68, 0}, {128, 0}};
    static const double weights[] = {1.72173, 1.21955};
    struct port port;
    for (size_t i = 0; i < 2; i++) {
        awc_setup(&port, "exact", "edge");
        port_set(&port, "unit", "40B");
        port_start(&port);
        for (uint32_t f = 0; f < 3; f++)
            send_alone(&port, 0, sizes[i][0]);
        port.now = XOFF_MS;
        double sent[N] = {0};
        port_fill(&port, 0, 40); /* one unit each: the ratio is the weight */
        port_fill(&port, 7, 40);
        port_run(&port, 100000, sent);
        assert_close(sent[0] / sent[7], weights[i], 0.002);
    }
    port_setup(&port, &xoff_sched_drr_awc, LARGEST);
    port_set(&port, "weights", "exact");
    port_set(&port, "unit", "40B");
    port_start(&port);
    port_fill(&port, 0, 68);
    port_fill(&port, 7, LARGEST);
    double first[N] = {0}, second[N] = {0};
    port_run(&port, 100000, first);
    assert_close(first[7] / first[0], 1.72173, 0.002);
    port.now = XOFF_MS;
    port_run(&port, 100000, second);
    assert_close(second[7] / second[0], 1, 0.002);
}

/* Both sides of the pivot: f_s(146) = 1.108; f_l(147) = 1.09342. f_l(146) would be 1.09351. */
static void pivot_at_146(void **unused)
{
    (void)unused;
    struct port port;
    awc_setup(&port, "fitted", "mean");
    assert_close(weight_of(&port, (const uint32_t[]){145, 0}, 2), 1.116, WITHIN);
    assert_close(weight_of(&port, (const uint32_t[]){146, 0}, 2), 1.108, WITHIN);
    assert_close(weight_of(&port, (const uint32_t[]){147, 0}, 2), 1.09342, WITHIN);
    awc_setup(&port, "fitted", "edge");
    port_set(&port, "bins", "146B");
    assert_close(weight_of(&port, (const uint32_t[]){68, 0}, 2), 1.108, WITHIN);
    port_set(&port, "bins", "147B");
    assert_close(weight_of(&port, (const uint32_t[]){68, 0}, 2), 1.09342, WITHIN);
}

/* 6.2.3: half 68, half 256 bytes: (1.732 + 1.0841) / 2 = 1.408 (the paper measures 1.39). Frames
 * count, not bytes. Exact: 1 + 20 / 162 over 1 + 20 / 1522. */
static void mixtures_average(void **unused)
{
    (void)unused;
    struct port port;
    awc_setup(&port, "fitted", "edge");
    const double half = weight_of(&port, (const uint32_t[]){68, 256, 0}, 5);
    assert_close(half, 1.40805, WITHIN);
    assert_true(half > 1.39 && half < 1.41);
    assert_close(weight_of(&port, (const uint32_t[]){68, 256, 256, 256, 0}, 2), 1.24608, WITHIN);
    assert_close(weight_of(&port, (const uint32_t[]){68, 128, 256, 512, 1024, 1522, 0}, 1), 1.18742,
                 WITHIN);
    awc_setup(&port, "exact", "edge");
    assert_close(weight_of(&port, (const uint32_t[]){68, 256, 0}, 5), 1.10888, WITHIN);
    /* 70 and 110 share a bin: its edge is 128, their mean 90. */
    assert_close(weight_of(&port, (const uint32_t[]){70, 110, 0}, 1), 1.14125, WITHIN);
    awc_setup(&port, "exact", "mean");
    assert_close(weight_of(&port, (const uint32_t[]){70, 110, 0}, 1), 1.20637, WITHIN);
    awc_setup(&port, "fitted", "mean");
    assert_close(weight_of(&port, (const uint32_t[]){70, 110, 0}, 1), 1.556, WITHIN);
}

/* Weights of a period hold from its end on, and are of that period alone. */
static void periods(void **unused)
{
    (void)unused;
    struct port port;
    awc_setup(&port, "fitted", "edge");
    port_set(&port, "period", "10us");
    port_start(&port);
    send_alone(&port, 0, 68);
    port.now = 10 * XOFF_US - 1;
    port.backlogged = 0;
    assert_close(weight_now(&port), 1, WITHIN); /* not over; 100-byte frames join the count */

    port_start(&port);
    port.now = 3 * XOFF_US;
    send_alone(&port, 0, 68);
    port.now = 10 * XOFF_US; /* of period 2: leaves period 1 as it was */
    send_alone(&port, 0, 512);
    send_alone(&port, 0, 512);
    port.now = 20 * XOFF_US;
    send_alone(&port, 7, 1522);
    assert_close(weight_now(&port), 1.0622, WITHIN);
}

/* No frames in a period, or in many: the weight stays. */
static void quiet_queue_keeps_its_weight(void **unused)
{
    (void)unused;
    struct port port;
    awc_setup(&port, "fitted", "edge");
    port_start(&port);
    send_alone(&port, 0, 68);
    for (uint32_t i = 1; i < 5; i++) { /* others send, in every period */
        port.now = i * XOFF_MS;
        send_alone(&port, 3, 1522);
    }
    port.now = 9 * XOFF_MS; /* and a few in which nobody does */
    assert_close(weight_now(&port), 1.732, WITHIN);
    /* 3 is counted on its own: 0.97579. */
    double sent[N] = {0};
    port.backlogged = 0;
    port_fill(&port, 3, 100);
    port_fill(&port, 7, 100);
    port_run(&port, 100000, sent);
    assert_close(sent[3] / sent[7], 0.97579, WITHIN);
}

/* After an idle time the period is the one that the clock says: it ends at 8 ms, not 1 ms later. */
static void periods_are_whole_multiples(void **unused)
{
    (void)unused;
    struct port port;
    awc_setup(&port, "fitted", "edge");
    port_start(&port);
    port.now = 7 * XOFF_MS + 900 * XOFF_US;
    send_alone(&port, 0, 68);
    port.now = 8 * XOFF_MS - 1;
    send_alone(&port, 0, 68);
    port.now = 8 * XOFF_MS;
    assert_close(weight_now(&port), 1.732, WITHIN);
}

/* The scenario's weight multiplies. */
static void weights_multiply(void **unused)
{
    (void)unused;
    struct port port;
    awc_setup(&port, "fitted", "edge");
    port.env.weight[0] = 3;
    assert_close(weight_of(&port, (const uint32_t[]){68, 0}, 1), 3 * 1.732, 0.006);
    port.env.weight[7] = 2;
    assert_close(weight_of(&port, (const uint32_t[]){68, 0}, 1), 1.5 * 1.732, 0.003);
}

/* Figures 6-1 and 6-10 with overhead charged as by default. x bytes against 1522, throughput of the
 * first over the second: 0.783 at 68 bytes while all weights are 1; then 1 with exact weights, and
 * with the fitted ones f(x) / f(1522) too much by what they are above the exact: 1.732 / 0.97579 *
 * 0.7829 = 1.390 at 68 bytes, 1.028 at 1024... */
static void shares_before_and_after(void **unused)
{
    (void)unused;
    static const struct {
        uint32_t bytes;
        double before, fitted;
    } rows[] = {{68, 0.7829, 1.3896},
                {128, 0.8762, 1.1243},
                {256, 0.9397, 1.0440},
                {512, 0.9751, 1.0614},
                {1024, 0.9937, 1.0371}};
    for (size_t i = 0; i < 2 * sizeof rows / sizeof *rows; i++) {
        struct port port;
        double sent[N] = {0};
        const bool is_exact = i % 2;
        port_setup(&port, &xoff_sched_drr_awc, LARGEST);
        port_set(&port, "weights", is_exact ? "exact" : "fitted");
        port_start(&port);
        port_fill(&port, 0, rows[i / 2].bytes);
        port_fill(&port, 1, LARGEST);
        port_run(&port, 100000, sent);
        assert_close(sent[0] / sent[1], rows[i / 2].before, 0.0008);
        port.now = XOFF_MS;
        memset(sent, 0, sizeof sent);
        port_run(&port, 100000, sent);
        assert_close(sent[0] / sent[1], is_exact ? 1 : rows[i / 2].fitted, 0.0015);
    }
}

static void bad_bins_are_refused(void **unused)
{
    (void)unused;
    static const struct {
        const char *text;
        int code;
        const char *value, *message;
    } cases[] = {
        {"68B", 0, "", ""},
        {"68B,69B", 0, "", ""},
        {"68B, 68B", -XOFF_E_CONFLICT, "68B", "larger than the one before"},
        {"128B, 68B", -XOFF_E_CONFLICT, "68B", "larger than the one before"},
        {"0B, 68B", -XOFF_E_RANGE, "0B", "from 1B on"},
        {"1B", 0, "", ""},
        {"4GB, 5GB", -XOFF_E_RANGE, "5GB", "from 1B on"},
        {"68B 128B", -XOFF_E_SYNTAX, "68B 128B", "commas"},
        {"68B,", -XOFF_E_SYNTAX, "", "commas"},
        {"68", -XOFF_E_UNIT, "68", "such as 128B"},
        {"small", -XOFF_E_TYPE, "small", "such as 128B"},
        {"", -XOFF_E_MISSING, "", "at least one"},
        {"1B,2B,3B,4B,5B,6B,7B,8B,9B,10B,11B,12B,13B,14B,15B", 0, "", ""},
        {"1B,2B,3B,4B,5B,6B,7B,8B,9B,10B,11B,12B,13B,14B,15B,16B", -XOFF_E_RANGE, "16B",
         "at most 15"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct port port;
        struct xoff_err err;
        port_setup(&port, &xoff_sched_drr_awc, LARGEST);
        port_set(&port, "bins", cases[i].text);
        if (port_check(&port, &err) != cases[i].code)
            fail_msg("\"%s\": code %d, %s", cases[i].text, err.code, err.message);
        assert_string_equal(err.subject, cases[i].code ? "bins" : "");
        assert_string_equal(err.value, cases[i].value);
        assert_non_null(strstr(err.message, cases[i].message));
    }
}

/* f_l(12928) is just above 0, f_l(12929) below. */
static void frames_beyond_the_fit_are_refused(void **unused)
{
    (void)unused;
    struct port port;
    struct xoff_err err;
    port_setup(&port, &xoff_sched_drr_awc, 12928);
    assert_int_equal(port_check(&port, &err), 0);
    /* A weight of 10^-5 grants a byte a visit, not nothing. */
    port_start(&port);
    send_alone(&port, 0, 12928);
    port.now = XOFF_MS;
    port_fill(&port, 0, 12928);
    port_fill(&port, 1, 12928);
    double sent[N] = {0};
    port_run(&port, 30000, sent);
    assert_true(sent[0] > 0);

    port.env.max_frame_bytes = 12929;
    assert_int_equal(port_check(&port, &err), -XOFF_E_CONFLICT);
    assert_non_null(strstr(err.message, "12928B"));
    port_set(&port, "weights", "exact");
    assert_int_equal(port_check(&port, &err), 0);
}

static void weight_bounds(void **unused)
{
    (void)unused;
    static const struct {
        uint32_t weight;
        int code;
    } cases[] = {{0, -XOFF_E_RANGE}, {1, 0}, {1000000, 0}, {1000001, -XOFF_E_RANGE}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct port port;
        struct xoff_err err;
        port_setup(&port, &xoff_sched_drr_awc, LARGEST);
        port.env.weight[2] = cases[i].weight;
        assert_int_equal(port_check(&port, &err), cases[i].code);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_bin_by_hand),
        cmocka_unit_test(the_most_bins),
        cmocka_unit_test(units_are_charged),
        cmocka_unit_test(pivot_at_146),
        cmocka_unit_test(mixtures_average),
        cmocka_unit_test(periods),
        cmocka_unit_test(quiet_queue_keeps_its_weight),
        cmocka_unit_test(periods_are_whole_multiples),
        cmocka_unit_test(weights_multiply),
        cmocka_unit_test(shares_before_and_after),
        cmocka_unit_test(bad_bins_are_refused),
        cmocka_unit_test(frames_beyond_the_fit_are_refused),
        cmocka_unit_test(weight_bounds),
    };
    return cmocka_run_group_tests_name("drr_awc", tests, NULL, NULL);
}
