/* Every small world of flow control: all buffers and pause policies of the registry in the
 * surroundings below (world.h), and planted faults that must be found.
 *
 *   explore_test [PART OF A NAME]
 *
 * XOFF_STATES: how many states of each mechanism, default 10^6; variants get a tenth. XOFF_QUICK
 * set: fewer, for slow builds. docs/testing.md tells what is checked.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include <xoff/registry.h>

#include "explore/world.h"
#include "support/rig.h"

static const char *wanted = ""; /* part of the names of mechanisms to be explored */

/* Mechanisms. Buffers have room for one to three frames before they pause, and then for exactly
 * what may still arrive: 304 B. Policies that decide by the egress queue do so at two frames there;
 * buffers then have room for that and for what may arrive from all ports. A buffer or policy of the
 * registry that has no line here is explored with its defaults. */

#define SIH "alpha=1 reserved=0B resume_offset=76B"
#define DSH SIH " port_resume_offset=76B"
#define STATIC "xoff=152B xon=76B egress_limit=152B"
#define TWO_SIDED "dedicated=0B xoff=152B xon=76B"
#define NS3 "headroom=304B reserved=0B shift=0 resume_offset=76B"
#define ROOMY "alpha=8 reserved=0B resume_offset=0B"
#define ROOM (228 + 3 * 304)
#define EGRESS "quanta=3 trigger=egress xoff=152B xon=76B"
#define TPFC "quanta=3 lw=76B tw=152B hw=228B"
#define CAPFC "quanta=3 xon=76B xoff=152B"

struct mechanism {
    const char *name;
    const char *mmu, *mmu_params, *pause, *pause_params;
    int64_t shared_bytes;
    bool is_by_port; /* headroom */
    bool is_variant, may_lose;
};

#define Q false /* headroom for each queue */
#define P true  /* headroom for each port */
#define MAIN false, false
#define VARIANT true, false
#define LOSSY true, true

static const struct mechanism mechanisms[] = {
    {"sih", "sih", SIH, "pfc", "quanta=3", 160, Q, MAIN},
    {"dsh", "dsh", DSH, "pfc", "quanta=3", 460, P, MAIN},
    {"insurance-only", "insurance-only", SIH, "pfc", "quanta=3", 160, P, MAIN},
    {"static", "static", STATIC, "pfc", "quanta=3", 3 * 9 * 152, Q, MAIN},
    {"two-sided", "two-sided", TWO_SIDED, "pfc", "quanta=3", 160, Q, MAIN},
    {"ns3", "ns3", NS3, "pfc", "quanta=3", 160, P, MAIN},
    {"pfc, trigger egress", "sih", ROOMY, "pfc", EGRESS, ROOM, Q, MAIN},
    {"pause", "sih", SIH, "pause", "quanta=3", 160, Q, MAIN},
    {"tpfc", "sih", ROOMY, "tpfc", TPFC, ROOM, Q, MAIN},
    {"capfc", "sih", ROOMY, "capfc", CAPFC, ROOM, Q, MAIN},
    {"dsh, insurance", "dsh", DSH, "pfc", "quanta=3", 70, P, VARIANT},
    {"pause on dsh", "dsh", DSH, "pause", "quanta=3", 460, P, VARIANT},
    {"pfc, partners all", "sih", ROOMY, "pfc", EGRESS " partners=all", ROOM, Q, VARIANT},
    {"pause, trigger egress", "sih", ROOMY, "pause", EGRESS, ROOM, Q, VARIANT},
    {"pfc, no resume", "sih", SIH, "pfc", "quanta=3 resume=false", 160, Q, VARIANT},
    {"pfc, no refresh", "sih", SIH, "pfc", "quanta=3 refresh=false", 160, Q, LOSSY},
    {"tpfc, random", "sih", ROOMY, "tpfc", TPFC " targeting=random", ROOM, Q, VARIANT},
    {"tpfc, bytes", "sih", ROOMY, "tpfc", TPFC " sample=bytes", ROOM, Q, VARIANT},
    {"tpfc, scan", "sih", ROOMY, "tpfc", TPFC " statistics=scan", ROOM, Q, VARIANT},
    {"tpfc, at crossing", "sih", ROOMY, "tpfc", TPFC " when=crossing", ROOM, Q, VARIANT},
    {"tpfc, every second", "sih", ROOMY, "tpfc", TPFC " every=2 rearm=lw", ROOM, Q, VARIANT},
    {"capfc, departures", "sih", SIH, "capfc", CAPFC " departures=true", 160, Q, VARIANT},
    {"capfc, max", "sih", ROOMY, "capfc", CAPFC " select=max", ROOM, Q, VARIANT},
    {"none", "sih", SIH, "none", "", 160, Q, LOSSY},
};
#define N_MECHANISMS (sizeof mechanisms / sizeof *mechanisms)

