/* Checks one scenario: runs that must agree, and what must hold of each. */
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "scenario/sections.h"
#include "scenario/topology.h"
#include "soak/soak.h"
#include "stats/tables.h"
#include "support/must_hold.h"

#define MOST_ARRIVALS 400000       /* of a run: about 40 ms */
#define LONG_PAUSE (100 * XOFF_MS) /* three pauses of 65535 quanta at 1 Gb/s */
#define MOST_CPU_S 10              /* of all runs of a scenario */
#define MOST_WALL_S 600            /* threads that wait for each other use no processor time */

const char *const soak_ends[] = {
#define X(id, name) name,
    SOAK_END_MAP(X)
#undef X
        NULL};

/* The program of another compiler, as a process that is asked again and again. */
static struct {
    FILE *to, *from;
} second;

/* One run, with what it was built of. */
struct run {
    struct scenario *scenario;
    struct built *built;
    struct net_switch *kinds;
    struct results *results;
    bool is_cut;
    /* Where `hold_at` is not 0, its image is made there. An image that is given goes on. */
    struct image image;
    xoff_time hold_at;
};

static bool go_on(void *context, xoff_time now, uint64_t arrivals)
{
    struct run *run = context;
    if (run->hold_at && now == run->hold_at && !run->image.n)
        net_image(run->built->net, &run->image);
    run->is_cut = arrivals > MOST_ARRIVALS;
    return !run->is_cut;
}

/* Puts a fault into a network that is built: the network is built once more. */
static int build_with_fault(struct run *run, const char *fault, uint32_t n_threads,
                            struct xoff_err *err)
{
    struct built *b = run->built;
    struct net_blame blame;
    run->kinds = calloc(b->spec.n_kinds, sizeof *run->kinds);
    if (!run->kinds)
        abort();
    memcpy(run->kinds, b->spec.kinds, b->spec.n_kinds * sizeof *run->kinds);
    if (!fault_plant(fault, &b->spec, run->kinds, n_threads))
        return 0;
    net_destroy(b->net);
    b->net = NULL;
    b->spec.kinds = run->kinds;
    return net_create(&b->spec, &b->net, &blame, err);
}

static void run_fini(struct run *run)
{
    if (run->results)
        net_free_results(run->results);
    if (run->built)
        build_destroy(run->built);
    if (run->scenario)
        scenario_destroy(run->scenario);
    image_fini(&run->image);
    free(run->kinds);
}

/* Reads, builds and runs a scenario. `drains`: how many times its time to drain it gets. */
static int run_text(struct run *run, const char *text, uint32_t n_threads, uint32_t drains,
                    const char *fault, struct xoff_err *err)
{
    const struct build_options options = {.n_threads = n_threads,
                                          .cell_bound = XOFF_PARAM_AUTO,
                                          .progress_context = run,
                                          .progress = go_on,
                                          .hold_at = run->hold_at};
    int rc = scenario_read_text("soak", text, strlen(text), NULL, 0, &run->scenario, err);
    if (!rc) {
        xoff_time *drain = &run->scenario->plans[0]->net.drain;
        *drain = *drain * drains + (drains > 1 ? LONG_PAUSE : 0);
        if (drains > 1) /* nobody reads samples of the long wait, which would take its time */
            run->scenario->plans[0]->net.measure_every = 0;
        rc = build_create(run->scenario->plans[0], &options, &run->built, err);
    }
    if (!rc && fault)
        rc = build_with_fault(run, fault, n_threads, err);
    if (rc)
        return rc;
    if (run->image.is_loading)
        net_image(run->built->net, &run->image);
    net_run(run->built->net);
    run->results = net_collect(run->built->net);
    return 0;
}

/* ------------------------------------------------------------------------------ what took part */

static void add_fact(struct soak_report *report, const char *role, const char *word)
{
    const size_t length = strlen(report->facts);
    char fact[96];
    snprintf(fact, sizeof fact, " %s=%s", role, word);
    if (!strstr(report->facts, fact))
        snprintf(report->facts + length, sizeof report->facts - length, "%s", fact);
}

