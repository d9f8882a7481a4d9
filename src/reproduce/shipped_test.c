/* Shipped results: what is written is read again, and what is missing, changed or damaged is not
 * taken for known. README.md is made of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "reproduce/readme.h"

#define CLAIMS                                                                                   \
    "paper: p\ntitle: T\nsource: A paper\nabout: A study of drops\nremarks: [{place: 2, text: "  \
    "few}]\n"                                                                                    \
    "contradictions: [{place: 3, text: 4 and 5, choice: both}]\n"                                \
    "readings: [{id: late, title: late}]\nclaims:\n"                                             \
    "  - {id: a, kind: number, strength: independent, chapter: 1 A, quote: Four., place: 1,\n"   \
    "     statement: x | y, scenario: s.yaml, measure: drops, published: 4, tolerance: 1,\n"     \
    "     tolerance_why: w, direction: drops > 0, verdict: direction, why: too many,\n"          \
    "     readings: [{reading: late, verdict: holds}]}\n"                                        \
    "  - {id: b, kind: direction, strength: tuned, tuned: '8 us; 4 to 9', quote: q, place: 2,\n" \
    "     statement: more, scenario: s.yaml, published: null, direction: drops > 0,\n"           \
    "     verdict: holds}\n"                                                                     \
    "figures:\n"                                                                                 \
    "  - {id: f, title: F, kind: bar, scenario: s.yaml, x: {label: x}, y: {label: y},\n"         \
    "     series: [{name: n, points: [{x: one, value: drops}]}]}\n"                              \
    "  - {id: t, title: F, kind: time, scenario: s.yaml, x: {label: x, unit: us}, y: {label: "   \
    "y},\n"                                                                                      \
    "     series: [{name: n, curve: c}]}\n"

/* A board whose runs are over: claim a was measured 6 and 8, and 4 by its other reading. */
struct fixture {
    struct scoreboard board;
    struct paper *paper;
    char *text;
    struct shipped *shipped;
};

static double *copy(const double *values, uint32_t n)
{
    double *out = malloc(n * sizeof *out);
    assert_non_null(out);
    memcpy(out, values, n * sizeof *out);
    return out;
}

static void measure(struct scored_claim *s, enum verdict found, const double *values, uint32_t n)
{
    s->judgement = (struct judgement){.found = found,
                                      .n_seeds = 2,
                                      .n_values = n,
                                      .has_direction = true,
                                      .direction_holds = true};
    snprintf(s->judgement.direction_detail, sizeof s->judgement.direction_detail, "drops = 6 > 0");
    if (n) {
        s->judgement.values = copy(values, n);
        s->judgement.measured = spread_of(values, n);
    }
}

static struct paper *read_claims(const char *text)
{
    struct paper *paper;
    struct xoff_err err;
    if (claims_read_text("d/claims.yaml", "p", text, strlen(text), &paper, &err))
        fail_msg("%d:%d: %s: %s", err.line, err.column, err.subject, err.message);
    return paper;
}

static const struct run_options nothing = {.runs_nothing = true};

static void make(struct fixture *x)
{
    const double six_eight[] = {6, 8}, four[] = {4};
    *x = (struct fixture){.board = {.options = &nothing}, .paper = read_claims(CLAIMS)};
    assert_true(scoreboard_add(&x->board, x->paper, NULL, NULL));
    struct scored_paper *p = &x->board.papers[0];
    measure(&p->claims[0], VERDICT_DIRECTION, six_eight, 2);
    measure(&p->claims[0].readings[0], VERDICT_HOLDS, four, 1);
    measure(&p->claims[1], VERDICT_HOLDS, NULL, 0);
    p->figures[0].drawing =
        (struct drawing){.n_seeds = 2, .points = calloc(1, sizeof(struct spread))};
    assert_non_null(p->figures[0].drawing.points);
    p->figures[0].drawing.points[0] = (struct spread){.mean = 7, .min = 6, .max = 8.123456789};
    struct drawn_series *curve = calloc(1, sizeof *curve);
    assert_non_null(curve);
    curve->n_points = 1000;
    curve->points = calloc(1000, sizeof *curve->points);
    assert_non_null(curve->points);
    for (uint32_t i = 0; i < 1000; i++)
        curve->points[i] = (struct drawn_point){i, i == 501 ? 99 : i % 2};
    p->figures[1].drawing = (struct drawing){.n_seeds = 1, .series = curve, .n_series = 1};
    x->text = shipped_text(&x->board, p);
    struct xoff_err err;
    assert_int_equal(shipped_parse("r", x->text, strlen(x->text), &x->shipped, &err), 0);
}

