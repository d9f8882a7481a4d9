/* A network that several ranks build, each its own part: errors and warnings are those of one
 * process, whichever rank they come from, and nobody builds the nodes of another. The ranks of this
 * test are threads. */
#include <dirent.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "net/model.h"
#include "support/rig.h"

#define MOST_RANKS 8

/* The room where ranks meet: each lays down what it has, and takes what all have. */
struct room {
    pthread_barrier_t barrier;
    uint32_t n;
    const void *bytes[MOST_RANKS];
    size_t sizes[MOST_RANKS];
    uint64_t stops[MOST_RANKS];
};

struct rank {
    struct room *room;
    struct sim_ranks ranks;
    const struct plan *plan;
    struct built *built;
    struct xoff_err err;
    int code;
    uint32_t n_configured;
};

static void agree(void *context, struct sim_word *word, struct sim_batch *in)
{
    struct rank *own = context;
    assert_null(in);
    own->room->stops[own->ranks.rank] = word->stops;
    pthread_barrier_wait(&own->room->barrier);
    word->stops = 0;
    for (uint32_t r = 0; r < own->ranks.n; r++)
        word->stops += own->room->stops[r];
    pthread_barrier_wait(&own->room->barrier);
}

static void gather(void *context, const void *bytes, size_t size, bool to_all, void **all,
                   size_t *sizes)
{
    struct rank *own = context;
    struct room *room = own->room;
    assert_true(to_all);
    room->bytes[own->ranks.rank] = bytes;
    room->sizes[own->ranks.rank] = size;
    pthread_barrier_wait(&room->barrier);
    size_t sum = 0;
    for (uint32_t r = 0; r < room->n; r++)
        sum += sizes[r] = room->sizes[r];
    unsigned char *to = *all = malloc(sum + 1);
    assert_non_null(to);
    for (uint32_t r = 0; r < room->n; to += sizes[r++])
        if (sizes[r])
            memcpy(to, room->bytes[r], sizes[r]);
    pthread_barrier_wait(&room->barrier);
}

static void share(void *context, const void *bytes, size_t size, void **all, size_t *sizes)
{
    gather(context, bytes, size, true, all, sizes);
}

/* The first node goes to the last rank, the next to the one before it, and so on. */
static void divide(void *context, const struct sim_graph *graph, uint32_t *part_of)
{
    const struct rank *own = context;
    for (uint32_t v = 0; v < graph->n; v++)
        part_of[v] = own->ranks.n - 1 - v % own->ranks.n;
}

static void enter(struct room *room, struct rank *ranks, uint32_t n)
{
    room->n = n;
    pthread_barrier_init(&room->barrier, NULL, n);
    for (uint32_t r = 0; r < n; r++)
        ranks[r] = (struct rank){.room = room,
                                 .ranks = {.context = &ranks[r],
                                           .rank = r,
                                           .n = n,
                                           .agree = agree,
                                           .gather = gather,
                                           .share = share,
                                           .divide = divide}};
}

static void run_all(struct rank *ranks, uint32_t n, void *(*task)(void *rank))
{
    pthread_t threads[MOST_RANKS];
    for (uint32_t r = 0; r < n; r++)
        assert_int_equal(pthread_create(&threads[r], NULL, task, &ranks[r]), 0);
    for (uint32_t r = 0; r < n; r++)
        assert_int_equal(pthread_join(threads[r], NULL), 0);
    pthread_barrier_destroy(&ranks[0].room->barrier);
}

static void *build(void *argument)
{
    struct rank *own = argument;
    const struct build_options options = {
        .n_threads = 1, .cell_bound = XOFF_PARAM_AUTO, .ranks = &own->ranks};
    own->code = build_create(own->plan, &options, &own->built, &own->err);
    return NULL;
}

static bool is_same(const struct xoff_err *a, const struct xoff_err *b)
{
    return a->code == b->code && a->line == b->line && a->column == b->column &&
           !strcmp(a->file, b->file) && !strcmp(a->subject, b->subject) &&
           !strcmp(a->value, b->value) && !strcmp(a->message, b->message);
}

