/* xoff bench: what the simulator itself costs. Packet-hops (a data or ACK frame over one link;
 * pause frames apart) per second on reference networks, on one and two threads; costs of single
 * operations; bytes per object. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "../bench/bench.h"
#include "cli/cli.h"

struct bench_row {
    const char *name;
    const char *topology; /* the scenario's topology and traffic */
    const char *traffic;
    const char *stop;
    uint32_t n_threads;
};

#define LEAF_SPINE(host_link)                                                                   \
    "{kind: leaf-spine, leaves: 4, spines: 4, hosts_per_leaf: 16, host_link: {rate: " host_link \
    "}, fabric_link: {rate: 400Gbps, delay: 1us}}"
#define FAT_TREE "{kind: fat-tree, k: 16, host_link: {rate: 100Gbps, delay: 1us}}"
#define WEB_SEARCH(load) "{kind: poisson, load: " load ", sizes: websearch, priority: 3}"

static const struct bench_row rows[] = {
    {"64 hosts, web search 60 %", LEAF_SPINE("100Gbps, delay: 1us"), WEB_SEARCH("0.6"), "4ms", 1},
    {"64 hosts, web search 60 %, 2 threads", LEAF_SPINE("100Gbps, delay: 1us"), WEB_SEARCH("0.6"),
     "4ms", 2},
    {"1024 hosts, permutation", FAT_TREE, "{kind: permutation, size: 1500KB, priority: 3}", "1ms",
     1},
    {"1024 hosts, permutation, 2 threads", FAT_TREE,
     "{kind: permutation, size: 1500KB, priority: 3}", "1ms", 2},
    {"64 hosts, load 1 %", LEAF_SPINE("100Gbps, delay: 1us"), WEB_SEARCH("0.01"), "200ms", 1},
    {"64 hosts, 400G with 3 m cables", LEAF_SPINE("400Gbps, length: 3m"), WEB_SEARCH("0.15"), "4ms",
     1},
};
enum { N_ROWS = sizeof rows / sizeof *rows, MAX_ROUNDS = 9 };

struct bench_result {
    double hops_per_s, spread; /* median; (max - min) / median */
    uint64_t hops, control_hops, rss_bytes, digest;
};

struct bench_arguments {
    const char *output;
    bool json;
    uint32_t rounds;
};

