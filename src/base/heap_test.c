/* The deadline heap: edges by hand, then random operations against a plain array. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <xoff/rng.h>

#include "base/heap.h"

_Noreturn void xoff_assert_fail(const char *expression, const char *file, int line)
{
    mock_assert(0, expression, file, line);
    abort();
}

#define MAX_IDS 200

static struct heap_entry entries[MAX_IDS];
static uint32_t pos[MAX_IDS];
static xoff_time model[MAX_IDS]; /* deadline by id, XOFF_NEVER: none */

static void check_structure(const struct heap *heap)
{
    uint32_t n_present = 0;
    for (uint32_t id = 0; id < heap->capacity; id++) {
        if (model[id] == XOFF_NEVER) {
            assert_int_equal(heap->pos[id], HEAP_ABSENT);
            continue;
        }
        n_present++;
        assert_true(heap->pos[id] < heap->n);
        assert_int_equal(heap->entries[heap->pos[id]].id, id);
        assert_true(heap->entries[heap->pos[id]].at == model[id]);
    }
    assert_int_equal(heap->n, n_present);
    for (uint32_t i = 1; i < heap->n; i++)
        assert_true(heap_is_before(heap->entries[(i - 1) / 4], heap->entries[i]));
}

/* Earliest, and among equals the lowest id. */
static void check_top(const struct heap *heap)
{
    uint32_t first = 0;
    for (uint32_t id = 1; id < heap->capacity; id++)
        if (model[id] < model[first])
            first = id;
    assert_true(heap_top_at(heap) == model[first]);
    if (heap->n)
        assert_int_equal(heap_top_id(heap), first);
}

/* Out of line, so that nothing of them lives in a frame that a failed assert jumps back to. */
static __attribute__((noinline)) void set(struct heap *heap, uint32_t id, xoff_time at)
{
    heap_set(heap, id, at);
}

static __attribute__((noinline)) void drop(struct heap *heap, uint32_t id)
{
    heap_remove(heap, id);
}

static void empty_and_single(void **state)
{
    (void)state;
    struct heap heap;
    heap_init(&heap, entries, pos, 3);
    assert_true(heap_top_at(&heap) == XOFF_NEVER);
    expect_assert_failure(heap_top_id(&heap));
    drop(&heap, 2);
    set(&heap, 2, XOFF_NEVER);
    assert_true(heap_top_at(&heap) == XOFF_NEVER);

    set(&heap, 2, XOFF_NEVER - 1);
    assert_true(heap_top_at(&heap) == XOFF_NEVER - 1);
    assert_int_equal(heap_top_id(&heap), 2);
    set(&heap, 2, -5);
    assert_true(heap_top_at(&heap) == -5);
    set(&heap, 2, XOFF_NEVER);
    assert_true(heap_top_at(&heap) == XOFF_NEVER);
    assert_int_equal(heap.n, 0);

    expect_assert_failure(set(&heap, 3, 0));
    expect_assert_failure(drop(&heap, 3));
}

static void equal_times_come_by_id(void **state)
{
    (void)state;
    const uint32_t orders[2][5] = {{4, 2, 0, 1, 3}, {0, 1, 2, 3, 4}};
    for (int k = 0; k < 2; k++) {
        struct heap heap;
        heap_init(&heap, entries, pos, 5);
        for (int i = 0; i < 5; i++)
            heap_set(&heap, orders[k][i], 7);
        for (uint32_t id = 0; id < 5; id++) {
            assert_int_equal(heap_top_id(&heap), id);
            heap_remove(&heap, id);
        }
    }
    /* Signs and ids must not mix: -1 is before 0 whatever the ids. */
    struct heap heap;
    heap_init(&heap, entries, pos, MAX_IDS);
    heap_set(&heap, 0, 0);
    heap_set(&heap, MAX_IDS - 1, -1);
    assert_int_equal(heap_top_id(&heap), MAX_IDS - 1);
}

