/* Reading claims.yaml: what a whole file becomes, and where each kind of mistake is found. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "reproduce/claims.h"

#define HEAD "paper: p\ntitle: T\nsource: S\n"
/* Lines 4 to 15 of a file that reads well; a test puts one more or another line in. */
#define WORTH "    kind: own\n    strength: independent\n"
#define CLAIM BARE WORTH
#define BARE                        \
    "claims:\n"                     \
    "  - id: a\n"                   \
    "    place: '5.3'\n"            \
    "    statement: more is lost\n" \
    "    scenario: s.yaml\n"        \
    "    verdict: holds\n"
#define TESTED                                  \
    "    measure: 100 * off.drops / off.sent\n" \
    "    published: 40\n"                       \
    "    tolerance: 5\n"                        \
    "    tolerance_why: read off a curve\n"
#define TIME                           \
    "  - id: t\n"                      \
    "    title: T\n"                   \
    "    kind: time\n"                 \
    "    scenario: s.yaml\n"           \
    "    x: {label: time, unit: us}\n" \
    "    y: {label: rate}\n"
#define FIGURE                        \
    "figures:\n"                      \
    "  - id: '6-1'\n"                 \
    "    title: F\n"                  \
    "    kind: line\n"                \
    "    scenario: s.yaml\n"          \
    "    x: {label: size, unit: B}\n" \
    "    y: {label: rate}\n"

static struct paper *read_good(const char *text)
{
    struct paper *paper;
    struct xoff_err err;
    if (claims_read_text("d/claims.yaml", "p", text, strlen(text), &paper, &err))
        fail_msg("%s:%d:%d: %s: %s", err.file, err.line, err.column, err.subject, err.message);
    return paper;
}

static void check_bad(const char *text, int line, int column, const char *subject, const char *part)
{
    struct paper *paper = (struct paper *)&line;
    struct xoff_err err;
    const int rc = claims_read_text("d/claims.yaml", "p", text, strlen(text), &paper, &err);
    if (!rc || paper)
        fail_msg("read without error: %s", text);
    if (rc != -(int)err.code || err.line != line || err.column != column ||
        strcmp(err.file, "d/claims.yaml") || strcmp(err.subject, subject) ||
        !strstr(err.message, part))
        fail_msg("%s:%d:%d: %s: %s\nfor: %s", err.file, err.line, err.column, err.subject,
                 err.message, text);
}

static void whole(void **state)
{
    (void)state;
    struct paper *p =
        read_good(HEAD CLAIM TESTED
                  "    unit: '%'\n    seeds: 5\n    quick: {stop: 2ms, traffic.0.load: 0.5}\n"
                  "    published_text: about 40 % lost\n    direction: off.drops > on.drops\n"
                  "    notes: N\n" FIGURE "    quick: false\n"
                  "    series:\n"
                  "      - {name: small, points: [{x: 64, value: a.throughput / 1e9}]}\n"
                  "    marks: [{name: paper, points: [[64, 4.1], [1.5e3, -2]]}]\n");
    assert_string_equal(p->name, "p");
    assert_string_equal(p->title, "T");
    assert_string_equal(p->source, "S");
    assert_string_equal(p->folder, "d/");
    assert_int_equal(p->n_claims, 1);
    const struct claim *c = &p->claims[0];
    assert_string_equal(c->id, "a");
    assert_string_equal(c->place, "5.3");
    assert_string_equal(c->unit, "%");
    assert_string_equal(c->measure.text, "100 * off.drops / off.sent");
    assert_int_equal(c->measure.place.line, 12);
    assert_int_equal(c->measure.place.column, 14);
    assert_true(c->has_published && c->published == 40 && c->tolerance == 5);
    assert_false(c->is_tolerance_relative);
    assert_string_equal(c->direction.text, "off.drops > on.drops");
    assert_int_equal(c->recorded, VERDICT_HOLDS);
    assert_null(c->why);
    const struct experiment *e = &c->experiment;
    assert_int_equal(e->n_seeds, 5);
    assert_int_equal(e->n_quick, 2);
    assert_string_equal(e->quick[1].key, "traffic.0.load");
    assert_string_equal(e->quick[1].value, "0.5");
    assert_false(e->is_left_out_of_quick);
    const struct figure *f = &p->figures[0];
    assert_int_equal(f->kind, FIGURE_LINE);
    assert_int_equal(c->average, AVERAGE_SEEDS);
    assert_true(f->experiment.is_left_out_of_quick);
    assert_int_equal(f->experiment.n_seeds, 1);
    assert_string_equal(f->x.unit, "B");
    assert_string_equal(f->y.unit, "");
    assert_true(f->series[0].points[0].x.is_number && f->series[0].points[0].x.value == 64);
    assert_true(f->marks[0].n_points == 2 && f->marks[0].points[1].x.value == 1500 &&
                f->marks[0].points[1].y == -2);
    claims_destroy(p);
}

