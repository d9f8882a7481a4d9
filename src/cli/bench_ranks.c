/* What a run over several ranks costs: the rounds, the frames between ranks, and whole networks.
 *
 * The functions that ranks meet by are wrapped, so that the time in them is known: post() and
 * agree() are the exchange, in which a rank also waits for the others; the rest of a run is work.
 * Work is counted in CPU time, so that it does not grow when other processes want the cores.
 * A frame between ranks is put into a batch at one end and onto its link at the other,
 * which counts as work. Its cost is that of more such frames in the same run: the network is cut
 * once as usual, and once with every other node at another rank.
 */
#include "cli/bench_ranks.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli/cli.h"
#include "net/net.h"
#include "sim/frame.h"

#define MOST_TIMES 9

struct watched {
    const struct sim_ranks *real;
    double exchange_s; /* CPU time */
    uint64_t n_rounds, n_bytes;
};

/* CPU time of this thread, which is the only one that runs a network here. */
static double cpu_clock(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void post(void *context, const struct sim_batch *out)
{
    struct watched *w = context;
    const double began_s = cpu_clock();
    for (uint32_t r = 0; r < w->real->n; r++)
        w->n_bytes += out[r].is_neighbour ? out[r].size : 0;
    w->real->post(w->real->context, out);
    w->exchange_s += cpu_clock() - began_s;
}

static void agree(void *context, struct sim_word *word, struct sim_batch *in)
{
    struct watched *w = context;
    const double began_s = cpu_clock();
    w->real->agree(w->real->context, word, in);
    w->exchange_s += cpu_clock() - began_s;
    w->n_rounds += in != NULL;
}

static void gather(void *context, const void *bytes, size_t size, bool to_all, void **all,
                   size_t *sizes)
{
    const struct watched *w = context;
    w->real->gather(w->real->context, bytes, size, to_all, all, sizes);
}

static void share(void *context, const void *bytes, size_t size, void **all, size_t *sizes)
{
    const struct watched *w = context;
    w->real->share(w->real->context, bytes, size, all, sizes);
}

static void divide(void *context, const struct sim_graph *graph, uint32_t *part_of)
{
    const struct watched *w = context;
    w->real->divide(w->real->context, graph, part_of);
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static double median(double *values, uint32_t n)
{
    qsort(values, n, sizeof *values, ascending);
    return values[n / 2];
}

/* Returns the seconds of a round with a message of so many bytes to each other rank; -1: of one
 * without messages. The least of several times counts: what else happens can only add to it. */
static double time_round(const struct sim_ranks *ranks, int64_t bytes)
{
    struct sim_batch *out = calloc(ranks->n, sizeof *out), *in = calloc(ranks->n, sizeof *in);
    void *block = calloc(1, bytes > 0 ? (size_t)bytes : 1);
    XOFF_ASSERT(out && in && block);
    for (uint32_t r = 0; r < ranks->n && bytes >= 0; r++) {
        out[r] = (struct sim_batch){block, (size_t)bytes, r != ranks->rank};
        in[r].is_neighbour = r != ranks->rank;
    }
    const uint32_t n = bytes > 100000 ? 200 : 2000;
    double least_s = INFINITY;
    for (uint32_t t = 0; t < MOST_TIMES; t++) {
        const double began_s = cli_clock();
        for (uint32_t i = 0; i < n; i++) {
            struct sim_word word = {.next_at = i};
            if (bytes >= 0)
                ranks->post(ranks->context, out);
            ranks->agree(ranks->context, &word, bytes >= 0 ? in : NULL);
        }
        least_s = fmin(least_s, (cli_clock() - began_s) / n);
    }
    free(out), free(in), free(block);
    return least_s;
}

static const struct {
    const char *name;
    int64_t bytes;
} sizes[] = {{"reduction", -1},
             {"message of 0 B", 0},
             {"message of 1 KB", 1024},
             {"message of 16 KB", 16384},
             {"message of 256 KB", 262144}};
enum { N_SIZES = sizeof sizes / sizeof *sizes };

/* What all ranks did in one run. */
struct spent {
    double wall_s, work_s; /* the longest; the sum */
    uint64_t n_frames, n_rounds, n_hops, digest;
    uint32_t n_nodes, n_hosts;
};

struct own_share {
    double wall_s, work_s;
    uint64_t n_bytes;
};

static void add_up(const struct sim_ranks *ranks, const struct own_share *own, struct spent *spent)
{
    size_t *each_size = calloc(ranks->n, sizeof *each_size);
    void *all;
    XOFF_ASSERT(each_size);
    ranks->gather(ranks->context, own, sizeof *own, true, &all, each_size);
    const struct own_share *each = all;
    for (uint32_t r = 0; r < ranks->n; r++) {
        spent->wall_s = each[r].wall_s > spent->wall_s ? each[r].wall_s : spent->wall_s;
        spent->work_s += each[r].work_s;
        spent->n_frames += each[r].n_bytes / sizeof(struct frame);
    }
    free(all), free(each_size);
}

/* Runs a network once; `scatters`: node i is at rank i modulo their number. */
static int run_once(const struct sim_ranks *ranks, const struct bench_network *network,
                    bool scatters, struct spent *spent)
{
    struct watched w = {.real = ranks};
    const struct sim_ranks wrapped = {.context = &w,
                                      .rank = ranks->rank,
                                      .n = ranks->n,
                                      .post = post,
                                      .agree = agree,
                                      .gather = gather,
                                      .share = share,
                                      .divide = divide};
    struct build_options options = {
        .n_threads = 1, .cell_bound = XOFF_PARAM_AUTO, .ranks = &wrapped};
    struct scenario *scenario = NULL;
    struct built *built = NULL;
    struct xoff_err err = {0};
    int code = network->read(network->row, &scenario, &err);
    uint32_t *parts = NULL;
    if (!code && scatters) {
        struct build_options plain = {.n_threads = 1, .cell_bound = XOFF_PARAM_AUTO};
        code = build_create(scenario->plans[0], &plain, &built, &err);
        options.n_parts = code ? 0 : built->topo.n_nodes;
        options.parts = parts = calloc(options.n_parts + 1, sizeof *parts);
        XOFF_ASSERT(parts);
        for (uint32_t i = 0; i < options.n_parts; i++)
            parts[i] = i % ranks->n;
        build_destroy(built);
        built = NULL;
    }
    if (!code)
        code = build_create(scenario->plans[0], &options, &built, &err);
    if (code) {
        cli_print_error(&err);
        scenario_destroy(scenario);
        free(parts);
        return code;
    }
    w = (struct watched){.real = ranks}; /* what was said while building does not count */
    const double began_s = cli_clock(), began_cpu_s = cpu_clock();
    net_run(built->net);
    const struct own_share own = {cli_clock() - began_s, cpu_clock() - began_cpu_s - w.exchange_s,
                                  w.n_bytes};
    *spent = (struct spent){
        .n_rounds = w.n_rounds, .n_nodes = built->topo.n_nodes, .n_hosts = built->topo.n_hosts};
    struct results *results = net_collect(built->net);
    if (results) {
        spent->n_hops = results->packet_hops;
        spent->digest = results->digest;
        net_free_results(results);
    }
    add_up(ranks, &own, spent);
    build_destroy(built);
    scenario_destroy(scenario);
    free(parts);
    return 0;
}

/* Runs a network several times, and keeps the run whose work is in the middle. */
static int run_times(const struct sim_ranks *ranks, const struct bench_network *network,
                     bool scatters, uint32_t times, struct spent *spent)
{
    struct spent each[MOST_TIMES];
    double work[MOST_TIMES];
    for (uint32_t t = 0; t < times; t++) {
        const int code = run_once(ranks, network, scatters, &each[t]);
        if (code)
            return code;
        work[t] = each[t].work_s;
    }
    const double middle = median(work, times);
    for (uint32_t t = 0; t < times; t++)
        if (each[t].work_s == middle)
            *spent = each[t];
    return 0;
}

static json_t *network_json(const char *name, const struct spent *s, uint32_t n_ranks)
{
    const double rounds = (double)s->n_rounds, hops = (double)s->n_hops;
    char digest[20];
    snprintf(digest, sizeof digest, "%016llx", (unsigned long long)s->digest);
    return json_pack(
        "{s:s, s:i, s:i, s:f, s:I, s:s, s:I, s:f, s:f, s:f, s:f, s:f}", "name", name, "hosts",
        (int)s->n_hosts, "nodes", (int)s->n_nodes, "packet_hops_per_s", hops / s->wall_s,
        "packet_hops", (json_int_t)s->n_hops, "digest", digest, "windows", (json_int_t)s->n_rounds,
        "window_us", 1e6 * s->wall_s / rounds, "work_ns_per_hop", 1e9 * s->work_s / hops,
        "work_ns_per_node_and_window", 1e9 * s->work_s / rounds / s->n_nodes, "work_share",
        s->work_s / n_ranks / s->wall_s, "cut_frames_per_hop", (double)s->n_frames / hops);
}

json_t *bench_in_ranks(const struct sim_ranks *ranks, const struct bench_network *networks,
                       uint32_t n_networks, uint32_t rounds)
{
    json_t *round_us = json_object(), *all = json_array();
    for (uint32_t i = 0; i < N_SIZES; i++)
        json_object_set_new(round_us, sizes[i].name,
                            json_real(1e6 * time_round(ranks, sizes[i].bytes)));
    double frame_ns = 0;
    for (uint32_t i = 0; i < n_networks; i++) {
        struct spent usual, scattered;
        if (run_times(ranks, &networks[i], false, rounds, &usual))
            break;
        json_array_append_new(all, network_json(networks[i].name, &usual, ranks->n));
        if (i == 0 && !run_times(ranks, &networks[i], true, rounds, &scattered))
            frame_ns = 1e9 * (scattered.work_s - usual.work_s) /
                       ((double)scattered.n_frames - (double)usual.n_frames);
    }
    json_t *figures = json_pack("{s:i, s:o, s:f, s:o}", "ranks", (int)ranks->n, "round_us",
                                round_us, "cut_frame_ns", frame_ns, "networks", all);
    if (ranks->rank == 0)
        return figures;
    json_decref(figures);
    return NULL;
}

/* Becomes mpirun. It may run as root, and on fewer cores: it is the user's own command. Ranks are
 * not bound to cores, since another process on one of them would hold up both. */
static void become_mpirun(const char *self, const char *file, const char *only, uint32_t rounds,
                          const char *errors)
{
    const char *mpirun = getenv("MPIRUN");
    char times[12];
    snprintf(times, sizeof times, "%u", rounds);
    setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 1);
    setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 1);
    setenv("OMPI_MCA_rmaps_base_oversubscribe", "1", 1);
    setenv("OMPI_MCA_hwloc_base_binding_policy", "none", 1);
    if (freopen("/dev/null", "w", stdout) && freopen(errors, "w", stderr)) {
        execlp(mpirun ? mpirun : "mpirun", "mpirun", "-n", "2", self, "bench", "--rounds", times,
               "--output", file, only ? "--only" : NULL, only, (char *)NULL);
        fprintf(stderr, "error: %s: %s\n", mpirun ? mpirun : "mpirun", strerror(errno));
        fflush(stderr); /* is buffered now that it is a file */
    }
    _exit(EXIT_FAILED);
}