/* Surroundings, from small to large: those in front are explored whole. */
static const struct world_spec surroundings[] = {
    {.n_senders = 1, .n_priorities = 1, .has_short = true, .has_reverse = true},
    {.n_senders = 1, .n_priorities = 1, .has_reverse = true, .has_mishaps = true},
    {.n_senders = 1, .n_priorities = 1, .has_short = true, .is_lazy = true},
    {.n_senders = 1, .n_priorities = 2, .has_reverse = true},
    {.n_senders = 1, .n_priorities = 2, .is_second_lossy = true, .has_reverse = true},
    {.n_senders = 1, .n_priorities = 2, .has_mishaps = true},
    {.n_senders = 2, .n_priorities = 1},
    {.n_senders = 2, .n_priorities = 1, .has_reverse = true},
    {.n_senders = 2,
     .n_priorities = 2,
     .has_short = true,
     .has_reverse = true,
     .has_mishaps = true},
};
#define N_SURROUNDINGS (sizeof surroundings / sizeof *surroundings)

static struct world_spec spec_of(const struct mechanism *m, const struct world_spec *around)
{
    struct world_spec spec = *around;
    spec.mmu = m->mmu;
    spec.mmu_params = m->mmu_params;
    spec.pause = m->pause;
    spec.pause_params = m->pause_params;
    spec.shared_bytes = m->shared_bytes;
    spec.is_by_port = m->is_by_port;
    spec.may_lose = m->may_lose;
    return spec;
}

static void explore(const struct world_spec *spec, uint32_t max_states, struct world *world,
                    struct explorer_answer *answer)
{
    struct xoff_err err = {0};
    if (world_init(world, spec, &err))
        fail_msg("no small world of %s with %s: %s %s: %s; give it a line in mechanisms[]",
                 spec->mmu, spec->pause, err.subject, err.value, err.message);
    explorer_run(&world->model, world, max_states, answer);
}

static uint32_t n_states(bool is_variant)
{
    const char *text = getenv("XOFF_STATES");
    uint32_t n = text ? (uint32_t)strtoul(text, NULL, 10) : 1000000;
    if (!text && getenv("XOFF_QUICK"))
        n /= 25;
    return is_variant ? n / 10 : n;
}

/* Prints how much of a mechanism was seen, or how it went wrong. */
static void check(const struct mechanism *m)
{
    uint32_t left = n_states(m->is_variant), n = 0, depth = 0, rest = 0, n_whole = 0;
    size_t most_bytes = 0;
    const clock_t start = clock();
    for (size_t i = 0; i < N_SURROUNDINGS; i++) {
        const struct world_spec spec = spec_of(m, &surroundings[i]);
        struct world world;
        struct explorer_answer a;
        explore(&spec, i + 1 < N_SURROUNDINGS ? left / 2 : left, &world, &a);
        if (a.violation) {
            printf("%s: %s %s, %s %s\n", m->name, m->mmu, m->mmu_params, m->pause, m->pause_params);
            world_print_trace(&world, &a, stdout);
            world_print_scenario(&world, &a, stdout);
            fail_msg("%s: %s", m->name, a.violation);
        }
        n += a.n_states;
        left -= a.n_states < left ? a.n_states : left;
        depth = a.depth > depth ? a.depth : depth;
        rest = a.rest_after > rest ? a.rest_after : rest;
        n_whole += a.is_complete;
        most_bytes = a.bytes > most_bytes ? a.bytes : most_bytes;
        explorer_free(&a);
        world_fini(&world);
    }
    printf("%-22s %10u states  depth %3u  rest %2u  %u of %zu whole %6.1f s %6.0f MB\n", m->name, n,
           depth, rest, n_whole, N_SURROUNDINGS, (double)(clock() - start) / CLOCKS_PER_SEC,
           (double)most_bytes / 1e6);
    fflush(stdout);
}

static void all_mechanisms(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_MECHANISMS; i++)
        if (strstr(mechanisms[i].name, wanted))
            check(&mechanisms[i]);
}

/* Whatever the registry has got meanwhile joins with its defaults, apart from short pauses. */
static void rest_of_the_registry(void **state)
{
    (void)state;
    for (size_t i = 0; xoff_mmus[i]; i++) {
        struct mechanism m = {
            xoff_mmus[i]->name, xoff_mmus[i]->name, "", "pfc", "quanta=3", 20000, Q, VARIANT};
        bool is_known = false;
        for (size_t k = 0; k < N_MECHANISMS; k++)
            is_known |= strcmp(mechanisms[k].mmu, m.mmu) == 0;
        if (!is_known)
            check(&m);
    }
    for (size_t i = 0; xoff_pauses[i]; i++) {
        const struct xoff_pause_ops *ops = xoff_pauses[i];
        const char *quanta = xoff_param_find(ops->params, "quanta") ? "quanta=3" : "";
        struct mechanism m = {ops->name, "sih", ROOMY, ops->name, quanta, ROOM, Q, VARIANT};
        bool is_known = false;
        for (size_t k = 0; k < N_MECHANISMS; k++)
            is_known |= strcmp(mechanisms[k].pause, m.pause) == 0;
        if (!is_known)
            check(&m);
    }
}

