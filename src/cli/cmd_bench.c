/* xoff bench measures the simulator itself: packet-hops (a data or ACK frame over one link; pause
 * frames are counted separately) per second on reference networks, on one and two threads; costs of
 * single operations; bytes per object. Started by mpirun it measures what ranks cost, and nothing
 * else; started alone it starts mpirun for that. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../bench/bench.h"
#include "cli/bench_ranks.h"
#include "cli/cli.h"
#include "dist/dist.h"

struct bench_row {
    const char *name;
    const char *topology; /* the scenario's topology and traffic; NULL: files of the ns-3 family */
    const char *traffic;
    const char *stop;
    uint32_t n_threads;
    const char *more; /* keys beside or instead of PLAIN; NULL: PLAIN */
};

#define LEAF_SPINE(host_link)                                                                   \
    "{kind: leaf-spine, leaves: 4, spines: 4, hosts_per_leaf: 16, host_link: {rate: " host_link \
    "}, fabric_link: {rate: 400Gbps, delay: 1us}}"
#define FAT_TREE "{kind: fat-tree, k: 16, host_link: {rate: 100Gbps, delay: 1us}}"
#define WEB_SEARCH(load) "{kind: poisson, load: " load ", sizes: websearch, priority: 3}"

/* Keys of a row that states no others. */
#define PLAIN                                                             \
    "switch: {buffer: 16MB, pause: pfc, marking: ecn}\ntransport: none\n" \
    "priorities: {3: {lossless: true}}\n"
/* The large network of papers/dsh: seven lossless classes, dynamic and shared headroom. */
#define LARGE \
    "{kind: leaf-spine, leaves: 16, spines: 16, hosts_per_leaf: 16, host_link: {delay: 2us}}"
#define BUSY                                                           \
    "{kind: poisson, load: 0.5, sizes: websearch, priorities: 0..6}, " \
    "{kind: fan-in, senders: 16, size: 64KB, load: 0.4, priorities: 0..6}"
#define SHARED_HEADROOM(transport)                                                               \
    "switch: {buffer: 16MB, mmu: dsh, scheduler: drr}\nport: {response: 60, max_frame: 1500B}\n" \
    "host: {ack_priority: 7}\ntransport: " transport "\n"                                        \
    "priorities: {0: {lossless: true}, 1: {lossless: true}, 2: {lossless: true}, "               \
    "3: {lossless: true}, 4: {lossless: true}, 5: {lossless: true}, 6: {lossless: true}}\n"

/* One large switch with a crossbar, loaded so that inputs queue and pause. */
#define STAR32 "{kind: star, hosts: 32, host_link: {rate: 100Gbps, delay: 1us}}"
#define CROSSBAR                                                          \
    "switch: {buffer: 2MB, fabric: {kind: cioq, output_buffer: 500KB}}\n" \
    "transport: none\npriorities: {3: {lossless: true}}\n"

/* The network of the CaPFC paper: pipelines with the sizes of its Table II, TCP, adaptive load
 * balancing. Egress queues have 80 KB in place of 60 KB, with which nothing is lost. */
#define FAT_TREE8 "{kind: fat-tree, k: 8, host_link: {rate: 1Gbps, delay: 1us}}"
#define PIPELINES                                                               \
    "switch: {buffer: 2MB, processing_delay: 25us, path: adaptive,\n"           \
    "         fabric: {kind: pipeline, packet_rate: 1M, egress_queue: 80KB},\n" \
    "         mmu: {kind: static, xoff: 50KB, xon: 40KB, headroom: 10KB},\n"    \
    "         marking: {kind: step, k: 20KB}}\n"                                \
    "transport: tcp\npriorities: {3: {lossless: true}}\n"

/* Large networks: edges with more hosts than links up, which are four times as fast. */
#define LARGE_TREE(k, hosts)                            \
    "{kind: fat-tree, k: " k ", hosts_per_edge: " hosts \
    ", host_link: {rate: 100Gbps, delay: 1us}, fabric_link: {rate: 400Gbps, delay: 1us}}"