static void compare(const char *file, const struct rank *r, int code, const struct xoff_err *err,
                    const struct built *alone)
{
    if (r->code != code || (code && !is_same(&r->err, err)))
        fail_msg("%s: rank %u says %s: %s, not %s: %s", file, r->ranks.rank, r->err.subject,
                 r->err.message, err->subject, err->message);
    if (code)
        return;
    assert_int_equal(r->built->net->has_extra, alone->net->has_extra);
    assert_int_equal(r->built->net->has_stamps, alone->net->has_stamps);
    if (r->built->n_warnings != alone->n_warnings)
        fail_msg("%s: rank %u has %u warnings, not %u", file, r->ranks.rank, r->built->n_warnings,
                 alone->n_warnings);
    for (uint32_t i = 0; i < alone->n_warnings; i++)
        if (!is_same(&r->built->warnings[i], &alone->warnings[i]))
            fail_msg("%s: rank %u warns: %s, not %s", file, r->ranks.rank,
                     r->built->warnings[i].message, alone->warnings[i].message);
}

/* Compares what `n` ranks say of a scenario with what one process says, whose error or warnings
 * must have a text. Returns false when it is not for several ranks. */
static bool try_plan(const char *file, const struct plan *plan, uint32_t n, const char *text)
{
    const struct build_options options = {.n_threads = 1, .cell_bound = XOFF_PARAM_AUTO};
    struct built *alone = NULL;
    struct xoff_err err = {0};
    const int code = build_create(plan, &options, &alone, &err);
    bool has_text = !text || (code && strstr(err.message, text));
    for (uint32_t i = 0; !code && i < alone->n_warnings; i++)
        has_text |= text && strstr(alone->warnings[i].message, text);
    if (!has_text)
        fail_msg("%s: nothing about '%s': %s", file, text, err.message);
    struct room room;
    struct rank ranks[MOST_RANKS];
    enter(&room, ranks, n);
    for (uint32_t r = 0; r < n; r++)
        ranks[r].plan = plan;
    run_all(ranks, n, build);
    const bool is_fit = !ranks[0].code || !strstr(ranks[0].err.message, "several ranks yet");
    for (uint32_t r = 0; r < n; r++) {
        if (is_fit)
            compare(file, &ranks[r], code, &err, alone);
        if (!ranks[r].code)
            build_destroy(ranks[r].built);
    }
    if (!code)
        build_destroy(alone);
    return is_fit;
}

static uint32_t try_folder(const char *folder)
{
    DIR *files = opendir(folder);
    assert_non_null(files);
    uint32_t n = 0;
    for (const struct dirent *entry; (entry = readdir(files)) != NULL;) {
        char file[512];
        snprintf(file, sizeof file, "%s/%s", folder, entry->d_name);
        struct scenario *scenario = NULL;
        struct xoff_err err = {0};
        if (!strstr(entry->d_name, ".yaml") || scenario_read(file, NULL, 0, &scenario, &err))
            continue; /* it is refused before anything is built */
        n += try_plan(file, scenario->plans[0], 2, NULL);
        scenario_destroy(scenario);
    }
    closedir(files);
    return n;
}

static void says_the_same(void **state)
{
    (void)state;
    const uint32_t n_bad = try_folder("tests/scenario/bad");
    const uint32_t n_warned = try_folder("tests/scenario/warned");
    print_message("%u files with errors, %u with warnings or almost\n", n_bad, n_warned);
    assert_true(n_bad > 20 && n_warned > 20);
}

static void try_text(const char *text, const char *words)
{
    struct scenario *scenario = NULL;
    struct xoff_err err = {0};
    if (scenario_read_text("test", text, strlen(text), NULL, 0, &scenario, &err))
        fail_msg("%d: %s: %s", err.line, err.subject, err.message);
    for (uint32_t n = 2; n <= 4; n++)
        assert_true(try_plan("test", scenario->plans[0], n, words));
    scenario_destroy(scenario);
}

#define NETWORK                                                                           \
    "topology: {kind: leaf-spine, leaves: 4, spines: 2, hosts_per_leaf: 1}\nstop: 10us\n" \
    "priorities: {3: {lossless: true}}\n"                                                 \
    "traffic: [{kind: incast, from: h1..h3, to: h0, size: 20KB, priority: 3}]\n"

/* The first of several errors and the order of warnings are those of the nodes, not of the ranks:
 * the earlier node is built by the later rank. */