/* Finds the first line about an error. */
static void read_error(const char *file, char *why, size_t size)
{
    FILE *in = fopen(file, "r");
    char line[512];
    snprintf(why, size, "mpirun failed");
    while (in && fgets(line, sizeof line, in))
        if (!strncmp(line, "error: ", 7)) {
            line[strcspn(line, "\n")] = 0;
            snprintf(why, size, "%s", line + 7);
            break;
        }
    if (in)
        fclose(in);
}

json_t *bench_start_ranks(const char *dir, const char *only, uint32_t rounds, char *why,
                          size_t size)
{
    char self[1024], file[1024], errors[1024];
    const ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    snprintf(file, sizeof file, "%s/ranks.json", dir);
    snprintf(errors, sizeof errors, "%s/ranks.txt", dir);
    snprintf(why, size, "no process could be started");
    self[length > 0 ? length : 0] = 0;
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0)
        become_mpirun(self, file, only, rounds, errors);
    int status = 1;
    json_t *all = NULL, *figures = NULL;
    if (child > 0 && waitpid(child, &status, 0) == child && status == 0)
        all = json_load_file(file, 0, NULL);
    if (all)
        figures = json_incref(json_object_get(all, "ranks"));
    else if (child > 0)
        read_error(errors, why, size);
    json_decref(all);
    unlink(file), unlink(errors);
    return figures;
}

