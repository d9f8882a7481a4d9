/* Tests of compare.c: which flows are the same, figures by hand, what is listed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "stats/compare.h"

_Noreturn void xoff_assert_fail(const char *expression, const char *file, int line)
{
    mock_assert(0, expression, file, line);
    abort();
}

/* A flow of 1000 B from a to b at 2 s. */
static struct compare_flow flow(uint32_t sport, uint64_t fct_ns)
{
    return (struct compare_flow){.from = "a",
                                 .to = "b",
                                 .sport = sport,
                                 .dport = 100,
                                 .bytes = 1000,
                                 .start_ns = 2000000000,
                                 .fct_ns = fct_ns,
                                 .standalone_ns = 100};
}

static struct compare *compare_of(const struct compare_flow *ours, size_t n_ours,
                                  const struct compare_flow *theirs, size_t n_theirs)
{
    struct compare *c = compare_create(ours, n_ours, theirs, n_theirs, "there/fct.txt");
    assert_non_null(c);
    assert_string_equal(c->file, "there/fct.txt");
    return c;
}

static void assert_near(double value, double expected)
{
    if (value < expected * (1 - 1e-12) || value > expected * (1 + 1e-12))
        fail_msg("%.17g, expected %.17g", value, expected);
}

/* Every part of the key by itself keeps flows apart, but for the ports. */
static void the_same_flow(void **state)
{
    (void)state;
    const struct compare_flow ours = flow(10000, 200);
    struct compare_flow theirs[7];
    for (int i = 0; i < 7; i++)
        theirs[i] = flow(10000, 200);
    strcpy(theirs[1].from, "c");
    strcpy(theirs[2].to, "c");
    theirs[3].bytes++;
    theirs[4].start_ns++;
    theirs[5].sport++;
    theirs[6].dport++;
    static const uint64_t both[] = {1, 0, 0, 0, 0, 1, 1}, by_ports[] = {1, 0, 0, 0, 0, 0, 0};
    for (int i = 0; i < 7; i++) {
        struct compare *c = compare_of(&ours, 1, &theirs[i], 1);
        if (c->n_both != both[i] || c->n_ports != by_ports[i] || c->n_equal != both[i])
            fail_msg("%d: %d %d", i, (int)c->n_both, (int)c->n_ports);
        assert_int_equal(c->n_only_ours, !both[i]);
        assert_int_equal(c->n_only_theirs, !both[i]);
        assert_int_equal(c->slowdown.n, both[i]);
        compare_destroy(c);
    }
    compare_destroy(NULL);
}

/* Ports decide among equal flows, wherever they stand; what has no partner by ports is paired in
 * order. Ours 10000, 10001, 10002 and theirs 10001, 7, 9: 10001 by its port, then 10000 with 7 and
 * 10002 with 9. */
static void ports_before_order(void **state)
{
    (void)state;
    const struct compare_flow ours[] = {flow(10002, 300), flow(10000, 100), flow(10001, 200)};
    struct compare_flow theirs[] = {flow(10001, 200), flow(9, 300), flow(7, 100)};
    struct compare *c = compare_of(ours, 3, theirs, 3);
    assert_int_equal(c->n_both, 3);
    assert_int_equal(c->n_ports, 1);
    assert_int_equal(c->n_equal, 3);
    compare_destroy(c);

    /* A destination port that is not known does not keep flows apart. */
    struct compare_flow bare[3];
    for (int i = 0; i < 3; i++) {
        bare[i] = ours[i];
        bare[i].dport = COMPARE_NO_PORT;
        theirs[i] = ours[2 - i];
    }
    c = compare_of(bare, 3, theirs, 3);
    assert_int_equal(c->n_ports, 3);
    assert_int_equal(c->n_equal, 3);
    compare_destroy(c);
}

/* 200 flows there, of 100 to 20000 ns in steps of 100. Here the first 99 are equal, then each has a
 * nanosecond more, and the last two 199 more and 201 less. */
