/* Sets of ranges: each way a range can meet others, the store's account, and random calls against a
 * bitmap. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <xoff/ranges.h>
#include <xoff/rng.h>

#define N_BLOCKS 64

struct storage {
    struct xoff_range blocks[N_BLOCKS];
    struct xoff_range_store store;
    uint32_t set;
};

static void storage_init(struct storage *s, uint32_t capacity)
{
    xoff_range_store_init(&s->store, s->blocks, capacity);
    s->set = XOFF_RANGE_NONE;
}

static uint64_t add(struct storage *s, uint64_t from, uint64_t to)
{
    return xoff_ranges_add(&s->store, &s->set, from, to);
}

/* `limits`: from, to, from, to, ... */
static void assert_ranges(const struct storage *s, const uint64_t *limits, uint32_t n_ranges)
{
    uint32_t at = s->set;
    for (uint32_t i = 0; i < n_ranges; i++, at = s->blocks[at].next) {
        assert_true(at != XOFF_RANGE_NONE);
        assert_int_equal(s->blocks[at].from, limits[2 * i]);
        assert_int_equal(s->blocks[at].to, limits[2 * i + 1]);
    }
    assert_true(at == XOFF_RANGE_NONE);
    assert_int_equal(s->store.n_taken, n_ranges);
}

#define ASSERT_RANGES(s, ...)                         \
    assert_ranges(s, (const uint64_t[]){__VA_ARGS__}, \
                  (uint32_t)(sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t) / 2))

/* Before, between, behind; touching on either side; inside; over several. */
static void ways_to_meet(void **unused)
{
    (void)unused;
    struct storage s;
    storage_init(&s, N_BLOCKS);
    assert_int_equal(add(&s, 20, 30), 10);
    assert_int_equal(add(&s, 40, 50), 10);
    assert_int_equal(add(&s, 5, 8), 3);
    assert_int_equal(add(&s, 32, 38), 6);
    ASSERT_RANGES(&s, 5, 8, 20, 30, 32, 38, 40, 50);

    assert_int_equal(add(&s, 22, 30), 0); /* inside */
    assert_int_equal(add(&s, 9, 9), 0);   /* empty */
    assert_int_equal(add(&s, 18, 20), 2); /* touches from below */
    assert_int_equal(add(&s, 50, 51), 1); /* touches from above */
    assert_int_equal(add(&s, 8, 10), 2);
    ASSERT_RANGES(&s, 5, 10, 18, 30, 32, 38, 40, 51);

    assert_int_equal(add(&s, 38, 40), 2); /* joins two */
    ASSERT_RANGES(&s, 5, 10, 18, 30, 32, 51);
    assert_int_equal(add(&s, 9, 33), 10); /* 10..17, 30, 31 are new */
    ASSERT_RANGES(&s, 5, 51);
    assert_int_equal(add(&s, 0, 100), 54);
    ASSERT_RANGES(&s, 0, 100);
}

/* One byte apart stays apart, none apart is merged. */
static void neighbours(void **unused)
{
    (void)unused;
    struct storage s;
    storage_init(&s, N_BLOCKS);
    add(&s, 10, 20);
    add(&s, 21, 30);
    ASSERT_RANGES(&s, 10, 20, 21, 30);
    add(&s, 20, 21);
    ASSERT_RANGES(&s, 10, 30);
}

static void trim_both_sides(void **unused)
{
    (void)unused;
    struct storage s;
    storage_init(&s, N_BLOCKS);
    add(&s, 10, 20);
    add(&s, 30, 40);
    assert_int_equal(xoff_ranges_trim(&s.store, &s.set, 10), 0);
    ASSERT_RANGES(&s, 10, 20, 30, 40);
    assert_int_equal(xoff_ranges_trim(&s.store, &s.set, 19), 9);
    ASSERT_RANGES(&s, 19, 20, 30, 40);
    assert_int_equal(xoff_ranges_trim(&s.store, &s.set, 20), 1);
    ASSERT_RANGES(&s, 30, 40);
    assert_int_equal(xoff_ranges_trim(&s.store, &s.set, 50), 10);
    assert_true(s.set == XOFF_RANGE_NONE);
    assert_int_equal(s.store.n_taken, 0);
}

static void questions(void **unused)
{
    (void)unused;
    struct storage s;
    uint64_t end;
    storage_init(&s, N_BLOCKS);
    assert_int_equal(xoff_ranges_gap(&s.store, s.set, 7, &end), 7);
    assert_true(end == UINT64_MAX);
    add(&s, 10, 20);
    add(&s, 30, 40);
    assert_int_equal(xoff_ranges_gap(&s.store, s.set, 9, &end), 9);
    assert_int_equal(end, 10);
    assert_int_equal(xoff_ranges_gap(&s.store, s.set, 10, &end), 20);
    assert_int_equal(end, 30);
    assert_int_equal(xoff_ranges_gap(&s.store, s.set, 20, &end), 20);
    assert_int_equal(end, 30);
    assert_int_equal(xoff_ranges_gap(&s.store, s.set, 39, &end), 40);
    assert_true(end == UINT64_MAX);
    assert_int_equal(xoff_ranges_above(&s.store, s.set, 0), 20);
    assert_int_equal(xoff_ranges_above(&s.store, s.set, 11), 19);
    assert_int_equal(xoff_ranges_above(&s.store, s.set, 25), 10);
    assert_int_equal(xoff_ranges_above(&s.store, s.set, 40), 0);
    assert_true(xoff_ranges_find(&s.store, s.set, 9) == XOFF_RANGE_NONE);
    assert_int_equal(xoff_ranges_find(&s.store, s.set, 10), s.set);
    assert_int_equal(xoff_ranges_find(&s.store, s.set, 19), s.set);
    assert_true(xoff_ranges_find(&s.store, s.set, 20) == XOFF_RANGE_NONE);
    assert_int_equal(xoff_ranges_find(&s.store, s.set, 39), s.blocks[s.set].next);
    assert_true(xoff_ranges_find(&s.store, s.set, 40) == XOFF_RANGE_NONE);
}

