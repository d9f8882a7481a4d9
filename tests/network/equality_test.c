/* One scenario, one digest: whatever the number of threads and however nodes are joined to cells.
 *
 * Given: paths of scenario files as arguments, or those in scenarios/ below MESON_SOURCE_ROOT (or
 * the working directory). XOFF_QUICK set: fewer combinations, for slow builds. */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/random_scenario.h"
#include "support/rig.h"

static uint64_t digest_of_all; /* printed: the same for every compiler and build type */
static int n_files;
static char **files;

static bool is_quick(void)
{
    return getenv("XOFF_QUICK") != NULL;
}

static const struct rig_options all_ways[] = {
    {.n_threads = 1, .cell_bound = XOFF_PARAM_AUTO},
    {.n_threads = 2, .cell_bound = XOFF_PARAM_AUTO},
    {.n_threads = 4, .cell_bound = XOFF_PARAM_AUTO},
    {.n_threads = 1, .cell_bound = 0},
    {.n_threads = 2, .cell_bound = 0},
    {.n_threads = 4, .cell_bound = 0},
    {.n_threads = 1, .cell_bound = 100 * XOFF_NS},
    {.n_threads = 2, .cell_bound = 100 * XOFF_NS},
    {.n_threads = 4, .cell_bound = 100 * XOFF_NS},
    {.n_threads = 1, .cell_bound = XOFF_S},
    {.n_threads = 2, .cell_bound = XOFF_S},
    {.n_threads = 4, .cell_bound = XOFF_S},
};
/* Where data races are looked for, one thread alone has none to show. */
static const struct rig_options quick_ways[] = {
    {.n_threads = 4, .cell_bound = 0},
    {.n_threads = 2, .cell_bound = 100 * XOFF_NS},
};

/* What a way of running a plan gave; the digest covers everything simulated, the others are there
 * to say more when it differs. */
struct gist {
    uint64_t digest, hops, n_pauses, n_flows;
    xoff_time end_at;
    uint32_t n_findings;
};

static struct gist gist_of(struct scenario *(*read)(const void *source), const void *source,
                           uint32_t plan, const struct rig_options *way)
{
    struct rig rig;
    rig_run_plan(&rig, way, read(source), plan);
    const struct gist g = {.digest = rig.results->digest,
                           .hops = rig.results->packet_hops,
                           .n_pauses = rig.results->n_pauses,
                           .n_flows = rig.results->n_flows,
                           .end_at = rig.results->end_at,
                           .n_findings = rig.results->n_findings};
    rig_fini(&rig);
    return g;
}

/* Compares the first way with every `step`th of the others, beginning with way `from`. */
static void check_ways(struct scenario *(*read)(const void *source), const void *source,
                       uint32_t plan, const char *name, size_t from, size_t step)
{
    const struct rig_options *ways = is_quick() ? quick_ways : all_ways;
    const size_t n_ways =
        is_quick() ? sizeof quick_ways / sizeof *ways : sizeof all_ways / sizeof *ways;
    const struct gist first = gist_of(read, source, plan, &ways[0]);
    digest_of_all = xoff_mix64(digest_of_all ^ first.digest);
    for (size_t i = from; i < n_ways; i += step) {
        const struct gist g = gist_of(read, source, plan, &ways[i]);
        if (g.digest != first.digest || g.end_at != first.end_at || g.hops != first.hops)
            fail_msg("%s, %u threads, cell bound %lld ps: digest %016llx, the first had %016llx "
                     "(hops %llu, %llu; pauses %llu, %llu; flows %llu, %llu; end %lld, %lld ps)",
                     name, ways[i].n_threads, (long long)ways[i].cell_bound,
                     (unsigned long long)g.digest, (unsigned long long)first.digest,
                     (unsigned long long)g.hops, (unsigned long long)first.hops,
                     (unsigned long long)g.n_pauses, (unsigned long long)first.n_pauses,
                     (unsigned long long)g.n_flows, (unsigned long long)first.n_flows,
                     (long long)g.end_at, (long long)first.end_at);
        assert_int_equal(g.n_findings, first.n_findings);
    }
}

