/* Room at the outputs of a crossbar, by hand: which priorities are open, who may cross, when the
 * arbiter is asked, and whose turn it is to be given room ahead. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <xoff/rng.h>

#include "net/cioq_room.h"

enum { N = 70, WORDS = 2, MOST = 1000 };

/* A switch of N ports, of which only the parts that the functions read are there. */
struct rig {
    struct cioq c;
    struct cioq_output outputs[N];
    uint64_t idle_inputs[WORDS], idle_outputs[WORDS], wanted[WORDS];
    uint64_t asks[N * XOFF_N_PRIORITIES * WORDS], granted[N * XOFF_N_PRIORITIES * WORDS];
    uint64_t asking[N * WORDS];
    struct cioq_voq voqs[N * XOFF_N_PRIORITIES];
    uint8_t last_priority[N * N];
    struct frame frames[N];
    struct worker worker;
};

static struct rig rig;

static void rig_setup(int64_t shared_bytes, int64_t reserve_bytes, bool ahead)
{
    memset(&rig, 0, sizeof rig);
    struct cioq *c = &rig.c;
    c->sw.n_ports = N;
    c->n_words = WORDS;
    c->outputs = rig.outputs;
    c->output_cfg = (struct cioq_output_cfg){
        .shared_bytes = shared_bytes, .reserve_bytes = reserve_bytes, .max_frame_bytes = MOST};
    c->idle_inputs = rig.idle_inputs, c->idle_outputs = rig.idle_outputs;
    memset(rig.idle_inputs, 0xff, sizeof rig.idle_inputs);
    memset(rig.idle_outputs, 0xff, sizeof rig.idle_outputs);
    c->wanted = rig.wanted, c->asking = rig.asking;
    c->asks = rig.asks, c->granted = ahead ? rig.granted : NULL;
    c->voqs = rig.voqs; /* without VOQs: one queue of each input and priority */
    c->last_priority = rig.last_priority;
    c->sw.store.frames = rig.frames;
    c->slot_for = 100;
    c->first_at = c->match_at = XOFF_NEVER;
    c->is_in_timer = true; /* who calls sets the clock */
    for (uint32_t out = 0; out < N; out++)
        rig.outputs[out].open = XOFF_ALL_PRIORITIES;
}

/* The head of a queue, of 600 B, asks for an output. */
static void ask(uint32_t in, uint32_t out, uint32_t priority)
{
    rig.frames[in].bytes = 600;
    rig.voqs[in * XOFF_N_PRIORITIES + priority].head = in;
    cioq_put_in(cioq_row(rig.asks, WORDS, out, priority), WORDS, in);
    rig.outputs[out].asked |= (uint8_t)(1u << priority);
}

static bool may_cross(uint32_t in, uint32_t out)
{
    return cioq_is_in(&rig.asking[out * WORDS], WORDS, in);
}

/* Without reserves a largest frame must fit what is left to share: 1000 B do, 999 B do not. */
static void shared_room_has_a_boundary(void **state)
{
    (void)state;
    rig_setup(3000, 0, false);
    ask(65, 1, 3);
    assert_false(cioq_take_room(&rig.c, 1, 3, 2000));
    assert_int_equal(rig.outputs[1].open, 0xff);
    assert_true(cioq_take_room(&rig.c, 1, 3, 1));
    assert_int_equal(rig.outputs[1].open, 0);
    assert_true(cioq_take_room(&rig.c, 1, 3, -1));
    assert_int_equal(rig.outputs[1].open, 0xff);
    assert_int_equal(rig.outputs[1].peak_bytes, 2001);
    assert_int_equal(rig.outputs[1].taken_bytes, 2000);
    assert_int_equal(rig.outputs[1].shared_bytes, 2000);
}

/* Each priority has 1000 B, and all share 500 B: with 500 B taken of a reserve a largest frame
 * takes the other 500 B of it and all of the rest, with 501 B it does not fit. Other priorities may
 * still use their own. */