/* A full store serves what needs no block, and what was returned is taken again. */
static void pool_account(void **unused)
{
    (void)unused;
    struct storage s;
    uint32_t other = XOFF_RANGE_NONE;
    storage_init(&s, 3);
    add(&s, 10, 20);
    add(&s, 30, 40);
    assert_false(xoff_range_store_is_full(&s.store));
    xoff_ranges_add(&s.store, &other, 0, 5);
    assert_true(xoff_range_store_is_full(&s.store));
    assert_int_equal(add(&s, 20, 25), 5);
    assert_int_equal(add(&s, 25, 30), 5); /* joins: one block comes back */
    assert_false(xoff_range_store_is_full(&s.store));
    assert_int_equal(s.store.n_taken, 2);
    assert_int_equal(s.store.peak, 3);
    xoff_ranges_add(&s.store, &other, 100, 105);
    assert_true(xoff_range_store_is_full(&s.store));
    xoff_ranges_clear(&s.store, &s.set);
    xoff_ranges_clear(&s.store, &other);
    assert_true(s.set == XOFF_RANGE_NONE);
    assert_int_equal(s.store.n_taken, 0);
    assert_int_equal(s.store.used, 3);
}

/* Two sets of one store, each beside a bitmap of 256 bytes. */
#define N_BYTES 256

static uint64_t count(const uint8_t *map, uint64_t from, uint64_t to)
{
    uint64_t n = 0;
    for (uint64_t i = from; i < to; i++)
        n += map[i];
    return n;
}

static void compare(const struct xoff_range_store *store, uint32_t set, const uint8_t *map)
{
    uint8_t seen[N_BYTES] = {0};
    uint64_t last = 0;
    for (uint32_t at = set; at != XOFF_RANGE_NONE; at = store->blocks[at].next) {
        const struct xoff_range *range = &store->blocks[at];
        assert_true(range->from < range->to);
        assert_true(at == set || range->from > last); /* sorted, and no two touch */
        last = range->to;
        memset(seen + range->from, 1, (size_t)(range->to - range->from));
    }
    assert_memory_equal(seen, map, N_BYTES);
}

static void ask(const struct xoff_range_store *store, uint32_t set, const uint8_t *map, uint64_t at)
{
    uint64_t end, hole = at, hole_end;
    while (hole < N_BYTES && map[hole])
        hole++;
    for (hole_end = hole; hole_end < N_BYTES && !map[hole_end]; hole_end++)
        ;
    assert_int_equal(xoff_ranges_gap(store, set, at, &end), hole);
    assert_true(end == (hole_end == N_BYTES ? UINT64_MAX : hole_end));
    assert_int_equal(xoff_ranges_above(store, set, at), count(map, at, N_BYTES));
    assert_int_equal(xoff_ranges_find(store, set, at) != XOFF_RANGE_NONE, map[at]);
}

static void against_a_bitmap(void **unused)
{
    (void)unused;
    for (uint64_t seed = 0; seed < 200; seed++) {
        static struct xoff_range blocks[N_BYTES];
        struct xoff_range_store store;
        struct xoff_rng rng;
        uint32_t sets[2] = {XOFF_RANGE_NONE, XOFF_RANGE_NONE};
        uint8_t maps[2][N_BYTES] = {{0}};
        xoff_rng_init(&rng, seed, 0, 0);
        xoff_range_store_init(&store, blocks, N_BYTES);
        for (int step = 0; step < 300; step++) {
            const uint64_t which = xoff_rng_below(&rng, 2);
            uint8_t *const map = maps[which];
            const uint64_t at = xoff_rng_below(&rng, N_BYTES);
            const uint64_t to =
                at + xoff_rng_below(&rng, (N_BYTES - at < 20 ? N_BYTES - at : 20) + 1);
            if (xoff_rng_below(&rng, 40) == 0) {
                assert_int_equal(xoff_ranges_trim(&store, &sets[which], at), count(map, 0, at));
                memset(map, 0, (size_t)at);
            } else {
                assert_int_equal(xoff_ranges_add(&store, &sets[which], at, to),
                                 to - at - count(map, at, to));
                memset(map + at, 1, (size_t)(to - at));
            }
            compare(&store, sets[which], map);
            ask(&store, sets[which], map, xoff_rng_below(&rng, N_BYTES));
        }
        xoff_ranges_clear(&store, &sets[0]);
        xoff_ranges_clear(&store, &sets[1]);
        assert_int_equal(store.n_taken, 0);
        assert_true(store.peak <= store.used);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ways_to_meet),    cmocka_unit_test(neighbours),
        cmocka_unit_test(trim_both_sides), cmocka_unit_test(questions),
        cmocka_unit_test(pool_account),    cmocka_unit_test(against_a_bitmap),
    };
    return cmocka_run_group_tests_name("ranges", tests, NULL, NULL);
}