#define SMALL_FLOWS "{kind: poisson, load: 0.3, sizes: 64KB, priority: 3}"
#define LARGE_BUFFERS                                                     \
    "switch: {buffer: 64MB, pause: pfc, marking: ecn}\ntransport: none\n" \
    "priorities: {3: {lossless: true}}\n"

static const struct bench_row rows[] = {
    {"64 hosts, web search 60 %", LEAF_SPINE("100Gbps, delay: 1us"), WEB_SEARCH("0.6"), "4ms", 1,
     NULL},
    {"64 hosts, web search 60 %, 2 threads", LEAF_SPINE("100Gbps, delay: 1us"), WEB_SEARCH("0.6"),
     "4ms", 2, NULL},
    {"1024 hosts, permutation", FAT_TREE, "{kind: permutation, size: 1500KB, priority: 3}", "1ms",
     1, NULL},
    {"1024 hosts, permutation, 2 threads", FAT_TREE,
     "{kind: permutation, size: 1500KB, priority: 3}", "1ms", 2, NULL},
    {"64 hosts, load 1 %", LEAF_SPINE("100Gbps, delay: 1us"), WEB_SEARCH("0.01"), "200ms", 1, NULL},
    {"64 hosts, 400G with 3 m cables", LEAF_SPINE("400Gbps, length: 3m"), WEB_SEARCH("0.15"), "4ms",
     1, NULL},
    {"256 hosts, fan-in 90 %, dsh, DCQCN", LARGE, BUSY, "1ms", 1, SHARED_HEADROOM("dcqcn")},
    {"256 hosts, fan-in 90 %, dsh, PowerTCP", LARGE, BUSY, "1ms", 1, SHARED_HEADROOM("powertcp")},
    {"32 hosts, crossbar switch, web search 60 %", STAR32, WEB_SEARCH("0.6"), "8ms", 1, CROSSBAR},
    {"128 hosts, pipeline switches, TCP 40 %", FAT_TREE8, WEB_SEARCH("0.4"), "100ms", 1, PIPELINES},
    {"16384 hosts, 64 KB flows 30 %", LARGE_TREE("32", "32"), SMALL_FLOWS, "40us", 1,
     LARGE_BUFFERS},
    {"100352 hosts, 64 KB flows 30 %", LARGE_TREE("56", "64"), SMALL_FLOWS, "10us", 1,
     LARGE_BUFFERS},
    {"ns-3 files: 64 hosts, DCQCN", NULL, NULL, NULL, 1, NULL},
    {"ns-3 files: 64 hosts, DCQCN, 2 threads", NULL, NULL, NULL, 2, NULL},
};
/* Rows that are also run over ranks. */
static const char *const over_ranks[] = {"64 hosts, web search 60 %", "1024 hosts, permutation",
                                         "16384 hosts, 64 KB flows 30 %"};
enum { N_OVER_RANKS = sizeof over_ranks / sizeof *over_ranks };
#define HPCC_FLOWS 660 /* 8.7 M packet-hops */
#define MANY_FLOWS 1000000
enum { N_ROWS = sizeof rows / sizeof *rows, MAX_ROUNDS = 9 };

struct bench_result {
    double hops_per_s, spread; /* median; (max - min) / median */
    uint64_t hops, control_hops, rss_bytes, digest;
    double startup_s; /* from files to the first event */
    double line_ns;   /* of several threads: a cache line there and back; 0: not known */
    int code;
};

struct bench_arguments {
    const char *output;
    const char *print; /* a row's name */
    const char *only;  /* part of the names of the rows to measure; NULL: everything */
    bool json;
    uint32_t rounds;
};

enum { OPTION_ONLY = 512 };

