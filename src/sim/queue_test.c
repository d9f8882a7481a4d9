/* The event queue: keys by hand, crowded buckets, random operations against a plain list, and the
 * fairness of ties. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <xoff/rng.h>

#include "sim/queue.h"

#define MAX_SLOTS 300

static struct queue queue;
static uint16_t ports[QUEUE_MAX_SLOTS];

/* A window of `length` cut into 1 << bits buckets, for so many events at a time. */
static void open_for(xoff_time start, xoff_time length, unsigned bits, uint32_t n_events)
{
    if (!queue.keys)
        queue_init(&queue);
    queue.start = start;
    queue.ports = ports;
    queue_open(&queue, length, bits, n_events);
}

static void open_window(xoff_time start, xoff_time length, unsigned bits)
{
    open_for(start, length, bits, MAX_SLOTS);
}

static void put(uint32_t slot, xoff_time at, enum sim_kind kind, uint32_t port)
{
    ports[slot] = (uint16_t)port;
    queue_insert(&queue, queue_key(&queue, at, kind, slot));
}

/* Takes the next event and returns its slot; QUEUE_MAX_SLOTS: there is none. */
static uint32_t take(void)
{
    return queue.first_key == QUEUE_NONE ? QUEUE_MAX_SLOTS : queue_key_slot(queue_take(&queue));
}

static void assert_clear(void)
{
    for (uint32_t i = 0; i < queue.capacity / 64; i++)
        assert_true(queue.occupied[i] == (i == queue.n_places / 64));
    for (uint32_t i = 0; i <= queue.capacity; i++)
        assert_true(queue.keys[i] == QUEUE_NONE);
}

static void key_layout(void **state)
{
    (void)state;
    open_window(-5, 100, 6);
    assert_true(queue_key(&queue, 0, SIM_ARRIVAL, 0) == UINT64_C(5) << 28);
    assert_true(queue_key(&queue, 0, SIM_TIMER, 7) == (UINT64_C(5) << 28 | 1 << 26 | 7));
    const uint64_t key = queue_key(&queue, 0, SIM_TRANSMIT, QUEUE_MAX_SLOTS - 1);
    assert_true(key == (UINT64_C(5) << 28 | 2 << 26 | 65534));
    assert_int_equal(queue_key_at(&queue, key), 0);
    assert_int_equal(queue_key_kind(key), SIM_TRANSMIT);
    assert_int_equal(queue_key_slot(key), 65534);
    assert_int_equal(queue_key_slot(QUEUE_NONE), QUEUE_MAX_SLOTS);
}

/* Each part outranks all that follow it, at both ends of the largest window. */
static void key_order(void **state)
{
    (void)state;
    const xoff_time starts[] = {0, 123456789, XOFF_S, XOFF_NEVER - QUEUE_MAX_WINDOW};
    for (size_t i = 0; i < sizeof starts / sizeof starts[0]; i++) {
        open_window(starts[i], QUEUE_MAX_WINDOW, 12);
        const xoff_time last = starts[i] + QUEUE_MAX_WINDOW - 1;
        assert_true(queue_key(&queue, last - 1, SIM_TRANSMIT, 65534) <
                    queue_key(&queue, last, SIM_ARRIVAL, 0));
        assert_true(queue_key(&queue, starts[i], SIM_TRANSMIT, 65534) <
                    queue_key(&queue, starts[i] + 1, SIM_ARRIVAL, 0));
        assert_true(queue_key(&queue, last, SIM_ARRIVAL, 65534) <
                    queue_key(&queue, last, SIM_TIMER, 0));
        assert_true(queue_key(&queue, last, SIM_TIMER, 65534) <
                    queue_key(&queue, last, SIM_TRANSMIT, 0));
        assert_true(queue_key(&queue, last, SIM_TIMER, 8) < queue_key(&queue, last, SIM_TIMER, 9));
        assert_true(queue_key(&queue, last, SIM_TRANSMIT, 65534) < QUEUE_NONE);
    }
}

