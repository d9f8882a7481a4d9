/* Campaigns over seeds: workers, a journal by which a campaign goes on after its end, a summary. */
#include "soak/soak.h"

#include <argp.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "support/random_scenario.h"

#define MOST_JOBS 64
#define MOST_FACTS 256
#define MOST_REDUCED 3 /* failures of a name that are made small */

_Noreturn void xoff_assert_fail(const char *expression, const char *file, int line)
{
    fprintf(stderr, "assertion at %s:%d: %s\n", file, line, expression);
    abort();
}

struct campaign {
    struct soak_options options;
    const char *folder, *fabric;
    uint64_t first, last, jobs;
    uint8_t *done; /* by seed - first: enum soak_end + 1 of those in the journal */
    int journal;
    uint64_t n_done_before;
};

/* What workers share. */
struct shared {
    _Atomic uint64_t next;               /* seed */
    _Atomic uint64_t current[MOST_JOBS]; /* seed that a worker is at; 0: none */
    _Atomic uint64_t n_done, n_failed;
};

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* ------------------------------------------------------------------------------ journal */

/* A line is written by one call, so that lines of workers do not mix. */
static void note(const struct campaign *c, uint64_t seed, const struct soak_report *report)
{
    char line[1600];
    char why[SOAK_WHY];
    snprintf(why, sizeof why, "%s", report->why);
    for (char *p = why; *p; p++)
        if (*p == '\n' || *p == '|')
            *p = ' ';
    const int n =
        snprintf(line, sizeof line, "%" PRIu64 " %s %" PRIu64 " %" PRIu64 "%s|%s\n", seed,
                 soak_ends[report->end], report->n_runs, report->hops, report->facts, why);
    if (write(c->journal, line, (size_t)n) != n)
        perror("soak: journal");
}

/* The figures of a campaign, as the journal has them. */
struct sums {
    uint64_t n_seeds, n_runs, hops, ends[SOAK_N_ENDS];
    struct count {
        char fact[96];
        uint64_t n;
    } facts[MOST_FACTS], refusals[MOST_FACTS];
};

static void count_fact(struct count *counts, const char *fact)
{
    uint32_t i = 0;
    while (i + 1 < MOST_FACTS && counts[i].n && strcmp(counts[i].fact, fact))
        i++;
    snprintf(counts[i].fact, sizeof counts[i].fact, "%s", fact);
    counts[i].n++;
}

static int by_fact(const void *a, const void *b)
{
    const struct count *x = a, *y = b;
    return x->n && y->n ? strcmp(x->fact, y->fact) : !x->n - !y->n;
}

/* Reads a line of the journal, which is changed; false: it is not whole. */
static bool read_line(char *line, uint64_t *seed, struct soak_report *report)
{
    char *bar = strchr(line, '|'), *end = strchr(line, '\n'), word[16];
    int at = 0;
    if (!bar || !end || bar > end)
        return false;
    *bar = *end = 0;
    if (sscanf(line, "%" SCNu64 " %15s %" SCNu64 " %" SCNu64 "%n", seed, word, &report->n_runs,
               &report->hops, &at) != 4)
        return false;
    snprintf(report->facts, sizeof report->facts, "%s", line + at);
    snprintf(report->why, sizeof report->why, "%s", bar + 1);
    for (report->end = 0; soak_ends[report->end] && strcmp(soak_ends[report->end], word);)
        report->end++;
    return soak_ends[report->end] != NULL;
}

/* Reads the journal into `sums`, or marks which seeds are done if that is NULL. */
static void read_journal(struct campaign *c, struct sums *sums)
{
    char path[600], line[2048], *save;
    snprintf(path, sizeof path, "%s/journal", c->folder);
    FILE *in = fopen(path, "r");
    while (in && fgets(line, sizeof line, in)) {
        struct soak_report report;
        uint64_t seed;
        if (!read_line(line, &seed, &report) || seed < c->first || seed > c->last)
            continue;
        if (!sums) {
            c->n_done_before += !c->done[seed - c->first];
            c->done[seed - c->first] = (uint8_t)(report.end + 1);
            continue;
        }
        sums->n_seeds++;
        sums->n_runs += report.n_runs;
        sums->hops += report.hops;
        sums->ends[report.end]++;
        if (report.end == SOAK_REFUSED)
            count_fact(sums->refusals, strtok_r(report.why, ":", &save));
        for (char *f = strtok_r(report.facts, " ", &save); f; f = strtok_r(NULL, " ", &save))
            count_fact(sums->facts, f);
    }
    if (in)
        fclose(in);
}