static const struct argp_option options[] = {
    {"output", 'o', "FILE", 0, "Write the figures as JSON to FILE", 0},
    {"json", 'j', NULL, 0, "Print JSON instead of text", 0},
    {"rounds", 'r', "N", 0, "Rounds per row, 1 to 9 (default 3); the median counts", 0},
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

static int run_row(const struct bench_row *row, uint32_t rounds, struct bench_result *result)
{
    char text[1024];
    snprintf(text, sizeof text,
             "title: %s\nstop: %s\ndrain: 0s\ntopology: %s\n"
             "switch: {buffer: 16MB, pause: pfc, marking: ecn}\n"
             "host: {delivery: reliable}\npriorities: {3: {lossless: true}}\n"
             "traffic: [%s]\n",
             "bench", row->stop, row->topology, row->traffic);
    double rates[MAX_ROUNDS];
    for (uint32_t r = 0; r < rounds; r++) {
        struct scenario *scenario;
        struct xoff_err err = {0};
        struct cli_run run = {0};
        int code = scenario_read_text(row->name, text, strlen(text), NULL, 0, &scenario, &err);
        if (!code) {
            code = cli_run_plan(scenario->plans[0], row->n_threads, XOFF_PARAM_AUTO, false, &run,
                                &err);
            scenario_destroy(code ? scenario : NULL);
        }
        if (code) {
            cli_print_error(&err);
            return code;
        }
        rates[r] = (double)run.results->packet_hops / run.results->wall_s;
        result->hops = run.results->packet_hops;
        result->control_hops = run.results->control_hops;
        result->digest = run.results->digest;
        result->rss_bytes = cli_peak_rss();
        cli_run_fini(&run);
        scenario_destroy(scenario);
    }
    qsort(rates, rounds, sizeof *rates, compare);
    result->hops_per_s = rates[rounds / 2];
    result->spread = (rates[rounds - 1] - rates[0]) / result->hops_per_s;
    return 0;
}

static json_t *figures_json(const struct bench_result *results,
                            const struct bench_operation *operations, unsigned n_operations,
                            const struct bench_size *sizes, unsigned n_sizes)
{
    json_t *networks = json_array(), *ns = json_object(), *bytes = json_object();
    for (uint32_t i = 0; i < N_ROWS; i++)
        json_array_append_new(networks,
                              json_pack("{s:s, s:i, s:f, s:f, s:I, s:I, s:I}", "name", rows[i].name,
                                        "threads", (int)rows[i].n_threads, "packet_hops_per_s",
                                        results[i].hops_per_s, "spread", results[i].spread,
                                        "packet_hops", (json_int_t)results[i].hops, "control_hops",
                                        (json_int_t)results[i].control_hops, "peak_rss_bytes",
                                        (json_int_t)results[i].rss_bytes));
    for (unsigned i = 0; i < n_operations; i++)
        json_object_set_new(ns, operations[i].name, json_real(operations[i].ns));
    for (unsigned i = 0; i < n_sizes; i++)
        json_object_set_new(bytes, sizes[i].name, json_integer((json_int_t)sizes[i].bytes));
    return json_pack("{s:s, s:o, s:o, s:o}", "xoff", XOFF_VERSION, "networks", networks,
                     "operation_ns", ns, "bytes", bytes);
}

int cmd_bench(int argc, char **argv)
{
    static const struct argp argp = {
        .options = options,
        .parser = parse,
        .doc = "Measures the simulator: packet-hops per second, costs of operations, sizes.\v"
               "Example: xoff bench -o bench.json"};
    struct bench_arguments a = {.rounds = 3};
    argp_parse(&argp, argc, argv, 0, NULL, &a);
    struct bench_result results[N_ROWS] = {{0}};
    FILE *words = a.json ? stderr : stdout;
    fprintf(words, "%-40s %12s %8s %10s %9s\n", "network", "hops/s", "spread", "hops", "peak RSS");
    for (uint32_t i = 0; i < N_ROWS; i++) {
        if (run_row(&rows[i], a.rounds, &results[i]))
            return EXIT_FAILED;
        fprintf(words, "%-40s %10.1f M %6.0f %% %8.1f M %6.0f MB\n", rows[i].name,
                results[i].hops_per_s / 1e6, 100 * results[i].spread, (double)results[i].hops / 1e6,
                (double)results[i].rss_bytes / 1e6);
        fflush(words);
        if (i && rows[i].n_threads > 1)
            fprintf(words, "%-40s %10.2f x  (%s digest)\n", "  of one thread",
                    results[i].hops_per_s / results[i - 1].hops_per_s,
                    results[i].digest == results[i - 1].digest ? "same" : "DIFFERENT");
    }
    struct bench_operation operations[BENCH_MAX];
    struct bench_size sizes[BENCH_MAX];
    const unsigned n_operations = bench_operations(cli_clock, operations);
    const unsigned n_sizes = bench_sizes(sizes);
    fputc('\n', words);
    for (unsigned i = 0; i < n_operations; i++)
        fprintf(words, "%-40s %10.1f ns\n", operations[i].name, operations[i].ns);
    for (unsigned i = 0; i < n_sizes; i++)
        fprintf(words, "%-40s %10zu bytes\n", sizes[i].name, sizes[i].bytes);
    json_t *all = figures_json(results, operations, n_operations, sizes, n_sizes);
    int status = EXIT_FINE;
    if (a.output && json_dump_file(all, a.output, JSON_INDENT(1))) {
        fprintf(stderr, "xoff bench: cannot write %s\n", a.output);
        status = EXIT_FAILED;
    }
    if (a.json)
        json_dumpf(all, stdout, JSON_INDENT(1));
    json_decref(all);
    return status;
}