static void note_plan(struct soak_report *report, const struct built *b, const struct plan *plan)
{
    add_fact(report, "topology", plan->topology.kind->name);
    for (const struct switch_role *role = switch_roles; role->key; role++)
        for (uint32_t k = 0; k < plan->net.n_kinds; k++)
            if (switch_uses(&plan->kinds[k], role)) {
                const struct kind kind = switch_kind(&plan->kinds[k], role);
                add_fact(report, role->key, kind.name ? kind.name : "default");
            }
    for (uint32_t i = 0; i < plan->n_traffic; i++)
        add_fact(report, "traffic", plan->traffic[i].kind->name);
    for (uint32_t i = 0; i < b->n_transports; i++) {
        add_fact(report, "transport", b->transports[i].rp->name);
        add_fact(report, "reliability", b->transports[i].rel->name);
    }
    static const char *const words[] = {"changes",  "routes",    "receivers", "switches",
                                        "cn_ports", "dcbx",      "measure",   "errors",
                                        "warned",   "compat-ns3"};
    bool has[] = {plan->n_changes,         plan->n_routes,
                  plan->n_receivers,       plan->net.n_kinds > 1,
                  plan->n_defences,        plan->n_dcbx,
                  plan->net.measure_every, false,
                  b->n_warnings,           plan->net.wire == &net_wire_ns3};
    for (uint32_t i = 0; i < b->topo.n_links; i++)
        has[7] |= b->topo.links[i].error_ppb > 0;
    for (uint32_t i = 0; i < sizeof words / sizeof *words; i++)
        if (has[i])
            add_fact(report, "with", words[i]);
}

static void note_results(struct soak_report *report, const struct results *r)
{
    uint64_t marked = 0, repeated = 0, notices = 0;
    for (uint64_t i = 0; i < r->n_flows; i++) {
        marked += r->flows[i].marked_frames;
        repeated += r->flows[i].retransmitted_frames;
        notices += r->flows[i].notices + r->flows[i].tags_back;
    }
    static const char *const words[] = {"flows", "pauses",  "drops",         "deadlock",
                                        "marks", "notices", "retransmission"};
    const bool has[] = {r->n_flows, r->n_pauses, r->n_drops, r->n_deadlocks,
                        marked,     notices,     repeated};
    for (uint32_t i = 0; i < sizeof words / sizeof *words; i++)
        if (has[i])
            add_fact(report, "saw", words[i]);
}

/* ------------------------------------------------------------------------------ the checks */

__attribute__((format(printf, 3, 4))) static bool fail(struct soak_report *report,
                                                       enum soak_end end, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(report->why, sizeof report->why, format, args);
    va_end(args);
    report->end = end;
    return false;
}

/* Runs once more; the digest must be the same. */
static bool is_same(const char *text, uint32_t n_threads, uint64_t digest, enum soak_end end,
                    const struct soak_options *options, struct soak_report *report)
{
    struct run run = {0};
    struct xoff_err err = {0};
    bool is_good = true;
    if (options->only && options->only != end)
        return true;
    if (run_text(&run, text, n_threads, 1, options->fault, &err))
        is_good = fail(report, end, "%d: %s: %s", err.line, err.subject, err.message);
    else if (run.results->digest != digest)
        is_good = fail(report, end, "digest %016" PRIx64 " with %u threads, %016" PRIx64 " before",
                       run.results->digest, n_threads, digest);
    run_fini(&run);
    report->n_runs++;
    return is_good;
}

static bool is_same_cell(const struct cell *a, const struct cell *b)
{
    return a->kind == b->kind && (a->kind != CELL_WHOLE || a->whole == b->whole) &&
           (a->kind != CELL_REAL || !memcmp(&a->real, &b->real, sizeof a->real)) &&
           (a->kind != CELL_TEXT || !strcmp(a->text, b->text));
}

/* The first column in which results differ; NULL: none. Peaks and such are not in the digest. The
 * table `run` is left out: it has the time that a run took. */
static const struct column *first_difference(const struct results *a, const struct results *b)
{
    const struct table_run runs[2] = {{a, NULL}, {b, NULL}};
    for (const struct table *t = tables + 1; t->name; t++) {
        if (t->count(&runs[0]) != t->count(&runs[1]))
            return t->columns;
        for (uint64_t i = 0; i < t->count(&runs[0]); i++)
            for (const struct column *c = t->columns; c->name; c++) {
                const struct table_row rows[2] = {table_row(t, &runs[0], i),
                                                  table_row(t, &runs[1], i)};
                struct cell cells[2];
                column_read(c, &rows[0], &cells[0]);
                column_read(c, &rows[1], &cells[1]);
                if (!is_same_cell(&cells[0], &cells[1]))
                    return c;
            }
    }
    return NULL;
}

/* A time at which a flow was under way, or any: for most of its time a network is at rest. */
static xoff_time time_of_image(const struct results *r)
{
    const uint64_t draw = r->digest >> 1;
    const struct result_flow *flow = r->n_flows ? &r->flows[draw % r->n_flows] : NULL;
    if (r->digest % 8 == 0 || !flow || flow->finish_at == XOFF_NEVER ||
        flow->finish_at <= flow->start_at)
        return 1 + (xoff_time)(draw % (uint64_t)(r->end_at + 1));
    return 1 + flow->start_at +
           (xoff_time)((draw >> 20) % (uint64_t)(flow->finish_at - flow->start_at));
}