static void destroy(struct fixture *x)
{
    shipped_destroy(x->shipped);
    scoreboard_fini(&x->board);
    free(x->text);
}

static void round_trip(void **state)
{
    (void)state;
    struct fixture x;
    struct judgement j;
    struct drawing d;
    make(&x);
    const struct claim *a = &x.paper->claims[0], *b = &x.paper->claims[1];
    assert_int_equal(strlen(shipped_digest(x.shipped)), 16);
    assert_true(*shipped_version(x.shipped));
    assert_true(shipped_claim(x.shipped, a, NULL, &j));
    assert_true(j.found == VERDICT_DIRECTION && j.n_seeds == 2 && j.n_values == 2);
    assert_true(j.measured.mean == 7 && j.measured.min == 6 && j.measured.max == 8);
    assert_true(j.has_direction && j.direction_holds && !j.is_worse && !j.is_better);
    assert_string_equal(j.direction_detail, "drops = 6 > 0");
    judge_fini(&j);
    assert_true(shipped_claim(x.shipped, a, "late", &j));
    assert_true(j.found == VERDICT_HOLDS && j.n_values == 1 && j.values[0] == 4);
    judge_fini(&j);
    assert_false(shipped_claim(x.shipped, b, "late", &j));
    assert_true(shipped_claim(x.shipped, b, NULL, &j));
    assert_true(!j.values && j.n_seeds == 2);
    assert_true(shipped_figure(x.shipped, &x.paper->figures[0], &d));
    assert_true(d.n_seeds == 2 && d.points[0].mean == 7 && d.points[0].max == 8.123457);
    drawing_fini(&d);
    /* 200 stretches of 5 points keep two each, the peak among them at its own instant. */
    assert_true(shipped_figure(x.shipped, &x.paper->figures[1], &d));
    assert_int_equal(d.series[0].n_points, SHIPPED_MAX_POINTS);
    uint32_t n_peaks = 0;
    for (uint32_t i = 0; i < d.series[0].n_points; i++)
        n_peaks += d.series[0].points[i].x == 501 && d.series[0].points[i].y == 99;
    assert_int_equal(n_peaks, 1);
    drawing_fini(&d);
    destroy(&x);
}

static uint32_t n_unknown, n_changed;

static void count_stale(const struct paper *paper, const struct claim *claim, const char *reading,
                        bool is_known)
{
    (void)paper, (void)claim, (void)reading;
    n_unknown += !is_known;
    n_changed += is_known;
}

/* Counts the claims that the results of the fixture do not know, or know otherwise. */
static void check_stale(const char *old, const char *new, uint32_t unknown, uint32_t changed)
{
    struct fixture x;
    make(&x);
    char text[4096];
    const char *at = strstr(CLAIMS, old);
    assert_non_null(at);
    snprintf(text, sizeof text, "%.*s%s%s", (int)(at - CLAIMS), CLAIMS, new, at + strlen(old));
    struct scoreboard board = {.options = &nothing};
    assert_true(scoreboard_add(&board, read_claims(text), x.shipped, NULL));
    x.shipped = NULL;
    scoreboard_judge(&board);
    n_unknown = n_changed = 0;
    scoreboard_stale(&board, count_stale);
    if (n_unknown != unknown || n_changed != changed)
        fail_msg("%s: %u unknown, %u changed", new, n_unknown, n_changed);
    struct scoreboard_totals t;
    scoreboard_total(board.papers, 1, &t);
    assert_int_equal(t.n_left_out, new[0] == 'i' ? 1 : 0);
    scoreboard_fini(&board);
    destroy(&x);
}