static void forms(void **state)
{
    (void)state;
    struct paper *p =
        read_good(HEAD CLAIM "    measure: a.drops\n    published: -1e3\n    tolerance: 10 %\n"
                             "    tolerance_why: w\n");
    assert_true(p->claims[0].is_tolerance_relative && p->claims[0].tolerance == 0.1);
    assert_true(p->claims[0].published == -1000);
    assert_string_equal(p->claims[0].unit, "");
    claims_destroy(p);
    p = read_good(HEAD CLAIM "    published: null\n    direction: a.drops > b.drops\n");
    assert_false(p->claims[0].has_published);
    claims_destroy(p);
    p = read_good(HEAD "claims:\n  - {id: a, place: 1, statement: s, verdict: untestable, why: w, "
                       "kind: own, strength: independent}\n");
    assert_int_equal(p->claims[0].recorded, VERDICT_UNTESTABLE);
    assert_null(p->claims[0].experiment.scenario);
    claims_destroy(p);
    p = read_good(HEAD "claims: []\n");
    assert_int_equal(p->n_claims, 0);
    claims_destroy(p);
    p = read_good(HEAD "claims: []\n"
                       "figures:\n  - {id: b, title: t, kind: bar, scenario: s.yaml,\n"
                       "     x: {label: x}, y: {label: y}, series: [{name: n, points:\n"
                       "     [{x: PFC on, value: drops}]}]}\n");
    assert_string_equal(p->figures[0].series[0].points[0].x.text, "PFC on");
    assert_false(p->figures[0].series[0].points[0].x.is_number);
    claims_destroy(p);
    p = read_good(HEAD CLAIM TESTED "    average: metrics\n");
    assert_int_equal(p->claims[0].average, AVERAGE_METRICS);
    claims_destroy(p);
    p = read_good(HEAD CLAIM TESTED "    average: median\n");
    assert_int_equal(p->claims[0].average, AVERAGE_MEDIAN);
    claims_destroy(p);
    p = read_good(HEAD CLAIM TESTED "    average: seeds\n");
    assert_int_equal(p->claims[0].average, AVERAGE_SEEDS);
    claims_destroy(p);
}

