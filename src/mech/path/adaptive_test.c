/* Adaptive load balancing: bands at both sides of each threshold, the draw within a band, links
 * that are down, and a slow model that sorts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <xoff/path.h>
#include <xoff/rng.h>

extern const struct xoff_path_ops xoff_path_adaptive;

#define MOST 12 /* candidates */

static const struct xoff_path_env env = {
    .n_ports = 16, .buffer_bytes = 1000000, .ahead = {0xff, 0xfe, 0xfc, 0xf8, 16, 32, 64, 128}};

struct fixture {
    struct xoff_path path;
    int64_t params[2], cfg[2];
    struct xoff_err err;
};

static int configure(struct fixture *f, const char *low, const char *high)
{
    assert_int_equal(xoff_path_adaptive.params_size, sizeof f->params);
    assert_int_equal(xoff_path_cfg_size(&xoff_path_adaptive, env.n_ports), sizeof f->cfg);
    xoff_param_defaults(xoff_path_adaptive.params, f->params);
    const char *const texts[] = {low, high}, *const names[] = {"low", "high"};
    for (size_t i = 0; i < 2; i++)
        if (texts[i])
            assert_int_equal(xoff_param_set(xoff_param_find(xoff_path_adaptive.params, names[i]),
                                            f->params, texts[i], &f->err),
                             0);
    return xoff_path_configure(&f->path, &xoff_path_adaptive, f->params, &env, f->cfg, &f->err);
}

static void start(struct fixture *f, const char *low, const char *high)
{
    assert_int_equal(configure(f, low, high), 0);
    xoff_path_init(&f->path, NULL);
}

/* Chooses among ports with these occupancies, negative ones being down. */
static uint32_t choose(const struct fixture *f, const int64_t *bytes, uint32_t n, uint32_t draw)
{
    struct xoff_path_port ports[MOST];
    for (uint32_t i = 0; i < n; i++)
        ports[i] = (struct xoff_path_port){.queue_bytes = bytes[i] < 0 ? 0 : bytes[i],
                                           .is_up = bytes[i] >= 0};
    const struct xoff_path_frame frame = {.draw = draw, .n = n, .egress = ports};
    return xoff_path_choose(&f->path, &frame, 0);
}

static void sees_what_goes_before_a_frame(void **unused)
{
    (void)unused;
    struct fixture f;
    start(&f, NULL, NULL);
    assert_int_equal(f.cfg[0], 16000);
    assert_int_equal(f.cfg[1], 64000);
    assert_true(f.path.shape.draws && f.path.shape.sees_egress && !f.path.shape.by_hash);
    assert_false(xoff_path_is_by_hash(&f.path) || xoff_path_keeps_flows(&f.path));
    assert_int_equal(f.path.shape.state_size, 0);
    assert_memory_equal(f.path.shape.counts, env.ahead, sizeof env.ahead);
}

/* Below shape.even_below a caller need not ask: the draw alone decides. At it, it does not. */
static void even_ports_are_chosen_by_the_draw(void **unused)
{
    (void)unused;
    static const int64_t below[] = {15999, 0, 15999}, at[] = {15999, 16000, 0};
    struct fixture f;
    start(&f, "16KB", "32KB");
    assert_int_equal(f.path.shape.even_below, 16000);
    for (uint64_t draw = 0; draw <= UINT32_MAX; draw += 0x1000001)
        assert_int_equal(choose(&f, below, 3, (uint32_t)draw),
                         xoff_path_by_value((uint32_t)draw, 3));
    assert_int_equal(xoff_path_by_value(0x80000000, 3), 1);
    assert_int_equal(choose(&f, at, 3, 0x80000000), 2);
}

static void reversed_thresholds_are_refused(void **unused)
{
    (void)unused;
    struct fixture f;
    assert_int_equal(configure(&f, "32001B", "32KB"), -XOFF_E_CONFLICT);
    assert_string_equal(f.err.subject, "low");
    assert_string_equal(f.err.message,
                        "is above high: ports with less than 32001 B are favoured over those with "
                        "less than 32000 B, so low is at most high");
    assert_int_equal(configure(&f, "32KB", "32KB"), 0);
    assert_int_not_equal(xoff_param_set(xoff_path_adaptive.params, f.params, "0B", &f.err), 0);
}

/* Every case is chosen with all draws that matter: of n in the best band number i has the draws
 * from ceil(i * 2^32 / n) on. Two ports: 0 and 2^31; the index is that of the draw. */