/* Opens the journal to go on with it. A line that a kill has cut short is ended. */
static bool open_journal(struct campaign *c)
{
    char path[600], last = '\n';
    mkdir(c->folder, 0777);
    snprintf(path, sizeof path, "%s/journal", c->folder);
    c->journal = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (c->journal < 0) {
        fprintf(stderr, "soak: %s: %s\n", path, strerror(errno));
        return false;
    }
    if (lseek(c->journal, -1, SEEK_END) >= 0 && read(c->journal, &last, 1) == 1 && last != '\n' &&
        write(c->journal, "\n", 1) != 1)
        return false;
    c->done = calloc(c->last - c->first + 1, 1);
    if (!c->done)
        abort();
    read_journal(c, NULL);
    return true;
}

/* ------------------------------------------------------------------------------ workers */

static void check_seed(const struct campaign *c, uint64_t seed, struct soak_report *report)
{
    struct xoff_err err;
    char *text = random_scenario(seed, c->fabric, &err);
    if (err.code) {
        *report = (struct soak_report){.end = SOAK_REFUSED};
        snprintf(report->why, sizeof report->why, "%s: %s", err.subject, err.message);
    } else
        soak_check(text, &c->options, c->options.second && seed % c->options.share == 0, report);
    free(text);
}

static void work(const struct campaign *c, struct shared *shared, uint32_t number)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (;;) {
        const uint64_t seed = atomic_fetch_add(&shared->next, 1);
        if (seed > c->last)
            _exit(0);
        if (c->done[seed - c->first])
            continue;
        struct soak_report report;
        shared->current[number] = seed;
        soak_limit_time();
        check_seed(c, seed, &report);
        note(c, seed, &report);
        shared->current[number] = 0;
        shared->n_failed += soak_is_failure(report.end);
        shared->n_done++;
    }
}

static pid_t start_worker(const struct campaign *c, struct shared *shared, uint32_t number,
                          int *said)
{
    fflush(NULL);
    *said = soak_listen();
    const pid_t pid = fork();
    if (!pid) {
        dup2(*said, 2);
        work(c, shared, number);
    }
    return pid;
}

static void show_progress(const struct campaign *c, const struct shared *shared, double since)
{
    const uint64_t n = c->last - c->first + 1 - c->n_done_before, done = shared->n_done;
    const double passed = now_s() - since;
    fprintf(stderr,
            "%s%" PRIu64 " of %" PRIu64 " seeds, %" PRIu64 " failed, %.0f a second, %.0f s left",
            isatty(2) ? "\r" : "", done, n, (uint64_t)shared->n_failed, (double)done / passed,
            done ? (double)(n - done) * passed / (double)done : 0.0);
    fprintf(stderr, "%s", isatty(2) ? "   " : "\n");
}

/* Runs all seeds that are not done. A worker that dies has found something, and is replaced. */
static void run_campaign(const struct campaign *c)
{
    struct shared *shared =
        mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED)
        abort();
    pid_t workers[MOST_JOBS];
    int said[MOST_JOBS];
    uint32_t n_alive = (uint32_t)c->jobs;
    const double since = now_s();
    double shown = since;
    shared->next = c->first;
    for (uint32_t i = 0; i < c->jobs; i++)
        workers[i] = start_worker(c, shared, i, &said[i]);
    while (n_alive) {
        int status;
        const pid_t pid = waitpid(-1, &status, WNOHANG);
        if (now_s() - shown > (isatty(2) ? 1 : 30)) {
            shown = now_s();
            show_progress(c, shared, since);
        }
        if (pid <= 0) {
            nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
            continue;
        }
        uint32_t i = 0;
        while (i < c->jobs && workers[i] != pid)
            i++;
        if (i == c->jobs)
            continue;
        const uint64_t seed = shared->current[i];
        struct soak_report report = {0};
        if (seed)
            soak_note_crash(&report, status, said[i]);
        soak_end_listening(said[i], false);
        n_alive -= !seed;
        if (!seed)
            continue;
        note(c, seed, &report);
        shared->current[i] = 0;
        shared->n_failed++;
        shared->n_done++;
        workers[i] = start_worker(c, shared, i, &said[i]);
    }
    if (isatty(2))
        fprintf(stderr, "\n");
    munmap(shared, sizeof *shared);
}