static void stale(void **state)
{
    (void)state;
    check_stale("too many", "too few", 0, 0);
    check_stale("id: b", "id: c", 1, 0);
    check_stale("tolerance: 1", "tolerance: 2", 0, 2); /* the claim and its reading */
    check_stale("verdict: holds}]", "verdict: holds, measure: drops + 1}]", 0, 1);
}

static void damaged(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "{}",
        "{\"claims\":[{\"id\":\"a\",\"verdict\":\"good\"}],\"figures\":{}}",
        "{\"claims\":[1,{\"id\":\"a\",\"verdict\":\"left-out\"}]}",
        "{\"figures\":[{\"id\":\"f\",\"series\":[{\"name\":\"m\",\"points\":[[\"one\",1,1,1]]}]}]}",
        "{\"figures\":[{\"id\":\"f\",\"series\":[{\"name\":\"n\",\"points\":[[\"two\",1,1,1]]}]}]}",
        "{\"figures\":[{\"id\":\"f\",\"series\":[{\"name\":\"n\",\"points\":[[\"one\",1,1]]}]}]}"};
    struct paper *paper = read_claims(CLAIMS);
    struct shipped *shipped;
    struct xoff_err err;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct judgement j;
        struct drawing d;
        assert_int_equal(shipped_parse("r", texts[i], strlen(texts[i]), &shipped, &err), 0);
        assert_false(shipped_claim(shipped, &paper->claims[0], NULL, &j));
        assert_false(shipped_figure(shipped, &paper->figures[0], &d));
        assert_string_equal(shipped_digest(shipped), "");
        shipped_destroy(shipped);
    }
    assert_int_equal(shipped_parse("r", "{\n\"a\": }", 8, &shipped, &err), -XOFF_E_SYNTAX);
    assert_int_equal(err.line, 2);
    assert_string_equal(err.file, "r");
    assert_int_equal(shipped_parse("r", "[]", 2, &shipped, &err), -XOFF_E_SYNTAX);
    assert_null(shipped);
    claims_destroy(paper);
}

static void readme(void **state)
{
    (void)state;
    static const char *const parts[] = {
        "# T\n\nA paper.\n\n**0 of 1 independent claims hold.** ",
        "states 1 of them as a number (0 hold) and 0 as",
        "1 holds in direction only, 0 do not hold, 0 cannot be tested",
        "| number | 0 of 1 | - | - |\n| direction | - | - | 1 of 1 |\n| own | - | - | - |\n",
        "\n\nA study of drops.\n\n## In short\n\n- *2.* few.\n\n## 1 A\n",
        "| x \\| y (`a`) | 1 | 4 | 7 (6 .. 8) | 2 | **holds in direction only** |\n",
        "- `a` (1) holds in direction only. The paper: \"Four.\" Measured: 7 (6 .. 8); published: "
        "4. "
        "too many.\n",
        "## Tuned\n",
        "| more (`b`) | 2 | - | `drops = 6 > 0` | 2 | 8 us; 4 to 9 | holds |\n",
        "### 1 A\n\n| claim | paper | plain | late |\n",
        "| `a` | 4 | holds in direction only: 7 | holds: 4 |\n",
        "## Contradictions of the source\n\n",
        "| 3 | 4 and 5 | both |\n",
        "1 of 1 hold; by the plain reading 0 of the same 1.\n",
    };
    struct fixture x;
    make(&x);
    struct scoreboard board = {.options = &nothing};
    assert_true(scoreboard_add(&board, read_claims(CLAIMS), x.shipped, NULL));
    x.shipped = NULL;
    scoreboard_judge(&board);
    char *text = readme_text(&board.papers[0]);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (!strstr(text, parts[i]))
            fail_msg("no '%s' in:\n%s", parts[i], text);
    assert_null(strstr(text, "under a reading")); /* that one holds */
    assert_null(strstr(text, "## Returned"));
    assert_null(strstr(text, "## Our own"));
    assert_null(strstr(text, "## Other"));
    free(text);
    scoreboard_fini(&board);
    destroy(&x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(round_trip),
        cmocka_unit_test(stale),
        cmocka_unit_test(damaged),
        cmocka_unit_test(readme),
    };
    return cmocka_run_group_tests_name("shipped", tests, NULL, NULL);
}