/* Frames of one size at one rate meet at multiples of their time, again and again. Of two ports
 * each should come first in half of 4000 ties; the standard deviation is 0.8 %, and over 64 * 63 /
 * 2 pairs and these periods the extreme lies near 4.5 of them: 40 % to 60 % leaves room. */
static void ties_are_fair_to_pairs(void **state)
{
    (void)state;
    const xoff_time periods[] = {1, 80, 1000, 4096, 6720, 123040, XOFF_US};
    const uint32_t n_ports = 64, n_ties = 4000;
    for (size_t t = 0; t < sizeof periods / sizeof periods[0]; t++) {
        static uint32_t wins[64][64];
        memset(wins, 0, sizeof wins);
        for (uint32_t i = 1; i <= n_ties; i++) {
            uint64_t tie[64];
            for (uint32_t p = 0; p < n_ports; p++)
                tie[p] = queue_tie((xoff_time)i * periods[t], p) << 16 | p;
            for (uint32_t p = 0; p < n_ports; p++)
                for (uint32_t q = 0; q < n_ports; q++)
                    wins[p][q] += tie[p] < tie[q];
        }
        for (uint32_t p = 0; p < n_ports; p++)
            for (uint32_t q = 0; q < n_ports; q++)
                if (p != q)
                    assert_in_range(wins[p][q], n_ties * 2 / 5, n_ties * 3 / 5);
    }
}

/* Of n ports each is first, and each is last, in about 1/n of the ties: 1000 of n * 1000, standard
 * deviation below 32. Equal hashes give the lower port a little more: with 32 ports the first place
 * is shared by two in about 3 % of the ties. */
static void ties_are_fair_to_all(void **state)
{
    (void)state;
    const uint32_t sizes[] = {2, 3, 8, 32};
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
        uint32_t first[32] = {0}, last[32] = {0};
        for (uint32_t i = 0; i < sizes[s] * 1000; i++) {
            open_window((xoff_time)i * 6720, 1, 6);
            for (uint32_t p = 0; p < sizes[s]; p++)
                put(p, queue.start, SIM_ARRIVAL, p);
            uint32_t slot = take();
            first[slot]++;
            for (uint32_t next; (next = take()) != QUEUE_MAX_SLOTS;)
                slot = next;
            last[slot]++;
        }
        for (uint32_t p = 0; p < sizes[s]; p++) {
            assert_in_range(first[p], 830, 1170);
            assert_in_range(last[p], 830, 1170);
        }
    }
}

static void empty_and_edges(void **state)
{
    (void)state;
    for (unsigned bits = 6; bits <= 12; bits++) {
        open_window(1000, INT64_C(1) << bits, bits);
        assert_int_equal(queue.shift, 28);
        assert_int_equal(take(), QUEUE_MAX_SLOTS);

        /* The first and the last bucket, and the two sides of a word. */
        open_window(1000, INT64_C(1) << bits, bits);
        const xoff_time last = 1000 + (INT64_C(1) << bits) - 1;
        put(0, last, SIM_ARRIVAL, 0);
        put(65534, 1000, SIM_ARRIVAL, 1);
        put(2, 1063, SIM_TRANSMIT, 0);
        put(3, 1064 <= last ? 1064 : 1063, SIM_TIMER, 0);
        assert_int_equal(take(), 65534);
        if (bits == 6) { /* 1063 is the last: arrival, timer, transmit */
            assert_int_equal(take(), 0);
            assert_int_equal(take(), 3);
            assert_int_equal(take(), 2);
        } else {
            assert_int_equal(take(), 2);
            assert_int_equal(take(), 3);
            assert_int_equal(take(), 0);
        }
        assert_int_equal(take(), QUEUE_MAX_SLOTS);
        assert_clear();
    }
}