/* Curves over time, and distributions over seeds. */
static void other_figures(void **state)
{
    (void)state;
    struct paper *p = read_good(HEAD "claims: []\nfigures:\n" TIME "    scale: 1e-9\n"
                                     "    series: [{name: a, variant: v, curve: F0},\n"
                                     "             {name: b, curve: F1}]\n"
                                     "    marks: [{name: paper, points: [[100, 4.1]]}]\n"
                                     "  - {id: c, title: t, kind: cdf, scenario: s, seeds: 5,\n"
                                     "     x: {label: x}, y: {label: y}, series:\n"
                                     "     [{name: n, value: a.deadlock.onset * 1e3},\n"
                                     "      {name: m, variant: v, distribution: d},\n"
                                     "      {name: o, distribution: d}], scale: 100}\n");
    const struct figure *f = &p->figures[0];
    assert_true(f->kind == FIGURE_TIME && f->scale == 1e-9 && f->x_unit == XOFF_US);
    assert_string_equal(f->series[0].variant.text, "v");
    assert_string_equal(f->series[0].curve.text, "F0");
    assert_int_equal(f->series[0].curve.place.line, 13);
    assert_int_equal(f->series[0].curve.place.column, 43);
    assert_null(f->series[1].variant.text);
    assert_int_equal(f->n_marks, 1);
    f = &p->figures[1];
    assert_true(f->kind == FIGURE_CDF && f->experiment.n_seeds == 5 && f->scale == 100);
    assert_string_equal(f->series[0].value.text, "a.deadlock.onset * 1e3");
    assert_null(f->series[0].distribution.text);
    assert_null(f->series[1].value.text);
    assert_string_equal(f->series[1].variant.text, "v");
    assert_string_equal(f->series[1].distribution.text, "d");
    assert_null(f->series[2].variant.text);
    claims_destroy(p);
}