/* ------------------------------------------------------------------------------ the end */

static void write_reduced(const struct campaign *c, uint64_t seed, const char *end)
{
    char path[600], *smallest;
    snprintf(path, sizeof path, "%s/%s-%" PRIu64 ".yaml", c->folder, end, seed);
    if (!access(path, F_OK))
        return;
    struct soak_report report;
    struct xoff_err err;
    char *text = random_scenario(seed, c->fabric, &err);
    soak_check_apart(text, &c->options, c->options.second != NULL, &report);
    if (strcmp(soak_ends[report.end], end)) {
        fprintf(stderr, "soak: seed %" PRIu64 " failed with %s, and now ends with %s\n", seed, end,
                soak_ends[report.end]);
        smallest = strdup(text);
    } else
        smallest = soak_reduce(text, &c->options, &report);
    FILE *out = fopen(path, "w");
    if (out && smallest) {
        fprintf(out, "# seed %" PRIu64 ": %s: %s\n%s", seed, soak_ends[report.end], report.why,
                smallest);
        printf("%s: %s: %s\n", path, end, report.why);
    }
    if (out)
        fclose(out);
    free(smallest);
    free(text);
}

static void reduce_failures(struct campaign *c)
{
    uint32_t n[SOAK_N_ENDS] = {0};
    memset(c->done, 0, c->last - c->first + 1);
    read_journal(c, NULL);
    for (uint64_t seed = c->first; seed <= c->last; seed++) {
        const uint32_t end = c->done[seed - c->first] ? c->done[seed - c->first] - 1u : SOAK_FINE;
        if (!soak_is_failure(end) || n[end]++ >= MOST_REDUCED)
            continue;
        /* In a process of its own: the reader may crash where the scenario is drawn. */
        fflush(NULL);
        const pid_t pid = fork();
        int status = 0;
        if (!pid) {
            write_reduced(c, seed, soak_ends[end]);
            fflush(NULL);
            _exit(0);
        }
        waitpid(pid, &status, 0);
        if (status)
            fprintf(stderr, "soak: seed %" PRIu64 " crashes as it is drawn\n", seed);
    }
}

/* Prints what took part, a line to a role: word and the seeds that had it. */
static int summarise(struct campaign *c, double took_s)
{
    static struct sums sums;
    read_journal(c, &sums);
    uint64_t n_failed = 0;
    char role[96] = "";
    printf("%" PRIu64 " seeds, %" PRIu64 " runs, %.1f M packet-hops, %.0f s\n", sums.n_seeds,
           sums.n_runs, (double)sums.hops / 1e6, took_s);
    qsort(sums.facts, MOST_FACTS, sizeof *sums.facts, by_fact);
    for (const struct count *f = sums.facts; f < sums.facts + MOST_FACTS && f->n; f++) {
        const int n = (int)strcspn(f->fact, "=");
        if (strncmp(role, f->fact, (size_t)n) || role[n])
            printf("%s%-11.*s", *role ? "\n" : "", n, f->fact);
        snprintf(role, sizeof role, "%.*s", n, f->fact);
        printf(" %s %" PRIu64, f->fact + n + 1, f->n);
    }
    printf("\n");
    for (const struct count *f = sums.refusals; f < sums.refusals + MOST_FACTS && f->n; f++)
        printf("refused by  %s %" PRIu64 "\n", f->fact, f->n);
    for (uint32_t end = 0; end < SOAK_N_ENDS; end++) {
        if (sums.ends[end])
            printf("%s%s %" PRIu64, end ? ", " : "", soak_ends[end], sums.ends[end]);
        n_failed += soak_is_failure(end) ? sums.ends[end] : 0;
    }
    printf("\n%" PRIu64 " failed\n", n_failed);
    return n_failed != 0;
}

/* ------------------------------------------------------------------------------ options */

enum { OPTION_SERVE = 256, OPTION_PRINT, OPTION_FABRIC, OPTION_FILE };