/* Four entries of one bucket: remove the first, a middle one, the last, the only one. */
static void remove_inside_a_bucket(void **state)
{
    (void)state;
    open_window(0, 64 * 128, 6);
    put(10, 30, SIM_TIMER, 0);
    put(11, 10, SIM_TIMER, 0);
    put(12, 40, SIM_TIMER, 0);
    put(13, 20, SIM_TIMER, 0);
    assert_true(queue.occupied[0] == 15);
    queue_remove(&queue, queue_key(&queue, 10, SIM_TIMER, 11));
    queue_remove(&queue, queue_key(&queue, 30, SIM_TIMER, 10));
    queue_remove(&queue, queue_key(&queue, 40, SIM_TIMER, 12));
    assert_true(queue.occupied[0] == 1);
    assert_int_equal(take(), 13);
    put(11, 50, SIM_TIMER, 0);
    queue_remove(&queue, queue_key(&queue, 50, SIM_TIMER, 11));
    assert_clear();
    assert_int_equal(take(), QUEUE_MAX_SLOTS);
}

/* What was pushed out of its bucket goes back when there is room, and no further. */
static void remove_brings_back(void **state)
{
    (void)state;
    open_window(0, 64 * 128, 6);
    put(1, 10, SIM_TIMER, 0);
    put(2, 20, SIM_TIMER, 0);
    put(3, 30, SIM_TIMER, 0);
    put(4, 128 + 5, SIM_TIMER, 0);     /* pushed to place 3 */
    put(5, 4 * 128 + 5, SIM_TIMER, 0); /* in its place */
    assert_true(queue.occupied[0] == 31);
    queue_remove(&queue, queue_key(&queue, 20, SIM_TIMER, 2));
    assert_true(queue.occupied[0] == 23);
    queue_remove(&queue, queue_key(&queue, 10, SIM_TIMER, 1));
    assert_true(queue.occupied[0] == 19);
    assert_int_equal(take(), 3);
    assert_int_equal(take(), 4);
    assert_int_equal(take(), 5);
    assert_clear();
}

/* Events that keep following each other within one bucket, the last of a window, use no more places
 * than there are events at a time, or find new ones when they come to the end. */
static void many_in_the_last_bucket(void **state)
{
    (void)state;
    open_for(0, 64 * 100000, 6, 70);
    const uint32_t n_places = queue.n_places;
    xoff_time at = 63 * 100000;
    for (uint32_t slot = 0; slot < 8; slot++)
        put(slot, at++, SIM_TIMER, 0);
    for (uint32_t i = 0; i < 1000; i++) { /* take two, put two */
        assert_int_equal(take(), 2 * i % 8);
        assert_int_equal(take(), (2 * i + 1) % 8);
        put(2 * i % 8, at++, SIM_TIMER, 0);
        put((2 * i + 1) % 8, at++, SIM_TIMER, 0);
        assert_int_equal(queue.n_places, n_places);
    }
    for (uint32_t i = 0; i < 8; i++)
        assert_int_equal(take(), i);
    assert_clear();
}

/* Many events of one time, in any order, and removed in another: ties are ordered by hash, then by
 * slot. */
static void many_ties(void **state)
{
    (void)state;
    open_window(0, 64 * 1000, 6);
    for (uint32_t i = 0; i < 200; i++)
        put(i * 77 % 200, 5000, SIM_ARRIVAL, i * 77 % 200);
    for (uint32_t slot = 0; slot < 200; slot += 3)
        queue_remove(&queue, queue_key(&queue, 5000, SIM_ARRIVAL, slot));
    uint64_t last = 0;
    for (uint32_t i = 0; i < 133; i++) {
        const uint32_t slot = take();
        const uint64_t tie = queue_tie(5000, slot) << 16 | slot;
        assert_int_not_equal(slot % 3, 0);
        assert_true(i == 0 || tie > last);
        last = tie;
    }
    assert_clear();
}

