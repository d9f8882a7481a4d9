/* The command line of xoff run (run_options.h). */
#include "cli/run_options.h"

#include <stdlib.h>
#include <string.h>

#include <xoff/units.h>

#include "many/seed_list.h"

enum {
    OPTION_CSV = 512,
    OPTION_VARIANT,
    OPTION_NO_REPORT,
    OPTION_PRINT_CONFIG,
    OPTION_ESTIMATE,
    OPTION_WRITE,
    OPTION_COMPARE,
    OPTION_CAPTURE,
    OPTION_CAPTURE_LIMIT,
    OPTION_CAPTURE_BYTES,
    OPTION_TRACE,
    OPTION_TRACE_UNTIL,
    OPTION_WIRE_CHECK,
    OPTION_NO_EXPECT,
    OPTION_SEEDS,
    OPTION_FORK_AT,
    OPTION_JOBS,
    OPTION_PARTS
};

static const struct argp_option options[] = {
    {"output", 'o', "DIR", 0,
     "Folder for the results (default: run-NAME, with --seed run-NAME-seedN, with --seeds "
     "run-NAME-seeds)",
     0},
    {"seeds", OPTION_SEEDS, "LIST", 0,
     "Run every variant with each of these seeds, such as 1..20 or 1,5,9; print mean, confidence "
     "interval and spread",
     0},
    {"jobs", OPTION_JOBS, "N", 0,
     "With --seeds: run N simulations at a time (default: one per core); the results are the same",
     0},
    {"variant", OPTION_VARIANT, "NAME", 0,
     "Run this variant alone, and what is expected of it; may be given several times", 0},
    {"fork-at", OPTION_FORK_AT, "TIME", 0,
     "Run the first variant up to this simulated time, such as 10ms, and all from its state on; "
     "they may differ in numbers of mechanisms",
     0},
    {"csv", OPTION_CSV, NULL, 0, "Write the tables as CSV files too", 0},
    {"no-report", OPTION_NO_REPORT, NULL, 0, "Do not write report.html", 0},
    {"print-config", OPTION_PRINT_CONFIG, NULL, 0,
     "Print the scenario with all defaults and computed headroom, and do not run it", 0},
    {"estimate", OPTION_ESTIMATE, NULL, 0,
     "Build the network, run it for two seconds, and say what memory and time the whole run would "
     "take; write nothing",
     0},
    {"write", OPTION_WRITE, "FORMAT", 0,
     "Write fct.txt and pfc.txt too: hpcc (default when the input is a config.txt of that family), "
     "conweave (node ids instead of addresses), or none",
     0},
    {"compare", OPTION_COMPARE, "DIR", 0,
     "Compare every run with DIR/fct.txt, or with that file itself, as the ns-3 RDMA family writes "
     "it: completion times side by side, and the flows that differ most",
     0},
    {"capture", OPTION_CAPTURE, "NODE:PORT", 0,
     "Write every frame that crosses this port to capture-NODE-PORT.pcapng, such as leaf0:3; NODE "
     "alone for a host",
     0},
    {"capture-limit", OPTION_CAPTURE_LIMIT, "N", 0,
     "Keep the first N frames of each captured port (default: 1000000)", 0},
    {"capture-bytes", OPTION_CAPTURE_BYTES, "N", 0,
     "Keep the first N bytes of each captured frame (default: all)", 0},
    {"trace", OPTION_TRACE, "FILE", 0,
     "Write every receive, enqueue, dequeue and drop of all nodes to FILE, in the text form of the "
     "ns-3 RDMA family; of one run at a time",
     0},
    {"trace-until", OPTION_TRACE_UNTIL, "TIME", 0,
     "End the trace at this simulated time, such as 500us (default: with the run)", 0},
    {"no-expect", OPTION_NO_EXPECT, NULL, 0,
     "Do not test the scenario's expectations, such as after a --set that they do not know of", 0},
    {"wire-check", OPTION_WIRE_CHECK, "all", OPTION_ARG_OPTIONAL,
     "Write every control frame, with =all ACKs and tags of data, too, as octets at every hop, "
     "read "
     "it again, and end the run if it does not come back as it was sent",
     0},
    {"parts", OPTION_PARTS, "FILE", OPTION_HIDDEN,
     "Under mpirun: the rank of each node, hosts first, as numbers in FILE", 0},
    {0},
};

