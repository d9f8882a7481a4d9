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
static const struct rig_options quick_ways[] = {
    {.n_threads = 1, .cell_bound = XOFF_PARAM_AUTO},
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

static void check_ways(struct scenario *(*read)(const void *source), const void *source,
                       uint32_t plan, const char *name)
{
    const struct rig_options *ways = is_quick() ? quick_ways : all_ways;
    const size_t n_ways =
        is_quick() ? sizeof quick_ways / sizeof *ways : sizeof all_ways / sizeof *ways;
    const struct gist first = gist_of(read, source, plan, &ways[0]);
    for (size_t i = 1; i < n_ways; i++) {
        const struct gist g = gist_of(read, source, plan, &ways[i]);
        if (g.digest != first.digest || g.end_at != first.end_at || g.hops != first.hops)
            fail_msg("%s, %u threads, cell bound %lld ps: digest %016llx, one thread had %016llx "
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
    char *text = random_scenario(*seed);
    struct scenario *scenario = NULL;
    struct xoff_err err = {0};
    if (scenario_read_text("random", text, strlen(text), NULL, 0, &scenario, &err))
        fail_msg("seed %llu: %s: %s", (unsigned long long)*seed, err.subject, err.message);
    free(text);
    return scenario;
}

static struct scenario *read_path(const void *source)
{
    struct scenario *scenario = NULL;
    struct xoff_err err = {0};
    if (scenario_read(source, NULL, 0, &scenario, &err))
        fail_msg("%s:%d:%d: %s: %s", err.file, err.line, err.column, err.subject, err.message);
    return scenario;
}

static void random_networks(void **state)
{
    (void)state;
    const uint64_t n = is_quick() ? 8 : 40;
    for (uint64_t seed = 1001; seed <= 1000 + n; seed++) {
        char name[32];
        snprintf(name, sizeof name, "seed %llu", (unsigned long long)seed);
        check_ways(read_seed, &seed, 0, name);
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
    for (uint32_t plan = 0; plan < n_plans; plan++)
        check_ways(read_path, path, plan, path);
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
    DIR *dir = opendir(path);
    assert_non_null(dir);
    uint32_t n = 0;
    for (struct dirent *e = readdir(dir); e; e = readdir(dir)) {
        const size_t length = strlen(e->d_name);
        if (length < 5 || strcmp(e->d_name + length - 5, ".yaml"))
            continue;
        snprintf(path, sizeof path, "%s/scenarios/%s", root ? root : ".", e->d_name);
        check_file(path);
        n++;
    }
    closedir(dir);
    assert_true(n > 0);
}

int main(int argc, char **argv)
{
    n_files = argc - 1;
    files = argv + 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_networks),
        cmocka_unit_test(digest_depends_on_the_seed),
        cmocka_unit_test(scenario_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