static const struct argp_option options[] = {
    {"output", 'o', "FILE", 0, "Write the figures as JSON to FILE", 0},
    {"json", 'j', NULL, 0, "Print JSON instead of text", 0},
    {"rounds", 'r', "N", 0, "Rounds per row, 1 to 9 (default 3); the median counts", 0},
    {"only", OPTION_ONLY, "TEXT", 0,
     "Measure only networks with TEXT in their names, some of them over ranks, too", 0},
    {"print", 'p', "ROW", 0, "Measure nothing; print the scenario of the row of that name", 0},
    {0},
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct bench_arguments *a = state->input;
    switch (key) {
    case 'o':
        a->output = arg;
        return 0;
    case 'j':
        a->json = true;
        return 0;
    case 'p':
        a->print = arg;
        return 0;
    case OPTION_ONLY:
        a->only = arg;
        return 0;
    case 'r':
        a->rounds = (uint32_t)atoi(arg);
        if (a->rounds < 1 || a->rounds > MAX_ROUNDS)
            argp_error(state, "--rounds %s: give a number from 1 to %d", arg, MAX_ROUNDS);
        return 0;
    case ARGP_KEY_ARG:
        argp_error(state, "takes no file");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static void write_text(const struct bench_row *row, char *text, size_t size)
{
    snprintf(text, size, "title: %s\nstop: %s\ndrain: 0s\ntopology: %s\n%straffic: [%s]\n", "bench",
             row->stop, row->topology, row->more ? row->more : PLAIN, row->traffic);
}

/* Returns N_ROWS if there is none of that name that a scenario describes. */
static uint32_t find_row(const char *name)
{
    uint32_t i = 0;
    while (i < N_ROWS && !(rows[i].topology && !strcmp(rows[i].name, name)))
        i++;
    return i;
}

static int refuse_name(const char *option, const char *name, bool with_files)
{
    fprintf(stderr, "xoff bench: %s %s: no such row; those there are:\n", option, name);
    for (uint32_t i = 0; i < N_ROWS; i++)
        if (with_files || rows[i].topology)
            fprintf(stderr, "  %s\n", rows[i].name);
    return EXIT_BAD_INPUT;
}

static int print_row(const char *name)
{
    char text[2048];
    const uint32_t row = find_row(name);
    if (row == N_ROWS)
        return refuse_name("--print", name, false);
    write_text(&rows[row], text, sizeof text);
    fputs(text, stdout);
    return EXIT_FINE;
}

static bool is_wanted(const struct bench_arguments *a, const char *name)
{
    return !a->only || strstr(name, a->only);
}

/* Reads the scenario of a row; `config` is set for a row made of files, which are in `dir`. */
static int read_row(const struct bench_row *row, const char *dir, struct scenario **scenario,
                    struct hpcc_config **config, struct xoff_err *err)
{
    char text[2048];
    *config = NULL;
    if (!row->topology) {
        snprintf(text, sizeof text, "%s/config.txt", dir);
        return hpcc_scenario(text, false, NULL, 0, scenario, config, err);
    }
    write_text(row, text, sizeof text);
    return scenario_read_text(row->name, text, strlen(text), NULL, 0, scenario, err);
}

static int read_network(const void *row, struct scenario **scenario, struct xoff_err *err)
{
    struct hpcc_config *unused;
    return read_row(row, "", scenario, &unused, err);
}

/* Returns how many rows are run over ranks; `networks` has room for all, or is NULL. */
static uint32_t choose_over_ranks(const struct bench_arguments *a, struct bench_network *networks)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < N_OVER_RANKS; i++) {
        if (!is_wanted(a, over_ranks[i]))
            continue;
        if (networks)
            networks[n] =
                (struct bench_network){over_ranks[i], &rows[find_row(over_ranks[i])], read_network};
        n++;
    }
    return n;
}

