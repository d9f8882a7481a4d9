/* A pause policy that decides late, in whole networks: pfc's decisions, told a fixed time after the
 * thresholds were crossed. What it says of itself decides how much headroom the buffer sets aside.
 * If it says that it is late nothing is lost, if it hides it frames are lost, and a buffer that was
 * given too little for it is refused or warned about before the run. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <xoff/registry.h>
#include <xoff/units.h>

#include "support/rig.h"

#define MAX_WAITING 64 /* edges that were decided and are not told yet */
#define CFG_BYTES 512
#define LATE (5 * XOFF_US)

/* What the policies of the next run do, and what they say. */
static struct {
    xoff_time late_for, stated_for;
    int64_t stated_bytes;
} lazy;

struct lazy_cfg {
    xoff_time late_for;
    _Alignas(16) unsigned char pfc[CFG_BYTES];
};

struct lazy_state {
    uint32_t n, first; /* a ring: all are late alike, so it is in order of time */
    struct {
        xoff_time at;
        struct xoff_edge edge;
    } waiting[MAX_WAITING];
    _Alignas(16) unsigned char pfc[];
};

static int lazy_configure(const void *params, const struct xoff_pause_env *env, void *cfg,
                          struct xoff_pause_shape *shape, struct xoff_err *err)
{
    struct lazy_cfg *c = cfg;
    const struct xoff_pause_ops *pfc = xoff_pause_find("pfc");
    assert_true(xoff_pause_cfg_size(pfc, env->n_ports) <= sizeof c->pfc);
    c->late_for = lazy.late_for;
    const int code = pfc->configure(params, env, c->pfc, shape, err);
    shape->state_size += sizeof(struct lazy_state);
    shape->has_deadline = true;
    shape->max_edges = MAX_WAITING;
    shape->late_for = lazy.stated_for;
    shape->late_bytes = lazy.stated_bytes;
    return code;
}

static void lazy_wait(const struct lazy_cfg *c, struct lazy_state *s, const struct xoff_edges *out,
                      xoff_time now)
{
    for (uint32_t i = 0; i < out->n; i++) {
        assert_true(s->n < MAX_WAITING);
        const uint32_t at = (s->first + s->n++) % MAX_WAITING;
        s->waiting[at].at = now + c->late_for;
        s->waiting[at].edge = out->at[i];
    }
}

static void lazy_on_arrival(const void *cfg, void *state, const struct xoff_arrival *arrival,
                            const struct xoff_crossings *crossings, xoff_time now,
                            struct xoff_edges *out)
{
    const struct lazy_cfg *c = cfg;
    struct lazy_state *s = state;
    xoff_pause_find("pfc")->on_arrival(c->pfc, s->pfc, arrival, crossings, now, out);
    lazy_wait(c, s, out, now);
    out->n = 0;
}

static void lazy_on_departure(const void *cfg, void *state, const struct xoff_departure *departure,
                              const struct xoff_crossings *crossings, xoff_time now,
                              struct xoff_edges *out)
{
    const struct lazy_cfg *c = cfg;
    struct lazy_state *s = state;
    xoff_pause_find("pfc")->on_departure(c->pfc, s->pfc, departure, crossings, now, out);
    lazy_wait(c, s, out, now);
    out->n = 0;
}

static xoff_time lazy_deadline(const void *cfg, const void *state)
{
    const struct lazy_state *s = state;
    (void)cfg;
    return s->n ? s->waiting[s->first].at : XOFF_NEVER;
}

static void lazy_expire(const void *cfg, void *state, xoff_time now, struct xoff_edges *out)
{
    struct lazy_state *s = state;
    assert_int_equal(now, lazy_deadline(cfg, state)); /* not earlier, not later */
    for (; s->n && s->waiting[s->first].at <= now; s->n--) {
        out->at[out->n++] = s->waiting[s->first].edge;
        s->first = (s->first + 1) % MAX_WAITING;
    }
}

static uint8_t lazy_waits_for(const void *cfg, const void *state, uint32_t port, uint32_t priority)
{
    const struct lazy_cfg *c = cfg;
    const struct lazy_state *s = state;
    return xoff_pause_find("pfc")->waits_for(c->pfc, s->pfc, port, priority);
}

static enum xoff_hold lazy_held_by(const void *cfg, const void *state, uint32_t port,
                                   uint32_t out_port, uint32_t priority)
{
    const struct lazy_cfg *c = cfg;
    const struct lazy_state *s = state;
    return xoff_pause_find("pfc")->held_by(c->pfc, s->pfc, port, out_port, priority);
}