static double real_of(const json_t *object, const char *key)
{
    return json_number_value(json_object_get(object, key));
}

void bench_print_ranks(const json_t *figures, FILE *words)
{
    const json_t *networks = json_object_get(figures, "networks");
    for (uint32_t i = 0; i < N_SIZES; i++)
        fprintf(words, "a round of %d ranks, %-20s %12.2f us\n", (int)real_of(figures, "ranks"),
                sizes[i].name, real_of(json_object_get(figures, "round_us"), sizes[i].name));
    fprintf(words, "%-42s %10.0f ns\n", "a frame between ranks, beyond its bytes",
            real_of(figures, "cut_frame_ns"));
    fprintf(words, "%-42s %8s %8s %9s %5s %8s\n", "over ranks", "hops/s", "windows", "each", "work",
            "cut/hop");
    for (size_t i = 0; i < json_array_size(networks); i++) {
        const json_t *n = json_array_get(networks, i);
        fprintf(words, "%-42s %6.1f M %8.0f %6.1f us %3.0f %% %8.2f\n",
                json_string_value(json_object_get(n, "name")),
                real_of(n, "packet_hops_per_s") / 1e6, real_of(n, "windows"),
                real_of(n, "window_us"), 100 * real_of(n, "work_share"),
                real_of(n, "cut_frames_per_hop"));
    }
}