/* A queue that is opened wider keeps what it holds. */
static void wider(void **state)
{
    (void)state;
    open_for(0, 1 << 20, 6, 64 + 3);
    for (uint32_t slot = 0; slot < 5000; slot++) {
        if (slot == 64)
            queue_open_wider(&queue, 1 << 20, 8, 256 + 3);
        if (slot == 256)
            queue_open_wider(&queue, 1 << 20, 13, 8192 + 3);
        put(slot, (xoff_time)(slot * 7919 % 1000003), SIM_ARRIVAL, slot % 7);
    }
    xoff_time last = -1;
    for (uint32_t i = 0; i < 5000; i++) {
        const uint64_t key = queue_take(&queue);
        assert_int_equal(queue_key_slot(key) * UINT64_C(7919) % 1000003, queue_key_at(&queue, key));
        assert_true(queue_key_at(&queue, key) > last);
        last = queue_key_at(&queue, key);
    }
    assert_clear();
}

/* Keys that are put in all at once, some into one bucket, come out in order. */
static void filled_at_once(void **state)
{
    (void)state;
    open_window(1000, 6400, 6);
    for (uint32_t slot = 0; slot < 60; slot++) {
        ports[slot] = 0;
        queue_fill(&queue, queue_key(&queue, 1000 + slot * 4111 % 6367, SIM_ARRIVAL, slot));
    }
    queue_look(&queue, 0);
    xoff_time last = 0;
    for (uint32_t i = 0; i < 60; i++) {
        const xoff_time at = queue_key_at(&queue, queue.first_key);
        assert_true(at > last);
        last = at;
        assert_int_equal(take() * 4111 % 6367, last - 1000);
    }
    assert_true(queue.first_key == QUEUE_NONE);
    assert_clear();
}

/* An entry before all that were taken, in an earlier word of the bitmap, is not missed. */
static void insert_before_the_scan(void **state)
{
    (void)state;
    open_window(0, 4096, 12);
    put(1, 4000, SIM_TIMER, 0);
    put(2, 4001, SIM_TIMER, 0);
    assert_int_equal(take(), 1);
    put(3, 5, SIM_TIMER, 0);
    assert_int_equal(take(), 3);
    assert_int_equal(take(), 2);
    assert_int_equal(take(), QUEUE_MAX_SLOTS);
}

/* The earliest key is known without being taken. */
static void first_key(void **state)
{
    (void)state;
    open_window(1000, 6400, 6);
    assert_true(queue.first_key == QUEUE_NONE);
    open_window(1000, 6400, 6);
    put(2, 3051, SIM_ARRIVAL, 0);
    assert_true(queue.first_key == queue_key(&queue, 3051, SIM_ARRIVAL, 2));
    put(1, 3050, SIM_TRANSMIT, 0);
    assert_true(queue.first_key == queue_key(&queue, 3050, SIM_TRANSMIT, 1));
    assert_int_equal(take(), 1);
    assert_int_equal(take(), 2);
}

struct entry {
    bool is_in;
    xoff_time at;
    enum sim_kind kind;
    uint32_t port;
};

/* The rule, part by part. The hash is the queue's own: what it is does not matter here. */
static bool is_before(const struct entry *entries, uint32_t a, uint32_t b)
{
    const struct entry *x = &entries[a], *y = &entries[b];
    if (x->at != y->at)
        return x->at < y->at;
    if (x->kind != y->kind)
        return x->kind < y->kind;
    const uint64_t tie_x = queue.ties_by_port ? 0 : queue_tie(x->at, x->port);
    const uint64_t tie_y = queue.ties_by_port ? 0 : queue_tie(y->at, y->port);
    return tie_x != tie_y ? tie_x < tie_y : a < b;
}

static uint32_t naive_take(struct entry *entries, uint32_t n_slots)
{
    uint32_t best = QUEUE_MAX_SLOTS;
    for (uint32_t i = 0; i < n_slots; i++)
        if (entries[i].is_in && (best == QUEUE_MAX_SLOTS || is_before(entries, i, best)))
            best = i;
    if (best != QUEUE_MAX_SLOTS)
        entries[best].is_in = false;
    return best;
}