/* Planted faults. The search stops at the first state that shows one. */

/* Returns what was found, or NULL; the text lasts until the next search. */
static const char *find(const char *name, enum world_fault fault, const struct world_spec *around)
{
    size_t i = 0;
    while (strcmp(mechanisms[i].name, name) != 0)
        i++;
    struct world_spec spec = spec_of(&mechanisms[i], around);
    struct world world;
    struct explorer_answer a;
    spec.fault = fault;
    explore(&spec, 1000000, &world, &a);
    if (a.violation)
        printf("%-22s %3u ticks %6u states: %.120s\n", name, a.n_choices, a.n_states, a.violation);
    else
        assert_true(a.is_complete);
    explorer_free(&a);
    world_fini(&world);
    return a.violation;
}

static bool stops_ports(const struct mechanism *m)
{
    return strcmp(m->pause, "pause") == 0 || strcmp(m->mmu, "insurance-only") == 0;
}

/* All mechanisms show the fault, except that those that stop whole ports know no wrong priority.
 * The first one shows it as expected, and without the fault there is nothing to be found. */
static void must_find(enum world_fault fault, const struct world_spec *around, const char *what)
{
    const char *found = find("sih", fault, around);
    assert_non_null(found);
    assert_non_null(strstr(found, what));
    assert_null(find("sih", FAULT_NONE, around));
    for (size_t i = 1; i < N_MECHANISMS; i++) {
        const struct mechanism *m = &mechanisms[i];
        if (!m->is_variant && !(stops_ports(m) && fault == FAULT_WRONG_PRIORITY))
            assert_non_null(find(m->name, fault, around));
    }
}

static void late_refresh(void **state)
{
    (void)state;
    must_find(FAULT_LATE_REFRESH, &surroundings[0], "a pause runs out although it is wanted");
}

static void lost_xon(void **state)
{
    (void)state;
    must_find(FAULT_XON_LOST, &surroundings[0], "a gate stays closed");
}

static void wrong_priority(void **state)
{
    (void)state;
    must_find(FAULT_WRONG_PRIORITY, &surroundings[3], "change the gate exactly once");
}

static void released_twice(void **state)
{
    (void)state;
    must_find(FAULT_RELEASED_TWICE, &surroundings[0], "books are not those of the frames");
}

static void timer_not_restarted(void **state)
{
    (void)state;
    must_find(FAULT_TIMER_NOT_RESTARTED, &surroundings[0], "a gate is open although");
}

/* One byte is enough where the frame that decides may lie in headroom as a whole. In the other
 * buffers a threshold comes before: in `static` a byte of that frame lies below it. */
static void short_headroom(void **state)
{
    (void)state;
    static const char *const tight[] = {"sih", "insurance-only", "two-sided", "dsh, insurance",
                                        "pause"};
    for (size_t i = 0; i < sizeof tight / sizeof *tight; i++) {
        const char *found = find(tight[i], FAULT_SHORT_HEADROOM, &surroundings[0]);
        assert_non_null(found);
        assert_string_equal(found, "a frame of a lossless priority is lost");
        assert_null(find(tight[i], FAULT_NONE, &surroundings[0]));
    }
}

/* The scenario of a trace does in the simulator what the trace tells, except for the tie: the
 * sender's last frame, which begins in the instant in which the gate closes, does not begin there.
 * So three of the four frames behind the threshold lie in headroom, and one byte less than three
 * loses the third. */
static void run_scenario(struct world *world, const struct explorer_answer *a, int64_t headroom,
                         int64_t *peak_bytes, uint64_t *n_lost)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    world->headroom_bytes = headroom;
    world_print_scenario(world, a, out);
    fclose(out);
    struct rig rig;
    rig_run(&rig, NULL, "%s", text);
    *peak_bytes = rig_port(&rig, "s0", "h1")->queue[world_priorities[0]].headroom_peak_bytes;
    *n_lost = 0;
    for (uint32_t i = 0; i < rig.results->n_drops; i++)
        *n_lost += rig.results->drops[i].frames;
    rig_fini(&rig);
    free(text);
}

