/* `switches:` in scenario files: which switches an entry is for, what it inherits from `switch`,
 * which of several wins, printing, settings, and what is refused where. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "scenario/build.h"

/* leaf0..leaf3, spine0, spine1: switches 0 to 5. */
#define CLOS                                                                  \
    "topology: {kind: leaf-spine, leaves: 4, spines: 2, hosts_per_leaf: 2}\n" \
    "switch: {buffer: 4MB, mmu: {kind: sih, alpha: 1/4, reserved: 1KB}}\n"    \
    "priorities: {3: {lossless: true}}\n"

static int try_read(const char *text, const char *key, const char *value, struct scenario **s,
                    struct built **built, struct xoff_err *err)
{
    const struct plan_setting setting = {key, value};
    const struct build_options options = {.n_threads = 1, .cell_bound = XOFF_PARAM_AUTO};
    int code = scenario_read_text("t.yaml", text, strlen(text), &setting, key ? 1 : 0, s, err);
    if (code)
        return code;
    code = build_create((*s)->plans[0], &options, built, err);
    if (code)
        scenario_destroy(*s);
    return code;
}

static void read_good(const char *text, struct scenario **s, struct built **built)
{
    struct xoff_err err;
    if (try_read(text, NULL, NULL, s, built, &err))
        fail_msg("%d:%d: %s: %s", err.line, err.column, err.subject, err.message);
}

static void forget(struct scenario *s, struct built *built)
{
    build_destroy(built);
    scenario_destroy(s);
}

static void assert_fails(const char *text, int line, int column, const char *subject,
                         const char *message)
{
    struct scenario *s;
    struct built *built;
    struct xoff_err err;
    assert_true(try_read(text, NULL, NULL, &s, &built, &err) < 0);
    if (err.line != line || err.column != column || strcmp(err.subject, subject) ||
        !strstr(err.message, message))
        fail_msg("%d:%d: %s: %s", err.line, err.column, err.subject, err.message);
}

static void assert_kinds(const char *match, const char *kinds)
{
    char text[1024];
    snprintf(text, sizeof text, CLOS "switches:\n  - match: %s\n", match);
    struct scenario *s;
    struct built *built;
    read_good(text, &s, &built);
    for (uint32_t i = 0; i < 6; i++)
        if (built->kind_of[i] != kinds[i] - '0')
            fail_msg("%s: %s is of kind %u", match, built->topo.nodes[8 + i].name,
                     built->kind_of[i]);
    forget(s, built);
}

static void sets(void **state)
{
    (void)state;
    assert_kinds("leaf1", "010000");
    assert_kinds("leaf1..leaf3", "011100");
    assert_kinds("leaf3..spine0", "000110");
    assert_kinds("\"*\"", "111111");
    assert_kinds("all", "111111");
    assert_kinds("\"spine*\"", "000011");
    assert_kinds("\"?????\"", "111100");
    assert_kinds("[leaf0, \"spin?1\"]", "100001");
    /* If several entries match a switch, the last one counts. */
    assert_kinds("\"*\"\n  - match: leaf0..leaf1\n  - match: leaf1", "231111");
}

static const char *alpha_of(const struct net_switch *sw)
{
    static char buf[64];
    return xoff_param_format(xoff_param_find(sw->mmu->params, "alpha"), sw->mmu_params, buf,
                             sizeof buf);
}

static const char *reserved_of(const struct net_switch *sw)
{
    static char buf[64];
    return xoff_param_format(xoff_param_find(sw->mmu->params, "reserved"), sw->mmu_params, buf,
                             sizeof buf);
}

static const char entries[] = CLOS "transport: dcqcn\n"
                                   "switches:\n"
                                   "  - {match: leaf0, buffer: 5MB}\n"
                                   "  - {match: leaf1, mmu: {alpha: 1/2}}\n"
                                   "  - {match: leaf2, mmu: {kind: sih, reserved: 2KB}}\n"
                                   "  - {match: leaf3, mmu: dsh, pause: pause}\n"
                                   "  - {match: spine0, marking: none, scheduler: strict}\n"
                                   "  - {match: spine1, mmu: sih, path: scatter}\n"
                                   "traffic: [{kind: incast, from: h0, to: h7, size: 1KB}]\n";

