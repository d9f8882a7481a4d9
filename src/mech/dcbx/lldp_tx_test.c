/* When LLDP frames are sent: every cause, and both sides of every time. A second lasts 1 us here.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <xoff/lldp_tx.h>

#define SECOND XOFF_US

_Noreturn void xoff_assert_fail(const char *expression, const char *file, int line)
{
    mock_assert(0, expression, file, line);
    abort();
}

static struct xoff_lldp_tx_cfg defaults(void)
{
    struct xoff_lldp_tx_cfg cfg = xoff_lldp_tx_defaults;
    cfg.second_for = SECOND;
    return cfg;
}

static struct xoff_lldp_tx started(const struct xoff_lldp_tx_cfg *cfg, xoff_time now)
{
    struct xoff_lldp_tx tx;
    xoff_lldp_tx_init(&tx);
    assert_true(tx.due_at == XOFF_NEVER);
    xoff_lldp_tx_start(cfg, &tx, now);
    return tx;
}

/* The next frame goes out at `second` and not a picosecond before. */
static void assert_sends(const struct xoff_lldp_tx_cfg *cfg, struct xoff_lldp_tx *tx, int second,
                         int ttl_s)
{
    assert_true(tx->due_at == second * SECOND);
    assert_false(xoff_lldp_tx_is_due(tx, second * SECOND - 1));
    assert_true(xoff_lldp_tx_is_due(tx, second * SECOND));
    assert_int_equal(xoff_lldp_tx_take(cfg, tx, second * SECOND), ttl_s);
}

/* Starts at 10 s: four frames, 1 s apart; then one every 30 s. */
static struct xoff_lldp_tx settled(const struct xoff_lldp_tx_cfg *cfg)
{
    struct xoff_lldp_tx tx = started(cfg, 10 * SECOND);
    for (int second = 10; second <= 13; second++)
        assert_sends(cfg, &tx, second, 120);
    return tx;
}

static void a_start_is_fast_and_settles(void **state)
{
    (void)state;
    const struct xoff_lldp_tx_cfg cfg = defaults();
    struct xoff_lldp_tx tx = settled(&cfg);
    assert_sends(&cfg, &tx, 43, 120);
    assert_sends(&cfg, &tx, 73, 120);
    xoff_lldp_tx_start(&cfg, &tx, 74 * SECOND); /* it has started */
    assert_sends(&cfg, &tx, 103, 120);
}

/* The last frame was sent at 13 s: a change waits until 15 s, one at 15 s or later goes at once. */
static void a_change_waits_for_the_transmission_delay(void **state)
{
    (void)state;
    const struct xoff_lldp_tx_cfg cfg = defaults();
    struct xoff_lldp_tx tx = settled(&cfg);
    xoff_lldp_tx_on_change(&cfg, &tx, 13 * SECOND + 1);
    xoff_lldp_tx_on_change(&cfg, &tx, 14 * SECOND); /* one frame brings both */
    assert_sends(&cfg, &tx, 15, 120);
    assert_true(tx.due_at == 45 * SECOND);
    xoff_lldp_tx_on_change(&cfg, &tx, 17 * SECOND);
    assert_sends(&cfg, &tx, 17, 120);
    xoff_lldp_tx_on_change(&cfg, &tx, 40 * SECOND);
    assert_sends(&cfg, &tx, 40, 120);
}

/* While frames are fast the next one comes before the delay is over, and brings the change. */
static void a_change_never_puts_a_frame_off(void **state)
{
    (void)state;
    const struct xoff_lldp_tx_cfg cfg = defaults();
    struct xoff_lldp_tx tx = started(&cfg, 0);
    assert_sends(&cfg, &tx, 0, 120);
    xoff_lldp_tx_on_change(&cfg, &tx, 1);
    assert_sends(&cfg, &tx, 1, 120);
}

static void a_new_neighbour_makes_it_fast_again(void **state)
{
    (void)state;
    const struct xoff_lldp_tx_cfg cfg = defaults();
    struct xoff_lldp_tx tx = settled(&cfg);
    xoff_lldp_tx_on_neighbour(&cfg, &tx, 13 * SECOND + SECOND / 2);
    for (int second = 14; second <= 17; second++)
        assert_sends(&cfg, &tx, second, 120);
    assert_true(tx.due_at == 47 * SECOND);
    xoff_lldp_tx_on_neighbour(&cfg, &tx, 20 * SECOND); /* the last frame is old: at once */
    assert_sends(&cfg, &tx, 20, 120);
    assert_sends(&cfg, &tx, 21, 120);
}