static void a_reserve_has_a_boundary(void **state)
{
    (void)state;
    rig_setup(500, 1000, false);
    cioq_take_room(&rig.c, 0, 3, 500);
    assert_int_equal(rig.outputs[0].open, 0xff);
    cioq_take_room(&rig.c, 0, 3, 1);
    assert_int_equal(rig.outputs[0].open, 0xff & ~(1u << 3));
    assert_int_equal(rig.outputs[0].shared_bytes, 0);
    cioq_take_room(&rig.c, 0, 4, 1500); /* all that is shared */
    assert_int_equal(rig.outputs[0].shared_bytes, 500);
    assert_int_equal(rig.outputs[0].open, 0xff & ~(1u << 3 | 1u << 4));
}

/* Only a priority that is asked for decides anything. */
static void room_for_nobody_is_no_news(void **state)
{
    (void)state;
    rig_setup(3000, 0, false);
    assert_false(cioq_take_room(&rig.c, 1, 3, 2500));
    ask(2, 1, 3);
    assert_true(cioq_take_room(&rig.c, 1, 3, -2500));
    assert_true(may_cross(2, 1));
}

/* Against the definition: a frame takes of the reserve first, and what that does not cover of what
 * is shared. */
static void rooms_as_defined(void **state)
{
    (void)state;
    struct xoff_rng rng;
    xoff_rng_init(&rng, 5, 0, 0);
    for (uint32_t round = 0; round < 200; round++) {
        const int64_t reserve = (int64_t)xoff_rng_below(&rng, 2500);
        const int64_t shared = MOST + (int64_t)xoff_rng_below(&rng, 4000);
        int64_t taken[XOFF_N_PRIORITIES] = {0};
        rig_setup(shared, reserve, false);
        for (uint32_t step = 0; step < 100; step++) {
            const uint32_t p = (uint32_t)xoff_rng_below(&rng, XOFF_N_PRIORITIES);
            const int64_t give = taken[p] < MOST ? taken[p] : MOST;
            const bool takes = rig.outputs[7].open >> p & 1 && xoff_rng_below(&rng, 3);
            const int64_t bytes = takes ? 64 + (int64_t)xoff_rng_below(&rng, MOST - 63) : -give;
            cioq_take_room(&rig.c, 7, p, bytes);
            taken[p] += bytes;
            int64_t used = 0;
            for (uint32_t q = 0; q < XOFF_N_PRIORITIES; q++)
                used += taken[q] > reserve ? taken[q] - reserve : 0;
            assert_true(used <= shared);
            for (uint32_t q = 0; q < XOFF_N_PRIORITIES; q++) {
                const int64_t covered = taken[q] < reserve ? reserve - taken[q] : 0;
                assert_int_equal(rig.outputs[7].open >> q & 1, covered + shared - used >= MOST);
            }
        }
    }
}

/* Priorities of a pair take turns: after 3 comes 5, after 5 comes 3 again; alone, 3 follows 3. */
static void priorities_take_turns(void **state)
{
    (void)state;
    rig_setup(3000, 0, false);
    rig.last_priority[1 * N + 2] = 3;
    assert_int_equal(cioq_next_priority(&rig.c, 2, 1, 1u << 3 | 1u << 5), 5);
    assert_int_equal(cioq_next_priority(&rig.c, 2, 1, 1u << 3), 3);
    rig.last_priority[1 * N + 2] = 5;
    assert_int_equal(cioq_next_priority(&rig.c, 2, 1, 1u << 3 | 1u << 5), 3);
    rig.last_priority[1 * N + 2] = 7;
    assert_int_equal(cioq_next_priority(&rig.c, 2, 1, 1u << 0 | 1u << 7), 0);
}

/* Slots of 100 ps: what is known at the start of a slot is arbitrated in it, 1 ps later; what comes
 * after the start waits for the next. A matching that is to come is not put off. */
static void matches_are_in_the_next_slot(void **state)
{
    (void)state;
    rig_setup(3000, 0, false);
    rig.worker.now = 200;
    cioq_want_match(&rig.c, &rig.worker);
    assert_int_equal(rig.c.match_slot, 2);
    assert_int_equal(rig.c.match_at, 201);
    rig.worker.now = 201;
    cioq_want_match(&rig.c, &rig.worker);
    assert_int_equal(rig.c.match_at, 201);
    rig.c.match_at = XOFF_NEVER;
    cioq_want_match(&rig.c, &rig.worker);
    assert_int_equal(rig.c.match_slot, 3);
    assert_int_equal(rig.c.match_at, 301);
}