static void entries_inherit(void **state)
{
    (void)state;
    struct scenario *s;
    struct built *built;
    read_good(entries, &s, &built);
    const struct net_switch *k = s->plans[0]->net.kinds;
    assert_int_equal(s->plans[0]->net.n_kinds, 7);
    static const int64_t buffers[] = {4000000, 5000000, 4000000, 4000000,
                                      4000000, 4000000, 4000000};
    static const char *const mmus[] = {"sih", "sih", "sih", "sih", "dsh", "sih", "sih"};
    static const char *const alphas[] = {"0.25", "0.25", "0.5", "0.25", "0.0625", "0.25", "0.25"};
    static const char *const reserves[] = {"1KB", "1KB", "1KB", "2KB", "4KiB", "1KB", "1KB"};
    static const char *const pauses[] = {"pfc", "pfc", "pfc", "pfc", "pause", "pfc", "pfc"};
    /* `switch` has the marking that the transport asks for, and so have the entries that give none.
     */
    static const char *const markings[] = {"ecn", "ecn", "ecn", "ecn", "ecn", "none", "ecn"};
    for (uint32_t i = 0; i < 7; i++) {
        assert_int_equal(k[i].buffer_bytes, buffers[i]);
        assert_string_equal(k[i].mmu->name, mmus[i]);
        assert_string_equal(alpha_of(&k[i]), alphas[i]);
        assert_string_equal(reserved_of(&k[i]), reserves[i]);
        assert_string_equal(k[i].pause->name, pauses[i]);
        assert_string_equal(k[i].marking->name, markings[i]);
        assert_string_equal(k[i].sched->name, i == 5 ? "strict" : k[0].sched->name);
        assert_string_equal(k[i].path->name, i == 6 ? "scatter" : "ecmp");
    }
    forget(s, built);
}

static void prints_back(void **state)
{
    (void)state;
    struct scenario *s, *again;
    struct built *built, *same;
    read_good(entries, &s, &built);
    char *text = plan_print(s->plans[0]);
    read_good(text, &again, &same);
    char *twice = plan_print(again->plans[0]);
    assert_string_equal(text, twice);
    assert_non_null(strstr(text, "\n  - match: leaf3\n    buffer: 4MB\n"));
    assert_memory_equal(built->kind_of, same->kind_of, 6);
    free(text), free(twice);
    forget(s, built);
    forget(again, same);
    read_good(CLOS, &s, &built);
    text = plan_print(s->plans[0]);
    assert_non_null(strstr(text, "\nswitches: []\n"));
    assert_null(built->kind_of);
    free(text);
    forget(s, built);
    /* One entry has a use for what `switch` says, the other has none. */
    read_good("topology: {kind: chain}\nswitch: {congestion_points: input}\n"
              "switches: [{match: s1, marking: qcn}, {match: s0}]\n",
              &s, &built);
    text = plan_print(s->plans[0]);
    read_good(text, &again, &same);
    free(text);
    forget(s, built);
    forget(again, same);
}

static void settings(void **state)
{
    (void)state;
    struct scenario *s;
    struct built *built;
    struct xoff_err err;
    /* A mechanism given as a word keeps its kind; one that an entry leaves out has the kind of
     * `switch`. */
    assert_int_equal(try_read(entries, "switches.3.mmu.alpha", "1/8", &s, &built, &err), 0);
    assert_string_equal(s->plans[0]->kinds[4].mmu->name, "dsh");
    assert_string_equal(alpha_of(&s->plans[0]->kinds[4]), "0.125");
    forget(s, built);
    assert_int_equal(try_read(entries, "switches.0.mmu.alpha", "1/8", &s, &built, &err), 0);
    assert_string_equal(s->plans[0]->kinds[1].mmu->name, "sih");
    assert_string_equal(alpha_of(&s->plans[0]->kinds[1]), "0.125");
    assert_string_equal(reserved_of(&s->plans[0]->kinds[1]), "1KB");
    forget(s, built);
    /* A setting of `switch` reaches the entries that inherit it. */
    assert_int_equal(try_read(entries, "switch.mmu.alpha", "1/8", &s, &built, &err), 0);
    assert_string_equal(alpha_of(&s->plans[0]->kinds[1]), "0.125");
    assert_string_equal(alpha_of(&s->plans[0]->kinds[2]), "0.5");
    forget(s, built);
    assert_int_equal(try_read(entries, "switches.6.buffer", "1MB", &s, &built, &err),
                     -XOFF_E_RANGE);
    assert_string_equal(err.subject, "--set switches.6.buffer");
    assert_int_equal(try_read(entries, "switches.1.mmu.alhpa", "1", &s, &built, &err),
                     -XOFF_E_UNKNOWN);
    assert_string_equal(err.subject, "--set switches.1.mmu.alhpa");
}

