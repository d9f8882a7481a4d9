/* Sketches: the stated error, exact sums and extremes, and no dependence on order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include <xoff/rng.h>

#include "stats/sketch.h"

static int compare(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static bool is_near(uint64_t found, uint64_t value)
{
    const uint64_t away = found > value ? found - value : value - found;
    return away <= value / 1024;
}

/* Values of all magnitudes: each rank is answered within 1/1024, exactly at both ends. */
static void test_ranks(void **state)
{
    (void)state;
    enum { N = 20000 };
    static uint64_t values[N];
    struct sketch sketch = {0}, reversed = {0};
    struct xoff_rng rng = {.key = 7};
    unsigned __int128 sum = 0;
    for (uint32_t i = 0; i < N; i++) {
        values[i] = xoff_rng_u64(&rng) >> xoff_rng_below(&rng, 64);
        sum += values[i];
        assert_true(sketch_add(&sketch, values[i]));
    }
    for (uint32_t i = N; i > 0; i--)
        assert_true(sketch_add(&reversed, values[i - 1]));
    qsort(values, N, sizeof *values, compare);
    for (uint32_t i = 0; i < N; i++) {
        assert_true(is_near(sketch_rank(&sketch, i + 1), values[i]));
        assert_true(sketch_rank(&sketch, i + 1) == sketch_rank(&reversed, i + 1));
    }
    assert_true(sketch.n == N && sketch.sum == sum && reversed.sum == sum);
    assert_true(sketch.min == values[0] && sketch.max == values[N - 1]);
    assert_true(sketch_rank(&sketch, 1) == values[0]);
    assert_true(sketch_rank(&sketch, N) <= values[N - 1]);
    sketch_fini(&sketch);
    sketch_fini(&reversed);
}

/* The last value with a bin of its own and the first that shares one; the largest of all. */
static void test_edges(void **state)
{
    (void)state;
    static const uint64_t values[] = {0, 1, 511, 512, 1023, 1024, 1025, UINT64_MAX - 1, UINT64_MAX};
    const uint32_t n = sizeof values / sizeof *values;
    struct sketch sketch = {0};
    for (uint32_t i = 0; i < n; i++)
        assert_true(sketch_add(&sketch, values[i]));
    for (uint32_t i = 0; i < 5; i++) /* up to 1023 a bin has one value */
        assert_true(sketch_rank(&sketch, i + 1) == values[i]);
    assert_true(sketch_rank(&sketch, 6) == 1025 && sketch_rank(&sketch, 7) == 1025);
    assert_true(is_near(sketch_rank(&sketch, n), UINT64_MAX));
    sketch_fini(&sketch);
    assert_true(sketch.n == 0 && !sketch.octaves[0]);
}

/* One value, however often, is answered exactly: extremes bound the middle of its bin. */
static void test_constant(void **state)
{
    (void)state;
    struct sketch sketch = {0};
    for (uint32_t i = 0; i < 100; i++)
        assert_true(sketch_add(&sketch, 1000000));
    assert_true(sketch_rank(&sketch, 50) == 1000000 && sketch_rank(&sketch, 100) == 1000000);
    sketch_fini(&sketch);
}

static void test_merge(void **state)
{
    (void)state;
    struct sketch all = {0}, parts[2] = {{0}}, merged = {0};
    struct xoff_rng rng = {.key = 3};
    for (uint32_t i = 0; i < 1000; i++) {
        const uint64_t value = xoff_rng_u64(&rng) >> 20;
        assert_true(sketch_add(&all, value) && sketch_add(&parts[i % 2], value));
    }
    assert_true(sketch_merge(&merged, &(struct sketch){0}) && merged.n == 0);
    assert_true(sketch_merge(&merged, &parts[0]) && sketch_merge(&merged, &parts[1]));
    assert_true(merged.n == all.n && merged.sum == all.sum);
    assert_true(merged.min == all.min && merged.max == all.max);
    for (uint64_t rank = 1; rank <= all.n; rank++)
        assert_true(sketch_rank(&merged, rank) == sketch_rank(&all, rank));
    sketch_fini(&all), sketch_fini(&parts[0]), sketch_fini(&parts[1]), sketch_fini(&merged);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ranks),
        cmocka_unit_test(test_edges),
        cmocka_unit_test(test_constant),
        cmocka_unit_test(test_merge),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