static const struct argp_option options[] = {
    {"seeds", 's', "A..B", 0, "Seeds of the campaign (1..100)", 0},
    {"jobs", 'j', "N", 0, "Worker processes (1)", 0},
    {"folder", 'o', "DIR", 0, "Journal and small scenarios; a campaign there goes on (soak-run)",
     0},
    {"second", '2', "PROGRAM", 0, "This program from another compiler, to compare with", 0},
    {"share", 'n', "N", 0, "One seed in N is compared (20)", 0},
    {"fault", 'f', "NAME", 0, "Plant a fault: threads, loss, books, stuck, crash", 0},
    {"fabric", OPTION_FABRIC, "KIND", 0, "Fabric of all switches (drawn)", 0},
    {"print", OPTION_PRINT, "SEED", 0, "Print the scenario of a seed and end", 0},
    {"file", OPTION_FILE, "FILE", 0, "Check a scenario file as seeds are checked, and end", 0},
    {"serve", OPTION_SERVE, NULL, 0, "Answer file names on standard input with digests", 0},
    {0},
};

static int check_file(const struct campaign *c, const char *path)
{
    static char text[1 << 20];
    struct soak_report report;
    FILE *in = fopen(path, "r");
    if (!in || !fread(text, 1, sizeof text - 1, in)) {
        fprintf(stderr, "soak: %s cannot be read\n", path);
        return 2;
    }
    fclose(in);
    soak_check_apart(text, &c->options, c->options.second != NULL, &report);
    printf("%s%s%s\n", soak_ends[report.end], *report.why ? ": " : "", report.why);
    return soak_is_failure(report.end);
}

static void show_refusal(const struct xoff_err *err)
{
    fprintf(stderr, "%d: %s: %s\n", err->line, err->subject, err->message);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct campaign *c = state->input;
    struct xoff_err err;
    switch (key) {
    case 's':
        if (sscanf(arg, "%" SCNu64 "..%" SCNu64, &c->first, &c->last) != 2 || !c->first ||
            c->last < c->first || c->last - c->first > 100000000)
            argp_error(state, "%s: expected seeds such as 1..1000", arg);
        return 0;
    case 'j':
        c->jobs = strtoull(arg, NULL, 10);
        if (!c->jobs || c->jobs > MOST_JOBS)
            argp_error(state, "%s: expected 1 to %d jobs", arg, MOST_JOBS);
        return 0;
    case 'o':
        c->folder = arg;
        return 0;
    case '2':
        c->options.second = arg;
        return access(arg, X_OK) ? (argp_error(state, "%s cannot be run", arg), EINVAL) : 0;
    case 'n':
        c->options.share = strtoull(arg, NULL, 10);
        return c->options.share ? 0 : (argp_error(state, "share: expected a number"), EINVAL);
    case 'f':
        for (uint32_t i = 0; fault_names[i]; i++)
            if (!strcmp(fault_names[i], arg))
                c->options.fault = arg;
        return c->options.fault ? 0 : (argp_error(state, "no fault %s", arg), EINVAL);
    case OPTION_FABRIC:
        c->fabric = arg;
        return 0;
    case OPTION_PRINT:
        random_scenario_refused = show_refusal;
        fputs(random_scenario(strtoull(arg, NULL, 10), c->fabric, &err), stdout);
        exit(0);
    case OPTION_FILE:
        exit(check_file(c, arg));
    case OPTION_SERVE:
        exit(soak_serve());
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

int main(int argc, char **argv)
{
    static const struct argp argp = {
        .options = options,
        .parser = parse,
        .doc = "Runs random networks, each in several ways that must agree.\v"
               "Exit status: 0 nothing found, 1 something failed, 2 bad arguments."};
    struct campaign c = {
        .folder = "soak-run", .first = 1, .last = 100, .jobs = 1, .options.share = 20};
    argp_err_exit_status = 2;
    argp_parse(&argp, argc, argv, 0, NULL, &c);
    signal(SIGPIPE, SIG_IGN);
    const double since = now_s();
    if (!open_journal(&c))
        return 2;
    run_campaign(&c);
    reduce_failures(&c);
    const int status = summarise(&c, now_s() - since);
    free(c.done);
    return status;
}