static void goes_by_nodes(void **state)
{
    (void)state;
    try_text(NETWORK "switches: [{match: leaf2, buffer: 21KB}, {match: leaf1, buffer: 20KB},\n"
                     "  {match: spine0, buffer: 22KB}]\n",
             "the headroom of port 0 alone");
    /* Five warnings: one of leaf0 and leaf3, and one of each other switch. */
    try_text(NETWORK "switch: {fabric: pipeline,\n"
                     "  pause: {kind: capfc, xoff: 156B, xon: 87B, cut: 0.4}}\n"
                     "switches: [{match: leaf2, mmu: static}, {match: spine1, buffer: 700KB},\n"
                     "  {match: leaf1, pause: {kind: capfc, xoff: 256B, xon: 87B, cut: 0.4}}]\n"
                     "port: {headroom: 969B}\n",
             "not all senders are paused at leaf0 and 1 more");
    /* Receive queues are looked at in the order of the file: h3 comes before h0. */
    try_text(NETWORK "receivers:\n"
                     "- {host: h3, rate: 1Gbps, buffer: 300KB, marking: {kind: qcn, qeq: 1MB}}\n"
                     "- {host: h0, rate: 1Gbps, buffer: 301KB, marking: {kind: qcn, qeq: 1MB}}\n",
             "the buffer has 300KB");
    try_text(NETWORK "switch: {mmu: {kind: sih, alpha: 1024, reserved: 0B},\n"
                     "  pause: {kind: pfc, trigger: egress, xoff: 300KB, xon: 200KB}}\n"
                     "receivers: [{host: h3, rate: 1Gbps, buffer: 600KB},\n"
                     "  {host: [h0, h2], rate: 1Gbps, buffer: 500KB}]\n",
             "a larger buffer would do at h0 and 1 more");
    /* The first switch that does not write what a transport reads is named. */
    try_text(NETWORK "transport: hpcc\nswitch: {marking: int}\n"
                     "switches: [{match: leaf3, marking: {kind: int, queue_unit: 2B}},\n"
                     "  {match: spine0, marking: none}]\n",
             "switches write units of 2");
    try_text(NETWORK "transport: hpcc\nswitch: {marking: int}\n"
                     "switches: [{match: spine0, marking: {kind: int, queue_unit: 2B}},\n"
                     "  {match: leaf3, marking: none}]\n",
             "which switches write with marking: int");
    /* Ports that speak DCBX are looked at in the order of nodes: h1 comes before h2. */
    try_text(NETWORK "dcbx: [{at: h2, pfc: [5]}, {at: h1, pfc: [4]}, {at: leaf0, pfc: [6]}]\n",
             "names a priority that is not lossless");
    /* One switch writes into frames, which have room for it everywhere. */
    try_text(NETWORK "switches: [{match: spine1, marking: int}]\n", NULL);
}

static _Thread_local struct rank *configuring;
static const struct xoff_sched_ops *real;

static int count(const void *params, const struct xoff_sched_env *env, void *cfg,
                 struct xoff_sched_shape *shape, struct xoff_err *err)
{
    configuring->n_configured++;
    return real->configure(params, env, cfg, shape, err);
}

static const struct net_spec *counted;

static void *build_counted(void *argument)
{
    struct rank *own = argument;
    struct net_spec spec = *counted;
    struct net_blame blame;
    struct net *net;
    configuring = own;
    spec.ranks = &own->ranks;
    own->code = net_create(&spec, &net, &blame, &own->err);
    if (!own->code)
        net_destroy(net);
    return NULL;
}

/* 12 hosts and 8 switches, each with one scheduler: five are of each of four ranks. */
static void builds_its_own(void **state)
{
    (void)state;
    static const char text[] =
        "topology: {kind: leaf-spine, leaves: 6, spines: 2, hosts_per_leaf: 2}\nstop: 10us\n"
        "traffic: [{kind: incast, from: h1, to: h0, size: 20KB}]\n";
    struct scenario *scenario = NULL;
    struct built *built = NULL;
    struct xoff_err err = {0};
    const struct build_options options = {.n_threads = 1, .cell_bound = XOFF_PARAM_AUTO};
    assert_int_equal(scenario_read_text("test", text, sizeof text - 1, NULL, 0, &scenario, &err),
                     0);
    assert_int_equal(build_create(scenario->plans[0], &options, &built, &err), 0);
    struct net_switch kind = built->spec.kinds[0];
    struct xoff_sched_ops ops = *kind.sched;
    real = kind.sched;
    ops.configure = count;
    kind.sched = &ops;
    struct net_spec spec = built->spec;
    spec.kinds = &kind;
    counted = &spec;
    struct room room;
    struct rank ranks[MOST_RANKS];
    enter(&room, ranks, 4);
    run_all(ranks, 4, build_counted);
    for (uint32_t r = 0; r < 4; r++) {
        assert_int_equal(ranks[r].code, 0);
        assert_int_equal(ranks[r].n_configured, 5);
    }
    build_destroy(built);
    scenario_destroy(scenario);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(says_the_same),
        cmocka_unit_test(goes_by_nodes),
        cmocka_unit_test(builds_its_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
