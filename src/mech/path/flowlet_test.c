/* Flowlet switching: both sides of the gap, candidates that go away, entries that flows share, and
 * an independent model with a record per flow. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <xoff/path.h>
#include <xoff/rng.h>

extern const struct xoff_path_ops xoff_path_flowlet;

static const struct xoff_path_env env = {.n_ports = 16, .buffer_bytes = 1000000};
static const uint16_t ports[] = {4, 5, 9, 12};

struct fixture {
    struct xoff_path path;
    int64_t params[2];
    unsigned char cfg[16];
    _Alignas(16) unsigned char state[16 * 4096];
};

static void start(struct fixture *f, const char *gap, const char *entries)
{
    struct xoff_err err;
    assert_int_equal(xoff_path_flowlet.params_size, sizeof f->params);
    assert_true(xoff_path_cfg_size(&xoff_path_flowlet, env.n_ports) <= sizeof f->cfg);
    xoff_param_defaults(xoff_path_flowlet.params, f->params);
    assert_int_equal(xoff_param_set(&xoff_path_flowlet.params[0], f->params, gap, &err), 0);
    assert_int_equal(xoff_param_set(&xoff_path_flowlet.params[1], f->params, entries, &err), 0);
    assert_int_equal(
        xoff_path_configure(&f->path, &xoff_path_flowlet, f->params, &env, f->cfg, &err), 0);
    assert_int_equal(f->path.shape.state_size, 16 * (size_t)f->params[1]);
    assert_true(f->path.shape.state_size <= sizeof f->state);
    memset(f->state, 0xa5, sizeof f->state);
    xoff_path_init(&f->path, f->state);
    assert_false(xoff_path_is_by_hash(&f->path) || xoff_path_keeps_flows(&f->path));
    assert_true(f->path.shape.draws && !f->path.shape.sees_egress);
}

/* Returns the port; draws are eighths of the range: of n = 4, eighth 2 k + 1 is number k. */
static uint32_t choose(struct fixture *f, uint64_t flow, uint32_t eighth, uint32_t first,
                       uint32_t n, xoff_time now)
{
    const struct xoff_path_frame frame = {
        .draw = eighth << 29, .flow = flow, .n = n, .ports = ports + first};
    const uint32_t index = xoff_path_choose(&f->path, &frame, now);
    assert_true(index < n);
    return ports[first + index];
}

/* A gap of exactly 100 us is in the flowlet, one of a picosecond more begins another. Each frame
 * starts the gap anew. */
static void both_sides_of_the_gap(void **unused)
{
    (void)unused;
    struct fixture f;
    start(&f, "100us", "16");
    assert_int_equal(choose(&f, 7, 5, 0, 4, 0), 9);
    assert_int_equal(choose(&f, 7, 1, 0, 4, 0), 9);
    assert_int_equal(choose(&f, 7, 1, 0, 4, 100 * XOFF_US), 9);
    assert_int_equal(choose(&f, 7, 1, 0, 4, 200 * XOFF_US), 9);
    assert_int_equal(choose(&f, 7, 1, 0, 4, 300 * XOFF_US + 1), 4);
    assert_int_equal(choose(&f, 7, 7, 0, 4, 400 * XOFF_US + 1), 4);
}

static void no_gap_keeps_an_instant(void **unused)
{
    (void)unused;
    struct fixture f;
    start(&f, "0s", "1");
    assert_int_equal(choose(&f, 7, 5, 0, 4, 10), 9);
    assert_int_equal(choose(&f, 7, 1, 0, 4, 10), 9);
    assert_int_equal(choose(&f, 7, 1, 0, 4, 11), 4);
}

/* Port 4 is no candidate any more: the flow draws at once, and stays with the new port. Numbers are
 * of ports, so candidates that move up do not move the flow. */
static void routes_that_change(void **unused)
{
    (void)unused;
    struct fixture f;
    start(&f, "100us", "16");
    assert_int_equal(choose(&f, 7, 0, 0, 4, 0), 4);
    assert_int_equal(choose(&f, 7, 7, 1, 3, 1), 12); /* 7/8 of three is number 2 */
    assert_int_equal(choose(&f, 7, 0, 1, 3, 2), 12);
    assert_int_equal(choose(&f, 7, 0, 0, 4, 3), 12);
}

static void flows_of_one_entry_share_a_port(void **unused)
{
    (void)unused;
    struct fixture f;
    start(&f, "100us", "1");
    assert_int_equal(choose(&f, 7, 5, 0, 4, 0), 9);
    assert_int_equal(choose(&f, 8, 0, 0, 4, 90 * XOFF_US), 9);
    assert_int_equal(choose(&f, 7, 0, 0, 4, 180 * XOFF_US), 9); /* the other's frame kept it */
}

/* 40 flows in 4096 entries. Flow numbers are as the network's: a host in the upper half and a count
 * in the lower. No two of them share an entry here, which the test would show. */
static void random_flows_as_in_the_model(void **unused)
{
    (void)unused;
    struct {
        xoff_time at;
        uint32_t port;
    } model[40] = {{0}};
    struct xoff_rng rng;
    struct fixture f;
    xoff_time now = 0;
    uint32_t n_new = 0;
    start(&f, "50us", "4096");
    xoff_rng_init(&rng, 3, 0, 0);
    for (uint32_t k = 0; k < 100000; k++) {
        const uint32_t i = (uint32_t)xoff_rng_below(&rng, 40);
        const uint64_t flow = (uint64_t)(i / 4) << 32 | i % 4;
        const uint32_t first = (uint32_t)xoff_rng_below(&rng, 10) == 0;
        const uint32_t eighth = (uint32_t)xoff_rng_below(&rng, 8);
        now += (xoff_time)xoff_rng_below(&rng, 3 * XOFF_US);
        const bool fits = model[i].port && (!first || model[i].port != 4);
        if (!fits || now - model[i].at > 50 * XOFF_US) {
            model[i].port = ports[first + eighth * (4 - first) / 8];
            n_new++;
        }
        model[i].at = now;
        if (choose(&f, flow, eighth, first, 4 - first, now) != model[i].port)
            fail_msg("seed 3, step %u", k);
    }
    assert_true(n_new > 20000 && n_new < 80000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_sides_of_the_gap),
        cmocka_unit_test(no_gap_keeps_an_instant),
        cmocka_unit_test(routes_that_change),
        cmocka_unit_test(flows_of_one_entry_share_a_port),
        cmocka_unit_test(random_flows_as_in_the_model),
    };
    return cmocka_run_group_tests_name("flowlet", tests, NULL, NULL);
}