static int run_row(const struct bench_row *row, const char *dir, uint32_t rounds,
                   struct bench_result *result)
{
    double rates[MAX_ROUNDS], lines[MAX_ROUNDS];
    for (uint32_t r = 0; r < rounds; r++) {
        lines[r] = row->n_threads > 1 ? bench_line_ns(cli_clock) : 0;
        struct scenario *scenario = NULL;
        struct hpcc_config *config;
        struct xoff_err err = {0};
        struct cli_run run = {0};
        const struct build_options options_of_build = {.n_threads = row->n_threads,
                                                       .cell_bound = XOFF_PARAM_AUTO};
        const double began_s = cli_clock();
        int code = read_row(row, dir, &scenario, &config, &err);
        if (!code)
            code = cli_run_plan(scenario->plans[0], &options_of_build, NULL, &run, &err);
        if (code) {
            cli_print_error(&err);
            return code;
        }
        result->startup_s = run.began_s - began_s;
        rates[r] = (double)run.results->packet_hops / run.results->wall_s;
        result->hops = run.results->packet_hops;
        result->control_hops = run.results->control_hops;
        result->digest = run.results->digest;
        result->rss_bytes = cli_peak_rss();
        cli_run_fini(&run);
        scenario_destroy(scenario);
        hpcc_destroy(config);
    }
    qsort(rates, rounds, sizeof *rates, compare);
    qsort(lines, rounds, sizeof *lines, compare);
    result->hops_per_s = rates[rounds / 2];
    result->line_ns = lines[rounds / 2];
    result->spread = (rates[rounds - 1] - rates[0]) / result->hops_per_s;
    return 0;
}

/* Runs a row in a process of its own, so that its memory use can be measured. */
static int run_apart(const struct bench_row *row, const char *dir, uint32_t rounds,
                     struct bench_result *result)
{
    int ends[2];
    if (pipe(ends))
        return -1;
    const pid_t child = fork();
    if (child == 0) {
        struct bench_result out = {0};
        out.code = run_row(row, dir, rounds, &out);
        _exit(write(ends[1], &out, sizeof out) == sizeof out ? 0 : 1);
    }
    close(ends[1]);
    const bool is_whole = child > 0 && read(ends[0], result, sizeof *result) == sizeof *result;
    close(ends[0]);
    if (child > 0)
        waitpid(child, NULL, 0);
    return is_whole ? result->code : -1;
}

/* Measures the seconds to load a file of a million flows, up to the start of the run. */
static double load_many(const char *dir)
{
    struct scenario *scenario;
    struct hpcc_config *config;
    struct built *built;
    struct xoff_err err = {0};
    const struct build_options options_of_build = {.n_threads = 1, .cell_bound = XOFF_PARAM_AUTO};
    bench_write_hpcc(dir, MANY_FLOWS, 0.6);
    const double began_s = cli_clock();
    const struct bench_row row = {.name = "many"};
    if (read_row(&row, dir, &scenario, &config, &err) ||
        build_create(scenario->plans[0], &options_of_build, &built, &err)) {
        cli_print_error(&err);
        return 0;
    }
    const double spent_s = cli_clock() - began_s;
    build_destroy(built);
    scenario_destroy(scenario);
    hpcc_destroy(config);
    return spent_s;
}

static void remove_files(const char *dir)
{
    static const char *const names[] = {"config.txt", "topology.txt", "flow.txt", "trace.txt"};
    for (uint32_t i = 0; i < sizeof names / sizeof *names; i++) {
        char path[1024];
        snprintf(path, sizeof path, "%s/%s", dir, names[i]);
        unlink(path);
    }
    rmdir(dir);
}

static json_t *networks_json(const struct bench_result *results)
{
    json_t *networks = json_array();
    for (uint32_t i = 0; i < N_ROWS; i++) {
        if (!results[i].hops)
            continue;
        json_t *network = json_pack(
            "{s:s, s:i, s:f, s:f, s:f, s:I, s:I, s:I}", "name", rows[i].name, "threads",
            (int)rows[i].n_threads, "packet_hops_per_s", results[i].hops_per_s, "spread",
            results[i].spread, "startup_s", results[i].startup_s, "packet_hops",
            (json_int_t)results[i].hops, "control_hops", (json_int_t)results[i].control_hops,
            "peak_rss_bytes", (json_int_t)results[i].rss_bytes);
        if (results[i].line_ns > 0)
            json_object_set_new(network, "line_ns", json_real(results[i].line_ns));
        json_array_append_new(networks, network);
    }
    return networks;
}

