/* Occupied buffer units: every unit is drawn alike whatever came and went before, so that a flow's
 * share of the draws is its share of the queue (equation 3 of the occupancy sampling slides). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "net/occupancy.h"

#define N_QUEUES 3
#define N_PLACES 600
#define STEP 2

static void occupancy_setup(struct occupancy *occupancy, uint32_t unit_bytes,
                            uint32_t max_frame_bytes)
{
    *occupancy = (struct occupancy){.unit_bytes = unit_bytes,
                                    .per_frame = (max_frame_bytes + unit_bytes - 1) / unit_bytes,
                                    .step = STEP,
                                    .n_queues = N_QUEUES,
                                    .queues = calloc(N_QUEUES, sizeof *occupancy->queues)};
    assert_non_null(occupancy->queues);
    xoff_rng_init(&occupancy->rng, 11, 0, 0);
}

static void occupancy_teardown(struct occupancy *occupancy)
{
    for (uint32_t q = 0; q < N_QUEUES; q++)
        free(occupancy->queues[q].at);
    free(occupancy->queues), free(occupancy->index);
}

/* 256 B: a frame of 256 B has one unit, one of 257 B two, one of 64 B one, one of 1518 B six. */
static void units_of_a_frame(void **unused)
{
    (void)unused;
    struct occupancy occupancy;
    occupancy_setup(&occupancy, 256, 1518);
    static const struct {
        uint32_t bytes, n;
    } cases[] = {{64, 1}, {256, 1}, {257, 2}, {512, 2}, {513, 3}, {1518, 6}};
    for (uint32_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(occupancy_draw(&occupancy, 1), NET_NONE);
        occupancy_add(&occupancy, 1, i * STEP, cases[i].bytes);
        assert_int_equal(occupancy.queues[1].n, cases[i].n);
        assert_int_equal(occupancy_draw(&occupancy, 1), i * STEP);
        assert_int_equal(occupancy_draw(&occupancy, 0), NET_NONE);
        occupancy_remove(&occupancy, 1, i * STEP, cases[i].bytes);
        assert_int_equal(occupancy.queues[1].n, 0);
    }
    occupancy_teardown(&occupancy);
}

/* Every frame that is there has each of its units once, and nothing else is there. */
static void expect_exactly(const struct occupancy *occupancy, const uint32_t bytes[N_PLACES])
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < N_PLACES; i++) {
        const uint32_t k_max = bytes[i] ? (bytes[i] + 255) / 256 : 0;
        n += k_max;
        for (uint32_t k = 0; k < k_max; k++) {
            const struct occupied *q = &occupancy->queues[i % N_QUEUES];
            const uint32_t at = occupancy->index[(size_t)i * occupancy->per_frame + k];
            assert_true(at < q->n);
            assert_int_equal(q->at[at].place, i * STEP);
            assert_int_equal(q->at[at].which, k);
        }
    }
    assert_int_equal(n, occupancy->queues[0].n + occupancy->queues[1].n + occupancy->queues[2].n);
}

/* Frames come and go in random order; then draws are counted. Flow f has the places f mod 4 of
 * queue 0, of unlike sizes. With n draws and share p the standard deviation is below
 * sqrt(p / n); five of them are allowed, and no frame may be missing. */
static void draws_follow_occupancy(void **unused)
{
    (void)unused;
    struct occupancy occupancy;
    struct xoff_rng rng;
    uint32_t bytes[N_PLACES] = {0};
    occupancy_setup(&occupancy, 256, 9018);
    xoff_rng_init(&rng, 5, 0, 0);
    for (uint32_t i = 0; i < 50000; i++) {
        const uint32_t p = (uint32_t)xoff_rng_below(&rng, N_PLACES);
        if (bytes[p]) {
            occupancy_remove(&occupancy, p % N_QUEUES, p * STEP, bytes[p]);
            bytes[p] = 0;
        } else {
            bytes[p] = 64 + (uint32_t)xoff_rng_below(&rng, p % 4 ? 1455 : 8955);
            occupancy_add(&occupancy, p % N_QUEUES, p * STEP, bytes[p]);
        }
        if (i % 1000 == 0)
            expect_exactly(&occupancy, bytes);
    }
    expect_exactly(&occupancy, bytes);
    const uint32_t n_draws = 4000000;
    static uint32_t drawn[N_PLACES];
    for (uint32_t i = 0; i < n_draws; i++) {
        const uint32_t place = occupancy_draw(&occupancy, 0);
        assert_true(place % STEP == 0 && bytes[place / STEP] && place / STEP % N_QUEUES == 0);
        drawn[place / STEP]++;
    }
    double by_flow[4] = {0}, held[4] = {0};
    const double total = occupancy.queues[0].n;
    for (uint32_t p = 0; p < N_PLACES; p += N_QUEUES) {
        const double share = (double)((bytes[p] + 255) / 256) / total;
        const double got = (double)drawn[p] / n_draws;
        assert_true((got - share) * (got - share) <= 25 * share / n_draws);
        by_flow[p % 4] += got;
        held[p % 4] += share;
    }
    for (uint32_t f = 0; f < 4; f++) {
        assert_true(held[f] > 0.05); /* there is something to tell apart */
        assert_true((by_flow[f] - held[f]) * (by_flow[f] - held[f]) <= 25 * held[f] / n_draws);
    }
    occupancy_teardown(&occupancy);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(units_of_a_frame),
        cmocka_unit_test(draws_follow_occupancy),
    };
    return cmocka_run_group_tests_name("occupancy", tests, NULL, NULL);
}