/* An image is made at a time in the run, and a run with fewer threads goes on from it. */
static bool resumes(const char *text, const struct results *whole,
                    const struct soak_options *options, struct soak_report *report)
{
    struct run run = {.hold_at = time_of_image(whole)};
    struct run rest = {0};
    struct xoff_err err = {0};
    bool is_good = true;
    if (options->only && options->only != SOAK_RESUME)
        return true;
    report->n_runs += 2;
    if (run_text(&run, text, 4, 1, options->fault, &err) || run.results->digest != whole->digest)
        is_good = fail(report, SOAK_RESUME, "a hold at %lld ps changes the digest",
                       (long long)run.hold_at);
    if (is_good && run.image.n) {
        rest.image = run.image;
        rest.image.is_loading = true;
        run.image = (struct image){0};
        if (run_text(&rest, text, 1, 1, options->fault, &err) || rest.image.misfit ||
            rest.image.at != rest.image.n || rest.results->digest != whole->digest)
            is_good = fail(report, SOAK_RESUME,
                           "digest %016" PRIx64 " from an image of %lld ps on, "
                           "%016" PRIx64 " before; misfit: %s",
                           rest.results ? rest.results->digest : 0, (long long)run.hold_at,
                           whole->digest, rest.image.misfit ? rest.image.misfit : "none");
        const struct column *differs = is_good ? first_difference(whole, rest.results) : NULL;
        if (differs)
            is_good = fail(report, SOAK_RESUME, "%s differs in a run from an image of %lld ps on",
                           differs->name, (long long)run.hold_at);
        add_fact(report, "saw", "resume");
    }
    run_fini(&run);
    run_fini(&rest);
    return is_good;
}

/* A network that was busy to the end gets more time. Then frames must have moved, or all have left.
 */
static bool goes_on(const char *text, uint64_t hops, const struct soak_options *options,
                    struct soak_report *report)
{
    struct run run = {0};
    struct xoff_err err = {0};
    int64_t held = 0;
    const char *node = "";
    bool is_good = true;
    if (options->only && options->only != SOAK_STUCK)
        return true;
    run_text(&run, text, 1, 10, options->fault, &err);
    report->n_runs++;
    if (run.results && !run.is_cut) {
        const struct results *r = run.results;
        for (uint32_t n = 0; n < r->n_nodes; n++)
            if (r->nodes[n].held_bytes && !is_cut_off(run.built, n, r->end_at)) {
                held += r->nodes[n].held_bytes;
                node = r->nodes[n].name;
            }
        if (held && !r->n_deadlocks && r->packet_hops == hops)
            is_good = fail(report, SOAK_STUCK, "%lld bytes stay, the last of them at %s",
                           (long long)held, node);
    }
    run_fini(&run);
    return is_good;
}

static bool ask_second(const char *text, const char *program, uint64_t *digest)
{
    char path[] = "/tmp/soak-XXXXXX", line[64] = "";
    const int fd = mkstemp(path);
    if (fd < 0 || write(fd, text, strlen(text)) < 0)
        return false;
    close(fd);
    if (!second.to) {
        int to[2], from[2];
        if (pipe(to) || pipe(from))
            return false;
        if (!fork()) {
            dup2(to[0], 0);
            dup2(from[1], 1);
            close(to[1]);
            close(from[0]);
            execl(program, program, "--serve", (char *)NULL);
            _exit(127);
        }
        close(to[0]);
        close(from[1]);
        second.to = fdopen(to[1], "w");
        second.from = fdopen(from[0], "r");
    }
    fprintf(second.to, "%s\n", path);
    fflush(second.to);
    const bool is_answered = fgets(line, sizeof line, second.from) != NULL;
    unlink(path);
    *digest = strtoull(line, NULL, 16);
    return is_answered;
}

int soak_serve(void)
{
    char path[512];
    while (fgets(path, sizeof path, stdin)) {
        path[strcspn(path, "\n")] = 0;
        static char text[1 << 20];
        FILE *in = fopen(path, "r");
        text[in ? fread(text, 1, sizeof text - 1, in) : 0] = 0;
        if (in)
            fclose(in);
        struct run run = {0};
        struct xoff_err err = {0};
        const bool is_run = !run_text(&run, text, 1, 1, NULL, &err);
        printf("%016" PRIx64 "\n", is_run ? run.results->digest : 0);
        fflush(stdout);
        run_fini(&run);
    }
    return 0;
}