/* Parameters are pfc's: the plan is read with it. */
static const struct xoff_pause_ops lazy_ops = {
    .name = "lazy",
    .summary = "pfc, later",
    .cfg_size = sizeof(struct lazy_cfg),
    .configure = lazy_configure,
    .on_arrival = lazy_on_arrival,
    .on_departure = lazy_on_departure,
    .deadline = lazy_deadline,
    .expire = lazy_expire,
    .waits_for = lazy_waits_for,
    .held_by = lazy_held_by,
};

/* Eight hosts send to h0 at once; `sw` and `rest` are parts of the scenario. */
static struct scenario *read_lazy(const char *sw, const char *rest)
{
    char text[1024];
    const int length =
        snprintf(text, sizeof text,
                 "stop: 200us\ndrain: 20ms\n"
                 "topology: {kind: star, hosts: 9, host_link: {rate: 100Gbps, delay: 1us}}\n"
                 "switch: {%s}\n"
                 "priorities: {3: {lossless: true}}\n"
                 "traffic: [{kind: cbr, from: \"h1..h8\", to: h0, priority: 3}]\n%s",
                 sw, rest);
    assert_true(length > 0 && length < (int)sizeof text);
    struct xoff_err err = {0};
    struct scenario *scenario = NULL;
    if (scenario_read_text("test", text, (size_t)length, NULL, 0, &scenario, &err))
        fail_msg("%d:%d: %s: %s\n%s", err.line, err.column, err.subject, err.message, text);
    scenario->plans[0]->kinds[0].pause = &lazy_ops;
    return scenario;
}

/* Lossless frames that were lost for want of buffer; everything else must be in order. */
static uint64_t run_lazy(const char *sw, const char *rest)
{
    struct rig rig;
    rig_run_plan(&rig, NULL, read_lazy(sw, rest), 0);
    uint64_t lost = 0, n_pauses = 0;
    for (uint32_t i = 0; i < rig.results->n_drops; i++)
        lost += rig.results->drops[i].frames;
    for (uint64_t i = 0; i < rig.results->n_pauses; i++)
        n_pauses += rig.results->pauses[i].pause;
    assert_true(n_pauses > 0);
    if (!lost)
        rig_assert_clean(&rig);
    rig_fini(&rig);
    return lost;
}

static void set_lazy(xoff_time late_for, xoff_time stated_for, int64_t stated_bytes)
{
    lazy.late_for = late_for;
    lazy.stated_for = stated_for;
    lazy.stated_bytes = stated_bytes;
}

static const char *const buffers[] = {"buffer: 16MB, mmu: {kind: sih, alpha: 1/16}",
                                      "buffer: 16MB, mmu: {kind: static, xoff: 50KB}",
                                      "buffer: 16MB, mmu: {kind: dsh, alpha: 1/16}"};
enum { SIH, STATIC, DSH, N_BUFFERS };

/* 5 us at 100 Gb/s are 62500 bytes, some 40 frames from each of eight senders. */
static void who_says_it_loses_nothing(void **unused)
{
    (void)unused;
    for (uint32_t i = 0; i < N_BUFFERS; i++) {
        set_lazy(LATE, LATE, 0);
        assert_int_equal(run_lazy(buffers[i], ""), 0);
        /* The same in bytes. */
        set_lazy(LATE, 0, 62500);
        assert_int_equal(run_lazy(buffers[i], ""), 0);
        /* And not by chance: who hides it loses frames, and so does who says half of it, unless
         * the buffer has more headroom in its pool. */
        set_lazy(LATE, 0, 0);
        assert_true(run_lazy(buffers[i], "") > 0);
        set_lazy(LATE, LATE / 2, 0);
        assert_true((run_lazy(buffers[i], "") > 0) == (i != DSH));
    }
}

/* Lateness of any size, between frames and in step with them. */
static void any_lateness_is_covered(void **unused)
{
    (void)unused;
    for (uint32_t i = 0; i < N_BUFFERS; i++)
        for (xoff_time late_for = 1; late_for < 20 * XOFF_US; late_for = late_for * 7 + 1) {
            set_lazy(late_for, late_for, 0);
            assert_int_equal(run_lazy(buffers[i], ""), 0);
        }
}