/* The entry that fills a hole can belong above it:
 *            0
 *     10        1 ...      (ids 1 and 2 are children of the root)
 *  11..14     2..5         (under 10: indices 5-8, under 1: 9-12)
 * Removing a child of 10 moves the last entry, 5, there; 5 is before 10. */
static void a_hole_may_be_filled_upwards(void **state)
{
    (void)state;
    const xoff_time layout[13] = {0, 10, 1, 20, 30, 11, 12, 13, 14, 2, 3, 4, 5};
    struct heap heap;
    heap_init(&heap, entries, pos, 13);
    for (uint32_t id = 0; id < 13; id++) {
        heap_set(&heap, id, layout[id]);
        assert_int_equal(heap.pos[id], id); /* each is after its parent: it stays where it came */
        model[id] = layout[id];
    }
    heap_remove(&heap, 6);
    model[6] = XOFF_NEVER;
    check_structure(&heap);
    assert_int_equal(heap.pos[12], 1);
    assert_int_equal(heap.pos[1], 6);
}

static void agrees_with_a_plain_array(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct xoff_rng rng;
        xoff_rng_init(&rng, seed, 0, 0);
        const uint32_t capacity = 1 + (uint32_t)xoff_rng_below(&rng, MAX_IDS);
        /* few distinct times in some runs, so that ties are common */
        const uint64_t n_times = seed % 2 ? 8 : UINT64_C(1) << 40;
        struct heap heap;
        heap_init(&heap, entries, pos, capacity);
        for (uint32_t id = 0; id < capacity; id++)
            model[id] = XOFF_NEVER;
        for (int step = 0; step < 3000; step++) {
            const uint64_t action = xoff_rng_below(&rng, 8);
            uint32_t id = (uint32_t)xoff_rng_below(&rng, capacity);
            xoff_time at = (xoff_time)xoff_rng_below(&rng, n_times) - (xoff_time)(n_times / 2);
            if (action == 0)
                at = XOFF_NEVER;
            if (action >= 5 && heap.n) { /* the usual case: the first is moved later */
                id = heap_top_id(&heap);
                at = heap_top_at(&heap) + (xoff_time)xoff_rng_below(&rng, n_times);
            }
            if (action == 1) {
                heap_remove(&heap, id);
                at = XOFF_NEVER;
            } else {
                heap_set(&heap, id, at);
            }
            model[id] = at;
            check_top(&heap);
            if (step % 16 == 0)
                check_structure(&heap);
        }
        while (heap.n) {
            check_top(&heap);
            const uint32_t id = heap_top_id(&heap);
            model[id] = XOFF_NEVER;
            heap_remove(&heap, id);
        }
        check_structure(&heap);
    }
}

static void grows_with_its_contents(void **state)
{
    (void)state;
    struct heap heap;
    struct heap_entry *small = malloc(4 * sizeof *small);
    uint32_t *small_pos = malloc(4 * sizeof *small_pos);
    heap_init(&heap, small, small_pos, 4);
    for (uint32_t id = 0; id < 4; id++)
        set(&heap, id, 100 - (xoff_time)id);
    struct heap_entry *large = realloc(small, 9 * sizeof *large);
    uint32_t *large_pos = realloc(small_pos, 9 * sizeof *large_pos);
    heap_grow(&heap, large, large_pos, 9);
    for (uint32_t id = 0; id < 9; id++)
        model[id] = id < 4 ? 100 - (xoff_time)id : XOFF_NEVER;
    check_structure(&heap);
    set(&heap, 8, 50);
    assert_int_equal(heap_top_id(&heap), 8);
    expect_assert_failure(heap_grow(&heap, large, large_pos, 8));
    free(large);
    free(large_pos);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(empty_and_single),
        cmocka_unit_test(equal_times_come_by_id),
        cmocka_unit_test(a_hole_may_be_filled_upwards),
        cmocka_unit_test(agrees_with_a_plain_array),
        cmocka_unit_test(grows_with_its_contents),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