static struct scenario *read_seed(const void *source)
{
    const uint64_t *seed = source;
    struct scenario *scenario = NULL;
    struct xoff_err err = {0};
    char *text = random_scenario(*seed, NULL, &err);
    if (scenario_read_text("random", text, strlen(text), NULL, 0, &scenario, &err))
        fail_msg("seed %llu: %s: %s", (unsigned long long)*seed, err.subject, err.message);
    free(text);
    /* Recovery from heavy loss may take seconds of little to compare. */
    scenario->plans[0]->net.drain = 5 * XOFF_MS;
    return scenario;
}

static struct scenario *read_path(const void *source)
{
    struct scenario *scenario = NULL;
    struct xoff_err err = {0};
    if (scenario_read(source, NULL, 0, &scenario, &err))
        fail_msg("%s:%d:%d: %s: %s", err.file, err.line, err.column, err.subject, err.message);
    /* What a scenario has to show may take longer than what can differ between threads; all that is
     * to happen at a time of its own has happened after 5 ms. */
    const xoff_time most = is_quick() ? 100 * XOFF_US : 6 * XOFF_MS;
    for (uint32_t i = 0; i < scenario->n_plans; i++)
        scenario->plans[i]->net.stop = xoff_time_min(scenario->plans[i]->net.stop, most);
    return scenario;
}

static struct scenario *read_text(const void *source)
{
    struct scenario *scenario = NULL;
    struct xoff_err err = {0};
    if (scenario_read_text("text", source, strlen(source), NULL, 0, &scenario, &err))
        fail_msg("%d:%d: %s: %s", err.line, err.column, err.subject, err.message);
    return scenario;
}

/* All kinds of changes at once, a deadlock that ends the run, and a large network. */
static const char *const texts[] = {
    "stop: 300us\n"
    "topology: {kind: leaf-spine, leaves: 3, spines: 2, hosts_per_leaf: 3,\n"
    "  host_link: {rate: 25Gbps, length: 3m, error: 0.001}, fabric_link: {rate: 40Gbps, delay: "
    "1us}}\n"
    "switch: {buffer: 2MB, marking: {kind: ecn, kmin: 10KB, kmax: 50KB}, processing_delay: 77ns}\n"
    "priorities: {3: {lossless: true}}\ntransport: none\nhost: {timeout: 150us}\n"
    "reroute_after: 20us\n"
    "links:\n"
    "- {link: leaf0-spine0, at: 50us, fail: true}\n"
    "- {link: leaf0-spine0, at: 120us, repair: true}\n"
    "- {link: leaf1-spine1, at: 60us, rate: 7.3Gbps}\n"
    "- {link: leaf1-spine1, at: 90us, delay: 0s}\n"
    "- {link: h4-leaf1, at: 70us, fail: true}\n"
    "- {link: h4-leaf1, at: 100us, repair: true}\n"
    "routes: [{at: 40us, on: leaf2, to: h0..h2, via: [spine1]}]\n"
    "receivers: [{host: h8, rate: \"10Gbps, 50us: 0bps, 130us: 25Gbps\"}]\n"
    "measure: {every: 7us, series: [queue, throughput, pause, buffer, pools]}\n"
    "traffic:\n"
    "- {kind: poisson, load: 0.7, sizes: websearch, priority: 3}\n"
    "- {kind: incast, to: h0, size: 30KB, at: 45us, priority: 3}\n"
    "- {kind: onoff, burst: 3us, idle: 5us, priority: 1, transport: datagram}\n"
    "- {kind: cbr, to: h8, priority: 3}\n",
    "stop: 2ms\ndrain: 20ms\n"
    "topology: {kind: ring, switches: 5, hosts_per_switch: 2}\n"
    "switch: {buffer: 2MB, mmu: {kind: static, xoff: 20KB}}\n"
    "priorities: {3: {lossless: true}}\n"
    "deadlock: {after: 100us, stop: true}\n"
    "routes:\n"
    "- {on: s0, to: h2..h7, via: [s1]}\n"
    "- {on: s1, to: h4..h9, via: [s2]}\n"
    "- {on: s2, to: \"h6..h9,h0..h1\", via: [s3]}\n"
    "- {on: s3, to: \"h8..h9,h0..h3\", via: [s4]}\n"
    "- {on: s4, to: h0..h5, via: [s0]}\n"
    "traffic: [{kind: cbr, pattern: shift, shift: 4, priority: 3}]\n",
    /* Large: routes are looked up by edge, and data is fetched for several cells ahead. */
    "stop: 6us\ndrain: 0s\n"
    "topology: {kind: leaf-spine, leaves: 64, spines: 8, hosts_per_leaf: 32}\n"
    "switch: {buffer: 8MB, marking: ecn}\n"
    "priorities: {3: {lossless: true}}\ntransport: none\n"
    "traffic:\n"
    "- {kind: poisson, load: 0.8, sizes: 3KB, priority: 3}\n"
    "- {kind: incast, to: h0, size: 30KB, at: 1us, priority: 3}\n",
};