/* A policy that is never late changes nothing, whether it has deadlines or not. */
static void in_time_it_is_pfc(void **unused)
{
    (void)unused;
    struct rig plain, late;
    set_lazy(0, 0, 0);
    struct scenario *scenario = read_lazy(buffers[SIH], "");
    scenario->plans[0]->kinds[0].pause = xoff_pause_find("pfc");
    rig_run_plan(&plain, NULL, scenario, 0);
    rig_run_plan(&late, NULL, read_lazy(buffers[SIH], ""), 0);
    assert_int_equal(late.results->n_pauses, plain.results->n_pauses);
    for (uint64_t i = 0; i < plain.results->n_pauses; i++) {
        assert_int_equal(late.results->pauses[i].at, plain.results->pauses[i].at);
        assert_int_equal(late.results->pauses[i].pause, plain.results->pauses[i].pause);
        assert_int_equal(late.results->pauses[i].occupied_bytes,
                         plain.results->pauses[i].occupied_bytes);
    }
    rig_fini(&plain);
    rig_fini(&late);
}

/* Each edge is told LATE after its crossing, with its cause: the first one of a run shows it, since
 * until then nothing differs. */
static void edges_come_late_with_their_cause(void **unused)
{
    (void)unused;
    struct rig in_time, late;
    set_lazy(0, LATE, 0); /* the same headroom for both */
    rig_run_plan(&in_time, NULL, read_lazy(buffers[STATIC], ""), 0);
    set_lazy(LATE, LATE, 0);
    rig_run_plan(&late, NULL, read_lazy(buffers[STATIC], ""), 0);
    const struct result_pause *a = &in_time.results->pauses[0], *b = &late.results->pauses[0];
    assert_int_equal(b->at, a->at + LATE);
    assert_int_equal(b->port, a->port);
    assert_int_equal(b->unit, a->unit);
    assert_int_equal(b->occupied_bytes, a->occupied_bytes);
    assert_int_equal(b->threshold_bytes, a->threshold_bytes);
    rig_fini(&in_time);
    rig_fini(&late);
}

/* The slow receiver has the same policy in front of its buffer. */
static void a_slow_receiver_too(void **unused)
{
    (void)unused;
    static const char receiver[] =
        "receivers: [{host: h0, rate: 10Gbps, buffer: 400KB, xoff: 20KB}]\n";
    set_lazy(LATE, LATE, 0);
    assert_int_equal(run_lazy(buffers[STATIC], receiver), 0);
    /* The switches are safe with a large headroom; the receiver loses. */
    set_lazy(LATE, 0, 0);
    assert_true(
        run_lazy("buffer: 16MB, mmu: {kind: static, xoff: 50KB, headroom: 500KB}", receiver) > 0);
}

/* Built only: the answer of build_create() and its first warning. */
static int build_lazy(const char *sw, struct xoff_err *err, struct xoff_err *warning)
{
    struct scenario *scenario = read_lazy(sw, "");
    const struct build_options options = {.n_threads = 1, .cell_bound = XOFF_PARAM_AUTO};
    struct built *built = NULL;
    memset(err, 0, sizeof *err);
    memset(warning, 0, sizeof *warning);
    const int code = build_create(scenario->plans[0], &options, &built, err);
    if (!code) {
        uint32_t n;
        const struct net_warning *warnings = net_warnings(built->net, &n);
        if (n)
            *warning = warnings[0].err;
        build_destroy(built);
    }
    scenario_destroy(scenario);
    return code;
}

/* The headroom of a port for a policy in time, from the message that refuses one byte. */
static int64_t needed_bytes(const char *kind)
{
    char sw[128];
    struct xoff_err err, warning;
    snprintf(sw, sizeof sw, "buffer: 16MB, mmu: {kind: %s, headroom: 1B}", kind);
    assert_int_equal(build_lazy(sw, &err, &warning), -XOFF_E_RANGE);
    const char *figure = strstr(err.message, " needs ");
    assert_non_null(figure);
    return atoll(figure + strlen(" needs "));
}

/* One byte below what links and policy need together is refused, or with allow_loss warned about;
 * that itself is accepted in silence. */
