/* Round robin by hand: grants, accepts, and when pointers move. All pointers start at 0. */
#include "arb_testing.h"

/* Three inputs, everybody asks for everything, one round. All outputs grant to input 0, which
 * accepts output 0: both pointers move to 1. Then output 0 grants to 1, outputs 1 and 2 to 0, which
 * accepts 1 (its pointer): 1-0, 0-1. Then output 0 points at 2, output 1 at 1, output 2 at 0: all
 * differ, and from there on every matching is full, in a cycle of three. */
static void pointers_come_apart(void **state)
{
    (void)state;
    static const int expected[][3] = {{0, -1, -1}, {1, 0, -1}, {2, 1, 0},
                                      {0, 2, 1},   {1, 0, 2},  {2, 1, 0}};
    struct board b;
    board_init(&b, "round-robin", 3, "1");
    board_ask_all(&b, 1);
    for (uint32_t i = 0; i < 6; i++) {
        board_match(&b);
        board_expect(&b, expected[i]);
    }
    board_fini(&b);
}

/* In the second round of the first call output 1 grants to input 1, and output 2 too; input 1
 * accepts output 1. The third gives 2-2. These two rounds move no pointer: the second call is as in
 * pointers_come_apart (0-1, 1-0), with 2-2 left over. */
static void only_the_first_round_moves_pointers(void **state)
{
    (void)state;
    struct board b;
    board_init(&b, "round-robin", 3, "3");
    board_ask_all(&b, 1);
    board_match(&b);
    board_expect(&b, (const int[]){0, 1, 2});
    board_match(&b);
    board_expect(&b, (const int[]){1, 0, 2});
    board_fini(&b);
}

/* Inputs 0 and 2 ask for output 0 alone, input 0 for output 1 too. Output 0 grants to 0, output 1
 * to 0; input 0 accepts output 0. With one round output 1 stays idle and its pointer stays at 0. */
static void a_grant_not_accepted_moves_nothing(void **state)
{
    (void)state;
    struct board b;
    board_init(&b, "round-robin", 3, "1");
    *board_at(&b, 0, 0) = *board_at(&b, 2, 0) = *board_at(&b, 0, 1) = 1;
    board_match(&b);
    board_expect(&b, (const int[]){0, -1, -1});
    /* Output 0 points at 1 and takes 2; output 1 still points at 0. */
    board_match(&b);
    board_expect(&b, (const int[]){1, -1, 0});
    board_fini(&b);
}

/* The last port is followed by the first, within a word and over words. */
static void pointers_wrap(void **state)
{
    (void)state;
    static const uint32_t sizes[] = {2, 63, 64, 65, 128, 512};
    for (uint32_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        const uint32_t n = sizes[k];
        struct board b;
        board_init(&b, "round-robin", n, "1");
        *board_at(&b, n - 1, 0) = 1; /* moves the pointer of output 0 to 0 again */
        board_match(&b);
        assert_int_equal(b.match[n - 1], 0);
        *board_at(&b, 0, 0) = 1;
        board_match(&b);
        assert_int_equal(b.match[0], 0);
        board_match(&b);
        assert_int_equal(b.match[n - 1], 0);
        board_fini(&b);
    }
}

/* auto: the logarithm rounded up. Inputs 0..n-1 ask for everything from pointers 0: each round
 * matches one pair, so the pairs of the first call count the rounds. */
static void rounds_by_default(void **state)
{
    (void)state;
    static const struct {
        uint32_t n, rounds;
    } rows[] = {{1, 1}, {2, 1}, {3, 2}, {4, 2}, {5, 3}, {32, 5}, {33, 6}, {512, 9}};
    for (uint32_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        struct board b;
        board_init(&b, "round-robin", rows[k].n, NULL);
        board_ask_all(&b, 1);
        board_match(&b);
        assert_int_equal(b.n_matched, rows[k].rounds);
        board_fini(&b);
    }
}

/* No port of these waits longer than n * n matchings while everybody asks for everything, nor while
 * a rival asks at every call: a pointer stays until the input it points at has been served. */
static void nobody_starves(void **state)
{
    (void)state;
    for (uint32_t n = 2; n <= 9; n++)
        for (uint32_t rounds = 1; rounds <= 3; rounds++) {
            char text[8];
            uint32_t last[81] = {0};
            struct board b;
            snprintf(text, sizeof text, "%u", rounds);
            board_init(&b, "round-robin", n, text);
            board_ask_all(&b, 1);
            for (uint32_t step = 1; step < 1000; step++) {
                board_match(&b);
                for (uint32_t in = 0; in < n; in++)
                    if (b.match[in] != NOBODY)
                        last[in * n + b.match[in]] = step;
                for (uint32_t pair = 0; pair < n * n; pair++)
                    assert_true(step - last[pair] <= n * n);
            }
            board_fini(&b);
        }
}

static void bad_parameters_are_refused(void **state)
{
    (void)state;
    struct board b;
    struct xoff_err err = {0};
    assert_true(board_try(&b, "round-robin", 4, "0", &err) < 0);
    assert_string_equal(err.subject, "iterations");
    assert_true(board_try(&b, "round-robin", 4, "513", &err) < 0);
    assert_int_equal(board_try(&b, "round-robin", 4, "512", &err), 0);
    board_fini(&b);
    assert_true(board_try(&b, "round-robin", 513, NULL, &err) < 0);
    assert_non_null(strstr(err.message, "at most 512 ports, not 513"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pointers_come_apart),
        cmocka_unit_test(only_the_first_round_moves_pointers),
        cmocka_unit_test(a_grant_not_accepted_moves_nothing),
        cmocka_unit_test(pointers_wrap),
        cmocka_unit_test(rounds_by_default),
        cmocka_unit_test(nobody_starves),
        cmocka_unit_test(bad_parameters_are_refused),
    };
    return cmocka_run_group_tests_name("round-robin", tests, NULL, NULL);
}