static void refused(void **state)
{
    (void)state;
    assert_fails(CLOS "switches: {match: leaf0}\n", 4, 11, "switches", "a mapping is given");
    assert_fails(CLOS "switches: [leaf0]\n", 4, 12, "switches.0", "a plain value is given");
    assert_fails(CLOS "switches: [{buffer: 1MB}]\n", 4, 12, "switches.0.match", "missing");
    assert_fails(CLOS "switches: [{match: leaf0, bufer: 1MB}]\n", 4, 27, "switches.0.bufer",
                 "did you mean buffer? accepted: buffer, processing_delay, congestion_points, "
                 "notice_priority, match, fabric, mmu");
    assert_fails(CLOS "switches: [{match: leaf0, buffer: 1B}]\n", 4, 35, "switches.0.buffer",
                 "from 64B");
    assert_fails(CLOS "switches: [{match: leaf0, mmu: {alhpa: 1}}]\n", 4, 33,
                 "switches.0.mmu.alhpa", "did you mean alpha");
    assert_fails(CLOS "switches: [{match: leaf0, mmu: {kind: dhs}}]\n", 4, 39,
                 "switches.0.mmu.kind", "did you mean dsh");
    /* Every item of an entry's match must name a switch. */
    static const char *const nobody[] = {"leaf4", "h0", "h0..leaf1", "leaf2..leaf1", "leaf0..leaf4",
                                         "'h*'",  "''", "'leaf0,'",  "'leaf0,x*'"};
    for (size_t i = 0; i < sizeof nobody / sizeof nobody[0]; i++) {
        char text[512];
        snprintf(text, sizeof text, CLOS "switches: [{match: leaf0}, {match: %s}]\n", nobody[i]);
        assert_fails(text, 4, nobody[i][0] == '\'' ? 37 : 36, "switches.1.match",
                     "no switch is called so");
    }
    /* An error of a mechanism names the entry, and the entry's own key where it has one. */
    assert_fails(CLOS "switches: [{match: leaf0}, {match: leaf1, buffer: 10KB}]\n", 4, 28,
                 "switches.1.buffer", "too small");
    assert_fails(CLOS "switches: [{match: leaf1, mmu: {headroom: 100B}}]\n", 4, 32,
                 "switches.0.mmu.headroom", "loses what arrives after XOFF");
    assert_fails(CLOS "switches: [{match: leaf1, mmu: {headroom: 0B}}]\n", 4, 43,
                 "switches.0.mmu.headroom", "a lossless priority has no headroom");
}

/* 255 entries fit, 256 do not. */
static void at_most_255(void **state)
{
    (void)state;
    char *text = malloc(8192);
    assert_non_null(text);
    for (int n = 255; n <= 256; n++) {
        char *at = stpcpy(text, CLOS "switches:\n");
        for (int i = 0; i < n; i++)
            at = stpcpy(at, "  - match: leaf0\n");
        if (n == 256) {
            assert_fails(text, 5, 3, "switches", "up to 255 entries");
            continue;
        }
        struct scenario *s;
        struct built *built;
        read_good(text, &s, &built);
        assert_int_equal(built->kind_of[0], 255);
        forget(s, built);
    }
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sets),        cmocka_unit_test(entries_inherit),
        cmocka_unit_test(prints_back), cmocka_unit_test(settings),
        cmocka_unit_test(refused),     cmocka_unit_test(at_most_255),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