static void a_stop_says_so_and_holds_up_the_next_start(void **state)
{
    (void)state;
    const struct xoff_lldp_tx_cfg cfg = defaults();
    struct xoff_lldp_tx tx = settled(&cfg);
    xoff_lldp_tx_stop(&tx, 20 * SECOND);
    xoff_lldp_tx_on_change(&cfg, &tx, 20 * SECOND);
    xoff_lldp_tx_on_neighbour(&cfg, &tx, 20 * SECOND);
    assert_sends(&cfg, &tx, 20, 0);
    assert_true(tx.due_at == XOFF_NEVER);
    xoff_lldp_tx_stop(&tx, 20 * SECOND); /* it has stopped */
    assert_true(tx.due_at == XOFF_NEVER);
    xoff_lldp_tx_start(&cfg, &tx, 21 * SECOND);
    xoff_lldp_tx_on_change(&cfg, &tx, 21 * SECOND); /* nor does a change come before its time */
    xoff_lldp_tx_on_neighbour(&cfg, &tx, 21 * SECOND);
    assert_sends(&cfg, &tx, 22, 120);
    assert_sends(&cfg, &tx, 23, 120);

    xoff_lldp_tx_stop(&tx, 30 * SECOND);
    assert_sends(&cfg, &tx, 30, 0);
    xoff_lldp_tx_start(&cfg, &tx, 50 * SECOND);
    assert_sends(&cfg, &tx, 50, 120);
}

/* A link that is down takes no frame, not even the shutdown that was due; up again, it starts. */
static void a_cut_link_sends_nothing(void **state)
{
    (void)state;
    const struct xoff_lldp_tx_cfg cfg = defaults();
    struct xoff_lldp_tx tx = settled(&cfg);
    xoff_lldp_tx_stop(&tx, 20 * SECOND);
    xoff_lldp_tx_cut(&tx);
    assert_true(tx.due_at == XOFF_NEVER);
    xoff_lldp_tx_on_change(&cfg, &tx, 21 * SECOND);
    assert_true(tx.due_at == XOFF_NEVER);
    xoff_lldp_tx_start(&cfg, &tx, 21 * SECOND);
    assert_sends(&cfg, &tx, 21, 120);
}

static void taking_what_is_not_due_is_an_error_of_the_caller(void **state)
{
    (void)state;
    const struct xoff_lldp_tx_cfg cfg = defaults();
    struct xoff_lldp_tx tx = started(&cfg, 1);
    expect_assert_failure(xoff_lldp_tx_take(&cfg, &tx, 0));
}

static void check_refused(struct xoff_lldp_tx_cfg cfg, const char *name, const char *message)
{
    struct xoff_err err = {0};
    assert_int_equal(xoff_lldp_tx_check(&cfg, &err), -XOFF_E_RANGE);
    assert_string_equal(err.subject, name);
    assert_string_equal(err.message, message);
}

static void times_are_checked(void **state)
{
    (void)state;
    struct xoff_err err = {0};
    struct xoff_lldp_tx_cfg cfg = xoff_lldp_tx_defaults;
    assert_int_equal(xoff_lldp_tx_check(&cfg, &err), 0);
    cfg.second_for = 0;
    check_refused(cfg, "second", "must be from 1 to 1000000000000");
    cfg.second_for = XOFF_S + 1;
    check_refused(cfg, "second", "must be from 1 to 1000000000000");
    cfg = xoff_lldp_tx_defaults;
    cfg.interval_s = 120;
    assert_int_equal(xoff_lldp_tx_check(&cfg, &err), 0);
    cfg.interval_s = 121;
    check_refused(cfg, "ttl", "must be from 121 to 65535");
    cfg = xoff_lldp_tx_defaults;
    cfg.reinit_s = 11;
    check_refused(cfg, "reinit", "must be from 1 to 10");
    cfg = xoff_lldp_tx_defaults;
    cfg.n_fast = 0;
    check_refused(cfg, "fast_frames", "must be from 1 to 8");
    cfg = xoff_lldp_tx_defaults;
    cfg.tx_delay_s = 8193;
    check_refused(cfg, "tx_delay", "must be from 1 to 8192");
    cfg = xoff_lldp_tx_defaults;
    cfg.fast_s = 0;
    check_refused(cfg, "fast", "must be from 1 to 3600");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_start_is_fast_and_settles),
        cmocka_unit_test(a_change_waits_for_the_transmission_delay),
        cmocka_unit_test(a_change_never_puts_a_frame_off),
        cmocka_unit_test(a_new_neighbour_makes_it_fast_again),
        cmocka_unit_test(a_stop_says_so_and_holds_up_the_next_start),
        cmocka_unit_test(a_cut_link_sends_nothing),
        cmocka_unit_test(taking_what_is_not_due_is_an_error_of_the_caller),
        cmocka_unit_test(times_are_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