static void changing_networks(void **state)
{
    (void)state;
    check_ways(read_text, texts[0], 0, "changes", 1, 1);
    check_ways(read_text, texts[1], 0, "deadlock", 1, 1);
    check_ways(read_text, texts[2], 0, "large", is_quick() ? 1 : 9, 1);
    struct rig rig;
    rig_run_plan(&rig, NULL, read_text(texts[1]), 0);
    assert_int_equal(rig.results->n_deadlocks, 1);
    assert_int_equal(rig.results->end_at, rig.results->deadlocks[0].found_at);
    rig_fini(&rig);
}

static void random_networks(void **state)
{
    (void)state;
    const uint64_t n = is_quick() ? 6 : 30;
    for (uint64_t seed = 1001; seed <= 1000 + n; seed++) {
        char name[32];
        snprintf(name, sizeof name, "seed %llu", (unsigned long long)seed);
        check_ways(read_seed, &seed, 0, name, 1, 1);
    }
}

/* The digest tells apart what differs: another seed of the same network gives another. */
static void digest_depends_on_the_seed(void **state)
{
    (void)state;
    uint64_t digest[3];
    static const uint64_t seeds[] = {1, 2, 1};
    for (uint32_t i = 0; i < 3; i++) {
        struct rig rig;
        rig_run(&rig, NULL,
                "stop: 200us\nseed: %llu\ntopology: {kind: star, hosts: 4}\n"
                "traffic: [{kind: poisson, load: 0.5, sizes: 10KB}]\n",
                (unsigned long long)seeds[i]);
        digest[i] = rig.results->digest;
        rig_fini(&rig);
    }
    assert_true(digest[0] != digest[1]);
    assert_true(digest[0] == digest[2]);
}

static void check_file(const char *path)
{
    struct scenario *scenario = read_path(path);
    const uint32_t n_plans = scenario->n_plans;
    scenario_destroy(scenario);
    /* Random networks run in all ways; variants of a file share them. */
    const size_t step = is_quick() ? 1 : 4;
    for (uint32_t plan = 0; plan < n_plans; plan++)
        check_ways(read_path, path, plan, path, 1 + plan % step, step);
}

static int is_scenario(const struct dirent *entry)
{
    const size_t length = strlen(entry->d_name);
    return length > 5 && strncmp(entry->d_name, "sweep-", 6) &&
           !strcmp(entry->d_name + length - 5, ".yaml");
}

static void scenario_files(void **state)
{
    (void)state;
    for (int i = 0; i < n_files; i++)
        check_file(files[i]);
    if (n_files)
        return;
    const char *root = getenv("MESON_SOURCE_ROOT");
    char path[4096];
    snprintf(path, sizeof path, "%s/scenarios", root ? root : ".");
    struct dirent **found = NULL;
    const int n = scandir(path, &found, is_scenario, alphasort);
    for (int i = 0; i < n; i++) {
        snprintf(path, sizeof path, "%s/scenarios/%s", root ? root : ".", found[i]->d_name);
        check_file(path);
        free(found[i]);
    }
    free(found);
    assert_true(n > 0);
}

int main(int argc, char **argv)
{
    n_files = argc - 1;
    files = argv + 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_networks),
        cmocka_unit_test(changing_networks),
        cmocka_unit_test(digest_depends_on_the_seed),
        cmocka_unit_test(scenario_files),
    };
    const int n_failed = cmocka_run_group_tests(tests, NULL, NULL);
    printf("digest of all runs %016llx\n", (unsigned long long)digest_of_all);
    return n_failed;
}