static bool is_same_elsewhere(const char *text, uint64_t digest, const struct soak_options *options,
                              struct soak_report *report)
{
    uint64_t there = 0;
    report->n_runs++;
    add_fact(report, "with", "second-compiler");
    if (!ask_second(text, options->second, &there))
        return fail(report, SOAK_COMPILER, "%s gave no answer", options->second);
    if (there != digest)
        return fail(report, SOAK_COMPILER, "digest %016" PRIx64 " of %s, %016" PRIx64 " here",
                    there, options->second, digest);
    return true;
}

void soak_check(const char *text, const struct soak_options *options, bool with_second,
                struct soak_report *report)
{
    static const enum soak_end ends[] = {[JUDGE_LOSS] = SOAK_LOSS,
                                         [JUDGE_AUDIT] = SOAK_AUDIT,
                                         [JUDGE_DEADLOCK] = SOAK_DEADLOCK,
                                         [JUDGE_HELD] = SOAK_HELD,
                                         [JUDGE_FLOW] = SOAK_FLOW};
    *report = (struct soak_report){.n_runs = 1};
    struct run run = {0};
    struct xoff_err err = {0};
    char *config = NULL;
    if (run_text(&run, text, 1, 1, options->fault, &err)) {
        fail(report, SOAK_REFUSED, "%s: %s", err.subject, err.message);
        goto out;
    }
    const uint64_t digest = run.results->digest, hops = run.results->packet_hops;
    note_plan(report, run.built, run.scenario->plans[0]);
    note_results(report, run.results);
    report->hops = hops;
    if (run.is_cut) {
        fail(report, SOAK_LONG, "more than %d arrivals", MOST_ARRIVALS);
        goto out;
    }
    const enum verdict verdict = judge(run.built, run.results, report->why, sizeof report->why);
    if (verdict > JUDGE_BUSY) {
        report->end = ends[verdict];
        goto out;
    }
    config = plan_print(run.scenario->plans[0]);
    if ((verdict != JUDGE_BUSY || goes_on(text, hops, options, report)) &&
        is_same(text, 1, digest, SOAK_AGAIN, options, report) &&
        is_same(text, 2, digest, SOAK_THREADS, options, report) &&
        is_same(text, 4, digest, SOAK_THREADS, options, report) &&
        resumes(text, run.results, options, report) &&
        is_same(config, 1, digest, SOAK_CONFIG, options, report) && with_second)
        is_same_elsewhere(text, digest, options, report);
    if (verdict == JUDGE_BUSY)
        add_fact(report, "saw", "busy-end");
out:
    free(config);
    run_fini(&run);
}

void soak_check_apart(const char *text, const struct soak_options *options, bool with_second,
                      struct soak_report *report)
{
    struct soak_report *shared =
        mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED)
        abort();
    int status = 0;
    const int said = soak_listen();
    const pid_t child = fork();
    if (!child) {
        dup2(said, 2);
        second.to = second.from = NULL;
        soak_limit_time();
        soak_check(text, options, with_second, shared);
        _exit(0);
    }
    waitpid(child, &status, 0);
    *report = *shared;
    if (status)
        soak_note_crash(report, status, said);
    soak_end_listening(said, options->is_quiet);
    munmap(shared, sizeof *shared);
}

void soak_limit_time(void)
{
    const struct itimerval timer = {.it_value.tv_sec = MOST_CPU_S};
    setitimer(ITIMER_PROF, &timer, NULL);
    alarm(MOST_WALL_S);
}

int soak_listen(void)
{
    const int fd = memfd_create("stderr", MFD_CLOEXEC);
    if (fd < 0)
        abort();
    return fd;
}

void soak_end_listening(int said, bool is_quiet)
{
    char text[4096];
    ssize_t n;
    lseek(said, 0, SEEK_SET);
    while (!is_quiet && (n = read(said, text, sizeof text)) > 0 && write(2, text, (size_t)n) == n)
        ;
    close(said);
}

void soak_note_crash(struct soak_report *report, int status, int said)
{
    static const char *const marks[] = {"assertion at ", "SUMMARY: "};
    char line[SOAK_WHY];
    report->end = SOAK_CRASH;
    report->why[0] = 0;
    FILE *in = fdopen(dup(said), "r");
    for (rewind(in); fgets(line, sizeof line, in);)
        for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
            if (strstr(line, marks[i]))
                snprintf(report->why, sizeof report->why, "%.*s", (int)strcspn(line, "\n"), line);
    fclose(in);
    if (report->why[0])
        return;
    if (WIFSIGNALED(status))
        snprintf(report->why, sizeof report->why, "%s", strsignal(WTERMSIG(status)));
    else
        snprintf(report->why, sizeof report->why, "exit status %d", WEXITSTATUS(status));
}