/* A busy input or output lets a pair wait; the set of who may cross knows of it all the same. */
static void busy_ports_ask_for_no_match(void **state)
{
    (void)state;
    rig_setup(3000, 0, false);
    cioq_take_out(rig.idle_inputs, WORDS, 65);
    cioq_let_cross(&rig.c, &rig.worker, 65, 69);
    cioq_take_out(rig.idle_outputs, WORDS, 4);
    cioq_let_cross(&rig.c, &rig.worker, 3, 4);
    assert_true(rig.c.match_at == XOFF_NEVER);
    assert_true(may_cross(65, 69) && may_cross(3, 4));
    assert_true(cioq_is_in(rig.wanted, WORDS, 69) && cioq_is_in(rig.wanted, WORDS, 4));
    cioq_let_cross(&rig.c, &rig.worker, 3, 69);
    assert_true(rig.c.match_at != XOFF_NEVER);
}

/* A priority that closes takes its inputs out, unless they ask with another. */
static void closed_priorities_do_not_cross(void **state)
{
    (void)state;
    rig_setup(1000, 1000, false);
    ask(1, 0, 3), ask(66, 0, 3), ask(66, 0, 5);
    cioq_set_asking(&rig.c, 0);
    assert_true(may_cross(1, 0) && may_cross(66, 0) && !may_cross(2, 0));
    cioq_take_room(&rig.c, 0, 3, 1001);
    assert_true(!may_cross(1, 0) && may_cross(66, 0));
    cioq_take_room(&rig.c, 0, 5, 1000);
    assert_true(!may_cross(1, 0) && !may_cross(66, 0));
    assert_false(cioq_is_in(rig.wanted, WORDS, 0));
}

/* Inputs 1, 40 and 69 ask for output 0, which has room for two frames of 600 B when a third might
 * have 1000: 1 and 40 get it, then 69, and after it 1 again. */
static void room_is_given_in_turn(void **state)
{
    (void)state;
    rig_setup(2000, 0, true);
    ask(1, 0, 3), ask(40, 0, 3), ask(69, 0, 3);
    cioq_grant_ahead(&rig.c, &rig.worker, 0);
    assert_true(may_cross(1, 0) && may_cross(40, 0) && !may_cross(69, 0));
    assert_int_equal(rig.outputs[0].taken_bytes, 1200);
    cioq_use_grant(&rig.c, 1, 0, 3);
    assert_false(may_cross(1, 0));
    cioq_take_room(&rig.c, 0, 3, -600);
    cioq_grant_ahead(&rig.c, &rig.worker, 0);
    assert_true(may_cross(69, 0) && !may_cross(1, 0));
    cioq_use_grant(&rig.c, 40, 0, 3);
    cioq_take_room(&rig.c, 0, 3, -600);
    cioq_grant_ahead(&rig.c, &rig.worker, 0);
    assert_true(may_cross(1, 0) && !may_cross(40, 0));
}

/* The same with ports of one word: after 64 it is the turn of 66, not of 64 again. */
static void turns_within_the_second_word(void **state)
{
    (void)state;
    rig_setup(1000, 0, true);
    ask(64, 0, 3), ask(66, 0, 3);
    cioq_grant_ahead(&rig.c, &rig.worker, 0);
    assert_true(may_cross(64, 0) && !may_cross(66, 0));
    cioq_use_grant(&rig.c, 64, 0, 3);
    cioq_take_room(&rig.c, 0, 3, -600);
    ask(64, 0, 3);
    cioq_grant_ahead(&rig.c, &rig.worker, 0);
    assert_true(may_cross(66, 0) && !may_cross(64, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shared_room_has_a_boundary),
        cmocka_unit_test(a_reserve_has_a_boundary),
        cmocka_unit_test(room_for_nobody_is_no_news),
        cmocka_unit_test(rooms_as_defined),
        cmocka_unit_test(priorities_take_turns),
        cmocka_unit_test(matches_are_in_the_next_slot),
        cmocka_unit_test(busy_ports_ask_for_no_match),
        cmocka_unit_test(closed_priorities_do_not_cross),
        cmocka_unit_test(room_is_given_in_turn),
        cmocka_unit_test(turns_within_the_second_word),
    };
    return cmocka_run_group_tests_name("cioq_room", tests, NULL, NULL);
}