static void figures_by_hand(void **state)
{
    struct compare_flow ours[200], theirs[200];
    (void)state;
    for (uint32_t i = 0; i < 200; i++) {
        theirs[i] = flow(i, (i + 1) * 100);
        ours[i] = flow(i, (i + 1) * 100 + (i >= 99));
        ours[i].standalone_ns = i < 150 ? 100 : 101;
        theirs[i].standalone_ns = i < 199 ? 100 : 0;
        theirs[i].bytes = ours[i].bytes = i < 10 ? 10000 : 10001;
    }
    ours[198].fct_ns = 19900 + 199; /* exactly 1 % */
    ours[199].fct_ns = 20000 - 201; /* a nanosecond beyond it */
    struct compare *c = compare_of(ours, 200, theirs, 200);
    assert_int_equal(c->n_both, 200);
    assert_int_equal(c->n_equal, 99);
    assert_int_equal(c->n_within, 199);
    assert_int_equal(c->n_standalone, 49); /* 150 to 198: the last states none */
    /* Ranks 100, 190, 198 of 200; mean (1 + ... + 200) * 100 / 200. */
    assert_int_equal(c->fct.n, 200);
    assert_near(c->fct.theirs.figures[COMPARE_MEAN], 10050e-9);
    assert_near(c->fct.theirs.figures[COMPARE_P50], 10000e-9);
    assert_near(c->fct.theirs.figures[COMPARE_P95], 19000e-9);
    assert_near(c->fct.theirs.figures[COMPARE_P99], 19800e-9);
    assert_near(c->fct.theirs.figures[COMPARE_MAX], 20000e-9);
    assert_near(c->fct.ours.figures[COMPARE_P50], 10001e-9);
    assert_near(c->fct.ours.figures[COMPARE_MAX], 20099e-9);
    /* 99 more of 1 ns, 199 and -201: (2010000 + 99 + 199 - 201) / 200. */
    assert_near(c->fct.ours.figures[COMPARE_MEAN], 2010097e-9 / 200);
    /* Both sides over their standalone time, where there is one. */
    assert_int_equal(c->slowdown.n, 199);
    assert_near(c->slowdown.theirs.figures[COMPARE_MAX], 199);
    assert_near(c->slowdown.ours.figures[COMPARE_MAX], 200.99); /* 20099 over 100, not 101 */
    assert_int_equal(c->buckets[0].n, 10);
    assert_int_equal(c->buckets[1].n, 189);
    assert_near(c->buckets[0].theirs.figures[COMPARE_P50], 5);
    assert_near(c->buckets[0].ours.figures[COMPARE_MAX], 10);
    assert_int_equal(c->buckets[4].n, 0);
    /* The largest shares: 201 / 20000, 199 / 19900, then 1 / 10000, 1 / 10100 ... */
    assert_int_equal(c->n_worst, COMPARE_LISTED);
    assert_int_equal(c->worst[0].theirs_ns, 20000);
    assert_int_equal(c->worst[1].theirs_ns, 19900);
    assert_int_equal(c->worst[2].theirs_ns, 10000);
    assert_int_equal(c->worst[9].theirs_ns, 10700);
    assert_int_equal(c->worst[9].flow.fct_ns, 10701);
    compare_destroy(c);
}

/* A slowdown is at least 1. */
static void slowdown_has_a_floor(void **state)
{
    (void)state;
    const struct compare_flow ours = flow(1, 99), theirs = flow(1, 100);
    struct compare *c = compare_of(&ours, 1, &theirs, 1);
    assert_near(c->slowdown.ours.figures[COMPARE_MEAN], 1);
    assert_near(c->slowdown.theirs.figures[COMPARE_MEAN], 1);
    assert_int_equal(c->n_worst, 1);
    assert_int_equal(c->n_within, 1); /* 1 of 100 */
    compare_destroy(c);
}

static void flows_of_one_side(void **state)
{
    struct compare_flow ours[14], theirs[2];
    (void)state;
    for (uint32_t i = 0; i < 14; i++) {
        ours[i] = flow(i, 100);
        ours[i].start_ns -= i;
    }
    ours[0].fct_ns = 0; /* found there, not finished here */
    ours[1].fct_ns = 0; /* unknown there */
    theirs[0] = flow(0, 500);
    theirs[1] = flow(0, 600);
    theirs[1].start_ns = 1;
    struct compare *c = compare_of(ours, 14, theirs, 2);
    assert_int_equal(c->n_ours, 12);
    assert_int_equal(c->n_theirs, 2);
    assert_int_equal(c->n_both, 0);
    assert_int_equal(c->n_unfinished, 1);
    assert_int_equal(c->fct.n, 0);
    assert_int_equal(c->n_worst, 0);
    /* In order of start, the first ten; those that did not finish are not among them. */
    assert_int_equal(c->n_only_ours, COMPARE_LISTED);
    assert_int_equal(c->only_ours[0].sport, 13);
    assert_int_equal(c->only_ours[9].sport, 4);
    assert_int_equal(c->n_only_theirs, 2);
    assert_int_equal(c->only_theirs[0].fct_ns, 600);
    assert_int_equal(c->only_theirs[1].fct_ns, 500);
    compare_destroy(c);

    c = compare_of(NULL, 0, NULL, 0);
    assert_int_equal(c->n_ours + c->n_theirs + c->n_both, 0);
    compare_destroy(c);
    c = compare_of(ours, 0, theirs, 2);
    assert_int_equal(c->n_only_theirs, 2);
    compare_destroy(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_flow),     cmocka_unit_test(ports_before_order),
        cmocka_unit_test(figures_by_hand),   cmocka_unit_test(slowdown_has_a_floor),
        cmocka_unit_test(flows_of_one_side),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