/* Writes the figures to a file, if one is named, and prints them if asked. */
static int put_out(const struct bench_arguments *a, const json_t *figures)
{
    int status = EXIT_FINE;
    if (a->output && json_dump_file(figures, a->output, JSON_INDENT(1))) {
        fprintf(stderr, "xoff bench: cannot write %s\n", a->output);
        status = EXIT_FAILED;
    }
    if (a->json)
        json_dumpf(figures, stdout, JSON_INDENT(1));
    return status;
}

static json_t *new_figures(const struct bench_arguments *a)
{
    json_t *figures = json_pack("{s:s}", "xoff", XOFF_VERSION);
    if (a->only)
        json_object_set_new(figures, "only", json_string(a->only));
    return figures;
}

/* The whole of the command when mpirun has started it. */
static int measure_in_ranks(const struct bench_arguments *a, const struct sim_ranks *ranks)
{
    struct bench_network networks[N_OVER_RANKS];
    const uint32_t n = choose_over_ranks(a, networks);
    json_t *figures = bench_in_ranks(ranks, networks, n, a->rounds);
    if (!figures)
        return EXIT_FINE;
    bench_print_ranks(figures, a->json ? stderr : stdout);
    json_t *all = new_figures(a);
    json_object_set_new(all, "ranks", figures);
    const int status = put_out(a, all);
    json_decref(all);
    return status;
}

/* Tells of each network over ranks how it compares with one process. */
static void compare_ranks(const json_t *figures, const struct bench_result *results, FILE *words)
{
    const json_t *networks = json_object_get(figures, "networks");
    fprintf(words, "%-42s %8s %8s\n", "packet-hops/s over 1 and 2 ranks", "1", "2");
    for (size_t i = 0; i < json_array_size(networks); i++) {
        const json_t *n = json_array_get(networks, i);
        const char *name = json_string_value(json_object_get(n, "name"));
        const struct bench_result *alone = &results[find_row(name)];
        char digest[20];
        snprintf(digest, sizeof digest, "%016llx", (unsigned long long)alone->digest);
        const char *found = json_string_value(json_object_get(n, "digest"));
        const double hops_per_s = json_number_value(json_object_get(n, "packet_hops_per_s"));
        fprintf(words, "%-42s %6.1f M %6.1f M %5.2f x  (%s digest)\n", name,
                alone->hops_per_s / 1e6, hops_per_s / 1e6, hops_per_s / alone->hops_per_s,
                found && !strcmp(found, digest) ? "same" : "DIFFERENT");
    }
}

/* Starts mpirun, and adds its figures to `all`. */
static void measure_ranks(const struct bench_arguments *a, const char *dir,
                          const struct bench_result *results, FILE *words, json_t *all)
{
    char why[512] = "this process itself was started by mpirun";
    uint32_t rank;
    json_t *figures = dist_environment(&rank)
                          ? NULL
                          : bench_start_ranks(dir, a->only, a->rounds, why, sizeof why);
    fputc('\n', words);
    if (!figures) {
        fprintf(words, "ranks: not measured: %s\n", why);
        return;
    }
    bench_print_ranks(figures, words);
    compare_ranks(figures, results, words);
    json_object_set_new(all, "ranks", figures);
}

