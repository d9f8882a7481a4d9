/* Longest queue first by hand. */
#include "arb_testing.h"

/* Output 0 is asked for by 0 (5 B) and 1 (6 B), output 1 by 1 (9 B). Both grant to input 1, which
 * accepts output 1. One round leaves 0 waiting, two serve it. */
static void the_longest_is_granted_and_accepted(void **state)
{
    (void)state;
    for (uint32_t rounds = 1; rounds <= 2; rounds++) {
        struct board b;
        board_init(&b, "longest", 3, rounds == 1 ? "1" : "2");
        *board_at(&b, 0, 0) = 5;
        *board_at(&b, 1, 0) = 6;
        *board_at(&b, 1, 1) = 9;
        for (uint32_t i = 0; i < 3; i++) { /* pointers decide nothing here */
            board_match(&b);
            board_expect(&b, (const int[]){rounds == 1 ? -1 : 0, 1, -1});
        }
        board_fini(&b);
    }
}

/* One byte decides, wherever the pointer is: before it, at it, behind it. */
static void one_byte_decides(void **state)
{
    (void)state;
    for (uint32_t longest = 0; longest < 3; longest++) {
        struct board b;
        board_init(&b, "longest", 3, NULL);
        *board_at(&b, 0, 0) = 1;
        board_match(&b); /* the pointer of output 0 is at 1 now */
        for (uint32_t in = 0; in < 3; in++)
            *board_at(&b, in, 0) = in == longest ? 1001 : 1000;
        board_match(&b);
        assert_int_equal(b.match[longest], 0);
        board_fini(&b);
    }
}

/* Equal queues take turns, like round robin. */
static void equals_take_turns(void **state)
{
    (void)state;
    struct board b;
    board_init(&b, "longest", 3, NULL);
    for (uint32_t in = 0; in < 3; in++)
        *board_at(&b, in, 1) = 700;
    for (uint32_t i = 0; i < 9; i++) {
        board_match(&b);
        assert_int_equal(b.match[i % 3], 1);
    }
    board_fini(&b);
}

/* A queue that is always shorter waits, as the rule says. */
static void a_short_queue_waits(void **state)
{
    (void)state;
    struct board b;
    board_init(&b, "longest", 65, NULL);
    *board_at(&b, 3, 64) = 100;
    *board_at(&b, 64, 64) = 101;
    for (uint32_t i = 0; i < 100; i++) {
        board_match(&b);
        assert_int_equal(b.match[64], 64);
        assert_int_equal(b.match[3], NOBODY);
    }
    *board_at(&b, 64, 64) = 99;
    board_match(&b);
    assert_int_equal(b.match[3], 64);
    board_fini(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_longest_is_granted_and_accepted),
        cmocka_unit_test(one_byte_decides),
        cmocka_unit_test(equals_take_turns),
        cmocka_unit_test(a_short_queue_waits),
    };
    return cmocka_run_group_tests_name("longest", tests, NULL, NULL);
}