char *run_default_output(const struct run_arguments *a, const char *file)
{
    const struct cli_options *shared = &a->shared;
    const char *slash = strrchr(file, '/'), *seed = NULL;
    const char *name = slash ? slash + 1 : file;
    const char *dot = strrchr(name, '.');
    char *output;
    if (!strcmp(file, "-"))
        name = "stdin";
    for (uint32_t i = 0; i < shared->n_settings; i++)
        if (!strcmp(shared->settings[i].key, "seed"))
            seed = shared->settings[i].value;
    const int length = dot && dot > name ? (int)(dot - name) : (int)strlen(name);
    if (a->seeds.n)
        seed = "s";
    XOFF_ASSERT(asprintf(&output, "run-%.*s%s%s", length, name, seed ? "-seed" : "",
                         seed ? seed : "") >= 0);
    return output;
}

static bool has_same_output(const struct run_arguments *a, const char *file, const char *other)
{
    char *one = run_default_output(a, file), *two = run_default_output(a, other);
    const bool is_same = !strcmp(one, two);
    free(one);
    free(two);
    return is_same;
}

/* The first seed becomes a setting, as by --seed. */
static void set_first_seed(struct run_arguments *a, struct argp_state *state)
{
    struct cli_options *o = &a->shared;
    for (uint32_t i = 0; i < o->n_settings; i++)
        if (!strcmp(o->settings[i].key, "seed"))
            argp_error(state, "--seeds and --seed: give one of them");
    for (uint32_t i = 0; i < o->n_files; i++)
        if (!strcmp(o->files[i], "-"))
            argp_error(state, "--seeds reads the scenario again for every seed: give a file");
    if (o->n_settings == CLI_MAX_SETTINGS)
        argp_error(state, "more than %d settings", CLI_MAX_SETTINGS);
    o->settings[o->n_settings++] = (struct plan_setting){"seed", a->seeds.first};
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct run_arguments *a = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &a->shared;
        state->child_inputs[1] = &a->checkpoint;
        return 0;
    case 'o':
        a->output = arg;
        return 0;
    case OPTION_VARIANT:
        a->variants = realloc(a->variants, sizeof *a->variants * (a->n_variants + 1));
        XOFF_ASSERT(a->variants);
        a->variants[a->n_variants++] = arg;
        return 0;
    case OPTION_CSV:
        a->csv = true;
        return 0;
    case OPTION_NO_REPORT:
        a->no_report = true;
        return 0;
    case OPTION_PRINT_CONFIG:
        a->print_config = true;
        return 0;
    case OPTION_ESTIMATE:
        a->estimate = true;
        return 0;
    case OPTION_WRITE:
        if (strcmp(arg, "hpcc") && strcmp(arg, "conweave") && strcmp(arg, "none"))
            argp_error(state, "--write %s: give hpcc, conweave or none", arg);
        a->write = arg;
        return 0;
    case OPTION_COMPARE:
        a->compare = arg;
        return 0;
    case OPTION_CAPTURE:
        a->captures = realloc(a->captures, sizeof *a->captures * (a->n_captures + 1));
        XOFF_ASSERT(a->captures);
        a->captures[a->n_captures++] = arg;
        return 0;
    case OPTION_CAPTURE_LIMIT: {
        int64_t n;
        if (xoff_parse_int(arg, &n) || n < 1)
            argp_error(state, "--capture-limit %s: give a number of frames, 1 or more", arg);
        a->capture_limit = (uint64_t)n;
        return 0;
    }
    case OPTION_CAPTURE_BYTES: {
        int64_t n;
        if (xoff_parse_int(arg, &n) || n < 64 || n > UINT16_MAX)
            argp_error(state, "--capture-bytes %s: give a number from 64 to 65535", arg);
        a->capture_bytes = (uint32_t)n;
        return 0;
    }
    case OPTION_SEEDS: {
        struct xoff_err err = {0};
        free(a->seeds.list);
        if (seed_list_parse(arg, &a->seeds.list, &a->seeds.n, &err))
            argp_error(state, "--seeds %s: %s", arg, err.message);
        snprintf(a->seeds.first, sizeof a->seeds.first, "%llu",
                 (unsigned long long)a->seeds.list[0]);
        return 0;
    }
    case OPTION_JOBS: {
        int64_t n;
        if (xoff_parse_int(arg, &n) || n < 1 || n > 1024)
            argp_error(state, "--jobs %s: give a number from 1 to 1024", arg);
        a->seeds.n_jobs = (uint32_t)n;
        return 0;
    }
    case OPTION_FORK_AT:
        if (xoff_parse_time(arg, &a->fork_at) || a->fork_at <= 0)
            argp_error(state, "--fork-at %s: give a simulated time above 0, such as 10ms", arg);
        return 0;
    case OPTION_PARTS:
        a->parts = arg;
        return 0;
    case OPTION_NO_EXPECT:
        a->no_expect = true;
        return 0;
    case OPTION_WIRE_CHECK:
        if (arg && strcmp(arg, "all"))
            argp_error(state, "--wire-check=%s: can only be =all, or alone", arg);
        a->wire_check = true;
        a->wire_check_all = arg != NULL;
        return 0;
    case OPTION_TRACE:
        if (!*arg)
            argp_error(state, "--trace needs the name of a file");
        a->trace = arg;
        return 0;
    case OPTION_TRACE_UNTIL:
        if (xoff_parse_time(arg, &a->trace_until) || a->trace_until <= 0)
            argp_error(state, "--trace-until %s: give a time above 0, such as 500us", arg);
        return 0;
    case ARGP_KEY_END:
        if (!a->shared.n_files)
            argp_error(state, "no scenario file given");
        if (a->seeds.n)
            set_first_seed(a, state);
        if (a->output && !*a->output)
            argp_error(state, "--output needs the name of a folder");
        for (uint32_t i = 1; i < a->shared.n_files; i++)
            for (uint32_t k = 0; k < i; k++)
                if (has_same_output(a, a->shared.files[i], a->shared.files[k]))
                    argp_error(state,
                               "%s and %s would write to the same folder; run them one by one "
                               "with --output",
                               a->shared.files[k], a->shared.files[i]);
        if (checkpoint_is_wanted(&a->checkpoint) && (a->seeds.n || a->shared.n_files > 1))
            argp_error(state, "--checkpoint is of one scenario with one seed: run them one by one");
        if (a->fork_at && (a->seeds.n || checkpoint_is_wanted(&a->checkpoint)))
            argp_error(state, "--fork-at goes neither with --seeds nor with --checkpoint");
        if (a->estimate && (a->seeds.n || a->fork_at || checkpoint_is_wanted(&a->checkpoint)))
            argp_error(state, "--estimate is of one run: give neither --seeds nor --checkpoint nor "
                              "--fork-at with it");
        if (a->compare && a->shared.n_files > 1)
            argp_error(state, "--compare names the results of one run, but there are %u files",
                       a->shared.n_files);
        if (a->trace && a->shared.n_files > 1)
            argp_error(state, "--trace names one file, but there are %u scenarios",
                       a->shared.n_files);
        if (a->trace_until && !a->trace)
            argp_error(state, "--trace-until ends a trace: give --trace, too");
        if (a->output && a->shared.n_files > 1)
            argp_error(state, "--output names one folder, but there are %u files",
                       a->shared.n_files);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

int run_check_ranks(const struct run_arguments *a, struct xoff_err *err)
{
    if (!cli_ranks())
        return a->parts ? xoff_err_set(err, XOFF_E_CONFLICT, "--parts", a->parts,
                                       "is for several ranks: give mpirun -n 2 or more")
                        : 0;
    const char *what = a->fork_at ? "--fork-at" : a->estimate ? "--estimate" : NULL;
    if (what)
        return xoff_err_set(err, XOFF_E_CONFLICT, what, NULL,
                            "not over several ranks yet: run it as one process, with --threads");
    for (uint32_t i = 0; i < a->shared.n_files; i++)
        if (!strcmp(a->shared.files[i], "-"))
            return xoff_err_set(err, XOFF_E_CONFLICT, "-", NULL,
                                "every rank reads the scenario: give a file");
    return 0;
}

static const struct argp_child children[] = {
    {&cli_options_argp, 0, NULL, 0}, {&checkpoint_argp, 0, NULL, 0}, {0}};
const struct argp run_argp = {
    .options = options,
    .parser = parse,
    .args_doc = "FILE...",
    .doc = "Runs each scenario with its variants, prints a summary and writes the results. A "
           "config.txt of the ns-3 RDMA family is run as it is.\v"
           "Exit status: 0 all fine, 1 an expectation or the audit failed, 2 bad input, or "
           "another process is writing to the folder.\n"
           "Example: xoff run scenarios/incast-pfc.yaml --set switch.pause=none\n"
           "         xoff run scenarios/quickstart.yaml --seeds 1..20\n"
           "         xoff run scenarios/quickstart.yaml --checkpoint 5m\n"
           "         xoff run scenarios/incast-pfc.yaml --estimate --memory 4GB\n"
           "         xoff run scenarios/fork-ecn.yaml --fork-at 10ms\n"
           "         mpirun -n 4 xoff run scenarios/quickstart.yaml\n"
           "         xoff run mix/config.txt --compat ns3\n"
           "         xoff run mix/config.txt --compat ns3 --compare mix",
    .children = children};