static void mistakes_of_other_figures(void **state)
{
    (void)state;
    const char *const head = HEAD "claims: []\nfigures:\n";
#define CDF "  - {id: c, title: t, kind: cdf, scenario: s, x: {label: x}, y: {label: y}, "
    static const struct {
        const char *text;
        int line, column;
        const char *subject, *part;
    } cases[] = {
        {TIME "    series: [{name: a, points: [{x: 1, value: 1}]}]\n", 12, 24,
         "figures.0.series.0.points", "unknown key"},
        {TIME "    series: [{name: a}]\n", 12, 14, "figures.0.series.0.curve", "missing"},
        {TIME "    series: [{curve: a}]\n", 12, 14, "figures.0.series.0.name", "missing"},
        {TIME "    series: [{name: a, curve: [b]}]\n", 12, 31, "figures.0.series.0.curve",
         "a list is given"},
        {TIME "    scale: big\n    series: []\n", 12, 12, "figures.0.scale", "not a number"},
        {TIME "    seeds: 2\n    series: []\n", 12, 12, "figures.0.seeds", "first seed"},
        {TIME "    series: []\n    marks: [{name: a, points: [[b, 1]]}]\n", 13, 33,
         "figures.0.marks.0.points.0", "kind: bar"},
        {"  - {id: c, title: t, kind: time, scenario: s, x: {label: t}, y: {label: y},\n"
         "     series: []}\n",
         6, 51, "figures.0.x.unit", "ns, us, ms, s"},
        {"  - {id: c, title: t, kind: time, scenario: s, x: {label: t, unit: h}, y: {label: y},\n"
         "     series: []}\n",
         6, 68, "figures.0.x.unit", "ns, us, ms, s"},
        {"  - {id: c, title: t, kind: line, scenario: s, x: {label: x}, y: {label: y}, scale: 2,\n"
         "     series: []}\n",
         6, 78, "figures.0.scale", "kind: time or cdf"},
        {CDF "series: [{name: a, value: 1, distribution: d}]}\n", 6, 96, "figures.0.series.0.value",
         "not beside distribution"},
        {CDF "series: [{name: a, value: 1, variant: v}]}\n", 6, 106, "figures.0.series.0.variant",
         "goes with distribution"},
        {CDF "series: [{name: a, curve: b}]}\n", 6, 96, "figures.0.series.0.curve", "unknown key"},
        {CDF "series: [{name: a}]}\n", 6, 86, "figures.0.series.0.value", "missing"},
        {CDF "series: [{name: a, value: 1 +}]}\n", 6, 106, "figures.0.series.0.value",
         "the text ends"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[1024];
        snprintf(text, sizeof text, "%s%s", head, cases[i].text);
        check_bad(text, cases[i].line, cases[i].column, cases[i].subject, cases[i].part);
    }
}

static void mistakes_of_the_file(void **state)
{
    (void)state;
    check_bad("", 1, 1, "claims", "empty");
    check_bad("claims: [\n", 2, 1, "YAML", "");
    check_bad("- a\n", 1, 1, "scenario", "a list is given");
    check_bad("title: T\nsource: S\nclaims: []\n", 1, 1, "paper", "missing");
    check_bad("paper: q\ntitle: T\nsource: S\nclaims: []\n", 1, 8, "paper", "folder");
    check_bad(HEAD, 1, 1, "claims", "missing; give a list");
    check_bad(HEAD "claims: {}\n", 4, 9, "claims", "a mapping is given");
    check_bad(HEAD "claims: []\nclaim: 1\n", 5, 1, "claim", "did you mean claims?");
    check_bad(HEAD "claims: []\nfigures: none\n", 5, 10, "figures", "a list");
    check_bad(HEAD "contradictions: [{place: 1, text: a}]\nclaims: []\n", 4, 18,
              "contradictions.0.choice", "missing; give what is done");
    check_bad(HEAD "remarks: [{place: 1, text: a, choice: b}]\nclaims: []\n", 4, 31,
              "remarks.0.choice", "unknown key");
    check_bad(HEAD "contradictions: [{where: 1}]\nclaims: []\n", 4, 19, "contradictions.0.where",
              "unknown key");
    check_bad("paper: p\ntitle: ''\nsource: S\nclaims: []\n", 2, 9, "title", "empty");
}

static void mistakes_of_a_claim(void **state)
{
    (void)state;
    check_bad(HEAD CLAIM TESTED "    colour: red\n", 16, 5, "claims.0.colour", "unknown key");
    check_bad(HEAD "claims: [a]\n", 4, 10, "claims.0", "a plain value is given");
    check_bad(HEAD "claims:\n  - place: 1\n", 5, 5, "claims.0.id", "missing");
    check_bad(HEAD "claims:\n  - id: a b\n", 5, 9, "claims.0.id", "not an id");
    check_bad(HEAD "claims:\n  - {id: a, place: 1, statement: [s]}\n", 5, 34, "claims.0.statement",
              "a list is given");
    check_bad(HEAD "claims:\n  - {id: a, place: 1, statement: s, verdict: good}\n", 5, 46,
              "claims.0.verdict", "accepted: holds, direction, fails, untestable");
    check_bad(HEAD "claims:\n  - {id: a, place: 1, statement: s, verdict: left-out}\n", 5, 46,
              "claims.0.verdict", "accepted");
    check_bad(HEAD "claims:\n  - {id: a, place: 1, statement: s, verdict: fails}\n", 5, 5,
              "claims.0.why", "missing");
    check_bad(HEAD "claims:\n  - {id: a, place: 1, statement: s, verdict: holds}\n", 5, 5,
              "claims.0.scenario", "missing");
    check_bad(HEAD CLAIM TESTED "    average: runs\n", 16, 14, "claims.0.average",
              "accepted: seeds, metrics");
    check_bad(HEAD CLAIM TESTED "  - id: a\n    place: 1\n    statement: s\n    scenario: s.yaml\n"
                                "    verdict: untestable\n    why: w\n" WORTH,
              16, 9, "claims.1.id", "given twice");
}

static void mistakes_of_an_experiment(void **state)
{
    (void)state;
    check_bad(HEAD CLAIM TESTED "    seeds: 0\n", 16, 12, "claims.0.seeds", "1 to 1000");
    check_bad(HEAD CLAIM TESTED "    seeds: 1001\n", 16, 12, "claims.0.seeds", "1 to 1000");
    check_bad(HEAD CLAIM TESTED "    quick: true\n", 16, 12, "claims.0.quick", "false");
    check_bad(HEAD CLAIM TESTED "    quick: {stop: [1]}\n", 16, 19, "claims.0.quick.stop",
              "plain value");
    check_bad(HEAD CLAIM TESTED "    quick: {seed: 2}\n", 16, 13, "claims.0.quick", "seeds:");
}

static void mistakes_of_numbers(void **state)
{
    (void)state;
    check_bad(HEAD CLAIM, 5, 5, "claims.0.published", "missing; give a number, or null");
    check_bad(HEAD CLAIM "    published: 40 %\n", 12, 16, "claims.0.published", "not a number");
    check_bad(HEAD CLAIM "    published: 1e999\n", 12, 16, "claims.0.published", "not a number");
    check_bad(HEAD CLAIM "    published: nan\n", 12, 16, "claims.0.published", "not a number");
    check_bad(HEAD CLAIM "    published: 4\n", 5, 5, "claims.0.measure", "missing");
    check_bad(HEAD CLAIM "    published: 4\n    measure: drops\n", 5, 5, "claims.0.tolerance",
              "missing");
    check_bad(HEAD CLAIM "    published: 4\n    tolerance: 1\n", 5, 5, "claims.0.tolerance_why",
              "missing");
    check_bad(HEAD CLAIM "    published: 4\n    tolerance: some\n", 13, 16, "claims.0.tolerance",
              "not a tolerance");
    check_bad(HEAD CLAIM "    published: 4\n    tolerance: -1\n", 13, 16, "claims.0.tolerance",
              "not negative");
    check_bad(HEAD CLAIM "    published: 4\n    tolerance: -1 %\n", 13, 16, "claims.0.tolerance",
              "not ");
    check_bad(HEAD CLAIM "    published: null\n    tolerance: 1\n", 13, 5, "claims.0.tolerance",
              "no published number");
    check_bad(HEAD CLAIM "    published: null\n", 5, 5, "claims.0.direction", "missing");
    check_bad(HEAD
              "claims:\n  - {id: a, place: 1, statement: s, scenario: s, measure: drops,\n"
              "     published: 1, tolerance: 1, tolerance_why: w, verdict: direction, why: w,\n"
              "     kind: own, strength: independent}\n",
              5, 5, "claims.0.direction", "missing");
}

static void mistakes_of_expressions(void **state)
{
    (void)state;
    check_bad(HEAD CLAIM "    measure: 1 + speed\n", 12, 18, "claims.0.measure", "speed");
    check_bad(HEAD CLAIM "    measure: \"1 + speed\"\n", 12, 19, "claims.0.measure", "speed");
    check_bad(HEAD CLAIM "    measure: drops == 0\n", 12, 20, "claims.0.measure", "'='");
    check_bad(HEAD CLAIM "    direction: drops\n", 12, 21, "claims.0.direction", "the text ends");
    check_bad(HEAD CLAIM "    direction: drops >\n", 12, 23, "claims.0.direction", "the text ends");
    /* Over several lines the place is the one in the file, not in the text as it is joined. */
    check_bad(HEAD CLAIM "    measure: 1 +\n      2 + speed\n", 13, 11, "claims.0.measure",
              "speed");
    check_bad(HEAD CLAIM "    measure: \"1   \n\n     + drops\n      + speed\"\n", 15, 9,
              "claims.0.measure", "speed");
}

static void mistakes_of_a_figure(void **state)
{
    (void)state;
    const char *const head = HEAD "claims: []\n";
    static const struct {
        const char *text;
        int line, column;
        const char *subject, *part;
    } cases[] = {
        {"figures: [{id: f, title: t, kind: pie}]\n", 5, 35, "figures.0.kind",
         "line, bar, time, cdf"},
        {"figures: [{id: f, title: t, kind: bar, colour: 1}]\n", 5, 40, "figures.0.colour",
         "unknown"},
        {"figures: [{id: f, title: t, kind: bar, scenario: s}]\n", 5, 11, "figures.0.x", "missing"},
        {FIGURE, 6, 5, "figures.0.series", "missing"},
        {FIGURE "    series: [{points: [1]}]\n", 12, 14, "figures.0.series.0.name", "missing"},
        {FIGURE "    series: [{name: a}]\n", 12, 14, "figures.0.series.0.points", "missing"},
        {FIGURE "    series: [{name: a, points: []}]\n", 12, 32, "figures.0.series.0.points",
         "missing"},
        {FIGURE "    series: [{name: a, points: [{x: 1}]}]\n", 12, 33,
         "figures.0.series.0.points.0.value", "missing"},
        {FIGURE "    series: [{name: a, points: [{x: b, value: 1}]}]\n", 12, 37,
         "figures.0.series.0.points.0.x", "kind: bar"},
        {FIGURE "    series: [{name: a, points: [{x: 1, value: 1 +}]}]\n", 12, 50,
         "figures.0.series.0.points.0.value", "the text ends"},
        {FIGURE "    series: []\n    marks: [{name: a, points: [[1, 2, 3]]}]\n", 13, 32,
         "figures.0.marks.0.points.0", "not two values"},
        {FIGURE "    series: []\n    marks: [{name: a, points: [1]}]\n", 13, 32,
         "figures.0.marks.0.points.0", "a pair"},
        {FIGURE "    series: []\n    marks: [{name: a, points: [[1, b]]}]\n", 13, 36,
         "figures.0.marks.0.points.0", "not a number"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[1024];
        snprintf(text, sizeof text, "%s%s", head, cases[i].text);
        check_bad(text, cases[i].line, cases[i].column, cases[i].subject, cases[i].part);
    }
}

/* The claim of CLAIM and TESTED, lines 5 to 13, between readings of the paper and its own. */
#define READINGS                                                                                   \
    "readings:\n  - {id: cells, title: counts in cells, text: since 1999, after_the_fact: true}\n" \
    "  - {id: plain, title: bytes}\n  - {id: late, title: late}\n"

static void kinds(void **state)
{
    (void)state;
    struct paper *p = read_good(HEAD BARE TESTED WORTH);
    assert_int_equal(p->claims[0].strength, STRENGTH_INDEPENDENT);
    assert_null(p->claims[0].strength_why);
    assert_true(!p->claims[0].chapter && !p->claims[0].quote);
    assert_true(p->n_readings == 1 && p->claims[0].n_readings == 0);
    claims_destroy(p);
    check_bad(HEAD BARE TESTED, 5, 5, "claims.0.kind", "number, direction or own");
    check_bad(HEAD BARE TESTED "    kind: own\n", 5, 5, "claims.0.strength", "missing");
    check_bad(HEAD BARE TESTED "    kind: number\n    strength: independent\n", 5, 5,
              "claims.0.quote", "own sentence");
    p = read_good(HEAD BARE TESTED "    kind: number\n    strength: tuned\n"
                                   "    tuned: 9 us; 8 to 12\n    chapter: 5 PFC\n"
                                   "    quote: More is lost.\n");
    assert_int_equal(p->claims[0].kind, KIND_NUMBER);
    assert_int_equal(p->claims[0].strength, STRENGTH_TUNED);
    assert_string_equal(p->claims[0].strength_why, "9 us; 8 to 12");
    assert_string_equal(p->claims[0].chapter, "5 PFC");
    assert_string_equal(p->claims[0].quote, "More is lost.");
    claims_destroy(p);
    p = read_good(HEAD BARE "    published: null\n    direction: a.drops > b.drops\n"
                            "    kind: own\n    strength: returned\n    returned: 538 MB/s\n");
    assert_int_equal(p->claims[0].kind, KIND_OWN);
    assert_string_equal(p->claims[0].strength_why, "538 MB/s");
    claims_destroy(p);
    check_bad(HEAD BARE TESTED "    kind: numeric\n", 14, 11, "claims.0.kind",
              "accepted: number, direction, own");
    check_bad(HEAD BARE "    published: null\n    direction: drops > 0\n    kind: number\n", 12, 11,
              "claims.0.published", "kind: number");
    check_bad(HEAD "claims:\n  - {id: a, place: 1, statement: s, verdict: untestable, why: w,\n"
                   "     kind: number}\n",
              6, 12, "claims.0.published", "kind: number");
    check_bad(HEAD BARE TESTED "    kind: own\n    strength: strong\n", 15, 15, "claims.0.strength",
              "accepted: independent, returned, tuned");
    check_bad(HEAD BARE TESTED "    kind: own\n    strength: tuned\n", 5, 5, "claims.0.tuned",
              "missing");
    check_bad(HEAD BARE TESTED WORTH "    returned: b\n", 16, 5, "claims.0.returned",
              "strength: returned only");
    check_bad(HEAD BARE TESTED WORTH "    tuned: a\n", 16, 5, "claims.0.tuned",
              "strength: tuned only");
}

static void readings(void **state)
{
    (void)state;
    struct paper *p = read_good(
        HEAD READINGS CLAIM TESTED
        "    seeds: 5\n    quick: {stop: 2ms}\n    notes: N\n    readings:\n"
        "      - {reading: late, verdict: fails, why: w, measure: late.drops, average: metrics,\n"
        "         quick: false}\n"
        "      - {reading: cells, scenario: cells.yaml, seeds: 1, verdict: direction, why: v,\n"
        "         direction: a.drops > 0}\n");
    assert_int_equal(p->n_readings, 3);
    assert_string_equal(p->readings[PLAIN_READING].title, "bytes");
    assert_string_equal(p->readings[1].id, "cells");
    assert_true(p->readings[1].is_after_the_fact && !p->readings[2].is_after_the_fact);
    assert_string_equal(p->readings[1].text, "since 1999");
    const struct claim *c = &p->claims[0];
    assert_int_equal(c->n_readings, 2);
    assert_int_equal(c->readings[0].reading, 2);
    assert_int_equal(c->readings[1].reading, 1);
    const struct claim *late = c->readings[0].claim, *cells = c->readings[1].claim;
    assert_string_equal(late->experiment.scenario, "s.yaml");
    assert_int_equal(late->experiment.n_seeds, 5);
    assert_true(late->experiment.is_left_out_of_quick && !late->experiment.n_quick);
    assert_string_equal(late->measure.text, "late.drops");
    assert_true(late->average == AVERAGE_METRICS && late->recorded == VERDICT_FAILS);
    assert_true(late->published == 40 && late->tolerance == 5 && !late->notes);
    assert_string_equal(cells->experiment.scenario, "cells.yaml");
    assert_int_equal(cells->experiment.n_seeds, 1);
    assert_int_equal(cells->experiment.n_quick, 1);
    assert_string_equal(cells->measure.text, "100 * off.drops / off.sent");
    assert_true(cells->average == AVERAGE_SEEDS && cells->recorded == VERDICT_DIRECTION);
    claims_destroy(p);
    /* With the same verdict the claim's reason stands; with another it does not. */
    p = read_good(HEAD READINGS
                  "claims:\n"
                  "  - {id: a, place: 1, statement: s, scenario: s, published: null,\n"
                  "     direction: drops > 0, verdict: fails, why: w, kind: own,\n"
                  "     strength: independent, readings:\n"
                  "     [{reading: late, verdict: fails},\n"
                  "      {reading: cells, verdict: holds}]}\n");
    assert_string_equal(p->claims[0].readings[0].claim->why, "w");
    assert_null(p->claims[0].readings[1].claim->why);
    claims_destroy(p);
}

static void mistakes_of_readings(void **state)
{
    (void)state;
    check_bad(HEAD "readings: cells\nclaims: []\n", 4, 11, "readings", "a list");
    check_bad(HEAD "readings: [{title: a}]\nclaims: []\n", 4, 12, "readings.0.id", "missing");
    check_bad(HEAD "readings: [{id: a}]\nclaims: []\n", 4, 12, "readings.0.title", "missing");
    check_bad(HEAD "readings: [{id: a, title: b, after_the_fact: yes}]\nclaims: []\n", 4, 46,
              "readings.0.after_the_fact", "accepted: false, true");
    check_bad(HEAD "readings: [{id: a, title: b}, {id: a, title: c}]\nclaims: []\n", 4, 36,
              "readings.1.id", "given twice");
    check_bad(HEAD "readings: [{id: plain, title: b}, {id: plain, title: c}]\nclaims: []\n", 4, 40,
              "readings.1.id", "given twice");
    static const struct {
        const char *text;
        int column;
        const char *subject, *part;
    } cases[] = {
        {"{verdict: holds}", 16, "reading", "missing"},
        {"{reading: cell, verdict: holds}", 26, "reading", "accepted: cells, late"},
        {"{reading: plain, verdict: holds}", 26, "reading", "the claim itself"},
        {"{reading: late}", 16, "verdict", "missing"},
        {"{reading: late, verdict: fails}", 16, "why", "missing"},
        {"{reading: late, verdict: direction, why: w}", 16, "direction", "missing"},
        {"{reading: late, verdict: holds, published: 4}", 48, "published", "unknown key"},
        {"{reading: late, verdict: holds, measure: 1 +}", 60, "measure", "the text ends"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[1024], subject[64];
        snprintf(text, sizeof text, HEAD READINGS CLAIM TESTED "    readings: [%s]\n",
                 cases[i].text);
        snprintf(subject, sizeof subject, "claims.0.readings.0.%s", cases[i].subject);
        check_bad(text, 20, cases[i].column, subject, cases[i].part);
    }
    check_bad(HEAD READINGS CLAIM TESTED "    readings: [{reading: late, verdict: holds},\n"
                                         "               {reading: late, verdict: holds}]\n",
              21, 26, "claims.0.readings.1.reading", "given twice");
    check_bad(HEAD CLAIM TESTED "    readings: [{reading: late, verdict: holds}]\n", 16, 26,
              "claims.0.readings.0.reading", "there are none");
}

static void listing(void **state)
{
    (void)state;
    char dir[] = "/tmp/claims-test-XXXXXX", path[128];
    static const char *const names[] = {"zeta", "alpha", "empty"};
    uint32_t n = 7;
    assert_non_null(mkdtemp(dir));
    char **none = claims_list(dir, &n);
    assert_int_equal(n, 0);
    free(none);
    for (uint32_t i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "%s/%s", dir, names[i]);
        assert_int_equal(mkdir(path, 0700), 0);
        snprintf(path, sizeof path, "%s/%s/" CLAIMS_FILE, dir, names[i]);
        FILE *file = i < 2 ? fopen(path, "w") : NULL;
        if (file) {
            fprintf(file, "paper: alpha\ntitle: T\nsource: S\nclaims: []\n");
            fclose(file);
        }
    }
    char **found = claims_list(dir, &n);
    assert_int_equal(n, 2);
    assert_string_equal(found[0], "alpha");
    assert_string_equal(found[1], "zeta");
    struct paper *paper;
    struct xoff_err err;
    assert_int_equal(claims_read(dir, "alpha", &paper, &err), 0);
    claims_destroy(paper);
    assert_int_equal(claims_read(dir, "zeta", &paper, &err), -XOFF_E_CONFLICT);
    assert_int_equal(claims_read(dir, "empty", &paper, &err), -XOFF_E_IO);
    for (uint32_t i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "%s/%s/" CLAIMS_FILE, dir, names[i]);
        unlink(path);
        snprintf(path, sizeof path, "%s/%s", dir, names[i]);
        rmdir(path);
    }
    rmdir(dir);
    free(found[0]);
    free(found[1]);
    free(found);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole),
        cmocka_unit_test(forms),
        cmocka_unit_test(mistakes_of_the_file),
        cmocka_unit_test(mistakes_of_a_claim),
        cmocka_unit_test(mistakes_of_an_experiment),
        cmocka_unit_test(mistakes_of_numbers),
        cmocka_unit_test(mistakes_of_expressions),
        cmocka_unit_test(mistakes_of_a_figure),
        cmocka_unit_test(other_figures),
        cmocka_unit_test(mistakes_of_other_figures),
        cmocka_unit_test(kinds),
        cmocka_unit_test(readings),
        cmocka_unit_test(mistakes_of_readings),
        cmocka_unit_test(listing),
    };
    return cmocka_run_group_tests_name("claims", tests, NULL, NULL);
}