static void both_sides_of_each_threshold(void **unused)
{
    (void)unused;
    static const struct {
        int64_t bytes[2];
        uint32_t low_draw, high_draw; /* the index with draw 2^31 - 1 and with 2^31 */
    } cases[] = {
        {{0, 15999}, 0, 1},          /* both favoured */
        {{15999, 16000}, 0, 0},      /* the first is favoured, the second next */
        {{16000, 15999}, 1, 1},      /* and reversed */
        {{16000, 31999}, 0, 1},      /* both next */
        {{31999, 32000}, 0, 0},      /* the second is last */
        {{32000, 31999}, 1, 1},      /* and reversed */
        {{32000, 1000000000}, 0, 1}, /* all above the threshold: any */
        {{-1, 1000000000}, 1, 1},    /* a link that is down is worse */
        {{0, -1}, 0, 0},
        {{-1, -1}, 0, 1}, /* all down: any */
    };
    struct fixture f;
    start(&f, "16KB", "32KB");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(choose(&f, cases[i].bytes, 2, 0), cases[i].low_draw);
        assert_int_equal(choose(&f, cases[i].bytes, 2, 0x7fffffff), cases[i].low_draw);
        assert_int_equal(choose(&f, cases[i].bytes, 2, 0x80000000), cases[i].high_draw);
        assert_int_equal(choose(&f, cases[i].bytes, 2, UINT32_MAX), cases[i].high_draw);
    }
}

/* With one threshold there is no middle band. */
static void equal_thresholds_make_two_bands(void **unused)
{
    (void)unused;
    static const int64_t both[] = {16000, 99999}, one[] = {16000, 15999};
    struct fixture f;
    start(&f, "16KB", "16KB");
    assert_int_equal(choose(&f, both, 2, 0), 0);
    assert_int_equal(choose(&f, both, 2, UINT32_MAX), 1);
    assert_int_equal(choose(&f, one, 2, 0), 1);
}

/* Lists the ports of the best band that has any, and takes the one that the draw points at. */
static uint32_t slow_choice(const int64_t *bytes, uint32_t n, uint32_t draw)
{
    uint32_t lists[4][MOST], n_of[4] = {0}, band = 0;
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t b = bytes[i] < 0 ? 3 : bytes[i] < 16000 ? 0 : bytes[i] < 32000 ? 1 : 2;
        lists[b][n_of[b]++] = i;
    }
    while (!n_of[band])
        band++;
    return lists[band][(uint32_t)((double)draw / 4294967296.0 * n_of[band])];
}

static void random_ports_as_in_the_slow_model(void **unused)
{
    (void)unused;
    static const int64_t edges[] = {0, 15999, 16000, 16001, 31999, 32000, 32001, -1};
    struct xoff_rng rng;
    struct fixture f;
    start(&f, "16KB", "32KB");
    xoff_rng_init(&rng, 7, 0, 0);
    for (uint32_t k = 0; k < 200000; k++) {
        int64_t bytes[MOST];
        const uint32_t n = 2 + (uint32_t)xoff_rng_below(&rng, MOST - 1);
        const uint32_t from = (uint32_t)xoff_rng_below(&rng, 8); /* so that good bands are empty */
        for (uint32_t i = 0; i < n; i++)
            bytes[i] = xoff_rng_below(&rng, 2) ? edges[from + xoff_rng_below(&rng, 8 - from)]
                                               : (int64_t)xoff_rng_below(&rng, 48000);
        const uint32_t draw = xoff_rng_u32(&rng);
        if (choose(&f, bytes, n, draw) != slow_choice(bytes, n, draw))
            fail_msg("seed 7, step %u", k);
    }
}

/* 300 000 draws over three favoured of five ports: 100 000 each, with a standard deviation of
 * sqrt(300000 * 1/3 * 2/3) = 258; 4 of them are 1033. */
static void the_best_band_is_shared_evenly(void **unused)
{
    (void)unused;
    static const int64_t bytes[] = {100, 20000, 15000, 40000, 0};
    uint32_t n_of[5] = {0};
    struct xoff_rng rng;
    struct fixture f;
    start(&f, "16KB", "32KB");
    xoff_rng_init(&rng, 11, 0, 0);
    for (uint32_t k = 0; k < 300000; k++)
        n_of[choose(&f, bytes, 5, xoff_rng_u32(&rng))]++;
    assert_int_equal(n_of[1] + n_of[3], 0);
    for (uint32_t i = 0; i < 5; i += 2)
        assert_in_range(n_of[i], 100000 - 1033, 100000 + 1033);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sees_what_goes_before_a_frame),
        cmocka_unit_test(even_ports_are_chosen_by_the_draw),
        cmocka_unit_test(reversed_thresholds_are_refused),
        cmocka_unit_test(both_sides_of_each_threshold),
        cmocka_unit_test(equal_thresholds_make_two_bands),
        cmocka_unit_test(random_ports_as_in_the_slow_model),
        cmocka_unit_test(the_best_band_is_shared_evenly),
    };
    return cmocka_run_group_tests_name("adaptive", tests, NULL, NULL);
}