static xoff_time naive_first_at(const struct entry *entries, uint32_t n_slots)
{
    xoff_time first_at = XOFF_NEVER;
    for (uint32_t i = 0; i < n_slots; i++)
        if (entries[i].is_in)
            first_at = xoff_time_min(first_at, entries[i].at);
    return first_at;
}

/* One window: slots come, go and are taken, few times apart so that many are equal. */
static void check_window(struct xoff_rng *rng)
{
    static const xoff_time lengths[] = {1, 2, 63, 64, 65, 1000, 4096, 123457, QUEUE_MAX_WINDOW};
    static struct entry entries[MAX_SLOTS];
    const xoff_time length = lengths[xoff_rng_below(rng, sizeof lengths / sizeof lengths[0])];
    const xoff_time start = (xoff_time)xoff_rng_below(rng, 1000 * (uint64_t)XOFF_S);
    const uint32_t n_slots = 1 + (uint32_t)xoff_rng_below(rng, MAX_SLOTS);
    const uint64_t n_times = 1 + xoff_rng_below(rng, (uint64_t)length < 40 ? (uint64_t)length : 40);
    open_for(start, length, 6 + (unsigned)xoff_rng_below(rng, 7), n_slots);
    queue.ties_by_port = xoff_rng_below(rng, 8) == 0;
    const bool only_later = xoff_rng_below(rng, 4) != 0; /* as the engine does */
    xoff_time now = start;
    memset(entries, 0, sizeof entries);

    for (uint32_t step = 0; step < 600; step++) {
        const uint32_t slot = (uint32_t)xoff_rng_below(rng, n_slots);
        struct entry *e = &entries[slot];
        const xoff_time first_at = naive_first_at(entries, n_slots);
        const uint64_t key = queue.first_key;
        assert_true(first_at == XOFF_NEVER ? key == UINT64_MAX
                                           : (xoff_time)(key >> 28) == first_at - start);
        if (xoff_rng_below(rng, 3) == 0) {
            const uint32_t expected = naive_take(entries, n_slots);
            assert_int_equal(take(), expected);
            if (expected != QUEUE_MAX_SLOTS)
                now = entries[expected].at;
        } else if (e->is_in) {
            queue_remove(&queue, queue_key(&queue, e->at, e->kind, slot));
            e->is_in = false;
        } else {
            const xoff_time base = only_later ? now : start;
            const xoff_time room = start + length - base;
            const xoff_time grain = room / (xoff_time)n_times + 1;
            *e = (struct entry){.is_in = true,
                                .at = base + (xoff_time)xoff_rng_below(rng, n_times) * grain % room,
                                .kind = (enum sim_kind)xoff_rng_below(rng, 3),
                                .port = slot % 7};
            put(slot, e->at, e->kind, e->port);
        }
    }
    for (uint32_t expected; (expected = naive_take(entries, n_slots)) != QUEUE_MAX_SLOTS;)
        assert_int_equal(take(), expected);
    assert_int_equal(take(), QUEUE_MAX_SLOTS);
    assert_clear();
}

static void random_operations(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 600; seed++) {
        struct xoff_rng rng;
        xoff_rng_init(&rng, seed, 0, 0);
        check_window(&rng);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(key_layout),
        cmocka_unit_test(key_order),
        cmocka_unit_test(ties_are_fair_to_pairs),
        cmocka_unit_test(ties_are_fair_to_all),
        cmocka_unit_test(empty_and_edges),
        cmocka_unit_test(remove_inside_a_bucket),
        cmocka_unit_test(remove_brings_back),
        cmocka_unit_test(many_in_the_last_bucket),
        cmocka_unit_test(many_ties),
        cmocka_unit_test(wider),
        cmocka_unit_test(filled_at_once),
        cmocka_unit_test(insert_before_the_scan),
        cmocka_unit_test(first_key),
        cmocka_unit_test(random_operations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