static void headroom_given_by_hand_is_held_to_it(void **unused)
{
    (void)unused;
    static const char *const kinds[] = {"sih", "dsh", "static"};
    for (uint32_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        struct xoff_err err, warning;
        char sw[128];
        set_lazy(LATE, 0, 0);
        const int64_t links = needed_bytes(kinds[i]);
        set_lazy(LATE, LATE, 100);
        const int64_t both = needed_bytes(kinds[i]);
        assert_int_equal(both, links + 62500 + 100);

        for (int64_t short_by = 0; short_by < 2; short_by++) {
            snprintf(sw, sizeof sw, "buffer: 16MB, mmu: {kind: %s, headroom: %lldB}", kinds[i],
                     (long long)(both - short_by));
            assert_int_equal(build_lazy(sw, &err, &warning), short_by ? -XOFF_E_RANGE : 0);
            assert_string_equal(warning.message, "");
            snprintf(sw, sizeof sw,
                     "buffer: 16MB, mmu: {kind: %s, headroom: %lldB, allow_loss: true}", kinds[i],
                     (long long)(both - short_by));
            assert_int_equal(build_lazy(sw, &err, &warning), 0);
            assert_int_equal(strstr(warning.message, "may lose frames") != NULL, short_by);
        }
    }
}

/* The ns-3 family holds headroom to nothing; headroom below the worst case is warned about all the
 * same. With auto, what a late policy needs is set aside beside the rule's 3 * 12500 B, which are
 * fewer than the 54170 B that the links need; 6 * 12500 B are enough. */
static void the_ns3_buffer_warns(void **unused)
{
    (void)unused;
    struct xoff_err err, warning;
    char sw[128];
    set_lazy(LATE, 0, 0);
    const int64_t links = needed_bytes("sih");
    for (int64_t short_by = 0; short_by < 2; short_by++) {
        snprintf(sw, sizeof sw, "buffer: 16MB, mmu: {kind: ns3, headroom: %lldB}",
                 (long long)(links + 62500 - short_by));
        set_lazy(LATE, LATE, 0);
        assert_int_equal(build_lazy(sw, &err, &warning), 0);
        assert_int_equal(strstr(warning.message, "may lose frames") != NULL, short_by);
        set_lazy(LATE, 0, 0);
        assert_int_equal(build_lazy(sw, &err, &warning), 0);
        assert_string_equal(warning.message, "");
    }
    set_lazy(LATE, LATE, 0);
    assert_int_equal(build_lazy("buffer: 16MB, mmu: ns3", &err, &warning), 0);
    assert_non_null(strstr(warning.message, "up to 116670B can arrive"));
    assert_int_equal(
        build_lazy("buffer: 16MB, mmu: {kind: ns3, headroom_factor: 6}", &err, &warning), 0);
    assert_string_equal(warning.message, "");
    assert_int_equal(run_lazy("buffer: 16MB, mmu: {kind: ns3, headroom_factor: 6}", ""), 0);
    set_lazy(LATE, 0, 0);
    assert_true(run_lazy("buffer: 16MB, mmu: {kind: ns3, headroom_factor: 6}", "") > 0);
}

/* Where egress queues decide, buffer and policy are tried together: deadlines come in the trial
 * too, or no sender would ever be paused there. 20 KB and headroom per ingress do not hold the 200
 * KB at which the queue pauses its one sender; 400 KB do. */
static void a_trial_waits_for_the_late(void **unused)
{
    (void)unused;
    struct xoff_err err, warning;
    static const char format[] = "buffer: 16MB, mmu: {kind: static, xoff: %s, xon: 0B},\n"
                                 "  pause: {kind: pfc, trigger: egress, xoff: 200KB, xon: 100KB}";
    char sw[256];
    set_lazy(LATE, LATE, 0);
    snprintf(sw, sizeof sw, format, "400KB");
    assert_int_equal(build_lazy(sw, &err, &warning), 0);
    assert_string_equal(warning.message, "");
    assert_int_equal(run_lazy(sw, ""), 0);
    snprintf(sw, sizeof sw, format, "20KB");
    assert_int_equal(build_lazy(sw, &err, &warning), 0);
    assert_non_null(strstr(warning.message, "may lose frames"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_says_it_loses_nothing),
        cmocka_unit_test(any_lateness_is_covered),
        cmocka_unit_test(in_time_it_is_pfc),
        cmocka_unit_test(edges_come_late_with_their_cause),
        cmocka_unit_test(a_slow_receiver_too),
        cmocka_unit_test(headroom_given_by_hand_is_held_to_it),
        cmocka_unit_test(the_ns3_buffer_warns),
        cmocka_unit_test(a_trial_waits_for_the_late),
    };
    return cmocka_run_group_tests_name("late_pause", tests, NULL, NULL);
}
