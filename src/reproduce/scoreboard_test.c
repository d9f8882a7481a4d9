/* Counting: which claims are reproduced, and how readings compare on the same claims. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "reproduce/scoreboard.h"

static void totals(void **state)
{
    (void)state;
    /* Of 5 independent claims that are stated and were run, 2 hold: in direction only is not held,
     * untestable is not either. Own, returned and tuned ones hold, and do not count. */
    static const struct {
        enum claim_kind kind;
        enum claim_strength strength;
        enum verdict found;
    } all[] = {
        {KIND_NUMBER, STRENGTH_INDEPENDENT, VERDICT_HOLDS},
        {KIND_NUMBER, STRENGTH_INDEPENDENT, VERDICT_DIRECTION},
        {KIND_NUMBER, STRENGTH_INDEPENDENT, VERDICT_FAILS},
        {KIND_DIRECTION, STRENGTH_INDEPENDENT, VERDICT_HOLDS},
        {KIND_DIRECTION, STRENGTH_INDEPENDENT, VERDICT_UNTESTABLE},
        {KIND_DIRECTION, STRENGTH_INDEPENDENT, VERDICT_LEFT_OUT},
        {KIND_NUMBER, STRENGTH_RETURNED, VERDICT_HOLDS},
        {KIND_DIRECTION, STRENGTH_TUNED, VERDICT_HOLDS},
        {KIND_OWN, STRENGTH_INDEPENDENT, VERDICT_HOLDS},
        {KIND_OWN, STRENGTH_INDEPENDENT, VERDICT_ERROR},
    };
    enum { N = sizeof all / sizeof *all };
    struct claim claims[N] = {0};
    struct scored_claim scored[N] = {0};
    for (uint32_t i = 0; i < N; i++) {
        claims[i].kind = all[i].kind;
        claims[i].strength = all[i].strength;
        scored[i].claim = &claims[i];
        scored[i].judgement.found = all[i].found;
    }
    const struct scored_paper papers[] = {{.claims = scored, .n_claims = 4},
                                          {.claims = scored + 4, .n_claims = N - 4}};
    struct scoreboard_totals t;
    scoreboard_total(papers, 2, &t);
    assert_true(t.reproduced.n_held == 2 && t.reproduced.n_all == 5);
    assert_int_equal(t.n_left_out, 1);
    assert_true(t.cells[KIND_NUMBER][STRENGTH_INDEPENDENT].n_held == 1 &&
                t.cells[KIND_NUMBER][STRENGTH_INDEPENDENT].n_all == 3);
    assert_true(t.cells[KIND_NUMBER][STRENGTH_RETURNED].n_held == 1);
    assert_true(t.cells[KIND_DIRECTION][STRENGTH_TUNED].n_all == 1);
    assert_true(t.cells[KIND_OWN][STRENGTH_INDEPENDENT].n_held == 1 &&
                t.cells[KIND_OWN][STRENGTH_INDEPENDENT].n_all == 2);
    scoreboard_total(papers, 1, &t);
    assert_true(t.reproduced.n_held == 2 && t.reproduced.n_all == 4 && t.n_left_out == 0);
}

/* Claim a holds plainly and fails by reading 1; b fails plainly, holds by 1 and was not run by 2; c
 * has no other reading and is not compared. */
static void readings(void **state)
{
    (void)state;
    struct claim own[3] = {0};
    struct claim_reading of_a[] = {{1, &own[0]}}, of_b[] = {{2, &own[2]}, {1, &own[1]}};
    struct claim claims[] = {
        {.readings = of_a, .n_readings = 1}, {.readings = of_b, .n_readings = 2}, {.id = "c"}};
    struct scored_claim under_a[] = {{.claim = &own[0], .judgement = {.found = VERDICT_FAILS}}},
                        under_b[] = {{.claim = &own[2], .judgement = {.found = VERDICT_LEFT_OUT}},
                                     {.claim = &own[1], .judgement = {.found = VERDICT_HOLDS}}};
    struct scored_claim scored[] = {
        {.claim = &claims[0], .judgement = {.found = VERDICT_HOLDS}, .readings = under_a},
        {.claim = &claims[1], .judgement = {.found = VERDICT_FAILS}, .readings = under_b},
        {.claim = &claims[2], .judgement = {.found = VERDICT_HOLDS}}};
    const struct scored_paper paper = {.claims = scored, .n_claims = 3};
    assert_ptr_equal(scoreboard_under(&scored[1], 1), &under_b[1]);
    assert_ptr_equal(scoreboard_under(&scored[1], PLAIN_READING), &scored[1]);
    assert_null(scoreboard_under(&scored[0], 2));
    assert_true(scoreboard_opens_readings(&paper, 0) && !scoreboard_opens_readings(&paper, 1));
    assert_false(scoreboard_opens_readings(&paper, 2));
    assert_true(scoreboard_is_read(&paper, 0, 2)); /* b is of the same chapter */
    claims[1].chapter = "6";
    assert_true(scoreboard_opens_readings(&paper, 1));
    assert_true(!scoreboard_is_read(&paper, 0, 2) && scoreboard_is_read(&paper, 1, 2));
    assert_true(scoreboard_is_read(&paper, 0, PLAIN_READING));
    struct scoreboard_reading r = scoreboard_read(&paper, PLAIN_READING);
    assert_true(r.own.n_held == 1 && r.own.n_all == 2 && r.plain.n_held == 1);
    r = scoreboard_read(&paper, 1);
    assert_true(r.own.n_held == 1 && r.own.n_all == 2 && r.plain.n_held == 1 && r.plain.n_all == 2);
    r = scoreboard_read(&paper, 2);
    assert_true(r.own.n_held == 0 && r.own.n_all == 0);
    assert_true(r.plain.n_all == 0);
}

static void texts(void **state)
{
    (void)state;
    char text[64];
    double values[] = {538, 538.01};
    struct claim c = {.unit = "MB/s", .has_published = true, .published = 538};
    struct judgement j = {.values = values,
                          .measured = {.mean = 538.005, .min = 538, .max = 538.01}};
    scoreboard_published(&c, text, sizeof text);
    assert_string_equal(text, "538 MB/s");
    scoreboard_measured(&c, &j, text, sizeof text);
    assert_string_equal(text, "538 MB/s"); /* equal at four digits */
    j.measured = (struct spread){.mean = 540, .min = 538, .max = 542};
    scoreboard_measured(&c, &j, text, sizeof text);
    assert_string_equal(text, "540 MB/s (538 .. 542)");
    c = (struct claim){.unit = "ratio", .has_published = true, .published = 1};
    scoreboard_measured(&c, &j, text, sizeof text);
    assert_string_equal(text, "540 (538 .. 542)");
    c.published_text = "the same";
    scoreboard_published(&c, text, sizeof text);
    assert_string_equal(text, "1");
    c.kind = KIND_DIRECTION; /* the number is our own way to put it */
    scoreboard_published(&c, text, sizeof text);
    assert_string_equal(text, "the same");
    c = (struct claim){.unit = "", .published_text = "all"};
    scoreboard_published(&c, text, sizeof text);
    assert_string_equal(text, "all");
    j = (struct judgement){0};
    scoreboard_measured(&c, &j, text, sizeof text);
    assert_string_equal(text, "-");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(totals),
        cmocka_unit_test(readings),
        cmocka_unit_test(texts),
    };
    return cmocka_run_group_tests_name("scoreboard", tests, NULL, NULL);
}