static void scenario_of_a_trace(void **state)
{
    (void)state;
    struct world_spec spec = spec_of(&mechanisms[0], &surroundings[0]);
    struct world world;
    struct explorer_answer a;
    int64_t peak_bytes;
    uint64_t n_lost;
    spec.fault = FAULT_SHORT_HEADROOM;
    explore(&spec, 1000000, &world, &a);
    assert_non_null(a.violation);
    world_print_trace(&world, &a, stdout);
    world_print_scenario(&world, &a, stdout);
    run_scenario(&world, &a, 303, &peak_bytes, &n_lost);
    assert_int_equal(peak_bytes, 3 * 76);
    assert_int_equal(n_lost, 0);
    run_scenario(&world, &a, 227, &peak_bytes, &n_lost);
    assert_int_equal(peak_bytes, 2 * 76);
    assert_int_equal(n_lost, 1);
    explorer_free(&a);
    world_fini(&world);
}

/* The search itself, on a model of two counters below 5: choice 0 takes one off the first, or off
 * the second when that is 0; choices 1 and 2 add one. */

struct toy {
    uint64_t bad[2];   /* must not be; 9: nothing */
    uint64_t stuck[2]; /* choice 0 goes round between this and a first counter of one more */
};

static void toy_init(const void *world, void *state)
{
    (void)world;
    memset(state, 0, 64);
}

static uint32_t toy_n_choices(const void *world, const void *state)
{
    (void)world, (void)state;
    return 3;
}

static const char *toy_step(const void *world, void *state, uint32_t choice)
{
    const struct toy *toy = world;
    uint64_t *at = state;
    if (choice)
        at[choice - 1] += at[choice - 1] < 4;
    else if (at[0] == toy->stuck[0] && at[1] == toy->stuck[1])
        at[0]++;
    else if (at[0])
        at[0]--;
    else
        at[1] -= at[1] > 0;
    XOFF_ASSERT(at[0] != 3 || toy->bad[0] != 7);
    return at[0] == toy->bad[0] && at[1] == toy->bad[1] ? "bad" : NULL;
}

static bool toy_is_at_rest(const void *world, const void *state)
{
    const uint64_t *at = state;
    (void)world;
    return at[0] == 0 && at[1] == 0;
}

static const struct explorer_model toy_model = {
    .state_size = 64,
    .init = toy_init,
    .n_choices = toy_n_choices,
    .step = toy_step,
    .is_at_rest = toy_is_at_rest,
};

static void search_is_whole(void **state)
{
    (void)state;
    const struct toy toy = {{9, 9}, {9, 9}};
    struct explorer_answer a;
    explorer_run(&toy_model, &toy, 1000, &a);
    assert_null(a.violation);
    assert_true(a.is_complete);
    assert_int_equal(a.n_states, 25);
    assert_int_equal(a.n_steps, 75);
    assert_int_equal(a.depth, 8);
    assert_int_equal(a.rest_after, 8);
    explorer_free(&a);
    explorer_run(&toy_model, &toy, 24, &a);
    assert_null(a.violation);
    assert_false(a.is_complete);
    explorer_free(&a);
}

static void search_finds_the_shortest_way(void **state)
{
    (void)state;
    const struct toy toy = {{2, 1}, {9, 9}};
    struct explorer_answer a;
    explorer_run(&toy_model, &toy, 1000, &a);
    assert_string_equal(a.violation, "bad");
    assert_int_equal(a.n_choices, 3);
    assert_int_equal(a.choices[0] + a.choices[1] + a.choices[2], 1 + 1 + 2);
    explorer_free(&a);
}

static void search_finds_assertions(void **state)
{
    (void)state;
    const struct toy toy = {{7, 7}, {9, 9}};
    struct explorer_answer a;
    explorer_run(&toy_model, &toy, 1000, &a);
    assert_non_null(strstr(a.violation, "at[0] != 3"));
    assert_int_equal(a.n_choices, 3);
    explorer_free(&a);
}

/* From (1, 2) on, (1, 2) and (2, 2) follow each other for ever. */
static void search_finds_circles(void **state)
{
    (void)state;
    const struct toy toy = {{9, 9}, {1, 2}};
    struct explorer_answer a;
    explorer_run(&toy_model, &toy, 1000, &a);
    assert_non_null(strstr(a.violation, "never comes to rest"));
    assert_int_equal(a.n_choices, 3);
    explorer_free(&a);
}

int main(int argc, char **argv)
{
    wanted = argc > 1 ? argv[1] : "";
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(search_is_whole),
        cmocka_unit_test(search_finds_the_shortest_way),
        cmocka_unit_test(search_finds_assertions),
        cmocka_unit_test(search_finds_circles),
        cmocka_unit_test(late_refresh),
        cmocka_unit_test(lost_xon),
        cmocka_unit_test(short_headroom),
        cmocka_unit_test(wrong_priority),
        cmocka_unit_test(released_twice),
        cmocka_unit_test(timer_not_restarted),
        cmocka_unit_test(scenario_of_a_trace),
        cmocka_unit_test(all_mechanisms),
        cmocka_unit_test(rest_of_the_registry),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