static int measure_networks(const struct bench_arguments *a, const char *dir,
                            struct bench_result *results, FILE *words)
{
    bench_write_hpcc(dir, HPCC_FLOWS, 0.6);
    fprintf(words, "%-42s %8s %5s %7s %7s %8s\n", "network", "hops/s", "spread", "hops", "peak RSS",
            "startup");
    for (uint32_t i = 0; i < N_ROWS; i++) {
        if (!is_wanted(a, rows[i].name))
            continue;
        fflush(words);
        if (run_apart(&rows[i], dir, a->rounds, &results[i]))
            return EXIT_FAILED;
        fprintf(words, "%-42s %6.1f M %3.0f %% %5.1f M %4.0f MB %5.1f ms\n", rows[i].name,
                results[i].hops_per_s / 1e6, 100 * results[i].spread, (double)results[i].hops / 1e6,
                (double)results[i].rss_bytes / 1e6, 1e3 * results[i].startup_s);
        if (rows[i].n_threads > 1 && results[i - 1].hops)
            fprintf(words, "%-42s %10.2f x  (%s digest)\n", "  of one thread",
                    results[i].hops_per_s / results[i - 1].hops_per_s,
                    results[i].digest == results[i - 1].digest ? "same" : "DIFFERENT");
        if (results[i].line_ns > 0)
            fprintf(words, "%-42s %10.0f ns\n", "  a cache line to the other core and back",
                    results[i].line_ns);
        fflush(words);
    }
    return EXIT_FINE;
}

/* Measures what is no network, and adds it to `all`. */
static void measure_parts(const char *dir, FILE *words, json_t *all)
{
    struct bench_operation operations[BENCH_MAX];
    struct bench_size sizes[BENCH_MAX];
    json_t *ns = json_object(), *bytes = json_object();
    const double many_s = load_many(dir);
    fprintf(words, "%-42s %10.2f s\n\n", "ns-3 files: a million flows loaded", many_s);
    unsigned n_operations = bench_operations(cli_clock, operations);
    n_operations += bench_codecs(cli_clock, operations + n_operations);
    const unsigned n_sizes = bench_sizes(sizes);
    for (unsigned i = 0; i < n_operations; i++) {
        fprintf(words, "%-42s %10.1f ns\n", operations[i].name, operations[i].ns);
        json_object_set_new(ns, operations[i].name, json_real(operations[i].ns));
    }
    for (unsigned i = 0; i < n_sizes; i++) {
        fprintf(words, "%-42s %10zu bytes\n", sizes[i].name, sizes[i].bytes);
        json_object_set_new(bytes, sizes[i].name, json_integer((json_int_t)sizes[i].bytes));
    }
    json_object_set_new(all, "operation_ns", ns);
    json_object_set_new(all, "bytes", bytes);
    json_object_set_new(all, "million_flows_s", json_real(many_s));
}

static int measure(const struct bench_arguments *a)
{
    struct bench_result results[N_ROWS] = {{0}};
    FILE *words = a->json ? stderr : stdout;
    char dir[] = "/tmp/xoff-bench-XXXXXX";
    if (!mkdtemp(dir)) {
        fprintf(stderr, "xoff bench: cannot make a folder in /tmp\n");
        return EXIT_FAILED;
    }
    int status = measure_networks(a, dir, results, words);
    if (!status) {
        json_t *all = new_figures(a);
        json_object_set_new(all, "networks", networks_json(results));
        if (!a->only)
            measure_parts(dir, words, all);
        if (choose_over_ranks(a, NULL))
            measure_ranks(a, dir, results, words, all);
        status = put_out(a, all);
        json_decref(all);
    }
    remove_files(dir);
    return status;
}

int cmd_bench(int argc, char **argv)
{
    static const struct argp argp = {
        .options = options,
        .parser = parse,
        .doc = "Measures the simulator: packet-hops per second, costs of operations, sizes.\v"
               "Example: xoff bench -o bench.json"};
    struct bench_arguments a = {.rounds = 3};
    cli_parse(&argp, argc, argv, 0, &a);
    if (a.print)
        return print_row(a.print);
    uint32_t n_wanted = 0;
    for (uint32_t i = 0; i < N_ROWS; i++)
        n_wanted += is_wanted(&a, rows[i].name);
    if (!n_wanted)
        return refuse_name("--only", a.only, true);
    struct xoff_err err = {0};
    if (cli_start_ranks(&err)) {
        cli_print_error(&err);
        return EXIT_BAD_INPUT;
    }
    return cli_ranks() ? measure_in_ranks(&a, cli_ranks()) : measure(&a);
}
